//! File systems (`fsd=`) and their workloads (`fwd=`).

use super::storage::{OPEN, Open, open};
use super::values::{self, Extent, Mean, Sizes, TOTAL, WORKING_SET, bytes, list, number, percent};
use crate::loss::{Class, Verdict};
use crate::mpi::job::{Got, inside, near, path, same};
use crate::table::{Opt, Rule, Takes};

/// A file system with its files.
#[derive(Clone, Debug, Default)]
pub struct FileSystem {
    /// Its name.
    pub name: String,
    /// `anchor`, as a target.
    pub anchor: Option<Got<String>>,
    /// `depth`
    pub depth: Option<Got<u64>>,
    /// `width`
    pub width: Option<Got<u64>>,
    /// `files`
    pub files: Option<Got<u64>>,
    /// `sizes`
    pub sizes: Option<Got<Sizes>>,
    /// Whether files lie in all directories.
    pub everywhere: Option<Got<bool>>,
    /// `count`: how many it stands for.
    pub count: Option<Got<u64>>,
    /// `totalsize`: the bytes of those files that there are.
    pub total: Option<Got<Extent>>,
    /// `workingsetsize`: the bytes of those files that are loaded.
    pub working_set: Option<Got<Extent>>,
    /// How files are opened.
    pub open: Open,
}

/// A workload of files.
#[derive(Clone, Debug, Default)]
pub struct FileWorkload {
    /// Its name.
    pub name: String,
    /// `fsd`: patterns of names.
    pub file_systems: Option<Got<Vec<String>>>,
    /// `operation`
    pub operation: Option<Got<String>>,
    /// `rdpct`, in millionths.
    pub read: Option<Got<u64>>,
    /// `xfersize`
    pub sizes: Option<Got<Sizes>>,
    /// Whether requests go to random places of a file.
    pub random: Option<Got<bool>>,
    /// `threads`
    pub threads: Option<Got<u64>>,
    /// `skew`, in percent.
    pub skew: Option<Got<f64>>,
    /// How files are opened.
    pub open: Open,
}

const SELECT: &str = "files come in turn (`access = \"sequential\"`), or all at once where \
requests are random";

/// Parameters of `fsd=`, in the order in which vdbench compares abbreviations.
pub const FILE_SYSTEM: &[Opt<FileSystem>] = &[
    Opt {
        name: "anchor",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "target: `plimsoll-data` in that directory",
            |job, given| {
                let why = "files of Plimsoll's own, in `plimsoll-data` in that directory";
                near(&mut job.anchor, given, inside(&path(&given.value)?), why)
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
        name: "host",
        aliases: &["hd"],
        takes: Takes::Text,
        rule: Rule::Refused("`host` of a file system, which vdbench does not know either"),
    },
    Opt {
        name: "width",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "how many files there are", |job, given| {
            same(&mut job.width, given, bytes(&given.value)?, "`files`: those of all directories")
        }),
    },
    Opt {
        name: "depth",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "how many files there are; requests go to files without directories",
            |job, given| {
                let why = "how many files there are; their directories hold them alone";
                near(&mut job.depth, given, bytes(&given.value)?, why)
            },
        ),
    },
    Opt {
        name: "sizes",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`layout.size` or `tree.size`", |job, given| {
            same(&mut job.sizes, given, sizes(&given.value)?, "the size of files")
        }),
    },
    Opt {
        name: "shared",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("each host has files of its own on what all of them share"),
    },
    Opt {
        name: "wss",
        aliases: &["workingsetsize"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Approximated, WORKING_SET, |job, given| {
            let value = Extent::of_files(&given.value)?;
            near(&mut job.working_set, given, value, WORKING_SET)
        }),
    },
    Opt {
        name: "total_size",
        aliases: &["totalsize"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, TOTAL, |job, given| {
            let value = Extent::of_files(&given.value)?;
            same(&mut job.total, given, value, TOTAL)
        }),
    },
    Opt {
        name: "files",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`layout.files` or `tree.files`", |job, given| {
            same(&mut job.files, given, bytes(&given.value)?, "`files`: those of all directories")
        }),
    },
    Opt {
        name: "distribution",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`all` means more files, which lie in the lowest directories here",
            |job, given| match given.value.as_str() {
                "bottom" => Ok(Verdict::same("files lie in the lowest directories")),
                "all" => {
                    near(&mut job.everywhere, given, true, "as many files, lowest directories")
                }
                other => Err(format!("files distributed as `{other}`")),
            },
        ),
    },
    Opt {
        name: "cleanup",
        aliases: &["log"],
        takes: Takes::Text,
        rule: Rule::Harmless("our files are removed after the run"),
    },
    Opt {
        name: "openflags",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, OPEN, |job, given| open(&mut job.open, given)),
    },
    Opt {
        name: "count",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "so many times the files", |job, given| {
            let all = list(&given.value);
            let many = bytes(all.get(1).map_or("", String::as_str))?;
            same(&mut job.count, given, many.clamp(1, 65_536), "so many times the files")
        }),
    },
    Opt {
        name: "dedup",
        aliases: &["dedupratio", "dedupunit", "dedupsets", "deduphotsets"],
        takes: Takes::Text,
        rule: Rule::Refused("copies that differ from target to target (`contents.duplicate`)"),
    },
];

/// Parameters of `fwd=`, in the order in which vdbench compares abbreviations.
pub const FILE_WORKLOAD: &[Opt<FileWorkload>] = &[
    Opt {
        name: "fsd",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "targets", |job, given| {
            same(&mut job.file_systems, given, list(&given.value), "targets")
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
        name: "stopafter",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "requests go to all files at once, not to one file for so many of them",
            |_, _| Ok(Verdict::near("requests go to all files at once")),
        ),
    },
    Opt {
        name: "operations",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "`read`, or `operations` of files", |job, given| {
            let word = given.value.trim_matches(['(', ')']).to_ascii_lowercase();
            same(&mut job.operation, given, word, "its operation")
        }),
    },
    Opt {
        name: "fileselect",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, SELECT, |_, given| {
            let word = list(&given.value).first().cloned().unwrap_or_default().to_ascii_lowercase();
            match word.as_str() {
                word if word.len() >= 3 && ("random".starts_with(word) || word == "poisson") => {
                    Ok(Verdict::near(SELECT))
                }
                word if word.len() >= 3 && "sequential".starts_with(word) => {
                    Ok(Verdict::same("files come in turn"))
                }
                "once" => Ok(Verdict::near("files come in turn, again and again")),
                word => Err(format!("files selected by `{word}`")),
            }
        }),
    },
    Opt {
        name: "fileio",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "`access`", |job, given| {
            let all = list(&given.value.to_ascii_lowercase());
            let first = all.first().map(String::as_str).unwrap_or_default();
            let is = |name: &str| first.len() >= 3 && name.starts_with(first);
            let random = match (is("random"), is("sequential")) {
                (true, _) => true,
                (_, true) => false,
                _ => return Err(format!("requests in the order `{first}`")),
            };
            job.random = Some(Got { value: random, id: given.id });
            match all.get(1).map(String::as_str) {
                None => Ok(Verdict::same("`access`")),
                Some("shared") => Ok(Verdict::near("each worker has files of its own")),
                Some(other) => Err(format!("`fileio` with `{other}`")),
            }
        }),
    },
    Opt {
        name: "xfersizes",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`block_size`", |job, given| {
            same(&mut job.sizes, given, values::sizes(&given.value)?, "`block_size`")
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
        name: "threads",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`workers`", |job, given| {
            same(&mut job.threads, given, bytes(&given.value)?.clamp(1, 65_536), "`workers`")
        }),
    },
    Opt {
        name: "target",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("copies and moves between file systems"),
    },
    Opt {
        name: "host",
        aliases: &["hd"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "hosts are named with `--hosts`; each runs all workloads",
            |_, _| Ok(Verdict::near("hosts are named with `--hosts`; each runs all workloads")),
        ),
    },
    Opt {
        name: "openflags",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, OPEN, |job, given| open(&mut job.open, given)),
    },
];

/// Sizes of files, with their shares.
pub fn sizes(text: &str) -> Result<Sizes, String> {
    let parts = list(text);
    let plain = |bytes: u64| crate::draft::size(bytes).trim_matches('"').to_owned();
    match parts.as_slice() {
        [one] => {
            let largest = bytes(one)?;
            Ok(Sizes { text: plain(largest), largest, mean: largest, same: true })
        }
        parts if parts.len() % 2 == 0 && (2..=128).contains(&parts.len()) => {
            let (mut all, mut largest, mut mean) = (Vec::new(), 0, Mean::default());
            for pair in parts.chunks_exact(2) {
                let (bytes, weight) = (bytes(&pair[0])?, percent(&pair[1])?);
                largest = largest.max(bytes);
                mean.add(bytes, weight);
                // 0 says that the size lies between what stands around it.
                if weight == 0 {
                    return Err("sizes of files at random between two; write them out".to_owned());
                }
                all.push(format!("{}:{}", plain(bytes), weight as f64 / 1e4));
            }
            Ok(Sizes { text: all.join(", "), largest, mean: mean.value(), same: true })
        }
        _ => Err(format!("`{text}` is no size, nor sizes with their shares")),
    }
}
