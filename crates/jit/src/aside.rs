//! Calls of helpers from ways that seldom run, which leave every register of the machine as it was but for the answer's.
//!
//! A call clobbers half of the registers, all that hold doubles among them, and wants its arguments in certain ones. What lives across one is kept in memory by the register allocator, on the ways that
//! never call, too: each operation of a hot loop would store its double and load it again. So cold code leaves arguments on its stack and calls a stub, by the convention that
//! Cranelift names `preserve_all`: it saves all registers, and passes the arguments on as the helper wants them. (Rejected: stubs that save doubles in all functions. A site with many receivers calls from cold code each time, and most functions have no doubles. Direct
//! functions whose callers save all registers (`winch`), since half of a recursion's calls return at once: what lives across calls was loaded anew before each use, 1.15 of the time.)

#[cfg(target_arch = "x86_64")]
mod stubs {
    use std::arch::naked_asm;
    use zakuro_vm::interp::machine::help;
    use zakuro_vm::interp::quiet;

    /// A function that saves all registers of words, passes arguments on from where rsi points to, and calls the function in rax; in brackets what it does between, and behind the call.
    macro_rules! passes {
        ($(#[$doc:meta])* $name:ident: [$($before:literal,)*] [$($behind:literal,)*]) => {
            $(#[$doc])*
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                naked_asm!(
                    "push rbp",
                    "mov rbp, rsp",
                    "push rcx",
                    "push rdx",
                    "push rsi",
                    "push rdi",
                    "push r8",
                    "push r9",
                    "push r10",
                    "push r11",
                    $($before,)*
                    "mov rdx, [rsi + 16]",
                    "mov rcx, [rsi + 24]",
                    "mov r8, [rsi + 32]",
                    "mov r9, [rsi + 40]",
                    "mov rsi, [rsi + 8]",
                    "call rax",
                    $($behind,)*
                    "pop r11",
                    "pop r10",
                    "pop r9",
                    "pop r8",
                    "pop rdi",
                    "pop rsi",
                    "pop rdx",
                    "pop rcx",
                    "pop rbp",
                    "ret",
                )
            }
        };
    }
    /// The same where doubles may stand in registers. The last word is passed as a double, too.
    macro_rules! passes_with_doubles {
        ($(#[$doc:meta])* $name:ident: [$($before:literal,)*]) => {
            passes! {
                $(#[$doc])*
                $name: [
                    "sub rsp, 128",
                    "movsd [rsp + 0], xmm0",
                    "movsd [rsp + 8], xmm1",
                    "movsd [rsp + 16], xmm2",
                    "movsd [rsp + 24], xmm3",
                    "movsd [rsp + 32], xmm4",
                    "movsd [rsp + 40], xmm5",
                    "movsd [rsp + 48], xmm6",
                    "movsd [rsp + 56], xmm7",
                    "movsd [rsp + 64], xmm8",
                    "movsd [rsp + 72], xmm9",
                    "movsd [rsp + 80], xmm10",
                    "movsd [rsp + 88], xmm11",
                    "movsd [rsp + 96], xmm12",
                    "movsd [rsp + 104], xmm13",
                    "movsd [rsp + 112], xmm14",
                    "movsd [rsp + 120], xmm15",
                    "movsd xmm0, [rsi + 40]",
                    $($before,)*
                ] [
                    "movsd xmm0, [rsp + 0]",
                    "movsd xmm1, [rsp + 8]",
                    "movsd xmm2, [rsp + 16]",
                    "movsd xmm3, [rsp + 24]",
                    "movsd xmm4, [rsp + 32]",
                    "movsd xmm5, [rsp + 40]",
                    "movsd xmm6, [rsp + 48]",
                    "movsd xmm7, [rsp + 56]",
                    "movsd xmm8, [rsp + 64]",
                    "movsd xmm9, [rsp + 72]",
                    "movsd xmm10, [rsp + 80]",
                    "movsd xmm11, [rsp + 88]",
                    "movsd xmm12, [rsp + 96]",
                    "movsd xmm13, [rsp + 104]",
                    "movsd xmm14, [rsp + 112]",
                    "movsd xmm15, [rsp + 120]",
                    "add rsp, 128",
                ]
            }
        };
    }
    passes! {
        /// Of a function whose first argument is the VM, in rdi; those that follow stand behind one.
        words: [] []
    }
    passes! {
        /// Of a function whose first argument stands there, too.
        all_words: ["mov rdi, [rsi]",] []
    }
    passes_with_doubles! {
        /// As `words`.
        doubles: []
    }
    passes_with_doubles! {
        /// As `all_words`.
        all_doubles: ["mov rdi, [rsi]",]
    }

    /// A helper and its stubs: without and with doubles, for each whether the VM is its first argument, or another.
    struct Stub(*const (), [[unsafe extern "C" fn(); 2]; 2]);
    // SAFETY: addresses of functions.
    unsafe impl Sync for Stub {}

    macro_rules! stub {
        ($helper:path, $passes:ident) => {{
            #[unsafe(naked)]
            unsafe extern "C" fn stub() {
                naked_asm!("lea rax, [rip + {}]", "jmp {}", sym $helper, sym $passes)
            }
            stub
        }};
    }
    macro_rules! stubs {
        ($($helper:path),* $(,)?) => {
            static STUBS: &[Stub] = &[$(Stub(
                $helper as *const (),
                [[stub!($helper, words), stub!($helper, all_words)], [stub!($helper, doubles), stub!($helper, all_doubles)]],
            )),*];
        };
    }
    stubs![
        help::site,
        help::make_float,
        help::step,
        help::send,
        help::send_x,
        help::super_,
        help::yield_,
        help::get_ivar,
        help::set_ivar,
        help::layout,
        help::go_on_unless_changed,
        help::go_on_behind,
        help::waits_no_more,
        help::set_old_env,
        help::renew,
        help::link,
        help::exits,
        help::array_set,
        help::new_of,
        help::new_array,
        help::round,
        help::rest,
        help::safepoint,
        help::nested,
        help::equal,
        help::length,
        help::walks_itself,
        help::no_room,
        quiet::listed,
        quiet::set_listed,
        quiet::array,
        quiet::string,
        quiet::environment,
        quiet::append,
    ];

    pub fn of(helper: usize, doubles: bool, of_vm: bool) -> Option<usize> {
        let stub = STUBS.iter().find(|s| s.0 as usize == helper)?;
        Some(stub.1[doubles as usize][!of_vm as usize] as *const () as usize)
    }
}

/// The stub of a helper, if it has one. `doubles`: some may stand in registers. `of_vm`: the VM is its first argument.
#[cfg(target_arch = "x86_64")]
pub use stubs::of;
#[cfg(not(target_arch = "x86_64"))]
pub fn of(_: usize, _: bool, _: bool) -> Option<usize> {
    None
}
