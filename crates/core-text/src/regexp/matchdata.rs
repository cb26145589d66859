//! Methods of MatchData. Offsets are kept in bytes; character offsets are computed when asked for (at once in ASCII text).

use super::engine::{self, MatchData, match_of, regexp_of};
use super::{make, special};
use crate::string::util;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::Encoding;
use zakuro_vm::equality::hash_bytes;
use zakuro_vm::*;

fn data<'a>(cx: &mut Cx, v: &'a Value) -> Result<&'a MatchData> {
    match match_of(v) {
        Some(d) => Ok(d),
        None => cx.type_error("uninitialized MatchData"),
    }
}

/// Group `n` or nil.
fn nth(cx: &mut Cx, d: &MatchData, n: usize) -> Value {
    engine::group(cx, d, n).unwrap_or(Value::NIL)
}

/// Bytes of a group name given as String or Symbol, and their encoding.
fn name_of(v: Value) -> Option<(Vec<u8>, u8)> {
    match v.as_sym() {
        Some(s) => Some((s.bytes().to_vec(), s.encoding())),
        None => Ref::<StringCell>::from_value(v).map(|s| (s.to_vec(), s.encoding())),
    }
}

/// Number of the group of a name; IndexError when there is none.
fn named(cx: &mut Cx, d: &MatchData, name: &[u8], encoding: u8) -> Result<usize> {
    match d.group_named(name) {
        Some(n) => Ok(n),
        None => {
            let own = Encoding::from_id(encoding).unwrap_or(Encoding::BINARY);
            let told = b"undefined group name reference: ".as_slice();
            let message = if name.is_ascii() || own == crate::encoding::shown_in(cx) {
                cx.str_bytes(&[told, name].concat(), encoding)
            } else {
                // What the program's other text can't stand beside is shown by its bytes.
                let shown = zakuro_text::encoding::inspect::inspect_str(name, own);
                cx.str_bytes(&[told, shown.trim_matches('"').as_bytes()].concat(), string::BINARY)
            };
            let e = cx.exception_with(ids::INDEX_ERROR, message);
            cx.raise_value(e)
        }
    }
}

/// `m[v]` for one Integer or name.
pub fn group_at(cx: &mut Cx, d: &MatchData, v: Value) -> Result<Value> {
    if let Some((name, encoding)) = name_of(v) {
        let n = named(cx, d, &name, encoding)?;
        return Ok(nth(cx, d, n));
    }
    let n = cx.to_i64(v)?;
    // Counted from the end, the whole match is out of reach.
    Ok(util::from_end(n, d.captures.len()).filter(|i| n >= 0 || *i > 0).map_or(Value::NIL, |n| nth(cx, d, n)))
}

/// Byte range of the group that an argument of `begin`, `offset` and the like means.
fn range_at(cx: &mut Cx, d: &MatchData, v: Value) -> Result<Option<(usize, usize)>> {
    let n = match name_of(v) {
        Some((name, encoding)) => named(cx, d, &name, encoding)?,
        None => {
            let n = cx.to_i64(v)?;
            match usize::try_from(n).ok().filter(|n| *n < d.captures.len()) {
                Some(n) => n,
                None => return cx.index_error(format!("index {n} out of matches")),
            }
        }
    };
    Ok(d.captures[n])
}

fn string(d: &MatchData) -> Ref<StringCell> {
    Ref::of(d.string)
}

fn char_offset(heap: &Heap, d: &MatchData, at: usize) -> Value {
    Value::fixnum(util::char_index(heap, string(d), at) as i64)
}

/// Groups from number `from` on.
fn groups(cx: &mut Cx, d: &MatchData, from: usize) -> Ref<ArrayCell> {
    let a = cx.new_array();
    for n in from..d.captures.len() {
        let v = nth(cx, d, n);
        ArrayCell::push(a, &mut cx.heap, v);
    }
    a
}

#[ruby_class(ids::MATCH_DATA)]
pub mod match_data {
    use super::*;

    /// Makes this object a copy of another match.
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let Some(d) = match_of(&other) else {
            return cx.type_error("wrong argument class");
        };
        // Others may look at what it holds.
        if match_of(&this).is_some() {
            return if this == other { Ok(this) } else { cx.type_error("already initialized MatchData") };
        }
        let copy = MatchData { regexp: d.regexp, string: d.string, captures: d.captures.clone() };
        cx.data_init(this, copy)?;
        Ok(this)
    }

    /// A group by number or name; with a start and a length, or a Range, several.
    ///
    ///     /(.)(?:b)(.)/.match("abc")[-1]   #=> "c"
    ///     /(?<x>.)b/.match("ab")[:x]   #=> "a"
    ///     /(.)(.)/.match("ab")[1, 2]   #=> ["a", "b"]
    #[method("[]")]
    fn aref(cx: &mut Cx, this: Value, n: Value, len: Option<Value>) -> Result<Value> {
        let d = data(cx, &this)?;
        match len {
            None if n.is_fixnum() || name_of(n).is_some() => group_at(cx, d, n),
            None => {
                let all = groups(cx, d, 0).as_value();
                cx.call(all, sym::aref, &[n])
            }
            Some(len) => {
                let all = groups(cx, d, 0).as_value();
                cx.call(all, sym::aref, &[n, len])
            }
        }
    }

    /// Several groups by number, name or Range.
    ///
    ///     /(.)(.)/.match("ab").values_at(2, 0)   #=> ["b", "ab"]
    #[method("values_at")]
    fn values_at(cx: &mut Cx, this: Value, args: Rest) -> Result<Value> {
        let d = data(cx, &this)?;
        let out = cx.new_array();
        for v in args {
            if v.is_kind(Kind::Range) {
                let all = groups(cx, d, 0).as_value();
                let part = cx.call(all, Sym::intern("values_at"), &[*v])?;
                let part = cx.to_ary(part)?;
                let mut i = 0;
                while let Some(v) = part.get(i) {
                    ArrayCell::push(out, &mut cx.heap, v);
                    i += 1;
                }
            } else {
                let v = group_at(cx, d, *v)?;
                ArrayCell::push(out, &mut cx.heap, v);
            }
        }
        Ok(out.as_value())
    }

    /// The groups without the whole match.
    ///
    ///     /(.)(x)?/.match("ab").captures   #=> ["a", nil]
    #[method("captures", "deconstruct")]
    fn captures(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = data(cx, &this)?;
        Ok(groups(cx, d, 1).as_value())
    }

    /// Named groups.
    ///
    ///     /(?<x>.)b/.match("ab").named_captures   #=> {"x" => "a"}
    ///     /(?<x>.)b/.match("ab").named_captures(symbolize_names: true)   #=> {x: "a"}
    #[method("named_captures")]
    fn named_captures(cx: &mut Cx, this: Value, kw: Kwargs) -> Result<Value> {
        let symbolize = Sym::intern("symbolize_names");
        kw.only(cx, &[symbolize])?;
        let symbols = kw.get(symbolize).is_some_and(Value::truthy);
        let d = data(cx, &this)?;
        let h = cx.new_hash();
        for (name, numbers) in d.names() {
            let key = if symbols { Value::sym(Sym::intern(name)) } else { cx.str(name) };
            let v = match d.group_among(numbers) {
                Some(n) => nth(cx, d, n),
                None => Value::NIL,
            };
            cx.hash_set(h, key, v)?;
        }
        Ok(h.as_value())
    }

    /// Names of the groups.
    ///
    ///     /(?<x>.)/.match("a").names   #=> ["x"]
    #[method("names")]
    fn names(cx: &mut Cx, this: Value) -> Result<Value> {
        let names: Vec<String> = data(cx, &this)?.names().iter().map(|n| n.0.clone()).collect();
        Ok(cx.str_array(&names))
    }

    /// The text before the match.
    ///
    ///     /b/.match("abc").pre_match   #=> "a"
    #[method("pre_match")]
    fn pre_match(cx: &mut Cx, this: Value) -> Result<Option<Value>> {
        let d = data(cx, &this)?;
        Ok(special::part(cx, d, 0, d.start()))
    }

    /// The text behind the match.
    ///
    ///     /b/.match("abc").post_match   #=> "c"
    #[method("post_match")]
    fn post_match(cx: &mut Cx, this: Value) -> Result<Option<Value>> {
        let d = data(cx, &this)?;
        Ok(special::part(cx, d, d.end(), usize::MAX))
    }

    /// Index of the first character of a group.
    ///
    ///     /(b)/.match("äbc").begin(1)   #=> 1
    #[method("begin")]
    fn begin(cx: &mut Cx, this: Value, n: Value) -> Result<Option<Value>> {
        let d = data(cx, &this)?;
        Ok(range_at(cx, d, n)?.map(|(a, _)| char_offset(&cx.heap, d, a)))
    }

    /// Index of the character behind a group.
    ///
    ///     /(b)/.match("äbc").end(1)   #=> 2
    #[method("end")]
    fn end(cx: &mut Cx, this: Value, n: Value) -> Result<Option<Value>> {
        let d = data(cx, &this)?;
        Ok(range_at(cx, d, n)?.map(|(_, b)| char_offset(&cx.heap, d, b)))
    }

    /// `begin` and `end` of a group.
    ///
    ///     /b/.match("äbc").offset(0)   #=> [1, 2]
    #[method("offset")]
    fn offset(cx: &mut Cx, this: Value, n: Value) -> Result<Value> {
        let d = data(cx, &this)?;
        let pair = range_at(cx, d, n)?.map_or([Value::NIL; 2], |(a, b)| [char_offset(&cx.heap, d, a), char_offset(&cx.heap, d, b)]);
        Ok(cx.array(&pair))
    }

    /// Byte offsets of a group.
    ///
    ///     /b/.match("äbc").byteoffset(0)   #=> [2, 3]
    #[method("byteoffset")]
    fn byteoffset(cx: &mut Cx, this: Value, n: Value) -> Result<Value> {
        let d = data(cx, &this)?;
        let pair = range_at(cx, d, n)?.map_or([Value::NIL; 2], |(a, b)| [a, b].map(|i| Value::fixnum(i as i64)));
        Ok(cx.array(&pair))
    }

    /// Byte offset of the start of a group.
    ///
    ///     /b/.match("äbc").bytebegin(0)   #=> 2
    #[method("bytebegin")]
    fn bytebegin(cx: &mut Cx, this: Value, n: Value) -> Result<Option<usize>> {
        let d = data(cx, &this)?;
        Ok(range_at(cx, d, n)?.map(|r| r.0))
    }

    /// Byte offset of the end of a group.
    ///
    ///     /b/.match("äbc").byteend(0)   #=> 3
    #[method("byteend")]
    fn byteend(cx: &mut Cx, this: Value, n: Value) -> Result<Option<usize>> {
        let d = data(cx, &this)?;
        Ok(range_at(cx, d, n)?.map(|r| r.1))
    }

    /// The match and its groups.
    ///
    ///     /(.)b/.match("ab").to_a   #=> ["ab", "a"]
    #[method("to_a")]
    fn to_a(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = data(cx, &this)?;
        Ok(groups(cx, d, 0).as_value())
    }

    /// The matched text.
    ///
    ///     /b+/.match("abbc").to_s   #=> "bb"
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = data(cx, &this)?;
        Ok(nth(cx, d, 0))
    }

    /// Number of groups, the whole match included.
    ///
    ///     /(.)b/.match("ab").size   #=> 2
    #[method("size", "length")]
    fn size(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(data(cx, &this)?.captures.len())
    }

    /// The searched text, frozen.
    ///
    ///     /b/.match("abc").string   #=> "abc"
    #[method("string")]
    fn string_(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(data(cx, &this)?.string)
    }

    /// The Regexp that matched.
    ///
    ///     /b/.match("abc").regexp   #=> /b/
    #[method("regexp")]
    fn regexp(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = data(cx, &this)?;
        if regexp_of(&d.regexp).is_some() {
            return Ok(d.regexp);
        }
        let s = cx.to_str(d.regexp)?;
        let re = make::quoted(cx, s)?;
        cx.data_mut::<MatchData>(this)?.regexp = re;
        Ok(re)
    }

    /// The text of a group.
    ///
    ///     /(?<x>.)b/.match("ab").match(:x)   #=> "a"
    #[method("match")]
    fn match_(cx: &mut Cx, this: Value, n: Value) -> Result<Value> {
        let d = data(cx, &this)?;
        let range = range_at(cx, d, n)?;
        Ok(range.and_then(|(a, b)| special::part(cx, d, a, b)).unwrap_or(Value::NIL))
    }

    /// Number of characters of a group.
    ///
    ///     /(?<x>.)b/.match("äb").match_length(:x)   #=> 1
    #[method("match_length")]
    fn match_length(cx: &mut Cx, this: Value, n: Value) -> Result<Option<usize>> {
        let d = data(cx, &this)?;
        Ok(range_at(cx, d, n)?.map(|(a, b)| util::char_index(&cx.heap, string(d), b) - util::char_index(&cx.heap, string(d), a)))
    }

    /// Named groups for pattern matching.
    ///
    ///     /(?<x>.)b/.match("ab").deconstruct_keys([:x])   #=> {x: "a"}
    #[method("deconstruct_keys")]
    fn deconstruct_keys(cx: &mut Cx, this: Value, keys: Value) -> Result<Value> {
        let d = data(cx, &this)?;
        let h = cx.new_hash();
        if keys.is_nil() {
            for (name, _) in d.names() {
                let n = named(cx, d, name.as_bytes(), string::UTF8)?;
                let v = nth(cx, d, n);
                cx.hash_set(h, Value::sym(Sym::intern(name)), v)?;
            }
            return Ok(h.as_value());
        }
        let Some(list) = Ref::<ArrayCell>::from_value(keys) else {
            let c = cx.class_name_of(keys);
            return cx.type_error(format!("wrong argument type {c} (expected Array)"));
        };
        if list.len() > d.names().len() {
            return Ok(h.as_value());
        }
        let mut i = 0;
        while let Some(key) = list.get(i) {
            i += 1;
            let Some(name) = key.as_sym() else {
                let c = cx.class_name_of(key);
                return cx.type_error(format!("wrong argument type {c} (expected Symbol)"));
            };
            let Some(n) = d.group_named(name.bytes()) else { break };
            let v = nth(cx, d, n);
            cx.hash_set(h, key, v)?;
        }
        Ok(h.as_value())
    }

    /// The match with its groups.
    ///
    ///     /(.)(?:x)?(y)?/.match("a").inspect   #=> "#<MatchData \"a\" 1:\"a\" 2:nil>"
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let Some(d) = match_of(&this) else {
            let text = cx.any_to_s(this);
            return Ok(cx.str(&text));
        };
        let class = cx.class_of(this);
        let mut out = format!("#<{}", cx.class_name(class)).into_bytes();
        for n in 0..d.captures.len() {
            out.push(b' ');
            if n > 0 {
                match d.names().iter().find(|(_, numbers)| numbers.contains(&n)) {
                    Some((name, _)) => out.extend_from_slice(name.as_bytes()),
                    None => out.extend_from_slice(n.to_string().as_bytes()),
                }
                out.push(b':');
            }
            let v = nth(cx, d, n);
            out.extend_from_slice(cx.inspect(v)?.content(&cx.heap));
        }
        out.push(b'>');
        Ok(cx.str_auto(&out))
    }

    /// Same text, Regexp and groups?
    ///
    ///     /a/.match("ab") == /a/.match("ab")   #=> true
    #[method("==", "eql?")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if this == other {
            return Ok(true);
        }
        let (Some(a), Some(b)) = (match_of(&this), match_of(&other)) else { return Ok(false) };
        if a.captures != b.captures || !cx.eq(a.string, b.string)? {
            return Ok(false);
        }
        // That of a text is made when it is asked for.
        let (a, b) = (regexp(cx, this)?, regexp(cx, other)?);
        cx.eq(a, b)
    }

    /// Equal for equal matches.
    ///
    ///     /a/.match("ab").hash == /a/.match("ab").hash   #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = data(cx, &this)?;
        let mut bytes: Vec<u8> = string(d).to_vec();
        for c in &d.captures {
            let (a, b) = c.unwrap_or((usize::MAX, usize::MAX));
            bytes.extend_from_slice(&a.to_le_bytes());
            bytes.extend_from_slice(&b.to_le_bytes());
        }
        Ok(cx.shown_hash(hash_bytes(&bytes)))
    }
}
