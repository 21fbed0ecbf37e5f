//! The run as a whole, for whatever shows it while it goes on.

use model::Plan;
use model::testbed::HostFacts;

#[derive(Clone, Copy, Debug)]
pub(crate) struct RunOverview<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) hosts: &'a [HostFacts],
    pub(crate) version: &'a str,
    /// When it began, in ns since 1970.
    pub(crate) began_ns: u64,
    pub(crate) marker: &'a fleet::Marker,
}
