//! The `zakuro` command: a thin shell over the runtime.

use crate::allocator;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use zakuro_runtime::allocator::while_starting;
use zakuro_runtime::start::{tell, with_stack};
use zakuro_runtime::{Action, Process, command};

unsafe extern "C" {
    safe fn _exit(status: core::ffi::c_int) -> !;
}

pub fn main() {
    let status = with_stack(run);
    let _ = std::io::stdout().flush();
    // Without what libraries do at the end: mimalloc would give page after page back to a system that is about to take all of them, in a seventh of the
    // time that `-e 1` takes.
    _exit(status)
}

/// To standard output, if somebody reads it.
fn say(text: &str) -> i32 {
    let _ = std::io::stdout().write_all(text.as_bytes());
    0
}

/// `zakuro top PID`. The status to exit with.
#[cfg(feature = "top")]
fn top(arguments: &[Vec<u8>]) -> i32 {
    const USAGE: &str = "Usage: zakuro top PID   (of a program that was started with --dashboard or --top)";
    let shown = match arguments {
        [help] if help == b"--help" || help == b"-h" => return say(&format!("{USAGE}\n")),
        [] => Err(format!("top: PID is missing\n{USAGE}")),
        [pid] => match std::str::from_utf8(pid).ok().and_then(|n| n.parse().ok()) {
            Some(pid) => zakuro_runtime::top::run(pid),
            None => Err(format!("top: no number of a process: {}\n{USAGE}", String::from_utf8_lossy(pid))),
        },
        _ => Err(format!("top: one PID, not {}\n{USAGE}", arguments.len())),
    };
    shown.map_or_else(
        |e| {
            tell(&e);
            1
        },
        |()| 0,
    )
}

fn run() -> i32 {
    let argv: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsString::into_vec).collect();
    #[cfg(feature = "top")]
    if command::is_subcommand(&argv, "top") {
        return top(&argv[1..]);
    }
    let rubyopt = std::env::var("RUBYOPT").ok();
    let base = zakuro_runtime::process::options_from_environment();
    let command = match command::parse(&argv, &base, rubyopt.as_deref()) {
        Ok(c) => c,
        Err(e) => {
            tell(&e);
            return 1;
        }
    };
    if command.show_version || command.action == Action::Version {
        say(&format!("{}\n", zakuro_runtime::process::version_line()));
        if command.action == Action::Version {
            return 0;
        }
    }
    match command.action {
        Action::Nothing => return 0,
        Action::Help => return say(command::USAGE),
        Action::ShortHelp => return say(&command::short_usage()),
        Action::Effects => return say(&zakuro_runtime::effects::table()),
        Action::Copyright => return say("zakuro - Copyright (C) the Zakuro authors\n"),
        _ => {}
    }
    if command.action != Action::DocTest {
        zakuro_runtime::panics::install();
        zakuro_runtime::signals::install();
    }
    let process = match while_starting(|| Process::new(command.options.clone())) {
        Ok(p) => p,
        Err(e) => {
            tell(&e);
            return 1;
        }
    };
    if command.action == Action::DocTest {
        let filter: Vec<String> = command.args.iter().map(|a| String::from_utf8_lossy(a).into_owned()).collect();
        return zakuro_runtime::doctest::run(&process, &filter);
    }
    process.care_for_malloc(allocator::care());
    process.rest_for_malloc(allocator::rest);
    process.run_main(argv)
}
