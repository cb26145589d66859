//! Who wrote a file: the binary, and how its boot image came out.

use super::Outcome;
use crate::boot::BootImage;
use crate::builtin::all_tables;
use sha2::{Digest, Sha256};
use zakuro_object::*;

/// What a file is told from those of other binaries by.
pub(super) struct Identity {
    /// For those who read a message.
    pub version: String,
    pub digest: [u8; 32],
}

impl Identity {
    /// This process's.
    ///
    /// # Errors
    /// The binary has no build id: nothing says which one it is.
    pub fn of(boot: &BootImage) -> Outcome<Identity> {
        let Some(build) = build_id() else {
            return Err("this binary has no build id (ld --build-id), by which its images would be told from those of others".into());
        };
        let version = format!("zakuro {} ({})", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
        let mut h = Sha256::new();
        h.update((version.len() as u64).to_le_bytes());
        h.update(&version);
        h.update((build.len() as u64).to_le_bytes());
        h.update(build);
        h.update((all_tables().len() as u64).to_le_bytes());
        // Which numbers its cells have follows from the order in which they were made. That it was the same order is looked at, not taken for granted.
        h.update(shape_of(boot).to_le_bytes());
        Ok(Identity { version, digest: h.finalize().into() })
    }
}

/// A number that is another one when the boot image's cells stand in another order. (FNV-1a over words.)
fn shape_of(boot: &BootImage) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |n: u64| h = (h ^ n).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
    boot.each_cell(&mut |v| {
        // SAFETY: a live cell of the boot image.
        let header = unsafe { *v.header() };
        add(u64::from(header.shape) << 32 | u64::from(header.kind) << 16 | u64::from(header.aux));
        if let Some(m) = Ref::<MethodCell>::from_value(v) {
            add(m.owner.0.into());
        }
        if let Some(c) = Ref::<ClassCell>::from_value(v) {
            add(c.id.0.into());
        }
    });
    h
}

/// The note that the linker left in this binary: a digest of all that is in it.
fn build_id() -> Option<&'static [u8]> {
    unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, found: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the loader's description of an object, good for the call.
        let info = unsafe { &*info };
        let base = info.dlpi_addr as usize;
        // SAFETY: as above: so many program headers stand there.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
        let here = look as *const () as usize;
        let at = |h: &libc::Elf64_Phdr| base.wrapping_add(h.p_vaddr as usize);
        let is_ours = headers.iter().any(|h| h.p_type == libc::PT_LOAD && (at(h)..at(h) + h.p_memsz as usize).contains(&here));
        if !is_ours {
            return 0;
        }
        for h in headers.iter().filter(|h| h.p_type == libc::PT_NOTE) {
            // SAFETY: a note segment is loaded with the object, as long as its header says.
            let notes: &'static [u8] = unsafe { std::slice::from_raw_parts(at(h) as *const u8, h.p_memsz as usize) };
            if let Some(id) = gnu_build_id(notes) {
                // SAFETY: the caller's variable.
                unsafe { *found.cast::<Option<&'static [u8]>>() = Some(id) };
                return 1;
            }
        }
        1
    }
    let mut found: Option<&'static [u8]> = None;
    // SAFETY: the callback writes to `found` alone, during the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    found.filter(|id| id.len() >= 8)
}

/// Looks through notes: lengths of name and content and a type, each 4 bytes, then both, padded to 4.
fn gnu_build_id(mut notes: &[u8]) -> Option<&[u8]> {
    const NT_GNU_BUILD_ID: u32 = 3;
    loop {
        let word = |i: usize| notes.get(i..i + 4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
        let (name, content, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let start = 12 + name.next_multiple_of(4);
        let found = notes.get(start..start.checked_add(content)?)?;
        if kind == NT_GNU_BUILD_ID && notes.get(12..12 + name) == Some(b"GNU\0") {
            return Some(found);
        }
        notes = notes.get(start + content.next_multiple_of(4)..)?;
    }
}
