//! Commands of NVMe and SCSI beside reads and writes, and `fallocate`, as requests of the block
//! layer.

use super::job::Job;
use crate::draft::{Fields, quoted, share};
use crate::loss::{Losses, Verdict};

/// Sizes of blocks without what protects them are multiples of it.
const SECTOR: u64 = 512;
const ALL: u64 = 1_000_000;

/// Sets what becomes of a job's commands, where its requests are known otherwise.
pub fn fields(job: &Job, losses: &mut Losses, fields: &mut Fields) {
    if job.space() {
        space(job, losses, fields);
        return;
    }
    let Some(got) = &job.commands else { return };
    let direction = job.direction();
    if !job.asked().writes {
        losses.replace(got.id, Verdict::harmless("the job writes nothing"));
        return;
    }
    if direction == job.asked() {
        if direction.writes && got.value.write < ALL {
            let needs = "commands in place of writes that are mixed with other requests";
            losses.worsen(got.id, Verdict::refused(needs));
        }
        return;
    }
    let (commands, source) = (got.value, losses.source(got.id));
    if commands.zeroes > 0 {
        fields.set("trim", quoted(&share(commands.zeroes)), source.clone());
        fields.set("trim_as", "\"zeroes\"", source.clone());
    }
    let moved = commands.verify + commands.write;
    if let Some(read) = (commands.verify * ALL + moved / 2).checked_div(moved) {
        fields.set("read", quoted(&share(read)), source);
    }
}

/// `fallocate`: what reads and writes ask for keeps what is there, trims make holes.
fn space(job: &Job, losses: &mut Losses, fields: &mut Fields) {
    let asked = job.asked();
    let source = job.space.as_ref().map(|got| losses.source(got.id)).unwrap_or_default();
    if !asked.trims {
        fields.set("trim_as", "\"allocate\"", source);
    } else if let Some(got) = job.rw.as_ref().filter(|_| asked.writes || asked.reads) {
        let needs = "holes and allocations in one workload";
        losses.worsen(got.id, Verdict::refused(needs));
    }
}

/// Blocks that hold their own protection information are as large as their data here: what is left
/// of them is the kernel's and the device's.
pub fn without_metadata(job: &mut Job, losses: &mut Losses) {
    let (Some(_), Some(bs)) = (&job.protected, &mut job.bs) else { return };
    let mut whole = bs.value;
    for size in whole.iter_mut().flatten().filter(|size| **size > SECTOR) {
        *size -= *size % SECTOR;
    }
    if whole != bs.value {
        let first = whole.iter().flatten().next().copied().unwrap_or_default();
        let why = format!("{first} bytes of data; the rest of each block is metadata");
        losses.worsen(bs.id, Verdict::near(why));
        bs.value = whole;
    }
}
