//! Signals of the process. Delivery to the VMs that trap them comes with `Signal.trap`; what is here keeps broken pipes from killing the process.

/// Sets the dispositions that a Ruby process starts with.
pub fn install() {
    // SAFETY: called once at start, before other threads exist.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}
