//! Results with all doubts: those of the run alone, those of its testbed, and those of what was at
//! its limit.

use analysis::attribution::attribution;
use analysis::ceiling::Reached;
use analysis::{ResultRow, Warning};
use catalogue::Cluster;
use model::Record;

/// The results of a run with all doubts, and what they reached of the testbed's ceiling.
pub fn judged(record: &Record, testbed: Option<&Cluster>) -> (Vec<ResultRow>, Vec<Reached>) {
    judge(record, analysis::results(record), testbed)
}

/// These results of a run with all doubts, and what they reached of the testbed's ceiling.
pub fn judge(
    record: &Record,
    mut rows: Vec<ResultRow>,
    testbed: Option<&Cluster>,
) -> (Vec<ResultRow>, Vec<Reached>) {
    let reached = testbed
        .map(|cluster| analysis::ceiling::against(cluster, record, &rows))
        .unwrap_or_default();
    analysis::ceiling::doubt(&reached, &mut rows);
    let limits = attribution(record, &rows);
    analysis::attribution::doubt(record, &limits, &mut rows);
    rows.iter_mut().for_each(|row| row.warnings.sort_by_cached_key(Warning::rank));
    (rows, reached)
}
