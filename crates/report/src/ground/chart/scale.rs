//! From values to places on an axis, and the ticks that people expect there.

/// An axis: which values it shows and how they are spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// From 0 to a largest value, evenly.
    Linear {
        /// The largest value; above 0.
        max: f64,
    },
    /// From 0 to a last moment, evenly, and marked where clocks are.
    Time {
        /// The last moment in seconds; above 0.
        max_s: f64,
    },
    /// From one value to another, each factor of ten as wide as the next.
    Log {
        /// The smallest value; above 0.
        min: f64,
        /// The largest; above the smallest.
        max: f64,
    },
    /// From one power of two to another, each doubling as wide as the next: sizes of requests.
    Doublings {
        /// The smallest value; a power of two.
        min: f64,
        /// The largest; above the smallest.
        max: f64,
    },
    /// From one date to another, evenly, in seconds since 1970 (UTC).
    Dates {
        /// The first.
        from_s: f64,
        /// The last; after the first.
        to_s: f64,
    },
    /// Shares of all requests by their nines: 0, 90 %, 99 % and so on stand at equal distances.
    Nines {
        /// How many nines there are to see.
        most: f64,
    },
}

impl Scale {
    /// Evenly from 0, with room above `largest` up to a round value.
    pub fn linear_to(largest: f64) -> Scale {
        let largest = if largest.is_finite() && largest > 0.0 { largest } else { 1.0 };
        let step = nice_step(largest, 5.0);
        Scale::Linear { max: (largest / step).ceil() * step }
    }

    /// From 0 to just `last_s`: room behind the end of a run would look like a pause.
    pub fn time_to(last_s: f64) -> Scale {
        Scale::Time { max_s: if last_s.is_finite() && last_s > 0.0 { last_s } else { 1.0 } }
    }

    /// From the first of these moments to the last, with a little room at both ends, half a second
    /// at least; moments at once have an hour.
    pub fn dates(moments_s: impl Iterator<Item = f64> + Clone) -> Scale {
        let first = moments_s.clone().fold(f64::INFINITY, f64::min);
        let last = moments_s.fold(f64::NEG_INFINITY, f64::max);
        let room = if last > first { ((last - first) * 0.03).max(0.5) } else { 1_800.0 };
        let (first, last) = if first.is_finite() { (first, last) } else { (0.0, 1.0) };
        Scale::Dates { from_s: first - room, to_s: last + room }
    }

    /// By factors, from a round value below `smallest` to one above `largest`.
    pub fn log_between(smallest: f64, largest: f64) -> Scale {
        let smallest = if smallest.is_finite() && smallest > 0.0 { smallest } else { 1.0 };
        let largest = if largest.is_finite() { largest.max(smallest) } else { smallest };
        let min = round_below(smallest);
        let max = round_above(largest);
        Scale::Log { min, max: if max > min { max } else { min * 10.0 } }
    }

    /// Where a value stands, 0 to 1; values outside stand at the ends.
    pub fn place(self, value: f64) -> f64 {
        let place = match self {
            Scale::Linear { max } => value / max,
            Scale::Time { max_s } => value / max_s,
            Scale::Log { min, max } => (value.max(min) / min).log10() / (max / min).log10(),
            Scale::Doublings { min, max } => (value.max(min) / min).log2() / (max / min).log2(),
            Scale::Dates { from_s, to_s } => (value - from_s) / (to_s - from_s),
            Scale::Nines { most } => nines(value) / most,
        };
        place.clamp(0.0, 1.0)
    }

    /// Round values to mark, in rising order.
    pub fn ticks(self) -> Vec<f64> {
        match self {
            Scale::Linear { max } => multiples(nice_step(max, 5.0), max),
            Scale::Time { max_s } => multiples(time_step(max_s), max_s),
            Scale::Dates { from_s, to_s } => {
                // Dates are told to a second.
                let step = time_step(to_s - from_s).max(1.0);
                let first = (from_s / step).ceil();
                let count = ((to_s / step).floor() - first).clamp(0.0, 100.0) as u32;
                (0..=count).map(|n| (first + f64::from(n)) * step).collect()
            }
            Scale::Log { min, max } => log_ticks(min, max),
            Scale::Doublings { min, max } => {
                let doublings = (max / min).log2().round().clamp(0.0, 1_000.0) as usize;
                (0..=doublings)
                    .step_by(doublings / 6 + 1)
                    .map(|n| min * 2f64.powi(n as i32))
                    .collect()
            }
            Scale::Nines { most } => {
                let whole = (most + 1e-9).floor() as i32;
                (0..=whole).map(|n| 1.0 - 10f64.powi(-n)).collect()
            }
        }
    }
}

/// 0 and every further multiple of `step` up to `max`.
fn multiples(step: f64, max: f64) -> Vec<f64> {
    let count = (max / step + 1e-9).floor() as u32;
    (0..=count).map(|n| f64::from(n) * step).collect()
}

/// Steps that fit into minutes, hours and days, in seconds.
const CLOCK_STEPS_S: [f64; 18] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0,
    10_800.0, 21_600.0, 43_200.0, 86_400.0,
];

/// The least step of a clock that cuts `range_s` into at most six parts; below seconds and above
/// days by 1, 2 and 5.
fn time_step(range_s: f64) -> f64 {
    if range_s <= 3.0 {
        return nice_step(range_s, 5.0);
    }
    let clock = CLOCK_STEPS_S.into_iter().find(|step| range_s / step <= 6.0);
    clock.unwrap_or_else(|| nice_step(range_s / 86_400.0, 5.0).max(1.0) * 86_400.0)
}

/// How many nines a share has: 0.9 has one, 0.999 three.
fn nines(share: f64) -> f64 {
    -(1.0 - share.clamp(0.0, 1.0 - 1e-12)).log10()
}

/// The step of 1, 2 or 5 times a power of ten that cuts `range` into about `parts`.
fn nice_step(range: f64, parts: f64) -> f64 {
    let rough = range / parts;
    let power = 10f64.powf(rough.log10().floor());
    let factor =
        [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough * 0.999).unwrap_or(10.0);
    factor * power
}

fn round_below(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let factor = [5.0, 2.0, 1.0].into_iter().find(|factor| factor * power <= value * 1.000_001);
    factor.unwrap_or(1.0) * power
}

fn round_above(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= value * 0.999_999);
    factor.unwrap_or(10.0) * power
}

/// Every power of ten, and where there are few of them 2 and 5 times each; never more than eight.
fn log_ticks(min: f64, max: f64) -> Vec<f64> {
    let decades = (max / min).log10();
    let factors: &[f64] = if decades <= 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let first = min.log10().floor() as i32;
    let last = max.log10().ceil() as i32;
    let stride = usize::try_from((last - first) / 8 + 1).unwrap_or(1);
    let powers = (first..=last).step_by(stride);
    let all = powers.flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
    all.filter(|tick| *tick >= min * 0.999_999 && *tick <= max * 1.000_001).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doublings_are_equally_wide_and_their_ticks_are_sizes_that_people_name() {
        let scale = Scale::Doublings { min: 512.0, max: 16_777_216.0 };
        assert_eq!(scale.ticks(), [512.0, 4096.0, 32_768.0, 262_144.0, 2_097_152.0, 16_777_216.0]);
        assert!(
            (scale.place(4096.0) - 0.2).abs() < 1e-12
                && scale.place(1.0) == 0.0
                && scale.place(1e9) == 1.0
        );
    }

    #[test]
    fn linear_axes_end_at_round_values() {
        for (largest, max, ticks) in [
            (1.0, 1.0, 6),
            (182_000.0, 200_000.0, 5),
            (7.3, 8.0, 5),
            (0.0, 1.0, 6),
            (f64::NAN, 1.0, 6),
        ] {
            let scale = Scale::linear_to(largest);
            let Scale::Linear { max: told } = scale else { panic!("linear") };
            assert!((told - max).abs() < max * 1e-9, "{largest}: {told}");
            assert_eq!(scale.ticks().len(), ticks, "{largest}: {:?}", scale.ticks());
            assert!((scale.place(told) - 1.0).abs() < 1e-9 && scale.place(0.0) == 0.0);
        }
    }

    #[test]
    fn times_are_marked_where_clocks_are_and_end_with_the_run() {
        for (last_s, step_s, ticks) in [
            (0.5, 0.1, 6),
            (10.0, 2.0, 6),
            (61.0, 15.0, 5),
            (300.0, 60.0, 6),
            (3_600.0, 600.0, 7),
            (7_200.0, 1_800.0, 5),
            (86_400.0, 21_600.0, 5),
            (30.0 * 86_400.0, 10.0 * 86_400.0, 4),
        ] {
            let scale = Scale::time_to(last_s);
            let marks = scale.ticks();
            assert!(
                (marks[1] - step_s).abs() < 1e-9 && marks.len() == ticks,
                "{last_s}: {marks:?}"
            );
            assert_eq!(scale.place(last_s), 1.0);
        }
        for nothing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Scale::time_to(nothing), Scale::Time { max_s: 1.0 });
        }
    }

    #[test]
    fn log_axes_have_a_few_ticks_in_their_range() {
        for (smallest, largest) in
            [(80e3, 120e3), (90e3, 8e6), (1.0, 1e12), (5.0, 5.0), (0.0, 0.0), (3e3, f64::INFINITY)]
        {
            let scale = Scale::log_between(smallest, largest);
            let ticks = scale.ticks();
            assert!((1..=10).contains(&ticks.len()), "{smallest} to {largest}: {ticks:?}");
            assert!(ticks.is_sorted());
            assert!(ticks.iter().all(|tick| (0.0..=1.0).contains(&scale.place(*tick))));
        }
        let scale = Scale::Log { min: 1.0, max: 100.0 };
        assert!((scale.place(10.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn dates_are_marked_at_whole_days_and_hours() {
        const DAY: f64 = 86_400.0;
        let scale = Scale::dates([20_000.4 * DAY, 20_009.0 * DAY].into_iter());
        let ticks = scale.ticks();
        assert!((3..=8).contains(&ticks.len()), "{ticks:?}");
        assert!(
            ticks.iter().all(|tick| tick % DAY == 0.0 && (0.0..1.0).contains(&scale.place(*tick)))
        );
        let one = Scale::dates([20_000.0 * DAY].into_iter());
        assert!((one.place(20_000.0 * DAY) - 0.5).abs() < 1e-9 && !one.ticks().is_empty());
        assert!(!Scale::dates(std::iter::empty()).ticks().is_empty());
        let quick = Scale::dates([20_000.2, 20_000.9, 20_001.1].into_iter()).ticks();
        assert!(!quick.is_empty() && quick.iter().all(|tick| tick % 1.0 == 0.0), "{quick:?}");
    }

    #[test]
    fn nines_stand_at_equal_distances() {
        let scale = Scale::Nines { most: 4.0 };
        assert!((scale.place(0.9) - 0.25).abs() < 1e-9 && (scale.place(0.99) - 0.5).abs() < 1e-9);
        assert_eq!(scale.ticks().len(), 5);
        assert_eq!(scale.place(1.0), 1.0);
    }
}
