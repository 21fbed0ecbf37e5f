//! Machines on two nodes that a launcher reaches: two users' folders on this machine.

use super::{AMOUNT, PARTS, SUITE, User, kernels};
use crate::common::{Json, alone, has, wait_until};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

/// A launcher that gives each node folders of its own, and its suite.
fn with_nodes(user: &User) -> String {
    let (home, launcher) = (user.home.path(), user.home.join("on"));
    let script = format!(
        "#!/bin/sh\nn=$1; shift\n[ \"$n\" = gone ] && {{ echo no route >&2; exit 255; }}\n\
         mkdir -p {0}/$n\nexec env HOME={0}/$n XDG_STATE_HOME={0}/$n XDG_CACHE_HOME={1} \"$@\"\n",
        home.display(),
        kernels().join("cache").display()
    );
    fs::write(&launcher, script).expect("written");
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).expect("set");
    let nodes = format!(
        "place = [\"n1:2\", \"n2:1\"]\nlauncher = \"{} {{host}}\"\n[stages]",
        launcher.display()
    );
    SUITE.replace("[stages]", &nodes)
}

/// Processes that name one of the nodes' folders.
fn machines(user: &User) -> usize {
    let entries = fs::read_dir("/proc").expect("there").flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let home = user.home.display().to_string();
    let is_one = |line: &Vec<u8>| {
        let line = String::from_utf8_lossy(line).into_owned();
        line.starts_with("qemu-system") && line.contains(&home)
    };
    lines.filter(is_one).count()
}

fn nothing_is_left(user: &User) {
    user.nothing_is_left();
    for node in ["n1", "n2"] {
        let state = user.home.join(node).join("plimsoll/vms");
        assert!(!state.exists() || crate::common::names(&state).is_empty(), "{node}");
    }
    assert_eq!(machines(user), 0);
}

#[test]
fn machines_of_two_nodes_carry_one_run_and_are_found_after_kill_9() {
    let true = has("machines on two nodes", PARTS) else { return };
    let _alone = alone();
    let user = User::new();
    fs::write(user.home.join("small.toml"), with_nodes(&user)).expect("written");
    let kernel = User::kernel();
    let plan = ["plan", "small.toml", "--provider=qemu", &kernel, "--json"];
    // Only the suite names the nodes: a plan does not reach for them.
    let refused = user.plimsoll(plan).with_code(2).err;
    assert!(refused.contains("only the suite names vms.place"), "{refused}");
    let launcher = format!("--set=vms.launcher={} {{host}}", user.home.join("on").display());
    let named = ["--set=vms.place=[\"n1:2\", \"n2:1\"]", &launcher];
    let plan = user.plimsoll((&plan, &named)).with_code(0).json();
    let on = |number: usize| {
        let node = &plan["nodes"][number];
        (node["node"].as_str(), node["machines"][0].as_str())
    };
    assert_eq!((on(0), on(1)), ((Some("n1"), Some("t-2")), (Some("n2"), Some("t-1"))));
    nothing_is_left(&user);
    // One node that cannot be reached: nothing is made on the other.
    let gone = "--set=vms.place=[\"n1:2\", \"gone:1\"]";
    let refused = user.plimsoll(["run", "small.toml", "--provider=qemu", &kernel, gone]);
    let refused = refused.with_code(3);
    assert!(refused.err.contains("node gone") && refused.err.contains("no route"), "{refused:?}");
    nothing_is_left(&user);
    user.plimsoll(["vms", "up", "small.toml", &kernel]).with_code(0);
    let list = user.plimsoll("vms list").with_code(0).out;
    let is_on = |line: &&str| {
        line.contains(" vcpu") && (line.starts_with("t-1  running") && line.ends_with("on n2"))
            || (line.starts_with("t-2  running") && line.ends_with("on n1"))
    };
    assert_eq!(list.lines().filter(is_on).count(), 2, "{list}");
    let run = ["run", "small.toml", "--hosts=vms:t", "--json", AMOUNT];
    let json = user.plimsoll(run).with_code(0).json();
    let hosts = json["results"][0]["hosts"].list();
    assert!(hosts.len() == 2 && hosts.iter().all(|host| host["ios"].as_u64() > Some(0)), "{json}");
    user.plimsoll("vms off t t-2").with_code(0);
    let list = user.plimsoll("vms list").with_code(0).out;
    assert!(list.contains("t-2  absent  on n1") && list.contains("t-1  running"), "{list}");
    user.plimsoll("vms down t").with_code(0);
    nothing_is_left(&user);
    // Ended in the middle: the nodes take down what they were making, or it is found.
    let mut up = user
        .command(["vms", "up", "small.toml", &kernel])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    wait_until("a machine", || machines(&user) > 0);
    up.kill().and_then(|()| up.wait()).expect("a process to kill");
    wait_until("all to be gone", || {
        let down = user.plimsoll("vms down t");
        // A node that still removes its machines says so.
        down.code == 0 || down.err.contains("no machines called t")
    });
    nothing_is_left(&user);
}
