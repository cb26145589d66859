//! psych (yaml): what its C extension does, as the feature `psych.so`. The rest, visitors and scalar scanner, is the library's.
//!
//! Parser and emitter are our own, with libyaml's events, marks, messages and layout. Rejected: libyaml-safer (panics on block scalars at the end of a
//! text, counts bytes in marks), saphyr-parser (YAML 1.2, other messages), unsafe-libyaml (translated C, no longer kept).

mod emit;
mod emitter;
mod grammar;
mod input;
mod parser;
#[cfg(test)]
mod psych_tests;
mod scan;

use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Methods of `Psych`.
#[ruby_class(ids::OBJECT)]
mod module {
    use super::*;

    /// The version of libyaml whose behaviour this is.
    ///
    ///     Psych.libyaml_version   #=> [0, 2, 5]
    #[method("libyaml_version", singleton)]
    fn libyaml_version(cx: &Cx, _this: Value) -> Value {
        cx.array(&[0, 2, 5].map(Value::fixnum))
    }
}

pub static DOCUMENTED: &[MethodRow] = module::METHODS;

/// Methods of `Psych::Visitors::ToRuby`.
#[ruby_class(ids::OBJECT)]
mod to_ruby {
    use super::*;

    /// An exception with its message, `initialize` not called.
    #[method("build_exception", private)]
    fn build_exception(cx: &mut Cx, _this: Value, class: Value, message: Value) -> Result<Value> {
        let e = cx.call(class, Sym::intern("allocate"), &[])?;
        if !e.is_kind(Kind::Exception) {
            return cx.type_error("exception class expected");
        }
        cx.ivar_set(e, raise::hidden::message(), message)?;
        Ok(e)
    }
}

/// Methods of `Psych::ClassLoader`.
#[ruby_class(ids::OBJECT)]
mod class_loader {
    use super::*;

    /// The class or module of a name.
    #[method("path2class", private)]
    fn path2class(cx: &mut Cx, _this: Value, path: Ref<StringCell>) -> Result<Value> {
        let path = path.to_text();
        if path.starts_with('#') {
            return cx.arg_error(format!("can't retrieve anonymous class {path}"));
        }
        let mut at = cx.class_value(ids::OBJECT);
        let mut known = String::new();
        for part in path.split("::") {
            if !known.is_empty() {
                known.push_str("::");
            }
            known.push_str(part);
            let constant = Value::sym(Sym::intern(part));
            let is_name = part.starts_with(|c: char| !c.is_ascii() || c.is_ascii_uppercase()) && !part.contains([' ', '(', '.']);
            if !is_name || !cx.call(at, Sym::intern("const_defined?"), &[constant])?.truthy() {
                return cx.arg_error(format!("undefined class/module {known}"));
            }
            at = cx.call(at, Sym::intern("const_get"), &[constant])?;
            if cx.class_id(at).is_none() {
                return cx.type_error(format!("{known} does not refer to class/module"));
            }
        }
        Ok(at)
    }
}

/// Methods of `Psych::Visitors::YAMLTree`.
#[ruby_class(ids::OBJECT)]
mod yaml_tree {
    use super::*;

    /// A variable of the interpreter's own (`mesg` of an exception), or nil.
    #[method("private_iv_get", private)]
    fn private_iv_get(cx: &mut Cx, _this: Value, target: Value, prop: Ref<StringCell>) -> Value {
        let name = if prop.equals(b"mesg") { raise::hidden::message() } else { Sym::intern(&prop.to_text()) };
        cx.ivar_get(target, name)
    }
}

/// `require "psych.so"`, by the library's psych.rb.
pub fn load(cx: &mut Cx) -> Result<()> {
    let psych = cx.define_module(ids::OBJECT, "Psych");
    cx.define_natives(psych, &[module::METHODS]);
    let parser = cx.define_class(psych, "Parser", ids::OBJECT);
    for (i, name) in ["ANY", "UTF8", "UTF16LE", "UTF16BE"].iter().enumerate() {
        cx.const_set(parser, Sym::intern(name), Value::fixnum(i as i64));
    }
    cx.define_natives(parser, &[parser::METHODS]);
    let handler = cx.define_class(psych, "Handler", ids::OBJECT);
    let emitter = cx.define_class(psych, "Emitter", handler);
    cx.class_mut(emitter).alloc = Alloc::Data;
    cx.define_natives(emitter, &[emitter::METHODS]);
    let loader = cx.define_class(psych, "ClassLoader", ids::OBJECT);
    cx.define_natives(loader, &[class_loader::METHODS]);
    let visitors = cx.define_module(psych, "Visitors");
    let visitor = cx.define_class(visitors, "Visitor", ids::OBJECT);
    let to_ruby = cx.define_class(visitors, "ToRuby", visitor);
    cx.define_natives(to_ruby, &[to_ruby::METHODS]);
    let tree = cx.define_class(visitors, "YAMLTree", visitor);
    cx.define_natives(tree, &[yaml_tree::METHODS]);
    let (main, file) = (cx.main, cx.str("psych/syntax_error"));
    cx.call_private(main, sym::require, &[file])?;
    Ok(())
}
