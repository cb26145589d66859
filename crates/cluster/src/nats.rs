//! What a NATS server says (its client protocol is lines of text, with contents behind some), without a VM.
//!
//! Invariants as in [`crate::resp`]: nothing is allocated, no length is believed.

use crate::resp::{Lack, content, line};

/// One thing that the server says.
#[derive(Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// A message: subject, number of the subscription, where to answer, headers, content.
    Message { subject: &'a [u8], subscription: u64, reply: Option<&'a [u8]>, headers: &'a [u8], payload: &'a [u8] },
    /// Anything else: its name in capitals, and the rest of its line.
    Other { name: &'a [u8], rest: &'a [u8] },
}

fn number(text: &[u8]) -> Result<u64, Lack> {
    std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()).ok_or(Lack::Broken("a number that is none"))
}

fn length(text: &[u8]) -> Result<usize, Lack> {
    usize::try_from(number(text)?).map_err(|_| Lack::Broken("a length that is too large"))
}

/// The operation at `at`, and where the next one begins.
pub fn operation(bytes: &[u8], at: usize) -> Result<(Operation<'_>, usize), Lack> {
    let (head, next) = line(bytes, at)?;
    let space = head.iter().position(|b| matches!(b, b' ' | b'\t')).unwrap_or(head.len());
    let (name, rest) = head.split_at(space);
    let with_headers = name.eq_ignore_ascii_case(b"HMSG");
    if !with_headers && !name.eq_ignore_ascii_case(b"MSG") {
        return Ok((Operation::Other { name, rest: rest.trim_ascii() }, next));
    }
    // Subject, subscription, a subject for the answer if there is one; the length of the headers if there are any, that of all.
    let mut fields = [&b""[..]; 5];
    let mut count = 0;
    for field in rest.split(|b| matches!(b, b' ' | b'\t')).filter(|f| !f.is_empty()) {
        *fields.get_mut(count).ok_or(Lack::Broken("a message with too many fields"))? = field;
        count += 1;
    }
    let plain = if with_headers { 4 } else { 3 };
    let reply = match count {
        n if n == plain => None,
        n if n == plain + 1 => Some(fields[2]),
        _ => return Err(Lack::Broken("a message with too few fields")),
    };
    let all = length(fields[count - 1])?;
    let headers = if with_headers { length(fields[count - 2])? } else { 0 };
    let (text, end) = content(bytes, next, all)?;
    if headers > all {
        return Err(Lack::Broken("headers that are longer than their message"));
    }
    let (headers, payload) = text.split_at(headers);
    Ok((Operation::Message { subject: fields[0], subscription: number(fields[1])?, reply, headers, payload }, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_apart() {
        let text = b"MSG a.b 7 5\r\nhello\r\nHMSG a 8 back 12 14\r\nNATS/1.0\r\n\r\nxy\r\nPING\r\n-ERR 'no'\r\n";
        let (first, at) = operation(text, 0).unwrap();
        assert_eq!(first, Operation::Message { subject: b"a.b", subscription: 7, reply: None, headers: b"", payload: b"hello" });
        let (second, at) = operation(text, at).unwrap();
        let expected =
            Operation::Message { subject: b"a", subscription: 8, reply: Some(b"back"), headers: b"NATS/1.0\r\n\r\n", payload: b"xy" };
        assert_eq!(second, expected);
        let (third, at) = operation(text, at).unwrap();
        assert_eq!(third, Operation::Other { name: b"PING", rest: b"" });
        let (fourth, at) = operation(text, at).unwrap();
        assert_eq!(fourth, Operation::Other { name: b"-ERR", rest: b"'no'" });
        assert_eq!(at, text.len());
        for cut in 0..20 {
            assert_eq!(operation(&text[..cut], 0), Err(Lack::More), "{cut}");
        }
    }

    #[test]
    fn nonsense_is_told() {
        for text in [
            "MSG\r\n",
            "MSG a b c d e f\r\n",
            "MSG a 1 x\r\n",
            "MSG a 1 2\r\nabcd\r\n",
            "HMSG a 1 9 2\r\nab\r\n",
            "MSG a 1 99999999999999\r\n",
        ] {
            assert!(matches!(operation(text.as_bytes(), 0), Err(Lack::Broken(_))), "{text:?}");
        }
    }
}
