//! `RubyVM::Cluster::Native`: what Ruby asks of this crate.

use crate::nats::{Operation, operation};
use crate::resp::{self, Item, Lack};
use std::sync::Arc;
use zakuro_bytecode::code::Code;
use zakuro_bytecode::receiver::uses_self;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::frame::CodeState;
use zakuro_vm::parsing::{Question, is_whole};
use zakuro_vm::*;

/// Objects that one call makes of a server's bytes, at most: what is left of them, the next call takes.
const AT_ONCE: usize = 20_000;

/// A text that no program, report or dump shows. It travels to other VMs of the process, and nowhere else.
#[derive(Trace)]
struct Secret(#[untraced] Arc<[u8]>);

impl NativeData for Secret {
    fn refers(&self) -> bool {
        false
    }
    fn weight(&self) -> usize {
        self.0.len()
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(Secret(self.0.clone())))
    }
}

fn binary(cx: &mut Cx, text: &[u8]) -> Result<Value> {
    if !cx.heap.admits(text.len()) {
        return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
    }
    Ok(cx.str_bytes(text, string::BINARY))
}

/// The item at `at` as a value, with those in it; where the next one begins. Nothing runs and nothing is collected in between.
fn value(cx: &mut Cx, bytes: &[u8], at: usize) -> Result<(Value, usize)> {
    let Ok((item, mut at)) = resp::item(bytes, at) else { return Ok((Value::NIL, bytes.len())) };
    let made = match item {
        Item::Status(text) | Item::Error(text) | Item::Bulk(text) => binary(cx, text)?,
        Item::Integer(n) => cx.int(n),
        Item::Nil => Value::NIL,
        Item::Array(count) => {
            let list = cx.new_array();
            for _ in 0..count {
                let (part, next) = value(cx, bytes, at)?;
                ArrayCell::push(list, &mut cx.heap, part);
                at = next;
            }
            list.as_value()
        }
    };
    Ok((made, at))
}

#[cold]
fn broken<T>(cx: &mut Cx, who: &str, why: &str) -> Result<T> {
    cx.raise_named("RubyVM::Cluster::ProtocolError", format!("{who} sent what can't be understood: {why}"))
}

/// Methods of `RubyVM::Cluster::Native`.
#[ruby_class(ids::OBJECT)]
mod cluster_native {
    use super::*;

    /// Takes the replies that are whole out of what a Redis server sent: `[how many bytes they take, kind, value, kind, value, ...]`, kind being true for an answer and false for an error.
    #[method("replies", singleton)]
    fn replies(cx: &mut Cx, _this: Value, text: Ref<StringCell>) -> Result<Value> {
        let text = Held::of(text);
        let list = cx.new_array();
        ArrayCell::push(list, &mut cx.heap, Value::fixnum(0));
        let mut at = 0;
        let mut made = 0;
        while at < text.len() && made < AT_ONCE {
            let end = match resp::end(&text, at) {
                Ok(end) => end,
                Err(Lack::More) => break,
                Err(Lack::Broken(why)) => return broken(cx, "the Redis server", why),
            };
            let fine = !matches!(resp::item(&text, at), Ok((Item::Error(_), _)));
            let (reply, _) = value(cx, &text, at)?;
            ArrayCell::push(list, &mut cx.heap, Value::bool(fine));
            ArrayCell::push(list, &mut cx.heap, reply);
            // A part takes at least four bytes.
            made += 1 + (end - at) / 64;
            at = end;
        }
        ArrayCell::store(list, &mut cx.heap, 0, Value::fixnum(at as i64));
        Ok(list.as_value())
    }

    /// Takes what is whole out of what a NATS server sent: `[how many bytes that takes, operation, ...]`, an operation being `[subscription, subject, reply or nil, headers or nil, payload]` or
    /// `[name, rest of its line]`.
    #[method("operations", singleton)]
    fn operations(cx: &mut Cx, _this: Value, text: Ref<StringCell>) -> Result<Value> {
        let text = Held::of(text);
        let list = cx.new_array();
        ArrayCell::push(list, &mut cx.heap, Value::fixnum(0));
        let mut at = 0;
        let mut made = 0;
        while at < text.len() && made < AT_ONCE {
            let (operation, end) = match operation(&text, at) {
                Ok(found) => found,
                Err(Lack::More) => break,
                Err(Lack::Broken(why)) => return broken(cx, "the NATS server", why),
            };
            let parts = match operation {
                Operation::Message { subject, subscription, reply, headers, payload } => {
                    let subject = binary(cx, subject)?;
                    let reply = match reply {
                        Some(reply) => binary(cx, reply)?,
                        None => Value::NIL,
                    };
                    let headers = if headers.is_empty() { Value::NIL } else { binary(cx, headers)? };
                    let payload = binary(cx, payload)?;
                    let number = cx.int(subscription as i64);
                    cx.array(&[number, subject, reply, headers, payload])
                }
                Operation::Other { name, rest } => {
                    let name = binary(cx, &name.to_ascii_uppercase())?;
                    let rest = binary(cx, rest)?;
                    cx.array(&[name, rest])
                }
            };
            ArrayCell::push(list, &mut cx.heap, parts);
            made += 8;
            at = end;
        }
        ArrayCell::store(list, &mut cx.heap, 0, Value::fixnum(at as i64));
        Ok(list.as_value())
    }

    /// The words of a block, with the here-documents that begin in it and no others: `[text, file, line, whether it needs self, whether its Strings are frozen, names of the variables around it that it uses, names that it calls]`; a Symbol for `&:name`; `[nil, file, line]` where the text was not kept; nil for what has none.
    #[method("block", singleton)]
    fn words(cx: &mut Cx, _this: Value, proc: Ref<ProcCell>) -> Result<Value> {
        match proc.proc_kind() {
            ProcKind::Block => {}
            ProcKind::Symbol => return Ok(proc.extra),
            _ => return Ok(Value::NIL),
        }
        // SAFETY: code states live as long as the VM, or as what refers to them: the Proc, which the caller holds.
        let code = unsafe { (*(proc.code as *const CodeState)).code.clone() };
        std::hint::black_box(proc.as_value());
        let span = code.span.map(|(start, length)| (start, start + length));
        let text = span.and_then(|(start, end)| code.source.get(start as usize..end as usize)).filter(|t| !t.is_empty());
        let (Some((start, end)), Some(text)) = (span, text) else {
            let place = [Value::NIL, cx.str(&code.file), cx.int(i64::from(code.line))];
            return Ok(cx.array(&place));
        };
        if !cx.heap.admits(text.len()) {
            return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        }
        let text = if is_whole(&code.source, start as usize, end as usize) {
            cx.str_bytes(text, string::UTF8)
        } else {
            let text = cx.ask_parser(&Question::piece(code.source.clone(), start, end))?;
            cx.str_bytes(&text, string::UTF8)
        };
        let file = cx.str(&code.file);
        let line = cx.int(i64::from(code.line));
        let used = outer_names(cx, proc);
        let called = called_names(cx, &code);
        Ok(cx.array(&[text, file, line, Value::bool(uses_self(&code)), Value::bool(code.frozen_strings), used, called]))
    }

    /// Keeps a text from being seen.
    #[method("hide", singleton)]
    fn hide(cx: &mut Cx, _this: Value, text: Ref<StringCell>) -> Result<Value> {
        let secret = Secret(text.content(&cx.heap).into());
        let Some(class) = cx.const_by_path("RubyVM::Cluster::Secret").and_then(|c| cx.class_id(c)) else { return Ok(Value::NIL) };
        Ok(cx.data(class, secret))
    }

    /// The text that `hide` got.
    #[method("reveal", singleton)]
    fn reveal(cx: &mut Cx, _this: Value, secret: Value) -> Result<Value> {
        if !cx.is_data::<Secret>(secret) {
            return cx.type_error("not a secret");
        }
        let text = cx.data_ref::<Secret>(secret)?.0.clone();
        Ok(cx.str_bytes(&text, string::UTF8))
    }
}

/// Names of the variables around a block that it uses: all of them, if it may name any.
fn outer_names(cx: &mut Cx, proc: Ref<ProcCell>) -> Value {
    let used = transfer::OuterUse::of(proc);
    let levels = cx.proc_scope(proc).map_or(Vec::new(), |s| cx.seen_envs(s));
    let names = levels.iter().enumerate().flat_map(|(level, e)| e.names().into_iter().map(move |(name, slot)| (level, name, slot)));
    let uses = |level, slot| used.as_ref().is_none_or(|u| u.uses(level, slot));
    let names: RootedVec =
        names.filter(|(level, _, slot)| uses(*level, *slot as usize)).fold(RootedVec::new(cx), |mut all, (_, name, _)| {
            all.push(Value::sym(name));
            all
        });
    cx.array(&names)
}

/// Names of the methods that a block calls: none of them, where it has no argument, is a variable's.
fn called_names(cx: &mut Cx, code: &Code) -> Value {
    let mut work = vec![code];
    let mut all = RootedVec::new(cx);
    while let Some(code) = work.pop() {
        code.calls.iter().for_each(|site| all.push(Value::sym(site.name)));
        work.extend(code.children.iter().map(|child| &**child));
    }
    cx.array(&all)
}

/// `require "zakuro/cluster"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let vm = cx.const_by_path("RubyVM").and_then(|c| cx.class_id(c)).unwrap_or(ids::OBJECT);
    let cluster = cx.define_module(vm, "Cluster");
    let native = cx.define_module(cluster, "Native");
    for row in cluster_native::METHODS {
        cx.define_native_in(row, native);
    }
    let secret = cx.define_class(cluster, "Secret", ids::OBJECT);
    cx.class_mut(secret).alloc = Alloc::Data;
    cx.run_builtin("zakuro/cluster")
}
