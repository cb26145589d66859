//! A huge name for which there is no memory must not keep the symbol table from others.
//!
//! The allocator here does what `runtime::allocator` does to a VM that asks for too much: who copes is told, anybody else never comes back from the request,
//! with whatever it holds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::mpsc;
use std::time::Duration;
use zakuro_base::memory::{self, OutOfMemory};
use zakuro_base::symbol::Sym;

/// Requests of more bytes than this find no memory on a [`POOR`] thread.
const MOST: usize = 1 << 20;

thread_local! {
    static POOR: Cell<bool> = const { Cell::new(false) };
}

struct Scarce;

// SAFETY: System's blocks, null, or no return at all.
unsafe impl GlobalAlloc for Scarce {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MOST && POOR.get() {
            while !memory::coping() {
                std::thread::park();
            }
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's contract is System's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: `ptr` came from System with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Scarce = Scarce;

/// Longer than [`MOST`], from no allocation.
static HUGE: [u8; MOST + 1] = [b'x'; MOST + 1];

/// What `f` says on a thread of its own; None when it does not come back.
fn told<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (tell, hear) = mpsc::channel();
    std::thread::spawn(move || tell.send(f()));
    hear.recv_timeout(Duration::from_secs(10)).ok()
}

#[test]
fn a_name_that_is_refused_leaves_the_table_open() {
    let refused = told(|| {
        POOR.set(true);
        let made = std::panic::catch_unwind(|| Sym::intern_bytes(&HUGE));
        made.is_err_and(|e| e.is::<OutOfMemory>())
    });
    let other = told(|| Sym::intern("a name that nobody had before").name().len());
    assert_eq!(other, Some(29), "the table of names is closed to others");
    assert_eq!(refused, Some(true), "who asked was not told");
}
