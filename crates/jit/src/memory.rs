//! Executable memory: one object that is mapped twice, once writable and once executable. No mapping is both, none ever changes its rights (a change would interrupt every
//! core that runs the process), and what was written is never written again while it is in use.
//!
//! The mapping is shared, so after a fork(2) it is both processes'. A child that compiles takes another one and leaves what it has inherited as it is; the parent never gives out again
//! what it had given out before the fork, since the child may run it.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use zakuro_base::sync::held::Mutex;
use zakuro_vm::machine::Asker;

const ALIGN: usize = 64;
const PAGE: usize = 4096;

struct Arena {
    process: u32,
    /// How often the process was forked since.
    forks: u32,
    /// Bytes of each mapping.
    size: usize,
    write: usize,
    run: usize,
    /// First byte that was never given out.
    next: usize,
    /// Given back: lengths by start; no two touch.
    free: BTreeMap<usize, usize>,
    used: usize,
}

impl Arena {
    fn open(size: usize) -> io::Result<Arena> {
        // SAFETY: plain system calls, whose results are looked at; the mappings stay as long as the process.
        unsafe {
            let fd = libc::memfd_create(c"zakuro-jit".as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            let map = |rights| match libc::ftruncate(fd, size as libc::off_t) {
                0 => match libc::mmap(std::ptr::null_mut(), size, rights, libc::MAP_SHARED | libc::MAP_NORESERVE, fd, 0) {
                    libc::MAP_FAILED => Err(io::Error::last_os_error()),
                    at => Ok(at as usize),
                },
                _ => Err(io::Error::last_os_error()),
            };
            let write = map(libc::PROT_READ | libc::PROT_WRITE);
            let run = map(libc::PROT_READ | libc::PROT_EXEC);
            libc::close(fd);
            match (write, run) {
                (Ok(write), Ok(run)) => {
                    Ok(Arena { process: std::process::id(), forks: 0, size, write, run, next: 0, free: BTreeMap::new(), used: 0 })
                }
                (write, run) => {
                    for at in [&write, &run].into_iter().flatten() {
                        libc::munmap(*at as *mut libc::c_void, size);
                    }
                    Err(write.err().or(run.err()).unwrap_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory)))
                }
            }
        }
    }
    fn take(&mut self, bytes: usize) -> Option<usize> {
        if let Some((at, n)) = self.free.iter().find(|(_, n)| **n >= bytes).map(|(at, n)| (*at, *n)) {
            self.free.remove(&at);
            if n > bytes {
                self.free.insert(at + bytes, n - bytes);
            }
            return Some(at);
        }
        let at = self.next;
        if self.size - at < bytes {
            return None;
        }
        self.next += bytes;
        Some(at)
    }
    fn give_back(&mut self, at: usize, bytes: usize) {
        let (mut start, mut end) = (at, at + bytes);
        if let Some((before, n)) = self.free.range(..at).next_back().map(|(b, n)| (*b, *n))
            && before + n == at
        {
            start = before;
        }
        if let Some(n) = self.free.remove(&end) {
            end += n;
        }
        self.free.insert(start, end - start);
        // Whole pages that became free with this go back to the system: those that its edges share with what was free before, too.
        let first = start.max(at & !(PAGE - 1)).next_multiple_of(PAGE);
        let last = end.min((at + bytes).next_multiple_of(PAGE)) & !(PAGE - 1);
        if first < last {
            // SAFETY: within the writable mapping; nobody runs what stands there, nor reads it before it is written again.
            unsafe { libc::madvise((self.write + first) as *mut libc::c_void, last - first, libc::MADV_REMOVE) };
        }
        self.used -= bytes;
    }
}

/// What gives out executable memory.
#[derive(Clone)]
pub struct Memory {
    arena: Arc<Mutex<Option<Arena>>>,
    limit: usize,
}

/// Why there is no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Full {
    /// Who asks has its share.
    Share,
    All,
}

/// Machine code in memory; given back when it is dropped.
pub struct Piece {
    owner: Memory,
    process: u32,
    forks: u32,
    at: usize,
    bytes: usize,
    /// Whose share it is of.
    asker: Arc<Asker>,
    /// Where it runs.
    pub address: usize,
}

impl Memory {
    /// So many bytes of machine code there may be.
    pub fn new(limit: usize) -> Memory {
        Memory { arena: Arc::default(), limit }
    }
    pub fn limit(&self) -> usize {
        self.limit
    }
    /// The process is about to be forked.
    pub fn forks(&self) {
        if let Some(a) = self.arena.lock().as_mut() {
            a.forks += 1;
        }
    }
    /// Copies machine code to where it can run.
    ///
    /// # Errors
    /// The VM that asked has its share, the budget is used up, or the system has no memory for it.
    pub fn place(&self, code: &[u8], asker: &Arc<Asker>) -> Result<Piece, Full> {
        let bytes = code.len().next_multiple_of(ALIGN);
        if asker.memory_left(self.limit) < bytes {
            return Err(Full::Share);
        }
        let mut arena = self.arena.lock();
        let process = std::process::id();
        if arena.as_ref().is_none_or(|a| a.process != process) {
            *arena = Some(Arena::open(self.limit).map_err(|_| Full::All)?);
        }
        let a = arena.as_mut().ok_or(Full::All)?;
        let at = a.take(bytes).ok_or(Full::All)?;
        a.used += bytes;
        asker.takes(bytes);
        // SAFETY: within the writable mapping, and nobody else's; nobody runs what stands there before this returns.
        unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), (a.write + at) as *mut u8, code.len()) };
        let address = a.run + at;
        synchronise(address, code.len());
        Ok(Piece { owner: self.clone(), process, forks: a.forks, at, bytes, asker: asker.clone(), address })
    }
    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.arena.lock().as_ref().map_or(0, |a| a.used)
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let mut arena = self.owner.arena.lock();
        if let Some(a) = arena.as_mut().filter(|a| a.process == self.process && a.forks == self.forks) {
            a.give_back(self.at, self.bytes);
        }
        self.asker.gives_back(self.bytes);
    }
}

/// Makes instructions that were written visible to those who will run them.
#[cfg(not(target_arch = "aarch64"))]
fn synchronise(_address: usize, _bytes: usize) {}
/// The same, where data and instructions have caches of their own.
#[cfg(target_arch = "aarch64")]
fn synchronise(address: usize, bytes: usize) {
    // SAFETY: cache maintenance by address, of memory that is mapped.
    unsafe {
        let mut line = address & !63;
        while line < address + bytes {
            std::arch::asm!("dc cvau, {0}", in(reg) line);
            line += 64;
        }
        std::arch::asm!("dsb ish");
        let mut line = address & !63;
        while line < address + bytes {
            std::arch::asm!("ic ivau, {0}", in(reg) line);
            line += 64;
        }
        std::arch::asm!("dsb ish", "isb");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(m: &Memory, bytes: &[u8]) -> Result<Piece, Full> {
        m.place(bytes, &Asker::below(0, None))
    }

    #[test]
    fn what_is_given_back_is_given_out_again() {
        let m = Memory::new(1 << 20);
        let Ok(a) = place(&m, &[0xc3; 100]) else { panic!("no memory") };
        let at = a.address;
        assert_eq!(m.used(), 128);
        // SAFETY: mapped, and written above.
        assert_eq!(unsafe { *(at as *const u8) }, 0xc3);
        drop(a);
        assert_eq!((m.used(), place(&m, &[0x90; 64]).map(|p| p.address).ok()), (0, Some(at)));
    }

    #[test]
    fn pieces_that_touch_are_one_when_they_are_free() {
        let m = Memory::new(1 << 20);
        let mut pieces: Vec<_> = (0..64).map(|n| place(&m, &[n; 1000]).ok()).collect();
        let first = pieces[0].as_ref().map(|p| p.address);
        // In no order.
        for i in 0..64 {
            pieces[i * 37 % 64] = None;
        }
        let whole = place(&m, &[7; 64 * 1000]);
        assert_eq!(whole.as_ref().ok().map(|p| p.address), first);
        // SAFETY: mapped, and written above, although its pages had gone back.
        assert!(whole.is_ok_and(|p| (0..64_000).all(|i| unsafe { *((p.address + i) as *const u8) } == 7)));
    }

    #[test]
    fn what_a_child_may_run_is_not_given_out_again() {
        let m = Memory::new(1 << 20);
        let before = place(&m, &[1; 64]).ok();
        m.forks();
        let after = place(&m, &[2; 64]).ok();
        let at = [&before, &after].map(|p| p.as_ref().map(|p| p.address));
        drop((before, after));
        let (next, more) = (place(&m, &[3; 64]).ok(), place(&m, &[4; 64]).ok());
        assert_eq!(next.map(|p| p.address), at[1]);
        assert_ne!(more.map(|p| p.address), at[0]);
    }

    #[test]
    fn the_budget_is_a_limit() {
        let m = Memory::new(1 << 20);
        // A child of the first VM may have a quarter.
        let (root, quarter) = (Asker::below(0, None), vec![0; 1 << 18]);
        let (one, other) = (Asker::below(1, Some(&root)), Asker::below(2, Some(&root)));
        assert!(m.place(&vec![0; (1 << 18) + 1], &one).is_err_and(|e| e == Full::Share));
        let some = m.place(&quarter, &one);
        assert!(some.is_ok() && m.place(&[0], &one).is_err());
        assert!(m.place(&quarter, &other).is_err() && m.place(&quarter[..1 << 17], &other).is_ok());
        drop(some);
        assert!(m.place(&quarter, &other).is_ok());
    }
}
