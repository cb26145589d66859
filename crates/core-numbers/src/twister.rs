//! The Mersenne Twister MT19937 (M. Matsumoto and T. Nishimura, "Mersenne Twister: A 623-Dimensionally Equidistributed Uniform Pseudo-Random Number Generator", 1998),
//! with the initialisation by arrays of 2002. Its state can be written down and taken up again, which is what programs keep of a Random.

pub const WORDS: usize = 624;
const MIDDLE: usize = 397;

#[derive(Clone, PartialEq, Eq)]
pub struct Twister {
    state: [u32; WORDS],
    /// Words of the state that have been given out; all of them: the next one needs a new state.
    used: usize,
}

impl Twister {
    /// The words of its state, and how many of them have been given out.
    pub fn state(&self) -> (&[u32; WORDS], usize) {
        (&self.state, self.used)
    }
    /// None: more were given out than there are.
    pub fn from_state(state: [u32; WORDS], used: usize) -> Option<Twister> {
        (used <= WORDS).then_some(Twister { state, used })
    }
    pub fn new(seed: u32) -> Twister {
        let mut state = [seed; WORDS];
        for i in 1..WORDS {
            let before = state[i - 1];
            state[i] = 1_812_433_253u32.wrapping_mul(before ^ before >> 30).wrapping_add(i as u32);
        }
        Twister { state, used: WORDS }
    }
    /// `key` is not empty.
    pub fn with_key(key: &[u32]) -> Twister {
        let mut t = Twister::new(19_650_218);
        let s = &mut t.state;
        let mix = |s: &[u32; WORDS], i: usize, factor: u32| s[i] ^ (s[i - 1] ^ s[i - 1] >> 30).wrapping_mul(factor);
        let next = |s: &mut [u32; WORDS], i: usize| {
            if i + 1 < WORDS {
                return i + 1;
            }
            s[0] = s[WORDS - 1];
            1
        };
        let mut i = 1;
        for (n, k) in key.iter().enumerate().cycle().take(key.len().max(WORDS)) {
            s[i] = mix(s, i, 1_664_525).wrapping_add(*k).wrapping_add(n as u32);
            i = next(s, i);
        }
        for _ in 1..WORDS {
            s[i] = mix(s, i, 1_566_083_941).wrapping_sub(i as u32);
            i = next(s, i);
        }
        s[0] = 1 << 31;
        t
    }
    /// One that goes on from what [`Twister::parts`] gave.
    pub fn of_parts(state: [u32; WORDS], used: usize) -> Twister {
        Twister { state, used: used.min(WORDS) }
    }
    pub fn parts(&self) -> (&[u32; WORDS], usize) {
        (&self.state, self.used)
    }
    fn advance(&mut self) {
        let s = &mut self.state;
        let mixed = |here: u32, next: u32, far: u32| {
            let y = here & 1 << 31 | next & !(1 << 31);
            far ^ y >> 1 ^ (y & 1).wrapping_neg() & 0x9908_b0df
        };
        // Three runs, none of which leaves the words: places modulo their number took more time than the mixing.
        for i in 0..WORDS - MIDDLE {
            s[i] = mixed(s[i], s[i + 1], s[i + MIDDLE]);
        }
        for i in WORDS - MIDDLE..WORDS - 1 {
            s[i] = mixed(s[i], s[i + 1], s[i + MIDDLE - WORDS]);
        }
        s[WORDS - 1] = mixed(s[WORDS - 1], s[0], s[MIDDLE - 1]);
        self.used = 0;
    }
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.used >= WORDS {
            self.advance();
        }
        let mut y = self.state[self.used];
        self.used += 1;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c_5680;
        y ^= y << 15 & 0xefc6_0000;
        y ^ y >> 18
    }
}

#[cfg(test)]
#[path = "twister_tests.rs"]
mod tests;
