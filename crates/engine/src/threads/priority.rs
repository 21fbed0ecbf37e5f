//! The I/O priority of the calling thread.

use model::note::Degraded;
use model::priority::Priority;
use std::io;

/// `IOPRIO_WHO_PROCESS` of linux/ioprio.h; with number 0 it means the calling thread alone.
const THIS_THREAD: (libc::c_int, libc::c_int) = (1, 0);

/// Gives the calling thread `priority`, which requests without one of their own have then, and
/// comes back with the word that such requests carry. Where the system refuses it, that is the word
/// for none, and the refusal: the kernel would refuse each such request.
pub(crate) fn take(priority: Priority) -> (u16, Option<Degraded>) {
    if priority == Priority::Inherited {
        return (0, None);
    }
    judge(priority, set(priority.ioprio()))
}

fn judge(priority: Priority, answer: io::Result<()>) -> (u16, Option<Degraded>) {
    match answer {
        Ok(()) => (priority.ioprio(), None),
        Err(error) => (0, Some(Degraded::Priority { priority, error: error.into() })),
    }
}

fn set(ioprio: u16) -> io::Result<()> {
    let (which, who) = THIS_THREAD;
    // SAFETY: three numbers; nothing but a property of this thread changes.
    let answer =
        unsafe { libc::syscall(libc::SYS_ioprio_set, which, who, libc::c_int::from(ioprio)) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_this_thread() -> i64 {
        let (which, who) = THIS_THREAD;
        // SAFETY: asks for a number.
        unsafe { libc::syscall(libc::SYS_ioprio_get, which, who) }
    }

    #[test]
    fn the_thread_has_what_it_took() {
        std::thread::spawn(|| {
            let before = of_this_thread();
            assert_eq!(take(Priority::Inherited), (0, None));
            assert_eq!(of_this_thread(), before);
            assert_eq!(take(Priority::BestEffort(6)), (0x4006, None));
            assert_eq!(of_this_thread(), 0x4006);
        })
        .join()
        .expect("no panic");
    }

    #[test]
    fn a_refused_priority_is_on_no_request() {
        let (word, why) =
            judge(Priority::Realtime(0), Err(io::Error::from_raw_os_error(libc::EPERM)));
        assert_eq!(word, 0);
        let error = io::Error::from_raw_os_error(libc::EPERM).into();
        assert_eq!(why, Some(Degraded::Priority { priority: Priority::Realtime(0), error }));
    }
}
