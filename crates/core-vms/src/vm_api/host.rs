//! What the host of an embedded VM lends it: places where `$stdout` and `$stderr` go, and functions.

use std::sync::{Arc, Mutex};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Takes what a VM writes. Shared by a VM and those forked from it; locked while it takes one piece.
#[derive(Trace, Clone)]
pub struct OutputSink(#[untraced] pub Arc<Mutex<dyn FnMut(&[u8]) + Send>>);

impl NativeData for OutputSink {
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(self.clone()))
    }
}

type Function = dyn Fn(&mut Cx, &[Value]) -> Result<Value> + Send + Sync;

/// A function of the host as a method.
#[derive(Trace, Clone)]
pub struct HostFunction(#[untraced] pub Arc<Function>);

impl NativeData for HostFunction {
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(self.clone()))
    }
}

/// `$stdout` (1) or `$stderr` (2) goes to the sink.
pub fn redirect(cx: &mut Cx, n: usize, sink: OutputSink) -> Result<()> {
    let sink = cx.data(ids::OBJECT, sink);
    let vm = cx.class_value(ids::RUBY_VM);
    let class = cx.const_get_from(vm, Sym::intern("HostOutput"))?;
    let stream = cx.call(class, sym::new, &[sink])?;
    zakuro_core_system::io::stream::set_current(cx, n, stream);
    Ok(())
}

/// Defines a private method of every object.
pub fn define(cx: &mut Cx, name: Sym, f: HostFunction) -> Result<()> {
    let data = cx.data(ids::OBJECT, f);
    let body = cx.native_proc(call, data, true);
    let (kernel, name) = (cx.class_value(ids::KERNEL), Value::sym(name));
    cx.call_private(kernel, Sym::intern("define_method"), &[name, body])?;
    cx.call_private(kernel, Sym::intern("private"), &[name])?;
    Ok(())
}

fn call(cx: &mut Cx, data: Value, args: Args) -> Result<Value> {
    let f = cx.data_ref::<HostFunction>(data)?.0.clone();
    f(cx, args.all())
}

#[ruby_class(ids::RUBY_VM)]
pub mod host_output {
    use super::*;

    /// Gives text to a sink of the host.
    #[method("__host_write", singleton)]
    fn host_write(cx: &mut Cx, _this: Value, sink: Value, text: Ref<StringCell>) -> Result<usize> {
        let sink = cx.data_ref::<OutputSink>(sink)?.0.clone();
        let bytes = text.content(&cx.heap);
        let mut write = sink.lock().unwrap_or_else(|e| e.into_inner());
        write(bytes);
        Ok(bytes.len())
    }
}
