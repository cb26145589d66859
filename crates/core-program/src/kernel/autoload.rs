//! Constants that a file is loaded for when they are first read.
//!
//! An entry of a class's constant table is in one of these states:
//!
//! | value | autoload | meaning |
//! |---|---|---|
//! | UNDEF | path | registered. Whether that counts as defined depends on the file: not when it is loaded (it did not define the constant), nor in the thread that is loading it |
//! | set | path | assigned by the file while a thread loads it for this path ([`AutoloadRun`]): seen by that thread only, others wait |
//! | set | nil | an ordinary constant |
//!
//! A run ends by publishing what the file has assigned, for all constants with its path; when the file fails they are registered as before. A
//! constant that its file does not define is removed. Files that are required otherwise have no run: what they assign is seen at once.
//!
//! Rejected: a table of pending values beside the constants (the collector, images and `Module#dup` would have to know a second place).

use super::eval::is_verbose;
use super::load::{self, FeatureState};
use std::sync::Arc;
use zakuro_vm::vm::AutoloadRun;
use zakuro_vm::*;

fn text(path: Value) -> Option<Vec<u8>> {
    Ref::<StringCell>::from_value(path).map(|s| s.to_vec())
}

/// Whether a constant with this path is still to be loaded, as the running thread sees it.
pub fn is_pending(cx: &mut Cx, path: Value) -> bool {
    if cx.own_autoload_run(path).is_some() {
        return false;
    }
    let Some(p) = text(path) else { return false };
    // A `$LOAD_PATH` that can't be read is the reader's problem.
    let state = cx.rescue(&[ids::EXCEPTION], |cx| load::state(cx, &p));
    !matches!(state, Ok(Ok(FeatureState::Loaded | FeatureState::LoadingHere)))
}

/// Where a constant was set, as the running thread sees it.
pub fn place(cx: &mut Cx, holder: ClassId, name: Sym) -> Option<(Arc<str>, u32)> {
    if let Some(e) = cx.const_entry(holder, name)
        && let Some(i) = cx.own_autoload_run(e.autoload)
        && let Some((_, _, p)) = cx.autoloading[i].assigned.iter().rev().find(|a| (a.0, a.1) == (holder, name))
    {
        return p.clone();
    }
    cx.const_place(holder, name)
}

/// Value of a constant with a path; loads the file when that is due.
pub fn read(cx: &mut Cx, holder: ClassId, name: Sym) -> Result<Option<Value>> {
    loop {
        let Some(e) = cx.const_entry(holder, name) else { return Ok(None) };
        let path = cx.instantiate(e.autoload);
        let Some(p) = text(path) else { return Ok(if e.value.is_undef() { None } else { Some(cx.instantiate(e.value)) }) };
        let assigned = if e.value.is_undef() { None } else { Some(cx.instantiate(e.value)) };
        if cx.own_autoload_run(path).is_some() {
            cx.const_hidden = true;
            return Ok(assigned);
        }
        if let Some(owner) = cx.autoloading.iter().find(|r| r.path == p).map(|r| r.thread) {
            let me = cx.waiter_id();
            let waited = load::wait_for_thread(cx, owner, |cx| {
                let Some(r) = cx.autoloading.iter_mut().find(|r| r.path == p && r.thread == owner) else { return true };
                if !r.waiters.contains(&me) {
                    r.waiters.push(me);
                }
                false
            })?;
            if waited {
                continue;
            }
            cx.const_hidden = true;
            return Ok(assigned);
        }
        if let Some(v) = assigned {
            // Its run has ended without telling: a fork in the middle of one.
            clear(cx, holder, name, &p);
            return Ok(Some(v));
        }
        match load::state(cx, &p)? {
            FeatureState::Loaded | FeatureState::LoadingHere => return Ok(None),
            FeatureState::LoadingElsewhere => {
                if !load::wait_for(cx, &p)? {
                    return Ok(None);
                }
            }
            FeatureState::Absent => return run(cx, holder, name, path, &p),
        }
    }
}

fn clear(cx: &mut Cx, holder: ClassId, name: Sym, path: &[u8]) -> bool {
    let due = cx.const_entry(holder, name).is_some_and(|e| text(e.autoload).is_some_and(|t| t == path));
    if due && let Some(e) = cx.class_mut(holder).consts.get_mut(&name) {
        e.autoload = Value::NIL;
        cx.const_epoch += 1;
    }
    due
}

/// What a run has assigned is seen by all threads.
fn publish(cx: &mut Cx, run: &AutoloadRun) {
    for (holder, name, at) in &run.assigned {
        if clear(cx, *holder, *name, &run.path)
            && let Some(at) = at
        {
            cx.set_const_place(*holder, *name, at.clone());
        }
    }
}

/// What a run has assigned is registered as before. So are the parts of a builtin feature: what they defined hangs on a class that nobody has now.
pub fn take_back(cx: &mut Cx, run: &AutoloadRun) {
    for (holder, name, _) in &run.assigned {
        if cx.const_entry(*holder, *name).is_some_and(|e| !e.autoload.is_nil())
            && let Some(e) = cx.class_mut(*holder).consts.get_mut(name)
        {
            e.value = Value::UNDEF;
            cx.const_epoch += 1;
        }
    }
    load::withdraw_parts(cx, &run.path);
}

/// Whether a file is loaded, asked while an exception is on its way, which stays what it is.
fn is_loaded_after_all(cx: &mut Cx, path: &[u8]) -> bool {
    let pending = cx.pending;
    let state = cx.rescue(&[ids::EXCEPTION], |cx| load::state(cx, path));
    cx.pending = std::hint::black_box(pending);
    matches!(state, Ok(Ok(FeatureState::Loaded)))
}

/// Loads the file.
fn run(cx: &mut Cx, holder: ClassId, name: Sym, path: Value, p: &[u8]) -> Result<Option<Value>> {
    let thread = cx.waiter_id();
    cx.autoloading.push(AutoloadRun { path: p.to_vec(), thread, assigned: Vec::new(), waiters: Vec::new() });
    let main = cx.main;
    let result = cx.call_private(main, sym::require, &[path]);
    let Some(i) = cx.autoloading.iter().position(|r| r.thread == thread && r.path == p) else { return Ok(None) };
    let done = cx.autoloading.remove(i);
    // An interrupt may come when all is done.
    if result.is_ok() || is_loaded_after_all(cx, p) {
        publish(cx, &done);
    } else {
        take_back(cx, &done);
    }
    load::wake_waiters(cx, thread, done.waiters);
    result?;
    match cx.const_entry(holder, name) {
        Some(e) if !e.value.is_undef() => Ok(Some(cx.instantiate(e.value))),
        Some(e) if text(e.autoload).is_some_and(|t| t == p) => {
            cx.const_remove(holder, name);
            if is_verbose(cx) {
                let constant = cx.const_path(holder, name);
                cx.warn_here(&format!("Expected {} to define {constant} but it didn't", String::from_utf8_lossy(p)))?;
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}
