//! Code as bytes: what a build puts into the binary, and what a cache on disk holds.
//!
//! An [`Archive`] has one table of names and any number of programs, each the whole tree of a [`Code`]. It holds neither the file's name nor its text: who reads
//! a program gives them. Nor a version, though numbers of opcodes and intrinsics are in it as they are: who keeps an archive for other builds than his own has
//! to keep [`version`] beside it.
//!
//! Reading takes any bytes without a panic, and asks for no more memory than a fixed multiple of them. That they make a tree is all it finds out: whether it may
//! run is up to [`crate::verify`], and that checks no types of values. So the bytes must come from a compiler: of the build, or from a file that nobody else could
//! have written.
//!
//! Numbers are LEB128, signed ones zigzag; ascending tables hold differences. Instructions are eight bytes each, little-endian.
//! Rejected: a derived serialisation (serde): it would fix no order of fields and no bounds; tables that are used in place: they would have to be
//! aligned and checked as often as they are read.

mod shared;

use shared::KeptHome;
pub use shared::{SharedArchive, Unread};

use crate::code::*;
use crate::op::{Insn, Op};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use zakuro_base::Sym;

/// Codes nested deeper are not written: reading and verifying recurse.
const DEPTH: usize = 100;
/// The same for literals in literals.
const LITERAL_DEPTH: usize = 8;

/// What the numbers in an archive go by: the tables of opcodes and intrinsics, and this format. (FNV-1a, 64 bits.)
pub fn version() -> u64 {
    const FORMAT: u8 = 3;
    let mut h = Fnv::new();
    h.add(&[FORMAT, size_of::<usize>() as u8]);
    for op in Op::ALL {
        h.add(format!("{op:?} {:?};", op.operands()).as_bytes());
    }
    for i in crate::Intrinsic::ALL {
        h.add(format!("{} {};", i.name(), i.arguments()).as_bytes());
    }
    h.0
}

struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
    fn add(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Makes an archive.
#[derive(Default)]
pub struct Writer {
    names: HashMap<Sym, u32>,
    order: Vec<Sym>,
    programs: Vec<Vec<u8>>,
}

/// The program can't be written: Codes or literals nested too deep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooDeep;

impl Writer {
    pub fn new() -> Writer {
        Writer::default()
    }
    /// Adds a program; its number is that of those before it.
    ///
    /// # Errors
    /// It is nested too deep. The archive is as it was, but for names.
    pub fn add(&mut self, code: &Code) -> Result<(), TooDeep> {
        let mut out = Out { writer: self, bytes: Vec::new() };
        out.code(code, DEPTH)?;
        let bytes = out.bytes;
        self.programs.push(bytes);
        Ok(())
    }
    /// The archive's bytes.
    pub fn finish(self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend((self.order.len() as u32).to_le_bytes());
        out.extend((self.programs.len() as u32).to_le_bytes());
        let mut at = 0u32;
        for s in &self.order {
            out.extend(at.to_le_bytes());
            at += 1 + s.bytes().len() as u32;
        }
        for p in &self.programs {
            out.extend(at.to_le_bytes());
            at += p.len() as u32;
        }
        out.extend(at.to_le_bytes());
        for s in &self.order {
            out.push(s.encoding());
            out.extend(s.bytes());
        }
        self.programs.iter().for_each(|p| out.extend(p));
        out
    }
}

struct Out<'a> {
    writer: &'a mut Writer,
    bytes: Vec<u8>,
}

impl Out<'_> {
    fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.bytes.push(n as u8);
    }
    fn signed(&mut self, n: i64) {
        self.number((n << 1 ^ n >> 63) as u64);
    }
    fn flag(&mut self, b: bool) {
        self.bytes.push(b as u8);
    }
    fn name(&mut self, s: Sym) {
        let next = self.writer.order.len() as u32;
        let i = *self.writer.names.entry(s).or_insert(next);
        if i == next {
            self.writer.order.push(s);
        }
        self.number(i.into());
    }
    fn blob(&mut self, b: &[u8]) {
        self.number(b.len() as u64);
        self.bytes.extend(b);
    }
    fn list<T>(&mut self, list: &[T], mut f: impl FnMut(&mut Self, &T)) {
        self.number(list.len() as u64);
        list.iter().for_each(|x| f(self, x));
    }
    /// Differences: the first number of each row ascends.
    fn ascending<T>(&mut self, list: &[T], first: impl Fn(&T) -> u32, mut rest: impl FnMut(&mut Self, &T)) {
        let mut last = 0;
        self.list(list, |o, x| {
            o.signed(i64::from(first(x)) - i64::from(last));
            last = first(x);
            rest(o, x);
        });
    }
    fn place(&mut self, p: Option<Place>) {
        match p {
            None => self.bytes.push(0),
            Some(Place::Reg(r)) => {
                self.bytes.push(1);
                self.number(r.into());
            }
            Some(Place::Env { depth, slot }) => {
                self.bytes.extend([2, depth]);
                self.number(slot.into());
            }
            Some(Place::Block) => self.bytes.push(3),
        }
    }
    fn big(&mut self, n: &Big) {
        self.flag(n.negative);
        self.number(n.digits.len() as u64);
        n.digits.iter().for_each(|d| self.bytes.extend(d.to_le_bytes()));
    }
    fn literal(&mut self, c: &Const, depth: usize) -> Result<(), TooDeep> {
        let depth = depth.checked_sub(1).ok_or(TooDeep)?;
        match c {
            Const::Nil => self.bytes.push(literal::NIL),
            Const::True => self.bytes.push(literal::TRUE),
            Const::False => self.bytes.push(literal::FALSE),
            Const::Int(i) => {
                self.bytes.push(literal::INT);
                self.signed(*i);
            }
            Const::Big(n) => {
                self.bytes.push(literal::BIG);
                self.big(n);
            }
            Const::Float(f) => {
                self.bytes.push(literal::FLOAT);
                self.bytes.extend(f.to_bits().to_le_bytes());
            }
            Const::Sym(s) => {
                self.bytes.push(literal::SYM);
                self.name(*s);
            }
            Const::Str { bytes, encoding } => {
                self.bytes.extend([literal::STR, *encoding]);
                self.blob(bytes);
            }
            Const::Interned { bytes, encoding } => {
                self.bytes.extend([literal::INTERNED, *encoding]);
                self.blob(bytes);
            }
            Const::Regexp { source, options, encoding } => {
                self.bytes.extend([literal::REGEXP, *options, *encoding]);
                self.blob(source);
            }
            Const::Rational(n, d) => {
                self.bytes.push(literal::RATIONAL);
                self.big(n);
                self.big(d);
            }
            Const::Complex(i) => {
                self.bytes.push(literal::COMPLEX);
                self.literal(i, depth)?;
            }
            Const::Range { low, high, exclusive } => {
                self.bytes.extend([literal::RANGE, *exclusive as u8]);
                self.literal(low, depth)?;
                self.literal(high, depth)?;
            }
            Const::Array(list) => {
                self.bytes.push(literal::ARRAY);
                self.number(list.len() as u64);
                list.iter().try_for_each(|c| self.literal(c, depth))?;
            }
            Const::Hash(pairs) => {
                self.bytes.push(literal::HASH);
                self.number(pairs.len() as u64);
                pairs.iter().try_for_each(|(k, v)| self.literal(k, depth).and_then(|()| self.literal(v, depth)))?;
            }
        }
        Ok(())
    }
    fn params(&mut self, p: &Params) {
        let flags = [p.rest, p.block, p.excessed_comma, p.simple, p.forwards_all, p.no_block];
        self.bytes.push(flags.iter().enumerate().map(|(i, f)| (*f as u8) << i).sum());
        self.bytes.extend([
            p.numbered,
            match p.kwrest {
                KwRest::None => 0,
                KwRest::Named => 1,
                KwRest::Refused => 2,
            },
        ]);
        for n in [p.required, p.optional, p.post] {
            self.number(n.into());
        }
        self.list(&p.keywords, |o, k| {
            o.name(k.name);
            o.flag(k.required);
        });
        self.list(&p.list, |o, (kind, name)| {
            // What is not in the table can't be read back: `Code` says what may stand there.
            let kind = PARAMETERS.iter().position(|k| k == kind).unwrap_or(PARAMETERS.len());
            o.bytes.extend([kind as u8, name.is_some() as u8]);
            if let Some(n) = name {
                o.name(*n);
            }
        });
    }
    fn code(&mut self, c: &Code, depth: usize) -> Result<(), TooDeep> {
        let depth = depth.checked_sub(1).ok_or(TooDeep)?;
        let Code { kind, name, file: _, line, source: _, heat: _, body: _ } = c;
        self.bytes.push(KINDS.iter().position(|k| k == kind).unwrap_or(0) as u8);
        self.name(*name);
        self.number((*line).into());
        let mut body = Out { writer: self.writer, bytes: Vec::new() };
        body.body(c, depth)?;
        let bytes = body.bytes;
        self.blob(&bytes);
        Ok(())
    }
    fn body(&mut self, body: &Body, depth: usize) -> Result<(), TooDeep> {
        let Body {
            end_line,
            insns,
            consts,
            syms,
            calls,
            keyword_lists,
            ivars,
            const_sites,
            children,
            handlers,
            lines,
            statements,
            rescues,
            spans,
            span,
            first_line,
            params,
            nregs,
            nlocals,
            env_reg,
            own_env,
            locals,
            backref,
            lastline,
            once_sites,
            uses_block,
            frozen_strings,
            of_symbol,
            data_offset,
        } = body;
        let flags = [*own_env, *uses_block, *frozen_strings, span.is_some(), data_offset.is_some(), *of_symbol];
        self.bytes.push(flags.iter().enumerate().map(|(i, f)| (*f as u8) << i).sum());
        for n in [end_line, first_line] {
            self.number((*n).into());
        }
        for n in [nregs, nlocals, env_reg, once_sites] {
            self.number((*n).into());
        }
        if let Some((start, length)) = span {
            self.number((*start).into());
            self.number((*length).into());
        }
        if let Some(at) = data_offset {
            self.number(*at as u64);
        }
        self.place(*backref);
        self.place(*lastline);
        self.params(params);
        self.list(locals, |o, l| {
            o.name(l.name);
            o.place(Some(l.place));
        });
        self.list(insns, |o, i| {
            o.bytes.extend([i.op, i.x]);
            [i.a, i.b, i.c].iter().for_each(|n| o.bytes.extend(n.to_le_bytes()));
        });
        self.number(consts.len() as u64);
        consts.iter().try_for_each(|c| self.literal(c, LITERAL_DEPTH))?;
        self.list(syms, |o, s| o.name(*s));
        self.list(calls, |o, c| {
            o.name(c.name);
            o.number(c.flags.into());
            o.bytes.push(c.argc);
            // The largest number means none.
            o.number(c.child.wrapping_add(1).into());
            o.number(c.keywords.wrapping_add(1).into());
        });
        self.list(keyword_lists, |o, l| o.list(l, |o, s| o.name(*s)));
        self.list(ivars, |o, s| o.name(*s));
        self.list(const_sites, |o, s| {
            o.name(s.name);
            o.flag(s.top);
        });
        self.list(handlers, |o, h| {
            o.flag(h.kind == HandlerKind::Ensure);
            [h.start, h.end, h.target].iter().for_each(|n| o.number((*n).into()));
        });
        let mut last = 0;
        self.ascending(
            lines,
            |l| l.0,
            |o, l| {
                o.signed(i64::from(l.1) - i64::from(last));
                last = l.1;
            },
        );
        let mut last = 0;
        self.ascending(
            statements,
            |s| s.0,
            |o, s| {
                o.signed(i64::from(s.1) - i64::from(last));
                last = s.1;
            },
        );
        self.ascending(rescues, |n| *n, |_, _| {});
        let mut last = 0;
        self.ascending(
            spans,
            |s| s.0,
            |o, s| {
                o.signed(i64::from(s.1) - i64::from(last));
                o.number(s.2.into());
                last = s.1;
            },
        );
        self.number(children.len() as u64);
        children.iter().try_for_each(|c| self.code(c, depth))
    }
}

const KINDS: [CodeKind; 5] = [CodeKind::Program, CodeKind::Method, CodeKind::Block, CodeKind::Class, CodeKind::Eval];
const PARAMETERS: [&str; 9] = ["req", "opt", "rest", "keyreq", "key", "keyrest", "nokey", "block", "noblock"];

/// Tags of literals.
mod literal {
    pub const NIL: u8 = 0;
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const INT: u8 = 3;
    pub const BIG: u8 = 4;
    pub const FLOAT: u8 = 5;
    pub const SYM: u8 = 6;
    pub const STR: u8 = 7;
    pub const REGEXP: u8 = 8;
    pub const RATIONAL: u8 = 9;
    pub const COMPLEX: u8 = 10;
    pub const RANGE: u8 = 11;
    pub const ARRAY: u8 = 12;
    pub const HASH: u8 = 13;
    pub const INTERNED: u8 = 14;
}

/// Bytes that are no archive, or a program that is cut off or makes no sense.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

/// Elements that a list has room for at first.
const AT_ONCE: usize = 1024;

type Read<T> = Result<T, Malformed>;

/// Bytes that programs are read from.
pub struct Archive<'a> {
    bytes: &'a [u8],
    /// Where names and programs begin, and their end, from `start` on.
    offsets: &'a [u8],
    start: usize,
    programs: usize,
    /// The process's number of each name + 1, as far as it was asked for; 0: not yet. Written by whoever asks first (relaxed: each writes the same).
    names: Box<[AtomicU32]>,
}

const HEAD: usize = 8;

impl<'a> Archive<'a> {
    /// Looks at the head and the table of places; names and programs are read when they are asked for.
    ///
    /// # Errors
    /// It is none.
    pub fn open(bytes: &'a [u8]) -> Read<Archive<'a>> {
        let word = |at: usize| -> Read<u32> {
            let b = bytes.get(at..at + 4).ok_or(Malformed)?;
            Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        };
        let (names, programs) = (word(0)? as usize, word(4)? as usize);
        let start =
            HEAD + (names.checked_add(programs).ok_or(Malformed)?).checked_add(1).and_then(|n| n.checked_mul(4)).ok_or(Malformed)?;
        let offsets = bytes.get(HEAD..start).ok_or(Malformed)?;
        Ok(Archive { bytes, offsets, start, programs, names: (0..names).map(|_| AtomicU32::new(0)).collect() })
    }
    /// Number of programs.
    pub fn programs(&self) -> usize {
        self.programs
    }
    fn part(&self, i: usize) -> Read<&'a [u8]> {
        let at = |i: usize| -> Read<usize> {
            let b = self.offsets.get(i * 4..i * 4 + 4).ok_or(Malformed)?;
            Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
        };
        self.bytes.get(self.start + at(i)?..self.start + at(i + 1)?).ok_or(Malformed)
    }
    fn name(&self, i: usize) -> Read<Sym> {
        let known = self.names.get(i).ok_or(Malformed)?;
        if let Some(n) = known.load(Relaxed).checked_sub(1) {
            return Ok(Sym(n));
        }
        let (encoding, name) = self.part(i)?.split_first().ok_or(Malformed)?;
        let s = Sym::intern_in(name, *encoding);
        known.store(s.0 + 1, Relaxed);
        Ok(s)
    }
    /// Reads program `i` as that of `file` with this text. Not verified.
    ///
    /// # Errors
    /// There is none, or it is malformed.
    pub fn program(&self, i: usize, file: &Arc<str>, source: &Arc<[u8]>) -> Read<Arc<Code>> {
        if i >= self.programs {
            return Err(Malformed);
        }
        let mut r = Reader { archive: self, rest: self.part(self.names.len() + i)?, file, source, home: Home::None, body: Reader::at_once };
        r.only_code()
    }
    /// As [`Archive::program`], but reads of each Code, when it is first asked for, no more than what it is. For archives that are a part of the binary:
    /// what is malformed deeper down is found too late for an error.
    ///
    /// # Errors
    /// There is none, or its beginning is malformed.
    pub fn lazy_program(&'static self, i: usize, file: &Arc<str>, source: &Arc<[u8]>) -> Read<Arc<Code>>
    where
        'a: 'static,
    {
        if i >= self.programs {
            return Err(Malformed);
        }
        let mut r =
            Reader { archive: self, rest: self.part(self.names.len() + i)?, file, source, home: Home::Binary(self), body: Reader::later };
        r.only_code()
    }
}

/// Where what is put off will be found.
#[derive(Clone, Copy)]
enum Home<'f> {
    None,
    Binary(&'static Archive<'static>),
    Shared(&'f Arc<SharedArchive>),
}

struct Reader<'a, 'f> {
    archive: &'f Archive<'a>,
    rest: &'a [u8],
    file: &'f Arc<str>,
    source: &'f Arc<[u8]>,
    home: Home<'f>,
    /// Reads a body, or puts it off.
    body: fn(&Self, &'a [u8], usize) -> Read<Lazy>,
}

impl Reader<'static, '_> {
    fn later(&self, bytes: &'static [u8], depth: usize) -> Read<Lazy> {
        let home = match self.home {
            Home::None => return self.at_once(bytes, depth),
            Home::Binary(archive) => KeptHome::Binary(archive),
            Home::Shared(archive) => KeptHome::Shared(archive.clone()),
        };
        Ok(Lazy::unread(Unread::new(bytes, home)))
    }
}

impl<'a> Reader<'a, '_> {
    fn at_once(&self, bytes: &'a [u8], depth: usize) -> Read<Lazy> {
        let mut r = Reader { rest: bytes, ..*self };
        let body = r.body(depth)?;
        if r.rest.is_empty() { Ok(body.into()) } else { Err(Malformed) }
    }
    fn only_code(&mut self) -> Read<Arc<Code>> {
        let code = self.code(DEPTH)?;
        if self.rest.is_empty() { Ok(code) } else { Err(Malformed) }
    }
    fn byte(&mut self) -> Read<u8> {
        let (b, rest) = self.rest.split_first().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*b)
    }
    #[inline]
    fn number(&mut self) -> Read<u64> {
        let b = self.byte()?;
        if b < 0x80 { Ok(b.into()) } else { self.long_number(b) }
    }
    fn long_number(&mut self, first: u8) -> Read<u64> {
        let mut n = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let b = self.byte()?;
            n |= u64::from(b & 0x7f) << shift;
            if b < 0x80 {
                return Ok(n);
            }
        }
        Err(Malformed)
    }
    fn narrow<T: TryFrom<u64>>(&mut self) -> Read<T> {
        T::try_from(self.number()?).map_err(|_| Malformed)
    }
    fn signed(&mut self) -> Read<i64> {
        let n = self.number()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }
    fn flag(&mut self) -> Read<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }
    fn take(&mut self, n: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }
    fn blob(&mut self) -> Read<&'a [u8]> {
        let n = self.narrow()?;
        self.take(n)
    }
    fn name(&mut self) -> Read<Sym> {
        let i = self.narrow()?;
        self.archive.name(i)
    }
    /// Elements of at least one byte each, so that a short text can't ask for a long list.
    fn list<T>(&mut self, mut f: impl FnMut(&mut Self) -> Read<T>) -> Read<Box<[T]>> {
        let n: usize = self.narrow()?;
        if n > self.rest.len() {
            return Err(Malformed);
        }
        // Lists in lists must not each ask for all that the rest could be.
        let mut list = Vec::with_capacity(n.min(AT_ONCE));
        for _ in 0..n {
            list.push(f(self)?);
        }
        Ok(list.into_boxed_slice())
    }
    fn ascending<T>(&mut self, mut row: impl FnMut(&mut Self, u32) -> Read<T>) -> Read<Box<[T]>> {
        let mut last = 0;
        self.list(|r| {
            last = r.step(last)?;
            row(r, last)
        })
    }
    fn step(&mut self, last: u32) -> Read<u32> {
        let by = self.signed()?;
        i64::from(last).checked_add(by).and_then(|n| u32::try_from(n).ok()).ok_or(Malformed)
    }
    fn place(&mut self) -> Read<Option<Place>> {
        Ok(match self.byte()? {
            0 => None,
            1 => Some(Place::Reg(self.narrow()?)),
            2 => Some(Place::Env { depth: self.byte()?, slot: self.narrow()? }),
            3 => Some(Place::Block),
            _ => return Err(Malformed),
        })
    }
    fn big(&mut self) -> Read<Big> {
        let negative = self.flag()?;
        let n: usize = self.narrow()?;
        let bytes = self.take(n.checked_mul(4).ok_or(Malformed)?)?;
        Ok(Big { negative, digits: bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect() })
    }
    fn literal(&mut self, depth: usize) -> Read<Const> {
        let depth = depth.checked_sub(1).ok_or(Malformed)?;
        Ok(match self.byte()? {
            literal::NIL => Const::Nil,
            literal::TRUE => Const::True,
            literal::FALSE => Const::False,
            literal::INT => Const::Int(self.signed()?),
            literal::BIG => Const::Big(self.big()?),
            literal::FLOAT => {
                let bits = self.take(8)?.try_into().map_err(|_| Malformed)?;
                Const::Float(f64::from_bits(u64::from_le_bytes(bits)))
            }
            literal::SYM => Const::Sym(self.name()?),
            literal::STR => {
                let encoding = self.byte()?;
                Const::Str { bytes: self.blob()?.into(), encoding }
            }
            literal::INTERNED => {
                let encoding = self.byte()?;
                Const::Interned { bytes: self.blob()?.into(), encoding }
            }
            literal::REGEXP => {
                let (options, encoding) = (self.byte()?, self.byte()?);
                Const::Regexp { source: self.blob()?.into(), options, encoding }
            }
            literal::RATIONAL => Const::Rational(self.big()?, self.big()?),
            literal::COMPLEX => Const::Complex(Box::new(self.literal(depth)?)),
            literal::RANGE => {
                let exclusive = self.flag()?;
                Const::Range { low: Box::new(self.literal(depth)?), high: Box::new(self.literal(depth)?), exclusive }
            }
            literal::ARRAY => Const::Array(self.list(|r| r.literal(depth))?.into_vec()),
            literal::HASH => Const::Hash(self.list(|r| Ok((r.literal(depth)?, r.literal(depth)?)))?.into_vec()),
            _ => return Err(Malformed),
        })
    }
    fn params(&mut self) -> Read<Params> {
        let flags = self.byte()?;
        let numbered = self.byte()?;
        let kwrest = match self.byte()? {
            0 => KwRest::None,
            1 => KwRest::Named,
            2 => KwRest::Refused,
            _ => return Err(Malformed),
        };
        let (required, optional, post) = (self.narrow()?, self.narrow()?, self.narrow()?);
        let keywords = self.list(|r| Ok(Keyword { name: r.name()?, required: r.flag()? }))?.into_vec();
        let list = self.list(|r| {
            let kind = *PARAMETERS.get(r.byte()? as usize).ok_or(Malformed)?;
            let name = if r.flag()? { Some(r.name()?) } else { None };
            Ok((kind, name))
        })?;
        let flag = |i: u8| flags >> i & 1 == 1;
        Ok(Params {
            required,
            optional,
            rest: flag(0),
            post,
            keywords,
            kwrest,
            block: flag(1),
            excessed_comma: flag(2),
            numbered,
            simple: flag(3),
            forwards_all: flag(4),
            list: list.into_vec(),
            no_block: flag(5),
        })
    }
    fn insns(&mut self) -> Read<Box<[Insn]>> {
        let n: usize = self.narrow()?;
        let bytes = self.take(n.checked_mul(8).ok_or(Malformed)?)?;
        let insn = |b: &[u8]| {
            let word = |i: usize| u16::from_le_bytes([b[i], b[i + 1]]);
            Insn { op: b[0], x: b[1], a: word(2), b: word(4), c: word(6) }
        };
        Ok(bytes.chunks_exact(8).map(insn).collect())
    }
    fn code(&mut self, depth: usize) -> Read<Arc<Code>> {
        let depth = depth.checked_sub(1).ok_or(Malformed)?;
        let kind = *KINDS.get(self.byte()? as usize).ok_or(Malformed)?;
        let (name, line) = (self.name()?, self.narrow()?);
        let bytes = self.blob()?;
        let body = (self.body)(self, bytes, depth)?;
        Ok(Arc::new(Code { kind, name, file: self.file.clone(), line, source: self.source.clone(), heat: Default::default(), body }))
    }
    fn body(&mut self, depth: usize) -> Read<Body> {
        let flags = self.byte()?;
        let flag = |i: u8| flags >> i & 1 == 1;
        let (end_line, first_line) = (self.narrow()?, self.narrow()?);
        let (nregs, nlocals, env_reg, once_sites) = (self.narrow()?, self.narrow()?, self.narrow()?, self.narrow()?);
        let span = if flag(3) { Some((self.narrow()?, self.narrow()?)) } else { None };
        let data_offset = if flag(4) { Some(self.narrow()?) } else { None };
        if data_offset.is_some_and(|at| at > self.source.len()) {
            return Err(Malformed);
        }
        let (backref, lastline) = (self.place()?, self.place()?);
        let params = self.params()?;
        let locals = self.list(|r| Ok(Local { name: r.name()?, place: r.place()?.ok_or(Malformed)? }))?;
        let insns = self.insns()?;
        let consts = self.list(|r| r.literal(LITERAL_DEPTH))?;
        let syms = self.list(|r| r.name())?;
        let calls = self.list(|r| {
            let (name, flags, argc) = (r.name()?, r.narrow()?, r.byte()?);
            let (child, keywords): (u16, u16) = (r.narrow()?, r.narrow()?);
            Ok(CallSite { name, flags, argc, child: child.wrapping_sub(1), keywords: keywords.wrapping_sub(1) })
        })?;
        let keyword_lists = self.list(|r| r.list(|r| r.name()))?;
        let ivars = self.list(|r| r.name())?;
        let const_sites = self.list(|r| Ok(ConstSite { name: r.name()?, top: r.flag()? }))?;
        let handlers = self.list(|r| {
            let kind = if r.flag()? { HandlerKind::Ensure } else { HandlerKind::Rescue };
            Ok(Handler { start: r.narrow()?, end: r.narrow()?, target: r.narrow()?, kind })
        })?;
        let mut last = 0;
        let lines = self.ascending(|r, at| {
            last = r.step(last)?;
            Ok((at, last))
        })?;
        let mut last = 0;
        let statements = self.ascending(|r, at| {
            last = r.step(last)?;
            Ok((at, last))
        })?;
        let rescues = self.ascending(|_, at| Ok(at))?;
        let mut last = 0;
        let spans = self.ascending(|r, at| {
            last = r.step(last)?;
            Ok((at, last, r.narrow()?))
        })?;
        let children = self.list(|r| r.code(depth))?;
        Ok(Body {
            end_line,
            insns,
            consts,
            syms,
            calls,
            keyword_lists,
            ivars,
            const_sites,
            children,
            handlers,
            lines,
            statements,
            rescues,
            spans,
            span,
            first_line,
            params,
            nregs,
            nlocals,
            env_reg,
            own_env: flag(0),
            locals,
            backref,
            lastline,
            once_sites,
            uses_block: flag(1),
            frozen_strings: flag(2),
            of_symbol: flag(5),
            data_offset,
        })
    }
}
