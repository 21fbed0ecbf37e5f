//! System calls that a container forbids, for tests: a filter as container runtimes install it.

use std::thread;

/// What `work` comes to on a thread of its own whose `calls` the kernel answers with EPERM; other
/// threads keep them.
pub(super) fn without<T: Send>(calls: &[libc::c_long], work: impl FnOnce() -> T + Send) -> T {
    let statement =
        |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let answer = |k: u32| statement(libc::BPF_RET | libc::BPF_K, k, 0, 0);
    // The number of the call is the first word of what a filter sees.
    let mut program = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for call in calls {
        program.push(statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, *call as u32, 0, 1));
        program.push(answer(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
    }
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    let filtered = move || {
        let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
        // SAFETY: both calls concern this thread alone; the kernel copies the filter before it
        // comes back.
        let installed = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const filter,
                    0,
                    0,
                ) == 0
        };
        assert!(installed, "{}", std::io::Error::last_os_error());
        work()
    };
    thread::scope(|scope| scope.spawn(filtered).join().expect("the work does not panic"))
}
