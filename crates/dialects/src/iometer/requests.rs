//! What requests of Iometer are: sizes with weights, shares of reads and of random requests, rests.

use super::Specification;
use crate::draft::{Fields, quoted, share, size};
use crate::loss::{Losses, Verdict};
use crate::rows::Values;
use crate::words::line::{BLOCK, BURST, THINK};

const ALL: u64 = 1_000_000;

/// The fields of a specification.
pub fn requests(spec: &Specification, losses: &mut Losses) -> Fields {
    let mut fields = Fields::default();
    let first = &spec.lines[0].values;
    let lines = spec.lines.iter().map(|line| &line.values);
    let lines: Vec<&Values> = lines.filter(|line| share_of(line, "weight") > 0).collect();
    let lines = if lines.is_empty() { vec![first] } else { lines };
    let source = first.source("size", losses);
    let weight = |line: &Values| share_of(line, "weight");
    let reads = mix(&lines, &|line| weight(line) * share_of(line, "reads"));
    let writes = mix(&lines, &|line| weight(line) * (ALL - share_of(line, "reads")));
    match (reads.as_str(), writes.as_str()) {
        ("", one) | (one, "") => fields.set("block_size", one, source),
        (one, other) if one == other => fields.set("block_size", one, source),
        (one, other) => {
            fields.set("block_size", one, source.clone());
            fields.set("write_block_size", other, source);
        }
    }
    fields.text("read", &share(mean(&lines, "reads")), first.source("reads", losses));
    let random = mean(&lines, "random");
    let access = if random > 0 { "random" } else { "sequential" };
    fields.text("access", access, first.source("random", losses));
    if random > 0 && random < ALL {
        fields.text("random", &share(random), first.source("random", losses));
    }
    let why = "the mean of all lines by weight: each size is random as often as the others";
    differ(&lines, "random", ALL, why, losses);
    if random > 0 {
        align(&lines, losses, &mut fields);
    }
    rests(&lines, losses, &mut fields);
    fields
}

/// A share in millionths; all where none is said.
fn share_of(line: &Values, slot: &str) -> u64 {
    line.number(slot).unwrap_or(ALL)
}

/// The mean of a share by weight.
fn mean(lines: &[&Values], slot: &str) -> u64 {
    let weight = |line: &&Values| share_of(line, "weight").max(1);
    let sum: u64 = lines.iter().map(|line| weight(line) * share_of(line, slot)).sum();
    sum / lines.iter().map(weight).sum::<u64>().max(1)
}

/// Says what differs of lines that are not alike in a column.
fn differ(lines: &[&Values], slot: &str, otherwise: u64, why: &str, losses: &mut Losses) {
    let first = lines[0].number(slot).unwrap_or(otherwise);
    for line in lines.iter().filter(|line| line.number(slot).is_some_and(|own| own != first)) {
        line.worsen(slot, losses, Verdict::near(why));
    }
}

/// Sizes with their weights, as small as they go; empty where no request has one.
fn mix(lines: &[&Values], weight: &dyn Fn(&Values) -> u64) -> String {
    let mut sizes: Vec<(u64, u64)> = Vec::new();
    for line in lines {
        let bytes = line.number("size").unwrap_or(2_048);
        let own = weight(line);
        match sizes.iter_mut().find(|(known, _)| *known == bytes) {
            Some((_, sum)) => *sum += own,
            None => sizes.push((bytes, own)),
        }
    }
    sizes.retain(|(_, weight)| *weight > 0);
    let common = sizes.iter().fold(0, |all, (_, weight)| divisor(all, *weight)).max(1);
    match sizes.as_slice() {
        [] => String::new(),
        [(one, _)] => size(*one),
        sizes => {
            let part = |(bytes, weight): &(u64, u64)| {
                format!("{}:{}", size(*bytes).trim_matches('"'), weight / common)
            };
            quoted(&sizes.iter().map(part).collect::<Vec<_>>().join(", "))
        }
    }
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

fn align(lines: &[&Values], losses: &mut Losses, fields: &mut Fields) {
    differ(lines, "align", 0, "the alignment of the first line for all", losses);
    let Some(bytes) = lines[0].number("align") else { return };
    if bytes == 0 {
        let why = "`align = 512`: the sector of the target, taken as 512 bytes. With 4 KiB \
                   sectors: `--set align=4KiB`";
        lines[0].worsen("align", losses, Verdict::near(why));
        fields.set("align", "512", lines[0].source("align", losses));
        return;
    }
    BLOCK.copy("align", lines[0], losses, fields, "align");
}

fn rests(lines: &[&Values], losses: &mut Losses, fields: &mut Fields) {
    let why = "the rest of the first line for all";
    differ(lines, "delay", 0, why, losses);
    if lines[0].number("delay").unwrap_or(0) == 0 {
        return;
    }
    THINK.copy("delay", lines[0], losses, fields, "think");
    differ(lines, "burst", 1, why, losses);
    if lines[0].number("burst") > Some(1) {
        BURST.copy("burst", lines[0], losses, fields, "burst");
    }
}
