//! Keeps the page cache out of what is measured, as far as the plan wants it and the system lets
//! us; and tells what it gave all the same.

pub(crate) mod cached;

use model::note::{Eviction, Fact, PageCache};
use model::plan::{HostPlan, HostStage, StageKind, Work};
use model::{Bytes, Note};
use rustix::fs::{Advice, OFlags, fadvise, fcntl_getfl, fdatasync, fstat};
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
    let mut note = |what: PageCache| {
        let fact = Fact::PageCache(what);
        let note = Note { stage: Some(stage.stage), host: plan.host, fact };
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
                note(PageCache::NotEvicted(std::io::Error::from(error).into()));
            }
        }
    }
    // 3: pages, and directory entries and inodes.
    if plan.engine.drop_caches
        && let Err(error) = std::fs::write("/proc/sys/vm/drop_caches", "3")
    {
        note(PageCache::NotDropped(error.into()));
    }
    if plan.engine.evict || plan.engine.drop_caches {
        // Advice is no promise: it succeeds for pages that somebody has mapped, and nothing goes.
        match left(files) {
            Ok((bytes, of)) if bytes.0 as f64 >= of.0 as f64 * LEAST_LEFT && bytes.0 > 0 => {
                note(PageCache::Left { bytes, of });
            }
            Ok(_) => {}
            Err(error) => note(PageCache::NotEvicted(error.into())),
        }
    }
    Before { device_read: device_read(), notes }
}

/// Less than this share of the files is what a neighbour of a page leaves behind.
const LEAST_LEFT: f64 = 0.01;

/// What the page cache still has of the files that are read through it, of so many bytes.
fn left(files: &[OwnedFd]) -> std::io::Result<(Bytes, Bytes)> {
    let (mut bytes, mut of) = (0u64, 0u64);
    for file in files.iter().filter(|file| is_buffered(file)) {
        bytes = bytes.saturating_add(cached::bytes(file)?.0);
        of = of.saturating_add(u64::try_from(fstat(file)?.st_size).unwrap_or(0));
    }
    Ok((Bytes(bytes.min(of)), Bytes(of)))
}

/// What there is to say after the stage.
pub(crate) fn after(before: Before, plan: &HostPlan, stage: &HostStage) -> Vec<Note> {
    let Before { device_read: earlier, mut notes } = before;
    if let (Some(earlier), Some(now)) = (earlier, device_read()) {
        let workloads = stage.works.iter().map(|work| work.workload.clone()).collect();
        let bytes = now.saturating_sub(earlier);
        let fact = Fact::DeviceRead { bytes, stage: stage.kind, workloads };
        notes.push(Note { stage: Some(stage.stage), host: plan.host, fact });
    }
    notes
}

/// What is done about the page cache in a run; `None` where it reads nothing through it.
pub(crate) fn planned(plan: &HostPlan, files: &[OwnedFd]) -> Option<Fact> {
    let reads = plan.stages.iter().any(|stage| is_read_through(stage, files));
    let what = match (plan.engine.evict, plan.engine.drop_caches) {
        (_, true) => Eviction::Everything,
        (true, false) => Eviction::Files,
        (false, false) => Eviction::Nothing,
    };
    reads.then_some(Fact::PageCache(PageCache::Before(what)))
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
    use model::Nanos;
    use model::choices::Backend;
    use model::plan::EngineSettings;

    /// A file of 64 pages that were read.
    fn read_file() -> (tempfile::NamedTempFile, Vec<OwnedFd>) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), vec![1; 64 * 4096]).expect("written");
        std::fs::read(file.path()).expect("read");
        let opened = std::fs::File::open(file.path()).expect("opened");
        (file, vec![opened.into()])
    }

    #[test]
    fn what_stays_in_the_page_cache_is_seen_and_what_went_is_not() {
        let (_file, files) = read_file();
        assert_eq!(left(&files).expect("seen"), (Bytes::kib(256), Bytes::kib(256)));
        fdatasync(&files[0])
            .and_then(|()| fadvise(&files[0], 0, None, Advice::DontNeed))
            .expect("gone");
        assert_eq!(left(&files).expect("seen"), (Bytes(0), Bytes::kib(256)));
    }

    #[test]
    fn what_somebody_has_mapped_stays_although_the_advice_succeeds_and_is_told() {
        let (_file, files) = read_file();
        let engine =
            EngineSettings { evict: true, direct: false, ..EngineSettings::simple(Backend::Sync) };
        let plan = HostPlan::empty("test", Nanos::seconds(1), engine);
        let kind = StageKind::Measure;
        let stage = HostStage { stage: 3, kind, works: Vec::new(), workers: Vec::new() };
        let (length, flags) = (64 * 4096, libc::MAP_SHARED | libc::MAP_POPULATE);
        let file = std::os::fd::AsRawFd::as_raw_fd(&files[0]);
        // SAFETY: a new mapping of a file that is open, which nobody reads or writes.
        let mapped =
            unsafe { libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, flags, file, 0) };
        assert_ne!(mapped, libc::MAP_FAILED);
        let told = evict(&plan, &stage, &files).notes;
        // SAFETY: the mapping of above, which nothing refers to any more.
        unsafe { libc::munmap(mapped, length) };
        let left = PageCache::Left { bytes: Bytes::kib(256), of: Bytes::kib(256) };
        assert_eq!(told, [Note { stage: Some(3), host: 0, fact: Fact::PageCache(left) }]);
        assert_eq!(evict(&plan, &stage, &files).notes, [], "nobody has it mapped");
    }

    #[test]
    fn the_kernel_counts_what_this_process_reads() {
        assert!(device_read().is_some());
    }
}
