//! Lies of real devices and file systems. They need root, and leave nothing behind.

use super::runner::{Load, Staged};
use crate::shell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A lie.
pub struct Lie {
    /// What it does.
    pub name: &'static str,
    /// The doubt that names it.
    pub doubt: &'static str,
    /// Sets both targets up below a folder; or says why this machine cannot.
    pub stage: fn(&Path) -> Result<Staged, String>,
}

/// All of them.
pub const LIES: &[Lie] = &[
    Lie {
        name: "a loop device that says it acknowledges from a cache",
        doubt: "volatile-cache",
        stage: volatile_loop,
    },
    Lie {
        name: "a sparse file, whose holes cost nothing",
        doubt: "less-at-device",
        stage: sparse_file,
    },
    Lie { name: "reads that the page cache answers", doubt: "read-from-memory", stage: page_cache },
    Lie { name: "a file system without barriers", doubt: "barriers-off", stage: without_barriers },
    Lie { name: "a neighbour on the same disk", doubt: "other-io", stage: neighbour },
    Lie {
        name: "a control group that limits the requests",
        doubt: "io-limited",
        stage: limited_group,
    },
    Lie {
        name: "a queue that is shorter than the depth",
        doubt: "queue-short",
        stage: short_queue,
    },
];

const MIB: u64 = 1 << 20;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// Runs a command and has what it prints; or why not.
fn said(line: &str) -> Result<String, String> {
    if !shell::is_root() {
        return Err("it needs root".to_owned());
    }
    let words = words(line);
    let output = Command::new(&words[0])
        .args(&words[1..])
        .output()
        .map_err(|error| format!("`{line}`: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("`{line}`: {}", text(&output.stderr))),
    }
}

/// A file of so many MiB, written or with a hole in its place.
fn file(folder: &Path, name: &str, mib: u64, written: bool) -> Result<PathBuf, String> {
    let path = folder.join(name);
    let problem = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = fs::File::create(&path).map_err(problem)?;
    file.set_len(mib * MIB).map_err(problem)?;
    if written {
        let block: Vec<u8> = (0..MIB).map(|n| (n * 31 % 251) as u8).collect();
        let mut file = &file;
        (0..mib).try_for_each(|_| std::io::Write::write_all(&mut file, &block)).map_err(problem)?;
    }
    file.sync_all().map_err(problem)?;
    Ok(path)
}

fn loop_device(file: &Path) -> Result<String, String> {
    said(&format!("losetup --find --show --direct-io=on {}", file.display()))
}

fn set_write_cache(device: &str, word: &str) -> Result<(), String> {
    let name = device.trim_start_matches("/dev/");
    let path = format!("/sys/block/{name}/queue/write_cache");
    fs::write(&path, word).map_err(|error| format!("{path}: {error}"))
}

fn volatile_loop(folder: &Path) -> Result<Staged, String> {
    let mut devices = Vec::new();
    let mut undo = Vec::new();
    for (name, word) in [("lying.img", "write back"), ("honest.img", "write through")] {
        let device = loop_device(&file(folder, name, 64, false)?)?;
        // The kernel keeps a cache that is off with the device's number, for whoever comes next.
        let cache = format!("/sys/block/{}/queue/write_cache", device.trim_start_matches("/dev/"));
        undo.push(["sh", "-c", &format!("echo write back > {cache}")].map(str::to_owned).to_vec());
        undo.push(words(&format!("losetup --detach {device}")));
        devices.push(device.clone());
        let set = set_write_cache(&device, word);
        if let Err(why) = set {
            drop(Staged { lying: Load::alone([]), honest: Load::alone([]), undo });
            return Err(why);
        }
    }
    let load = |device: &str| {
        // A flush behind the load would make the cache a part of the durable rate.
        let flush = ["--set", "flush=none"];
        let load = ["--rw", "randwrite", "--runtime", "3", "--destroy-data", device];
        Load::alone([flush.as_slice(), load.as_slice()].concat())
    };
    Ok(Staged { lying: load(&devices[0]), honest: load(&devices[1]), undo })
}

fn read_of(path: &Path) -> Load {
    let path = path.display().to_string();
    Load::alone([
        "--rw",
        "randread",
        "--iodepth",
        "4",
        "--runtime",
        "6",
        "--existing",
        path.as_str(),
    ])
}

fn sparse_file(folder: &Path) -> Result<Staged, String> {
    let lying = read_of(&file(folder, "sparse", 256, false)?);
    let honest = read_of(&file(folder, "written", 256, true)?);
    Ok(Staged { lying, honest, undo: Vec::new() })
}

fn page_cache(folder: &Path) -> Result<Staged, String> {
    let target = folder.join("cached").display().to_string();
    let load = |more: &[&'static str]| {
        let words = ["--rw", "randread", "--size", "64M", "--runtime", "4", &target];
        let mut load = Load::alone(words);
        load.arguments.extend(more.iter().map(|word| (*word).to_owned()));
        load
    };
    let lying = load(&["--buffered", "--set", "evict=false"]);
    Ok(Staged { lying, honest: load(&[]), undo: Vec::new() })
}

fn without_barriers(folder: &Path) -> Result<Staged, String> {
    let mut undo: Vec<Vec<String>> = Vec::new();
    let mut places = Vec::new();
    for (name, option) in [("without", "barrier=0"), ("with", "barrier=1")] {
        let image = file(folder, &format!("{name}.img"), 96, false)?;
        let place = shell::folder(folder.join(name))?;
        let mounted = said(&format!("mkfs.ext4 -q -F {}", image.display())).and_then(|_| {
            said(&format!("mount -o loop,{option} {} {}", image.display(), place.display()))
        });
        if let Err(why) = mounted {
            drop(Staged { lying: Load::alone([]), honest: Load::alone([]), undo });
            return Err(why);
        }
        undo.push(words(&format!("umount {}", place.display())));
        places.push(place.display().to_string());
    }
    let load =
        |place: &str| Load::alone(["--rw", "randwrite", "--size", "32M", "--runtime", "3", place]);
    Ok(Staged { lying: load(&places[0]), honest: load(&places[1]), undo })
}

/// Somebody writes while only reads are measured.
fn neighbour(folder: &Path) -> Result<Staged, String> {
    let path = file(folder, "read", 256, true)?;
    let place = folder.join("neighbour").display().to_string();
    let writes = "--rw write --bs 1M --iodepth 4 --size 256M --runtime 20 --quiet --out";
    let out = folder.join("neighbour.plimsoll").display().to_string();
    let beside = writes.split(' ').map(str::to_owned).chain([out.clone(), place]).collect();
    let lying = Load { beside: Some(beside), ..read_of(&path) };
    Ok(Staged { lying, honest: read_of(&path), undo: vec![words(&format!("rm -f {out}"))] })
}

/// The program is in a group of control that has 2,000 reads a second of its device.
fn limited_group(folder: &Path) -> Result<Staged, String> {
    let path = file(folder, "limited", 256, true)?;
    let disk = said(&format!("stat --format=%Hd:%Ld {}", path.display()))?;
    let groups = Path::new("/sys/fs/cgroup/blkio");
    if !groups.join("blkio.throttle.read_iops_device").exists() {
        return Err("there are no control groups of version 1 for I/O".to_owned());
    }
    let group = shell::folder(groups.join(format!("plimsoll-liar-{}", std::process::id())))?;
    let undo = vec![words(&format!("rmdir {}", group.display()))];
    let mut staged = Staged { lying: read_of(&path), honest: read_of(&path), undo };
    let limit = group.join("blkio.throttle.read_iops_device");
    fs::write(&limit, format!("{disk} 2000")).map_err(shell::at(&limit))?;
    staged.lying.group = Some(group.join("tasks"));
    Ok(staged)
}

/// Two loop devices, of which one takes 16 requests at a time, at 32 outstanding.
fn short_queue(folder: &Path) -> Result<Staged, String> {
    let (mut undo, mut devices) = (Vec::new(), Vec::new());
    for (name, requests) in [("short.img", "16"), ("long.img", "128")] {
        let device = loop_device(&file(folder, name, 64, true)?)?;
        let queue = format!("/sys/block/{}/queue/nr_requests", device.trim_start_matches("/dev/"));
        undo.push(["sh", "-c", &format!("echo 128 > {queue}")].map(str::to_owned).to_vec());
        undo.push(words(&format!("losetup --detach {device}")));
        devices.push(device);
        if let Err(error) = fs::write(&queue, requests) {
            drop(Staged { lying: Load::alone([]), honest: Load::alone([]), undo });
            return Err(format!("{queue}: {error}"));
        }
    }
    let load = |device: &str| {
        let words = ["--rw", "randread", "--iodepth", "32", "--runtime", "3", "--existing", device];
        Load::alone(words)
    };
    Ok(Staged { lying: load(&devices[0]), honest: load(&devices[1]), undo })
}
