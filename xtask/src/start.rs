//! How long it takes until a program runs: an empty one, and one that loads a large library, with and without the cache of compiled sources.

use crate::bench::{Setup, least_and_most, median};
use crate::json::Json;
use crate::process::Spec;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const FILES: usize = 100;
const CLASSES: usize = 10;

/// Files of classes whose methods look like those of real libraries; each requires all the others once.
fn library(folder: &Path) -> std::io::Result<()> {
    let mut all = String::new();
    for file in 0..FILES {
        let mut text = String::from("# frozen_string_literal: true\n");
        for class in 0..CLASSES {
            let _ = write!(
                text,
                r##"
# Keeps entries by name.
class Library{file}Class{class}
  LIMIT = {class}
  attr_reader :name, :entries

  def initialize(name, entries: {{}}, strict: true)
    @name = name.to_s
    @entries = entries.dup
    @strict = strict
    raise ArgumentError, "no name given" if @strict && @name.empty?
  end

  def fetch(key, default = nil)
    value = @entries[key]
    return value unless value.nil?
    if block_given?
      yield key
    elsif default
      default
    else
      raise KeyError, "#{{@name}}: key not found: #{{key.inspect}}"
    end
  end

  def merge(other)
    result = self.class.new(@name, entries: @entries, strict: @strict)
    other.entries.each do |key, value|
      result.entries[key] = case value
                            when Array then value.map {{ |v| v.to_s }}
                            when Hash then value.select {{ |_, v| v }}
                            when /\A\d+\z/ then value.to_i
                            else value
                            end
    end
    result
  end

  def report(out, indent: 2)
    @entries.sort_by {{ |key, _| key.to_s }}.each_with_index do |(key, value), i|
      out << " " * indent << "#{{i + 1}}. #{{key}} = #{{value}}\n"
    end
    out
  rescue IOError, SystemCallError => e
    warn "report failed: #{{e.message}}"
    nil
  ensure
    @reported = true
  end
end
"##
            );
        }
        std::fs::write(folder.join(format!("library{file}.rb")), text)?;
        let _ = writeln!(all, "require_relative \"library{file}\"");
    }
    std::fs::write(folder.join("all.rb"), all)
}

struct Folder(PathBuf);
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Prints and returns ratios zakuro / ruby.
pub fn run(setup: &Setup) -> Result<Vec<(String, Json)>, String> {
    let folder = Folder(std::env::temp_dir().join(format!("zakuro-bench-start-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).and_then(|()| library(&folder.0)).map_err(|e| e.to_string())?;
    let all = folder.0.join("all.rb").display().to_string();
    let all = all.as_str();
    let cache = folder.0.join("cache");
    std::fs::create_dir_all(&cache).map_err(|e| e.to_string())?;
    let rows: [(&str, Vec<&str>, Vec<&str>); 5] = [
        ("empty", vec!["-e", "1"], vec!["--disable-gems", "-e", "1"]),
        ("with gems", vec!["-e", "1"], vec!["-e", "1"]),
        ("RubyGems", vec!["-e", "Gem"], vec!["-e", "Gem"]),
        ("library", vec![all], vec!["--disable-gems", all]),
        ("no cache", vec!["--disable=code-cache", all], vec!["--disable-gems", all]),
    ];
    let runs = setup.runs.max(20);
    println!("start, zakuro / ruby, {runs} interleaved runs");
    println!("{:10} {:>8} {:>9} {:>7} {:>15} {:>9} {:>9}", "program", "ruby ms", "zakuro ms", "ratio", "spread", "ruby MB", "zakuro MB");
    let mut figures = Vec::new();
    for (name, ours, theirs) in rows {
        let once = |interpreter: &Path, args: &[&str]| {
            let spec = Spec::new(interpreter).args(args).env("XDG_CACHE_HOME", cache.display().to_string()).limit(setup.limit);
            let o = spec.run()?;
            if o.status != 0 {
                return Err(format!("{name}: {}", String::from_utf8_lossy(&o.stderr)));
            }
            Ok((o.wall.as_secs_f64() * 1e3, o.max_rss as f64 / 1024.0))
        };
        // The cache is filled, and files are in memory.
        once(&setup.zakuro, &ours)?;
        once(&setup.ruby, &theirs)?;
        let (mut r, mut z) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            r.push(once(&setup.ruby, &theirs)?);
            z.push(once(&setup.zakuro, &ours)?);
        }
        let times = |l: &[(f64, f64)]| l.iter().map(|x| x.0).collect::<Vec<_>>();
        let memory = |l: &[(f64, f64)]| median(&l.iter().map(|x| x.1).collect::<Vec<_>>());
        let ratios: Vec<f64> = z.iter().zip(&r).map(|(z, r)| z.0 / r.0).collect();
        let (least, most) = least_and_most(&ratios);
        let (ruby_ms, ms, ratio) = (median(&times(&r)), median(&times(&z)), median(&ratios));
        let (ruby_mb, mb) = (memory(&r), memory(&z));
        println!("{name:10} {ruby_ms:8.2} {ms:9.2} {ratio:7.3} {:>15} {ruby_mb:9.1} {mb:9.1}", format!("{least:.3} - {most:.3}"));
        let fields = [("ruby_ms", ruby_ms), ("zakuro_ms", ms), ("ratio", ratio), ("ruby_mb", ruby_mb), ("zakuro_mb", mb)];
        figures.push((name.to_string(), Json::Object(fields.iter().map(|(n, v)| (n.to_string(), Json::Number(*v))).collect())));
    }
    Ok(vec![("start".into(), Json::Object(figures))])
}
