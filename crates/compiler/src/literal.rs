//! Literals: numbers, strings, symbols, regexps, arrays, hashes, ranges.

use crate::unit::{Compiler, Dest};
use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::Zero;
use ruby_prism as prism;
use ruby_prism::Node;
use std::sync::Arc;
use zakuro_base::{Sym, sym};
use zakuro_bytecode::{Big, CallSite, Const, HandlerKind, Intrinsic, NO_BLOCK, NO_KEYWORDS, Op, call_flags};
use zakuro_text::encoding::Encoding;
use zakuro_text::regexp::Warns;

/// Longer array and hash literals are built in pieces, so that they don't need a register for each element.
pub(crate) const PIECE: usize = 128;

/// From this many elements on a literal of constants alone is a constant itself, which each evaluation copies (it shares the buffer until one of them is
/// written).
const COPIED: usize = 6;
/// The same for pairs of a Hash.
const COPIED_PAIRS: usize = 4;

const BINARY: u8 = 0;
const UTF8: u8 = 1;

/// A part of an interpolated literal.
enum Part<'pr> {
    Text(Vec<u8>, u8),
    Code(Node<'pr>),
}

fn big(n: &BigInt) -> Big {
    Big { negative: n.sign() == Sign::Minus, digits: n.magnitude().to_u32_digits().into() }
}

/// Whether these are keywords of an Array literal that may be empty, and add nothing then: `**value` and nothing else.
fn may_vanish(n: &Node<'_>) -> bool {
    n.as_keyword_hash_node().is_some_and(|k| k.elements().iter().all(|e| matches!(e, Node::AssocSplatNode { .. })))
}

fn value(i: &prism::Integer<'_>) -> BigInt {
    let (negative, digits) = i.to_u32_digits();
    BigInt::from_biguint(if negative { Sign::Minus } else { Sign::Plus }, BigUint::from_slice(digits))
}

fn integer(i: &prism::Integer<'_>) -> Const {
    let (negative, digits) = i.to_u32_digits();
    let magnitude = match digits {
        [] => Some(0),
        [low] => Some(*low as u64),
        [low, high] => Some((*high as u64) << 32 | *low as u64),
        _ => None,
    };
    match magnitude.map(|m| if negative { -(m as i128) } else { m as i128 }).map(i64::try_from) {
        Some(Ok(n)) => Const::Int(n),
        _ => Const::Big(Big { negative, digits: digits.into() }),
    }
}

/// A number over a power of ten without their common divisor, which is a power of two times one of five. (Euclid's algorithm is quadratic.)
fn reduced(mut n: BigInt, d: BigInt) -> (BigInt, BigInt) {
    // The parser reduces what is small itself.
    if n.bits() < 2048 {
        let common = n.gcd(&d);
        return (n / &common, d / common);
    }
    let tens = d.trailing_zeros().unwrap_or(0);
    let twos = n.trailing_zeros().unwrap_or(0).min(tens);
    n >>= twos;
    // Fives: 5, 25, 625, ... as long as they divide the number, then back.
    let mut powers = vec![(1, BigInt::from(5))];
    let mut fives = 0;
    while let Some((count, power)) = powers.last()
        && fives + count <= tens
        && (&n % 5u32).is_zero()
    {
        crate::job::took(0);
        let (quotient, rest) = n.div_rem(power);
        if !rest.is_zero() {
            break;
        }
        n = quotient;
        fives += count;
        let next = (count * 2, power * power);
        powers.push(next);
    }
    for (count, power) in powers.iter().rev() {
        if fives + count <= tens && (&n % 5u32).is_zero() {
            crate::job::took(0);
            let (quotient, rest) = n.div_rem(power);
            if rest.is_zero() {
                n = quotient;
                fives += count;
            }
        }
    }
    let exponent = |e: u64| u32::try_from(e).unwrap_or(u32::MAX);
    (n, BigInt::from(5).pow(exponent(tens - fives)) << (tens - twos))
}

/// The constant of a numeric, symbol, string-key or `__LINE__` node.
pub(crate) fn number(n: &Node<'_>) -> Option<Const> {
    Some(match n {
        Node::IntegerNode { .. } => {
            let i = n.as_integer_node()?;
            integer(&i.value())
        }
        Node::FloatNode { .. } => Const::Float(n.as_float_node()?.value()),
        Node::RationalNode { .. } => {
            let r = n.as_rational_node()?;
            let (n, d) = (value(&r.numerator()), value(&r.denominator()));
            let (n, d) = reduced(n, d);
            Const::Rational(big(&n), big(&d))
        }
        Node::ImaginaryNode { .. } => Const::Complex(Box::new(number(&n.as_imaginary_node()?.numeric())?)),
        _ => return None,
    })
}

/// Whether the code of a piece may hold a jump out of it.
fn may_jump(part: &Part<'_>) -> bool {
    const JUMPS: [&[u8]; 5] = [b"break", b"next", b"redo", b"retry", b"return"];
    let Part::Code(n) = part else { return false };
    let text = n.location().as_slice();
    JUMPS.iter().any(|word| text.windows(word.len()).any(|w| w == *word))
}

/// A constant that is the same value each time: an Integer, a Float, a Symbol, nil, true, false, a frozen String.
fn immediate(c: &Compiler<'_>, n: &Node<'_>) -> Option<Const> {
    Some(match n {
        Node::NilNode { .. } => Const::Nil,
        Node::TrueNode { .. } => Const::True,
        Node::FalseNode { .. } => Const::False,
        Node::SymbolNode { .. } => Const::Sym(c.symbol(n)),
        Node::IntegerNode { .. } | Node::FloatNode { .. } => number(n)?,
        Node::StringNode { .. } => {
            let s = n.as_string_node().filter(|s| s.is_frozen() && !c.literal_places)?;
            Const::Interned { bytes: Arc::from(s.unescaped()), encoding: c.string_encoding(&s) }
        }
        _ => return None,
    })
}

/// The value of a small Integer literal.
pub(crate) fn small_int(n: &Node<'_>) -> Option<i16> {
    match integer(&n.as_integer_node()?.value()) {
        Const::Int(i) => i16::try_from(i).ok(),
        _ => None,
    }
}

macro_rules! regexp_options {
    ($n:expr) => {
        $n.is_ignore_case() as u8
            | ($n.is_extended() as u8) << 1
            | ($n.is_multi_line() as u8) << 2
            | (($n.is_utf_8() || $n.is_forced_utf8_encoding() || $n.is_euc_jp() || $n.is_windows_31j()) as u8) << 4
            | ($n.is_ascii_8bit() as u8) << 5
            | ($n.is_euc_jp() as u8) << 6
            | ($n.is_windows_31j() as u8) << 7
    };
}

macro_rules! regexp_encoding {
    ($c:expr, $n:expr) => {
        $c.encoding_of(
            $n.is_utf_8() || $n.is_forced_utf8_encoding() && !$c.has_own_properties($n.unescaped()),
            $n.is_forced_binary_encoding(),
        )
    };
}

/// Bytes of a Regexp literal that is compiled when it is first evaluated, which can be interrupted, and not with the constants of its code.
const LARGE_REGEXP: usize = 16 << 10;

/// What is wrong with a Regexp's text that has characters of the source's encoding, which is another than UTF-8, and `\u` escapes.
fn mixed_with_unicode(source: &[u8], encoding: u8) -> Option<&'static str> {
    let other = encoding != zakuro_text::encoding::Encoding::UTF_8.id();
    let first = source.iter().position(|b| *b >= 0x80).filter(|_| other)?;
    let mut at = 0;
    while at < source.len() {
        if source[at] != b'\\' {
            at += 1;
            continue;
        }
        if source.get(at + 1) == Some(&b'u') {
            return Some(if at < first { "non ASCII character in UTF-8 regexp" } else { "UTF-8 character in non UTF-8 regexp" });
        }
        at += 2;
    }
    None
}

/// The String literal that is all there is in `#{}`.
fn only_string<'pr>(n: &Node<'pr>) -> Option<prism::StringNode<'pr>> {
    let statements = n.as_embedded_statements_node()?.statements()?;
    let mut all = statements.body().iter();
    let one = all.next()?;
    if all.next().is_some() { None } else { one.as_string_node() }
}

/// What a String literal makes.
#[derive(Clone, Copy)]
enum Made {
    Frozen,
    /// A new String each time; changing it warns.
    Chilled,
    Mutable,
}

impl Made {
    fn of(frozen: bool, mutable: bool) -> Made {
        match (frozen, mutable) {
            (true, _) => Made::Frozen,
            (_, true) => Made::Mutable,
            _ => Made::Chilled,
        }
    }
}

impl<'pr> Compiler<'pr> {
    pub(crate) fn constant_literal(&mut self, n: &Node<'pr>, dest: Dest) -> u16 {
        match n {
            Node::SourceLineNode { .. } => {
                let line = self.line_of(n.location().start());
                self.load_int(line as i32 as i64, dest)
            }
            Node::SymbolNode { .. } => {
                let s = self.symbol(n);
                self.load_sym(s, dest)
            }
            _ => match number(n) {
                Some(Const::Int(i)) => self.load_int(i, dest),
                Some(c) => self.load_const(c, dest),
                None => self.misplaced(n, dest),
            },
        }
    }

    /// The Symbol of a SymbolNode.
    pub(crate) fn symbol(&self, n: &Node<'_>) -> Sym {
        let Some(s) = n.as_symbol_node() else { return sym::empty };
        let encoding = self.encoding_of(s.is_forced_utf8_encoding(), s.is_forced_binary_encoding());
        Sym::intern_in(s.unescaped(), encoding)
    }

    // ---- strings ----

    /// Whether what a pattern names by `\p` is read in the source's encoding: all that makes it UTF-8 for the parser.
    fn has_own_properties(&self, pattern: &[u8]) -> bool {
        let names = |c: &[u8]| pattern.windows(c.len()).any(|w| w == c);
        ![UTF8, BINARY, Encoding::US_ASCII.id()].contains(&self.encoding)
            && pattern.is_ascii()
            && !names(b"\\u")
            && (names(b"\\p{") || names(b"\\P{"))
    }

    /// A name of the source.
    pub(crate) fn intern(&self, name: &prism::ConstantId<'_>) -> Sym {
        crate::analyze::intern(name, self.encoding)
    }

    fn encoding_of(&self, utf8: bool, binary: bool) -> u8 {
        match (utf8, binary) {
            (true, _) => UTF8,
            (_, true) => BINARY,
            _ => self.encoding,
        }
    }

    fn string_encoding(&self, n: &prism::StringNode<'_>) -> u8 {
        self.encoding_of(n.is_forced_utf8_encoding(), n.is_forced_binary_encoding())
    }

    /// Gives the code a constant of its own for a String in another one, so that equal literals of a code are one String.
    fn name_string(&mut self, c: &Const) {
        if let Const::Interned { .. } = c {
            self.f.asm.konst(c.clone());
        }
    }

    fn str_const(&mut self, bytes: &[u8], encoding: u8) -> u16 {
        self.f.asm.konst(Const::Str { bytes: Arc::from(bytes), encoding })
    }

    pub(crate) fn string(&mut self, n: &prism::StringNode<'pr>, dest: Dest) -> u16 {
        let encoding = self.string_encoding(n);
        let made = Made::of(n.is_frozen(), n.is_mutable());
        let (at, line) = (n.location().start(), self.f.asm.line);
        self.set_line(at);
        let d = self.literal(n.unescaped(), encoding, made, at, dest);
        self.f.asm.line = line;
        d
    }

    /// The String of a literal.
    fn literal(&mut self, bytes: &[u8], encoding: u8, made: Made, at: u32, dest: Dest) -> u16 {
        let chilled = zakuro_bytecode::CHILLED_STRING;
        if dest == Dest::Discard {
            return 0;
        }
        let flags = match made {
            Made::Mutable => return self.string_value(bytes, encoding, false, dest),
            Made::Frozen if !self.literal_places => return self.interned(bytes, encoding, dest),
            Made::Frozen => zakuro_bytecode::FROZEN_STRING,
            Made::Chilled => chilled,
        };
        let k = self.str_const(bytes, encoding);
        if !self.literal_places {
            let d = self.out(dest);
            self.emit_literal(at, Op::NewStr, (flags, d, k, 0));
            return d;
        }
        let t = self.push();
        self.emit_literal(at, Op::NewStr, (0, t, k, 0));
        self.set_line(at);
        self.f.asm.emit(Op::Intrinsic, Intrinsic::LiteralPlace as u8, t, flags as u16, 1);
        self.deliver(t, t, dest)
    }

    fn string_value(&mut self, bytes: &[u8], encoding: u8, frozen: bool, dest: Dest) -> u16 {
        if dest == Dest::Discard {
            return 0;
        }
        let k = self.str_const(bytes, encoding);
        let d = self.out(dest);
        self.f.asm.emit(if frozen { Op::LoadConst } else { Op::NewStr }, 0, d, k, 0);
        d
    }

    /// `"x".freeze`, a key of a Hash.
    pub(crate) fn interned_string(&mut self, n: &prism::StringNode<'pr>, dest: Dest) -> u16 {
        let encoding = self.string_encoding(n);
        self.interned(n.unescaped(), encoding, dest)
    }

    /// The frozen String that all literals of this content share.
    fn interned(&mut self, bytes: &[u8], encoding: u8, dest: Dest) -> u16 {
        self.load_const(Const::Interned { bytes: Arc::from(bytes), encoding }, dest)
    }

    /// A string literal as a frozen constant: pieces of interpolations.
    pub(crate) fn frozen_string(&mut self, n: &prism::StringNode<'pr>, dest: Dest) -> u16 {
        let encoding = self.string_encoding(n);
        self.string_value(n.unescaped(), encoding, true, dest)
    }

    pub(crate) fn source_file(&mut self, n: &prism::SourceFileNode<'pr>, dest: Dest) -> u16 {
        let file = self.file.clone();
        self.literal(file.as_bytes(), UTF8, Made::of(n.is_frozen(), n.is_mutable()), n.location().start(), dest)
    }

    pub(crate) fn source_encoding(&mut self, dest: Dest) -> u16 {
        // The constant is the name in capitals.
        let name = Encoding::from_id(self.encoding).unwrap_or(Encoding::UTF_8).name();
        let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
        let t = self.get_const(Sym::intern("Encoding"), true, Dest::Push);
        self.pop_to(t);
        self.get_const_from(t, Sym::intern(&name), dest)
    }

    fn parts(&self, list: &prism::NodeList<'pr>, out: &mut Vec<Part<'pr>>) {
        for p in list.iter() {
            match &p {
                Node::StringNode { .. } => {
                    if let Some(s) = p.as_string_node() {
                        let encoding = self.string_encoding(&s);
                        match out.last_mut() {
                            Some(Part::Text(bytes, e)) if *e == encoding => bytes.extend_from_slice(s.unescaped()),
                            _ => out.push(Part::Text(s.unescaped().to_vec(), encoding)),
                        }
                    }
                }
                Node::InterpolatedStringNode { .. } => {
                    if let Some(s) = p.as_interpolated_string_node() {
                        self.parts(&s.parts(), out);
                    }
                }
                _ => out.push(Part::Code(p)),
            }
        }
    }

    /// Pushes the parts of an interpolation; returns the first register and their number.
    fn push_parts(&mut self, parts: &[Part<'pr>], of_text: bool) -> (u16, u16) {
        let first = self.f.top;
        let last = parts.iter().rposition(|p| matches!(p, Part::Code(_)));
        for (k, p) in parts.iter().enumerate() {
            match p {
                Part::Text(bytes, encoding) => {
                    if !bytes.is_empty() {
                        self.string_value(bytes, *encoding, true, Dest::Push);
                    }
                }
                Part::Code(n) => {
                    let part = self.expr(n, Dest::Push);
                    // What comes after may see what its `to_s` does, and change what that answers.
                    if of_text && last != Some(k) {
                        self.f.asm.emit(Op::ToS, 0, part, 0, 0);
                    }
                }
            }
        }
        (first, self.f.top - first)
    }

    fn interpolate(&mut self, list: &prism::NodeList<'pr>, at: u32, dest: Dest) -> u16 {
        let mut parts = Vec::new();
        self.parts(list, &mut parts);
        match parts.as_slice() {
            [] => return self.string_value(b"", self.encoding, false, dest),
            [Part::Text(bytes, encoding)] => return self.string_value(&bytes.clone(), *encoding, false, dest),
            _ => {}
        }
        let (first, count) = self.push_parts(&parts, true);
        self.set_line(at);
        self.pop_to(first);
        let d = self.out(dest);
        self.f.asm.emit(Op::Interp, self.encoding, d, first, count);
        d
    }

    pub(crate) fn interpolated_string(&mut self, n: &prism::InterpolatedStringNode<'pr>, dest: Dest) -> u16 {
        let mut parts = Vec::new();
        self.parts(&n.parts(), &mut parts);
        if let [Part::Text(bytes, encoding)] = parts.as_slice() {
            return self.literal(&bytes.clone(), *encoding, Made::of(n.is_frozen(), n.is_mutable()), n.location().start(), dest);
        }
        self.interpolate(&n.parts(), n.location().start(), dest)
    }

    pub(crate) fn interpolated_symbol(&mut self, n: &prism::InterpolatedSymbolNode<'pr>, dest: Dest) -> u16 {
        let mark = self.f.top;
        let s = self.interpolate(&n.parts(), n.location().start(), Dest::Push);
        self.pop_to(mark);
        let d = self.out(dest);
        self.f.asm.emit(Op::Intern, 0, d, s, 0);
        d
    }

    fn backtick(&mut self, at: u32, dest: Dest, text: impl FnOnce(&mut Self)) -> u16 {
        let base = self.push();
        text(self);
        self.set_line(at);
        let site =
            self.f.asm.site(CallSite { name: sym::backtick, flags: call_flags::FCALL, argc: 1, child: NO_BLOCK, keywords: NO_KEYWORDS });
        self.f.asm.emit(Op::SendSelf, 1, base, 0, site);
        self.deliver(base, base, dest)
    }

    pub(crate) fn x_string(&mut self, n: &prism::XStringNode<'pr>, dest: Dest) -> u16 {
        let encoding = self.encoding_of(n.is_forced_utf8_encoding(), n.is_forced_binary_encoding());
        self.backtick(n.location().start(), dest, |c| {
            c.string_value(n.unescaped(), encoding, true, Dest::Push);
        })
    }

    pub(crate) fn interpolated_x_string(&mut self, n: &prism::InterpolatedXStringNode<'pr>, dest: Dest) -> u16 {
        let at = n.location().start();
        self.backtick(at, dest, |c| {
            c.interpolate(&n.parts(), at, Dest::Push);
        })
    }

    // ---- regexps ----

    pub(crate) fn regexp(&mut self, n: &prism::RegularExpressionNode<'pr>, dest: Dest) -> u16 {
        self.set_line(n.location().start());
        self.plain_regexp(n.unescaped(), regexp_options!(n), regexp_encoding!(self, n), n.location().start(), dest)
    }

    fn plain_regexp(&mut self, source: &[u8], options: u8, encoding: u8, at: u32, dest: Dest) -> u16 {
        if source.len() > LARGE_REGEXP {
            return self.regexp_once(&[Part::Text(source.to_vec(), encoding)], options, at, dest);
        }
        // As in CRuby, what nobody takes is not looked at.
        if dest != Dest::Discard {
            if let Some(e) = mixed_with_unicode(source, self.encoding) {
                let (flags, _) = zakuro_text::regexp::literal_traits(options, encoding);
                let e = zakuro_text::regexp::Regexp::refused(source, flags, e);
                return self.refuse(at, &e.0, dest);
            }
            let (flags, enc) = zakuro_text::regexp::literal_traits(options, encoding);
            let warns = if self.verbose { Warns::All } else { Warns::Usual };
            match zakuro_text::regexp::Regexp::check(source, flags, enc, warns, &mut || true) {
                Err(e) => return self.refuse(at, &e.0, dest),
                Ok(warnings) => {
                    let line = self.line_of(at);
                    self.warnings.extend(warnings.into_iter().map(|message| crate::Warning { line, message, verbose: false }));
                }
            }
        }
        self.load_const(Const::Regexp { source: Arc::from(source), options, encoding }, dest)
    }

    pub(crate) fn interpolated_regexp(&mut self, n: &prism::InterpolatedRegularExpressionNode<'pr>, dest: Dest) -> u16 {
        self.regexp_parts(&n.parts(), regexp_options!(n), n.is_utf_8(), n.is_once(), n.location().start(), dest)
    }

    /// `utf8`: the option `u` says what its text is in, whatever the source is in.
    fn regexp_parts(&mut self, list: &prism::NodeList<'pr>, options: u8, utf8: bool, once: bool, at: u32, dest: Dest) -> u16 {
        let mut parts = Vec::new();
        self.parts(list, &mut parts);
        // Literals in `#{}` are pieces of the text, too.
        for part in &mut parts {
            if let Part::Code(n) = part
                && let Some(s) = only_string(n)
            {
                *part = Part::Text(s.unescaped().to_vec(), self.string_encoding(&s));
            }
        }
        for part in parts.iter_mut().filter(|_| utf8) {
            if let Part::Text(_, encoding) = part {
                *encoding = zakuro_text::encoding::Encoding::UTF_8.id();
            }
        }
        if let [Part::Text(bytes, encoding)] = parts.as_slice() {
            return self.plain_regexp(&bytes.clone(), options, *encoding, at, dest);
        }
        // Each text is read for itself, in the encoding that an option names.
        for part in &mut parts {
            if let Part::Text(bytes, encoding) = part {
                let (flags, enc) = zakuro_text::regexp::literal_traits(options, *encoding);
                if let Err(e) = zakuro_text::regexp::Regexp::check_piece(bytes, flags, enc) {
                    return self.refuse(at, &e.0, dest);
                }
                *encoding = enc.id();
            }
        }
        if !once {
            let (first, count) = self.push_parts(&parts, true);
            self.set_line(at);
            self.pop_to(first);
            let d = self.out(dest);
            self.f.asm.emit(Op::NewRegexp, options, d, first, count);
            return d;
        }
        self.regexp_once(&parts, options, at, dest)
    }

    fn regexp_once(&mut self, parts: &[Part<'pr>], options: u8, at: u32, dest: Dest) -> u16 {
        let site = self.f.once_sites;
        self.f.once_sites += 1;
        self.with_temp(dest, |c, d| {
            let (known, end) = (c.f.asm.label(), c.f.asm.label());
            c.intrinsic(Intrinsic::OnceTest, site, Dest::Reg(d));
            c.f.asm.jump_op(Op::JumpUnless, d, known);
            // Other threads wait for it, unless a jump could leave it unnoticed.
            let begun = parts.iter().any(|p| matches!(p, Part::Code(_))) && !parts.iter().any(may_jump);
            if begun {
                c.f.asm.emit(Op::LoadNil, 0, d, 0, 0);
                c.f.asm.emit(Op::Intrinsic, Intrinsic::OnceSet as u8, d, site, 1);
            }
            let start = c.f.asm.ip();
            let (first, count) = c.push_parts(parts, true);
            c.set_line(at);
            c.pop_to(first);
            c.f.asm.emit(Op::NewRegexp, options, d, first, count);
            if begun {
                let failed = c.f.asm.label();
                c.protect(start, failed, HandlerKind::Ensure);
                c.f.asm.emit(Op::Intrinsic, Intrinsic::OnceSet as u8, d, site, 1);
                c.f.asm.jump(end);
                c.f.asm.bind(failed);
                let (error, none) = (c.push(), c.push());
                c.f.asm.emit(Op::Catch, 0, error, 0, 0);
                c.f.asm.emit(Op::LoadUndef, 0, none, 0, 0);
                c.f.asm.emit(Op::Intrinsic, Intrinsic::OnceSet as u8, none, site, 1);
                c.f.asm.emit(Op::Rethrow, 0, error, 0, 0);
                c.pop_to(error);
            } else {
                c.f.asm.emit(Op::Intrinsic, Intrinsic::OnceSet as u8, d, site, 1);
                c.f.asm.jump(end);
            }
            c.f.asm.bind(known);
            c.intrinsic(Intrinsic::OnceGet, site, Dest::Reg(d));
            c.f.asm.bind(end);
        })
    }

    fn last_line(&mut self, regexp: u16, dest: Dest) -> u16 {
        self.f.asm.emit(Op::Intrinsic, Intrinsic::MatchLastLine as u8, regexp, 0, 1);
        self.deliver(regexp, regexp, dest)
    }

    pub(crate) fn match_last_line(&mut self, n: &prism::MatchLastLineNode<'pr>, dest: Dest) -> u16 {
        let r = self.plain_regexp(n.unescaped(), regexp_options!(n), regexp_encoding!(self, n), n.location().start(), Dest::Push);
        self.last_line(r, dest)
    }

    pub(crate) fn interpolated_match_last_line(&mut self, n: &prism::InterpolatedMatchLastLineNode<'pr>, dest: Dest) -> u16 {
        let r = self.regexp_parts(&n.parts(), regexp_options!(n), n.is_utf_8(), n.is_once(), n.location().start(), Dest::Push);
        self.last_line(r, dest)
    }

    // ---- collections ----

    pub(crate) fn array(&mut self, n: &prism::ArrayNode<'pr>, dest: Dest) -> u16 {
        let elements: Vec<Node<'pr>> = n.elements().iter().collect();
        if dest == Dest::Discard && !elements.iter().any(|e| matches!(e, Node::SplatNode { .. })) {
            for e in &elements {
                self.expr(e, Dest::Discard);
            }
            return 0;
        }
        if let Some(all) = self.constant_list(n) {
            let mark = self.f.top;
            let k = self.load_const(Const::Array(all), Dest::Push);
            self.pop_to(mark);
            let d = self.out(dest);
            self.emit_literal(n.location().start(), Op::Splat, (0, d, k, 0));
            return d;
        }
        self.array_of(&elements, Some(n.location().start()), dest)
    }

    /// The elements of a longer literal of constants alone.
    pub(crate) fn constant_list(&mut self, n: &prism::ArrayNode<'pr>) -> Option<Vec<Const>> {
        if n.elements().len() < COPIED {
            return None;
        }
        let all = n.elements().iter().map(|e| immediate(self, &e)).collect::<Option<Vec<Const>>>()?;
        all.iter().for_each(|c| self.name_string(c));
        Some(all)
    }

    /// An Array of expressions, splats included. Always a new one. `at`: where its literal begins, if it has one.
    pub(crate) fn array_of(&mut self, elements: &[Node<'pr>], at: Option<u32>, dest: Dest) -> u16 {
        if elements.len() <= PIECE && !elements.iter().any(|e| matches!(e, Node::SplatNode { .. }) || may_vanish(e)) {
            let first = self.f.top;
            for e in elements {
                self.expr(e, Dest::Push);
            }
            self.pop_to(first);
            let d = self.out(dest);
            match at {
                Some(at) => self.emit_literal(at, Op::NewArray, (0, d, first, elements.len() as u16)),
                None => self.f.asm.emit(Op::NewArray, 0, d, first, elements.len() as u16),
            }
            return d;
        }
        self.with_temp(dest, |c, d| {
            let mut started = false;
            let mut i = 0;
            while i < elements.len() {
                if let Some(s) = elements[i].as_splat_node() {
                    let mark = c.f.top;
                    let v = c.splat_operand(&s);
                    match started {
                        false => c.f.asm.emit(Op::Splat, 0, d, v, 0),
                        true => c.f.asm.emit(Op::ArrayConcat, 0, d, v, 0),
                    }
                    c.pop_to(mark);
                    i += 1;
                } else if may_vanish(&elements[i]) {
                    let mark = c.f.top;
                    let v = c.expr(&elements[i], if started { Dest::Push } else { Dest::Reg(d) });
                    c.f.asm.emit(Op::Intrinsic, Intrinsic::HashElements as u8, v, 0, 1);
                    if started {
                        c.f.asm.emit(Op::ArrayConcat, 0, d, v, 0);
                    }
                    c.pop_to(mark);
                    i += 1;
                } else {
                    let first = c.f.top;
                    let mut count = 0;
                    while i < elements.len() && count < PIECE && !matches!(elements[i], Node::SplatNode { .. }) && !may_vanish(&elements[i])
                    {
                        c.expr(&elements[i], Dest::Push);
                        count += 1;
                        i += 1;
                    }
                    match (started, count) {
                        (false, _) => c.f.asm.emit(Op::NewArray, 0, d, first, count as u16),
                        (true, 1) => c.f.asm.emit(Op::ArrayPush, 0, d, first, 0),
                        (true, _) => {
                            c.f.asm.emit(Op::NewArray, 0, first, first, count as u16);
                            c.f.asm.emit(Op::ArrayConcat, 0, d, first, 0);
                        }
                    }
                    c.pop_to(first);
                }
                started = true;
            }
        })
    }

    fn splat_operand(&mut self, s: &prism::SplatNode<'pr>) -> u16 {
        self.set_line(s.location().start());
        match s.expression() {
            Some(e) => self.expr(&e, Dest::Any),
            None => self.hidden(sym::anon_rest, Dest::Any),
        }
    }

    /// `*x` where one value is wanted.
    pub(crate) fn splat_value(&mut self, s: &prism::SplatNode<'pr>, dest: Dest) -> u16 {
        let mark = self.f.top;
        let v = self.splat_operand(s);
        self.pop_to(mark);
        let d = self.out(dest);
        self.f.asm.emit(Op::Splat, 0, d, v, 0);
        d
    }

    fn hash_key(&mut self, key: &Node<'pr>) {
        match key.as_string_node() {
            Some(s) => self.interned_string(&s, Dest::Push),
            None => self.expr(key, Dest::Push),
        };
    }

    /// `at`: where its literal begins.
    pub(crate) fn hash(&mut self, list: &prism::NodeList<'pr>, at: u32, dest: Dest) -> u16 {
        let elements: Vec<Node<'pr>> = list.iter().collect();
        if elements.len() >= COPIED_PAIRS
            && let Some(all) = self.constant_pairs(&elements)
        {
            return self.with_temp(dest, |c, d| {
                all.iter().for_each(|(k, v)| {
                    c.name_string(k);
                    c.name_string(v);
                });
                c.emit_literal(at, Op::NewHash, (0, d, d, 0));
                let mark = c.f.top;
                let k = c.load_const(Const::Hash(all), Dest::Push);
                c.f.asm.emit(Op::HashMerge, 0, d, k, 0);
                c.pop_to(mark);
            });
        }
        let plain = elements.iter().all(|e| matches!(e, Node::AssocNode { .. }));
        if plain && elements.len() * 2 <= PIECE {
            let first = self.f.top;
            for e in elements.iter().filter_map(|e| e.as_assoc_node()) {
                self.hash_key(&e.key());
                self.expr(&e.value(), Dest::Push);
            }
            self.pop_to(first);
            let d = self.out(dest);
            self.emit_literal(at, Op::NewHash, (0, d, first, elements.len() as u16 * 2));
            return d;
        }
        self.with_temp(dest, |c, d| {
            c.emit_literal(at, Op::NewHash, (0, d, d, 0));
            for e in &elements {
                let mark = c.f.top;
                if let Some(pair) = e.as_assoc_node() {
                    c.hash_key(&pair.key());
                    c.expr(&pair.value(), Dest::Push);
                    c.f.asm.emit(Op::HashSet, 0, d, mark, mark + 1);
                } else if let Some(s) = e.as_assoc_splat_node() {
                    let v = c.double_splat(&s, Dest::Any);
                    c.f.asm.emit(Op::HashMerge, 0, d, v, 0);
                }
                c.pop_to(mark);
            }
        })
    }

    /// Keys and values of a Hash literal of constants alone. A Float is no such key: `eql?` of zeros and NaN is not for here.
    fn constant_pairs(&self, elements: &[Node<'pr>]) -> Option<Vec<(Const, Const)>> {
        let pair = |e: &Node<'pr>| {
            let pair = e.as_assoc_node()?;
            let key = match pair.key() {
                Node::FloatNode { .. } => return None,
                key => match key.as_string_node() {
                    Some(s) => Const::Interned { bytes: Arc::from(s.unescaped()), encoding: self.string_encoding(&s) },
                    None => immediate(self, &key).filter(|k| !matches!(k, Const::Big(_)))?,
                },
            };
            Some((key, immediate(self, &pair.value())?))
        };
        elements.iter().map(pair).collect()
    }

    pub(crate) fn double_splat(&mut self, s: &prism::AssocSplatNode<'pr>, dest: Dest) -> u16 {
        self.set_line(s.location().start());
        match s.value() {
            Some(v) => self.expr(&v, dest),
            None => self.hidden(sym::anon_kwrest, dest),
        }
    }

    pub(crate) fn range(&mut self, n: &prism::RangeNode<'pr>, dest: Dest) -> u16 {
        let end = |n: Option<Node<'pr>>| match n {
            None | Some(Node::NilNode { .. }) => Some(Const::Nil),
            Some(n) => number(&n).filter(|c| matches!(c, Const::Int(_))),
        };
        let exclusive = n.is_exclude_end();
        if let (Some(low), Some(high)) = (end(n.left()), end(n.right())) {
            return self.load_const(Const::Range { low: Box::new(low), high: Box::new(high), exclusive }, dest);
        }
        let mark = self.f.top;
        let later = n.right().map(|r| (r.location().start(), r.location().end()));
        let low = match n.left() {
            Some(l) => self.operand(&l, later),
            None => self.nil(Dest::Push),
        };
        let high = match n.right() {
            Some(r) => self.operand(&r, None),
            None => self.nil(Dest::Push),
        };
        self.set_line(n.location().start());
        self.pop_to(mark);
        let d = self.out(dest);
        self.f.asm.emit(Op::NewRange, exclusive as u8, d, low, high);
        d
    }
}
