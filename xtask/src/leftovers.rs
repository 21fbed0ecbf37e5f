//! What killed tests left behind: file systems without a server, which hang whoever looks at them,
//! loop devices, folders, networks and recordings of the kernel's.
//!
//! All of it says whose it is, by a process number: scratch folders are called `of-PID-…`, bridges
//! have the alias `plimsoll-test-PID` (`tests/common`), and so are recordings called. What belongs
//! to a process that lives is left alone, so that another test may run beside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Takes away what tests that no longer run left in `folder`, where tests have their scratch
/// folders, and in the network.
///
/// It goes as far as it can, and says what it took away: a test that meets what is left over fails
/// with better words than these.
pub fn clear(folder: &Path) {
    clear_folders(folder);
    clear_networks();
    clear_recordings();
}

fn clear_folders(folder: &Path) {
    // Without touching what is in there: to look at a dead mount may take for ever.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let dead: Vec<PathBuf> = names
        .filter(|name| owner(name, "of-").is_some_and(is_dead))
        .map(|name| folder.join(name))
        .collect();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    for scratch in &dead {
        println!("taking away what a killed test left: {}", scratch.display());
        // Those on top first.
        for mount in mounts
            .lines()
            .filter_map(Mount::read)
            .filter(|mount| mount.at.starts_with(scratch))
            .rev()
        {
            mount.take_away();
        }
        end_orphans(scratch);
        detach_loops(scratch);
        if let Err(error) = fs::remove_dir_all(scratch) {
            println!("{} stays: {error}", scratch.display());
        }
    }
}

/// The process that `name` names behind `prefix`.
fn owner(name: &str, prefix: &str) -> Option<u32> {
    let rest = name.strip_prefix(prefix)?;
    let digits =
        rest.find(|letter: char| !letter.is_ascii_digit()).map_or(rest, |end| &rest[..end]);
    digits.parse().ok()
}

/// Whether a process is gone or is about to be: one that waits for a file system of its own cannot
/// quite go before that is aborted.
fn is_dead(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).map_or(true, |stat| has_ended(&stat))
}

/// Whether the state in this line of `/proc/PID/stat`, behind the name in brackets, is that of a
/// process that has ended (proc(5)).
fn has_ended(stat: &str) -> bool {
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    matches!(state, Some('Z' | 'X'))
}

/// A mount, as `/proc/self/mountinfo` has it (proc(5)).
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The device's number on its side of the colon, which is also that of a FUSE connection.
    minor: u32,
    at: PathBuf,
    is_fuse: bool,
}

impl Mount {
    fn read(line: &str) -> Option<Mount> {
        let (head, tail) = line.split_once(" - ")?;
        let mut head = head.split(' ');
        let (_, minor) = head.nth(2)?.split_once(':')?;
        // Names of scratch folders have no letters that are escaped here.
        let at = PathBuf::from(head.nth(1)?);
        let kind = tail.split(' ').next()?;
        Some(Mount {
            minor: minor.parse().ok()?,
            at,
            is_fuse: kind == "fuse" || kind.starts_with("fuse."),
        })
    }

    fn take_away(&self) {
        if self.is_fuse {
            // Everybody who waits for it gets an error. Without a connection of this number it is
            // aborted already.
            let _ = fs::write(format!("/sys/fs/fuse/connections/{}/abort", self.minor), "1");
        } else {
            // Whoever waits to write to one that is frozen cannot even be killed.
            quietly(Command::new("fsfreeze").arg("--unfreeze").arg(&self.at));
        }
        quietly(Command::new("umount").arg("--lazy").arg(&self.at));
    }
}

/// Ends what a killed test had started there and nobody waits for any more: load that would go on
/// for an hour, daemons that keep their ports.
fn end_orphans(scratch: &Path) {
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = entry.path();
        let is_orphan =
            || fs::read_to_string(process.join("stat")).is_ok_and(|stat| parent(&stat) == Some(1));
        let is_there =
            || fs::read_link(process.join("cwd")).is_ok_and(|folder| folder.starts_with(scratch));
        // Daemons are told of it by an argument or a variable. Nobody else knows the name, which
        // chance has made.
        let speaks_of_it =
            |file| fs::read(process.join(file)).is_ok_and(|bytes| names(&bytes, scratch));
        if is_orphan() && (is_there() || speaks_of_it("cmdline") || speaks_of_it("environ")) {
            quietly(Command::new("kill").arg("-9").arg(entry.file_name()));
        }
    }
}

/// The number of the parent in this line of `/proc/PID/stat` (proc(5)).
fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Whether `path` stands somewhere in these bytes.
fn names(bytes: &[u8], path: &Path) -> bool {
    let path = path.as_os_str().as_encoded_bytes();
    bytes.windows(path.len().max(1)).any(|window| window == path)
}

fn detach_loops(scratch: &Path) {
    let list = output(
        Command::new("losetup")
            .args(["--list", "--noheadings", "--raw", "--output", "NAME,BACK-FILE"]),
    );
    for (device, file) in list.lines().filter_map(|line| line.split_once(' ')) {
        if Path::new(file).starts_with(scratch) {
            quietly(Command::new("losetup").args(["--detach", device]));
        }
    }
}

/// Ends what runs in the network namespaces of killed tests, and removes these and their bridges.
fn clear_networks() {
    for entry in fs::read_dir("/sys/class/net").into_iter().flatten().flatten() {
        let alias = fs::read_to_string(entry.path().join("ifalias")).unwrap_or_default();
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(tag) = name.strip_suffix("br") else { continue };
        if !owner(alias.trim(), "plimsoll-test-").is_some_and(is_dead) {
            continue;
        }
        println!("taking away what a killed test left: the network {name}");
        for host in 1..=4 {
            let space = format!("{tag}h{host}");
            for process in
                output(Command::new("ip").args(["netns", "pids", &space])).split_whitespace()
            {
                quietly(Command::new("kill").args(["-9", process]));
            }
            quietly(Command::new("ip").args(["link", "del", &format!("{tag}v{host}")]));
            quietly(Command::new("ip").args(["netns", "del", &space]));
        }
        quietly(Command::new("ip").args(["link", "del", &name]));
    }
}

/// Removes the recordings of killed tests, which the kernel goes on with.
fn clear_recordings() {
    let instances = Path::new("/sys/kernel/tracing/instances");
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if owner(&name, "plimsoll-test-").is_some_and(is_dead) {
            println!("taking away what a killed test left: the recording {name}");
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// What a program wrote; nothing where it cannot be started.
fn output(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// Runs what may fail because there is nothing to do.
fn quietly(command: &mut Command) {
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whose_it_is() {
        assert_eq!(owner("of-42-aB3", "of-"), Some(42));
        assert_eq!(owner("plimsoll-test-7", "plimsoll-test-"), Some(7));
        assert_eq!(owner(".tmpaB3", "of-"), None);
        assert_eq!(owner("of-aB3", "of-"), None);
        assert_eq!(owner("of-99999999999-x", "of-"), None);
    }

    #[test]
    fn a_process_that_has_ended_is_told_from_one_that_lives() {
        assert!(has_ended("42 (faulty_target-1) Z 1 42"));
        assert!(!has_ended("42 (a) Z (b) S 1 42") && !has_ended(""), "the name may hold anything");
        assert!(!is_dead(std::process::id()));
        assert_eq!((parent("42 (a) 7 (b) S 1 42"), parent("42")), (Some(1), None));
        let folder = Path::new("/t/of-42-x");
        assert!(
            names(b"slurmd\0-f\0/t/of-42-x/slurm.conf\0", folder) && !names(b"/t/of-42-y", folder)
        );
    }

    #[test]
    fn what_a_dead_process_left_goes_and_what_a_living_one_has_stays() {
        let folder =
            std::env::temp_dir().join(format!("plimsoll-leftovers-{}", std::process::id()));
        let mut child = Command::new("true").spawn().expect("a process");
        let (dead, own) = (
            folder.join(format!("of-{}-x", child.id())),
            folder.join(format!("of-{}-x", std::process::id())),
        );
        // Nobody has asked how it ended: its number is not another's yet.
        while !is_dead(child.id()) {
            std::thread::yield_now();
        }
        for made in [&dead, &own, &folder.join("another")] {
            fs::create_dir_all(made.join("inside")).expect("a folder");
        }
        clear_folders(&folder);
        let left: Vec<bool> =
            [&dead, &own, &folder.join("another")].iter().map(|made| made.exists()).collect();
        child.wait().expect("its end");
        fs::remove_dir_all(&folder).expect("ours");
        assert_eq!(left, [false, true, true]);
    }

    #[test]
    fn mounts_are_read_from_the_kernels_table() {
        let line = "301 29 0:58 / /t/tmp/of-42-x rw,nosuid shared:1 - fuse faulty rw,user_id=0";
        let mount = Mount { minor: 58, at: PathBuf::from("/t/tmp/of-42-x"), is_fuse: true };
        assert_eq!(Mount::read(line), Some(mount));
        let disk = "302 29 7:0 / /t/tmp/of-42-y rw,relatime - ext4 /dev/loop0 rw";
        assert!(Mount::read(disk).is_some_and(|mount| !mount.is_fuse));
        assert_eq!(Mount::read("nothing of the kind"), None);
    }
}
