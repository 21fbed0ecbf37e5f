//! Requests: what they do, how large they are, in what order, how many at a time.

use crate::fio::job::{Direction, Job, Split, Spread, later, near, same};
use crate::loss::{Class, Verdict};
use crate::table::{Given, Opt, Rule, Takes};
use crate::values::{flag, number, percent, three};

/// The options of this chapter.
pub const OPTIONS: &[Opt<Job>] = &[
    Opt {
        name: "rw",
        aliases: &["readwrite"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Same,
            "`access` and `read` or `trim`; a random order with fio's map is a `permutation`; \
             `:N` behind a random one is `random`, behind a sequential one `stride` or `backward`",
            rw,
        ),
    },
    Opt {
        name: "bs",
        aliases: &["blocksize"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`block_size`, `write_block_size`", |job, given| {
            let base = job.kb_base;
            let sizes = three(&given.value, |text| number(text, base))?;
            job.split = None;
            job.range = None;
            same(&mut job.bs, given, sizes, "`block_size`, `write_block_size`")
        }),
    },
    Opt {
        name: "bsrange",
        aliases: &["blocksize_range"],
        takes: Takes::Size,
        rule: Rule::Read(
            Class::Same,
            "`block_size` as a mix of all multiples of the least size; past 32 of them, of 32",
            |job, given| {
                let base = job.kb_base;
                let ranges = three(&given.value, |text| range(text, base))?;
                job.split = None;
                same(&mut job.range, given, ranges, "`block_size`, every size as often")
            },
        ),
    },
    Opt {
        name: "bssplit",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Same,
            "`block_size` and `write_block_size` with weights",
            |job, given| {
                let parts: Vec<&str> = given.value.split(',').collect();
                let reads = split(parts[0], job.kb_base)?;
                let writes = parts.get(1).map(|part| split(part, job.kb_base)).transpose()?;
                let both = [reads.clone(), writes.unwrap_or(reads)];
                same(&mut job.split, given, both, "`block_size` with weights")
            },
        ),
    },
    Opt {
        name: "bs_unaligned",
        aliases: &["blocksize_unaligned"],
        takes: Takes::Flag,
        rule: Rule::Refused("sizes of a range that are no multiples of its least size"),
    },
    Opt {
        name: "bs_is_seq_rand",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(&["0"], "sizes by order instead of by direction"),
    },
    Opt {
        name: "blockalign",
        aliases: &["ba"],
        takes: Takes::Size,
        rule: Rule::Read(Class::Same, "`align`", |job, given| {
            let value = three(&given.value, |text| number(text, job.kb_base))?;
            let first = value.iter().flatten().next().copied().unwrap_or(0);
            same(&mut job.align, given, first, "`align`")
        }),
    },
    Opt {
        name: "rwmixread",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`read`", |job, given| {
            let share = percent(&given.value)?;
            same(&mut job.mix, given, share, "`read`")
        }),
    },
    Opt {
        name: "rwmixwrite",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`read`, the share that is left", |job, given| {
            let share = percent(&given.value)?;
            same(&mut job.mix, given, 1_000_000 - share, "`read`, the share that is left")
        }),
    },
    Opt {
        name: "rwmixcycle",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Harmless("fio ignores it since its version 1.20"),
    },
    Opt {
        name: "iodepth",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Same,
            "`depth`; harmless with an engine that has one request at a time",
            |job, given| {
                let depth = number(&given.value, job.kb_base)?;
                same(&mut job.depth, given, depth, "`depth`")
            },
        ),
    },
    Opt {
        name: "iodepth_batch",
        aliases: &["iodepth_batch_submit"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, BATCH, |_, given| batch(given)),
    },
    Opt {
        name: "iodepth_batch_complete",
        aliases: &["iodepth_batch_complete_min"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, BATCH, |_, given| batch(given)),
    },
    Opt {
        name: "iodepth_batch_complete_max",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, BATCH, |_, given| batch(given)),
    },
    Opt {
        name: "iodepth_low",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "Plimsoll fills the depth at once, so it does not fall to this mark and rise again: \
             the mean depth is higher",
            |_, _| {
                Ok(Verdict::near(
                    "Plimsoll fills the depth at once: the mean depth is higher than fio's",
                ))
            },
        ),
    },
    Opt {
        name: "serialize_overlap",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(&["0"], "that no two outstanding requests touch the same block"),
    },
    Opt {
        name: "io_submit_mode",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless(
            "a rate is an open loop here in any case: a late request delays no other one",
        ),
    },
    Opt {
        name: "rw_sequencer",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Unless(&["sequential"], "the same offset again and again (`identical`)"),
    },
    Opt {
        name: "random_distribution",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Same,
            "`access` and `skew`; Zipf's law is drawn exactly, and fio's formula is up to some 2 % \
             of the requests off it; `zoned` is `hot_spots`, `sequence` is `sequence`; `normal` \
             and `zoned_abs` are refused",
            distribution,
        ),
    },
    Opt {
        name: "random_sequence_stride",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`sequence_advances`", |job, given| {
            let value = flag(&given.value)?;
            later(&mut job.advances, given, value)
        }),
    },
    Opt {
        name: "random_generator",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless(
            "only the sequence of offsets differs, not how they are spread; it is Plimsoll's own",
        ),
    },
    Opt {
        name: "percentage_random",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`random`", |job, given| {
            let shares = three(&given.value, percent)?;
            let first = shares.iter().flatten().next().copied().unwrap_or(1_000_000);
            if shares.iter().flatten().any(|share| *share != first) {
                return near(
                    &mut job.random,
                    given,
                    first,
                    "`random`, with the share of the first direction for all",
                );
            }
            same(&mut job.random, given, first, "`random`")
        }),
    },
    Opt {
        name: "norandommap",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Same,
            "`access = \"random\"`; without it, fio's map is a `permutation`",
            |job, given| {
                let value = flag(&given.value)?;
                same(&mut job.no_map, given, value, "`access`")
            },
        ),
    },
    Opt {
        name: "softrandommap",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("a permutation takes no memory here"),
    },
    Opt {
        name: "randrepeat",
        aliases: &["allrandrepeat"],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Same,
            "the same seed gives the same requests; without it, give each run another `seed`",
            |_, given| {
                Ok(match flag(&given.value)? {
                    true => Verdict::same("`seed`: the same gives the same requests"),
                    false => Verdict::near(
                        "every run has the same requests until `seed` is changed: `--set seed=N`",
                    ),
                })
            },
        ),
    },
    Opt {
        name: "randseed",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Same,
            "`seed`; the sequence that follows from it is Plimsoll's own",
            |job, given| {
                let seed = number(&given.value, job.kb_base)?;
                same(&mut job.seed, given, seed, "`seed`; the sequence is Plimsoll's own")
            },
        ),
    },
    Opt {
        name: "num_range",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, RANGES, |_, given| {
            Ok(match number(&given.value, 1024)? {
                0 | 1 => Verdict::same("one range for each trim"),
                _ => Verdict::near(RANGES),
            })
        }),
    },
    Opt {
        name: "sprandom",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, SPRANDOM, |job, given| match flag(&given.value)? {
            true => near(&mut job.steady, given, true, SPRANDOM),
            false => Ok(Verdict::harmless("this value asks for nothing")),
        }),
    },
    Opt {
        name: "spr_num_regions",
        aliases: &["spr_op", "spr_cs"],
        takes: Takes::Text,
        rule: Rule::Near("what makes the device's rate steady is measured, not computed"),
    },
];

const RANGES: &str = "one range for each trim: as many bytes at as many places, in more commands";
const SPRANDOM: &str = "`until = \"steady\"`: random writes until the rate is steady, which takes \
several times as long as sprandom's one pass";
const BATCH: &str = "Plimsoll submits what is free and collects what is done, without waiting for \
a batch: more \
     system calls, and no request waits for another";

/// fio's own default asks for nothing.
fn batch(given: &Given) -> Result<Verdict, String> {
    let is_one = number(&given.value, 1024)? <= 1;
    Ok(if is_one {
        Verdict::same("one at a time is what Plimsoll does")
    } else {
        Verdict::near(BATCH)
    })
}

fn rw(job: &mut Job, given: &Given) -> Result<Verdict, String> {
    let (kind, behind) = match given.value.split_once(':') {
        Some((kind, behind)) => (kind.trim(), Some(behind.trim())),
        None => (given.value.trim(), None),
    };
    let (random, reads, writes, trims) = match kind {
        "read" => (false, true, false, false),
        "write" => (false, false, true, false),
        "trim" => (false, false, false, true),
        "randread" => (true, true, false, false),
        "randwrite" => (true, false, true, false),
        "randtrim" => (true, false, false, true),
        "rw" | "readwrite" => (false, true, true, false),
        "randrw" => (true, true, true, false),
        "trimwrite" => (false, false, true, true),
        "randtrimwrite" => (true, false, true, true),
        other => return Err(format!("`{other}` is no direction that fio knows")),
    };
    let behind = match behind {
        None => 0,
        Some(text) => {
            let (sign, bytes) = match text.strip_prefix('-') {
                Some(bytes) if !random => (-1, bytes),
                _ => (1, text),
            };
            sign * i64::try_from(number(bytes, job.kb_base)?).unwrap_or(i64::MAX)
        }
    };
    let direction = Direction { random, reads, writes, trims, behind };
    if trims && writes {
        return near(
            &mut job.rw,
            given,
            direction,
            "half are trims and half writes; a write does not follow the trim of its own block",
        );
    }
    if random && behind > 1 {
        return near(
            &mut job.rw,
            given,
            direction,
            "`random`: one request in so many goes elsewhere on average, not after exactly so many",
        );
    }
    same(&mut job.rw, given, direction, "`access`, `read`, `trim`")
}

fn range(text: &str, kb_base: u64) -> Result<(u64, u64), String> {
    let (least, most) = text.split_once(['-', ':']).unwrap_or((text, text));
    let (least, most) = (number(least, kb_base)?, number(most, kb_base)?);
    match (1..=most).contains(&least) {
        true => Ok((least, most)),
        false => Err(format!("`{text}` is no range of sizes")),
    }
}

/// `4k/70:64k/30`; a share that is left out has an equal part of what is left.
fn split(text: &str, kb_base: u64) -> Result<Split, String> {
    let mut parts: Vec<(u64, Option<u32>)> = Vec::new();
    for part in text.split(':').filter(|part| !part.trim().is_empty()).take(1_000) {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let share = match share.trim() {
            "" => None,
            share => Some(
                share
                    .trim_end_matches('%')
                    .parse()
                    .map_err(|_| format!("`{share}` is no share"))?,
            ),
        };
        parts.push((number(size, kb_base)?, share));
    }
    let given: u32 = parts.iter().filter_map(|(_, share)| *share).fold(0, u32::saturating_add);
    let open = parts.iter().filter(|(_, share)| share.is_none()).count().max(1) as u32;
    let rest = 100_u32.saturating_sub(given) / open;
    if parts.is_empty() || given > 100 {
        return Err(format!("`{text}` is no split that adds up to 100 %"));
    }
    let mut merged: Split = Vec::new();
    for (size, share) in parts {
        let share = share.unwrap_or(rest);
        match merged.iter_mut().find(|(known, _)| *known == size) {
            Some((_, weight)) => *weight = weight.saturating_add(share),
            None => merged.push((size, share)),
        }
    }
    merged.retain(|(_, share)| *share > 0);
    if merged.is_empty() { Err(format!("`{text}` has no share above 0")) } else { Ok(merged) }
}

fn distribution(job: &mut Job, given: &Given) -> Result<Verdict, String> {
    let text = given.value.trim();
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    // Where the hot part lies may stand behind it; it is scattered here as there.
    let first = rest.split([',', ':']).next().unwrap_or_default().trim();
    let thousandths = |default: f64| -> Result<u64, String> {
        let value: f64 = match first {
            "" => default,
            text => text.parse().map_err(|_| format!("`{text}` is no number"))?,
        };
        Ok((value.clamp(0.0, 100.0) * 1_000.0).round() as u64)
    };
    let field = "`access` and `skew`; which blocks are hot follows from Plimsoll's own seed";
    match kind {
        "random" => same(&mut job.spread, given, Spread::Even, "`access = \"random\"`"),
        "zipf" => {
            let theta = thousandths(1.1)?;
            same(&mut job.spread, given, Spread::Zipf(theta), field)
        }
        "pareto" => {
            let share = thousandths(0.2)?;
            same(&mut job.spread, given, Spread::Pareto(share), field)
        }
        "zoned" => {
            let zones = zones(rest.split(',').next().unwrap_or_default())?;
            same(&mut job.spread, given, Spread::Zones(zones), "`hot_spots`")
        }
        "normal" => Err("offsets spread like a bell".to_owned()),
        "zoned_abs" => Err("hot spots by bytes; `zoned` has them by shares".to_owned()),
        "sequence" => {
            let list: Vec<&str> =
                text.split_once(':').map_or(vec![], |(_, l)| l.split(',').collect());
            let places: Result<Vec<u32>, _> = list.iter().map(|word| word.trim().parse()).collect();
            let is_fit = |places: &Vec<u32>| (1..=64).contains(&places.len());
            let places = places.ok().filter(is_fit).ok_or("1 to 64 numbers of blocks")?;
            same(&mut job.spread, given, Spread::Given(places), "`sequence`")
        }
        other => Err(format!("`{other}` is no distribution that fio knows")),
    }
}

/// `50/5:30/15:20/`: shares of requests and of space.
fn zones(text: &str) -> Result<Vec<(u64, u64)>, String> {
    let mut zones: Vec<(u64, Option<u64>)> = Vec::new();
    for part in text.split(':').filter(|part| !part.trim().is_empty()).take(64) {
        let (requests, space) = part.split_once('/').unwrap_or((part, ""));
        let space = if space.trim().is_empty() { None } else { Some(percent(space)?) };
        zones.push((percent(requests)?, space));
    }
    let given: u64 = zones.iter().filter_map(|(_, space)| *space).sum();
    let requests: u64 = zones.iter().map(|(requests, _)| *requests).sum();
    if zones.is_empty() || given > 1_000_000 || requests > 1_000_000 {
        return Err(format!("`{text}` has no zones that add up to 100 %"));
    }
    let open = zones.iter().filter(|(_, space)| space.is_none()).count().max(1) as u64;
    let rest = (1_000_000 - given) / open;
    Ok(zones.into_iter().map(|(requests, space)| (requests, space.unwrap_or(rest))).collect())
}
