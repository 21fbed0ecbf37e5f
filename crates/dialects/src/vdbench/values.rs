//! Values as vdbench reads them: units, lists, ranges, names with stars.

use crate::draft::size;

/// No list is longer.
const MOST: usize = 1_000;

/// The parts of a value in brackets, or the value alone.
pub fn list(text: &str) -> Vec<String> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    inner.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// A number with its unit: `k`, `m`, `g` and `t` are powers of 1024.
pub fn number(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is no number that vdbench reads");
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &lower[digits.len()..] {
        "" => 1.0,
        "k" | "kb" => 1024.0,
        "m" | "mb" => 1024.0 * 1024.0,
        "g" | "gb" => f64::from(1 << 30),
        "t" | "tb" => 1024.0 * f64::from(1 << 30),
        _ => return Err(wrong()),
    };
    let value: f64 = digits.parse().map_err(|_| wrong())?;
    let value = value * factor;
    (value.is_finite() && (0.0..=1e18).contains(&value)).then_some(value).ok_or_else(wrong)
}

/// A size in bytes.
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

/// A time in s: `m` are minutes, `h` hours.
pub fn seconds(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let (digits, factor) = match lower.as_bytes().last() {
        Some(b'm') => (&lower[..lower.len() - 1], 60.0),
        Some(b'h') => (&lower[..lower.len() - 1], 3_600.0),
        Some(b's') => (&lower[..lower.len() - 1], 1.0),
        _ => (lower.as_str(), 1.0),
    };
    let value: f64 = digits.parse().map_err(|_| format!("`{text}` is no time"))?;
    match (0.0..=1e9).contains(&value) {
        true => Ok((value * factor) as u64),
        false => Err(format!("`{text}` is no time")),
    }
}

/// A percentage in millionths.
pub fn percent(text: &str) -> Result<u64, String> {
    let value: f64 =
        text.trim_end_matches('%').parse().map_err(|_| format!("`{text}` is no percentage"))?;
    match (0.0..=100.0).contains(&value) {
        true => Ok((value * 10_000.0).round() as u64),
        false => Err(format!("`{text}` is no percentage from 0 to 100")),
    }
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

/// The mean of sizes with weights.
#[derive(Debug, Default)]
pub struct Mean {
    sum: u128,
    weights: u128,
}

impl Mean {
    /// Another size with its weight.
    pub fn add(&mut self, bytes: u64, weight: u64) {
        self.sum = self.sum.saturating_add(u128::from(bytes) * u128::from(weight));
        self.weights += u128::from(weight);
    }

    /// The mean so far; 0 of none.
    pub fn value(&self) -> u64 {
        u64::try_from(self.sum / self.weights.max(1)).unwrap_or(u64::MAX)
    }
}

/// `8k`, `(8k,50,16k,50)`, or `(4k,64k,4k)`: from, to, in steps of.
pub fn sizes(text: &str) -> Result<Sizes, String> {
    let parts = list(text);
    let plain = |bytes: u64| size(bytes).trim_matches('"').to_owned();
    let inside = |bytes: u64| match (512..=1 << 30).contains(&bytes) {
        true => Ok(bytes),
        false => Err(format!("a size of {bytes} bytes; 512 bytes to 1 GiB are in range")),
    };
    match parts.as_slice() {
        [one] => {
            let largest = inside(bytes(one)?)?;
            Ok(Sizes { text: plain(largest), largest, mean: largest, same: true })
        }
        [from, to, step] => {
            let (from, to, step) = (inside(bytes(from)?)?, inside(bytes(to)?)?, bytes(step)?);
            if from > to || step == 0 {
                return Err(format!("`{text}` goes from no size to another"));
            }
            let steps = (to - from) / step;
            // Sixteen of them where there are more.
            let each = if steps < 64 { step } else { (steps / 15) * step };
            let all = (0..=steps).map(|k| from + k * each).take_while(|bytes| *bytes <= to);
            let text: Vec<String> = all.map(|bytes| format!("{}:1", plain(bytes))).collect();
            let mean = from.midpoint(to);
            Ok(Sizes { text: text.join(", "), largest: to, mean, same: steps < 64 })
        }
        parts if parts.len() % 2 == 0 && (2..=128).contains(&parts.len()) => {
            let (mut all, mut largest, mut mean) = (Vec::new(), 0, Mean::default());
            for pair in parts.chunks_exact(2) {
                let (bytes, weight) = (inside(bytes(&pair[0])?)?, percent(&pair[1])?);
                largest = largest.max(bytes);
                mean.add(bytes, weight);
                if weight > 0 {
                    all.push(format!("{}:{}", plain(bytes), weight as f64 / 1e4));
                }
            }
            Ok(Sizes { text: all.join(", "), largest, mean: mean.value(), same: true })
        }
        _ => Err(format!("`{text}` is no size, nor sizes with their shares")),
    }
}

/// What becomes of `totalsize`.
pub const TOTAL: &str = "`files`: as many as make these bytes";
/// What becomes of `workingsetsize`.
pub const WORKING_SET: &str = "`files`: as many as make these bytes; those that no request would \
go to are not made";

/// A part of the files, by its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many of them.
    Bytes(u64),
    /// Millionths of all that there could be.
    Share(u64),
}

impl Extent {
    /// `100g`, or `(100g,4)`, a quarter of it.
    ///
    /// # Errors
    /// It is no size above 0.
    pub fn of_files(text: &str) -> Result<Extent, String> {
        let parts = list(text);
        let first = bytes(parts.first().map_or("", String::as_str))?;
        let divisor = parts.get(1).map_or(Ok(1.0), |part| number(part))?.max(1.0);
        match (first as f64 / divisor) as u64 {
            0 => Err(format!("`{text}` is no size of files")),
            bytes => Ok(Extent::Bytes(bytes)),
        }
    }

    /// The same of a run, where it may also be a share: `50%`.
    ///
    /// # Errors
    /// It is neither, or several, one after the other.
    pub fn of_run(text: &str) -> Result<Extent, String> {
        let parts = list(text);
        let [one] = parts.as_slice() else {
            return Err("several sizes, one after the other; write a run for each".to_owned());
        };
        match one.strip_suffix('%') {
            Some(share) => percent(share).map(Extent::Share),
            None => Extent::of_files(one),
        }
    }

    /// Its bytes, of so many.
    pub fn of(self, all: u64) -> u64 {
        match self {
            Extent::Bytes(bytes) => bytes,
            Extent::Share(ppm) => (u128::from(all) * u128::from(ppm) / 1_000_000) as u64,
        }
    }
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
        assert!(bytes("4x").is_err() && bytes("-1").is_err() && bytes("").is_err());
        assert_eq!((seconds("2h"), seconds("10m"), seconds("30")), (Ok(7_200), Ok(600), Ok(30)));
        assert_eq!(numbers("(1-5,2)"), Ok(vec![1.0, 3.0, 5.0]));
        assert_eq!(numbers("(100-0,50)"), Ok(vec![100.0, 50.0, 0.0]));
        assert_eq!(numbers("(1k-4k,d)"), Ok(vec![1024.0, 2048.0, 4096.0]));
        assert_eq!(numbers("(8,16,32)"), Ok(vec![8.0, 16.0, 32.0]));
        assert!(numbers("(0-9,0)").is_err() && numbers("()").is_err());
        assert_eq!(count("(64,4)"), Ok(16));
        let mix = sizes("(8k,50,16k,50)").expect("a mix");
        assert_eq!((mix.text.as_str(), mix.largest), ("8KiB:50, 16KiB:50", 16_384));
        assert_eq!(mix.mean, 12_288);
        assert_eq!(sizes("(4k,12k,4k)").expect("steps").text, "4KiB:1, 8KiB:1, 12KiB:1");
        assert!(!sizes("(512,1m,512)").expect("many").same);
        assert!(is_asked("sd*", "sd12") && is_asked("*", "x") && is_asked("SD1", "sd1"));
        assert!(is_asked("sd1-sd5", "sd3") && !is_asked("sd1-sd5", "sd6"));
        assert!(!is_asked("sd1", "sd12") && is_asked("s*2", "sd12") && !is_asked("s*3", "sd12"));
    }
}
