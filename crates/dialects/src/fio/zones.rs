//! Zones (`zonemode`): strided ones become runs with strides between; those of a zoned device are
//! read as any other bytes.

use super::job::{Got, Job, Zones};
use crate::draft::{Fields, size};
use crate::loss::{Losses, OptionId, Verdict};

/// Says what became of a job's zones, and sets what the workload has of them.
pub fn zones(job: &Job, losses: &mut Losses, fields: &mut Fields) {
    let Some(mode) = &job.zones else { return };
    match mode.value {
        Zones::Strided => strided(job, mode, losses, fields),
        Zones::OfDevice if job.changes() => {
            let needs = "writes at the write pointers of zones, which are reset before";
            losses.replace(mode.id, Verdict::refused(needs));
        }
        Zones::OfDevice => {
            let why = "the device is read as any other one, also behind its write pointers";
            losses.replace(mode.id, Verdict::near(why));
            if let Some(got) = &job.zone_size {
                let why = "the device has the size of its zones, and offsets in zones are counted \
                           by it";
                losses.replace(got.id, Verdict::harmless(why));
            }
        }
    }
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
    losses.replace(mode.id, Verdict::near(why));
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
