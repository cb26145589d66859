//! Addresses of UNIX sockets that are relative paths. The kernel takes them in the directory of the native thread that calls, a program means its VM's one, and
//! there is no bindat(2). So the call is made by a native thread that has a directory to itself (unshare(2), CLONE_FS) and enters the VM's: the socket keeps the name
//! that the program gave it.
//!
//! Where unshare(2) is forbidden the name goes through /proc/self/fd. Rejected: that alone (`path` and `addr` would show it, and it makes long names too long).

use std::os::fd::RawFd;

/// Calls with an address (a `struct sockaddr`), or what stands for it in the directory `at`. A failed call leaves `errno`.
pub fn with_address(at: RawFd, address: &[u8], call: impl Fn(&[u8]) -> isize + Sync) -> isize {
    if at == libc::AT_FDCWD || !is_relative(address) {
        return call(address);
    }
    let entered = std::thread::scope(|scope| {
        let work = || {
            // SAFETY: both act on this native thread, which ends behind the call.
            if unsafe { libc::unshare(libc::CLONE_FS) != 0 || libc::fchdir(at) != 0 } {
                return None;
            }
            let result = call(address);
            Some((result, errno()))
        };
        let thread = zakuro_base::memory::admits_thread(2 << 20).and_then(|()| std::thread::Builder::new().spawn_scoped(scope, work));
        thread.ok().and_then(|thread| thread.join().ok()).flatten()
    });
    let (result, error) = match entered {
        Some(made) => made,
        None => match through_proc(at, address) {
            Some(address) => (call(&address), errno()),
            None => (-1, libc::ENAMETOOLONG),
        },
    };
    if result < 0 {
        // SAFETY: this native thread's own errno.
        unsafe { *libc::__errno_location() = error };
    }
    result
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Offset of the path in `struct sockaddr_un`.
const HEAD: usize = std::mem::offset_of!(libc::sockaddr_un, sun_path);

fn is_relative(address: &[u8]) -> bool {
    let family = address.get(..2).map(|b| u16::from_ne_bytes([b[0], b[1]]));
    // A leading NUL is an abstract name.
    family == Some(libc::AF_UNIX as u16) && address.get(HEAD).is_some_and(|b| *b != b'/' && *b != 0)
}

fn through_proc(at: RawFd, address: &[u8]) -> Option<Vec<u8>> {
    let name = address[HEAD..].split(|b| *b == 0).next().unwrap_or_default();
    let mut out = address[..HEAD].to_vec();
    out.extend_from_slice(format!("/proc/self/fd/{at}/").as_bytes());
    out.extend_from_slice(name);
    out.push(0);
    (out.len() <= size_of::<libc::sockaddr_un>()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(path: &[u8]) -> Vec<u8> {
        [&(libc::AF_UNIX as u16).to_ne_bytes(), path].concat()
    }

    #[test]
    fn only_relative_paths() {
        assert!(is_relative(&address(b"name\0")));
        assert!(
            !is_relative(&address(b"/name"))
                && !is_relative(&address(b"\0abstract"))
                && !is_relative(&address(b""))
                && !is_relative(b"\x01")
        );
    }

    #[test]
    fn names_through_proc() {
        assert_eq!(through_proc(7, &address(b"a/b\0\0\0")), Some(address(b"/proc/self/fd/7/a/b\0")));
        assert_eq!(through_proc(7, &address(&[b'x'; 100])), None);
    }
}
