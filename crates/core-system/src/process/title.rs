//! The process's title: what `ps` and `/proc/PID/cmdline` show. It is the main VM's; `$0 =` and `Process.setproctitle` of others change nothing of it.
//!
//! The system shows a piece of the process's memory, first that of the command line's arguments. A title that fits is written there. A longer one needs the
//! right to name another piece (CAP_SYS_RESOURCE); who has not got it gets the title cut off. The variables behind the arguments are left alone: native
//! threads may read them at any time.
//! Rejected: PR_SET_MM_MAP, which needs no right: it sets the end of the heap as well, which malloc may move meanwhile.

use zakuro_macros::Trace;
use zakuro_vm::*;

/// What the system shows: addresses, not counting.
#[derive(Trace, Default)]
struct Title {
    #[untraced]
    shown: Option<Shown>,
}
impl VmState for Title {}

#[derive(Clone, Copy)]
enum Shown {
    /// The memory of the arguments: start and length.
    Arguments(usize, usize),
    /// A page of our own.
    Page(usize),
}

/// Bytes of the page, the NUL behind a title included.
const PAGE: usize = 4096;

/// Where the arguments lie, as the system tells.
fn arguments() -> Option<Shown> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold anything, stands the third field; 48 and 49 are the arguments' start and end.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(48 - 3);
    let (start, end): (usize, usize) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    (start != 0 && end > start).then(|| Shown::Arguments(start, end - start))
}

/// Has the system show another piece of memory.
fn point_at(start: usize, end: usize) -> bool {
    let set = |what: libc::c_int, address: usize| {
        // SAFETY: names readable memory of this process; nothing is written.
        unsafe { libc::prctl(libc::PR_SET_MM, what as libc::c_ulong, address as libc::c_ulong, 0 as libc::c_ulong, 0 as libc::c_ulong) == 0 }
    };
    // The start may at no time lie behind the end.
    set(libc::PR_SET_MM_ARG_START, start) && set(libc::PR_SET_MM_ARG_END, end)
        || set(libc::PR_SET_MM_ARG_END, end) && set(libc::PR_SET_MM_ARG_START, start)
}

/// A page for titles, which stays.
fn page() -> Option<usize> {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory, wherever there is room.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), PAGE, access, kind, -1, 0) };
    (page != libc::MAP_FAILED).then_some(page.expose_provenance())
}

/// Writes a title and fills up with NULs.
///
/// # Safety
/// `len` bytes at `start` are writable, and nobody has a reference to them.
unsafe fn write(start: usize, len: usize, title: &[u8]) -> usize {
    let n = title.len().min(len - 1);
    let at = std::ptr::with_exposed_provenance_mut::<u8>(start);
    // SAFETY: caller.
    unsafe {
        std::ptr::copy_nonoverlapping(title.as_ptr(), at, n);
        std::ptr::write_bytes(at.add(n), 0, len - n);
    }
    n
}

/// Makes a text the title of the process, if this is the main VM.
pub fn set(cx: &mut Cx, title: &[u8]) {
    if !cx.owns_process() {
        return;
    }
    let title = title.split(|b| *b == 0).next().unwrap_or_default();
    let Some(mut shown) = cx.state::<Title>().shown.or_else(arguments) else { return };
    if let Shown::Arguments(_, len) = shown
        && title.len() >= len
        && let Some(page) = page()
    {
        if point_at(page, page + PAGE) {
            shown = Shown::Page(page);
        } else {
            // SAFETY: made above; nobody else knows it.
            unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(page), PAGE) };
        }
    }
    cx.state::<Title>().shown = Some(shown);
    // SAFETY: the arguments' memory is the process's to change, as C programs do; the command line was copied before the first VM began, and nobody reads it there
    // again (`std::env::args` is called once, in `main`). The page is ours. The main VM runs one thread at a time.
    unsafe {
        match shown {
            Shown::Arguments(start, len) => {
                write(start, len, title);
            }
            Shown::Page(page) => {
                let n = write(page, PAGE, title);
                point_at(page, page + n + 1);
            }
        }
    }
}
