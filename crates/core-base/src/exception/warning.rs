//! Module Warning and Kernel#warn.
//!
//! Everything that warns ends in a call of `Warning.warn`, which programs redefine; the builtin one writes to `$stderr`.

use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Categories that were switched; None: the default.
#[derive(Trace, Clone, Copy, Default)]
struct Categories {
    deprecated: Option<bool>,
    experimental: Option<bool>,
    performance: Option<bool>,
    strict_unused_block: Option<bool>,
}
impl VmState for Categories {
    fn snapshot(&self, _values: &mut Gathered) -> Option<Restore> {
        Some(self.blueprint())
    }
}
impl Categories {
    fn blueprint(self) -> Restore {
        let save = move |out: &mut Saved| {
            for c in [self.deprecated, self.experimental, self.performance, self.strict_unused_block] {
                out.option(c.map(u64::from));
            }
            Some("Warning")
        };
        savable_state(move |cx, _| *cx.state::<Categories>() = self, save)
    }
}
zakuro_vm::state_loader!("Warning", |r| {
    let mut next = || Some(r.option()?.map(|n| n != 0));
    let (deprecated, experimental, performance, strict_unused_block) = (next()?, next()?, next()?, next()?);
    r.ends(0)?;
    Some(Categories { deprecated, experimental, performance, strict_unused_block }.blueprint())
});

const CATEGORIES: [&str; 4] = ["deprecated", "experimental", "performance", "strict_unused_block"];

fn slot<'a>(c: &'a mut Categories, name: &str) -> Option<&'a mut Option<bool>> {
    Some(match name {
        "deprecated" => &mut c.deprecated,
        "experimental" => &mut c.experimental,
        "performance" => &mut c.performance,
        "strict_unused_block" => &mut c.strict_unused_block,
        _ => return None,
    })
}

/// Switches the categories that the command line names.
pub fn set_categories(cx: &mut Cx) {
    for (name, on) in &cx.options.clone().warnings {
        if let Some(s) = slot(cx.state::<Categories>(), name) {
            *s = Some(*on);
        }
    }
}

/// Whether warnings of a category are shown; None for an unknown one.
pub fn is_enabled(cx: &mut Cx, category: &str) -> Option<bool> {
    let verbose = cx.options.verbose == Some(true);
    let set = *slot(cx.state::<Categories>(), category)?;
    Some(set.unwrap_or(match category {
        "deprecated" => verbose,
        "experimental" => true,
        _ => false,
    }))
}

fn category_of(cx: &mut Cx, v: Value) -> Result<String> {
    let Some(s) = v.as_sym() else {
        let c = cx.class_name_of(v);
        return cx.type_error(format!("wrong argument type {c} (expected Symbol)"));
    };
    let name = s.name().into_owned();
    if CATEGORIES.contains(&name.as_str()) { Ok(name) } else { cx.arg_error(format!("unknown category: {name}")) }
}

pub(super) fn setup(cx: &mut Cx) {
    let warning = cx.class_value(ids::WARNING);
    if let Ok(s) = cx.singleton_class(warning) {
        let _ = cx.include_module(s, ids::WARNING);
    }
}

/// Hands a finished line to `Warning.warn`: the VM's hook for its own warnings.
pub fn emit(cx: &mut Cx, line: &str) -> Result<()> {
    let (warning, text) = (cx.class_value(ids::WARNING), cx.str(line));
    cx.call(warning, Sym::intern("warn"), &[text])?;
    Ok(())
}

/// The same for a line of a category.
pub fn emit_category(cx: &mut Cx, line: &str, category: &str) -> Result<()> {
    let text = cx.str(line);
    call_warn(cx, text, Value::sym(Sym::intern(category)))
}

/// Calls `Warning.warn`, with the category (nil for none) unless the program's own version takes one argument only.
fn call_warn(cx: &mut Cx, text: Value, category: Value) -> Result<()> {
    let (warning, name) = (cx.class_value(ids::WARNING), Sym::intern("warn"));
    if let Some(m) = cx.method_of(warning, name)
        && cx.method_arity(m) == 1
        && m.method_kind() != MethodKind::Native
    {
        cx.call(warning, name, &[text])?;
        return Ok(());
    }
    let kw = cx.new_hash();
    cx.hash_set(kw, Value::sym(sym::category), category)?;
    cx.call_full(warning, name, &[text, kw.as_value()], true, Block::NONE)?;
    Ok(())
}

fn write(cx: &mut Cx, text: Value) -> Result<()> {
    if zakuro_vm::library::library().write_to_stderr(cx, text)? {
        return Ok(());
    }
    let err = cx.global_get(sym::stderr)?;
    if err.is_nil() {
        let bytes = Ref::<StringCell>::from_value(text).map(|s| s.to_vec()).unwrap_or_default();
        let _ = std::io::Write::write_all(&mut std::io::stderr(), &bytes);
        return Ok(());
    }
    cx.call(err, sym::write, &[text])?;
    Ok(())
}

/// The methods of Warning.
#[ruby_class(ids::WARNING)]
pub(super) mod warnings {
    use super::*;

    /// Writes a warning to `$stderr`. Programs redefine it to catch warnings.
    ///
    ///     Warning.respond_to?(:warn)   #=> true
    #[method("warn")]
    fn warn(cx: &mut Cx, _this: Value, message: Value, kw: Kwargs) -> Result<Value> {
        kw.only(cx, &[sym::category])?;
        if let Some(c) = kw.get(sym::category)
            && !c.is_nil()
        {
            let c = category_of(cx, c)?;
            if is_enabled(cx, &c) == Some(false) {
                return Ok(Value::NIL);
            }
        }
        if !message.is_kind(Kind::String) {
            let c = cx.class_name_of(message);
            return cx.type_error(format!("wrong argument type {c} (expected String)"));
        }
        let text: Ref<StringCell> = Ref::of(message);
        if let Some(e) = zakuro_text::encoding::Encoding::from_id(text.encoding()).filter(|e| !e.is_ascii_compatible()) {
            return cx.raise(ids::COMPAT_ERROR, format!("ASCII incompatible encoding: {}", e.name()));
        }
        write(cx, message)?;
        Ok(Value::NIL)
    }

    /// Whether warnings of a category are shown.
    ///
    ///     Warning[:experimental]   #=> true
    #[method("[]", singleton)]
    fn get(cx: &mut Cx, _this: Value, category: Value) -> Result<bool> {
        let c = category_of(cx, category)?;
        Ok(is_enabled(cx, &c).unwrap_or(false))
    }

    /// Switches a category on or off.
    ///
    ///     Warning[:performance] = true; Warning[:performance]   #=> true
    #[method("[]=", singleton)]
    fn set(cx: &mut Cx, _this: Value, category: Value, on: Value) -> Result<Value> {
        let c = category_of(cx, category)?;
        if let Some(s) = slot(cx.state::<Categories>(), &c) {
            *s = Some(on.truthy());
        }
        Ok(on)
    }

    /// All categories.
    ///
    ///     Warning.categories.include?(:deprecated)   #=> true
    #[method("categories", singleton)]
    fn categories(cx: &Cx, _this: Value) -> Value {
        cx.array_of(CATEGORIES.iter().map(|c| Value::sym(Sym::intern(c))))
    }
}

/// Kernel#warn.
#[ruby_class(ids::KERNEL)]
pub(super) mod kernel {
    use super::*;

    /// Lines of the message, flattened.
    fn lines(cx: &mut Cx, list: &[Value], out: &mut Vec<u8>) -> Result<()> {
        for v in list {
            if let Some(a) = Ref::<ArrayCell>::from_value(*v) {
                let inner = RootedVec::of(cx, a);
                cx.check_native_stack()?;
                lines(cx, &inner, out)?;
                continue;
            }
            let s = cx.to_s(*v)?;
            out.extend_from_slice(s.content(&cx.heap));
            if s.content(&cx.heap).last() != Some(&b'\n') {
                out.push(b'\n');
            }
        }
        Ok(())
    }

    /// Writes messages as a warning, unless warnings are off. `uplevel:` puts file and line of a caller in front; `category:` is asked first.
    ///
    ///     warn   #=> nil
    #[method("warn", module_function)]
    fn warn(cx: &mut Cx, this: Value, messages: Rest, kw: Kwargs) -> Result<Value> {
        kw.only(cx, &[sym::uplevel, sym::category])?;
        let mut messages = messages;
        // An empty keyword Hash is no message.
        if !kw.is_none() && messages.len() == 1 && messages[0].is_kind(Kind::Hash) && Ref::<HashCell>::of(messages[0]).len() == 0 {
            messages = &[];
        }
        let category = kw.get(sym::category).filter(|c| !c.is_nil());
        let mut prefix = Vec::new();
        if let Some(up) = kw.get(sym::uplevel)
            && !up.is_nil()
        {
            let n = cx.to_i64(up)?;
            if n < 0 {
                return cx.arg_error(format!("negative level ({n})"));
            }
            // Level 0 is the builtin itself.
            let at = cx.locations(0).into_iter().filter(|l| !l.label.to_string().ends_with("#warn")).nth(n as usize);
            prefix = match at {
                Some(l) => format!("{}:{}: warning: ", l.file, l.line).into_bytes(),
                None => b"warning: ".to_vec(),
            };
        }
        if messages.is_empty() || cx.global_get(sym::verbose)?.is_nil() {
            return Ok(Value::NIL);
        }
        let mut category = category.unwrap_or(Value::NIL);
        if !category.is_nil() {
            category = match cx.call_if_responds(category, sym::to_sym, &[])? {
                Some(s) if s.as_sym().is_some() => s,
                _ => Value::sym(cx.to_sym(category)?),
            };
            let name = category_of(cx, category)?;
            if is_enabled(cx, &name) == Some(false) {
                return Ok(Value::NIL);
            }
        }
        let mut text = prefix;
        let start = text.len();
        lines(cx, messages, &mut text)?;
        if text.len() == start {
            return Ok(Value::NIL);
        }
        let text = cx.str_auto(&text);
        if this == cx.class_value(ids::WARNING) {
            // Warning's own `warn` is at work.
            write(cx, text)?;
        } else {
            call_warn(cx, text, category)?;
        }
        Ok(Value::NIL)
    }
}
