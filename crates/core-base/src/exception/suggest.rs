//! What error reports need to know beyond the message: similar names, the names that were visible, the piece of source to mark.
//! The rules which names are offered stand in prelude/did_you_mean.rb, the layout of the marked line in prelude/error_highlight.rb.

use zakuro_compiler::spot::{Point, spot};
use zakuro_macros::ruby_class;
use zakuro_text::distance;
use zakuro_vm::*;

fn chars(cx: &mut Cx, v: Value) -> Result<Vec<char>> {
    Ok(cx.to_s(v)?.to_text().chars().collect())
}

#[ruby_class(ids::DYM_LEVENSHTEIN)]
pub mod levenshtein {
    use super::*;

    /// Number of characters to insert, delete or replace.
    ///
    ///     DidYouMean::Levenshtein.distance("kitten", "sitting")   #=> 3
    #[method("distance", singleton)]
    fn distance(cx: &mut Cx, _this: Value, a: Value, b: Value) -> Result<i64> {
        let (a, b) = (chars(cx, a)?, chars(cx, b)?);
        Ok(distance::levenshtein(&a, &b) as i64)
    }
}

#[ruby_class(ids::DYM_JARO)]
pub mod jaro {
    use super::*;

    /// Likeness of two words from 0.0 to 1.0.
    ///
    ///     DidYouMean::Jaro.distance("same", "same")   #=> 1.0
    #[method("distance", singleton)]
    fn distance(cx: &mut Cx, _this: Value, a: Value, b: Value) -> Result<f64> {
        let (a, b) = (chars(cx, a)?, chars(cx, b)?);
        Ok(distance::jaro(&a, &b))
    }
}

#[ruby_class(ids::DYM_JARO_WINKLER)]
pub mod jaro_winkler {
    use super::*;

    /// Likeness of two words; words that begin alike are more alike.
    ///
    ///     DidYouMean::JaroWinkler.distance("abcd", "abcx").round(3)   #=> 0.883
    #[method("distance", singleton)]
    fn distance(cx: &mut Cx, _this: Value, a: Value, b: Value) -> Result<f64> {
        let (a, b) = (chars(cx, a)?, chars(cx, b)?);
        Ok(distance::jaro_winkler(&a, &b))
    }
}

#[ruby_class(ids::DID_YOU_MEAN)]
pub mod did_you_mean {
    use super::*;

    /// The words of an Array that a word may have been meant to be.
    #[method("__corrections", singleton, private)]
    fn corrections(cx: &mut Cx, _this: Value, dictionary: Ref<ArrayCell>, input: Value) -> Result<Value> {
        let input = cx.to_s(input)?.to_text();
        let mut words = Vec::new();
        let mut i = 0;
        while let Some(v) = dictionary.get(i) {
            words.push(cx.to_s(v)?.to_text());
            i += 1;
        }
        let found = distance::corrections(&words, &input);
        Ok(cx.array_of(found.into_iter().filter_map(|i| dictionary.get(i))))
    }
    /// Whether reports hold suggestions: not after `--disable=did_you_mean`.
    #[method("__enabled?", singleton, private)]
    fn enabled(cx: &Cx, _this: Value) -> bool {
        !cx.options.no_did_you_mean
    }
    /// Local variables visible where an exception was raised.
    #[method("__locals", singleton, private)]
    fn locals(cx: &mut Cx, _this: Value, exc: Value) -> Value {
        let names = cx.exception_locals(exc);
        cx.sym_array(&names)
    }
}

#[ruby_class(ids::ERROR_HIGHLIGHT)]
pub mod error_highlight {
    use super::*;

    /// Whether reports mark the source: not after `--disable=error_highlight`.
    #[method("__enabled?", singleton, private)]
    fn enabled(cx: &Cx, _this: Value) -> bool {
        !cx.options.no_error_highlight
    }
    /// The source in which a level of an exception's backtrace stands; nil for builtins.
    #[method("__source", singleton, private)]
    fn source(cx: &mut Cx, _this: Value, exc: Value, level: i64) -> Value {
        let level = level.clamp(0, 1000) as usize;
        let places = cx.exception_places(exc, level + 1);
        match places.get(level) {
            Some(place) => cx.str_bytes(&place.code.source, string::UTF8),
            None => Value::NIL,
        }
    }
    /// [line, first column, end column, text] of what to mark at a level of an exception's backtrace; nil when there is nothing.
    /// `what`: nil for the name, :args, :definition.
    #[method("__spot", singleton, private)]
    fn find(cx: &mut Cx, _this: Value, exc: Value, level: i64, what: Value) -> Result<Value> {
        let level = level.clamp(0, 1000) as usize;
        let places = cx.exception_places(exc, level + 1);
        let Some(place) = places.get(level) else { return Ok(Value::NIL) };
        let name = match cx.is_a(exc, ids::NAME_ERROR) {
            true => cx.ivar_get(exc, Sym::intern("__name")).as_sym(),
            false => None,
        };
        let name = name.map(|n| n.name().into_owned());
        let point = match what.as_sym().map(|s| s.name() == "args") {
            None => Point::Name,
            Some(true) => Point::Args,
            // What a builtin raises about its arguments is marked where it is called.
            Some(false) if place.native => Point::Name,
            Some(false) => Point::Definition,
        };
        let Some(s) = spot(&place.code, place.at, point, name.as_deref()) else { return Ok(Value::NIL) };
        let text = cx.str(&s.snippet);
        Ok(cx.array(&[Value::fixnum(s.line as i64), Value::fixnum(s.start as i64), Value::fixnum(s.end as i64), text]))
    }
}
