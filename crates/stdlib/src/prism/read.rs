//! prism's serialisation -> the objects of the gem.
//!
//! Nodes are written children first, so they are made with a list of values and no recursion: a node takes those of its children from the end of the list.
//! The bytes may be a program's own (`Prism.load`): nothing in them is trusted.

use super::tables::{DIAGNOSTICS, NODES, TOKENS};
use num_bigint::BigInt;
use zakuro_text::encoding::Encoding;
use zakuro_vm::held::Held;
use zakuro_vm::parsing::{Ask, VERSION};
use zakuro_vm::*;

/// Bytes that are read from the front.
struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> Option<u8> {
        let b = *self.all.get(self.at)?;
        self.at += 1;
        Some(b)
    }
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let taken = self.all.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(taken)
    }
    /// A number in groups of seven bits (LEB128).
    fn number(&mut self) -> Option<u32> {
        let (mut n, mut shift) = (0u64, 0);
        loop {
            let b = self.byte()?;
            n |= u64::from(b & 127) << shift;
            if b < 128 {
                return u32::try_from(n).ok();
            }
            shift += 7;
            if shift > 28 {
                return None;
            }
        }
    }
    /// How many follow: each takes a byte at least.
    fn count(&mut self) -> Option<usize> {
        let n = self.number()? as usize;
        (n <= self.all.len() - self.at).then_some(n)
    }
    fn word(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.take(4)?.try_into().ok()?))
    }
    fn location(&mut self) -> Option<(u32, u32)> {
        Some((self.number()?, self.number()?))
    }
}

/// What is made for one result.
struct Reader<'a> {
    bytes: Bytes<'a>,
    /// The source's, for tokens.
    source_bytes: &'a [u8],
    encoding: u8,
    freeze: bool,
    /// Objects that stay: see the constants below.
    kept: RootedVec,
    /// Names in the order of the parser's, as far as they were asked for.
    names: RootedVec,
    /// Where the table of names begins.
    names_at: usize,
    /// Classes of nodes, as far as they were asked for.
    classes: RootedVec,
}

/// Places in `Reader::kept`.
const SOURCE: usize = 0;
const LOCATION: usize = 1;

#[cold]
fn invalid<T>(cx: &mut Cx) -> Result<T> {
    cx.raise(ids::RUNTIME_ERROR, "Invalid serialization")
}

/// What is there, or an error: the bytes are not a serialisation.
macro_rules! told {
    ($cx:expr, $told:expr) => {
        match $told {
            Some(told) => told,
            None => return invalid($cx),
        }
    };
}

fn constant(cx: &mut Cx, name: &str) -> Result<Value> {
    let class = cx.class_named(&format!("Prism::{name}"))?;
    Ok(cx.class_value(class))
}

impl Reader<'_> {
    /// An object, frozen where all are.
    fn make(&self, cx: &mut Cx, class: Value, args: &[Value]) -> Result<Value> {
        let v = cx.call(class, sym::new, args)?;
        if self.freeze { cx.call(v, sym::freeze, &[]) } else { Ok(v) }
    }
    fn list(&self, cx: &mut Cx, values: &[Value]) -> Result<Value> {
        let v = cx.array(values);
        if self.freeze { cx.call(v, sym::freeze, &[]) } else { Ok(v) }
    }
    fn location_object(&mut self, cx: &mut Cx) -> Result<Value> {
        let (start, length) = told!(cx, self.bytes.location());
        let args = [self.kept[SOURCE], cx.int(i64::from(start)), cx.int(i64::from(length))];
        self.make(cx, self.kept[LOCATION], &args)
    }
    /// A location as nodes have it: packed in an Integer until somebody asks, unless it is to be frozen.
    fn location(&mut self, cx: &mut Cx) -> Result<Value> {
        if self.freeze {
            return self.location_object(cx);
        }
        let (start, length) = told!(cx, self.bytes.location());
        Ok(cx.int((i64::from(start) << 32) | i64::from(length)))
    }
    fn optional(&mut self, cx: &mut Cx, object: bool) -> Result<Value> {
        match told!(cx, self.bytes.byte()) {
            0 => Ok(Value::NIL),
            _ if object => self.location_object(cx),
            _ => self.location(cx),
        }
    }
    fn string(&mut self, cx: &mut Cx) -> Result<Value> {
        let text = told!(cx, self.bytes.count().and_then(|n| self.bytes.take(n)));
        let v = cx.str_bytes(text, self.encoding);
        cx.call(v, sym::freeze, &[])
    }
    fn name(&mut self, cx: &mut Cx) -> Result<Value> {
        let n = told!(cx, self.bytes.number()) as usize;
        if n == 0 {
            return Ok(Value::NIL);
        }
        if let Some(known) = self.names.get(n - 1).filter(|v| !v.is_nil()) {
            return Ok(*known);
        }
        let all = self.bytes.all;
        let mut entry = Bytes { all, at: self.names_at.saturating_add((n - 1).saturating_mul(8)) };
        let (start, length) = told!(cx, entry.word().zip(entry.word()));
        let text = told!(cx, Bytes { all, at: start as usize }.take(length as usize));
        let v = match std::str::from_utf8(text) {
            Ok(text) if text.is_ascii() || self.encoding == string::UTF8 => Value::sym(Sym::intern(text)),
            _ => {
                let s = cx.str_bytes(text, self.encoding);
                cx.call(s, Sym::intern("to_sym"), &[])?
            }
        };
        match self.names.get_mut(n - 1) {
            Some(place) => *place = v,
            None => return invalid(cx),
        }
        Ok(v)
    }
    fn integer(&mut self, cx: &mut Cx) -> Result<Value> {
        let (negative, words) = told!(cx, self.bytes.byte().zip(self.bytes.count()));
        let mut digits = Vec::new();
        for _ in 0..words {
            digits.push(told!(cx, self.bytes.number()));
        }
        let n = BigInt::from_slice(if negative == 0 { num_bigint::Sign::Plus } else { num_bigint::Sign::Minus }, &digits);
        Ok(cx.big(n))
    }

    fn comments(&mut self, cx: &mut Cx) -> Result<Value> {
        let classes = [constant(cx, "InlineComment")?, constant(cx, "EmbDocComment")?];
        let mut all = RootedVec::new(cx);
        for _ in 0..told!(cx, self.bytes.count()) {
            let kind = told!(cx, self.bytes.byte());
            let class = *told!(cx, classes.get(kind as usize));
            let location = self.location_object(cx)?;
            let comment = self.make(cx, class, &[location])?;
            all.push(comment);
        }
        self.list(cx, &all)
    }
    fn magic_comments(&mut self, cx: &mut Cx) -> Result<Value> {
        let class = constant(cx, "MagicComment")?;
        let mut all = RootedVec::new(cx);
        for _ in 0..told!(cx, self.bytes.count()) {
            let key = self.location_object(cx)?;
            let value = self.location_object(cx)?;
            let comment = self.make(cx, class, &[key, value])?;
            all.push(comment);
        }
        self.list(cx, &all)
    }
    fn diagnostics(&mut self, cx: &mut Cx, class: &str, levels: &[&str]) -> Result<Value> {
        let class = constant(cx, class)?;
        let mut all = RootedVec::new(cx);
        for _ in 0..told!(cx, self.bytes.count()) {
            let kind = told!(cx, self.bytes.number()) as usize;
            let kind = Value::sym(Sym::intern(told!(cx, DIAGNOSTICS.split_ascii_whitespace().nth(kind))));
            let message = self.string(cx)?;
            let location = self.location_object(cx)?;
            let level = told!(cx, self.bytes.byte()) as usize;
            let level = Value::sym(Sym::intern(told!(cx, levels.get(level).copied())));
            let diagnostic = self.make(cx, class, &[kind, message, location, level])?;
            all.push(diagnostic);
        }
        self.list(cx, &all)
    }
    /// Takes the token that follows if it is the newline at a place; its length. To the gem, the newline that ends a comment is part of it.
    fn newline_at(&mut self, place: u32, is_newline: impl Fn(u32) -> bool) -> Option<u32> {
        let mut next = Bytes { all: self.bytes.all, at: self.bytes.at };
        let (kind, (start, length), _) = (next.number()?, next.location()?, next.number()?);
        if !is_newline(kind) || start != place {
            return None;
        }
        self.bytes.at = next.at;
        Some(length)
    }
    /// Tokens with the lexer's states after them.
    fn tokens(&mut self, cx: &mut Cx) -> Result<Value> {
        let class = constant(cx, "Token")?;
        let kinds: Vec<Sym> = TOKENS.split_ascii_whitespace().map(Sym::intern).collect();
        let (comment, newlines) = (Sym::intern("COMMENT"), [Sym::intern("NEWLINE"), Sym::intern("IGNORED_NEWLINE")]);
        let newlines = |kind: u32| kinds.get(kind.wrapping_sub(1) as usize).is_some_and(|k| newlines.contains(k));
        let source_bytes = self.source_bytes;
        let mut all = RootedVec::new(cx);
        loop {
            let kind = told!(cx, self.bytes.number()) as usize;
            if kind == 0 {
                break;
            }
            let kind = *told!(cx, kinds.get(kind - 1));
            let (start, mut length) = told!(cx, self.bytes.location());
            let state = told!(cx, self.bytes.number());
            if kind == comment {
                length = length.saturating_add(self.newline_at(start.wrapping_add(length), newlines).unwrap_or(0));
            }
            if length == 0 && kind == Sym::intern("WORDS_SEP") {
                continue; // the gem knows no separator without characters
            }
            // The token of the end may lie behind the source.
            let behind = source_bytes.get(start as usize..).unwrap_or_default();
            let text = &behind[..behind.len().min(length as usize)];
            let text = cx.str_bytes(text, self.encoding);
            let at = [self.kept[SOURCE], cx.int(i64::from(start)), cx.int(i64::from(length))];
            let location = self.make(cx, self.kept[LOCATION], &at)?;
            if self.freeze {
                cx.call(text, sym::freeze, &[])?;
            }
            let token = self.make(cx, class, &[self.kept[SOURCE], Value::sym(kind), text, location])?;
            let pair = [token, cx.int(i64::from(state))];
            let pair = self.list(cx, &pair)?;
            all.push(pair);
        }
        self.list(cx, &all)
    }

    /// The tree: everything up to the table of names.
    fn tree(&mut self, cx: &mut Cx) -> Result<Value> {
        let mut made = RootedVec::new(cx);
        let mut fields = RootedVec::new(cx);
        let end = self.names_at;
        while self.bytes.at < end {
            let kind = match told!(cx, self.bytes.byte()) {
                0 => {
                    made.push(Value::NIL);
                    continue;
                }
                // A method's body may be skipped by who reads lazily: two lengths.
                255 => {
                    told!(cx, self.bytes.take(8));
                    continue;
                }
                kind => kind as usize,
            };
            let (class, letters) = *told!(cx, NODES.get(kind - 1));
            let known = self.classes[kind - 1];
            let class = if known.is_nil() { constant(cx, class)? } else { known };
            self.classes[kind - 1] = class;
            let id = told!(cx, self.bytes.number());
            fields.clear();
            fields.extend([self.kept[SOURCE], cx.int(i64::from(id))]);
            let location = self.location(cx)?;
            fields.push(location);
            let flags = told!(cx, self.bytes.number());
            fields.push(cx.int(i64::from(flags)));
            // Children were written before, so that their places are known once the lists' lengths are.
            let mut lists = [0usize; 4];
            let (mut children, mut list) = (0, 0);
            for letter in letters.bytes() {
                let value = match letter {
                    b'n' | b'o' => {
                        children += 1;
                        Value::NIL
                    }
                    b'N' => {
                        let n = told!(cx, self.bytes.number()) as usize;
                        *told!(cx, lists.get_mut(list)) = n;
                        list += 1;
                        children += n;
                        Value::NIL
                    }
                    b'c' | b'k' => self.name(cx)?,
                    b'C' => {
                        let mut names = RootedVec::new(cx);
                        for _ in 0..told!(cx, self.bytes.count()) {
                            let name = self.name(cx)?;
                            names.push(name);
                        }
                        self.list(cx, &names)?
                    }
                    b'l' => self.location(cx)?,
                    b'e' => {
                        let before = self.bytes.at;
                        if told!(cx, self.bytes.location()).1 == 0 {
                            Value::NIL
                        } else {
                            self.bytes.at = before;
                            self.location(cx)?
                        }
                    }
                    b'm' => self.optional(cx, false)?,
                    b's' => self.string(cx)?,
                    b'b' => Value::fixnum(i64::from(told!(cx, self.bytes.byte()))),
                    b'u' => {
                        let n = told!(cx, self.bytes.number());
                        cx.int(i64::from(n))
                    }
                    b'i' => self.integer(cx)?,
                    _ => {
                        let bits = told!(cx, self.bytes.take(8).and_then(|b| <[u8; 8]>::try_from(b).ok()));
                        cx.float(f64::from_ne_bytes(bits))
                    }
                };
                fields.push(value);
            }
            let mut child = told!(cx, made.len().checked_sub(children));
            let first = child;
            list = 0;
            for (i, letter) in letters.bytes().enumerate() {
                match letter {
                    b'n' | b'o' => {
                        fields[4 + i] = made[child];
                        child += 1;
                    }
                    b'N' => {
                        let several = self.list(cx, &made[child..child + lists[list]])?;
                        fields[4 + i] = several;
                        child += lists[list];
                        list += 1;
                    }
                    _ => {}
                }
            }
            let node = self.make(cx, class, &fields)?;
            made.truncate(first);
            made.push(node);
        }
        match made[..] {
            [root] => Ok(root),
            _ => invalid(cx),
        }
    }
}

/// Version and kind of the format.
fn header(bytes: &mut Bytes) -> Option<()> {
    (bytes.take(5)? == b"PRISM" && *bytes.take(3)? == VERSION && bytes.byte()? == 0).then_some(())
}

/// The result of a question, of what the parser has told.
pub fn result(cx: &mut Cx, ask: Ask, source: Ref<StringCell>, told: Ref<StringCell>, freeze: bool) -> Result<Value> {
    cx.check_frozen(source.as_value())?;
    cx.cell_changes(source.as_value());
    let (told, content) = (Held::of(told), Held::of(source));
    let mut bytes = Bytes { all: &told, at: 0 };
    let lexed = matches!(ask, Ask::Lex | Ask::ParseLex);
    // Tokens come first; they need the source, whose encoding comes behind them.
    while lexed && told!(cx, bytes.number()) != 0 {
        told!(cx, bytes.location().zip(bytes.number()));
    }
    if ask != Ask::Lex {
        told!(cx, header(&mut bytes));
    }
    let name = told!(cx, bytes.count().and_then(|n| bytes.take(n)));
    let encoding = told!(cx, Encoding::find(name));
    source.set_encoding(encoding.id());
    // A binary source with characters of UTF-8 is shown as those, so that columns are right.
    if encoding.id() == string::BINARY && !content.is_ascii() && std::str::from_utf8(&content).is_ok() {
        source.set_encoding(string::UTF8);
    }
    let line = told!(cx, bytes.number());
    let line = i64::from((line >> 1) as i32 ^ -((line & 1) as i32));
    told!(cx, bytes.take(8)); // a checksum
    let mut offsets = RootedVec::new(cx);
    for _ in 0..told!(cx, bytes.count()) {
        let n = told!(cx, bytes.number());
        offsets.push(cx.int(i64::from(n)));
    }
    let offsets = cx.array(&offsets);
    let class = constant(cx, "Source")?;
    let line = cx.int(line);
    let source_object = cx.call(class, Sym::intern("for"), &[source.as_value(), line, offsets])?;
    let location_class = constant(cx, "Location")?;
    let kept = RootedVec::from_slice(cx, &[source_object, location_class]);
    let names = RootedVec::new(cx);
    let classes = RootedVec::filled(cx, Value::NIL, NODES.len());
    let mut r = Reader { bytes, source_bytes: &content, encoding: encoding.id(), freeze, kept, names, names_at: 0, classes };

    let comments = r.comments(cx)?;
    if ask == Ask::Comments {
        if freeze {
            cx.call(source_object, Sym::intern("deep_freeze"), &[])?;
        }
        return Ok(comments);
    }
    for _ in 0..told!(cx, r.bytes.count()) {
        // Comments of nodes, which the gem finds by itself.
        told!(cx, r.bytes.number());
        for _ in 0..told!(cx, r.bytes.count()) {
            told!(cx, r.bytes.number());
        }
    }
    let magic = r.magic_comments(cx)?;
    let data = r.optional(cx, true)?;
    let errors = r.diagnostics(cx, "ParseError", &["syntax", "argument", "load"])?;
    let warnings = r.diagnostics(cx, "ParseWarning", &["default", "verbose"])?;
    let continuable = Value::bool(told!(cx, r.bytes.byte()) != 0);
    let mut value = Value::NIL;
    if ask != Ask::Lex {
        r.names_at = told!(cx, r.bytes.word()) as usize;
        let count = told!(cx, r.bytes.count());
        r.names.resize(count, Value::NIL);
        value = r.tree(cx)?;
    }
    if lexed {
        r.bytes.at = 0;
        let tokens = r.tokens(cx)?;
        value = if ask == Ask::Lex { tokens } else { r.list(cx, &[value, tokens])? };
    }
    if freeze {
        cx.call(source_object, Sym::intern("deep_freeze"), &[])?;
    }
    let class = match ask {
        Ask::Lex => "LexResult",
        Ask::ParseLex => "ParseLexResult",
        _ => "ParseResult",
    };
    let class = constant(cx, class)?;
    r.make(cx, class, &[value, comments, magic, data, errors, warnings, continuable, source_object])
}
