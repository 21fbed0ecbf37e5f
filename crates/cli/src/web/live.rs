//! A run that is shown while it goes on: takes its events, has results computed beside it, and
//! leaves what is pushed.

use super::lock;
use super::outlets::Outlets;
use crate::args::PageArgs;
use crate::failure::Failure;
use crate::signals;
use crate::terminal::run_overview::RunOverview;
use live::push::Pace;
use live::web::board::{Board, judge};
use live::web::metrics::Detail;
use model::{Event, Nanos, Record};
use std::sync::{Arc, Mutex};

/// Intervals that are shorter are pushed together.
const EVERY: Nanos = Nanos::seconds(1);

/// A run for others: its live page, and what is pushed of it.
pub(crate) struct LivePage {
    board: Arc<Mutex<Board>>,
    outlets: Outlets,
    pace: Pace,
}

impl LivePage {
    pub(crate) fn start(
        options: &PageArgs,
        whole: &RunOverview<'_>,
    ) -> Result<Option<LivePage>, Failure> {
        if options.serve.is_none() && options.push.is_none() {
            return Ok(None);
        }
        let RunOverview { plan, hosts, version, began_ns, marker } = *whole;
        let board = Board::new(plan.clone(), hosts.to_vec(), version, began_ns);
        let board = Arc::new(Mutex::new(board));
        let outlets = Outlets::start(options, board.clone(), began_ns, Some(marker.clone()))?;
        Ok(Some(LivePage { board, outlets, pace: Pace::new(EVERY) }))
    }

    pub(crate) fn event(&mut self, event: &Event) {
        let part = {
            let mut board = lock(&self.board);
            if self.pace.is_due(event, board.now_unix_ns()) {
                push(&self.outlets, &mut self.pace, &board);
            }
            let part = board.event(event);
            if Pace::is_last(event) {
                push(&self.outlets, &mut self.pace, &board);
            }
            part
        };
        let Some(part) = part.filter(|_| self.outlets.server.is_some()) else { return };
        let board = Arc::clone(&self.board);
        // The next stage must not wait for the statistics of this one.
        std::thread::spawn(move || {
            let judged = judge(&part);
            lock(&board).add_results(judged);
        });
    }

    /// Shows what the run file says of the whole run; then ends, or stays until somebody stops it.
    pub(crate) fn finish(self, record: &Record, stays: bool) {
        let Some(server) = self.outlets.end_pushing() else { return };
        let judged = judge(record);
        lock(&self.board).set_results(judged);
        if stays {
            eprintln!("{}\nthe run is over; Ctrl-C ends the page", server.line("live page"));
            signals::wait();
        }
        server.finish();
    }
}

fn push(outlets: &Outlets, pace: &mut Pace, board: &Board) {
    outlets.push(pace.instant(board.now_unix_ns()), || board.metrics(Detail::Auto));
}
