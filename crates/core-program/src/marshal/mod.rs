//! Marshal: objects as bytes, format 4.8. [`dump`] writes, [`load`] reads.

mod dump;
mod floats;
mod load;
mod time;

use zakuro_macros::ruby_class;
use zakuro_object::string::BINARY;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[marshal::METHODS, time::times::METHODS];

pub(crate) const MAJOR: u8 = 4;
pub(crate) const MINOR: u8 = 8;

pub fn setup(cx: &mut Cx) {
    cx.const_set(ids::MARSHAL, Sym::intern("MAJOR_VERSION"), Value::fixnum(i64::from(MAJOR)));
    cx.const_set(ids::MARSHAL, Sym::intern("MINOR_VERSION"), Value::fixnum(i64::from(MINOR)));
}

/// Hidden variables of an exception and the names that they have in the format.
pub(crate) const EXCEPTION_NAMES: &[(&str, &str)] = &[
    ("__message", "mesg"),
    ("__backtrace", "bt"),
    ("__cause", "cause"),
    ("__name", "name"),
    ("__key", "key"),
    ("__receiver", "receiver"),
    ("__tag", "tag"),
    ("__value", "value"),
    ("__status", "status"),
    ("__signo", "signo"),
    ("__errno", "errno"),
    ("__result", "result"),
];

/// What a Process::Status consists of, in the format and here.
pub(crate) const STATUS_NAMES: [(&str, &str); 2] = [("status", "__status"), ("pid", "__pid")];

/// Member names of a Struct or Data class.
pub(crate) fn members(cx: &mut Cx, class: ClassId) -> Option<Vec<Sym>> {
    let extra = Ref::<ArrayCell>::from_value(cx.class_extra(class))?;
    let list = Ref::<ArrayCell>::from_value(extra.get(0)?)?;
    Some(list.elements(&cx.heap).iter().filter_map(|m| m.as_sym()).collect())
}

/// Is the class a Struct or Data class?
pub(crate) fn is_record(cx: &Cx, class: ClassId) -> bool {
    cx.inherits(class, ids::STRUCT) || cx.inherits(class, ids::DATA)
}

fn needs_io<T>(cx: &mut Cx) -> Result<T> {
    cx.type_error("instance of IO needed")
}

#[ruby_class(ids::MARSHAL)]
mod marshal {
    use super::*;

    /// The object as a binary String, or written to `io`. `limit`: depth at which ArgumentError is raised.
    ///
    ///     Marshal.dump([1, nil])   #=> "\x04\b[\ai\x060"
    #[method("dump", module_function)]
    fn dump(cx: &mut Cx, _this: Value, obj: Value, io: Option<Value>, limit: Option<Value>) -> Result<Value> {
        let mut limit = limit;
        let mut target = None;
        match io {
            None => {}
            Some(v) if limit.is_none() && cx.is_integer(v) => limit = Some(v),
            Some(v) => {
                if v.is_nil() || !cx.responds(v, sym::write, false)? {
                    return needs_io(cx);
                }
                target = Some(v);
            }
        }
        let limit = match limit {
            Some(l) if !l.is_nil() => cx.to_i64(l)?,
            _ => -1,
        };
        let bytes = dump::dump(cx, obj, limit)?;
        let s = cx.str_bytes(&bytes, BINARY);
        match target {
            None => Ok(s),
            Some(io) => {
                cx.call_if_responds(io, sym::binmode, &[])?;
                cx.call(io, sym::write, &[s])?;
                Ok(io)
            }
        }
    }

    /// The object that a String, or what can be read from an IO, stands for. Each part is replaced by what `proc` makes of it.
    ///
    ///     Marshal.load(Marshal.dump({a: [1.5, "x"]}))   #=> {a: [1.5, "x"]}
    ///     Marshal.load(Marshal.dump("x"), freeze: true).frozen?   #=> true
    #[method("load", "restore", module_function)]
    fn load(cx: &mut Cx, _this: Value, source: Value, filter: Option<Value>, kw: Kwargs) -> Result<Value> {
        kw.only(cx, &[sym::freeze])?;
        let freeze = kw.get(sym::freeze).is_some_and(Value::truthy);
        let filter = filter.unwrap_or(Value::NIL);
        if let Some(s) = cx.try_str(source)? {
            let source = load::Source::of_str(cx, s);
            return load::load(cx, source, filter, freeze);
        }
        if !cx.responds(source, Sym::intern("getbyte"), false)? || !cx.responds(source, sym::read, false)? {
            return needs_io(cx);
        }
        cx.call_if_responds(source, sym::binmode, &[])?;
        load::load(cx, load::Source::Io(source), filter, freeze)
    }
}
