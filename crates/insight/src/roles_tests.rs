use super::*;
use Way::{Receives, Sends};

fn at(channel: u64) -> Place {
    Place { channel, remote: false }
}

fn member<'a>(name: &'a str, ends: &[(Way, u64)]) -> Member<'a> {
    Member { name, ends: ends.iter().map(|(way, channel)| (*way, at(*channel))).collect() }
}

/// The roles of those with this name.
fn of(name: &str, members: &[Member<'_>]) -> Vec<usize> {
    roles(members).into_iter().zip(members).filter(|(_, m)| m.name == name).map(|(role, _)| role).collect()
}

#[test]
fn workers_at_one_channel_are_one() {
    let mut members = vec![member("main", &[(Sends, 1), (Receives, 2)])];
    members.extend((0..8).map(|_| member("worker", &[(Receives, 1), (Sends, 2)])));
    assert_eq!(of("worker", &members), vec![0; 8]);
}

#[test]
fn workers_with_a_channel_each_are_one_even_if_some_did_nothing() {
    let mut members = vec![member("main", &[(Sends, 10), (Sends, 11), (Sends, 12), (Sends, 13), (Receives, 2)])];
    members.extend((10..13).map(|n| member("pool-1", &[(Receives, n), (Sends, 2)])));
    members.push(member("pool-1", &[(Receives, 13)]));
    members.push(member("pool-1", &[]));
    assert_eq!(of("pool-1", &members), vec![0; 5]);
}

#[test]
fn stages_of_a_pipeline_are_told_apart() {
    for stages in 2..=12u64 {
        let mut members = vec![member("main", &[(Sends, 0)])];
        members.extend((0..stages).map(|_| member("stage", &[])));
        for n in 0..stages {
            let ends = &mut members[n as usize + 1].ends;
            ends.push((Receives, at(n)));
            if n + 1 < stages {
                ends.push((Sends, at(n + 1)));
            }
        }
        let found: HashSet<usize> = of("stage", &members).into_iter().collect();
        assert_eq!(found.len(), stages as usize, "{stages}");
    }
}

#[test]
fn several_vms_of_each_stage_are_one_row_each() {
    let mut members = vec![member("main", &[(Sends, 1)])];
    members.extend((0..3).map(|_| member("stage", &[(Receives, 1), (Sends, 2)])));
    members.extend((0..2).map(|_| member("stage", &[(Receives, 2)])));
    assert_eq!(of("stage", &members), vec![0, 0, 0, 1, 1]);
}

#[test]
fn what_has_too_many_roles_has_one() {
    let mut members = vec![member("main", &[(Sends, 0)])];
    for n in 0..10_000u64 {
        members.push(Member { name: "node", ends: vec![(Receives, at(n)), (Sends, at(n + 1))] });
    }
    assert_eq!(of("node", &members), vec![0; 10_000]);
}

#[test]
fn a_ring_and_all_to_all_are_one() {
    let ring: Vec<Member<'_>> =
        (0..6u64).map(|n| Member { name: "node", ends: vec![(Receives, at(n)), (Sends, at((n + 1) % 6))] }).collect();
    assert_eq!(of("node", &ring), vec![0; 6]);
}

#[test]
fn channels_of_servers_tell_apart_by_their_names() {
    let remote = |channel| Place { channel, remote: true };
    let members = [
        Member { name: "stage", ends: vec![(Receives, remote(1)), (Sends, remote(2))] },
        Member { name: "stage", ends: vec![(Receives, remote(2)), (Sends, remote(3))] },
        Member { name: "stage", ends: vec![(Receives, remote(1)), (Sends, remote(2))] },
    ];
    assert_eq!(of("stage", &members), vec![0, 1, 0]);
}
