//! RubyVM: another Ruby in this process, sealed from this one.

use std::sync::Arc;
use zakuro_macros::ruby_class;
use zakuro_vm::host::{End, VmControl};
use zakuro_vm::*;

/// Payload of a RubyVM object.
pub struct VmHandle(pub Arc<VmControl>);

impl NativeData for VmHandle {
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(VmHandle(self.0.clone())))
    }
}

/// RubyVM::Error for a VM that ended by an error: message names the VM.
fn raise_end<T>(cx: &mut Cx, name: &str, end: &End) -> Result<T> {
    let message = match end {
        End::Exception { class, message, report } => {
            let place = report.split(": ").next().unwrap_or("").lines().next().unwrap_or("").to_string();
            format!("VM {name}: {message} ({class}) at {place}")
        }
        End::Panic(p) => format!("VM {name}: internal error: {p}"),
        End::Killed => format!("VM {name}: killed"),
        End::Signal { number, .. } => format!("VM {name}: ended by signal {number}"),
        End::Exit(s) => format!("VM {name}: exit status {s}"),
        End::Done => format!("VM {name}: ended"),
    };
    cx.raise(ids::VM_ERROR, message)
}

#[ruby_class(ids::RUBY_VM)]
pub mod vm_class {
    use super::*;

    /// A VM with a name, not started yet. The other arguments are those of a command line: a program file, or `"-e", "code"`, and its ARGV.
    ///
    ///     RubyVM.new("worker", "-e", "p 1").name  #=> "worker"
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, name: Value, args: Rest) -> Result<()> {
        let name = cx.text_of(name)?;
        let mut argv = Vec::new();
        for a in args {
            argv.push(cx.to_str(*a)?.bytes().to_vec());
        }
        if argv.is_empty() {
            // One argument: the program file, which also names the VM.
            argv.push(name.clone().into_bytes());
        }
        let host = cx.host_handle()?;
        let control = host.spawner.create(&name, argv);
        cx.data_init(this, VmHandle(control))
    }

    /// Starts the VM with copies of the objects, which it sees as `RubyVM::ARGV`. Returns the VM.
    ///
    ///     c = RubyVM::Channel.new; RubyVM.new("a", "-e", "RubyVM::ARGV[0] << 42").start(c).join; c.recv  #=> 42
    #[method("start")]
    fn start(cx: &mut Cx, this: Value, objects: Rest) -> Result<Value> {
        let control = cx.data_ref::<VmHandle>(this)?.0.clone();
        if control.started() {
            return cx.raise(ids::VM_ERROR, format!("VM {} was started already", control.name));
        }
        let list = cx.array(objects);
        let mut envelope = cx.pack(list)?;
        crate::vm_api::birth::inherit(cx, &mut envelope)?;
        let host = cx.host_handle()?;
        host.spawner.start(&control, envelope);
        Ok(this)
    }

    /// Waits for the VM's end and returns the VM. An exception that ended it is raised here as RubyVM::Error with the VM's name, file and line.
    ///
    ///     RubyVM.new("b", "-e", "exit 3").start.join.status  #=> 3
    #[method("join")]
    fn join(cx: &mut Cx, this: Value, timeout: Option<f64>) -> Result<Value> {
        let control = cx.data_ref::<VmHandle>(this)?.0.clone();
        if !control.started() {
            return cx.raise(ids::VM_ERROR, format!("VM {} was not started", control.name));
        }
        let until = timeout.map(|s| std::time::Instant::now() + std::time::Duration::from_secs_f64(s.clamp(0.0, 1e9)));
        let task = cx.host_handle()?.task;
        let end = cx.wait_until(until, |_| Ok(control.end_or_register(&task)))?;
        match end {
            None => Ok(Value::NIL),
            Some(End::Done | End::Exit(_)) => Ok(this),
            Some(end) => raise_end(cx, &control.name, &end),
        }
    }

    /// The name.
    ///
    ///     RubyVM.new("c", "-e", "1").name  #=> "c"
    #[method("name")]
    fn name(cx: &mut Cx, this: Value) -> Result<String> {
        Ok(cx.data_ref::<VmHandle>(this)?.0.name.to_string())
    }

    /// Whether it was started and has not ended.
    ///
    ///     RubyVM.new("d", "-e", "1").alive?  #=> false
    #[method("alive?")]
    fn alive(cx: &mut Cx, this: Value) -> Result<bool> {
        let c = &cx.data_ref::<VmHandle>(this)?.0;
        Ok(c.started() && c.end().is_none())
    }

    /// Exit status of a VM that has ended, as of a process; nil before.
    ///
    ///     RubyVM.new("e", "-e", "1").start.join.status  #=> 0
    #[method("status")]
    fn status(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
        Ok(cx.data_ref::<VmHandle>(this)?.0.end().map(|e| e.status() as i64))
    }

    /// Ends the VM at its next safepoint or wait. `ensure` clauses run.
    ///
    ///     v = RubyVM.new("f", "-e", "loop {}").start; v.kill; (v.join rescue $!.message)  #=> "VM f: killed"
    #[method("kill")]
    fn kill(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.data_ref::<VmHandle>(this)?.0.kill();
        Ok(this)
    }

    /// The VM that runs this code.
    ///
    ///     RubyVM.current.alive?  #=> true
    #[method("current", singleton)]
    fn current(cx: &mut Cx, _this: Value) -> Result<Value> {
        let control = cx.host_handle()?.control;
        Ok(cx.data(ids::RUBY_VM, VmHandle(control)))
    }

    /// Handles of the same VM are equal.
    ///
    ///     RubyVM.current == RubyVM.current  #=> true
    #[method("==", "eql?")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if !cx.is_data::<VmHandle>(other) {
            return Ok(false);
        }
        Ok(cx.data_ref::<VmHandle>(this)?.0.id == cx.data_ref::<VmHandle>(other)?.0.id)
    }

    /// Equal for handles of the same VM.
    ///
    ///     RubyVM.current.hash == RubyVM.current.hash  #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(cx.data_ref::<VmHandle>(this)?.0.id as i64)
    }

    /// Name and state.
    ///
    ///     RubyVM.new("g", "-e", "1").inspect  #=> "#<RubyVM: g new>"
    #[method("inspect", "to_s")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<String> {
        let c = &cx.data_ref::<VmHandle>(this)?.0;
        let state = match c.end() {
            _ if !c.started() => "new",
            None => "running",
            Some(_) => "ended",
        };
        Ok(format!("#<RubyVM: {} {state}>", c.name))
    }
}
