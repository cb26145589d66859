//! The schemes made of MD5 and SHA-2.

use super::append;
use md5::{Digest, Md5};
use zakuro_base::progress::{Progress, Stopped};

/// Which bytes of the sum make three bytes, highest first.
pub static ORDER_256: [[usize; 3]; 11] = [
    [0, 10, 20],
    [21, 1, 11],
    [12, 22, 2],
    [3, 13, 23],
    [24, 4, 14],
    [15, 25, 5],
    [6, 16, 26],
    [27, 7, 17],
    [18, 28, 8],
    [9, 19, 29],
    [NONE, 31, 30],
];
pub static ORDER_512: [[usize; 3]; 22] = [
    [0, 21, 42],
    [22, 43, 1],
    [44, 2, 23],
    [3, 24, 45],
    [25, 46, 4],
    [47, 5, 26],
    [6, 27, 48],
    [28, 49, 7],
    [50, 8, 29],
    [9, 30, 51],
    [31, 52, 10],
    [53, 11, 32],
    [12, 33, 54],
    [34, 55, 13],
    [56, 14, 35],
    [15, 36, 57],
    [37, 58, 16],
    [59, 17, 38],
    [18, 39, 60],
    [40, 61, 19],
    [62, 20, 41],
    [NONE, NONE, 63],
];
const NONE: usize = usize::MAX;

fn digits(out: &mut Vec<u8>, sum: &[u8], order: &[[usize; 3]]) {
    for three in order {
        let bits = three.iter().fold(0, |bits, at| bits << 8 | sum.get(*at).copied().unwrap_or(0) as u32);
        let n = 4 - three.iter().filter(|at| **at == NONE).count();
        append(out, bits, n);
    }
}

/// What stands before the next `$`, at most `most` bytes.
fn salt_of(setting: &[u8], most: usize) -> &[u8] {
    let end = setting.iter().position(|c| *c == b'$').unwrap_or(setting.len());
    &setting[..end.min(most)]
}

pub fn md5(password: &[u8], setting: &[u8]) -> Vec<u8> {
    let salt = salt_of(setting, 8);
    let inner = Md5::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut first = Md5::new().chain_update(password).chain_update(b"$1$").chain_update(salt);
    for part in password.chunks(16) {
        first.update(&inner[..part.len()]);
    }
    // A byte for each bit of the length: NUL for a 1, else the password's first.
    let mut n = password.len();
    while n > 0 {
        first.update(if n & 1 == 1 { &[0][..] } else { &password[..1] });
        n >>= 1;
    }
    let mut sum = first.finalize();
    for i in 0..1000 {
        let mut next = Md5::new();
        next.update(if i & 1 == 1 { password } else { &sum });
        if i % 3 != 0 {
            next.update(salt);
        }
        if i % 7 != 0 {
            next.update(password);
        }
        next.update(if i & 1 == 1 { &sum[..] } else { password });
        sum = next.finalize();
    }
    let mut out = [b"$1$", salt, b"$"].concat();
    digits(&mut out, &sum, &[[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5], [NONE, NONE, 11]]);
    out
}

/// `rounds=N$` in front of a salt: N, and what follows. Err: malformed.
fn rounds(setting: &[u8]) -> Result<(Option<u32>, &[u8]), ()> {
    let Some(rest) = setting.strip_prefix(b"rounds=") else { return Ok((None, setting)) };
    let end = rest.iter().position(|c| *c == b'$').ok_or(())?;
    let number = std::str::from_utf8(&rest[..end]).ok().filter(|s| !s.starts_with(['0', '+'])).ok_or(())?;
    let n = number.parse().ok().filter(|n| (1000..=999_999_999).contains(n)).ok_or(())?;
    Ok((Some(n), &rest[end + 1..]))
}

/// As many bytes as `like` has, of a sum over and over.
fn repeated(sum: &[u8], like: usize) -> Vec<u8> {
    sum.iter().copied().cycle().take(like).collect()
}

pub fn sha<D: Digest>(
    password: &[u8],
    setting: &[u8],
    prefix: &[u8],
    order: &[[usize; 3]],
    p: &mut dyn Progress,
) -> Result<Option<Vec<u8>>, Stopped> {
    let Ok((count, rest)) = rounds(setting) else { return Ok(None) };
    let salt = salt_of(rest, 16);
    let b = D::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut a = D::new().chain_update(password).chain_update(salt).chain_update(repeated(&b, password.len()));
    let mut n = password.len();
    while n > 0 {
        if n & 1 == 1 {
            a.update(&b);
        } else {
            a.update(password);
        }
        n >>= 1;
    }
    let mut sum = a.finalize();
    // The password and the salt, hidden.
    let mut d = D::new();
    for i in 0..password.len() {
        step(i, password.len(), p)?;
        d.update(password);
    }
    let secret = repeated(&d.finalize(), password.len());
    let mut d = D::new();
    for _ in 0..16 + sum[0] as usize {
        d.update(salt);
    }
    let hidden = repeated(&d.finalize(), salt.len());
    for i in 0..count.unwrap_or(5000) as usize {
        step(i, secret.len(), p)?;
        let mut next = D::new();
        if i & 1 == 1 {
            next.update(&secret);
        } else {
            next.update(&sum);
        }
        if i % 3 != 0 {
            next.update(&hidden);
        }
        if i % 7 != 0 {
            next.update(&secret);
        }
        if i & 1 == 1 {
            next.update(&sum);
        } else {
            next.update(&secret);
        }
        sum = next.finalize();
    }
    let mut out = prefix.to_vec();
    if let Some(n) = count {
        out.extend_from_slice(format!("rounds={n}$").as_bytes());
    }
    out.extend_from_slice(salt);
    out.push(b'$');
    digits(&mut out, &sum, order);
    Ok(Some(out))
}

/// Asks whether to go on, the more often the longer one round is.
fn step(i: usize, length: usize, p: &mut dyn Progress) -> Result<(), Stopped> {
    let every = (1 << 16) / (length + 256) + 1;
    if i % every == every - 1 { p.poll() } else { Ok(()) }
}
