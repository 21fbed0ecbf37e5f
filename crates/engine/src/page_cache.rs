//! Keeps the page cache out of what is measured, as far as the plan wants it and the system lets
//! us; and tells what it gave all the same.

use model::plan::{HostPlan, HostStage, StageKind, Work};
use model::{Note, NoteKind};
use rustix::fs::{Advice, OFlags, fadvise, fcntl_getfl, fdatasync};
use std::os::fd::OwnedFd;

/// What one stage begins with.
pub(crate) struct Before {
    /// Bytes that this process had read from devices; `None` where that is not known.
    device_read: Option<u64>,
    notes: Vec<Note>,
}

/// Whether `stage` reads through the page cache.
pub(crate) fn is_read_through(stage: &HostStage, files: &[OwnedFd]) -> bool {
    stage.kind != StageKind::Prepare
        && stage.works.iter().any(Work::reads)
        && files.iter().any(is_buffered)
}

fn is_buffered(file: &OwnedFd) -> bool {
    fcntl_getfl(file).is_ok_and(|flags| !flags.contains(OFlags::DIRECT))
}

/// Evicts what can be evicted. What is dirty is written back first, because only clean pages go.
pub(crate) fn evict(plan: &HostPlan, stage: &HostStage, files: &[OwnedFd]) -> Before {
    let mut notes = Vec::new();
    let mut note = |detail: String| {
        let note =
            Note { stage: Some(stage.stage), host: plan.host, kind: NoteKind::PageCache, detail };
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    if plan.engine.evict || plan.engine.drop_caches {
        for file in files.iter().filter(|file| is_buffered(file)) {
            // What cannot be written back fails the stage's own requests; here, it only stays in
            // the cache.
            let evicted = fdatasync(file).and_then(|()| fadvise(file, 0, None, Advice::DontNeed));
            if let Err(error) = evicted {
                note(format!("a file could not be evicted from the page cache: {error}"));
            }
        }
    }
    // 3: pages, and directory entries and inodes.
    if plan.engine.drop_caches
        && let Err(error) = std::fs::write("/proc/sys/vm/drop_caches", "3")
    {
        note(format!(
            "the caches of the host could not be dropped: {error}; run as root, or leave out \
             engine.drop_caches"
        ));
    }
    Before { device_read: device_read(), notes }
}

/// What there is to say after the stage.
pub(crate) fn after(before: Before, plan: &HostPlan, stage: &HostStage) -> Vec<Note> {
    let Before { device_read: earlier, mut notes } = before;
    if let (Some(earlier), Some(now)) = (earlier, device_read()) {
        let detail = format!(
            "{} bytes were read from devices in {}",
            now.saturating_sub(earlier),
            name(stage)
        );
        notes.push(Note {
            stage: Some(stage.stage),
            host: plan.host,
            kind: NoteKind::DeviceRead,
            detail,
        });
    }
    notes
}

/// `measure of seq-read`
fn name(stage: &HostStage) -> String {
    let works: Vec<&str> = stage.works.iter().map(|work| work.workload.as_str()).collect();
    format!("{} of {}", stage.kind, works.join(" + "))
}

/// What is done about the page cache in a run, in words; `None` where nothing is.
pub(crate) fn plan_in_words(plan: &HostPlan, files: &[OwnedFd]) -> Option<String> {
    let reads = plan.stages.iter().any(|stage| is_read_through(stage, files));
    let what = match (plan.engine.evict, plan.engine.drop_caches) {
        (_, true) => "everything that the host has cached is dropped (drop_caches)",
        (true, false) => "its files are evicted from the page cache (posix_fadvise)",
        (false, false) => "nothing is evicted from the page cache",
    };
    reads.then(|| format!("before each stage that reads, {what}"))
}

/// Bytes that this process has made devices read so far (`read_bytes` in `/proc/self/io`, which
/// counts for all of its threads).
fn device_read() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_counts_what_this_process_reads() {
        assert!(device_read().is_some());
    }
}
