//! Certificates, requests, lists of revoked ones, names, extensions, and PKCS #7, #12, SPKI. One set of functions for all kinds: what they are about is told by the object.

use crate::error::{self, fail, text};
use crate::handle::*;
use crate::pkey::dotted;
use crate::provider::{self, Within};
use crate::sys::*;
use std::ffi::{c_int, c_long, c_ulong};
use std::ptr::{null, null_mut};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

const X: &[Sort] = &[Sort::Cert, Sort::Request, Sort::Crl];

fn class_of(kind: Sort) -> &'static str {
    match kind {
        Sort::Cert => "X509::CertificateError",
        Sort::Request => "X509::RequestError",
        Sort::Crl => "X509::CRLError",
        Sort::Name => "X509::NameError",
        Sort::Extension => "X509::ExtensionError",
        Sort::Pkcs7 => "PKCS7::PKCS7Error",
        Sort::Session => "SSL::Session::SessionError",
        Sort::Spki => "Netscape::SPKIError",
        _ => "OpenSSLError",
    }
}

/// What a kind is called in calls from Ruby.
fn kind_named(cx: &mut Cx, name: Sym) -> Result<Sort> {
    Ok(match &*name.name() {
        "cert" => Sort::Cert,
        "request" => Sort::Request,
        "crl" => Sort::Crl,
        "name" => Sort::Name,
        "extension" => Sort::Extension,
        "pkcs7" => Sort::Pkcs7,
        "session" => Sort::Session,
        "spki" => Sort::Spki,
        _ => return cx.arg_error("unknown kind"),
    })
}

/// The X509_NAMEs of DER; NULL after an error.
struct Name(P);
impl Name {
    fn new(cx: &mut Cx, v: Value) -> Result<Name> {
        let p = get(cx, v, Sort::Name)?;
        // SAFETY: a live name.
        Ok(Name(unsafe { X509_NAME_dup(p) }))
    }
}
impl Drop for Name {
    fn drop(&mut self) {
        // SAFETY: our own.
        unsafe { X509_NAME_free(self.0) };
    }
}

/// Objects of a list, each with a reference of its own for OpenSSL to read.
pub fn stack(cx: &mut Cx, v: Value, kind: Sort) -> Result<Stack> {
    // SAFETY: an empty stack of our own.
    let s = Stack(unsafe { OPENSSL_sk_new_null() });
    if v.is_nil() {
        return Ok(s);
    }
    let Some(list) = Ref::<ArrayCell>::from_value(v) else { return cx.type_error("not an Array") };
    let mut i = 0;
    while let Some(v) = list.get(i) {
        i += 1;
        let p = get(cx, v, kind)?;
        // SAFETY: it stays alive as long as the list's elements, which the caller holds.
        unsafe { OPENSSL_sk_push(s.0, p) };
    }
    Ok(s)
}
/// A stack that does not own what is in it.
pub struct Stack(pub P);
impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: our own.
        unsafe { OPENSSL_sk_free(self.0) };
    }
}

/// An Array of copies of what is in one of OpenSSL's stacks.
pub fn certs(cx: &mut Cx, stack: P) -> Result<Value> {
    let class = holder(cx)?;
    // SAFETY: a live stack of certificates, or NULL: then it has -1.
    let found = unsafe {
        (0..OPENSSL_sk_num(stack).max(0))
            .filter_map(|i| {
                let p = OPENSSL_sk_value(stack, i);
                X509_up_ref(p);
                Object::new(Sort::Cert, p)
            })
            .collect::<Vec<_>>()
    };
    Ok(cx.array_of(found.into_iter().map(|o| cx.data(class, o))))
}

pub fn time_text(t: P) -> Option<(String, bool)> {
    if t.is_null() {
        return None;
    }
    // SAFETY: a live time.
    unsafe {
        let g = ASN1_TIME_to_generalizedtime(t, null_mut());
        if g.is_null() {
            error::take();
            return None;
        }
        let b = std::slice::from_raw_parts(ASN1_STRING_get0_data(g), ASN1_STRING_length(g).max(0) as usize).to_vec();
        ASN1_TIME_free(g);
        Some((String::from_utf8_lossy(&b).into_owned(), true))
    }
}

/// An extension in OpenSSL's words, as it stands in certificates.
fn extension_text(e: P) -> Vec<u8> {
    // SAFETY: a live extension.
    unsafe { output(|bio| if X509V3_EXT_print(bio, e, 0, 0) != 1 { ASN1_STRING_print(bio, X509_EXTENSION_get_data(e)) } else { 1 }).0 }
}

/// Methods of `OpenSSL::Native`.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    /// A new, empty object.
    #[method("x_new", singleton)]
    fn x_new(cx: &mut Cx, _this: Value, kind: Sym) -> Result<Value> {
        let kind = kind_named(cx, kind)?;
        // SAFETY: they take nothing.
        let p = unsafe {
            match kind {
                Sort::Cert => X509_new(),
                Sort::Request => X509_REQ_new(),
                Sort::Crl => X509_CRL_new(),
                Sort::Name => X509_NAME_new(),
                Sort::Spki => NETSCAPE_SPKI_new(),
                Sort::Pkcs7 => PKCS7_new(),
                _ => return cx.type_error("no empty one"),
            }
        };
        wrap(cx, kind, p, class_of(kind), "new")
    }
    /// Of DER, else of PEM.
    #[method("x_read", singleton)]
    fn x_read(cx: &mut Cx, _this: Value, kind: Sym, data: Ref<StringCell>) -> Result<Value> {
        let kind = kind_named(cx, kind)?;
        let b = data.to_vec();
        let mut pass = Pass { given: None, asked: false };
        type Read = unsafe extern "C" fn(P, *mut P, Option<Password>, P) -> P;
        let (d2i, pem, name): (unsafe extern "C" fn(*mut P, *mut *const u8, c_long) -> P, Option<Read>, &str) = match kind {
            Sort::Cert => (d2i_X509, Some(PEM_read_bio_X509), "PEM_read_bio_X509"),
            Sort::Request => (d2i_X509_REQ, Some(PEM_read_bio_X509_REQ), "PEM_read_bio_X509_REQ"),
            Sort::Crl => (d2i_X509_CRL, Some(PEM_read_bio_X509_CRL), "PEM_read_bio_X509_CRL"),
            Sort::Pkcs7 => (d2i_PKCS7, Some(PEM_read_bio_PKCS7), "Could not parse the PKCS7"),
            Sort::Session => (d2i_SSL_SESSION, Some(PEM_read_bio_SSL_SESSION), "unknown type"),
            Sort::Name => (d2i_X509_NAME, None, "d2i_X509_NAME"),
            Sort::Spki => (d2i_NETSCAPE_SPKI, None, "NETSCAPE_SPKI_b64_decode"),
            _ => (d2i_X509_EXTENSION, None, "d2i_X509_EXTENSION"),
        };
        let mut p = from_der(&b, d2i);
        if p.is_null()
            && let Some(pem) = pem
        {
            error::take();
            let input = Input::new(&b);
            // SAFETY: the BIO and the password live through the call.
            p = unsafe { pem(input.0, null_mut(), Some(password), pass.arg()) };
        }
        if p.is_null() && kind == Sort::Spki {
            error::take();
            let text = c_string(cx, data)?;
            // SAFETY: ends with NUL.
            p = unsafe { NETSCAPE_SPKI_b64_decode(text.as_ptr(), -1) };
        }
        wrap(cx, kind, p, class_of(kind), name)
    }
    /// All certificates of PEM, or one of DER.
    #[method("x_read_all", singleton)]
    fn x_read_all(cx: &mut Cx, _this: Value, data: Ref<StringCell>) -> Result<Value> {
        let b = data.to_vec();
        let mut pass = Pass { given: None, asked: false };
        let found = cx.new_array();
        let one = from_der(&b, d2i_X509);
        if !one.is_null() {
            let v = wrap(cx, Sort::Cert, one, "X509::CertificateError", "")?;
            ArrayCell::push(found, &mut cx.heap, v);
            return Ok(found.as_value());
        }
        error::take();
        let input = Input::new(&b);
        loop {
            // SAFETY: the BIO and the password live through the call.
            let p = unsafe { PEM_read_bio_X509(input.0, null_mut(), Some(password), pass.arg()) };
            if p.is_null() {
                // PEM_R_NO_START_LINE is the end of the list.
                // SAFETY: it only looks.
                let end = unsafe { ERR_peek_last_error() } & 0x7f_ffff == 108;
                if !found.is_empty() && end {
                    error::take();
                    return Ok(found.as_value());
                }
                return fail(cx, "X509::CertificateError", "PEM_read_bio_X509");
            }
            let v = wrap(cx, Sort::Cert, p, "X509::CertificateError", "")?;
            ArrayCell::push(found, &mut cx.heap, v);
        }
    }
    #[method("x_der", singleton)]
    fn x_der(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let (p, kind) = get_of(cx, h, &[])?;
        let f = match kind {
            Sort::Cert => i2d_X509,
            Sort::Request => i2d_X509_REQ,
            Sort::Crl => i2d_X509_CRL,
            Sort::Name => i2d_X509_NAME,
            Sort::Extension => i2d_X509_EXTENSION,
            Sort::Pkcs7 => i2d_PKCS7,
            Sort::Session => i2d_SSL_SESSION,
            Sort::Spki => i2d_NETSCAPE_SPKI,
            _ => return cx.type_error("no DER"),
        };
        // SAFETY: the function of the kind.
        match unsafe { der(f, p) } {
            Some(b) => Ok(binary(cx, &b)),
            None => fail(cx, class_of(kind), "i2d"),
        }
    }
    #[method("x_tbs", singleton)]
    fn x_tbs(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Cert)?;
        // SAFETY: a live certificate.
        match unsafe { der(i2d_re_X509_tbs, p) } {
            Some(b) => Ok(binary(cx, &b)),
            None => fail(cx, "X509::CertificateError", "i2d_re_X509_tbs"),
        }
    }
    #[method("x_pem", singleton)]
    fn x_pem(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let (p, kind) = get_of(cx, h, &[])?;
        let f = match kind {
            Sort::Cert => PEM_write_bio_X509,
            Sort::Request => PEM_write_bio_X509_REQ,
            Sort::Crl => PEM_write_bio_X509_CRL,
            Sort::Pkcs7 => PEM_write_bio_PKCS7,
            Sort::Session => PEM_write_bio_SSL_SESSION,
            _ => return cx.type_error("no PEM"),
        };
        // SAFETY: the function of the kind.
        let (b, ok) = output(|bio| unsafe { f(bio, p) });
        if ok != 1 { fail(cx, class_of(kind), "PEM_write") } else { Ok(ascii(cx, &b)) }
    }
    #[method("x_text", singleton)]
    fn x_text(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let (p, kind) = get_of(cx, h, &[])?;
        let f = match kind {
            Sort::Cert => X509_print,
            Sort::Request => X509_REQ_print,
            Sort::Crl => X509_CRL_print,
            Sort::Session => SSL_SESSION_print,
            Sort::Spki => NETSCAPE_SPKI_print,
            _ => return cx.type_error("no text"),
        };
        // SAFETY: the function of the kind.
        let (b, _) = output(|bio| unsafe { f(bio, p) });
        error::take();
        Ok(cx.str_auto(&b))
    }
    #[method("x_version", singleton)]
    fn x_version(cx: &mut Cx, _this: Value, h: Value) -> Result<i64> {
        // SAFETY: the function of the kind.
        Ok(unsafe {
            match get_of(cx, h, X)? {
                (p, Sort::Cert) => X509_get_version(p),
                (p, Sort::Request) => X509_REQ_get_version(p),
                (p, _) => X509_CRL_get_version(p),
            }
        } as i64)
    }
    #[method("x_set_version", singleton)]
    fn x_set_version(cx: &mut Cx, _this: Value, h: Value, n: i64) -> Result<()> {
        let (p, kind) = get_of(cx, h, X)?;
        let n = n as c_long;
        // SAFETY: the function of the kind.
        let ok = unsafe {
            match kind {
                Sort::Cert => X509_set_version(p, n),
                Sort::Request => X509_REQ_set_version(p, n),
                _ => X509_CRL_set_version(p, n),
            }
        };
        if ok != 1 { fail(cx, class_of(kind), "X509_set_version") } else { Ok(()) }
    }
    #[method("x_serial", singleton)]
    fn x_serial(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Cert)?;
        // SAFETY: a live certificate; the number is our own.
        unsafe {
            let n = Big(ASN1_INTEGER_to_BN(X509_get_serialNumber(p), null_mut()));
            Ok(hex(cx, n.0))
        }
    }
    #[method("x_set_serial", singleton)]
    fn x_set_serial(cx: &mut Cx, _this: Value, h: Value, digits: Ref<StringCell>) -> Result<()> {
        let n = Big::new(cx, digits)?;
        let p = get(cx, h, Sort::Cert)?;
        // SAFETY: live objects; it is copied.
        unsafe {
            let i = BN_to_ASN1_INTEGER(n.0, null_mut());
            let ok = X509_set_serialNumber(p, i);
            ASN1_INTEGER_free(i);
            if ok != 1 {
                return fail(cx, "X509::CertificateError", "X509_set_serialNumber");
            }
        }
        Ok(())
    }
    /// The signature's algorithm: [short name, long name, dotted number]; `inner`: as the signed part names it.
    #[method("x_algorithm", singleton)]
    fn x_algorithm(cx: &mut Cx, _this: Value, h: Value, inner: bool) -> Result<Value> {
        // SAFETY: the functions of the kinds.
        unsafe {
            let (mut signature, mut algorithm, mut o) = (null_mut(), null_mut(), null_mut());
            match get_of(cx, h, X)? {
                (p, Sort::Cert) if inner => algorithm = X509_get0_tbs_sigalg(p),
                (p, Sort::Cert) => X509_get0_signature(&mut signature, &mut algorithm, p),
                (p, Sort::Request) => X509_REQ_get0_signature(p, &mut signature, &mut algorithm),
                (p, _) => X509_CRL_get0_signature(p, &mut signature, &mut algorithm),
            }
            X509_ALGOR_get0(&mut o, null_mut(), null_mut(), algorithm);
            let nid = OBJ_obj2nid(o);
            let all = [cx.str(&text(OBJ_nid2sn(nid))), cx.str(&text(OBJ_nid2ln(nid))), cx.str(&dotted(o))];
            error::take();
            Ok(cx.array(&all))
        }
    }
    /// :subject or :issuer, a copy.
    #[method("x_name", singleton)]
    fn x_name(cx: &mut Cx, _this: Value, h: Value, which: Sym) -> Result<Value> {
        let (p, kind) = get_of(cx, h, X)?;
        // SAFETY: the function of the kind.
        let name = unsafe {
            match kind {
                Sort::Cert if &*which.name() == "issuer" => X509_get_issuer_name(p),
                Sort::Cert => X509_get_subject_name(p),
                Sort::Request => X509_REQ_get_subject_name(p),
                _ => X509_CRL_get_issuer(p),
            }
        };
        if name.is_null() {
            return fail(cx, class_of(kind), "X509_get_name");
        }
        // SAFETY: a live name.
        wrap(cx, Sort::Name, unsafe { X509_NAME_dup(name) }, class_of(kind), "X509_NAME_dup")
    }
    #[method("x_set_name", singleton)]
    fn x_set_name(cx: &mut Cx, _this: Value, h: Value, which: Sym, name: Value) -> Result<()> {
        let name = Name::new(cx, name)?;
        let (p, kind) = get_of(cx, h, X)?;
        // SAFETY: the function of the kind; it copies the name.
        let ok = unsafe {
            match kind {
                Sort::Cert if &*which.name() == "issuer" => X509_set_issuer_name(p, name.0),
                Sort::Cert => X509_set_subject_name(p, name.0),
                Sort::Request => X509_REQ_set_subject_name(p, name.0),
                _ => X509_CRL_set_issuer_name(p, name.0),
            }
        };
        if ok != 1 { fail(cx, class_of(kind), "X509_set_name") } else { Ok(()) }
    }
    /// The begin (0) or the end (1) of its time, as a GeneralizedTime's text, or nil.
    #[method("x_time", singleton)]
    fn x_time(cx: &mut Cx, _this: Value, h: Value, end: i64) -> Result<Value> {
        // SAFETY: the functions of the kinds.
        let t = unsafe {
            match get_of(cx, h, &[Sort::Cert, Sort::Crl])? {
                (p, Sort::Cert) => [X509_get0_notBefore(p), X509_get0_notAfter(p)][end as usize & 1],
                (p, _) => [X509_CRL_get0_lastUpdate(p), X509_CRL_get0_nextUpdate(p)][end as usize & 1],
            }
        };
        Ok(time_text(t).map_or(Value::NIL, |(s, _)| cx.str(&s)))
    }
    #[method("x_set_time", singleton)]
    fn x_set_time(cx: &mut Cx, _this: Value, h: Value, end: i64, seconds: i64) -> Result<()> {
        let (p, kind) = get_of(cx, h, &[Sort::Cert, Sort::Crl])?;
        let Ok(days) = c_int::try_from(seconds.div_euclid(86400)) else { return cx.raise(ids::RANGE_ERROR, "time out of range") };
        // SAFETY: the functions of the kinds; they copy the time.
        let ok = unsafe {
            let t = ASN1_TIME_adj(null_mut(), 0, days, seconds.rem_euclid(86400) as c_long);
            if t.is_null() {
                return fail(cx, class_of(kind), "ASN1_TIME_adj");
            }
            let ok = match kind {
                Sort::Cert => [X509_set1_notBefore, X509_set1_notAfter][end as usize & 1](p, t),
                _ => [X509_CRL_set1_lastUpdate, X509_CRL_set1_nextUpdate][end as usize & 1](p, t),
            };
            ASN1_TIME_free(t);
            ok
        };
        if ok != 1 { fail(cx, class_of(kind), "X509_set_time") } else { Ok(()) }
    }
    #[method("x_key", singleton)]
    fn x_key(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let (p, kind) = get_of(cx, h, &[Sort::Cert, Sort::Request, Sort::Spki])?;
        // SAFETY: the function of the kind; the key is our own.
        let (key, name) = unsafe {
            match kind {
                Sort::Cert => (X509_get_pubkey(p), "X509_get_pubkey"),
                Sort::Request => (X509_REQ_get_pubkey(p), "X509_REQ_get_pubkey"),
                _ => (NETSCAPE_SPKI_get_pubkey(p), "NETSCAPE_SPKI_get_pubkey"),
            }
        };
        wrap(cx, Sort::Key, key, class_of(kind), name)
    }
    #[method("x_set_key", singleton)]
    fn x_set_key(cx: &mut Cx, _this: Value, h: Value, key: Value) -> Result<()> {
        let key = get(cx, key, Sort::Key)?;
        let (p, kind) = get_of(cx, h, &[Sort::Cert, Sort::Request, Sort::Spki])?;
        // SAFETY: the function of the kind.
        let ok = unsafe {
            match kind {
                Sort::Cert => X509_set_pubkey(p, key),
                Sort::Request => X509_REQ_set_pubkey(p, key),
                _ => NETSCAPE_SPKI_set_pubkey(p, key),
            }
        };
        if ok != 1 { fail(cx, class_of(kind), "X509_set_pubkey") } else { Ok(()) }
    }
    #[method("x_sign", singleton)]
    fn x_sign(cx: &mut Cx, _this: Value, h: Value, key: Value, digest: Value) -> Result<()> {
        let md = Algorithm::digest(cx, digest)?;
        let key = get(cx, key, Sort::Key)?;
        let (p, kind) = get_of(cx, h, &[Sort::Cert, Sort::Request, Sort::Crl, Sort::Spki])?;
        // SAFETY: the function of the kind.
        let (n, name) = unsafe {
            match kind {
                Sort::Cert => (X509_sign(p, key, md.0), "X509_sign"),
                Sort::Request => (X509_REQ_sign(p, key, md.0), "X509_REQ_sign"),
                Sort::Crl => (X509_CRL_sign(p, key, md.0), "X509_CRL_sign"),
                _ => (NETSCAPE_SPKI_sign(p, key, md.0), "NETSCAPE_SPKI_sign"),
            }
        };
        error_or(cx, n > 0, kind, name)
    }
    #[method("x_verify", singleton)]
    fn x_verify(cx: &mut Cx, _this: Value, h: Value, key: Value) -> Result<bool> {
        let key = get(cx, key, Sort::Key)?;
        let (p, kind) = get_of(cx, h, &[Sort::Cert, Sort::Request, Sort::Crl, Sort::Spki])?;
        // SAFETY: the function of the kind.
        let (n, name) = unsafe {
            match kind {
                Sort::Cert => (X509_verify(p, key), "X509_verify"),
                Sort::Request => (X509_REQ_verify(p, key), "X509_REQ_verify"),
                Sort::Crl => (X509_CRL_verify(p, key), "X509_CRL_verify"),
                _ => (NETSCAPE_SPKI_verify(p, key), "NETSCAPE_SPKI_verify"),
            }
        };
        if n < 0 {
            return fail(cx, class_of(kind), name);
        }
        error::take();
        Ok(n == 1)
    }
    #[method("x_check_key", singleton)]
    fn x_check_key(cx: &mut Cx, _this: Value, h: Value, key: Value) -> Result<bool> {
        let (p, key) = (get(cx, h, Sort::Cert)?, get(cx, key, Sort::Key)?);
        // SAFETY: live objects.
        let ok = unsafe { X509_check_private_key(p, key) } == 1;
        error::take();
        Ok(ok)
    }
    /// Extensions, copies.
    #[method("x_extensions", singleton)]
    fn x_extensions(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let (p, kind) = get_of(cx, h, &[Sort::Cert, Sort::Crl])?;
        let class = holder(cx)?;
        // SAFETY: the functions of the kind.
        let found: Vec<Object> = unsafe {
            let (count, at) = if kind == Sort::Cert {
                (X509_get_ext_count(p), X509_get_ext as unsafe extern "C" fn(P, c_int) -> P)
            } else {
                (X509_CRL_get_ext_count(p), X509_CRL_get_ext as _)
            };
            (0..count).filter_map(|i| Object::new(Sort::Extension, X509_EXTENSION_dup(at(p, i)))).collect()
        };
        let list = cx.new_array();
        for o in found {
            let v = cx.data(class, o);
            ArrayCell::push(list, &mut cx.heap, v);
        }
        Ok(list.as_value())
    }
    #[method("x_add_extension", singleton)]
    fn x_add_extension(cx: &mut Cx, _this: Value, h: Value, extension: Value) -> Result<()> {
        let e = get(cx, extension, Sort::Extension)?;
        let (p, kind) = get_of(cx, h, &[Sort::Cert, Sort::Crl])?;
        // SAFETY: the function of the kind; it copies.
        let ok = unsafe { if kind == Sort::Cert { X509_add_ext(p, e, -1) } else { X509_CRL_add_ext(p, e, -1) } };
        error_or(cx, ok == 1, kind, "X509_add_ext")
    }
    #[method("x_clear_extensions", singleton)]
    fn x_clear_extensions(cx: &mut Cx, _this: Value, h: Value) -> Result<()> {
        let (p, kind) = get_of(cx, h, &[Sort::Cert, Sort::Crl])?;
        // SAFETY: the functions of the kind; what they take out is ours.
        unsafe {
            loop {
                let e = if kind == Sort::Cert { X509_delete_ext(p, 0) } else { X509_CRL_delete_ext(p, 0) };
                if e.is_null() {
                    return Ok(());
                }
                X509_EXTENSION_free(e);
            }
        }
    }
    /// Attributes of a request, or what a list revokes: DER of each.
    #[method("x_parts", singleton)]
    fn x_parts(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let (p, kind) = get_of(cx, h, &[Sort::Request, Sort::Crl])?;
        // SAFETY: the functions of the kind.
        let found: Vec<Vec<u8>> = unsafe {
            if kind == Sort::Request {
                (0..X509_REQ_get_attr_count(p)).filter_map(|i| der(i2d_X509_ATTRIBUTE, X509_REQ_get_attr(p, i))).collect()
            } else {
                let s = X509_CRL_get_REVOKED(p);
                (0..OPENSSL_sk_num(s).max(0)).filter_map(|i| der(i2d_X509_REVOKED, OPENSSL_sk_value(s, i))).collect()
            }
        };
        let list = cx.new_array();
        for b in found {
            let v = binary(cx, &b);
            ArrayCell::push(list, &mut cx.heap, v);
        }
        Ok(list.as_value())
    }
    #[method("x_add_part", singleton)]
    fn x_add_part(cx: &mut Cx, _this: Value, h: Value, data: Ref<StringCell>) -> Result<()> {
        let b = data.to_vec();
        let (p, kind) = get_of(cx, h, &[Sort::Request, Sort::Crl])?;
        // SAFETY: the functions of the kind; `add0` takes what is new, the other copies.
        let ok = unsafe {
            if kind == Sort::Request {
                let a = from_der(&b, d2i_X509_ATTRIBUTE);
                let ok = !a.is_null() && X509_REQ_add1_attr(p, a) == 1;
                X509_ATTRIBUTE_free(a);
                ok
            } else {
                let r = from_der(&b, d2i_X509_REVOKED);
                let ok = !r.is_null() && X509_CRL_add0_revoked(p, r) == 1;
                if !ok {
                    X509_REVOKED_free(r);
                }
                X509_CRL_sort(p);
                ok
            }
        };
        error_or(cx, ok, kind, "X509_add")
    }
    #[method("x_clear_parts", singleton)]
    fn x_clear_parts(cx: &mut Cx, _this: Value, h: Value) -> Result<()> {
        let (p, kind) = get_of(cx, h, &[Sort::Request, Sort::Crl])?;
        // SAFETY: what is taken out is ours.
        unsafe {
            if kind == Sort::Request {
                while X509_REQ_get_attr_count(p) > 0 {
                    X509_ATTRIBUTE_free(X509_REQ_delete_attr(p, 0));
                }
            } else {
                let s = X509_CRL_get_REVOKED(p);
                while OPENSSL_sk_num(s) > 0 {
                    X509_REVOKED_free(OPENSSL_sk_pop(s));
                }
            }
        }
        Ok(())
    }

    /// Adds an entry. `kind`: the tag of the String's ASN.1 type.
    #[method("name_add", singleton)]
    fn name_add(
        cx: &mut Cx,
        _this: Value,
        h: Value,
        field: Ref<StringCell>,
        value: Ref<StringCell>,
        kind: i64,
        at: i64,
        set: i64,
    ) -> Result<()> {
        let (field, b) = (c_string(cx, field)?, value.to_vec());
        let p = get(cx, h, Sort::Name)?;
        // Tags go as they are, but only those of ASN.1's texts: what a name holds is written by its tag, and another type's would be read as that type.
        let kind = match kind {
            12 | 18..=22 | 25..=28 | 30 | 0x1000..=0x1004 => kind as c_int,
            _ => return cx.raise(ids::ARGUMENT_ERROR, format!("invalid ASN.1 type: {kind}")),
        };
        if b.len() > c_int::MAX as usize {
            return cx.arg_error("string too long");
        }
        // SAFETY: readable for its length.
        let ok = unsafe { X509_NAME_add_entry_by_txt(p, field.as_ptr(), kind, b.as_ptr(), b.len() as c_int, at as c_int, set as c_int) };
        error_or(cx, ok == 1, Sort::Name, "X509_NAME_add_entry_by_txt")
    }
    /// [[short name or dotted number, value, tag], ...]
    #[method("name_entries", singleton)]
    fn name_entries(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Name)?;
        let list = cx.new_array();
        // SAFETY: a live name and its entries.
        unsafe {
            for i in 0..X509_NAME_entry_count(p) {
                let e = X509_NAME_get_entry(p, i);
                let (o, s) = (X509_NAME_ENTRY_get_object(e), X509_NAME_ENTRY_get_data(e));
                let nid = OBJ_obj2nid(o);
                let name = if nid == 0 { dotted(o) } else { text(OBJ_nid2sn(nid)) };
                let b = std::slice::from_raw_parts(ASN1_STRING_get0_data(s), ASN1_STRING_length(s).max(0) as usize).to_vec();
                let entry = [cx.str(&name), binary(cx, &b), Value::fixnum(ASN1_STRING_type(s) as i64)];
                let entry = cx.array(&entry);
                ArrayCell::push(list, &mut cx.heap, entry);
            }
        }
        Ok(list.as_value())
    }
    #[method("name_print", singleton)]
    fn name_print(cx: &mut Cx, _this: Value, h: Value, flags: i64) -> Result<Value> {
        let p = get(cx, h, Sort::Name)?;
        // SAFETY: a live name.
        let (b, n) = output(|bio| unsafe { X509_NAME_print_ex(bio, p, 0, flags as c_ulong) });
        if n < 0 {
            return fail(cx, "X509::NameError", "X509_NAME_print_ex");
        }
        error::take();
        Ok(binary(cx, &b))
    }
    #[method("name_line", singleton)]
    fn name_line(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Name)?;
        // SAFETY: a live name; the line is ours to free.
        unsafe {
            let s = X509_NAME_oneline(p, null_mut(), 0);
            let line = text(s);
            CRYPTO_free(s.cast(), null(), 0);
            Ok(ascii(cx, line.as_bytes()))
        }
    }
    #[method("name_cmp", singleton)]
    fn name_cmp(cx: &mut Cx, _this: Value, a: Value, b: Value) -> Result<i64> {
        let (a, b) = (get(cx, a, Sort::Name)?, get(cx, b, Sort::Name)?);
        // SAFETY: live names.
        let n = unsafe { X509_NAME_cmp(a, b) };
        error::take();
        Ok(n.signum() as i64)
    }
    #[method("name_hash", singleton)]
    fn name_hash(cx: &mut Cx, _this: Value, h: Value, old: bool) -> Result<i64> {
        let p = get(cx, h, Sort::Name)?;
        // SAFETY: a live name.
        let n = unsafe { if old { X509_NAME_hash_old(p) } else { X509_NAME_hash_ex(p, null_mut(), null(), null_mut()) } };
        error::take();
        Ok(n as i64)
    }

    #[method("extension_new", singleton)]
    fn extension_new(cx: &mut Cx, _this: Value, oid: Ref<StringCell>, value: Ref<StringCell>, critical: bool) -> Result<Value> {
        let (oid, b) = (c_string(cx, oid)?, value.to_vec());
        // SAFETY: objects of our own, which it copies.
        unsafe {
            let o = OBJ_txt2obj(oid.as_ptr(), 0);
            if o.is_null() {
                return fail(cx, "X509::ExtensionError", "OBJ_txt2obj");
            }
            let s = ASN1_OCTET_STRING_new();
            ASN1_OCTET_STRING_set(s, b.as_ptr(), b.len() as c_int);
            let e = X509_EXTENSION_create_by_OBJ(null_mut(), o, critical as c_int, s);
            ASN1_OCTET_STRING_free(s);
            ASN1_OBJECT_free(o);
            wrap(cx, Sort::Extension, e, "X509::ExtensionError", "X509_EXTENSION_create_by_OBJ")
        }
    }
    /// An extension in the words of OpenSSL's configuration files. `config`: the text of one, for sections that the value names.
    #[method("extension_create", singleton)]
    fn extension_create(
        cx: &mut Cx,
        _this: Value,
        oid: Ref<StringCell>,
        value: Ref<StringCell>,
        issuer: Value,
        subject: Value,
        request: Value,
        crl: Value,
        config: Value,
    ) -> Result<Value> {
        let (oid_text, value) = (c_string(cx, oid)?, c_string(cx, value)?);
        let config = bytes(cx, config)?;
        let issuer = get_or_null(cx, issuer, Sort::Cert)?;
        let subject = get_or_null(cx, subject, Sort::Cert)?;
        let request = get_or_null(cx, request, Sort::Request)?;
        let crl = get_or_null(cx, crl, Sort::Crl)?;
        // SAFETY: a context larger than OpenSSL's, of zeros; everything lives through the call.
        unsafe {
            // OpenSSL looks for short names alone; numbers that it doesn't know go with values that say how they are written (DER:, ASN1:).
            let nid = OBJ_txt2nid(oid_text.as_ptr());
            error::take();
            let name = if nid == 0 { oid_text.as_ptr() } else { OBJ_nid2sn(nid) };
            let mut ctx = [0u64; 32];
            let at: P = ctx.as_mut_ptr().cast();
            X509V3_set_ctx(at, issuer, subject, request, crl, 0);
            let conf = NCONF_new(null_mut());
            if let Some(b) = &config {
                let input = Input::new(b);
                NCONF_load_bio(conf, input.0, null_mut());
            }
            X509V3_set_nconf(at, conf);
            let e = X509V3_EXT_nconf(conf, at, name, value.as_ptr());
            NCONF_free(conf);
            if e.is_null() {
                let (oid, value) = (oid_text.to_string_lossy().into_owned(), value.to_string_lossy().into_owned());
                return fail(cx, "X509::ExtensionError", &format!("{oid} = {value}"));
            }
            wrap(cx, Sort::Extension, e, "X509::ExtensionError", "")
        }
    }
    /// [short name or dotted number, DER of the value, critical?, text]
    #[method("extension_parts", singleton)]
    fn extension_parts(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Extension)?;
        // SAFETY: a live extension.
        unsafe {
            let o = X509_EXTENSION_get_object(p);
            let nid = OBJ_obj2nid(o);
            let name = if nid == 0 { dotted(o) } else { text(OBJ_nid2sn(nid)) };
            let s = X509_EXTENSION_get_data(p);
            let b = std::slice::from_raw_parts(ASN1_STRING_get0_data(s), ASN1_STRING_length(s).max(0) as usize).to_vec();
            let words = extension_text(p);
            let critical = X509_EXTENSION_get_critical(p) == 1;
            error::take();
            let all = [cx.str(&name), binary(cx, &b), Value::bool(critical), cx.str_auto(&words)];
            Ok(cx.array(&all))
        }
    }

    /// PKCS7.sign
    #[method("pkcs7_sign", singleton)]
    fn pkcs7_sign(cx: &mut Cx, _this: Value, cert: Value, key: Value, data: Ref<StringCell>, certs: Value, flags: i64) -> Result<Value> {
        let b = data.to_vec();
        let s = stack(cx, certs, Sort::Cert)?;
        let (cert, key) = (get(cx, cert, Sort::Cert)?, get(cx, key, Sort::Key)?);
        let input = Input::new(&b);
        // SAFETY: live objects.
        let p = unsafe { PKCS7_sign(cert, key, s.0, input.0, flags as c_int) };
        wrap(cx, Sort::Pkcs7, p, "PKCS7::PKCS7Error", "PKCS7_sign")
    }
    #[method("pkcs7_encrypt", singleton)]
    fn pkcs7_encrypt(cx: &mut Cx, _this: Value, certs: Value, data: Ref<StringCell>, cipher: Value, flags: i64) -> Result<Value> {
        let c = Algorithm::cipher(cx, cipher)?;
        if c.0.is_null() {
            return cx.arg_error("cipher must be specified");
        }
        let b = data.to_vec();
        let s = stack(cx, certs, Sort::Cert)?;
        let input = Input::new(&b);
        // SAFETY: live objects.
        let p = unsafe { PKCS7_encrypt(s.0, input.0, c.0, flags as c_int) };
        wrap(cx, Sort::Pkcs7, p, "PKCS7::PKCS7Error", "PKCS7_encrypt")
    }
    #[method("pkcs7_decrypt", singleton)]
    fn pkcs7_decrypt(cx: &mut Cx, _this: Value, h: Value, key: Value, cert: Value, flags: i64) -> Result<Value> {
        let (key, cert) = (get(cx, key, Sort::Key)?, get_or_null(cx, cert, Sort::Cert)?);
        let p = get(cx, h, Sort::Pkcs7)?;
        // SAFETY: live objects.
        let (b, ok) = output(|bio| unsafe { PKCS7_decrypt(p, key, cert, bio, flags as c_int) });
        if ok != 1 {
            return fail(cx, "PKCS7::PKCS7Error", "PKCS7_decrypt");
        }
        error::take();
        Ok(binary(cx, &b))
    }
    /// [whether it verifies, the content, what OpenSSL said]
    #[method("pkcs7_verify", singleton)]
    fn pkcs7_verify(cx: &mut Cx, _this: Value, h: Value, certs: Value, store: Value, data: Value, flags: i64) -> Result<Value> {
        let b = bytes(cx, data)?;
        let s = stack(cx, certs, Sort::Cert)?;
        let (store, p) = (get_or_null(cx, store, Sort::Store)?, get(cx, h, Sort::Pkcs7)?);
        let input = b.as_deref().map(Input::new);
        let from = input.as_ref().map_or(null_mut(), |i| i.0);
        // SAFETY: live objects.
        let (out, ok) = output(|bio| unsafe { PKCS7_verify(p, s.0, store, from, bio, flags as c_int) });
        let errors = error::take();
        let said = errors.last.map_or(Value::NIL, |s| cx.str(&s));
        let all = [Value::bool(ok == 1), binary(cx, &out), said];
        Ok(cx.array(&all))
    }
    #[method("smime_write", singleton)]
    fn smime_write(cx: &mut Cx, _this: Value, h: Value, data: Value, flags: i64) -> Result<Value> {
        let b = bytes(cx, data)?;
        let p = get(cx, h, Sort::Pkcs7)?;
        let input = b.as_deref().map(Input::new);
        let from = input.as_ref().map_or(null_mut(), |i| i.0);
        // SAFETY: live objects.
        let (out, ok) = output(|bio| unsafe { SMIME_write_PKCS7(bio, p, from, flags as c_int) });
        if ok != 1 {
            return fail(cx, "PKCS7::PKCS7Error", "SMIME_write_PKCS7");
        }
        error::take();
        Ok(binary(cx, &out))
    }
    /// [PKCS7, detached content or nil]
    #[method("smime_read", singleton)]
    fn smime_read(cx: &mut Cx, _this: Value, data: Ref<StringCell>) -> Result<Value> {
        let b = data.to_vec();
        let input = Input::new(&b);
        let mut content = null_mut();
        // SAFETY: the content's BIO is ours to free.
        unsafe {
            let p = SMIME_read_PKCS7(input.0, &mut content);
            let mut text = None;
            if !content.is_null() {
                let mut at: *mut u8 = null_mut();
                let n = BIO_ctrl(content, 3, 0, (&raw mut at).cast());
                text = Some(if n > 0 && !at.is_null() { std::slice::from_raw_parts(at, n as usize).to_vec() } else { Vec::new() });
                BIO_free(content);
            }
            let p = wrap(cx, Sort::Pkcs7, p, "PKCS7::PKCS7Error", "Could not parse the S/MIME message")?;
            let text = text.map_or(Value::NIL, |b| binary(cx, &b));
            Ok(cx.array(&[p, text]))
        }
    }
    /// DER of a PKCS12.
    #[method("pkcs12_create", singleton)]
    fn pkcs12_create(
        cx: &mut Cx,
        _this: Value,
        pass: Value,
        name: Value,
        key: Value,
        cert: Value,
        ca: Value,
        numbers: Ref<ArrayCell>,
    ) -> Result<Value> {
        let (pass, name) = (c_string_or_null(cx, pass)?, c_string_or_null(cx, name)?);
        let s = stack(cx, ca, Sort::Cert)?;
        let n = |i| numbers.get(i).and_then(|v: Value| v.as_fixnum()).unwrap_or(0) as c_int;
        let (key_nid, cert_nid, iter, mac_iter, key_type) = (n(0), n(1), n(2), n(3), n(4));
        let (key, cert) = (get_or_null(cx, key, Sort::Key)?, get_or_null(cx, cert, Sort::Cert)?);
        // SAFETY: live objects; Strings that end with NUL.
        unsafe {
            let p = PKCS12_create(pointer(&pass), pointer(&name), key, cert, s.0, key_nid, cert_nid, iter, mac_iter, key_type);
            if p.is_null() {
                return fail(cx, "PKCS12::PKCS12Error", "PKCS12_create");
            }
            let b = der(i2d_PKCS12, p).unwrap_or_default();
            PKCS12_free(p);
            error::take();
            Ok(binary(cx, &b))
        }
    }
    /// [key, certificate, certificates]
    #[method("pkcs12_parse", singleton)]
    fn pkcs12_parse(cx: &mut Cx, _this: Value, data: Ref<StringCell>, pass: Value) -> Result<Value> {
        let b = data.to_vec();
        let pass = c_string_or_null(cx, pass)?;
        let library = provider::library(cx);
        let (mut key, mut cert, mut list) = (null_mut(), null_mut(), null_mut());
        // SAFETY: what it gives is ours; each certificate of the list has a reference for us.
        unsafe {
            // In this VM's library, where the algorithms of old files may be. What is taken out of it is made anew outside, since it would have to end
            // before the library.
            let within = Within::new(&library);
            let p = from_der(&b, d2i_PKCS12);
            if p.is_null() {
                return fail(cx, "PKCS12::PKCS12Error", "d2i_PKCS12_bio");
            }
            let ok = PKCS12_parse(p, pointer(&pass), &mut key, &mut cert, &mut list);
            PKCS12_free(p);
            drop(within);
            if ok != 1 {
                return fail(cx, "PKCS12::PKCS12Error", "PKCS12_parse");
            }
            if library.is_some() {
                let anew = |p: P| {
                    let copy = if p.is_null() { p } else { again(p, i2d_X509, d2i_X509) };
                    X509_free(p);
                    copy
                };
                let old = (key, cert, list);
                key = if key.is_null() { key } else { again(key, i2d_PrivateKey, d2i_AutoPrivateKey) };
                EVP_PKEY_free(old.0);
                cert = anew(old.1);
                list = OPENSSL_sk_new_null();
                for i in 0..OPENSSL_sk_num(old.2) {
                    OPENSSL_sk_push(list, anew(OPENSSL_sk_value(old.2, i)));
                }
                OPENSSL_sk_free(old.2);
            }
            let (key, cert) = (wrap_or_nil(cx, Sort::Key, key)?, wrap_or_nil(cx, Sort::Cert, cert)?);
            let more = certs(cx, list)?;
            while OPENSSL_sk_num(list) > 0 {
                X509_free(OPENSSL_sk_pop(list));
            }
            OPENSSL_sk_free(list);
            Ok(cx.array(&[key, cert, more]))
        }
    }
    #[method("pkcs12_set_mac", singleton)]
    fn pkcs12_set_mac(
        cx: &mut Cx,
        _this: Value,
        data: Ref<StringCell>,
        pass: Value,
        salt: Value,
        rounds: i64,
        digest: Value,
    ) -> Result<Value> {
        let md = Algorithm::digest(cx, digest)?;
        let (b, pass, salt) = (data.to_vec(), c_string_or_null(cx, pass)?, bytes(cx, salt)?);
        let at = salt.as_ref().map_or(null(), |s| s.as_ptr());
        let len = salt.as_ref().map_or(0, |s| s.len() as c_int);
        // SAFETY: an object of our own.
        unsafe {
            let p = from_der(&b, d2i_PKCS12);
            let ok = !p.is_null() && PKCS12_set_mac(p, pointer(&pass), -1, at, len, rounds as c_int, md.0) == 1;
            let out = if ok { der(i2d_PKCS12, p) } else { None };
            PKCS12_free(p);
            match out {
                Some(b) => Ok(binary(cx, &b)),
                None => fail(cx, "PKCS12::PKCS12Error", "PKCS12_set_mac"),
            }
        }
    }
    #[method("spki_text", singleton)]
    fn spki_text(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Spki)?;
        // SAFETY: a live object; the text is ours to free.
        unsafe {
            let s = NETSCAPE_SPKI_b64_encode(p);
            let line = text(s);
            CRYPTO_free(s.cast(), null(), 0);
            error::take();
            Ok(ascii(cx, line.as_bytes()))
        }
    }
}
pub(crate) use natives::METHODS;

fn error_or(cx: &mut Cx, ok: bool, kind: Sort, name: &str) -> Result<()> {
    if !ok {
        return fail(cx, class_of(kind), name);
    }
    error::take();
    Ok(())
}
