//! Images to files and back: the system's part of `RubyVM::Image#save`, `RubyVM::Image.load` and `zakuro --image`.

use std::ffi::CString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use zakuro_core_system::io;
use zakuro_vm::image::{LARGEST_FILE, Snapshot};
use zakuro_vm::*;

/// Bytes between two looks whether the VM is to go on.
const PORTION: usize = 1 << 20;

fn errno(e: &std::io::Error) -> i32 {
    e.raw_os_error().unwrap_or(libc::EIO)
}

/// SystemCallError of a path.
fn fail<T>(cx: &mut Cx, e: &std::io::Error, path: &[u8]) -> Result<T> {
    io::errors::fail(cx, errno(e), &String::from_utf8_lossy(path))
}

/// RubyVM::Error of a path.
fn refuse<T>(cx: &mut Cx, path: &[u8], why: &str) -> Result<T> {
    cx.raise(ids::VM_ERROR, format!("{}: {why}", String::from_utf8_lossy(path)))
}

/// Opens a file by a path as the VM sees it. `mode`: of one that is made.
fn open(cx: &mut Cx, path: &CString, flags: i32, mode: u32) -> std::io::Result<File> {
    let at = io::cwd::dirfd(cx);
    // SAFETY: a terminated name; the descriptor is ours alone.
    unsafe {
        match libc::openat(at, path.as_ptr(), flags | libc::O_CLOEXEC | libc::O_NONBLOCK, mode) {
            -1 => Err(std::io::Error::last_os_error()),
            fd => Ok(File::from_raw_fd(fd)),
        }
    }
}

/// The image in a file. SystemCallError; RubyVM::Error for what is no image of this binary; NoMemoryError where the VM may not have as much.
pub fn load(cx: &mut Cx, path: &[u8]) -> Result<Snapshot> {
    let bytes = read(cx, path)?;
    match cx.image_from_bytes(&bytes) {
        Ok(snapshot) => Ok(snapshot),
        Err(why) => refuse(cx, path, &format!("can't be loaded: {why}")),
    }
}

fn read(cx: &mut Cx, path: &[u8]) -> Result<Vec<u8>> {
    let mut file = match open(cx, &io::cwd::c(path), libc::O_RDONLY, 0) {
        Ok(f) => f,
        Err(e) => return fail(cx, &e, path),
    };
    let size = match file.metadata() {
        Ok(m) if m.is_dir() => return fail(cx, &std::io::Error::from_raw_os_error(libc::EISDIR), path),
        Ok(m) if m.is_file() => m.len(),
        Ok(_) => return refuse(cx, path, "can't be loaded: it is no regular file"),
        Err(e) => return fail(cx, &e, path),
    };
    if size > LARGEST_FILE {
        return refuse(cx, path, &format!("can't be loaded: it has {size} bytes, more than {LARGEST_FILE}"));
    }
    if !cx.has_room_for_image(size) {
        return cx.raise(ids::NO_MEMORY_ERROR, format!("failed to allocate memory for the image in {}", String::from_utf8_lossy(path)));
    }
    let mut bytes = Vec::new();
    cx.reserve(&mut bytes, size as usize + 1)?;
    loop {
        cx.safepoint()?;
        // A byte more than it is said to have: what grows meanwhile is none of those that were saved.
        let room = (size as usize + 1 - bytes.len()).min(PORTION);
        let at = bytes.len();
        bytes.resize(at + room, 0);
        let got = io::blocking(|| file.read(&mut bytes[at..]));
        bytes.truncate(at + *got.as_ref().unwrap_or(&0));
        match got {
            Ok(0) => return Ok(bytes),
            Ok(_) if bytes.len() as u64 > size => return refuse(cx, path, "can't be loaded: it is being written"),
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return fail(cx, &e, path),
        }
    }
}

/// Writes an image to a file, beside its place first: who reads the path sees all of it, or what was there before.
pub fn save(cx: &mut Cx, image: &Snapshot, main: Option<Value>, path: &[u8]) -> Result<()> {
    let bytes = match cx.image_to_bytes(image, main) {
        Ok(bytes) => bytes,
        Err(why) => return cx.raise(ids::VM_ERROR, format!("the image can't be saved: {why}")),
    };
    if bytes.len() as u64 > LARGEST_FILE {
        return cx.raise(ids::VM_ERROR, format!("the image can't be saved: it has {} bytes, more than {LARGEST_FILE}", bytes.len()));
    }
    let directory = path.iter().rposition(|b| *b == b'/').map_or(0, |i| i + 1);
    // Nobody else has this name at this time: if it is there, its writer has died, or somebody laid it there.
    // SAFETY: ask for numbers.
    let (process, thread) = unsafe { (libc::getpid(), libc::gettid()) };
    let beside = [&path[..directory], format!(".image.{process}.{thread}.tmp").as_bytes()].concat();
    let (beside, name) = (io::cwd::c(&beside), io::cwd::c(path));
    remove(cx, &beside);
    // A file of our own: what another user had made there could be written to by that one later.
    let mode = 0o666 & !io::open::umask(cx);
    let made = open(cx, &beside, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW, mode);
    match made.and_then(|file| write(cx, file, &beside, &name, &bytes).inspect_err(|_| remove(cx, &beside))) {
        Ok(()) => Ok(()),
        Err(e) => fail(cx, &e, path),
    }
}

fn remove(cx: &mut Cx, path: &CString) {
    let at = io::cwd::dirfd(cx);
    // SAFETY: a terminated name.
    unsafe { libc::unlinkat(at, path.as_ptr(), 0) };
}

fn write(cx: &mut Cx, mut file: File, beside: &CString, name: &CString, bytes: &[u8]) -> std::io::Result<()> {
    let at = io::cwd::dirfd(cx);
    io::blocking(|| {
        file.write_all(bytes)?;
        // What a crash of the machine leaves is the whole image or the old one.
        // SAFETY: a descriptor of ours.
        if unsafe { libc::fdatasync(file.as_raw_fd()) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: terminated names.
        match unsafe { libc::renameat(at, beside.as_ptr(), at, name.as_ptr()) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    })
}
