//! Error reports: what `full_message` gives and the program prints about an uncaught exception.

use super::message_of;
use std::collections::HashSet;
use zakuro_macros::Trace;
use zakuro_vm::raise::hidden;
use zakuro_vm::*;

const BOLD_UNDERLINE: &[u8] = b"\x1b[1;4m";
const BOLD: &[u8] = b"\x1b[1m";
const RESET: &[u8] = b"\x1b[m";

/// The report about an uncaught exception, as it goes to standard error. Never leaves another exception pending unless rendering failed
/// altogether.
pub fn full_message(cx: &mut Cx, exc: Value, highlight: bool) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let chain = causes(cx, exc)?;
    for e in chain.iter().copied() {
        one(cx, e, highlight, false, None, &mut out)?;
    }
    // It is kept as long as somebody has a handle of the VM that ended so.
    out.shrink_to_fit();
    Ok(out)
}

/// Exceptions that were looked at or told, each once.
pub struct Exceptions {
    list: RootedVec,
    /// Addresses of those in the list, which keeps them where they are.
    known: HashSet<u64>,
}
impl Exceptions {
    pub fn new(cx: &mut Cx) -> Exceptions {
        Exceptions { list: RootedVec::new(cx), known: HashSet::new() }
    }
    /// False: it was there.
    pub fn add(&mut self, exc: Value) -> bool {
        let is_new = self.known.insert(exc.bits());
        if is_new {
            self.list.push(exc);
        }
        is_new
    }
}

/// The same with those of the causes only that are not in `shown`, which then are.
pub fn full_message_unless_shown(cx: &mut Cx, exc: Value, shown: &mut Exceptions) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let chain = causes(cx, exc)?;
    for (i, e) in chain.iter().copied().enumerate() {
        if i > 0 && !shown.add(e) {
            break;
        }
        one(cx, e, false, false, None, &mut out)?;
    }
    out.shrink_to_fit();
    Ok(out)
}

/// What `$DEBUG` tells where an exception is raised.
pub fn raised(cx: &mut Cx, exc: Value) -> Result<Vec<u8>> {
    let errinfo = std::mem::replace(&mut cx.errinfo, Value::NIL);
    let text = cx.to_s(exc);
    cx.errinfo = errinfo;
    let text = text?;
    let mut out = format!("Exception '{}'", cx.class_name_of(exc)).into_bytes();
    if let Some((file, line)) = cx.here() {
        out.extend_from_slice(format!(" at {file}:{line}").as_bytes());
    }
    out.extend_from_slice(b" - ");
    out.extend_from_slice(text.content(&cx.heap));
    out.push(b'\n');
    Ok(out)
}

/// An exception and the chain of its causes, each once.
fn causes(cx: &mut Cx, exc: Value) -> Result<RootedVec> {
    let mut chain = Exceptions::new(cx);
    let mut at = exc;
    while at.is_kind(Kind::Exception) && chain.add(at) {
        at = cx.ivar_get(at, hidden::cause());
        if chain.list.len().is_multiple_of(4096) {
            cx.safepoint()?;
        }
    }
    Ok(chain.list)
}

/// Whether `$stderr` is a terminal.
pub(super) fn is_tty(cx: &mut Cx) -> Result<bool> {
    let err = cx.global_get(sym::stderr)?;
    let name = Sym::intern("tty?");
    if err.is_nil() || !cx.responds(err, name, false)? {
        return Ok(false);
    }
    Ok(cx.call(err, name, &[])?.truthy())
}

/// The `highlight:` option.
pub(super) fn highlight_option(cx: &mut Cx, v: Value) -> Result<bool> {
    match v {
        Value::TRUE => Ok(true),
        Value::FALSE | Value::NIL => Ok(false),
        _ => {
            let s = cx.inspect_text(v)?;
            cx.arg_error(format!("expected true or false as highlight: {s}"))
        }
    }
}

/// `Exception#full_message` with its keywords.
pub(super) fn full_message_option(cx: &mut Cx, exc: Value, kw: Kwargs) -> Result<Value> {
    let highlight = match kw.get(sym::highlight) {
        None | Some(Value::NIL) => is_tty(cx)?,
        Some(v) => highlight_option(cx, v)?,
    };
    let reverse = match kw.get(sym::order) {
        None | Some(Value::NIL) => false,
        Some(v) => {
            let name = cx.to_sym(v)?;
            match name.name().as_ref() {
                "top" => false,
                "bottom" => true,
                _ => {
                    let s = cx.inspect_text(v)?;
                    return cx.arg_error(format!("expected :top or :bottom as order: {s}"));
                }
            }
        }
    };
    // Only who asks for the text is told that the program's own backtrace is none.
    super::location::told(cx, exc)?;
    let mut out = Vec::new();
    let options = kw.hash(cx);
    render(cx, exc, highlight, reverse, options, &mut out)?;
    Ok(cx.str_auto(&out))
}

/// Whether syntax_suggest was looked for.
#[derive(Trace, Default)]
struct SyntaxSuggest {
    asked: bool,
}
impl VmState for SyntaxSuggest {}

/// Loads the library that shows where an `end` is missing, when the first SyntaxError is shown; false when it was asked for before, may not be, or is
/// not there.
pub(super) fn load_syntax_suggest(cx: &mut Cx) -> Result<bool> {
    if std::mem::replace(&mut cx.state::<SyntaxSuggest>().asked, true) || cx.options.no_gems || cx.options.no_syntax_suggest {
        return Ok(false);
    }
    const FEATURE: &str = "syntax_suggest/core_ext";
    let Some(library) = cx.options.library.clone() else { return Ok(false) };
    if !std::path::Path::new(&format!("{library}/{FEATURE}.rb")).is_file() {
        return Ok(false);
    }
    // Showing an error leaves `$!` as it is, whatever comes of this.
    let shown = cx.errinfo;
    let loaded = cx.rescue(&[ids::STANDARD_ERROR, ids::SCRIPT_ERROR], |cx| {
        let (main, name) = (cx.main, cx.str(FEATURE));
        cx.call_private(main, sym::require, &[name])
    });
    cx.errinfo = shown;
    Ok(loaded?.is_ok())
}

/// `detailed_message` as Exception has it.
pub(super) fn detailed(cx: &mut Cx, exc: Value, highlight: bool) -> Result<Value> {
    let message = message_of(cx, exc)?;
    let class = cx.class_of(exc);
    let name = cx.class_name(class);
    let out = decorate(&name, class == ids::RUNTIME_ERROR, message.content(&cx.heap), highlight);
    Ok(cx.str_bytes(&out, message.encoding()))
}

fn decorate(class: &str, runtime_error: bool, message: &[u8], highlight: bool) -> Vec<u8> {
    let mut out = Vec::new();
    if message.is_empty() {
        let text = if runtime_error { "unhandled exception" } else { class };
        if highlight {
            out.extend_from_slice(BOLD_UNDERLINE);
            out.extend_from_slice(text.as_bytes());
            out.extend_from_slice(RESET);
        } else {
            out.extend_from_slice(text.as_bytes());
        }
        return out;
    }
    let (head, tail) = match message.iter().position(|b| *b == b'\n') {
        Some(i) => (&message[..i], Some(&message[i + 1..])),
        None => (message, None),
    };
    if highlight {
        out.extend_from_slice(BOLD);
    }
    out.extend_from_slice(head);
    // Anonymous classes have nothing to say.
    if !class.starts_with('#') {
        out.extend_from_slice(b" (");
        if highlight {
            out.extend_from_slice(BOLD_UNDERLINE);
        }
        out.extend_from_slice(class.as_bytes());
        if highlight {
            out.extend_from_slice(RESET);
            out.extend_from_slice(BOLD);
        }
        out.push(b')');
    }
    if highlight {
        out.extend_from_slice(RESET);
    }
    let Some(tail) = tail.filter(|t| !t.is_empty()) else { return out };
    out.push(b'\n');
    if !highlight {
        out.extend_from_slice(tail);
        return out;
    }
    for line in tail.split_inclusive(|b| *b == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if !text.is_empty() {
            out.extend_from_slice(BOLD);
            out.extend_from_slice(text);
            out.extend_from_slice(RESET);
        }
        if line.len() > text.len() {
            out.push(b'\n');
        }
    }

    out
}

/// The backtrace as lines; None when there is none.
fn backtrace_lines(cx: &mut Cx, exc: Value) -> Result<Option<Vec<Vec<u8>>>> {
    let bt = cx.call(exc, sym::backtrace, &[])?;
    if let Some(s) = Ref::<StringCell>::from_value(bt) {
        return Ok(Some(vec![s.to_vec()]));
    }
    let Some(a) = Ref::<ArrayCell>::from_value(bt) else { return Ok(None) };
    Ok(Some(a.elements(&cx.heap).iter().filter_map(|v| Ref::<StringCell>::from_value(*v)).map(|s| s.to_vec()).collect()))
}

/// The detailed message by the exception's own method; a plain one when that fails.
fn detailed_of(cx: &mut Cx, exc: Value, highlight: bool, options: Option<Ref<HashCell>>) -> Result<Vec<u8>> {
    let kw = cx.new_hash();
    if let Some(o) = options {
        for (k, v) in cx.hash_pairs(o) {
            if k != Value::sym(sym::order) {
                cx.hash_set(kw, k, v)?;
            }
        }
    }
    cx.hash_set(kw, Value::sym(sym::highlight), Value::bool(highlight))?;
    let r = cx.rescue(&[ids::STANDARD_ERROR, ids::SYSTEM_STACK_ERROR], |cx| {
        let v = cx.call_full(exc, sym::detailed_message, &[kw.as_value()], true, Block::NONE)?;
        if v.is_nil() { Ok(None) } else { cx.try_str(v) }
    })?;
    match r.ok().flatten() {
        Some(s) => Ok(s.to_vec()),
        None => {
            let c = cx.class_name_of(exc);
            Ok(decorate(&c, false, b"", highlight))
        }
    }
}

fn message_line(cx: &mut Cx, bt: &Option<Vec<Vec<u8>>>, message: &[u8], out: &mut Vec<u8>) {
    match bt.as_ref().and_then(|b| b.first()) {
        Some(first) => {
            out.extend_from_slice(first);
            out.extend_from_slice(b": ");
        }
        None => {
            match cx.locations(0).first() {
                Some(l) => {
                    out.extend_from_slice(format!("{}:{}", l.file, l.line).as_bytes());
                    let method = l.label.base();
                    if !method.starts_with('<') {
                        out.extend_from_slice(format!(":in '{method}'").as_bytes());
                    }
                }
                None => out.extend_from_slice(cx.script.as_bytes()),
            }
            out.extend_from_slice(b": ");
        }
    }
    out.extend_from_slice(message);
    out.push(b'\n');
}

/// Levels of a SystemStackError that are shown at its beginning and its end (besides the first one).
const OVERFLOW_SHOWN: (usize, usize) = (8, 4);

/// A part of a backtrace that is not shown: its first level and how many.
type Hidden = Option<(usize, usize)>;

/// What is left out of a report: the middle of an overflow's levels, or what `--backtrace-limit` says.
fn hidden_levels(cx: &mut Cx, exc: Value, levels: usize) -> Hidden {
    if let Some(limit) = cx.options.backtrace_limit {
        return (levels > limit + 2).then(|| (limit + 1, levels - limit - 1));
    }
    let (first, last) = OVERFLOW_SHOWN;
    let overflow = cx.class_of(exc) == ids::SYSTEM_STACK_ERROR && levels > first + last + 6;
    overflow.then(|| (first + 1, levels - first - last - 1))
}

/// `more`: levels in the hidden part that the backtrace itself leaves out.
fn frames(bt: &Option<Vec<Vec<u8>>>, reverse: bool, hidden: Hidden, more: usize, out: &mut Vec<u8>) {
    let Some(bt) = bt else { return };
    let n = bt.len();
    let width = (n + more).to_string().len();
    let mut i = 1;
    while i < n {
        if let Some((start, count)) = hidden
            && i == start
        {
            out.extend_from_slice(format!("\t ... {} levels...\n", count + more).as_bytes());
            i += count;
            continue;
        }
        if reverse {
            let k = n - i;
            // Levels before the part that is left out keep their number.
            let number = if hidden.is_some_and(|(start, _)| i < start) { k + more } else { k };
            out.extend_from_slice(format!("\t{number:width$}: from ").as_bytes());
            out.extend_from_slice(&bt[k]);
        } else {
            out.extend_from_slice(b"\tfrom ");
            out.extend_from_slice(&bt[i]);
        }
        out.push(b'\n');
        i += 1;
    }
}

fn one(cx: &mut Cx, exc: Value, highlight: bool, reverse: bool, options: Option<Ref<HashCell>>, out: &mut Vec<u8>) -> Result<()> {
    cx.safepoint()?;
    let bt = backtrace_lines(cx, exc)?;
    let message = detailed_of(cx, exc, highlight, options)?;
    let left_out = hidden_levels(cx, exc, bt.as_ref().map_or(0, Vec::len));
    // Only the backtrace as captured leaves levels out.
    let captured = left_out.is_some() && !cx.ivar_get(exc, hidden::raw()).is_nil();
    let more = if captured { cx.ivar_get(exc, hidden::skipped()).as_fixnum().unwrap_or(0) as usize } else { 0 };
    if reverse {
        frames(&bt, true, left_out, more, out);
        message_line(cx, &bt, &message, out);
    } else {
        message_line(cx, &bt, &message, out);
        frames(&bt, false, left_out, more, out);
    }
    Ok(())
}

fn render(cx: &mut Cx, exc: Value, highlight: bool, reverse: bool, options: Option<Ref<HashCell>>, out: &mut Vec<u8>) -> Result<()> {
    let mut chain = causes(cx, exc)?;
    if reverse {
        let head: &[u8] =
            if highlight { b"\x1b[1mTraceback\x1b[m (most recent call last):\n" } else { b"Traceback (most recent call last):\n" };
        out.extend_from_slice(head);
        chain.reverse();
    }
    for e in chain.iter().copied() {
        one(cx, e, highlight, reverse, options, out)?;
    }
    Ok(())
}
