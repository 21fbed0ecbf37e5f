//! A part of a configuration of Iometer: the setup, a line of a specification, a worker.

use super::OPTIONS;
use crate::apart::inside;
use crate::loss::{OptionId, Verdict};
use crate::rows::{Given, Reads, Row, Value, Values};
use crate::words::values::{Notation, plain_text};

/// How a number of something goes up from test to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The first.
    pub start: u64,
    /// The last, where it is said.
    pub end: Option<u64>,
    /// What is added, or multiplied by.
    pub step: u64,
    /// Whether it is multiplied.
    pub exponential: bool,
}

impl Cycle {
    /// The number behind this one.
    pub fn after(&self, at: u64) -> u64 {
        match self.exponential {
            true => at.saturating_mul(self.step.max(2)),
            false => at.saturating_add(self.step.max(1)),
        }
    }
}

/// A part, with what its entries say.
#[derive(Clone)]
pub struct Part {
    /// The manager of a worker, by number.
    pub manager: usize,
    /// The values.
    pub values: Values,
    /// `Assigned access specs` of a worker, by name.
    pub specs: Vec<(String, OptionId)>,
    /// The targets of a worker.
    pub targets: Vec<Target>,
}

/// A target of a worker.
#[derive(Clone)]
pub struct Target {
    /// Its name in Iometer.
    pub name: String,
    /// The path that stands for it, if there is one.
    pub path: Option<String>,
    /// What named it.
    pub id: OptionId,
}

impl Part {
    /// An empty one, of this manager.
    pub fn of(manager: usize) -> Part {
        let values = Values::of(&OPTIONS);
        Part { manager, values, specs: Vec::new(), targets: Vec::new() }
    }

    /// The names of its targets in Iometer.
    pub fn names(&self) -> Vec<&str> {
        self.targets.iter().map(|target| target.name.as_str()).collect()
    }
}

impl Reads for Part {
    fn values(&mut self) -> &mut Values {
        &mut self.values
    }

    fn decide(&mut self, row: &Row, given: &Given) -> Result<Verdict, String> {
        let text = given.value.as_str();
        let number = |slot: &str| self.values.number(slot);
        match row.slot.unwrap_or(row.name) {
            "time" => {
                self.values.forget("time");
                let seconds = seconds(text)?;
                self.values.put("time", Value::Number(seconds), given.id);
                if seconds == 0 {
                    return Ok(Verdict::near("60 s: Iometer runs until somebody stops it"));
                }
            }
            "workers" if text != "NUMBER_OF_CPUS" => {
                self.values.forget("workers");
                let many = Notation::PLAIN.number(text)?;
                self.values.put("workers", Value::Number(many), given.id);
            }
            "worker_cycle" | "depth_cycle" => {
                cycle(text)?;
                return Ok(Verdict::harmless("`Test Type` does not ask for it"));
            }
            "cycled" if !["NORMAL", "CYCLE_OUTSTANDING_IOS", "CYCLE_WORKERS"].contains(&text) => {
                return Err("a sweep over targets".to_owned());
            }
            "size" if !number("size").is_some_and(|size| (512..=1 << 30).contains(&size)) => {
                self.values.forget("size");
                return Err("requests of 512 bytes to 1 GiB".to_owned());
            }
            "reply" if ["", "0"].contains(&text) => {
                return Ok(Verdict::harmless("this value asks for nothing"));
            }
            "seeded" if text != "ENABLED" => {
                let why = "each run has a seed, which the run file holds";
                return Ok(Verdict::harmless(why));
            }
            "seed" if self.values.text("seeded") != Some("ENABLED") => {
                self.values.forget("seed");
                return Ok(Verdict::harmless("no fixed seed is asked for"));
            }
            "pattern" if number("pattern") != Some(0) => {
                return Ok(Verdict::same("no two blocks are alike"));
            }
            "Assigned access specs" => self.specs.push((given.value.clone(), given.id)),
            "Target" => {
                let (path, verdict) = target(text)?;
                self.targets.push(Target { name: given.value.clone(), path, id: given.id });
                return Ok(verdict);
            }
            _ => {}
        }
        Ok(row.verdict(text))
    }
}

/// `0 2 30`: hours, minutes and seconds.
fn seconds(text: &str) -> Result<u64, String> {
    let number = |word| Notation::PLAIN.number(word);
    let parts: Vec<u64> = text.split_whitespace().map(number).collect::<Result<_, _>>()?;
    let [hours, minutes, seconds] = parts[..] else {
        return Err("hours, minutes and seconds".to_owned());
    };
    let all = hours.checked_mul(60).and_then(|all| all.checked_add(minutes));
    let all = all.and_then(|all| all.checked_mul(60)?.checked_add(seconds));
    all.filter(|all| *all <= 1 << 30).ok_or_else(|| "a time of at most 34 years".to_owned())
}

/// `1 5 1 LINEAR`, or with an end `1 64 2 EXPONENTIAL`.
pub fn cycle(text: &str) -> Result<Cycle, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let wrong = || "a start, a step and its kind".to_owned();
    let (kind, numbers) = words.split_last().ok_or_else(wrong)?;
    let number = |word: &&str| Notation::PLAIN.number(word);
    let numbers: Vec<u64> = numbers.iter().map(number).collect::<Result<_, _>>()?;
    let exponential = *kind == "EXPONENTIAL";
    match numbers[..] {
        [start, step] => Ok(Cycle { start, end: None, step, exponential }),
        [start, end, step] => Ok(Cycle { start, end: Some(end), step, exponential }),
        _ => Err(wrong()),
    }
}

/// The path that stands for a target: `sdb`, `/dev/sdb`, `/mnt/x [ext4]`, `C: "System"`,
/// `PHYSICALDRIVE:1`.
fn target(text: &str) -> Result<(Option<String>, Verdict), String> {
    plain_text(text)?;
    let path = text.split(" [").next().unwrap_or(text).trim();
    let is_name = path.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    Ok(if path.starts_with("/dev/") {
        (Some(path.to_owned()), Verdict::same("target"))
    } else if path.starts_with('/') {
        let why = "files of Plimsoll's own, in `plimsoll-data` there; not `iobw.tst`";
        (Some(inside(path)), Verdict::near(why))
    } else if is_name {
        (Some(format!("/dev/{path}")), Verdict::same("target"))
    } else {
        (None, Verdict::near("a drive of Windows; name the target with `--target`"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_an_end_or_none() {
        let linear = Cycle { start: 1, end: None, step: 5, exponential: false };
        assert_eq!(cycle("1 5 LINEAR"), Ok(linear));
        let deep = Cycle { start: 1, end: Some(64), step: 2, exponential: true };
        assert_eq!(cycle("1 64 2 EXPONENTIAL"), Ok(deep));
        assert!(cycle("").is_err() && cycle("1 LINEAR").is_err() && cycle("a b c d").is_err());
    }

    #[test]
    fn targets_are_devices_directories_or_drives() {
        let path = |text: &str| target(text).expect("one").0;
        assert_eq!(path("sdb"), Some("/dev/sdb".to_owned()));
        assert_eq!(path("/mnt/x [ext4]"), Some("/mnt/x/plimsoll-data".to_owned()));
        assert_eq!(path("C: \"System\""), None);
        assert_eq!(path("PHYSICALDRIVE:1"), None);
        assert!(target("a\u{7}").is_err());
    }
}
