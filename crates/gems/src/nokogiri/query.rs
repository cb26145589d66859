//! XPath for Ruby: `XPathContext#evaluate`, with functions of a handler object.

use super::evaluate::{Context, Evaluator, FUNCTIONS, Failure, Host, Item, Val, id_of, ns_of};
use super::tree::Tree;
use super::*;
use std::collections::{HashMap, HashSet};
use zakuro_macros::ruby_class;

struct Asking<'a> {
    cx: &'a mut Cx,
    doc: Value,
    handler: Value,
}

impl Asking<'_> {
    fn to_ruby(&mut self, v: Val) -> Result<Value> {
        Ok(match v {
            Val::Str(s) => self.cx.str(&s),
            Val::Num(n) => self.cx.float(n),
            Val::Bool(b) => Value::bool(b),
            Val::Nodes(n) => self.to_set(&n)?,
        })
    }
    fn to_set(&mut self, items: &[Item]) -> Result<Value> {
        let mut objects = RootedVec::with_capacity(self.cx, items.len());
        for (i, item) in items.iter().enumerate() {
            let v = match ns_of(*item) {
                Some(ns) => wrap_ns(self.cx, self.doc, ns)?,
                None => wrap(self.cx, self.doc, id_of(*item))?,
            };
            objects.push(v);
            zakuro_base::progress::step(i, self.cx)?;
        }
        account(self.cx, self.doc)?;
        set::make(self.cx, self.doc, &objects)
    }
    fn to_nodes(&mut self, objects: &[Value]) -> Result<Val> {
        let mut all: Vec<Item> = Vec::new();
        let mut known = HashSet::new();
        for v in objects {
            if is_node(self.cx, *v) {
                let (doc, id) = node(self.cx, *v)?;
                // A number means a node of this document only.
                if doc == self.doc && known.insert(id) {
                    all.push(id as Item);
                }
            }
        }
        Ok(Val::Nodes(all))
    }
}

impl Host for Asking<'_> {
    type Error = zakuro_vm::Exc;
    fn tree(&mut self) -> Result<&Tree> {
        Ok(&self.cx.data_ref::<Doc>(self.doc)?.tree)
    }
    fn order(&mut self) -> Result<()> {
        self.cx.data_mut::<Doc>(self.doc)?.tree.put_in_order();
        Ok(())
    }
    fn poll(&mut self) -> Result<()> {
        self.cx.safepoint()
    }
    fn has_stack(&self) -> bool {
        self.cx.has_native_stack()
    }
    fn needs(&mut self, bytes: usize) -> Result<()> {
        room(self.cx, bytes)
    }
    fn function(&mut self, namespaced: bool, name: &str, args: Vec<Val>) -> Result<Option<Val>> {
        let sym = Sym::intern(name);
        if self.handler.is_nil() || !self.cx.responds(self.handler, sym, false)? {
            return Ok(None);
        }
        if !namespaced {
            let message = format!(
                "A custom XPath or CSS handler function named '{name}' is being invoked without a namespace. Please update your query to reference this function as 'nokogiri:{name}'. Invoking custom handler functions without a namespace is deprecated and will become an error in Nokogiri v1.17.0."
            );
            let message = self.cx.str(&message);
            let module = self.cx.class_named("Nokogiri::XML::XPathContext")?;
            let module = self.cx.class_value(module);
            self.cx.call(module, Sym::intern("__deprecated"), &[message])?;
        }
        let mut given = RootedVec::with_capacity(self.cx, args.len());
        for a in args {
            let v = self.to_ruby(a)?;
            given.push(v);
        }
        let v = self.cx.call(self.handler, sym, &given)?;
        if v == Value::TRUE || v == Value::FALSE {
            return Ok(Some(Val::Bool(v.truthy())));
        }
        if v.is_nil() {
            return Ok(Some(Val::Nodes(Vec::new())));
        }
        if self.cx.is_a(v, ids::NUMERIC) {
            let f = self.cx.call(v, Sym::intern("to_f"), &[])?;
            return Ok(Some(Val::Num(f.as_float().unwrap_or(f64::NAN))));
        }
        if self.cx.is_a(v, ids::STRING) {
            return Ok(Some(Val::Str(text(self.cx, v)?)));
        }
        if let Some(a) = Ref::<ArrayCell>::from_value(v) {
            let all = RootedVec::of(self.cx, a);
            return self.to_nodes(&all).map(Some);
        }
        if let Some(all) = set::items(self.cx, v)? {
            return self.to_nodes(&all).map(Some);
        }
        self.cx.raise(ids::RUNTIME_ERROR, "Invalid return type")
    }
}

pub fn pairs(cx: &mut Cx, list: Ref<ArrayCell>) -> Result<HashMap<String, String>> {
    let all = RootedVec::of(cx, list);
    let mut map = HashMap::new();
    for p in all.chunks(2) {
        if let [k, v] = p {
            map.insert(text(cx, *k)?, text(cx, *v)?);
        }
    }
    Ok(map)
}

/// Methods of `Nokogiri::XML::Node` that query it.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    /// Evaluates an expression here; namespaces and variables as [name, value, ...].
    #[method("__evaluate")]
    fn evaluate(
        cx: &mut Cx,
        this: Value,
        expression: Value,
        namespaces: Ref<ArrayCell>,
        variables: Ref<ArrayCell>,
        handler: Value,
    ) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let source = text(cx, expression)?;
        let (mut namespaces, variables) = (pairs(cx, namespaces)?, pairs(cx, variables)?);
        namespaces.entry("nokogiri".into()).or_insert_with(|| FUNCTIONS.into());
        namespaces.entry("nokogiri-builtin".into()).or_insert_with(|| super::super::evaluate::BUILTINS.into());
        tree(cx, doc)?.xml_ns();
        let result = match super::super::xpath::parse(&source, &|| cx.has_native_stack()) {
            Err(w) => Err(Failure::Wrong(w)),
            Ok(e) => {
                let mut host = Asking { cx, doc, handler };
                let mut evaluator = Evaluator { host: &mut host, namespaces: &namespaces, variables: &variables, steps: 0 };
                let v = evaluator.eval(&e, Context { node: id as Item, position: 1, size: 1 });
                match v {
                    Ok(v) => return host.to_ruby(v),
                    Err(e) => Err(e),
                }
            }
        };
        match result {
            Err(Failure::Host(e)) => Err(e),
            Err(Failure::NoFunction(name, prefix)) => {
                let message = match prefix {
                    None => format!("xmlXPathCompOpEval: function {name} not found\n"),
                    Some(p) => format!("xmlXPathCompOpEval: function {name} bound to undefined prefix {p}\n"),
                };
                cx.raise_named("Nokogiri::XML::XPath::SyntaxError", message)
            }
            Err(Failure::Wrong(w)) => {
                let class = cx.class_named("Nokogiri::XML::XPath::SyntaxError")?;
                let e = cx.exception(class, w.1);
                let source = cx.str(&source);
                for (name, v) in [
                    ("@domain", Value::fixnum(12)),
                    ("@code", Value::fixnum(w.0 as i64)),
                    ("@level", Value::fixnum(2)),
                    ("@str1", source),
                    ("@line", Value::fixnum(0)),
                    ("@column", Value::fixnum(0)),
                    ("@int1", Value::fixnum(0)),
                ] {
                    cx.ivar_set(e, Sym::intern(name), v)?;
                }
                cx.raise_value(e)
            }
            Ok(()) => Ok(Value::NIL),
        }
    }
}
pub(super) use native::METHODS;
