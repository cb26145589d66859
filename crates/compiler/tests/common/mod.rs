//! What the tests share.

/// The golden sources, by name.
pub fn golden_sources() -> Vec<Vec<u8>> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "rb"));
    files.sort();
    files.iter().map(|f| std::fs::read(f).unwrap()).collect()
}

/// A small generator of pseudo-random numbers (Marsaglia, xorshift).
pub struct Random(pub u64);
impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}
