//! Metrics that are pushed: what is known at one instant, and how it goes over the wire. Pure; the
//! program sends it.
//!
//! All totals are cumulative since the run began. So a push that is lost costs points of a chart
//! and never a count: the next one has it.

mod pace;
mod remote_write;

pub use pace::Pace;
pub use remote_write::{HEADERS, RemoteWrite};

use crate::web::metrics::{Amount, Kind, Point, Scrape, Told, Value};

/// What is known at one instant.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The instant, in ns since 1970: that of what was measured, and not that of the push.
    pub unix_ns: u64,
    /// When counting began, in ns since 1970.
    pub began_unix_ns: u64,
    /// What a scrape would be told.
    pub scrape: Scrape,
}

/// The families that a push has beside those of a scrape.
pub const NAMES: [&str; 1] = ["plimsoll_pushes_lost_total"];

impl Snapshot {
    /// All its families; `lost` pushes did not arrive so far.
    pub fn told(&self, lost: u64) -> Vec<Told> {
        let mut all = self.scrape.told();
        let [name] = NAMES;
        let labels = vec![("run".to_owned(), self.scrape.label.clone())];
        let amount = Amount::Value(Value::Whole(u128::from(lost)));
        all.push(Told {
            name,
            help: "Pushes of this program that did not arrive.",
            kind: Kind::Counter,
            is_new: true,
            points: vec![Point { labels, amount }],
        });
        all
    }
}

#[cfg(test)]
mod testing;
