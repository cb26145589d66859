//! Regexp and MatchData, and what the VM asks of them: literals, `$~` and its relatives.
//!
//! Map: [`engine`] payloads and searching · [`cache`] compiled regexps · [`make`] from source to Regexp objects · [`class`] methods of
//! Regexp · [`matchdata`] methods of MatchData · [`special`] what the VM asks for, and global variables.

pub mod cache;
mod class;
pub mod engine;
pub mod make;
mod matchdata;
pub mod special;
mod timeout;

use zakuro_text::regexp::RegexFlags;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[class::regexp::METHODS, matchdata::match_data::METHODS, timeout::timeouts::METHODS];

pub fn setup(cx: &mut Cx) {
    let constants = [
        ("IGNORECASE", RegexFlags::IGNORECASE),
        ("EXTENDED", RegexFlags::EXTENDED),
        ("MULTILINE", RegexFlags::MULTILINE),
        ("FIXEDENCODING", RegexFlags::FIXEDENCODING),
        ("NOENCODING", RegexFlags::NOENCODING),
    ];
    for (name, bits) in constants {
        cx.const_set(ids::REGEXP, Sym::intern(name), Value::fixnum(i64::from(bits)));
    }
    // A MatchData comes from a match only.
    let class = cx.class_value(ids::MATCH_DATA);
    if let Ok(singleton) = cx.singleton_class(class) {
        for name in [sym::new, sym::allocate] {
            let m = MethodCell::make(
                &cx.heap,
                name,
                singleton,
                Visibility::Public,
                MethodKind::Undefined,
                Value::NIL,
                0,
                Value::NIL,
            );
            cx.add_method(singleton, name, m);
        }
    }
}
