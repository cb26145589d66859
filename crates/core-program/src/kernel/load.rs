//! require, require_relative, load.
//!
//! `$LOAD_PATH` and `$LOADED_FEATURES` are ordinary Arrays that programs change; a VM makes its own on first use. What has been
//! resolved and loaded is kept in an index that is rebuilt when the Arrays no longer hold what it was made for: Arrays of the loader's share
//! their buffers, so that who writes one of them leaves a buffer (as CRuby finds out, too). Threads that need a file which another
//! one loads wait for it.
//! Files are read and compiled once per process (vm/codecache.rs).

use super::eval::{is_verbose, show_warnings, syntax_error};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zakuro_compiler::Options;
use zakuro_core_system::io::whole;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Features of the core library that CRuby has as files: requiring them does nothing.
const BUILTIN: &[&str] = &["enumerator", "rational", "complex", "thread", "fiber", "set", "ruby2_keywords", "monitor"];
/// Parts of CRuby's encodings that programs require so that they are there before a directory changes; here they always are.
const ENCODINGS: [&str; 20] = [
    "enc/encdb",
    "enc/trans/transdb",
    "enc/trans/big5",
    "enc/trans/cesu_8",
    "enc/trans/chinese",
    "enc/trans/ebcdic",
    "enc/trans/emoji",
    "enc/trans/emoji_iso2022_kddi",
    "enc/trans/escape",
    "enc/trans/gb18030",
    "enc/trans/gbk",
    "enc/trans/iso2022",
    "enc/trans/japanese",
    "enc/trans/japanese_euc",
    "enc/trans/japanese_sjis",
    "enc/trans/korean",
    "enc/trans/single_byte",
    "enc/trans/utf8_mac",
    "enc/trans/utf_16_32",
    "enc/utf_16le",
];
/// Those that `$LOADED_FEATURES` shows.
const SHOWN: usize = 7;

/// A file that some thread loads now.
struct Loading {
    /// Its real path.
    file: Vec<u8>,
    thread: u32,
    /// Threads that wait for its end.
    waiters: Vec<u32>,
}

#[derive(Trace, Default)]
struct Loader {
    /// Files in `$LOADED_FEATURES`.
    #[untraced]
    loaded: HashSet<Vec<u8>>,
    /// Real paths of those that this loader has loaded, by feature.
    #[untraced]
    real: RealPaths,
    /// `$LOADED_FEATURES` as it was when `loaded` was made.
    features: Option<Ref<ArrayCell>>,
    /// Feature as required -> file, for this `$LOAD_PATH`.
    #[untraced]
    resolved: HashMap<Vec<u8>, Vec<u8>>,
    /// `$LOAD_PATH` as it was when `resolved` and `dirs` were made.
    path: Option<Ref<ArrayCell>>,
    /// The directories of `$LOAD_PATH` in full, unless some are relative or no Strings.
    #[untraced]
    dirs: Option<Arc<[PathBuf]>>,
    #[untraced]
    loading: Vec<Loading>,
    /// (thread, thread that it waits for)
    waits: Vec<(u32, u32)>,
}
impl VmState for Loader {}

/// Features and the real paths of their files, to be found by either.
#[derive(Default)]
struct RealPaths {
    of: HashMap<Vec<u8>, Vec<u8>>,
    /// By how many features a path is loaded.
    paths: HashMap<Vec<u8>, u32>,
}

impl RealPaths {
    fn insert(&mut self, feature: &[u8], path: &[u8]) {
        self.remove(feature);
        self.of.insert(feature.to_vec(), path.to_vec());
        *self.paths.entry(path.to_vec()).or_default() += 1;
    }
    fn remove(&mut self, feature: &[u8]) {
        let Some(path) = self.of.remove(feature) else { return };
        if let Some(n) = self.paths.get_mut(&path) {
            *n -= 1;
            if *n == 0 {
                self.paths.remove(&path);
            }
        }
    }
    fn has_path(&self, path: &[u8]) -> bool {
        self.paths.contains_key(path)
    }
    /// Forgets the features that are not in the set.
    fn retain(&mut self, features: &HashSet<Vec<u8>>) {
        let gone: Vec<Vec<u8>> = self.of.keys().filter(|f| !features.contains(*f)).cloned().collect();
        for f in &gone {
            self.remove(f);
        }
    }
}

/// How far a feature is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FeatureState {
    Absent,
    Loaded,
    /// The running thread is loading it.
    LoadingHere,
    /// Another thread is.
    LoadingElsewhere,
}

fn special_array(cx: &mut Cx, name: Sym, make: impl FnOnce(&mut Cx) -> Vec<String>) -> Ref<ArrayCell> {
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
    if let Some(a) = cx.global_value(sym::load_path).and_then(Ref::<ArrayCell>::from_value) {
        return a;
    }
    let mut own = 0;
    let path = special_array(cx, sym::load_path, |cx| {
        let mut dirs: Vec<String> = Vec::new();
        for d in &cx.options.include.clone() {
            dirs.push(absolute(cx, d.as_bytes()).to_string_lossy().into_owned());
        }
        if let Ok(lib) = std::env::var("RUBYLIB") {
            dirs.extend(lib.split(':').filter(|d| !d.is_empty()).map(str::to_string));
        }
        let named = dirs.len();
        dirs.extend(standard_library(cx));
        own = dirs.len() - named;
        dirs
    });
    // RubyGems looks for the first of these that no option names.
    let mark = Sym::intern("@gem_prelude_index");
    for i in path.len().saturating_sub(own)..path.len() {
        if let Some(dir) = path.get(i) {
            cx.ivar_set_raw(dir, mark, dir);
        }
    }
    if let Ok(class) = cx.singleton_class(path.as_value()) {
        for row in load_path_methods::METHODS {
            let (name, body) = (Sym::intern(row.names[0]), row as *const MethodRow as usize);
            let m = MethodCell::make(&cx.heap, name, class, Visibility::Public, MethodKind::Native, Value::NIL, body, Value::NIL);
            cx.add_method(class, name, m);
        }
    }
    path
}

/// `-I` where `$LOAD_PATH` came with an image.
pub fn put_in_front(cx: &mut Cx, dirs: &[String]) {
    if dirs.is_empty() {
        return;
    }
    let path = load_path(cx);
    let mut all = RootedVec::new(cx);
    for d in dirs {
        let full = absolute(cx, d.as_bytes()).to_string_lossy().into_owned();
        let full = cx.str(&full);
        all.push(full);
    }
    path.elements(&cx.heap).iter().for_each(|v| all.push(*v));
    ArrayCell::truncate(path, 0);
    ArrayCell::extend(path, &mut cx.heap, &all);
}

/// Singleton methods of `$LOAD_PATH`.
#[ruby_class(ids::ARRAY)]
mod load_path_methods {
    use super::*;

    /// What `require` would load: :rb or :so and the file, nil when there is none. Stand-ins for C extensions have a name alone.
    #[method("resolve_feature_path")]
    fn resolve_feature_path(cx: &mut Cx, _this: Value, feature: Value) -> Result<Value> {
        let feature = cx.path_of(feature)?;
        let found = match std::str::from_utf8(stem(&feature)) {
            Ok(name) if native(stem(&feature)) => Some(("so", format!("{name}.so").into_bytes())),
            _ => match resolve(cx, &feature)? {
                Some(file) => Some(("rb", file)),
                None if BUILTIN.iter().any(|f| f.as_bytes() == stem(&feature)) => Some(("rb", [stem(&feature), b".rb"].concat())),
                None => None,
            },
        };
        let Some((kind, file)) = found else { return Ok(Value::NIL) };
        let pair = [Value::sym(Sym::intern(kind)), cx.str_bytes(&file, string::UTF8)];
        Ok(cx.array(&pair))
    }
}

/// `$LOADED_FEATURES`
pub fn loaded_features(cx: &mut Cx) -> Ref<ArrayCell> {
    special_array(cx, sym::loaded_features, |_| BUILTIN[..SHOWN].iter().map(|f| format!("{f}.rb")).collect())
}

/// Directories of `$LOAD_PATH` that no option names: the site's files, the library, and, if asked, the library of the machine's Ruby.
fn standard_library(cx: &Cx) -> Vec<String> {
    let mut dirs = Vec::new();
    if let Some(library) = &cx.options.library {
        // .../lib/ruby/zakuro/site_ruby/4.0.0 beside .../lib/ruby/zakuro/4.0.0
        let at = Path::new(library);
        if let (Some(base), Some(version)) = (at.parent(), at.file_name()) {
            dirs.push(base.join("site_ruby").join(version).to_string_lossy().into_owned());
        }
        dirs.push(library.clone());
    }
    if cx.options.host_library {
        dirs.extend(host_library());
    }
    dirs
}

/// Directories of the library of a Ruby that is installed here; the newest one.
fn host_library() -> Vec<String> {
    let mut best: Option<(Vec<u32>, PathBuf)> = None;
    for root in ["/usr/local/lib/ruby", "/usr/lib/ruby", "/opt/ruby/lib/ruby"] {
        let Ok(entries) = std::fs::read_dir(root) else { continue };
        for e in entries.flatten() {
            let version: Option<Vec<u32>> = e.file_name().to_string_lossy().split('.').map(|p| p.parse().ok()).collect();
            if let Some(v) = version
                && v.len() == 3
                && e.path().join("optparse.rb").exists()
                && best.as_ref().is_none_or(|b| v > b.0)
            {
                best = Some((v, e.path()));
            }
        }
    }
    let Some((_, library)) = best else { return Vec::new() };
    let (root, version) = (library.parent().unwrap_or(&library), library.file_name().unwrap_or_default());
    // Debian keeps versionless vendor files beside the versioned ones.
    let vendor = root.join("vendor_ruby");
    [library.clone(), vendor.join(version), vendor]
        .into_iter()
        .filter(|d| d.is_dir())
        .map(|d| d.to_string_lossy().into_owned())
        .collect()
}

/// Full path of a file name, relative to the VM's directory.
pub fn absolute(cx: &mut Cx, path: &[u8]) -> PathBuf {
    let p = match path.strip_prefix(b"~/") {
        Some(rest) => path_from(&zakuro_core_system::env::get(cx, b"HOME").unwrap_or_default()).join(path_from(rest)),
        None if path == b"~" => path_from(&zakuro_core_system::env::get(cx, b"HOME").unwrap_or_default()).to_path_buf(),
        None => path_from(path).to_path_buf(),
    };
    if p.is_absolute() {
        return clean(&p);
    }
    let base = zakuro_core_system::io::cwd::pwd(cx).unwrap_or_default();
    clean(&path_from(&base).join(p))
}

/// The program's file by the relative name that its code goes by, and where it was when the program started: the directory may change.
#[derive(Trace, Default)]
struct Script(#[untraced] Option<(Vec<u8>, PathBuf)>);
impl VmState for Script {
    fn snapshot(&self, _values: &mut Gathered) -> Option<Restore> {
        let kept = self.0.clone()?;
        Some(restore(move |cx, _| cx.state::<Script>().0 = Some(kept.clone())))
    }
}

/// Remembers where the program's file is.
pub fn note_script(cx: &mut Cx) {
    let name = cx.script.as_bytes().to_vec();
    if !name.starts_with(b"/") && !name.starts_with(b"-") {
        let full = absolute(cx, &name);
        cx.state::<Script>().0 = Some((name, full));
    }
}

/// Full path of a file of running code, links resolved.
pub fn path_of_code(cx: &mut Cx, file: &[u8]) -> PathBuf {
    let full = match &cx.state::<Script>().0 {
        Some((name, full)) if name == file => full.clone(),
        _ => absolute(cx, file),
    };
    std::fs::canonicalize(&full).unwrap_or(full)
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
    is_loadable(&p).then(|| bytes_of(&p))
}

/// What can be read to its end: files, FIFOs, devices like a terminal.
fn is_loadable(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() || m.file_type().is_fifo() || m.file_type().is_char_device())
}

/// Text of a file of code. None when it can't be read.
fn text_of(cx: &mut Cx, path: &Path) -> Result<Option<codecache::Text>> {
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        // Who writes may be another thread of this VM.
        return Ok(Some(codecache::Text::new(&whole::read_path(cx, &bytes_of(path))?)));
    }
    Ok(codecache::read(cx, || std::fs::metadata(path), || std::fs::File::open(path))?.ok())
}

fn is_explicit(feature: &[u8]) -> bool {
    feature.starts_with(b"/") || feature.starts_with(b"./") || feature.starts_with(b"../") || feature.starts_with(b"~/")
}

/// Whether an Array holds what it held when `kept` was made.
fn is_as_kept(cx: &Cx, a: Ref<ArrayCell>, kept: Option<Ref<ArrayCell>>) -> bool {
    kept.is_some_and(|k| ArrayCell::shows_the_same(a, k) || a.elements(&cx.heap) == k.elements(&cx.heap))
}

/// Keeps what an Array holds now.
fn keep(cx: &mut Cx, a: Ref<ArrayCell>, kept: Option<Ref<ArrayCell>>) -> Option<Ref<ArrayCell>> {
    let kept = kept.unwrap_or_else(|| cx.new_array());
    ArrayCell::replace_shared(kept, &mut cx.heap, a);
    Some(kept)
}

/// Brings the index up to date with the Arrays.
fn refresh(cx: &mut Cx) {
    let (path, features) = (load_path(cx), loaded_features(cx));
    let loader = cx.state::<Loader>();
    let (kept_path, kept_features) = (loader.path, loader.features);
    if !is_as_kept(cx, path, kept_path) {
        let kept = keep(cx, path, kept_path);
        let loader = cx.state::<Loader>();
        loader.resolved.clear();
        loader.dirs = None;
        loader.path = kept;
    }
    if !is_as_kept(cx, features, kept_features) {
        let kept = keep(cx, features, kept_features);
        // Texts are copied before the loader is borrowed.
        let texts = features.elements(&cx.heap).iter().filter_map(|v| Ref::<StringCell>::from_value(*v));
        let loaded: HashSet<Vec<u8>> = texts.map(|s| s.to_vec()).collect();
        let loader = cx.state::<Loader>();
        loader.real.retain(&loaded);
        loader.loaded = loaded;
        loader.features = kept;
        loader.resolved.clear();
    }
}

/// Directories of `$LOAD_PATH`, links resolved.
fn directories(cx: &mut Cx) -> Result<Arc<[PathBuf]>> {
    refresh(cx);
    if let Some(d) = &cx.state::<Loader>().dirs {
        return Ok(d.clone());
    }
    let list = load_path(cx);
    let (mut dirs, mut steady, mut i) = (Vec::new(), true, 0);
    while let Some(d) = list.get(i) {
        i += 1;
        steady &= d.is_kind(Kind::String);
        let d = cx.path_of(d)?;
        steady &= d.starts_with(b"/");
        let d = absolute(cx, &d);
        dirs.push(std::fs::canonicalize(&d).unwrap_or(d));
    }
    let dirs: Arc<[PathBuf]> = dirs.into();
    if steady {
        cx.state::<Loader>().dirs = Some(dirs.clone());
    }
    Ok(dirs)
}

/// File that a feature names.
pub fn resolve(cx: &mut Cx, feature: &[u8]) -> Result<Option<Vec<u8>>> {
    if is_explicit(feature) {
        let p = absolute(cx, feature);
        return Ok(candidate(None, &bytes_of(&p)));
    }
    Ok(directories(cx)?.iter().find_map(|d| candidate(Some(d), feature)))
}

fn stem(feature: &[u8]) -> &[u8] {
    feature.strip_suffix(b".rb").or_else(|| feature.strip_suffix(b".so")).unwrap_or(feature)
}

/// Whether `$LOADED_FEATURES` names a feature: as it is written, or in a directory of `$LOAD_PATH`. The file system is not asked.
fn is_provided(cx: &mut Cx, feature: &[u8]) -> Result<bool> {
    refresh(cx);
    if BUILTIN.iter().chain(&ENCODINGS).any(|f| f.as_bytes() == stem(feature)) {
        return Ok(true);
    }
    let names: Vec<Vec<u8>> = match stem(feature).len() == feature.len() {
        true if native(feature) => [b".rb", b".so"].iter().map(|e| [feature, &e[..]].concat()).collect(),
        // A C extension of the same name does not stand for a file in Ruby.
        true => vec![[feature, b".rb"].concat()],
        false => vec![feature.to_vec()],
    };
    let loader = cx.state::<Loader>();
    if names.iter().any(|n| loader.loaded.contains(n)) {
        return Ok(true);
    }
    if is_explicit(feature) {
        let full: Vec<Vec<u8>> = names.iter().map(|n| bytes_of(&absolute(cx, n))).collect();
        let loader = cx.state::<Loader>();
        return Ok(full.iter().any(|n| loader.loaded.contains(n)));
    }
    let dirs = directories(cx)?;
    let loader = cx.state::<Loader>();
    let mut full = Vec::new();
    Ok(dirs.iter().any(|d| {
        names.iter().any(|n| {
            full.clear();
            full.extend_from_slice(d.as_os_str().as_encoded_bytes());
            if full.last() != Some(&b'/') {
                full.push(b'/');
            }
            full.extend_from_slice(n);
            loader.loaded.contains(&full)
        })
    }))
}

/// Whether `feature` (without extension) is one that no file has: it stands in for a C extension.
fn native(feature: &[u8]) -> bool {
    std::str::from_utf8(feature).is_ok_and(|n| library::library().feature(n).is_some())
}

/// How far a feature is.
pub fn state(cx: &mut Cx, feature: &[u8]) -> Result<FeatureState> {
    if is_provided(cx, feature)? {
        return Ok(FeatureState::Loaded);
    }
    let plain = stem(feature);
    let file = if native(plain) {
        native_name(plain)
    } else {
        let Some(file) = resolve(cx, feature)? else { return Ok(FeatureState::Absent) };
        real(&file)
    };
    let me = cx.waiter_id();
    let loader = cx.state::<Loader>();
    Ok(match loader.loading.iter().find(|l| l.file == file) {
        Some(l) if l.thread == me => FeatureState::LoadingHere,
        Some(_) => FeatureState::LoadingElsewhere,
        None if loader.real.has_path(&file) => FeatureState::Loaded,
        None => FeatureState::Absent,
    })
}

/// Waits until no other thread loads a feature. False: that would wait for the running thread itself.
pub fn wait_for(cx: &mut Cx, feature: &[u8]) -> Result<bool> {
    let plain = stem(feature);
    if native(plain) {
        return wait_for_file(cx, &native_name(plain));
    }
    match resolve(cx, feature)? {
        Some(f) => wait_for_file(cx, &real(&f)),
        None => Ok(true),
    }
}

/// The name by which a builtin feature is known to be loaded.
fn native_name(plain: &[u8]) -> Vec<u8> {
    [plain, b".so"].concat()
}

fn wait_for_file(cx: &mut Cx, file: &[u8]) -> Result<bool> {
    let Some(owner) = cx.state::<Loader>().loading.iter().find(|l| l.file == file).map(|l| l.thread) else { return Ok(true) };
    let me = cx.waiter_id();
    wait_for_thread(cx, owner, |cx| {
        let Some(l) = cx.state::<Loader>().loading.iter_mut().find(|l| l.file == file && l.thread == owner) else { return true };
        if !l.waiters.contains(&me) {
            l.waiters.push(me);
        }
        false
    })
}

/// Waits for something that another thread will do. False, at once, when that thread waits for this one: each of two threads that load files which need
/// each other's goes on with what there is, as with a circular require.
pub fn wait_for_thread(cx: &mut Cx, owner: u32, mut done: impl FnMut(&mut Cx) -> bool) -> Result<bool> {
    let me = cx.waiter_id();
    let waits = &cx.state::<Loader>().waits;
    let mut at = owner;
    while at != me {
        match waits.iter().find(|w| w.0 == at) {
            Some(w) => at = w.1,
            None => break,
        }
    }
    if at == me {
        return Ok(false);
    }
    let r = cx.wait_inside(Value::NIL, None, |cx| {
        if done(cx) {
            return Ok(Some(()));
        }
        let waits = &mut cx.state::<Loader>().waits;
        if !waits.contains(&(me, owner)) {
            waits.push((me, owner));
        }
        Ok(None)
    });
    cx.state::<Loader>().waits.retain(|w| w.0 != me);
    r.map(|_| true)
}

/// What a thread has done is done for those who waited for it, before they run again: it may wait for them next.
pub fn wake_waiters(cx: &mut Cx, owner: u32, waiters: Vec<u32>) {
    cx.state::<Loader>().waits.retain(|w| w.1 != owner || !waiters.contains(&w.0));
    for w in waiters {
        cx.thread_wake(w);
    }
}

/// In a child process: what other threads were loading nobody will finish. Whoever needs it begins anew.
pub fn forget_others(cx: &mut Cx) {
    let mine = [cx.waiter_id(), cx.thread_id()];
    let loader = cx.state::<Loader>();
    loader.loading.retain(|l| mine.contains(&l.thread));
    loader.loading.iter_mut().for_each(|l| l.waiters.clear());
    loader.waits.clear();
    let (kept, others) = std::mem::take(&mut cx.autoloading).into_iter().partition(|r| mine.contains(&r.thread));
    cx.autoloading = kept;
    for run in others {
        super::autoload::take_back(cx, &run);
    }
    cx.autoloading.iter_mut().for_each(|r| r.waiters.clear());
}

fn real(file: &[u8]) -> Vec<u8> {
    std::fs::canonicalize(path_from(file)).map_or_else(|_| file.to_vec(), |p| bytes_of(&p))
}

/// Registers a feature in `$LOADED_FEATURES`. RuntimeError where that is frozen.
fn provide(cx: &mut Cx, feature: &[u8], real: &[u8]) -> Result<()> {
    let features = loaded_features(cx);
    if features.as_value().is_frozen() {
        return cx.raise(ids::RUNTIME_ERROR, "$LOADED_FEATURES is frozen; cannot append feature");
    }
    refresh(cx);
    // Its buffer is shared no more then, and needn't be copied.
    let kept = cx.state::<Loader>().features;
    if let Some(kept) = kept {
        ArrayCell::release(kept, &mut cx.heap);
    }
    let v = cx.str_auto(feature);
    v.set_flags(flags::FROZEN);
    cx.cell_changes(features.as_value());
    ArrayCell::push(features, &mut cx.heap, v);
    let kept = keep(cx, features, kept);
    let loader = cx.state::<Loader>();
    loader.loaded.insert(feature.to_vec());
    loader.real.insert(feature, real);
    loader.features = kept;
    Ok(())
}

/// Takes the parts of a builtin feature ("zakuro/pool/task" is one of "zakuro/pool") out of `$LOADED_FEATURES`.
pub fn withdraw_parts(cx: &mut Cx, feature: &[u8]) {
    let features = loaded_features(cx);
    if !native(stem(feature)) || features.as_value().is_frozen() {
        return;
    }
    let below = [stem(feature), b"/"].concat();
    let mut rest = RootedVec::new(cx);
    let mut i = 0;
    while let Some(v) = features.get(i) {
        i += 1;
        let is_part = Ref::<StringCell>::from_value(v).is_some_and(|s| {
            let name = s.to_vec();
            name.starts_with(&below) && native(stem(&name))
        });
        if !is_part {
            rest.push(v);
        }
    }
    if rest.len() < i {
        cx.cell_changes(features.as_value());
        ArrayCell::replace(features, &mut cx.heap, &rest);
    }
}

#[cold]
fn load_error<T>(cx: &mut Cx, feature: &[u8], message: String) -> Result<T> {
    let e = cx.exception(ids::LOAD_ERROR, &message);
    let path = cx.str_auto(feature);
    cx.ivar_set_raw(e, Sym::intern("@path"), path);
    cx.raise_value(e)
}

/// What the program's own `InstructionSequence.load_iseq`, if there is one, has instead of a file's text.
fn loaded_otherwise(cx: &mut Cx, file: &[u8]) -> Result<Option<Arc<zakuro_bytecode::Code>>> {
    let class = cx.class_value(ids::ISEQ);
    let name = Sym::intern("load_iseq");
    if cx.method_of(class, name).is_none() {
        return Ok(None);
    }
    let file = cx.str_auto(file);
    let given = cx.call(class, name, &[file])?;
    Ok(crate::iseq::program(cx, given))
}

/// Compiles a file and runs it.
pub fn run_file(cx: &mut Cx, file: &[u8], wrap: Option<Value>) -> Result<()> {
    let before = cx.begin_loading();
    let run = find_and_run(cx, file, wrap);
    cx.end_activity(before);
    run
}

fn find_and_run(cx: &mut Cx, file: &[u8], wrap: Option<Value>) -> Result<()> {
    if let Some(code) = loaded_otherwise(cx, file)? {
        let wrap = wrapped(cx, wrap)?;
        cx.run_program(&code, wrap)?;
        return Ok(());
    }
    let path = path_from(file);
    let Some(source) = text_of(cx, path)? else {
        let shown = String::from_utf8_lossy(file).into_owned();
        return load_error(cx, file, format!("cannot load such file -- {shown}"));
    };
    let name = String::from_utf8_lossy(file).into_owned();
    let encoding = zakuro_core_text::encoding::source_encoding(cx);
    let frozen_string_literal = cx.options.frozen_string_literal;
    let (literal_places, keep_locals) = (cx.options.literal_places, cx.options.keep_locals);
    let branches = cx.wants_branches();
    let options = Options {
        file: &name,
        line: 1,
        warn: true,
        verbose: cx.is_verbose(),
        encoding,
        frozen_string_literal,
        literal_places,
        keep_locals,
        branches,
        ..Default::default()
    };
    let compiled = match codecache::compile_text(cx, &source, &options)? {
        Ok(c) => c,
        Err(e) => return syntax_error(cx, &e),
    };
    drop(source);
    if branches {
        cx.note_branches(&name, &compiled, false);
    }
    show_warnings(cx, &name, &compiled.warnings)?;
    crate::kernel::eval::compiled(cx, &compiled.code, Value::NIL)?;
    let wrap = wrapped(cx, wrap)?;
    cx.run_program(&compiled.code, wrap)?;
    Ok(())
}

/// In a module, `self` is a copy of main that the module extends.
fn wrapped(cx: &mut Cx, wrap: Option<Value>) -> Result<Option<(Value, Value)>> {
    Ok(match (wrap, wrap.and_then(|m| cx.class_id(m))) {
        (Some(m), Some(id)) => {
            let main = crate::object::copy::clone(cx, cx.main, None)?;
            let s = cx.singleton_class(main)?;
            cx.include_module(s, id)?;
            Some((m, main))
        }
        _ => None,
    })
}

/// Tells who required a file that is being loaded, the outermost call first; as CRuby writes it, with the place twice.
fn warn_of_circle(cx: &mut Cx, file: &[u8]) -> Result<()> {
    let place = cx.here().map_or(String::new(), |(file, line)| format!("{file}:{line}: "));
    let mut told = format!("{place}warning: loading in progress, circular require considered harmful - {}\n", String::from_utf8_lossy(file));
    let lines = cx.backtrace_value(0);
    if let Some(lines) = Ref::<ArrayCell>::from_value(lines) {
        for line in (0..lines.len()).rev().filter_map(|i| Ref::<StringCell>::from_value(lines.get(i)?)) {
            let line = String::from_utf8_lossy(line.content(&cx.heap)).into_owned();
            let (place, label) = line.split_once(":in '").unwrap_or((&line, ""));
            let label = label.trim_end_matches('\'');
            let (kind, name) = label.rsplit_once(' ').map_or(("", label), |(kind, _)| label.split_at(kind.len() + 1));
            let name = name.rsplit_once(['#', '.']).map_or(name, |(_, name)| name);
            told.push_str(&format!("\tfrom {place}:in  '{kind}{name}'\n"));
        }
    }
    cx.warn_here(&told)
}

/// Loads a file unless it is loaded. False when it was.
pub fn require_file(cx: &mut Cx, file: &[u8]) -> Result<bool> {
    refresh(cx);
    if cx.state::<Loader>().loaded.contains(file) {
        return Ok(false);
    }
    load_once(cx, file, &real(file), true, |cx| run_file(cx, file, None))
}

/// Loads what is not loaded yet, a file or a builtin feature, by `load`. What another thread is loading is waited for; when that fails, it is tried again here.
fn load_once(cx: &mut Cx, file: &[u8], real: &[u8], warns: bool, load: impl FnOnce(&mut Cx) -> Result<()>) -> Result<bool> {
    loop {
        refresh(cx);
        let me = cx.waiter_id();
        let loader = cx.state::<Loader>();
        if loader.loaded.contains(file) || loader.real.has_path(real) {
            return Ok(false);
        }
        match loader.loading.iter().find(|l| l.file == real).map(|l| l.thread) {
            None => break,
            Some(t) if t != me && wait_for_file(cx, real)? => continue,
            Some(_) => {}
        }
        if warns && is_verbose(cx) {
            warn_of_circle(cx, file)?;
        }
        return Ok(false);
    }
    let thread = cx.waiter_id();
    cx.state::<Loader>().loading.push(Loading { file: real.to_vec(), thread, waiters: Vec::new() });
    let mut result = load(cx);
    if result.is_ok() {
        result = provide(cx, file, real);
    }
    let loader = cx.state::<Loader>();
    if let Some(i) = loader.loading.iter().position(|l| l.file == real) {
        let waiters = loader.loading.swap_remove(i).waiters;
        wake_waiters(cx, thread, waiters);
    }
    result.map(|()| true)
}

/// `require feature`
pub fn require(cx: &mut Cx, feature: &[u8]) -> Result<bool> {
    refresh(cx);
    if let Some(f) = cx.state::<Loader>().resolved.get(feature).cloned() {
        return require_file(cx, &f);
    }
    if is_provided(cx, feature)? {
        return Ok(false);
    }
    let before = cx.begin_loading();
    let loaded = find_and_load(cx, feature);
    cx.end_activity(before);
    loaded
}

/// What nobody has provided: all of it is loading, the search too, and the builtins of a native feature as much as a file.
fn find_and_load(cx: &mut Cx, feature: &[u8]) -> Result<bool> {
    // Natives that stand in for C extensions go before files of the same name. One that is named `x.so` is a part of the file x.rb.
    let plain = stem(feature);
    let key = if native(feature) { feature } else { plain };
    if native(key) {
        let name = native_name(plain);
        return load_once(cx, &name, &name, false, |cx| match std::str::from_utf8(key).ok().and_then(|n| library::library().feature(n)) {
            Some(load) => load(cx),
            None => Ok(()),
        });
    }
    if feature.starts_with(b"rubygems/") {
        super::gems::start(cx)?;
    }
    match resolve(cx, feature)? {
        // RubyGems is loaded by then: this does not come again.
        Some(f) if super::gems::take_installed(cx, feature, &f)? => require(cx, feature),
        Some(f) => {
            let result = require_file(cx, &f)?;
            refresh(cx);
            cx.state::<Loader>().resolved.insert(feature.to_vec(), f);
            Ok(result)
        }
        None if cx.state::<Loader>().loaded.contains(feature) => Ok(false),
        // A C extension that a program says is loaded, where there is no file either.
        None if plain.len() == feature.len() && cx.state::<Loader>().loaded.contains(&[feature, b".so"].concat()) => Ok(false),
        // As in RubyGems' own `require`, which rescues the error of the first try: it is the cause of what the gem's file raises.
        None if !is_explicit(feature) && super::gems::activate_for(cx, feature)? => {
            let shown = String::from_utf8_lossy(feature).into_owned();
            let mut around = RootedVec::new(cx);
            around.push(cx.errinfo);
            if load_error::<()>(cx, feature, format!("cannot load such file -- {shown}")).is_err() {
                cx.errinfo = cx.take_pending();
            }
            let result = require(cx, feature);
            cx.errinfo = around[0];
            result
        }
        None => {
            let shown = String::from_utf8_lossy(feature).into_owned();
            let hint = match no_library(cx) {
                // A stack that was left can't be entered once more.
                _ if stem(feature) == b"continuation" => " (Zakuro has no continuations: Fiber, or catch and throw, do what they are mostly for)".to_string(),
                hint if hint.is_empty() => super::gems::missing_extension(cx, feature)?,
                hint => hint,
            };
            load_error(cx, feature, format!("cannot load such file -- {shown}{hint}"))
        }
    }
}

/// What a LoadError adds where the standard library was never laid out.
fn no_library(cx: &Cx) -> String {
    match &cx.options.library {
        Some(at) if !Path::new(at).is_dir() => format!(" (the standard library is not in {at}: `./run --library` in Zakuro's repository puts it there)"),
        _ => String::new(),
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
        let required = super::require(cx, &f);
        in_encoding(cx, required, &f, feature)
    }
    /// Loads a file once, relative to the calling file.
    #[method("require_relative", module_function)]
    fn require_relative(cx: &mut Cx, _this: Value, feature: Value) -> Result<bool> {
        let f = cx.path_of(feature)?;
        let base = match cx.here() {
            Some((file, _)) if !file.starts_with("(eval") => file,
            _ => return cx.raise(ids::LOAD_ERROR, "cannot infer basepath"),
        };
        let base = path_of_code(cx, base.as_bytes());
        let full = clean(&base.parent().unwrap_or(Path::new("/")).join(path_from(&f)));
        let full = bytes_of(&full);
        match candidate(None, &full) {
            Some(file) => require_file(cx, &file),
            None => {
                let shown = String::from_utf8_lossy(&full).into_owned();
                let hint = super::super::gems::missing_extension(cx, &full)?;
                load_error(cx, &full, format!("cannot load such file -- {shown}{hint}"))
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
            Some(_) => Some(zakuro_core_base::allocate::new_module(cx, ids::MODULE)),
        };
        let direct = absolute(cx, &f);
        let mut found = (is_explicit(&f) && is_loadable(&direct)).then(|| bytes_of(&direct));
        if found.is_none() && !is_explicit(&f) {
            found = directories(cx)?.iter().map(|d| d.join(path_from(&f))).find(|p| is_loadable(p)).map(|p| bytes_of(&p));
            if found.is_none() && is_loadable(&direct) {
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
                let failed = load_error(cx, &f, format!("cannot load such file -- {shown}"));
                in_encoding(cx, failed, &f, file)
            }
        }
    }

    /// A LoadError says the name of the file in the encoding that it was given in.
    fn in_encoding(cx: &mut Cx, result: Result<bool>, path: &[u8], given: Value) -> Result<bool> {
        let exc = cx.pending;
        if result.is_ok() || path.is_ascii() || std::str::from_utf8(path).is_ok() || !cx.is_a(exc, ids::LOAD_ERROR) {
            return result;
        }
        let of = cx.ivar_get(exc, Sym::intern("@path"));
        if Ref::<StringCell>::from_value(of).is_some_and(|p| p.equals(path))
            && let Some(name) = Ref::<StringCell>::from_value(given)
        {
            let message = cx.str_bytes(&[b"cannot load such file -- ", path].concat(), name.encoding());
            cx.ivar_set_raw(exc, zakuro_vm::raise::hidden::message(), message);
        }
        result
    }
}
