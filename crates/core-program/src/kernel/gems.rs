//! RubyGems, loaded when the first program of a VM asks for it.
//!
//! CRuby loads RubyGems before every program, which is most of the time that it takes to start. Here three things load it: the constant `Gem` (an
//! autoload, `module::setup`), the method `gem`, and a `require` that finds no file in `$LOAD_PATH` (or asks for a part of RubyGems, none of which can
//! be loaded alone, or for a file of a default gem of which another version is installed: `take_installed`). From then on its own `Kernel#require` and
//! `Kernel#gem` stand where these stood. What it should know of us stands in crates/stdlib/ruby/rubygems_defaults_ruby.rb.
//! A `Kernel#gem` that the program defined before that stays: in CRuby it comes after RubyGems (bundled applications take `gem` away so).
//! Invariant: a `require` that fails without a gem for it fails as if there were no RubyGems.
//! Rejected: an index of installed gems of our own (versions, dependencies and Bundler are RubyGems' business).

use super::load::{self, FeatureState};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zakuro_core_system::env;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

const FEATURE: &[u8] = b"rubygems";

/// Loads RubyGems. False when it may not be, is not there, or was loaded before (by this thread, perhaps not to its end).
pub fn start(cx: &mut Cx) -> Result<bool> {
    if cx.options.no_gems || matches!(load::state(cx, FEATURE)?, FeatureState::Loaded | FeatureState::LoadingHere) {
        return Ok(false);
    }
    if load::resolve(cx, FEATURE)?.is_none() {
        return Ok(false);
    }
    let gem = Sym::intern("gem");
    let own = cx.class(ids::KERNEL).methods.get(&gem).and_then(|m| Ref::<MethodCell>::from_value(*m)).filter(|m| m.method_kind() != MethodKind::Native);
    let mut kept = RootedVec::new(cx);
    kept.extend(own.map(|m| m.as_value()));
    load::require(cx, FEATURE)?;
    if let Some(own) = kept.first().and_then(|m| Ref::<MethodCell>::from_value(*m)) {
        cx.add_method(ids::KERNEL, gem, own);
    }
    Ok(true)
}

/// Loads RubyGems for a program that `bundle exec` runs, before anything else is loaded: it sets up the bundle that the environment names.
pub fn start_for_bundle(cx: &mut Cx) -> Result<()> {
    if env::get(cx, b"BUNDLER_SETUP").is_some_and(|file| !file.is_empty()) {
        start(cx)?;
    }
    Ok(())
}

/// Puts the gem that has a file for `feature` into `$LOAD_PATH`; false when RubyGems has had its say already or knows none.
#[cold]
pub fn activate_for(cx: &mut Cx, feature: &[u8]) -> Result<bool> {
    if !start(cx)? {
        return Ok(false);
    }
    let Some(gem) = cx.const_by_path("Gem") else { return Ok(false) };
    let feature = cx.str_bytes(feature, string::UTF8);
    Ok(cx.call(gem, Sym::intern("try_activate"), &[feature])?.truthy())
}

/// What `require` may give of default gems of which a version is installed that did not come with the library, and the gem of each. Looked for when the first file of the library is
/// required; later installations count from the next VM on, as they do where RubyGems is loaded first.
#[derive(Trace, Default)]
struct Installed(#[untraced] Option<HashMap<Vec<u8>, Arc<[u8]>>>);
impl VmState for Installed {}

/// Where installed gems have their specifications, as `Gem.path` names them, and some more.
fn specification_dirs(cx: &mut Cx, library: &Path) -> Vec<PathBuf> {
    let var = |cx: &mut Cx, name: &str| env::get(cx, name.as_bytes()).filter(|v| !v.is_empty());
    let in_home = |cx: &mut Cx, rest: &str| var(cx, "HOME").map(|home| Path::new(OsStr::from_bytes(&home)).join(rest));
    let version = library.file_name().unwrap_or_default();
    let mut dirs = Vec::new();
    for list in ["GEM_HOME", "GEM_PATH"] {
        let list = var(cx, list).unwrap_or_default();
        dirs.extend(list.split(|b| *b == b':').filter(|d| !d.is_empty()).map(|d| PathBuf::from(OsStr::from_bytes(d))));
    }
    dirs.extend(in_home(cx, ".gem").map(|d| d.join("zakuro").join(version)));
    let data = var(cx, "XDG_DATA_HOME").map(|d| PathBuf::from(OsStr::from_bytes(&d))).or_else(|| in_home(cx, ".local/share"));
    dirs.extend(data.map(|d| d.join("gem/zakuro").join(version)));
    dirs.extend(library.parent().map(|d| d.join("gems").join(version)));
    dirs.into_iter().map(|d| d.join("specifications")).collect()
}

/// Name of the gem that a file `NAME-VERSION.gemspec` specifies.
fn gem_of(file: &[u8]) -> Option<&[u8]> {
    let full = file.strip_suffix(b".gemspec")?;
    (1..full.len()).find(|i| full[*i] == b'-' && full.get(i + 1).is_some_and(u8::is_ascii_digit)).map(|i| &full[..i])
}

/// Looks for versions of default gems that did not come with the library. Its index of default gems has lines `=NAME-VERSION.gemspec SIZE`, and below each those that `require` may give.
#[cold]
fn installed_default_gems(cx: &mut Cx, library: &Path) -> HashMap<Vec<u8>, Arc<[u8]>> {
    let names = specification_dirs(cx, library).into_iter().filter_map(|d| std::fs::read_dir(d).ok()).flatten().flatten().map(|e| e.file_name());
    let installed: HashSet<Vec<u8>> = names.filter_map(|f| gem_of(f.as_bytes()).map(<[u8]>::to_vec)).collect();
    let mut features = HashMap::new();
    if installed.is_empty() {
        return features;
    }
    let index = std::fs::read(library.join("gems/specifications/default/.index")).unwrap_or_default();
    let mut gem: Option<Arc<[u8]>> = None;
    for line in index.split(|b| *b == b'\n') {
        if let Some(head) = line.strip_prefix(b"=") {
            gem = head.split(|b| *b == b' ').next().and_then(gem_of).filter(|gem| installed.contains(*gem)).map(Arc::from);
        } else if let Some(gem) = &gem {
            features.insert(line.to_vec(), gem.clone());
        }
    }
    features
}

/// Before `require` takes a file of the library for `feature`: where a version of its default gem is installed, RubyGems is loaded and activates the newest.
/// True when it did, and the feature may be another file now.
pub fn take_installed(cx: &mut Cx, feature: &[u8], file: &[u8]) -> Result<bool> {
    if cx.options.no_gems || cx.state::<Installed>().0.as_ref().is_some_and(HashMap::is_empty) {
        return Ok(false);
    }
    let options = cx.options.clone();
    let Some(library) = options.library.as_deref().map(Path::new).filter(|l| Path::new(OsStr::from_bytes(file)).starts_with(l)) else { return Ok(false) };
    if cx.state::<Installed>().0.is_none() {
        let found = installed_default_gems(cx, library);
        cx.state::<Installed>().0 = Some(found);
    }
    let Some(gem) = cx.state::<Installed>().0.as_ref().and_then(|features| features.get(feature)).cloned() else { return Ok(false) };
    if !start(cx)? {
        return Ok(false);
    }
    let name = cx.str_bytes(&gem, string::UTF8);
    let main = cx.main;
    // Pre-releases count, as they do for a `require` after RubyGems.
    let any = cx.str_bytes(b">= 0.a", string::UTF8);
    cx.call_private(main, Sym::intern("gem"), &[name, any])?;
    Ok(true)
}

/// What a LoadError adds: that the file is a gem's C extension. Empty for any other.
#[cold]
pub fn missing_extension(cx: &mut Cx, feature: &[u8]) -> Result<String> {
    if load::state(cx, FEATURE)? != FeatureState::Loaded {
        return Ok(String::new());
    }
    let (name, Some(gem)) = (Sym::intern("__missing_extension"), cx.const_by_path("Gem")) else { return Ok(String::new()) };
    if !cx.responds(gem, name, false)? {
        return Ok(String::new());
    }
    let feature = cx.str_bytes(feature, string::UTF8);
    let hint = cx.call(gem, name, &[feature])?;
    if hint.is_nil() { Ok(String::new()) } else { cx.to_s_text(hint) }
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// Puts a gem of a version that fits into `$LOAD_PATH`: RubyGems' `gem`, which is loaded by the first call.
    #[method("gem", private, min = 1)]
    fn gem(cx: &mut Cx, this: Value, args: Rest) -> Result<Value> {
        if !start(cx)? {
            return cx.raise(ids::LOAD_ERROR, "RubyGems is not there");
        }
        cx.call_private(this, Sym::intern("gem"), args)
    }
}
