//! RubyVM::InstructionSequence: a program's compiled form, over this VM's bytecode.
//!
//! The listing and `to_a` show our instructions, which have nothing to do with CRuby's; everything else answers as there.

use crate::kernel::eval::{show_warnings, syntax_error};
use crate::kernel::load;
use std::sync::Arc;
use zakuro_bytecode::{Code, CodeKind, disasm};
use zakuro_compiler::Options;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[iseq::METHODS, ruby_vm::METHODS];
pub fn setup(_cx: &mut Cx) {}

/// Payload of an InstructionSequence.
#[derive(Trace)]
pub struct Iseq {
    #[untraced]
    code: Arc<Code>,
    /// Full path of the file; nil for texts.
    absolute: Value,
    /// The VM runs it, or has; not compiled to be looked at.
    loaded: bool,
    /// Option that it was compiled with.
    frozen: Option<bool>,
    /// Made by `compile_file`.
    of_file: bool,
}
impl NativeData for Iseq {
    fn weight(&self) -> usize {
        // What the VM has run counts where that is.
        if self.loaded { 0 } else { Cx::size_of_code(&self.code) }
    }
}

pub fn make(cx: &mut Cx, code: Arc<Code>) -> Value {
    let frozen = cx.options.frozen_string_literal;
    cx.data(ids::ISEQ, Iseq { code, absolute: Value::NIL, loaded: true, frozen, of_file: false })
}

/// The kind's name, as CRuby has it.
pub fn kind_name(code: &Code) -> &'static str {
    match code.kind {
        CodeKind::Program => "top",
        CodeKind::Method => "method",
        CodeKind::Block => "block",
        CodeKind::Class => "class",
        CodeKind::Eval => "eval",
    }
}

/// What a TracePoint can see of a Code: (line, event, index of the instruction that a statement begins with), in the order of its instructions.
pub fn trace_points(code: &Code) -> Vec<(u32, &'static str, Option<usize>)> {
    let (first, last) = match code.kind {
        CodeKind::Method => (Some("call"), Some("return")),
        CodeKind::Block => (Some("b_call"), Some("b_return")),
        CodeKind::Class => (Some("class"), Some("end")),
        _ => (None, None),
    };
    let lines = code.statements.iter().map(|(i, line)| (*line, "line", Some(*i as usize)));
    let first = first.map(|n| (code.line, n, None));
    first.into_iter().chain(lines).chain(last.map(|n| (code.end_line, n, None))).collect()
}

/// The Code of an InstructionSequence; None for other objects.
pub fn code(cx: &mut Cx, v: Value) -> Option<Arc<Code>> {
    if cx.is_data::<Iseq>(v) { Some(cx.data_ref::<Iseq>(v).ok()?.code.clone()) } else { None }
}

/// The program of an InstructionSequence; None for other objects, and for parts of programs.
pub fn program(cx: &mut Cx, v: Value) -> Option<Arc<Code>> {
    code(cx, v).filter(|c| c.kind == CodeKind::Program)
}

fn label(code: &Code) -> String {
    match code.kind {
        CodeKind::Program | CodeKind::Eval => "<compiled>".into(),
        CodeKind::Block => format!("block in {}", code.name.name()),
        CodeKind::Class | CodeKind::Method => code.name.name().into_owned(),
    }
}

/// Whether InstructionSequences show their text (`RubyVM.keep_script_lines`). A Code has it in any case, for reports of errors.
#[derive(Trace, Default)]
struct ScriptLines {
    shown: bool,
}
impl VmState for ScriptLines {}

/// Methods of RubyVM.
#[ruby_class(ids::RUBY_VM)]
mod ruby_vm {
    use super::*;

    /// Whether `InstructionSequence#script_lines` tells the text of a source.
    ///
    ///     RubyVM.keep_script_lines   #=> false
    #[method("keep_script_lines", singleton)]
    fn keep_script_lines(cx: &mut Cx, _this: Value) -> bool {
        cx.state::<ScriptLines>().shown
    }
    /// Lets `InstructionSequence#script_lines` tell the text of a source, or be nil.
    ///
    ///     RubyVM.keep_script_lines = true; RubyVM::InstructionSequence.compile("1\n2").script_lines   #=> ["1\n", "2"]
    #[method("keep_script_lines=", singleton)]
    fn set_keep_script_lines(cx: &mut Cx, _this: Value, on: bool) -> bool {
        cx.state::<ScriptLines>().shown = on;
        on
    }
}

/// What the options of a compilation say of literals of Strings. Of the others only `debug_level` is looked at: it has to be a number.
fn frozen_literals(cx: &mut Cx, options: Option<Value>) -> Result<Option<bool>> {
    let Some(h) = options.and_then(Ref::<HashCell>::from_value) else { return Ok(None) };
    if let Some(v) = cx.hash_get(h, Value::sym(Sym::intern("debug_level")))? {
        cx.to_i64(v)?;
    }
    Ok(cx.hash_get(h, Value::sym(Sym::intern("frozen_string_literal")))?.map(Value::truthy))
}

/// Compiles a text as a program.
fn compile(cx: &mut Cx, text: &[u8], file: &str, line: u32, absolute: Value, frozen: Option<bool>, of_file: bool) -> Result<Value> {
    let frozen = frozen.or(cx.options.frozen_string_literal);
    let options = options(cx, file, line, frozen);
    match cx.compile(&Arc::from(text), &options)? {
        Ok(c) => {
            show_warnings(cx, file, &c.warnings)?;
            Ok(cx.data(ids::ISEQ, Iseq { code: c.code, absolute, loaded: false, frozen, of_file }))
        }
        Err(e) => syntax_error(cx, &e),
    }
}

fn options<'a>(cx: &Cx, file: &'a str, line: u32, frozen_string_literal: Option<bool>) -> Options<'a> {
    let (literal_places, keep_locals) = (cx.options.literal_places, cx.options.keep_locals);
    Options { file, line, frozen_string_literal, literal_places, keep_locals, warn: true, verbose: cx.is_verbose(), ..Default::default() }
}

/// A program as bytes, for `to_binary`: its text and what it is compiled with, not its instructions. Instructions that somebody else wrote could do anything, and no verifier
/// finds that out; a text is compiled like any other, or found compiled by the process or an earlier one (codecache, codestore).
struct Binary<'a> {
    line: u32,
    frozen: Option<bool>,
    of_file: bool,
    file: &'a [u8],
    absolute: Option<&'a [u8]>,
    text: &'a [u8],
    extra: &'a [u8],
}

impl<'a> Binary<'a> {
    const MAGIC: [u8; 4] = *b"ZKRO";
    const VERSION: u32 = 1;
    /// Length of what is not there.
    const NONE: u32 = u32::MAX;

    /// None: a part is too long.
    fn write(&self) -> Option<Vec<u8>> {
        let mut out = Self::MAGIC.to_vec();
        let options = self.frozen.map_or(0, |f| 1 + u32::from(f)) | u32::from(self.of_file) << 2;
        [Self::VERSION, self.line, options].iter().for_each(|n| out.extend(n.to_le_bytes()));
        for part in [Some(self.file), self.absolute, Some(self.text), Some(self.extra)] {
            let length = part.map_or(Some(Self::NONE), |p| u32::try_from(p.len()).ok().filter(|n| *n != Self::NONE))?;
            out.extend(length.to_le_bytes());
        }
        for part in [Some(self.file), self.absolute, Some(self.text), Some(self.extra)].into_iter().flatten() {
            out.extend(part);
        }
        Some(out)
    }
    fn read(bytes: &'a [u8]) -> std::result::Result<Binary<'a>, String> {
        fn word(rest: &mut &[u8]) -> std::result::Result<u32, String> {
            let Some((n, after)) = rest.split_first_chunk() else { return Err("broken binary format".into()) };
            *rest = after;
            Ok(u32::from_le_bytes(*n))
        }
        let mut rest = bytes;
        if word(&mut rest)?.to_le_bytes() != Self::MAGIC {
            return Err("broken binary format".into());
        }
        let version = word(&mut rest)?;
        if version != Self::VERSION {
            return Err(format!("unmatched version file ({version} for {})", Self::VERSION));
        }
        let (line, options) = (word(&mut rest)?, word(&mut rest)?);
        let lengths = [word(&mut rest)?, word(&mut rest)?, word(&mut rest)?, word(&mut rest)?];
        let mut part = |n: u32| -> std::result::Result<Option<&'a [u8]>, String> {
            if n == Self::NONE {
                return Ok(None);
            }
            let Some((part, after)) = rest.split_at_checked(n as usize) else { return Err("broken binary format".into()) };
            rest = after;
            Ok(Some(part))
        };
        let parts = [part(lengths[0])?, part(lengths[1])?, part(lengths[2])?, part(lengths[3])?];
        let frozen = [Some(None), Some(Some(false)), Some(Some(true)), None][options as usize & 3];
        match (parts, frozen) {
            ([Some(file), absolute, Some(text), Some(extra)], Some(frozen)) if rest.is_empty() && options < 8 => {
                Ok(Binary { line, frozen, of_file: options & 4 != 0, file, absolute, text, extra })
            }
            _ => Err("broken binary format".into()),
        }
    }
}

#[ruby_class(ids::ISEQ)]
pub mod iseq {
    use super::*;

    type This = Value;
    fn this_code(cx: &mut Cx, this: Value) -> Result<Arc<Code>> {
        Ok(cx.data_ref::<Iseq>(this)?.code.clone())
    }

    /// Compiles a text: `compile(source, file = "<compiled>", path = nil, line = 1, options = nil)`. The names that choose one of CRuby's two parsers all mean the one
    /// there is.
    ///
    ///     RubyVM::InstructionSequence.compile("1 + 2").eval   #=> 3
    #[method("compile", "new", "compile_prism", "compile_parsey", singleton, min = 1)]
    fn compile_text(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        let mut n = args.len();
        let mut frozen = None;
        // Options are keywords, or a Hash in their place.
        if args.kw || n == 5 && args.get(4).is_some_and(|v| v.is_kind(Kind::Hash)) {
            n -= 1;
            frozen = frozen_literals(cx, args.get(n))?;
        }
        if n == 0 || n > 5 {
            return cx.arity_error(n, 1, Some(5));
        }
        let get = |i: usize| if i < n { args.get(i).filter(|v| !v.is_nil()) } else { None };
        let Some(source) = get(0) else { return cx.no_conversion(Value::NIL, "String") };
        let text = match cx.try_str(source)? {
            Some(s) if !zakuro_core_text::string::util::enc(s).is_ascii_compatible() => return cx.arg_error("invalid source encoding"),
            Some(s) => s.to_vec(),
            None if cx.is_a(source, ids::FILE) => {
                let path = cx.call(source, sym::to_path, &[])?;
                let file = cx.class_value(ids::FILE);
                let text = cx.call(file, Sym::intern("binread"), &[path])?;
                cx.to_str(text)?.to_vec()
            }
            None => return cx.no_conversion(source, "String"),
        };
        let file = match get(1) {
            Some(f) => cx.text_of(f)?,
            None => "<compiled>".into(),
        };
        let path = get(2).unwrap_or(Value::NIL);
        let line = match get(3) {
            Some(l) => cx.to_i64(l)?.clamp(0, i32::MAX as i64) as u32,
            None => 1,
        };
        compile(cx, &text, &file, line, path, frozen, false)
    }
    /// What CRuby's compiler does beyond the language. There is nothing to choose here.
    ///
    ///     RubyVM::InstructionSequence.compile_option   #=> {}
    #[method("compile_option", singleton)]
    fn compile_option(cx: &mut Cx, _this: Value) -> Value {
        cx.new_hash().as_value()
    }
    /// Takes any choice; none changes what a program does.
    #[method("compile_option=", singleton)]
    fn set_compile_option(_cx: &mut Cx, _this: Value, options: Value) -> Value {
        options
    }
    /// Compiles a file. Errno::ENOENT and the like for one that can't be read.
    #[method("compile_file", "compile_file_prism", singleton, min = 1)]
    fn compile_file(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        let Some(f) = args.get(0) else { return cx.arity_error(0, 1, Some(2)) };
        let name = cx.text_of(f)?;
        let path = load::absolute(cx, name.as_bytes());
        let text = match std::fs::read(&path) {
            Ok(t) => t,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return zakuro_core_base::exception::errno_error(cx, e.raw_os_error().unwrap_or_default(), &name);
            }
            // As File.read reports it.
            Err(_) => {
                let file = cx.class_value(ids::FILE);
                let v = cx.call(file, Sym::intern("binread"), &[f])?;
                cx.to_str(v)?.to_vec()
            }
        };
        let absolute = cx.str(&path.to_string_lossy());
        compile(cx, &text, &name, 1, absolute, None, true)
    }
    /// The program as a String, from which `load_from_binary` makes it again, and another text with it.
    ///
    ///     i = RubyVM::InstructionSequence; i.load_from_binary(i.compile("6 * 7").to_binary).eval   #=> 42
    #[method("to_binary")]
    fn to_binary(cx: &mut Cx, this: This, extra: Option<Value>) -> Result<Value> {
        let extra = match extra {
            None | Some(Value::NIL) => Vec::new(),
            Some(v) => cx.to_str(v)?.to_vec(),
        };
        let d = cx.data_ref::<Iseq>(this)?;
        let (code, absolute, frozen, of_file) = (d.code.clone(), d.absolute, d.frozen, d.of_file);
        if code.kind != CodeKind::Program || code.file.starts_with("<internal") {
            return cx.raise(ids::RUNTIME_ERROR, "should be top of iseq");
        }
        let absolute = Ref::<StringCell>::from_value(absolute).map(|s| s.to_vec());
        let (file, text) = (code.file.as_bytes(), &code.source[..]);
        let binary = Binary { line: code.line, frozen, of_file, file, absolute: absolute.as_deref(), text, extra: &extra };
        match binary.write() {
            Some(bytes) => Ok(cx.str_bytes(&bytes, string::BINARY)),
            None => cx.raise(ids::RUNTIME_ERROR, "too large for a binary"),
        }
    }
    /// What `to_binary` wrote. RuntimeError for anything else.
    #[method("load_from_binary", singleton)]
    fn load_from_binary(cx: &mut Cx, _this: Value, binary: Ref<StringCell>) -> Result<Value> {
        let bytes = binary.to_vec();
        let b = match Binary::read(&bytes) {
            Ok(b) => b,
            Err(why) => return cx.raise(ids::RUNTIME_ERROR, why),
        };
        let file = String::from_utf8_lossy(b.file);
        let options = options(cx, &file, b.line, b.frozen);
        match codecache::compile(cx, b.text, &options)? {
            Ok(c) => {
                let absolute = b.absolute.map_or(Value::NIL, |a| cx.str_auto(a));
                Ok(cx.data(ids::ISEQ, Iseq { code: c.code, absolute, loaded: false, frozen: b.frozen, of_file: b.of_file }))
            }
            Err(e) => syntax_error(cx, &e),
        }
    }
    /// The text that was given to `to_binary`.
    ///
    ///     i = RubyVM::InstructionSequence; i.load_from_binary_extra_data(i.compile("1").to_binary("of me"))   #=> "of me"
    #[method("load_from_binary_extra_data", singleton)]
    fn load_from_binary_extra_data(cx: &mut Cx, _this: Value, binary: Ref<StringCell>) -> Result<Value> {
        let bytes = binary.to_vec();
        match Binary::read(&bytes) {
            Ok(b) => Ok(cx.str_bytes(b.extra, string::BINARY)),
            Err(why) => cx.raise(ids::RUNTIME_ERROR, why),
        }
    }
    /// The compiled form of a Proc, Method or UnboundMethod; nil for builtins.
    ///
    ///     RubyVM::InstructionSequence.of(proc { 1 }).label   #=> "block in <main>"
    #[method("of", singleton)]
    fn of(cx: &mut Cx, _this: Value, body: Value) -> Result<Value> {
        Ok(match crate::tracepoint::code_of(cx, body) {
            Some(code) => make(cx, code),
            None => Value::NIL,
        })
    }
    /// The listing of a Proc or Method.
    #[method("disasm", "disassemble", singleton)]
    fn disasm_of(cx: &mut Cx, _this: Value, body: Value) -> Result<Value> {
        let code = crate::tracepoint::code_of(cx, body);
        Ok(code.map_or(Value::NIL, |c| cx.str(&disasm::listing(&c))))
    }
    /// Runs the program.
    ///
    ///     RubyVM::InstructionSequence.compile("[__FILE__, __LINE__]", "x.rb", nil, 7).eval   #=> ["x.rb", 7]
    #[method("eval")]
    fn eval(cx: &mut Cx, this: This) -> Result<Value> {
        let code = this_code(cx, this)?;
        if code.kind != CodeKind::Program {
            return cx.type_error("Not a toplevel InstructionSequence");
        }
        if cx.data_ref::<Iseq>(this)?.loaded { cx.run_program(&code, None) } else { cx.run_passing_program(&code) }
    }
    /// The listing of the instructions, nested ones included.
    #[method("disasm", "disassemble")]
    fn disasm_(cx: &mut Cx, this: This) -> Result<String> {
        Ok(disasm::listing(&*this_code(cx, this)?))
    }
    /// File name as given.
    ///
    ///     RubyVM::InstructionSequence.compile("1").path   #=> "<compiled>"
    #[method("path")]
    fn path(cx: &mut Cx, this: This) -> Result<String> {
        Ok(this_code(cx, this)?.file.to_string())
    }
    /// Full path, nil for texts.
    #[method("absolute_path")]
    fn absolute_path(cx: &mut Cx, this: This) -> Result<Value> {
        let d = cx.data_ref::<Iseq>(this)?;
        if !d.absolute.is_nil() || !std::path::Path::new(&*d.code.file).is_file() {
            return Ok(d.absolute);
        }
        let file = d.code.file.clone();
        let path = load::absolute(cx, file.as_bytes());
        Ok(cx.str(&path.to_string_lossy()))
    }
    /// Line of the definition.
    ///
    ///     RubyVM::InstructionSequence.compile("1", "x", nil, 5).first_lineno   #=> 5
    #[method("first_lineno")]
    fn first_lineno(cx: &mut Cx, this: This) -> Result<i64> {
        let d = cx.data_ref::<Iseq>(this)?;
        // Files begin before their first line.
        Ok(if d.loaded && d.code.kind == CodeKind::Program { 0 } else { d.code.line as i64 })
    }
    /// Kind and name.
    #[method("label")]
    fn label_(cx: &mut Cx, this: This) -> Result<String> {
        let d = cx.data_ref::<Iseq>(this)?;
        let (code, loaded, of_file) = (d.code.clone(), d.loaded, d.of_file);
        Ok(match code.kind {
            CodeKind::Program if of_file || loaded && *code.file == *cx.script => "<main>".into(),
            CodeKind::Program if loaded => "<top (required)>".into(),
            _ => label(&code),
        })
    }
    /// Name.
    #[method("base_label")]
    fn base_label(cx: &mut Cx, this: This) -> Result<String> {
        let c = this_code(cx, this)?;
        if c.kind == CodeKind::Program { label_(cx, this) } else { Ok(c.name.name().into_owned()) }
    }
    /// Lines of the source text with `RubyVM.keep_script_lines`, else nil.
    #[method("script_lines")]
    fn script_lines(cx: &mut Cx, this: This) -> Result<Value> {
        let code = this_code(cx, this)?;
        if !cx.state::<ScriptLines>().shown {
            return Ok(Value::NIL);
        }
        let out = cx.new_array();
        for line in code.source.split_inclusive(|b| *b == b'\n') {
            let s = cx.str_auto(line);
            ArrayCell::push(out, &mut cx.heap, s);
        }
        Ok(out.as_value())
    }
    /// Yields the instruction sequences in this one.
    #[method("each_child")]
    fn each_child(cx: &mut Cx, this: This, block: Block) -> Result<Value> {
        for c in this_code(cx, this)?.children.iter().filter(|c| !c.of_symbol) {
            let v = make(cx, c.clone());
            cx.yield1(block, v)?;
        }
        Ok(Value::NIL)
    }
    /// [line, event] of the places that a TracePoint can see.
    #[method("trace_points")]
    fn trace_points(cx: &mut Cx, this: This) -> Result<Value> {
        let code = this_code(cx, this)?;
        let out = cx.new_array();
        for (line, name, _) in super::trace_points(&code) {
            let pair = cx.array(&[Value::fixnum(line as i64), Value::sym(Sym::intern(name))]);
            ArrayCell::push(out, &mut cx.heap, pair);
        }
        Ok(out.as_value())
    }
    /// Format name, versions, a Hash of sizes, label, file, full path, line, kind, names of the locals, parameters, [kind, start, end, target] of
    /// the handlers, and the instructions: numbers of lines, events as `:RUBY_EVENT_LINE`, and [instruction, operands...].
    #[method("to_a")]
    fn to_a(cx: &mut Cx, this: This) -> Result<Value> {
        let code = this_code(cx, this)?;
        let kind = kind_name(&code);
        let misc = cx.new_hash();
        for (k, v) in [("arg_size", code.params.registers()), ("local_size", code.nlocals), ("stack_max", code.nregs)] {
            cx.hash_set(misc, Value::sym(Sym::intern(k)), Value::fixnum(v as i64))?;
        }
        cx.hash_set(misc, Value::sym(Sym::intern("parser")), Value::sym(Sym::intern("prism")))?;
        let name = label(&code);
        let label = cx.str(&name);
        let path = cx.str(&code.file);
        let absolute = absolute_path(cx, this)?;
        // Parameters without a name show their sign.
        let sign = |(kind, name): &(&str, Option<Sym>)| {
            let sign = match *kind {
                "rest" => "*",
                "keyrest" => "**",
                "block" => "&",
                _ => return None,
            };
            name.is_none_or(|n| !scope::is_visible_local(n)).then(|| Sym::intern(sign))
        };
        let named = code.locals.iter().map(|l| l.name).filter(|n| scope::is_visible_local(*n));
        let locals: Vec<Sym> = named.chain(code.params.list.iter().filter_map(sign)).collect();
        let locals = cx.sym_array(&locals);
        let params = crate::method::parameters_value(cx, &code.params.list);
        let body = cx.new_array();
        // As CRuby lists them: a line before its instructions, an event before what tells it.
        let points = super::trace_points(&code);
        let (mut points, mut line) = (points.iter().peekable(), 0);
        let mut place = |cx: &mut Cx, at: u32, event: Option<&str>| {
            if at != line {
                line = at;
                ArrayCell::push(body, &mut cx.heap, Value::fixnum(at as i64));
            }
            if let Some(name) = event {
                let name = Value::sym(Sym::intern(&format!("RUBY_EVENT_{}", name.to_uppercase())));
                ArrayCell::push(body, &mut cx.heap, name);
            }
        };
        for (i, insn) in code.insns.iter().enumerate() {
            while let Some((at, name, before)) = points.peek().copied()
                && before.map_or(i == 0, |b| b <= i)
            {
                points.next();
                place(cx, *at, Some(name));
            }
            place(cx, code.line_at(i), None);
            let row = [
                Value::sym(Sym::intern(insn.opcode().name())),
                Value::fixnum(insn.x as i64),
                Value::fixnum(insn.a as i64),
                Value::fixnum(insn.b as i64),
                Value::fixnum(insn.c as i64),
            ];
            let row = cx.array(&row);
            ArrayCell::push(body, &mut cx.heap, row);
        }
        for (at, name, _) in points.copied() {
            place(cx, at, Some(name));
        }
        let handlers = cx.new_array();
        for h in code.handlers.iter() {
            let kind = match h.kind {
                zakuro_bytecode::HandlerKind::Rescue => "rescue",
                zakuro_bytecode::HandlerKind::Ensure => "ensure",
            };
            let places = [h.start, h.end, h.target].map(|n| Value::fixnum(n as i64));
            let row = cx.array(&[Value::sym(Sym::intern(kind)), places[0], places[1], places[2]]);
            ArrayCell::push(handlers, &mut cx.heap, row);
        }
        let magic = cx.str("Zakuro/Code");
        let all = [
            magic,
            Value::fixnum(4),
            Value::fixnum(0),
            Value::fixnum(1),
            misc.as_value(),
            label,
            path,
            absolute,
            Value::fixnum(code.line as i64),
            Value::sym(Sym::intern(kind)),
            locals,
            params,
            handlers.as_value(),
            body.as_value(),
        ];
        Ok(cx.array(&all))
    }
    /// Label and place.
    ///
    ///     RubyVM::InstructionSequence.compile("1").inspect   #=> "<RubyVM::InstructionSequence:<compiled>@<compiled>:1>"
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: This) -> Result<String> {
        let c = this_code(cx, this)?;
        Ok(format!("<RubyVM::InstructionSequence:{}@{}:{}>", label_(cx, this)?, c.file, first_lineno(cx, this)?))
    }
}
