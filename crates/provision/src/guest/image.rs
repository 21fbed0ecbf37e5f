//! A guest of somebody else: a cloud image with cloud-init. It starts our agent, because a seed
//! disk (cloud-init's "NoCloud") asks it to.

use super::iso;
use crate::inside::{PROGRAM_DISK, SEED_DISK};
use crate::{Outcome, Problem};
use model::Bytes;
use model::machines::{Accelerator, DiskBus};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read};
use std::path::{Path, PathBuf};

/// What the file of an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// qemu's own, whole in one file.
    Qcow2,
    /// The disk itself.
    Raw,
}

impl ImageFormat {
    /// qemu's word for it.
    pub fn word(self) -> &'static str {
        match self {
            ImageFormat::Qcow2 => "qcow2",
            ImageFormat::Raw => "raw",
        }
    }
}

/// A cloud image. Nothing is ever written to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudImage {
    /// Its file.
    pub path: PathBuf,
    /// What that is.
    pub format: ImageFormat,
    /// How long it is.
    pub length: Bytes,
    /// How large a disk of it is.
    pub size: Bytes,
}

impl CloudImage {
    /// Looks at the head of an image.
    ///
    /// # Errors
    /// It cannot be read, is no disk, or needs other files: which of them, an image could say
    /// that somebody else made.
    pub fn find(given: &Path) -> Outcome<CloudImage> {
        let cannot = |error: io::Error| Problem::file("read", given, &error);
        let path = given.canonicalize().map_err(cannot)?;
        let mut head = Vec::new();
        let file = crate::places::open_file(&path).map_err(cannot)?;
        let length = Bytes(file.metadata().map_err(cannot)?.len());
        file.take(512).read_to_end(&mut head).map_err(cannot)?;
        let refused = |why| Problem::NoImage { path: given.to_owned(), why };
        let format = format(&head).map_err(refused)?;
        let size = match format {
            ImageFormat::Raw => length,
            ImageFormat::Qcow2 => Bytes(number(&head, 24)),
        };
        Ok(CloudImage { path, format, length, size })
    }
}

/// Eight bytes of a head, the highest first.
fn number(head: &[u8], at: usize) -> u64 {
    let bytes = head.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u64::from_be_bytes)
}

/// What begins with these 512 bytes.
fn format(head: &[u8]) -> Result<ImageFormat, &'static str> {
    if head.starts_with(b"QFI\xfb") {
        // Version 3 says what a reader has to know; the third bit is a file of data.
        let has_data_file = head.get(4..8) != Some(&[0, 0, 0, 2][..]) && number(head, 72) & 4 != 0;
        return match number(head, 8) != 0 || has_data_file {
            true => Err("needs other files; `qemu-img convert -O qcow2` makes one file of them"),
            false => Ok(ImageFormat::Qcow2),
        };
    }
    match head.get(510..512) == Some(&[0x55, 0xaa][..]) {
        true => Ok(ImageFormat::Raw),
        false => Err("is no disk to boot from; name a qcow2 or raw image with cloud-init"),
    }
}

/// Writes a disk with our program.
///
/// # Errors
/// The program cannot be read, or the disk cannot be written.
pub fn write_program(to: &Path) -> Outcome {
    let own = Path::new("/proc/self/exe");
    let file = fs::read(own).map_err(|error| Problem::file("read", own, &error))?;
    let program = super::Program::read(&file).ok_or(Problem::StrangeProgram)?;
    let program = program.without_names(&file);
    write(to, PROGRAM_DISK, &[("plimsoll", &program)])
}

fn write(to: &Path, label: &str, files: &[(&str, &[u8])]) -> Outcome {
    let out = File::create_new(to).map(|file| BufWriter::with_capacity(1 << 20, file));
    let written = out.and_then(|out| iso::write(out, label, files));
    written.map_err(|error| Problem::file("write", to, &error))
}

/// What a guest is asked for by its seed disk.
#[derive(Clone, Copy, Debug)]
pub struct Seed<'a> {
    /// Its name.
    pub name: &'a str,
    /// What tells it from all others.
    pub uuid: &'a str,
    /// How it sees its disks.
    pub bus: DiskBus,
    /// How many these are.
    pub disks: usize,
    /// What runs it.
    pub accelerator: Accelerator,
}

impl Seed<'_> {
    /// Writes the seed disk.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, to: &Path) -> Outcome {
        let meta = format!("instance-id: {}\nlocal-hostname: {}\n", self.uuid, self.name);
        let user = self.user_data();
        // There is no network, and nobody is to wait for one.
        let network = "version: 2\nethernets: {}\n";
        let files: [(&str, &[u8]); 3] = [
            ("meta-data", meta.as_bytes()),
            ("network-config", network.as_bytes()),
            ("user-data", user.as_bytes()),
        ];
        write(to, SEED_DISK, &files)
    }

    /// Copies our program out of its disk, and starts it. Names of machines and disks are plain.
    fn user_data(&self) -> String {
        let disks = self.bus.devices(self.disks as u32);
        let disks: Vec<String> = disks.iter().map(|disk| format!("--disk={disk}")).collect();
        let emulated = if self.accelerator == Accelerator::Tcg { " --emulated" } else { "" };
        let (name, disks) = (self.name, disks.join(" "));
        format!(
            "#cloud-config\nbootcmd:\n- |\n  set -e\n  d=/run/plimsoll\n  \
             p=/usr/local/bin/plimsoll\n  mkdir -p $d /usr/local/bin\n  \
             mount -o ro LABEL={PROGRAM_DISK} $d\n  cp $d/plimsoll $p\n  umount $d\n  \
             chmod 755 $p\n  set -- $p vms guest --in-image{emulated} --name={name} {disks}\n  \
             if command -v systemd-run; then\n    \
             systemd-run --no-block --unit=plimsoll-agent \"$@\"\n  \
             else\n    setsid \"$@\" </dev/null &\n  fi\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_disks_are_taken() {
        let mut qcow = vec![0; 512];
        qcow[..8].copy_from_slice(b"QFI\xfb\0\0\0\x03");
        assert_eq!(format(&qcow), Ok(ImageFormat::Qcow2));
        let (mut backed, mut apart) = (qcow.clone(), qcow.clone());
        backed[15] = 1;
        apart[79] = 4;
        assert!(format(&backed).is_err() && format(&apart).is_err());
        let mut raw = vec![0; 512];
        assert!(format(&raw).is_err() && format(b"").is_err() && format(b"QFI").is_err());
        raw[510..].copy_from_slice(&[0x55, 0xaa]);
        assert_eq!(format(&raw), Ok(ImageFormat::Raw));
    }

    #[test]
    fn a_seed_names_its_guest_and_the_disks_that_may_be_loaded() {
        let seed = Seed {
            name: "a-1",
            uuid: "0-1",
            bus: DiskBus::VirtioBlk,
            disks: 2,
            accelerator: Accelerator::Tcg,
        };
        let text = seed.user_data();
        assert!(text.starts_with("#cloud-config\nbootcmd:\n- |\n  set -e\n"), "{text}");
        assert!(
            text.contains("--in-image --emulated --name=a-1 --disk=/dev/vda --disk=/dev/vdb\n"),
            "{text}"
        );
        assert!(text.lines().skip(3).all(|line| line.starts_with("  ")), "{text}");
    }
}
