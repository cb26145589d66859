//! The `zakuro` command: a thin shell over the runtime.

mod allocator;

use std::sync::Arc;
use zakuro_runtime::{Action, Process, command};

fn main() {
    let argv: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    let base = zakuro_runtime::process::options_from_environment();
    let command = match command::parse(&argv, &base) {
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
        Action::DocTest => {
            let process = Process::new(command.options.clone());
            std::process::exit(zakuro_runtime::doctest::run(&process, &command.args));
        }
        _ => {}
    }
    zakuro_runtime::signals::install();
    let process: Arc<Process> = Process::new(command.options.clone());
    std::process::exit(process.run_main(argv));
}
