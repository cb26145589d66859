//! Methods that a builtin class has itself for speed, where Ruby has them further up only: `Array#inject` stands in for Enumerable's.
//!
//! Nobody sees a stand-in: reflection leaves it out, and a Method object of it is one of the method that it stands in for. It goes away when a program
//! could tell: its name is defined, undefined or removed further up, comes with a module, or `each`, which Ruby's method would call, is the program's.
//! Each of these goes through a method table, so that calls pay nothing.
//! Rejected: a test in each of these methods (every call pays); a table of names in each VM (the mark is in the cell, and the image has the cells).

use crate::program::methods::Method;
use crate::vm::Cx;
use zakuro_object::*;

/// Which methods, by class. Own methods of the class in Ruby are not among them.
const STAND_INS: [(ClassId, &[&str]); 5] = [
    (
        ids::ARRAY,
        &[
            "collect_concat",
            "each_cons",
            "each_entry",
            "each_slice",
            "each_with_index",
            "each_with_object",
            "entries",
            "filter_map",
            "find_all",
            "flat_map",
            "group_by",
            "inject",
            "max_by",
            "member?",
            "min_by",
            "minmax_by",
            "partition",
            "reduce",
            "sort_by",
            "tally",
        ],
    ),
    (ids::HASH, &["all?", "collect", "count", "detect", "entries", "filter_map", "find", "map", "none?"]),
    (ids::RANGE, &["sum"]),
    (ids::SET, &["count", "first"]),
    (ids::INTEGER, &["negative?", "positive?", "hash"]),
];

/// Whether the methods that are stood in for call `each`. Enumerable's `sum` does not for a Range of Integers, and a number has no `each`.
fn walks(class: ClassId) -> bool {
    !matches!(class, ids::RANGE | ids::INTEGER)
}

impl Cx {
    /// Marks the stand-ins among the methods of the core library, when all of them are there.
    pub fn mark_stand_ins(&mut self) {
        for (class, names) in STAND_INS {
            for name in names {
                if let Some(m) = self.method_in(class, Sym::intern(name)) {
                    m.init_stand_in();
                }
            }
        }
    }
    fn is_stand_in(&self, class: ClassId, name: Sym) -> bool {
        self.class(class).methods.get(&name).and_then(|v| Ref::<MethodCell>::from_value(*v)).is_some_and(|m| m.is_stand_in())
    }
    /// The method that a stand-in hides; any other as it is.
    pub fn not_stand_in(&mut self, class: ClassId, m: Method) -> Method {
        if !m.is_stand_in() {
            return m;
        }
        self.find_super_method(class, m.owner, m.called).unwrap_or(m)
    }
    /// `name` has been defined in or removed from `owner`.
    pub(crate) fn note_stand_ins(&mut self, owner: ClassId, name: Sym) {
        if self.in_boot || !self.may_hide_behind_stand_in(owner, name) {
            return;
        }
        for (class, names) in STAND_INS {
            if name == sym::each {
                if walks(class) && (self.inherits(class, owner) || self.inherits(owner, class)) {
                    self.drop_stand_ins(class, names);
                }
            } else if class != owner && self.is_stand_in(class, name) && self.inherits(class, owner) {
                self.remove_method(class, name);
            }
        }
    }
    /// What `note_stand_ins` need not look at: nearly all that a program defines stands in its own classes.
    fn may_hide_behind_stand_in(&self, owner: ClassId, name: Sym) -> bool {
        name == sym::each || owner.0 < shape::FIRST_DYNAMIC || self.class(owner).kind == ClassKind::Module
    }
    /// `class` has got a module.
    pub(crate) fn note_stand_ins_by_module(&mut self, class: ClassId, module: ClassId) {
        if self.in_boot {
            return;
        }
        // Nothing inherits from it: what counts is how it walks itself.
        if self.is_of_one_object(class) && !self.ancestors(module).any(|m| self.class(m).methods.contains_key(&sym::each)) {
            return;
        }
        let modules = self.ancestor_list(module);
        for (of, names) in STAND_INS {
            let above = self.inherits(of, class);
            if !above && !self.inherits(class, of) {
                continue;
            }
            if walks(of) && modules.iter().any(|m| self.class(*m).methods.contains_key(&sym::each)) {
                self.drop_stand_ins(of, names);
            } else if above {
                for name in names.iter().map(|n| Sym::intern(n)) {
                    if self.is_stand_in(of, name) && modules.iter().any(|m| self.class(*m).methods.contains_key(&name)) {
                        self.remove_method(of, name);
                    }
                }
            }
        }
    }
    fn drop_stand_ins(&mut self, class: ClassId, names: &[&str]) {
        for name in names.iter().map(|n| Sym::intern(n)) {
            if self.is_stand_in(class, name) {
                self.remove_method(class, name);
            }
        }
    }
}
