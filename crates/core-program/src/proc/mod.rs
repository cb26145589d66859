//! Proc and Binding.

pub mod binding;

use crate::method;
use zakuro_macros::ruby_class;
use zakuro_vm::scope::Scope;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[proc::METHODS, kernel::METHODS, binding::TABLE];

pub fn setup(_cx: &mut Cx) {}

type P = Ref<ProcCell>;

/// Whether the block is written behind the call that runs, and not passed on by it.
fn is_literal(cx: &Cx, block: Block) -> bool {
    // SAFETY: a record is valid while its block may be used; its home is a frame.
    block.record().is_some_and(|r| cx.ruby_frame() == Some(unsafe { (*r.add(1)).bits() } as *mut zakuro_vm::frame::Frame))
}

/// A block of a call as a new Proc; one that is a Proc already is returned as it is. `proc {}` can't be left by `break`.
fn block_proc(cx: &mut Cx, block: Block, lambda: bool) -> P {
    let fresh = is_literal(cx, block);
    let p = cx.block_to_proc(block);
    if fresh {
        p.as_value().set_flags(if lambda { LAMBDA } else { ORPHAN });
    }
    p
}

/// Whether it is a block of the core library's own Ruby code (a curried or composed Proc): to programs that is like one of native code.
fn is_internal(cx: &Cx, p: P) -> bool {
    p.proc_kind() == ProcKind::Block && cx.block_code(Block(p.as_value().bits())).is_some_and(|c| c.file.starts_with("<internal"))
}

/// Parameters as (kind, name); required ones of a non-lambda are optional.
pub fn parameter_list(cx: &mut Cx, p: P, lambda: bool) -> Vec<(&'static str, Option<Sym>)> {
    match p.proc_kind() {
        ProcKind::Block if is_internal(cx, p) => vec![("rest", None)],
        ProcKind::Block => {
            let Some(code) = cx.block_code(Block(p.as_value().bits())) else { return Vec::new() };
            let list = code.params.list.iter();
            list.map(|(k, n)| if !lambda && *k == "req" { ("opt", *n) } else { (*k, *n) }).collect()
        }
        ProcKind::Symbol => vec![(if lambda { "req" } else { "opt" }, None), ("rest", None)],
        ProcKind::Method => match Ref::<MethodObjCell>::from_value(p.extra) {
            Some(o) => method::parameter_list(cx, Ref::of(o.method)),
            None => Vec::new(),
        },
        // Hash#to_proc
        ProcKind::Native if p.extra.is_kind(Kind::Hash) => vec![("req", None)],
        ProcKind::Native => vec![("rest", None)],
        ProcKind::Wrapped => match Ref::<ProcCell>::from_value(p.extra) {
            Some(q) => parameter_list(cx, q, lambda),
            None => Vec::new(),
        },
    }
}

/// `Proc#arity`
pub fn arity(cx: &mut Cx, p: P) -> i64 {
    match p.proc_kind() {
        ProcKind::Native if p.extra.is_kind(Kind::Hash) => 1,
        ProcKind::Block => {
            let Some(code) = cx.block_code(Block(p.as_value().bits())) else { return -1 };
            let q = &code.params;
            if p.is_lambda() {
                return q.arity();
            }
            // A proc ignores what is missing.
            let least = (q.required + q.post) as i64 + q.keywords.iter().any(|k| k.required) as i64;
            if q.rest { -least - 1 } else { least }
        }
        ProcKind::Symbol => -2,
        ProcKind::Method => match Ref::<MethodObjCell>::from_value(p.extra) {
            Some(o) => cx.method_arity(Ref::of(o.method)),
            None => -1,
        },
        ProcKind::Native => -1,
        ProcKind::Wrapped => match Ref::<ProcCell>::from_value(p.extra) {
            Some(q) => arity(cx, q),
            None => -1,
        },
    }
}

fn same(a: P, b: P) -> bool {
    a == b
        || a.header.aux == b.header.aux
            && a.is_lambda() == b.is_lambda()
            && a.code == b.code
            && a.env == b.env
            && a.self_ == b.self_
            && match (Ref::<MethodObjCell>::from_value(a.extra), Ref::<MethodObjCell>::from_value(b.extra)) {
                (Some(x), Some(y)) => x.receiver == y.receiver && x.method == y.method,
                // Two blocks of one literal are different ones, also where they see the same variables: copies know what they are copies of.
                _ => ProcCell::origin(a) == ProcCell::origin(b),
            }
}

/// Hash code: of what [`same`] compares that is the same in a fork, too (addresses of code and variables are not).
fn code_of(cx: &Cx, this: P) -> u64 {
    let origin = ProcCell::origin(this);
    let of = match Ref::<MethodObjCell>::from_value(origin) {
        Some(o) => crate::method::code_of(cx, Some(o.receiver), o.method),
        None => cx.identity_hash(origin),
    };
    equality::combine(&[u64::from(this.header.aux), u64::from(this.is_lambda()), of])
}

#[ruby_class(ids::PROC)]
mod proc {
    use super::*;

    /// A Proc of the block.
    ///
    ///     Proc.new { |a| a }.call(1)   #=> 1
    #[method("new", singleton)]
    fn new(cx: &mut Cx, this: ClassId, args: Args) -> Result<Value> {
        if args.block.is_none() {
            return cx.arg_error("tried to create Proc object without a block");
        }
        let mut p = block_proc(cx, args.block, false);
        // `MyProc.new(&a_my_proc)` is that one.
        if cx.class_of(p.as_value()) != this {
            let mut header = p.header;
            header.shape = cx.root_shape(this);
            header.flags &= LAMBDA | ORPHAN;
            p = alloc_cell(&cx.heap, ProcCell { header, code: p.code, env: p.env, self_: p.self_, me: p.me, extra: ProcCell::origin(p) });
        }
        let m = cx.find_method(this, sym::initialize);
        match m {
            Some(m) if m.method_kind() != MethodKind::Native => {
                cx.call_method(m, p.as_value(), sym::initialize, args.all(), args.kw, args.block)?;
            }
            _ if !args.is_empty() => return cx.arity_error(args.len(), 0, Some(0)),
            _ => {}
        }
        Ok(p.as_value())
    }
    /// Calls the block with the arguments.
    ///
    ///     proc { |a, b| [a, b] }.call([1, 2])     #=> [1, 2]
    ///     lambda { |a| a + 1 }.(2)                #=> 3
    ///     lambda { |a| a + 1 }[2]                 #=> 3
    #[method("call", "()", "yield", "===", "[]")]
    fn call(cx: &mut Cx, this: P, args: Args) -> Result<Value> {
        cx.call_proc(this, args.all(), args.kw, args.block)
    }
    /// Itself.
    #[method("to_proc")]
    fn to_proc(this: Value) -> Value {
        this
    }
    /// Whether arguments are checked and `return` returns from the block, as in a method.
    ///
    ///     [proc { }.lambda?, lambda { }.lambda?]   #=> [false, true]
    #[method("lambda?")]
    fn is_lambda(this: P) -> bool {
        this.is_lambda()
    }
    /// Number of arguments; -n-1 when n are required and more are possible.
    ///
    ///     [proc { |a| }, proc { |a, b = 1| }, lambda { |*a| }].map(&:arity)   #=> [1, 1, -1]
    #[method("arity")]
    fn arity(cx: &mut Cx, this: P) -> i64 {
        super::arity(cx, this)
    }
    /// Kinds and names of the parameters; with `lambda: true` as if it was a lambda.
    ///
    ///     proc { |a, *b| }.parameters                 #=> [[:opt, :a], [:rest, :b]]
    ///     proc { |a| }.parameters(lambda: true)       #=> [[:req, :a]]
    #[method("parameters")]
    fn parameters(cx: &mut Cx, this: P, kw: Kwargs) -> Result<Value> {
        kw.only(cx, &[sym::lambda])?;
        let lambda = match kw.get(sym::lambda) {
            None | Some(Value::NIL) => this.is_lambda(),
            Some(v) => v.truthy(),
        };
        let list = parameter_list(cx, this, lambda);
        Ok(method::parameters_value(cx, &list))
    }
    /// [file, line] of the block, nil for builtins.
    #[method("source_location")]
    fn source_location(cx: &mut Cx, this: P) -> Value {
        if this.proc_kind() == ProcKind::Method
            && let Some(o) = Ref::<MethodObjCell>::from_value(this.extra)
        {
            return method::source_location(cx, Ref::of(o.method));
        }
        if is_internal(cx, this) {
            return Value::NIL;
        }
        let code = cx.block_code(Block(this.as_value().bits()));
        method::location_value(cx, code)
    }
    /// The variables and `self` that the block sees.
    ///
    ///     x = 5; proc { x }.binding.local_variable_get(:x)   #=> 5
    #[method("binding")]
    fn binding(cx: &mut Cx, this: P) -> Result<Value> {
        match cx.proc_scope(this) {
            Some(_) if is_internal(cx, this) => cx.arg_error("Can't create Binding from C level Proc"),
            Some(s) => {
                // Its place is where the block begins.
                let b = match cx.block_code(Block(this.as_value().bits())) {
                    Some(c) => binding::make_at(cx, s, this.self_, this.me, c.file.clone(), c.line),
                    None => binding::make(cx, s, this.self_, this.me),
                };
                binding::add_live_variables(cx, b, this)?;
                Ok(b)
            }
            // No variables, only the receiver, in the method's place.
            None if this.proc_kind() == ProcKind::Method
                && let Some(code) = Ref::<MethodCell>::from_value(this.me).and_then(Cx::method_code) =>
            {
                Ok(binding::make_at(cx, Scope { code: std::ptr::null(), env: Value::NIL }, this.self_, this.me, code.file.clone(), code.line))
            }
            None => cx.arg_error("Can't create Binding from C level Proc"),
        }
    }
    /// Marks a Proc with a rest parameter: keywords in it are passed on as keywords when it is splatted. Counts for all Procs of the block.
    ///
    ///     Hash.ruby2_keywords_hash?(proc { |*a| a[0] }.ruby2_keywords.call(k: 1))   #=> true
    #[method("ruby2_keywords")]
    fn ruby2_keywords(cx: &mut Cx, this: P) -> Result<Value> {
        crate::object::copy::check_not_frozen(cx, this.as_value())?;
        match cx.block_code(Block(this.as_value().bits())) {
            Some(code) => {
                if crate::module::may_keep_keywords(cx, code, "proc", "proc")? {
                    cx.keep_keywords(code);
                }
            }
            None => cx.warn_here("Skipping set of ruby2_keywords flag for proc (proc not defined in Ruby)")?,
        }
        Ok(this.as_value())
    }
    /// Whether both were made from the same block in the same place.
    ///
    ///     a = proc { 1 }; [a == a.dup, a == proc { 1 }]   #=> [true, false]
    #[method("==", "eql?")]
    fn eq(cx: &Cx, this: P, other: Value) -> bool {
        P::from_value(other).is_some_and(|o| same(this, o)) && cx.class_of(this.as_value()) == cx.class_of(other)
    }
    /// A number for Hash lookup.
    #[method("hash")]
    fn hash(cx: &Cx, this: P) -> Value {
        cx.shown_hash(code_of(cx, this))
    }
    /// Address and place as text.
    ///
    ///     lambda(&:upcase).inspect.sub(/0x\h+/, "0x0")   #=> "#<Proc:0x0(&:upcase) (lambda)>"
    #[method("inspect", "to_s")]
    fn inspect(cx: &mut Cx, this: P) -> Result<Value> {
        let class = cx.class_shown(this.as_value());
        let mut out = format!("#<{class}:0x{:016x}", this.as_value().bits());
        match this.proc_kind() {
            ProcKind::Symbol => {
                let s = cx.inspect_text(this.extra)?;
                out.push_str(&format!("(&{s})"));
            }
            _ => {
                if let Some(c) = cx.block_code(Block(this.as_value().bits()))
                    && !is_internal(cx, this)
                {
                    out.push_str(&format!(" {}:{}", c.file, c.line));
                }
            }
        }
        if this.is_lambda() {
            out.push_str(" (lambda)");
        }
        out.push('>');
        // Binary, as CRuby's, unless the class has a name that is none of ASCII.
        let encoding = if class.is_ascii() { string::BINARY } else { string::UTF8 };
        Ok(cx.str_bytes(out.as_bytes(), encoding))
    }
}

#[ruby_class(ids::KERNEL)]
mod kernel {
    use super::*;

    /// The block as a Proc.
    ///
    ///     proc { |a| a }.call(1, 2)   #=> 1
    #[method("proc", module_function)]
    fn proc_(cx: &mut Cx, _this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.arg_error("tried to create Proc object without a block");
        }
        Ok(block_proc(cx, block, false).as_value())
    }
    /// The block as a lambda.
    ///
    ///     (lambda { |a| a }.call rescue $!.message)   #=> "wrong number of arguments (given 0, expected 1)"
    #[method("lambda", module_function)]
    fn lambda(cx: &mut Cx, _this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.arg_error("tried to create Proc object without a block");
        }
        if !is_literal(cx, block) && !block.proc().is_some_and(|p| p.is_lambda()) {
            return cx.arg_error("the lambda method requires a literal block");
        }
        Ok(block_proc(cx, block, true).as_value())
    }
}
