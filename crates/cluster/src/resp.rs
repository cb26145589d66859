//! Redis' replies (RESP 2), without a VM: whether one is whole, and what comes next in it.
//!
//! Invariants: nothing is allocated here, whatever a server says of lengths; what is wrong is told once, as a text. A reply that comes in pieces is measured anew with each piece, which reads
//! the heads only: contents are passed over.

/// Deepest nesting of arrays.
const DEPTH: usize = 16;
/// Most parts of one reply.
const PARTS: usize = 1 << 20;
/// Longest content.
const LENGTH: usize = 512 << 20;

/// What stands at a place in a reply.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Item<'a> {
    Status(&'a [u8]),
    Error(&'a [u8]),
    Integer(i64),
    Bulk(&'a [u8]),
    Nil,
    /// So many items follow.
    Array(usize),
}

/// Why there is no item.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Lack {
    /// More bytes have to come.
    More,
    /// This is no reply.
    Broken(&'static str),
}

fn number(text: &[u8]) -> Result<i64, Lack> {
    std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()).ok_or(Lack::Broken("a length that is no number"))
}

/// The line at `at`, and where the next one begins.
pub(crate) fn line(bytes: &[u8], at: usize) -> Result<(&[u8], usize), Lack> {
    const LONGEST: usize = 64 << 10;
    let rest = bytes.get(at..).unwrap_or_default();
    let window = &rest[..rest.len().min(LONGEST)];
    match window.windows(2).position(|two| two == b"\r\n") {
        Some(end) => Ok((&rest[..end], at + end + 2)),
        None if rest.len() >= LONGEST => Err(Lack::Broken("a line without an end")),
        None => Err(Lack::More),
    }
}

/// The content of `length` bytes at `at` with its line end, and where it ends.
pub(crate) fn content(bytes: &[u8], at: usize, length: usize) -> Result<(&[u8], usize), Lack> {
    if length > LENGTH {
        return Err(Lack::Broken("a content of more than 512 MB"));
    }
    let end = at + length;
    match bytes.get(end..end + 2) {
        Some(b"\r\n") => Ok((&bytes[at..end], end + 2)),
        Some(_) => Err(Lack::Broken("a content that is longer than it says")),
        None => Err(Lack::More),
    }
}

/// The item at `at`, and where the next one begins.
pub fn item(bytes: &[u8], at: usize) -> Result<(Item<'_>, usize), Lack> {
    let (head, next) = line(bytes, at)?;
    let Some((kind, rest)) = head.split_first() else { return Err(Lack::Broken("an empty line")) };
    Ok(match kind {
        b'+' => (Item::Status(rest), next),
        b'-' => (Item::Error(rest), next),
        b':' => (Item::Integer(number(rest)?), next),
        b'$' | b'*' => match (kind, usize::try_from(number(rest)?)) {
            (_, Err(_)) => (Item::Nil, next),
            (b'$', Ok(length)) => {
                let (text, end) = content(bytes, next, length)?;
                (Item::Bulk(text), end)
            }
            (_, Ok(count)) if count > PARTS => return Err(Lack::Broken("an array of more than a million parts")),
            (_, Ok(count)) => (Item::Array(count), next),
        },
        _ => return Err(Lack::Broken("an unknown kind of reply")),
    })
}

/// Where the reply that begins at `at` ends.
pub fn end(bytes: &[u8], at: usize) -> Result<usize, Lack> {
    let mut at = at;
    // Items that are still to come at each level.
    let mut open = [0usize; DEPTH];
    let mut depth = 0;
    let mut parts = 0;
    loop {
        let (found, next) = item(bytes, at)?;
        at = next;
        parts += 1;
        if parts > PARTS {
            return Err(Lack::Broken("a reply of more than a million parts"));
        }
        if let Item::Array(count) = found
            && count > 0
        {
            if depth == DEPTH {
                return Err(Lack::Broken("a reply that is nested too deeply"));
            }
            open[depth] = count;
            depth += 1;
            continue;
        }
        while depth > 0 {
            open[depth - 1] -= 1;
            if open[depth - 1] > 0 {
                break;
            }
            depth -= 1;
        }
        if depth == 0 {
            return Ok(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_replies_have_an_end() {
        for reply in [
            "+OK\r\n",
            "-ERR no\r\n",
            ":12\r\n",
            "$2\r\n\r\n\r\n",
            "$-1\r\n",
            "*-1\r\n",
            "*0\r\n",
            "*2\r\n*1\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n",
        ] {
            assert_eq!(end(reply.as_bytes(), 0), Ok(reply.len()), "{reply:?}");
            for cut in 0..reply.len() {
                assert_eq!(end(&reply.as_bytes()[..cut], 0), Err(Lack::More), "{reply:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn nonsense_is_told() {
        let deep = "*1\r\n".repeat(40);
        let endless = "+".repeat(70_000);
        for reply in ["\r\n", "?1\r\n", "$x\r\n", "$1\r\nabc\r\n", "*9999999\r\n", "$99999999999\r\n", &deep, &endless] {
            assert!(matches!(end(reply.as_bytes(), 0), Err(Lack::Broken(_))), "{reply:?}");
        }
    }

    /// Whatever bytes come: no panic, and no end behind the bytes.
    #[test]
    fn noise_is_survived() {
        let mut state = 0x2545_f491_4f6c_dd1du64;
        let letters = b"+-:$*\r\n0123456789ab\r\n\r\n";
        for _ in 0..20_000 {
            let noise: Vec<u8> = (0..40)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    letters[(state % letters.len() as u64) as usize]
                })
                .collect();
            if let Ok(at) = end(&noise, 0) {
                assert!(at <= noise.len());
            }
            let _ = crate::nats::operation(&noise, 0);
        }
    }
}
