//! The run as a whole, for whatever shows it while it goes on.

use model::Plan;
use model::testbed::HostFacts;

/// The run that is shown.
#[derive(Clone, Copy, Debug)]
pub struct RunOverview<'a> {
    /// What is to be done.
    pub plan: &'a Plan,
    /// The hosts as they were before.
    pub hosts: &'a [HostFacts],
    /// The version of Plimsoll.
    pub version: &'a str,
    /// When it began, in ns since 1970.
    pub began_ns: u64,
    /// Takes the marks that its page is told.
    pub marker: &'a fleet::Marker,
}
