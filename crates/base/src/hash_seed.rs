//! The secret that hash codes are made with: whoever doesn't know it can't choose keys that collide.
//!
//! Tables of Strings, numbers and Symbols are filled with what a request says. Were their codes functions of the keys alone, a body of some megabytes could
//! make a table a list (Crosby, Wallach: "Denial of Service via Algorithmic Complexity Attacks", USENIX Security 2003).
//!
//! There are two layers:
//! - *Codes in tables* are made with the process's [`HashSeed`], drawn from the kernel once. Tables of the boot image, of an image and of a region are read
//!   by many VMs, which therefore have to make the same codes.
//! - *Codes that a program sees* (`hash`) are those behind the VM's own [`HashMask`], a permutation. So a program never learns a code of a table, its own or a
//!   neighbour's, and two VMs give the same key different numbers. A VM that grows from an image takes the image's mask over: objects
//!   may have stored such numbers.
//!
//! The functions are fast rather than cryptographic: multiply and fold with secret factors. That no program sees what they give is what they rely on.
//!
//! Rejected: a seed per VM in the tables (those that travel by reference would have to be made anew in each VM, or be asked with another seed, in the
//! middle of which `hash` methods of the program run); SipHash (some nanoseconds more per String).

use foldhash::SharedSeed;
use foldhash::fast::{FixedState, FoldHasher};
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes the hashers of tables that no program fills with what it chooses: by addresses, numbers of the VM's own, names. It takes no room in a table.
#[derive(Clone, Copy, Default)]
pub struct Fixed;

impl BuildHasher for Fixed {
    type Hasher = FoldHasher<'static>;
    #[inline(always)]
    fn build_hasher(&self) -> FoldHasher<'static> {
        const { FixedState::with_seed(0x9e37_79b9_7f4a_7c15) }.build_hasher()
    }
}

/// The process's secret.
pub struct HashSeed {
    /// Added to words, and the odd factor they are multiplied with.
    word: u64,
    factor: u64,
    text: u64,
    shared: SharedSeed,
    /// What the masks of the VMs come from.
    masks: u64,
    /// Masks made so far.
    made: AtomicU64,
}

/// The 128-bit product, folded: every bit of the factors counts in every bit of the result.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let p = a as u128 * b as u128;
    p as u64 ^ (p >> 64) as u64
}

/// A code as tables have it: its 62 high bits say all, so that what a program saw of it gives it back. (The low ones choose a place in a table: they are
/// bits that neither choose one too nor are a table's tags.)
#[inline(always)]
fn whole(code: u64) -> u64 {
    code & !3 | code >> 40 & 3
}

/// Words that follow from one (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
fn next_word(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl HashSeed {
    /// The seed of this process. With `RUBY_HASH_SEED` (an integer) in the environment it follows from that: for tests that look for an order of events.
    pub fn of_process() -> &'static HashSeed {
        static SEED: OnceLock<HashSeed> = OnceLock::new();
        SEED.get_or_init(|| match std::env::var("RUBY_HASH_SEED").ok().and_then(|s| s.trim().parse::<u64>().ok()) {
            Some(mut n) => HashSeed::new([(); 5].map(|()| next_word(&mut n))),
            None => HashSeed::new(random_words()),
        })
    }
    fn new(words: [u64; 5]) -> HashSeed {
        let [word, factor, text, shared, masks] = words;
        HashSeed { word, factor: factor | 1, text, shared: SharedSeed::from_u64(shared), masks, made: AtomicU64::new(0) }
    }
    /// Code of a word.
    #[inline(always)]
    pub fn word(&self, w: u64) -> u64 {
        whole(fold(w ^ self.word, self.factor))
    }
    /// Code of a sequence of codes, from that of what came before and the next one.
    #[inline(always)]
    pub fn chain(&self, before: u64, next: u64) -> u64 {
        whole(fold(before.rotate_left(5) ^ next ^ self.text, self.factor))
    }
    /// Code of bytes.
    #[inline]
    pub fn bytes(&self, b: &[u8]) -> u64 {
        let mut h = FoldHasher::with_seed(self.text, &self.shared);
        h.write(b);
        whole(h.finish())
    }
    /// A state for tables of natives whose keys programs choose.
    pub fn hasher(&'static self) -> foldhash::quality::SeedableRandomState {
        foldhash::quality::SeedableRandomState::with_seed(self.text, &self.shared)
    }
    /// The mask of one more VM.
    pub fn mask(&self) -> HashMask {
        let n = self.made.fetch_add(1, Ordering::Relaxed);
        let mut state = fold(self.masks ^ n, self.factor) ^ self.masks;
        HashMask { keys: [(); ROUNDS].map(|()| next_word(&mut state)), factor: next_word(&mut state) | 1 }
    }
}

/// Words from the kernel's generator.
fn random_words() -> [u64; 5] {
    let mut bytes = [0u8; 40];
    let mut done = 0;
    while done < bytes.len() {
        // SAFETY: the rest of the buffer is writable for that many bytes.
        let n = unsafe { libc::getrandom(bytes[done..].as_mut_ptr().cast(), bytes.len() - done, 0) };
        if n >= 0 {
            done += n as usize;
        } else if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            // No such call, or it is forbidden: where the loader put things, and the time, are better than nothing.
            let place = &raw const bytes as u64 ^ (random_words as *const () as u64).rotate_left(32);
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
            let mut state = place ^ now ^ u64::from(std::process::id()) << 40;
            return [(); 5].map(|()| next_word(&mut state));
        }
    }
    let mut words = [0; 5];
    for (w, b) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *w = b.iter().fold(0, |w, b| w << 8 | u64::from(*b));
    }
    words
}

const ROUNDS: usize = 4;
/// Bits of one half of a code.
const HALF: u32 = 31;
const HALF_MASK: u64 = (1 << HALF) - 1;

/// A permutation of the 62 bits of a code that a program sees (Luby, Rackoff: "How to construct pseudorandom permutations", SIAM J. Comput. 1988).
#[derive(Clone, Copy)]
pub struct HashMask {
    keys: [u64; ROUNDS],
    factor: u64,
}

impl HashMask {
    #[inline(always)]
    fn round(&self, half: u64, key: u64) -> u64 {
        fold(half ^ key, self.factor) >> HALF & HALF_MASK
    }
    /// What a program sees of a code; its two lowest bits follow from the others.
    #[inline]
    pub fn show(&self, code: u64) -> i64 {
        let (mut a, mut b) = (code >> 2 & HALF_MASK, code >> (2 + HALF));
        for k in self.keys {
            (a, b) = (b, a ^ self.round(b, k));
        }
        // The highest of the 62 bits is the sign.
        ((b << HALF | a) << 2) as i64 >> 2
    }
    /// The code of which a program sees `shown`.
    #[inline]
    pub fn hidden(&self, shown: i64) -> u64 {
        let (mut a, mut b) = (shown as u64 & HALF_MASK, shown as u64 >> HALF & HALF_MASK);
        for k in self.keys.iter().rev() {
            (a, b) = (b ^ self.round(a, *k), a);
        }
        whole((b << HALF | a) << 2)
    }
}

#[cfg(test)]
#[path = "hash_seed_tests.rs"]
mod tests;
