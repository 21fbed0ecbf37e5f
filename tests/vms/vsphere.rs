//! Machines of vSphere, before the vendor's own simulator of it: its whole interface, and no guest.
//! Nobody's but ours are touched.

use super::User;
use crate::common::{Ended, Words, has, wait_until};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where `cargo xtask vsphere` puts both programs.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder").join("vsphere")
}

/// A vCenter with a cluster of three hosts, another host, two datastores and some machines.
struct Simulator {
    process: Child,
    url: String,
}

impl Simulator {
    fn start() -> Simulator {
        let mut command = Command::new(programs().join("vcsim"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("vcsim");
        let mut line = String::new();
        let out = process.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("its address");
        Simulator { process, url: line.trim().to_owned() }
    }

    fn set_up<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", programs().display()));
        command.env("GOVC_URL", &self.url).env("GOVC_INSECURE", "1");
        command.env("GOVC_RESOURCE_POOL", "/DC0/host/DC0_C0/Resources")
    }

    /// What govc writes.
    fn govc(&self, words: impl Words) -> String {
        let mut command = Command::new(programs().join("govc"));
        let output = self.set_up(command.args(words.words())).output().expect("govc");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn machines(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.govc("find / -type m").lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    fn plimsoll(&self, user: &User, words: impl Words) -> Ended {
        self.set_up(&mut user.command(words)).output().expect("the program starts").into()
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        // It ends with its input, and removes what it made.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Two machines `t-1` and `t-2` that are copies of one of the simulator's.
const MADE: &str = "--provider=vsphere --set=vms.name=t --set=vms.count=2 \
                    --set=vms.disk_size=32MiB --set=vms.disks=2 --set=vms.content=zero \
                    --set=vms.pool=LocalDS_0 --set=vms.template=DC0_H0_VM0";

#[test]
fn machines_of_vsphere_are_made_found_moved_and_removed_and_nobody_elses_are() {
    let true = has("machines of vSphere", "vsphere") else { return };
    let (user, server) = (User::new(), Simulator::start());
    let theirs = server.machines();
    let files = || server.govc("datastore.ls -ds LocalDS_0");
    let (before, run) = (files(), |words: &dyn Words| server.plimsoll(&user, words));
    let with = |words: &str, more: &str| run(&(words, MADE, more));
    let is_as_before = || server.machines() == theirs && files() == before;

    let planned = with("plan quick", "").with_code(0).out;
    for words in ["2 on 3 hosts of vSphere", "copies of DC0_H0_VM0", "never on real hardware"] {
        assert!(planned.contains(words), "{words}: {planned}");
    }
    for (change, words) in [
        ("--set=vms.memory=900GiB", "of memory"),
        ("--set=vms.disk_size=900TiB", "LocalDS_0"),
        ("--set=vms.pool=no-such-store", "govc find / -type s"),
        ("--set=vms.template=no-such-vm", "no-such-vm"),
        ("--set=vms.content=random", "vms.content"),
        ("--set=vms.bus=nvme", "virtio-scsi"),
        ("--set=vms.accelerator=kvm", "native"),
    ] {
        let refused = with("vms up", change).with_code(3);
        assert!(refused.err.contains(words), "{change}: {refused:?}");
        assert!(is_as_before(), "{change}");
    }
    user.nothing_is_left();

    // The simulator has no guests: no agent answers, and all is taken down.
    let silent = with("vms up", "--set=vms.boot=1s").with_code(3);
    assert!(silent.err.contains("no agent within 1 s"), "{silent:?}");
    assert!(is_as_before(), "{:?}", server.machines());

    // Killed while it waits, it is found, acted on and removed whole.
    let words = (&"vms up", MADE, "--set=vms.boot=1h");
    let mut command = user.command(words);
    let making = server.set_up(&mut command).stdout(Stdio::null()).stderr(Stdio::null());
    let mut making = making.spawn().expect("started");
    let is_on = |name: &str| {
        let on = ["find", "/", "-type", "m", "-name", name, "-runtime.powerState", "poweredOn"];
        !server.govc(on).trim().is_empty()
    };
    wait_until("two machines", || is_on("t-1") && is_on("t-2"));
    making.kill().and_then(|()| making.wait()).expect("a process to kill");
    let listed = run(&"vms list").with_code(0).out;
    assert!(listed.contains("t-1  starting") && listed.contains("t-2  starting"), "{listed}");
    let disks = server.govc("device.info -vm t-1 disk-*");
    assert!(disks.contains("t-1-disk0.vmdk") && disks.contains("t-1-disk1.vmdk"), "{disks}");
    run(&"vms pause t t-1").with_code(0);
    assert!(!is_on("t-1") && run(&"vms list").out.contains("t-1  paused"));
    run(&"vms resume t t-1").with_code(0);
    assert!(is_on("t-1"));
    run(&"vms snapshot t t-2").with_code(0);
    assert!(server.govc("snapshot.tree -vm t-2").contains("plimsoll"));
    run(&"vms move t t-2 --to LocalDS_1").with_code(0);
    let moved = server.govc("vm.info -r t-2");
    assert!(moved.contains("LocalDS_1"), "{moved}");
    // A run does not load disks that nobody has found.
    let refused = run(&"run quick --hosts=vms:t").with_code(3);
    assert!(refused.err.contains("were not made to their end"), "{refused:?}");
    run(&"vms down t").with_code(0);
    assert!(is_as_before(), "{:?} {}", server.machines(), files());

    // A machine of somebody else that has one of our names is refused, and stays.
    server.govc("vm.clone -vm DC0_H0_VM0 -on=false -ds LocalDS_1 t-2");
    let taken = with("vms up", "").with_code(3);
    assert!(taken.err.contains("/DC0/vm/t-2") && taken.err.contains("vms.name"), "{taken:?}");
    assert_eq!(server.machines().len(), theirs.len() + 1);
    user.nothing_is_left();
}
