//! The thread that serves: it waits for all its connections at once and never for one of them.
//!
//! Limits: [`MOST`] connections (one more and the oldest that has not been answered yet goes), a head of 8 KB, [`READING`] for a request and [`WRITING`] for taking the answer. Answers are shared
//! by those who get the same one. So nobody who is slow, or comes in numbers, holds the others up for long or costs memory.

use super::http::{self, Access, Parsed, Request};
use super::{Source, place, snapshot};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

const MOST: usize = 16;
const READING: Duration = Duration::from_secs(3);
const WRITING: Duration = Duration::from_secs(5);
/// What a client still sends after its answer is read for so long: closing at once would have the system tell it of an error, and drop the answer.
const DRAINING: Duration = Duration::from_secs(1);
/// An answer serves for so long.
const FRESH: Duration = Duration::from_millis(200);

const PAGE: &str = include_str!("page.html");

/// On the loopback interface only.
pub(super) fn listen(port: u16) -> io::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn fd(&self) -> RawFd {
        match self {
            Stream::Tcp(s) => s.as_raw_fd(),
            Stream::Unix(s) => s.as_raw_fd(),
        }
    }
    fn never_waiting(self) -> io::Result<Stream> {
        match &self {
            Stream::Tcp(s) => s.set_nonblocking(true)?,
            Stream::Unix(s) => s.set_nonblocking(true)?,
        }
        Ok(self)
    }
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(s) => s.read(to),
            Stream::Unix(s) => s.read(to),
        }
    }
    /// Nothing more is sent.
    fn end(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(s) => s.shutdown(Shutdown::Write),
            Stream::Unix(s) => s.shutdown(Shutdown::Write),
        }
    }
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(s) => s.write(from),
            Stream::Unix(s) => s.write(from),
        }
    }
}

struct Connection {
    stream: Stream,
    until: Instant,
    head: Vec<u8>,
    answer: Option<Answer>,
    /// The answer has been sent.
    done: bool,
}

struct Answer {
    head: Vec<u8>,
    content: Arc<[u8]>,
    sent: usize,
}

/// Whether a connection goes on.
type GoesOn = bool;

impl Connection {
    fn new(stream: Stream) -> Connection {
        Connection { stream, until: Instant::now() + READING, head: Vec::new(), answer: None, done: false }
    }
    fn write(&mut self) -> GoesOn {
        let Some(a) = &mut self.answer else { return true };
        loop {
            let rest = match a.sent.checked_sub(a.head.len()) {
                None => &a.head[a.sent..],
                Some(at) if at < a.content.len() => &a.content[at..],
                Some(_) => {
                    (self.done, self.until) = (true, Instant::now() + DRAINING);
                    return self.stream.end().is_ok();
                }
            };
            match self.stream.write(rest) {
                Ok(0) => return false,
                Ok(n) => a.sent += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return e.kind() == io::ErrorKind::WouldBlock,
            }
        }
    }
}

/// Something that was made lately.
#[derive(Default)]
struct Kept(Option<(Instant, Arc<[u8]>)>);

impl Kept {
    fn get(&mut self, make: impl FnOnce() -> String) -> Arc<[u8]> {
        match &self.0 {
            Some((at, text)) if at.elapsed() < FRESH => text.clone(),
            _ => {
                let text: Arc<[u8]> = make().into_bytes().into();
                self.0 = Some((Instant::now(), text.clone()));
                text
            }
        }
    }
}

pub(super) struct Server {
    source: Source,
    page: Option<TcpListener>,
    socket: Option<UnixListener>,
    access: Access,
    connections: Vec<Connection>,
    data: Kept,
    lines: Kept,
}

impl Server {
    pub(super) fn new(source: Source, page: Option<TcpListener>, socket: Option<UnixListener>, access: Access) -> Server {
        Server { source, page, socket, access, connections: Vec::new(), data: Kept::default(), lines: Kept::default() }
    }

    /// For the rest of the process.
    pub(super) fn run(mut self) {
        loop {
            self.wait();
            self.accept();
            for mut c in std::mem::take(&mut self.connections) {
                if Instant::now() < c.until && self.serve(&mut c) {
                    self.connections.push(c);
                }
            }
        }
    }

    /// Until something can be done, or a connection has had its time.
    fn wait(&self) {
        let listeners = [self.page.as_ref().map(AsRawFd::as_raw_fd), self.socket.as_ref().map(AsRawFd::as_raw_fd)];
        let mut list: Vec<libc::pollfd> =
            listeners.into_iter().flatten().map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
        list.extend(self.connections.iter().map(|c| {
            let events = if c.answer.is_some() && !c.done { libc::POLLOUT } else { libc::POLLIN };
            libc::pollfd { fd: c.stream.fd(), events, revents: 0 }
        }));
        let left = self.connections.iter().map(|c| c.until.saturating_duration_since(Instant::now())).min();
        let timeout = left.map_or(-1, |t| t.as_millis() as i32 + 1);
        // SAFETY: a list of our own.
        let n = unsafe { libc::poll(list.as_mut_ptr(), list.len() as libc::nfds_t, timeout) };
        if n < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            std::thread::sleep(FRESH);
        }
    }

    fn accept(&mut self) {
        // A few at a time: those who wait in the system's queue cost nothing here.
        for _ in 0..MOST {
            let own = |s: UnixStream| place::is_own(&s).then_some(Stream::Unix(s)).ok_or(io::ErrorKind::PermissionDenied.into());
            let come = self.page.as_ref().map(|l| l.accept().map(|(s, _)| Stream::Tcp(s)));
            let come = come.filter(|c| !c.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock));
            let come = come.or_else(|| self.socket.as_ref().map(|l| l.accept().and_then(|(s, _)| own(s))));
            let stream = match come.map(|s| s.and_then(Stream::never_waiting)) {
                Some(Ok(stream)) => stream,
                None => return,
                Some(Err(e)) => {
                    // What waits in the system's queue is told of at once again: no descriptor is to be had, or whatever it is that is not over by itself.
                    if !matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::PermissionDenied) {
                        std::thread::sleep(FRESH);
                    }
                    return;
                }
            };
            if self.connections.len() >= MOST {
                let oldest = self.connections.iter().position(|c| c.answer.is_none()).unwrap_or(0);
                self.connections.remove(oldest);
            }
            self.connections.push(Connection::new(stream));
        }
    }

    fn serve(&mut self, c: &mut Connection) -> GoesOn {
        if c.answer.is_some() && !c.done {
            return c.write();
        }
        let mut bytes = [0u8; 2048];
        match c.stream.read(&mut bytes) {
            Ok(0) => return false,
            Ok(_) if c.done => return true,
            Ok(n) => c.head.extend_from_slice(&bytes[..n]),
            Err(e) => return matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
        }
        let access = match c.stream {
            Stream::Tcp(_) => Some(&self.access),
            Stream::Unix(_) => None,
        };
        let request = match http::parse(&c.head, access) {
            Parsed::More => return true,
            Parsed::Is(request) => request,
        };
        let (status, words, kind, content): (u16, &str, &str, Arc<[u8]>) = match request {
            Ok(Request::Page) => (200, "OK", "text/html", PAGE.as_bytes().into()),
            Ok(Request::Data) => (200, "OK", "application/json", self.data.get(|| snapshot::json(&self.source))),
            Ok(Request::Lines) => (200, "OK", "text/plain", self.lines.get(|| snapshot::lines(&self.source))),
            Ok(Request::Kill(id)) => match &self.source.kill {
                None => (403, "Forbidden", "text/plain", b"the program was started without --dashboard-kill\n"[..].into()),
                Some(kill) if kill(id) => (200, "OK", "text/plain", b"asked to end\n"[..].into()),
                Some(_) => (404, "Not Found", "text/plain", b"no such VM, or the main one\n"[..].into()),
            },
            Err((status, words)) => (status, words, "text/plain", format!("{words}\n").into_bytes().into()),
        };
        let head = http::head(status, words, kind, content.len()).into_bytes();
        c.answer = Some(Answer { head, content, sent: 0 });
        c.head = Vec::new();
        c.until = Instant::now() + WRITING;
        c.write()
    }
}
