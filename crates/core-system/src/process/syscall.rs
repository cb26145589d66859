//! Kernel#syscall: a system call by its number. Whoever may make any call can do what foreign code can, so it is given to whom that is given.

use crate::io::errors::last_errno;
use crate::io::fail;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Arguments that a system call takes.
const MOST: usize = 6;

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// Makes a system call: its number, then Integers and Strings. A String's bytes, and a NUL behind them, are the call's to read and write.
    ///
    ///     (syscall rescue $!.message)    #=> "too few arguments for syscall"
    #[method("syscall", module_function)]
    fn syscall(cx: &mut Cx, _this: Value, args: Rest) -> Result<i64> {
        let Some((number, rest)) = args.split_first() else { return cx.arg_error("too few arguments for syscall") };
        if rest.len() > MOST {
            return cx.arg_error("too many arguments for syscall");
        }
        if !cx.may_call_foreign() {
            return cx.raise(ids::SECURITY_ERROR, "system calls: this VM may not (RubyVM.new(..., foreign: true) by a VM that may)");
        }
        if cx.is_verbose() {
            cx.warn_here("We plan to remove a syscall function; DL(Fiddle) provides safer alternative API.")?;
        }
        let number = cx.to_i64(*number)?;
        let mut texts = RootedVec::new(cx);
        let mut words = [0 as libc::c_long; MOST];
        // A text's place among the words; the bytes are copies, which no collection and no other thread of the VM touches.
        let mut places = Vec::new();
        for (i, v) in rest.iter().enumerate() {
            match cx.try_str(*v)? {
                Some(s) => {
                    cx.check_frozen(s.as_value())?;
                    texts.push(s.as_value());
                    places.push(i);
                }
                None => words[i] = cx.to_i64(*v)? as libc::c_long,
            }
        }
        let mut buffers: Vec<Vec<u8>> = Vec::new();
        for (v, i) in texts.iter().zip(&places) {
            let mut bytes = Ref::<StringCell>::of(*v).to_vec();
            bytes.push(0);
            words[*i] = bytes.as_mut_ptr().expose_provenance() as libc::c_long;
            buffers.push(bytes);
        }
        let (result, errno) = zakuro_sched::blocking(|| {
            let [a, b, c, d, e, f] = words;
            // SAFETY: none that could be told: the caller answers for what the call does, as with any foreign function. Buffers live until it is over.
            let result = unsafe { libc::syscall(number as libc::c_long, a, b, c, d, e, f) };
            (result, last_errno())
        });
        for (v, bytes) in texts.iter().zip(&buffers) {
            let s = Ref::<StringCell>::of(*v);
            let bytes = &bytes[..bytes.len() - 1];
            if !s.equals(bytes) && s.len() == bytes.len() {
                cx.check_frozen(*v)?;
                StringCell::set_bytes(s, &mut cx.heap, bytes);
            }
        }
        if result == -1 {
            return fail(cx, errno, "");
        }
        Ok(result)
    }
}
