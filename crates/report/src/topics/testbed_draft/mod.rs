//! A first draft of a testbed file, from what a probe sees on the hosts. What it cannot see stands
//! there as a question, commented out.

pub(super) mod drives;
mod groups;
pub(super) mod ports;
#[cfg(test)]
mod tests;
mod text;

use crate::ground::words;
use groups::Group;
use model::Bytes;
use model::testbed::HostFacts;
use text::{Draft, comment};

/// A testbed file with gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestbedDraft {
    /// The file: `plimsoll ceiling` accepts it as it is, and leaves out what rests on an open
    /// question.
    pub text: String,
    /// Questions that it asks.
    pub questions: usize,
}

const MOST_NAMED: usize = 8;

/// Facts of the storage that stand on no host, each as a question.
const UNKNOWN: &str = include_str!("unknown.toml");

/// Drafts the testbed `name`, whose storage nodes are `hosts`. `unix_ns` is the wall clock, in ns
/// since 1970.
pub fn testbed(name: &str, hosts: &[HostFacts], unix_ns: u64) -> TestbedDraft {
    let mut draft = Draft::default();
    for line in [
        "A first draft by `plimsoll inventory --draft`, from what the hosts' kernels report.",
        "Each line with a `?` asks for a fact that no kernel knows.",
        "Answer it in the line below, and remove the `#` there.",
        "Every field: docs/reference/testbed.md. Then run: plimsoll ceiling THIS-FILE",
    ] {
        draft.remark(line);
    }
    draft.text("name", name);
    draft.ask("What is it, in a sentence?", "description = \"\"");
    let kernel = hosts.first().map_or("", |host| host.kernel.as_str());
    let source = format!("{}, inspected on {} ({kernel})", counted(hosts), words::utc(unix_ns));
    draft.text("source", &source);
    remote_storage(&mut draft, hosts);
    let groups = groups::of(hosts);
    for (number, group) in groups.iter().enumerate() {
        let name =
            if groups.len() == 1 { "node".to_owned() } else { format!("node-{}", number + 1) };
        nodes(&mut draft, &name, group);
    }
    draft.open(UNKNOWN);
    draft.finish()
}

fn counted(hosts: &[HostFacts]) -> String {
    words::counted(hosts.len() as u64, "host")
}

/// Hosts that mount their data from elsewhere are clients, most likely.
fn remote_storage(draft: &mut Draft, hosts: &[HostFacts]) {
    let mounts = hosts.iter().flat_map(|host| &host.inventory.mounts).filter(|mount| mount.network);
    let mut sources: Vec<&str> = mounts.map(|mount| mount.source.as_str()).collect();
    sources.sort_unstable();
    sources.dedup();
    if let Some(first) = sources.first() {
        let more = if sources.len() > 1 { " and others" } else { "" };
        draft.question(&format!(
            "The hosts mount {}{more} over the network. Are they clients of the storage, not its \
             nodes? Then move them to [clients], and inspect the nodes with --hosts.",
            comment(first)
        ));
    }
}

fn nodes(draft: &mut Draft, name: &str, group: &Group<'_>) {
    draft.table("[[nodes]]");
    let names: Vec<String> = group.hosts.iter().map(|host| comment(&host.hostname)).collect();
    let names = words::first_of(&names, MOST_NAMED, ", ");
    draft.remark(&format!("{names}: {}.", comment(processor(group.hosts[0]))));
    draft.text("name", name);
    draft.number("count", group.hosts.len() as u64);
    let inventory = &group.hosts[0].inventory;
    match inventory.sockets {
        0 => draft.ask("How many CPU sockets does each have?", "sockets = 2"),
        sockets => draft.number("sockets", u64::from(sockets)),
    }
    match inventory.cores {
        0 => {
            let seen = group.hosts[0].logical_cpus;
            draft.ask(
                &format!("How many cores does each have? The kernel sees {seen} logical CPUs."),
                &format!("cores = {seen}"),
            );
        }
        cores => draft.number("cores", u64::from(cores)),
    }
    let memory = group.hosts[0].memory;
    if memory > Bytes(0) {
        draft.remark("As the kernel reports it, a little less than is installed.");
        draft.text("memory", &format!("{}GiB", gibibytes(memory)));
    }
    if let Some(hypervisor) = &group.hosts[0].hypervisor {
        draft.question(&format!(
            "These are virtual machines ({}). Should the testbed describe their hosts? What the \
             machines share is the earlier limit.",
            comment(hypervisor)
        ));
    }
    ports::write(draft, group.hosts[0]);
    drives::write(draft, group.hosts[0]);
}

fn processor(host: &HostFacts) -> &str {
    if host.cpu_model.is_empty() { "processor model unknown" } else { &host.cpu_model }
}

/// Memory in GiB, rounded; at least 1.
fn gibibytes(memory: Bytes) -> u64 {
    ((memory.0 as f64 / f64::from(1u32 << 30)).round() as u64).max(1)
}
