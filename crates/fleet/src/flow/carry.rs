//! Sends and receives on the connections of a flow, one thread for each.

use super::{GoesOn, LOOK, Lane};
use model::network::{FlowCounts, FlowFailure, FlowSpec};
use probe::{NetworkNow, Tree, network_now};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of one call.
const BLOCK: usize = 256 << 10;
/// Whoever sends goes on for so long behind the window: its partner's window may end later.
const TAIL: Duration = Duration::from_millis(500);
/// Whoever receives waits so long for what is still on its way.
const GRACE: Duration = Duration::from_secs(2);
/// No call takes longer than this, so that a stop is heard.
const PATIENCE: Duration = Duration::from_millis(200);

/// The instants of a flow on this host.
#[derive(Clone, Copy)]
struct Times {
    began: Instant,
    /// What comes from here on counts.
    from: Instant,
    /// What comes until then does.
    to: Instant,
}

impl Times {
    fn of(spec: &FlowSpec) -> Times {
        let began = Instant::now();
        let from = began + Duration::from_nanos(spec.settle_ns);
        Times { began, from, to: from + Duration::from_nanos(spec.window_ns) }
    }
}

/// What the kernel had of a connection at one instant, read by us or not yet: whoever reads late
/// must not count what came before its window.
#[derive(Clone, Copy)]
struct Edge {
    at: Instant,
    bytes: u64,
}

impl Edge {
    fn of(stream: &TcpStream, read: u64) -> Edge {
        let waiting = rustix::io::ioctl_fionread(stream).unwrap_or(0);
        Edge { at: Instant::now(), bytes: read.saturating_add(waiting) }
    }

    /// What came from here to `end`, for a window of this length: edges are seen a little late.
    fn until(self, end: Edge, window: Duration) -> u64 {
        let bytes = end.bytes.saturating_sub(self.bytes);
        let seen = end.at.saturating_duration_since(self.at).as_nanos().max(1);
        let scaled = u128::from(bytes) * window.as_nanos() / seen;
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Received {
    all_bytes: u64,
    in_window: u64,
    /// When the last bytes came; the begin where none did.
    last: Instant,
    /// Whether the other side ended it before the window was over.
    ended_early: bool,
}

/// Carries bytes on all of `lanes` at once.
pub(super) fn carry(
    lanes: &[Lane],
    spec: &FlowSpec,
    interface: &str,
    goes_on: &GoesOn,
) -> Result<FlowCounts, FlowFailure> {
    for lane in lanes {
        let set = lane
            .stream
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| lane.stream.set_write_timeout(Some(PATIENCE)));
        set.map_err(|error| FlowFailure::Broken(error.to_string()))?;
    }
    let share = (spec.most_bytes / u64::from(spec.streams)).max(1);
    let times = Times::of(spec);
    let (sent, received, kernel) = thread::scope(|scope| {
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        for lane in lanes {
            let stream = &lane.stream;
            if lane.sends {
                senders.push(scope.spawn(move || send(stream, times, share, goes_on)));
            } else {
                receivers.push(scope.spawn(move || receive(stream, times, goes_on)));
            }
        }
        let is_over = || {
            senders.iter().all(thread::ScopedJoinHandle::is_finished)
                && receivers.iter().all(thread::ScopedJoinHandle::is_finished)
        };
        let kernel = kernel_in_window(times, interface, &is_over, goes_on);
        let sent: Result<Vec<u64>, FlowFailure> = senders.into_iter().map(joined).collect();
        let received: Result<Vec<Received>, FlowFailure> =
            receivers.into_iter().map(joined).collect();
        (sent, received, kernel)
    });
    if !goes_on() {
        return Err(FlowFailure::Stopped);
    }
    let (sent, received) = (sent?, received?);
    if received.iter().any(|one| one.ended_early && one.all_bytes < share) {
        return Err(FlowFailure::Broken("the other host ended early".to_owned()));
    }
    let mut counts = counted(&received, times);
    counts.sent_bytes = sent.iter().fold(0, |sum: u64, one| sum.saturating_add(*one));
    if let Some((before, after)) = kernel {
        put_kernel(&mut counts, before, after);
    }
    Ok(counts)
}

fn joined<T>(
    thread: thread::ScopedJoinHandle<'_, Result<T, FlowFailure>>,
) -> Result<T, FlowFailure> {
    thread.join().unwrap_or_else(|_| Err(FlowFailure::Broken("a thread panicked".to_owned())))
}

/// What the kernel counted before and after the window; `None` where it was not waited for.
fn kernel_in_window(
    times: Times,
    interface: &str,
    is_over: &dyn Fn() -> bool,
    goes_on: &GoesOn,
) -> Option<(NetworkNow, NetworkNow)> {
    let wait = |until: Instant| {
        while Instant::now() < until && !is_over() && goes_on() {
            thread::sleep(LOOK);
        }
        Instant::now() >= until
    };
    let tree = Tree::real();
    let now = || network_now(&tree, interface);
    let before = wait(times.from).then(now)?;
    let after = wait(times.to).then(now)?;
    Some((before, after))
}

fn put_kernel(counts: &mut FlowCounts, before: NetworkNow, after: NetworkNow) {
    // A counter that went back was reset: nothing is known then.
    let since = |before: Option<u64>, after: Option<u64>| after?.checked_sub(before?);
    counts.interface_received = since(before.received, after.received);
    counts.retransmitted = since(before.retransmitted, after.retransmitted);
    let idle = since(before.idle_ticks, after.idle_ticks);
    let all = since(before.all_ticks, after.all_ticks).filter(|all| *all > 0);
    counts.cpu_busy = idle.zip(all).map(|(idle, all)| 1.0 - (idle as f64 / all as f64).min(1.0));
}

/// Adds up what came on all connections. A flow that reached its bytes early is as long as it was;
/// one that was over before its window began counts as a whole.
fn counted(received: &[Received], times: Times) -> FlowCounts {
    let Some(last) = received.iter().map(|one| one.last).max() else {
        return FlowCounts::default();
    };
    let sum = |of: fn(&Received) -> u64| received.iter().map(of).fold(0, u64::saturating_add);
    let are_over = received.iter().all(|one| one.ended_early);
    let end = if are_over { last.min(times.to) } else { times.to };
    let (bytes, length) = if end > times.from {
        (sum(|one| one.in_window), end - times.from)
    } else {
        (sum(|one| one.all_bytes), end.saturating_duration_since(times.began))
    };
    let window_ns = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
    FlowCounts { received_bytes: bytes, window_ns, ..FlowCounts::default() }
}

fn may_go_on(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn send(
    mut stream: &TcpStream,
    times: Times,
    share: u64,
    goes_on: &GoesOn,
) -> Result<u64, FlowFailure> {
    // No link that compresses makes less of it.
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let block: Vec<u8> = (0..BLOCK / 8)
        .flat_map(|_| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed.to_le_bytes()
        })
        .collect();
    let mut sent = 0u64;
    while sent < share && Instant::now() < times.to + TAIL && goes_on() {
        let room = usize::try_from(share - sent).unwrap_or(BLOCK).min(BLOCK);
        match stream.write(&block[..room]) {
            Ok(count) => sent = sent.saturating_add(count as u64),
            Err(error) if may_go_on(error.kind()) => {}
            // Its partner has seen enough.
            Err(_) if Instant::now() >= times.to => break,
            Err(error) => return Err(FlowFailure::Broken(error.to_string())),
        }
    }
    // Where the partner is gone, there is nothing to end.
    let _ = stream.shutdown(Shutdown::Write);
    Ok(sent)
}

fn receive(
    mut stream: &TcpStream,
    times: Times,
    goes_on: &GoesOn,
) -> Result<Received, FlowFailure> {
    let mut block = vec![0; BLOCK];
    let mut got = Received { all_bytes: 0, in_window: 0, last: times.began, ended_early: false };
    let (mut first, mut end) = (None, None);
    while Instant::now() < times.to + TAIL + GRACE && goes_on() {
        let now = Instant::now();
        if first.is_none() && now >= times.from {
            first = Some(Edge::of(stream, got.all_bytes));
        }
        if end.is_none() && now >= times.to {
            end = Some(Edge::of(stream, got.all_bytes));
        }
        let read = stream.read(&mut block);
        let now = Instant::now();
        match read {
            Ok(0) => {
                got.ended_early = now < times.to;
                break;
            }
            Ok(count) => {
                let count = count as u64;
                got.all_bytes = got.all_bytes.saturating_add(count);
                if now >= times.from && now < times.to {
                    got.in_window = got.in_window.saturating_add(count);
                }
                got.last = now;
            }
            Err(error) if may_go_on(error.kind()) => {}
            Err(_) if now >= times.to => break,
            Err(error) => return Err(FlowFailure::Broken(error.to_string())),
        }
    }
    if let (Some(first), Some(end)) = (first, end) {
        got.in_window = first.until(end, times.to - times.from);
    }
    Ok(got)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times() -> Times {
        let began = Instant::now();
        Times { began, from: began + Duration::from_secs(1), to: began + Duration::from_secs(3) }
    }

    fn received(times: Times, ms: u64, ended_early: bool) -> Received {
        let last = times.began + Duration::from_millis(ms);
        Received { all_bytes: 100, in_window: 60, last, ended_early }
    }

    #[test]
    fn what_waited_for_a_late_reader_counts_where_it_came() {
        let (at, second) = (Instant::now(), Duration::from_secs(1));
        let edge = |ms, bytes| Edge { at: at + Duration::from_millis(ms), bytes };
        assert_eq!(edge(0, 500).until(edge(1_000, 1_500), second), 1_000);
        // Both edges were seen late, the second by more: the rate is what counts.
        assert_eq!(edge(100, 600).until(edge(1_350, 1_850), second), 1_000);
        assert_eq!(edge(0, 5).until(edge(0, 5), second), 0);
    }

    #[test]
    fn a_window_is_as_long_as_its_bytes_came() {
        let times = times();
        let of = |all: &[Received]| {
            let counts = counted(all, times);
            (counts.received_bytes, counts.window_ns / 1_000_000)
        };
        let whole = received(times, 3_400, false);
        assert_eq!(of(&[whole, whole]), (120, 2_000));
        let short = received(times, 2_500, true);
        assert_eq!(of(&[short, short]), (120, 1_500), "all bytes were sent before the end");
        assert_eq!(of(&[short, whole]), (120, 2_000), "the other goes on");
        let early = received(times, 400, true);
        assert_eq!(of(&[early]), (100, 400), "over before the window began");
        assert_eq!(of(&[]), (0, 0));
    }

    #[test]
    fn a_counter_that_went_back_is_not_known() {
        let now = |received, ticks| NetworkNow {
            received: Some(received),
            idle_ticks: Some(ticks),
            all_ticks: Some(2 * ticks),
            ..NetworkNow::default()
        };
        let mut counts = FlowCounts::default();
        put_kernel(&mut counts, now(10, 10), now(30, 20));
        assert_eq!((counts.interface_received, counts.cpu_busy), (Some(20), Some(0.5)));
        assert_eq!(counts.retransmitted, None);
        put_kernel(&mut counts, now(30, 20), now(10, 20));
        assert_eq!((counts.interface_received, counts.cpu_busy), (None, None));
    }
}
