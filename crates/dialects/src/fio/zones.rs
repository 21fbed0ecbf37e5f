//! Zones (`zonemode`): strided ones become runs with strides between, those of a zoned device
//! `zones = "device"`.

use super::job::{Engine, Job, Zones};
use super::place::{Place, place, workers};
use crate::draft::{Fields, quoted, share, size};
use crate::loss::{Losses, OptionId, Verdict};
use crate::words::values::Extent;

impl Job {
    /// Whether it keeps to the zones of a device.
    pub fn keeps_to_zones(&self) -> bool {
        // What only reads, and anywhere, knows of no zone.
        self.zones == Some(Zones::OfDevice) && (self.changes() || !self.is("beyond"))
    }
}

/// Says what became of a job's zones, and sets what the workload has of them.
pub fn zones(job: &Job, losses: &mut Losses, fields: &mut Fields) {
    let (Some(zones), Some(mode)) = (job.zones, job.id("zones")) else { return };
    match zones {
        Zones::Strided => strided(job, mode, losses, fields),
        Zones::OfDevice if job.keeps_to_zones() => of_device(job, mode, losses, fields),
        Zones::OfDevice => {
            losses.decide(mode, Verdict::same("the device is read as any other one"));
            for slot in ["zone_size", "beyond"] {
                losses.decide(job.id(slot), Verdict::harmless("reads go where they fall"));
            }
        }
    }
}

/// Writes at write pointers, reads below them, trims of whole zones.
fn of_device(job: &Job, mode: OptionId, losses: &mut Losses, fields: &mut Fields) {
    if let Some(needs) = not_by_zones(job) {
        losses.replace(mode, Verdict::refused(needs));
        return;
    }
    losses.decide(mode, differs(job));
    fields.set("zones", "\"device\"", losses.source(mode));
    let mut put = |slot: &str, key: &'static str, value: &dyn Fn(u64) -> String| {
        if let (Some(number), id) = (job.number(slot), job.id(slot)) {
            losses.decide(id, Verdict::same(format!("`{key}`")));
            fields.set(key, value(number), losses.source(id));
        }
    };
    let part = |ppm: u64| quoted(&share(ppm));
    put("zone_size", "zone_size", &size);
    if job.direction().writes {
        put("open_zones", "open_zones", &|count| count.to_string());
        put("own_open_zones", "worker_open_zones", &|count| count.to_string());
        // Without a frequency, fio resets full zones alone.
        if job.number("reset_frequency").is_some_and(|ppm| ppm > 0) {
            put("reset_frequency", "zone_reset_frequency", &part);
            put("reset_threshold", "zone_reset_threshold", &part);
        }
    }
    if let Some(id) = job.id("beyond") {
        losses.decide(id, Verdict::same("`unwritten_reads`"));
        fields.set("unwritten_reads", job.is("beyond").to_string(), losses.source(id));
    }
}

/// What differs from fio's requests on zones.
fn differs(job: &Job) -> Verdict {
    let several = workers(job) != Some(1);
    if job.direction().reads && several {
        return Verdict::near(
            "`zones = \"device\"`; in fio, reads of different jobs in one zone also wait for each \
             other",
        );
    }
    if job.direction().writes && depth(job) > 1 {
        return Verdict::near(
            "`zones = \"device\"`, with one write under way in each zone: the depth is reached \
             over several zones",
        );
    }
    Verdict::same("`zones = \"device\"`")
}

fn depth(job: &Job) -> u64 {
    let is_sync = job.engine_kind() == Engine::Sync;
    job.number("depth").filter(|_| !is_sync).unwrap_or(1)
}

/// Why a job cannot keep to zones here.
fn not_by_zones(job: &Job) -> Option<&'static str> {
    let direction = job.direction();
    let moves = direction.reads || direction.writes;
    let zone = job.number("zone_size");
    let is_less = |limit: Extent| job.size != Some(limit);
    let is_file = !matches!(place(job), Place::Devices(_));
    let partly = job.number("random").is_some_and(|share| share < 1_000_000);
    Some(match () {
        () if direction != job.asked() => "other commands than reads and writes, by zones",
        () if direction.trims && moves => "resets of zones in one job with other requests",
        () if direction.behind != 0 || partly => "zones that are gone through in another order",
        () if job.number("zone_skip").is_some_and(|bytes| bytes > 0) => {
            "zones that are passed over (`zoneskip`)"
        }
        () if direction.trims && (zone.is_none() || job.one_size() != zone) => {
            "resets of whole zones: trims of one `bs`, which is `zonesize`"
        }
        () if direction.trims && depth(job) > 1 => "several resets of zones at the same time",
        () if is_file && zone.is_none() => "the size of the zones of a file; give `zonesize`",
        () if moves && !job.is_uncached() => "writes and reads by zones through the page cache",
        () if direction.writes && !direction.random && depth(job) > 1 => {
            "several writes under way in one zone; `iodepth=1` has one"
        }
        () if job.is("verify") => "checks of what is written by zones",
        () if job.number("number").is_some() => "an amount of requests by zones",
        () if job.io_size.is_some_and(is_less) => "an amount that is not all of the zones",
        () => return None,
    })
}

/// So many bytes of each zone in order, then on to the next one.
fn strided(job: &Job, mode: OptionId, losses: &mut Losses, fields: &mut Fields) {
    let direction = job.direction();
    let run = job.number("zone_size").unwrap_or(0);
    let range = job.number("zone_range").unwrap_or(run);
    let stride = range.saturating_add(job.number("zone_skip").unwrap_or(0));
    let block = job.one_size();
    let needs = match block {
        _ if direction.random => Some("requests at random inside of one zone after the other"),
        _ if direction.behind != 0 => Some("strides inside of zones"),
        _ if run == 0 => Some("the size of the zones; give `zonesize`"),
        _ if run > range => Some("zones that are gone through several times"),
        None => Some("runs of blocks of several sizes"),
        Some(block) if !run.is_multiple_of(block) => Some("zones of whole blocks"),
        Some(_) => None,
    };
    if let Some(needs) = needs {
        losses.replace(mode, Verdict::refused(needs));
        return;
    }
    let why = "`run` and `stride`: once through the zones within `size`; fio goes on behind it, to \
               the end of the device and round again, until it has done as many bytes";
    losses.decide(mode, Verdict::near(why));
    for (slot, field) in [
        ("zone_size", "`run`"),
        ("zone_range", "`stride`, with `zoneskip`"),
        ("zone_skip", "`stride`, with `zonerange` or `zonesize`"),
    ] {
        losses.replace(job.id(slot), Verdict::same(field));
    }
    if stride > run {
        fields.set("run", size(run), job.source("zone_size", losses));
        let from = losses.source(job.first_id(&["zone_skip", "zone_size"]));
        fields.set("stride", size(stride.min(1 << 50)), from);
    }
}
