//! Requests of DiskSpd as fields of a suite, of command lines and profiles alike.

use super::DiskSpd;
use crate::draft::{Fields, Group, quoted, share, size, time};
use crate::loss::{Losses, Verdict};
use crate::rows::Values;
use crate::words::line::{BLOCK as BLOCKS, BURST, DEPTH, Limits, MEASURE, THINK, WORKERS};

/// DiskSpd's own block.
const BLOCK: u64 = 64 << 10;
const SECOND: u64 = 1_000_000_000;

/// How long it runs, and the engine; `direct` and `contents` are what says something of these.
pub fn span(
    values: &Values,
    direct: &Values,
    contents: &Values,
    losses: &mut Losses,
    group: &mut Group,
) {
    let warm = time(values.number("warm").unwrap_or(5 * SECOND));
    group.stages.set("precondition", warm, values.source("warm", losses));
    group.stages.set("measure", time(10 * SECOND), "");
    MEASURE.copy("time", values, losses, &mut group.stages, "measure");
    group.engine.set("direct", direct.is("direct").to_string(), direct.source("direct", losses));
    let pin = if values.is("floating") { "none" } else { "core" };
    group.engine.text("pin", pin, values.source("floating", losses));
    if contents.is("compressible") {
        group.contents.text("compressible", "100%", contents.source("compressible", losses));
    }
}

/// The fields of a workload; the slot `threads` says how many workers it has.
pub fn workload(job: &DiskSpd, threads: &str, losses: &mut Losses) -> Fields {
    let mut fields = requests(job, losses);
    let workers = WORKERS.of(threads, &job.values, losses).unwrap_or(1);
    fields.set("workers", workers.to_string(), job.values.source(threads, losses));
    rest(job, losses, &mut fields);
    if workers > 1 {
        sharing(job, workers, losses, &mut fields);
    }
    window(job, losses, &mut fields);
    fields
}

fn requests(job: &DiskSpd, losses: &mut Losses) -> Fields {
    let values = &job.values;
    let mut fields = Fields::default();
    let block = values.number("block").unwrap_or(BLOCK);
    if !(512..=1 << 30).contains(&block) {
        let needs = "blocks of less than 512 bytes or more than 1 GiB";
        values.worsen("block", losses, Verdict::refused(needs));
    }
    fields.set("block_size", size(block.clamp(512, 1 << 30)), values.source("block", losses));
    let writes = values.number("writes").unwrap_or(0);
    fields.text("read", &share(1_000_000 - writes), values.source("writes", losses));
    access(job, losses, &mut fields);
    let depth = DEPTH.of("depth", values, losses).unwrap_or(2);
    fields.set("depth", depth.to_string(), values.source("depth", losses));
    if let Some((rate, id)) = &job.rate {
        fields.set("rate", rate, losses.source(*id));
        fields.text("rate_of", "worker", "");
    }
    if values.is("durable") {
        fields.set("dsync", "true", values.source("durable", losses));
    }
    if let Some((priority, id)) = &job.priority {
        fields.text("priority", priority, losses.source(*id));
    }
    fields
}

/// Where requests go.
fn access(job: &DiskSpd, losses: &mut Losses, fields: &mut Fields) {
    let values = &job.values;
    let is_random = values.is("random") || values.is("partly");
    if let Some((spots, id)) = &job.spots {
        if !is_random {
            let needs = "random requests (`-r`, `-rs`, `Random`): they alone have hot spots";
            losses.worsen(*id, Verdict::refused(needs));
        }
        fields.text("access", "hot-spot", losses.source(*id));
        fields.text("hot_spots", spots, losses.source(*id));
    } else if values.is("partly") {
        fields.text("access", "random", values.source("partly", losses));
        if values.number("writes").is_some_and(|writes| (1..1_000_000).contains(&writes)) {
            let why = "of a run in order, each request is a read or a write; DiskSpd's are alike";
            values.worsen("partly", losses, Verdict::near(why));
        }
    } else if values.is("random") {
        fields.text("access", "random", values.source("random", losses));
    } else {
        fields.text("access", "sequential", "");
    }
    if values.number("random") > Some(0) {
        BLOCKS.copy("random", values, losses, fields, "align");
    }
    values.copy("partly", losses, fields, "random", |part| quoted(&share(part)));
    match job.got("stride").filter(|(bytes, _)| *bytes > 0) {
        Some((_, id)) if is_random || job.spots.is_some() => {
            losses.replace(id, Verdict::harmless("the order is random"));
        }
        Some(_) => Limits(1, 1 << 50, size).copy("stride", values, losses, fields, "stride"),
        None => {}
    }
}

/// Threads of a file begin at the same place, unless they are told otherwise.
fn sharing(job: &DiskSpd, workers: u64, losses: &mut Losses, fields: &mut Fields) {
    let values = &job.values;
    if values.is("interlocked") {
        fields.text("sharing", "segment", values.source("interlocked", losses));
    } else if let Some((apart, id)) = job.got("apart") {
        let all = values.number("create");
        if all.is_none() || apart.checked_mul(workers) != all {
            let why = "each thread has an equal segment of the file, not one after this distance";
            losses.worsen(id, Verdict::near(why));
        }
        fields.text("sharing", "segment", losses.source(id));
    } else {
        fields.text("sharing", "whole", "");
    }
}

/// `-B` and `-f`: the part of the file that is loaded.
fn window(job: &DiskSpd, losses: &mut Losses, fields: &mut Fields) {
    let values = &job.values;
    let ids = [values.id("base"), values.id("most")];
    let Some(id) = ids.into_iter().flatten().next() else { return };
    let from = values.number("base").unwrap_or(0);
    let to = values.number("most");
    let range = match values.number("create").filter(|all| *all > 0) {
        Some(all) => {
            let to = to.unwrap_or(all).min(all);
            let ppm = |bytes: u64| u128::from(bytes) * 1_000_000;
            let all = u128::from(all);
            // A plan rounds ranges inwards to blocks: nothing of the window is lost.
            let (begin, end) = ((ppm(from) / all) as u64, ppm(to).div_ceil(all) as u64);
            let is_some = from < to && begin < end;
            is_some.then(|| format!("{}-{}", share(begin), share(end.min(1_000_000))))
        }
        // Of a file whose size is not known, the plan finds the place.
        None if to.is_none_or(|to| from < to) => {
            let end = to.map_or("100%".to_owned(), |to| format!("{to}B"));
            Some(format!("{from}B-{end}"))
        }
        None => None,
    };
    match range {
        Some(range) => fields.text("range", &range, losses.source(id)),
        None => {
            let needs = Verdict::refused("a part of the file that it does not have");
            ids.into_iter().flatten().for_each(|id| losses.worsen(id, needs.clone()));
        }
    }
}

/// Bursts of requests, with rests between them.
fn rest(job: &DiskSpd, losses: &mut Losses, fields: &mut Fields) {
    let values = &job.values;
    if job.rate.is_some() {
        let needs = Verdict::refused("rests between requests of a fixed rate");
        values.worsen("pause", losses, needs.clone());
        values.worsen("burst", losses, needs);
        return;
    }
    if values.number("pause") > Some(0) {
        THINK.copy("pause", values, losses, fields, "think");
    }
    if values.number("burst") > Some(1) {
        BURST.copy("burst", values, losses, fields, "burst");
    }
}
