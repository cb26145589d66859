//! SystemCallError and the classes of module Errno.

use zakuro_macros::ruby_class;
use zakuro_vm::raise::hidden;
use zakuro_vm::*;

macro_rules! errnos {
    ($($name:ident)*) => {
        /// Name and number of every error that gets a class.
        pub static ERRNOS: &[(&str, i32)] = &[("NOERROR", 0), $((stringify!($name), libc::$name)),*];
    };
}
#[cfg(target_os = "linux")]
errnos! {
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT ENOTBLK EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR
    EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP
    ENOMSG EIDRM ECHRNG EL2NSYNC EL3HLT EL3RST ELNRNG EUNATCH ENOCSI EL2HLT EBADE EBADR EXFULL ENOANO EBADRQC EBADSLT EBFONT ENOSTR ENODATA
    ETIME ENOSR ENONET ENOPKG EREMOTE ENOLINK EADV ESRMNT ECOMM EPROTO EMULTIHOP EDOTDOT EBADMSG EOVERFLOW ENOTUNIQ EBADFD EREMCHG ELIBACC
    ELIBBAD ELIBSCN ELIBMAX ELIBEXEC EILSEQ ERESTART ESTRPIPE EUSERS ENOTSOCK EDESTADDRREQ EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT
    ESOCKTNOSUPPORT EOPNOTSUPP EPFNOSUPPORT EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET
    ENOBUFS EISCONN ENOTCONN ESHUTDOWN ETOOMANYREFS ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY EINPROGRESS ESTALE EUCLEAN
    ENOTNAM ENAVAIL EISNAM EREMOTEIO EDQUOT ENOMEDIUM EMEDIUMTYPE ECANCELED ENOKEY EKEYEXPIRED EKEYREVOKED EKEYREJECTED EOWNERDEAD
    ENOTRECOVERABLE ERFKILL EHWPOISON
}
#[cfg(not(target_os = "linux"))]
errnos! {
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT ENOTBLK EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR
    EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP
    ENOMSG EIDRM EPROTO EBADMSG EOVERFLOW EILSEQ EUSERS ENOTSOCK EDESTADDRREQ EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT
    ESOCKTNOSUPPORT EOPNOTSUPP EPFNOSUPPORT EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET
    ENOBUFS EISCONN ENOTCONN ESHUTDOWN ETOOMANYREFS ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY EINPROGRESS ESTALE EDQUOT ECANCELED
}

/// Names for numbers that have a class of another name.
const ALIASES: &[(&str, &str)] = &[("EWOULDBLOCK", "EAGAIN"), ("EDEADLOCK", "EDEADLK"), ("ENOTSUP", "EOPNOTSUPP")];

pub(super) fn setup(cx: &mut Cx) {
    for (name, number) in ERRNOS {
        let id = cx.define_class(ids::ERRNO, name, ids::SYSTEM_CALL_ERROR);
        cx.const_set(id, Sym::intern("Errno"), Value::fixnum(*number as i64));
    }
    for (alias, name) in ALIASES {
        if let Some(e) = cx.const_entry(ids::ERRNO, Sym::intern(name)) {
            cx.const_set(ids::ERRNO, Sym::intern(alias), e.value);
        }
    }
}

/// The system's text for an error number.
pub fn strerror(number: i32) -> String {
    let mut buf = [0u8; 256];
    // SAFETY: the buffer is as long as said; the result is NUL-terminated when the call succeeds, and cut at the first NUL below anyway.
    let ok = unsafe { libc::strerror_r(number, buf.as_mut_ptr().cast(), buf.len() - 1) } == 0;
    let end = buf.iter().position(|b| *b == 0).unwrap_or(buf.len());
    if !ok && end == 0 {
        return format!("Unknown error {number}");
    }
    String::from_utf8_lossy(&buf[..end]).into_owned()
}

/// The Errno class of a number.
pub fn class_of_errno(cx: &mut Cx, number: i32) -> Option<ClassId> {
    let name = ERRNOS.iter().find(|e| e.1 == number)?.0;
    let v = cx.const_entry(ids::ERRNO, Sym::intern(name))?.value;
    cx.class_id(v)
}

/// A new Errno exception: "No such file or directory @ location - detail".
pub fn errno_exception(cx: &mut Cx, number: i32, detail: &str) -> Value {
    let class = class_of_errno(cx, number).unwrap_or(ids::SYSTEM_CALL_ERROR);
    let mut text = strerror(number);
    if !detail.is_empty() {
        // CRuby's own call sites pass "@ rb_sysopen - path": no dash in front of a location.
        text.push_str(if detail.starts_with("@ ") { " " } else { " - " });
        text.push_str(detail);
    }
    let e = cx.exception(class, &text);
    cx.ivar_set_raw(e, Sym::intern("__errno"), Value::fixnum(number as i64));
    e
}

/// Raises the Errno exception of a number, with the detail (a path, `@ rb_sysopen - path`, or empty) behind the system's text.
#[cold]
pub fn errno_error<T>(cx: &mut Cx, number: i32, detail: &str) -> Result<T> {
    let e = errno_exception(cx, number, detail);
    cx.raise_value(e)
}

/// The number of an Errno class (its constant `Errno`), inherited ones included.
fn class_number(cx: &mut Cx, class: ClassId) -> Result<Option<i64>> {
    Ok(match cx.const_lookup_in(class, Sym::intern("Errno"), false)? {
        Some((_, v)) => v.as_fixnum(),
        None => None,
    })
}

/// The methods.
#[ruby_class(ids::SYSTEM_CALL_ERROR)]
pub(super) mod system_call_error {
    use super::*;

    /// From a message and a number; becomes an instance of the number's Errno class. Errno classes take message and location.
    ///
    ///     SystemCallError.new("x", 2)   #=> #<Errno::ENOENT: No such file or directory - x>
    ///     Errno::ENOENT.new("x").message   #=> "No such file or directory - x"
    #[method("initialize", private, min = 0, max = -1)]
    fn initialize(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let class = cx.class_of(this);
        let (mut message, mut number, location);
        let given = args.all();
        if class == ids::SYSTEM_CALL_ERROR {
            if given.is_empty() || given.len() > 3 {
                return cx.arity_error(given.len(), 1, Some(3));
            }
            message = given[0];
            number = given.get(1).copied().unwrap_or(Value::NIL);
            location = given.get(2).copied().unwrap_or(Value::NIL);
            if given.len() == 1 && cx.is_integer(message) {
                number = message;
                message = Value::NIL;
            }
            if !number.is_nil() {
                let n = cx.to_i64(number)?;
                number = Value::fixnum(n);
                if let Some(c) = i32::try_from(n).ok().and_then(|n| class_of_errno(cx, n))
                    && cx.ivar_list(this).is_empty()
                    && this.is_kind(Kind::Exception)
                {
                    let shape = cx.root_shape(c);
                    cx.cell_changes(this);
                    // SAFETY: `this` is a live exception of this VM; without variables its shape says only its class.
                    unsafe { (*this.header()).shape = shape };
                }
            }
        } else {
            if given.len() > 2 {
                return cx.arity_error(given.len(), 0, Some(2));
            }
            message = given.first().copied().unwrap_or(Value::NIL);
            location = given.get(1).copied().unwrap_or(Value::NIL);
            number = match class_number(cx, class)? {
                Some(n) => Value::fixnum(n),
                None => Value::NIL,
            };
        }
        let mut text = match number.as_fixnum() {
            Some(n) => match i32::try_from(n) {
                Ok(n) => strerror(n),
                Err(_) => format!("Unknown error {n}"),
            },
            None => "unknown error".into(),
        };
        if !location.is_nil() {
            let l = cx.to_s_text(location)?;
            text.push_str(&format!(" @ {l}"));
        }
        if !message.is_nil() {
            let m = cx.to_str(message)?;
            text.push_str(" - ");
            text.push_str(&m.text());
        }
        let m = cx.str(&text);
        cx.ivar_set_raw(this, hidden::message(), m);
        cx.ivar_set_raw(this, Sym::intern("__errno"), number);
        Ok(Value::NIL)
    }

    /// The error number; nil when unknown.
    ///
    ///     Errno::ENOENT.new.errno   #=> 2
    #[method("errno")]
    fn errno(cx: &mut Cx, this: Value) -> Result<Value> {
        if let Some(v) = cx.ivar_lookup(this, Sym::intern("__errno")) {
            return Ok(v);
        }
        let class = cx.class_of(this);
        Ok(class_number(cx, class)?.map_or(Value::NIL, Value::fixnum))
    }

    /// Whether the exception is one of this class, or has its number.
    ///
    ///     Errno::EAGAIN === Errno::EWOULDBLOCK.new   #=> true
    #[method("===", singleton)]
    fn case_eq(cx: &mut Cx, this: ClassId, exc: Value) -> Result<bool> {
        if cx.is_a(exc, this) {
            return Ok(true);
        }
        if this == ids::SYSTEM_CALL_ERROR || !cx.is_a(exc, ids::SYSTEM_CALL_ERROR) {
            return Ok(false);
        }
        let Some(n) = class_number(cx, this)? else { return Ok(false) };
        Ok(errno(cx, exc)?.as_fixnum() == Some(n))
    }
}
