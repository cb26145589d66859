//! What a foreign function takes and gives, as libffi wants to know it.

use libffi_sys::*;
use std::ffi::{c_uint, c_void};
use std::ptr::addr_of_mut;
use zakuro_macros::Trace;
use zakuro_vm::*;

/// Fields of a structure in a structure in ...
const DEEPEST: usize = 64;
/// Parameters and fields of one interface, arrays counted by their elements.
const MOST: usize = 1 << 20;

/// Numbers that the Ruby parts know kinds by stand beside them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Void,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    LongDouble,
    Pointer,
    /// `char *` that Ruby sees as a String.
    Text,
    /// A byte.
    Bool,
    /// By value, of so many bytes.
    Struct(usize),
}

/// By number; structures are no numbers.
const KINDS: [Kind; 15] = [
    Kind::Void,
    Kind::I8,
    Kind::U8,
    Kind::I16,
    Kind::U16,
    Kind::I32,
    Kind::U32,
    Kind::I64,
    Kind::U64,
    Kind::F32,
    Kind::F64,
    Kind::LongDouble,
    Kind::Pointer,
    Kind::Text,
    Kind::Bool,
];

impl Kind {
    pub fn of(cx: &mut Cx, number: i64) -> Result<Kind> {
        match usize::try_from(number).ok().and_then(|n| KINDS.get(n)) {
            Some(k) => Ok(*k),
            None => cx.type_error(format!("unknown kind of value: {number}")),
        }
    }
    pub fn size(self) -> usize {
        match self {
            Kind::Void => 0,
            Kind::I8 | Kind::U8 | Kind::Bool => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::LongDouble => 16,
            Kind::Struct(n) => n,
            _ => 8,
        }
    }
    fn native(self) -> *mut ffi_type {
        match self {
            Kind::Void | Kind::Struct(_) => addr_of_mut!(ffi_type_void),
            Kind::I8 => addr_of_mut!(ffi_type_sint8),
            Kind::U8 | Kind::Bool => addr_of_mut!(ffi_type_uint8),
            Kind::I16 => addr_of_mut!(ffi_type_sint16),
            Kind::U16 => addr_of_mut!(ffi_type_uint16),
            Kind::I32 => addr_of_mut!(ffi_type_sint32),
            Kind::U32 => addr_of_mut!(ffi_type_uint32),
            Kind::I64 => addr_of_mut!(ffi_type_sint64),
            Kind::U64 => addr_of_mut!(ffi_type_uint64),
            Kind::F32 => addr_of_mut!(ffi_type_float),
            Kind::F64 => addr_of_mut!(ffi_type_double),
            Kind::LongDouble => addr_of_mut!(ffi_type_longdouble),
            Kind::Pointer | Kind::Text => addr_of_mut!(ffi_type_pointer),
        }
    }
}

/// The types of structures; what refers to one stands after it.
#[derive(Default)]
struct Structures {
    // Others point at each: they must stay where they are.
    #[allow(clippy::vec_box)]
    types: Vec<Box<ffi_type>>,
    elements: Vec<Box<[*mut ffi_type]>>,
    /// Parameters and fields so far.
    count: usize,
}

impl Structures {
    fn room(&mut self, cx: &mut Cx, more: usize) -> Result<()> {
        self.count = self.count.saturating_add(more);
        if self.count > MOST || !cx.heap.admits(more * size_of::<*mut ffi_type>()) {
            cx.arg_error("structure is too large")
        } else {
            Ok(())
        }
    }
    /// [size, alignment, field, ...], each field a number or a structure.
    fn add(&mut self, cx: &mut Cx, list: Ref<ArrayCell>, depth: usize) -> Result<*mut ffi_type> {
        if depth > DEEPEST {
            return cx.arg_error("structure is too large");
        }
        self.room(cx, list.len().saturating_add(1))?;
        let mut fields = Vec::with_capacity(list.len());
        let mut i = 2;
        while let Some(v) = list.get(i) {
            i += 1;
            let field = match Ref::<ArrayCell>::from_value(v) {
                Some(inner) => self.add(cx, inner, depth + 1)?,
                None => {
                    let n = cx.to_i64(v)?;
                    Kind::of(cx, n)?.native()
                }
            };
            fields.push(field);
        }
        fields.push(std::ptr::null_mut());
        let number = |cx: &mut Cx, i| match list.get(i) {
            Some(v) => cx.to_i64(v),
            None => cx.arg_error("structure without a size"),
        };
        let (size, alignment) = (number(cx, 0)?.clamp(0, 1 << 30) as usize, number(cx, 1)?.clamp(1, 64) as u16);
        let mut fields = fields.into_boxed_slice();
        // A size makes libffi take size and alignment as they are told, which is how packed structures come out right.
        let mut structure = Box::new(ffi_type { size, alignment, type_: FFI_TYPE_STRUCT, elements: fields.as_mut_ptr() });
        let p: *mut ffi_type = &mut *structure;
        self.types.push(structure);
        self.elements.push(fields);
        Ok(p)
    }
}

/// A prepared interface, which never changes.
pub struct Cif {
    cif: Box<ffi_cif>,
    pub result: Kind,
    pub parameters: Vec<Kind>,
    /// What `cif` refers to.
    _types: Box<[*mut ffi_type]>,
    _structures: Structures,
}

// SAFETY: read only once it is made.
unsafe impl Send for Cif {}
// SAFETY: as above.
unsafe impl Sync for Cif {}

fn one(cx: &mut Cx, structures: &mut Structures, v: Value) -> Result<(Kind, *mut ffi_type)> {
    match Ref::<ArrayCell>::from_value(v) {
        Some(list) => {
            let t = structures.add(cx, list, 0)?;
            // SAFETY: just made.
            Ok((Kind::Struct(unsafe { (*t).size }), t))
        }
        None => {
            let n = cx.to_i64(v)?;
            let kind = Kind::of(cx, n)?;
            Ok((kind, kind.native()))
        }
    }
}

impl Cif {
    /// `fixed`: how many parameters are always there; the others are those of one call of a function with any number of them.
    pub fn new(cx: &mut Cx, result: Value, parameters: Ref<ArrayCell>, fixed: Option<usize>) -> Result<Cif> {
        let mut structures = Structures::default();
        let (result, result_type) = one(cx, &mut structures, result)?;
        structures.room(cx, parameters.len())?;
        let (mut kinds, mut types) = (Vec::new(), Vec::new());
        while let Some(v) = parameters.get(kinds.len()) {
            let (kind, t) = one(cx, &mut structures, v)?;
            if kind == Kind::Void {
                return cx.arg_error("Invalid argument type specified");
            }
            kinds.push(kind);
            types.push(t);
        }
        let mut types = types.into_boxed_slice();
        let mut cif = Box::new(ffi_cif::default());
        let count = types.len() as c_uint;
        // SAFETY: types live as long as the interface.
        let status = unsafe {
            match fixed {
                Some(n) => {
                    ffi_prep_cif_var(&mut *cif, ffi_abi_FFI_DEFAULT_ABI, (n as c_uint).min(count), count, result_type, types.as_mut_ptr())
                }
                None => ffi_prep_cif(&mut *cif, ffi_abi_FFI_DEFAULT_ABI, count, result_type, types.as_mut_ptr()),
            }
        };
        if status != ffi_status_FFI_OK {
            return cx.arg_error("Invalid argument type specified");
        }
        Ok(Cif { cif, result, parameters: kinds, _types: types, _structures: structures })
    }
    /// malloc'ed bytes, about.
    fn weight(&self) -> usize {
        let structures = self._structures.types.len() * (size_of::<ffi_type>() + 48);
        size_of::<Cif>() + size_of::<ffi_cif>() + self.parameters.len() * size_of::<Kind>() + self._structures.count * 8 + structures
    }
    /// For libffi, which does not change it.
    pub fn raw(&self) -> *mut ffi_cif {
        std::ptr::from_ref(&*self.cif).cast_mut()
    }
    /// # Safety
    /// A function of this interface, with places for its result (a word at least) and of its arguments.
    pub unsafe fn call(&self, function: usize, result: *mut c_void, arguments: *mut *mut c_void) {
        // SAFETY: the caller's word.
        unsafe {
            let f = std::mem::transmute::<usize, Option<unsafe extern "C" fn()>>(function);
            ffi_call(self.raw(), f, result, arguments);
        }
    }
}

/// Payload of an interface. Copies share it.
#[derive(Clone, Trace)]
pub struct Interface(#[untraced] pub std::sync::Arc<Cif>);

impl NativeData for Interface {
    fn refers(&self) -> bool {
        false
    }
    fn weight(&self) -> usize {
        self.0.weight()
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(self.clone()))
    }
    fn change_tracking(&self) -> ChangeTracking {
        ChangeTracking::Independent
    }
}
