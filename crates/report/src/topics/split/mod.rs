//! Results taken apart by who had them: as a table, as a section of the page, as JSON.

mod page;
mod table;

pub use page::section;
pub use table::results;

use crate::pens::json::{Value, object, quantiles};
use analysis::{ResultRow, Share};
use model::Record;

/// How results are taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Host by host.
    Host,
    /// Label by label.
    Label,
    /// By whether what was loaded was near to the hosts.
    Locality,
}

impl By {
    fn head(self) -> &'static str {
        match self {
            By::Host => "host",
            By::Label => "label",
            By::Locality => "locality",
        }
    }

    fn shares(self, record: &Record, row: &ResultRow) -> Vec<Share> {
        match self {
            By::Host => analysis::by_host(record, row),
            By::Label => analysis::by_label(record, row),
            By::Locality => analysis::by_locality(record, row),
        }
    }
}

/// The parts of a result for machines (docs/reference/json.md).
pub fn shares(record: &Record, row: &ResultRow, by: By) -> Value {
    by.shares(record, row).iter().map(|share| object(share, by)).collect()
}

fn object(share: &Share, by: By) -> Value {
    let mut value = object! {
        latency_ns: quantiles(&share.latency), errors: share.error_count(),
        ..share { workers, ios, bytes, seconds, iops(), bytes_per_s() },
    };
    value[by.head()] = share.name.as_str().into();
    if by != By::Host {
        value["hosts"] = share.hosts.into();
    }
    value
}

/// A page shows at most so many parts of a result; of more, the first half and the last half by
/// their rate.
const WINDOW: usize = 20;

/// Those of `shares` that are shown, and how many are not. All in their order if they are few; else
/// the slowest and the fastest, in rising order of requests per second.
fn windowed(mut shares: Vec<Share>) -> (Vec<Share>, usize) {
    let left_out = shares.len().saturating_sub(WINDOW);
    if left_out > 0 {
        shares.sort_by(|a, b| a.iops().total_cmp(&b.iops()));
        shares.drain(WINDOW / 2..WINDOW / 2 + left_out);
    }
    (shares, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_parts_the_slowest_and_the_fastest_are_shown() {
        // 7 and 25 have no common divisor: every rate from 0 to 24 comes once, in no order.
        let share = |n: u64| Share {
            name: n.to_string(),
            ios: n * 7 % 25,
            seconds: 1.0,
            ..Share::default()
        };
        let (shown, left_out) = windowed((0..25).map(share).collect());
        let rates: Vec<u64> = shown.iter().map(|share| share.ios).collect();
        assert_eq!(rates, (0..10).chain(15..25).collect::<Vec<_>>());
        assert_eq!(left_out, 5);
        let (shown, left_out) = windowed((0..20).map(share).collect());
        assert_eq!((shown[1].ios, shown.len(), left_out), (7, 20, 0), "in their own order");
    }
}
