//! digest: MD5, SHA-1, SHA-2, RIPEMD-160 (RustCrypto) and CRC-32 (crc32fast), behind `Digest::Base`. The rest of the interface is Ruby (`ruby/digest.rb`).

use digest_impl::Digest;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// A hash in the making.
#[derive(Trace, Clone)]
pub(crate) enum Hasher {
    Md5(#[untraced] md5::Md5),
    Sha1(#[untraced] sha1::Sha1),
    Sha224(#[untraced] sha2::Sha224),
    Sha256(#[untraced] sha2::Sha256),
    Sha384(#[untraced] sha2::Sha384),
    Sha512(#[untraced] sha2::Sha512),
    Rmd160(#[untraced] ripemd::Ripemd160),
    Crc32(#[untraced] crc32fast::Hasher),
}

impl NativeData for Hasher {
    fn refers(&self) -> bool {
        false
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(self.clone()))
    }
}

macro_rules! each {
    ($this:expr, $h:ident => $e:expr, $c:ident => $of_crc:expr) => {
        match $this {
            Hasher::Md5($h) => $e,
            Hasher::Sha1($h) => $e,
            Hasher::Sha224($h) => $e,
            Hasher::Sha256($h) => $e,
            Hasher::Sha384($h) => $e,
            Hasher::Sha512($h) => $e,
            Hasher::Rmd160($h) => $e,
            Hasher::Crc32($c) => $of_crc,
        }
    };
}

impl Hasher {
    pub(crate) fn named(name: &str) -> Option<Hasher> {
        Some(match name {
            "Digest::MD5" => Hasher::Md5(Digest::new()),
            "Digest::SHA1" => Hasher::Sha1(Digest::new()),
            "Digest::SHA224" => Hasher::Sha224(Digest::new()),
            "Digest::SHA256" => Hasher::Sha256(Digest::new()),
            "Digest::SHA384" => Hasher::Sha384(Digest::new()),
            "Digest::SHA512" => Hasher::Sha512(Digest::new()),
            "Digest::RMD160" => Hasher::Rmd160(Digest::new()),
            "Digest::CRC32" => Hasher::Crc32(crc32fast::Hasher::new()),
            _ => return None,
        })
    }
    pub(crate) fn update(&mut self, b: &[u8]) {
        each!(self, h => Digest::update(h, b), c => c.update(b))
    }
    pub(crate) fn finish(self) -> Vec<u8> {
        each!(self, h => h.finalize().to_vec(), c => c.finalize().to_be_bytes().to_vec())
    }
    pub(crate) fn block(&self) -> i64 {
        match self {
            Hasher::Crc32(_) => 8,
            Hasher::Sha384(_) | Hasher::Sha512(_) => 128,
            _ => 64,
        }
    }
    fn size(&self) -> i64 {
        match self {
            Hasher::Crc32(_) => 4,
            Hasher::Md5(_) => 16,
            Hasher::Sha1(_) | Hasher::Rmd160(_) => 20,
            Hasher::Sha224(_) => 28,
            Hasher::Sha256(_) => 32,
            Hasher::Sha384(_) => 48,
            Hasher::Sha512(_) => 64,
        }
    }
}

/// A fresh hash of a class: of the first of its ancestors that names one.
fn fresh(cx: &mut Cx, class: ClassId) -> Result<Hasher> {
    if let Some(h) = cx.class(class).name.and_then(|n| Hasher::named(&n.name())) {
        return Ok(h);
    }
    for c in cx.ancestor_list(class) {
        if let Some(h) = cx.class(c).name.and_then(|n| Hasher::named(&n.name())) {
            return Ok(h);
        }
    }
    let name = cx.class_name(class);
    cx.raise(ids::NOT_IMPLEMENTED_ERROR, format!("{name} is an abstract class"))
}

/// The hash of an object, made on first use.
fn hasher(cx: &mut Cx, this: Value) -> Result<&mut Hasher> {
    if !cx.is_data::<Hasher>(this) {
        let class = cx.class_of(this);
        let h = fresh(cx, class)?;
        cx.data_init(this, h)?;
    }
    cx.data_mut::<Hasher>(this)
}

/// More at once is hashed in portions, between which the VM may be interrupted.
const PORTION: usize = 1 << 20;

/// Adds a whole String to a hash that nobody else sees.
fn update_long(cx: &mut Cx, h: &mut Hasher, s: Ref<StringCell>) -> Result<()> {
    for (at, part) in Held::of(s).chunks(PORTION).enumerate() {
        if at > 0 {
            cx.safepoint()?;
        }
        h.update(part);
    }
    Ok(())
}

/// Methods of `Digest::Base`.
#[ruby_class(ids::OBJECT)]
mod base {
    use super::*;

    /// Adds text.
    ///
    ///     (Digest::MD5.new << "a" << "b").hexdigest   #=> "187ef4436122d1cc2f40dc2b92f0eba0"
    #[method("update", "<<")]
    fn update(cx: &mut Cx, this: Value, s: Ref<StringCell>) -> Result<Value> {
        cx.check_frozen(this)?;
        hasher(cx, this)?;
        for (at, part) in Held::of(s).chunks(PORTION).enumerate() {
            if at > 0 {
                cx.safepoint()?;
            }
            hasher(cx, this)?.update(part);
        }
        Ok(this)
    }
    /// Starts anew.
    #[method("reset")]
    fn reset(cx: &mut Cx, this: Value) -> Result<Value> {
        let class = cx.class_of(this);
        let h = fresh(cx, class)?;
        cx.data_init(this, h)?;
        Ok(this)
    }
    #[method("finish", private)]
    fn finish(cx: &mut Cx, this: Value) -> Result<Value> {
        let b = hasher(cx, this)?.clone().finish();
        Ok(cx.str_bytes(&b, string::BINARY))
    }
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        if cx.class_of(this) != cx.class_of(other) {
            return cx.type_error("initialize_copy should take same class object");
        }
        let h = hasher(cx, other)?.clone();
        cx.data_init(this, h)?;
        Ok(this)
    }
    /// Bytes of the result.
    ///
    ///     Digest::SHA256.new.digest_length   #=> 32
    #[method("digest_length")]
    fn digest_length(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(hasher(cx, this)?.size())
    }
    /// Bytes that are hashed at a time.
    #[method("block_length")]
    fn block_length(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(hasher(cx, this)?.block())
    }
    /// The hash of a String, in bytes.
    #[method("digest", singleton)]
    fn digest(cx: &mut Cx, this: ClassId, s: Ref<StringCell>) -> Result<Value> {
        let mut h = fresh(cx, this)?;
        update_long(cx, &mut h, s)?;
        Ok(cx.str_bytes(&h.finish(), string::BINARY))
    }
    /// The hash of a String, in hexadecimal digits.
    ///
    ///     Digest::SHA1.hexdigest("abc")   #=> "a9993e364706816aba3e25717850c26c9cd0d89d"
    #[method("hexdigest", singleton)]
    fn hexdigest(cx: &mut Cx, this: ClassId, s: Ref<StringCell>) -> Result<Value> {
        let mut h = fresh(cx, this)?;
        update_long(cx, &mut h, s)?;
        let hex = hex(&h.finish());
        Ok(cx.str_bytes(&hex, string::US_ASCII))
    }
}

fn hex(b: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    b.iter().flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]]).collect()
}

pub static DOCUMENTED: &[MethodRow] = base::METHODS;

/// `require "digest"`
pub fn load(cx: &mut Cx) -> Result<()> {
    if cx.const_by_path("Digest::Base").is_some() {
        return Ok(());
    }
    cx.run_builtin("digest")?;
    let class = cx.class_named("Digest::Base")?;
    cx.define_natives(class, &[base::METHODS]);
    cx.class_mut(class).alloc = Alloc::Data;
    let module = cx.class_named("Digest")?;
    for name in ["MD5", "SHA1", "SHA256", "SHA384", "SHA512", "RMD160", "CRC32"] {
        cx.define_class(module, name, class);
    }
    Ok(())
}
