//! The command line: of the process (`zakuro ...`) and of a VM (`RubyVM.new("ruby", "-e", "code")`).
//!
//! Arguments are bytes: a program may come in any encoding. Options also come from `RUBYOPT` (few of them) and from the `#!` line of
//! the program; what the command line says goes before both.

use zakuro_base::{Jit, Options};
use zakuro_compiler::Wrap;
use zakuro_corelib::encoding_name;

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A program file.
    File(String),
    /// Texts of `-e`, joined by newlines.
    Code(Vec<u8>),
    /// Program on standard input.
    Stdin,
    /// `--version`; `-v` without a program.
    Version,
    /// `--help`
    Help,
    /// `-h`
    ShortHelp,
    /// `--copyright`
    Copyright,
    /// `--doctest`: runs the examples in the documentation of the builtins.
    DocTest,
    /// `--effects`: lists what each builtin may do.
    Effects,
    /// `--dump=yydebug`, which this parser has nothing to say for.
    Nothing,
}

/// `-x`: the program begins at a `#!` line that names ruby.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    /// Directory to change to.
    pub directory: Option<String>,
}

/// A parsed command line.
#[derive(Clone, Debug)]
pub struct Command {
    pub action: Action,
    pub args: Vec<Vec<u8>>,
    pub options: Options,
    /// `-c`
    pub check_only: bool,
    /// `-v`
    pub show_version: bool,
    /// `--dump=bytecode`
    pub dump: bool,
    /// `--dump=parsetree`
    pub dump_tree: bool,
    /// `-n`, `-p`, `-l`, `-a`
    pub wrap: Wrap,
    /// `-C DIR`, in order.
    pub directories: Vec<String>,
    /// `-s`: switches after the script name become globals.
    pub switches: bool,
    /// `-K` was given, of which `-w` warns.
    pub kanji: bool,
    /// `-S`: the script is searched for in `RUBYPATH` and `PATH`.
    pub search: bool,
    pub embedded: Option<Embedded>,
    /// `--image`: file of the image that the VM starts from.
    pub image: Option<String>,
    /// What stands behind `--`: ARGV of the image's block, if it has one.
    pub behind_dashes: Option<Vec<Vec<u8>>>,
    /// `-`: the program is standard input, whatever that is.
    pub named_input: bool,
    /// `$/`, when `-0` sets it: Some(None) for nil.
    pub record_separator: Option<Option<Vec<u8>>>,
    /// `-l`: `$\` becomes what `$/` is at that place.
    pub output_separator: Option<Option<Vec<u8>>>,
    /// `-F`: source of the Regexp in `$;`.
    pub field_separator: Option<Vec<u8>>,
    /// Odd things about the options, said before the program runs.
    pub warnings: Vec<String>,
    /// `--disable=rubyopt`
    ignore_rubyopt: bool,
}

/// Text of `--help`.
pub const USAGE: &str = "\
Usage: zakuro [options] [--] [program.rb | -] [arguments]
       zakuro top PID
       zakuro worker --connect URL [options] [program.rb]
                    do jobs of pools on other machines (worker --help)
  -0[octal]         $/ becomes this character (-00: paragraphs, -0777: all)
  -a                with -n or -p: $F = $_.split
  -c                check syntax only
  -C DIR            change directory first
  -d, --debug       set $DEBUG
  -e 'code'         one line of program; several are joined
  -E EXT[:INT]      default external and internal encodings (--encoding)
  -F PATTERN        fields are split at this pattern
  -h                print the most used options
  -i[EXTENSION]     edit the files of ARGV in place
  -I DIR            put DIR in front of $LOAD_PATH
  --image FILE      start from an image that RubyVM::Image#save wrote;
                    without a program: run its block (-- ARGUMENTS)
  -l                with -n or -p: lines without their ends
  -n, -p            run the program for each line of input (-p prints $_)
  -r LIB            require LIB before the program
  -s                make globals of switches after the program name
  -S                look for the program in RUBYPATH and PATH
  -U                default internal encoding is UTF-8
  -v, --verbose     print the version, then be verbose
  -w, -W0 -W1 -W2   warnings: all, none, normal, all
  -W:[no-]CATEGORY  warnings of a category
  -x[DIR]           skip text before the #! line that names ruby
  --version         print the version
  --dump=bytecode   print the compiled program instead of running it
                    (--dump=parsetree: the parsed one)
  --enable=frozen-string-literal
  --disable=code-cache
                    neither read nor write compiled libraries in ~/.cache/zakuro
  --backtrace-limit=N
  --report[=FILE]   tell at the end where the time went, and what held the
                    program up (FILE.json: as JSON)
  --profile FILE    sample what runs: FILE.json (Firefox profiler),
                    FILE.svg (flame graph), FILE.txt (folded stacks)
  --profile=alloc FILE  the same of what allocates, by bytes
  --trace FILE      write a timeline for ui.perfetto.dev
  --dashboard[=PORT]  serve a page about the running program on this machine;
                    its address is written to standard error
  --dashboard-kill[=PORT]  the same, and the page may end VMs
  --top             let `zakuro top PID` look (as --dashboard does)
  --account         count without telling: RubyVM.report, RubyVM.stat
  --gc=stress       collect at every safepoint (--gc=never: not at all;
                    --gc=sites: of each place the first 64 times, then rarely)
  --jit=on          machine code of what runs often (--jit=off: of nothing;
                    --jit=always, --jit=exit-everywhere: for tests)
  --jit-memory=MB   most machine code that there may be (64)
  --jit-share=N     percent of a core that compiling may take (10)
  --jit-perf-map    write where machine code stands to /tmp/perf-PID.map
  --dump=clif       write what the compiler makes to standard error
                    (--dump=asm: as assembly)
  --dump-method=NAME  only of methods and blocks of this name
";

/// Text of `-h`: what fits on a screen, the options of one letter.
pub fn short_usage() -> String {
    let is_short = |option: &str| !["-", "h ", "W:"].iter().any(|other| option.starts_with(other));
    let few =
        USAGE.lines().filter(|l| ["Usage", "  --version"].iter().any(|b| l.starts_with(b)) || l.strip_prefix("  -").is_some_and(is_short));
    few.chain(["  --help            print all options"]).flat_map(|l| [l, "\n"]).collect()
}

/// Features that `--enable` and `--disable` know. Those that don't exist here are as always disabled.
const FEATURES: &[&str] = &[
    "gems",
    "gem",
    "error_highlight",
    "did_you_mean",
    "syntax_suggest",
    "rubyopt",
    "frozen-string-literal",
    "code-cache",
    "jit",
    "yjit",
    "zjit",
    "rjit",
    "all",
];

/// Those of them that a warning names.
const SHOWN_FEATURES: &[&str] =
    &["gems", "error_highlight", "did_you_mean", "syntax_suggest", "rubyopt", "frozen_string_literal", "code-cache"];

/// What `--dump` knows. `insns` are ours, too.
const DUMPS: &[&str] = &["version", "copyright", "usage", "help", "yydebug", "syntax", "parsetree", "insns", "bytecode"];

/// Short options that RUBYOPT may hold.
const FROM_ENVIRONMENT: &[u8] = b"EIdvwWrKU";

/// `zakuro NAME ...`: the subcommand, and not a program of that name here, which would be run as in Ruby.
pub fn is_subcommand(argv: &[Vec<u8>], name: &str) -> bool {
    let path = std::path::Path::new(name);
    argv.first().is_some_and(|a| a == name.as_bytes()) && (path.is_dir() || !path.exists())
}

fn lossy(b: &[u8]) -> String {
    String::from_utf8_lossy(b).into_owned()
}

/// Parses arguments (without the program's own name), after the options in `rubyopt`. Err: a message for standard error.
pub fn parse(argv: &[Vec<u8>], base: &Options, rubyopt: Option<&str>) -> Result<Command, String> {
    let mut c = Command::new(base);
    c.read(argv)?;
    let Some(text) = rubyopt.filter(|t| !c.ignore_rubyopt && !t.trim().is_empty()) else { return Ok(c) };
    let mut again = Command::new(base);
    again.read_environment(text)?;
    // What the environment names comes after what the command line names.
    let include = std::mem::take(&mut again.options.include);
    let require = std::mem::take(&mut again.options.require);
    let encodings = [again.options.external_encoding.take(), again.options.internal_encoding.take(), again.options.source_encoding.take()];
    again.read(argv)?;
    again.options.include.extend(include);
    again.options.require.extend(require);
    let [external, internal, source] = encodings;
    let o = &mut again.options;
    o.external_encoding = o.external_encoding.take().or(external);
    o.internal_encoding = o.internal_encoding.take().or(internal);
    o.source_encoding = o.source_encoding.take().or(source);
    Ok(again)
}

/// The arguments that are left.
struct Rest<'a> {
    list: &'a [Vec<u8>],
    at: usize,
}

impl<'a> Rest<'a> {
    fn peek(&self) -> Option<&'a [u8]> {
        self.list.get(self.at).map(|v| &v[..])
    }
    fn next(&mut self) -> Option<&'a [u8]> {
        let v = self.peek()?;
        self.at += 1;
        Some(v)
    }
}

impl Command {
    fn new(base: &Options) -> Command {
        Command {
            action: Action::Stdin,
            args: Vec::new(),
            options: base.clone(),
            check_only: false,
            show_version: false,
            dump: false,
            dump_tree: false,
            wrap: Wrap::default(),
            directories: Vec::new(),
            switches: false,
            kanji: false,
            search: false,
            embedded: None,
            image: None,
            behind_dashes: None,
            named_input: false,
            record_separator: None,
            output_separator: None,
            field_separator: None,
            warnings: Vec::new(),
            ignore_rubyopt: false,
        }
    }

    fn read(&mut self, argv: &[Vec<u8>]) -> Result<(), String> {
        let mut code: Option<Vec<u8>> = None;
        if cfg!(feature = "cluster") && is_subcommand(argv, "worker") {
            self.action = Action::Code(b"require 'zakuro/cluster/command'; RubyVM::Cluster::Command.run(ARGV)".to_vec());
            self.args = argv[1..].to_vec();
            return Ok(());
        }
        let mut rest = Rest { list: argv, at: 0 };
        while let Some(a) = rest.peek() {
            if a == b"--" {
                rest.next();
                self.behind_dashes = Some(argv[rest.at..].to_vec());
                break;
            }
            if a == b"-" || !a.starts_with(b"-") {
                break;
            }
            rest.next();
            match a.strip_prefix(b"--") {
                Some(long) => self.long(long, &mut rest)?,
                None => self.short(&a[1..], &mut rest, &mut code)?,
            }
        }
        self.args = argv[rest.at..].to_vec();
        if matches!(
            self.action,
            Action::Version | Action::Help | Action::ShortHelp | Action::Copyright | Action::DocTest | Action::Effects | Action::Nothing
        ) {
            return Ok(());
        }
        if let Some(code) = code {
            self.action = Action::Code(code);
            self.wrap.one_liner = true;
        } else if !self.args.is_empty() {
            let f = self.args.remove(0);
            // As in CRuby, no name at all means standard input, too.
            self.named_input = f == b"-" || f.is_empty();
            self.action = if self.named_input { Action::Stdin } else { Action::File(lossy(&f)) };
        } else if self.show_version {
            self.action = Action::Version;
        }
        Ok(())
    }

    fn read_environment(&mut self, text: &str) -> Result<(), String> {
        let words: Vec<Vec<u8>> = text.split_ascii_whitespace().map(|w| w.as_bytes().to_vec()).collect();
        let mut rest = Rest { list: &words, at: 0 };
        while let Some(word) = rest.next() {
            // The dash may be missing.
            let letters = word.strip_prefix(b"-").unwrap_or(word);
            if let Some(long) = letters.strip_prefix(b"-") {
                let name = lossy(long);
                let name = name.split('=').next().unwrap_or("");
                if matches!(name, "version" | "copyright" | "help" | "yydebug" | "dump" | "doctest" | "effects" | "image") {
                    return Err(format!("invalid switch in RUBYOPT: --{name} (RuntimeError)"));
                }
                self.long(long, &mut rest)?;
                continue;
            }
            if let Some(bad) = letters.first().filter(|b| !FROM_ENVIRONMENT.contains(b)) {
                return Err(format!("invalid switch in RUBYOPT: -{} (RuntimeError)", char::from(*bad)));
            }
            self.short(letters, &mut rest, &mut None)?;
        }
        Ok(())
    }

    /// Options in the `#!` line of the program.
    pub fn read_shebang(&mut self, source: &[u8]) -> Result<(), String> {
        let Some(line) = source.strip_prefix(b"#!").and_then(|s| s.split(|b| *b == b'\n').next()) else { return Ok(()) };
        let named = |name: &[u8]| line.windows(name.len()).position(|w| w == name);
        let Some(at) = named(b"ruby").or_else(|| named(b"zakuro")) else { return Ok(()) };
        let line = line[at..].trim_ascii_end();
        let Some(dash) = line.windows(2).position(|w| w == b" -") else { return Ok(()) };
        let words: Vec<Vec<u8>> = line[dash + 1..].split(|b| *b == b' ').filter(|w| !w.is_empty()).map(<[u8]>::to_vec).collect();
        let mut rest = Rest { list: &words, at: 0 };
        let mut code = None;
        while let Some(a) = rest.next() {
            match (a.strip_prefix(b"--"), a.strip_prefix(b"-")) {
                (Some(b""), _) | (_, None) => break,
                (Some(long), _) if long.starts_with(b"image") => {
                    return Err("--image can't be in the first line of a program (RuntimeError)".into());
                }
                (Some(long), _) => self.long(long, &mut rest)?,
                (_, Some(letters)) => self.short(letters, &mut rest, &mut code)?,
            }
        }
        Ok(())
    }

    fn long(&mut self, long: &[u8], rest: &mut Rest) -> Result<(), String> {
        let long = lossy(long);
        let (name, value) = long.split_once('=').map_or((long.as_str(), None), |(n, v)| (n, Some(v)));
        match (name, value) {
            ("version", None) => self.action = Action::Version,
            ("help", None) => self.action = Action::Help,
            ("copyright", None) => self.action = Action::Copyright,
            ("doctest", None) => self.action = Action::DocTest,
            ("effects", None) => self.action = Action::Effects,
            ("verbose", None) => self.options.verbose = Some(true),
            ("debug", None) => {
                self.debug();
                self.options.literal_places = true;
            }
            ("debug-frozen-string-literal", None) | ("debug", Some("frozen-string-literal" | "frozen_string_literal")) => {
                self.options.literal_places = true
            }
            ("dump", _) => needed(name, value, rest)?.split(',').for_each(|what| self.dump(what)),
            ("jit", None) => self.options.jit = Jit::On,
            ("jit", Some(how)) => {
                self.options.jit =
                    Jit::named(how).ok_or_else(|| format!("invalid argument for --jit: {how} (on, off, always or exit-everywhere)"))?
            }
            ("image", _) => self.image = Some(needed(name, value, rest)?),
            ("account", None) => self.options.insight.account = true,
            ("report", _) => once_more(&mut self.options.insight.report, value.unwrap_or_default().into()),
            ("trace", _) => once_more(&mut self.options.insight.trace, needed(name, value, rest)?),
            ("dashboard", None) => self.options.insight.dashboard = Some(0),
            ("dashboard", Some(port)) => {
                self.options.insight.dashboard = Some(port.parse().map_err(|_| format!("invalid port for --dashboard: {port}"))?)
            }
            ("dashboard-kill", _) => {
                let insight = &mut self.options.insight;
                insight.dashboard_kill = true;
                let port = value.map(|port| port.parse().map_err(|_| format!("invalid port for --dashboard-kill: {port}"))).transpose()?;
                insight.dashboard = port.or(insight.dashboard).or(Some(0));
            }
            ("top", None) => self.options.insight.top = true,
            ("profile", _) => {
                let insight = &mut self.options.insight;
                let allocations = value == Some("alloc");
                if !insight.profile.is_empty() && insight.allocations != allocations {
                    return Err("one run makes one kind of profile: --profile or --profile=alloc".into());
                }
                insight.allocations = allocations;
                once_more(&mut insight.profile, needed(name, value.filter(|_| !allocations), rest)?);
            }
            ("jit-memory", _) => self.options.jit_options.memory = (number(name, value, rest, 1, 1 << 20)? as usize) << 20,
            ("jit-share", _) => self.options.jit_options.share = number(name, value, rest, 1, 100)? as u32,
            ("jit-perf-map", None) => self.options.jit_options.perf_map = true,
            ("dump-method", _) => self.options.jit_options.show_only = Some(needed(name, value, rest)?),
            ("gc", Some(how @ ("stress" | "sites"))) => {
                self.options.gc_stress = true;
                self.options.gc_sites = how == "sites";
            }
            ("gc", Some("never")) => self.options.gc_never = true,
            ("gc", Some("normal")) => self.options.gc_stress = false,
            ("enable" | "disable", _) => {
                for f in needed(name, value, rest)?.split(',') {
                    self.feature(f, name);
                }
            }
            ("encoding" | "external-encoding" | "internal-encoding", _) => {
                let text = needed(name, value, rest)?;
                match name {
                    "external-encoding" => self.external(&text)?,
                    "internal-encoding" => self.internal(&text)?,
                    _ => self.encodings(&text, "--encoding")?,
                }
            }
            ("backtrace-limit", _) => match needed(name, value.filter(|v| !v.is_empty()).or(value.and(Some("-"))), rest)?.parse() {
                Err(_) if value == Some("") => return Err("missing argument for --backtrace-limit (RuntimeError)".into()),
                Ok(-1) => self.options.backtrace_limit = None,
                Ok(n @ 0i64..) => self.options.backtrace_limit = Some(n as usize),
                _ => return Err("wrong limit for backtrace length (RuntimeError)".into()),
            },
            ("parser", _) => match &*needed(name, value, rest)? {
                "prism" | "parse.y" => {}
                other => return Err(format!("unknown parser {other} (RuntimeError)")),
            },
            ("crash-report", Some(_)) | ("yydebug", None) => {}
            (n, _) if n == "jit" || n == "yjit" || n == "zjit" || n.starts_with("yjit-") || n.starts_with("zjit-") => {}
            (n, None) => match (n.strip_prefix("enable-"), n.strip_prefix("disable-")) {
                (Some(f), _) => self.feature(f, "enable"),
                (_, Some(f)) => self.feature(f, "disable"),
                _ => return Err(unknown(&format!("--{long}"))),
            },
            _ => return Err(unknown(&format!("--{long}"))),
        }
        Ok(())
    }

    fn debug(&mut self) {
        self.options.debug = true;
        self.options.verbose = Some(true);
    }

    fn feature(&mut self, feature: &str, what: &str) {
        let on = what == "enable";
        let name = feature.replace('_', "-");
        let known = FEATURES.iter().any(|f| f.replace('_', "-") == name);
        if !known {
            self.warnings.push(format!("warning: unknown argument for --{what}: '{feature}'"));
            self.warnings.push(format!("warning: features are [{}].", SHOWN_FEATURES.join(", ")));
        }
        if name == "frozen-string-literal" || name == "all" {
            self.options.frozen_string_literal = Some(on);
        }
        if name == "code-cache" || name == "all" {
            self.options.code_cache = if on { crate::process::code_cache() } else { None };
        }
        let o = &mut self.options;
        let all = name == "all";
        for (known, off) in [
            (name == "did-you-mean", &mut o.no_did_you_mean),
            (name == "error-highlight", &mut o.no_error_highlight),
            (name == "syntax-suggest", &mut o.no_syntax_suggest),
            (name == "gems" || name == "gem", &mut o.no_gems),
        ] {
            if known || all {
                *off = !on;
            }
        }
        if name == "rubyopt" || name == "all" {
            self.ignore_rubyopt = !on;
        }
        if name == "jit" || name == "all" && !on {
            self.options.jit = if on { Jit::On } else { Jit::Off };
        }
    }

    /// One thing of `--dump`'s list; the begin of its name does.
    fn dump(&mut self, what: &str) {
        match what {
            "clif" => return self.options.jit_options.show_clif = true,
            "asm" => return self.options.jit_options.show_asm = true,
            _ => {}
        }
        // What a parser of CRuby's does with texts that are wrong; here such a text has no tree.
        let what = match what.strip_suffix("+error_tolerant") {
            Some("") => return,
            Some(base) => base,
            None => what,
        };
        match DUMPS.iter().find(|d| !what.is_empty() && d.starts_with(what)) {
            Some(&"version") => self.action = Action::Version,
            Some(&"copyright") => self.action = Action::Copyright,
            Some(&"usage" | &"help") => self.action = Action::Help,
            Some(&"yydebug") => self.action = Action::Nothing,
            Some(&"syntax") => self.check_only = true,
            Some(&"parsetree") => self.dump_tree = true,
            Some(_) => self.dump = true,
            None => {
                self.warnings.push(format!("warning: don't know how to dump '{what}',"));
                self.warnings.push(format!("warning: but only [{}].", DUMPS.join(", ")));
            }
        }
    }

    fn external(&mut self, name: &str) -> Result<(), String> {
        set_encoding(&mut self.options.external_encoding, "default_external", name)
    }
    fn internal(&mut self, name: &str) -> Result<(), String> {
        set_encoding(&mut self.options.internal_encoding, "default_internal", name)
    }
    /// `external[:internal]`
    fn encodings(&mut self, text: &str, option: &str) -> Result<(), String> {
        let mut parts = text.splitn(3, ':');
        let (external, internal) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        if let Some(extra) = parts.next() {
            return Err(format!("extra argument for {option}: {extra} (RuntimeError)"));
        }
        if !external.is_empty() {
            self.external(external)?;
        }
        if !internal.is_empty() {
            self.internal(internal)?;
        }
        Ok(())
    }

    /// Short options may stand together (-we 'code').
    fn short(&mut self, letters: &[u8], rest: &mut Rest, code: &mut Option<Vec<u8>>) -> Result<(), String> {
        let mut i = 0;
        while i < letters.len() {
            let after = &letters[i + 1..];
            let mut value = |what: &str| -> Result<Vec<u8>, String> {
                if !after.is_empty() {
                    return Ok(after.to_vec());
                }
                rest.next().map(<[u8]>::to_vec).ok_or_else(|| what.to_string())
            };
            match letters[i] {
                b'e' => {
                    let line = value("no code specified for -e (RuntimeError)")?;
                    match code {
                        Some(all) => {
                            all.push(b'\n');
                            all.extend_from_slice(&line);
                        }
                        None => *code = Some(line),
                    }
                    return Ok(());
                }
                b'I' => {
                    // Without a directory there is none to add.
                    if let Ok(v) = value("") {
                        self.options.include.extend(lossy(&v).split(':').map(String::from));
                    }
                    return Ok(());
                }
                b'r' => {
                    if let Ok(v) = value("") {
                        self.options.require.push(lossy(&v));
                    }
                    return Ok(());
                }
                b'C' | b'X' => {
                    self.directories.push(lossy(&value("Can't chdir (fatal)")?));
                    return Ok(());
                }
                b'E' => {
                    let v = lossy(&value("missing argument for -E (RuntimeError)")?);
                    return self.encodings(&v, "-E");
                }
                b'F' => {
                    self.field_separator = Some(after.to_vec());
                    return Ok(());
                }
                b'i' => {
                    self.options.in_place = Some(lossy(after));
                    return Ok(());
                }
                b'x' => {
                    let directory = (!after.is_empty()).then(|| lossy(after));
                    self.embedded = Some(Embedded { directory });
                    return Ok(());
                }
                b'K' => {
                    if let Some(name) = after.first().and_then(|b| japanese(*b)) {
                        self.options.source_encoding = Some(name.into());
                        self.options.external_encoding = Some(name.into());
                    }
                    self.kanji = true;
                    i += 1;
                }
                b'U' => self.internal("UTF-8")?,
                b'0' => i += self.separator(after),
                b'W' => {
                    if let Some(category) = after.strip_prefix(b":") {
                        self.category(&lossy(category));
                        return Ok(());
                    }
                    let digit = after.first().filter(|b| b.is_ascii_digit());
                    self.options.verbose = match digit {
                        Some(b'0') => None,
                        Some(b'1') => Some(false),
                        _ => Some(true),
                    };
                    i += usize::from(digit.is_some());
                }
                b'c' => self.check_only = true,
                b'w' => self.options.verbose = Some(true),
                b'v' => {
                    self.show_version = true;
                    self.options.verbose = Some(true);
                }
                b'd' => self.debug(),
                b'n' => {
                    self.wrap.each_line = true;
                    self.options.each_line = true;
                }
                b'p' => {
                    self.wrap.each_line = true;
                    self.options.each_line = true;
                    self.wrap.print = true;
                    self.options.print = true;
                }
                b'a' => {
                    self.wrap.split = true;
                    self.options.split = true;
                }
                b'l' => {
                    self.wrap.chomp = true;
                    self.options.chomp = true;
                    self.output_separator = Some(self.record_separator.clone().unwrap_or_else(|| Some(b"\n".to_vec())));
                }
                b's' => self.switches = true,
                b'S' => self.search = true,
                b'h' => self.action = Action::ShortHelp,
                b'y' => self.action = Action::Nothing,
                // The end of a line that came with the argument.
                b'\r' if after.is_empty() => {}
                other => {
                    let shown = match other {
                        b'\t' | b'\n' | b'\r' | 0x20..=0x7e => char::from(other).escape_default().to_string(),
                        _ => format!("\\x{other:02x}"),
                    };
                    return Err(unknown(&format!("-{shown}")));
                }
            }
            i += 1;
        }
        Ok(())
    }

    /// `-0`: octal digits, or `x` and hexadecimal ones. Returns their number.
    fn separator(&mut self, after: &[u8]) -> usize {
        if let Some(hex) = after.strip_prefix(b"x") {
            let n = hex.iter().take_while(|b| b.is_ascii_hexdigit()).count();
            let c = u32::from_str_radix(&lossy(&hex[..n]), 16).ok().and_then(char::from_u32).unwrap_or('\0');
            self.record_separator = Some(Some(c.to_string().into_bytes()));
            return n + 1;
        }
        let n = after.iter().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
        let code = u32::from_str_radix(&lossy(&after[..n]), 8).unwrap_or(0);
        self.record_separator = Some(match code {
            0 if n > 0 => Some(Vec::new()),
            0..=255 => Some(vec![code as u8]),
            _ => None,
        });
        n
    }

    fn category(&mut self, name: &str) {
        let (name, on) = name.strip_prefix("no-").map_or((name, true), |n| (n, false));
        let name = name.replace('-', "_");
        if matches!(name.as_str(), "deprecated" | "experimental" | "performance" | "strict_unused_block") {
            self.options.warnings.push((name, on));
        } else {
            self.warnings.push(format!("warning: unknown warning category: '{name}'"));
        }
    }
}

/// The value of a long option: behind `=`, or the next argument.
fn needed(name: &str, value: Option<&str>, rest: &mut Rest) -> Result<String, String> {
    match value {
        Some(v) => Ok(v.to_string()),
        None => rest.next().map(lossy).ok_or_else(|| format!("missing argument for --{name} (RuntimeError)")),
    }
}

/// An option that may come several times: each file is written, and one that is named twice once.
fn once_more(names: &mut Vec<String>, name: String) {
    if !names.contains(&name) {
        names.push(name);
    }
}

/// Such a value that is a number within bounds.
fn number(name: &str, value: Option<&str>, rest: &mut Rest, least: u64, most: u64) -> Result<u64, String> {
    let text = needed(name, value, rest)?;
    let known = text.parse().ok().filter(|n| (least..=most).contains(n));
    known.ok_or_else(|| format!("invalid argument for --{name}: {text} ({least} to {most})"))
}

fn unknown(option: &str) -> String {
    format!("invalid option {option}  (-h will show valid options) (RuntimeError)")
}

/// Encodings of `-K`.
fn japanese(letter: u8) -> Option<&'static str> {
    Some(match letter.to_ascii_lowercase() {
        b'a' | b'n' => "ASCII-8BIT",
        b'e' => "EUC-JP",
        b's' => "Windows-31J",
        b'u' => "UTF-8",
        _ => return None,
    })
}

fn set_encoding(slot: &mut Option<String>, what: &str, name: &str) -> Result<(), String> {
    let Some(known) = encoding_name(name) else { return Err(format!("unknown encoding name - {name} (RuntimeError)")) };
    match slot {
        Some(set) if encoding_name(set) != Some(known) => Err(format!("{what} already set to {set} (RuntimeError)")),
        Some(_) => Ok(()),
        None => {
            *slot = Some(name.to_string());
            Ok(())
        }
    }
}
