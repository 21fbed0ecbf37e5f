//! A canary for others: its page and its metrics, and what is pushed of them.

use super::lock;
use super::outlets::Outlets;
use crate::args::PageArgs;
use crate::failure::Failure;
use live::push::Pace;
use live::web::Dashboard;
use live::web::board::Board;
use live::web::canary::CanaryBoard;
use live::web::metrics::Detail;
use model::{Event, Nanos};
use report::topics::canary::Metric;
use std::sync::{Arc, Mutex};

pub(crate) struct CanaryPage {
    board: Arc<Mutex<CanaryBoard>>,
    outlets: Outlets,
    pace: Pace,
}

impl CanaryPage {
    /// `board` is that of the first segment.
    pub(crate) fn start(
        options: &PageArgs,
        board: impl FnOnce() -> Board,
    ) -> Result<Option<CanaryPage>, Failure> {
        if options.serve.is_none() && options.push.is_none() {
            return Ok(None);
        }
        let board = Arc::new(Mutex::new(CanaryBoard::new(board())));
        let outlets = Outlets::start(options, board.clone(), fleet::unix_ns(), None)?;
        // Who tells decides how often.
        Ok(Some(CanaryPage { board, outlets, pace: Pace::new(Nanos(0)) }))
    }

    pub(crate) fn segment(&self, board: Board) {
        lock(&self.board).segment(board);
    }

    pub(crate) fn event(&self, event: &Event) {
        lock(&self.board).event(event);
    }

    /// Shows and pushes what the canary says at an instant, in ns since 1970.
    pub(crate) fn tell(&mut self, unix_ns: u64, status: String, metrics: Vec<Metric>) {
        let mut board = lock(&self.board);
        board.tell(status, metrics);
        self.outlets.push(self.pace.instant(unix_ns), || board.metrics(Detail::Auto));
    }

    pub(crate) fn finish(self) {
        self.outlets.finish();
    }
}
