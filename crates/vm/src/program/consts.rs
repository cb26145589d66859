//! Constants: lookup (lexical, inherited, Object), definition, literals.

use crate::builtin::Block;
use crate::classgc::PLACE;
use crate::raise::Result;
use crate::vm::{Cx, FastMap};
use num_bigint::BigInt;
use std::sync::Arc;
use zakuro_bytecode::Const;
use zakuro_object::*;

fn big(n: &zakuro_bytecode::Big) -> BigInt {
    let sign = if n.negative { num_bigint::Sign::Minus } else { num_bigint::Sign::Plus };
    BigInt::from_slice(sign, &n.digits)
}

impl Cx {
    /// Sets a constant (no warning, no hook) and names anonymous classes.
    pub fn const_set(&mut self, holder: ClassId, name: Sym, value: Value) {
        if let Some(id) = self.class_id(value) {
            self.name_class(holder, name, id);
        }
        let place = if self.in_boot { None } else { self.here() };
        let before = self.class(holder).consts.get(&name).copied();
        // What a file assigns to its own autoload constant is seen by the other threads when it is loaded.
        let run = before.and_then(|e| self.own_autoload_run(e.autoload));
        match (place, run) {
            (Some(p), None) => self.place_const(holder, name, p),
            (p, Some(i)) => self.autoloading[i].assigned.push((holder, name, p)),
            (None, None) => {}
        }
        let autoload = if run.is_some() { before.map_or(Value::NIL, |e| e.autoload) } else { Value::NIL };
        let (private, deprecated) = match before {
            // As in CRuby, an assignment that no autoload asked for undoes `private_constant` of an autoload constant.
            Some(e) if e.value.is_undef() && run.is_none() => (false, e.deprecated),
            Some(e) => (e.private, e.deprecated),
            None => (false, false),
        };
        let table = &self.class(holder).consts;
        if table.len() == table.capacity() {
            self.double_table(table.len(), size_of::<(Sym, ConstEntry)>());
        }
        let d = self.class_mut(holder);
        if d.consts.insert(name, ConstEntry { value, private, deprecated, autoload }).is_none() {
            d.const_order.push(name);
        }
        self.const_epoch += 1;
    }
    /// Where a constant was assigned.
    pub fn place_const(&mut self, holder: ClassId, name: Sym, place: (Arc<str>, u32)) {
        if self.const_places.len() == self.const_places.capacity() {
            self.double_table(self.const_places.len(), PLACE);
        }
        self.const_places.insert((holder, name), place);
        self.state_changes(|c| c.place(holder, name));
    }
    /// The load that the running thread does for an autoload constant of this path.
    pub fn own_autoload_run(&self, autoload: Value) -> Option<usize> {
        if self.autoloading.is_empty() {
            return None;
        }
        let path = Ref::<StringCell>::from_value(autoload)?;
        let me = self.thread_id();
        self.autoloading.iter().position(|r| r.thread == me && path.equals(&r.path))
    }
    /// Registers a file to be required when a constant is first read.
    pub fn const_autoload(&mut self, holder: ClassId, name: Sym, path: Value) {
        if !self.in_boot
            && let Some(place) = self.here()
        {
            self.place_const(holder, name, place);
        }
        let d = self.class_mut(holder);
        let (private, deprecated) = d.consts.get(&name).map_or((false, false), |e| (e.private, e.deprecated));
        if d.consts.insert(name, ConstEntry { value: Value::UNDEF, private, deprecated, autoload: path }).is_none() {
            d.const_order.push(name);
        }
        self.const_epoch += 1;
    }
    /// The entry of a constant that counts as defined: not one whose file is being loaded here, or was loaded without defining it.
    pub fn const_defined_entry(&mut self, holder: ClassId, name: Sym) -> Option<ConstEntry> {
        let e = self.const_entry(holder, name)?;
        if !e.value.is_undef() {
            return Some(e);
        }
        if !e.autoload.is_kind(Kind::String) {
            return Some(e);
        }
        let path = self.instantiate(e.autoload);
        crate::library::library().autoload_pending(self, path).then_some(e)
    }
    pub fn const_remove(&mut self, holder: ClassId, name: Sym) -> Option<Value> {
        let d = self.class_mut(holder);
        d.const_order.remove(name);
        let e = d.consts.remove(&name);
        self.const_epoch += 1;
        e.map(|e| self.instantiate(e.value))
    }
    /// The entry in this very module. Its values may be templates of the image: see [`Cx::instantiate`].
    pub fn const_entry(&self, holder: ClassId, name: Sym) -> Option<ConstEntry> {
        self.class(holder).consts.get(&name).copied()
    }
    /// Value of an entry, running its autoload if it has one.
    pub fn const_entry_value(&mut self, holder: ClassId, name: Sym, e: ConstEntry) -> Result<Option<Value>> {
        let value = if e.autoload.is_nil() {
            if e.value.is_undef() {
                return Ok(None);
            }
            self.instantiate(e.value)
        } else if let Some(lazy) = e.autoload.as_sym() {
            return crate::library::library().lazy_const(self, lazy).map(Some);
        } else {
            match crate::library::library().autoload(self, holder, name)? {
                Some(v) => v,
                None => return Ok(None),
            }
        };
        // What an autoload ran may have deprecated the constant that it defined.
        let deprecated = e.deprecated || !e.autoload.is_nil() && self.const_entry(holder, name).is_some_and(|e| e.deprecated);
        if deprecated {
            let m = format!("constant {} is deprecated", self.const_path(holder, name));
            self.warn_category(&m, "deprecated")?;
        }
        Ok(Some(value))
    }
    /// Looks in a module and its ancestors (Object too when `object`).
    pub fn const_lookup_in(&mut self, holder: ClassId, name: Sym, object: bool) -> Result<Option<(ClassId, Value)>> {
        // The module's own come before those of modules that it prepends; behind it the order is that of methods.
        if let Some(e) = self.const_entry(holder, name)
            && let Some(v) = self.const_entry_value(holder, name, e)?
        {
            return Ok(Some((holder, v)));
        }
        for c in self.ancestor_list(holder).into_iter().filter(|c| *c != holder) {
            if !object && c == ids::OBJECT && holder != ids::OBJECT {
                // Modules that Object includes count, its own constants don't.
                continue;
            }
            if let Some(e) = self.const_entry(c, name)
                && let Some(v) = self.const_entry_value(c, name, e)?
            {
                return Ok(Some((c, v)));
            }
        }
        if object && self.class(holder).kind == ClassKind::Module {
            return self.const_lookup_in(ids::OBJECT, name, true);
        }
        Ok(None)
    }
    /// The class that a scope asks for constants.
    pub fn scope_class(&self, s: Ref<CrefCell>) -> Option<ClassId> {
        if s.definee == Value::FALSE { Some(self.dispatch_class(s.class)) } else { self.class_id(s.class) }
    }
    /// The module that a scope makes constants in.
    pub(crate) fn scope_holder(&mut self, cref: Value) -> Result<Value> {
        match Ref::<CrefCell>::from_value(cref) {
            Some(s) if s.definee == Value::FALSE => {
                let c = self.singleton_class(s.class)?;
                Ok(self.class_value(c))
            }
            Some(s) => {
                self.warn_of_refinement(cref)?;
                Ok(s.class)
            }
            None => Ok(self.class_value(ids::OBJECT)),
        }
    }
    /// Tells that what the block of a `refine` defines besides methods is not the refinement's.
    pub(crate) fn warn_of_refinement(&mut self, cref: Value) -> Result<()> {
        let definee = Ref::<CrefCell>::from_value(cref).and_then(|s| self.class_id(s.definee));
        if definee.is_some_and(|d| self.refined_class(d).is_some()) {
            self.warn_here("not defined at the refinement, but at the outer class/module")?;
        }
        Ok(())
    }
    /// Lexical lookup from a scope: enclosing modules, then ancestors of the innermost, then Object.
    pub fn const_lookup(&mut self, cref: Value, name: Sym) -> Result<Option<Value>> {
        let mut c = cref;
        while let Some(s) = Ref::<CrefCell>::from_value(c) {
            if s.parent.is_nil() {
                break; // the outermost scope is Object: asked last
            }
            if let Some(id) = self.scope_class(s)
                && let Some(e) = self.const_entry(id, name)
                && let Some(v) = self.const_entry_value(id, name, e)?
            {
                return Ok(Some(v));
            }
            c = s.parent;
        }
        let inner = Ref::<CrefCell>::from_value(cref).and_then(|s| self.scope_class(s)).unwrap_or(ids::OBJECT);
        Ok(self.const_lookup_in(inner, name, true)?.map(|(_, v)| v))
    }
    /// Lexical lookup, `const_missing` when there is none.
    pub fn const_get_lexical(&mut self, cref: Value, name: Sym) -> Result<Value> {
        if let Some(v) = self.const_lookup(cref, name)? {
            return Ok(v);
        }
        let inner = Ref::<CrefCell>::from_value(cref).and_then(|s| self.scope_class(s)).unwrap_or(ids::OBJECT);
        let inner = self.class_value(inner);
        self.const_missing(inner, name)
    }
    /// `holder::name`: private ones are refused.
    pub fn const_get_from(&mut self, holder: Value, name: Sym) -> Result<Value> {
        let Some(id) = self.class_id(holder) else {
            let s = self.inspect_for_error(holder);
            return self.type_error(format!("{s} is not a class/module"));
        };
        if let Some((c, v)) = self.const_lookup_in(id, name, id == ids::OBJECT)? {
            if self.const_entry(c, name).is_some_and(|e| e.private) {
                if self.method_of(holder, sym::const_missing).is_some_and(|m| m.method_kind() != MethodKind::Native) {
                    return self.const_missing(holder, name);
                }
                let p = self.const_path(c, name);
                let owner = self.class_value(c);
                return self.name_error(format!("private constant {p} referenced"), name, owner);
            }
            return Ok(v);
        }
        self.const_missing(holder, name)
    }
    fn const_missing(&mut self, holder: Value, name: Sym) -> Result<Value> {
        let args = [Value::sym(name)];
        match self.method_of(holder, sym::const_missing) {
            Some(m) => self.call_told(m, holder, sym::const_missing, &args, false, Block::NONE),
            None => self.call_private(holder, sym::const_missing, &args),
        }
    }
    /// `Foo::BAR` or `BAR`
    pub fn const_path(&self, holder: ClassId, name: Sym) -> String {
        if holder == ids::OBJECT { name.name().into_owned() } else { format!("{}::{}", self.class_name(holder), name.name()) }
    }
    /// A constant by path from Object ("Process::Status"); None when missing.
    pub fn const_by_path(&mut self, path: &str) -> Option<Value> {
        self.const_by_name(Sym::intern(path))
    }
    /// The same for a class's name.
    pub fn const_by_name(&mut self, path: Sym) -> Option<Value> {
        let mut v = self.class_value(ids::OBJECT);
        let mut rest = Some(path.bytes());
        while let Some(names) = rest {
            let end = names.windows(2).position(|w| w == b"::");
            let name = Sym::intern_in(&names[..end.unwrap_or(names.len())], path.encoding());
            let id = self.class_id(v)?;
            v = self.const_entry(id, name)?.value;
            v = self.instantiate(v);
            rest = end.map(|end| &names[end + 2..]);
        }
        Some(v)
    }
    /// NameError with name and receiver.
    #[cold]
    pub fn name_error<T>(&mut self, message: String, name: Sym, receiver: Value) -> Result<T> {
        let e = self.exception(ids::NAME_ERROR, &message);
        self.ivar_set_raw(e, Sym::intern("__name"), Value::sym(name));
        self.ivar_set_raw(e, Sym::intern("__receiver"), receiver);
        self.raise_value(e)
    }
    /// Literals of a Code for this VM. Strings in Arrays and Hashes are those that the Code has for itself, too.
    pub(crate) fn const_values(&mut self, consts: &[Const]) -> Box<[Value]> {
        let holds_others = |c: &Const| matches!(c, Const::Array(_) | Const::Hash(_));
        let mut values: Box<[Value]> =
            consts.iter().map(|c| if holds_others(c) { Value::NIL } else { self.const_value(c, &|_, _| None) }).collect();
        if consts.iter().any(holds_others) {
            let strings: FastMap<(&[u8], u8), Value> = consts
                .iter()
                .zip(&values)
                .filter_map(|(c, v)| match c {
                    Const::Interned { bytes, encoding } => Some(((&**bytes, *encoding), *v)),
                    _ => None,
                })
                .collect();
            for (v, c) in values.iter_mut().zip(consts).filter(|(_, c)| holds_others(c)) {
                *v = self.const_value(c, &|bytes, encoding| strings.get(&(bytes, encoding)).copied());
            }
        }
        values
    }
    /// Materialises a literal for this VM; `known`: Strings that are there.
    fn const_value(&mut self, c: &Const, known: &dyn Fn(&[u8], u8) -> Option<Value>) -> Value {
        match c {
            Const::Nil => Value::NIL,
            Const::True => Value::TRUE,
            Const::False => Value::FALSE,
            Const::Int(i) => self.int(*i),
            Const::Big(n) => self.big(big(n)),
            Const::Float(f) => self.float(*f),
            Const::Sym(s) => Value::sym(*s),
            Const::Str { bytes, encoding } => {
                let v = self.str_bytes(bytes, *encoding);
                v.set_flags(flags::FROZEN);
                if bytes.is_ascii() {
                    // All that are made of it know it, too.
                    Ref::<StringCell>::of(v).set_code_range(string::CodeRange::Ascii);
                }
                v
            }
            Const::Interned { bytes, encoding } => {
                if let Some(v) = known(bytes, *encoding) {
                    return v;
                }
                let s = Ref::of(self.str_bytes(bytes, *encoding));
                crate::library::library().interned(self, s)
            }
            // Made by a hook of the core library, which owns the engine.
            Const::Regexp { source, options, encoding } => crate::library::library().regexp_literal(self, source, *options, *encoding),
            Const::Rational(n, d) => {
                let (n, d) = (self.big(big(n)), self.big(big(d)));
                PairCell::make(&self.heap, ids::RATIONAL, Kind::Rational, n, d)
            }
            Const::Complex(i) => {
                let i = self.const_value(i, known);
                PairCell::make(&self.heap, ids::COMPLEX, Kind::Complex, Value::fixnum(0), i)
            }
            Const::Range { low, high, exclusive } => {
                let (l, h) = (self.const_value(low, known), self.const_value(high, known));
                self.range(l, h, *exclusive)
            }
            Const::Array(items) => {
                let a = self.new_array();
                for c in items {
                    let v = self.const_value(c, known);
                    ArrayCell::push(a, &mut self.heap, v);
                }
                a.as_value().set_flags(flags::FROZEN);
                a.as_value()
            }
            Const::Hash(pairs) => {
                let h = self.new_hash();
                for (k, v) in pairs {
                    let (k, v) = (self.const_value(k, known), self.const_value(v, known));
                    // No Ruby code decides about such keys, so nothing is raised.
                    let _ = self.hash_set(h, k, v);
                }
                h.as_value().set_flags(flags::FROZEN);
                h.as_value()
            }
        }
    }
}
