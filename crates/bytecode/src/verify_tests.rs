use super::check;
use crate::code::*;
use crate::op::{Insn, Op};
use crate::verify::verify;
use zakuro_base::{Sym, sym};

fn code(nregs: u16, insns: Vec<Insn>) -> Code {
    let body = Body {
        end_line: 1,
        first_line: 1,
        lines: Box::new([(0, 1)]),
        insns: insns.into(),
        calls: Box::new([CallSite { name: sym::add, flags: 0, argc: 1, child: NO_BLOCK, keywords: NO_KEYWORDS }]),
        params: Params { required: 1, ..Params::default() },
        nregs,
        nlocals: 2,
        ..Body::default()
    };
    let (kind, name) = (CodeKind::Method, Sym::intern("test"));
    Code { kind, name, file: "test.rb".into(), line: 1, source: (*b"").into(), heat: Default::default(), body: body.into() }
}

fn add(to: u16, base: u16) -> [Insn; 3] {
    [Insn::new(Op::AddI, 0, to, 1, 1), Insn::new(Op::Send, 1, base, 0, 0), Insn::new(Op::Move, 0, to, base, 0)]
}

fn ret(r: u16) -> Insn {
    Insn::new(Op::Return, 0, r, 0, 0)
}

#[test]
fn a_good_method() {
    let mut insns = add(2, 2).to_vec();
    insns.push(ret(2));
    let c = code(4, insns);
    assert_eq!(verify(&c), Ok(()));
    assert_eq!(check(&c), Ok(()));
}

fn problem(c: &Code) -> String {
    verify(c).unwrap_err().problem
}

#[test]
fn what_the_verifier_refuses() {
    assert_eq!(problem(&code(3, vec![ret(3)])), "register 3 of 3");
    assert_eq!(problem(&code(3, vec![])), "no instructions");
    assert_eq!(problem(&code(3, vec![Insn::new(Op::LoadNil, 0, 2, 0, 0)])), "control falls off the end");
    assert_eq!(problem(&code(3, vec![Insn::with_imm(Op::Jump, 0, 0, 5), ret(1)])), "jump to 5");
    assert_eq!(problem(&code(3, vec![ret(1), Insn::with_imm(Op::Jump, 0, 0, -1)])), "backward jump without a poll");
    assert_eq!(problem(&code(3, vec![Insn::new(Op::LoadConst, 0, 2, 0, 0), ret(2)])), "literal 0 of 0");
    // Into a group, a group cut off, operands in the window, a wrong third instruction.
    let mut insns = vec![Insn::with_imm(Op::Jump, 0, 0, 2)];
    insns.extend(add(2, 2));
    insns.push(ret(2));
    assert_eq!(problem(&code(4, insns)), "jump into the group at 0002");
    assert_eq!(problem(&code(4, vec![add(2, 2)[0], ret(2)])), "group is cut off");
    let mut insns = add(2, 1).to_vec();
    insns.push(ret(2));
    assert_eq!(problem(&code(4, insns)), "operands inside the window of the slow path");
    let [first, second, _] = add(2, 2);
    assert_eq!(problem(&code(4, vec![first, second, ret(2)])), "third instruction does not fit the group");
    let handler = Handler { start: 0, end: 1, target: 0, kind: HandlerKind::Ensure };
    let mut c = code(3, vec![ret(1)]);
    c.handlers = Box::new([handler]);
    assert_eq!(problem(&c), "handler does not start with Catch");
}

#[test]
fn registers_that_may_be_unset() {
    let c = code(3, vec![ret(2)]);
    assert_eq!(verify(&c), Ok(()));
    assert_eq!(check(&c).unwrap_err().problem, "register 2 may be read before it is written");
    // Written on one way only.
    let c = code(3, vec![Insn::with_imm(Op::JumpIf, 0, 1, 2), Insn::new(Op::LoadNil, 0, 2, 0, 0), ret(2)]);
    assert!(check(&c).is_err());
    // Lost by the call below it.
    let insns = vec![
        Insn::new(Op::LoadNil, 0, 4, 0, 0),
        Insn::new(Op::LoadNil, 0, 2, 0, 0),
        Insn::new(Op::LoadNil, 0, 3, 0, 0),
        Insn::new(Op::Send, 1, 2, 0, 0),
        ret(4),
    ];
    let c = code(5, insns);
    assert_eq!(verify(&c), Ok(()));
    assert_eq!(check(&c).unwrap_err().at, 4);
}
