//! OCSP (RFC 6960): what somebody asks about certificates, and what their issuer answers.

use crate::error::{self, fail, text};
use crate::handle::*;
use crate::sys::*;
use crate::x509::{stack, time_text};
use std::ffi::{c_int, c_long, c_ulong};
use std::ptr::{null, null_mut};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

const ERROR: &str = "OCSP::OCSPError";
const SIGNED: &[Sort] = &[Sort::OcspRequest, Sort::OcspBasic];

fn done(cx: &mut Cx, ok: bool, name: &str) -> Result<()> {
    if !ok {
        return fail(cx, ERROR, name);
    }
    error::take();
    Ok(())
}

/// A time that is freed at the end; NULL for nil.
struct Moment(P);
impl Moment {
    fn new(cx: &mut Cx, seconds: Value) -> Result<Moment> {
        let Some(n) = seconds.as_fixnum() else { return Ok(Moment(null_mut())) };
        let Ok(days) = c_int::try_from(n.div_euclid(86400)) else { return cx.raise(ids::RANGE_ERROR, "time out of range") };
        // SAFETY: a new time.
        let t = unsafe { ASN1_TIME_adj(null_mut(), 0, days, n.rem_euclid(86400) as c_long) };
        if t.is_null() { fail(cx, ERROR, "ASN1_TIME_adj") } else { Ok(Moment(t)) }
    }
}
impl Drop for Moment {
    fn drop(&mut self) {
        // SAFETY: our own, or NULL.
        unsafe { ASN1_TIME_free(self.0) };
    }
}

fn moment_text(cx: &Cx, t: P) -> Value {
    time_text(t).map_or(Value::NIL, |(s, _)| cx.str(&s))
}

/// A copy of one answer, as an object of its own.
///
/// # Safety
/// An OCSP_SINGLERESP.
unsafe fn single(cx: &mut Cx, p: P) -> Result<Value> {
    // SAFETY: the caller's promise.
    wrap(cx, Sort::OcspSingle, unsafe { again(p, i2d_OCSP_SINGLERESP, d2i_OCSP_SINGLERESP) }, ERROR, "ASN1_item_dup")
}

/// What an answer tells, without who signed it: OpenSSL takes the name of a signer for the key of the one before, or the other way round. NULL after an error.
///
/// # Safety
/// An OCSP_BASICRESP.
unsafe fn unsigned(p: P) -> P {
    // SAFETY: the caller's promise; everything is copied.
    unsafe {
        let new = OCSP_BASICRESP_new();
        let one = |i| {
            let from = OCSP_resp_get0(p, i);
            let (mut reason, mut revoked, mut this, mut next) = (-1, null_mut(), null_mut(), null_mut());
            let status = OCSP_single_get0_status(from, &mut reason, &mut revoked, &mut this, &mut next);
            let to = OCSP_basic_add1_status(new, OCSP_SINGLERESP_get0_id(from), status, reason, revoked, this, next);
            !to.is_null()
                && (0..OCSP_SINGLERESP_get_ext_count(from).max(0))
                    .all(|i| OCSP_SINGLERESP_add_ext(to, OCSP_SINGLERESP_get_ext(from, i), -1) == 1)
        };
        let ok = !new.is_null()
            && (0..OCSP_resp_count(p).max(0)).all(one)
            && (0..OCSP_BASICRESP_get_ext_count(p).max(0)).all(|i| OCSP_BASICRESP_add_ext(new, OCSP_BASICRESP_get_ext(p, i), -1) == 1);
        if ok {
            return new;
        }
        OCSP_BASICRESP_free(new);
        null_mut()
    }
}

/// Methods of `OpenSSL::Native`.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    /// A new :ocsp_request, :ocsp_basic or :ocsp_response.
    #[method("ocsp_new", singleton)]
    fn ocsp_new(cx: &mut Cx, _this: Value, kind: Sym) -> Result<Value> {
        // SAFETY: they take nothing.
        let (p, kind, name) = unsafe {
            match &*kind.name() {
                "ocsp_request" => (OCSP_REQUEST_new(), Sort::OcspRequest, "OCSP_REQUEST_new"),
                "ocsp_basic" => (OCSP_BASICRESP_new(), Sort::OcspBasic, "OCSP_BASICRESP_new"),
                _ => (OCSP_RESPONSE_new(), Sort::OcspResponse, "OCSP_RESPONSE_new"),
            }
        };
        wrap(cx, kind, p, ERROR, name)
    }
    /// Of DER.
    #[method("ocsp_read", singleton)]
    fn ocsp_read(cx: &mut Cx, _this: Value, kind: Sym, data: Ref<StringCell>) -> Result<Value> {
        let (kind, f, name): (Sort, FromDer, &str) = match &*kind.name() {
            "ocsp_id" => (Sort::OcspId, d2i_OCSP_CERTID, "d2i_OCSP_CERTID"),
            "ocsp_request" => (Sort::OcspRequest, d2i_OCSP_REQUEST, "d2i_OCSP_REQUEST"),
            "ocsp_basic" => (Sort::OcspBasic, d2i_OCSP_BASICRESP, "d2i_OCSP_BASICRESP"),
            "ocsp_single" => (Sort::OcspSingle, d2i_OCSP_SINGLERESP, "d2i_OCSP_SINGLERESP"),
            _ => (Sort::OcspResponse, d2i_OCSP_RESPONSE, "d2i_OCSP_RESPONSE"),
        };
        let b = data.to_vec();
        wrap(cx, kind, from_der(&b, f), ERROR, name)
    }
    #[method("ocsp_der", singleton)]
    fn ocsp_der(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let (p, kind) = get_of(cx, h, &[Sort::OcspId, Sort::OcspRequest, Sort::OcspBasic, Sort::OcspSingle, Sort::OcspResponse])?;
        let f = match kind {
            Sort::OcspId => i2d_OCSP_CERTID,
            Sort::OcspRequest => i2d_OCSP_REQUEST,
            Sort::OcspBasic => i2d_OCSP_BASICRESP,
            Sort::OcspSingle => i2d_OCSP_SINGLERESP,
            _ => i2d_OCSP_RESPONSE,
        };
        // SAFETY: the function of the kind.
        match unsafe { der(f, p) } {
            Some(b) => Ok(binary(cx, &b)),
            None => fail(cx, ERROR, ""),
        }
    }

    /// What names a certificate: by a certificate, its issuer's, and a digest (nil: SHA-1).
    #[method("ocsp_id", singleton)]
    fn ocsp_id(cx: &mut Cx, _this: Value, cert: Value, issuer: Value, digest: Value) -> Result<Value> {
        let md = Algorithm::digest(cx, digest)?;
        let (cert, issuer) = (get(cx, cert, Sort::Cert)?, get(cx, issuer, Sort::Cert)?);
        // SAFETY: live objects.
        let p = unsafe { OCSP_cert_to_id(md.0, cert, issuer) };
        wrap(cx, Sort::OcspId, p, ERROR, "OCSP_cert_to_id")
    }
    /// [serial number, digest of the issuer's name, digest of its key, long name of the digest]
    #[method("ocsp_id_parts", singleton)]
    fn ocsp_id_parts(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::OcspId)?;
        let (mut name, mut digest, mut key, mut serial) = (null_mut(), null_mut(), null_mut(), null_mut());
        // SAFETY: a live object, whose parts live as long.
        unsafe {
            OCSP_id_get0_info(&mut name, &mut digest, &mut key, &mut serial, p);
            let nid = OBJ_obj2nid(digest);
            let algorithm = if nid == 0 { crate::pkey::dotted(digest) } else { text(OBJ_nid2ln(nid)) };
            let all = [hex_of_asn1(cx, serial), binary(cx, &asn1_bytes(name)), binary(cx, &asn1_bytes(key)), cx.str(&algorithm)];
            error::take();
            Ok(cx.array(&all))
        }
    }
    /// `issuer`: whether their issuers are the same, whatever certificates they name.
    #[method("ocsp_id_same?", singleton)]
    fn ocsp_id_same(cx: &mut Cx, _this: Value, a: Value, b: Value, issuer: bool) -> Result<bool> {
        let (a, b) = (get(cx, a, Sort::OcspId)?, get(cx, b, Sort::OcspId)?);
        // SAFETY: live objects.
        Ok(unsafe { if issuer { OCSP_id_issuer_cmp(a, b) } else { OCSP_id_cmp(a, b) } } == 0)
    }

    /// The certificates that a request asks about.
    #[method("ocsp_request_ids", singleton)]
    fn ocsp_request_ids(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::OcspRequest)?;
        let class = holder(cx)?;
        // SAFETY: a live request and its parts, which are copied.
        let found: Vec<Object> = unsafe {
            (0..OCSP_request_onereq_count(p).max(0))
                .filter_map(|i| Object::new(Sort::OcspId, OCSP_CERTID_dup(OCSP_onereq_get0_id(OCSP_request_onereq_get0(p, i)))))
                .collect()
        };
        error::take();
        Ok(cx.array_of(found.into_iter().map(|o| cx.data(class, o))))
    }
    #[method("ocsp_request_add", singleton)]
    fn ocsp_request_add(cx: &mut Cx, _this: Value, h: Value, id: Value) -> Result<()> {
        let (id, p) = (get(cx, id, Sort::OcspId)?, get(cx, h, Sort::OcspRequest)?);
        // SAFETY: live objects; the copy belongs to the request once it is added.
        let ok = unsafe {
            let copy = OCSP_CERTID_dup(id);
            let ok = !copy.is_null() && !OCSP_request_add0_id(p, copy).is_null();
            if !ok {
                OCSP_CERTID_free(copy);
            }
            ok
        };
        done(cx, ok, "OCSP_request_add0_id")
    }
    #[method("ocsp_signed?", singleton)]
    fn ocsp_signed(cx: &mut Cx, _this: Value, h: Value) -> Result<bool> {
        let p = get(cx, h, Sort::OcspRequest)?;
        // SAFETY: a live request.
        Ok(unsafe { OCSP_request_is_signed(p) } != 0)
    }
    /// Sets the number used once, of a request or an answer; nil: a random one.
    #[method("ocsp_add_nonce", singleton)]
    fn ocsp_add_nonce(cx: &mut Cx, _this: Value, h: Value, nonce: Value) -> Result<()> {
        let b = bytes(cx, nonce)?;
        let (p, kind) = get_of(cx, h, SIGNED)?;
        let Ok(n) = c_int::try_from(b.as_ref().map_or(0, Vec::len)) else { return cx.arg_error("string too long") };
        // With a length below one OpenSSL takes as many bytes as it likes best, which an empty text has not.
        if b.is_some() && n == 0 {
            return fail(cx, ERROR, "a nonce has at least one byte");
        }
        let at = b.as_ref().map_or(null(), |b| b.as_ptr());
        // SAFETY: readable for its length.
        let ok = unsafe { if kind == Sort::OcspRequest { OCSP_request_add1_nonce(p, at, n) } else { OCSP_basic_add1_nonce(p, at, n) } };
        done(cx, ok == 1, "OCSP_add1_nonce")
    }
    /// 1: both have the same, 0: they differ, 2: both have none, 3: the answer alone has one, -1: the request alone.
    #[method("ocsp_check_nonce", singleton)]
    fn ocsp_check_nonce(cx: &mut Cx, _this: Value, request: Value, basic: Value) -> Result<i64> {
        let (a, b) = (get(cx, request, Sort::OcspRequest)?, get(cx, basic, Sort::OcspBasic)?);
        // SAFETY: live objects.
        Ok(unsafe { OCSP_check_nonce(a, b) } as i64)
    }
    #[method("ocsp_copy_nonce", singleton)]
    fn ocsp_copy_nonce(cx: &mut Cx, _this: Value, basic: Value, request: Value) -> Result<i64> {
        let (a, b) = (get(cx, basic, Sort::OcspBasic)?, get(cx, request, Sort::OcspRequest)?);
        // SAFETY: live objects.
        let n = unsafe { OCSP_copy_nonce(a, b) };
        error::take();
        Ok(n as i64)
    }
    /// Signs a request or an answer.
    #[method("ocsp_sign", singleton)]
    fn ocsp_sign(cx: &mut Cx, _this: Value, h: Value, cert: Value, key: Value, certs: Value, flags: i64, digest: Value) -> Result<()> {
        let md = Algorithm::digest(cx, digest)?;
        let s = stack(cx, certs, Sort::Cert)?;
        let (cert, key) = (get(cx, cert, Sort::Cert)?, get(cx, key, Sort::Key)?);
        let (p, kind) = get_of(cx, h, SIGNED)?;
        // SAFETY: live objects; what is kept of the certificates gets references.
        unsafe {
            if kind == Sort::OcspRequest {
                let ok = OCSP_request_sign(p, cert, key, md.0, s.0, flags as c_ulong);
                return done(cx, ok == 1, "OCSP_request_sign");
            }
            let (mut id, mut name) = (null_mut(), null_mut());
            let signed = OCSP_resp_get0_id(p, &mut id, &mut name) == 1;
            let to = if signed { unsigned(p) } else { p };
            let ok = !to.is_null() && OCSP_basic_sign(to, cert, key, md.0, s.0, flags as c_ulong) == 1;
            if signed && !to.is_null() {
                if ok {
                    cx.data_mut::<Object>(h)?.p = to;
                }
                OCSP_BASICRESP_free(if ok { p } else { to });
            }
            done(cx, ok, "OCSP_basic_sign")
        }
    }
    #[method("ocsp_verify", singleton)]
    fn ocsp_verify(cx: &mut Cx, _this: Value, h: Value, certs: Value, store: Value, flags: i64) -> Result<bool> {
        let s = stack(cx, certs, Sort::Cert)?;
        let store = get(cx, store, Sort::Store)?;
        let (p, kind) = get_of(cx, h, SIGNED)?;
        // SAFETY: live objects. OpenSSL takes an answer that nobody has signed for one with the signer's key, which is not there.
        let n = unsafe {
            let (mut id, mut name) = (null_mut(), null_mut());
            if kind == Sort::OcspRequest {
                OCSP_request_verify(p, s.0, store, flags as c_ulong)
            } else if OCSP_resp_get0_id(p, &mut id, &mut name) == 1 {
                OCSP_basic_verify(p, s.0, store, flags as c_ulong)
            } else {
                0
            }
        };
        error::take();
        Ok(n > 0)
    }

    /// Adds what is known of a certificate; the times are seconds since 1970, or nil.
    #[method("ocsp_add_status", singleton)]
    fn ocsp_add_status(
        cx: &mut Cx,
        _this: Value,
        h: Value,
        id: Value,
        status: Ref<ArrayCell>,
        times: Ref<ArrayCell>,
        extensions: Ref<ArrayCell>,
    ) -> Result<()> {
        let n = |i| status.get(i).and_then(|v: Value| v.as_fixnum()).unwrap_or(0) as c_int;
        let at = |i| times.get(i).unwrap_or(Value::NIL);
        let (revoked, this, next) = (Moment::new(cx, at(0))?, Moment::new(cx, at(1))?, Moment::new(cx, at(2))?);
        let s = stack(cx, extensions.as_value(), Sort::Extension)?;
        let (id, p) = (get(cx, id, Sort::OcspId)?, get(cx, h, Sort::OcspBasic)?);
        // SAFETY: live objects, which are copied.
        let ok = unsafe {
            let one = OCSP_basic_add1_status(p, id, n(0), n(1), revoked.0, this.0, next.0);
            !one.is_null() && (0..OPENSSL_sk_num(s.0)).all(|i| OCSP_SINGLERESP_add_ext(one, OPENSSL_sk_value(s.0, i), -1) == 1)
        };
        done(cx, ok, "OCSP_basic_add1_status")
    }
    /// What an answer tells of each certificate.
    #[method("ocsp_singles", singleton)]
    fn ocsp_singles(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let list = cx.new_array();
        let mut i = 0;
        loop {
            let p = get(cx, h, Sort::OcspBasic)?;
            // SAFETY: a live answer and its parts.
            unsafe {
                if i >= OCSP_resp_count(p) {
                    return Ok(list.as_value());
                }
                let one = single(cx, OCSP_resp_get0(p, i))?;
                ArrayCell::push(list, &mut cx.heap, one);
            }
            i += 1;
        }
    }
    /// What an answer tells of a certificate, or nil.
    #[method("ocsp_find", singleton)]
    fn ocsp_find(cx: &mut Cx, _this: Value, h: Value, id: Value) -> Result<Value> {
        let (id, p) = (get(cx, id, Sort::OcspId)?, get(cx, h, Sort::OcspBasic)?);
        // SAFETY: live objects.
        unsafe {
            match OCSP_resp_find(p, id, -1) {
                i if i < 0 => Ok(Value::NIL),
                i => single(cx, OCSP_resp_get0(p, i)),
            }
        }
    }
    /// [certificate, status, reason, when it was revoked, when that was known, when news are due, extensions]
    #[method("ocsp_single", singleton)]
    fn ocsp_single(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::OcspSingle)?;
        let (mut reason, mut revoked, mut this, mut next) = (-1, null_mut(), null_mut(), null_mut());
        // SAFETY: a live object, whose parts live as long.
        unsafe {
            let status = OCSP_single_get0_status(p, &mut reason, &mut revoked, &mut this, &mut next);
            if status < 0 {
                return fail(cx, ERROR, "OCSP_single_get0_status");
            }
            let id = wrap(cx, Sort::OcspId, OCSP_CERTID_dup(OCSP_SINGLERESP_get0_id(p)), ERROR, "OCSP_CERTID_dup")?;
            let class = holder(cx)?;
            let found: Vec<Object> = (0..OCSP_SINGLERESP_get_ext_count(p).max(0))
                .filter_map(|i| Object::new(Sort::Extension, X509_EXTENSION_dup(OCSP_SINGLERESP_get_ext(p, i))))
                .collect();
            let extensions = cx.array_of(found.into_iter().map(|o| cx.data(class, o)));
            let all = [
                id,
                Value::fixnum(status as i64),
                Value::fixnum(reason as i64),
                moment_text(cx, revoked),
                moment_text(cx, this),
                moment_text(cx, next),
                extensions,
            ];
            error::take();
            Ok(cx.array(&all))
        }
    }
    /// Whether it is of these days: `slack` seconds around its times are granted, and it is at most `age` (-1: whatever) seconds old.
    #[method("ocsp_valid?", singleton)]
    fn ocsp_valid(cx: &mut Cx, _this: Value, h: Value, slack: i64, age: i64) -> Result<bool> {
        let p = get(cx, h, Sort::OcspSingle)?;
        let (mut this, mut next) = (null_mut(), null_mut());
        // SAFETY: a live object, whose parts live as long.
        let ok = unsafe {
            let status = OCSP_single_get0_status(p, null_mut(), null_mut(), &mut this, &mut next);
            if status < 0 {
                return fail(cx, ERROR, "OCSP_single_get0_status");
            }
            OCSP_check_validity(this, next, slack as c_long, age as c_long)
        };
        error::take();
        Ok(ok == 1)
    }

    #[method("ocsp_response_create", singleton)]
    fn ocsp_response_create(cx: &mut Cx, _this: Value, status: i64, basic: Value) -> Result<Value> {
        let basic = get_or_null(cx, basic, Sort::OcspBasic)?;
        // SAFETY: a live answer or NULL.
        let p = unsafe { OCSP_response_create(status as c_int, basic) };
        wrap(cx, Sort::OcspResponse, p, ERROR, "OCSP_response_create")
    }
    /// [status, its text]
    #[method("ocsp_response_status", singleton)]
    fn ocsp_response_status(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::OcspResponse)?;
        // SAFETY: a live response; a constant text.
        unsafe {
            let n = OCSP_response_status(p);
            let words = text(OCSP_response_status_str(n as c_long));
            error::take();
            let all = [Value::fixnum(n as i64), cx.str(&words)];
            Ok(cx.array(&all))
        }
    }
    /// The answer in a response, or nil.
    #[method("ocsp_response_basic", singleton)]
    fn ocsp_response_basic(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::OcspResponse)?;
        // SAFETY: a live response; the answer is our own.
        let basic = unsafe { OCSP_response_get1_basic(p) };
        wrap_or_nil(cx, Sort::OcspBasic, basic)
    }
}
pub(crate) use natives::METHODS;
