//! A run that is shown while it goes on: takes its events, has results computed beside it, and
//! leaves what is pushed.

use super::push::Feed;
use super::{Pusher, Server, Site, lock, protection};
use crate::args::ShareArgs;
use crate::failure::Failure;
use crate::run_overview::RunOverview;
use crate::signals;
use live::web::board::{Board, judge};
use model::{Event, Record};
use std::sync::{Arc, Mutex};

/// A run for others: its live page, and what is pushed of it.
pub(crate) struct LivePage {
    board: Arc<Mutex<Board>>,
    server: Option<Server>,
    push: Option<Push>,
}

struct Push {
    pusher: Pusher,
    feed: Feed,
}

impl LivePage {
    /// Serves the page of a run that is about to begin, and begins to push, if that was asked for.
    ///
    /// # Errors
    /// As [`Server::start`] and [`Pusher::start`].
    pub(crate) fn start(
        options: &ShareArgs,
        whole: &RunOverview<'_>,
    ) -> Result<Option<LivePage>, Failure> {
        if options.serve.is_none() && options.push.is_none() {
            return Ok(None);
        }
        let board = Arc::new(Mutex::new(Board::new(
            whole.plan.clone(),
            whole.hosts.to_vec(),
            whole.version,
            whole.began_ns,
        )));
        let push = Pusher::start(options.push.as_ref())?.map(|pusher| {
            let feed = Feed::new(pusher.queue(), whole.began_ns);
            Push { pusher, feed }
        });
        let serve = |address| {
            let site = Site::Live(board.clone());
            Server::start(
                address,
                protection(options.token.as_ref(), &options.tls)?,
                site,
                Some(whole.marker.clone()),
            )
        };
        let server = options.serve.map(serve).transpose()?;
        server.iter().for_each(|server| eprintln!("{}", server.line("live page")));
        Ok(Some(LivePage { board, server, push }))
    }

    pub(crate) fn event(&mut self, event: &Event) {
        let part = {
            let mut board = lock(&self.board);
            if let Some(push) = &mut self.push {
                push.feed.before(&board, event);
            }
            let part = board.event(event);
            if let Some(push) = &mut self.push {
                push.feed.after(&board, event);
            }
            part
        };
        let Some(part) = part.filter(|_| self.server.is_some()) else { return };
        let board = Arc::clone(&self.board);
        // The next stage must not wait for the statistics of this one.
        std::thread::spawn(move || {
            let judged = judge(&part);
            lock(&board).add_results(judged);
        });
    }

    /// Shows what the run file says of the whole run; then ends, or stays until somebody stops it.
    pub(crate) fn finish(self, record: &Record, stays: bool) {
        if let Some(push) = self.push {
            push.pusher.finish();
        }
        let Some(server) = self.server else { return };
        let judged = judge(record);
        lock(&self.board).set_results(judged);
        if stays {
            eprintln!("{}\nthe run is over; Ctrl-C ends the page", server.line("live page"));
            signals::wait();
        }
        server.finish();
    }
}
