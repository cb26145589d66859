//! Messages between VMs: packing a value into an envelope, opening it in another heap.
//!
//! One pass with an explicit work list (deep graphs don't recurse natively); sharing and cycles are kept; large String buffers travel by reference.
//! If anything can't be sent, a TypeError names the path to it and nothing is sent.
//! Rejected: Marshal (its byte stream is built and parsed again, and buffers are copied twice).

mod open;
mod pack;
mod region;

use num_bigint::BigInt;
use std::sync::Arc;
use zakuro_heap::{BufRef, Region};
use zakuro_object::*;

/// A value inside an envelope: immediate bits, or the number of a node.
#[derive(Clone, Copy)]
enum Item {
    Imm(u64),
    Node(u32),
}

/// A class as it travels. Numbers are unique in the process, so a receiver that has the number (from the boot image, or from an image of a VM that had
/// it) has the class; others look for the name.
#[derive(Clone)]
struct ClassRef {
    id: ClassId,
    name: Option<Arc<str>>,
}

enum Body {
    Float(f64),
    Big(Box<BigInt>),
    Bytes(Box<[u8]>, u8),
    Shared {
        buf: BufRef,
        offset: usize,
        len: usize,
        encoding: u8,
    },
    Array(Vec<Item>),
    /// An Array of immediates: buffer, byte offset, length.
    Values(BufRef, usize, usize),
    /// A cell of a region, which the message holds.
    Foreign(Region, u64),
    Hash {
        pairs: Vec<(Item, Item)>,
        default: Item,
        by_identity: bool,
    },
    Range {
        low: Item,
        high: Item,
        exclusive: bool,
    },
    Pair {
        kind: Kind,
        first: Item,
        second: Item,
    },
    Object {
        kind: Kind,
    },
    Class(ClassRef),
    Data(SendPayload),
}

struct Node {
    body: Body,
    /// Class of the object when it isn't the plain one of its kind.
    class: Option<ClassRef>,
    ivars: Vec<(Sym, Item)>,
    frozen: bool,
}

/// A message: owned by no heap.
pub struct Envelope {
    root: Item,
    nodes: Vec<Node>,
    bytes: usize,
    /// What travels beside the value (start messages).
    pub luggage: Option<Box<dyn std::any::Any + Send>>,
}

impl zakuro_channel::Weigh for Envelope {
    fn weight(&self) -> usize {
        self.bytes
    }
}

impl Envelope {
    /// Payload bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    /// An envelope that holds nil.
    pub fn nil() -> Envelope {
        Envelope::immediate(Value::NIL)
    }
    /// An envelope that holds a value that is no cell.
    pub fn immediate(v: Value) -> Envelope {
        debug_assert!(!v.is_cell());
        Envelope { root: Item::Imm(v.0), nodes: Vec::new(), bytes: 8, luggage: None }
    }
}

/// Content above this travels by reference.
const SHARE_FROM: usize = 256;
