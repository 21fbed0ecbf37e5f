//! Values as the tools write them: units, expressions, percentages, lists. Each has a [`Notation`].

/// What a bare number and a unit mean to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notation {
    /// What `k` counts: 1024, or 1000. With `ib` behind it, it counts the other one in fio's words.
    pub kilo: u64,
    /// What a size without a unit counts, in bytes.
    pub bare: u64,
    /// What a time without a unit counts, in ns.
    pub second: u64,
    /// Whether `kib` counts what `k` does, not the other one.
    pub is_binary: bool,
    /// Where `b` counts blocks: the bytes of one, 0 where they are not known.
    pub block: Option<u64>,
}

impl Notation {
    /// Bytes and seconds, `k` is 1024.
    pub const PLAIN: Notation =
        Notation { kilo: 1024, bare: 1, second: 1_000_000_000, is_binary: false, block: None };
    /// The same, and `kib` is 1024 as well.
    pub const BINARY: Notation = Notation { is_binary: true, ..Notation::PLAIN };

    /// A count.
    ///
    /// # Errors
    /// The text is none.
    pub fn number(&self, text: &str) -> Result<u64, String> {
        let lower = text.trim().to_ascii_lowercase();
        let short = lower.strip_suffix("ib").filter(|_| self.is_binary);
        // All digits count, which a fraction of 53 bits does not hold.
        match short.unwrap_or(&lower).parse() {
            Ok(number) if number < 1 << 60 => Ok(number),
            _ => number(short.unwrap_or(text), self.kilo),
        }
    }

    /// A size in bytes, at most 1 EiB.
    ///
    /// # Errors
    /// The text is none.
    pub fn size(&self, text: &str) -> Result<u64, String> {
        let is_bare = text.trim().ends_with(|c: char| c.is_ascii_digit());
        let factor = if is_bare { self.bare } else { 1 };
        let blocks = self.block.and_then(|block| {
            let count: u64 = text.strip_suffix('b')?.parse().ok()?;
            Some(count.checked_mul(block).filter(|_| block > 0))
        });
        let size = match blocks {
            Some(size) => size,
            None => self.number(text)?.checked_mul(factor),
        };
        size.filter(|size| *size <= 1 << 60).ok_or_else(|| format!("`{text}` is no size"))
    }
}

/// A size, or a share of the file or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many bytes.
    Bytes(u64),
    /// Millionths of the whole.
    Share(u64),
}

/// No size, count or time is larger.
const LARGEST: f64 = 1e18;

/// A whole number with fio's units: with `kb_base` 1024, `4k` and `4kb` are 4096, and `4kib` is
/// 4000, for compatibility with its first versions; with 1000 it is the other way round.
pub fn number(text: &str, kb_base: u64) -> Result<u64, String> {
    real(text, kb_base).map(|value| value as u64)
}

/// The same with what stands behind its point.
pub fn real(text: &str, kb_base: u64) -> Result<f64, String> {
    let wrong = || format!("`{text}` is no number");
    let text = text.trim();
    let value = match text.strip_prefix('(') {
        Some(_) => expression(text, kb_base)?,
        None => plain(text, kb_base).ok_or_else(wrong)?,
    };
    match value.is_finite() && (0.0..=LARGEST).contains(&value) {
        true => Ok(value),
        false => Err(wrong()),
    }
}

/// A number with its unit.
fn plain(text: &str, kb_base: u64) -> Option<f64> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16).ok().map(|number| number as f64);
    }
    // `$pagesize` was put in already, and fio computes what is around it.
    if text.contains('*') {
        return text.split('*').map(|part| plain(part.trim(), kb_base)).product();
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: f64 = digits.parse().ok()?;
    Some(number * factor(unit.trim(), kb_base)?)
}

fn factor(unit: &str, kb_base: u64) -> Option<f64> {
    let lower = unit.to_ascii_lowercase();
    let (prefix, is_other) = match lower.as_str() {
        "" | "b" => return Some(1.0),
        text if text.ends_with("ib") => (&text[..text.len() - 2], true),
        text if text.len() == 2 && text.ends_with(['i', 'b']) => (&text[..1], false),
        text => (text, false),
    };
    let other = if kb_base == 1000 { 1024_u64 } else { 1000 };
    let base = if is_other { other } else { kb_base };
    let power = ["k", "m", "g", "t", "p"].iter().position(|known| *known == prefix)?;
    Some((base as f64).powi(power as i32 + 1))
}

/// A size, or a share such as `20%`.
pub fn extent(text: &str, kb_base: u64) -> Result<Extent, String> {
    match text.trim().strip_suffix('%') {
        Some(share) => percent(share).map(Extent::Share),
        None => number(text, kb_base).map(Extent::Bytes),
    }
}

/// A percentage in millionths.
pub fn percent(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let number: f64 =
        text.trim_end_matches('%').parse().map_err(|_| format!("`{text}` is no percentage"))?;
    match (0.0..=100.0).contains(&number) {
        true => Ok((number * 10_000.0).round() as u64),
        false => Err(format!("`{text}` is no percentage from 0 to 100")),
    }
}

/// A time in ns; a bare number counts `unit_ns`.
pub fn time(text: &str, unit_ns: u64) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no time");
    let trimmed = text.trim();
    let mut rest = trimmed.strip_prefix('(').map_or(trimmed, |inner| inner.trim_end_matches(')'));
    let mut total = 0.0;
    if rest.is_empty() {
        return Err(wrong());
    }
    // `1h30m` and `1:30:00` are both known.
    if rest.contains(':') {
        return clock(rest).ok_or_else(wrong);
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().map_err(|_| wrong())?;
        let tail = &rest[end..];
        let unit_end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let unit = match tail[..unit_end].trim().to_ascii_lowercase().as_str() {
            "" => unit_ns as f64,
            "ns" | "nsec" => 1.0,
            "us" | "usec" => 1e3,
            "ms" | "msec" => 1e6,
            "s" | "sec" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            "d" => 86_400e9,
            _ => return Err(wrong()),
        };
        total += number * unit;
        rest = &tail[unit_end..];
    }
    if total <= LARGEST { Ok(total as u64) } else { Err(wrong()) }
}

fn clock(text: &str) -> Option<u64> {
    let mut seconds: u64 = 0;
    for part in text.split(':') {
        let number: u64 = part.trim().parse().ok()?;
        seconds = seconds.checked_mul(60)?.checked_add(number)?;
    }
    seconds.checked_mul(1_000_000_000).filter(|ns| (*ns as f64) <= LARGEST)
}

/// A list for reads, writes and trims: where fewer are given, the last counts for the rest; an
/// empty one is not given.
pub fn three<T: Clone>(
    text: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<[Option<T>; 3], String> {
    let mut all = [const { None }; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(format!("`{text}` has more than three parts"));
    }
    for (slot, part) in all.iter_mut().zip(&parts) {
        if !part.trim().is_empty() {
            *slot = Some(read(part)?);
        }
    }
    // `8k,` leaves writes at their default; `8k` is for all.
    let given = parts.len();
    for number in given..3 {
        all[number] = all[given - 1].clone();
    }
    Ok(all)
}

/// Words that a suite can hold.
///
/// # Errors
/// It is empty, longer than 1,000 bytes, or has control characters.
pub fn plain_text(text: &str) -> Result<String, String> {
    match text.len() <= 1_000 && !text.is_empty() && !text.chars().any(char::is_control) {
        true => Ok(text.to_owned()),
        false => Err("a text of at most 1,000 plain bytes".to_owned()),
    }
}

/// Names from one list may not be more.
const MOST_NAMES: usize = 4_096;

/// Names with commas between them; one with `[2-4,7]` in it, for each of these numbers, with as
/// many digits as the first has.
///
/// # Errors
/// A bracket is open, a range is none, or there are too many.
pub fn ranged_list(text: &str) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    let mut depth = 0_i32;
    let outer = |letter: char| {
        depth = (depth + i32::from(letter == '[') - i32::from(letter == ']')).max(0);
        letter == ',' && depth == 0
    };
    for name in text.split(outer).filter(|name| !name.is_empty()) {
        // Each bracket of a name is one call deeper.
        all.extend(ranged(&plain_text(name)?)?);
        if all.len() > MOST_NAMES {
            return Err(format!("more than {MOST_NAMES} names"));
        }
    }
    Ok(all)
}

fn ranged(name: &str) -> Result<Vec<String>, String> {
    let Some((before, rest)) = name.split_once('[') else { return Ok(vec![name.to_owned()]) };
    let (list, behind) = rest.split_once(']').ok_or(format!("`{name}` has an open bracket"))?;
    let (mut all, behind) = (Vec::new(), ranged(behind)?);
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            let is_short = text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<usize>().ok().filter(|_| is_short)
        };
        let range = number(first).zip(number(last)).filter(|(from, to)| from <= to);
        let (from, to) = range.ok_or(format!("`{part}` is no range"))?;
        if (to - from + 1).saturating_mul(behind.len()).saturating_add(all.len()) > MOST_NAMES {
            return Err(format!("more than {MOST_NAMES} names"));
        }
        for number in from..=to {
            let digits = first.len();
            all.extend(behind.iter().map(|end| format!("{before}{number:0digits$}{end}")));
        }
    }
    Ok(all)
}

/// Yes or no; an option by itself means yes.
pub fn flag(text: &str) -> Result<bool, String> {
    match text.trim() {
        "" | "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        other => other
            .parse::<i64>()
            .map(|number| number != 0)
            .map_err(|_| format!("`{other}` is neither yes nor no")),
    }
}

/// An expression in parentheses: `+ - * / % ^`, units behind numbers.
fn expression(text: &str, kb_base: u64) -> Result<f64, String> {
    let mut reader = Expression { rest: text, kb_base, depth: 0 };
    let value = reader.sum()?;
    // A unit may stand behind the parentheses, too.
    let unit = factor(reader.rest.trim(), kb_base)
        .ok_or_else(|| format!("`{text}` does not end where its parentheses do"))?;
    Ok(value * unit)
}

struct Expression<'a> {
    rest: &'a str,
    kb_base: u64,
    depth: usize,
}

impl Expression<'_> {
    /// Takes one of `signs`, if it comes next.
    fn sign(&mut self, signs: &str) -> Option<char> {
        let rest = self.rest.trim_start();
        let next = rest.chars().next().filter(|c| signs.contains(*c))?;
        self.rest = &rest[next.len_utf8()..];
        Some(next)
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.sign("+-") {
            let other = self.product()?;
            value = if sign == '+' { value + other } else { value - other };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.power()?;
        while let Some(sign) = self.sign("*/%") {
            let other = self.power()?;
            if sign != '*' && other == 0.0 {
                return Err("a division by zero".to_owned());
            }
            value = match sign {
                '*' => value * other,
                '/' => value / other,
                _ => value % other,
            };
        }
        Ok(value)
    }

    fn power(&mut self) -> Result<f64, String> {
        let value = self.atom()?;
        match self.sign("^") {
            Some(_) => Ok(value.powf(self.power()?)),
            None => Ok(value),
        }
    }

    fn atom(&mut self) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > 200 {
            return Err("an expression of more than 200 parts".to_owned());
        }
        if self.sign("-").is_some() {
            return Ok(-self.atom()?);
        }
        if self.sign("(").is_some() {
            let value = self.sum()?;
            return match self.sign(")") {
                Some(_) => Ok(value),
                None => Err("an expression without its closing parenthesis".to_owned()),
            };
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
        let value = plain(&rest[..end], self.kb_base)
            .ok_or_else(|| format!("`{}` is no number in an expression", &rest[..end]))?;
        self.rest = &rest[end..];
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_fios() {
        for (text, bytes) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4kib", 4000),
            ("4ki", 4096),
            ("1m", 1 << 20),
            ("0x200", 512),
            ("512", 512),
            ("1.5k", 1536),
            ("(4*1024)", 4096),
            ("(2^4)k", 16 << 10),
            ("(1k+1k)*2", 4096),
            ("8*1024*4096", 32 << 20),
        ] {
            assert_eq!(number(text, 1024), Ok(bytes), "{text}");
        }
        assert_eq!(number("4k", 1000), Ok(4000));
        assert_eq!(number("4kib", 1000), Ok(4096));
        assert!(number("4z", 1024).is_err() && number("", 1024).is_err());
        assert!(number("(1/0)", 1024).is_err());
        assert_eq!(extent("20%", 1024), Ok(Extent::Share(200_000)));
    }

    #[test]
    fn times_and_lists_are_fios() {
        assert_eq!(time("60", 1_000_000_000), Ok(60_000_000_000));
        assert_eq!(time("500ms", 1_000_000_000), Ok(500_000_000));
        assert_eq!(time("1h30m", 1), Ok(5_400_000_000_000));
        assert_eq!(time("1:30", 1), Ok(90_000_000_000));
        assert_eq!(time("2000", 1_000), Ok(2_000_000));
        assert!(time("soon", 1).is_err());
        let sizes = |text| three(text, |part| number(part, 1024));
        assert_eq!(sizes("4k"), Ok([Some(4096); 3]));
        assert_eq!(sizes("4k,8k"), Ok([Some(4096), Some(8192), Some(8192)]));
        assert_eq!(sizes("4k,"), Ok([Some(4096), None, None]));
        assert_eq!(sizes(",8k"), Ok([None, Some(8192), Some(8192)]));
    }
}
