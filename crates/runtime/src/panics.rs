//! What is printed when Rust code panics.

use std::panic::{self, PanicHookInfo};

/// Keeps quiet about the panics that the interpreter turns into Ruby exceptions (a collection of the standard library that can't grow any
/// more). Others are bugs and print where they happened.
pub fn install() {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        if info.payload_as_str().is_some_and(|s| s.ends_with("capacity overflow")) {
            return;
        }
        default(info);
    }));
}
