//! A run that is shown while it goes on: takes its events, and has results computed beside it.

use super::{Server, Site, lock, token};
use crate::args::ShareArgs;
use crate::failure::Failure;
use crate::run_overview::RunOverview;
use crate::signals;
use live::web::board::{Board, judge};
use model::{Event, Record};
use std::sync::{Arc, Mutex};

/// The live page of a run.
pub struct LivePage {
    board: Arc<Mutex<Board>>,
    server: Server,
}

impl LivePage {
    /// Serves the page of a run that is about to begin, if it was asked for.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start(
        options: &ShareArgs,
        whole: &RunOverview<'_>,
    ) -> Result<Option<LivePage>, Failure> {
        let Some(address) = options.serve else { return Ok(None) };
        let board = Arc::new(Mutex::new(Board::new(
            whole.plan.clone(),
            whole.hosts.to_vec(),
            whole.version,
            whole.began_ns,
        )));
        let server = Server::start(
            address,
            token(options.token.as_ref())?,
            Site::Live(board.clone()),
            Some(whole.marker.clone()),
        )?;
        eprintln!("{}", server.line("live page"));
        Ok(Some(LivePage { board, server }))
    }

    /// Takes in what happened.
    pub fn event(&self, event: &Event) {
        let Some(part) = lock(&self.board).event(event) else { return };
        let board = Arc::clone(&self.board);
        // The next stage must not wait for the statistics of this one.
        std::thread::spawn(move || {
            let judged = judge(&part);
            lock(&board).add_results(judged);
        });
    }

    /// Shows what the run file says of the whole run; then ends, or stays until somebody stops it.
    pub fn finish(self, record: &Record, stays: bool) {
        let judged = judge(record);
        lock(&self.board).set_results(judged);
        if stays {
            eprintln!("{}\nthe run is over; Ctrl-C ends the page", self.server.line("live page"));
            signals::wait();
        }
        self.server.finish();
    }
}
