//! require, require_relative, load.
//!
//! `$LOAD_PATH` and `$LOADED_FEATURES` are ordinary Arrays that programs change; a VM makes its own on first use. What has been
//! resolved and loaded is kept in an index that is rebuilt when the Arrays no longer have the length that it was made for.
//! Files are read and compiled once per process (vm/codecache.rs).

use super::eval::{is_verbose, show_warnings, syntax_error};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use zakuro_compiler::Options;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Features of the core library that CRuby has as files: requiring them does nothing.
const BUILTIN: &[&str] = &["enumerator", "rational", "complex", "thread", "fiber", "set", "ruby2_keywords", "continuation", "monitor"];

#[derive(Default)]
struct Loader {
    /// Files in `$LOADED_FEATURES`.
    loaded: HashSet<Vec<u8>>,
    features_len: usize,
    /// Feature as required -> file, for this `$LOAD_PATH`.
    resolved: HashMap<Vec<u8>, Vec<u8>>,
    path_len: usize,
    /// Files being loaded now.
    loading: Vec<Vec<u8>>,
}
impl VmState for Loader {}

fn special_array(cx: &mut Cx, name: Sym, make: fn(&mut Cx) -> Vec<String>) -> Ref<ArrayCell> {
    if let Some(a) = cx.global_value(name).and_then(Ref::<ArrayCell>::from_value) {
        return a;
    }
    let items = make(cx);
    let v = cx.str_array(&items);
    cx.global_put(name, v);
    Ref::of(v)
}

/// `$LOAD_PATH`
pub fn load_path(cx: &mut Cx) -> Ref<ArrayCell> {
    special_array(cx, sym::load_path, |cx| {
        let mut dirs: Vec<String> = Vec::new();
        for d in &cx.options.include.clone() {
            dirs.push(absolute(cx, d.as_bytes()).to_string_lossy().into_owned());
        }
        if let Ok(lib) = std::env::var("RUBYLIB") {
            dirs.extend(lib.split(':').filter(|d| !d.is_empty()).map(str::to_string));
        }
        dirs.extend(standard_library());
        dirs
    })
}

/// `$LOADED_FEATURES`
pub fn loaded_features(cx: &mut Cx) -> Ref<ArrayCell> {
    special_array(cx, sym::loaded_features, |_| BUILTIN.iter().map(|f| format!("{f}.rb")).collect())
}

/// Directories of the standard library of a Ruby that is installed here; the newest one.
fn standard_library() -> Vec<String> {
    let mut best: Option<(Vec<u32>, PathBuf, String)> = None;
    for root in ["/usr/local/lib/ruby", "/usr/lib/ruby", "/opt/ruby/lib/ruby"] {
        let Ok(entries) = std::fs::read_dir(root) else { continue };
        for e in entries.flatten() {
            let name = e.file_name().to_string_lossy().into_owned();
            let version: Option<Vec<u32>> = name.split('.').map(|p| p.parse().ok()).collect();
            if let Some(v) = version
                && v.len() == 3
                && e.path().join("set.rb").exists() | e.path().join("optparse.rb").exists()
                && best.as_ref().is_none_or(|b| v > b.0)
            {
                best = Some((v, PathBuf::from(root), name));
            }
        }
    }
    let Some((_, root, version)) = best else { return Vec::new() };
    ["site_ruby/", "vendor_ruby/", ""]
        .iter()
        .flat_map(|kind| {
            let d = root.join(format!("{kind}{version}"));
            // Debian keeps versionless vendor files beside the versioned ones.
            let plain = (!kind.is_empty()).then(|| root.join(kind.trim_end_matches('/')));
            [Some(d), plain]
        })
        .flatten()
        .filter(|d| d.is_dir())
        .map(|d| d.to_string_lossy().into_owned())
        .collect()
}

/// Full path of a file name, relative to the VM's directory.
pub fn absolute(cx: &mut Cx, path: &[u8]) -> PathBuf {
    let text = String::from_utf8_lossy(path).into_owned();
    let p = match text.strip_prefix("~/") {
        Some(rest) => PathBuf::from(std::env::var("HOME").unwrap_or_default()).join(rest),
        None => PathBuf::from(text),
    };
    if p.is_absolute() {
        return clean(&p);
    }
    let base = crate::io::cwd::pwd(cx).unwrap_or_default();
    clean(&path_from(&base).join(p))
}

/// Resolves `.` and `..` by text.
fn clean(p: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for c in p.components() {
        match c {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                out.pop();
            }
            c => out.push(c),
        }
    }
    out
}

fn bytes_of(p: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    p.as_os_str().as_bytes().to_vec()
}

fn path_from(b: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(b))
}

/// Files of one directory entry: the name with `.rb`, unless it has an extension that says what it is.
fn candidate(dir: Option<&Path>, feature: &[u8]) -> Option<Vec<u8>> {
    let mut name = feature.to_vec();
    if !name.ends_with(b".rb") {
        name.extend_from_slice(b".rb");
    }
    let p = match dir {
        Some(d) => d.join(path_from(&name)),
        None => path_from(&name).to_path_buf(),
    };
    p.is_file().then(|| bytes_of(&p))
}

fn is_explicit(feature: &[u8]) -> bool {
    feature.starts_with(b"/") || feature.starts_with(b"./") || feature.starts_with(b"../") || feature.starts_with(b"~/")
}

/// Brings the index up to date with the Arrays.
fn refresh(cx: &mut Cx) {
    let (path, features) = (load_path(cx), loaded_features(cx));
    let (path_len, features_len) = (path.len(), features.len());
    let loader = cx.state::<Loader>();
    if loader.path_len != path_len {
        loader.resolved.clear();
        loader.path_len = path_len;
    }
    if loader.features_len != features_len {
        loader.loaded =
            features.as_slice().iter().filter_map(|v| Ref::<StringCell>::from_value(*v)).map(|s| s.bytes().to_vec()).collect();
        loader.features_len = features_len;
        loader.resolved.clear();
    }
}

/// File that a feature names.
fn resolve(cx: &mut Cx, feature: &[u8]) -> Result<Option<Vec<u8>>> {
    if is_explicit(feature) {
        let p = absolute(cx, feature);
        return Ok(candidate(None, &bytes_of(&p)));
    }
    let dirs = load_path(cx);
    let mut i = 0;
    while let Some(d) = dirs.get(i) {
        i += 1;
        let d = cx.path_of(d)?;
        let d = absolute(cx, &d);
        if let Some(f) = candidate(Some(&d), feature) {
            return Ok(Some(f));
        }
    }
    Ok(None)
}

fn stem(feature: &[u8]) -> &[u8] {
    feature.strip_suffix(b".rb").or_else(|| feature.strip_suffix(b".so")).unwrap_or(feature)
}

/// Whether a feature is loaded (or part of the core library).
pub fn is_loaded(cx: &mut Cx, feature: &[u8]) -> Result<bool> {
    refresh(cx);
    if BUILTIN.iter().any(|f| f.as_bytes() == stem(feature)) {
        return Ok(true);
    }
    let file = resolve(cx, feature)?.map(|f| real(&f));
    let loader = cx.state::<Loader>();
    Ok(file.is_some_and(|f| loader.loaded.contains(&f)))
}

fn real(file: &[u8]) -> Vec<u8> {
    std::fs::canonicalize(path_from(file)).map_or_else(|_| file.to_vec(), |p| bytes_of(&p))
}

/// Registers a feature in `$LOADED_FEATURES`.
pub fn provide(cx: &mut Cx, file: &[u8]) {
    let features = loaded_features(cx);
    refresh(cx);
    let v = cx.str_auto(file);
    v.set_flags(flags::FROZEN);
    ArrayCell::push(features, &mut cx.heap, v);
    let n = features.len();
    let loader = cx.state::<Loader>();
    loader.loaded.insert(file.to_vec());
    loader.features_len = n;
}

#[cold]
fn load_error<T>(cx: &mut Cx, feature: &[u8], message: String) -> Result<T> {
    let e = cx.exception(ids::LOAD_ERROR, &message);
    let path = cx.str_auto(feature);
    cx.ivar_set_raw(e, Sym::intern("@path"), path);
    cx.raise_value(e)
}

/// Compiles a file and runs it.
pub fn run_file(cx: &mut Cx, file: &[u8], wrap: Option<Value>) -> Result<()> {
    let path = path_from(file);
    let source = match codecache::read(|| std::fs::metadata(path), || std::fs::File::open(path)) {
        Ok(s) => s,
        Err(_) => {
            let shown = String::from_utf8_lossy(file).into_owned();
            return load_error(cx, file, format!("cannot load such file -- {shown}"));
        }
    };
    let name = String::from_utf8_lossy(file).into_owned();
    let encoding = crate::source_encoding(cx);
    let frozen_string_literal = cx.options.frozen_string_literal;
    let literal_places = cx.options.literal_places;
    let options = Options { file: &name, line: 1, warn: true, encoding, frozen_string_literal, literal_places, ..Default::default() };
    let compiled = match codecache::compile_text(&source, &options) {
        Ok(c) => c,
        Err(e) => return syntax_error(cx, &e),
    };
    drop(source);
    show_warnings(cx, &name, &compiled.warnings)?;
    crate::kernel::eval::compiled(cx, &compiled.code, Value::NIL)?;
    cx.run_program(&compiled.code, wrap)?;
    Ok(())
}

/// Loads a file unless it is loaded. False when it was.
pub fn require_file(cx: &mut Cx, file: &[u8]) -> Result<bool> {
    let file = real(file);
    refresh(cx);
    let loader = cx.state::<Loader>();
    if loader.loaded.contains(&file) {
        return Ok(false);
    }
    if loader.loading.contains(&file) {
        if is_verbose(cx) {
            let shown = String::from_utf8_lossy(&file).into_owned();
            cx.warn_here(&format!("loading in progress, circular require considered harmful - {shown}"))?;
        }
        return Ok(false);
    }
    loader.loading.push(file.clone());
    let result = run_file(cx, &file, None);
    cx.state::<Loader>().loading.retain(|f| *f != file);
    result?;
    provide(cx, &file);
    Ok(true)
}

/// `require feature`
pub fn require(cx: &mut Cx, feature: &[u8]) -> Result<bool> {
    refresh(cx);
    if BUILTIN.iter().any(|f| f.as_bytes() == stem(feature)) {
        return Ok(false);
    }
    if let Some(f) = cx.state::<Loader>().resolved.get(feature).cloned() {
        return require_file(cx, &f);
    }
    // Natives that stand in for C extensions go before files of the same name.
    let plain = stem(feature);
    if let Some(load) = std::str::from_utf8(plain).ok().and_then(|n| boot::hooks().features.get(n).copied()) {
        let name = [plain, b".so"].concat();
        if cx.state::<Loader>().loaded.contains(&name) {
            return Ok(false);
        }
        provide(cx, &name);
        load(cx)?;
        return Ok(true);
    }
    if crate::features::is_embedded(plain) {
        let name = [plain, b".so"].concat();
        if cx.state::<Loader>().loaded.contains(&name) {
            return Ok(false);
        }
        provide(cx, &name);
        crate::features::run(cx, plain)?;
        return Ok(true);
    }
    match resolve(cx, feature)? {
        Some(f) => {
            let result = require_file(cx, &f)?;
            refresh(cx);
            cx.state::<Loader>().resolved.insert(feature.to_vec(), f);
            Ok(result)
        }
        None => {
            let shown = String::from_utf8_lossy(feature).into_owned();
            load_error(cx, feature, format!("cannot load such file -- {shown}"))
        }
    }
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// Loads a file of `$LOAD_PATH` once. False when it was loaded before.
    ///
    ///     require "set"   #=> false
    #[method("require", module_function)]
    fn require(cx: &mut Cx, _this: Value, feature: Value) -> Result<bool> {
        let f = cx.path_of(feature)?;
        super::require(cx, &f)
    }
    /// Loads a file once, relative to the calling file.
    #[method("require_relative", module_function)]
    fn require_relative(cx: &mut Cx, _this: Value, feature: Value) -> Result<bool> {
        let f = cx.path_of(feature)?;
        let base = match cx.here() {
            Some((file, _)) if !file.starts_with("(eval") => file,
            _ => return cx.raise(ids::LOAD_ERROR, "cannot infer basepath"),
        };
        let base = absolute(cx, base.as_bytes());
        let base = std::fs::canonicalize(&base).unwrap_or(base);
        let full = clean(&base.parent().unwrap_or(Path::new("/")).join(path_from(&f)));
        let full = bytes_of(&full);
        match candidate(None, &full) {
            Some(file) => require_file(cx, &file),
            None => {
                let shown = String::from_utf8_lossy(&full).into_owned();
                load_error(cx, &full, format!("cannot load such file -- {shown}"))
            }
        }
    }
    /// Runs a file, each time it is called. With `true` (or a module) its definitions go to an anonymous (or that) module.
    #[method("load", module_function)]
    fn load(cx: &mut Cx, _this: Value, file: Value, wrap: Option<Value>) -> Result<bool> {
        let f = cx.path_of(file)?;
        let wrap = match wrap {
            None | Some(Value::NIL | Value::FALSE) => None,
            Some(m) if cx.class_id(m).is_some() => Some(m),
            Some(_) => Some(crate::module::new_module(cx, ids::MODULE)),
        };
        let direct = absolute(cx, &f);
        let mut found = (is_explicit(&f) && direct.is_file()).then(|| bytes_of(&direct));
        if found.is_none() && !is_explicit(&f) {
            let dirs = load_path(cx);
            let mut i = 0;
            while let Some(d) = dirs.get(i) {
                i += 1;
                let d = cx.path_of(d)?;
                let p = absolute(cx, &d).join(path_from(&f));
                if p.is_file() {
                    found = Some(bytes_of(&p));
                    break;
                }
            }
            if found.is_none() && direct.is_file() {
                found = Some(bytes_of(&direct));
            }
        }
        match found {
            Some(p) => {
                run_file(cx, &p, wrap)?;
                Ok(true)
            }
            None => {
                let shown = String::from_utf8_lossy(&f).into_owned();
                load_error(cx, &f, format!("cannot load such file -- {shown}"))
            }
        }
    }
}
