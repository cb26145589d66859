//! File name patterns: `File.fnmatch`, `Dir.glob`.

use super::cwd;
use super::dir::{entries_at, kinds_at};
use super::errors::fail_at;
use zakuro_vm::*;

pub const NOESCAPE: i32 = 1;
pub const PATHNAME: i32 = 2;
pub const DOTMATCH: i32 = 4;
pub const CASEFOLD: i32 = 8;
pub const EXTGLOB: i32 = 16;

/// Bytes of the character at the start.
fn char_len(s: &[u8]) -> usize {
    zakuro_text::encoding::utf8::decode(s).map_or(1, |(_, n)| n)
}

fn same(a: &[u8], b: &[u8], flags: i32) -> bool {
    if flags & CASEFOLD != 0 { a.eq_ignore_ascii_case(b) } else { a == b }
}

/// Matches a bracket expression at `p[0] == '['`. Some((matched, bytes of pattern used)) when it is well formed.
fn bracket(p: &[u8], s: &[u8], flags: i32) -> Option<(bool, usize)> {
    let mut i = 1;
    let not = matches!(p.get(1), Some(b'!' | b'^'));
    if not {
        i += 1;
    }
    let c = &s[..char_len(s)];
    let fold = |x: &[u8]| if flags & CASEFOLD != 0 { x.to_ascii_lowercase() } else { x.to_vec() };
    let mut ok = false;
    let start = i;
    while p.get(i) != Some(&b']') || i == start {
        let one = |i: &mut usize| -> Option<Vec<u8>> {
            if flags & NOESCAPE == 0 && p.get(*i) == Some(&b'\\') {
                *i += 1;
            }
            let n = char_len(p.get(*i..).filter(|r| !r.is_empty())?);
            let r = p[*i..*i + n].to_vec();
            *i += n;
            Some(r)
        };
        if p.get(i) == Some(&b']') && i == start {
            return None;
        }
        let low = one(&mut i)?;
        let high = if p.get(i) == Some(&b'-') && p.get(i + 1).is_some_and(|b| *b != b']') {
            i += 1;
            one(&mut i)?
        } else {
            low.clone()
        };
        let x = fold(c);
        if fold(&low) <= x && x <= fold(&high) {
            ok = true;
        }
        p.get(i)?;
    }
    Some((ok != not, i + 1))
}

/// Matches one path component (or, without PATHNAME, a whole string). `*` and `?` don't match a leading dot unless DOTMATCH.
fn component(p: &[u8], s: &[u8], flags: i32, slash: bool) -> bool {
    // Iterative with one level of backtracking: the last `*`.
    let dot = |at: usize| flags & DOTMATCH == 0 && s.get(at) == Some(&b'.') && (at == 0 || slash && s[at - 1] == b'/');
    let (mut i, mut k) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    if flags & DOTMATCH == 0 && s.first() == Some(&b'.') && matches!(p.first(), Some(b'*' | b'?' | b'[')) {
        return false;
    }
    loop {
        if i < p.len() {
            match p[i] {
                b'*' => {
                    while p.get(i) == Some(&b'*') {
                        i += 1;
                    }
                    star = Some((i, k));
                    continue;
                }
                b'?' if k < s.len() && !dot(k) => {
                    i += 1;
                    k += char_len(&s[k..]);
                    continue;
                }
                b'[' if k < s.len() && !dot(k) => {
                    if let Some((true, n)) = bracket(&p[i..], &s[k..], flags) {
                        i += n;
                        k += char_len(&s[k..]);
                        continue;
                    }
                }
                b'?' | b'[' => {}
                c => {
                    let (mut c_at, mut n) = (i, 1);
                    if c == b'\\' && flags & NOESCAPE == 0 {
                        // One that stands last escapes nothing.
                        if i + 1 == p.len() {
                            i += 1;
                            continue;
                        }
                        c_at += 1;
                        n = 2;
                    }
                    if k < s.len() && same(&p[c_at..c_at + 1], &s[k..k + 1], flags) {
                        i += n;
                        k += 1;
                        continue;
                    }
                }
            }
        } else if k == s.len() {
            return true;
        }
        match star {
            Some((si, sk)) if sk < s.len() => {
                let next = sk + char_len(&s[sk..]);
                star = Some((si, next));
                i = si;
                k = next;
            }
            _ => return false,
        }
    }
}

/// The parts of a pattern between slashes; one in a bracket expression is a character like others.
fn parts_of(p: &[u8], flags: i32) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let (mut start, mut i, mut closes) = (0, 0, true);
    while let Some(&c) = p.get(i) {
        match c {
            b'/' => {
                parts.push(&p[start..i]);
                start = i + 1;
            }
            b'\\' if flags & NOESCAPE == 0 => i += 1,
            b'[' if closes => match bracket_end(p, i, flags) {
                Some(end) => i = end,
                // Nor do those behind it.
                None => closes = false,
            },
            _ => {}
        }
        i += 1;
    }
    parts.push(p.get(start..).unwrap_or_default());
    parts
}

/// Where a bracket expression that begins at `from` is closed.
fn bracket_end(p: &[u8], from: usize, flags: i32) -> Option<usize> {
    let mut i = from + 1;
    while let Some(&c) = p.get(i) {
        match c {
            b']' => return Some(i),
            b'\\' if flags & NOESCAPE == 0 => i += 2,
            _ => i += 1,
        }
    }
    None
}

/// `File.fnmatch` without braces.
pub fn fnmatch(p: &[u8], s: &[u8], flags: i32) -> bool {
    if flags & PATHNAME == 0 {
        return component(p, s, flags, false);
    }
    let pats = parts_of(p, flags);
    let parts: Vec<&[u8]> = s.split(|b| *b == b'/').collect();
    path_match(&pats, &parts, flags)
}

fn path_match(p: &[&[u8]], s: &[&[u8]], flags: i32) -> bool {
    match p {
        [] => s.is_empty(),
        [b"**", rest @ ..] if !rest.is_empty() => {
            for skip in 0..=s.len() {
                if path_match(rest, &s[skip..], flags) {
                    return true;
                }
                if s.get(skip).is_some_and(|x| x.first() == Some(&b'.') && flags & DOTMATCH == 0) {
                    return false;
                }
            }
            false
        }
        [first, rest @ ..] => s.first().is_some_and(|x| component(first, x, flags, false)) && path_match(rest, &s[1..], flags),
    }
}

/// `File.fnmatch` with FNM_EXTGLOB.
pub fn fnmatch_braces(p: &[u8], s: &[u8], flags: i32) -> bool {
    if flags & EXTGLOB == 0 {
        return fnmatch(p, s, flags);
    }
    expand_braces(p, flags).iter().any(|p| fnmatch(p, s, flags))
}

/// All patterns that `{a,b}` stands for.
pub fn expand_braces(p: &[u8], flags: i32) -> Vec<Vec<u8>> {
    let mut depth = 0;
    let (mut open, mut close, mut commas) = (None, None, Vec::new());
    let mut i = 0;
    while i < p.len() {
        match p[i] {
            b'\\' if flags & NOESCAPE == 0 => i += 1,
            b'{' => {
                depth += 1;
                if depth == 1 {
                    open = Some(i);
                    commas.clear();
                }
            }
            b',' if depth == 1 => commas.push(i),
            b'}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    close = Some(i);
                    break;
                }
            }
            _ => {}
        }
        i += 1;
    }
    let (Some(o), Some(c)) = (open, close) else { return vec![p.to_vec()] };
    let mut out = Vec::new();
    let mut start = o + 1;
    commas.push(c);
    for end in commas {
        let q = [&p[..o], &p[start..end], &p[c + 1..]].concat();
        // A bound: braces multiply.
        if out.len() < 100_000 {
            out.extend(expand_braces(&q, flags));
        }
        start = end + 1;
    }
    out
}

fn is_magic(p: &[u8], flags: i32) -> bool {
    p.iter().any(|b| matches!(b, b'*' | b'?' | b'[')) || flags & CASEFOLD != 0 && p.iter().any(u8::is_ascii_alphabetic)
}

fn unescape(p: &[u8], flags: i32) -> Vec<u8> {
    if flags & NOESCAPE != 0 {
        return p.to_vec();
    }
    let mut out = Vec::with_capacity(p.len());
    let mut i = 0;
    while i < p.len() {
        if p[i] == b'\\' {
            i += 1;
        }
        out.extend(p.get(i));
        i += 1;
    }
    out
}

/// A directory that can't be read has no names, unless that is for want of descriptors or memory.
fn unreadable(cx: &mut Cx, errno: i32, dir: &[u8]) -> Result<()> {
    match errno {
        libc::EMFILE | libc::ENFILE | libc::ENOMEM => fail_at(cx, errno, "dir_initialize", dir),
        _ => Ok(()),
    }
}

/// One walk of `Dir.glob`.
struct Walk<'a> {
    flags: i32,
    sort: bool,
    base: &'a [u8],
    out: &'a mut Vec<Vec<u8>>,
}

impl Walk<'_> {
    fn full(&self, prefix: &[u8]) -> Vec<u8> {
        if self.base.is_empty() || prefix.first() == Some(&b'/') {
            return if prefix.is_empty() { b".".to_vec() } else { prefix.to_vec() };
        }
        let mut v = self.base.to_vec();
        if !prefix.is_empty() {
            v.push(b'/');
            v.extend_from_slice(prefix);
        }
        v
    }
    fn join(prefix: &[u8], name: &[u8]) -> Vec<u8> {
        if prefix.is_empty() {
            // A trailing slash of nothing stays nothing.
            return name.to_vec();
        }
        let mut v = prefix.to_vec();
        // Behind the root there is one already.
        if v.iter().any(|b| *b != b'/') {
            v.push(b'/');
        }
        v.extend_from_slice(name);
        v
    }
    fn is_dir(&self, cx: &mut Cx, path: &[u8], follow: bool) -> bool {
        let f = self.full(path);
        cwd::stat(cx, &f, follow).is_ok_and(|s| s.st_mode & libc::S_IFMT == libc::S_IFDIR)
    }
    /// Expands `parts` below `prefix`; `at_dot`: the last component was not literal, so "." entries count once only.
    fn step(&mut self, cx: &mut Cx, prefix: &[u8], parts: &[&[u8]]) -> Result<()> {
        cx.check_native_stack()?;
        let [part, rest @ ..] = parts else {
            if cwd::stat(cx, &self.full(prefix), false).is_ok() {
                self.out.push(prefix.to_vec());
            }
            return Ok(());
        };
        if part.is_empty() && rest.is_empty() {
            // Trailing slash: directories only.
            if self.is_dir(cx, prefix, true) {
                let mut v = prefix.to_vec();
                v.push(b'/');
                self.out.push(v);
            }
            return Ok(());
        }
        if part.is_empty() {
            // `a//b` keeps its slashes.
            return self.step(cx, &[prefix, b"/"].concat(), rest);
        }
        if *part == b"**" && !rest.is_empty() {
            let mut rest = rest;
            while let [b"**", more @ ..] = rest
                && !more.is_empty()
            {
                rest = more;
            }
            return self.recursive(cx, prefix, rest, true);
        }
        if !is_magic(part, self.flags) {
            let name = unescape(part, self.flags);
            let next = Self::join(prefix, &name);
            // Whether it is a directory shows when something below it is looked for.
            return self.step(cx, &next, rest);
        }
        let dir = self.full(prefix);
        let mut names = match entries_at(cx, &dir) {
            Ok(names) => names,
            Err(e) => return unreadable(cx, e, &dir),
        };
        if self.sort {
            names.sort();
        }
        for name in names {
            if name == b".." {
                continue;
            }
            if component(part, &name, self.flags, false) {
                let next = Self::join(prefix, &name);
                if rest.is_empty() {
                    self.out.push(next);
                } else if self.is_dir(cx, &next, true) {
                    self.step(cx, &next, rest)?;
                }
            }
        }
        Ok(())
    }
    /// `**/rest`: here and in every directory below, symbolic links not followed. One sorted sweep per directory: each entry stands
    /// before what lies below it.
    fn recursive(&mut self, cx: &mut Cx, prefix: &[u8], rest: &[&[u8]], top: bool) -> Result<()> {
        cx.safepoint()?;
        cx.check_native_stack()?;
        let dir = self.full(prefix);
        let mut names = match kinds_at(cx, &dir) {
            Ok(names) => names,
            Err(e) => return unreadable(cx, e, &dir),
        };
        if self.sort {
            names.sort();
        }
        let [first, more @ ..] = rest else { return Ok(()) };
        if first.is_empty() && more.is_empty() && (!prefix.is_empty() || !self.base.is_empty()) && top {
            self.out.push(if prefix.is_empty() { b"/".to_vec() } else { Self::join(prefix, b"") });
        }
        for (name, kind) in names {
            if name == b".." || name == b"." && !(top && self.flags & DOTMATCH != 0 && more.is_empty()) {
                continue;
            }
            let dot = name == b".";
            let next = Self::join(prefix, &name);
            let is_dir = !dot && kind.unwrap_or_else(|| self.is_dir(cx, &next, false));
            if first.is_empty() {
                if is_dir && (name[0] != b'.' || self.flags & DOTMATCH != 0) {
                    self.out.push(Self::join(&next, b""));
                }
            } else if component(first, &name, self.flags, false) {
                if more.is_empty() {
                    self.out.push(next.clone());
                } else if self.is_dir(cx, &next, true) {
                    self.step(cx, &next, more)?;
                }
            }
            if is_dir && (name[0] != b'.' || self.flags & DOTMATCH != 0) {
                self.recursive(cx, &next, rest, false)?;
            }
        }
        Ok(())
    }
}

/// `Dir.glob` of one pattern.
pub fn glob(cx: &mut Cx, pattern: &[u8], flags: i32, base: &[u8], sort: bool, out: &mut Vec<Vec<u8>>) -> Result<()> {
    for p in expand_braces(pattern, flags) {
        if p.is_empty() {
            continue;
        }
        let (prefix, rest): (&[u8], &[u8]) = if p[0] == b'/' { (b"/", &p[1..]) } else { (b"", &p) };
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in parts_of(rest, flags) {
            // Of many slashes behind `**` one counts.
            if parts.last().is_some_and(|p| p.is_empty()) && parts.len() > 1 && parts[parts.len() - 2] == b"**" {
                parts.pop();
            }
            parts.push(part);
        }
        // The root alone.
        if parts.iter().all(|p| p.is_empty()) {
            parts.pop();
        }
        let mut w = Walk { flags, sort, base, out };
        w.step(cx, prefix, &parts)?;
    }
    Ok(())
}
