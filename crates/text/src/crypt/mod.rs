//! Hashes of passwords as crypt(3) makes them: DES, and MD5, SHA-256 and SHA-512 behind `$1$`, `$5$`, `$6$`.
//!
//! Sources: FIPS 46-3 for DES; Poul-Henning Kamp's description of the MD5 scheme; Ulrich Drepper's "Unix crypt using SHA-256 and SHA-512" (version 0.4). Settings that
//! the C library calls malformed have no result. Rejected: libcrypt (LGPL, and a part of the system that a moved binary may not find).

mod des;
mod digests;

use zakuro_base::progress::{Progress, Stopped};

/// Digits of all these hashes: six bits each.
const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn digit(c: u8) -> Option<u32> {
    DIGITS.iter().position(|d| *d == c).map(|at| at as u32)
}

/// Hash of `password` with what a setting asks for; None when the setting is none of these. Neither may hold NUL.
pub fn crypt(password: &[u8], setting: &[u8], p: &mut dyn Progress) -> Result<Option<Vec<u8>>, Stopped> {
    match setting {
        // As in the C library: what would make a line of the password file ambiguous is no setting.
        s if s.iter().any(|c| !c.is_ascii_graphic() || b":;*!\\".contains(c)) => Ok(None),
        [b'$', b'1', b'$', rest @ ..] => Ok(Some(digests::md5(password, rest))),
        [b'$', b'5', b'$', rest @ ..] => digests::sha::<sha2::Sha256>(password, rest, b"$5$", &digests::ORDER_256, p),
        [b'$', b'6', b'$', rest @ ..] => digests::sha::<sha2::Sha512>(password, rest, b"$6$", &digests::ORDER_512, p),
        [a, b, ..] => Ok(digit(*a).zip(digit(*b)).map(|(low, high)| des::hash(password, [*a, *b], low | high << 6))),
        _ => Ok(None),
    }
}

/// Appends `n` digits of a number, the lowest six bits first.
fn append(out: &mut Vec<u8>, mut bits: u32, n: usize) {
    for _ in 0..n {
        out.push(DIGITS[(bits & 63) as usize]);
        bits >>= 6;
    }
}

#[cfg(test)]
#[path = "../crypt_tests.rs"]
mod tests;
