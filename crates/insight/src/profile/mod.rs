//! Samples of all VMs, written as a flame graph, folded stacks or a profile for profiler.firefox.com.

mod firefox;
mod flame;

use std::collections::BTreeMap;
use zakuro_vm::account::{Book, Profile, ProfileFrame};

/// The profile in the form that the end of the file's name asks for; folded stacks for others.
pub fn text(book: &Book, form: &str) -> String {
    match form {
        "json" => firefox::text(book),
        "svg" => flame::svg(&folded(book), Unit::of(book)),
        "html" => flame::html(&folded(book), Unit::of(book)),
        _ => lines(&folded(book)),
    }
}

/// What a profile's weights are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Microseconds,
    Bytes,
}

impl Unit {
    fn of(book: &Book) -> Unit {
        if book.switches.allocations { Unit::Bytes } else { Unit::Microseconds }
    }
}

/// Microseconds, or bytes and objects.
#[derive(Clone, Copy, Default)]
struct Weight {
    units: u64,
    objects: u64,
}

impl std::ops::AddAssign for Weight {
    fn add_assign(&mut self, other: Weight) {
        self.units += other.units;
        self.objects += other.objects;
    }
}

/// `VM;outer;inner` with its weight. VMs of one group of names count together.
type Folded = BTreeMap<Vec<String>, Weight>;

fn folded(book: &Book) -> Folded {
    let (unit, (_, scale)) = (Unit::of(book), book.clock.now());
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
            let units = if unit == Unit::Bytes { n.weight } else { (n.weight as f64 * scale / 1e3) as u64 };
            *all.entry(stack).or_default() += Weight { units, objects: n.objects };
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

/// A name in a line of its own, which programs and terminals read.
fn clean(name: &str) -> String {
    let one = |c: char| match c {
        ';' | '\n' => ':',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    name.chars().map(one).collect()
}

/// Folded stacks, as flame graph tools read them: a stack a line, its frames parted by semicolons, and its microseconds, or bytes.
fn lines(all: &Folded) -> String {
    all.iter().map(|(stack, w)| format!("{} {}\n", stack.iter().map(|name| clean(name)).collect::<Vec<_>>().join(";"), w.units)).collect()
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

#[cfg(test)]
mod tests {
    use super::{Folded, Weight, lines};

    #[test]
    fn folded_stacks_have_no_control_characters() {
        let stack = ["a;b\n", "\0x\u{1b}[2J\u{85}", "é (f.rb)"].map(String::from).to_vec();
        let all = Folded::from([(stack, Weight { units: 7, objects: 1 })]);
        assert_eq!(lines(&all), "a:b:;\u{fffd}x\u{fffd}[2J\u{fffd};é (f.rb) 7\n");
    }
}
