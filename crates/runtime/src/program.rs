//! What happens inside a VM from its first instruction to its end report.

use crate::command::{self, Action, Command};
use std::sync::Arc;
use zakuro_compiler::Options as CompileOptions;
use zakuro_corelib::vm_api::birth;
use zakuro_vm::host::{End, VmControl};
use zakuro_vm::transfer::Envelope;
use zakuro_vm::*;

/// Runs the VM's program; leaves the end report in `cx.end`.
pub fn run_vm(cx: &mut Cx, control: &Arc<VmControl>, args: Envelope) {
    let end = match command::parse(&control.argv, &cx.options.clone()) {
        Ok(command) => run_command(cx, &command, args),
        Err(e) => {
            eprintln!("zakuro: {e}");
            End::Exit(1)
        }
    };
    cx.end = Some(end);
}

fn run_command(cx: &mut Cx, c: &Command, args: Envelope) -> End {
    let result = prepare(cx, c, args).and_then(|()| main_program(cx, c));
    let failed = if result.is_err() { cx.pending } else { Value::NIL };
    let mut end = outcome(cx, result);
    if zakuro_corelib::signal::run_exit_trap(cx).is_err() {
        end = outcome(cx, Err(Exc));
    }
    // at_exit blocks see what ends the program.
    cx.errinfo = if failed.is_kind(Kind::Exception) { failed } else { Value::NIL };
    // at_exit blocks in reverse order; one may add others, or change the status by exit.
    while let Some(p) = cx.at_exit.pop() {
        let r = match Ref::<ProcCell>::from_value(p) {
            Some(p) => cx.call_proc(p, &[], false, Block::NONE),
            None => Ok(Value::NIL),
        };
        if r.is_err() {
            match outcome(cx, r) {
                End::Exception { report, .. } => {
                    zakuro_corelib::io::write_error(cx, report.as_bytes());
                    if matches!(end, End::Done) {
                        end = End::Exit(1);
                    }
                }
                other => end = other,
            }
        }
    }
    cx.kill_other_threads();
    zakuro_corelib::io::flush_all(cx);
    end
}

fn prepare(cx: &mut Cx, c: &Command, args: Envelope) -> Result<()> {
    cx.options = Arc::new(c.options.clone());
    cx.script = match &c.action {
        Action::File(f) => f.clone(),
        Action::Code(_) => "-e".into(),
        _ => "-".into(),
    };
    birth::settle(cx, args, &c.args)?;
    for lib in &c.options.require {
        let main = cx.main;
        let name = cx.str(lib);
        cx.call(main, sym::require, &[name])?;
    }
    Ok(())
}

fn main_program(cx: &mut Cx, c: &Command) -> Result<Value> {
    let source: Vec<u8> = match &c.action {
        Action::Code(code) => code.clone().into_bytes(),
        Action::File(f) => match birth::read_program(cx, f) {
            Ok(s) => s,
            Err(e) => {
                let why = match e.kind() {
                    std::io::ErrorKind::NotFound => "No such file or directory".to_string(),
                    std::io::ErrorKind::IsADirectory => "Is a directory".to_string(),
                    std::io::ErrorKind::PermissionDenied => "Permission denied".to_string(),
                    _ => e.to_string(),
                };
                let e = cx.exception(ids::LOAD_ERROR, &format!("{why} -- {f}"));
                // As if the interpreter itself stood in the backtrace.
                let at = cx.str("zakuro");
                let at = cx.array(&[at]);
                cx.ivar_set_raw(e, raise::hidden::backtrace(), at);
                return cx.raise_value(e);
            }
        },
        _ => {
            let mut s = Vec::new();
            match std::io::Read::read_to_end(&mut std::io::stdin(), &mut s) {
                Ok(_) => s,
                Err(e) => return cx.raise(ids::LOAD_ERROR, e.to_string()),
            }
        }
    };
    let source = if c.wrap_loop { wrap_loop(&source, c.print_line) } else { source };
    let file = cx.script.clone();
    let options =
        CompileOptions { file: &file, line: 1, frozen_string_literal: c.frozen_string_literal, main_script: true, ..Default::default() };
    let compiled = match zakuro_vm::codecache::compile(&source, &options) {
        Ok(compiled) => compiled,
        Err(e) => return cx.raise(ids::SYNTAX_ERROR, e.message()),
    };
    if cx.options.verbose == Some(true) {
        for w in &compiled.warnings {
            zakuro_corelib::io::write_error(cx, format!("{file}:{}: warning: {}\n", w.line, w.message).as_bytes());
        }
    }
    if c.dump {
        print!("{}", zakuro_bytecode::disasm::listing(&compiled.code));
        return Ok(Value::NIL);
    }
    if c.check_only {
        println!("Syntax OK");
        return Ok(Value::NIL);
    }
    birth::set_data(cx, &compiled.code)?;
    cx.run_program(&compiled.code, None)
}

/// `-n`, `-p`: the program runs once per line of input.
fn wrap_loop(source: &[u8], print: bool) -> Vec<u8> {
    let mut s = b"while gets;".to_vec();
    s.extend_from_slice(source);
    s.extend_from_slice(if print { b"\nprint $_;end" } else { b"\nend" });
    s
}

/// The end that a result means.
fn outcome(cx: &mut Cx, r: Result<Value>) -> End {
    if r.is_ok() {
        return End::Done;
    }
    let e = cx.take_pending();
    if let Some(t) = Ref::<ThrowCell>::from_value(e) {
        return match t.throw_kind() {
            // Of a thread, not of the VM: the main thread has ended, as by `exit`.
            ThrowKind::Kill if !t.tag.is_nil() => End::Done,
            // exit! carries a status.
            ThrowKind::Kill => t.value.as_fixnum().map_or(End::Killed, |s| End::Exit(s as i32)),
            _ => End::Exit(1),
        };
    }
    if cx.is_a(e, ids::SYSTEM_EXIT) {
        let status = cx.ivar_get(e, Sym::intern("__status"));
        return End::Exit(status.as_fixnum().unwrap_or(0) as i32);
    }
    // A class may have redefined `message` to raise: the report must come out anyway.
    cx.errinfo = Value::NIL;
    let report = match zakuro_corelib::exception::full_message(cx, e, false) {
        Ok(s) => s,
        Err(_) => {
            cx.pending = Value::NIL;
            format!("unprintable exception ({})\n", cx.class_name_of(e))
        }
    };
    if cx.is_a(e, ids::SIGNAL_EXCEPTION)
        && let Some(number) = cx.ivar_get(e, Sym::intern("__signo")).as_fixnum().filter(|n| *n > 0)
    {
        // As CRuby: a plain SignalException ends the process without a word.
        let report = if cx.class_of(e) == ids::SIGNAL_EXCEPTION { String::new() } else { report };
        return End::Signal { number: number as i32, report };
    }
    let class = cx.class_name_of(e);
    let message = cx.call(e, sym::message, &[]).and_then(|m| cx.to_s_text(m)).unwrap_or_default();
    End::Exception { class, message, report }
}
