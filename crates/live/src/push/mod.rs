//! Metrics that are pushed: what is known at one instant, and how it goes over the wire. Pure; the
//! program sends it.
//!
//! All totals are cumulative since the run began. So a push that is lost costs points of a chart
//! and never a count: the next one has it.

mod otlp;
mod pace;
mod remote_write;

pub use otlp::Otlp;
pub use pace::Pace;
pub use remote_write::RemoteWrite;

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

/// How metrics go over the wire.
#[derive(Clone, Debug)]
pub enum Wire {
    /// To Prometheus and what speaks its protocol.
    RemoteWrite(RemoteWrite),
    /// To a collector of OpenTelemetry.
    Otlp(Otlp),
}

/// What is sent once.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its bytes, before any compression.
    pub bytes: Vec<u8>,
    /// Whether the block format of Snappy has to be put around it.
    pub is_snappy: bool,
    /// The headers that say what it is.
    pub headers: &'static [[&'static str; 2]],
}

impl Wire {
    /// What a push of `snapshot` sends; `lost` pushes did not arrive so far.
    pub fn body(&mut self, snapshot: &Snapshot, lost: u64) -> Body {
        match self {
            Wire::RemoteWrite(writer) => writer.body(snapshot, lost),
            Wire::Otlp(otlp) => otlp.body(snapshot, lost),
        }
    }

    /// The last body arrived.
    pub fn arrived(&mut self) {
        match self {
            Wire::RemoteWrite(writer) => writer.arrived(),
            Wire::Otlp(_) => {}
        }
    }
}

#[cfg(test)]
mod testing;
