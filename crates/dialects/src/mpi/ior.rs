//! IOR: its options, and the suite of a command line.

use super::job::{Got, Ranks, inside, near, number, path, same};
use crate::draft::{Fields, Group, Work, size, time};
use crate::loss::{Class, Losses, Verdict};
use crate::table::{Opt, Rule, Takes};

/// A command line of IOR as its options say it.
#[derive(Clone, Debug, Default)]
pub struct Ior {
    block: Option<Got<u64>>,
    transfer: Option<Got<u64>>,
    segments: Option<Got<u64>>,
    each: Option<Got<bool>>,
    write: Option<Got<bool>>,
    read: Option<Got<bool>>,
    check: Option<Got<bool>>,
    random: Option<Got<bool>>,
    fsync: Option<Got<bool>>,
    fsync_each: Option<Got<bool>>,
    direct: Option<Got<bool>>,
    repetitions: Option<Got<u64>>,
    deadline: Option<Got<u64>>,
    ranks: Option<Got<u64>>,
    file: Option<Got<String>>,
    seed: Option<Got<u64>>,
}

const MEGABYTE: u64 = 1 << 20;
const REORDER: &str = "each worker reads what it wrote, after the page cache was emptied \
(`engine.evict`); on several \
     hosts with files of their own, `--set workload.read.rotate=1` reads those of the next host";
const DEADLINE: &str = "`stages.measure`: all workers stop together, with or without wear-out";

/// IOR's options.
pub const OPTIONS: &[Opt<Ior>] = &[
    Opt {
        name: "-b",
        aliases: &["--blockSize"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`layout.size`, with `-s`", |job, given| {
            same(&mut job.block, given, number(&given.value)?, "`layout.size`, with `-s`")
        }),
    },
    Opt {
        name: "-t",
        aliases: &["--transferSize"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`block_size`", |job, given| {
            same(&mut job.transfer, given, number(&given.value)?, "`block_size`")
        }),
    },
    Opt {
        name: "-s",
        aliases: &["--segmentCount"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`segments`, and `layout.size`", |job, given| {
            same(&mut job.segments, given, number(&given.value)?, "`segments`, `layout.size`")
        }),
    },
    Opt {
        name: "-F",
        aliases: &["--filePerProc"],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Same,
            "`layout.kind = \"files\"`, one for each worker; without it `\"shared-file\"`",
            |job, given| same(&mut job.each, given, true, "`layout.kind = \"files\"`"),
        ),
    },
    Opt {
        name: "-w",
        aliases: &["--writeFile"],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "a workload `write`", |job, given| {
            same(&mut job.write, given, true, "the workload `write`")
        }),
    },
    Opt {
        name: "-r",
        aliases: &["--readFile"],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "a workload `read`", |job, given| {
            same(&mut job.read, given, true, "the workload `read`")
        }),
    },
    Opt {
        name: "-W",
        aliases: &["--checkWrite", "-R", "--checkRead"],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Approximated,
            "`contents.verify`: every read is checked, not in a pass of its own",
            |job, given| {
                let why = "`contents.verify`: every read is checked, not in a pass of its own";
                near(&mut job.check, given, true, why)
            },
        ),
    },
    Opt {
        name: "-z",
        aliases: &["--randomOffset"],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`access = \"permutation\"`", |job, given| {
            same(&mut job.random, given, true, "`access = \"permutation\"`")
        }),
    },
    Opt {
        name: "-e",
        aliases: &["--fsync"],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`stages.count_fsync`", |job, given| {
            same(&mut job.fsync, given, true, "`stages.count_fsync`")
        }),
    },
    Opt {
        name: "-Y",
        aliases: &["--fsyncPerWrite"],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Approximated,
            "`fsync_every = 1`: an `fdatasync`, without the file's times",
            |job, given| {
                let why = "`fsync_every = 1`: an `fdatasync`, without the file's times";
                near(&mut job.fsync_each, given, true, why)
            },
        ),
    },
    Opt {
        name: "-B",
        aliases: &["--posix.odirect", "--useO_DIRECT"],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.direct`; IOR's default is off", |job, given| {
            same(&mut job.direct, given, true, "`engine.direct`")
        }),
    },
    Opt {
        name: "-i",
        aliases: &["--repetitions"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`sweep.repetitions`", |job, given| {
            same(&mut job.repetitions, given, number(&given.value)?, "`sweep.repetitions`")
        }),
    },
    Opt {
        name: "-D",
        aliases: &["--deadlineForStonewalling"],
        takes: Takes::Time,
        rule: Rule::Read(Class::Approximated, DEADLINE, |job, given| {
            near(&mut job.deadline, given, number(&given.value)?, DEADLINE)
        }),
    },
    Opt {
        name: "-N",
        aliases: &["--numTasks"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`workers`, of all hosts together", |job, given| {
            same(&mut job.ranks, given, number(&given.value)?, "`workers`, of all hosts")
        }),
    },
    Opt {
        name: "-o",
        aliases: &["--testFile"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "target: `plimsoll-data` beside that file, so that no file there is touched",
            |job, given| {
                let why = "files of Plimsoll's own, in `plimsoll-data` beside that file";
                near(&mut job.file, given, path(&given.value)?, why)
            },
        ),
    },
    Opt {
        name: "-G",
        aliases: &["--setTimeStampSignature", "-X", "--reorderTasksRandomSeed"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`seed`", |job, given| {
            let value = given.value.trim_start_matches('-');
            same(&mut job.seed, given, number(value)?, "`seed`")
        }),
    },
    Opt {
        name: "-a",
        aliases: &["--api"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Same,
            "POSIX is what Plimsoll calls; MPIIO and MMAP are approximated by it, \
             others are refused",
            |_, given| match given.value.to_ascii_uppercase().as_str() {
                "POSIX" => Ok(Verdict::same("`backend = \"sync\"`")),
                "MPIIO" => {
                    Ok(Verdict::near("POSIX calls in place of MPI-IO's: no hints of its own"))
                }
                "MMAP" => Ok(Verdict::near("calls in place of page faults of mapped files")),
                other => Err(format!("the interface {other}")),
            },
        ),
    },
    Opt {
        name: "-C",
        aliases: &["--reorderTasksConstant", "-Z", "--reorderTasksRandom"],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, REORDER, |_, _| Ok(Verdict::near(REORDER))),
    },
    Opt {
        name: "-Q",
        aliases: &["--taskPerNodeOffset"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, REORDER, |_, _| Ok(Verdict::near(REORDER))),
    },
    Opt {
        name: "-c",
        aliases: &["--collective"],
        takes: Takes::Flag,
        rule: Rule::Refused("collective requests"),
    },
    Opt {
        name: "-f",
        aliases: &["--scriptFile"],
        takes: Takes::Text,
        rule: Rule::Refused("IOR's own scripts; write their options as a command line"),
    },
    Opt {
        name: "-M",
        aliases: &["--memoryPerNode"],
        takes: Takes::Size,
        rule: Rule::Refused("memory that is taken away from the page cache"),
    },
    Opt {
        name: "-J",
        aliases: &["--setAlignment", "-S", "--useStridedDatatype", "-V", "--useFileView"],
        takes: Takes::Flag,
        rule: Rule::Refused("MPI-IO and HDF5"),
    },
    Opt {
        name: "-p",
        aliases: &["--preallocate"],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Approximated,
            "blocks are not reserved in advance: the first writes allocate them",
            |_, _| Ok(Verdict::near("blocks are not reserved in advance")),
        ),
    },
    Opt {
        name: "-E",
        aliases: &["--useExistingTestFile"],
        takes: Takes::Flag,
        rule: Rule::Refused("a file that is there; `--existing` reads one"),
    },
    Opt {
        name: "-m",
        aliases: &["--multiFile", "-u", "--uniqueDir"],
        takes: Takes::Flag,
        rule: Rule::Harmless("files have Plimsoll's own names"),
    },
    Opt {
        name: "-T",
        aliases: &["--maxTimeDuration"],
        takes: Takes::Time,
        rule: Rule::Unless(&["0"], "a limit for an amount"),
    },
    Opt {
        name: "-l",
        aliases: &["--dataPacketType"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, "random bytes, no two blocks alike", |_, _| {
            Ok(Verdict::near("random bytes, no two blocks alike"))
        }),
    },
    Opt {
        name: "-O",
        aliases: &["--option"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`stoneWallingWearOut` is Plimsoll's way without `stages.stonewall`; `summaryFormat`, \
             `summaryFile` and `stoneWallingStatusFile` are harmless; others are refused",
            |_, given| {
                let (name, value) = given.value.split_once('=').unwrap_or((&given.value, ""));
                match name {
                    "stoneWallingWearOut" => {
                        Ok(Verdict::near("all workers stop with the time, without wear-out"))
                    }
                    "summaryFormat" | "summaryFile" | "stoneWallingStatusFile" | "verbose" => {
                        Ok(Verdict::harmless("only how IOR reports"))
                    }
                    name => Err(format!("IOR's `{name}` ({value})")),
                }
            },
        ),
    },
    Opt {
        name: "-d",
        aliases: &["--interTestDelay", "-j", "--outlierThreshold", "-A", "--refNum"],
        takes: Takes::Number,
        rule: Rule::Harmless("nothing that is measured"),
    },
    Opt {
        name: "-k",
        aliases: &["--keepFile", "-K", "--keepFileWithError"],
        takes: Takes::Flag,
        rule: Rule::Harmless("our files are removed after the run; `--keep-data` keeps them"),
    },
    Opt {
        name: "-g",
        aliases: &["--intraTestBarriers"],
        takes: Takes::Flag,
        rule: Rule::Harmless("all workers of a stage begin at one instant"),
    },
    Opt {
        name: "-v",
        aliases: &[
            "--verbose",
            "-h",
            "--help",
            "-H",
            "--showHints",
            "-q",
            "--quitOnError",
            "-x",
            "--singleXferAttempt",
            "-n",
            "--noFill",
        ],
        takes: Takes::Flag,
        rule: Rule::Harmless("only how IOR talks, or counts errors"),
    },
    Opt {
        name: "-U",
        aliases: &["--hintsFileName"],
        takes: Takes::Text,
        rule: Rule::Refused("hints of MPI-IO"),
    },
];

/// The fields of the top of the file.
pub fn top(job: &Ior, losses: &Losses) -> Fields {
    let mut top = Fields::default();
    if let Some(got) = &job.seed {
        top.set("seed", got.value.to_string(), losses.source(got.id));
    }
    top
}

/// The workloads of a command line.
pub fn group(job: &Ior, ranks: &Ranks, losses: &mut Losses) -> Group {
    let own = Ranks {
        count: job.ranks.as_ref().map(|got| got.value),
        from: Got::source(&job.ranks, losses),
    };
    let ranks = if ranks.count.is_some() { ranks } else { &own };
    let block = job.block.as_ref().map_or(MEGABYTE, |got| got.value);
    let transfer = job.transfer.as_ref().map_or(MEGABYTE / 4, |got| got.value).clamp(512, 1 << 30);
    let segments = job.segments.as_ref().map_or(1, |got| got.value).clamp(1, 65_536);
    let each = block.saturating_mul(segments).clamp(transfer, 1 << 60);
    let mut group = Group { name: "ior".to_owned(), in_turn: true, ..Group::default() };
    layout(job, ranks, each, losses, &mut group);
    stages(job, losses, &mut group);
    group.engine.set("backend", "\"sync\"", "");
    let direct = job.direct.is_some();
    group.engine.set("direct", direct.to_string(), Got::source(&job.direct, losses));
    if let Some(got) = &job.check {
        match transfer.is_multiple_of(512) {
            true => group.contents.text("verify", "true", losses.source(got.id)),
            false => losses
                .worsen(got.id, Verdict::refused("checks of sizes that are no multiples of 512")),
        }
    }
    if let Some(got) = job.repetitions.as_ref().filter(|got| got.value > 1) {
        let value = got.value.min(1_000).to_string();
        group.sweep.set("repetitions", value, losses.source(got.id));
    }
    let both = job.write.is_none() && job.read.is_none();
    for (name, got, read) in [("write", &job.write, "0%"), ("read", &job.read, "100%")] {
        if got.is_none() && !both {
            continue;
        }
        let mut fields = Fields::default();
        fields.set("block_size", size(transfer), Got::source(&job.transfer, losses));
        let access = if job.random.is_some() { "permutation" } else { "sequential" };
        fields.text("access", access, Got::source(&job.random, losses));
        fields.text("read", read, Got::source(got, losses));
        if segments > 1 && job.each.is_none() {
            fields.set("segments", segments.to_string(), Got::source(&job.segments, losses));
        }
        super::workers(&mut fields, ranks);
        fields.set("depth", "1", "");
        if let Some(got) = job.fsync_each.as_ref().filter(|_| name == "write") {
            fields.set("fsync_every", "1", losses.source(got.id));
        }
        group.works.push(Work { name: name.to_owned(), note: String::new(), fields });
    }
    group
}

fn layout(job: &Ior, ranks: &Ranks, each: u64, losses: &mut Losses, group: &mut Group) {
    let source = Got::source(&job.block, losses);
    match &job.each {
        Some(got) => {
            group.layout.text("kind", "files", losses.source(got.id));
            group.layout.set("files", "1", "");
            group.layout.text("per", "worker", losses.source(got.id));
            group.layout.set("size", size(each), source);
        }
        None => {
            group.layout.text("kind", "shared-file", "");
            let all = each.saturating_mul(ranks.count.unwrap_or(1)).min(1 << 60);
            group.layout.set("size", size(all), source);
        }
    }
    if let Some(got) = &job.file {
        let directory = got.value.rsplit_once('/').map_or(".", |(directory, _)| directory);
        group.targets = vec![inside(directory)];
        group.targets_from = losses.source(got.id);
    }
}

fn stages(job: &Ior, losses: &mut Losses, group: &mut Group) {
    // A read without a write before it finds a file that is there; ours is made.
    let only_reads = job.read.is_some() && job.write.is_none();
    group.stages.set("prepare", only_reads.to_string(), "");
    match job.deadline.as_ref().filter(|got| got.value > 0) {
        Some(got) => {
            let measure = time(got.value.saturating_mul(1_000_000_000).min(1 << 60));
            group.stages.set("measure", measure, losses.source(got.id));
            // What a time wrote may be less than what is read.
            group.stages.set("prepare", "true", "");
            if let Some(fsync) = &job.fsync {
                let why = Verdict::near("files are flushed when nothing is measured any more");
                losses.worsen(fsync.id, why);
            }
        }
        None => {
            group.stages.set("amount", "\"all\"", "");
            let value = job.fsync.is_some().to_string();
            group.stages.set("count_fsync", value, Got::source(&job.fsync, losses));
            group.stages.set("count_close", "true", "");
        }
    }
}
