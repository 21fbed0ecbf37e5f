//! The CPU time of the calling thread. What the kernel's threads take that work for it is in
//! [`kernel_workers`](crate::threads::kernel_workers).

/// CPU time, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTime {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

impl CpuTime {
    /// What the calling thread has used since it started.
    pub(crate) fn of_this_thread() -> CpuTime {
        // SAFETY: an all-zero `rusage` is a valid value of that plain C struct.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is writable and outlives the call. On failure it stays zero, which reads
        // as "not known".
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        let ns =
            |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
        CpuTime { user_ns: ns(usage.ru_utime), system_ns: ns(usage.ru_stime) }
    }

    /// What was used since `earlier`.
    pub(crate) fn since(self, earlier: CpuTime) -> CpuTime {
        CpuTime {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}
