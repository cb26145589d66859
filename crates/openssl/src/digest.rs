//! Digests, HMAC, ciphers, key derivation, random bytes.

use crate::error::{self, fail, text};
use crate::handle::*;
use crate::provider;
use crate::sys::*;
use std::ffi::{c_char, c_int, c_uint};
use std::ptr::{null, null_mut};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Bytes given to OpenSSL at a time; between portions the VM may be interrupted.
const PORTION: usize = 1 << 20;
/// Rounds of PBKDF2, or blocks of scrypt, between which the VM may be interrupted.
const ROUNDS: i64 = 1 << 12;

unsafe extern "C" fn one_name(_algorithm: P, name: *const c_char, _to: *const c_char, arg: P) {
    // SAFETY: `arg` is a list of the caller's.
    unsafe { (*arg.cast::<Vec<String>>()).push(text(name)) }
}

fn hmac_final(h: P) -> Option<Vec<u8>> {
    let (mut b, mut n) = ([0u8; 64], 0 as c_uint);
    // SAFETY: a live context, which a copy leaves as it is; no digest is longer than 64 bytes.
    unsafe {
        let copy = HMAC_CTX_new();
        let ok = HMAC_CTX_copy(copy, h) == 1 && HMAC_Final(copy, b.as_mut_ptr(), &mut n) == 1;
        HMAC_CTX_free(copy);
        ok.then(|| b[..n as usize].to_vec())
    }
}

/// A context with a key in it.
fn hmac_new(cx: &mut Cx, key: &[u8], md: &Algorithm) -> Result<Object> {
    // SAFETY: the key is readable for its length; a pointer to an empty one is none of a context's old key.
    let made = unsafe {
        let h = HMAC_CTX_new();
        let key_ptr = if key.is_empty() { c"".as_ptr().cast() } else { key.as_ptr() };
        let length = c_int::try_from(key.len()).unwrap_or(-1);
        let ok = !h.is_null() && length >= 0 && HMAC_Init_ex(h, key_ptr, length, md.0, null_mut()) == 1;
        Object::new(Sort::Hmac, h).filter(|_| ok)
    };
    match made {
        Some(h) => Ok(h),
        None => fail(cx, "HMACError", "HMAC_Init_ex"),
    }
}

/// Salsa20/8 (RFC 7914, section 3).
fn salsa(b: &mut [u32; 16]) {
    let mut x = *b;
    for _ in 0..4 {
        for i in 0..4 {
            // The column that begins in its diagonal.
            let c: [usize; 4] = std::array::from_fn(|k| ((i + k) % 4) * 4 + i);
            quarter(&mut x, c);
        }
        for i in 0..4 {
            let r: [usize; 4] = std::array::from_fn(|k| i * 4 + (i + k) % 4);
            quarter(&mut x, r);
        }
    }
    b.iter_mut().zip(x).for_each(|(b, x)| *b = b.wrapping_add(x));
}

fn quarter(x: &mut [u32; 16], [a, b, c, d]: [usize; 4]) {
    x[b] ^= x[a].wrapping_add(x[d]).rotate_left(7);
    x[c] ^= x[b].wrapping_add(x[a]).rotate_left(9);
    x[d] ^= x[c].wrapping_add(x[b]).rotate_left(13);
    x[a] ^= x[d].wrapping_add(x[c]).rotate_left(18);
}

/// scryptBlockMix (section 4): 2r blocks of 64 bytes.
fn mix(b: &mut [u32], y: &mut [u32]) {
    let blocks = b.len() / 16;
    let mut x = [0u32; 16];
    x.copy_from_slice(&b[b.len() - 16..]);
    for i in 0..blocks {
        x.iter_mut().zip(&b[i * 16..]).for_each(|(x, b)| *x ^= b);
        salsa(&mut x);
        let to = (i / 2 + (i % 2) * (blocks / 2)) * 16;
        y[to..to + 16].copy_from_slice(&x);
    }
    b.copy_from_slice(y);
}

fn derive(cx: &mut Cx, md: &Algorithm, password: &[u8], salt: &[u8], rounds: i64, length: usize) -> Result<Vec<u8>> {
    let key = hmac_new(cx, password, md)?;
    let mut out = Vec::new();
    let mut index = 1u32;
    let mut done = 0i64;
    // SAFETY: contexts of our own, made for one digest; buffers have the room of the longest.
    unsafe {
        let work = match Object::new(Sort::Hmac, HMAC_CTX_new()) {
            Some(w) => w,
            None => return fail(cx, "KDF::KDFError", "HMAC_CTX_new"),
        };
        while out.len() < length {
            let (mut block, mut n) = ([0u8; 64], 0 as c_uint);
            HMAC_CTX_copy(work.p, key.p);
            HMAC_Update(work.p, salt.as_ptr(), salt.len());
            HMAC_Update(work.p, index.to_be_bytes().as_ptr(), 4);
            if HMAC_Final(work.p, block.as_mut_ptr(), &mut n) != 1 || n == 0 {
                return fail(cx, "KDF::KDFError", "HMAC_Final");
            }
            let mut sum = block;
            for _ in 1..rounds {
                HMAC_CTX_copy(work.p, key.p);
                HMAC_Update(work.p, block.as_ptr(), n as usize);
                HMAC_Final(work.p, block.as_mut_ptr(), &mut n);
                sum.iter_mut().zip(block).for_each(|(a, b)| *a ^= b);
                done += 1;
                if done % ROUNDS == 0 {
                    cx.safepoint()?;
                }
            }
            done += 1;
            if done % ROUNDS == 0 {
                cx.safepoint()?;
            }
            out.extend_from_slice(&sum[..n as usize]);
            index = index.wrapping_add(1);
        }
    }
    out.truncate(length);
    Ok(out)
}

/// Whether a key was set for the direction: some ciphers look through NULL without one. Kept in the context's application data, so that copies know it.
///
/// # Safety
/// A cipher's context.
unsafe fn set_keyed(p: P, on: bool) {
    // SAFETY: the caller's promise; the pointer is never looked through.
    unsafe { EVP_CIPHER_CTX_set_app_data(p, if on { std::ptr::NonNull::<u8>::dangling().as_ptr().cast() } else { null_mut() }) };
}

/// A cipher's context that has a key.
fn keyed(cx: &mut Cx, h: Value) -> Result<P> {
    let p = get(cx, h, Sort::Cipher)?;
    // SAFETY: a live context.
    if unsafe { EVP_CIPHER_CTX_get_app_data(p) }.is_null() {
        return fail(cx, "Cipher::CipherError", "key not set");
    }
    Ok(p)
}

/// PKCS #5's first scheme as OpenSSL extends it (EVP_BytesToKey): digests of digests, as many as give `length` bytes. Written here since OpenSSL's can't be interrupted.
fn stretch(cx: &mut Cx, md: &Algorithm, password: &[u8], salt: &[u8], rounds: i64, length: usize) -> Result<Vec<u8>> {
    // SAFETY: makes an object that is ours.
    let Some(ctx) = Object::new(Sort::Digest, unsafe { EVP_MD_CTX_new() }) else {
        return fail(cx, "Cipher::CipherError", "EVP_MD_CTX_new");
    };
    let mut out = Vec::new();
    let (mut sum, mut n) = ([0u8; 64], 0 as c_uint);
    while out.len() < length {
        for round in 0..rounds.max(1) {
            let parts: [&[u8]; 3] = if round == 0 { [&sum[..n as usize], password, salt] } else { [&sum[..n as usize], b"", b""] };
            // SAFETY: a context of our own; EVP_MAX_MD_SIZE bytes of room.
            let ok = unsafe {
                EVP_DigestInit_ex(ctx.p, md.0, null_mut()) == 1
                    && parts.iter().all(|b| EVP_DigestUpdate(ctx.p, b.as_ptr(), b.len()) == 1)
                    && EVP_DigestFinal_ex(ctx.p, sum.as_mut_ptr(), &mut n) == 1
            };
            if !ok || n == 0 {
                return fail(cx, "Cipher::CipherError", "EVP_BytesToKey");
            }
            if round % ROUNDS == ROUNDS - 1 {
                cx.safepoint()?;
            }
        }
        out.extend_from_slice(&sum[..n as usize]);
    }
    out.truncate(length);
    Ok(out)
}

/// Methods of `OpenSSL::Native`.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    #[method("md_new", singleton)]
    fn md_new(cx: &mut Cx, _this: Value, name: Ref<StringCell>) -> Result<Value> {
        let name = c_string(cx, name)?;
        let Some(md) = Algorithm::digest_named(cx, &name) else {
            error::take();
            return Ok(Value::NIL);
        };
        // SAFETY: a new context.
        let p = unsafe {
            let p = EVP_MD_CTX_new();
            if EVP_DigestInit_ex(p, md.0, null_mut()) != 1 {
                EVP_MD_CTX_free(p);
                return fail(cx, "Digest::DigestError", "EVP_DigestInit_ex");
            }
            p
        };
        wrap(cx, Sort::Digest, p, "Digest::DigestError", "EVP_MD_CTX_new")
    }
    #[method("md_reset", singleton)]
    fn md_reset(cx: &mut Cx, _this: Value, h: Value) -> Result<()> {
        let p = get(cx, h, Sort::Digest)?;
        // SAFETY: a live context.
        if unsafe { EVP_DigestInit_ex(p, EVP_MD_CTX_get0_md(p), null_mut()) } != 1 {
            return fail(cx, "Digest::DigestError", "EVP_DigestInit_ex");
        }
        Ok(())
    }
    #[method("md_update", singleton)]
    fn md_update(cx: &mut Cx, _this: Value, h: Value, data: Ref<StringCell>) -> Result<()> {
        let data = Held::of(data);
        let p = get(cx, h, Sort::Digest)?;
        for part in data.chunks(PORTION) {
            // SAFETY: readable for its length.
            if unsafe { EVP_DigestUpdate(p, part.as_ptr(), part.len()) } != 1 {
                return fail(cx, "Digest::DigestError", "EVP_DigestUpdate");
            }
            if data.len() > PORTION {
                cx.safepoint()?;
            }
        }
        Ok(())
    }
    #[method("md_final", singleton)]
    fn md_final(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Digest)?;
        let (mut b, mut n) = ([0u8; 64], 0);
        // SAFETY: a copy of a live context; EVP_MAX_MD_SIZE bytes of room.
        let ok = unsafe {
            let copy = EVP_MD_CTX_new();
            let ok = EVP_MD_CTX_copy_ex(copy, p) == 1 && EVP_DigestFinal_ex(copy, b.as_mut_ptr(), &mut n) == 1;
            EVP_MD_CTX_free(copy);
            ok
        };
        if !ok {
            return fail(cx, "Digest::DigestError", "EVP_DigestFinal_ex");
        }
        Ok(binary(cx, &b[..n as usize]))
    }
    /// [name, length, block's length]
    #[method("md_info", singleton)]
    fn md_info(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Digest)?;
        // SAFETY: a live context.
        let (name, size, block) = unsafe {
            let md = EVP_MD_CTX_get0_md(p);
            let nid = EVP_MD_get_type(md);
            let short = if nid != 0 { text(OBJ_nid2sn(nid)) } else { String::new() };
            let name = if short.is_empty() { text(EVP_MD_get0_name(md)) } else { short };
            (name, EVP_MD_get_size(md), EVP_MD_get_block_size(md))
        };
        let name = cx.str(&name);
        Ok(cx.array(&[name, Value::fixnum(size as i64), Value::fixnum(block as i64)]))
    }
    #[method("dup", singleton)]
    fn dup(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        get_of(cx, h, &[])?;
        let o = cx.data_ref::<Object>(h)?.copy();
        match o {
            Some(o) => {
                let class = holder(cx)?;
                Ok(cx.data(class, o))
            }
            None => cx.type_error("can't copy it"),
        }
    }
    /// Whether it is an object of this VM.
    #[method("alive?", singleton)]
    fn alive(cx: &mut Cx, _this: Value, h: Value) -> Result<bool> {
        Ok(cx.is_data::<Object>(h) && !cx.data_ref::<Object>(h)?.p.is_null())
    }

    #[method("hmac_new", singleton)]
    fn hmac_new(cx: &mut Cx, _this: Value, key: Ref<StringCell>, digest: Value) -> Result<Value> {
        let md = Algorithm::digest(cx, digest)?;
        let o = super::hmac_new(cx, &key.to_vec(), &md)?;
        let class = holder(cx)?;
        Ok(cx.data(class, o))
    }
    #[method("hmac_update", singleton)]
    fn hmac_update(cx: &mut Cx, _this: Value, h: Value, data: Ref<StringCell>) -> Result<()> {
        let data = Held::of(data);
        let p = get(cx, h, Sort::Hmac)?;
        for part in data.chunks(PORTION) {
            // SAFETY: readable for its length.
            unsafe { HMAC_Update(p, part.as_ptr(), part.len()) };
            if data.len() > PORTION {
                cx.safepoint()?;
            }
        }
        Ok(())
    }
    #[method("hmac_final", singleton)]
    fn hmac_final(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Hmac)?;
        match super::hmac_final(p) {
            Some(b) => Ok(binary(cx, &b)),
            None => fail(cx, "HMACError", "HMAC_Final"),
        }
    }
    #[method("hmac_reset", singleton)]
    fn hmac_reset(cx: &mut Cx, _this: Value, h: Value) -> Result<()> {
        let p = get(cx, h, Sort::Hmac)?;
        // SAFETY: a live context keeps its key.
        unsafe { HMAC_Init_ex(p, null(), 0, null_mut(), null_mut()) };
        Ok(())
    }

    #[method("pbkdf2", singleton)]
    fn pbkdf2(
        cx: &mut Cx,
        _this: Value,
        password: Ref<StringCell>,
        salt: Ref<StringCell>,
        rounds: i64,
        length: i64,
        digest: Value,
    ) -> Result<Value> {
        let md = Algorithm::digest(cx, digest)?;
        let (password, salt) = (password.to_vec(), salt.to_vec());
        if !cx.heap.admits(length.max(0) as usize) {
            return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        }
        let out = derive(cx, &md, &password, &salt, rounds, length.max(0) as usize)?;
        Ok(binary(cx, &out))
    }
    /// scrypt (RFC 7914). Written here since OpenSSL's can't be interrupted.
    #[method("scrypt", singleton)]
    fn scrypt(
        cx: &mut Cx,
        _this: Value,
        password: Ref<StringCell>,
        salt: Ref<StringCell>,
        n: i64,
        r: i64,
        p: i64,
        length: i64,
    ) -> Result<Value> {
        if n < 2 || n & (n - 1) != 0 || r < 1 || p < 1 || !(0..1 << 40).contains(&length) {
            return fail(cx, "KDF::KDFError", "EVP_PBE_scrypt: invalid parameters");
        }
        let big = |a: i64, b: i64| a.checked_mul(b).filter(|n| *n <= 1 << 40);
        let size = big(n, r).and_then(|n| big(n, 128));
        let (Some(size), Some(whole)) = (size, big(r, p).and_then(|n| big(n, 128))) else {
            return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        };
        if !cx.heap.admits((size + whole + length.max(0)) as usize) {
            return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        }
        let Some(sha) = Algorithm::digest_named(cx, c"SHA256") else { return fail(cx, "KDF::KDFError", "EVP_MD_fetch") };
        let (password, salt, n, r) = (password.to_vec(), salt.to_vec(), n as usize, r as usize);
        let mut b = derive(cx, &sha, &password, &salt, 1, whole as usize)?;
        let words = 32 * r;
        let (mut v, mut y) = (Vec::<u32>::new(), vec![0u32; words]);
        if v.try_reserve_exact(words * n).is_err() {
            return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        }
        let mut steps = 0usize;
        for part in b.chunks_exact_mut(128 * r) {
            let mut x: Vec<u32> = part.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
            v.clear();
            for _ in 0..n {
                v.extend_from_slice(&x);
                mix(&mut x, &mut y);
                steps += r;
                if steps >= ROUNDS as usize {
                    steps = 0;
                    cx.safepoint()?;
                }
            }
            for _ in 0..n {
                let j = (x[words - 16] as usize | (x[words - 15] as usize) << 32) & (n - 1);
                x.iter_mut().zip(&v[j * words..]).for_each(|(x, v)| *x ^= v);
                mix(&mut x, &mut y);
                steps += r;
                if steps >= ROUNDS as usize {
                    steps = 0;
                    cx.safepoint()?;
                }
            }
            part.chunks_exact_mut(4).zip(&x).for_each(|(to, x)| to.copy_from_slice(&x.to_le_bytes()));
        }
        let out = derive(cx, &sha, &password, &b, 1, length.max(0) as usize)?;
        Ok(binary(cx, &out))
    }
    #[method("random", singleton)]
    fn random(cx: &mut Cx, _this: Value, n: i64) -> Result<Value> {
        if n < 0 {
            return cx.arg_error("negative string size (or size too big)");
        }
        if !cx.heap.admits(n as usize) || n > c_int::MAX as i64 {
            return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        }
        let mut b = vec![0u8; n as usize];
        for part in b.chunks_mut(PORTION) {
            // SAFETY: writable for its length.
            if unsafe { RAND_bytes(part.as_mut_ptr(), part.len() as c_int) } != 1 {
                return fail(cx, "Random::RandomError", "RAND_bytes");
            }
            cx.safepoint()?;
        }
        Ok(binary(cx, &b))
    }

    #[method("cipher_new", singleton)]
    fn cipher_new(cx: &mut Cx, _this: Value, name: Value) -> Result<Value> {
        let cipher = Algorithm::cipher(cx, name)?;
        // SAFETY: a new context.
        let p = unsafe {
            let p = EVP_CIPHER_CTX_new();
            if EVP_CipherInit_ex(p, cipher.0, null_mut(), null(), null(), -1) != 1 {
                EVP_CIPHER_CTX_free(p);
                return fail(cx, "Cipher::CipherError", "EVP_CipherInit_ex");
            }
            p
        };
        wrap(cx, Sort::Cipher, p, "Cipher::CipherError", "EVP_CIPHER_CTX_new")
    }
    /// Sets direction (1 encrypts, 0 decrypts, -1 as before), key, initialization vector.
    #[method("cipher_init", singleton)]
    fn cipher_init(cx: &mut Cx, _this: Value, h: Value, key: Value, iv: Value, direction: i64) -> Result<()> {
        let (key, iv) = (bytes(cx, key)?, bytes(cx, iv)?);
        let p = get(cx, h, Sort::Cipher)?;
        let at = |b: &Option<Vec<u8>>| b.as_ref().map_or(null(), |b| b.as_ptr());
        // SAFETY: the lengths are what the context asks for; looked at here.
        unsafe {
            let short = |b: &Option<Vec<u8>>, n: c_int| b.as_ref().is_some_and(|b| b.len() < n.max(0) as usize);
            if short(&key, EVP_CIPHER_CTX_get_key_length(p)) || short(&iv, EVP_CIPHER_CTX_get_iv_length(p)) {
                return cx.arg_error("key or iv is too short");
            }
            // A key is for one direction.
            if direction >= 0 {
                set_keyed(p, false);
            }
            if EVP_CipherInit_ex(p, null_mut(), null_mut(), at(&key), at(&iv), direction.clamp(-1, 1) as c_int) != 1 {
                return fail(cx, "Cipher::CipherError", "EVP_CipherInit_ex");
            }
            if key.is_some() {
                set_keyed(p, true);
            }
        }
        Ok(())
    }
    #[method("cipher_update", singleton)]
    fn cipher_update(cx: &mut Cx, _this: Value, h: Value, data: Ref<StringCell>) -> Result<Value> {
        let data = Held::of(data);
        let p = keyed(cx, h)?;
        // SAFETY: a live context with a key; there is room for all input and two blocks.
        unsafe {
            if data.len() > c_int::MAX as usize - 64 || !cx.heap.admits(data.len() + 64) {
                return cx.raise(ids::RANGE_ERROR, "data too big to encrypt/decrypt");
            }
            let mut out = vec![0u8; data.len() + EVP_CIPHER_CTX_get_block_size(p).max(0) as usize * 2 + 16];
            let mut at = 0;
            // Modes that take all at once do so for whatever fits a portion.
            let whole = EVP_CIPHER_get_flags(EVP_CIPHER_CTX_get0_cipher(p)) & 0xf0007 >= 7 || data.len() <= PORTION;
            let step = if whole { data.len().max(1) } else { PORTION };
            for part in data.chunks(step) {
                let mut n = 0;
                if EVP_CipherUpdate(p, out.as_mut_ptr().add(at), &mut n, part.as_ptr(), part.len() as c_int) != 1 {
                    return fail(cx, "Cipher::CipherError", "");
                }
                at += n.max(0) as usize;
                if data.len() > PORTION {
                    cx.safepoint()?;
                }
            }
            provider::leave(&cx.data_ref::<Object>(h)?.library);
            Ok(binary(cx, &out[..at]))
        }
    }
    #[method("cipher_auth_data", singleton)]
    fn cipher_auth_data(cx: &mut Cx, _this: Value, h: Value, data: Ref<StringCell>) -> Result<()> {
        let data = Held::of(data);
        let p = keyed(cx, h)?;
        let mut n = 0;
        // SAFETY: readable for its length; ciphers with associated data (EVP_CIPH_FLAG_AEAD_CIPHER) take input without a place for output, but those that
        // TLS has made of CBC and HMAC.
        let ok = unsafe {
            let flags = EVP_CIPHER_get_flags(EVP_CIPHER_CTX_get0_cipher(p));
            flags & 0x20_0000 != 0
                && flags & 0xf_0007 != 2
                && data.len() <= c_int::MAX as usize
                && EVP_CipherUpdate(p, null_mut(), &mut n, data.as_ptr(), data.len() as c_int) == 1
        };
        if !ok {
            return fail(cx, "Cipher::CipherError", "couldn't set additional authenticated data");
        }
        Ok(())
    }
    /// For CCM: the length of what will come.
    #[method("cipher_data_len", singleton)]
    fn cipher_data_len(cx: &mut Cx, _this: Value, h: Value, length: i64) -> Result<()> {
        let p = get(cx, h, Sort::Cipher)?;
        let mut n = 0;
        // SAFETY: in CCM, and without buffers, it only notes the length.
        let ok = unsafe {
            EVP_CIPHER_get_flags(EVP_CIPHER_CTX_get0_cipher(p)) & 0xf_0007 == 7
                && c_int::try_from(length).is_ok_and(|length| length >= 0 && EVP_CipherUpdate(p, null_mut(), &mut n, null(), length) == 1)
        };
        if !ok {
            return fail(cx, "Cipher::CipherError", "");
        }
        Ok(())
    }
    /// `tag`: a failure means that the tag is not the message's.
    #[method("cipher_final", singleton)]
    fn cipher_final(cx: &mut Cx, _this: Value, h: Value, tag: bool) -> Result<Value> {
        let p = keyed(cx, h)?;
        let (mut out, mut n) = ([0u8; 64], 0);
        // SAFETY: room for two of the longest blocks.
        if unsafe { EVP_CipherFinal_ex(p, out.as_mut_ptr(), &mut n) } == 1 {
            return Ok(binary(cx, &out[..n.max(0) as usize]));
        }
        if tag {
            fail(cx, "Cipher::AuthTagError", "AEAD authentication tag verification failed")
        } else {
            fail(cx, "Cipher::CipherError", "")
        }
    }
    /// [name, key's length, iv's length, block's length, flags, NID]
    #[method("cipher_info", singleton)]
    fn cipher_info(cx: &mut Cx, _this: Value, h: Value) -> Result<Value> {
        let p = get(cx, h, Sort::Cipher)?;
        // SAFETY: a live context with a cipher.
        let (name, numbers) = unsafe {
            let c = EVP_CIPHER_CTX_get0_cipher(p);
            let nid = EVP_CIPHER_get_nid(c);
            let name = if nid != 0 { text(OBJ_nid2sn(nid)) } else { text(EVP_CIPHER_get0_name(c)) };
            let flags = EVP_CIPHER_get_flags(c) as i64;
            (
                name,
                [
                    EVP_CIPHER_CTX_get_key_length(p) as i64,
                    EVP_CIPHER_CTX_get_iv_length(p) as i64,
                    EVP_CIPHER_CTX_get_block_size(p) as i64,
                    flags,
                ],
            )
        };
        let name = cx.str(&name);
        let all = [name, cx.int(numbers[0]), cx.int(numbers[1]), cx.int(numbers[2]), cx.int(numbers[3])];
        Ok(cx.array(&all))
    }
    #[method("cipher_set", singleton)]
    fn cipher_set(cx: &mut Cx, _this: Value, h: Value, what: Sym, n: i64) -> Result<()> {
        let p = get(cx, h, Sort::Cipher)?;
        let n = n.clamp(c_int::MIN as i64, c_int::MAX as i64) as c_int;
        // SAFETY: a live context.
        let ok = unsafe {
            match &*what.name() {
                "padding" => EVP_CIPHER_CTX_set_padding(p, n),
                // As long as OpenSSL's own buffers are: a negative length would be a huge one.
                "key_len" if !(1..=64).contains(&n) => 0,
                "key_len" => EVP_CIPHER_CTX_set_key_length(p, n),
                "iv_len" => EVP_CIPHER_CTX_ctrl(p, 9, n, null_mut()),
                _ => EVP_CIPHER_CTX_ctrl(p, 17, n, null_mut()), // a tag's length only
            }
        };
        if ok == 1 { Ok(()) } else { fail(cx, "Cipher::CipherError", "") }
    }
    #[method("cipher_tag", singleton)]
    fn cipher_tag(cx: &mut Cx, _this: Value, h: Value, n: i64) -> Result<Value> {
        let p = get(cx, h, Sort::Cipher)?;
        if n < 0 || n > 64 {
            return error::fail(cx, "Cipher::CipherError", "retrieving the authentication tag failed");
        }
        let mut b = [0u8; 64];
        // SAFETY: at most 64 bytes are asked for.
        if unsafe { EVP_CIPHER_CTX_ctrl(p, 16, n as c_int, b.as_mut_ptr().cast()) } != 1 {
            return fail(cx, "Cipher::CipherError", "retrieving the authentication tag failed");
        }
        Ok(binary(cx, &b[..n as usize]))
    }
    #[method("cipher_set_tag", singleton)]
    fn cipher_set_tag(cx: &mut Cx, _this: Value, h: Value, tag: Ref<StringCell>) -> Result<()> {
        let mut b = tag.to_vec();
        let p = get(cx, h, Sort::Cipher)?;
        // SAFETY: readable for its length; no tag is longer than a block.
        if b.len() > 64 || unsafe { EVP_CIPHER_CTX_ctrl(p, 17, b.len() as c_int, b.as_mut_ptr().cast()) } != 1 {
            return fail(cx, "Cipher::CipherError", "unable to set GCM tag");
        }
        Ok(())
    }
    #[method("cipher_keyivgen", singleton)]
    fn cipher_keyivgen(
        cx: &mut Cx,
        _this: Value,
        h: Value,
        password: Ref<StringCell>,
        salt: Value,
        rounds: i64,
        digest: Value,
    ) -> Result<Value> {
        let md = Algorithm::digest(cx, digest)?;
        let (password, salt) = (password.to_vec(), bytes(cx, salt)?);
        let p = get(cx, h, Sort::Cipher)?;
        // SAFETY: a live context; a key and an iv of the lengths that it asks for, which its buffers limit.
        let (key_len, iv_len) = unsafe { (EVP_CIPHER_CTX_get_key_length(p), EVP_CIPHER_CTX_get_iv_length(p)) };
        let (key_len, iv_len) = (key_len.clamp(0, 64) as usize, iv_len.clamp(0, 16) as usize);
        let salt = salt.filter(|s| s.len() == 8).unwrap_or_default();
        let mut b = stretch(cx, &md, &password, &salt, rounds, key_len + iv_len)?;
        // The context may have been given up while others ran.
        let p = get(cx, h, Sort::Cipher)?;
        b.resize(key_len + iv_len + 64, 0);
        // SAFETY: as above, with room behind.
        if unsafe { EVP_CipherInit_ex(p, null_mut(), null_mut(), b.as_ptr(), b[key_len..].as_ptr(), -1) } != 1 {
            return fail(cx, "Cipher::CipherError", "");
        }
        // SAFETY: a live context.
        unsafe { set_keyed(p, true) };
        Ok(Value::NIL)
    }
    #[method("ciphers", singleton)]
    fn ciphers(cx: &mut Cx, _this: Value) -> Value {
        let mut names: Vec<String> = Vec::new();
        // SAFETY: the list outlives the call.
        unsafe { EVP_CIPHER_do_all_sorted(one_name, (&raw mut names).cast()) };
        error::take();
        cx.str_array(&names)
    }
    #[method("digests", singleton)]
    fn digests(cx: &mut Cx, _this: Value) -> Value {
        let mut names: Vec<String> = Vec::new();
        // SAFETY: as above.
        unsafe { EVP_MD_do_all_sorted(one_name, (&raw mut names).cast()) };
        error::take();
        cx.str_array(&names)
    }
    /// Compares two Strings of one length in a time that doesn't tell where they differ.
    #[method("same?", singleton)]
    fn same(cx: &mut Cx, _this: Value, a: Ref<StringCell>, b: Ref<StringCell>) -> Result<bool> {
        if a.len() != b.len() {
            return cx.arg_error("inputs must be of equal length");
        }
        Ok(a.content(&cx.heap).iter().zip(b.content(&cx.heap)).fold(0, |n, (a, b)| std::hint::black_box(n | (a ^ b))) == 0)
    }
}
pub(crate) use natives::METHODS;
