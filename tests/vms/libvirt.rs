//! Machines of a real libvirt: its own daemon, two pools, and nothing left in either.

use super::{SUITE, User};
use crate::common::{Folder, Words, alone, has, scratch, text, wait_until};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const PARTS: &str = "qemu qemu-img guest-kernel libvirt virsh";

/// Lines for a shell with mounts of its own, in which a libvirt keeps its files of these places in
/// a folder, and asks each hypervisor once what it can do.
///
/// A libvirt of this machine's files would find what a killed test defined, and everybody else's.
/// Where only root may open `/dev/kvm`, as on a machine without udev, libvirt finds KVM when it
/// asks, and then none, because its guests are another user's. So it takes what it knows for
/// outdated and asks again, seconds of a processor before every step. Here, everybody may open it,
/// as where udev runs. What libvirt learnt is kept: it knows itself when that is outdated.
pub(super) fn own_files(folder: &Path, places: &[&str]) -> String {
    let (dev, cache) = (folder.join("dev"), super::kernels().join("libvirt"));
    [&dev, &cache].iter().for_each(|place| fs::create_dir_all(place).expect("made"));
    let own = places.iter().map(|place| {
        let own = folder.join(&place[1..]);
        fs::create_dir_all(&own).expect("made");
        format!("mkdir -p {place}\nmount --bind {} {place}\n", own.display())
    });
    format!(
        "{own}if [ -c /dev/kvm ]; then mount -t tmpfs none {dev}; mknod -m 666 {dev}/kvm c \
         0x$(stat -c %t /dev/kvm) 0x$(stat -c %T /dev/kvm); mount --bind {dev}/kvm /dev/kvm; fi\n\
         mkdir -p /var/cache/libvirt\nmount --bind {} /var/cache/libvirt\n",
        cache.display(),
        own = own.collect::<String>(),
        dev = dev.display(),
    )
}

/// A libvirt of our own with the pools `one` and `two`.
struct Daemon {
    folder: Folder,
    processes: Vec<Child>,
}

impl Daemon {
    fn start() -> Daemon {
        let folder = scratch();
        let path = folder.path();
        let settings = format!(
            "unix_sock_dir = \"{0}\"\nauth_unix_ro = \"none\"\nauth_unix_rw = \"none\"\n\
             log_outputs = \"3:file:{0}/log\"\n",
            path.display()
        );
        fs::write(path.join("conf"), settings).expect("written");
        // Below `/var/lib/libvirt`, machines and those who load them meet.
        let own = own_files(path, &["/etc/libvirt", "/var/log/libvirt", "/run/libvirt"]);
        let surroundings = format!("set -e\n{own}exec \"$@\"");
        let start = |program: &str, pid: &str, args: &[&str]| {
            Command::new("unshare")
                .args(["--mount", "--propagation", "private", "sh", "-c", &surroundings, "sh"])
                .args([program, "-p"])
                .arg(path.join(pid))
                .args(args)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect(program)
        };
        let conf = path.join("conf");
        let processes =
            vec![start("virtlogd", "log.pid", &[]), start("libvirtd", "pid", &["-f", text(&conf)])];
        let daemon = Daemon { folder, processes };
        wait_until("libvirt", || daemon.virsh("version").is_some());
        for pool in ["one", "two"] {
            let place = daemon.path().join(pool);
            fs::create_dir(&place).expect("made");
            let name = daemon.pool(pool);
            let made = ["pool-create-as", &name, "dir", "--target", text(&place)];
            daemon.virsh(made).expect("a pool");
        }
        daemon
    }

    fn path(&self) -> &Path {
        &self.folder
    }

    /// Its name in the libvirt of this machine.
    fn pool(&self, name: &str) -> String {
        format!("plimsoll-test-{}-{name}", std::process::id())
    }

    fn uri(&self) -> String {
        format!("qemu:///system?socket={}/libvirt-sock", self.path().display())
    }

    /// What virsh writes; `None` where it fails.
    fn virsh(&self, words: impl Words) -> Option<String> {
        let mut command = Command::new("virsh");
        command.args(["-q", "-c", &self.uri()]).args(words.words()).env("LC_ALL", "C");
        let output = command.stdin(Stdio::null()).output().expect("virsh");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        for pool in ["one", "two"] {
            self.virsh(["pool-destroy", &self.pool(pool)]);
        }
        for process in self.processes.iter_mut().rev() {
            let _ = Command::new("kill").arg(process.id().to_string()).status();
            let _ = process.wait();
        }
    }
}

#[test]
fn machines_of_a_libvirt_move_their_disks_in_a_run_and_go() {
    let true = has("machines of a libvirt", PARTS) else { return };
    let _alone = alone();
    let (user, daemon) = (User::new(), Daemon::start());
    let (one, two) = (daemon.pool("one"), daemon.pool("two"));
    let event = format!(
        "[[event]]\nname = \"migration\"\nat = \"20%\"\nact = \"move\"\n\
         workloads = \"read\"\nto = \"{two}\"\n"
    );
    let vms = format!("pool = \"{one}\"\nconnect = \"{}\"\n[stages]", daemon.uri());
    let linked = "count = 1\nallocation = \"linked\"";
    let suite = SUITE.replace("[stages]", &vms).replace("count = 2", linked);
    fs::write(user.home.join("lv.toml"), format!("{suite}{event}")).expect("written");
    let theirs = daemon.path().join("one/precious.raw");
    fs::write(&theirs, "theirs").expect("written");
    let kernel = User::kernel();
    let run = ["run", "lv.toml", "--provider=libvirt", &kernel, "--json", "--set=measure=3s"];
    let json = user.plimsoll(run).with_code(0).json();
    let events = json["events"].as_array().cloned().unwrap_or_default();
    let moved = |event: &&Value| event["kind"] == "command-ended" && event["label"] == "migration";
    let told = events.iter().find(moved).unwrap_or_else(|| panic!("no migration: {json}"));
    assert!(told["status"] == 0 && told["duration_ns"].as_u64() > Some(0), "{told}");
    assert!(told["detail"].to_string().contains("1 disk moved, 32 MiB copied"), "{told}");
    nothing_is_left(&user, &daemon);
    // A domain of somebody else with our machine's name is refused, and stays.
    let domain = "<domain type='qemu'><name>t-1</name><memory unit='MiB'>64</memory><os>\
                  <type arch='x86_64' machine='q35'>hvm</type></os></domain>";
    let file = daemon.path().join("theirs.xml");
    fs::write(&file, domain).expect("written");
    daemon.virsh(["define", text(&file)]).expect("defined");
    let up = ["vms", "up", "lv.toml", "--provider=libvirt", &kernel];
    let refused = user.plimsoll(up).with_code(3);
    assert!(refused.err.contains("that Plimsoll did not make"), "{refused:?}");
    assert!(daemon.virsh("domstate t-1").is_some());
    daemon.virsh("undefine t-1").expect("undefined");
    let none = "--set=vms.pool=no-such-pool";
    let refused = user.plimsoll((&up, [none])).with_code(3);
    assert!(refused.err.contains("virsh pool-list"), "{refused:?}");
    // Ended in the middle, it is found.
    let mut up =
        user.command(up).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
    wait_until("a domain", || {
        daemon.virsh("list --name").is_some_and(|names| names.contains("t-1"))
    });
    up.kill().and_then(|()| up.wait()).expect("a process to kill");
    user.plimsoll("vms down t").with_code(0);
    nothing_is_left(&user, &daemon);
    assert_eq!(fs::read_to_string(theirs).expect("there"), "theirs");
}

fn nothing_is_left(user: &User, daemon: &Daemon) {
    user.nothing_is_left();
    let domains = daemon.virsh("list --all --name").expect("an answer");
    assert!(!domains.contains("t-1"), "{domains}");
    assert_eq!(crate::common::names(&daemon.path().join("one")), ["precious.raw"]);
    assert!(crate::common::names(&daemon.path().join("two")).is_empty());
}
