//! Arguments of `spawn`, `system`, `exec` and `IO.popen`: environment, command, options, redirections.

use crate::io::{cwd, modes, object, open, path};
use super::info::{self, Resource};
use std::collections::HashMap;
use zakuro_vm::*;

/// Where a descriptor of the child comes from.
pub enum Source {
    /// A descriptor of this process; `owned`: opened for the child only.
    Fd { fd: i32, owned: bool },
    /// Another descriptor of the child.
    Child(i32),
    Close,
}

/// A program to start.
#[derive(Default)]
pub struct Plan {
    pub program: Vec<u8>,
    pub arg0: Option<Vec<u8>>,
    pub args: Vec<Vec<u8>>,
    /// Changes to the environment.
    pub env: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    pub clear_env: bool,
    pub close_others: bool,
    /// Directory: in full, and as it was given.
    pub chdir: Option<(Vec<u8>, Vec<u8>)>,
    pub umask: Option<u32>,
    /// Whose the child becomes.
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    /// Resources with their soft and hard limits.
    pub limits: Vec<(Resource, libc::rlimit)>,
    /// Some(0): a new group.
    pub pgroup: Option<i32>,
    /// A session of its own, whose terminal is standard input.
    pub session: bool,
    pub redirects: Vec<(i32, Source)>,
    /// The first so many of them say where the VM's own standard streams point.
    pub streams: usize,
    /// `exception: true` of `system`.
    pub exception: bool,
}

impl Drop for Plan {
    fn drop(&mut self) {
        for (_, s) in &self.redirects {
            if let Source::Fd { fd, owned: true } = s {
                // SAFETY: opened for this plan.
                unsafe { libc::close(*fd) };
            }
        }
    }
}

/// Words that only a shell knows.
const SHELL_WORDS: &[&[u8]] = &[
    b".", b":", b"break", b"case", b"continue", b"do", b"done", b"elif", b"else", b"esac", b"eval", b"exec", b"exit", b"export", b"fi",
    b"for", b"if", b"in", b"readonly", b"return", b"set", b"shift", b"then", b"times", b"trap", b"unset", b"until", b"while",
];

/// Splits a command line that needs no shell.
fn words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    if line.iter().any(|b| b"*?{}[]<>()~&|\\$;'`\"\n#".contains(b)) {
        return None;
    }
    let w: Vec<Vec<u8>> = line.split(|b| *b == b' ' || *b == b'\t').filter(|w| !w.is_empty()).map(<[u8]>::to_vec).collect();
    let first = w.first()?;
    if SHELL_WORDS.contains(&&first[..]) || first.contains(&b'=') || first.contains(&b'%') {
        return None;
    }
    Some(w)
}

fn c_bytes(cx: &mut Cx, v: Value) -> Result<Vec<u8>> {
    let s = cx.to_str(v)?;
    if s.has_nul() {
        return cx.arg_error("string contains null byte");
    }
    Ok(s.to_vec())
}

/// Sets the command of a plan: one line, or a program and its arguments.
fn command(cx: &mut Cx, plan: &mut Plan, args: &[Value]) -> Result<()> {
    let Some(first) = args.first() else { return cx.arg_error("wrong number of arguments (given 0, expected 1+)") };
    let pair = if first.is_kind(Kind::String) { None } else { cx.try_ary(*first)? };
    if let Some(a) = pair {
        if a.len() != 2 {
            return cx.arg_error("wrong first argument");
        }
        plan.program = c_bytes(cx, a.get(0).unwrap_or(Value::NIL))?;
        plan.arg0 = Some(c_bytes(cx, a.get(1).unwrap_or(Value::NIL))?);
    } else {
        let line = c_bytes(cx, *first)?;
        if args.len() == 1 {
            match words(&line) {
                Some(mut w) => {
                    plan.program = w.remove(0);
                    plan.args = w;
                }
                None if line.iter().all(|b| b.is_ascii_whitespace()) => plan.program = line,
                None => {
                    plan.program = b"/bin/sh".to_vec();
                    plan.arg0 = Some(b"sh".to_vec());
                    plan.args = vec![b"-c".to_vec(), line];
                }
            }
            return Ok(());
        }
        plan.program = line;
    }
    for v in &args[1..] {
        plan.args.push(c_bytes(cx, *v)?);
    }
    Ok(())
}

/// Number of a descriptor that a redirection names.
fn fd_name(cx: &mut Cx, v: Value) -> Result<i32> {
    if let Some(s) = v.as_sym() {
        return match &*s.name() {
            "in" => Ok(0),
            "out" => Ok(1),
            "err" => Ok(2),
            other => cx.arg_error(format!("wrong exec option symbol: {other}")),
        };
    }
    if cx.is_integer(v) {
        let n = cx.to_i64(v)?;
        if n < 0 {
            return cx.arg_error("negative file descriptor");
        }
        return Ok(n as i32);
    }
    match stream(cx, v)? {
        Some(io) => {
            let fd = object::get(cx, io)?.write_fd();
            // A standard stream that the VM has pointed elsewhere stands for its number still.
            Ok(crate::io::stream::number_of(cx, io).map_or(fd, |n| n as i32))
        }
        None => {
            let class = cx.class_name_of(v);
            cx.arg_error(format!("wrong exec option: {class}"))
        }
    }
}

/// The stream that a value is, or answers to `to_io`. Not one with two descriptors.
fn stream(cx: &mut Cx, v: Value) -> Result<Option<Value>> {
    if v.is_kind(Kind::String) || !cx.is_a(v, ids::IO) && !cx.responds(v, Sym::intern("to_io"), true)? {
        return Ok(None);
    }
    let io = crate::io::whole::io_of(cx, v)?;
    let s = object::get(cx, io)?;
    if s.readable() && s.writable() && s.write_fd() != s.fd {
        return cx.arg_error("duplex IO redirection");
    }
    Ok(Some(io))
}

/// What a descriptor of this process stands for in this VM: 0, 1, 2 may be redirected.
fn own_fd(cx: &mut Cx, fd: i32) -> i32 {
    if (0..=2).contains(&fd) { crate::io::stream::redirected(cx, fd as usize).unwrap_or(fd) } else { fd }
}

/// `output`: a file that is named is written. Else it is read, as CRuby does for all numbers but 1 and 2.
fn source(cx: &mut Cx, child: i32, output: bool, v: Value) -> Result<Source> {
    if let Some(s) = v.as_sym() {
        if &*s.name() == "close" {
            return Ok(Source::Close);
        }
        if !matches!(&*s.name(), "in" | "out" | "err") {
            return cx.arg_error(format!("wrong exec redirect symbol: {}", s.name()));
        }
        let fd = fd_name(cx, v)?;
        return Ok(Source::Fd { fd: own_fd(cx, fd), owned: false });
    }
    if cx.is_integer(v) {
        let fd = fd_name(cx, v)?;
        super::owner::check_number(cx, fd)?;
        return Ok(Source::Fd { fd: own_fd(cx, fd), owned: false });
    }
    if let Some(a) = Ref::<ArrayCell>::from_value(v) {
        if a.get(0).and_then(Value::as_sym).is_some_and(|s| &*s.name() == "child") {
            let n = fd_name(cx, a.get(1).unwrap_or(Value::NIL))?;
            return Ok(Source::Child(n));
        }
        let p = cx.path_of(a.get(0).unwrap_or(Value::NIL))?;
        let m = modes::parse(cx, a.get(1).unwrap_or(Value::NIL), &Kwargs::NONE, "r")?;
        let perm = open::perm_of(cx, a.get(2), &Kwargs::NONE)?;
        let fd = open::sysopen(cx, &p, m.flags, perm)?;
        return Ok(Source::Fd { fd, owned: true });
    }
    if v.is_kind(Kind::String) || cx.responds(v, sym::to_path, false)? && !cx.is_a(v, ids::IO) {
        let p = cx.path_of(v)?;
        let flags = if output { libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC } else { libc::O_RDONLY };
        let fd = open::sysopen(cx, &p, flags, 0o644)?;
        return Ok(Source::Fd { fd, owned: true });
    }
    let Some(io) = stream(cx, v)? else { return cx.arg_error("wrong exec redirect action") };
    if object::get(cx, io)?.writable() {
        object::flush(cx, io)?;
    }
    let s = object::get(cx, io)?;
    Ok(Source::Fd { fd: if child == 0 { s.fd } else { s.write_fd() }, owned: false })
}

fn flag(cx: &mut Cx, name: &str, v: Value) -> Result<bool> {
    match v {
        Value::TRUE => Ok(true),
        Value::FALSE | Value::NIL => Ok(false),
        v => {
            let shown = cx.inspect_text(v)?;
            cx.arg_error(format!("expected true or false as {name}: {shown}"))
        }
    }
}

/// Options and redirections.
pub fn options(cx: &mut Cx, plan: &mut Plan, h: Ref<HashCell>) -> Result<()> {
    for (k, v) in cx.hash_pairs(h) {
        let name = k.as_sym().map(|s| s.name().into_owned());
        match name.as_deref() {
            Some("chdir") => {
                let p = cx.path_of(v)?;
                plan.chdir = Some((path::expand(cx, &p, None, false)?, p));
            }
            Some("unsetenv_others") => plan.clear_env = flag(cx, "unsetenv_others", v)?,
            Some("umask") => plan.umask = Some(cx.to_i64(v)? as u32),
            Some("pgroup") => {
                plan.pgroup = match v {
                    Value::TRUE => Some(0),
                    Value::NIL | Value::FALSE => None,
                    v => {
                        let g = cx.to_i64(v)?;
                        if g < 0 {
                            return cx.arg_error(format!("negative process group ID : {g}"));
                        }
                        Some(g as i32)
                    }
                }
            }
            Some("exception") => plan.exception = flag(cx, "exception", v)?,
            Some("close_others") => plan.close_others = flag(cx, "close_others", v)?,
            Some("uid") => plan.uid = Some(super::identity::user(cx, v)?),
            Some("gid") => plan.gid = Some(super::identity::group(cx, v)?),
            Some(name) if name.strip_prefix("rlimit_").and_then(info::resource_named).is_some() => {
                let resource = name.strip_prefix("rlimit_").and_then(info::resource_named).unwrap_or_default();
                let list = match cx.try_ary(v)? {
                    Some(a) => RootedVec::of(cx, a),
                    None => RootedVec::from_slice(cx, &[v]),
                };
                let (soft, hard) = match list[..] {
                    [both] => (both, both),
                    [soft, hard] => (soft, hard),
                    _ => return cx.arg_error("wrong exec rlimit option"),
                };
                let limit = libc::rlimit { rlim_cur: info::limit_number(cx, soft)?, rlim_max: info::limit_number(cx, hard)? };
                plan.limits.push((resource, limit));
            }
            _ => {
                let list = match Ref::<ArrayCell>::from_value(k) {
                    Some(a) => RootedVec::of(cx, a),
                    None => RootedVec::from_slice(cx, &[k]),
                };
                let mut numbers = Vec::with_capacity(list.len());
                for key in list.iter().copied() {
                    numbers.push(fd_name(cx, key)?);
                }
                let output = numbers.iter().all(|n| matches!(n, 1 | 2));
                let mut first = None;
                for child in numbers {
                    let src = match first {
                        // The others share what was opened for the first.
                        Some(f) if !v.is_sym() => Source::Child(f),
                        _ => source(cx, child, output, v)?,
                    };
                    first.get_or_insert(child);
                    plan.redirects.push((child, src));
                }
            }
        }
    }
    Ok(())
}

/// Numbers of descriptors in the child, each with that of this process which it is made of (None: it is closed).
///
/// # Errors
/// ArgumentError where `[:child, n]` leads to nothing that the call redirects.
pub fn redirects(cx: &mut Cx, plan: &Plan) -> Result<Vec<(i32, Option<i32>)>> {
    // The last one of each number that the call itself redirects.
    let given: HashMap<i32, &Source> = plan.redirects[plan.streams..].iter().map(|(child, source)| (*child, source)).collect();
    let mut found: HashMap<i32, i32> = HashMap::new();
    let mut list = Vec::with_capacity(plan.redirects.len());
    for (child, source) in &plan.redirects {
        let fd = match source {
            Source::Fd { fd, .. } => Some(*fd),
            Source::Close => None,
            Source::Child(first) => {
                let (mut at, mut passed) = (*first, Vec::new());
                let fd = loop {
                    if let Some(fd) = found.get(&at) {
                        break *fd;
                    }
                    if passed.len() > given.len() {
                        return cx.arg_error(format!("cyclic child fd redirection from {first}"));
                    }
                    passed.push(at);
                    match given.get(&at) {
                        Some(Source::Fd { fd, .. }) => break *fd,
                        Some(Source::Child(next)) => at = *next,
                        Some(Source::Close) | None => return cx.arg_error(format!("child fd {first} is not redirected")),
                    }
                };
                found.extend(passed.into_iter().map(|n| (n, fd)));
                Some(fd)
            }
        };
        list.push((*child, fd));
    }
    Ok(list)
}

fn environment(cx: &mut Cx, plan: &mut Plan, h: Ref<HashCell>) -> Result<()> {
    for (k, v) in cx.hash_pairs(h) {
        let name = c_bytes(cx, k)?;
        if name.contains(&b'=') {
            return cx.arg_error(format!("environment name contains a equal : {}", String::from_utf8_lossy(&name)));
        }
        let value = if v.is_nil() { None } else { Some(c_bytes(cx, v)?) };
        plan.env.push((name, value));
    }
    Ok(())
}

/// `([env,] command..., [options])`
pub fn parse(cx: &mut Cx, args: &[Value]) -> Result<Plan> {
    let mut plan = Plan::default();
    let mut args = args;
    if let [first, rest @ ..] = args
        && !first.is_kind(Kind::String)
        && !first.is_kind(Kind::Array)
        && let Some(h) = cx.try_hash(*first)?
    {
        environment(cx, &mut plan, h)?;
        args = rest;
    }
    if let [rest @ .., last] = args
        && !last.is_kind(Kind::String)
        && let Some(h) = cx.try_hash(*last)?
    {
        options(cx, &mut plan, h)?;
        args = rest;
    }
    command(cx, &mut plan, args)?;
    // Streams that the VM has pointed elsewhere come first; what the call says overrides them.
    for n in (0..3).rev() {
        if let Some(fd) = crate::io::stream::redirected(cx, n) {
            plan.redirects.insert(0, (n as i32, Source::Fd { fd, owned: false }));
            plan.streams += 1;
        }
    }
    let _ = cwd::dirfd(cx);
    Ok(plan)
}
