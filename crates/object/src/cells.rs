//! Cell layouts, except String, Array, Hash and data objects, which have files of their own.

use crate::class::{ClassId, ids};
use crate::value::{Cell, Ref, Value};
use num_bigint::BigInt;
use zakuro_base::Sym;
use zakuro_heap::{Header, Heap, Marker, flags};

macro_rules! kinds {
    ($($name:ident),*) => {
        /// What a cell is laid out as.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Kind { $($name),* }
        impl Kind {
            pub const ALL: &'static [Kind] = &[$(Kind::$name),*];
            /// `k` must come from a header that this crate wrote.
            #[inline(always)]
            pub fn from_u8(k: u8) -> Kind {
                debug_assert!((k as usize) < Self::ALL.len());
                // SAFETY: headers are only written from `Kind` values.
                unsafe { std::mem::transmute::<u8, Kind>(k) }
            }
        }
    };
}

kinds!(
    Free,
    Object,
    Exception,
    Class,
    Float,
    Bignum,
    String,
    Array,
    Hash,
    Range,
    Proc,
    Method,
    Env,
    Cref,
    Data,
    Throw,
    Rational,
    Complex,
    MethodObj,
    Moved,
    MovedString,
    MovedArray,
    MovedHash
);

/// Flag of Object-like cells: the variables live in a malloc'ed block that slot 0 points to.
pub const EXT_IVARS: u8 = flags::USER1;
/// Flag of Proc cells: a lambda.
pub const LAMBDA: u8 = flags::USER1;
/// Flag of Proc cells: made by `proc {}`: `break` has nowhere to go.
pub const ORPHAN: u8 = flags::USER2;
/// Flag of Env cells: they hold levels of a backtrace, of [`LEVEL_WORDS`] values each. The first is the address of a code state (0: none), which the level keeps.
pub const LEVELS: u8 = flags::USER1;
pub const LEVEL_WORDS: usize = 3;
/// Flag of Hash cells: made for keyword arguments that `ruby2_keywords` keeps.
pub const KEYWORDS: u8 = flags::USER1;
/// Flag of Hash cells: made for the keyword arguments of the call that is being entered, and nobody else's: a `**rest` may be this Hash. Set once the method
/// is known, taken off by who binds them.
pub const HANDED_OVER: u8 = flags::USER2;

/// Flag of String cells, beside FROZEN: *chilled*. The String can be changed, but programs should not rely on it: the first change warns. Having FROZEN, too, sends
/// every change to the slow path of the frozen test, so that nothing else is tested for it. See `Cx::thaw`.
pub const CHILLED: u8 = flags::USER1;
/// Flag of chilled Strings: a Symbol's `to_s` made it, not a literal. Chilled Strings are never SHARED, so it can't be mistaken for TEMPLATE.
/// Strings refer to nothing, so they are never OLD.
pub const CHILLED_SYMBOL: u8 = flags::OLD;

/// Flag of SHARED cells: belongs to an image and can change, or leads to a cell that can. A VM works with a copy of its own.
/// No SHARED cell is traced, so none is OLD.
pub const TEMPLATE: u8 = flags::OLD;

/// What fast paths test before they store a reference in a cell: any of these sends the store to code that tells them apart.
pub const GUARDED: u8 = flags::FROZEN | flags::CAPTURED | flags::OLD;

#[inline(always)]
pub fn init_header(p: *mut Header, shape: u32, kind: Kind, aux: u16) {
    // SAFETY: `p` is a new cell of at least 8 bytes.
    unsafe { p.write(Header { shape, kind: kind as u8, flags: 0, aux }) }
}

/// Allocates a cell and writes header and body.
#[inline(always)]
pub fn alloc_cell<T>(heap: &Heap, cell: T) -> Ref<T> {
    let p = heap.alloc(size_of::<T>()) as *mut T;
    // SAFETY: a new cell of the right size; Ref invariant holds after the write.
    unsafe {
        p.write(cell);
        Ref::from_ptr(p)
    }
}
/// As `alloc_cell` for a cell that owns malloc'ed memory.
#[inline(always)]
pub fn alloc_finalized_cell<T>(heap: &Heap, cell: T) -> Ref<T> {
    let p = heap.alloc_finalized(size_of::<T>()) as *mut T;
    // SAFETY: as above.
    unsafe {
        p.write(cell);
        Ref::from_ptr(p)
    }
}

#[inline(always)]
pub const fn header(class: ClassId, kind: Kind, aux: u16) -> Header {
    Header { shape: class.0, kind: kind as u8, flags: 0, aux }
}

/// A cell whose references are its fields: they are traced, whichever there are ([`crate::trace::Trace`]).
macro_rules! cell {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$note:meta])* $vis:vis $field:ident: $t:ty,)* }) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$note])* $vis $field: $t,)*
        }
        impl $name {
            #[inline(always)]
            pub(crate) fn trace_fields(&self, m: &mut Marker<'_>) {
                $($crate::trace::Trace::trace(&self.$field, m);)*
            }
        }
    };
}

#[repr(C)]
pub struct FloatCell {
    pub header: Header,
    pub value: f64,
}
impl Cell for FloatCell {
    const KIND: Kind = Kind::Float;
}
impl FloatCell {
    #[cold]
    #[inline(never)]
    pub fn make(heap: &Heap, value: f64) -> Value {
        let mut h = header(ids::FLOAT, Kind::Float, 0);
        h.flags = flags::FROZEN;
        alloc_cell(heap, FloatCell { header: h, value }).as_value()
    }
}

#[repr(C)]
pub struct BignumCell {
    pub header: Header,
    pub value: Box<BigInt>,
}
impl Cell for BignumCell {
    const KIND: Kind = Kind::Bignum;
}
impl BignumCell {
    /// Bytes of the block of its digits, about.
    pub fn digits(value: &BigInt) -> usize {
        value.bits() as usize / 8
    }
    /// Bytes that it takes beside its cell: digits, the number's head, and what malloc makes of these two blocks.
    pub fn weight(value: &BigInt) -> usize {
        BignumCell::digits(value) + size_of::<BigInt>() + 32
    }
    /// Takes the number's payload from the heap.
    pub(crate) fn free(&mut self) -> (usize, usize) {
        let counted = (BignumCell::weight(&self.value), BignumCell::digits(&self.value));
        // SAFETY: the cell is not looked at any more.
        unsafe { std::ptr::drop_in_place(&mut self.value) };
        counted
    }
}

cell! {
    #[repr(C)]
    pub struct RangeCell {
        pub header: Header,
        low: Value,
        high: Value,
    }
}
impl Cell for RangeCell {
    const KIND: Kind = Kind::Range;
}
impl RangeCell {
    pub fn make(heap: &Heap, shape: u32, low: Value, high: Value, exclusive: bool) -> Ref<RangeCell> {
        let header = Header { shape, kind: Kind::Range as u8, flags: flags::FROZEN, aux: exclusive as u16 };
        alloc_cell(heap, RangeCell { header, low, high })
    }
    /// Where the ends stand, in bytes: for machine code.
    pub const LOW: usize = std::mem::offset_of!(RangeCell, low);
    pub const HIGH: usize = std::mem::offset_of!(RangeCell, high);
    /// An unset one for `Range#initialize`, or the copy that `dup` makes: not frozen.
    pub fn make_open(heap: &Heap, shape: u32, low: Value, high: Value, exclusive: bool) -> Ref<RangeCell> {
        let r = RangeCell::make(heap, shape, low, high, exclusive);
        r.cell().header.flags &= !flags::FROZEN;
        r
    }
    #[inline(always)]
    pub fn low(&self) -> Value {
        self.low
    }
    #[inline(always)]
    pub fn high(&self) -> Value {
        self.high
    }
    #[inline(always)]
    pub fn exclusive(&self) -> bool {
        self.header.aux != 0
    }
}
impl Ref<RangeCell> {
    /// For `Range#initialize` of a new, still unset range.
    pub fn init(self, low: Value, high: Value, exclusive: bool) {
        self.as_value().will_refer();
        let cell = self.cell();
        (cell.low, cell.high) = (low, high);
        cell.header.aux = exclusive as u16;
    }
    /// The copy of one that was not frozen.
    pub fn open(self) {
        self.cell().header.flags &= !flags::FROZEN;
    }
}

cell! {
    /// Rational and Complex: two numbers.
    #[repr(C)]
    pub struct PairCell {
        pub header: Header,
        pub first: Value,
        pub second: Value,
    }
}
impl PairCell {
    pub fn make(heap: &Heap, class: ClassId, kind: Kind, first: Value, second: Value) -> Value {
        let mut h = header(class, kind, 0);
        h.flags = flags::FROZEN;
        alloc_cell(heap, PairCell { header: h, first, second }).as_value()
    }
    pub fn from_value(v: Value, kind: Kind) -> Option<(Value, Value)> {
        // SAFETY: both kinds are laid out as PairCell.
        v.is_kind(kind).then(|| unsafe { (*(v.bits() as *const PairCell)).parts() })
    }
    fn parts(&self) -> (Value, Value) {
        (self.first, self.second)
    }
}
impl Ref<PairCell> {
    /// Of a cell that is being made: what it consists of.
    pub fn init(self, first: Value, second: Value) {
        self.as_value().will_refer();
        let cell = self.cell();
        (cell.first, cell.second) = (first, second);
    }
}

/// Class or module object. Immutable; see class.rs.
#[repr(C)]
pub struct ClassCell {
    pub header: Header,
    pub id: ClassId,
}
impl Cell for ClassCell {
    const KIND: Kind = Kind::Class;
}

cell! {
    /// Lexical scope: which module constants, class variables and `def` refer to.
    #[repr(C)]
    pub struct CrefCell {
        /// aux: default visibility of the scope (0 public, 1 private, 2 protected, 3 module_function).
        pub header: Header,
        /// The module.
        pub class: Value,
        /// Outer scope; NIL at top level.
        pub parent: Value,
        /// Where `def` puts methods, when not `class`; else NIL. TRUE: the singleton class of self (instance_eval). FALSE: of `class`, which is any object
        /// then, and whose class is asked for constants (instance_eval of a text); class variables are those of the scope around.
        pub definee: Value,
        /// Array of the active refinements, the one to ask first at the front; NIL without any.
        pub refinements: Value,
    }
}
impl Cell for CrefCell {
    const KIND: Kind = Kind::Cref;
}
impl Ref<CrefCell> {
    pub fn set_visibility(self, v: u16) {
        self.as_value().assert_uncaptured();
        self.cell().header.aux = v;
    }
    pub fn set_definee(self, v: Value) {
        self.as_value().will_refer();
        self.cell().definee = v;
    }
    pub fn set_refinements(self, v: Value) {
        self.as_value().will_refer();
        self.cell().refinements = v;
    }
    /// Of a cell that is being made.
    pub fn init(self, class: Value, parent: Value, definee: Value, refinements: Value) {
        self.as_value().will_refer();
        let cell = self.cell();
        (cell.class, cell.parent, cell.definee, cell.refinements) = (class, parent, definee, refinements);
    }
}

/// Environment: captured variables of one activation of a scope.
#[repr(C)]
pub struct EnvCell {
    /// aux: number of slots.
    pub header: Header,
    /// Environment of the scope around; NIL for methods and programs.
    pub parent: Value,
    slots: [Value; 0],
}
impl Cell for EnvCell {
    const KIND: Kind = Kind::Env;
}
impl EnvCell {
    pub const MAX_SLOTS: usize = (zakuro_heap::MAX_CELL - 16) / 8;
    #[inline(always)]
    pub fn make(heap: &Heap, parent: Value, n: usize) -> Ref<EnvCell> {
        debug_assert!(n <= Self::MAX_SLOTS);
        let p = heap.alloc(16 + 8 * n) as *mut EnvCell;
        // SAFETY: the new cell has room for the head and n slots; Value::NIL is written to each.
        unsafe {
            (&raw mut (*p).header).write(Header { shape: ids::BINDING.0, kind: Kind::Env as u8, flags: 0, aux: n as u16 });
            (&raw mut (*p).parent).write(parent);
            let s = (&raw mut (*p).slots) as *mut Value;
            for i in 0..n {
                s.add(i).write(Value::NIL);
            }
            Ref::from_ptr(p)
        }
    }
    /// Stores in a slot.
    #[inline(always)]
    pub fn set(this: Ref<EnvCell>, i: usize, v: Value) {
        debug_assert!(i < this.header.aux as usize);
        // Images compare environments: a captured one may be written to.
        if this.header.flags & flags::OLD != 0 {
            // SAFETY: a live cell of this VM.
            unsafe { zakuro_heap::remember(this.as_ptr().cast()) }
        }
        // SAFETY: the slot exists.
        unsafe { *this.slots_ptr().add(i) = v }
    }
    /// The environment around.
    pub fn set_parent(this: Ref<EnvCell>, parent: Value) {
        if this.header.flags & flags::OLD != 0 {
            // SAFETY: a live cell of this VM.
            unsafe { zakuro_heap::remember(this.as_ptr().cast()) }
        }
        this.cell().parent = parent;
    }
    /// Of a cell that is being made: the environment around, and as many slots as it has.
    pub fn init(this: Ref<EnvCell>, parent: Value, slots: impl Iterator<Item = Value>) {
        Self::set_parent(this, parent);
        for (i, v) in slots.take(this.header.aux as usize).enumerate() {
            // SAFETY: the slot exists.
            unsafe { *this.slots_ptr().add(i) = v }
        }
    }
    /// The first slot. It lies behind what `&self` spans: the pointer is made from the address, as all pointers to cells are.
    #[inline(always)]
    pub fn slots_ptr(&self) -> *mut Value {
        std::ptr::with_exposed_provenance_mut((&raw const self.slots).addr())
    }
    pub fn slots(&self) -> &[Value] {
        // SAFETY: aux counts the initialised slots.
        unsafe { std::slice::from_raw_parts(self.slots_ptr(), self.header.aux as usize) }
    }
}

/// What a Proc runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum ProcKind {
    /// A literal block: code, environment, self.
    Block = 0,
    /// `&:name`: extra is the Symbol.
    Symbol = 1,
    /// A Method object: extra.
    Method = 2,
    /// A native closure: extra is a DataCell (or any value) handed to the function in `code`.
    Native = 3,
    /// `>>`, `<<`, curry: written in Ruby; extra is the Proc to call.
    Wrapped = 4,
}

/// How what `ProcCell::code` of a literal block points to begins: what the tracer knows of it.
#[repr(C)]
pub struct CodeHead {
    insns: *const u8,
    /// Set when a Proc of the code is traced.
    pub seen: std::cell::Cell<u32>,
}

cell! {
    #[repr(C)]
    pub struct ProcCell {
        /// aux: ProcKind
        pub header: Header,
        /// Block: the VM's CodeState. Native: the function.
        pub code: usize,
        pub env: Value,
        pub self_: Value,
        /// Method cell of the frame around (cref, owner, name).
        pub me: Value,
        /// Of a literal block: nil, or the Proc that this one is a copy of.
        pub extra: Value,
    }
}
impl Cell for ProcCell {
    const KIND: Kind = Kind::Proc;
}
impl ProcCell {
    #[inline(always)]
    pub fn proc_kind(&self) -> ProcKind {
        match self.header.aux {
            0 => ProcKind::Block,
            1 => ProcKind::Symbol,
            2 => ProcKind::Method,
            3 => ProcKind::Native,
            _ => ProcKind::Wrapped,
        }
    }
    #[inline(always)]
    pub fn is_lambda(&self) -> bool {
        self.header.flags & LAMBDA != 0
    }
    /// Of a cell that is being made.
    pub fn init(this: Ref<ProcCell>, code: usize, env: Value, self_: Value, me: Value, extra: Value) {
        this.as_value().will_refer();
        let cell = this.cell();
        cell.code = code;
        (cell.env, cell.self_, cell.me, cell.extra) = (env, self_, me, extra);
    }
    /// What a copy keeps in `extra`: of a literal block's Proc, the Proc that was made first.
    pub fn origin(this: Ref<ProcCell>) -> Value {
        if this.proc_kind() == ProcKind::Block && this.extra.is_nil() { this.as_value() } else { this.extra }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Visibility {
    Public = 0,
    Private = 1,
    Protected = 2,
}

/// What a method does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum MethodKind {
    /// `body`: `*const Code` (counted by the VM's code table or leaked by the boot image).
    Ruby = 0,
    /// `body`: `&'static` row of the builtin.
    Native = 1,
    /// `data`: Symbol of the variable.
    AttrReader = 2,
    AttrWriter = 3,
    /// `data`: Proc.
    Proc = 4,
    /// `undef`
    Undefined = 5,
    /// Only a change of visibility: look further up for the body.
    ZSuper = 6,
    /// Pseudo method of a program, class body or eval: carries the cref only.
    Frame = 7,
    /// `data`: Array [name, default]: answers method_missing for procs made by methods like `method(:x)` with respond_to_missing?
    Missing = 8,
}

cell! {
    /// A method as a method table holds it. Immutable once made.
    #[repr(C)]
    pub struct MethodCell {
        /// aux: visibility | stand-in << 3 | place << 4 | kind << 8
        pub header: Header,
        /// Name that it was defined under.
        pub name: Sym,
        /// Name that it is called under (differs after `alias`).
        pub called: Sym,
        /// Class or module that it was defined in.
        pub owner: ClassId,
        pub reserved: u32,
        pub cref: Value,
        pub body: usize,
        pub data: Value,
    }
}
impl Cell for MethodCell {
    const KIND: Kind = Kind::Method;
}
impl MethodCell {
    #[inline(always)]
    pub fn visibility(&self) -> Visibility {
        match self.header.aux & 7 {
            0 => Visibility::Public,
            1 => Visibility::Private,
            _ => Visibility::Protected,
        }
    }
    #[inline(always)]
    pub fn method_kind(&self) -> MethodKind {
        // SAFETY: aux is only written by `make` from a MethodKind.
        unsafe { std::mem::transmute::<u8, MethodKind>((self.header.aux >> 8) as u8) }
    }
    /// How many places of its owner among the receiver's ancestors are skipped: `super` goes on behind the next. Other than 0 only in a copy of a
    /// table's cell, made when `super` reaches a module that stands among the ancestors more than once.
    #[inline(always)]
    pub fn place(&self) -> u16 {
        self.header.aux >> 4 & MethodCell::LAST_PLACE
    }
    const STAND_IN: u16 = 8;
    /// Whether Ruby has this method further up only: its class has it for speed.
    #[inline(always)]
    pub fn is_stand_in(&self) -> bool {
        self.header.aux & MethodCell::STAND_IN != 0
    }
    /// Stands for the last place, however many there are.
    pub const LAST_PLACE: u16 = 15;
    pub fn make(
        heap: &Heap,
        name: Sym,
        owner: ClassId,
        visibility: Visibility,
        kind: MethodKind,
        cref: Value,
        body: usize,
        data: Value,
    ) -> Ref<MethodCell> {
        let header = header(ids::UNBOUND_METHOD, Kind::Method, visibility as u16 | (kind as u16) << 8);
        alloc_cell(heap, MethodCell { header, name, called: name, owner, reserved: 0, cref, body, data })
    }
}

impl Ref<MethodCell> {
    /// Another scope.
    pub fn set_cref(self, cref: Value) {
        self.as_value().will_refer();
        self.cell().cref = cref;
    }
    /// Of a cell that is being made.
    pub fn init(self, cref: Value, data: Value) {
        self.as_value().will_refer();
        let cell = self.cell();
        (cell.cref, cell.data) = (cref, data);
    }
    /// Of a builtin, before a program runs: see `is_stand_in`.
    pub fn init_stand_in(self) {
        self.cell().header.aux |= MethodCell::STAND_IN;
    }
    /// Of a copy: the name that it was defined under.
    pub fn init_name(self, name: Sym) {
        self.cell().name = name;
    }
    /// Of a copy that is being made: see `place`.
    pub fn init_place(self, place: usize) {
        let place = place.min(MethodCell::LAST_PLACE as usize) as u16;
        let header = &mut self.cell().header;
        header.aux = header.aux & !(MethodCell::LAST_PLACE << 4) | place << 4;
    }
    /// Of a copy: the name that it is called under, and what the unit of its code knows it by.
    pub fn init_copy(self, called: Sym, reserved: u32) {
        let cell = self.cell();
        (cell.called, cell.reserved) = (called, reserved);
    }
}

cell! {
    /// Method or UnboundMethod object.
    #[repr(C)]
    pub struct MethodObjCell {
        pub header: Header,
        /// NIL-able only for UnboundMethod.
        pub receiver: Value,
        /// MethodCell
        pub method: Value,
        /// Class that it was asked of.
        pub class: Value,
        pub name: Sym,
    }
}
impl Cell for MethodObjCell {
    const KIND: Kind = Kind::MethodObj;
}
impl Ref<MethodObjCell> {
    pub fn set_method(self, method: Value) {
        self.as_value().will_refer();
        self.cell().method = method;
    }
    /// Of a cell that is being made.
    pub fn init(self, receiver: Value, method: Value, class: Value) {
        self.as_value().will_refer();
        let cell = self.cell();
        (cell.receiver, cell.method, cell.class) = (receiver, method, class);
    }
}

cell! {
    /// A jump on its way through frames (`break`, non-local `return`, `throw`, kill). Only the VM sees it.
    #[repr(C)]
    pub struct ThrowCell {
        /// aux: ThrowKind
        pub header: Header,
        /// Identity of the target: an environment cell, a catch tag, or nil.
        pub tag: Value,
        pub value: Value,
    }
}
impl Cell for ThrowCell {
    const KIND: Kind = Kind::Throw;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum ThrowKind {
    /// To the call made by the frame whose environment is the tag.
    Break = 0,
    /// From the frame whose environment is the tag.
    Return = 1,
    /// `throw`: to the `catch` with this tag.
    Throw = 2,
    /// The thread or VM ends; nothing rescues it. An Integer as value (`exit!`): the status; not even `ensure` runs.
    Kill = 3,
    /// Used by natives to stop an iteration: tag is a unique object.
    Stop = 4,
}
impl ThrowCell {
    pub fn throw_kind(&self) -> ThrowKind {
        match self.header.aux {
            0 => ThrowKind::Break,
            1 => ThrowKind::Return,
            2 => ThrowKind::Throw,
            3 => ThrowKind::Kill,
            _ => ThrowKind::Stop,
        }
    }
}

/// Objects with instance variables (kinds Object and Exception).
#[repr(C)]
pub struct ObjectCell {
    /// aux: number of inline slots.
    pub header: Header,
    slots: [Value; 0],
}
impl Cell for ObjectCell {
    const KIND: Kind = Kind::Object;
}

/// Variables that outgrew their object. cap values follow.
#[repr(C)]
struct ExtIvars {
    /// The first of `values`, for machine code.
    first: *mut Value,
    cap: usize,
    values: Vec<Value>,
}

impl ObjectCell {
    pub const MAX_INLINE: usize = 255;
    /// At least three, since the smallest cell has room for them.
    #[inline(always)]
    pub fn slots_made(wanted: usize) -> usize {
        wanted.clamp(3, Self::MAX_INLINE)
    }
    #[inline(always)]
    pub fn make(heap: &Heap, shape: u32, kind: Kind, slots: usize) -> Ref<ObjectCell> {
        let n = Self::slots_made(slots);
        let p = heap.alloc(8 + 8 * n) as *mut ObjectCell;
        // SAFETY: new cell with room for n slots. Slots beyond the shape's count are never read, but the collector
        // scans all inline slots, so they are filled.
        unsafe {
            init_header(p as *mut Header, shape, kind, n as u16);
            let s = (&raw mut (*p).slots) as *mut Value;
            for i in 0..n {
                s.add(i).write(Value::UNDEF);
            }
            Ref::from_ptr(p)
        }
    }
    /// The first slot; as for environments.
    #[inline(always)]
    pub fn slots_ptr(&self) -> *mut Value {
        let inline: *mut Value = std::ptr::with_exposed_provenance_mut((&raw const self.slots).addr());
        if self.header.flags & EXT_IVARS == 0 {
            inline
        } else {
            // SAFETY: EXT_IVARS says that slot 0 holds a Box<ExtIvars>.
            unsafe { (**(inline as *mut *mut ExtIvars)).first }
        }
    }
    pub fn capacity(&self) -> usize {
        if self.header.flags & EXT_IVARS == 0 {
            self.header.aux as usize
        } else {
            // SAFETY: as in slots_ptr.
            unsafe { (**((&raw const self.slots) as *mut *mut ExtIvars)).cap }
        }
    }
    pub fn all_slots(&self) -> &[Value] {
        // SAFETY: capacity() slots are initialised.
        unsafe { std::slice::from_raw_parts(self.slots_ptr(), self.capacity()) }
    }
    #[inline(always)]
    pub fn get(&self, i: usize) -> Value {
        debug_assert!(i < self.capacity());
        // SAFETY: i < capacity (the shape's index is below its count, which is at most the capacity).
        unsafe { *self.slots_ptr().add(i) }
    }
    #[inline(always)]
    pub fn set(this: Ref<ObjectCell>, i: usize, v: Value) {
        debug_assert!(i < this.capacity());
        this.as_value().will_refer();
        // SAFETY: as in get.
        unsafe { *this.slots_ptr().add(i) = v }
    }
    /// Gives an object another layout, whose variables it has room for.
    pub fn set_shape(this: Ref<ObjectCell>, shape: u32) {
        this.as_value().assert_uncaptured();
        this.cell().header.shape = shape;
    }
    /// Makes room for variable `i`.
    #[cold]
    pub fn grow(this: Ref<ObjectCell>, heap: &mut Heap, i: usize) {
        let old = this.capacity();
        if i < old {
            return;
        }
        let cap = (i + 1).max(old * 2);
        let mut values = this.all_slots().to_vec();
        values.resize(cap, Value::UNDEF);
        heap.add_payload(cap * 8);
        let p = this.as_ptr();
        // SAFETY: slot 0 of the inline area is ours to reuse once the values are copied; an old block is freed first.
        unsafe {
            let slot = (&raw mut (*p).slots) as *mut *mut ExtIvars;
            if (*p).header.flags & EXT_IVARS != 0 {
                heap.sub_payload(old * 8);
                drop(Box::from_raw(*slot));
            } else {
                heap.set_finalized(p as *mut Header);
            }
            *slot = {
                let mut values = values;
                Box::into_raw(Box::new(ExtIvars { first: values.as_mut_ptr(), cap, values }))
            };
            (*p).header.flags |= EXT_IVARS;
        }
    }
    /// Frees the block and unsets every variable; returns the bytes of the block.
    unsafe fn empty_out(p: *mut ObjectCell) -> usize {
        // SAFETY: a live object; its inline slots are written after the block that slot 0 may point to is gone.
        unsafe {
            let bytes = Self::free_ext(p);
            (*p).header.flags &= !EXT_IVARS;
            let s = (&raw mut (*p).slots) as *mut Value;
            for i in 0..(*p).header.aux as usize {
                s.add(i).write(Value::UNDEF);
            }
            bytes
        }
    }
    /// Frees the block of a dying object; returns its bytes.
    /// Bytes of the slots outside the cell.
    ///
    /// # Safety
    /// A live cell.
    pub(crate) unsafe fn owned(p: *mut ObjectCell) -> usize {
        // SAFETY: the caller's promise; the flag says that the first slot is the list's address.
        unsafe {
            if (*p).header.flags & EXT_IVARS == 0 {
                return 0;
            }
            (**((&raw const (*p).slots) as *const *const ExtIvars)).cap * 8
        }
    }
    pub(crate) unsafe fn free_ext(p: *mut ObjectCell) -> usize {
        // SAFETY: called once by the finalizer.
        unsafe {
            if (*p).header.flags & EXT_IVARS == 0 {
                return 0;
            }
            let b = Box::from_raw(*((&raw mut (*p).slots) as *mut *mut ExtIvars));
            b.cap * 8
        }
    }
}

/// Makes a cell an emptied one of a moved kind: what it owned is given back (the message holds it), its class is that of `shape`. See the VM's
/// transfer/moved.rs for why the layout stays.
pub fn empty_moved(heap: &mut Heap, v: Value, shape: u32) {
    let header = v.header();
    let moved = match v.kind_of_cell() {
        Kind::String => Kind::MovedString,
        Kind::Array => Kind::MovedArray,
        Kind::Hash => Kind::MovedHash,
        _ => Kind::Moved,
    };
    // SAFETY: a live cell of this heap; what its finalizer would free is freed here, and the cell left in a state that owns nothing.
    unsafe {
        let bytes = match v.kind_of_cell() {
            Kind::String => crate::string::StringCell::empty_out(v.bits() as *mut crate::string::StringCell, |at| heap.hides(at)),
            Kind::Array => crate::array::ArrayCell::empty_out(v.bits() as *mut crate::array::ArrayCell, |at| heap.hides(at)),
            Kind::Hash => {
                let hash = v.bits() as *mut crate::hash::HashCell;
                let before = (*hash).blocks();
                let bytes = crate::hash::HashCell::empty_out(hash);
                if bytes > 0 {
                    before.into_iter().for_each(|block| heap.sub_watched(block));
                }
                bytes
            }
            Kind::Object | Kind::Exception => ObjectCell::empty_out(v.bits() as *mut ObjectCell),
            Kind::Data => {
                let owned = (*(v.bits() as *mut crate::data::DataCell)).drop_payload();
                heap.sub_watched(owned.block);
                owned.bytes
            }
            Kind::Range => 0,
            _ => return,
        };
        heap.sub_payload(bytes);
        (*header).kind = moved as u8;
        (*header).shape = shape;
        (*header).flags = ((*header).flags & flags::HAS_ID) | flags::FROZEN;
    }
}
