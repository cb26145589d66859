//! Whether a Code, or a block in it, looks at `self`.
//!
//! The answer errs on the side of yes: whatever may need the receiver counts, `eval` and the like included. It is found by a look at the operands (self
//! stands in register 0), not kept in the Code, since only blocks that leave their VM are asked.

use crate::code::*;
use crate::op::{Insn, Op, Role};

/// Methods that see the scope they are called in, receiver and all.
const SEES_SCOPE: &[&[u8]] = &[b"binding", b"local_variables", b"eval", b"instance_eval", b"class_eval", b"module_eval"];

/// Whether the Code calls by name what may evaluate text in its scope.
pub fn may_evaluate(code: &Code) -> bool {
    code.calls.iter().any(|c| SEES_SCOPE.contains(&c.name.bytes()))
}

/// Whether this Code or a block in it needs `self`. Method and class bodies in it have their own.
pub fn uses_self(code: &Code) -> bool {
    if may_evaluate(code) {
        return true;
    }
    let mut i = 0;
    while let Some(insn) = code.insns.get(i) {
        if looks(code, *insn) {
            return true;
        }
        // The rest of a group repeats the operands.
        i += insn.opcode().group_length();
    }
    code.children.iter().any(|c| c.kind == CodeKind::Block && uses_self(c))
}

fn looks(code: &Code, i: Insn) -> bool {
    let op = i.opcode();
    op.operands().iter().any(|(role, field)| {
        let v = i.get(*field);
        match role {
            Role::Read | Role::Write | Role::Change => v == 0,
            Role::First => v == 0 && i.c > 0,
            Role::IvarSite | Role::Method | Role::Class => true,
            Role::CallSite => match op {
                Op::SendSelf | Op::SendSelfBlk | Op::Super | Op::SuperX => true,
                _ => code.calls.get(v as usize).is_none_or(|site| site.flags & call_flags::FCALL != 0),
            },
            Role::Function => i.a == 0 || crate::Intrinsic::ALL.get(v as usize).is_none_or(|f| f.looks_at_self()),
            _ => false,
        }
    })
}
