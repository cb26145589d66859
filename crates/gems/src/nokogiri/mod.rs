//! nokogiri's `nokogiri/nokogiri`, for versions 1.16 and later: what its extension does with libxml2 and Gumbo, over a tree of our own ([`tree`]).
//!
//! - Trees come from [`xml`] (with [`dtd`]), [`html4`] (libxml2's manners) and [`html5`] (html5ever); they go out by [`serialize`]; [`xpath`] and
//!   [`evaluate`] query them. None of these knows the VM.
//! - A document's object owns its tree ([`document`]). A node's object is the document and a number ([`node`]); the document keeps one object for each node that the program has
//!   seen, so that a node is always the same object.
//! - Arguments, errors, SAX and Reader are Ruby (`ruby/nokogiri_nokogiri.rb`).
//!
//! Trees count against the VM's limit, by what they take, after each change; texts and sets that can be larger than their tree are asked for as they grow. What takes long polls: parsers tell
//! of each construct, and pause where none comes. No walk recurses but evaluation, whose depth is that of the expression's text. Left out: Schema, RelaxNG, XSLT, external subsets.

mod builder;
mod document;
mod dtd;
mod entities;
mod evaluate;
mod events;
mod html4;
mod html5;
mod node;
mod query;
mod reparent;
mod serialize;
mod set;
mod tree;
mod xml;
mod xpath;

use tree::{DOCUMENT, Id, Kind, NONE, Tree};
use zakuro_macros::Trace;
use zakuro_vm::*;

/// Payload of a Document.
#[derive(Trace)]
struct Doc {
    #[untraced]
    tree: Tree,
    /// Objects of nodes, by number; nil: none yet.
    objects: TracedVec,
    /// Objects of namespaces.
    namespaces: TracedVec,
    /// Tells nodes of different documents apart.
    serial: i64,
    /// Bytes that the heap was told of.
    counted: usize,
}
impl NativeData for Doc {
    fn weight(&self) -> usize {
        self.counted
    }
}

/// Payload of a Node.
#[derive(Trace)]
struct NodeRef {
    doc: Value,
    id: u32,
}
impl NativeData for NodeRef {}

/// Payload of a Namespace.
#[derive(Trace)]
struct NsRef {
    doc: Value,
    id: u32,
}
impl NativeData for NsRef {}

const CLASSES: [&str; 13] = [
    "Element",
    "Attr",
    "Text",
    "CDATA",
    "EntityReference",
    "ProcessingInstruction",
    "Comment",
    "DocumentFragment",
    "DTD",
    "ElementDecl",
    "AttributeDecl",
    "EntityDecl",
    "Namespace",
];

/// What a VM keeps: classes by kind of node, and the number of the last document.
#[derive(Trace, Default)]
struct Known {
    #[untraced]
    classes: Vec<ClassId>,
    serial: i64,
}
impl VmState for Known {}

fn class_of_kind(cx: &mut Cx, kind: Kind) -> Result<ClassId> {
    known_class(
        cx,
        match kind {
            Kind::Element => 0,
            Kind::Attribute => 1,
            Kind::Text => 2,
            Kind::Cdata => 3,
            Kind::EntityRef => 4,
            Kind::Pi => 5,
            Kind::Comment => 6,
            Kind::Fragment => 7,
            Kind::Dtd => 8,
            Kind::ElementDecl => 9,
            Kind::AttributeDecl => 10,
            Kind::EntityDecl => 11,
            Kind::Document | Kind::HtmlDocument => 0,
        },
    )
}
fn known_class(cx: &mut Cx, at: usize) -> Result<ClassId> {
    if cx.state::<Known>().classes.is_empty() {
        let mut classes = Vec::new();
        for name in CLASSES {
            classes.push(cx.class_named(&format!("Nokogiri::XML::{name}"))?);
        }
        cx.state::<Known>().classes = classes;
    }
    Ok(cx.state::<Known>().classes[at])
}

/// Gives a Document its tree.
fn install(cx: &mut Cx, this: Value, tree: Tree) -> Result<()> {
    let known = cx.state::<Known>();
    known.serial += 1;
    let serial = known.serial;
    cx.data_init(this, Doc { tree, objects: TracedVec::new(), namespaces: TracedVec::new(), serial, counted: 0 })?;
    account(cx, this)
}
/// NoMemoryError unless there is room for so many bytes.
fn room(cx: &mut Cx, bytes: usize) -> Result<()> {
    if cx.heap.admits(bytes) { Ok(()) } else { cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory") }
}
/// Tells the heap what a tree has come to take.
fn account(cx: &mut Cx, doc: Value) -> Result<()> {
    let d = cx.data_mut::<Doc>(doc)?;
    let before = d.counted;
    let after = d.tree.bytes() + (d.objects.len() + d.namespaces.len()) * 8;
    // Asked first: what is over the limit leaves no room for the exception.
    if after > before {
        room(cx, after - before)?;
    }
    cx.data_mut::<Doc>(doc)?.counted = after;
    cx.weigh_data(doc);
    Ok(())
}
fn tree(cx: &mut Cx, doc: Value) -> Result<&mut Tree> {
    if !cx.is_data::<Doc>(doc) {
        return cx.raise(ids::RUNTIME_ERROR, "uninitialized Nokogiri::XML::Document");
    }
    Ok(&mut cx.data_mut::<Doc>(doc)?.tree)
}
/// The document and the number that a Node stands for.
fn node(cx: &mut Cx, v: Value) -> Result<(Value, Id)> {
    if cx.is_data::<Doc>(v) {
        return Ok((v, DOCUMENT));
    }
    if !cx.is_data::<NodeRef>(v) {
        let base = cx.class_named("Nokogiri::XML::Node")?;
        if cx.is_a(v, base) {
            return cx.raise(ids::RUNTIME_ERROR, "uninitialized Nokogiri::XML::Node");
        }
        let c = cx.class_name_of(v);
        return cx.type_error(format!("wrong argument type {c} (expected Nokogiri::XML::Node)"));
    }
    let n = cx.data_ref::<NodeRef>(v)?;
    Ok((n.doc, n.id))
}
fn is_node(cx: &Cx, v: Value) -> bool {
    cx.is_data::<NodeRef>(v) || cx.is_data::<Doc>(v)
}
/// Makes an object stand for a node.
fn bind(cx: &mut Cx, object: Value, doc: Value, id: Id) -> Result<()> {
    if cx.is_data::<NodeRef>(object) {
        let n = cx.data_mut::<NodeRef>(object)?;
        (n.doc, n.id) = (doc, id);
    } else {
        cx.data_init(object, NodeRef { doc, id })?;
    }
    let d = cx.data_mut::<Doc>(doc)?;
    if d.objects.len() <= id as usize {
        d.objects.resize(id as usize + 1, Value::NIL);
    }
    d.objects[id as usize] = object;
    Ok(())
}
fn decorate(cx: &mut Cx, doc: Value, object: Value) -> Result<()> {
    if cx.ivar_get(doc, Sym::intern("@decorators")).truthy() {
        cx.call(doc, Sym::intern("decorate"), &[object])?;
    }
    Ok(())
}
/// The object of a node.
fn wrap(cx: &mut Cx, doc: Value, id: Id) -> Result<Value> {
    if id == DOCUMENT {
        return Ok(doc);
    }
    let d = cx.data_ref::<Doc>(doc)?;
    if let Some(v) = d.objects.get(id as usize)
        && !v.is_nil()
    {
        return Ok(*v);
    }
    let kind = d.tree.kind(id);
    let class = class_of_kind(cx, kind)?;
    let object = cx.data(class, NodeRef { doc, id });
    bind(cx, object, doc, id)?;
    decorate(cx, doc, object)?;
    Ok(object)
}
fn wrap_or_nil(cx: &mut Cx, doc: Value, id: Id) -> Result<Value> {
    if id == NONE { Ok(Value::NIL) } else { wrap(cx, doc, id) }
}
/// The object of a namespace.
fn wrap_ns(cx: &mut Cx, doc: Value, id: u32) -> Result<Value> {
    if id == NONE {
        return Ok(Value::NIL);
    }
    let d = cx.data_ref::<Doc>(doc)?;
    if let Some(v) = d.namespaces.get(id as usize)
        && !v.is_nil()
    {
        return Ok(*v);
    }
    let class = known_class(cx, 12)?;
    let object = cx.data(class, NsRef { doc, id });
    cx.ivar_set(object, Sym::intern("@document"), doc)?;
    let d = cx.data_mut::<Doc>(doc)?;
    if d.namespaces.len() <= id as usize {
        d.namespaces.resize(id as usize + 1, Value::NIL);
    }
    d.namespaces[id as usize] = object;
    Ok(object)
}
/// A text argument without bytes that no tree can hold.
fn text(cx: &mut Cx, v: Value) -> Result<String> {
    let s = cx.to_str(v)?;
    let bytes = s.to_vec();
    if bytes.contains(&0) {
        return cx.arg_error("string contains null byte");
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}
fn text_or_none(cx: &mut Cx, v: Value) -> Result<Option<String>> {
    if v.is_nil() { Ok(None) } else { text(cx, v).map(Some) }
}
fn str_or_nil(cx: &Cx, s: Option<&str>) -> Value {
    s.map_or(Value::NIL, |s| cx.str(s))
}

/// Problems for Ruby: [domain, code, level, line, column, message, str1, str2].
fn problems(cx: &mut Cx, list: Vec<xml::Problem>) -> Value {
    let all = RootedVec::with_capacity(cx, list.len());
    let mut all = all;
    for p in list {
        let row = [
            Value::fixnum(p.domain as i64),
            Value::fixnum(p.code as i64),
            Value::fixnum(p.level as i64),
            Value::fixnum(p.line as i64),
            Value::fixnum(p.column as i64),
            cx.str(&p.message),
            str_or_nil(cx, p.str1.as_deref()),
            str_or_nil(cx, p.str2.as_deref()),
        ];
        let row = cx.array(&row);
        all.push(row);
    }
    cx.array(&all)
}

/// `require "nokogiri/nokogiri"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let nokogiri = cx.define_module(ids::OBJECT, "Nokogiri");
    let xml = cx.define_module(nokogiri, "XML");
    let sax = cx.define_module(xml, "SAX");
    let object = cx.define_class(xml, "Node", ids::OBJECT);
    cx.class_mut(object).alloc = Alloc::Data;
    cx.define_natives(object, &[node::METHODS, reparent::METHODS, query::METHODS]);
    let document = cx.define_class(xml, "Document", object);
    cx.class_mut(document).alloc = Alloc::Data;
    cx.define_natives(document, &[document::METHODS]);
    for (name, table) in [("NodeSet", set::METHODS), ("Namespace", node::namespace::METHODS)] {
        let class = cx.define_class(xml, name, ids::OBJECT);
        cx.class_mut(class).alloc = Alloc::Data;
        cx.define_natives(class, &[table]);
    }
    let events = cx.define_class(sax, "Events", ids::OBJECT);
    cx.class_mut(events).alloc = Alloc::Data;
    cx.define_natives(events, &[events::METHODS]);
    for program in ["nokogiri_nokogiri", "nokogiri_canonical", "nokogiri_events"] {
        cx.run_builtin(program)?;
    }
    Ok(())
}
