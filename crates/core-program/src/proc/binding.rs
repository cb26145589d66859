//! Binding: the variables, `self` and method of a place in the program.
//!
//! It holds the innermost environment and the Code that names its slots (vm/scope.rs). Variables that an eval in it defines live in the eval's own
//! environment, which becomes the Binding's innermost one.

use crate::kernel::eval::{Source, code_for, eval_source, variables_of};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::scope::{Scope, is_visible_local};
use zakuro_vm::*;

pub static TABLE: &[MethodRow] = binding::METHODS;

/// Payload of a Binding.
pub struct BindingData {
    pub scope: Scope,
    pub self_: Value,
    /// Method cell of the frame.
    pub me: Value,
    file: std::sync::Arc<str>,
    line: u32,
    /// The scope that it was made in, and its own variables so far in the innermost environment.
    own: Option<(Scope, Vec<Sym>)>,
}
impl Trace for BindingData {
    /// Written out: a code is no cell, it is kept by the note that it was seen.
    fn trace(&self, m: &mut Marker<'_>) {
        let BindingData { scope, self_, me, file: _, line: _, own } = self;
        for s in [Some(scope), own.as_ref().map(|(s, _)| s)].into_iter().flatten() {
            Cx::note_code(s.code);
            s.env.trace(m);
        }
        (*self_, *me).trace(m);
    }
}
impl NativeData for BindingData {
    fn snapshot(&self, values: &mut Gathered) -> Option<Rebuild> {
        values.extend([self.scope.env, self.self_, self.me]);
        Some(blueprint(scope::CodeChain::of(self.scope.code), self.file.clone(), self.line))
    }
}

fn blueprint(codes: scope::CodeChain, file: std::sync::Arc<str>, line: u32) -> Rebuild {
    let codes = std::sync::Arc::new(codes);
    let (saved, name) = (codes.clone(), file.clone());
    let make = move |vm: &mut dyn std::any::Any, v: &[Value]| -> Option<Box<dyn NativeData>> {
        let code = codes.state(vm.downcast_mut::<Cx>()?);
        let scope = Scope { code, env: v[0] };
        Some(Box::new(BindingData { scope, self_: v[1], me: v[2], file: file.clone(), line, own: None }))
    };
    let save = move |out: &mut Saved| {
        out.number(line.into()).blob(name.as_bytes());
        out.shared.extend(saved.codes().iter().map(|c| c.clone() as std::sync::Arc<dyn std::any::Any + Send + Sync>));
        Some("Binding")
    };
    savable(make, save)
}
zakuro_vm::saved_loader!("Binding", |r| {
    let (line, file) = (r.narrow()?, std::str::from_utf8(r.blob()?).ok()?);
    r.ends(3)?;
    Some(blueprint(scope::CodeChain::from_shared(r.shared)?, file.into(), line))
});

pub fn make(cx: &mut Cx, scope: Scope, self_: Value, me: Value) -> Value {
    let (file, line) = cx.here().unwrap_or_else(|| ("(eval)".into(), 1));
    make_at(cx, scope, self_, me, file, line)
}

pub fn make_at(cx: &mut Cx, scope: Scope, self_: Value, me: Value, file: std::sync::Arc<str>, line: u32) -> Value {
    cx.data(ids::BINDING, BindingData { scope, self_, me, file, line, own: None })
}

/// Gives a Binding new variables. They share environments of up to `OWN_SLOTS`, so that their number is no depth of nesting.
fn add_variables(cx: &mut Cx, this: Value, new: &[Sym]) -> Result<()> {
    let mut rest = new;
    while !rest.is_empty() {
        let d = cx.data_ref::<BindingData>(this)?;
        let scope = d.scope;
        let has_room = d.own.clone().filter(|(_, names)| names.len() < scope::OWN_SLOTS);
        let grows = has_room.is_some();
        let (around, mut names) = has_room.unwrap_or((scope, Vec::new()));
        let (now, later) = rest.split_at(rest.len().min(scope::OWN_SLOTS - names.len()));
        rest = later;
        names.extend_from_slice(now);
        let inner = if grows { cx.renamed_scope(around, scope, &names) } else { cx.inner_scope(scope, &names) };
        let d = cx.data_mut::<BindingData>(this)?;
        d.scope = inner;
        d.own = Some((around, names));
    }
    Ok(())
}

/// Gives the Binding of a block the variables around it that no block captures, as copies: their frame keeps them in registers. (A frame that has
/// `binding` or `eval` in its text captures all of its own.)
pub fn add_live_variables(cx: &mut Cx, this: Value, block: Ref<ProcCell>) -> Result<()> {
    for (name, value) in cx.live_variables(block) {
        let scope = cx.data_ref::<BindingData>(this)?.scope;
        if find(cx, scope, name).is_none() {
            add_variables(cx, this, &[name])?;
            put(cx, this, name, value)?;
        }
    }
    Ok(())
}

/// Sets a variable that the Binding has.
fn put(cx: &mut Cx, this: Value, name: Sym, value: Value) -> Result<()> {
    let scope = cx.data_ref::<BindingData>(this)?.scope;
    if let Some((e, slot)) = find(cx, scope, name)
        && slot < e.slots().len()
    {
        EnvCell::set(e, slot, value);
    }
    Ok(())
}

/// Binding of the innermost Ruby frame.
pub fn of_caller(cx: &mut Cx) -> Result<Value> {
    let Some(f) = cx.ruby_frame() else { return cx.raise(ids::RUNTIME_ERROR, "no frame to bind") };
    let scope = cx.frame_scope(f);
    // SAFETY: a live Ruby frame.
    let (self_, me) = unsafe { (*(*f).regs, (*f).me) };
    Ok(make(cx, scope, self_, me))
}

/// `TOPLEVEL_BINDING` of a VM, made when first read.
#[derive(Trace, Default)]
struct TopLevel(Option<Value>);
impl VmState for TopLevel {}

/// `TOPLEVEL_BINDING`: the place of the main program, with its variables when the program mentions the constant. One object per VM: read before the
/// program runs (`-r`) it gets the program's variables at the first read after that, unless it has got some of its own.
pub fn top_level(cx: &mut Cx) -> Value {
    let old = cx.state::<TopLevel>().0;
    // Variables that it has got before stay its innermost ones.
    let own = match old.map(|old| cx.data_ref::<BindingData>(old)) {
        Some(Ok(BindingData { own: Some((around, names)), .. })) if around.code.is_null() => Some(names.clone()),
        Some(Ok(d)) if !d.scope.code.is_null() || d.own.is_some() => return old.unwrap_or(Value::NIL),
        _ => None,
    };
    let new = top_level_now(cx);
    let Some(old) = old else {
        cx.state::<TopLevel>().0 = Some(new);
        return new;
    };
    if let Ok(d) = cx.data_ref::<BindingData>(new) {
        let (program, me) = (d.scope, d.me);
        if own.is_some() && program.code.is_null() {
            return old;
        }
        let (mut scope, mut around) = (program, None);
        if let Some(names) = own {
            let Ok(inner) = cx.data_ref::<BindingData>(old).map(|d| d.scope) else { return old };
            if let Some(e) = Ref::<EnvCell>::from_value(inner.env) {
                cx.cell_changes(inner.env);
                EnvCell::set_parent(e, program.env);
            }
            scope = cx.renamed_scope(program, inner, &names);
            around = Some((program, names));
        }
        if let Ok(d) = cx.data_mut::<BindingData>(old) {
            (d.scope, d.me, d.own) = (scope, me, around);
        }
    }
    old
}

fn top_level_now(cx: &mut Cx) -> Value {
    let (mut scope, self_) = (Scope { code: std::ptr::null(), env: Value::NIL }, cx.main);
    let object = cx.class_value(ids::OBJECT);
    let mut me = Value::NIL;
    if let Some(f) = cx.program_frame() {
        let s = cx.frame_scope(f);
        // SAFETY: a live Ruby frame.
        unsafe {
            if (*s.code).own_env && *(&*s.code).code.file == *cx.script {
                scope = s;
            }
            me = (*f).me;
        }
    }
    if me.is_nil() {
        let cref = cx.new_cref(object, Value::NIL);
        me = cx.frame_method(Sym::intern("<main>"), ids::OBJECT, cref).as_value();
    }
    make_at(cx, scope, self_, me, "<main>".into(), 1)
}

/// Names of the variables that a program can see from a scope.
pub fn visible_names(cx: &Cx, scope: Scope) -> Vec<Sym> {
    let mut names = Vec::new();
    for e in cx.seen_envs(scope) {
        for (n, _) in e.names() {
            if is_visible_local(n) && !names.contains(&n) {
                names.push(n);
            }
        }
    }
    names
}

fn local_name(cx: &mut Cx, this: Value, name: Value) -> Result<Sym> {
    let s = cx.to_sym(name)?;
    if matches!(s.bytes(), [b'_', b'1'..=b'9']) {
        return cx.name_error(format!("numbered parameter '{}' is not a local variable", s.name()), s, this);
    }
    if !is_visible_local(s) {
        let shown = cx.any_to_s(this);
        return cx.name_error(format!("wrong local variable name '{}' for {shown}", s.name()), s, this);
    }
    Ok(s)
}

/// Where a variable lives.
fn find(cx: &Cx, scope: Scope, name: Sym) -> Option<(Ref<EnvCell>, usize)> {
    cx.walk_envs(scope).find_map(|e| e.slot(name).map(|s| (e.env, s)))
}

#[ruby_class(ids::BINDING)]
mod binding {
    use super::*;

    /// The value of a local variable.
    ///
    ///     x = 3; binding.local_variable_get(:x)   #=> 3
    #[method("local_variable_get")]
    fn get(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let s = local_name(cx, this, name)?;
        let scope = cx.data_ref::<BindingData>(this)?.scope;
        match find(cx, scope, s) {
            Some((e, slot)) => Ok(e.slots().get(slot).copied().unwrap_or(Value::NIL)),
            None => {
                let shown = cx.any_to_s(this);
                cx.name_error(format!("local variable '{}' is not defined for {shown}", s.name()), s, this)
            }
        }
    }
    /// Sets a local variable; a new one lives in this Binding only.
    ///
    ///     x = 3; binding.local_variable_set(:x, 4); x   #=> 4
    #[method("local_variable_set")]
    fn set(cx: &mut Cx, this: Value, name: Value, value: Value) -> Result<Value> {
        let s = local_name(cx, this, name)?;
        let scope = cx.data_ref::<BindingData>(this)?.scope;
        if find(cx, scope, s).is_none() {
            add_variables(cx, this, &[s])?;
        }
        put(cx, this, s, value)?;
        Ok(value)
    }
    /// Whether a local variable is defined.
    ///
    ///     x = 3; [binding.local_variable_defined?(:x), binding.local_variable_defined?(:nope)]   #=> [true, false]
    #[method("local_variable_defined?")]
    fn defined(cx: &mut Cx, this: Value, name: Value) -> Result<bool> {
        let s = local_name(cx, this, name)?;
        let scope = cx.data_ref::<BindingData>(this)?.scope;
        Ok(find(cx, scope, s).is_some())
    }
    /// Names of the local variables, innermost first.
    ///
    ///     proc { a = 1; binding.local_variables }.call.first   #=> :a
    #[method("local_variables")]
    fn local_variables(cx: &mut Cx, this: Value) -> Result<Value> {
        let scope = cx.data_ref::<BindingData>(this)?.scope;
        let names = visible_names(cx, scope);
        Ok(cx.sym_array(&names))
    }
    /// Names of the numbered parameters, or `it`, of the innermost block.
    ///
    ///     proc { _2; binding.implicit_parameters }.call   #=> [:_1, :_2]
    #[method("implicit_parameters")]
    fn implicit_parameters(cx: &mut Cx, this: Value) -> Result<Value> {
        let scope = cx.data_ref::<BindingData>(this)?.scope;
        let names: Vec<Sym> = cx.implicit_parameters(scope).into_iter().map(|p| p.0).collect();
        Ok(cx.sym_array(&names))
    }
    fn implicit(cx: &mut Cx, this: Value, name: Value) -> Result<(Sym, Option<Value>)> {
        let s = cx.to_sym(name)?;
        if !matches!(s.bytes(), [b'_', b'1'..=b'9'] | b"it") {
            return cx.name_error(format!("'{}' is not an implicit parameter", s.name()), s, this);
        }
        let scope = cx.data_ref::<BindingData>(this)?.scope;
        Ok((s, cx.implicit_parameters(scope).into_iter().find(|p| p.0 == s).map(|p| p.1)))
    }
    /// Value of a numbered parameter, or `it`, of the innermost block.
    ///
    ///     proc { it; binding.implicit_parameter_get(:it) }.call(3)   #=> 3
    #[method("implicit_parameter_get")]
    fn implicit_parameter_get(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        match implicit(cx, this, name)? {
            (_, Some(v)) => Ok(v),
            (s, None) => {
                let shown = cx.any_to_s(this);
                cx.name_error(format!("implicit parameter '{}' is not defined for {shown}", s.name()), s, this)
            }
        }
    }
    /// Whether the innermost block has that numbered parameter, or `it`.
    ///
    ///     proc { it; %i[it _1].map { |n| binding.implicit_parameter_defined?(n) } }.call   #=> [false, false]
    #[method("implicit_parameter_defined?")]
    fn implicit_parameter_defined(cx: &mut Cx, this: Value, name: Value) -> Result<bool> {
        Ok(implicit(cx, this, name)?.1.is_some())
    }
    /// `self` of the place.
    ///
    ///     5.instance_eval { binding.receiver }   #=> 5
    #[method("receiver")]
    fn receiver(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(cx.data_ref::<BindingData>(this)?.self_)
    }
    /// [file, line] of the place.
    #[method("source_location")]
    fn source_location(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = cx.data_ref::<BindingData>(this)?;
        let (file, line) = (d.file.clone(), d.line);
        let f = cx.str(&file);
        Ok(cx.array(&[f, Value::fixnum(line as i32 as i64)]))
    }
    /// Evaluates a text in the place.
    ///
    ///     x = 3; binding.eval("x + 1")   #=> 4
    #[method("eval", min = 1, max = 3)]
    fn eval(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let source = Source::from_args(cx, args.get(0), args.get(1), args.get(2))?;
        eval_in(cx, this, &source)
    }
    /// A copy: variables that it defines are its own.
    #[method("clone")]
    fn clone(cx: &mut Cx, this: Value, kw: Kwargs) -> Result<Value> {
        let copy = dup(cx, this)?;
        crate::object::copy::copy_singleton(cx, this, copy)?;
        let freeze = kw.get(sym::freeze).unwrap_or(Value::NIL);
        if freeze == Value::TRUE || freeze.is_nil() && this.is_frozen() {
            copy.make_frozen();
        }
        Ok(copy)
    }
    /// A copy that is not frozen.
    #[method("dup")]
    fn dup(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = cx.data_ref::<BindingData>(this)?;
        let copy = BindingData { scope: d.scope, self_: d.self_, me: d.me, file: d.file.clone(), line: d.line, own: None };
        let copy = cx.data(ids::BINDING, copy);
        cx.ivar_copy(this, copy);
        crate::gc::copy_finalizers(cx, this, copy)?;
        Ok(copy)
    }
}

/// Evaluates a text in a Binding; its new variables stay there.
pub fn eval_in(cx: &mut Cx, this: Value, source: &Source) -> Result<Value> {
    let d = cx.data_ref::<BindingData>(this)?;
    let (scope, self_, me) = (d.scope, d.self_, d.me);
    let code = code_for(cx, source, scope)?;
    // Variables that the text defines become the Binding's before it runs.
    let new = variables_of(&code);
    if new.is_empty() {
        return cx.run_eval(&code, scope, self_, me).0;
    }
    // The next one in a fresh Binding of this place finds it.
    cx.keep_eval(&code, scope);
    add_variables(cx, this, &new)?;
    let scope = cx.data_ref::<BindingData>(this)?.scope;
    Ok(eval_source(cx, source, scope, self_, me)?.0)
}
