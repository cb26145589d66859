//! New objects.

use zakuro_vm::*;

/// A new instance, `initialize` not called.
#[inline]
pub fn allocate(cx: &mut Cx, class: ClassId) -> Result<Value> {
    let c = cx.class(class);
    let (shape, hint) = (c.root_shape, c.ivar_hint as usize);
    if c.kind == ClassKind::Singleton {
        return cx.type_error("can't create instance of singleton class");
    }
    Ok(match c.alloc {
        Alloc::Object => ObjectCell::make(&cx.heap, shape, Kind::Object, hint).as_value(),
        Alloc::Exception => ObjectCell::make(&cx.heap, shape, Kind::Exception, hint).as_value(),
        Alloc::String => StringCell::empty(&cx.heap, shape, string::BINARY).as_value(),
        Alloc::Array => ArrayCell::empty(&cx.heap, shape).as_value(),
        Alloc::Hash => HashCell::make(&cx.heap, shape).as_value(),
        Alloc::Range => RangeCell::make_open(&cx.heap, shape, Value::NIL, Value::NIL, false).as_value(),
        Alloc::Data => DataCell::make(&cx.heap, shape, None).as_value(),
        Alloc::Module => new_module(cx, class),
        Alloc::Class => {
            // Without a superclass until `initialize` gives it one: see `is_blank`.
            let id = cx.new_class(ClassKind::Class, None);
            cx.class_mut(id).alloc = Alloc::None;
            cx.class_value(id)
        }
        Alloc::None if is_blank(cx, class) => return cx.type_error("can't instantiate uninitialized class"),
        Alloc::None => {
            let n = cx.class_name(class);
            return cx.type_error(format!("allocator undefined for {n}"));
        }
    })
}

/// Whether a class came from `Class.allocate` and was not initialised.
pub fn is_blank(cx: &Cx, class: ClassId) -> bool {
    let c = cx.class(class);
    c.kind == ClassKind::Class && c.superclass.is_none() && class != ids::BASIC_OBJECT
}

/// A new anonymous module whose class is `class` (Module or a subclass of it).
pub fn new_module(cx: &mut Cx, class: ClassId) -> Value {
    let id = cx.new_class_of(class, ClassKind::Module, None);
    cx.class_value(id)
}
