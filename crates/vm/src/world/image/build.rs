//! From a graph to cells: in the VM that is spawned, or in the sealed one that an image is made of.

use super::Parts;
use super::graph::{Body, Graph, Node, each_value_mut};
use crate::frame::CodeState;
use crate::make::RootedVec;
use crate::vm::{ClassSlot, Cx, FastMap};
use std::sync::Arc;
use zakuro_bytecode::Code;
use zakuro_object::string::CodeRange;
use zakuro_object::*;

impl Cx {
    /// Makes a graph's cells; returns them, the root value, and its tables' values rewritten by `tables`. Runs no Ruby code, and collects nothing.
    ///
    /// `parts`: this VM is to be an image; what would run in a VM is kept there. `sources`: the templates that the nodes are copies of.
    pub(super) fn build(
        &mut self,
        graph: Graph,
        mut parts: Option<&mut Parts>,
        sources: &[Value],
        tables: &mut dyn FnMut(&mut Cx, &dyn Fn(Value) -> Value),
    ) -> (RootedVec, Value) {
        let Graph { nodes, mut words, codes, classes, shapes, transitions, generic, .. } = graph;
        self.kept_layers.extend(graph.kept);
        graph.regions.iter().for_each(|r| self.heap.hold(r));
        for (id, s) in shapes {
            *self.shapes.slot(id) = Some(s);
        }
        self.transitions.extend(transitions);
        // Cells of the image that the graph refers to.
        let mut resolved = FastMap::default();
        for t in graph.templates.iter().copied() {
            let own = self.instantiate(t);
            resolved.insert(t.bits(), own);
        }
        // First every cell, then what they refer to.
        let mut made = RootedVec::with_capacity(self, nodes.len());
        for n in &nodes {
            let v = self.new_cell(n, &words, parts.as_deref_mut());
            made.push(v);
        }
        for (source, v) in sources.iter().zip(made.iter()) {
            self.memo.insert(source.bits() as usize, *v);
            // The next image must know of it.
            self.state_changes(|c| c.copied(source.bits() as usize));
        }
        let fix = |v: Value| match Graph::as_node(v) {
            Some(n) => made[n],
            None if resolved.is_empty() => v,
            None => *resolved.get(&v.bits()).unwrap_or(&v),
        };
        words.iter_mut().for_each(|v| *v = fix(*v));
        // Classes come in any order.
        let mut above = Vec::new();
        for mut d in classes {
            each_value_mut(&mut d, &mut |v| fix(v));
            let id = d.id;
            if parts.is_none() {
                // The VM that the graph comes from has it, too.
                d.known.set();
                above.extend(d.superclass.iter().chain(&d.includes).chain(&d.prepends).map(|up| (*up, id)));
            }
            self.class_near.1 = std::ptr::null();
            *self.classes.slot(id.0) = Some(ClassSlot { data: Box::into_raw(Box::new(d)), own: true });
            self.class_gets_cells(id);
        }
        for (up, id) in above {
            self.class_mut(up).dependents.push(id);
        }
        tables(self, &fix);
        self.next_object_id = self.next_object_id.max(graph.next_object_id);
        for (n, id) in graph.object_ids {
            self.object_ids.insert(made[n].bits() as usize, id);
        }
        for (n, identity) in graph.identities {
            let v = made[n];
            if v.is_cell() && v.bits() != 0 && v.flags() & flags::SHARED == 0 {
                self.identities.insert(v.bits() as usize, identity);
            }
        }
        for (n, mut list) in generic {
            list.iter_mut().for_each(|(_, v)| *v = fix(*v));
            self.generic_ivars.change().insert(made[n].bits() as usize, list);
        }
        let mut states: Vec<*const CodeState> = Vec::with_capacity(codes.len());
        for c in &codes {
            // Those that Procs run are made whole with these.
            let s = self.bare_state(&c.code, parts.is_none());
            // SAFETY: made just above, and those of the list; they live as long as the VM, which nobody else uses.
            unsafe {
                if let Some(p) = c.parent {
                    (*s).parent.set(states[p]);
                }
                if c.keeps_keywords {
                    (*s).keeps_keywords.set(true);
                }
                if c.once.len > 0 {
                    (*(s as *mut CodeState)).once.copy_from_slice(&words[c.once.start..c.once.start + c.once.len]);
                    self.state_gets_cells(s);
                    self.once_used = true;
                }
            }
            states.push(s);
        }
        for (n, node) in nodes.into_iter().enumerate() {
            self.fill_cell(made[n], node, &words, &states, &fix, parts.as_deref_mut());
        }
        if let Some(t) = graph.thread {
            let t = t.map(fix);
            let me = self.threads().current();
            [me.locals, me.variables, me.name] = t;
        }
        if let Some(p) = &mut parts {
            p.lost.extend(graph.lost.iter().map(|(n, name)| (made[*n].bits() as usize, *name)));
            p.stale.extend(graph.stale.iter().map(|n| made[*n]));
        }
        for (restore, s) in graph.states {
            restore.restore(self, &words[s.start..s.start + s.len]);
        }
        for (template, rebuild, s) in graph.untracked {
            let v = self.instantiate(template);
            if let Some(payload) = rebuild.make(self, &words[s.start..s.start + s.len])
                && let Some(d) = Ref::<DataCell>::from_value(v)
            {
                DataCell::set(d, &mut self.heap, payload);
            }
        }
        let root = fix(graph.root);
        (made, root)
    }
    /// State of a Code that nothing runs yet: what Procs of an image refer to, or stand in. `runs`: in a VM.
    fn bare_state(&mut self, code: &Arc<Code>, runs: bool) -> *const CodeState {
        let key = Arc::as_ptr(code) as usize;
        if let Some(s) = self.code_states.get(&key) {
            return &**s;
        }
        let s = CodeState::bare(code.clone());
        let p: *const CodeState = &*s;
        self.code_states.insert(key, s);
        if runs {
            self.inherit_once(key);
        }
        p
    }

    /// The cell of a node, without what it refers to.
    fn new_cell(&mut self, n: &Node, words: &[Value], parts: Option<&mut Parts>) -> Value {
        let Header { shape, kind, aux, .. } = n.header;
        let kind = Kind::from_u8(kind);
        let h = Header { flags: 0, ..n.header };
        let heap = &mut self.heap;
        match &n.body {
            Body::Nil => Value::NIL,
            Body::Main => self.main,
            Body::CurrentThread => match parts {
                Some(p) => {
                    let v = DataCell::make(heap, shape, None).as_value();
                    p.thread = Some(v);
                    v
                }
                None => self.current_thread(),
            },
            Body::Float(f) => FloatCell::make(heap, *f),
            Body::Big(b) => self.big((**b).clone()),
            Body::Inline(len, bytes) => {
                let s = StringCell::make(heap, shape, &bytes[..*len as usize], aux as u8);
                s.set_code_range(range_of(aux));
                s.as_value()
            }
            Body::Shared(buf, offset, len) if kind == Kind::Array => {
                ArrayCell::from_shared(heap, shape, buf.clone(), *offset, *len).as_value()
            }
            Body::Shared(buf, offset, len) => {
                let s = StringCell::from_shared(heap, shape, buf.clone(), *offset, *len, aux as u8);
                s.set_code_range(range_of(aux));
                s.as_value()
            }
            Body::Hash(..) => HashCell::make(heap, shape).as_value(),
            Body::Class(id) if self.classes.get(id.0).is_some() => self.class_value(*id),
            Body::Class(id) => alloc_cell(heap, ClassCell { header: h, id: *id }).as_value(),
            Body::Proc(..) => {
                let nil = Value::NIL;
                alloc_cell(heap, ProcCell { header: h, code: 0, env: nil, self_: nil, me: nil, extra: nil }).as_value()
            }
            Body::Method { name, called, owner, reserved, body, .. } => {
                let (cref, data) = (Value::NIL, Value::NIL);
                let cell =
                    MethodCell { header: h, name: *name, called: *called, owner: *owner, reserved: *reserved, cref, body: *body, data };
                alloc_cell(heap, cell).as_value()
            }
            Body::Data(..) => DataCell::make(heap, shape, None).as_value(),
            Body::Words(span) => match kind {
                Kind::Object | Kind::Exception | Kind::Moved => {
                    ObjectCell::make(heap, shape, kind, (aux as usize).max(span.len)).as_value()
                }
                Kind::Array => ArrayCell::for_len(heap, shape, span.len).as_value(),
                // The first word is the parent.
                Kind::Env => EnvCell::make(heap, Value::NIL, words[span.start + 1..span.start + span.len].len()).as_value(),
                Kind::Cref => {
                    let nil = Value::NIL;
                    alloc_cell(heap, CrefCell { header: h, class: nil, parent: nil, definee: nil, refinements: nil }).as_value()
                }
                Kind::Range => RangeCell::make(heap, shape, Value::NIL, Value::NIL, aux != 0).as_value(),
                Kind::Rational | Kind::Complex => {
                    let nil = Value::NIL;
                    alloc_cell(heap, PairCell { header: h, first: nil, second: nil }).as_value()
                }
                Kind::MethodObj => {
                    let nil = Value::NIL;
                    alloc_cell(heap, MethodObjCell { header: h, receiver: nil, method: nil, class: nil, name: n.name }).as_value()
                }
                _ => Value::NIL,
            },
        }
    }

    /// Writes what a cell refers to.
    fn fill_cell(
        &mut self,
        v: Value,
        node: Node,
        words: &[Value],
        states: &[*const CodeState],
        fix: &dyn Fn(Value) -> Value,
        parts: Option<&mut Parts>,
    ) {
        if !v.is_cell() || matches!(node.body, Body::CurrentThread | Body::Main) {
            return;
        }
        let kind = v.kind_of_cell();
        match node.body {
            Body::Words(s) => {
                let w = &words[s.start..s.start + s.len];
                match kind {
                    Kind::Object | Kind::Exception => {
                        // SAFETY: both kinds are laid out as ObjectCell.
                        let o = unsafe { Ref::<ObjectCell>::from_ptr(v.bits() as *mut ObjectCell) };
                        if let Some(last) = w.len().checked_sub(1) {
                            ObjectCell::grow(o, &mut self.heap, last);
                        }
                        w.iter().enumerate().for_each(|(i, x)| ObjectCell::set(o, i, *x));
                    }
                    Kind::Array => ArrayCell::extend(Ref::of(v), &mut self.heap, w),
                    Kind::Env => EnvCell::init(Ref::of(v), w[0], w[1..].iter().copied()),
                    Kind::Cref => Ref::<CrefCell>::of(v).init(w[0], w[1], w[2], w[3]),
                    Kind::Range => {
                        let r = Ref::<RangeCell>::of(v);
                        r.init(w[0], w[1], r.exclusive());
                        // RangeCell::make freezes; a dup'ed range of a subclass is not.
                        r.open();
                    }
                    Kind::Rational | Kind::Complex => {
                        // SAFETY: both kinds are laid out as PairCell.
                        unsafe { Ref::<PairCell>::from_ptr(v.bits() as *mut PairCell) }.init(w[0], w[1]);
                    }
                    Kind::MethodObj => Ref::<MethodObjCell>::of(v).init(w[0], w[1], w[2]),
                    _ => {}
                }
            }
            Body::Hash(table, default, is_proc) => {
                let h = Ref::<HashCell>::of(v);
                HashCell::set_default(h, fix(default), is_proc);
                // Stored hashes stay valid: copies keep the identity of what they are copies of.
                if let Some(mut t) = table {
                    t.map_values(&mut |x| fix(x));
                    HashCell::change(h, &mut self.heap, |own| *own = *t);
                }
            }
            Body::Proc(code, at) => {
                let p = Ref::<ProcCell>::of(v);
                let code = match p.proc_kind() {
                    ProcKind::Block if parts.is_some() => states[code] as usize,
                    ProcKind::Block => {
                        // SAFETY: code states live as long as the VM.
                        let code = unsafe { (*states[code]).code.clone() };
                        self.code_state(&code) as usize
                    }
                    _ => code,
                };
                ProcCell::init(p, code, words[at], words[at + 1], words[at + 2], words[at + 3]);
            }
            Body::Method { words: at, .. } => {
                let m = Ref::<MethodCell>::of(v);
                let own = parts.is_none() && m.method_kind() == MethodKind::Frame;
                let cref = if own { self.own_scope(words[at]) } else { words[at] };
                m.init(cref, words[at + 1]);
            }
            Body::Data(Some(rebuild), s) => {
                let held = &words[s.start..s.start + s.len];
                match parts {
                    Some(p) => {
                        p.data.insert(v.bits() as usize, (rebuild, held.into()));
                    }
                    None => {
                        if let Some(payload) = rebuild.make(self, held) {
                            DataCell::set(Ref::of(v), &mut self.heap, payload);
                        }
                    }
                }
            }
            _ => {}
        }
        v.set_flags(node.header.flags);
    }
    /// A scope that may be changed, for the frame of a program or class body: an image's is copied.
    pub(crate) fn own_scope(&mut self, cref: Value) -> Value {
        match Ref::<CrefCell>::from_value(cref) {
            Some(c) if cref.flags() & flags::SHARED != 0 => {
                let header = zakuro_object::header(ids::OBJECT, Kind::Cref, c.header.aux);
                let copy = CrefCell { header, class: c.class, parent: c.parent, definee: c.definee, refinements: c.refinements };
                alloc_cell(&self.heap, copy).as_value()
            }
            _ => cref,
        }
    }
}

/// Code range in the aux word of a String.
fn range_of(aux: u16) -> CodeRange {
    match aux >> 8 & 3 {
        0 => CodeRange::Unknown,
        1 => CodeRange::Ascii,
        2 => CodeRange::Valid,
        _ => CodeRange::Broken,
    }
}
