//! Whether KVM works here: the guests' own kernel is begun with it, and ended at its first words.

use super::PROGRAM;
use super::command::processor;
use crate::inside::is_amd_here;
use model::machines::Accelerator;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long the kernel may take to its first words: a real one takes less than a second.
const PATIENCE: Duration = Duration::from_secs(8);
/// What any Linux says first.
const FIRST_WORDS: &[u8] = b"Linux version";
/// What is kept of a console.
const MOST: usize = 64 << 10;

/// What was found of each kernel: it does not change while this program runs.
static FOUND: Mutex<BTreeMap<PathBuf, bool>> = Mutex::new(BTreeMap::new());

/// Whether a kernel begins under KVM with the processor that guests get. A `/dev/kvm` that can be
/// opened is not enough: one within another virtual machine may refuse what it offers, or run
/// kernels of its own kind alone.
pub(crate) fn runs(kernel: &Path) -> bool {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = found.get(kernel) {
        return *known;
    }
    // KVM without the processor's help runs kernels that were made for it, and no others.
    let is_special = Path::new("/sys/module/kvm_pvm").exists();
    let runs = Path::new("/dev/kvm").exists() && !is_special && begins(kernel);
    found.insert(kernel.to_owned(), runs);
    runs
}

fn begins(kernel: &Path) -> bool {
    let mut command = Command::new(PROGRAM);
    command.args(["-accel", "kvm", "-machine", "q35", "-nodefaults", "-no-user-config"]);
    command.args(["-cpu", processor(Accelerator::Kvm, is_amd_here()), "-m", "256M"]);
    command.args(["-display", "none", "-no-reboot", "-serial", "stdio", "-kernel"]).arg(kernel);
    // Without a root it gives up at once, and qemu with it.
    command.args(["-append", "console=ttyS0 earlyprintk=ttyS0 panic=-1"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let Some(console) = child.stdout.take() else { return false };
    let (said, heard) = channel();
    // Reading blocks, so another thread does it; it ends with the process.
    thread::spawn(move || said.send(says_first_words(console)));
    let runs = heard.recv_timeout(PATIENCE).unwrap_or(false);
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
    runs
}

/// Whether the first words of a kernel come before the end of what is read.
fn says_first_words(mut console: impl Read) -> bool {
    let (mut all, mut chunk) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = console.read(&mut chunk) {
        all.extend_from_slice(&chunk[..read]);
        if all.windows(FIRST_WORDS.len()).any(|part| part == FIRST_WORDS) {
            return true;
        }
        if all.len() > MOST {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_known_by_its_first_words() {
        assert!(says_first_words(&b"Probing EDD... ok\n[    0.000000] Linux version 6.1"[..]));
        assert!(!says_first_words(&b"SeaBIOS\nProbing EDD... ok\n"[..]));
        assert!(!says_first_words(std::io::repeat(b'x')));
    }
}
