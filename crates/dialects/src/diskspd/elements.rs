//! The elements of DiskSpd's XML profiles.

use super::options::DiskSpd;
use crate::draft::share;
use crate::loss::{Class, Verdict};
use crate::mpi::job::{Got, near, number, same};
use crate::table::{Given, Opt, Rule, Takes};

const NO: &[&str] = &["false", "0"];
const RATE: &str = "`rate` of each worker, an open loop: latency counts from when a request is due";
const REST: &str = "`think` and `burst`: the rest begins when the burst has come back";
const PARTS: &str = "each worker has a part of its own, in place of one sequence of all";

/// Whether an element says yes.
fn flag(slot: &mut Option<Got<bool>>, given: &Given, field: &str) -> Result<Verdict, String> {
    match given.value.as_str() {
        "true" | "1" => same(slot, given, true, field),
        "false" | "0" => Ok(Verdict::same("as without it")),
        other => Err(format!("`{other}` is neither true nor false")),
    }
}

/// What stands beside `<TimeSpans>`.
pub const PROFILE: &[Opt<DiskSpd>] = &[
    Opt {
        name: "Progress",
        aliases: &["ResultFormat", "Verbose", "VerboseStats", "ExperimentFlags"],
        takes: Takes::Text,
        rule: Rule::Harmless("only how DiskSpd reports"),
    },
    Opt {
        name: "PrecreateFiles",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("`stages.prepare` writes files before anything is measured"),
    },
    Opt {
        name: "ETW",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("the kernel's own counters are always recorded"),
    },
];

/// What stands in a `<TimeSpan>`, its targets apart.
pub const SPAN: &[Opt<DiskSpd>] = &[
    Opt {
        name: "Duration",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`stages.measure`; 10 s without it", |job, given| {
            same(&mut job.time, given, number(&given.value)?, "`stages.measure`")
        }),
    },
    Opt {
        name: "Warmup",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`stages.precondition`; 5 s without it", |job, given| {
            same(&mut job.warm, given, number(&given.value)?, "`stages.precondition`")
        }),
    },
    Opt {
        name: "Cooldown",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Harmless("the end of a stage is not measured"),
    },
    Opt {
        name: "RandSeed",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`seed`", |job, given| {
            same(&mut job.seed, given, number(&given.value)?, "`seed`")
        }),
    },
    Opt {
        name: "ThreadCount",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "`workers` of each workload: a worker loads one of them, not all by turns",
            |job, given| {
                let why = "`workers` of each workload, not threads that load all by turns";
                match number(&given.value)? {
                    0 => Ok(Verdict::harmless("threads are counted for each file")),
                    many => near(&mut job.total, given, many, why),
                }
            },
        ),
    },
    Opt {
        name: "RequestCount",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`depth`", |job, given| {
            same(&mut job.depth, given, number(&given.value)?, "`depth`")
        }),
    },
    Opt {
        name: "RandomWriteData",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("no two blocks are alike"),
    },
    Opt {
        name: "DisableAffinity",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.pin`", |job, given| {
            flag(&mut job.floating, given, "`engine.pin = \"none\"`")
        }),
    },
    Opt {
        name: "Affinity",
        aliases: &["GroupAffinity"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`engine.pin = \"core\"`: a CPU for each worker, not these",
            |_, _| Ok(Verdict::near("each worker has a CPU of its own, not one of these")),
        ),
    },
    Opt {
        name: "CompletionRoutines",
        aliases: &["MeasureLatency", "CalculateIopsStdDev", "IoBucketDuration"],
        takes: Takes::Text,
        rule: Rule::Harmless("latencies and intervals are always measured"),
    },
];

/// What stands in a `<Target>`, its path apart.
pub const TARGET: &[Opt<DiskSpd>] = &[
    Opt {
        name: "BlockSize",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`block_size`; 64 KiB without it", |job, given| {
            same(&mut job.block, given, number(&given.value)?, "`block_size`")
        }),
    },
    Opt {
        name: "StrideSize",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`stride` of sequential requests", |job, given| {
            same(&mut job.stride, given, number(&given.value)?, "`stride`")
        }),
    },
    Opt {
        name: "InterlockedSequential",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, PARTS, |job, given| match given.value.as_str() {
            "false" | "0" => Ok(Verdict::same("as without it")),
            _ => near(&mut job.interlocked, given, true, PARTS),
        }),
    },
    Opt {
        name: "BaseFileOffset",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`range`", |job, given| match number(&given.value)? {
            0 => Ok(Verdict::same("from the beginning")),
            from => same(&mut job.base, given, from, "`range`"),
        }),
    },
    Opt {
        name: "MaxFileSize",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Same,
            "`range`; `layout.size` of the largest where no size is given",
            |job, given| match number(&given.value)? {
                0 => Ok(Verdict::same("to the end")),
                most => same(&mut job.most, given, most, "`range`, `layout.size`"),
            },
        ),
    },
    Opt {
        name: "FileSize",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`layout.size`", |job, given| {
            same(&mut job.create, given, number(&given.value)?, "`layout.size`")
        }),
    },
    Opt {
        name: "SequentialScan",
        aliases: &["RandomAccess", "TemporaryFile"],
        takes: Takes::Flag,
        rule: Rule::Harmless("a hint to the cache of Windows"),
    },
    Opt {
        name: "UseLargePages",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(NO, "large pages"),
    },
    Opt {
        name: "RequestCount",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`depth`; 2 without it", |job, given| {
            same(&mut job.depth, given, number(&given.value)?, "`depth`")
        }),
    },
    Opt {
        name: "Random",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`access = \"random\"`, `align`", |job, given| {
            same(&mut job.random, given, number(&given.value)?, "`access`, `align`")
        }),
    },
    Opt {
        name: "RandomRatio",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`random`, the share of random requests", |job, given| {
            same(&mut job.partly, given, percent(&given.value)?, "`random`")
        }),
    },
    Opt {
        name: "Distribution",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "`hot_spots`; those in bytes are refused", |job, given| {
            same(&mut job.spots, given, spots(&given.value)?, "`hot_spots`")
        }),
    },
    Opt {
        name: "DisableAllCache",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.direct` and `dsync`", |job, given| {
            flag(&mut job.durable, given, "`dsync`")?;
            flag(&mut job.direct, given, "`engine.direct` and `dsync`")
        }),
    },
    Opt {
        name: "DisableOSCache",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.direct`", |job, given| {
            flag(&mut job.direct, given, "`engine.direct`")
        }),
    },
    Opt {
        name: "WriteThrough",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`dsync`", |job, given| {
            flag(&mut job.durable, given, "`dsync`")
        }),
    },
    Opt {
        name: "DisableLocalCache",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(NO, "a cache of the client that is switched off"),
    },
    Opt {
        name: "MemoryMappedIo",
        aliases: &["FlushType"],
        takes: Takes::Text,
        rule: Rule::Unless(NO, "files that are mapped into memory"),
    },
    Opt {
        name: "WriteBufferContent",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`zero` is `contents.compressible`; others: random bytes, no two blocks alike",
            |job, given| match given.value.split_whitespace().nth(1) {
                Some("zero") => {
                    same(&mut job.compressible, given, 1_000_000, "`contents.compressible`")
                }
                _ => Ok(Verdict::near("random bytes, no two blocks alike")),
            },
        ),
    },
    Opt {
        name: "BurstSize",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, REST, |job, given| {
            near(&mut job.burst, given, number(&given.value)?, REST)
        }),
    },
    Opt {
        name: "ThinkTime",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Approximated, REST, |job, given| {
            near(&mut job.pause, given, number(&given.value)?, REST)
        }),
    },
    Opt {
        name: "Throughput",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, RATE, |job, given| {
            let (digits, unit) = given.value.split_once(' ').unwrap_or((&given.value, ""));
            let rate = match (number(digits)?, unit.eq_ignore_ascii_case("iops")) {
                (0, _) => return Ok(Verdict::same("as fast as the target goes")),
                (rate, true) => rate.min(1_000_000_000).to_string(),
                (rate, false) => {
                    let bytes = rate.saturating_mul(1_000).min(1_000_000_000_000);
                    format!("\"{bytes}B/s\"")
                }
            };
            near(&mut job.rate, given, rate, RATE)
        }),
    },
    Opt {
        name: "ThreadsPerFile",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`workers`; 1 without it", |job, given| {
            same(&mut job.threads, given, number(&given.value)?, "`workers`")
        }),
    },
    Opt {
        name: "WriteRatio",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`read`, the share that is left", |job, given| {
            same(&mut job.writes, given, percent(&given.value)?, "`read`")
        }),
    },
    Opt {
        name: "ParallelAsyncIO",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(NO, "requests that overlap at one place"),
    },
    Opt {
        name: "ThreadStride",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`sharing`", |job, given| match number(&given.value)? {
            0 => Ok(Verdict::same("threads begin at the same place")),
            apart => same(&mut job.apart, given, apart, "`sharing`"),
        }),
    },
    Opt {
        name: "IOPriority",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Unless(&["0", "3"], "priorities of Windows (`priority` is near)"),
    },
    Opt {
        name: "Weight",
        aliases: &["ThreadTargets"],
        takes: Takes::Text,
        rule: Rule::Refused("threads that load several targets in a ratio"),
    },
];

/// A percentage in millionths.
fn percent(text: &str) -> Result<u64, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is no percentage"))?;
    match (0.0..=100.0).contains(&number) {
        true => Ok((number * 10_000.0).round() as u64),
        false => Err(format!("`{text}` is no percentage from 0 to 100")),
    }
}

/// `Percent 95/5 4/10`: shares of requests and of the target.
fn spots(text: &str) -> Result<String, String> {
    let Some(list) = text.strip_prefix("Percent ") else {
        return Err("hot spots by bytes; those by percent are understood".to_owned());
    };
    let (mut parts, mut requests, mut space) = (Vec::new(), 0, 0);
    for part in list.split_whitespace().take(64) {
        let (io, target) = part.split_once('/').ok_or("a share without its space")?;
        let (io, target) = (percent(io)?, percent(target)?);
        (requests, space) = (requests + io, space + target);
        if target > 0 && space < 1_000_000 {
            parts.push(format!("{}:{}", share(io), share(target)));
        }
    }
    match !parts.is_empty() && requests <= 1_000_000 && space <= 1_000_000 {
        true => Ok(parts.join(", ")),
        false => Err(format!("`{list}` has no shares that add up to 100 %")),
    }
}
