//! The options of io500.ini, section by section.

use crate::loss::{Class, Verdict};
use crate::mpi::job::{Got, inside, near, number, path, same};
use crate::table::{Given, Opt, Rule, Takes};
use std::collections::BTreeMap;

/// What holds for all phases: `[global]` and `[debug]`.
#[derive(Clone, Debug, Default)]
pub struct Top {
    /// The target.
    pub directory: Option<Got<String>>,
    /// Whether `api` asks for direct I/O.
    pub direct: Option<Got<bool>>,
    /// A command that empties caches in place of the kernel's own way.
    pub drop_command: Option<Got<String>>,
    /// Whether caches are emptied before each phase.
    pub drop_caches: Option<Got<bool>>,
    /// How long a phase writes, in s.
    pub stonewall: Option<Got<u64>>,
}

/// A section of a phase, or of the phases of one kind.
#[derive(Clone, Debug, Default)]
pub struct Phase {
    /// Whether `API` asks for direct I/O.
    pub direct: Option<Got<bool>>,
    /// Whether it runs.
    pub run: Option<Got<bool>>,
    /// `transferSize`
    pub transfer: Option<Got<u64>>,
    /// `blockSize`
    pub block: Option<Got<u64>>,
    /// `filePerProc`
    pub each: Option<Got<bool>>,
    /// `segmentCount`
    pub segments: Option<Got<u64>>,
    /// `n`
    pub items: Option<Got<u64>>,
    /// `files-per-dir`
    pub per_directory: Option<Got<u64>>,
}

/// What an io500.ini says.
#[derive(Debug, Default)]
pub struct Config {
    /// What holds for all phases.
    pub top: Top,
    /// The phases, by their sections.
    pub phases: BTreeMap<String, Phase>,
}

const API: &str = "POSIX is what Plimsoll calls, with `--posix.odirect` `engine.direct`; MPIIO is \
approximated by it, and so are libraries of one storage system (DFS, IME, CHFS, GFARM), which need \
a mount here";
const STONEWALL: &str = "`stages.measure` of IOR's phases where their sizes are out of reach; \
otherwise each does all of its amount";
const BLOCK: &str = "`layout.size` of each worker's file; more than 256 GiB are twice the memory \
of all hosts in its place, which `stonewall-time` ends";
const ITEMS: &str = "`tree.files`: each worker makes all of them, whatever the time";
const FIND_WORDS: &str = "`stat` and `readdir` in turn over the files of `mdtest-hard` for 60 s; \
IO500 walks through all directories once";

/// How people write no.
const NO: &[&str] = &["FALSE", "false", "False", "0", "no", "NO"];

/// `[global]`
pub const GLOBAL: &[Opt<Top>] = &[
    Opt {
        name: "datadir",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "target: `plimsoll-data` in that directory",
            |job, given| {
                let target = inside(&path(&given.value)?);
                let why = "files of Plimsoll's own, in `plimsoll-data` in that directory";
                near(&mut job.directory, given, target, why)
            },
        ),
    },
    Opt {
        name: "api",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, API, |job, given| api(&mut job.direct, given)),
    },
    Opt {
        name: "drop-caches",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.drop_caches`", |job, given| {
            same(&mut job.drop_caches, given, flag(&given.value)?, "`engine.drop_caches`")
        }),
    },
    Opt {
        name: "drop-caches-cmd",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Harmless,
            "the kernel's own way, `/proc/sys/vm/drop_caches`, is taken; another command is \
             `stages.prerun` where `drop-caches` asks for one",
            |job, given| match given.value.contains("/proc/sys/vm/drop_caches") {
                true => Ok(Verdict::harmless("`engine.drop_caches` does it where it is asked for")),
                false if given.value.len() > 1_000 || given.value.contains(char::is_control) => {
                    Err("a command of at most 1,000 plain bytes".to_owned())
                }
                false => {
                    let value = given.value.clone();
                    let why = "`stages.prerun`, before each point, where `drop-caches` is TRUE";
                    near(&mut job.drop_command, given, value, why)
                }
            },
        ),
    },
    Opt {
        name: "dataPacketType",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, "random bytes, no two blocks alike", |_, given| {
            match given.value.as_str() {
                "incompressible" | "random" => Ok(Verdict::same("random bytes")),
                _ => Ok(Verdict::near("random bytes, no two blocks alike")),
            }
        }),
    },
    Opt {
        name: "io-buffers-on-gpu",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(NO, "buffers in the memory of a GPU"),
    },
    Opt {
        name: "scc",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("rules of a competition, which allow a shorter `stonewall-time`"),
    },
    Opt {
        name: "resultdir",
        aliases: &["timestamp-resultdir"],
        takes: Takes::Text,
        rule: Rule::Harmless("the run file holds the results; `--out` names it"),
    },
    Opt {
        name: "timestamp-datadir",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("each run has files of its own"),
    },
    Opt {
        name: "verbosity",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Harmless("only how IO500 talks"),
    },
];

/// `[debug]`
pub const DEBUG: &[Opt<Top>] = &[
    Opt {
        name: "stonewall-time",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Approximated, STONEWALL, |job, given| {
            near(&mut job.stonewall, given, number(&given.value)?, STONEWALL)
        }),
    },
    Opt {
        name: "pause-dir",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("a pause while a file is there"),
    },
    Opt {
        name: "verbosity",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Harmless("only how IO500 talks"),
    },
];

/// `[ior-easy]`, `[ior-hard]`, their `-write` and `-read`.
pub const IOR: &[Opt<Phase>] = &[
    Opt {
        name: "API",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, API, |job, given| api(&mut job.direct, given)),
    },
    Opt {
        name: "run",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "whether its workload is there", |job, given| {
            same(&mut job.run, given, flag(&given.value)?, "whether its workload is there")
        }),
    },
    Opt {
        name: "noRun",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "whether its workload is there", |job, given| {
            same(&mut job.run, given, !flag(&given.value)?, "whether its workload is there")
        }),
    },
    Opt {
        name: "transferSize",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`block_size`", |job, given| {
            same(&mut job.transfer, given, number(&given.value)?, "`block_size`")
        }),
    },
    Opt {
        name: "blockSize",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Approximated, BLOCK, |job, given| {
            near(&mut job.block, given, number(&given.value)?, BLOCK)
        }),
    },
    Opt {
        name: "filePerProc",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`layout.kind`", |job, given| {
            same(&mut job.each, given, flag(&given.value)?, "`layout.kind`")
        }),
    },
    Opt {
        name: "segmentCount",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, BLOCK, |job, given| {
            near(&mut job.segments, given, number(&given.value)?, BLOCK)
        }),
    },
    Opt {
        name: "uniqueDir",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("files have Plimsoll's own names"),
    },
    Opt {
        name: "collective",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Approximated,
            "each worker sends its own requests; MPI-IO's collectives gather small ones to large \
             ones first",
            |_, given| {
                Ok(match flag(&given.value)? {
                    false => Verdict::harmless("this value asks for nothing"),
                    true => Verdict::near(
                        "each worker sends its own requests, as they are: MPI-IO gathers small \
                         ones to large ones first, and may be much faster",
                    ),
                })
            },
        ),
    },
    Opt {
        name: "posix.odirect",
        aliases: &["odirect"],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.direct`", |job, given| {
            same(&mut job.direct, given, flag(&given.value)?, "`engine.direct`")
        }),
    },
    Opt {
        name: "hintsFileName",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("hints of MPI-IO"),
    },
    Opt {
        name: "verbosity",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Harmless("only how IOR talks"),
    },
];

/// `[mdtest-easy]`, `[mdtest-hard]`, their `-write`, `-stat`, `-read` and `-delete`.
pub const MDTEST: &[Opt<Phase>] = &[
    Opt {
        name: "API",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Same,
            "POSIX is what Plimsoll calls; MPIIO, DFS, IME, CHFS and GFARM are approximated by it",
            |job, given| {
                let mut none = None;
                let verdict = api(&mut none, given)?;
                job.direct = None;
                Ok(match none {
                    Some(_) => Verdict::near("files are written without `O_DIRECT`"),
                    None => verdict,
                })
            },
        ),
    },
    Opt {
        name: "posix.odirect",
        aliases: &["odirect"],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Approximated,
            "small files go through the page cache of the host",
            |_, given| {
                Ok(match flag(&given.value)? {
                    false => Verdict::harmless("this value asks for nothing"),
                    true => Verdict::near(
                        "small files go through the page cache of the host; writes and reads may \
                         be faster than with `O_DIRECT`",
                    ),
                })
            },
        ),
    },
    Opt {
        name: "n",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, ITEMS, |job, given| {
            let items = number(&given.value)?;
            let why = match items > MOST_ITEMS {
                true => "10,000,000 files for each worker, which none makes in 300 s",
                false => ITEMS,
            };
            near(&mut job.items, given, items.clamp(1, MOST_ITEMS), why)
        }),
    },
    Opt {
        name: "files-per-dir",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`tree.per_directory`", |job, given| {
            same(&mut job.per_directory, given, number(&given.value)?, "`tree.per_directory`")
        }),
    },
    Opt {
        name: "run",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "whether its workload is there", |job, given| {
            same(&mut job.run, given, flag(&given.value)?, "whether its workload is there")
        }),
    },
    Opt {
        name: "noRun",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "whether its workload is there", |job, given| {
            same(&mut job.run, given, !flag(&given.value)?, "whether its workload is there")
        }),
    },
    Opt {
        name: "verbosity",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Harmless("only how mdtest talks"),
    },
];

/// `[find]`
pub const FIND: &[Opt<Phase>] = &[
    Opt {
        name: "run",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, FIND_WORDS, |job, given| {
            let run = flag(&given.value)?;
            job.run = Some(Got { value: run, id: given.id });
            Ok(if run { Verdict::near(FIND_WORDS) } else { Verdict::same("no such workload") })
        }),
    },
    Opt {
        name: "noRun",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, FIND_WORDS, |job, given| {
            let run = !flag(&given.value)?;
            job.run = Some(Got { value: run, id: given.id });
            Ok(if run { Verdict::near(FIND_WORDS) } else { Verdict::same("no such workload") })
        }),
    },
    Opt {
        name: "external-script",
        aliases: &["external-mpi-args", "external-extra-args", "external-args"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "another program walks there; here, `stat` and `readdir` take its place",
            |_, _| Ok(Verdict::near("`stat` and `readdir` take the place of that program")),
        ),
    },
    Opt {
        name: "nproc",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "as many workers as the other phases have",
            |_, _| Ok(Verdict::near("as many workers as the other phases have")),
        ),
    },
    Opt {
        name: "pfind-queue-length",
        aliases: &[
            "pfind-steal-next",
            "pfind-parallelize-single-dir-access-using-hashing",
            "pfind-parallelize-single-dir-access-sequentially",
        ],
        takes: Takes::Text,
        rule: Rule::Harmless("only how pfind shares its work out"),
    },
];

/// `[timestamp]`, and phases that IO500 leaves out unless `--mode=extended` asks for them.
pub const EXTENDED: &[Opt<Phase>] = &[Opt {
    name: "API",
    aliases: &[
        "run",
        "noRun",
        "blockSize",
        "verbosity",
        "randomPrefill",
        "waitingTime",
        "precreatePerSet",
        "filesPerProc",
        "hintsFileName",
        "posix.odirect",
        "transferSize",
        "external-script",
        "external-mpi-args",
        "external-extra-args",
        "external-args",
        "nproc",
        "pfind-queue-length",
        "pfind-steal-next",
        "pfind-parallelize-single-dir-access-using-hashing",
        "pfind-parallelize-single-dir-access-sequentially",
    ],
    takes: Takes::Text,
    rule: Rule::Harmless("of a phase that counts in no score; only `--mode=extended` runs it"),
}];

/// IO500 makes no more in its time.
const MOST_ITEMS: u64 = 10_000_000;

/// Yes or no, as IO500 reads it.
pub fn flag(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" => Ok(true),
        "false" | "0" | "no" => Ok(false),
        _ => Err(format!("`{text}` is neither TRUE nor FALSE")),
    }
}

/// The interface, with options of its own.
fn api(direct: &mut Option<Got<bool>>, given: &Given) -> Result<Verdict, String> {
    let mut words = given.value.split_whitespace();
    let name = words.next().unwrap_or_default();
    let mut verdict = match name.to_ascii_uppercase().as_str() {
        "POSIX" => Verdict::same("POSIX calls"),
        "MPIIO" => Verdict::near("POSIX calls in place of MPI-IO's: no hints of its own"),
        "DFS" | "DAOS" | "IME" | "CHFS" | "GFARM" | "FINCHFS" => {
            return Ok(Verdict::near(format!(
                "POSIX calls on a mount of the same storage, in place of the library of {name}: \
                 the \
                 kernel's way is longer, and rates of small requests may be several times lower"
            )));
        }
        _ => return Err(format!("the interface {name}, a library of its own")),
    };
    for word in words {
        let is_direct = ["--posix.odirect", "--posix.odirect=1", "--posix.odirect=TRUE"];
        if is_direct.contains(&word) {
            *direct = Some(Got { value: true, id: given.id });
        } else if word.starts_with("--posix.lustre.") || word.starts_with("--posix.gpfs.") {
            verdict = Verdict::near(format!("`{word}`, a hint to the file system, is not given"));
        } else {
            return Err(format!("`{word}`, an option of the interface"));
        }
    }
    Ok(verdict)
}
