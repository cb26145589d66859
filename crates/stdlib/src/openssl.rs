//! openssl, the part without keys and connections: digests, HMAC, PBKDF2, random bytes, AES. No certificates, no SSL: what asks for `OpenSSL::SSL`
//! finds that it is missing.
//!
//! AES is RustCrypto's block function; the modes (ECB, CBC, CTR, GCM) and padding are here, since OpenSSL's interface hands out what is ready
//! after each `update`. Tags are compared in constant time.

use crate::digest::Hasher;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use ghash::universal_hash::UniversalHash;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

type Block16 = [u8; 16];

#[derive(Clone)]
enum Aes {
    A128(Box<aes::Aes128>),
    A192(Box<aes::Aes192>),
    A256(Box<aes::Aes256>),
}
impl Aes {
    fn new(key: &[u8]) -> Option<Aes> {
        Some(match key.len() {
            16 => Aes::A128(Box::new(aes::Aes128::new_from_slice(key).ok()?)),
            24 => Aes::A192(Box::new(aes::Aes192::new_from_slice(key).ok()?)),
            32 => Aes::A256(Box::new(aes::Aes256::new_from_slice(key).ok()?)),
            _ => return None,
        })
    }
    fn encrypt(&self, b: &mut Block16) {
        match self {
            Aes::A128(c) => c.encrypt_block(b.into()),
            Aes::A192(c) => c.encrypt_block(b.into()),
            Aes::A256(c) => c.encrypt_block(b.into()),
        }
    }
    fn decrypt(&self, b: &mut Block16) {
        match self {
            Aes::A128(c) => c.decrypt_block(b.into()),
            Aes::A192(c) => c.decrypt_block(b.into()),
            Aes::A256(c) => c.decrypt_block(b.into()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Ecb,
    Cbc,
    Ctr,
    Gcm,
}

fn xor(a: &mut Block16, b: &Block16) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a ^= b);
}

/// A message on its way through a cipher.
#[derive(Trace, Clone)]
struct Work {
    #[untraced]
    aes: Aes,
    #[untraced]
    mode: Mode,
    encrypting: bool,
    /// The block before (CBC), or the counter.
    #[untraced]
    chain: Block16,
    /// Input that fills no block; in counter modes the keystream that is left.
    rest: Vec<u8>,
    #[untraced]
    gcm: Option<Gcm>,
}

#[derive(Clone)]
struct Gcm {
    hash: ghash::GHash,
    /// Bytes that fill no block of the hash yet.
    pending: Vec<u8>,
    /// The counter's first value, encrypted: what the tag is masked with.
    mask: Block16,
    associated: u64,
    text: u64,
}
impl Gcm {
    fn update(&mut self, mut b: &[u8]) {
        while !b.is_empty() {
            let n = (16 - self.pending.len()).min(b.len());
            self.pending.extend_from_slice(&b[..n]);
            b = &b[n..];
            if self.pending.len() == 16 {
                self.flush();
            }
        }
    }
    /// Ends the associated data, or the text: a last block is filled with zeros.
    fn flush(&mut self) {
        if !self.pending.is_empty() {
            self.hash.update_padded(&self.pending);
            self.pending.clear();
        }
    }
    fn tag(mut self) -> Block16 {
        self.flush();
        let mut lengths = [0; 16];
        lengths[..8].copy_from_slice(&(self.associated * 8).to_be_bytes());
        lengths[8..].copy_from_slice(&(self.text * 8).to_be_bytes());
        self.hash.update_padded(&lengths);
        let mut tag = self.mask;
        tag.iter_mut().zip(self.hash.finalize().iter()).for_each(|(a, b)| *a ^= b);
        tag
    }
}

impl Work {
    fn new(mode: Mode, encrypting: bool, key: &[u8], iv: &[u8]) -> Option<Work> {
        let aes = Aes::new(key)?;
        let mut chain = [0; 16];
        let mut gcm = None;
        if mode == Mode::Gcm {
            let mut h = [0; 16];
            aes.encrypt(&mut h);
            let hash = ghash::GHash::new_from_slice(&h).ok()?;
            if iv.len() == 12 {
                chain[..12].copy_from_slice(iv);
                chain[15] = 1;
            } else {
                let mut over = hash.clone();
                over.update_padded(iv);
                let mut length = [0; 16];
                length[8..].copy_from_slice(&(iv.len() as u64 * 8).to_be_bytes());
                over.update_padded(&length);
                chain.copy_from_slice(&over.finalize());
            }
            let mut mask = chain;
            aes.encrypt(&mut mask);
            gcm = Some(Gcm { hash, pending: Vec::new(), mask, associated: 0, text: 0 });
            count(&mut chain, 4);
        } else if mode != Mode::Ecb {
            chain.copy_from_slice(iv.get(..16)?);
        }
        Some(Work { aes, mode, encrypting, chain, rest: Vec::new(), gcm })
    }
    fn block(&mut self, b: &mut Block16) {
        match (self.mode, self.encrypting) {
            (Mode::Cbc, true) => {
                xor(b, &self.chain);
                self.aes.encrypt(b);
                self.chain = *b;
            }
            (Mode::Cbc, false) => {
                let next = *b;
                self.aes.decrypt(b);
                xor(b, &self.chain);
                self.chain = next;
            }
            (_, true) => self.aes.encrypt(b),
            (_, false) => self.aes.decrypt(b),
        }
    }
    /// What can be said after more input. `hold`: the last whole block stays, since it may be padding.
    fn update(&mut self, input: &[u8], hold: bool) -> Vec<u8> {
        if matches!(self.mode, Mode::Ctr | Mode::Gcm) {
            return self.stream(input);
        }
        self.rest.extend_from_slice(input);
        let keep = usize::from(hold && !self.encrypting);
        let blocks = self.rest.len().saturating_sub(keep) / 16;
        let all = std::mem::take(&mut self.rest);
        let mut out = Vec::with_capacity(blocks * 16);
        for part in all[..blocks * 16].chunks_exact(16) {
            let mut b = [0; 16];
            b.copy_from_slice(part);
            self.block(&mut b);
            out.extend_from_slice(&b);
        }
        self.rest = all[blocks * 16..].to_vec();
        out
    }
    fn stream(&mut self, input: &[u8]) -> Vec<u8> {
        if let Some(g) = &mut self.gcm {
            if g.text == 0 {
                g.flush();
            }
            g.text += input.len() as u64;
            if !self.encrypting {
                g.update(input);
            }
        }
        let mut out = Vec::with_capacity(input.len());
        for b in input {
            if self.rest.is_empty() {
                let mut key = self.chain;
                self.aes.encrypt(&mut key);
                count(&mut self.chain, if self.mode == Mode::Gcm { 4 } else { 16 });
                self.rest = key.iter().rev().copied().collect();
            }
            out.push(b ^ self.rest.pop().unwrap_or(0));
        }
        if self.encrypting
            && let Some(g) = &mut self.gcm
        {
            g.update(&out);
        }
        out
    }
    fn finish(&mut self, padding: bool) -> std::result::Result<Vec<u8>, &'static str> {
        if matches!(self.mode, Mode::Ctr | Mode::Gcm) {
            return Ok(Vec::new());
        }
        if self.encrypting {
            if !padding {
                return if self.rest.is_empty() { Ok(Vec::new()) } else { Err("wrong final block length") };
            }
            let n = 16 - self.rest.len() % 16;
            return Ok(self.update(&vec![n as u8; n], false));
        }
        if !padding {
            return if self.rest.is_empty() { Ok(Vec::new()) } else { Err("wrong final block length") };
        }
        if self.rest.len() != 16 {
            return Err("wrong final block length");
        }
        let mut out = self.update(&[], false);
        let n = out.last().map_or(0, |n| usize::from(*n));
        if n == 0 || n > 16 || out[16 - n..].iter().any(|b| usize::from(*b) != n) {
            return Err("bad decrypt");
        }
        out.truncate(16 - n);
        Ok(out)
    }
}

/// Adds one to the last bytes of a counter.
fn count(b: &mut Block16, bytes: usize) {
    for b in b[16 - bytes..].iter_mut().rev() {
        *b = b.wrapping_add(1);
        if *b != 0 {
            return;
        }
    }
}

impl NativeData for Work {
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(self.clone()))
    }
}

fn work(cx: &mut Cx, this: Value) -> Result<&mut Work> {
    if !cx.is_data::<Work>(this) && Ref::<DataCell>::from_value(this).is_some() {
        return crate::raise_named(cx, "OpenSSL::Cipher::CipherError", "no key set");
    }
    cx.data_mut::<Work>(this)
}

fn binary(cx: &mut Cx, b: &[u8]) -> Value {
    cx.str_bytes(b, string::BINARY)
}

#[ruby_class(ids::OBJECT)]
mod cipher {
    use super::*;

    #[method("__start", private)]
    fn start(cx: &mut Cx, this: Value, mode: Ref<StringCell>, encrypting: bool, key: Ref<StringCell>, iv: Ref<StringCell>) -> Result<()> {
        let mode = match mode.content(&cx.heap) {
            b"ECB" => Mode::Ecb,
            b"CBC" => Mode::Cbc,
            b"CTR" => Mode::Ctr,
            _ => Mode::Gcm,
        };
        match Work::new(mode, encrypting, key.content(&cx.heap), iv.content(&cx.heap)) {
            Some(w) => cx.data_init(this, w),
            None => cx.arg_error("bad key or iv"),
        }
    }
    #[method("__update", private)]
    fn update(cx: &mut Cx, this: Value, data: Ref<StringCell>, hold: bool) -> Result<Value> {
        let out = work(cx, this)?.update(&Held::of(data), hold);
        Ok(binary(cx, &out))
    }
    #[method("__final", private)]
    fn finish(cx: &mut Cx, this: Value, padding: bool) -> Result<Value> {
        match work(cx, this)?.finish(padding) {
            Ok(out) => Ok(binary(cx, &out)),
            Err(e) => crate::raise_named(cx, "OpenSSL::Cipher::CipherError", e),
        }
    }
    #[method("__auth_data", private)]
    fn auth_data(cx: &mut Cx, this: Value, data: Ref<StringCell>) -> Result<()> {
        if let Some(g) = &mut work(cx, this)?.gcm {
            g.associated += data.len() as u64;
            g.update(&Held::of(data));
        }
        Ok(())
    }
    #[method("__tag", private)]
    fn tag(cx: &mut Cx, this: Value) -> Result<Value> {
        let tag = work(cx, this)?.gcm.clone().map(Gcm::tag).unwrap_or_default();
        Ok(binary(cx, &tag))
    }
}

/// HMAC's two hashes, begun with the key.
fn keyed(hash: &Hasher, key: &[u8]) -> (Hasher, Hasher) {
    let block = hash.block() as usize;
    let mut k = if key.len() > block {
        let mut h = hash.clone();
        h.update(key);
        h.finish()
    } else {
        key.to_vec()
    };
    k.resize(block, 0);
    let begin = |pad: u8| {
        let mut h = hash.clone();
        h.update(&k.iter().map(|b| b ^ pad).collect::<Vec<u8>>());
        h
    };
    (begin(0x36), begin(0x5c))
}
fn hmac((inner, outer): &(Hasher, Hasher), data: &[u8]) -> Vec<u8> {
    let (mut i, mut o) = (inner.clone(), outer.clone());
    i.update(data);
    o.update(&i.finish());
    o.finish()
}

fn hasher(cx: &mut Cx, name: Ref<StringCell>) -> Result<Hasher> {
    match Hasher::named(&format!("Digest::{}", name.to_text())) {
        Some(h) => Ok(h),
        None => cx.raise(ids::RUNTIME_ERROR, "Unsupported digest algorithm"),
    }
}

/// Rounds of PBKDF2 between which the VM may be interrupted.
const ROUNDS: i64 = 1 << 12;

#[ruby_class(ids::OBJECT)]
mod module {
    use super::*;

    #[method("__hmac", singleton, private)]
    fn hmac(cx: &mut Cx, _this: Value, digest: Ref<StringCell>, key: Ref<StringCell>, data: Ref<StringCell>) -> Result<Value> {
        let h = hasher(cx, digest)?;
        let out = super::hmac(&keyed(&h, key.content(&cx.heap)), data.content(&cx.heap));
        Ok(binary(cx, &out))
    }
    #[method("__pbkdf2", singleton, private)]
    fn pbkdf2(
        cx: &mut Cx,
        _this: Value,
        digest: Ref<StringCell>,
        password: Ref<StringCell>,
        salt: Ref<StringCell>,
        rounds: i64,
        length: i64,
    ) -> Result<Value> {
        let h = hasher(cx, digest)?;
        let key = keyed(&h, password.content(&cx.heap));
        let (mut out, salt, length) = (Vec::new(), salt.to_vec(), length.max(0) as usize);
        let mut index = 1u32;
        while out.len() < length {
            let mut block = super::hmac(&key, &[&salt[..], &index.to_be_bytes()].concat());
            let mut sum = block.clone();
            for i in 1..rounds {
                block = super::hmac(&key, &block);
                sum.iter_mut().zip(&block).for_each(|(a, b)| *a ^= b);
                if i % ROUNDS == 0 {
                    cx.safepoint()?;
                }
            }
            out.extend_from_slice(&sum);
            index += 1;
        }
        out.truncate(length);
        Ok(binary(cx, &out))
    }
    /// Compares two Strings of one length in a time that doesn't tell where they differ.
    ///
    ///     OpenSSL.fixed_length_secure_compare("abc", "abd")   #=> false
    #[method("fixed_length_secure_compare", singleton)]
    fn fixed_length_secure_compare(cx: &mut Cx, _this: Value, a: Ref<StringCell>, b: Ref<StringCell>) -> Result<bool> {
        if a.len() != b.len() {
            return cx.arg_error("inputs must be of equal length");
        }
        Ok(a.content(&cx.heap).iter().zip(b.content(&cx.heap)).fold(0, |n, (a, b)| std::hint::black_box(n | (a ^ b))) == 0)
    }
}

pub static DOCUMENTED: &[MethodRow] = module::METHODS;

/// `require "openssl"`
pub fn load(cx: &mut Cx) -> Result<()> {
    crate::digest::load(cx)?;
    let openssl = cx.define_module(ids::OBJECT, "OpenSSL");
    crate::define(cx, openssl, &[module::METHODS]);
    // OpenSSL has it, Ruby's own digest hasn't.
    let (module, base) = (crate::class_named(cx, "Digest")?, crate::class_named(cx, "Digest::Base")?);
    cx.define_class(module, "SHA224", base);
    let class = cx.define_class(openssl, "Cipher", ids::OBJECT);
    cx.class_mut(class).alloc = Alloc::Data;
    crate::define(cx, class, &[cipher::METHODS]);
    cx.run_builtin("openssl")
}
