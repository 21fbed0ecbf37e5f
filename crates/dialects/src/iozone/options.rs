//! IOzone's options.

use crate::loss::{Class, Verdict};
use crate::mpi::job::{Got, near, path, same};
use crate::table::{Opt, Rule, Takes};

/// What the options of IOzone say.
#[derive(Clone, Debug, Default)]
pub struct Iozone {
    /// `-i`
    pub tests: Vec<Got<u64>>,
    /// `-r`
    pub record: Option<Got<u64>>,
    /// `-s`
    pub size: Option<Got<u64>>,
    /// `-g`
    pub most: Option<Got<u64>>,
    /// `-t`, `-u`
    pub threads: Option<Got<u64>>,
    /// `-a`, `-A`
    pub automatic: Option<Got<bool>>,
    /// `-f`, the first of `-F`
    pub file: Option<Got<String>>,
    /// Whether the next words are names of files.
    pub expects_files: bool,
    /// `-I`
    pub direct: Option<Got<bool>>,
    /// `-o`
    pub durable: Option<Got<bool>>,
    /// `-e`
    pub flush: Option<Got<bool>>,
    /// `-c`
    pub close: Option<Got<bool>>,
    /// `-+n`
    pub once: Option<Got<bool>>,
    /// `-+d`, `-V`
    pub verify: Option<Got<bool>>,
    /// `-+m`
    pub cluster: Option<Got<bool>>,
}

const AUTOMATIC: &str = "a sweep of `block_size` over one size of files, the largest; IOzone \
takes all sizes of files";
const STONEWALL: &str = "each worker does all of its amount; results say what was done when the \
first one was ready";

/// All of IOzone's options.
pub const OPTIONS: &[Opt<Iozone>] = &[
    Opt {
        name: "-i",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Same,
            "workloads: 0 writes, 1 reads, 2 random reads and writes; 8 is approximated, others \
             are refused",
            |job, given| {
                let test = number(&given.value, 1)?;
                let what = match test {
                    0..=2 | 8 => {
                        job.tests.push(Got { value: test, id: given.id });
                        return Ok(match test {
                            8 => Verdict::near("half of the requests read"),
                            _ => Verdict::same("its workloads"),
                        });
                    }
                    3 => "requests from the end to the beginning",
                    4 => "one record that is written again and again",
                    5 => "strides of reads (`stride` of a workload is near)",
                    6 | 7 => "calls of the C library (`fwrite`, `fread`)",
                    9 | 10 => "`pwrite` and `pread`, which all workloads here use",
                    11 | 12 => "`pwritev` and `preadv`",
                    _ => "a test of this number",
                };
                Err(what.to_owned())
            },
        ),
    },
    Opt {
        name: "-r",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`block_size`, in KiB without a unit", |job, given| {
            same(&mut job.record, given, number(&given.value, 1024)?, "`block_size`")
        }),
    },
    Opt {
        name: "-s",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`layout.size`, in KiB without a unit", |job, given| {
            same(&mut job.size, given, number(&given.value, 1024)?, "`layout.size`")
        }),
    },
    Opt {
        name: "-g",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`layout.size`, with `-a`", |job, given| {
            same(&mut job.most, given, number(&given.value, 1024)?, "`layout.size`, with `-a`")
        }),
    },
    Opt {
        name: "-n",
        aliases: &["-y", "-q"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Approximated, AUTOMATIC, |_, _| Ok(Verdict::near(AUTOMATIC))),
    },
    Opt {
        name: "-a",
        aliases: &["-A"],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, AUTOMATIC, |job, given| {
            near(&mut job.automatic, given, true, AUTOMATIC)
        }),
    },
    Opt {
        name: "-z",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("all sizes of records are swept in any case"),
    },
    Opt {
        name: "-t",
        aliases: &["-u"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`workers`", |job, given| {
            same(&mut job.threads, given, number(&given.value, 1)?, "`workers`")
        }),
    },
    Opt {
        name: "-l",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "the number of `-u` alone; `--set` sweeps others",
            |_, _| Ok(Verdict::near("the number of `-u` alone")),
        ),
    },
    Opt {
        name: "-f",
        aliases: &["-F"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "target: `plimsoll-data` beside that file",
            |job, given| {
                let file = path(&given.value)?;
                job.expects_files = true;
                if job.file.is_none() {
                    job.file = Some(Got { value: file, id: given.id });
                }
                Ok(Verdict::near("files of Plimsoll's own, in `plimsoll-data` beside that file"))
            },
        ),
    },
    Opt {
        name: "-I",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.direct`; off without it", |job, given| {
            same(&mut job.direct, given, true, "`engine.direct`")
        }),
    },
    Opt {
        name: "-o",
        aliases: &["-+r"],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`dsync`", |job, given| {
            same(&mut job.durable, given, true, "`dsync`")
        }),
    },
    Opt {
        name: "-e",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`stages.count_fsync`", |job, given| {
            same(&mut job.flush, given, true, "`stages.count_fsync`")
        }),
    },
    Opt {
        name: "-c",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`stages.count_close`", |job, given| {
            same(&mut job.close, given, true, "`stages.count_close`")
        }),
    },
    Opt {
        name: "-+n",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "each test once", |job, given| {
            same(&mut job.once, given, true, "each test once")
        }),
    },
    Opt {
        name: "-+d",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, "`contents.verify`", |job, given| {
            near(&mut job.verify, given, true, "`contents.verify`, with its own pattern")
        }),
    },
    Opt {
        name: "-V",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, "`contents.verify`", |job, given| {
            near(&mut job.verify, given, true, "`contents.verify`, with its own pattern")
        }),
    },
    Opt {
        name: "-+m",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`spread = \"all-hosts\"`; hosts are named with `--hosts`",
            |job, given| {
                let why = "`spread = \"all-hosts\"`; hosts are named with `--hosts`";
                near(&mut job.cluster, given, true, why)
            },
        ),
    },
    Opt {
        name: "-x",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, STONEWALL, |_, _| Ok(Verdict::near(STONEWALL))),
    },
    Opt {
        name: "-K",
        aliases: &["-+j", "-M", "-C", "-R", "-E", "-T", "-m", "-p", "-Q", "-N", "-O", "-w", "-W"],
        takes: Takes::Flag,
        rule: Rule::Harmless(
            "how IOzone reports or counts; files are removed, threads and buffers are ours",
        ),
    },
    Opt {
        name: "-b",
        aliases: &["-S", "-L", "-+u", "-+t", "-+h", "-+s", "-X", "-Y", "-Z"],
        takes: Takes::Text,
        rule: Rule::Harmless("how IOzone reports, or what it knows of the machine's caches"),
    },
    Opt {
        name: "-v",
        aliases: &["-h", "-+a", "-+b", "-+w", "-+y", "-+C"],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Approximated,
            "contents of blocks are Plimsoll's own, no two alike",
            |_, _| Ok(Verdict::near("contents of blocks are Plimsoll's own")),
        ),
    },
    Opt {
        name: "-U",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`engine.evict` empties the cache before reads; nothing is mounted anew",
            |_, _| Ok(Verdict::near("`engine.evict` empties the cache before reads")),
        ),
    },
    Opt {
        name: "-P",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, "`engine.pin`: not from this CPU on", |_, _| {
            Ok(Verdict::near("`engine.pin`: not from this CPU on"))
        }),
    },
    Opt {
        name: "-J",
        aliases: &["-H", "-k", "-j", "-d"],
        takes: Takes::Number,
        rule: Rule::Refused("rests, strides and asynchronous calls of IOzone"),
    },
    Opt {
        name: "-B",
        aliases: &["-D", "-G"],
        takes: Takes::Flag,
        rule: Rule::Refused("files that are mapped into memory"),
    },
    Opt {
        name: "-+p",
        aliases: &["-+B", "-+S"],
        takes: Takes::Number,
        rule: Rule::Refused("a share of reads, duplicates, or seeds of IOzone's own"),
    },
];

/// A number with IOzone's units; without one it counts `unit` bytes.
fn number(text: &str, unit: u64) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no number");
    let lower = text.to_ascii_lowercase();
    let (digits, factor) = match lower.as_bytes().last() {
        Some(b'k') => (&lower[..lower.len() - 1], 1 << 10),
        Some(b'm') => (&lower[..lower.len() - 1], 1 << 20),
        Some(b'g') => (&lower[..lower.len() - 1], 1 << 30),
        _ => (lower.as_str(), unit),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(factor).filter(|number| *number <= 1 << 60).ok_or_else(wrong)
}
