//! zlib: compressed streams over zlib-rs, the format's library in Rust, by zlib's own interface. Checksums and streams are native; buffers between calls, gzip files, and
//! what else is made of streams, are Ruby (`ruby/zlib.rb`, `ruby/zlib_gzip.rb`).
//!
//! A stream in the middle of its work is copied (`dup`), but neither sent to another VM nor forked: its tables are the library's own.
//! Rejected: flate2 over miniz_oxide (no dictionaries, no strategies, no copies, bytes unlike zlib's).

use libz_rs_sys as z;
use std::ffi::{CStr, c_int};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Payload of a Zlib::ZStream. The library's state refers to the place of `z`, so it stays in its box.
#[derive(Trace)]
struct Stream {
    #[untraced]
    z: Box<z::z_stream>,
    deflates: bool,
    /// The end of the stream was reached.
    finished: bool,
    /// Something went through it since it was made or reset.
    used: bool,
    /// Level, bits, memory and strategy that it was made with; nothing where they were changed. Of an inflating one bits.
    #[untraced]
    settings: Option<[c_int; 4]>,
    /// Bytes that the library takes for it, about.
    #[untraced]
    size: usize,
    /// What was wrong with the data, which the library says but once.
    #[untraced]
    failed: Option<String>,
}

// SAFETY: the state is reached through this payload alone.
unsafe impl Send for Stream {}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: a stream that `init` or `copy` made, of its kind; the library copes with one that is none.
        unsafe {
            if self.deflates {
                z::deflateEnd(&mut *self.z)
            } else {
                z::inflateEnd(&mut *self.z)
            };
        }
    }
}

/// The stream of each kind that was closed last, for the next one with its settings: making one clears a quarter of a megabyte. Given back when no stream was closed between two full collections.
#[derive(Trace, Default)]
struct Spare {
    #[untraced]
    deflating: Option<Stream>,
    #[untraced]
    inflating: Option<Stream>,
    used: bool,
}
impl VmState for Spare {
    fn sweep(&mut self, heap: &Heap) {
        if heap.is_full() && !std::mem::take(&mut self.used) {
            *self = Spare::default();
        }
    }
    fn weight(&self) -> usize {
        self.deflating.iter().chain(&self.inflating).map(|s| s.size).sum()
    }
}
impl Spare {
    fn of(&mut self, deflates: bool) -> &mut Option<Stream> {
        if deflates { &mut self.deflating } else { &mut self.inflating }
    }
}

/// A stream with these settings that is as new.
fn spare(cx: &mut Cx, deflates: bool, settings: [c_int; 4]) -> Option<Stream> {
    let mut s = cx.state::<Spare>().of(deflates).take_if(|s| s.settings == Some(settings))?;
    s.reset().is_ok().then_some(s)
}

/// A stream with these settings: of an inflating one the second is the size of the window.
fn open(cx: &mut Cx, deflates: bool, settings: [c_int; 4]) -> Result<Stream> {
    if let Some(s) = spare(cx, deflates, settings) {
        return Ok(s);
    }
    let ([level, bits, memory, strategy], mut z) = (settings, empty());
    let (version, size) = (z::zlibVersion(), size_of::<z::z_stream>() as c_int);
    // SAFETY: a stream without state, and the version's and the structure's own numbers.
    let code = unsafe {
        if deflates {
            z::deflateInit2_(&mut *z, level, z::Z_DEFLATED, bits, memory, strategy, version, size)
        } else {
            z::inflateInit2_(&mut *z, bits, version, size)
        }
    };
    if code != z::Z_OK {
        return fail(cx, code, None);
    }
    Ok(Stream::new(z, deflates, settings, if deflates { deflating(bits, memory) } else { INFLATING }))
}

/// Keeps a stream for the next one with its settings.
fn keep(cx: &mut Cx, stream: Stream) {
    let spare = cx.state::<Spare>();
    spare.used = true;
    if stream.settings.is_some() {
        let deflates = stream.deflates;
        *spare.of(deflates) = Some(stream);
    }
}

const INFLATING: usize = 48 << 10;

/// Bytes of a deflating stream: window and chains of that many bits, a table of hashes, the symbols of a block.
fn deflating(bits: c_int, memory: c_int) -> usize {
    (4 << bits.unsigned_abs().clamp(8, 15)) + (128 << 10) + (1 << (memory.clamp(1, 9) + 8)) + (24 << 10)
}

impl NativeData for Stream {
    fn refers(&self) -> bool {
        false
    }
    fn weight(&self) -> usize {
        self.size
    }
}

/// Output made at a time; between portions the VM may be interrupted.
const PORTION: usize = 64 << 10;

/// What is no int of C's is no setting either.
fn number(n: i64) -> c_int {
    c_int::try_from(n).unwrap_or(c_int::MIN)
}

fn empty() -> Box<z::z_stream> {
    Box::default()
}

/// What the library says of a failure: its own words, else those of the code.
fn fail<T>(cx: &mut Cx, code: c_int, message: Option<String>) -> Result<T> {
    let (class, words) = match code {
        z::Z_STREAM_END => ("StreamEnd", "stream end"),
        z::Z_NEED_DICT => ("NeedDict", "need dictionary"),
        z::Z_DATA_ERROR => ("DataError", "data error"),
        z::Z_MEM_ERROR => ("MemError", "insufficient memory"),
        z::Z_BUF_ERROR => ("BufError", "buffer error"),
        _ => ("StreamError", "stream error"),
    };
    cx.raise_named(&format!("Zlib::{class}"), message.as_deref().unwrap_or(words))
}

impl Stream {
    fn new(z: Box<z::z_stream>, deflates: bool, settings: [c_int; 4], size: usize) -> Stream {
        Stream { z, deflates, finished: false, used: false, settings: Some(settings), size, failed: None }
    }
    /// As it was at the beginning. The library's code where it fails.
    fn reset(&mut self) -> std::result::Result<(), c_int> {
        (self.finished, self.used, self.failed) = (false, false, None);
        // SAFETY: a live stream of its kind.
        match unsafe { if self.deflates { z::deflateReset(&mut *self.z) } else { z::inflateReset(&mut *self.z) } } {
            z::Z_OK => Ok(()),
            code => Err(code),
        }
    }
    /// Works on `input` as far as `room` goes: the library's code, how many bytes were used, and how many came out.
    fn put(&mut self, input: &[u8], room: &mut [u8], flush: c_int) -> (c_int, usize, usize) {
        let left = input.len().min(1 << 30);
        self.z.next_in = input.as_ptr().cast_mut();
        self.z.avail_in = left as u32;
        self.z.next_out = room.as_mut_ptr();
        self.z.avail_out = room.len() as u32;
        // What is not the last of the input does not end the stream.
        let how = if left < input.len() { z::Z_NO_FLUSH } else { flush };
        // SAFETY: a live stream of its kind; both places hold as many bytes as they say for the call.
        let code = unsafe { if self.deflates { z::deflate(&mut *self.z, how) } else { z::inflate(&mut *self.z, how) } };
        let (took, got) = (left - self.z.avail_in as usize, room.len() - self.z.avail_out as usize);
        (self.z.next_in, self.z.avail_in, self.z.next_out, self.z.avail_out) = (std::ptr::null_mut(), 0, std::ptr::null_mut(), 0);
        self.used |= took > 0 || got > 0;
        self.finished |= code == z::Z_STREAM_END;
        (code, took, got)
    }
    /// Puts all of `input` through a new stream, to the end, behind what `out` holds: how many bytes the stream took. Nothing if it does not end with the input, or is broken.
    fn whole(&mut self, cx: &mut Cx, input: &[u8], out: Ref<StringCell>) -> Result<Option<usize>> {
        let flush = if self.deflates { z::Z_FINISH } else { z::Z_SYNC_FLUSH };
        let mut buffer = vec![0u8; (4 * input.len()).clamp(512, PORTION)];
        let mut used = 0;
        loop {
            let (code, took, got) = self.put(&input[used..], &mut buffer, flush);
            used += took;
            StringCell::append(out, &mut cx.heap, &buffer[..got]);
            match code {
                z::Z_STREAM_END => return Ok(Some(used)),
                z::Z_OK | z::Z_BUF_ERROR if took > 0 || got > 0 => {}
                _ => return Ok(None),
            }
            if buffer.len() < PORTION {
                buffer.resize(PORTION, 0);
            }
            cx.safepoint()?;
        }
    }
    fn message(&self) -> Option<String> {
        // SAFETY: NULL, or a constant text.
        let message = (!self.z.msg.is_null()).then(|| unsafe { CStr::from_ptr(self.z.msg) }.to_string_lossy().into_owned())?;
        // Where the quick loop met what is wrong, the library writes this over what it was.
        Some(if message == "repeated call with bad state" { "invalid compressed data".into() } else { message })
    }
}

/// Methods of `Zlib::ZStream`.
#[ruby_class(ids::OBJECT)]
mod stream {
    use super::*;

    /// Prepares a deflating stream.
    #[method("__deflate", private)]
    fn deflate(cx: &mut Cx, this: Value, level: i64, bits: i64, memory: i64, strategy: i64) -> Result<()> {
        let stream = open(cx, true, [level, bits, memory, strategy].map(number))?;
        cx.data_init(this, stream)
    }
    /// Prepares an inflating stream.
    #[method("__inflate", private)]
    fn inflate(cx: &mut Cx, this: Value, bits: i64) -> Result<()> {
        let stream = open(cx, false, [0, number(bits), 0, 0])?;
        cx.data_init(this, stream)
    }
    /// Nothing more is done with it.
    #[method("__end", private)]
    fn end(cx: &mut Cx, this: Value) -> Result<()> {
        let s = cx.data_mut::<Stream>(this)?;
        let rest = Stream { z: empty(), deflates: s.deflates, finished: s.finished, used: s.used, settings: None, size: 0, failed: None };
        let ended = std::mem::replace(s, rest);
        cx.weigh_data(this);
        keep(cx, ended);
        Ok(())
    }
    /// Makes it a copy of another stream, in the middle of its work.
    #[method("__copy", private)]
    fn copy(cx: &mut Cx, this: Value, other: Value) -> Result<()> {
        let from = cx.data_mut::<Stream>(other)?;
        let mut z = empty();
        // The library copies streams with a place for output alone.
        from.z.next_out = std::ptr::NonNull::dangling().as_ptr();
        // SAFETY: a live stream of its kind, and one without state; no room is told of.
        let code = unsafe { if from.deflates { z::deflateCopy(&mut *z, &mut *from.z) } else { z::inflateCopy(&mut *z, &*from.z) } };
        from.z.next_out = std::ptr::null_mut();
        z.next_out = std::ptr::null_mut();
        let copy = Stream {
            z,
            deflates: from.deflates,
            finished: from.finished,
            used: from.used,
            settings: from.settings,
            size: from.size,
            failed: from.failed.clone(),
        };
        if code != z::Z_OK {
            return fail(cx, code, None);
        }
        cx.data_init(this, copy)
    }
    /// Works on `input` until it is used up, the stream ends or `room` bytes came out. `flush`: 0 none, 1 partly, 2 to a byte, 3 everything, 4 ends the stream.
    /// Returns the output, how many bytes of the input were used, and the library's code: 0, 1 at the end, 2 when it needs a dictionary. Failures raise, but
    /// those of data come back as text in the code's place: what was made until then counts.
    #[method("__step", private)]
    fn step(cx: &mut Cx, this: Value, input: Ref<StringCell>, flush: i64, room: i64) -> Result<Value> {
        let (flush, room) = (number(flush), room.max(1) as usize);
        // The program may change its String meanwhile.
        let input = Held::of(input);
        let out = StringCell::empty(&cx.heap, ids::STRING.0, string::BINARY);
        // For most texts that are short this is enough.
        let mut buffer = vec![0u8; (4 * input.len()).clamp(512, PORTION).min(room)];
        let (mut used, mut made) = (0, 0);
        let code = loop {
            if made >= buffer.len() && buffer.len() < PORTION {
                buffer.resize(PORTION.min(room), 0);
            }
            let now = buffer.len().min(room - made);
            if now == 0 {
                break z::Z_OK;
            }
            let s = cx.data_mut::<Stream>(this)?;
            if s.finished && !s.deflates {
                break z::Z_STREAM_END;
            }
            let (code, took, got) = s.put(&input[used..], &mut buffer[..now], flush);
            used += took;
            made += got;
            StringCell::append(out, &mut cx.heap, &buffer[..got]);
            match code {
                // No progress was possible: nothing was left to do, or there is more to come.
                z::Z_BUF_ERROR if took == 0 && got == 0 => break z::Z_BUF_ERROR,
                z::Z_OK | z::Z_BUF_ERROR => {
                    if used == input.len() && got < now {
                        break z::Z_OK;
                    }
                }
                code => break code,
            }
            cx.safepoint()?;
        };
        let told = match code {
            z::Z_DATA_ERROR => {
                let s = cx.data_mut::<Stream>(this)?;
                let message = s.failed.take().or_else(|| s.message()).unwrap_or_else(|| "data error".into());
                s.failed = Some(message.clone());
                cx.str(&message)
            }
            code @ 0..=2 | code @ z::Z_BUF_ERROR => Value::fixnum(code as i64),
            code => return fail(cx, code, None),
        };
        Ok(cx.array(&[out.as_value(), Value::fixnum(used as i64), told]))
    }
    /// Sets the dictionary, in the place where the stream takes one.
    #[method("__dictionary", private)]
    fn dictionary(cx: &mut Cx, this: Value, dictionary: Ref<StringCell>) -> Result<()> {
        let b = dictionary.to_vec();
        let s = cx.data_mut::<Stream>(this)?;
        let n = b.len().min(u32::MAX as usize) as u32;
        // SAFETY: a live stream of its kind; the bytes are copied in the call.
        let code = unsafe {
            if s.deflates { z::deflateSetDictionary(&mut *s.z, b.as_ptr(), n) } else { z::inflateSetDictionary(&mut *s.z, b.as_ptr(), n) }
        };
        if code != z::Z_OK {
            return fail(cx, code, None);
        }
        Ok(())
    }
    /// Level and strategy from here on; returns what that puts out.
    #[method("__params", private)]
    fn params(cx: &mut Cx, this: Value, level: i64, strategy: i64) -> Result<Value> {
        let (level, strategy) = (number(level), number(strategy));
        let out = StringCell::empty(&cx.heap, ids::STRING.0, string::BINARY);
        let mut buffer = vec![0u8; PORTION];
        loop {
            let s = cx.data_mut::<Stream>(this)?;
            if !s.deflates {
                return fail(cx, z::Z_STREAM_ERROR, None);
            }
            s.settings = None;
            (s.z.next_in, s.z.avail_in) = (std::ptr::null_mut(), 0);
            (s.z.next_out, s.z.avail_out) = (buffer.as_mut_ptr(), PORTION as u32);
            // SAFETY: a live stream with room for output and no input.
            let code = unsafe { z::deflateParams(&mut *s.z, level, strategy) };
            let got = PORTION - s.z.avail_out as usize;
            (s.z.next_out, s.z.avail_out) = (std::ptr::null_mut(), 0);
            StringCell::append(out, &mut cx.heap, &buffer[..got]);
            match code {
                z::Z_OK => return Ok(out.as_value()),
                z::Z_BUF_ERROR if got == PORTION => cx.safepoint()?,
                z::Z_BUF_ERROR => return Ok(out.as_value()),
                code => return fail(cx, code, None),
            }
        }
    }
    /// Makes it as it was at the beginning.
    #[method("__reset", private)]
    fn reset(cx: &mut Cx, this: Value) -> Result<()> {
        match cx.data_mut::<Stream>(this)?.reset() {
            Ok(()) => Ok(()),
            Err(code) => fail(cx, code, None),
        }
    }
    /// Looks for a place where inflating can go on: how many bytes were passed over, and whether there is one.
    #[method("__sync", private)]
    fn sync(cx: &mut Cx, this: Value, input: Ref<StringCell>) -> Result<Value> {
        let b = input.to_vec();
        let s = cx.data_mut::<Stream>(this)?;
        if s.deflates {
            return fail(cx, z::Z_STREAM_ERROR, None);
        }
        let left = b.len().min(1 << 30);
        (s.z.next_in, s.z.avail_in) = (b.as_ptr().cast_mut(), left as u32);
        // SAFETY: a live stream; as many bytes as it says.
        let code = unsafe { z::inflateSync(&mut *s.z) };
        let used = left - s.z.avail_in as usize;
        (s.z.next_in, s.z.avail_in) = (std::ptr::null_mut(), 0);
        match code {
            z::Z_OK | z::Z_DATA_ERROR | z::Z_BUF_ERROR => Ok(cx.array(&[Value::fixnum(used as i64), Value::bool(code == z::Z_OK)])),
            code => fail(cx, code, None),
        }
    }
    /// Something of a stream: :in, :out (bytes until here), :adler, :type, :finished, :used, :sync_point
    #[method("__get", private)]
    fn get(cx: &mut Cx, this: Value, what: Sym) -> Result<Value> {
        let s = cx.data_mut::<Stream>(this)?;
        let n = match &*what.name() {
            "in" => s.z.total_in as i64,
            "out" => s.z.total_out as i64,
            "adler" => s.z.adler as i64,
            "type" => s.z.data_type as i64,
            "finished" => return Ok(Value::bool(s.finished)),
            "used" => return Ok(Value::bool(s.used)),
            // SAFETY: a live stream of its kind.
            _ => return Ok(Value::bool(!s.deflates && unsafe { z::inflateSyncPoint(&mut *s.z) } == 1)),
        };
        Ok(cx.int(n))
    }
}

/// Bytes summed at a time; between portions the VM may be interrupted.
const SUMMED: usize = 1 << 20;

/// What is summed: `(text = nil, start = given)`.
enum Summed {
    Nothing(u32),
    Text(Ref<StringCell>, u32),
    /// A stream's sum, which Ruby has made.
    Done(Value),
}

fn sum_args(cx: &mut Cx, this: Value, name: &str, args: &[Value], start: u32) -> Result<Summed> {
    let start = match args.get(1) {
        Some(v) => cx.to_i64(*v)? as u32,
        None => start,
    };
    match args.first().copied().unwrap_or(Value::NIL) {
        Value::NIL => Ok(Summed::Nothing(start)),
        v if Ref::<StringCell>::from_value(v).is_some() => Ok(Summed::Text(cx.to_str(v)?, start)),
        v => {
            if cx.responds(v, Sym::intern("to_str"), true)? || !cx.responds(v, Sym::intern("read"), false)? {
                return Ok(Summed::Text(cx.to_str(v)?, start));
            }
            let all = [Value::sym(Sym::intern(name)), v, Value::fixnum(start as i64)];
            Ok(Summed::Done(cx.call(this, Sym::intern("__sum_of"), &all)?))
        }
    }
}

/// CRC-32 of bytes, going on from an earlier one.
fn crc_of(cx: &mut Cx, bytes: &[u8], start: u32) -> Result<u32> {
    let mut sum = start as u64;
    for (at, part) in bytes.chunks(SUMMED).enumerate() {
        if at > 0 {
            cx.safepoint()?;
        }
        // SAFETY: as many bytes as it says.
        sum = unsafe { z::crc32(sum, part.as_ptr(), part.len() as u32) };
    }
    Ok(sum as u32)
}

/// Deflates a text behind what `out` holds.
fn deflate_whole(cx: &mut Cx, text: &[u8], [level, bits, strategy]: [i64; 3], out: Ref<StringCell>) -> Result<()> {
    let mut stream = open(cx, true, [number(level), number(bits), MEMORY, number(strategy)])?;
    if stream.whole(cx, text, out)?.is_none() {
        return fail(cx, z::Z_STREAM_ERROR, None);
    }
    keep(cx, stream);
    Ok(())
}

/// What a stream at the begin of `packed` holds, and how many bytes it takes; nothing if it is broken or cut off.
fn inflate_whole(cx: &mut Cx, packed: &[u8], bits: i64) -> Result<Option<(Ref<StringCell>, usize)>> {
    let mut stream = open(cx, false, [0, number(bits), 0, 0])?;
    let out = StringCell::empty(&cx.heap, ids::STRING.0, string::BINARY);
    let used = stream.whole(cx, packed, out)?;
    keep(cx, stream);
    Ok(used.map(|used| (out, used)))
}

/// Where the packed data begins in a gzip file.
fn behind_header(file: &[u8]) -> Option<usize> {
    let &[0x1f, 0x8b, 8, flags, ..] = file else { return None };
    // Parts, a key, and what nobody knows.
    if flags & 0xe2 != 0 {
        return None;
    }
    let text = |at: usize| Some(at + file.get(at..)?.iter().position(|b| *b == 0)? + 1);
    let mut at = 10;
    if flags & 4 != 0 {
        at += 2 + u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?) as usize;
    }
    if flags & 8 != 0 {
        at = text(at)?;
    }
    if flags & 16 != 0 {
        at = text(at)?;
    }
    (at <= file.len()).then_some(at)
}

/// `DEF_MEM_LEVEL`
const MEMORY: c_int = 8;

/// Methods of `Zlib`.
#[ruby_class(ids::OBJECT)]
mod module {
    use super::*;

    /// `Deflate.deflate` without a block.
    #[method("__deflated", singleton)]
    fn deflated(cx: &mut Cx, _this: Value, text: Value, level: Option<Value>) -> Result<Value> {
        let level = setting(cx, level, z::Z_DEFAULT_COMPRESSION)?;
        let text = Held::of(cx.to_str(text)?);
        let out = StringCell::empty(&cx.heap, ids::STRING.0, string::BINARY);
        deflate_whole(cx, &text, [level, 15, 0], out)?;
        Ok(out.as_value())
    }
    /// What a zlib stream holds; nil if it is not that stream from begin to end.
    #[method("__inflated", singleton)]
    fn inflated(cx: &mut Cx, _this: Value, text: Value) -> Result<Option<Value>> {
        let packed = Held::of(cx.to_str(text)?);
        let made = inflate_whole(cx, &packed, 15)?;
        Ok(made.filter(|(_, used)| *used == packed.len()).map(|(out, _)| out.as_value()))
    }
    /// `Zlib.gzip`
    #[method("__gzipped", singleton)]
    fn gzipped(cx: &mut Cx, _this: Value, text: Value, level: Value, strategy: Value) -> Result<Value> {
        let text = Held::of(cx.to_str(text)?);
        let (level, strategy) = (setting(cx, Some(level), z::Z_DEFAULT_COMPRESSION)?, setting(cx, Some(strategy), z::Z_DEFAULT_STRATEGY)?);
        let out = StringCell::empty(&cx.heap, ids::STRING.0, string::BINARY);
        let speed = match level {
            9 => 2,
            1 => 4,
            _ => 0,
        };
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs() as u32);
        let [a, b, c, d] = now.to_le_bytes();
        // The last one: written on a Unix.
        StringCell::append(out, &mut cx.heap, &[0x1f, 0x8b, 8, 0, a, b, c, d, speed, 3]);
        deflate_whole(cx, &text, [level, -15, strategy], out)?;
        let crc = crc_of(cx, &text, 0)?;
        StringCell::append(out, &mut cx.heap, &crc.to_le_bytes());
        StringCell::append(out, &mut cx.heap, &(text.len() as u32).to_le_bytes());
        Ok(out.as_value())
    }
    /// What a gzip file holds; nil if anything is wrong with it.
    #[method("__gunzipped", singleton)]
    fn gunzipped(cx: &mut Cx, _this: Value, text: Value) -> Result<Option<Value>> {
        let file = Held::of(cx.to_str(text)?);
        let Some(at) = behind_header(&file) else { return Ok(None) };
        let Some((out, used)) = inflate_whole(cx, &file[at..], -15)? else { return Ok(None) };
        let content = Held::of(out);
        let sums = [crc_of(cx, &content, 0)?, content.len() as u32];
        let foot = file[at + used..].first_chunk::<8>().map(|f| [0, 4].map(|i| u32::from_le_bytes([f[i], f[i + 1], f[i + 2], f[i + 3]])));
        Ok((foot == Some(sums)).then_some(out.as_value()))
    }
    /// A level or strategy that was given, nil for the usual one.
    fn setting(cx: &mut Cx, given: Option<Value>, usual: c_int) -> Result<i64> {
        match given.filter(|v| !v.is_nil()) {
            Some(v) => cx.to_i64(v),
            None => Ok(usual as i64),
        }
    }

    /// CRC-32 checksum, going on from an earlier one.
    ///
    ///     Zlib.crc32("abc")   #=> 891568578
    #[method("crc32", singleton, min = 0, max = 2)]
    fn crc32(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let (text, start) = match sum_args(cx, this, "crc32", args.all(), 0)? {
            Summed::Nothing(start) => return Ok(Value::fixnum(start as i64)),
            Summed::Done(sum) => return Ok(sum),
            Summed::Text(text, start) => (text, start),
        };
        Ok(Value::fixnum(crc_of(cx, &Held::of(text), start)? as i64))
    }
    /// Adler-32 checksum, going on from an earlier one.
    ///
    ///     Zlib.adler32("abc")   #=> 38600999
    #[method("adler32", singleton, min = 0, max = 2)]
    fn adler32(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let (text, start) = match sum_args(cx, this, "adler32", args.all(), 1)? {
            Summed::Nothing(start) => return Ok(Value::fixnum(start as i64)),
            Summed::Done(sum) => return Ok(sum),
            Summed::Text(text, start) => (text, start),
        };
        let mut sum = start as u64;
        for (at, part) in Held::of(text).chunks(SUMMED).enumerate() {
            if at > 0 {
                cx.safepoint()?;
            }
            // SAFETY: as many bytes as it says.
            sum = unsafe { z::adler32(sum, part.as_ptr(), part.len() as u32) };
        }
        Ok(Value::fixnum(sum as i64))
    }
    /// The table of CRC-32.
    #[method("crc_table", singleton)]
    fn crc_table(cx: &Cx, _this: Value) -> Value {
        let table = z::get_crc_table();
        // SAFETY: the library's constant table of 256 entries.
        cx.array_of((0..256usize).map(|i| Value::fixnum(unsafe { (*table)[i] } as i64)))
    }
    /// CRC-32 of two texts one after the other, from those of both and the second one's length.
    ///
    ///     Zlib.crc32_combine(Zlib.crc32("ab"), Zlib.crc32("c"), 1) == Zlib.crc32("abc")   #=> true
    #[method("crc32_combine", singleton)]
    fn crc32_combine(_this: Value, a: i64, b: i64, length: i64) -> i64 {
        z::crc32_combine(a as u32 as u64, b as u32 as u64, length.max(0) as _) as i64
    }
    /// Adler-32 of two texts one after the other.
    ///
    ///     Zlib.adler32_combine(Zlib.adler32("ab"), Zlib.adler32("c"), 1) == Zlib.adler32("abc")   #=> true
    #[method("adler32_combine", singleton)]
    fn adler32_combine(_this: Value, a: i64, b: i64, length: i64) -> i64 {
        z::adler32_combine(a as u32 as u64, b as u32 as u64, length.max(0) as _) as i64
    }
}

pub static DOCUMENTED: &[MethodRow] = module::METHODS;

/// `require "zlib"`
pub fn load(cx: &mut Cx) -> Result<()> {
    crate::check_constant(cx, "Zlib", None)?;
    let zlib = cx.define_module(ids::OBJECT, "Zlib");
    let class = cx.define_class(zlib, "ZStream", ids::OBJECT);
    cx.class_mut(class).alloc = Alloc::Data;
    cx.define_natives(class, &[stream::METHODS]);
    cx.define_natives(zlib, &[module::METHODS]);
    cx.run_builtin("zlib")?;
    cx.run_builtin("zlib/gzip")
}
