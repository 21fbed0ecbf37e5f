//! How hosts reach the data of a cluster.

crate::plain_words! {
    /// How hosts reach the data.
    pub enum Route {
        /// As the testbed says: over the network where it has clients, else on its nodes.
        Testbed = "testbed",
        /// Each host runs on a node, even where the testbed has clients.
        Local = "local",
        /// A share over RDMA, from hosts outside.
        SmbDirect = "smb-direct",
        /// A share over TCP, from hosts outside.
        Smb = "smb",
    }
}
