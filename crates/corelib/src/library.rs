//! What the VM asks for, answered by the parts of the core library.

use crate::exception::warning;
use crate::io::stream;
use crate::regexp::{make, special};
use crate::string::util;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use zakuro_bytecode::Code;
use zakuro_vm::globals::GlobalRow;
use zakuro_vm::interp::trace::Event;
use zakuro_vm::library::{CoreLibrary, Feature};
use zakuro_vm::*;

/// Tables of special global variables, one per file that owns some.
static GLOBALS: &[&[GlobalRow]] = &[crate::kernel::globals::GLOBALS, stream::GLOBALS, special::GLOBALS];

struct Library {
    globals: zakuro_vm::vm::FastMap<Sym, &'static GlobalRow>,
    features: HashMap<&'static str, Feature>,
    program: Program,
}

/// Finds the compiled Ruby part of a feature by its name.
type Program = fn(&str) -> Option<Arc<Code>>;

/// Makes the core library known to the VM; `features` are the natives of the libraries above, by the name that `require` gets, `program` finds what of them is written in
/// Ruby.
pub fn install(features: impl IntoIterator<Item = &'static (&'static str, Feature)>, program: Program) {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    library::install(LIBRARY.get_or_init(|| Library {
        globals: GLOBALS.iter().copied().flatten().map(|row| (Sym::intern(row.name), row)).collect(),
        features: features.into_iter().copied().collect(),
        program,
    }));
}

impl CoreLibrary for Library {
    fn global(&self, name: Sym) -> Option<&'static GlobalRow> {
        self.globals.get(&name).copied()
    }
    fn global_names(&self) -> Vec<Sym> {
        self.globals.keys().copied().collect()
    }
    fn feature(&self, name: &str) -> Option<Feature> {
        self.features.get(name).copied()
    }
    fn program(&self, name: &str) -> Option<Arc<Code>> {
        (self.program)(name)
    }
    fn interned(&self, cx: &mut Cx, s: Ref<StringCell>) -> Value {
        zakuro_core_text::string::dedup::dedup(cx, s)
    }
    fn symbol(&self, cx: &mut Cx, name: Ref<StringCell>) -> Result<Value> {
        zakuro_core_text::string::basic::symbol(cx, name)
    }
    fn regexp_literal(&self, cx: &mut Cx, source: &[u8], options: u8, encoding: u8) -> Value {
        make::literal(cx, source, options, encoding)
    }
    fn regexp_dynamic(&self, cx: &mut Cx, pieces: &[Value], options: u8) -> Result<Value> {
        make::dynamic(cx, pieces, options)
    }
    fn regexp_match(&self, cx: &mut Cx, regexp: Value, string: Value) -> Result<Value> {
        special::match_(cx, regexp, string)
    }
    fn match_group(&self, cx: &mut Cx, found: Value, n: i64) -> Result<Value> {
        special::group(cx, found, n)
    }
    fn match_named(&self, cx: &mut Cx, found: Value, name: Sym) -> Result<Value> {
        special::named(cx, found, name)
    }
    fn inspected(&self, cx: &mut Cx, text: Ref<StringCell>) -> Ref<StringCell> {
        util::inspected(cx, text)
    }
    fn incompatible(&self, cx: &mut Cx, a: Value, b: Value) -> Result<()> {
        util::incompatible(cx, a, b)
    }
    fn external_changed(&self, cx: &mut Cx, encoding: u8) {
        crate::io::encodings::default_changed(cx, encoding);
    }
    fn warn(&self, cx: &mut Cx, line: &str) -> Result<()> {
        warning::emit(cx, line)
    }
    fn warn_category(&self, cx: &mut Cx, line: &str, category: &str) -> Result<()> {
        warning::emit_category(cx, line, category)
    }
    fn warns(&self, cx: &mut Cx, category: &str) -> bool {
        warning::is_enabled(cx, category) == Some(true)
    }
    fn write_to_stderr(&self, cx: &mut Cx, text: Value) -> Result<bool> {
        stream::write_to_stderr(cx, text)
    }
    fn tell_raise(&self, cx: &mut Cx, exc: Value) -> Result<()> {
        let text = crate::exception::raised(cx, exc)?;
        crate::io::write_error(cx, &text);
        Ok(())
    }
    fn trace(&self, cx: &mut Cx, event: &Event) -> Result<()> {
        crate::tracepoint::tell(cx, event)
    }
    fn binding(&self, cx: &mut Cx) -> Result<Value> {
        crate::proc::binding::of_caller(cx)
    }
    fn lazy_const(&self, cx: &mut Cx, name: Sym) -> Result<Value> {
        match &*name.name() {
            "TOPLEVEL_BINDING" => Ok(crate::proc::binding::top_level(cx)),
            "RubyVM::ARGV" => Ok(crate::vm_api::birth::start_objects(cx)),
            _ => stream::lazy_const(cx, name),
        }
    }
    fn autoload(&self, cx: &mut Cx, holder: ClassId, name: Sym) -> Result<Option<Value>> {
        crate::kernel::autoload::read(cx, holder, name)
    }
    fn autoload_pending(&self, cx: &mut Cx, path: Value) -> bool {
        crate::kernel::autoload::is_pending(cx, path)
    }
    fn begin_child(&self, cx: &mut Cx) {
        crate::random::forget(cx);
        crate::thread::forget_others(cx);
        crate::kernel::load::forget_others(cx);
    }
    fn random_below(&self, cx: &mut Cx, source: Option<Value>, n: usize) -> Result<usize> {
        crate::random::index_below(cx, source, n)
    }
    fn shuffle(&self, cx: &mut Cx, source: Option<Value>, list: &mut [Value], end: usize) -> Result<bool> {
        crate::random::shuffle(cx, source, list, end)
    }
    fn signal(&self, cx: &mut Cx) -> Result<()> {
        crate::signal::handle(cx)
    }
}
