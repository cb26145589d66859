//! The TypeError for what can't travel: the way from the message to the obstacle.
//!
//! Nothing is noted for it while a graph is walked. The first word that refers to an object is where it was found; following that upwards
//! from the obstacle gives the path.

use super::pack::Packer;
use super::*;
use crate::raise::Result;
use crate::scope::SeenEnv;
use crate::vm::Cx;

/// Longest path that is shown whole: this many steps from both ends.
const SHOWN: usize = 24;

impl Packer {
    /// Words of head `n`.
    fn span(&self, n: usize) -> std::ops::Range<usize> {
        // Those behind the obstacle have not been walked.
        let end = if n < self.graph.heads.len() { self.cells.get(n + 1).map(|m| m.start) } else { None };
        self.cells[n].start..end.unwrap_or(self.graph.words.len())
    }
    /// From the root to `n`: objects, and the word in each that leads on.
    fn way(&self, n: usize) -> Vec<(usize, usize)> {
        let mut first = vec![usize::MAX; self.cells.len()];
        let mut owner = vec![0; self.cells.len()];
        for k in 0..=n {
            let hash = self.cells[k].cell.is_kind(Kind::Hash);
            let span = self.span(k);
            for (i, w) in self.graph.words[span.clone()].iter().enumerate() {
                // Hash codes may look like anything.
                let code = hash && i % 3 == 1 && self.graph.heads.get(k).is_none_or(|h| i <= 3 * h.len);
                if let Some(m) = as_node(*w)
                    && !code
                    && m < first.len()
                    && first[m] == usize::MAX
                {
                    first[m] = i;
                    owner[m] = k;
                }
            }
        }
        let mut way = Vec::new();
        let mut at = n;
        while at != 0 && first[at] != usize::MAX && way.len() <= self.cells.len() {
            way.push((owner[at], first[at]));
            at = owner[at];
        }
        way.reverse();
        way
    }
}

impl Cx {
    #[cold]
    pub(super) fn unsendable<T>(&mut self, p: &Packer, n: usize, why: &str) -> Result<T> {
        let v = p.cells[n].cell;
        let what = match v.kind_of_cell() {
            Kind::Env | Kind::Cref | Kind::Method => "a block's scope".to_string(),
            Kind::Moved | Kind::MovedString | Kind::MovedArray | Kind::MovedHash => "a moved object".to_string(),
            Kind::Class => self.inspect_for_error(v),
            _ if why == " (anonymous)" => format!("an object of {}", self.class_name_of(v)),
            _ => self.class_name_of(v),
        };
        let way = p.way(n);
        let mut path = String::new();
        let mut envs: Vec<SeenEnv> = Vec::new();
        for (i, (k, word)) in way.iter().enumerate() {
            let part = self.step(p.cells[*k].cell, *word, p, *k, &mut envs);
            if way.len() > 2 * SHOWN && i >= SHOWN && i < way.len() - SHOWN {
                if i == SHOWN {
                    path.push_str("...");
                }
                continue;
            }
            path.push_str(&part);
        }
        let at = if path.is_empty() { String::new() } else { format!(": ${path}") };
        self.type_error(format!("can't send {what}{why} to another VM{at}"))
    }
    /// How word `i` of an object is reached.
    fn step(&mut self, v: Value, i: usize, p: &Packer, n: usize, envs: &mut Vec<SeenEnv>) -> String {
        let len = p.graph.heads.get(n).map_or(usize::MAX / 8, |h| h.len);
        let variable = |name: Sym| {
            let text = name.name();
            // Builtins keep things in variables that programs don't see.
            if text.starts_with("__") || text.starts_with("@__") { String::new() } else { format!(".{text}") }
        };
        let special = p.graph.heads.get(n).is_some_and(|h| h.header.kind == Kind::Free as u8);
        match v.kind_of_cell() {
            _ if special => return ".marshal_dump".to_string(),
            Kind::Array if i < len => return format!("[{i}]"),
            Kind::Hash if i == 0 => {
                return if Ref::<HashCell>::of(v).default_is_proc() { ".default_proc".to_string() } else { ".default".to_string() };
            }
            Kind::Hash if i <= 3 * len => {
                if i % 3 == 2 {
                    return ".keys".to_string();
                }
                let key = Ref::<HashCell>::of(v).table(&self.heap).and_then(|t| t.iter().nth((i - 1) / 3)).map(|e| e.key);
                return key.map_or(String::new(), |k| format!("[{}]", self.inspect_for_error(k)));
            }
            Kind::Object | Kind::Exception => {
                let names = self.shape_names(p.cells[n].shape);
                return names.get(i).map_or(String::new(), |n| variable(*n));
            }
            Kind::Range => return if i == 0 { ".begin".to_string() } else { ".end".to_string() },
            Kind::Rational | Kind::Complex => return format!("[{i}]"),
            Kind::Proc => {
                let block = Ref::<ProcCell>::of(v);
                match i {
                    0 => {
                        *envs = self.proc_scope(block).map_or(Vec::new(), |s| self.seen_envs(s));
                        return String::new();
                    }
                    1 => return ".self".to_string(),
                    _ => return String::new(),
                }
            }
            Kind::Env if i == 0 => return String::new(),
            Kind::Env => {
                let name =
                    envs.iter().find(|e| e.env.as_value() == v).and_then(|e| e.names().into_iter().find(|(_, s)| *s as usize == i - 1));
                return name.map_or(String::new(), |(n, _)| format!(".local(:{})", n.name()));
            }
            Kind::MethodObj => return if i == 0 { ".receiver".to_string() } else { String::new() },
            _ => {}
        }
        // Behind the object's own words: count, then pairs of name and value.
        match p.graph.words.get(p.cells[n].start + i - 1).and_then(|w| w.as_sym()) {
            Some(name) if i > 0 => variable(name),
            _ => String::new(),
        }
    }
}
