//! Messages between VMs: packing a value into an envelope, opening it in another heap.
//!
//! A message is flat: one [`Head`] per object in the order of discovery (breadth first), and three streams beside them that are read in that
//! order, too: words (what objects refer to), bytes (contents of small Strings) and odd parts (shared buffers, payloads, Codes). So neither side makes
//! an allocation per object, and both walk memory forwards. A reference is the number of a head in a [`Value`] with a tag of its own.
//! Deep graphs don't recurse natively; sharing and cycles are kept; large String buffers travel by reference. What is small and plain travels without a
//! graph, as a few bytes in the envelope itself ([`flat`]); so do a lone buffer and a lone reference into a region ([`region`]).
//!
//! Invariants
//! - An envelope refers to no heap: cells of the boot image are the only addresses in it (they are in every VM, for ever).
//! - If anything can't be sent, a TypeError names the path to it and nothing is sent, nothing moved.
//! - What an envelope holds (buffers, descriptors, handles) is freed with it, opened or not.
//!
//! Rejected: Marshal (its byte stream is built and parsed again, and buffers are copied twice); a node with vectors of its own per object (four times
//! slower: malloc on one core, free on the other); a hash table of the objects seen (half of the packing time; see pack.rs).

mod flat;
mod moved;
mod open;
mod pack;
mod procs;
mod region;
mod unsendable;

pub use moved::Moving;
pub use procs::OuterUse;

use num_bigint::BigInt;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::Arc;
use zakuro_base::Sym;
use zakuro_bytecode::Code;
use zakuro_heap::{BufRef, Region};
use zakuro_object::*;

/// A class as it travels. Numbers are unique in the process, so a receiver that has the number (from the boot image, or from an image of a VM that had
/// it) has the class; others look for the name.
#[derive(Clone, Copy, PartialEq)]
struct ClassRef {
    id: ClassId,
    name: Option<Sym>,
    /// Not the class of this name, but its singleton class.
    singleton: bool,
}

/// Layout of objects whose shape the receiver may not have: class, and names of the variables in order.
struct ShapeRow {
    id: ShapeId,
    class: ClassRef,
    names: Vec<Sym>,
    /// What the sender's class makes: the receiver's must make the same.
    alloc: Alloc,
    /// Members of a Struct or Data class.
    members: Option<Vec<Sym>>,
}

/// An object of the message.
///
/// `header`: kind and lasting flags of the original; `shape` below [`shape::FIRST_DYNAMIC`] is a shape of the boot image, above it an
/// index into the table of shape rows. What `len` means, and which words follow:
///
/// | kind | len | words |
/// |---|---|---|
/// | Float | bits of the number | |
/// | String | bytes | ([`OUT`]: content is a shared buffer) |
/// | Array | elements | elements ([`OUT`]: none, they are immediates in a shared buffer) |
/// | Hash | pairs | default, then hash code, key, value of each |
/// | Object, Exception | variables | variables |
/// | Range, Rational, Complex | | both parts |
/// | Class | class row | |
/// | Proc | Code row, or a function | environment, self, method, extra |
/// | Env | slots | parent, slots |
/// | Cref | | class, parent, definee, refinements |
/// | Method | | scope, data |
/// | MethodObj | both names | receiver, class, owner |
/// | Data | values of the payload | values |
/// | Free | [`Special`] | as told there |
///
/// With HAS_IVARS a count and that many pairs (name, value) follow.
#[derive(Clone, Copy)]
struct Head {
    header: Header,
    len: usize,
}

/// Flag in a String's or Array's head.
const OUT: u8 = flags::USER1;
/// Flags in a Hash's head (beside KEYWORDS): the default is a Proc; keys are compared by identity.
const DEFAULT_PROC: u8 = flags::USER2;
const BY_IDENTITY: u16 = 1;

/// Objects that are not copied cell by cell; `aux` of a head whose kind is Free.
#[derive(Clone, Copy, PartialEq)]
#[repr(u16)]
enum Special {
    /// The receiver's main object.
    Main = 0,
    /// The receiver's ENV.
    Env = 1,
    /// The receiver's ARGF.
    Argf = 2,
    /// What `marshal_dump` returned (a word), for a new object's `marshal_load`. `len`: class row.
    Dumped = 3,
    /// What `_dump` returned (`len` bytes, encoding in the next word, class row in the one after), for the class's `_load`.
    DumpedString = 4,
    /// A cell of a region ([`Part::Foreign`]).
    Foreign = 5,
    /// A cell of the boot image (a word).
    Boot = 6,
}

impl Special {
    fn of(aux: u16) -> Special {
        use Special::*;
        [Main, Env, Argf, Dumped, DumpedString, Foreign, Boot][aux as usize % 7]
    }
}

/// What needs more than words.
enum Part {
    Buffer {
        buf: BufRef,
        offset: usize,
    },
    Big(Box<BigInt>),
    Copy(SendPayload),
    Build(Unpack),
    /// A cell of a region, which the message holds. Its bytes are weighed once per message.
    Foreign {
        region: Region,
        cell: u64,
        weight: usize,
    },
    Method {
        name: Sym,
        called: Sym,
        owner: usize,
        kind: MethodKind,
        visibility: Visibility,
        body: MethodBody,
    },
}

enum MethodBody {
    Code(Arc<Code>),
    /// A static row, or nothing.
    Native(usize),
}

/// A block's Code and those around it.
struct CodeRow {
    code: Arc<Code>,
    parent: Option<usize>,
}

#[derive(Default)]
struct Graph {
    heads: Vec<Head>,
    words: UntracedVec,
    bytes: Vec<u8>,
    parts: Vec<Part>,
    shapes: Vec<ShapeRow>,
    classes: Vec<ClassRef>,
    codes: Vec<CodeRow>,
    /// Channel handles are among the parts.
    carries: bool,
}

/// A message: owned by no heap.
///
/// Always initialised. A message is moved half a dozen times on its way, into Options and other enums that would make use of the form's tag: then
/// one move writes the tag and the rest apart, the next reads across both, and waits until the processor has stored them, which took
/// half of a receiver's time. A MaybeUninit is moved as a whole.
pub struct Envelope(MaybeUninit<Form>);

impl Drop for Envelope {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: initialised, and not used again.
        unsafe { self.0.assume_init_drop() }
    }
}

/// Small enough to be moved about, large enough for what is sent most.
const _: () = assert!(size_of::<Envelope>() == 32);

enum Form {
    /// No cell.
    Value(Value),
    /// See [`flat`].
    Short(flat::Short),
    Flat(Box<[u8]>),
    /// A cell of a region.
    Region(Region, u64),
    /// A plain String, or an Array of immediates. The word: [`BUFFER_OFFSET`] and the others.
    Buffer(BufRef, u64, usize),
    Graph(Box<Boxed>),
    /// A message and what travels beside its value (start messages).
    WithAttachment(Box<(Envelope, Attachment)>),
}

/// See [`Envelope::attach`].
pub type Attachment = Box<dyn std::any::Any + Send>;

struct Boxed {
    root: Value,
    graph: Graph,
    /// Its weight.
    bytes: usize,
}

/// nil.
impl Default for Form {
    fn default() -> Form {
        Form::Value(Value::NIL)
    }
}

// SAFETY: a value in an envelope is no cell of a heap (see Graph).
unsafe impl Send for Form {}

impl Envelope {
    #[inline(always)]
    fn new(form: Form) -> Envelope {
        Envelope(MaybeUninit::new(form))
    }
    #[inline(always)]
    fn form(&self) -> &Form {
        // SAFETY: see the type.
        unsafe { self.0.assume_init_ref() }
    }
    #[inline(always)]
    fn into_form(self) -> Form {
        let envelope = ManuallyDrop::new(self);
        // SAFETY: see the type; it is taken out once, since the envelope is not dropped.
        unsafe { envelope.0.assume_init_read() }
    }
    /// Bytes that the message keeps: its streams, and the payloads and buffers in it.
    #[inline]
    pub fn bytes(&self) -> usize {
        match self.form() {
            Form::Value(_) => 8,
            Form::Short(_) => size_of::<Envelope>(),
            Form::Flat(bytes) => 8 + bytes.len(),
            Form::Region(region, _) => size_of::<Envelope>() + region.bytes(),
            Form::Buffer(buf, ..) => size_of::<Envelope>() + buf.cap(),
            Form::Graph(boxed) => boxed.bytes,
            Form::WithAttachment(both) => both.0.bytes(),
        }
    }
    /// Shows the buffers in it.
    pub(super) fn each_buffer(&self, visit: &mut dyn FnMut(&BufRef)) {
        if let Form::Buffer(buf, ..) = self.form() {
            visit(buf);
        }
        for part in self.graph().iter().flat_map(|graph| &graph.parts) {
            if let Part::Buffer { buf, .. } = part {
                visit(buf);
            }
        }
    }
    fn graph(&self) -> Option<&Graph> {
        match self.form() {
            Form::Graph(boxed) => Some(&boxed.graph),
            Form::WithAttachment(both) => both.0.graph(),
            _ => None,
        }
    }
    /// Whether a channel handle is among the payloads.
    #[inline]
    pub fn has_channels(&self) -> bool {
        self.graph().is_some_and(|graph| graph.carries)
    }
    /// Shows the native payloads that travel as such (handles of channels and VMs, regexps, times).
    pub fn each_payload(&self, visit: &mut dyn FnMut(&dyn NativeData)) {
        for part in self.graph().iter().flat_map(|graph| &graph.parts) {
            if let Part::Copy(payload) = part {
                visit(&**payload);
            }
        }
    }
    /// An envelope that holds nil.
    pub fn nil() -> Envelope {
        Envelope::new(Form::default())
    }
    /// An envelope that holds a value that is no cell.
    #[inline]
    pub fn immediate(v: Value) -> Envelope {
        debug_assert!(!v.is_cell());
        Envelope::new(Form::Value(v))
    }
    #[inline]
    fn short(bytes: flat::Short) -> Envelope {
        Envelope::new(Form::Short(bytes))
    }
    fn flat(bytes: Box<[u8]>) -> Envelope {
        Envelope::new(Form::Flat(bytes))
    }
    #[inline]
    fn region(region: Region, cell: u64) -> Envelope {
        Envelope::new(Form::Region(region, cell))
    }
    /// What `v` shows of a buffer, `v` being a plain String or Array. In the word with its offset travels what else there is to tell.
    #[inline]
    fn buffer(v: Value, buf: BufRef, offset: usize, len: usize) -> Option<Envelope> {
        if offset as u64 > BUFFER_OFFSET {
            return None;
        }
        let mut what = offset as u64;
        match Ref::<StringCell>::from_value(v) {
            Some(s) => what |= (s.encoding() as u64) << BUFFER_ENCODING | (s.code_range() as u64) << BUFFER_RANGE,
            None => what |= BUFFER_ARRAY,
        }
        if v.settled_flags() & flags::FROZEN != 0 {
            what |= BUFFER_FROZEN;
        }
        Some(Envelope::new(Form::Buffer(buf, what, len)))
    }
    /// Where its content stands, if others may share it.
    pub fn shared_address(&self) -> Option<usize> {
        match self.form() {
            Form::Region(_, cell) => Some(*cell as usize),
            Form::Buffer(buf, ..) => Some(buf.address()),
            Form::WithAttachment(both) => both.0.shared_address(),
            _ => None,
        }
    }
    /// Something that travels beside the value.
    pub fn attach(&mut self, attachment: Attachment) {
        let message = std::mem::replace(self, Envelope::nil());
        *self = Envelope::new(Form::WithAttachment(Box::new((message, attachment))));
    }
    /// What `attach` added last.
    pub fn attachment(&self) -> Option<&(dyn std::any::Any + Send)> {
        match self.form() {
            Form::WithAttachment(both) => Some(&*both.1),
            _ => None,
        }
    }
    /// Takes out what `attach` added.
    pub fn detach(&mut self) -> Option<Attachment> {
        match std::mem::replace(self, Envelope::nil()).into_form() {
            Form::WithAttachment(both) => {
                let (message, attachment) = *both;
                *self = message;
                Some(attachment)
            }
            form => {
                *self = Envelope::new(form);
                None
            }
        }
    }
}

// SAFETY: the Values in a Graph are immediates, tagged numbers and cells of the boot image, which every VM reads and none writes. Parts are Send.
unsafe impl Send for Graph {}

impl Graph {
    fn weight(&self) -> usize {
        let parts = self.parts.iter().map(|p| match p {
            Part::Buffer { buf, .. } => buf.cap(),
            Part::Big(b) => b.bits() as usize / 8 + 32,
            Part::Copy(p) => std::mem::size_of_val(&**p) + p.weight(),
            Part::Foreign { weight, .. } => *weight,
            _ => 64,
        });
        // Itself, and what malloc adds to its lists.
        let frame = size_of::<Boxed>() + 160;
        frame
            + self.heads.len() * size_of::<Head>()
            + self.words.len() * 8
            + self.bytes.len()
            + parts.sum::<usize>()
            + self.shapes.len() * 64
    }
}

/// The parts of the word beside a lone buffer: its low bits are the offset (addresses have no more), then come a String's encoding and code range.
const BUFFER_OFFSET: u64 = (1 << BUFFER_ENCODING) - 1;
const BUFFER_ENCODING: u32 = 48;
const BUFFER_RANGE: u32 = 56;
const BUFFER_ARRAY: u64 = 1 << 58;
const BUFFER_FROZEN: u64 = 1 << 59;

const NODE_TAG: u64 = 0x44;

/// The number of a head as a value. The tag is one that no Ruby value has.
#[inline(always)]
fn node(n: usize) -> Value {
    // SAFETY: no cell's.
    unsafe { Value::from_bits((n as u64) << 8 | NODE_TAG) }
}
#[inline(always)]
fn as_node(v: Value) -> Option<usize> {
    (v.bits() & 0xff == NODE_TAG).then_some((v.bits() >> 8) as usize)
}

/// Content from this size on travels by reference.
const SHARE_FROM: usize = 256;
