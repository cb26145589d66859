//! Work that may take seconds (making keys, looking for primes): it stands on a native thread of its own, while the Ruby thread waits for an event and can
//! be interrupted. Who gives up sets a flag, which OpenSSL's progress callbacks look at, so the native thread ends soon after. What they tell goes to the Ruby
//! thread as pairs of numbers.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use zakuro_core_system::io::fail;
use zakuro_core_system::io::wait::wait_timeout;
use zakuro_vm::*;

/// What the work and the one who asked for it share.
pub struct Watch {
    abandoned: AtomicBool,
    /// None: nobody wants to be told.
    told: Option<Mutex<Vec<(i32, i32)>>>,
    event: Option<OwnedFd>,
}

/// More is left out until the Ruby thread has taken some.
const UNTOLD: usize = 1 << 12;

impl Watch {
    /// From a progress callback: whether to go on.
    pub fn goes_on(&self, stage: i32, n: i32) -> bool {
        if let Some(told) = &self.told {
            let mut told = told.lock().unwrap_or_else(|e| e.into_inner());
            if told.len() < UNTOLD {
                told.push((stage, n));
            }
            drop(told);
            self.wake();
        }
        !self.abandoned.load(Ordering::Relaxed)
    }
    fn wake(&self) {
        if let Some(event) = &self.event {
            // SAFETY: eight bytes to an eventfd that is held here.
            unsafe { libc::write(event.as_raw_fd(), 1u64.to_ne_bytes().as_ptr().cast(), 8) };
        }
    }
}

struct GiveUp(Arc<Watch>);
impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.abandoned.store(true, Ordering::Relaxed);
    }
}

/// The block gets what progress callbacks tell.
pub fn run<T: Send + 'static>(cx: &mut Cx, block: Block, f: impl FnOnce(&Watch) -> T + Send + 'static) -> Result<T> {
    let mut watch = Watch { abandoned: AtomicBool::new(false), told: block.is_some().then(Mutex::default), event: None };
    if cx.host.is_none() {
        return Ok(f(&watch));
    }
    // SAFETY: a new descriptor, which the watch owns from here on.
    let event = unsafe {
        match libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) {
            -1 => return fail(cx, std::io::Error::last_os_error().raw_os_error().unwrap_or(0), "eventfd(2)"),
            fd => OwnedFd::from_raw_fd(fd),
        }
    };
    let fd = event.as_raw_fd();
    watch.event = Some(event);
    let watch = GiveUp(Arc::new(watch));
    let result = Arc::new(Mutex::new(None));
    let (to, its) = (result.clone(), watch.0.clone());
    let work = move || {
        let r = f(&its);
        *to.lock().unwrap_or_else(|e| e.into_inner()) = Some(r);
        its.wake();
    };
    let thread = zakuro_base::memory::admits_thread(512 << 10)
        .and_then(|()| std::thread::Builder::new().name("zakuro-openssl".into()).stack_size(512 << 10).spawn(work));
    if thread.is_err() {
        return fail(cx, libc::EAGAIN, "no thread to make keys on");
    }
    loop {
        wait_timeout(cx, fd, libc::POLLIN, None)?;
        let mut count = [0u8; 8];
        // SAFETY: eight bytes of room; the descriptor lives as long as the watch.
        unsafe { libc::read(fd, count.as_mut_ptr().cast(), 8) };
        let told = watch.0.told.as_ref().map(|told| std::mem::take(&mut *told.lock().unwrap_or_else(|e| e.into_inner())));
        for (stage, n) in told.unwrap_or_default() {
            cx.yield_values(block, &[Value::fixnum(stage as i64), Value::fixnum(n as i64)])?;
        }
        if let Some(r) = result.lock().unwrap_or_else(|e| e.into_inner()).take() {
            return Ok(r);
        }
    }
}
