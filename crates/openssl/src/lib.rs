//! `require "openssl"`: OpenSSL 3 itself behind the gem's interface. Natives are functions of the private module `OpenSSL::Native`, about handles ([`handle`]);
//! classes, arguments and messages are Ruby (`ruby/openssl*.rb`).
//!
//! Invariants: nothing process-wide of our own; OpenSSL's error queue is read and emptied in the call that filled it, since a Ruby thread may go on on
//! another native thread; no Ruby runs, and no thread waits, inside OpenSSL ([`ssl`], [`verify`]); what may take long can be interrupted ([`aside`]).
//! A crate of its own, so that nobody else waits for it.
//! Rejected: the crates `openssl` and `openssl-sys` (half of what is needed is missing there, and their build needs headers); payloads in the classes
//! themselves (every class of the gem may be subclassed, dumped and sent, which plain objects with a handle can).

mod aside;
mod digest;
mod error;
mod handle;
mod memory;
mod ocsp;
mod pkcs7;
mod pkey;
mod provider;
mod ssl;
mod sys;
mod timestamp;
mod verify;
mod x509;

use zakuro_vm::library::Feature;
use zakuro_vm::*;

/// Features by the name that `require` gets.
pub static FEATURES: &[(&str, Feature)] = &[
    ("openssl", load),
    ("openssl/bn", load),
    ("openssl/buffering", load),
    ("openssl/cipher", load),
    ("openssl/config", load),
    ("openssl/digest", load),
    ("openssl/hmac", load),
    ("openssl/marshal", load),
    ("openssl/pkcs5", load),
    ("openssl/pkey", load),
    ("openssl/ssl", load),
    ("openssl/version", load),
    ("openssl/x509", load),
];

/// In the order in which they run.
const PARTS: &[&str] = &[
    "openssl",
    "openssl/bn",
    "openssl/asn1",
    "openssl/pkey",
    "openssl/x509",
    "openssl/config",
    "openssl/store",
    "openssl/pkcs",
    "openssl/ocsp",
    "openssl/timestamp",
    "openssl/provider",
    "openssl/buffering",
    "openssl/ssl",
];

fn load(cx: &mut Cx) -> Result<()> {
    if cx.const_by_path("OpenSSL::Native").is_some() {
        return Ok(());
    }
    memory::prepare();
    // No function at the end of the process (other native threads may be at work then), errors as text.
    // SAFETY: it may be called any number of times, by any thread.
    if unsafe { sys::OPENSSL_init_ssl(0x0008_0000 | 0x0020_0000 | 0x2, std::ptr::null_mut()) } != 1 {
        error::take();
        return cx.raise(ids::LOAD_ERROR, "OpenSSL can't be initialized");
    }
    error::take();
    let openssl = cx.define_module(ids::OBJECT, "OpenSSL");
    let native = cx.define_module(openssl, "Native");
    let class = cx.define_class(native, "Handle", ids::OBJECT);
    cx.class_mut(class).alloc = Alloc::Data;
    for table in [
        digest::METHODS,
        pkey::METHODS,
        x509::METHODS,
        pkcs7::METHODS,
        verify::METHODS,
        ssl::METHODS,
        ocsp::METHODS,
        timestamp::METHODS,
        provider::METHODS,
    ] {
        for row in table {
            cx.define_native_in(row, native);
        }
    }
    for part in PARTS {
        cx.run_builtin(part)?;
    }
    Ok(())
}
