//! Method and UnboundMethod.

use zakuro_macros::ruby_class;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[method::METHODS, unbound::METHODS];

pub fn setup(_cx: &mut Cx) {}

type Obj = Ref<MethodObjCell>;

fn new_object(cx: &mut Cx, class: ClassId, receiver: Value, m: Ref<MethodCell>, from: ClassId, name: Sym) -> Value {
    let header = Header { shape: class.0, kind: Kind::MethodObj as u8, flags: 0, aux: 0 };
    let from = cx.class_value(from);
    alloc_cell(&cx.heap, MethodObjCell { header, receiver, method: m.as_value(), class: from, name }).as_value()
}

/// Method object of a method found in `from`.
pub fn make(cx: &mut Cx, receiver: Value, m: Ref<MethodCell>, from: ClassId, name: Sym) -> Value {
    let m = cx.not_stand_in(from, m);
    new_object(cx, ids::METHOD, receiver, m, from, name)
}
pub fn make_unbound(cx: &mut Cx, m: Ref<MethodCell>, from: ClassId, name: Sym) -> Value {
    let m = cx.not_stand_in(from, m);
    new_object(cx, ids::UNBOUND_METHOD, Value::NIL, m, from, name)
}

/// `object.method(name)`
pub fn of_object(cx: &mut Cx, this: Value, name: Sym, public: bool) -> Result<Value> {
    let class = cx.dispatch_class(this);
    let cref = cx.current_cref();
    if let Some(m) = cx.find_method_from(cref, class, name)
        && (!public || m.visibility() == Visibility::Public)
    {
        return Ok(make(cx, this, m, class, name));
    }
    if let Some(r) = cx.method_of(this, sym::respond_to_missing)
        && r.method_kind() != MethodKind::Native
        && cx.call(this, sym::respond_to_missing, &[Value::sym(name), Value::bool(!public)])?.truthy()
    {
        let m = MethodCell::make(&cx.heap, name, class, Visibility::Public, MethodKind::Missing, Value::NIL, 0, Value::NIL);
        return Ok(make(cx, this, m, class, name));
    }
    // Names the singleton class if there is one; a class is told as if it had.
    let n = match cx.class_id(this) {
        Some(c) => format!("#<Class:{}>", cx.class_name(c)),
        None => cx.class_name(class),
    };
    cx.name_error(format!("undefined method '{}' for class '{n}'", name.name()), name, this)
}

fn cell(o: Obj) -> Ref<MethodCell> {
    Ref::of(o.method)
}

/// Parameter list of a method as (kind, name).
pub fn parameter_list(cx: &mut Cx, m: Ref<MethodCell>) -> Vec<(&'static str, Option<Sym>)> {
    if let Some(list) = cx.declared_parameters(m) {
        return list;
    }
    match m.method_kind() {
        MethodKind::Ruby => Cx::method_code(m).map_or(Vec::new(), |c| c.params.list.clone()),
        MethodKind::Proc => match Ref::<ProcCell>::from_value(m.data) {
            Some(p) => crate::proc::parameter_list(cx, p, true),
            None => Vec::new(),
        },
        MethodKind::AttrReader => Vec::new(),
        // A member of a Struct is a variable without `@`.
        MethodKind::AttrWriter if m.data.as_sym().is_some_and(|n| !n.bytes().starts_with(b"@")) => vec![("req", Some(Sym::intern("_")))],
        MethodKind::AttrWriter => vec![("req", None)],
        MethodKind::Native => match Cx::native_row(m) {
            Some(r) if r.max == r.min as isize => vec![("req", None); r.min],
            Some(_) => vec![("rest", None)],
            None => vec![("rest", None)],
        },
        _ => vec![("rest", None)],
    }
}

/// Parameters in the order in which programs see them: keywords that are required come before the others.
fn as_shown(list: &[(&'static str, Option<Sym>)]) -> Vec<(&'static str, Option<Sym>)> {
    let mut list = list.to_vec();
    list.sort_by_key(|(kind, _)| match *kind {
        "keyreq" => 1,
        "key" => 2,
        "nokey" | "keyrest" | "block" => 3,
        _ => 0,
    });
    list
}

/// The Array that `parameters` returns.
pub fn parameters_value(cx: &mut Cx, list: &[(&'static str, Option<Sym>)]) -> Value {
    let out = cx.new_array();
    for (kind, name) in &as_shown(list) {
        // Anonymous ones have the names that they are written with; destructuring ones have none.
        let shown = match (*kind, name) {
            (_, Some(n)) => Some(match n.bytes() {
                b"*_" => Sym::intern("*"),
                b"**_" => Sym::intern("**"),
                b"&_" => Sym::intern("&"),
                _ => *n,
            }),
            _ => None,
        };
        let pair = cx.array_of([Some(Sym::intern(kind)), shown].into_iter().flatten().map(Value::sym));
        ArrayCell::push(out, &mut cx.heap, pair);
    }
    out.as_value()
}

/// [file, line] of a definition in Ruby, nil for builtins.
pub fn source_location(cx: &mut Cx, m: Ref<MethodCell>) -> Value {
    let code = match m.method_kind() {
        MethodKind::Ruby => Cx::method_code(m),
        MethodKind::Proc => cx.block_code(Block(m.data.bits())),
        MethodKind::AttrReader | MethodKind::AttrWriter => return m.cref,
        _ => None,
    };
    location_value(cx, code)
}

/// Module whose table holds the method: that of an alias or changed visibility, too.
fn owner(cx: &mut Cx, o: Obj) -> Value {
    let mut holder = cell(o).owner;
    if let Some(class) = cx.class_id(o.class)
        && let Some(c) = cx.ancestors(class).find(|c| cx.class(*c).methods.contains_key(&o.name))
        && let Some(m) = cx.method_in(c, o.name)
    {
        let changed = m.method_kind() == MethodKind::ZSuper;
        // What a look-up finds for an entry that changes the visibility is made anew when the caches have lost it.
        let same = |f: Ref<MethodCell>| {
            let mine = cell(o);
            f.reserved == mine.reserved && f.owner == mine.owner && f.body == mine.body && f.data.bits() == mine.data.bits()
        };
        if m.as_value() == o.method || changed && cx.find_method(class, o.name).is_some_and(same) {
            holder = c;
        }
    }
    cx.class_value(holder)
}

/// [file, line] of a Code, nil without one (and for the prelude's).
pub fn location_value(cx: &mut Cx, code: Option<&'static zakuro_bytecode::Code>) -> Value {
    match code {
        Some(c) => {
            let f = cx.str(&c.file);
            cx.array(&[f, Value::fixnum(c.line as i32 as i64)])
        }
        None => Value::NIL,
    }
}

/// `a, b = ..., *c, d:, &e`
fn signature(list: &[(&'static str, Option<Sym>)]) -> String {
    let mut parts = Vec::new();
    for (kind, name) in list {
        let n = name.map_or("_".to_string(), |n| n.name().into_owned());
        let anonymous = name.is_none() || matches!(n.as_str(), "*_" | "**_" | "&_" | "*" | "**" | "&");
        parts.push(match *kind {
            "req" => n,
            "opt" => format!("{n}=..."),
            "rest" => if anonymous { "*".into() } else { format!("*{n}") },
            "keyreq" => format!("{n}:"),
            "key" => format!("{n}: ..."),
            "keyrest" => if anonymous { "**".into() } else { format!("**{n}") },
            "nokey" => "**nil".into(),
            "block" => if anonymous { "&".into() } else { format!("&{n}") },
            _ => n,
        });
    }
    // `...` is written as such.
    if let [head @ .., a, b, c] = &parts[..]
        && (a.as_str(), b.as_str(), c.as_str()) == ("*", "**", "&")
    {
        let mut all = head.to_vec();
        all.push("...".into());
        return all.join(", ");
    }
    parts.join(", ")
}

/// A class as `inspect` shows it, which a program may have made its own.
fn shown_class(cx: &mut Cx, id: ClassId) -> Result<String> {
    let class = cx.class_value(id);
    cx.inspect_text(class)
}

fn inspect(cx: &mut Cx, o: Obj) -> Result<String> {
    let m = cell(o);
    let bound = o.header.shape == ids::METHOD.0;
    let mut out = if bound { "#<Method: ".to_string() } else { "#<UnboundMethod: ".to_string() };
    let owner = m.owner;
    if cx.class(owner).kind == ClassKind::Singleton {
        let a = cx.attached(owner);
        if bound && a == o.receiver {
            out.push_str(&cx.inspect_text(a)?);
        } else if bound {
            out.push_str(&cx.inspect_text(o.receiver)?);
            out.push('(');
            out.push_str(&cx.inspect_text(a)?);
            out.push(')');
        } else {
            out.push_str(&shown_class(cx, owner)?);
        }
        out.push(if bound { '.' } else { '#' });
    } else {
        let own = shown_class(cx, owner)?;
        if bound {
            let c = match cx.class_id(o.receiver) {
                // A class method that comes from Class, Module or a module.
                Some(k) if cx.class(k).kind != ClassKind::Module || cx.class(k).singleton.is_some() => {
                    let shown = shown_class(cx, k)?;
                    format!("#<Class:{shown}>")
                }
                // What `super_method` answers.
                _ if cx.class_id(o.class) == Some(owner) => own.clone(),
                _ => {
                    let class = cx.class_of(o.receiver);
                    shown_class(cx, class)?
                }
            };
            out.push_str(&c);
            if c != own {
                out.push_str(&format!("({own})"));
            }
        } else {
            out.push_str(&own);
        }
        out.push('#');
    }
    out.push_str(&o.name.name());
    if m.name != o.name {
        out.push_str(&format!("({})", m.name.name()));
    }
    let list = as_shown(&parameter_list(cx, m));
    out.push_str(&format!("({})", signature(&list)));
    let at = source_location(cx, m);
    if let Some(a) = Ref::<ArrayCell>::from_value(at)
        && let [file, line] = *a.elements(&cx.heap)
    {
        out.push_str(&format!(" {}:{}", cx.to_s_text(file)?, cx.to_s_text(line)?));
    }
    out.push('>');
    Ok(out)
}

/// Whether two cells are the same method (aliases are).
fn same_method(a: Ref<MethodCell>, b: Ref<MethodCell>) -> bool {
    a == b || a.method_kind() == b.method_kind() && a.owner == b.owner && a.body == b.body && a.data == b.data && a.cref == b.cref
        && (a.name == b.name || a.body != 0)
}

/// Hash code of what [`same_method`] compares, and of a receiver; the same in a fork.
pub(crate) fn code_of(cx: &Cx, receiver: Option<Value>, method: Value) -> u64 {
    let m = Ref::<MethodCell>::of(method);
    let name = if m.body == 0 { u64::from(m.name.0) } else { 0 };
    let receiver = receiver.map_or(0, |r| cx.identity_hash(r));
    let data = if m.data.bits() == 0 { 0 } else { cx.identity_hash(m.data) };
    equality::combine(&[receiver, u64::from(m.owner.0), m.body as u64, name, data])
}

/// The method for a receiver that fits its owner. `super` in it goes on from the first place that the owner has there.
fn bound(cx: &mut Cx, o: Obj, receiver: Value) -> Result<Ref<MethodCell>> {
    let m = cell(o);
    // A refinement's is one of the class that it refines.
    let owner = cx.refined_class(m.owner).unwrap_or(m.owner);
    match cx.class(owner).kind {
        ClassKind::Module if m.place() != 0 => {
            let copy = cx.copy_method(m, m.called, owner, m.visibility());
            copy.init_place(0);
            Ok(copy)
        }
        ClassKind::Module => Ok(m),
        _ if cx.is_a(receiver, owner) => Ok(m),
        ClassKind::Singleton => cx.type_error("singleton method called for a different object"),
        ClassKind::Class => {
            let n = cx.class_name(owner);
            cx.type_error(format!("bind argument must be an instance of {n}"))
        }
    }
}

fn super_method(cx: &mut Cx, o: Obj, class: ClassId) -> Option<Ref<MethodCell>> {
    cx.find_super_method_of(class, cell(o))
}

#[ruby_class(ids::METHOD)]
mod method {
    use super::*;

    /// Calls the method.
    ///
    ///     1.method(:+).call(2)   #=> 3
    #[method("call", "()", "===", "[]")]
    fn call(cx: &mut Cx, this: Obj, args: Args) -> Result<Value> {
        cx.call_told(cell(this), this.receiver, this.name, args.all(), args.kw, args.block)
    }
    /// A lambda that calls the method.
    ///
    ///     [1, 2].map(&2.method(:*))   #=> [2, 4]
    #[method("to_proc")]
    fn to_proc(heap: &Heap, this: Obj) -> Value {
        let mut header = zakuro_vm::header(ids::PROC, Kind::Proc, ProcKind::Method as u16);
        header.flags |= LAMBDA;
        let p = ProcCell { header, code: 0, env: Value::NIL, self_: this.receiver, me: this.method, extra: this.as_value() };
        alloc_cell(heap, p).as_value()
    }
    /// The object that the method is called on.
    ///
    ///     1.method(:+).receiver   #=> 1
    #[method("receiver")]
    fn receiver(this: Obj) -> Value {
        this.receiver
    }
    /// The method without its receiver.
    ///
    ///     1.method(:+).unbind.bind_call(2, 3)   #=> 5
    #[method("unbind")]
    fn unbind(cx: &mut Cx, this: Obj) -> Value {
        let from = cx.class_id(this.class).unwrap_or(ids::OBJECT);
        make_unbound(cx, cell(this), from, this.name)
    }
    /// The method that `super` in this one calls, nil when there is none.
    ///
    ///     class Sup; def a = 1; end; class Sub < Sup; def a = 2; end; Sub.new.method(:a).super_method.call   #=> 1
    #[method("super_method")]
    fn super_method(cx: &mut Cx, this: Obj) -> Value {
        let class = cx.dispatch_class(this.receiver);
        match super::super_method(cx, this, class) {
            Some(m) => make(cx, this.receiver, m, m.owner, cell(this).name),
            None => Value::NIL,
        }
    }
    /// Same receiver and same method.
    ///
    ///     1.method(:+) == 1.method(:+)   #=> true
    #[method("==", "eql?")]
    fn eq(this: Obj, other: Value) -> bool {
        Obj::from_value(other)
            .is_some_and(|o| o.header.shape == this.header.shape && o.receiver == this.receiver && same_method(cell(o), cell(this)))
    }
    /// A number for Hash lookup.
    #[method("hash")]
    fn hash(cx: &Cx, this: Obj) -> Value {
        cx.shown_hash(code_of(cx, Some(this.receiver), this.method))
    }
    /// Name, class and parameters as text.
    ///
    ///     1.method(:+).inspect   #=> "#<Method: Integer#+(_)>"
    #[method("inspect", "to_s")]
    fn inspect(cx: &mut Cx, this: Obj) -> Result<String> {
        super::inspect(cx, this)
    }
    /// Name that the method was asked by.
    ///
    ///     1.method(:+).name   #=> :+
    #[method("name")]
    fn name(this: Obj) -> Sym {
        this.name
    }
    /// Name that the method was defined by (differs for an alias).
    #[method("original_name")]
    fn original_name(this: Obj) -> Sym {
        cell(this).name
    }
    /// The module that defines the method.
    ///
    ///     1.method(:puts).owner   #=> Kernel
    #[method("owner")]
    fn owner(cx: &mut Cx, this: Obj) -> Value {
        super::owner(cx, this)
    }
    /// Number of arguments; -n-1 when n are required and more are possible.
    ///
    ///     [1.method(:+).arity, [].method(:push).arity]   #=> [1, -1]
    #[method("arity")]
    fn arity(cx: &mut Cx, this: Obj) -> i64 {
        cx.method_arity(cell(this))
    }
    /// Kinds and names of the parameters.
    ///
    ///     def prm(a, b = 1, *c, d:, &e) = 0; method(:prm).parameters   #=> [[:req, :a], [:opt, :b], [:rest, :c], [:keyreq, :d], [:block, :e]]
    #[method("parameters")]
    fn parameters(cx: &mut Cx, this: Obj) -> Value {
        let list = parameter_list(cx, cell(this));
        parameters_value(cx, &list)
    }
    /// [file, line] of the definition, nil for builtins.
    ///
    ///     1.method(:+).source_location   #=> nil
    #[method("source_location")]
    fn source_location(cx: &mut Cx, this: Obj) -> Value {
        super::source_location(cx, cell(this))
    }
}

#[ruby_class(ids::UNBOUND_METHOD)]
mod unbound {
    use super::*;

    /// The method of an object.
    ///
    ///     String.instance_method(:size).bind("abc").call   #=> 3
    #[method("bind")]
    fn bind(cx: &mut Cx, this: Obj, receiver: Value) -> Result<Value> {
        let m = bound(cx, this, receiver)?;
        let class = cx.dispatch_class(receiver);
        Ok(make(cx, receiver, m, class, this.name))
    }
    /// Calls the method on an object.
    ///
    ///     Array.instance_method(:push).bind_call([1], 2)   #=> [1, 2]
    #[method("bind_call", min = 1)]
    fn bind_call(cx: &mut Cx, this: Obj, args: Args) -> Result<Value> {
        let receiver = args.all()[0];
        let m = bound(cx, this, receiver)?;
        cx.call_method(m, receiver, this.name, &args.all()[1..], args.kw, args.block)
    }
    /// The method that `super` in this one calls, nil when there is none.
    #[method("super_method")]
    fn super_method(cx: &mut Cx, this: Obj) -> Value {
        let class = cx.class_id(this.class).unwrap_or(ids::OBJECT);
        match super::super_method(cx, this, class) {
            Some(m) => make_unbound(cx, m, class, cell(this).name),
            None => Value::NIL,
        }
    }
    /// Whether both are the same method.
    ///
    ///     String.instance_method(:size) == String.instance_method(:size)   #=> true
    #[method("==", "eql?")]
    fn eq(this: Obj, other: Value) -> bool {
        Obj::from_value(other).is_some_and(|o| o.header.shape == this.header.shape && same_method(cell(o), cell(this)))
    }
    /// A number for Hash lookup.
    #[method("hash")]
    fn hash(cx: &Cx, this: Obj) -> Value {
        cx.shown_hash(code_of(cx, None, this.method))
    }
    /// Name, class and parameters as text.
    ///
    ///     Integer.instance_method(:+).inspect   #=> "#<UnboundMethod: Integer#+(_)>"
    #[method("inspect", "to_s")]
    fn inspect(cx: &mut Cx, this: Obj) -> Result<String> {
        super::inspect(cx, this)
    }
    /// Name that the method was asked by.
    ///
    ///     Integer.instance_method(:+).name   #=> :+
    #[method("name")]
    fn name(this: Obj) -> Sym {
        this.name
    }
    /// Name that the method was defined by (differs for an alias).
    #[method("original_name")]
    fn original_name(this: Obj) -> Sym {
        cell(this).name
    }
    /// The module that defines the method.
    ///
    ///     Integer.instance_method(:puts).owner   #=> Kernel
    #[method("owner")]
    fn owner(cx: &mut Cx, this: Obj) -> Value {
        super::owner(cx, this)
    }
    /// Number of arguments; -n-1 when n are required and more are possible.
    ///
    ///     Integer.instance_method(:+).arity   #=> 1
    #[method("arity")]
    fn arity(cx: &mut Cx, this: Obj) -> i64 {
        cx.method_arity(cell(this))
    }
    /// Kinds and names of the parameters.
    ///
    ///     Integer.instance_method(:+).parameters   #=> [[:req]]
    #[method("parameters")]
    fn parameters(cx: &mut Cx, this: Obj) -> Value {
        let list = parameter_list(cx, cell(this));
        parameters_value(cx, &list)
    }
    /// [file, line] of the definition, nil for builtins.
    #[method("source_location")]
    fn source_location(cx: &mut Cx, this: Obj) -> Value {
        super::source_location(cx, cell(this))
    }
}
