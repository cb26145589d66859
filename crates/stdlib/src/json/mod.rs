//! json: [`parse`], [`generate`], and the methods that lead to them. The rest of the library's interface is Ruby (`ruby/json.rb`).

mod generate;
mod parse;

use zakuro_macros::ruby_class;
use zakuro_text::encoding::transcode::{Policy, transcode};
use zakuro_vm::*;

/// The source as UTF-8.
fn source(cx: &mut Cx, v: Value) -> Result<Ref<StringCell>> {
    let s = cx.to_str(v)?;
    match s.encoding() {
        string::UTF8 | string::BINARY => Ok(s),
        string::US_ASCII if s.is_ascii() => Ok(s),
        e => {
            match transcode(crate::args::encoding_of(e), crate::args::encoding_of(string::UTF8), s.content(&cx.heap), &Policy::default()) {
                Ok(b) => {
                    let v = cx.str_bytes(&b, string::UTF8);
                    Ok(Ref::of(v))
                }
                Err(_) => {
                    let utf8 = cx.str("UTF-8");
                    let v = cx.call(s.as_value(), Sym::intern("encode"), &[utf8])?;
                    cx.to_str(v)
                }
            }
        }
    }
}

/// Methods of `JSON`: private natives.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    /// Parses a document with a Hash of options, or nil.
    #[method("__parse", singleton)]
    fn parse(cx: &mut Cx, _this: Value, text: Value, options: Value) -> Result<Value> {
        let opts = parse::Options::read(cx, options)?;
        let s = source(cx, text)?;
        parse::parse(cx, s, &opts)
    }
    /// The text of an object, with a State, a Hash of options, or nil.
    #[method("__generate", singleton)]
    fn generate(cx: &mut Cx, _this: Value, object: Value, options: Value) -> Result<Value> {
        let mut config = generate::Config::read(cx, options)?;
        generate::generate(cx, object, &mut config, false)
    }
}

/// Methods of `JSON`: `parse` and `generate` themselves, no Ruby method between.
#[ruby_class(ids::OBJECT)]
mod json {
    use super::*;

    /// The object that a JSON document stands for. Options: `symbolize_names`, `max_nesting`, `allow_nan`, `allow_trailing_comma`, `freeze`,
    /// `object_class`, `array_class`, `decimal_class`, `create_additions`, `allow_duplicate_key`.
    ///
    ///     JSON.parse('{"a": [1, 2.5, null]}')   #=> {"a" => [1, 2.5, nil]}
    ///     JSON.parse('{"a": 1}', symbolize_names: true)   #=> {a: 1}
    #[method("parse", singleton, min = 1, max = -1)]
    fn parse(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        builtin::check_arity(cx, args.len(), 1, 2)?;
        let opts = parse::Options::read(cx, args.get(1).unwrap_or(Value::NIL))?;
        let s = source(cx, args.get(0).unwrap_or(Value::NIL))?;
        parse::parse(cx, s, &opts)
    }
    /// The JSON document of an object, on one line unless options (or a `JSON::State`) say otherwise.
    ///
    ///     JSON.generate({"a" => [1, nil]})   #=> "{\"a\":[1,null]}"
    #[method("generate", singleton, min = 1, max = -1)]
    fn generate(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        builtin::check_arity(cx, args.len(), 1, 2)?;
        let mut config = generate::Config::read(cx, args.get(1).unwrap_or(Value::NIL))?;
        generate::generate(cx, args.get(0).unwrap_or(Value::NIL), &mut config, false)
    }
}

/// Methods of `Object`: `to_json` of the core classes, by their kind.
#[ruby_class(ids::OBJECT)]
mod to_json {
    use super::*;

    /// The JSON text of the object.
    ///
    ///     [1, "a", nil].to_json   #=> "[1,\"a\",null]"
    ///     :sym.to_json   #=> "\"sym\""
    #[method("to_json", min = 0, max = -1)]
    fn to_json(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let given = args.get(0).unwrap_or(Value::NIL);
        let mut config = generate::config_of(cx, given)?;
        generate::generate(cx, this, &mut config, true)
    }
}

pub static DOCUMENTED: &[(&str, &str, &[MethodRow])] = &[("json", "JSON", json::METHODS), ("json", "Object", to_json::METHODS)];

/// `require "json"`
pub fn load(cx: &mut Cx) -> Result<()> {
    if cx.const_by_path("JSON::Coder").is_some() {
        return Ok(());
    }
    let json = cx.define_module(ids::OBJECT, "JSON");
    cx.define_natives(json, &[natives::METHODS, json::METHODS]);
    let ext = cx.define_module(json, "Ext");
    let generator = cx.define_module(ext, "Generator");
    let methods = cx.define_module(generator, "GeneratorMethods");
    let of = [
        ("Object", ids::OBJECT),
        ("Hash", ids::HASH),
        ("Array", ids::ARRAY),
        ("Integer", ids::INTEGER),
        ("Float", ids::FLOAT),
        ("String", ids::STRING),
        ("TrueClass", ids::TRUE_CLASS),
        ("FalseClass", ids::FALSE_CLASS),
        ("NilClass", ids::NIL_CLASS),
    ];
    for (name, class) in of {
        let module = cx.define_module(methods, name);
        cx.define_natives(module, &[to_json::METHODS]);
        cx.include_module(class, module)?;
    }
    cx.run_builtin("json")
}
