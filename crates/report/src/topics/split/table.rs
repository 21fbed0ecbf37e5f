//! Parts of the results as tables for the terminal.

use super::{By, windowed};
use crate::ground::words;
use crate::pens::Table;
use crate::topics::results::row::name;
use analysis::{ResultRow, Share};
use model::Record;

/// A table for each result: its parts, the longest first, so that what a reader looks for stands at
/// the ends. Of many parts the ends alone, and the spread of all, unless `is_whole`.
pub fn results(record: &Record, by: By, is_whole: bool) -> String {
    let rows = analysis::results(record);
    let one = |row: &ResultRow| one(row, by.shares(record, row), by, is_whole);
    rows.iter().map(one).collect::<Vec<String>>().join("\n")
}

fn one(row: &ResultRow, shares: Vec<Share>, by: By, is_whole: bool) -> String {
    let title = format!("{}, {}", name(row), row.ops.name());
    if shares.is_empty() {
        return format!("{title}: no part has a {}\n", by.head());
    }
    let spread = spread(row, &shares);
    let (mut shares, left_out) = if is_whole { (shares, 0) } else { windowed(shares) };
    // The sort is stable: hosts with the same rate stay in the order of the plan.
    shares.sort_by(|a, b| b.iops().total_cmp(&a.iops()));
    let table = parts(row, &shares, by).text();
    let rest = match left_out {
        0 => String::new(),
        left_out => {
            let half = shares.len() / 2;
            format!(
                "the {half} fastest and the {half} slowest of {}; --all shows the other \
                 {left_out}\n{spread}",
                shares.len() + left_out
            )
        }
    };
    format!("{title}\n{table}{rest}")
}

/// How the rates of all parts are spread: the one in the middle and those around it.
fn spread(row: &ResultRow, shares: &[Share]) -> String {
    let mut rates: Vec<f64> = shares.iter().map(Share::iops).collect();
    rates.sort_by(f64::total_cmp);
    // The value of rank ⌈q·n⌉, as of a histogram.
    let at = |permille: usize| {
        let rank = (rates.len() * permille).div_ceil(1_000).max(1);
        words::iops(rates.get(rank - 1).copied().unwrap_or_default())
    };
    format!(
        "spread of {}: lowest {}, 10 % {}, median {}, 90 % {}, highest {}\n",
        words::rate_unit(row.is_metadata()),
        at(0),
        at(100),
        at(500),
        at(900),
        at(1_000)
    )
}

/// Each part's figures; of the latencies those that a straggler shows in.
pub(super) fn parts<'a>(row: &ResultRow, shares: &'a [Share], by: By) -> Table<&'a Share> {
    let of_all = |share: &Share| if row.ios > 0 { share.ios as f64 / row.ios as f64 } else { 0.0 };
    Table::of(shares)
        .name(by.head(), |share| &share.name)
        .titled(by.head())
        .figure("workers", |share| words::count(u64::from(share.workers)))
        .figure("requests", |share| words::count(share.ios))
        .figure(words::rate_unit(row.is_metadata()), |share| words::iops(share.iops()))
        .titled(words::rate_unit(row.is_metadata()))
        .figure("share", |share| words::share(of_all(share)))
        .titled("Of all")
        .figure("MiB/s", |share| words::mib_per_s(share.bytes_per_s()))
        .figure("p50", |share| words::quantile(&share.latency, 0.5))
        .figure("p99", |share| words::quantile(&share.latency, 0.99))
        .figure("max", |share| words::latency(share.latency.max_ns()))
        .figure("errors", |share| words::count(share.error_count()))
        .capitals()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W, has};
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
        insta::assert_snapshot!(results(&recorded.record(), By::Host, false));
    }

    #[test]
    fn what_was_not_measured_has_no_parts() {
        let record = Recorded::new(W).record();
        assert_eq!(results(&record, By::Host, true), "");
    }

    #[test]
    fn of_many_hosts_the_ends_and_the_spread_are_told_and_on_request_all() {
        let mut recorded = Recorded::with_hosts(W, 101);
        for host in 0..101 {
            let done = vec![100_000; host as usize + 1];
            recorded.host_second(host, 0, &[(Op::Read, &done)]);
        }
        let told = results(&recorded.record(), By::Host, false);
        assert_eq!(told.lines().count(), 2 + 20 + 2, "{told}");
        has(&told, &["the 10 fastest and the 10 slowest of 101; --all shows the other 81"]);
        let spread = "spread of IOPS: lowest 1.00, 10 % 11.0, median 51.0, 90 % 91.0, highest 101";
        assert!(told.contains(spread), "{told}");
        let all = results(&recorded.record(), By::Host, true);
        assert_eq!(all.lines().count(), 2 + 101);
    }
}
