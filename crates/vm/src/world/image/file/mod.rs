//! Images in files: a [`Snapshot`] as bytes, for another process of the same binary.
//!
//! An image's layers become one graph above the boot image, beside it the libraries' state and, if there is one, the main Proc. What is particular to a process is written as something else:
//!
//! | in memory | in the file |
//! |---|---|
//! | a cell | its number in the graph; of the boot image: its number there ([`BootImage::each_cell`]) |
//! | a Symbol | an index into a table of names |
//! | numbers of classes and shapes | counted from 0; the boot image's as they are |
//! | a Code | a program of an archive (zakuro-bytecode's `binary`), and the way from there to a nested one |
//! | a builtin | its place in the binary's tables; another native function: its distance from the binary's beginning |
//! | a payload, a library's state | what its `save` wrote, and the name of what reads that ([`zakuro_object::saved`]) |
//! | codes in Hashes, which go by the process's secret | nothing: made anew, by the VM where only a `hash` method knows them |
//! | inline caches, machine code | nothing |
//!
//! The header says who wrote the file ([`identity`]): what another binary wrote is refused, since numbers of cells, rows and instructions are that binary's own.
//!
//! Reading takes any bytes: every number is checked against what it counts, every reference for the kind of cell that the VM takes for granted behind it, and lists grow with what was
//! read. That makes a file harmless to read, not to run: bytecode is trusted as a program is (decision 0016).
//!
//! Rejected: mapping the file (the cells have to be written: marks, flags, addresses; and who truncates it would end its readers); layers as they are (the lower ones' dead
//! templates would be in the file); Marshal (classes, methods, environments and identity are what it has not).

mod check;
pub(super) mod identity;
mod keys;
mod path;
mod read;
mod values;
mod write;

use super::{Graph, Seed, Snapshot};
use crate::boot::BootImage;
use crate::vm::{Cx, FastMap};
use identity::Identity;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use zakuro_object::*;

/// Why there is no file, or none that can be used.
pub type Refusal = String;
type Outcome<T> = std::result::Result<T, Refusal>;

const MAGIC: [u8; 8] = *b"zakuro\0\x02";
/// Number of this format.
const FORMAT: u32 = 1;
/// Larger files are not read.
pub const LARGEST: u64 = 1 << 30;
/// Bytes that a VM must have left per byte of a file, to read it.
const ROOM: usize = 6;
/// Before the content: magic, format, length of the writer's version, its version, its digest, the content's length and digest.
const LONGEST_VERSION: usize = 200;
const DIGEST: usize = 32;

/// What a file begins with.
fn header(who: &Identity, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(MAGIC.len() + 8 + who.version.len() + 2 * DIGEST + 8);
    out.extend(MAGIC);
    out.extend(FORMAT.to_le_bytes());
    out.extend((who.version.len() as u32).to_le_bytes());
    out.extend(who.version.as_bytes());
    out.extend(who.digest);
    out.extend((content.len() as u64).to_le_bytes());
    out.extend(digest(&out, content));
    out
}

/// Of the header so far, and the content.
fn digest(header: &[u8], content: &[u8]) -> [u8; DIGEST] {
    let mut h = Sha256::new();
    h.update(header);
    h.update(content);
    h.finalize().into()
}

/// The content of a file that this binary wrote, whole as it was.
fn content<'a>(bytes: &'a [u8], who: &Identity) -> Outcome<&'a [u8]> {
    const SHORT: &str = "it is cut off";
    fn take<'a>(rest: &mut &'a [u8], n: usize) -> Outcome<&'a [u8]> {
        let (taken, after) = rest.split_at_checked(n).ok_or(SHORT)?;
        *rest = after;
        Ok(taken)
    }
    let word = |b: &[u8]| b.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
    let mut rest = bytes;
    if !bytes.starts_with(&MAGIC[..MAGIC.len().min(bytes.len())]) || bytes.is_empty() {
        return Err("it is no image".into());
    }
    take(&mut rest, MAGIC.len())?;
    let format = word(take(&mut rest, 4)?);
    if format != u64::from(FORMAT) {
        return Err(format!("its format is {format}, and that of this binary {FORMAT}"));
    }
    let length = word(take(&mut rest, 4)?) as usize;
    if length > LONGEST_VERSION {
        return Err("its header is malformed".into());
    }
    let version = String::from_utf8_lossy(take(&mut rest, length)?).into_owned();
    let writer = take(&mut rest, DIGEST)?;
    let length = word(take(&mut rest, 8)?);
    let before = &bytes[..bytes.len() - rest.len()];
    let known = take(&mut rest, DIGEST)?;
    if writer != who.digest {
        let short = |d: &[u8]| d[..6].iter().map(|b| format!("{b:02x}")).collect::<String>();
        // No text of a stranger's goes to a terminal as it is.
        let version = version.escape_debug();
        return Err(format!(
            "it was saved by {version}, build {}, and this is {}, build {}",
            short(writer),
            who.version,
            short(&who.digest)
        ));
    }
    match (rest.len() as u64).cmp(&length) {
        std::cmp::Ordering::Less => return Err(SHORT.into()),
        std::cmp::Ordering::Greater => return Err("something follows its end".into()),
        std::cmp::Ordering::Equal => {}
    }
    if known != digest(before, rest) {
        return Err("it is damaged: its content has another SHA-256 than its header says".into());
    }
    Ok(rest)
}

impl Cx {
    /// The file of an image, from which VMs of other processes of this binary start; `main`: a Proc for those that are given nothing else to run.
    ///
    /// # Errors
    /// Something in it only means something in this process.
    pub fn image_to_bytes(&mut self, s: &Snapshot, main: Option<Value>) -> Outcome<Vec<u8>> {
        let Some(boot) = self.boot else { return Err("there is no boot image".into()) };
        let who = Identity::of(boot)?;
        let main = match main {
            Some(block) => Some(Arc::new(self.with_room(|cx| cx.head(&s.image, None, block, false)))),
            None => s.main.clone(),
        };
        let content = write::content(self, s, main.as_deref())?;
        let mut out = header(&who, &content);
        out.extend(content);
        Ok(out)
    }
    /// The image that a file holds.
    ///
    /// # Errors
    /// It is none, of another binary, or damaged; or there is no room for it.
    pub fn image_from_bytes(&mut self, bytes: &[u8]) -> Outcome<Snapshot> {
        let Some(boot) = self.boot else { return Err("there is no boot image".into()) };
        let who = Identity::of(boot)?;
        let content = content(bytes, &who)?;
        read::content(self, content)
    }
    /// Whether a file of so many bytes fits into what the VM may use.
    pub fn has_room_for_image(&self, bytes: u64) -> bool {
        usize::try_from(bytes).is_ok_and(|n| n <= self.heap.room() / ROOM)
    }
    /// A VM's start from an image and its main Proc, if it has one.
    pub fn seed_of_main(&mut self, s: &Snapshot) -> Seed {
        let head = s.main.as_deref().map_or_else(|| Graph { root: Value::NIL, ..Graph::default() }, Graph::clone);
        Seed { image: s.image.clone(), state: Some(s.state.clone()), head, _charge: None }
    }
}

impl Snapshot {
    /// Whether the file that it came from has a Proc to run.
    pub fn has_main(&self) -> bool {
        self.main.is_some()
    }
}

/// Cells of the boot image by their number.
fn cells_of(boot: &BootImage) -> UntracedVec {
    let mut all = UntracedVec::new();
    boot.each_cell(&mut |v| all.push(v));
    all
}
/// Their numbers by address.
fn numbered(boot: &BootImage) -> FastMap<u64, u32> {
    cells_of(boot).iter().enumerate().map(|(n, v)| (v.bits(), n as u32)).collect()
}
