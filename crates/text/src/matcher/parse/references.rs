//! References to groups, by number or name: back references, calls, and what they stand for once all groups are known.
//!
//! Invariant: a reference keeps what was written until the whole pattern is parsed; names are found in an index.

use super::{Parser, Ref, Result};
use crate::matcher::ast::{Id, Node, Target};

impl Parser<'_> {
    /// The group that a number, plain or relative, stands for; None for a name.
    pub(super) fn reference(&self, text: &[u8]) -> Result<Option<u32>> {
        let (sign, digits) = match text[0] {
            b @ (b'-' | b'+') => (Some(b), &text[1..]),
            _ => (None, text),
        };
        if !digits.first().is_some_and(u8::is_ascii_digit) {
            if sign.is_some() {
                return Err(format!("invalid group name <{}>", String::from_utf8_lossy(text)));
            }
            return Ok(None);
        }
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(format!("invalid group name <{}>", String::from_utf8_lossy(text)));
        }
        let n = digits.iter().fold(0u32, |v, b| v.saturating_mul(10).saturating_add(u32::from(b - b'0')));
        if n > 0x7fff_ffff {
            return Err("too big number".into());
        }
        let open = self.tree.groups;
        Ok(Some(match sign {
            Some(b'-') if n >= open || n == 0 => return Err("invalid backref number/name".into()),
            Some(b'-') => open - n,
            Some(_) if n == 0 => return Err("invalid backref number/name".into()),
            Some(_) => (open - 1).saturating_add(n),
            None => n,
        }))
    }

    pub(super) fn push_backref(&mut self, refs: Vec<Ref>, level: Option<i32>) {
        self.push(Node::Backref { groups: Vec::new(), fold: self.options.ignore_case, level });
        self.refs.push((self.tree.nodes.len() as Id - 1, refs, self.is_behind()));
    }

    /// `\k<...>`
    pub(super) fn named_backref(&mut self) -> Result<()> {
        let end = if self.peek(2) == Some(b'<') { b'>' } else { b'\'' };
        self.at += 3;
        let text = self.name(end)?;
        // A level stands behind a sign that is not the first.
        let sign = text.iter().skip(1).position(|b| matches!(b, b'+' | b'-')).map(|n| n + 1);
        let (name, level) = match sign {
            Some(n) => {
                let digits = &text[n + 1..];
                if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                    return Err(format!("invalid group name <{}>", String::from_utf8_lossy(text)));
                }
                let level = digits.iter().fold(0i32, |v, b| v.saturating_mul(10).saturating_add(i32::from(b - b'0')));
                (&text[..n], Some(if text[n] == b'-' { -level } else { level }))
            }
            None => (text, None),
        };
        let r = match self.reference(name)? {
            Some(0) => return Err("invalid backref number/name".into()),
            Some(n) => {
                self.numbered = true;
                Ref::Number(n)
            }
            None => {
                // Only what stands before.
                if !self.name_index.contains_key(name) {
                    return Err(format!("undefined name <{}> reference", String::from_utf8_lossy(name)));
                }
                Ref::Name(name.to_vec())
            }
        };
        self.push_backref(vec![r], level);
        Ok(())
    }

    /// `\g<...>`
    pub(super) fn call(&mut self) -> Result<()> {
        let end = if self.peek(2) == Some(b'<') { b'>' } else { b'\'' };
        self.at += 3;
        let text = self.name(end)?;
        let target = match self.reference(text)? {
            Some(n) => {
                self.numbered |= n != 0;
                if text[0] == b'+' {
                    self.ahead.insert(self.tree.nodes.len() as Id, n + 1 - self.tree.groups);
                }
                Target::Number(n)
            }
            None => Target::Name(text.to_vec()),
        };
        self.push(Node::Call(target));
        Ok(())
    }

    /// Gives references their groups.
    pub(super) fn resolve(&mut self) -> Result<()> {
        let count = self.tree.groups;
        if self.numbered && !self.tree.names.is_empty() {
            // A condition's number is looked at first.
            let missing = |r: &Ref| matches!(r, Ref::Number(n) if *n >= count);
            let condition = |id: Id| matches!(self.tree.nodes.get(id as usize), Some(Node::Condition { .. }));
            return Err(if self.refs.iter().any(|(id, refs, _)| condition(*id) && refs.iter().any(missing)) {
                "invalid backref number/name".into()
            } else {
                "numbered backref/call is not allowed. (use name)".into()
            });
        }
        let names = &self.tree.names;
        for (id, node) in (0..).zip(&mut self.tree.nodes) {
            let Node::Call(target) = node else { continue };
            let number = match target {
                Target::Number(n) if *n < count => *n,
                Target::Number(n) => {
                    let shown = self.ahead.get(&id).unwrap_or(n);
                    return Err(format!("undefined group <{shown}> reference"));
                }
                Target::Name(name) => match self.name_index.get(&name[..]).map(|&n| &names[n].1) {
                    Some(numbers) if numbers.len() == 1 => numbers[0],
                    Some(_) => return Err(format!("multiplex definition name <{}> call", String::from_utf8_lossy(name))),
                    None => return Err(format!("undefined name <{}> reference", String::from_utf8_lossy(name))),
                },
            };
            *target = Target::Number(number);
        }
        for (id, refs, behind) in std::mem::take(&mut self.refs) {
            let mut found = Vec::new();
            for r in refs {
                match r {
                    Ref::Number(n) if n < count => found.push(n),
                    Ref::Number(_) if behind => return Err("invalid pattern in look-behind".into()),
                    Ref::Number(_) => return Err("invalid backref number/name".into()),
                    Ref::Name(name) => match self.name_index.get(&name[..]) {
                        Some(&n) => found.extend_from_slice(&self.tree.names[n].1),
                        None => return Err(format!("undefined name <{}> reference", String::from_utf8_lossy(&name))),
                    },
                }
            }
            match &mut self.tree.nodes[id as usize] {
                Node::Backref { groups, .. } | Node::Condition { groups, .. } => *groups = found,
                _ => {}
            }
        }
        Ok(())
    }
}
