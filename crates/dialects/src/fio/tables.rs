//! What the jobs of a group say of the engine, the stages and the contents: fields that a group has
//! together.

use super::job::{Engine, Job, Zones};
use super::place::{Bytes, Place, bytes, place, roams};
use super::work::goes_on;
use crate::draft::{Group, quoted, share, size, time};
use crate::loss::{Losses, OptionId, Verdict};
use crate::words::values::Extent;

/// Past this, loops are a time.
const MOST_LOOPS: u64 = 100;
const SECOND: u64 = 1_000_000_000;

/// The first job that has a value in this slot, on which most depends.
fn first<'a>(jobs: &'a [Job], slot: &str) -> Option<&'a Job> {
    jobs.iter().find(|job| job.id(slot).is_some())
}

/// Its number, and the option that gave it.
fn number(jobs: &[Job], slot: &str) -> Option<(u64, OptionId)> {
    let job = first(jobs, slot)?;
    job.number(slot).zip(job.id(slot))
}

/// The option, where the first job that says anything says yes.
fn yes(jobs: &[Job], slot: &str) -> Option<OptionId> {
    first(jobs, slot).filter(|job| job.is(slot))?.id(slot)
}

/// Options of which jobs that run together have one value: that of the first job that says one.
const OF_ALL: [&str; 7] = ["cached", "hipri", "sqthread", "pinned", "pin_split", "prerun", "ramp"];
/// The same of jobs that write.
const OF_WRITERS: [&str; 6] =
    ["compressible", "alike", "duplicate", "dedupe_global", "verify", "end_fsync"];

/// Says where a job wants another value than the one that all have.
pub fn differing(jobs: &[Job], losses: &mut Losses) {
    let says = |job: &Job, slot: &str| {
        let number = job.number(slot);
        let text = job.text(slot).map(str::to_owned);
        (number.unwrap_or(0), number.is_none() && job.is(slot), text)
    };
    for slot in OF_ALL.iter().chain(&OF_WRITERS) {
        let Some(chosen) = first(jobs, slot) else { continue };
        let counts = |job: &&Job| OF_ALL.contains(slot) || job.changes();
        for job in jobs.iter().filter(counts).filter(|job| says(job, slot) != says(chosen, slot)) {
            let why = "jobs that run together have one value, that of the first which says one";
            losses.worsen(job.id(slot).or(chosen.id(slot)), Verdict::near(why));
        }
    }
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
    let (chosen, backend) = backend(&kinds);
    let giver = if place(&jobs[chosen]) == Place::Nothing { "filename" } else { "engine" };
    group.engine.text("backend", backend, jobs[chosen].source(giver, losses));
    for (job, kind) in jobs.iter().zip(&kinds).filter(|(_, kind)| **kind != kinds[chosen]) {
        let verdict = match kind {
            Engine::Sync | Engine::Libaio | Engine::IoUring => Verdict::near(format!(
                "`backend = \"{backend}\"`, as for the jobs that run beside it; the requests are \
                 the same"
            )),
            _ => Verdict::refused("a `backend` of one workload among several that run together"),
        };
        losses.worsen(job.id("engine"), verdict);
    }
    direct(jobs, losses, group);
    if let Some(id) = yes(jobs, "cached") {
        group.engine.set("evict", "false", losses.source(id));
    }
    let (hipri, sqthread) = (yes(jobs, "hipri"), yes(jobs, "sqthread"));
    if backend == "io_uring" {
        let both = hipri.filter(|_| sqthread.is_some());
        losses.worsen(both, Verdict::refused("polling for submissions and completions at once"));
        let poll = if sqthread.is_some() { "submissions" } else { "completions" };
        if let Some(id) = sqthread.or(hipri) {
            group.engine.text("poll", poll, losses.source(id));
        }
    } else {
        losses.worsen(hipri, Verdict::refused("polling without io_uring"));
        losses.worsen(sqthread, Verdict::refused("polling without io_uring"));
    }
    let is_split = jobs.iter().any(|job| job.text("pin_split") == Some("split"));
    let pinned = first(jobs, "pinned");
    let pin = match pinned.and_then(|job| job.text("pinned")) {
        None => "none",
        Some("cpus_allowed") if is_split => "core",
        Some(_) => "node",
    };
    group.engine.text("pin", pin, losses.source(pinned.and_then(|job| job.id("pinned"))));
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
    // Some engines know no page cache.
    // To a trim, no cache matters.
    let moves = |job: &&Job| job.direction().reads || job.direction().writes;
    let first = jobs.iter().find(moves).unwrap_or(&jobs[0]);
    let value = first.is_uncached();
    let giver = if first.uncached.is_some() { "engine" } else { "direct" };
    // fio's default is written down, because it is not Plimsoll's.
    group.engine.set("direct", value.to_string(), first.source(giver, losses));
    let is_odd = |job: &&Job| job.sizes().iter().flatten().any(|(size, _)| size % 512 > 0);
    for job in jobs.iter().filter(|_| value).filter(is_odd) {
        let needs = "requests past the page cache whose sizes are no multiples of 512 bytes";
        losses.worsen(job.first_id(&["split", "range", "bs"]), Verdict::refused(needs));
    }
    for job in jobs.iter().filter(moves).filter(|job| job.is_uncached() != value) {
        let id = job.id("direct").or(first.id("direct"));
        let needs = "`direct` of one workload among several that run together";
        let engine = job.id("engine").filter(|_| job.uncached.is_some());
        losses.worsen(id.or(engine), Verdict::refused(needs));
    }
    let trims = jobs.iter().any(|job| job.direction().trims);
    let writes = jobs.iter().any(|job| job.direction().writes);
    let is_mapped = |job: &&Job| job.uncached == Some(false) && job.is("direct");
    for job in jobs.iter().filter(is_mapped) {
        let why = "its engine maps the file: through the page cache, whatever `direct` says";
        losses.replace(job.id("direct"), Verdict::harmless(why));
    }
    let is_buffered = |job: &&Job| !job.is_uncached();
    for job in jobs.iter().filter(|job| writes && job.asked().trims).filter(is_buffered) {
        let needs = "trims past the page cache (`direct=1`): here the kernel refuses those of \
                     blocks that it has still to write";
        losses.worsen(job.id("rw"), Verdict::refused(needs));
    }
    if trims && jobs.iter().any(Job::keeps_to_zones) {
        resets(jobs, losses, group);
        return;
    }
    if trims && group.engine.get("backend") == Some("\"libaio\"") {
        let source = jobs[0].source("engine", losses);
        group.engine.text("backend", "io_uring", source);
        let why = "`io_uring`: libaio has no request for trims";
        losses.worsen(jobs[0].id("engine"), Verdict::near(why));
    }
}

/// Resets of zones are calls of `sync`, which all jobs then have.
fn resets(jobs: &[Job], losses: &mut Losses, group: &mut Group) {
    for job in jobs {
        let is_sync = job.engine_kind() == Engine::Sync;
        let is_deep = job.number("depth").is_some_and(|depth| depth > 1);
        if is_sync {
            losses.replace(job.id("engine"), Verdict::same("`backend = \"sync\"`"));
            continue;
        }
        losses.worsen(
            job.id("engine"),
            match is_deep {
                true => Verdict::refused("a depth beside resets of zones, which `sync` alone does"),
                false => Verdict::near("`sync`, which resets zones: one request at a time as well"),
            },
        );
    }
    let trims = jobs.iter().find(|job| job.direction().trims);
    let source = losses.source(trims.and_then(|job| job.id("engine")));
    group.engine.text("backend", "sync", source);
}

/// `[contents]`; `shared` is whether several workers write the same bytes, and each can have no
/// part of its own.
pub fn contents(jobs: &[Job], shared: bool, losses: &mut Losses, group: &mut Group) {
    let verify = jobs.iter().find(|job| job.is("verify")).and_then(|job| job.id("verify"));
    if let Some(id) = verify {
        let writes = jobs.iter().any(Job::changes);
        let later = first(jobs, "do_verify").is_none_or(|job| job.is("do_verify"));
        let odd =
            jobs.iter().any(|job| job.one_size().is_some_and(|size| !size.is_multiple_of(512)));
        if shared && writes {
            let needs = "checks of blocks that several workers write";
            losses.worsen(id, Verdict::refused(needs));
        } else if odd {
            losses.worsen(id, Verdict::refused("checks of sizes that are no multiples of 512"));
        } else {
            if !writes {
                let why = "`contents.verify`: what it reads was written by `prepare`, not by a job \
                           before it";
                losses.worsen(id, Verdict::near(why));
            }
            let value = if writes && later { "after" } else { "true" };
            if value == "after" {
                let why = "`contents.verify`: the layout is read back, in pieces of up to 1 MiB; \
                           fio reads what it wrote, in the sizes in which it was written";
                losses.worsen(id, Verdict::near(why));
            }
            group.contents.text("verify", value, losses.source(id));
        }
    } else {
        for job in jobs {
            losses.replace(job.id("do_verify"), Verdict::harmless("nothing is verified"));
        }
    }
    let verifies = group.contents.get("verify").is_some();
    let share_of = |slot| number(jobs, slot).filter(|(part, _)| *part > 0);
    // fio fills blocks with one pattern where it neither compresses nor copies them.
    let alike = yes(jobs, "alike").filter(|_| share_of("duplicate").is_none());
    let alike = alike.map(|id| (1_000_000, id));
    if let Some((part, id)) = share_of("compressible").or(alike) {
        let most = if verifies { 900_000 } else { 1_000_000 };
        if part > most {
            losses.worsen(id, Verdict::near("90 %: the headers of `verify` take the rest"));
        }
        group.contents.set("compressible", quoted(&share(part.min(most))), losses.source(id));
    }
    if let Some((part, id)) = share_of("duplicate") {
        if verifies {
            losses.worsen(id, Verdict::refused("copies of blocks that say where they belong"));
            return;
        }
        group.contents.set("duplicate", quoted(&share(part)), losses.source(id));
        if let Some(id) = yes(jobs, "dedupe_global") {
            group.contents.text("duplicate_scope", "hosts", losses.source(id));
        }
    }
}

/// `[stages]` and `[sweep]`.
pub fn stages(jobs: &[Job], losses: &mut Losses, group: &mut Group) {
    prepare(jobs, losses, group);
    if let Some(job) = first(jobs, "prerun") {
        let command = job.text("prerun").unwrap_or_default();
        group.stages.text("prerun", command, job.source("prerun", losses));
    }
    let ramp = number(jobs, "ramp").or(number(jobs, "steady_ramp"));
    if let Some((ns, id)) = ramp.filter(|(ns, _)| *ns > 0) {
        group.stages.set("precondition", time(ns.min(1 << 60)), losses.source(id));
    }
    let is_timed = jobs.iter().any(|job| job.number("runtime").is_some_and(|ns| ns > 0));
    let many = number(jobs, "loops").filter(|(loops, _)| *loops > 1 && !is_timed);
    let is_steady = |job: &&Job| job.is("steady") || job.is("sprandom");
    if let Some(job) = jobs.iter().find(is_steady) {
        let is_sprandom = job.is("sprandom") && !job.is("steady");
        let id = job.id(if is_sprandom { "sprandom" } else { "steady" });
        steady(jobs, id, losses, group);
    } else if is_timed {
        timed(jobs, losses, group);
    } else if let Some((_, id)) = many.filter(|(loops, _)| *loops > MOST_LOOPS) {
        let why = "60 s in place of so many loops; `--set measure=…` for another time";
        losses.replace(id, Verdict::near(why));
        group.stages.set("measure", "\"60s\"", losses.source(id));
        return;
    } else {
        amount(jobs, losses, group);
    }
    if let Some((loops, id)) = many {
        let why = "`repetitions`: each loop is a point with results of its own";
        losses.worsen(id, Verdict::near(why));
        group.sweep.set("repetitions", loops.min(MOST_LOOPS).to_string(), losses.source(id));
    }
}

fn prepare(jobs: &[Job], losses: &Losses, group: &mut Group) {
    let is_device =
        |job: &Job| matches!(place(job), Place::Devices(_) | Place::Nothing) || is_null(job);
    let over = yes(jobs, "overwrite");
    let reads = jobs.iter().find(|job| job.direction().reads && !is_device(job));
    // What fills zones is a job that writes to them.
    let by_zones = jobs.iter().any(Job::keeps_to_zones);
    let (value, source) = match (reads, over) {
        _ if by_zones => (false, String::new()),
        (Some(job), _) => (true, job.source("rw", losses)),
        (None, Some(id)) => (true, losses.source(id)),
        (None, None) => (false, String::new()),
    };
    group.stages.set("prepare", value.to_string(), source);
}

fn is_null(job: &Job) -> bool {
    job.engine_kind() == Engine::Null
}

/// A start delay matters where it is another one than that of the others.
fn steady(jobs: &[Job], id: Option<OptionId>, losses: &mut Losses, group: &mut Group) {
    group.stages.text("until", "steady", losses.source(id));
    let span = number(jobs, "steady_time");
    // Five rounds of four intervals are the least that the rule needs.
    let measure = span.map_or(20 * SECOND, |(ns, _)| ns).max(20 * SECOND);
    let source = losses.source(span.map(|(_, id)| id));
    group.stages.set("measure", time(measure.min(1 << 60)), source);
    if let Some((ns, id)) = number(jobs, "runtime") {
        let most = ns.max(measure).min(1 << 60);
        group.stages.set("measure_max", time(most), losses.source(id));
    }
}

fn timed(jobs: &[Job], losses: &mut Losses, group: &mut Group) {
    let times = jobs.iter().filter_map(|job| job.number("runtime").zip(job.id("runtime")));
    let Some((longest, id)) = times.max_by_key(|(ns, _)| *ns) else { return };
    let measure = longest.clamp(SECOND / 10, 1 << 60);
    group.stages.set("measure", time(measure), losses.source(id));
    for job in jobs.iter().filter(|job| job.number("ramp").is_some_and(|ns| ns > 0)) {
        if job.direction().random && goes_on(job) {
            let why = "`stages.precondition`; the order begins anew behind it, and fio goes on \
                       where the ramp ended";
            losses.worsen(job.id("ramp"), Verdict::near(why));
        }
    }
    for job in jobs {
        if roams(job) && job.number("runtime").is_some() {
            let why = "the time ends it, and `filesize` says where it goes";
            losses.replace(job.id("size"), Verdict::harmless(why));
        }
        let (id, why) = match job.number("runtime") {
            Some(ns) if ns != longest => {
                (job.id("runtime"), "it runs as long as the others of its group")
            }
            Some(_) if !job.is("time_based") => {
                let why = "it runs this whole time, even where fio would have done `size` before";
                (job.id("runtime"), why)
            }
            Some(_) => (None, ""),
            None => {
                let why = "it runs as long as the others of its group, not until it is done";
                (job.first_id(&["size", "rw"]), why)
            }
        };
        losses.worsen(id, Verdict::near(why));
        for slot in ["io_size", "number"] {
            losses.replace(job.id(slot), Verdict::near("time alone ends it, not an amount"));
        }
        losses.replace(job.id("exitall"), Verdict::harmless("all workers end together"));
        losses.replace(job.id("loops"), Verdict::harmless("the time ends it, not its loops"));
    }
}

/// Nothing but an amount ends the jobs.
fn amount(jobs: &[Job], losses: &mut Losses, group: &mut Group) {
    for job in jobs {
        let why = "fio does without it where no `runtime` is given: the amount ends the job";
        losses.replace(job.id("time_based"), Verdict::harmless(why));
        let why = "none: what fio sends in the ramp is a part of the amount, and here all of it is \
                   measured";
        let ramp = job.id("ramp").filter(|_| job.number("ramp").is_some_and(|ns| ns > 0));
        losses.replace(ramp, Verdict::near(why));
    }
    group.stages.remove("precondition");
    let (value, source) = most_of(jobs, losses);
    group.stages.set("amount", value, source);
    let flushes = yes(jobs, "end_fsync");
    losses.replace(flushes, Verdict::same("`stages.count_fsync`"));
    group.stages.set("count_fsync", flushes.is_some().to_string(), losses.source(flushes));
    group.stages.set("count_close", "false", "");
    if let Some(id) = yes(jobs, "exitall") {
        losses.replace(id, Verdict::same("`stages.stonewall`"));
        group.stages.set("stonewall", "true", losses.source(id));
    }
}

/// All bytes that a job may touch, where they are given.
fn own_bytes(job: &Job) -> Option<Extent> {
    match (roams(job), bytes(job)) {
        (true, Bytes { all: Some(all), from, to, .. }) => {
            Some(Extent::Bytes((all as f64 * (to - from)).round() as u64))
        }
        _ => job.size,
    }
}

/// Whether a job is through with its `size` before it has sent so many bytes.
fn is_done_before(job: &Job, bytes: u64) -> bool {
    matches!(job.size, Some(Extent::Bytes(size)) if size < bytes)
}

/// The bytes after which a job ends, where it is not when it has done all once.
fn limit_of(job: &Job, block: u64, losses: &mut Losses) -> Option<(u64, Option<OptionId>)> {
    let of_size = || match job.size.filter(|_| roams(job))? {
        Extent::Bytes(bytes) => Some((bytes, job.id("size"))),
        Extent::Share(_) => None,
    };
    match (job.number("number"), job.io_size) {
        // What is done first ends the job.
        (Some(number), Some(Extent::Bytes(bytes))) if bytes < number.saturating_mul(block) => {
            losses.replace(job.id("number"), Verdict::harmless("`io_size` is done before"));
            Some((bytes, job.id("io_size")))
        }
        (Some(number), None) if is_done_before(job, number.saturating_mul(block)) => {
            losses.replace(job.id("number"), Verdict::harmless("`size` is done before"));
            of_size()
        }
        (Some(number), _) => Some((number.saturating_mul(block), job.id("number"))),
        (None, Some(Extent::Bytes(bytes))) => Some((bytes, job.id("io_size"))),
        (None, Some(Extent::Share(_))) => {
            let why = "all of it once, not a share of it";
            losses.replace(job.id("io_size"), Verdict::near(why));
            None
        }
        (None, None) => of_size(),
    }
}

/// The amount of the job that does most, as TOML, and where it came from.
fn most_of(jobs: &[Job], losses: &mut Losses) -> (String, String) {
    let mut all: Vec<(Option<u64>, Option<OptionId>)> = Vec::new();
    for job in jobs {
        let own = own_bytes(job);
        let block = job.mean_size();
        if job.zones == Some(Zones::Strided) {
            for slot in ["io_size", "number"] {
                losses.replace(
                    job.id(slot),
                    Verdict::near("once through all zones, whatever that is"),
                );
            }
            all.push((None, None));
            continue;
        }
        let Some((limit, id)) = limit_of(job, block, losses) else {
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
                all.push((None, id));
            }
            _ => {
                losses.replace(id, Verdict::same("`stages.amount`"));
                all.push((Some(limit.max(block)), id));
            }
        }
    }
    let limits = all.iter().filter_map(|(limit, _)| *limit);
    // Where the end of one is the end of all, the least amount counts.
    let first_ends = jobs.iter().any(|job| job.is("exitall"));
    let most = match all.iter().any(|(limit, _)| limit.is_none()) {
        _ if first_ends => limits.min(),
        true => None,
        false => limits.max(),
    };
    for (_, id) in all.iter().filter(|(limit, _)| *limit != most) {
        losses.worsen(*id, Verdict::near("as much as the job that does most beside it"));
    }
    let id = all.iter().find(|(limit, _)| *limit == most).and_then(|(_, id)| *id);
    (most.map_or("\"all\"".to_owned(), |most| size(most.min(1 << 60))), losses.source(id))
}
