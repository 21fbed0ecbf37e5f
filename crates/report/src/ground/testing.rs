//! What the tests of many topics begin with, and how they look at words.

pub(crate) use analysis::testing::Recorded;

use model::{Op, Record, StageKind};

/// The shortest suite.
pub(crate) const W: &str = "[[workload]]\nname = \"w\"\n";

/// Each of `parts` stands in `text`.
#[track_caller]
pub(crate) fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// None of `parts` stands in `text`.
#[track_caller]
pub(crate) fn lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "{part}: {text}");
    }
}

fn first_interval(suite: &str, ops: &[(Op, &[u64])]) -> Recorded {
    let mut recorded = Recorded::new(suite);
    recorded.second(0, ops);
    recorded
}

/// A run that measured one interval and was killed then.
pub(crate) fn begun(suite: &str, ops: &[(Op, &[u64])]) -> Record {
    first_interval(suite, ops).record()
}

/// A run that measured one interval and came to its end.
pub(crate) fn measured(suite: &str, ops: &[(Op, &[u64])]) -> Record {
    let mut recorded = first_interval(suite, ops);
    recorded.end()
}

/// A run that measured so many intervals, each the same, and came to its end.
pub(crate) fn lasting(suite: &str, intervals: u32, ops: &[(Op, &[u64])]) -> Record {
    let mut recorded = Recorded::new(suite);
    (0..intervals).for_each(|number| recorded.second(number, ops));
    recorded.end()
}

/// A run that read for thirty seconds, with these latencies in ns in each, and came to its end.
pub(crate) fn reading(suite: &str, latencies: impl Fn(u64) -> Vec<u64>) -> Record {
    let mut recorded = Recorded::new(suite);
    for second in 0..30 {
        recorded.second(second as u32, &[(Op::Read, &latencies(second))]);
    }
    recorded.end()
}

/// The stages in which a run measures.
pub(crate) fn measuring(recorded: &Recorded) -> Vec<u32> {
    let stages = (0..).zip(recorded.record().plan.stages);
    stages.filter(|(_, stage)| stage.kind == StageKind::Measure).map(|(n, _)| n).collect()
}

/// A run of a mix, and of a workload that never began, on two hosts, for twenty seconds.
pub(crate) fn mixed(name: &str) -> Recorded {
    let suite = format!(
        "[stages]\nmeasure = \"20s\"\n[[workload]]\nname = {name:?}\nread = \
         \"70%\"\n[[workload]]\nname = \"never begun\"\n"
    );
    let mut recorded = Recorded::with_hosts(&suite, 2);
    recorded.prepare();
    for second in 0..20 {
        let values: Vec<u64> = (0..200).map(|n| 80_000 + n * n).collect();
        let mix = [(Op::Read, &*values), (Op::Write, &[1_000_000; 30])];
        recorded.host_second(0, second, &mix);
        recorded.host_second(1, second, &[(Op::Read, &values[..90])]);
    }
    recorded.end();
    recorded
}

/// A run in which each point read for one interval, with these latencies in ns.
pub(crate) fn swept(suite: &str, points: impl IntoIterator<Item = Vec<u64>>) -> Record {
    let mut recorded = Recorded::new(suite);
    for (stage, latencies) in measuring(&recorded).into_iter().zip(points) {
        recorded.interval(stage, 0, &[(Op::Read, &latencies)]);
    }
    recorded.end()
}
