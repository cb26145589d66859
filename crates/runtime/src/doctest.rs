//! Runs the examples in the documentation of the builtins: `zakuro --doctest [FILTER]`.

use crate::process::Process;
use std::sync::Arc;
use zakuro_corelib::doctest::Example;
use zakuro_vm::host::End;

/// Prints a line per failed example and a closing count. Returns the exit status.
pub fn run(process: &Arc<Process>, filter: &[String]) -> i32 {
    let (mut passed, mut failed) = (0, 0);
    let mut examples: Vec<(&str, Example)> = zakuro_corelib::doctest::examples().into_iter().map(|e| ("", e)).collect();
    for (feature, class, rows) in zakuro_stdlib::DOCUMENTED {
        let mut found = Vec::new();
        rows.iter().for_each(|row| zakuro_corelib::doctest::of_row(row, class, &mut found));
        examples.extend(found.into_iter().map(|e| (*feature, e)));
    }
    for (feature, e) in examples {
        let require = if feature.is_empty() { String::new() } else { format!("require '{feature}'; ") };
        if !filter.is_empty() && !filter.iter().any(|f| e.method.contains(f.as_str())) {
            continue;
        }
        // The program compares in Ruby, so that output of the example itself does not matter; status 3 means a different result.
        let code = format!(
            "{require}__v = begin; ({}); end\n__s = __v.inspect\nunless __s == DATA_EXPECTED\n  $stderr.puts \"     got \" + __s\n  exit!(3)\nend\n",
            e.code
        )
        .replace("DATA_EXPECTED", &ruby_string(&e.expected));
        match process.run_vm(&e.method, vec!["-W0".into(), "-e".into(), code.into()]) {
            End::Done | End::Exit(0) => passed += 1,
            end => {
                failed += 1;
                let why = match end {
                    End::Exception { report, .. } => String::from_utf8_lossy(&report).into_owned(),
                    End::Panic(p) => format!("panic: {p}"),
                    other => format!("{other:?}"),
                };
                println!("FAILED {}: {}  expected {}\n{why}", e.method, e.code, e.expected);
            }
        }
    }
    println!("doctest: {passed} passed, {failed} failed");
    (failed > 0) as i32
}

fn ruby_string(s: &str) -> String {
    format!("'{}'", s.replace('\\', "\\\\").replace('\'', "\\'"))
}
