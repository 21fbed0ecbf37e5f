//! Where workers stopped in what they go through in order, so that their next stage does not ask
//! for the same bytes again.

use super::given::Given;
use super::streams::Streams;
use model::Percent;
use model::plan::{Stop, Work};
use std::collections::BTreeMap;

/// Where a sequence of requests stopped.
#[derive(Clone, Debug)]
pub(crate) struct Bookmark {
    pub(super) streams: Streams,
    pub(super) given: Option<Box<Given>>,
}

/// The host's number, the worker's in its stage, and the workload with its sizes: points of a sweep
/// that take turns each go on where they stopped themselves.
type Key = (u32, u32, String);

fn key(host: u32, worker: u32, work: &Work) -> Key {
    let sizes = (&work.block_size, &work.write_block_size);
    (host, worker, format!("{} {sizes:?}", work.workload))
}

/// Where the workers of hosts stopped, between stages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bookmarks(BTreeMap<Key, Bookmark>);

impl Bookmarks {
    /// Whether a work goes on where it stopped: it has an order, and no stage of it is a pass of
    /// its own through all bytes. Random choices have a seed of their own in each stage; zones and
    /// traces say for themselves where they begin.
    pub(crate) fn has(work: &Work) -> bool {
        let pattern = &work.pattern;
        let is_ordered = pattern.random < Percent::ALL || pattern.sequence.is_some();
        let is_apart = work.metadata.is_some() || work.trace.is_some() || work.zones.is_some();
        is_ordered && !is_apart && work.stop != Stop::Amount
    }

    /// Where a worker of `host` goes on; `None` where it begins.
    pub(crate) fn take(&mut self, host: u32, worker: u32, work: &Work) -> Option<Bookmark> {
        Bookmarks::has(work).then(|| self.0.remove(&key(host, worker, work)))?
    }

    /// A worker stopped there.
    pub(crate) fn keep(&mut self, host: u32, worker: u32, work: &Work, at: Bookmark) {
        if Bookmarks::has(work) {
            self.0.insert(key(host, worker, work), at);
        }
    }
}
