//! Operations on path names alone: File.join, basename, expand_path and the like.

use super::cwd;
use super::errors::{fail_at, last_errno};
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// String of a path, in the encoding of the argument when it was a String.
fn path_value(cx: &Cx, bytes: &[u8], like: Value) -> Value {
    let e = Ref::<StringCell>::from_value(like).map_or(zakuro_object::string::UTF8, |s| s.encoding());
    cx.str_bytes(bytes, e)
}

/// Without trailing slashes (but "/" stays).
fn strip(p: &[u8]) -> &[u8] {
    let mut n = p.len();
    while n > 1 && p[n - 1] == b'/' {
        n -= 1;
    }
    &p[..n]
}

pub fn basename(p: &[u8]) -> &[u8] {
    let p = strip(p);
    if p == b"/" {
        return p;
    }
    match p.iter().rposition(|b| *b == b'/') {
        Some(i) => &p[i + 1..],
        None => p,
    }
}

pub fn dirname(p: &[u8], levels: usize) -> &[u8] {
    let mut p = if p.is_empty() { b"." } else { p };
    for _ in 0..levels {
        let s = strip(p);
        let Some(cut) = s.iter().rposition(|b| *b == b'/') else { return b"." };
        let end = s[..cut].iter().rposition(|b| *b != b'/').map_or(0, |i| i + 1);
        // Nothing is above the root.
        if end == 0 {
            p = b"/";
            break;
        }
        p = &s[..end];
    }
    // Several slashes in front are one.
    let lead = p.iter().take_while(|b| **b == b'/').count();
    &p[lead.saturating_sub(1)..]
}

/// Suffix after the last dot of the file name, dot included; empty for dot files.
pub fn extname(p: &[u8]) -> &[u8] {
    let b = basename(p);
    let lead = b.iter().take_while(|c| **c == b'.').count();
    match b[lead..].iter().rposition(|c| *c == b'.') {
        Some(i) => &b[lead + i..],
        None => b"",
    }
}

/// Home directory of a user by name, or of the VM's HOME.
pub fn home(cx: &mut Cx, user: Option<&[u8]>) -> Result<Vec<u8>> {
    let Some(user) = user else {
        let h = match crate::env::get(cx, b"HOME") {
            Some(h) => h,
            // SAFETY: getuid has no preconditions.
            None => match passwd(|_, uid| uid == unsafe { libc::getuid() }) {
                Some(h) => h,
                None => return cx.arg_error("couldn't find HOME environment -- expanding '~'"),
            },
        };
        return Ok(h);
    };
    match passwd(|name, _| name == user) {
        Some(h) => Ok(h),
        None => cx.arg_error(format!("user {} doesn't exist", String::from_utf8_lossy(user))),
    }
}

/// Home directory of the first /etc/passwd line that `f(name, uid)` accepts.
fn passwd(f: impl Fn(&[u8], u32) -> bool) -> Option<Vec<u8>> {
    let text = std::fs::read("/etc/passwd").ok()?;
    for line in text.split(|b| *b == b'\n') {
        let fields: Vec<&[u8]> = line.split(|b| *b == b':').collect();
        if fields.len() >= 6 {
            let uid = std::str::from_utf8(fields[2]).ok().and_then(|s| s.parse().ok()).unwrap_or(u32::MAX);
            if f(fields[0], uid) {
                return Some(fields[5].to_vec());
            }
        }
    }
    None
}

/// Absolute path: `~`, `.` and `..` resolved by text. `tilde` false: `~` is a name.
pub fn expand(cx: &mut Cx, p: &[u8], base: Option<&[u8]>, tilde: bool) -> Result<Vec<u8>> {
    let mut base_lead = 1;
    let full: Vec<u8> = if tilde && p.first() == Some(&b'~') {
        let end = p.iter().position(|b| *b == b'/').unwrap_or(p.len());
        let user = &p[1..end];
        let mut h = home(cx, (!user.is_empty()).then_some(user))?;
        if h.first() != Some(&b'/') {
            return cx.arg_error("non-absolute home");
        }
        h.extend_from_slice(&p[end..]);
        h
    } else if p.first() == Some(&b'/') {
        p.to_vec()
    } else {
        let mut b = match base {
            Some(b) => expand(cx, b, None, tilde)?,
            None => match cwd::pwd(cx) {
                Ok(d) => d,
                Err(e) => return fail_at(cx, e, "rb_dir_getwd", b""),
            },
        };
        base_lead = b.iter().take_while(|b| **b == b'/').count().max(1);
        b.push(b'/');
        b.extend_from_slice(p);
        b
    };
    // Slashes in front stay as they are.
    let mut lead = if p.first() == Some(&b'/') { full.iter().take_while(|b| **b == b'/').count() } else { base_lead };
    let mut out = Vec::with_capacity(full.len() + 1);
    out.resize(lead, b'/');
    for (i, part) in full.split(|b| *b == b'/').enumerate() {
        step(i, cx)?;
        match part {
            b"" | b"." => {}
            b".." => {
                match out[lead..].iter().rposition(|b| *b == b'/') {
                    Some(last) => out.truncate(lead + last),
                    // Nothing is left but the root, however it was written.
                    None if out.len() > lead => {
                        lead = 1;
                        out.truncate(lead);
                    }
                    None => {}
                }
            }
            part => {
                if out.len() > lead {
                    out.push(b'/');
                }
                out.extend_from_slice(part);
            }
        }
    }
    Ok(out)
}

/// Resolves symbolic links; `strict`: the last component must exist too. Err: errno and the path in question.
pub fn realpath(cx: &mut Cx, p: &[u8], strict: bool) -> std::result::Result<Vec<u8>, (i32, Vec<u8>)> {
    let mut out: Vec<u8> = Vec::with_capacity(libc::PATH_MAX as usize / 8);
    // What is still to be looked at, from `at` on; a link's target takes its place in front.
    let mut rest = p.to_vec();
    let mut at = 0;
    if p.is_empty() && strict {
        return Err((libc::ENOENT, Vec::new()));
    }
    if p.first() != Some(&b'/') {
        let b = cwd::pwd(cx).map_err(|e| (e, p.to_vec()))?;
        // The system answers it without links.
        if b != b"/" {
            out = b;
        }
    }
    let dir = cwd::dirfd(cx);
    let mut buf = [std::mem::MaybeUninit::<u8>::uninit(); libc::PATH_MAX as usize];
    let mut links = 0;
    loop {
        at += rest[at..].iter().take_while(|b| **b == b'/').count();
        if at == rest.len() {
            break;
        }
        let end = memchr::memchr(b'/', &rest[at..]).map_or(rest.len(), |n| at + n);
        let part = &rest[at..end];
        at = end;
        match part {
            b"." => continue,
            b".." => {
                let cut = out.iter().rposition(|b| *b == b'/').unwrap_or(0);
                out.truncate(cut);
                continue;
            }
            _ => {}
        }
        let before = out.len();
        out.push(b'/');
        out.extend_from_slice(part);
        out.push(0);
        // SAFETY: out ends with its only NUL, buf is writable for its length.
        let n = unsafe { libc::readlinkat(dir, out.as_ptr().cast(), buf.as_mut_ptr().cast(), buf.len()) };
        let error = if n < 0 { last_errno() } else { 0 };
        out.pop();
        match error {
            0 => {
                // SAFETY: so many bytes were written.
                let target = unsafe { std::slice::from_raw_parts(buf.as_ptr().cast::<u8>(), n as usize) };
                links += 1;
                if links > 40 {
                    return Err((libc::ELOOP, out));
                }
                out.truncate(if target.first() == Some(&b'/') { 0 } else { before });
                // The rest is empty, or begins with a slash.
                (rest, at) = ([target, &rest[at..]].concat(), 0);
            }
            // It is there, and no link.
            libc::EINVAL => {}
            libc::ENOENT if !strict && at == rest.len() => {}
            e => return Err((e, out)),
        }
    }
    if out.is_empty() {
        out.push(b'/');
    }
    Ok(out)
}

fn join_into(cx: &mut Cx, out: &mut Vec<u8>, first: &mut bool, v: Value) -> Result<()> {
    if let Some(a) = Ref::<ArrayCell>::from_value(v) {
        let done = cx.guard_recursion(v, |cx| {
            let mut i = 0;
            let mut inner_first = true;
            let mut inner = Vec::new();
            while let Some(x) = a.get(i) {
                join_into(cx, &mut inner, &mut inner_first, x)?;
                i += 1;
            }
            append(out, first, &inner);
            Ok(())
        })?;
        if done.is_none() {
            return cx.arg_error("recursive array");
        }
        return Ok(());
    }
    let p = match Ref::<StringCell>::from_value(v) {
        Some(s) if memchr::memchr(0, s.content(&cx.heap)).is_some() => return cx.arg_error("string contains null byte"),
        Some(s) if !zakuro_vm::convert::is_wide(s.encoding()) => s,
        _ => cx.path_str(v)?,
    };
    append(out, first, p.content(&cx.heap));
    Ok(())
}

fn append(out: &mut Vec<u8>, first: &mut bool, p: &[u8]) {
    if *first {
        out.extend_from_slice(p);
        *first = false;
        return;
    }
    if p.first() == Some(&b'/') {
        while out.last() == Some(&b'/') {
            out.pop();
        }
    } else if out.last() != Some(&b'/') {
        out.push(b'/');
    }
    out.extend_from_slice(p);
}

#[ruby_class(ids::FILE)]
pub mod file {
    use super::*;
    /// Joins names with single slashes.
    ///
    ///     File.join("a", "b/", "/c")   #=> "a/b/c"
    ///     File.join   #=> ""
    #[method("join", singleton)]
    fn join(cx: &mut Cx, _this: Value, parts: Rest) -> Result<Value> {
        let mut out = Vec::with_capacity(64);
        let mut first = true;
        for v in parts {
            join_into(cx, &mut out, &mut first, *v)?;
        }
        // The first that has more than ASCII tells the encoding, where they differ.
        let encoding = |v: &Value| Ref::<StringCell>::from_value(*v).map(|s| s.encoding());
        let told = |v: &&Value| Ref::<StringCell>::from_value(**v).is_some_and(|s| !s.is_ascii());
        let like = match parts.split_first() {
            Some((one, rest)) if encoding(one).is_some() && rest.iter().all(|v| encoding(v) == encoding(one)) => *one,
            _ => parts.iter().find(told).or(parts.first()).copied().unwrap_or(Value::NIL),
        };
        Ok(path_value(cx, &out, like))
    }
    /// Last component, without `suffix` (".*": any extension).
    ///
    ///     File.basename("/a/b.rb", ".rb")   #=> "b"
    ///     File.basename("/a/b.rb")   #=> "b.rb"
    #[method("basename", singleton)]
    fn basename(cx: &mut Cx, _this: Value, path: Value, suffix: Option<Ref<StringCell>>) -> Result<Value> {
        let p = cx.path_str(path)?;
        let mut b = super::basename(p.content(&cx.heap));
        if let Some(s) = suffix {
            let s = s.content(&cx.heap);
            if s == b".*" {
                let e = super::extname(b).len();
                if e < b.len() {
                    b = &b[..b.len() - e];
                }
            } else if b.len() > s.len() && b.ends_with(s) {
                b = &b[..b.len() - s.len()];
            }
        }
        Ok(path_value(cx, b, path))
    }
    /// Everything before the last component (the last `levels`).
    ///
    ///     File.dirname("/a/b/c")   #=> "/a/b"
    ///     File.dirname("/a/b/c", 2)   #=> "/a"
    ///     File.dirname("/a", 10**15)   #=> "/"
    #[method("dirname", singleton)]
    fn dirname(cx: &mut Cx, _this: Value, path: Value, levels: Option<i64>) -> Result<Value> {
        let p = cx.path_str(path)?;
        let n = levels.unwrap_or(1);
        if n < 0 {
            return cx.arg_error(format!("negative level: {n}"));
        }
        Ok(path_value(cx, super::dirname(p.content(&cx.heap), n as usize), path))
    }
    /// Extension of the last component, with its dot.
    ///
    ///     File.extname("a/b.tar.gz")   #=> ".gz"
    ///     File.extname(".profile")   #=> ""
    #[method("extname", singleton)]
    fn extname(cx: &mut Cx, _this: Value, path: Value) -> Result<Value> {
        let p = cx.path_str(path)?;
        Ok(path_value(cx, super::extname(p.content(&cx.heap)), path))
    }
    /// Directory and last component.
    ///
    ///     File.split("/a/b")   #=> ["/a", "b"]
    #[method("split", singleton)]
    fn split(cx: &mut Cx, _this: Value, path: Value) -> Result<Value> {
        let p = cx.path_str(path)?.content(&cx.heap);
        let d = path_value(cx, super::dirname(p, 1), path);
        let b = path_value(cx, super::basename(p), path);
        Ok(cx.array(&[d, b]))
    }
    /// Absolute path of a name, relative to `dir` or the VM's directory; `~` is the home directory.
    ///
    ///     File.expand_path("../b/./c", "/a/x")   #=> "/a/b/c"
    #[method("expand_path", singleton)]
    fn expand_path(cx: &mut Cx, _this: Value, path: Value, dir: Option<Value>) -> Result<Value> {
        absolute(cx, path, dir, true)
    }
    /// As `expand_path`, but `~` is a name like others.
    ///
    ///     File.absolute_path("~", "/a")   #=> "/a/~"
    #[method("absolute_path", singleton)]
    fn absolute_path(cx: &mut Cx, _this: Value, path: Value, dir: Option<Value>) -> Result<Value> {
        absolute(cx, path, dir, false)
    }
    fn absolute(cx: &mut Cx, path: Value, dir: Option<Value>, tilde: bool) -> Result<Value> {
        let p = cx.path_of(path)?;
        let d = match dir.filter(|d| !d.is_nil()) {
            Some(d) => Some(cx.path_of(d)?),
            None => None,
        };
        let system = zakuro_core_text::encoding::default_external(cx);
        if !system.is_ascii_compatible() && p.first() != Some(&b'/') && d.is_none() {
            let e = cx.path_str(path)?.encoding();
            let e = zakuro_text::encoding::Encoding::from_id(e).map_or("UTF-8", |e| e.name());
            return cx.raise(ids::COMPAT_ERROR, format!("incompatible character encodings: {e} and {}", system.name()));
        }
        let full = expand(cx, &p, d.as_deref(), tilde)?;
        Ok(path_value(cx, &full, path))
    }
    /// Whether a path starts at the root.
    ///
    ///     File.absolute_path?("/a")   #=> true
    #[method("absolute_path?", singleton)]
    fn is_absolute(cx: &mut Cx, _this: Value, path: Value) -> Result<bool> {
        Ok(cx.path_of(path)?.first() == Some(&b'/'))
    }
    /// Absolute path without symbolic links; everything must exist.
    #[method("realpath", singleton)]
    fn realpath(cx: &mut Cx, _this: Value, path: Value, dir: Option<Value>) -> Result<Value> {
        real(cx, path, dir, true)
    }
    /// As `realpath`; the last component may be missing.
    #[method("realdirpath", singleton)]
    fn realdirpath(cx: &mut Cx, _this: Value, path: Value, dir: Option<Value>) -> Result<Value> {
        real(cx, path, dir, false)
    }
    fn real(cx: &mut Cx, path: Value, dir: Option<Value>, strict: bool) -> Result<Value> {
        let mut p = cx.path_of(path)?;
        if let Some(d) = dir.filter(|d| !d.is_nil())
            && p.first() != Some(&b'/')
        {
            let mut b = cx.path_of(d)?;
            b.push(b'/');
            b.extend_from_slice(&p);
            p = b;
        }
        match super::realpath(cx, &p, strict) {
            Ok(r) => Ok(path_value(cx, &r, path)),
            Err((e, at)) => fail_at(cx, e, "rb_realpath_internal", &at),
        }
    }
    /// The path as a String: `to_path` or `to_str`.
    #[method("path", singleton)]
    fn path(cx: &mut Cx, _this: Value, path: Value) -> Result<Value> {
        let p = cx.path_str(path)?;
        Ok(cx.str_bytes(p.content(&cx.heap), p.encoding()))
    }
    /// Whether a name matches a pattern; `flags` are File::FNM_*.
    ///
    ///     File.fnmatch("*.rb", "a.rb")   #=> true
    ///     File.fnmatch("*", ".a")   #=> false
    #[method("fnmatch", "fnmatch?", singleton)]
    fn fnmatch(cx: &mut Cx, _this: Value, pattern: Ref<StringCell>, path: Value, flags: Option<Value>) -> Result<bool> {
        let pat = pattern.to_vec();
        if pat.contains(&0) {
            return cx.arg_error("string contains null byte");
        }
        let p = cx.path_of(path)?;
        let flags = match flags {
            Some(f) => cx.to_i64(f)?,
            None => 0,
        };
        Ok(super::super::glob::fnmatch_braces(&pat, &p, flags as i32))
    }
}
