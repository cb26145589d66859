//! Rarely executed operations that are neither methods nor worth an opcode. `Op::Intrinsic x=id a=base b=extra c=argc`:
//! arguments in base.., result in base. Being below the method level they can't be redefined by programs.

macro_rules! intrinsics {
    ($($(#[doc = $doc:literal])* $name:ident),* $(,)?) => {
        /// The internal functions. `s` below is the symbol `syms[b]`.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Intrinsic { $($(#[doc = $doc])* $name),* }
        impl Intrinsic {
            pub const ALL: &'static [Intrinsic] = &[$(Intrinsic::$name),*];
            pub fn name(self) -> &'static str { const N: &[&str] = &[$(stringify!($name)),*]; N[self as usize] }
        }
    };
}

intrinsics! {
    /// () -> value of class variable s (NameError when unset)
    GetCvar,
    /// (value) -> sets class variable s
    SetCvar,
    /// () -> true when class variable s is set
    DefinedCvar,
    /// () -> true when ivar s of self is set
    DefinedIvar,
    /// () -> true when global s is set
    DefinedGlobal,
    /// () -> true when lexical constant s is defined (no autoload)
    DefinedConst,
    /// (module) -> true when module::s is defined; false for non-modules
    DefinedConstFrom,
    /// (receiver) -> true when public method s (respond_to) can be called on it
    DefinedMethod,
    /// () -> true when self has method s, private included
    DefinedFcall,
    /// () -> true when the frame has a block
    DefinedYield,
    /// () -> true when super would find a method
    DefinedSuper,
    /// (new_name_symbol, old_name_symbol) -> alias in the default definee
    Alias,
    /// (name_symbol) -> undef in the default definee
    Undef,
    /// () -> global alias: s is new, c is the index of the old name's symbol
    AliasGlobal,
    /// () -> $~ of this frame (MatchData or nil)
    BackrefMatch,
    /// () -> nth group of $~, n = b
    BackrefNth,
    /// () -> $& (b = 0), $` (1), $' (2), $+ (3)
    BackrefSpecial,
    /// (value) -> value: deconstruct for an array pattern: the Array, or nil when it does not respond (TypeError when not an Array)
    Deconstruct,
    /// (value, keys Array or nil) -> Hash by deconstruct_keys, or nil when it does not respond
    DeconstructKeys,
    /// (hash, key) -> value or undef when the key is missing
    HashFetchOrUndef,
    /// (hash, keys Array) -> new Hash without these keys
    HashExcept,
    /// (array) -> length as Integer
    ArrayLength,
    /// (array, start, length) -> subarray
    ArraySlice,
    /// (array, index) -> element, negative from the end
    ArrayAt,
    /// (value) -> raises NoMatchingPatternError with inspect of it
    NoMatchingPattern,
    /// (value, key) -> raises NoMatchingPatternKeyError
    NoMatchingPatternKey,
    /// (value) -> Hash for `**value` in a call: nil gives {}, to_hash else
    ToHash,
    /// (value) -> `value` as block argument for `&value`: nil, Proc, or its to_proc (TypeError)
    ToBlock,
    /// () -> the main-object check and registration of `END { }`: (proc) registered once per site
    RegisterAtExit,
    /// () -> true the first time this site runs in this VM (b: once-site index): for `/o`, `END {}`
    OnceTest,
    /// (value) -> value, kept for this once-site b
    OnceSet,
    /// () -> value kept for once-site b
    OnceGet,
    /// (regexp) -> regexp =~ $_  (a literal regexp as a condition)
    MatchLastLine,
    /// (regexp, string) -> result of =~, and b, c unused: sets $~ only
    MatchAssign,
    /// (match, name_symbol) -> the named group's String or nil (nil match gives nil)
    NamedGroup,
    /// () -> Symbol of the current method or nil
    MethodName,
    /// (value) -> a mark that no program sees, which the body of a `class <<` returns for a `return` of the method around it
    LeaveBody,
    /// (what such a body returned) -> the value to return, or undef: the body has come to its end
    LeftBody,
    /// (new string) -> the string: keeps the place of the literal for reports (`--debug-frozen-string-literal`), sets the flags b
    LiteralPlace,
    /// (object) -> its singleton class
    SingletonClass,
    /// (value) -> Array for `*value` in `when *list`/`rescue *list`
    SplatArray,
    /// (object, value) -> calls to_s result check for `"#{}"` in frozen contexts
    AsString,
    /// (rest Array) -> marks a keyword-splatted Hash for ruby2_keywords
    MarkRuby2Keywords,
    /// (proc, captured binding) -> Binding of the current frame
    Binding,
    /// (a Hash) -> Rational/Complex literal: (real, imaginary)
    MakeComplex,
    /// (numerator, denominator) -> Rational
    MakeRational,
    /// (lhs value) -> raises TypeError unless class/module (`Foo::Bar` on non module)
    CheckModule,
    /// (message) -> warns through the VM
    Warn,
    /// (value): raises LocalJumpError for an invalid `break`/`next`/`redo`
    BadJump,
    /// (array) -> freezes and returns
    Freeze,
    /// (block) -> block: LocalJumpError "no block given (yield)" when it is nil. `yield` in a block, followed by a call of `call`
    YieldCheck,
    /// (value, kind, x, y) -> raises as NoMatchingPattern, message `inspect of value: ` + explanation by `kind`:
    /// 0 none (message is inspect of value only), 1 "X === Y does not return true", 2 "X does not respond to #deconstruct",
    /// 3 "X length mismatch (given Y\[0], expected Y\[1])" (Y is an Array of two), 4 the same with "expected Y\[1]+",
    /// 5 "X does not match to find pattern", 6 "X does not respond to #deconstruct_keys",
    /// 7 "key not found: Y" (NoMatchingPatternKeyError, matchee X, key Y), 8 "X is not empty", 9 "rest of X is not empty",
    /// 10 "guard clause does not return true". X and Y by inspect
    NoMatchingPatternDetail,
}
