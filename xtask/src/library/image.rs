//! Files inside a WebAssembly module: Ruby as it is published for npm holds its library in its memory.
//!
//! The tree of files is that of wasi-vfs, as the pinned package has it: a node is (parent, content), a content (0 and length and address of a file, or 1 and
//! length and first link of a directory), a link (node, name, next link); all are addresses of 32 bits, little endian.

/// Addresses in the module's memory as it begins.
struct Memory(Vec<u8>);

impl Memory {
    fn word(&self, at: u32) -> Option<u32> {
        let at = at as usize;
        Some(u32::from_le_bytes(self.0.get(at..at + 4)?.try_into().ok()?))
    }
    fn text(&self, at: u32) -> Option<&str> {
        let rest = self.0.get(at as usize..)?;
        std::str::from_utf8(&rest[..rest.iter().position(|b| *b == 0)?]).ok()
    }
}

/// Numbers of variable length, and bytes, from the front of a part of the module.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }
    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }
    fn number(&mut self) -> Option<u32> {
        let (mut n, mut shift) = (0u64, 0);
        loop {
            let b = self.byte()?;
            n |= u64::from(b & 127) << shift;
            if b < 128 {
                return Some(n as u32);
            }
            shift += 7;
            if shift > 28 {
                return None;
            }
        }
    }
    /// `i32.const N; end`. Addresses below 2 GB: the sign of the last group does not matter but for its bits.
    fn address(&mut self) -> Option<u32> {
        (self.byte()? == 0x41).then_some(())?;
        let n = self.number()?;
        (self.byte()? == 0x0b).then_some(n)
    }
}

/// The memory of a module at its start: its active data segments.
fn memory(module: &[u8]) -> Option<Memory> {
    const DATA: u8 = 11;
    let mut rest = Reader(module.strip_prefix(b"\0asm\x01\0\0\0")?);
    let mut all = Vec::new();
    while !rest.0.is_empty() {
        let (kind, length) = (rest.byte()?, rest.number()?);
        let mut section = Reader(rest.take(length as usize)?);
        if kind != DATA {
            continue;
        }
        for _ in 0..section.number()? {
            let at = match section.number()? {
                0 => Some(section.address()? as usize),
                1 => None,
                _ => return None,
            };
            let length = section.number()? as usize;
            let content = section.take(length)?;
            if let Some(at) = at {
                if all.len() < at + length {
                    all.resize(at + length, 0);
                }
                all[at..at + length].copy_from_slice(content);
            }
        }
    }
    Some(Memory(all))
}

fn walk(memory: &Memory, node: u32, path: &str, wanted: &dyn Fn(&str) -> bool, found: &mut Vec<(String, Vec<u8>)>) -> Option<()> {
    let content = memory.word(node + 4)?;
    let (kind, length, start) = (memory.word(content)? & 255, memory.word(content + 4)?, memory.word(content + 8)?);
    if kind == 0 {
        if wanted(path) {
            let start = start as usize;
            found.push((path.to_string(), memory.0.get(start..start + length as usize)?.to_vec()));
        }
        return Some(());
    }
    let mut link = start;
    while link != 0 {
        let name = memory.text(memory.word(link + 4)?)?;
        let path = if path.is_empty() { name.to_string() } else { format!("{path}/{name}") };
        walk(memory, memory.word(link)?, &path, wanted, found)?;
        link = memory.word(link + 8)?;
    }
    Some(())
}

/// Files of a module with their contents. `root`: address of the node of the first directory.
pub fn files(module: &[u8], root: u32, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut found = Vec::new();
    let walked = memory(module).and_then(|m| walk(&m, root, "", wanted, &mut found));
    walked.map(|()| found).ok_or_else(|| "no files in the module's memory".to_string())
}
