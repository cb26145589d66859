//! OpenSSL's objects as payloads: what they are, how they are given back, and how another VM gets one of its own.

use crate::error;
use crate::provider::{self, Library};
use crate::sys::*;
use std::ffi::{CString, c_int, c_long};
use std::ptr::null_mut;
use std::sync::Arc;
use zakuro_macros::Trace;
use zakuro_vm::*;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    Digest,
    Hmac,
    Cipher,
    Key,
    Group,
    Point,
    Cert,
    Request,
    Crl,
    Name,
    Extension,
    Store,
    Pkcs7,
    Spki,
    Context,
    Session,
    OcspId,
    OcspRequest,
    OcspBasic,
    OcspSingle,
    OcspResponse,
    TsRequest,
    TsResponse,
    TsInfo,
}

/// How an object of a kind is written.
pub type ToDer = unsafe extern "C" fn(P, *mut *mut u8) -> c_int;
/// How an object of a kind is read.
pub type FromDer = unsafe extern "C" fn(*mut P, *mut *const u8, c_long) -> P;

impl Sort {
    /// Kinds that may be as large as what somebody sent.
    fn sized(self) -> Option<ToDer> {
        Some(match self {
            Sort::Cert => i2d_X509,
            Sort::Request => i2d_X509_REQ,
            Sort::Crl => i2d_X509_CRL,
            Sort::Pkcs7 => i2d_PKCS7,
            Sort::OcspRequest => i2d_OCSP_REQUEST,
            Sort::OcspBasic => i2d_OCSP_BASICRESP,
            Sort::OcspResponse => i2d_OCSP_RESPONSE,
            Sort::TsRequest => i2d_TS_REQ,
            Sort::TsResponse => i2d_TS_RESP,
            _ => return None,
        })
    }
}

/// One of OpenSSL's objects; the payload owns a reference.
#[derive(Trace)]
pub struct Object {
    #[untraced]
    pub p: P,
    #[untraced]
    pub kind: Sort,
    /// Bytes that it was parsed from, for kinds that may be as large as a program likes.
    size: usize,
    /// Where its algorithm comes from, if not from the process's providers. Dropped after `p`.
    #[untraced]
    pub library: Option<Arc<Library>>,
}

// SAFETY: only objects that `copy` makes travel, and those nobody else changes: copies, or keys, which never change and count their references atomically.
unsafe impl Send for Object {}

impl Drop for Object {
    fn drop(&mut self) {
        let p = self.p;
        // SAFETY: the payload's own reference, of its kind.
        unsafe {
            match self.kind {
                Sort::Digest => EVP_MD_CTX_free(p),
                Sort::Hmac => HMAC_CTX_free(p),
                Sort::Cipher => EVP_CIPHER_CTX_free(p),
                Sort::Key => EVP_PKEY_free(p),
                Sort::Group => EC_GROUP_free(p),
                Sort::Point => EC_POINT_free(p),
                Sort::Cert => X509_free(p),
                Sort::Request => X509_REQ_free(p),
                Sort::Crl => X509_CRL_free(p),
                Sort::Name => X509_NAME_free(p),
                Sort::Extension => X509_EXTENSION_free(p),
                Sort::Store => X509_STORE_free(p),
                Sort::Pkcs7 => PKCS7_free(p),
                Sort::Spki => NETSCAPE_SPKI_free(p),
                Sort::Context => SSL_CTX_free(p),
                Sort::Session => SSL_SESSION_free(p),
                Sort::OcspId => OCSP_CERTID_free(p),
                Sort::OcspRequest => OCSP_REQUEST_free(p),
                Sort::OcspBasic => OCSP_BASICRESP_free(p),
                Sort::OcspSingle => OCSP_SINGLERESP_free(p),
                Sort::OcspResponse => OCSP_RESPONSE_free(p),
                Sort::TsRequest => TS_REQ_free(p),
                Sort::TsResponse => TS_RESP_free(p),
                Sort::TsInfo => TS_TST_INFO_free(p),
            }
        }
    }
}

impl Object {
    /// None for what OpenSSL did not make.
    pub fn new(kind: Sort, p: P) -> Option<Object> {
        if p.is_null() {
            return None;
        }
        // SAFETY: a live object of its kind; only the length is asked for.
        let size = kind.sized().map_or(0, |f| unsafe { f(p, null_mut()) });
        // What can't be written yet (a certificate without a key) says so in the queue of errors.
        if size < 0 {
            error::take();
        }
        Some(Object { p, kind, size: size.max(0) as usize, library: None })
    }
    /// One of its own for somebody else. None: there is no such thing.
    pub fn copy(&self) -> Option<Object> {
        let p = self.p;
        // SAFETY: a live object of its kind.
        let copy = unsafe {
            match self.kind {
                Sort::Digest => into_new(p, EVP_MD_CTX_new(), EVP_MD_CTX_copy_ex, EVP_MD_CTX_free),
                Sort::Hmac => into_new(p, HMAC_CTX_new(), HMAC_CTX_copy, HMAC_CTX_free),
                Sort::Cipher => into_new(p, EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_copy, EVP_CIPHER_CTX_free),
                Sort::Key => {
                    EVP_PKEY_up_ref(p);
                    p
                }
                Sort::Group => EC_GROUP_dup(p),
                Sort::Cert => X509_dup(p),
                Sort::Request => X509_REQ_dup(p),
                Sort::Crl => X509_CRL_dup(p),
                Sort::Name => X509_NAME_dup(p),
                Sort::Extension => X509_EXTENSION_dup(p),
                Sort::Pkcs7 => PKCS7_dup(p),
                // Without what contexts have noted about it.
                Sort::Session => again(p, i2d_SSL_SESSION, d2i_SSL_SESSION),
                Sort::Spki => again(p, i2d_NETSCAPE_SPKI, d2i_NETSCAPE_SPKI),
                Sort::OcspId => OCSP_CERTID_dup(p),
                Sort::OcspRequest => again(p, i2d_OCSP_REQUEST, d2i_OCSP_REQUEST),
                Sort::OcspBasic => again(p, i2d_OCSP_BASICRESP, d2i_OCSP_BASICRESP),
                Sort::OcspSingle => again(p, i2d_OCSP_SINGLERESP, d2i_OCSP_SINGLERESP),
                Sort::OcspResponse => again(p, i2d_OCSP_RESPONSE, d2i_OCSP_RESPONSE),
                Sort::TsRequest => TS_REQ_dup(p),
                Sort::TsResponse => TS_RESP_dup(p),
                Sort::TsInfo => TS_TST_INFO_dup(p),
                Sort::Point | Sort::Store | Sort::Context => null_mut(),
            }
        };
        error::take();
        let mut o = Object::new(self.kind, copy)?;
        o.library = self.library.clone();
        Some(o)
    }
}

/// # Safety
/// Functions and objects of one kind.
unsafe fn into_new(from: P, to: P, copy: unsafe extern "C" fn(P, P) -> c_int, free: unsafe extern "C" fn(P)) -> P {
    // SAFETY: the caller's promise.
    unsafe {
        if !to.is_null() && copy(to, from) != 1 {
            free(to);
            return null_mut();
        }
    }
    to
}

/// Written and read; NULL for what can't be written yet.
///
/// # Safety
/// `p` is what `write` takes.
pub unsafe fn again(p: P, write: ToDer, read: FromDer) -> P {
    // SAFETY: the caller's promise.
    from_der(&unsafe { der(write, p) }.unwrap_or_default(), read)
}

impl NativeData for Object {
    fn refers(&self) -> bool {
        false
    }
    fn pressure(&self) -> usize {
        // The text, and what it was taken apart into.
        let content = 3 * self.size;
        content
            + match self.kind {
                Sort::Context => 32 << 10,
                Sort::Store | Sort::Pkcs7 | Sort::Session => 8 << 10,
                Sort::Cert | Sort::Key | Sort::Crl | Sort::Request => 4 << 10,
                _ => 512,
            }
    }
    fn send_copy(&self) -> Option<SendPayload> {
        // The receiver makes stores, contexts and points anew: what it gets is no more than the place for one.
        let nothing = || Object { p: null_mut(), kind: self.kind, size: 0, library: None };
        let anew = matches!(self.kind, Sort::Store | Sort::Context | Sort::Point);
        Some(Box::new(if anew { nothing() } else { self.copy()? }))
    }
    /// Certificates, and the places for what is made anew. Not keys: whoever writes an image to a file does not mean to write secrets to the disk.
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        let place = PLACES.iter().position(|k| *k == self.kind);
        match (self.p.is_null(), place) {
            (true, Some(i)) => {
                out.number(i as u64);
            }
            (false, None) if self.kind == Sort::Cert => {
                // SAFETY: a live certificate.
                let text = unsafe { der(i2d_X509, self.p) }?;
                out.number(PLACES.len() as u64).blob(&text);
            }
            _ => return None,
        }
        Some("OpenSSL")
    }
}

/// Kinds that each VM makes anew.
const PLACES: [Sort; 3] = [Sort::Store, Sort::Context, Sort::Point];

zakuro_vm::saved_loader!("OpenSSL", |r| {
    let kind: usize = r.narrow()?;
    let certificate = if kind == PLACES.len() { Some(r.blob()?.to_vec()) } else { None };
    let place = PLACES.get(kind).copied();
    r.ends(0)?;
    if place.is_none() && certificate.is_none() {
        return None;
    }
    Some(rebuild(move |_, _| {
        let made = match (place, &certificate) {
            (Some(kind), _) => Some(Object { p: null_mut(), kind, size: 0, library: None }),
            (None, Some(bytes)) => Object::new(Sort::Cert, from_der(bytes, d2i_X509)),
            (None, None) => None,
        };
        error::take();
        Some(Box::new(made?))
    }))
});

/// The object's pointer, of one of some kinds. It stays valid as long as `v` is reachable: the caller holds `v`, and never calls Ruby with the pointer at hand.
pub fn get_of(cx: &mut Cx, v: Value, kinds: &[Sort]) -> Result<(P, Sort)> {
    if cx.is_data::<Object>(v) {
        let o = cx.data_ref::<Object>(v)?;
        if o.p.is_null() {
            return cx.raise(ids::RUNTIME_ERROR, "the object belongs to another VM");
        }
        if kinds.is_empty() || kinds.contains(&o.kind) {
            return Ok((o.p, o.kind));
        }
    }
    let class = cx.class_name_of(v);
    match kinds.first() {
        Some(kind) if !v.is_nil() => cx.type_error(format!("wrong argument type {class} (expected {kind:?})")),
        _ => cx.raise(ids::RUNTIME_ERROR, "uninitialized object"),
    }
}

pub fn get(cx: &mut Cx, v: Value, kind: Sort) -> Result<P> {
    Ok(get_of(cx, v, &[kind])?.0)
}

/// NULL for nil.
pub fn get_or_null(cx: &mut Cx, v: Value, kind: Sort) -> Result<P> {
    if v.is_nil() { Ok(null_mut()) } else { get(cx, v, kind) }
}

/// An object of Ruby's around `p`; raises what OpenSSL said if there is none.
pub fn wrap(cx: &mut Cx, kind: Sort, p: P, class: &str, what: &str) -> Result<Value> {
    match Object::new(kind, p) {
        Some(mut o) => {
            error::take();
            if matches!(kind, Sort::Digest | Sort::Hmac | Sort::Cipher) {
                o.library = provider::library(cx);
            }
            let class = holder(cx)?;
            Ok(cx.data(class, o))
        }
        None => error::fail(cx, class, what),
    }
}

/// The same, but nil without one.
pub fn wrap_or_nil(cx: &mut Cx, kind: Sort, p: P) -> Result<Value> {
    error::take();
    match Object::new(kind, p) {
        Some(o) => {
            let class = holder(cx)?;
            Ok(cx.data(class, o))
        }
        None => Ok(Value::NIL),
    }
}

/// The class of handles, which no program sees.
pub fn holder(cx: &mut Cx) -> Result<ClassId> {
    match cx.const_by_path("OpenSSL::Native::Handle").and_then(|v| cx.class_id(v)) {
        Some(c) => Ok(c),
        None => cx.raise(ids::NAME_ERROR, "uninitialized constant OpenSSL::Native::Handle"),
    }
}

pub fn binary(cx: &Cx, b: &[u8]) -> Value {
    cx.str_bytes(b, string::BINARY)
}

pub fn ascii(cx: &Cx, b: &[u8]) -> Value {
    cx.str_bytes(b, string::US_ASCII)
}

/// Bytes of a String; None for nil.
pub fn bytes(cx: &mut Cx, v: Value) -> Result<Option<Vec<u8>>> {
    if v.is_nil() { Ok(None) } else { Ok(Some(cx.to_str(v)?.to_vec())) }
}

pub fn c_string(cx: &mut Cx, s: Ref<StringCell>) -> Result<CString> {
    match CString::new(s.to_vec()) {
        Ok(s) => Ok(s),
        Err(_) => cx.arg_error("string contains null byte"),
    }
}

pub fn c_string_or_null(cx: &mut Cx, v: Value) -> Result<Option<CString>> {
    if v.is_nil() {
        return Ok(None);
    }
    let s = cx.to_str(v)?;
    Ok(Some(c_string(cx, s)?))
}

pub fn pointer(s: &Option<CString>) -> *const std::ffi::c_char {
    s.as_ref().map_or(std::ptr::null(), |s| s.as_ptr())
}

/// # Safety
/// `p` is what `f` takes.
pub unsafe fn der(f: ToDer, p: P) -> Option<Vec<u8>> {
    // SAFETY: the first call only measures; the second writes as many bytes.
    unsafe {
        let n = f(p, null_mut());
        if n < 0 {
            return None;
        }
        let mut b = vec![0u8; n as usize];
        let mut at = b.as_mut_ptr();
        let m = f(p, &mut at);
        b.truncate(m.max(0) as usize);
        (m >= 0).then_some(b)
    }
}

pub fn from_der(b: &[u8], f: FromDer) -> P {
    let mut at = b.as_ptr();
    // SAFETY: readable for its length.
    unsafe { f(null_mut(), &mut at, b.len() as c_long) }
}

/// Memory that OpenSSL reads.
pub struct Input(pub P);
impl Input {
    /// `b` must outlive it.
    pub fn new(b: &[u8]) -> Input {
        // More than it can take can't be read; a negative length would mean a text that ends with NUL.
        let n = if b.len() > c_int::MAX as usize { 0 } else { b.len() as c_int };
        // SAFETY: `b` is readable for `n` bytes, and outlives the Input.
        Input(unsafe { BIO_new_mem_buf(b.as_ptr() as P, n) })
    }
}
impl Drop for Input {
    fn drop(&mut self) {
        // SAFETY: our own.
        unsafe { BIO_free(self.0) };
    }
}

/// What OpenSSL writes.
pub fn output<T>(f: impl FnOnce(P) -> T) -> (Vec<u8>, T) {
    // SAFETY: a new BIO, whose memory is copied before it is freed.
    unsafe {
        let bio = BIO_new(BIO_s_mem());
        let r = f(bio);
        let mut at: *mut u8 = null_mut();
        let n = BIO_ctrl(bio, 3, 0, (&raw mut at).cast()); // BIO_CTRL_INFO
        let b = if n > 0 && !at.is_null() { std::slice::from_raw_parts(at, n as usize).to_vec() } else { Vec::new() };
        BIO_free(bio);
        (b, r)
    }
}

/// A big number from its hexadecimal digits, freed at the end.
pub struct Big(pub P);
impl Big {
    pub fn new(cx: &mut Cx, hex: Ref<StringCell>) -> Result<Big> {
        let hex = c_string(cx, hex)?;
        let mut p = null_mut();
        // SAFETY: ends with NUL.
        let n = unsafe { BN_hex2bn(&mut p, hex.as_ptr()) };
        if n as usize != hex.as_bytes().len() || p.is_null() {
            return error::fail(cx, "BNError", "BN_hex2bn");
        }
        Ok(Big(p))
    }
    pub fn or_null(cx: &mut Cx, v: Value) -> Result<Big> {
        if v.is_nil() {
            return Ok(Big(null_mut()));
        }
        let s = cx.to_str(v)?;
        Big::new(cx, s)
    }
}
impl Drop for Big {
    fn drop(&mut self) {
        // SAFETY: our own, or NULL.
        unsafe { BN_free(self.0) };
    }
}

/// A new whole number of ASN.1, or NULL.
pub fn asn1_integer(n: &Big) -> P {
    // SAFETY: a live number.
    unsafe { BN_to_ASN1_INTEGER(n.0, null_mut()) }
}

/// Hexadecimal digits of a whole number of ASN.1; nil for NULL.
///
/// # Safety
/// `p` is an ASN1_INTEGER or NULL.
pub unsafe fn hex_of_asn1(cx: &Cx, p: P) -> Value {
    if p.is_null() {
        return Value::NIL;
    }
    // SAFETY: the caller's promise; the number is our own.
    unsafe { hex(cx, Big(ASN1_INTEGER_to_BN(p, null_mut())).0) }
}

/// The bytes of a text of ASN.1.
///
/// # Safety
/// `p` is an ASN1_STRING or NULL.
pub unsafe fn asn1_bytes(p: P) -> Vec<u8> {
    if p.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe {
        let (at, n) = (ASN1_STRING_get0_data(p), ASN1_STRING_length(p).max(0) as usize);
        if at.is_null() { Vec::new() } else { std::slice::from_raw_parts(at, n).to_vec() }
    }
}

/// Hexadecimal digits of a big number.
///
/// # Safety
/// `p` is a BIGNUM or NULL.
pub unsafe fn hex(cx: &Cx, p: P) -> Value {
    if p.is_null() {
        return Value::NIL;
    }
    // SAFETY: the caller's promise; the digits are copied before they are freed.
    unsafe {
        let s = BN_bn2hex(p);
        let v = cx.str(&error::text(s));
        CRYPTO_free(s.cast(), c"".as_ptr(), 0);
        v
    }
}

/// An algorithm found by name; freed at the end.
pub struct Algorithm(pub P, bool);
impl Algorithm {
    /// A digest; NULL when the name is nil.
    pub fn digest(cx: &mut Cx, name: Value) -> Result<Algorithm> {
        let Some(name) = c_string_or_null(cx, name)? else { return Ok(Algorithm(null_mut(), true)) };
        match Algorithm::digest_named(cx, &name) {
            Some(a) => Ok(a),
            None => {
                error::take();
                let name = name.to_string_lossy().into_owned();
                error::fail(cx, "Digest::DigestError", &format!("Unsupported digest algorithm ({name}).: unknown object name"))
            }
        }
    }
    pub fn digest_named(cx: &mut Cx, name: &std::ffi::CStr) -> Option<Algorithm> {
        let library = provider::library(cx);
        // SAFETY: ends with NUL. The older look-up knows more names.
        unsafe {
            let known = EVP_get_digestbyname(name.as_ptr());
            let name = if known.is_null() { name.as_ptr() } else { EVP_MD_get0_name(known) };
            let p = EVP_MD_fetch(provider::context(&library), name, std::ptr::null());
            (!p.is_null()).then_some(Algorithm(p, true))
        }
    }
    pub fn cipher_named(cx: &mut Cx, name: &std::ffi::CStr) -> Option<Algorithm> {
        let library = provider::library(cx);
        // SAFETY: as above.
        unsafe {
            let known = EVP_get_cipherbyname(name.as_ptr());
            let name = if known.is_null() { name.as_ptr() } else { EVP_CIPHER_get0_name(known) };
            let p = EVP_CIPHER_fetch(provider::context(&library), name, std::ptr::null());
            (!p.is_null()).then_some(Algorithm(p, false))
        }
    }
    /// NULL when the name is nil.
    pub fn cipher(cx: &mut Cx, name: Value) -> Result<Algorithm> {
        let Some(name) = c_string_or_null(cx, name)? else { return Ok(Algorithm(null_mut(), false)) };
        match Algorithm::cipher_named(cx, &name) {
            Some(a) => Ok(a),
            None => {
                let name = name.to_string_lossy().into_owned();
                error::take();
                error::fail(cx, "Cipher::CipherError", &format!("unsupported cipher algorithm ({name})"))
            }
        }
    }
}
impl Drop for Algorithm {
    fn drop(&mut self) {
        // SAFETY: fetched, or NULL.
        unsafe { if self.1 { EVP_MD_free(self.0) } else { EVP_CIPHER_free(self.0) } }
    }
}

/// Hands a password over to OpenSSL, and notes that it was asked for.
pub struct Pass {
    pub given: Option<Vec<u8>>,
    pub asked: bool,
}
impl Pass {
    pub fn arg(&mut self) -> P {
        (&raw mut *self).cast()
    }
}

pub unsafe extern "C" fn password(to: *mut std::ffi::c_char, room: c_int, _writing: c_int, arg: P) -> c_int {
    if arg.is_null() {
        return -1;
    }
    // SAFETY: `arg` is the Pass of the call under way, `to` has the room.
    unsafe {
        let pass = &mut *arg.cast::<Pass>();
        pass.asked = true;
        match &pass.given {
            Some(b) if b.len() <= room as usize => {
                std::ptr::copy_nonoverlapping(b.as_ptr(), to.cast(), b.len());
                b.len() as c_int
            }
            _ => -1,
        }
    }
}
