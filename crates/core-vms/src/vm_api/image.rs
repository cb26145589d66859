//! RubyVM::Image: program state of one moment, from which VMs are spawned later.

use super::vm::{INTO, only, spawn};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::image::Snapshot;
use zakuro_vm::*;

/// Payload of an Image object. None: it was let go.
#[derive(Trace)]
pub struct ImageHandle(#[untraced] Option<Snapshot>);

fn snapshot(cx: &mut Cx, image: Value) -> Result<Snapshot> {
    match cx.data_ref::<ImageHandle>(image)?.0.clone() {
        Some(snapshot) => Ok(snapshot),
        None => cx.raise(ids::VM_ERROR, "the image was let go"),
    }
}

impl NativeData for ImageHandle {
    /// What a small one takes.
    fn weight(&self) -> usize {
        16 << 10
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(ImageHandle(self.0.clone())))
    }
    fn is_handle(&self) -> bool {
        true
    }
}

#[ruby_class(ids::VM_IMAGE)]
pub mod image_class {
    use super::*;

    /// The program state of this VM as it is now. Later changes don't show in it.
    ///
    ///     $mark = 1; i = RubyVM::Image.capture; $mark = 2; i.spawn { $mark }.value  #=> 1
    #[method("capture", singleton)]
    fn capture(cx: &mut Cx, _this: Value) -> Result<Value> {
        zakuro_core_system::io::flush_all(cx);
        let snapshot = cx.capture();
        Ok(cx.data(ids::VM_IMAGE, ImageHandle(Some(snapshot))))
    }

    /// Runs the block in a new VM that starts from the image. The block's outer variables and the arguments are copied as they are now. Keywords: `name:`, and
    /// the limits of RubyVM.new.
    ///
    ///     i = RubyVM::Image.capture; [1, 2].map { |x| i.spawn(x) { |y| y * 10 }.value }  #=> [10, 20]
    #[method("spawn")]
    fn spawn_block(cx: &mut Cx, this: Value, args: Rest, kw: Kwargs, block: Block) -> Result<Value> {
        only(cx, kw, &[sym::name, Sym::intern(INTO)])?;
        let image = snapshot(cx, this)?;
        if block.is_none() {
            return cx.arg_error("must be called with a block");
        }
        let main = cx.block_to_proc(block).as_value();
        let root = cx.array_of([main].iter().chain(args).copied());
        let seed = cx.seed_from(&image, root);
        spawn(cx, seed, args, kw)
    }

    /// Writes the image to a file, which `RubyVM::Image.load` and `zakuro --image FILE` start from: another process of the same binary, later. The block is what `zakuro --image FILE`
    /// runs when it is given no program; its outer variables are copied as they are now. Returns the image. What only means something in this process (an open file, a socket, a channel, the
    /// handle of a VM, memory of a C library) can't be saved: RubyVM::Error names the class and the way to it.
    ///
    ///     f = "/tmp/zakuro_doc_#{$$}.image"; $greeting = "hi"; RubyVM::Image.capture.save(f); i = RubyVM::Image.load(f); File.delete(f); i.spawn { $greeting }.value  #=> "hi"
    #[method("save")]
    fn save(cx: &mut Cx, this: Value, path: Value, block: Block) -> Result<Value> {
        let path = cx.path_of(path)?;
        let image = snapshot(cx, this)?;
        let main = if block.is_none() { None } else { Some(cx.block_to_proc(block).as_value()) };
        crate::vm_api::image_file::save(cx, &image, main, &path)?;
        Ok(this)
    }

    /// The image that `save` wrote to a file. RubyVM::Error for what another binary wrote, or what is no image or damaged. An image is code: load what you would run.
    ///
    ///     RubyVM::Image.load("/dev/null") rescue $!.message  #=> "/dev/null: can't be loaded: it is no regular file"
    #[method("load", singleton)]
    fn load(cx: &mut Cx, _this: Value, path: Value) -> Result<Value> {
        let path = cx.path_of(path)?;
        let image = crate::vm_api::image_file::load(cx, &path)?;
        Ok(cx.data(ids::VM_IMAGE, ImageHandle(Some(image))))
    }

    /// For whoever made it for himself alone: what it holds (memory, duplicates of descriptors) goes with the last VM that was made of it, not with this object.
    #[method("__let_go")]
    fn let_go(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.data_mut::<ImageHandle>(this)?.0 = None;
        Ok(Value::NIL)
    }

    /// Number of objects in the image.
    ///
    ///     RubyVM::Image.capture.size > 0  #=> true
    #[method("size")]
    fn size(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(snapshot(cx, this)?.objects())
    }
}
