//! Run definitions (`rd=`), hosts (`hd=`), and what stands before all of them.

use super::storage::{OPEN, Open, Seek, duration, open, seek};
use super::values::{Extent, Sizes, TOTAL, WORKING_SET, list, number, numbers, percent, sizes};
use crate::loss::{Class, Verdict};
use crate::mpi::job::{Got, near, same};
use crate::table::{Opt, Rule, Takes};

/// The rate of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// As fast as it goes.
    Max,
    /// So many requests in a second.
    Fixed(f64),
}

/// A run definition.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// `wd` or `fwd`: patterns of names.
    pub workloads: Option<Got<Vec<String>>>,
    /// `sd` or `fsd`: patterns of names.
    pub storages: Option<Got<Vec<String>>>,
    /// `iorate` or `fwdrate`
    pub rates: Option<Got<Vec<Rate>>>,
    /// `elapsed`, in ns.
    pub elapsed: Option<Got<u64>>,
    /// `interval`, in ns.
    pub interval: Option<Got<u64>>,
    /// `warmup`, in ns.
    pub warmup: Option<Got<u64>>,
    /// `maxdata`, in bytes.
    pub amount: Option<Got<u64>>,
    /// `maxdata=1`: the storage once.
    pub once: Option<Got<bool>>,
    /// `xfersize`, `forxfersize`
    pub sizes: Option<Got<Vec<Sizes>>>,
    /// `threads`, `forthreads`
    pub threads: Option<Got<Vec<u64>>>,
    /// `rdpct`, `forrdpct`, in millionths.
    pub reads: Option<Got<Vec<u64>>>,
    /// `seekpct`, `forseekpct`
    pub seeks: Option<Got<Vec<Seek>>>,
    /// `operations`, `foroperations`
    pub operations: Option<Got<Vec<String>>>,
    /// `depth` of directories.
    pub depth: Option<Got<u64>>,
    /// `width` of directories.
    pub width: Option<Got<u64>>,
    /// `files` in a directory.
    pub files: Option<Got<u64>>,
    /// `sizes` of files.
    pub file_sizes: Option<Got<Sizes>>,
    /// `totalsize` of files.
    pub total: Option<Got<Extent>>,
    /// `workingsetsize` of files.
    pub working_set: Option<Got<Extent>>,
    /// Whether requests do not come evenly.
    pub arrivals: Option<Got<bool>>,
    /// Whether the run only makes the files.
    pub format_only: Option<Got<bool>>,
    /// Whether files are made before it.
    pub format: Option<Got<bool>>,
    /// How files are opened.
    pub open: Open,
}

/// What holds for all runs.
#[derive(Clone, Debug, Default)]
pub struct General {
    /// `compratio`, as millionths of each block.
    pub compressible: Option<Got<u64>>,
    /// `dedupratio`, as millionths of all blocks.
    pub duplicate: Option<Got<u64>>,
    /// `validate`
    pub verify: Option<Got<bool>>,
    /// `formatxfersize`
    pub prepare_block: Option<Got<u64>>,
    /// `loop`
    pub repetitions: Option<Got<u64>>,
}

const CURVE: &str = "the maximum alone is measured; `plimsoll loadline SUITE` measures latency \
over the rate";
const ONCE: &str = "all of the storage once; no time ends it before";
const THREADS: &str = "`depth` of one worker for each target (of files in directories, `workers`)";
const FORMAT: &str = "`stages.prepare`: each run has files of its own, written before it";
const DISTRIBUTION: &str = "`arrivals`: `exponential` is `poisson`, `deterministic` is `uniform`";

/// Parameters of `rd=`, in the order in which vdbench compares abbreviations.
pub const RUN: &[Opt<Run>] = &[
    Opt {
        name: "wd",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "its workloads", |job, given| {
            same(&mut job.workloads, given, list(&given.value), "its workloads")
        }),
    },
    Opt {
        name: "sd",
        aliases: &["fsd"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "targets", |job, given| {
            same(&mut job.storages, given, list(&given.value), "targets")
        }),
    },
    Opt {
        name: "iorate",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Same,
            "`rate`; several are points of a sweep; `max` is none; `curve` is the maximum alone",
            rates,
        ),
    },
    Opt {
        name: "maxdata",
        aliases: &["maxdataread", "maxdatawritten"],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Approximated,
            "`stages.amount` where no `elapsed` is given; otherwise the time alone ends the run",
            |job, given| {
                let bytes = number(&given.value)?;
                if bytes == 1.0 {
                    return near(&mut job.once, given, true, ONCE);
                }
                if bytes < 100.0 {
                    return Err("an amount in multiples of the storage".to_owned());
                }
                near(&mut job.amount, given, bytes as u64, "the first of time and amount ends it")
            },
        ),
    },
    Opt {
        name: "curve",
        aliases: &["stopcurve"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, CURVE, |_, _| Ok(Verdict::near(CURVE))),
    },
    Opt {
        name: "elapsed",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`stages.measure`; 30 s without it", |job, given| {
            same(&mut job.elapsed, given, duration(&given.value)?, "`stages.measure`")
        }),
    },
    Opt {
        name: "interval",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`stages.interval`, at most 60 s", |job, given| {
            let value = duration(&given.value)?;
            job.interval = Some(Got { value, id: given.id });
            Ok(match value <= 60_000_000_000 {
                true => Verdict::same("`stages.interval`"),
                false => Verdict::near("intervals of 60 s"),
            })
        }),
    },
    Opt {
        name: "warmup",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`stages.precondition`", |job, given| {
            same(&mut job.warmup, given, duration(&given.value)?, "`stages.precondition`")
        }),
    },
    Opt {
        name: "replay",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("traces that are played again"),
    },
    Opt {
        name: "pause",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(
            Class::Approximated,
            "no rest between runs; `stages.prerun = \"sleep N\"` makes one",
            |_, _| Ok(Verdict::near("no rest between runs; `stages.prerun` makes one")),
        ),
    },
    Opt {
        name: "forxfersize",
        aliases: &["forxfersizes", "xfersize", "xfersizes"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`block_size`, points of a sweep", |job, given| {
            let all = match list(&given.value).as_slice() {
                // A list with shares is one mix.
                parts if is_mix(parts) => vec![sizes(&given.value)?],
                _ => numbers(&given.value)?
                    .into_iter()
                    .map(|bytes| sizes(&bytes.to_string()))
                    .collect::<Result<_, _>>()?,
            };
            same(&mut job.sizes, given, all, "`block_size`")
        }),
    },
    Opt {
        name: "forthreads",
        aliases: &["threads"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, THREADS, |job, given| {
            let all = numbers(&given.value)?.into_iter().map(|many| (many as u64).max(1));
            near(&mut job.threads, given, all.collect(), THREADS)
        }),
    },
    Opt {
        name: "forrdpct",
        aliases: &["rdpct", "readpct"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`read`, points of a sweep", |job, given| {
            let all = numbers(&given.value)?.into_iter().map(|share| percent(&share.to_string()));
            same(&mut job.reads, given, all.collect::<Result<_, _>>()?, "`read`")
        }),
    },
    Opt {
        name: "forrhpct",
        aliases: &["forwhpct", "rhpct", "whpct"],
        takes: Takes::Number,
        rule: Rule::Unless(&["0", "(0)"], "a share of requests that hits a cache"),
    },
    Opt {
        name: "forseekpct",
        aliases: &["seekpct"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`access`, points of a sweep", |job, given| {
            let all = list(&given.value).iter().map(|text| seek(text)).collect::<Result<_, _>>()?;
            same(&mut job.seeks, given, all, "`access`, `random`")
        }),
    },
    Opt {
        name: "forhitarea",
        aliases: &["hitarea"],
        takes: Takes::Size,
        rule: Rule::Harmless("only `rhpct` and `whpct` use it"),
    },
    Opt {
        name: "forcompratio",
        aliases: &["forcompression", "compratio", "compression"],
        takes: Takes::Number,
        rule: Rule::Refused("blocks that compress from run to run (`contents.compressible`)"),
    },
    Opt {
        name: "fordepth",
        aliases: &["depth"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "how many files there are", |job, given| {
            same(&mut job.depth, given, alone(&given.value)?, "`layout.files`")
        }),
    },
    Opt {
        name: "forwidth",
        aliases: &["width"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "how many files there are", |job, given| {
            same(&mut job.width, given, alone(&given.value)?, "`layout.files`")
        }),
    },
    Opt {
        name: "forfiles",
        aliases: &["files"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "how many files there are", |job, given| {
            same(&mut job.files, given, alone(&given.value)?, "`layout.files`")
        }),
    },
    Opt {
        name: "forsizes",
        aliases: &["sizes"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "the size of files", |job, given| {
            same(&mut job.file_sizes, given, super::files::sizes(&given.value)?, "`layout.size`")
        }),
    },
    Opt {
        name: "fortotalsize",
        aliases: &["totalsize"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, TOTAL, |job, given| {
            same(&mut job.total, given, Extent::of_run(&given.value)?, TOTAL)
        }),
    },
    Opt {
        name: "forwss",
        aliases: &["wss", "forworkingsetsize", "workingsetsize"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Approximated, WORKING_SET, |job, given| {
            let value = Extent::of_run(&given.value)?;
            near(&mut job.working_set, given, value, WORKING_SET)
        }),
    },
    Opt {
        name: "foroperations",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "a workload for each", |job, given| {
            same(&mut job.operations, given, list(&given.value), "a workload for each")
        }),
    },
    Opt {
        name: "distribution",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, DISTRIBUTION, |job, given| {
            let word = list(&given.value).first().cloned().unwrap_or_default().to_ascii_lowercase();
            let is = |name: &str| word.len() >= 3 && name.starts_with(&word);
            let is_random = is("exponential");
            if !is_random && !is("deterministic") && !is("uniform") {
                return Err(format!("arrivals in bursts (`{word}`)"));
            }
            job.arrivals = Some(Got { value: is_random, id: given.id });
            Ok(match is("uniform") {
                true => Verdict::near("`arrivals = \"uniform\"`: at even distances, not at random"),
                false => Verdict::same("`arrivals`"),
            })
        }),
    },
    Opt {
        name: "startcmd",
        aliases: &["start_cmd", "endcmd", "end_cmd"],
        takes: Takes::Text,
        rule: Rule::Refused("a command around a run; write it as `stages.prerun`"),
    },
    Opt {
        name: "fwd",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "its workloads", |job, given| {
            same(&mut job.workloads, given, list(&given.value), "its workloads")
        }),
    },
    Opt {
        name: "fwdrate",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`rate`; `max` is none", rates),
    },
    Opt {
        name: "operations",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "a workload for each, one after the other",
            |job, given| {
                let all = list(&given.value);
                let is_one = all.len() == 1;
                job.operations = Some(Got { value: all, id: given.id });
                Ok(match is_one {
                    true => Verdict::same("its operation"),
                    false => Verdict::near("a workload for each, one after the other"),
                })
            },
        ),
    },
    Opt {
        name: "format",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, FORMAT, |job, given| {
            let all = list(&given.value.to_ascii_lowercase());
            let has = |word: &str| all.iter().any(|part| part == word);
            let is_no = all.iter().any(|part| part.len() >= 2 && part == "no");
            job.format = Some(Got { value: !is_no, id: given.id });
            job.format_only = Some(Got { value: has("only"), id: given.id });
            let known = [
                "yes",
                "no",
                "only",
                "restart",
                "clean",
                "once",
                "limited",
                "complete",
                "dir",
                "directories",
            ];
            match all.iter().find(|part| !known.contains(&part.as_str())) {
                Some(part) => Err(format!("`format={part}`")),
                None => Ok(Verdict::near(FORMAT)),
            }
        }),
    },
    Opt {
        name: "openflags",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, OPEN, |job, given| open(&mut job.open, given)),
    },
    Opt {
        name: "mount",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("a file system that is mounted anew"),
    },
    Opt {
        name: "skew",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Refused("`skew` of a run, which vdbench has no longer"),
    },
];

/// Parameters of `hd=`.
pub const HOST: &[Opt<General>] = &[
    Opt {
        name: "system",
        aliases: &["vdbench", "shell", "user", "jvms", "master"],
        takes: Takes::Text,
        rule: Rule::Harmless("hosts are named with `--hosts`, and reached as ssh reaches them"),
    },
    Opt {
        name: "clients",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Unless(&["1"], "several clients on one host; more `workers` are near"),
    },
    Opt {
        name: "mount",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("a file system that is mounted for the run"),
    },
];

/// Parameters before all others, in the order in which vdbench compares abbreviations.
pub const GENERAL: &[Opt<General>] = &[
    Opt {
        name: "compratio",
        aliases: &["compression"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`contents.compressible`", |job, given| {
            let share = saved(&given.value)?;
            same(&mut job.compressible, given, share, "`contents.compressible`")
        }),
    },
    Opt {
        name: "compressionseed",
        aliases: &["port", "debug", "swat", "heartbeat_error", "parm", "psrset"],
        takes: Takes::Text,
        rule: Rule::Harmless("nothing that is measured"),
    },
    Opt {
        name: "dedupratio",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "`contents.duplicate`, copies of 4 KiB blocks",
            |job, given| {
                let why = "`contents.duplicate`: copies of 4 KiB blocks, spread at random";
                near(&mut job.duplicate, given, saved(&given.value)?, why)
            },
        ),
    },
    Opt {
        name: "dedupunit",
        aliases: &["dedupsets", "deduphotsets", "dedupflipflop", "dedupacross", "dedup"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, "copies are of 4 KiB, spread at random", |_, _| {
            Ok(Verdict::near("copies are of 4 KiB, spread at random"))
        }),
    },
    Opt {
        name: "pattern",
        aliases: &["pattern_buffer"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, "random bytes, no two blocks alike", |_, _| {
            Ok(Verdict::near("random bytes, no two blocks alike"))
        }),
    },
    Opt {
        name: "data_errors",
        aliases: &["dataerrors"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "errors are counted and shown; no count of them ends the run",
            |_, _| Ok(Verdict::near("errors are counted; no count of them ends the run")),
        ),
    },
    Opt {
        name: "validate",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`contents.verify`: what is read is checked, and all of it after the run",
            |job, given| match given.value.to_ascii_lowercase().as_str() {
                "no" => Ok(Verdict::same("nothing is checked")),
                _ => near(&mut job.verify, given, true, "`contents.verify`"),
            },
        ),
    },
    Opt {
        name: "journal",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("a journal of what was written"),
    },
    Opt {
        name: "startcmd",
        aliases: &["start_cmd", "endcmd", "end_cmd"],
        takes: Takes::Text,
        rule: Rule::Refused("a command around all runs; write it as `stages.prerun`"),
    },
    Opt {
        name: "unix2windows",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("names of targets under Windows"),
    },
    Opt {
        name: "formatxfersize",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`stages.prepare_block`", |job, given| {
            let bytes = super::values::bytes(&given.value)?;
            let is_in = (4_096..=64 << 20).contains(&bytes) && bytes.is_multiple_of(4_096);
            match is_in {
                true => same(&mut job.prepare_block, given, bytes, "`stages.prepare_block`"),
                false => Ok(Verdict::near("files are written in blocks of 1 MiB")),
            }
        }),
    },
    Opt {
        name: "create_anchors",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("`plimsoll-data` is made where it is not there"),
    },
    Opt {
        name: "formatsds",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("`stages.prepare` writes files; devices are taken as they are"),
    },
    Opt {
        name: "report",
        aliases: &[
            "report_run_totals",
            "histogram",
            "auxreport",
            "monitor",
            "messagescan",
            "showlba",
            "fwd_thread_adjust",
            "abort_failed_skew",
            "timeout",
            "tmp",
        ],
        takes: Takes::Text,
        rule: Rule::Harmless("only how vdbench reports"),
    },
    Opt {
        name: "concatenatesds",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "each target has a sequence of its own, not all of them one",
            |_, given| match given.value.as_str() {
                "no" => Ok(Verdict::same("each target by itself")),
                _ => Ok(Verdict::near("each target has a sequence of its own, not all one")),
            },
        ),
    },
    Opt {
        name: "misc",
        aliases: &["ios_per_jvm"],
        takes: Takes::Text,
        rule: Rule::Refused("switches of vdbench's own programs"),
    },
    Opt {
        name: "loop",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`sweep.repetitions`, where it is a count", |job, given| {
            let count = super::values::bytes(&given.value)
                .map_err(|_| "loops for a time; a count is understood".to_owned())?;
            same(&mut job.repetitions, given, count.clamp(1, 1_000), "`sweep.repetitions`")
        }),
    },
    Opt {
        name: "rg",
        aliases: &["devices"],
        takes: Takes::Text,
        rule: Rule::Refused("traces that are played again"),
    },
];

/// Whether a list of sizes is one mix with shares: the even places add up to 100.
fn is_mix(parts: &[String]) -> bool {
    let shares =
        parts.iter().skip(1).step_by(2).map(|part| part.parse::<f64>().unwrap_or(f64::NAN));
    parts.len() >= 4 && parts.len().is_multiple_of(2) && (shares.sum::<f64>() - 100.0).abs() < 1.0
}

fn rates(job: &mut Run, given: &crate::table::Given) -> Result<Verdict, String> {
    let text = given.value.to_ascii_lowercase();
    let word = text.trim_matches(['(', ')']);
    let (all, verdict) = match word {
        "max" => (vec![Rate::Max], Verdict::same("as fast as the target goes")),
        "curve" => (vec![Rate::Max], Verdict::near(CURVE)),
        _ => {
            let all = numbers(&text)?;
            if all.iter().any(|rate| !(1.0..=1e9).contains(rate)) {
                return Err(format!("a rate of `{text}`"));
            }
            // The numbers by which vdbench itself writes its words.
            let words = [9_999_988.0, 9_999_977.0];
            let rate = |rate: f64| match words.contains(&rate) {
                true => Rate::Max,
                false => Rate::Fixed(rate),
            };
            (all.into_iter().map(rate).collect(), Verdict::same("`rate`, an open loop"))
        }
    };
    job.rates = Some(Got { value: all, id: given.id });
    Ok(verdict)
}

/// One number; lists of layouts are not understood.
fn alone(text: &str) -> Result<u64, String> {
    match numbers(text)?.as_slice() {
        [one] => Ok(*one as u64),
        _ => Err("several layouts, one after the other; write a run for each".to_owned()),
    }
}

/// What a ratio saves, in millionths: 2 saves half.
fn saved(text: &str) -> Result<u64, String> {
    let text = list(text).first().cloned().unwrap_or_default();
    let ratio: f64 = text.parse().map_err(|_| format!("`{text}` is no ratio"))?;
    match (1.0..=1_000.0).contains(&ratio) {
        true => Ok(((1.0 - 1.0 / ratio) * 100.0).round() as u64 * 10_000),
        false => Err(format!("`{text}` is no ratio from 1 to 1,000")),
    }
}
