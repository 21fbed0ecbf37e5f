//! Machines of a program of the user's: the script of the guide, under real qemu, and programs that
//! are none.

use super::{AMOUNT, SUITE, User};
use crate::common::{Ended, Json, Words, alone, has, names, wait_until};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the guide shows.
const SCRIPT: &str = include_str!("my-provider");

/// A user with the suite, and with the script where the suite's folder is.
fn with_program(script: &str) -> User {
    use std::os::unix::fs::PermissionsExt;
    let user = User::new();
    fs::write(user.home.join("small.toml"), SUITE).expect("written");
    let program = user.home.join("my-provider");
    fs::write(&program, script).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("set");
    user
}

/// Where the script has its machines.
fn machines(user: &User) -> PathBuf {
    user.home.join("m")
}

fn command(user: &User, words: impl Words) -> Command {
    let mut command = user.command(words);
    command.env("MY_MACHINES", machines(user));
    command
}

fn plimsoll(user: &User, words: impl Words) -> Ended {
    command(user, words).output().expect("the program starts").into()
}

const OURS: [&str; 2] = ["--provider=program", "--set=vms.connect=./my-provider"];

#[test]
fn the_script_of_the_guide_carries_a_run_and_leaves_nothing() {
    let true = has("machines of a program", "qemu guest-kernel nc") else { return };
    let _alone = alone();
    let (user, kernel) = (with_program(SCRIPT), User::kernel());
    let run = ("run small.toml", OURS, [&kernel, AMOUNT, "--json"]);
    let told = plimsoll(&user, run).with_code(0);
    let words = ["program made t-[1-2]", "agents after", "first reads after"];
    assert!(words.iter().all(|words| told.err.contains(words)), "{}", told.err);
    for result in told.json()["results"].list() {
        let hosts = result["hosts"].list();
        let names: Vec<_> = hosts.iter().map(|host| host["host"].as_str()).collect();
        assert_eq!(names, [Some("t-1"), Some("t-2")]);
    }
    user.nothing_is_left();
    assert!(names(&machines(&user)).is_empty());
    // Killed as a disk is made, and as a guest boots: all is found, and removed from elsewhere.
    for end in ["-t-1-disk0", "-t-2.console"] {
        let up = ("vms up small.toml", OURS, [&kernel]);
        let mut up = command(&user, up);
        let mut up = up.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
        let made = || names(&machines(&user));
        wait_until("a part of a machine", || made().iter().any(|name| name.ends_with(end)));
        up.kill().and_then(|()| up.wait()).expect("a process to kill");
        let listed = plimsoll(&user, "vms list").with_code(0).out;
        assert!(listed.contains("t-1  ") && listed.contains("t-2  "), "{listed}");
        let mut down = command(&user, "vms down t");
        let down = down.current_dir("/").output().expect("started");
        Ended::from(down).with_code(0);
        user.nothing_is_left();
        assert!(names(&machines(&user)).is_empty(), "{:?}", names(&machines(&user)));
    }
}

#[test]
fn the_guide_shows_the_script_that_is_tested() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/machines.md");
    let guide = fs::read_to_string(guide).expect("a page");
    assert!(guide.contains(&format!("```sh\n{SCRIPT}```\n")), "copy it into the guide");
}

#[test]
fn what_makes_no_machines_is_refused_in_words_and_leaves_nothing() {
    let user = with_program("#!/bin/sh\necho '{\"site\":\"here\"}'\n");
    let refused = |code: i32, what: &str, words: &dyn Words| {
        let said = plimsoll(&user, words).with_code(code).err;
        assert!(said.contains(what), "{what}: {said}");
        user.nothing_is_left();
    };
    for gone in ["kubevirt", "proxmox", "hyper-v"] {
        let gone = format!("--provider={gone}");
        for words in [format!("run quick {gone}"), format!("vms up {gone}")] {
            refused(2, "--provider=program --set vms.connect=./my-provider", &words);
        }
    }
    refused(2, "[possible values: qemu, libvirt, vsphere, program]", &"plan quick --provider=x");
    let up = "vms up --provider=program";
    refused(3, "names no program", &up);
    refused(3, "names no program", &(up, "--set=vms.connect=./none"));
    refused(2, "no address of a provider", &(up, "--set=vms.connect=none"));
    refused(3, "missing field `memory`", &["vms", "up", OURS[0], OURS[1]]);
    // A plan starts no program that the suite alone names.
    let suite = format!("{SUITE}\n").replace("[vms]", "[vms]\nconnect = \"./my-provider\"");
    fs::write(user.home.join("theirs.toml"), suite).expect("written");
    refused(2, "only the suite names vms.connect", &["plan", "theirs.toml", OURS[0]]);
}
