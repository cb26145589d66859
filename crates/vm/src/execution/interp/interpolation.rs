//! Interpolation: Strings made of parts, each as its `to_s` has it.

use crate::raise::Result;
use crate::vm::Cx;
use zakuro_base::Sym;
use zakuro_object::string::{CodeRange, Joined, US_ASCII, UTF8};
use zakuro_object::*;

impl Cx {
    /// The concatenation of Strings of UTF-8 and US-ASCII, small Integers, Symbols of ASCII, nil, true and false, whose `to_s` are the builtin ones: made at once, in a buffer as large as it has to be. None if there is
    /// anything else. Runs no Ruby code.
    ///
    /// # Safety
    /// As many values as said.
    pub(crate) unsafe fn interpolate_plain(&mut self, first: *const Value, n: usize, encoding: u8) -> Option<Value> {
        // SAFETY: the caller's word; nothing writes them meanwhile.
        let parts = unsafe { std::slice::from_raw_parts(first, n) };
        if n == 0 || n == 1 && encoding != UTF8 && encoding != US_ASCII {
            return None;
        }
        if let Some(v) = self.interpolate_short(parts, encoding) {
            return Some(v);
        }
        let (mut length, mut any_utf8, mut range, mut asked) = (0usize, false, CodeRange::Ascii, [false; 5]);
        // The first ones' texts, of those that are neither Strings nor numbers.
        let mut texts: [&'static [u8]; KEPT] = [b""; KEPT];
        for (k, v) in parts.iter().enumerate() {
            let mut text: &'static [u8] = b"";
            if v.is_fixnum() {
                let digits = v.fix().unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
                length += digits as usize + (v.fix() < 0) as usize;
                asked[0] = true;
            } else if let Some(s) = Ref::<StringCell>::from_value(*v) {
                any_utf8 |= utf8_or_ascii(s)?;
                range = range_with(range, s)?;
                length += s.len();
            } else if let Some(name) = v.as_sym() {
                text = name.bytes();
                if !text.is_ascii() {
                    return None;
                }
                asked[1] = true;
            } else if v.is_nil() {
                asked[2] = true;
            } else if let Some(name) = self.plain_class_name(*v) {
                text = name.bytes();
            } else if *v == Value::TRUE {
                text = TRUE;
                asked[3] = true;
            } else if *v == Value::FALSE {
                text = FALSE;
                asked[4] = true;
            } else {
                return None;
            }
            length += text.len();
            if let Some(to) = texts.get_mut(k) {
                *to = text;
            }
        }
        let classes = [ids::INTEGER, ids::SYMBOL, ids::NIL_CLASS, ids::TRUE_CLASS, ids::FALSE_CLASS];
        if asked.into_iter().zip(classes).any(|(asked, class)| asked && !self.has_builtin_to_s(class)) {
            return None;
        }
        let out = StringCell::empty(&self.heap, ids::STRING.0, encoding_of_plain(any_utf8, n, encoding));
        if length > zakuro_object::string::INLINE && StringCell::ensure_capacity(out, &mut self.heap, length).is_err() {
            return None;
        }
        let made = StringCell::append_pieces(out, &self.heap, length, |pieces| {
            for (k, v) in parts.iter().enumerate() {
                if v.is_fixnum() {
                    pieces.add(itoa::Buffer::new().format(v.fix()).as_bytes());
                } else if let Some(s) = Ref::<StringCell>::from_value(*v) {
                    pieces.add(s.content(&self.heap));
                } else {
                    pieces.add(texts.get(k).copied().unwrap_or_else(|| self.text_of_part(*v)));
                }
            }
        });
        made.ok()?;
        out.set_code_range(range);
        Some(out.as_value())
    }
    /// The same of Strings and small Integers, of [`Joined::ROOM`] bytes in all at most, in one walk.
    #[inline(always)]
    fn interpolate_short(&mut self, parts: &[Value], encoding: u8) -> Option<Value> {
        let (mut text, mut any_utf8, mut range, mut numbers) = (Joined::new(), false, CodeRange::Ascii, false);
        for v in parts {
            let fits = if v.is_fixnum() {
                numbers = true;
                text.add(itoa::Buffer::new().format(v.fix()).as_bytes())
            } else {
                let s = Ref::<StringCell>::from_value(*v)?;
                any_utf8 |= utf8_or_ascii(s)?;
                range = range_with(range, s)?;
                text.add(s.content(&self.heap))
            };
            if !fits {
                return None;
            }
        }
        if numbers && !self.has_builtin_to_s(ids::INTEGER) {
            return None;
        }
        let out = StringCell::plain(&self.heap, text.bytes(), encoding_of_plain(any_utf8, parts.len(), encoding));
        out.set_code_range(range);
        Some(out.as_value())
    }
    /// The text of a part as it was found above, of a class too: nothing has run since.
    #[cold]
    fn text_of_part(&self, v: Value) -> &'static [u8] {
        match v {
            Value::TRUE => TRUE,
            Value::FALSE => FALSE,
            _ => {
                let name = v.as_sym().or_else(|| Ref::<ClassCell>::from_value(v).and_then(|c| self.class(c.id).name));
                name.map_or(b"", Sym::bytes)
            }
        }
    }
    /// Concatenation of `to_s` of `n` values.
    ///
    /// # Safety
    /// As many registers as said, which nobody reads afterwards.
    pub(super) unsafe fn interpolate(&mut self, first: *mut Value, n: usize, encoding: u8) -> Result<Value> {
        let refined = self.active_refinements(self.current_cref()).is_some();
        // SAFETY: the caller's word.
        unsafe {
            // All others have been asked for their `to_s` by now, and nothing is put together before the last one of the program's own parts is.
            let last = (0..n).rev().find(|k| !(*first.add(*k)).is_kind(Kind::String));
            if let Some(k) = last.filter(|k| !refined && (*first.add(*k)).is_kind(Kind::Object)) {
                let s = self.to_s(*first.add(k))?;
                *first.add(k) = s.as_value();
            }
            if !refined && let Some(v) = self.interpolate_plain(first, n, encoding) {
                return Ok(v);
            }
        }
        let out = StringCell::empty(&self.heap, ids::STRING.0, encoding);
        for k in 0..n {
            // SAFETY: n registers from `first`.
            let mut v = unsafe { *first.add(k) };
            if refined && let Some(s) = self.refined_to_s(v)? {
                v = s.as_value();
            }
            if k == 0 && n > 1 {
                // What a single value becomes is of the source's encoding, several begin with that of the first.
                out.set_encoding(Ref::<StringCell>::from_value(v).map_or(zakuro_object::string::US_ASCII, |s| s.encoding()));
            }
            if let Some(s) = Ref::<StringCell>::from_value(v) {
                self.append_piece(out, s)?;
            } else if v.is_fixnum() && self.has_builtin_to_s(ids::INTEGER) {
                StringCell::append(out, &mut self.heap, itoa::Buffer::new().format(v.fix()).as_bytes());
            } else if let Some(s) = v.as_sym()
                && s.bytes().is_ascii()
                && self.has_builtin_to_s(ids::SYMBOL)
            {
                StringCell::append(out, &mut self.heap, s.bytes());
            } else if v.is_nil() && self.has_builtin_to_s(ids::NIL_CLASS) {
                // Nothing.
            } else {
                let s = self.to_s(v)?;
                self.append_piece(out, s)?;
            }
        }
        Ok(out.as_value())
    }
    /// A class or module as part of an interpolation: its name as a Symbol, which is put there as it is, if `to_s` of it and of Symbols are the builtin ones. (A String would have to be made for it.)
    #[inline]
    pub(super) fn class_as_part(&mut self, v: Value) -> Option<Value> {
        if !v.is_kind(Kind::Class) || self.active_refinements(self.current_cref()).is_some() {
            return None;
        }
        let name = self.plain_class_name(v)?;
        self.has_builtin_to_s(ids::SYMBOL).then(|| Value::sym(name))
    }
    /// What `to_s` of a part of an interpolation makes of it, that of a refinement where one is in force.
    #[inline(never)]
    pub fn part_to_s(&mut self, v: Value) -> Result<Ref<StringCell>> {
        if self.active_refinements(self.current_cref()).is_some()
            && let Some(s) = self.refined_to_s(v)?
        {
            return Ok(s);
        }
        self.to_s(v)
    }
    /// The String that a refinement's `to_s` answers, if there is one here.
    fn refined_to_s(&mut self, v: Value) -> Result<Option<Ref<StringCell>>> {
        if v.is_kind(Kind::String) {
            return Ok(None);
        }
        let Some(m) = self.method_of_here(v, sym::to_s) else { return Ok(None) };
        if self.refined_class(m.owner).is_none() {
            return Ok(None);
        }
        let s = self.call_method(m, v, sym::to_s, &[], false, crate::Block::NONE)?;
        Ok(Ref::from_value(s))
    }
    /// The result's encoding is the source's while all is ASCII, then that of the first piece that is not.
    fn append_piece(&mut self, out: Ref<StringCell>, s: Ref<StringCell>) -> Result<()> {
        let (to, from) = (out.encoding(), s.encoding());
        if to != from && s.len() > 0 {
            if out.len() == 0 && !is_ascii(s) {
                out.set_encoding(from);
            } else if !is_ascii(s) {
                if !is_ascii(out) || wide(from) {
                    return crate::library::library().incompatible(self, out.as_value(), s.as_value());
                }
                out.set_encoding(from);
            } else if wide(to) {
                return crate::library::library().incompatible(self, out.as_value(), s.as_value());
            }
        }
        StringCell::append_string(out, &mut self.heap, s);
        // What was ASCII alone and of no other encoding takes the first one.
        if out.encoding() == zakuro_object::string::US_ASCII && !wide(from) {
            out.set_encoding(from);
        }
        Ok(())
    }
    /// The name, if it is of ASCII, of a class or module whose `to_s` is the builtin one.
    fn plain_class_name(&mut self, v: Value) -> Option<Sym> {
        let id = Ref::<ClassCell>::from_value(v)?.id;
        let d = self.class(id);
        let name = d.name.filter(|n| d.kind != ClassKind::Singleton && n.bytes().is_ascii())?;
        if self.refined_class(id).is_some() {
            return None;
        }
        let class = self.dispatch_class(v);
        let m = self.find_method(class, sym::to_s)?;
        (m.method_kind() == MethodKind::Native && m.owner == ids::MODULE).then_some(name)
    }
    /// Whether `to_s` of a core class is still the builtin.
    fn has_builtin_to_s(&mut self, class: ClassId) -> bool {
        self.find_method(class, sym::to_s).is_some_and(|m| m.method_kind() == MethodKind::Native && m.owner == class)
    }
}

/// Whether a part of an interpolation is UTF-8; None: it is neither that nor US-ASCII.
#[inline(always)]
fn utf8_or_ascii(s: Ref<StringCell>) -> Option<bool> {
    match s.encoding() {
        UTF8 => Some(true),
        US_ASCII => Some(false),
        _ => None,
    }
}

/// What is known of an interpolation with one more part; None: that would have to be found out.
#[inline(always)]
fn range_with(range: CodeRange, s: Ref<StringCell>) -> Option<CodeRange> {
    match s.code_range() {
        CodeRange::Ascii => Some(range),
        CodeRange::Unknown if s.len() <= SCANNED && s.is_ascii() => Some(range),
        CodeRange::Valid if s.encoding() == UTF8 => Some(CodeRange::Valid),
        _ => None,
    }
}

/// What a single value becomes is of the source's encoding; several that are ASCII alone begin with that of the first, or are US-ASCII.
#[inline(always)]
fn encoding_of_plain(any_utf8: bool, n: usize, encoding: u8) -> u8 {
    match any_utf8 {
        true => UTF8,
        false if n == 1 => encoding,
        false => US_ASCII,
    }
}

const TRUE: &[u8] = b"true";
const FALSE: &[u8] = b"false";
/// Parts whose texts are kept.
const KEPT: usize = 8;
/// Bytes up to which a part is looked at each time that it is asked for, whether it is ASCII.
const SCANNED: usize = 64;

/// UTF-16 and UTF-32: their ASCII characters are not single bytes. (Ids of text::encoding.)
fn wide(encoding: u8) -> bool {
    (3..=8).contains(&encoding)
}
fn is_ascii(s: Ref<StringCell>) -> bool {
    !wide(s.encoding()) && s.is_ascii()
}
