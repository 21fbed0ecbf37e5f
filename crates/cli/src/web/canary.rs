//! A canary for others: its page and its metrics, and what is pushed of them.

use super::push::Queue;
use super::{Pusher, Server, Site, lock, protection};
use crate::args::CanaryShare;
use crate::failure::Failure;
use live::push::{Pace, Snapshot};
use live::web::Dashboard;
use live::web::board::Board;
use live::web::canary::CanaryBoard;
use live::web::metrics::Detail;
use model::{Event, Nanos};
use report::topics::canary::Metric;
use std::sync::{Arc, Mutex};

pub(crate) struct CanaryPage {
    board: Arc<Mutex<CanaryBoard>>,
    server: Option<Server>,
    push: Option<Push>,
}

struct Push {
    pusher: Pusher,
    queue: Arc<Queue>,
    pace: Pace,
    began_unix_ns: u64,
}

impl CanaryPage {
    /// Serves the page and begins to push, if that was asked for. `board` is that of the first
    /// segment.
    ///
    /// # Errors
    /// As [`Server::start`] and [`Pusher::start`].
    pub(crate) fn start(
        options: &CanaryShare,
        board: impl FnOnce() -> Board,
    ) -> Result<Option<CanaryPage>, Failure> {
        if options.serve.is_none() && options.push.is_none() {
            return Ok(None);
        }
        let board = Arc::new(Mutex::new(CanaryBoard::new(board())));
        let push = Pusher::start(options.push.as_ref())?.map(|pusher| {
            let (queue, began_unix_ns) = (pusher.queue(), fleet::unix_ns());
            // Who tells decides how often.
            Push { pusher, queue, pace: Pace::new(Nanos(0)), began_unix_ns }
        });
        let serve = |address| {
            let site = Site::Live(board.clone());
            Server::start(address, protection(options.token.as_ref(), &options.tls)?, site, None)
        };
        let server = options.serve.map(serve).transpose()?;
        server.iter().for_each(|server| eprintln!("{}", server.line("live page")));
        Ok(Some(CanaryPage { board, server, push }))
    }

    pub(crate) fn segment(&self, board: Board) {
        lock(&self.board).segment(board);
    }

    pub(crate) fn event(&self, event: &Event) {
        lock(&self.board).event(event);
    }

    /// Shows and pushes what the canary says at an instant, in ns since 1970.
    pub(crate) fn tell(&mut self, unix_ns: u64, status: String, metrics: Vec<Metric>) {
        let scrape = {
            let mut board = lock(&self.board);
            board.tell(status, metrics);
            board.metrics(Detail::Auto)
        };
        if let Some(Push { queue, pace, began_unix_ns, .. }) = &mut self.push {
            let (unix_ns, began_unix_ns) = (pace.instant(unix_ns), *began_unix_ns);
            queue.put(Snapshot { unix_ns, began_unix_ns, scrape });
        }
    }

    /// Nothing more comes: tells every reader, pushes what waits, and ends.
    pub(crate) fn finish(self) {
        if let Some(push) = self.push {
            push.pusher.finish();
        }
        if let Some(server) = self.server {
            server.finish();
        }
    }
}
