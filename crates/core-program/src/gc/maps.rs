//! ObjectSpace::WeakMap and WeakKeyMap over the tables of [`Weak`](super::Weak).

use super::{Weak, WeakKeys, WeakPairs};
use zakuro_object::HashTable;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

fn entries(cx: &mut Cx, map: Value) -> &mut WeakPairs {
    cx.state::<Weak>().maps.entry(map.bits() as usize).or_default()
}

/// Keys and values by turns.
fn all(cx: &mut Cx, map: Value) -> RootedVec {
    let mut flat = RootedVec::new(cx);
    flat.extend(entries(cx, map).pairs().flat_map(|e| [e.0, e.1]));
    flat
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
        match entries(cx, this).delete(key) {
            Some(v) => Ok(v),
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
        entries(cx, this).0.len()
    }

    /// The live keys.
    ///
    ///     ObjectSpace::WeakMap.new.keys   #=> []
    #[method("keys")]
    fn keys(cx: &mut Cx, this: Value) -> Value {
        let mut v = RootedVec::new(cx);
        v.extend(entries(cx, this).pairs().map(|e| e.0));
        cx.array(&v)
    }

    /// The live values.
    ///
    ///     ObjectSpace::WeakMap.new.values   #=> []
    #[method("values")]
    fn values(cx: &mut Cx, this: Value) -> Value {
        let mut v = RootedVec::new(cx);
        v.extend(entries(cx, this).pairs().map(|e| e.1));
        cx.array(&v)
    }

    /// Calls the block with each key and value.
    ///
    ///     m = ObjectSpace::WeakMap.new; m[:a] = 1; a = []; m.each { |k, v| a << k << v }; a   #=> [:a, 1]
    #[method("each", "each_pair")]
    fn each(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        let flat = all(cx, this);
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
        let mut keys = RootedVec::new(cx);
        keys.extend(entries(cx, this).pairs().map(|e| e.0));
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
        let mut values = RootedVec::new(cx);
        values.extend(entries(cx, this).pairs().map(|e| e.1));
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
        let flat = all(cx, this);
        for (i, pair) in flat.chunks_exact(2).enumerate() {
            let mut text = |v: Value| if v.is_cell() { Ok(cx.any_to_s(v)) } else { cx.inspect_text(v) };
            let (k, v) = (text(pair[0])?, text(pair[1])?);
            out.push_str(&format!("{} {k} => {v}", if i == 0 { ":" } else { "," }));
        }
        out.push('>');
        Ok(out)
    }
}

/// Hash code and position of a key in a WeakKeyMap. `hash` and `eql?` may be Ruby code, which may change the map, and during which a collection may.
fn find_key(cx: &mut Cx, map: Value, key: Value) -> Result<(u64, Option<usize>)> {
    let hash = cx.hash_of(key)?;
    let m = key_entries(cx, map);
    if !m.stale
        && let Some(i) = m.table.find(hash, |k| k == key)
    {
        return Ok((hash, Some(i)));
    }
    while key_entries(cx, map).stale {
        let m = key_entries(cx, map);
        let moves = m.moves;
        let mut keys = RootedVec::new(cx);
        keys.extend(key_entries(cx, map).table.iter().map(|e| e.key));
        let mut codes = Vec::with_capacity(keys.len());
        for i in 0..keys.len() {
            codes.push(cx.hash_of(keys[i])?);
        }
        let m = key_entries(cx, map);
        // Else once more: entries came or went meanwhile.
        if m.moves == moves && m.table.len() == codes.len() {
            let mut table = HashTable::default();
            for (e, code) in m.table.iter().zip(codes) {
                table.push(code, e.key, e.value);
            }
            (m.table, m.stale) = (table, false);
            m.moves += 1;
        }
    }
    'again: loop {
        let m = key_entries(cx, map);
        if let Some(i) = m.table.find(hash, |k| k == key) {
            return Ok((hash, Some(i)));
        }
        let moves = m.moves;
        for i in m.table.candidates(hash) {
            let Some(k) = key_entries(cx, map).table.entry(i).map(|e| e.key) else { continue };
            let same = cx.eql(key, k)?;
            if key_entries(cx, map).moves != moves {
                continue 'again;
            }
            if same && key_entries(cx, map).table.entry(i).is_some_and(|e| e.key == k) {
                return Ok((hash, Some(i)));
            }
        }
        return Ok((hash, None));
    }
}
fn key_entries(cx: &mut Cx, map: Value) -> &mut WeakKeys {
    cx.state::<Weak>().key_maps.entry(map.bits() as usize).or_default()
}

fn value_at(cx: &mut Cx, map: Value, at: Option<usize>, of: impl Fn(&zakuro_object::hash::Entry) -> Value) -> Value {
    at.and_then(|i| key_entries(cx, map).table.entry(i)).map_or(Value::NIL, of)
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
        Ok(value_at(cx, this, at, |e| e.value))
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
        let m = key_entries(cx, this);
        match at {
            Some(i) => m.table.set_value(i, value),
            None => {
                m.table.push(hash, key, value);
            }
        }
        Ok(value)
    }

    /// The stored key that equals the argument.
    ///
    ///     k = "k"; m = ObjectSpace::WeakKeyMap.new; m[k] = 1; m.getkey("k").equal?(k)   #=> true
    #[method("getkey")]
    fn getkey(cx: &mut Cx, this: Value, key: Value) -> Result<Value> {
        let (_, at) = find_key(cx, this, key)?;
        Ok(value_at(cx, this, at, |e| e.key))
    }

    /// Removes a key; returns its value, or what the block gives.
    ///
    ///     k = "k"; m = ObjectSpace::WeakKeyMap.new; m[k] = 1; m.delete("k")   #=> 1
    #[method("delete")]
    fn delete(cx: &mut Cx, this: Value, key: Value, block: Block) -> Result<Value> {
        let (_, at) = find_key(cx, this, key)?;
        match at {
            Some(i) => {
                let m = key_entries(cx, this);
                m.moves += 1;
                Ok(m.table.remove_at(i).value)
            }
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
        let m = key_entries(cx, this);
        m.table = HashTable::default();
        m.moves += 1;
        this
    }

    /// Text with the number of entries.
    ///
    ///     ObjectSpace::WeakKeyMap.new.inspect.end_with?("size=0>")   #=> true
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> String {
        let mut out = cx.any_to_s(this);
        out.pop();
        format!("{out} size={}>", key_entries(cx, this).table.len())
    }
}
