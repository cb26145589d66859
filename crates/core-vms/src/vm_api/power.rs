//! Handles of VMs: capabilities.
//!
//! A RubyVM object either has power over its VM (it holds the control block) or shows who it is and whether it lives, and leads to nothing else. Which of
//! them a program gets is decided where handles are made, nowhere else:
//!
//! - power: who makes a VM; a VM over itself (`RubyVM.current`) and over those that descend from it (`RubyVM.list`); who is sent a handle that has it: in a message, in
//!   the result of a VM, to `start`, or among the arguments of a fork.
//! - sight: what a VM finds in the program state that it started from ([`NativeData::snapshot`]). A fork gets a copy of all constants and variables of its
//!   maker; what stands there was not handed to it, and the maker may not know of it (`Ractor.main` keeps the handle of the main Ractor's VM).
//!
//! So a grant among the arguments has to be restored: the arguments are part of the program state as much as the rest. The maker lists the controls that
//! they lead to ([`granted`]), and the new VM arms the handles that its copies lead to ([`arm`]).
//!
//! The same goes for channels that the library has for itself ([`Shows`]): in program state they lead to nothing.
//!
//! Rejected: asking at each call whether the caller may (checks are forgotten; a handle that was sent would not be worth more than one that was
//! found); a RubyVM.list of all VMs without power (their names are nobody's business).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use zakuro_macros::Trace;
use zakuro_channel::Channel;
use zakuro_vm::channels::{ChannelHandle, Shows, is_hidden_channel};
use zakuro_vm::host::VmControl;
use zakuro_vm::lineage::Identity;
use zakuro_vm::transfer::Envelope;
use zakuro_vm::*;

/// Payload of a RubyVM object; see the module.
#[derive(Trace, Clone)]
pub enum VmHandle {
    Power(#[untraced] Arc<VmControl>),
    Sight(#[untraced] Arc<Identity>),
}

impl VmHandle {
    pub fn identity(&self) -> &Arc<Identity> {
        match self {
            VmHandle::Power(c) => c.identity(),
            VmHandle::Sight(i) => i,
        }
    }
}

impl NativeData for VmHandle {
    fn refers(&self) -> bool {
        false
    }
    /// The control block, name and arguments, of a VM that was not started or has ended: while it runs it counts for more (`limits::VM`).
    fn weight(&self) -> usize {
        self.identity().name.len()
            + match self {
                VmHandle::Power(c) => size_of::<VmControl>() + 256 + c.argv.iter().map(|a| a.capacity() + 48).sum::<usize>(),
                VmHandle::Sight(_) => size_of::<Identity>(),
            }
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(self.clone()))
    }
    fn is_handle(&self) -> bool {
        true
    }
    fn snapshot(&self, _values: &mut Gathered) -> Option<Rebuild> {
        let identity = self.identity().clone();
        Some(rebuild(move |_, _| Some(Box::new(VmHandle::Sight(identity.clone())))))
    }
}

/// The control block, for `what`. RubyVM::PermissionError when the handle has no power.
pub fn control(cx: &mut Cx, this: Value, what: &str) -> Result<Arc<VmControl>> {
    match cx.data_ref::<VmHandle>(this)? {
        VmHandle::Power(c) => Ok(c.clone()),
        VmHandle::Sight(i) => {
            let message = format!("RubyVM#{what}: no power over VM {}: this handle was copied with the program, not sent", i.name);
            cx.raise(ids::VM_PERMISSION_ERROR, message)
        }
    }
}

/// What a VM was handed.
#[derive(Default)]
pub struct Granted {
    vms: HashMap<u64, Arc<VmControl>>,
    channels: HashMap<u64, Channel<Envelope>>,
}

impl Granted {
    pub fn is_empty(&self) -> bool {
        self.vms.is_empty() && self.channels.is_empty()
    }
}

/// Calls `f` with each handle of a VM, and of a channel that is not shown, that the values lead to, not through Procs and classes: these lead to all of the program.
fn each_handle(cx: &mut Cx, values: &[Value], f: &mut dyn FnMut(&mut Cx, Value)) {
    let mut seen = HashSet::new();
    let mut work = RootedVec::from_slice(cx, values);
    while let Some(v) = work.pop() {
        if !v.is_cell() || v.is_kind(Kind::Class) || v.is_kind(Kind::Proc) || v == cx.main || !seen.insert(v.bits()) {
            continue;
        }
        if cx.is_data::<VmHandle>(v) || is_hidden_channel(v) {
            f(cx, v);
        }
        super::ractor::parts(cx, v, &mut work);
        if let Some(d) = Ref::<DataCell>::from_value(v) {
            let mut held = Gathered::new(&cx.heap);
            d.snapshot(&mut held);
            work.extend_from_slice(&held);
        }
    }
}

/// What the arguments of a fork grant.
pub fn granted(cx: &mut Cx, args: &[Value]) -> Granted {
    let mut granted = Granted::default();
    each_handle(cx, args, &mut |cx, v| {
        if is_hidden_channel(v) {
            if let Ok(ChannelHandle(channel, Shows::Never)) = cx.data_ref::<ChannelHandle>(v) {
                granted.channels.insert(channel.id(), channel.clone());
            }
        } else if let Ok(VmHandle::Power(c)) = cx.data_ref::<VmHandle>(v) {
            granted.vms.insert(c.id, c.clone());
        }
    });
    granted
}

/// In the new VM: gives the handles among its arguments the power that was granted.
pub fn arm(cx: &mut Cx, args: &[Value], granted: &Granted) {
    if granted.is_empty() {
        return;
    }
    each_handle(cx, args, &mut |cx, v| {
        if is_hidden_channel(v) {
            if let Ok(handle) = cx.data_mut::<ChannelHandle>(v)
                && let Shows::Nothing(id) = handle.1
                && let Some(channel) = granted.channels.get(&id)
            {
                *handle = ChannelHandle(channel.clone(), Shows::Never);
            }
        } else if let Ok(handle) = cx.data_mut::<VmHandle>(v)
            && let Some(c) = granted.vms.get(&handle.identity().id)
        {
            *handle = VmHandle::Power(c.clone());
        }
    });
}
