//! Which provider is whose.

use crate::libvirt::Libvirt;
use crate::provider::Provider;
use crate::qemu::Qemu;
use crate::record::{Deployment, Ground};
use model::machines::ProviderKind;

/// The provider that made machines; `None` where each node has its own.
pub fn of(deployment: &Deployment) -> Option<Box<dyn Provider>> {
    match &deployment.ground {
        Ground::Folders(_) => Some(Box::new(Qemu)),
        Ground::Pools { connect, .. } => Some(Box::new(Libvirt::new(connect))),
        Ground::Nodes(_) => None,
    }
}

/// A provider of this machine.
pub fn named(kind: ProviderKind, connect: &str) -> Box<dyn Provider> {
    match kind {
        ProviderKind::Qemu => Box::new(Qemu),
        ProviderKind::Libvirt => Box::new(Libvirt::new(connect)),
    }
}
