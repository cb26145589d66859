//! Stores and verification. Ruby's verify_callback runs outside of OpenSSL: the chain is verified with a callback of ours that plays answers known so far, and
//! ends at the first question without one; Ruby is asked, and the chain is verified again with one answer more. That is what Ruby would have seen from inside,
//! for verification does the same each time.

use crate::error::{self, fail, text};
use crate::handle::*;
use crate::sys::*;
use std::ffi::{c_int, c_long, c_ulong};
use std::ptr::null_mut;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// What OpenSSL asked, and could not be told.
pub struct Question {
    pub ok: bool,
    pub error: c_int,
    pub depth: c_int,
    pub cert: Option<Object>,
    pub chain: Vec<Object>,
}

/// Answers of Ruby's callback, and how far they have been played.
#[derive(Default)]
pub struct Replay {
    /// (goes on, error to be noted)
    pub answers: Vec<(bool, c_int)>,
    pub at: usize,
    pub question: Option<Question>,
}

/// # Safety
/// A list of certificates, or NULL.
pub unsafe fn chain_of(stack: P) -> Vec<Object> {
    // SAFETY: the caller's promise; each gets a reference.
    unsafe {
        (0..OPENSSL_sk_num(stack).max(0))
            .filter_map(|i| {
                let p = OPENSSL_sk_value(stack, i);
                X509_up_ref(p);
                Object::new(Sort::Cert, p)
            })
            .collect()
    }
}

impl Replay {
    /// # Safety
    /// A context in its callback.
    pub unsafe fn answer(&mut self, ok: c_int, ctx: P) -> c_int {
        // SAFETY: the caller's promise.
        unsafe {
            if self.question.is_some() {
                return 0;
            }
            if let Some((go_on, error)) = self.answers.get(self.at).copied() {
                self.at += 1;
                X509_STORE_CTX_set_error(ctx, error);
                return go_on as c_int;
            }
            let cert = X509_STORE_CTX_get_current_cert(ctx);
            if !cert.is_null() {
                X509_up_ref(cert);
            }
            self.question = Some(Question {
                ok: ok == 1,
                error: X509_STORE_CTX_get_error(ctx),
                depth: X509_STORE_CTX_get_error_depth(ctx),
                cert: Object::new(Sort::Cert, cert),
                chain: chain_of(X509_STORE_CTX_get0_chain(ctx)),
            });
            0
        }
    }
}

pub fn handles(cx: &mut Cx, list: Vec<Object>) -> Result<Value> {
    let class = holder(cx)?;
    let found = cx.new_array();
    for o in list {
        let v = cx.data(class, o);
        ArrayCell::push(found, &mut cx.heap, v);
    }
    Ok(found.as_value())
}

/// [:ask, ok, error, depth, certificate, chain]
pub fn question(cx: &mut Cx, q: Question) -> Result<Value> {
    let class = holder(cx)?;
    let chain = handles(cx, q.chain)?;
    let cert = q.cert.map_or(Value::NIL, |o| cx.data(class, o));
    let all =
        [Value::sym(Sym::intern("ask")), Value::bool(q.ok), Value::fixnum(q.error as i64), Value::fixnum(q.depth as i64), cert, chain];
    Ok(cx.array(&all))
}

/// Pairs [goes on, error] of Ruby's.
pub fn answers(list: Ref<ArrayCell>) -> Vec<(bool, c_int)> {
    let mut found = Vec::new();
    let mut i = 0;
    while let Some(v) = list.get(i) {
        i += 1;
        if let Some(pair) = Ref::<ArrayCell>::from_value(v) {
            let error = pair.get(1).and_then(|v: Value| v.as_fixnum()).unwrap_or(0);
            found.push((pair.get(0).is_some_and(|v: Value| v.truthy()), error as c_int));
        }
    }
    found
}

unsafe extern "C" fn replay(ok: c_int, ctx: P) -> c_int {
    // SAFETY: ex_data 0 is what `verify` put there, which outlives the call.
    unsafe {
        match X509_STORE_CTX_get_ex_data(ctx, 0).cast::<Replay>().as_mut() {
            Some(r) => r.answer(ok, ctx),
            None => ok,
        }
    }
}

/// Methods of `OpenSSL::Native`.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    #[method("store_new", singleton)]
    fn store_new(cx: &mut Cx, _this: Value) -> Result<Value> {
        // SAFETY: it takes nothing.
        let p = unsafe { X509_STORE_new() };
        wrap(cx, Sort::Store, p, "X509::StoreError", "X509_STORE_new")
    }
    #[method("store_add", singleton)]
    fn store_add(cx: &mut Cx, _this: Value, h: Value, thing: Value) -> Result<()> {
        let (t, kind) = get_of(cx, thing, &[Sort::Cert, Sort::Crl])?;
        let copy = cx.data_ref::<Object>(thing)?.copy();
        let p = get(cx, h, Sort::Store)?;
        let _ = t;
        // SAFETY: a copy that nobody changes; the store takes a reference.
        let ok = unsafe {
            match &copy {
                Some(o) if kind == Sort::Cert => X509_STORE_add_cert(p, o.p),
                Some(o) => X509_STORE_add_crl(p, o.p),
                None => 0,
            }
        };
        if ok != 1 {
            return fail(cx, "X509::StoreError", if kind == Sort::Cert { "X509_STORE_add_cert" } else { "X509_STORE_add_crl" });
        }
        error::take();
        Ok(())
    }
    /// :defaults, :file, :path
    #[method("store_load", singleton)]
    fn store_load(cx: &mut Cx, _this: Value, h: Value, what: Sym, path: Value) -> Result<()> {
        let path = c_string_or_null(cx, path)?;
        let p = get(cx, h, Sort::Store)?;
        // SAFETY: ends with NUL.
        let (ok, name) = unsafe {
            match &*what.name() {
                "file" => (X509_STORE_load_file(p, pointer(&path)), "X509_STORE_load_file"),
                "path" => (X509_STORE_load_path(p, pointer(&path)), "X509_STORE_load_path"),
                _ => (X509_STORE_set_default_paths(p), "X509_STORE_set_default_paths"),
            }
        };
        if ok != 1 {
            return fail(cx, "X509::StoreError", name);
        }
        error::take();
        Ok(())
    }
    #[method("store_set", singleton)]
    fn store_set(cx: &mut Cx, _this: Value, h: Value, what: Sym, n: i64) -> Result<()> {
        let p = get(cx, h, Sort::Store)?;
        // SAFETY: a live store.
        let ok = unsafe {
            match &*what.name() {
                "flags" => X509_STORE_set_flags(p, n as c_ulong),
                "purpose" => X509_STORE_set_purpose(p, n as c_int),
                "trust" => X509_STORE_set_trust(p, n as c_int),
                _ => {
                    X509_VERIFY_PARAM_set_time(X509_STORE_get0_param(p), n);
                    1
                }
            }
        };
        if ok != 1 {
            return fail(cx, "X509::StoreError", &format!("X509_STORE_set_{}", &*what.name()));
        }
        Ok(())
    }
    /// The flags, after some are cleared.
    #[method("store_flags", singleton)]
    fn store_flags(cx: &mut Cx, _this: Value, h: Value, cleared: i64) -> Result<i64> {
        let p = get(cx, h, Sort::Store)?;
        // SAFETY: a live store.
        unsafe {
            let param = X509_STORE_get0_param(p);
            X509_VERIFY_PARAM_clear_flags(param, cleared as c_ulong);
            Ok(X509_VERIFY_PARAM_get_flags(param) as i64)
        }
    }
    /// Verifies a chain: [:ask, ...], or [whether it is good, error, depth, certificate, chain]. `settings`: [flags, purpose, trust, time, flags to be cleared before] or nils.
    #[method("store_verify", singleton)]
    fn store_verify(
        cx: &mut Cx,
        _this: Value,
        store: Value,
        cert: Value,
        more: Value,
        settings: Ref<ArrayCell>,
        known: Value,
    ) -> Result<Value> {
        let more = crate::x509::stack(cx, more, Sort::Cert)?;
        let mut replay_of = Replay::default();
        let asks = Ref::<ArrayCell>::from_value(known);
        if let Some(known) = asks {
            replay_of.answers = answers(known);
        }
        let n: [Option<i64>; 5] = std::array::from_fn(|i| settings.get(i).and_then(|v: Value| v.as_fixnum()));
        let (store, cert) = (get(cx, store, Sort::Store)?, get_or_null(cx, cert, Sort::Cert)?);
        // SAFETY: everything that the context refers to lives through the block.
        unsafe {
            let ctx = X509_STORE_CTX_new();
            if X509_STORE_CTX_init(ctx, store, cert, more.0) != 1 {
                X509_STORE_CTX_free(ctx);
                return fail(cx, "X509::StoreError", "X509_STORE_CTX_init");
            }
            if let Some(n) = n[4] {
                X509_VERIFY_PARAM_clear_flags(X509_STORE_CTX_get0_param(ctx), n as c_ulong);
            }
            if let Some(n) = n[0] {
                X509_STORE_CTX_set_flags(ctx, n as c_ulong);
            }
            if let Some(n) = n[1] {
                X509_STORE_CTX_set_purpose(ctx, n as c_int);
            }
            if let Some(n) = n[2] {
                X509_STORE_CTX_set_trust(ctx, n as c_int);
            }
            if let Some(n) = n[3] {
                X509_STORE_CTX_set_time(ctx, 0, n);
            }
            if asks.is_some() {
                X509_STORE_CTX_set_ex_data(ctx, 0, (&raw mut replay_of).cast());
                X509_STORE_CTX_set_verify_cb(ctx, Some(replay));
            }
            let r = X509_verify_cert(ctx);
            let (code, depth) = (X509_STORE_CTX_get_error(ctx), X509_STORE_CTX_get_error_depth(ctx));
            let at = X509_STORE_CTX_get_current_cert(ctx);
            if !at.is_null() {
                X509_up_ref(at);
            }
            let at = Object::new(Sort::Cert, at);
            let chain = chain_of(X509_STORE_CTX_get0_chain(ctx));
            X509_STORE_CTX_set_ex_data(ctx, 0, null_mut());
            X509_STORE_CTX_free(ctx);
            if let Some(q) = replay_of.question {
                error::take();
                return question(cx, q);
            }
            if r < 0 && code == 0 {
                return fail(cx, "X509::StoreError", "X509_verify_cert");
            }
            error::take();
            let class = holder(cx)?;
            let chain = handles(cx, chain)?;
            let at = at.map_or(Value::NIL, |o| cx.data(class, o));
            Ok(cx.array(&[Value::bool(r == 1), Value::fixnum(code as i64), Value::fixnum(depth as i64), at, chain]))
        }
    }
    #[method("verify_text", singleton)]
    fn verify_text(cx: &mut Cx, _this: Value, n: i64) -> Value {
        // SAFETY: a constant text.
        cx.str(&text(unsafe { X509_verify_cert_error_string(n as c_long) }))
    }
    #[method("defaults", singleton)]
    fn defaults(cx: &mut Cx, _this: Value) -> Value {
        // SAFETY: constant texts.
        let all: Vec<String> = unsafe {
            [
                X509_get_default_cert_file(),
                X509_get_default_cert_dir(),
                X509_get_default_cert_file_env(),
                X509_get_default_cert_dir_env(),
                X509_get_default_cert_area(),
                X509_get_default_private_dir(),
            ]
            .map(text)
            .into()
        };
        cx.str_array(&all)
    }
    /// [version's number, version's text]
    #[method("version", singleton)]
    fn version(cx: &mut Cx, _this: Value) -> Value {
        // SAFETY: a constant text.
        let (n, s) = unsafe { (OpenSSL_version_num(), text(OpenSSL_version(0))) };
        let all = [cx.int(n as i64), cx.str(&s)];
        cx.array(&all)
    }
}
pub(crate) use natives::METHODS;
