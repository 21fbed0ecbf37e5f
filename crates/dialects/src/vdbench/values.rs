//! Values as vdbench reads them: units, lists, ranges, names with stars.

use crate::draft::{share, size};
use crate::rows::{Value, Values};
use crate::words::values::{percent, real, time};

/// No list is longer.
const MOST: usize = 1_000;
const SECOND: u64 = 1_000_000_000;

/// The parts of a value in brackets, or the value alone.
pub fn list(text: &str) -> Vec<String> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    inner.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// The part of a list at this place; empty where it has none.
pub fn part(text: &str, place: usize) -> String {
    list(text).into_iter().nth(place).unwrap_or_default()
}

/// A number with its unit: `k`, `m`, `g` and `t` are powers of 1024.
pub fn number(text: &str) -> Result<f64, String> {
    // Java reads exponents; hexadecimal numbers, products and `kib` are fio's.
    let whole = text.trim().parse().ok().filter(|number| (0.0..=1e18).contains(number));
    let with_unit =
        || real(text, 1024).ok().filter(|_| !text.contains(['i', 'I', 'x', 'X', '*', '(']));
    whole.or_else(with_unit).ok_or_else(|| format!("`{text}` is no number that vdbench reads"))
}

/// A size in bytes, or a whole number.
pub fn bytes(text: &str) -> Result<u64, String> {
    Ok(number(text)? as u64)
}

/// A count, or the first of `(count,divisor)`, divided.
pub fn count(text: &str) -> Result<u64, String> {
    let all = list(text);
    let first = number(all.first().map_or("", String::as_str))?;
    let divisor = all.get(1).map_or(Ok(1.0), |text| number(text))?;
    Ok((first / divisor.max(1.0)) as u64)
}

/// A time in ns, of whole seconds: `m` are minutes, `h` hours.
pub fn duration(text: &str) -> Result<u64, String> {
    let time = time(text, SECOND).map_err(|_| format!("`{text}` is no time"))?;
    Ok(time / SECOND * SECOND)
}

/// What vdbench writes with a point, in millionths.
pub fn millionths(number: f64) -> Value {
    Value::Number((number * 1e6).round() as u64)
}

/// `(1-5,1)`, `(1k-64k,d)` and plain lists.
pub fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let parts = list(text);
    let mut all = Vec::new();
    let mut number_of_part = 0;
    while let Some(part) = parts.get(number_of_part) {
        number_of_part += 1;
        let Some((from, to)) = part.split_once('-').filter(|(from, _)| !from.is_empty()) else {
            all.push(number(part)?);
            continue;
        };
        let (from, to) = (number(from)?, number(to)?);
        let step = parts.get(number_of_part).map(String::as_str).unwrap_or("1");
        number_of_part += 1;
        let mut value = from;
        if step.eq_ignore_ascii_case("d") {
            while value <= to && value > 0.0 && all.len() <= MOST {
                all.push(value);
                value *= 2.0;
            }
        } else {
            let step = number(step)?;
            let down = from > to;
            let is_in = |value: f64| if down { value >= to } else { value <= to };
            while is_in(value) && step > 0.0 && all.len() <= MOST {
                all.push(value);
                value += if down { -step } else { step };
            }
        }
    }
    match (1..=MOST).contains(&all.len()) {
        true => Ok(all),
        false => Err(format!("`{text}` has none or more than {MOST} numbers")),
    }
}

/// Millionths as a whole number.
pub fn millions(millionths: u64) -> u64 {
    millionths.saturating_add(500_000) / 1_000_000
}

/// Sizes as a suite has them, without quotes, and whether they are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// `4KiB`, or `4KiB:70, 8KiB:30`.
    pub text: String,
    /// The largest.
    pub largest: u64,
    /// Their mean, by their shares.
    pub mean: u64,
    /// Whether it is what vdbench does, or comes near to it.
    pub same: bool,
}

/// Sizes with their weights.
fn mix(all: &[(u64, u64)], same: bool) -> Sizes {
    let (mut sum, mut weights) = (0_u128, 0_u128);
    for (bytes, weight) in all {
        sum = sum.saturating_add(u128::from(*bytes) * u128::from(*weight));
        weights += u128::from(*weight);
    }
    let word = |(bytes, weight): &(u64, u64)| format!("{}:{}", plain(*bytes), *weight as f64 / 1e4);
    let words: Vec<String> = all.iter().filter(|(_, weight)| *weight > 0).map(word).collect();
    Sizes {
        text: words.join(", "),
        largest: all.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0),
        mean: u64::try_from(sum / weights.max(1)).unwrap_or(u64::MAX),
        same,
    }
}

/// A size as a suite has it, without quotes.
pub fn plain(bytes: u64) -> String {
    size(bytes).trim_matches('"').to_owned()
}

/// `8k`, `(8k,50,16k,50)`, or, of requests, `(4k,64k,4k)`: from, to, in steps of.
pub fn sizes(text: &str, of_files: bool) -> Result<Sizes, String> {
    let parts = list(text);
    let one_size = |text: &String| match bytes(text)? {
        bytes if of_files || (512..=1 << 30).contains(&bytes) => Ok(bytes),
        bytes => Err(format!("a size of {bytes} bytes; 512 bytes to 1 GiB are in range")),
    };
    match parts.as_slice() {
        [one] => {
            let largest = one_size(one)?;
            Ok(Sizes { text: plain(largest), largest, mean: largest, same: true })
        }
        [from, to, step] if !of_files => {
            let (from, to, step) = (one_size(from)?, one_size(to)?, bytes(step)?);
            if from > to || step == 0 {
                return Err(format!("`{text}` goes from no size to another"));
            }
            let steps = (to - from) / step;
            // Sixteen of them where there are more.
            let each = if steps < 64 { step } else { (steps / 15) * step };
            let all = (0..=steps).map(|k| from + k * each).take_while(|bytes| *bytes <= to);
            let all: Vec<(u64, u64)> = all.map(|bytes| (bytes, 10_000)).collect();
            let mean = from.midpoint(to);
            Ok(Sizes { largest: to, mean, ..mix(&all, steps < 64) })
        }
        parts if parts.len() % 2 == 0 && (2..=128).contains(&parts.len()) => {
            let pair = |pair: &[String]| Ok((one_size(&pair[0])?, percent(&pair[1])?));
            let all = parts.chunks_exact(2).map(pair).collect::<Result<Vec<_>, String>>()?;
            // 0 says that the size lies between what stands around it.
            match of_files && all.iter().any(|(_, weight)| *weight == 0) {
                true => Err("sizes of files at random between two; write them out".to_owned()),
                false => Ok(mix(&all, true)),
            }
        }
        _ => Err(format!("`{text}` is no size, nor sizes with their shares")),
    }
}

/// The sizes of requests that these values say.
pub fn requests(values: &Values) -> Option<Sizes> {
    sizes(values.text("xfersize")?, false).ok()
}

/// A part of files by its bytes: `100g`, or `(100g,4)`, a quarter of it; of a run also a share of
/// all that there could be, which is kept as a text: `50%`.
pub fn extent(text: &str, of_run: bool) -> Result<Value, String> {
    let parts = list(text);
    if of_run && parts.len() != 1 {
        return Err("several sizes, one after the other; write a run for each".to_owned());
    }
    if let Some(share) = parts.first().filter(|part| of_run && part.ends_with('%')) {
        return percent(share).map(|_| Value::Text(share.clone()));
    }
    match count(text)? {
        0 => Err(format!("`{text}` is no size of files")),
        bytes => Ok(Value::Number(bytes)),
    }
}

/// Where requests go: the share of them that goes to random places; `eof` goes on and ends behind
/// the last block.
pub fn seek(text: &str) -> Result<Value, String> {
    let word = text.trim_matches(['(', ')']).to_ascii_lowercase();
    match word.as_str() {
        "eof" | "-1" => Ok(Value::Text("eof".to_owned())),
        "seqnz" | "sequentialnz" => Ok(Value::Number(0)),
        word => match begins(word, &["random", "sequential"]) {
            Some("random") => Ok(Value::Number(1_000_000)),
            Some(_) => Ok(Value::Number(0)),
            None => percent(word).map(Value::Number),
        },
    }
}

/// The word among `words` that this one abbreviates.
pub fn begins(word: &str, words: &[&'static str]) -> Option<&'static str> {
    words.iter().copied().find(|known| word.len() >= 3 && known.starts_with(word))
}

/// Percentages of the target, as a suite has them.
pub fn range(text: &str) -> Result<String, String> {
    let all = list(text);
    let wrong = || format!("`{text}` is no part from one place to another");
    let [from, to] = all.as_slice() else { return Err(wrong()) };
    let is_size = |text: &String| text.ends_with(|c: char| c.is_ascii_alphabetic());
    if is_size(from) || is_size(to) {
        return Err("a `range` in bytes; percentages of the target are understood".to_owned());
    }
    let (low, high) = (percent(from)?, percent(to)?);
    (low < high).then(|| format!("{}-{}", share(low), share(high))).ok_or_else(wrong)
}

/// What a ratio saves, in millionths: 2 saves half.
pub fn saved(text: &str) -> Result<u64, String> {
    let text = part(text, 0);
    let ratio: f64 = text.parse().map_err(|_| format!("`{text}` is no ratio"))?;
    match (1.0..=1_000.0).contains(&ratio) {
        true => Ok(((1.0 - 1.0 / ratio) * 100.0).round() as u64 * 10_000),
        false => Err(format!("`{text}` is no ratio from 1 to 1,000")),
    }
}

/// The shares of the maximum that vdbench's curve has.
const CURVE: [&str; 6] = ["10%", "50%", "70%", "80%", "90%", "100%"];

/// The rates of a run, in millionths; `max` for as fast as it goes.
pub fn rates(text: &str) -> Result<Vec<Value>, String> {
    let text = text.to_ascii_lowercase();
    let max = || Value::Text("max".to_owned());
    match text.trim_matches(['(', ')']) {
        "max" => return Ok(vec![max()]),
        "curve" => return Ok(CURVE.map(|share| Value::Text(share.to_owned())).to_vec()),
        _ => {}
    }
    let all = numbers(&text)?;
    if all.iter().any(|rate| !(1.0..=1e9).contains(rate)) {
        return Err(format!("a rate of `{text}`"));
    }
    // The numbers by which vdbench itself writes its words.
    let words = [9_999_988.0, 9_999_977.0];
    let rate = |rate: f64| if words.contains(&rate) { max() } else { millionths(rate) };
    Ok(all.into_iter().map(rate).collect())
}

/// The sizes of requests of a run, one after the other.
pub fn sizes_in_turn(text: &str) -> Result<Vec<Value>, String> {
    let all: Vec<String> = match is_mix(&list(text)) {
        true => vec![text.to_owned()],
        false => numbers(text)?.iter().map(f64::to_string).collect(),
    };
    let known = |text: String| sizes(&text, false).map(|_| Value::Text(text));
    all.into_iter().map(known).collect()
}

/// Whether a list of sizes is one mix with shares: the even places add up to 100.
fn is_mix(parts: &[String]) -> bool {
    let shares =
        parts.iter().skip(1).step_by(2).map(|part| part.parse::<f64>().unwrap_or(f64::NAN));
    parts.len() >= 4 && parts.len().is_multiple_of(2) && (shares.sum::<f64>() - 100.0).abs() < 1.0
}

/// Whether a name is one that was asked for: `sd1`, `sd*`, `*`, `sd1-sd5`.
pub fn is_asked(pattern: &str, name: &str) -> bool {
    // Runs ask for each workload by name: the plain case is that of large files.
    if !pattern.contains(['-', '*']) {
        return pattern.eq_ignore_ascii_case(name);
    }
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    if let Some((from, to)) = pattern.split_once('-')
        && let (Some(from), Some(to), Some(name)) = (parted(from), parted(to), parted(&name))
    {
        return from.0 == name.0 && to.0 == name.0 && (from.1..=to.1).contains(&name.1);
    }
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut last = "";
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = part;
    }
    rest.is_empty() || (pattern.contains('*') && (last.is_empty() || name.ends_with(last)))
}

/// A name with its number.
fn parted(name: &str) -> Option<(String, u64)> {
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((digits.to_owned(), name[digits.len()..].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_lists_and_names_are_vdbenchs() {
        assert_eq!(bytes("10g"), Ok(10 << 30));
        assert_eq!(bytes("4kb"), Ok(4096));
        assert!(
            bytes("4kib").is_err()
                && bytes("4x").is_err()
                && bytes("-1").is_err()
                && bytes("").is_err()
        );
        for (text, seconds) in [("2h", 7_200), ("10m", 600), ("30", 30), ("1.5", 1)] {
            assert_eq!(duration(text), Ok(seconds * SECOND), "{text}");
        }
        assert_eq!(numbers("(1-5,2)"), Ok(vec![1.0, 3.0, 5.0]));
        assert_eq!(numbers("(100-0,50)"), Ok(vec![100.0, 50.0, 0.0]));
        assert_eq!(numbers("(1k-4k,d)"), Ok(vec![1024.0, 2048.0, 4096.0]));
        assert_eq!(numbers("(8,16,32)"), Ok(vec![8.0, 16.0, 32.0]));
        assert!(numbers("(0-9,0)").is_err() && numbers("()").is_err());
        assert_eq!(count("(64,4)"), Ok(16));
        let mix = sizes("(8k,50,16k,50)", false).expect("a mix");
        assert_eq!((mix.text.as_str(), mix.largest), ("8KiB:50, 16KiB:50", 16_384));
        assert_eq!(mix.mean, 12_288);
        assert_eq!(sizes("(4k,12k,4k)", false).expect("steps").text, "4KiB:1, 8KiB:1, 12KiB:1");
        assert!(!sizes("(512,1m,512)", false).expect("many").same);
        assert!(is_asked("sd*", "sd12") && is_asked("*", "x") && is_asked("SD1", "sd1"));
        assert!(is_asked("sd1-sd5", "sd3") && !is_asked("sd1-sd5", "sd6"));
        assert!(!is_asked("sd1", "sd12") && is_asked("s*2", "sd12") && !is_asked("s*3", "sd12"));
    }
}
