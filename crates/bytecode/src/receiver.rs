//! Whether a Code, or a block in it, looks at `self`.
//!
//! The answer errs on the side of yes: whatever may need the receiver counts, `eval` and the like included. It is found by a look at the operands (self
//! stands in register 0), not kept in the Code, since only blocks that leave their VM are asked.

use crate::code::*;
use crate::op::{Insn, Op, Shape};
use crate::verify::group_length;

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
        i += group_length(insn.opcode());
    }
    code.children.iter().any(|c| c.kind == CodeKind::Block && uses_self(c))
}

fn looks(code: &Code, i: Insn) -> bool {
    let op = i.opcode();
    match op.shape() {
        Shape::Z | Shape::J => false,
        // Writes never go to register 0.
        Shape::A | Shape::AI | Shape::AJ | Shape::AK | Shape::AS | Shape::AE | Shape::AC | Shape::AIJ => i.a == 0,
        Shape::AB | Shape::ABI | Shape::ABJ => i.a == 0 || i.b == 0,
        Shape::ABC => i.a == 0 || i.b == 0 || i.c == 0,
        Shape::Range => i.a == 0 || i.b == 0 && i.c > 0,
        Shape::AV => true,
        Shape::Call => match op {
            Op::SendSelf | Op::SendSelfBlk | Op::Super | Op::SuperX => true,
            _ => code.calls.get(i.c as usize).is_none_or(|site| site.flags & call_flags::FCALL != 0),
        },
        Shape::Misc => match op {
            Op::NewEnv | Op::NewProc => false,
            Op::GetConstFrom | Op::SetConst | Op::Expand => i.a == 0 || i.b == 0,
            Op::Intrinsic => i.a == 0 || crate::Intrinsic::ALL.get(i.x as usize).is_none_or(|f| intrinsic_looks(*f)),
            _ => true,
        },
    }
}

fn intrinsic_looks(f: crate::Intrinsic) -> bool {
    use crate::Intrinsic::*;
    matches!(
        f,
        GetCvar
            | SetCvar
            | DefinedCvar
            | DefinedIvar
            | DefinedMethod
            | DefinedFcall
            | DefinedSuper
            | Alias
            | Undef
            | RegisterAtExit
            | SingletonClass
            | Binding
            | Warn
    )
}
