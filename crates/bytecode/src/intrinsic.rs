//! Rarely executed operations that are neither methods nor worth an opcode. `Op::Intrinsic x=id a=base b=extra c=argc`:
//! arguments in base.., result in base. Being below the method level they can't be redefined by programs.

/// What holds for an internal function beside the number of its arguments; bits.
mod mark {
    /// `b` is the index of a symbol.
    pub const NAME: u8 = 1;
    /// So is `c`, and there are no registers.
    pub const NAME_IN_C: u8 = 2;
    /// `b` is a number with a meaning of its own.
    pub const NUMBER: u8 = 4;
    /// `b` is the number of a once-site.
    pub const ONCE: u8 = 8;
    /// It always raises.
    pub const RAISES: u8 = 16;
    /// It looks at `self`.
    pub const SELF: u8 = 32;
}

macro_rules! intrinsics {
    ($($(#[doc = $doc:literal])* $name:ident $count:literal $($mark:ident)*),* $(,)?) => {
        /// The internal functions. `s` below is the symbol `syms[b]`.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Intrinsic { $($(#[doc = $doc])* $name),* }
        impl Intrinsic {
            pub const ALL: &'static [Intrinsic] = &[$(Intrinsic::$name),*];
            pub fn name(self) -> &'static str { const N: &[&str] = &[$(stringify!($name)),*]; N[self as usize] }
            /// Number of arguments.
            pub fn arguments(self) -> u16 { const N: &[u16] = &[$($count),*]; N[self as usize] }
            fn has(self, bits: u8) -> bool { const M: &[u8] = &[$(0 $(| mark::$mark)*),*]; M[self as usize] & bits != 0 }
        }
    };
}

impl Intrinsic {
    /// Whether `b` is the index of a symbol.
    pub fn names(self) -> bool {
        self.has(mark::NAME)
    }
    /// Whether `c` is the index of a symbol, too, instead of a number of arguments.
    pub fn names_two(self) -> bool {
        self.has(mark::NAME_IN_C)
    }
    /// Whether `b` is a number.
    pub fn has_number(self) -> bool {
        self.has(mark::NUMBER | mark::ONCE)
    }
    /// Whether `b` is the number of a once-site.
    pub fn has_once_site(self) -> bool {
        self.has(mark::ONCE)
    }
    pub fn always_raises(self) -> bool {
        self.has(mark::RAISES)
    }
    pub fn looks_at_self(self) -> bool {
        self.has(mark::SELF)
    }
}

intrinsics! {
    /// () -> value of class variable s (NameError when unset)
    GetCvar 0 NAME SELF,
    /// (value) -> sets class variable s
    SetCvar 1 NAME SELF,
    /// () -> true when class variable s is set
    DefinedCvar 0 NAME SELF,
    /// () -> true when ivar s of self is set
    DefinedIvar 0 NAME SELF,
    /// () -> true when global s is set
    DefinedGlobal 0 NAME,
    /// () -> true when lexical constant s is defined (no autoload)
    DefinedConst 0 NAME,
    /// (module) -> true when module::s is defined; false for non-modules
    DefinedConstFrom 1 NAME,
    /// (receiver) -> true when public method s (respond_to) can be called on it
    DefinedMethod 1 NAME SELF,
    /// () -> true when self has method s, private included
    DefinedFcall 0 NAME SELF,
    /// () -> true when the frame has a block
    DefinedYield 0,
    /// () -> true when super would find a method
    DefinedSuper 0 SELF,
    /// (new_name_symbol, old_name_symbol) -> alias in the default definee
    Alias 2 SELF,
    /// (name_symbol) -> undef in the default definee
    Undef 1 SELF,
    /// () -> global alias: s is new, c is the index of the old name's symbol
    AliasGlobal 0 NAME NAME_IN_C,
    /// () -> $~ of this frame (MatchData or nil)
    BackrefMatch 0,
    /// () -> nth group of $~, n = b
    BackrefNth 0 NUMBER,
    /// () -> $& (b = 0), $` (1), $' (2), $+ (3)
    BackrefSpecial 0 NUMBER,
    /// (value) -> value: deconstruct for an array pattern: the Array, or nil when it does not respond (TypeError when not an Array)
    Deconstruct 1,
    /// (value, keys Array or nil) -> Hash by deconstruct_keys, or nil when it does not respond
    DeconstructKeys 2,
    /// (hash, key) -> value or undef when the key is missing
    HashFetchOrUndef 2,
    /// (hash, keys Array) -> new Hash without these keys
    HashExcept 2,
    /// (array) -> length as Integer
    ArrayLength 1,
    /// (array, start, length) -> subarray
    ArraySlice 3,
    /// (array, index) -> element, negative from the end
    ArrayAt 2,
    /// (value) -> raises NoMatchingPatternError with inspect of it
    NoMatchingPattern 1 RAISES,
    /// (value, key) -> raises NoMatchingPatternKeyError
    NoMatchingPatternKey 2 RAISES,
    /// (value) -> the value for `**value` in a call, if it is a Hash or nil, else its to_hash. The Hash is whose it was: the callee copies what it keeps
    ToHash 1,
    /// (hash) -> elements of an Array for `**value` in its literal: none for an empty Hash, else the Hash
    HashElements 1,
    /// (value) -> `value` as block argument for `&value`: nil, Proc, or its to_proc (TypeError)
    ToBlock 1,
    /// () -> the main-object check and registration of `END { }`: (proc) registered once per site
    RegisterAtExit 1 ONCE SELF,
    /// () -> true the first time this site runs in this VM (b: once-site index): for `/o`, `END {}`. Waits while another thread evaluates it
    OnceTest 0 ONCE,
    /// (value) -> value, kept for this once-site b. nil: the running thread evaluates it from here on; undef: it has left without a value
    OnceSet 1 ONCE,
    /// () -> value kept for once-site b
    OnceGet 0 ONCE,
    /// (regexp) -> regexp =~ $_  (a literal regexp as a condition)
    MatchLastLine 1,
    /// (regexp, string) -> result of =~, and b, c unused: sets $~ only
    MatchAssign 2,
    /// (match, name_symbol) -> the named group's String or nil (nil match gives nil)
    NamedGroup 2,
    /// () -> Symbol of the current method or nil
    MethodName 0,
    /// (value) -> a mark that no program sees, which the body of a class returns for a jump out of it: b is 0 for `return`, 1 for `break`, 2 for `next`
    LeaveBody 1 NUMBER,
    /// (what such a body returned) -> the value that goes along with jump b, or undef: the body was not left by it
    LeftBody 1 NUMBER,
    /// (number) -> undefined: one more for the counter of a branch's arm (`coverage`)
    CountBranch 1,
    /// (new string) -> the string: keeps the place of the literal for reports (`--debug-frozen-string-literal`), sets the flags b
    LiteralPlace 1 NUMBER,
    /// (object) -> its singleton class
    SingletonClass 1 SELF,
    /// (value) -> Array for `*value` in `when *list`/`rescue *list`
    SplatArray 1,
    /// (value) -> the same for `*value` at the end of a call's arguments, where nil may stay: the Array is whose it was
    SplatLent 1,
    /// (object, value) -> calls to_s result check for `"#{}"` in frozen contexts
    AsString 1,
    /// (rest Array) -> marks a keyword-splatted Hash for ruby2_keywords
    MarkRuby2Keywords 1,
    /// (proc, captured binding) -> Binding of the current frame
    Binding 0 SELF,
    /// (a Hash) -> Rational/Complex literal: (real, imaginary)
    MakeComplex 2,
    /// (numerator, denominator) -> Rational
    MakeRational 2,
    /// (lhs value) -> raises TypeError unless class/module (`Foo::Bar` on non module)
    CheckModule 1,
    /// (message) -> warns through the VM
    Warn 1 SELF,
    /// (value): raises LocalJumpError for an invalid `break`/`next`/`redo`
    BadJump 1 RAISES,
    /// (value) -> value: LocalJumpError when what a `return` (`b` 0) or `break` (1) of this block would leave has ended. In front of ensure clauses, which run after
    /// the error was rescued
    JumpCheck 1 NUMBER,
    /// (array) -> freezes and returns
    Freeze 1,
    /// (block) -> block: LocalJumpError "no block given (yield)" when it is nil. `yield` in a block, followed by a call of `call`
    YieldCheck 1,
    /// (value, kind, x, y) -> raises as NoMatchingPattern, message `inspect of value: ` + explanation by `kind`:
    /// 0 none (message is inspect of value only), 1 "X === Y does not return true", 2 "X does not respond to #deconstruct",
    /// 3 "X length mismatch (given Y\[0], expected Y\[1])" (Y is an Array of two), 4 the same with "expected Y\[1]+",
    /// 5 "X does not match to find pattern", 6 "X does not respond to #deconstruct_keys",
    /// 7 "key not found: Y" (NoMatchingPatternKeyError, matchee X, key Y), 8 "X is not empty", 9 "rest of X is not empty",
    /// 10 "guard clause does not return true". X and Y by inspect
    NoMatchingPatternDetail 4 RAISES,
    /// () -> raises ScriptError: the Code that stood here, in an image in a file, is malformed
    Damaged 0 RAISES,
}
