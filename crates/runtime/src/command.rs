//! The command line: of the process (`zakuro ...`) and of a VM (`RubyVM.new("ruby", "-e", "code")`).

use zakuro_base::Options;

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A program file.
    File(String),
    /// Texts of `-e`, joined by newlines.
    Code(String),
    /// Program on standard input.
    Stdin,
    /// `--version`
    Version,
    /// `-v` without a program: version only; with one: version, then the program.
    Help,
    /// `--doctest`: runs the examples in the documentation of the builtins.
    DocTest,
}

/// A parsed command line.
#[derive(Clone, Debug)]
pub struct Command {
    pub action: Action,
    pub args: Vec<String>,
    pub options: Options,
    /// `-c`
    pub check_only: bool,
    /// `-v`
    pub show_version: bool,
    /// `--dump=bytecode`
    pub dump: bool,
    /// `-n`, `-p`: loop around the program.
    pub wrap_loop: bool,
    pub print_line: bool,
    /// `-C DIR`
    pub directory: Option<String>,
    /// `-x`-like options that are accepted and mean nothing here.
    pub ignored: Vec<String>,
    /// `-W:no-...`, `--disable=...`
    pub frozen_string_literal: bool,
    /// `-s`: switches after the script name become globals.
    pub switches: bool,
}

/// Text of `--help`.
pub const USAGE: &str = "\
Usage: zakuro [options] [--] [program.rb | -] [arguments]
  -e 'code'         one line of program; several are joined
  -c                check syntax only
  -C DIR            change directory first
  -I DIR            put DIR in front of $LOAD_PATH
  -r LIB            require LIB before the program
  -n, -p            run the program for each line of input (-p prints $_)
  -s                make globals of switches after the program name
  -v, --verbose     print the version, then be verbose
  -w, -W0 -W1 -W2   warnings: all, none, normal, all
  --version         print the version
  --dump=bytecode   print the compiled program instead of running it
  --enable=frozen-string-literal
  --gc=stress       collect at every safepoint (--gc=never: not at all)
";

/// Parses arguments (without the program's own name). Err: a message for standard error.
pub fn parse(argv: &[String], base: &Options) -> Result<Command, String> {
    let mut c = Command {
        action: Action::Stdin,
        args: Vec::new(),
        options: base.clone(),
        check_only: false,
        show_version: false,
        dump: false,
        wrap_loop: false,
        print_line: false,
        directory: None,
        ignored: Vec::new(),
        frozen_string_literal: false,
        switches: false,
    };
    let mut code: Option<String> = None;
    let mut it = argv.iter().peekable();
    while let Some(a) = it.peek() {
        let a = a.as_str();
        if a == "--" {
            it.next();
            break;
        }
        if a == "-" || !a.starts_with('-') {
            break;
        }
        it.next();
        if let Some(long) = a.strip_prefix("--") {
            match long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v))) {
                ("version", None) => c.action = Action::Version,
                ("help", None) => c.action = Action::Help,
                ("doctest", None) => c.action = Action::DocTest,
                ("verbose", None) => c.options.verbose = Some(true),
                ("debug", None) => c.options.debug = true,
                ("dump", Some("bytecode" | "insns")) => c.dump = true,
                ("gc", Some("stress")) => c.options.gc_stress = true,
                ("gc", Some("never")) => c.options.gc_never = true,
                ("gc", Some("normal")) => c.options.gc_stress = false,
                ("enable", Some(what)) | ("disable", Some(what)) => {
                    for w in what.split(',') {
                        if w == "frozen-string-literal" || w == "frozen_string_literal" {
                            c.frozen_string_literal = long.starts_with("enable");
                        }
                    }
                }
                ("enable-frozen-string-literal", None) => c.frozen_string_literal = true,
                ("external-encoding" | "internal-encoding" | "encoding" | "parser" | "backtrace-limit", _) => c.ignored.push(a.into()),
                (n, None) if n.starts_with("disable-") || n.starts_with("enable-") || n == "yjit" || n == "jit" => c.ignored.push(a.into()),
                _ => return Err(format!("invalid option --{long}  (-h will show valid options) (RuntimeError)")),
            }
            continue;
        }
        // Short options may stand together (-we 'code').
        let letters: Vec<char> = a[1..].chars().collect();
        let mut i = 0;
        while i < letters.len() {
            let rest: String = letters[i + 1..].iter().collect();
            let mut value = |what: &str| -> Result<String, String> {
                if !rest.is_empty() {
                    return Ok(rest.clone());
                }
                it.next().cloned().ok_or_else(|| format!("no {what}"))
            };
            match letters[i] {
                'e' => {
                    let line = if rest.is_empty() { it.next().cloned().ok_or("no code specified for -e (RuntimeError)")? } else { rest };
                    let all = code.get_or_insert_with(String::new);
                    if !all.is_empty() {
                        all.push('\n');
                    }
                    all.push_str(&line);
                    break;
                }
                'I' => {
                    let v = value("directory specified for -I")?;
                    c.options.include.extend(v.split(':').map(String::from));
                    break;
                }
                'r' => {
                    let v = value("library specified for -r")?;
                    c.options.require.push(v);
                    break;
                }
                'C' | 'X' => {
                    c.directory = Some(value("directory specified for -C")?);
                    break;
                }
                'c' => c.check_only = true,
                'w' => c.options.verbose = Some(true),
                'v' => {
                    c.show_version = true;
                    c.options.verbose = Some(true);
                }
                'W' => {
                    match rest.as_str() {
                        "0" => c.options.verbose = None,
                        "1" => c.options.verbose = Some(false),
                        "" | "2" => c.options.verbose = Some(true),
                        _ => {} // -W:no-category
                    }
                    break;
                }
                'd' => c.options.debug = true,
                'n' => c.wrap_loop = true,
                'p' => {
                    c.wrap_loop = true;
                    c.print_line = true;
                }
                's' => c.switches = true,
                'h' => c.action = Action::Help,
                'l' | 'a' | 'S' | 'U' => {}
                'E' | 'K' | 'T' | 'F' | 'i' | 'x' | '0' => break,
                other => return Err(format!("invalid option -{other}  (-h will show valid options) (RuntimeError)")),
            }
            i += 1;
        }
    }
    let mut rest: Vec<String> = it.cloned().collect();
    if matches!(c.action, Action::Version | Action::Help | Action::DocTest) {
        c.args = rest;
        return Ok(c);
    }
    if let Some(code) = code {
        c.action = Action::Code(code);
    } else if !rest.is_empty() {
        let f = rest.remove(0);
        c.action = if f == "-" { Action::Stdin } else { Action::File(f) };
    } else if c.show_version {
        c.action = Action::Version;
    }
    c.args = rest;
    Ok(c)
}
