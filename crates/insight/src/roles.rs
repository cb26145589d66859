//! Which VMs do the same: those whose names differ by a number at the end are told together, unless they stand at different places of a program's channels (`stage1`, `stage2`, `stage3` of a pipeline).
//!
//! Colours are refined as for bisimilarity: at first a VM's colour is its name without the number; then VMs of one colour part whose channels lead to, or come from, VMs of other colours. Workers with a
//! channel each from the same sender stay together. Who has only done a part of what others of its name do (a worker that has not answered yet) is one of them, unless one sends to the other.
//! Bounds: a name has at most [`MOST`] roles, else one; so the rounds are few, and each looks once at each end of a channel.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Roles that a name may have.
const MOST: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Way {
    Sends,
    Receives,
}

/// A channel; of one through a server not all ends are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub channel: u64,
    pub remote: bool,
}

/// A VM: its name without the number, and its ends of channels.
pub struct Member<'a> {
    pub name: &'a str,
    pub ends: Vec<(Way, Place)>,
}

type Colours = BTreeSet<usize>;

/// Who is at the ends of each channel: (senders, receivers).
fn sides(members: &[Member<'_>], colours: &[usize]) -> HashMap<u64, (Colours, Colours)> {
    let mut sides: HashMap<u64, (Colours, Colours)> = HashMap::new();
    for (m, colour) in members.iter().zip(colours) {
        for (way, place) in &m.ends {
            let (senders, receivers) = sides.entry(place.channel).or_default();
            if *way == Way::Sends {
                senders.insert(*colour)
            } else {
                receivers.insert(*colour)
            };
        }
    }
    sides
}

fn hash_of(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Numbers for what is equal, in the order of appearance.
fn number<K: Hash + Eq>(keys: impl Iterator<Item = K>) -> (Vec<usize>, usize) {
    let mut known = HashMap::new();
    let numbers = keys
        .map(|key| {
            let next = known.len();
            *known.entry(key).or_insert(next)
        })
        .collect();
    (numbers, known.len())
}

/// For each member the number of its role among those of its name; 0 is that of the most members.
pub fn roles(members: &[Member<'_>]) -> Vec<usize> {
    let (names, count) = number(members.iter().map(|m| m.name));
    let mut sizes = vec![0usize; count];
    names.iter().for_each(|name| sizes[*name] += 1);
    let mut result = vec![0; members.len()];
    if sizes.iter().all(|n| *n < 2) {
        return result;
    }
    let (mut colours, mut known) = (names.clone(), count);
    for _ in 0..MOST {
        let sides = sides(members, &colours);
        let hashes: HashMap<u64, (u64, u64)> = sides.iter().map(|(id, (s, r))| (*id, (hash_of(s), hash_of(r)))).collect();
        let around = |i: usize| -> u64 {
            if sizes[names[i]] < 2 {
                return 0;
            }
            let mut peers: Vec<(Way, u64)> = members[i].ends.iter().map(|(way, place)| (*way, peer(*way, *place, &hashes))).collect();
            peers.sort_unstable();
            peers.dedup();
            hash_of(peers)
        };
        let (finer, more) = number((0..members.len()).map(|i| (colours[i], around(i))));
        if more == known {
            break;
        }
        (colours, known) = (finer, more);
    }
    let sides = sides(members, &colours);
    let mut by_name: HashMap<usize, Vec<usize>> = HashMap::new();
    (0..members.len()).filter(|i| sizes[names[*i]] > 1).for_each(|i| by_name.entry(names[i]).or_default().push(i));
    for list in by_name.values() {
        let merged = merge(list, members, &colours, &sides);
        list.iter().for_each(|i| result[*i] = merged.get(&colours[*i]).copied().unwrap_or(0));
    }
    result
}

/// What stands for the other side.
fn peer(way: Way, place: Place, hashes: &HashMap<u64, (u64, u64)>) -> u64 {
    match hashes.get(&place.channel) {
        _ if place.remote => place.channel,
        Some((senders, receivers)) => {
            if way == Way::Sends {
                *receivers
            } else {
                *senders
            }
        }
        None => 0,
    }
}

/// The roles of one name by colour; empty: all the same.
fn merge(list: &[usize], members: &[Member<'_>], colours: &[usize], sides: &HashMap<u64, (Colours, Colours)>) -> HashMap<usize, usize> {
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    list.iter().for_each(|i| *sizes.entry(colours[*i]).or_default() += 1);
    if sizes.len() < 2 || sizes.len() > 4 * MOST {
        return HashMap::new();
    }
    // What each colour does: with whom, or by which channel of a server.
    let mut does: HashMap<usize, HashSet<(Way, u64, bool)>> = HashMap::new();
    for i in list {
        let mine = does.entry(colours[*i]).or_default();
        for (way, place) in &members[*i].ends {
            if place.remote {
                mine.insert((*way, place.channel, true));
                continue;
            }
            let Some((senders, receivers)) = sides.get(&place.channel) else { continue };
            let peers = if *way == Way::Sends { receivers } else { senders };
            mine.extend(peers.iter().take(4 * MOST).map(|peer| (*way, *peer as u64, false)));
        }
    }
    let mut order: Vec<(usize, usize)> = sizes.into_iter().collect();
    order.sort_by_key(|(colour, n)| (std::cmp::Reverse(does[colour].len()), std::cmp::Reverse(*n), *colour));
    // A role is that of the first colour that does all that the others do.
    let mut heads: Vec<(usize, usize)> = Vec::new();
    let mut role: HashMap<usize, usize> = HashMap::new();
    for (colour, n) in order {
        let talks = |other: usize| does[&colour].iter().any(|(_, peer, remote)| !remote && *peer == other as u64);
        match heads.iter().position(|(head, _)| does[&colour].is_subset(&does[head]) && !talks(*head)) {
            Some(at) => {
                heads[at].1 += n;
                role.insert(colour, at);
            }
            None => {
                role.insert(colour, heads.len());
                heads.push((colour, n));
            }
        }
    }
    if heads.len() > MOST {
        return HashMap::new();
    }
    // By size.
    let mut places: Vec<usize> = (0..heads.len()).collect();
    places.sort_by_key(|at| std::cmp::Reverse(heads[*at].1));
    let rank: HashMap<usize, usize> = places.into_iter().enumerate().map(|(rank, at)| (at, rank)).collect();
    role.into_iter().map(|(colour, at)| (colour, rank[&at])).collect()
}

#[cfg(test)]
#[path = "roles_tests.rs"]
mod tests;
