//! The backtrace of an exception: setting it, and as Thread::Backtrace::Location objects.

use zakuro_macros::Trace;
use zakuro_vm::backtrace::{Label, Location};
use zakuro_vm::raise::hidden;
use zakuro_vm::*;

/// What malloc takes for a block, beside what was asked for.
const BLOCK: usize = 16;

/// Payload of a Thread::Backtrace::Location.
#[derive(Trace)]
pub struct Loc(#[untraced] pub Location);
impl NativeData for Loc {
    fn refers(&self) -> bool {
        false
    }
    fn weight(&self) -> usize {
        // The file's name is shared by most.
        match &self.0.label {
            Label::Call { .. } => 0,
            Label::Text(t) => size_of_val(&**t) + t.0.capacity() + t.1.capacity() + BLOCK * 3,
        }
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(Loc(self.0.clone())))
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        let Location { file, line, label, text, .. } = &self.0;
        out.blob(file.as_bytes()).number((*line).into()).blob(label.to_string().as_bytes()).blob(label.base().as_bytes()).flag(*text);
        Some("Location")
    }
}
zakuro_vm::saved_loader!("Location", |r| {
    let text = |r: &mut SavedReader| Some(std::str::from_utf8(r.blob()?).ok()?.to_string());
    let location = Location { file: text(r)?.into(), line: r.narrow()?, label: Label::Text(Box::new((text(r)?, text(r)?))), text: r.flag()?, node: None };
    r.ends(0)?;
    Some(rebuild(move |_, _| Some(Box::new(Loc(location.clone())))))
});

/// Array of Location objects.
pub fn locations_value(cx: &mut Cx, list: Vec<Location>) -> Value {
    let out = cx.new_array();
    for l in list {
        let v = cx.data(ids::LOCATION, Loc(l));
        ArrayCell::push(out, &mut cx.heap, v);
    }
    out.as_value()
}

/// Takes "file:line:in 'label'" apart.
fn parse(text: &str) -> Location {
    let (place, label) = match text.find(":in '") {
        Some(i) => (&text[..i], text[i + 5..].trim_end_matches('\'')),
        None => (text, ""),
    };
    let (file, line) = match place.rsplit_once(':') {
        Some((f, l)) => (f, l.parse().unwrap_or(0)),
        None => (place, 0),
    };
    let base = label.rsplit(" in ").next().unwrap_or(label);
    let base = base.rsplit(['#', '.']).next().filter(|b| !b.is_empty()).unwrap_or(base);
    Location { file: file.into(), line, label: Label::Text(Box::new((label.into(), base.into()))), text: false, node: None }
}

/// `Exception#backtrace_locations`: nil when never raised, or when the backtrace was set to Strings.
pub(super) fn of_exception(cx: &mut Cx, exc: Value) -> Result<Value> {
    if let Some(l) = cx.ivar_lookup(exc, hidden::locations()) {
        return Ok(l);
    }
    if let Some(levels) = cx.exception_levels(exc) {
        let l = locations_value(cx, levels);
        cx.ivar_set_raw(exc, hidden::locations(), l);
        return Ok(l);
    }
    let bt = cx.exception_backtrace(exc);
    let Some(a) = Ref::<ArrayCell>::from_value(bt) else { return Ok(Value::NIL) };
    let levels: Vec<Location> = a.elements(&cx.heap).iter().filter_map(|v| Ref::<StringCell>::from_value(*v)).map(|s| parse(&s.to_text())).collect();
    let l = locations_value(cx, levels);
    cx.ivar_set_raw(exc, hidden::locations(), l);
    Ok(l)
}

const WRONG: &str = "backtrace must be an Array of String or an Array of Thread::Backtrace::Location";

/// What the exception's `backtrace` gives, which may be the program's own: nil, a String or an Array of Strings. TypeError otherwise.
pub fn told(cx: &mut Cx, exc: Value) -> Result<Value> {
    let bt = cx.call(exc, sym::backtrace, &[])?;
    let is_list = |cx: &Cx, a: Ref<ArrayCell>| a.elements(&cx.heap).iter().all(|v| v.is_kind(Kind::String));
    if bt.is_nil() || bt.is_kind(Kind::String) || Ref::<ArrayCell>::from_value(bt).is_some_and(|a| is_list(cx, a)) {
        return Ok(bt);
    }
    cx.type_error(WRONG)
}

/// `Exception#set_backtrace`
pub(super) fn set_backtrace(cx: &mut Cx, exc: Value, bt: Value) -> Result<Value> {
    let mut locations = Value::NIL;
    let value = if bt.is_nil() {
        bt
    } else if bt.is_kind(Kind::String) {
        cx.array(&[bt])
    } else if let Some(a) = Ref::<ArrayCell>::from_value(bt) {
        if a.elements(&cx.heap).iter().all(|v| v.is_kind(Kind::String)) {
            bt
        } else if a.elements(&cx.heap).iter().all(|v| cx.is_a(*v, ids::LOCATION)) {
            locations = bt;
            let out = cx.new_array();
            let mut i = 0;
            while let Some(l) = a.get(i) {
                i += 1;
                let s = cx.to_s(l)?;
                ArrayCell::push(out, &mut cx.heap, s.as_value());
            }
            out.as_value()
        } else {
            return cx.type_error(WRONG);
        }
    } else {
        return cx.type_error(WRONG);
    };
    cx.ivar_set_raw(exc, hidden::backtrace(), value);
    cx.ivar_set_raw(exc, hidden::raw(), Value::NIL);
    cx.ivar_set_raw(exc, hidden::locations(), locations);
    Ok(value)
}
