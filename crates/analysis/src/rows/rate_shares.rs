//! What a point carried, for those that run at a share of it.

use model::Record;

/// Thousandths of a request per second that all workloads of a complete point carried together;
/// `None` where it is not whole, or carried nothing.
pub fn carried_milli(record: &Record, point: u32) -> Option<u64> {
    let rows = crate::results(record);
    let mine = || rows.iter().filter(|row| row.point == point && row.is_addend());
    if mine().any(|row| !row.complete) {
        return None;
    }
    let iops: f64 = mine().map(crate::ResultRow::iops).sum();
    (iops > 0.0 && iops.is_finite()).then_some((iops * 1e3).round() as u64)
}
