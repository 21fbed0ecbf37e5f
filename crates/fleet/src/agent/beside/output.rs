//! What a command writes, kept within bounds, and the file that it may write to.

use model::note::Told;
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A process that went away may hold the other end of a pipe: so long its end is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(5);

/// The begin and the end of a stream, and how much of it there was.
#[derive(Clone, Default)]
pub(super) struct Kept(Arc<Mutex<Ends>>);

#[derive(Default)]
struct Ends {
    head: Vec<u8>,
    tail: Vec<u8>,
    bytes: u64,
    is_over: bool,
}

impl Ends {
    fn take(&mut self, mut read: &[u8], most_head: usize, most_tail: usize) {
        self.bytes += read.len() as u64;
        let (head, rest) = read.split_at(read.len().min(most_head - self.head.len()));
        self.head.extend_from_slice(head);
        read = rest;
        self.tail.extend_from_slice(read);
        // Not with every piece: moving what stays costs more than to hold it twice.
        if self.tail.len() > 2 * most_tail {
            self.tail.drain(..self.tail.len() - most_tail);
        }
    }
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Ends> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is kept, and how many bytes there were in all. What is missing in its midst is said.
    pub(super) fn text(&self) -> (String, u64) {
        let ends = self.lock();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let missing = ends.bytes - (ends.head.len() + ends.tail.len()) as u64;
        match missing {
            0 => (text(&[ends.head.as_slice(), &ends.tail].concat()), ends.bytes),
            missing => {
                let gap = format!("\n[{missing} bytes left out]\n");
                (text(&ends.head) + &gap + &text(&ends.tail), ends.bytes)
            }
        }
    }

    /// Waits for the stream's end, for a while.
    pub(super) fn ended(self) -> Kept {
        let began = Instant::now();
        while !self.lock().is_over && began.elapsed() < PATIENCE {
            thread::sleep(LOOK);
        }
        self
    }
}

/// Reads a stream to its end on a thread of its own, so that whoever writes it never waits.
pub(super) fn keep(
    stream: Option<impl Read + Send + 'static>,
    most_head: usize,
    most_tail: usize,
) -> Kept {
    let kept = Kept::default();
    let (ours, mut buffer) = (kept.clone(), vec![0; 64 << 10]);
    let read = move || {
        if let Some(mut stream) = stream {
            while let Ok(length @ 1..) = stream.read(&mut buffer) {
                ours.lock().take(&buffer[..length], most_head, most_tail);
            }
        }
        ours.lock().is_over = true;
    };
    // Without a thread the pipe is closed, and the command hears of it.
    let started = thread::Builder::new().name("output".to_owned()).spawn(read);
    kept.lock().is_over |= started.is_err();
    kept
}

/// A folder for what the command writes; removed with this.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// For this user alone. Where it cannot be made, who writes there fails and says so.
    pub(super) fn make(run_id: &str) -> Folder {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let run: String = run_id.chars().map(plain).take(80).collect();
        let name = format!("plimsoll-beside-{run}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // Fails where something stands already, so nobody else can have prepared it.
        match std::fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Folder(path),
            Err(_) => Folder(PathBuf::from("/dev/null")),
        }
    }

    /// The file that `{out}` stands for.
    pub(super) fn out(&self) -> PathBuf {
        self.0.join("out")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What a command leaves there beside its results goes with them.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the command wrote to `{out}`, and how many bytes that was; `None` where it is no file.
pub(super) fn read_out(folder: &Folder) -> Option<(String, u64)> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let mut options = std::fs::OpenOptions::new();
    let file = options.read(true).custom_flags(flags.bits() as i32).open(folder.out()).ok()?;
    let meta = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut ends = Ends::default();
    let mut text = Vec::new();
    file.take(Told::MOST_HEARD as u64).read_to_end(&mut text).ok()?;
    ends.take(&text, Told::MOST_HEARD, 0);
    ends.bytes = meta.len().max(text.len() as u64);
    Some(Kept(Arc::new(Mutex::new(ends))).text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_without_end_is_kept_at_both_ends() {
        let text = (0..100_000).map(|n| format!("{n}\n")).collect::<String>();
        let length = text.len() as u64;
        let (said, bytes) = keep(Some(std::io::Cursor::new(text)), 10, 20).ended().text();
        assert_eq!(bytes, length);
        assert!(
            said.starts_with("0\n1\n2\n3\n4\n\n[") && said.ends_with("99998\n99999\n"),
            "{said}"
        );
        assert!(said.len() < 128, "{said}");
        let (said, _) = keep(Some(&b"all of it"[..]), 4, 20).ended().text();
        assert_eq!(said, "all of it");
    }

    #[test]
    fn what_is_written_to_its_file_is_read_and_the_folder_goes() {
        let folder = Folder::make("a/../b");
        assert_eq!(read_out(&folder), None);
        std::fs::write(folder.out(), "figures").expect("written");
        assert_eq!(read_out(&folder), Some(("figures".to_owned(), 7)));
        let path = folder.0.clone();
        drop(folder);
        assert!(!path.exists());
        std::fs::create_dir(&path).expect("a folder");
        std::os::unix::fs::symlink("/etc/passwd", path.join("out")).expect("a link");
        assert_eq!(read_out(&Folder(path)), None, "a link is not followed");
    }
}
