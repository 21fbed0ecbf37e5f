//! `[clients]`: hosts that are not at hand, for a plan that nobody runs.

use super::ScenarioRequest;
use crate::Spec;
use form::Auto;
use model::note::Fact;
use model::plan::PlanNote;
use model::testbed::{HostFacts, Place};

/// Whether the suite asks for hosts that are not at hand.
pub fn are_imagined(spec: &Spec) -> bool {
    spec.clients.count.value != Auto::Auto || spec.clients.memory.value != Auto::Auto
}

/// The hosts to plan for: those at hand, or the clients of the suite.
pub(super) fn hosts(request: &ScenarioRequest<'_>, notes: &mut Vec<PlanNote>) -> Vec<HostFacts> {
    let clients = &request.spec.clients;
    let mut hosts = request.hosts.to_vec();
    if let (Auto::Fixed(count), Some(first)) = (clients.count.value, request.hosts.first()) {
        // Each is a machine of its own, with a kernel of its own.
        let identity = String::new();
        let client = |number| HostFacts {
            hostname: format!("client-{number}"),
            identity: identity.clone(),
            ..first.clone()
        };
        hosts = (1..=count.0).map(client).collect();
    }
    if let Auto::Fixed(memory) = clients.memory.value {
        hosts.iter_mut().for_each(|host| (host.memory, host.memory_available) = (memory, memory));
    }
    let of = hosts.len() as u32;
    hosts.iter_mut().zip(0..).for_each(|(host, number)| host.place = Place { number, of });
    if are_imagined(request.spec) {
        let memory = hosts.first().map_or_else(Default::default, |host| host.memory);
        let fact = Fact::ClientsImagined { hosts: hosts.len() as u64, memory };
        notes.push(PlanNote { fact });
    }
    hosts
}
