use super::*;

#[test]
fn slots_are_recycled_last_in_first_out() {
    let pool = StackPool::new();
    let first = pool.take(StackSize::Fiber).unwrap();
    let base = first.base();
    drop(first);
    assert_eq!(pool.take(StackSize::Fiber).unwrap().base(), base);
    assert_eq!(pool.slots_made(), 1);
}

#[test]
fn both_parts_are_usable_and_apart() {
    let pool = StackPool::new();
    for size in [StackSize::Fiber, StackSize::Main] {
        let stack = pool.take(size).unwrap();
        let (vm, len) = stack.vm_area();
        assert!(stack.top() < vm && stack.native_limit() < stack.top());
        assert_eq!(vm as usize / PAGE, stack.top() as usize / PAGE);
        // SAFETY: the slot is ours.
        unsafe {
            vm.write_bytes(1, len);
            stack.native_limit().write_bytes(2, stack.top() as usize - stack.native_limit() as usize);
            assert_eq!((*vm.add(len - 1), *stack.native_limit()), (1, 2));
        }
    }
}

#[test]
fn deep_use_is_given_back() {
    let pool = StackPool::new();
    let mut stack = pool.take(StackSize::Fiber).unwrap();
    let (vm, len) = stack.vm_area();
    // SAFETY: the slot is ours.
    unsafe { vm.write_bytes(7, len) };
    stack.note_vm_depth(len);
    drop(stack);
    let stack = pool.take(StackSize::Fiber).unwrap();
    assert_eq!(stack.vm_area(), (vm, len));
    // SAFETY: the slot is ours, and mapped memory is readable.
    unsafe { assert_eq!((*vm, *vm.add(len - 1)), (7, 0)) };

    let main = pool.take(StackSize::Main).unwrap();
    let (low, bytes) = (main.native_limit(), main.top() as usize - main.native_limit() as usize);
    // SAFETY: the slot is ours.
    unsafe { low.write_bytes(7, bytes) };
    drop(main);
    let main = pool.take(StackSize::Main).unwrap();
    assert_eq!(main.native_limit(), low);
    // SAFETY: as above.
    unsafe { assert_eq!(*low, 0) };
}

#[test]
fn many_slots_need_few_mappings() {
    let pool = StackPool::new();
    let stacks: Vec<Stack> = (0..2000).map(|_| pool.take(StackSize::Fiber).unwrap()).collect();
    let mut bases: Vec<usize> = stacks.iter().map(|s| s.base() as usize).collect();
    bases.sort_unstable();
    assert!(bases.windows(2).all(|w| w[1] - w[0] >= pool.0.bytes(StackSize::Fiber)));
    drop(stacks);
    let again: Vec<Stack> = (0..2000).map(|_| pool.take(StackSize::Fiber).unwrap()).collect();
    assert_eq!((again.len(), pool.slots_made()), (2000, 2000));
}

/// Whether a page can be written: a guard can't.
fn is_writable(address: usize) -> bool {
    let mut pipe = [0; 2];
    // SAFETY: a pipe of our own; the kernel writes one byte to the address, or refuses.
    unsafe {
        assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
        assert_eq!(libc::write(pipe[1], [7u8].as_ptr().cast(), 1), 1);
        let read = libc::read(pipe[0], address as *mut _, 1);
        for end in pipe {
            libc::close(end);
        }
        read == 1
    }
}

fn page_tables() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find_map(|l| l.strip_prefix("VmPTE:")).unwrap().trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn what_nobody_needs_is_given_back() {
    let pool = StackPool::new();
    let size = StackSize::Main;
    let mut stacks: Vec<Stack> = (0..1024).map(|_| pool.take(size).unwrap()).collect();
    let fill = |stack: &Stack| {
        let (vm, _) = stack.vm_area();
        // SAFETY: the slot is ours.
        unsafe { vm.write_bytes(7, 2 * PAGE) };
    };
    let first_byte = |stack: &Stack| {
        // SAFETY: as above, and mapped memory is readable.
        unsafe { *stack.vm_area().0.add(PAGE) }
    };
    stacks.iter().for_each(fill);
    let with = page_tables();
    let stays = stacks.swap_remove(100);
    drop(stacks);
    let mut calls = 0;
    while pool.relax() != Care::Done {
        calls += 1;
        assert!(calls < 1000, "gives back less and less");
    }
    assert!(pool.0.common[size.index()].lock().free.list.is_empty());
    let guards = pool.0.guards.load(Ordering::Relaxed);
    if guards {
        let neighbours = [stays.base() as usize, stays.base() as usize + pool.0.bytes(size)];
        assert!(neighbours.iter().all(|guard| !is_writable(*guard)));
        // All mappings but that of the one in use are gone, and the guards of its neighbours' neighbours.
        assert_eq!(pool.slots_made(), size.lot());
        let bare = pool.0.common[size.index()].lock().released.iter().filter(|s| !s.is(Slot::GUARDED)).count();
        assert!(bare > size.lot() - 4, "{bare} without guards, {with} KB of page tables, now {}", page_tables());
    }
    assert_eq!(first_byte(&stays), 7);
    let again: Vec<Stack> = (0..1023).map(|_| pool.take(size).unwrap()).collect();
    assert_eq!(pool.slots_made(), 1024);
    for stack in &again {
        assert_eq!(first_byte(stack), 0);
        assert!(!guards || (!is_writable(stack.base() as usize) && !is_writable(stack.base() as usize + pool.0.bytes(size))));
    }
}

#[test]
fn what_is_free_as_a_whole_makes_room_for_the_other_size() {
    let pool = StackPool::new();
    let mut threads: Vec<Stack> = (0..100).map(|_| pool.take(StackSize::Main).unwrap()).collect();
    let fiber = pool.take(StackSize::Fiber).unwrap();
    let stays = threads.swap_remove(40);
    drop(threads);
    // 100 slots are of four mappings: the one in use stays, and the one that is not used up.
    assert!(pool.shed());
    assert_eq!(pool.slots_made(), 32 + 4 + 1);
    assert!(!pool.shed());
    let again: Vec<Stack> = (0..100).map(|_| pool.take(StackSize::Main).unwrap()).collect();
    let mut bases: Vec<usize> = again.iter().chain([&stays, &fiber]).map(|s| s.base() as usize).collect();
    bases.sort_unstable();
    bases.dedup();
    assert_eq!(bases.len(), 102);
    // SAFETY: the slots are ours.
    again.iter().for_each(|stack| unsafe { stack.vm_area().0.write_bytes(7, PAGE) });
}
