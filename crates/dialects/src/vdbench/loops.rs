//! The points of a run: one for each combination of its lists.

use super::definition::OPTIONS;
use super::values::{millions, sizes};
use crate::draft::{Fields, quoted, share};
use crate::loss::{Losses, Verdict};
use crate::rows::{Value, Values};

/// No run has more points.
const MOST: usize = 500;

/// Lists of a run as axes of a sweep, where that says the same, and the points that are left: what
/// is the same in all workloads of each. `alone`: there is one workload; `curve`: all of them may
/// have shares of their maximum.
pub fn points(
    run: &Values,
    threads: &'static str,
    alone: bool,
    curve: bool,
    losses: &mut Losses,
) -> (Fields, Vec<Values>) {
    let mut sweep = Fields::default();
    let mut points = vec![Values::of(&OPTIONS)];
    let lists = [
        ("rate", "rate"),
        ("xfersize", "block_size"),
        ("threads", threads),
        ("read", "read"),
        ("seek", "access"),
    ];
    for (slot, key) in lists {
        let Some(all) = run.list(slot) else { continue };
        match axis(slot, all, alone, curve) {
            Some(words) => {
                sweep.set(key, format!("[{}]", words.join(", ")), run.source(slot, losses));
            }
            None if is_curve(all) => {
                let why = "the maximum alone: beside a workload with a rate of its own";
                losses.replace(run.id(slot), Verdict::near(why));
            }
            None => points = times(&points, slot, run, all),
        }
    }
    (sweep, points)
}

/// Whether rates are shares of a maximum that is measured first.
pub fn is_curve(all: &[Value]) -> bool {
    all.iter().any(|value| matches!(value, Value::Text(text) if text.ends_with('%')))
}

/// The values of an axis; `None` where it would not say the same.
fn axis(slot: &str, all: &[Value], alone: bool, curve: bool) -> Option<Vec<String>> {
    let word = |value: &Value| match (slot, value) {
        ("rate", Value::Number(rate)) if alone => Some(millions(*rate).to_string()),
        ("rate", Value::Text(share)) if curve && share.ends_with('%') => Some(quoted(share)),
        ("xfersize", Value::Text(text)) => Some(quoted(&sizes(text, false).ok()?.text)),
        ("threads", Value::Number(many)) => Some((*many).clamp(1, 4_096).to_string()),
        ("read", Value::Number(read)) => Some(quoted(&share(*read))),
        _ => None,
    };
    all.iter().map(word).collect::<Option<Vec<_>>>().filter(|words| words.len() > 1)
}

/// Each point once for each value.
fn times(points: &[Values], slot: &'static str, run: &Values, all: &[Value]) -> Vec<Values> {
    let Some(id) = run.id(slot) else { return Vec::new() };
    let each = |point: &Values, value: &Value| {
        let mut point = point.clone();
        point.put(slot, value.clone(), id);
        point
    };
    let pairs = points.iter().flat_map(|point| all.iter().map(move |value| each(point, value)));
    pairs.take(MOST).collect()
}
