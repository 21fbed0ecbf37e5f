//! What each host carried of a result.

use crate::rows::row::ResultRow;
use crate::rows::tally::{HostTally, by_host};
use model::Record;

/// Each host's number in the plan and its requests per second while the load was on, in the order
/// of the plan: its requests ÷ the time of its own intervals. Nothing of a stage that is not there.
pub fn host_rates(record: &Record, row: &ResultRow) -> Vec<(u32, f64)> {
    let Some(stage) = record.stage(row.stage) else { return Vec::new() };
    let digest = stage.digest(record);
    let rate = |slots: &HostTally<'_>| {
        let (ios, seconds) = (slots.ios(), slots.seconds());
        if seconds > 0.0 { ios / seconds } else { 0.0 }
    };
    by_host(&digest, row).iter().map(|(host, slots)| (*host, rate(slots))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::Op;

    #[test]
    fn the_hosts_add_up_to_the_result() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 2);
        recorded.host_second(0, 0, &[(Op::Read, &[1_000; 30])]);
        recorded.host_second(1, 0, &[(Op::Read, &[1_000; 10])]);
        let record = recorded.record();
        let rows = crate::results(&record);
        let rates = host_rates(&record, &rows[0]);
        assert_eq!(rates, [(0, 30.0), (1, 10.0)]);
        assert!((rates.iter().map(|(_, rate)| rate).sum::<f64>() - rows[0].iops()).abs() < 1e-9);
    }
}
