//! What heaps share, under random interleavings: blocks of the ledger, regions and their tables, images, buffers. `./test models` runs it;
//! docs/testing-models.md tells how to replay a schedule.
//!
//! The heaps, the ledger and the regions are the real ones. Every cell that is finalized is counted; when a model ends, all have died once and all
//! blocks are back.

use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use zakuro_base::sync::wide::{Condvar, Mutex, thread};

use super::*;
use crate::{BufRef, FinalizeCx, Header, Marker};

/// The ledger is the process's, and models count what it has handed out.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn explore(model: impl Fn() + Clone + Send + Sync + 'static) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    zakuro_base::explore::explore(3000, move || {
        let before = Ledger::stats().in_use;
        model();
        assert_eq!(Ledger::stats().in_use, before, "blocks are back");
    });
}

/// header | reference | content | counter that the finalizer bumps
#[repr(C)]
struct Cell {
    header: Header,
    next: *mut Header,
    content: u64,
    died: *const AtomicUsize,
}

/// What the finalizer leaves in a cell, for who reads it all the same.
const DEAD: u64 = 0xdead;

unsafe fn trace(cell: *mut Header, m: &mut Marker<'_>) {
    // SAFETY: every cell is a Cell.
    m.mark(unsafe { (*cell.cast::<Cell>()).next });
}

unsafe fn finalize(cell: *mut Header, _: &mut FinalizeCx) {
    // SAFETY: every finalized cell is a Cell with a counter.
    unsafe {
        let cell = cell.cast::<Cell>();
        assert_ne!((*cell).content, DEAD, "finalized twice");
        (*cell).content = DEAD;
        (*(*cell).died).fetch_add(1, Relaxed);
    }
}

fn heap() -> Heap {
    Heap::new(trace, finalize)
}

/// A cell that counts its death.
fn cell(h: &mut Heap, next: *mut Header, content: u64, died: &Arc<AtomicUsize>) -> *mut Header {
    let cell = h.alloc_finalized(size_of::<Cell>());
    let header = Header { shape: 1, kind: 1, flags: 0, aux: 0 };
    // SAFETY: the cell is large enough.
    unsafe { cell.cast::<Cell>().write(Cell { header, next, content, died: Arc::as_ptr(died) }) };
    cell
}

fn collect(h: &mut Heap, roots: &[*mut Header]) {
    h.collect(&mut |m| roots.iter().for_each(|r| m.mark(*r)));
    h.collect_all_sweep();
}

/// Cells on the way from `at`, all alive.
fn walk(mut at: *mut Header) -> usize {
    let mut n = 0;
    while !at.is_null() {
        point();
        // SAFETY: the caller holds what keeps them.
        unsafe {
            let cell = at.cast::<Cell>();
            assert_ne!((*cell).content, DEAD, "a cell died while it was held");
            at = (*cell).next;
        }
        n += 1;
    }
    n
}

/// A chain of cells that ends in `next`, as a region.
fn chain(n: usize, next: *mut Header, held: Vec<Region>, died: &Arc<AtomicUsize>) -> (Region, Ref) {
    let mut h = heap();
    let first = (0..n).fold(next, |next, i| cell(&mut h, next, i as u64, died));
    // SAFETY: the cells are not written to again, but by their finalizers.
    (unsafe { Region::seal(h, held, None) }, Ref(first))
}

/// A reference on its way to another thread.
#[derive(Clone, Copy)]
struct Ref(*mut Header);
// SAFETY: what it leads to is sealed, and held by whoever follows it.
unsafe impl Send for Ref {}

impl Ref {
    fn get(self) -> *mut Header {
        self.0
    }
}

/// A place for one message.
struct Mailbox<T>(Mutex<Option<T>>, Condvar);
impl<T> Mailbox<T> {
    fn new() -> Arc<Mailbox<T>> {
        Arc::new(Mailbox(Mutex::new(None), Condvar::new()))
    }
    fn put(&self, message: T) {
        *self.0.lock() = Some(message);
        self.1.notify_all();
    }
    fn take(&self) -> T {
        let mut place = self.0.lock();
        loop {
            if let Some(message) = place.take() {
                return message;
            }
            self.1.wait(&mut place);
        }
    }
}

/// Heaps that come and go: a block has one owner, and what is in it stays as its owner wrote it.
#[test]
fn a_block_has_one_owner() {
    explore(|| {
        let died = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..3u64)
            .map(|me| {
                let died = died.clone();
                thread::spawn(move || {
                    for round in 0..2 {
                        let mut h = heap();
                        let first = cell(&mut h, ptr::null_mut(), me * 2 + round, &died);
                        // A size class of its own: another block.
                        let second = h.alloc(512);
                        for at in [first, second] {
                            assert!(h.owns(at) && h.cell_at(at.addr()) == Some(at));
                            point();
                        }
                        assert_eq!(walk(first), 1);
                        // SAFETY: a cell of this heap.
                        assert_eq!(unsafe { (*first.cast::<Cell>()).content }, me * 2 + round);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(died.load(Relaxed), 6);
    });
}

/// A region goes to two heaps, each of which holds it, collects with it in use and then without; the maker lets go at any moment.
#[test]
fn a_region_lives_as_long_as_somebody_holds_it() {
    explore(|| {
        let died = Arc::new(AtomicUsize::new(0));
        let (region, first) = chain(3, ptr::null_mut(), Vec::new(), &died);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let region = region.clone();
                thread::spawn(move || {
                    let mut h = heap();
                    h.hold(&region);
                    drop(region);
                    assert_eq!(walk(first.get()), 3);
                    collect(&mut h, &[first.get()]);
                    assert_eq!((walk(first.get()), h.region_stats().0), (3, 1));
                    collect(&mut h, &[]);
                    assert_eq!(h.region_stats(), (0, 0));
                })
            })
            .collect();
        drop(region);
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(died.load(Relaxed), 3);
    });
}

/// A heap hands a region on that it found by address, and lets go itself, while the next one receives.
#[test]
fn a_region_is_handed_on() {
    explore(|| {
        let died = Arc::new(AtomicUsize::new(0));
        let (inner, inside) = chain(1, ptr::null_mut(), Vec::new(), &died);
        let (region, first) = chain(2, inside.get(), vec![inner], &died);
        let mail = Mailbox::new();
        let (out, inbox) = (mail.clone(), mail);
        let giver = thread::spawn(move || {
            let mut h = heap();
            h.hold(&region);
            drop(region);
            let envelope = h.region_of(first.get()).cloned().expect("held");
            out.put(envelope);
            collect(&mut h, &[]);
        });
        let taker = thread::spawn(move || {
            let mut h = heap();
            let envelope: Region = inbox.take();
            h.hold(&envelope);
            drop(envelope);
            assert_eq!(h.region_stats().0, 2, "with what it holds");
            assert_eq!(walk(first.get()), 3);
            // The inner one alone is in use.
            collect(&mut h, &[inside.get()]);
            assert_eq!((walk(inside.get()), h.region_stats().0), (1, 1));
        });
        giver.join().unwrap();
        taker.join().unwrap();
        assert_eq!(died.load(Relaxed), 3);
    });
}

/// Blocks and keys are used again: an old address on a stack, whoever has its block now, harms nothing that is held.
#[test]
fn an_old_address_is_harmless() {
    explore(|| {
        let (old, new) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (region, first) = chain(1, ptr::null_mut(), Vec::new(), &old);
        let mail = Mailbox::new();
        let (out, inbox, died) = (mail.clone(), mail, new.clone());
        let maker = thread::spawn(move || {
            for _ in 0..2 {
                out.put(chain(2, ptr::null_mut(), Vec::new(), &died));
            }
        });
        let mut h = heap();
        h.hold(&region);
        drop(region);
        collect(&mut h, &[]);
        assert_eq!(old.load(Relaxed), 1);
        let (second, cells) = inbox.take();
        h.hold(&second);
        drop(second);
        h.collect(&mut |m| {
            m.mark_conservative(first.get().addr());
            m.mark(cells.get());
        });
        assert_eq!(walk(cells.get()), 2);
        assert_eq!(h.region_of(cells.get()).map(|r| r.cells()), Some(2));
        maker.join().unwrap();
        drop(h);
        // One that was put before the other was taken is gone with it.
        drop(inbox);
        assert_eq!(new.load(Relaxed), 4);
    });
}

/// Images as VMs use them: layers that are counted, each a sealed heap. Two VMs grow from one; one of them captures itself and a third grows from
/// that, in another thread, while the first ones end.
#[test]
fn an_image_outlives_its_maker() {
    struct Layer {
        _heap: Heap,
        first: Ref,
    }
    #[derive(Clone)]
    struct Image(Vec<Arc<Layer>>);
    // SAFETY: sealed.
    unsafe impl Send for Image {}

    /// What an image becomes when a VM captures itself: its layers, and one more on top that refers to them.
    fn capture(below: &Image, died: &Arc<AtomicUsize>) -> Image {
        let mut h = heap();
        let under = below.0.last().map_or(ptr::null_mut(), |l| l.first.get());
        let first = Ref(cell(&mut h, under, 1, died));
        let mut layers = below.0.clone();
        layers.push(Arc::new(Layer { _heap: h, first }));
        Image(layers)
    }

    /// A VM: reads the layers from cells of its own.
    fn live(image: &Image, died: &Arc<AtomicUsize>) {
        let mut h = heap();
        let own = cell(&mut h, image.0.last().expect("a layer").first.get(), 2, died);
        assert_eq!(walk(own), 1 + image.0.len());
        collect(&mut h, &[own]);
        assert_eq!(walk(own), 1 + image.0.len());
    }

    explore(|| {
        let died = Arc::new(AtomicUsize::new(0));
        let image = capture(&Image(Vec::new()), &died);
        let (one, two) = (image.clone(), image);
        let (d, e) = (died.clone(), died.clone());
        let first = thread::spawn(move || {
            let child = capture(&one, &d);
            let e = d.clone();
            let third = thread::spawn(move || live(&child, &e));
            live(&one, &d);
            drop(one);
            third
        });
        let second = thread::spawn(move || live(&two, &e));
        second.join().unwrap();
        first.join().unwrap().join().unwrap();
        assert_eq!(died.load(Relaxed), 2 + 3, "two layers, three VMs");
    });
}

/// A text that several VMs hold: each changes it as Strings do, in place when it is alone, else in a copy. Nobody sees another's change.
#[test]
fn a_shared_text_is_copied_on_write() {
    fn append(buffer: BufRef, byte: u8, used: usize) -> BufRef {
        let own = if buffer.is_unique() {
            buffer
        } else {
            let copy = BufRef::new(8).expect("memory");
            for i in 0..used {
                point();
                // SAFETY: both are held, the copy by us alone.
                unsafe { *copy.data().add(i) = *buffer.data().add(i) };
            }
            copy
        };
        point();
        // SAFETY: alone.
        unsafe { *own.data().add(used) = byte };
        own
    }
    explore(|| {
        let text = BufRef::new(8).expect("memory");
        // SAFETY: alone.
        unsafe { *text.data() = b'x' };
        let threads: Vec<_> = (b'a'..=b'c')
            .map(|byte| {
                let text = text.clone();
                thread::spawn(move || {
                    let text = append(append(text, byte, 1), byte, 2);
                    point();
                    // SAFETY: held.
                    unsafe { assert_eq!(std::slice::from_raw_parts(text.data(), 3), [b'x', byte, byte]) };
                })
            })
            .collect();
        drop(text);
        threads.into_iter().for_each(|t| t.join().unwrap());
    });
}
