//! Backtraces: frames to lines of text.

use crate::frame::{FRAME_BLOCK, Frame};
use crate::vm::Cx;
use zakuro_bytecode::CodeKind;
use zakuro_object::*;

/// One level of a backtrace.
#[derive(Clone, Debug)]
pub struct Location {
    pub file: std::sync::Arc<str>,
    pub line: u32,
    /// `Foo#bar`, `block in Foo#bar`, `<main>`
    pub label: String,
    /// `bar`
    pub base_label: String,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:in '{}'", self.file, self.line, self.label)
    }
}

/// Levels that an exception keeps.
const MAX_LEVELS: usize = 100_000;

impl Cx {
    /// The levels from the innermost, without the first `skip`. Builtins stand at their caller's line.
    pub fn locations(&mut self, skip: usize) -> Vec<Location> {
        let mut out = Vec::new();
        let mut natives: Vec<Method> = Vec::new();
        let mut f = self.fp;
        let mut level = 0;
        // SAFETY: frames between `stacks.frames` and fp are initialised, their code states alive.
        unsafe {
            while f >= self.stacks.frames && out.len() < MAX_LEVELS {
                let frame: &Frame = &*f;
                if frame.is_boundary() {
                    let m = Ref::<MethodCell>::from_value(frame.me);
                    if let Some(m) = m
                        && m.method_kind() == MethodKind::Native
                        && !hidden(m.name)
                    {
                        natives.push(m);
                    }
                } else {
                    let cs = &*frame.code;
                    let line = cs.line_of(frame.ip);
                    let file = cs.code.file.clone();
                    for m in natives.drain(..) {
                        if level >= skip {
                            out.push(Location { file: file.clone(), line, label: self.method_label(m), base_label: m.name.name().into() });
                        }
                        level += 1;
                    }
                    if !file.starts_with("<internal") {
                        if level >= skip {
                            let (label, base_label) = self.frame_label(frame);
                            out.push(Location { file, line, label, base_label });
                        }
                        level += 1;
                    }
                }
                f = f.sub(1);
            }
        }
        out
    }
    fn method_label(&self, m: Method) -> String {
        let name = m.name.name();
        match self.owner_label(m.owner) {
            Some(o) => format!("{o}{name}"),
            None => name.into_owned(),
        }
    }
    /// `Foo#` or `Foo.`
    fn owner_label(&self, owner: ClassId) -> Option<String> {
        let c = self.class(owner);
        if c.kind == ClassKind::Singleton {
            let id = self.class_id(c.attached)?;
            return self.class(id).name.map(|n| format!("{}.", n.name()));
        }
        c.name.map(|n| format!("{}#", n.name()))
    }
    fn frame_label(&self, f: &Frame) -> (String, String) {
        // SAFETY: a Ruby frame's code state is alive.
        let code = unsafe { &(*f.code).code };
        let m = Ref::<MethodCell>::of(f.me);
        let base = match code.kind {
            CodeKind::Program => return ("<top (required)>".into(), "<top (required)>".into()).pick(&self.script, code),
            CodeKind::Class => {
                let s = format!("<{}>", code.name.name());
                return (s.clone(), s);
            }
            _ => match m.method_kind() {
                MethodKind::Frame => m.name.name().into_owned(),
                _ => self.method_label(m),
            },
        };
        let plain = m.name.name().into_owned();
        if f.aux & FRAME_BLOCK != 0 && code.kind == CodeKind::Block && m.method_kind() != MethodKind::Proc {
            return (format!("block in {base}"), plain);
        }
        (base, plain)
    }
    /// Backtrace as Array of Strings.
    pub fn backtrace_value(&mut self, skip: usize) -> Value {
        let lines: Vec<String> = self.locations(skip).iter().map(|l| l.to_string()).collect();
        self.str_array(&lines)
    }
    /// File and line of the innermost Ruby frame.
    pub fn here(&self) -> Option<(std::sync::Arc<str>, u32)> {
        let f = self.ruby_frame()?;
        // SAFETY: a live Ruby frame.
        unsafe {
            let cs = &*(*f).code;
            Some((cs.code.file.clone(), cs.line_of((*f).ip)))
        }
    }
}

use crate::methods::Method;

trait Pick {
    fn pick(self, script: &str, code: &zakuro_bytecode::Code) -> (String, String);
}
impl Pick for (String, String) {
    /// The main script's frame is `<main>`, required files' `<top (required)>`.
    fn pick(self, script: &str, code: &zakuro_bytecode::Code) -> (String, String) {
        if &*code.file == script { ("<main>".into(), "<main>".into()) } else { self }
    }
}

/// Builtins that don't show in backtraces.
fn hidden(name: Sym) -> bool {
    name == sym::raise || name == sym::backtrace
}
