//! Random: the Mersenne Twister, with CRuby's way of making numbers of its words, so that equal seeds give equal sequences.
//!
//! Each VM has its own default generator ([`DefaultRandom`]), seeded by the kernel on first use.

use crate::numeric::{coerce, ints, kernel};
use crate::twister::{Twister, WORDS};
use num_bigint::{BigInt, Sign};
use zakuro_base::progress::STRIDE;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[random::METHODS, kernel_random::METHODS];

pub fn setup(_cx: &mut Cx) {}

/// A generator and the seed it came from.
#[derive(Trace, Clone)]
struct Generator {
    #[untraced]
    mt: Twister,
    #[untraced]
    seed: BigInt,
}
impl NativeData for Generator {
    fn refers(&self) -> bool {
        false
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(self.clone()))
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        let (words, used) = self.mt.state();
        words.iter().for_each(|w| out.bytes.extend(w.to_le_bytes()));
        out.number(used as u64).big(&self.seed);
        Some("Random")
    }
}
zakuro_vm::saved_loader!("Random", |r| {
    let words = r.take(4 * WORDS)?.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
    let mut state = [0; WORDS];
    state.iter_mut().zip(words).for_each(|(s, w)| *s = w);
    let (mt, seed) = (Twister::from_state(state, r.narrow()?)?, r.big()?);
    r.ends(0)?;
    let generator = Generator { mt, seed };
    Some(rebuild(move |_, _| Some(Box::new(generator.clone()))))
});

/// The VM's default generator.
#[derive(Trace, Default)]
struct DefaultRandom(#[untraced] Option<Box<Generator>>);
impl VmState for DefaultRandom {}

/// Bytes from the kernel's generator.
fn entropy(buf: &mut [u8]) {
    let mut done = 0;
    while done < buf.len() {
        // SAFETY: the rest of buf is writable for that many bytes.
        let n = unsafe { libc::getrandom(buf[done..].as_mut_ptr() as *mut libc::c_void, buf.len() - done, 0) };
        if n < 0 {
            // Only EINTR is possible here; an ancient kernel leaves zeros, which are still a valid seed.
            if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
                return;
            }
            continue;
        }
        done += n as usize;
    }
}
fn new_seed() -> BigInt {
    let mut b = [0u8; 16];
    entropy(&mut b);
    BigInt::from_bytes_le(Sign::Plus, &b)
}

impl Generator {
    fn new(seed: BigInt) -> Generator {
        let mut key = seed.magnitude().to_u32_digits();
        if key.is_empty() {
            key.push(0);
        }
        let single = key.len() == 1;
        // CRuby drops a top word of 1, which it may have added itself as a guard for leading zeros. The rest is a key all the same.
        if !single && key.last() == Some(&1) {
            key.pop();
        }
        let mt = if single { Twister::new(key[0]) } else { Twister::with_key(&key) };
        Generator { mt, seed }
    }
    fn u32(&mut self) -> u32 {
        self.mt.next_u32()
    }
    /// In 0...1, or 0..1.
    fn real(&mut self, exclusive: bool) -> f64 {
        let (a, b) = (self.u32(), self.u32());
        if exclusive {
            return ((a >> 5) as f64 * 67108864.0 + (b >> 6) as f64) * (1.0 / 9007199254740992.0);
        }
        let x = (a as u128) << 32 | b as u128;
        let m = (1u128 << 53) | 1;
        ((x * m) >> 64) as u64 as f64 / 9007199254740992.0
    }
    /// In 0..=limit.
    fn limited(&mut self, limit: u64) -> u64 {
        if limit == 0 {
            return 0;
        }
        let mask = u64::MAX >> limit.leading_zeros();
        if limit <= u32::MAX as u64 {
            loop {
                let v = self.u32() as u64 & mask;
                if v <= limit {
                    return v;
                }
            }
        }
        'retry: loop {
            let mut v = 0;
            for shift in [32, 0] {
                if mask >> shift & 0xffff_ffff != 0 {
                    v |= (self.u32() as u64) << shift;
                    v &= mask;
                    if v > limit {
                        continue 'retry;
                    }
                }
            }
            return v;
        }
    }
    fn limited_big(&mut self, limit: &BigInt) -> BigInt {
        let lim = limit.magnitude().to_u32_digits();
        'retry: loop {
            let mut out = vec![0u32; lim.len()];
            let (mut mask, mut boundary) = (0u32, true);
            for i in (0..lim.len()).rev() {
                mask = if mask != 0 { u32::MAX } else { u32::MAX.checked_shr(lim[i].leading_zeros()).unwrap_or(0) };
                if mask != 0 {
                    let r = self.u32() & mask;
                    if boundary {
                        if r > lim[i] {
                            continue 'retry;
                        }
                        boundary = r == lim[i];
                    }
                    out[i] = r;
                }
            }
            return BigInt::from_slice(Sign::Plus, &out);
        }
    }
    fn fill(&mut self, out: &mut [u8]) {
        for word in out.chunks_mut(4) {
            word.copy_from_slice(&self.u32().to_le_bytes()[..word.len()]);
        }
    }
}

/// Where numbers come from: the VM's default generator or a Random object.
#[derive(Clone, Copy)]
enum Source {
    Default,
    Object(Value),
}

fn generator(cx: &mut Cx, s: Source) -> Result<&mut Generator> {
    match s {
        Source::Object(v) => cx.data_mut::<Generator>(v),
        Source::Default => Ok(default_generator(cx)),
    }
}
fn default_generator(cx: &mut Cx) -> &mut Generator {
    cx.state::<DefaultRandom>().0.get_or_insert_with(|| Box::new(Generator::new(new_seed())))
}

/// A random index below `n` (0 for n < 2) from the object given as `random:` (the class Random, an instance, or anything with `rand`) or the VM's generator.
pub fn index_below(cx: &mut Cx, source: Option<Value>, n: usize) -> Result<usize> {
    let limit = (n as u64).saturating_sub(1);
    match (own_source(cx, source), source) {
        (Some(from), _) => Ok(generator(cx, from)?.limited(limit) as usize),
        (None, source) => {
            let max = cx.int_u64(limit + 1);
            let r = cx.call_public(source.unwrap_or(Value::NIL), sym::rand, &[max], false, Block::NONE)?;
            let i = cx.to_i64(r)?;
            if i < 0 || i as u64 > limit {
                return cx.range_error(format!("random number too {} {i}", if i < 0 { "small" } else { "big" }));
            }
            Ok(i as usize)
        }
    }
}

/// The generator that an object given as `random:` stands for; None for an object of another kind.
fn own_source(cx: &Cx, source: Option<Value>) -> Option<Source> {
    match source {
        None => Some(Source::Default),
        Some(v) if v == cx.class_value(ids::RANDOM) => Some(Source::Default),
        Some(v) => cx.is_data::<Generator>(v).then_some(Source::Object(v)),
    }
}

/// Shuffles the places of a list from the last one down to `end`; false, and nothing done, with an object that is no generator.
pub fn shuffle(cx: &mut Cx, source: Option<Value>, list: &mut [Value], end: usize) -> Result<bool> {
    let Some(from) = own_source(cx, source) else { return Ok(false) };
    let g = generator(cx, from)?;
    for i in (end.max(1)..list.len()).rev() {
        list.swap(i, g.limited(i as u64) as usize);
    }
    Ok(true)
}

/// A random Integer below `max` in magnitude; None when there is none.
fn rand_int(cx: &mut Cx, s: Source, max: Value, strict: bool) -> Result<Option<Value>> {
    if max == ints::ZERO || strict && ints::is_negative(max) {
        return Ok(None);
    }
    let max = ints::abs(cx, max);
    let limit = ints::sub(cx, max, ints::ONE);
    up_to(cx, s, limit).map(Some)
}
/// In 0..=limit for an Integer limit >= 0.
fn up_to(cx: &mut Cx, s: Source, limit: Value) -> Result<Value> {
    let g = generator(cx, s)?;
    match limit.as_fixnum() {
        Some(l) => {
            let r = g.limited(l as u64);
            Ok(cx.int_u64(r))
        }
        None => {
            let r = g.limited_big(&ints::big_of(&limit));
            Ok(cx.big(r))
        }
    }
}

#[cold]
fn domain<T>(cx: &mut Cx) -> Result<T> {
    let e = cx.const_by_path("Errno::EDOM");
    match e.and_then(|e| cx.class_id(e)) {
        Some(c) => {
            let class = cx.class_value(c);
            let e = cx.call(class, sym::new, &[])?;
            cx.raise_value(e)
        }
        None => cx.raise(ids::DOMAIN_ERROR, "Numerical argument out of domain"),
    }
}

/// A finite double of a number.
fn finite(cx: &mut Cx, v: Value) -> Result<f64> {
    let f = kernel::to_float(cx, v)?;
    if f.is_finite() { Ok(f) } else { domain(cx) }
}

/// An Integer by `to_int`, for objects that have it.
fn check_int(cx: &mut Cx, v: Value) -> Result<Option<Value>> {
    if ints::is_int(v) {
        return Ok(Some(v));
    }
    if !v.is_cell() || v.as_float().is_some() {
        return Ok(None);
    }
    Ok(cx.call_if_responds(v, sym::to_int, &[])?.filter(|r| ints::is_int(*r)))
}

/// A random element of a Range of numbers; None when it is empty.
fn rand_range(cx: &mut Cx, s: Source, r: Ref<RangeCell>) -> Result<Option<Value>> {
    let (low, high, exclusive) = (r.low(), r.high(), r.exclusive());
    if low.is_nil() || high.is_nil() {
        return domain(cx);
    }
    if !high.is_fixnum() && !cx.responds(high, sym::sub, false)? {
        return cx.no_conversion(r.as_value(), "Integer");
    }
    let span = coerce::sub(cx, high, low)?;
    if let Some(span) = check_int(cx, span)? {
        let limit = if exclusive { ints::sub(cx, span, ints::ONE) } else { span };
        if ints::is_negative(limit) {
            return Ok(None);
        }
        let v = up_to(cx, s, limit)?;
        return coerce::add(cx, low, v).map(Some);
    }
    if !cx.is_a(span, ids::NUMERIC) {
        let what = cx.describe_for_conversion(span);
        return cx.type_error(format!("can't convert {what} into Float"));
    }
    let mut max = kernel::to_float(cx, span)?;
    if max.is_nan() {
        return domain(cx);
    }
    let (mut scale, mut mid) = (1.0, 0.5);
    if max.is_infinite() {
        let min = finite(cx, low)? / 2.0;
        max = finite(cx, high)? / 2.0;
        scale = 2.0;
        mid = max + min;
        max -= min;
    }
    if !cx.is_a(low, ids::NUMERIC) {
        // As many seconds after a Time, say.
        if max < 0.0 || max == 0.0 && exclusive {
            return Ok(None);
        }
        let r = if max == 0.0 { 0.0 } else { generator(cx, s)?.real(exclusive) * max };
        let part = cx.float(r);
        return coerce::add(cx, low, part).map(Some);
    }
    let base = kernel::to_float(cx, low)?;
    if max > 0.0 {
        let r = generator(cx, s)?.real(exclusive);
        if scale > 1.0 {
            return Ok(Some(cx.float((r - 0.5) * max * scale + mid)));
        }
        return Ok(Some(cx.float(r * max + base)));
    }
    if max == 0.0 && !exclusive { Ok(Some(cx.float(base))) } else { Ok(None) }
}

#[cold]
fn invalid<T>(cx: &mut Cx, v: Value) -> Result<T> {
    let t = cx.to_s_text(v)?;
    cx.arg_error(format!("invalid argument - {t}"))
}

/// Random#rand and Random.rand.
fn rand_strict(cx: &mut Cx, s: Source, max: Option<Value>) -> Result<Value> {
    let Some(max) = max else {
        let r = generator(cx, s)?.real(true);
        return Ok(cx.float(r));
    };
    let found = if max.is_nil() {
        None
    } else if let Some(f) = max.as_float() {
        if !f.is_finite() {
            return domain(cx);
        }
        if f >= 0.0 {
            let r = generator(cx, s)?.real(true);
            Some(cx.float(if f == 0.0 { r } else { r * f }))
        } else {
            None
        }
    } else if let Some(i) = check_int(cx, max)? {
        rand_int(cx, s, i, true)?
    } else if let Some(r) = zakuro_core_base::ranges::as_range(cx, max)? {
        rand_range(cx, s, r)?
    } else {
        // TypeError for what is no number at all.
        cx.to_int(max)?;
        None
    };
    match found {
        Some(v) => Ok(v),
        None => invalid(cx, max),
    }
}

fn seed_of(cx: &mut Cx, seed: Option<Value>) -> Result<BigInt> {
    match seed {
        None => Ok(new_seed()),
        Some(v) => {
            let i = cx.to_int(v)?;
            Ok(ints::big_of(&i).into_owned())
        }
    }
}
/// The VM's own generator begins anew: a child process must not get its parent's numbers.
pub fn forget(cx: &mut Cx) {
    cx.state::<DefaultRandom>().0 = None;
}

fn reseed(cx: &mut Cx, seed: Option<Value>) -> Result<Value> {
    let seed = seed_of(cx, seed)?;
    let old = generator(cx, Source::Default)?.seed.clone();
    cx.state::<DefaultRandom>().0 = Some(Box::new(Generator::new(seed)));
    Ok(cx.big(old))
}

#[ruby_class(ids::RANDOM)]
mod random {
    use super::*;

    /// A generator of a seed, by default a random one.
    ///
    ///     Random.new(42).rand    #=> 0.3745401188473625
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, seed: Option<Value>) -> Result<()> {
        cx.check_frozen(this)?;
        let seed = seed_of(cx, seed)?;
        cx.data_init(this, Generator::new(seed))
    }
    /// Copies the other generator's state.
    ///
    ///     a = Random.new(1); a.rand; a.dup.rand == a.rand    #=> true
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let g = cx.data_ref::<Generator>(other)?.clone();
        cx.data_init(this, g)?;
        Ok(this)
    }
    /// A Float in 0...1, below a limit, or a member of a Range.
    ///
    ///     Random.new(42).rand(100)        #=> 51
    ///     Random.new(42).rand(1..6)       #=> 4
    ///     Random.new(42).rand(1.0...2.0)  #=> 1.3745401188473625
    #[method("rand")]
    fn rand(cx: &mut Cx, this: Value, max: Option<Value>) -> Result<Value> {
        rand_strict(cx, Source::Object(this), max)
    }
    /// As rand; limits below 1 mean a Float in 0...1.
    ///
    ///     Random.new(42).random_number(10)    #=> 6
    #[method("random_number")]
    fn random_number(cx: &mut Cx, this: Value, max: Option<Value>) -> Result<Value> {
        lenient(cx, Source::Object(this), max)
    }
    /// Random bytes.
    ///
    ///     Random.new(42).bytes(3).bytesize    #=> 3
    #[method("bytes")]
    fn bytes(cx: &mut Cx, this: Value, n: i64) -> Result<Value> {
        byte_string(cx, Source::Object(this), n)
    }
    /// The seed.
    ///
    ///     Random.new(42).seed    #=> 42
    #[method("seed")]
    fn seed(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = cx.data_ref::<Generator>(this)?.seed.clone();
        Ok(cx.big(s))
    }
    /// The words of the state as an Integer.
    #[method("state", private)]
    fn state(cx: &mut Cx, this: Value) -> Result<Value> {
        let (words, _) = cx.data_ref::<Generator>(this)?.mt.parts();
        let state = BigInt::from_slice(Sign::Plus, words);
        Ok(cx.big(state))
    }
    /// What Marshal keeps: the words of the state as an Integer, how many numbers it has left (and one), the seed.
    #[method("marshal_dump", private)]
    fn marshal_dump(cx: &mut Cx, this: Value) -> Result<Value> {
        let g = cx.data_ref::<Generator>(this)?;
        let (words, used) = g.mt.parts();
        let (state, left, seed) = (BigInt::from_slice(Sign::Plus, words), WORDS + 1 - used, g.seed.clone());
        let parts = [cx.big(state), Value::fixnum(left.min(WORDS) as i64), cx.big(seed)];
        Ok(cx.array(&parts))
    }
    /// Takes up what `marshal_dump` gave.
    #[method("marshal_load", private)]
    fn marshal_load(cx: &mut Cx, this: Value, dump: Ref<ArrayCell>) -> Result<Value> {
        cx.check_frozen(this)?;
        let parts = RootedVec::of(cx, dump);
        let (state, left, seed) = match **parts {
            [state] => (state, ints::ONE, ints::ZERO),
            [state, left] => (state, left, ints::ZERO),
            [state, left, seed] => (state, left, seed),
            _ => return cx.arg_error("wrong dump data"),
        };
        let [state, seed] = [cx.to_int(state)?, cx.to_int(seed)?].map(|v| ints::big_of(&v).into_owned());
        let left = cx.to_i64(left)?;
        if !(1..=WORDS as i64).contains(&left) {
            return cx.arg_error("wrong value");
        }
        let mut words = [0; WORDS];
        words.iter_mut().zip(state.magnitude().iter_u32_digits()).for_each(|(w, d)| *w = d);
        let mt = Twister::of_parts(words, WORDS + 1 - left as usize);
        cx.data_init(this, Generator { mt, seed })?;
        Ok(this)
    }
    /// Equal generators give equal numbers from here on.
    ///
    ///     Random.new(42) == Random.new(42)    #=> true
    #[method("==")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if cx.class_of(this) != cx.class_of(other) || !cx.is_data::<Generator>(other) {
            return Ok(false);
        }
        let (a, b) = cx.data_pair::<Generator>(this, other)?;
        Ok(a.mt == b.mt && a.seed == b.seed)
    }
    /// From the default generator.
    ///
    ///     Random.srand(42); Random.rand(100)    #=> 51
    #[method("rand", singleton)]
    fn s_rand(cx: &mut Cx, this: Value, max: Option<Value>) -> Result<Value> {
        let _ = this;
        rand_strict(cx, Source::Default, max)
    }
    /// From the default generator.
    ///
    ///     Random.random_number(1)    #=> 0
    #[method("random_number", singleton)]
    fn s_random_number(cx: &mut Cx, this: Value, max: Option<Value>) -> Result<Value> {
        let _ = this;
        lenient(cx, Source::Default, max)
    }
    /// From the default generator.
    ///
    ///     Random.bytes(4).bytesize    #=> 4
    #[method("bytes", singleton)]
    fn s_bytes(cx: &mut Cx, this: Value, n: i64) -> Result<Value> {
        let _ = this;
        byte_string(cx, Source::Default, n)
    }
    /// Seed of the default generator.
    ///
    ///     Random.srand(5); Random.seed    #=> 5
    #[method("seed", singleton)]
    fn s_seed(cx: &mut Cx, this: Value) -> Result<Value> {
        let _ = this;
        let s = generator(cx, Source::Default)?.seed.clone();
        Ok(cx.big(s))
    }
    /// A seed from the operating system.
    ///
    ///     Random.new_seed.is_a?(Integer)    #=> true
    #[method("new_seed", singleton)]
    fn s_new_seed(cx: &Cx, this: Value) -> Value {
        let _ = this;
        cx.big(new_seed())
    }
    /// Bytes from the operating system.
    ///
    ///     Random.urandom(8).bytesize    #=> 8
    #[method("urandom", singleton)]
    fn s_urandom(cx: &mut Cx, this: Value, n: i64) -> Result<Value> {
        let _ = this;
        let mut buf = zakuro_base::memory::zeroed(length(cx, n)?);
        for (at, part) in buf.chunks_mut(16 * STRIDE).enumerate() {
            if at > 0 {
                cx.safepoint()?;
            }
            entropy(part);
        }
        Ok(cx.str_bytes(&buf, zakuro_object::string::BINARY))
    }
    /// Seeds the default generator; returns the old seed.
    ///
    ///     Random.srand(1); Random.srand(2)    #=> 1
    #[method("srand", singleton)]
    fn s_srand(cx: &mut Cx, this: Value, seed: Option<Value>) -> Result<Value> {
        let _ = this;
        reseed(cx, seed)
    }

    fn length(cx: &mut Cx, n: i64) -> Result<usize> {
        match usize::try_from(n) {
            Ok(n) if n <= 1 << 31 => Ok(n),
            Ok(_) => cx.arg_error("argument too big"),
            Err(_) => cx.arg_error("negative string size (or size too big)"),
        }
    }
    fn byte_string(cx: &mut Cx, s: Source, n: i64) -> Result<Value> {
        let n = length(cx, n)?;
        let mut b = zakuro_base::memory::zeroed(n);
        for (at, part) in b.chunks_mut(STRIDE).enumerate() {
            if at > 0 {
                cx.safepoint()?;
            }
            generator(cx, s)?.fill(part);
        }
        Ok(cx.str_bytes(&b, zakuro_object::string::BINARY))
    }
    fn lenient(cx: &mut Cx, s: Source, max: Option<Value>) -> Result<Value> {
        let positive = match max {
            None | Some(Value::NIL) => false,
            Some(v) if ints::is_int(v) => ints::signum(v) > 0,
            Some(v) => v.as_float().is_none_or(|f| f > 0.0),
        };
        if !positive {
            return rand_strict(cx, s, None);
        }
        rand_strict(cx, s, max)
    }
}

#[ruby_class(ids::KERNEL)]
mod kernel_random {
    use super::*;

    /// A Float in 0...1, an Integer below a limit, or a member of a Range; nil for an empty one.
    ///
    ///     srand(42); [rand(10), rand(10)]    #=> [6, 3]
    ///     rand(1..0)                         #=> nil
    #[method("rand", module_function)]
    fn rand(cx: &mut Cx, this: Value, max: Option<Value>) -> Result<Value> {
        let _ = this;
        if let Some(limit) = max.and_then(Value::as_fixnum)
            && limit > 0
        {
            return Ok(Value::fixnum(generator(cx, Source::Default)?.limited(limit as u64 - 1) as i64));
        }
        if let Some(max) = max.filter(|m| !m.is_nil()) {
            if let Some(r) = zakuro_core_base::ranges::as_range(cx, max)? {
                return Ok(rand_range(cx, Source::Default, r)?.unwrap_or(Value::NIL));
            }
            let max = cx.to_int(max)?;
            if let Some(v) = rand_int(cx, Source::Default, max, false)? {
                return Ok(v);
            }
        }
        let r = generator(cx, Source::Default)?.real(true);
        Ok(cx.float(r))
    }
    /// Seeds the default generator; returns the old seed.
    ///
    ///     srand(1); srand(2)    #=> 1
    #[method("srand", module_function)]
    fn srand(cx: &mut Cx, this: Value, seed: Option<Value>) -> Result<Value> {
        let _ = this;
        reseed(cx, seed)
    }
}
