//! What a server shows of something that goes on, whatever that is.

use super::board::Board;
use super::metrics::{Detail, Scrape};
use super::{Guard, View, page};

/// Something that goes on and is shown meanwhile: a run, or hosts that are watched.
pub trait Dashboard: std::fmt::Debug + Send {
    fn title(&self) -> &str;
    fn revision(&self) -> u64;
    /// The parts of the page that change, by the id of their place.
    fn fragments(&self, view: &View) -> Vec<(&'static str, String)>;
    /// The whole page. `boot` tells this server from one that ran before it at the same address;
    /// `guard` says who can see it.
    fn page(&self, view: &View, boot: &str, guard: Guard) -> String;
    /// It as Prometheus reads it, taken at once: to be written when nobody waits for this.
    fn metrics(&self, detail: Detail) -> Scrape;
    fn farewell(&self) -> &'static str;
}

impl Dashboard for Board {
    fn title(&self) -> &str {
        &self.plan.suite
    }

    fn revision(&self) -> u64 {
        Board::revision(self)
    }

    fn fragments(&self, view: &View) -> Vec<(&'static str, String)> {
        page::fragments(self, view)
    }

    fn page(&self, view: &View, boot: &str, guard: Guard) -> String {
        page::page(self, view, boot, guard)
    }

    fn metrics(&self, detail: Detail) -> Scrape {
        Board::metrics(self, detail)
    }

    fn farewell(&self) -> &'static str {
        "The run is over and its server ended; this page keeps what it shows. The run file has \
         everything."
    }
}
