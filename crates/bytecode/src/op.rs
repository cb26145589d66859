//! The opcode table.
//!
//! An instruction is 64 bits, read by field: `op`, `x` (u8) and `a`, `b`, `c` (u16 each). `imm` below is the signed 32-bit
//! number made of `b` (low half) and `c` (high half); `off` is a signed 16-bit number in the named field. Jump distances count
//! instructions from the jump itself: the target is `ip + distance`.
//!
//! # Frames and registers
//! r0 is `self`; r1.. are the parameters in the order required, optional, rest, post, keywords, keyword rest, block; then the
//! other locals; then temporaries. A call puts the receiver in `base`, the arguments in `base+1..`, and finds its result in
//! `base`: the callee's window starts at the caller's `base` (overlapping windows), so every register >= base is lost by a call.
//! Temporaries are used like a stack.
//!
//! # Environments
//! A variable that a nested block (or eval) reads or writes lives in an environment cell, the others in registers. `Code::env_reg`
//! names the register that holds the current environment: at entry of a block it holds the *parent's* environment. A Code with
//! captured variables of its own starts with `NewEnv`, whose parent is what the register held before. A method, class body or
//! program has no parent. In a Code without an own environment depth 0 is therefore the parent's environment. The depth operand counts environments,
//! not scopes: scopes that own no environment are skipped by the compiler.
//! A scope needs an own environment when one of its variables is captured, when a block in it (at any depth between)
//! contains `break` or `return` that must find it (the environment is the identity of the frame), or when it is visible to `binding`/eval.
//!
//! # Slow paths by re-dispatch
//! `Add a b c` and the like stand first in a fixed group of three: the fast path skips the group, the slow path copies the
//! operands to the base of the second instruction, which is the ordinary call, and goes on there. The base lies above the
//! operands, so that copying them in order overwrites none. A jump may name `!=`: `a != b` as a condition is `JumpNotEq` with a
//! call of `!=` and `JumpIf` (jumps when different), or `JumpEq` with `!=` and `JumpUnless`; the call site tells.
//!
//! # `$!`
//! Raising does not change `$!`. After `Catch` the handler itself saves it (`GetErr`), sets it to what was caught (`SetErr`; without
//! effect when that is a thrown jump and no exception) and puts the saved value back at the end of the clause, however that ends.

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Insn {
    pub op: u8,
    pub x: u8,
    pub a: u16,
    pub b: u16,
    pub c: u16,
}

impl Insn {
    pub fn new(op: Op, x: u8, a: u16, b: u16, c: u16) -> Insn {
        Insn { op: op as u8, x, a, b, c }
    }
    pub fn with_imm(op: Op, x: u8, a: u16, imm: i32) -> Insn {
        Insn { op: op as u8, x, a, b: imm as u16, c: (imm >> 16) as u16 }
    }
    /// The signed 32-bit operand in `b` and `c`.
    #[inline(always)]
    pub fn imm(self) -> i32 {
        (self.b as u32 | (self.c as u32) << 16) as i32
    }
    pub fn opcode(self) -> Op {
        Op::ALL[self.op as usize]
    }
    /// An operand that is a number without sign (0 for [`Field::Imm`]).
    pub fn get(self, field: Field) -> u16 {
        match field {
            Field::X => self.x as u16,
            Field::A => self.a,
            Field::B => self.b,
            Field::C => self.c,
            Field::Imm => 0,
        }
    }
    /// An operand that is a number with a sign.
    pub fn signed(self, field: Field) -> i32 {
        match field {
            Field::Imm => self.imm(),
            field => self.get(field) as i16 as i32,
        }
    }
    pub fn set(&mut self, field: Field, to: u16) {
        match field {
            Field::X => self.x = to as u8,
            Field::A => self.a = to,
            Field::B => self.b = to,
            Field::C => self.c = to,
            Field::Imm => (self.b, self.c) = (to, 0),
        }
    }
}

impl std::fmt::Debug for Insn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} x={} a={} b={} c={}", self.opcode(), self.x, self.a, self.b, self.c)
    }
}

/// A field of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    X,
    A,
    B,
    C,
    /// `b` and `c` as one signed number.
    Imm,
}

/// What a field holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A register that is read.
    Read,
    /// A register that is written.
    Write,
    /// A register that is read, then written.
    Change,
    /// The register after this one is read.
    Next,
    /// The first of `Count` registers that are read.
    First,
    Count,
    /// The first register of a call's window: what is read there the call site and the instruction tell, the result is written there, and
    /// all registers from it on are lost.
    Window,
    /// How many positional values a call has.
    Argc,
    /// The first of the registers that `Parts` are written to.
    Targets,
    /// Numbers of variables before (low byte) and after (high byte) a splat.
    Parts,
    /// The register of the frame's environment.
    Env,
    /// How many environments up.
    Depth,
    /// A slot of the environment.
    Slot,
    /// How many slots a new environment has.
    Slots,
    /// A signed number.
    Int,
    /// A distance in instructions, signed.
    Jump,
    /// Index of a literal.
    Literal,
    /// Index of a symbol.
    Name,
    IvarSite,
    ConstSite,
    CallSite,
    /// Index of a child of this kind.
    Block,
    Method,
    Class,
    /// Number of an [`crate::Intrinsic`].
    Function,
    /// The first of an intrinsic's registers.
    Arguments,
    /// An intrinsic's operand beside the registers.
    Extra,
    /// Bits that the definition names.
    Option,
}

/// What holds for an instruction beside its operands; bits.
mod mark {
    /// The first of a group of two or three instructions.
    pub const TWO: u8 = 1;
    pub const THREE: u8 = 2;
    /// It asks for interrupts: it may jump backwards.
    pub const POLLS: u8 = 4;
    /// Control never goes on to the next instruction.
    pub const ENDS: u8 = 8;
}

macro_rules! opcodes {
    ($($(#[doc = $doc:literal])* $name:ident [$($role:ident $field:ident),*] $($mark:ident)*),* $(,)?) => {
        /// The instructions. The doc comment of each is its definition.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Op { $($(#[doc = $doc])* $name),* }
        impl Op {
            pub const ALL: &'static [Op] = &[$(Op::$name),*];
            pub const COUNT: usize = Self::ALL.len();
            /// The operands, in the order of listings.
            pub fn operands(self) -> &'static [(Role, Field)] {
                const O: &[&[(Role, Field)]] = &[$(&[$((Role::$role, Field::$field)),*]),*];
                O[self as usize]
            }
            const fn marks(self) -> u8 { const M: &[u8] = &[$(0 $(| mark::$mark)*),*]; M[self as usize] }
            pub fn name(self) -> &'static str { const N: &[&str] = &[$(stringify!($name)),*]; N[self as usize] }
            /// The definition, as documentation.
            pub fn doc(self) -> &'static str { const D: &[&str] = &[$(concat!($($doc, "\n"),*)),*]; D[self as usize] }
        }
    };
}

impl Op {
    /// Number of instructions in the group that it starts, 1 if it starts none.
    pub const fn group_length(self) -> usize {
        match self.marks() & (mark::TWO | mark::THREE) {
            mark::THREE => 3,
            mark::TWO => 2,
            _ => 1,
        }
    }
    /// Whether it asks for interrupts, so that it may jump backwards.
    pub const fn polls(self) -> bool {
        self.marks() & mark::POLLS != 0
    }
    /// Whether control never goes on to the next instruction.
    pub const fn ends(self) -> bool {
        self.marks() & mark::ENDS != 0
    }
    /// The field with this role.
    pub fn field(self, role: Role) -> Option<Field> {
        self.operands().iter().find(|(r, _)| *r == role).map(|(_, f)| *f)
    }
}

opcodes! {
    /// Returns from the interpreter to the native code that entered it. Only in the VM's own trampoline.
    Halt [] ENDS,
    /// a <- b
    Move [Write A, Read B],
    /// a <- imm as Integer
    LoadInt [Write A, Int Imm],
    /// a <- nil
    LoadNil [Write A],
    /// a <- true
    LoadTrue [Write A],
    /// a <- false
    LoadFalse [Write A],
    /// a <- the undefined marker (parameter without a value)
    LoadUndef [Write A],
    /// a <- consts\[b]: shared, frozen or immediate
    LoadConst [Write A, Literal B],
    /// a <- new String with the content of consts\[b]
    NewStr [Write A, Literal B, Option X],
    /// New environment of `b` slots (all nil) in register a; its parent is the old content of a when x = 1 (block), none when x = 0
    /// (also in a block that reaches no variable, method block or jump target of the scopes around). Always the first instruction.
    NewEnv [Write A, Slots B, Option X],
    /// a <- slot b of the environment x levels up from the one in register c
    GetEnv [Write A, Env C, Depth X, Slot B],
    /// slot b of the environment x levels up from the one in register c <- a
    SetEnv [Read A, Env C, Depth X, Slot B],
    /// a <- instance variable of self
    GetIvar [Write A, IvarSite C],
    /// instance variable of self <- a
    SetIvar [Read A, IvarSite C],
    /// a <- global variable syms\[b]
    GetGlobal [Write A, Name B],
    /// global variable syms\[b] <- a
    SetGlobal [Read A, Name B],
    /// a <- constant of const site c
    GetConst [Write A, ConstSite C],
    /// a <- constant named by const site c in the module in register b
    GetConstFrom [Write A, Read B, ConstSite C],
    /// constant syms\[c] in the module in register b (undef: the lexical scope's class) <- a
    SetConst [Read A, Read B, Name C],

    /// jump
    Jump [Jump Imm] ENDS,
    /// jump backwards, polling
    Loop [Jump Imm] POLLS ENDS,
    /// jump if a is truthy
    JumpIf [Read A, Jump Imm],
    /// jump if a is nil or false
    JumpUnless [Read A, Jump Imm],
    /// backwards, polling: jump if a is truthy
    LoopIf [Read A, Jump Imm] POLLS,
    /// backwards, polling: jump if a is nil or false
    LoopUnless [Read A, Jump Imm] POLLS,
    /// jump if a is nil
    JumpNil [Read A, Jump Imm],
    /// jump if a is not nil
    JumpNotNil [Read A, Jump Imm],
    /// jump if a is not the undefined marker
    JumpDef [Read A, Jump Imm],
    /// jump unless a is a small Integer and the operators of Integer are the builtin ones, untraced: what `case` begins with before it searches literals by halves
    JumpOther [Read A, Jump Imm],
    /// jump if the small Integer in a is below imm(b)
    JumpBelow [Read A, Int B, Jump C],
    /// jump if the small Integer in a is imm(b)
    JumpSame [Read A, Int B, Jump C],

    /// Group of three: `JumpLt a b off(c)`, `Send base < site`, `JumpIf base`. Jumps if a < b.
    JumpLt [Read A, Read B, Jump C] THREE,
    /// as JumpLt for <=
    JumpLe [Read A, Read B, Jump C] THREE,
    /// as JumpLt for >
    JumpGt [Read A, Read B, Jump C] THREE,
    /// as JumpLt for >=
    JumpGe [Read A, Read B, Jump C] THREE,
    /// as JumpLt for ==
    JumpEq [Read A, Read B, Jump C] THREE,
    /// Group of three ending in `JumpUnless`: jumps unless a < b (so NaN jumps).
    JumpNotLt [Read A, Read B, Jump C] THREE,
    /// unless a <= b
    JumpNotLe [Read A, Read B, Jump C] THREE,
    /// unless a > b
    JumpNotGt [Read A, Read B, Jump C] THREE,
    /// unless a >= b
    JumpNotGe [Read A, Read B, Jump C] THREE,
    /// unless a == b
    JumpNotEq [Read A, Read B, Jump C] THREE,
    /// backwards, polling, group of three ending in `LoopIf`: jump if a < b
    LoopLt [Read A, Read B, Jump C] THREE POLLS,
    /// as LoopLt for <=
    LoopLe [Read A, Read B, Jump C] THREE POLLS,
    /// as LoopLt for >
    LoopGt [Read A, Read B, Jump C] THREE POLLS,
    /// as LoopLt for >=
    LoopGe [Read A, Read B, Jump C] THREE POLLS,
    /// `JumpLtI a imm(b) off(c)`: as JumpLt against a small Integer
    JumpLtI [Read A, Int B, Jump C] THREE,
    /// immediate
    JumpLeI [Read A, Int B, Jump C] THREE,
    /// immediate
    JumpGtI [Read A, Int B, Jump C] THREE,
    /// immediate
    JumpGeI [Read A, Int B, Jump C] THREE,
    /// immediate
    JumpEqI [Read A, Int B, Jump C] THREE,
    /// immediate
    JumpNotLtI [Read A, Int B, Jump C] THREE,
    /// immediate
    JumpNotLeI [Read A, Int B, Jump C] THREE,
    /// immediate
    JumpNotGtI [Read A, Int B, Jump C] THREE,
    /// immediate
    JumpNotGeI [Read A, Int B, Jump C] THREE,
    /// immediate
    JumpNotEqI [Read A, Int B, Jump C] THREE,
    /// immediate
    LoopLtI [Read A, Int B, Jump C] THREE POLLS,
    /// immediate
    LoopLeI [Read A, Int B, Jump C] THREE POLLS,
    /// immediate
    LoopGtI [Read A, Int B, Jump C] THREE POLLS,
    /// immediate
    LoopGeI [Read A, Int B, Jump C] THREE POLLS,

    /// Group of three: `Add a b c`, `Send base + site`, `Move a base`. a <- b + c
    Add [Write A, Read B, Read C] THREE,
    /// group of three
    Sub [Write A, Read B, Read C] THREE,
    /// group of three
    Mul [Write A, Read B, Read C] THREE,
    /// group of three
    Div [Write A, Read B, Read C] THREE,
    /// group of three
    Mod [Write A, Read B, Read C] THREE,
    /// group of three
    Pow [Write A, Read B, Read C] THREE,
    /// group of three: a <- b + imm(c)
    AddI [Write A, Read B, Int C] THREE,
    /// group of three: a <- b - imm(c)
    SubI [Write A, Read B, Int C] THREE,
    /// group of three: a <- b * imm(c)
    MulI [Write A, Read B, Int C] THREE,
    /// group of three: a <- b / imm(c)
    DivI [Write A, Read B, Int C] THREE,
    /// group of three: a <- b % imm(c)
    ModI [Write A, Read B, Int C] THREE,
    /// group of three: a <- b & imm(c)
    AndI [Write A, Read B, Int C] THREE,
    /// group of three: a <- b << imm(c)
    ShlI [Write A, Read B, Int C] THREE,
    /// group of three: a <- b >> imm(c)
    ShrI [Write A, Read B, Int C] THREE,
    /// group of three: a <- b < c
    Lt [Write A, Read B, Read C] THREE,
    /// group of three
    Le [Write A, Read B, Read C] THREE,
    /// group of three
    Gt [Write A, Read B, Read C] THREE,
    /// group of three
    Ge [Write A, Read B, Read C] THREE,
    /// group of three: a <- b == c
    Eq [Write A, Read B, Read C] THREE,
    /// group of three: a <- b != c
    Ne [Write A, Read B, Read C] THREE,
    /// group of three
    And [Write A, Read B, Read C] THREE,
    /// group of three
    Or [Write A, Read B, Read C] THREE,
    /// group of three
    Xor [Write A, Read B, Read C] THREE,
    /// group of three: a <- b << c (Integer, Array push, String append)
    Shl [Write A, Read B, Read C] THREE,
    /// group of three
    Shr [Write A, Read B, Read C] THREE,
    /// group of three: a <- b\[c]
    Aref [Write A, Read B, Read C] THREE,
    /// group of three: a <- b === c, pattern in b; the call's receiver is the pattern
    CaseEq [Write A, Read B, Read C] THREE,
    /// Group of two: `Aset a b c`, `Send base []= argc=2`. a\[b] <- c
    Aset [Read A, Read B, Read C] TWO,
    /// Group of three: `Not a b`, `Send base !`, `Move a base`. a <- !b
    Not [Write A, Read B] THREE,
    /// Group of three: `Neg a b`, `Send base -@`, `Move a base`. a <- -b
    Neg [Write A, Read B] THREE,
    /// Group of three: `Len a b`, `Send base length/size`, `Move a base`. a <- b.length; the name is the call site's
    Len [Write A, Read B] THREE,
    /// Group of three: `Succ a b`, `Send base succ`, `Move a base`. a <- b.succ
    Succ [Write A, Read B] THREE,
    /// Group of three: `NilP a b`, `Send base nil?`, `Move a base`.
    NilP [Write A, Read B] THREE,
    /// Group of three: `EmptyP a b`, `Send base empty?`, `Move a base`.
    EmptyP [Write A, Read B] THREE,

    /// Call with receiver in a, x positional arguments after it. Call site c is simple: no splat, keywords, block argument or literal block.
    Send [Window A, CallSite C, Argc X],
    /// As Send, with the literal block `children[site.child]`. Registers a-2 and a-1, below the call's window, are
    /// scratch for the block's handle (the compiler reserves them).
    SendBlk [Window A, CallSite C, Argc X],
    /// As Send with self as receiver (private methods allowed); the handler fills register a.
    SendSelf [Window A, CallSite C, Argc X],
    /// As SendBlk with self as receiver.
    SendSelfBlk [Window A, CallSite C, Argc X],
    /// Any call. In order after the receiver in a: x positional values, or one Array when the site has SPLAT; one Hash when it has KW; the
    /// block value when it has BLOCKARG. With FCALL the handler fills register a with self. Of a
    /// site with a literal block registers a-2 and a-1 are scratch.
    SendX [Window A, CallSite C, Argc X],
    /// super with x explicit arguments (zsuper is compiled to reads of the parameters). Register a is filled with self. With a literal block a-2
    /// and a-1 are scratch; without a literal block the frame's own block is passed on.
    Super [Window A, CallSite C, Argc X],
    /// super, operands as SendX; a BLOCKARG of nil passes no block. In blocks of a method the method's block comes as BLOCKARG.
    SuperX [Window A, CallSite C, Argc X],
    /// yield x values in a+1..; result in a. No splat or keywords. The block is the frame's.
    Yield [Window A, CallSite C, Argc X],
    /// yield, operands as SendX.
    YieldX [Window A, CallSite C, Argc X],
    /// return a from this Code (method, class body, program, `next` in a block, last value). x = 1: a
    /// written `return`, whose line traces tell
    Return [Read A, Option X] ENDS,
    /// `return` written in a block: returns from the method or lambda around it
    ReturnBlock [Read A] ENDS,
    /// `break` written in a block: the call that got the block returns a. (In a lambda: the lambda returns.)
    BreakBlock [Read A] ENDS,
    /// a <- whether the frame has a block (only in method-level Codes); x = 1: whether it has one of which no object was made, so that to call that would be to yield, as long
    /// as `Proc#call` is the builtin one
    BlockGiven [Write A, Option X],
    /// a <- the frame's block as a Proc, or nil; x = 1: a BlockGiven with x = 1 has said no
    BlockProc [Write A, Option X],
    /// a <- new Proc of children\[b]; x = 1: a lambda literal
    NewProc [Write A, Block B, Option X],

    /// def: method syms\[b] with children\[c] in the default definee; a <- the name
    DefMethod [Write A, Name B, Method C],
    /// def on the object in a; a <- the name
    DefSingleton [Change A, Name B, Method C],
    /// x = 0 class, 1 module, 2 singleton class. In: a = the module that holds it (undef: lexical scope) or, for 2, the object; a+1 = superclass
    /// (undef: none written). name syms\[b], body children\[c]. Out: a = value of the body.
    OpenClass [Change A, Next A, Name B, Class C, Option X],

    /// a <- Array of the registers b .. b+c
    NewArray [Write A, First B, Count C, Option X],
    /// a <- what a builtin answers of an Array that is never made: of the c registers from b on, x = 0 the `max`, 1 the `min`, 2 whether the last is
    /// `include?`d in the others; 3: whether the Array in b includes what is in b+1. Undefined where the builtin itself has to be called.
    AskList [Write A, First B, Count C, Option X],
    /// array in a << b
    ArrayPush [Read A, Read B],
    /// array in a concat the splat of b (to_a; nil adds nothing)
    ArrayConcat [Read A, Read B],
    /// a <- new Array that splats b
    Splat [Write A, Read B],
    /// a <- Hash of c registers (key, value, key, value..) from b
    NewHash [Write A, First B, Count C, Option X],
    /// hash in a: \[b] <- c
    HashSet [Read A, Read B, Read C],
    /// hash in a merge! the double splat of b (to_hash; nil adds nothing)
    HashMerge [Read A, Read B],
    /// a <- b..c, x = 1 exclusive
    NewRange [Write A, Read B, Read C, Option X],
    /// a <- to_s of a, unless that is a String, or a number, Symbol or the like that stands in the word itself: between the parts of an interpolation
    ToS [Change A],
    /// a <- new String: the concatenation of to_s of c registers from b
    Interp [Write A, First B, Count C, Option X],
    /// a <- Symbol of the String in b
    Intern [Write A, Read B],
    /// a <- Regexp: interpolation of c registers from b (String or Regexp pieces), x = option bits
    NewRegexp [Write A, First B, Count C, Option X],
    /// Multiple assignment: b converted by to_ary (when it is not one: \[b]). a.. <- the first `c & 0xff` elements, then, when x & 1,
    /// an Array of the middle, then the last `c >> 8` elements. Missing ones are nil. (x & 1 = 0 with c>>8 = 0: the rest is ignored.)
    Expand [Targets A, Read B, Parts C, Option X],

    /// a <- the exception (or thrown jump) that the handler caught; first instruction at every handler.
    Catch [Write A],
    /// raise again what is in a
    Rethrow [Read A] ENDS,
    /// a <- whether exception c matches b (class/module, or with x = 1 an Array of them), by ===, TypeError if not a class or module
    RescueMatch [Write A, Read B, Read C, Option X],
    /// a <- $!
    GetErr [Write A],
    /// $! <- a
    SetErr [Read A],

    /// Internal function `x` ([`crate::Intrinsic`]) of c arguments in a.., result in a; b is an extra operand (often a symbol index).
    Intrinsic [Function X, Arguments A, Extra B, Count C],
}
