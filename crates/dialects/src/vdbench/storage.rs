//! Storage definitions (`sd=`) and their workloads (`wd=`).

use super::values::{Sizes, bytes, count, list, number, percent, seconds, sizes};
use crate::loss::{Class, Verdict};
use crate::mpi::job::{Got, near, path, same};
use crate::table::{Given, Opt, Rule, Takes};

/// A storage definition.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    /// Its name.
    pub name: String,
    /// `lun`
    pub lun: Option<Got<String>>,
    /// `size`
    pub size: Option<Got<u64>>,
    /// `count`, how many it stands for.
    pub count: Option<Got<u64>>,
    /// `threads`
    pub threads: Option<Got<u64>>,
    /// `range`, as a suite has it.
    pub range: Option<Got<String>>,
    /// How it is opened.
    pub open: Open,
}

/// What `openflags` asks for.
#[derive(Clone, Debug, Default)]
pub struct Open {
    /// Direct I/O.
    pub direct: Option<Got<bool>>,
    /// Durable writes.
    pub durable: Option<Got<bool>>,
}

/// Where the next request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// Each request at random.
    Random,
    /// One behind the other.
    Sequential,
    /// The same, and an end after the last block.
    UntilTheEnd,
    /// This share, in millionths, at random.
    Partly(u64),
}

/// A workload definition.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// `sd`: patterns of names.
    pub storages: Option<Got<Vec<String>>>,
    /// `xfersize`
    pub sizes: Option<Got<Sizes>>,
    /// `rdpct`, in millionths.
    pub read: Option<Got<u64>>,
    /// `seekpct`
    pub seek: Option<Got<Seek>>,
    /// `skew`, in percent.
    pub skew: Option<Got<f64>>,
    /// `range`, as a suite has it.
    pub range: Option<Got<String>>,
    /// `stride`
    pub stride: Option<Got<u64>>,
    /// `iorate` of its own.
    pub rate: Option<Got<f64>>,
    /// `threads`
    pub threads: Option<Got<u64>>,
    /// `streams`
    pub streams: Option<Got<u64>>,
    /// How its storage is opened.
    pub open: Open,
}

const THREADS: &str = "`depth` of one worker for each target: the same requests in flight, by one \
thread in place of many";
const HOSTS: &str = "hosts are named with `--hosts`; each loads all targets, unless `--target \
HOST:PATH` says otherwise";
const HITS: &[&str] = &["0", "0.0"];
const NO_HITS: &str = "a share of requests that hits a cache (`rhpct`, `whpct`, `hitarea`); \
`access = \"hot-spot\"` is near";

/// Parameters of `sd=`, in the order in which vdbench compares abbreviations.
pub const STORAGE: &[Opt<Storage>] = &[
    Opt {
        name: "host",
        aliases: &["hd"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, HOSTS, |_, _| Ok(Verdict::near(HOSTS))),
    },
    Opt {
        name: "lun",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "target: a device as it is; of a file, `plimsoll-data` beside it",
            |job, given| {
                let lun = path(&given.value)?;
                let verdict = match lun.as_str() {
                    lun if lun.starts_with("/dev/") => Verdict::same("target"),
                    lun if lun.contains('\\') => {
                        Verdict::near("a path of Windows; name the target with `--target`")
                    }
                    _ => Verdict::near(
                        "files of Plimsoll's own, in `plimsoll-data` beside that file",
                    ),
                };
                job.lun = Some(Got { value: lun, id: given.id });
                Ok(verdict)
            },
        ),
    },
    Opt {
        name: "count",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`layout.files`: as many as it counts", |job, given| {
            let all = list(&given.value);
            let many = bytes(all.get(1).map_or("", String::as_str))?;
            same(&mut job.count, given, many.clamp(1, 65_536), "`layout.files`")
        }),
    },
    Opt {
        name: "size",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Same,
            "`layout.size`; of a device, its first bytes",
            |job, given| same(&mut job.size, given, count(&given.value)?, "`layout.size`"),
        ),
    },
    Opt {
        name: "threads",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, THREADS, |job, given| {
            near(&mut job.threads, given, count(&given.value)?.max(1), THREADS)
        }),
    },
    Opt {
        name: "hitarea",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Harmless("only `rhpct` and `whpct` use it"),
    },
    Opt {
        name: "offset",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Unless(HITS, "offsets that no block of the target has"),
    },
    Opt {
        name: "align",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Approximated,
            "requests are aligned to their size (`align`)",
            |_, _| Ok(Verdict::near("requests are aligned to their size")),
        ),
    },
    Opt {
        name: "kstat",
        aliases: &["instance"],
        takes: Takes::Text,
        rule: Rule::Harmless("the kernel's own counters are always recorded"),
    },
    Opt {
        name: "replay",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("traces that are played again"),
    },
    Opt {
        name: "journal",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("a journal of what was written (`contents.verify` has none)"),
    },
    Opt {
        name: "resetlun",
        aliases: &["resetbus"],
        takes: Takes::Number,
        rule: Rule::Refused("resets of SCSI"),
    },
    Opt {
        name: "openflags",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, OPEN, |job, given| open(&mut job.open, given)),
    },
    Opt {
        name: "range",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "`range`", |job, given| {
            same(&mut job.range, given, range(&given.value)?, "`range`")
        }),
    },
    Opt {
        name: "dedup",
        aliases: &["dedupratio", "dedupunit", "dedupsets", "deduphotsets", "dedupflipflop"],
        takes: Takes::Text,
        rule: Rule::Refused("copies that differ from target to target (`contents.duplicate`)"),
    },
    Opt {
        name: "streams",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Refused("`streams` of a storage, which vdbench has no longer"),
    },
];

/// What `openflags` becomes.
pub const OPEN: &str = "`engine.direct` for `o_direct` and `directio`; `dsync` for `o_sync` and \
`o_dsync`; `fsync` and `clear_cache` are approximated";

/// Parameters of `wd=`, in the order in which vdbench compares abbreviations.
pub const WORKLOAD: &[Opt<Workload>] = &[
    Opt {
        name: "sd",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "targets", |job, given| {
            same(&mut job.storages, given, list(&given.value), "targets")
        }),
    },
    Opt {
        name: "skew",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "its share of the rate, `rate`", |job, given| {
            same(&mut job.skew, given, number(&given.value)?, "its share of the rate, `rate`")
        }),
    },
    Opt {
        name: "xfersize",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`block_size`", |job, given| {
            let sizes = sizes(&given.value)?;
            let is_same = sizes.same;
            job.sizes = Some(Got { value: sizes, id: given.id });
            Ok(match is_same {
                true => Verdict::same("`block_size`"),
                false => Verdict::near("`block_size`: some of these sizes, equally often"),
            })
        }),
    },
    Opt {
        name: "readpct",
        aliases: &["rdpct"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`read`", |job, given| {
            same(&mut job.read, given, percent(&given.value)?, "`read`")
        }),
    },
    Opt {
        name: "writepct",
        aliases: &["wrpct"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`read`, what is left", |job, given| {
            same(&mut job.read, given, 1_000_000 - percent(&given.value)?, "`read`")
        }),
    },
    Opt {
        name: "range",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "`range`", |job, given| {
            same(&mut job.range, given, range(&given.value)?, "`range`")
        }),
    },
    Opt {
        name: "hotband",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`range`: requests spread evenly over the band, not in hot spots within it",
            |job, given| {
                let why = "`range`: requests spread evenly over the band";
                near(&mut job.range, given, range(&given.value)?, why)
            },
        ),
    },
    Opt {
        name: "seekpct",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`access`, `random`", |job, given| {
            same(&mut job.seek, given, seek(&given.value)?, "`access`, `random`")
        }),
    },
    Opt {
        name: "stride",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`stride`; of several lengths, the mean", |job, given| {
            let all = list(&given.value);
            let all = all.iter().map(|text| bytes(text)).collect::<Result<Vec<_>, _>>()?;
            let (Some(least), Some(most)) = (all.iter().min(), all.iter().max()) else {
                return Err("a stride without a length".to_owned());
            };
            let mean = (least.midpoint(*most) / 512 * 512).max(*least);
            match least == most {
                true => same(&mut job.stride, given, *least, "`stride`"),
                false => near(&mut job.stride, given, mean, "`stride`: the mean of both"),
            }
        }),
    },
    Opt {
        name: "priority",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Refused("workloads that give way to others"),
    },
    Opt {
        name: "iorate",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`rate`", |job, given| {
            same(&mut job.rate, given, number(&given.value)?, "`rate`")
        }),
    },
    Opt {
        name: "rhpct",
        aliases: &["whpct"],
        takes: Takes::Number,
        rule: Rule::Unless(HITS, NO_HITS),
    },
    Opt {
        name: "host",
        aliases: &["hd"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, HOSTS, |_, _| Ok(Verdict::near(HOSTS))),
    },
    Opt {
        name: "openflags",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, OPEN, |job, given| open(&mut job.open, given)),
    },
    Opt {
        name: "user",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("workloads of vdbench's own classes"),
    },
    Opt {
        name: "threads",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, THREADS, |job, given| {
            near(&mut job.threads, given, count(&given.value)?.max(1), THREADS)
        }),
    },
    Opt {
        name: "streams",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, "`streams`, which take turns", |job, given| {
            let all = list(&given.value);
            let many = bytes(all.first().map_or("", String::as_str))?;
            near(&mut job.streams, given, many.clamp(1, 1_024), "`streams`, which take turns")
        }),
    },
];

/// Where requests go, as `seekpct` says it.
pub fn seek(text: &str) -> Result<Seek, String> {
    let word = text.trim_matches(['(', ')']).to_ascii_lowercase();
    match word.as_str() {
        "eof" | "-1" => Ok(Seek::UntilTheEnd),
        "seqnz" | "sequentialnz" => Ok(Seek::Sequential),
        word if word.len() >= 3 && "random".starts_with(word) => Ok(Seek::Random),
        word if word.len() >= 3 && "sequential".starts_with(word) => Ok(Seek::Sequential),
        word => match percent(word)? {
            0 => Ok(Seek::Sequential),
            1_000_000 => Ok(Seek::Random),
            part => Ok(Seek::Partly(part)),
        },
    }
}

/// Percentages of the target, as a suite has them.
fn range(text: &str) -> Result<String, String> {
    let all = list(text);
    let [from, to] = all.as_slice() else {
        return Err(format!("`{text}` is no part from one place to another"));
    };
    let is_size = |text: &String| text.ends_with(|c: char| c.is_ascii_alphabetic());
    if is_size(from) || is_size(to) {
        return Err("a `range` in bytes; percentages of the target are understood".to_owned());
    }
    let (low, high) = (percent(from)?, percent(to)?);
    match low < high {
        true => Ok(format!("{}-{}", crate::draft::share(low), crate::draft::share(high))),
        false => Err(format!("`{text}` is no part from one place to another")),
    }
}

/// How files are opened.
pub fn open(job: &mut Open, given: &Given) -> Result<Verdict, String> {
    let mut verdict = Verdict::same("`engine.direct`, `dsync`");
    for flag in list(&given.value) {
        match flag.to_ascii_lowercase().as_str() {
            "o_direct" | "directio" | "f_nocache" => {
                job.direct = Some(Got { value: true, id: given.id });
            }
            "directio_off" => job.direct = None,
            "o_sync" | "o_dsync" | "o_rsync" => {
                job.durable = Some(Got { value: true, id: given.id });
            }
            "fsync" => verdict = Verdict::near("files are flushed when nothing is measured"),
            "clear_cache" | "clearcache" => {
                verdict = Verdict::near("`engine.evict`, before a stage that reads");
            }
            flag => return Err(format!("the flag `{flag}`")),
        }
    }
    Ok(verdict)
}

/// A time of at least a second, in ns.
pub fn duration(text: &str) -> Result<u64, String> {
    Ok(seconds(text)?.min(1_000_000_000).saturating_mul(1_000_000_000))
}
