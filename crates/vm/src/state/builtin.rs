//! How builtins are declared: [`MethodRow`]s, made by `#[ruby_class]`, and the conversions that their signatures stand for.

use crate::effects::Effects;
use crate::make::RootedVec;
use crate::raise::Result;
use crate::vm::Cx;
use zakuro_object::*;

/// Native method: self, arguments, `argc | KW_FLAG`, block.
pub type NativeFn = fn(&mut Cx, Value, *const Value, usize, Block) -> Result<Value>;

/// Set in argc when the last argument is a Hash of keywords.
pub const KW_FLAG: usize = 1 << 32;
/// In `argc` of a native that has a parameter of type [`Kwargs`] ([`MethodRow::by_name`]): behind the positional arguments stand the values of keywords, whose names are `Vm::given_names`.
pub const NAMES_FLAG: usize = 1 << 33;

/// A block on its way to a method: none, a Proc, or (until someone asks for a Proc) two words on the value stack of the frame that wrote it.
/// Valid during the call it was given to; to keep it, make a Proc of it ([`Cx::block_to_proc`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Block(pub u64);

impl Block {
    pub const NONE: Block = Block(0);
    #[inline(always)]
    pub fn is_some(self) -> bool {
        self.0 != 0
    }
    #[inline(always)]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }
    /// Of a Proc value, or none for nil.
    pub fn from_value(v: Value) -> Block {
        if v.is_nil() { Block::NONE } else { Block(v.bits()) }
    }
    #[inline(always)]
    pub fn on_stack(record: *mut Value) -> Block {
        Block(record as u64 | 1)
    }
    /// The record [CodeState, home frame] of a block that has no Proc.
    #[inline(always)]
    pub fn record(self) -> Option<*mut Value> {
        if self.0 & 1 == 1 { Some((self.0 & !1) as *mut Value) } else { None }
    }
    pub fn proc(self) -> Option<Ref<ProcCell>> {
        // SAFETY: what is no record is a Proc's value.
        if self.is_some() && self.0 & 1 == 0 { Ref::from_value(unsafe { Value::from_bits(self.0) }) } else { None }
    }
}

/// All arguments of a call. They lie on the VM's value stack, which doesn't move, and stay there during the call.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    list: &'a [Value],
    /// The last argument is a Hash of keywords.
    pub kw: bool,
    by_name: bool,
    pub block: Block,
}

impl<'a> Args<'a> {
    /// # Safety
    /// `argc`, less its flag, initialised values at `ptr` stay where they are and what they are for `'a`, and are found by the collector.
    #[inline(always)]
    pub unsafe fn new(ptr: *const Value, argc: usize, block: Block) -> Args<'a> {
        // SAFETY: the caller's word.
        let list = unsafe { std::slice::from_raw_parts(ptr, argc & (KW_FLAG - 1)) };
        Args { list, kw: argc & KW_FLAG != 0, by_name: argc & NAMES_FLAG != 0, block }
    }
    /// None but a block.
    pub fn none(block: Block) -> Args<'a> {
        Args { list: &[], kw: false, by_name: false, block }
    }
    /// The arguments, a keyword Hash included.
    #[inline(always)]
    pub fn all(&self) -> &'a [Value] {
        self.list
    }
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.list.len()
    }
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    #[inline(always)]
    pub fn get(&self, i: usize) -> Option<Value> {
        self.list.get(i).copied()
    }
    /// Splits off the keywords, those that are passed by name too ([`MethodRow::by_name`]).
    #[inline]
    pub fn take_keywords(&mut self, cx: &Cx) -> Kwargs<'a> {
        if self.by_name {
            self.by_name = false;
            // SAFETY: the names are those of the call site, whose Code the caller's frame keeps for as long as the call lasts.
            let names: &'a [Sym] = unsafe { &*cx.given_names };
            let (list, values) = self.list.split_at(self.list.len().saturating_sub(names.len()));
            self.list = list;
            return Kwargs(Given::Named(names, values));
        }
        self.take_kw()
    }
    /// Splits off the keywords.
    pub fn take_kw(&mut self) -> Kwargs<'a> {
        debug_assert!(!self.by_name);
        match self.list.split_last() {
            Some((hash, list)) if self.kw => {
                self.list = list;
                self.kw = false;
                Kwargs(Given::Hash(Ref::of(*hash)))
            }
            _ => Kwargs::NONE,
        }
    }
}

/// Remaining positional arguments (`*rest`).
pub type Rest<'a> = &'a [Value];

/// Keyword arguments of a call to a builtin.
#[derive(Clone, Copy)]
pub struct Kwargs<'a>(Given<'a>);

#[derive(Clone, Copy)]
enum Given<'a> {
    Nothing,
    Hash(Ref<HashCell>),
    /// As the call site has them. The values stand in registers of the call.
    Named(&'a [Sym], &'a [Value]),
}

impl<'a> Kwargs<'a> {
    pub const NONE: Kwargs<'static> = Kwargs(Given::Nothing);

    /// Those in a Hash.
    pub fn of(hash: Option<Ref<HashCell>>) -> Kwargs<'a> {
        Kwargs(hash.map_or(Given::Nothing, Given::Hash))
    }
    /// The value of a keyword when given.
    pub fn get(&self, name: Sym) -> Option<Value> {
        match self.0 {
            Given::Nothing => None,
            Given::Hash(h) => h.by_symbol(name),
            Given::Named(names, values) => names.iter().position(|n| *n == name).and_then(|i| values.get(i).copied()),
        }
    }
    /// The same of a keyword that has no number of its own: its name is looked up only where there are keywords.
    pub fn named(&self, name: &str) -> Option<Value> {
        if self.is_empty() { None } else { self.get(Sym::intern(name)) }
    }
    pub fn is_empty(&self) -> bool {
        match self.0 {
            Given::Nothing => true,
            Given::Hash(h) => h.len() == 0,
            Given::Named(names, _) => names.is_empty(),
        }
    }
    /// Whether the call has no keywords; an empty Hash of them is one.
    pub fn is_none(&self) -> bool {
        matches!(self.0, Given::Nothing)
    }
    /// All of them in a Hash, to look at or hand on: the one that was given, or one of its own.
    pub fn hash(&self, cx: &mut Cx) -> Option<Ref<HashCell>> {
        match self.0 {
            Given::Nothing => None,
            Given::Hash(h) => Some(h),
            // SAFETY: as many values as names.
            Given::Named(names, values) => Ref::from_value(unsafe { cx.keyword_hash(names, values.as_ptr()) }),
        }
    }
    /// ArgumentError when a keyword is none of `known`.
    pub fn only(&self, cx: &mut Cx, known: &[Sym]) -> Result<()> {
        let unknown = |k: &Value| k.as_sym().is_none_or(|s| !known.contains(&s));
        let is_fine = match self.0 {
            Given::Nothing => true,
            Given::Hash(h) => !h.table(&cx.heap).is_some_and(|t| t.iter().any(|e| unknown(&e.key))),
            Given::Named(names, _) => names.iter().all(|n| known.contains(n)),
        };
        if is_fine {
            return Ok(());
        }
        let mut bad = RootedVec::new(cx);
        match self.0 {
            Given::Nothing => {}
            Given::Hash(h) => bad.extend(h.table(&cx.heap).into_iter().flat_map(|t| t.iter()).map(|e| e.key).filter(unknown)),
            Given::Named(names, _) => bad.extend(names.iter().map(|n| Value::sym(*n)).filter(unknown)),
        }
        let names: Vec<String> = bad.iter().map(|k| cx.inspect_for_error(*k)).collect();
        cx.arg_error(format!("unknown keyword{}: {}", if names.len() > 1 { "s" } else { "" }, names.join(", ")))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vis {
    Public,
    Private,
    Protected,
    /// Private instance method and public singleton method.
    ModuleFunction,
}

/// One builtin method: the only place that knows it.
pub struct MethodRow {
    pub class: ClassId,
    pub singleton: bool,
    /// First the name, then its aliases.
    pub names: &'static [&'static str],
    pub min: usize,
    /// -1: any number.
    pub max: isize,
    pub vis: Vis,
    /// It exists, but `respond_to?` denies it, as for what the machine lacks (`fork`).
    pub unimplemented: bool,
    /// What a call may do.
    pub effects: Effects,
    /// The same when each argument is of its parameter's kind already, so that none is converted.
    pub direct: Effects,
    pub func: NativeFn,
    /// It takes keywords as [`NAMES_FLAG`] says.
    pub by_name: bool,
    /// Documentation; indented lines `expression #=> result` are executed by the test suite.
    pub doc: &'static str,
}

/// For the list of tables that is in every binary.
#[used]
#[unsafe(link_section = "zakuro_rows")]
static NO_ROWS: &[MethodRow] = &[];

unsafe extern "Rust" {
    #[link_name = "__start_zakuro_rows"]
    static FIRST_TABLE: &'static [MethodRow];
    #[link_name = "__stop_zakuro_rows"]
    static TABLES_END: &'static [MethodRow];
}

/// The tables of builtins that `#[ruby_class]` made, in an order of the binary's own.
pub fn all_tables() -> &'static [&'static [MethodRow]] {
    // SAFETY: the linker puts these names at both ends of the section, which has nothing but such slices side by side.
    unsafe {
        let (first, end) = (&raw const FIRST_TABLE, &raw const TABLES_END);
        std::slice::from_raw_parts(first, end.offset_from(first) as usize)
    }
}

impl MethodRow {
    /// As Method#arity: -1 when the number varies, as for CRuby's builtins.
    pub fn arity(&self) -> i64 {
        if self.max >= 0 && self.max as usize == self.min { self.min as i64 } else { -1 }
    }
    /// `Class#name`, for messages. A class that exists in some VMs only is called by what the row was declared for.
    pub fn full_name(&self) -> String {
        let class = class::BOOT_CLASSES.iter().find(|c| c.0 == self.class).map_or("?", |c| c.1);
        format!("{class}{}{}", if self.singleton { "." } else { "#" }, self.names[0])
    }
}

/// Checks the number of positional arguments.
#[inline(always)]
pub fn check_arity(cx: &mut Cx, given: usize, min: usize, max: isize) -> Result<()> {
    if given >= min && (max < 0 || given <= max as usize) { Ok(()) } else { cx.arity_error(given, min, (max >= 0).then_some(max as usize)) }
}

/// Conversion of an argument by Ruby's implicit protocol (`to_int`, `to_str`, ...).
pub trait FromValue: Sized {
    /// What the conversion may do.
    const EFFECTS: Effects;
    /// As an optional argument: nil is a value to convert. Else it stands for none.
    const TAKES_NIL: bool = false;
    fn from_value(cx: &mut Cx, v: Value) -> Result<Self>;
}

/// Conversion of the receiver: no protocol, only the right kind of object.
pub trait FromSelf: Sized {
    /// What looking at the receiver may do; that it is of another kind does not count, where only a call on another class's object would meet it.
    const EFFECTS: Effects;
    fn from_self(cx: &mut Cx, v: Value) -> Result<Self>;
}

/// Conversion of a result.
pub trait IntoResult {
    /// What a builtin with such a result may do besides.
    const EFFECTS: Effects;
    fn into_result(self, cx: &mut Cx) -> Result<Value>;
}

/// Non-negative Integer argument: ArgumentError below zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count(pub usize);

impl FromValue for Value {
    const EFFECTS: Effects = Effects::LEAF;
    #[inline(always)]
    fn from_value(_: &mut Cx, v: Value) -> Result<Value> {
        Ok(v)
    }
}
impl FromSelf for Value {
    const EFFECTS: Effects = Effects::LEAF;
    #[inline(always)]
    fn from_self(_: &mut Cx, v: Value) -> Result<Value> {
        Ok(v)
    }
}
impl FromValue for i64 {
    const EFFECTS: Effects = Effects::ALL;
    #[inline(always)]
    fn from_value(cx: &mut Cx, v: Value) -> Result<i64> {
        cx.to_i64(v)
    }
}
impl FromSelf for i64 {
    const EFFECTS: Effects = Effects::RAISES;
    fn from_self(cx: &mut Cx, v: Value) -> Result<i64> {
        cx.to_i64(v)
    }
}
impl FromValue for Count {
    const EFFECTS: Effects = Effects::ALL;
    fn from_value(cx: &mut Cx, v: Value) -> Result<Count> {
        let n = cx.to_i64(v)?;
        usize::try_from(n).map(Count).or_else(|_| cx.arg_error("negative array size (or size too big)"))
    }
}
impl FromValue for f64 {
    const EFFECTS: Effects = Effects::ALL;
    fn from_value(cx: &mut Cx, v: Value) -> Result<f64> {
        cx.to_f64(v)
    }
}
impl FromSelf for f64 {
    const EFFECTS: Effects = Effects::LEAF;
    #[inline(always)]
    fn from_self(cx: &mut Cx, v: Value) -> Result<f64> {
        match v.as_float() {
            Some(f) => Ok(f),
            None => cx.type_error("not a Float"),
        }
    }
}
impl FromValue for bool {
    const EFFECTS: Effects = Effects::LEAF;
    fn from_value(_: &mut Cx, v: Value) -> Result<bool> {
        Ok(v.truthy())
    }
}
/// A Symbol, or the symbol of a String.
impl FromValue for Sym {
    const EFFECTS: Effects = Effects::ALL;
    fn from_value(cx: &mut Cx, v: Value) -> Result<Sym> {
        cx.to_sym(v)
    }
}
impl FromSelf for Sym {
    const EFFECTS: Effects = Effects::LEAF;
    fn from_self(cx: &mut Cx, v: Value) -> Result<Sym> {
        match v.as_sym() {
            Some(s) => Ok(s),
            None => cx.type_error("not a Symbol"),
        }
    }
}
impl FromValue for Ref<StringCell> {
    const EFFECTS: Effects = Effects::ALL;
    #[inline(always)]
    fn from_value(cx: &mut Cx, v: Value) -> Result<Self> {
        cx.to_str(v)
    }
}
impl FromValue for Ref<ArrayCell> {
    const EFFECTS: Effects = Effects::ALL;
    #[inline(always)]
    fn from_value(cx: &mut Cx, v: Value) -> Result<Self> {
        cx.to_ary(v)
    }
}
impl FromValue for Ref<HashCell> {
    const EFFECTS: Effects = Effects::ALL;
    #[inline(always)]
    fn from_value(cx: &mut Cx, v: Value) -> Result<Self> {
        cx.to_hash(v)
    }
}
/// A class or module.
impl FromValue for ClassId {
    const EFFECTS: Effects = Effects::RAISES;
    fn from_value(cx: &mut Cx, v: Value) -> Result<ClassId> {
        match Ref::<ClassCell>::from_value(v) {
            Some(c) => Ok(c.id),
            None => {
                let what = cx.class_name_of(v);
                cx.type_error(format!("wrong argument type {what} (expected Class or Module)"))
            }
        }
    }
}
impl FromSelf for ClassId {
    const EFFECTS: Effects = Effects::LEAF;
    fn from_self(cx: &mut Cx, v: Value) -> Result<ClassId> {
        ClassId::from_value(cx, v)
    }
}

macro_rules! kinds_from {
    ($($t:ty, $name:literal;)*) => {$(
        impl FromSelf for Ref<$t> {
            const EFFECTS: Effects = Effects::LEAF;
            #[inline(always)]
            fn from_self(cx: &mut Cx, v: Value) -> Result<Self> {
                match Ref::<$t>::from_value(v) {
                    Some(r) => Ok(r),
                    None => cx.wrong_receiver(v, $name),
                }
            }
        }
    )*};
}
kinds_from! {
    StringCell, "String"; ArrayCell, "Array"; HashCell, "Hash"; RangeCell, "Range"; ProcCell, "Proc"; ObjectCell, "Object";
    DataCell, "object"; MethodObjCell, "Method";
}

/// A receiver that the builtin changes: FrozenError if it must not be, and an image that stands is told. Asked before arguments are converted, which may run
/// Ruby: for builtins that convert none. (A String is no such receiver: one of a literal may warn first, in Ruby.)
#[derive(Clone, Copy)]
pub struct Changing<T>(pub Ref<T>);
macro_rules! changing {
    ($($t:ty),*) => {$(
        impl FromSelf for Changing<$t> {
            const EFFECTS: Effects = Effects::RAISES.and(Effects::CHANGES);
            #[inline(always)]
            fn from_self(cx: &mut Cx, v: Value) -> Result<Self> {
                let this = Ref::<$t>::from_self(cx, v)?;
                cx.check_frozen(v)?;
                Ok(Changing(this))
            }
        }
    )*};
}
changing! { ArrayCell, HashCell }

macro_rules! exact_from {
    ($($t:ty, $name:literal;)*) => {$(
        impl FromValue for Ref<$t> {
            const EFFECTS: Effects = Effects::RAISES;
            fn from_value(cx: &mut Cx, v: Value) -> Result<Self> {
                match Ref::<$t>::from_value(v) {
                    Some(r) => Ok(r),
                    None => {
                        let what = cx.class_name_of(v);
                        cx.type_error(format!("wrong argument type {what} (expected {})", $name))
                    }
                }
            }
        }
    )*};
}
exact_from! { RangeCell, "Range"; ProcCell, "Proc"; }

impl IntoResult for Value {
    const EFFECTS: Effects = Effects::LEAF;
    #[inline(always)]
    fn into_result(self, _: &mut Cx) -> Result<Value> {
        Ok(self)
    }
}
impl IntoResult for bool {
    const EFFECTS: Effects = Effects::LEAF;
    #[inline(always)]
    fn into_result(self, _: &mut Cx) -> Result<Value> {
        Ok(Value::bool(self))
    }
}
impl IntoResult for () {
    const EFFECTS: Effects = Effects::LEAF;
    fn into_result(self, _: &mut Cx) -> Result<Value> {
        Ok(Value::NIL)
    }
}
impl IntoResult for i64 {
    const EFFECTS: Effects = Effects::ALLOCATES;
    fn into_result(self, cx: &mut Cx) -> Result<Value> {
        Ok(cx.int(self))
    }
}
/// A number of things in memory, which is a Fixnum.
impl IntoResult for usize {
    const EFFECTS: Effects = Effects::LEAF;
    fn into_result(self, cx: &mut Cx) -> Result<Value> {
        Ok(cx.int(self as i64))
    }
}
macro_rules! small_from {
    ($($t:ty),*) => {$(
        /// Always a Fixnum.
        impl IntoResult for $t {
            const EFFECTS: Effects = Effects::LEAF;
            fn into_result(self, _: &mut Cx) -> Result<Value> {
                Ok(Value::fixnum(self.into()))
            }
        }
    )*};
}
small_from! { u8, i32, u32 }
impl IntoResult for f64 {
    const EFFECTS: Effects = Effects::ALLOCATES;
    fn into_result(self, cx: &mut Cx) -> Result<Value> {
        Ok(cx.float(self))
    }
}
impl IntoResult for Sym {
    const EFFECTS: Effects = Effects::LEAF;
    fn into_result(self, _: &mut Cx) -> Result<Value> {
        Ok(Value::sym(self))
    }
}
impl IntoResult for String {
    const EFFECTS: Effects = Effects::ALLOCATES;
    fn into_result(self, cx: &mut Cx) -> Result<Value> {
        Ok(cx.str(&self))
    }
}
impl IntoResult for &str {
    const EFFECTS: Effects = Effects::ALLOCATES;
    fn into_result(self, cx: &mut Cx) -> Result<Value> {
        Ok(cx.str(self))
    }
}
impl<T> IntoResult for Ref<T> {
    const EFFECTS: Effects = Effects::LEAF;
    fn into_result(self, _: &mut Cx) -> Result<Value> {
        Ok(self.as_value())
    }
}
impl<T: IntoResult> IntoResult for Option<T> {
    const EFFECTS: Effects = T::EFFECTS;
    fn into_result(self, cx: &mut Cx) -> Result<Value> {
        self.map_or(Ok(Value::NIL), |v| v.into_result(cx))
    }
}
impl<T: IntoResult> IntoResult for Result<T> {
    const EFFECTS: Effects = T::EFFECTS.and(Effects::RAISES);
    #[inline(always)]
    fn into_result(self, cx: &mut Cx) -> Result<Value> {
        self?.into_result(cx)
    }
}
