use super::*;

#[test]
fn the_cpu_of_a_running_thread_is_known() {
    // SAFETY: no arguments.
    let tid = unsafe { libc::gettid() };
    let allowed = affinity(tid).unwrap();
    let cpu = running_on(tid).unwrap();
    // SAFETY: a CPU number as read from the kernel.
    assert!(unsafe { libc::CPU_ISSET(cpu, &allowed) });
    assert!(set_affinity(tid, &allowed));
    assert!(running_on(1 << 30).is_none());
}
