//! Natives that stand in for the C extensions of CRuby's standard library, found by `require` under the same names.
//!
//! Nothing of them exists in a VM until it is required: a feature's function then makes its classes in that VM, from the static tables of its
//! `#[ruby_class]` modules (whose class argument is a placeholder) and from Ruby source in `ruby/`, which zakuro-prelude compiles when the runtime is built.
//! A fork or image inherits what its parent had loaded. Invariants: nothing process-wide; what objects hold travels by
//! [`zakuro_vm::NativeData`]; the code knows of the core library only Ruby calls, core-text and, for sockets, which are core IO objects, core-system.
//! Rejected: classes in the boot image that `require` only names (every `ObjectSpace` walk and `Class#subclasses` would show them).

mod args;
mod bigdecimal;
mod cgi;
mod console;
mod coverage;
mod date;
mod digest;
mod etc;
mod fiber_scheduler;
mod json;
mod objspace;
mod prism;
mod psych;
mod pty;
mod rbconfig;
mod socket;
mod stringio;
mod strscan;
mod zlib;

use zakuro_vm::library::Feature;
use zakuro_vm::*;

/// Features by the name that `require` gets.
pub static FEATURES: &[(&str, Feature)] = &[
    ("bigdecimal", bigdecimal::load),
    ("bigdecimal/util", bigdecimal::load_util),
    ("cgi/escape", cgi::load),
    ("coverage", coverage::load),
    ("date", date::load),
    ("date_core", date::load),
    // Parts of the core, as far as they stand here; the library's would redefine them and ask for more.
    ("did_you_mean", |_| Ok(())),
    ("did_you_mean/core_ext/name_error", |_| Ok(())),
    ("did_you_mean/formatter", |_| Ok(())),
    ("did_you_mean/spell_checker", |_| Ok(())),
    ("did_you_mean/version", |_| Ok(())),
    ("digest", digest::load),
    ("digest/bubblebabble", digest::load),
    ("digest/md5", digest::load),
    ("digest/rmd160", digest::load),
    ("digest/sha1", digest::load),
    ("digest/sha2", digest::load),
    ("digest/version", digest::load),
    ("drb/mvm", |cx| cx.run_builtin("drb/mvm")),
    ("erb/escape", cgi::load_erb),
    // It is part of the core; the library's would stand before it and ask for CRuby's syntax trees.
    ("error_highlight", |_| Ok(())),
    ("etc", etc::load),
    ("fcntl", |cx| cx.run_builtin("fcntl")),
    ("forwardable/impl", |cx| cx.run_builtin("forwardable/impl")),
    ("io/nonblock", |cx| cx.run_builtin("io/nonblock")),
    ("io/console/size", |cx| cx.run_builtin("io/console/size")),
    ("io/wait", |_| Ok(())),
    ("io/console", console::load),
    ("json", json::load),
    ("json/common", json::load),
    ("json/ext", json::load),
    ("json/version", json::load),
    ("kconv", |cx| cx.run_builtin("kconv")),
    ("nkf", |cx| cx.run_builtin("nkf")),
    ("objspace", objspace::load),
    ("objspace.so", objspace::load),
    ("objspace/trace", |cx| cx.run_builtin("objspace/trace")),
    ("pathname", |cx| cx.run_builtin("pathname")),
    ("prism/prism", prism::load),
    ("psych.so", psych::load),
    ("pty", pty::load),
    ("rbconfig", rbconfig::load),
    ("rbconfig/sizeof", |cx| cx.run_builtin("rbconfig/sizeof")),
    ("readline", |cx| cx.run_builtin("readline")),
    ("ripper", |cx| cx.run_builtin("ripper")),
    ("rubygems/defaults/ruby", |cx| cx.run_builtin("rubygems/defaults/ruby")),
    ("socket", socket::load),
    ("stringio", stringio::load),
    ("strscan", strscan::load),
    ("syslog", |cx| cx.run_builtin("syslog")),
    ("syslog/logger", |cx| cx.run_builtin("syslog/logger")),
    ("zakuro/abstract_syntax_tree", |cx| cx.run_builtin("zakuro/abstract_syntax_tree")),
    ("zakuro/abstract_syntax_tree/tokens", |cx| cx.run_builtin("zakuro/abstract_syntax_tree/tokens")),
    ("zakuro/abstract_syntax_tree/translator", |cx| cx.run_builtin("zakuro/abstract_syntax_tree/translator")),
    ("zakuro/fiber_scheduler", fiber_scheduler::load),
    ("zakuro/parallel", |cx| cx.run_builtin("zakuro/parallel")),
    ("zakuro/parallel_gem", |cx| cx.run_builtin("zakuro/parallel_gem")),
    ("zakuro/pool", |cx| cx.run_builtin("zakuro/pool")),
    ("zakuro/pool/crew", |cx| cx.run_builtin("zakuro/pool/crew")),
    ("zakuro/pool/report", |cx| cx.run_builtin("zakuro/pool/report")),
    ("zakuro/pool/task", |cx| cx.run_builtin("zakuro/pool/task")),
    ("zakuro/pool/worker", |cx| cx.run_builtin("zakuro/pool/worker")),
    ("zlib", zlib::load),
];

/// Tables with documentation: (feature, class, rows).
pub static DOCUMENTED: &[(&str, &str, &[MethodRow])] = &[
    ("stringio", "StringIO", stringio::METHODS),
    ("stringio", "StringIO", stringio::read::METHODS),
    ("stringio", "StringIO", stringio::read::readable::METHODS),
    ("stringio", "StringIO", stringio::write::METHODS),
    ("stringio", "StringIO", stringio::write::writable::METHODS),
    ("strscan", "StringScanner", strscan::METHODS),
    json::DOCUMENTED[0],
    json::DOCUMENTED[1],
    bigdecimal::DOCUMENTED[0],
    bigdecimal::DOCUMENTED[1],
    bigdecimal::DOCUMENTED[2],
    ("cgi/escape", "CGI::Escape", cgi::DOCUMENTED),
    date::DOCUMENTED[0],
    date::DOCUMENTED[1],
    date::DOCUMENTED[2],
    ("erb/escape", "ERB::Escape", cgi::DOCUMENTED_ERB),
    ("digest", "Digest::Base", digest::DOCUMENTED),
    ("objspace", "ObjectSpace", objspace::DOCUMENTED),
    ("psych", "Psych", psych::DOCUMENTED),
    ("zlib", "Zlib", zlib::DOCUMENTED),
];

/// Raises `Errno::NAME`.
#[cold]
fn raise_errno<T>(cx: &mut Cx, name: &str, message: Option<&str>) -> Result<T> {
    let class = cx.class_named(&format!("Errno::{name}"))?;
    let class = cx.class_value(class);
    let e = match message {
        Some(m) => {
            let m = cx.str(m);
            cx.call(class, sym::new, &[m])?
        }
        None => cx.call(class, sym::new, &[])?,
    };
    cx.raise_value(e)
}

/// TypeError where the program has put something else under a name that a library defines: a value, or a class with another superclass.
fn check_constant(cx: &mut Cx, path: &str, superclass: Option<ClassId>) -> Result<()> {
    let Some(v) = cx.const_by_path(path) else { return Ok(()) };
    let Some(id) = cx.class_id(v) else {
        let what = if superclass.is_some() { "class" } else { "module" };
        return cx.type_error(format!("{path} is not a {what}"));
    };
    let is_module = cx.class(id).kind == ClassKind::Module;
    match superclass {
        None if !is_module => cx.type_error(format!("{path} is not a module")),
        Some(_) if is_module => cx.type_error(format!("{path} is not a class")),
        Some(wanted) if cx.visible_superclass(id) != Some(wanted) => cx.type_error(format!("superclass mismatch for class {path}")),
        _ => Ok(()),
    }
}

/// `to_enum(name, *args)`
fn enumerator(cx: &mut Cx, this: Value, name: &str, args: Args) -> Result<Value> {
    let all = ArgList::new(cx, &[&[Value::sym(Sym::intern(name))], args.all()]);
    cx.call_full(this, Sym::intern("to_enum"), &all, args.kw, Block::NONE)
}
