//! What is done to machines while they run, and what is left when their maker is killed.

use super::{AMOUNT, PARTS, SUITE, User};
use crate::common::{alone, has, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What `plimsoll vms list` says of the machines.
fn machines(user: &User) -> Vec<Value> {
    let rows = user.plimsoll("vms list --json").with_code(0).json();
    rows[0]["machines"].as_array().cloned().unwrap_or_default()
}

fn states(user: &User) -> Vec<String> {
    let state = |machine: &Value| machine["state"].as_str().unwrap_or_default().to_owned();
    machines(user).iter().map(state).collect()
}

#[test]
fn after_kill_9_machines_are_found_acted_on_and_removed() {
    let true = has("machines after kill -9, and what is done to them", PARTS) else { return };
    let _alone = alone();
    let user = User::new();
    let (first, other) = (user.home.join("one"), user.home.join("two"));
    [&first, &other].iter().for_each(|pool| fs::create_dir(pool).expect("made"));
    fs::write(user.home.join("small.toml"), SUITE).expect("written");
    let (kernel, pool) = (User::kernel(), format!("--set=vms.pool={}", first.display()));
    let long = "--set=measure=10m --out=r.plimsoll";
    let mut run = user
        .command((["run", "small.toml", "--provider=qemu", &kernel, &pool], &long))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    // How long each took to boot is on record when both are up.
    wait_until("both machines", || {
        let machines = machines(&user);
        let is_up = |machine: &&Value| machine["state"] == "running" && is_timed(machine);
        machines.iter().filter(is_up).count() == 2
    });
    let busy = user.plimsoll("vms down t").with_code(3);
    assert!(busy.err.contains("another plimsoll makes or uses the machines t"), "{busy:?}");
    run.kill().and_then(|()| run.wait()).expect("a process to kill");
    let taken = user.plimsoll(["vms", "up", "small.toml", &kernel]).with_code(3);
    assert!(taken.err.contains("`plimsoll vms down t`"), "{taken:?}");
    paused_kept_moved_and_switched_off(&user, &other);
    assert_eq!(user.plimsoll("vms down t").with_code(0).out, "t is gone\n");
    user.nothing_is_left();
    assert!([first, other].iter().all(|pool| crate::common::names(pool).is_empty()));
}

/// What the record says of the time until a machine's agent listened, and its disks were read.
fn is_timed(machine: &Value) -> bool {
    let (agent, read) = (machine["agent_ns"].as_u64(), machine["first_read_ns"].as_u64());
    read > Some(0) && agent > read
}

/// Two machines that nobody loads.
fn paused_kept_moved_and_switched_off(user: &User, other: &Path) {
    let acted = |args: &str| user.plimsoll(("vms", args));
    acted("pause t").with_code(0);
    assert_eq!(states(user), ["paused", "paused"]);
    acted("resume t t-1").with_code(0);
    assert_eq!(states(user), ["running", "paused"]);
    let cpu = &machines(user)[0]["cpu_ns"];
    assert!(cpu["vcpu"].as_u64() > Some(0) && cpu["io"].is_u64(), "a guest took time: {cpu}");
    let moved = acted(&format!("move t t-1 --to {} --json", other.display())).with_code(0).json();
    assert_eq!(moved["machines"][0]["copied_bytes"], 32 << 20, "{moved}");
    let kept = acted("snapshot t t-1").with_code(0).out;
    assert_eq!(kept.lines().next(), Some("t-1  1 disk kept"));
    let again = acted("snapshot t t-1").with_code(3);
    assert!(again.err.contains("have a snapshot already"), "{again:?}");
    for (args, code, what) in [
        ("pause t t-3", 2, "none called t-3"),
        ("pause x", 2, "no machines called x"),
        ("move t", 2, "name a pool with --to"),
        ("move t --to /no/such", 3, "/no/such"),
    ] {
        let refused = acted(args).with_code(code);
        assert!(refused.err.contains(what), "{what}: {refused:?}");
    }
    acted("off t t-1").with_code(0);
    assert_eq!(states(user), ["absent", "paused"]);
}

#[test]
fn disks_move_to_another_pool_in_the_midst_of_a_run() {
    let true = has("disks that move in a run", PARTS) else { return };
    let _alone = alone();
    let user = User::new();
    let other = user.home.join("two");
    fs::create_dir(&other).expect("made");
    let event = "[[event]]\nname = \"migration\"\nat = \"20%\"\nact = \"move\"\n\
                 machines = \"t-1\"\nworkloads = \"read\"\nto = \"";
    let suite = format!("{SUITE}{event}{}\"\n", other.display());
    // A clone of an image moves whole: it needs the image no more.
    let suite = suite.replace("count = 2", "count = 1\nallocation = \"linked\"");
    fs::write(user.home.join("moves.toml"), suite).expect("written");
    let (kernel, longer) = (User::kernel(), "--set=measure=2s");
    let run = ["run", "moves.toml", "--provider=qemu", &kernel, longer, "--json"];
    let json = user.plimsoll(run).with_code(0).json();
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
    let true = has("makers that are killed", PARTS) else { return };
    let _alone = alone();
    let user = User::new();
    fs::write(user.home.join("small.toml"), SUITE).expect("written");
    let kernel = User::kernel();
    // Before the record, while disks are filled, while guests boot. By hand, at random instants of
    // a whole run, its load and its removal of the machines too: PLIMSOLL_KILLS=30.
    let kills = std::env::var("PLIMSOLL_KILLS").ok().and_then(|text| text.parse::<u64>().ok());
    let run = ["run", "small.toml", "--provider=qemu", &kernel, AMOUNT, "--out=r.plimsoll"];
    let span = kills.map(|_| {
        let began = Instant::now();
        user.plimsoll(run).with_code(0);
        began.elapsed()
    });
    for number in 0..kills.unwrap_or(3) {
        let _ = fs::remove_file(user.home.join("r.plimsoll"));
        let after = match span {
            Some(span) => span.mul_f64(random()),
            None => Duration::from_millis(30 + number * 4001 % 2500),
        };
        let mut making =
            user.command(run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
        std::thread::sleep(after);
        if span.is_some() {
            println!("killed after {after:?}, with {} processes", user.processes().len());
        }
        making.kill().and_then(|()| making.wait()).expect("a process to kill");
        // A machine that was being started may still become a daemon.
        wait_until("the machines to be gone", || {
            let down = user.plimsoll("vms down --all");
            assert!(down.code == 0, "{down:?}");
            user.processes().is_empty()
        });
        user.nothing_is_left();
    }
    assert_eq!(user.plimsoll("vms list --json").with_code(0).json(), json!([]));
}

/// From 0 to 1.
fn random() -> f64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // The standard library seeds it from the system's random numbers.
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}
