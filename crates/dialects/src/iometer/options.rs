//! What a configuration of Iometer can say, by section.

use super::{Cycle, Cycled, Line, Setup, Target, Worker};
use crate::loss::{Class, Verdict};
use crate::mpi::job::{Got, inside, same};
use crate::table::{Opt, Rule, Takes};

/// In `TEST SETUP`.
pub const SETUP: &[Opt<Setup>] = &[
    Opt {
        name: "Test Description",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "the suite's `description`", |setup, given| {
            same(&mut setup.description, given, given.value.clone(), "`description`")
        }),
    },
    Opt {
        name: "Run Time",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`stages.measure`", |setup, given| {
            let parts: Vec<u64> =
                given.value.split_whitespace().map(number).collect::<Result<_, _>>()?;
            let [hours, minutes, seconds] = parts[..] else {
                return Err("hours, minutes and seconds".to_owned());
            };
            let all = hours.checked_mul(60).and_then(|all| all.checked_add(minutes));
            let all = all.and_then(|all| all.checked_mul(60)?.checked_add(seconds));
            match all.filter(|all| *all <= 1 << 30) {
                Some(0) => {
                    same(&mut setup.time, given, 0, "")?;
                    Ok(Verdict::near("60 s: Iometer runs until somebody stops it"))
                }
                Some(all) => same(&mut setup.time, given, all, "`stages.measure`"),
                None => Err("a time of at most 34 years".to_owned()),
            }
        }),
    },
    Opt {
        name: "Ramp Up Time (s)",
        aliases: &["Ramp Up Time"],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`stages.precondition`", |setup, given| {
            let value = number(&given.value)?.min(1 << 30);
            same(&mut setup.ramp, given, value, "`stages.precondition`")
        }),
    },
    Opt {
        name: "Default Disk Workers to Spawn",
        aliases: &["Default Workers to Spawn"],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Harmless,
            "workers are listed with their managers; without a list, `workers`",
            |setup, given| {
                let value = match given.value.as_str() {
                    "NUMBER_OF_CPUS" => None,
                    text => Some(number(text)?),
                };
                setup.workers = Some(Got { value, id: given.id });
                Ok(Verdict::harmless("workers are listed with their managers"))
            },
        ),
    },
    Opt {
        name: "Default Network Workers to Spawn",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Harmless("workers of networks are listed with their managers"),
    },
    Opt {
        name: "Record Results",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("the run file holds each worker"),
    },
    Opt {
        name: "Worker Cycling",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`sweep.workers` where `Test Type` asks for it",
            |setup, given| {
                setup.worker_cycle = Some(Got { value: cycle(&given.value)?, id: given.id });
                Ok(Verdict::harmless("`Test Type` does not ask for it"))
            },
        ),
    },
    Opt {
        name: "Disk Cycling",
        aliases: &["Target Cycling"],
        takes: Takes::Text,
        rule: Rule::Harmless("`Test Type` says whether targets are added; if so, it is refused"),
    },
    Opt {
        name: "Queue Depth Cycling",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Same,
            "`sweep.depth` where `Test Type` asks for it",
            |setup, given| {
                setup.depth_cycle = Some(Got { value: cycle(&given.value)?, id: given.id });
                Ok(Verdict::harmless("`Test Type` does not ask for it"))
            },
        ),
    },
    Opt {
        name: "Test Type",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Same,
            "`NORMAL`; `CYCLE_OUTSTANDING_IOS` is `sweep.depth`, `CYCLE_WORKERS` is \
             `sweep.workers`; what adds targets is refused",
            |setup, given| {
                let value = match given.value.as_str() {
                    "NORMAL" => Cycled::Nothing,
                    "CYCLE_OUTSTANDING_IOS" => Cycled::Depth,
                    "CYCLE_WORKERS" => Cycled::Workers,
                    _ => return Err("a sweep over targets".to_owned()),
                };
                same(&mut setup.cycled, given, value, "points of a sweep")
            },
        ),
    },
];

/// In `ACCESS SPECIFICATIONS`, by column.
pub const SPECIFICATION: &[Opt<Line>] = &[
    Opt {
        name: "size",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`block_size`", |line, given| {
            let value = number(&given.value)?;
            if !(512..=1 << 30).contains(&value) {
                return Err("requests of 512 bytes to 1 GiB".to_owned());
            }
            same(&mut line.size, given, value, "`block_size`")
        }),
    },
    Opt {
        name: "% of size",
        aliases: &["% of access spec"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "the weight of its `block_size`", |line, given| {
            same(&mut line.weight, given, percent(&given.value)?, "the weight of its size")
        }),
    },
    Opt {
        name: "% reads",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Same,
            "`read`; where lines differ, `write_block_size` has the weights of writes",
            |line, given| same(&mut line.reads, given, percent(&given.value)?, "`read`"),
        ),
    },
    Opt {
        name: "% random",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Same,
            "`access` and `random`; where lines differ, their mean by weight",
            |line, given| same(&mut line.random, given, percent(&given.value)?, "`random`"),
        ),
    },
    Opt {
        name: "delay",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`think`, in ms", |line, given| {
            same(&mut line.delay, given, number(&given.value)?.min(1 << 30), "`think`")
        }),
    },
    Opt {
        name: "burst",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`burst`", |line, given| {
            same(&mut line.burst, given, number(&given.value)?, "`burst`")
        }),
    },
    Opt {
        name: "align",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Same,
            "`align`; 0 is a sector of the target, taken as 512 bytes",
            |line, given| {
                let value = number(&given.value)?;
                same(&mut line.align, given, value, "`align`")
            },
        ),
    },
    Opt {
        name: "reply",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Unless(&["0", ""], "a reply, which networks have and disks have not"),
    },
];

/// In `MANAGER LIST`, of a manager.
pub const MANAGER: &[Opt<()>] = &[Opt {
    name: "manager name",
    aliases: &["Manager network address"],
    takes: Takes::Text,
    rule: Rule::Read(
        Class::Approximated,
        "the machine that runs `plimsoll`, or each of `--hosts`",
        |(), _| Ok(Verdict::near("this machine, or each of `--hosts`; name them with it")),
    ),
}];

/// In `MANAGER LIST`, of a worker.
pub const WORKER: &[Opt<Worker>] = &[
    Opt {
        name: "Worker type",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Unless(&["DISK"], "workers that load a network"),
    },
    Opt {
        name: "Number of outstanding IOs",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`depth`, of each target of a worker", |worker, given| {
            let value = number(&given.value)?;
            same(&mut worker.depth, given, value, "`depth`")
        }),
    },
    Opt {
        name: "test connection rate",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Unless(&["DISABLED"], "opening and closing targets as part of the load"),
    },
    Opt {
        name: "transactions per connection",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Harmless("it counts only with `test connection rate`"),
    },
    Opt {
        name: "use fixed seed",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "`seed`", |worker, given| {
            worker.seeded = given.value == "ENABLED";
            Ok(match worker.seeded {
                true => Verdict::same("`seed`"),
                false => Verdict::harmless("each run has a seed, which the run file holds"),
            })
        }),
    },
    Opt {
        name: "fixed seed value",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`seed`", |worker, given| {
            if !worker.seeded {
                return Ok(Verdict::harmless("no fixed seed is asked for"));
            }
            same(&mut worker.seed, given, number(&given.value)?, "`seed`")
        }),
    },
    Opt {
        name: "Disk maximum size",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Same,
            "`layout.size`, in sectors of 512 bytes; 0 is all of a device, and for files what \
             `--set layout.size=…` says",
            |worker, given| {
                same(&mut worker.sectors, given, number(&given.value)?, "`layout.size`")
            },
        ),
    },
    Opt {
        name: "starting sector",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`range`, with `Disk maximum size`", |worker, given| {
            same(&mut worker.first, given, number(&given.value)?, "`range`")
        }),
    },
    Opt {
        name: "Data pattern",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "0 (repeating bytes) is `contents.compressible = \"100%\"`; 1 and 2 (random) are what \
             Plimsoll writes in any case",
            |worker, given| {
                let value = number(&given.value)?;
                worker.pattern = Some(Got { value, id: given.id });
                Ok(match value {
                    0 => Verdict::near("`contents.compressible = \"100%\"`; no two blocks alike"),
                    _ => Verdict::same("no two blocks are alike"),
                })
            },
        ),
    },
    Opt {
        name: "Local network interface",
        aliases: &["VI outstanding IOs"],
        takes: Takes::Text,
        rule: Rule::Refused("workers that load a network"),
    },
    Opt {
        name: "Assigned access specs",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "workloads, one after the other", |worker, given| {
            worker.specs.push(Got { value: given.value.clone(), id: given.id });
            Ok(Verdict::same("a workload, in this order"))
        }),
    },
    Opt {
        name: "Target",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`sdb` and `/dev/sdb` are devices; a directory holds files of Plimsoll's own; drives \
             of Windows are named with `--target`",
            |worker, given| {
                let Named { path, verdict } = target(&given.value)?;
                let value = Target { name: given.value.clone(), path };
                worker.targets.push(Got { value, id: given.id });
                Ok(verdict)
            },
        ),
    },
    Opt {
        name: "Target type",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Unless(&["DISK"], "targets that are networks"),
    },
    Opt {
        name: "Target manager ID",
        aliases: &["manager name"],
        takes: Takes::Text,
        rule: Rule::Refused("targets that are networks"),
    },
];

fn number(text: &str) -> Result<u64, String> {
    let value: u64 = text.trim().parse().map_err(|_| format!("`{text}` is no whole number"))?;
    match value <= 1 << 50 {
        true => Ok(value),
        false => Err(format!("{value} is past all that can be meant")),
    }
}

/// A share in percent.
fn percent(text: &str) -> Result<u64, String> {
    match number(text)? {
        value @ 0..=100 => Ok(value),
        value => Err(format!("{value} is more than 100 %")),
    }
}

/// `1 5 1 LINEAR`, or with an end `1 64 2 EXPONENTIAL`.
fn cycle(text: &str) -> Result<Cycle, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (numbers, kind) = match words.as_slice() {
        [numbers @ .., kind] => (numbers, *kind),
        [] => return Err("a start, a step and its kind".to_owned()),
    };
    let numbers: Vec<u64> = numbers.iter().map(|word| number(word)).collect::<Result<_, _>>()?;
    let exponential = kind == "EXPONENTIAL";
    match numbers[..] {
        [start, step] => Ok(Cycle { start, end: None, step, exponential }),
        [start, end, step] => Ok(Cycle { start, end: Some(end), step, exponential }),
        _ => Err("a start, a step and its kind".to_owned()),
    }
}

/// The path that stands for a target, and what that means.
struct Named {
    path: Option<String>,
    verdict: Verdict,
}

/// `sdb`, `/dev/sdb`, `/mnt/x [ext4]`, `C: "System"`, `PHYSICALDRIVE:1`.
fn target(text: &str) -> Result<Named, String> {
    if text.is_empty() || text.len() > 1_000 || text.chars().any(char::is_control) {
        return Err("a path of at most 1,000 plain bytes".to_owned());
    }
    let path = text.split(" [").next().unwrap_or(text).trim();
    let is_name = path.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let same = |path: String| Named { path: Some(path), verdict: Verdict::same("target") };
    if path.starts_with("/dev/") {
        return Ok(same(path.to_owned()));
    }
    if path.starts_with('/') {
        let why = "files of Plimsoll's own, in `plimsoll-data` there; not `iobw.tst`";
        return Ok(Named { path: Some(inside(path)), verdict: Verdict::near(why) });
    }
    if is_name {
        return Ok(same(format!("/dev/{path}")));
    }
    let why = "a drive of Windows; name the target with `--target`";
    Ok(Named { path: None, verdict: Verdict::near(why) })
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
        let path = |text: &str| target(text).expect("one").path;
        assert_eq!(path("sdb"), Some("/dev/sdb".to_owned()));
        assert_eq!(path("/mnt/x [ext4]"), Some("/mnt/x/plimsoll-data".to_owned()));
        assert_eq!(path("C: \"System\""), None);
        assert_eq!(path("PHYSICALDRIVE:1"), None);
        assert!(target("a\u{7}").is_err());
    }
}
