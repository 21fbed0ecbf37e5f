//! Sends bytes from one host to another over TCP, and counts what arrives: the network without any
//! storage.
//!
//! One host listens at one address of its own, for one partner that knows the token, and for a
//! bounded time. Nothing is sent to anybody else. What is received within the window counts; what
//! is sent before and after it keeps the way full.

mod carry;
mod greeting;

use model::network::{FlowCounts, FlowFailure, FlowSpec};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Whether somebody still wants it: asked many times a second.
pub(crate) type GoesOn = Arc<dyn Fn() -> bool + Send + Sync>;

/// Between two looks at what may take long.
const LOOK: Duration = Duration::from_millis(2);

/// One connection of a flow, greeted on both sides.
#[derive(Debug)]
pub(crate) struct Lane {
    stream: TcpStream,
    /// Whether this host sends on it.
    sends: bool,
}

/// Listens at this address and nowhere else; with port 0, at any that is free.
pub(crate) fn listen(at: SocketAddr) -> Result<(TcpListener, u16), FlowFailure> {
    let failed = |error: std::io::Error| FlowFailure::NoListener(error.to_string());
    let listener = TcpListener::bind(at).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    Ok((listener, port))
}

/// The side that listens: waits for its partner, and does its part of the flow.
pub(crate) fn answer(
    listener: TcpListener,
    spec: &FlowSpec,
    interface: &str,
    goes_on: &GoesOn,
) -> Result<FlowCounts, FlowFailure> {
    let lanes = greeting::accept(&listener, spec, goes_on)?;
    drop(listener);
    carry::carry(&lanes, spec, interface, goes_on)
}

/// The side that connects, from its address `own`.
pub(crate) fn call(
    own: IpAddr,
    to: SocketAddr,
    spec: &FlowSpec,
    interface: &str,
    goes_on: &GoesOn,
) -> Result<FlowCounts, FlowFailure> {
    let until = Instant::now() + Duration::from_nanos(spec.setup_ns);
    let directions = [(spec.forward, true), (spec.backward, false)];
    let wanted = directions.into_iter().filter(|(is_wanted, _)| *is_wanted);
    let mut lanes = Vec::new();
    for (_, sends) in wanted {
        for _ in 0..spec.streams {
            if !goes_on() {
                return Err(FlowFailure::Stopped);
            }
            let stream = connect(own, to, until)?;
            lanes.push(greeting::greet(stream, spec, sends, until)?);
        }
    }
    carry::carry(&lanes, spec, interface, goes_on)
}

fn connect(own: IpAddr, to: SocketAddr, until: Instant) -> Result<TcpStream, FlowFailure> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(FlowFailure::NoAnswer);
    }
    let stream = TcpStream::connect_timeout(&to, left).map_err(|error| match error.kind() {
        ErrorKind::ConnectionRefused => FlowFailure::Refused,
        ErrorKind::TimedOut | ErrorKind::WouldBlock => FlowFailure::NoAnswer,
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
            FlowFailure::NoWay(error.to_string())
        }
        _ => FlowFailure::Broken(error.to_string()),
    })?;
    let broken = |error: std::io::Error| FlowFailure::Broken(error.to_string());
    let from = stream.local_addr().map_err(broken)?.ip();
    if from == own { Ok(stream) } else { Err(FlowFailure::OtherAddress(from)) }
}

#[cfg(test)]
mod tests;
