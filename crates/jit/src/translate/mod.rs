//! One function of machine code for one Code.
//!
//! [`graph`] finds ways and what is live, [`types`] decides by what was seen of operands, [`emit`] makes Cranelift's IR of it, with [`operators`] and [`calls`] for what their names say.
//! Registers of the bytecode are variables of the IR: Cranelift finds out which machine register or stack slot each value stands in. The window in memory is brought up to date where
//! somebody may look at it: before calls, and when the function is left.

mod arrays;
mod calls;
mod calm;
mod captured;
mod cells;
mod direct;
mod elements;
mod emit;
mod graph;
mod groups;
mod guards;
mod inline;
mod layouts;
mod lists;
mod operators;
mod registers;
mod rounds;
mod types;

use crate::Jit;
use crate::memory::Piece;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, Function, Signature, UserFuncName, types::I64};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, ir};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use emit::Emitter;
use graph::{Graph, Id, Var};
use std::collections::HashSet;
use std::io::Write;
use std::sync::{Arc, OnceLock, Weak};
use types::Types;
use zakuro_bytecode::Code;
use zakuro_bytecode::machine::{Known, Machine, NO_ENTRY};
use zakuro_vm::interp::machine::entered;
use zakuro_vm::machine::Request;

/// The machine that this runs on; or why there is no machine code for it. `optimizes`: computations that were done before are found, and moved out of loops, which takes a quarter of the compiler's time.
fn isa(optimizes: bool) -> Result<&'static OwnedTargetIsa, String> {
    static ISA: [OnceLock<Result<OwnedTargetIsa, String>>; 2] = [const { OnceLock::new() }; 2];
    let made = ISA[optimizes as usize].get_or_init(|| {
        let mut flags = settings::builder();
        // What is verified is verified by `verify`.
        for (name, value) in [("opt_level", if optimizes { "speed" } else { "none" }), ("enable_verifier", "false")] {
            flags.set(name, value).map_err(|e| e.to_string())?;
        }
        // Profilers and debuggers follow frame pointers.
        flags.set("preserve_frame_pointers", "true").map_err(|e| e.to_string())?;
        cranelift_native::builder()?.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())
    });
    made.as_ref().map_err(Clone::clone)
}

/// `place` puts machine code where it can run, or says why not.
pub fn translate(request: &Request, jit: &Jit, place: impl FnOnce(&[u8]) -> Result<Piece, String>) -> Result<Machine, String> {
    let code = &request.met.code;
    let (isa, contexts, known, made, rounds) = {
        // What others may lock, too, is locked here alone.
        let _still = jit.still.lock();
        let graph = Graph::build(&request.met)?;
        let isa = isa(graph.has_loops())?;
        let types = Types::of(&graph);
        let entries: Vec<usize> = graph.order.iter().filter(|id| graph.units[**id].is_entry()).map(|id| graph.units[*id].at).collect();
        let mut numbers = vec![NO_ENTRY; code.insns.len()];
        numbers[0] = 0;
        // What the interpreter jumps back to at the beginning (`redo`, `retry`, an endless loop) has variables already; who calls the function has written those of a call, too.
        let is_entry = |at: usize| at != 0 || graph.jumps_to_beginning();
        entries.iter().enumerate().filter(|(_, at)| is_entry(**at)).for_each(|(i, at)| numbers[*at] = i as u16 + 1);
        let insns = entered(code, entries.iter().copied().chain([0]));

        let config = isa.frontend_config();
        let given = code.params.required as usize;
        let signature = if graph.direct { direct::signature(given) } else { signature(4) };
        let mut shared = FunctionBuilderContext::new();
        let mut emit = |boxed: Option<HashSet<(Id, Var)>>| {
            let mut context = Context::for_function(Function::with_name_signature(UserFuncName::default(), signature.clone()));
            let builder = FunctionBuilder::new(&mut context.func, &mut shared);
            let mut emitter = Emitter::new(builder, &graph, &types, &insns, &entries, graph.direct);
            emitter.tries_exits = jit.exits;
            emitter.itself = graph.direct.then(|| direct::import(emitter.b.func, given));
            if let Some(boxed) = boxed {
                emitter.boxed_before = boxed;
            }
            let (exits, sites, lost, boxed) = emitter.run(config);
            (context, exits, sites, lost, boxed)
        };
        let mut emitted = emit(None);
        if !emitted.4.is_empty() {
            emitted = emit(Some(emitted.4));
        }
        let (context, exits, sites, lost, _) = emitted;
        let first = graph.direct.then(|| {
            let mut first = Context::for_function(Function::with_name_signature(UserFuncName::default(), self::signature(4)));
            let builder = FunctionBuilder::new(&mut first.func, &mut shared);
            let mut emitter = Emitter::new(builder, &graph, &types, &insns, &entries, false);
            emitter.tries_exits = jit.exits;
            emitter.enter_direct(lost, config);
            first
        });
        // Each Code once: a VM has one list of what it has met in it.
        let mut known: Vec<(Weak<Code>, Known)> = Vec::new();
        for scope in &graph.scopes {
            if known.iter().all(|(c, _)| !std::ptr::eq(c.as_ptr(), &*scope.code)) {
                known.push((Arc::downgrade(&scope.code), scope.known.clone()));
            }
        }
        let rounds = if graph.rounds { entries.len() as u16 + 1 } else { 0 };
        (isa, (first, context), known, (insns, numbers, exits, sites, graph.links), rounds)
    };
    let (insns, numbers, exits, sites, links) = made;
    let (first, mut context) = contexts;
    let shows = jit.shows(&code.name.name());
    let text = (shows && jit.options.show_clif).then(|| context.func.display().to_string());
    context.set_disasm(shows && jit.options.show_asm);
    drop_unused_loads(&mut context.func);
    if let Some(id) = open_block(&context.func) {
        return Err(format!("{id} has no end"));
    }
    if cfg!(debug_assertions) {
        verify(&context.func, isa)?;
    }
    let first = match first {
        Some(mut first) => {
            first.compile(&**isa, &mut ControlPlane::default()).map_err(|e| format!("{:?}", e.inner))?;
            first.take_compiled_code()
        }
        None => None,
    };
    let made = context.compile(&**isa, &mut ControlPlane::default()).map_err(|e| format!("{:?}", e.inner))?;
    if shows {
        let listing = made.vcode.as_deref().unwrap_or("");
        let text = text.unwrap_or_default();
        let _ = writeln!(std::io::stderr(), "; {} ({}:{})\n{text}\n{listing}", code.name, code.file, code.line);
    }
    let joined = match &first {
        Some(first) => Some(direct::join((first.code_buffer(), first.buffer.relocs()), (made.code_buffer(), made.buffer.relocs()))?),
        None => None,
    };
    let bytes = joined.as_deref().unwrap_or(made.code_buffer());
    let _still = jit.still.lock();
    let piece = place(bytes)?;
    let bytes = bytes.len();
    Ok(Machine {
        function: piece.address,
        insns,
        entries: numbers.into(),
        rounds,
        exits,
        links,
        sites: sites.into(),
        bytes,
        took: 0,
        known: known.into(),
        asker: request.asker.number,
        branch: request.asker.branch(),
        memory: Box::new(piece),
    })
}

/// Has Cranelift look at what it is given. It knows calls that leave all registers as they are only without an answer, though it translates others, too.
fn verify(f: &Function, isa: &OwnedTargetIsa) -> Result<(), String> {
    let mut f = f.clone();
    f.dfg.signatures.values_mut().for_each(|s| s.call_conv = CallConv::triple_default(isa.triple()));
    cranelift_codegen::verify_function(&f, &**isa).map_err(|e| e.to_string())
}

/// Of functions with that many words as arguments that answer one.
fn signature(arguments: usize) -> Signature {
    let mut s = Signature::new(CallConv::triple_default(&target_lexicon::Triple::host()));
    s.params.extend((0..arguments).map(|_| AbiParam::new(I64)));
    s.returns.push(AbiParam::new(ir::types::I64));
    s
}

/// Takes out loads whose value nobody asked for in the end. Cranelift leaves them.
fn drop_unused_loads(f: &mut Function) {
    let mut used = vec![false; f.dfg.num_values()];
    for block in f.layout.blocks() {
        for i in f.layout.block_insts(block) {
            for v in f.dfg.inst_values(i) {
                used[f.dfg.resolve_aliases(v).as_u32() as usize] = true;
            }
        }
    }
    let blocks: Vec<ir::Block> = f.layout.blocks().collect();
    for block in blocks {
        let unused = |i: &ir::Inst| {
            let (op, results) = (f.dfg.insts[*i].opcode(), f.dfg.inst_results(*i));
            op.can_load() && !op.can_store() && !op.is_call() && results.iter().all(|v| !used[v.as_u32() as usize])
        };
        let loads: Vec<ir::Inst> = f.layout.block_insts(block).filter(unused).collect();
        loads.into_iter().for_each(|i| f.layout.remove_inst(i));
    }
}

/// A block that does not end, or ends before its last instruction: a mistake of the translation.
fn open_block(f: &Function) -> Option<ir::Block> {
    f.layout.blocks().find(|b| {
        let ends = |i| f.dfg.insts[i].opcode().is_terminator();
        f.layout.last_inst(*b).is_none_or(|last| !ends(last) || f.layout.block_insts(*b).any(|i| i != last && ends(i)))
    })
}
