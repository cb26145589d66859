//! Waiting at a channel as a VM does it, for models and unit tests; `park` gives the worker away until somebody wakes the task, or returns early.

use super::*;

/// Without a place in line first. None: the channel is closed and empty.
pub fn recv<T: Message>(channel: &Channel<T>, waiter: &Waiter, mut park: impl FnMut()) -> Option<T> {
    if channel.looks_ready()
        && let TryRecv::Got(message) = channel.try_recv()
    {
        return Some(message);
    }
    loop {
        match channel.recv_or_register(waiter) {
            Recv::Got(message) => return Some(message),
            Recv::Closed => return None,
            Recv::Registered => {
                while waiter.is_waiting() {
                    park();
                }
            }
        }
    }
}

/// Whether the message was sent; else the channel is closed.
pub fn send<T: Message>(channel: &Channel<T>, mut message: T, waiter: &Waiter, mut park: impl FnMut()) -> bool {
    loop {
        match channel.send_or_register(message, waiter) {
            Send::Sent => return true,
            Send::Closed(_) => return false,
            Send::Registered(back) => message = back,
        }
        while waiter.is_waiting() {
            park();
        }
    }
}
