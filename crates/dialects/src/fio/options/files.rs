//! Files and sizes: where the load goes, and how much of it is loaded.

use crate::fio::job::{Job, Zones, later, near, same};
use crate::loss::{Class, Verdict};
use crate::table::{Opt, Rule, Takes};
use crate::values::{Extent, extent, flag, number};

/// The options of this chapter.
pub const OPTIONS: &[Opt<Job>] = &[
    Opt {
        name: "filename",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "a device is the target itself (`--destroy-data` where it is written); a file is \
             Plimsoll's own, in a directory beside it; a list is several targets",
            |job, given| later(&mut job.filename, given, list(&given.value)?),
        ),
    },
    Opt {
        name: "directory",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "target: `plimsoll-data` in that directory, so that no file there is touched",
            |job, given| {
                let why = "files of Plimsoll's own, in `plimsoll-data` in that directory";
                near(&mut job.directory, given, list(&given.value)?, why)
            },
        ),
    },
    Opt { name: "filename_format", aliases: &[], takes: Takes::Text, rule: Rule::Harmless(NAMES) },
    Opt { name: "unique_filename", aliases: &[], takes: Takes::Flag, rule: Rule::Harmless(NAMES) },
    Opt {
        name: "filetype",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("what a target is, Plimsoll looks up itself"),
    },
    Opt {
        name: "lockfile",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Unless(&["none"], "locks on files around each request"),
    },
    Opt {
        name: "opendir",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("all files below a directory as they are"),
    },
    Opt {
        name: "size",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Same,
            "`layout.size`, for all files of a job; without `time_based` also the amount",
            |job, given| {
                let size = zoned(job, &given.value)?;
                same(&mut job.size, given, size, "`layout.size`")
            },
        ),
    },
    Opt {
        name: "io_size",
        aliases: &["io_limit"],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Same,
            "`stages.amount`; more than `size` is approximated by all of it once",
            |job, given| {
                let size = zoned(job, &given.value)?;
                later(&mut job.io_size, given, size)
            },
        ),
    },
    Opt {
        name: "filesize",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`layout.size`, of each file", |job, given| {
            let text = given.value.as_str();
            let (least, most) = text.split_once(['-', ':']).unwrap_or((text, text));
            let sizes = (number(least, job.kb_base)?, number(most, job.kb_base)?);
            if sizes.0 != sizes.1 {
                let why = "every file has the mean of both sizes";
                return near(&mut job.filesize, given, sizes, why);
            }
            same(&mut job.filesize, given, sizes, "`layout.size`")
        }),
    },
    Opt {
        name: "fill_device",
        aliases: &["fill_fs"],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Approximated,
            "a device is loaded as a whole; files take nine tenths of the free space",
            |job, given| {
                let fill = flag(&given.value)?;
                let why = "a device as a whole, or nine tenths of the free space, without an error";
                near(&mut job.fill, given, fill, why)
            },
        ),
    },
    Opt {
        name: "file_append",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(&["0"], "writes behind the end of a file"),
    },
    Opt {
        name: "offset",
        aliases: &["fileoffset"],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Same,
            "`range`, in shares of the file, rounded to 0.0001 %",
            |job, given| {
                let offset = zoned(job, &given.value)?;
                same(&mut job.offset, given, offset, "`range`")
            },
        ),
    },
    Opt {
        name: "offset_align",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Harmless("`range` begins at a whole block"),
    },
    Opt {
        name: "offset_increment",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Same,
            "a segment for each worker, where the increment is the `size`; otherwise approximated",
            |job, given| {
                let value = zoned(job, &given.value)?;
                later(&mut job.increment, given, value)
            },
        ),
    },
    Opt {
        name: "number_ios",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`stages.amount`: so many blocks", |job, given| {
            let value = number(&given.value, job.kb_base)?;
            later(&mut job.number, given, value)
        }),
    },
    Opt {
        name: "nrfiles",
        aliases: &["nr_files"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`layout.files`", |job, given| {
            let value = number(&given.value, job.kb_base)?;
            same(&mut job.files, given, value, "`layout.files`")
        }),
    },
    Opt {
        name: "openfiles",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "all files of a worker are open from the start",
            |_, _| Ok(Verdict::near("all files of a worker are open from the start")),
        ),
    },
    Opt {
        name: "file_service_type",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "random requests fall on all files of a worker alike; sequential ones take turns with \
             `streams`",
            |_, given| {
                let kind = given.value.split(':').next().unwrap_or_default();
                Ok(match kind {
                    "roundrobin" | "random" => {
                        Verdict::same("all files of a worker are loaded alike")
                    }
                    "sequential" => Verdict::near("the files take turns, request by request"),
                    _ => Verdict::refused("files of which some are loaded more than others"),
                })
            },
        ),
    },
    Opt {
        name: "fallocate",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "the layout is written (`stages.prepare`) or not; its blocks are not only reserved",
            |_, given| {
                Ok(match given.value.as_str() {
                    "none" | "0" => Verdict::same("files are not reserved in advance"),
                    _ => Verdict::near(
                        "blocks are not reserved in advance: the first writes allocate them",
                    ),
                })
            },
        ),
    },
    Opt {
        name: "fadvise_hint",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "no advice is given to the kernel; it matters through the page cache alone",
            |_, given| {
                Ok(match flag(&given.value) {
                    Ok(false) => Verdict::same("no advice is given"),
                    _ => Verdict::near(
                        "no advice is given to the kernel; through the page cache, it reads ahead \
                         by its own rules",
                    ),
                })
            },
        ),
    },
    Opt {
        name: "write_hint",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Unless(&["none", "not_set"], "write lifetime hints"),
    },
    Opt {
        name: "overwrite",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`stages.prepare`", |job, given| {
            let value = flag(&given.value)?;
            same(&mut job.overwrite, given, value, "`stages.prepare`")
        }),
    },
    Opt {
        name: "create_serialize",
        aliases: &["create_fsync"],
        takes: Takes::Flag,
        rule: Rule::Harmless("`prepare` is a stage of its own, and over before anything begins"),
    },
    Opt {
        name: "create_on_open",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("files are made by the layout, or by the operation that makes them"),
    },
    Opt {
        name: "create_only",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(&["0"], "a layout without a load (`--keep-data` keeps one)"),
    },
    Opt {
        name: "allow_file_create",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("files are made unless the run has `--existing`"),
    },
    Opt {
        name: "allow_mounted_write",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("a mounted device is never written"),
    },
    Opt {
        name: "pre_read",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(&["0"], "a cache that is warmed by reading all once"),
    },
    Opt {
        name: "unlink",
        aliases: &["unlink_each_loop"],
        takes: Takes::Flag,
        rule: Rule::Harmless("our files are removed after the run; `--keep-data` keeps them"),
    },
    Opt {
        name: "zonemode",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Same,
            "`strided` in order is `run` and `stride`; `zbd` is `zones = \"device\"`",
            |job, given| match given.value.as_str() {
                "none" => Ok(Verdict::harmless("this value asks for nothing")),
                "strided" => later(&mut job.zones, given, Zones::Strided),
                "zbd" => later(&mut job.zones, given, Zones::OfDevice),
                other => Err(format!("`{other}` is no way through zones that fio knows")),
            },
        ),
    },
    Opt {
        name: "zonesize",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, ZONES, |job, given| {
            let value = number(&given.value, job.kb_base)?;
            later(&mut job.zone_size, given, value)
        }),
    },
    Opt {
        name: "zonerange",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, ZONES, |job, given| {
            let value = number(&given.value, job.kb_base)?;
            later(&mut job.zone_range, given, value)
        }),
    },
    Opt {
        name: "zoneskip",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, ZONES, |job, given| match zoned(job, &given.value)? {
            Extent::Bytes(bytes) => later(&mut job.zone_skip, given, bytes),
            Extent::Share(_) => Err("a share of a device between its zones".to_owned()),
        }),
    },
    Opt {
        name: "zonecapacity",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Refused, CAPACITY, |job, given| {
            let value = number(&given.value, job.kb_base)?;
            let is_all = value == 0 || job.zone_size.as_ref().is_some_and(|got| got.value == value);
            let why = "zones can be written to their end";
            Ok(if is_all { Verdict::harmless(why) } else { Verdict::refused(CAPACITY) })
        }),
    },
    Opt {
        name: "read_beyond_wp",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`unwritten_reads`", |job, given| {
            let value = flag(&given.value)?;
            later(&mut job.beyond, given, value)
        }),
    },
    Opt {
        name: "write_zone_remainder",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(&["0"], "writes that fill what is left of a zone, whatever their size"),
    },
    Opt {
        name: "recover_zbd_write_error",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless(
            "after a failed write, the device is asked where the zone's write pointer is",
        ),
    },
    Opt {
        name: "ignore_zone_limits",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(&["0"], "more open zones than the device allows"),
    },
    Opt {
        name: "max_open_zones",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`open_zones`", |job, given| {
            let value = number(&given.value, job.kb_base)?;
            later(&mut job.open_zones, given, value)
        }),
    },
    Opt {
        name: "job_max_open_zones",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`worker_open_zones`", |job, given| {
            let value = number(&given.value, job.kb_base)?;
            later(&mut job.own_open_zones, given, value)
        }),
    },
    Opt {
        name: "zone_reset_threshold",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`zone_reset_threshold`", |job, given| {
            let value = ratio(&given.value)?;
            later(&mut job.reset_threshold, given, value)
        }),
    },
    Opt {
        name: "zone_reset_frequency",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`zone_reset_frequency`", |job, given| {
            let value = ratio(&given.value)?;
            later(&mut job.reset_frequency, given, value)
        }),
    },
];

const ZONES: &str = "`run` and `stride` of strided zones, `zone_size` of those of a device";
const CAPACITY: &str = "zones of which a part cannot be written, on a device without zones";

/// A share from 0 to 1, in millionths.
fn ratio(text: &str) -> Result<u64, String> {
    let value: f64 = text.trim().parse().map_err(|_| format!("`{text}` is no number"))?;
    if (0.0..=1.0).contains(&value) {
        return Ok((value * 1e6).round() as u64);
    }
    Err(format!("`{text}` is no share from 0 to 1"))
}

/// A size, a share, or so many zones (`128z`) where the job says how large they are.
fn zoned(job: &Job, text: &str) -> Result<Extent, String> {
    let zones = text.trim().strip_suffix(['z', 'Z']).and_then(|zones| zones.parse::<u64>().ok());
    match (zones, &job.zone_size) {
        (Some(zones), Some(size)) => Ok(Extent::Bytes(zones.saturating_mul(size.value))),
        (Some(_), None) => Err("a size in zones, which the device alone knows".to_owned()),
        (None, _) => extent(text, job.kb_base),
    }
}

const NAMES: &str = "files have Plimsoll's own names";

/// No path is longer.
const LONGEST: usize = 1_000;
/// No list of paths is.
const MOST_NAMES: usize = 256;

/// A list with colons between; a colon with a backslash before it is one of a name.
fn list(text: &str) -> Result<Vec<String>, String> {
    let mut all = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&':') => {
                letters.next();
                all.last_mut().expect("never empty").push(':');
            }
            ':' => all.push(String::new()),
            letter => all.last_mut().expect("never empty").push(letter),
        }
    }
    all.retain(|name| !name.trim().is_empty());
    let is_odd = |name: &String| name.len() > LONGEST || name.chars().any(char::is_control);
    if all.iter().any(is_odd) || all.len() > MOST_NAMES {
        return Err(format!("at most {MOST_NAMES} paths of {LONGEST} plain bytes"));
    }
    Ok(all)
}
