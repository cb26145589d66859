//! Names and addresses: getaddrinfo(3), getnameinfo(3), services, interfaces.

use super::{binary, errno};
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use zakuro_core_system::io::fail;
use zakuro_core_system::io::wait::wait_timeout;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Look-ups of a VM that run at a time; more wait for their turn.
const AT_A_TIME: usize = 16;

/// Look-ups that run. Counted down by their native threads, which may outlive the call that started them.
#[derive(Trace, Default)]
struct Running(#[untraced] Arc<AtomicUsize>);
impl VmState for Running {}

/// Runs `f`, which may take long, on a native thread of its own, while the Ruby thread waits and can be interrupted. IO::TimeoutError after some seconds.
fn aside<T: Send + 'static>(cx: &mut Cx, seconds: Option<f64>, f: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    if cx.host.is_none() {
        return Ok(f());
    }
    let running = cx.state::<Running>().0.clone();
    while running.load(Ordering::Relaxed) >= AT_A_TIME {
        cx.sleep(Some(std::time::Duration::from_millis(1)))?;
    }
    // SAFETY: a new descriptor, which the guard owns from here on.
    let event = unsafe {
        match libc::eventfd(0, libc::EFD_CLOEXEC) {
            -1 => return fail(cx, errno(), "eventfd(2)"),
            fd => Arc::new(OwnedFd::from_raw_fd(fd)),
        }
    };
    let result = Arc::new(Mutex::new(None));
    running.fetch_add(1, Ordering::Relaxed);
    let (to, done, count) = (result.clone(), event.clone(), running.clone());
    let work = move || {
        let r = f();
        *to.lock().unwrap_or_else(|e| e.into_inner()) = Some(r);
        count.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: eight bytes to an eventfd that this thread holds.
        unsafe { libc::write(done.as_raw_fd(), 1u64.to_ne_bytes().as_ptr().cast(), 8) };
    };
    let thread = zakuro_base::memory::admits_thread(256 << 10)
        .and_then(|()| std::thread::Builder::new().name("zakuro-resolve".into()).stack_size(256 << 10).spawn(work));
    if thread.is_err() {
        running.fetch_sub(1, Ordering::Relaxed);
        return fail(cx, libc::EAGAIN, "no thread to look names up");
    }
    loop {
        if wait_timeout(cx, event.as_raw_fd(), libc::POLLIN, seconds)? == 0 {
            return cx.raise_named("IO::TimeoutError", "user specified timeout for the look-up of a name");
        }
        if let Some(r) = result.lock().unwrap_or_else(|e| e.into_inner()).take() {
            return Ok(r);
        }
    }
}

struct Found {
    address: Vec<u8>,
    family: i32,
    kind: i32,
    protocol: i32,
    canonical: Option<Vec<u8>>,
}

fn getaddrinfo(host: Option<CString>, service: Option<CString>, hints: [i32; 4]) -> std::result::Result<Vec<Found>, (i32, i32)> {
    let pointer = |s: &Option<CString>| s.as_ref().map_or(std::ptr::null(), |s| s.as_ptr());
    // SAFETY: C strings and hints that live through the call; the list is read before it is freed.
    unsafe {
        let mut h: libc::addrinfo = std::mem::zeroed();
        [h.ai_family, h.ai_socktype, h.ai_protocol, h.ai_flags] = hints;
        let mut list: *mut libc::addrinfo = std::ptr::null_mut();
        let r = libc::getaddrinfo(pointer(&host), pointer(&service), &h, &mut list);
        if r != 0 {
            return Err((r, errno()));
        }
        let (mut found, mut at) = (Vec::new(), list);
        while let Some(a) = at.as_ref() {
            found.push(Found {
                address: std::slice::from_raw_parts(a.ai_addr.cast::<u8>(), a.ai_addrlen as usize).to_vec(),
                family: a.ai_family,
                kind: a.ai_socktype,
                protocol: a.ai_protocol,
                canonical: (!a.ai_canonname.is_null()).then(|| CStr::from_ptr(a.ai_canonname).to_bytes().to_vec()),
            });
            at = a.ai_next;
        }
        libc::freeaddrinfo(list);
        Ok(found)
    }
}

/// Addresses and ports that are numbers need no look-up.
fn numeric(host: &CString, service: &Option<CString>, [family, kind, protocol, flags]: [i32; 4]) -> Option<Vec<Found>> {
    let port: u16 = match service {
        None => 0,
        Some(s) => s.to_str().ok().filter(|s| s.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()?,
    };
    if flags & libc::AI_CANONNAME != 0 {
        return None;
    }
    let (is, address) = match host.to_str().ok()?.parse().ok()? {
        std::net::IpAddr::V4(a) => {
            let head = [&(libc::AF_INET as u16).to_ne_bytes()[..], &port.to_be_bytes()].concat();
            (libc::AF_INET, [&head[..], &a.octets(), &[0; 8]].concat())
        }
        std::net::IpAddr::V6(a) => {
            let head = [&(libc::AF_INET6 as u16).to_ne_bytes()[..], &port.to_be_bytes(), &[0; 4]].concat();
            (libc::AF_INET6, [&head[..], &a.octets(), &[0; 4]].concat())
        }
    };
    if family != libc::AF_UNSPEC && family != is {
        return None;
    }
    let kinds = [(libc::SOCK_STREAM, libc::IPPROTO_TCP), (libc::SOCK_DGRAM, libc::IPPROTO_UDP), (libc::SOCK_RAW, 0)];
    let fits = |(k, p): &(i32, i32)| (kind == 0 || kind == *k) && (protocol == 0 || *p == 0 || protocol == *p);
    let found: Vec<Found> = kinds
        .into_iter()
        .filter(fits)
        .map(|(k, p)| Found {
            address: address.clone(),
            family: is,
            kind: k,
            protocol: if protocol == 0 { p } else { protocol },
            canonical: None,
        })
        .collect();
    (!found.is_empty()).then_some(found)
}

type Names = std::result::Result<(Vec<u8>, Vec<u8>), (i32, i32)>;

fn getnameinfo(address: &[u8], flags: i32) -> Names {
    let (mut host, mut service) = ([0u8; 1025], [0u8; 64]);
    // SAFETY: all are readable or writable for their lengths; results end with NUL.
    let r = unsafe {
        libc::getnameinfo(
            address.as_ptr().cast(),
            address.len() as libc::socklen_t,
            host.as_mut_ptr().cast(),
            1025,
            service.as_mut_ptr().cast(),
            64,
            flags,
        )
    };
    if r != 0 {
        return Err((r, errno()));
    }
    let text = |b: &[u8]| b.split(|c| *c == 0).next().unwrap_or_default().to_vec();
    Ok((text(&host), text(&service)))
}

/// Socket::ResolutionError with its `error_code`, or the system's error.
fn resolution_error<T>(cx: &mut Cx, what: &str, (code, errno): (i32, i32)) -> Result<T> {
    if code == libc::EAI_SYSTEM {
        return fail(cx, errno, what);
    }
    // SAFETY: a static text for every number.
    let text = unsafe { CStr::from_ptr(libc::gai_strerror(code)) }.to_string_lossy();
    let message = cx.str(&format!("{what}: {text}"));
    let class = cx.class_named("Socket::ResolutionError")?;
    let class = cx.class_value(class);
    let e = cx.call(class, sym::new, &[message])?;
    cx.ivar_set_raw(e, Sym::intern("@error_code"), Value::fixnum(code as i64));
    cx.raise_value(e)
}

/// A C string of a String, None of nil. ArgumentError when it holds a null byte.
fn c_string(cx: &mut Cx, v: Value) -> Result<Option<CString>> {
    if v.is_nil() {
        return Ok(None);
    }
    let bytes = cx.to_str(v)?.to_vec();
    match CString::new(bytes) {
        Ok(s) => Ok(Some(s)),
        Err(_) => cx.arg_error("string contains null byte"),
    }
}

fn is_numeric(host: &Option<CString>) -> bool {
    match host.as_ref().map(|h| h.to_str()) {
        None => true,
        Some(Ok(h)) => h.parse::<std::net::IpAddr>().is_ok(),
        Some(Err(_)) => false,
    }
}

/// Asks the fiber's scheduler for the addresses of a name; None: it has none, or does not look names up.
fn by_scheduler(cx: &mut Cx, host: &Option<CString>, service: &Option<CString>, hints: [i32; 4]) -> Result<Option<Vec<Found>>> {
    let Some(host) = host else { return Ok(None) };
    if cx.fiber_scheduler().is_nil() {
        return Ok(None);
    }
    let name = cx.str_auto(host.to_bytes());
    let Some(given) = zakuro_core_system::fiber_scheduler::hook(cx, "address_resolve", &[name])? else { return Ok(None) };
    if given.is_nil() {
        return Ok(Some(Vec::new()));
    }
    let list = cx.to_ary(given)?;
    let mut all = Vec::new();
    for i in 0..list.len() {
        let Some(address) = list.get(i) else { break };
        if let Some(address) = c_string(cx, address)? {
            match numeric(&address, service, hints) {
                Some(found) => all.extend(found),
                // A service with a name, or a canonical name asked for: no look-up of a host any more.
                None => all.extend(getaddrinfo(Some(address), service.clone(), hints).unwrap_or_default()),
            }
        }
    }
    Ok(Some(all))
}

/// Methods of `Socket::Sys`.
#[ruby_class(ids::OBJECT)]
pub mod sys {
    use super::*;

    /// getaddrinfo(3): Array of [address, family, type, protocol, canonical name or nil]. `seconds`: how long it may take, or nil.
    #[method("getaddrinfo", singleton)]
    #[allow(clippy::too_many_arguments)]
    fn getaddrinfo(
        cx: &mut Cx,
        _this: Value,
        host: Value,
        service: Value,
        family: i64,
        kind: i64,
        protocol: i64,
        flags: i64,
        seconds: Value,
    ) -> Result<Value> {
        let (host, service) = (c_string(cx, host)?, c_string(cx, service)?);
        let hints = [family as i32, kind as i32, protocol as i32, flags as i32];
        let known = host.as_ref().and_then(|h| numeric(h, &service, hints));
        let found = if let Some(known) = known {
            Ok(known)
        } else if is_numeric(&host) {
            super::getaddrinfo(host, service, hints)
        } else if let Some(found) = by_scheduler(cx, &host, &service, hints)? {
            if found.is_empty() { Err((libc::EAI_NONAME, 0)) } else { Ok(found) }
        } else {
            let seconds = if seconds.is_nil() { None } else { Some(cx.to_f64(seconds)?) };
            aside(cx, seconds, move || super::getaddrinfo(host, service, hints))?
        };
        let found = match found {
            Ok(f) => f,
            Err(e) => return resolution_error(cx, "getaddrinfo(3)", e),
        };
        let list = cx.new_array();
        for f in found {
            let address = binary(cx, &f.address);
            let name = f.canonical.map_or(Value::NIL, |n| cx.str_auto(&n));
            let number = |n: i32| Value::fixnum(n as i64);
            let entry = cx.array(&[address, number(f.family), number(f.kind), number(f.protocol), name]);
            ArrayCell::push(list, &mut cx.heap, entry);
        }
        Ok(list.as_value())
    }
    /// getnameinfo(3): [host, service]
    #[method("getnameinfo", singleton)]
    fn getnameinfo(cx: &mut Cx, _this: Value, address: Ref<StringCell>, flags: i64) -> Result<Value> {
        let address = address.to_vec();
        let flags = flags as i32;
        let names: Names = if flags & libc::NI_NUMERICHOST != 0 {
            super::getnameinfo(&address, flags)
        } else {
            aside(cx, None, move || super::getnameinfo(&address, flags))?
        };
        match names {
            Ok((host, service)) => {
                let (host, service) = (cx.str_auto(&host), cx.str_auto(&service));
                Ok(cx.array(&[host, service]))
            }
            Err(e) => resolution_error(cx, "getnameinfo", e),
        }
    }
    /// gethostname(2)
    #[method("hostname", singleton)]
    fn hostname(cx: &mut Cx, _this: Value) -> Result<Value> {
        let mut b = [0u8; 256];
        // SAFETY: room for 255 bytes and a NUL.
        if unsafe { libc::gethostname(b.as_mut_ptr().cast(), 255) } != 0 {
            return fail(cx, errno(), "gethostname(3)");
        }
        let name = b.split(|c| *c == 0).next().unwrap_or_default();
        Ok(cx.str_auto(name))
    }
    /// Number of an interface by name, or name by number; nil when there is none.
    #[method("interface", singleton)]
    fn interface(cx: &mut Cx, _this: Value, key: Value) -> Result<Value> {
        if cx.is_integer(key) {
            let n = cx.to_i64(key)?;
            let mut b = [0u8; libc::IF_NAMESIZE];
            // SAFETY: room for IF_NAMESIZE bytes.
            if unsafe { libc::if_indextoname(n as u32, b.as_mut_ptr().cast()) }.is_null() {
                return Ok(Value::NIL);
            }
            return Ok(cx.str_auto(b.split(|c| *c == 0).next().unwrap_or_default()));
        }
        let Some(name) = c_string(cx, key)? else { return Ok(Value::NIL) };
        // SAFETY: a C string.
        let n = unsafe { libc::if_nametoindex(name.as_ptr()) };
        Ok(if n == 0 { Value::NIL } else { Value::fixnum(n as i64) })
    }
    /// getifaddrs(3): Array of [name, index, flags, address, netmask, broadcast or destination address]
    #[method("interfaces", singleton)]
    fn interfaces(cx: &mut Cx, _this: Value) -> Result<Value> {
        let mut entries = Vec::new();
        // SAFETY: the list is read before it is freed; addresses are as long as their families say.
        unsafe {
            let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
            if libc::getifaddrs(&mut list) != 0 {
                return fail(cx, errno(), "getifaddrs");
            }
            let address = |a: *const libc::sockaddr| -> Option<Vec<u8>> {
                let n = match a.as_ref()?.sa_family as i32 {
                    libc::AF_INET => size_of::<libc::sockaddr_in>(),
                    libc::AF_INET6 => size_of::<libc::sockaddr_in6>(),
                    libc::AF_PACKET => size_of::<libc::sockaddr_ll>(),
                    _ => return None,
                };
                Some(std::slice::from_raw_parts(a.cast::<u8>(), n).to_vec())
            };
            let mut at = list;
            while let Some(i) = at.as_ref() {
                let name = CStr::from_ptr(i.ifa_name).to_owned();
                let index = libc::if_nametoindex(name.as_ptr());
                entries.push((name, index, i.ifa_flags, [address(i.ifa_addr), address(i.ifa_netmask), address(i.ifa_ifu)]));
                at = i.ifa_next;
            }
            libc::freeifaddrs(list);
        }
        let out = cx.new_array();
        for (name, index, flags, addresses) in entries {
            let name = cx.str_auto(name.to_bytes());
            let [a, b, c] = addresses.map(|a| a.map_or(Value::NIL, |a| binary(cx, &a)));
            let row = cx.array(&[name, Value::fixnum(index as i64), Value::fixnum(flags as i64), a, b, c]);
            ArrayCell::push(out, &mut cx.heap, row);
        }
        Ok(out.as_value())
    }
    /// A name as inet_pton(3) knows it: the packed address, or nil.
    #[method("pton", singleton)]
    fn pton(cx: &mut Cx, _this: Value, text: Ref<StringCell>) -> Value {
        match text.to_text().parse::<std::net::IpAddr>() {
            Ok(std::net::IpAddr::V4(a)) => binary(cx, &a.octets()),
            Ok(std::net::IpAddr::V6(a)) => binary(cx, &a.octets()),
            Err(_) => Value::NIL,
        }
    }
}
