//! The `zakuro` command: a thin shell over the runtime.

mod allocator;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;
use zakuro_runtime::{Action, Process, command};

fn main() {
    let argv: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsString::into_vec).collect();
    let rubyopt = std::env::var("RUBYOPT").ok();
    let base = zakuro_runtime::process::options_from_environment();
    let command = match command::parse(&argv, &base, rubyopt.as_deref()) {
        Ok(c) => c,
        Err(e) => {
            eprintln!("zakuro: {e}");
            std::process::exit(1);
        }
    };
    if command.show_version || command.action == Action::Version {
        println!("{}", zakuro_runtime::process::version_line());
        if command.action == Action::Version {
            return;
        }
    }
    match command.action {
        Action::Help => {
            print!("{}", command::USAGE);
            return;
        }
        Action::Copyright => {
            println!("zakuro - Copyright (C) the Zakuro authors");
            return;
        }
        Action::DocTest => {
            let process = Process::new(command.options.clone());
            let filter: Vec<String> = command.args.iter().map(|a| String::from_utf8_lossy(a).into_owned()).collect();
            std::process::exit(zakuro_runtime::doctest::run(&process, &filter));
        }
        _ => {}
    }
    zakuro_runtime::panics::install();
    zakuro_runtime::signals::install();
    let process: Arc<Process> = Process::new(command.options.clone());
    process.care_for_malloc(allocator::care());
    process.rest_for_malloc(allocator::rest);
    std::process::exit(process.run_main(argv));
}
