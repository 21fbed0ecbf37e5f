//! The layers of a cluster: what a ceiling is computed of, and what a simulation is made of.

use serde::{Deserialize, Serialize};

/// A part of the path between a request and its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The drives on which data rests.
    Drives,
    /// The drives of the cache tier.
    Cache,
    /// The storage nodes' ports, each direction for itself.
    Ports,
    /// The clients' ports, each direction for itself.
    ClientPorts,
    /// The switches between.
    Fabric,
    /// The path between two sites, each direction for itself.
    SiteLink,
    /// The links between the CPU sockets of a node, each direction for itself.
    SocketLink,
    /// The storage nodes' cores.
    Cpu,
    /// The storage software of a node, where somebody measured or fitted its times.
    Software,
    /// What moves a node's volumes; at work only while they migrate.
    Mover,
}

impl Layer {
    /// Every layer that a ceiling can come from, in the order of tables: a mover works in no steady
    /// state, and software is no hardware.
    pub const ALL: [Layer; 8] = [
        Layer::Drives,
        Layer::Cache,
        Layer::Ports,
        Layer::ClientPorts,
        Layer::Fabric,
        Layer::SiteLink,
        Layer::SocketLink,
        Layer::Cpu,
    ];

    /// A stable word for machines.
    pub fn code(self) -> &'static str {
        match self {
            Layer::Drives => "drives",
            Layer::Cache => "cache",
            Layer::Ports => "ports",
            Layer::ClientPorts => "client-ports",
            Layer::Fabric => "fabric",
            Layer::SiteLink => "site-link",
            Layer::SocketLink => "socket-link",
            Layer::Cpu => "cpu",
            Layer::Software => "software",
            Layer::Mover => "mover",
        }
    }
}
