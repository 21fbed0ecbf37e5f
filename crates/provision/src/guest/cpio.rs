//! An archive that a kernel unpacks as its first root: "newc" of cpio, as the kernel's own
//! `Documentation/driver-api/early-userspace/buffer-format.rst` describes it.

use std::io::{self, Write};

/// Writes an archive.
pub struct Archive<W> {
    out: W,
    /// The number of the next entry; entries of one number would be links.
    next: u32,
}

/// What an entry is, with the kernel's bits of `st_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    Program,
    Data,
    /// A character device, by its major and minor number.
    Device(u32, u32),
}

impl Kind {
    fn mode(self) -> u32 {
        match self {
            Kind::Folder => 0o040_755,
            Kind::Program => 0o100_755,
            Kind::Data => 0o100_644,
            Kind::Device(..) => 0o020_600,
        }
    }
}

impl<W: Write> Archive<W> {
    /// An empty archive that goes to `out`.
    pub fn new(out: W) -> Archive<W> {
        Archive { out, next: 1 }
    }

    /// A folder. Those above it have to come first.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn folder(&mut self, path: &str) -> io::Result<()> {
        self.entry(path, Kind::Folder, &[])
    }

    /// A file that may be started.
    ///
    /// # Errors
    /// It cannot be written, or it is larger than the format can say.
    pub fn program(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.entry(path, Kind::Program, bytes)
    }

    /// A file.
    ///
    /// # Errors
    /// It cannot be written, or it is larger than the format can say.
    pub fn file(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.entry(path, Kind::Data, bytes)
    }

    /// The console, which the kernel opens for its first process.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn console(&mut self, path: &str) -> io::Result<()> {
        // Documentation/admin-guide/devices.txt of Linux: 5, 1.
        self.entry(path, Kind::Device(5, 1), &[])
    }

    /// Ends the archive, and gives back where it went.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.header("TRAILER!!!", 0, Kind::Device(0, 0), 0)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn entry(&mut self, path: &str, kind: Kind, bytes: &[u8]) -> io::Result<()> {
        let length = u32::try_from(bytes.len())
            .map_err(|_| io::Error::other(format!("{path} is larger than 4 GiB")))?;
        let number = self.next;
        self.next += 1;
        self.header(path, number, kind, length)?;
        self.out.write_all(bytes)?;
        self.pad(bytes.len())
    }

    fn header(&mut self, path: &str, number: u32, kind: Kind, length: u32) -> io::Result<()> {
        let (major, minor) = match kind {
            Kind::Device(major, minor) => (major, minor),
            _ => (0, 0),
        };
        let mode = if number == 0 { 0 } else { kind.mode() };
        let name_length = path.len() as u32 + 1;
        // inode, mode, owner, group, links, time, length, device, device of a node, length of the
        // name, checksum.
        let fields = [number, mode, 0, 0, 1, 0, length, 0, 0, major, minor, name_length, 0];
        self.out.write_all(b"070701")?;
        for field in fields {
            write!(self.out, "{field:08x}")?;
        }
        self.out.write_all(path.as_bytes())?;
        self.out.write_all(&[0])?;
        self.pad(110 + path.len() + 1)
    }

    /// Everything begins at a multiple of four.
    fn pad(&mut self, written: usize) -> io::Result<()> {
        let over = written % 4;
        if over > 0 { self.out.write_all(&[0; 3][..4 - over]) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_as_the_kernel_reads_them() {
        let mut archive = Archive::new(Vec::new());
        archive.folder("a").expect("memory");
        archive.file("a/b", b"hello").expect("memory");
        archive.console("c").expect("memory");
        let bytes = archive.finish().expect("memory");
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(text.matches("070701").count(), 4);
        // 110 bytes of a header, the name "a" with its end, which comes to 112.
        assert_eq!(&bytes[..22], b"07070100000001000041ed");
        assert_eq!(&bytes[110..112], b"a\0");
        let second = &bytes[112..];
        // The name "a/b" with its end comes to 114, so two zeros follow.
        assert_eq!(&second[54..62], b"00000005");
        assert_eq!(
            (&second[110..116], &second[116..124]),
            (&b"a/b\0\0\0"[..], &b"hello\0\0\0"[..])
        );
        assert!(text.contains("TRAILER!!!"));
    }
}
