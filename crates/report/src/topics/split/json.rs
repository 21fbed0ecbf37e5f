//! Parts of a result for machines (docs/reference/json.md).

use super::By;
use crate::ground::json::quantiles;
use analysis::{ResultRow, Share};
use model::Record;
use serde_json::{Value, json};

/// The parts of a result.
pub fn shares(record: &Record, row: &ResultRow, by: By) -> Value {
    by.shares(record, row).iter().map(|share| object(share, by)).collect()
}

fn object(share: &Share, by: By) -> Value {
    let mut value = json!({
        "workers": share.workers,
        "ios": share.ios,
        "bytes": share.bytes,
        "seconds": share.seconds,
        "iops": share.iops(),
        "bytes_per_s": share.bytes_per_s(),
        "latency_ns": quantiles(&share.latency),
        "errors": share.error_count(),
    });
    value[by.head()] = share.name.as_str().into();
    if by != By::Host {
        value["hosts"] = share.hosts.into();
    }
    value
}
