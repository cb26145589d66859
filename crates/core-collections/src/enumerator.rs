//! Enumerator: a receiver, a method and arguments that `each` calls. External iteration is in external.rs; Lazy, Chain and
//! ArithmeticSequence are written in Ruby (prelude/enumerator.rb); here stand the parts that run once per element, and what other builtins need to make enumerators.
//!
//! The state is in instance variables named `@__...`, so that the prelude and Rust share it.

use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

mod external;

pub static TABLES: &[&[MethodRow]] = &[methods::METHODS, lazy::METHODS, kernel::METHODS, external::methods::METHODS, generator::METHODS, yielder::METHODS, stop_iteration::METHODS];

pub fn setup(_cx: &mut Cx) {}

/// Size of an enumerator: `f(cx, receiver, arguments)`.
pub type SizeFn = fn(&mut Cx, Value, &[Value]) -> Result<Value>;

/// A native size function as an object.
#[derive(Trace)]
struct NativeSize(#[untraced] SizeFn);
impl NativeData for NativeSize {
    fn refers(&self) -> bool {
        false
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(NativeSize(self.0)))
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        out.number(zakuro_vm::saved::place_of_function(self.0 as usize)?);
        Some("size of an Enumerator")
    }
}
zakuro_vm::saved_loader!("size of an Enumerator", |r| {
    let address = zakuro_vm::saved::function_at(r.number()?)?;
    r.ends(0)?;
    // SAFETY: a place in the instructions of this very binary, whose identity the file was checked for, and written there for such a function. (What else a file may say is native
    // code that a stranger wrote, as all of an image is.)
    let size = unsafe { std::mem::transmute::<usize, SizeFn>(address) };
    Some(rebuild(move |_, _| Some(Box::new(NativeSize(size)))))
});

/// Making enumerators from builtins that were called without a block.
pub trait EnumeratorExt {
    /// Enumerator over `recv.name(*args)` whose size is unknown (nil).
    fn enumerator(&mut self, recv: Value, name: &str, args: &[Value]) -> Result<Value>;
    /// The same with a function that computes its size when asked.
    fn sized_enumerator(&mut self, recv: Value, name: &str, args: &[Value], size: SizeFn) -> Result<Value>;
}

impl EnumeratorExt for Cx {
    fn enumerator(&mut self, recv: Value, name: &str, args: &[Value]) -> Result<Value> {
        let (class, name) = (class_for(self, recv), name_called(self, name));
        Ok(make(self, class, recv, name, args, Value::NIL, Value::NIL))
    }
    fn sized_enumerator(&mut self, recv: Value, name: &str, args: &[Value], size: SizeFn) -> Result<Value> {
        let size = native_size(self, size);
        let (class, name) = (class_for(self, recv), name_called(self, name));
        Ok(make(self, class, recv, name, args, Value::NIL, size))
    }
}

/// The objects that stand for sizes: one for each way to tell a size.
#[derive(Trace, Default)]
struct Sizes(Vec<(usize, Value)>);
impl VmState for Sizes {}

fn native_size(cx: &mut Cx, size: SizeFn) -> Value {
    let way = size as usize;
    if let Some((_, known)) = cx.state::<Sizes>().0.iter().find(|(w, _)| *w == way) {
        return *known;
    }
    let made = cx.data(ids::OBJECT, NativeSize(size));
    cx.state::<Sizes>().0.push((way, made));
    made
}

/// Enumerators over a Lazy are lazy.
fn class_for(cx: &mut Cx, recv: Value) -> ClassId {
    if recv.is_kind(Kind::Object) && cx.is_a(recv, ids::LAZY) { ids::LAZY } else { ids::ENUMERATOR }
}

/// The name under which the running builtin was called, when it is an alias of `name`.
fn name_called(cx: &mut Cx, name: &str) -> Sym {
    let m = cx.current_method();
    match Cx::native_row(m) {
        Some(row) if row.names.len() > 1 && row.names.contains(&name) => m.name,
        _ => Sym::intern(name),
    }
}

/// The usual size: `recv.size`.
pub fn size_of_receiver(cx: &mut Cx, recv: Value, _args: &[Value]) -> Result<Value> {
    match Ref::<ArrayCell>::from_value(recv) {
        Some(a) => Ok(Value::fixnum(a.len() as i64)),
        None => Ok(cx.call_if_responds(recv, sym::size, &[])?.unwrap_or(Value::NIL)),
    }
}
/// Size of endless loops.
pub fn infinite_size(cx: &mut Cx, _recv: Value, _args: &[Value]) -> Result<Value> {
    Ok(cx.float(f64::INFINITY))
}

fn make(cx: &mut Cx, class: ClassId, recv: Value, name: Sym, args: &[Value], kw: Value, size: Value) -> Value {
    let args = cx.array(args);
    cx.new_object_with(
        class,
        &[(sym::enum_receiver, recv), (sym::enum_method, Value::sym(name)), (sym::enum_args, args), (sym::enum_kw, kw), (sym::enum_size, size)],
    )
}

/// An Enumerator::ArithmeticSequence of begin, end, step and exclude_end, as `recv.name(*args, **kw)` gave it.
pub fn arithmetic(cx: &mut Cx, recv: Value, name: &str, args: &[Value], kw: Value, (begin, end, step, exclusive): (Value, Value, Value, bool)) -> Value {
    let args = cx.array(args);
    let [begin_name, end_name, step_name, exclude_name] = ["@__begin", "@__end", "@__step", "@__exclude"].map(Sym::intern);
    cx.new_object_with(
        ids::ARITH_SEQ,
        &[
            (sym::enum_receiver, recv),
            (sym::enum_method, Value::sym(Sym::intern(name))),
            (sym::enum_args, args),
            (sym::enum_kw, kw),
            (sym::enum_size, Value::NIL),
            (begin_name, begin),
            (end_name, end),
            (step_name, step),
            (exclude_name, Value::bool(exclusive)),
        ],
    )
}

/// An Enumerator::Chain of these, as its `initialize` makes it; lazy with something lazy in it.
fn chain(cx: &mut Cx, enums: &[Value]) -> Result<Value> {
    let [list, args] = [cx.array(enums), cx.array(&[])];
    cx.freeze_cell(list);
    let chain = cx.new_object_with(
        ids::CHAIN,
        &[
            (Sym::intern("@__enums"), list),
            (sym::enum_receiver, Value::NIL),
            (sym::enum_method, Value::sym(sym::each)),
            (sym::enum_args, args),
            (sym::enum_kw, Value::NIL),
            (sym::enum_size, Value::NIL),
        ],
    );
    cx.ivar_set_raw(chain, sym::enum_receiver, chain);
    if enums.iter().any(|e| cx.is_a(*e, ids::LAZY)) { cx.call(chain, Sym::intern("lazy"), &[]) } else { Ok(chain) }
}

/// Values that were yielded together, as one: nil, the value, or an Array.
pub fn pack(cx: &mut Cx, values: &[Value]) -> Value {
    match values {
        [] => Value::NIL,
        [v] => *v,
        more => cx.array(more),
    }
}

struct Parts {
    recv: Value,
    method: Sym,
    args: Ref<ArrayCell>,
    kw: Value,
    size: Value,
}

fn parts_of(cx: &mut Cx, e: Value) -> Option<Parts> {
    // As all of them are made but Chains and Products.
    if let Some([recv, method, args, kw, size]) = cx.ivars_from_first(e, sym::enum_receiver, sym::enum_size) {
        return Some(Parts { recv, method: method.as_sym()?, args: Ref::from_value(args)?, kw, size });
    }
    let recv = cx.ivar_lookup(e, sym::enum_receiver)?;
    let method = cx.ivar_get(e, sym::enum_method).as_sym()?;
    let args = Ref::from_value(cx.ivar_get(e, sym::enum_args))?;
    Some(Parts { recv, method, args, kw: cx.ivar_get(e, sym::enum_kw), size: cx.ivar_get(e, sym::enum_size) })
}

fn parts(cx: &mut Cx, e: Value) -> Result<Parts> {
    match parts_of(cx, e) {
        Some(p) => Ok(p),
        None => cx.arg_error("uninitialized enumerator"),
    }
}

/// What an Enumerator calls, and by which name, if it is one as it is made without a block and gives the method no arguments.
pub fn plain(cx: &mut Cx, e: Value) -> Option<(Value, Sym)> {
    if !e.is_kind(Kind::Object) || cx.class_of(e) != ids::ENUMERATOR || !cx.is_builtin(e, sym::each, ids::ENUMERATOR) {
        return None;
    }
    let p = parts_of(cx, e)?;
    (p.args.is_empty() && p.kw.is_nil()).then_some((p.recv, p.method))
}

/// Runs the enumeration with a block.
pub fn iterate(cx: &mut Cx, e: Value, block: Block) -> Result<Value> {
    let p = parts(cx, e)?;
    let mut argv = RootedVec::of(cx, p.args);
    if !p.kw.is_nil() {
        argv.push(p.kw);
    }
    cx.call_full(p.recv, p.method, &argv, !p.kw.is_nil(), block)
}

fn iterate_native(cx: &mut Cx, e: Value, f: fn(&mut Cx, Value, Args) -> Result<Value>, data: &[Value]) -> Result<Value> {
    let data = cx.array(data);
    let p = cx.native_proc(f, data, false);
    // Through `each`, which subclasses (Lazy, Chain, a user's own) define anew.
    cx.call_block(e, sym::each, &[], Block::from_value(p))
}

fn with_index_step(cx: &mut Cx, data: Value, args: Args) -> Result<Value> {
    let state: Ref<ArrayCell> = Ref::of(data);
    let (block, index) = (state.get(0).unwrap_or(Value::NIL), state.get(1).unwrap_or(Value::NIL));
    let next = match index.as_fixnum() {
        Some(i) => cx.int(i + 1),
        None => cx.call(index, sym::add, &[Value::fixnum(1)])?,
    };
    cx.cell_changes(data);
    ArrayCell::set(state, &mut cx.heap, 1, next);
    let v = pack(cx, args.all());
    cx.yield_values(Block::from_value(block), &[v, index])
}

fn counted(cx: &mut Cx, this: Value, start: Value, block: Block) -> Result<Value> {
    // Nobody lives to see the last of them.
    if let Some(start) = start.as_fixnum().filter(|i| *i < zakuro_object::value::FIXNUM_MAX / 2)
        && let Some(v) = crate::enumerable::with_index(cx, this, start, block)?
    {
        return Ok(v);
    }
    let b = cx.block_value(block);
    iterate_native(cx, this, with_index_step, &[b, start])
}

fn with_object_step(cx: &mut Cx, data: Value, args: Args) -> Result<Value> {
    let state: Ref<ArrayCell> = Ref::of(data);
    let (block, memo) = (state.get(0).unwrap_or(Value::NIL), state.get(1).unwrap_or(Value::NIL));
    let v = pack(cx, args.all());
    cx.yield_values(Block::from_value(block), &[v, memo])
}

fn enumerator_size(cx: &mut Cx, recv: Value, _args: &[Value]) -> Result<Value> {
    cx.call(recv, sym::size, &[])
}

#[ruby_class(ids::KERNEL)]
mod kernel {
    use super::*;

    /// An Enumerator over a method of the object (`each` when none is named). The block computes its size when asked.
    ///
    ///     "xyz".to_enum(:each_char).to_a       #=> ["x", "y", "z"]
    ///     [1, 2].enum_for(:map).with_index.to_a   #=> [[1, 0], [2, 1]]
    #[method("to_enum", "enum_for")]
    fn to_enum(cx: &mut Cx, this: Value, method: Option<Value>, rest: Rest, kw: Kwargs, block: Block) -> Result<Value> {
        let name = match method {
            Some(m) => cx.to_sym(m)?,
            None => sym::each,
        };
        let size = cx.block_value(block);
        let kw = kw.hash(cx).filter(|h| h.len() > 0).map_or(Value::NIL, |h| h.as_value());
        let class = class_for(cx, this);
        Ok(make(cx, class, this, name, rest, kw, size))
    }
}

#[ruby_class(ids::STOP_ITERATION)]
mod stop_iteration {
    use super::*;

    /// What the finished enumeration returned.
    ///
    ///     StopIteration.new.result   #=> nil
    #[method("result")]
    fn result(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, Sym::intern("__result"))
    }
}

/// What Enumerator::Lazy in the prelude can't say in Ruby.
#[ruby_class(ids::LAZY)]
mod lazy {
    use super::*;

    /// Whether it gives its elements one by one for certain, never several at once: the elements of an Array or Range, or what such a Lazy makes of them.
    #[method("__single?", private)]
    fn is_single(cx: &mut Cx, this: Value) -> Result<bool> {
        let (name, from) = (sym::lazy_one, sym::lazy_from);
        let mut receiver = this;
        // Those that hand on what they are given know whom they have it from, however many hand it on between.
        loop {
            let one = cx.ivar_get(receiver, name);
            if one.as_sym().is_none() {
                return Ok(one.truthy());
            }
            receiver = match cx.ivar_get(receiver, from) {
                Value::NIL => cx.ivar_get(receiver, sym::enum_receiver),
                from => from,
            };
            if !cx.is_a(receiver, ids::LAZY) {
                break;
            }
        }
        let class = match receiver {
            v if v.is_kind(Kind::Array) => ids::ARRAY,
            v if v.is_kind(Kind::Range) => ids::RANGE,
            _ => return Ok(false),
        };
        Ok(cx.is_builtin(receiver, sym::each, class))
    }

    /// A Lazy over a method of an object; the block gets the consumer's block and what `each` was given.
    #[method("__make", singleton, private)]
    fn make(cx: &mut Cx, _this: Value, receiver: Value, method: Value, args: Value, size: Value, run: Block) -> Result<Value> {
        let run = cx.block_value(run);
        Ok(cx.new_object_with(ids::LAZY, &run_by(receiver, method, args, size, run)))
    }

    /// One of the methods of a Lazy; `keeps` is `__op`'s.
    #[method("__linked", private)]
    fn linked(cx: &mut Cx, this: Value, name: Value, args: Value, size: Value, keeps: Value, run: Block) -> Result<Value> {
        let (source, one, from) = (Value::sym(sym::source), sym::lazy_one, sym::lazy_from);
        let run = cx.block_value(run);
        let [receiver, method, list, kw, size, run] = run_by(this, name, args, size, run);
        let kept = match keeps {
            Value::TRUE => source,
            Value::NIL => Value::FALSE,
            _ => Value::TRUE,
        };
        if !keeps.truthy() {
            return Ok(cx.new_object_with(ids::LAZY, &[receiver, method, list, kw, size, run, (one, kept)]));
        }
        // Whom it has its elements from that does not hand them on itself.
        let known = if cx.ivar_get(this, one) == source { cx.ivar_get(this, from) } else { Value::NIL };
        let origin = if known.truthy() { known } else { this };
        Ok(cx.new_object_with(ids::LAZY, &[receiver, method, list, kw, size, run, (one, kept), (from, origin)]))
    }

    fn run_by(receiver: Value, method: Value, args: Value, size: Value, run: Value) -> [(Sym, Value); 6] {
        [
            (sym::enum_receiver, receiver),
            (sym::enum_method, method),
            (sym::enum_args, args),
            (sym::enum_kw, Value::NIL),
            (sym::enum_size, size),
            (sym::lazy_run, run),
        ]
    }

    /// `pattern === v`; a Regexp sets `$~` of the method that consumes the enumerator.
    #[method("__match", private)]
    fn match_(cx: &mut Cx, _this: Value, pattern: Value, v: Value) -> Result<bool> {
        let text = v.is_kind(Kind::String) || v.is_sym();
        if text
            && cx.is_a(pattern, ids::REGEXP)
            && cx.is_builtin(pattern, sym::eqq, ids::REGEXP)
        {
            let m = zakuro_core_text::regexp::special::match_(cx, pattern, v)?;
            cx.set_program_backref(m);
            return Ok(!m.is_nil());
        }
        Ok(cx.call(pattern, sym::eqq, &[v])?.truthy())
    }
}

#[ruby_class(ids::ENUMERATOR)]
mod methods {
    use super::*;

    /// What the block gives; nil when the enumerator is in such a block already.
    #[method("__once", private)]
    fn once(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        Ok(cx.guard_recursion(this, |cx| cx.yield_values(block, &[]))?.unwrap_or(Value::NIL))
    }

    /// Runs the enumeration. Without a block the enumerator itself; with arguments one that passes them on, too.
    ///
    ///     [1, 2, 3].map.each { |x| x * 2 }   #=> [2, 4, 6]
    ///     "abc".each_char.each(&:upcase)     #=> "abc"
    #[method("each")]
    fn each(cx: &mut Cx, this: Value, rest: Rest, block: Block) -> Result<Value> {
        let mut e = this;
        if !rest.is_empty() {
            let p = parts(cx, this)?;
            let mut all = RootedVec::of(cx, p.args);
            all.extend_from_slice(rest);
            let class = cx.class_of(this);
            e = make(cx, class, p.recv, p.method, &all, p.kw, Value::NIL);
        }
        if block.is_none() {
            return Ok(e);
        }
        iterate(cx, e, block)
    }

    /// Number of elements, when known without counting: nil otherwise.
    ///
    ///     [1, 2, 3].each_slice(2).size   #=> 2
    ///     loop.size                      #=> Infinity
    ///     "a b".each_line.size           #=> nil
    #[method("size")]
    fn size(cx: &mut Cx, this: Value) -> Result<Value> {
        let p = parts(cx, this)?;
        let size = p.size;
        if size.is_nil() || !size.is_cell() {
            return Ok(size);
        }
        let native = if cx.is_data::<NativeSize>(size) { Some(cx.data_ref::<NativeSize>(size)?.0) } else { None };
        if let Some(f) = native
            && p.args.is_empty()
        {
            return f(cx, p.recv, &[]);
        }
        let argv = RootedVec::of(cx, p.args);
        if let Some(f) = native {
            return f(cx, p.recv, &argv);
        }
        Ok(cx.call_if_responds(size, sym::call, &argv)?.unwrap_or(size))
    }

    /// The elements of this one, then those of the other.
    ///
    ///     ([1, 2].each + [3]).to_a   #=> [1, 2, 3]
    #[method("+")]
    fn plus(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        chain(cx, &[this, other])
    }

    /// Yields each element with its index, counted from `offset`.
    ///
    ///     %w[a b].each.with_index(1).to_a              #=> [["a", 1], ["b", 2]]
    ///     %w[a b].map.with_index { |s, i| s * i }      #=> ["", "b"]
    #[method("with_index")]
    fn with_index(cx: &mut Cx, this: Value, offset: Option<Value>, block: Block) -> Result<Value> {
        if block.is_none() {
            let offset = offset.unwrap_or(Value::fixnum(0));
            return cx.sized_enumerator(this, "with_index", &[offset], enumerator_size);
        }
        let start = match offset {
            None | Some(Value::NIL) => Value::fixnum(0),
            Some(o) => cx.to_int(o)?,
        };
        counted(cx, this, start, block)
    }

    /// `with_index` from zero.
    ///
    ///     %w[a b].select.each_with_index { |_, i| i > 0 }   #=> ["b"]
    #[method("each_with_index")]
    fn each_with_index(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.sized_enumerator(this, "each_with_index", &[], enumerator_size);
        }
        counted(cx, this, Value::fixnum(0), block)
    }

    /// Yields each element with an object, which is the result.
    ///
    ///     [1, 2].each.with_object([]) { |x, memo| memo << x * 2 }   #=> [2, 4]
    #[method("with_object", "each_with_object")]
    fn with_object(cx: &mut Cx, this: Value, memo: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.sized_enumerator(this, "with_object", &[memo], enumerator_size);
        }
        let b = cx.block_value(block);
        iterate_native(cx, this, with_object_step, &[b, memo])?;
        Ok(memo)
    }

    /// What it enumerates.
    ///
    ///     [1, 2].each_slice(2).inspect   #=> "#<Enumerator: [1, 2]:each_slice(2)>"
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let class = cx.class_name_of(this);
        let shown = cx.guard_recursion(this, |cx| {
            let Some(recv) = cx.ivar_lookup(this, sym::enum_receiver) else { return Ok(String::from(" uninitialized")) };
            let mut s = format!(" {}", cx.inspect_text(recv)?);
            let Some(method) = cx.ivar_get(this, sym::enum_method).as_sym() else { return Ok(s) };
            s.push_str(&format!(":{}", method.name()));
            let mut list = Vec::new();
            if let Some(args) = Ref::<ArrayCell>::from_value(cx.ivar_get(this, sym::enum_args)) {
                let mut i = 0;
                while let Some(v) = args.get(i) {
                    i += 1;
                    list.push(if i < args.len() { cx.inspect_text(v)? } else { last_argument(cx, v)? });
                }
            }
            let keywords = cx.ivar_get(this, sym::enum_kw);
            if keywords.is_kind(Kind::Hash) {
                list.push(last_argument(cx, keywords)?);
            }
            if !list.is_empty() {
                s.push_str(&format!("({})", list.join(", ")));
            }
            Ok(s)
        })?;
        Ok(cx.str(&format!("#<{class}:{}>", shown.unwrap_or_else(|| " ...".into()))))
    }
}

/// The last argument as `inspect` shows it: a Hash of keywords without braces.
fn last_argument(cx: &mut Cx, v: Value) -> Result<String> {
    let Some(h) = Ref::<HashCell>::from_value(v) else { return cx.inspect_text(v) };
    let pairs = cx.hash_pairs(h);
    if h.len() == 0 || pairs.iter().any(|(k, _)| k.as_sym().is_none()) {
        return cx.inspect_text(v);
    }
    let mut list = Vec::new();
    for (k, v) in pairs {
        let v = cx.inspect_text(v)?;
        list.push(k.as_sym().map_or_else(String::new, |k| format!("{}: {v}", k.name())));
    }
    Ok(list.join(", "))
}

fn make_yielder(cx: &mut Cx, proc_: Value) -> Value {
    let y = cx.new_object(ids::YIELDER);
    cx.ivar_set_raw(y, sym::enum_proc, proc_);
    y
}

fn set_proc(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
    if block.is_none() {
        return cx.raise(ids::LOCAL_JUMP_ERROR, "no block given");
    }
    cx.check_frozen(this)?;
    let p = cx.block_value(block);
    cx.ivar_set_raw(this, sym::enum_proc, p);
    Ok(this)
}

fn proc_of(cx: &mut Cx, this: Value) -> Result<Ref<ProcCell>> {
    match Ref::from_value(cx.ivar_get(this, sym::enum_proc)) {
        Some(p) => Ok(p),
        None => cx.arg_error("uninitialized yielder"),
    }
}

#[ruby_class(ids::GENERATOR)]
mod generator {
    use super::*;

    /// Wraps the block of `Enumerator.new`.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, proc_: Option<Value>, block: Block) -> Result<Value> {
        let block = match proc_ {
            Some(p) if p.is_kind(Kind::Proc) => Block::from_value(p),
            Some(p) => {
                let what = cx.class_name_of(p);
                return cx.type_error(format!("wrong argument type {what} (expected Proc)"));
            }
            None => block,
        };
        set_proc(cx, this, block)
    }

    /// Runs the block with a Yielder.
    ///
    ///     Enumerator::Generator.new { |y| y << 1 << 2 }.each { |x| x }.class   #=> Enumerator::Yielder
    #[method("each")]
    fn each(cx: &mut Cx, this: Value, rest: Rest, block: Block) -> Result<Value> {
        let p = proc_of(cx, this)?;
        let b = cx.block_value(block);
        let y = make_yielder(cx, b);
        let args = ArgList::new(cx, &[&[y], rest]);
        cx.call_proc(p, &args, false, Block::NONE)
    }
}

#[ruby_class(ids::YIELDER)]
mod yielder {
    use super::*;

    /// Wraps the consumer's block.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        set_proc(cx, this, block)
    }

    /// Gives a value to the enumeration's consumer.
    ///
    ///     Enumerator.new { |y| y << 1 << 2 }.to_a   #=> [1, 2]
    #[method("<<")]
    fn push(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        let p = proc_of(cx, this)?;
        cx.yield1(Block::from_value(p.as_value()), v)?;
        Ok(this)
    }

    /// Gives values to the consumer; the result is what its block returned.
    ///
    ///     Enumerator.new { |y| y.yield 1, 2 }.to_a   #=> [[1, 2]]
    #[method("yield")]
    fn yield_(cx: &mut Cx, this: Value, rest: Rest) -> Result<Value> {
        let p = proc_of(cx, this)?;
        cx.yield_values(Block::from_value(p.as_value()), rest)
    }
}
