//! An open run file, and how several threads share the reading of it.

use crate::file::error::StoreError;
use crate::file::open::{Opened, open_run};
use crate::file::values::Problem;
use rusqlite::Connection;
use std::path::Path;
use std::thread;

/// With fewer rows, another thread costs more than it saves.
const LEAST_ROWS: i64 = 50_000;
/// More threads than this wait for memory, and each holds sums of its own.
const MOST_THREADS: usize = 8;

/// An open run file, and how the work on it is shared.
pub struct Source {
    /// The connection of whoever shares the work out.
    pub opened: Opened,
    /// With fewer rows, another thread is not worth it.
    least_rows: i64,
    /// The most threads.
    threads: usize,
}

impl Source {
    /// The run file at `path`, to be read by as many threads as there are processors.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn of(path: &Path) -> Result<Source, StoreError> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        Ok(Source { opened: open_run(path)?, least_rows: LEAST_ROWS, threads })
    }

    /// One that so many threads share however few its rows are.
    #[cfg(test)]
    pub fn shared_by(path: &Path, threads: usize) -> Result<Source, StoreError> {
        Ok(Source { opened: open_run(path)?, least_rows: 1, threads })
    }

    /// How many threads so many rows are worth: 1 and more.
    pub fn threads(&self, rows: i64) -> usize {
        let worth = usize::try_from(rows / self.least_rows.max(1)).unwrap_or(0).max(1);
        if self.opened.can_again() { worth.min(self.threads).max(1) } else { 1 }
    }

    /// Does each of `jobs` in a thread with a connection of its own; the results in their order. A
    /// single job has this thread and the connection that is open already.
    ///
    /// # Errors
    /// Those of `work`, of the first job that has one; or there can be no more connections.
    pub fn side_by_side<J: Send, R: Send>(
        &self,
        jobs: Vec<J>,
        work: &(impl Fn(&Connection, J) -> Result<R, Problem> + Sync),
    ) -> Result<Vec<R>, Problem> {
        Ok(self.beside(jobs, work, || Ok(()))?.1)
    }

    /// Does each of `jobs` as [`side_by_side`](Self::side_by_side) does, while this thread does
    /// some `other` work; its result first. A single job, or jobs for which there can be no other
    /// connection, are done after it.
    ///
    /// # Errors
    /// As those of [`side_by_side`](Self::side_by_side); those of the `other` work come first.
    pub fn beside<J: Send, R: Send, E>(
        &self,
        jobs: Vec<J>,
        work: &(impl Fn(&Connection, J) -> Result<R, Problem> + Sync),
        other: impl FnOnce() -> Result<E, Problem>,
    ) -> Result<(E, Vec<R>), Problem> {
        if jobs.len() < 2 || !self.opened.can_again() {
            let other = other()?;
            let done = jobs.into_iter().map(|job| work(&self.opened.connection, job));
            return Ok((other, done.collect::<Result<_, Problem>>()?));
        }
        let open = || {
            self.opened
                .again()
                .unwrap_or_else(|| Err("it is being written".to_owned()))
                .map_err(Problem)
        };
        let connections =
            jobs.iter().map(|_| open()).collect::<Result<Vec<Connection>, Problem>>()?;
        thread::scope(|scope| {
            let started: Vec<_> = connections
                .into_iter()
                .zip(jobs)
                .map(|(connection, job)| scope.spawn(move || work(&connection, job)))
                .collect();
            let other = other()?;
            let ended = started
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err("a thread broke off".into())));
            Ok((other, ended.collect::<Result<_, Problem>>()?))
        })
    }
}
