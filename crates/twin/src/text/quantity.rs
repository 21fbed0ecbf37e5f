//! Times, sizes and rates in the text of a spec: read with the model's units, written so that they
//! read back exactly.

use model::{Bytes, Nanos};

/// A time in ns. It needs a unit: elsewhere a bare number means seconds, which nobody means by a
/// service time of 100.
pub(crate) fn parse_ns(text: &str) -> Result<u64, String> {
    if text.ends_with(|c: char| c.is_ascii_digit()) {
        return Err(format!(
            "`{}` has no unit of time; write for example 100us, 5ms or 2s",
            clip(text)
        ));
    }
    text.parse::<Nanos>().map(|ns| ns.0).map_err(|error| told(text, &error))
}

pub(crate) fn parse_bytes(text: &str) -> Result<Bytes, String> {
    text.parse::<Bytes>().map_err(|error| told(text, &error))
}

/// Bytes a second: `500MiB/s`. The `/s` may be left out.
pub(crate) fn parse_rate(text: &str) -> Result<u64, String> {
    parse_bytes(text.strip_suffix("/s").unwrap_or(text).trim_end()).map(|bytes| bytes.0)
}

/// A whole number; `_` may group its digits.
pub(crate) fn parse_count<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    let wrong = || {
        format!("`{}` is not a whole number in range; write for example 8 or 50_000", clip(text))
    };
    text.replace('_', "").parse().map_err(|_| wrong())
}

/// The unit's own message repeats the text, which may be long.
fn told(text: &str, error: &model::units::UnitError) -> String {
    if text.len() > 40 {
        format!("`{}` is not a quantity; {}", clip(text), error.remedy)
    } else {
        error.to_string()
    }
}

/// The beginning of a text that may be long, for messages.
pub(crate) fn clip(text: &str) -> String {
    let mut short: String =
        text.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    short
}

/// A time in the largest unit that is exact.
pub(crate) fn show_ns(ns: u64) -> String {
    match ns {
        0 => "0ns".to_owned(),
        _ if ns.is_multiple_of(1_000_000_000) => format!("{}s", ns / 1_000_000_000),
        _ if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
        _ if ns.is_multiple_of(1_000) => format!("{}us", ns / 1_000),
        _ => format!("{ns}ns"),
    }
}

/// A size in the largest binary unit that is exact.
pub(crate) fn show_bytes(bytes: u64) -> String {
    let power = (bytes.trailing_zeros() / 10).min(4);
    match bytes {
        0 => "0B".to_owned(),
        _ => format!(
            "{}{}",
            bytes >> (10 * power),
            ["B", "KiB", "MiB", "GiB", "TiB"][power as usize]
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{LONGEST_RUN_NS, MOST_BYTES};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn times_and_sizes_in_range_read_back_exactly(
            ns in 0..=LONGEST_RUN_NS, bytes in 0..=MOST_BYTES, ns_shift in 0u32..50,
                bytes_shift in 0u32..50,
        ) {
            let (ns, bytes) = (ns >> ns_shift, bytes >> bytes_shift << bytes_shift);
            prop_assert_eq!(parse_ns(&show_ns(ns)), Ok(ns));
            prop_assert_eq!(parse_ns(&show_ns(ns / 1000 * 1000)), Ok(ns / 1000 * 1000));
            prop_assert_eq!(parse_rate(&format!("{}/s", show_bytes(bytes))), Ok(bytes));
        }
    }

    #[test]
    fn a_time_without_a_unit_is_refused() {
        assert!(parse_ns("100").is_err_and(|message| message.contains("100us")));
        assert_eq!(parse_ns("1.5us"), Ok(1_500));
    }
}
