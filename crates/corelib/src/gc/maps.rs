//! ObjectSpace::WeakMap and WeakKeyMap over the tables of [`Weak`](super::Weak).

use super::{Weak, WeakKeys, WeakPairs};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

fn entries(cx: &mut Cx, map: Value) -> &mut WeakPairs {
    cx.state::<Weak>().maps.entry(map.0 as usize).or_default()
}

/// The methods of ObjectSpace::WeakMap.
#[ruby_class(ids::WEAK_MAP)]
pub mod weak_map {
    use super::*;

    /// The value of a key, compared by identity.
    ///
    ///     k = "k"; m = ObjectSpace::WeakMap.new; m[k] = 1; m[k]   #=> 1
    #[method("[]")]
    fn get(cx: &mut Cx, this: Value, key: Value) -> Value {
        entries(cx, this).get(key).unwrap_or(Value::NIL)
    }

    /// Sets the value of a key; neither is kept alive.
    ///
    ///     m = ObjectSpace::WeakMap.new; m[:a] = "x"   #=> "x"
    #[method("[]=")]
    fn set(cx: &mut Cx, this: Value, key: Value, value: Value) -> Value {
        entries(cx, this).set(key, value);
        value
    }

    /// Removes a key; returns its value, or what the block gives.
    ///
    ///     m = ObjectSpace::WeakMap.new; m[:a] = 1; m.delete(:a)   #=> 1
    #[method("delete")]
    fn delete(cx: &mut Cx, this: Value, key: Value, block: Block) -> Result<Value> {
        let list = entries(cx, this);
        match list.get(key) {
            Some(v) => {
                list.retain(|k, _| k != key);
                Ok(v)
            }
            None if block.is_some() => cx.yield1(block, key),
            None => Ok(Value::NIL),
        }
    }

    /// Whether there is such a key.
    ///
    ///     ObjectSpace::WeakMap.new.key?(1)   #=> false
    #[method("key?", "include?", "member?")]
    fn has_key(cx: &mut Cx, this: Value, key: Value) -> bool {
        entries(cx, this).get(key).is_some()
    }

    /// Number of live entries.
    ///
    ///     ObjectSpace::WeakMap.new.size   #=> 0
    #[method("size", "length")]
    fn size(cx: &mut Cx, this: Value) -> usize {
        entries(cx, this).list.len()
    }

    /// The live keys.
    ///
    ///     ObjectSpace::WeakMap.new.keys   #=> []
    #[method("keys")]
    fn keys(cx: &mut Cx, this: Value) -> Value {
        let v: Vec<Value> = entries(cx, this).list.iter().map(|e| e.0).collect();
        cx.array(&v)
    }

    /// The live values.
    ///
    ///     ObjectSpace::WeakMap.new.values   #=> []
    #[method("values")]
    fn values(cx: &mut Cx, this: Value) -> Value {
        let v: Vec<Value> = entries(cx, this).list.iter().map(|e| e.1).collect();
        cx.array(&v)
    }

    /// Calls the block with each key and value.
    ///
    ///     m = ObjectSpace::WeakMap.new; m[:a] = 1; a = []; m.each { |k, v| a << k << v }; a   #=> [:a, 1]
    #[method("each", "each_pair")]
    fn each(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        let flat: Vec<Value> = entries(cx, this).list.iter().flat_map(|e| [e.0, e.1]).collect();
        let flat = RootedVec::from_vec(cx, flat);
        for i in (0..flat.len()).step_by(2) {
            let (k, v) = (flat[i], flat[i + 1]);
            cx.yield_values(block, &[k, v])?;
        }
        Ok(this)
    }

    /// Calls the block with each live key.
    ///
    ///     m = ObjectSpace::WeakMap.new; m[:a] = 1; a = []; m.each_key { |k| a << k }; a   #=> [:a]
    #[method("each_key")]
    fn each_key(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        let keys = entries(cx, this).list.iter().map(|e| e.0).collect();
        let keys = RootedVec::from_vec(cx, keys);
        for i in 0..keys.len() {
            cx.yield1(block, keys[i])?;
        }
        Ok(this)
    }

    /// Calls the block with each live value.
    ///
    ///     m = ObjectSpace::WeakMap.new; m[:a] = 1; a = []; m.each_value { |v| a << v }; a   #=> [1]
    #[method("each_value")]
    fn each_value(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        let values = entries(cx, this).list.iter().map(|e| e.1).collect();
        let values = RootedVec::from_vec(cx, values);
        for i in 0..values.len() {
            cx.yield1(block, values[i])?;
        }
        Ok(this)
    }

    /// Text with the entries; of objects only class and address.
    ///
    ///     ObjectSpace::WeakMap.new.inspect.start_with?("#<ObjectSpace::WeakMap")   #=> true
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<String> {
        let mut out = cx.any_to_s(this);
        out.pop();
        for (i, (k, v)) in entries(cx, this).list.clone().into_iter().enumerate() {
            let mut text = |v: Value| if v.is_cell() { Ok(cx.any_to_s(v)) } else { cx.inspect_text(v) };
            let (k, v) = (text(k)?, text(v)?);
            out.push_str(&format!("{} {k} => {v}", if i == 0 { ":" } else { "," }));
        }
        out.push('>');
        Ok(out)
    }
}

/// Position of a key in a WeakKeyMap.
fn find_key(cx: &mut Cx, map: Value, key: Value) -> Result<(u64, Option<usize>)> {
    let hash = cx.hash_of(key)?;
    if std::mem::take(&mut key_entries(cx, map).stale) {
        let mut i = 0;
        while let Some(k) = key_entries(cx, map).list.get(i).map(|e| e.1) {
            let h = cx.hash_of(k)?;
            if let Some(e) = key_entries(cx, map).list.get_mut(i).filter(|e| e.1 == k) {
                e.0 = h;
            }
            i += 1;
        }
    }
    let mut i = 0;
    while let Some(e) = key_entries(cx, map).list.get(i).copied() {
        if e.0 == hash && (e.1 == key || cx.eql(key, e.1)?) {
            return Ok((hash, Some(i)));
        }
        i += 1;
    }
    Ok((hash, None))
}
fn key_entries(cx: &mut Cx, map: Value) -> &mut WeakKeys {
    cx.state::<Weak>().key_maps.entry(map.0 as usize).or_default()
}

/// The methods of ObjectSpace::WeakKeyMap.
#[ruby_class(ids::WEAK_KEY_MAP)]
pub mod weak_key_map {
    use super::*;

    /// The value of a key, compared by `eql?`.
    ///
    ///     k = "k"; m = ObjectSpace::WeakKeyMap.new; m[k] = 1; m["k"]   #=> 1
    #[method("[]")]
    fn get(cx: &mut Cx, this: Value, key: Value) -> Result<Value> {
        let (_, at) = find_key(cx, this, key)?;
        Ok(at.map_or(Value::NIL, |i| key_entries(cx, this).list[i].2))
    }

    /// Sets the value of a key; the key is not kept alive.
    ///
    ///     m = ObjectSpace::WeakKeyMap.new; m["a"] = 1   #=> 1
    #[method("[]=")]
    fn set(cx: &mut Cx, this: Value, key: Value, value: Value) -> Result<Value> {
        if !key.is_cell() || key.is_kind(Kind::Float) || key.is_kind(Kind::Bignum) {
            return cx.arg_error("WeakKeyMap keys must be garbage collectable");
        }
        let (hash, at) = find_key(cx, this, key)?;
        let list = &mut key_entries(cx, this).list;
        match at {
            Some(i) => list[i].2 = value,
            None => list.push((hash, key, value)),
        }
        Ok(value)
    }

    /// The stored key that equals the argument.
    ///
    ///     k = "k"; m = ObjectSpace::WeakKeyMap.new; m[k] = 1; m.getkey("k").equal?(k)   #=> true
    #[method("getkey")]
    fn getkey(cx: &mut Cx, this: Value, key: Value) -> Result<Value> {
        let (_, at) = find_key(cx, this, key)?;
        Ok(at.map_or(Value::NIL, |i| key_entries(cx, this).list[i].1))
    }

    /// Removes a key; returns its value, or what the block gives.
    ///
    ///     k = "k"; m = ObjectSpace::WeakKeyMap.new; m[k] = 1; m.delete("k")   #=> 1
    #[method("delete")]
    fn delete(cx: &mut Cx, this: Value, key: Value, block: Block) -> Result<Value> {
        let (_, at) = find_key(cx, this, key)?;
        match at {
            Some(i) => Ok(key_entries(cx, this).list.remove(i).2),
            None if block.is_some() => cx.yield1(block, key),
            None => Ok(Value::NIL),
        }
    }

    /// Whether there is such a key.
    ///
    ///     ObjectSpace::WeakKeyMap.new.key?("x")   #=> false
    #[method("key?")]
    fn has_key(cx: &mut Cx, this: Value, key: Value) -> Result<bool> {
        Ok(find_key(cx, this, key)?.1.is_some())
    }

    /// Removes all entries.
    ///
    ///     ObjectSpace::WeakKeyMap.new.clear.class   #=> ObjectSpace::WeakKeyMap
    #[method("clear")]
    fn clear(cx: &mut Cx, this: Value) -> Value {
        key_entries(cx, this).list.clear();
        this
    }

    /// Text with the number of entries.
    ///
    ///     ObjectSpace::WeakKeyMap.new.inspect.end_with?("size=0>")   #=> true
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> String {
        let mut out = cx.any_to_s(this);
        out.pop();
        format!("{out} size={}>", key_entries(cx, this).list.len())
    }
}
