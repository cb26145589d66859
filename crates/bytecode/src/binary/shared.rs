//! Bodies that are read when somebody first asks for them: of the archive in the binary, and of archives that come from a file.
//!
//! Nobody vouches for a file's bytes as the build does for those in the binary: each body passes the verifier when it is read. One that is malformed, or does not pass, is read as a
//! body that raises.

use super::{Archive, Home, Malformed, Read, Reader};
use crate::code::{Body, Code, Lazy, Params};
use crate::machine::Heat;
use crate::op::{Insn, Op};
use crate::verify::{Envs, verify_one};
use std::sync::Arc;

/// Where a body stands that was not read.
#[derive(Clone)]
pub struct Unread {
    bytes: &'static [u8],
    home: KeptHome,
    /// The environments of the Codes around, where it has to be verified.
    around: Option<Arc<Envs>>,
}

#[derive(Clone)]
pub(super) enum KeptHome {
    Binary(&'static Archive<'static>),
    Shared(Arc<SharedArchive>),
}

impl Unread {
    pub(super) fn new(bytes: &'static [u8], home: KeptHome) -> Unread {
        Unread { bytes, home, around: None }
    }
    pub(crate) fn read(&self, code: &Code) -> Body {
        let archive = match &self.home {
            KeptHome::Shared(owner) => return owner.body(code, self.bytes, self.around.as_ref()),
            KeptHome::Binary(archive) => *archive,
        };
        let (file, source) = (&code.file, &code.source);
        let mut r = Reader { archive, rest: self.bytes, file, source, home: Home::Binary(archive), body: Reader::later };
        // Codes are nested as deep as was written.
        let Ok(body) = r.body(super::DEPTH) else { unreachable!("the archive of {file} is broken") };
        body
    }
}

/// An archive and its bytes.
pub struct SharedArchive {
    /// Looks into `_bytes`.
    archive: Archive<'static>,
    _bytes: Box<[u8]>,
}

impl SharedArchive {
    /// As [`Archive::open`].
    ///
    /// # Errors
    /// It is none.
    pub fn open(bytes: Box<[u8]>) -> Read<Arc<SharedArchive>> {
        // SAFETY: the bytes stay where they are, unchanged, as long as the struct that has both; what is lent out of it holds the struct (`Unread`).
        let view: &'static [u8] = unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
        Ok(Arc::new(SharedArchive { archive: Archive::open(view)?, _bytes: bytes }))
    }
    /// Number of programs.
    pub fn programs(&self) -> usize {
        self.archive.programs
    }
    /// Reads of program `i` no more than what it is; the rest when it is first asked for.
    ///
    /// # Errors
    /// There is none, or its beginning is malformed.
    pub fn program(self: &Arc<Self>, i: usize, file: &Arc<str>, source: &Arc<[u8]>) -> Read<Arc<Code>> {
        if i >= self.archive.programs {
            return Err(Malformed);
        }
        let rest = self.archive.part(self.archive.names.len() + i)?;
        let mut r = Reader { archive: &self.archive, rest, file, source, home: Home::Shared(self), body: Reader::later };
        r.only_code()
    }
    /// The body of a Code, in the environments of those around it.
    pub(super) fn body(self: &Arc<Self>, code: &Code, bytes: &'static [u8], around: Option<&Arc<Envs>>) -> Body {
        self.checked(code, bytes, around).unwrap_or_else(|Malformed| damaged(code))
    }
    fn checked(self: &Arc<Self>, code: &Code, bytes: &'static [u8], around: Option<&Arc<Envs>>) -> Read<Body> {
        let mut r = Reader {
            archive: &self.archive,
            rest: bytes,
            file: &code.file,
            source: &code.source,
            home: Home::Shared(self),
            body: Reader::later,
        };
        let body = r.body(super::DEPTH)?;
        if !r.rest.is_empty() {
            return Err(Malformed);
        }
        let mut whole = Code {
            kind: code.kind,
            name: code.name,
            file: code.file.clone(),
            line: code.line,
            source: code.source.clone(),
            heat: Heat::default(),
            body: body.into(),
        };
        // What names the slots of an environment has no instructions, and is not run.
        let envs = if whole.names_only() {
            None
        } else {
            let top = Envs::outermost(code.kind);
            let envs = verify_one(&whole, around.map_or(&top, |e| e)).map_err(|_| Malformed)?;
            Some(Arc::new(envs))
        };
        for child in whole.children.iter_mut() {
            if let Some(c) = Arc::get_mut(child) {
                c.body.stands_in(&envs);
            }
        }
        Ok(std::mem::replace(&mut *whole, damaged(code)))
    }
}

/// What is run instead of a body that can't be.
fn damaged(code: &Code) -> Body {
    let insn = |op: Op, x: u8, a: u16| Insn { op: op as u8, x, a, b: 0, c: 0 };
    let params = Params { rest: true, ..Params::default() };
    Body {
        end_line: code.line,
        first_line: code.line,
        lines: Box::new([(0, code.line)]),
        insns: Box::new([insn(Op::Intrinsic, crate::Intrinsic::Damaged as u8, 2), insn(Op::Return, 0, 2)]),
        params,
        nregs: 3,
        // self and the list of arguments
        nlocals: 2,
        ..Body::default()
    }
}

impl Lazy {
    fn stands_in(&mut self, envs: &Option<Arc<Envs>>) {
        if let Some(unread) = self.unread_mut() {
            unread.around = envs.clone();
        }
    }
}
