//! What is done to machines while they run, and what is left when their maker is killed.

use super::{PARTS, SUITE, User};
use crate::common::{alone, has, text, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::time::Duration;

/// What `plimsoll vms list` says of the machine.
fn state(user: &User) -> Value {
    let rows = user.plimsoll(&["vms", "list", "--json"]).with_code(0).json();
    rows[0]["machines"][0]["state"].clone()
}

#[test]
fn machines_are_paused_kept_moved_and_switched_off_while_they_run() {
    if !has("machines that are acted on", &PARTS) {
        return;
    }
    let _alone = alone();
    let user = User::new();
    let (first, other) = (user.home.path().join("one"), user.home.path().join("two"));
    [&first, &other].iter().for_each(|pool| fs::create_dir(pool).expect("made"));
    let (kernel, pool) = (User::kernel(), format!("--set=vms.pool={}", first.display()));
    let sets = ["--set=vms.name=t", "--set=vms.disk_size=16MiB", "--set=vms.memory=384MiB"];
    let up = [&["vms", "up", "--json", &kernel, &pool], &sets[..]].concat();
    let up = user.plimsoll(&up).with_code(0).json();
    let boot = &up["machines"][0];
    let (agent, read) = (boot["agent_ns"].as_u64(), boot["first_read_ns"].as_u64());
    assert!(read > Some(0) && agent > read, "{up}");
    let acted = |args: &[&str]| user.plimsoll(&[&["vms"], args].concat());
    acted(&["pause", "t"]).with_code(0);
    assert_eq!(state(&user), "paused");
    acted(&["resume", "t", "t-1"]).with_code(0);
    assert_eq!(state(&user), "running");
    let rows = user.plimsoll(&["vms", "list", "--json"]).with_code(0).json();
    let cpu = &rows[0]["machines"][0]["cpu_ns"];
    assert!(cpu["vcpu"].as_u64() > Some(0) && cpu["io"].is_u64(), "a guest took time: {rows}");
    let moved = acted(&["move", "t", "--to", text(&other), "--json"]).with_code(0).json();
    assert_eq!(moved["machines"][0]["copied_bytes"], 16 << 20, "{moved}");
    assert_eq!(acted(&["snapshot", "t"]).with_code(0).out.lines().next(), Some("t-1  1 disk kept"));
    let again = acted(&["snapshot", "t"]).with_code(3);
    assert!(again.err.contains("have a snapshot already"), "{again:?}");
    for (args, code, what) in [
        (&["pause", "t", "t-2"][..], 2, "none called t-2"),
        (&["pause", "x"], 2, "no machines called x"),
        (&["move", "t"], 2, "name a pool with --to"),
        (&["move", "t", "--to", "/no/such"], 3, "/no/such"),
    ] {
        let refused = acted(args).with_code(code);
        assert!(refused.err.contains(what), "{what}: {refused:?}");
    }
    acted(&["off", "t"]).with_code(0);
    assert_eq!(state(&user), "absent");
    acted(&["down", "t"]).with_code(0);
    user.nothing_is_left();
    assert!([first, other].iter().all(|pool| crate::common::names(pool).is_empty()));
}

#[test]
fn disks_move_to_another_pool_in_the_midst_of_a_run() {
    if !has("disks that move in a run", &PARTS) {
        return;
    }
    let _alone = alone();
    let user = User::new();
    let other = user.home.path().join("two");
    fs::create_dir(&other).expect("made");
    let event = "[[event]]\nname = \"migration\"\nat = \"20%\"\nact = \"move\"\n\
                 machines = \"t-1\"\nworkloads = \"read\"\nto = \"";
    let suite = format!("{SUITE}{event}{}\"\n", other.display()).replace("count = 2", "count = 1");
    fs::write(user.home.path().join("moves.toml"), suite).expect("written");
    let (kernel, longer) = (User::kernel(), "--set=measure=2s");
    let run = ["run", "moves.toml", "--provider=qemu", &kernel, longer, "--json"];
    let json = user.plimsoll(&run).with_code(0).json();
    let told = json["events"].as_array().cloned().unwrap_or_default();
    let moved = |event: &&Value| event["kind"] == "command-ended" && event["label"] == "migration";
    let told = told.iter().find(moved).unwrap_or_else(|| panic!("no migration: {json}"));
    assert!(told["status"] == 0 && told["duration_ns"].as_u64() > Some(0), "{told}");
    assert!(told["detail"].to_string().contains("1 disk moved, 32 MiB copied"), "{told}");
    user.nothing_is_left();
    assert!(crate::common::names(&other).is_empty(), "its marker went with the disk");
}

#[test]
fn a_maker_that_is_killed_at_any_moment_leaves_nothing_that_is_not_found() {
    if !has("makers that are killed", &PARTS) {
        return;
    }
    let _alone = alone();
    let user = User::new();
    fs::write(user.home.path().join("small.toml"), SUITE).expect("written");
    let kernel = User::kernel();
    // Before the record, while disks are filled, while guests boot. A hundred instants by hand:
    // PLIMSOLL_KILLS=100.
    let kills = std::env::var("PLIMSOLL_KILLS").ok().and_then(|text| text.parse().ok());
    let kills: u64 = kills.unwrap_or(3);
    for number in 0..kills {
        let mut up = user
            .command(&["vms", "up", "small.toml", &kernel])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        std::thread::sleep(Duration::from_millis(30 + number * 4001 % 2500));
        up.kill().and_then(|()| up.wait()).expect("a process to kill");
        // A machine that was being started may still become a daemon.
        wait_until("the machines to be gone", || {
            let down = user.plimsoll(&["vms", "down", "--all"]);
            assert!(down.code == 0, "{down:?}");
            user.processes().is_empty()
        });
        user.nothing_is_left();
    }
    assert_eq!(user.plimsoll(&["vms", "list", "--json"]).with_code(0).json(), json!([]));
}
