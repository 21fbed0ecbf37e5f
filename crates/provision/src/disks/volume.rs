//! A disk as a file: made anew, never over another, and filled.

use crate::provider::Volume;
use crate::{Outcome, Problem, qcow2};
use model::machines::{DiskAllocation, DiskContent};
use model::rng::Rng;
use rustix::fs::FallocateFlags;
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is written at a time, in bytes.
const CHUNK: usize = 1 << 20;

pub(crate) fn make(volume: &Volume, stop: &AtomicBool) -> Outcome {
    let cannot = |error: io::Error| Problem::file("make the disk", &volume.path, &error);
    if let Some(base) = &volume.base {
        let name = base.file_name().unwrap_or_default().to_string_lossy();
        return qcow2::make_clone(&volume.path, volume.size.0, &name).map_err(cannot);
    }
    let mut file = File::create_new(&volume.path).map_err(cannot)?;
    match volume.content {
        DiskContent::Zero if volume.allocation == DiskAllocation::Thick => {
            let all = FallocateFlags::empty();
            let reserved = rustix::fs::fallocate(&file, all, 0, volume.size.0);
            reserved.map_err(|error| cannot(error.into()))?;
        }
        DiskContent::Zero => file.set_len(volume.size.0).map_err(cannot)?,
        DiskContent::Random => fill(&mut file, volume, stop, &cannot)?,
    }
    // What the host still has to write would be measured with the guest's requests.
    file.sync_all().map_err(cannot)
}

pub(crate) fn fill(
    to: &mut dyn Write,
    volume: &Volume,
    stop: &AtomicBool,
    cannot: &dyn Fn(io::Error) -> Problem,
) -> Outcome {
    let mut random = Rng::new(volume.seed);
    let mut chunk = vec![0u8; CHUNK];
    let mut left = volume.size.0;
    while left > 0 {
        if stop.load(Ordering::SeqCst) {
            return Err(Problem::Stopped);
        }
        for word in chunk.chunks_exact_mut(8) {
            word.copy_from_slice(&random.next_u64().to_le_bytes());
        }
        let part = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        to.write_all(&chunk[..part]).map_err(cannot)?;
        left -= part as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_disk_is_new_of_its_size_and_holds_what_was_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let stop = AtomicBool::new(false);
        let of = |name: &str, content, seed| {
            let path = folder.path().join(name);
            let size = Bytes(3 * CHUNK as u64 / 2);
            let allocation = DiskAllocation::Thick;
            let volume = Volume { path, size, content, allocation, seed, base: None };
            make(&volume, &stop).map(|()| std::fs::read(&volume.path).expect("there"))
        };
        let zero = of("zero", DiskContent::Zero, 0).expect("made");
        assert!(zero.len() == 3 * CHUNK / 2 && zero.iter().all(|byte| *byte == 0));
        let (one, two) = (of("1", DiskContent::Random, 1), of("2", DiskContent::Random, 2));
        let (one, two) = (one.expect("made"), two.expect("made"));
        assert!(one.len() == zero.len() && one != two && one[..512] != one[512..1024]);
        let told = std::fs::metadata(folder.path().join("zero")).expect("there");
        assert!(told.blocks() * 512 >= told.len(), "its space is reserved");
        assert!(of("zero", DiskContent::Zero, 0).is_err(), "never over another");
        stop.store(true, Ordering::SeqCst);
        assert_eq!(of("3", DiskContent::Random, 1), Err(Problem::Stopped));
    }
}
