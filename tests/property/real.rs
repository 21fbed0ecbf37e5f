//! Runs a case with the program itself: a fleet of processes of this machine, some of which are
//! stopped again and again for a while, in a directory in memory.

use super::invariants::{Broken, check, hold};
use super::simulated::Outcome;
use super::suites::Case;
use crate::common::{names, plimsoll, scratch, text};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

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
pub fn folder() -> TempDir {
    let prefix = format!("of-{}-", std::process::id());
    tempfile::Builder::new().prefix(&prefix).tempdir_in("/dev/shm").unwrap_or_else(|_| scratch())
}

/// Runs a case in a folder of its own within `folder`.
pub fn run(case: &Case, folder: &Path) -> Result<Outcome, Broken> {
    let here = tempfile::tempdir_in(folder).expect("room");
    let here = here.path();
    std::fs::write(here.join("any.toml"), case.text()).expect("room");
    std::fs::create_dir(here.join("target")).expect("room");
    let (data, out) = (here.join("target/data"), here.join("run.plimsoll"));
    let launcher = here.join("launch/launcher");
    let hosts = hosts(case, &launcher);
    let mut line =
        vec!["run", "any.toml", "--json", "--quiet", "--target", text(&data), "--out", text(&out)];
    line.extend(hosts.iter().map(String::as_str));
    let ended = plimsoll(here, &line);
    let told = || format!("{}: {}", ended.code, ended.err);
    hold("nothing is left", names(&here.join("target")).is_empty(), || {
        format!("{:?}; {}", names(&here.join("target")), told())
    })?;
    if matches!(ended.code, 2 | 3) && !out.exists() {
        return hold("a refusal is in words", ended.err.contains("error: "), told)
            .map(|()| Outcome::Refused);
    }
    hold("ends complete", ended.code == 0, told)?;
    check(case, &out).map(|()| Outcome::Ran)
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
