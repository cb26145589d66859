//! Nokogiri::XML::NodeSet: nodes in the order in which they came, each once.

use super::*;
use std::collections::HashSet;
use zakuro_macros::ruby_class;

/// From here on a set looks its members up in a table.
const TABLE_FROM: usize = 16;

/// Payload of a NodeSet.
#[derive(Trace)]
struct Set {
    items: TracedVec,
    /// Keys of members, once there are many.
    #[untraced]
    keys: HashSet<(u8, i64)>,
}
impl Set {
    fn of(objects: &[Value]) -> Set {
        Set { items: TracedVec::from_slice(objects), keys: HashSet::new() }
    }
}
impl NativeData for Set {
    fn weight(&self) -> usize {
        self.items.bytes() + self.keys.capacity() * 24
    }
}

/// What tells a node or a namespace from all others.
fn key(cx: &mut Cx, v: Value) -> Result<(u8, i64)> {
    if cx.is_data::<NsRef>(v) {
        let n = cx.data_ref::<NsRef>(v)?;
        let (doc, id) = (n.doc, n.id);
        return Ok((1, (cx.data_ref::<Doc>(doc)?.serial << 32) | id as i64));
    }
    let (doc, id) = node(cx, v)?;
    Ok((0, (cx.data_ref::<Doc>(doc)?.serial << 32) | id as i64))
}
fn set(cx: &mut Cx, v: Value) -> Result<&mut Set> {
    if !cx.is_data::<Set>(v) {
        cx.data_init(v, Set::of(&[]))?;
    }
    cx.data_mut::<Set>(v)
}
fn is_set(cx: &mut Cx, v: Value) -> Result<bool> {
    let class = cx.class_named("Nokogiri::XML::NodeSet")?;
    Ok(cx.is_a(v, class))
}
fn other(cx: &mut Cx, v: Value) -> Result<RootedVec> {
    if !is_set(cx, v)? {
        return cx.arg_error("node_set must be a Nokogiri::XML::NodeSet");
    }
    copy(cx, v)
}
fn copy(cx: &mut Cx, v: Value) -> Result<RootedVec> {
    let n = set(cx, v)?.items.len();
    let mut all = RootedVec::with_capacity(cx, n);
    for i in 0..n {
        let Some(item) = set(cx, v)?.items.get(i).copied() else { break };
        all.push(item);
    }
    Ok(all)
}
fn index_of(cx: &mut Cx, this: Value, wanted: (u8, i64)) -> Result<Option<usize>> {
    let n = set(cx, this)?.items.len();
    for i in 0..n {
        let Some(v) = set(cx, this)?.items.get(i).copied() else { return Ok(None) };
        if key(cx, v)? == wanted {
            return Ok(Some(i));
        }
    }
    Ok(None)
}
fn has(cx: &mut Cx, this: Value, k: (u8, i64)) -> Result<bool> {
    let s = set(cx, this)?;
    if s.items.len() < TABLE_FROM {
        return Ok(index_of(cx, this, k)?.is_some());
    }
    if s.keys.len() != s.items.len() {
        // Nodes may have moved to other documents since: the table is made anew.
        let all = copy(cx, this)?;
        let mut keys = HashSet::with_capacity(all.len());
        for v in all.iter() {
            keys.insert(key(cx, *v)?);
        }
        set(cx, this)?.keys = keys;
    }
    Ok(set(cx, this)?.keys.contains(&k))
}
fn add(cx: &mut Cx, this: Value, v: Value) -> Result<()> {
    let k = key(cx, v)?;
    if has(cx, this, k)? {
        return Ok(());
    }
    let s = set(cx, this)?;
    s.items.push(v);
    if s.items.len() > TABLE_FROM {
        s.keys.insert(k);
    }
    cx.weigh_data(this);
    Ok(())
}

/// A NodeSet of objects, each of which is there once.
pub fn make(cx: &mut Cx, doc: Value, objects: &[Value]) -> Result<Value> {
    let class = cx.class_named("Nokogiri::XML::NodeSet")?;
    let v = cx.data(class, Set::of(objects));
    cx.ivar_set(v, Sym::intern("@document"), doc)?;
    decorate(cx, doc, v)?;
    Ok(v)
}
fn like(cx: &mut Cx, this: Value, objects: &[Value]) -> Result<Value> {
    let doc = cx.ivar_get(this, Sym::intern("@document"));
    if doc.is_nil() {
        let class = cx.class_named("Nokogiri::XML::NodeSet")?;
        return Ok(cx.data(class, Set { items: TracedVec::from_slice(objects), keys: HashSet::new() }));
    }
    make(cx, doc, objects)
}
/// The items of an evaluated set, for the query.
pub fn items(cx: &mut Cx, v: Value) -> Result<Option<RootedVec>> {
    if is_set(cx, v)? { copy(cx, v).map(Some) } else { Ok(None) }
}
fn slice_of(cx: &mut Cx, this: Value, from: i64, count: i64) -> Result<Value> {
    let all = copy(cx, this)?;
    let n = all.len() as i64;
    let from = if from < 0 { from + n } else { from };
    if from < 0 || from > n || count < 0 {
        return Ok(Value::NIL);
    }
    let to = from.saturating_add(count).min(n);
    like(cx, this, &all[from as usize..to as usize])
}
fn checked(cx: &mut Cx, v: Value) -> Result<()> {
    if is_node(cx, v) || cx.is_data::<NsRef>(v) {
        return Ok(());
    }
    cx.arg_error("node must be a Nokogiri::XML::Node or Nokogiri::XML::Namespace")
}

/// Methods of `Nokogiri::XML::NodeSet`.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    /// The number of nodes.
    #[method("length")]
    fn length(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(set(cx, this)?.items.len())
    }
    /// Adds a node if it is not there, and answers the set.
    #[method("push")]
    fn push(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        checked(cx, v)?;
        cx.check_frozen(this)?;
        add(cx, this, v)?;
        Ok(this)
    }
    /// Takes a node out, and answers it, or nil if it was not there.
    #[method("delete")]
    fn delete(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        checked(cx, v)?;
        cx.check_frozen(this)?;
        let k = key(cx, v)?;
        match index_of(cx, this, k)? {
            None => Ok(Value::NIL),
            Some(i) => {
                let s = set(cx, this)?;
                s.keys.remove(&k);
                s.items.remove(i);
                Ok(v)
            }
        }
    }
    /// Whether a node is there.
    #[method("include?")]
    fn includes(cx: &mut Cx, this: Value, v: Value) -> Result<bool> {
        checked(cx, v)?;
        let k = key(cx, v)?;
        has(cx, this, k)
    }
    /// An Array of the nodes.
    #[method("to_a")]
    fn to_a(cx: &mut Cx, this: Value) -> Result<Value> {
        let all = copy(cx, this)?;
        Ok(cx.array(&all))
    }
    /// The node at a place, or a set of those from a place on or in a Range; nil beyond.
    #[method("[]", "slice", min = 1, max = 2)]
    fn slice(cx: &mut Cx, this: Value, args: Rest) -> Result<Value> {
        let first = args[0];
        if args.len() == 2 {
            let (from, count) = (cx.to_i64(first)?, cx.to_i64(args[1])?);
            return slice_of(cx, this, from, count);
        }
        if first.is_kind(zakuro_vm::Kind::Range) {
            let all = copy(cx, this)?;
            let all = cx.array(&all);
            let part = cx.call(all, Sym::intern("[]"), &[first])?;
            return match Ref::<ArrayCell>::from_value(part) {
                None => Ok(Value::NIL),
                Some(part) => {
                    let part = RootedVec::of(cx, part);
                    like(cx, this, &part)
                }
            };
        }
        let i = cx.to_i64(first)?;
        let s = set(cx, this)?;
        let at = if i < 0 { i + s.items.len() as i64 } else { i };
        Ok(usize::try_from(at).ok().and_then(|at| s.items.get(at).copied()).unwrap_or(Value::NIL))
    }
    /// The nodes of both sets.
    #[method("|")]
    fn union(cx: &mut Cx, this: Value, more: Value) -> Result<Value> {
        let (a, b) = (copy(cx, this)?, other(cx, more)?);
        let result = like(cx, this, &a)?;
        for (i, v) in b.iter().enumerate() {
            add(cx, result, *v)?;
            zakuro_base::progress::step(i, cx)?;
        }
        Ok(result)
    }
    /// The nodes that both sets have.
    #[method("&")]
    fn intersection(cx: &mut Cx, this: Value, more: Value) -> Result<Value> {
        sifted(cx, this, more, true)
    }
    /// The nodes that the other set has not.
    #[method("-")]
    fn minus(cx: &mut Cx, this: Value, more: Value) -> Result<Value> {
        sifted(cx, this, more, false)
    }
    fn sifted(cx: &mut Cx, this: Value, more: Value, keep: bool) -> Result<Value> {
        let (a, _) = (copy(cx, this)?, other(cx, more)?);
        let mut kept = RootedVec::new(cx);
        for (i, v) in a.iter().enumerate() {
            let k = key(cx, *v)?;
            if has(cx, more, k)? == keep {
                kept.push(*v);
            }
            zakuro_base::progress::step(i, cx)?;
        }
        like(cx, this, &kept)
    }
    /// Takes all nodes out of their trees, and answers the set.
    #[method("unlink")]
    fn unlink(cx: &mut Cx, this: Value) -> Result<Value> {
        let all = copy(cx, this)?;
        for (i, v) in all.iter().enumerate() {
            if cx.is_data::<NodeRef>(*v) {
                let (doc, id) = node(cx, *v)?;
                tree(cx, doc)?.unlink(id);
            }
            zakuro_base::progress::step(i, cx)?;
        }
        Ok(this)
    }
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, from: Value) -> Result<Value> {
        let all = other(cx, from)?;
        cx.data_init(this, Set::of(&all))?;
        let doc = cx.ivar_get(this, Sym::intern("@document"));
        if !doc.is_nil() {
            decorate(cx, doc, this)?;
        }
        Ok(this)
    }
}
pub(super) use native::METHODS;
