//! Finds OpenSSL 3: the static libraries where they are installed, so that the binary can be moved to a machine without them; else the shared ones. With
//! the feature `vendored` it is compiled from source.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=OPENSSL_LIB_DIR");
    #[cfg(feature = "vendored")]
    {
        openssl_src::Build::new().build().print_cargo_metadata();
        return;
    }
    #[allow(unreachable_code)]
    {
        let var = |name: &str| std::env::var(name).unwrap_or_default();
        let (arch, libc) = (var("CARGO_CFG_TARGET_ARCH"), var("CARGO_CFG_TARGET_ENV"));
        let given = std::env::var_os("OPENSSL_LIB_DIR").map(PathBuf::from);
        let usual = [
            format!("/usr/lib/{arch}-linux-{libc}"),
            "/usr/local/lib64".into(),
            "/usr/local/lib".into(),
            "/usr/lib64".into(),
            "/usr/lib".into(),
        ];
        let folders: Vec<PathBuf> = given.into_iter().chain(usual.into_iter().map(PathBuf::from)).collect();
        let has = |folder: &Path, ending: &str| ["ssl", "crypto"].iter().all(|name| folder.join(format!("lib{name}.{ending}")).exists());
        let found = ["a", "so"].iter().find_map(|ending| folders.iter().find(|f| has(f, ending)).map(|f| (f, *ending)));
        if found.is_none() && var("HOST") != var("TARGET") {
            // Nothing is linked by `cargo check`; what links is told by the linker.
            println!("cargo::warning=libssl and libcrypto for {arch} are missing: a build needs --features vendored-openssl");
            println!("cargo::rustc-link-lib=dylib=ssl");
            println!("cargo::rustc-link-lib=dylib=crypto");
            return;
        }
        let Some((folder, ending)) = found else {
            panic!(
                "libssl and libcrypto are missing: install libssl-dev (openssl-devel), name their folder in OPENSSL_LIB_DIR, or build with --features vendored-openssl"
            )
        };
        println!("cargo::rustc-link-search=native={}", folder.display());
        let kind = if ending == "a" { "static" } else { "dylib" };
        println!("cargo::rustc-link-lib={kind}=ssl");
        println!("cargo::rustc-link-lib={kind}=crypto");
    }
}
