//! RubyVM::Channel: a queue of messages between VMs. The handle can be sent through channels itself.

use std::time::{Duration, Instant};
use zakuro_channel::{Channel, TryRecv};
use zakuro_macros::ruby_class;
use zakuro_vm::host::RecvOutcome;
use zakuro_vm::transfer::{Envelope, Moving};
use zakuro_vm::*;

/// Payload of a Channel object.
pub struct ChannelHandle(pub Channel<Envelope>);

impl NativeData for ChannelHandle {
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(ChannelHandle(self.0.clone())))
    }
    fn is_handle(&self) -> bool {
        true
    }
}

/// `timeout:` as an instant; None: wait for ever.
pub fn deadline(cx: &mut Cx, kw: Kwargs) -> Result<Option<Instant>> {
    kw.only(cx, &[sym::timeout])?;
    instant(cx, kw)
}
fn instant(cx: &mut Cx, kw: Kwargs) -> Result<Option<Instant>> {
    match kw.get(sym::timeout) {
        None | Some(Value::NIL) => Ok(None),
        Some(v) => {
            let seconds = cx.to_f64(v)?;
            if !(0.0..=1e12).contains(&seconds) {
                return cx.arg_error("time interval must not be negative");
            }
            Ok(Some(Instant::now() + Duration::from_secs_f64(seconds.min(1e9))))
        }
    }
}

fn closed<T>(cx: &mut Cx) -> Result<T> {
    cx.raise(ids::CLOSED_CHANNEL_ERROR, "the channel is closed")
}

#[ruby_class(ids::CHANNEL)]
pub mod channel_class {
    use super::*;

    /// A new channel; `Channel.new(n)` holds at most `n` messages, then senders wait.
    ///
    ///     RubyVM::Channel.new.size  #=> 0
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, bound: Option<i64>) -> Result<()> {
        let ch = match bound {
            None => Channel::unbounded(),
            Some(n) if n >= 1 => Channel::bounded(n as usize),
            Some(_) => return cx.arg_error("bound must be positive"),
        };
        cx.data_init(this, ChannelHandle(ch))
    }

    /// Sends a copy of the object to whoever receives next; large Strings are shared, not copied. Waits while a bounded channel is full.
    /// TypeError naming the path when something in it can't be sent; then nothing is sent. With `timeout:` nil when there was no room in time.
    /// With `move: true` buffers are handed over and what could be changed becomes a Ractor::MovedObject here.
    ///
    ///     c = RubyVM::Channel.new; c.send([1, "two"]); c.recv  #=> [1, "two"]
    #[method("send", "push")]
    fn send(cx: &mut Cx, this: Value, object: Value, kw: Kwargs) -> Result<Value> {
        let move_ = Sym::intern("move");
        kw.only(cx, &[sym::timeout, move_])?;
        let until = instant(cx, kw)?;
        let moves = kw.get(move_).is_some_and(Value::truthy);
        let ch = cx.data_ref::<ChannelHandle>(this)?.0.clone();
        if ch.is_closed() {
            return closed(cx);
        }
        let (envelope, moving) = if moves { cx.pack_moving(object)? } else { (cx.pack(object)?, Moving::default()) };
        match cx.channel_send(&ch, envelope, until)? {
            Some(true) => {
                cx.finish_move(moving)?;
                Ok(this)
            }
            Some(false) => closed(cx),
            None => Ok(Value::NIL),
        }
    }

    /// `send` that can be chained.
    ///
    ///     c = RubyVM::Channel.new; c << 1 << 2; [c.recv, c.recv]  #=> [1, 2]
    #[method("<<")]
    fn push_op(cx: &mut Cx, this: Value, object: Value) -> Result<Value> {
        send(cx, this, object, Kwargs(None))
    }

    /// The next message; waits for one. With `timeout:` nil when none came in time. A closed and empty channel raises RubyVM::ClosedError.
    ///
    ///     RubyVM::Channel.new.recv(timeout: 0)  #=> nil
    #[method("recv", "receive", "pop", "shift")]
    fn recv(cx: &mut Cx, this: Value, kw: Kwargs) -> Result<Value> {
        let until = deadline(cx, kw)?;
        let ch = cx.data_ref::<ChannelHandle>(this)?.0.clone();
        match cx.channel_recv(&ch, until)? {
            RecvOutcome::Got(e) => cx.open(e),
            RecvOutcome::Closed => closed(cx),
            RecvOutcome::TimedOut => Ok(Value::NIL),
        }
    }

    /// The next message if there is one, else nil. Never waits.
    ///
    ///     RubyVM::Channel.new.try_recv  #=> nil
    #[method("try_recv")]
    fn try_recv(cx: &mut Cx, this: Value) -> Result<Value> {
        let ch = cx.data_ref::<ChannelHandle>(this)?.0.clone();
        match ch.try_recv() {
            TryRecv::Got(e) => cx.open(e),
            TryRecv::Empty => Ok(Value::NIL),
            TryRecv::Closed => closed(cx),
        }
    }

    /// Receives until the channel is closed and empty.
    ///
    ///     c = RubyVM::Channel.new; c << 1 << 2; c.close; a = []; c.each { a << _1 }; a  #=> [1, 2]
    #[method("each")]
    fn each(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        let ch = cx.data_ref::<ChannelHandle>(this)?.0.clone();
        loop {
            match cx.channel_recv(&ch, None)? {
                RecvOutcome::Got(e) => {
                    let v = cx.open(e)?;
                    cx.yield1(block, v)?;
                }
                _ => return Ok(this),
            }
        }
    }

    /// Closes the channel: what is queued can still be received, sending raises RubyVM::ClosedError.
    ///
    ///     c = RubyVM::Channel.new; c.close; c.closed?  #=> true
    #[method("close")]
    fn close(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.data_ref::<ChannelHandle>(this)?.0.close();
        Ok(this)
    }

    /// Whether `close` was called.
    ///
    ///     RubyVM::Channel.new.closed?  #=> false
    #[method("closed?")]
    fn is_closed(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.data_ref::<ChannelHandle>(this)?.0.is_closed())
    }

    /// Number of queued messages.
    ///
    ///     c = RubyVM::Channel.new; c << 1; c.size  #=> 1
    #[method("size", "length")]
    fn size(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(cx.data_ref::<ChannelHandle>(this)?.0.len())
    }

    /// Whether no message is queued.
    ///
    ///     RubyVM::Channel.new.empty?  #=> true
    #[method("empty?")]
    fn is_empty(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.data_ref::<ChannelHandle>(this)?.0.len() == 0)
    }

    /// Number of VMs that wait in `recv` or `send`.
    ///
    ///     RubyVM::Channel.new.num_waiting  #=> 0
    #[method("num_waiting")]
    fn num_waiting(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(cx.data_ref::<ChannelHandle>(this)?.0.waiting())
    }

    /// Payload bytes of the queued messages.
    ///
    ///     c = RubyVM::Channel.new; c << "x" * 1000; c.queued_bytes >= 1000  #=> true
    #[method("queued_bytes")]
    fn queued_bytes(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(cx.data_ref::<ChannelHandle>(this)?.0.queued_bytes())
    }

    /// Handles of the same channel are equal, also in different VMs.
    ///
    ///     c = RubyVM::Channel.new; d = RubyVM::Channel.new; d << c; d.recv == c  #=> true
    #[method("==", "eql?")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if !cx.is_data::<ChannelHandle>(other) {
            return Ok(false);
        }
        Ok(cx.data_ref::<ChannelHandle>(this)?.0.same(&cx.data_ref::<ChannelHandle>(other)?.0))
    }

    /// Equal for handles of the same channel.
    ///
    ///     c = RubyVM::Channel.new; c.hash == c.hash  #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok((cx.data_ref::<ChannelHandle>(this)?.0.id() as i64).wrapping_mul(0x9e37_79b9) >> 1)
    }

    /// The channel's number in the process and its state.
    #[method("inspect", "to_s")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<String> {
        let ch = &cx.data_ref::<ChannelHandle>(this)?.0;
        let state = if ch.is_closed() { " closed" } else { "" };
        Ok(format!("#<RubyVM::Channel:{} size={}{state}>", ch.id(), ch.len()))
    }
}
