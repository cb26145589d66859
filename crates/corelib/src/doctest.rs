//! Examples in the doc comments of builtins, for the test suite: lines `expression #=> inspected result`.

use zakuro_vm::MethodRow;

/// One example.
pub struct Example {
    /// `Class#method`
    pub method: String,
    pub code: String,
    pub expected: String,
}

/// All examples of all builtins.
pub fn examples() -> Vec<Example> {
    let mut out = Vec::new();
    for table in crate::tables() {
        for row in table {
            let class = zakuro_object::class::BOOT_CLASSES.iter().find(|c| c.0 == row.class).map_or("?", |c| c.1);
            of_row(row, class, &mut out);
        }
    }
    out
}

/// The examples of one method.
pub fn of_row(row: &MethodRow, class: &str, out: &mut Vec<Example>) {
    for line in row.doc.lines() {
        if let Some(code) = line.strip_prefix("     ")
            && let Some((code, expected)) = code.split_once("#=>")
        {
            let dot = if row.singleton { "." } else { "#" };
            out.push(Example {
                method: format!("{class}{dot}{}", row.names[0]),
                code: code.trim().to_string(),
                expected: expected.trim().to_string(),
            });
        }
    }
}
