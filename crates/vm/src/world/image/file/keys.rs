//! Codes of the keys of Hashes, which go by the process's secret.

use super::super::graph::{Body, Graph};
use crate::equality::{hash_bytes, string_code};
use crate::vm::FastMap;
use zakuro_base::HashSeed;
use zakuro_object::*;

/// Keys that a list has room for at first.
const AT_ONCE: usize = 1024;

/// Gives the entries of each Hash their codes; where only a method knows them, the VM does that later.
pub(super) fn codes_of_keys(g: &mut Graph, own_classes: bool) {
    let identities: FastMap<usize, u64> = g.identities.iter().copied().collect();
    let mut stale = Vec::new();
    for n in 0..g.nodes.len() {
        let Body::Hash(Some(table), ..) = &mut g.nodes[n].body else { continue };
        let mut table = std::mem::take(&mut **table);
        let mut codes = Vec::with_capacity(table.len().min(AT_ONCE));
        let mut known = true;
        for e in table.iter() {
            let code = code_of(g, e.key, table.by_identity, &identities, own_classes);
            known &= code.is_some();
            codes.push(code.unwrap_or(0));
        }
        codes.into_iter().enumerate().for_each(|(i, code)| table.set_hash(i, code));
        table.index();
        if !known {
            stale.push(n);
        }
        if let Body::Hash(Some(place), ..) = &mut g.nodes[n].body {
            **place = table;
        }
    }
    g.stale = stale;
}
/// As `Cx::quick_hash` and `identity_hash` will have it.
fn code_of(g: &Graph, key: Value, by_identity: bool, identities: &FastMap<usize, u64>, own_classes: bool) -> Option<u64> {
    let seed = HashSeed::of_process();
    let of_class = |id: ClassId| seed.word((id.0 as u64) << 8 | 1);
    let of_float = |f: f64| if f != 0.0 { Some(seed.word(f.to_bits())) } else { Value::flonum(0.0).map(|z| seed.word(z.bits())) };
    let Some(n) = Graph::as_node(key) else {
        if !key.is_cell() {
            return Some(seed.word(key.bits()));
        }
        return match key.kind_of_cell() {
            Kind::Class if by_identity || !own_classes => Some(of_class(Ref::<ClassCell>::of(key).id)),
            Kind::Class => None,
            _ if by_identity => None,
            Kind::Float => of_float(key.as_float()?),
            Kind::Bignum => Some(hash_bytes(&Ref::<BignumCell>::of(key).value.to_signed_bytes_le())),
            _ => None,
        };
    };
    let node = &g.nodes[n];
    match &node.body {
        Body::Class(id) if by_identity || !own_classes => Some(of_class(*id)),
        Body::Nil => Some(seed.word(Value::NIL.bits())),
        _ if by_identity => identities.get(&n).map(|i| seed.word(*i)),
        Body::Float(f) => of_float(*f),
        Body::Big(b) => Some(hash_bytes(&b.to_signed_bytes_le())),
        Body::Inline(len, bytes) => Some(string_code(seed, &bytes[..*len as usize], node.header.aux as u8)),
        Body::Shared(buf, at, len) if node.header.kind == Kind::String as u8 => {
            // SAFETY: the String's bytes, in a buffer that the body holds.
            Some(string_code(seed, unsafe { std::slice::from_raw_parts(buf.data().add(*at), *len) }, node.header.aux as u8))
        }
        _ => None,
    }
}
