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
