//! Special global variables that belong to no other part of the core library.

use super::load;
use zakuro_vm::globals::GlobalRow;
use zakuro_vm::*;

pub static GLOBALS: &[GlobalRow] = &[
    GlobalRow { name: "$0", get: program_name, set: Some(set_program_name) },
    GlobalRow { name: "$LOAD_PATH", get: load_path, set: None },
    GlobalRow { name: "$LOADED_FEATURES", get: loaded_features, set: None },
    GlobalRow { name: "$!", get: errinfo, set: None },
    GlobalRow { name: "$@", get: errat, set: Some(set_errat) },
    GlobalRow { name: "$$", get: pid, set: None },
    GlobalRow { name: "$VERBOSE", get: verbose, set: Some(set_verbose) },
    GlobalRow { name: "$-W", get: warning_level, set: None },
    GlobalRow { name: "$DEBUG", get: debug, set: Some(set_plain) },
    GlobalRow { name: "$;", get: nil, set: Some(set_field_separator) },
    GlobalRow { name: "$=", get: ignored, set: Some(set_ignored) },
    GlobalRow { name: "$_", get: lastline, set: Some(set_lastline) },
    GlobalRow { name: "$-a", get: |cx, _| Ok(Value::bool(cx.options.split)), set: None },
    GlobalRow { name: "$-i", get: in_place, set: Some(set_plain) },
    GlobalRow { name: "$-l", get: |cx, _| Ok(Value::bool(cx.options.chomp)), set: None },
    GlobalRow { name: "$-p", get: |cx, _| Ok(Value::bool(cx.options.print)), set: None },
];

pub fn setup(cx: &mut Cx) {
    for (new, old) in [
        ("$PROGRAM_NAME", "$0"),
        ("$:", "$LOAD_PATH"),
        ("$-I", "$LOAD_PATH"),
        ("$\"", "$LOADED_FEATURES"),
        ("$-v", "$VERBOSE"),
        ("$-w", "$VERBOSE"),
        ("$-d", "$DEBUG"),
        ("$-F", "$;"),
    ] {
        cx.global_alias(Sym::intern(new), Sym::intern(old));
    }
}

fn nil(_: &mut Cx, _: Sym) -> Result<Value> {
    Ok(Value::NIL)
}
fn in_place(cx: &mut Cx, _: Sym) -> Result<Value> {
    match cx.options.in_place.clone() {
        Some(suffix) => Ok(cx.str(&suffix)),
        None => Ok(Value::NIL),
    }
}
fn program_name(cx: &mut Cx, name: Sym) -> Result<Value> {
    let script = cx.script.clone();
    let v = cx.str(&script);
    cx.global_put(name, v);
    Ok(v)
}
fn set_program_name(cx: &mut Cx, name: Sym, v: Value) -> Result<()> {
    let s = cx.to_str(v)?;
    let title = s.to_vec();
    if title.contains(&0) {
        return cx.arg_error("string contains null byte");
    }
    zakuro_core_system::process::title::set(cx, &title);
    let copy = cx.str_bytes(&title, s.encoding());
    copy.set_flags(flags::FROZEN);
    cx.global_put(name, copy);
    Ok(())
}
fn load_path(cx: &mut Cx, _: Sym) -> Result<Value> {
    Ok(load::load_path(cx).as_value())
}
fn loaded_features(cx: &mut Cx, _: Sym) -> Result<Value> {
    Ok(load::loaded_features(cx).as_value())
}
fn errinfo(cx: &mut Cx, _: Sym) -> Result<Value> {
    Ok(cx.errinfo)
}
fn errat(cx: &mut Cx, _: Sym) -> Result<Value> {
    let e = cx.errinfo;
    if e.is_nil() { Ok(Value::NIL) } else { zakuro_core_base::exception::location::told(cx, e) }
}
fn set_errat(cx: &mut Cx, _: Sym, v: Value) -> Result<()> {
    let e = cx.errinfo;
    if e.is_nil() {
        return cx.arg_error("$! not set");
    }
    cx.call(e, sym::set_backtrace, &[v])?;
    Ok(())
}
fn pid(cx: &mut Cx, _: Sym) -> Result<Value> {
    Ok(Value::fixnum(zakuro_core_system::process::info::own_pid(cx)))
}
fn verbose(cx: &mut Cx, _: Sym) -> Result<Value> {
    Ok(match cx.options.verbose {
        None => Value::NIL,
        Some(b) => Value::bool(b),
    })
}
fn set_verbose(cx: &mut Cx, name: Sym, v: Value) -> Result<()> {
    let v = if v.is_nil() { v } else { Value::bool(v.truthy()) };
    cx.global_put(name, v);
    Ok(())
}
fn warning_level(cx: &mut Cx, _: Sym) -> Result<Value> {
    let v = cx.global_get(sym::verbose)?;
    Ok(Value::fixnum(match v {
        Value::NIL => 0,
        Value::FALSE => 1,
        _ => 2,
    }))
}
fn debug(cx: &mut Cx, _: Sym) -> Result<Value> {
    Ok(Value::bool(cx.options.debug))
}
fn set_plain(cx: &mut Cx, name: Sym, v: Value) -> Result<()> {
    cx.global_put(name, v);
    Ok(())
}
fn set_field_separator(cx: &mut Cx, name: Sym, v: Value) -> Result<()> {
    if !v.is_nil() && !v.is_kind(Kind::String) && !cx.is_a(v, ids::REGEXP) {
        let name = cx.name_set(name);
        return cx.type_error(format!("value of {} must be String or Regexp", name.name()));
    }
    if !v.is_nil() {
        cx.warn_category(&format!("non-nil '{}' is deprecated", cx.name_set(name).name()), "deprecated")?;
    }
    cx.global_put(name, v);
    Ok(())
}
fn ignored(cx: &mut Cx, name: Sym) -> Result<Value> {
    cx.warn_here(&format!("variable {} is no longer effective", name.name()))?;
    Ok(Value::FALSE)
}
fn set_ignored(cx: &mut Cx, name: Sym, _: Value) -> Result<()> {
    cx.warn_here(&format!("variable {} is no longer effective; ignored", name.name()))
}
fn lastline(cx: &mut Cx, _: Sym) -> Result<Value> {
    Ok(cx.lastline())
}
fn set_lastline(cx: &mut Cx, _: Sym, v: Value) -> Result<()> {
    cx.set_lastline(v);
    Ok(())
}
