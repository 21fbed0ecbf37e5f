//! A run beside the ceiling of the testbed that it ran on.

use super::{Ceiling, Layer, Workload, as_used, ceiling, within_cache};
use crate::doubts::Warning;
use crate::rows::row::{Covers, ResultRow};
use catalogue::Cluster;
use model::plan::HostStage;
use model::popularity::Touched;
use model::{Bytes, Record, Setting};

/// What one workload of a run reached of what the testbed can carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached {
    /// The point's number in the plan.
    pub point: u32,
    /// The number of its work among those of the point.
    pub index: u32,
    /// Axis and value of each sweep axis.
    pub sweep: Vec<Setting>,
    /// Which repetition of these values it is, from 1; `None` where the run repeats nothing.
    pub repetition: Option<u32>,
    /// Reads and writes per second, together.
    pub iops: f64,
    /// The ceiling.
    pub ceiling: Ceiling,
    /// The bytes of the cache tier, where the footprint never leaves it.
    pub within_cache: Option<Bytes>,
}

impl Reached {
    /// The share of the ceiling, 0 and up; `None` where too little is known of the testbed.
    pub fn share(&self) -> Option<f64> {
        self.ceiling.share(self.iops)
    }

    /// How much of each layer was used, 0 and up, the most first: by the utilisation law, rate ×
    /// demand of a request (Denning and Buzen, "The operational analysis of queueing network
    /// models", 1978). A simulated cluster charges its layers the same demands.
    pub fn uses(&self) -> Vec<(Layer, f64)> {
        self.ceiling.limits.iter().map(|limit| (limit.layer, self.iops / limit.iops)).collect()
    }

    /// The remark that a result above the ceiling did not come from where the testbed says. Within
    /// a fiftieth, datasheets round.
    pub fn is_above(&self) -> bool {
        self.share().is_some_and(|share| share > 1.02)
    }
}

/// Each workload of `rows`, which are those of `record`, beside the ceiling of `cluster`, in the
/// order of the rows. Workloads that ran at the same time are judged each as if it were alone:
/// their shares add up. Where targets simulate `cluster`, their parameters are put in.
pub fn against(cluster: &Cluster, record: &Record, rows: &[ResultRow]) -> Vec<Reached> {
    let mut reached: Vec<Reached> = Vec::new();
    // What looks names up or removes them moves nothing that drives and ports of a testbed bound.
    for row in rows.iter().filter(|row| row.is_addend() && row.moves_bytes()) {
        let (Some(index), Some(work)) = (row.index, row.work()) else { continue };
        match reached.iter_mut().find(|other| (other.point, other.index) == (row.point, index)) {
            Some(known) => known.iops += row.iops(),
            None => {
                let cluster = as_used(cluster, record, row);
                let workload = Workload::of_work(work, touched_by(record, row));
                reached.push(Reached {
                    point: row.point,
                    index,
                    sweep: row.sweep.clone(),
                    repetition: row.repetition,
                    iops: row.iops(),
                    within_cache: within_cache(&cluster, &workload),
                    ceiling: ceiling(&cluster, &workload),
                });
            }
        }
    }
    reached
}

/// What the workers of a row's work touch on all hosts together, what several of them share once.
/// What else runs at the same time may push it out of a cache: the ceiling stays the favourable
/// case.
pub fn touched(record: &Record, row: &ResultRow) -> Bytes {
    touched_by(record, row).bytes
}

/// The same with how workers share it.
pub(crate) fn touched_by(record: &Record, row: &ResultRow) -> Touched {
    let stages = record.plan.hosts.iter().filter_map(|host| host.stages.get(row.stage as usize));
    touched_in(stages, |work| row.has_work(work))
}

/// What workers touch whose works are asked for, in the parts that hosts have of a stage.
pub fn touched_in<'a>(
    stages: impl Iterator<Item = &'a HostStage>,
    is_asked: impl Fn(u32) -> bool,
) -> Touched {
    let of = |stage: &'a HostStage| {
        let workers = stage.workers.iter().filter(|worker| is_asked(worker.work));
        Touched::on_host(workers.map(|worker| &worker.extents[..]))
    };
    stages.map(of).fold(Touched::default(), Touched::and)
}

/// Puts the doubt beside every row that is above the ceiling.
pub fn doubt(reached: &[Reached], rows: &mut [ResultRow]) {
    for above in reached.iter().filter(|reached| reached.is_above()) {
        let (Some(share), Some(binding)) = (above.share(), above.ceiling.binding()) else {
            continue;
        };
        let here =
            rows.iter_mut().filter(|row| row.point == above.point && row.has_work(above.index));
        here.filter(|row| row.covers != Covers::Beside).for_each(|row| {
            row.warnings.push(Warning::AboveCeiling { share, layer: binding.layer });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ops;
    use crate::testing::Recorded;
    use model::{Op, StageKind};

    fn reached(read_iops: u64) -> Vec<Reached> {
        judged(read_iops).0
    }

    /// What was reached, and the rows with their doubts.
    fn judged(read_iops: u64) -> (Vec<Reached>, Vec<ResultRow>) {
        let text = format!(
            "name = \"t\"\n[[nodes]]\n[[nodes.drives]]\nread_iops = {read_iops}\nread = \
             \"10GB/s\"\nwrite = \"10GB/s\"\nwrite_iops = 100\n"
        );
        let cluster = Cluster::parse("t", &text, &[]).expect("a good testbed");
        let mut recorded = Recorded::new("[[workload]]\nname = \"mix\"\nread = \"50%\"\n");
        recorded.second(0, &[(Op::Read, &[100; 50]), (Op::Write, &[100; 50])]);
        let record = recorded.record();
        let mut rows = crate::results(&record);
        let reached = against(&cluster, &record, &rows);
        doubt(&reached, &mut rows);
        (reached, rows)
    }

    #[test]
    fn reads_and_writes_count_together_against_the_ceiling_of_their_mix() {
        // Half of 1 ÷ 100 s and half of 1 ÷ 100 s: 100 requests per second, of which 100 were seen.
        let reached = reached(100);
        assert_eq!(reached.len(), 1);
        assert!((reached[0].share().expect("known") - 1.0).abs() < 1e-9, "{reached:?}");
        assert!(!reached[0].is_above());
    }

    #[test]
    fn looking_names_up_has_no_ceiling_of_bytes() {
        let suite = "[layout]\nkind = \"tree\"\n[tree]\nfiles = 64\nsize = \
                     \"4KiB\"\n[[workload]]\nname = \"names\"\nkind = \"metadata\"\noperations = \
                     [\"create\", \"stat\", \"remove\"]\n";
        let mut recorded = Recorded::new(suite);
        let stages = recorded.record().plan.stages;
        for (number, stage) in
            (0..).zip(&stages).filter(|(_, stage)| stage.kind == StageKind::Measure)
        {
            let op = stage.works[0].metadata.expect("of names").op;
            recorded.interval(number, 0, &[(op, &[1_000; 50])]);
        }
        let record = recorded.record();
        let cluster =
            Cluster::parse("t", "name = \"t\"\n[[nodes]]\n[[nodes.drives]]\nread_iops = 10\n", &[]);
        let rows = crate::results(&record);
        let reached = against(&cluster.expect("a good testbed"), &record, &rows);
        let points: Vec<u32> = rows
            .iter()
            .filter(|row| row.ops == Ops::One(Op::Create))
            .map(|row| row.point)
            .collect();
        assert_eq!((rows.len(), points.len()), (3, 1));
        assert_eq!(
            reached.iter().map(|one| one.point).collect::<Vec<u32>>(),
            points,
            "creates write bytes"
        );
    }

    #[test]
    fn the_footprint_is_what_the_work_has_to_itself() {
        let mut recorded =
            Recorded::new("[[workload]]\nname = \"half\"\nread = \"50%\"\nrange = \"0%-50%\"\n");
        recorded.second(0, &[(Op::Read, &[100; 50])]);
        let record = recorded.record();
        let rows = crate::results(&record);
        assert_eq!(touched(&record, &rows[0]).0 * 2, record.plan.footprint().0);
    }

    #[test]
    fn what_is_above_the_ceiling_did_not_come_from_there() {
        let doubted = |rows: &[ResultRow]| {
            rows.iter()
                .filter(|row| row.warnings.iter().any(|doubt| doubt.code() == "above-ceiling"))
                .count()
        };
        let (above, rows) = judged(50);
        assert!(above[0].is_above());
        assert_eq!(doubted(&rows), 3, "reads, writes and both together");
        let (below, rows) = judged(1_000);
        assert!(!below[0].is_above());
        assert_eq!(doubted(&rows), 0);
    }
}
