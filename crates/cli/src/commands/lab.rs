//! `plimsoll lab`: a replicated cluster that this machine plays.

use super::{print, print_json};
use crate::args::{HostArgs, LabArgs, LabCommand};
use crate::failure::Failure;
use crate::making::while_making;
use fleet::launch::Via;
use model::note::AboutHosts;
use probe::servers::storage_state::heal_summary;
use provision::lab::{self, Lab, Wanted};
use provision::{Places, Problem};
use report::object;
use report::topics::note;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::os::unix::process::CommandExt;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};
use suite::Label;

/// What `--hosts` says where it means the nodes of the lab.
pub(crate) const HOSTS: &str = "lab";
/// How long a heal may go on without getting any further.
const STANDS_STILL: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(500);

pub(crate) fn lab(args: &LabArgs) -> Result<(), Failure> {
    match &args.what {
        LabCommand::Up { nodes, sites, replicas } => {
            up(Wanted { nodes: *nodes, sites: *sites, replicas: *replicas })
        }
        LabCommand::Status { json } => status(*json),
        LabCommand::Break { node } => {
            let killed = found()?.break_bricks(node)?;
            let bricks = if killed == 1 { "brick" } else { "bricks" };
            print(&format!("killed {killed} {bricks} of {node}\n"))
        }
        LabCommand::Heal => heal(),
        LabCommand::Down => {
            lab::down(&Places::of_user()?)?;
            print("the lab is gone\n")
        }
        LabCommand::Enter { node, command } => {
            let mut entered = found()?.command(node)?;
            Err(Failure::run(format!("nsenter: {}", entered.args(command).exec())))
        }
    }
}

fn found() -> Result<Lab, Problem> {
    lab::find(&Places::of_user()?)
}

fn up(wanted: Wanted) -> Result<(), Failure> {
    let making = while_making("the lab is removed", "plimsoll lab down");
    let began = Instant::now();
    let mut told = |what: &str| eprintln!("{:5.1} s   {what}", began.elapsed().as_secs_f64());
    let lab = lab::up(&Places::of_user()?, wanted, &making.stop, &mut told)?;
    let at_one = wanted.sets_at_one_site();
    let mut text = format!("{}\n", note::of_hosts(&about(&lab)));
    if at_one > 0 {
        let sets = wanted.sets().len();
        let _ = writeln!(text, "sets of copies at one site alone: {at_one} of {sets}");
    }
    let _ = write!(
        text,
        "load it       plimsoll run quick --hosts {HOSTS} --scale 1/20\nremove it     plimsoll \
         lab down\n"
    );
    print(&text)
}

fn about(lab: &Lab) -> AboutHosts {
    let Wanted { nodes, sites, replicas } = lab.wanted;
    AboutHosts::OneMachine { nodes, sites, replicas }
}

fn status(as_json: bool) -> Result<(), Failure> {
    let lab = found()?;
    let states = lab.states();
    let left = left_to_heal(&lab);
    if as_json {
        let row = |state: &lab::NodeState| {
            object! {
                name: state.node.name, site: state.node.site, address: state.node.address,
                runs: state.is_there, bricks: state.bricks, bricks_planned: state.of,
                mounted: state.is_mounted,
            }
        };
        let nodes: Vec<Value> = states.iter().map(row).collect();
        return print_json(&json!({ "nodes": nodes, "mount": lab.mount(), "to_heal": left }));
    }
    let mut text = String::new();
    for state in &states {
        let node = if state.is_there { "runs" } else { "gone" };
        let mount = if state.is_mounted { "mounted" } else { "not mounted" };
        let _ = writeln!(
            text,
            "{:4} {}  {:10}  {node}  {} of {} bricks  {mount}",
            state.node.name, state.node.site, state.node.address, state.bricks, state.of
        );
    }
    let left = left.map_or_else(|| "not known".to_owned(), |left| left.to_string());
    let _ = writeln!(text, "entries to heal: {left}\nmounted at: {}", lab.mount().display());
    print(&text)
}

/// Entries of which a copy is not like the others; `None` where the storage does not say.
fn left_to_heal(lab: &Lab) -> Option<u64> {
    if lab.wanted.replicas == 1 {
        return Some(0);
    }
    let said = lab.ask(&["volume", "heal", "lab", "info", "summary"]).ok()?;
    heal_summary(&said).map(|found| found.to_heal)
}

fn heal() -> Result<(), Failure> {
    let lab = found()?;
    let making = while_making("the storage heals on", "plimsoll lab status");
    let began = Instant::now();
    lab.restart()?;
    let (mut least, mut since) = (u64::MAX, Instant::now());
    loop {
        let states = lab.states();
        let is_whole = states.iter().all(|state| state.bricks == state.of);
        let left = left_to_heal(&lab);
        if is_whole && left == Some(0) {
            let took = began.elapsed().as_secs_f64();
            return print(&format!("healed after {took:.1} s: all copies are alike\n"));
        }
        if making.stop.load(Ordering::SeqCst) {
            return Err(Failure::Interrupted("stopped waiting".to_owned()));
        }
        if left.is_some_and(|left| left < least) {
            (least, since) = (left.unwrap_or(least), Instant::now());
        }
        if since.elapsed() > STANDS_STILL {
            let left = left.map_or_else(|| "not known".to_owned(), |left| left.to_string());
            return Err(Failure::target(format!(
                "the lab does not heal any further (entries left: {left}); look with `plimsoll lab \
                 enter n1 gluster volume heal lab info`"
            )));
        }
        sleep(PAUSE);
    }
}

/// The lab, where `--hosts` means its nodes.
pub(crate) fn named(hosts: &HostArgs) -> Result<Option<Lab>, Failure> {
    match hosts.hosts.as_deref() {
        Some(HOSTS) => Ok(Some(found()?)),
        _ => Ok(None),
    }
}

/// The nodes, and the way to them.
pub(crate) fn way(lab: &Lab) -> Result<(Vec<String>, Via), Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::run(format!("our own program cannot be found: {error}")))?;
    let words = ["lab", "enter", "{host}", "--"].map(str::to_owned);
    let words = std::iter::once(own.to_string_lossy().into_owned()).chain(words).collect();
    let nodes = lab.wanted.nodes().into_iter().map(|node| node.name).collect();
    Ok((nodes, Via::Template(words)))
}

/// The sites as labels of the hosts.
pub(crate) fn labels(lab: &Lab) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    for node in lab.wanted.nodes() {
        match labels.last_mut().filter(|label| label.name == node.site) {
            Some(label) => label.hosts.push(node.name),
            None => labels.push(Label { name: node.site, hosts: vec![node.name], span: 0..0 }),
        }
    }
    labels
}

/// What the record of a run says where one machine plays all nodes.
pub(crate) fn note(hosts: &HostArgs) -> Option<AboutHosts> {
    named(hosts).ok().flatten().map(|lab| about(&lab))
}
