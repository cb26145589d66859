//! SQLite3::Backup: a database copied into another, page by page.

use super::engine::{self, Shared};
use super::ffi::*;
use super::{c_string, check, closed, database};
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Payload of a SQLite3::Backup.
#[derive(Trace)]
struct Backup {
    #[untraced]
    p: *mut sqlite3_backup,
    to: Value,
    from: Value,
    /// Both connections live as long as the copying does.
    #[untraced]
    connections: [Arc<Shared>; 2],
}
// SAFETY: as `Shared`: one VM's, one thread at a time.
unsafe impl Send for Backup {}
impl NativeData for Backup {}
impl Drop for Backup {
    fn drop(&mut self) {
        if !self.p.is_null() && self.connections.iter().all(|c| !c.discarded.get() && !c.is_in_use()) {
            // SAFETY: live connections, or such as wait for this.
            unsafe { sqlite3_backup_finish(self.p) };
        }
    }
}

fn live(cx: &mut Cx, this: Value) -> Result<*mut sqlite3_backup> {
    let p = if cx.is_data::<Backup>(this) { cx.data_ref::<Backup>(this)?.p } else { std::ptr::null_mut() };
    if p.is_null() { closed(cx, "cannot use a closed backup") } else { Ok(p) }
}

/// Methods of `SQLite3::Backup`.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    /// A copy of a database of one connection ("main", "temp") to one of another; ArgumentError for closed connections.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, to: Value, to_name: Value, from: Value, from_name: Value) -> Result<()> {
        let (a, b) = (database::shared(cx, to)?, database::shared(cx, from)?);
        if b.db.get().is_null() {
            return cx.arg_error("cannot backup from a closed database");
        }
        if a.db.get().is_null() {
            return cx.arg_error("cannot backup to a closed database");
        }
        let (to_name, from_name) = (c_string(cx, to_name)?, c_string(cx, from_name)?);
        let found = Arc::new(AtomicPtr::new(std::ptr::null_mut()));
        let (place, x, y) = (found.clone(), a.db.get(), b.db.get());
        engine::call(cx, to, Some(from), move || {
            // SAFETY: live connections, texts that end with NUL.
            place.store(unsafe { sqlite3_backup_init(x, to_name.as_ptr(), y, from_name.as_ptr()) }, Relaxed);
            SQLITE_OK
        })?;
        let p = found.load(Relaxed);
        if p.is_null() {
            // SAFETY: a live connection.
            let status = unsafe { sqlite3_errcode(x) };
            return check(cx, x, status);
        }
        cx.data_init(this, Backup { p, to, from, connections: [a, b] })
    }
    /// Copies so many pages (-1: all that are left): 0, SQLite's code for the end or for what went wrong.
    #[method("step")]
    fn step(cx: &mut Cx, this: Value, pages: i64) -> Result<i64> {
        // In portions: SQLite asks nobody on the way.
        const PORTION: i64 = 1000;
        let mut left = pages;
        loop {
            let p = live(cx, this)?;
            let b = cx.data_ref::<Backup>(this)?;
            let (to, from) = (b.to, b.from);
            let n = if left < 0 { PORTION } else { left.min(PORTION) } as c_int;
            // SAFETY: a live backup, which its payload frees only when no call is under way.
            let status = engine::call(cx, to, Some(from), move || unsafe { sqlite3_backup_step(p, n) })?;
            if left > 0 {
                left -= n as i64;
            }
            if status != SQLITE_OK || left == 0 {
                return Ok(status as i64);
            }
            cx.safepoint()?;
        }
    }
    /// Ends the copy.
    #[method("finish")]
    fn finish(cx: &mut Cx, this: Value) -> Result<()> {
        let p = live(cx, this)?;
        let b = cx.data_mut::<Backup>(this)?;
        b.p = std::ptr::null_mut();
        let (to, from) = (b.to, b.from);
        // SAFETY: a live backup, which nobody has any more.
        engine::call(cx, to, Some(from), move || unsafe { sqlite3_backup_finish(p) })?;
        Ok(())
    }
    /// The pages that were left after the last `step`.
    #[method("remaining")]
    fn remaining(cx: &mut Cx, this: Value) -> Result<i64> {
        let p = live(cx, this)?;
        // SAFETY: a live backup.
        Ok(unsafe { sqlite3_backup_remaining(p) } as i64)
    }
    /// The pages of the database after the last `step`.
    #[method("pagecount")]
    fn pagecount(cx: &mut Cx, this: Value) -> Result<i64> {
        let p = live(cx, this)?;
        // SAFETY: as above.
        Ok(unsafe { sqlite3_backup_pagecount(p) } as i64)
    }
}
pub(super) use native::METHODS;
