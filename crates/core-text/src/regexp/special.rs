//! What the VM asks for: regexp literals, `$~`, `$1`, `` $` `` and the like, named captures that become local variables.

use super::engine::{self, MatchData, match_of};
use super::make;
use zakuro_vm::globals::GlobalRow;
use zakuro_vm::*;

pub static GLOBALS: &[GlobalRow] = &[
    GlobalRow { name: "$~", get: |cx, _| Ok(cx.backref()), set: Some(set_backref) },
    GlobalRow { name: "$&", get: |cx, _| of_last(cx, -1), set: None },
    GlobalRow { name: "$`", get: |cx, _| of_last(cx, -2), set: None },
    GlobalRow { name: "$'", get: |cx, _| of_last(cx, -3), set: None },
    GlobalRow { name: "$+", get: |cx, _| of_last(cx, -4), set: None },
];

fn set_backref(cx: &mut Cx, _name: Sym, v: Value) -> Result<()> {
    if !v.is_nil() && match_of(&v).is_none() {
        let c = cx.class_name_of(v);
        return cx.type_error(format!("wrong argument type {c} (expected MatchData)"));
    }
    cx.set_backref(v);
    Ok(())
}

fn of_last(cx: &mut Cx, n: i64) -> Result<Value> {
    let m = cx.last_match();
    group(cx, m, n)
}

/// `regexp =~ v` as a MatchData or nil.
pub fn match_(cx: &mut Cx, re: Value, v: Value) -> Result<Value> {
    if v.is_nil() {
        return Ok(Value::NIL);
    }
    let s = make::str_or_sym(cx, v)?;
    Ok(match engine::search(cx, re, s, 0, false)? {
        Some(c) => engine::make_match(cx, re, s, c),
        None => Value::NIL,
    })
}

/// Group `n`, or one of the special parts (see [`zakuro_vm::library::CoreLibrary::match_group`]).
pub fn group(cx: &mut Cx, m: Value, n: i64) -> Result<Value> {
    let Some(d) = match_of(&m) else { return Ok(Value::NIL) };
    let found = match n {
        1.. => engine::group(cx, d, n as usize),
        // The compiler's number for one that is too big.
        0 => None,
        -1 => engine::group(cx, d, 0),
        -2 => part(cx, d, 0, d.start()),
        -3 => part(cx, d, d.end(), usize::MAX),
        _ => match d.captures.iter().rposition(Option::is_some) {
            Some(i) if i > 0 => engine::group(cx, d, i),
            _ => None,
        },
    };
    Ok(found.unwrap_or(Value::NIL))
}

/// Bytes start..end of the searched String.
pub fn part(cx: &mut Cx, d: &MatchData, start: usize, end: usize) -> Option<Value> {
    let s = Ref::<StringCell>::from_value(d.string)?;
    Some(crate::string::util::sub(cx, s, start, end.min(s.len())))
}

/// The group of this name.
pub fn named(cx: &mut Cx, m: Value, name: Sym) -> Result<Value> {
    let Some(d) = match_of(&m) else { return Ok(Value::NIL) };
    match d.group_named(name.bytes()) {
        Some(n) => Ok(engine::group(cx, d, n).unwrap_or(Value::NIL)),
        None => Ok(Value::NIL),
    }
}
