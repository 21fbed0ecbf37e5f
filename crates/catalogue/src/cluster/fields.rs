//! Every field of a `testbed.toml`. `"auto"` means that nobody said: what rests on it is left out,
//! or rests on a named assumption.

use super::bandwidth::Bandwidth;
use super::software::{FittedRowSpec, SoftwareSpec};
use form::{Auto, Count, spec_table, words};
use model::units::{Bytes, Nanos, Percent};

words! {
    /// Where the copies of a block, or the parts of a stripe, live.
    pub enum Placement {
        /// On other drives of the same node.
        Drive = "drive",
        /// On other nodes.
        Node = "node",
        /// Half of the copies at each of two sites.
        Site = "site",
    }
}

words! {
    /// What the cache tier is for.
    pub enum CacheKind {
        /// There is none.
        None = "none",
        /// Reads alone: writes go past it.
        Read = "read",
        /// Writes alone: they wait there until they are destaged.
        Write = "write",
        /// Both.
        ReadWrite = "read-write",
    }
}

words! {
    /// In what order the cache tier destages to the capacity drives.
    pub enum Destage {
        /// Block by block, wherever each belongs.
        Random = "random",
        /// Gathered and in the order of addresses: the most favourable case.
        Sequential = "sequential",
    }
}

words! {
    /// Which copies requests of a node reach.
    pub enum CopiesUsed {
        /// A copy on the same node wherever there is one: copies ÷ nodes of the reads, and one copy
        /// of every write.
        Near = "near",
        /// Any: 1 ÷ nodes of the reads, copies ÷ nodes of the writes.
        Any = "any",
    }
}

words! {
    /// What a drive is used for.
    pub enum Role {
        /// Data rests here.
        Capacity = "capacity",
        /// A tier before the capacity drives.
        Cache = "cache",
        /// The operating system: no load.
        Boot = "boot",
        /// A log of its own: no load in these ceilings.
        Journal = "journal",
    }
}

spec_table! {
    /// The top of the file.
    pub struct TopSpec {
        /// The testbed's name.
        name: String,
        /// What it is, in a sentence.
        description: String = String::new(),
        /// Where the facts come from.
        source: String = String::new(),
    }
}

spec_table! {
    /// How data survives a loss: copies, or data and parity.
    pub struct ProtectionSpec {
        /// Copies of every block, the first one included.
        copies: Auto<Count> = Auto::Auto,
        /// Data blocks of a stripe, where parity protects instead of copies.
        data: Auto<Count> = Auto::Auto,
        /// Parity blocks of a stripe.
        parity: Auto<Count> = Auto::Auto,
        /// Where copies and parts of stripes live.
        placement: Placement = Placement::Node,
    }
}

spec_table! {
    /// Where requests come from and whom they reach.
    pub struct AccessSpec {
        /// Which copies are used, where the load runs on the nodes. `"auto"`: `"near"`, the
        /// favourable case.
        copies_used: Auto<CopiesUsed> = Auto::Auto,
        /// Virtual machines on the nodes that load the cluster; a simulation has as many hosts.
        /// `"auto"`: one on each node. With clients of their own, none.
        machines: Auto<Count> = Auto::Auto,
        /// The share of reads that the node answers that asks. `"auto"`: by `copies_used`. With
        /// clients of their own, none.
        local_reads: Auto<Percent> = Auto::Auto,
        /// The share of writes of which one copy stays on the node that writes. `"auto"`: by
        /// `copies_used`. A simulation spreads all copies.
        local_writes: Auto<Percent> = Auto::Auto,
        /// The share of reads that the other site answers.
        remote_site_reads: Percent = Percent::ZERO,
        /// The share of writes that the other site has to order first, on top of the copies that go
        /// there.
        remote_site_writes: Percent = Percent::ZERO,
        /// Bytes of a shared file that clients have one token for; a simulation alone asks for it.
        /// `"auto"`: 1 MiB.
        token_block: Auto<Bytes> = Auto::Auto,
    }
}

spec_table! {
    /// A tier before the capacity drives.
    pub struct CacheSpec {
        /// What it is for. `"auto"`: reads and writes, where drives have the role `cache`.
        kind: Auto<CacheKind> = Auto::Auto,
        /// The share of the cache drives' capacity that keeps blocks for reads. `"auto"`: all of
        /// it.
        read_share: Auto<Percent> = Auto::Auto,
        /// The share that takes up writes before it has to destage. `"auto"`: all of it.
        write_share: Auto<Percent> = Auto::Auto,
        /// How many copies of a block it keeps for reads. `"auto"`: as many bytes as the block
        /// takes with its protection.
        read_copies: Auto<Count> = Auto::Auto,
        /// In what order it destages.
        destage: Destage = Destage::Random,
        /// What a read that misses brings into the cache; a prediction alone asks for it. `"auto"`:
        /// what was read and no more.
        line: Auto<Bytes> = Auto::Auto,
    }
}

spec_table! {
    /// What a request costs the storage nodes' CPUs, as it was measured; core time of all nodes
    /// together.
    pub struct CpuSpec {
        /// For each read.
        per_read: Auto<Nanos> = Auto::Auto,
        /// For each write, copies included.
        per_write: Auto<Nanos> = Auto::Auto,
        /// For each MiB that moves, besides.
        per_mib: Nanos = Nanos(0),
        /// For each look at a directory, an inode or a token of a shared file; no ceiling asks for
        /// it. `"auto"`: 50 µs (docs/method has the source).
        per_lookup: Auto<Nanos> = Auto::Auto,
        /// For each change of a directory or an inode; no ceiling asks for it. `"auto"`: 200 µs
        /// (docs/method has the source).
        per_change: Auto<Nanos> = Auto::Auto,
    }
}

spec_table! {
    /// What lies between nodes.
    pub struct FabricSpec {
        /// The most that all switches carry at the same time. `"auto"`: they block nothing.
        bandwidth: Auto<Bandwidth> = Auto::Auto,
        /// The path between two sites, each way.
        site_link: Auto<Bandwidth> = Auto::Auto,
    }
}

spec_table! {
    /// Hosts that load the cluster from outside. Without this table the load runs on the nodes.
    pub struct ClientsSpec {
        /// How many.
        count: Auto<Count> = Auto::Auto,
        /// The memory of each. Simulated hosts have 16 GiB without it.
        memory: Auto<Bytes> = Auto::Auto,
        /// Ports of each.
        ports: Auto<Count> = Auto::Auto,
        /// The speed of each port, each way.
        port_speed: Auto<Bandwidth> = Auto::Auto,
        /// The share of that speed which payload can have.
        port_efficiency: Percent = Percent::ALL,
        /// What one port carried one way between hosts over TCP, as measured (`plimsoll network`).
        /// `"auto"`: `port_speed` times `port_efficiency`.
        port_one_way: Auto<Bandwidth> = Auto::Auto,
        /// What one port carried in both directions together, as measured. `"auto"`: twice as much
        /// as one way.
        port_both_ways: Auto<Bandwidth> = Auto::Auto,
        /// Where the measured figures come from.
        port_source: String = String::new(),
        /// Whether clients keep attributes of files, so that they answer `stat` themselves. How
        /// many they keep is `attributes_kept` of `[software]`.
        keep_attributes: bool = false,
    }
}

spec_table! {
    /// Nodes that are alike. A testbed has at least one `[[nodes]]`.
    pub struct NodesSpec {
        /// The group's name.
        name: String = String::from("node"),
        /// How many.
        count: Count = Count(1),
        /// The site they stand at; 1 or 2.
        site: Count = Count(1),
        /// CPU sockets of each.
        sockets: Auto<Count> = Auto::Auto,
        /// Cores of each, all sockets together. Simulated hosts have two logical CPUs without it.
        cores: Auto<Count> = Auto::Auto,
        /// Memory of each. Simulated hosts have 16 GiB without it.
        memory: Auto<Bytes> = Auto::Auto,
        /// Storage ports of each.
        ports: Auto<Count> = Auto::Auto,
        /// The speed of each port, each way.
        port_speed: Auto<Bandwidth> = Auto::Auto,
        /// The share of that speed which payload can have.
        port_efficiency: Percent = Percent::ALL,
        /// What one port carried one way between hosts over TCP, as measured (`plimsoll network`).
        /// `"auto"`: `port_speed` times `port_efficiency`.
        port_one_way: Auto<Bandwidth> = Auto::Auto,
        /// What one port carried in both directions together, as measured. `"auto"`: twice as much
        /// as one way.
        port_both_ways: Auto<Bandwidth> = Auto::Auto,
        /// Where the measured figures come from.
        port_source: String = String::new(),
        /// What the link between the sockets carries, each way.
        socket_link: Auto<Bandwidth> = Auto::Auto,
        /// Ports that hang off another socket than the drives: what they carry crosses the link.
        far_ports: u64 = 0,
    }
}

spec_table! {
    /// Drives that are alike, in each node of the group above: `[[nodes.drives]]`. A figure that is
    /// given here has precedence over that of the model.
    pub struct DriveSpec {
        /// What they are for.
        role: Role = Role::Capacity,
        /// A model of the catalogue (`plimsoll ceiling --devices`); `""`: the figures stand here.
        model: String = String::new(),
        /// How many in each node.
        count: Count = Count(1),
        /// Capacity of each.
        capacity: Auto<Bytes> = Auto::Auto,
        /// Sequential reads.
        read: Auto<Bandwidth> = Auto::Auto,
        /// Sequential writes.
        write: Auto<Bandwidth> = Auto::Auto,
        /// Random reads of 4 KiB per second.
        read_iops: Auto<u64> = Auto::Auto,
        /// Random writes of 4 KiB per second, of a full drive.
        write_iops: Auto<u64> = Auto::Auto,
        /// The share of a flash drive that holds data; the rest was trimmed or never written. Less
        /// of it makes random writes faster, by the theory of their amplification. `"auto"`: full.
        filled: Auto<Percent> = Auto::Auto,
    }
}

/// `docs/reference/testbed.md`: every field with its type, its default and what it means.
pub fn reference() -> String {
    let mut page = String::from(
        "# The fields of a testbed\n\nGenerated from the types by `cargo xtask docs`; do not \
         edit.\n\nA testbed is a TOML file that describes a cluster. `plimsoll ceiling` computes \
         what it can carry, and `plimsoll report RUN --testbed FILE` how much of that a run \
         reached.\n\nOnly the name and one group of nodes are required. `\"auto\"` means that \
         nobody said. The layer that needs it is left out, or the assumption in its place is \
         printed. Sizes: `1.6TB` is a power of 1000, `128GiB` one of 1024. Bandwidths: \
         `25Gbit/s`, `3.2GB/s`.\n\n`--set` gives any field another value:\n\n| option | changes \
         |\n|---|---|\n| `--set nodes.count=8`, `--set protection.copies=2` | a field |\n| `--set \
         nodes.NAME.ports=4` | one group of nodes |\n| `--set nodes.drives.count=10` | all drives \
         that are not `boot` |\n",
    );
    let tables = [
        ("Top of the file", TopSpec::DOC, TopSpec::reference()),
        ("`[[nodes]]`", NodesSpec::DOC, NodesSpec::reference()),
        ("`[[nodes.drives]]`", DriveSpec::DOC, DriveSpec::reference()),
        ("`[protection]`", ProtectionSpec::DOC, ProtectionSpec::reference()),
        ("`[access]`", AccessSpec::DOC, AccessSpec::reference()),
        ("`[cache]`", CacheSpec::DOC, CacheSpec::reference()),
        ("`[cpu]`", CpuSpec::DOC, CpuSpec::reference()),
        ("`[fabric]`", FabricSpec::DOC, FabricSpec::reference()),
        ("`[clients]`", ClientsSpec::DOC, ClientsSpec::reference()),
        ("`[software]`", SoftwareSpec::DOC, SoftwareSpec::reference()),
        ("`[[fitted_row]]`", FittedRowSpec::DOC, FittedRowSpec::reference()),
    ];
    for (title, doc, rows) in tables {
        form::write_table(&mut page, title, doc, &rows);
    }
    page
}
