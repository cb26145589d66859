//! Functions of Kernel: `raise` and jumps out, `eval` looking at and running code, `load` files, `gems` RubyGems, `caller` backtraces, `process` ending and
//! sleeping, `globals` special variables, `misc` the rest.

pub mod autoload;
pub mod caller;
pub mod eval;
pub mod gems;
pub mod globals;
pub mod line;
pub mod load;
pub mod misc;
pub mod process;
pub mod raise;
mod tracevar;

use zakuro_vm::{Cx, MethodRow};

pub static TABLES: &[&[MethodRow]] = &[
    raise::kernel::METHODS,
    eval::kernel::METHODS,
    load::kernel::METHODS,
    gems::kernel::METHODS,
    caller::kernel::METHODS,
    process::kernel::METHODS,
    caller::location::METHODS, caller::thread::METHODS, caller::backtrace::METHODS,
    misc::kernel::METHODS,
    tracevar::TABLE,
];

pub fn setup(cx: &mut Cx) {
    globals::setup(cx);
    misc::setup(cx);
}
