//! The state of one VM.

use crate::boot::BootImage;
use crate::frame::{CodeState, Frame};
use hashbrown::HashMap;
use std::any::{Any, TypeId};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use zakuro_base::{Options, Sym};
use zakuro_bytecode::Code;
use zakuro_object::shape::{LotTable, ShapeInfo};
use zakuro_object::*;

/// The VM as Rust code passes it around.
pub type Cx = Vm;

/// State of a builtin library that belongs to one VM (default random generator, standard streams, ...): see [`Vm::state`].
pub trait VmState: Any + Default + Trace {
    /// Between marking and sweeping: weak tables drop entries whose cell is not `heap.is_marked_or_new`.
    fn sweep(&mut self, _heap: &Heap) {}
    /// What of it is program state: how to make it again in a VM that is spawned from this one's image. Its Ruby values are appended to
    /// `values`; the function gets their copies, in that order.
    fn snapshot(&self, _values: &mut Gathered) -> Option<Restore> {
        None
    }
    /// Bytes outside the heap that count for the VM: asked after each collection.
    fn weight(&self) -> usize {
        0
    }
    /// Bytes that it keeps for an object.
    fn held_for(&self, _object: Value) -> usize {
        0
    }
}

/// Makes a state in a spawned VM: see [`VmState::snapshot`].
pub trait StateBlueprint: Send + Sync {
    fn restore(&self, cx: &mut Cx, values: &[Value]);
    /// Writes what `restore` needs beside the values, for an image in a file; gives the name of the loader ([`state_loader!`](crate::state_loader)). None: a VM that starts from the file begins without.
    fn save(&self, _out: &mut Saved) -> Option<&'static str> {
        None
    }
}

/// See [`StateBlueprint`].
pub type Restore = Arc<dyn StateBlueprint>;

struct Restored<F, S>(F, S);
impl<F, S> StateBlueprint for Restored<F, S>
where
    F: Fn(&mut Cx, &[Value]) + Send + Sync,
    S: Fn(&mut Saved) -> Option<&'static str> + Send + Sync,
{
    fn restore(&self, cx: &mut Cx, values: &[Value]) {
        (self.0)(cx, values);
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        (self.1)(out)
    }
}
/// A state that is not written to files.
pub fn restore(f: impl Fn(&mut Cx, &[Value]) + Send + Sync + 'static) -> Restore {
    Arc::new(Restored(f, |_: &mut Saved| None))
}
/// A state that `save` writes.
pub fn savable_state(
    f: impl Fn(&mut Cx, &[Value]) + Send + Sync + 'static,
    save: impl Fn(&mut Saved) -> Option<&'static str> + Send + Sync + 'static,
) -> Restore {
    Arc::new(Restored(f, save))
}

/// Reads states of one kind.
pub struct StateLoader {
    pub name: &'static str,
    pub load: fn(&mut SavedReader) -> Option<Restore>,
}

/// Makes a loader of a state known: `state_loader!("name", function)`, at module level.
#[macro_export]
macro_rules! state_loader {
    ($name:literal, $load:expr) => {
        const _: () = {
            #[used]
            #[unsafe(link_section = "zakuro_states")]
            static LOADER: &$crate::StateLoader = &$crate::StateLoader { name: $name, load: $load };
        };
    };
}

// The section is there in every binary.
state_loader!("nothing", |_| None);

unsafe extern "Rust" {
    #[link_name = "__start_zakuro_states"]
    static FIRST_STATE: &'static StateLoader;
    #[link_name = "__stop_zakuro_states"]
    static STATES_END: &'static StateLoader;
}

/// Every loader of a state of the binary.
pub(crate) fn state_loaders() -> &'static [&'static StateLoader] {
    // SAFETY: the linker puts these names at both ends of the section, which has nothing but references to StateLoaders side by side.
    unsafe {
        let (first, end) = (&raw const FIRST_STATE, &raw const STATES_END);
        std::slice::from_raw_parts(first, end.offset_from(first) as usize)
    }
}

pub(crate) trait AnyState {
    fn snapshot_state(&self, values: &mut Gathered) -> Option<Restore>;
    fn any(&mut self) -> &mut dyn Any;
    fn trace_state(&self, m: &mut Marker<'_>);
    fn sweep_state(&mut self, heap: &Heap);
    fn held_by_state(&self, object: Value) -> usize;
    fn state_weight(&self) -> usize;
}
impl<T: VmState> AnyState for T {
    fn snapshot_state(&self, values: &mut Gathered) -> Option<Restore> {
        self.snapshot(values)
    }
    fn any(&mut self) -> &mut dyn Any {
        self
    }
    fn state_weight(&self) -> usize {
        self.weight()
    }
    fn held_by_state(&self, object: Value) -> usize {
        self.held_for(object)
    }
    fn trace_state(&self, m: &mut Marker<'_>) {
        self.trace(m)
    }
    fn sweep_state(&mut self, heap: &Heap) {
        self.sweep(heap)
    }
}

/// A class as the VM's table holds it: the boot image's, or its own copy.
#[derive(Clone, Copy)]
pub struct ClassSlot {
    pub(crate) data: *mut ClassData,
    pub(crate) own: bool,
}

pub type FastMap<K, V> = HashMap<K, V, zakuro_base::hash_seed::Fixed>;

#[derive(Clone, Copy)]
pub(crate) struct MethodCacheEntry {
    pub class: u32,
    pub name: Sym,
    pub epoch: u32,
    /// Of what `super` finds: the class or module of the method that says it. [`MethodCacheEntry::FROM_START`] for a call.
    pub owner: u32,
    /// Method cell, or NIL: known to be missing.
    pub method: Value,
}
impl MethodCacheEntry {
    pub const FROM_START: ClassId = ClassId(u32::MAX);
    pub const NONE: MethodCacheEntry =
        MethodCacheEntry { class: u32::MAX, name: zakuro_base::sym::empty, epoch: 0, owner: Self::FROM_START.0, method: Value::NIL };
}
/// The methods that were looked up last, by class and name. It grows while entries that are still good make room for others: a large program asks for thousands of methods in turn.
#[derive(Default)]
pub(crate) struct MethodCache {
    /// A power of two, or none yet.
    entries: Box<[MethodCacheEntry]>,
    /// Good entries that were overwritten since it has this size.
    displaced: usize,
}
impl MethodCache {
    /// 96 bytes: a VM that does little looks up little.
    const FIRST: usize = 4;
    const LARGEST: usize = 8192;

    #[inline]
    fn place(class: ClassId, owner: ClassId, name: Sym, len: usize) -> usize {
        (class.0.wrapping_mul(0x9e37_79b1) ^ name.0.wrapping_mul(0x85eb_ca6b) ^ (!owner.0).wrapping_mul(0xc2b2_ae35)) as usize >> 7
            & (len - 1)
    }
    #[inline]
    pub fn find(&self, class: ClassId, owner: ClassId, name: Sym, epoch: u32) -> Option<Value> {
        let e = self.entries.get(Self::place(class, owner, name, self.entries.len().max(1)))?;
        (e.class == class.0 && e.name == name && e.epoch == epoch && e.owner == owner.0).then_some(e.method)
    }
    pub fn note(&mut self, class: ClassId, owner: ClassId, name: Sym, epoch: u32, method: Value) {
        let len = self.entries.len();
        if len == 0 || self.displaced > len && len < Self::LARGEST {
            let old = std::mem::replace(&mut self.entries, vec![MethodCacheEntry::NONE; (4 * len).max(Self::FIRST)].into());
            self.displaced = 0;
            for e in old.iter().filter(|e| e.epoch == epoch) {
                self.entries[Self::place(ClassId(e.class), ClassId(e.owner), e.name, self.entries.len())] = *e;
            }
        }
        let e = &mut self.entries[Self::place(class, owner, name, self.entries.len())];
        self.displaced += usize::from(e.epoch == epoch);
        *e = MethodCacheEntry { class: class.0, name, epoch, owner: owner.0, method };
    }
    /// Forgets what the collector takes away.
    pub fn retain(&mut self, mut keep: impl FnMut(&MethodCacheEntry) -> bool) {
        self.entries.iter_mut().filter(|e| !keep(e)).for_each(|e| *e = MethodCacheEntry::NONE);
    }
}

/// Arguments of a call on its way from one handler to the next.
#[derive(Clone, Copy)]
pub struct PendingCall {
    pub me: Value,
    pub argc: usize,
    pub kw: bool,
    /// The keyword Hash is the caller's: the callee gets a copy, or only reads it.
    pub lent: bool,
    pub list: List,
    pub block: crate::builtin::Block,
    /// Name called, for method_missing.
    pub name: Sym,
    /// State of `me`'s Code, if it is a Ruby method and the call site knows; or null.
    pub state: *const CodeState,
}

/// Whether the last positional arguments are the elements of an Array ([`Vm::splatted`]) that may become the callee's rest parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum List {
    None,
    /// It is the program's: for a rest parameter without a name.
    Lent,
    /// It was made for the call.
    Own,
}

/// Value and frame stacks of the running coroutine.
#[derive(Clone, Copy)]
pub struct Stacks {
    pub values: *mut Value,
    pub values_end: *mut Value,
    pub frames: *mut Frame,
    pub frames_end: *mut Frame,
    /// Lowest address that native code may reach.
    pub native_limit: *const u8,
    /// Highest address of the native stack.
    pub native_top: *const u8,
}

impl Stacks {
    /// Bytes in use of stacks that are suspended at a frame, their native code at `sp`.
    pub(crate) fn used(&self, fp: *const Frame, sp: *const u8) -> usize {
        let frames = fp.addr().saturating_sub(self.frames.addr()) + size_of::<Frame>();
        let native = if sp.is_null() { 0 } else { self.native_top.addr().saturating_sub(sp.addr()) };
        frames + native
    }
}

/// One Ruby VM. Owned by one native thread at a time; never shared.
pub struct Vm {
    // Hot: read by handlers.
    pub fp: *mut Frame,
    pub frame_limit: *mut Frame,
    pub stack_limit: *mut Value,
    /// Poll word: written by other threads, and by this VM's heap; read at safepoints.
    pub poll: *const AtomicU32,
    /// Bumped when a method that some cache may hold changes.
    pub epoch: u32,
    pub const_epoch: u32,
    /// Which core classes have a redefined operator (bits of `methods::fast`): their fast paths are off.
    pub redefined: u32,
    /// Changes with whatever machine code takes for granted between two looks: `epoch`, `redefined`, and caches of call sites that it has linked (`CodeState::linked`).
    pub generation: std::cell::Cell<u32>,
    /// Where the instance variables of the object begin that machine code has asked for last (`interp::machine::help::layout`).
    pub slots: *const Value,
    /// Class objects and Ranges whose `===` was found to be the builtin one: keys as of call sites, by their shape.
    pub(crate) patterns: [u64; 16],
    pub(crate) cvar_cache: crate::cvars::CvarCache,
    pub native_limit: *const u8,
    pub heap: Heap,
    pub pending: Value,
    pub call: PendingCall,
    /// What `call.list` speaks of. Not kept alive: nothing of the program's runs between the call's site and its callee.
    pub splatted: Value,
    /// Why machine code was left last, and by which guard.
    pub left: crate::machine::Left,
    pub left_by: *const zakuro_bytecode::machine::Exit,
    pub(crate) unwound: crate::machine::Unwound,
    /// For the entry of a block's machine code that is about to be called: the loop of a builtin that it is to go on with.
    pub rounds: *mut crate::machine::Rounds,
    /// Guards of machine code that may still hold before one fails all the same, and how many there were last (`--jit=exit-everywhere`).
    pub exit_in: u32,
    pub(crate) exit_every: u32,
    /// A guard failed in that way.
    pub(crate) exit_tried: bool,
    pub leavings: crate::machine::Leavings,
    /// How often it was asked what it runs ([`Cx::sample`]).
    pub(crate) samples: u32,
    /// Machine code could not make a Float for want of memory, which the next safepoint has to say.
    pub(crate) owes_refusal: bool,

    pub errinfo: Value,
    /// The running fiber of the running thread runs a signal's handler; and the signals that came meanwhile, as bits.
    pub(crate) in_trap: bool,
    pub(crate) later_signals: u64,
    /// Errors that come from outside to the main thread wait ([`Cx::shielded`]).
    pub(crate) shield: bool,
    /// A method of the program is told of a raise.
    pub(crate) tells_of_raise: bool,
    pub poll_owner: Arc<zakuro_sched::PollWord>,
    pub options: Arc<Options>,
    pub boot: Option<&'static BootImage>,
    pub(crate) classes: LotTable<ClassSlot>,
    /// The class whose variables were looked at last, and its data; null when a slot has changed since.
    pub(crate) class_near: (ClassId, *const ClassData),
    pub(crate) shapes: LotTable<ShapeInfo>,
    pub(crate) transitions: FastMap<(u32, Sym), u32>,
    pub(crate) class_lot: (u32, u32),
    pub(crate) shape_lot: (u32, u32),
    pub(crate) method_cache: MethodCache,
    pub(crate) slots_known: crate::ivars::SlotsKnown,
    pub(crate) classes_met: crate::classes::ClassesMet,
    pub truths_known: crate::classes::TruthsKnown,
    /// Names that some cache has been filled for.
    pub(crate) cached_names: Vec<u64>,
    pub(crate) code_states: FastMap<usize, Box<CodeState>>,
    pub(crate) states_met: crate::execution::states::StatesMet,
    /// What got cells since the last minor collection.
    pub(crate) fresh: crate::fresh::Fresh,
    /// Codes that methods refer to by address.
    pub(crate) kept_codes: FastMap<usize, Arc<Code>>,
    /// The same from before images were made: shared with the VMs spawned from them.
    pub(crate) kept_layers: Vec<Arc<FastMap<usize, Arc<Code>>>>,
    /// Those set here; others may be the image's (`Cx::global_value`).
    pub(crate) globals: FastMap<Sym, Value>,
    /// The image's, until one is added.
    pub global_aliases: Arc<FastMap<Sym, Sym>>,
    /// The alias by which a global variable is being set, for what its setter says of it.
    pub(crate) set_as: Option<Sym>,
    pub(crate) generic_ivars: crate::state::listed::Lists,
    pub(crate) object_ids: FastMap<usize, i64>,
    pub(crate) next_object_id: i64,
    /// What codes in tables are made with.
    pub(crate) hash_seed: &'static zakuro_base::HashSeed,
    /// What programs see of them: the VM's own, or that of the image which it grew from.
    pub(crate) hash_mask: zakuro_base::hash_seed::HashMask,
    pub(crate) states: FastMap<TypeId, Box<dyn AnyState>>,
    pub main: Value,
    pub at_exit: TracedVec,
    pub name: Arc<str>,
    pub script: String,
    pub stacks: Stacks,
    /// Stacks of suspended coroutines of this VM: what the collector scans besides the running one.
    pub(crate) suspended: Vec<SuspendedStacks>,
    /// Suspender of the running coroutine (`fiber::Sus`), null outside of one.
    pub suspender: *const (),
    /// Running fiber, nil outside of fibers.
    pub current_fiber: Value,
    /// Object for the code of the running thread outside of fibers, made when asked for; else nil.
    pub root_fiber: Value,
    /// Fiber that goes on when the running one suspends for a switch.
    pub(crate) next_fiber: Value,
    /// The threads, once there is more than one or somebody asked for the Thread object.
    pub(crate) threads: Option<Box<crate::thread::Threads>>,
    /// Native stack pointer at the last suspension.
    pub(crate) left_at: *const u8,
    pub stack_pool: Option<zakuro_sched::StackPool>,
    /// Number of the worker that the running turn began on: to shard by, right most of the time.
    pub lane: u16,
    pub(crate) rooted: Vec<*mut crate::make::Registered>,
    /// Values that live as long as the VM.
    pub pinned: TracedVec,
    pub(crate) inspecting: TracedVec,
    /// Called at a safepoint when a bit of the poll word other than COLLECT is set.
    pub interrupt_hook: Option<fn(&mut Cx, u32) -> crate::raise::Result<()>>,
    /// Scheduler task and control of this VM; None in a VM without a runtime (boot).
    pub host: Option<crate::host::Host>,
    /// Where its time goes, in a process that counts.
    pub counting: Option<Box<crate::account::Counting>>,
    /// Places in line at channels, used again by the next wait.
    pub(crate) waiters: Vec<zakuro_channel::Waiter>,
    /// Where the content of the last message stands that counted for this VM's limit, if others may share it.
    pub(crate) last_charged: Option<usize>,
    /// Bytes of messages sent since one was charged.
    pub(crate) unweighed: usize,
    /// Bytes of large buffers that went into messages and images of a VM with a memory limit, all in all.
    pub(crate) carried: usize,
    /// What the account of that which a VM with a limit has outside of its heap was when it last looked.
    pub(crate) account_seen: usize,
    pub life: crate::life::Life,
    /// How the VM ended; left here by the runtime for the scheduler's unit.
    pub end: Option<Box<crate::host::End>>,
    /// What the block of a forked VM returned, or the exception that ended it, for whoever asks for the VM's value.
    pub result: Option<Box<crate::transfer::Envelope>>,
    /// Spawned from an image, or an image was made of it: there are VMs that know its anonymous classes.
    pub(crate) forked: bool,
    /// The image that it started from.
    pub(crate) base: Option<Arc<crate::image::Image>>,
    /// Templates of that image -> this VM's copies of them.
    pub(crate) memo: FastMap<usize, Value>,
    /// Copies -> the identity of their originals.
    pub(crate) identities: FastMap<usize, u64>,
    /// The image last made of this VM, while it stands.
    pub(crate) incremental_image: Option<Box<crate::image::IncrementalImage>>,
    /// Cells and words of the last image made of it.
    pub(crate) image_size: (usize, usize),
    /// Some once-site (`/o`, `END`) has been passed.
    pub(crate) once_used: bool,
    pub(crate) units: crate::codegc::Units,
    /// Names of the keywords that a builtin is being called with ([`crate::builtin::NAMES_FLAG`]).
    pub(crate) given_names: *const [Sym],
    /// Bytes of the tables, as the heap has been told (`classgc`).
    pub(crate) owned: usize,
    /// Those of classes among them, as of the last collection.
    pub(crate) class_bytes: usize,
    pub(crate) numbers: Option<Box<crate::classgc::Numbers>>,
    /// Captures of the VM's state so far.
    pub(crate) captures: u32,
    /// `trace_var`: Procs (or texts) by global variable.
    pub global_traces: Option<Box<FastMap<Sym, TracedVec>>>,
    /// Kinds of events that some trace wants (`interp::trace::events`); read in cold code only.
    pub tracing: u32,
    pub(crate) traces: Option<Box<crate::interp::trace::Tracing>>,
    /// How often it changed what is traced: each stack notes the number for which its frames were moved to the instructions that are in force.
    pub(crate) trace_changes: u32,
    /// The frame of a builtin whose call or return is being told: it has not begun, or is over, for who looks at backtraces. Compared, never read.
    pub(crate) told_frame: *const Frame,
    /// The frame whose entry or end is being told, and the line where a debugger shows it: its instruction stands before.
    pub(crate) told_place: (*const Frame, u32),
    pub gc_disabled: bool,
    /// Collections to run at every safepoint (`--gc=stress`).
    pub gc_stress: bool,
    /// `--gc=sites`: how often places were reached, by a hash of their addresses.
    pub(crate) sites: Vec<u32>,
    pub(crate) in_boot: bool,
    pub method_serial: u64,
    /// Where constants were set, for `const_source_location`.
    pub(crate) const_places: FastMap<(ClassId, Sym), (Arc<str>, u32)>,
    /// Autoloads that run now, in any thread.
    pub autoloading: Vec<AutoloadRun>,
    /// The constant just read is not to be cached: other threads don't see it yet.
    pub const_hidden: bool,
    /// Why the last call went to a method_missing written in Ruby.
    pub missing_reason: crate::interp::MissReason,
    /// Calls, yields and safepoints so far (`effects`).
    #[cfg(debug_assertions)]
    pub(crate) entries: u64,
}

/// A file that a thread loads for an autoload constant.
pub struct AutoloadRun {
    /// As registered.
    pub path: Vec<u8>,
    pub thread: u32,
    /// Constants of this path that the file has set, with their places.
    pub assigned: Vec<(ClassId, Sym, Option<(Arc<str>, u32)>)>,
    /// Threads that wait for its end.
    pub waiters: Vec<u32>,
}

/// A coroutine of this VM that is not running: its stacks, and where its native stack pointer stood.
#[derive(Clone, Copy)]
pub struct SuspendedStacks {
    pub id: u64,
    pub stacks: Stacks,
    pub fp: *mut Frame,
    pub sp: *const u8,
    pub pending: Value,
    pub errinfo: Value,
    pub in_trap: bool,
}

// SAFETY: a Vm and every cell it owns are used by one native thread at a time; its raw pointers lead into its own heap, its own
// stacks and the immutable boot image.
unsafe impl Send for Vm {}

impl Vm {
    /// Bytes that libraries keep for an object in their states.
    pub fn held_by_states(&self, object: Value) -> usize {
        self.states.values().map(|state| state.held_by_state(object)).sum()
    }
    /// The VM-local state of a library, made on first use.
    pub fn state<T: VmState>(&mut self) -> &mut T {
        let entry = self.states.entry(TypeId::of::<T>()).or_insert_with(|| Box::<T>::default());
        debug_assert!(entry.any().is::<T>());
        // SAFETY: each box in the table is of the type that is its key.
        unsafe { &mut *std::ptr::from_mut(&mut **entry).cast::<T>() }
    }
    /// Takes a library's state away, if there is one.
    pub fn take_state<T: VmState>(&mut self) -> Option<T> {
        let mut state = self.states.remove(&TypeId::of::<T>())?;
        debug_assert!(state.any().is::<T>());
        // SAFETY: each box in the table is of the type that is its key.
        Some(*unsafe { Box::from_raw(Box::into_raw(state).cast::<T>()) })
    }
    /// How many classes and modules the VM knows.
    pub fn class_count(&self) -> usize {
        let mut n = 0;
        self.classes.each(&mut |_, _| n += 1);
        n
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        if self.in_boot {
            return;
        }
        // Asks for no memory: perhaps there is none, and this is the end that is to give some back.
        self.classes.each_own_unordered(&mut |slot| {
            if slot.own {
                // SAFETY: `own` slots were made by Box::into_raw for this VM alone; nobody looks at them any more.
                drop(unsafe { Box::from_raw(slot.data) });
            }
        });
    }
}
