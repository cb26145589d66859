//! The boot image: classes, builtin methods and prelude, made once per process, immutable afterwards, shared by every VM.
//!
//! It is the heap and the tables of one VM that ran the core library's definitions, with every cell marked SHARED and CAPTURED.

use crate::builtin::Block;
use crate::frame::Frame;
use crate::vm::*;
use std::ptr::NonNull;
use std::sync::Arc;
use zakuro_base::{HashSeed, Options, Sym, sym};
use zakuro_bytecode::Code;
use zakuro_object::class::BOOT_CLASSES;
use zakuro_object::shape::{LotTable, ShapeInfo};
use zakuro_object::*;
use zakuro_sched::PollWord;

/// See the module.
pub struct BootImage {
    classes: &'static [zakuro_object::shape::Page<ClassSlot>],
    shapes: &'static [zakuro_object::shape::Page<ShapeInfo>],
    transitions: FastMap<(u32, Sym), u32>,
    globals: FastMap<Sym, Value>,
    global_aliases: Arc<FastMap<Sym, Sym>>,
    /// Shape of the main object: that of a singleton class with its methods.
    main_shape: u32,
    /// Number of names when it was finished: every VM knows them.
    names: u32,
    /// Codes of prelude methods.
    codes: Vec<Arc<Code>>,
    /// The VM that was frozen: owns the heap.
    _vm: Box<Vm>,
}

// SAFETY: everything in it is immutable once `freeze` returns.
unsafe impl Send for BootImage {}
// SAFETY: as above.
unsafe impl Sync for BootImage {}

impl Vm {
    fn blank(options: Arc<Options>, poll: Arc<PollWord>) -> Vm {
        let empty = Stacks {
            values: std::ptr::null_mut(),
            values_end: std::ptr::null_mut(),
            frames: std::ptr::null_mut(),
            frames_end: std::ptr::null_mut(),
            native_limit: std::ptr::null(),
            native_top: std::ptr::null(),
        };
        let mut heap = Heap::new(zakuro_object::trace::trace, zakuro_object::trace::finalize);
        heap.set_describe(zakuro_object::trace::describe);
        // SAFETY: the VM keeps the poll word alive (`poll_owner`), and drops its heap first (field order).
        unsafe { heap.set_poll(poll.word(), crate::gc::POLL_COLLECT) };
        Vm {
            fp: std::ptr::null_mut(),
            frame_limit: std::ptr::null_mut(),
            stack_limit: std::ptr::null_mut(),
            poll: poll.word(),
            epoch: 1,
            const_epoch: 1,
            redefined: 0,
            patterns: [0; 16],
            generation: std::cell::Cell::new(1),
            slots: std::ptr::null(),
            left: Default::default(),
            left_by: std::ptr::null(),
            rounds: std::ptr::null_mut(),
            exit_in: 1,
            exit_every: 0,
            exit_tried: false,
            leavings: Default::default(),
            samples: 0,
            unwound: None,
            owes_refusal: false,
            cvar_cache: Default::default(),
            native_limit: std::ptr::null(),
            heap,
            pending: Value::NIL,
            call: PendingCall {
                me: Value::NIL,
                argc: 0,
                kw: false,
                lent: false,
                list: List::None,
                block: Block::NONE,
                name: sym::empty,
                state: std::ptr::null(),
            },
            splatted: Value::NIL,
            errinfo: Value::NIL,
            in_trap: false,
            shield: false,
            tells_of_raise: false,
            later_signals: 0,
            poll_owner: poll,
            gc_stress: options.gc_stress,
            sites: Vec::new(),
            options,
            boot: None,
            classes: LotTable::new(),
            class_near: (ids::OBJECT, std::ptr::null()),
            shapes: LotTable::new(),
            transitions: FastMap::default(),
            class_lot: (0, 0),
            shape_lot: (0, 0),
            method_cache: Default::default(),
            slots_known: Default::default(),
            classes_met: Default::default(),
            truths_known: Default::default(),
            states_met: Default::default(),
            cached_names: Vec::new(),
            code_states: FastMap::default(),
            fresh: Default::default(),
            kept_codes: FastMap::default(),
            kept_layers: Vec::new(),
            globals: FastMap::default(),
            global_aliases: Default::default(),
            set_as: None,
            generic_ivars: Default::default(),
            object_ids: FastMap::default(),
            next_object_id: 8,
            hash_seed: HashSeed::of_process(),
            hash_mask: HashSeed::of_process().mask(),
            states: FastMap::default(),
            main: Value::NIL,
            at_exit: TracedVec::new(),
            name: "main".into(),
            script: String::new(),
            stacks: empty,
            suspended: Vec::new(),
            suspender: std::ptr::null(),
            current_fiber: Value::NIL,
            root_fiber: Value::NIL,
            next_fiber: Value::NIL,
            units: Default::default(),
            given_names: std::ptr::slice_from_raw_parts(std::ptr::NonNull::dangling().as_ptr(), 0),
            owned: 0,
            class_bytes: 0,
            numbers: Default::default(),
            captures: 0,
            global_traces: None,
            tracing: 0,
            traces: None,
            trace_changes: 0,
            told_frame: std::ptr::null(),
            told_place: (std::ptr::null(), 0),
            threads: None,
            left_at: std::ptr::null(),
            stack_pool: None,
            lane: 0,
            rooted: Vec::new(),
            pinned: TracedVec::new(),
            inspecting: TracedVec::new(),
            interrupt_hook: None,
            host: None,
            counting: None,
            waiters: Vec::new(),
            last_charged: None,
            unweighed: 0,
            carried: 0,
            account_seen: 0,
            life: crate::life::Life::default(),
            end: None,
            result: None,
            forked: false,
            base: None,
            memo: FastMap::default(),
            identities: FastMap::default(),
            incremental_image: None,
            image_size: (0, 0),
            once_used: false,
            gc_disabled: false,
            in_boot: false,
            method_serial: 0,
            const_places: FastMap::default(),
            autoloading: Vec::new(),
            const_hidden: false,
            missing_reason: crate::interp::MissReason::None,
            #[cfg(debug_assertions)]
            entries: 0,
        }
    }

    /// A VM that starts from the boot image. Costs neither O(methods) nor a lock.
    pub fn new(boot: &'static BootImage, options: Arc<Options>, poll: Arc<PollWord>) -> Box<Vm> {
        let mut vm = Box::new(Vm::blank(options, poll));
        vm.starts_from(boot);
        vm
    }
    /// Puts a VM at a place of the caller's, which has it start from the boot image ([`Vm::starts_from`]).
    ///
    /// # Safety
    /// `place` is aligned, has room for a VM, and is nobody else's.
    pub unsafe fn new_at(place: NonNull<Vm>, options: Arc<Options>, poll: Arc<PollWord>) {
        // SAFETY: the caller's promise.
        unsafe { place.write(Vm::blank(options, poll)) }
    }
    pub fn starts_from(&mut self, boot: &'static BootImage) {
        self.boot = Some(boot);
        self.classes = LotTable::over(boot.classes);
        self.shapes = LotTable::over(boot.shapes);
        self.transitions = boot.transitions.clone();
        self.globals = boot.globals.clone();
        self.global_aliases = boot.global_aliases.clone();
        self.main = ObjectCell::make(&self.heap, boot.main_shape, Kind::Object, 0).as_value();
    }

    /// A VM that never runs, for a layer of an image: classes and shapes of the boot image, nothing else.
    pub(crate) fn bare(boot: &'static BootImage, options: Arc<Options>) -> Box<Vm> {
        let mut vm = Box::new(Vm::blank(options, Arc::new(PollWord::new())));
        vm.boot = Some(boot);
        vm.classes = LotTable::over(boot.classes);
        vm.shapes = LotTable::over(boot.shapes);
        vm.gc_disabled = true;
        vm.gc_stress = false;
        vm
    }

    /// Gives the VM the stacks of the coroutine that it is about to run on.
    ///
    /// # Safety
    /// `values..values_end` and `frames..frames_end` are writable memory that outlives their use.
    pub unsafe fn enter_stacks(&mut self, s: Stacks) {
        // SAFETY: the first frame fits (caller), and so do the coroutine's own variables, which it covers.
        unsafe {
            let own = crate::interp::own_variables::COUNT;
            std::slice::from_raw_parts_mut(s.values, own).fill(Value::NIL);
            *self.frames_moved(s) = Value::fixnum(i64::from(self.trace_changes));
            self.use_stacks(s, s.frames);
            let me = self.frame_method(Sym::intern("<main>"), ids::OBJECT, Value::NIL);
            s.frames.write(Frame {
                ip: crate::interp::stub(),
                regs: s.values,
                code: std::ptr::null(),
                block: Block::NONE,
                me: me.as_value(),
                aux: s.values.add(own) as usize,
            });
        }
    }
    /// Switches to stacks that have frames already.
    pub fn use_stacks(&mut self, s: Stacks, fp: *mut Frame) {
        self.stacks = s;
        self.fp = fp;
        // Room for exception handling when a limit is hit.
        self.frame_limit = s.frames_end.wrapping_sub(16);
        self.stack_limit = s.values_end.wrapping_sub(512);
        self.native_limit = s.native_limit;
        if self.trace_changes != 0 {
            self.move_frames();
        }
    }

    /// The VM that the boot image is made of: core classes, no methods. Run `define` on it, then freeze.
    pub fn for_boot(options: Arc<Options>) -> Box<Vm> {
        zakuro_base::symbol::watch(crate::life::name_added);
        let mut vm = Box::new(Vm::blank(options, Arc::new(PollWord::new())));
        vm.in_boot = true;
        vm.gc_disabled = true;
        vm.gc_stress = false;
        // Boot ids: the classes first, then singleton classes and shapes.
        let first = BOOT_CLASSES.len() as u32 + 1;
        vm.class_lot = (first, zakuro_object::shape::FIRST_DYNAMIC);
        vm.shape_lot = (zakuro_object::shape::BOOT_ROOTS, zakuro_object::shape::FIRST_DYNAMIC);
        for (id, _, kind, sup, alloc) in BOOT_CLASSES {
            let class = if *kind == ClassKind::Module { ids::MODULE } else { ids::CLASS };
            let shape = vm.new_shape(ShapeInfo { class, parent: 0, name: sym::empty, count: 0 });
            let header = Header { shape, kind: Kind::Class as u8, flags: 0, aux: 0 };
            let object = alloc_cell(&vm.heap, ClassCell { header, id: *id }).as_value();
            let superclass = (*kind == ClassKind::Class && *id != ids::BASIC_OBJECT).then_some(*sup);
            let mut data = Box::new(ClassData::new(*id, *kind, object, superclass));
            (data.alloc, data.near) = (*alloc, vec![*id]);
            vm.install_class(data);
            *vm.shapes.slot(id.0) = Some(ShapeInfo { class: *id, parent: id.0, name: sym::empty, count: 0 });
        }
        for (id, name, kind, sup, _) in BOOT_CLASSES {
            if *kind == ClassKind::Class && *id != ids::BASIC_OBJECT {
                let up = vm.class(*sup).near.clone();
                vm.class_mut(*id).near.extend(up);
                vm.class_mut(*sup).dependents.push(*id);
            }
            // Nested names belong to their holders.
            let object = vm.class_value(*id);
            let (holder, last) = match name.rsplit_once("::") {
                Some((h, l)) => {
                    let h = vm.const_by_path(h).and_then(|v| vm.class_id(v)).unwrap_or(ids::OBJECT);
                    (h, l)
                }
                None => (ids::OBJECT, *name),
            };
            if *name == "fatal" {
                vm.class_mut(*id).name = Some(Sym::intern("fatal"));
            } else {
                vm.const_set(holder, Sym::intern(last), object);
            }
        }
        for short in ["Mutex", "Queue", "SizedQueue", "ConditionVariable"] {
            if let Some(v) = vm.const_by_path(&format!("Thread::{short}")) {
                vm.const_set(ids::OBJECT, Sym::intern(short), v);
            }
        }
        let _ = vm.include_module(ids::OBJECT, ids::KERNEL);
        for c in [ids::NUMERIC, ids::STRING] {
            let _ = vm.include_module(c, ids::COMPARABLE);
        }
        for c in [ids::ARRAY, ids::HASH, ids::RANGE, ids::STRUCT, ids::DIR, ids::IO, ids::ENUMERATOR, ids::SET] {
            let _ = vm.include_module(c, ids::ENUMERABLE);
        }
        vm.main = vm.new_object(ids::OBJECT);
        vm
    }

    /// Freezes a boot VM. Its coroutine stacks must not be in use any more.
    pub fn freeze_boot(mut self: Box<Vm>) -> BootImage {
        self.heap.each_cell(&mut |c| {
            // SAFETY: each_cell hands out live cells of this heap.
            unsafe { (*c).flags |= flags::SHARED | flags::CAPTURED }
        });
        // Every VM has a main object of its own of that class.
        let of_main = self.dispatch_class(self.main);
        if self.class(of_main).kind == ClassKind::Singleton {
            self.class_mut(of_main).attached = crate::classes::OF_MAIN;
        }
        let mut classes = std::mem::replace(&mut self.classes, LotTable::new());
        let mut all = Vec::new();
        classes.each(&mut |id, s| all.push((id, *s)));
        for (id, s) in all {
            *classes.slot(id) = Some(ClassSlot { data: s.data, own: false });
        }
        let shapes = std::mem::replace(&mut self.shapes, LotTable::new());
        BootImage {
            classes: classes.freeze(),
            shapes: shapes.freeze(),
            transitions: std::mem::take(&mut self.transitions),
            globals: std::mem::take(&mut self.globals),
            global_aliases: std::mem::take(&mut self.global_aliases),
            main_shape: self.main.shape_key(),
            names: Sym::count(),
            codes: self.kept_codes.values().cloned().collect(),
            _vm: self,
        }
    }
}

impl BootImage {
    /// Every cell, in an order that is the same in every process of one binary.
    pub(crate) fn each_cell(&self, f: &mut dyn FnMut(Value)) {
        // SAFETY: cells of the boot image, which live as long as the process.
        self._vm.heap.each_cell_at_rest(&mut |c| f(unsafe { Value::cell(c) }));
    }
    pub(crate) fn class(&self, id: ClassId) -> Option<*mut ClassData> {
        let lot = self.classes.get((id.0 / zakuro_object::LOT) as usize)?;
        lot.rows().get((id.0 % zakuro_object::LOT) as usize)?.as_ref().map(|s| s.data)
    }
    pub(crate) fn shape(&self, id: u32) -> Option<&ShapeInfo> {
        self.shapes.get((id / zakuro_object::LOT) as usize)?.rows().get((id % zakuro_object::LOT) as usize)?.as_ref()
    }
    pub(crate) fn transitions(&self) -> &FastMap<(u32, Sym), u32> {
        &self.transitions
    }
    pub(crate) fn has_transition(&self, from: (u32, Sym), to: u32) -> bool {
        self.transitions.get(&from) == Some(&to)
    }
    /// Symbols below this number are the boot image's.
    pub(crate) fn names(&self) -> u32 {
        self.names
    }
    /// Number of prelude Codes (for statistics).
    pub fn code_count(&self) -> usize {
        self.codes.len()
    }
}
