//! The layers of a cluster: what a ceiling is computed of, and what a simulation is made of.

crate::words! {
    #[derive(PartialOrd, Ord)]
    #[serde(rename_all = "kebab-case")]
    /// A part of the path between a request and its data.
    pub enum Layer {
        /// The drives on which data rests.
        Drives = "drives",
        /// The drives of the cache tier.
        Cache = "cache",
        /// The storage nodes' ports, each direction for itself.
        Ports = "ports",
        /// The clients' ports, each direction for itself.
        ClientPorts = "client-ports",
        /// The switches between.
        Fabric = "fabric",
        /// The path between two sites, each direction for itself.
        SiteLink = "site-link",
        /// The links between the CPU sockets of a node, each direction for itself.
        SocketLink = "socket-link",
        /// The storage nodes' cores.
        Cpu = "cpu",
        /// The storage software of a node, where somebody measured or fitted its times.
        Software = "software",
        /// What moves a node's volumes; at work only while they migrate.
        Mover = "mover",
    }
}

impl Layer {
    /// Every layer that a ceiling can come from, in the order of tables: a mover works in no steady
    /// state, and software is no hardware.
    pub fn of_ceilings() -> impl Iterator<Item = Layer> {
        Layer::ALL.iter().copied().take_while(|layer| *layer < Layer::Software)
    }

    /// A stable word for machines.
    pub fn code(self) -> &'static str {
        self.word()
    }
}
