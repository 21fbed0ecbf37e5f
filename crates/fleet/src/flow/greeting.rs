//! How both ends of a flow know each other. Each proves that it knows the token without sending
//! it, so that neither a stranger who connects nor one who is connected to gets any load.

use super::{GoesOn, LOOK, Lane};
use model::network::{FlowFailure, FlowSpec};
use sha2::{Digest, Sha256};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

const PROOF: usize = 32;
/// What comes from the side that connects: its proof, and whether it sends on this connection.
const GREETING: usize = PROOF + 1;
/// Strangers that are heard at the same time at most; further ones wait in the kernel.
const MOST_PENDING: usize = 256;
/// A stranger that says nothing for so long is let go.
const SILENCE: Duration = Duration::from_secs(2);

fn proof(token: u128, role: &[u8], sends: bool) -> [u8; PROOF] {
    let mut hash = Sha256::new();
    hash.update(b"plimsoll flow ");
    hash.update(role);
    hash.update(token.to_be_bytes());
    hash.update([u8::from(sends)]);
    hash.finalize().into()
}

/// Greets the side that listens, and waits for its proof.
pub(super) fn greet(
    mut stream: TcpStream,
    spec: &FlowSpec,
    sends: bool,
    until: Instant,
) -> Result<Lane, FlowFailure> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => FlowFailure::NoAnswer,
        // Whoever listens hangs up on those that it does not know.
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => FlowFailure::Stranger,
        _ => FlowFailure::Broken(error.to_string()),
    };
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(FlowFailure::NoAnswer);
    }
    stream.set_read_timeout(Some(left)).map_err(failed)?;
    stream.set_write_timeout(Some(left)).map_err(failed)?;
    let mut greeting = [0; GREETING];
    greeting[..PROOF].copy_from_slice(&proof(spec.token, b"connects", sends));
    greeting[PROOF] = u8::from(sends);
    stream.write_all(&greeting).map_err(failed)?;
    let mut answer = [0; PROOF];
    stream.read_exact(&mut answer).map_err(failed)?;
    if answer == proof(spec.token, b"listens", sends) {
        Ok(Lane { stream, sends })
    } else {
        Err(FlowFailure::Stranger)
    }
}

/// Somebody who connected and has not greeted yet.
struct Pending {
    stream: TcpStream,
    heard: Vec<u8>,
    since: Instant,
}

/// What became of one.
enum Heard {
    Waits(Pending),
    Partner(Lane),
    Gone,
}

pub(super) fn accept(
    listener: &TcpListener,
    spec: &FlowSpec,
    goes_on: &GoesOn,
) -> Result<Vec<Lane>, FlowFailure> {
    let until = Instant::now() + Duration::from_nanos(spec.setup_ns);
    let (mut pending, mut lanes): (Vec<Pending>, Vec<Lane>) = (Vec::new(), Vec::new());
    while (lanes.len() as u32) < spec.connections() {
        if !goes_on() {
            return Err(FlowFailure::Stopped);
        }
        if Instant::now() >= until {
            return Err(FlowFailure::TooFew(lanes.len() as u32));
        }
        if pending.len() < MOST_PENDING
            && let Ok((stream, _)) = listener.accept()
            && stream.set_nonblocking(true).is_ok()
        {
            pending.push(Pending { stream, heard: Vec::new(), since: Instant::now() });
            continue;
        }
        let mut waits = Vec::new();
        for one in pending {
            match hear(one, spec) {
                Heard::Waits(one) => waits.push(one),
                Heard::Partner(lane) if may_come(&lanes, &lane, spec) => lanes.push(lane),
                Heard::Partner(_) | Heard::Gone => {}
            }
        }
        pending = waits;
        thread::sleep(LOOK);
    }
    Ok(lanes)
}

/// Whether the flow has a place for this connection.
fn may_come(lanes: &[Lane], lane: &Lane, spec: &FlowSpec) -> bool {
    let is_wanted = if lane.sends { spec.backward } else { spec.forward };
    let there = lanes.iter().filter(|other| other.sends == lane.sends).count() as u32;
    is_wanted && there < spec.streams
}

fn hear(mut one: Pending, spec: &FlowSpec) -> Heard {
    let mut bytes = [0; GREETING];
    let room = GREETING - one.heard.len();
    match one.stream.read(&mut bytes[..room]) {
        Ok(0) => return Heard::Gone,
        Ok(count) => one.heard.extend_from_slice(&bytes[..count]),
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            let is_over = one.since.elapsed() > SILENCE;
            return if is_over { Heard::Gone } else { Heard::Waits(one) };
        }
        Err(_) => return Heard::Gone,
    }
    if one.heard.len() < GREETING {
        return Heard::Waits(one);
    }
    let they_send = one.heard[PROOF] == 1;
    if one.heard[..PROOF] != proof(spec.token, b"connects", they_send) {
        return Heard::Gone;
    }
    let answered = one
        .stream
        .set_nonblocking(false)
        .and_then(|()| one.stream.set_write_timeout(Some(SILENCE)))
        .and_then(|()| one.stream.write_all(&proof(spec.token, b"listens", they_send)));
    match answered {
        Ok(()) => Heard::Partner(Lane { stream: one.stream, sends: !they_send }),
        Err(_) => Heard::Gone,
    }
}
