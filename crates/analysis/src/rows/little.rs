//! Little's law: requests outstanding = requests per second × mean latency (Little, *A proof for
//! the queuing formula L = λW*, 1961). It holds for every system that neither makes nor loses
//! requests, so figures that break it are wrong.

use std::ops::Range;

/// How many requests were outstanding on average, from requests per second and their mean latency
/// in seconds.
pub fn outstanding(per_second: f64, mean_s: f64) -> f64 {
    per_second * mean_s
}

/// Whether `outstanding` requests in a closed loop without pauses can have gone at `per_second`
/// with a mean latency in `mean_s`: a range, as printed figures are rounded.
pub fn agrees(outstanding: f64, per_second: f64, mean_s: Range<f64>) -> bool {
    per_second > 0.0 && mean_s.contains(&(outstanding / per_second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalogue::published::{FigureSpec, Published};

    /// What the report says was outstanding: 16 clients × 10 disks × 2.
    const OUTSTANDING: f64 = 320.0;

    /// Report C as its file has it: workload, scenario, requests per second and whole milliseconds.
    fn report_c() -> Vec<(String, String, f64, f64)> {
        let text = include_str!("../../../../reference/results/vsan-four-corners.toml");
        let published = Published::parse("vsan-four-corners", text).expect("good figures");
        let rates = published.figures.iter().filter(|figure| figure.quantity.value == "rate");
        let row = |figure: &FigureSpec| {
            let (workload, scenario) =
                (figure.workload.value.clone(), figure.scenario.value.clone());
            let whole_ms = published
                .value(&workload, &scenario, "mean latency")
                .expect("printed beside each rate");
            (workload, scenario, figure.value.value.0, whole_ms)
        };
        rates.map(row).collect()
    }

    /// The figures whose latency cannot be: `[low, high)` is what one printed millisecond may stand
    /// for, in ms after it.
    fn broken(low: f64, high: f64) -> Vec<String> {
        let breaks = |(_, _, rate, whole_ms): &(String, String, f64, f64)| {
            !agrees(OUTSTANDING, *rate, (whole_ms + low) / 1e3..(whole_ms + high) / 1e3)
        };
        let rows = report_c();
        rows.iter()
            .filter(|row| breaks(row))
            .map(|(workload, scenario, ..)| format!("{workload}, {scenario}"))
            .collect()
    }

    #[test]
    fn of_report_c_s_15_figures_exactly_two_break_the_law() {
        assert_eq!(report_c().len(), 15);
        // Latencies are whole milliseconds, cut off: that way all agree but two.
        assert_eq!(broken(0.0, 1.0), ["4K random write, 1.6 TB", "4K random write, 16 TB"]);
        // Had they been rounded, six would not: the law tells how a table was printed, too.
        assert_eq!(broken(-0.5, 0.5).len(), 6);
    }

    #[test]
    fn a_rate_of_nothing_agrees_with_no_latency() {
        assert!((outstanding(227_241.6, 1.408e-3) - 320.0).abs() < 0.1);
        assert!(!agrees(320.0, 0.0, 0.0..1.0));
    }
}
