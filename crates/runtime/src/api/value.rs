//! Values that belong to no VM, and the traits that convert Rust's types to and from them.
//!
//! A [`Value`] is a tree: sharing and identity are lost on the way out of a VM, and an object of a class that Rust has no type for comes as
//! [`Value::Object`], its class and its `inspect`. Integers are exact, Strings that are not text are bytes.

use super::channel::Channel;
use super::error::Error;
use num_bigint::BigInt;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// A Ruby value outside every VM.
#[derive(Clone, Debug)]
pub enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    /// Beyond 64 bits.
    BigInt(BigInt),
    Float(f64),
    /// A String that is valid UTF-8.
    Str(String),
    /// A binary String, or one that is no valid UTF-8.
    Bytes(Vec<u8>),
    Symbol(String),
    Array(Vec<Value>),
    /// A Hash, in its order.
    Map(Vec<(Value, Value)>),
    Channel(Channel),
    /// What Rust has no type for: only read, never sent.
    Object {
        class: String,
        /// What `inspect` says.
        text: String,
    },
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Nil, Value::Nil) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::BigInt(a), Value::BigInt(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Str(a), Value::Str(b)) | (Value::Symbol(a), Value::Symbol(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => a == b,
            (Value::Map(a), Value::Map(b)) => a == b,
            (Value::Channel(a), Value::Channel(b)) => a == b,
            (Value::Object { class: a, text: x }, Value::Object { class: b, text: y }) => a == b && x == y,
            _ => false,
        }
    }
}

impl Value {
    /// The name of the Ruby class, for messages.
    pub fn class(&self) -> &str {
        match self {
            Value::Nil => "NilClass",
            Value::Bool(true) => "TrueClass",
            Value::Bool(false) => "FalseClass",
            Value::Int(_) | Value::BigInt(_) => "Integer",
            Value::Float(_) => "Float",
            Value::Str(_) | Value::Bytes(_) => "String",
            Value::Symbol(_) => "Symbol",
            Value::Array(_) => "Array",
            Value::Map(_) => "Hash",
            Value::Channel(_) => "RubyVM::Channel",
            Value::Object { class, .. } => class,
        }
    }
    /// The value under a String or Symbol key of a Hash.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let Value::Map(pairs) = self else { return None };
        pairs.iter().find(|(k, _)| matches!(k, Value::Str(s) | Value::Symbol(s) if s == key)).map(|(_, v)| v)
    }
    fn mismatch<T>(&self, wanted: &str) -> Result<T, Error> {
        Err(Error::Convert(format!("expected {wanted}, got {}", self.class())))
    }
}

/// What can be given to Ruby.
pub trait IntoRuby {
    fn into_ruby(self) -> Value;
}

/// What a Ruby value can become.
pub trait FromRuby: Sized {
    /// [`Error::Convert`] when the value is of another kind.
    fn from_ruby(value: Value) -> Result<Self, Error>;
}

impl IntoRuby for Value {
    fn into_ruby(self) -> Value {
        self
    }
}
impl FromRuby for Value {
    fn from_ruby(value: Value) -> Result<Value, Error> {
        Ok(value)
    }
}

impl IntoRuby for () {
    fn into_ruby(self) -> Value {
        Value::Nil
    }
}
/// Anything becomes `()`: for calls whose result nobody wants.
impl FromRuby for () {
    fn from_ruby(_value: Value) -> Result<(), Error> {
        Ok(())
    }
}

impl IntoRuby for bool {
    fn into_ruby(self) -> Value {
        Value::Bool(self)
    }
}
impl FromRuby for bool {
    fn from_ruby(value: Value) -> Result<bool, Error> {
        match value {
            Value::Bool(b) => Ok(b),
            other => other.mismatch("true or false"),
        }
    }
}

macro_rules! integers {
    ($($t:ty),*) => { $(
        impl IntoRuby for $t {
            fn into_ruby(self) -> Value {
                match i64::try_from(self) {
                    Ok(n) => Value::Int(n),
                    Err(_) => Value::BigInt(BigInt::from(self)),
                }
            }
        }
        impl FromRuby for $t {
            fn from_ruby(value: Value) -> Result<$t, Error> {
                let number = match &value {
                    Value::Int(n) => <$t>::try_from(*n).ok(),
                    Value::BigInt(n) => <$t>::try_from(n).ok(),
                    other => return other.mismatch(concat!("an Integer (", stringify!($t), ")")),
                };
                number.ok_or_else(|| Error::Convert(format!("{value:?} does not fit into {}", stringify!($t))))
            }
        }
    )* };
}
// Not u8: a Vec<u8> is a String of bytes.
integers!(i8, i16, i32, i64, i128, isize, u16, u32, u64, u128, usize);

impl IntoRuby for BigInt {
    fn into_ruby(self) -> Value {
        match i64::try_from(&self) {
            Ok(n) => Value::Int(n),
            Err(_) => Value::BigInt(self),
        }
    }
}
impl FromRuby for BigInt {
    fn from_ruby(value: Value) -> Result<BigInt, Error> {
        match value {
            Value::Int(n) => Ok(BigInt::from(n)),
            Value::BigInt(n) => Ok(n),
            other => other.mismatch("an Integer"),
        }
    }
}

macro_rules! floats {
    ($($t:ty),*) => { $(
        impl IntoRuby for $t {
            fn into_ruby(self) -> Value {
                Value::Float(f64::from(self))
            }
        }
        /// Integers count as numbers, too.
        impl FromRuby for $t {
            fn from_ruby(value: Value) -> Result<$t, Error> {
                match value {
                    Value::Float(f) => Ok(f as $t),
                    Value::Int(n) => Ok(n as $t),
                    other => other.mismatch("a Float"),
                }
            }
        }
    )* };
}
floats!(f32, f64);

impl IntoRuby for String {
    fn into_ruby(self) -> Value {
        Value::Str(self)
    }
}
impl IntoRuby for &str {
    fn into_ruby(self) -> Value {
        Value::Str(self.to_owned())
    }
}
/// Symbols count as text.
impl FromRuby for String {
    fn from_ruby(value: Value) -> Result<String, Error> {
        match value {
            Value::Str(s) | Value::Symbol(s) => Ok(s),
            Value::Bytes(_) => Err(Error::Convert("expected text, got a String that is binary or broken".into())),
            other => other.mismatch("a String"),
        }
    }
}

/// A binary String.
impl IntoRuby for Vec<u8> {
    fn into_ruby(self) -> Value {
        Value::Bytes(self)
    }
}
impl IntoRuby for &[u8] {
    fn into_ruby(self) -> Value {
        Value::Bytes(self.to_vec())
    }
}
/// The bytes of any String.
impl FromRuby for Vec<u8> {
    fn from_ruby(value: Value) -> Result<Vec<u8>, Error> {
        match value {
            Value::Bytes(b) => Ok(b),
            Value::Str(s) => Ok(s.into_bytes()),
            other => other.mismatch("a String"),
        }
    }
}

impl<T: IntoRuby> IntoRuby for Vec<T> {
    fn into_ruby(self) -> Value {
        Value::Array(self.into_iter().map(T::into_ruby).collect())
    }
}
impl<T: IntoRuby + Clone> IntoRuby for &[T] {
    fn into_ruby(self) -> Value {
        Value::Array(self.iter().cloned().map(T::into_ruby).collect())
    }
}
impl<T: IntoRuby, const N: usize> IntoRuby for [T; N] {
    fn into_ruby(self) -> Value {
        Value::Array(self.into_iter().map(T::into_ruby).collect())
    }
}
impl<T: FromRuby> FromRuby for Vec<T> {
    fn from_ruby(value: Value) -> Result<Vec<T>, Error> {
        match value {
            Value::Array(items) => items.into_iter().map(T::from_ruby).collect(),
            other => other.mismatch("an Array"),
        }
    }
}

impl<T: IntoRuby> IntoRuby for Option<T> {
    fn into_ruby(self) -> Value {
        self.map_or(Value::Nil, T::into_ruby)
    }
}
impl<T: FromRuby> FromRuby for Option<T> {
    fn from_ruby(value: Value) -> Result<Option<T>, Error> {
        match value {
            Value::Nil => Ok(None),
            other => T::from_ruby(other).map(Some),
        }
    }
}

macro_rules! maps {
    ($($map:ident: $($bound:ident)+),*) => { $(
        impl<K: IntoRuby, V: IntoRuby> IntoRuby for $map<K, V> {
            fn into_ruby(self) -> Value {
                Value::Map(self.into_iter().map(|(k, v)| (k.into_ruby(), v.into_ruby())).collect())
            }
        }
        impl<K: FromRuby $(+ $bound)+, V: FromRuby> FromRuby for $map<K, V> {
            fn from_ruby(value: Value) -> Result<$map<K, V>, Error> {
                match value {
                    Value::Map(pairs) => pairs.into_iter().map(|(k, v)| Ok((K::from_ruby(k)?, V::from_ruby(v)?))).collect(),
                    other => other.mismatch("a Hash"),
                }
            }
        }
    )* };
}
maps!(HashMap: Eq Hash, BTreeMap: Ord);

macro_rules! tuples {
    ($($n:literal: $($t:ident)+),*) => { $(
        impl<$($t: IntoRuby),+> IntoRuby for ($($t,)+) {
            #[allow(non_snake_case)]
            fn into_ruby(self) -> Value {
                let ($($t,)+) = self;
                Value::Array(vec![$($t.into_ruby()),+])
            }
        }
        /// An Array of just as many elements.
        impl<$($t: FromRuby),+> FromRuby for ($($t,)+) {
            fn from_ruby(value: Value) -> Result<($($t,)+), Error> {
                let Value::Array(items) = value else { return value.mismatch(concat!("an Array of ", $n)) };
                let found = items.len();
                let mut items = items.into_iter();
                if found != $n {
                    return Err(Error::Convert(format!("expected an Array of {}, got one of {found}", $n)));
                }
                Ok(($($t::from_ruby(items.next().unwrap_or(Value::Nil))?,)+))
            }
        }
    )* };
}
tuples!(1: A, 2: A B, 3: A B C, 4: A B C D, 5: A B C D E, 6: A B C D E F);

impl IntoRuby for Channel {
    fn into_ruby(self) -> Value {
        Value::Channel(self)
    }
}
impl IntoRuby for &Channel {
    fn into_ruby(self) -> Value {
        Value::Channel(self.clone())
    }
}
impl FromRuby for Channel {
    fn from_ruby(value: Value) -> Result<Channel, Error> {
        match value {
            Value::Channel(c) => Ok(c),
            other => other.mismatch("a RubyVM::Channel"),
        }
    }
}

/// Arguments of a call: a tuple, an array or a Vec.
pub trait Arguments {
    fn into_arguments(self) -> Vec<Value>;
}
impl<T: IntoRuby> Arguments for T {
    fn into_arguments(self) -> Vec<Value> {
        match self.into_ruby() {
            Value::Array(items) => items,
            Value::Nil => Vec::new(),
            one => vec![one],
        }
    }
}
