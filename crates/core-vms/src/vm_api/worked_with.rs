//! Builtins that the program of a pool's VM works with (crates/stdlib/ruby/zakuro_pool_worker.rb). A job that defines one of them anew would have that program answer what nobody asked, or nothing.

use zakuro_macros::Trace;
use zakuro_vm::*;

/// Status with which such a VM ends.
const STATUS: i32 = 76;

const METHODS: &[(ClassId, &str)] = &[
    (ids::INTEGER, "+"),
    (ids::INTEGER, "-"),
    (ids::INTEGER, "<="),
    (ids::INTEGER, "=="),
    (ids::INTEGER, "<<"),
    (ids::INTEGER, "|"),
    (ids::INTEGER, ">"),
    (ids::FLOAT, "-"),
    (ids::FLOAT, ">"),
    (ids::ARRAY, "[]"),
    (ids::ARRAY, "<<"),
    (ids::ARRAY, "size"),
    (ids::ARRAY, "empty?"),
    (ids::HASH, "[]"),
    (ids::HASH, "[]="),
    (ids::HASH, "delete"),
    (ids::PROC, "call"),
    (ids::MODULE, "==="),
    (ids::CLASS, "new"),
];

/// Which of them were builtins when the program began (a set-up may have its own), and what the VM's methods were like when they were looked at last.
#[derive(Trace, Default)]
struct WorkedWith {
    builtin: u32,
    seen: (u64, u32),
}
impl VmState for WorkedWith {}

fn builtin(cx: &mut Cx) -> u32 {
    let is_builtin = |(class, name): &(ClassId, &str)| {
        let found = cx.find_method(*class, Sym::intern(name));
        found.is_some_and(|m| m.method_kind() == MethodKind::Native && m.owner == *class)
    };
    METHODS.iter().map(is_builtin).enumerate().fold(0, |all, (i, is)| all | u32::from(is) << i)
}

fn seen(cx: &Cx) -> (u64, u32) {
    (cx.method_serial, cx.epoch)
}

pub(super) fn begin(cx: &mut Cx) {
    let now = WorkedWith { builtin: builtin(cx), seen: seen(cx) };
    *cx.state() = now;
}

/// Ends the VM if one of them is a builtin no more.
pub(super) fn check(cx: &mut Cx) -> Result<()> {
    let now = seen(cx);
    let before = cx.state::<WorkedWith>();
    if before.seen == now {
        return Ok(());
    }
    let wanted = before.builtin;
    before.seen = now;
    if builtin(cx) & wanted == wanted { Ok(()) } else { cx.exit_at_once(STATUS) }
}
