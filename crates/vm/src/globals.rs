//! Global variables. Plain ones live in the VM's table; special ones have hooks in the boot image's table.

use crate::raise::Result;
use crate::vm::Cx;
use zakuro_object::*;

pub type Getter = fn(&mut Cx, Sym) -> Result<Value>;
pub type Setter = fn(&mut Cx, Sym, Value) -> Result<()>;

/// A global with hooks. Rows come from the core library.
pub struct GlobalRow {
    pub name: &'static str,
    pub get: Getter,
    /// None: read-only (NameError on assignment).
    pub set: Option<Setter>,
}

impl Cx {
    fn global_target(&self, name: Sym) -> Sym {
        *self.global_aliases.get(&name).unwrap_or(&name)
    }
    fn global_hook(&self, name: Sym) -> Option<&'static GlobalRow> {
        crate::boot::hooks().globals.get(&name).copied()
    }
    pub fn global_get(&mut self, name: Sym) -> Result<Value> {
        let name = self.global_target(name);
        if let Some(v) = self.globals.get(&name) {
            return Ok(*v);
        }
        match self.global_hook(name) {
            Some(row) => (row.get)(self, name),
            None => {
                if self.globals.get(&sym::verbose) == Some(&Value::TRUE) {
                    self.warn_here(&format!("global variable '{}' not initialized", name.name()))?;
                }
                Ok(Value::NIL)
            }
        }
    }
    pub fn global_set(&mut self, name: Sym, v: Value) -> Result<()> {
        let name = self.global_target(name);
        match self.global_hook(name) {
            Some(GlobalRow { set: Some(f), .. }) => f(self, name, v),
            Some(_) => self.name_error(format!("{} is a read-only variable", name.name()), name, Value::NIL),
            None => {
                self.globals.insert(name, v);
                Ok(())
            }
        }
    }
    pub fn global_defined(&mut self, name: Sym) -> bool {
        let name = self.global_target(name);
        self.globals.contains_key(&name) || self.global_hook(name).is_some()
    }
    pub fn global_alias(&mut self, new: Sym, old: Sym) {
        let old = self.global_target(old);
        self.global_aliases.insert(new, old);
    }
}
