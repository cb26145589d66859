//! Work that may take seconds (making keys, looking for primes): it stands on a native thread of its own, while the Ruby thread waits for an event and can
//! be interrupted. Who gives up sets a flag, which OpenSSL's progress callbacks look at, so the native thread ends soon after.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use zakuro_core_system::io::fail;
use zakuro_core_system::io::wait::wait_timeout;
use zakuro_vm::*;

/// Whether the one who asked has given up.
pub type Abandoned = Arc<AtomicBool>;

struct GiveUp(Abandoned);
impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub fn run<T: Send + 'static>(cx: &mut Cx, f: impl FnOnce(&Abandoned) -> T + Send + 'static) -> Result<T> {
    let abandoned = GiveUp(Arc::new(AtomicBool::new(false)));
    if cx.host.is_none() {
        return Ok(f(&abandoned.0));
    }
    // SAFETY: a new descriptor, which the guard owns from here on.
    let event = unsafe {
        match libc::eventfd(0, libc::EFD_CLOEXEC) {
            -1 => return fail(cx, std::io::Error::last_os_error().raw_os_error().unwrap_or(0), "eventfd(2)"),
            fd => Arc::new(OwnedFd::from_raw_fd(fd)),
        }
    };
    let result = Arc::new(Mutex::new(None));
    let (to, done, flag) = (result.clone(), event.clone(), abandoned.0.clone());
    let work = move || {
        let r = f(&flag);
        *to.lock().unwrap_or_else(|e| e.into_inner()) = Some(r);
        // SAFETY: eight bytes to an eventfd that this thread holds.
        unsafe { libc::write(done.as_raw_fd(), 1u64.to_ne_bytes().as_ptr().cast(), 8) };
    };
    let thread = zakuro_base::memory::admits_thread(512 << 10)
        .and_then(|()| std::thread::Builder::new().name("zakuro-openssl".into()).stack_size(512 << 10).spawn(work));
    if thread.is_err() {
        return fail(cx, libc::EAGAIN, "no thread to make keys on");
    }
    loop {
        wait_timeout(cx, event.as_raw_fd(), libc::POLLIN, None)?;
        if let Some(r) = result.lock().unwrap_or_else(|e| e.into_inner()).take() {
            return Ok(r);
        }
    }
}
