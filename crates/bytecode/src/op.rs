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
}

impl std::fmt::Debug for Insn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} x={} a={} b={} c={}", self.opcode(), self.x, self.a, self.b, self.c)
    }
}

macro_rules! opcodes {
    ($($(#[doc = $doc:literal])* $name:ident $shape:ident),* $(,)?) => {
        /// The instructions. The doc comment of each is its definition.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Op { $($(#[doc = $doc])* $name),* }
        impl Op {
            pub const ALL: &'static [Op] = &[$(Op::$name),*];
            pub const COUNT: usize = Self::ALL.len();
            pub fn shape(self) -> Shape { const S: &[Shape] = &[$(Shape::$shape),*]; S[self as usize] }
            pub fn name(self) -> &'static str { const N: &[&str] = &[$(stringify!($name)),*]; N[self as usize] }
            /// The definition, as documentation.
            pub fn doc(self) -> &'static str { const D: &[&str] = &[$(concat!($($doc),*)),*]; D[self as usize] }
        }
    };
}

/// How the operands of an instruction are to be read (for verifier and disassembler). R = register, J = jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// no operands
    Z,
    /// a: register
    A,
    /// a, b: registers
    AB,
    /// a, b, c: registers
    ABC,
    /// a: register, imm: number
    AI,
    /// imm: jump
    J,
    /// a: register, imm: jump
    AJ,
    /// a, b: registers, c: jump (16 bits)
    ABJ,
    /// a: register, b: signed number, c: jump (16 bits)
    AIJ,
    /// a, b: registers, c: signed number
    ABI,
    /// a: register, b: index of constant
    AK,
    /// a: register, b: index of symbol
    AS,
    /// a: register, b: slot, c: env register, x: depth
    AE,
    /// a: register, c: index of ivar site
    AV,
    /// a: register, c: index of constant site
    AC,
    /// a: base, x: argc, c: call site
    Call,
    /// a: dest, b: first register, c: count
    Range,
    /// a, b: registers, other fields special
    Misc,
}

opcodes! {
    /// Does nothing.
    Nop Z,
    /// Returns from the interpreter to the native code that entered it. Only in the VM's own trampoline.
    Halt Z,
    /// a <- b
    Move AB,
    /// a <- imm as Integer
    LoadInt AI,
    /// a <- nil
    LoadNil A,
    /// a <- true
    LoadTrue A,
    /// a <- false
    LoadFalse A,
    /// a <- the undefined marker (parameter without a value)
    LoadUndef A,
    /// a <- consts\[b]: shared, frozen or immediate
    LoadConst AK,
    /// a <- new String with the content of consts\[b]
    NewStr AK,
    /// New environment of `b` slots (all nil) in register a; its parent is the old content of a when x = 1 (block), none when x = 0
    /// (also in a block that reaches no variable, method block or jump target of the scopes around). Always the first instruction.
    NewEnv Misc,
    /// a <- slot b of the environment x levels up from the one in register c
    GetEnv AE,
    /// slot b of the environment x levels up from the one in register c <- a
    SetEnv AE,
    /// a <- instance variable of self
    GetIvar AV,
    /// instance variable of self <- a
    SetIvar AV,
    /// a <- global variable syms\[b]
    GetGlobal AS,
    /// global variable syms\[b] <- a
    SetGlobal AS,
    /// a <- constant of const site c
    GetConst AC,
    /// a <- constant named by const site c in the module in register b
    GetConstFrom Misc,
    /// constant syms\[c] in the module in register b (undef: the lexical scope's class) <- a
    SetConst Misc,

    /// jump
    Jump J,
    /// jump backwards, polling
    Loop J,
    /// jump if a is truthy
    JumpIf AJ,
    /// jump if a is nil or false
    JumpUnless AJ,
    /// backwards, polling: jump if a is truthy
    LoopIf AJ,
    /// backwards, polling: jump if a is nil or false
    LoopUnless AJ,
    /// jump if a is nil
    JumpNil AJ,
    /// jump if a is not nil
    JumpNotNil AJ,
    /// jump if a is not the undefined marker
    JumpDef AJ,

    /// Group of three: `JumpLt a b off(c)`, `Send base < site`, `JumpIf base`. Jumps if a < b.
    JumpLt ABJ,
    /// as JumpLt for <=
    JumpLe ABJ,
    /// as JumpLt for >
    JumpGt ABJ,
    /// as JumpLt for >=
    JumpGe ABJ,
    /// as JumpLt for ==
    JumpEq ABJ,
    /// Group of three ending in `JumpUnless`: jumps unless a < b (so NaN jumps).
    JumpNotLt ABJ,
    /// unless a <= b
    JumpNotLe ABJ,
    /// unless a > b
    JumpNotGt ABJ,
    /// unless a >= b
    JumpNotGe ABJ,
    /// unless a == b
    JumpNotEq ABJ,
    /// backwards, polling, group of three ending in `LoopIf`: jump if a < b
    LoopLt ABJ,
    /// as LoopLt for <=
    LoopLe ABJ,
    /// as LoopLt for >
    LoopGt ABJ,
    /// as LoopLt for >=
    LoopGe ABJ,
    /// `JumpLtI a imm(b) off(c)`: as JumpLt against a small Integer
    JumpLtI AIJ,
    /// immediate
    JumpLeI AIJ,
    /// immediate
    JumpGtI AIJ,
    /// immediate
    JumpGeI AIJ,
    /// immediate
    JumpEqI AIJ,
    /// immediate
    JumpNotLtI AIJ,
    /// immediate
    JumpNotLeI AIJ,
    /// immediate
    JumpNotGtI AIJ,
    /// immediate
    JumpNotGeI AIJ,
    /// immediate
    JumpNotEqI AIJ,
    /// immediate
    LoopLtI AIJ,
    /// immediate
    LoopLeI AIJ,
    /// immediate
    LoopGtI AIJ,
    /// immediate
    LoopGeI AIJ,

    /// Group of three: `Add a b c`, `Send base + site`, `Move a base`. a <- b + c
    Add ABC,
    /// group of three
    Sub ABC,
    /// group of three
    Mul ABC,
    /// group of three
    Div ABC,
    /// group of three
    Mod ABC,
    /// group of three
    Pow ABC,
    /// group of three: a <- b + imm(c)
    AddI ABI,
    /// group of three: a <- b - imm(c)
    SubI ABI,
    /// group of three: a <- b * imm(c)
    MulI ABI,
    /// group of three: a <- b / imm(c)
    DivI ABI,
    /// group of three: a <- b % imm(c)
    ModI ABI,
    /// group of three: a <- b & imm(c)
    AndI ABI,
    /// group of three: a <- b << imm(c)
    ShlI ABI,
    /// group of three: a <- b >> imm(c)
    ShrI ABI,
    /// group of three: a <- b < c
    Lt ABC,
    /// group of three
    Le ABC,
    /// group of three
    Gt ABC,
    /// group of three
    Ge ABC,
    /// group of three: a <- b == c
    Eq ABC,
    /// group of three: a <- b != c
    Ne ABC,
    /// group of three
    And ABC,
    /// group of three
    Or ABC,
    /// group of three
    Xor ABC,
    /// group of three: a <- b << c (Integer, Array push, String append)
    Shl ABC,
    /// group of three
    Shr ABC,
    /// group of three: a <- b\[c]
    Aref ABC,
    /// group of three: a <- b === c, pattern in b; the call's receiver is the pattern
    CaseEq ABC,
    /// Group of two: `Aset a b c`, `Send base []= argc=2`. a\[b] <- c
    Aset ABC,
    /// Group of three: `Not a b`, `Send base !`, `Move a base`. a <- !b
    Not AB,
    /// Group of three: `Neg a b`, `Send base -@`, `Move a base`. a <- -b
    Neg AB,
    /// Group of three: `Len a b`, `Send base length/size`, `Move a base`. a <- b.length; the name is the call site's
    Len AB,
    /// Group of three: `Succ a b`, `Send base succ`, `Move a base`. a <- b.succ
    Succ AB,
    /// Group of three: `NilP a b`, `Send base nil?`, `Move a base`.
    NilP AB,
    /// Group of three: `EmptyP a b`, `Send base empty?`, `Move a base`.
    EmptyP AB,

    /// Call with receiver in a, x positional arguments after it. Call site c is simple: no splat, keywords, block argument or literal block.
    Send Call,
    /// As Send, with the literal block `children[site.block]`. Registers a-2 and a-1, below the call's window, are
    /// scratch for the block's handle (the compiler reserves them).
    SendBlk Call,
    /// As Send with self as receiver (private methods allowed); the handler fills register a.
    SendSelf Call,
    /// As SendBlk with self as receiver.
    SendSelfBlk Call,
    /// Any call. In order after the receiver in a: x positional values, or one Array when the site has SPLAT; one Hash when it has KW; the
    /// block value when it has BLOCKARG. With FCALL the handler fills register a with self. site.block may be set;
    /// then registers a-2 and a-1 are scratch.
    SendX Call,
    /// super with x explicit arguments (zsuper is compiled to reads of the parameters). Register a is filled with self. site.block may be set (a-2, a-1
    /// scratch then). Without a literal block the frame's own block is passed on.
    Super Call,
    /// super, operands as SendX; a BLOCKARG of nil passes no block. In blocks of a method the method's block comes as BLOCKARG.
    SuperX Call,
    /// yield x values in a+1..; result in a. No splat or keywords. The block is the frame's.
    Yield Call,
    /// yield, operands as SendX.
    YieldX Call,
    /// return a from this Code (method, class body, program, `next` in a block, last value). x = 1: a
    /// written `return`, whose line traces tell
    Return A,
    /// `return` written in a block: returns from the method or lambda around it
    ReturnBlock A,
    /// `break` written in a block: the call that got the block returns a. (In a lambda: the lambda returns.)
    BreakBlock A,
    /// a <- whether the frame has a block (only in method-level Codes)
    BlockGiven A,
    /// a <- the frame's block as a Proc, or nil
    BlockProc A,
    /// a <- new Proc of children\[b]; x = 1: a lambda literal
    NewProc Misc,

    /// def: method syms\[b] with children\[c] in the default definee; a <- the name
    DefMethod Misc,
    /// def on the object in a; a <- the name
    DefSingleton Misc,
    /// x = 0 class, 1 module, 2 singleton class. In: a = the module that holds it (undef: lexical scope) or, for 2, the object; a+1 = superclass
    /// (undef: none written). name syms\[b], body children\[c]. Out: a = value of the body.
    OpenClass Misc,

    /// a <- Array of the registers b .. b+c
    NewArray Range,
    /// array in a << b
    ArrayPush AB,
    /// array in a concat the splat of b (to_a; nil adds nothing)
    ArrayConcat AB,
    /// a <- new Array that splats b
    Splat AB,
    /// a <- Hash of c registers (key, value, key, value..) from b
    NewHash Range,
    /// hash in a: \[b] <- c
    HashSet ABC,
    /// hash in a merge! the double splat of b (to_hash; nil adds nothing)
    HashMerge AB,
    /// a <- b..c, x = 1 exclusive
    NewRange ABC,
    /// a <- new String: the concatenation of to_s of c registers from b
    Interp Range,
    /// a <- Symbol of the String in b
    Intern AB,
    /// a <- Regexp: interpolation of c registers from b (String or Regexp pieces), x = option bits
    NewRegexp Range,
    /// Multiple assignment: b converted by to_ary (when it is not one: \[b]). a.. <- the first `c & 0xff` elements, then, when x & 1,
    /// an Array of the middle, then the last `c >> 8` elements. Missing ones are nil. (x & 1 = 0 with c>>8 = 0: the rest is ignored.)
    Expand Misc,

    /// a <- the exception (or thrown jump) that the handler caught; first instruction at every handler.
    Catch A,
    /// raise again what is in a
    Rethrow A,
    /// a <- whether exception c matches b (class/module, or with x = 1 an Array of them), by ===, TypeError if not a class or module
    RescueMatch ABC,
    /// a <- $!
    GetErr A,
    /// $! <- a
    SetErr A,

    /// Internal function `x` ([`crate::Intrinsic`]) of c arguments in a.., result in a; b is an extra operand (often a symbol index).
    Intrinsic Misc,
    /// Poll: safepoint for straight code that loops by other means.
    Poll Z,
}
