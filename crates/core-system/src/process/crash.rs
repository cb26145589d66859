//! What a program that sends itself a signal for faults (`Process.kill(:SEGV, $$)`) ends with: a report, and abort(3).
//!
//! Written from Ruby code's own thread while the VM is well, so it may allocate. `RUBY_CRASH_REPORT` names another place than standard error: a file, or
//! behind `|` a command that reads it. In both `%e` and `%E` are the executable's name and path, `%f` and `%F` the program's, `%p` is the process, `%t` the time.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use zakuro_vm::*;

/// Ends the process.
pub fn end(cx: &mut Cx, signal: i32) -> ! {
    let text = report(cx, signal);
    let place = crate::env::get(cx, b"RUBY_CRASH_REPORT").filter(|p| !p.is_empty());
    let written = match &place {
        Some(place) => {
            let program = cx.global_get(Sym::intern("$0")).ok().and_then(Ref::<StringCell>::from_value).map_or_else(Vec::new, |s| s.to_vec());
            deliver(place, &program, text.as_bytes())
        }
        None => false,
    };
    if !written {
        // Nothing is left to tell a failure to.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
    std::process::abort()
}

fn report(cx: &mut Cx, signal: i32) -> String {
    // SAFETY: asks for a number only.
    let user = unsafe { libc::getuid() };
    let fault = if signal == libc::SIGBUS { "Bus Error" } else { "Segmentation fault" };
    let place = cx.here().map_or(String::new(), |(file, line)| format!("{file}:{line}: "));
    let description = cx.const_entry(ids::OBJECT, Sym::intern("RUBY_DESCRIPTION")).map_or(Value::NIL, |e| cx.instantiate(e.value));
    let description = Ref::<StringCell>::from_value(description).map_or_else(String::new, |s| s.to_text());
    let locations = cx.locations(0);
    let mut out = format!("{place}[BUG] {fault} at 0x{:016x}\n{description}\n\n", u64::from(user) << 32 | u64::from(std::process::id()));
    out.push_str("-- Control frame information -----------------------------------------------\n");
    for (i, l) in locations.iter().enumerate() {
        out.push_str(&format!("c:{:04} {}:{} [{}]\n", locations.len() - i, l.file, l.line, l.label));
    }
    out.push_str("\n-- Ruby level backtrace information ----------------------------------------\n");
    for l in locations.iter().rev() {
        let block = if l.label.to_string().starts_with("block ") { "block in " } else { "" };
        out.push_str(&format!("{}:{}:in '{block}{}'\n", l.file, l.line, l.label.base()));
    }
    out.push_str("\n-- Other runtime information -----------------------------------------------\n\n* Loaded features:\n\n");
    let features = cx.global_get(Sym::intern("$\"")).ok().and_then(Ref::<ArrayCell>::from_value);
    let mut at = 0;
    while let Some(v) = features.and_then(|f| f.get(at)) {
        at += 1;
        if let Some(name) = Ref::<StringCell>::from_value(v) {
            out.push_str(&format!(" {at:4} {}\n", name.to_text()));
        }
    }
    out.push('\n');
    out
}

/// Writes the report where it is wanted; false when that failed.
fn deliver(place: &[u8], program: &[u8], text: &[u8]) -> bool {
    let os = |b: Vec<u8>| std::ffi::OsStr::from_bytes(&b).to_os_string();
    if let Some(command) = place.strip_prefix(b"|") {
        let mut words = command.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).map(|w| os(expanded(w, program)));
        let Some(name) = words.next() else { return false };
        let child = std::process::Command::new(name).args(words).stdin(std::process::Stdio::piped()).spawn();
        let Ok(mut child) = child else { return false };
        // A command that reads nothing was asked all the same.
        let _ = child.stdin.take().map(|mut input| input.write_all(text));
        let _ = child.wait();
        return true;
    }
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(os(expanded(place, program)));
    file.is_ok_and(|mut f| f.write_all(text).is_ok())
}

/// A template with its signs replaced.
fn expanded(template: &[u8], program: &[u8]) -> Vec<u8> {
    let executable = std::env::current_exe().map(|p| p.as_os_str().as_bytes().to_vec()).unwrap_or_default();
    let name = |path: &[u8]| path.rsplit(|b| *b == b'/').next().unwrap_or_default().to_vec();
    let flat = |path: &[u8]| path.iter().map(|b| if *b == b'/' { b'!' } else { *b }).collect::<Vec<u8>>();
    let mut out = Vec::new();
    let mut rest = template.iter();
    while let Some(&b) = rest.next() {
        if b != b'%' {
            out.push(b);
            continue;
        }
        match rest.next() {
            Some(b'e') => out.extend(name(&executable)),
            Some(b'E') => out.extend(flat(&executable)),
            Some(b'f') => out.extend(name(program)),
            Some(b'F') => out.extend(flat(program)),
            Some(b'p') => out.extend(std::process::id().to_string().bytes()),
            Some(b't') => {
                let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                out.extend(now.map_or(0, |d| d.as_secs()).to_string().bytes());
            }
            Some(b'%') => out.push(b'%'),
            Some(&other) => out.extend([b'%', other]),
            None => out.push(b'%'),
        }
    }
    out
}
