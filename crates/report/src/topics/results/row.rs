//! What a row of results is called, how its bars look, and its ceiling.

use crate::ground::words;
use analysis::ResultRow;
use analysis::ceiling::Reached;
use model::Op;

/// The style of an operation's bars.
pub fn style(op: Op) -> &'static str {
    match op {
        Op::Read => "bar read",
        Op::Write => "bar write",
        Op::Fsync => "bar fsync",
        Op::Trim => "bar trim",
        _ => "bar metadata",
    }
}

/// The style of a row's bars.
pub fn style_of(row: &ResultRow) -> &'static str {
    row.ops.one().map_or("bar step1", style)
}

/// The workload's name with the values of its sweep.
pub fn name(row: &ResultRow) -> String {
    words::with_sweep(&row.workload, &row.sweep, row.repetition)
}

/// An operation on files that reached less of the ceiling of its bytes than this is bound by
/// something else, of which a testbed says nothing: its chart would tell how large files are.
const LEAST_OF_FILES: f64 = 0.1;

/// What is known of the ceiling of a row's workload, reads and writes together, as far as it says
/// something in a chart; nothing of several workloads.
pub fn ceiling_of<'a>(reached: &'a [Reached], row: &ResultRow) -> Option<&'a Reached> {
    let own = reached.iter().find(|one| (one.point, Some(one.index)) == (row.point, row.index))?;
    let is_telling = !row.is_metadata() || own.share().is_some_and(|share| share >= LEAST_OF_FILES);
    is_telling.then_some(own)
}

/// The ceiling in requests per second; `None` where the testbed says too little.
pub fn most_iops(reached: &Reached) -> Option<f64> {
    reached.ceiling.binding().map(|limit| limit.iops)
}

/// The ceiling in bytes per second; `None` where the testbed says too little.
pub fn most_bytes_per_s(reached: &Reached) -> Option<f64> {
    most_iops(reached).map(|iops| iops * reached.ceiling.workload.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::begun;
    use catalogue::Cluster;

    #[test]
    fn a_ceiling_of_bytes_that_files_come_nowhere_near_is_in_no_chart() {
        let suite = "[layout]\nkind = \"tree\"\n[tree]\nfiles = 64\nsize = \
                     \"4KiB\"\n[[workload]]\nname = \"names\"\nkind = \"metadata\"\noperations = \
                     [\"create\"]\n";
        let record = begun(suite, &[(Op::Create, &[1_000; 50])]);
        let rows = analysis::results(&record);
        let shown = |write: &str| {
            let text = format!(
                "name = \"t\"\n[[nodes]]\n[[nodes.drives]]\nread_iops = 9\nread = \
                 \"1GB/s\"\nwrite = \"{write}\"\nwrite_iops = 9000\n"
            );
            let cluster = Cluster::parse("t", &text, &[]).expect("a good testbed");
            let reached = analysis::ceiling::against(&cluster, &record, &rows);
            assert_eq!(reached.len(), 1, "the table has it");
            ceiling_of(&reached, &rows[0]).is_some()
        };
        // 50 creates of 4 KiB in a second are 204,800 bytes.
        assert!(shown("2MB/s"));
        assert!(!shown("3MB/s"));
    }
}
