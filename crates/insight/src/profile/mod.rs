//! Samples of all VMs, written as a flame graph, folded stacks or a profile for profiler.firefox.com.

mod firefox;
mod flame;

use std::collections::BTreeMap;
use zakuro_vm::account::{Book, Profile, ProfileFrame};

/// The profile in the form that the end of the file's name asks for; folded stacks for others.
pub fn text(book: &Book, form: &str) -> String {
    match form {
        "json" => firefox::text(book),
        "svg" => flame::svg(&folded(book)),
        "html" => flame::html(&folded(book)),
        _ => lines(&folded(book)),
    }
}

/// `VM;outer;inner` with microseconds. VMs of one group of names count together.
type Folded = BTreeMap<Vec<String>, u64>;

fn folded(book: &Book) -> Folded {
    let (_, scale) = book.clock.now();
    let mut all = Folded::new();
    for a in book.accounts() {
        let Some(profile) = &a.profile else { continue };
        let p = profile.lock();
        let vm = zakuro_vm::account::group_of(&a.identity.name).to_string();
        for n in p.nodes.iter().filter(|n| n.weight > 0) {
            let mut stack: Vec<String> = std::iter::once(frame_name(&p.frames[n.frame as usize])).collect();
            let mut at = n.parent;
            while at != 0 {
                let node = &p.nodes[at as usize - 1];
                stack.push(frame_name(&p.frames[node.frame as usize]));
                at = node.parent;
            }
            stack.push(vm.clone());
            stack.reverse();
            *all.entry(stack).or_default() += (n.weight as f64 * scale / 1e3) as u64;
        }
    }
    all
}

/// Without lines: calls of a method from several lines are one frame.
fn frame_name(f: &ProfileFrame) -> String {
    match &f.file {
        Some(file) => format!("{} ({})", f.name, short(file)),
        None => f.name.clone(),
    }
}

fn short(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// Folded stacks, as flame graph tools read them: a stack a line, its frames parted by semicolons, and its microseconds.
fn lines(all: &Folded) -> String {
    let clean = |name: &String| name.replace([';', '\n'], ":");
    all.iter().map(|(stack, us)| format!("{} {us}\n", stack.iter().map(clean).collect::<Vec<_>>().join(";"))).collect()
}

/// VMs that have samples.
fn each(book: &Book, mut f: impl FnMut(u64, &str, &Profile)) {
    for a in book.accounts() {
        if let Some(profile) = &a.profile {
            let p = profile.lock();
            if !p.nodes.is_empty() {
                f(a.identity.id, &a.identity.name, &p);
            }
        }
    }
}
