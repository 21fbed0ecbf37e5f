//! Zones (`zonemode`): strided ones become runs with strides between, those of a zoned device
//! `zones = "device"`.

use super::job::{Engine, Got, Job, Zones};
use super::place::{Place, place, workers};
use crate::draft::{Fields, quoted, share, size};
use crate::loss::{Losses, OptionId, Verdict};
use crate::values::Extent;

impl Job {
    /// Whether it keeps to the zones of a device.
    pub fn keeps_to_zones(&self) -> bool {
        let is_so = |got: &Got<Zones>| got.value == Zones::OfDevice;
        // What only reads, and anywhere, knows of no zone.
        self.zones.as_ref().is_some_and(is_so) && (self.changes() || !self.reads_beyond())
    }

    fn reads_beyond(&self) -> bool {
        self.beyond.as_ref().is_some_and(|got| got.value)
    }
}

/// Says what became of a job's zones, and sets what the workload has of them.
pub fn zones(job: &Job, losses: &mut Losses, fields: &mut Fields) {
    let Some(mode) = &job.zones else { return };
    match mode.value {
        Zones::Strided => strided(job, mode, losses, fields),
        Zones::OfDevice if job.keeps_to_zones() => of_device(job, mode, losses, fields),
        Zones::OfDevice => {
            losses.decide(mode.id, Verdict::same("the device is read as any other one"));
            let size = job.zone_size.as_ref().map(|got| got.id);
            let beyond = job.beyond.as_ref().map(|got| got.id);
            for id in [size, beyond].into_iter().flatten() {
                losses.decide(id, Verdict::harmless("reads go where they fall"));
            }
        }
    }
}

/// Writes at write pointers, reads below them, trims of whole zones.
fn of_device(job: &Job, mode: &Got<Zones>, losses: &mut Losses, fields: &mut Fields) {
    if let Some(needs) = not_by_zones(job) {
        losses.replace(mode.id, Verdict::refused(needs));
        return;
    }
    losses.decide(mode.id, differs(job));
    fields.set("zones", "\"device\"", losses.source(mode.id));
    let mut put = |id: OptionId, key: &'static str, value: String| {
        losses.decide(id, Verdict::same(format!("`{key}`")));
        fields.set(key, value, losses.source(id));
    };
    if let Some(got) = &job.zone_size {
        put(got.id, "zone_size", size(got.value));
    }
    if let Some(got) = &job.beyond {
        put(got.id, "unwritten_reads", got.value.to_string());
    }
    if !job.direction().writes {
        return;
    }
    if let Some(got) = &job.open_zones {
        put(got.id, "open_zones", got.value.to_string());
    }
    if let Some(got) = &job.own_open_zones {
        put(got.id, "worker_open_zones", got.value.to_string());
    }
    // Without a frequency, fio resets full zones alone.
    let Some(frequency) = job.reset_frequency.as_ref().filter(|got| got.value > 0) else { return };
    put(frequency.id, "zone_reset_frequency", quoted(&share(frequency.value)));
    if let Some(got) = &job.reset_threshold {
        put(got.id, "zone_reset_threshold", quoted(&share(got.value)));
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
    job.depth.as_ref().filter(|_| !is_sync).map_or(1, |got| got.value)
}

/// Why a job cannot keep to zones here.
fn not_by_zones(job: &Job) -> Option<&'static str> {
    let direction = job.direction();
    let says = |got: &Option<Got<bool>>| got.as_ref().is_some_and(|got| got.value);
    let moves = direction.reads || direction.writes;
    let zone = job.zone_size.as_ref().map(|got| got.value);
    let is_less = |limit: Extent| job.size.as_ref().is_none_or(|size| size.value != limit);
    let is_file = !matches!(place(job), Place::Devices(_));
    let partly = job.random.as_ref().is_some_and(|got| got.value < 1_000_000);
    Some(match () {
        () if direction != job.asked() => "other commands than reads and writes, by zones",
        () if direction.trims && moves => "resets of zones in one job with other requests",
        () if direction.behind != 0 || partly => "zones that are gone through in another order",
        () if job.zone_skip.as_ref().is_some_and(|got| got.value > 0) => {
            "zones that are passed over (`zoneskip`)"
        }
        () if direction.trims && (zone.is_none() || job.one_size() != zone) => {
            "resets of whole zones: trims of one `bs`, which is `zonesize`"
        }
        () if direction.trims && depth(job) > 1 => "several resets of zones at the same time",
        () if is_file && zone.is_none() => "the size of the zones of a file; give `zonesize`",
        () if moves && !says(&job.direct) && !says(&job.uncached) => {
            "writes and reads by zones through the page cache"
        }
        () if direction.writes && !direction.random && depth(job) > 1 => {
            "several writes under way in one zone; `iodepth=1` has one"
        }
        () if says(&job.verify) => "checks of what is written by zones",
        () if job.number.is_some() => "an amount of requests by zones",
        () if job.io_size.as_ref().is_some_and(|got| is_less(got.value)) => {
            "an amount that is not all of the zones"
        }
        () => return None,
    })
}

/// So many bytes of each zone in order, then on to the next one.
fn strided(job: &Job, mode: &Got<Zones>, losses: &mut Losses, fields: &mut Fields) {
    let direction = job.direction();
    let value = |got: &Option<Got<u64>>| got.as_ref().map(|got| got.value);
    let run = value(&job.zone_size).unwrap_or(0);
    let range = value(&job.zone_range).unwrap_or(run);
    let stride = range.saturating_add(value(&job.zone_skip).unwrap_or(0));
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
        losses.replace(mode.id, Verdict::refused(needs));
        return;
    }
    let why = "`run` and `stride`: once through all zones; fio goes round until it has done as \
               many bytes as there are";
    losses.decide(mode.id, Verdict::near(why));
    let field = |losses: &mut Losses, got: &Option<Got<u64>>, field: &str| -> Option<OptionId> {
        let got = got.as_ref()?;
        losses.replace(got.id, Verdict::same(field));
        Some(got.id)
    };
    let of_run = field(losses, &job.zone_size, "`run`");
    field(losses, &job.zone_range, "`stride`, with `zoneskip`");
    let of_stride = field(losses, &job.zone_skip, "`stride`, with `zonerange` or `zonesize`");
    let source = |id: Option<OptionId>, losses: &Losses| id.map(|id| losses.source(id));
    if stride > run {
        fields.set("run", size(run), source(of_run, losses).unwrap_or_default());
        let from = source(of_stride.or(of_run), losses).unwrap_or_default();
        fields.set("stride", size(stride.min(1 << 50)), from);
    }
}
