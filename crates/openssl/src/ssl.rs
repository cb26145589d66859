//! Connections. OpenSSL reads and writes the socket's descriptor, which never blocks; when it wants to wait, the Ruby thread parks as for any other socket,
//! outside of OpenSSL. Callbacks of the program never run inside either: a handshake that needs an answer is suspended (ClientHello callback, retried
//! verification, look-up of a client's certificate), Ruby is asked, and the step is made again with the answer in [`State`]. A server has no way to suspend
//! verification: with a callback it takes the client's certificate as it is, and Ruby verifies it right after the handshake (`ruby/openssl_ssl.rb`).
//! What has no descriptor (another connection, an object that reads and writes) goes through memory: `feed` and `take`.

use crate::error::{self, fail, text};
use crate::handle::*;
use crate::sys::*;
use crate::verify::{self, Replay};
use std::ffi::{c_char, c_int, c_long, c_uchar, c_uint};
use std::ptr::null_mut;
use zakuro_core_system::io::object::{self, Side};
use zakuro_core_system::io::wait;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

const ERROR: &str = "SSL::SSLError";

/// What a ClientHello says, and what Ruby has answered.
#[derive(Default)]
enum Hello {
    /// Nobody wants to know.
    #[default]
    Unasked,
    Waiting,
    Said {
        name: Option<Vec<u8>>,
        protocols: Vec<Vec<u8>>,
        session: Vec<u8>,
    },
    Answered,
    /// With an alert's number.
    Refused(c_int),
}

#[derive(Default)]
enum ClientCert {
    #[default]
    Unasked,
    Wanted,
    Answered(Option<(Object, Object)>),
}

/// What callbacks of one connection know and note. Reached through the connection's application data.
#[derive(Default)]
struct State {
    hello: Hello,
    protocol: Option<Vec<u8>>,
    /// The session that Ruby found for the one that a client named.
    session: Option<Object>,
    client_cert: ClientCert,
    replay: Option<Replay>,
    /// The other side's certificate that did not pass.
    refused: Option<Object>,
    new_sessions: Vec<Object>,
    key_lines: Vec<String>,
    handshakes: i64,
    /// A thread waits in the middle of a write, which must go on with the same bytes.
    writing: bool,
}

#[derive(Trace)]
struct Ssl {
    #[untraced]
    p: P,
    #[untraced]
    state: Box<State>,
    fd: c_int,
}
impl Drop for Ssl {
    fn drop(&mut self) {
        // SAFETY: our own; it is freed before the state that it refers to.
        unsafe { SSL_free(self.p) };
        error::take();
    }
}
impl NativeData for Ssl {
    fn refers(&self) -> bool {
        false
    }
    fn pressure(&self) -> usize {
        48 << 10
    }
}

/// # Safety
/// A connection made by `ssl_new`, in a call under way.
unsafe fn state_of<'a>(ssl: P) -> Option<&'a mut State> {
    // SAFETY: the payload owns both.
    unsafe { SSL_get_ex_data(ssl, 0).cast::<State>().as_mut() }
}

fn entries(b: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut rest = b;
    while let Some((n, more)) = rest.split_first() {
        let n = *n as usize;
        if n == 0 || more.len() < n {
            break;
        }
        found.push(more[..n].to_vec());
        rest = &more[n..];
    }
    found
}

unsafe extern "C" fn on_hello(ssl: P, alert: *mut c_int, _arg: P) -> c_int {
    // SAFETY: OpenSSL calls it with a live connection; extensions live through the call.
    unsafe {
        let Some(state) = state_of(ssl) else { return 1 };
        match state.hello {
            Hello::Unasked | Hello::Answered => return 1,
            Hello::Refused(n) => {
                *alert = n;
                return 0;
            }
            _ => {}
        }
        let extension = |number: c_uint| {
            let (mut at, mut n): (*const u8, usize) = (std::ptr::null(), 0);
            (SSL_client_hello_get0_ext(ssl, number, &mut at, &mut n) == 1).then(|| std::slice::from_raw_parts(at, n).to_vec())
        };
        // A list of names, each of a kind (0: host) and with its length in two bytes.
        let name = extension(0)
            .and_then(|b| (b.len() > 5 && b[2] == 0).then(|| b[5..(5 + (b[3] as usize * 256 + b[4] as usize)).min(b.len())].to_vec()));
        let protocols = extension(16).map_or(Vec::new(), |b| entries(b.get(2..).unwrap_or(&[])));
        let mut at = std::ptr::null();
        let n = SSL_client_hello_get0_session_id(ssl, &mut at);
        let session = if n == 0 { Vec::new() } else { std::slice::from_raw_parts(at, n).to_vec() };
        state.hello = Hello::Said { name, protocols, session };
        -1
    }
}

unsafe extern "C" fn on_protocol(ssl: P, out: *mut *const c_uchar, n: *mut c_uchar, _list: *const c_uchar, _len: c_uint, _arg: P) -> c_int {
    // SAFETY: as above; the answer stays in the state.
    unsafe {
        match state_of(ssl).and_then(|s| s.protocol.as_ref()) {
            Some(b) => {
                *out = b.as_ptr();
                *n = b.len() as u8;
                0
            }
            None => 3, // SSL_TLSEXT_ERR_NOACK
        }
    }
}

unsafe extern "C" fn on_replay(ok: c_int, ctx: P) -> c_int {
    // SAFETY: called in `on_verify`, which sets what it looks at.
    unsafe {
        match X509_STORE_CTX_get_ex_data(ctx, 0).cast::<Replay>().as_mut() {
            Some(r) => r.answer(ok, ctx),
            None => ok,
        }
    }
}

unsafe extern "C" fn on_verify(ctx: P, _arg: P) -> c_int {
    // SAFETY: OpenSSL calls it with a context of a live connection.
    unsafe {
        let ssl = X509_STORE_CTX_get_ex_data(ctx, SSL_get_ex_data_X509_STORE_CTX_idx());
        let Some(replay) = state_of(ssl).and_then(|s| s.replay.as_mut()) else {
            let ok = X509_verify_cert(ctx) > 0;
            let cert = X509_STORE_CTX_get_current_cert(ctx);
            if !ok
                && !cert.is_null()
                && let Some(state) = state_of(ssl)
            {
                X509_up_ref(cert);
                state.refused = Object::new(Sort::Cert, cert);
            }
            return ok as c_int;
        };
        if SSL_is_server(ssl) == 1 {
            return 1;
        }
        replay.at = 0;
        replay.question = None;
        X509_STORE_CTX_set_ex_data(ctx, 0, (&raw mut *replay).cast());
        X509_STORE_CTX_set_verify_cb(ctx, Some(on_replay));
        let r = X509_verify_cert(ctx);
        X509_STORE_CTX_set_ex_data(ctx, 0, null_mut());
        if replay.question.is_some() {
            SSL_ctrl(ssl, 136, 0, null_mut()); // SSL_CTRL_SET_RETRY_VERIFY
            return 1;
        }
        (r > 0) as c_int
    }
}

unsafe extern "C" fn on_client_cert(ssl: P, cert: *mut P, key: *mut P) -> c_int {
    // SAFETY: as above; it takes a reference of each.
    unsafe {
        let Some(state) = state_of(ssl) else { return 0 };
        match &state.client_cert {
            ClientCert::Answered(Some((c, k))) => {
                X509_up_ref(c.p);
                EVP_PKEY_up_ref(k.p);
                (*cert, *key) = (c.p, k.p);
                1
            }
            ClientCert::Answered(None) => 0,
            _ => {
                state.client_cert = ClientCert::Wanted;
                -1
            }
        }
    }
}

unsafe extern "C" fn on_new_session(ssl: P, session: P) -> c_int {
    // SAFETY: as above; with 1 the reference is ours.
    unsafe {
        match state_of(ssl) {
            Some(s) if s.new_sessions.len() < 64 => {
                s.new_sessions.extend(Object::new(Sort::Session, session));
                1
            }
            _ => 0,
        }
    }
}

unsafe extern "C" fn on_get_session(ssl: P, _id: *const u8, _n: c_int, copy: *mut c_int) -> P {
    // SAFETY: as above; the reference goes over.
    unsafe {
        *copy = 0;
        match state_of(ssl).and_then(|s| s.session.take()) {
            Some(o) => {
                SSL_SESSION_up_ref(o.p);
                o.p
            }
            None => null_mut(),
        }
    }
}

unsafe extern "C" fn on_key_line(ssl: P, line: *const c_char) {
    // SAFETY: as above.
    unsafe {
        if let Some(s) = state_of(ssl) {
            s.key_lines.push(text(line));
        }
    }
}

unsafe extern "C" fn on_info(ssl: P, place: c_int, _value: c_int) {
    // SAFETY: as above.
    unsafe {
        if place & 0x10 != 0
            && let Some(s) = state_of(ssl)
        {
            s.handshakes += 1;
        }
    }
}

/// Whether the context keeps a session of that number: then Ruby isn't asked for it. No lock is needed, since contexts belong to one VM.
///
/// # Safety
/// A context of this VM.
unsafe fn is_cached(ctx: P, id: &[u8]) -> bool {
    unsafe extern "C" {
        fn SSL_CTX_sessions(ctx: P) -> P;
        fn OPENSSL_LH_retrieve(table: P, like: P) -> P;
        fn SSL_SESSION_new() -> P;
        fn SSL_SESSION_set1_id(session: P, id: *const u8, n: c_uint) -> c_int;
        fn SSL_SESSION_set_protocol_version(session: P, version: c_int) -> c_int;
    }
    if id.is_empty() {
        return false;
    }
    // SAFETY: the caller's promise; the session that is looked for is our own.
    unsafe {
        let like = SSL_SESSION_new();
        SSL_SESSION_set1_id(like, id.as_ptr(), id.len() as c_uint);
        let found = (0x301..=0x304).any(|version| {
            SSL_SESSION_set_protocol_version(like, version);
            !OPENSSL_LH_retrieve(SSL_CTX_sessions(ctx), like).is_null()
        });
        SSL_SESSION_free(like);
        error::take();
        found
    }
}

fn session_of(cx: &mut Cx, v: Value) -> Result<P> {
    get(cx, v, Sort::Session)
}

/// What one step came to.
enum Step {
    Done(c_int),
    Wants(i16),
    Event(&'static str),
    Closed,
    Failed { code: c_int, errno: i32 },
}

impl Ssl {
    fn step(&mut self, f: impl FnOnce(P) -> c_int) -> Step {
        // SAFETY: a live connection; the queue is empty before, and read after.
        unsafe {
            ERR_clear_error();
            *libc::__errno_location() = 0;
            let n = f(self.p);
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
            if n > 0 {
                return Step::Done(n);
            }
            match SSL_get_error(self.p, n) {
                0 => Step::Done(n),
                2 => Step::Wants(libc::POLLIN),
                3 => Step::Wants(libc::POLLOUT),
                4 => Step::Event("client_cert"),
                11 => Step::Event("hello"),
                12 => Step::Event("ask"),
                6 => Step::Closed,
                code => Step::Failed { code, errno },
            }
        }
    }
}

fn symbol(name: &str) -> Value {
    Value::sym(Sym::intern(name))
}

/// What Ruby has to know or to answer: [what, ...].
fn event(cx: &mut Cx, h: Value, what: &str) -> Result<Value> {
    let state = &mut cx.data_mut::<Ssl>(h)?.state;
    match what {
        "hello" => {
            let (name, protocols, session) = match &state.hello {
                Hello::Said { name, protocols, session } => (name.clone(), protocols.clone(), session.clone()),
                _ => (None, Vec::new(), Vec::new()),
            };
            let list = cx.new_array();
            for b in protocols {
                let v = binary(cx, &b);
                ArrayCell::push(list, &mut cx.heap, v);
            }
            let name = name.map_or(Value::NIL, |b| cx.str_auto(&b));
            let p = cx.data_ref::<Ssl>(h)?.p;
            // SAFETY: a live connection of this VM.
            let cached = unsafe { is_cached(SSL_get_SSL_CTX(p), &session) };
            let all = [symbol("hello"), name, list.as_value(), binary(cx, &session), Value::bool(cached)];
            Ok(cx.array(&all))
        }
        "ask" => match state.replay.as_mut().and_then(|r| r.question.take()) {
            Some(q) => verify::question(cx, q),
            None => Ok(symbol("again")),
        },
        what => {
            let all = [symbol(what)];
            Ok(cx.array(&all))
        }
    }
}

/// [:failed, SSL_get_error's number, errno, state, reason, lines, result of verification]
fn failure(cx: &mut Cx, h: Value, code: c_int, errno: i32) -> Result<Value> {
    let errors = error::take();
    let p = cx.data_ref::<Ssl>(h)?.p;
    // SAFETY: a live connection.
    let (state, verified) = unsafe { (text(SSL_state_string_long(p)), SSL_get_verify_result(p)) };
    let reason = errors.last.as_ref().map_or(Value::NIL, |s| cx.str(s));
    let lines = cx.str_array(&errors.lines);
    let number = cx.int((errors.code & 0x7f_ffff) as i64);
    let all = [
        symbol("failed"),
        Value::fixnum(code as i64),
        Value::fixnum(errno as i64),
        cx.str(&state),
        reason,
        lines,
        cx.int(verified),
        number,
    ];
    Ok(cx.array(&all))
}

/// Methods of `OpenSSL::Native`.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    /// For 0 both sides, 1 a client, 2 a server.
    #[method("ctx_new", singleton)]
    fn ctx_new(cx: &mut Cx, _this: Value, side: i64) -> Result<Value> {
        // SAFETY: constant methods.
        let p = unsafe {
            let p = SSL_CTX_new(match side {
                1 => TLS_client_method(),
                2 => TLS_server_method(),
                _ => TLS_method(),
            });
            if !p.is_null() {
                // Partial writes, moving buffers, no buffers of idle connections.
                SSL_CTX_ctrl(p, 33, 1 | 2 | 0x10, null_mut());
                SSL_CTX_ctrl(p, 118, 1, null_mut()); // SSL_CTRL_SET_DH_AUTO
                SSL_CTX_set_cert_verify_callback(p, Some(on_verify), null_mut());
            }
            p
        };
        wrap(cx, Sort::Context, p, ERROR, "SSL_CTX_new")
    }
    /// Callbacks that the program has: :hello, :protocol, :client_cert, :new_session, :get_session, :key_line, :info
    #[method("ctx_callback", singleton)]
    fn ctx_callback(cx: &mut Cx, _this: Value, h: Value, what: Sym) -> Result<()> {
        let p = get(cx, h, Sort::Context)?;
        // SAFETY: functions that find what they need in the connection.
        unsafe {
            match &*what.name() {
                "hello" => SSL_CTX_set_client_hello_cb(p, Some(on_hello), null_mut()),
                "protocol" => SSL_CTX_set_alpn_select_cb(p, Some(on_protocol), null_mut()),
                "client_cert" => SSL_CTX_set_client_cert_cb(p, Some(on_client_cert)),
                "new_session" => SSL_CTX_sess_set_new_cb(p, Some(on_new_session)),
                "get_session" => SSL_CTX_sess_set_get_cb(p, Some(on_get_session)),
                "key_line" => SSL_CTX_set_keylog_callback(p, Some(on_key_line)),
                _ => SSL_CTX_set_info_callback(p, Some(on_info)),
            }
        }
        Ok(())
    }
    /// Numbers; the result is OpenSSL's.
    #[method("ctx_number", singleton)]
    fn ctx_number(cx: &mut Cx, _this: Value, h: Value, what: Sym, n: i64) -> Result<i64> {
        let p = get(cx, h, Sort::Context)?;
        // SAFETY: a live context.
        let r = unsafe {
            let ctrl = |code: c_int| SSL_CTX_ctrl(p, code, n as c_long, null_mut()) as i64;
            match &*what.name() {
                "options=" => {
                    SSL_CTX_clear_options(p, SSL_CTX_get_options(p));
                    SSL_CTX_set_options(p, n as u64) as i64
                }
                "options" => SSL_CTX_get_options(p) as i64,
                "min_version" => ctrl(123),
                "max_version" => ctrl(124),
                "cache_mode" => ctrl(44),
                "cache_mode?" => ctrl(45),
                "cache_size" => ctrl(42),
                "cache_size?" => ctrl(43),
                "fallback" => ctrl(33), // with SSL_MODE_SEND_FALLBACK_SCSV
                "stat" if (20..=31).contains(&n) => SSL_CTX_ctrl(p, n as c_int, 0, null_mut()) as i64,
                "timeout" => SSL_CTX_set_timeout(p, n as c_long) as i64,
                "timeout?" => SSL_CTX_get_timeout(p) as i64,
                "security_level" => {
                    SSL_CTX_set_security_level(p, n as c_int);
                    1
                }
                "security_level?" => SSL_CTX_get_security_level(p) as i64,
                "verify_mode" => {
                    SSL_CTX_set_verify(p, n as c_int, null_mut());
                    1
                }
                "verify_depth" => {
                    SSL_CTX_set_verify_depth(p, n as c_int);
                    1
                }
                _ => {
                    SSL_CTX_flush_sessions(p, n as c_long);
                    1
                }
            }
        };
        error::take();
        Ok(r)
    }
    #[method("ctx_text", singleton)]
    fn ctx_text(cx: &mut Cx, _this: Value, h: Value, what: Sym, value: Ref<StringCell>) -> Result<()> {
        let name = what.name().to_string();
        let b = value.to_vec();
        let s = if matches!(&*name, "alpn" | "session_id_context") { None } else { Some(c_string(cx, value)?) };
        let s = pointer(&s);
        let p = get(cx, h, Sort::Context)?;
        // SAFETY: readable for their lengths, or until NUL.
        let (ok, call) = unsafe {
            match &*name {
                "ciphers" => (SSL_CTX_set_cipher_list(p, s), "SSL_CTX_set_cipher_list"),
                "ciphersuites" => (SSL_CTX_set_ciphersuites(p, s), "SSL_CTX_set_ciphersuites"),
                "groups" => (SSL_CTX_ctrl(p, 92, 0, s as P) as c_int, "SSL_CTX_set1_curves_list"),
                "sigalgs" => (SSL_CTX_ctrl(p, 98, 0, s as P) as c_int, "SSL_CTX_set1_sigalgs_list"),
                "client_sigalgs" => (SSL_CTX_ctrl(p, 102, 0, s as P) as c_int, "SSL_CTX_set1_client_sigalgs_list"),
                "ca_file" => (SSL_CTX_load_verify_file(p, s), "SSL_CTX_load_verify_file"),
                "ca_path" => (SSL_CTX_load_verify_dir(p, s), "SSL_CTX_load_verify_dir"),
                "alpn" => ((SSL_CTX_set_alpn_protos(p, b.as_ptr(), b.len() as c_uint) == 0) as c_int, "SSL_CTX_set_alpn_protos"),
                _ => (SSL_CTX_set_session_id_context(p, b.as_ptr(), b.len() as c_uint), "SSL_CTX_set_session_id_context"),
            }
        };
        if ok != 1 {
            return fail(cx, ERROR, call);
        }
        error::take();
        Ok(())
    }
    /// :cert, :key, :chain (one more), :client_ca, :store, :dh, :add_session, :remove_session
    #[method("ctx_object", singleton)]
    fn ctx_object(cx: &mut Cx, _this: Value, h: Value, what: Sym, v: Value) -> Result<bool> {
        let name = what.name().to_string();
        let (o, _) = get_of(cx, v, &[Sort::Cert, Sort::Key, Sort::Store, Sort::Session])?;
        let copy = cx.data_ref::<Object>(v)?.copy();
        let p = get(cx, h, Sort::Context)?;
        let copied = copy.as_ref().map_or(null_mut(), |c| c.p);
        // SAFETY: live objects of the kinds that the caller looked at; certificates are copies, which nobody changes.
        let (ok, call) = unsafe {
            let kind = cx.data_ref::<Object>(v)?.kind;
            match (&*name, kind) {
                ("cert", Sort::Cert) => (SSL_CTX_use_certificate(p, copied), "SSL_CTX_use_certificate"),
                ("chain", Sort::Cert) => (SSL_CTX_ctrl(p, 89, 1, copied) as c_int, "SSL_CTX_add1_chain_cert"),
                ("client_ca", Sort::Cert) => (SSL_CTX_add_client_CA(p, copied), "SSL_CTX_add_client_CA"),
                ("key", Sort::Key) => (SSL_CTX_use_PrivateKey(p, o), "SSL_CTX_use_PrivateKey"),
                ("dh", Sort::Key) => {
                    SSL_CTX_ctrl(p, 118, 0, null_mut());
                    EVP_PKEY_up_ref(o);
                    let ok = SSL_CTX_set0_tmp_dh_pkey(p, o);
                    if ok != 1 {
                        EVP_PKEY_free(o);
                    }
                    (ok, "SSL_CTX_set0_tmp_dh_pkey")
                }
                ("store", Sort::Store) => {
                    SSL_CTX_set1_cert_store(p, o);
                    (1, "")
                }
                ("add_session", Sort::Session) => return Ok(SSL_CTX_add_session(p, o) == 1),
                ("remove_session", Sort::Session) => return Ok(SSL_CTX_remove_session(p, o) == 1),
                _ => return cx.type_error("wrong argument type"),
            }
        };
        if ok != 1 {
            return fail(cx, ERROR, call);
        }
        error::take();
        Ok(true)
    }
    #[method("ctx_check_key", singleton)]
    fn ctx_check_key(cx: &mut Cx, _this: Value, h: Value) -> Result<()> {
        let p = get(cx, h, Sort::Context)?;
        // SAFETY: a live context.
        if unsafe { SSL_CTX_check_private_key(p) } != 1 { fail(cx, ERROR, "SSL_CTX_check_private_key") } else { Ok(()) }
    }
    /// [[name, version, bits, bits of the algorithm], ...]
    #[method("ctx_ciphers", singleton)]
    fn ctx_ciphers(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Context)?;
        let list = cx.new_array();
        // SAFETY: a live context and its list.
        unsafe {
            let s = SSL_CTX_get_ciphers(p);
            for i in 0..OPENSSL_sk_num(s).max(0) {
                let one = cipher(cx, OPENSSL_sk_value(s, i));
                ArrayCell::push(list, &mut cx.heap, one);
            }
        }
        Ok(list.as_value())
    }

    /// A connection on a socket (nil: in memory).
    #[method("ssl_new", singleton)]
    fn ssl_new(cx: &mut Cx, _this: Value, ctx: Value, io: Value) -> Result<Value> {
        // The stream, not a number: that might be another VM's.
        let fd = if io.is_nil() { -1 } else { object::get(cx, io)?.fd };
        let ctx = get(cx, ctx, Sort::Context)?;
        // SAFETY: a new connection, whose state the payload keeps in place.
        unsafe {
            let p = SSL_new(ctx);
            if p.is_null() {
                return fail(cx, ERROR, "SSL_new");
            }
            let mut ssl = Ssl { p, state: Box::default(), fd };
            SSL_set_ex_data(p, 0, (&raw mut *ssl.state).cast());
            if fd >= 0 {
                if SSL_set_fd(p, fd) != 1 {
                    return fail(cx, ERROR, "SSL_set_fd");
                }
            } else {
                unsafe extern "C" {
                    fn SSL_set_bio(ssl: P, from: P, to: P);
                }
                let (from, to) = (BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
                // BIO_C_SET_BUF_MEM_EOF_RETURN: an empty buffer is no end.
                BIO_ctrl(from, 130, -1, null_mut());
                BIO_ctrl(to, 130, -1, null_mut());
                SSL_set_bio(p, from, to);
            }
            error::take();
            let class = holder(cx)?;
            Ok(cx.data(class, ssl))
        }
    }
    /// Which side it is, and what Ruby wants to be asked: :server?, :hello, :verify
    #[method("ssl_begin", singleton)]
    fn ssl_begin(cx: &mut Cx, _this: Value, h: Value, server: bool, hello: bool, verify: bool) -> Result<()> {
        let ssl = cx.data_mut::<Ssl>(h)?;
        if hello {
            ssl.state.hello = Hello::Waiting;
        }
        if verify && ssl.state.replay.is_none() {
            ssl.state.replay = Some(Replay::default());
        }
        // SAFETY: a live connection.
        unsafe { if server { SSL_set_accept_state(ssl.p) } else { SSL_set_connect_state(ssl.p) } }
        Ok(())
    }
    /// :name (SNI), :host (to be verified), :address (the same)
    #[method("ssl_text", singleton)]
    fn ssl_text(cx: &mut Cx, _this: Value, h: Value, what: Sym, value: Ref<StringCell>) -> Result<()> {
        unsafe extern "C" {
            fn SSL_get0_param(ssl: P) -> P;
            fn SSL_set1_host(ssl: P, name: *const c_char) -> c_int;
            fn X509_VERIFY_PARAM_set1_ip_asc(param: P, address: *const c_char) -> c_int;
        }
        let s = c_string(cx, value)?;
        let p = cx.data_ref::<Ssl>(h)?.p;
        // SAFETY: ends with NUL.
        let ok = unsafe {
            match &*what.name() {
                "name" => SSL_ctrl(p, 55, 0, s.as_ptr() as P) as c_int,
                "host" => SSL_set1_host(p, s.as_ptr()),
                _ => X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(p), s.as_ptr()),
            }
        };
        if ok != 1 {
            return fail(cx, ERROR, "SSL_set_tlsext_host_name");
        }
        error::take();
        Ok(())
    }
    /// The answer to a ClientHello.
    #[method("ssl_hello", singleton)]
    fn ssl_hello(cx: &mut Cx, _this: Value, h: Value, ctx: Value, protocol: Value, session: Value, alert: i64) -> Result<()> {
        let ctx = get_or_null(cx, ctx, Sort::Context)?;
        let protocol = bytes(cx, protocol)?;
        let session = if session.is_nil() {
            None
        } else {
            let p = session_of(cx, session)?;
            // SAFETY: a reference of our own.
            unsafe { SSL_SESSION_up_ref(p) };
            Object::new(Sort::Session, p)
        };
        let ssl = cx.data_mut::<Ssl>(h)?;
        ssl.state.hello = if alert > 0 { Hello::Refused(alert as c_int) } else { Hello::Answered };
        ssl.state.protocol = protocol.filter(|b| b.len() < 256);
        ssl.state.session = session;
        if !ctx.is_null() {
            // SAFETY: live objects; it takes a reference.
            unsafe { SSL_set_SSL_CTX(ssl.p, ctx) };
        }
        Ok(())
    }
    #[method("ssl_client_cert", singleton)]
    fn ssl_client_cert(cx: &mut Cx, _this: Value, h: Value, cert: Value, key: Value) -> Result<()> {
        let mut answer = None;
        if !cert.is_nil() && !key.is_nil() {
            get(cx, cert, Sort::Cert)?;
            get(cx, key, Sort::Key)?;
            let (c, k) = (cx.data_ref::<Object>(cert)?.copy(), cx.data_ref::<Object>(key)?.copy());
            answer = c.zip(k);
        }
        cx.data_mut::<Ssl>(h)?.state.client_cert = ClientCert::Answered(answer);
        Ok(())
    }
    /// One more answer of the verify_callback.
    #[method("ssl_answer", singleton)]
    fn ssl_answer(cx: &mut Cx, _this: Value, h: Value, ok: bool, error: i64) -> Result<()> {
        if let Some(r) = &mut cx.data_mut::<Ssl>(h)?.state.replay {
            r.answers.push((ok, error as c_int));
        }
        Ok(())
    }
    /// :handshake, :read (of so many bytes), :write, :shutdown. With an IO it waits, if it may: true, a String, a number of bytes; else :wait_readable or
    /// :wait_writable. nil at the end of the stream. An Array is what has to be answered, or what went wrong.
    #[method("ssl_step", singleton)]
    fn ssl_step(cx: &mut Cx, _this: Value, h: Value, io: Value, what: Sym, arg: Value, wait: bool) -> Result<Value> {
        let what = what.name().to_string();
        let (mut room, mut text) = (0usize, None);
        match &*what {
            "read" => room = arg.as_fixnum().unwrap_or(0).clamp(0, 1 << 16) as usize,
            "write" => text = Some(Held::of(cx.to_str(arg)?)),
            _ => {}
        }
        let data: &[u8] = text.as_deref().unwrap_or(&[]);
        let data = &data[..data.len().min(1 << 24)];
        let mut mine = false;
        loop {
            let fd = if io.is_nil() { -1 } else { object::get(cx, io)?.fd };
            if cx.data_ref::<Ssl>(h)?.fd != fd {
                return cx.raise(ids::IO_ERROR, "closed stream");
            }
            cx.check_native_stack()?;
            let ssl = cx.data_mut::<Ssl>(h)?;
            if what == "write" && ssl.state.writing && !mine {
                if !wait {
                    return Ok(symbol("wait_writable"));
                }
                cx.sleep(Some(std::time::Duration::from_millis(1)))?;
                continue;
            }
            let mut read = Vec::new();
            // SAFETY: a live connection; buffers have the lengths that are told.
            let step = ssl.step(|p| unsafe {
                match &*what {
                    "handshake" => SSL_do_handshake(p),
                    "read" => {
                        read.reserve_exact(room);
                        let n = SSL_read(p, read.as_mut_ptr() as P, room as c_int);
                        read.set_len(n.max(0) as usize);
                        n
                    }
                    "write" => SSL_write(p, data.as_ptr() as P, data.len() as c_int),
                    _ => SSL_shutdown(p),
                }
            });
            if what == "write" {
                mine = matches!(step, Step::Wants(_));
                ssl.state.writing = mine && wait;
            }
            match step {
                Step::Done(n) => {
                    error::take();
                    return Ok(match &*what {
                        "read" => binary(cx, &read),
                        "write" => Value::fixnum(n as i64),
                        _ => Value::TRUE,
                    });
                }
                Step::Closed => {
                    error::take();
                    return Ok(Value::NIL);
                }
                Step::Event(name) => {
                    error::take();
                    return event(cx, h, name);
                }
                Step::Failed { code, errno } => return failure(cx, h, code, errno),
                Step::Wants(events) => {
                    error::take();
                    if !wait || io.is_nil() {
                        return Ok(symbol(if events == libc::POLLIN { "wait_readable" } else { "wait_writable" }));
                    }
                    // What callbacks have noted is told before the wait.
                    let state = &cx.data_ref::<Ssl>(h)?.state;
                    if what == "handshake" && (state.handshakes > 0 || !state.new_sessions.is_empty() || !state.key_lines.is_empty()) {
                        return Ok(symbol("again"));
                    }
                    let waited = park(cx, io, events);
                    if !matches!(waited, Ok(true)) {
                        cx.data_mut::<Ssl>(h)?.state.writing = false;
                    }
                    if !waited? {
                        return object::io_timeout(cx);
                    }
                }
            }
        }
    }
    /// Bytes from the other side, for a connection in memory.
    #[method("ssl_feed", singleton)]
    fn ssl_feed(cx: &mut Cx, _this: Value, h: Value, data: Ref<StringCell>) -> Result<()> {
        unsafe extern "C" {
            fn SSL_get_rbio(ssl: P) -> P;
        }
        let b = data.to_vec();
        let ssl = cx.data_ref::<Ssl>(h)?;
        if ssl.fd < 0 {
            // SAFETY: readable for its length.
            unsafe { BIO_write(SSL_get_rbio(ssl.p), b.as_ptr() as P, b.len() as c_int) };
        }
        Ok(())
    }
    /// The other side has ended.
    #[method("ssl_feed_end", singleton)]
    fn ssl_feed_end(cx: &mut Cx, _this: Value, h: Value) -> Result<()> {
        unsafe extern "C" {
            fn SSL_get_rbio(ssl: P) -> P;
        }
        let ssl = cx.data_ref::<Ssl>(h)?;
        if ssl.fd < 0 {
            // SAFETY: a live connection in memory.
            unsafe { BIO_ctrl(SSL_get_rbio(ssl.p), 130, 0, null_mut()) };
        }
        Ok(())
    }
    /// Bytes for the other side, of a connection in memory.
    #[method("ssl_take", singleton)]
    fn ssl_take(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        unsafe extern "C" {
            fn SSL_get_wbio(ssl: P) -> P;
            fn BIO_read(bio: P, data: P, n: c_int) -> c_int;
        }
        let ssl = cx.data_ref::<Ssl>(h)?;
        let mut b = Vec::new();
        if ssl.fd < 0 {
            // SAFETY: a live connection in memory; as many bytes as there is room for.
            unsafe {
                let bio = SSL_get_wbio(ssl.p);
                let n = BIO_ctrl(bio, 10, 0, null_mut()).max(0) as usize;
                b.resize(n, 0u8);
                let n = BIO_read(bio, b.as_mut_ptr().cast(), n as c_int);
                b.truncate(n.max(0) as usize);
            }
        }
        Ok(binary(cx, &b))
    }
    /// Something of a connection, by name.
    #[method("ssl_get", singleton)]
    fn ssl_get(cx: &mut Cx, _this: Value, h: Value, what: Sym) -> Result<Value> {
        let p = cx.data_ref::<Ssl>(h)?.p;
        // SAFETY: a live connection.
        unsafe {
            let finished = |cx: &mut Cx, f: unsafe extern "C" fn(P, P, usize) -> usize| {
                let mut b = [0u8; 128];
                let n = f(p, b.as_mut_ptr().cast(), 128).min(128);
                if n == 0 { Value::NIL } else { binary(cx, &b[..n]) }
            };
            Ok(match &*what.name() {
                "version" => cx.str(&text(SSL_get_version(p))),
                "cipher" => {
                    let c = SSL_get_current_cipher(p);
                    if c.is_null() { Value::NIL } else { cipher(cx, c) }
                }
                "state" => {
                    let both = [text(SSL_state_string(p)), text(SSL_state_string_long(p))];
                    cx.str_array(&both)
                }
                "pending" => Value::fixnum(SSL_pending(p) as i64),
                "handshake_done?" => {
                    unsafe extern "C" {
                        fn SSL_is_init_finished(ssl: P) -> c_int;
                    }
                    Value::bool(SSL_is_init_finished(p) == 1)
                }
                "cert" => {
                    let c = SSL_get_certificate(p);
                    if !c.is_null() {
                        X509_up_ref(c);
                    }
                    return wrap_or_nil(cx, Sort::Cert, c);
                }
                "peer_cert" => return wrap_or_nil(cx, Sort::Cert, SSL_get1_peer_certificate(p)),
                "refused_cert" => {
                    let copy = cx.data_ref::<Ssl>(h)?.state.refused.as_ref().and_then(Object::copy);
                    return match copy {
                        Some(o) => {
                            let class = holder(cx)?;
                            Ok(cx.data(class, o))
                        }
                        None => Ok(Value::NIL),
                    };
                }
                "chain" => {
                    let s = SSL_get_peer_cert_chain(p);
                    if s.is_null() {
                        return Ok(Value::NIL);
                    }
                    return verify::handles(cx, verify::chain_of(s));
                }
                "verify_result" => cx.int(SSL_get_verify_result(p) as i64),
                "session" => return wrap_or_nil(cx, Sort::Session, SSL_get1_session(p)),
                "reused?" => Value::bool(SSL_session_reused(p) == 1),
                "protocol" => {
                    let (mut at, mut n) = (std::ptr::null(), 0);
                    SSL_get0_alpn_selected(p, &mut at, &mut n);
                    if n == 0 { Value::NIL } else { cx.str_auto(std::slice::from_raw_parts(at, n as usize)) }
                }
                "finished" => finished(cx, SSL_get_finished),
                "peer_finished" => finished(cx, SSL_get_peer_finished),
                "tmp_key" | "peer_key" => {
                    let mut key: P = null_mut();
                    let code = if &*what.name() == "tmp_key" { 133 } else { 109 };
                    // The peer's comes first: it is what a client has.
                    if SSL_ctrl(p, 109, 0, (&raw mut key).cast()) != 1 {
                        SSL_ctrl(p, code, 0, (&raw mut key).cast());
                    }
                    return wrap_or_nil(cx, Sort::Key, key);
                }
                "client_ca" => {
                    let s = SSL_get_client_CA_list(p);
                    if s.is_null() {
                        return Ok(Value::NIL);
                    }
                    let found: Vec<Object> = (0..OPENSSL_sk_num(s).max(0))
                        .filter_map(|i| Object::new(Sort::Name, X509_NAME_dup(OPENSSL_sk_value(s, i))))
                        .collect();
                    return verify::handles(cx, found);
                }
                "name" => {
                    let s = SSL_get_servername(p, 0);
                    if s.is_null() { Value::NIL } else { cx.str(&text(s)) }
                }
                "sigalg" | "peer_sigalg" => {
                    let mut nid: c_int = 0;
                    let ok = SSL_ctrl(p, if &*what.name() == "sigalg" { 132 } else { 108 }, 0, (&raw mut nid).cast());
                    if ok == 1 { cx.str(&text(OBJ_nid2sn(nid))) } else { Value::NIL }
                }
                // Before there is a session, asking for its group would look through NULL.
                "group" if SSL_get_session(p).is_null() => Value::NIL,
                "group" => {
                    let s = { SSL_ctrl(p, 134, 0, null_mut()) as c_int };
                    let nid = s & 0xff_ffff;
                    if nid == 0 { Value::NIL } else { cx.str(&text(OBJ_nid2sn(nid))) }
                }
                "verify_mode" => Value::fixnum(SSL_get_verify_mode(p) as i64),
                _ => Value::fixnum(SSL_get_shutdown(p) as i64),
            })
        }
    }
    #[method("ssl_set_verify_result", singleton)]
    fn ssl_set_verify_result(cx: &mut Cx, _this: Value, h: Value, n: i64) -> Result<()> {
        let p = cx.data_ref::<Ssl>(h)?.p;
        // SAFETY: a live connection.
        unsafe { SSL_set_verify_result(p, n as c_long) };
        Ok(())
    }
    #[method("ssl_set_session", singleton)]
    fn ssl_set_session(cx: &mut Cx, _this: Value, h: Value, session: Value) -> Result<()> {
        let s = session_of(cx, session)?;
        let p = cx.data_ref::<Ssl>(h)?.p;
        // SAFETY: live objects; it takes a reference.
        if unsafe { SSL_set_session(p, s) } != 1 {
            return fail(cx, ERROR, "SSL_set_session");
        }
        error::take();
        Ok(())
    }
    /// What callbacks have noted since: [new sessions, lines with keys, handshakes begun]
    #[method("ssl_notes", singleton)]
    fn ssl_notes(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let state = &mut cx.data_mut::<Ssl>(h)?.state;
        let (sessions, lines, n) =
            (std::mem::take(&mut state.new_sessions), std::mem::take(&mut state.key_lines), std::mem::take(&mut state.handshakes));
        let sessions = verify::handles(cx, sessions)?;
        let lines = cx.str_array(&lines);
        Ok(cx.array(&[sessions, lines, Value::fixnum(n)]))
    }
    #[method("ssl_export", singleton)]
    fn ssl_export(cx: &mut Cx, _this: Value, h: Value, label: Ref<StringCell>, n: i64, context: Value) -> Result<Value> {
        let (label, context) = (label.to_vec(), bytes(cx, context)?);
        let mut out = vec![0u8; n.clamp(0, 1 << 16) as usize];
        let p = cx.data_ref::<Ssl>(h)?.p;
        let (at, len) = context.as_ref().map_or((std::ptr::null(), 0), |b| (b.as_ptr(), b.len()));
        // SAFETY: buffers of the lengths that are told.
        let ok = unsafe {
            SSL_export_keying_material(
                p,
                out.as_mut_ptr(),
                out.len(),
                label.as_ptr().cast(),
                label.len(),
                at,
                len,
                context.is_some() as c_int,
            )
        };
        if ok != 1 {
            return fail(cx, ERROR, "SSL_export_keying_material");
        }
        Ok(binary(cx, &out))
    }
    /// :id, :time, :timeout; with a number it is set first.
    #[method("session_get", singleton)]
    fn session_get(cx: &mut Cx, _this: Value, h: Value, what: Sym, n: Option<i64>) -> Result<Value> {
        let p = session_of(cx, h)?;
        // SAFETY: a live session.
        unsafe {
            Ok(match &*what.name() {
                "time" => {
                    if let Some(n) = n {
                        SSL_SESSION_set_time(p, n as c_long);
                    }
                    cx.int(SSL_SESSION_get_time(p) as i64)
                }
                "timeout" => {
                    if let Some(n) = n {
                        SSL_SESSION_set_timeout(p, n as c_long);
                    }
                    cx.int(SSL_SESSION_get_timeout(p) as i64)
                }
                _ => {
                    let mut n = 0;
                    let at = SSL_SESSION_get_id(p, &mut n);
                    binary(cx, if n == 0 { &[] } else { std::slice::from_raw_parts(at, n as usize) })
                }
            })
        }
    }
}
pub(crate) use natives::METHODS;

/// [name, version, bits, bits of the algorithm]
///
/// # Safety
/// A cipher of a connection.
unsafe fn cipher(cx: &mut Cx, c: P) -> Value {
    // SAFETY: the caller's promise.
    unsafe {
        let mut all = 0;
        let bits = SSL_CIPHER_get_bits(c, &mut all);
        let list = [
            cx.str(&text(SSL_CIPHER_get_name(c))),
            cx.str(&text(SSL_CIPHER_get_version(c))),
            Value::fixnum(bits as i64),
            Value::fixnum(all as i64),
        ];
        cx.array(&list)
    }
}

/// Waits for a stream; false when its own time-out is over.
fn park(cx: &mut Cx, io: Value, events: i16) -> Result<bool> {
    let stream = object::get(cx, io)?;
    let seconds = stream.timeout;
    let side = if events & libc::POLLOUT != 0 { Side::Writing } else { Side::Reading };
    let came = if stream.socket.is_some() {
        wait::poll_socket(cx, io, events, seconds)?
    } else {
        wait::wait_stream(cx, io, side, events, seconds)?
    };
    Ok(came != 0)
}
