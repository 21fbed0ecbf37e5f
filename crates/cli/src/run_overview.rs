//! The run as a whole, for whatever shows it while it goes on.

use model::Plan;
use model::testbed::HostFacts;

/// The run that is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunOverview<'a> {
    /// What is to be done.
    pub(crate) plan: &'a Plan,
    /// The hosts as they were before.
    pub(crate) hosts: &'a [HostFacts],
    /// The version of Plimsoll.
    pub(crate) version: &'a str,
    /// When it began, in ns since 1970.
    pub(crate) began_ns: u64,
    /// Takes the marks that its page is told.
    pub(crate) marker: &'a fleet::Marker,
}
