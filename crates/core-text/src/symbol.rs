//! Symbol: an interned name.
//!
//! A Symbol's name is bytes of the process-wide table: US-ASCII when it is ASCII, else UTF-8, else binary. Methods that read text
//! work on a String made of the name.

use crate::string::util::Str;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::{Encoding, inspect};
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[symbols::METHODS];

pub fn setup(cx: &mut Cx) {
    let _ = cx.include_module(ids::SYMBOL, ids::COMPARABLE);
}

/// Encoding of a Symbol.
pub fn encoding_of(s: Sym) -> Encoding {
    match Encoding::from_id(s.encoding()) {
        Some(Encoding::UTF_8) | None if s.bytes().is_ascii() => Encoding::US_ASCII,
        Some(e) => e,
        None => Encoding::UTF_8,
    }
}

/// The name as a new String.
pub fn to_string(cx: &Cx, s: Sym) -> Str {
    Ref::of(cx.str_bytes(s.bytes(), encoding_of(s).id()))
}

/// Text of `Symbol#inspect`.
pub fn inspect_text(s: Sym) -> String {
    // ASCII names are shown as UTF-8 would be: `:"\u0001"` rather than `:"\x01"` appears for UTF-8 sources only.
    inspect::inspect_sym(s.bytes(), encoding_of(s))
}

#[ruby_class(ids::SYMBOL)]
mod symbols {
    use super::*;

    /// All Symbols known to this VM: those of the core library, of its program, and those that it holds. Names that only other VMs know are not
    /// among them.
    ///
    ///     Symbol.all_symbols.include?(:all_symbols)   #=> true
    #[method("all_symbols", singleton)]
    fn all_symbols(cx: &mut Cx, _this: Value) -> Value {
        let all = cx.known_names();
        cx.sym_array(&all)
    }

    /// The name. The String will be frozen in a later version of Ruby: changing it warns (category `:deprecated`).
    ///
    ///     :abc.to_s   #=> "abc"
    #[method("to_s", "id2name", effect = "allocates", reason = "what changes is a String that nobody has yet")]
    fn to_s(cx: &Cx, this: Sym) -> Str {
        let s = to_string(cx, this);
        s.as_value().set_flags(flags::FROZEN | CHILLED | CHILLED_SYMBOL);
        s
    }

    /// The name as a frozen String, always the same one unless it is very long.
    ///
    ///     :abc.name           #=> "abc"
    ///     :abc.name.frozen?   #=> true
    #[method("name")]
    fn name(cx: &mut Cx, this: Sym) -> Value {
        crate::string::dedup::name(cx, this)
    }

    /// The Symbol itself.
    ///
    ///     :abc.to_sym   #=> :abc
    #[method("to_sym", "intern")]
    fn to_sym(this: Sym) -> Sym {
        this
    }

    /// A lambda that calls the method of that name.
    ///
    ///     :upcase.to_proc.call("a")   #=> "A"
    #[method("to_proc")]
    fn to_proc(cx: &mut Cx, this: Sym) -> Value {
        cx.plain_symbol_proc(this)
    }

    /// As it stands in a program.
    ///
    ///     :abc.inspect       #=> ":abc"
    ///     :"a b".inspect     #=> ":\"a b\""
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Sym) -> Result<Value> {
        let text = inspect_text(this);
        if !this.bytes().is_ascii() {
            let (own, to) = (encoding_of(this), crate::encoding::shown_in(cx));
            let text = inspect::inspect_sym_in(this.bytes(), own, to, cx)?;
            return Ok(cx.str_bytes(&text, if text.is_ascii() { Encoding::UTF_8 } else { own }.id()));
        }
        // As in CRuby, what is quoted is a String's text.
        Ok(if text.starts_with(":\"") { cx.str(&text) } else { cx.str_plain(&text) })
    }

    /// The same Symbol?
    ///
    ///     :a == :a   #=> true
    #[method("==", "===")]
    fn eq(this: Sym, other: Value) -> bool {
        other == Value::sym(this)
    }

    /// The same for one name.
    ///
    ///     :a.hash == :a.hash   #=> true
    #[method("hash")]
    fn hash(cx: &Cx, this: Sym) -> Value {
        // (What the Symbol's number would tell of the process is behind the seed and the mask.)
        cx.shown_hash(cx.quick_hash(Value::sym(this)).unwrap_or(0))
    }

    /// Order of the names; nil for other objects.
    ///
    ///     :a <=> :b    #=> -1
    ///     :a <=> "b"   #=> nil
    #[method("<=>")]
    fn cmp(cx: &Cx, this: Sym, other: Value) -> Value {
        let Some(o) = other.as_sym() else { return Value::NIL };
        let by_bytes = this.bytes().cmp(o.bytes());
        if this == o || by_bytes.is_ne() {
            return Value::fixnum(by_bytes as i64);
        }
        let (a, b) = (to_string(cx, this), to_string(cx, o));
        Value::fixnum(crate::string::basic::compare(&cx.heap, a, b) as i64)
    }

    /// `<=>` ignoring the case of ASCII letters; nil for other objects.
    ///
    ///     :a.casecmp(:B)    #=> -1
    ///     :a.casecmp("a")   #=> nil
    #[method("casecmp")]
    fn casecmp(cx: &mut Cx, this: Sym, other: Value) -> Result<Value> {
        let Some(o) = other.as_sym() else { return Ok(Value::NIL) };
        let (a, b) = (to_string(cx, this).as_value(), to_string(cx, o).as_value());
        cx.call(a, Sym::intern("casecmp"), &[b])
    }

    /// Equal names after case folding? nil for other objects.
    ///
    ///     :a.casecmp?(:A)   #=> true
    #[method("casecmp?")]
    fn casecmp_p(cx: &mut Cx, this: Sym, other: Value) -> Result<Value> {
        let Some(o) = other.as_sym() else { return Ok(Value::NIL) };
        let (a, b) = (to_string(cx, this).as_value(), to_string(cx, o).as_value());
        cx.call(a, Sym::intern("casecmp?"), &[b])
    }

    /// Number of characters.
    ///
    ///     :abc.size   #=> 3
    #[method("length", "size")]
    fn length(cx: &Cx, this: Sym) -> usize {
        if encoding_of(this).is_ascii_compatible() && this.bytes().is_ascii() {
            return this.bytes().len();
        }
        let s = to_string(cx, this);
        crate::string::util::length(&cx.heap, s)
    }

    /// Is it the Symbol without a character?
    ///
    ///     :"".empty?   #=> true
    #[method("empty?")]
    fn empty(this: Sym) -> bool {
        this.bytes().is_empty()
    }

    /// Encoding of the name.
    ///
    ///     :abc.encoding   #=> #<Encoding:US-ASCII>
    #[method("encoding")]
    fn encoding(cx: &Cx, this: Sym) -> Value {
        crate::encoding::object(cx, encoding_of(this))
    }

    /// As `String#[]` of the name.
    ///
    ///     :abc[1]      #=> "b"
    ///     :abc[0, 2]   #=> "ab"
    #[method("[]", "slice", min = 1, max = 2)]
    fn aref(cx: &mut Cx, this: Sym, args: Args) -> Result<Value> {
        let s = to_string(cx, this);
        crate::string::index::aref(cx, s, args.all())
    }

    /// As `String#=~` of the name.
    ///
    ///     :abc =~ /c/   #=> 2
    #[method("=~")]
    fn match_op(cx: &mut Cx, this: Sym, other: Value) -> Result<Value> {
        let s = to_string(cx, this).as_value();
        crate::string::regexp::match_op(cx, Ref::of(s), other)
    }

    /// As `String#match` of the name.
    ///
    ///     :abc.match(/b/)[0]   #=> "b"
    #[method("match", min = 1)]
    fn match_method(cx: &mut Cx, this: Sym, args: Args) -> Result<Value> {
        let s = to_string(cx, this);
        crate::string::regexp::match_method(cx, s, args)
    }

    /// As `String#match?` of the name.
    ///
    ///     :abc.match?(/b/)   #=> true
    #[method("match?")]
    fn match_p(cx: &mut Cx, this: Sym, pattern: Value, from: Option<i64>) -> Result<bool> {
        let s = to_string(cx, this);
        crate::string::regexp::match_p(cx, s, pattern, from)
    }

    /// Does the name begin with one of them?
    ///
    ///     :abc.start_with?("ab")   #=> true
    #[method("start_with?")]
    fn start_with(cx: &mut Cx, this: Sym, prefixes: Rest) -> Result<bool> {
        let s = to_string(cx, this);
        crate::string::search::start_with(cx, s, prefixes)
    }

    /// Does the name end with one of them?
    ///
    ///     :abc.end_with?("bc")   #=> true
    #[method("end_with?")]
    fn end_with(cx: &mut Cx, this: Sym, suffixes: Rest) -> Result<bool> {
        let s = to_string(cx, this);
        crate::string::search::end_with(cx, s, suffixes)
    }

    /// The Symbol of the name's successor.
    ///
    ///     :az.succ   #=> :ba
    #[method("succ", "next")]
    fn succ(cx: &mut Cx, this: Sym) -> Result<Sym> {
        let s = to_string(cx, this);
        Ok(Sym::intern_in(&crate::string::succ::succ(cx, s)?, this.encoding()))
    }

    fn mapped(cx: &mut Cx, this: Sym, op: zakuro_text::encoding::case::CaseOp, options: &[Value]) -> Result<Sym> {
        let s = to_string(cx, this);
        let r = crate::string::case::apply(cx, s, op, options)?;
        Ok({
            let r = Ref::<StringCell>::of(r);
            Sym::intern_in(r.content(&cx.heap), r.encoding())
        })
    }

    /// The Symbol in upper case.
    ///
    ///     :ab.upcase   #=> :AB
    #[method("upcase")]
    fn upcase(cx: &mut Cx, this: Sym, options: Rest) -> Result<Sym> {
        mapped(cx, this, zakuro_text::encoding::case::CaseOp::Up, options)
    }

    /// The Symbol in lower case.
    ///
    ///     :AB.downcase   #=> :ab
    #[method("downcase")]
    fn downcase(cx: &mut Cx, this: Sym, options: Rest) -> Result<Sym> {
        mapped(cx, this, zakuro_text::encoding::case::CaseOp::Down, options)
    }

    /// The Symbol with its first letter in upper case.
    ///
    ///     :ab.capitalize   #=> :Ab
    #[method("capitalize")]
    fn capitalize(cx: &mut Cx, this: Sym, options: Rest) -> Result<Sym> {
        mapped(cx, this, zakuro_text::encoding::case::CaseOp::Capitalize, options)
    }

    /// The Symbol with cases swapped.
    ///
    ///     :aB.swapcase   #=> :Ab
    #[method("swapcase")]
    fn swapcase(cx: &mut Cx, this: Sym, options: Rest) -> Result<Sym> {
        mapped(cx, this, zakuro_text::encoding::case::CaseOp::Swap, options)
    }
}
