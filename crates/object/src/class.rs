//! Classes and modules. A class object is a small immutable cell that holds its id; everything that a program can change about it is
//! [`ClassData`] in the VM's own table, shared with the boot image until first written (copy on write).
//!
//! Ancestors are kept linearised per class and recomputed when something is included: the whole list where it is short, else its beginning, and the class
//! whose list goes on ([`ClassData::near`]). So a look-up reads few places one after the other, and a chain of N classes takes memory in proportion to N. Rejected: chains
//! of include-classes (a cell per inclusion; `super` and `ancestors` walk pointers); the whole list in each class (quadratic).

use crate::names::NameOrder;
use crate::value::Value;
use hashbrown::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use zakuro_base::Sym;

/// Number of a class. Boot classes have the same in every VM.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct ClassId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassKind {
    Class,
    Module,
    Singleton,
}

/// How `allocate` makes an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alloc {
    /// `new` of this class is undefined or special (Integer, Symbol, ...).
    None,
    Object,
    Exception,
    Class,
    Module,
    String,
    Array,
    Hash,
    Range,
    /// A DataCell with the payload still unset.
    Data,
}

#[derive(Clone, Copy, Debug)]
pub struct ConstEntry {
    /// UNDEF while an autoload is registered and not yet done.
    pub value: Value,
    pub private: bool,
    pub deprecated: bool,
    /// Path to `require` (a String value), or nil.
    pub autoload: Value,
}

/// All that can change about a class.
#[derive(Clone)]
pub struct ClassData {
    pub id: ClassId,
    /// Shape of a new instance.
    pub root_shape: u32,
    pub kind: ClassKind,
    /// The class object.
    pub object: Value,
    /// Its class as a key for inline caches: shape of the class object is written in its cell; this is the singleton class if made.
    pub singleton: Option<ClassId>,
    /// Fully qualified name; None while anonymous.
    pub name: Option<Sym>,
    pub superclass: Option<ClassId>,
    /// Modules in order of inclusion (later = nearer), without their own ancestors.
    pub includes: Vec<ClassId>,
    pub prepends: Vec<ClassId>,
    /// Method resolution order, this class's own place included: all of it, or as far as `beyond` says.
    pub near: Vec<ClassId>,
    /// The same in ascending order, where they are more than [`FEW`].
    pub sorted: Vec<ClassId>,
    /// How many of `near` come before the superclass's: the class itself, what it prepends and includes.
    pub own_places: u32,
    /// Some module stands more than once among the ancestors: `super` must know from which of its places it goes on.
    pub repeats: bool,
    /// The class with whose list the method resolution order goes on behind `near`.
    pub beyond: Option<ClassId>,
    /// Where the look-up of methods of the class object begins, as far as it is known.
    pub meta: MetaCache,
    /// The names that calls have looked up from here on.
    pub asked: Asked,
    /// Subclasses and includers. Weak: they don't keep each other.
    pub dependents: Vec<ClassId>,
    /// Method cells; an undefined method has a cell whose body says so.
    pub methods: HashMap<Sym, Value, zakuro_base::hash_seed::Fixed>,
    pub method_order: NameOrder,
    pub consts: HashMap<Sym, ConstEntry, zakuro_base::hash_seed::Fixed>,
    pub const_order: NameOrder,
    pub cvars: Vec<(Sym, Value)>,
    /// Instance variables of the class object itself.
    pub ivars: Vec<(Sym, Value)>,
    /// Of a singleton class: the object.
    pub attached: Value,
    pub lexical_parent: Option<ClassId>,
    pub alloc: Alloc,
    /// Instances get room for this many instance variables.
    pub ivar_hint: u16,
    pub frozen: bool,
    /// Extra data of the class (Struct members and the like), nil when unused.
    pub extra: Value,
    /// How many captures of the VM's state came before this class was made: later ones have it.
    pub made_at: u32,
    pub known: Known,
    pub weighed: Weighed,
}

/// What the VM that owns the data keeps about it for its collector: of a copy nothing.
#[derive(Default, Debug)]
pub struct Weighed {
    /// So much of its [`ClassData::weight`] is counted.
    pub bytes: usize,
    /// It is among the classes that have got cells since the last minor collection.
    pub fresh: bool,
}

impl Clone for Weighed {
    fn clone(&self) -> Self {
        Weighed::default()
    }
}

/// Whether somebody beside the VM's cells knows a class by number: Rust code, other VMs, cells that the collector doesn't look at. Then it lives as long as the VM.
/// Atomic because class data of images is shared; written to by the VM that owns the data alone.
#[derive(Default, Debug)]
pub struct Known(AtomicBool);

impl Known {
    pub fn get(&self) -> bool {
        self.0.load(Relaxed)
    }
    pub fn set(&self) {
        self.0.store(true, Relaxed);
    }
}
impl Clone for Known {
    fn clone(&self) -> Self {
        Known(AtomicBool::new(self.get()))
    }
}

/// A singleton class, and the method epoch in which it was looked up. A copy of the class data, which may be another VM's, knows nothing. Atomic as [`Known`] is.
#[derive(Default, Debug)]
pub struct MetaCache(AtomicU64);

impl MetaCache {
    #[inline]
    pub fn get(&self, epoch: u32) -> Option<ClassId> {
        let known = self.0.load(Relaxed);
        ((known >> 32) as u32 == epoch).then_some(ClassId(known as u32))
    }
    pub fn set(&self, epoch: u32, class: ClassId) {
        self.0.store((epoch as u64) << 32 | class.0 as u64, Relaxed);
    }
}
impl Clone for MetaCache {
    fn clone(&self) -> Self {
        MetaCache::default()
    }
}

/// So many places of a list of ancestors are searched one by one.
pub const FEW: usize = 24;

/// Names that were looked up in a class, as long as they are few: so a method or module that it gets later changes nothing for who has cached other names. A copy of the class data, whose caches
/// nobody knows, takes everything for asked. Atomic as [`Known`] is.
#[derive(Default, Debug)]
pub struct Asked {
    names: [AtomicU32; Asked::FEW],
    /// More than there is room for: any name.
    count: AtomicU32,
}

impl Asked {
    const FEW: usize = 8;

    /// Whether this name may have been looked up.
    pub fn has(&self, name: Sym) -> bool {
        let count = self.count.load(Relaxed) as usize;
        self.names.get(..count).is_none_or(|names| names.iter().any(|n| n.load(Relaxed) == name.0))
    }
    pub fn note(&self, name: Sym) {
        if self.has(name) {
            return;
        }
        let count = self.count.load(Relaxed);
        if let Some(place) = self.names.get(count as usize) {
            place.store(name.0, Relaxed);
        }
        self.count.store(count + 1, Relaxed);
    }
}
impl Clone for Asked {
    fn clone(&self) -> Self {
        Asked { count: AtomicU32::new(u32::MAX), ..Asked::default() }
    }
}

/// Ancestors in one list at most, unless the class and its modules are more.
pub const NEAR: usize = 64;

impl ClassData {
    pub fn new(id: ClassId, kind: ClassKind, object: Value, superclass: Option<ClassId>) -> ClassData {
        ClassData {
            id,
            root_shape: id.0,
            kind,
            object,
            singleton: None,
            name: None,
            superclass,
            includes: Vec::new(),
            prepends: Vec::new(),
            near: Vec::new(),
            sorted: Vec::new(),
            own_places: 1,
            repeats: false,
            beyond: None,
            meta: MetaCache::default(),
            asked: Asked::default(),
            dependents: Vec::new(),
            methods: HashMap::default(),
            method_order: NameOrder::new(),
            consts: HashMap::default(),
            const_order: NameOrder::new(),
            cvars: Vec::new(),
            ivars: Vec::new(),
            attached: Value::NIL,
            lexical_parent: None,
            alloc: Alloc::Object,
            ivar_hint: 0,
            frozen: false,
            extra: Value::NIL,
            made_at: 0,
            known: Known::default(),
            weighed: Weighed::default(),
        }
    }
    pub fn is_class(&self) -> bool {
        self.kind != ClassKind::Module
    }
    /// Bytes of the class and its tables, about.
    pub fn weight(&self) -> usize {
        let lists =
            [&self.includes, &self.prepends, &self.near, &self.sorted, &self.dependents].map(|l| l.capacity()).iter().sum::<usize>();
        let orders = self.method_order.weight() + self.const_order.weight();
        // A table has room for an eighth more, and a byte beside each entry.
        let methods = self.methods.capacity() * (size_of::<(Sym, Value)>() + 1);
        let consts = self.consts.capacity() * (size_of::<(Sym, ConstEntry)>() + 1);
        let variables = (self.cvars.capacity() + self.ivars.capacity()) * size_of::<(Sym, Value)>();
        // Its place in tables and what malloc adds to its blocks.
        96 + size_of::<ClassData>() + 4 * lists + orders + (methods + consts) * 9 / 8 + variables
    }
    /// Every class that this one names: they live as long as it does.
    pub fn each_class(&self, f: &mut dyn FnMut(ClassId)) {
        let one = self.superclass.iter().chain(&self.singleton).chain(&self.lexical_parent);
        one.chain(&self.includes).chain(&self.prepends).for_each(|c| f(*c));
    }
    /// Every value that the class keeps alive.
    pub fn each_value(&self, f: &mut dyn FnMut(Value)) {
        f(self.object);
        f(self.attached);
        f(self.extra);
        self.methods.values().for_each(|v| f(*v));
        self.consts.values().for_each(|e| {
            f(e.value);
            f(e.autoload)
        });
        self.cvars.iter().for_each(|(_, v)| f(*v));
        self.ivars.iter().for_each(|(_, v)| f(*v));
    }
}

macro_rules! boot_classes {
    ($($id:ident $name:literal $kind:ident $parent:ident $alloc:ident;)*) => {
        /// Ids of the classes that Rust code knows. One table: the boot code makes exactly these.
        pub mod ids {
            use super::ClassId;
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum N { #[allow(dead_code)] UNUSED, $($id),* }
            $(pub const $id: ClassId = ClassId(N::$id as u32);)*
        }
        /// (id, name, kind, superclass or holder, allocator) in order of creation. `Errno::X` style names stand for nested ones.
        pub static BOOT_CLASSES: &[(ClassId, &str, ClassKind, ClassId, Alloc)] =
            &[$((ids::$id, $name, ClassKind::$kind, ids::$parent, Alloc::$alloc)),*];
    };
}

boot_classes! {
    BASIC_OBJECT "BasicObject" Class BASIC_OBJECT Object;
    OBJECT "Object" Class BASIC_OBJECT Object;
    MODULE "Module" Class OBJECT Module;
    CLASS "Class" Class MODULE Class;
    REFINEMENT "Refinement" Class MODULE None;
    KERNEL "Kernel" Module OBJECT None;
    COMPARABLE "Comparable" Module OBJECT None;
    ENUMERABLE "Enumerable" Module OBJECT None;
    NUMERIC "Numeric" Class OBJECT Object;
    INTEGER "Integer" Class NUMERIC None;
    FLOAT "Float" Class NUMERIC None;
    RATIONAL "Rational" Class NUMERIC None;
    COMPLEX "Complex" Class NUMERIC None;
    NIL_CLASS "NilClass" Class OBJECT None;
    TRUE_CLASS "TrueClass" Class OBJECT None;
    FALSE_CLASS "FalseClass" Class OBJECT None;
    SYMBOL "Symbol" Class OBJECT None;
    STRING "String" Class OBJECT String;
    ARRAY "Array" Class OBJECT Array;
    HASH "Hash" Class OBJECT Hash;
    RANGE "Range" Class OBJECT Range;
    PROC "Proc" Class OBJECT None;
    METHOD "Method" Class OBJECT None;
    UNBOUND_METHOD "UnboundMethod" Class OBJECT None;
    BINDING "Binding" Class OBJECT None;
    REGEXP "Regexp" Class OBJECT Data;
    MATCH_DATA "MatchData" Class OBJECT None;
    STRUCT "Struct" Class OBJECT Object;
    DATA "Data" Class OBJECT Object;
    SET "Set" Class OBJECT Object;
    IO "IO" Class OBJECT Data;
    FILE "File" Class IO Data;
    FILE_STAT "File::Stat" Class OBJECT Data;
    FILE_TEST "FileTest" Module OBJECT None;
    DIR "Dir" Class OBJECT Data;
    TIME "Time" Class OBJECT Data;
    RANDOM "Random" Class OBJECT Data;
    ENUMERATOR "Enumerator" Class OBJECT Object;
    LAZY "Enumerator::Lazy" Class ENUMERATOR Object;
    YIELDER "Enumerator::Yielder" Class OBJECT Object;
    GENERATOR "Enumerator::Generator" Class OBJECT Object;
    CHAIN "Enumerator::Chain" Class ENUMERATOR Object;
    ARITH_SEQ "Enumerator::ArithmeticSequence" Class ENUMERATOR Object;
    ENCODING "Encoding" Class OBJECT None;
    MATH "Math" Module OBJECT None;
    PROCESS "Process" Module OBJECT None;
    PROCESS_STATUS "Process::Status" Class OBJECT Object;
    PROCESS_TMS "Process::Tms" Class OBJECT Object;
    SIGNAL "Signal" Module OBJECT None;
    GC "GC" Module OBJECT None;
    OBJECT_SPACE "ObjectSpace" Module OBJECT None;
    WEAK_MAP "ObjectSpace::WeakMap" Class OBJECT Data;
    WEAK_KEY_MAP "ObjectSpace::WeakKeyMap" Class OBJECT Data;
    MARSHAL "Marshal" Module OBJECT None;
    FIBER "Fiber" Class OBJECT Data;
    THREAD "Thread" Class OBJECT Data;
    THREAD_GROUP "ThreadGroup" Class OBJECT Object;
    MUTEX "Thread::Mutex" Class OBJECT Data;
    QUEUE "Thread::Queue" Class OBJECT Data;
    SIZED_QUEUE "Thread::SizedQueue" Class QUEUE Data;
    COND_VAR "Thread::ConditionVariable" Class OBJECT Data;
    MONITOR "Monitor" Class OBJECT Data;
    RUBY_VM "RubyVM" Class OBJECT Data;
    CHANNEL "RubyVM::Channel" Class OBJECT Data;
    VM_IMAGE "RubyVM::Image" Class OBJECT Data;
    RACTOR "Ractor" Class OBJECT Object;
    WARNING "Warning" Module OBJECT None;
    ERRNO "Errno" Module OBJECT None;
    BACKTRACE "Thread::Backtrace" Class OBJECT None;
    LOCATION "Thread::Backtrace::Location" Class OBJECT Object;
    EXCEPTION "Exception" Class OBJECT Exception;
    SCRIPT_ERROR "ScriptError" Class EXCEPTION Exception;
    LOAD_ERROR "LoadError" Class SCRIPT_ERROR Exception;
    NOT_IMPLEMENTED_ERROR "NotImplementedError" Class SCRIPT_ERROR Exception;
    SYNTAX_ERROR "SyntaxError" Class SCRIPT_ERROR Exception;
    NO_MEMORY_ERROR "NoMemoryError" Class EXCEPTION Exception;
    SECURITY_ERROR "SecurityError" Class EXCEPTION Exception;
    SYSTEM_EXIT "SystemExit" Class EXCEPTION Exception;
    SIGNAL_EXCEPTION "SignalException" Class EXCEPTION Exception;
    INTERRUPT "Interrupt" Class SIGNAL_EXCEPTION Exception;
    SYSTEM_STACK_ERROR "SystemStackError" Class EXCEPTION Exception;
    FATAL "fatal" Class EXCEPTION Exception;
    STANDARD_ERROR "StandardError" Class EXCEPTION Exception;
    ARGUMENT_ERROR "ArgumentError" Class STANDARD_ERROR Exception;
    UNCAUGHT_THROW_ERROR "UncaughtThrowError" Class ARGUMENT_ERROR Exception;
    ENCODING_ERROR "EncodingError" Class STANDARD_ERROR Exception;
    COMPAT_ERROR "Encoding::CompatibilityError" Class ENCODING_ERROR Exception;
    UNDEFINED_CONVERSION_ERROR "Encoding::UndefinedConversionError" Class ENCODING_ERROR Exception;
    INVALID_BYTE_SEQUENCE_ERROR "Encoding::InvalidByteSequenceError" Class ENCODING_ERROR Exception;
    CONVERTER_NOT_FOUND_ERROR "Encoding::ConverterNotFoundError" Class ENCODING_ERROR Exception;
    FIBER_ERROR "FiberError" Class STANDARD_ERROR Exception;
    IO_ERROR "IOError" Class STANDARD_ERROR Exception;
    EOF_ERROR "EOFError" Class IO_ERROR Exception;
    INDEX_ERROR "IndexError" Class STANDARD_ERROR Exception;
    KEY_ERROR "KeyError" Class INDEX_ERROR Exception;
    STOP_ITERATION "StopIteration" Class INDEX_ERROR Exception;
    CLOSED_QUEUE_ERROR "ClosedQueueError" Class STOP_ITERATION Exception;
    LOCAL_JUMP_ERROR "LocalJumpError" Class STANDARD_ERROR Exception;
    NAME_ERROR "NameError" Class STANDARD_ERROR Exception;
    NO_METHOD_ERROR "NoMethodError" Class NAME_ERROR Exception;
    RANGE_ERROR "RangeError" Class STANDARD_ERROR Exception;
    FLOAT_DOMAIN_ERROR "FloatDomainError" Class RANGE_ERROR Exception;
    REGEXP_ERROR "RegexpError" Class STANDARD_ERROR Exception;
    REGEXP_TIMEOUT_ERROR "Regexp::TimeoutError" Class REGEXP_ERROR Exception;
    RUNTIME_ERROR "RuntimeError" Class STANDARD_ERROR Exception;
    FROZEN_ERROR "FrozenError" Class RUNTIME_ERROR Exception;
    SYSTEM_CALL_ERROR "SystemCallError" Class STANDARD_ERROR Exception;
    THREAD_ERROR "ThreadError" Class STANDARD_ERROR Exception;
    TYPE_ERROR "TypeError" Class STANDARD_ERROR Exception;
    ZERO_DIVISION_ERROR "ZeroDivisionError" Class STANDARD_ERROR Exception;
    NO_MATCHING_PATTERN_ERROR "NoMatchingPatternError" Class STANDARD_ERROR Exception;
    NO_MATCHING_PATTERN_KEY_ERROR "NoMatchingPatternKeyError" Class NO_MATCHING_PATTERN_ERROR Exception;
    DOMAIN_ERROR "Math::DomainError" Class ARGUMENT_ERROR Exception;
    VM_ERROR "RubyVM::Error" Class STANDARD_ERROR Exception;
    RACTOR_ERROR "Ractor::Error" Class RUNTIME_ERROR Exception;
    ISOLATION_ERROR "Ractor::IsolationError" Class RACTOR_ERROR Exception;
    CLOSED_CHANNEL_ERROR "RubyVM::ClosedError" Class STOP_ITERATION Exception;
    DID_YOU_MEAN "DidYouMean" Module OBJECT None;
    DYM_LEVENSHTEIN "DidYouMean::Levenshtein" Module OBJECT None;
    DYM_JARO "DidYouMean::Jaro" Module OBJECT None;
    DYM_JARO_WINKLER "DidYouMean::JaroWinkler" Module OBJECT None;
    ERROR_HIGHLIGHT "ErrorHighlight" Module OBJECT None;
    LIMIT_ERROR "RubyVM::LimitError" Class EXCEPTION Exception;
    ENV_METHODS "EnvMethods" Module OBJECT None;
    ARGF_CLASS "ArgfClass" Class OBJECT Object;
    TRACE_POINT "TracePoint" Class OBJECT Data;
    ISEQ "RubyVM::InstructionSequence" Class OBJECT None;
    RUBY "Ruby" Module OBJECT None;
    GC_PROFILER "GC::Profiler" Module OBJECT None;
    PROCESS_UID "Process::UID" Module OBJECT None;
    PROCESS_GID "Process::GID" Module OBJECT None;
    PROCESS_SYS "Process::Sys" Module OBJECT None;
    CONVERTER "Encoding::Converter" Class OBJECT Data;
    IO_BUFFER "IO::Buffer" Class OBJECT Data;
    BUFFER_LOCKED_ERROR "IO::Buffer::LockedError" Class RUNTIME_ERROR Exception;
    BUFFER_ALLOCATION_ERROR "IO::Buffer::AllocationError" Class RUNTIME_ERROR Exception;
    BUFFER_ACCESS_ERROR "IO::Buffer::AccessError" Class RUNTIME_ERROR Exception;
    BUFFER_INVALIDATED_ERROR "IO::Buffer::InvalidatedError" Class RUNTIME_ERROR Exception;
    BUFFER_MASK_ERROR "IO::Buffer::MaskError" Class ARGUMENT_ERROR Exception;
    VM_PERMISSION_ERROR "RubyVM::PermissionError" Class VM_ERROR Exception;
    VM_JIT "RubyVM::JIT" Module OBJECT None;
}
