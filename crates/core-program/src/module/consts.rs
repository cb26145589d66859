//! Constants and class variables by name, autoload.

use crate::kernel::autoload;
use crate::object::copy::check_not_frozen;
use std::collections::HashSet;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::{Encoding, transcode};
use zakuro_vm::*;

fn is_const_name(name: Sym) -> bool {
    let b = name.bytes();
    if b.first().is_some_and(u8::is_ascii_uppercase) && b.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_') {
        return Encoding::from_id(name.encoding()).is_some_and(Encoding::is_ascii_compatible);
    }
    let word = |c: &[u8]| c.len() > 1 || c.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80);
    let encoding = Encoding::from_id(name.encoding()).unwrap_or(Encoding::BINARY);
    let first = match b.first() {
        Some(c) if c.is_ascii() => c.is_ascii_uppercase(),
        Some(_) => begins_a_constant(b, encoding),
        None => false,
    };
    first && encoding.is_ascii_compatible() && encoding.chars(b).all(word)
}

/// Whether the first character is a capital or title letter: what it is in Unicode tells.
fn begins_a_constant(name: &[u8], encoding: Encoding) -> bool {
    let Some(first) = encoding.char_len(name).ok().and_then(|n| name.get(..n)) else { return false };
    let text = transcode::transcode(encoding, Encoding::UTF_8, first, &transcode::Policy::default());
    let letter = text.ok().and_then(|t| std::str::from_utf8(&t).ok()?.chars().next());
    encoding.is_valid(name) && letter.is_some_and(|c| c.is_uppercase() || !c.is_lowercase() && !c.to_lowercase().eq([c]))
}

/// The Symbol of a name; EncodingError if its characters are broken.
fn valid_sym(cx: &mut Cx, name: Value) -> Result<Sym> {
    if name.is_sym() {
        return cx.to_sym(name);
    }
    // Asked once.
    let Some(text) = cx.try_str(name)? else { return cx.to_sym(name) };
    let s = cx.to_sym(text.as_value())?;
    let enc = Encoding::from_id(text.encoding()).unwrap_or(Encoding::BINARY);
    if enc != Encoding::US_ASCII && !enc.is_valid(s.bytes()) {
        let shown = cx.inspect_for_error(text.as_value());
        return cx.raise(ids::ENCODING_ERROR, format!("invalid symbol in encoding {} :{shown}", enc.name()));
    }
    Ok(s)
}

fn const_name(cx: &mut Cx, this: Value, name: Value) -> Result<Sym> {
    let s = valid_sym(cx, name)?;
    if !is_const_name(s) {
        return cx.name_error(format!("wrong constant name {}", s.name()), s, this);
    }
    Ok(s)
}

/// The name that is one step and right: a Symbol of plain letters.
fn plain_name(name: Value) -> Option<Sym> {
    let s = name.as_sym()?;
    let [first, rest @ ..] = s.bytes() else { return None };
    (first.is_ascii_uppercase() && rest.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')).then_some(s)
}

/// A step of a path: a name, or what is called wrong once the steps before it have been found.
type Step = std::result::Result<Sym, Sym>;

fn step(cx: &mut Cx, this: Value, s: Step) -> Result<Sym> {
    s.or_else(|wrong| cx.name_error(format!("wrong constant name {}", wrong.name()), wrong, this))
}

/// The steps of `A::B`; a Symbol is one step.
fn const_path(cx: &mut Cx, this: Value, name: Value) -> Result<(bool, Vec<Step>)> {
    if name.is_sym() {
        return Ok((false, vec![Ok(const_name(cx, this, name)?)]));
    }
    let name = cx.try_str(name)?.map_or(name, |t| t.as_value());
    let s = cx.to_sym(name)?;
    let text = s.bytes();
    if !text.contains(&b':') {
        valid_sym(cx, name)?;
    }
    let (top, rest) = match text.strip_prefix(b"::") {
        Some(r) => (true, r),
        None => (false, text),
    };
    let mut steps = Vec::new();
    let mut rest = Some(rest);
    while let Some(names) = rest {
        let end = names.iter().position(|b| *b == b':');
        let (part, behind) = names.split_at(end.unwrap_or(names.len()));
        if part.is_empty() || end.is_some() && (behind.len() < 3 || behind[1] != b':') {
            steps.push(Err(s));
            break;
        }
        let part = Sym::intern_in(part, s.encoding());
        let is_name = is_const_name(part);
        steps.push(if is_name { Ok(part) } else { Err(part) });
        rest = behind.get(2..).filter(|_| is_name);
    }
    Ok((top, steps))
}

fn cvar_name(cx: &mut Cx, this: Value, name: Value) -> Result<Sym> {
    let s = cx.to_sym(name)?;
    let b = s.bytes();
    if b.len() < 3 || !b.starts_with(b"@@") || b[2].is_ascii_digit() {
        let r = cx.name_error(format!("'{}' is not allowed as a class variable name", s.name()), s, this);
        cx.ivar_set_raw(cx.pending, Sym::intern("__name"), name);
        return r;
    }
    Ok(s)
}

/// Finds one step. `inherit` false: in this very module only.
fn lookup(cx: &mut Cx, holder: ClassId, name: Sym, inherit: bool) -> Result<Option<Value>> {
    if inherit {
        return Ok(cx.const_lookup_in(holder, name, true)?.map(|(_, v)| v));
    }
    match cx.const_entry(holder, name) {
        Some(e) => cx.const_entry_value(holder, name, e),
        None => Ok(None),
    }
}

fn is_there(cx: &mut Cx, holder: ClassId, name: Sym, inherit: bool) -> bool {
    if cx.const_defined_entry(holder, name).is_some() {
        return true;
    }
    if !inherit {
        return false;
    }
    let mro = cx.ancestor_list(holder);
    // Modules see Object's; classes that have no Object among their ancestors don't.
    let beyond: &[ClassId] = if cx.class(holder).kind == ClassKind::Module { &[ids::OBJECT] } else { &[] };
    mro.iter().chain(beyond).any(|c| cx.const_defined_entry(*c, name).is_some())
}

/// A path of constants goes through something that holds none.
fn no_holder<T>(cx: &mut Cx, path: Value) -> Result<T> {
    let shown = cx.to_s_text(path)?;
    cx.type_error(format!("{shown} does not refer to class/module"))
}

fn change_entries(cx: &mut Cx, this: ClassId, names: Rest, f: fn(&mut ConstEntry)) -> Result<Value> {
    let object = cx.class_value(this);
    if cx.class(this).frozen {
        return cx.frozen_class_error(object);
    }
    for n in names {
        let name = const_name(cx, object, *n)?;
        match cx.class_mut(this).consts.get_mut(&name) {
            Some(e) => f(e),
            None => {
                let path = cx.const_path(this, name);
                return cx.name_error(format!("constant {path} not defined"), name, object);
            }
        }
        cx.const_epoch += 1;
    }
    Ok(Value::NIL)
}

/// Registers a file to be required when a constant is first read.
pub fn set_autoload(cx: &mut Cx, holder: ClassId, name: Value, path: Value) -> Result<Value> {
    let object = cx.class_value(holder);
    let s = cx.to_sym(name)?;
    if !is_const_name(s) {
        return cx.name_error(format!("autoload must be constant name: {}", s.name()), s, object);
    }
    let path = cx.path_of(path)?;
    if path.is_empty() {
        return cx.arg_error("empty feature name");
    }
    if cx.const_entry(holder, s).is_some_and(|e| !e.value.is_undef()) {
        return Ok(Value::NIL);
    }
    check_not_frozen(cx, object)?;
    let autoload = cx.str_auto(&path);
    autoload.set_flags(flags::FROZEN);
    cx.const_autoload(holder, s, autoload);
    cx.call_hook(object, sym::const_added, Value::sym(s))?;
    Ok(Value::NIL)
}

/// The file registered for a constant that is not loaded yet.
pub fn autoload_path(cx: &mut Cx, holder: ClassId, name: Value, inherit: bool) -> Result<Value> {
    let s = cx.to_sym(name)?;
    let places = if inherit { cx.own_first(holder) } else { vec![holder] };
    for c in places {
        if let Some(e) = cx.const_entry(c, s) {
            let path = cx.instantiate(e.autoload);
            return Ok(if path.is_kind(Kind::String) && autoload::is_pending(cx, path) { path } else { Value::NIL });
        }
    }
    Ok(Value::NIL)
}

#[ruby_class(ids::MODULE)]
pub mod module {
    use super::*;

    /// The value of a constant, which may be a path; with `false` not of an ancestor's.
    ///
    ///     Object.const_get("File::SEPARATOR")   #=> "/"
    #[method("const_get")]
    fn const_get(cx: &mut Cx, this: Value, name: Value, inherit: Option<Value>) -> Result<Value> {
        let inherit = inherit.is_none_or(|i| i.truthy());
        if let Some(s) = plain_name(name)
            && let Some(holder) = cx.class_id(this)
            && let Some(v) = lookup(cx, holder, s, inherit)?
        {
            return Ok(v);
        }
        let (top, steps) = const_path(cx, this, name)?;
        let mut at = if top { cx.class_value(ids::OBJECT) } else { this };
        for (i, s) in steps.iter().enumerate() {
            let Some(holder) = cx.class_id(at) else { return no_holder(cx, name) };
            let s = &step(cx, this, *s)?;
            // Behind the first step Object is only searched for modules that have it as an ancestor.
            let found = match lookup(cx, holder, *s, inherit)? {
                Some(_) if i > 0 && inherit && !is_inside(cx, holder, *s) => None,
                f => f,
            };
            at = match found {
                Some(v) => v,
                None => cx.call(at, sym::const_missing, &[Value::sym(*s)])?,
            };
        }
        Ok(at)
    }
    /// Whether a constant is found without Object's (unless the module is Object).
    fn is_inside(cx: &mut Cx, holder: ClassId, name: Sym) -> bool {
        let mro = cx.ancestor_list(holder);
        let mut places = mro.iter().take_while(|c| holder == ids::OBJECT || **c != ids::OBJECT);
        places.any(|c| cx.const_defined_entry(*c, name).is_some())
    }
    /// Sets a constant; an anonymous module gets its name by this.
    ///
    ///     Comparable.const_set(:ANSWER, 42)   #=> 42
    #[method("const_set")]
    fn const_set(cx: &mut Cx, this: ClassId, name: Value, value: Value) -> Result<Value> {
        let object = cx.class_value(this);
        let s = const_name(cx, object, name)?;
        cx.assign_const(object, s, value)?;
        Ok(value)
    }
    /// Whether a constant (or path) is defined.
    ///
    ///     Object.const_defined?("File::SEPARATOR")   #=> true
    #[method("const_defined?")]
    fn const_defined(cx: &mut Cx, this: Value, name: Value, inherit: Option<Value>) -> Result<bool> {
        let inherit = inherit.is_none_or(|i| i.truthy());
        if let Some(s) = plain_name(name)
            && let Some(holder) = cx.class_id(this)
        {
            return Ok(is_there(cx, holder, s, inherit));
        }
        let (top, steps) = const_path(cx, this, name)?;
        let mut at = if top { cx.class_value(ids::OBJECT) } else { this };
        for (i, s) in steps.iter().enumerate() {
            let Some(holder) = cx.class_id(at) else { return no_holder(cx, name) };
            let s = &step(cx, this, *s)?;
            let there = if i > 0 && inherit { is_inside(cx, holder, *s) } else { is_there(cx, holder, *s, inherit) };
            if !there {
                return Ok(false);
            }
            if i + 1 < steps.len() {
                match lookup(cx, holder, *s, inherit)? {
                    Some(v) => at = v,
                    None => return Ok(false),
                }
            }
        }
        Ok(true)
    }
    /// Names of the public constants; with `false` without the ancestors'.
    ///
    ///     Module.new.constants   #=> []
    #[method("constants")]
    fn constants(cx: &Cx, this: ClassId, inherit: Option<Value>) -> Value {
        let (mut names, mut seen) = (Vec::new(), HashSet::new());
        for c in cx.own_first(this) {
            if c == ids::OBJECT && this != ids::OBJECT {
                break;
            }
            let d = cx.class(c);
            names.extend(d.const_order.iter().filter(|n| d.consts.get(n).is_some_and(|e| !e.private) && seen.insert(*n)));
            if inherit.is_some_and(|i| !i.truthy()) {
                break;
            }
        }
        cx.sym_array(&names)
    }
    /// All constants that are visible where it is called; with an argument those of Module itself.
    #[method("constants", singleton)]
    fn all_constants(cx: &Cx, this: ClassId, args: Rest) -> Result<Value> {
        if !args.is_empty() || this != ids::MODULE {
            return Ok(constants(cx, this, args.first().copied()));
        }
        let (mut names, mut seen) = (Vec::new(), HashSet::new());
        let mut c = cx.current_cref();
        let mut inner = None;
        while let Some(s) = Ref::<CrefCell>::from_value(c) {
            if let Some(id) = cx.class_id(s.class) {
                inner = inner.or(Some(id));
                names.extend(cx.class(id).const_order.iter().filter(|n| seen.insert(*n)));
            }
            c = s.parent;
        }
        if let Some(id) = inner {
            for m in cx.own_first(id) {
                names.extend(cx.class(m).const_order.iter().filter(|n| seen.insert(*n)));
            }
        }
        Ok(cx.sym_array(&names))
    }
    /// Called for a constant that does not exist: raises NameError.
    ///
    ///     (Comparable::NoSuch rescue $!.message)   #=> "uninitialized constant Comparable::NoSuch"
    #[method("const_missing")]
    fn const_missing(cx: &mut Cx, this: ClassId, name: Sym) -> Result<Value> {
        let o = cx.class_value(this);
        let mut path = cx.const_path(this, name);
        if this != ids::OBJECT && (!cx.is_builtin(o, sym::name, ids::MODULE) || !cx.is_builtin(o, sym::inspect, ids::MODULE)) {
            // The class's own idea of its name.
            let mut shown = cx.call(o, sym::name, &[])?;
            if shown.is_nil() {
                shown = cx.inspect(o)?.as_value();
            }
            if let Some(s) = Ref::<StringCell>::from_value(shown) {
                path = format!("{}::{}", s.to_text(), name.name());
            }
        }
        cx.name_error(format!("uninitialized constant {path}"), name, o)
    }
    /// Removes a constant; returns its value.
    #[method("remove_const", private)]
    fn remove_const(cx: &mut Cx, this: ClassId, name: Value) -> Result<Value> {
        let object = cx.class_value(this);
        let s = const_name(cx, object, name)?;
        check_not_frozen(cx, object)?;
        if cx.const_entry(this, s).is_some_and(|e| e.deprecated) {
            let path = cx.const_path(this, s);
            cx.warn_category(&format!("constant {path} is deprecated"), "deprecated")?;
        }
        match cx.const_remove(this, s) {
            Some(v) => Ok(if v.is_undef() { Value::NIL } else { v }),
            None => {
                let path = cx.const_path(this, s);
                cx.name_error(format!("constant {path} not defined"), s, object)
            }
        }
    }
    /// Makes constants unreachable by `Module::NAME`.
    ///
    ///     module Hid; X = 1; private_constant :X; end; (Hid::X rescue $!.message)   #=> "private constant Hid::X referenced"
    #[method("private_constant")]
    fn private_constant(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        if names.is_empty() && cx.global_get(sym::verbose)? == Value::TRUE {
            cx.warn_here("private_constant with no argument is just ignored")?;
        }
        change_entries(cx, this, names, |e| e.private = true)
    }
    /// Undoes `private_constant`.
    #[method("public_constant")]
    fn public_constant(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        if names.is_empty() && cx.global_get(sym::verbose)? == Value::TRUE {
            cx.warn_here("public_constant with no argument is just ignored")?;
        }
        change_entries(cx, this, names, |e| e.private = false)
    }
    /// Makes reading constants warn (with `-w` or `Warning[:deprecated]`).
    #[method("deprecate_constant")]
    fn deprecate_constant(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        change_entries(cx, this, names, |e| e.deprecated = true)?;
        Ok(cx.class_value(this))
    }
    /// [file, line] where a constant was set; [] for builtin ones, nil when it is not defined.
    ///
    ///     Object.const_source_location(:String)   #=> []
    #[method("const_source_location")]
    fn const_source_location(cx: &mut Cx, this: Value, name: Value, inherit: Option<Value>) -> Result<Value> {
        let inherit = inherit.is_none_or(|i| i.truthy());
        let (top, steps) = const_path(cx, this, name)?;
        let mut at = if top { cx.class_value(ids::OBJECT) } else { this };
        for (i, s) in steps.iter().enumerate() {
            let Some(holder) = cx.class_id(at) else { return no_holder(cx, name) };
            let s = &step(cx, this, *s)?;
            let has = |c: &ClassId| cx.const_entry(*c, *s).is_some();
            let found = Some(holder).filter(has).or_else(|| {
                let beyond = (i == 0).then_some(ids::OBJECT);
                let places = if inherit { cx.own_first(holder) } else { Vec::new() };
                places.into_iter().chain(beyond.filter(|_| inherit)).find(has)
            });
            let Some(c) = found else { return Ok(Value::NIL) };
            if i + 1 == steps.len() {
                return Ok(match autoload::place(cx, c, *s) {
                    Some((file, line)) => {
                        let f = cx.str(&file);
                        cx.array(&[f, Value::fixnum(line as i64)])
                    }
                    None => cx.array(&[]),
                });
            }
            match lookup(cx, c, *s, false)? {
                Some(v) => at = v,
                None => return Ok(Value::NIL),
            }
        }
        Ok(Value::NIL)
    }
    /// Has a file required when a constant is first read.
    #[method("autoload")]
    fn autoload(cx: &mut Cx, this: ClassId, name: Value, path: Value) -> Result<Value> {
        set_autoload(cx, this, name, path)
    }
    /// The file that `autoload` registered for a constant, nil when there is none or it is loaded.
    ///
    ///     Module.new.autoload?(:X)   #=> nil
    #[method("autoload?")]
    fn autoload_p(cx: &mut Cx, this: ClassId, name: Value, inherit: Option<Value>) -> Result<Value> {
        autoload_path(cx, this, name, inherit.is_none_or(|i| i.truthy()))
    }
    /// The value of a class variable.
    ///
    ///     class Cnt; @@n = 3; end; Cnt.class_variable_get(:@@n)   #=> 3
    #[method("class_variable_get")]
    fn cvar_get(cx: &mut Cx, this: ClassId, name: Value) -> Result<Value> {
        let object = cx.class_value(this);
        let s = cvar_name(cx, object, name)?;
        match cx.cvar_get(this, s)? {
            Some(v) => Ok(v),
            None => {
                let n = cx.class_name(this);
                cx.name_error(format!("uninitialized class variable {} in {n}", s.name()), s, object)
            }
        }
    }
    /// Sets a class variable.
    ///
    ///     Class.new.class_variable_set(:@@n, 3)   #=> 3
    #[method("class_variable_set")]
    fn cvar_set(cx: &mut Cx, this: ClassId, name: Value, value: Value) -> Result<Value> {
        let object = cx.class_value(this);
        let s = cvar_name(cx, object, name)?;
        cx.cvar_set(this, s, value)?;
        Ok(value)
    }
    /// Whether a class variable is set.
    ///
    ///     String.class_variable_defined?(:@@n)   #=> false
    #[method("class_variable_defined?")]
    fn cvar_defined(cx: &mut Cx, this: ClassId, name: Value) -> Result<bool> {
        let object = cx.class_value(this);
        let s = cvar_name(cx, object, name)?;
        Ok(cx.cvar_holder(this, s).is_some())
    }
    /// Names of the class variables; with `false` without the ancestors'.
    ///
    ///     class Cnv; @@n = 3; end; Cnv.class_variables   #=> [:@@n]
    #[method("class_variables")]
    fn cvars(cx: &Cx, this: ClassId, inherit: Option<Value>) -> Value {
        let (mut names, mut seen) = (Vec::new(), HashSet::new());
        for c in cx.cvar_places(this) {
            if c != this && inherit.is_some_and(|i| !i.truthy()) {
                break;
            }
            names.extend(cx.class(c).cvars.iter().map(|(n, _)| *n).filter(|n| seen.insert(*n)));
        }
        cx.sym_array(&names)
    }
    /// Removes a class variable; returns its value.
    ///
    ///     Class.new.class_eval { class_variable_set(:@@n, 3); remove_class_variable(:@@n) }   #=> 3
    #[method("remove_class_variable")]
    fn remove_cvar(cx: &mut Cx, this: ClassId, name: Value) -> Result<Value> {
        let object = cx.class_value(this);
        let s = cvar_name(cx, object, name)?;
        check_not_frozen(cx, object)?;
        cx.cvars_changed();
        let d = cx.class_mut(this);
        match d.cvars.iter().position(|(n, _)| *n == s) {
            Some(i) => {
                let v = d.cvars.remove(i).1;
                Ok(cx.instantiate(v))
            }
            None => {
                let n = cx.class_name(this);
                let message = match cx.cvar_holder(this, s) {
                    Some(_) => format!("cannot remove {} for {n}", s.name()),
                    None => format!("class variable {} not defined for {n}", s.name()),
                };
                cx.name_error(message, s, object)
            }
        }
    }
}
