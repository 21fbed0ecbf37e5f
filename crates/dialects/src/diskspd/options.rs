//! DiskSpd's options.

use crate::loss::{Class, Verdict};
use crate::mpi::job::{Got, near, number, same};
use crate::table::{Opt, Rule, Takes};

/// A command line of DiskSpd as its options say it.
#[derive(Clone, Debug, Default)]
pub struct DiskSpd {
    /// `-b`
    pub block: Option<Got<u64>>,
    /// `-c`
    pub create: Option<Got<u64>>,
    /// `-d`, in s
    pub time: Option<Got<u64>>,
    /// `-W`, in s
    pub warm: Option<Got<u64>>,
    /// `-o`
    pub depth: Option<Got<u64>>,
    /// `-t`
    pub threads: Option<Got<u64>>,
    /// `-F`
    pub total: Option<Got<u64>>,
    /// `-r`: what offsets are multiples of, 0 for the block
    pub random: Option<Got<u64>>,
    /// `-rs`, in millionths
    pub partly: Option<Got<u64>>,
    /// `-rd`, as a suite has it
    pub spots: Option<Got<String>>,
    /// `-s`
    pub stride: Option<Got<u64>>,
    /// `-si`
    pub interlocked: Option<Got<bool>>,
    /// `-T`
    pub apart: Option<Got<u64>>,
    /// `-w`, in millionths
    pub writes: Option<Got<u64>>,
    /// `-B`
    pub base: Option<Got<u64>>,
    /// `-f`
    pub most: Option<Got<u64>>,
    /// `-g`, as a suite has it
    pub rate: Option<Got<String>>,
    /// `-Su`
    pub direct: Option<Got<bool>>,
    /// `-Sw`
    pub durable: Option<Got<bool>>,
    /// `-z`
    pub seed: Option<Got<u64>>,
    /// `-Z`, in millionths
    pub compressible: Option<Got<u64>>,
    /// `-I`, as a suite has it
    pub priority: Option<Got<&'static str>>,
    /// `-n`
    pub floating: Option<Got<bool>>,
    /// `-i`
    pub burst: Option<Got<u64>>,
    /// `-j`, in ms
    pub pause: Option<Got<u64>>,
    /// The targets; `None` is one of Windows.
    pub targets: Vec<Got<Option<String>>>,
}

const REST: &str = "`think` and `burst`: the rest begins when the burst has come back";

/// DiskSpd's options.
pub const OPTIONS: &[Opt<DiskSpd>] = &[
    Opt {
        name: "-b",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`block_size`; DiskSpd's default is 64 KiB", |job, given| {
            same(&mut job.block, given, sized(&given.value, 1)?, "`block_size`")
        }),
    },
    Opt {
        name: "-c",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`layout.size`", |job, given| {
            same(&mut job.create, given, sized(&given.value, 1)?, "`layout.size`")
        }),
    },
    Opt {
        name: "-d",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`stages.measure`", |job, given| {
            same(&mut job.time, given, sized(&given.value, 1)?, "`stages.measure`")
        }),
    },
    Opt {
        name: "-W",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`stages.precondition`", |job, given| {
            same(&mut job.warm, given, sized(&given.value, 1)?, "`stages.precondition`")
        }),
    },
    Opt {
        name: "-C",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Harmless("the end of a stage is not measured"),
    },
    Opt {
        name: "-o",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`depth`", |job, given| {
            same(&mut job.depth, given, sized(&given.value, 1)?, "`depth`")
        }),
    },
    Opt {
        name: "-t",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`workers`, for each target", |job, given| {
            same(&mut job.threads, given, sized(&given.value, 1)?, "`workers`, for each target")
        }),
    },
    Opt {
        name: "-F",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`workers`", |job, given| {
            same(&mut job.total, given, sized(&given.value, 1)?, "`workers`")
        }),
    },
    Opt {
        name: "-O",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`depth`, with `-F`", |job, given| {
            same(&mut job.depth, given, sized(&given.value, 1)?, "`depth`")
        }),
    },
    Opt {
        name: "-r",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`access = \"random\"`, `align`", |job, given| {
            let block = job.block.as_ref().map_or(0, |got| got.value);
            let align = if given.value.is_empty() { 0 } else { sized(&given.value, block)? };
            same(&mut job.random, given, align, "`access`, `align`")
        }),
    },
    Opt {
        name: "-rs",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`random`, the share of random requests", |job, given| {
            same(&mut job.partly, given, percent(&given.value)?, "`random`")
        }),
    },
    Opt {
        name: "-rd",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "`hot_spots`, for `pct`; `abs` is refused", |job, given| {
            same(&mut job.spots, given, spots(&given.value)?, "`hot_spots`")
        }),
    },
    Opt {
        name: "-s",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`stride`", |job, given| {
            let block = job.block.as_ref().map_or(0, |got| got.value);
            let value = if given.value.is_empty() {
                return Ok(Verdict::same("sequential"));
            } else {
                sized(&given.value, block)?
            };
            same(&mut job.stride, given, value, "`stride`")
        }),
    },
    Opt {
        name: "-si",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Approximated,
            "`sharing = \"segment\"`: each thread goes through a part of its own, not through one \
            sequence of all",
            |job, given| {
                near(
                    &mut job.interlocked,
                    given,
                    true,
                    "each thread has a part of its own, in place of one sequence of all",
                )
            },
        ),
    },
    Opt {
        name: "-T",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Same,
            "`sharing = \"segment\"`, where it is the size over the threads",
            |job, given| same(&mut job.apart, given, sized(&given.value, 1)?, "`sharing`"),
        ),
    },
    Opt {
        name: "-w",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`read`, the share that is left", |job, given| {
            let share = if given.value.is_empty() { 500_000 } else { percent(&given.value)? };
            same(&mut job.writes, given, share, "`read`, the share that is left")
        }),
    },
    Opt {
        name: "-B",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`range`", super::base),
    },
    Opt {
        name: "-f",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`range`", |job, given| {
            if given.value.starts_with(['r', 's', 't']) {
                return Ok(Verdict::near("no hint is given to the cache"));
            }
            same(&mut job.most, given, sized(&given.value, 1)?, "`range`")
        }),
    },
    Opt {
        name: "-g",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "`rate` of each worker, an open loop: latency counts from when a request is due",
            |job, given| {
                near(
                    &mut job.rate,
                    given,
                    rate(&given.value)?,
                    "`rate`, an open loop: latency counts from when a request is due",
                )
            },
        ),
    },
    Opt {
        name: "-S",
        aliases: &["-Su"],
        takes: Takes::Nothing,
        rule: Rule::Read(Class::Same, "`engine.direct`", |job, given| {
            same(&mut job.direct, given, true, "`engine.direct`")
        }),
    },
    Opt {
        name: "-Sh",
        aliases: &["-h", "-Suw", "-Swu"],
        takes: Takes::Nothing,
        rule: Rule::Read(Class::Same, "`engine.direct` and `dsync`", |job, given| {
            job.durable = Some(Got { value: true, id: given.id });
            same(&mut job.direct, given, true, "`engine.direct` and `dsync`")
        }),
    },
    Opt {
        name: "-Sw",
        aliases: &["-Sbw", "-Swb"],
        takes: Takes::Nothing,
        rule: Rule::Read(Class::Same, "`dsync`", |job, given| {
            same(&mut job.durable, given, true, "`dsync`")
        }),
    },
    Opt {
        name: "-Sb",
        aliases: &[],
        takes: Takes::Nothing,
        rule: Rule::Read(Class::Same, "the page cache is used, as without it", |job, _| {
            job.direct = None;
            Ok(Verdict::same("`engine.direct = false`"))
        }),
    },
    Opt {
        name: "-Sm",
        aliases: &[],
        takes: Takes::Nothing,
        rule: Rule::Read(Class::Approximated, super::MAPPED, |job, _| {
            job.direct = None;
            Ok(Verdict::near(super::MAPPED))
        }),
    },
    Opt {
        name: "-Sr",
        aliases: &[],
        takes: Takes::Nothing,
        rule: Rule::Refused(
            "a cache of the client that is switched off; `--buffered` and `mount` options do it",
        ),
    },
    Opt {
        name: "-z",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`seed`", |job, given| {
            let value = if given.value.is_empty() {
                return Ok(Verdict::near("every run has the same seed; `--set seed=N`"));
            } else {
                sized(&given.value, 1)?
            };
            same(&mut job.seed, given, value.min(1 << 60), "`seed`")
        }),
    },
    Opt {
        name: "-Zr",
        aliases: &[],
        takes: Takes::Nothing,
        rule: Rule::Read(
            Class::Same,
            "no two blocks are alike, which is Plimsoll's default",
            |job, _| {
                job.compressible = None;
                Ok(Verdict::same("no two blocks are alike"))
            },
        ),
    },
    Opt {
        name: "-Z",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "zeros compress as DiskSpd's do; with a size, random bytes, no two blocks alike",
            |job, given| {
                if !given.value.is_empty() {
                    return Ok(Verdict::near(
                        "random bytes, no two blocks alike, not one buffer again and again",
                    ));
                }
                same(&mut job.compressible, given, 1_000_000, "`contents.compressible`")
            },
        ),
    },
    Opt {
        name: "-n",
        aliases: &[],
        takes: Takes::Nothing,
        rule: Rule::Read(Class::Same, "`engine.pin = \"none\"`", |job, given| {
            same(&mut job.floating, given, true, "`engine.pin`")
        }),
    },
    Opt {
        name: "-a",
        aliases: &["-ag"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`engine.pin = \"core\"`: a CPU for each worker, not these",
            |job, _| {
                job.floating = None;
                Ok(Verdict::near("each worker has a CPU of its own, not one of these"))
            },
        ),
    },
    Opt {
        name: "-L",
        aliases: &[],
        takes: Takes::Nothing,
        rule: Rule::Harmless("latencies are always measured"),
    },
    Opt {
        name: "-D",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Harmless("every interval is recorded"),
    },
    Opt {
        name: "-R",
        aliases: &["-v"],
        takes: Takes::Text,
        rule: Rule::Harmless("only how DiskSpd reports"),
    },
    Opt {
        name: "-e",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("the kernel's own counters are always recorded"),
    },
    Opt {
        name: "-x",
        aliases: &[],
        takes: Takes::Nothing,
        rule: Rule::Harmless("how completions are collected; Plimsoll chooses the fastest way"),
    },
    Opt {
        name: "-y",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("events of Windows that begin or end a run"),
    },
    Opt {
        name: "-X",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("a profile; `plimsoll import PROFILE.xml` reads it by itself"),
    },
    Opt {
        name: "-P",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("only how DiskSpd reports"),
    },
    Opt {
        name: "-i",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, REST, |job, given| {
            near(&mut job.burst, given, sized(&given.value, 1)?, REST)
        }),
    },
    Opt {
        name: "-j",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Approximated, REST, |job, given| {
            near(&mut job.pause, given, sized(&given.value, 1)?, REST)
        }),
    },
    Opt {
        name: "-I",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, super::PRIORITY, super::priority),
    },
    Opt {
        name: "-p",
        aliases: &[],
        takes: Takes::Nothing,
        rule: Rule::Refused("requests that overlap at one place"),
    },
    Opt {
        name: "-N",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, super::FLUSH, |job, given| {
            near(&mut job.durable, given, true, super::FLUSH)
        }),
    },
    Opt { name: "-l", aliases: &[], takes: Takes::Nothing, rule: Rule::Near(super::PAGES) },
];

/// A size with DiskSpd's units; `b` counts blocks.
pub(super) fn sized(text: &str, block: u64) -> Result<u64, String> {
    match text.strip_suffix('b').filter(|_| block > 1) {
        Some(count) => Ok(number(count)?.saturating_mul(block).min(1 << 60)),
        None => number(text),
    }
}

/// A percentage in millionths.
fn percent(text: &str) -> Result<u64, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is no percentage"))?;
    match (0.0..=100.0).contains(&number) {
        true => Ok((number * 10_000.0).round() as u64),
        false => Err(format!("`{text}` is no percentage from 0 to 100")),
    }
}

/// Bytes in a millisecond, or requests in a second, of each thread.
fn rate(text: &str) -> Result<String, String> {
    match text.strip_suffix('i') {
        Some(count) => Ok(number(count)?.clamp(1, 1_000_000_000).to_string()),
        None => {
            let bytes = number(text)?.saturating_mul(1_000).clamp(1, 1_000_000_000_000);
            Ok(format!("\"{bytes}B/s\""))
        }
    }
}

/// `pct10/10:60/30`: shares of requests and of the target.
fn spots(text: &str) -> Result<String, String> {
    let Some(list) = text.strip_prefix("pct") else {
        return Err("hot spots by bytes; `pct` has them by shares".to_owned());
    };
    let mut parts = Vec::new();
    let (mut requests, mut space) = (0, 0);
    for part in list.split(':').take(64) {
        let (share, target) = part.split_once('/').ok_or("a share without its space")?;
        let (share, target) = (percent(share)?, percent(target)?);
        (requests, space) = (requests + share, space + target);
        // What is left goes to the rest of the space.
        if target > 0 && space < 1_000_000 {
            let text = crate::draft::share;
            parts.push(format!("{}:{}", text(share), text(target)));
        }
    }
    match !parts.is_empty() && requests <= 1_000_000 && space <= 1_000_000 {
        true => Ok(parts.join(", ")),
        false => Err(format!("`{list}` has no shares that add up to 100 %")),
    }
}
