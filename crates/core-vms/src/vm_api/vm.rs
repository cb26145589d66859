//! RubyVM: another Ruby in this process, sealed from this one.

use super::worked_with;
use super::channel::{channel_of, deadline};
use super::outcome::{exception_of, raise_end, value_of};
use super::power::{VmHandle, control, granted};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use zakuro_macros::ruby_class;
use zakuro_vm::allowance::Allowance;
use zakuro_vm::channels::SelectOutcome;
use zakuro_vm::host::{End, VmControl};
use zakuro_vm::image::Seed;
use zakuro_vm::limits::{Limit, Limits};
use zakuro_vm::transfer::Envelope;
use zakuro_vm::*;

/// The end report; waits for it. None: timed out.
fn wait_for_end(cx: &mut Cx, control: &Arc<VmControl>, until: Option<Instant>) -> Result<Option<End>> {
    if !control.started() {
        return cx.raise(ids::VM_ERROR, format!("VM {} was not started", control.name));
    }
    if cx.host_handle()?.control.id == control.id {
        return cx.raise(ids::VM_ERROR, "Target VM must not be current VM");
    }
    let task = cx.host_handle()?.task;
    cx.waits_for(account::WaitKind::Vm, control.id);
    cx.wait_until(until, |_| Ok(control.end_or_register(&task)))
}

/// The keywords that set limits, and what a VM may.
fn limit_names() -> [Sym; 7] {
    ["memory_limit", "cpu_limit", "wall_limit", "grace", "thread_limit", "fd_limit", "foreign"].map(Sym::intern)
}

/// ArgumentError when there is a keyword beside these and those that set limits.
pub fn only(cx: &mut Cx, kw: Kwargs, others: &[Sym]) -> Result<()> {
    kw.only(cx, &[others, &limit_names()].concat())
}

/// Limits of a new VM, as its keywords say; never wider than those of the VM that makes it.
fn limits(cx: &mut Cx, kw: Kwargs) -> Result<Limits> {
    let [memory, cpu, wall, grace, threads, descriptors, _] = limit_names();
    let (wall_left, foreign) = (cx.life.wall_left(), cx.may_call_foreign());
    let mine = Limits { wall: wall_left, foreign, ..*cx.host_handle()?.control.limits };
    let given = Limits {
        memory: number(cx, kw, memory)?,
        threads: number(cx, kw, threads)?,
        descriptors: number(cx, kw, descriptors)?,
        cpu: seconds(cx, kw, cpu)?,
        wall: seconds(cx, kw, wall)?,
        grace: seconds(cx, kw, grace)?,
        foreign: may_call_foreign(kw),
    };
    Ok(given.within(&mine))
}

/// What the keyword says. A Ractor is a part of its maker's program and may what that may, unless it is limited.
fn may_call_foreign(kw: Kwargs) -> bool {
    let given = |name: Sym| kw.get(name).filter(|v| !v.is_nil());
    match given(Sym::intern("foreign")) {
        Some(v) => v.truthy(),
        None => given(Sym::intern("family")).is_some() && !limit_names().into_iter().any(|name| given(name).is_some()),
    }
}

/// A limit that is a number; None: it is not given, or nil.
fn number(cx: &mut Cx, kw: Kwargs, name: Sym) -> Result<Option<usize>> {
    match kw.get(name) {
        None | Some(Value::NIL) => Ok(None),
        Some(v) => match cx.to_i64(v)? {
            n if n > 0 => Ok(Some(n as usize)),
            _ => cx.arg_error(format!("{} must be positive", name.name())),
        },
    }
}

/// What a new VM may use, it may use together with the limited VM that makes it. Names outlive the VM that made them, so they count for both.
fn share_limits(cx: &Cx, control: &VmControl) {
    let Some(host) = &cx.host else { return };
    if let Some(allowance) = Allowance::under(cx.life.allowance(), &control.limits) {
        let _ = control.allowance.set(allowance);
    }
    if let Some(names) = host.control.account.get() {
        let _ = control.account.set(names.clone());
        // Both look how much there is already: the maker at its next safepoint, the new VM at its first.
        host.control.poll.set(zakuro_vm::gc::POLL_COLLECT);
        control.poll.set(zakuro_vm::gc::POLL_COLLECT);
    }
}

fn seconds(cx: &mut Cx, kw: Kwargs, name: Sym) -> Result<Option<Duration>> {
    match kw.get(name) {
        None | Some(Value::NIL) => Ok(None),
        Some(v) => zakuro_core_base::interval::duration(cx, v).map(Some),
    }
}

/// Starts a VM from a seed whose root is an Array of block and arguments.
pub fn spawn(cx: &mut Cx, seed: Seed, args: Rest, kw: Kwargs) -> Result<Value> {
    let host = cx.host_handle()?;
    let name = match kw.get(sym::name) {
        None | Some(Value::NIL) => format!("fork of {}", cx.name),
        Some(n) => cx.text_of(n)?,
    };
    let mut start = Envelope::nil();
    let grants = granted(cx, args);
    crate::vm_api::birth::inherit(cx, &mut start, grants)?;
    let limits = limits(cx, kw)?;
    let control = host.spawner.create(&name, Vec::new(), limits, Some(host.control.identity()));
    share_limits(cx, &control);
    *control.seat.lock() = cx.admit_main_thread(&control)?;
    if let Some(id) = kw.named("family").and_then(Value::as_fixnum) {
        control.family.store(id as u64, Ordering::Relaxed);
    }
    let vm = cx.data(ids::RUBY_VM, VmHandle::Power(control.clone()));
    // For who must know it whatever comes between its start and its first moment as a value of ours.
    if let Some(list) = kw.named(INTO).and_then(Ref::<ArrayCell>::from_value) {
        ArrayCell::push(list, &mut cx.heap, vm);
    }
    host.spawner.start_image(&control, start, seed);
    cx.account_has_grown();
    Ok(vm)
}

/// Keyword of our own libraries: an Array that the VM is put into before it starts.
pub const INTO: &str = "__into";

/// What waits for the end of a VM takes there, in bytes, beside a message: its entry, and the channel, which nobody else may have.
const AT_END: usize = 1024;

/// Has `f` called at the end of a VM, as [`VmControl::on_end`]. Until then it counts for the VM that asks, however many times it does.
fn at_end(cx: &mut Cx, control: &VmControl, number: u64, f: impl FnOnce(&End) + Send + 'static) -> bool {
    let charge = cx.charge(AT_END, std::iter::empty());
    control.on_end(
        number,
        Box::new(move |end| {
            f(end);
            drop(charge);
        }),
    )
}

fn kind_of_end(end: &End) -> &'static str {
    match end {
        End::Done | End::Exit(_) => "exited",
        End::Killed => "killed",
        _ => "aborted",
    }
}

/// The class of channels through a server, if one of those is given: then Ruby waits (crates/cluster).
fn remote_among(cx: &mut Cx, channels: &[Value]) -> Option<Value> {
    if channels.iter().all(|c| cx.is_data::<super::channel::ChannelHandle>(*c)) {
        return None;
    }
    let class = cx.const_by_path("RubyVM::Channel::Remote")?;
    let id = cx.class_id(class)?;
    channels.iter().any(|c| cx.is_a(*c, id)).then_some(class)
}

#[ruby_class(ids::RUBY_VM)]
pub mod vm_class {
    use super::*;

    /// A VM with a name, not started yet. The other arguments are those of a command line: a program file, or `"-e", "code"`, and its ARGV.
    /// Limits: `memory_limit:` (bytes), `cpu_limit:`, `wall_limit:` (seconds), `thread_limit:` (threads alive), `fd_limit:` (descriptors open); `grace:`, the seconds that `ensure` clauses get when it is ended
    /// (1 unless given). They are never wider than those of the VM that makes it. `foreign: true` lets it call foreign functions (fiddle, ffi), if its maker may.
    ///
    ///     RubyVM.new("worker", "-e", "p 1").name  #=> "worker"
    ///     RubyVM.new("w", "-e", "loop {}", cpu_limit: 0.05, grace: 0).start.join rescue $!.message  #=> "VM w: CPU limit of 0.05 s exceeded"
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, name: Value, args: Rest, kw: Kwargs, block: Block) -> Result<()> {
        only(cx, kw, &[])?;
        if !block.is_none() {
            return cx.arg_error("RubyVM.new runs a program and takes no block; RubyVM.fork runs a block");
        }
        let name = cx.text_of(name)?;
        let mut argv = Vec::new();
        for a in args {
            argv.push(cx.to_str(*a)?.to_vec());
        }
        if argv.is_empty() {
            // One argument: the program file, which also names the VM.
            argv.push(name.clone().into_bytes());
        }
        let limits = limits(cx, kw)?;
        let host = cx.host_handle()?;
        let control = host.spawner.create(&name, argv, limits, Some(host.control.identity()));
        share_limits(cx, &control);
        cx.data_init(this, VmHandle::Power(control))
    }

    /// A copy is another handle of the same VM, with the same power.
    ///
    ///     RubyVM.current.dup == RubyVM.current  #=> true
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let handle = cx.data_ref::<VmHandle>(other)?.clone();
        cx.data_init(this, handle)?;
        Ok(this)
    }

    /// Starts the VM with copies of the objects, which it sees as `RubyVM::ARGV`. Returns the VM.
    ///
    ///     c = RubyVM::Channel.new; RubyVM.new("a", "-e", "RubyVM::ARGV[0] << 42").start(c).join; c.recv  #=> 42
    #[method("start")]
    fn start(cx: &mut Cx, this: Value, objects: Rest) -> Result<Value> {
        let control = control(cx, this, "start")?;
        if control.started() {
            return cx.raise(ids::VM_ERROR, format!("VM {} was started already", control.name));
        }
        let list = cx.array(objects);
        let envelope = cx.pack(list)?;
        // Until the VM has begun it counts for this one.
        let mut envelope = cx.weighed(envelope);
        crate::vm_api::birth::inherit(cx, &mut envelope, crate::vm_api::power::Granted::default())?;
        *control.seat.lock() = cx.admit_main_thread(&control)?;
        let host = cx.host_handle()?;
        host.spawner.start(&control, envelope);
        cx.account_has_grown();
        Ok(this)
    }

    /// Waits for the VM's end and returns the VM. An exception that ended it is raised here as RubyVM::Error with the VM's name, file and line, and is its `cause`: with its
    /// backtrace, and as a RubyVM::Error where this VM has no such class.
    ///
    ///     RubyVM.new("j", "-e", "raise 'x'").start.join rescue $!.cause  #=> #<RuntimeError: x>
    ///     RubyVM.new("b", "-e", "exit 3").start.join.status  #=> 3
    #[method("join")]
    fn join(cx: &mut Cx, this: Value, timeout: Option<f64>) -> Result<Value> {
        let control = control(cx, this, "join")?;
        let until = timeout.map(|s| std::time::Instant::now() + std::time::Duration::from_secs_f64(s.clamp(0.0, 1e9)));
        let end = wait_for_end(cx, &control, until)?;
        match end {
            None => Ok(Value::NIL),
            Some(End::Done | End::Exit(_)) => Ok(this),
            Some(end) => {
                let cause = exception_of(cx, this, &control, &end)?;
                raise_end(cx, &control.name, &end, cause)
            }
        }
    }

    /// Runs the block in a new VM that starts from the program state of this one: classes with their methods, constants, class variables,
    /// globals, loaded features, and the block's outer variables, all copied. Nothing that either of them changes later is seen by the other.
    /// Returns the VM. Keywords: `name:`, and the limits of RubyVM.new.
    ///
    ///     list = [1]; RubyVM.fork(2) { |x| list << x }.value + list  #=> [1, 2, 1]
    #[method("fork", singleton)]
    fn fork(cx: &mut Cx, _this: Value, args: Rest, kw: Kwargs, block: Block) -> Result<Value> {
        only(cx, kw, &[sym::name, Sym::intern("family")])?;
        if block.is_none() {
            return cx.arg_error("must be called with a block");
        }
        let main = cx.block_to_proc(block).as_value();
        let root = cx.array_of([main].iter().chain(args).copied());
        // As before fork(2): what is still buffered must not be written by both.
        zakuro_core_system::io::flush_all(cx);
        let seed = cx.seed(root);
        spawn(cx, seed, args, kw)
    }

    /// What the block of a forked VM returned, or the program of a new one ended with; waits for its end. An exception that ended the VM is the cause of the RubyVM::Error raised
    /// here.
    ///
    ///     RubyVM.new("v", "-e", "6 * 7").start.value  #=> 42
    ///     RubyVM.fork { 6 * 7 }.value  #=> 42
    #[method("value")]
    fn value(cx: &mut Cx, this: Value) -> Result<Value> {
        let kept = Sym::intern("__value");
        if let Some(v) = cx.ivar_lookup(this, kept) {
            return Ok(v);
        }
        let control = control(cx, this, "value")?;
        let Some(end) = wait_for_end(cx, &control, None)? else { return Ok(Value::NIL) };
        match end {
            End::Exit(_) => {
                // The SystemExit, for Ractors.
                let exit = exception_of(cx, this, &control, &end)?;
                cx.ivar_set_raw(this, Sym::intern("__exit"), exit.unwrap_or(Value::NIL));
                cx.ivar_set_raw(this, kept, Value::NIL);
                Ok(Value::NIL)
            }
            End::Done => {
                let v = value_of(cx, &control)?;
                cx.ivar_set_raw(this, kept, v);
                Ok(v)
            }
            end => {
                let cause = exception_of(cx, this, &control, &end)?;
                raise_end(cx, &control.name, &end, cause)
            }
        }
    }

    /// Sends a Symbol to the channel when the VM ends: `:exited`, `:aborted` after an uncaught exception, a limit or an internal error, `:killed`; or
    /// the object given, such as the VM itself, whose `report` says more. False: it has ended already, and the message was sent now.
    ///
    ///     c = RubyVM::Channel.new; RubyVM.fork { 1 }.monitor(c); c.recv  #=> :exited
    ///     c = RubyVM::Channel.new; v = RubyVM.fork { exit 3 }; v.monitor(c, v); c.recv.report[:status]  #=> 3
    #[method("monitor")]
    fn monitor(cx: &mut Cx, this: Value, channel: Value, message: Option<Value>) -> Result<bool> {
        let control = control(cx, this, "monitor")?;
        let ch = channel_of(cx, channel)?.clone();
        let number = ch.id();
        let message = match message {
            // It waits for the end of the VM, perhaps for ever.
            Some(m) => {
                let packed = cx.pack(m)?;
                Some(cx.weighed(packed))
            }
            None => None,
        };
        let told = move |end: &End| {
            let what = message.unwrap_or_else(|| Envelope::immediate(Value::sym(Sym::intern(kind_of_end(end)))));
            let _ = ch.try_send(what);
        };
        Ok(at_end(cx, &control, number, told))
    }

    /// How the VM ended, nil before: a frozen Hash of `kind:` (as `monitor` says it), `status:`, `limit:` (`:memory`, `:cpu`, `:wall` or nil),
    /// `exception:` (name of the class) and `message:`.
    ///
    ///     RubyVM.new("r", "-e", "exit 3").start.join.report  #=> {kind: :exited, status: 3, limit: nil, exception: nil, message: nil}
    #[method("report")]
    fn report(cx: &mut Cx, this: Value) -> Result<Value> {
        let Some(end) = control(cx, this, "report")?.end() else { return Ok(Value::NIL) };
        let (limit, exception, message) = match &end {
            End::Exception { class, message, .. } => (None, Some(class.as_str()), Some(message.as_str())),
            End::Limit { limit: Limit::Memory, message, .. } => (Some(Limit::Memory), Some("NoMemoryError"), Some(message.as_str())),
            End::Limit { limit, message, .. } => (Some(*limit), Some("RubyVM::LimitError"), Some(message.as_str())),
            End::Panic(text) => (None, None, Some(text.as_str())),
            End::Signal { .. } => (None, Some("SignalException"), None),
            _ => (None, None, None),
        };
        let limit = limit.map_or(Value::NIL, |l| Value::sym(Sym::intern(l.name())));
        let [exception, message] = [exception, message].map(|t| t.map_or(Value::NIL, |t| cx.frozen_str(t)));
        let kind = Value::sym(Sym::intern(kind_of_end(&end)));
        let h = cx.new_hash();
        for (name, v) in [
            ("kind", kind),
            ("status", Value::fixnum(end.status() as i64)),
            ("limit", limit),
            ("exception", exception),
            ("message", message),
        ] {
            cx.hash_set(h, Value::sym(Sym::intern(name)), v)?;
        }
        h.as_value().set_flags(flags::FROZEN);
        Ok(h.as_value())
    }

    /// Ends what `monitor` began.
    ///
    ///     RubyVM.current.unmonitor(RubyVM::Channel.new) == RubyVM.current  #=> true
    #[method("unmonitor")]
    fn unmonitor(cx: &mut Cx, this: Value, channel: Value) -> Result<Value> {
        let number = channel_of(cx, channel)?.id();
        control(cx, this, "unmonitor")?.forget_end(number);
        Ok(this)
    }

    /// After `value`: the SystemExit that ended the VM, or nil.
    #[method("__exit", private)]
    fn exit_of(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_lookup(this, Sym::intern("__exit")).unwrap_or(Value::NIL)
    }

    /// Closes the channel when the VM ends.
    #[method("__close_at_end", private)]
    fn close_at_end(cx: &mut Cx, this: Value, channel: Value) -> Result<()> {
        let ch = channel_of(cx, channel)?.clone();
        let control = control(cx, this, "monitor")?;
        at_end(cx, &control, 0, move |_| {
            ch.close();
        });
        Ok(())
    }

    /// Closes the channel when this VM ends, however it does, and kills the other VM, if there is one. `unmonitor` with the channel takes it back.
    #[method("__take_along", private)]
    fn take_along(cx: &mut Cx, this: Value, vm: Value, channel: Value) -> Result<bool> {
        let ch = channel_of(cx, channel)?.clone();
        let number = ch.id();
        let child = if vm.is_nil() { None } else { Some(control(cx, vm, "kill")?) };
        let control = control(cx, this, "monitor")?;
        Ok(at_end(cx, &control, number, move |_| {
            if let Some(child) = child {
                child.kill();
            }
            ch.close();
        }))
    }

    /// Receives from the first of several channels that has a message: `[channel, message]`. With `timeout:` nil when none had one in time.
    /// RubyVM::ClosedError when all are closed and empty.
    ///
    ///     a, b = RubyVM::Channel.new, RubyVM::Channel.new; b << 1; RubyVM.select(a, b) == [b, 1]  #=> true
    #[method("select", singleton)]
    fn select(cx: &mut Cx, _this: Value, channels: Rest, kw: Kwargs) -> Result<Value> {
        let until = deadline(cx, kw)?;
        if channels.is_empty() {
            return cx.arg_error("no channel given");
        }
        if let Some(class) = remote_among(cx, channels) {
            let list = cx.array(channels);
            let timeout = kw.get(sym::timeout).unwrap_or(Value::NIL);
            return cx.call(class, Sym::intern("__select"), &[list, timeout]);
        }
        let mut list = Vec::with_capacity(channels.len());
        for c in channels {
            list.push(channel_of(cx, *c)?);
        }
        let outcome = cx.channel_select(&list, until);
        std::hint::black_box(channels);
        match outcome? {
            SelectOutcome::TimedOut => Ok(Value::NIL),
            SelectOutcome::Closed => cx.raise(ids::CLOSED_CHANNEL_ERROR, "the channels are closed"),
            SelectOutcome::Got(i, e) => {
                let v = cx.open(e)?;
                Ok(cx.array(&[channels[i], v]))
            }
        }
    }

    /// This VM and those that descend from it, as far as they have started and not ended, with power over each.
    ///
    ///     RubyVM.list.include?(RubyVM.current)  #=> true
    ///     v = RubyVM.fork { sleep }; seen = RubyVM.fork { RubyVM.list.size }.value; v.kill; seen  #=> 1
    #[method("list", singleton)]
    fn list(cx: &mut Cx, _this: Value) -> Result<Value> {
        let out = cx.new_array();
        let host = cx.host_handle()?;
        for c in host.spawner.descendants(host.control.identity()) {
            let v = cx.data(ids::RUBY_VM, VmHandle::Power(c));
            ArrayCell::push(out, &mut cx.heap, v);
        }
        Ok(out.as_value())
    }

    /// Number of live Ractors in the family of a main Ractor's VM, itself not counted.
    #[method("__family_size", private)]
    fn family_size(cx: &mut Cx, this: Value) -> Result<usize> {
        let id = cx.data_ref::<VmHandle>(this)?.identity().id;
        Ok(cx.host_handle()?.spawner.family_size(id))
    }

    /// Whether the handle has power over its VM; without, it only shows `id`, `name`, `alive?` and `inspect`. A VM has power over itself, over those that
    /// it makes and their descendants, and over those whose handles it is sent. A handle that a fork finds in its copy of the program has none.
    ///
    ///     RubyVM.fork(RubyVM.current) { |sent| sent.power? }.value  #=> true
    ///     $v = RubyVM.current; RubyVM.fork { [$v.power?, ($v.kill rescue $!.class)] }.value  #=> [false, RubyVM::PermissionError]
    #[method("power?")]
    fn has_power(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(matches!(cx.data_ref::<VmHandle>(this)?, VmHandle::Power(_)))
    }

    /// Number of the VM in this process.
    ///
    ///     RubyVM.current.id == RubyVM.current.id  #=> true
    #[method("id")]
    fn id(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(cx.data_ref::<VmHandle>(this)?.identity().id as i64)
    }

    /// The name.
    ///
    ///     RubyVM.new("c", "-e", "1").name  #=> "c"
    #[method("name")]
    fn name(cx: &mut Cx, this: Value) -> Result<String> {
        Ok(cx.data_ref::<VmHandle>(this)?.identity().name.to_string())
    }

    /// Whether it was started and has not ended.
    ///
    ///     RubyVM.new("d", "-e", "1").alive?  #=> false
    #[method("alive?")]
    fn alive(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.data_ref::<VmHandle>(this)?.identity().is_alive())
    }

    /// Exit status of a VM that has ended, as of a process; nil before.
    ///
    ///     RubyVM.new("e", "-e", "1").start.join.status  #=> 0
    #[method("status")]
    fn status(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
        Ok(control(cx, this, "status")?.end().map(|e| e.status() as i64))
    }

    /// Ends the VM at its next safepoint or wait. `ensure` clauses run for the grace time, `grace:` seconds or what the VM was made with (1 s unless
    /// given); then it is stopped where it stands. Doesn't wait for the end: see `join`.
    ///
    ///     v = RubyVM.new("f", "-e", "loop {}").start; v.kill; (v.join rescue $!.message)  #=> "VM f: killed"
    ///     v = RubyVM.fork(name: "g") { begin; sleep; ensure; loop {} end }; v.kill(grace: 0); (v.join rescue $!.message)  #=> "VM g: killed"
    #[method("kill")]
    fn kill(cx: &mut Cx, this: Value, kw: Kwargs) -> Result<Value> {
        let grace = Sym::intern("grace");
        kw.only(cx, &[grace])?;
        let within = seconds(cx, kw, grace)?;
        let control = control(cx, this, "kill")?;
        match within {
            Some(d) => control.kill_within(d),
            None => control.kill(),
        }
        Ok(this)
    }

    /// The VM that runs this code.
    ///
    ///     RubyVM.current.alive?  #=> true
    #[method("current", singleton)]
    fn current(cx: &mut Cx, _this: Value) -> Result<Value> {
        let control = cx.host_handle()?.control;
        Ok(cx.data(ids::RUBY_VM, VmHandle::Power(control)))
    }

    /// Whether it is the VM that runs this code: as a comparison with `RubyVM.current`, without making that.
    ///
    ///     RubyVM.current.__current?  #=> true
    #[method("__current?")]
    fn is_current(cx: &mut Cx, this: Value) -> Result<bool> {
        let id = cx.data_ref::<VmHandle>(this)?.identity().id;
        Ok(cx.host.as_ref().is_some_and(|host| host.control.id == id))
    }

    /// A number that no other VM has, nor this one in another process: what has connections or threads knows by it whether they are its own still.
    ///
    ///     here = RubyVM.__here; [RubyVM.__here == here, RubyVM.fork { RubyVM.__here }.value == here]   #=> [true, false]
    #[method("__here", singleton)]
    fn here(cx: &mut Cx, _this: Value) -> Result<i64> {
        let id = cx.host_handle()?.control.id;
        Ok((id as i64 & 0xff_ffff_ffff) << 22 | std::process::id() as i64 & 0x3f_ffff)
    }

    /// Runs the block. Errors that come from outside, of other threads or traps, wait meanwhile for the next `__job`.
    #[method("__shielded", singleton)]
    fn shielded(cx: &mut Cx, _this: Value, block: Block) -> Result<Value> {
        worked_with::begin(cx);
        cx.shielded(|cx| cx.yield_values(block, &[]))
    }

    /// Within `__shielded`: calls a Proc with an object. Errors from outside arrive there. The VM ends if it has changed what the program around it works with.
    #[method("__job", singleton)]
    fn job(cx: &mut Cx, _this: Value, job: Ref<ProcCell>, object: Value) -> Result<Value> {
        let r = cx.job(|cx| cx.call_proc(job, &[object], false, Block::NONE));
        worked_with::check(cx)?;
        r
    }

    /// Registers a block that this VM runs after its `at_exit` blocks, while its threads still run.
    #[method("__at_end", singleton)]
    fn run_at_end(cx: &mut Cx, _this: Value, block: Block) -> Result<()> {
        if block.is_none() {
            return cx.arg_error("called without a block");
        }
        let p = cx.block_to_proc(block).as_value();
        cx.at_exit.insert(0, p);
        Ok(())
    }

    /// Handles of the same VM are equal.
    ///
    ///     RubyVM.current == RubyVM.current  #=> true
    #[method("==", "eql?")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if !cx.is_data::<VmHandle>(other) {
            return Ok(false);
        }
        Ok(cx.data_ref::<VmHandle>(this)?.identity().id == cx.data_ref::<VmHandle>(other)?.identity().id)
    }

    /// Equal for handles of the same VM.
    ///
    ///     RubyVM.current.hash == RubyVM.current.hash  #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Value) -> Result<Value> {
        let id = cx.data_ref::<VmHandle>(this)?.identity().id;
        Ok(cx.shown_hash(equality::combine(&[id])))
    }

    /// Name and state.
    ///
    ///     RubyVM.new("g", "-e", "1").inspect  #=> "#<RubyVM: g new>"
    #[method("inspect", "to_s")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<String> {
        let i = cx.data_ref::<VmHandle>(this)?.identity();
        let state = match () {
            () if !i.has_started() => "new",
            () if i.has_ended() => "ended",
            () => "running",
        };
        Ok(format!("#<RubyVM: {} {state}>", i.name))
    }
}
