//! A replicated cluster that one machine plays: GlusterFS, each node in namespaces of its own.
//!
//! The namespaces have no names: they, their networks and their mounts go with the processes in
//! them. Every process that is started for a lab carries its folder in its environment, and the
//! folder is made first. So a folder is all that has to be found to remove a lab, whatever ended
//! the process that made it.

mod layout;

pub use layout::{Node, Wanted};

use crate::deployment::{Lock, lock};
use crate::places::{self, Places};
use crate::tool::{self, Call};
use crate::{Outcome, Problem, processes};
use layout::{SWITCH, VOLUME};
use rustix::process::{Signal, geteuid};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NODE: &str = include_str!("node.sh");
const SITES: &str = include_str!("switch.sh");
/// What a lab is made with, and the package of Debian that has it.
const PROGRAMS: [(&str, &str); 7] = [
    ("glusterd", "glusterfs-server"),
    ("gluster", "glusterfs-cli"),
    ("mount.glusterfs", "glusterfs-client"),
    ("ip", "iproute2"),
    ("unshare", "util-linux"),
    ("nsenter", "util-linux"),
    ("setsid", "util-linux"),
];
/// What a service takes to come up, at the most.
const START: Duration = Duration::from_secs(60);
/// One command to it.
const COMMAND: Duration = Duration::from_secs(120);
/// What processes take to end that were killed.
const END: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);
/// The record, and what it is called until it is whole.
const FILE: &str = "lab.json";
const PART: &str = "lab.json.part";
const LONGEST: u64 = 1 << 16;

/// A lab on this machine's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lab {
    /// What it is.
    pub wanted: Wanted,
    folder: PathBuf,
}

/// What is on record once all of a lab is there.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    format: u32,
    wanted: Wanted,
}

/// What a node does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeState {
    /// The node.
    pub node: Node,
    /// Its namespaces are there.
    pub is_there: bool,
    /// How many of its bricks run.
    pub bricks: usize,
    /// How many it has.
    pub of: usize,
    /// The volume is mounted there.
    pub is_mounted: bool,
}

/// Makes a lab and says how far it is. Where that fails, or `stop` is set, nothing of it is left.
///
/// # Errors
/// Why not.
pub fn up(
    places: &Places,
    wanted: Wanted,
    stop: &AtomicBool,
    told: &mut dyn FnMut(&str),
) -> Outcome<Lab> {
    wanted.check()?;
    can_be_made()?;
    let folder = places.lab();
    is_plain_path(&folder)?;
    places::make_all(places.state.parent().unwrap_or(&places.state))?;
    let is_new = places::make_new(&folder)?;
    is_new.ok_or_else(|| {
        Problem::unfit(
            format!("a lab is there already, or what is left of one ({})", folder.display()),
            "`plimsoll lab status` shows it, `plimsoll lab down` removes it",
        )
    })?;
    let held = lock(&folder, VOLUME)?;
    tool::work_for(&folder);
    let lab = Lab { wanted, folder };
    let made = make(&lab, stop, told).map_err(|problem| match stop.load(Ordering::SeqCst) {
        true => Problem::Stopped,
        false => problem,
    });
    match made {
        Ok(()) => Ok(lab),
        Err(first) => match remove(&lab.folder, held) {
            Ok(()) => Err(first),
            Err(then) => Err(Problem::Leftover { first: Box::new(first), then: Box::new(then) }),
        },
    }
}

/// The lab on record, whole.
///
/// # Errors
/// There is none, or what there is was never finished or is not ours.
pub fn find(places: &Places) -> Outcome<Lab> {
    let folder = places.lab();
    if folder.symlink_metadata().is_err() {
        return Err(none());
    }
    places::is_ours(&folder)?;
    let path = folder.join(FILE);
    let text = places::read(&path, LONGEST).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Problem::unfit(
            "the lab is being made, or its making was cut short",
            "wait, or remove it with `plimsoll lab down`",
        ),
        _ => Problem::file("read", &path, &error),
    })?;
    let wrong = |why| Problem::NotOurs { path: path.clone(), why };
    let record: Record = serde_json::from_str(&text).map_err(|_| wrong("is no record of a lab"))?;
    if record.format != 1 || record.wanted.check().is_err() {
        return Err(wrong("is no sound record of a lab"));
    }
    Ok(Lab { wanted: record.wanted, folder })
}

/// Removes a lab, or what is left of one: its processes, with them its namespaces and mounts, and
/// its folder.
///
/// # Errors
/// There is none, somebody makes it just now, or what could not be removed.
pub fn down(places: &Places) -> Outcome {
    let folder = places.lab();
    if folder.symlink_metadata().is_err() {
        return Err(none());
    }
    places::is_ours(&folder)?;
    remove(&folder, lock(&folder, VOLUME)?)
}

fn none() -> Problem {
    Problem::unfit("there is no lab", "make one with `plimsoll lab up`")
}

impl Lab {
    /// Where each host of a run finds the volume: the same path on all of them.
    pub fn mount(&self) -> PathBuf {
        self.folder.join("mnt")
    }

    /// The command of another program, to be run on a node.
    ///
    /// # Errors
    /// There is no such node, or it does not run.
    pub fn command(&self, node: &str) -> Outcome<Command> {
        self.node(node)?;
        let mut command = Command::new("nsenter");
        command.args(self.entry(node)?);
        tool::mark(&mut command, &self.folder);
        Ok(command)
    }

    /// What the storage's own command says on the first node that answers.
    ///
    /// # Errors
    /// None does.
    pub fn ask(&self, words: &[&str]) -> Outcome<String> {
        let asked =
            |node: &Node| self.on(&node.name, &[&["gluster", "--mode=script"], words].concat());
        let nodes = self.wanted.nodes();
        let mut answers = nodes.iter().map(asked);
        let first = answers.next().unwrap_or_else(|| Err(none()));
        first.or_else(|problem| answers.find_map(Result::ok).ok_or(problem))
    }

    /// What each node does.
    pub fn states(&self) -> Vec<NodeState> {
        let (bricks, mount) = (self.bricks(), self.mount());
        let of = |(number, node): (u32, Node)| {
            let holder = self.holder(&node.name);
            let mounts =
                holder.and_then(|pid| fs::read_to_string(format!("/proc/{pid}/mounts")).ok());
            let is_it = |line: &str| line.split(' ').nth(1).map(Path::new) == Some(&*mount);
            NodeState {
                is_there: holder.is_some(),
                bricks: bricks.iter().filter(|at| at.option("-s") == Some(&node.address)).count(),
                of: self.wanted.sets().iter().filter(|set| set.contains(&number)).count(),
                is_mounted: mounts.is_some_and(|text| text.lines().any(is_it)),
                node,
            }
        };
        (0..).zip(self.wanted.nodes()).map(of).collect()
    }

    /// Kills the bricks of a node, as a crash does; gives how many.
    ///
    /// # Errors
    /// There is no such node, or none of its bricks runs.
    pub fn break_bricks(&self, node: &str) -> Outcome<usize> {
        let address = self.node(node)?.address;
        let is_it = |found: &processes::Found| {
            found.option("-s") == Some(&address) && tool::is_for(found.pid, &self.folder)
        };
        let bricks: Vec<_> = self.bricks().into_iter().filter(&is_it).collect();
        bricks.iter().for_each(|at| processes::send(at, BRICK, &is_it, Signal::KILL));
        match bricks.len() {
            0 => Err(Problem::unfit(
                format!("no brick of {node} runs"),
                "`plimsoll lab heal` starts it again",
            )),
            count => Ok(count),
        }
    }

    /// Starts every brick that does not run, and has the volume heal. Nothing is waited for.
    ///
    /// # Errors
    /// What the storage said.
    pub fn restart(&self) -> Outcome {
        self.ask(&["volume", "start", VOLUME, "force"])?;
        if self.wanted.replicas > 1 {
            // The daemon that heals may still be on its way; it looks by itself, too.
            let _ = self.ask(&["volume", "heal", VOLUME]);
        }
        Ok(())
    }

    fn node(&self, name: &str) -> Outcome<Node> {
        let nodes = self.wanted.nodes();
        let most = nodes.len();
        nodes.into_iter().find(|node| node.name == name).ok_or_else(|| {
            Problem::unfit(format!("the lab has no node {name}"), format!("write n1 to n{most}"))
        })
    }

    fn bricks(&self) -> Vec<processes::Found> {
        let all = processes::all(BRICK).into_iter();
        all.filter(|found| tool::is_for(found.pid, &self.folder)).collect()
    }

    /// The process that holds a node's namespaces, or the switch's.
    fn holder(&self, name: &str) -> Option<i32> {
        let text = places::read(&self.folder.join(name).join("pid"), LONGEST).ok()?;
        text.trim().parse().ok().filter(|pid| tool::is_for(*pid, &self.folder))
    }

    /// The arguments of `nsenter` for a node.
    fn entry(&self, node: &str) -> Outcome<Vec<String>> {
        let gone = || {
            Problem::unfit(
                format!("the node {node} of the lab does not run"),
                "make the lab again: `plimsoll lab down`, then `plimsoll lab up`",
            )
        };
        let pid = self.holder(node).ok_or_else(gone)?.to_string();
        Ok(["-t", &pid, "-n", "-m", "-u", "--"].map(str::to_owned).into())
    }

    fn on(&self, node: &str, words: &[&str]) -> Outcome<String> {
        let mut all = self.entry(node)?;
        all.extend(words.iter().map(|word| (*word).to_owned()));
        let arguments: Vec<&OsStr> = all.iter().map(OsStr::new).collect();
        let call = Call {
            program: "nsenter",
            package: "util-linux",
            arguments: &arguments,
            within: COMMAND,
            is_change: false,
            alive: None,
        };
        call.fed(&mut |_| Ok(()))
    }
}

/// The program of a brick.
const BRICK: &str = "glusterfsd";

/// Refuses where a lab cannot be made: nothing is touched until then.
fn can_be_made() -> Outcome {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_here =
        |program: &str| std::env::split_paths(&folders).any(|at| at.join(program).is_file());
    let lacking: Vec<_> = PROGRAMS.iter().filter(|(program, _)| !is_here(program)).collect();
    if !lacking.is_empty() {
        let programs: Vec<&str> = lacking.iter().map(|(program, _)| *program).collect();
        let mut packages: Vec<&str> = lacking.iter().map(|(_, package)| *package).collect();
        packages.dedup();
        return Err(Problem::unfit(
            format!("a lab needs {}, and PATH has none", programs.join(", ")),
            format!("install {} (the names are Debian's)", packages.join(" ")),
        ));
    }
    if !geteuid().is_root() {
        return Err(Problem::unfit("a lab needs root for its namespaces", "run it with sudo"));
    }
    match Path::new("/dev/fuse").exists() {
        true => Ok(()),
        false => Err(Problem::unfit("there is no /dev/fuse here", "load the module fuse")),
    }
}

/// Paths of bricks are read by programs that know neither blanks nor commas in them.
fn is_plain_path(folder: &Path) -> Outcome {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match folder.to_str().is_some_and(|path| path.chars().all(is_plain)) {
        true => Ok(()),
        false => Err(Problem::unfit(
            format!("GlusterFS takes no such path: {}", folder.display()),
            "set XDG_STATE_HOME to one of letters, digits and /._- alone",
        )),
    }
}

fn make(lab: &Lab, stop: &AtomicBool, told: &mut dyn FnMut(&str)) -> Outcome {
    let nodes = lab.wanted.nodes();
    let folder = |name: &str| {
        let make = |path: PathBuf| {
            fs::create_dir_all(&path).map_err(|error| Problem::file("make", &path, &error))
        };
        ["lib", "log"].iter().try_for_each(|one| make(lab.folder.join(name).join(one)))
    };
    folder(SWITCH)?;
    places::make_all(&lab.mount())?;
    let mut sites: Vec<&str> = nodes.iter().map(|node| node.site.as_str()).collect();
    sites.dedup();
    let mut switch = vec![Held::start(lab, SWITCH, SITES, &sites)?];
    let pid = wait(&mut switch, lab, stop)?.concat();
    let node = |node: &Node| {
        folder(&node.name)?;
        Held::start(lab, &node.name, NODE, &[&node.name, &node.address, &node.site, &pid])
    };
    let mut held = nodes.iter().map(node).collect::<Outcome<Vec<Held>>>()?;
    wait(&mut held, lab, stop)?;
    told("nodes are there");
    for node in &nodes[1..] {
        let probe = || lab.ask(&["peer", "probe", &node.address]).map(|_| ());
        patiently(stop, probe)?;
    }
    let create = lab.wanted.create(&lab.folder);
    let create: Vec<&str> = create.iter().map(String::as_str).collect();
    // Until all nodes know one another, it refuses.
    patiently(stop, || lab.ask(&create).map(|_| ()))?;
    // A node that is gone is noticed within seconds instead of most of a minute.
    lab.ask(&["volume", "set", VOLUME, "network.ping-timeout", "5"])?;
    patiently(stop, || lab.ask(&["volume", "start", VOLUME]).map(|_| ()))?;
    told("volume is started");
    let mount = lab.mount().display().to_string();
    for node in &nodes {
        let source = format!("{}:/{VOLUME}", node.address);
        patiently(stop, || {
            lab.on(&node.name, &["mount", "-t", "glusterfs", &source, &mount]).map(|_| ())
        })?;
    }
    told("volume is mounted on every node");
    lab.record()
}

impl Lab {
    /// Says that all of it is there, whole or not at all.
    fn record(&self) -> Outcome {
        let record = Record { format: 1, wanted: self.wanted };
        let (part, whole) = (self.folder.join(PART), self.folder.join(FILE));
        let text = serde_json::to_string(&record).map_err(std::io::Error::from);
        let written = text.and_then(|text| fs::write(&part, text));
        let written = written.and_then(|()| fs::rename(&part, &whole));
        written.map_err(|error| Problem::file("write", &whole, &error))
    }
}

/// Does it until it is done, or a service had time enough to come up.
fn patiently(stop: &AtomicBool, mut work: impl FnMut() -> Outcome) -> Outcome {
    let deadline = Instant::now() + START;
    loop {
        if stop.load(Ordering::SeqCst) {
            return Err(Problem::Stopped);
        }
        match work() {
            Err(problem) if Instant::now() > deadline => return Err(problem),
            Err(_) => sleep(PAUSE),
            Ok(()) => return Ok(()),
        }
    }
}

/// A process that holds namespaces, on its way up.
struct Held {
    name: String,
    process: std::process::Child,
}

impl Held {
    fn start(lab: &Lab, name: &str, script: &str, arguments: &[&str]) -> Outcome<Held> {
        let folder = lab.folder.join(name);
        let log = folder.join("log/start");
        let cannot = |error: std::io::Error| Problem::file("start", &folder, &error);
        let out = File::create(&log).map_err(cannot)?;
        let mut command = Command::new("setsid");
        command.args(["unshare", "--net", "--mount", "--uts", "sh", "-c", script, "sh"]);
        command.arg(&folder).args(arguments).env("LC_ALL", "C");
        tool::mark(&mut command, &lab.folder);
        let errors = out.try_clone().map_err(cannot)?;
        command.stdin(Stdio::null()).stdout(out).stderr(errors);
        let process = command.spawn().map_err(cannot)?;
        Ok(Held { name: name.to_owned(), process })
    }
}

/// Waits until all of them hold their namespaces; gives their processes.
fn wait(all: &mut [Held], lab: &Lab, stop: &AtomicBool) -> Outcome<Vec<String>> {
    let mut pids = Vec::new();
    for held in all {
        let failed = |held: &Held| {
            let log = lab.folder.join(&held.name).join("log/start");
            let said = places::read(&log, LONGEST).unwrap_or_default();
            Problem::tool(format!("unshare … sh ({})", held.name), tool::last_words(&said))
        };
        let deadline = Instant::now() + START;
        pids.push(loop {
            if stop.load(Ordering::SeqCst) {
                return Err(Problem::Stopped);
            }
            if let Some(pid) = lab.holder(&held.name) {
                break pid.to_string();
            }
            if Instant::now() > deadline || !matches!(held.process.try_wait(), Ok(None)) {
                return Err(failed(held));
            }
            sleep(PAUSE);
        });
    }
    Ok(pids)
}

/// Ends what carries the folder of a lab, and removes it. What is mounted is mounted in namespaces
/// of those processes; where anything is mounted in the folder here, somebody else did it.
fn remove(folder: &Path, held: Lock) -> Outcome {
    if let Some(pid) = tool::end_all(folder, END) {
        return Err(Problem::Undying { machine: VOLUME.to_owned(), pid });
    }
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let is_below =
        |line: &str| line.split(' ').nth(1).is_some_and(|at| Path::new(at).starts_with(folder));
    if mounts.lines().any(is_below) {
        return Err(Problem::NotOurs {
            path: folder.to_owned(),
            why: "has something mounted in it that no lab mounted there",
        });
    }
    let removed = fs::remove_dir_all(folder);
    drop(held);
    removed.map_err(|error| Problem::file("remove", folder, &error))
}

#[cfg(test)]
mod tests;
