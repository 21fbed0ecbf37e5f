//! Snapshots for tests.

use super::Snapshot;
use crate::web::board::Board;
use crate::web::metrics::Detail;
use analysis::testing::Recorded;
use model::Op;

/// A run that read so many requests of these latencies, in ns.
pub fn counted(latencies_ns: &[u64]) -> Board {
    let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\n");
    recorded.second(0, &[(Op::Read, latencies_ns)]);
    let record = recorded.record();
    let mut board = Board::new(record.plan.clone(), record.testbed.clone(), "1", 1_000_000_000);
    record.samples().for_each(|sample| {
        board.event(&model::Event::Sample(sample.clone()));
    });
    board
}

/// What is known of it at an instant, in ms since 1970; it began at 1,000 ms.
pub fn snapshot(unix_ms: u64, board: &Board) -> Snapshot {
    Snapshot {
        unix_ns: unix_ms * 1_000_000,
        began_unix_ns: 1_000_000_000,
        scrape: board.metrics(Detail::Auto),
    }
}
