//! The payload of IO objects: descriptor, mode, buffers.
//!
//! The state is counted (`Rc`), because the VM keeps a weak list of its open streams: what is still buffered when the VM ends must be written.
//! A look at it ([`get`] and the like) borrows the VM, as all looks do (docs/decisions/0015-the-heap-is-the-token.md): who waits or runs Ruby asks again. A wait needs the
//! number of the descriptor all the same; its lease ([`Leased`]) keeps the number from being given to another stream, of this VM or of another, before the wait is over.

use super::encodings::{self, Internal};
use super::errors::{fail, io_error};
use super::lease::{self, Known, Lease, Leased, add, give_up};
use crate::fiber_scheduler as scheduler;
use crate::process::descriptors;
use crate::process::owner::Numbers;
use super::wait::{self, blocking_write};
use std::cell::{RefCell, UnsafeCell};
use std::os::fd::RawFd;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use zakuro_macros::Trace;
use zakuro_sched::Source;
use zakuro_text::encoding::Encoding;
use zakuro_vm::*;

pub use super::filling::{fill, fill_up_to, wait_for_input};

pub const READ: u8 = 1;
pub const WRITE: u8 = 2;
pub const APPEND: u8 = 4;
const WRITE_BUFFER: usize = 64 * 1024;
/// The same of a pipe or terminal: what Linux lets a pipe hold.
pub const LARGEST_PIPE: usize = 1024 * 1024;

/// One direction of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Reading,
    Writing,
}

/// State of one stream.
pub struct Io {
    /// -1: closed.
    pub fd: RawFd,
    /// Descriptor for writing when it is another one (popen "r+", sockets); else -1.
    pub wfd: RawFd,
    /// READ | WRITE | APPEND
    pub mode: u8,
    /// Close the descriptor at the end.
    pub owned: bool,
    pub sync: bool,
    pub tty: bool,
    /// Regular file (or directory): never blocks.
    pub regular: bool,
    /// Kind of a socket: SOCK_STREAM and so on.
    pub socket: Option<i32>,
    /// Registration of a socket that has waited.
    pub source: Option<Arc<Source>>,
    /// Shared with those who wait at `fd`, and at `wfd`; made by the first.
    lease: Option<Arc<Lease>>,
    write_lease: Option<Arc<Lease>>,
    pub binmode: bool,
    /// Another one has closed its descriptor: who closes it is told so once.
    pub lost: bool,
    /// Read text with CRLF line ends (`universal_newline:`, mode "t").
    pub universal: bool,
    pub rbuf: Vec<u8>,
    pub rpos: usize,
    /// What is read ahead was read for a line or a character: low-level reading must not go behind it.
    pub by_characters: bool,
    pub wbuf: Vec<u8>,
    pub lineno: i64,
    pub path: Option<Vec<u8>>,
    /// Encoding of the path as it was given.
    pub path_encoding: u8,
    /// Child process of popen, or 0.
    pub pid: i32,
    /// External encoding id when set.
    pub ext: Option<u8>,
    pub int: Option<u8>,
    /// Encodings were asked for; else those of the defaults are taken.
    pub settled: bool,
    /// Options of conversion.
    pub conversion: Option<std::sync::Arc<zakuro_core_text::string::encoding::Options>>,
    /// What conversion of written text is in the middle of: an encoding with a state, or quotes to be closed.
    pub writer: Option<Box<zakuro_text::encoding::stream::Stream>>,
    /// Default external encoding when the stream was made.
    pub default: u8,
    /// Seconds a read or write may wait.
    pub timeout: Option<f64>,
    /// Delete-on-close and the like are the caller's; this is the Process::Status after close of a popen stream.
    pub eof_seen: bool,
    /// Counts the descriptors against the limit of the VM whose stream it is.
    pub held: Option<descriptors::Held>,
}

impl Io {
    pub fn new(fd: RawFd, mode: u8) -> Io {
        let (mut regular, mut tty, mut socket) = (false, false, None);
        // SAFETY: fstat fills the zeroed struct; isatty only asks.
        unsafe {
            let mut st: libc::stat = std::mem::zeroed();
            if libc::fstat(fd, &mut st) == 0 {
                let f = st.st_mode & libc::S_IFMT;
                regular = f == libc::S_IFREG || f == libc::S_IFDIR;
                tty = f == libc::S_IFCHR && libc::isatty(fd) == 1;
                if f == libc::S_IFSOCK {
                    socket = Some(socket_kind(fd));
                }
            }
        }
        let mut io = Io::plain(fd, mode, socket);
        io.regular = regular;
        io.tty = tty;
        io
    }
    /// A stream over a descriptor whose kind is known: a socket or something like a pipe.
    pub fn plain(fd: RawFd, mode: u8, socket: Option<i32>) -> Io {
        Io {
            fd,
            wfd: -1,
            mode,
            owned: true,
            sync: false,
            tty: false,
            regular: false,
            socket,
            source: None,
            lease: None,
            write_lease: None,
            binmode: false,
            lost: false,
            universal: false,
            rbuf: Vec::new(),
            rpos: 0,
            by_characters: false,
            wbuf: Vec::new(),
            lineno: 0,
            path: None,
            path_encoding: zakuro_object::string::UTF8,
            pid: 0,
            ext: None,
            int: None,
            settled: false,
            conversion: None,
            writer: None,
            default: zakuro_object::string::UTF8,
            timeout: None,
            eof_seen: false,
            held: None,
        }
    }
    pub fn readable(&self) -> bool {
        self.mode & READ != 0
    }
    pub fn writable(&self) -> bool {
        self.mode & WRITE != 0
    }
    /// A socket with one descriptor, which is this stream's own: the calls that never wait can be used, and it can be registered.
    pub fn is_socket(&self) -> bool {
        self.socket.is_some() && self.wfd < 0 && self.fd > 2
    }
    pub fn is_closed(&self) -> bool {
        self.fd < 0 && self.wfd < 0
    }
    pub fn write_fd(&self) -> RawFd {
        if self.wfd >= 0 { self.wfd } else { self.fd }
    }
    /// Bytes read from the descriptor and not yet consumed.
    pub fn buffered(&self) -> &[u8] {
        &self.rbuf[self.rpos..]
    }
    pub fn consume(&mut self, n: usize) {
        self.rpos += n;
        if self.rpos >= self.rbuf.len() {
            self.rbuf.clear();
            self.rpos = 0;
        }
    }
    /// Up to so many of the buffered bytes, which are read then.
    pub fn take_buffered(&mut self, most: usize) -> Vec<u8> {
        if self.rpos == 0 && self.rbuf.len() <= most {
            return std::mem::take(&mut self.rbuf);
        }
        let n = self.buffered().len().min(most);
        let mut out = zakuro_base::memory::with_room(n);
        out.extend_from_slice(&self.buffered()[..n]);
        self.consume(n);
        out
    }
    /// Does every kind of line end count as "\n" in what is read, byte by byte?
    pub fn reads_newlines(&self) -> bool {
        self.universal && zakuro_text::encoding::Encoding::from_id(self.ext.unwrap_or(self.default)).is_some_and(|e| e.is_ascii_compatible())
    }
    /// Puts bytes back in front.
    pub fn unread(&mut self, bytes: &[u8]) {
        if self.rpos >= bytes.len() {
            self.rpos -= bytes.len();
            self.rbuf[self.rpos..self.rpos + bytes.len()].copy_from_slice(bytes);
        } else {
            let mut v = bytes.to_vec();
            v.extend_from_slice(self.buffered());
            self.rbuf = v;
            self.rpos = 0;
        }
    }
    /// Forgets read-ahead: moves a seekable descriptor back to where the program stands.
    pub fn drop_readahead(&mut self) {
        let n = self.buffered().len();
        if n > 0 {
            // SAFETY: lseek on a descriptor of ours; pipes refuse and keep their buffer.
            let r = unsafe { libc::lseek(self.fd, -(n as i64), libc::SEEK_CUR) };
            if r >= 0 {
                self.rbuf.clear();
                self.rpos = 0;
            }
        }
    }
    /// Writes what the system takes without a wait; the rest stays buffered. For those who can't wait: the end of the object, of a VM that is left at once, a copy for
    /// another VM. (A write(2) that waits would keep the worker, for ever where nobody reads.)
    pub fn flush_now(&mut self) {
        let fd = self.write_fd();
        let mut done = if fd < 0 { self.wbuf.len() } else { 0 };
        while done < self.wbuf.len() {
            match wait::write_now(fd, &self.wbuf[done..], self.socket.is_some(), self.regular) {
                Ok(0) | Err(libc::EAGAIN) => break,
                Ok(n) => done += n,
                Err(libc::EINTR) => {}
                // Nobody to be told.
                Err(_) => done = self.wbuf.len(),
            }
        }
        self.wbuf.drain(..done);
    }
    /// The stream as a spawned VM gets it: on a duplicate of the descriptor, with what was read ahead and without what was not written yet, as after
    /// flush and fork(2). None when the descriptor can't be duplicated, or the VM has as many as it may.
    fn inherited(&self) -> Option<Io> {
        let held = match &self.held {
            Some(h) => Some(h.again()?),
            None => None,
        };
        let dup = |fd: RawFd| match fd {
            fd if fd < 0 => Some(-1),
            // Standard descriptors belong to the process.
            fd if fd <= 2 => Some(fd),
            // SAFETY: a descriptor of ours; the result is the copy's.
            fd => match unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) } {
                -1 => None,
                fd => Some(fd),
            },
        };
        Some(Io {
            fd: dup(self.fd)?,
            wfd: dup(self.wfd)?,
            owned: self.fd > 2 || self.wfd > 2,
            rbuf: self.rbuf.clone(),
            wbuf: Vec::new(),
            path: self.path.clone(),
            pid: 0,
            conversion: self.conversion.clone(),
            writer: None,
            source: None,
            lease: None,
            write_lease: None,
            held,
            ..*self
        })
    }
    /// Closes the side that is read from, when it has a descriptor of its own.
    pub fn close_reading(&mut self) {
        let fd = std::mem::replace(&mut self.fd, -1);
        give_up(fd, self.owned, self.lease.take());
        self.mode &= !READ;
    }
    /// What stands behind the last text goes to what is buffered.
    pub fn end_text(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            writer.convert(&[], &mut 0, &mut self.wbuf, Default::default());
        }
    }
    /// Closes the side that is written to, when it has a descriptor of its own.
    pub fn close_writing(&mut self) {
        let fd = std::mem::replace(&mut self.wfd, -1);
        give_up(fd, self.owned, self.write_lease.take());
        self.mode &= !WRITE;
    }
    /// The descriptor for one direction; -1: closed.
    pub fn descriptor(&self, side: Side) -> RawFd {
        match side {
            Side::Reading if self.fd >= 0 => self.fd,
            _ => self.write_fd(),
        }
    }
    /// Takes the place of `old`, whose descriptor's number it has: who waits there waits here.
    pub fn succeed(&mut self, old: &mut Io) {
        self.lease = old.lease.take();
    }
    /// The lease of one of the stream's descriptors, made where nobody asked for it yet.
    pub(super) fn lease_of(&mut self, fd: RawFd) -> Option<&Arc<Lease>> {
        let place = match fd {
            _ if self.fd == fd => &mut self.lease,
            _ if self.wfd == fd => &mut self.write_lease,
            _ => return None,
        };
        Some(place.get_or_insert_with(Lease::new))
    }
    /// The stream's descriptor is somebody else's from here on: it is closed, and the number stays open.
    pub fn release(&mut self) -> RawFd {
        if let Some(source) = self.source.take() {
            source.close();
        }
        if let Some(lease) = self.lease.take() {
            lease.end();
        }
        std::mem::replace(&mut self.fd, -1)
    }
    /// Closes the descriptors. Returns errno of the first failure.
    pub fn close_fds(&mut self) -> Option<i32> {
        let mut err = None;
        if let Some(source) = self.source.take() {
            source.close();
        }
        let sides = [(&mut self.fd, &mut self.lease), (&mut self.wfd, &mut self.write_lease)];
        for (fd, lease) in sides {
            let failed = give_up(std::mem::replace(fd, -1), self.owned, lease.take());
            err = err.or(failed);
        }
        self.held = None;
        self.rbuf = Vec::new();
        self.rpos = 0;
        err
    }
}

impl Drop for Io {
    fn drop(&mut self) {
        self.end_text();
        self.flush_now();
        self.close_fds();
    }
}

fn socket_kind(fd: RawFd) -> i32 {
    let (mut kind, mut size) = (0i32, 4 as libc::socklen_t);
    // SAFETY: writes four bytes into a live number.
    unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_TYPE, (&raw mut kind).cast(), &mut size) };
    kind
}

type Shared = Rc<UnsafeCell<Io>>;

/// Payload of an IO object.
#[derive(Trace)]
pub struct IoData(#[untraced] Shared);
impl NativeData for IoData {
    fn weight(&self) -> usize {
        // SAFETY: only asked between two uses of the stream.
        let io = unsafe { &*self.0.get() };
        size_of::<Io>() + io.rbuf.capacity() + io.wbuf.capacity() + io.path.as_ref().map_or(0, Vec::capacity)
    }
    fn block(&self) -> usize {
        // SAFETY: as above.
        let io = unsafe { &*self.0.get() };
        io.rbuf.capacity().max(io.wbuf.capacity())
    }
    fn change_tracking(&self) -> ChangeTracking {
        ChangeTracking::Untracked
    }
    /// A duplicate of the descriptor, after what is buffered has been written; where that can be, what was read ahead is given back to the
    /// descriptor, whose position both share. Standard streams are the receiver's own.
    fn parcel(&self, _values: &mut Gathered) -> Option<Unpack> {
        // SAFETY: one thread runs the VM, and nobody holds a reference into a stream while a message is packed.
        let io = unsafe { &mut *self.0.get() };
        io.flush_now();
        if !io.owned && (0..=2).contains(&io.fd) {
            let n = io.fd as usize;
            return Some(Box::new(move |vm, _| Some(Unpacked::Object(super::stream::standard(vm.downcast_mut::<Cx>()?, n)))));
        }
        if !io.is_closed() {
            io.drop_readahead();
        }
        let copy = io.inherited()?;
        Some(Box::new(move |vm, _| Some(Unpacked::Payload(Box::new(share(vm.downcast_mut::<Cx>()?, copy))))))
    }
    fn snapshot(&self, _values: &mut Gathered) -> Option<Rebuild> {
        // SAFETY: one thread runs the VM, and nobody holds a reference into a stream while an image is made.
        let io = unsafe { &*self.0.get() };
        let copy = io.inherited()?;
        Some(std::sync::Arc::new(Inherited(std::sync::Mutex::new(copy))))
    }
}

/// A stream of which each VM gets a duplicate.
struct Inherited(std::sync::Mutex<Io>);
impl zakuro_vm::saved::Blueprint for Inherited {
    fn make(&self, vm: &mut dyn std::any::Any, _: &[Value]) -> Option<Box<dyn NativeData>> {
        let cx = vm.downcast_mut::<Cx>()?;
        let io = self.0.lock().unwrap_or_else(|e| e.into_inner()).inherited()?;
        Some(Box::new(share(cx, io)))
    }
    /// Standard streams by their number, which is all that another process has of them, with what a program set; closed ones as such.
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        let io = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let standard = !io.owned && (0..=2).contains(&io.fd) && io.wfd < 0;
        let closed = io.fd < 0 && io.wfd < 0;
        if !standard && !closed {
            return None;
        }
        out.option(standard.then_some(io.fd as u64));
        out.bytes.push(io.mode);
        out.flag(io.sync).flag(io.binmode).flag(io.settled).signed(io.lineno);
        out.option(io.ext.map(u64::from)).option(io.int.map(u64::from));
        out.flag(io.path.is_some()).blob(io.path.as_deref().unwrap_or_default());
        Some("IO")
    }
}

zakuro_vm::saved_loader!("IO", |r| {
    let fd = match r.option()? {
        Some(n @ 0..=2) => n as RawFd,
        None => -1,
        _ => return None,
    };
    let mode = r.byte()?;
    let (sync, binmode, settled, lineno) = (r.flag()?, r.flag()?, r.flag()?, r.signed()?);
    let mut encoding = || Some(r.option()?.and_then(|n| u8::try_from(n).ok()).filter(|n| Encoding::from_id(*n).is_some()));
    let (ext, int) = (encoding()?, encoding()?);
    let path = if r.flag()? { Some(r.blob()?.to_vec()) } else { r.blob().map(|_| None)? };
    r.ends(0)?;
    Some(savable(
        move |vm, _| {
            let cx = vm.downcast_mut::<Cx>()?;
            let mut io = if fd < 0 { Io::plain(-1, mode, None) } else { Io::new(fd, mode) };
            io.owned = false;
            (io.sync, io.binmode, io.settled, io.lineno, io.ext, io.int) = (sync, binmode, settled, lineno, ext, int);
            io.path.clone_from(&path);
            Some(Box::new(share(cx, io)))
        },
        |_| None,
    ))
});

/// The open streams of one VM.
#[derive(Default)]
pub struct Registry {
    streams: RefCell<Vec<Weak<UnsafeCell<Io>>>>,
    /// Threads that wait when the VM ends, or forks, are left where they stand and never let go: this does.
    leases: RefCell<Vec<std::sync::Weak<Lease>>>,
    pub(super) known: Known,
}
impl Registry {
    /// None of those who wait is ever to go on.
    pub fn forget_waiting(&self) {
        self.each(|io| (io.lease, io.write_lease) = (None, None));
        self.leases.borrow_mut().drain(..).filter_map(|w| w.upgrade()).for_each(|lease| lease.close());
    }
    /// Runs `f` on each living stream.
    pub fn each(&self, mut f: impl FnMut(&mut Io)) {
        let all: Vec<Shared> = self.streams.borrow().iter().filter_map(|w| w.upgrade()).collect();
        for io in all {
            // SAFETY: one thread runs the VM, and nobody holds a reference into a stream while this is called (flush at exit).
            f(unsafe { &mut *io.get() });
        }
    }
    /// The descriptors of all of them.
    pub fn numbers(&self) -> Vec<RawFd> {
        let mut all = Vec::new();
        self.each(|io| all.extend([io.fd, io.wfd].into_iter().filter(|fd| *fd >= 0)));
        all
    }
    pub fn count(&self) -> usize {
        self.streams.borrow().iter().filter(|w| w.strong_count() > 0).count()
    }
}
impl Drop for Registry {
    fn drop(&mut self) {
        self.forget_waiting();
        self.each(|io| {
            io.flush_now();
            io.close_fds();
        });
    }
}

/// The stream is this VM's: its descriptors count here.
pub fn hold(cx: &mut Cx, io: &mut Io) {
    let numbers = cx.state::<Numbers>();
    let own = [io.fd, io.wfd].iter().filter(|fd| **fd > 2 && !numbers.has(**fd)).count();
    io.held = if io.owned && own > 0 { Some(descriptors::hold(cx, own)) } else { None };
}

fn share(cx: &mut Cx, mut io: Io) -> IoData {
    io.default = zakuro_core_text::encoding::default_external(cx).id();
    if !io.settled {
        let asked = io.int.map_or(Internal::Default, Internal::As);
        (io.ext, io.int) = encodings::settle(cx, io.ext, asked);
    }
    hold(cx, &mut io);
    let shared = Rc::new(UnsafeCell::new(io));
    add(&cx.state::<super::stream::IoState>().open.streams, Rc::downgrade(&shared), |w| w.strong_count() > 0);
    IoData(shared)
}

/// New IO object of `class` around a stream.
pub fn make(cx: &mut Cx, class: ClassId, io: Io) -> Value {
    let d = share(cx, io);
    cx.data(class, d)
}

/// Initialises an allocated IO object over a number that the program gave. Where a stream or a Dir of this VM has it already, both are closed by whichever comes first: what
/// the other went on with could be anybody's by then.
pub fn init_number(cx: &mut Cx, v: Value, mut io: Io) -> Result<()> {
    if io.fd > 2 {
        io.lease = lease::find(cx, io.fd);
    }
    init(cx, v, io)
}

/// Initialises an allocated IO object.
pub fn init(cx: &mut Cx, v: Value, io: Io) -> Result<()> {
    let d = share(cx, io);
    cx.data_init(v, d)
}

/// The stream of an IO object unless there is a reason against it, which is raised as IOError.
fn look(cx: &mut Cx, v: Value, refuse: fn(&Io) -> Option<&'static str>) -> Result<&mut Io> {
    let Some(stream) = Ref::<DataCell>::from_value(v).and_then(|d| d.get::<IoData>().map(|d| d.0.get())) else {
        if v.is_kind(Kind::Data) && cx.is_a(v, ids::IO) {
            return io_error(cx, "uninitialized stream");
        }
        return cx.wrong_receiver(v, "IO");
    };
    // SAFETY: the payload is neither dropped nor replaced while the VM is borrowed, and nobody looks into a stream without the VM.
    let io = unsafe { &mut *stream };
    let gone = |lease: &Option<Arc<Lease>>| lease.as_ref().is_some_and(|l| l.is_over());
    if gone(&io.lease) || gone(&io.write_lease) {
        io.lost = io.owned;
        io.close_fds();
    }
    match refuse(io) {
        Some(reason) => io_error(cx, reason),
        None => Ok(io),
    }
}

/// The stream of an IO object, open or not. TypeError for other objects, IOError when uninitialised.
pub fn raw(cx: &mut Cx, v: Value) -> Result<&mut Io> {
    look(cx, v, |_| None)
}

/// The stream of an open IO object. IOError "closed stream".
pub fn get(cx: &mut Cx, v: Value) -> Result<&mut Io> {
    look(cx, v, |io| io.is_closed().then_some("closed stream"))
}

/// Lines that were read from a stream; 0 for what is none.
pub fn lines_read(v: Value) -> i64 {
    let stream = Ref::<DataCell>::from_value(v).and_then(|d| d.get::<IoData>().map(|d| d.0.get()));
    // SAFETY: as in `look`; only a number is read.
    stream.map_or(0, |io| unsafe { (*io).lineno })
}

/// An open stream for reading: pending output of a read-write stream is written first.
pub fn reader(cx: &mut Cx, v: Value) -> Result<&mut Io> {
    fn refuse(io: &Io) -> Option<&'static str> {
        match io {
            _ if io.is_closed() => Some("closed stream"),
            _ if !io.readable() => Some("not opened for reading"),
            _ => None,
        }
    }
    let io = look(cx, v, refuse)?;
    if !io.wbuf.is_empty() && io.wfd < 0 {
        flush(cx, v)?;
        return get(cx, v);
    }
    look(cx, v, refuse)
}

/// An open stream for writing: read-ahead is given back first.
pub fn writer(cx: &mut Cx, v: Value) -> Result<&mut Io> {
    let io = look(cx, v, |io| match io {
        _ if io.is_closed() => Some("closed stream"),
        _ if !io.writable() => Some("not opened for writing"),
        _ => None,
    })?;
    if io.wfd < 0 && io.readable() {
        io.drop_readahead();
    }
    Ok(io)
}

/// The descriptor of an open stream for a wait, and what keeps its number the stream's for as long.
pub fn lease(cx: &mut Cx, v: Value, side: Side) -> Result<Leased> {
    let io = get(cx, v)?;
    let fd = io.descriptor(side);
    let place = if fd == io.wfd { &mut io.write_lease } else { &mut io.lease };
    if let Some(lease) = place {
        return Ok(Leased { fd, lease: lease.clone() });
    }
    let lease = Lease::new();
    *place = Some(lease.clone());
    add(&cx.state::<super::stream::IoState>().open.leases, Arc::downgrade(&lease), |w| w.strong_count() > 0);
    Ok(Leased { fd, lease })
}

/// Writes the buffer. One write(2) as far as the system takes it.
pub fn flush(cx: &mut Cx, v: Value) -> Result<()> {
    let io = get(cx, v)?;
    if io.wbuf.is_empty() {
        return Ok(());
    }
    let bytes = std::mem::take(&mut io.wbuf);
    match put(cx, v, &bytes)? {
        Ok(()) => {
            // Keep the allocation for the next round.
            let io = raw(cx, v)?;
            if io.wbuf.is_empty() {
                let mut b = bytes;
                b.clear();
                io.wbuf = b;
            }
            Ok(())
        }
        Err(e) => not_written(cx, v, e, bytes),
    }
}

/// Writes bytes past the buffer; the system's error where they can't be written.
fn put(cx: &mut Cx, v: Value, bytes: &[u8]) -> Result<std::result::Result<(), i32>> {
    let io = get(cx, v)?;
    let (regular, socket) = (io.regular, io.is_socket());
    if !cx.fiber_scheduler().is_nil()
        && let Some(written) = scheduler::io_write(cx, v, bytes)?
    {
        return Ok(written);
    }
    if socket { wait::write_socket(cx, v, bytes) } else { blocking_write(cx, v, regular, bytes) }
}

fn not_written(cx: &mut Cx, v: Value, e: i32, bytes: Vec<u8>) -> Result<()> {
    // What could not be written is not forgotten: `close` will say so again.
    let io = raw(cx, v)?;
    if io.wbuf.is_empty() && !io.sync {
        io.wbuf = bytes;
    }
    // Nobody reads the program's output any more: unless it rescues the error, it ends as by the signal.
    let by_signal = e == libc::EPIPE && io.fd == 1 && !io.owned;
    if by_signal {
        io.wbuf.clear();
    }
    let failed = fail_path(cx, v, e);
    if by_signal && cx.pending.is_kind(Kind::Exception) {
        let error = cx.pending;
        cx.ivar_set_raw(error, Sym::intern("__signo"), Value::fixnum(libc::SIGPIPE as i64));
    }
    failed
}

pub fn fail_path<T>(cx: &mut Cx, v: Value, errno: i32) -> Result<T> {
    let p = raw(cx, v)?.path.clone();
    let d = p.map_or(String::new(), |p| String::from_utf8_lossy(&p).into_owned());
    fail(cx, errno, &d)
}

/// Appends bytes to the buffer of a stream and writes them when it is time: full, unbuffered, or a line on a terminal.
pub fn write(cx: &mut Cx, v: Value, bytes: &[u8]) -> Result<()> {
    let io = writer(cx, v)?;
    if io.wbuf.len() + bytes.len() > WRITE_BUFFER && !io.wbuf.is_empty() {
        flush(cx, v)?;
    }
    let io = get(cx, v)?;
    if io.wbuf.is_empty() && !bytes.is_empty() && (io.sync || io.tty || bytes.len() >= WRITE_BUFFER) {
        return match put(cx, v, bytes)? {
            Ok(()) => Ok(()),
            Err(e) => not_written(cx, v, e, bytes.to_vec()),
        };
    }
    let before = io.wbuf.capacity();
    io.wbuf.extend_from_slice(bytes);
    if io.wbuf.capacity() != before {
        cx.weigh_data(v);
    }
    let io = get(cx, v)?;
    if io.sync || io.wbuf.len() >= WRITE_BUFFER || io.tty {
        flush(cx, v)?;
    }
    Ok(())
}

pub fn io_timeout<T>(cx: &mut Cx) -> Result<T> {
    match cx.const_by_path("IO::TimeoutError").and_then(|c| cx.class_id(c)) {
        Some(c) => cx.raise(c, "Blocking operation timed out!"),
        None => io_error(cx, "Blocking operation timed out!"),
    }
}
