//! Whether the p99 of segments changed its level: the search of [`trend`](crate::trend), asked
//! after each segment.

use crate::trend::level::steps;
use model::canary::{Changed, Figure};

/// The share of looks in which a change may be found where there is none. There is a look after
/// each segment, so that it is a small one: of a month of hourly segments, one month in twenty has
/// a false change (Bonferroni).
const FALSE_ALARMS: f64 = 0.05 / 720.0;

/// The latest change in the figures of segments, in their order; `None` where the level held.
pub fn change(figures: &[Figure]) -> Option<Changed> {
    let logarithms: Vec<f64> =
        figures.iter().map(|figure| (figure.p99_ns.max(1) as f64).ln()).collect();
    let steps = steps(&logarithms, FALSE_ALARMS);
    let at = *steps.last()?;
    let from = steps.iter().rev().nth(1).copied().unwrap_or(0);
    let level = |values: &[f64]| (values.iter().sum::<f64>() / values.len() as f64).exp();
    Some(Changed {
        number: figures.get(at)?.number,
        before_ns: level(logarithms.get(from..at)?),
        after_ns: level(logarithms.get(at..)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::Normal;

    fn figures(normal: &mut Normal, levels: &[(usize, f64)]) -> Vec<Figure> {
        let all = levels.iter().flat_map(|(n, level)| std::iter::repeat_n(*level, *n));
        let one = |(number, level): (usize, f64)| Figure {
            number: number as u32 + 1,
            p99_ns: (level * (0.05 * normal.draw()).exp()) as u64,
        };
        all.enumerate().map(one).collect()
    }

    #[test]
    fn a_new_level_is_told_with_its_first_segment_and_noise_is_none() {
        let mut normal = Normal::new(7);
        let found = change(&figures(&mut normal, &[(40, 1e6), (6, 2e6)])).expect("a change");
        assert_eq!(found.number, 41);
        assert!((0.9e6..1.1e6).contains(&found.before_ns), "{found:?}");
        assert!((1.8e6..2.2e6).contains(&found.after_ns), "{found:?}");
        assert_eq!(change(&figures(&mut normal, &[(48, 1e6)])), None);
        assert_eq!(change(&[]), None);
    }
}
