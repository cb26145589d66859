//! Keys: reading, writing, making, signing, encrypting, deriving; curves and their points; primes.

use crate::aside::{self, Watch};
use crate::error::{self, Errors, fail, text};
use crate::handle::*;
use crate::sys::*;
use std::ffi::{CString, c_char, c_int};
use std::ptr::{null, null_mut};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

const ERROR: &str = "PKey::PKeyError";

/// A pointer that goes to another native thread and back, with what it points at.
struct Sent(P);
// SAFETY: the one who sends it does not look at it until it comes back.
unsafe impl Send for Sent {}
impl Sent {
    fn get(&self) -> P {
        self.0
    }
}

unsafe extern "C" fn go_on(ctx: P) -> c_int {
    // SAFETY: the watch outlives the work.
    unsafe {
        let watch = &*EVP_PKEY_CTX_get_app_data(ctx).cast::<Watch>();
        watch.goes_on(EVP_PKEY_CTX_get_keygen_info(ctx, 0), EVP_PKEY_CTX_get_keygen_info(ctx, 1)) as c_int
    }
}
unsafe extern "C" fn prime_goes_on(_a: c_int, _b: c_int, cb: P) -> c_int {
    // SAFETY: as above.
    unsafe { (*BN_GENCB_get_arg(cb).cast::<Watch>()).goes_on(0, 0) as c_int }
}

type Options = Vec<(CString, CString)>;

/// Pairs of names and values from an Array of Arrays of two Strings.
fn options(cx: &mut Cx, list: Ref<ArrayCell>) -> Result<Options> {
    let mut found = Vec::new();
    let mut i = 0;
    while let Some(pair) = list.get(i) {
        i += 1;
        let Some(pair) = Ref::<ArrayCell>::from_value(pair) else { return cx.type_error("wrong options") };
        let (name, value) = (pair.get(0).unwrap_or(Value::NIL), pair.get(1).unwrap_or(Value::NIL));
        let (name, value) = (cx.to_str(name)?, cx.to_str(value)?);
        found.push((c_string(cx, name)?, c_string(cx, value)?));
    }
    Ok(found)
}

/// Err: the name that was refused.
fn set(ctx: P, options: &Options) -> std::result::Result<(), String> {
    for (name, value) in options {
        // SAFETY: both end with NUL.
        if unsafe { EVP_PKEY_CTX_ctrl_str(ctx, name.as_ptr(), value.as_ptr()) } <= 0 {
            return Err(format!("EVP_PKEY_CTX_ctrl_str(ctx, {:?}, {:?})", name.to_string_lossy(), value.to_string_lossy()));
        }
    }
    Ok(())
}

struct Context(P);
impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: our own, or NULL.
        unsafe { EVP_PKEY_CTX_free(self.0) };
    }
}

/// A call that says how much room it needs when it has none.
fn measured(mut f: impl FnMut(*mut u8, *mut usize) -> c_int) -> Option<Vec<u8>> {
    let mut n = 0;
    if f(null_mut(), &mut n) <= 0 {
        return None;
    }
    let mut b = vec![0u8; n];
    if f(b.as_mut_ptr(), &mut n) <= 0 {
        return None;
    }
    b.truncate(n);
    Some(b)
}

/// One attempt at reading a key of some kind in some format.
fn decode(b: &[u8], format: &std::ffi::CStr, selection: c_int, pass: &mut Pass) -> P {
    let input = Input::new(b);
    let mut key = null_mut();
    // SAFETY: places and password live through the call.
    unsafe {
        let ctx = OSSL_DECODER_CTX_new_for_pkey(&mut key, format.as_ptr(), null(), null(), selection, null_mut(), null());
        if ctx.is_null() {
            return null_mut();
        }
        OSSL_DECODER_CTX_set_pem_password_cb(ctx, password, pass.arg());
        // A file may hold other things before the key.
        loop {
            let before = BIO_ctrl(input.0, 10, 0, null_mut()); // BIO_CTRL_PENDING
            if OSSL_DECODER_from_bio(ctx, input.0) == 1 {
                break;
            }
            let after = BIO_ctrl(input.0, 10, 0, null_mut());
            if pass.asked && key.is_null() || after <= 0 || after == before || format == c"DER" {
                break;
            }
        }
        OSSL_DECODER_CTX_free(ctx);
    }
    key
}

fn group_of(cx: &mut Cx, v: Value) -> Result<P> {
    get(cx, v, Sort::Group)
}

/// Methods of `OpenSSL::Native`.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    /// A key, or nil; with `:password` it is needed and was not given.
    #[method("pkey_read", singleton)]
    fn pkey_read(cx: &mut Cx, _this: Value, data: Ref<StringCell>, pass: Value) -> Result<Value> {
        let b = data.to_vec();
        let given = bytes(cx, pass)?;
        let mut pass = Pass { given, asked: false };
        // EVP_PKEY_KEYPAIR, EVP_PKEY_KEY_PARAMETERS, EVP_PKEY_PUBLIC_KEY
        let tries = [(c"DER", 0), (c"PEM", 0x87), (c"PEM", 0x84), (c"PEM", 0x86)];
        for (format, selection) in tries {
            let selections: &[c_int] = if selection == 0 { &[0x87, 0x84, 0x86] } else { &[selection] };
            for selection in selections {
                let key = decode(&b, format, *selection, &mut pass);
                if !key.is_null() {
                    return wrap_or_nil(cx, Sort::Key, key);
                }
                if pass.asked {
                    if pass.given.is_none() {
                        error::take();
                        return Ok(Value::sym(Sym::intern("password")));
                    }
                    return Ok(Value::NIL).and_then(|_: Value| fail(cx, ERROR, "Could not parse PKey"));
                }
            }
        }
        fail(cx, ERROR, "Could not parse PKey")
    }
    /// Makes a key or, with `parameters`, what keys are made with.
    #[method("pkey_generate", singleton)]
    fn pkey_generate(
        cx: &mut Cx,
        _this: Value,
        name: Value,
        from: Value,
        list: Ref<ArrayCell>,
        parameters: bool,
        block: Block,
    ) -> Result<Value> {
        let name = c_string_or_null(cx, name)?;
        let list = options(cx, list)?;
        let from = get_or_null(cx, from, Sort::Key)?;
        // SAFETY: a reference for the native thread.
        unsafe {
            if !from.is_null() {
                EVP_PKEY_up_ref(from);
            }
        }
        let from = Object::new(Sort::Key, from);
        let work = move |watch: &Watch| -> std::result::Result<Sent, (String, Errors)> {
            let failed = |what: &str| Err((what.to_string(), error::take()));
            // SAFETY: objects of our own; the watch lives as long as the work.
            unsafe {
                let ctx = Context(match &from {
                    Some(key) => EVP_PKEY_CTX_new(key.p, null_mut()),
                    None => EVP_PKEY_CTX_new_from_name(null_mut(), pointer(&name), null()),
                });
                if ctx.0.is_null() {
                    return failed("EVP_PKEY_CTX_new");
                }
                let begun = if parameters { EVP_PKEY_paramgen_init(ctx.0) } else { EVP_PKEY_keygen_init(ctx.0) };
                if begun <= 0 {
                    return failed(if parameters { "EVP_PKEY_paramgen_init" } else { "EVP_PKEY_keygen_init" });
                }
                if let Err(what) = set(ctx.0, &list) {
                    return failed(&what);
                }
                EVP_PKEY_CTX_set_app_data(ctx.0, &raw const *watch as P);
                EVP_PKEY_CTX_set_cb(ctx.0, Some(go_on));
                let mut key = null_mut();
                let made = if parameters { EVP_PKEY_paramgen(ctx.0, &mut key) } else { EVP_PKEY_keygen(ctx.0, &mut key) };
                if made <= 0 {
                    return failed(if parameters { "EVP_PKEY_paramgen" } else { "EVP_PKEY_keygen" });
                }
                Ok(Sent(key))
            }
        };
        match aside::run(cx, block, work)? {
            Ok(key) => wrap(cx, Sort::Key, key.get(), ERROR, ""),
            Err((what, errors)) => error::raise(cx, ERROR, &what, errors),
        }
    }
    /// A key of its numbers: [[name, :bn | :text | :bytes, String], ...]. `selection`: 0x87 with the private part, 0x86 without, 0x84 parameters alone.
    #[method("pkey_build", singleton)]
    fn pkey_build(cx: &mut Cx, _this: Value, name: Ref<StringCell>, parts: Ref<ArrayCell>, selection: i64) -> Result<Value> {
        let name = c_string(cx, name)?;
        let mut numbers: Vec<(CString, Big)> = Vec::new();
        let mut texts: Vec<(CString, Vec<u8>, bool)> = Vec::new();
        let mut i = 0;
        while let Some(part) = parts.get(i) {
            i += 1;
            let Some(part) = Ref::<ArrayCell>::from_value(part) else { return cx.type_error("wrong parts") };
            let at = |i| part.get(i).unwrap_or(Value::NIL);
            let (key, kind, value) = (cx.to_str(at(0))?, at(1), cx.to_str(at(2))?);
            let key = c_string(cx, key)?;
            match kind.as_sym().map(|s| s.name().to_string()).as_deref() {
                Some("bn") => numbers.push((key, Big::new(cx, value)?)),
                kind => texts.push((key, value.to_vec(), kind == Some("text"))),
            }
        }
        // SAFETY: everything that the builder refers to lives through the block.
        unsafe {
            let bld = OSSL_PARAM_BLD_new();
            for (key, n) in &numbers {
                OSSL_PARAM_BLD_push_BN(bld, key.as_ptr(), n.0);
            }
            for (key, b, is_text) in &texts {
                if *is_text {
                    OSSL_PARAM_BLD_push_utf8_string(bld, key.as_ptr(), b.as_ptr().cast(), b.len());
                } else {
                    OSSL_PARAM_BLD_push_octet_string(bld, key.as_ptr(), b.as_ptr() as P, b.len());
                }
            }
            let params = OSSL_PARAM_BLD_to_param(bld);
            let ctx = Context(EVP_PKEY_CTX_new_from_name(null_mut(), name.as_ptr(), null()));
            let mut key = null_mut();
            let ok = !params.is_null()
                && !ctx.0.is_null()
                && EVP_PKEY_fromdata_init(ctx.0) > 0
                && EVP_PKEY_fromdata(ctx.0, &mut key, selection as c_int, params) > 0;
            OSSL_PARAM_free(params);
            OSSL_PARAM_BLD_free(bld);
            if !ok {
                return fail(cx, ERROR, "EVP_PKEY_fromdata");
            }
            wrap(cx, Sort::Key, key, ERROR, "EVP_PKEY_fromdata")
        }
    }
    #[method("pkey_raw_new", singleton)]
    fn pkey_raw_new(cx: &mut Cx, _this: Value, name: Ref<StringCell>, data: Ref<StringCell>, private: bool) -> Result<Value> {
        let (name, b) = (c_string(cx, name)?, data.to_vec());
        let f = if private { EVP_PKEY_new_raw_private_key_ex } else { EVP_PKEY_new_raw_public_key_ex };
        // SAFETY: readable for its length.
        let key = unsafe { f(null_mut(), name.as_ptr(), null(), b.as_ptr(), b.len()) };
        wrap(cx, Sort::Key, key, ERROR, if private { "EVP_PKEY_new_raw_private_key" } else { "EVP_PKEY_new_raw_public_key" })
    }
    #[method("pkey_raw", singleton)]
    fn pkey_raw(cx: &mut Cx, _this: Value, h: Value, private: bool) -> Result<Value> {
        let p = get(cx, h, Sort::Key)?;
        let f = if private { EVP_PKEY_get_raw_private_key } else { EVP_PKEY_get_raw_public_key };
        // SAFETY: room as it asked for.
        match measured(|b, n| unsafe { f(p, b, n) }) {
            Some(b) => Ok(binary(cx, &b)),
            None => fail(cx, ERROR, if private { "EVP_PKEY_get_raw_private_key" } else { "EVP_PKEY_get_raw_public_key" }),
        }
    }
    #[method("pkey_type", singleton)]
    fn pkey_type(cx: &mut Cx, _this: Value, h: Value) -> Result<String> {
        let p = get(cx, h, Sort::Key)?;
        // SAFETY: a live key.
        Ok(text(unsafe { EVP_PKEY_get0_type_name(p) }))
    }
    #[method("pkey_bits", singleton)]
    fn pkey_bits(cx: &mut Cx, _this: Value, h: Value) -> Result<i64> {
        let p = get(cx, h, Sort::Key)?;
        // SAFETY: a live key.
        Ok(unsafe { EVP_PKEY_get_bits(p) } as i64)
    }
    /// Hexadecimal digits of one of its numbers, or nil.
    #[method("pkey_bn", singleton)]
    fn pkey_bn(cx: &mut Cx, _this: Value, h: Value, name: Ref<StringCell>) -> Result<Value> {
        let name = c_string(cx, name)?;
        let p = get(cx, h, Sort::Key)?;
        let mut n = null_mut();
        // SAFETY: a number of our own, freed by Big.
        unsafe {
            let ok = EVP_PKEY_get_bn_param(p, name.as_ptr(), &mut n) == 1;
            let n = Big(n);
            error::take();
            Ok(if ok { hex(cx, n.0) } else { Value::NIL })
        }
    }
    #[method("pkey_text", singleton)]
    fn pkey_text(cx: &mut Cx, _this: Value, h: Value, name: Ref<StringCell>) -> Result<Value> {
        let name = c_string(cx, name)?;
        let p = get(cx, h, Sort::Key)?;
        let (mut b, mut n) = ([0 as c_char; 128], 0);
        // SAFETY: 128 bytes of room.
        let ok = unsafe { EVP_PKEY_get_utf8_string_param(p, name.as_ptr(), b.as_mut_ptr(), 128, &mut n) } == 1;
        error::take();
        Ok(if ok { cx.str(&text(b.as_ptr())) } else { Value::NIL })
    }
    #[method("pkey_bytes", singleton)]
    fn pkey_bytes(cx: &mut Cx, _this: Value, h: Value, name: Ref<StringCell>) -> Result<Value> {
        let name = c_string(cx, name)?;
        let p = get(cx, h, Sort::Key)?;
        // SAFETY: room as it asked for.
        let b = measured(|b, n| unsafe { EVP_PKEY_get_octet_string_param(p, name.as_ptr(), b, if b.is_null() { 0 } else { *n }, n) });
        error::take();
        Ok(b.map_or(Value::NIL, |b| binary(cx, &b)))
    }
    #[method("pkey_eq", singleton)]
    fn pkey_eq(cx: &mut Cx, _this: Value, a: Value, b: Value) -> Result<i64> {
        let (a, b) = (get(cx, a, Sort::Key)?, get(cx, b, Sort::Key)?);
        // SAFETY: live keys.
        let n = unsafe { EVP_PKEY_eq(a, b) } as i64;
        error::take();
        Ok(n)
    }
    #[method("pkey_print", singleton)]
    fn pkey_print(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Key)?;
        for f in [EVP_PKEY_print_private, EVP_PKEY_print_public, EVP_PKEY_print_params] {
            // SAFETY: a live key.
            let (b, ok) = output(|bio| unsafe { f(bio, p, 0, null_mut()) });
            if ok == 1 {
                error::take();
                return Ok(cx.str_auto(&b));
            }
        }
        fail(cx, ERROR, "EVP_PKEY_print_params")
    }
    /// `form`: :private_pem (traditional), :pkcs8_pem, :pkcs8_der, :public_pem, :public_der, :private_der (traditional), :key_der (the type's own public form),
    /// :parameters_pem, :parameters_der
    #[method("pkey_write", singleton)]
    fn pkey_write(cx: &mut Cx, _this: Value, h: Value, form: Sym, cipher: Value, pass: Value) -> Result<Value> {
        let algorithm = Algorithm::cipher(cx, cipher)?;
        let given = bytes(cx, pass)?;
        let mut pass = Pass { given, asked: false };
        let p = get(cx, h, Sort::Key)?;
        let c = algorithm.0;
        let form = form.name().to_string();
        // SAFETY: a live key; the password lives through the calls.
        let (b, ok) = unsafe {
            let cb: Option<Password> = Some(password);
            let coded = |f| match der(f, p) {
                Some(b) => (b, 1),
                None => (Vec::new(), 0),
            };
            match &*form {
                "private_pem" => output(|bio| PEM_write_bio_PrivateKey_traditional(bio, p, c, null(), 0, cb, pass.arg())),
                "pkcs8_pem" => output(|bio| PEM_write_bio_PKCS8PrivateKey(bio, p, c, null(), 0, cb, pass.arg())),
                "pkcs8_der" => output(|bio| i2d_PKCS8PrivateKey_bio(bio, p, c, null(), 0, cb, pass.arg())),
                "public_pem" => output(|bio| PEM_write_bio_PUBKEY(bio, p)),
                "parameters_pem" => output(|bio| PEM_write_bio_Parameters(bio, p)),
                "public_der" => coded(i2d_PUBKEY),
                "private_der" => coded(i2d_PrivateKey),
                "key_der" => coded(i2d_PublicKey),
                _ => coded(i2d_KeyParams),
            }
        };
        if ok <= 0 {
            return fail(cx, ERROR, "");
        }
        error::take();
        Ok(if form.ends_with("pem") { ascii(cx, &b) } else { binary(cx, &b) })
    }
    /// :sign, :verify (true or false), with a digest's name or without one; options as pairs.
    #[method("pkey_digest_sign", singleton)]
    fn pkey_digest_sign(
        cx: &mut Cx,
        _this: Value,
        h: Value,
        digest: Value,
        data: Ref<StringCell>,
        signature: Value,
        list: Ref<ArrayCell>,
    ) -> Result<Value> {
        let md = Algorithm::digest(cx, digest)?;
        let (list, signature) = (options(cx, list)?, bytes(cx, signature)?);
        let data = Held::of(data);
        let p = get(cx, h, Sort::Key)?;
        // SAFETY: a context of our own; buffers readable for their lengths.
        unsafe {
            let Some(ctx) = Object::new(Sort::Digest, EVP_MD_CTX_new()) else { return fail(cx, ERROR, "EVP_MD_CTX_new") };
            let mut inner = null_mut();
            let begin = if signature.is_some() { EVP_DigestVerifyInit } else { EVP_DigestSignInit };
            if begin(ctx.p, &mut inner, md.0, null_mut(), p) != 1 {
                return fail(cx, ERROR, if signature.is_some() { "EVP_DigestVerifyInit" } else { "EVP_DigestSignInit" });
            }
            if let Err(what) = set(inner, &list) {
                return fail(cx, ERROR, &what);
            }
            match signature {
                None => match measured(|b, n| EVP_DigestSign(ctx.p, b, n, data.as_ptr(), data.len())) {
                    Some(b) => Ok(binary(cx, &b)),
                    None => fail(cx, ERROR, "EVP_DigestSign"),
                },
                Some(s) => match EVP_DigestVerify(ctx.p, s.as_ptr(), s.len(), data.as_ptr(), data.len()) {
                    n if n >= 0 => {
                        error::take();
                        Ok(Value::bool(n == 1))
                    }
                    _ => fail(cx, ERROR, "EVP_DigestVerify"),
                },
            }
        }
    }
    /// :sign, :verify_recover, :encrypt, :decrypt, :derive (the data is the other's key) of data as it is, :verify with a signature.
    #[method("pkey_do", singleton)]
    fn pkey_do(
        cx: &mut Cx,
        _this: Value,
        h: Value,
        what: Sym,
        digest: Value,
        data: Value,
        signature: Value,
        list: Ref<ArrayCell>,
    ) -> Result<Value> {
        let md = Algorithm::digest(cx, digest)?;
        let (list, signature) = (options(cx, list)?, bytes(cx, signature)?.unwrap_or_default());
        let what = what.name().to_string();
        let (peer, b) =
            if what == "derive" { (get(cx, data, Sort::Key)?, Vec::new()) } else { (null_mut(), bytes(cx, data)?.unwrap_or_default()) };
        let p = get(cx, h, Sort::Key)?;
        // SAFETY: a context of our own; buffers readable for their lengths.
        unsafe {
            let ctx = Context(EVP_PKEY_CTX_new(p, null_mut()));
            let (name, begin): (&str, unsafe extern "C" fn(P) -> c_int) = match &*what {
                "sign" => ("EVP_PKEY_sign", EVP_PKEY_sign_init),
                "verify" => ("EVP_PKEY_verify", EVP_PKEY_verify_init),
                "verify_recover" => ("EVP_PKEY_verify_recover", EVP_PKEY_verify_recover_init),
                "encrypt" => ("EVP_PKEY_encrypt", EVP_PKEY_encrypt_init),
                "decrypt" => ("EVP_PKEY_decrypt", EVP_PKEY_decrypt_init),
                _ => ("EVP_PKEY_derive", EVP_PKEY_derive_init),
            };
            if ctx.0.is_null() || begin(ctx.0) <= 0 {
                return fail(cx, ERROR, &format!("{name}_init"));
            }
            if !md.0.is_null() && EVP_PKEY_CTX_set_signature_md(ctx.0, md.0) <= 0 {
                return fail(cx, ERROR, "EVP_PKEY_CTX_set_signature_md");
            }
            if let Err(what) = set(ctx.0, &list) {
                return fail(cx, ERROR, &what);
            }
            let (at, len) = (b.as_ptr(), b.len());
            let out = match &*what {
                "verify" => {
                    let n = EVP_PKEY_verify(ctx.0, signature.as_ptr(), signature.len(), at, len);
                    if n < 0 {
                        return fail(cx, ERROR, name);
                    }
                    error::take();
                    return Ok(Value::bool(n == 1));
                }
                "sign" => measured(|o, n| EVP_PKEY_sign(ctx.0, o, n, at, len)),
                "verify_recover" => measured(|o, n| EVP_PKEY_verify_recover(ctx.0, o, n, at, len)),
                "encrypt" => measured(|o, n| EVP_PKEY_encrypt(ctx.0, o, n, at, len)),
                "decrypt" => measured(|o, n| EVP_PKEY_decrypt(ctx.0, o, n, at, len)),
                _ if EVP_PKEY_derive_set_peer(ctx.0, peer) <= 0 => return fail(cx, ERROR, "EVP_PKEY_derive_set_peer"),
                _ => measured(|o, n| EVP_PKEY_derive(ctx.0, o, n)),
            };
            match out {
                Some(b) => {
                    error::take();
                    Ok(binary(cx, &b))
                }
                None => fail(cx, ERROR, name),
            }
        }
    }
    /// :public, :param, :pair. Parameters of thousands of bits take seconds, and OpenSSL does not ask whether to go on: the native thread ends later than who asked.
    #[method("pkey_check", singleton)]
    fn pkey_check(cx: &mut Cx, _this: Value, h: Value, what: Sym) -> Result<bool> {
        get(cx, h, Sort::Key)?;
        let key = cx.data_ref::<Object>(h)?.copy();
        let what = what.name().to_string();
        aside::run(cx, Block::NONE, move |_| {
            let Some(key) = key else { return false };
            // SAFETY: a key, of which the work has a reference.
            unsafe {
                let ctx = Context(EVP_PKEY_CTX_new(key.p, null_mut()));
                let f = match &*what {
                    "public" => EVP_PKEY_public_check,
                    "param" => EVP_PKEY_param_check,
                    _ => EVP_PKEY_check,
                };
                let good = !ctx.0.is_null() && f(ctx.0) == 1;
                error::take();
                good
            }
        })
    }

    #[method("prime?", singleton)]
    fn is_prime(cx: &mut Cx, _this: Value, digits: Ref<StringCell>) -> Result<bool> {
        let n = Sent(Big::new(cx, digits).map(|b| std::mem::ManuallyDrop::new(b).0)?);
        let r = aside::run(cx, Block::NONE, move |watch| {
            let n = Big(n.get());
            // SAFETY: objects of our own.
            unsafe {
                let (ctx, cb) = (BN_CTX_new(), BN_GENCB_new());
                BN_GENCB_set(cb, Some(prime_goes_on), &raw const *watch as P);
                let r = BN_check_prime(n.0, ctx, cb);
                BN_GENCB_free(cb);
                BN_CTX_free(ctx);
                error::take();
                r
            }
        })?;
        if r < 0 { fail(cx, "BNError", "BN_check_prime") } else { Ok(r == 1) }
    }
    #[method("prime", singleton)]
    fn prime(cx: &mut Cx, _this: Value, bits: i64, safe: bool, add: Value, rem: Value) -> Result<Value> {
        let sent = |cx: &mut Cx, v| Big::or_null(cx, v).map(|b| Sent(std::mem::ManuallyDrop::new(b).0));
        let (add, rem) = (sent(cx, add)?, sent(cx, rem)?);
        let bits = bits.clamp(0, 1 << 20) as c_int;
        let r = aside::run(cx, Block::NONE, move |watch| {
            let (add, rem) = (Big(add.get()), Big(rem.get()));
            // SAFETY: objects of our own.
            unsafe {
                let (n, cb) = (Big(BN_new()), BN_GENCB_new());
                BN_GENCB_set(cb, Some(prime_goes_on), &raw const *watch as P);
                let ok = BN_generate_prime_ex(n.0, bits, safe as c_int, add.0, rem.0, cb) == 1;
                BN_GENCB_free(cb);
                if ok { Ok(Sent(std::mem::ManuallyDrop::new(n).0)) } else { Err(error::take()) }
            }
        })?;
        match r {
            // SAFETY: a number of our own.
            Ok(n) => unsafe {
                let n = Big(n.get());
                Ok(hex(cx, n.0))
            },
            Err(errors) => error::raise(cx, "BNError", "BN_generate_prime_ex", errors),
        }
    }

    /// `base` to the power of `e` modulo `m`, in hexadecimal digits. The caller limits the sizes: it can't be interrupted.
    #[method("mod_exp", singleton)]
    fn mod_exp(
        cx: &mut Cx,
        _this: Value,
        base: Ref<StringCell>,
        e: Ref<StringCell>,
        m: Ref<StringCell>,
        constant_time: bool,
    ) -> Result<Value> {
        let (base, e, m) = (Big::new(cx, base)?, Big::new(cx, e)?, Big::new(cx, m)?);
        // SAFETY: objects of our own.
        unsafe {
            if constant_time {
                BN_set_flags(e.0, 4);
            }
            let (r, ctx) = (Big(BN_new()), BN_CTX_new());
            let ok = BN_mod_exp(r.0, base.0, e.0, m.0, ctx);
            BN_CTX_free(ctx);
            if ok != 1 {
                return fail(cx, "BNError", "BN_mod_exp");
            }
            Ok(hex(cx, r.0))
        }
    }
    /// [short name, long name, dotted number, NID], or nil.
    #[method("oid", singleton)]
    fn oid(cx: &mut Cx, _this: Value, name: Ref<StringCell>) -> Result<Value> {
        let name = c_string(cx, name)?;
        // SAFETY: an object of our own, or OpenSSL's own.
        unsafe {
            let o = OBJ_txt2obj(name.as_ptr(), 0);
            error::take();
            if o.is_null() {
                return Ok(Value::NIL);
            }
            let nid = OBJ_obj2nid(o);
            let dotted = dotted(o);
            ASN1_OBJECT_free(o);
            let of = |s: *const c_char| if nid == 0 || s.is_null() { Value::NIL } else { cx.str(&text(s)) };
            let all = [of(OBJ_nid2sn(nid)), of(OBJ_nid2ln(nid)), cx.str(&dotted), Value::fixnum(nid as i64)];
            error::take();
            Ok(cx.array(&all))
        }
    }

    #[method("curves", singleton)]
    fn curves(cx: &mut Cx, _this: Value) -> Value {
        #[repr(C)]
        struct Curve(c_int, *const c_char);
        // SAFETY: room for as many as it says.
        let found = unsafe {
            let n = EC_get_builtin_curves(null_mut(), 0);
            let mut list: Vec<Curve> = (0..n).map(|_| Curve(0, null())).collect();
            EC_get_builtin_curves(list.as_mut_ptr().cast(), n);
            list.iter().flat_map(|c| [text(OBJ_nid2sn(c.0)), text(c.1)]).collect::<Vec<_>>()
        };
        cx.str_array(&found)
    }
    /// By a curve's name, DER or PEM; nil if there is none.
    #[method("group_new", singleton)]
    fn group_new(cx: &mut Cx, _this: Value, name: Ref<StringCell>) -> Result<Value> {
        let b = name.to_vec();
        let named = CString::new(b.clone()).ok();
        // SAFETY: a name that ends with NUL, or DER of its length.
        unsafe {
            let nid = named.map_or(0, |n| OBJ_txt2nid(n.as_ptr()));
            let mut g = if nid != 0 { EC_GROUP_new_by_curve_name(nid) } else { from_der(&b, d2i_ECPKParameters) };
            if !g.is_null() {
                if nid != 0 {
                    EC_GROUP_set_asn1_flag(g, 1);
                    EC_GROUP_set_point_conversion_form(g, 4);
                }
            } else {
                g = null_mut();
            }
            wrap_or_nil(cx, Sort::Group, g)
        }
    }
    #[method("group_curve", singleton)]
    fn group_curve(cx: &mut Cx, _this: Value, kind: Sym, p: Ref<StringCell>, a: Ref<StringCell>, b: Ref<StringCell>) -> Result<Value> {
        let (p, a, b) = (Big::new(cx, p)?, Big::new(cx, a)?, Big::new(cx, b)?);
        let f = if &*kind.name() == "GFp" { EC_GROUP_new_curve_GFp } else { EC_GROUP_new_curve_GF2m };
        // SAFETY: live numbers.
        let g = unsafe { f(p.0, a.0, b.0, null_mut()) };
        wrap(cx, Sort::Group, g, "PKey::EC::Group::Error", "EC_GROUP_new_by_GF*")
    }
    /// :name, :order, :cofactor, :degree, :seed, :asn1_flag, :form, :der, :print, :generator
    #[method("group_get", singleton)]
    fn group_get(cx: &mut Cx, _this: Value, h: Value, what: Sym) -> Result<Value> {
        let g = group_of(cx, h)?;
        // SAFETY: a live group.
        unsafe {
            Ok(match &*what.name() {
                "name" => match EC_GROUP_get_curve_name(g) {
                    0 => Value::NIL,
                    nid => cx.str(&text(OBJ_nid2sn(nid))),
                },
                "order" => hex(cx, EC_GROUP_get0_order(g)),
                "cofactor" => hex(cx, EC_GROUP_get0_cofactor(g)),
                "degree" => cx.int(EC_GROUP_get_degree(g) as i64),
                "seed" => match EC_GROUP_get_seed_len(g) {
                    0 => Value::NIL,
                    n => binary(cx, std::slice::from_raw_parts(EC_GROUP_get0_seed(g), n)),
                },
                "asn1_flag" => cx.int(EC_GROUP_get_asn1_flag(g) as i64),
                "form" => cx.int(EC_GROUP_get_point_conversion_form(g) as i64),
                "print" => {
                    let (b, _) = output(|bio| ECPKParameters_print(bio, g, 0));
                    cx.str_auto(&b)
                }
                "generator" => {
                    let p = EC_GROUP_get0_generator(g);
                    if p.is_null() {
                        return Ok(Value::NIL);
                    }
                    return wrap(cx, Sort::Point, EC_POINT_dup(p, g), "PKey::EC::Point::Error", "EC_POINT_dup");
                }
                _ => match der(i2d_ECPKParameters, g) {
                    Some(b) => binary(cx, &b),
                    None => return fail(cx, "PKey::EC::Group::Error", "i2d_ECPKParameters_bio"),
                },
            })
        }
    }
    #[method("group_set", singleton)]
    fn group_set(cx: &mut Cx, _this: Value, h: Value, what: Sym, value: Value) -> Result<()> {
        let seed = if &*what.name() == "seed" { bytes(cx, value)?.unwrap_or_default() } else { Vec::new() };
        let n = value.as_fixnum().unwrap_or(0) as c_int;
        let g = group_of(cx, h)?;
        // SAFETY: a live group; the seed is readable for its length.
        unsafe {
            match &*what.name() {
                "asn1_flag" => EC_GROUP_set_asn1_flag(g, n),
                "form" => EC_GROUP_set_point_conversion_form(g, n),
                _ => drop(EC_GROUP_set_seed(g, seed.as_ptr(), seed.len())),
            }
        }
        Ok(())
    }
    #[method("group_set_generator", singleton)]
    fn group_set_generator(
        cx: &mut Cx,
        _this: Value,
        h: Value,
        point: Value,
        order: Ref<StringCell>,
        cofactor: Ref<StringCell>,
    ) -> Result<()> {
        let (order, cofactor) = (Big::new(cx, order)?, Big::new(cx, cofactor)?);
        let (g, p) = (group_of(cx, h)?, get(cx, point, Sort::Point)?);
        // SAFETY: live objects.
        if unsafe { EC_GROUP_set_generator(g, p, order.0, cofactor.0) } != 1 {
            return fail(cx, "PKey::EC::Group::Error", "EC_GROUP_set_generator");
        }
        Ok(())
    }
    #[method("group_eq", singleton)]
    fn group_eq(cx: &mut Cx, _this: Value, a: Value, b: Value) -> Result<bool> {
        let (a, b) = (group_of(cx, a)?, group_of(cx, b)?);
        // SAFETY: live groups.
        let n = unsafe { EC_GROUP_cmp(a, b, null_mut()) };
        error::take();
        Ok(n == 0)
    }
    /// A point of its octets, or the point at infinity.
    #[method("point_new", singleton)]
    fn point_new(cx: &mut Cx, _this: Value, group: Value, octets: Value) -> Result<Value> {
        let octets = bytes(cx, octets)?;
        let g = group_of(cx, group)?;
        // SAFETY: live objects; readable for its length.
        unsafe {
            let Some(p) = Object::new(Sort::Point, EC_POINT_new(g)) else { return fail(cx, "PKey::EC::Point::Error", "EC_POINT_new") };
            if let Some(b) = octets
                && EC_POINT_oct2point(g, p.p, b.as_ptr(), b.len(), null_mut()) != 1
            {
                return fail(cx, "PKey::EC::Point::Error", "EC_POINT_oct2point");
            }
            let class = holder(cx)?;
            Ok(cx.data(class, p))
        }
    }
    #[method("point_octets", singleton)]
    fn point_octets(cx: &mut Cx, _this: Value, group: Value, point: Value, form: i64) -> Result<Value> {
        let (g, p) = (group_of(cx, group)?, get(cx, point, Sort::Point)?);
        let mut b = vec![0u8; 600];
        // SAFETY: 600 bytes of room, and it is told so.
        let n = unsafe { EC_POINT_point2oct(g, p, form as c_int, b.as_mut_ptr(), b.len(), null_mut()) };
        if n == 0 {
            return fail(cx, "PKey::EC::Point::Error", "EC_POINT_point2oct");
        }
        Ok(binary(cx, &b[..n]))
    }
    /// :infinity?, :on_curve?, :invert, :set_to_infinity, :eq (with another)
    #[method("point_do", singleton)]
    fn point_do(cx: &mut Cx, _this: Value, group: Value, point: Value, what: Sym, other: Value) -> Result<bool> {
        let other = get_or_null(cx, other, Sort::Point)?;
        let (g, p) = (group_of(cx, group)?, get(cx, point, Sort::Point)?);
        // SAFETY: live objects of one group; the caller looked.
        let n = unsafe {
            match &*what.name() {
                "infinity?" => return Ok(EC_POINT_is_at_infinity(g, p) == 1),
                "on_curve?" => EC_POINT_is_on_curve(g, p, null_mut()),
                "invert" => EC_POINT_invert(g, p, null_mut()),
                "eq" if !other.is_null() => return Ok(EC_POINT_cmp(g, p, other, null_mut()) == 0),
                _ => EC_POINT_set_to_infinity(g, p),
            }
        };
        if n < 0 {
            return fail(cx, "PKey::EC::Point::Error", "EC_POINT");
        }
        error::take();
        Ok(n == 1)
    }
    #[method("point_add", singleton)]
    fn point_add(cx: &mut Cx, _this: Value, group: Value, a: Value, b: Value) -> Result<Value> {
        let (g, a, b) = (group_of(cx, group)?, get(cx, a, Sort::Point)?, get(cx, b, Sort::Point)?);
        // SAFETY: live objects.
        unsafe {
            let Some(p) = Object::new(Sort::Point, EC_POINT_new(g)) else { return fail(cx, "PKey::EC::Point::Error", "EC_POINT_new") };
            if EC_POINT_add(g, p.p, a, b, null_mut()) != 1 {
                return fail(cx, "PKey::EC::Point::Error", "EC_POINT_add");
            }
            let class = holder(cx)?;
            Ok(cx.data(class, p))
        }
    }
    /// point * factor + generator * more
    #[method("point_mul", singleton)]
    fn point_mul(cx: &mut Cx, _this: Value, group: Value, point: Value, factor: Ref<StringCell>, more: Value) -> Result<Value> {
        let (factor, more) = (Big::new(cx, factor)?, Big::or_null(cx, more)?);
        let (g, a) = (group_of(cx, group)?, get(cx, point, Sort::Point)?);
        // SAFETY: live objects.
        unsafe {
            let Some(p) = Object::new(Sort::Point, EC_POINT_new(g)) else { return fail(cx, "PKey::EC::Point::Error", "EC_POINT_new") };
            if EC_POINT_mul(g, p.p, more.0, a, factor.0, null_mut()) != 1 {
                return fail(cx, "PKey::EC::Point::Error", "EC_POINT_mul");
            }
            let class = holder(cx)?;
            Ok(cx.data(class, p))
        }
    }
}
pub(crate) use natives::METHODS;

/// # Safety
/// An ASN1_OBJECT.
pub unsafe fn dotted(o: P) -> String {
    let mut b = vec![0 as c_char; 128];
    // SAFETY: as much room as is told; it says how much it needs, and ends with NUL.
    unsafe {
        let n = OBJ_obj2txt(b.as_mut_ptr(), 128, o, 1);
        if n >= 128 {
            b.resize(n as usize + 1, 0);
            OBJ_obj2txt(b.as_mut_ptr(), n + 1, o, 1);
        }
    }
    text(b.as_ptr())
}
