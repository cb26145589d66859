//! PKCS #7 put together part by part.

use crate::error::{self, fail};
use crate::handle::*;
use crate::sys::*;
use std::ffi::c_int;
use std::ptr::null_mut;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

const ERROR: &str = "PKCS7::PKCS7Error";

fn done(cx: &mut Cx, ok: bool, name: &str) -> Result<()> {
    if !ok {
        return fail(cx, ERROR, name);
    }
    error::take();
    Ok(())
}

/// The number of its type; 0: none.
///
/// # Safety
/// A PKCS7.
unsafe fn type_of(p: P) -> c_int {
    /// What `openssl/pkcs7.h` makes public of the structure.
    #[repr(C)]
    struct Public {
        asn1: *mut u8,
        length: std::ffi::c_long,
        state: c_int,
        detached: c_int,
        kind: P,
    }
    // SAFETY: the caller's promise.
    unsafe { OBJ_obj2nid((*p.cast::<Public>()).kind) }
}

/// Methods of `OpenSSL::Native`.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    /// Makes it an empty one of the type of that number.
    #[method("pkcs7_set_type", singleton)]
    fn pkcs7_set_type(cx: &mut Cx, _this: Value, h: Value, nid: i64) -> Result<()> {
        let p = get(cx, h, Sort::Pkcs7)?;
        // SAFETY: a live object.
        let ok = unsafe { PKCS7_set_type(p, nid as c_int) } == 1;
        done(cx, ok, "PKCS7_set_type")
    }
    /// The number of its type; 0: none.
    #[method("pkcs7_type", singleton)]
    fn pkcs7_type(cx: &mut Cx, _this: Value, h: Value) -> Result<i64> {
        let p = get(cx, h, Sort::Pkcs7)?;
        // SAFETY: a live object.
        Ok(unsafe { type_of(p) } as i64)
    }
    /// Whether signed content is left out; nil only asks.
    #[method("pkcs7_detached", singleton)]
    fn pkcs7_detached(cx: &mut Cx, _this: Value, h: Value, on: Value) -> Result<bool> {
        let p = get(cx, h, Sort::Pkcs7)?;
        // SAFETY: a live object of that type. PKCS7_OP_SET_DETACHED_SIGNATURE, PKCS7_OP_GET_DETACHED_SIGNATURE
        unsafe {
            if type_of(p) != 22 {
                return if on.is_nil() { Ok(false) } else { fail(cx, ERROR, "operation not supported on this type") };
            }
            if !on.is_nil() {
                PKCS7_ctrl(p, 1, on.truthy() as std::ffi::c_long, null_mut());
            }
            let detached = PKCS7_ctrl(p, 2, 0, null_mut()) == 1;
            error::take();
            Ok(detached)
        }
    }
    /// By its name.
    #[method("pkcs7_set_cipher", singleton)]
    fn pkcs7_set_cipher(cx: &mut Cx, _this: Value, h: Value, name: Ref<StringCell>) -> Result<()> {
        let name = c_string(cx, name)?;
        let p = get(cx, h, Sort::Pkcs7)?;
        // SAFETY: a live object; the table's entries live as long as the library, which keeps the pointer.
        let ok = unsafe {
            let cipher = EVP_get_cipherbyname(name.as_ptr());
            !cipher.is_null() && PKCS7_set_cipher(p, cipher) == 1
        };
        done(cx, ok, "PKCS7_set_cipher")
    }
    /// Adds a certificate or a list of revoked ones.
    #[method("pkcs7_add", singleton)]
    fn pkcs7_add(cx: &mut Cx, _this: Value, h: Value, thing: Value) -> Result<()> {
        let (_, kind) = get_of(cx, thing, &[Sort::Cert, Sort::Crl])?;
        let copy = cx.data_ref::<Object>(thing)?.copy();
        let p = get(cx, h, Sort::Pkcs7)?;
        let name = if kind == Sort::Cert { "PKCS7_add_certificate" } else { "PKCS7_add_crl" };
        // SAFETY: live objects; the copy, which nobody changes, gets a reference.
        let ok = unsafe {
            match &copy {
                Some(o) if kind == Sort::Cert => PKCS7_add_certificate(p, o.p) == 1,
                Some(o) => PKCS7_add_crl(p, o.p) == 1,
                None => false,
            }
        };
        done(cx, ok, name)
    }
    /// Who will sign: a certificate, its key and a digest.
    #[method("pkcs7_add_signer", singleton)]
    fn pkcs7_add_signer(cx: &mut Cx, _this: Value, h: Value, cert: Value, key: Value, digest: Ref<StringCell>) -> Result<()> {
        let name = c_string(cx, digest)?;
        let (cert, key) = (get(cx, cert, Sort::Cert)?, get(cx, key, Sort::Key)?);
        let p = get(cx, h, Sort::Pkcs7)?;
        // SAFETY: live objects; the information belongs to `p` once it is added.
        let ok = unsafe {
            let md = EVP_get_digestbyname(name.as_ptr());
            let info = PKCS7_SIGNER_INFO_new();
            let set = !md.is_null() && PKCS7_SIGNER_INFO_set(info, cert, key, md) == 1;
            if set && PKCS7_add_signer(p, info) == 1 {
                // With the type of the content among them, there are attributes; OpenSSL adds the time to them when it signs.
                type_of(p) != 22 || PKCS7_add_signed_attribute(info, 50, 6, OBJ_nid2obj(21)) == 1
            } else {
                PKCS7_SIGNER_INFO_free(info);
                false
            }
        };
        done(cx, ok, "PKCS7_add_signer")
    }
    /// Somebody's signature, as it stands in another one.
    #[method("pkcs7_add_signed", singleton)]
    fn pkcs7_add_signed(cx: &mut Cx, _this: Value, h: Value, data: Ref<StringCell>) -> Result<()> {
        let b = data.to_vec();
        let p = get(cx, h, Sort::Pkcs7)?;
        // SAFETY: as above.
        let ok = unsafe {
            let info = from_der(&b, d2i_PKCS7_SIGNER_INFO);
            let ok = !info.is_null() && PKCS7_add_signer(p, info) == 1;
            if !ok {
                PKCS7_SIGNER_INFO_free(info);
            }
            ok
        };
        done(cx, ok, "PKCS7_add_signer")
    }
    #[method("pkcs7_add_recipient", singleton)]
    fn pkcs7_add_recipient(cx: &mut Cx, _this: Value, h: Value, cert: Value) -> Result<()> {
        get(cx, cert, Sort::Cert)?;
        let copy = cx.data_ref::<Object>(cert)?.copy();
        let p = get(cx, h, Sort::Pkcs7)?;
        // SAFETY: as above.
        let ok = unsafe {
            let info = PKCS7_RECIP_INFO_new();
            let ok = copy.is_some_and(|c| PKCS7_RECIP_INFO_set(info, c.p) == 1) && PKCS7_add_recipient_info(p, info) == 1;
            if !ok {
                PKCS7_RECIP_INFO_free(info);
            }
            ok
        };
        done(cx, ok, "PKCS7_add_recipient_info")
    }
    /// The content, which is signed or encrypted with it.
    #[method("pkcs7_finish", singleton)]
    fn pkcs7_finish(cx: &mut Cx, _this: Value, h: Value, data: Ref<StringCell>) -> Result<()> {
        let b = data.to_vec();
        let p = get(cx, h, Sort::Pkcs7)?;
        // SAFETY: a live object; the chain of BIOs is ours.
        unsafe {
            // NID_pkcs7_signed, NID_pkcs7_data
            if type_of(p) == 22 && PKCS7_content_new(p, 21) != 1 {
                return fail(cx, ERROR, "PKCS7_content_new");
            }
            // A sink of our own: OpenSSL's would be the content that is there already, which it frees when it takes the new one. BIO_C_SET_BUF_MEM_EOF_RETURN.
            let sink = BIO_new(BIO_s_mem());
            BIO_ctrl(sink, 130, 0, null_mut());
            let bio = PKCS7_dataInit(p, sink);
            if bio.is_null() {
                BIO_free(sink);
                return fail(cx, ERROR, "PKCS7_dataInit");
            }
            let written = b.chunks(1 << 20).all(|part| BIO_write(bio, part.as_ptr() as P, part.len() as c_int) == part.len() as c_int);
            // BIO_CTRL_FLUSH
            let ok = written && BIO_ctrl(bio, 11, 0, null_mut()) == 1 && PKCS7_dataFinal(p, bio) == 1;
            BIO_free_all(bio);
            done(cx, ok, "PKCS7_dataFinal")
        }
    }
    #[method("pkcs7_text", singleton)]
    fn pkcs7_text(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Pkcs7)?;
        // SAFETY: a live object.
        let (b, _) = output(|bio| unsafe { PKCS7_print_ctx(bio, p, 0, null_mut()) });
        error::take();
        Ok(cx.str_auto(&b))
    }
}
pub(crate) use natives::METHODS;
