//! Process options: read once from the command line and the environment, never changed afterwards.

/// Options of the process. Passed by reference; a VM copies what it needs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Collect at every safepoint (`--gc=stress`).
    pub gc_stress: bool,
    /// With `gc_stress`: at each place in a program often only the first times (`--gc=sites`).
    pub gc_sites: bool,
    /// Never collect (`--gc=never`), for tests that compare collectors.
    pub gc_never: bool,
    /// Number of worker native threads (`RUBY_MAX_CPU`, else the cores this process may use).
    pub workers: usize,
    /// `$VERBOSE`: None = nil (`-W0`), Some(false) by default, Some(true) with `-w`.
    pub verbose: Option<bool>,
    /// Directories of `-I`, in order.
    pub include: Vec<String>,
    /// Directory of the standard library (`.../lib/ruby/zakuro/4.0.0`), whether it is there or not. None: no library.
    pub library: Option<String>,
    /// The library of a Ruby that is installed on the machine is searched after ours (`ZAKURO_HOST_LIBRARY=1`).
    pub host_library: bool,
    /// `RUBY_ENGINE`, when it is not "ruby" (`ZAKURO_ENGINE`).
    pub engine: Option<String>,
    /// Features of `-r`, in order.
    pub require: Vec<String>,
    /// `-d`
    pub debug: bool,
    /// Warning categories switched by `-W:name` and `-W:no-name`, in order.
    pub warnings: Vec<(String, bool)>,
    /// `--enable=frozen-string-literal`, `--disable=...`; a file's magic comment goes before it.
    pub frozen_string_literal: Option<bool>,
    /// `--debug-frozen-string-literal`, `--debug`: Strings of literals know where they were made.
    pub literal_places: bool,
    /// Sources are compiled for a debugger: bindings of running frames can set every local variable.
    pub keep_locals: bool,
    /// Name of the charset of the locale that the process was started in; None: UTF-8.
    pub charmap: Option<String>,
    /// `-E`, `-U`, `-K`: names of encodings.
    pub external_encoding: Option<String>,
    pub internal_encoding: Option<String>,
    /// `-K`: encoding of sources without a magic comment.
    pub source_encoding: Option<String>,
    /// `--backtrace-limit`: lines of a backtrace below the first that a report shows.
    pub backtrace_limit: Option<usize>,
    /// `--disable=did_you_mean`, `--disable=error_highlight`, `--disable=syntax_suggest`, `--disable=gems`
    pub no_did_you_mean: bool,
    pub no_error_highlight: bool,
    pub no_syntax_suggest: bool,
    pub no_gems: bool,
    /// `-n` or `-p`: Kernel has `chomp`, `chop`, `sub` and `gsub` for `$_`.
    pub each_line: bool,
    /// `-a`, `-l`, `-p`, as `$-a`, `$-l`, `$-p` tell.
    pub split: bool,
    pub chomp: bool,
    pub print: bool,
    /// `-i`: suffix of the backups.
    pub in_place: Option<String>,
    /// Where compiled libraries are kept for later processes; nowhere with `--disable=code-cache`, and in a host program that does not say so.
    pub code_cache: Option<CodeCache>,
    /// `--jit`, `ZAKURO_JIT`.
    pub jit: Jit,
    /// What is counted, and told at the end.
    pub insight: Insight,
    /// `--jit-memory`, `--jit-share`, `--jit-perf-map`, `--dump=clif`, `--dump=asm`, `--dump-method`.
    pub jit_options: JitOptions,
}

/// How machine code is made, and what of it is written down.
#[derive(Clone, Debug)]
pub struct JitOptions {
    /// Bytes of machine code that the process may hold.
    pub memory: usize,
    /// How much of a processor core the compiler's thread may take in the long run, in percent.
    pub share: u32,
    /// The compiler's intermediate form is written to standard error.
    pub show_clif: bool,
    /// Machine code is written to standard error as assembly.
    pub show_asm: bool,
    /// Only of methods and blocks of this name.
    pub show_only: Option<String>,
    /// Where each piece of machine code stands is written to `/tmp/perf-PID.map`.
    pub perf_map: bool,
}

impl Default for JitOptions {
    fn default() -> JitOptions {
        JitOptions { memory: 128 << 20, share: 10, show_clif: false, show_asm: false, show_only: None, perf_map: false }
    }
}

/// What the process tells of itself (docs/insight.md).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Insight {
    /// `--account`, `ZAKURO_ACCOUNT=1`: VMs and channels count; so with any of the others.
    pub account: bool,
    /// `--report[=FILE]`, `ZAKURO_REPORT`: where reports go at the end; an empty name stands for standard error.
    pub report: Vec<String>,
    /// `--trace=FILE`
    pub trace: Vec<String>,
    /// `--profile=FILE`
    pub profile: Vec<String>,
    /// `--profile=alloc FILE`: of allocations.
    pub allocations: bool,
    /// `--dashboard[=PORT]`: where the page is served; 0: any port.
    pub dashboard: Option<u16>,
    /// `--dashboard-kill`: the page may end VMs.
    pub dashboard_kill: bool,
    /// `--top`: `zakuro top` may look, without a page.
    pub top: bool,
}

impl Insight {
    /// Whether VMs count.
    pub fn counts(&self) -> bool {
        let files = [&self.report, &self.trace, &self.profile].iter().any(|names| !names.is_empty());
        self.account || files || self.dashboard.is_some() || self.top
    }
}

/// When machine code is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jit {
    /// Of what runs often.
    #[default]
    On,
    Off,
    /// Of everything, before it goes on: for tests.
    Always,
    /// The same, and its guards fail although they hold, each in turn: for tests of what comes after.
    ExitEverywhere,
}

impl Jit {
    pub fn named(name: &str) -> Option<Jit> {
        match name {
            "on" => Some(Jit::On),
            "off" => Some(Jit::Off),
            "always" => Some(Jit::Always),
            "exit-everywhere" => Some(Jit::ExitEverywhere),
            _ => None,
        }
    }
    pub fn name(self) -> &'static str {
        match self {
            Jit::On => "on",
            Jit::Off => "off",
            Jit::Always => "always",
            Jit::ExitEverywhere => "exit-everywhere",
        }
    }
    pub fn is_on(self) -> bool {
        self != Jit::Off
    }
    /// Whether a program waits for its machine code.
    pub fn waits(self) -> bool {
        matches!(self, Jit::Always | Jit::ExitEverywhere)
    }
    /// Whether guards fail although they hold.
    pub fn exits(self) -> bool {
        self == Jit::ExitEverywhere
    }
}

/// See `zakuro_vm::codestore`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeCache {
    pub folder: std::path::PathBuf,
    /// Other compilers have other numbers.
    pub compiler: u64,
}
