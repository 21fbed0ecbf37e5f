//! Which provider is whose.

use crate::libvirt::Libvirt;
use crate::provider::Provider;
use crate::qemu::Qemu;
use crate::record::{Deployment, Ground};
use crate::user_program::UserProgram;
use crate::vsphere::Vsphere;
use model::machines::ProviderKind;

/// The provider that made machines; `None` where each node has its own.
pub fn of(deployment: &Deployment) -> Option<Box<dyn Provider>> {
    match &deployment.ground {
        Ground::Folders(_) => Some(Box::new(Qemu)),
        Ground::Pools { connect, .. } => Some(Box::new(Libvirt::new(connect))),
        Ground::Remote(at) => Some(named(at.provider, &at.connect, &at.template)),
        Ground::Nodes(_) => None,
    }
}

/// A provider. `template` is what its machines are copies of, where they do not boot our guest.
pub fn named(kind: ProviderKind, connect: &str, template: &str) -> Box<dyn Provider> {
    match kind {
        ProviderKind::Qemu => Box::new(Qemu),
        ProviderKind::Libvirt => Box::new(Libvirt::new(connect)),
        ProviderKind::Vsphere => Box::new(Vsphere::new(connect, template)),
        ProviderKind::Program => Box::new(UserProgram::new(connect, template)),
    }
}
