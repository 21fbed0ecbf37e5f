//! What host and guest agree on: where things are in a guest, and what its line is called.

/// Where this program is in a guest.
pub(crate) const PROGRAM: &str = "/bin/plimsoll";
/// Where its libraries are.
pub(crate) const LIBRARIES: &str = "/lib";
/// The modules, in the order of their names.
pub(crate) const MODULES: &str = "/modules";
/// The name of the line between a guest and its host, as the guest sees it.
pub(crate) const AGENT_PORT: &str = "org.plimsoll.agent";
/// The name of the device at the host's end of that line.
pub(crate) const AGENT: &str = "agent";
