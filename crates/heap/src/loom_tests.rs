//! Models of the shared buffer's count under loom: every interleaving and every reordering that the memory model allows. `./test models` runs it.
//!
//! A buffer's `content` stands for its bytes: loom reports an access to it that nothing orders behind another thread's write, and a free that nothing
//! orders behind the last reads.

use loom::thread;

use super::*;

fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

impl BufRef {
    fn read(&self) -> u64 {
        // SAFETY: self is a holder; loom checks the rest.
        unsafe { (*self.as_ptr()).content.with(|c| *c) }
    }

    fn write(&self, value: u64) {
        // SAFETY: the caller has asked whether it may; loom checks that.
        unsafe { (*self.as_ptr()).content.with_mut(|c| *c = value) }
    }

    /// As String and Array do it: in place if it is ours alone, else into a copy.
    fn written(self, value: u64) -> BufRef {
        if self.is_unique() {
            self.write(value);
            return self;
        }
        let copy = BufRef::new(8).expect("memory");
        copy.write(self.read() + value);
        copy
    }
}

#[test]
fn holders_write_alone_and_free_last() {
    explore(|| {
        let buffer = BufRef::new(8).expect("memory");
        buffer.write(1);
        let threads: Vec<_> = (0..2)
            .map(|n| {
                let buffer = buffer.clone();
                thread::spawn(move || {
                    let seen = buffer.read();
                    assert_eq!(seen, 1, "nobody writes while others hold it");
                    let own = buffer.written(10 + n);
                    assert!(own.read() >= 10);
                })
            })
            .collect();
        drop(buffer);
        threads.into_iter().for_each(|t| t.join().unwrap());
    });
}

#[test]
fn a_handle_is_passed_on_while_others_let_go() {
    explore(|| {
        let buffer = BufRef::new(8).expect("memory");
        buffer.write(7);
        let other = buffer.clone();
        let first = thread::spawn(move || {
            let more = other.clone();
            drop(other);
            let last = thread::spawn(move || more.read());
            last.join().unwrap()
        });
        assert_eq!(buffer.read(), 7);
        drop(buffer);
        assert_eq!(first.join().unwrap(), 7);
    });
}

/// A holder learns something about the content and marks the buffer; the other wants to write. Who finds the mark gone finds the content changed, too.
#[test]
fn a_mark_makes_the_next_writer_look() {
    explore(|| {
        let buffer = BufRef::new(8).expect("memory");
        buffer.write(1);
        let other = buffer.clone();
        let reader = thread::spawn(move || {
            assert_eq!(other.read(), 1);
            // SAFETY: `other` is a holder.
            unsafe { SharedBuf::mark(other.as_ptr()) };
            assert!(!other.is_unique(), "a marked buffer is nobody's to write");
        });
        assert_eq!(buffer.read(), 1);
        // SAFETY: `buffer` is a holder; unmarked by the only one.
        unsafe {
            if buffer.is_unique() {
                // The reader has marked before it let go.
                unreachable!("marked");
            }
            if SharedBuf::is_sole(buffer.as_ptr()) {
                SharedBuf::unmark(buffer.as_ptr());
                assert!(buffer.is_unique());
                buffer.write(2);
            }
        }
        reader.join().unwrap();
        drop(buffer);
    });
}
