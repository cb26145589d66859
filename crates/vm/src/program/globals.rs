//! Global variables. Plain ones live in the VM's table; special ones have hooks in the boot image's table.

use crate::make::RootedVec;
use crate::raise::Result;
use crate::vm::Cx;
use std::sync::Arc;
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
    /// What the table has under a name.
    pub fn global_value(&mut self, name: Sym) -> Option<Value> {
        let v = self.global_peek(name)?;
        let own = self.instantiate(v);
        if own != v {
            // Not a change of the program: the copy is what stands for the image's object.
            self.globals.insert(name, own);
        }
        Some(own)
    }
    /// The same, to compare it with an immediate: it may be a template of the image.
    pub fn global_peek(&self, name: Sym) -> Option<Value> {
        let own = self.globals.get(&name).copied();
        own.or_else(|| self.base.as_ref()?.global(name))
    }
    /// Puts a value into the table, whatever hooks there are.
    pub fn global_put(&mut self, name: Sym, v: Value) {
        self.state_changes(|c| c.global(name));
        self.globals.insert(name, v);
    }
    /// Names in the table.
    pub fn global_table_names(&self) -> Vec<Sym> {
        let mut names: Vec<Sym> = self.globals.keys().copied().collect();
        if let Some(b) = &self.base {
            names.extend(b.global_names().into_iter().filter(|n| !self.globals.contains_key(n)));
        }
        names
    }
    fn global_target(&self, name: Sym) -> Sym {
        *self.global_aliases.get(&name).unwrap_or(&name)
    }
    fn global_hook(&self, name: Sym) -> Option<&'static GlobalRow> {
        crate::library::library().global(name)
    }
    pub fn global_get(&mut self, name: Sym) -> Result<Value> {
        let name = self.global_target(name);
        if let Some(v) = self.global_value(name) {
            return Ok(v);
        }
        match self.global_hook(name) {
            Some(row) => (row.get)(self, name),
            None => {
                if self.global_peek(sym::verbose) == Some(Value::TRUE) {
                    self.warn_here(&format!("global variable '{}' not initialized", name.name()))?;
                }
                Ok(Value::NIL)
            }
        }
    }
    pub fn global_set(&mut self, name: Sym, v: Value) -> Result<()> {
        let written = name;
        let name = self.global_target(name);
        let set = match self.global_hook(name) {
            Some(GlobalRow { set: Some(f), .. }) => {
                self.set_as = (written != name).then_some(written);
                let set = f(self, name, v);
                self.set_as = None;
                set
            }
            Some(_) => self.name_error(format!("{} is a read-only variable", written.name()), written, Value::NIL),
            None => {
                self.global_put(name, v);
                Ok(())
            }
        };
        if self.global_traces.is_some() && set.is_ok() { self.tell_global(name, v) } else { set }
    }
    /// The name by which a global variable is being set: messages of its setter say that of an alias.
    pub fn name_set(&self, name: Sym) -> Sym {
        self.set_as.unwrap_or(name)
    }
    /// Runs what `trace_var` registered. Assignments in there are not told again.
    #[cold]
    fn tell_global(&mut self, name: Sym, v: Value) -> Result<()> {
        if !self.global_traces.as_ref().is_some_and(|t| t.contains_key(&name)) {
            return Ok(());
        }
        let all = self.global_traces.take();
        // The table is out of the collector's sight: all that is in it is kept by a list.
        let _kept = RootedVec::gather(self, all.iter().flat_map(|t| t.values().flatten().copied()));
        let list = RootedVec::gather(self, all.iter().filter_map(|t| t.get(&name)).flatten().copied());
        let mut result = Ok(());
        for i in 0..list.len() {
            let command = list[i];
            let r = match Ref::<ProcCell>::from_value(command) {
                Some(p) => self.call_proc(p, &[v], false, crate::builtin::Block::NONE),
                None => self.call(self.main, Sym::intern("eval"), &[command]),
            };
            if let Err(e) = r {
                result = Err(e);
                break;
            }
        }
        let added = std::mem::replace(&mut self.global_traces, all);
        if let (Some(t), Some(added)) = (&mut self.global_traces, added) {
            t.extend(*added);
        }
        result
    }
    pub fn global_defined(&mut self, name: Sym) -> bool {
        let name = self.global_target(name);
        self.global_peek(name).is_some() || self.global_hook(name).is_some()
    }
    pub fn global_alias(&mut self, new: Sym, old: Sym) {
        let old = self.global_target(old);
        self.state_changes(|c| c.any = true);
        Arc::make_mut(&mut self.global_aliases).insert(new, old);
    }
}
