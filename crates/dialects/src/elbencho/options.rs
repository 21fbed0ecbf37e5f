//! elbencho's options.

use crate::loss::{Class, OptionId, Verdict};
use crate::mpi::job::{Got, near, number, path, same};
use crate::table::{Opt, Rule, Takes};

/// What the options of elbencho say.
#[derive(Clone, Debug, Default)]
pub struct Elbencho {
    /// Directories, files and devices.
    pub paths: Vec<Got<String>>,
    /// `--block`
    pub block: Option<Got<u64>>,
    /// `--size`
    pub size: Option<Got<u64>>,
    /// `--threads`
    pub threads: Option<Got<u64>>,
    /// `--dirs`, of each thread.
    pub directories: Option<Got<u64>>,
    /// `--files`, in each directory.
    pub files: Option<Got<u64>>,
    /// `--iodepth`
    pub depth: Option<Got<u64>>,
    /// `--direct`
    pub direct: Option<Got<bool>>,
    /// `--rand`
    pub random: Option<Got<bool>>,
    /// `--randamount`
    pub amount: Option<Got<u64>>,
    /// `--strided`
    pub strided: Option<Got<bool>>,
    /// `--timelimit`, in s.
    pub limit: Option<Got<u64>>,
    /// `--infloop`
    pub endless: Option<Got<bool>>,
    /// `--rwmixpct`, the share of reads in percent.
    pub mix: Option<Got<u64>>,
    /// `--iterations`
    pub iterations: Option<Got<u64>>,
    /// `--dropcache`
    pub drop_caches: Option<Got<bool>>,
    /// `--verify`
    pub verify: Option<Got<bool>>,
    /// `--limitread`, in bytes per second of each thread.
    pub limit_read: Option<Got<u64>>,
    /// `--limitwrite`, in bytes per second of each thread.
    pub limit_write: Option<Got<u64>>,
    /// `--dirsharing`
    pub shared: Option<Got<bool>>,
    /// `--rotatehosts`
    pub rotate: Option<Got<u64>>,
    /// `--blockvarpct`
    pub varied: Option<Got<u64>>,
    /// The phases.
    pub phases: Phases,
}

/// The phases that run.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    /// `--mkdirs`
    pub mkdir: Option<OptionId>,
    /// `--write`
    pub write: Option<OptionId>,
    /// `--stat`
    pub stat: Option<OptionId>,
    /// `--read`
    pub read: Option<OptionId>,
    /// `--delfiles`
    pub remove: Option<OptionId>,
    /// `--deldirs`
    pub rmdir: Option<OptionId>,
}

const DIRECTORIES: &str = "with a tree `mkdir` and `rmdir`; files of a layout have no directories";
const LIMIT: &str =
    "`stages.measure` with `--infloop`; without it, each phase does all of its work";

macro_rules! phase {
    ($name:literal, $short:literal, $field:ident, $class:expr, $words:expr) => {
        Opt {
            name: $name,
            aliases: &[$short],
            takes: Takes::Flag,
            rule: Rule::Read($class, $words, |job, given| {
                job.phases.$field = Some(given.id);
                Ok(match $class {
                    Class::Same => Verdict::same($words),
                    _ => Verdict::near($words),
                })
            }),
        }
    };
}

/// All of elbencho's options.
pub const OPTIONS: &[Opt<Elbencho>] = &[
    Opt {
        name: "--path",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "target: a device as it is; of a directory, `plimsoll-data` in it",
            |job, given| {
                let all: Vec<&str> = given.value.split(',').filter(|one| !one.is_empty()).collect();
                for one in &all {
                    job.paths.push(Got { value: path(one)?, id: given.id });
                }
                match all.iter().all(|one| one.starts_with("/dev/")) {
                    true => Ok(Verdict::same("targets")),
                    false => Ok(Verdict::near("files of Plimsoll's own, in `plimsoll-data` there")),
                }
            },
        ),
    },
    phase!("--mkdirs", "-d", mkdir, Class::Approximated, DIRECTORIES),
    phase!("--write", "-w", write, Class::Same, "a workload that writes, or `create`"),
    phase!("--stat", "", stat, Class::Same, "`stat`, of a tree of files"),
    phase!("--read", "-r", read, Class::Same, "a workload that reads, or `read`"),
    phase!("--delfiles", "-F", remove, Class::Approximated, "with a tree `remove`"),
    phase!("--deldirs", "-D", rmdir, Class::Approximated, DIRECTORIES),
    Opt {
        name: "--block",
        aliases: &["-b"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`block_size`; 1 MiB without it", |job, given| {
            same(&mut job.block, given, number(&given.value)?, "`block_size`")
        }),
    },
    Opt {
        name: "--size",
        aliases: &["-s"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`layout.size` or `tree.size`", |job, given| {
            same(&mut job.size, given, number(&given.value)?, "the size of files")
        }),
    },
    Opt {
        name: "--threads",
        aliases: &["-t"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`workers` of each host", |job, given| {
            same(&mut job.threads, given, number(&given.value)?, "`workers` of each host")
        }),
    },
    Opt {
        name: "--dirs",
        aliases: &["-n"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "how many files each worker has", |job, given| {
            same(&mut job.directories, given, number(&given.value)?, "files of each worker")
        }),
    },
    Opt {
        name: "--files",
        aliases: &["-N"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`tree.per_directory`, or `layout.files`", |job, given| {
            same(&mut job.files, given, number(&given.value)?, "files of each worker")
        }),
    },
    Opt {
        name: "--iodepth",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`depth`", |job, given| {
            same(&mut job.depth, given, number(&given.value)?, "`depth`")
        }),
    },
    Opt {
        name: "--direct",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.direct`; off without it", |job, given| {
            same(&mut job.direct, given, true, "`engine.direct`")
        }),
    },
    Opt {
        name: "--rand",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`access = \"random\"`", |job, given| {
            same(&mut job.random, given, true, "`access = \"random\"`")
        }),
    },
    Opt {
        name: "--randamount",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Approximated,
            "`stages.amount`, of each worker; elbencho shares it out among all",
            |job, given| {
                let why = "`stages.amount`: its share for each worker";
                near(&mut job.amount, given, number(&given.value)?, why)
            },
        ),
    },
    Opt {
        name: "--strided",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`sharing = \"interleaved\"`", |job, given| {
            same(&mut job.strided, given, true, "`sharing = \"interleaved\"`")
        }),
    },
    Opt {
        name: "--timelimit",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Approximated, LIMIT, |job, given| {
            near(&mut job.limit, given, number(&given.value)?, LIMIT)
        }),
    },
    Opt {
        name: "--infloop",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`stages.measure`, with `--timelimit`", |job, given| {
            same(&mut job.endless, given, true, "`stages.measure`, with `--timelimit`")
        }),
    },
    Opt {
        name: "--rwmixpct",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`read` of the workload that writes", |job, given| {
            let share = number(&given.value)?;
            match share <= 100 {
                true => same(&mut job.mix, given, share, "`read` of the workload that writes"),
                false => Err(format!("{share} is no percentage")),
            }
        }),
    },
    Opt {
        name: "--iterations",
        aliases: &["-i"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`sweep.repetitions`", |job, given| {
            same(&mut job.iterations, given, number(&given.value)?, "`sweep.repetitions`")
        }),
    },
    Opt {
        name: "--dropcache",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.drop_caches`", |job, given| {
            same(&mut job.drop_caches, given, true, "`engine.drop_caches`")
        }),
    },
    Opt {
        name: "--verify",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, "`contents.verify`", |job, given| {
            match given.value.as_str() {
                "0" => Ok(Verdict::same("nothing is checked")),
                _ => near(&mut job.verify, given, true, "`contents.verify`, with its own pattern"),
            }
        }),
    },
    Opt {
        name: "--verifydirect",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Refused("a check of each block right after it was written"),
    },
    Opt {
        name: "--limitread",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Approximated, "`rate` of each worker", |job, given| {
            let why = "`rate` of each worker, an open loop";
            near(&mut job.limit_read, given, number(&given.value)?, why)
        }),
    },
    Opt {
        name: "--limitwrite",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Approximated, "`rate` of each worker", |job, given| {
            let why = "`rate` of each worker, an open loop";
            near(&mut job.limit_write, given, number(&given.value)?, why)
        }),
    },
    Opt {
        name: "--dirsharing",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`tree.unique = false`", |job, given| {
            same(&mut job.shared, given, true, "`tree.unique = false`")
        }),
    },
    Opt {
        name: "--rotatehosts",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, "`rotate` of reads", |job, given| {
            let why = "`--set workload.read.rotate=N`, on several hosts";
            near(&mut job.rotate, given, number(&given.value)?, why)
        }),
    },
    Opt {
        name: "--blockvarpct",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "at 100, no two blocks are alike, as here; at less, `contents.duplicate` is near",
            |job, given| match number(&given.value)? {
                100 => Ok(Verdict::same("no two blocks are alike")),
                part => near(&mut job.varied, given, part, "no two blocks are alike"),
            },
        ),
    },
    Opt {
        name: "--blockvaralgo",
        aliases: &["--randalgo"],
        takes: Takes::Text,
        rule: Rule::Harmless("which generator of random numbers is used"),
    },
    Opt {
        name: "--hosts",
        aliases: &[
            "--hostsfile",
            "--numhosts",
            "--port",
            "--svcupint",
            "--svcwait",
            "--svcpwfile",
            "--rankoffset",
            "--start",
            "--datasetthreads",
        ],
        takes: Takes::Text,
        rule: Rule::Harmless("hosts are named with `--hosts` or `--slurm`"),
    },
    Opt {
        name: "--nosvcshare",
        aliases: &[
            "--svcping",
            "--svcelapsed",
            "--quit",
            "--interrupt",
            "--service",
            "--foreground",
        ],
        takes: Takes::Flag,
        rule: Rule::Harmless("how elbencho's own service runs on its hosts"),
    },
    Opt {
        name: "--nodetach",
        aliases: &["--dryrun", "--help", "-h", "--version", "--nopathexp", "--nodiocheck"],
        takes: Takes::Flag,
        rule: Rule::Harmless("nothing that is measured"),
    },
    Opt {
        name: "--lat",
        aliases: &[
            "--lathisto",
            "--latpercent",
            "--allelapsed",
            "--base10",
            "--cpu",
            "--dirstats",
            "--live1",
            "--live1n",
            "--livecsvex",
            "--livejsonex",
            "--nolive",
            "--nocsvlabels",
            "--no0usecerr",
            "--nodelerr",
        ],
        takes: Takes::Flag,
        rule: Rule::Harmless("only how elbencho reports"),
    },
    Opt {
        name: "--csvfile",
        aliases: &[
            "--jsonfile",
            "--resfile",
            "--livecsv",
            "--livejson",
            "--liveint",
            "--label",
            "--log",
            "--latpercent9s",
            "--opslog",
        ],
        takes: Takes::Text,
        rule: Rule::Harmless("only how elbencho reports"),
    },
    Opt {
        name: "--opsloglock",
        aliases: &["--sync", "--nofdsharing"],
        takes: Takes::Flag,
        rule: Rule::Harmless("files are flushed and opened by each worker in any case"),
    },
    Opt {
        name: "--cores",
        aliases: &["--zones"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`engine.pin`: workers on the CPUs of the target's node, not on these",
            |_, _| Ok(Verdict::near("workers on the CPUs of the target's node, not on these")),
        ),
    },
    Opt {
        name: "--trunc",
        aliases: &["--trunctosize", "--preallocfile"],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Approximated,
            "files are made anew for each point; none is cut or reserved in advance",
            |_, _| Ok(Verdict::near("files are neither cut nor reserved in advance")),
        ),
    },
    Opt {
        name: "--fadv",
        aliases: &["--madv"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, "no hint is given to the kernel", |_, _| {
            Ok(Verdict::near("no hint is given to the kernel"))
        }),
    },
    Opt {
        name: "--phasedelay",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Approximated, "no rest between points", |_, _| {
            Ok(Verdict::near("no rest between points"))
        }),
    },
    Opt {
        name: "--norandalign",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Refused("offsets that are no multiples of 512 bytes"),
    },
    Opt {
        name: "--backward",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Refused("requests from the end to the beginning"),
    },
    Opt {
        name: "--mmap",
        aliases: &["--readinline", "--statinline"],
        takes: Takes::Flag,
        rule: Rule::Refused("files that are mapped, or read and looked up while they are written"),
    },
    Opt {
        name: "--rwmixthr",
        aliases: &["--rwmixthrpct", "--flock", "--sharesize"],
        takes: Takes::Text,
        rule: Rule::Refused("readers beside writers of one phase (a `group` of workloads is near)"),
    },
    Opt {
        name: "--treefile",
        aliases: &["--treescan", "--treeroundup"],
        takes: Takes::Text,
        rule: Rule::Refused("files by a list (`tree.sizes` has a mix of sizes)"),
    },
    Opt {
        name: "--treerand",
        aliases: &["--treeroundrob"],
        takes: Takes::Flag,
        rule: Rule::Refused("files by a list (`tree.sizes` has a mix of sizes)"),
    },
    Opt {
        name: "--configfile",
        aliases: &["-c"],
        takes: Takes::Text,
        rule: Rule::Refused("a configuration file; `plimsoll import FILE` reads it by itself"),
    },
    Opt {
        name: "--gpuids",
        aliases: &["--clients", "--clientsfile", "--servers", "--serversfile", "--netdevs"],
        takes: Takes::Text,
        rule: Rule::Refused("GPUs and networks"),
    },
    Opt {
        name: "--netbenchservers",
        aliases: &["--numservers", "--respsize", "--sendbuf", "--recvbuf", "--benchmode"],
        takes: Takes::Text,
        rule: Rule::Refused("GPUs and networks"),
    },
    Opt {
        name: "--gds",
        aliases: &[
            "--cufile",
            "--cufiledriveropen",
            "--cuhostbufreg",
            "--gdsbufreg",
            "--gpuperservice",
            "--netbench",
            "--hdfs",
            "--althttpsvc",
        ],
        takes: Takes::Flag,
        rule: Rule::Refused("GPUs and networks"),
    },
    Opt {
        name: "--s3endpoints",
        aliases: &[
            "--s3key",
            "--s3secret",
            "--s3region",
            "--s3objprefix",
            "--s3sign",
            "--s3credfile",
            "--s3credlist",
            "--s3listobj",
            "--s3multidel",
            "--s3maxconns",
            "--s3mpusplit",
            "--s3mpusizevar",
            "--s3mpucomplphase",
            "--s3log",
            "--s3logprefix",
            "--s3aclgrantee",
            "--s3aclgtype",
            "--s3aclgrants",
            "--s3sessiontoken",
            "--s3sseckey",
            "--s3ssekmskey",
            "--s3checksumalgo",
            "--s3chksumalgo",
            "--s3targetgbps",
        ],
        takes: Takes::Text,
        rule: Rule::Refused("objects (S3)"),
    },
    Opt {
        name: "--s3aclget",
        aliases: &[
            "--s3aclput",
            "--s3aclputinl",
            "--s3aclverify",
            "--s3baclget",
            "--s3baclput",
            "--s3btag",
            "--s3btagverify",
            "--s3bversion",
            "--s3bversionverify",
            "--s3single",
            "--s3fastget",
            "--s3fastput",
            "--s3ignoreerrors",
            "--s3listobjpar",
            "--s3listverify",
            "--s3mpusharing",
            "--s3multiignore404",
            "--s3nocompress",
            "--s3nompcheck",
            "--s3nompucompl",
            "--s3olockcfg",
            "--s3olockcfgverify",
            "--s3otag",
            "--s3otagverify",
            "--s3randobj",
            "--s3sse",
            "--s3statdirs",
            "--s3virtaddr",
        ],
        takes: Takes::Flag,
        rule: Rule::Refused("objects (S3)"),
    },
];
