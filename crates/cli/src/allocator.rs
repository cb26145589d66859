//! The process's malloc and its settings.
//!
//! mimalloc lets the kernel use huge pages for its arenas, which triples the resident memory of a small program (67 against 24 MB in
//! bench/string_build), and keeps freed pages. Both are switched off before the first allocation. Rejected: environment variables (child processes would inherit them).

#[global_allocator]
static ALLOCATOR: zakuro_runtime::allocator::Net<mimalloc::MiMalloc> = zakuro_runtime::allocator::Net(mimalloc::MiMalloc);

unsafe extern "C" {
    fn mi_option_set(option: core::ffi::c_int, value: core::ffi::c_long);
}

/// Numbers of mimalloc's options (enum mi_option_t of the version that the crate vendors).
const ARENA_EAGER_COMMIT: core::ffi::c_int = 4;
const PURGE_DELAY: core::ffi::c_int = 15;
const ALLOW_THP: core::ffi::c_int = 43;

extern "C" fn configure() {
    // SAFETY: sets plain numbers, before other code of the process runs.
    unsafe {
        mi_option_set(ALLOW_THP, 0);
        mi_option_set(ARENA_EAGER_COMMIT, 0);
        // Milliseconds.
        mi_option_set(PURGE_DELAY, 1);
    }
}

/// Called by the loader before `main` and before Rust's own start-up allocates.
#[used]
#[unsafe(link_section = ".init_array")]
static CONFIGURE: extern "C" fn() = configure;
