//! Has hosts carry flows between each other, without a run.

use super::{Fleet, FleetError};
use crate::coordinator::Input;
use crate::launch::wanted::by_chance;
use crate::wire::{FromAgent, ToAgent};
use model::Nanos;
use model::network::{FlowCounts, FlowFailure, FlowSpec, HostAddress};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// How long hosts may take to say what is known to them.
const ANSWER: Duration = Duration::from_secs(30);

/// A flow between two hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowOrder {
    /// The host that connects, by its number, and the address that it goes out by.
    pub first: (usize, IpAddr),
    /// The host that listens, and the address at which it does.
    pub second: (usize, IpAddr),
    /// What is carried; its token is given here.
    pub spec: FlowSpec,
    /// The port to listen at; 0 is any that is free.
    pub port: u16,
}

/// What the host that connected counted of a flow, and the one that listened.
pub type BothEnds = [Result<FlowCounts, FlowFailure>; 2];

/// What is known of one flow that runs.
#[derive(Clone, Debug, Default)]
struct Running {
    port: Option<u16>,
    first: Option<Result<FlowCounts, FlowFailure>>,
    second: Option<Result<FlowCounts, FlowFailure>>,
}

impl Fleet {
    /// The addresses of each host, in their order.
    ///
    /// # Errors
    /// When an agent is gone or does not answer, or somebody stopped it.
    pub fn addresses(&self) -> Result<Vec<Vec<HostAddress>>, FleetError> {
        let mut told: Vec<Option<Vec<HostAddress>>> = vec![None; self.names.len()];
        let there = self.there();
        for host in &there {
            let _ = self.send(*host, &ToAgent::Addresses);
        }
        self.hear(ANSWER, |heard| {
            if let Some((host, FromAgent::Addresses(addresses))) = heard {
                told[host] = Some(addresses);
            }
            there.iter().copied().find(|host| told[*host].is_none())
        })?;
        Ok(told.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Carries all of these flows at the same time; no host is in two of them.
    ///
    /// # Errors
    /// When an agent is gone or does not answer, or somebody stopped it. A flow that fails is none:
    /// its ends say why.
    pub fn flows(&self, orders: &[FlowOrder]) -> Result<Vec<BothEnds>, FleetError> {
        let orders: Vec<FlowOrder> = orders
            .iter()
            .map(|order| {
                let spec = FlowSpec { token: by_chance(), ..order.spec.clone() };
                FlowOrder { spec, ..order.clone() }
            })
            .collect();
        let mut running = vec![Running::default(); orders.len()];
        for order in &orders {
            let at = SocketAddr::new(order.second.1, order.port);
            let listen = ToAgent::Listen { at, spec: order.spec.clone() };
            let _ = self.send(order.second.0, &listen);
        }
        self.hear(ANSWER, |heard| {
            take_in(&mut running, &orders, heard);
            let waits = |one: &Running| one.port.is_none() && one.second.is_none();
            running.iter().position(waits).map(|place| orders[place].second.0)
        })?;
        for (order, running) in orders.iter().zip(&mut running) {
            let Some(port) = running.port else {
                // Nobody waits for it.
                running.first = Some(Err(FlowFailure::Declined));
                continue;
            };
            let to = SocketAddr::new(order.second.1, port);
            let connect = ToAgent::Connect { own: order.first.1, to, spec: order.spec.clone() };
            let _ = self.send(order.first.0, &connect);
        }
        let longest_ns = orders.iter().map(|order| order.spec.longest_ns()).max().unwrap_or(0);
        self.hear(ANSWER + Duration::from_nanos(longest_ns), |heard| {
            take_in(&mut running, &orders, heard);
            orders.iter().zip(&running).find_map(|(order, one)| match (&one.first, &one.second) {
                (None, _) => Some(order.first.0),
                (_, None) => Some(order.second.0),
                _ => None,
            })
        })?;
        let ends = |one: Running| {
            [one.first, one.second].map(|end| end.unwrap_or(Err(FlowFailure::Stopped)))
        };
        Ok(running.into_iter().map(ends).collect())
    }

    /// Hears what hosts say until `take` waits for none of them: it is given each message, and says
    /// for whom it waits.
    fn hear(
        &self,
        within: Duration,
        mut take: impl FnMut(Option<(usize, FromAgent)>) -> Option<usize>,
    ) -> Result<(), FleetError> {
        let (until, mut beaten) = (Instant::now() + within, Instant::now());
        let lost = |number: usize, why| FleetError::Lost { number, host: self.name(number), why };
        let mut waits_for = take(None);
        while let Some(host) = waits_for {
            if Instant::now() >= until {
                return Err(lost(host, format!("no answer in {}", nanos(within))));
            }
            self.beat(&mut beaten);
            waits_for = match self.input_within_a_tick() {
                Some(
                    Input::Heard { host, message: FromAgent::Refused(why), .. }
                    | Input::Lost { host, why },
                ) => return Err(lost(host, why)),
                Some(Input::Heard { host, message, .. }) => take(Some((host, message))),
                Some(Input::Interrupt) => return Err(FleetError::Interrupted),
                Some(_) | None => waits_for,
            };
        }
        Ok(())
    }
}

fn nanos(time: Duration) -> Nanos {
    Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// Takes in what a host says of its flow.
fn take_in(running: &mut [Running], orders: &[FlowOrder], heard: Option<(usize, FromAgent)>) {
    let Some((host, message)) = heard else { return };
    for (order, running) in orders.iter().zip(running) {
        let end = match (order.first.0 == host, order.second.0 == host) {
            (true, _) => &mut running.first,
            (_, true) => &mut running.second,
            _ => continue,
        };
        match &message {
            FromAgent::Listening { port } if order.second.0 == host => running.port = Some(*port),
            FromAgent::Flowed(outcome) => *end = Some(outcome.clone()),
            _ => {}
        }
        return;
    }
}
