//! Executable memory: one object that is mapped twice, once writable and once executable. No mapping is both, none ever changes its rights (a change would interrupt every
//! core that runs the process), and what was written is never written again while it is in use.
//!
//! The mapping is shared, so after a fork(2) it is both processes'. A child that compiles takes another one and leaves what it has inherited as it is; the parent never gives out again
//! what it had given out before the fork, since the child may run it.

use std::io;
use std::sync::Arc;
use zakuro_base::sync::held::Mutex;

const ALIGN: usize = 64;

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
    /// Given back: start, length.
    free: Vec<(usize, usize)>,
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
                    Ok(Arena { process: std::process::id(), forks: 0, size, write, run, next: 0, free: Vec::new(), used: 0 })
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
        if let Some(i) = self.free.iter().position(|(_, n)| *n >= bytes) {
            let (at, n) = self.free[i];
            if n == bytes {
                self.free.swap_remove(i);
            } else {
                self.free[i] = (at + bytes, n - bytes);
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
}

/// What gives out executable memory.
#[derive(Clone)]
pub struct Memory {
    arena: Arc<Mutex<Option<Arena>>>,
    limit: usize,
}

/// Machine code in memory; given back when it is dropped.
pub struct Piece {
    owner: Memory,
    process: u32,
    forks: u32,
    at: usize,
    bytes: usize,
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
    /// Copies machine code to where it can run. None: the budget is used up, or the system has no memory for it.
    pub fn place(&self, code: &[u8]) -> Option<Piece> {
        let bytes = code.len().next_multiple_of(ALIGN);
        let mut arena = self.arena.lock();
        let process = std::process::id();
        if arena.as_ref().is_none_or(|a| a.process != process) {
            *arena = Some(Arena::open(self.limit).ok()?);
        }
        let a = arena.as_mut()?;
        let at = a.take(bytes)?;
        a.used += bytes;
        // SAFETY: within the writable mapping, and nobody else's; nobody runs what stands there before this returns.
        unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), (a.write + at) as *mut u8, code.len()) };
        let address = a.run + at;
        synchronise(address, code.len());
        Some(Piece { owner: self.clone(), process, forks: a.forks, at, bytes, address })
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
            a.free.push((self.at, self.bytes));
            a.used -= self.bytes;
        }
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

    #[test]
    fn what_is_given_back_is_given_out_again() {
        let m = Memory::new(1 << 20);
        let Some(a) = m.place(&[0xc3; 100]) else { panic!("no memory") };
        let at = a.address;
        assert_eq!(m.used(), 128);
        // SAFETY: mapped, and written above.
        assert_eq!(unsafe { *(at as *const u8) }, 0xc3);
        drop(a);
        assert_eq!((m.used(), m.place(&[0x90; 64]).map(|p| p.address)), (0, Some(at)));
    }

    #[test]
    fn what_a_child_may_run_is_not_given_out_again() {
        let m = Memory::new(1 << 20);
        let before = m.place(&[1; 64]);
        m.forks();
        let after = m.place(&[2; 64]);
        let at = [&before, &after].map(|p| p.as_ref().map(|p| p.address));
        drop((before, after));
        let (next, more) = (m.place(&[3; 64]), m.place(&[4; 64]));
        assert_eq!(next.map(|p| p.address), at[1]);
        assert_ne!(more.map(|p| p.address), at[0]);
    }

    #[test]
    fn the_budget_is_a_limit() {
        let m = Memory::new(1 << 20);
        assert!(m.place(&vec![0; (1 << 20) + 1]).is_none());
        let some = m.place(&[0; 1 << 19]);
        assert!(some.is_some() && m.place(&[0; (1 << 19) + 1]).is_none() && m.place(&[0]).is_some());
    }
}
