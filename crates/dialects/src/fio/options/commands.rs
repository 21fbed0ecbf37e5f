//! Commands beside reads and writes, and priorities of single requests.

use crate::fio::job::{Commands, Job, Urgent, later, near, put, same};
use crate::loss::{Class, Verdict};
use crate::table::{Given, Opt, Rule, Takes};
use crate::values::{flag, number, three};

/// The options of this chapter.
pub const OPTIONS: &[Opt<Job>] = &[
    Opt {
        name: "write_mode",
        aliases: &["sg_write_mode"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, MODES, commands),
    },
    Opt {
        name: "verify_mode",
        aliases: &["stream_id", "deac"],
        takes: Takes::Text,
        rule: Rule::Unless(&["0", "write", "default"], "NVMe or SCSI commands of other kinds"),
    },
    Opt {
        name: "writefua",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, FUA, |job, given| match flag(&given.value)? {
            true => near(&mut job.sync, given, true, FUA),
            false => Ok(Verdict::harmless("this value asks for nothing")),
        }),
    },
    Opt {
        name: "readfua",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, READ_FUA, |_, given| {
            Ok(match flag(&given.value)? {
                true => Verdict::near(READ_FUA),
                false => Verdict::harmless("this value asks for nothing"),
            })
        }),
    },
    Opt {
        name: "md_per_io_size",
        aliases: &["apptag", "apptag_mask"],
        takes: Takes::Text,
        rule: Rule::Near(PROTECTION),
    },
    Opt {
        name: "pi_act",
        aliases: &["pi_chk"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, PROTECTION, |job, given| {
            near(&mut job.protected, given, true, PROTECTION)
        }),
    },
    Opt {
        name: "prio",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`priority`", |job, given| {
            let value = number(&given.value, job.kb_base)?;
            same(&mut job.prio, given, value, "`priority`")
        }),
    },
    Opt {
        name: "prioclass",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`priority`", |job, given| {
            let value = number(&given.value, job.kb_base)?;
            same(&mut job.prioclass, given, value, "`priority`")
        }),
    },
    Opt {
        name: "priohint",
        aliases: &["cmdprio_hint"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, HINT, |_, given| {
            let hints = three(&given.value, |text| number(text, 1024))?;
            Ok(match hints.iter().flatten().all(|hint| *hint == 0) {
                true => Verdict::harmless("this value asks for nothing"),
                false => Verdict::near(HINT),
            })
        }),
    },
    Opt {
        name: "cmdprio_percentage",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, SPLIT, |job, given| {
            let value = both(&given.value, 100)?;
            near(&mut job.urgent, given, value, SPLIT)
        }),
    },
    Opt {
        name: "cmdprio_bssplit",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, SPLIT, |job, given| {
            let mut parts = given.value.split(',');
            let reads = sizes(parts.next().unwrap_or_default(), job.kb_base)?;
            let writes = parts.next().map(|part| sizes(part, job.kb_base)).transpose()?;
            let has_hints = reads.1 || writes.as_ref().is_some_and(|writes| writes.1);
            let (reads, writes) = (reads.0.clone(), writes.map_or(reads.0, |writes| writes.0));
            put(&mut job.urgent_sizes, given, [reads, writes]);
            Ok(Verdict::near(if has_hints { SPLIT_WITH_HINTS } else { SPLIT }))
        }),
    },
    Opt {
        name: "cmdprio_class",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, OF_SPLIT, |job, given| {
            later(&mut job.urgent_class, given, both(&given.value, 3)?)
        }),
    },
    Opt {
        name: "cmdprio",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, OF_SPLIT, |job, given| {
            later(&mut job.urgent_level, given, both(&given.value, 7)?)
        }),
    },
];

const FUA: &str = "`dsync`: durable before it completes, by FUA or a flush, as the kernel chooses";
const READ_FUA: &str = "plain reads past the page cache: what the drive's own cache holds comes \
from there, in µs instead of the time of the medium; it matters where requests come again";
const PROTECTION: &str = "where the device has protection information, the kernel makes and \
checks it, with tags of its own";
const HINT: &str = "no hint: a drive with command duration limits keeps to none, which matters \
where they are enabled";
const MODES: &str = "`write` is a write, `zeroes` and `write_same_ndob` are trims with `trim_as = \
\"zeroes\"`, `verify` and `verify_bytchk_…` are reads: the drive reads the same bytes, and they \
cross the link; others are refused";
const ZEROES: &str = "trims with `trim_as = \"zeroes\"`: write zeroes of the block layer, which \
results call trims";
const READS: &str = "reads in place of verifying: the drive reads the same bytes and sends them; \
it compares nothing, so that no difference is found";
/// What becomes of priorities of single requests.
pub const SPLIT: &str = "a workload of its own for each priority, in the same ratio, with results \
of its own and a part of the depth: no more of it is in flight when another one waits";
const SPLIT_WITH_HINTS: &str = "a workload of its own for each priority, in the same ratio, with \
results of its own and a part of the depth; without hints, a drive with command duration limits \
keeps to none";
const OF_SPLIT: &str = "`priority` of the workload that `cmdprio_percentage` or `cmdprio_bssplit` \
makes";

/// A number for reads and one for writes, none above `most`.
fn both(text: &str, most: u64) -> Result<[u64; 2], String> {
    let all = three(text, |part| number(part, 1024))?;
    let value = |number: usize| all[number].unwrap_or(0);
    match [value(0), value(1)] {
        both if both.iter().all(|value| *value <= most) => Ok(both),
        _ => Err(format!("`{text}` is more than {most}")),
    }
}

/// `64k/25/1/1:1024k/0`: size, how many of 100, class, level, hint; and whether there are hints.
fn sizes(text: &str, kb_base: u64) -> Result<(Vec<Urgent>, bool), String> {
    let (mut all, mut has_hints) = (Vec::new(), false);
    for part in text.split(':').filter(|part| !part.trim().is_empty()).take(256) {
        let numbers: Result<Vec<u64>, String> =
            part.split('/').map(|number| self::number(number, kb_base)).collect();
        let numbers = numbers?;
        let [size, percent, rest @ ..] = numbers.as_slice() else {
            return Err(format!("`{part}` has no share"));
        };
        let priority = match rest {
            [] => None,
            [class @ 0..=3, level @ 0..=7] => Some([*class, *level]),
            [class @ 0..=3, level @ 0..=7, hint] => {
                has_hints |= *hint > 0;
                Some([*class, *level])
            }
            _ => return Err(format!("`{part}` is no class and level")),
        };
        all.push(Urgent { size: *size, percent: *percent, priority });
    }
    let of_size = |size: u64| {
        let same = all.iter().filter(|one: &&Urgent| one.size == size);
        same.map(|one| one.percent).fold(0, u64::saturating_add)
    };
    match all.iter().find(|one| of_size(one.size) > 100) {
        Some(one) => Err(format!("shares of {} bytes of more than 100 %", one.size)),
        None => Ok((all, has_hints)),
    }
}

/// What takes the place of writes.
fn commands(job: &mut Job, given: &Given) -> Result<Verdict, String> {
    let parts: Vec<&str> = given.value.split(':').take(16).collect();
    let (mut all, mut given_percent) = (Commands::default(), 0);
    let mut has_verify = false;
    for part in &parts {
        let (word, share) = part.split_once('/').unwrap_or((part, ""));
        let percent = match share.trim() {
            "" => 100_u64.checked_div(parts.len() as u64).unwrap_or(100),
            share => number(share, 1024)?,
        };
        given_percent += percent.min(1_000);
        let slot = match word.trim() {
            "write" | "default" | "0" => &mut all.write,
            "zeroes" | "write_same_ndob" => &mut all.zeroes,
            "verify_bytchk_00" | "verify_bytchk_01" | "verify_bytchk_11" => {
                has_verify = true;
                &mut all.verify
            }
            // Of SCSI, the word means a write that is verified.
            "verify" if given.value.contains('/') || !is_scsi(job) => {
                has_verify = true;
                &mut all.verify
            }
            other => return Err(why_not(other)),
        };
        *slot += percent.min(100) * 10_000;
    }
    if given_percent != 100 {
        return Err(format!("`{}` does not add up to 100 %", given.value));
    }
    put(&mut job.commands, given, all);
    Ok(match (all.zeroes > 0, has_verify) {
        (false, false) => Verdict::harmless("this value asks for nothing"),
        (true, false) => Verdict::near(ZEROES),
        (false, true) => Verdict::near(READS),
        (true, true) => Verdict::near(format!("{ZEROES}; {READS}")),
    })
}

fn is_scsi(job: &Job) -> bool {
    let names = job.filename.iter().flat_map(|got| &got.value);
    names.into_iter().any(|name| !name.starts_with("/dev/ng"))
}

fn why_not(word: &str) -> String {
    match word.trim() {
        "uncor" => "blocks that are marked as unreadable (write uncorrectable)".to_owned(),
        "zone_append" => "zone appends".to_owned(),
        "verify" | "write_and_verify" => "writes that the drive reads again".to_owned(),
        "same" | "write_same" => "one block of data for a whole range (write same)".to_owned(),
        "stream" | "write_stream" => "writes of a stream".to_owned(),
        other => format!("the command `{other}`"),
    }
}
