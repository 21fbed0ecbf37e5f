//! A moment of a stage, and a latency, in words wherever one is told: on axes, in tables, in lines
//! of text.

use super::words::utc;
use model::Nanos;

/// A moment of a stage, exact to a tenth of a second once there are minutes: `45 s`, `5 min`, `1 h
/// 30 min 15 s`.
pub fn time_words(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0".to_owned();
    }
    let tenths = (seconds * 10.0).round() as u64;
    if tenths < 600 {
        return Nanos((seconds * 1e9).round() as u64).to_string();
    }
    let rest = (tenths % 600) as f64 / 10.0;
    let parts = [(tenths / 36_000) as f64, (tenths / 600 % 60) as f64, rest];
    let told = parts.into_iter().zip(["h", "min", "s"]).filter(|(value, _)| *value > 0.0);
    told.map(|(value, unit)| format!("{value} {unit}")).collect::<Vec<_>>().join(" ")
}

/// A date and a time of day, from seconds since 1970, in UTC: `11-22 19:05`, and at midnight the
/// date alone.
pub fn date_words(unix_s: f64) -> String {
    let text = utc((unix_s.max(0.0) * 1e9) as u64);
    let (date, time) = text.split_once(' ').unwrap_or((&text, ""));
    match time.get(..5) {
        None | Some("00:00") => date.to_owned(),
        Some(time) => format!("{} {time}", date.get(5..).unwrap_or(date)),
    }
}

/// The same to a second, without its date: of moments that are close to each other.
pub(crate) fn clock_words(unix_s: f64) -> String {
    let text = utc((unix_s.max(0.0) * 1e9) as u64);
    text.get(11..19).unwrap_or(&text).to_owned()
}

/// A latency in words.
pub fn latency_words(ns: f64) -> String {
    Nanos(ns.round() as u64).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_short() {
        assert_eq!(date_words(1_767_225_600.0), "2026-01-01");
        assert_eq!(date_words(1_767_225_600.0 + 3_900.0), "01-01 01:05");
        assert_eq!(clock_words(1_767_225_600.0 + 3_907.9), "01:05:07");
    }

    #[test]
    fn moments_are_told_apart() {
        let told: Vec<String> =
            [0.0, 0.5, 45.0, 60.0, 61.3, 300.0, 3_600.0, 5_415.0].map(time_words).into();
        assert_eq!(
            told,
            ["0", "500 ms", "45 s", "1 min", "1 min 1.3 s", "5 min", "1 h", "1 h 30 min 15 s"]
        );
    }
}
