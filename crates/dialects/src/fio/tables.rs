//! What the jobs of a group say of the engine, the stages and the contents: fields that a group has
//! together.

use super::job::{Engine, Got, Job, Zones};
use super::place::{Place, place};
use super::work::of;
use crate::draft::{Group, quoted, share, size, time};
use crate::loss::{Losses, OptionId, Verdict};
use crate::values::Extent;

/// Past this, loops are a time.
const MOST_LOOPS: u64 = 100;
const SECOND: u64 = 1_000_000_000;

/// The value on which most depends, and whether another job has another one.
fn first<'a, T: PartialEq>(
    jobs: &'a [Job],
    of: impl Fn(&'a Job) -> Option<&'a Got<T>>,
) -> Option<&'a Got<T>> {
    jobs.iter().find_map(of)
}

/// `[engine]`.
pub fn engine(jobs: &[Job], losses: &mut Losses, group: &mut Group) {
    let kinds: Vec<Engine> = jobs
        .iter()
        .map(|job| match place(job) {
            Place::Nothing => Engine::Null,
            _ => job.engine_kind(),
        })
        .collect();
    let (number, backend) = backend(&kinds);
    let chosen = &jobs[number];
    let source = match place(chosen) {
        Place::Nothing => of(&chosen.filename, losses),
        _ => of(&chosen.engine, losses),
    };
    group.engine.text("backend", backend, source);
    for (job, kind) in jobs.iter().zip(&kinds) {
        let Some(got) = job.engine.as_ref().filter(|_| *kind != kinds[number]) else { continue };
        let verdict = match kind {
            Engine::Sync | Engine::Libaio | Engine::IoUring => Verdict::near(format!(
                "`backend = \"{backend}\"`, as for the jobs that run beside it; the requests are \
                 the same"
            )),
            _ => Verdict::refused("a `backend` of one workload among several that run together"),
        };
        losses.worsen(got.id, verdict);
    }
    direct(jobs, losses, group);
    if let Some(got) = first(jobs, |job| job.invalidate.as_ref()).filter(|got| !got.value) {
        group.engine.set("evict", "false", losses.source(got.id));
    }
    let poll = first(jobs, |job| job.poll.as_ref()).filter(|got| got.value != "none");
    match poll {
        Some(got) if backend == "io_uring" => {
            group.engine.text("poll", got.value, losses.source(got.id));
        }
        Some(got) => {
            losses.worsen(got.id, Verdict::refused("polling without io_uring"));
        }
        None => {}
    }
    if let Some(got) = first(jobs, |job| job.pinned.as_ref()) {
        let split = jobs.iter().any(|job| job.pin_split.as_ref().is_some_and(|got| got.value));
        let pin = if got.value && split { "core" } else { "node" };
        group.engine.text("pin", pin, losses.source(got.id));
    } else {
        group.engine.text("pin", "none", "");
    }
}

/// The backend of all, and the number of the job that asks for it.
fn backend(kinds: &[Engine]) -> (usize, &'static str) {
    let at = |wanted: &Engine| kinds.iter().position(|kind| kind == wanted);
    let found = at(&Engine::IoUring)
        .map(|number| (number, "io_uring"))
        .or_else(|| at(&Engine::Libaio).map(|number| (number, "libaio")))
        .or_else(|| at(&Engine::Sync).map(|number| (number, "sync")))
        .or_else(|| at(&Engine::Null).map(|number| (number, "null")));
    found.unwrap_or((0, "sync"))
}

fn direct(jobs: &[Job], losses: &mut Losses, group: &mut Group) {
    let says = |got: &Option<Got<bool>>| got.as_ref().is_some_and(|got| got.value);
    // Some engines know no page cache.
    let of_job = |job: &Job| says(&job.uncached) || says(&job.direct);
    // To a trim, no cache matters.
    let moves = |job: &&Job| job.direction().reads || job.direction().writes;
    let first = jobs.iter().find(moves).unwrap_or(&jobs[0]);
    let value = of_job(first);
    let source = match says(&first.uncached) {
        true => of(&first.uncached, losses),
        false => of(&first.direct, losses),
    };
    // fio's default is written down, because it is not Plimsoll's.
    group.engine.set("direct", value.to_string(), source);
    for job in jobs.iter().filter(|job| value && job.one_size().is_some_and(|size| size % 512 > 0))
    {
        if let Some(got) = &job.bs {
            let needs = "requests past the page cache whose sizes are no multiples of 512 bytes";
            losses.worsen(got.id, Verdict::refused(needs));
        }
    }
    for job in jobs.iter().filter(moves).filter(|job| of_job(job) != value) {
        if let Some(got) = job.direct.as_ref().or(first.direct.as_ref()).or(job.uncached.as_ref()) {
            let needs = "`direct` of one workload among several that run together";
            losses.worsen(got.id, Verdict::refused(needs));
        }
    }
    let trims = jobs.iter().any(|job| job.direction().trims);
    if trims && jobs.iter().any(Job::keeps_to_zones) {
        resets(jobs, losses, group);
        return;
    }
    if trims && group.engine.get("backend") == Some("\"libaio\"") {
        let source = of(&jobs[0].engine, losses);
        group.engine.text("backend", "io_uring", source);
        if let Some(got) = &jobs[0].engine {
            losses.worsen(got.id, Verdict::near("`io_uring`: libaio has no request for trims"));
        }
    }
}

/// Resets of zones are calls of `sync`, which all jobs then have.
fn resets(jobs: &[Job], losses: &mut Losses, group: &mut Group) {
    for job in jobs {
        let is_sync = job.engine_kind() == Engine::Sync;
        let is_deep = job.depth.as_ref().is_some_and(|got| got.value > 1);
        let Some(got) = &job.engine else { continue };
        if is_sync {
            losses.replace(got.id, Verdict::same("`backend = \"sync\"`"));
            continue;
        }
        losses.worsen(
            got.id,
            match is_deep {
                true => Verdict::refused("a depth beside resets of zones, which `sync` alone does"),
                false => Verdict::near("`sync`, which resets zones: one request at a time as well"),
            },
        );
    }
    let trims = jobs.iter().find(|job| job.direction().trims);
    let source = trims.map(|job| of(&job.engine, losses)).unwrap_or_default();
    group.engine.text("backend", "sync", source);
}

/// `[contents]`; `shared` is whether several workers write the same bytes, and each can have no
/// part of its own.
pub fn contents(jobs: &[Job], shared: bool, losses: &mut Losses, group: &mut Group) {
    let verify = first(jobs, |job| job.verify.as_ref().filter(|got| got.value));
    if let Some(got) = verify {
        let writes = jobs.iter().any(Job::changes);
        let later = first(jobs, |job| job.do_verify.as_ref()).is_none_or(|got| got.value);
        let odd =
            jobs.iter().any(|job| job.one_size().is_some_and(|size| !size.is_multiple_of(512)));
        if shared && writes {
            let needs = "checks of blocks that several workers write";
            losses.worsen(got.id, Verdict::refused(needs));
        } else if odd {
            losses.worsen(got.id, Verdict::refused("checks of sizes that are no multiples of 512"));
        } else {
            if !writes {
                let why = "`contents.verify`: what it reads was written by `prepare`, not by a job \
                           before it";
                losses.worsen(got.id, Verdict::near(why));
            }
            let value = if writes && later { "after" } else { "true" };
            group.contents.text("verify", value, losses.source(got.id));
        }
    } else {
        for id in jobs.iter().filter_map(|job| job.do_verify.as_ref()).map(|got| got.id) {
            losses.replace(id, Verdict::harmless("nothing is verified"));
        }
    }
    let verifies = group.contents.get("verify").is_some();
    if let Some(got) = first(jobs, |job| job.compressible.as_ref()).filter(|got| got.value > 0) {
        let most = if verifies { 900_000 } else { 1_000_000 };
        if got.value > most {
            losses.worsen(got.id, Verdict::near("90 %: the headers of `verify` take the rest"));
        }
        let value = quoted(&share(got.value.min(most)));
        group.contents.set("compressible", value, losses.source(got.id));
    }
    if let Some(got) = first(jobs, |job| job.duplicate.as_ref()).filter(|got| got.value > 0) {
        if verifies {
            losses.worsen(got.id, Verdict::refused("copies of blocks that say where they belong"));
            return;
        }
        group.contents.set("duplicate", quoted(&share(got.value)), losses.source(got.id));
        if let Some(got) = first(jobs, |job| job.dedupe_global.as_ref()).filter(|got| got.value) {
            group.contents.text("duplicate_scope", "hosts", losses.source(got.id));
        }
    }
}

/// `[stages]` and `[sweep]`.
pub fn stages(jobs: &[Job], losses: &mut Losses, group: &mut Group) {
    prepare(jobs, losses, group);
    if let Some(got) = first(jobs, |job| job.prerun.as_ref()) {
        group.stages.text("prerun", &got.value, losses.source(got.id));
    }
    let ramp = first(jobs, |job| job.ramp.as_ref()).or(first(jobs, |job| job.steady_ramp.as_ref()));
    if let Some(got) = ramp.filter(|got| got.value > 0) {
        group.stages.set("precondition", time(got.value.min(1 << 60)), losses.source(got.id));
    }
    let many = first(jobs, |job| job.loops.as_ref()).filter(|got| got.value > 1);
    if let Some(got) = first(jobs, |job| job.steady.as_ref()) {
        steady(jobs, got.id, losses, group);
    } else if jobs.iter().any(|job| job.runtime.as_ref().is_some_and(|got| got.value > 0)) {
        timed(jobs, losses, group);
    } else if let Some(got) = many.filter(|got| got.value > MOST_LOOPS) {
        let why = "60 s in place of so many loops; `--set measure=…` for another time";
        losses.replace(got.id, Verdict::near(why));
        group.stages.set("measure", "\"60s\"", losses.source(got.id));
        return;
    } else {
        amount(jobs, losses, group);
    }
    if let Some(got) = many {
        let why = "`repetitions`: each loop is a point with results of its own";
        losses.worsen(got.id, Verdict::near(why));
        group.sweep.set(
            "repetitions",
            got.value.min(MOST_LOOPS).to_string(),
            losses.source(got.id),
        );
    }
}

fn prepare(jobs: &[Job], losses: &Losses, group: &mut Group) {
    let is_device =
        |job: &Job| matches!(place(job), Place::Devices(_) | Place::Nothing) || is_null(job);
    let over = first(jobs, |job| job.overwrite.as_ref()).filter(|got| got.value);
    let reads = jobs.iter().find(|job| job.direction().reads && !is_device(job));
    // What fills zones is a job that writes to them.
    let by_zones = jobs.iter().any(Job::keeps_to_zones);
    let (value, source) = match (reads, over) {
        _ if by_zones => (false, String::new()),
        (Some(job), _) => (true, of(&job.rw, losses)),
        (None, Some(got)) => (true, losses.source(got.id)),
        (None, None) => (false, String::new()),
    };
    group.stages.set("prepare", value.to_string(), source);
}

fn is_null(job: &Job) -> bool {
    job.engine_kind() == Engine::Null
}

/// A start delay matters where it is another one than that of the others.
fn steady(jobs: &[Job], id: OptionId, losses: &mut Losses, group: &mut Group) {
    group.stages.text("until", "steady", losses.source(id));
    let span = first(jobs, |job| job.steady_time.as_ref());
    // Five rounds of four intervals are the least that the rule needs.
    let measure = span.map_or(20 * SECOND, |got| got.value).max(20 * SECOND);
    let source = span.map(|got| losses.source(got.id)).unwrap_or_default();
    group.stages.set("measure", time(measure.min(1 << 60)), source);
    if let Some(got) = first(jobs, |job| job.runtime.as_ref()) {
        let most = got.value.max(measure).min(1 << 60);
        group.stages.set("measure_max", time(most), losses.source(got.id));
    }
}

fn timed(jobs: &[Job], losses: &mut Losses, group: &mut Group) {
    let longest = jobs.iter().filter_map(|job| job.runtime.as_ref()).max_by_key(|got| got.value);
    let Some(longest) = longest else { return };
    let measure = longest.value.clamp(SECOND / 10, 1 << 60);
    group.stages.set("measure", time(measure), losses.source(longest.id));
    for job in jobs {
        match &job.runtime {
            Some(got) if got.value != longest.value => {
                let why = "it runs as long as the others of its group";
                losses.worsen(got.id, Verdict::near(why));
            }
            Some(got) if !job.time_based.as_ref().is_some_and(|got| got.value) => {
                let why = "it runs this whole time, even where fio would have done `size` before";
                losses.worsen(got.id, Verdict::near(why));
            }
            Some(_) => {}
            None => {
                let id = job.size.as_ref().map(|got| got.id).or(job.rw.as_ref().map(|got| got.id));
                if let Some(id) = id {
                    let why = "it runs as long as the others of its group, not until it is done";
                    losses.worsen(id, Verdict::near(why));
                }
            }
        }
        let ends = [job.io_size.as_ref().map(|got| got.id), job.number.as_ref().map(|got| got.id)];
        for id in ends.into_iter().flatten() {
            losses.replace(id, Verdict::near("time alone ends it, not an amount"));
        }
        if let Some(got) = &job.exitall {
            losses.replace(got.id, Verdict::harmless("all workers end together"));
        }
    }
}

/// Nothing but an amount ends the jobs.
fn amount(jobs: &[Job], losses: &mut Losses, group: &mut Group) {
    if jobs.iter().any(|job| job.one_size().is_none()) {
        let source = "without a time; an amount needs blocks of one size";
        group.stages.set("measure", "\"60s\"", source);
        for job in jobs {
            let id = job.split.as_ref().map(|got| got.id);
            let id = id.or(job.range.as_ref().map(|got| got.id));
            let id = id.or(job.bs.as_ref().map(|got| got.id));
            if let Some(id) = id.filter(|_| job.one_size().is_none()) {
                let why = "60 s in place of the amount, which needs blocks of one size; `--set \
                           measure=…`";
                losses.worsen(id, Verdict::near(why));
            }
        }
        return;
    }
    let (value, source) = most_of(jobs, losses);
    group.stages.set("amount", value, source);
    let flushes = first(jobs, |job| job.end_fsync.as_ref()).filter(|got| got.value);
    match flushes {
        Some(got) => {
            losses.replace(got.id, Verdict::same("`stages.count_fsync`"));
            group.stages.set("count_fsync", "true", losses.source(got.id));
        }
        None => group.stages.set("count_fsync", "false", ""),
    }
    group.stages.set("count_close", "false", "");
    if let Some(got) = first(jobs, |job| job.exitall.as_ref()).filter(|got| got.value) {
        losses.replace(got.id, Verdict::same("`stages.stonewall`"));
        group.stages.set("stonewall", "true", losses.source(got.id));
    }
}

/// The amount of the job that does most, as TOML, and where it came from.
fn most_of(jobs: &[Job], losses: &mut Losses) -> (String, String) {
    let mut all: Vec<(Option<u64>, Option<OptionId>)> = Vec::new();
    for job in jobs {
        let own = job.size.as_ref().map(|got| got.value);
        let block = job.one_size().unwrap_or(4096);
        if job.zones.as_ref().is_some_and(|got| got.value == Zones::Strided) {
            let ends =
                [job.io_size.as_ref().map(|got| got.id), job.number.as_ref().map(|got| got.id)];
            for id in ends.into_iter().flatten() {
                losses.replace(id, Verdict::near("once through all zones, whatever that is"));
            }
            all.push((None, None));
            continue;
        }
        let limit = match (&job.number, &job.io_size) {
            (Some(number), _) => Some((number.value.saturating_mul(block), number.id)),
            (None, Some(io)) => match io.value {
                Extent::Bytes(bytes) => Some((bytes, io.id)),
                Extent::Share(_) => {
                    losses.replace(io.id, Verdict::near("all of it once, not a share of it"));
                    None
                }
            },
            (None, None) => None,
        };
        let Some((limit, id)) = limit else {
            all.push((None, None));
            continue;
        };
        match own {
            Some(Extent::Bytes(size)) if limit >= size => {
                let times = limit as f64 / size.max(1) as f64;
                losses.replace(
                    id,
                    match limit == size {
                        true => Verdict::same("`stages.amount = \"all\"`"),
                        false => Verdict::near(format!("all of it once, not {times:.1} times")),
                    },
                );
                all.push((None, Some(id)));
            }
            _ => {
                losses.replace(id, Verdict::same("`stages.amount`"));
                all.push((Some(limit.max(block)), Some(id)));
            }
        }
    }
    let limits = all.iter().filter_map(|(limit, _)| *limit);
    // Where the end of one is the end of all, the least amount counts.
    let first_ends = jobs.iter().any(|job| job.exitall.as_ref().is_some_and(|got| got.value));
    let most = match all.iter().any(|(limit, _)| limit.is_none()) {
        _ if first_ends => limits.min(),
        true => None,
        false => limits.max(),
    };
    for (_, id) in all.iter().filter(|(limit, _)| *limit != most) {
        if let Some(id) = id {
            losses.worsen(*id, Verdict::near("as much as the job that does most beside it"));
        }
    }
    let id = all.iter().find(|(limit, _)| *limit == most).and_then(|(_, id)| *id);
    let source = id.map(|id| losses.source(id)).unwrap_or_default();
    (most.map_or("\"all\"".to_owned(), |most| size(most.min(1 << 60))), source)
}
