//! The processed profile format of the Firefox profiler (profiler.firefox.com reads it, also from a local file): a thread per VM.
//!
//! Source of the format: the profiler's documentation of its processed profile, version 27 of the meta data (the site upgrades older ones).

use super::{Unit, each};
use crate::json::Writer;
use std::collections::HashMap;
use zakuro_vm::account::{Book, FrameKind, Profile};

/// Indices in the list of categories.
fn category(kind: FrameKind) -> u64 {
    match kind {
        FrameKind::Ruby => 0,
        FrameKind::Machine => 1,
        FrameKind::Builtin => 2,
        FrameKind::Internal => 3,
    }
}

#[derive(Default)]
struct Strings {
    list: Vec<String>,
    by_text: HashMap<String, u64>,
}

impl Strings {
    fn index(&mut self, text: &str) -> u64 {
        if let Some(n) = self.by_text.get(text) {
            return *n;
        }
        let n = self.list.len() as u64;
        self.list.push(text.into());
        self.by_text.insert(text.into(), n);
        n
    }
}

pub fn text(book: &Book) -> String {
    let (now, scale) = book.clock.now();
    let ms = |ticks: u64| ticks.saturating_sub(book.clock.first) as f64 * scale / 1e6;
    let started = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64() * 1e3 - ms(now));
    let mut w = Writer::default();
    w.object(|w| {
        w.key("meta").object(|w| {
            w.key("interval").float(1.0);
            w.key("startTime").float(started);
            w.key("product").string("zakuro");
            w.key("processType").int(0);
            w.key("version").int(27);
            w.key("preprocessedProfileVersion").int(47);
            w.key("stackwalk").int(0);
            w.key("debug").int(0);
            w.key("symbolicated").raw("true");
            let categories = [("Ruby", "orange"), ("Machine code", "yellow"), ("Builtin", "green"), ("VM", "purple"), ("Other", "grey")];
            w.key("categories").list(categories, |w, (name, colour)| {
                w.object(|w| {
                    w.key("name").string(name);
                    w.key("color").string(colour);
                    w.key("subcategories").list(["Other"], |w, s| w.string(s));
                });
            });
            w.key("markerSchema").list(0..0, |_, _| ());
        });
        w.key("libs").list(0..0, |_, _| ());
        w.key("pages").list(0..0, |_, _| ());
        w.key("threads").raw("[");
        each(book, |id, name, p| thread(w, id, name, p, &ms, scale, Unit::of(book)));
        w.text.push(']');
    });
    w.text.push('\n');
    w.text
}

fn thread(w: &mut Writer, id: u64, name: &str, p: &Profile, ms: &dyn Fn(u64) -> f64, scale: f64, unit: Unit) {
    let mut strings = Strings::default();
    // A function per name and file, a frame per line of it.
    let mut functions: Vec<(u64, Option<u64>, u64, FrameKind)> = Vec::new();
    let mut by_name: HashMap<(String, Option<String>), usize> = HashMap::new();
    let of_frame: Vec<usize> = p
        .frames
        .iter()
        .map(|f| {
            let key = (f.name.clone(), f.file.as_deref().map(String::from));
            *by_name.entry(key).or_insert_with(|| {
                let file = f.file.as_deref().map(|file| strings.index(file));
                functions.push((strings.index(&f.name), file, u64::from(f.line), f.kind));
                functions.len() - 1
            })
        })
        .collect();
    let column = |w: &mut Writer, name: &str, n: usize, f: &mut dyn FnMut(&mut Writer, usize)| {
        w.key(name).list(0..n, |w, i| f(w, i));
    };
    w.object(|w| {
        w.key("processType").string("default");
        w.key("processStartupTime").float(0.0);
        w.key("processShutdownTime").null();
        w.key("registerTime").float(0.0);
        w.key("unregisterTime").null();
        w.key("pausedRanges").list(0..0, |_, _| ());
        w.key("name").string(name);
        w.key("processName").string("zakuro");
        w.key("isMainThread").raw(if id == 1 { "true" } else { "false" });
        w.key("pid").string("1");
        w.key("tid").int(id);
        w.key("samples").object(|w| {
            let n = p.samples.len();
            w.key("length").int(n as u64);
            w.key("weightType").string(if unit == Unit::Bytes { "bytes" } else { "tracing-ms" });
            column(w, "stack", n, &mut |w, i| w.int(u64::from(p.samples[i].1)));
            column(w, "time", n, &mut |w, i| w.float(ms(p.samples[i].0)));
            column(w, "weight", n, &mut |w, i| match unit {
                Unit::Bytes => w.int(p.samples[i].2),
                Unit::Microseconds => w.float(p.samples[i].2 as f64 * scale / 1e6),
            });
        });
        w.key("markers").object(|w| {
            w.key("length").int(0);
            for name in ["data", "name", "startTime", "endTime", "phase", "category"] {
                column(w, name, 0, &mut |_, _| ());
            }
        });
        w.key("stackTable").object(|w| {
            let n = p.nodes.len();
            w.key("length").int(n as u64);
            column(w, "prefix", n, &mut |w, i| match p.nodes[i].parent {
                0 => w.null(),
                parent => w.int(u64::from(parent) - 1),
            });
            column(w, "frame", n, &mut |w, i| w.int(u64::from(p.nodes[i].frame)));
            column(w, "category", n, &mut |w, i| w.int(category(p.frames[p.nodes[i].frame as usize].kind)));
            column(w, "subcategory", n, &mut |w, _| w.int(0));
        });
        w.key("frameTable").object(|w| {
            let n = p.frames.len();
            w.key("length").int(n as u64);
            column(w, "address", n, &mut |w, _| w.raw("-1"));
            column(w, "inlineDepth", n, &mut |w, _| w.int(0));
            column(w, "category", n, &mut |w, i| w.int(category(p.frames[i].kind)));
            column(w, "subcategory", n, &mut |w, _| w.int(0));
            column(w, "func", n, &mut |w, i| w.int(of_frame[i] as u64));
            for name in ["nativeSymbol", "innerWindowID", "implementation", "column"] {
                column(w, name, n, &mut |w, _| w.null());
            }
            column(w, "line", n, &mut |w, i| match p.frames[i].line {
                0 => w.null(),
                line => w.int(u64::from(line)),
            });
        });
        w.key("funcTable").object(|w| {
            let n = functions.len();
            w.key("length").int(n as u64);
            column(w, "name", n, &mut |w, i| w.int(functions[i].0));
            column(w, "isJS", n, &mut |w, _| w.raw("false"));
            column(w, "relevantForJS", n, &mut |w, _| w.raw("false"));
            column(w, "resource", n, &mut |w, _| w.raw("-1"));
            column(w, "fileName", n, &mut |w, i| w.optional(functions[i].1, |w, f| w.int(f)));
            column(w, "lineNumber", n, &mut |w, i| match functions[i].2 {
                0 => w.null(),
                line => w.int(line),
            });
            column(w, "columnNumber", n, &mut |w, _| w.null());
        });
        for (name, columns) in [
            ("resourceTable", &["lib", "name", "host", "type"][..]),
            ("nativeSymbols", &["libIndex", "address", "name", "functionSize"][..]),
        ] {
            w.key(name).object(|w| {
                w.key("length").int(0);
                for c in columns {
                    column(w, c, 0, &mut |_, _| ());
                }
            });
        }
        w.key("stringArray").list(&strings.list, |w, s| w.string(s));
    });
}
