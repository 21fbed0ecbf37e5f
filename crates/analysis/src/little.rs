//! Little's law: requests outstanding = requests per second × mean latency (Little, *A proof for the queuing formula L = λW*, 1961). It
//! holds for every system that neither makes nor loses requests, so figures that break it are wrong.

use std::ops::Range;

/// How many requests were outstanding on average, from requests per second and their mean latency in seconds.
pub fn outstanding(per_second: f64, mean_s: f64) -> f64 {
    per_second * mean_s
}

/// Whether `outstanding` requests in a closed loop without pauses can have gone at `per_second` with a mean latency in `mean_s`: a range, as
/// printed figures are rounded.
pub fn agrees(outstanding: f64, per_second: f64, mean_s: Range<f64>) -> bool {
    per_second > 0.0 && mean_s.contains(&(outstanding / per_second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_hybrid_clusters_15_figures_two_break_the_law() {
        // IOPS and mean latency as printed, in whole ms, of 16 clients × 10 disks × 2 outstanding. Thirteen of them were cut, not rounded.
        let table = [
            ("4k read, 1.6 TB", 227_241.6, 1.0),
            ("4k read, 8 TB", 150_829.0, 2.0),
            ("4k read, 16 TB", 6_747.3, 47.0),
            ("4k write, 1.6 TB", 63_867.8, 4.0),
            ("4k write, 8 TB", 64_204.3, 4.0),
            ("4k write, 16 TB", 14_403.6, 23.0),
            ("8k mix, 1.6 TB", 121_329.2, 2.0),
            ("8k mix, 8 TB", 88_853.7, 3.0),
            ("8k mix, 16 TB", 8_584.2, 37.0),
            ("32k read, 1.6 TB", 86_379.1, 3.0),
            ("32k read, 8 TB", 72_904.1, 4.0),
            ("32k read, 16 TB", 79_702.8, 4.0),
            ("32k write, 1.6 TB", 38_184.4, 8.0),
            ("32k write, 8 TB", 30_645.7, 10.0),
            ("32k write, 16 TB", 34_610.9, 9.0),
        ];
        let breaks = |row: &&(&str, f64, f64)| !agrees(320.0, row.1, row.2 / 1e3..(row.2 + 1.0) / 1e3);
        let found: Vec<&str> = table.iter().filter(breaks).map(|row| row.0).collect();
        assert_eq!(found, ["4k write, 1.6 TB", "4k write, 16 TB"]);
        assert!((outstanding(227_241.6, 1.408e-3) - 320.0).abs() < 0.1);
        assert!(!agrees(320.0, 0.0, 0.0..1.0));
    }
}
