//! `Kernel#format`: reads a format string and renders directives; a VM supplies the arguments.
//!
//! The engine owns syntax, argument numbering and rendering. Conversions that may call Ruby (`to_s`, `inspect`, `Integer()`,
//! `Float()`, hash look-ups) are calls on [`FormatArgs`], so an error of the caller passes through unchanged.
//! Rejected: collecting all arguments first (conversions must run in directive order, and `%<a>d` may run a default proc).

mod render;

#[cfg(test)]
mod tests;

use crate::int::Int;
use num_bigint::BigInt;
use zakuro_base::progress::Progress;

/// Which argument a directive wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgRef<'a> {
    /// Zero-based position; always below [`FormatArgs::len`].
    Index(usize),
    /// `%<name>` (`braces` false) or `%{name}`: the only argument must be a Hash (else [`FormatError::one_hash_required`]), and a
    /// key that it lacks is [`FormatError::key_not_found`].
    Named { name: &'a [u8], braces: bool },
}

/// The argument of a float directive.
#[derive(Clone, Debug, PartialEq)]
pub enum FloatArg {
    Float(f64),
    /// Integer or Rational, rendered exactly by `%f`. `den` > 0.
    Exact {
        num: BigInt,
        den: BigInt,
    },
}

/// Ruby's class of a [`FormatError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatErrorKind {
    ArgumentError,
    KeyError,
}

/// An error with Ruby's wording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    pub kind: FormatErrorKind,
    /// In the format's encoding.
    pub message: Vec<u8>,
}

impl FormatError {
    fn new(message: impl Into<Vec<u8>>) -> Self {
        FormatError { kind: FormatErrorKind::ArgumentError, message: message.into() }
    }

    pub fn key_not_found(name: &[u8], braces: bool) -> Self {
        FormatError { kind: FormatErrorKind::KeyError, message: [b"key", &*bracketed(name, braces), b" not found"].concat() }
    }

    pub fn one_hash_required() -> Self {
        Self::new("one hash required")
    }
}

fn bracketed(name: &[u8], braces: bool) -> Vec<u8> {
    if braces { [b"{", name, b"}"].concat() } else { [b"<", name, b">"].concat() }
}

/// The caller's side: typed access to arguments.
pub trait FormatArgs {
    type Err;
    /// Number of positional arguments.
    fn len(&self) -> usize;
    /// A width or precision given as `*`: converted implicitly (`to_int`), so that a String is a TypeError.
    fn count(&mut self, arg: ArgRef<'_>) -> Result<Int, Self::Err>;
    /// `%d %x ...`: the argument converted as `Kernel#Integer` does (floats are floored).
    fn integer(&mut self, arg: ArgRef<'_>) -> Result<Int, Self::Err>;
    /// `%f %e %g %a`: as `Kernel#Float` does. `Exact` is welcome for Integer and Rational when `directive` is `f`.
    fn float(&mut self, arg: ArgRef<'_>, directive: u8) -> Result<FloatArg, Self::Err>;
    /// `%s`: the bytes of `to_s`.
    fn string(&mut self, arg: ArgRef<'_>) -> Result<Vec<u8>, Self::Err>;
    /// `%p`: the bytes of `inspect`.
    fn inspect(&mut self, arg: ArgRef<'_>) -> Result<Vec<u8>, Self::Err>;
    /// `%c`: one character, of a code point or the first one of a String.
    fn chr(&mut self, arg: ArgRef<'_>) -> Result<Vec<u8>, Self::Err>;
    /// What the rendering of big numbers asks whether to go on.
    fn progress(&mut self) -> &mut dyn Progress;
    /// The error that stopped it.
    fn stopped(&mut self) -> Self::Err;
    /// The format leaves positional arguments over.
    fn unused(&mut self) -> Result<(), Self::Err> {
        Ok(())
    }
    fn error(&mut self, error: FormatError) -> Self::Err;
    /// Characters in `s`; overridden for encodings other than UTF-8.
    fn char_count(&self, s: &[u8]) -> usize {
        render::utf8_prefix(s, usize::MAX).1
    }
    /// Byte length of the first `n` characters of `s`.
    fn char_prefix(&self, s: &[u8], n: usize) -> usize {
        render::utf8_prefix(s, n).0
    }
}

/// Flags, width and precision of one directive.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Spec {
    pub plus: bool,
    pub space: bool,
    pub minus: bool,
    pub zero: bool,
    pub alt: bool,
    pub width: Option<usize>,
    pub precision: Option<usize>,
    /// A precision was written, even a negative `*` that counts as none.
    pub precision_seen: bool,
}

impl Spec {
    fn is_bare(&self) -> bool {
        !(self.plus || self.space || self.minus || self.zero || self.alt) && self.width.is_none() && !self.precision_seen
    }
}

/// How arguments were numbered so far; the styles don't mix.
enum Numbering {
    None,
    /// `posarg`: the number of the last sequential argument.
    Sequential(usize),
    Numbered,
    Named,
}

struct Engine<'f, 'a, A: FormatArgs> {
    fmt: &'f [u8],
    at: usize,
    out: Vec<u8>,
    args: &'a mut A,
    numbering: Numbering,
    next: usize,
}

/// Renders `fmt`.
///
/// # Errors
/// What [`FormatArgs`] returns, and [`FormatError`] through [`FormatArgs::error`].
pub fn format<A: FormatArgs>(fmt: &[u8], args: &mut A) -> Result<Vec<u8>, A::Err> {
    let mut engine = Engine { fmt, at: 0, out: Vec::with_capacity(fmt.len() + 16), args, numbering: Numbering::None, next: 1 };
    engine.run()?;
    Ok(engine.out)
}

/// CRuby keeps widths in an int.
const MAX_NUMBER: usize = i32::MAX as usize;

impl<'f, A: FormatArgs> Engine<'f, '_, A> {
    fn fail<T>(&mut self, message: impl Into<Vec<u8>>) -> Result<T, A::Err> {
        Err(self.args.error(FormatError::new(message)))
    }

    fn run(&mut self) -> Result<(), A::Err> {
        while let Some(n) = memchr::memchr(b'%', &self.fmt[self.at..]) {
            self.out.extend_from_slice(&self.fmt[self.at..self.at + n]);
            self.at += n + 1;
            if self.at == self.fmt.len() {
                return self.fail("incomplete format specifier; use %% (double %) instead");
            }
            self.directive()?;
        }
        self.out.extend_from_slice(&self.fmt[self.at..]);
        // Numbered and named arguments may be left over.
        let used = match self.numbering {
            Numbering::None | Numbering::Sequential(_) => self.next - 1,
            _ => self.args.len(),
        };
        if used < self.args.len() { self.args.unused() } else { Ok(()) }
    }

    fn directive(&mut self) -> Result<(), A::Err> {
        let mut spec = Spec::default();
        let mut value: Option<ArgRef<'f>> = None;
        let mut name: Option<Vec<u8>> = None;
        loop {
            // The end acts like a NUL, which no directive is.
            let c = self.fmt.get(self.at).copied().unwrap_or(0);
            self.at += 1;
            match c {
                b' ' | b'#' | b'+' | b'-' | b'0' => {
                    self.no_flags_behind_numbers(&spec)?;
                    match c {
                        b' ' => spec.space = true,
                        b'#' => spec.alt = true,
                        b'+' => spec.plus = true,
                        b'-' => spec.minus = true,
                        _ => spec.zero = true,
                    }
                }
                b'1'..=b'9' => {
                    self.at -= 1;
                    let n = self.number("width")?;
                    if self.fmt.get(self.at) == Some(&b'$') {
                        self.at += 1;
                        if value.is_some() {
                            return self.fail(format!("value given twice - {n}$"));
                        }
                        value = Some(self.numbered(n)?);
                    } else {
                        self.width_allowed(&spec)?;
                        spec.width = Some(n);
                    }
                }
                b'<' | b'{' => {
                    let braces = c == b'{';
                    let start = self.at;
                    let Some(len) = memchr::memchr(if braces { b'}' } else { b'>' }, &self.fmt[start..]) else {
                        return self.fail("malformed name - unmatched parenthesis");
                    };
                    let bytes = &self.fmt[start..start + len];
                    self.at = start + len + 1;
                    let shown = bracketed(bytes, braces);
                    if let Some(before) = name {
                        return self.fail([b"named", &*shown, b" after ", &*before].concat());
                    }
                    match self.numbering {
                        Numbering::Sequential(n) => {
                            return self.fail([b"named", &*shown, format!(" after unnumbered({n})").as_bytes()].concat());
                        }
                        Numbering::Numbered => return self.fail([b"named", &*shown, b" after numbered"].concat()),
                        Numbering::None | Numbering::Named => self.numbering = Numbering::Named,
                    }
                    let arg = ArgRef::Named { name: bytes, braces };
                    if braces {
                        let s = self.args.string(arg)?;
                        self.text(&spec, &s);
                        return Ok(());
                    }
                    value = Some(arg);
                    name = Some(shown);
                }
                b'*' => {
                    self.width_allowed(&spec)?;
                    let n = self.star("width")?;
                    spec.minus |= n < 0;
                    spec.width = Some(n.unsigned_abs() as usize);
                }
                b'.' => {
                    if spec.precision_seen {
                        return self.fail("precision given twice");
                    }
                    spec.precision_seen = true;
                    if self.fmt.get(self.at) == Some(&b'*') {
                        self.at += 1;
                        let n = self.star("precision")?;
                        // A negative precision counts as none.
                        spec.precision = usize::try_from(n).ok();
                    } else {
                        spec.precision = Some(self.number("precision")?);
                    }
                }
                b'%' => {
                    if !spec.is_bare() {
                        return self.fail("invalid format character - %");
                    }
                    self.out.push(b'%');
                    return Ok(());
                }
                b'c' => {
                    let arg = self.argument(value)?;
                    let s = self.args.chr(arg)?;
                    self.text(&Spec { precision: None, ..spec }, &s);
                    return Ok(());
                }
                b's' | b'p' => {
                    let arg = self.argument(value)?;
                    let s = if c == b's' { self.args.string(arg)? } else { self.args.inspect(arg)? };
                    self.text(&spec, &s);
                    return Ok(());
                }
                b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'b' | b'B' => {
                    let arg = self.argument(value)?;
                    let v = self.args.integer(arg)?;
                    render::integer(&mut self.out, &spec, c, &v, self.args.progress()).map_err(|_| self.args.stopped())?;
                    return Ok(());
                }
                b'f' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                    let arg = self.argument(value)?;
                    match self.args.float(arg, c)? {
                        FloatArg::Float(x) => render::float(&mut self.out, &spec, c, x),
                        FloatArg::Exact { num, den } => {
                            render::exact(&mut self.out, &spec, c, &num, &den, self.args.progress()).map_err(|_| self.args.stopped())?;
                        }
                    }
                    return Ok(());
                }
                _ => {
                    if c.is_ascii_control() {
                        return self.fail("malformed format string");
                    }
                    // Name a multi-byte character as a whole.
                    let rest = &self.fmt[self.at - 1..];
                    let len = self.args.char_prefix(rest, 1).max(1);
                    let shown = String::from_utf8_lossy(&rest[..len.min(rest.len())]).into_owned();
                    return self.fail(format!("malformed format string - %{shown}"));
                }
            }
        }
    }

    fn no_flags_behind_numbers(&mut self, spec: &Spec) -> Result<(), A::Err> {
        if spec.width.is_some() {
            return self.fail("flag after width");
        }
        if spec.precision_seen {
            return self.fail("flag after precision");
        }
        Ok(())
    }

    fn width_allowed(&mut self, spec: &Spec) -> Result<(), A::Err> {
        if spec.width.is_some() {
            return self.fail("width given twice");
        }
        if spec.precision_seen {
            return self.fail("width after precision");
        }
        Ok(())
    }

    /// Digits at the cursor; a format string may not end inside them.
    fn number(&mut self, what: &str) -> Result<usize, A::Err> {
        let mut n = 0usize;
        while let Some(d) = self.fmt.get(self.at).filter(|b| b.is_ascii_digit()) {
            n = n * 10 + (d - b'0') as usize;
            if n > MAX_NUMBER {
                return self.fail(format!("{what} too big"));
            }
            self.at += 1;
        }
        if self.at >= self.fmt.len() {
            return self.fail("malformed format string - %*[0-9]");
        }
        Ok(n)
    }

    /// The value of a `*` or `*n$`.
    fn star(&mut self, what: &str) -> Result<i64, A::Err> {
        let start = self.at;
        let mut arg = None;
        if self.fmt.get(self.at).is_some_and(u8::is_ascii_digit) {
            let n = self.number(if what == "precision" { "prec" } else { what })?;
            if self.fmt.get(self.at) == Some(&b'$') {
                self.at += 1;
                arg = Some(self.numbered(n)?);
            } else {
                self.at = start;
            }
        }
        let arg = self.argument(arg)?;
        match self.args.count(arg)? {
            Int::Small(n) if n.unsigned_abs() as usize <= MAX_NUMBER => Ok(n),
            _ => self.fail(format!("{what} too big")),
        }
    }

    fn numbered(&mut self, n: usize) -> Result<ArgRef<'f>, A::Err> {
        match self.numbering {
            Numbering::Sequential(m) => return self.fail(format!("numbered({n}) after unnumbered({m})")),
            Numbering::Named => return self.fail(format!("numbered({n}) after named")),
            Numbering::None | Numbering::Numbered => self.numbering = Numbering::Numbered,
        }
        if n < 1 {
            return self.fail(format!("invalid index - {n}$"));
        }
        self.checked(n - 1)
    }

    fn argument(&mut self, given: Option<ArgRef<'f>>) -> Result<ArgRef<'f>, A::Err> {
        if let Some(arg) = given {
            return Ok(arg);
        }
        let n = self.next;
        match self.numbering {
            Numbering::Numbered => return self.fail(format!("unnumbered({n}) mixed with numbered")),
            Numbering::Named => return self.fail(format!("unnumbered({n}) mixed with named")),
            Numbering::None | Numbering::Sequential(_) => self.numbering = Numbering::Sequential(n),
        }
        self.next += 1;
        self.checked(n - 1)
    }

    fn checked(&mut self, index: usize) -> Result<ArgRef<'f>, A::Err> {
        if index >= self.args.len() {
            return self.fail("too few arguments");
        }
        Ok(ArgRef::Index(index))
    }

    /// `%s`-like output: precision cuts, width pads, both in characters.
    fn text(&mut self, spec: &Spec, s: &[u8]) {
        let s = match spec.precision {
            Some(n) => &s[..self.args.char_prefix(s, n)],
            None => s,
        };
        let pad = match spec.width {
            Some(w) => w.saturating_sub(self.args.char_count(s)),
            None => 0,
        };
        if !spec.minus {
            render::fill(&mut self.out, b' ', pad);
        }
        self.out.extend_from_slice(s);
        if spec.minus {
            render::fill(&mut self.out, b' ', pad);
        }
    }
}
