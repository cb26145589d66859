//! Packages: from the cache, from Maven's local repository, or over the network through programs of the machine.
//!
//! `mvn` and `npm` go first where they are installed, for their settings name the mirrors and proxies of the site; then curl or wget: from ZAKURO_MAVEN or Maven
//! Central, from ZAKURO_NPM if that is set.
//! Rejected: a TLS client of our own in a build tool.

use super::{hex, own_cache};
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

/// Where a package is published.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Registry {
    /// The group is Maven's.
    Maven,
    /// The group is a scope: `@group/name`.
    Npm,
}

/// A published package, pinned.
pub struct Package {
    pub registry: Registry,
    pub group: &'static str,
    pub name: &'static str,
    pub version: &'static str,
    /// SHA-256 of its file.
    pub checksum: &'static str,
    pub megabytes: u32,
}

impl Package {
    pub fn file_name(&self) -> String {
        match self.registry {
            Registry::Maven => format!("{}-{}.jar", self.name, self.version),
            // As `npm pack` names it.
            Registry::Npm => format!("{}-{}-{}.tgz", self.group, self.name, self.version),
        }
    }
    pub fn title(&self) -> String {
        match self.registry {
            Registry::Maven => format!("{}:{}:{}", self.group, self.name, self.version),
            Registry::Npm => format!("@{}/{}@{}", self.group, self.name, self.version),
        }
    }
    /// Below a repository of its kind.
    fn path_in_repository(&self) -> String {
        let Package { group, name, version, .. } = self;
        match self.registry {
            Registry::Maven => format!("{}/{name}/{version}/{}", group.replace('.', "/"), self.file_name()),
            Registry::Npm => format!("@{group}/{name}/-/{name}-{version}.tgz"),
        }
    }

    /// Err: not the package.
    pub fn check(&self, file: &Path) -> Result<(), String> {
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
        if sum == self.checksum { Ok(()) } else { Err(format!("{}: its checksum is {sum}, not {}", file.display(), self.checksum)) }
    }

    /// The package in the cache; fetched when it is not there.
    pub fn get(&self) -> Result<PathBuf, String> {
        let cache = cache();
        let file = cache.join(self.file_name());
        if file.is_file() {
            match self.check(&file) {
                Ok(()) => return Ok(file),
                Err(why) => eprintln!("library: {why}; fetched again"),
            }
        }
        if self.registry == Registry::Maven
            && let Some(local) = home().map(|h| h.join(".m2/repository").join(self.path_in_repository()))
            && self.check(&local).is_ok()
        {
            return Ok(local);
        }
        std::fs::create_dir_all(&cache).map_err(|e| format!("{}: {e}", cache.display()))?;
        // A directory, since mvn and npm name the file themselves.
        let part = cache.join(format!(".fetch-{}", std::process::id()));
        std::fs::create_dir_all(&part).map_err(|e| format!("{}: {e}", part.display()))?;
        let new = part.join(self.file_name());
        let result = self.download(&new).and_then(|()| std::fs::rename(&new, &file).map_err(|e| format!("{}: {e}", file.display())));
        let _ = std::fs::remove_dir_all(&part);
        result.map(|()| file)
    }

    /// Commands that write the package to a file, best first.
    fn ways(&self, to: &Path) -> Vec<Command> {
        let directory = to.parent().unwrap_or(to).display();
        let mut ways = Vec::new();
        let url = match self.registry {
            Registry::Maven => {
                let mirror = setting("ZAKURO_MAVEN");
                if mirror.is_none() {
                    let mut mvn = Command::new("mvn");
                    mvn.args(["-B", "-q", COPY]).arg(format!("-Dartifact={}", self.title()));
                    mvn.arg(format!("-DoutputDirectory={directory}"));
                    ways.push(mvn);
                }
                Some(mirror.unwrap_or_else(|| CENTRAL.to_string()))
            }
            Registry::Npm => {
                let mirror = setting("ZAKURO_NPM");
                if mirror.is_none() {
                    let mut npm = Command::new("npm");
                    npm.args(["pack", "--silent", "--pack-destination"]).arg(to.parent().unwrap_or(to)).arg(self.title());
                    ways.push(npm);
                }
                mirror
            }
        };
        if let Some(url) = url.map(|u| format!("{}/{}", u.trim_end_matches('/'), self.path_in_repository())) {
            let mut curl = Command::new("curl");
            curl.args(["-fsSL", "--retry", "2", "--connect-timeout", "15", "--max-time", "900", "-o"]).arg(to).arg(&url);
            let mut wget = Command::new("wget");
            wget.args(["-q", "--tries=2", "--connect-timeout=15", "-O"]).arg(to).arg(&url);
            ways.extend([curl, wget]);
        }
        ways
    }

    fn download(&self, to: &Path) -> Result<(), String> {
        let mut failures = Vec::new();
        for mut way in self.ways(to) {
            let name = way.get_program().to_string_lossy().into_owned();
            eprintln!("library: fetching {} ({} MB) with {name}", self.title(), self.megabytes);
            match way.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output() {
                Ok(o) if o.status.success() => match self.check(to) {
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
        Err(format!("can't fetch {}: {}", self.title(), failures.join("; ")))
    }
}

/// Whether a failure was noted less than an hour ago.
pub fn is_recent(note: &Path) -> bool {
    let age = std::fs::metadata(note).and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
    age.is_some_and(|a| a < REST)
}

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|m| !m.is_empty())
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|h| h.is_absolute())
}

/// XDG_CACHE_HOME/zakuro, ~/.cache/zakuro, or target/cache.
fn cache() -> PathBuf {
    let xdg = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|d| d.is_absolute());
    xdg.or_else(|| home().map(|h| h.join(".cache"))).map_or_else(own_cache, |d| d.join("zakuro"))
}
