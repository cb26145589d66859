//! Array: making, comparing, showing, converting.

use super::arg::{check_len, take_count};
use std::cmp::Ordering;
use zakuro_base::progress::{STRIDE, step};
use zakuro_core_base::allocate::allocate;
use zakuro_core_text::string::util::is_wide;
use std::cell::Cell;
use zakuro_macros::{Trace, ruby_class};
use zakuro_object::string::US_ASCII;
use zakuro_vm::*;

/// Pairs of Arrays that are being compared: a structure that contains itself is equal as far as it is the same.
#[derive(Trace, Default)]
struct Comparing(Vec<(Value, Value)>);
impl VmState for Comparing {}

/// Runs `f` unless the two are being compared already (then None).
pub(crate) fn guard_pair<T>(cx: &mut Cx, a: Value, b: Value, f: impl FnOnce(&mut Cx) -> Result<T>) -> Result<Option<T>> {
    cx.check_native_stack()?;
    let pairs = &mut cx.state::<Comparing>().0;
    if pairs.contains(&(a, b)) {
        return Ok(None);
    }
    pairs.push((a, b));
    let n = pairs.len();
    let r = f(cx);
    cx.state::<Comparing>().0.truncate(n - 1);
    r.map(Some)
}

/// Elements pairwise by `==` or `eql?`, no Ruby code for the common kinds.
fn same_elements(cx: &mut Cx, a: Ref<ArrayCell>, b: Ref<ArrayCell>, strict: bool) -> Result<bool> {
    if a == b {
        return Ok(true);
    }
    if a.len() != b.len() {
        return Ok(false);
    }
    if a.elements(&cx.heap).as_ptr() == b.elements(&cx.heap).as_ptr() {
        return Ok(true);
    }
    let simple = |v: Value| !v.is_cell() || v.is_kind(Kind::String);
    let mut i = 0;
    while let (Some(x), Some(y)) = (a.get(i), b.get(i)) {
        if simple(x) && simple(y) {
            if !(x == y || if strict { cx.eql(x, y)? } else { cx.eq(x, y)? }) {
                return Ok(false);
            }
            i += 1;
            continue;
        }
        // Something that may contain us: the rest under guard.
        let start = i;
        let r = guard_pair(cx, a.as_value(), b.as_value(), |cx| {
            let mut i = start;
            while let (Some(x), Some(y)) = (a.get(i), b.get(i)) {
                step(i, cx)?;
                if !(x == y || if strict { cx.eql(x, y)? } else { cx.eq(x, y)? }) {
                    return Ok(false);
                }
                i += 1;
            }
            Ok(a.len() == b.len())
        })?;
        return Ok(r.unwrap_or(true));
    }
    Ok(a.len() == b.len())
}

/// The String that is being joined, with the encoding that its text has so far.
struct Joined {
    text: Ref<StringCell>,
    encoding: Option<u8>,
}
impl Joined {
    /// Elements that are looked at before the first of them is added.
    const RUN: usize = 1024;

    fn add(&mut self, cx: &mut Cx, s: Ref<StringCell>) -> Result<()> {
        let e = s.encoding();
        match self.encoding {
            None => self.encoding = Some(e),
            Some(have) if have != e => {
                let apart = is_wide(e) || is_wide(have);
                let clash = if apart { self.text.len() > 0 && s.len() > 0 } else { !s.is_ascii() && !self.text.is_ascii() };
                if clash {
                    let (a, b) = (StringCell::plain(&cx.heap, b"", have).as_value(), s.as_value());
                    let (a, b) = (encoding_name(cx, a)?, encoding_name(cx, b)?);
                    return cx.raise(ids::COMPAT_ERROR, format!("incompatible character encodings: {a} and {b}"));
                }
                if !s.is_ascii() || apart && s.len() > 0 {
                    self.encoding = Some(e);
                }
            }
            _ => {}
        }
        StringCell::append_string(self.text, &mut cx.heap, s);
        Ok(())
    }
    /// Whether a text goes in as it is, whatever is there already.
    fn fits(&mut self, s: Ref<StringCell>) -> bool {
        let (have, e) = (*self.encoding.get_or_insert(s.encoding()), s.encoding());
        have == e || s.is_ascii() && !is_wide(e) && !is_wide(have)
    }
    /// Adds the Strings and Integers from `at` on, up to the first element that is neither or that [`Joined::add`] must look at, with one request for memory.
    /// Returns where it stopped.
    fn add_run(&mut self, cx: &mut Cx, a: Ref<ArrayCell>, at: usize, sep: Option<Ref<StringCell>>, first: &mut bool) -> Result<usize> {
        /// It ends with what passes this: between two runs the VM looks at what it is asked to do.
        const MOST_BYTES: usize = 1 << 20;
        if !a.get(at).is_some_and(|v| v.is_fixnum() || v.is_kind(Kind::String)) {
            return Ok(at);
        }
        let integers = cx.redefined == 0 && cx.is_builtin(Value::fixnum(0), sym::to_s, ids::INTEGER);
        let (mut end, mut bytes, mut separators_fit) = (at, 0, *first || self.encoding.is_some() && sep.is_none_or(|s| self.fits(s)));
        for v in a.elements(&cx.heap).iter().skip(at).take(Joined::RUN) {
            match Ref::<StringCell>::from_value(*v) {
                _ if !separators_fit || bytes > MOST_BYTES => break,
                Some(s) if self.fits(s) => bytes += s.len(),
                None if integers && v.is_fixnum() => {
                    self.encoding.get_or_insert(US_ASCII);
                    bytes += v.fix().unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1 + usize::from(v.fix() < 0);
                }
                _ => break,
            }
            if end == at {
                separators_fit = sep.is_none_or(|s| self.fits(s));
            }
            end += 1;
        }
        let separators = (end - at).saturating_sub(usize::from(*first));
        bytes += separators * sep.map_or(0, |s| s.len());
        let heap = &cx.heap;
        let (elements, sep) = (a.elements(heap).get(at..end).unwrap_or_default(), sep.map_or(&[][..], |s| s.content(heap)));
        let made = StringCell::append_pieces(self.text, heap, bytes, |text| {
            for v in elements {
                if !std::mem::replace(first, false) {
                    text.add(sep);
                }
                match Ref::<StringCell>::from_value(*v) {
                    Some(s) => text.add(s.content(heap)),
                    None => text.add(itoa::Buffer::new().format(v.fix()).as_bytes()),
                }
            }
        });
        match made {
            Ok(()) => Ok(end),
            Err(_) => cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory"),
        }
    }
    fn make_room(&self, cx: &mut Cx, bytes: usize) -> Result<()> {
        match StringCell::ensure_capacity(self.text, &mut cx.heap, self.text.len().saturating_add(bytes)) {
            Ok(()) => Ok(()),
            Err(_) => cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory"),
        }
    }
}
fn encoding_name(cx: &mut Cx, s: Value) -> Result<String> {
    let e = cx.call(s, sym::encoding, &[])?;
    cx.to_s_text(e)
}

/// `this` is what the elements are of: the Array, or the object that gave it. With `probe` it is the Array that `join` was called on.
fn join_into(
    cx: &mut Cx,
    (this, a): (Value, Ref<ArrayCell>),
    sep: Option<Ref<StringCell>>,
    out: &mut Joined,
    first: &mut bool,
    mut probe: bool,
) -> Result<()> {
    let done = cx.guard_recursion(this, |cx| {
        let mut i = 0;
        loop {
            let run = out.add_run(cx, a, i, sep, first)?;
            if run != i {
                i = run;
                cx.safepoint()?;
                continue;
            }
            let Some(v) = a.get(i) else { break };
            // As in CRuby, the first element that is no String is asked for one before anything is joined, and may change the Array.
            if !v.is_kind(Kind::String) && std::mem::take(&mut probe) && v.is_cell() && !v.is_kind(Kind::Array) && all_strings(cx, a, i) {
                cx.try_str(v)?;
                StringCell::truncate(out.text, &mut cx.heap, 0);
                out.encoding = None;
                (i, *first) = (0, true);
                continue;
            }
            i += 1;
            step(i, cx)?;
            if !v.is_kind(Kind::Array) {
                separate(cx, sep, out, first)?;
            }
            if let Some(s) = Ref::<StringCell>::from_value(v) {
                out.add(cx, s)?;
            } else if let Some(inner) = Ref::<ArrayCell>::from_value(v) {
                join_nested(cx, inner, sep, out, first)?;
            } else if let Some(s) = if v.is_cell() { cx.try_str(v)? } else { None } {
                out.add(cx, s)?;
            } else if let Some(inner) = cx.try_ary(v)? {
                let mut one = true;
                join_into(cx, (v, inner), sep, out, &mut one, false)?;
            } else {
                let s = cx.to_s(v)?;
                out.add(cx, s)?;
            }
        }
        Ok(())
    })?;
    match done {
        Some(()) => Ok(()),
        None => cx.arg_error("recursive array join"),
    }
}
/// Whether the first `n` elements are Strings.
fn all_strings(cx: &Cx, a: Ref<ArrayCell>, n: usize) -> bool {
    a.elements(&cx.heap).iter().take(n).all(|v| v.is_kind(Kind::String))
}
fn separate(cx: &mut Cx, sep: Option<Ref<StringCell>>, out: &mut Joined, first: &mut bool) -> Result<()> {
    if !std::mem::replace(first, false)
        && let Some(s) = sep
    {
        out.add(cx, s)?;
    }
    Ok(())
}
fn join_nested(cx: &mut Cx, a: Ref<ArrayCell>, sep: Option<Ref<StringCell>>, out: &mut Joined, first: &mut bool) -> Result<()> {
    separate(cx, sep, out, first)?;
    let mut one = true;
    join_into(cx, (a.as_value(), a), sep, out, &mut one, false)
}

/// Bytes that are made room for before they are there: a String that is in an Array many times may make more than the machine has.
const MOST_ROOM: usize = 1 << 26;

/// `Array#join`
pub fn join(cx: &mut Cx, a: Ref<ArrayCell>, sep: Value) -> Result<Value> {
    let sep = if sep.is_nil() {
        let set = cx.global_get(sym::output_fs)?;
        if !set.is_nil() {
            cx.warn_category("$, is set to non-nil value", "deprecated")?;
        }
        set
    } else {
        sep
    };
    if a.is_empty() {
        return Ok(cx.str_bytes(b"", US_ASCII));
    }
    let sep = if sep.is_nil() { None } else { Some(cx.to_str(sep)?) };
    let mut out = Joined { text: StringCell::empty(&cx.heap, ids::STRING.0, US_ASCII), encoding: None };
    if a.len() > Joined::RUN {
        // Room for the Strings at the beginning, which are all of them as a rule.
        let between = sep.map_or(0, |s| s.len());
        let strings = a.elements(&cx.heap).iter().map_while(|v| Ref::<StringCell>::from_value(*v));
        let length = strings.fold(0usize, |sum, s| sum.saturating_add(s.len()).saturating_add(between));
        out.make_room(cx, length.min(MOST_ROOM))?;
    }
    let mut first = true;
    join_into(cx, (a.as_value(), a), sep, &mut out, &mut first, true)?;
    out.text.set_encoding(out.encoding.unwrap_or(US_ASCII));
    Ok(out.text.as_value())
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// The argument as an Array: by `to_ary`, by `to_a`, or around it. nil gives an empty one.
    ///
    ///     Array(nil)      #=> []
    ///     Array(1..2)     #=> [1, 2]
    ///     Array("a")      #=> ["a"]
    ///     Array({a: 1})   #=> [[:a, 1]]
    #[method("Array", module_function)]
    fn array(cx: &mut Cx, _this: Value, v: Value) -> Result<Ref<ArrayCell>> {
        match cx.try_ary(v)? {
            Some(a) => Ok(a),
            None => cx.splat(v),
        }
    }
}

#[ruby_class(ids::ARRAY)]
pub mod methods {
    use super::*;

    /// New Array of the arguments.
    ///
    ///     Array[1, 2]   #=> [1, 2]
    #[method("[]", singleton)]
    fn make(cx: &Cx, this: ClassId, rest: Rest) -> Value {
        let shape = cx.root_shape(this);
        ArrayCell::make(&cx.heap, shape, rest).as_value()
    }

    /// A new Array: allocates it and calls `initialize` with the arguments and the block.
    ///
    ///     Array.new(3) { |i| i * i }    #=> [0, 1, 4]
    #[method("new", singleton)]
    fn new(cx: &mut Cx, this: ClassId, args: Args) -> Result<Value> {
        /// Sizes up to which nothing can be wrong that the builtin's `initialize` would have to say.
        const PLAIN: i64 = 1024;
        let first = args.all().first().and_then(|n| n.as_fixnum()).filter(|_| !args.kw);
        let (class, wanted) = (cx.class(this), first.map_or(0, |n| usize::try_from(n).unwrap_or(0)));
        let a = match class.kind {
            // Raises.
            ClassKind::Singleton => allocate(cx, this)?,
            _ => ArrayCell::for_len(&cx.heap, class.root_shape, wanted).as_value(),
        };
        let builtin = |cx: &mut Cx| cx.find_method(this, sym::initialize).is_some_and(|m| m.owner == ids::ARRAY && m.method_kind() == MethodKind::Native);
        let filled = match args.all() {
            _ if args.block.is_some() || args.kw || !builtin(cx) => None,
            [] => Some((Value::NIL, 0)),
            [n] => n.as_fixnum().filter(|n| (0..=PLAIN).contains(n)).map(|n| (Value::NIL, n)),
            [n, v] => n.as_fixnum().filter(|n| (0..=PLAIN).contains(n)).map(|n| (*v, n)),
            _ => None,
        };
        match filled {
            Some((v, n)) => ArrayCell::fill(Ref::of(a), &mut cx.heap, std::iter::repeat_n(v, n as usize)),
            None => {
                cx.forward(a, sym::initialize, args)?;
            }
        }
        Ok(a)
    }

    /// The argument as an Array by `to_ary`, or nil.
    ///
    ///     Array.try_convert([1])   #=> [1]
    ///     Array.try_convert(1)     #=> nil
    #[method("try_convert", singleton)]
    fn try_convert(cx: &mut Cx, _this: Value, v: Value) -> Result<Option<Ref<ArrayCell>>> {
        cx.try_ary(v)
    }

    /// `Array.new(size, value)`, `Array.new(size) { |index| ... }`, `Array.new(array)`.
    ///
    ///     Array.new(2, 0)               #=> [0, 0]
    ///     Array.new(3) { |i| i * i }    #=> [0, 1, 4]
    ///     Array.new([1, 2])             #=> [1, 2]
    ///     Array.new                     #=> []
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Ref<ArrayCell>, size: Option<Value>, value: Option<Value>, block: Block) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        if value.is_some() && block.is_some() {
            cx.warn_here("block supersedes default value argument")?;
        }
        let Some(size) = size else {
            if block.is_some() {
                cx.warn_here("given block not used")?;
            }
            ArrayCell::truncate(this, 0);
            return Ok(this.as_value());
        };
        if value.is_none()
            && !size.is_fixnum()
            && let Some(a) = cx.try_ary(size)?
        {
            ArrayCell::replace_shared(this, &mut cx.heap, a);
            return Ok(this.as_value());
        }
        let n = take_count(cx, size, "negative array size")?;
        check_len(cx, n)?;
        ArrayCell::truncate(this, 0);
        if block.is_some() {
            // A block that ends the loop early should not have cost a large buffer.
            const AT_ONCE: usize = 256;
            ArrayCell::reserve(this, &mut cx.heap, n.min(AT_ONCE));
            let (next, at) = (Cell::new(0), Cell::new(0));
            let take = |_: &mut Cx| {
                at.set(next.get());
                next.set(at.get() + 1);
                (at.get() < n).then(|| [Value::fixnum(at.get() as i64)])
            };
            let keep = |cx: &mut Cx, v| {
                ArrayCell::store(this, &mut cx.heap, at.get(), v);
                true
            };
            cx.walk(block, take, keep, |_, _| Ok(true))?;
        } else {
            let v = value.unwrap_or(Value::NIL);
            ArrayCell::fill(this, &mut cx.heap, std::iter::repeat_n(v, n));
        }
        Ok(this.as_value())
    }

    /// Takes over the content of another Array.
    ///
    ///     a = [1]; a.replace([2, 3]); a   #=> [2, 3]
    #[method("replace", "initialize_copy")]
    fn replace(cx: &mut Cx, this: Ref<ArrayCell>, other: Value) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let other = cx.to_ary(other)?;
        cx.check_frozen(this.as_value())?;
        if this != other {
            ArrayCell::replace_shared(this, &mut cx.heap, other);
        }
        Ok(this.as_value())
    }

    /// Number of elements.
    ///
    ///     [1, nil].length   #=> 2
    #[method("length", "size")]
    fn length(this: Ref<ArrayCell>) -> usize {
        this.len()
    }

    /// Whether it has no elements.
    ///
    ///     [].empty?   #=> true
    #[method("empty?")]
    fn empty(this: Ref<ArrayCell>) -> bool {
        this.is_empty()
    }

    /// Itself; a plain Array of the elements for a subclass.
    ///
    ///     [1].to_a   #=> [1]
    #[method("to_a")]
    fn to_a(cx: &Cx, this: Ref<ArrayCell>) -> Value {
        let class = cx.class_of(this.as_value());
        if class == ids::ARRAY { this.as_value() } else { cx.array(this.elements(&cx.heap)) }
    }

    /// Itself.
    ///
    ///     [1].entries   #=> [1]
    #[method("entries")]
    fn entries(cx: &Cx, this: Ref<ArrayCell>) -> Value {
        cx.array(this.elements(&cx.heap))
    }

    /// Itself.
    ///
    ///     [1].to_ary   #=> [1]
    #[method("to_ary", "deconstruct")]
    fn to_ary(this: Value) -> Value {
        this
    }

    /// Makes it immutable.
    ///
    ///     [1].freeze.frozen?   #=> true
    #[method("freeze")]
    fn freeze(_cx: &mut Cx, this: Value) -> Value {
        this.set_flags(flags::FROZEN);
        this
    }

    /// The elements as source text.
    ///
    ///     [1, "a", :b, nil, [2.5]].inspect      #=> "[1, \"a\", :b, nil, [2.5]]"
    ///     a = []; a << a; a.inspect             #=> "[[...]]"
    #[method("inspect", "to_s")]
    fn inspect(cx: &mut Cx, this: Ref<ArrayCell>) -> Result<Value> {
        if this.is_empty() {
            return Ok(StringCell::plain(&cx.heap, b"[]", US_ASCII).as_value());
        }
        let shown = cx.guard_recursion(this.as_value(), |cx| {
            let mut out = vec![b'['];
            // That of the first element's text, until one is not ASCII.
            let mut encoding = US_ASCII;
            let mut i = 0;
            while let Some(v) = this.get(i) {
                if i > 0 {
                    out.extend_from_slice(b", ");
                }
                match v.as_fixnum() {
                    Some(n) if cx.redefined == 0 && cx.is_builtin(v, sym::inspect, ids::INTEGER) => out.extend_from_slice(n.to_string().as_bytes()),
                    _ => {
                        let s = cx.inspect(v)?;
                        if i == 0 || !s.is_ascii() {
                            encoding = s.encoding();
                        }
                        out.extend_from_slice(s.content(&cx.heap));
                    }
                }
                i += 1;
                cx.safepoint()?;
            }
            out.push(b']');
            Ok((out, encoding))
        })?;
        Ok(match shown {
            Some((bytes, encoding)) => cx.str_bytes(&bytes, encoding),
            None => cx.str("[...]"),
        })
    }

    /// The elements as text, with a separator between them; nested Arrays joined likewise.
    ///
    ///     [1, [2, [:c]]].join("-")   #=> "1-2-c"
    ///     %w[a b].join               #=> "ab"
    #[method("join")]
    fn join_(cx: &mut Cx, this: Ref<ArrayCell>, sep: Option<Value>) -> Result<Value> {
        join(cx, this, sep.unwrap_or(Value::NIL))
    }

    /// Whether the other has equal elements in the same order.
    ///
    ///     [1, 2] == [1, 2.0]   #=> true
    ///     [1] == [1, 2]        #=> false
    #[method("==")]
    fn eq(cx: &mut Cx, this: Ref<ArrayCell>, other: Value) -> Result<bool> {
        match Ref::<ArrayCell>::from_value(other) {
            Some(b) => same_elements(cx, this, b, false),
            None if other.is_cell() && !other.is_kind(Kind::String) && cx.responds(other, sym::to_ary, false)? => {
                Ok(cx.call(other, sym::eq, &[this.as_value()])?.truthy())
            }
            None => Ok(false),
        }
    }

    /// As `==` with `eql?` for the elements.
    ///
    ///     [1].eql?([1.0])   #=> false
    #[method("eql?")]
    fn eql(cx: &mut Cx, this: Ref<ArrayCell>, other: Value) -> Result<bool> {
        match Ref::<ArrayCell>::from_value(other) {
            Some(b) => same_elements(cx, this, b, true),
            None => Ok(false),
        }
    }

    /// Equal for Arrays that are `eql?`.
    ///
    ///     [1, [2]].hash == [1, [2]].hash   #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Ref<ArrayCell>) -> Result<Value> {
        let h = cx.array_hash(this)?;
        Ok(cx.shown_hash(h))
    }

    /// -1, 0 or 1 by the first elements that differ, then by length; nil when they can't be compared.
    ///
    ///     [1, 2] <=> [1, 3]   #=> -1
    ///     [1, 2] <=> [1]      #=> 1
    ///     [1] <=> ["a"]       #=> nil
    #[method("<=>")]
    fn cmp(cx: &mut Cx, this: Ref<ArrayCell>, other: Value) -> Result<Value> {
        let Some(b) = cx.try_ary(other)? else { return Ok(Value::NIL) };
        if this == b {
            return Ok(Value::fixnum(0));
        }
        let r = guard_pair(cx, this.as_value(), b.as_value(), |cx| {
            let mut i = 0;
            while let (Some(x), Some(y)) = (this.get(i), b.get(i)) {
                let r = if Value::both_fixnum(x, y) && cx.redefined == 0 {
                    Value::fixnum(x.fix().cmp(&y.fix()) as i64)
                } else {
                    cx.call(x, sym::cmp, &[y])?
                };
                if r != Value::fixnum(0) {
                    return Ok(r);
                }
                i += 1;
            }
            Ok(Value::fixnum(match this.len().cmp(&b.len()) {
                Ordering::Less => -1,
                Ordering::Equal => 0,
                Ordering::Greater => 1,
            }))
        })?;
        Ok(r.unwrap_or(Value::NIL))
    }

    /// Both one after the other.
    ///
    ///     [1] + [2, 3]   #=> [1, 2, 3]
    #[method("+")]
    fn plus(cx: &mut Cx, this: Ref<ArrayCell>, other: Ref<ArrayCell>) -> Value {
        let n = this.len() + other.len();
        let out = ArrayCell::for_len(&cx.heap, ids::ARRAY.0, n);
        ArrayCell::reserve(out, &mut cx.heap, n);
        ArrayCell::extend_from(out, &mut cx.heap, this);
        ArrayCell::extend_from(out, &mut cx.heap, other);
        out.as_value()
    }

    /// Repeated `n` times; joined, for a String.
    ///
    ///     [1, 2] * 2     #=> [1, 2, 1, 2]
    ///     [1, 2] * ","   #=> "1,2"
    #[method("*")]
    fn times(cx: &mut Cx, this: Ref<ArrayCell>, n: Value) -> Result<Value> {
        if !n.is_fixnum()
            && let Some(s) = cx.try_str(n)?
        {
            return join(cx, this, s.as_value());
        }
        let n = take_count(cx, n, "negative argument")?;
        let Some(total) = n.checked_mul(this.len()).filter(|t| *t <= zakuro_object::array::MAX_LEN) else {
            return cx.arg_error("argument too big");
        };
        check_len(cx, total)?;
        let out = ArrayCell::for_len(&cx.heap, ids::ARRAY.0, total);
        if total == 0 {
            return Ok(out.as_value());
        }
        ArrayCell::reserve(out, &mut cx.heap, total);
        let this = ArrayCell::slice(&cx.heap, ids::ARRAY.0, this, 0, this.len());
        for at in 0..n {
            ArrayCell::extend_from(out, &mut cx.heap, this);
            // Each some thousand elements.
            if total > STRIDE && (this.len() > STRIDE / 16 || at.is_multiple_of(STRIDE / 16)) {
                cx.safepoint()?;
            }
        }
        Ok(out.as_value())
    }
}
