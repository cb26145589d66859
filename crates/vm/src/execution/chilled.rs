//! Chilled Strings: those that literals (without a `frozen_string_literal` comment) and `Symbol#to_s` make. They are not frozen, but the first change of one
//! warns, in category `:deprecated`, that it will be.
//!
//! A chilled String carries FROZEN beside CHILLED, so the one test that every mutation makes also finds these; only its slow path tells them apart. Whoever reads
//! FROZEN for another purpose (copies, messages, images, Hash keys) asks `Value::is_frozen` or `settled_flags`. The chill stays with the VM: copies that
//! travel are plain Strings.
//!
//! Rejected: a mask of its own in the frozen test (the kinds' own bits mean other things elsewhere), warning once per place (CRuby warns per String).

use crate::library::library;
use crate::raise::Result;
use crate::vm::{Cx, VmState};
use zakuro_object::*;

const _: () = assert!(zakuro_bytecode::FROZEN_STRING == flags::FROZEN);
const _: () = assert!(zakuro_bytecode::CHILLED_STRING == flags::FROZEN | CHILLED);

fn place_name() -> Sym {
    Sym::intern("__created")
}

/// Strings whose bytes something writes directly for a while (`IO::Buffer.for` with a block): chilled too, so that each change comes to `thaw`.
struct Locked(TracedVec);
impl Default for Locked {
    fn default() -> Locked {
        Locked(TracedVec::new())
    }
}
impl Trace for Locked {
    fn trace(&self, m: &mut Marker<'_>) {
        let Locked(strings) = self;
        strings.trace(m);
    }
}
impl VmState for Locked {}

impl Cx {
    /// Lets nobody change a String until `unlock_string`. FrozenError; RuntimeError when it is locked already.
    pub fn lock_string(&mut self, v: Value) -> Result<()> {
        self.check_frozen(v)?;
        self.state::<Locked>().0.push(v);
        v.set_flags(flags::FROZEN | CHILLED);
        Ok(())
    }
    /// Freezes what is no class (shallow), and its singleton class.
    pub fn freeze_cell(&mut self, v: Value) {
        if v.is_cell() && v.settled_flags() & (flags::FROZEN | flags::SHARED) == 0 {
            self.cell_changes(v);
            v.make_frozen();
            let c = self.dispatch_class(v);
            if self.class(c).kind == ClassKind::Singleton {
                self.class_mut(c).frozen = true;
            }
        }
    }
    pub fn unlock_string(&mut self, v: Value) {
        self.state::<Locked>().0.retain(|l| *l != v);
        if v.is_chilled() {
            v.unchill();
        }
    }
    /// Makes a chilled String one like any other, with a warning when such are wanted.
    #[cold]
    #[inline(never)]
    pub fn thaw(&mut self, v: Value) -> Result<()> {
        if self.state::<Locked>().0.contains(&v) {
            return self.raise(ids::RUNTIME_ERROR, "can't modify string; temporarily locked");
        }
        let of_symbol = v.flags() & CHILLED_SYMBOL != 0;
        // First, since the warning may be handled by a program that looks at the String.
        v.unchill();
        if !self.warns("deprecated") {
            return Ok(());
        }
        let message = if of_symbol {
            let text = Ref::<StringCell>::of(v).to_text();
            format!("string returned by :{text}.to_s will be frozen in the future")
        } else {
            let more = match self.literal_place(v) {
                Some(place) => format!("\n{place}: info: the string was created here"),
                None => " (run with --debug-frozen-string-literal for more information)".into(),
            };
            format!("literal string will be frozen in the future{more}")
        };
        self.warn_category(&message, "deprecated")
    }
    /// Keeps where the running literal stands, for reports about its String.
    pub(crate) fn note_literal_place(&mut self, v: Value) {
        if let Some((file, line)) = self.here() {
            let place = self.str(&format!("{file}:{line}"));
            self.ivar_set_raw(v, place_name(), place);
        }
    }
    /// File and line of the literal that made a String, when such are kept.
    pub(crate) fn literal_place(&mut self, v: Value) -> Option<String> {
        if !v.is_kind(Kind::String) || v.flags() & flags::HAS_IVARS == 0 {
            return None;
        }
        let place = self.ivar_get(v, place_name());
        Ref::<StringCell>::from_value(place).map(|s| s.to_text())
    }
    /// `$VERBOSE` is true.
    pub fn is_verbose(&self) -> bool {
        match self.global_peek(sym::verbose) {
            Some(v) => v == Value::TRUE,
            None => self.options.verbose == Some(true),
        }
    }
    /// Whether warnings of a category are shown now.
    pub fn warns(&mut self, category: &str) -> bool {
        let silent = match self.global_peek(sym::verbose) {
            Some(v) => v.is_nil(),
            None => self.options.verbose.is_none(),
        };
        !silent && library().warns(self, category)
    }
    /// A warning of a category, at the running line.
    pub fn warn_category(&mut self, message: &str, category: &str) -> Result<()> {
        let place = self.here();
        self.warn_category_at(place, message, category)
    }
    /// The same for another place.
    pub fn warn_category_at(&mut self, place: Option<(std::sync::Arc<str>, u32)>, message: &str, category: &str) -> Result<()> {
        if !self.warns(category) {
            return Ok(());
        }
        let line = match place {
            Some((f, l)) => format!("{f}:{l}: warning: {message}\n"),
            None => format!("warning: {message}\n"),
        };
        library().warn_category(self, &line, category)
    }
}
