//! The `zakuro` command: what ships.

mod allocator;
mod start;

fn main() {
    start::main();
}
