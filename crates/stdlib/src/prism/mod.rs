//! prism: the parser's tree for Ruby programs. The gem's Ruby files come with the library (docs/library.md); this is what their C extension does.
//!
//! The parser tells what it has found as bytes (zakuro-compiler's `serialize`), within the VM's limits; [`read`] makes the gem's objects of them. Options and
//! the functions of `Prism` are Ruby (`ruby/prism.rb`).
//! Rejected: the gem's own reader in Ruby (of another version of the format, and ten times slower).

mod read;
mod tables;

use zakuro_macros::ruby_class;
use zakuro_vm::parsing::{Ask, Question};
use zakuro_vm::*;

fn question_kind(n: i64) -> Option<Ask> {
    Some(match n {
        0 => Ask::Parse,
        1 => Ask::Lex,
        2 => Ask::ParseLex,
        3 => Ask::Comments,
        4 => Ask::Success,
        11..=13 => Ask::Errors((n - 10) as u8),
        _ => return None,
    })
}

/// Methods of `Prism::NativeParser`.
#[ruby_class(ids::OBJECT)]
mod parser {
    use super::*;

    /// What the parser tells of a source, as bytes. `kind`: see `question_kind`; `options`: as the parser reads them.
    #[method("ask", singleton)]
    fn ask(cx: &mut Cx, _this: Value, kind: i64, source: Ref<StringCell>, options: Ref<StringCell>) -> Result<Value> {
        let (source, options) = (source.to_vec(), options.to_vec());
        let question = question_kind(kind).and_then(|ask| Question::new(source.into(), options, ask));
        let Some(question) = question else { return cx.arg_error("invalid options") };
        let told = cx.ask_parser(&question)?;
        Ok(cx.str_bytes(&told, string::BINARY))
    }

    /// The result that the gem has for what `ask` has told. The source gets the encoding that the parser found.
    #[method("read", singleton)]
    fn read(cx: &mut Cx, _this: Value, kind: i64, source: Ref<StringCell>, told: Ref<StringCell>, freeze: bool) -> Result<Value> {
        match question_kind(kind) {
            Some(ask @ (Ask::Parse | Ask::Lex | Ask::ParseLex | Ask::Comments)) => read::result(cx, ask, source, told, freeze),
            _ => cx.arg_error("invalid kind"),
        }
    }
}

/// `require "prism/prism"`, by the gem's prism.rb.
pub fn load(cx: &mut Cx) -> Result<()> {
    let prism = cx.define_module(ids::OBJECT, "Prism");
    let native = cx.define_module(prism, "NativeParser");
    cx.define_natives(native, &[parser::METHODS]);
    cx.run_builtin("prism/prism")
}
