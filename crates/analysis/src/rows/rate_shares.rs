//! What a point carried, for those that run at a share of it.

use model::Record;

/// Thousandths of a request per second that each workload of a complete point carried, in the order
/// of its works; `None` where the point is not whole, or one of them carried nothing.
pub fn carried_milli(record: &Record, point: u32) -> Option<Vec<u64>> {
    let rows = crate::results(record);
    let mine = || rows.iter().filter(|row| row.point == point && row.is_addend());
    if mine().any(|row| !row.complete) {
        return None;
    }
    let stage = record.plan.measure_stage(point)?;
    let mut iops = vec![0.0; record.plan.stages.get(stage as usize)?.works.len()];
    for row in mine() {
        *iops.get_mut(row.index.unwrap_or(0) as usize)? += row.iops();
    }
    let milli = |iops: f64| (iops > 0.0 && iops.is_finite()).then_some((iops * 1e3).round() as u64);
    iops.into_iter().map(milli).collect()
}
