//! How often each latency came up over time: what quantiles leave out, such as two levels beside
//! each other.

use crate::ground::chart::{Axis, Bands, Cell, Heat};
use crate::ground::moment::latency_words;
use analysis::{Ops, SeriesPoint};
use model::Histogram;

/// Wider than a line's places: a column of a map has a dozen cells, and the page must stay small.
const MOST_COLUMNS: usize = 60;

/// The map of an operation's latencies; nothing where nothing was completed, or the course has one
/// place only: the distribution has that.
pub fn map(ops: Ops, points: &[SeriesPoint], is_mix: bool, bands: Bands) -> Option<Heat> {
    if points.len() < 2 {
        return None;
    }
    let columns = points.chunks(points.len().div_ceil(MOST_COLUMNS));
    let cells: Vec<Cell> = columns.flat_map(|stretch| column(stretch, bands)).collect();
    let least = cells.iter().map(|cell| cell.y.0).reduce(f64::min)?;
    let most = cells.iter().map(|cell| cell.y.1).fold(0.0, f64::max);
    let end_s = points.last().map_or(0.0, |last| last.start_s + last.length_s);
    let of = if is_mix { format!(", {}", ops.name()) } else { String::new() };
    Some(Heat {
        title: format!("Latency, how often{of}"),
        description: format!(
            "How often each latency from {} to {} came up over time",
            latency_words(least),
            latency_words(most)
        ),
        x: Axis::time(end_s),
        y: Axis::latency(least, most),
        cells,
    })
}

/// The cells of a stretch of neighbouring places, as one column.
fn column(stretch: &[SeriesPoint], bands: Bands) -> Vec<Cell> {
    let (Some(first), Some(last)) = (stretch.first(), stretch.last()) else { return Vec::new() };
    let x = (first.start_s, last.start_s + last.length_s);
    let mut all = Histogram::new();
    stretch.iter().for_each(|point| all.merge(&point.latency));
    let cell = |(band, count): (usize, u64)| {
        let (low, high) = bands.bounds(band);
        Cell {
            x,
            y: ((low as f64).max(1.0), high as f64),
            share: count as f64 / all.count().max(1) as f64,
        }
    };
    bands.count(&all).into_iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Op;

    fn point(start_s: f64, values_ns: &[u64]) -> SeriesPoint {
        let mut latency = Histogram::new();
        values_ns.iter().for_each(|value| latency.record(*value));
        let ios = values_ns.len() as u64;
        SeriesPoint { start_s, length_s: 1.0, ios, bytes: 0, latency, errors: Some(0) }
    }

    #[test]
    fn two_levels_beside_each_other_are_two_rows_with_their_shares() {
        let points: Vec<SeriesPoint> = (0..10)
            .map(|at| point(f64::from(at), &[100_000, 100_000, 100_000, 9_000_000]))
            .collect();
        let map = map(Ops::One(Op::Read), &points, false, Bands::FINE).expect("a map");
        assert_eq!(map.cells.len(), 20);
        let slow: Vec<&Cell> = map.cells.iter().filter(|cell| cell.y.1 > 1e6).collect();
        assert!(
            slow.len() == 10
                && slow.iter().all(|cell| (cell.share - 0.25).abs() < 1e-9 && cell.y.0 <= 9e6),
            "{slow:?}"
        );
        assert_eq!(slow[9].x, (9.0, 10.0));
    }

    #[test]
    fn a_long_course_is_few_columns_that_miss_nothing() {
        let points: Vec<SeriesPoint> = (0..240)
            .map(|at| point(f64::from(at), &[50_000 + u64::from(at == 117) * 80_000_000]))
            .collect();
        let map = map(Ops::One(Op::Write), &points, true, Bands::FINE).expect("a map");
        let slow: Vec<&Cell> = map.cells.iter().filter(|cell| cell.y.1 > 1e7).collect();
        assert!(
            matches!(slow[..],
                [one] if one.x.0 <= 117.0 && one.x.1 >= 118.0 && (one.share - 0.25).abs() < 1e-9),
            "{slow:?}"
        );
        assert_eq!(map.cells.len(), 61);
        assert!(map.title.ends_with("write"));
    }

    #[test]
    fn nothing_and_a_single_place_have_no_map() {
        assert!(
            map(Ops::One(Op::Read), &[], false, Bands::FINE).is_none()
                && map(Ops::One(Op::Read), &[point(0.0, &[1])], false, Bands::FINE).is_none()
        );
        assert!(
            map(Ops::One(Op::Read), &[point(0.0, &[]), point(1.0, &[])], false, Bands::FINE)
                .is_none()
        );
    }
}
