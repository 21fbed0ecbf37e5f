//! Parts of the results as tables for the terminal.

use super::By;
use crate::ground::columns::{self, Column};
use crate::ground::words;
use analysis::{ResultRow, Share};
use model::Record;

/// A table for each result: its parts, the longest first, so that what a reader looks for stands at
/// the ends.
pub fn results(record: &Record, by: By) -> String {
    let rows = analysis::results(record);
    let tables: Vec<String> = rows.iter().map(|row| one(row, by.shares(record, row), by)).collect();
    tables.join("\n")
}

fn one(row: &ResultRow, mut shares: Vec<Share>, by: By) -> String {
    let title = match words::sweep(&row.sweep, row.repetition).as_str() {
        "" => format!("{}, {}", row.workload, row.ops.name()),
        sweep => format!("{} ({sweep}), {}", row.workload, row.ops.name()),
    };
    if shares.is_empty() {
        return format!("{title}: no part has a {}\n", by.head());
    }
    // The sort is stable: hosts with the same rate stay in the order of the plan.
    shares.sort_by(|a, b| b.iops().total_cmp(&a.iops()));
    let heads = [
        "workers",
        "requests",
        words::rate_unit(row.is_metadata()),
        "share",
        "MiB/s",
        "p50",
        "p99",
        "max",
        "errors",
    ];
    let mut table = vec![Column::names(by.head())];
    table.extend(heads.map(Column::figures));
    shares.iter().for_each(|share| columns::row(&mut table, cells(row, share)));
    format!("{title}\n{}", columns::render(&table))
}

/// A part's name and figures; of the latencies those that a straggler shows in.
pub(super) fn cells(row: &ResultRow, share: &Share) -> Vec<String> {
    let quantile = |of| words::latency(share.latency.quantile_ns(of));
    let of_all = if row.ios > 0 { share.ios as f64 / row.ios as f64 } else { 0.0 };
    vec![
        share.name.clone(),
        words::count(u64::from(share.workers)),
        words::count(share.ios),
        words::iops(share.iops()),
        words::share(of_all),
        words::mib_per_s(share.bytes_per_s()),
        quantile(0.5),
        quantile(0.99),
        words::latency(share.latency.max_ns()),
        words::count(share.error_count()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;
    use model::{Op, StageKind};

    #[test]
    fn the_fastest_host_stands_first_and_shares_are_of_the_total() {
        let mut recorded =
            Recorded::with_hosts("[[workload]]\nname = \"w\"\n[sweep]\ndepth = [1, 8]\n", 3);
        let stage = recorded.stage(StageKind::Measure);
        for (host, count) in [(0, 50), (1, 100), (2, 850)] {
            recorded.host_interval(
                stage,
                host,
                0,
                &[(Op::Read, &vec![100_000 * u64::from(host + 1); count])],
            );
        }
        recorded.fail(stage, 0, Op::Read, 5, 3);
        insta::assert_snapshot!(results(&recorded.record(), By::Host));
    }

    #[test]
    fn what_was_not_measured_has_no_parts() {
        assert_eq!(results(&Recorded::new("[[workload]]\nname = \"w\"\n").record(), By::Host), "");
    }
}
