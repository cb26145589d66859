//! prism tree -> register bytecode.
//!
//! [`compile`] parses a source, finds out which variables blocks capture (`analyze`, `scope`) and lowers the tree in one walk
//! (`expr` dispatches; `call`, `operators`, `assign`, `control`, `exception`, `pattern`, `define`, `params`, `literal`, `defined`
//! are its parts). `emit` is the assembler of one Code, `unit` the state of lowering. There is no second tree: what a node
//! needs to know about later ones (is this local assigned before it is read?) comes from the analysis, by source offset.
//!
//! Stack: a source that may nest deeply is compiled on a native thread of its own ([`STACK`]), since prism, the analysis and the
//! lowering all recurse; a small one needs up to 512 KiB of the caller's. VMs do that by a [`job::Job`], which has limits and can be given up. Nodes nested deeper than the limit are a SyntaxError.

mod analyze;
mod assign;
mod branches;
mod call;
mod control;
mod define;
mod defined;
mod emit;
mod error;
mod exception;
mod expr;
pub mod heredoc;
pub mod job;
mod literal;
mod malloc;
mod operators;
mod params;
mod pattern;
mod scope;
pub mod serialize;
mod shareable;
pub mod spot;
mod unit;

pub use branches::{Arm, Branch};
pub use error::{Problem, SyntaxError};

use ruby_prism as prism;
use std::sync::Arc;
use unit::{Compiler, Frame};
use zakuro_base::{Sym, sym, symbol};
use zakuro_bytecode::{Code, Params};
use zakuro_text::encoding::Encoding;

/// How to compile a source.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    pub file: &'a str,
    /// Line of the first line.
    pub line: u32,
    /// `--enable=frozen-string-literal`; the magic comment decides in any case.
    pub frozen_string_literal: Option<bool>,
    /// `--debug-frozen-string-literal`: Strings of literals know where they were made.
    pub literal_places: bool,
    /// All local variables stand in environments, where a binding of their frame can set them: as if each scope mentioned `binding`.
    pub keep_locals: bool,
    /// Encoding (id of text::encoding) unless a magic comment names another one. UTF-8 by default.
    pub encoding: Option<u8>,
    /// `-n`, `-p`, `-l`, `-a`, `-e`: what the command line wraps around the program.
    pub wrap: Wrap,
    /// The variables around, for the text of an `eval`.
    pub eval: Option<&'a EvalScopes>,
    /// The script that was started: `__END__` gives DATA.
    pub main_script: bool,
    /// Whether to collect warnings.
    pub warn: bool,
    /// And those of regexps, which Ruby shows with `-w` only, and which take as long to find as all else of a literal.
    pub verbose: bool,
    /// Whether the arms of conditions are counted: for `coverage`.
    pub branches: bool,
    /// Instance variables whose names begin with `@__` are hidden from Ruby: for libraries whose objects would be cells without any in C.
    pub hidden_ivars: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            file: "",
            line: 1,
            frozen_string_literal: None,
            literal_places: false,
            keep_locals: false,
            encoding: None,
            wrap: Wrap::default(),
            eval: None,
            main_script: false,
            warn: false,
            verbose: false,
            branches: false,
            hidden_ivars: false,
        }
    }
}

/// Letters of the command line that change what a program means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrap {
    /// `-n`: the program runs once per line of input.
    pub each_line: bool,
    /// `-p`: and prints `$_`.
    pub print: bool,
    /// `-l`: lines come without their ends.
    pub chomp: bool,
    /// `-a`: `$F` holds the fields.
    pub split: bool,
    /// `-e`: Integers in conditional ranges are line numbers.
    pub one_liner: bool,
}

impl Wrap {
    fn flags(self) -> Vec<prism::CommandLineFlag> {
        use prism::CommandLineFlag as F;
        let all = [(self.each_line, F::N), (self.print, F::P), (self.chomp, F::L), (self.split, F::A), (self.one_liner, F::E)];
        all.into_iter().filter(|(on, _)| *on).map(|(_, f)| f).collect()
    }
}

/// Variables visible to an eval.
#[derive(Clone, Debug, Default)]
pub struct EvalScopes {
    /// Names and slots, innermost environment first. `envs[0]` becomes the parent of the eval's own environment. Hidden variables
    /// (`&block`, `*_`, ...) are given under the names of [`Code::locals`].
    pub envs: Vec<Vec<(Sym, u16)>>,
    /// The eval runs inside a method.
    pub in_method: bool,
    /// Where `$~` lives: (environments up from `envs[0]`, slot).
    pub backref: Option<(u8, u16)>,
    /// The same of `$_`.
    pub lastline: Option<(u8, u16)>,
    /// Parameters of the method around, when the last of `envs` is its environment and holds them in its first slots: what `super` passes.
    pub params: Option<zakuro_bytecode::Params>,
}

/// A compiled source.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub code: Arc<Code>,
    pub warnings: Vec<Warning>,
    /// What the counters of branches are of; empty without [`Options::branches`].
    pub branches: Arc<[Branch]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub line: u32,
    pub message: String,
    /// Shown when `$VERBOSE` is true only (`-w`).
    pub verbose: bool,
}

/// Whether Ruby shows a warning with `-w` only. prism knows, but its Rust interface does not tell.
fn is_verbose(message: &str) -> bool {
    const STARTS: &[&str] = &[
        "ambiguous ",
        "comparison '",
        "'when' clause",
        "Float ",
        "'frozen_string_literal'",
        "mismatched indentations",
        "invalid value for",
        "`",
        "'shareable_constant_value'",
        "statement not reached",
        "assigned but unused",
        "possibly useless use",
        "literal in",
        "symbol literal in",
    ];
    STARTS.iter().any(|s| message.starts_with(s)) || message.contains("is interpreted as binary operator")
}

/// Sources up to this size can't nest deeply enough to need a stack of their own.
pub const SMALL_SOURCE: usize = 256;

/// Native stack for larger ones. Reserved, not touched unless needed.
pub const STACK: usize = 256 << 20;

/// Compiles a source.
pub fn compile(source: &[u8], options: &Options) -> Result<Compiled, SyntaxError> {
    compile_shared(&Arc::from(source), options)
}

/// The same for a source that others hold, too: the Code refers to it.
pub fn compile_shared(source: &Arc<[u8]>, options: &Options) -> Result<Compiled, SyntaxError> {
    if source.len() <= SMALL_SOURCE {
        return compile_here(source, options);
    }
    on_own_stack(|| compile_here(source, options))
}

/// Runs `work`, which may recurse deeply, on a native thread of its own.
pub(crate) fn on_own_stack<R: Send>(work: impl Fn() -> R + Sync) -> R {
    std::thread::scope(|s| {
        let worker = std::thread::Builder::new().name("compiler".into()).stack_size(STACK);
        let work_there = || {
            let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(&work));
            (r, symbol::added_here())
        };
        match zakuro_base::memory::admits_thread(STACK).and_then(|()| worker.spawn_scoped(s, work_there)) {
            Ok(thread) => {
                let (r, names) = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                if names > 0 {
                    symbol::tell(names);
                }
                r.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
            Err(_) => work(),
        }
    })
}

/// Whether the first line is a `#!` line that does not name ruby.
fn other_interpreter(source: &[u8]) -> bool {
    let first = source.split(|b| *b == b'\n').next().unwrap_or_default();
    first.starts_with(b"#!") && !first.windows(4).any(|w| w == b"ruby")
}

fn parse_options(options: &Options, source: &[u8]) -> prism::ParseOptions {
    let file = options.file.replace('\0', "");
    let mut o = prism::Options::default()
        .filepath(&file)
        .line(options.line as i32)
        .version(prism::Version::CRuby4_0)
        // The parser knows `#!` lines of ruby only; whoever calls has looked for the line where the program begins.
        .main_script(options.main_script && !other_interpreter(source));
    o = o.frozen_string_literal(options.frozen_string_literal).command_line(options.wrap.flags());
    if let Some(e) = options.encoding.and_then(Encoding::from_id) {
        o = o.encoding(e.name());
    }
    if let Some(eval) = options.eval {
        for env in eval.envs.iter().rev() {
            let has = |name: Sym| env.iter().any(|(n, _)| *n == name);
            let mut forwarding = Vec::new();
            for (name, flag) in [
                (sym::anon_rest, prism::ScopeForwardingFlag::Positionals),
                (sym::anon_kwrest, prism::ScopeForwardingFlag::Keywords),
                (sym::anon_block, prism::ScopeForwardingFlag::Block),
            ] {
                if has(name) {
                    forwarding.push(flag);
                }
            }
            if forwarding.len() == 3 {
                forwarding.push(prism::ScopeForwardingFlag::All);
            }
            let locals = env.iter().map(|(n, _)| n.bytes().to_vec()).filter(|n| !matches!(n.first(), Some(b'&' | b'*' | b'~')));
            o = o.scope(prism::Scope::default().locals(locals.collect()).forwarding(forwarding));
        }
        // The eval's own.
        o = o.scope(prism::Scope::default());
    }
    o.build()
}

fn problems(result: &prism::ParseResult<'_>, offsets: &[u32]) -> Vec<Problem> {
    result
        .errors()
        .map(|d| {
            let l = d.location();
            let line = l.start_line();
            let (column, mut end_column) = (l.start_column(), l.end_column());
            if l.end_line() != line {
                // Marked up to the end of its first line.
                let index = offsets.partition_point(|o| *o <= l.start());
                let next = offsets.get(index).copied().unwrap_or(l.end());
                end_column = (next - 1).saturating_sub(l.start() - column);
            }
            let message = String::from_utf8_lossy(d.message()).into_owned();
            job::took(size_of::<Problem>() + message.len());
            Problem { line: line as u32, column, end_column: end_column.max(column + 1), message }
        })
        .collect()
}

/// What prism says of an encoding comment that it can't follow. Ruby raises an ArgumentError.
const BAD_ENCODING: &str = "unknown or invalid encoding in the magic comment";

/// Encoding of a source: its magic comment's, else the given one, else UTF-8. prism reads it so too, but its Rust interface does not tell.
fn source_encoding(source: &[u8], options: &Options) -> Encoding {
    let given = options.encoding.and_then(Encoding::from_id).unwrap_or(Encoding::UTF_8);
    let (source, given) = match source.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => (rest, Encoding::UTF_8),
        None => (source, given),
    };
    named_encoding(source).and_then(find_encoding).unwrap_or(given)
}

/// Name in the encoding comment: in the first line, or the second after a `#!` line.
fn named_encoding<'s>(source: &'s [u8]) -> Option<&'s [u8]> {
    let mut lines = source.split(|b| *b == b'\n');
    let mut line = lines.next()?;
    if line.starts_with(b"#!") {
        line = lines.next()?;
    }
    // Vertical tabs are blanks, too.
    let past_blanks = |text: &'s [u8]| text.iter().position(|b| !b.is_ascii_whitespace() && *b != 0x0b).map_or(&text[..0], |i| &text[i..]);
    let comment = past_blanks(line).strip_prefix(b"#")?;
    let mut rest = comment;
    loop {
        let at = rest.windows(6).position(|w| w.eq_ignore_ascii_case(b"coding"))?;
        rest = &rest[at + 6..];
        let value = past_blanks(rest);
        let Some((b':' | b'=', value)) = value.split_first() else { continue };
        let value = past_blanks(value);
        let end = value.iter().position(|b| !(b.is_ascii_alphanumeric() || b"-_.".contains(b))).unwrap_or(value.len());
        return (end > 0).then(|| &value[..end]);
    }
}

fn find_encoding(name: &[u8]) -> Option<Encoding> {
    let lower = name.to_ascii_lowercase();
    // Line ends of Emacs, and its name of UTF-8 for Macs.
    let plain = [&b"-unix"[..], b"-dos", b"-mac"].iter().find_map(|end| lower.strip_suffix(*end)).unwrap_or(&lower);
    match plain {
        b"utf8" | b"utf-8" => Some(Encoding::UTF_8),
        _ => Encoding::find(plain).or_else(|| Encoding::find(name)).filter(|e| e.is_ascii_compatible()),
    }
}

fn compile_here(source: &Arc<[u8]>, options: &Options) -> Result<Compiled, SyntaxError> {
    let parse_options = parse_options(options, source);
    let result = job::parse(source, &parse_options);
    let offsets = result.line_offsets().to_vec();
    let errors = problems(&result, &offsets);
    if let Some(e) = errors.iter().find(|e| e.message == BAD_ENCODING) {
        return Err(SyntaxError::argument(options.file, options.line, source, e.clone()));
    }
    if !errors.is_empty() {
        return Err(SyntaxError::new(options.file, options.line, source, errors));
    }
    let mut warnings = Vec::new();
    if options.warn {
        for w in result.warnings() {
            let message = String::from_utf8_lossy(w.message()).into_owned();
            let verbose = is_verbose(&message);
            warnings.push(Warning { line: w.location().start_line().max(0) as u32, message, verbose });
        }
    }
    let node = result.node();
    let Some(program) = node.as_program_node() else {
        return Err(SyntaxError::plain(options.file, options.line, "no program"));
    };
    let encoding = source_encoding(source, options);
    let scopes = analyze::analyze(&program, options.eval, options.keep_locals, encoding.id());
    let deep = scopes.too_deep;
    let root = scopes.root;
    let name = Sym::intern("<main>");
    let mut outer_params = std::collections::HashMap::new();
    if let Some(p) = options.eval.and_then(|e| e.params.as_ref()) {
        outer_params.insert(scopes.root_of(root), p.clone());
    }
    let mut c = Compiler {
        f: Box::new(Frame::new(root, scopes.list[root].first_temp, name)),
        scopes,
        file: Arc::from(options.file),
        source: source.clone(),
        line_offsets: offsets,
        first_line: options.line,
        wrapped: options.wrap.each_line,
        encoding: encoding.id(),
        frozen_strings: result.frozen_string_literals(),
        literal_places: options.literal_places,
        hidden_ivars: options.hidden_ivars,
        verbose: options.warn && options.verbose,
        data_offset: options.main_script.then(|| data_offset(&result, source)).flatten(),
        unseen: false,
        shareable: None,
        method_params: outer_params,
        spans: (options.eval.is_none() || options.branches) && !options.file.starts_with("<internal"),
        definition: None,
        left_body: Vec::new(),
        warnings: Vec::new(),
        refused: None,
        branches: options.branches.then(Default::default),
        tree: std::marker::PhantomData,
    };
    if let Some(at) = deep {
        return Err(SyntaxError::plain(options.file, c.line_of(at), "nested too deep"));
    }
    let code = c.code(root, name, options.line, Params::default(), &|c, _| c.program(&program));
    if let Some((line, why)) = c.refused {
        return Err(SyntaxError::plain(options.file, line, &why));
    }
    // The interpreter trusts what this has passed. It takes a hundredth of what parsing and lowering do.
    if let Err(e) = zakuro_bytecode::verify::verify(&code) {
        debug_assert!(false, "{e}\n{}", zakuro_bytecode::disasm::listing(&code));
        return Err(SyntaxError::plain(options.file, options.line, &format!("the compiler made code that it must not make: {e}")));
    }
    if options.warn {
        warnings.append(&mut c.warnings);
    }
    let branches = c.branches.map_or_else(Default::default, |b| b.list.into());
    Ok(Compiled { code, warnings, branches })
}

/// Where the text after `__END__` begins.
fn data_offset(result: &prism::ParseResult<'_>, source: &[u8]) -> Option<usize> {
    let start = result.data_loc()?.start() as usize;
    let line = source[start..].iter().position(|b| *b == b'\n');
    Some(line.map_or(source.len(), |n| start + n + 1))
}

#[cfg(test)]
#[path = "growth_tests.rs"]
mod growth_tests;
