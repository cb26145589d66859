//! What happens inside a VM from its first instruction to its end report.

use crate::command::{self, Action, Command};
use crate::tell::tell;
use std::os::fd::FromRawFd;
use std::sync::Arc;
use zakuro_compiler::Options as CompileOptions;
use zakuro_corelib::vm_api::birth;
use zakuro_corelib::vm_api::outcome::{BacktraceText, Unsendable};
use zakuro_vm::host::{End, VmControl};
use zakuro_vm::image::Seed;
use zakuro_vm::life::Stop;
use zakuro_vm::limits::Limit;
use zakuro_vm::transfer::Envelope;
use zakuro_vm::*;

/// What a VM begins with.
pub struct Start {
    pub args: Envelope,
    pub image: Option<Box<Seed>>,
}

/// Runs the VM's program, or the block of its image; leaves the end report in `cx.end`. Each kind of program is a function of its own, and what comes before it is, too: a VM that waits holds on to the pages
/// that its frames lie in.
pub fn run_vm(cx: &mut Cx, control: &Arc<VmControl>, start: Box<Start>) {
    let end = if start.image.is_some() {
        run_block(cx, start)
    } else {
        match run_job(cx, start) {
            Ok(end) => end,
            Err(start) => run_command(cx, control, start),
        }
    };
    finish(cx, control, end);
}

/// Runs what a host program asks for, if that is what the VM was made for.
#[inline(never)]
fn run_job(cx: &mut Cx, mut start: Box<Start>) -> std::result::Result<End, Box<Start>> {
    let Some(job) = crate::api::Job::take(&mut start.args) else { return Err(start) };
    let result = birth::initialize(cx, start.args, &[]).and_then(|()| job.run(cx));
    Ok(run_end(cx, result))
}

#[inline(never)]
#[expect(clippy::boxed_local, reason = "moving it would take room on the native stack of each VM")]
fn run_command(cx: &mut Cx, control: &Arc<VmControl>, start: Box<Start>) -> End {
    // Not by the name, which anybody may give.
    let main = cx.owns_process();
    // The process's options are the main VM's: it must not read them twice.
    let base = if main { crate::process::options_from_environment() } else { (*cx.options).clone() };
    let rubyopt = if main { std::env::var("RUBYOPT").ok() } else { None };
    match command::parse(&control.argv, &base, rubyopt.as_deref()) {
        Ok(mut c) => {
            let result = prepare(cx, &mut c, start.args).and_then(|source| main_program(cx, &c, source));
            if !main {
                keep_outcome(cx, &result);
            }
            run_end(cx, result)
        }
        Err(e) => {
            tell(format!("zakuro: {e}\n"));
            End::Exit(1)
        }
    }
}

/// What the end of a program does, where it stands: the caller ends the process. Gives how the VM ended.
pub fn end_here(cx: &mut Cx, control: &Arc<VmControl>, result: Result<Value>) -> End {
    let end = run_end(cx, result);
    finish(cx, control, end);
    cx.end.take().map_or(End::Done, |end| *end)
}

/// What the VM does after its program: the other threads get out, and what is buffered is written. Leaves the end report.
#[inline(never)]
fn finish(cx: &mut Cx, control: &Arc<VmControl>, mut end: End) {
    if cx.life.is_hard() && cx.thread_count() > MANY {
        // No Ruby code runs any more, and leaving so many stacks takes its time: whoever waits for the end need not wait for that.
        zakuro_corelib::io::flush_all(cx);
        let (end, result) = (early(cx, end.clone()), cx.result.take().map(|r| *r));
        crate::unit::tell_end(control, end, result);
    }
    cx.kill_other_threads();
    if !cx.life.is_hard() {
        if cx.owns_process()
            && zakuro_corelib::io::errors_go_elsewhere(cx)
            && let End::Exception { report, .. } | End::Signal { report, .. } = &mut end
        {
            // The process tells it only where its own standard error goes.
            let report = std::mem::take(report);
            zakuro_corelib::io::write_error(cx, &report);
        }
        zakuro_corelib::io::flush_at_end(cx);
    }
    cx.end = Some(Box::new(early(cx, end)));
}

/// Threads that are left in no time worth telling of.
const MANY: usize = 500;

/// What an option asks for instead of running: to `$stdout`, with its errors (EPIPE).
fn say(cx: &mut Cx, text: &[u8]) -> Result<()> {
    let out = cx.global_get(Sym::intern("$stdout"))?;
    zakuro_corelib::io::write::write_to(cx, out, text)
}

/// The end report of a VM that did not end by itself.
fn early(cx: &Cx, end: End) -> End {
    let report = match &end {
        End::Exception { report, .. } => report.clone(),
        _ => Vec::new(),
    };
    let memory = matches!(&end, End::Exception { class, .. } if class == "NoMemoryError") && cx.has_memory_limit();
    match cx.life.stop {
        _ if cx.life.exit.is_some() => End::Exit(cx.life.exit.unwrap_or(0)),
        Some(Stop::Killed) => End::Killed,
        Some(Stop::Limit(limit)) => End::Limit { limit, message: cx.limit_message(limit), report },
        None if memory => End::Limit { limit: Limit::Memory, message: cx.limit_message(Limit::Memory), report },
        None => end,
    }
}

/// Runs the block that a forked VM was made for, and keeps what it returns or raises for whoever asks.
#[inline(never)]
fn run_block(cx: &mut Cx, start: Box<Start>) -> End {
    let result = receive(cx, start).and_then(|parts| {
        let Some((block, args)) = parts.split_first() else { return Ok(Value::NIL) };
        let Some(block) = Ref::<ProcCell>::from_value(*block) else { return Ok(Value::NIL) };
        let v = cx.call_proc(block, args, false, Block::NONE)?;
        keep_value(cx, v)
    });
    keep_exception(cx, &result);
    run_end(cx, result)
}

/// The block of a forked VM and its arguments; nothing where there is none.
#[inline(never)]
#[expect(clippy::boxed_local, reason = "moving it would take room on the native stack of each VM")]
fn receive(cx: &mut Cx, start: Box<Start>) -> Result<RootedVec> {
    let Start { args, image } = *start;
    birth::initialize(cx, args, &[])?;
    let root = image.map(|image| cx.restore_image(image)).transpose()?;
    let parts = match root.and_then(Ref::<ArrayCell>::from_value) {
        Some(parts) => RootedVec::of(cx, parts),
        None => RootedVec::new(cx),
    };
    birth::receive(cx, parts.get(1..).unwrap_or_default());
    Ok(parts)
}

#[inline(never)]
fn keep_value(cx: &mut Cx, v: Value) -> Result<Value> {
    let result = cx.pack(v)?;
    cx.result = Some(Box::new(cx.weighed(result)));
    Ok(v)
}

/// Keeps the value of a VM's program, or what it raised, for whoever asks. The program has done its work: a value that can't travel is no error of its own.
fn keep_outcome(cx: &mut Cx, result: &Result<Value>) {
    match result {
        Ok(v) => {
            cx.result = match cx.pack(*v) {
                Ok(packed) => Some(Box::new(cx.weighed(packed))),
                Err(Exc) => {
                    let e = cx.take_pending();
                    let message = cx.exception_message(e);
                    let mut nothing = Envelope::nil();
                    nothing.attach(Box::new(Unsendable(cx.to_s_text(message).unwrap_or_default())));
                    cx.take_pending();
                    Some(Box::new(nothing))
                }
            }
        }
        Err(Exc) => keep_exception(cx, result),
    }
}

/// Keeps what ended the program. What can't travel leaves the words of the end report.
#[inline(never)]
fn keep_exception(cx: &mut Cx, result: &Result<Value>) {
    let e = cx.pending;
    if result.is_ok() || !e.is_kind(Kind::Exception) {
        return;
    }
    let mut backtrace = Vec::new();
    if let Some(lines) = Ref::<ArrayCell>::from_value(cx.exception_backtrace(e)) {
        let texts = lines.elements(&cx.heap).iter().filter_map(|l| Ref::<StringCell>::from_value(*l));
        backtrace.extend(texts.map(|t| t.content(&cx.heap).to_vec()));
    }
    let mut packed = match cx.pack(e) {
        Ok(packed) => cx.weighed(packed),
        Err(Exc) => Envelope::nil(),
    };
    packed.attach(Box::new(BacktraceText(backtrace)));
    cx.result = Some(Box::new(packed));
    cx.pending = e;
}

/// What follows the program: `at_exit` blocks and the exit trap. Returns the end report.
#[inline(never)]
fn run_end(cx: &mut Cx, result: Result<Value>) -> End {
    let mut failed = RootedVec::new(cx);
    failed.push(if result.is_err() { cx.take_pending() } else { Value::NIL });
    // A scheduler and at_exit blocks see what ends the program.
    cx.errinfo = exception_or_nil(failed[0]);
    if zakuro_corelib::fiber_scheduler::finish(cx).is_err() {
        failed[0] = cx.take_pending();
    }
    cx.errinfo = exception_or_nil(failed[0]);
    let by_exception = failed[0].is_kind(Kind::Exception);
    let mut end = if by_exception { End::Done } else { outcome(cx, failed[0], None) };
    let mut shown = zakuro_corelib::exception::Exceptions::new(cx);
    // The exit trap, then at_exit blocks in reverse order; one may add others, or change the status by exit.
    let mut trap_is_due = true;
    // The status is what the trap said, no block; and what it reports, which comes after what the blocks do.
    let mut ended_by_trap = false;
    let mut report_of_trap = Vec::new();
    loop {
        let before = cx.errinfo;
        let is_trap = std::mem::take(&mut trap_is_due);
        let r = if is_trap {
            zakuro_corelib::signal::run_exit_trap(cx)
        } else {
            let Some(p) = cx.at_exit.pop() else { break };
            Ref::<ProcCell>::from_value(p).map_or(Ok(()), |p| cx.call_proc(p, &[], false, Block::NONE).map(|_| ()))
        };
        cx.errinfo = before;
        if r.is_ok() {
            continue;
        }
        let e = cx.take_pending();
        if !e.is_kind(Kind::Exception) {
            match outcome(cx, e, None) {
                End::Done => continue,
                end => return end,
            }
        }
        // Causes that blocks have told are not told again; what ended the program is, by itself, after the blocks.
        if before.is_kind(Kind::Exception) && !is_trap {
            shown.add(before);
        }
        end = outcome(cx, e, Some(&mut shown));
        if let End::Exception { report, .. } | End::Signal { report, .. } = &mut end {
            let report = std::mem::take(report);
            if is_trap {
                report_of_trap = report;
            } else {
                zakuro_corelib::io::write_error(cx, &report);
            }
        }
        if let End::Exception { .. } = end {
            end = End::Exit(1);
        }
        // The next block sees what ended this one.
        cx.errinfo = if is_trap { Value::NIL } else { e };
        ended_by_trap = is_trap;
    }
    if !report_of_trap.is_empty() {
        tell_end(cx, &report_of_trap);
    }
    if !by_exception {
        return end;
    }
    match (outcome(cx, failed[0], None), end) {
        // A signal ends the process whatever its trap of EXIT says.
        (first @ End::Signal { .. }, _) if ended_by_trap => first,
        (first, End::Done) | (first @ End::Exception { .. }, End::Exit(1)) => first,
        (End::Exception { report, .. } | End::Signal { report, .. }, end @ (End::Exit(_) | End::Signal { .. })) => {
            // The status is that of the block that failed last.
            tell_end(cx, &report);
            end
        }
        (_, end) => end,
    }
}

/// What the program printed stands before what is said of its end.
fn tell_end(cx: &mut Cx, report: &[u8]) {
    zakuro_corelib::io::flush_at_end(cx);
    zakuro_corelib::io::write_error(cx, report);
}

fn exception_or_nil(v: Value) -> Value {
    if v.is_kind(Kind::Exception) { v } else { Value::NIL }
}

/// Text of a program and the line at which it begins.
struct Source {
    text: codecache::Text,
    line: u32,
    /// Bytes of the file before the text.
    skipped: usize,
    /// The program came from standard input, which goes on behind `__END__`.
    from_input: bool,
    /// No text: the block of an image, this one of the pinned values.
    block: Option<usize>,
}

impl Source {
    fn of_block(at: usize) -> Source {
        Source { text: codecache::Text::new(b""), line: 1, skipped: 0, from_input: false, block: Some(at) }
    }
}

/// Makes the VM what the command line asks for; returns the program. The file is read before the libraries of `-r` run, and compiled after.
fn prepare(cx: &mut Cx, c: &mut Command, args: Envelope) -> Result<Source> {
    cx.options = Arc::new(c.options.clone());
    birth::initialize(cx, args, &[])?;
    let inside = c.embedded.as_ref().and_then(|e| e.directory.clone());
    for d in c.directories.iter().chain(&inside) {
        if zakuro_corelib::io::cwd::chdir(cx, d.as_bytes()).is_err() {
            return refuse(cx, ids::FATAL, &format!("Can't chdir to {d}"));
        }
    }
    if c.search
        && let Action::File(f) = &c.action
        && let Some(found) = search(cx, f, c.options.verbose == Some(true))
    {
        c.action = Action::File(found);
    }
    let block = match c.image.take() {
        Some(path) => start_from(cx, c, &path)?,
        None => None,
    };
    cx.script = match &c.action {
        Action::File(f) => f.clone(),
        Action::Code(_) => "-e".into(),
        _ => "-".into(),
    };
    let source = match block {
        Some(at) => Source::of_block(at),
        None => source(cx, c)?,
    };
    if !matches!(c.action, Action::Code(_))
        && block.is_none()
        && let Err(e) = c.read_shebang(source.text.bytes())
    {
        return refuse(cx, ids::RUNTIME_ERROR, e.trim_end_matches(" (RuntimeError)"));
    }
    if c.options.no_gems {
        // As in CRuby, where these are gems.
        (c.options.no_did_you_mean, c.options.no_error_highlight, c.options.no_syntax_suggest) = (true, true, true);
    }
    cx.options = Arc::new(c.options.clone());
    for (off, name) in [
        (c.options.no_did_you_mean, "DidYouMean"),
        (c.options.no_error_highlight, "ErrorHighlight"),
        (c.options.no_syntax_suggest, "SyntaxSuggest"),
        (c.options.no_gems, "RbConfig"),
        (c.options.no_gems, "Gem"),
    ] {
        if off {
            cx.const_remove(ids::OBJECT, Sym::intern(name));
        }
    }
    if let Some(engine) = c.options.engine.as_deref().filter(|e| *e != "ruby") {
        zakuro_corelib::kernel::misc::name_engine(cx, engine);
    }
    zakuro_corelib::command_line(cx);
    if c.kanji && c.options.verbose == Some(true) {
        c.warnings.push("warning: -K is specified; it is for 1.8 compatibility and may cause odd behavior".into());
    }
    for w in &c.warnings {
        zakuro_corelib::io::write_error(cx, format!("zakuro: {w}\n").as_bytes());
    }
    let switches = if c.switches { switches(&mut c.args) } else { Vec::new() };
    birth::arguments(cx, &c.args);
    for (name, value) in switches {
        if name.len() < 2 || !name[1..].iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80) {
            let shown = String::from_utf8_lossy(&name[1..]).into_owned();
            return refuse(cx, ids::NAME_ERROR, &format!("invalid name for global variable - -{shown}"));
        }
        let v = match value {
            Some(text) => cx.str_auto(&text),
            None => Value::TRUE,
        };
        cx.global_put(Sym::intern_bytes(&name), v);
    }
    separators(cx, c)?;
    if cx.owns_process() {
        zakuro_corelib::kernel::gems::start_for_bundle(cx)?;
    }
    // What does not run needs nothing.
    let idle = c.check_only || c.dump || c.dump_tree;
    for lib in c.options.require.iter().filter(|_| !idle) {
        let main = cx.main;
        let name = cx.str(lib);
        cx.call(main, sym::require, &[name])?;
    }
    Ok(source)
}

/// `--image`: takes the program state of the file over. Gives which of the pinned values is its block, if that is what is to run.
fn start_from(cx: &mut Cx, c: &mut Command, path: &str) -> Result<Option<usize>> {
    let loaded = cx.rescue(&[ids::STANDARD_ERROR], |cx| zakuro_corelib::vm_api::image_file::load(cx, path.as_bytes()))?;
    let image = match loaded {
        Ok(image) => image,
        Err(e) => {
            let message = cx.exception_message(e);
            let message = cx.to_s_text(message).unwrap_or_default();
            return refuse(cx, ids::LOAD_ERROR, &format!("can't start from an image: {message}"));
        }
    };
    let seed = cx.seed_of_main(&image);
    let block = cx.restore_image(Box::new(seed))?;
    if block.is_kind(Kind::Proc)
        && matches!(c.action, Action::File(_) | Action::Stdin)
        && let Some(args) = c.behind_dashes.take()
    {
        (c.action, c.args, c.named_input) = (Action::Stdin, args, false);
    }
    // The program's, also where it has none.
    zakuro_corelib::io::stream::set_argv(cx, &c.args);
    zakuro_corelib::kernel::load::put_in_front(cx, &c.options.include);
    let is_plain = c.action == Action::Stdin && !c.named_input && !c.check_only && !c.dump && !c.dump_tree && c.embedded.is_none();
    if !is_plain || !block.is_kind(Kind::Proc) {
        return Ok(None);
    }
    cx.pinned.push(block);
    Ok(Some(cx.pinned.len() - 1))
}

/// Raises an error of the command itself: its report names the interpreter as the place.
fn refuse<T>(cx: &mut Cx, class: ClassId, message: &str) -> Result<T> {
    refuse_at(cx, "zakuro", class, message)
}

fn refuse_at<T>(cx: &mut Cx, place: &str, class: ClassId, message: &str) -> Result<T> {
    let e = cx.exception(class, message);
    let at = cx.str(place);
    let at = cx.array(&[at]);
    cx.ivar_set_raw(e, raise::hidden::backtrace(), at);
    cx.raise_value(e)
}

/// `-S`: a name that says nothing of a directory to begin with is looked for in RUBYPATH and PATH. Where a path would be too long is told to who wants warnings.
fn search(cx: &mut Cx, name: &str, verbose: bool) -> Option<String> {
    if ["/", "./", "../", "~"].iter().any(|begin| name.starts_with(begin)) {
        return None;
    }
    let home = std::env::var("HOME").unwrap_or_default();
    for variable in ["RUBYPATH", "PATH"] {
        let Ok(list) = std::env::var(variable) else { continue };
        for dir in list.split(':').filter(|d| !d.is_empty()) {
            let path = match dir.strip_prefix('~') {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}/{name}"),
                _ => format!("{dir}/{name}"),
            };
            if path.len() >= libc::PATH_MAX as usize {
                if verbose {
                    zakuro_corelib::io::write_error(cx, b"zakuro: warning: openpath: pathname too long (ignored)\n");
                }
                continue;
            }
            if std::fs::File::open(&path).is_ok_and(|f| f.metadata().is_ok_and(|m| m.is_file())) {
                return Some(path);
            }
        }
    }
    None
}

fn source(cx: &mut Cx, c: &mut Command) -> Result<Source> {
    let interactive = is_for_irb(c);
    let mut from_input = false;
    let text = match &mut c.action {
        Action::Code(code) => {
            return Ok(Source { text: codecache::Text::new(&std::mem::take(code)), line: 1, skipped: 0, from_input: false, block: None });
        }
        Action::File(f) => match birth::read_program(cx, f)? {
            Ok(s) => s,
            Err(e) => {
                let why = match e.kind() {
                    std::io::ErrorKind::NotFound => "No such file or directory".to_string(),
                    std::io::ErrorKind::IsADirectory => "Is a directory".to_string(),
                    std::io::ErrorKind::PermissionDenied => "Permission denied".to_string(),
                    _ => e.to_string().split(" (os error").next().unwrap_or_default().to_string(),
                };
                let message = format!("{why} -- {f}");
                return refuse(cx, ids::LOAD_ERROR, &message);
            }
        },
        _ if interactive => codecache::Text::new(INTERACTIVE),
        _ => {
            // SAFETY: the process's own descriptor, which is not closed here.
            let input = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(0) });
            match codecache::read_all(cx, &input)? {
                Ok(s) => {
                    from_input = true;
                    codecache::Text::new(&s)
                }
                Err(e) => return refuse(cx, ids::LOAD_ERROR, &e.to_string()),
            }
        }
    };
    // A `#!` line of another program: a script that hands itself to ruby.
    let bytes = text.bytes();
    let first = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    if c.embedded.is_none() && (!first.starts_with(b"#!") || first == b"#!" || names_ruby(first)) {
        return Ok(Source { text, line: 1, skipped: 0, from_input, block: None });
    }
    let (mut at, mut line) = (0, 1);
    for l in bytes.split_inclusive(|b| *b == b'\n') {
        if l.starts_with(b"#!") && names_ruby(l) {
            return Ok(Source { text: codecache::Text::new(&bytes[at..]), line, skipped: at, from_input, block: None });
        }
        at += l.len();
        line += 1;
    }
    let place = if let Action::File(f) = &c.action { f.as_str() } else { "-" };
    refuse_at(cx, place, ids::LOAD_ERROR, "no Ruby script found in input")
}

/// Whether no program was named in any way, and somebody sits at the terminal.
fn is_for_irb(c: &Command) -> bool {
    let plain =
        c.embedded.is_none() && !c.named_input && !c.check_only && !c.dump && !c.dump_tree && c.wrap == zakuro_compiler::Wrap::default();
    plain && std::io::IsTerminal::is_terminal(&std::io::stdin())
}

/// What runs when there is no program and somebody sits at the terminal. Without a library the program is read from there.
const INTERACTIVE: &[u8] = b"begin\n  require \"irb\"\nrescue LoadError => e\n  warn \"irb does not load (#{e.message}); reading a program from the terminal\"\n  \
eval(STDIN.read, TOPLEVEL_BINDING, \"-\")\nelse\n  $0 = \"irb\"\n  IRB.start(\"irb\")\nend\n";

fn names_ruby(line: &[u8]) -> bool {
    line.windows(4).any(|w| w == b"ruby") || line.windows(6).any(|w| w == b"zakuro")
}

/// `-s`: takes the leading switches from the arguments; names of globals and values.
fn switches(args: &mut Vec<Vec<u8>>) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    while let Some(a) = args.first() {
        let Some(switch) = a.strip_prefix(b"-").filter(|s| !s.is_empty()).map(<[u8]>::to_vec) else { break };
        args.remove(0);
        if switch == b"-" {
            break;
        }
        let (name, value) = match switch.iter().position(|b| *b == b'=') {
            Some(n) => (&switch[..n], Some(switch[n + 1..].to_vec())),
            None => (&switch[..], None),
        };
        let mut global = vec![b'$'];
        global.extend(name.iter().map(|b| if *b == b'-' { b'_' } else { *b }));
        found.push((global, value));
    }
    found
}

/// `-0`, `-l`, `-F`: the special variables that they set.
fn separators(cx: &mut Cx, c: &Command) -> Result<()> {
    for (name, value) in [("$/", &c.record_separator), ("$\\", &c.output_separator)] {
        if let Some(value) = value {
            let v = match value {
                Some(text) => {
                    let v = cx.str_auto(text);
                    v.make_frozen();
                    v
                }
                None => Value::NIL,
            };
            zakuro_corelib::io::stream::set_separator(cx, name, v);
        }
    }
    if let Some(pattern) = &c.field_separator {
        let (class, source) = (cx.class_value(ids::REGEXP), cx.str_auto(pattern));
        let v = cx.call(class, sym::new, &[source])?;
        cx.global_put(sym::field_sep, v);
    }
    Ok(())
}

/// `--dump=parsetree`: the tree of a program as the library `prism` shows it.
fn tree(cx: &mut Cx, source: &[u8]) -> Result<Value> {
    let (main, prism) = (cx.main, cx.str("prism"));
    cx.call_private(main, sym::require, &[prism])?;
    let (class, source) = (cx.class_named("Prism")?, cx.str_auto(source));
    let class = cx.class_value(class);
    let parsed = cx.call(class, Sym::intern("parse"), &[source])?;
    let program = cx.call(parsed, Sym::intern("value"), &[])?;
    let text = cx.call(program, sym::inspect, &[])?;
    let text = cx.to_s(text)?.to_vec();
    say(cx, &text)?;
    Ok(Value::NIL)
}

fn main_program(cx: &mut Cx, c: &Command, source: Source) -> Result<Value> {
    if let Some(at) = source.block {
        let block = cx.pinned.get(at).copied().and_then(Ref::<ProcCell>::from_value);
        return block.map_or(Ok(Value::NIL), |b| cx.call_proc(b, &[], false, Block::NONE));
    }
    let file = cx.script.clone();
    // What is typed is written in the locale's encoding. (What another VM gives is a String, which has its own.)
    let is_typed = cx.owns_process() && (source.from_input || matches!(c.action, Action::Code(_)));
    let locale = zakuro_corelib::encoding::locale(cx).id();
    let verbose = cx.options.verbose;
    let options = CompileOptions {
        file: &file,
        line: source.line,
        frozen_string_literal: c.options.frozen_string_literal,
        literal_places: c.options.literal_places,
        keep_locals: cx.options.keep_locals,
        encoding: zakuro_corelib::encoding::source_encoding(cx).or(is_typed.then_some(locale)),
        wrap: c.wrap,
        main_script: true,
        warn: verbose.is_some(),
        verbose: verbose == Some(true),
        branches: cx.wants_branches(),
        ..Default::default()
    };
    let compiled = match codecache::compile_text(cx, &source.text, &options)? {
        Ok(compiled) => compiled,
        Err(e) => return zakuro_corelib::kernel::eval::syntax_error(cx, &e),
    };
    if options.branches {
        cx.note_branches(&file, &compiled, false);
    }
    zakuro_corelib::kernel::eval::show_warnings(cx, &file, &compiled.warnings)?;
    if cx.watches_files() {
        zakuro_corelib::kernel::eval::compiled(cx, &compiled.code, Value::NIL)?;
    }
    if c.dump_tree {
        return tree(cx, source.text.bytes());
    }
    if c.dump {
        say(cx, zakuro_bytecode::disasm::listing(&compiled.code).as_bytes())?;
        return Ok(Value::NIL);
    }
    if c.check_only {
        say(cx, b"Syntax OK\n")?;
        return Ok(Value::NIL);
    }
    match compiled.code.data_offset {
        Some(at) if source.from_input => birth::go_on_with_input(cx, &source.text.bytes()[at..])?,
        _ => birth::set_data(cx, &compiled.code, source.skipped)?,
    }
    let text = if matches!(c.action, Action::Code(_)) { cx.str_auto(&[source.text.bytes(), b"\n"].concat()) } else { Value::NIL };
    zakuro_corelib::kernel::eval::compiled(cx, &compiled.code, text)?;
    cx.run_program(&compiled.code, None)
}

/// The end that an exception or jump means; nil: the end of the program. `shown`: causes that are not told (again), others are added.
fn outcome(cx: &mut Cx, e: Value, shown: Option<&mut zakuro_corelib::exception::Exceptions>) -> End {
    if e.is_nil() {
        return End::Done;
    }
    if let Some(t) = Ref::<ThrowCell>::from_value(e) {
        return match t.throw_kind() {
            // Of a thread, not of the VM: the main thread has ended, as by `exit`.
            ThrowKind::Kill if !t.tag.is_nil() => End::Done,
            // exit! carries a status.
            ThrowKind::Kill => t.value.as_fixnum().map_or(End::Killed, |s| End::Exit(s as i32)),
            // Out of the block of a child process, below which there is nothing.
            kind => {
                let what = match kind {
                    ThrowKind::Return => "return",
                    ThrowKind::Break => "break",
                    _ => "throw",
                };
                let message = format!("unexpected {what}");
                let report = format!("{}: {message}\n", cx.script).into_bytes();
                End::Exception { class: "LocalJumpError".into(), message, report }
            }
        };
    }
    if cx.is_a(e, ids::SYSTEM_EXIT) {
        let status = cx.ivar_get(e, Sym::intern("__status"));
        return End::Exit(status.as_fixnum().unwrap_or(0) as i32);
    }
    // A class may have redefined `message` to raise: the report must come out anyway.
    cx.errinfo = Value::NIL;
    let report = match shown {
        Some(shown) => zakuro_corelib::exception::full_message_unless_shown(cx, e, shown),
        None => zakuro_corelib::exception::full_message(cx, e, false),
    };
    let report = match report {
        Ok(s) => s,
        Err(Exc) => {
            let why = cx.take_pending();
            if why != e && (cx.is_a(why, ids::SIGNAL_EXCEPTION) || why.is_kind(Kind::Throw)) {
                // A signal or a kill came while the report was being made: that is the end.
                return outcome(cx, why, None);
            }
            format!("unprintable exception ({})\n", cx.class_name_of(e)).into_bytes()
        }
    };
    // An error of the system has the number of a signal when nobody reads standard output any more.
    let by_error = cx.is_a(e, ids::SYSTEM_CALL_ERROR);
    if (by_error || cx.is_a(e, ids::SIGNAL_EXCEPTION))
        && let Some(number) = cx.ivar_get(e, Sym::intern("__signo")).as_fixnum().filter(|n| *n > 0)
    {
        // As CRuby: a plain SignalException ends the process without a word.
        let report = if by_error || cx.class_of(e) == ids::SIGNAL_EXCEPTION { Vec::new() } else { report };
        return End::Signal { number: number as i32, report };
    }
    let class = cx.class_name_of(e);
    let message = cx.call(e, sym::message, &[]).and_then(|m| cx.to_s_text(m)).unwrap_or_default();
    End::Exception { class, message, report }
}
