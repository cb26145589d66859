//! objspace: sizes, references and origins of objects. What the heap knows is native; counts by name, dumps and their forms are Ruby (`ruby/objspace.rb`).
//!
//! Sizes are those of the cell and of what it owns outside the heap: the tables of a class, of a Set and of weak maps among them. References are what the collector marks. Origins are
//! noted line by line: the heap notes which cells were allocated (module `inspect` of zakuro-heap), and a TracePoint of lines, calls and returns says where the program was meanwhile.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;
use zakuro_base::progress::step;
use zakuro_macros::{Trace, ruby_class};
use zakuro_object::{DataCell, Header, Placed, flags, owned_bytes};
use zakuro_text::encoding::{CodeRange, Encoding};
use zakuro_vm::channels::{Charge, is_hidden_channel};
use zakuro_vm::*;

/// Bytes of a text that are quoted between two safepoints.
const PIECE: usize = 64 << 10;

/// What stands in a String of JSON for these bytes of one.
fn quote(text: &[u8], out: &mut Vec<u8>) {
    let is_plain = |b: &u8| !matches!(b, b'"' | b'\\' | 0..=0x1f | 0x7f);
    let mut rest = text;
    loop {
        let plain = rest.iter().position(|b| !is_plain(b)).unwrap_or(rest.len());
        out.extend_from_slice(&rest[..plain]);
        let Some((byte, more)) = rest[plain..].split_first() else { return };
        let short = match byte {
            b'"' | b'\\' => Some(*byte),
            0x08 => Some(b'b'),
            0x0c => Some(b'f'),
            b'\n' => Some(b'n'),
            b'\r' => Some(b'r'),
            b'\t' => Some(b't'),
            _ => None,
        };
        match short {
            Some(letter) => out.extend_from_slice(&[b'\\', letter]),
            None => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
        rest = more;
    }
}

/// Where a piece of the program is.
struct Place {
    file: Box<str>,
    line: i64,
    class: Option<Box<str>>,
    method: Option<Box<str>>,
}

/// Where cells come from, by address.
#[derive(Default, Trace)]
struct Origins {
    #[untraced]
    of: HashMap<usize, (Arc<Place>, u64)>,
    /// Where the program is now.
    #[untraced]
    here: Option<Arc<Place>>,
    /// What the table counts for its VM.
    #[untraced]
    counted: (usize, Option<Charge>),
}
impl VmState for Origins {
    fn sweep(&mut self, heap: &Heap) {
        self.of.retain(|p, _| heap.is_marked_or_new(*p as *mut Header));
    }
}

fn cell_of(v: Value) -> Option<*mut Header> {
    v.is_cell().then_some(v.bits() as *mut Header)
}

/// What a cell owns outside the heap.
fn owned(cx: &Cx, p: *mut Header) -> usize {
    // SAFETY: a live cell. Those of other heaps are frozen, and have the size that such a cell would have here.
    let (own, v) = unsafe { (owned_bytes(p), Value::cell(p)) };
    let tables = match v.kind_of_cell() {
        Kind::Class => cx.class_id(v).map_or(0, |id| cx.class(id).weight()),
        Kind::Object | Kind::Data => cx.held_by_states(v),
        _ => 0,
    };
    own + tables
}

fn size(cx: &Cx, p: *mut Header) -> usize {
    cx.heap.cell_size(p).max(16) + owned(cx, p)
}

/// What the cells take that an object has for itself, and that programs don't see: the elements of a Set.
fn hidden(cx: &mut Cx, v: Value) -> usize {
    let items = if v.is_kind(Kind::Object) { cx.ivar_lookup(v, sym::set_items) } else { None };
    items.filter(|items| items.is_kind(Kind::Hash)).and_then(cell_of).map_or(0, |p| size(cx, p))
}

/// What CRuby calls the kind of a cell.
fn kind_name(v: Value) -> &'static str {
    match v.kind_of_cell() {
        Kind::Free => "FREE",
        Kind::Moved | Kind::MovedString | Kind::MovedArray | Kind::MovedHash => "MOVED",
        Kind::Object | Kind::Exception => "OBJECT",
        Kind::Class => "CLASS",
        Kind::Float => "FLOAT",
        Kind::Bignum => "BIGNUM",
        Kind::String => "STRING",
        Kind::Array => "ARRAY",
        Kind::Hash => "HASH",
        Kind::Range => "STRUCT",
        Kind::Rational => "RATIONAL",
        Kind::Complex => "COMPLEX",
        Kind::Proc | Kind::Data | Kind::MethodObj => "DATA",
        Kind::Method | Kind::Env | Kind::Cref | Kind::Throw => "IMEMO",
    }
}

/// The kind as a dump tells it, and which method of `ObjectSpace` knows more of it: the program may have given its own `==` to whatever a name could be compared by.
fn told_as(cx: &mut Cx, v: Value) -> (&'static str, Option<&'static str>) {
    match kind_name(v) {
        "STRING" => ("STRING", Some("__string")),
        "ARRAY" => ("ARRAY", Some("__array")),
        "HASH" => ("HASH", Some("__hash_table")),
        "FLOAT" => ("FLOAT", Some("__float_value")),
        "CLASS" if cx.is_a(v, ids::CLASS) => ("CLASS", Some("__class")),
        "CLASS" => ("MODULE", Some("__module")),
        "OBJECT" if cx.is_a(v, ids::STRUCT) => ("STRUCT", None),
        "OBJECT" => ("OBJECT", Some("__object")),
        "DATA" if cx.is_a(v, ids::IO) => ("FILE", Some("__file")),
        "DATA" if cx.is_a(v, ids::REGEXP) => ("REGEXP", None),
        "DATA" if cx.is_a(v, ids::MATCH_DATA) => ("MATCH", None),
        "DATA" => ("DATA", Some("__data")),
        name => (name, None),
    }
}

/// Where what it holds lies, as a dump says it: nothing of what has a place of its own.
fn placed(v: Value, owned: usize) -> Option<&'static str> {
    let placed = match v.kind_of_cell() {
        Kind::String => Ref::<StringCell>::from_value(v)?.placed(),
        Kind::Array => Ref::<ArrayCell>::from_value(v)?.placed(),
        Kind::Object | Kind::Exception if owned == 0 => Placed::Embedded,
        _ => return None,
    };
    match placed {
        Placed::Embedded => Some("embedded"),
        Placed::Shared => Some("shared"),
        Placed::Apart => None,
    }
}

/// What an internal cell is called; None for objects.
fn internal(v: Value) -> Option<&'static str> {
    Some(match v.kind_of_cell() {
        Kind::Method => "imemo_ment",
        Kind::Env => "imemo_env",
        Kind::Cref => "imemo_cref",
        Kind::Throw => "imemo_throw_data",
        _ => return None,
    })
}

fn payload(v: Value) -> Option<&'static str> {
    match v.kind_of_cell() {
        Kind::Proc => Some("proc"),
        Kind::MethodObj => Some("method"),
        Kind::Data => {
            let name = Ref::<DataCell>::from_value(v)?.payload_name()?;
            // Without its path and what it is made of.
            Some(name.split('<').next().and_then(|s| s.rsplit("::").next()).unwrap_or(name))
        }
        _ => None,
    }
}

/// A value; for a cell that programs don't see, an object of the class `wrapper`.
fn shown(cx: &mut Cx, v: Value, wrapper: Value) -> Result<Value> {
    let Some(name) = internal(v) else { return Ok(v) };
    let address = cx.int(v.bits() as i64);
    cx.call(wrapper, sym::new, &[Value::sym(Sym::intern(name)), address])
}

/// What a cell refers to.
fn references_of(cx: &mut Cx, v: Value, wrapper: Value) -> Result<Value> {
    let found = cx.references(v);
    let list = cx.new_array();
    for v in found.iter().filter(|v| !is_hidden_channel(**v)) {
        let one = shown(cx, *v, wrapper)?;
        ArrayCell::push(list, &mut cx.heap, one);
    }
    Ok(list.as_value())
}

fn text(cx: &mut Cx, v: Value) -> Result<Option<Box<str>>> {
    if v.is_nil() { Ok(None) } else { Ok(Some(cx.to_str(v)?.to_text().into())) }
}

/// A line of a dump while it is made.
struct Line {
    out: Ref<StringCell>,
    text: String,
}
impl Line {
    /// What is written so far goes to the String, which the VM accounts for.
    fn put(&mut self, cx: &mut Cx) {
        StringCell::append(self.out, &mut cx.heap, self.text.as_bytes());
        self.text.clear();
    }
    /// A text of UTF-8 with its quotes.
    fn quote(&mut self, cx: &mut Cx, text: &[u8]) -> Result<()> {
        self.text.push('"');
        self.put(cx);
        let mut quoted = Vec::new();
        for (at, piece) in text.chunks(PIECE).enumerate() {
            if at > 0 {
                // Other threads may run between two pieces.
                cx.safepoint()?;
            }
            quoted.clear();
            quote(piece, &mut quoted);
            StringCell::append(self.out, &mut cx.heap, &quoted);
        }
        self.text.push('"');
        Ok(())
    }
    /// What is told of a String.
    fn string(&mut self, cx: &mut Cx, s: Ref<StringCell>) -> Result<()> {
        let (bytes, encoding) = (Held::of(s), Encoding::from_id(s.encoding()).unwrap_or(Encoding::BINARY));
        let range = match encoding.is_ascii_compatible() {
            true if bytes.is_ascii() => "7bit",
            // What nobody has looked through so far.
            false if s.code_range() == zakuro_vm::string::CodeRange::Unknown => "unknown",
            _ if encoding.code_range(&bytes) == CodeRange::Broken => "broken",
            _ => "valid",
        };
        let _ = write!(self.text, ", \"bytesize\":{}", bytes.len());
        if range == "7bit" && !bytes.is_empty() {
            self.text.push_str(", \"value\":");
            self.quote(cx, &bytes)?;
        }
        if s.encoding() != zakuro_vm::string::BINARY {
            let _ = write!(self.text, ", \"encoding\":\"{}\"", encoding.name());
        }
        let _ = write!(self.text, ", \"coderange\":\"{range}\"");
        if range == "broken" {
            self.text.push_str(", \"broken\":true");
        }
        Ok(())
    }
    /// The addresses of what a cell refers to beside its class; of known ones, if it is said which those are.
    fn references(&mut self, cx: &mut Cx, v: Value, class: Value, known: Option<Ref<HashCell>>) -> Result<()> {
        let (mut seen, mut any) = (HashSet::from([class.bits()]), false);
        let found = cx.references(v);
        for one in found.iter().copied() {
            if !one.is_cell() || is_hidden_channel(one) || !seen.insert(one.bits()) {
                continue;
            }
            let address = cx.int(one.bits() as i64);
            if let Some(known) = known
                && cx.hash_get(known, address)?.is_none()
            {
                continue;
            }
            self.text.push_str(if any { ", " } else { ", \"references\":[" });
            let _ = write!(self.text, "\"{:#x}\"", one.bits());
            any = true;
        }
        if any {
            self.text.push(']');
        }
        Ok(())
    }
}

/// Whether it is ENV, which a VM makes when it is asked for.
fn is_env(cx: &mut Cx, v: Value) -> Result<bool> {
    let name = Sym::intern("ENV");
    let Some(entry) = cx.const_entry(ids::OBJECT, name) else { return Ok(false) };
    Ok(cx.const_entry_value(ids::OBJECT, name, entry)? == Some(v))
}

/// Whether several Ractors may have it.
fn is_shareable(cx: &mut Cx, v: Value) -> Result<bool> {
    match v.kind_of_cell() {
        Kind::Class => return Ok(true),
        Kind::Object if is_env(cx, v)? => return Ok(true),
        _ if !v.is_frozen() => return Ok(false),
        Kind::String | Kind::Float | Kind::Bignum if v.flags() & flags::HAS_IVARS == 0 => return Ok(true),
        _ => {}
    }
    match cx.const_by_path("Ractor") {
        Some(ractor) => Ok(cx.call(ractor, Sym::intern("shareable?"), &[v])?.truthy()),
        None => Ok(false),
    }
}

/// Methods of `ObjectSpace`.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    /// Bytes of an object; 0 for what is none in memory.
    ///
    ///     require "objspace"; ObjectSpace.memsize_of(1)   #=> 0
    #[method("memsize_of", singleton)]
    fn memsize_of(cx: &mut Cx, _this: Value, v: Value) -> usize {
        cell_of(v).map_or(0, |p| size(cx, p)) + hidden(cx, v)
    }
    /// What cells of this heap there are, all or those of a kind: [name, bytes, cells, payload's or internal name] summed up by both names.
    #[method("__sizes", singleton)]
    fn sizes(cx: &mut Cx, _this: Value, only: Option<Value>) -> Value {
        let only = only.and_then(Ref::<StringCell>::from_value).map(|s| s.to_text());
        cx.collect();
        let mut found: HashMap<(&'static str, &'static str), (usize, usize)> = HashMap::new();
        let mut cells = Vec::new();
        cx.heap.each_cell(&mut |p| cells.push(p));
        for p in cells {
            // SAFETY: a cell of the heap that was walked, and nothing was allocated since.
            let v = unsafe { Value::cell(p) };
            let name = kind_name(v);
            if name == "FREE" || only.as_ref().is_some_and(|only| only != name) {
                continue;
            }
            let one = found.entry((name, internal(v).or_else(|| payload(v)).unwrap_or(""))).or_default();
            one.0 += size(cx, p);
            one.1 += 1;
        }
        let list = cx.new_array();
        for ((name, more), (bytes, n)) in found {
            let all = [cx.str(name), Value::fixnum(bytes as i64), Value::fixnum(n as i64), cx.str(more)];
            let one = cx.array(&all);
            ArrayCell::push(list, &mut cx.heap, one);
        }
        list.as_value()
    }
    /// What an object refers to; internal cells as objects of the class `wrapper`.
    #[method("__references", singleton)]
    fn references(cx: &mut Cx, _this: Value, v: Value, wrapper: Value) -> Result<Value> {
        references_of(cx, v, wrapper)
    }
    /// The same of an internal cell, by its address; nil when it is gone.
    #[method("__references_at", singleton)]
    fn references_at(cx: &mut Cx, _this: Value, address: i64, wrapper: Value) -> Result<Value> {
        let Some(p) = cx.heap.cell_at(address as usize).filter(|p| p.addr() == address as usize) else { return Ok(Value::NIL) };
        // SAFETY: an allocated cell's start.
        let v = unsafe { Value::cell(p) };
        if internal(v).is_none() || !cx.heap.is_marked_or_new(p) {
            return Ok(Value::NIL);
        }
        references_of(cx, v, wrapper)
    }
    /// All that these objects lead to, and internal cells: [objects, [[name, address, bytes, bytes of the cell, [address, ...]], ...]]. Objects stand there once, those that were given first, then those that
    /// only others refer to (what VMs share, what programs don't enumerate).
    #[method("__reached", singleton)]
    fn reached(cx: &mut Cx, _this: Value, from: Ref<ArrayCell>) -> Result<Value> {
        cx.collect();
        // What waits for its turn; nothing in it can die, whatever is allocated meanwhile.
        let mut all = RootedVec::new(cx);
        all.extend((0..from.len()).filter_map(|i| from.get(i)));
        cx.heap.each_cell(&mut |p| {
            // SAFETY: a cell of the heap that is walked.
            let v = unsafe { Value::cell(p) };
            if internal(v).is_some() {
                all.push(v);
            }
        });
        let (objects, cells) = (cx.new_array(), cx.new_array());
        let mut seen: HashSet<u64> = HashSet::new();
        let mut at = 0;
        while at < all.len() {
            let v = all[at];
            at += 1;
            step(at, cx)?;
            let Some(p) = cell_of(v).filter(|_| seen.insert(v.bits())) else { continue };
            let found = cx.references(v);
            let next = || found.iter().copied().filter(|v| v.is_cell() && !is_hidden_channel(*v));
            let Some(name) = internal(v) else {
                let class = cx.class_of(v);
                all.push(cx.class_value(class));
                all.extend(next());
                ArrayCell::push(objects, &mut cx.heap, v);
                continue;
            };
            all.extend(next());
            let list = cx.new_array();
            let mut once = HashSet::new();
            for v in next().filter(|v| once.insert(v.bits())) {
                let address = cx.int(v.bits() as i64);
                ArrayCell::push(list, &mut cx.heap, address);
            }
            // Cells that VMs share stand in no block.
            let (bytes, cell) = (size(cx, p), cx.heap.cell_size(p).max(32));
            let parts = [cx.str(name), cx.int(p.addr() as i64), Value::fixnum(bytes as i64), Value::fixnum(cell as i64), list.as_value()];
            let one = cx.array(&parts);
            ArrayCell::push(cells, &mut cx.heap, one);
        }
        Ok(cx.array(&[objects.as_value(), cells.as_value()]))
    }
    /// The address of a cell; nil for what is none.
    #[method("__address_of", singleton)]
    fn address_of(cx: &mut Cx, _this: Value, v: Value) -> Value {
        if v.is_cell() { cx.int(v.bits() as i64) } else { Value::NIL }
    }
    /// The addresses of these cells become keys of a Hash.
    #[method("__know", singleton)]
    fn know(cx: &mut Cx, _this: Value, known: Ref<HashCell>, cells: Ref<ArrayCell>) -> Result<()> {
        let mut i = 0;
        while let Some(v) = cells.get(i) {
            i += 1;
            step(i, cx)?;
            let address = cx.int(v.bits() as i64);
            cx.hash_set(known, address, Value::TRUE)?;
        }
        Ok(())
    }
    /// The line of a dump about a cell that is no internal one. `known`: the addresses that it may refer to.
    #[method("__line", singleton)]
    fn line(cx: &mut Cx, this: Value, v: Value, known: Value) -> Result<Value> {
        let known = Ref::<HashCell>::from_value(known);
        let Some(p) = cell_of(v) else { return Ok(Value::NIL) };
        let mut line = Line { out: StringCell::plain(&cx.heap, b"", zakuro_vm::string::UTF8), text: String::new() };
        // SAFETY: a live cell.
        let shape = unsafe { (*p).shape };
        let own = owned(cx, p) + hidden(cx, v);
        // Cells that VMs share stand in no block.
        let cell = cx.heap.cell_size(p).max(32);
        let class = cx.class_of(v);
        let class = cx.class_value(class);
        let (kind, more) = told_as(cx, v);
        let (at, of) = (v.bits(), class.bits());
        let _ = write!(
            line.text,
            "{{\"address\":\"{at:#x}\", \"type\":\"{kind}\", \"shape_id\":{shape}, \"slot_size\":{cell}, \"class\":\"{of:#x}\""
        );
        if v.is_frozen() {
            line.text.push_str(", \"frozen\":true");
        }
        if let Some(id) = cx.known_object_id(v) {
            let _ = write!(line.text, ", \"object_id\":{id}");
        }
        // What several share lies in no object, so that there is none to refer to.
        let placed = placed(v, own).map_or(String::new(), |name| format!(", \"{name}\":true"));
        match more {
            // Which of them, the heap says: the program may have its own idea of what is equal.
            Some("__string") => {
                line.text.push_str(&placed);
                if v.is_chilled() {
                    line.text.push_str(", \"chilled\":true");
                }
                if zakuro_core_text::string::dedup::is_kept(cx, Ref::of(v)) {
                    line.text.push_str(", \"fstring\":true");
                }
                line.string(cx, Ref::of(v))?;
            }
            Some("__array") => {
                let _ = write!(line.text, ", \"length\":{}{placed}", Ref::<ArrayCell>::of(v).len());
            }
            Some("__object") => {
                let variables = cx.ivar_names(v).into_iter().filter(|n| Cx::is_ivar_name(*n)).count();
                let _ = write!(line.text, "{placed}, \"ivars\":{variables}");
            }
            Some("__data") => {
                if let Some(name) = payload(v) {
                    line.text.push_str(", \"struct\":");
                    line.quote(cx, name.as_bytes())?;
                }
            }
            Some(name) => {
                let told = cx.call(this, Sym::intern(name), &[v])?;
                let told: Ref<ArrayCell> = cx.to_ary(told)?;
                let mut i = 0;
                while let Some(field) = told.get(i) {
                    let field = cx.to_str(field)?;
                    line.text.push_str(", ");
                    line.put(cx);
                    StringCell::append_string(line.out, &mut cx.heap, field);
                    i += 1;
                }
            }
            None => {}
        }
        line.references(cx, v, class, known)?;
        // It may have been made in this very line.
        origins(cx, Value::NIL);
        if let Some((place, collections)) = cx.state::<Origins>().of.get(&p.addr()).cloned() {
            line.text.push_str(", \"file\":");
            line.quote(cx, place.file.as_bytes())?;
            let _ = write!(line.text, ", \"line\":{}", place.line);
            if let Some(method) = &place.method {
                line.text.push_str(", \"method\":");
                line.quote(cx, method.as_bytes())?;
            }
            let _ = write!(line.text, ", \"generation\":{collections}");
        }
        let old = cx.heap.is_old(p);
        let _ = write!(line.text, ", \"memsize\":{}, \"flags\":{{\"wb_protected\":true, \"age\":{}", cell + own, old as u8);
        if old {
            line.text.push_str(", \"old\":true");
        }
        if is_shareable(cx, v)? {
            line.text.push_str(", \"shareable\":true");
        }
        line.text.push_str("}}");
        line.put(cx);
        line.out.set_code_range(zakuro_vm::string::CodeRange::Unknown);
        std::hint::black_box(v);
        Ok(line.out.as_value())
    }
    /// A String of valid UTF-8 as one of JSON.
    #[method("__quoted", singleton)]
    fn quoted(cx: &mut Cx, _this: Value, text: Ref<StringCell>) -> Result<Value> {
        let out = StringCell::plain(&cx.heap, b"\"", zakuro_vm::string::UTF8);
        let (mut at, mut quoted) = (0, Vec::new());
        // Other threads may run between two pieces.
        while at < text.len() {
            let all = text.content(&cx.heap);
            let piece = &all[at..all.len().min(at + PIECE)];
            at += piece.len();
            quoted.clear();
            quote(piece, &mut quoted);
            StringCell::append(out, &mut cx.heap, &quoted);
            cx.safepoint()?;
        }
        StringCell::append(out, &mut cx.heap, b"\"");
        out.set_code_range(zakuro_vm::string::CodeRange::Unknown);
        Ok(out.as_value())
    }
    /// Lines of a dump about free cells.
    #[method("__free_lines", singleton)]
    fn free_lines(cx: &mut Cx, _this: Value) -> Value {
        let mut text = String::new();
        cx.heap.each_free(&mut |at, size| {
            let _ = writeln!(text, "{{\"address\":\"{at:#x}\", \"type\":\"NONE\", \"shape_id\":0, \"slot_size\":{size}}}");
        });
        cx.str(&text)
    }
    /// Lines of a dump about shapes from a number on.
    #[method("__shape_lines", singleton)]
    fn shape_lines(cx: &mut Cx, _this: Value, since: i64) -> Value {
        let mut edges: HashMap<u32, u32> = HashMap::new();
        cx.each_shape(&mut |id, s| {
            if s.parent != id {
                *edges.entry(s.parent).or_default() += 1;
            }
        });
        let mut text = String::new();
        cx.each_shape(&mut |id, s| {
            if i64::from(id) < since {
                return;
            }
            let (below, bytes) = (edges.get(&id).copied().unwrap_or(0), size_of_val(s));
            let kind = if s.parent == id {
                format!("\"depth\":1, \"shape_type\":\"ROOT\", \"class_number\":{}", s.class.0)
            } else {
                let name = s.name.name();
                let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                format!(
                    "\"parent_id\":{}, \"depth\":{}, \"shape_type\":\"IVAR\", \"edge_name\":\"{name}\"",
                    s.parent,
                    u32::from(s.count) + 1
                )
            };
            let address = std::ptr::from_ref(s).addr();
            let _ = writeln!(
                text,
                "{{\"address\":\"{address:#x}\", \"type\":\"SHAPE\", \"id\":{id}, {kind}, \"edges\":{below}, \"memsize\":{bytes}}}"
            );
        });
        cx.str(&text)
    }
    #[method("__note_allocations", singleton)]
    fn note_allocations(cx: &mut Cx, _this: Value, on: bool) {
        // No marking is under way after it.
        cx.collect();
        cx.heap.note_allocations(on);
        cx.state::<Origins>().here = None;
    }
    #[method("__forget_allocations", singleton)]
    fn forget_allocations(cx: &mut Cx, _this: Value) {
        let known = cx.state::<Origins>();
        (known.of, known.counted) = Default::default();
    }
    /// What was allocated since the last call comes from where the program was then. Where it is now: file, line, class, method.
    #[method("__origins", singleton)]
    fn origins(cx: &mut Cx, _this: Value) {
        let cells = cx.heap.noted_allocations();
        let count = cx.heap.stats().collections;
        let Some(here) = cx.state::<Origins>().here.clone() else { return };
        for p in cells {
            if cx.heap.cell_at(p).is_some_and(|cell| cell.addr() == p && cx.heap.is_marked_or_new(cell)) {
                cx.state::<Origins>().of.insert(p, (here.clone(), count));
            }
        }
        // An entry, and a byte of control for it; the addresses that were noted, and the place.
        let capacity = cx.state::<Origins>().of.capacity();
        if cx.state::<Origins>().counted.0 != capacity {
            let entry = size_of::<(usize, (Arc<Place>, u64))>() + 1 + size_of::<usize>() + size_of::<Place>();
            let charge = cx.charge(capacity * entry, std::iter::empty());
            cx.state::<Origins>().counted = (capacity, charge);
        }
    }
    /// Where the program is from here on. What was allocated to say so comes from nowhere.
    #[method("__here", singleton)]
    fn here(cx: &mut Cx, _this: Value, file: Value, line: Value, class: Value, method: Value) -> Result<()> {
        let place = match text(cx, file)? {
            Some(file) => {
                Some(Arc::new(Place { file, line: line.as_fixnum().unwrap_or(0), class: text(cx, class)?, method: text(cx, method)? }))
            }
            None => None,
        };
        cx.state::<Origins>().here = place;
        cx.heap.noted_allocations();
        Ok(())
    }
    /// The program is in this line of where it was. What was allocated to say so comes from nowhere.
    #[method("__in_line", singleton)]
    fn in_line(cx: &mut Cx, _this: Value, line: i64) {
        if let Some(here) = &mut cx.state::<Origins>().here
            && here.line != line
        {
            let Place { file, class, method, .. } = &**here;
            *here = Arc::new(Place { file: file.clone(), line, class: class.clone(), method: method.clone() });
        }
        cx.heap.noted_allocations();
    }
    /// [file, line, class, method, number of collections until then]; nil when nobody knows.
    #[method("__origin", singleton)]
    fn origin(cx: &mut Cx, _this: Value, v: Value) -> Value {
        // It may have been made in this very line.
        origins(cx, Value::NIL);
        let Some((place, n)) = cell_of(v).and_then(|p| cx.state::<Origins>().of.get(&p.addr()).cloned()) else { return Value::NIL };
        let name = |s: &Option<Box<str>>| s.as_ref().map_or(Value::NIL, |s| cx.str(s));
        let all = [cx.str(&place.file), cx.int(place.line), name(&place.class), name(&place.method), cx.int(n as i64)];
        cx.array(&all)
    }
}

pub static DOCUMENTED: &[MethodRow] = natives::METHODS;

/// `require "objspace"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let module = cx.define_module(ids::OBJECT, "ObjectSpace");
    cx.define_natives(module, &[natives::METHODS]);
    cx.run_builtin("objspace")
}
