//! How a worker ends a measured amount: its files are flushed and closed within its time, as the
//! plan says.

use crate::clock::Clock;
use crate::control::Control;
use crate::error::EngineError;
use crate::targets::{again, numbers, ours};
use crate::worker::driver::Pages;
use crate::worker::recorder::RING_OPS;
use crate::worker::{Finished, Outcome};
use model::plan::{HostPlan, Stop, Work, Worker};
use model::{Op, WriteMark};
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};

/// What a worker has open for itself, so that closing it is what a program would do that has done
/// its part.
pub(crate) struct OwnFiles(Vec<(u32, OwnedFd)>);

impl OwnFiles {
    /// Opens the files of `worker` once more, if `stop` counts how they are closed. Devices and
    /// files of others are left as they are.
    ///
    /// # Errors
    /// When the system opens no more.
    pub(crate) fn open(
        stop: Stop,
        plan: &HostPlan,
        files: &[OwnedFd],
        worker: &Worker,
    ) -> Result<OwnFiles, EngineError> {
        if !stop.once().is_some_and(|once| once.close) {
            return Ok(OwnFiles(Vec::new()));
        }
        let ours = ours(plan);
        let mut opened = Vec::new();
        for number in numbers(worker) {
            if let (Some(true), Some(file)) =
                (ours.get(number as usize), files.get(number as usize))
            {
                opened.push((
                    number,
                    again(file)
                        .map_err(|error| EngineError::worker("open its files for itself", error))?,
                ));
            }
        }
        Ok(OwnFiles(opened))
    }

    /// Puts them into `files`, the list that the backend works with.
    pub(crate) fn put_into(&self, files: &mut [RawFd]) {
        for (number, own) in &self.0 {
            if let Some(file) = files.get_mut(*number as usize) {
                *file = own.as_raw_fd();
            }
        }
    }

    /// Leaves them open: requests are still on their way to them, and closing could wait for the
    /// target.
    pub(crate) fn abandon(self) {
        std::mem::forget(self);
    }

    /// Closes them; the errors of the system come back, because some file systems tell only here
    /// that a write is lost.
    fn close(self) -> Vec<i32> {
        let close = |file: OwnedFd| {
            // SAFETY: the descriptor was taken out of its owner, so nobody else closes it or uses
            // it after this.
            let result = unsafe { libc::close(file.into_raw_fd()) };
            (result != 0).then(|| io::Error::last_os_error().raw_os_error().unwrap_or(0))
        };
        self.0.into_iter().filter_map(|(_, file)| close(file)).collect()
    }
}

/// What a worker does, and what it does it to.
pub(crate) struct Amount<'a> {
    pub(crate) work: &'a Work,
    pub(crate) worker: &'a Worker,
    /// The open files of its host.
    pub(crate) files: &'a [OwnedFd],
    pub(crate) own: OwnFiles,
}

/// Ends the amount of a worker; every request has come back, and `mark` says how far its writes
/// have got. Its backend holds none of its files open any more.
pub(crate) fn end(
    amount: Amount<'_>,
    control: &Control,
    pages: &mut Pages<'_>,
    mark: &mut Option<WriteMark>,
) {
    let Amount { work, worker, files, own } = amount;
    let clock = control.clock();
    let fsync = RING_OPS.iter().position(|op| *op == Op::Fsync).unwrap_or_default();
    // Whoever was told to stop altogether does not wait for a flush.
    let flushes = work.writes() && work.stop.once().is_some_and(|once| once.fsync);
    if flushes && !control.is_stopped() {
        for file in numbers(worker).into_iter().filter_map(|number| files.get(number as usize)) {
            let start_ns = clock.now_ns();
            let result = rustix::fs::fsync(file);
            let now_ns = clock.now_ns();
            let outcome = match result {
                Ok(()) => Outcome::Success { bytes: 0 },
                Err(error) => Outcome::Failure { errno: error.raw_os_error(), bytes: 0 },
            };
            pages.turn(now_ns, control.cuts(), || mark.take());
            pages.write_down(Finished { op: fsync, latency_ns: now_ns - start_ns, outcome });
        }
    }
    for errno in own.close() {
        pages.turn(clock.now_ns(), control.cuts(), || mark.take());
        let outcome = Outcome::Failure { errno, bytes: 0 };
        pages.write_down(Finished { op: fsync, latency_ns: 0, outcome });
    }
}
