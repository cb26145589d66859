//! Hash: making one, reading by key, keys and values.

use super::*;
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;

/// The methods.
/// A part of each entry.
fn gather(cx: &Cx, h: Ref<HashCell>, part: impl Fn(&Entry) -> Value) -> Value {
    let Some(t) = h.table(&cx.heap) else { return cx.new_array().as_value() };
    ArrayCell::gather(&cx.heap, t.len(), t.iter().map(part)).as_value()
}

#[ruby_class(ids::HASH)]
pub(super) mod hash {
    use super::*;

    /// `Hash.new`, with a default value or a block that computes it; `capacity:` makes room.
    ///
    ///     Hash.new(5)[:x]   #=> 5
    ///     Hash.new { |h, k| h[k] = k.to_s }[:x]   #=> "x"
    #[method("initialize", private, min = 0, max = -1)]
    fn initialize(cx: &mut Cx, this: Ref<HashCell>, args: Args) -> Result<Value> {
        let mut args = args;
        cx.check_frozen(this.as_value())?;
        let kw = args.take_kw();
        kw.only(cx, &[sym::capacity])?;
        let given = args.len();
        if args.block.is_some() {
            if given > 0 {
                return cx.arity_error(given, 0, Some(0));
            }
            let p = cx.block_to_proc(args.block);
            check_default_proc(cx, p)?;
            set_default(this, p.as_value(), true);
        } else {
            if given > 1 {
                return cx.arity_error(given, 0, Some(1));
            }
            set_default(this, args.get(0).unwrap_or(Value::NIL), false);
        }
        if let Some(n) = kw.get(sym::capacity) {
            let n = cx.to_i64(n)?.clamp(0, 1 << 16) as usize;
            if n > 8 {
                HashCell::change(this, &mut cx.heap, |t| t.reserve(n));
            }
        }
        Ok(this.as_value())
    }

    /// A Hash of another Hash, an Array of pairs, or alternating keys and values.
    ///
    ///     Hash[1, 2, 3, 4]   #=> {1 => 2, 3 => 4}
    ///     Hash[[[:a, 1]]]   #=> {a: 1}
    #[method("[]", singleton)]
    fn from(cx: &mut Cx, this: ClassId, args: Rest) -> Result<Value> {
        let shape = cx.root_shape(this);
        let h = HashCell::make(&cx.heap, shape);
        if args.len() == 1 {
            if let Some(src) = cx.try_hash(args[0])? {
                for (at, (k, v)) in cx.hash_pairs(src).into_iter().enumerate() {
                    step(at, cx)?;
                    cx.hash_set(h, k, v)?;
                }
                return Ok(h.as_value());
            }
            if let Some(a) = cx.try_ary(args[0])? {
                let mut i = 0;
                while let Some(e) = a.get(i) {
                    i += 1;
                    let Some(pair) = cx.try_ary(e)? else {
                        let c = match e {
                            Value::NIL => "nil".into(),
                            Value::TRUE => "true".into(),
                            Value::FALSE => "false".into(),
                            _ => cx.class_name_of(e),
                        };
                        return cx.arg_error(format!("wrong element type {c} at {} (expected array)", i - 1));
                    };
                    match *pair.elements(&cx.heap) {
                        [k] => cx.hash_set(h, k, Value::NIL)?,
                        [k, v] => cx.hash_set(h, k, v)?,
                        ref other => return cx.arg_error(format!("invalid number of elements ({} for 1..2)", other.len())),
                    }
                }
                return Ok(h.as_value());
            }
        }
        if args.len() % 2 == 1 {
            return cx.arg_error("odd number of arguments for Hash");
        }
        for pair in args.chunks(2) {
            cx.hash_set(h, pair[0], pair[1])?;
        }
        Ok(h.as_value())
    }

    /// The object as a Hash by `to_hash`, or nil.
    ///
    ///     Hash.try_convert({a: 1})   #=> {a: 1}
    ///     Hash.try_convert(1)   #=> nil
    #[method("try_convert", singleton)]
    fn try_convert(cx: &mut Cx, _this: ClassId, v: Value) -> Result<Option<Ref<HashCell>>> {
        cx.try_hash(v)
    }

    /// Whether a Hash was kept by a `ruby2_keywords` method.
    ///
    ///     Hash.ruby2_keywords_hash?({})   #=> false
    #[method("ruby2_keywords_hash?", singleton)]
    fn is_ruby2_keywords(_this: ClassId, h: Ref<HashCell>) -> bool {
        h.header.flags & KEYWORDS != 0
    }

    /// A copy that becomes keywords again when it is splatted as last argument.
    ///
    ///     Hash.ruby2_keywords_hash({a: 1})   #=> {a: 1}
    #[method("ruby2_keywords_hash", singleton)]
    fn ruby2_keywords(cx: &mut Cx, _this: ClassId, h: Ref<HashCell>) -> Result<Value> {
        let copy = super::super::copy(cx, h);
        copy.set_flags(KEYWORDS);
        Ok(copy)
    }

    /// Takes over pairs, defaults and way of comparing (for `dup` and `clone`).
    ///
    ///     {a: 1}.dup   #=> {a: 1}
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Ref<HashCell>, other: Ref<HashCell>) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        if this == other {
            return Ok(this.as_value());
        }
        if other.len() > 0 || this.len() > 0 || by_identity(other) {
            HashCell::replace(this, &mut cx.heap, other);
        }
        set_default(this, other.default, other.default_is_proc());
        Ok(this.as_value())
    }

    /// The value of a key; the default when it is missing.
    ///
    ///     {a: 1}[:a]   #=> 1
    ///     {a: 1}[:b]   #=> nil
    #[method("[]")]
    fn aref(cx: &mut Cx, this: Ref<HashCell>, key: Value) -> Result<Value> {
        lookup(cx, this, key)
    }

    /// Sets the value of a key.
    ///
    ///     h = {}; h["a"] = 1; h   #=> {"a" => 1}
    #[method("[]=", "store")]
    fn aset(cx: &mut Cx, this: Ref<HashCell>, key: Value, value: Value) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        cx.hash_set(this, key, value)?;
        Ok(value)
    }

    /// The value of a key, else the second argument or the block's result; KeyError without these.
    ///
    ///     {a: 1}.fetch(:a)   #=> 1
    ///     {a: 1}.fetch(:b, 7)   #=> 7
    ///     {a: 1}.fetch(:b) { |k| k.to_s }   #=> "b"
    #[method("fetch")]
    fn fetch(cx: &mut Cx, this: Ref<HashCell>, key: Value, default: Option<Value>, block: Block) -> Result<Value> {
        if block.is_some() && default.is_some() {
            cx.warn_here("block supersedes default value argument")?;
        }
        if let Some(v) = cx.hash_get(this, key)? {
            return Ok(v);
        }
        if block.is_some() {
            return cx.yield1(block, key);
        }
        match default {
            Some(v) => Ok(v),
            None => key_not_found(cx, this.as_value(), key),
        }
    }

    /// Walks down nested structures.
    ///
    ///     {a: {b: [1, 2]}}.dig(:a, :b, 1)   #=> 2
    #[method("dig")]
    fn dig(cx: &mut Cx, this: Ref<HashCell>, key: Value, rest: Rest) -> Result<Value> {
        let v = lookup(cx, this, key)?;
        crate::hash::dig_further(cx, v, rest)
    }

    /// Whether there is such a key.
    ///
    ///     {a: nil}.key?(:a)   #=> true
    #[method("key?", "has_key?", "include?", "member?")]
    fn has_key(cx: &mut Cx, this: Ref<HashCell>, key: Value) -> Result<bool> {
        Ok(cx.hash_get(this, key)?.is_some())
    }

    /// Whether some key has this value (`==`).
    ///
    ///     {a: 1}.value?(1)   #=> true
    #[method("value?", "has_value?")]
    fn has_value(cx: &mut Cx, this: Ref<HashCell>, value: Value) -> Result<bool> {
        let mut found = false;
        cx.hash_each(this, |cx, _, v| {
            found = cx.eq(v, value)?;
            Ok(!found)
        })?;
        Ok(found)
    }

    /// The first key with this value.
    ///
    ///     {a: 1, b: 2}.key(2)   #=> :b
    #[method("key")]
    fn key(cx: &mut Cx, this: Ref<HashCell>, value: Value) -> Result<Value> {
        let mut found = Value::NIL;
        cx.hash_each(this, |cx, k, v| {
            if cx.eq(v, value)? {
                found = k;
                return Ok(false);
            }
            Ok(true)
        })?;
        Ok(found)
    }

    /// All keys.
    ///
    ///     {a: 1, b: 2}.keys   #=> [:a, :b]
    #[method("keys")]
    fn keys(cx: &Cx, this: Ref<HashCell>) -> Value {
        gather(cx, this, |e| e.key)
    }

    /// All values.
    ///
    ///     {a: 1, b: 2}.values   #=> [1, 2]
    #[method("values")]
    fn values(cx: &Cx, this: Ref<HashCell>) -> Value {
        gather(cx, this, |e| e.value)
    }

    /// The values of some keys, defaults for missing ones.
    ///
    ///     {a: 1, b: 2}.values_at(:b, :c)   #=> [2, nil]
    #[method("values_at")]
    fn values_at(cx: &mut Cx, this: Ref<HashCell>, keys: Rest) -> Result<Value> {
        let out = cx.new_array();
        for k in keys {
            let v = lookup(cx, this, *k)?;
            ArrayCell::push(out, &mut cx.heap, v);
        }
        Ok(out.as_value())
    }

    /// The values of some keys; KeyError (or the block's result) for missing ones.
    ///
    ///     {a: 1, b: 2}.fetch_values(:b, :a)   #=> [2, 1]
    #[method("fetch_values")]
    fn fetch_values(cx: &mut Cx, this: Ref<HashCell>, keys: Rest, block: Block) -> Result<Value> {
        let out = cx.new_array();
        for k in keys {
            let v = match cx.hash_get(this, *k)? {
                Some(v) => v,
                None if block.is_some() => cx.yield1(block, *k)?,
                None => return key_not_found(cx, this.as_value(), *k),
            };
            ArrayCell::push(out, &mut cx.heap, v);
        }
        Ok(out.as_value())
    }

    /// Number of pairs.
    ///
    ///     {a: 1}.size   #=> 1
    #[method("size", "length")]
    fn size(this: Ref<HashCell>) -> usize {
        this.len()
    }

    /// Whether there is no pair.
    ///
    ///     {}.empty?   #=> true
    #[method("empty?")]
    fn is_empty(this: Ref<HashCell>) -> bool {
        this.len() == 0
    }

    /// The pair of a key, or nil.
    ///
    ///     {a: 1}.assoc(:a)   #=> [:a, 1]
    #[method("assoc")]
    fn assoc(cx: &mut Cx, this: Ref<HashCell>, key: Value) -> Result<Value> {
        // By `==`, which may find what the hash code does not.
        let mut found = Value::NIL;
        cx.hash_each(this, |cx, k, v| {
            if cx.eq(k, key)? {
                found = cx.array(&[k, v]);
                return Ok(false);
            }
            Ok(true)
        })?;
        Ok(found)
    }

    /// The first pair with this value, or nil.
    ///
    ///     {a: 1}.rassoc(1)   #=> [:a, 1]
    #[method("rassoc")]
    fn rassoc(cx: &mut Cx, this: Ref<HashCell>, value: Value) -> Result<Value> {
        let mut found = Value::NIL;
        cx.hash_each(this, |cx, k, v| {
            if cx.eq(v, value)? {
                found = cx.array(&[k, v]);
                return Ok(false);
            }
            Ok(true)
        })?;
        Ok(found)
    }

    /// The default value; with a key, what `[]` would give if it were missing.
    ///
    ///     Hash.new(5).default   #=> 5
    ///     Hash.new { |h, k| k * 2 }.default(3)   #=> 6
    #[method("default")]
    fn default(cx: &mut Cx, this: Ref<HashCell>, key: Option<Value>) -> Result<Value> {
        match key {
            Some(k) => default_for(cx, this, k),
            None if this.default_is_proc() => Ok(Value::NIL),
            None => Ok(this.default),
        }
    }

    /// Sets the default value, dropping the default Proc.
    ///
    ///     h = {}; h.default = 3; h[:x]   #=> 3
    #[method("default=")]
    fn assign_default(cx: &mut Cx, this: Ref<HashCell>, value: Value) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        set_default(this, value, false);
        Ok(value)
    }

    /// The Proc that computes missing values, or nil.
    ///
    ///     {}.default_proc   #=> nil
    #[method("default_proc")]
    fn default_proc(this: Ref<HashCell>) -> Value {
        if this.default_is_proc() { this.default } else { Value::NIL }
    }

    /// Sets the default Proc; nil removes it.
    ///
    ///     h = {}; h.default_proc = proc { |_, k| k }; h[1]   #=> 1
    #[method("default_proc=")]
    fn assign_default_proc(cx: &mut Cx, this: Ref<HashCell>, value: Value) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        if value.is_nil() {
            set_default(this, Value::NIL, false);
            return Ok(value);
        }
        let p = match value.is_kind(Kind::Proc) {
            true => Some(value),
            false => cx.call_if_responds(value, sym::to_proc, &[])?,
        };
        match p.and_then(Ref::<ProcCell>::from_value) {
            Some(p) => {
                check_default_proc(cx, p)?;
                set_default(this, p.as_value(), true);
                Ok(value)
            }
            None => {
                let c = cx.class_name_of(value);
                cx.type_error(format!("wrong default_proc type {c} (expected Proc)"))
            }
        }
    }

    /// Compares keys by identity from now on.
    ///
    ///     h = {}.compare_by_identity; h["a".dup] = 1; h["a".dup]   #=> nil
    #[method("compare_by_identity")]
    fn compare_by_identity(cx: &mut Cx, this: Ref<HashCell>) -> Result<Value> {
        if by_identity(this) {
            return Ok(this.as_value());
        }
        cx.check_frozen(this.as_value())?;
        if is_iterating(this) {
            return cx.raise(ids::RUNTIME_ERROR, "compare_by_identity during iteration");
        }
        super::batch::rebuild(cx, this, true)?;
        Ok(this.as_value())
    }

    /// Whether keys are compared by identity.
    ///
    ///     {}.compare_by_identity?   #=> false
    #[method("compare_by_identity?")]
    fn compares_by_identity(this: Ref<HashCell>) -> bool {
        by_identity(this)
    }

    /// Itself.
    ///
    ///     {a: 1}.to_hash   #=> {a: 1}
    #[method("to_hash")]
    fn to_hash(this: Ref<HashCell>) -> Value {
        this.as_value()
    }

    /// Itself, for pattern matching.
    ///
    ///     {a: 1}.deconstruct_keys(nil)   #=> {a: 1}
    #[method("deconstruct_keys")]
    fn deconstruct_keys(this: Ref<HashCell>, _keys: Value) -> Value {
        this.as_value()
    }

    /// A lambda that looks up its argument.
    ///
    ///     [:a, :b].map(&{a: 1})   #=> [1, nil]
    #[method("to_proc")]
    fn to_proc(cx: &mut Cx, this: Ref<HashCell>) -> Value {
        fn get(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
            match args.all() {
                [key] => cx.call(this, sym::aref, &[*key]),
                more => cx.arity_error(more.len(), 1, Some(1)),
            }
        }
        cx.native_proc(get, this.as_value(), true)
    }
}

/// A lambda as default Proc must take two arguments.
fn check_default_proc(cx: &mut Cx, p: Ref<ProcCell>) -> Result<()> {
    if !p.is_lambda() {
        return Ok(());
    }
    let (arity, _) = cx.block_arity(Block::from_value(p.as_value()));
    if arity != 2 && (arity >= 0 || arity < -3) {
        let n = if arity < 0 { -arity - 1 } else { arity };
        return cx.type_error(format!("default_proc takes two arguments (2 for {n})"));
    }
    Ok(())
}
