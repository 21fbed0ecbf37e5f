//! The limits that the system puts on this process: looked at before anything is touched, so that
//! none of them ends a run in the middle.

use crate::failure::Failure;
use rustix::process::{Resource, getrlimit};
use signal_hook::consts::SIGXFSZ;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::thread;

/// Threads that a command needs beside its workers, at most.
const THREADS: usize = 16;

/// The address space that a command needs beside its workers' memory, in bytes: allocators and
/// stacks reserve more than they use.
const ADDRESS_SPACE: u64 = 512 << 20;

pub(crate) fn check() -> Result<(), Failure> {
    // A write beyond the limit of file sizes is then an error of that write (EFBIG), and not the
    // end of the process. A handler and not "ignore", which commands of events would inherit.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    address_space(getrlimit(Resource::As).current)?;
    threads(THREADS)
}

fn address_space(limit: Option<u64>) -> Result<(), Failure> {
    match limit {
        Some(bytes) if bytes < ADDRESS_SPACE => Err(Failure::run(format!(
            "the address space of this process is limited to {} MiB; Plimsoll needs {} \
             MiB: raise the limit (ulimit -v)",
            bytes >> 20,
            ADDRESS_SPACE >> 20
        ))),
        _ => Ok(()),
    }
}

/// Has `count` threads at once, and lets them go.
fn threads(count: usize) -> Result<(), Failure> {
    // Held until all are started: each waits for it.
    let gate = Arc::new(Mutex::new(()));
    let held = gate.lock();
    let started: Result<Vec<_>, std::io::Error> = (0..count)
        .map(|_| {
            let gate = Arc::clone(&gate);
            thread::Builder::new().stack_size(64 << 10).spawn(move || drop(gate.lock()))
        })
        .collect();
    drop(held);
    let started = started.map_err(|error| {
        Failure::run(format!(
            "this process cannot have {count} threads: {error}; raise the limit (pids.max \
             of its control group, or ulimit -u)"
        ))
    })?;
    // They have done nothing that could fail.
    started.into_iter().for_each(|thread| drop(thread.join()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_space_that_is_too_small_is_named_with_its_remedy() {
        let Err(Failure::Run(words)) = address_space(Some(300_000 << 10)) else {
            panic!("too small")
        };
        assert!(words.contains("292 MiB") && words.contains("ulimit -v"), "{words}");
        assert!(address_space(Some(ADDRESS_SPACE)).is_ok() && address_space(None).is_ok());
    }
}
