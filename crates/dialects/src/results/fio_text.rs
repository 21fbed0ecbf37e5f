//! What fio prints without `--output-format` (its HOWTO, *Interpreting the output*), of versions
//! 2 and 3. Figures are rounded there: to four digits, latencies to 10 ns in their unit.

use super::{Results, doubt, left_out, numbers};
use crate::import::ImportError;
use model::Op;
use model::foreign::{
    DoubtKind, Form, GivenOption, GivenRow, Measured, Quantity, Span, Statistic, short,
};
use std::collections::BTreeMap;

/// No line of fio is longer.
const MOST_LINE: usize = 2_000;
/// No output begins more jobs.
const MOST_HEADS: usize = 10_000;

/// Whether a text has the head of a job's results.
pub fn is_output(text: &str) -> bool {
    text.lines().any(|line| head(line).is_some())
        && text.lines().any(|line| direction(line).is_some())
}

/// `name: (groupid=0, jobs=1): err= 0: pid=…`.
struct Head<'a> {
    name: &'a str,
    jobs: f64,
    errno: f64,
}

fn head(line: &str) -> Option<Head<'_>> {
    let line = line.get(..MOST_LINE.min(line.len())).unwrap_or_default();
    let (name, rest) = line.split_once(": (groupid=")?;
    let jobs = rest.split_once("jobs=")?.1.split(')').next()?;
    let errno = rest.split_once("err=")?.1.trim_start().split([':', ' ']).next()?;
    Some(Head { name, jobs: numbers::number(jobs)?, errno: numbers::number(errno)? })
}

/// The direction that a line begins, and what stands behind its colon.
fn direction(line: &str) -> Option<(Option<Op>, &str)> {
    let (word, rest) = line.trim().split_once(':')?;
    let op = match word.trim() {
        "read" => Some(Op::Read),
        "write" => Some(Op::Write),
        "trim" => Some(Op::Trim),
        "mixed" => None,
        _ => return None,
    };
    let rest = rest.trim();
    (rest.starts_with("IOPS=") || rest.starts_with("io=")).then_some((op, rest))
}

/// Which rows the lines below belong to.
#[derive(Default)]
struct Reader {
    /// What the lines before the results say of jobs, by their names.
    options: BTreeMap<String, Vec<GivenOption>>,
    workload: String,
    group: u32,
    jobs: f64,
    errno: f64,
    /// The rows of the job that is being read.
    rows: Vec<GivenRow>,
    /// Of which latencies percentiles come now, and the ns of their unit.
    percentiles: Option<(Span, f64)>,
    is_over: bool,
}

/// What fio printed.
///
/// # Errors
/// No job in it did a request.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut results = Results::new(Form::FioText);
    let mut reader = Reader { is_over: true, ..Reader::default() };
    let (lines, mut left) = (text.lines().count(), 0);
    for (number, line) in (1..).zip(text.lines()) {
        // Half a line at the end of what was cut off has half a number in it.
        if number == lines && !text.ends_with('\n') && !reader.is_over {
            left += 1;
            break;
        }
        left += usize::from(!reader.is_over && has_impossible(line));
        let line = line.get(..MOST_LINE.min(line.len())).unwrap_or_default();
        if results.tool_version.is_empty() && line.starts_with("fio-") {
            results.tool_version = short(line.trim());
        }
        if let Some(head) = head(line) {
            reader.taken(name, &mut results)?;
            reader.begin(&head);
            if head.errno > 0.0 {
                doubt(&mut results, DoubtKind::Errors, head.name, Some((head.errno, 0.0)));
            }
        } else if line.starts_with("Run status group") {
            reader.is_over = true;
        } else if !reader.is_over {
            reader.line(&format!("{name}:{number}"), line.trim());
        } else {
            reader.announced(line);
        }
    }
    reader.taken(name, &mut results)?;
    left_out(&mut results, name, lines, left);
    if results.rows.is_empty() {
        let remedy = "name what `fio` printed, to its end";
        return Err(ImportError::new(name, "no job of it did a request", remedy));
    }
    Ok(results)
}

/// Whether a line assigns what is no number to a figure: it is left out.
fn has_impossible(line: &str) -> bool {
    ["IOPS", "iops", "avg", "min", "max", "stdev"].iter().any(|key| {
        let value = assigned(line, key).and_then(|value| value.split(' ').next());
        value.is_some_and(|value| {
            !value.is_empty() && !scaled(value).is_some_and(model::foreign::is_value)
        })
    })
}

impl Reader {
    /// Hands over the rows of a job that is over.
    fn taken(&mut self, name: &str, results: &mut Results) -> Result<(), ImportError> {
        if !self.rows.is_empty() {
            self.group += 1;
        }
        self.rows.drain(..).try_for_each(|row| results.push(name, row))
    }

    fn begin(&mut self, head: &Head<'_>) {
        self.workload = short(head.name);
        (self.jobs, self.errno) = (head.jobs, head.errno);
        (self.percentiles, self.is_over) = (None, false);
    }

    /// `a: (g=0): rw=randrw, bs=(R) 4096B-4096B, …, ioengine=libaio, iodepth=4`.
    fn announced(&mut self, line: &str) {
        let Some((name, rest)) = line.split_once(": (g=") else { return };
        let Some((_, rest)) = rest.split_once("): ") else { return };
        if self.options.len() >= MOST_HEADS {
            return;
        }
        let mut all = Vec::new();
        for word in rest.split(", ").filter(|word| word.contains('=')).take(20) {
            if let Some((key, value)) = word.split_once('=') {
                let key = if key == "rw" || key == "bs" { key } else { key.trim() };
                all.push(GivenOption { name: short(key), value: short(value.trim()) });
            }
        }
        self.options.insert(short(name), all);
    }

    fn line(&mut self, place: &str, line: &str) {
        if let Some((op, rest)) = direction(line) {
            self.row(place, op, rest);
        } else if let Some((span, unit)) = title(line) {
            if line.contains("percentiles") {
                self.percentiles = Some((span, unit));
            } else {
                self.latencies(line, span, unit);
            }
        } else if let Some(rest) = line.strip_prefix('|') {
            self.percentile(rest);
        } else if line.starts_with("bw ") {
            self.bandwidths(line);
        } else if let Some(rest) = line.strip_prefix("iops ") {
            self.rates(rest);
        } else if let Some(rest) = line.strip_prefix("cpu ") {
            let rest = rest.trim_start_matches([' ', ':']);
            for (key, measured) in [("usr", Measured::CpuUser), ("sys", Measured::CpuSystem)] {
                let value = assigned(rest, key).and_then(percent);
                self.rows.iter_mut().for_each(|row| row.add(Quantity::whole(measured), value));
            }
        } else if line.starts_with("issued") {
            self.issued(line);
        }
    }

    fn row(&mut self, place: &str, op: Option<Op>, rest: &str) {
        let mut row = GivenRow::new(&self.workload, op, place);
        row.group = self.group;
        row.options = self.options.get(&self.workload).cloned().unwrap_or_default();
        match rest.starts_with("IOPS=") {
            true => of_version_3(rest, &mut row),
            false => of_version_2(rest, &mut row),
        }
        row.add(Quantity::whole(Measured::Errno), Some(self.errno));
        let depth = row.option("iodepth").and_then(numbers::number);
        row.add(Quantity::whole(Measured::Allowed), depth.map(|depth| depth * self.jobs));
        self.percentiles = None;
        self.rows.push(row);
    }

    fn latencies(&mut self, line: &str, span: Span, unit: f64) {
        let Some(row) = self.rows.last_mut() else { return };
        for (key, statistic) in [
            ("min", Statistic::Least),
            ("max", Statistic::Most),
            ("avg", Statistic::Mean),
            ("stdev", Statistic::StdDev),
        ] {
            let value = assigned(line, key).and_then(scaled).map(|value| value * unit);
            row.add(Quantity::latency(span, statistic), value);
        }
    }

    /// `| 1.00th=[   25], 5.00th=[   34],`.
    fn percentile(&mut self, line: &str) {
        let (Some((span, unit)), Some(row)) = (self.percentiles, self.rows.last_mut()) else {
            return;
        };
        for cell in line.split("],").take(30) {
            let Some((share, value)) = cell.split_once("th=[") else { continue };
            let value = numbers::number(value.trim_end_matches([']', ' '])).map(|v| v * unit);
            let statistic = numbers::number(share).and_then(Statistic::percentile);
            if let Some(statistic) = statistic {
                row.add(Quantity::latency(span, statistic), value);
            }
        }
    }

    /// `bw (  KiB/s): min= 9373, max=11142, per=49.43%, avg=10512.33, stdev=988.51, samples=3`.
    fn bandwidths(&mut self, line: &str) {
        let unit = line.split_once('(').and_then(|(_, rest)| rest.split_once("/s)"));
        let unit = unit.and_then(|(word, _)| bytes_of(word.trim()));
        let (Some(unit), Some(row)) = (unit, self.rows.last_mut()) else { return };
        moments(line, Measured::Bandwidth, unit, row);
    }

    fn rates(&mut self, line: &str) {
        if let Some(row) = self.rows.last_mut() {
            moments(line, Measured::Rate, 1.0, row);
        }
    }

    /// `issued rwts: total=5420,5458,0,0 short=0,0,0,0 dropped=0,0,0,0`; of version 2, `issued :
    /// total=r=0/w=262144/d=0, short=…`.
    fn issued(&mut self, line: &str) {
        let of = |key: &str, nth: usize| {
            let (_, rest) = line.split_once(&format!("{key}="))?;
            let list = rest.split(' ').next()?.trim_end_matches(',');
            let cell = list.split([',', '/']).nth(nth)?;
            numbers::number(cell.split('=').next_back()?)
        };
        for row in &mut self.rows {
            let nth = match row.op {
                Some(Op::Read) => 0,
                Some(Op::Write) => 1,
                Some(Op::Trim) => 2,
                _ => continue,
            };
            for (key, measured) in [
                ("total", Measured::Requests),
                ("short", Measured::Short),
                ("dropped", Measured::Dropped),
            ] {
                row.add(Quantity::whole(measured), of(key, nth));
            }
        }
    }
}

/// `IOPS=2708, BW=10.6MiB/s (11.1MB/s)(21.2MiB/2001msec); 0 zone resets`.
fn of_version_3(rest: &str, row: &mut GivenRow) {
    row.add(Quantity::whole(Measured::Rate), assigned(rest, "IOPS").and_then(scaled));
    let bandwidth = assigned(rest, "BW").and_then(|word| word.split("/s").next());
    row.add(Quantity::whole(Measured::Bandwidth), bandwidth.and_then(sized));
    let amount = rest.rsplit_once('(').and_then(|(_, rest)| rest.split(')').next());
    if let Some((bytes, time)) = amount.and_then(|amount| amount.split_once('/')) {
        row.add(Quantity::whole(Measured::Bytes), sized(bytes));
        row.add(Quantity::whole(Measured::Time), timed(time));
    }
}

/// `io=1024.0MB, bw=68118KB/s, iops=17029, runt= 15393msec`.
fn of_version_2(rest: &str, row: &mut GivenRow) {
    let bandwidth = assigned(rest, "bw").and_then(|word| word.split("/s").next());
    row.add(Quantity::whole(Measured::Bandwidth), bandwidth.and_then(of_1024));
    row.add(Quantity::whole(Measured::Rate), assigned(rest, "iops").and_then(scaled));
    row.add(Quantity::whole(Measured::Bytes), assigned(rest, "io").and_then(of_1024));
    row.add(Quantity::whole(Measured::Time), assigned(rest, "runt").and_then(timed));
}

fn moments(line: &str, measured: Measured, unit: f64, row: &mut GivenRow) {
    for (key, statistic) in [
        ("min", Statistic::Least),
        ("max", Statistic::Most),
        ("avg", Statistic::Mean),
        ("stdev", Statistic::StdDev),
        ("samples", Statistic::Count),
    ] {
        let unit = if statistic == Statistic::Count { 1.0 } else { unit };
        let value = assigned(line, key).and_then(scaled).map(|value| value * unit);
        row.add(Quantity::of(measured, statistic), value);
    }
}

/// `slat (usec): …` and `clat percentiles (usec):`: of what, and the ns of the unit.
fn title(line: &str) -> Option<(Span, f64)> {
    let span = match line.split([' ', '(']).next()? {
        "slat" => Span::Submission,
        "clat" => Span::Completion,
        "lat" => Span::Total,
        _ => return None,
    };
    // Shares of latencies have the same beginning; they are no moments.
    let has_moments = line.contains("min=") || line.contains("percentiles");
    let unit = line.split_once('(')?.1.split(')').next()?;
    let unit = match unit.trim() {
        "nsec" => 1.0,
        "usec" => 1e3,
        "msec" => 1e6,
        "sec" => 1e9,
        _ => return None,
    };
    has_moments.then_some((span, unit))
}

/// The value behind `key=`, up to the comma.
fn assigned<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let mut from = 0;
    while let Some(at) = line[from..].find(key).map(|at| at + from) {
        let is_word = !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let behind = &line[at + key.len()..];
        if is_word && let Some(value) = behind.strip_prefix('=') {
            return value.split(',').next().map(str::trim);
        }
        from = at + key.len();
    }
    None
}

/// A number, perhaps with `k` or `M` for thousands: `52.3k`.
fn scaled(word: &str) -> Option<f64> {
    let word = word.trim();
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &word[digits.len()..] {
        "" => 1.0,
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        "g" | "G" => 1e9,
        _ => return None,
    };
    Some(numbers::number(digits)? * factor)
}

fn percent(word: &str) -> Option<f64> {
    numbers::number(word.trim_end_matches('%'))
}

/// The bytes of a unit of version 3; of version 2, `KB` and `KB  ` are 1024.
fn bytes_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "B" => 1.0,
        "KiB" | "KB" | "Ki" => 1024.0,
        "kB" => 1e3,
        "MiB" => 1_048_576.0,
        "MB" => 1e6,
        "GiB" => 1_073_741_824.0,
        "GB" => 1e9,
        "TiB" => 1_099_511_627_776.0,
        "TB" => 1e12,
        _ => return None,
    })
}

fn parted(word: &str) -> (&str, &str) {
    let word = word.trim();
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    (digits, &word[digits.len()..])
}

/// `10.6MiB`, of version 3.
fn sized(word: &str) -> Option<f64> {
    let (digits, unit) = parted(word);
    Some(numbers::number(digits)? * bytes_of(unit)?)
}

/// `1024.0MB`, of version 2, where they are powers of 1024.
fn of_1024(word: &str) -> Option<f64> {
    let (digits, unit) = parted(word);
    let factor = match unit {
        "" | "B" => 1.0,
        "KB" | "KiB" => 1024.0,
        "MB" | "MiB" => 1_048_576.0,
        "GB" | "GiB" => 1_073_741_824.0,
        "TB" | "TiB" => 1_099_511_627_776.0,
        _ => return None,
    };
    Some(numbers::number(digits)? * factor)
}

/// `2001msec` in ns.
fn timed(word: &str) -> Option<f64> {
    let (digits, unit) = parted(word);
    let unit = match unit {
        "usec" => 1e3,
        "msec" => 1e6,
        "sec" => 1e9,
        _ => return None,
    };
    Some(numbers::number(digits)? * unit)
}

#[cfg(test)]
mod tests {
    use super::super::{detect, read};
    use super::*;

    /// Made up, in the form of fio 3.33.
    const OUTPUT: &str = "\
db: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, \
iodepth=4
fio-3.33
Starting 2 processes

db: (groupid=0, jobs=2): err= 5: pid=6695: Wed Nov 25 19:53:54 2026
  Description  : [a, b: c]
  read: IOPS=12.5k, BW=48.8MiB/s (51.2MB/s)(488MiB/10000msec)
    slat (nsec): min=900, max=29267, avg=1300.97, stdev=1018.57
    clat (usec): min=3, max=67.7k, avg=547.08, stdev=2454.88
     lat (usec): min=48, max=67716, avg=548.05, stdev=2696.08
    clat percentiles (msec):
     |  1.00th=[    1],  5.00th=[    2], 50.00th=[    3],
     | 99.99th=[   60]
   bw (  KiB/s): min= 9373, max=11142, per=49.43%, avg=10512.33, stdev=988.51, samples=3
   iops        : min= 2343, max= 2785, avg=2627.67, stdev=246.98, samples=3
  write: IOPS=100, BW=400KiB/s (410kB/s)(4000KiB/10000msec); 0 zone resets
     lat (usec): min=22, max=67685, avg=570.21, stdev=2434.25
  lat (usec)   : 4=0.01%, 20=0.13%, 50=11.59%
  cpu          : usr=2.35%, sys=11.15%, ctx=5587, majf=0, minf=13
     issued rwts: total=125000,1000,0,0 short=0,2,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
   READ: bw=48.8MiB/s (51.2MB/s), io=488MiB (512MB), run=10000-10000msec
";

    /// Made up, in the form of fio 2.2.
    const OLD: &str = "\
old: (g=0): rw=write, bs=4K-4K/4K-4K/4K-4K, ioengine=psync, iodepth=1
fio-2.2.10
old: (groupid=0, jobs=1): err= 0: pid=77: Mon Jan  4 10:00:00 2016
  write: io=1024.0MB, bw=68118KB/s, iops=17029, runt= 15393msec
    clat (usec): min=20, max=9000, avg=55.10, stdev= 3.00
     | 99.00th=[   80]
    bw (KB  /s): min=60000, max=70000, per=100.00%, avg=68000.00, stdev=99.00
  cpu          : usr=1.00%, sys=2.00%, ctx=1, majf=0, minf=1
     issued    : total=r=0/w=262144/d=0, short=r=0/w=0/d=0
";

    #[test]
    fn jobs_with_their_directions_and_units_are_read() {
        assert_eq!(detect(OUTPUT), Some(Form::FioText));
        let results = read("f.txt", OUTPUT, Form::FioText).expect("results");
        let rows: Vec<(&str, Option<Op>)> =
            results.rows.iter().map(|row| (row.workload.as_str(), row.op)).collect();
        assert_eq!(rows, [("db", Some(Op::Read)), ("db", Some(Op::Write))]);
        let row = &results.rows[0];
        let whole = |measured| row.get(Quantity::whole(measured));
        assert_eq!(whole(Measured::Rate), Some(12_500.0));
        assert_eq!(whole(Measured::Bandwidth), Some(48.8 * 1_048_576.0));
        assert_eq!(whole(Measured::Time), Some(1e10));
        assert_eq!(whole(Measured::Requests), Some(125_000.0));
        assert_eq!(whole(Measured::Allowed), Some(8.0));
        let of = |span, statistic| row.get(Quantity::latency(span, statistic));
        assert_eq!(of(Span::Submission, Statistic::Least), Some(900.0));
        assert_eq!(of(Span::Completion, Statistic::Most), Some(67_700e3));
        assert_eq!(of(Span::Completion, Statistic::Quantile(999_900_000)), Some(60e6));
        let mean = row.get(Quantity::of(Measured::Bandwidth, Statistic::Mean));
        assert_eq!(mean, Some(10_512.33 * 1024.0));
        let write = &results.rows[1];
        assert_eq!(write.get(Quantity::whole(Measured::Short)), Some(2.0));
        assert_eq!(write.get(Quantity::whole(Measured::Bandwidth)), Some(400.0 * 1024.0));
        let kinds: Vec<DoubtKind> = results.doubts.iter().map(|doubt| doubt.kind).collect();
        assert_eq!(kinds, [DoubtKind::Errors]);
    }

    #[test]
    fn version_2_counts_in_powers_of_1024() {
        let results = read("f.txt", OLD, Form::FioText).expect("results");
        let row = &results.rows[0];
        let whole = |measured| row.get(Quantity::whole(measured));
        assert_eq!(whole(Measured::Bytes), Some(f64::from(1 << 30)));
        assert_eq!(whole(Measured::Bandwidth), Some(68_118.0 * 1024.0));
        assert_eq!(whole(Measured::Requests), Some(262_144.0));
        assert_eq!(results.tool(), "fio-2.2.10");
        assert_eq!(results.doubts, []);
    }

    #[test]
    fn what_is_no_output_is_an_error() {
        assert_eq!(detect("a: (groupid=0, jobs=1): err= 0: pid=1\n"), None);
        assert!(super::read("f.txt", "a: (groupid=0, jobs=1): err= 0: pid=1\n").is_err());
    }
}
