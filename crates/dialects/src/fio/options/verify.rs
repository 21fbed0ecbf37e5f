//! Contents and checks: what written blocks hold, whether they are durable, and whether they are
//! read again.

use crate::fio::job::{Job, later, near, same};
use crate::loss::{Class, Verdict};
use crate::table::{Opt, Rule, Takes};
use crate::values::{flag, number, percent};

/// The options of this chapter.
pub const OPTIONS: &[Opt<Job>] = &[
    Opt {
        name: "fsync",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "`fsync_every`: an `fdatasync`, which leaves out the file's times",
            |job, given| {
                let value = number(&given.value, job.kb_base)?;
                if value == 0 {
                    return same(&mut job.fsync, given, value, "`fsync_every`");
                }
                let why = "`fsync_every`: an `fdatasync`, without the file's times";
                near(&mut job.fsync, given, value, why)
            },
        ),
    },
    Opt {
        name: "fdatasync",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`fsync_every`", |job, given| {
            let value = number(&given.value, job.kb_base)?;
            same(&mut job.fsync, given, value, "`fsync_every`")
        }),
    },
    Opt {
        name: "write_barrier",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Unless(&["0"], "barriers among writes"),
    },
    Opt {
        name: "sync_file_range",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("`sync_file_range` after so many writes"),
    },
    Opt {
        name: "sync",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "`dsync`", |job, given| match given.value.as_str() {
            "none" | "0" => same(&mut job.sync, given, false, "`dsync`"),
            "dsync" => same(&mut job.sync, given, true, "`dsync`"),
            "" | "sync" | "1" => {
                let why = "`dsync`: `O_DSYNC` in place of `O_SYNC`, without the file's times";
                near(&mut job.sync, given, true, why)
            }
            other => Err(format!("`{other}` is no way of `sync` that fio knows")),
        }),
    },
    Opt {
        name: "end_fsync",
        aliases: &["fsync_on_close", "end_syncfs"],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Same,
            "`stages.count_fsync` where an amount is measured; harmless where a time is",
            |job, given| {
                let value = flag(&given.value)?;
                later(&mut job.end_fsync, given, value)
            },
        ),
    },
    Opt {
        name: "verify",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Same,
            "`contents.verify`: Plimsoll's own header and checksum in every 512 bytes, whatever \
             the method",
            |job, given| {
                let is_on = !matches!(given.value.as_str(), "0" | "none");
                same(&mut job.verify, given, is_on, "`contents.verify`, with Plimsoll's checksum")
            },
        ),
    },
    Opt {
        name: "do_verify",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Same,
            "`contents.verify`: `true` in place of `after`",
            |job, given| {
                let value = flag(&given.value)?;
                same(&mut job.do_verify, given, value, "`contents.verify`")
            },
        ),
    },
    Opt {
        name: "verify_only",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(
            &["0"],
            "a suite that only checks; `plimsoll verify RUN` checks what a run left",
        ),
    },
    Opt {
        name: "verify_policy",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("blocks are checked after the point, or when they are read"),
    },
    Opt { name: "verifysort", aliases: &["verifysort_nr"], takes: Takes::Number, rule: OWN },
    Opt { name: "verify_interval", aliases: &["verify_offset"], takes: Takes::Size, rule: OWN },
    Opt {
        name: "verify_pattern",
        aliases: &["verify_pattern_interval"],
        takes: Takes::Text,
        rule: OWN,
    },
    Opt {
        name: "verify_header_seed",
        aliases: &["verify_write_sequence", "experimental_verify"],
        takes: Takes::Flag,
        rule: OWN,
    },
    Opt {
        name: "verify_fatal",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, GOES_ON, |_, given| {
            Ok(match flag(&given.value)? {
                true => Verdict::near(GOES_ON),
                false => Verdict::same("damage is counted, and the run goes on"),
            })
        }),
    },
    Opt {
        name: "verify_dump",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("damaged blocks are named with offset, what they hold and should"),
    },
    Opt {
        name: "verify_async",
        aliases: &["verify_async_cpus"],
        takes: Takes::Text,
        rule: Rule::Harmless("who checks changes nothing that is checked"),
    },
    Opt {
        name: "verify_backlog",
        aliases: &["verify_backlog_batch"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, BACKLOG, |_, _| Ok(Verdict::near(BACKLOG))),
    },
    Opt {
        name: "verify_state_load",
        aliases: &["verify_state_save"],
        takes: Takes::Flag,
        rule: Rule::Harmless("the run file holds what was written; `plimsoll verify` reads it"),
    },
    Opt {
        name: "trim_percentage",
        aliases: &["trim_backlog", "trim_backlog_batch", "trim_verify_zero"],
        takes: Takes::Number,
        rule: Rule::Unless(&["0"], "trims of blocks that were verified"),
    },
    Opt {
        name: "zero_buffers",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`contents.compressible = \"100%\"`", |job, given| {
            let share = if flag(&given.value)? { 1_000_000 } else { 0 };
            same(&mut job.compressible, given, share, "`contents.compressible`")
        }),
    },
    Opt {
        name: "refill_buffers",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Same,
            "no two blocks are alike, which is Plimsoll's default",
            |_, given| {
                Ok(match flag(&given.value)? {
                    true => Verdict::same("no two blocks are alike"),
                    false => Verdict::near(ALIKE),
                })
            },
        ),
    },
    Opt {
        name: "scramble_buffers",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, ALIKE, |_, _| Ok(Verdict::near(ALIKE))),
    },
    Opt {
        name: "buffer_pattern",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`contents.compressible = \"100%\"`: a pattern compresses to nothing, as zeros do; \
             the bytes themselves differ",
            |job, given| {
                let why = "`contents.compressible`: other bytes, which compress as well";
                near(&mut job.compressible, given, 1_000_000, why)
            },
        ),
    },
    Opt {
        name: "buffer_compress_percentage",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`contents.compressible`, of each 4 KiB", |job, given| {
            let share = percent(&given.value)?;
            same(&mut job.compressible, given, share, "`contents.compressible`")
        }),
    },
    Opt {
        name: "buffer_compress_chunk",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Approximated,
            "each 4 KiB has its share that compresses; it matters to what compresses larger pieces",
            |_, given| {
                Ok(match number(&given.value, 1024)? {
                    0 | 4096 => Verdict::same("each 4 KiB has its share"),
                    _ => Verdict::near("each 4 KiB has its share, not a chunk of this size"),
                })
            },
        ),
    },
    Opt {
        name: "dedupe_percentage",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`contents.duplicate`, of 4 KiB blocks", |job, given| {
            let share = percent(&given.value)?;
            same(&mut job.duplicate, given, share, "`contents.duplicate`")
        }),
    },
    Opt {
        name: "dedupe_mode",
        aliases: &["dedupe_working_set_percentage"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, COPIES, |_, given| {
            Ok(match given.value.as_str() {
                "repeat" => Verdict::same("`contents.duplicate`"),
                _ => Verdict::near(COPIES),
            })
        }),
    },
    Opt {
        name: "dedupe_global",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`contents.duplicate_scope = \"hosts\"`", |job, given| {
            let value = flag(&given.value)?;
            same(&mut job.dedupe_global, given, value, "`contents.duplicate_scope`")
        }),
    },
];

const OWN: Rule<Job> =
    Rule::Harmless("every 512 bytes carry Plimsoll's own header and checksum, which hold more");
const GOES_ON: &str = "damage is counted and the run goes on; fio would end";
const BACKLOG: &str = "blocks are checked after the point, or when they are read, not soon after \
they were written: \
     the load has no such reads in between";
const ALIKE: &str = "no two blocks are alike; fio writes a buffer again, a little changed: it \
matters to targets \
     that compress or find copies";
const COPIES: &str =
    "which blocks are copies of which is Plimsoll's own choice; their share is the same";
