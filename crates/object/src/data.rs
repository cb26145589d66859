//! Data objects: cells around a Rust value, and what such a payload tells of itself.

use crate::cells::{Kind, alloc_finalized_cell};
use crate::lists::Gathered;
use crate::saved::{Blueprint, Rebuild, Saved};
use crate::value::{Cell, Ref, Value};
use std::any::{Any, TypeId};
use zakuro_heap::{Header, Heap, Marker, Owned, flags};

/// How what a payload puts into an image may change (see [`NativeData::change_tracking`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeTracking {
    /// Never: an image stands whatever happens to the payload.
    Independent,
    /// Through `Cx::data_mut` and `data_init` alone.
    Tracked,
    /// At any time: each VM gets it as it is when the VM is made.
    Untracked,
}

/// Whether a payload is of a type. An id that `Any` answers comes back in two halves through memory, and whoever loads it as a whole waits for both stores.
pub trait Typed: Any {
    fn is_type(&self, id: &TypeId) -> bool;
}
impl<T: Any> Typed for T {
    #[inline]
    fn is_type(&self, id: &TypeId) -> bool {
        *id == TypeId::of::<T>()
    }
}

/// Native payload of a DataCell.
pub trait NativeData: Typed + crate::trace::Trace {
    /// Calls `f` with the values whose names the program may have seen nowhere else: what others put in (the items of a queue).
    fn each_value(&self, _f: &mut dyn FnMut(Value)) {}
    /// Whether `trace` may ever mark anything. If so it is called by each collection while the object lives: payloads are written to without telling.
    fn refers(&self) -> bool {
        true
    }
    /// Name of the type.
    fn type_name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
    /// malloc'ed bytes beside the box itself, for accounting at creation.
    fn weight(&self) -> usize {
        0
    }
    /// Bytes of which it is made up, for those who ask (`ObjectSpace.memsize_of`): also what is counted elsewhere.
    fn held(&self) -> usize {
        self.weight()
    }
    /// How much of what it weighs is one block, if that may be large ([`Heap::add_watched`]): the allocator counts that for a VM with a limit, too.
    fn block(&self) -> usize {
        0
    }
    /// Bytes that its end frees, about, of those that are counted elsewhere (`zakuro_vm::foreign_memory`): so that what is dead is collected in time.
    fn pressure(&self) -> usize {
        0
    }
    /// How what `snapshot` keeps may change.
    fn change_tracking(&self) -> ChangeTracking {
        ChangeTracking::Tracked
    }
    /// A copy for another VM, when the payload holds no Ruby value (channel, regexp, time). None: can't be sent.
    fn send_copy(&self) -> Option<SendPayload> {
        None
    }
    /// How the payload travels when a plain copy won't do: Ruby values that it holds are appended to `values`, their copies are what the function
    /// gets in the receiver. What the parcel holds (descriptors) is given back when it is dropped unopened. None: can't be sent.
    fn parcel(&self, _values: &mut Gathered) -> Option<Unpack> {
        None
    }
    /// Copies stand for the same thing (a channel): moving one leaves the original usable.
    fn is_handle(&self) -> bool {
        false
    }
    /// How to make the payload again in a VM that is spawned from this one's program state. The Ruby values that it holds are appended to
    /// `values`; the function gets their copies, in that order. None: the copy of the object has no payload.
    fn snapshot(&self, values: &mut Gathered) -> Option<Rebuild> {
        let _ = values;
        Some(std::sync::Arc::new(Copied(std::sync::Mutex::new(self.send_copy()?))))
    }
    /// Without a `snapshot`: the copy of the object is what fork(2) leaves of it (a dead fiber), which a program reckons with. So it may stand in an image in a file.
    fn ends_with_vm(&self) -> bool {
        false
    }
    /// Writes a payload that `send_copy` copies to an image in a file; gives the name of its loader. None: it only means something in this process.
    fn save(&self, _out: &mut Saved) -> Option<&'static str> {
        None
    }
}

/// Makes copies of a payload without values.
struct Copied(std::sync::Mutex<SendPayload>);
impl Blueprint for Copied {
    fn make(&self, _: &mut dyn Any, _: &[Value]) -> Option<Box<dyn NativeData>> {
        let copy = self.0.lock().unwrap_or_else(|e| e.into_inner()).send_copy()?;
        Some(copy as Box<dyn NativeData>)
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).save(out)
    }
}

/// What comes out of a parcel.
pub enum Unpacked {
    Payload(Box<dyn NativeData>),
    /// An object that the receiver has already. Only of parcels without values.
    Object(Value),
}

/// Makes a payload in the receiver of a message (see [`NativeData::parcel`]): gets the VM and the values.
pub type Unpack = Box<dyn FnOnce(&mut dyn Any, &[Value]) -> Option<Unpacked> + Send>;

/// Payload of a data object on its way to another VM.
pub type SendPayload = Box<dyn NativeData + Send>;

/// An object whose state is a Rust value: IO, Time, Regexp, MatchData, Random, channels...
#[repr(C)]
pub struct DataCell {
    pub header: Header,
    /// What the heap was told of the payload.
    told: Told,
    payload: Option<Box<dyn NativeData>>,
}
impl Cell for DataCell {
    const KIND: Kind = Kind::Data;
}
/// `aux` of what [`DataCell::keep_private`] was said of.
const PRIVATE: u16 = 1;

/// Bytes that a payload owns, and above them how many pieces of 64 KiB its one large block has: both in a word.
#[derive(Clone, Copy, Default)]
struct Told(u64);

impl Told {
    const BITS: u32 = 40;
    const PIECE: u32 = 16;

    fn of(payload: Option<&dyn NativeData>) -> Told {
        let Some(p) = payload else { return Told::default() };
        Told::new(p.block(), std::mem::size_of_val(p) + p.weight() + BOX)
    }
    #[inline]
    fn new(block: usize, bytes: usize) -> Told {
        let most = (1 << Told::BITS) - 1;
        let pieces = ((block as u64).min(most)) >> Told::PIECE;
        Told(pieces << Told::BITS | (bytes as u64).min(most))
    }
    fn owned(self) -> Owned {
        Owned { bytes: (self.0 & ((1 << Told::BITS) - 1)) as usize, block: (self.0 >> Told::BITS << Told::PIECE) as usize }
    }
}

/// About what malloc adds to a payload's box.
const BOX: usize = 16;

impl DataCell {
    pub fn make(heap: &Heap, shape: u32, payload: Option<Box<dyn NativeData>>) -> Ref<DataCell> {
        let (told, pressure) = payload.as_deref().map_or_else(Default::default, |p| (Told::of(Some(p)), p.pressure()));
        DataCell::make_told(heap, shape, payload, told, pressure)
    }
    /// The same of a payload whose type is known here: what it says of itself is asked without a table of methods.
    #[inline]
    pub fn make_of<T: NativeData>(heap: &Heap, shape: u32, payload: T) -> Ref<DataCell> {
        let told = Told::new(payload.block(), size_of::<T>() + payload.weight() + BOX);
        let pressure = payload.pressure();
        DataCell::make_told(heap, shape, Some(Box::new(payload)), told, pressure)
    }
    #[inline]
    fn make_told(heap: &Heap, shape: u32, payload: Option<Box<dyn NativeData>>, told: Told, pressure: usize) -> Ref<DataCell> {
        if payload.is_some() {
            heap.add_payload(told.owned().bytes);
            heap.add_watched(told.owned().block);
            heap.add_pressure(pressure);
        }
        alloc_finalized_cell(heap, DataCell { header: Header { shape, kind: Kind::Data as u8, flags: 0, aux: 0 }, told, payload })
    }
    /// Only a variable of the VM refers to it: what it holds may be replaced, until somebody is shown it.
    pub fn keep_private(this: Ref<DataCell>) {
        this.cell().header.aux = PRIVATE;
    }
    pub fn is_private(&self) -> bool {
        self.header.aux == PRIVATE
    }
    /// The program gets to see it, if it is one.
    #[inline]
    pub fn show(v: Value) {
        if let Some(d) = Ref::<DataCell>::from_value(v)
            && d.is_private()
        {
            d.cell().header.aux = 0;
        }
    }
    /// The payload when it is set and of type T.
    #[inline]
    pub fn get<T: NativeData>(&self) -> Option<&T> {
        let p = self.payload.as_deref()?;
        // SAFETY: it is a T. (`Typed` is implemented for all types at once, as above.)
        (*p).is_type(&TypeId::of::<T>()).then(|| unsafe { &*std::ptr::from_ref(p).cast::<T>() })
    }
    /// The same for changing.
    ///
    /// # Safety
    /// It is looked at for as long as nothing else looks at the payload, replaces it, collects or runs Ruby.
    #[inline]
    pub unsafe fn get_mut<'a, T: NativeData>(this: Ref<DataCell>) -> Option<&'a mut T> {
        let p = this.cell().payload.as_deref_mut()?;
        // SAFETY: as in `get`.
        (*p).is_type(&TypeId::of::<T>()).then(|| unsafe { &mut *std::ptr::from_mut(p).cast::<T>() })
    }
    /// The same without a look at the type.
    ///
    /// # Safety
    /// As `get_mut`; the payload, if set, is a T.
    #[inline]
    pub unsafe fn get_known<'a, T: NativeData>(this: Ref<DataCell>) -> Option<&'a mut T> {
        let p: &mut dyn NativeData = this.cell().payload.as_deref_mut()?;
        debug_assert!((p as &dyn Any).is::<T>());
        // SAFETY: the caller's promise.
        Some(unsafe { &mut *(p as *mut dyn NativeData as *mut T) })
    }
    /// See [`NativeData::each_value`].
    pub fn each_value(&self, f: &mut dyn FnMut(Value)) {
        if let Some(p) = &self.payload {
            p.each_value(f);
        }
    }
    pub fn is_set(&self) -> bool {
        self.payload.is_some()
    }
    pub fn change_tracking(&self) -> ChangeTracking {
        self.payload.as_deref().map_or(ChangeTracking::Tracked, |p| p.change_tracking())
    }
    pub fn send_copy(&self) -> Option<SendPayload> {
        self.payload.as_deref()?.send_copy()
    }
    pub fn parcel(&self, values: &mut Gathered) -> Option<Unpack> {
        self.payload.as_deref()?.parcel(values)
    }
    pub fn is_handle(&self) -> bool {
        self.payload.as_deref().is_some_and(|p| p.is_handle())
    }
    pub fn snapshot(&self, values: &mut Gathered) -> Option<Rebuild> {
        self.payload.as_deref()?.snapshot(values)
    }
    /// Name of the payload's type, when a spawned VM's copy lacks what the program may rely on.
    pub fn loses(&self) -> Option<&'static str> {
        self.payload.as_deref().filter(|p| !p.ends_with_vm()).map(|p| p.type_name())
    }
    pub fn set(this: Ref<DataCell>, heap: &mut Heap, payload: Box<dyn NativeData>) {
        if this.header.flags & flags::OLD != 0 {
            // SAFETY: a live cell of this heap. What it held referred to nothing.
            unsafe { zakuro_heap::remember(this.as_ptr().cast()) }
        }
        heap.add_pressure(payload.pressure());
        this.cell().payload = Some(payload);
        DataCell::weigh(this, heap);
    }
    /// Tells the heap what the payload takes now. Whoever lets one grow by much says so; collections find the rest.
    pub fn weigh(this: Ref<DataCell>, heap: &Heap) {
        let told = Told::of(this.payload.as_deref());
        let (before, now) = (std::mem::replace(&mut this.cell().told, told).owned(), told.owned());
        if now.bytes > before.bytes {
            heap.add_payload(now.bytes - before.bytes)
        } else {
            heap.sub_payload(before.bytes - now.bytes)
        }
        heap.add_watched(now.block);
        heap.sub_watched(before.block);
    }
    pub fn type_id(&self) -> Option<TypeId> {
        self.payload.as_deref().map(|p| (p as &dyn Any).type_id())
    }
    /// Marks what the payload holds; returns whether it, or one set later, may hold something else by the next collection.
    pub(crate) fn trace_payload(&mut self, m: &mut Marker<'_>) -> bool {
        let Some(p) = &self.payload else { return true };
        p.trace(m);
        if !m.is_check() {
            let told = Told::of(Some(&**p));
            m.owns(self.told.owned(), told.owned());
            self.told = told;
        }
        p.refers()
    }
    /// Bytes of the payload.
    pub(crate) fn owned(&self) -> usize {
        self.payload.as_deref().map_or(0, |p| std::mem::size_of_val(p) + p.held())
    }
    /// What the payload's type is called.
    pub fn payload_name(&self) -> Option<&'static str> {
        self.payload.as_deref().map(|p| p.type_name())
    }
    /// Frees what it holds: as the heap knows it.
    pub(crate) fn drop_payload(&mut self) -> Owned {
        self.payload = None;
        std::mem::take(&mut self.told).owned()
    }
}
