//! RubyGems, loaded when the first program of a VM asks for it.
//!
//! CRuby loads RubyGems before every program, which is most of the time that it takes to start. Here three things load it: the constant `Gem` (an
//! autoload, `module::setup`), the method `gem`, and a `require` that finds no file in `$LOAD_PATH` (or asks for a part of RubyGems, none of which can
//! be loaded alone). From then on its own `Kernel#require` and
//! `Kernel#gem` stand where these stood. What it should know of us stands in crates/stdlib/ruby/rubygems_defaults_ruby.rb.
//! A `Kernel#gem` that the program defined before that stays: in CRuby it comes after RubyGems (bundled applications take `gem` away so).
//! Invariant: a `require` that fails without a gem for it fails as if there were no RubyGems.
//! Rejected: an index of installed gems of our own (versions, dependencies and Bundler are RubyGems' business).

use super::load::{self, FeatureState};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

const FEATURE: &[u8] = b"rubygems";

/// Loads RubyGems. False when it may not be, is not there, or was loaded before (by this thread, perhaps not to its end).
pub fn start(cx: &mut Cx) -> Result<bool> {
    if cx.options.no_gems || matches!(load::state(cx, FEATURE)?, FeatureState::Loaded | FeatureState::LoadingHere) {
        return Ok(false);
    }
    if load::resolve(cx, FEATURE)?.is_none() {
        return Ok(false);
    }
    let gem = Sym::intern("gem");
    let own = cx.class(ids::KERNEL).methods.get(&gem).and_then(|m| Ref::<MethodCell>::from_value(*m)).filter(|m| m.method_kind() != MethodKind::Native);
    let mut kept = RootedVec::new(cx);
    kept.extend(own.map(|m| m.as_value()));
    load::require(cx, FEATURE)?;
    if let Some(own) = kept.first().and_then(|m| Ref::<MethodCell>::from_value(*m)) {
        cx.add_method(ids::KERNEL, gem, own);
    }
    Ok(true)
}

/// Puts the gem that has a file for `feature` into `$LOAD_PATH`; false when RubyGems has had its say already or knows none.
#[cold]
pub fn activate_for(cx: &mut Cx, feature: &[u8]) -> Result<bool> {
    if !start(cx)? {
        return Ok(false);
    }
    let Some(gem) = cx.const_by_path("Gem") else { return Ok(false) };
    let feature = cx.str_bytes(feature, string::UTF8);
    Ok(cx.call(gem, Sym::intern("try_activate"), &[feature])?.truthy())
}

/// What a LoadError adds: that the file is a gem's C extension. Empty for any other.
#[cold]
pub fn missing_extension(cx: &mut Cx, feature: &[u8]) -> Result<String> {
    if load::state(cx, FEATURE)? != FeatureState::Loaded {
        return Ok(String::new());
    }
    let (name, Some(gem)) = (Sym::intern("__missing_extension"), cx.const_by_path("Gem")) else { return Ok(String::new()) };
    if !cx.responds(gem, name, false)? {
        return Ok(String::new());
    }
    let feature = cx.str_bytes(feature, string::UTF8);
    let hint = cx.call(gem, name, &[feature])?;
    if hint.is_nil() { Ok(String::new()) } else { cx.to_s_text(hint) }
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// Puts a gem of a version that fits into `$LOAD_PATH`: RubyGems' `gem`, which is loaded by the first call.
    #[method("gem", private, min = 1)]
    fn gem(cx: &mut Cx, this: Value, args: Rest) -> Result<Value> {
        if !start(cx)? {
            return cx.raise(ids::LOAD_ERROR, "RubyGems is not there");
        }
        cx.call_private(this, Sym::intern("gem"), args)
    }
}
