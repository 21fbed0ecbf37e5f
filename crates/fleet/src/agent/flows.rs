//! Flows between this host and others, one at a time and never beside a share of a run.

use super::Agent;
use crate::flow::{self, GoesOn};
use crate::wire::FromAgent;
use engine::Clock;
use model::network::{FlowCounts, FlowFailure, FlowSpec, HostAddress};
use probe::Tree;
use std::net::{IpAddr, SocketAddr};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

/// The addresses by which others may reach this host.
pub(super) fn addresses() -> Vec<HostAddress> {
    probe::addresses(&Tree::real())
}

/// The interface of an address of this host; an address that is none of its own is declined.
fn interface_of(address: IpAddr) -> Result<String, FlowFailure> {
    let own = addresses().into_iter().find(|own| own.address == address);
    own.map(|own| own.interface).ok_or(FlowFailure::Declined)
}

impl Agent {
    pub(super) fn listen(&mut self, at: SocketAddr, spec: FlowSpec) -> Option<FromAgent> {
        let listening = self
            .may_flow(&spec)
            .and_then(|()| interface_of(at.ip()))
            .and_then(|interface| Ok((interface, flow::listen(at)?)));
        match listening {
            Ok((interface, (listener, port))) => {
                let goes_on = self.goes_on();
                // Said before the flow can say anything.
                self.out.answer(&FromAgent::Listening { port }).ok()?;
                self.flow(move || flow::answer(listener, &spec, &interface, &goes_on));
                None
            }
            Err(why) => Some(FromAgent::Flowed(Err(why))),
        }
    }

    pub(super) fn connect(
        &mut self,
        own: IpAddr,
        to: SocketAddr,
        spec: FlowSpec,
    ) -> Option<FromAgent> {
        match self.may_flow(&spec).and_then(|()| interface_of(own)) {
            Ok(interface) => {
                let goes_on = self.goes_on();
                self.flow(move || flow::call(own, to, &spec, &interface, &goes_on));
                None
            }
            Err(why) => Some(FromAgent::Flowed(Err(why))),
        }
    }

    fn may_flow(&self, spec: &FlowSpec) -> Result<(), FlowFailure> {
        let is_free = !self.flowing.load(Ordering::Acquire);
        let may = spec.is_sound() && is_free && self.targets.is_none() && self.together.is_none();
        if may { Ok(()) } else { Err(FlowFailure::Declined) }
    }

    /// No load without a coordinator.
    fn goes_on(&self) -> GoesOn {
        let (control, contact) = (self.control.clone(), self.contact.clone());
        let clock = control.clock();
        Arc::new(move || !control.is_stopped() && !contact.lock().is_over(clock.now_ns()))
    }

    /// Does it on a thread of its own: orders are heard meanwhile.
    fn flow(&mut self, does: impl FnOnce() -> Result<FlowCounts, FlowFailure> + Send + 'static) {
        let (out, flowing) = (self.out.clone(), Arc::clone(&self.flowing));
        flowing.store(true, Ordering::Release);
        let thread = thread::Builder::new().name("flow".to_owned()).spawn(move || {
            let ended = panic::catch_unwind(AssertUnwindSafe(does))
                .unwrap_or_else(|_| Err(FlowFailure::Broken("a thread panicked".to_owned())));
            // Free before it is said: whoever hears it may ask for the next flow at once.
            flowing.store(false, Ordering::Release);
            // If nobody hears it, this agent ends.
            let _ = out.answer(&FromAgent::Flowed(ended));
        });
        if let Err(error) = thread {
            self.flowing.store(false, Ordering::Release);
            let failed = FromAgent::Flowed(Err(FlowFailure::Broken(error.to_string())));
            let _ = self.out.answer(&failed);
        }
    }
}
