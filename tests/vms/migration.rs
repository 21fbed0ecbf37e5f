//! A machine that migrates between two real libvirts while it is loaded: two nodes on this machine,
//! each with its own host name, files and daemons, behind an `ssh` that enters them.

use super::libvirt::own_files;
use super::{SUITE, User};
use crate::common::{Ended, Folder, Json, Words, alone, ended, has, scratch, text, wait_until};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// KVM of a node is not tried beforehand.
const VMS: &str = "pool = \"shared\"\nconnect = \"qemu+ssh://node1/system\"\n\
                   accelerator = \"tcg\"\n[stages]";

const PARTS: &str = "qemu guest-kernel libvirt virsh nc";

/// Two nodes, with a folder that both have under the same path as a pool.
struct Nodes {
    folder: Folder,
    nodes: Vec<Child>,
}

/// What begins a node: its name, its own files, its daemons. All of it ends with its first process,
/// a shell that waits for whatever ends: libvirt waits until what it killed is gone.
fn script(folder: &Path, number: u32) -> String {
    let home = folder.join(format!("n{number}"));
    fs::create_dir_all(&home).expect("made");
    let conf = format!(
        "auth_unix_ro = \"none\"\nauth_unix_rw = \"none\"\nhost_uuid = \
         \"00000000-0000-4000-8000-{number:012}\"\nlog_outputs = \"3:file:{}/log.txt\"\n",
        home.display()
    );
    fs::write(home.join("conf"), conf).expect("written");
    let hosts = "127.0.0.1 localhost\n127.0.0.2 node1\n127.0.0.3 node2\n";
    fs::write(home.join("hosts"), hosts).expect("written");
    format!(
        "set -e\nhostname node{number}\nmount -t tmpfs none /run\n{own}mount --bind {0}/hosts \
         /etc/hosts\nvirtlogd -d\nlibvirtd -d -f {0}/conf\nwhile sleep 1; do :; done\n",
        home.display(),
        own = own_files(
            &home,
            &["/etc/libvirt", "/var/lib/libvirt", "/var/log/libvirt", "/run/libvirt"]
        ),
    )
}

impl Nodes {
    fn start() -> Nodes {
        let folder = scratch();
        let path = folder.path();
        for name in ["pool", "bin"] {
            fs::create_dir(path.join(name)).expect("made");
        }
        let start = |number: u32| {
            let file = path.join(format!("start{number}"));
            fs::write(&file, script(path, number)).expect("written");
            let out = fs::File::create(path.join(format!("out{number}"))).expect("made");
            Command::new("unshare")
                .args(["--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"])
                .args(["--propagation", "private", "sh", text(&file)])
                .stdin(Stdio::null())
                .stdout(out.try_clone().expect("the same file"))
                .stderr(out)
                .spawn()
                .expect("unshare")
        };
        let nodes = Nodes { nodes: vec![start(1), start(2)], folder };
        nodes.write_ssh();
        for number in [1, 2] {
            wait_until("libvirt", || nodes.virsh(number, "version").is_some());
            let place = nodes.pool();
            let pool = ["pool-create-as", "shared", "dir", "--target", text(&place)];
            nodes.virsh(number, pool).expect("a pool");
        }
        nodes
    }

    /// What reaches the nodes: it enters the one that it is told, and takes the words as ssh does.
    fn write_ssh(&self) {
        let (bin, first) = (self.path().join("bin"), |number: usize| {
            let pid = self.nodes[number].id();
            format!("$(cat /proc/{pid}/task/{pid}/children)")
        });
        let script = format!(
            "#!/bin/sh\nwhile :; do case \"$1\" in -e|-p|-l) shift 2;; --) shift; break;; -*) \
             shift;; *) break;; esac; done\ncase \"$1\" in node1) n={};; node2) n={};; *) exit \
             255;; esac\nshift\nexec nsenter -m -u -p -t $n sh -c \"$*\"\n",
            first(0),
            first(1)
        );
        let ssh = bin.join("ssh");
        fs::write(&ssh, script).expect("written");
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).expect("set");
    }

    fn path(&self) -> &Path {
        &self.folder
    }

    fn pool(&self) -> std::path::PathBuf {
        self.path().join("pool")
    }

    /// The way to programs, with that ssh.
    fn programs(&self) -> String {
        let path = std::env::var("PATH").expect("a path");
        format!("{}:{path}", self.path().join("bin").display())
    }

    /// What virsh writes of a node; `None` where it fails.
    fn virsh(&self, node: u32, words: impl Words) -> Option<String> {
        let mut command = Command::new("virsh");
        command.args(["-q", "-c", &format!("qemu+ssh://node{node}/system")]).args(words.words());
        command.env("LC_ALL", "C").env("PATH", self.programs()).stdin(Stdio::null());
        let output = command.output().expect("virsh");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn nothing_is_left(&self) {
        for node in [1, 2] {
            let domains = self.virsh(node, "list --all --name").expect("an answer");
            assert_eq!(domains.trim(), "", "node{node}");
        }
        assert_eq!(crate::common::names(&self.pool()), [""; 0]);
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            // Its first process goes with it, and with that one all others.
            let _ = node.kill();
            let _ = node.wait();
        }
    }
}

#[test]
fn a_machine_migrates_to_another_node_in_the_midst_of_a_run_which_goes_on() {
    let true = has("a machine that migrates", PARTS) else { return };
    let _alone = alone();
    let (user, nodes) = (User::new(), Nodes::start());
    let suite = SUITE.replace("[stages]", VMS).replace("count = 2", "count = 1");
    let suite = suite.split_once("[[workload]]\nname = \"write\"").expect("two workloads").0;
    let event = "[[event]]\nname = \"migration\"\nat = \"10%\"\nact = \"migrate\"\n\
                 workloads = \"read\"\nto = \"qemu+ssh://node2/system\"\n";
    fs::write(user.home.join("m.toml"), format!("{suite}{event}")).expect("written");
    let kernel = User::kernel();
    let run =
        ("run m.toml --provider=libvirt --set=measure=15s --json --out=r.plimsoll", [&kernel]);
    let told = beside(&user, &nodes, run).with_code(0);
    let json = told.json();
    let events = json["events"].as_array().cloned().unwrap_or_default();
    let ended = |event: &&serde_json::Value| {
        event["kind"] == "command-ended" && event["label"] == "migration"
    };
    let moved = events.iter().find(ended).unwrap_or_else(|| panic!("no migration: {json}"));
    assert!(moved["status"] == 0 && moved["duration_ns"].as_u64() > Some(0), "{moved}");
    let detail = moved["detail"].to_string();
    let parts = ["t-1  migrated in ", " of memory sent", "stood still for "];
    assert!(parts.iter().all(|part| detail.contains(part)), "{moved}");
    // Its one host was there to the end, and no request failed.
    for result in json["results"].list() {
        assert_eq!(result["hosts"].as_array().map(Vec::len), Some(1), "{result}");
    }
    assert_eq!(json.issued("read", "errors"), 0);
    // What was issued is what its kernel counted, before and after.
    user.plimsoll("export r.plimsoll --out=csv").with_code(0);
    let csv = fs::read_to_string(user.home.join("csv/counters.csv")).expect("written");
    assert_eq!(super::counted(&csv, "read_bytes"), json.issued("read", "bytes"));
    user.nothing_is_left();
    nodes.nothing_is_left();
    stays_known_after_kill_9(&user, &nodes, &kernel);
}

/// The program where the nodes' programs are.
fn beside(user: &User, nodes: &Nodes, args: impl Words) -> Ended {
    ended(user.command(args).env("PATH", nodes.programs()))
}

/// Machines that migrated are listed and removed where they are now.
fn stays_known_after_kill_9(user: &User, nodes: &Nodes, kernel: &str) {
    let plimsoll = |args: &str| beside(user, nodes, args);
    beside(user, nodes, ("vms up m.toml --provider=libvirt", [kernel])).with_code(0);
    let to = "vms migrate t --to qemu+ssh://node2/system";
    let same = "vms migrate t --to qemu+ssh://node1/system";
    let refused = plimsoll(same).with_code(3);
    assert!(refused.err.contains("is at qemu+ssh://node1/system already"), "{refused:?}");
    let mut moving = user.command(to);
    moving.env("PATH", nodes.programs()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut moving = moving.spawn().expect("started");
    wait_until("a machine at the second node", || {
        nodes.virsh(2, "list --all --name").is_some_and(|names| names.contains("t-1"))
    });
    moving.kill().and_then(|()| moving.wait()).expect("a process to kill");
    // Whether it arrived or not, it is found.
    wait_until("a machine that runs", || plimsoll("vms list").out.starts_with("t-1  running"));
    let all = "vms list --provider=libvirt --connect=qemu+ssh://node2/system --json";
    let all = plimsoll(all).with_code(0).json();
    assert!(all.as_array().is_some_and(|all| all.len() <= 1), "{all}");
    plimsoll("vms down t").with_code(0);
    nodes.nothing_is_left();
}
