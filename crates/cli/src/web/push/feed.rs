//! What a run leaves in the queue, and when.

use super::Queue;
use live::push::{Pace, Snapshot};
use live::web::board::Board;
use live::web::metrics::Detail;
use model::{Event, Nanos};
use std::sync::Arc;

/// Intervals that are shorter are pushed together.
const EVERY: Nanos = Nanos::seconds(1);

/// Takes the events of a run, beside its board.
#[derive(Debug)]
pub(crate) struct Feed {
    queue: Arc<Queue>,
    pace: Pace,
    began_unix_ns: u64,
}

impl Feed {
    pub(crate) fn new(queue: Arc<Queue>, began_unix_ns: u64) -> Feed {
        Feed { queue, pace: Pace::new(EVERY), began_unix_ns }
    }

    pub(crate) fn before(&mut self, board: &Board, event: &Event) {
        if self.pace.is_due(event, board.now_unix_ns()) {
            self.push(board);
        }
    }

    pub(crate) fn after(&mut self, board: &Board, event: &Event) {
        if Pace::is_last(event) {
            self.push(board);
        }
    }

    fn push(&mut self, board: &Board) {
        self.queue.put(Snapshot {
            unix_ns: self.pace.instant(board.now_unix_ns()),
            began_unix_ns: self.began_unix_ns,
            scrape: board.metrics(Detail::Auto),
        });
    }
}
