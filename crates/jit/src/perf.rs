//! `/tmp/perf-PID.map`: where perf(1) looks for the names of machine code that no file holds.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use zakuro_base::sync::held::Mutex;

/// The file of this process, made when the first line is written; none where that can't be done.
#[derive(Default)]
pub struct PerfMap(Mutex<Option<(u32, Option<File>)>>);

impl PerfMap {
    pub fn tell(&self, address: usize, bytes: usize, name: &str) {
        let process = std::process::id();
        let mut open = self.0.lock();
        if open.as_ref().is_none_or(|(of, _)| *of != process) {
            // Anybody may write to /tmp: no file or link of somebody else's is written to.
            let path = format!("/tmp/perf-{process}.map");
            let _ = std::fs::remove_file(&path);
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(path);
            *open = Some((process, file.ok()));
        }
        if let Some((_, Some(file))) = &mut *open {
            let name = name.replace(['\n', '\r'], " ");
            let _ = file.write_all(format!("{address:x} {bytes:x} zakuro: {name}\n").as_bytes());
        }
    }
}
