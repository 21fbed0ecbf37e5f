//! Parts of a result for machines (docs/reference/json.md).

use super::By;
use crate::pens::json::{Value, object, quantiles};
use analysis::{ResultRow, Share};
use model::Record;

/// The parts of a result.
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
