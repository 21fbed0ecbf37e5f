//! Results of other tools beside a described testbed: more than any layer lets through did not come
//! from there.

use crate::ceiling::{Workload, ceiling};
use catalogue::Cluster;
use model::foreign::{Doubt, DoubtKind, ForeignRun, GivenRow, Measured, Quantity};
use model::{Bytes, Op, Percent};

/// Within a fiftieth, datasheets round.
const SLACK: f64 = 1.02;

/// The rows that are faster than `cluster` can be. Nobody says how such a load was spread, so each
/// is held to what its layers let through in order: less would be let through at random.
pub fn faster_than(cluster: &Cluster, run: &ForeignRun) -> Vec<Doubt> {
    run.rows.iter().filter_map(|row| doubt(cluster, row)).collect()
}

fn doubt(cluster: &Cluster, row: &GivenRow) -> Option<Doubt> {
    let rate = row.overall(Measured::Rate);
    let bandwidth = row.overall(Measured::Bandwidth);
    let whole = |measured| row.get(Quantity::whole(measured)).filter(|value| *value > 0.0);
    let of_amounts = whole(Measured::Bytes).zip(whole(Measured::Requests));
    let size = whole(Measured::RequestSize)
        .or(of_amounts.map(|(bytes, requests)| bytes / requests))
        .or(bandwidth.zip(rate.filter(|rate| *rate > 0.0)).map(|(bytes, rate)| bytes / rate));
    // Without requests, bytes alone are held to the layers.
    let size = size.unwrap_or(f64::from(1 << 20)).clamp(1.0, f64::from(1 << 30));
    let asked = rate.or(bandwidth.map(|bandwidth| bandwidth / size))?;
    let shares: &[u32] = match row.op {
        Some(Op::Read) => &[100],
        Some(Op::Write) => &[0],
        None => &[100, 50, 0],
        Some(_) => return None,
    };
    let most = |share: &u32| {
        let read = Percent::of(*share);
        let load = Workload::new(&row.workload, Bytes(size as u64), read, false, None);
        ceiling(cluster, &load).binding().map(|limit| limit.iops)
    };
    // Where a layer is not known for one share, nothing is known of the most.
    let most: Option<Vec<f64>> = shares.iter().map(most).collect();
    let most = most?.into_iter().fold(0.0, f64::max);
    (asked > most * SLACK).then(|| Doubt {
        kind: DoubtKind::FasterThanTheTestbed,
        name: format!("{} {}", row.workload, row.op_name()),
        said: Some(asked),
        computed: Some(most),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: &str = include_str!("../../../../reference/testbeds/vsan-four-corners.toml");

    fn run(op: Option<Op>, rate: f64) -> ForeignRun {
        let mut row = GivenRow::new("job", op, "1");
        row.add(Quantity::whole(Measured::Rate), Some(rate));
        row.add(Quantity::whole(Measured::RequestSize), Some(4096.0));
        ForeignRun { rows: vec![row], ..ForeignRun::default() }
    }

    #[test]
    fn more_than_the_testbed_can_do_is_doubted_and_less_is_not() {
        let cluster = Cluster::parse("testbed", C, &[]).unwrap_or_else(|_| panic!("a testbed"));
        let load = Workload::new("job", Bytes::kib(4), Percent::ALL, false, None);
        let most = ceiling(&cluster, &load).binding().expect("a limit").iops;
        assert_eq!(faster_than(&cluster, &run(Some(Op::Read), most * 0.9)), []);
        let found = faster_than(&cluster, &run(Some(Op::Read), most * 1.1));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].kind, DoubtKind::FasterThanTheTestbed);
        assert_eq!(found[0].computed, Some(most));
        // Who says no direction may have had the best one; operations on files have no such layer.
        assert_eq!(faster_than(&cluster, &run(None, most * 0.9)), []);
        assert_eq!(faster_than(&cluster, &run(Some(Op::Stat), most * 1e6)), []);
    }
}
