//! Test helper: asks an installed Ruby what the right answer is.
//!
//! Invariant: a machine without `ruby` passes (the comparison is skipped); checked-in literals cover the essentials there.
//! Rejected: golden files only; generated cases find more and never go stale.

use std::io::Write;
use std::process::{Command, Stdio};

/// Runs `script` with `input` on stdin; None when no Ruby is installed.
pub fn ruby(script: &str, input: &[u8]) -> Option<Vec<u8>> {
    let mut child = Command::new("ruby")
        .args(["-W0", "-Eutf-8:utf-8", "--disable-gems", "-e", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A script that stops reading early closes the pipe; its output tells the rest.
        let _ = stdin.write_all(&input);
    });
    let out = child.wait_with_output().ok()?;
    let _ = writer.join();
    assert!(out.status.success(), "reference script failed: {script}");
    Some(out.stdout)
}

/// What a block answers that gave up: the case is left out.
pub const ENDLESS: &[u8] = b"(takes too long)";

/// Feeds hex-encoded `cases`, one a line, to `block` (a Ruby expression over `s`, a UTF-8 String) and compares each
/// resulting String with `ours`.
pub fn compare(cases: &[Vec<u8>], block: &str, mut ours: impl FnMut(&[u8]) -> Vec<u8>) {
    let mut input = Vec::new();
    for c in cases {
        input.extend(hex(c).bytes());
        input.push(b'\n');
    }
    let script = format!(
        "$stdin.each_line(chomp: true) {{ |l| s = [l].pack('H*').force_encoding('UTF-8'); \
         r = begin; ({block}); rescue => e; \"#{{e.class}}: #{{e.message}}\"; end; puts r.to_s.b.unpack1('H*') }}"
    );
    let Some(out) = ruby(&script, &input) else { return };
    let out = String::from_utf8(out).expect("hex");
    let lines: Vec<&str> = out.split('\n').collect();
    assert_eq!(lines.len(), cases.len() + 1);
    let mut bad = Vec::new();
    let endless = hex(ENDLESS);
    for (c, line) in cases.iter().zip(lines) {
        if line == endless {
            continue;
        }
        let mine = ours(c);
        if hex(&mine) != line {
            bad.push(format!(
                "{:?}: ours {:?}, ruby {:?}",
                String::from_utf8_lossy(c),
                String::from_utf8_lossy(&mine),
                String::from_utf8_lossy(&unhex(line))
            ));
        }
    }
    assert!(bad.is_empty(), "{block}: {} of {} differ:\n{}", bad.len(), cases.len(), bad[..bad.len().min(12)].join("\n"));
}

pub fn hex(b: &[u8]) -> String {
    b.iter().map(|x| format!("{x:02x}")).collect()
}

pub fn unhex(s: &str) -> Vec<u8> {
    s.as_bytes().chunks(2).map(|c| u8::from_str_radix(std::str::from_utf8(c).unwrap(), 16).unwrap()).collect()
}

/// A small deterministic generator (splitmix64): failures repeat.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn pick<'a, T: ?Sized>(&mut self, xs: &[&'a T]) -> &'a T {
        xs[self.below(xs.len())]
    }

    /// A string put together from up to `max` of `parts`.
    pub fn join(&mut self, parts: &[&str], max: usize) -> Vec<u8> {
        let n = self.below(max + 1);
        (0..n).flat_map(|_| self.pick(parts).bytes().collect::<Vec<_>>()).collect()
    }
}
