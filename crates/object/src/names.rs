//! Names in the order in which they came.

use hashbrown::HashMap;
use zakuro_base::Sym;
use zakuro_base::hash_seed::Fixed;

/// The names of a class's methods, or constants, each once.
///
/// One that goes out of a long list leaves a gap, and gaps are closed in lots: taking all out one by one costs their number, not its square.
#[derive(Clone, Debug, Default)]
pub struct NameOrder {
    list: Vec<Sym>,
    /// Of a long list, once something was taken out of it.
    places: Option<Box<Places>>,
}

#[derive(Clone, Debug, Default)]
struct Places {
    of: HashMap<Sym, u32, Fixed>,
    gaps: usize,
}

/// Names with which a list is long.
const LONG: usize = 64;
/// No name.
const GAP: Sym = Sym(u32::MAX);

impl NameOrder {
    pub const fn new() -> NameOrder {
        NameOrder { list: Vec::new(), places: None }
    }
    /// Adds a name that is not there.
    pub fn push(&mut self, name: Sym) {
        if let Some(p) = &mut self.places {
            p.of.insert(name, self.list.len() as u32);
        }
        self.list.push(name);
    }
    pub fn remove(&mut self, name: Sym) {
        if self.places.is_none() && self.list.len() < LONG {
            self.list.retain(|n| *n != name);
            return;
        }
        let p = self.places.get_or_insert_with(|| Box::new(Places { of: placed(&self.list), gaps: 0 }));
        let Some(at) = p.of.remove(&name) else { return };
        self.list[at as usize] = GAP;
        p.gaps += 1;
        if p.gaps > self.list.len() / 2 {
            self.list.retain(|n| *n != GAP);
            self.list.shrink_to(self.list.len() * 2);
            self.places = (self.list.len() >= LONG).then(|| Box::new(Places { of: placed(&self.list), gaps: 0 }));
        }
    }
    /// Oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Sym> + '_ {
        self.list.iter().copied().filter(|n| *n != GAP)
    }
    /// Bytes, about.
    pub fn weight(&self) -> usize {
        let places = self.places.as_ref().map_or(0, |p| size_of::<Places>() + p.of.capacity() * (size_of::<(Sym, u32)>() + 1));
        self.list.capacity() * size_of::<Sym>() + places
    }
}

fn placed(list: &[Sym]) -> HashMap<Sym, u32, Fixed> {
    list.iter().enumerate().map(|(at, name)| (*name, at as u32)).collect()
}

impl FromIterator<Sym> for NameOrder {
    fn from_iter<I: IntoIterator<Item = Sym>>(names: I) -> NameOrder {
        NameOrder { list: names.into_iter().collect(), places: None }
    }
}

impl PartialEq for NameOrder {
    fn eq(&self, other: &NameOrder) -> bool {
        self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaves_as_a_list() {
        let (mut names, mut model) = (NameOrder::new(), Vec::new());
        let mut state = 7u32;
        for step in 0..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // It grows, shrinks to nothing, and grows again.
            let name = Sym(state >> 16 & 0x3ff);
            if (step / 2000) % 2 == 0 && !model.contains(&name) {
                names.push(name);
                model.push(name);
            } else {
                names.remove(name);
                model.retain(|n| *n != name);
            }
            if step % 97 == 0 {
                assert!(names.iter().eq(model.iter().copied()), "after step {step}");
            }
        }
        model.iter().rev().for_each(|n| names.remove(*n));
        assert!(names.iter().next().is_none() && names == NameOrder::new());
    }
}
