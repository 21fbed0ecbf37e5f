use super::*;
use crate::results;
use crate::testing::Recorded;
use model::{Op, StageKind};

/// A sweep in which the `n`-th measured point completes `counts[n]` requests in a second.
fn swept(sweep: &str, counts: &[usize]) -> Vec<Finding> {
    let mut recorded = Recorded::new(&format!("[[workload]]\nname = \"w\"\n[sweep]\n{sweep}\n"));
    let first = recorded.stage(StageKind::Measure);
    for (number, count) in (0..).zip(counts) {
        recorded.interval(first + number, 0, &[(Op::Read, &vec![1_000; *count])]);
    }
    findings(&results(&recorded.end()))
}

#[test]
fn an_axis_of_four_numbers_is_looked_at_in_their_order() {
    let found = swept("depth = [8, 1, 2, 4]", &[800, 100, 200, 400]);
    assert_eq!(
        (found.len(), found[0].axis.as_str(), found[0].measure),
        (1, "depth", Measure::Iops)
    );
    assert_eq!([0, 1, 2, 3].map(|point| found[0].label(point)), ["1", "2", "4", "8"].map(Some));
    assert_eq!(found[0].values, [100.0, 200.0, 400.0, 800.0]);
    assert!(found[0].curve.is_rising);
    assert_eq!(swept("depth = [1, 2, 4]", &[1, 2, 3]), []);
    assert_eq!(
        swept(
            "access = [\"random\", \"zipf\", \"permutation\", \"sequential\"]",
            &[10, 20, 30, 40]
        ),
        []
    );
    // A point that carried nothing has no place on a curve, and leaves too few here.
    assert_eq!(swept("depth = [1, 2, 4, 8]", &[1, 2, 3, 0]), []);
}

#[test]
fn the_median_of_the_repetitions_stands_for_a_point() {
    let found = swept(
        "depth = [1, 2, 4, 8]\nrepetitions = 3\norder = \"interleaved\"",
        &[100, 200, 400, 410, 10, 210, 390, 400, 110, 190, 410, 900],
    );
    assert_eq!(
        (found[0].values.as_slice(), found[0].repetitions),
        ([100.0, 200.0, 400.0, 410.0].as_slice(), 3)
    );
    assert_eq!((found[0].curve.peak, found[0].curve.knee), (3, 2));
}

#[test]
fn other_axes_stand_still_and_sizes_count_in_bytes() {
    let found = swept(
        "access = [\"random\", \"sequential\"]\nblock_size = \"4KiB..32KiB x2\"",
        &[400, 200, 100, 50, 40, 40, 40, 40],
    );
    let told: Vec<(&str, &str, usize)> =
        found.iter().map(|f| (f.others[0].label(), f.axis.as_str(), f.curve.knee)).collect();
    assert_eq!(told, [("random", "block_size", 0), ("sequential", "block_size", 3)]);
    assert_eq!(found[0].measure, Measure::BytesPerSecond);
    assert!(!found[0].values.is_empty());
    assert!(found[0].values.iter().all(|value| *value == 400.0 * 4096.0));
}

#[test]
fn a_quantity_is_one_point_however_it_is_written_and_words_are_none() {
    // 1024 B and 1 KiB, each once, are two runs of one point.
    let found = swept(
        "block_size = [\"1024\", \"1KiB\", \"2KiB\", \"4KiB\", \"8KiB\"]",
        &[100, 300, 300, 400, 500],
    );
    assert_eq!((found[0].values.len(), found[0].repetitions), (4, 2));
    assert_eq!(found[0].values[0], 200.0 * 1024.0);
    let mixed = swept("read = [\"0%\", \"25\", \"50%\", \"75%\"]", &[10, 20, 30, 40]);
    assert_eq!(mixed.iter().filter(|found| found.covers == Covers::Part).count(), 1, "the reads");
    assert_eq!(
        swept("think = [\"500ms\", \"1\", \"2s\", \"3s\"]", &[10, 20, 30, 40])[0].along[..2],
        [5e8, 1e9]
    );
    assert_eq!(swept("workers = [1, 2, 4, \"cpus\"]", &[10, 20, 30, 40]), []);
}
