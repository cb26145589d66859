//! Thread::Backtrace::Location, and the backtrace of an exception.

use zakuro_macros::ruby_class;
use zakuro_vm::backtrace::Location;
use zakuro_vm::raise::hidden;
use zakuro_vm::*;

/// A location object.
pub fn make(cx: &mut Cx, l: &Location) -> Value {
    let v = cx.new_object(ids::LOCATION);
    let (file, label, base) = (cx.str(&l.file), cx.str(&l.label), cx.str(&l.base_label));
    cx.ivar_set_raw(v, Sym::intern("__path"), file);
    cx.ivar_set_raw(v, Sym::intern("__lineno"), Value::fixnum(l.line as i64));
    cx.ivar_set_raw(v, Sym::intern("__label"), label);
    cx.ivar_set_raw(v, Sym::intern("__base_label"), base);
    v
}

/// The levels of the running thread as location objects, for `caller_locations`.
pub fn list(cx: &mut Cx, levels: &[Location]) -> Value {
    let out = cx.new_array();
    for l in levels {
        let v = make(cx, l);
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
    Location { file: file.into(), line, label: label.into(), base_label: base.into() }
}

/// `Exception#backtrace_locations`: nil when never raised, or when the backtrace was set to Strings.
pub(super) fn of_exception(cx: &mut Cx, exc: Value) -> Result<Value> {
    if let Some(l) = cx.ivar_lookup(exc, hidden::locations()) {
        return Ok(l);
    }
    let bt = cx.ivar_get(exc, hidden::backtrace());
    let Some(a) = Ref::<ArrayCell>::from_value(bt) else { return Ok(Value::NIL) };
    let levels: Vec<Location> = a.as_slice().iter().filter_map(|v| Ref::<StringCell>::from_value(*v)).map(|s| parse(&s.text())).collect();
    let l = list(cx, &levels);
    cx.ivar_set_raw(exc, hidden::locations(), l);
    Ok(l)
}

/// `Exception#set_backtrace`
pub(super) fn set_backtrace(cx: &mut Cx, exc: Value, bt: Value) -> Result<Value> {
    const WRONG: &str = "backtrace must be an Array of String or an Array of Thread::Backtrace::Location";
    let mut locations = Value::NIL;
    let value = if bt.is_nil() {
        bt
    } else if bt.is_kind(Kind::String) {
        cx.array(&[bt])
    } else if let Some(a) = Ref::<ArrayCell>::from_value(bt) {
        if a.as_slice().iter().all(|v| v.is_kind(Kind::String)) {
            bt
        } else if a.as_slice().iter().all(|v| cx.is_a(*v, ids::LOCATION)) {
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
    cx.ivar_set_raw(exc, hidden::locations(), locations);
    Ok(value)
}

/// The methods.
#[ruby_class(ids::LOCATION)]
#[allow(clippy::module_inception)]
pub(super) mod location {
    use super::*;

    fn get(cx: &mut Cx, this: Value, name: &str) -> Value {
        cx.ivar_get(this, Sym::intern(name))
    }

    /// The file as it was named when loaded.
    ///
    ///     caller_locations(0).first.path.class   #=> String
    #[method("path")]
    fn path(cx: &mut Cx, this: Value) -> Value {
        get(cx, this, "__path")
    }

    /// The file's full path; nil for code that has no file.
    ///
    ///     caller_locations(0).first.respond_to?(:absolute_path)   #=> true
    #[method("absolute_path")]
    fn absolute_path(cx: &mut Cx, this: Value) -> Result<Value> {
        let p = get(cx, this, "__path");
        let text = cx.to_s_text(p)?;
        if text.starts_with('(') || text == "-e" {
            return Ok(Value::NIL);
        }
        let file = cx.class_value(ids::FILE);
        cx.call(file, Sym::intern("expand_path"), &[p])
    }

    /// The line.
    ///
    ///     caller_locations(0).first.lineno.class   #=> Integer
    #[method("lineno")]
    fn lineno(cx: &mut Cx, this: Value) -> Value {
        get(cx, this, "__lineno")
    }

    /// Method with its class, and block.
    ///
    ///     caller_locations(0).first.label.class   #=> String
    #[method("label")]
    fn label(cx: &mut Cx, this: Value) -> Value {
        get(cx, this, "__label")
    }

    /// The method's bare name.
    ///
    ///     caller_locations(0).first.base_label.class   #=> String
    #[method("base_label")]
    fn base_label(cx: &mut Cx, this: Value) -> Value {
        get(cx, this, "__base_label")
    }

    /// As a line of a backtrace.
    ///
    ///     caller_locations(0).first.to_s.include?(":in '")   #=> true
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Value) -> Result<String> {
        let (path, line, label) = (get(cx, this, "__path"), get(cx, this, "__lineno"), get(cx, this, "__label"));
        let (path, line, label) = (cx.to_s_text(path)?, cx.to_s_text(line)?, cx.to_s_text(label)?);
        Ok(if label.is_empty() { format!("{path}:{line}") } else { format!("{path}:{line}:in '{label}'") })
    }

    /// The line of a backtrace, quoted.
    ///
    ///     caller_locations(0).first.inspect.start_with?("\"")   #=> true
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = to_s(cx, this)?;
        let s = cx.str(&s);
        Ok(cx.inspect(s)?.as_value())
    }
}
