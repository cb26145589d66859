//! Signals of the process. One native thread, woken by the handlers through a semaphore, hands each signal to the VMs that trap it.
//!
//! A signal that nobody traps goes to the main VM when Ruby makes it an exception (SIGINT: Interrupt, SIGTERM: SignalException, ...); for
//! others the system's default happens. What ends the process from outside (SIGINT, SIGTERM, ...) reaches the main VM even when another VM traps it too. A VM
//! that sends its own pid a signal means itself, unless it is the main VM: the process is not its to end.
//!  Handlers are installed when the main VM starts, further ones with the first trap.
//! A signal that comes when the main VM has ended, and what the options ask for is still being written, waits for that, and then ends the process. One that it
//! trapped, and that only gets to the thread when it has ended, is dropped: whoever sent it met a process that has a handler.
//! Rejected: waking the VM's task in the handler (takes locks); a pipe to the thread (a program that closes descriptors by their numbers would close it); a descriptor in the reactor (it would have to stay in the process's idle
//! count, and the reactor knows no VM).

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use zakuro_base::sync::held::{Mutex, MutexGuard};
use zakuro_vm::host::{SignalAction, VmControl};

/// A second signal that comes so long after the first ends the process although files are still written: whoever sends it does not want to wait for them.
const PATIENCE: Duration = Duration::from_secs(2);

/// Signals that become exceptions of the main thread.
const RAISING: [i32; 7] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGALRM, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2];

/// Signals to the process as a whole: that another VM traps one does not keep the main VM from getting it too.
const OF_THE_PROCESS: [i32; 5] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGTSTP];

/// Sets the dispositions that a Ruby process starts with.
pub fn install() {
    // SAFETY: called once at start, before other threads exist.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        // A write beyond `ulimit -f` is that VM's Errno::EFBIG. A handler, not SIG_IGN: programs that are started have the default again.
        libc::signal(libc::SIGXFSZ, too_large as *const () as libc::sighandler_t);
        // Ignored by whoever started this process, it would have the kernel forget children before anybody asks for their status.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
}

extern "C" fn too_large(_: i32) {}

/// Ends the process by a signal, so that its parent sees why. Comes back only when the signal does not end processes; with the status to exit
/// with instead.
pub fn die_by(number: i32) -> i32 {
    // SAFETY: plain system calls on a signal set of our own.
    unsafe {
        libc::signal(number, libc::SIG_DFL);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, number);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
        libc::kill(libc::getpid(), number);
        // Another thread may take it; it ends us then.
        libc::usleep(100_000);
    }
    128 + number
}

#[derive(Default)]
struct Table {
    main: Weak<VmControl>,
    /// What VMs want, where that is not the default.
    wishes: Vec<(i32, Weak<VmControl>, SignalAction)>,
    /// Signals with a handler of ours.
    handled: Vec<i32>,
    /// Whoever started the process had it ignore these (`nohup`, shells' background jobs): they stay ignored until the main VM says something else.
    ignored: Vec<i32>,
    /// What is to be written at the end is not written yet.
    writes: bool,
    /// The first signal that came while only that was left to do.
    late: Option<(i32, Instant)>,
}

/// How handlers reach the thread.
struct Bell {
    /// Posted by handlers, waited for by the thread.
    rung: UnsafeCell<libc::sem_t>,
    /// Signals that came, each as the bit of its number less one. Handlers set them, then ring; the thread takes them after it was woken.
    came: AtomicU64,
    /// The dispatcher is gone.
    over: AtomicBool,
}

// SAFETY: the semaphore is touched by calls that any thread may make, but for `start_over`.
unsafe impl Send for Bell {}
// SAFETY: as above.
unsafe impl Sync for Bell {}

impl Bell {
    fn new() -> Arc<Bell> {
        // SAFETY: plain memory, initialised below where it stays.
        let rung = UnsafeCell::new(unsafe { std::mem::zeroed() });
        let bell = Arc::new(Bell { rung, came: 0.into(), over: false.into() });
        bell.start_over();
        bell
    }
    /// When no thread waits: at first, and in the child of a fork.
    fn start_over(&self) {
        self.came.store(0, Ordering::SeqCst);
        // SAFETY: nobody else is there who knows it. It fails for numbers beyond the largest only.
        unsafe { libc::sem_init(self.rung.get(), 0, 0) };
    }
    /// In handlers, too: atomics and a call that may be made there, and errno stays.
    fn ring(&self) {
        // SAFETY: the thread's own errno; a semaphore that lives as long as the bell.
        unsafe {
            let errno = libc::__errno_location();
            let before = *errno;
            libc::sem_post(self.rung.get());
            *errno = before;
        }
    }
    /// Waits until somebody rings; may come back without.
    fn wait(&self) {
        // SAFETY: as above.
        unsafe { libc::sem_wait(self.rung.get()) };
    }
}

/// The bell, and the handlers that ring it.
struct Inlet {
    bell: Arc<Bell>,
    handlers: Vec<signal_hook::SigId>,
}

impl Drop for Inlet {
    fn drop(&mut self) {
        for id in self.handlers.drain(..) {
            signal_hook::low_level::unregister(id);
        }
        self.bell.over.store(true, Ordering::SeqCst);
        self.bell.ring();
    }
}

/// Whether the process ignores a signal.
fn is_ignored(number: i32) -> bool {
    // SAFETY: asks, and writes to a structure of our own.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(number, std::ptr::null(), &mut now) == 0 && now.sa_sigaction == libc::SIG_IGN
    }
}

/// The dispatcher of a process.
#[derive(Default)]
pub struct Dispatcher {
    /// Writers: `trap` in VMs. Read per signal. Nobody is woken while it is held.
    table: Mutex<Table>,
    /// Set when the thread starts. Taken before the table.
    inlet: Mutex<Option<Inlet>>,
}

impl Dispatcher {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }
    /// Begins to receive signals, for this main VM.
    pub fn start(self: &Arc<Dispatcher>, main: &Arc<VmControl>) {
        let (ignored, received): (Vec<i32>, Vec<i32>) = RAISING.into_iter().partition(|n| is_ignored(*n));
        {
            let mut t = self.lock();
            t.main = Arc::downgrade(main);
            t.ignored = ignored;
        }
        let _ = self.receive(&received);
    }
    /// Makes sure that these signals come to us.
    fn receive(self: &Arc<Dispatcher>, numbers: &[i32]) -> Result<(), i32> {
        let errno = |e: std::io::Error| e.raw_os_error().unwrap_or(libc::EINVAL);
        let mut known = self.inlet.lock();
        let inlet = match &mut *known {
            Some(inlet) => inlet,
            None => {
                let bell = Bell::new();
                self.listen(&bell).map_err(errno)?;
                known.insert(Inlet { bell, handlers: Vec::new() })
            }
        };
        for n in numbers {
            if !self.lock().handled.contains(n) {
                let (bell, bit) = (inlet.bell.clone(), 1u64 << (*n - 1).clamp(0, 63));
                let handler = move || {
                    bell.came.fetch_or(bit, Ordering::SeqCst);
                    bell.ring();
                };
                // SAFETY: the handler takes no lock and allocates nothing.
                let id = unsafe { signal_hook::low_level::register(*n, handler) }.map_err(errno)?;
                inlet.handlers.push(id);
                self.lock().handled.push(*n);
            }
        }
        Ok(())
    }
    /// Starts the thread.
    fn listen(self: &Arc<Dispatcher>, bell: &Arc<Bell>) -> std::io::Result<()> {
        let (me, bell) = (Arc::downgrade(self), bell.clone());
        let body = move || {
            while !bell.over.load(Ordering::SeqCst) {
                bell.wait();
                let came = bell.came.swap(0, Ordering::SeqCst);
                for number in (1..=64).filter(|n| came & 1 << (n - 1) != 0) {
                    match me.upgrade() {
                        Some(d) => d.dispatch(number),
                        None => return,
                    }
                }
            }
        };
        std::thread::Builder::new().name("zakuro-signals".into()).stack_size(128 << 10).spawn(body).map(drop)
    }
    /// Something is to be written when the main VM has ended.
    pub fn will_write(&self) {
        self.lock().writes = true;
    }
    /// It is written. The signal that came meanwhile, for the process to end by.
    pub fn has_written(&self) -> Option<i32> {
        let mut t = self.lock();
        t.writes = false;
        t.late.take().map(|(number, _)| number)
    }
    /// Nobody is told of a signal meanwhile: for fork(2).
    pub fn hold(&self) -> impl Drop + '_ {
        self.lock()
    }
    /// In the child of a fork: signals come to a thread of its own, and to the main VM as it was. Nothing is left for it to write.
    pub fn start_over(self: &Arc<Dispatcher>, main: &Arc<VmControl>) {
        {
            let mut t = self.lock();
            t.wishes.retain(|(_, c, _)| c.as_ptr() == Arc::as_ptr(main));
            (t.writes, t.late) = (false, None);
        }
        let known = self.inlet.lock();
        let Some(inlet) = &*known else { return };
        inlet.bell.start_over();
        let _ = self.listen(&inlet.bell);
    }
    /// A VM's wish for a signal. True: it was ignored since the process began.
    pub fn wish(self: &Arc<Dispatcher>, control: &Arc<VmControl>, number: i32, action: SignalAction) -> Result<bool, i32> {
        if signal_hook::consts::FORBIDDEN.contains(&number) {
            return Err(libc::EINVAL);
        }
        let was_ignored = {
            let mut t = self.lock();
            let place = t.ignored.iter().position(|n| *n == number).filter(|_| t.main.as_ptr() == Arc::as_ptr(control));
            place.map(|i| t.ignored.swap_remove(i)).is_some()
        };
        if action != SignalAction::Default || was_ignored {
            self.receive(&[number])?;
        }
        let mut t = self.lock();
        let main = t.main.clone();
        t.wishes.retain(|(n, c, _)| {
            (c.ptr_eq(&main) || c.upgrade().is_some_and(|c| c.end().is_none())) && !(*n == number && c.as_ptr() == Arc::as_ptr(control))
        });
        if action != SignalAction::Default {
            t.wishes.push((number, Arc::downgrade(control), action));
        }
        Ok(was_ignored)
    }
    /// Whether some VM has a handler, which might do anything.
    pub fn are_trapped(&self) -> bool {
        self.lock().wishes.iter().any(|(_, c, action)| *action == SignalAction::Trap && c.upgrade().is_some_and(|c| c.is_alive()))
    }
    /// A signal from this very process. False: not one of ours.
    pub fn send(&self, number: i32) -> bool {
        let ours = self.lock().handled.contains(&number);
        if ours {
            self.dispatch(number);
        }
        ours
    }
    /// A signal from a VM to itself: what the VM said about it, else what the signal does to a process, done to the VM.
    pub fn send_to(&self, control: &Arc<VmControl>, number: i32) -> Result<(), i32> {
        let wish = self.lock().wishes.iter().find(|(n, c, _)| *n == number && c.as_ptr() == Arc::as_ptr(control)).map(|w| w.2);
        match (wish, number) {
            (Some(SignalAction::Trap), _) => control.deliver_signal(number),
            (Some(SignalAction::Ignore), _) | (_, libc::SIGCHLD | libc::SIGCONT | libc::SIGURG | libc::SIGWINCH) => {}
            // SIGPIPE is ignored from the start.
            (None | Some(SignalAction::Default), libc::SIGPIPE) => {}
            // A VM can't be stopped.
            (_, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => return Err(libc::EPERM),
            (None | Some(SignalAction::Default), n) if RAISING.contains(&n) => control.deliver_signal(n),
            (_, 1..=64) => control.kill_within(std::time::Duration::ZERO),
            _ => return Err(libc::EINVAL),
        }
        Ok(())
    }
    fn dispatch(&self, number: i32) {
        let mut trapped = Vec::new();
        let mut of_main = SignalAction::Default;
        let mut waits = false;
        let main = {
            let mut t = self.lock();
            let main = t.main.upgrade().filter(|m| m.end().is_none());
            // What the main VM ignored does not end what is written after it, either, and what it trapped does not end the process when nothing is written.
            let wish = t.wishes.iter().find(|w| w.0 == number && w.1.ptr_eq(&t.main)).map(|w| w.2);
            let passed = main.is_none() && (wish == Some(SignalAction::Ignore) || wish == Some(SignalAction::Trap) && !t.writes);
            if t.ignored.contains(&number) || passed {
                // Another VM has trapped it since, so it comes to us; the main VM has said nothing.
                of_main = SignalAction::Ignore;
            }
            for (_, c, action) in t.wishes.iter().filter(|w| w.0 == number) {
                let Some(c) = c.upgrade().filter(|c| c.end().is_none()) else { continue };
                if *action == SignalAction::Trap {
                    trapped.push(c);
                } else if main.as_ref().is_some_and(|m| Arc::ptr_eq(m, &c)) {
                    of_main = *action;
                }
            }
            let ends = RAISING.contains(&number) && of_main != SignalAction::Ignore;
            let others = !trapped.is_empty() && !OF_THE_PROCESS.contains(&number);
            if main.is_none() && t.writes && ends && !others {
                waits = t.late.get_or_insert((number, Instant::now())).1.elapsed() < PATIENCE;
            }
            main
        };
        trapped.iter().for_each(|c| c.deliver_signal(number));
        let by_main = main.as_ref().is_some_and(|m| trapped.iter().any(|c| Arc::ptr_eq(m, c)));
        if by_main || !trapped.is_empty() && !OF_THE_PROCESS.contains(&number) {
            return;
        }
        match (of_main, main) {
            (SignalAction::Ignore, _) => {}
            _ if waits => {}
            (SignalAction::Default, Some(main)) if RAISING.contains(&number) => main.deliver_signal(number),
            _ => {
                let _ = signal_hook::low_level::emulate_default_handler(number);
            }
        }
    }
}
