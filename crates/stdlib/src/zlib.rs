//! zlib: compressed streams over flate2 (miniz_oxide). Checksums and streams are native; gzip files, and what is made of streams, are Ruby (`ruby/zlib.rb`).
//!
//! A stream in the middle of its work can't be sent to another VM or forked: its tables are the library's own.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

enum Work {
    Deflate(Box<Compress>),
    Inflate(Box<Decompress>),
}

/// Payload of a Zlib::ZStream.
#[derive(Trace)]
struct Stream {
    #[untraced]
    work: Work,
    /// Of an inflating stream: whether its first bytes were a zlib header.
    checked: bool,
    zlib: bool,
    finished: bool,
}
impl NativeData for Stream {
    fn weight(&self) -> usize {
        256 << 10
    }
}

/// Output made at a time; between portions the VM may be interrupted.
const PORTION: usize = 64 << 10;

#[ruby_class(ids::OBJECT)]
mod stream {
    use super::*;

    /// Prepares a deflating stream: level, and whether it gets zlib's header and checksum.
    #[method("__deflate", private)]
    fn deflate(cx: &mut Cx, this: Value, level: i64, zlib: bool) -> Result<()> {
        let level = if level < 0 { Compression::default() } else { Compression::new(level.min(9) as u32) };
        let work = Work::Deflate(Box::new(Compress::new(level, zlib)));
        cx.data_init(this, Stream { work, checked: true, zlib, finished: false })
    }
    /// Prepares an inflating stream.
    #[method("__inflate", private)]
    fn inflate(cx: &mut Cx, this: Value, zlib: bool) -> Result<()> {
        let work = Work::Inflate(Box::new(Decompress::new(zlib)));
        cx.data_init(this, Stream { work, checked: false, zlib, finished: false })
    }
    /// Works on `input`; returns the output and how many bytes of the input were used. `flush`: 0 none, 2 to a byte, 3 everything, 4 ends the stream.
    #[method("__run", private)]
    fn run(cx: &mut Cx, this: Value, input: Ref<StringCell>, flush: i64) -> Result<Value> {
        // The program may change its String meanwhile.
        let input = Held::of(input);
        let out = StringCell::empty(&cx.heap, ids::STRING.0, string::BINARY);
        let mut buffer = vec![0; PORTION];
        let mut used = 0;
        loop {
            let s = cx.data_mut::<Stream>(this)?;
            if s.finished {
                break;
            }
            let src = &input[used..];
            let (was_in, was_out, now_in, now_out, status);
            match &mut s.work {
                Work::Deflate(c) => {
                    let how = match flush {
                        0 => FlushCompress::None,
                        1 => FlushCompress::Partial,
                        2 => FlushCompress::Sync,
                        3 => FlushCompress::Full,
                        _ => FlushCompress::Finish,
                    };
                    (was_in, was_out) = (c.total_in(), c.total_out());
                    status = c.compress(src, &mut buffer, how).map_err(|e| e.to_string());
                    (now_in, now_out) = (c.total_in(), c.total_out());
                }
                Work::Inflate(d) => {
                    if s.zlib && !s.checked && src.len() >= 2 && d.total_in() == 0 {
                        s.checked = true;
                        if !(src[0] as u32 * 256 + src[1] as u32).is_multiple_of(31) || src[0] & 15 != 8 {
                            return crate::raise_named(cx, "Zlib::DataError", "incorrect header check");
                        }
                        if src[1] & 32 != 0 {
                            return crate::raise_named(cx, "Zlib::NeedDict", "need dictionary");
                        }
                    }
                    (was_in, was_out) = (d.total_in(), d.total_out());
                    status = d.decompress(src, &mut buffer, FlushDecompress::None).map_err(|e| e.to_string());
                    (now_in, now_out) = (d.total_in(), d.total_out());
                }
            }
            let (took, made) = ((now_in - was_in) as usize, (now_out - was_out) as usize);
            used += took;
            StringCell::append(out, &mut cx.heap, &buffer[..made]);
            match status {
                Ok(Status::StreamEnd) => {
                    cx.data_mut::<Stream>(this)?.finished = true;
                    break;
                }
                Ok(_) if made == buffer.len() || took > 0 && used < input.len() => {}
                Ok(_) => break,
                Err(_) => {
                    let checksum = used + 4 >= input.len() && matches!(cx.data_ref::<Stream>(this)?.work, Work::Inflate(_));
                    return crate::raise_named(
                        cx,
                        "Zlib::DataError",
                        if checksum { "incorrect data check" } else { "invalid stored block lengths" },
                    );
                }
            }
            cx.safepoint()?;
        }
        let n = Value::fixnum(used as i64);
        Ok(cx.array(&[out.as_value(), n]))
    }
    /// Whether the end of the stream was reached.
    #[method("finished?", "stream_end?")]
    fn finished(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.data_ref::<Stream>(this)?.finished)
    }
    /// Bytes that went in.
    #[method("total_in")]
    fn total_in(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(match &cx.data_ref::<Stream>(this)?.work {
            Work::Deflate(c) => c.total_in() as i64,
            Work::Inflate(d) => d.total_in() as i64,
        })
    }
    /// Bytes that came out.
    #[method("total_out")]
    fn total_out(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(match &cx.data_ref::<Stream>(this)?.work {
            Work::Deflate(c) => c.total_out() as i64,
            Work::Inflate(d) => d.total_out() as i64,
        })
    }
}

/// CRC-32 (polynomial 0xedb88320, reflected), by byte.
static CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut c = i as u32;
        let mut k = 0;
        while k < 8 {
            c = if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 };
            k += 1;
        }
        table[i] = c;
        i += 1;
    }
    table
};

fn adler(mut sum: u32, b: &[u8]) -> u32 {
    const BASE: u32 = 65521;
    let (mut low, mut high) = (sum & 0xffff, sum >> 16);
    // 5552 bytes can't overflow the sums.
    for part in b.chunks(5552) {
        for x in part {
            low += *x as u32;
            high += low;
        }
        low %= BASE;
        high %= BASE;
    }
    sum = high << 16 | low;
    sum
}

/// `(text = nil, start = given)` of a checksum.
fn sum_args(cx: &mut Cx, args: &[Value], start: u32) -> Result<(Option<Ref<StringCell>>, u32)> {
    let start = match args.get(1) {
        Some(v) => cx.to_i64(*v)? as u32,
        None => start,
    };
    match args.first().copied().unwrap_or(Value::NIL) {
        Value::NIL => Ok((None, start)),
        v => Ok((Some(cx.to_str(v)?), start)),
    }
}

#[ruby_class(ids::OBJECT)]
mod module {
    use super::*;

    /// CRC-32 checksum, going on from an earlier one.
    ///
    ///     Zlib.crc32("abc")   #=> 891568578
    #[method("crc32", singleton, min = 0, max = 2)]
    fn crc32(cx: &mut Cx, _this: Value, args: Args) -> Result<i64> {
        let (text, start) = sum_args(cx, args.all(), 0)?;
        let Some(text) = text else { return Ok(start as i64) };
        let mut c = !start;
        for (at, part) in Held::of(text).chunks(PORTION).enumerate() {
            if at > 0 {
                cx.safepoint()?;
            }
            c = part.iter().fold(c, |c, b| CRC[(c as u8 ^ b) as usize] ^ c >> 8);
        }
        Ok(!c as i64)
    }
    /// Adler-32 checksum, going on from an earlier one.
    ///
    ///     Zlib.adler32("abc")   #=> 38600999
    #[method("adler32", singleton, min = 0, max = 2)]
    fn adler32(cx: &mut Cx, _this: Value, args: Args) -> Result<i64> {
        let (text, start) = sum_args(cx, args.all(), 1)?;
        let Some(text) = text else { return Ok(start as i64) };
        let mut sum = start;
        for (at, part) in Held::of(text).chunks(PORTION).enumerate() {
            if at > 0 {
                cx.safepoint()?;
            }
            sum = adler(sum, part);
        }
        Ok(sum as i64)
    }
    /// The table of CRC-32.
    #[method("crc_table", singleton)]
    fn crc_table(cx: &Cx, _this: Value) -> Value {
        cx.array_of(CRC.iter().map(|c| Value::fixnum(*c as i64)))
    }
}

pub static DOCUMENTED: &[MethodRow] = module::METHODS;

/// `require "zlib"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let zlib = cx.define_module(ids::OBJECT, "Zlib");
    let class = cx.define_class(zlib, "ZStream", ids::OBJECT);
    cx.class_mut(class).alloc = Alloc::Data;
    crate::define(cx, class, &[stream::METHODS]);
    crate::define(cx, zlib, &[module::METHODS]);
    cx.run_builtin("zlib")
}
