//! Instants as files of rates have them.

use model::units::Nanos;

const NS_PER_S: u64 = 1_000_000_000;
/// A number of seconds from here on is one of milliseconds since 1970: those of 1973 are as many.
const LEAST_MILLIS: u64 = 100_000_000_000;

/// An instant in ns: a number of seconds of a day or since 1970, one of milliseconds since 1970, a
/// duration such as `5m`, or a date with its time such as `2026-11-25 19:30:00`.
pub(super) fn instant(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return number(text);
    }
    text.parse::<Nanos>().ok().map(|time| time.0).or_else(|| date(text))
}

/// Exactly, which a floating number of ns since 1970 would not be.
fn number(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole: u64 = whole.parse().ok()?;
    if whole >= LEAST_MILLIS {
        return whole.checked_mul(1_000_000);
    }
    whole.checked_mul(NS_PER_S)?.checked_add(fraction_ns(fraction)?)
}

/// The digits behind a point, as ns.
fn fraction_ns(digits: &str) -> Option<u64> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.chars().chain(std::iter::repeat('0')).take(9).collect::<String>().parse().ok()
}

/// `2026-11-25T19:30:00.5Z`, with a space for the `T`, and with a distance from UTC or none. Only
/// how far instants are apart counts, so that a time without one is taken as UTC.
fn date(text: &str) -> Option<u64> {
    let (day, time) = text.split_once(['T', ' '])?;
    let [year, month, day] = three(day, '-')?;
    let (time, east_s) = zone(time)?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [hour, minute, second] = three(time, ':')?;
    let is_one = (1970..=2200).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !is_one {
        return None;
    }
    let before: u64 = (1970..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    let days = before + (1..month).map(|month| days_of(year, month)).sum::<u64>() + day - 1;
    let seconds = (days * 24 + hour) * 3_600 + minute * 60 + second;
    let seconds = seconds.checked_add_signed(-east_s)?;
    seconds.checked_mul(NS_PER_S)?.checked_add(fraction_ns(fraction)?)
}

/// A time without its zone, and how many seconds that is east of UTC.
fn zone(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(at) = time.find(['+', '-']) else { return Some((time, 0)) };
    let (time, zone) = time.split_at(at);
    let (hours, minutes) = zone[1..].split_once(':')?;
    let (hours, minutes): (i64, i64) = (two(hours)? as i64, two(minutes)? as i64);
    let east_s = hours * 3_600 + minutes * 60;
    Some((time.trim_end(), if zone.starts_with('-') { -east_s } else { east_s }))
}

fn two(text: &str) -> Option<u64> {
    (text.len() == 2).then(|| text.parse().ok())?
}

fn three(text: &str, between: char) -> Option<[u64; 3]> {
    let parts: Vec<u64> =
        text.split(between).map(|part| part.parse().ok()).collect::<Option<_>>()?;
    parts.try_into().ok()
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_in_all_the_ways_in_which_tools_write_them() {
        let at = Some(1_700_000_000 * NS_PER_S);
        for text in [
            "1700000000",
            "1700000000.0",
            "1700000000000",
            "2023-11-14T22:13:20Z",
            "2023-11-14 22:13:20",
            "2023-11-14T23:13:20.000+01:00",
            "2023-11-14T14:43:20-07:30",
        ] {
            assert_eq!(instant(text), at, "{text}");
        }
        assert_eq!(instant("1700000000.25").zip(at).map(|(one, at)| one - at), Some(250_000_000));
        let leap = instant("2024-02-29 00:00:00").zip(instant("2024-03-01 00:00:00"));
        assert_eq!(leap.map(|(one, next)| next - one), Some(86_400 * NS_PER_S));
        assert_eq!((instant("5m"), instant("0")), (Some(300 * NS_PER_S), Some(0)));
    }

    #[test]
    fn what_is_no_instant_is_none() {
        for text in [
            "",
            "noon",
            "1.2.3",
            "NaN",
            "2023-02-29 00:00:00",
            "2023-13-01 00:00:00",
            "2023-01-01 24:00:00",
            "2023-01-01",
            "1969-12-31 23:59:59",
            "2023-01-01 00:00:00.x",
            "99999999999999999999",
            "1970-01-01 00:00:00+14:00",
        ] {
            assert_eq!(instant(text), None, "{text}");
        }
    }
}
