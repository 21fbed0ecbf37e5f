//! The points of a run: one for each combination of its lists.

use super::run::{Rate, Run};
use super::storage::Seek;
use super::values::Sizes;
use crate::draft::{Fields, quoted, share};
use crate::loss::Losses;
use crate::mpi::job::Got;

/// No run has more points.
const MOST: usize = 500;

/// What is the same in all workloads of a point; `None` leaves it to them.
#[derive(Clone, Debug, Default)]
pub struct Point {
    /// The rate of all workloads together.
    pub rate: Option<Got<Rate>>,
    /// The sizes of requests.
    pub sizes: Option<Got<Sizes>>,
    /// Requests in flight.
    pub threads: Option<Got<u64>>,
    /// The share of reads in millionths.
    pub read: Option<Got<u64>>,
    /// Where requests go.
    pub seek: Option<Got<Seek>>,
}

/// Lists as axes of a sweep, where that says the same, and the points that are left.
pub fn points(
    run: &Run,
    threads: &'static str,
    alone: bool,
    losses: &Losses,
) -> (Fields, Vec<Point>) {
    let mut sweep = Fields::default();
    let mut points = vec![Point::default()];
    let mut axis = |key: &'static str, all: Vec<String>, source: String| {
        sweep.set(key, format!("[{}]", all.join(", ")), source);
    };
    if let Some(got) = &run.rates {
        let fixed: Option<Vec<f64>> = got
            .value
            .iter()
            .map(|rate| match rate {
                Rate::Fixed(rate) => Some(*rate),
                Rate::Max => None,
            })
            .collect();
        match fixed.filter(|all| alone && all.len() > 1) {
            Some(all) => {
                let all = all.iter().map(|rate| (rate.round() as u64).to_string()).collect();
                axis("rate", all, losses.source(got.id));
            }
            None => times(&mut points, got, |point, rate| point.rate = Some(rate)),
        }
    }
    if let Some(got) = &run.sizes {
        match got.value.len() {
            1 => times(&mut points, got, |point, sizes| point.sizes = Some(sizes)),
            _ => {
                let all = got.value.iter().map(|sizes| quoted(&sizes.text)).collect();
                axis("block_size", all, losses.source(got.id));
            }
        }
    }
    if let Some(got) = &run.threads {
        match got.value.len() {
            1 => times(&mut points, got, |point, many| point.threads = Some(many)),
            _ => {
                let all = got.value.iter().map(|many| (*many).clamp(1, 4_096).to_string());
                axis(threads, all.collect(), losses.source(got.id));
            }
        }
    }
    if let Some(got) = &run.reads {
        match got.value.len() {
            1 => times(&mut points, got, |point, read| point.read = Some(read)),
            _ => {
                let all = got.value.iter().map(|read| quoted(&share(*read))).collect();
                axis("read", all, losses.source(got.id));
            }
        }
    }
    if let Some(got) = &run.seeks {
        times(&mut points, got, |point, seek| point.seek = Some(seek));
    }
    (sweep, points)
}

/// Each point once for each value.
fn times<T: Clone>(points: &mut Vec<Point>, got: &Got<Vec<T>>, set: fn(&mut Point, Got<T>)) {
    let mut all = Vec::new();
    for point in points.iter() {
        for value in &got.value {
            if all.len() < MOST {
                let mut point = point.clone();
                set(&mut point, Got { value: value.clone(), id: got.id });
                all.push(point);
            }
        }
    }
    *points = all;
}
