//! What goes wrong around machines: a name that is somebody else's, a pool that fills up while
//! disks are made, and machines that die or stand still under load. Nothing is left each time.

use super::{PARTS, SUITE, User};
use crate::common::{
    Ended, Mounted, alone, has, names, run, started, text, wait_for_samples, wait_until,
};
use std::fs;
use std::process::{Child, Command, Stdio};

const QEMU: &str = "qemu-system-x86_64";

/// A machine of somebody else, which boots nothing. It is ended with the test.
struct Theirs(Child);

impl Theirs {
    fn called(name: &str) -> Theirs {
        let name = format!("guest={name},debug-threads=on");
        let words = ["-machine", "none", "-display", "none", "-nodefaults", "-S", "-name", &name];
        let child = Command::new(QEMU).args(words).stdin(Stdio::null()).spawn();
        Theirs(child.expect("a machine"))
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

#[test]
fn a_name_of_somebody_elses_machine_is_refused_and_that_machine_stays() {
    let true = has("a machine of somebody else", PARTS) else { return };
    let user = User::new();
    fs::write(user.home.join("small.toml"), SUITE).expect("written");
    let mut theirs = Theirs::called("t-2");
    let (kernel, id) = (User::kernel(), theirs.0.id());
    // Between its start and its program's, it is one of ours.
    wait_until("a qemu", || {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.starts_with(QEMU.as_bytes())
    });
    for args in [
        &["plan", "small.toml", "--provider=qemu", &kernel][..],
        &["run", "small.toml", "--provider=qemu", &kernel],
        &["vms", "up", "small.toml", &kernel],
    ] {
        let refused = user.plimsoll(args).with_code(3).err;
        let whose = format!("process {id} is a machine called t-2 that Plimsoll did not make");
        assert!(refused.contains(&whose) && refused.contains("another vms.name"), "{refused}");
        user.nothing_is_left();
    }
    assert!(theirs.0.try_wait().expect("ours").is_none(), "it runs on");
}

#[test]
fn a_pool_that_fills_up_while_disks_are_made_is_left_as_it_was() {
    let true = has("a pool that fills up", (PARTS, "mkfs.ext4 mount loop")) else { return };
    let _alone = alone();
    let (user, pool) = (User::new(), Mounted::new("mkfs.ext4", 700));
    fs::write(user.home.join("small.toml"), SUITE).expect("written");
    let before = names(pool.path());
    let (kernel, place) = (User::kernel(), format!("--set=vms.pool={}", pool.path().display()));
    let up = ["vms", "up", "small.toml", &kernel, &place, "--set=vms.disk_size=256MiB"];
    let up = user.command(up).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut up = up.expect("started");
    let disks = pool.path().join("plimsoll-vms-t");
    // There was room for both when it was asked for; then somebody else takes it.
    wait_until("a disk", || disks.is_dir() && names(&disks).iter().any(|n| n.ends_with(".raw")));
    let filler = pool.path().join("filler");
    for number in 0.. {
        let free = run("stat", ["--file-system", "--format=%a", text(pool.path())]);
        let blocks: u64 = free.trim().parse().expect("a number");
        if blocks < 64 || up.try_wait().expect("ours").is_some() {
            break;
        }
        // It may take what it asks for, or all that is left.
        let size = (blocks * 4096).to_string();
        let file = filler.with_extension(number.to_string());
        let _ = Command::new("fallocate").args(["-l", &size, text(&file)]).output();
    }
    let told = Ended::from(up.wait_with_output().expect("an end")).with_code(3).err;
    assert!(told.contains("No space left on device"), "{told}");
    assert!(told.contains("plimsoll-vms-t/") && told.contains("check its space"), "{told}");
    user.nothing_is_left();
    let left: Vec<String> =
        names(pool.path()).into_iter().filter(|name| !name.starts_with("filler")).collect();
    assert_eq!(left, before);
}

/// The process of a machine of this user.
fn process_of(user: &User, machine: &str) -> i32 {
    let file = format!("{}/t/{machine}.agent", user.state().display());
    let entries = fs::read_dir("/proc").expect("there").flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_it = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.starts_with(QEMU) && line.contains(&file)
    };
    pids.find(is_it).unwrap_or_else(|| panic!("no process of {machine}"))
}

#[test]
fn machines_that_die_or_stand_still_under_load_are_named_and_all_are_removed() {
    let true = has("machines that die under load", PARTS) else { return };
    let _alone = alone();
    let user = User::new();
    fs::write(user.home.join("small.toml"), SUITE).expect("written");
    let kernel = User::kernel();
    let fleet = "--set=fleet.on_lost_host=continue --set=fleet.lost_after=15s";
    let run_it =
        ("run small.toml --provider=qemu", [&kernel], "--set=measure=10m --out=run.plimsoll");
    let mut child = user.command((&run_it, &fleet));
    let child = started(&mut child);
    wait_for_samples(&user.home, 2);
    // The first dies, as with its node; the run goes on with the other, which then stands still.
    run("kill", ["-KILL", &process_of(&user, "t-1").to_string()]);
    run("kill", ["-STOP", &process_of(&user, "t-2").to_string()]);
    let told = Ended::from(child.wait_with_output().expect("an end"));
    assert_ne!(told.code, 0, "{told:?}");
    for lost in ["t-1: ", "t-2: "] {
        assert!(told.err.contains(lost), "{lost}: {told:?}");
    }
    assert!(!told.err.contains("still there"), "{told:?}");
    user.nothing_is_left();
}
