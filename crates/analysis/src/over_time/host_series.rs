//! How each host of a work went over time: who starved while others did not.

use model::digest::{Span, Spans};
use model::{Op, Record};

/// The requests per second of a host over time.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSeries {
    /// The host's number.
    pub host: u32,
    /// The ends of its intervals of load, in s after the start of the stage, and the rate in each.
    pub rates: Vec<(f64, f64)>,
}

/// How one work of a stage went on each host, in the order of their numbers. Intervals that are
/// more than `most` are taken together with their neighbours: requests are added, so that a rate is
/// that of the whole stretch. Fsyncs are no requests of their own.
pub fn host_series(record: &Record, stage: u32, work: u32, most: usize) -> Vec<HostSeries> {
    let Some(stage) = record.stage(stage) else { return Vec::new() };
    let digest = stage.digest(record);
    let parts = || {
        digest
            .sums
            .parts
            .iter()
            .filter(|((of, op), _)| *of == work && *op != Op::Fsync)
            .map(|(_, part)| part)
    };
    let of_host = |(host, spans): (&u32, &Spans)| {
        let loads: Vec<(usize, Span)> =
            spans.iter().enumerate().filter(|(_, span)| span.phase.counts()).collect();
        let together = loads.len().div_ceil(most.max(1)).max(1);
        let rate = |chunk: &[(usize, Span)]| {
            let (_, last) = chunk.last()?;
            let length_ns: u64 =
                chunk.iter().map(|(_, span)| span.length_ns).fold(0, u64::saturating_add);
            let here = || parts().filter_map(|part| part.hosts.get(host));
            let ios: f64 =
                here().flat_map(|part| chunk.iter().map(|(at, _)| part.ios(*at) as f64)).sum();
            let end_s = last.start_ns.saturating_add(last.length_ns) as f64 / 1e9;
            (length_ns > 0).then(|| (end_s, ios * 1e9 / length_ns as f64))
        };
        HostSeries { host: *host, rates: loads.chunks(together).filter_map(rate).collect() }
    };
    digest.frame.spans.iter().map(of_host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::StageKind;

    #[test]
    fn each_host_has_its_own_rates_and_neighbours_are_added() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 2);
        let stage = recorded.stage(StageKind::Measure);
        for second in 0..4 {
            recorded.host_interval(
                stage,
                0,
                second,
                &[(Op::Read, &[100; 5]), (Op::Write, &[100; 2])],
            );
            recorded.host_interval(
                stage,
                1,
                second,
                if second == 2 { &[] } else { &[(Op::Read, &[100; 4])] },
            );
        }
        let record = recorded.record();
        let all = host_series(&record, stage, 0, 10);
        assert_eq!(
            all[0],
            HostSeries { host: 0, rates: vec![(1.0, 7.0), (2.0, 7.0), (3.0, 7.0), (4.0, 7.0)] }
        );
        assert_eq!(
            all[1],
            HostSeries { host: 1, rates: vec![(1.0, 4.0), (2.0, 4.0), (3.0, 0.0), (4.0, 4.0)] }
        );
        assert_eq!(host_series(&record, stage, 0, 2)[1].rates, [(2.0, 4.0), (4.0, 2.0)]);
        assert!(host_series(&record, 99, 0, 2).is_empty());
    }
}
