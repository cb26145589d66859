//! Executable memory: one object that is mapped twice, once writable and once executable. No mapping is both, none ever changes its rights (a change would interrupt every
//! core that runs the process), and what was written is never written again while it is in use.
//!
//! The mapping is shared, so after a fork(2) it is the parent's, too: a child that compiles takes another one and leaves what it has inherited as it is.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of machine code that there may be (`budget`).
pub const BUDGET: usize = 64 << 20;
const ALIGN: usize = 64;

struct Arena {
    process: u32,
    write: usize,
    run: usize,
    /// First byte that was never given out.
    next: usize,
    /// Given back: start, length.
    free: Vec<(usize, usize)>,
    used: usize,
}

impl Arena {
    fn open() -> io::Result<Arena> {
        // SAFETY: plain system calls, whose results are looked at; the mappings stay as long as the process.
        unsafe {
            let fd = libc::memfd_create(c"zakuro-jit".as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            let map = |rights| match libc::ftruncate(fd, BUDGET as libc::off_t) {
                0 => match libc::mmap(std::ptr::null_mut(), BUDGET, rights, libc::MAP_SHARED | libc::MAP_NORESERVE, fd, 0) {
                    libc::MAP_FAILED => Err(io::Error::last_os_error()),
                    at => Ok(at as usize),
                },
                _ => Err(io::Error::last_os_error()),
            };
            let write = map(libc::PROT_READ | libc::PROT_WRITE);
            let run = map(libc::PROT_READ | libc::PROT_EXEC);
            libc::close(fd);
            match (write, run) {
                (Ok(write), Ok(run)) => Ok(Arena { process: std::process::id(), write, run, next: 0, free: Vec::new(), used: 0 }),
                (write, run) => {
                    for at in [&write, &run].into_iter().flatten() {
                        libc::munmap(*at as *mut libc::c_void, BUDGET);
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
        if BUDGET - at < bytes {
            return None;
        }
        self.next += bytes;
        Some(at)
    }
}

/// What gives out executable memory.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Option<Arena>>>);

/// Machine code in memory; given back when it is dropped.
pub struct Piece {
    owner: Memory,
    process: u32,
    at: usize,
    bytes: usize,
    /// Where it runs.
    pub address: usize,
}

impl Memory {
    /// Copies machine code to where it can run. None: the budget is used up, or the system has no memory for it.
    pub fn place(&self, code: &[u8]) -> Option<Piece> {
        let bytes = code.len().next_multiple_of(ALIGN);
        let mut arena = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if arena.as_ref().is_none_or(|a| a.process != process) {
            *arena = Some(Arena::open().ok()?);
        }
        let a = arena.as_mut()?;
        let at = a.take(bytes)?;
        a.used += bytes;
        // SAFETY: within the writable mapping, and nobody else's; nobody runs what stands there before this returns.
        unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), (a.write + at) as *mut u8, code.len()) };
        let address = a.run + at;
        synchronise(address, code.len());
        Some(Piece { owner: self.clone(), process, at, bytes, address })
    }
    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, |a| a.used)
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let mut arena = self.owner.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(a) = arena.as_mut().filter(|a| a.process == self.process) {
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
        let m = Memory::default();
        let Some(a) = m.place(&[0xc3; 100]) else { panic!("no memory") };
        let at = a.address;
        assert_eq!(m.used(), 128);
        // SAFETY: mapped, and written above.
        assert_eq!(unsafe { *(at as *const u8) }, 0xc3);
        drop(a);
        assert_eq!((m.used(), m.place(&[0x90; 64]).map(|p| p.address)), (0, Some(at)));
    }

    #[test]
    fn the_budget_is_a_limit() {
        let m = Memory::default();
        assert!(m.place(&vec![0; BUDGET + 1]).is_none());
        assert!(m.place(&[0]).is_some());
    }
}
