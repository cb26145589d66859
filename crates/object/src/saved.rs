//! Payloads and libraries' states as bytes, for images in files.
//!
//! What makes a payload anew in a spawned VM ([`Blueprint`]) may also be written to a file: as bytes, beside the values that it holds. A [`Loader`] of the same name reads them. Loaders
//! are found through a section of the binary, into which [`saved_loader!`](crate::saved_loader) puts them, so that nothing is registered at run time.

use crate::data::NativeData;
use crate::value::Value;
use num_bigint::{BigInt, Sign};
use std::any::Any;
use std::sync::Arc;

/// Makes a payload in a spawned VM.
pub trait Blueprint: Send + Sync {
    /// Gets the VM and the values that the payload holds. None: the object has no payload there.
    fn make(&self, vm: &mut dyn Any, values: &[Value]) -> Option<Box<dyn NativeData>>;
    /// Writes what `make` needs beside the values; gives the name of the loader. None: it only means something in this process.
    fn save(&self, _out: &mut Saved) -> Option<&'static str> {
        None
    }
}

/// See [`Blueprint`].
pub type Rebuild = Arc<dyn Blueprint>;

struct Made<F>(F);
impl<F: Fn(&mut dyn Any, &[Value]) -> Option<Box<dyn NativeData>> + Send + Sync> Blueprint for Made<F> {
    fn make(&self, vm: &mut dyn Any, values: &[Value]) -> Option<Box<dyn NativeData>> {
        (self.0)(vm, values)
    }
}
/// A blueprint that is not written to files.
pub fn rebuild(f: impl Fn(&mut dyn Any, &[Value]) -> Option<Box<dyn NativeData>> + Send + Sync + 'static) -> Rebuild {
    Arc::new(Made(f))
}

struct Savable<F, S>(F, S);
impl<F, S> Blueprint for Savable<F, S>
where
    F: Fn(&mut dyn Any, &[Value]) -> Option<Box<dyn NativeData>> + Send + Sync,
    S: Fn(&mut Saved) -> Option<&'static str> + Send + Sync,
{
    fn make(&self, vm: &mut dyn Any, values: &[Value]) -> Option<Box<dyn NativeData>> {
        (self.0)(vm, values)
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        (self.1)(out)
    }
}
/// A blueprint that `save` writes.
pub fn savable(
    make: impl Fn(&mut dyn Any, &[Value]) -> Option<Box<dyn NativeData>> + Send + Sync + 'static,
    save: impl Fn(&mut Saved) -> Option<&'static str> + Send + Sync + 'static,
) -> Rebuild {
    Arc::new(Savable(make, save))
}

/// What a payload or state is written as. Numbers are LEB128.
#[derive(Default)]
pub struct Saved {
    pub bytes: Vec<u8>,
    /// What the file has once, whoever refers to it: Codes.
    pub shared: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Saved {
    pub fn number(&mut self, mut n: u64) -> &mut Saved {
        while n >= 0x80 {
            self.bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.bytes.push(n as u8);
        self
    }
    pub fn signed(&mut self, n: i64) -> &mut Saved {
        self.number((n << 1 ^ n >> 63) as u64)
    }
    pub fn flag(&mut self, b: bool) -> &mut Saved {
        self.bytes.push(b.into());
        self
    }
    /// 0 for none.
    pub fn option(&mut self, n: Option<u64>) -> &mut Saved {
        match n {
            Some(n) => self.flag(true).number(n),
            None => self.flag(false),
        }
    }
    pub fn blob(&mut self, b: &[u8]) -> &mut Saved {
        self.number(b.len() as u64);
        self.bytes.extend(b);
        self
    }
    pub fn float(&mut self, f: f64) -> &mut Saved {
        self.bytes.extend(f.to_bits().to_le_bytes());
        self
    }
    pub fn big(&mut self, n: &BigInt) -> &mut Saved {
        self.flag(n.sign() == Sign::Minus).blob(&n.magnitude().to_bytes_le())
    }
}

/// Reads what [`Saved`] wrote, or anything else: None where it makes no sense.
pub struct SavedReader<'a> {
    pub rest: &'a [u8],
    pub shared: &'a [Arc<dyn Any + Send + Sync>],
    /// How many values come with it.
    pub values: usize,
}

impl<'a> SavedReader<'a> {
    pub fn byte(&mut self) -> Option<u8> {
        let (b, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*b)
    }
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let b = self.byte()?;
            n |= u64::from(b & 0x7f) << shift;
            if b < 0x80 {
                return Some(n);
            }
        }
        None
    }
    pub fn narrow<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }
    pub fn signed(&mut self) -> Option<i64> {
        let n = self.number()?;
        Some((n >> 1) as i64 ^ -((n & 1) as i64))
    }
    pub fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
    pub fn option(&mut self) -> Option<Option<u64>> {
        Some(if self.flag()? { Some(self.number()?) } else { None })
    }
    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(taken)
    }
    pub fn blob(&mut self) -> Option<&'a [u8]> {
        let n = self.narrow()?;
        self.take(n)
    }
    pub fn float(&mut self) -> Option<f64> {
        Some(f64::from_bits(u64::from_le_bytes(self.take(8)?.try_into().ok()?)))
    }
    pub fn big(&mut self) -> Option<BigInt> {
        let sign = if self.flag()? { Sign::Minus } else { Sign::Plus };
        Some(BigInt::from_bytes_le(sign, self.blob()?))
    }
    /// Whether all was read, and so many values are there.
    pub fn ends(&self, values: usize) -> Option<()> {
        (self.rest.is_empty() && self.values == values).then_some(())
    }
}

/// Reads payloads of one kind.
pub struct Loader {
    pub name: &'static str,
    pub load: fn(&mut SavedReader) -> Option<Rebuild>,
}

/// Makes a loader known: `saved_loader!("Name", function)`, at module level.
#[macro_export]
macro_rules! saved_loader {
    ($name:literal, $load:expr) => {
        const _: () = {
            #[used]
            #[unsafe(link_section = "zakuro_loaders")]
            static LOADER: &$crate::saved::Loader = &$crate::saved::Loader { name: $name, load: $load };
        };
    };
}

// The section is there in every binary.
saved_loader!("nothing", |_| None);

unsafe extern "Rust" {
    #[link_name = "__start_zakuro_loaders"]
    static FIRST: &'static Loader;
    #[link_name = "__stop_zakuro_loaders"]
    static END: &'static Loader;
}

/// Every loader of the binary.
pub fn loaders() -> &'static [&'static Loader] {
    // SAFETY: the linker puts these names at both ends of the section, which has nothing but references to Loaders side by side.
    unsafe {
        let (first, end) = (&raw const FIRST, &raw const END);
        std::slice::from_raw_parts(first, end.offset_from(first) as usize)
    }
}

unsafe extern "C" {
    #[link_name = "__executable_start"]
    static START: u8;
    #[link_name = "etext"]
    static TEXT_END: u8;
}

/// A function's place in the binary, as a number that another process of the same binary knows.
pub fn place_of_function(address: usize) -> Option<u64> {
    let (start, end) = (&raw const START as usize, &raw const TEXT_END as usize);
    (start..end).contains(&address).then(|| (address - start) as u64)
}
/// The address of such a place: somewhere in the binary's instructions, whatever the number.
pub fn function_at(place: u64) -> Option<usize> {
    let address = (&raw const START as usize).checked_add(usize::try_from(place).ok()?)?;
    place_of_function(address).map(|_| address)
}
