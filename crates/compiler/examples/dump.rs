//! Lists the bytecode of Ruby sources, or checks many of them.
//!
//!     cargo run -p zakuro-compiler --example dump -- FILE
//!     cargo run -p zakuro-compiler --example dump -- -e 'puts 1'
//!     cargo run -p zakuro-compiler --example dump -- --check FILE...

use zakuro_bytecode::{disasm, flow, verify};
use zakuro_compiler::{Options, compile};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let check = args.first().is_some_and(|a| a == "--check");
    let (mut good, mut bad) = (0, 0);
    let mut iter = args.iter().skip(check as usize);
    while let Some(a) = iter.next() {
        let (file, source) = match a == "-e" {
            true => ("-e", iter.next().map(|s| s.clone().into_bytes()).unwrap_or_default()),
            false => (a.as_str(), std::fs::read(a).unwrap_or_default()),
        };
        match compile(&source, &Options { file, line: 1, main_script: true, warn: !check, ..Options::default() }) {
            Err(e) => {
                bad += 1;
                println!("{}", e.message());
            }
            Ok(c) => {
                good += 1;
                if let Err(e) = verify::verify(&c.code) {
                    println!("{file}: {e}");
                }
                if let Err(e) = flow::check(&c.code) {
                    println!("{file}: {e}");
                }
                if !check {
                    c.warnings.iter().for_each(|w| println!("warning {}: {}", w.line, w.message));
                    print!("{}", disasm::listing(&c.code));
                }
            }
        }
    }
    if check {
        println!("{good} compiled, {bad} refused");
    }
}
