//! [`Process`]: makes the boot image, owns the scheduler, starts VMs.

use crate::signals::{self, Dispatcher};
use crate::start::{self, StartError};
use crate::unit::VmUnit;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use zakuro_base::{CodeCache, Insight, Options};
use zakuro_bytecode::Code;
use zakuro_sched::{Care, Config, Scheduler, StackPool, StackSize, Task};
use zakuro_vm::account::{Book, Switches};
use zakuro_vm::boot::BootImage;
use zakuro_vm::host::{End, Forked, SignalAction, Spawner, VmControl};
use zakuro_vm::image::Seed;
use zakuro_vm::limits::Limits;
use zakuro_vm::lineage::Identity;
use zakuro_vm::transfer::Envelope;
use zakuro_vm::{Cx, Vm, ids};

/// The process-level part of Zakuro. One is enough for any number of VMs.
pub struct Process {
    pub scheduler: Scheduler,
    pub pool: StackPool,
    pub options: Arc<Options>,
    pub boot: &'static BootImage,
    next_id: AtomicU64,
    /// Controls of VMs that may still run, for deadlock reports and `RubyVM.list`. Writers: start and end of VMs, under a short lock.
    vms: zakuro_base::sync::held::Mutex<Vec<Weak<VmControl>>>,
    /// VMs for whose end a native thread waits; it is they who are told of a deadlock. Writers: those threads, under a short lock.
    awaited: zakuro_base::sync::held::Mutex<Vec<Arc<VmControl>>>,
    signals: Arc<Dispatcher>,
    /// Pack and open messages for the host's own threads.
    pub(crate) translators: crate::api::TranslatorPool,
    /// See [`Process::care_for_malloc`].
    malloc_care: Arc<OnceLock<MallocCare>>,
    /// Where the time of the VMs goes, in a process that counts.
    pub book: Option<Arc<Book>>,
    /// Where that is written at the end. Set before the main VM starts; taken by who writes, and by the child of a fork, which has nothing to write.
    outputs: zakuro_base::sync::held::Mutex<Option<zakuro_insight::Outputs>>,
    /// Who tells others of it, while the main VM runs.
    live: zakuro_base::sync::held::Mutex<Option<zakuro_insight::Live>>,
    me: Weak<Process>,
}

/// Gives memory of the host's malloc back. Told whether VMs run; true: call again later although none does.
pub type MallocCare = Box<dyn Fn(bool) -> bool + Send + Sync>;

impl Process {
    /// Makes the boot image and the scheduler, and starts its first threads. Costs a few milliseconds, once.
    ///
    /// # Errors
    /// The system refuses what it needs: memory, descriptors, threads.
    pub fn new(options: Options) -> Result<Arc<Process>, StartError> {
        start::guarded(|| Process::make(options))
    }
    fn make(options: Options) -> Result<Arc<Process>, StartError> {
        if !crate::allocator::open() {
            return Err(StartError::memory());
        }
        let options = Arc::new(options);
        let pool = StackPool::new();
        let scheduler = Scheduler::open(Config { workers: options.workers, timed: options.insight.counts() })
            .map_err(|e| StartError::descriptors(&e))?;
        #[cfg(feature = "jit")]
        if options.jit.is_on() {
            zakuro_jit::start(&options);
            scheduler.sample();
        }
        let boot: &'static BootImage = Box::leak(Box::new(make_boot_image(&options, &pool)?));
        scheduler.start().map_err(|e| StartError::threads(&e))?;
        zakuro_insight::start(&options.insight, &scheduler);
        let book = options.insight.counts().then(|| {
            let profiling = !options.insight.profile.is_empty();
            Book::new(Switches {
                tracing: (!options.insight.trace.is_empty()).into(),
                profiling,
                allocations: profiling && options.insight.allocations,
            })
        });
        let process = Arc::new_cyclic(|me: &Weak<Process>| Process {
            scheduler,
            pool,
            options,
            boot,
            next_id: AtomicU64::new(1),
            vms: zakuro_base::sync::held::Mutex::new(Vec::new()),
            awaited: zakuro_base::sync::held::Mutex::new(Vec::new()),
            signals: Arc::default(),
            translators: crate::api::TranslatorPool::default(),
            malloc_care: Arc::default(),
            book,
            outputs: zakuro_base::sync::held::Mutex::new(None),
            live: zakuro_base::sync::held::Mutex::new(None),
            me: me.clone(),
        });
        let weak = process.me.clone();
        process.scheduler.on_idle(Box::new(move || {
            if let Some(p) = weak.upgrade() {
                p.everything_waits();
            }
        }));
        let (pool, malloc, me) = (process.pool.clone(), process.malloc_care.clone(), process.me.clone());
        // Written by the timer thread alone.
        let (goes_on, calls) = (AtomicBool::new(false), AtomicU64::new(0));
        process.scheduler.on_care(Box::new(move |busy| {
            let stacks = pool.relax();
            // The rest had its turn when this began.
            if goes_on.swap(stacks == Care::Soon, Ordering::Relaxed) {
                return stacks.max(Care::Later);
            }
            if !busy && let Some(p) = me.upgrade() {
                p.forget_ended();
            }
            zakuro_heap::Ledger::get().look();
            let blocks = zakuro_heap::Ledger::get().relax();
            crate::allocator::tidy();
            let malloc = malloc.get().is_some_and(|care| care(busy));
            // Every two seconds, and for the last time.
            if (calls.fetch_add(1, Ordering::Relaxed) % 10 == 9 || !(busy || malloc))
                && let Some(p) = me.upgrade()
            {
                p.scheduler.sleepers_rest();
            }
            stacks.max(if blocks || malloc { Care::Later } else { Care::Done })
        }));
        Ok(process)
    }
    /// Has the host's malloc give unused memory back: called a few times a second while VMs run, on no VM's thread. The first one stays.
    pub fn care_for_malloc(&self, care: MallocCare) {
        let _ = self.malloc_care.set(care);
    }
    /// Has the host's malloc give back what it keeps for the calling native thread: called on each that has had nothing to do for a while.
    pub fn rest_for_malloc(&self, rest: fn()) {
        self.scheduler.on_rest(rest);
        if let Some(compiler) = zakuro_vm::machine::compiler() {
            compiler.on_rest(rest);
        }
    }
    pub(crate) fn arc(&self) -> Option<Arc<Process>> {
        self.me.upgrade()
    }
    /// Every VM waits and nothing in the process can wake one. The VM that a native thread waits for gets the deadlock error: that wait would never end. When there is
    /// none, nobody is locked out: the main VM has ended and the process is about to, or a host lives on without its VMs. A signal may wake who has trapped one.
    fn everything_waits(&self) {
        let waited = {
            let awaited = self.awaited.lock();
            awaited.iter().find(|c| c.is_alive() && !c.ignores_deadlock.load(Ordering::Relaxed)).cloned()
        };
        if let Some(c) = waited
            && !self.signals.are_trapped()
        {
            c.report_deadlock();
        }
    }
    /// Lets go of VMs that ended: a list entry keeps a control's memory.
    fn forget_ended(&self) {
        let mut vms = self.vms.lock();
        vms.retain(|w| w.strong_count() > 0);
        let most = 2 * vms.len() + 64;
        vms.shrink_to(most);
    }
    /// Controls of the VMs that have started and not ended.
    pub fn live_vms(&self) -> Vec<Arc<VmControl>> {
        let mut vms = self.vms.lock();
        vms.retain(|w| w.upgrade().is_some_and(|c| !c.has_ended()));
        vms.iter().filter_map(Weak::upgrade).collect()
    }
    /// Starts a VM; `args` become `RubyVM::ARGV`. With an image it runs the image's block instead of a program.
    pub fn start_vm(&self, control: &Arc<VmControl>, args: Envelope, image: Option<Box<Seed>>) {
        let Some(me) = self.me.upgrade() else { return };
        {
            let mut vms = self.vms.lock();
            if vms.len() == vms.capacity() {
                vms.retain(|w| w.upgrade().is_some_and(|c| !c.has_ended()));
            }
            vms.push(Arc::downgrade(control));
        }
        // A VM that a limited one makes counts for that one while it lives.
        if let Some(account) = control.account.get() {
            account.fetch_add(control.weight(), Ordering::Relaxed);
        }
        let unit = VmUnit::new(me, control.clone(), Box::new(crate::program::Start { args, image }));
        let task = self.scheduler.spawn(Box::new(unit));
        let _ = control.set_task(task);
    }
}

impl Spawner for Process {
    fn create(&self, name: &str, argv: Vec<Vec<u8>>, limits: Limits, maker: Option<&Arc<Identity>>) -> Arc<VmControl> {
        VmControl::new(self.next_id.fetch_add(1, Ordering::Relaxed), name, argv, limits, maker)
    }
    fn start(&self, control: &Arc<VmControl>, args: Envelope) {
        self.start_vm(control, args, None);
    }
    fn start_image(&self, control: &Arc<VmControl>, args: Envelope, image: Seed) {
        self.start_vm(control, args, Some(Box::new(image)));
    }
    fn descendants(&self, of: &Arc<Identity>) -> Vec<Arc<VmControl>> {
        let mut known = HashMap::new();
        let mut live = self.live_vms();
        live.retain(|c| c.identity().descends_from(of.id, &mut known));
        live
    }
    fn family_size(&self, id: u64) -> usize {
        self.live_vms().iter().filter(|c| c.family.load(Ordering::Relaxed) == id).count()
    }
    fn fork(&self, control: &Arc<VmControl>, leave: &dyn Fn(*mut Cx)) -> std::io::Result<Forked> {
        let holding = |call: &mut dyn FnMut()| {
            // What native threads beside the scheduler's may take at any time: the dispatcher of signals, compilers, who looks up names.
            let _held =
                (self.vms.lock(), self.awaited.lock(), self.signals.hold(), zakuro_base::symbol::hold(), zakuro_heap::Ledger::get().hold());
            match zakuro_vm::machine::compiler() {
                Some(c) => c.hold(call),
                None => call(),
            }
        };
        self.scheduler.fork(&holding, &|| self.begin_child(control, leave))
    }
    fn end_process(&self, cx: &mut Cx, result: zakuro_vm::Result<zakuro_vm::Value>) -> ! {
        let status = match cx.host_handle() {
            Ok(host) => status_of(&crate::program::end_here(cx, &host.control, result)),
            Err(_) => 1,
        };
        std::process::exit(status)
    }
    fn on_signal(&self, control: &Arc<VmControl>, number: i32, action: SignalAction) -> Result<bool, i32> {
        self.signals.wish(control, number, action)
    }
    fn send_signal(&self, number: i32) -> bool {
        self.signals.send(number)
    }
    fn signal_vm(&self, control: &Arc<VmControl>, number: i32) -> Result<(), i32> {
        self.signals.send_to(control, number)
    }
    fn reserves(&self, fd: i32) -> bool {
        self.scheduler.reserves(fd)
            || self.outputs.lock().as_ref().is_some_and(|outputs| outputs.have(fd))
            || self.live.lock().as_ref().is_some_and(|live| live.listens_at(fd))
    }
}

impl Process {
    /// Runs the main VM with the arguments of a command line; returns the exit status of the process. Other VMs end with it.
    pub fn run_main(&self, argv: Vec<Vec<u8>>) -> i32 {
        let outputs = match zakuro_insight::open(&self.options.insight) {
            Ok(outputs) => outputs,
            Err(e) => {
                start::tell(&e);
                return 1;
            }
        };
        if !outputs.is_empty() {
            self.signals.will_write();
        }
        *self.outputs.lock() = Some(outputs);
        let control = self.create("main", argv, Limits::default(), None);
        control.main.store(true, Ordering::Relaxed);
        let waiter = Arc::new(MainWaiter { control: control.clone(), done: Mutex::new(false), ended: Condvar::new() });
        self.signals.start(&waiter.control);
        match self.serve() {
            Ok(live) => *self.live.lock() = live,
            Err(e) => {
                start::tell(&e);
                return 1;
            }
        }
        let end = self.run_and_wait(&waiter);
        *self.live.lock() = None;
        let outputs = self.outputs.lock().take();
        let failures = match (&self.book, outputs) {
            (Some(book), Some(outputs)) => outputs.write(&self.options.insight, book, &self.scheduler),
            _ => Vec::new(),
        };
        failures.iter().for_each(|failure| start::tell(failure));
        let late = self.signals.has_written();
        match (status_of(&end), late) {
            (_, Some(number)) => signals::die_by(number),
            // Whoever reads the files next must know that they are not whole.
            (0, None) if !failures.is_empty() => 1,
            (status, None) => status,
        }
    }
    /// The page and `zakuro top`, where the options ask for them.
    fn serve(&self) -> Result<Option<zakuro_insight::Live>, String> {
        let Some(book) = &self.book else { return Ok(None) };
        let me = self.me.clone();
        let kill = move |id: u64| {
            let Some(process) = me.upgrade() else { return false };
            let found = process.vms.lock().iter().filter_map(Weak::upgrade).find(|c| c.id == id);
            let found = found.filter(|c| c.is_alive() && !c.main.load(Ordering::Relaxed));
            found.inspect(|c| c.kill()).is_some()
        };
        zakuro_insight::serve(&self.options.insight, book, &self.scheduler, Arc::new(kill))
    }
    /// In the child of a fork: no other VM, signals of its own, and nobody waits for the main VM's end to end the process.
    fn begin_child(&self, main: &Arc<VmControl>, leave: &dyn Fn(*mut Cx)) -> std::io::Result<()> {
        let others: Vec<Arc<VmControl>> = self.vms.lock().iter().filter_map(Weak::upgrade).filter(|c| !Arc::ptr_eq(c, main)).collect();
        // First nobody can be woken, then those who are told of the ends wake somebody.
        others.iter().filter_map(|c| c.task()).for_each(Task::disown);
        for other in others.iter().filter(|c| c.end().is_none()) {
            let place = other.place.load(Ordering::Relaxed);
            if !place.is_null() {
                leave(place);
            }
            other.finish(End::Killed, None);
        }
        self.vms.lock().retain(|c| c.as_ptr() == Arc::as_ptr(main));
        self.signals.start_over(main);
        *self.outputs.lock() = None;
        if let Some(live) = self.live.lock().take() {
            live.leave();
        }
        main.on_end(0, Box::new(|end| std::process::exit(status_of(end))));
        Ok(())
    }
    fn run_and_wait(&self, w: &Arc<MainWaiter>) -> End {
        let notify = w.clone();
        w.control.on_end(
            0,
            Box::new(move |_| {
                *notify.done.lock().unwrap_or_else(|e| e.into_inner()) = true;
                notify.ended.notify_all();
            }),
        );
        {
            // Until it stands in a queue it looks like one that waits.
            let _starting = self.scheduler.hold();
            self.awaited.lock().push(w.control.clone());
            self.start_vm(&w.control, Envelope::nil(), None);
        }
        let mut done = w.done.lock().unwrap_or_else(|e| e.into_inner());
        while !*done {
            done = w.ended.wait(done).unwrap_or_else(|e| e.into_inner());
        }
        self.awaited.lock().retain(|c| !Arc::ptr_eq(c, &w.control));
        w.control.end().unwrap_or(End::Done)
    }
    /// Runs a VM from a thread that belongs to no VM, and waits for its end.
    pub fn run_vm(&self, name: &str, argv: Vec<Vec<u8>>) -> End {
        let control = self.create(name, argv, Limits::default(), None);
        let waiter = Arc::new(MainWaiter { control, done: Mutex::new(false), ended: Condvar::new() });
        self.run_and_wait(&waiter)
    }
}

/// A native thread outside the scheduler that waits for a VM's end.
struct MainWaiter {
    control: Arc<VmControl>,
    done: Mutex<bool>,
    ended: Condvar,
}

/// Tells how the main VM ended; the status for the process to exit with. An end by a signal ends the process here.
fn status_of(end: &End) -> i32 {
    match end {
        End::Exception { report, .. } => write_report(report),
        End::Signal { number, report } => {
            write_report(report);
            return signals::die_by(*number);
        }
        _ => {}
    }
    end.status()
}

/// To standard error, if somebody reads it.
fn write_report(report: &[u8]) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), report);
}

/// Charset of the locale for characters that the environment names, as the C library has it: one that is not installed counts as none, which is `C`. None: UTF-8. The process's
/// own locale stays as it is.
fn charmap() -> Option<String> {
    let value = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    let name = value("LC_ALL").or_else(|| value("LC_CTYPE")).or_else(|| value("LANG")).unwrap_or_default();
    let of_c = || Some("ANSI_X3.4-1968".to_string());
    match &*name {
        "" | "C" | "POSIX" => return of_c(),
        // What most containers and tests have needs no question, which costs the start a file.
        "C.UTF-8" | "C.utf8" => return None,
        _ => {}
    }
    // SAFETY: a locale object of our own, freed below; its text is copied before.
    unsafe {
        let locale = libc::newlocale(libc::LC_CTYPE_MASK, c"".as_ptr(), std::ptr::null_mut());
        if locale.is_null() {
            return of_c();
        }
        let charset = std::ffi::CStr::from_ptr(libc::nl_langinfo_l(libc::CODESET, locale)).to_string_lossy().into_owned();
        libc::freelocale(locale);
        Some(charset).filter(|c| c != "UTF-8")
    }
}

fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|v| !v.is_empty() && v != "0")
}

/// Options that the environment sets.
pub fn options_from_environment() -> Options {
    Options {
        workers: std::env::var("RUBY_MAX_CPU").ok().and_then(|v| v.parse().ok()).unwrap_or(0),
        verbose: Some(false),
        code_cache: code_cache(),
        library: library_directory(),
        host_library: is_set("ZAKURO_HOST_LIBRARY"),
        insight: Insight {
            account: is_set("ZAKURO_ACCOUNT"),
            report: std::env::var("ZAKURO_REPORT")
                .ok()
                .filter(|v| !v.is_empty() && v != "0")
                .map(|v| if v == "1" { String::new() } else { v })
                .into_iter()
                .collect(),
            ..Insight::default()
        },
        jit: std::env::var("ZAKURO_JIT").ok().and_then(|how| zakuro_base::Jit::named(&how)).unwrap_or_default(),
        engine: std::env::var("ZAKURO_ENGINE").ok().filter(|e| !e.is_empty()),
        charmap: charmap(),
        ..Options::default()
    }
}

/// The user's folder for compiled libraries: `$XDG_CACHE_HOME/zakuro/code`, else `~/.cache/zakuro/code`. None where the process has powers that who started it has
/// not (setuid).
pub fn code_cache() -> Option<CodeCache> {
    // SAFETY: ask for numbers.
    if unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() } {
        return None;
    }
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let caches = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(CodeCache { folder: caches.join("zakuro/code"), compiler: zakuro_prelude::COMPILER })
}

/// The file that the kernel was told to run: where there is no /proc (a bare chroot), nothing else knows it.
fn executed() -> Option<std::path::PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: reads the process's auxiliary vector.
    let name = unsafe { libc::getauxval(libc::AT_EXECFN) } as *const libc::c_char;
    if name.is_null() {
        return None;
    }
    // SAFETY: the kernel's string, which lives as long as the process.
    let name = unsafe { std::ffi::CStr::from_ptr(name) };
    std::fs::canonicalize(std::ffi::OsStr::from_bytes(name.to_bytes())).ok()
}

/// The standard library's directory: `ZAKURO_LIBRARY`, else `../lib/ruby/zakuro/4.0.0` of the executable's directory, links resolved. So an installed tree can be
/// moved, and the binaries of every profile in Cargo's directory share one. None: the executable's path is no UTF-8, or unknown.
pub fn library_directory() -> Option<String> {
    if let Ok(dir) = std::env::var("ZAKURO_LIBRARY")
        && !dir.is_empty()
    {
        return Some(dir);
    }
    let executable = std::env::current_exe().ok().or_else(executed)?;
    let dir = executable.parent()?.parent()?.join("lib/ruby/zakuro/4.0.0");
    dir.into_os_string().into_string().ok()
}

/// As `--version` prints it.
pub fn version_line() -> String {
    format!("zakuro {} (ruby 4.0.0) +PRISM [{}-{}]", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS)
}

/// Runs the core library's definitions and prelude on a fresh VM and freezes it.
fn make_boot_image(options: &Arc<Options>, pool: &StackPool) -> Result<BootImage, StartError> {
    let features = zakuro_stdlib::FEATURES
        .iter()
        .chain(zakuro_corelib::debugger::FEATURES)
        .chain(zakuro_openssl::FEATURES)
        .chain(zakuro_gems::FEATURES);
    #[cfg(feature = "cluster")]
    let features = features.chain(zakuro_cluster::FEATURES);
    zakuro_corelib::library::install(features, crate::programs::find);
    let stack = pool.take(StackSize::Main).map_err(|_| StartError::memory())?;
    let mut vm = Vm::for_boot(options.clone());
    let mut stacks = zakuro_vm::fiber::layout(&stack);
    // The prelude runs on this native thread; only the value and frame stacks are the slot's.
    stacks.native_limit = std::ptr::null();
    stacks.native_top = std::ptr::null();
    // SAFETY: the slot outlives the boot run below.
    unsafe { vm.enter_stacks(stacks) };
    for table in zakuro_corelib::tables() {
        for row in table {
            vm.define_native(row);
        }
    }
    zakuro_corelib::setup(&mut vm);
    for (name, number) in zakuro_prelude::PRELUDE {
        run_prelude(&mut vm, name, &crate::programs::get(*number, name))?;
    }
    vm.mark_stand_ins();
    vm.set_original_names();
    let image = vm.freeze_boot();
    drop(stack);
    Ok(image)
}

/// Panics when it raises: that is a bug of ours, and the first test would find it.
fn run_prelude(cx: &mut Cx, name: &str, code: &Arc<Code>) -> Result<(), StartError> {
    if cx.run_program(code, None).is_err() {
        let e = cx.take_pending();
        if cx.is_a(e, ids::NO_MEMORY_ERROR) {
            return Err(StartError::memory());
        }
        let class = cx.class_name_of(e);
        let message = cx.exception_message(e);
        let message = cx.to_s_text(message).unwrap_or_default();
        let at = cx.exception_backtrace(e);
        let at = cx.inspect_for_error(at);
        panic!("prelude {name}: {class}: {message} {at}");
    }
    Ok(())
}
