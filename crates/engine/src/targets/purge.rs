//! A purge: what a device or a file does to its bytes before anything is written to it.

use crate::error::EngineError;
use crate::io::Io;
use model::note::{Fact, Purged, PurgedBy};
use model::plan::{HostPlan, HostStage, PlannedTarget, StageKind};
use model::{Bytes, Note};
use rustix::fs::{FallocateFlags, FileType, fallocate, fstat};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

/// `BLKDISCARD` of `linux/fs.h`: `_IO(0x12, 119)`.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// Whether a file is a block device.
pub(crate) fn is_device(file: RawFd) -> bool {
    // SAFETY: the caller keeps its files open.
    let file = unsafe { BorrowedFd::borrow_raw(file) };
    is_a(FileType::BlockDevice, file)
}

fn is_a(kind: FileType, file: impl AsFd) -> bool {
    fstat(file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == kind)
}

/// Discards bytes of a device, as `blkdiscard` does: 0, or -1 and the cause in `errno`.
pub(crate) fn discard(device: RawFd, io: &Io) -> isize {
    let range = [io.offset, u64::from(io.length)];
    // SAFETY: the device is open, and the kernel reads two numbers.
    let result = unsafe { libc::ioctl(device, BLKDISCARD, range.as_ptr()) };
    result as isize
}

/// Reserves the space of files anew that the purge gave back, as they were laid out.
///
/// # Errors
/// There is no space any more, or the file system fails.
pub(crate) fn reserve(
    plan: &HostPlan,
    stage: &HostStage,
    files: &[OwnedFd],
) -> Result<(), EngineError> {
    if stage.kind != StageKind::Purge {
        return Ok(());
    }
    let mine = |number: usize| {
        let mut extents = stage.workers.iter().flat_map(|worker| &worker.extents);
        extents.any(|extent| extent.file as usize == number)
    };
    for (number, (planned, file)) in plan.files().zip(files).enumerate() {
        if !is_a(FileType::RegularFile, file) || !mine(number) {
            continue;
        }
        match fallocate(file, FallocateFlags::empty(), 0, planned.size.0) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => {
                let what = format!("its space cannot be reserved again after the purge: {error}");
                let remedy = "make room there, or give a smaller layout.size";
                return Err(EngineError::target(&planned.path, what, remedy));
            }
        }
    }
    Ok(())
}

/// What there is to say of a complete purge: of each target, how and how much.
pub(crate) fn notes(plan: &HostPlan, stage: &HostStage) -> Vec<Note> {
    if stage.kind != StageKind::Purge {
        return Vec::new();
    }
    let mut notes = Vec::new();
    let mut first = 0;
    for target in &plan.targets {
        let files = first..first + target.files.len() as u32;
        first = files.end;
        let extents = stage.workers.iter().flat_map(|worker| &worker.extents);
        let bytes = extents
            .filter(|extent| files.contains(&extent.file))
            .map(|extent| extent.length)
            .fold(0, u64::saturating_add);
        if bytes == 0 {
            continue;
        }
        let by = match target.kind {
            PlannedTarget::Device => PurgedBy::Discard,
            PlannedTarget::Simulated => PurgedBy::Simulated,
            _ => PurgedBy::Holes,
        };
        let fact = Fact::Purged(Purged { path: target.path.clone(), by, bytes: Bytes(bytes) });
        notes.push(Note { stage: Some(stage.stage), host: plan.host, fact });
    }
    notes
}
