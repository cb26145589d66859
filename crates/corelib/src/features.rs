//! Features that stand in for the C extensions of the standard library, written in Ruby: compiled once for all VMs when first required.

use zakuro_compiler::Options;
use zakuro_vm::*;

/// (feature, source)
static SOURCES: &[(&str, &str)] = &[
    ("delegate", include_str!("../stdlib/delegate.rb")),
    ("etc", include_str!("../stdlib/etc.rb")),
    ("forwardable/impl", include_str!("../stdlib/forwardable_impl.rb")),
    ("io/wait", ""),
    ("io/console", include_str!("../stdlib/io_console.rb")),
    ("rbconfig", include_str!("../stdlib/rbconfig.rb")),
];

/// Whether `feature` (without extension) is one of them.
pub fn is_embedded(feature: &[u8]) -> bool {
    SOURCES.iter().any(|(n, _)| n.as_bytes() == feature)
}

/// Runs the source of a feature in this VM.
pub fn run(cx: &mut Cx, feature: &[u8]) -> Result<()> {
    let Some((name, text)) = SOURCES.iter().find(|(n, _)| n.as_bytes() == feature) else { return Ok(()) };
    let file = format!("<internal:{name}>");
    match codecache::compile(text.as_bytes(), &Options { file: &file, line: 1, frozen_string_literal: Some(false), ..Default::default() }) {
        Ok(c) => {
            cx.run_program(&c.code, None)?;
            Ok(())
        }
        Err(e) => cx.raise(ids::SYNTAX_ERROR, e.message()),
    }
}
