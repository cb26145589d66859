//! [`Code`] and the tables beside its instructions.

use crate::binary::Unread;
use crate::machine::Heat;
use crate::op::{Insn, Op};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};
use zakuro_base::Sym;

/// Operand x of `NewStr`: flags of the new String. Its meaning belongs to zakuro-object, whose constants the VM compares with these.
pub const FROZEN_STRING: u8 = 1;
/// A String whose first change warns.
pub const CHILLED_STRING: u8 = FROZEN_STRING | 64;

/// What kind of scope a Code is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeKind {
    /// A file or `-e` program.
    Program,
    /// A `def`.
    Method,
    /// A block or lambda literal: runs in the environment of another Code.
    Block,
    /// The body of `class`, `module`, `class <<`.
    Class,
    /// Text given to `eval`: runs in a given environment, like a block.
    Eval,
}

/// Compiled code of one scope. Immutable, shared by all VMs. Most of its fields are those of [`Body`].
#[derive(Clone, Debug)]
pub struct Code {
    pub kind: CodeKind,
    /// Method name, class name, or the name of the method around a block (`<main>` for a program).
    pub name: Sym,
    /// File name as shown in backtraces and `__FILE__`.
    pub file: Arc<str>,
    /// Line of the definition.
    pub line: u32,
    /// The source text, for error excerpts and `DATA`; shared by all Codes of a file.
    pub source: Arc<[u8]>,
    /// What is learnt of it while it runs.
    pub heat: Heat,
    /// The rest, which the fields of this struct's target are.
    pub body: Lazy,
}

/// What of a [`Code`] is not needed before it runs. The default is one of no instructions, for those who name what they want otherwise.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Line of its `end`.
    pub end_line: u32,
    pub insns: Box<[Insn]>,
    pub consts: Box<[Const]>,
    pub syms: Box<[Sym]>,
    pub calls: Box<[CallSite]>,
    /// Keyword names of call sites, each once.
    pub keyword_lists: Box<[Box<[Sym]>]>,
    /// Names of instance variables, one per site (each site has its own inline cache).
    pub ivars: Box<[Sym]>,
    pub const_sites: Box<[ConstSite]>,
    pub children: Box<[Arc<Code>]>,
    /// Innermost first: the first entry that covers the instruction that raised (for a frame that waits for a callee: its call
    /// instruction, not the one after it) is the one to use.
    pub handlers: Box<[Handler]>,
    /// (first instruction, line), ascending by instruction.
    pub lines: Box<[(u32, u32)]>,
    /// (first instruction, line) of the statements that begin a line, ascending: where a trace sees the line. It is that of the first thing to be evaluated, which
    /// may take no instruction: the first one may stand in another line.
    pub statements: Box<[(u32, u32)]>,
    /// First instructions of the bodies of rescue clauses, ascending: where a trace sees that an exception is rescued.
    pub rescues: Box<[u32]>,
    /// (instruction, start and length of its node in the source), ascending by instruction, for those that may raise: error reports
    /// mark a piece of the line with them.
    pub spans: Box<[(u32, u32, u32)]>,
    /// Start and length of the definition itself: a method, lambda or block.
    pub span: Option<(u32, u32)>,
    /// Line of the first line of the source.
    pub first_line: u32,
    pub params: Params,
    /// Number of registers, temporaries and call scratch included.
    pub nregs: u16,
    /// Registers 1 + (number of parameter registers) .. nlocals are set to nil at entry.
    pub nlocals: u16,
    /// Register of the environment; 0 when the Code touches none. Never below `nlocals`: the entry code fills the locals with nil first,
    /// then a block's register with the environment around it.
    pub env_reg: u16,
    /// Whether the Code starts with NewEnv.
    pub own_env: bool,
    /// Names of the variables by place, for `binding`, `local_variables`, `Proc#parameters`. Names that begin with `&`, `*`, `~` are
    /// hidden from programs, but an eval gets them too.
    pub locals: Box<[Local]>,
    /// Where `$~` of this scope lives, when the program reads it (`$~`, `$1`, named captures, `last_match`...).
    pub backref: Option<Place>,
    /// Where `$_` lives.
    pub lastline: Option<Place>,
    /// Number of once-sites (`/o`, `END`).
    pub once_sites: u16,
    /// A method that yields, has a block parameter, calls `super` or may do so in an eval: a block that is passed to it is not lost.
    pub uses_block: bool,
    /// `# frozen_string_literal: true` was in force.
    pub frozen_strings: bool,
    /// A block that nobody wrote: what `&:name` does with one value, for builtins that call it in a loop. Its only call is that of the name. No backtrace shows it, and no Proc is made of it.
    pub of_symbol: bool,
    /// Byte offset of the text after `__END__`.
    pub data_offset: Option<usize>,
}

impl Deref for Code {
    type Target = Body;
    #[inline(always)]
    fn deref(&self) -> &Body {
        match self.body.read.get() {
            Some(body) => body,
            None => self.read(),
        }
    }
}

impl DerefMut for Code {
    fn deref_mut(&mut self) -> &mut Body {
        self.read();
        match self.body.read.get_mut() {
            Some(body) => body,
            None => unreachable!("it has just been read"),
        }
    }
}

/// A [`Body`] that is read from an archive when somebody first asks for it.
pub struct Lazy {
    read: OnceLock<Body>,
    unread: Option<Unread>,
}

impl From<Body> for Lazy {
    fn from(body: Body) -> Lazy {
        Lazy { read: OnceLock::from(body), unread: None }
    }
}

impl Clone for Lazy {
    fn clone(&self) -> Lazy {
        Lazy { read: self.read.clone(), unread: self.unread.clone() }
    }
}

impl std::fmt::Debug for Lazy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.read.get().fmt(f)
    }
}

impl Lazy {
    pub(crate) fn unread(unread: Unread) -> Lazy {
        Lazy { read: OnceLock::new(), unread: Some(unread) }
    }
    pub(crate) fn unread_mut(&mut self) -> Option<&mut Unread> {
        self.unread.as_mut()
    }
}

/// A variable's place as seen from its Code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Reg(u16),
    /// Environment slot, `depth` environments up from the one in `env_reg` (after NewEnv).
    Env {
        depth: u8,
        slot: u16,
    },
    /// The frame's block, of which an object is made where one is wanted: `&block` of a method in which no block sees the variable and nothing is assigned to it.
    Block,
}

/// A named local variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Local {
    pub name: Sym,
    pub place: Place,
}

/// A literal. Immediates are the same in every VM; the others are made once per VM on first use.
#[derive(Clone, Debug, PartialEq)]
pub enum Const {
    Nil,
    True,
    False,
    Int(i64),
    Big(Big),
    Float(f64),
    Sym(Sym),
    /// `encoding`: 0 binary, 1 UTF-8, 2 US-ASCII, ... (ids of text::encoding)
    Str {
        bytes: Arc<[u8]>,
        encoding: u8,
    },
    /// A literal that is frozen where it stands (`"x".freeze`): the String that `-"x"` gives.
    Interned {
        bytes: Arc<[u8]>,
        encoding: u8,
    },
    /// Literal without interpolation. `options`: 1 i, 2 x, 4 m, 16 fixed encoding, 32 n (no encoding), 64 e (EUC-JP), 128 s (Windows-31J).
    /// `encoding`: of the source text.
    Regexp {
        source: Arc<[u8]>,
        options: u8,
        encoding: u8,
    },
    /// Numerator and denominator, without a common divisor.
    Rational(Big, Big),
    /// Imaginary literal `3i`: the imaginary part.
    Complex(Box<Const>),
    /// Range whose ends are Int or Nil.
    Range {
        low: Box<Const>,
        high: Box<Const>,
        exclusive: bool,
    },
    /// Frozen Array of constants (keys of patterns, literals of constants alone).
    Array(Vec<Const>),
    /// Frozen Hash of constants; keys are small Integers, Symbols, Strings, nil, true and false. Of equal keys the last one's value counts.
    Hash(Vec<(Const, Const)>),
}

/// An Integer of any size. Kept in binary: to decimal digits and back takes more than linear time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Big {
    pub negative: bool,
    /// Least significant first.
    pub digits: Box<[u32]>,
}

impl std::fmt::Display for Big {
    /// In decimal, very large ones in hexadecimal.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        if self.digits.len() > 64 {
            write!(f, "{sign}0x")?;
            return self.digits.iter().rev().try_for_each(|d| write!(f, "{d:08x}"));
        }
        let (mut rest, mut pieces) = (self.digits.to_vec(), Vec::new());
        while rest.iter().any(|d| *d != 0) {
            let mut carry = 0u64;
            for d in rest.iter_mut().rev() {
                let n = carry << 32 | *d as u64;
                *d = (n / 1_000_000_000) as u32;
                carry = n % 1_000_000_000;
            }
            pieces.push(carry);
        }
        write!(f, "{sign}{}", pieces.pop().unwrap_or(0))?;
        pieces.iter().rev().try_for_each(|p| write!(f, "{p:09}"))
    }
}

impl Const {
    /// Bytes that it owns.
    pub fn payload(&self) -> usize {
        match self {
            Const::Nil | Const::True | Const::False | Const::Int(_) | Const::Float(_) | Const::Sym(_) => 0,
            Const::Big(n) => n.digits.len() * 4,
            Const::Rational(n, d) => (n.digits.len() + d.digits.len()) * 4,
            // The head of the Arc, and what malloc rounds up.
            Const::Str { bytes, .. } | Const::Interned { bytes, .. } => 16 + bytes.len().next_multiple_of(16),
            Const::Regexp { source, .. } => 16 + source.len().next_multiple_of(16),
            Const::Complex(i) => size_of::<Const>() + i.payload(),
            Const::Range { low, high, .. } => 2 * size_of::<Const>() + low.payload() + high.payload(),
            Const::Array(a) => a.iter().map(|c| size_of::<Const>() + c.payload()).sum(),
            Const::Hash(h) => h.iter().map(|(k, v)| 2 * size_of::<Const>() + k.payload() + v.payload()).sum(),
        }
    }
}

/// Flags of a call site.
pub mod call_flags {
    /// The last positional register holds an Array of further arguments, or nil. Without SPLAT_FRESH it may be the program's.
    pub const SPLAT: u16 = 1;
    /// A Hash of keywords follows the positional arguments. Empty: no keywords are passed. Without KW_FRESH it may be a Hash of the
    /// caller's (`**opts`, `...`) and must be copied before the callee gets it.
    pub const KW: u16 = 2;
    /// A block value (`&expr`, already converted by Intrinsic::ToBlock or not) follows.
    pub const BLOCKARG: u16 = 4;
    /// No explicit receiver, or the receiver is written `self`: private methods may be called.
    pub const FCALL: u16 = 8;
    /// An identifier that could have been a variable: NameError instead of NoMethodError.
    pub const VCALL: u16 = 16;
    /// The keyword Hash was written literally with `**` or brace-less keys and may be passed on without a copy.
    pub const KW_FRESH: u16 = 32;
    /// zsuper: arguments were copied from the parameters.
    pub const ZSUPER: u16 = 64;
    /// `a.b = v`, `a[b] = v`: the value of the call is not used.
    pub const ATTR_ASSIGN: u16 = 128;
    /// With KW: instead of a Hash the values of the site's keyword names follow, at most MAX_KEYWORDS. A Hash is made of them only for callees
    /// that need one.
    pub const KW_NAMES: u16 = 256;
    /// `yield` in a block, which calls the block of the method around: no call of `Proc#call` for who traces.
    pub const YIELD: u16 = 512;
    /// The splatted Array was made for this call: the callee may keep it.
    pub const SPLAT_FRESH: u16 = 1024;
    /// The block is that of the frame, as it is (`&block` of a method that does nothing else with the variable): no operand. Only in Codes of methods.
    pub const OWN_BLOCK: u16 = 2048;
    /// Calls public methods only, as from nowhere: not even protected ones of self's class.
    pub const PUBLIC: u16 = 4096;
}

/// A place that calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallSite {
    pub name: Sym,
    pub flags: u16,
    pub argc: u8,
    /// Index into `children` of the literal block, or NO_BLOCK. With BLOCKARG it is one `of_symbol`, beside the Symbol that is given.
    pub child: u16,
    /// Index into `keyword_lists`, or NO_KEYWORDS.
    pub keywords: u16,
}

impl CallSite {
    /// Whether a call here takes self as its receiver, rather than the first register of its window.
    pub fn takes_self(&self, insn: Insn) -> bool {
        match insn.opcode() {
            Op::SendSelf | Op::SendSelfBlk => true,
            Op::SendX => self.flags & call_flags::FCALL != 0 && insn.b == 0,
            _ => false,
        }
    }
    /// The literal block, which has a record in the two registers below the call's window.
    pub fn literal_block(&self) -> Option<u16> {
        (self.child != NO_BLOCK && self.flags & call_flags::BLOCKARG == 0).then_some(self.child)
    }
    /// With BLOCKARG: what a block of the Symbol that is given does with one value (`Body::of_symbol`).
    pub fn symbol_block(&self) -> Option<u16> {
        (self.child != NO_BLOCK && self.flags & call_flags::BLOCKARG != 0).then_some(self.child)
    }
    /// Whether it gives positional arguments and keywords by name, and nothing else.
    pub fn gives_names(&self) -> bool {
        self.flags & !call_flags::FCALL == call_flags::KW | call_flags::KW_NAMES && self.child == NO_BLOCK
    }
}

pub const NO_BLOCK: u16 = u16::MAX;
pub const NO_KEYWORDS: u16 = u16::MAX;
/// Most slots of an environment: it is one cell. (zakuro-vm checks that it agrees with zakuro-object.)
pub const MAX_ENV_SLOTS: u16 = 2046;
/// Most keywords that are passed by name; more travel as a Hash.
pub const MAX_KEYWORDS: usize = 16;

/// A place that reads a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConstSite {
    pub name: Sym,
    /// `::Foo`
    pub top: bool,
}

/// Exception handler: covers instructions start..end (end exclusive). On a raise inside, control goes to `target`, whose first instruction is `Catch`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handler {
    pub start: u32,
    pub end: u32,
    pub target: u32,
    pub kind: HandlerKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandlerKind {
    /// Ruby exceptions only.
    Rescue,
    /// Everything that unwinds: exceptions, `break`, `return`, `throw`, kill.
    Ensure,
}

/// The parameter list. Parameters stand in registers 1.. in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    pub required: u16,
    pub optional: u16,
    /// `*rest` or anonymous `*` or `...`: one register.
    pub rest: bool,
    pub post: u16,
    pub keywords: Vec<Keyword>,
    /// One register when `Named`.
    pub kwrest: KwRest,
    /// `&block`: one register.
    pub block: bool,
    /// `|a,|`: destructures like two parameters.
    pub excessed_comma: bool,
    /// Numbered parameters or `it` (0 none, n = _n, 255 = it).
    pub numbered: u8,
    /// Only required parameters: arguments can be left where the caller put them.
    pub simple: bool,
    /// `...` or `*` passes keywords along (ruby2_keywords-like `...`).
    pub forwards_all: bool,
    /// For Proc#parameters and Method#parameters, in order: kind ("req", "opt", "rest", "keyreq", "key", "keyrest", "nokey", "block") and name.
    pub list: Vec<(&'static str, Option<Sym>)>,
    /// `&nil`
    pub no_block: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KwRest {
    #[default]
    None,
    /// `**opts` or anonymous `**`: a Hash in a register.
    Named,
    /// `**nil`: keywords are an error.
    Refused,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyword {
    pub name: Sym,
    pub required: bool,
}

impl Params {
    /// Number of parameter registers (r1..).
    pub fn registers(&self) -> u16 {
        let others = self.rest as u16 + (self.kwrest == KwRest::Named) as u16 + self.block as u16;
        let keywords = u16::try_from(self.keywords.len()).unwrap_or(u16::MAX);
        [self.optional, self.post, keywords, others].into_iter().fold(self.required, u16::saturating_add)
    }
    /// Whether so many positional arguments can be left where the caller put them, if `UNDEF` stands for the optional ones that are missing.
    pub fn in_place(&self, argc: u8) -> bool {
        let others = self.rest || self.post > 0 || self.block || !self.keywords.is_empty() || self.kwrest != KwRest::None || self.no_block;
        let (least, most) = (self.required as usize, self.required as usize + self.optional as usize);
        self.optional > 0
            && !others
            && !self.excessed_comma
            && self.numbered == 0
            && (least..=most).contains(&(argc as usize))
            && most <= Self::IN_PLACE
    }
    /// Most parameters of those: they are written before it is known whether the stack has room for the frame ([`Params::in_place`]).
    const IN_PLACE: usize = 64;
    /// First register of the optional parameters.
    pub fn optional_start(&self) -> u16 {
        1 + self.required
    }
    pub fn rest_reg(&self) -> u16 {
        1 + self.required + self.optional
    }
    pub fn post_start(&self) -> u16 {
        self.rest_reg() + self.rest as u16
    }
    pub fn keyword_start(&self) -> u16 {
        self.post_start() + self.post
    }
    pub fn kwrest_reg(&self) -> u16 {
        self.keyword_start() + self.keywords.len() as u16
    }
    pub fn block_reg(&self) -> u16 {
        self.kwrest_reg() + (self.kwrest == KwRest::Named) as u16
    }
    /// Whether the parameter of this kind ("rest", "keyrest") is written as its sign alone.
    pub fn is_nameless(&self, kind: &str, sign: Sym) -> bool {
        self.list.iter().any(|(k, name)| *k == kind && *name == Some(sign))
    }
    /// Whether keywords are accepted at all.
    pub fn takes_keywords(&self) -> bool {
        !self.keywords.is_empty() || self.kwrest == KwRest::Named
    }
    /// Least number of positional arguments, and the most (None: any number).
    pub fn arity_range(&self) -> (usize, Option<usize>) {
        let least = (self.required + self.post) as usize;
        (least, (!self.rest).then_some(least + self.optional as usize))
    }
    /// As Method#arity.
    pub fn arity(&self) -> i64 {
        let least = (self.required + self.post) as i64;
        let required_keyword = self.keywords.iter().any(|k| k.required);
        let least = least + required_keyword as i64;
        let open = self.optional > 0 || self.rest || (self.takes_keywords() && !required_keyword);
        if open { -least - 1 } else { least }
    }
}

impl Code {
    /// A Code without instructions, which names the slots of an environment (see `vm::scope`).
    pub fn naming(file: Arc<str>, line: u32, name: Sym, locals: Box<[Local]>, [backref, lastline]: [Option<Place>; 2]) -> Code {
        let body = Body {
            end_line: line,
            insns: Box::new([]),
            consts: Box::new([]),
            syms: Box::new([]),
            calls: Box::new([]),
            ivars: Box::new([]),
            const_sites: Box::new([]),
            children: Box::new([]),
            handlers: Box::new([]),
            lines: Box::new([]),
            statements: Box::new([]),
            rescues: Box::new([]),
            spans: Box::new([]),
            span: None,
            first_line: line,
            keyword_lists: Box::new([]),
            params: Params::default(),
            nregs: 1,
            nlocals: 1,
            env_reg: 1,
            own_env: true,
            locals,
            backref,
            lastline,
            once_sites: 0,
            uses_block: true,
            frozen_strings: false,
            of_symbol: false,
            data_offset: None,
        };
        Code { kind: CodeKind::Eval, name, file, line, source: Arc::from(&b""[..]), heat: Heat::default(), body: body.into() }
    }

    /// Whether it is one of those: it is not run.
    pub fn names_only(&self) -> bool {
        self.kind == CodeKind::Eval && self.insns.is_empty()
    }

    /// Reads what was left unread. Whoever comes second at the same time waits: that takes microseconds.
    #[cold]
    fn read(&self) -> &Body {
        self.body.read.get_or_init(|| match &self.body.unread {
            Some(unread) => unread.read(self),
            None => unreachable!("a Code has a body or knows where it stands"),
        })
    }

    /// Number of registers that the keywords of a call stand in.
    pub fn keyword_operands(&self, site: &CallSite) -> u16 {
        match self.keyword_lists.get(site.keywords as usize) {
            Some(names) => names.len() as u16,
            None => (site.flags & call_flags::KW != 0) as u16,
        }
    }
    /// Bytes that it takes, nested Codes included, without the source.
    pub fn size(&self) -> usize {
        let sites = self.calls.len() * size_of::<CallSite>() + self.const_sites.len() * size_of::<ConstSite>();
        let names = (self.syms.len() + self.ivars.len()) * size_of::<Sym>() + self.locals.len() * size_of::<Local>();
        let tables = self.lines.len() * 8 + self.spans.len() * 12 + self.statements.len() * 8 + self.rescues.len() * 4;
        let consts: usize = self.consts.iter().map(|c| size_of::<Const>() + c.payload()).sum();
        let handlers = self.handlers.len() * size_of::<Handler>();
        let own = size_of::<Code>() + self.insns.len() * size_of::<Insn>() + sites + names + tables + consts + handlers;
        own + self.children.iter().map(|c| c.size()).sum::<usize>()
    }
    /// A copy, nested Codes included, that is another Code to every VM: with caches of its own.
    pub fn detached(&self) -> Code {
        let mut copy = self.clone();
        copy.children = self.children.iter().map(|c| Arc::new(c.detached())).collect();
        copy
    }

    /// Start and length in the source of the node that instruction `ip` belongs to.
    pub fn span_at(&self, ip: u32) -> Option<(u32, u32)> {
        let i = self.spans.binary_search_by_key(&ip, |s| s.0).ok()?;
        Some((self.spans[i].1, self.spans[i].2))
    }
    /// The statements that begin with an instruction, with their lines: one, and those that it begins with on lines of their own.
    pub fn statements_at(&self, ip: usize) -> &[(u32, u32)] {
        let from = self.statements.partition_point(|s| (s.0 as usize) < ip);
        let count = self.statements[from..].iter().take_while(|s| s.0 as usize == ip).count();
        &self.statements[from..from + count]
    }

    /// Source line of instruction `ip`.
    pub fn line_at(&self, ip: usize) -> u32 {
        match self.lines.binary_search_by_key(&(ip as u32), |l| l.0) {
            Ok(i) => self.lines[i].1,
            Err(0) => self.line,
            Err(i) => self.lines[i - 1].1,
        }
    }
}
