//! Loads whose rate is given, as a table.

use super::{interval, mark, owners, seconds};
use crate::ground::words;
use crate::pens::Table;
use analysis::prediction::given_rate::{AtRate, Wait};

/// Whether each is carried, and how long its requests take.
pub(super) fn table(all: &[AtRate]) -> String {
    let binds = |one: &AtRate| {
        let most = &one.most;
        format!("{}{}", owners(&most.binding), mark(most.is_extrapolated(), most.is_wide()))
    };
    Table::of(all)
        .words("workload", |one| &one.paced.name)
        .figure("asked", |one| words::iops(one.paced.rate))
        .figure("at most", |one| words::iops(one.most.rate.value))
        .figure("90 % interval", |one| interval(one.most.rate))
        .figure("carried with", |one| probability(one.carried))
        .figure("mean latency", |one| wait(one.latency_s))
        .words("binds", binds)
        .text()
}

/// `97 %`; what is not sure is never rounded to certainty.
fn probability(share: f64) -> String {
    match share {
        share if (0.995..1.0).contains(&share) => "> 99 %".to_owned(),
        share if share > 0.0 && share < 0.005 => "< 1 %".to_owned(),
        // The sum of nothing is -0.
        share => format!("{:.0} %", 100.0 * share + 0.0),
    }
}

/// `1.2 ms (900 µs to 2 ms)`.
fn wait(wait: Wait) -> String {
    let or = |time_s: Option<f64>, never: &str| time_s.map_or_else(|| never.to_owned(), seconds);
    let value = or(wait.value, "falls behind");
    match wait.low {
        Some(_) => {
            format!("{value} ({} to {})", or(wait.low, "no end"), or(wait.high, "no end"))
        }
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_sure_is_never_called_certain() {
        let told = [-0.0, 0.0, 0.001, 0.5, 0.994, 0.99998, 1.0].map(probability);
        assert_eq!(told, ["0 %", "0 %", "< 1 %", "50 %", "99 %", "> 99 %", "100 %"]);
    }

    #[test]
    fn requests_without_an_end_fall_behind() {
        let never = Wait { value: None, low: None, high: None };
        assert_eq!(wait(never), "falls behind");
        let open = Wait { value: Some(0.001), low: Some(0.0005), high: None };
        assert_eq!(wait(open), "1 ms (500 µs to no end)");
    }
}
