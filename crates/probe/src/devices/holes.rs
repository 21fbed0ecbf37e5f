//! The bytes of a file that have no place on a medium: never written, or given back.

use model::Bytes;
use rustix::fs::{OFlags, SeekFrom, fstat, open, seek};
use rustix::io::Errno;
use std::path::Path;

/// A file in more pieces is not looked at to its end.
const MOST_PIECES: u32 = 65_536;

/// The bytes without a place from `offset` on, up to `limit` bytes of the file; a limit of 0 is
/// none. `None` where the file cannot be opened, or its file system does not tell.
pub fn within(file: &Path, offset: u64, limit: u64) -> Option<Bytes> {
    let opened =
        open(file, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, rustix::fs::Mode::empty());
    let file = opened.ok()?;
    let size = u64::try_from(fstat(&file).ok()?.st_size).ok()?;
    let end = if limit == 0 { size } else { size.min(offset.saturating_add(limit)) };
    let (mut at, mut holes) = (offset, 0);
    for _ in 0..MOST_PIECES {
        if at >= end {
            return Some(Bytes(holes));
        }
        let data = match seek(&file, SeekFrom::Data(at)) {
            Ok(data) => data.min(end),
            // Nothing but a hole follows.
            Err(Errno::NXIO) => end,
            Err(_) => return None,
        };
        holes += data.saturating_sub(at);
        at = match data < end {
            true => seek(&file, SeekFrom::Hole(data)).ok()?,
            false => end,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_was_never_written_is_counted_within_what_is_shown() {
        const MIB: u64 = 1 << 20;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("image");
        let file = std::fs::File::create(&path).expect("a file");
        file.set_len(8 * MIB).expect("a sparse file");
        assert_eq!(within(&path, 0, 0), Some(Bytes(8 * MIB)));
        file.write_all_at(&vec![1; MIB as usize], 2 * MIB).expect("written");
        assert_eq!(within(&path, 0, 0), Some(Bytes(7 * MIB)));
        assert_eq!(within(&path, MIB, 2 * MIB), Some(Bytes(MIB)));
        assert_eq!(within(&path, 2 * MIB, MIB), Some(Bytes(0)));
        assert_eq!(within(&folder.path().join("none"), 0, 0), None);
    }
}
