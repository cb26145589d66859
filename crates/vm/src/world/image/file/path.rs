//! What a node of a graph is, and how a program reaches it: for the messages of `save`.

use super::super::graph::Graph;
use crate::vm::FastMap;
use std::collections::VecDeque;
use zakuro_object::*;

/// ` (a File, reached from Foo::LOG)`. `n`: of a graph, or usize::MAX - n of the image's.
pub(super) fn place_of(image: &Graph, globals: &[(Sym, Value)], g: &Graph, n: usize) -> String {
    let (g, n) = if n > usize::MAX / 2 { (image, usize::MAX - n) } else { (g, n) };
    let names: FastMap<u32, Sym> = g.classes.iter().chain(&image.classes).filter_map(|d| Some((d.id.0, d.name?))).collect();
    let class_name = |id: ClassId| {
        let known = names.get(&id.0).map(|n| n.name().to_string());
        known.or_else(|| class::BOOT_CLASSES.iter().find(|c| c.0 == id).map(|c| c.1.to_string()))
    };
    let what = g.nodes.get(n).and_then(|node| {
        let shape = node.header.shape;
        let class = if shape < shape::BOOT_ROOTS {
            Some(ClassId(shape))
        } else {
            image.classes.iter().find(|d| d.root_shape == shape).map(|d| d.id)
        };
        class_name(class?)
    });
    let article = |name: &str| if name.starts_with(['A', 'E', 'I', 'O']) { "an" } else { "a" };
    let what = what.map_or("an object".to_string(), |name| format!("{} {name}", article(&name)));
    // Breadth first, from what has a name.
    let mut from: FastMap<usize, (Option<usize>, String)> = FastMap::default();
    let mut line = VecDeque::new();
    let mut reach = |v: Value, name: String, from: &mut FastMap<usize, (Option<usize>, String)>| {
        if let Some(to) = Graph::as_node(v)
            && !from.contains_key(&to)
        {
            from.insert(to, (None, name));
            line.push_back(to);
        }
    };
    if std::ptr::eq(g, image) {
        globals.iter().for_each(|(name, v)| reach(*v, name.to_string(), &mut from));
    } else {
        reach(g.root, "the block".into(), &mut from);
    }
    for d in &g.classes {
        let holder = class_name(d.id).unwrap_or_else(|| "#<Class>".into());
        for (name, e) in &d.consts {
            let name = if d.id == ids::OBJECT { name.to_string() } else { format!("{holder}::{name}") };
            reach(e.value, name, &mut from);
        }
        d.cvars.iter().chain(&d.ivars).for_each(|(name, v)| reach(*v, format!("{holder}.{name}"), &mut from));
        d.methods.iter().for_each(|(name, v)| reach(*v, format!("{holder}#{name}"), &mut from));
        reach(d.attached, holder.clone(), &mut from);
    }
    let generic: FastMap<usize, &[(Sym, Value)]> = g.generic.iter().map(|(n, list)| (*n, &list[..])).collect();
    while let Some(at) = line.pop_front() {
        if at == n {
            break;
        }
        let mut next = Vec::new();
        g.each_reference(at, &mut |v| next.extend(Graph::as_node(v)));
        next.extend(generic.get(&at).into_iter().flat_map(|list| list.iter()).filter_map(|(_, v)| Graph::as_node(*v)));
        for to in next {
            from.entry(to).or_insert_with(|| {
                line.push_back(to);
                (Some(at), String::new())
            });
        }
    }
    let mut at = Some(n);
    let mut root = None;
    let mut steps = 0;
    while let Some(n) = at {
        let Some((before, name)) = from.get(&n) else { break };
        (at, root) = (*before, Some(name.clone()));
        steps += usize::from(before.is_some());
    }
    match root.filter(|r| !r.is_empty()) {
        Some(r) if steps == 0 => format!(" ({what}: {r})"),
        Some(r) => format!(" ({what}, reached from {r})"),
        None => format!(" ({what})"),
    }
}
