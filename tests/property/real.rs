//! Runs a case with the program itself: a fleet of processes of this machine, some of which are
//! stopped again and again for a while, in a directory in memory or on a disk whose kernel counts
//! what it was asked for.

use super::invariants::{Broken, Held, check, hold};
use super::simulated::Outcome;
use super::suites::Case;
use crate::common::{
    Counters, Folder, Json, Mounted, Words, has, names, plimsoll, scratch, scratch_in,
};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A launcher whose hosts are this machine under other names. A host is stopped for so many ms
/// again and again as the file of its name says: then it is behind in whatever it does.
const LAUNCHER: &str = r#"#!/bin/sh
export H=$1 PAUSE_MS; PAUSE_MS=$(cat "$(dirname "$0")/$1"); shift
[ "$PAUSE_MS" = 0 ] && exec unshare --uts sh -c 'hostname $H; exec "$@"' x "$@"
exec unshare --uts sh -c '
    hostname $H
    exec 3<&0
    "$@" <&3 &
    agent=$!
    exec 3<&- </dev/null >/dev/null
    pause=$(printf %d.%03d $((PAUSE_MS / 1000)) $((PAUSE_MS % 1000)))
    while kill -0 $agent 2>/dev/null; do
        sleep 0.03
        kill -STOP $agent 2>/dev/null
        sleep $pause
        kill -CONT $agent 2>/dev/null
    done
    wait $agent
' x "$@"
"#;

/// Pauses of a host, in ms; most have none.
const PAUSES_MS: [u64; 6] = [0, 0, 0, 20, 60, 200];

/// A folder in memory, if there is such a place.
pub fn folder() -> Folder {
    scratch_in(Path::new("/dev/shm")).unwrap_or_else(|_| scratch())
}

/// A disk with room for what any case lays out, in MiB.
const DISK_MIB: u64 = 768;
/// What a file system reads for itself beside so few files, and what it writes, in sectors of 512
/// bytes.
const ITS_OWN_READS: u64 = 1 << 11;
const ITS_OWN_WRITES: u64 = 32 << 11;

/// Runs a case in a folder of its own within `folder`; a part of those that read and write blocks,
/// by their seed, on a disk and past the page cache, where the kernel is a witness.
pub fn run(case: &Case, folder: &Path) -> Result<Outcome, Broken> {
    let here = tempfile::tempdir_in(folder).expect("room");
    let is_counted = case.seed.is_multiple_of(2)
        && !case.says("metadata")
        && has("what the kernel counted of a random run", "mkfs.ext4 losetup mount loop");
    if !is_counted {
        return run_in(case, here.path(), &here.path().join("target"), "").map(|(ran, _)| ran);
    }
    let disk = Mounted::new("mkfs.ext4", DISK_MIB);
    let target = disk.path().join("target");
    let before = disk.counters();
    let (outcome, json) = run_in(case, here.path(), &target, "--set direct=true")?;
    let seen = disk.counters().since(before);
    if let Some(json) = json {
        hold_kernel(case, &json, seen)?;
    }
    Ok(outcome)
}

/// What was issued is what the kernel saw, but for what the file system does for itself, and for
/// what is read once more to check it.
fn hold_kernel(case: &Case, json: &Value, seen: Counters) -> Held {
    let issued = |op: &str| -> u64 {
        let totals = json["issued"].list().iter();
        let bytes = totals.filter(|total| total["op"] == op).map(|total| &total["bytes"]);
        bytes.map(|bytes| bytes.count()).sum::<u64>() / 512
    };
    let holds = |seen: u64, issued: u64, its_own: u64| (issued..=issued + its_own).contains(&seen);
    let (reads, writes) = (issued("read"), issued("write"));
    hold("the kernel saw each write", holds(seen.write_sectors, writes, ITS_OWN_WRITES), || {
        format!("{writes} sectors, and it saw {}", seen.write_sectors)
    })?;
    let is_read_again = case.says("\"after\"");
    let holds = seen.read_sectors >= reads
        && (is_read_again || holds(seen.read_sectors, reads, ITS_OWN_READS));
    hold("the kernel saw each read", holds, || {
        format!("{reads} sectors, and it saw {}", seen.read_sectors)
    })
}

/// Runs a case in the folder `here`, with its data in `target`; with the JSON of what ran.
fn run_in(
    case: &Case,
    here: &Path,
    target: &Path,
    more: impl Words,
) -> Result<(Outcome, Option<Value>), Broken> {
    std::fs::write(here.join("any.toml"), case.text()).expect("room");
    std::fs::create_dir(target).expect("room");
    let (data, out) = (target.join("data"), here.join("run.plimsoll"));
    let launcher = here.join("launch/launcher");
    let hosts = hosts(case, &launcher);
    let target_and_out = ("--target", [&data], "--out", [&out]);
    let ended = plimsoll(here, ("run any.toml --json --quiet", target_and_out, more, hosts));
    let told = || format!("{}: {}", ended.code, ended.err);
    hold("nothing is left", names(target).is_empty(), || {
        format!("{:?}; {}", names(target), told())
    })?;
    if matches!(ended.code, 2 | 3) && !out.exists() {
        return hold("a refusal is in words", ended.err.contains("error: "), told)
            .map(|()| (Outcome::Refused, None));
    }
    hold("ends complete", ended.code == 0, told)?;
    check(case, &out).map(|()| (Outcome::Ran, Some(ended.json())))
}

/// The options that say which hosts load. Without root, none is under another name, and none is
/// delayed.
fn hosts(case: &Case, launcher: &Path) -> Vec<String> {
    if case.hosts == 1 {
        return Vec::new();
    }
    if !is_root() {
        return vec!["--hosts".to_owned(), format!("local:{}", case.hosts)];
    }
    let folder = launcher.parent().expect("a folder");
    std::fs::create_dir(folder).expect("room");
    std::fs::write(launcher, LAUNCHER).expect("room");
    std::fs::set_permissions(launcher, std::fs::Permissions::from_mode(0o755)).expect("ours");
    let mut rng = model::rng::Rng::new(case.seed ^ 0x5eed);
    for host in 1..=case.hosts {
        let pause = PAUSES_MS[rng.below(PAUSES_MS.len() as u64) as usize];
        std::fs::write(folder.join(format!("p{host}")), pause.to_string()).expect("room");
    }
    let list = format!("p[1-{}]", case.hosts);
    vec![
        "--hosts".to_owned(),
        list,
        "--launcher".to_owned(),
        format!("{} {{host}}", launcher.display()),
    ]
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
