//! Virtual machines that carry a run: real qemu, a distribution's kernel, and nothing left.

mod acts;
mod liars;
mod libvirt;
mod migration;
mod nodes;
mod program;
mod troubles;
mod vsphere;

use crate::common::{Ended, Folder, Json, Words, alone, command, ended, has, scratch};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PARTS: &str = "qemu guest-kernel";

/// Where `cargo xtask test` puts the kernel's package; it is unpacked beside it, once.
fn kernels() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder").join("guest-kernel")
}

/// A user of their own: state, cache, and an empty folder to work in.
struct User {
    home: Folder,
}

impl User {
    fn new() -> User {
        User { home: scratch() }
    }

    fn command(&self, args: impl Words) -> Command {
        let mut command = command(&self.home, args);
        // Sockets have short paths.
        command.env("XDG_STATE_HOME", self.home.join("s"));
        command.env("XDG_CACHE_HOME", kernels().join("cache"));
        command
    }

    fn plimsoll(&self, args: impl Words) -> Ended {
        self.command(args).output().expect("the program starts").into()
    }

    fn kernel() -> String {
        format!("--guest-kernel={}", kernels().join("kernel.deb").display())
    }

    /// Where machines are on record.
    fn state(&self) -> PathBuf {
        self.home.join("s/plimsoll/vms")
    }

    /// Processes whose command line names this user's state folder.
    fn processes(&self) -> Vec<String> {
        let entries = fs::read_dir("/proc").expect("there").flatten();
        let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
        let of_state = self.state().display().to_string();
        lines.filter(|line| line.contains(&of_state)).collect()
    }

    fn nothing_is_left(&self) {
        let left: Vec<_> =
            fs::read_dir(self.state()).into_iter().flatten().flatten().map(|e| e.path()).collect();
        assert!(left.is_empty() && self.processes().is_empty(), "{left:?} {:?}", self.processes());
        assert_eq!(self.plimsoll("vms list").with_code(0).out, "no machines\n");
    }
}

/// Its workers rest after each few requests: what is done to machines is done to any load, and a
/// full one would take the processors that emulate its guests.
const SUITE: &str = "\
name = \"small\"
[vms]
name = \"t\"
count = 2
memory = \"384MiB\"
disk_size = \"32MiB\"
[stages]
measure = \"500ms\"
interval = \"100ms\"
[[workload]]
name = \"read\"
depth = 4
workers = 1
think = \"2ms\"
burst = 4
[[workload]]
name = \"write\"
read = \"0%\"
depth = 4
workers = 1
think = \"2ms\"
burst = 4
";

/// What each worker does of each workload where a test counts.
const AMOUNT: &str = "--set=stages.amount=1MiB";
/// What this machine did below its guests stands beside what they did.
fn below_the_guests(json: &serde_json::Value) {
    let notes = json["notes"].list();
    let of_node = notes.iter().find(|note| note["code"] == "below-guests").expect("a note");
    let message = of_node["message"].text();
    for words in ["this machine: CPU ", " for guests", "CPUs busy", "disks read "] {
        assert!(message.contains(words), "{message}");
    }
    assert!(!message.contains("did not run there"), "both run: {message}");
}

/// The sum of what the guests' kernels counted of one kind at their disks.
fn counted(csv: &str, metric: &str) -> u64 {
    let of_metric = |line: &&str| line.contains(&format!(",block,vda,{metric},sum,"));
    let values = csv.lines().filter(of_metric).filter_map(|line| line.rsplit(',').next());
    values.map(|value| value.parse::<u64>().expect("a number")).sum()
}

#[test]
fn a_run_makes_its_machines_loads_them_and_leaves_nothing() {
    let true = has("machines under real qemu", PARTS) else { return };
    let _alone = alone();
    let user = User::new();
    fs::write(user.home.join("small.toml"), SUITE).expect("written");
    let kernel = User::kernel();
    let planned =
        user.plimsoll(["plan", "small.toml", "--provider=qemu", &kernel, "--json"]).with_code(0);
    let planned = planned.json();
    assert_eq!(planned["machines"], serde_json::json!(["t-1", "t-2"]));
    assert_eq!(planned["nodes"].as_array().map(Vec::len), Some(1), "{planned}");
    user.nothing_is_left();
    // An amount, not a time: two emulated guests share the processors with other work, and one may
    // get none for as long as a short stage lasts.
    let (run, amount) = (["run", "small.toml", "--provider=qemu", &kernel], AMOUNT);
    let run = (&run, [amount, "--json", "--out=r.plimsoll"]);
    let told = user.plimsoll(run).with_code(0);
    // How long each guest took to come up.
    let words = ["qemu made t-[1-2]", "agents after", "first reads after"];
    assert!(words.iter().all(|words| told.err.contains(words)), "{}", told.err);
    let json = told.json();
    for result in json["results"].list() {
        let hosts = result["hosts"].list();
        let names: Vec<_> = hosts.iter().map(|host| host["host"].as_str()).collect();
        assert_eq!(names, [Some("t-1"), Some("t-2")]);
        // Each did its whole amount: 256 blocks of 4 KiB. With the last write comes a flush.
        let ios = if result["op"] == "fsync" { 1 } else { 256 };
        assert!(hosts.iter().all(|host| host["ios"].as_u64() == Some(ios)), "{hosts:?}");
    }
    below_the_guests(&json);
    user.nothing_is_left();
    // What we issued in the guests is what their kernels counted.
    user.plimsoll("export r.plimsoll --out=csv").with_code(0);
    let csv = fs::read_to_string(user.home.join("csv/counters.csv")).expect("written");
    let issued = |op: &str, field: &str| json.issued(op, field);
    let flushes = issued("fsync", "ios") + json["flush_probes"]["ios"].count();
    assert_eq!(counted(&csv, "read_bytes"), issued("read", "bytes"));
    assert_eq!(counted(&csv, "write_bytes"), issued("write", "bytes"));
    assert_eq!(counted(&csv, "flushes"), flushes);
}

#[test]
fn machines_that_cannot_be_are_refused_in_words_and_leave_nothing() {
    let true = has("machines that cannot be", PARTS) else { return };
    let _alone = alone();
    let user = User::new();
    let kernel = User::kernel();
    let refused = |code: i32, what: &str, args: &[&str]| {
        let said = user.plimsoll(("run quick --provider=qemu", args)).with_code(code).err;
        assert!(said.contains(what), "{what}: {said}");
        user.nothing_is_left();
    };
    refused(3, "lower vms.count or vms.memory", &[&kernel, "--set=vms.memory=1024GiB"]);
    refused(3, "another folder with vms.pool", &[&kernel, "--set=vms.disk_size=1024TiB"]);
    refused(3, "/no/such/pool", &[&kernel, "--set=vms.pool=/no/such/pool"]);
    refused(3, "check its space and rights", &["--guest-kernel=/no/such/kernel"]);
    refused(2, "cannot be the name of machines", &[&kernel, "--set=vms.name=../x"]);
    refused(2, "leave out other targets", &[&kernel, "--target=/x"]);
    refused(3, "or a larger vms.disk_size", &[&kernel, "--set=vms.disk_size=16MiB"]);
    let note = user.home.join("note");
    fs::write(&note, "no disk").expect("written");
    let image = format!("--guest={}", note.display());
    refused(3, "is no disk to boot from", &[&image]);
    refused(3, "check its space and rights", &["--guest=/no/such/image"]);
    refused(2, "cannot be used with", &[&kernel, &image]);
    // No guest boots in that time under emulation.
    refused(
        3,
        "has no agent within 1 s",
        &[
            &kernel,
            "--set=vms.boot=1s",
            "--set=vms.accelerator=tcg",
            "--set=vms.disk_size=256MiB",
            "--set=vms.content=zero",
        ],
    );
    let unknown = user.plimsoll("run quick --hosts=vms:none").with_code(2);
    assert!(unknown.err.contains("no machines called none"), "{unknown:?}");
    let mut without = user.command(("run quick --provider=qemu", [&kernel]));
    let without = ended(without.env("PATH", "/no/such"));
    assert!(without.with_code(3).err.contains("install the package qemu-system-x86"));
}
