//! Where `zakuro top` finds a process: a socket named by its number, in a folder that nobody but its user may enter.

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

/// `$XDG_RUNTIME_DIR/zakuro`, or `/tmp/zakuro-UID`.
fn folder() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|d| !d.is_empty()) {
        Some(dir) => PathBuf::from(dir).join("zakuro"),
        // SAFETY: reads a number.
        None => PathBuf::from(format!("/tmp/zakuro-{}", unsafe { libc::geteuid() })),
    }
}

/// The folder, if it is ours alone. Somebody else may have made one of that name, or a link.
fn private_folder() -> io::Result<PathBuf> {
    let path = folder();
    let found = std::fs::symlink_metadata(&path)?;
    // SAFETY: reads a number.
    let me = unsafe { libc::geteuid() };
    if !found.is_dir() || found.uid() != me || found.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!("{} is not a folder of this user's alone", path.display())));
    }
    Ok(path)
}

pub(super) fn listen() -> io::Result<(UnixListener, PathBuf)> {
    match std::fs::DirBuilder::new().mode(0o700).create(folder()) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    let path = private_folder()?.join(format!("{}.sock", std::process::id()));
    // That of a process that is gone.
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path)?;
    listener.set_nonblocking(true)?;
    Ok((listener, path))
}

/// Whether the process at the other end is the same user's.
pub(super) fn is_own(stream: &UnixStream) -> bool {
    use std::os::fd::AsRawFd;
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: 0 };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: writes one structure of our own.
    unsafe {
        libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut peer).cast(), &mut size) == 0
            && peer.uid == libc::geteuid()
    }
}

/// A connection to the process with this number.
#[cfg(feature = "top")]
pub(super) fn connect(pid: u32) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(private_folder()?.join(format!("{pid}.sock")))?;
    if !is_own(&stream) {
        return Err(io::Error::from(io::ErrorKind::PermissionDenied));
    }
    Ok(stream)
}
