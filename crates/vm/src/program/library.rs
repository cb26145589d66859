//! What the VM asks of the core library, which stands above it.

use crate::events::Event;
use crate::globals::GlobalRow;
use crate::raise::Result;
use crate::vm::Cx;
use std::sync::{Arc, OnceLock};
use zakuro_base::Sym;
use zakuro_bytecode::Code;
use zakuro_object::*;

/// Makes the classes of a native that stands in for a C extension.
pub type Feature = fn(&mut Cx) -> Result<()>;

/// Every method is required: a library without one does not compile.
pub trait CoreLibrary: Sync {
    /// Special global variable of this name.
    fn global(&self, name: Sym) -> Option<&'static GlobalRow>;
    /// Names of all special global variables.
    fn global_names(&self) -> Vec<Sym>;
    /// Native that stands in for a C extension, by the name that `require` gets; called once per VM.
    fn feature(&self, name: &str) -> Option<Feature>;
    /// Program of a feature, or a part of one, that is written in Ruby: as the runtime's build has compiled it.
    fn program(&self, name: &str) -> Option<Arc<Code>>;

    /// The frozen String that stands for the content of one, as `-string` gives it.
    fn interned(&self, cx: &mut Cx, s: Ref<StringCell>) -> Value;
    /// The Symbol of that name; EncodingError for one that is not valid.
    fn symbol(&self, cx: &mut Cx, name: Ref<StringCell>) -> Result<Value>;
    /// Regexp of a literal: source, option bits, encoding.
    fn regexp_literal(&self, cx: &mut Cx, source: &[u8], options: u8, encoding: u8) -> Value;
    /// Regexp of an interpolated literal: pieces (String or Regexp values), option bits.
    fn regexp_dynamic(&self, cx: &mut Cx, pieces: &[Value], options: u8) -> Result<Value>;
    /// `regexp =~ string`; returns MatchData or nil (does not set `$~`).
    fn regexp_match(&self, cx: &mut Cx, regexp: Value, string: Value) -> Result<Value>;
    /// nth group of a MatchData (String or nil); special: -1 `$&`, -2 `` $` ``, -3 `$'`, -4 `$+`.
    fn match_group(&self, cx: &mut Cx, found: Value, n: i64) -> Result<Value>;
    /// Group of a MatchData by its name (String or nil).
    fn match_named(&self, cx: &mut Cx, found: Value, name: Sym) -> Result<Value>;

    /// What `inspect` gave (not plain ASCII or UTF-8) as it may stand in a text of the default encoding.
    fn inspected(&self, cx: &mut Cx, text: Ref<StringCell>) -> Ref<StringCell>;
    /// Raises Encoding::CompatibilityError about two Strings, when they don't go together.
    fn incompatible(&self, cx: &mut Cx, a: Value, b: Value) -> Result<()>;
    /// `Encoding.default_external` is another one now.
    fn external_changed(&self, cx: &mut Cx, encoding: u8);

    /// Writes a warning line (after category and verbosity were checked).
    fn warn(&self, cx: &mut Cx, line: &str) -> Result<()>;
    /// The same for a warning of a category.
    fn warn_category(&self, cx: &mut Cx, line: &str, category: &str) -> Result<()>;
    /// Whether warnings of a category are on.
    fn warns(&self, cx: &mut Cx, category: &str) -> bool;

    /// Writes the text of a warning to the VM's standard error; false if `$stderr` is a stream of the program's.
    fn write_to_stderr(&self, cx: &mut Cx, text: Value) -> Result<bool>;
    /// Tells on standard error what is raised, with `$DEBUG`.
    fn tell_raise(&self, cx: &mut Cx, exc: Value) -> Result<()>;
    /// Tells an event to the traces that want it.
    fn trace(&self, cx: &mut Cx, event: &Event) -> Result<()>;
    /// Makes a Binding of the innermost Ruby frame.
    fn binding(&self, cx: &mut Cx) -> Result<Value>;
    /// Value of a constant that each VM makes for itself on first use (its entry: UNDEF with the name as `autoload`).
    fn lazy_const(&self, cx: &mut Cx, name: Sym) -> Result<Value>;
    /// Value of a constant with an autoload path.
    fn autoload(&self, cx: &mut Cx, holder: ClassId, name: Sym) -> Result<Option<Value>>;
    /// Whether reading a constant with this path would load a file (or wait for one).
    fn autoload_pending(&self, cx: &mut Cx, path: Value) -> bool;
    /// In the child of a fork: forgets what is the parent's (threads and their locks, random numbers).
    fn begin_child(&self, cx: &mut Cx);
    /// A random number below `n` (0 for n < 2): of the object given as `random:`, or of the VM's generator.
    fn random_below(&self, cx: &mut Cx, source: Option<Value>, n: usize) -> Result<usize>;
    /// Puts something from among those before it, or itself, at each place from the last one down to `end` (1 at least): as [`CoreLibrary::random_below`] for each of them
    /// would. False, and nothing done, where that runs Ruby code.
    fn shuffle(&self, cx: &mut Cx, source: Option<Value>, list: &mut [Value], end: usize) -> Result<bool>;
    /// Runs trap handlers after a signal arrived for this VM.
    fn signal(&self, cx: &mut Cx) -> Result<()>;
}

impl Cx {
    /// Tells on standard error what is raised, with `$DEBUG`.
    #[cold]
    pub(crate) fn tell_raise(&mut self, exc: Value) -> Result<()> {
        library().tell_raise(self, exc)
    }
}

static LIBRARY: OnceLock<&'static dyn CoreLibrary> = OnceLock::new();

/// The core library. One is installed before the first VM is made.
pub fn library() -> &'static dyn CoreLibrary {
    *LIBRARY.get().expect("the core library is installed before the first VM is made")
}

/// Installs the core library. Later calls change nothing.
pub fn install(library: &'static dyn CoreLibrary) {
    let _ = LIBRARY.set(library);
}
