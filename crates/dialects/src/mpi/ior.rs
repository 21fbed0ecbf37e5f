//! IOR: the suite of a command line.

use super::Job;
use crate::apart::beside;
use crate::draft::{Fields, Group, Work, size, time};
use crate::loss::{Losses, Verdict};
use crate::rows::Values;
use crate::words::line::{BLOCK, FILES, Limits, WORKERS, repetitions};

const MEGABYTE: u64 = 1 << 20;
/// Sizes of files are multiples of it.
const SECTOR: u64 = 512;
/// A rank whose whole amount takes fewer requests a second than this within `-D` is done before:
/// this is a slow disk at random places.
const SLOW: u64 = 50;

/// `-O`
pub fn option(text: &str) -> Result<Verdict, String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    match name {
        "stoneWallingWearOut" => {
            Ok(Verdict::near("all workers stop with the time, without wear-out"))
        }
        "summaryFormat" | "summaryFile" | "stoneWallingStatusFile" | "verbose" => {
            Ok(Verdict::harmless("only how IOR reports"))
        }
        name => Err(format!("IOR's `{name}` ({value})")),
    }
}

/// The workloads of a command line.
pub fn group(job: &mut Job, losses: &mut Losses) -> Group {
    ranks(job, losses);
    let values = &job.values;
    fits(values, losses);
    let transfer = BLOCK.of("transfer", values, losses).unwrap_or(MEGABYTE / 4);
    let segments = FILES.of("segments", values, losses).unwrap_or(1);
    let mut group = Group { name: "ior".to_owned(), in_turn: true, ..Group::default() };
    layout(job, transfer, segments, losses, &mut group);
    stages(job, transfer, segments, losses, &mut group);
    group.engine.text("backend", "sync", "");
    group.engine.set("direct", values.is("direct").to_string(), values.source("direct", losses));
    if values.is("check") {
        match transfer.is_multiple_of(512) {
            true => group.contents.text("verify", "true", values.source("check", losses)),
            false => {
                let needs = "checks of sizes that are no multiples of 512";
                values.worsen("check", losses, Verdict::refused(needs));
            }
        }
    }
    repeated(values, losses, &mut group);
    drawn(job, segments, losses);
    for (name, read) in [("write", "0%"), ("read", "100%")] {
        let Some(from) = asked(values, name) else { continue };
        let mut fields = Fields::default();
        fields.set("block_size", size(transfer), values.source("transfer", losses));
        let access = if values.is("random") { "permutation" } else { "sequential" };
        fields.text("access", access, values.source("random", losses));
        fields.text("read", read, values.source(from, losses));
        if segments > 1 && !values.is("each") {
            fields.set("segments", segments.to_string(), values.source("segments", losses));
        }
        job.workers(losses, &mut fields);
        fields.set("depth", "1", "");
        if values.is("fsync_each") && name == "write" {
            fields.set("fsync_every", "1", values.source("fsync_each", losses));
        }
        group.works.push(Work { name: name.to_owned(), note: String::new(), fields });
    }
    group
}

/// The slot that asks for a phase: without any, both are; a check is a phase that reads.
fn asked(values: &Values, phase: &'static str) -> Option<&'static str> {
    let is_silent = ["write", "read", "check"].iter().all(|slot| !values.is(slot));
    match values.is(phase) || is_silent {
        true => Some(phase),
        false => (phase == "read" && values.is("check")).then_some("check"),
    }
}

/// `-i`: both phases, then both again.
fn repeated(values: &Values, losses: &mut Losses, group: &mut Group) {
    repetitions(values, losses, group);
    if values.number("repetitions") < Some(2) || asked(values, "write").is_none() {
        return;
    }
    if asked(values, "read").is_some() {
        group.sweep.text("order", "interleaved", "");
    }
    let why = "each repetition writes over the files of the one before; IOR removes them first";
    values.worsen("repetitions", losses, Verdict::near(why));
}

/// `-z`: says where the places are drawn otherwise than IOR does.
fn drawn(job: &Job, segments: u64, losses: &mut Losses) {
    let why = match (job.values.is("each"), job.ranks.count.unwrap_or(1)) {
        (true, _) | (_, 1) if segments < 2 => return,
        (true, _) | (_, 1) => "",
        _ => "each rank loads its own blocks, where IOR deals them to all ranks by chance; ",
    };
    let segments = match segments {
        0 | 1 => "",
        _ => "places are drawn of all segments at once; IOR goes from one segment to the next",
    };
    let why = format!("{why}{segments}");
    job.values.worsen("random", losses, Verdict::near(why.trim_end_matches("; ")));
}

/// `-N`: of the ranks that a launcher starts, so many work. Alone, IOR warns and is one.
fn ranks(job: &mut Job, losses: &mut Losses) {
    let Some(id) = job.values.id("ranks") else { return };
    let own = WORKERS.of("ranks", &job.values, losses);
    let started = job.ranks.count.or(job.ranks.is_alone.then_some(1));
    if started.is_some() && own >= started {
        let why = "IOR has no more tasks than `mpirun -np` starts, and without a launcher one";
        let verdict =
            if job.ranks.is_alone && own > started { Verdict::near } else { Verdict::harmless };
        return losses.replace(id, verdict(why));
    }
    let why = Verdict::harmless("`-N` says how many of these ranks work");
    job.ranks.id.into_iter().for_each(|id| losses.replace(id, why.clone()));
    (job.ranks.count, job.ranks.id) = (own, Some(id));
}

/// Refuses sizes that IOR itself refuses.
fn fits(values: &Values, losses: &mut Losses) {
    let block = values.number("block").unwrap_or(MEGABYTE);
    let transfer = values.number("transfer").unwrap_or(MEGABYTE / 4);
    if transfer > 0 && block > 0 && block.is_multiple_of(transfer) {
        return;
    }
    let needs = "a block (`-b`, 1 MiB without it) of one or more whole transfers (`-t`, 256 KiB \
                 without it): IOR takes no other";
    let slot = if values.is("block") { "block" } else { "transfer" };
    values.worsen(slot, losses, Verdict::refused(needs));
}

fn layout(job: &Job, transfer: u64, segments: u64, losses: &mut Losses, group: &mut Group) {
    let values = &job.values;
    let block = values.number("block").unwrap_or(MEGABYTE);
    let mut all = block.saturating_mul(segments);
    if values.is("each") {
        group.layout.text("kind", "files", values.source("each", losses));
        group.layout.set("files", "1", "");
        group.layout.text("per", "worker", values.source("each", losses));
    } else {
        group.layout.text("kind", "shared-file", "");
        all = all.saturating_mul(job.ranks.count.unwrap_or(1));
    }
    all = Limits(transfer, 1 << 60, size).keep(all, values.id("block"), losses);
    // A suite rounds its sizes down, and the last block of each file would be none.
    let whole = all.next_multiple_of(SECTOR);
    if whole > all {
        let why = format!("files are {} bytes longer, which nobody loads", whole - all);
        let slot = if values.is("block") { "block" } else { "transfer" };
        values.worsen(slot, losses, Verdict::near(why));
        all = whole;
    }
    group.layout.set("size", size(all), values.source("block", losses));
    if let Some(file) = values.text("file") {
        group.targets = vec![beside(file)];
        group.targets_from = values.source("file", losses);
    }
}

fn stages(job: &Job, transfer: u64, segments: u64, losses: &mut Losses, group: &mut Group) {
    let values = &job.values;
    // A read without a write before it finds a file that is there; ours is made.
    group.stages.set("prepare", asked(values, "write").is_none().to_string(), "");
    let limit_ns = values.number("deadline").unwrap_or(0);
    let block = values.number("block").unwrap_or(MEGABYTE);
    let requests = block.saturating_mul(segments) / transfer.max(1);
    // IOR ends with what comes first; a suite knows one end.
    let is_short = u128::from(requests) * 1_000_000_000 < u128::from(limit_ns) * u128::from(SLOW);
    if limit_ns == 0 || is_short {
        group.stages.text("amount", "all", "");
        let value = values.is("fsync").to_string();
        group.stages.set("count_fsync", value, values.source("fsync", losses));
        group.stages.set("count_close", "true", "");
        let why = format!("no limit: each rank makes {requests} requests and is done");
        losses.replace(values.id("deadline"), Verdict::near(why));
        return;
    }
    values.copy("deadline", losses, &mut group.stages, "measure", time);
    let why = format!(
        "`stages.measure`: all workers load for this whole time; a rank of IOR stops before, after \
         {requests} requests; for that, `--set stages.amount=all`"
    );
    losses.replace(values.id("deadline"), Verdict::near(why));
    // What a time wrote may be less than what is read.
    group.stages.set("prepare", "true", "");
    let why = Verdict::near("files are flushed when nothing is measured any more");
    values.worsen("fsync", losses, why);
}
