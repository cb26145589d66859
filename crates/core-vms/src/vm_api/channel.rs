//! RubyVM::Channel: a queue of messages between VMs. The handle can be sent through channels itself.

use zakuro_core_collections::enumerator::EnumeratorExt;
use std::hint::black_box;
use std::time::{Duration, Instant};
use zakuro_channel::{Bounds, Channel, TryRecv, TrySendError};
use crate::thread::interrupt::unmasked;
use zakuro_macros::ruby_class;
pub use zakuro_vm::channels::ChannelHandle;
use zakuro_vm::channels::{RecvOutcome, SendOutcome, Shows};
use zakuro_vm::transfer::Envelope;
use zakuro_vm::*;

/// The channel of an object. TypeError when it is something else. The caller keeps `v` alive.
#[inline]
pub fn channel_of(cx: &mut Cx, v: Value) -> Result<&'static Channel<Envelope>> {
    if let Some(d) = Ref::<DataCell>::from_value(v) {
        // SAFETY: as in `data_ref`.
        if let Some(handle) = unsafe { (*d.as_ptr()).get::<ChannelHandle>() } {
            return Ok(&handle.0);
        }
    }
    no_channel(cx, v)
}
#[cold]
fn no_channel(cx: &mut Cx, v: Value) -> Result<&'static Channel<Envelope>> {
    if v.is_kind(Kind::Data) && cx.is_a(v, ids::CHANNEL) {
        // An uninitialised one: this raises.
        cx.data_ref::<ChannelHandle>(v)?;
    }
    cx.wrong_receiver(v, "RubyVM::Channel")
}

/// `timeout:` as an instant; None: wait for ever.
#[inline]
pub fn deadline(cx: &mut Cx, kw: Kwargs) -> Result<Option<Instant>> {
    if kw.is_none() {
        return Ok(None);
    }
    kw.only(cx, &[sym::timeout])?;
    instant(cx, kw)
}
fn instant(cx: &mut Cx, kw: Kwargs) -> Result<Option<Instant>> {
    match kw.get(sym::timeout) {
        None | Some(Value::NIL) => Ok(None),
        Some(v) => {
            let seconds = cx.to_f64(v)?;
            if seconds.is_nan() {
                return cx.arg_error("time interval must not be NaN");
            }
            if seconds < 0.0 {
                return cx.arg_error("time interval must not be negative");
            }
            // More than 30 years, and Infinity, are for ever.
            Ok((seconds < 1e9).then(|| Instant::now() + Duration::from_secs_f64(seconds)))
        }
    }
}

#[inline]
fn send_copy(cx: &mut Cx, this: Value, object: Value, until: Option<Instant>) -> Result<Value> {
    let ch = channel_of(cx, this)?;
    // Packing may cost much, or call Ruby; a value that is no cell costs nothing.
    if object.is_cell() && ch.is_closed() {
        return closed(cx);
    }
    let envelope = cx.pack(object)?;
    let outcome = cx.channel_send(ch, envelope, until);
    black_box(this);
    match outcome? {
        SendOutcome::Sent => Ok(this),
        SendOutcome::Closed => closed(cx),
        SendOutcome::TimedOut => Ok(Value::NIL),
    }
}

/// See `__send_numbered`.
struct Numbered(i64);

fn send_moving(cx: &mut Cx, this: Value, object: Value, until: Option<Instant>) -> Result<Value> {
    let ch = channel_of(cx, this)?;
    if object.is_cell() && ch.is_closed() {
        return closed(cx);
    }
    let (envelope, moving) = cx.pack_moving(object)?;
    let outcome = cx.channel_send(ch, envelope, until);
    black_box(this);
    match outcome? {
        SendOutcome::Sent => {
            cx.finish_move(moving)?;
            Ok(this)
        }
        SendOutcome::Closed => closed(cx),
        SendOutcome::TimedOut => Ok(Value::NIL),
    }
}

fn positive(cx: &mut Cx, v: Value, message: &str) -> Result<usize> {
    match usize::try_from(cx.to_i64(v)?) {
        Ok(n) if n > 0 => Ok(n),
        _ => cx.arg_error(message),
    }
}

#[cold]
fn closed<T>(cx: &mut Cx) -> Result<T> {
    cx.raise(ids::CLOSED_CHANNEL_ERROR, "the channel is closed")
}

/// Waits for a message. None: the channel is closed and empty, or the time is over.
fn next_message(cx: &mut Cx, this: Value, until: Option<Instant>) -> Result<Option<Value>> {
    let outcome = channel_of(cx, this).and_then(|ch| cx.channel_recv(ch, until));
    black_box(this);
    match outcome? {
        RecvOutcome::Got(e) => Ok(Some(cx.open(e)?)),
        RecvOutcome::Closed | RecvOutcome::TimedOut => Ok(None),
    }
}

#[ruby_class(ids::CHANNEL)]
pub mod channel_class {
    use super::*;

    /// A new channel. `Channel.new(n)` holds at most `n` messages, `bytes:` limits what the queued ones may weigh together: then senders
    /// wait. One message above the limit passes when the channel is empty. `name:` is what reports call it.
    ///
    ///     RubyVM::Channel.new.size  #=> 0
    ///     c = RubyVM::Channel.new(2, bytes: 1000); [c.try_send("x" * 600), c.try_send("x" * 600)]  #=> [true, false]
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, bound: Option<Value>, kw: Kwargs) -> Result<()> {
        let bytes = Sym::intern("bytes");
        kw.only(cx, &[bytes, sym::name])?;
        let mut bounds = Bounds::NONE;
        if let Some(n) = bound.filter(|v| *v != Value::NIL) {
            bounds.messages = positive(cx, n, "bound must be positive")?;
        }
        if let Some(n) = kw.get(bytes).filter(|v| *v != Value::NIL) {
            bounds.bytes = positive(cx, n, "bytes must be positive")?;
        }
        let name = match kw.get(sym::name).filter(|v| !v.is_nil()) {
            Some(name) => Some(cx.text_of(name)?),
            None => None,
        };
        let channel = cx.make_channel(bounds, name.as_deref());
        cx.data_init(this, ChannelHandle(channel, Shows::Always))
    }

    /// A channel with a name that ObjectSpace does not show: whoever is not given it does not find it.
    #[method("__hidden", singleton)]
    fn hidden(cx: &mut Cx, _this: Value, name: Value) -> Result<Value> {
        let name = cx.text_of(name)?;
        let channel = cx.make_channel(Bounds::NONE, Some(&name));
        Ok(cx.data(ids::CHANNEL, ChannelHandle(channel, Shows::Never)))
    }

    /// The channel inside a handle of one through a server, called `name`.
    #[method("__remote", singleton)]
    fn remote(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let name = cx.text_of(name)?;
        let channel = cx.make_remote_channel(&name);
        let Some(class) = cx.class_id(this) else { return cx.type_error("not a class") };
        Ok(cx.data(class, ChannelHandle(channel, Shows::Always)))
    }

    /// A message is about to go to the server: what `__handed_over` wants; nil where nobody counts.
    #[method("__hand_over")]
    fn hand_over(cx: &mut Cx, this: Value) -> Result<Option<usize>> {
        let channel = channel_of(cx, this)?.clone();
        Ok(cx.begin_to_hand_over(&channel).map(|before| before as usize))
    }

    /// The server has it, of so many bytes, or not (nil).
    #[method("__handed_over")]
    fn handed_over(cx: &mut Cx, this: Value, before: i64, bytes: Option<i64>) -> Result<()> {
        let channel = channel_of(cx, this)?.clone();
        cx.handed_over(&channel, before.max(0) as u64, bytes.map(|n| n.clamp(0, i64::from(u32::MAX)) as usize));
        Ok(())
    }

    /// A message of the server was received, of so many bytes.
    #[method("__received")]
    fn received(cx: &mut Cx, this: Value, bytes: i64) -> Result<()> {
        let channel = channel_of(cx, this)?.clone();
        cx.received_remotely(&channel, bytes.clamp(0, i64::from(u32::MAX)) as usize);
        Ok(())
    }

    /// The name that it was made with, by which reports call it; or nil.
    ///
    ///     RubyVM::Channel.new(name: "jobs").name  #=> "jobs"
    #[method("name")]
    fn name(cx: &mut Cx, this: Value) -> Result<Option<String>> {
        Ok(channel_of(cx, this)?.record().and_then(|r| r.name.as_deref()).map(String::from))
    }

    /// A copy is another handle of the same channel.
    ///
    ///     c = RubyVM::Channel.new; c.dup << 1; c.recv  #=> 1
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        channel_of(cx, other)?;
        let handle = cx.data_ref::<ChannelHandle>(other)?;
        let copy = ChannelHandle(handle.0.clone(), handle.1);
        cx.data_init(this, copy)?;
        Ok(this)
    }

    /// Sends a copy of the object to whoever receives next; large Strings are shared, not copied. Waits while a bounded channel is full.
    /// TypeError naming the path when something in it can't be sent; then nothing is sent. With `timeout:` nil when there was no room in time.
    /// With `move: true` buffers are handed over and what could be changed becomes a Ractor::MovedObject here.
    ///
    ///     c = RubyVM::Channel.new; c.send([1, "two"]); c.recv  #=> [1, "two"]
    ///     c = RubyVM::Channel.new(1); c << 1; c.send(2, timeout: 0)  #=> nil
    #[method("send", "push")]
    fn send(cx: &mut Cx, this: Value, object: Value, kw: Kwargs) -> Result<Value> {
        if kw.is_none() {
            return send_copy(cx, this, object, None);
        }
        let move_ = Sym::intern("move");
        kw.only(cx, &[sym::timeout, move_])?;
        let until = instant(cx, kw)?;
        let moves = kw.get(move_).is_some_and(Value::truthy);
        if moves { send_moving(cx, this, object, until) } else { send_copy(cx, this, object, until) }
    }

    /// Sends if that needs no wait. Whether it did.
    ///
    ///     c = RubyVM::Channel.new(1); [c.try_send(1), c.try_send(2)]  #=> [true, false]
    #[method("try_send")]
    fn try_send(cx: &mut Cx, this: Value, object: Value) -> Result<bool> {
        let ch = channel_of(cx, this)?;
        if ch.has_room(0) == Some(false) {
            return Ok(false);
        }
        if object.is_cell() && ch.is_closed() {
            return closed(cx);
        }
        let envelope = cx.pack(object)?;
        let mut envelope = cx.weighed(envelope);
        cx.note_sent(ch, &mut envelope);
        let outcome = ch.try_send(envelope);
        black_box(this);
        match outcome {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(_)) => Ok(false),
            Err(TrySendError::Closed(_)) => closed(cx),
        }
    }

    /// `send` that can be chained.
    ///
    ///     c = RubyVM::Channel.new; c << 1 << 2; [c.recv, c.recv]  #=> [1, 2]
    #[method("<<")]
    fn push_op(cx: &mut Cx, this: Value, object: Value) -> Result<Value> {
        send_copy(cx, this, object, None)
    }

    /// The next message; waits for one. As of a Queue, nil when the channel is closed and empty, and with `timeout:` when none came in time.
    ///
    ///     c = RubyVM::Channel.new; c << 1; c.close; [c.recv, c.recv]  #=> [1, nil]
    #[method("recv", "receive", "pop", "shift")]
    fn recv(cx: &mut Cx, this: Value, kw: Kwargs) -> Result<Value> {
        let until = deadline(cx, kw)?;
        Ok(next_message(cx, this, until)?.unwrap_or(Value::NIL))
    }

    /// `recv` for those to whom nil is a message like others: RubyVM::ClosedError when the channel is closed and empty.
    #[method("__recv", private)]
    fn recv_or_closed(cx: &mut Cx, this: Value) -> Result<Value> {
        match next_message(cx, this, None)? {
            Some(v) => Ok(v),
            None => closed(cx),
        }
    }

    /// The next message if there is one, else nil. Never waits.
    ///
    ///     RubyVM::Channel.new.try_recv  #=> nil
    #[method("try_recv")]
    fn try_recv(cx: &mut Cx, this: Value) -> Result<Value> {
        let ch = channel_of(cx, this)?;
        let outcome = ch.try_recv();
        black_box(this);
        match outcome {
            TryRecv::Got(e) => {
                cx.note_received(ch, &e);
                cx.open(e)
            }
            TryRecv::Empty | TryRecv::Closed => Ok(Value::NIL),
        }
    }

    /// Within a block of `handle_interrupt(Object => :never)`: `<<` of a message with a number, by which `__take` knows it. Returns the exception that says why it can't be sent, else nil. An
    /// interrupt may come while it is packed, which may run the program's code; then it is not sent.
    #[method("__send_numbered", private)]
    fn send_numbered(cx: &mut Cx, this: Value, object: Value, number: i64) -> Result<Value> {
        let ch = channel_of(cx, this)?;
        if ch.is_closed() {
            return closed(cx);
        }
        let mut envelope = match cx.attempt(|cx| unmasked(cx, |cx| cx.pack(object)))? {
            Ok(envelope) => envelope,
            Err(e) => return Ok(e),
        };
        envelope.attach(Box::new(Numbered(number)));
        let outcome = cx.channel_send(ch, envelope, None);
        black_box(this);
        match outcome? {
            SendOutcome::Sent | SendOutcome::TimedOut => Ok(Value::NIL),
            SendOutcome::Closed => closed(cx),
        }
    }

    /// Takes a message: the number of one that has a number, which is not opened (that may run a program's code, for as long as it likes); any other one in an Array. nil: there is none.
    #[method("__take", private)]
    fn take(cx: &mut Cx, this: Value) -> Result<Value> {
        let ch = channel_of(cx, this)?;
        let outcome = ch.try_recv();
        black_box(this);
        let TryRecv::Got(mut message) = outcome else { return Ok(Value::NIL) };
        cx.note_received(ch, &message);
        while let Some(attached) = message.detach() {
            if let Some(Numbered(number)) = attached.downcast_ref() {
                return Ok(cx.int(*number));
            }
        }
        let value = cx.open(message)?;
        Ok(cx.array(&[value]))
    }

    /// Receives until the channel is closed and empty.
    ///
    ///     c = RubyVM::Channel.new; c << 1 << 2; c.close; a = []; c.each { a << _1 }; a  #=> [1, 2]
    #[method("each")]
    fn each(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.enumerator(this, "each", &[]);
        }
        while let Some(message) = next_message(cx, this, None)? {
            cx.yield1(block, message)?;
        }
        Ok(this)
    }

    /// Closes the channel: what is queued can still be received, sending raises RubyVM::ClosedError.
    ///
    ///     c = RubyVM::Channel.new; c.close; c.closed?  #=> true
    #[method("close")]
    fn close(cx: &mut Cx, this: Value) -> Result<Value> {
        channel_of(cx, this)?.close();
        Ok(this)
    }

    /// Whether `close` was called.
    ///
    ///     RubyVM::Channel.new.closed?  #=> false
    #[method("closed?")]
    fn is_closed(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(channel_of(cx, this)?.is_closed())
    }

    /// Number of queued messages.
    ///
    ///     c = RubyVM::Channel.new; c << 1; c.size  #=> 1
    #[method("size", "length")]
    fn size(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(channel_of(cx, this)?.len())
    }

    /// Whether no message is queued.
    ///
    ///     RubyVM::Channel.new.empty?  #=> true
    #[method("empty?")]
    fn is_empty(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(channel_of(cx, this)?.len() == 0)
    }

    /// Number of VMs that wait in `recv` or `send`.
    ///
    ///     RubyVM::Channel.new.num_waiting  #=> 0
    #[method("num_waiting")]
    fn num_waiting(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(channel_of(cx, this)?.waiting())
    }

    /// Payload bytes of the queued messages.
    ///
    ///     c = RubyVM::Channel.new; c << "x" * 1000; c.queued_bytes >= 1000  #=> true
    #[method("queued_bytes")]
    fn queued_bytes(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(channel_of(cx, this)?.queued_bytes())
    }

    /// Handles of the same channel are equal, also in different VMs.
    ///
    ///     c = RubyVM::Channel.new; d = RubyVM::Channel.new; d << c; d.recv == c  #=> true
    #[method("==", "eql?")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if !cx.is_data::<ChannelHandle>(other) {
            return Ok(false);
        }
        Ok(channel_of(cx, this)?.same(channel_of(cx, other)?))
    }

    /// Equal for handles of the same channel.
    ///
    ///     c = RubyVM::Channel.new; c.hash == c.hash  #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Value) -> Result<Value> {
        let id = channel_of(cx, this)?.id();
        Ok(cx.shown_hash(equality::combine(&[id])))
    }

    /// The channel's number in the process and its state.
    #[method("inspect", "to_s")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<String> {
        let ch = channel_of(cx, this)?;
        let state = if ch.is_closed() { " closed" } else { "" };
        Ok(format!("#<RubyVM::Channel:{} size={}{state}>", ch.id(), ch.len()))
    }
}
