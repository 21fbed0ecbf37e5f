//! mdtest: its options, and the suite of a command line.

use super::job::{Got, Ranks, inside, near, number, path, same};
use crate::draft::{Fields, Group, Work, quoted, size};
use crate::import::ImportError;
use crate::loss::{Class, Losses, Verdict};
use crate::table::{Opt, Rule, Takes};

/// A command line of mdtest as its options say it.
#[derive(Clone, Debug, Default)]
pub struct Mdtest {
    items: Option<Got<u64>>,
    per_directory: Option<Got<u64>>,
    depth: Option<Got<u64>>,
    branches: Option<Got<u64>>,
    directory: Option<Got<String>>,
    files: Option<Got<bool>>,
    directories: Option<Got<bool>>,
    create: Option<Got<bool>>,
    stat: Option<Got<bool>>,
    read: Option<Got<bool>>,
    remove: Option<Got<bool>>,
    write_bytes: Option<Got<u64>>,
    unique: Option<Got<bool>>,
    other: Option<Got<u64>>,
    sync: Option<Got<bool>>,
    random: Option<Got<bool>>,
    repetitions: Option<Got<u64>>,
}

/// No tree has more files.
const MOST_FILES: u64 = 1 << 32;

/// mdtest's options.
pub const OPTIONS: &[Opt<Mdtest>] = &[
    Opt {
        name: "-n",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`tree.files`, for each worker", |job, given| {
            same(&mut job.items, given, number(&given.value)?, "`tree.files`, for each worker")
        }),
    },
    Opt {
        name: "-I",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`tree.per_directory`", |job, given| {
            same(&mut job.per_directory, given, number(&given.value)?, "`tree.per_directory`")
        }),
    },
    Opt {
        name: "-z",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "`tree.depth`: files lie in the lowest directories alone, as with `-L`",
            |job, given| {
                let why = "`tree.depth`: files lie in the lowest directories alone, as with `-L`";
                near(&mut job.depth, given, number(&given.value)?, why)
            },
        ),
    },
    Opt {
        name: "-b",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "`tree.fan_out`; the first level has as many directories as the files need",
            |job, given| {
                let why = "`tree.fan_out`; the first level has as many as the files need";
                near(&mut job.branches, given, number(&given.value)?, why)
            },
        ),
    },
    Opt {
        name: "-d",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "target: `plimsoll-data` in that directory",
            |job, given| {
                let why = "a tree of Plimsoll's own, in `plimsoll-data` in that directory";
                near(&mut job.directory, given, path(&given.value)?, why)
            },
        ),
    },
    Opt {
        name: "-F",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "files alone", |job, given| {
            same(&mut job.files, given, true, "`operations` of files")
        }),
    },
    Opt {
        name: "-D",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "directories alone: `mkdir`, `rmdir`", |job, given| {
            same(&mut job.directories, given, true, "`operations` of directories")
        }),
    },
    Opt {
        name: "-C",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`create`", |job, given| {
            same(&mut job.create, given, true, "`create`")
        }),
    },
    Opt {
        name: "-T",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`stat`", |job, given| {
            same(&mut job.stat, given, true, "`stat`")
        }),
    },
    Opt {
        name: "-E",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`read`", |job, given| {
            same(&mut job.read, given, true, "`read`")
        }),
    },
    Opt {
        name: "-r",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`remove`", |job, given| {
            same(&mut job.remove, given, true, "`remove`")
        }),
    },
    Opt {
        name: "-w",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`tree.size`", |job, given| match number(&given.value)? {
            bytes if bytes <= 64 << 20 => same(&mut job.write_bytes, given, bytes, "`tree.size`"),
            _ => Err("files of more than 64 MiB in a tree".to_owned()),
        }),
    },
    Opt {
        name: "-e",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Approximated, "a file is read as a whole, in one piece", |_, _| {
            Ok(Verdict::near("a file is read as a whole, in one piece"))
        }),
    },
    Opt {
        name: "-u",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`tree.unique`", |job, given| {
            same(&mut job.unique, given, true, "`tree.unique`")
        }),
    },
    Opt {
        name: "-N",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "`other = \"true\"`: another worker's files; on several hosts, `--set other=host`",
            |job, given| {
                let why = "`other`: another worker's files; on several hosts, `--set other=host`";
                near(&mut job.other, given, number(&given.value)?, why)
            },
        ),
    },
    Opt {
        name: "-y",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`fsync = \"timed\"`", |job, given| {
            same(&mut job.sync, given, true, "`fsync = \"timed\"`")
        }),
    },
    Opt {
        name: "-R",
        aliases: &["--random-seed"],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`file_order = \"random\"`", |job, given| {
            same(&mut job.random, given, true, "`file_order = \"random\"`")
        }),
    },
    Opt {
        name: "-i",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`sweep.repetitions`", |job, given| {
            same(&mut job.repetitions, given, number(&given.value)?, "`sweep.repetitions`")
        }),
    },
    Opt {
        name: "-L",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "files lie in the lowest directories", |_, _| {
            Ok(Verdict::same("files lie in the lowest directories"))
        }),
    },
    Opt {
        name: "-a",
        aliases: &["--api"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "POSIX; others are refused", |_, given| {
            match given.value.to_ascii_uppercase().as_str() {
                "POSIX" => Ok(Verdict::same("calls of POSIX")),
                "MMAP" => Ok(Verdict::near("calls in place of page faults of mapped files")),
                other => Err(format!("the interface {other}")),
            }
        }),
    },
    Opt {
        name: "-W",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Refused("a time after which the making of files ends"),
    },
    Opt {
        name: "-t",
        aliases: &["-c", "-k", "-m", "-S", "-A"],
        takes: Takes::Flag,
        rule: Rule::Refused("this way of sharing directories or files"),
    },
    Opt {
        name: "-f",
        aliases: &["-l", "-s"],
        takes: Takes::Number,
        rule: Rule::Refused("other numbers of tasks in turn; sweep `workers`"),
    },
    Opt {
        name: "-p",
        aliases: &["-V", "-x", "-G"],
        takes: Takes::Text,
        rule: Rule::Harmless("nothing that is measured"),
    },
    Opt {
        name: "-v",
        aliases: &["-P", "-B", "-Z", "-q", "-h", "-X", "-Y", "-M"],
        takes: Takes::Flag,
        rule: Rule::Harmless("only how mdtest talks, waits or checks itself"),
    },
];

/// The workload of a command line.
pub fn group(job: &Mdtest, ranks: &Ranks, losses: &mut Losses) -> Result<Group, ImportError> {
    let mut group = Group { name: "mdtest".to_owned(), ..Group::default() };
    group.layout.text("kind", "tree", "");
    tree(job, ranks, losses, &mut group)?;
    if let Some(got) = &job.directory {
        group.targets = vec![inside(&got.value)];
        group.targets_from = losses.source(got.id);
    }
    if let Some(got) = job.repetitions.as_ref().filter(|got| got.value > 1) {
        let value = got.value.min(1_000).to_string();
        group.sweep.set("repetitions", value, losses.source(got.id));
    }
    let all =
        job.create.is_none() && job.stat.is_none() && job.read.is_none() && job.remove.is_none();
    // What is made again has to be removed before.
    let again = job.repetitions.as_ref().is_some_and(|got| got.value > 1);
    let mut words = Vec::new();
    // Both together are both kinds, as neither is.
    let both = job.directories.is_some() == job.files.is_some();
    if both || job.files.is_some() {
        // What is looked up or removed has to be made before.
        let phases = [("stat", &job.stat), ("read", &job.read), ("remove", &job.remove)];
        words.push("create");
        let is_asked = |word: &str, asked: bool| all || asked || (again && word == "remove");
        let phases = phases.iter().filter(|(word, got)| is_asked(word, got.is_some()));
        words.extend(phases.map(|(word, _)| *word));
    }
    if both || job.directories.is_some() {
        words.push("mkdir");
        if all || again || job.remove.is_some() {
            words.push("rmdir");
        }
    }
    let mut fields = Fields::default();
    fields.text("kind", "metadata", "");
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    fields.set("operations", format!("[{}]", quoted.join(", ")), "");
    super::workers(&mut fields, ranks);
    if let Some(got) = &job.random {
        fields.text("file_order", "random", losses.source(got.id));
    }
    if let Some(got) = job.other.as_ref().filter(|got| got.value > 0) {
        match ranks.count {
            Some(2..) => fields.set("other", "true", losses.source(got.id)),
            _ => losses.replace(got.id, Verdict::harmless("there is one worker alone")),
        }
    }
    if let Some(got) = &job.sync {
        fields.text("fsync", "timed", losses.source(got.id));
    }
    group.works.push(Work { name: "metadata".to_owned(), note: String::new(), fields });
    Ok(group)
}

/// The directories of mdtest's tree, its root among them.
fn directories(job: &Mdtest) -> u64 {
    let depth = job.depth.as_ref().map_or(0, |got| got.value.min(64));
    let branches = job.branches.as_ref().map_or(1, |got| got.value.max(1));
    let mut level: u64 = 1;
    let mut all: u64 = 1;
    for _ in 0..depth {
        level = level.saturating_mul(branches);
        all = all.saturating_add(level);
    }
    all
}

fn tree(
    job: &Mdtest,
    ranks: &Ranks,
    losses: &mut Losses,
    group: &mut Group,
) -> Result<(), ImportError> {
    let (items, source) = match (&job.items, &job.per_directory) {
        (Some(got), _) => (got.value, losses.source(got.id)),
        (None, Some(got)) => (got.value.saturating_mul(directories(job)), losses.source(got.id)),
        (None, None) => {
            let remedy = "add -n, or -I";
            return Err(ImportError::new("command", "mdtest is not told how many files", remedy));
        }
    };
    let all = items.saturating_mul(ranks.count.unwrap_or(1).clamp(1, 65_536));
    if !(1..=MOST_FILES).contains(&all) {
        let what = format!("{all} files are out of range");
        return Err(ImportError::new("command", what, format!("ask for 1 to {MOST_FILES}")));
    }
    // `tree.files` counts those of a host.
    let files = match ranks.count {
        Some(count) => quoted(&format!("{items} * {} / hosts", count.min(65_536))),
        None => items.to_string(),
    };
    group.tree.set("files", files, source);
    if let Some(got) = &job.write_bytes {
        group.tree.set("size", size(got.value), losses.source(got.id));
    }
    let lowest = job.per_directory.as_ref().map_or(items, |got| got.value.clamp(1, 1 << 32));
    let source = Got::source(&job.per_directory, losses);
    group.tree.set("per_directory", lowest.to_string(), source);
    if let Some(got) = &job.depth {
        group.tree.set("depth", got.value.min(16).to_string(), losses.source(got.id));
    }
    if let Some(got) = job.branches.as_ref().filter(|got| got.value > 0) {
        group.tree.set("fan_out", got.value.min(1 << 20).to_string(), losses.source(got.id));
    }
    let unique = job.unique.is_some();
    group.tree.set("unique", unique.to_string(), Got::source(&job.unique, losses));
    Ok(())
}
