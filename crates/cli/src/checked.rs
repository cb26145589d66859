//! The `zakuro` command with debug assertions, for `./test`: under a name of its own, it stands beside the one that ships (checked.toml).

mod allocator;
mod start;

fn main() {
    start::main();
}
