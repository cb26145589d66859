//! eval, binding, block_given?, names of variables and of the running method.
//!
//! An eval's text is compiled once per text and place: the place (Code state of the frame) fixes names and slots of the variables around.

use crate::proc::binding::{self, BindingData};
use zakuro_compiler::{EvalScopes, Options};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::scope::Scope;
use zakuro_vm::vm::FastMap;
use zakuro_vm::*;
use std::sync::{Arc, Weak};
use zakuro_base::HashSeed;
use zakuro_bytecode::Code;

/// A text to evaluate.
pub struct Source {
    text: Vec<u8>,
    file: String,
    /// As a signed number: lines may be counted from below zero.
    line: u32,
    /// Encoding (id) of the text, unless a magic comment in it names another one.
    encoding: u8,
}

impl Source {
    pub fn new(text: Vec<u8>, file: String, line: u32) -> Source {
        Source { text, file, line, encoding: string::UTF8 }
    }
    /// From the arguments (string, file = nil, line = 1).
    pub fn from_args(cx: &mut Cx, text: Option<Value>, file: Option<Value>, line: Option<Value>) -> Result<Source> {
        let text = cx.to_str(text.unwrap_or(Value::NIL))?;
        let encoding = text.encoding();
        if !zakuro_core_text::string::util::enc(text).is_ascii_compatible() {
            return cx.arg_error("invalid source encoding");
        }
        let text = text.to_vec();
        let file = match file {
            None | Some(Value::NIL) => match cx.here() {
                Some((f, l)) => format!("(eval at {f}:{l})"),
                None => "(eval)".into(),
            },
            Some(f) => cx.text_of(f)?,
        };
        let line = match line {
            None => 1,
            Some(l) => zakuro_core_numbers::numeric::integer_misc::to_int32(cx, l)? as u32,
        };
        Ok(Source { text, file, line, encoding })
    }
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    /// Hash of the text and of the file's name, which the Code has.
    source: [u64; 2],
    line: u32,
    encoding: u8,
    /// `$VERBOSE`, as bits: what is warned of is warned of each time.
    level: u64,
    /// Address of the Code state of the place, and the unit of that: addresses of evals' states are used again.
    place: (usize, u32),
    /// Of `coverage`, when branches in evals are counted.
    session: u32,
}

/// Evals that are kept compiled; past it all are forgotten.
const MOST_EVALS: usize = 512;

/// Compiled evals of a VM. The collector decides how long a Code lives: what was freed with its unit must not be kept here, where nobody counts it.
#[derive(Trace, Default)]
struct Evals {
    #[untraced]
    known: FastMap<Key, Weak<Code>>,
    /// Full collections at the last look for what has died.
    seen: u64,
}
impl VmState for Evals {}

impl Evals {
    fn add(&mut self, key: Key, code: &Arc<Code>, collections: u64) {
        if std::mem::replace(&mut self.seen, collections) != collections {
            self.known.retain(|_, c| c.strong_count() != 0);
        }
        if self.known.len() >= MOST_EVALS {
            self.known.clear();
        }
        self.known.insert(key, Arc::downgrade(code));
    }
}

/// SyntaxError of a source that could not be compiled.
pub fn syntax_error<T>(cx: &mut Cx, e: &zakuro_compiler::SyntaxError) -> Result<T> {
    let exc = cx.exception(if e.argument { ids::ARGUMENT_ERROR } else { ids::SYNTAX_ERROR }, &e.message());
    if e.argument {
        return cx.raise_value(exc);
    }
    let path = cx.str(&e.file);
    cx.ivar_set_raw(exc, Sym::intern("__path"), path);
    cx.raise_value(exc)
}

/// Shows the compiler's warnings, when warnings are on.
pub fn show_warnings(cx: &mut Cx, file: &str, warnings: &[zakuro_compiler::Warning]) -> Result<()> {
    let level = cx.global_get(sym::verbose)?;
    for w in warnings.iter().filter(|w| shows(level, w)) {
        zakuro_core_base::exception::warning::emit(cx, &format!("{file}:{}: warning: {}\n", w.line as i32, w.message))?;
    }
    Ok(())
}

/// Whether a value of `$VERBOSE` lets a warning pass.
fn shows(level: Value, w: &zakuro_compiler::Warning) -> bool {
    level.truthy() || (!w.verbose && !level.is_nil())
}

/// `$VERBOSE` is true.
pub fn is_verbose(cx: &Cx) -> bool {
    cx.is_verbose()
}

/// The Code of a text for a place.
pub fn code_for(cx: &mut Cx, source: &Source, scope: Scope) -> Result<Arc<Code>> {
    // SAFETY: the state of a scope in use is alive.
    let unit = if scope.code.is_null() { 0 } else { unsafe { (*scope.code).unit.get() } };
    let place = (scope.code as usize, unit);
    let seed = HashSeed::of_process();
    let level = cx.global_get(sym::verbose)?;
    let key = Key { source: [seed.bytes(&source.text), seed.bytes(source.file.as_bytes())], line: source.line, encoding: source.encoding, level: level.bits(), place, session: cx.eval_session() };
    if let Some(c) = cx.state::<Evals>().known.get(&key).and_then(Weak::upgrade)
        && *c.source == *source.text
        && *c.file == *source.file
        && cx.has_code_state(&c)
    {
        return Ok(c);
    }
    let seen = cx.seen_envs(scope);
    let [backref, lastline] = cx.scope_specials(scope);
    let scopes = EvalScopes {
        envs: seen.iter().map(|e| e.names()).collect(),
        in_method: cx.scope_in_method(scope),
        backref,
        lastline,
        params: cx.scope_params(scope),
    };
    let options = Options {
        file: &source.file,
        line: source.line,
        eval: Some(&scopes),
        encoding: Some(source.encoding),
        frozen_string_literal: cx.options.frozen_string_literal,
        literal_places: cx.options.literal_places,
        keep_locals: cx.options.keep_locals,
        warn: true,
        verbose: level == Value::TRUE,
        branches: cx.eval_wants_branches(&source.file),
        ..Default::default()
    };
    match cx.compile(&Arc::from(&*source.text), &options)? {
        Ok(c) => {
            show_warnings(cx, &source.file, &c.warnings)?;
            if options.branches {
                cx.note_branches(&source.file, &c, true);
            }
            if !c.warnings.iter().any(|w| shows(level, w)) {
                let collections = cx.heap.stats().full_collections;
                cx.state::<Evals>().add(key, &c.code, collections);
            }
            if cx.tracing & interp::trace::events::SCRIPT_COMPILED != 0 {
                let text = cx.str_bytes(&source.text, source.encoding);
                compiled(cx, &c.code, text)?;
            }
            Ok(c.code)
        }
        Err(e) => syntax_error(cx, &e),
    }
}

/// Tells traces that a source was compiled; `text`: of an eval, else nil. The event's value is the InstructionSequence with it.
pub fn compiled(cx: &mut Cx, code: &Arc<Code>, text: Value) -> Result<()> {
    let kind = interp::trace::events::SCRIPT_COMPILED;
    if cx.tracing & kind == 0 {
        return Ok(());
    }
    let iseq = crate::iseq::make(cx, code.clone());
    let value = cx.array(&[iseq, text]);
    // The builtin that had it compiled: `eval`, `require`.
    let (mut self_, mut me) = (None, None);
    if cx.fp >= cx.stacks.frames {
        // SAFETY: the innermost frame; its receiver stands in its first register.
        let (receiver, method) = unsafe { (*(*cx.fp).regs, (*cx.fp).me) };
        if Ref::<MethodCell>::from_value(method).is_some_and(|m| m.method_kind() == MethodKind::Native) {
            (self_, me) = (Some(receiver), Some(method));
        }
    }
    cx.trace_event(kind, self_, me, value)
}

/// Names of the variables that an eval's text defines.
pub fn variables_of(code: &Code) -> Vec<Sym> {
    code.locals.iter().map(|l| l.name).filter(|n| scope::is_visible_local(*n)).collect()
}

/// Compiles and runs a text in a scope. Also returns the scope with the variables that the text defined.
pub fn eval_source(cx: &mut Cx, source: &Source, scope: Scope, self_: Value, me: Value) -> Result<(Value, Scope)> {
    let code = code_for(cx, source, scope)?;
    let (result, inner) = cx.run_eval(&code, scope, self_, me);
    Ok((result?, inner))
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// Evaluates a text here, or in a Binding.
    ///
    ///     x = 2; eval("x + 1")   #=> 3
    #[method("eval", module_function, min = 1, max = 4)]
    fn eval(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let source = Source::from_args(cx, args.get(0), args.get(2), args.get(3))?;
        match args.get(1) {
            None | Some(Value::NIL) => {
                let Some(f) = cx.ruby_frame() else { return cx.raise(ids::RUNTIME_ERROR, "no frame to evaluate in") };
                let scope = cx.frame_scope(f);
                // SAFETY: a live Ruby frame.
                let me = unsafe { (*f).me };
                // `private` and the like in the text end with it.
                let visibility = cx.scope_default(me);
                let around = cx.scope_refinements(me);
                let result = eval_source(cx, &source, scope, this, me);
                cx.restore_scope_refinements(me, around);
                cx.restore_scope_default(me, visibility);
                Ok(result?.0)
            }
            Some(b) if cx.is_data::<BindingData>(b) => binding::eval_in(cx, b, &source),
            Some(b) => {
                let c = cx.class_name_of(b);
                cx.type_error(format!("wrong argument type {c} (expected binding)"))
            }
        }
    }
    /// The variables, `self` and method of the place of the call.
    ///
    ///     x = 7; binding.local_variable_get(:x)   #=> 7
    #[method("binding", module_function)]
    fn binding(cx: &mut Cx, _this: Value) -> Result<Value> {
        binding::of_caller(cx)
    }
    /// Whether the running method got a block.
    ///
    ///     def blk = block_given?; [blk, blk { }]   #=> [false, true]
    #[method("block_given?", module_function)]
    fn block_given(cx: &Cx, _this: Value) -> bool {
        // SAFETY: a live frame.
        cx.method_frame().is_some_and(|f| unsafe { (*f).block.is_some() })
    }
    /// The same as `block_given?`; deprecated.
    #[method("iterator?", module_function)]
    fn is_iterator(cx: &mut Cx, this: Value) -> Result<bool> {
        cx.warn_category("iterator? is deprecated; use block_given? instead", "deprecated")?;
        Ok(block_given(cx, this))
    }
    /// Names of the local variables here.
    ///
    ///     proc { a = 1; local_variables }.call.first   #=> :a
    #[method("local_variables", module_function)]
    fn local_variables(cx: &Cx, _this: Value) -> Value {
        let names = match cx.ruby_frame() {
            Some(f) => {
                let scope = cx.frame_scope(f);
                binding::visible_names(cx, scope)
            }
            None => Vec::new(),
        };
        cx.sym_array(&names)
    }
    /// Names of the global variables.
    ///
    ///     global_variables.include?(:$0)   #=> true
    #[method("global_variables", module_function)]
    fn global_variables(cx: &mut Cx, _this: Value) -> Value {
        let mut names: Vec<Sym> = cx.global_table_names();
        names.extend(library::library().global_names());
        names.extend(cx.global_aliases.keys());
        names.extend(["$&", "$`", "$'", "$+"].map(Sym::intern));
        // Groups of the last match that matched.
        let last = cx.last_match();
        if let Some(m) = zakuro_core_text::regexp::engine::match_of(&last) {
            let groups = m.captures.iter().enumerate().skip(1).filter(|g| g.1.is_some());
            names.extend(groups.map(|(n, _)| Sym::intern(&format!("${n}"))));
        }
        names.sort_unstable_by_key(|n| n.bytes());
        names.dedup();
        cx.sym_array(&names)
    }
    /// Name that the running method was defined by, nil outside of methods.
    ///
    ///     def whoami = __method__; whoami   #=> :whoami
    #[method("__method__", module_function)]
    fn method_name(cx: &Cx, _this: Value) -> Value {
        running(cx).map_or(Value::NIL, |m| Value::sym(m.name))
    }
    /// Name that the running method was called by.
    ///
    ///     def orig = __callee__; alias other orig; other   #=> :other
    #[method("__callee__", module_function)]
    fn callee(cx: &Cx, _this: Value) -> Value {
        running(cx).map_or(Value::NIL, |m| Value::sym(m.called))
    }
    /// Method around the caller.
    fn running(cx: &Cx) -> Option<Ref<MethodCell>> {
        let f = cx.ruby_frame()?;
        // SAFETY: a live frame.
        let m: Ref<MethodCell> = Ref::from_value(unsafe { (*f).me })?;
        (m.method_kind() != MethodKind::Frame).then_some(m)
    }
    /// Directory of the running file, nil for texts.
    #[method("__dir__", module_function)]
    fn dir(cx: &mut Cx, _this: Value) -> Value {
        // An eval with a file name of its own: that name is all there is.
        if let Some(f) = cx.ruby_frame()
            && let Some((file, _)) = cx.here()
            // SAFETY: a live Ruby frame.
            && unsafe { (*f).code.as_ref() }.is_some_and(|c| c.code.kind == zakuro_bytecode::CodeKind::Eval)
            && !file.starts_with("(eval")
        {
            let dir = match file.rsplit_once('/') {
                Some(("", _)) => "/",
                Some((d, _)) => d,
                None => ".",
            };
            return cx.str(dir);
        }
        match cx.here() {
            Some((f, _)) if !f.starts_with("(eval") && &*f != "-e" && &*f != "-" => {
                let full = load::path_of_code(cx, f.as_bytes());
                match full.parent() {
                    Some(d) => cx.str(&d.to_string_lossy()),
                    None => Value::NIL,
                }
            }
            _ => Value::NIL,
        }
    }
}

use super::load;
