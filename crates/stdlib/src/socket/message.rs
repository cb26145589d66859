//! sendmsg(2) and recvmsg(2), with the data beside the data (descriptors, packet addresses).

use super::{Address, binary, descriptor, finish, patience};
use zakuro_core_system::io::cwd;
use zakuro_core_system::io::object;
use zakuro_core_system::io::wait;
use zakuro_macros::ruby_class;
use zakuro_sched::{READABLE, WRITABLE};
use zakuro_vm::*;

const HEAD: usize = size_of::<libc::cmsghdr>();

fn aligned(n: usize) -> usize {
    n.next_multiple_of(align_of::<libc::cmsghdr>())
}

/// Control messages as the kernel wants them: (level, type, data) each.
fn pack(controls: &[(i32, i32, Vec<u8>)]) -> Vec<u64> {
    let mut b: Vec<u8> = Vec::new();
    for (level, kind, data) in controls {
        b.extend_from_slice(&(aligned(HEAD) + data.len()).to_ne_bytes());
        b.extend_from_slice(&level.to_ne_bytes());
        b.extend_from_slice(&kind.to_ne_bytes());
        b.resize(aligned(b.len()), 0);
        b.extend_from_slice(data);
        b.resize(aligned(b.len()), 0);
    }
    // Words: the kernel's structures are aligned.
    b.chunks(8).map(|c| u64::from_ne_bytes(std::array::from_fn(|i| c.get(i).copied().unwrap_or(0)))).collect()
}

/// The reverse.
fn unpack(mut b: &[u8]) -> Vec<(i32, i32, Vec<u8>)> {
    let mut found = Vec::new();
    while b.len() >= HEAD {
        let len = usize::from_ne_bytes(std::array::from_fn(|i| b[i]));
        let level = i32::from_ne_bytes(std::array::from_fn(|i| b[8 + i]));
        let kind = i32::from_ne_bytes(std::array::from_fn(|i| b[12 + i]));
        if len < HEAD {
            break;
        }
        found.push((level, kind, b[aligned(HEAD)..len.min(b.len())].to_vec()));
        b = &b[aligned(len).min(b.len())..];
    }
    found
}

/// Methods of `BasicSocket`.
#[ruby_class(ids::OBJECT)]
pub mod basic {
    use super::*;

    /// sendmsg(2). `controls`: Array of [level, type, data]. The number of bytes, or :wait_writable
    #[method("__sendmsg", private)]
    fn sendmsg(
        cx: &mut Cx,
        this: Value,
        text: Ref<StringCell>,
        flags: i64,
        to: Value,
        controls: Ref<ArrayCell>,
        wait: bool,
    ) -> Result<Value> {
        object::flush(cx, this)?;
        let patience = patience(cx, this, wait)?;
        let to = if to.is_nil() { Vec::new() } else { cx.to_str(to)?.to_vec() };
        let mut list = Vec::new();
        let mut i = 0;
        while let Some(c) = controls.get(i) {
            let c = cx.to_ary(c)?;
            let at = |n| c.get(n).unwrap_or(Value::NIL);
            let (level, kind, data) = (cx.to_i64(at(0))?, cx.to_i64(at(1))?, cx.to_str(at(2))?);
            list.push((level as i32, kind as i32, data.to_vec()));
            i += 1;
        }
        let length: usize = list.iter().map(|(_, _, d)| aligned(HEAD) + aligned(d.len())).sum();
        let control = pack(&list);
        let directory = cwd::dirfd(cx);
        let flags = flags as i32 | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        let text = Held::of(text);
        let called = wait::on_socket(
            cx,
            this,
            WRITABLE,
            patience,
            |_| false,
            |fd| {
                let b = &text[..];
                let send = |to: &[u8]| {
                    let mut part = libc::iovec { iov_base: b.as_ptr() as *mut _, iov_len: b.len() };
                    // SAFETY: a zeroed msghdr is valid; what is put into it lives through the call, which only reads it.
                    unsafe {
                        let mut m: libc::msghdr = std::mem::zeroed();
                        if !to.is_empty() {
                            m.msg_name = to.as_ptr() as *mut _;
                            m.msg_namelen = to.len() as libc::socklen_t;
                        }
                        m.msg_iov = &mut part;
                        m.msg_iovlen = 1;
                        if !control.is_empty() {
                            m.msg_control = control.as_ptr() as *mut _;
                            m.msg_controllen = length as _;
                        }
                        libc::sendmsg(fd, &m, flags)
                    }
                };
                crate::socket::path::with_address(directory, &to, send)
            },
        )?;
        match finish(cx, called, "wait_writable", "sendmsg(2)")? {
            Ok(n) => Ok(cx.int(n as i64)),
            Err(later) => Ok(later),
        }
    }
    /// recvmsg(2): [text, address, flags, [[level, type, data], ...]], or :wait_readable. `max` nil: the whole datagram, or what a stream has.
    #[method("__recvmsg", private)]
    fn recvmsg(cx: &mut Cx, this: Value, max: Value, flags: i64, max_control: i64, wait: bool) -> Result<Value> {
        if !object::reader(cx, this)?.buffered().is_empty() {
            return cx.raise(ids::IO_ERROR, "recvmsg for buffered IO");
        }
        descriptor(cx, this)?;
        let patience = patience(cx, this, wait)?;
        let whole = max.is_nil();
        let room = if whole { 65536 } else { usize::try_from(cx.to_i64(max)?).unwrap_or(0).min(1 << 26) };
        let control_room = (max_control.clamp(0, 1 << 20) as usize).div_ceil(8);
        let mut a = Address::new();
        let (mut got, mut control, mut said) = (Vec::new(), Vec::new(), 0);
        let called = wait::on_socket(
            cx,
            this,
            READABLE,
            patience,
            |_| false,
            |fd| {
                let mut b = Vec::<u8>::with_capacity(room);
                let mut c = vec![0u64; control_room];
                let mut part = libc::iovec { iov_base: b.as_mut_ptr().cast(), iov_len: room };
                // SAFETY: a zeroed msghdr is valid; the kernel writes into memory that lives through the call, and says how much.
                unsafe {
                    let mut m: libc::msghdr = std::mem::zeroed();
                    m.msg_name = a.bytes.as_mut_ptr().cast();
                    m.msg_namelen = 128;
                    m.msg_iov = &mut part;
                    m.msg_iovlen = 1;
                    m.msg_control = c.as_mut_ptr().cast();
                    m.msg_controllen = (control_room * 8) as _;
                    let n = libc::recvmsg(fd, &mut m, flags as i32 | libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC);
                    b.set_len((n.max(0) as usize).min(room));
                    if n >= 0 {
                        a.len = m.msg_namelen;
                        said = m.msg_flags & !libc::MSG_CMSG_CLOEXEC;
                        control = c.iter().flat_map(|w| w.to_ne_bytes()).take(m.msg_controllen as usize).collect();
                    }
                    got = b;
                    n
                }
            },
        )?;
        if let Err(later) = finish(cx, called, "wait_readable", "recvmsg(2)")? {
            return Ok(later);
        }
        let text = binary(cx, &got);
        let address = if a.len == 0 { Value::NIL } else { binary(cx, a.get()) };
        let list = cx.new_array();
        for (level, kind, data) in unpack(&control) {
            let data = binary(cx, &data);
            let entry = cx.array(&[Value::fixnum(level as i64), Value::fixnum(kind as i64), data]);
            ArrayCell::push(list, &mut cx.heap, entry);
        }
        Ok(cx.array(&[text, address, Value::fixnum(said as i64), list.as_value()]))
    }
}
