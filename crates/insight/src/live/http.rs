//! Requests and answers: as much of HTTP as one page needs.
//!
//! Refused: a head of more than [`HEAD`] bytes, a body, another Host than this machine's own names (a page of some other site whose name was made to point here must not read
//! anything: DNS rebinding), an Origin that is not ours, a request without the token. The token is compared in constant time.

use std::fmt::Write;

/// Bytes that the head of a request may have.
pub(super) const HEAD: usize = 8 << 10;

/// Who may ask.
pub(super) struct Access {
    pub port: u16,
    pub token: String,
}

/// A token that nobody guesses.
pub(super) fn token() -> Result<String, String> {
    let mut bytes = [0u8; 24];
    // SAFETY: fills bytes of our own.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got != bytes.len() as isize {
        return Err(format!("no random numbers: {}", std::io::Error::last_os_error()));
    }
    Ok(bytes.iter().fold(String::new(), |mut s, b| {
        let _ = write!(s, "{b:02x}");
        s
    }))
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    Page,
    Data,
    /// Lines for `zakuro top`.
    Lines,
    Kill(u64),
}

/// An answer without content: number and words.
pub(super) type Refusal = (u16, &'static str);

pub(super) enum Parsed {
    /// The head is not complete.
    More,
    Is(Result<Request, Refusal>),
}

/// Reads a request that came over TCP (`access`), or from the user's own socket.
pub(super) fn parse(bytes: &[u8], access: Option<&Access>) -> Parsed {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut r = httparse::Request::new(&mut headers);
    match r.parse(bytes) {
        Err(httparse::Error::TooManyHeaders) => return Parsed::Is(Err((431, "Request Header Fields Too Large"))),
        Err(_) => return Parsed::Is(Err((400, "Bad Request"))),
        Ok(httparse::Status::Partial) if bytes.len() >= HEAD => return Parsed::Is(Err((431, "Request Header Fields Too Large"))),
        Ok(httparse::Status::Partial) => return Parsed::More,
        Ok(httparse::Status::Complete(_)) => {}
    }
    Parsed::Is(judge(&r, access))
}

fn judge(r: &httparse::Request<'_, '_>, access: Option<&Access>) -> Result<Request, Refusal> {
    let (method, target) = (r.method.unwrap_or(""), r.path.unwrap_or(""));
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let parameter = |name: &str| query.split('&').find_map(|p| p.split_once('=').filter(|(n, _)| *n == name).map(|(_, v)| v));
    let header = |name: &'static str| r.headers.iter().filter(move |h| h.name.eq_ignore_ascii_case(name)).map(|h| h.value);
    if let Some(access) = access {
        let is_here = |host: &[u8]| {
            let names = ["127.0.0.1", "localhost", "[::1]"];
            names.iter().any(|n| host.eq_ignore_ascii_case(format!("{n}:{}", access.port).as_bytes()))
        };
        let mut hosts = header("host");
        if !hosts.next().is_some_and(is_here) || hosts.next().is_some() {
            return Err((403, "Forbidden"));
        }
        if header("origin").any(|o| !o.strip_prefix(b"http://").is_some_and(is_here)) {
            return Err((403, "Forbidden"));
        }
        let given = parameter("token").unwrap_or("");
        if !constant_time_eq::constant_time_eq(given.as_bytes(), access.token.as_bytes()) {
            return Err((403, "Forbidden"));
        }
    }
    if header("content-length").any(|n| n != b"0") || header("transfer-encoding").next().is_some() {
        return Err((413, "Content Too Large"));
    }
    match (method, path) {
        ("GET", "/") => Ok(Request::Page),
        ("GET", "/data") => Ok(Request::Data),
        ("GET", "/lines") => Ok(Request::Lines),
        ("POST", "/kill") => match parameter("vm").and_then(|n| n.parse().ok()) {
            Some(id) => Ok(Request::Kill(id)),
            None => Err((400, "Bad Request")),
        },
        (_, "/" | "/data" | "/lines" | "/kill") => Err((405, "Method Not Allowed")),
        _ => Err((404, "Not Found")),
    }
}

/// The head of an answer with so many bytes of content.
pub(super) fn head(status: u16, words: &str, kind: &str, bytes: usize) -> String {
    // Nothing from elsewhere, nothing kept, no frame around it.
    format!(
        "HTTP/1.1 {status} {words}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {bytes}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:\r\n\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(text: &str) -> Result<Request, u16> {
        let access = Access { port: 80, token: "secret".into() };
        match parse(text.replace('\n', "\r\n").as_bytes(), Some(&access)) {
            Parsed::More => Err(0),
            Parsed::Is(r) => r.map_err(|e| e.0),
        }
    }

    #[test]
    fn who_may_ask() {
        assert_eq!(ask("GET /?token=secret HTTP/1.1\nHost: 127.0.0.1:80\n\n"), Ok(Request::Page));
        assert_eq!(ask("GET /data?token=secret HTTP/1.1\nHost: localhost:80\n\n"), Ok(Request::Data));
        assert_eq!(ask("GET / HTTP/1.1\nHost: 127.0.0.1:80\n\n"), Err(403));
        assert_eq!(ask("GET /?token=secreT HTTP/1.1\nHost: 127.0.0.1:80\n\n"), Err(403));
        assert_eq!(ask("GET /?token=secret2 HTTP/1.1\nHost: 127.0.0.1:80\n\n"), Err(403));
        // A name that somebody made to point here.
        assert_eq!(ask("GET /?token=secret HTTP/1.1\nHost: evil.example:80\n\n"), Err(403));
        assert_eq!(ask("GET /?token=secret HTTP/1.1\n\n"), Err(403));
        assert_eq!(ask("GET /?token=secret HTTP/1.1\nHost: 127.0.0.1:80\nHost: evil.example\n\n"), Err(403));
        assert_eq!(ask("POST /kill?token=secret&vm=3 HTTP/1.1\nHost: 127.0.0.1:80\nOrigin: http://evil.example\n\n"), Err(403));
        assert_eq!(ask("POST /kill?token=secret&vm=3 HTTP/1.1\nHost: 127.0.0.1:80\nOrigin: http://127.0.0.1:80\n\n"), Ok(Request::Kill(3)));
    }

    #[test]
    fn what_may_be_asked() {
        assert_eq!(ask("GET /kill?token=secret&vm=3 HTTP/1.1\nHost: 127.0.0.1:80\n\n"), Err(405));
        assert_eq!(ask("POST /kill?token=secret&vm=x HTTP/1.1\nHost: 127.0.0.1:80\n\n"), Err(400));
        assert_eq!(ask("GET /etc/passwd?token=secret HTTP/1.1\nHost: 127.0.0.1:80\n\n"), Err(404));
        assert_eq!(ask("POST /data?token=secret HTTP/1.1\nHost: 127.0.0.1:80\nContent-Length: 10\n\n"), Err(413));
        assert_eq!(ask("GET /?token=secret HTTP/1.1\nHost: 127.0.0.1:80\n"), Err(0));
        assert_eq!(ask("\u{1}\u{2}nonsense\n\n"), Err(400));
        let long = format!("GET / HTTP/1.1\nX: {}", "x".repeat(HEAD));
        assert_eq!(ask(&long), Err(431));
        let many = format!("GET / HTTP/1.1\n{}\n", "X: y\n".repeat(100));
        assert_eq!(ask(&many), Err(431));
        assert_ne!(token(), token());
    }
}
