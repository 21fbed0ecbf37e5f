//! Who takes part, and how each is started and read. The same method measures all of them: the CPU time of the whole process and its
//! children, as the shell's `time` counts it.

use super::target::Target;
use crate::shell::Outcome;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// A program that can load the target.
#[derive(Clone, Copy)]
pub enum Contender {
    /// Ours, recording every latency, as always.
    Plimsoll,
    /// fio with io_uring, at its defaults (which record every latency, too).
    Fio,
}

/// What one run came to.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Requests that completed.
    pub ios: u64,
    /// Requests per second.
    pub iops: f64,
    /// CPU time of the whole process, in seconds.
    pub cpu_s: f64,
}

impl Measured {
    /// Requests for each second of CPU time.
    pub fn ios_per_cpu_s(&self) -> f64 {
        if self.cpu_s > 0.0 { self.ios as f64 / self.cpu_s } else { 0.0 }
    }
}

impl Contender {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Plimsoll => "plimsoll",
            Contender::Fio => "fio",
        }
    }

    /// One run of so many seconds on one processor.
    ///
    /// # Errors
    /// It is not installed, fails, or writes something unexpected.
    pub fn run(self, target: &Target, seconds: u32, cpu: u32, binary: &Path) -> Outcome<Measured> {
        let words = match self {
            Contender::Plimsoll => ours(target, seconds, binary),
            Contender::Fio => fio(target, seconds),
        };
        let (out, cpu_s) = timed(&words, cpu)?;
        let json = json(&out).ok_or_else(|| format!("{} wrote no JSON: {out}", self.name()))?;
        let (ios, iops) = match self {
            Contender::Plimsoll => (&json["results"][0]["ios"], &json["results"][0]["iops"]),
            Contender::Fio => (&json["jobs"][0]["read"]["total_ios"], &json["jobs"][0]["read"]["iops"]),
        };
        match (ios.as_u64(), iops.as_f64()) {
            (Some(ios), Some(iops)) => Ok(Measured { ios, iops, cpu_s }),
            _ => Err(format!("{} says nothing of its I/Os: {out}", self.name())),
        }
    }
}

fn ours(target: &Target, seconds: u32, binary: &Path) -> Vec<String> {
    let mut words = vec![binary.display().to_string()];
    let line = "run --rw randread --bs 4k --iodepth 32 --numjobs 1 --json --quiet --existing";
    words.extend(line.split(' ').map(str::to_owned));
    words.extend(["--size".to_owned(), target.bytes.to_string(), "--runtime".to_owned(), seconds.to_string()]);
    words.extend(["--target".to_owned(), target.path.display().to_string()]);
    words.extend(["--out".to_owned(), target.scratch.join("run.plimsoll").display().to_string()]);
    if !target.direct {
        words.push("--buffered".to_owned());
    }
    words
}

fn fio(target: &Target, seconds: u32) -> Vec<String> {
    let line = "fio --name=bench --ioengine=io_uring --rw=randread --bs=4k --iodepth=32 --numjobs=1 --time_based --readonly --output-format=json";
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    words.push(format!("--size={}", target.bytes));
    words.push(format!("--runtime={seconds}"));
    words.push(format!("--filename={}", target.path.display()));
    words.push(format!("--direct={}", u8::from(target.direct)));
    if !target.direct {
        // At its default, fio throws a small file out of the cache each time it begins again from the front.
        words.push("--invalidate=0".to_owned());
    }
    words
}

/// Runs the words on one processor; returns standard output and CPU seconds.
fn timed(words: &[String], cpu: u32) -> Outcome<(String, f64)> {
    // A run file of the round before is ours to remove: nothing is ever overwritten.
    for word in words.iter().filter(|word| word.ends_with(".plimsoll")) {
        let _ = std::fs::remove_file(word);
    }
    let mut shell = Command::new("bash");
    // The last line on standard error is that of `time`; the command's own go elsewhere.
    shell
        .args(["-c", "TIMEFORMAT='%U %S'; time taskset -c \"$0\" \"$@\" 2>/dev/null"])
        .arg(cpu.to_string())
        .args(words);
    let output = shell.stdin(Stdio::null()).output().map_err(|error| format!("bash cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{}` ended with {}", words.join(" "), output.status));
    }
    let times = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = times.trim().lines().last().unwrap_or_default();
    let cpu_s: Option<f64> = last.split_whitespace().map(|word| word.parse::<f64>().ok()).sum();
    let cpu_s = cpu_s.filter(|time| *time > 0.0).ok_or_else(|| format!("`time` said `{last}`"))?;
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), cpu_s))
}

/// The JSON object in a program's output: fio writes warnings before it.
fn json(out: &str) -> Option<Value> {
    serde_json::from_str(&out[out.find('{')?..]).ok()
}
