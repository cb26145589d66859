//! bcrypt's `bcrypt_ext`: salts and hashes of passwords (Provos and Mazières, "A Future-Adaptable Password Scheme", 1999), over the Blowfish of RustCrypto.
//!
//! The rounds are made here, not by a function of a crate, so that they can be interrupted: a cost of 31 takes hours.

use ::blowfish::Blowfish;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// bcrypt's own base 64.
const DIGITS: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// Key set-ups between two questions whether to go on: some milliseconds.
const ROUNDS: u64 = 64;

fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for part in bytes.chunks(3) {
        let at = |i: usize| u32::from(part.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        out.extend((0..=part.len()).map(|i| DIGITS[(bits >> (18 - 6 * i)) as usize & 63]));
    }
}

/// The sixteen bytes that 22 digits stand for.
fn decode(text: &[u8]) -> Option<[u8; 16]> {
    let (mut salt, mut n, mut bits, mut held) = ([0; 16], 0, 0u32, 0);
    for c in text.get(..22)? {
        bits = bits << 6 | DIGITS.iter().position(|d| d == c)? as u32;
        held += 6;
        if held >= 8 && n < 16 {
            held -= 8;
            salt[n] = (bits >> held) as u8;
            n += 1;
        }
    }
    Some(salt)
}

/// `$2a$`, `$2b$`, `$2x$`, `$2y$`: b and y are bcrypt itself; for the others see [`Key`].
fn is_prefix(text: &[u8]) -> bool {
    matches!(text, [b'$', b'2', b'a' | b'b' | b'x' | b'y', b'$'])
}

/// A password's bytes, over and over, as the eighteen words that they are to Blowfish.
struct Key {
    /// For the rounds.
    rounds: [u8; 72],
    /// For the first set-up.
    first: [u8; 72],
}

impl Key {
    /// `password` ends with NUL. Hashes of the kind `x` come from a library that took bytes as signed: each overwrote those before it in its word. The kind `a`
    /// may have been made by either, so a key whose hash the faulty one could have made of many others gets another one (as in Openwall's crypt_blowfish).
    fn new(password: &[u8], kind: u8) -> Key {
        let (mut rounds, mut differ, mut overwrites) = ([0; 72], false, false);
        let mut bytes = password.iter().copied().cycle();
        for word in rounds.chunks_exact_mut(4) {
            let (mut right, mut faulty) = (0u32, 0u32);
            for i in 0..4 {
                let b = bytes.next().unwrap_or(0);
                right = right << 8 | u32::from(b);
                faulty = faulty << 8 | b as i8 as u32;
                overwrites |= i > 0 && b >= 0x80;
            }
            differ |= right != faulty;
            word.copy_from_slice(&if kind == b'x' { faulty } else { right }.to_be_bytes());
        }
        let mut first = rounds;
        if kind == b'a' && overwrites && !differ {
            first[1] ^= 1;
        }
        Key { rounds, first }
    }
}

/// A string that C reads: without NUL.
fn c_bytes(cx: &mut Cx, v: Value) -> Result<Vec<u8>> {
    let b = cx.to_str(v)?.to_vec();
    if b.contains(&0) { cx.arg_error("string contains null byte") } else { Ok(b) }
}

/// Methods of `BCrypt::Engine`.
#[ruby_class(ids::OBJECT)]
mod engine {
    use super::*;

    /// A salt from sixteen random bytes; nil for what is none of bcrypt's.
    #[method("__bc_salt", singleton)]
    fn salt(cx: &mut Cx, _this: Value, prefix: Value, cost: i64, input: Ref<StringCell>) -> Result<Value> {
        let prefix = c_bytes(cx, prefix)?;
        let input = input.content(&cx.heap);
        if input.len() < 16 || !(cost == 0 || (4..=31).contains(&cost)) || !is_prefix(&prefix) {
            return Ok(Value::NIL);
        }
        let mut out = prefix;
        out.extend_from_slice(format!("{:02}$", if cost == 0 { 5 } else { cost }).as_bytes());
        encode(&input[..16], &mut out);
        Ok(crate::binary(cx, &out))
    }
    /// The hash of a key under a salt (or a hash, which begins with its salt); nil for what is no salt.
    #[method("__bc_crypt", singleton)]
    fn crypt(cx: &mut Cx, _this: Value, key: Value, setting: Value) -> Result<Value> {
        if key.is_nil() || setting.is_nil() {
            return Ok(Value::NIL);
        }
        let (mut key, setting) = (c_bytes(cx, key)?, c_bytes(cx, setting)?);
        let cost = match setting.get(4..7) {
            Some([a @ b'0'..=b'3', b @ b'0'..=b'9', b'$']) if is_prefix(&setting[..4]) => (a - b'0') * 10 + b - b'0',
            _ => return Ok(Value::NIL),
        };
        let Some(salt) = setting.get(7..).and_then(decode).filter(|_| (4..=31).contains(&cost)) else { return Ok(Value::NIL) };
        // The NUL at the end is a part of the key; no more than 72 bytes count.
        key.push(0);
        key.truncate(72);
        let key = Key::new(&key, setting[2]);
        let mut state = Blowfish::bc_init_state();
        state.salted_expand_key(&salt, &key.first);
        for round in 0..1u64 << cost {
            state.bc_expand_key(&key.rounds);
            state.bc_expand_key(&salt);
            if round % ROUNDS == ROUNDS - 1 {
                cx.safepoint()?;
            }
        }
        let mut out = Vec::with_capacity(23);
        for pair in [[0x4f72_7068u32, 0x6561_6e42], [0x6568_6f6c, 0x6465_7253], [0x6372_7944, 0x6f75_6274]] {
            let pair = (0..64).fold(pair, |pair, _| state.bc_encrypt(pair));
            out.extend(pair.iter().flat_map(|word| word.to_be_bytes()));
        }
        let mut text = setting[..7].to_vec();
        // Of the last digit only the bits that the salt has.
        encode(&salt, &mut text);
        encode(&out[..23], &mut text);
        Ok(crate::binary(cx, &text))
    }
}

/// `require "bcrypt_ext"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let module = cx.define_module(ids::OBJECT, "BCrypt");
    let class = cx.define_class(module, "Engine", ids::OBJECT);
    cx.define_natives(class, &[engine::METHODS]);
    Ok(())
}
