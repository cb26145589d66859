//! What the VM takes for granted about the cells that others refer to.

use super::super::graph::{Body, Graph};
use zakuro_object::*;

/// Whether each reference leads to the kind of cell that the VM takes for granted there.
pub(super) fn check(g: &Graph) -> Option<()> {
    let kind = |v: Value| match Graph::as_node(v) {
        Some(n) if matches!(g.nodes[n].body, Body::Nil) => None,
        Some(n) => Some(Kind::from_u8(g.nodes[n].header.kind)),
        None if v.is_cell() && v.bits() != 0 => Some(v.kind_of_cell()),
        None => None,
    };
    let is = |v: Value, wanted: Kind| v.is_nil() || kind(v) == Some(wanted);
    for node in &g.nodes {
        let fits = match &node.body {
            Body::Words(s) => {
                let w = &g.words[s.start..s.start + s.len];
                match Kind::from_u8(node.header.kind) {
                    Kind::Env => is(w[0], Kind::Env),
                    Kind::Cref => kind(w[0]) == Some(Kind::Class) && is(w[1], Kind::Cref),
                    Kind::MethodObj => kind(w[1]) == Some(Kind::Method) && is(w[2], Kind::Class),
                    Kind::Rational | Kind::Complex => w.iter().all(|v| !v.is_nil()),
                    _ => true,
                }
            }
            Body::Proc(_, at) => {
                let w = &g.words[*at..*at + 4];
                is(w[0], Kind::Env) && is(w[2], Kind::Method)
            }
            Body::Method { words, .. } => {
                let (cref, data) = (g.words[*words], g.words[*words + 1]);
                let (reader, writer) = (MethodKind::AttrReader as u16, MethodKind::AttrWriter as u16);
                let data_fits = match node.header.aux >> 8 {
                    k if k == reader || k == writer => data.is_sym(),
                    k if k == MethodKind::Proc as u16 => kind(data) == Some(Kind::Proc),
                    k if k == MethodKind::Missing as u16 => is(data, Kind::Array),
                    _ => true,
                };
                // Those of attributes have no scope: where they were defined stands there.
                let is_attribute = [reader, writer].contains(&(node.header.aux >> 8));
                is(cref, if is_attribute { Kind::Array } else { Kind::Cref }) && data_fits
            }
            Body::Hash(_, default, is_proc) => !is_proc || kind(*default) == Some(Kind::Proc),
            _ => true,
        };
        if !fits {
            return None;
        }
    }
    for d in &g.classes {
        let methods = d.methods.values().all(|v| kind(*v) == Some(Kind::Method));
        let autoloads = d.consts.values().all(|e| e.value != Value::UNDEF || !e.autoload.is_nil());
        if !methods || !autoloads {
            return None;
        }
    }
    Some(())
}
