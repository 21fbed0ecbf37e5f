//! Virtual machines for a run: made, started, found again and removed. Providers stand behind one
//! small contract ([`provider::Provider`]); the guest is our own ([`guest`]).
//!
//! Only what is on record as ours is ever stopped or removed. The record is written before anything
//! is made, so that nothing is lost with the process that makes it.

pub mod deployment;
mod disks;
pub mod guest;
mod inside;
pub mod lab;
pub mod libvirt;
mod machine;
mod node_counts;
pub mod nodes;
mod places;
mod problem;
mod processes;
pub mod provider;
pub mod providers;
pub mod qemu;
mod record;
mod remote;
mod tool;
pub mod user_program;
pub mod vsphere;

use disks::{qcow2, volume};

pub use inside::Ask;
pub use libvirt::Libvirt;
pub use places::Places;
pub use problem::{Outcome, Problem};
pub use qemu::Qemu;
pub use record::{Deployment, Ground, OnNodes, Remote};
