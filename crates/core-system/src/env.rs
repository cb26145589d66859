//! ENV: the environment variables of a VM.
//!
//! A VM starts with the process's variables and takes a copy when it first changes one; setenv(3) is never called. The object itself is
//! one of the boot image, shared by all VMs; what it shows is the VM's. Rarer methods are in prelude/io.rb.

use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Variables of one VM, in order.
#[derive(Trace, Default)]
pub struct Env {
    own: Option<Vars>,
    /// Bumped by each change; caches of what variables mean compare it.
    pub version: u64,
    object: Option<Value>,
    /// Bytes of `own` that count for the VM.
    counted: usize,
}
impl VmState for Env {}

type Vars = Vec<(Vec<u8>, Vec<u8>)>;

/// The variables that the process was started with. Read once: the C library's table is behind a lock, which all VMs would take for each read.
fn process_vars() -> &'static Vars {
    use std::os::unix::ffi::OsStringExt;
    static VARIABLES: std::sync::OnceLock<Vars> = std::sync::OnceLock::new();
    VARIABLES.get_or_init(|| std::env::vars_os().map(|(k, v)| (k.into_vec(), v.into_vec())).collect())
}

fn vars(cx: &mut Cx) -> &Vars {
    cx.state::<Env>().own.as_ref().unwrap_or_else(|| process_vars())
}

/// Value of a variable.
pub fn get(cx: &mut Cx, name: &[u8]) -> Option<Vec<u8>> {
    vars(cx).iter().find(|(k, _)| k == name).map(|(_, v)| v.clone())
}

/// All variables.
pub fn all(cx: &mut Cx) -> Vec<(Vec<u8>, Vec<u8>)> {
    vars(cx).clone()
}

/// Whether the VM has variables of its own; else a child process may simply inherit.
pub fn changed(cx: &mut Cx) -> bool {
    cx.state::<Env>().own.is_some()
}

/// Starts with the variables of the VM that started this one.
pub fn adopt(cx: &mut Cx, vars: Vec<(Vec<u8>, Vec<u8>)>) {
    let bytes = vars.iter().map(|(k, v)| weight(k, v)).sum();
    cx.state::<Env>().own = Some(vars);
    count(cx, bytes);
}

/// What a variable takes: its text, the list's entry, what malloc adds.
fn weight(name: &[u8], value: &[u8]) -> usize {
    const ENTRY: usize = size_of::<(Vec<u8>, Vec<u8>)>() + 32;
    name.len() + value.len() + ENTRY
}

/// The VM's variables take so many bytes now.
fn count(cx: &mut Cx, bytes: usize) {
    let before = std::mem::replace(&mut cx.state::<Env>().counted, bytes);
    if bytes > before {
        cx.heap.add_payload(bytes - before);
    } else {
        cx.heap.sub_payload(before - bytes);
    }
}

/// Sets or (None) removes a variable.
pub fn set(cx: &mut Cx, name: &[u8], value: Option<&[u8]>) {
    if !changed(cx) {
        adopt(cx, process_vars().clone());
    }
    let e = cx.state::<Env>();
    e.version += 1;
    let mut bytes = e.counted;
    let vars = e.own.get_or_insert_default();
    let at = vars.iter().position(|(k, _)| k == name);
    if let Some(i) = at {
        bytes = bytes.saturating_sub(weight(name, &vars[i].1));
    }
    match (at, value) {
        (Some(i), Some(v)) => vars[i].1 = v.to_vec(),
        (Some(i), None) => {
            vars.remove(i);
        }
        (None, Some(v)) => vars.push((name.to_vec(), v.to_vec())),
        (None, None) => {}
    }
    if let Some(v) = value {
        bytes += weight(name, v);
    }
    count(cx, bytes);
}

/// Text that can stand in the environment: `what` is "name" or "value".
fn plain(cx: &mut Cx, v: Value, what: &str) -> Result<Vec<u8>> {
    let s = cx.to_str(v)?;
    let e = zakuro_core_text::string::util::enc(s);
    if !e.is_ascii_compatible() {
        return cx.arg_error(format!("bad environment variable {what}: ASCII incompatible encoding: {}", e.name()));
    }
    if s.has_nul() {
        return cx.arg_error(format!("bad environment variable {what}: contains null byte"));
    }
    Ok(s.to_vec())
}

fn name_of(cx: &mut Cx, v: Value) -> Result<Vec<u8>> {
    plain(cx, v, "name")
}

fn text(cx: &mut Cx, b: &[u8]) -> Value {
    let locale = zakuro_core_text::encoding::locale(cx);
    let v = zakuro_core_text::encoding::external_text(cx, b, locale);
    v.set_flags(flags::FROZEN);
    v
}

fn text_or_nil(cx: &mut Cx, b: Option<Vec<u8>>) -> Value {
    match b {
        Some(b) => text(cx, &b),
        None => Value::NIL,
    }
}

/// `ENV[name] = value`
pub fn store(cx: &mut Cx, name: Value, value: Value) -> Result<()> {
    let n = name_of(cx, name)?;
    if value.is_nil() {
        set(cx, &n, None);
        return Ok(());
    }
    let v = plain(cx, value, "value")?;
    if n.is_empty() || n.contains(&b'=') {
        let shown = format!("setenv({})", String::from_utf8_lossy(&n));
        return crate::io::fail(cx, libc::EINVAL, &shown);
    }
    set(cx, &n, Some(&v));
    Ok(())
}

#[ruby_class(ids::ENV_METHODS)]
pub mod env {
    use super::*;
    /// Value of a variable, nil when it is not set.
    ///
    ///     ENV["no such variable"]   #=> nil
    #[method("[]")]
    fn aref(cx: &mut Cx, _this: Value, name: Value) -> Result<Value> {
        let n = name_of(cx, name)?;
        let v = get(cx, &n);
        Ok(text_or_nil(cx, v))
    }
    /// Value of a variable, else the default or what the block gives; KeyError without either.
    ///
    ///     ENV.fetch("no such variable", 1)   #=> 1
    #[method("fetch")]
    fn fetch(cx: &mut Cx, this: Value, name: Value, default: Option<Value>, block: Block) -> Result<Value> {
        let n = name_of(cx, name)?;
        if block.is_some() && default.is_some() {
            cx.warn_here("block supersedes default value argument")?;
        }
        if let Some(v) = get(cx, &n) {
            return Ok(text(cx, &v));
        }
        if block.is_some() {
            return cx.yield1(block, name);
        }
        if let Some(d) = default {
            return Ok(d);
        }
        let shown = cx.inspect_text(name)?;
        let e = cx.exception(ids::KEY_ERROR, &format!("key not found: {shown}"));
        cx.ivar_set_raw(e, Sym::intern("__receiver"), this);
        cx.ivar_set_raw(e, Sym::intern("__key"), name);
        cx.raise_value(e)
    }
    /// Sets a variable; nil removes it.
    #[method("[]=", "store")]
    fn aset(cx: &mut Cx, _this: Value, name: Value, value: Value) -> Result<Value> {
        store(cx, name, value)?;
        Ok(value)
    }
    /// Removes a variable; returns its value.
    #[method("delete")]
    fn delete(cx: &mut Cx, _this: Value, name: Value, block: Block) -> Result<Value> {
        let n = name_of(cx, name)?;
        match get(cx, &n) {
            Some(v) => {
                set(cx, &n, None);
                Ok(text(cx, &v))
            }
            None if block.is_some() => cx.yield1(block, name),
            None => Ok(Value::NIL),
        }
    }
    /// Whether a variable is set.
    ///
    ///     ENV.key?("no such variable")   #=> false
    #[method("key?", "has_key?", "include?", "member?")]
    fn has_key(cx: &mut Cx, _this: Value, name: Value) -> Result<bool> {
        let n = name_of(cx, name)?;
        Ok(get(cx, &n).is_some())
    }
    /// Names of all variables.
    #[method("keys")]
    fn keys(cx: &mut Cx, _this: Value) -> Value {
        let a = cx.new_array();
        for (k, _) in all(cx) {
            let s = text(cx, &k);
            ArrayCell::push(a, &mut cx.heap, s);
        }
        a.as_value()
    }
    /// Values of all variables.
    #[method("values")]
    fn values(cx: &mut Cx, _this: Value) -> Value {
        let a = cx.new_array();
        for (_, v) in all(cx) {
            let s = text(cx, &v);
            ArrayCell::push(a, &mut cx.heap, s);
        }
        a.as_value()
    }
    /// All variables as a Hash; with a block, of the pairs that it gives.
    #[method("to_h")]
    fn to_h(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        let h = to_hash(cx, this)?;
        if block.is_none() {
            return Ok(h);
        }
        cx.call_block(h, sym::to_h, &[], block)
    }
    /// All variables as a Hash.
    #[method("to_hash")]
    fn to_hash(cx: &mut Cx, _this: Value) -> Result<Value> {
        let h = cx.new_hash();
        for (k, v) in all(cx) {
            let (k, v) = (text(cx, &k), text(cx, &v));
            cx.hash_set(h, k, v)?;
        }
        Ok(h.as_value())
    }
    /// Number of variables.
    #[method("size", "length")]
    fn size(cx: &mut Cx, _this: Value) -> usize {
        all(cx).len()
    }
    /// Whether there is no variable.
    #[method("empty?")]
    fn is_empty(cx: &mut Cx, _this: Value) -> bool {
        all(cx).is_empty()
    }
    /// Removes all variables.
    #[method("clear")]
    fn clear(cx: &mut Cx, this: Value) -> Value {
        let e = cx.state::<Env>();
        e.version += 1;
        e.own = Some(Vec::new());
        count(cx, 0);
        this
    }
    /// "ENV"
    ///
    ///     ENV.to_s   #=> "ENV"
    #[method("to_s")]
    fn to_s(_this: Value) -> &'static str {
        "ENV"
    }
    /// As the inspect of its Hash.
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let h = to_hash(cx, this)?;
        Ok(cx.inspect(h)?.as_value())
    }
}

#[ruby_class(ids::ENCODING)]
pub mod encoding {
    use super::*;

    /// Name of the locale's charset.
    ///
    ///     Encoding.locale_charmap   #=> "UTF-8"
    #[method("locale_charmap", singleton)]
    fn locale_charmap(cx: &Cx, _this: Value) -> Value {
        cx.str(cx.options.charmap.as_deref().unwrap_or("UTF-8"))
    }
}

pub static TABLES: &[&[MethodRow]] = &[env::METHODS, encoding::METHODS];

/// The object behind `ENV`, one per VM, so that a program may define methods on it: made on first use, of a singleton-like class of the boot image.
pub fn object(cx: &mut Cx) -> Value {
    if let Some(v) = cx.state::<Env>().object {
        return v;
    }
    let proto = cx.const_entry(ids::RUBY_VM, Sym::intern(PROTO)).map_or(Value::NIL, |e| e.value);
    let v = match cx.dispatch_class(proto) {
        ids::NIL_CLASS => cx.new_object(ids::OBJECT),
        class => cx.new_object(class),
    };
    cx.state::<Env>().object = Some(v);
    v
}

/// Constant of RubyVM that keeps the boot image's ENV: its class is what every VM's ENV is made of.
const PROTO: &str = "ENV__";

pub fn setup(cx: &mut Cx) {
    let proto = cx.new_object(ids::OBJECT);
    if let Ok(sc) = cx.singleton_class(proto) {
        let _ = cx.include_module(sc, ids::ENUMERABLE);
        let _ = cx.include_module(sc, ids::ENV_METHODS);
    }
    cx.const_set(ids::RUBY_VM, Sym::intern(PROTO), proto);
    if let Some(e) = cx.class_mut(ids::RUBY_VM).consts.get_mut(&Sym::intern(PROTO)) {
        e.private = true;
    }
    crate::io::stream::declare_lazy(cx, "ENV");
    // The methods' module is an internal of ENV: the prelude adds to it, then removes the constant.
    cx.class_mut(ids::ENV_METHODS).name = Some(Sym::intern("ENV"));
}
