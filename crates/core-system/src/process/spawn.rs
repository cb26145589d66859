//! Starting programs: `spawn`, `system`, backticks, `exec`, `IO.popen`.
//!
//! The child gets the VM's variables and directory. Between fork and exec only system calls run; everything is prepared before.

use super::spawn_args::{self, Plan, Source};
use super::status::{self, Children};
use crate::io::errors::last_errno;
use crate::io::object::{self, Io, READ, WRITE};
use crate::io::{cwd, fail, lines, modes, open, stream};
use crate::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// The prepared Command. `redirects`: [`spawn_args::redirects`].
fn build(cx: &mut Cx, plan: &Plan, redirects: Vec<(i32, Option<i32>)>) -> Command {
    build_for(cx, plan, redirects, false)
}

fn build_for(cx: &mut Cx, plan: &Plan, redirects: Vec<(i32, Option<i32>)>, shell: bool) -> Command {
    let os = |b: &[u8]| OsStr::from_bytes(b).to_os_string();
    let mut c = if shell {
        let mut c = Command::new("/bin/sh");
        c.arg(os(&plan.program));
        c
    } else {
        Command::new(os(&plan.program))
    };
    c.args(plan.args.iter().map(|a| os(a)));
    if let Some(a) = plan.arg0.as_ref().filter(|_| !shell) {
        c.arg0(os(a));
    }
    if plan.clear_env || env::changed(cx) {
        c.env_clear();
        if !plan.clear_env {
            c.envs(env::all(cx).iter().map(|(k, v)| (os(k), os(v))));
        }
    }
    for (k, v) in &plan.env {
        match v {
            Some(v) => c.env(os(k), os(v)),
            None => c.env_remove(os(k)),
        };
    }
    // Number in the child, source, and where that is meanwhile: so that none overwrites the source of a later one.
    let mut numbers: Vec<i32> = redirects.iter().map(|(child, _)| *child).collect();
    numbers.sort_unstable();
    let above = numbers.last().copied().unwrap_or(0).max(2).saturating_add(1);
    let mut redirects: Vec<(i32, Option<i32>, i32)> = redirects.into_iter().map(|(child, source)| (child, source, -1)).collect();
    let dir = cwd::own_fd(cx);
    let chdir = plan.chdir.as_ref().map(|p| cwd::c(&p.0));
    let (umask, pgroup, session, limits) = (plan.umask, plan.pgroup, plan.session, plan.limits.clone());
    if let Some(g) = pgroup {
        c.process_group(g);
    }
    if let Some(gid) = plan.gid {
        c.gid(gid);
    }
    if let Some(uid) = plan.uid {
        c.uid(uid);
    }
    let close_others = plan.close_others;
    if close_others || !redirects.is_empty() || dir.is_some() || chdir.is_some() || umask.is_some() || session || !limits.is_empty() {
        // SAFETY: the closure only makes async-signal-safe system calls and allocates nothing.
        unsafe {
            c.pre_exec(move || {
                if close_others {
                    libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
                }
                // Before its number may become another file's.
                if let Some(fd) = dir
                    && libc::fchdir(fd) != 0
                {
                    return Err(std::io::Error::last_os_error());
                }
                if let Some(p) = &chdir
                    && libc::chdir(p.as_ptr()) != 0
                {
                    return Err(std::io::Error::last_os_error());
                }
                for (_, source, high) in &mut redirects {
                    if let Some(fd) = source {
                        *high = libc::fcntl(*fd, libc::F_DUPFD_CLOEXEC, above);
                        // Above all of them there may be no number that the limit allows: then one between.
                        let mut least = 3;
                        while *high < 0 && least < above {
                            let free = libc::fcntl(*fd, libc::F_DUPFD_CLOEXEC, least);
                            if free < 0 || numbers.binary_search(&free).is_err() {
                                *high = free;
                                break;
                            }
                            least = free + 1;
                        }
                        if *high < 0 {
                            return Err(std::io::Error::last_os_error());
                        }
                    }
                }
                for (child, source, high) in &redirects {
                    if source.is_none() {
                        libc::close(*child);
                    } else if (if high == child { libc::fcntl(*child, libc::F_SETFD, 0) } else { libc::dup2(*high, *child) }) < 0 {
                        return Err(std::io::Error::last_os_error());
                    }
                }
                if session && (libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) != 0) {
                    return Err(std::io::Error::last_os_error());
                }
                if let Some(m) = umask {
                    libc::umask(m as libc::mode_t);
                }
                // Last: the numbers above may lie beyond a limit.
                for (resource, limit) in &limits {
                    if libc::setrlimit(*resource, limit) != 0 {
                        return Err(std::io::Error::last_os_error());
                    }
                }
                Ok(())
            });
        }
    }
    c
}

/// Numbers of descriptors that nothing else may get meanwhile.
struct Taken(Vec<i32>);

impl Taken {
    /// All that are free up to the largest that the child is to have. What the standard library opens, to hear from the child that there is no such program, must not be overwritten there.
    fn up_to(redirects: &[(i32, Option<i32>)]) -> Taken {
        let mut taken = Taken(Vec::new());
        let last = redirects.iter().map(|(child, _)| *child).max().unwrap_or(0);
        if last > 2 {
            // SAFETY: a constant path; the numbers are ours.
            unsafe {
                let mut fd = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
                while fd >= 0 && fd <= last {
                    taken.0.push(fd);
                    fd = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0);
                }
                if fd >= 0 {
                    libc::close(fd);
                }
            }
        }
        taken
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // SAFETY: opened above, and nobody else knows them.
        self.0.drain(..).for_each(|fd| _ = unsafe { libc::close(fd) });
    }
}

/// The child inherits the CPUs that the calling thread may use.
fn begin(c: &mut Command, redirects: &[(i32, Option<i32>)]) -> std::io::Result<std::process::Child> {
    zakuro_sched::use_all_cpus();
    for fd in redirects.iter().filter_map(|r| r.1) {
        // SAFETY: only asks.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    let _taken = Taken::up_to(redirects);
    c.spawn()
}

/// Starts the program; its pid, or errno and `$?` 127. An exception: what the plan says makes no sense.
pub fn start(cx: &mut Cx, plan: &Plan) -> Result<std::result::Result<i32, i32>> {
    let redirects = spawn_args::redirects(cx, plan)?;
    stream::flush_all(cx);
    status::reap_orphans();
    if plan.program.is_empty() || plan.program.iter().all(|b| b.is_ascii_whitespace()) {
        return Ok(Err(libc::ENOENT));
    }
    let mut c = build(cx, plan, redirects.clone());
    let mut started = zakuro_sched::blocking(|| begin(&mut c, &redirects));
    if started.as_ref().is_err_and(|e| e.raw_os_error() == Some(libc::ENOEXEC)) {
        // A script that names no interpreter is the shell's.
        let mut c = build_for(cx, plan, redirects.clone(), true);
        started = zakuro_sched::blocking(|| begin(&mut c, &redirects));
    }
    Ok(match started {
        Ok(child) => {
            let pid = child.id() as i32;
            cx.state::<Children>().running.push(pid);
            Ok(pid)
        }
        Err(e) => {
            // As a shell says it.
            status::set_last(cx, 0, 127 << 8);
            let e = e.raw_os_error().unwrap_or(libc::ENOENT);
            // In PATH only what may be executed counts.
            Err(if matches!(e, libc::EACCES | libc::ENAMETOOLONG) && !plan.program.contains(&b'/') { libc::ENOENT } else { e })
        }
    })
}

/// Command name for error messages.
fn shown(plan: &Plan) -> String {
    use std::os::unix::ffi::OsStrExt;
    // A directory that is not there is what went wrong.
    if let Some((full, given)) = &plan.chdir
        && !std::path::Path::new(std::ffi::OsStr::from_bytes(full)).is_dir()
    {
        return String::from_utf8_lossy(given).into_owned();
    }
    let name = if plan.arg0.as_deref() == Some(b"sh") { plan.args.last().unwrap_or(&plan.program) } else { &plan.program };
    String::from_utf8_lossy(name).into_owned()
}

fn spawn(cx: &mut Cx, args: Args) -> Result<i64> {
    let plan = spawn_args::parse(cx, args.all())?;
    spawn_planned(cx, &plan)
}

/// Starts a program in a session of its own, whose terminal is its standard input; its pid.
pub fn spawn_in_session(cx: &mut Cx, args: Args) -> Result<i64> {
    let mut plan = spawn_args::parse(cx, args.all())?;
    plan.session = true;
    spawn_planned(cx, &plan)
}

fn spawn_planned(cx: &mut Cx, plan: &spawn_args::Plan) -> Result<i64> {
    stream::flush_standard(cx)?;
    match start(cx, plan)? {
        Ok(pid) => Ok(pid as i64),
        Err(e) => fail(cx, e, &shown(plan)),
    }
}

/// Replaces the process; the error, if that fails. The standard library gives the program the system's SIGPIPE: this process would die of the next pipe that nobody reads.
fn replace(c: &mut Command) -> i32 {
    // SAFETY: the structure is the call's own.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let known = libc::sigaction(libc::SIGPIPE, std::ptr::null(), &mut before) == 0;
        let e = c.exec().raw_os_error().unwrap_or(libc::ENOENT);
        if known {
            libc::sigaction(libc::SIGPIPE, &before, std::ptr::null_mut());
        }
        e
    }
}

/// Replaces the process by a program. A VM other than the main one must leave the others alone: it runs the program as a child and ends
/// with its status.
fn exec(cx: &mut Cx, args: Args) -> Result<Value> {
    let plan = spawn_args::parse(cx, args.all())?;
    stream::flush_all(cx);
    if cx.owns_process() {
        let redirects = spawn_args::redirects(cx, &plan)?;
        let mut c = build(cx, &plan, redirects);
        zakuro_sched::use_all_cpus();
        let e = replace(&mut c);
        return fail(cx, e, &shown(&plan));
    }
    let pid = match start(cx, &plan)? {
        Ok(p) => p,
        Err(e) => return fail(cx, e, &shown(&plan)),
    };
    status::wait(cx, pid, 0)?;
    let st = status::last(cx);
    let code = cx.call(st, Sym::intern("exitstatus"), &[])?;
    let main = cx.main;
    cx.call(main, sym::exit, &[if code.is_nil() { Value::FALSE } else { code }])
}

/// A pipe: (reading, writing) ends.
fn pipe(cx: &mut Cx) -> Result<(i32, i32)> {
    super::descriptors::admit(cx, 1)?;
    let mut fds = [0i32; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return fail(cx, last_errno(), "");
    }
    Ok((fds[0], fds[1]))
}

fn close_fd(fd: i32) {
    // SAFETY: the caller owns the descriptor.
    unsafe { libc::close(fd) };
}

/// Starts a program whose output (READ) and input (WRITE) are pipes of a new stream.
fn popen(cx: &mut Cx, class: ClassId, mut plan: Plan, m: &modes::Mode) -> Result<Value> {
    stream::flush_standard(cx)?;
    for (number, way) in [(1, READ), (0, WRITE)] {
        if m.io & way != 0 && plan.redirects[plan.streams..].iter().any(|(n, _)| *n == number) {
            return cx.arg_error(format!("fd {number} specified twice"));
        }
    }
    let out = if m.io & READ != 0 { Some(pipe(cx)?) } else { None };
    let input = if m.io & WRITE != 0 { Some(pipe(cx)?) } else { None };
    // Explicit redirections (`err: [:child, :out]`) refer to the pipes, so these come first; where the VM's own streams point matters less.
    let at = plan.streams;
    if let Some((_, w)) = out {
        plan.redirects.insert(at, (1, Source::Fd { fd: w, owned: true }));
    }
    if let Some((r, _)) = input {
        plan.redirects.insert(at, (0, Source::Fd { fd: r, owned: true }));
    }
    let started = start(cx, &plan);
    let name = shown(&plan);
    drop(plan);
    let pid = match started {
        Ok(Ok(p)) => p,
        failed => {
            out.inspect(|(r, _)| close_fd(*r));
            input.inspect(|(_, w)| close_fd(*w));
            return match failed {
                Ok(Err(e)) => fail(cx, e, &name),
                _ => Err(Exc),
            };
        }
    };
    stream_to(cx, class, (out.map(|p| p.0), input.map(|p| p.1)), pid, m)
}

/// The stream to a child: a descriptor to read from and one to write to.
fn stream_to(cx: &mut Cx, class: ClassId, ends: (Option<i32>, Option<i32>), pid: i32, m: &modes::Mode) -> Result<Value> {
    let mut s = match ends {
        (Some(r), Some(w)) => {
            let mut s = Io::new(r, READ | WRITE);
            s.wfd = w;
            s
        }
        (Some(r), None) => Io::new(r, READ),
        (None, Some(w)) => Io::new(w, WRITE),
        (None, None) => return cx.arg_error("invalid access mode"),
    };
    s.sync = true;
    s.pid = pid;
    if m.given || m.ext.is_some() {
        s.ext = m.ext;
        s.int = m.int;
        s.settled = true;
    }
    s.conversion = m.conversion.clone();
    s.universal = m.textmode;
    s.binmode = m.binmode;
    Ok(object::make(cx, class, s))
}

#[ruby_class(ids::IO)]
pub mod io {
    use super::*;
    /// A stream to and from a program: a command line, or an Array of environment, program, arguments and options.
    ///
    ///     IO.popen(["echo", "a b"], &:read)   #=> "a b\n"
    #[method("popen", singleton)]
    fn popen(cx: &mut Cx, this: ClassId, args: Rest, mut kw: Kwargs, block: Block) -> Result<Value> {
        let mut args = RootedVec::from_slice(cx, args);
        // Options may also come as a Hash in the last place.
        if args.len() > 1
            && kw.is_none()
            && let Some(h) = args.last().and_then(|v| Ref::<HashCell>::from_value(*v))
        {
            kw = Kwargs::of(Some(h));
            args.pop();
        }
        let mut env_arg = None;
        if let Some(first) = args.first().copied()
            && !first.is_kind(Kind::String)
            && !first.is_kind(Kind::Array)
            && let Some(h) = cx.try_hash(first)?
        {
            env_arg = Some(h.as_value());
            args.remove(0);
        }
        // A Hash behind the command is options too.
        if args.len() > 1
            && kw.is_none()
            && let Some(h) = args.last().and_then(|v| Ref::<HashCell>::from_value(*v))
        {
            args.pop();
            kw = Kwargs::of(Some(h));
        }
        let Some(cmd) = args.first().copied() else { return cx.arity_error(0, 1, Some(2)) };
        let m = modes::parse(cx, args.get(1).copied().unwrap_or(Value::NIL), &kw, "r")?;
        let mut list = RootedVec::gather(cx, env_arg);
        match Ref::<ArrayCell>::from_value(cmd) {
            Some(a) => {
                list.extend_from_slice(a.elements(&cx.heap));
                // One word in an Array is a program, not a command line.
                let strings = a.elements(&cx.heap).iter().filter(|v| v.is_kind(Kind::String)).count();
                if strings == 1
                    && let Some(i) = list.iter().position(|v| v.is_kind(Kind::String))
                {
                    list[i] = cx.array(&[list[i], list[i]]);
                }
            }
            None => {
                let s = cx.to_str(cmd)?;
                if s.equals(b"-") {
                    return super::popen_self(cx, this, &m, block);
                }
                list.push(cmd);
            }
        }
        let mut plan = spawn_args::parse(cx, &list)?;
        if let Some(h) = kw.hash(cx) {
            let mine = cx.new_hash();
            const OPENING: [&str; 9] = [
                "mode",
                "flags",
                "external_encoding",
                "internal_encoding",
                "encoding",
                "textmode",
                "binmode",
                "autoclose",
                "universal_newline",
            ];
            for (k, v) in cx.hash_pairs(h) {
                if !k.as_sym().is_some_and(|s| OPENING.contains(&&*s.name())) {
                    cx.hash_set(mine, k, v)?;
                }
            }
            spawn_args::options(cx, &mut plan, mine)?;
        }
        let v = super::popen(cx, this, plan, &m)?;
        if block.is_none() { Ok(v) } else { open::with_block(cx, v, block) }
    }
}

/// `IO.popen("-")`: a copy of this process at the other end. In the copy: nil, or what the block makes of that and the end, with status 0.
fn popen_self(cx: &mut Cx, class: ClassId, m: &modes::Mode, block: Block) -> Result<Value> {
    let out = if m.io & READ != 0 { Some(pipe(cx)?) } else { None };
    let input = if m.io & WRITE != 0 { Some(pipe(cx)?) } else { None };
    let forked = super::fork::hooked(cx);
    if !matches!(forked, Ok(None)) {
        out.inspect(|(_, w)| close_fd(*w));
        input.inspect(|(r, _)| close_fd(*r));
    }
    match forked {
        Err(Exc) => {
            out.inspect(|(r, _)| close_fd(*r));
            input.inspect(|(_, w)| close_fd(*w));
            Err(Exc)
        }
        Ok(Some(pid)) => {
            let v = stream_to(cx, class, (out.map(|p| p.0), input.map(|p| p.1)), pid, m)?;
            if block.is_none() { Ok(v) } else { open::with_block(cx, v, block) }
        }
        Ok(None) => {
            for (fd, standard) in [(out.map(|p| p.1), 1), (input.map(|p| p.0), 0)] {
                if let Some(fd) = fd {
                    // SAFETY: descriptors of this process.
                    unsafe { libc::dup2(fd, standard) };
                    close_fd(fd);
                }
            }
            out.inspect(|(r, _)| close_fd(*r));
            input.inspect(|(_, w)| close_fd(*w));
            if block.is_none() {
                return Ok(Value::NIL);
            }
            let result = cx.yield1(block, Value::NIL);
            if cx.exits_at_once() {
                super::fork::end(cx, result)
            }
            // As in CRuby: whatever else the block does, and without the at_exit blocks, which are the parent's.
            if result.is_err() {
                cx.take_pending();
            }
            if stream::flush_standard(cx).is_err() {
                cx.take_pending();
            }
            // SAFETY: the process ends.
            unsafe { libc::_exit(0) }
        }
    }
}

/// Runs a command and waits; None when it could not be started.
fn system(cx: &mut Cx, args: Args) -> Result<Option<bool>> {
    let plan = spawn_args::parse(cx, args.all())?;
    stream::flush_standard(cx)?;
    let pid = match start(cx, &plan)? {
        Ok(p) => p,
        Err(e) if plan.exception => return fail(cx, e, &shown(&plan)),
        Err(_) => return Ok(None),
    };
    status::wait(cx, pid, 0)?;
    let st = status::last(cx);
    let ok = cx.call(st, sym::success_p, &[])? == Value::TRUE;
    if !ok && plan.exception {
        let text = cx.to_s_text(st)?;
        let text = text.split_once(' ').and_then(|(_, r)| r.split_once(' ')).map_or(text.clone(), |(_, r)| r.to_string());
        return cx.raise(ids::RUNTIME_ERROR, format!("Command failed with {text}: {}", shown(&plan)));
    }
    Ok(Some(ok))
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;
    /// Starts a program and returns its pid.
    #[method("spawn", module_function)]
    fn spawn(cx: &mut Cx, _this: Value, args: Args) -> Result<i64> {
        super::spawn(cx, args)
    }
    /// Runs a program: true when it succeeds, false when it fails, nil when it could not be started.
    ///
    ///     system("true")   #=> true
    #[method("system", module_function)]
    fn system(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        Ok(super::system(cx, args)?.map_or(Value::NIL, Value::bool))
    }
    /// Replaces the process by a program.
    #[method("exec", module_function)]
    fn exec(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        super::exec(cx, args)
    }
    /// Output of a command.
    ///
    ///     `echo hi`   #=> "hi\n"
    #[method("`", module_function)]
    fn backtick(cx: &mut Cx, _this: Value, command: Value) -> Result<Value> {
        let s = cx.to_str(command)?;
        let plan = spawn_args::parse(cx, &[s.as_value()])?;
        let v = super::popen(cx, ids::IO, plan, &modes::Mode::read())?;
        let r = lines::read_all(cx, v);
        let bytes = open::finish(cx, v, r)?;
        let encoding = zakuro_core_text::encoding::default_external(cx);
        Ok(cx.str_bytes(&bytes, encoding.id()))
    }
    /// Makes a copy of the process: its number, and nil in the copy, where the calling thread is the only one and the main VM the only VM. With a block the copy
    /// runs that and ends. NotImplementedError in other VMs, to which the process does not belong (RubyVM.fork does what it is used for).
    ///
    ///     Process.wait2(fork { exit 3 })[1].exitstatus   # 3, in the main VM
    #[method("fork", module_function)]
    fn fork(cx: &mut Cx, _this: Value, block: Block) -> Result<Value> {
        super::super::fork::fork(cx, block)
    }
}

#[ruby_class(ids::PROCESS)]
pub mod process {
    use super::*;
    /// As Kernel#spawn.
    #[method("spawn", singleton)]
    fn spawn(cx: &mut Cx, _this: Value, args: Args) -> Result<i64> {
        super::spawn(cx, args)
    }
    /// As Kernel#exec.
    #[method("exec", singleton)]
    fn exec(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        super::exec(cx, args)
    }
    /// As Kernel#fork.
    ///
    ///     Process.wait2(Process.fork { exit! 4 })[1].exitstatus   # 4, in the main VM
    #[method("fork", singleton)]
    fn fork(cx: &mut Cx, _this: Value, block: Block) -> Result<Value> {
        super::super::fork::fork(cx, block)
    }
    /// What `fork` and `IO.popen("-")` call, so that libraries can note a fork: the copy's number, and 0 in the copy.
    ///
    ///     (pid = Process._fork) == 0 ? exit!(5) : Process.wait2(pid)[1].exitstatus   # 5, in the main VM
    #[method("_fork", singleton)]
    fn bare_fork(cx: &mut Cx, _this: Value) -> Result<i64> {
        Ok(super::super::fork::process(cx)?.map_or(0, i64::from))
    }
    /// Goes on in a copy of the process that has no terminal, and ends this one. Its directory becomes / and its standard streams /dev/null unless asked otherwise.
    #[method("daemon", module_function)]
    fn daemon(cx: &mut Cx, _this: Value, keep_directory: Option<bool>, keep_streams: Option<bool>) -> Result<i64> {
        super::super::fork::daemon(cx, keep_directory.unwrap_or(false), keep_streams.unwrap_or(false))
    }
}
