//! String, split by concept: `basic` (making, comparing, joining), `index`, `search`, `case`, `transform`, `succ`, `iterate`, `split`,
//! `regexp` (matching and replacing), `encoding`, `number`, `format`, `pack`; `util` holds what they share.

pub mod basic;
pub mod case;
pub mod dedup;
pub mod encoding;
pub mod format;
pub mod index;
pub mod iterate;
pub mod number;
pub mod pack;
pub mod regexp;
pub mod search;
pub mod split;
pub mod succ;
pub mod transform;
pub mod util;

use zakuro_vm::{Cx, MethodRow, ids};

pub static TABLES: &[&[MethodRow]] = &[
    basic::strings::METHODS,
    case::cases::METHODS,
    encoding::encoding_methods::METHODS,
    format::percent::METHODS,
    format::kernel_format::METHODS,
    index::indexing::METHODS,
    iterate::iteration::METHODS,
    number::numbers::METHODS,
    pack::array_pack::METHODS,
    pack::string_unpack::METHODS,
    regexp::matching::METHODS,
    search::searching::METHODS,
    split::splitting::METHODS,
    succ::successors::METHODS,
    transform::transforms::METHODS,
];

pub fn setup(cx: &mut Cx) {
    let _ = cx.include_module(ids::STRING, ids::COMPARABLE);
}
