//! Opening: first every cell, then what they refer to; then what runs Ruby code: Methods are looked up, hash codes of keys that are no plain content
//! computed again, `marshal_load` called (inner objects first).
//!
//! Every cell is a valid, empty one from the start and registered as a root, since looking a class up may already run Ruby code (autoload).

use super::*;
use crate::account::Activity;
use crate::frame::CodeState;
use crate::make::RootedVec;
use crate::raise::Result;
use crate::vm::Cx;
use zakuro_object::string::CodeRange;

/// Messages of so many objects are opened without a vector for them.
const FEW: usize = 8;

/// A shape row in this VM.
#[derive(Clone, Copy)]
struct Layout {
    shape: u32,
    hint: u16,
}

/// What waits until every cell is filled.
#[derive(Default)]
struct Later {
    methods: Vec<(usize, Head)>,
    hashes: Vec<usize>,
    /// Number, class, word.
    loads: Vec<(usize, ClassId, Value)>,
}

impl Cx {
    /// Makes the value of an envelope in this VM's heap. ArgumentError when the VM lacks a class that it needs.
    #[inline]
    pub fn open(&mut self, e: Envelope) -> Result<Value> {
        match e.into_form() {
            Form::Value(v) => Ok(v),
            Form::Short(bytes) => Ok(flat::open(self, &bytes.0)),
            form => self.open_large(form),
        }
    }
    #[inline(never)]
    fn open_large(&mut self, form: Form) -> Result<Value> {
        if self.counting.is_some() && matches!(form, Form::Graph(_)) {
            return self.open_counted(form);
        }
        self.open_form(form)
    }
    #[cold]
    fn open_counted(&mut self, form: Form) -> Result<Value> {
        let before = self.begin_activity(Activity::Open);
        let opened = self.open_form(form);
        self.end_activity(before);
        opened
    }
    #[inline(always)]
    fn open_form(&mut self, form: Form) -> Result<Value> {
        match form {
            Form::Flat(bytes) => Ok(flat::open(self, &bytes)),
            Form::Region(region, cell) => self.open_reference(&region, cell),
            Form::Buffer(buf, what, len) => Ok(self.open_buffer(buf, what, len)),
            Form::Graph(boxed) => self.open_graph(*boxed),
            Form::WithAttachment(both) => self.open(both.0),
            small => self.open(Envelope::new(small)),
        }
    }
    /// A String or Array over a received buffer: see [`Envelope::buffer`].
    fn open_buffer(&mut self, buf: BufRef, what: u64, len: usize) -> Value {
        let offset = (what & BUFFER_OFFSET) as usize;
        let v = if what & BUFFER_ARRAY != 0 {
            ArrayCell::from_shared(&self.heap, ids::ARRAY.0, buf, offset, len).as_value()
        } else {
            let s = StringCell::from_shared(&self.heap, ids::STRING.0, buf, offset, len, (what >> BUFFER_ENCODING) as u8);
            s.set_code_range(code_range((what >> BUFFER_RANGE) as u16));
            s.as_value()
        };
        if what & BUFFER_FROZEN != 0 {
            v.set_flags(flags::FROZEN);
        }
        v
    }
    fn open_graph(&mut self, Boxed { root, graph, .. }: Boxed) -> Result<Value> {
        let Graph { heads, mut words, bytes, parts, shapes, classes, codes, carries: _ } = graph;
        let mut layouts = Vec::with_capacity(shapes.len());
        for s in &shapes {
            layouts.push(self.layout(s)?);
        }
        let mut class_ids = Vec::with_capacity(classes.len());
        for c in &classes {
            class_ids.push(self.resolve_class(c)?);
        }
        let mut states: Vec<*const CodeState> = Vec::with_capacity(codes.len());
        for c in &codes {
            let s = self.code_state(&c.code);
            if let Some(p) = c.parent {
                // SAFETY: code states live as long as the VM.
                unsafe { (*s).parent.set(states[p]) };
            }
            states.push(s);
        }
        // A few fit on the native stack, which is scanned.
        let mut few = [Value::NIL; FEW];
        let mut many = None;
        let made: &mut [Value] = match heads.len() {
            0..=FEW => &mut few,
            n => many.insert(RootedVec::filled(self, Value::NIL, n)),
        };
        let mut builds: Vec<(usize, Unpack)> = Vec::new();
        let mut parts = parts.into_iter();
        let (mut byte, mut word) = (0, 0);
        for (n, head) in heads.iter().enumerate() {
            let start = word;
            word += words_of(head, &words[start..]);
            let v = self.received_cell(head, &layouts, &class_ids, &bytes, &mut byte, &mut parts, &mut builds, n, &words[start..])?;
            made[n] = v;
        }
        let mut later = Later::default();
        let mut builds = builds.into_iter().peekable();
        let mut at = 0;
        for (n, head) in heads.iter().enumerate() {
            let count = words_of(head, &words[at..]);
            let w = &mut words[at..at + count];
            at += count;
            let build = builds.next_if(|(k, _)| *k == n).map(|(_, b)| b);
            self.fill_received(n, head, w, made, &states, build, &class_ids, &mut later);
        }
        let root = as_node(root).map_or(root, |n| made[n]);
        if !later.methods.is_empty() || !later.hashes.is_empty() || !later.loads.is_empty() {
            self.finish_open(made, later)?;
        }
        Ok(root)
    }
    /// The cell of a head, without what it refers to.
    #[allow(clippy::too_many_arguments)] // one caller, one loop
    #[inline]
    fn received_cell(
        &mut self,
        head: &Head,
        layouts: &[Layout],
        classes: &[ClassId],
        bytes: &[u8],
        byte: &mut usize,
        parts: &mut std::vec::IntoIter<Part>,
        builds: &mut Vec<(usize, Unpack)>,
        n: usize,
        words: &[Value],
    ) -> Result<Value> {
        let Header { shape, kind, aux, .. } = head.header;
        let kind = Kind::from_u8(kind);
        let Layout { shape, hint } = match shape.checked_sub(shape::FIRST_DYNAMIC) {
            None => Layout { shape, hint: 0 },
            Some(row) => layouts[row as usize],
        };
        let header = Header { shape, flags: 0, ..head.header };
        let nil = Value::NIL;
        let heap = &mut self.heap;
        Ok(match kind {
            Kind::String => {
                let s = match head.header.flags & OUT != 0 {
                    false => {
                        let content = &bytes[*byte..*byte + head.len];
                        *byte += head.len;
                        StringCell::make(heap, shape, content, aux as u8)
                    }
                    true => match parts.next() {
                        Some(Part::Buffer { buf, offset }) => StringCell::from_shared(heap, shape, buf, offset, head.len, aux as u8),
                        _ => StringCell::empty(heap, shape, aux as u8),
                    },
                };
                s.set_code_range(code_range(aux >> 8));
                s.as_value()
            }
            Kind::Array if head.header.flags & OUT != 0 => match parts.next() {
                Some(Part::Buffer { buf, offset }) => ArrayCell::from_shared(heap, shape, buf, offset, head.len).as_value(),
                _ => ArrayCell::empty(heap, shape).as_value(),
            },
            Kind::Array => ArrayCell::for_len(heap, shape, head.len).as_value(),
            Kind::Hash => HashCell::make(heap, shape).as_value(),
            Kind::Object | Kind::Exception => ObjectCell::make(heap, shape, kind, head.len.max(hint as usize)).as_value(),
            Kind::Float => FloatCell::make(heap, f64::from_bits(head.len as u64)),
            Kind::Bignum => match parts.next() {
                Some(Part::Big(b)) => self.big(*b),
                _ => nil,
            },
            Kind::Range => RangeCell::make(heap, shape, nil, nil, aux != 0).as_value(),
            Kind::Rational => PairCell::make(heap, ids::RATIONAL, kind, nil, nil),
            Kind::Complex => PairCell::make(heap, ids::COMPLEX, kind, nil, nil),
            Kind::Class => self.class_value(classes[head.len]),
            Kind::Data => match parts.next() {
                Some(Part::Copy(p)) => DataCell::make(heap, shape, Some(p)).as_value(),
                Some(Part::Build(build)) if head.len == 0 => match build(self, &[]) {
                    Some(Unpacked::Object(bits)) => bits,
                    Some(Unpacked::Payload(p)) => DataCell::make(&self.heap, shape, Some(p)).as_value(),
                    None => DataCell::make(&self.heap, shape, None).as_value(),
                },
                Some(Part::Build(build)) => {
                    builds.push((n, build));
                    DataCell::make(heap, shape, None).as_value()
                }
                _ => nil,
            },
            Kind::Proc => alloc_cell(heap, ProcCell { header, code: 0, env: nil, self_: nil, me: nil, extra: nil }).as_value(),
            Kind::Env => EnvCell::make(heap, nil, head.len).as_value(),
            Kind::Cref => {
                let header = zakuro_object::header(ids::OBJECT, Kind::Cref, aux);
                alloc_cell(heap, CrefCell { header, class: nil, parent: nil, definee: nil, refinements: nil }).as_value()
            }
            Kind::Method => match parts.next() {
                Some(Part::Method { name, called, owner, kind, visibility, body }) => {
                    let owner = classes[owner];
                    let m = match body {
                        MethodBody::Code(code) => self.ruby_method(name, owner, visibility, &code, nil),
                        MethodBody::Native(body) => MethodCell::make(heap, name, owner, visibility, kind, nil, body, nil),
                    };
                    m.init_copy(called, m.reserved);
                    m.as_value()
                }
                _ => nil,
            },
            Kind::MethodObj => {
                let name = Sym(head.len as u32);
                alloc_cell(heap, MethodObjCell { header: Header { aux: 0, ..header }, receiver: nil, method: nil, class: nil, name })
                    .as_value()
            }
            Kind::Free => match Special::of(aux) {
                Special::Main => self.main,
                Special::Env => self.const_get_from(self.class_value(ids::OBJECT), Sym::intern("ENV"))?,
                Special::Argf => self.const_get_from(self.class_value(ids::OBJECT), Sym::intern("ARGF"))?,
                Special::Boot => words.first().copied().unwrap_or(nil),
                Special::Foreign => match parts.next() {
                    Some(Part::Foreign { region, cell, .. }) => self.open_reference(&region, cell)?,
                    _ => nil,
                },
                Special::Dumped => {
                    let class = self.class_value(classes[head.len]);
                    self.call(class, Sym::intern("allocate"), &[])?
                }
                Special::DumpedString => {
                    let content = &bytes[*byte..*byte + head.len];
                    *byte += head.len;
                    let number = |i: usize| words.get(i).and_then(|w| w.as_fixnum()).unwrap_or(0);
                    let text = StringCell::plain(heap, content, number(0) as u8).as_value();
                    let class = self.class_value(classes[number(1) as usize]);
                    let load = Sym::intern("_load");
                    if !self.responds(class, load, true)? {
                        let name = self.inspect_for_error(class);
                        return self.type_error(format!("class {name} needs to have method '_load'"));
                    }
                    self.call_private(class, load, &[text])?
                }
            },
            _ => nil,
        })
    }
    /// Writes what a cell refers to.
    #[allow(clippy::too_many_arguments)] // one caller, one loop
    #[inline]
    fn fill_received(
        &mut self,
        n: usize,
        head: &Head,
        w: &mut [Value],
        made: &[Value],
        states: &[*const CodeState],
        build: Option<Unpack>,
        classes: &[ClassId],
        later: &mut Later,
    ) {
        let v = made[n];
        let fix = |v: Value| match as_node(v) {
            Some(n) => made[n],
            None => v,
        };
        let kind = Kind::from_u8(head.header.kind);
        match kind {
            Kind::String | Kind::Float | Kind::Bignum | Kind::Class => {}
            Kind::Array if head.header.flags & OUT != 0 => {}
            Kind::Array => ArrayCell::fill(Ref::of(v), &mut self.heap, w[..head.len].iter().map(|x| fix(*x))),
            Kind::Object | Kind::Exception => {
                // SAFETY: both kinds are laid out as ObjectCell.
                let o = unsafe { Ref::<ObjectCell>::from_ptr(v.bits() as *mut ObjectCell) };
                if let Some(last) = head.len.checked_sub(1) {
                    if last >= o.capacity() {
                        ObjectCell::grow(o, &mut self.heap, last);
                    }
                    w[..head.len].iter().enumerate().for_each(|(i, x)| ObjectCell::set(o, i, fix(*x)));
                }
            }
            Kind::Hash => {
                let h = Ref::<HashCell>::of(v);
                HashCell::set_default(h, fix(w[0]), head.header.flags & DEFAULT_PROC != 0);
                let by_identity = head.header.aux & BY_IDENTITY != 0;
                if head.len > 0 || by_identity {
                    let mut again = false;
                    let entries = w[1..1 + 3 * head.len].chunks_exact(3).map(|e| {
                        let key = fix(e[1]);
                        again |= key.is_cell() && (by_identity || !matches!(key.kind_of_cell(), Kind::String | Kind::Float | Kind::Bignum));
                        hash::Entry { hash: e[0].bits(), key, value: fix(e[2]) }
                    });
                    let mut table = HashTable::from_entries(entries);
                    table.by_identity = by_identity;
                    HashCell::change(h, &mut self.heap, |t| *t = table);
                    if again {
                        later.hashes.push(n);
                    }
                }
            }
            Kind::Range => {
                let r = Ref::<RangeCell>::of(v);
                r.init(fix(w[0]), fix(w[1]), r.exclusive());
                // RangeCell::make freezes; a dup'ed range of a subclass is not.
                r.open();
            }
            Kind::Rational | Kind::Complex => {
                // SAFETY: both kinds are laid out as PairCell.
                unsafe { Ref::<PairCell>::from_ptr(v.bits() as *mut PairCell) }.init(fix(w[0]), fix(w[1]));
            }
            Kind::Data => {
                if let Some(build) = build {
                    w[..head.len].iter_mut().for_each(|x| *x = fix(*x));
                    if let Some(Unpacked::Payload(p)) = build(self, &w[..head.len]) {
                        DataCell::set(Ref::of(v), &mut self.heap, p);
                    }
                }
            }
            Kind::Proc => {
                let me = if w[2].is_nil() { self.top_method() } else { fix(w[2]) };
                let p = Ref::<ProcCell>::of(v);
                let code = if p.proc_kind() == ProcKind::Block { states[head.len] as usize } else { head.len };
                ProcCell::init(p, code, fix(w[0]), fix(w[1]), me, fix(w[3]));
            }
            Kind::Env => EnvCell::init(Ref::of(v), fix(w[0]), w[1..1 + head.len].iter().map(|x| fix(*x))),
            Kind::Cref => Ref::<CrefCell>::of(v).init(fix(w[0]), fix(w[1]), fix(w[2]), fix(w[3])),
            Kind::Method => Ref::<MethodCell>::of(v).init(fix(w[0]), fix(w[1])),
            Kind::MethodObj => {
                // The owner stands there until the method is looked up.
                Ref::<MethodObjCell>::of(v).init(fix(w[0]), fix(w[2]), fix(w[1]));
                later.methods.push((n, *head));
            }
            Kind::Free => {
                if Special::of(head.header.aux) == Special::Dumped {
                    later.loads.push((n, classes[head.len], fix(w[0])));
                }
                return;
            }
            _ => {}
        }
        if !v.is_cell() || v.flags() & flags::SHARED != 0 {
            return;
        }
        if head.header.flags & flags::HAS_IVARS != 0 && kind != Kind::Class {
            let own = body_words(head);
            for pair in w[own + 1..].chunks_exact(2) {
                if let Some(name) = pair[0].as_sym() {
                    self.ivar_set_raw(v, name, fix(pair[1]));
                }
            }
        }
        let own = match kind {
            Kind::Proc => LAMBDA | ORPHAN,
            Kind::Hash => KEYWORDS,
            _ => 0,
        };
        v.set_flags(head.header.flags & (flags::FROZEN | own));
    }
    #[cold]
    fn finish_open(&mut self, made: &[Value], later: Later) -> Result<()> {
        for (n, head) in later.methods {
            self.find_received_method(made[n], head)?;
        }
        // `marshal_load` may look keys up, and may change what the hash codes of keys depend on.
        let rounds = if later.loads.is_empty() { 1 } else { 2 };
        let mut loads = later.loads;
        for _ in 0..rounds {
            for n in &later.hashes {
                self.rehash(Ref::of(made[*n]))?;
            }
            while let Some((n, class, data)) = loads.pop() {
                let v = made[n];
                if !self.responds(v, sym::marshal_load, true)? {
                    let name = self.class_name(class);
                    return self.type_error(format!("instance of {name} needs to have method 'marshal_load'"));
                }
                self.call_private(v, sym::marshal_load, &[data])?;
            }
        }
        Ok(())
    }
    /// Completes a Method object, whose owner stands in the method's place.
    fn find_received_method(&mut self, v: Value, head: Head) -> Result<()> {
        let o = Ref::<MethodObjCell>::of(v);
        let called = Sym((head.len >> 32) as u32);
        let (owner, class) = (self.class_id(o.method), self.class_id(o.class));
        let bound = o.header.shape == ids::METHOD.0;
        let own = owner.and_then(|c| {
            let found = self.method_in(c, called).or_else(|| self.method_in(c, o.name));
            found.filter(|m| !matches!(m.method_kind(), MethodKind::Undefined | MethodKind::ZSuper))
        });
        let from = if bound { Some(self.dispatch_class(o.receiver)) } else { class };
        let found = match own {
            Some(m) => Some(m),
            None => from.and_then(|c| self.find_method(c, o.name)),
        };
        let method = match (found, from) {
            (Some(m), _) => m,
            (None, Some(c)) if head.header.aux == 1 => {
                MethodCell::make(&self.heap, o.name, c, Visibility::Public, MethodKind::Missing, Value::NIL, 0, Value::NIL)
            }
            (None, c) => {
                let class = c.map_or(String::new(), |c| self.class_name(c));
                return self.arg_error(format!("undefined method '{}' for class '{class}' (received from another VM)", o.name.name()));
            }
        };
        o.set_method(method.as_value());
        Ok(())
    }
    /// Computes the hash codes of keys again that are no plain content.
    pub(crate) fn rehash(&mut self, h: Ref<HashCell>) -> Result<()> {
        let mut i = 0;
        while let Some((slots, by_identity)) = h.table(&self.heap).map(|t| (t.slots(), t.by_identity)) {
            if i >= slots {
                break;
            }
            if let Some(key) = h.table(&self.heap).and_then(|t| t.entry(i)).map(|e| e.key)
                && key.is_cell()
            {
                let hash = if by_identity { self.identity_hash(key) } else { self.hash_of(key)? };
                // `hash` is Ruby code, which may have changed the table.
                if h.table(&self.heap).and_then(|t| t.entry(i)).is_some_and(|e| e.key == key) {
                    HashCell::change(h, &mut self.heap, |t| t.set_hash(i, hash));
                }
            }
            i += 1;
        }
        HashCell::change(h, &mut self.heap, |t| t.reindexed());
        Ok(())
    }
    /// What a shape of the sender is here.
    fn layout(&mut self, row: &ShapeRow) -> Result<Layout> {
        if let Some(s) = self.shapes.get(row.id).copied() {
            // Known from a region it may mean a class that has been replaced since; from an image one that did not come along.
            let is_here = self.classes.get(s.class.0).is_some();
            if is_here && (s.class == row.class.id || s.class == self.resolve_class(&row.class)?) {
                let hint = self.class(s.class).ivar_hint;
                return Ok(Layout { shape: row.id, hint });
            }
        }
        let class = self.same_class(&row.class, row.alloc, &row.members)?;
        let d = self.class(class);
        let (hint, mut shape) = (d.ivar_hint, d.root_shape);
        for name in &row.names {
            shape = self.shape_with(shape, *name);
        }
        Ok(Layout { shape, hint })
    }
    /// The class here of a class of the sender. ArgumentError when it is missing or makes other objects.
    pub(super) fn same_class(&mut self, class: &ClassRef, alloc: Alloc, there: &Option<Vec<Sym>>) -> Result<ClassId> {
        let class = self.resolve_class(class)?;
        let d = self.class(class);
        let members: Option<Vec<Sym>> = Ref::<ArrayCell>::from_value(d.extra)
            .and_then(|e| e.get(0))
            .and_then(Ref::<ArrayCell>::from_value)
            .map(|m| m.elements(&self.heap).iter().filter_map(|m| m.as_sym()).collect());
        if d.kind != ClassKind::Class || d.alloc != alloc || members != *there {
            let name = self.class_name(class);
            let how = match (there, &members) {
                (Some(a), Some(b)) if a != b => {
                    let list = |m: &[Sym]| m.iter().map(|m| m.name().into_owned()).collect::<Vec<_>>().join(", ");
                    format!("members {} there, {} here", list(a), list(b))
                }
                _ => "another kind of class".to_string(),
            };
            return self.arg_error(format!("class {name} is not the same as the sender's ({how}; received from another VM)"));
        }
        Ok(class)
    }
    pub(super) fn resolve_class(&mut self, c: &ClassRef) -> Result<ClassId> {
        let id = if self.classes.get(c.id.0).is_some() { c.id } else { self.class_by_name(c)? };
        if c.singleton {
            let object = self.class_value(id);
            return self.singleton_class(object);
        }
        Ok(id)
    }
    fn class_by_name(&mut self, c: &ClassRef) -> Result<ClassId> {
        let Some(path) = c.name.map(|n| n.name()) else {
            return self.arg_error("undefined class/module: an anonymous one (received from another VM)");
        };
        let mut v = self.class_value(ids::OBJECT);
        for part in path.split("::") {
            let found = match self.class_id(v) {
                Some(c) => self.const_lookup_in(c, Sym::intern(part), c == ids::OBJECT)?,
                None => None,
            };
            match found {
                Some((_, x)) => v = x,
                None => return self.arg_error(format!("undefined class/module {path} (received from another VM)")),
            }
        }
        match self.class_id(v) {
            Some(c) => Ok(c),
            None => self.arg_error(format!("{path} is not a class/module (received from another VM)")),
        }
    }
}

/// As two bits say.
#[inline]
pub(super) fn code_range(bits: u16) -> CodeRange {
    match bits & 3 {
        0 => CodeRange::Unknown,
        1 => CodeRange::Ascii,
        2 => CodeRange::Valid,
        _ => CodeRange::Broken,
    }
}

/// Words of an object itself, without instance variables outside its layout.
#[inline]
fn body_words(head: &Head) -> usize {
    match Kind::from_u8(head.header.kind) {
        Kind::Array if head.header.flags & OUT != 0 => 0,
        Kind::Array | Kind::Object | Kind::Exception | Kind::Data => head.len,
        Kind::Hash => 1 + 3 * head.len,
        Kind::Range | Kind::Rational | Kind::Complex | Kind::Method => 2,
        Kind::Proc | Kind::Cref => 4,
        Kind::Env => 1 + head.len,
        Kind::MethodObj => 3,
        Kind::Free => match Special::of(head.header.aux) {
            Special::Dumped | Special::Boot => 1,
            Special::DumpedString => 2,
            _ => 0,
        },
        _ => 0,
    }
}
/// All words of a head; `words` begins with them.
#[inline]
fn words_of(head: &Head, words: &[Value]) -> usize {
    let own = body_words(head);
    if head.header.flags & flags::HAS_IVARS == 0 || head.header.kind == Kind::Free as u8 {
        return own;
    }
    own + 1 + 2 * words[own].as_fixnum().unwrap_or(0) as usize
}
