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
    if job.space {
        space(job, losses, fields);
        return;
    }
    let Some(commands) = job.commands else { return };
    let id = job.id("commands");
    let direction = job.direction();
    if !job.asked().writes {
        losses.replace(id, Verdict::harmless("the job writes nothing"));
        return;
    }
    if direction == job.asked() {
        if direction.writes && commands.write < ALL {
            let needs = "commands in place of writes that are mixed with other requests";
            losses.worsen(id, Verdict::refused(needs));
        }
        return;
    }
    let source = losses.source(id);
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
    if !asked.trims {
        fields.set("trim_as", "\"allocate\"", job.source("engine", losses));
    } else if asked.writes || asked.reads {
        let needs = "holes and allocations in one workload";
        losses.worsen(job.id("rw"), Verdict::refused(needs));
    }
}

/// Blocks that hold their own protection information are as large as their data here: what is left
/// of them is the kernel's and the device's.
pub fn without_metadata(job: &mut Job, losses: &mut Losses) {
    let id = job.id("bs");
    let (true, Some(sizes)) = (job.is("protected"), &mut job.bs) else { return };
    let before = *sizes;
    for size in sizes.iter_mut().flatten().filter(|size| **size > SECTOR) {
        *size -= *size % SECTOR;
    }
    if *sizes != before {
        let first = sizes.iter().flatten().next().copied().unwrap_or_default();
        let why = format!("{first} bytes of data; the rest of each block is metadata");
        losses.worsen(id, Verdict::near(why));
    }
}
