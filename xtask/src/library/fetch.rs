//! The package: from the cache, from Maven's local repository, or over the network through programs of the machine.
//!
//! `mvn` goes first where it is installed, for its settings name the mirrors and proxies of the site; then curl or wget from ZAKURO_MAVEN or Maven Central.
//! Rejected: a TLS client of our own in a build tool.

use super::{ARTIFACT, CHECKSUM, GROUP, VERSION, hex, own_cache};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const CENTRAL: &str = "https://repo1.maven.org/maven2";
/// Copies one artifact to a directory.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";
/// For so long nobody tries again by himself after a failure.
const REST: Duration = Duration::from_secs(3600);

pub fn file_name() -> String {
    format!("{ARTIFACT}-{VERSION}.jar")
}

/// Below a Maven repository.
fn path_in_repository() -> String {
    format!("{}/{ARTIFACT}/{VERSION}/{}", GROUP.replace('.', "/"), file_name())
}

/// Whether a failure was noted less than an hour ago.
pub fn is_recent(note: &Path) -> bool {
    let age = std::fs::metadata(note).and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
    age.is_some_and(|a| a < REST)
}

/// Err: not the package.
pub fn check(file: &Path) -> Result<(), String> {
    let say = |e: std::io::Error| format!("{}: {e}", file.display());
    let mut reader = File::open(file).map_err(say)?;
    let mut sum = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer).map_err(say)? {
            0 => break,
            n => sum.update(&buffer[..n]),
        }
    }
    let sum = hex(&sum.finalize());
    if sum == CHECKSUM { Ok(()) } else { Err(format!("{}: its checksum is {sum}, not {CHECKSUM}", file.display())) }
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|h| h.is_absolute())
}

/// XDG_CACHE_HOME/zakuro, ~/.cache/zakuro, or target/cache.
fn cache() -> PathBuf {
    let xdg = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|d| d.is_absolute());
    xdg.or_else(|| home().map(|h| h.join(".cache"))).map_or_else(own_cache, |d| d.join("zakuro"))
}

/// The package in the cache; fetched when it is not there.
pub fn package() -> Result<PathBuf, String> {
    let cache = cache();
    let file = cache.join(file_name());
    if file.is_file() {
        match check(&file) {
            Ok(()) => return Ok(file),
            Err(why) => eprintln!("library: {why}; fetched again"),
        }
    }
    if let Some(local) = home().map(|h| h.join(".m2/repository").join(path_in_repository()))
        && check(&local).is_ok()
    {
        return Ok(local);
    }
    std::fs::create_dir_all(&cache).map_err(|e| format!("{}: {e}", cache.display()))?;
    // A directory, since mvn names the file itself.
    let part = cache.join(format!(".fetch-{}", std::process::id()));
    std::fs::create_dir_all(&part).map_err(|e| format!("{}: {e}", part.display()))?;
    let new = part.join(file_name());
    let result = download(&new).and_then(|()| std::fs::rename(&new, &file).map_err(|e| format!("{}: {e}", file.display())));
    let _ = std::fs::remove_dir_all(&part);
    result.map(|()| file)
}

fn download(to: &Path) -> Result<(), String> {
    let mirror = std::env::var("ZAKURO_MAVEN").ok().filter(|m| !m.is_empty());
    let url = format!("{}/{}", mirror.as_deref().unwrap_or(CENTRAL).trim_end_matches('/'), path_in_repository());
    let mut ways = Vec::new();
    if mirror.is_none() {
        let mut mvn = Command::new("mvn");
        mvn.args(["-B", "-q", COPY]).arg(format!("-Dartifact={GROUP}:{ARTIFACT}:{VERSION}"));
        mvn.arg(format!("-DoutputDirectory={}", to.parent().unwrap_or(to).display()));
        ways.push(mvn);
    }
    let mut curl = Command::new("curl");
    curl.args(["-fsSL", "--retry", "2", "--connect-timeout", "15", "--max-time", "900", "-o"]).arg(to).arg(&url);
    let mut wget = Command::new("wget");
    wget.args(["-q", "--tries=2", "--connect-timeout=15", "-O"]).arg(to).arg(&url);
    ways.extend([curl, wget]);
    let mut failures = Vec::new();
    for mut way in ways {
        let name = way.get_program().to_string_lossy().into_owned();
        eprintln!("library: fetching {GROUP}:{ARTIFACT}:{VERSION} (21 MB) with {name}");
        match way.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output() {
            Ok(o) if o.status.success() => match check(to) {
                Ok(()) => return Ok(()),
                Err(why) => failures.push(format!("{name}: {why}")),
            },
            Ok(o) => {
                let said = String::from_utf8_lossy(&o.stderr);
                let said = said.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or("no message").to_string();
                failures.push(format!("{name}: {said} ({})", o.status));
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => failures.push(format!("{name}: not installed")),
            Err(e) => failures.push(format!("{name}: {e}")),
        }
        let _ = std::fs::remove_file(to);
    }
    Err(format!("can't fetch {GROUP}:{ARTIFACT}:{VERSION} from {url}: {}", failures.join("; ")))
}
