//! Providers: where OpenSSL's algorithms come from. The list of them that everybody starts with is the process's, so a VM that loads one gets a library context of
//! its own: from then on its digests and ciphers come from there, and nobody else's do. Only OpenSSL's own providers are loaded: another one would be
//! any code that a program names.

use crate::error::{self, fail, text};
use crate::handle::*;
use crate::sys::*;
use std::ffi::{CString, c_int};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

const ERROR: &str = "Provider::ProviderError";
const KNOWN: &[&str] = &["base", "default", "fips", "legacy", "null"];

/// A library context. Whatever was fetched from it has to end before it: so objects hold it, too.
pub struct Library(P);
// SAFETY: OpenSSL locks it.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}
impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: our own, and nothing of it is left.
        unsafe { OSSL_LIB_CTX_free(self.0) };
        error::take();
    }
}

#[derive(Default, Trace)]
pub struct Providers {
    #[untraced]
    library: Option<Arc<Library>>,
    /// None: unloaded.
    #[untraced]
    loaded: Vec<Option<P>>,
}
impl VmState for Providers {}
impl Drop for Providers {
    fn drop(&mut self) {
        for p in self.loaded.drain(..).flatten() {
            // SAFETY: loaded, and not unloaded since.
            unsafe { OSSL_PROVIDER_unload(p) };
        }
        error::take();
    }
}

/// This VM's library context, if it has one.
pub fn library(cx: &mut Cx) -> Option<Arc<Library>> {
    cx.state::<Providers>().library.clone()
}

/// NULL, which is the process's, without one.
pub fn context(library: &Option<Arc<Library>>) -> P {
    library.as_ref().map_or(null_mut(), |l| l.0)
}

/// As long as it lives, whatever this native thread asks of OpenSSL comes from a library. No Ruby runs meanwhile.
pub struct Within(P, P);
impl Within {
    pub fn new(library: &Option<Arc<Library>>) -> Option<Within> {
        // SAFETY: a live context, which the caller holds.
        library.as_ref().map(|l| unsafe { Within(OSSL_LIB_CTX_set0_default(l.0), l.0) })
    }
}
impl Drop for Within {
    fn drop(&mut self) {
        // SAFETY: what was there before.
        unsafe {
            OSSL_LIB_CTX_set0_default(self.0);
            OPENSSL_thread_stop_ex(self.1);
        }
    }
}

/// After work that may have asked for random bytes: the generator that a library keeps for each native thread would outlive the library.
pub fn leave(library: &Option<Arc<Library>>) {
    if let Some(l) = library {
        // SAFETY: a live context.
        unsafe { OPENSSL_thread_stop_ex(l.0) };
    }
}

/// A provider in a file of its own brings the shared libcrypto, which would clean up at the end of the process, while others are at work: so it is told not to.
fn prepare_modules() {
    // SAFETY: the function's type is that of `OPENSSL_init_crypto`; the library stays.
    unsafe {
        let library = libc::dlopen(c"libcrypto.so.3".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if library.is_null() {
            return;
        }
        let f = libc::dlsym(library, c"OPENSSL_init_crypto".as_ptr());
        if !f.is_null() {
            let f: unsafe extern "C" fn(u64, P) -> c_int = std::mem::transmute(f);
            f(0x0008_0000, null_mut()); // OPENSSL_INIT_NO_ATEXIT
        }
    }
}

unsafe extern "C" fn one_name(provider: P, arg: P) -> c_int {
    // SAFETY: called with the list that outlives the call.
    unsafe { (*arg.cast::<Vec<String>>()).push(text(OSSL_PROVIDER_get0_name(provider))) };
    1
}

/// Methods of `OpenSSL::Native`.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    /// The number by which the provider is known here.
    #[method("provider_load", singleton)]
    fn provider_load(cx: &mut Cx, _this: Value, name: Ref<StringCell>) -> Result<i64> {
        let name: CString = c_string(cx, name)?;
        let words = name.to_string_lossy().into_owned();
        if !KNOWN.contains(&&*words) {
            return fail(cx, ERROR, &format!("Failed to load {words} provider: (null) (name={words})"));
        }
        let library = match library(cx) {
            Some(l) => l,
            None => {
                // SAFETY: a new context. What is fetched first brings the default provider, which an explicit one would keep away.
                let p = unsafe { OSSL_LIB_CTX_new() };
                if p.is_null() {
                    return fail(cx, ERROR, "OSSL_LIB_CTX_new");
                }
                let l = Arc::new(Library(p));
                // SAFETY: as above.
                unsafe { EVP_MD_free(EVP_MD_fetch(l.0, c"SHA256".as_ptr(), null())) };
                l
            }
        };
        if words == "legacy" || words == "fips" {
            prepare_modules();
        }
        // SAFETY: a live context; ends with NUL.
        let p = unsafe { OSSL_PROVIDER_load(library.0, name.as_ptr()) };
        if p.is_null() {
            return fail(cx, ERROR, &format!("Failed to load {words} provider"));
        }
        error::take();
        let state = cx.state::<Providers>();
        state.library = Some(library);
        state.loaded.push(Some(p));
        Ok(state.loaded.len() as i64 - 1)
    }
    /// False: it is unloaded already.
    #[method("provider_unload", singleton)]
    fn provider_unload(cx: &mut Cx, _this: Value, number: i64) -> Result<bool> {
        let Some(p) = usize::try_from(number).ok().and_then(|i| cx.state::<Providers>().loaded.get_mut(i)?.take()) else {
            return Ok(false);
        };
        // SAFETY: loaded, and not unloaded since.
        if unsafe { OSSL_PROVIDER_unload(p) } != 1 {
            return fail(cx, ERROR, "Failed to unload provider");
        }
        error::take();
        Ok(true)
    }
    /// Whether it is loaded in this VM.
    #[method("provider_loaded?", singleton)]
    fn provider_loaded(cx: &mut Cx, _this: Value, number: i64) -> Result<bool> {
        Ok(usize::try_from(number).is_ok_and(|i| cx.state::<Providers>().loaded.get(i).is_some_and(Option::is_some)))
    }
    #[method("provider_names", singleton)]
    fn provider_names(cx: &mut Cx, _this: Value) -> Value {
        let library = library(cx);
        let mut names: Vec<String> = Vec::new();
        // SAFETY: the list outlives the call.
        unsafe { OSSL_PROVIDER_do_all(context(&library), one_name, (&raw mut names).cast()) };
        error::take();
        cx.str_array(&names)
    }
}
pub(crate) use natives::METHODS;
