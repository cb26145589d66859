//! Time stamps (RFC 3161): requests, what an authority answers, and an authority.

use crate::error::{self, fail, text};
use crate::handle::*;
use crate::sys::*;
use crate::x509::{stack, time_text};
use std::ffi::{c_int, c_long};
use std::ptr::null_mut;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

const ERROR: &str = "Timestamp::TimestampError";

fn done(cx: &mut Cx, ok: bool, name: &str) -> Result<()> {
    if !ok {
        return fail(cx, ERROR, name);
    }
    error::take();
    Ok(())
}

/// The short name of an object, else its numbers; nil for one that was never set.
///
/// # Safety
/// An ASN1_OBJECT or NULL.
unsafe fn name_of(cx: &Cx, o: P) -> Value {
    if o.is_null() {
        return Value::NIL;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let nid = OBJ_obj2nid(o);
        let name = if nid == 0 { crate::pkey::dotted(o) } else { text(OBJ_nid2sn(nid)) };
        if name.is_empty() { Value::NIL } else { cx.str(&name) }
    }
}

/// [name of the digest, digest of the data]
///
/// # Safety
/// A TS_MSG_IMPRINT.
unsafe fn imprint(cx: &Cx, p: P) -> [Value; 2] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut o = null_mut();
        X509_ALGOR_get0(&mut o, null_mut(), null_mut(), TS_MSG_IMPRINT_get_algo(p));
        [name_of(cx, o), binary(cx, &asn1_bytes(TS_MSG_IMPRINT_get_msg(p)))]
    }
}

/// An object by its name or its numbers, freed at the end.
struct Oid(P);
impl Oid {
    fn new(cx: &mut Cx, name: Ref<StringCell>) -> Result<Oid> {
        let name = c_string(cx, name)?;
        // SAFETY: ends with NUL.
        let p = unsafe { OBJ_txt2obj(name.as_ptr(), 0) };
        if p.is_null() {
            return fail(cx, "ASN1::ASN1Error", &format!("invalid OBJECT ID {}", name.to_string_lossy()));
        }
        Ok(Oid(p))
    }
}
impl Drop for Oid {
    fn drop(&mut self) {
        // SAFETY: our own, or NULL.
        unsafe { ASN1_OBJECT_free(self.0) };
    }
}

/// What an authority's callbacks tell.
struct Stamp {
    serial: Big,
    seconds: c_long,
}

unsafe extern "C" fn on_serial(_ctx: P, arg: P) -> P {
    // SAFETY: `arg` is the Stamp of the call under way; the caller frees the number.
    asn1_integer(unsafe { &(*arg.cast::<Stamp>()).serial })
}

unsafe extern "C" fn on_time(_ctx: P, arg: P, seconds: *mut c_long, micros: *mut c_long) -> c_int {
    // SAFETY: as above.
    unsafe { (*seconds, *micros) = ((*arg.cast::<Stamp>()).seconds, 0) };
    1
}

struct Authority(P);
impl Drop for Authority {
    fn drop(&mut self) {
        // SAFETY: our own, or NULL.
        unsafe { TS_RESP_CTX_free(self.0) };
    }
}

/// Methods of `OpenSSL::Native`.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    /// A new request, which wants the authority's certificate.
    #[method("ts_new", singleton)]
    fn ts_new(cx: &mut Cx, _this: Value) -> Result<Value> {
        // SAFETY: a new request.
        let p = unsafe {
            let p = TS_REQ_new();
            if !p.is_null() && (TS_REQ_set_version(p, 1) != 1 || TS_REQ_set_cert_req(p, 1) != 1) {
                TS_REQ_free(p);
                return fail(cx, ERROR, "TS_REQ_set_version");
            }
            p
        };
        wrap(cx, Sort::TsRequest, p, ERROR, "TS_REQ_new")
    }
    /// A :ts_request, :ts_response or :ts_info of DER.
    #[method("ts_read", singleton)]
    fn ts_read(cx: &mut Cx, _this: Value, kind: Sym, data: Ref<StringCell>) -> Result<Value> {
        let (kind, f, name): (Sort, FromDer, &str) = match &*kind.name() {
            "ts_request" => (Sort::TsRequest, d2i_TS_REQ, "request"),
            "ts_response" => (Sort::TsResponse, d2i_TS_RESP, "response"),
            _ => (Sort::TsInfo, d2i_TS_TST_INFO, "token info"),
        };
        let b = data.to_vec();
        wrap(cx, kind, from_der(&b, f), ERROR, &format!("Error when decoding the timestamp {name}"))
    }
    #[method("ts_der", singleton)]
    fn ts_der(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let (p, kind) = get_of(cx, h, &[Sort::TsRequest, Sort::TsResponse, Sort::TsInfo])?;
        let f = match kind {
            Sort::TsRequest => i2d_TS_REQ,
            Sort::TsResponse => i2d_TS_RESP,
            _ => i2d_TS_TST_INFO,
        };
        // SAFETY: the function of the kind.
        match unsafe { der(f, p) } {
            Some(b) => Ok(binary(cx, &b)),
            None => fail(cx, ERROR, "Error when encoding to DER"),
        }
    }
    #[method("ts_text", singleton)]
    fn ts_text(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let (p, kind) = get_of(cx, h, &[Sort::TsRequest, Sort::TsResponse, Sort::TsInfo])?;
        let f = match kind {
            Sort::TsRequest => TS_REQ_print_bio,
            Sort::TsResponse => TS_RESP_print_bio,
            _ => TS_TST_INFO_print_bio,
        };
        // SAFETY: the function of the kind.
        let (b, ok) = output(|bio| unsafe { f(bio, p) });
        if ok != 1 {
            return fail(cx, ERROR, "");
        }
        error::take();
        Ok(cx.str_auto(&b))
    }
    /// [version, digest's name, digest, policy, nonce, whether the certificate is wanted]
    #[method("ts_request", singleton)]
    fn ts_request(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::TsRequest)?;
        // SAFETY: a live request and its parts.
        unsafe {
            let [name, digest] = imprint(cx, TS_REQ_get_msg_imprint(p));
            let all = [
                cx.int(TS_REQ_get_version(p) as i64),
                name,
                digest,
                name_of(cx, TS_REQ_get_policy_id(p)),
                hex_of_asn1(cx, TS_REQ_get_nonce(p)),
                Value::bool(TS_REQ_get_cert_req(p) != 0),
            ];
            error::take();
            Ok(cx.array(&all))
        }
    }
    #[method("ts_set_number", singleton)]
    fn ts_set_number(cx: &mut Cx, _this: Value, h: Value, what: Sym, n: i64) -> Result<()> {
        let p = get(cx, h, Sort::TsRequest)?;
        // SAFETY: a live request.
        let (ok, name) = unsafe {
            match &*what.name() {
                "version" => (TS_REQ_set_version(p, n as c_long), "TS_REQ_set_version"),
                _ => (TS_REQ_set_cert_req(p, (n != 0) as c_int), "TS_REQ_set_cert_req"),
            }
        };
        done(cx, ok == 1, name)
    }
    /// :algorithm and :policy by name, :imprint as bytes, :nonce in hexadecimal digits.
    #[method("ts_set_text", singleton)]
    fn ts_set_text(cx: &mut Cx, _this: Value, h: Value, what: Sym, value: Ref<StringCell>) -> Result<()> {
        let what = what.name().to_string();
        let (mut oid, mut nonce, mut b) = (Oid(null_mut()), Big(null_mut()), Vec::new());
        match &*what {
            "algorithm" | "policy" => oid = Oid::new(cx, value)?,
            "nonce" => nonce = Big::new(cx, value)?,
            _ => b = value.to_vec(),
        }
        let Ok(length) = c_int::try_from(b.len()) else { return cx.arg_error("string too long") };
        let p = get(cx, h, Sort::TsRequest)?;
        // SAFETY: a live request and its parts; the algorithm takes the object over, the others copy.
        let (ok, name) = unsafe {
            let imprint = TS_REQ_get_msg_imprint(p);
            match &*what {
                "algorithm" => {
                    let ok = X509_ALGOR_set0(TS_MSG_IMPRINT_get_algo(imprint), oid.0, 5, null_mut()); // V_ASN1_NULL
                    if ok == 1 {
                        std::mem::forget(oid);
                    }
                    (ok, "X509_ALGOR_set0")
                }
                "policy" => (TS_REQ_set_policy_id(p, oid.0), "TS_REQ_set_policy_id"),
                "nonce" => {
                    let n = asn1_integer(&nonce);
                    let ok = TS_REQ_set_nonce(p, n);
                    ASN1_INTEGER_free(n);
                    (ok, "TS_REQ_set_nonce")
                }
                _ => (TS_MSG_IMPRINT_set_msg(imprint, b.as_ptr(), length), "TS_MSG_IMPRINT_set_msg"),
            }
        };
        done(cx, ok == 1, name)
    }
    /// [status, number of the first failure's bit of some (-1: of none; nil: no failure), texts, PKCS7 or nil, information or nil]
    #[method("ts_response", singleton)]
    fn ts_response(cx: &mut Cx, _this: Value, h: Value, bits: Ref<ArrayCell>) -> Result<Value> {
        let p = get(cx, h, Sort::TsResponse)?;
        // SAFETY: a live response and its parts.
        unsafe {
            let info = TS_RESP_get_status_info(p);
            let status = hex_of_asn1(cx, TS_STATUS_INFO_get0_status(info));
            let failure = TS_STATUS_INFO_get0_failure_info(info);
            let bit = if failure.is_null() {
                Value::NIL
            } else {
                let mut all = (0..bits.len()).filter_map(|i| bits.get(i).and_then(|v: Value| v.as_fixnum()));
                Value::fixnum(all.find(|n| ASN1_BIT_STRING_get_bit(failure, *n as c_int) == 1).unwrap_or(-1))
            };
            let words = TS_STATUS_INFO_get0_text(info);
            let texts: Vec<Vec<u8>> = (0..OPENSSL_sk_num(words).max(0)).map(|i| asn1_bytes(OPENSSL_sk_value(words, i))).collect();
            let texts = cx.array_of(texts.iter().map(|b| binary(cx, b)));
            let (token, tst) = (TS_RESP_get_token(p), TS_RESP_get_tst_info(p));
            let token = if token.is_null() { null_mut() } else { PKCS7_dup(token) };
            let tst = if tst.is_null() { null_mut() } else { TS_TST_INFO_dup(tst) };
            let (token, tst) = (Object::new(Sort::Pkcs7, token), Object::new(Sort::TsInfo, tst));
            error::take();
            let class = holder(cx)?;
            let token = token.map_or(Value::NIL, |o| cx.data(class, o));
            let tst = tst.map_or(Value::NIL, |o| cx.data(class, o));
            Ok(cx.array(&[status, bit, texts, token, tst]))
        }
    }
    /// [version, policy, digest's name, digest, serial number, time, whether times are in order, nonce]
    #[method("ts_info", singleton)]
    fn ts_info(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::TsInfo)?;
        // SAFETY: a live object and its parts.
        unsafe {
            let [name, digest] = imprint(cx, TS_TST_INFO_get_msg_imprint(p));
            let all = [
                cx.int(TS_TST_INFO_get_version(p) as i64),
                name_of(cx, TS_TST_INFO_get_policy_id(p)),
                name,
                digest,
                hex_of_asn1(cx, TS_TST_INFO_get_serial(p)),
                time_text(TS_TST_INFO_get_time(p)).map_or(Value::NIL, |(s, _)| cx.str(&s)),
                Value::bool(TS_TST_INFO_get_ordering(p) != 0),
                hex_of_asn1(cx, TS_TST_INFO_get_nonce(p)),
            ];
            error::take();
            Ok(cx.array(&all))
        }
    }
    /// Raises unless the response is what was asked for, and signed by whom the store trusts.
    #[method("ts_verify", singleton)]
    fn ts_verify(cx: &mut Cx, _this: Value, h: Value, request: Value, store: Value, certs: Value) -> Result<()> {
        let s = stack(cx, certs, Sort::Cert)?;
        let (request, store) = (get(cx, request, Sort::TsRequest)?, get(cx, store, Sort::Store)?);
        let p = get(cx, h, Sort::TsResponse)?;
        // SAFETY: live objects; the context owns references to the store and to the certificates of a list of its own.
        let ok = unsafe {
            let ctx = TS_REQ_to_TS_VERIFY_CTX(request, null_mut());
            if ctx.is_null() {
                return fail(cx, ERROR, "Error when creating the verification context.");
            }
            let own = OPENSSL_sk_new_null();
            for i in 0..OPENSSL_sk_num(s.0) {
                let cert = OPENSSL_sk_value(s.0, i);
                if OPENSSL_sk_push(own, cert) > 0 {
                    X509_up_ref(cert);
                }
            }
            TS_VERIFY_CTX_set_certs(ctx, own);
            X509_STORE_up_ref(store);
            TS_VERIFY_CTX_set_store(ctx, store);
            TS_VERIFY_CTX_add_flags(ctx, 1); // TS_VFY_SIGNATURE
            let ok = TS_RESP_verify_response(ctx, p);
            TS_VERIFY_CTX_free(ctx);
            ok
        };
        done(cx, ok == 1, "TS_RESP_verify_response")
    }
    /// An authority's response to a request. `stamp`: [serial number, seconds since 1970, policy or nil].
    #[method("ts_create", singleton)]
    fn ts_create(
        cx: &mut Cx,
        _this: Value,
        key: Value,
        cert: Value,
        request: Value,
        stamp: Ref<ArrayCell>,
        certs: Value,
        digests: Ref<ArrayCell>,
    ) -> Result<Value> {
        let part = |i| stamp.get(i).unwrap_or(Value::NIL);
        let mut of = Stamp { serial: Big::or_null(cx, part(0))?, seconds: part(1).as_fixnum().unwrap_or(0) as c_long };
        let policy = if part(2).is_nil() {
            Oid(null_mut())
        } else {
            let name = cx.to_str(part(2))?;
            Oid::new(cx, name)?
        };
        // The authority keeps pointers alone: they have to live as long as it.
        let mut known: Vec<Algorithm> = Vec::new();
        let mut i = 0;
        while let Some(name) = digests.get(i) {
            i += 1;
            known.push(Algorithm::digest(cx, name)?);
        }
        let s = stack(cx, certs, Sort::Cert)?;
        let (key, cert) = (get(cx, key, Sort::Key)?, get(cx, cert, Sort::Cert)?);
        let request = get(cx, request, Sort::TsRequest)?;
        // SAFETY: live objects; the authority ends before what it refers to.
        let p = unsafe {
            let Some(b) = der(i2d_TS_REQ, request) else { return fail(cx, ERROR, "Error when encoding to DER") };
            let ctx = Authority(TS_RESP_CTX_new());
            if ctx.0.is_null() {
                return fail(cx, ERROR, "TS_RESP_CTX_new");
            }
            if TS_RESP_CTX_set_signer_cert(ctx.0, cert) != 1 {
                return fail(cx, ERROR, "Certificate does not contain the timestamping extension");
            }
            TS_RESP_CTX_set_serial_cb(ctx.0, on_serial, (&raw mut of).cast());
            TS_RESP_CTX_set_time_cb(ctx.0, on_time, (&raw mut of).cast());
            let asked = TS_REQ_get_policy_id(request);
            let policy = if asked.is_null() { policy.0 } else { asked };
            let ready = TS_RESP_CTX_set_signer_key(ctx.0, key) == 1
                && TS_RESP_CTX_set_certs(ctx.0, s.0) == 1
                && TS_RESP_CTX_set_def_policy(ctx.0, policy) == 1
                && known.iter().all(|md| TS_RESP_CTX_add_md(ctx.0, md.0) == 1);
            if !ready {
                return fail(cx, ERROR, "Error during response generation");
            }
            let input = Input::new(&b);
            TS_RESP_create_response(ctx.0, input.0)
        };
        if p.is_null() {
            return fail(cx, ERROR, "Error during response generation");
        }
        wrap(cx, Sort::TsResponse, p, ERROR, "")
    }
}
pub(crate) use natives::METHODS;
