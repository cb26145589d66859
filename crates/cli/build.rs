//! How the binary is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // At a fixed address: 53,000 pointers in tables (builtins, classes, OpenSSL's methods) are not relocated at each start, which took a quarter of the page faults of `-e 1`
    // (docs/decisions/0017-linked-at-a-fixed-address.md).
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        // What images in files name the binary by that wrote them (docs/decisions/0030-images-in-files.md).
        println!("cargo:rustc-link-arg-bins=-Wl,--build-id=sha1");
        let order = std::path::Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("start.ld");
        println!("cargo:rerun-if-changed=start.ld");
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{}", order.display());
    }
}
