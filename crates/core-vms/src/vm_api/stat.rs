//! `RubyVM.stat`: what the process did for all its VMs.

use zakuro_macros::ruby_class;
use zakuro_vm::*;

#[ruby_class(ids::RUBY_VM)]
pub mod stat_class {
    use super::*;

    /// Counters of the process, or one of them. Sources are read and compiled once for all VMs: `:code_files_read` and `:code_files_compiled` say how many
    /// times that was done (evals are not counted), `:code_read_hits` and `:code_cache_hits` how many times it was not necessary.
    ///
    ///     RubyVM.stat.keys   #=> [:code_files_read, :code_read_hits, :code_files_compiled, :code_cache_hits]
    ///     RubyVM.stat(:code_files_compiled) > 0   #=> true
    #[method("stat", singleton)]
    fn stat(cx: &mut Cx, _this: Value, what: Option<Value>) -> Result<Value> {
        let c = codecache::counts();
        let rows = [
            ("code_files_read", c.read),
            ("code_read_hits", c.read_hits),
            ("code_files_compiled", c.compiled),
            ("code_cache_hits", c.hits),
        ]
        .map(|(name, n)| (Value::sym(Sym::intern(name)), Value::fixnum(n as i64)));
        let into = match what {
            None => cx.new_hash(),
            Some(w) if w.as_sym().is_some() => {
                return match rows.iter().find(|(name, _)| *name == w) {
                    Some((_, n)) => Ok(*n),
                    None => {
                        let name = cx.to_s(w)?.text().into_owned();
                        cx.arg_error(format!("unknown key: {name}"))
                    }
                };
            }
            Some(w) => match Ref::<HashCell>::from_value(w) {
                Some(h) => {
                    cx.check_frozen(w)?;
                    h
                }
                None => return cx.type_error("non-hash or symbol given"),
            },
        };
        for (name, n) in rows {
            cx.hash_set(into, name, n)?;
        }
        Ok(into.as_value())
    }
}
