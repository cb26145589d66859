//! Numbers: Integer, Float, Rational, Complex, Numeric, Math, and Kernel's conversion functions.
//!
//! Map: [`ints`], [`rat`], [`flt`] arithmetic on Integers, pairs of Integers and doubles, without methods · [`coerce`] the protocol between kinds
//! of numbers · [`integer`], [`integer_bits`], [`integer_iter`], [`integer_misc`], [`float`], [`rational`], [`complex`], [`num`], [`step`],
//! [`math`], [`kernel`] the methods · [`parse`] Rational and Complex from text. What is not hot is Ruby: prelude/numeric.rb, prelude/complex.rb.

use zakuro_vm::*;

pub mod coerce;
pub mod complex;
pub mod float;
pub mod flt;
pub mod integer;
pub mod integer_bits;
pub mod integer_iter;
pub mod integer_misc;
pub mod ints;
pub mod kernel;
pub mod math;
pub mod num;
pub mod parse;
pub mod rat;
pub mod rational;
pub mod step;

pub static TABLES: &[&[MethodRow]] = &[
    num::METHODS,
    step::METHODS,
    integer::METHODS,
    integer_bits::METHODS,
    integer_iter::METHODS,
    integer_misc::METHODS,
    float::METHODS,
    rational::METHODS,
    complex::METHODS,
    math::METHODS,
    kernel::METHODS,
];

pub fn setup(cx: &mut Cx) {
    float::setup(cx);
    math::setup(cx);
    complex::setup(cx);
}
