//! String: making, comparing, joining, replacing; conversions to Symbol and text forms.

use super::util::*;
use std::cmp::Ordering;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::{Encoding, inspect};
use zakuro_vm::string::CodeRange;
use zakuro_vm::*;

/// Order of two Strings: bytes, then (equal bytes that don't go together) encodings.
pub fn compare(heap: &Heap, a: Str, b: Str) -> Ordering {
    a.cmp_bytes(&b).then_with(|| if same(heap, a, b) { Ordering::Equal } else { a.encoding().cmp(&b.encoding()) })
}

/// `==` of two Strings.
#[inline]
pub fn same(heap: &Heap, a: Str, b: Str) -> bool {
    a.same_bytes(&b) && (a.encoding() == b.encoding() || compatible(heap, a, b).is_some())
}

/// The Symbol of that name; EncodingError for one that is not valid.
pub fn symbol(cx: &mut Cx, name: Str) -> Result<Value> {
    // As in CRuby, US-ASCII is not looked at.
    if enc(name) != Encoding::US_ASCII && range(&cx.heap, name) == CodeRange::Broken {
        let shown = inspect::inspect_str(name.content(&cx.heap), enc(name));
        return cx.raise(ids::ENCODING_ERROR, format!("invalid symbol in encoding {} :{shown}", enc(name).name()));
    }
    Ok(Value::sym(Sym::intern_in(name.content(&cx.heap), name.encoding())))
}

/// The code point `v` at the end of `this` (`<<`, `concat`).
fn append_codepoint(cx: &mut Cx, this: Str, v: Value) -> Result<()> {
    let Some(i) = v.as_fixnum() else { return cx.range_error("bignum out of char range") };
    let e = enc(this);
    let Ok(c) = u32::try_from(i) else { return cx.range_error(format!("{i} out of char range")) };
    if e == Encoding::US_ASCII && (0x80..=0xff).contains(&c) {
        // A byte beyond ASCII turns the String into bytes.
        this.set_encoding(string::BINARY);
        StringCell::append(this, &mut cx.heap, &[c as u8]);
        return Ok(());
    }
    if c > 0xff && e.is_single_byte() {
        return cx.range_error(format!("{i} out of char range"));
    }
    if c < 0x80 && e.is_ascii_compatible() {
        return append_char(cx, this, &[c as u8], CodeRange::Ascii);
    }
    let mut out = Vec::new();
    if !e.encode(c, &mut out) {
        return if e.is_unicode() && c > 0x10ffff || e.is_single_byte() {
            cx.range_error(format!("{i} out of char range"))
        } else {
            cx.range_error(format!("invalid codepoint 0x{c:X} in {}", e.name()))
        };
    }
    append_char(cx, this, &out, CodeRange::Valid)
}

/// A character of the receiver's encoding at its end. The caller has checked frozen.
fn append_char(cx: &mut Cx, this: Str, bytes: &[u8], range: CodeRange) -> Result<()> {
    let joined = match (this.code_range(), range) {
        (CodeRange::Unknown, r) if this.len() == 0 => r,
        (CodeRange::Ascii, r) => r,
        (CodeRange::Valid, _) => CodeRange::Valid,
        _ => CodeRange::Unknown,
    };
    if StringCell::try_append(this, &mut cx.heap, bytes).is_err() {
        return too_big(cx);
    }
    this.set_code_range(joined);
    Ok(())
}

/// One argument of `<<` and `concat`.
fn append_value(cx: &mut Cx, this: Str, v: Value) -> Result<()> {
    if cx.is_integer(v) {
        return append_codepoint(cx, this, v);
    }
    let s = cx.to_str(v)?;
    cx.check_frozen(this.as_value())?;
    append(cx, this, s)
}

/// `a + b`
pub fn plus(cx: &mut Cx, a: Str, b: Str) -> Result<Str> {
    let e = check_compatible(cx, a, b)?;
    let r = StringCell::empty(&cx.heap, ids::STRING.0, e.id());
    if StringCell::ensure_capacity(r, &mut cx.heap, a.len() + b.len()).is_err() {
        return too_big(cx);
    }
    StringCell::append_string(r, &mut cx.heap, a);
    StringCell::append_string(r, &mut cx.heap, b);
    match (a.code_range(), b.code_range()) {
        (CodeRange::Ascii, CodeRange::Ascii) => r.set_code_range(CodeRange::Ascii),
        (CodeRange::Valid, CodeRange::Valid | CodeRange::Ascii) | (CodeRange::Ascii, CodeRange::Valid) => {
            r.set_code_range(CodeRange::Valid)
        }
        _ => {}
    }
    Ok(r)
}

/// Encoding argument of `String.new(encoding:)` and `force_encoding`.
pub fn encoding_arg(cx: &mut Cx, v: Value) -> Result<Encoding> {
    crate::encoding::from_value(cx, v)
}

/// Case-folded ASCII comparison.
fn casecmp_bytes(a: &[u8], b: &[u8]) -> Ordering {
    let fold = |b: &u8| b.to_ascii_lowercase();
    // What is equal in parts is found out many bytes at a time.
    const PART: usize = 32;
    let same = a.chunks_exact(PART).zip(b.chunks_exact(PART)).take_while(|(a, b)| {
        let mut differs = 0;
        for i in 0..PART {
            differs |= a[i].to_ascii_lowercase() ^ b[i].to_ascii_lowercase();
        }
        differs == 0
    });
    let from = same.count() * PART;
    a[from..].iter().map(fold).cmp(b[from..].iter().map(fold))
}

/// [`casecmp_bytes`], where bytes of a longer character may look like letters.
fn casecmp_chars(e: Encoding, a: &[u8], f: Encoding, b: &[u8]) -> Ordering {
    let (mut left, mut right) = (e.chars(a), f.chars(b));
    loop {
        let (a, b) = match (left.next(), right.next()) {
            (Some(a), Some(b)) => (a, b),
            (a, b) => return a.is_some().cmp(&b.is_some()),
        };
        let ascii = |e: Encoding, c: &[u8]| e.ord(c).filter(|c| *c < 0x80).map(|c| (c as u8).to_ascii_lowercase());
        let order = match (ascii(e, a), ascii(f, b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => {
                let n = a.len().min(b.len());
                a[..n].cmp(&b[..n]).then(a.len().cmp(&b.len()))
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Bytes that are copied between two looks at what is asked of the VM: a few milliseconds.
const PORTION: usize = 16 << 20;

#[ruby_class(ids::STRING)]
pub mod strings {
    use super::*;

    /// A new String, a copy of `string` or empty.
    ///
    ///     String.new("abc")                    #=> "abc"
    ///     String.new.encoding                  #=> #<Encoding:BINARY (ASCII-8BIT)>
    ///     String.new("a", encoding: "binary").encoding   #=> #<Encoding:BINARY (ASCII-8BIT)>
    #[method("new", singleton)]
    fn new(cx: &mut Cx, this: ClassId, args: Args) -> Result<Value> {
        let shape = cx.root_shape(this);
        let s = StringCell::empty(&cx.heap, shape, string::BINARY).as_value();
        cx.forward(s, sym::initialize, args)?;
        Ok(s)
    }

    /// The String that `object` converts to by `to_str`, or nil.
    ///
    ///     String.try_convert("abc")   #=> "abc"
    ///     String.try_convert(1)       #=> nil
    #[method("try_convert", singleton)]
    fn try_convert(cx: &mut Cx, _this: Value, object: Value) -> Result<Option<Str>> {
        cx.try_str(object)
    }

    /// Sets content, encoding and capacity of a new String.
    ///
    ///     String.new("abc", capacity: 100)   #=> "abc"
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Str, source: Option<Value>, kw: Kwargs) -> Result<Value> {
        kw.only(cx, &[sym::encoding, sym::capacity])?;
        if source.is_some() || [sym::encoding, sym::capacity].iter().any(|k| kw.get(*k).is_some_and(|v| !v.is_nil())) {
            cx.check_frozen(this.as_value())?;
        }
        if let Some(v) = source {
            let s = cx.to_str(v)?;
            cx.check_frozen(this.as_value())?;
            if s != this {
                set_from(cx, this, s);
            }
        }
        if let Some(c) = kw.get(sym::capacity)
            && !c.is_nil()
        {
            let n = cx.to_i64(c)?;
            if let Ok(n) = usize::try_from(n)
                && StringCell::ensure_capacity(this, &mut cx.heap, n.max(this.len())).is_err()
            {
                return too_big(cx);
            }
        }
        if let Some(e) = kw.get(sym::encoding)
            && !e.is_nil()
        {
            let e = encoding_arg(cx, e)?;
            this.set_encoding(e.id());
        }
        Ok(this.as_value())
    }

    /// Takes over content and encoding of another String.
    ///
    ///     +"abc".dup.replace("xy")   #=> "xy"
    #[method("replace", "initialize_copy")]
    fn replace(cx: &mut Cx, this: Str, other: Value) -> Result<Str> {
        cx.check_frozen(this.as_value())?;
        let o = cx.to_str(other)?;
        if o != this {
            let r = o.code_range();
            set_from(cx, this, o);
            this.set_code_range(r);
        }
        Ok(this)
    }

    /// Equal content?
    ///
    ///     "abc" == "abc"   #=> true
    ///     "abc" == :abc    #=> false
    #[method("==", "===")]
    fn eq(cx: &mut Cx, this: Str, other: Value) -> Result<bool> {
        match Ref::<StringCell>::from_value(other) {
            Some(o) => Ok(same(&cx.heap, this, o)),
            None if other.is_cell() && cx.responds(other, sym::to_str, false)? => Ok(cx.call(other, sym::eq, &[this.as_value()])?.truthy()),
            None => Ok(false),
        }
    }

    /// Equal content, and a String.
    ///
    ///     "abc".eql?("abc")   #=> true
    #[method("eql?", effect = "leaf", reason = "looks at the bytes")]
    fn eql(heap: &Heap, this: Str, other: Value) -> bool {
        Ref::<StringCell>::from_value(other).is_some_and(|o| same(heap, this, o))
    }

    /// Equal for equal Strings.
    ///
    ///     "abc".hash == "abc".dup.hash   #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Str) -> Result<Value> {
        let h = cx.hash_of(this.as_value())?;
        Ok(cx.shown_hash(h))
    }

    /// -1, 0 or 1 by bytes; nil for other objects.
    ///
    ///     "a" <=> "b"    #=> -1
    ///     "ab" <=> "a"   #=> 1
    ///     "a" <=> 1      #=> nil
    #[method("<=>")]
    fn cmp(cx: &mut Cx, this: Str, other: Value) -> Result<Value> {
        if let Some(o) = Ref::<StringCell>::from_value(other) {
            return Ok(Value::fixnum(compare(&cx.heap, this, o) as i64));
        }
        if let Some(o) = cx.try_str(other)? {
            return Ok(Value::fixnum(compare(&cx.heap, this, o) as i64));
        }
        if !other.is_cell() || !cx.responds(other, sym::cmp, false)? {
            return Ok(Value::NIL);
        }
        let Some(r) = cx.guard_recursion(this.as_value(), |cx| cx.call(other, sym::cmp, &[this.as_value()]))? else {
            return Ok(Value::NIL);
        };
        match r.as_fixnum() {
            Some(i) => Ok(Value::fixnum(-i.signum())),
            None if r.is_nil() => Ok(r),
            None if cx.call(r, sym::gt, &[Value::fixnum(0)])?.truthy() => Ok(Value::fixnum(-1)),
            None => Ok(Value::fixnum(cx.call(r, sym::lt, &[Value::fixnum(0)])?.truthy() as i64)),
        }
    }

    /// `<=>` ignoring the case of ASCII letters.
    ///
    ///     "aBc".casecmp("AbD")   #=> -1
    ///     "a".casecmp("A")       #=> 0
    #[method("casecmp")]
    fn casecmp(cx: &mut Cx, this: Str, other: Value) -> Result<Value> {
        let Some(o) = cx.try_str(other)? else { return Ok(Value::NIL) };
        if compatible(&cx.heap, this, o).is_none() {
            return Ok(Value::NIL);
        }
        let (a, b) = (this.content(&cx.heap), o.content(&cx.heap));
        // In UTF-8 no byte of a longer character looks like ASCII, and bytes are in the order of characters.
        let bytes = [this, o].iter().all(|s| s.encoding() == string::UTF8 || is_single(&cx.heap, *s));
        let order = if bytes { casecmp_bytes(a, b) } else { casecmp_chars(enc(this), a, enc(o), b) };
        Ok(Value::fixnum(order as i64))
    }

    /// Equal after Unicode case folding?
    ///
    ///     "äÖ".casecmp?("ÄÖ")   #=> true
    #[method("casecmp?")]
    fn casecmp_p(cx: &mut Cx, this: Str, other: Value) -> Result<Value> {
        let Some(o) = cx.try_str(other)? else { return Ok(Value::NIL) };
        if compatible(&cx.heap, this, o).is_none() {
            return Ok(Value::NIL);
        }
        if is_ascii(&cx.heap, this) && is_ascii(&cx.heap, o) {
            return Ok(Value::bool(this.content(&cx.heap).eq_ignore_ascii_case(o.content(&cx.heap))));
        }
        let (a, b) = (super::super::case::fold(cx, this)?, super::super::case::fold(cx, o)?);
        Ok(Value::bool(a == b))
    }

    /// Concatenation.
    ///
    ///     "ab" + "cd"   #=> "abcd"
    #[method("+")]
    fn plus_op(cx: &mut Cx, this: Str, other: Str) -> Result<Str> {
        plus(cx, this, other)
    }

    /// `n` times the content.
    ///
    ///     "ab" * 3   #=> "ababab"
    #[method("*")]
    fn times(cx: &mut Cx, this: Str, n: Value) -> Result<Str> {
        let n = cx.to_i64(n)?;
        let Ok(n) = usize::try_from(n) else { return cx.arg_error("negative argument") };
        let Some(total) = this.len().checked_mul(n).filter(|t| *t <= isize::MAX as usize) else { return too_big(cx) };
        if cx.has_memory_limit() {
            cx.admit(total)?;
        }
        let r = StringCell::empty(&cx.heap, ids::STRING.0, this.encoding());
        if StringCell::ensure_capacity(r, &mut cx.heap, total).is_err() {
            return too_big(cx);
        }
        // By doubling: few large copies instead of many small ones. (Others may change it meanwhile.)
        let (length, range) = (this.len(), this.code_range());
        if total > 0 {
            StringCell::append_string(r, &mut cx.heap, this);
            while r.len() < total {
                cx.safepoint()?;
                // A portion may have ended within the text.
                let from = r.len() % length;
                let n = (total - r.len()).min(PORTION);
                if StringCell::try_append_own(r, &mut cx.heap, from, n).is_err() {
                    return too_big(cx);
                }
            }
        }
        if range != CodeRange::Broken {
            r.set_code_range(range);
        }
        Ok(r)
    }

    /// Appends a String, or the character of a code point.
    ///
    ///     +"ab" << "cd" << 33   #=> "abcd!"
    #[method("<<")]
    fn append_op(cx: &mut Cx, this: Str, v: Value) -> Result<Str> {
        cx.check_frozen(this.as_value())?;
        append_value(cx, this, v)?;
        Ok(this)
    }

    /// Appends all arguments.
    ///
    ///     (+"a").concat("b", "c")   #=> "abc"
    #[method("concat")]
    fn concat(cx: &mut Cx, this: Str, parts: Rest) -> Result<Str> {
        cx.check_frozen(this.as_value())?;
        if let [one] = parts {
            append_value(cx, this, *one)?;
            return Ok(this);
        }
        // Collected first: the receiver may be among the arguments.
        let all = StringCell::empty(&cx.heap, ids::STRING.0, this.encoding());
        for p in parts {
            append_value(cx, all, *p)?;
        }
        cx.check_frozen(this.as_value())?;
        append(cx, this, all)?;
        Ok(this)
    }

    /// Appends all arguments as bytes: Strings in any encoding, and Integers as bytes.
    ///
    ///     (+"a").append_as_bytes("b", 99)   #=> "abc"
    #[method("append_as_bytes")]
    fn append_as_bytes(cx: &mut Cx, this: Str, parts: Rest) -> Result<Str> {
        cx.check_frozen(this.as_value())?;
        let mut out = Vec::new();
        for p in parts {
            if let Some(s) = Ref::<StringCell>::from_value(*p) {
                out.extend_from_slice(s.content(&cx.heap));
            } else if let Some(i) = cx.as_big(*p) {
                out.push(i.to_signed_bytes_le()[0]);
            } else {
                let c = cx.class_name_of(*p);
                return cx.type_error(format!("wrong argument type {c} (expected String or Integer)"));
            }
        }
        StringCell::append(this, &mut cx.heap, &out);
        Ok(this)
    }

    /// Puts all arguments before the content.
    ///
    ///     (+"c").prepend("a", "b")   #=> "abc"
    #[method("prepend")]
    fn prepend(cx: &mut Cx, this: Str, parts: Rest) -> Result<Str> {
        cx.check_frozen(this.as_value())?;
        let all = StringCell::empty(&cx.heap, ids::STRING.0, this.encoding());
        for p in parts {
            let s = cx.to_str(*p)?;
            append(cx, all, s)?;
        }
        append(cx, all, this)?;
        cx.check_frozen(this.as_value())?;
        set_from(cx, this, all);
        Ok(this)
    }

    /// The String itself; a String for subclasses.
    ///
    ///     "abc".to_s   #=> "abc"
    #[method("to_s", "to_str")]
    fn to_s(cx: &Cx, this: Str) -> Value {
        if cx.class_of(this.as_value()) == ids::STRING { this.as_value() } else { copy(cx, this) }
    }

    /// The content quoted, as it could stand in a program.
    ///
    ///     "a\n\"".inspect   #=> "\"a\\n\\\"\""
    #[method("inspect")]
    fn inspect_str(cx: &mut Cx, this: Str) -> Result<Value> {
        let own = enc(this);
        if own != Encoding::UTF_8 && own.is_ascii_compatible() && !is_ascii(&cx.heap, this) && own == crate::encoding::shown_in(cx) {
            let text = inspect::inspect_own(&Held::of(this), own, cx)?;
            return Ok(cx.str_bytes(&text, own.id()));
        }
        let text = inspect::inspect_long(&Held::of(this), own, cx)?;
        let shown = cx.str(&text);
        Ok(if text.is_ascii() { shown } else { super::super::util::inspected(cx, Ref::of(shown)).as_value() })
    }

    /// As `inspect`, but ASCII only; `undump` reads it back.
    ///
    ///     "é".dump   #=> "\"\\u00E9\""
    #[method("dump")]
    fn dump(cx: &mut Cx, this: Str) -> Result<Value> {
        let text = inspect::dump(&Held::of(this), enc(this), cx)?;
        Ok(if enc(this).is_ascii_compatible() { make(cx, text.as_bytes(), this) } else { cx.str_bytes(text.as_bytes(), string::BINARY) })
    }

    /// Number of characters.
    ///
    ///     "añb".length   #=> 3
    #[method("length", "size", effect = "leaf", reason = "looks at the bytes")]
    fn length_of(heap: &Heap, this: Str) -> usize {
        length(heap, this)
    }

    /// Number of bytes.
    ///
    ///     "añb".bytesize   #=> 4
    #[method("bytesize")]
    fn bytesize(this: Str) -> usize {
        this.len()
    }

    /// No bytes at all?
    ///
    ///     "".empty?   #=> true
    #[method("empty?")]
    fn empty(this: Str) -> bool {
        this.len() == 0
    }

    /// Removes the content.
    ///
    ///     (+"abc").clear   #=> ""
    #[method("clear")]
    fn clear(cx: &mut Cx, this: Str) -> Result<Str> {
        cx.check_frozen(this.as_value())?;
        StringCell::clear(this, &mut cx.heap);
        Ok(this)
    }

    /// Makes it immutable.
    ///
    ///     "abc".freeze.frozen?   #=> true
    #[method("freeze")]
    fn freeze(cx: &mut Cx, this: Str) -> Str {
        cx.freeze_cell(this.as_value());
        this
    }

    /// The Symbol of that name.
    ///
    ///     "abc".to_sym    #=> :abc
    ///     "a b".intern    #=> :"a b"
    #[method("to_sym", "intern")]
    fn to_sym(cx: &mut Cx, this: Str) -> Result<Value> {
        symbol(cx, this)
    }

    /// The String itself when it may be changed, else a copy that may.
    ///
    ///     (+"a".freeze).frozen?   #=> false
    #[method("+@")]
    fn unfrozen(cx: &Cx, this: Str) -> Value {
        // Chilled ones, too.
        if this.header.flags & flags::FROZEN != 0 { copy(cx, this) } else { this.as_value() }
    }

    /// A frozen String of equal content, the same one for the same content while it is short.
    ///
    ///     (-"abc".dup).frozen?                  #=> true
    ///     (-"abc".dup).equal?(-"abc".dup)       #=> true
    #[method("-@", "dedup")]
    fn dedup(cx: &mut Cx, this: Str) -> Value {
        super::super::dedup::dedup(cx, this)
    }

    /// Code point of the first character.
    ///
    ///     "a".ord    #=> 97
    ///     "é".ord    #=> 233
    #[method("ord")]
    fn ord(cx: &mut Cx, this: Str) -> Result<i64> {
        if this.len() == 0 {
            return cx.arg_error("empty string");
        }
        let n = char_len_at(&cx.heap, this, 0);
        match enc(this).ord(&this.content(&cx.heap)[..n]) {
            Some(c) => Ok(c as i64),
            None => cx.arg_error(format!("invalid byte sequence in {}", enc(this).name())),
        }
    }

    /// The first character, or an empty String.
    ///
    ///     "abc".chr   #=> "a"
    #[method("chr")]
    fn chr(cx: &Cx, this: Str) -> Value {
        let n = if this.len() == 0 { 0 } else { char_len_at(&cx.heap, this, 0) };
        sub(cx, this, 0, n)
    }

    /// One-way hash of a password, as crypt(3) makes it: DES for two characters of salt, `$1$`, `$5$`, `$6$`.
    ///
    ///     "secret".crypt("az")   #=> "azZmGREBLCo0w"
    #[method("crypt")]
    fn crypt(cx: &mut Cx, this: Str, salt: Str) -> Result<Value> {
        for s in [this, salt] {
            if !enc(s).is_ascii_compatible() {
                return cx.arg_error(format!("wide char encoding: {}", enc(s).name()));
            }
        }
        let (password, mut setting) = (this.to_vec(), salt.to_vec());
        // What C reads of the salt.
        if let Some(end) = setting.iter().position(|c| *c == 0) {
            setting.truncate(end);
        }
        if setting.len() < 2 {
            return cx.arg_error("salt too short (need >=2 bytes)");
        }
        if password.contains(&0) {
            return cx.arg_error("string contains null byte");
        }
        match zakuro_text::crypt::crypt(&password, &setting, cx)? {
            Some(hash) => Ok(cx.str_bytes(&hash, string::BINARY)),
            None => match cx.const_by_path("Errno::EINVAL").and_then(|v| cx.class_id(v)) {
                Some(class) => cx.raise(class, "Invalid argument - crypt"),
                None => cx.arg_error("Invalid argument - crypt"),
            },
        }
    }

    /// Sum of the bytes modulo 2 to the power of `bits`.
    ///
    ///     "ab".sum   #=> 195
    #[method("sum")]
    fn sum(cx: &Cx, this: Str, bits: Option<i64>) -> Value {
        let total: u64 = this.content(&cx.heap).iter().map(|&b| b as u64).sum();
        match bits.unwrap_or(16) {
            n @ 1..=63 => cx.int_u64(total & ((1 << n) - 1)),
            _ => cx.int_u64(total),
        }
    }
}
