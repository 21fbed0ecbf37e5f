//! A first draft of a testbed file, from what a probe sees on the hosts. What it cannot see stands
//! there as a question, commented out.

mod drives;
mod groups;
mod ports;
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

/// Hosts that a comment names; more are counted.
const MOST_NAMED: usize = 8;

/// Drafts the testbed `name`, whose storage nodes are `hosts`. `unix_ns` is the wall clock, in ns
/// since 1970.
pub fn testbed(name: &str, hosts: &[HostFacts], unix_ns: u64) -> TestbedDraft {
    let mut draft = Draft::default();
    draft.remark(
        "A first draft by `plimsoll inventory --draft`: what the kernels of the hosts tell. Each \
         line with a `?` asks for what they cannot",
    );
    draft.remark(
        "know; answer it in the line below, without the `#`. Every field: \
         docs/reference/testbed.md. Then: plimsoll ceiling THIS-FILE",
    );
    draft.text("name", name);
    draft.ask("What is it, in a sentence?", "description = \"\"");
    let kernel = hosts.first().map_or("", |host| host.kernel.as_str());
    let source = format!("what {} told on {} ({kernel})", counted(hosts), words::utc(unix_ns));
    draft.text("source", &source);
    remote_storage(&mut draft, hosts);
    let groups = groups::of(hosts);
    for (number, group) in groups.iter().enumerate() {
        let name =
            if groups.len() == 1 { "node".to_owned() } else { format!("node-{}", number + 1) };
        nodes(&mut draft, &name, group);
    }
    what_no_probe_knows(&mut draft);
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
            "The hosts mount {}{more} over the network. Are they clients of the storage and not \
             its nodes? Then they belong into [clients] below, and the nodes are others: ask \
             these with --hosts.",
            comment(first)
        ));
    }
}

fn nodes(draft: &mut Draft, name: &str, group: &Group<'_>) {
    draft.table("[[nodes]]");
    let names: Vec<String> =
        group.hosts.iter().take(MOST_NAMED).map(|host| comment(&host.hostname)).collect();
    let more = group.hosts.len() - names.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    draft.remark(&format!("{}{more}: {}.", names.join(", "), comment(processor(group.hosts[0]))));
    draft.text("name", name);
    draft.number("count", group.hosts.len() as u64);
    let inventory = &group.hosts[0].inventory;
    match inventory.sockets {
        0 => draft.ask("How many CPU sockets has each?", "sockets = 2"),
        sockets => draft.number("sockets", u64::from(sockets)),
    }
    match inventory.cores {
        0 => {
            let seen = group.hosts[0].logical_cpus;
            draft.ask(
                &format!("How many cores has each? {seen} logical CPUs are seen."),
                &format!("cores = {seen}"),
            );
        }
        cores => draft.number("cores", u64::from(cores)),
    }
    let memory = group.hosts[0].memory;
    if memory > Bytes(0) {
        draft.remark("What the kernel has of it; a little less than what is built in.");
        draft.text("memory", &format!("{}GiB", gibibytes(memory)));
    }
    if let Some(hypervisor) = &group.hosts[0].hypervisor {
        draft.question(&format!(
            "These are virtual machines ({}). Should the testbed be their hosts? What is shared \
             between them binds earlier than what they see.",
            comment(hypervisor)
        ));
    }
    ports::write(draft, group.hosts[0]);
    drives::write(draft, group.hosts[0]);
}

fn processor(host: &HostFacts) -> &str {
    if host.cpu_model.is_empty() { "the processor's model is not told" } else { &host.cpu_model }
}

/// Memory in GiB, rounded; at least 1.
fn gibibytes(memory: Bytes) -> u64 {
    ((memory.0 as f64 / f64::from(1u32 << 30)).round() as u64).max(1)
}

/// Facts of the storage that stand on no host.
fn what_no_probe_knows(draft: &mut Draft) {
    draft.table("[protection]");
    draft.ask("How many copies are there of every block, the first one included?", "copies = 2");
    draft.ask("Or else: how many data and parity blocks has a stripe?", "data = 4");
    draft.more("parity = 2");
    draft.ask(
        "Do copies live on other drives of a node, on other nodes, or at another site?",
        "placement = \"node\"",
    );
    draft.table("[access]");
    draft.ask("Do requests go to the copy that is near, or to any?", "copies_used = \"near\"");
    draft.table("[cpu]");
    let cost = "What does a read of 4 KiB cost the storage nodes' CPUs, all of them together? CPU \
                share × cores ÷ IOPS of a run tells.";
    draft.ask(cost, "per_read = \"50us\"");
    draft.ask("And a write, its copies included?", "per_write = \"150us\"");
    draft.table("[fabric]");
    draft.ask(
        "What do the switches carry at most, all together? Without it: they block nothing.",
        "bandwidth = \"3.2Tbit/s\"",
    );
    draft.table("[clients]");
    draft.ask(
        "Does the load come from hosts outside of the cluster? How many, with which ports?",
        "count = 4",
    );
    draft.more("ports = 1");
    draft.more("port_speed = \"25Gbit/s\"");
}
