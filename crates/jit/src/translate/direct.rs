//! Direct functions: those of methods that call themselves, whose receiver and arguments come in registers of the machine.
//!
//! Such a method has two functions, one behind the other: an [`zakuro_vm::machine::Entry`] as all have, which looks at the links and passes on what stands in the window, and the direct one, which
//! the method's own calls lead to. These were looked at by the caller: the direct function looks at nothing that the caller has looked at, and when it comes to its end all that still holds, since it looks
//! again after whatever else could have changed it. Its window is written like that of inlined calls: where somebody may look.

use super::emit::Emitter;
use cranelift_codegen::FinalizedRelocTarget;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::{ExtFuncData, ExternalName, FuncRef, Function, InstBuilder, Signature, UserExternalName};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_codegen::{FinalizedMachReloc, ir};
use zakuro_bytecode::machine::Exit;
use zakuro_vm::interp::machine::help;

/// The VM, the frame, the state, self, and so many arguments: bits of the value, or 0.
pub fn signature(arguments: usize) -> Signature {
    super::signature(4 + arguments)
}

/// The direct function, as one that `f` calls.
pub fn import(f: &mut Function, arguments: usize) -> FuncRef {
    let signature = f.import_signature(signature(arguments));
    let name = ExternalName::user(f.declare_imported_user_function(UserExternalName { namespace: 0, index: 0 }));
    f.import_function(ExtFuncData { name, signature, colocated: true, patchable: false })
}

/// Puts the direct function behind the other one, and has the calls of both lead there.
pub fn join(first: (&[u8], &[FinalizedMachReloc]), direct: (&[u8], &[FinalizedMachReloc])) -> Result<Vec<u8>, String> {
    const ALIGN: usize = 64;
    let start = first.0.len().next_multiple_of(ALIGN);
    let mut code = first.0.to_vec();
    code.resize(start, 0);
    code.extend_from_slice(direct.0);
    for (of, relocs) in [(0, first.1), (start, direct.1)] {
        for r in relocs {
            let (FinalizedRelocTarget::ExternalName(_), at) = (&r.target, of + r.offset as usize) else {
                return Err("a relocation of another kind".into());
            };
            let distance = start as i64 + r.addend - at as i64;
            let Some(word) = code.get_mut(at..at + 4).and_then(|w| <&mut [u8; 4]>::try_from(w).ok()) else {
                return Err("a relocation beyond the end".into());
            };
            *word = match r.kind {
                Reloc::X86CallPCRel4 => (distance as i32).to_le_bytes(),
                Reloc::Arm64Call => (u32::from_le_bytes(*word) & !0x3ff_ffff | (distance >> 2) as u32 & 0x3ff_ffff).to_le_bytes(),
                kind => return Err(format!("a relocation of another kind, {kind}")),
            };
        }
    }
    Ok(code)
}

impl Emitter<'_, '_> {
    /// What others call: looks at the links, and calls the direct function. `lost`: the exit if these lead elsewhere.
    pub fn enter_direct(mut self, lost: *const Exit, config: TargetFrontendConfig) {
        let (away, other, refused) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        for block in [away, other, refused] {
            self.b.set_cold_block(block);
        }
        self.b.append_block_param(refused, ir::types::I64);
        self.enter_linked(away, other, |e| {
            e.stand_at(0, e.insn_address(0, 0));
            e.end(0);
        });
        let code = &self.graph.scopes[0].code;
        let given = 1 + code.params.required;
        let direct = import(self.b.func, given as usize - 1);
        let mut arguments = vec![self.cx, self.fp, self.states[0]];
        for r in 0..given {
            let v = self.load(self.regs, r as i32 * 8);
            arguments.push(v);
        }
        let call = self.b.ins().call(direct, &arguments);
        let v = self.b.inst_results(call)[0];
        self.b.ins().return_(&[v]);
        for (block, by) in [(away, std::ptr::null()), (other, lost)] {
            self.b.switch_to_block(block);
            let by = self.constant(by as i64);
            self.b.ins().jump(refused, &[by.into()]);
        }
        self.b.switch_to_block(refused);
        let by = self.b.block_params(refused)[0];
        let none = self.call_help(help::refuse as *const () as usize, &[self.cx, by, self.regs, self.states[0]]);
        self.b.ins().return_(&[none]);
        self.end_tails();
        self.b.seal_all_blocks();
        self.b.finalize(config);
    }
}
