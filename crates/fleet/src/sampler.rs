//! Reads the host's counters, while a stage runs or for somebody who watches.

use crate::link::Outlet;
use crate::packed::Packer;
use crate::wire::FromAgent;
use model::CounterSample;
use model::counters::Metric;
use model::plan::HostPlan;
use probe::{Counters, KernelLog, Tree};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// The least time between two readings: the kernel counts CPU time in steps of 10 ms, and a reading
/// must stay cheap.
const LEAST: Duration = Duration::from_millis(100);
/// How long the stage waits for the first and for the last reading. A driver that hangs while it is
/// asked must hold up no run.
const PATIENCE: Duration = Duration::from_secs(2);

/// The number of the next stream of counters. One that was given up may still say something when
/// the next one has begun.
static STREAMS: AtomicU64 = AtomicU64::new(0);

/// A thread beside the stage that sends the host's counters; without one where time is simulated
/// and not ours.
pub(crate) struct Sampler {
    running: Option<Running>,
}

struct Running {
    /// Closed to end the thread.
    end: SyncSender<()>,
    /// Closed by the thread when it has ended.
    ended: Receiver<()>,
    /// Told once, when the first reading is over; gone when that was heard.
    is_ready: Option<Receiver<()>>,
}

impl Sampler {
    /// Begins to read the counters, and goes on at the plan's interval. What the stage does once
    /// this is [ready](Sampler::ready) is counted.
    pub(crate) fn start(out: Outlet, plan: &HostPlan, stage: u32) -> Sampler {
        if plan.engine.virtual_time {
            return Sampler { running: None };
        }
        Sampler::begin(out, Duration::from_nanos(plan.interval.0), stage, plan.host)
    }

    /// Reads them at an interval in ns until the end, without any stage. The host's number is the
    /// coordinator's to give.
    pub(crate) fn watch(out: Outlet, interval_ns: u64) -> Sampler {
        Sampler::begin(out, Duration::from_nanos(interval_ns), 0, 0)
    }

    fn begin(out: Outlet, interval: Duration, stage: u32, host: u32) -> Sampler {
        let interval = interval.max(LEAST);
        let mut packer = Packer::new(STREAMS.fetch_add(1, Ordering::Relaxed));
        let send = move |counters: &mut Counters, log: &mut KernelLog| {
            for line in log.read() {
                let logged = FromAgent::Logged { stage, ago_ns: line.ago_ns, line: line.text };
                if out.send(&logged).is_err() {
                    return None;
                }
            }
            let mut sample = rounded(counters.read());
            (sample.stage, sample.host) = (stage, host);
            // One that is larger than any host's has no length that counts: it takes the longest
            // time.
            let (message, length) = match packer.pack(&sample) {
                Some(frame) => (FromAgent::Counted(frame.clone()), frame.length()),
                None => (FromAgent::Counters(Box::new(sample)), usize::MAX),
            };
            out.send(&message).is_ok().then_some(length)
        };
        let (ready, is_ready) = sync_channel(1);
        // Nothing is ever sent on these.
        let (end, is_over) = sync_channel(0);
        let (over, ended) = sync_channel(0);
        let run = move || {
            // Closed when this ends, however it does.
            let _over: SyncSender<()> = over;
            let (counters, log) = (Counters::open(&Tree::real()), KernelLog::open());
            if ready.send(()).is_ok() {
                sample(counters, log, interval, &is_over, send);
            }
        };
        // Without a thread the run goes on; the stage has no counters then.
        let thread = thread::Builder::new().name("counters".to_owned()).spawn(run);
        Sampler {
            running: thread.is_ok().then_some(Running { end, ended, is_ready: Some(is_ready) }),
        }
    }

    /// Waits until the first reading is over, which may go on beside the stage's setting up. One
    /// that is not over in time is given up: the stage has no counters then.
    pub(crate) fn ready(&mut self) {
        let Some(is_ready) = self.running.as_mut().and_then(|running| running.is_ready.take())
        else {
            return;
        };
        if is_ready.recv_timeout(PATIENCE).is_err() {
            self.running = None;
        }
    }

    /// Reads them for the last time, so that together the samples cover all of the stage.
    pub(crate) fn end(self) {
        if let Some(Running { end, ended, .. }) = self.running {
            drop(end);
            // Nothing is ever sent: it is closed, or time is over.
            let _ = ended.recv_timeout(PATIENCE);
        }
    }
}

/// What counters may take for each interval, in bytes: a hundred busy disks do not take it.
const BUDGET: usize = 3_072;
/// However much a host counts, its counters come after so many intervals.
const MOST_INTERVALS: usize = 10;

/// How many intervals a frame of this length, in bytes, has to last for: a host with so much to
/// tell that it does not fit tells it less often.
fn intervals_of(length: usize) -> u32 {
    length.div_ceil(BUDGET).clamp(1, MOST_INTERVALS) as u32
}

/// Clocks to the MHz: the kernel says kHz, which are different whenever it is asked, tell nobody
/// anything, and are most of what an idle host would send.
fn rounded(mut sample: CounterSample) -> CounterSample {
    for (_, hertz) in sample
        .entries
        .iter_mut()
        .flat_map(|entry| &mut entry.values)
        .filter(|(metric, _)| *metric == Metric::FrequencyHz)
    {
        *hertz = hertz.saturating_add(500_000) / 1_000_000 * 1_000_000;
    }
    sample
}

fn sample(
    mut counters: Counters,
    mut log: KernelLog,
    interval: Duration,
    is_over: &Receiver<()>,
    mut send: impl FnMut(&mut Counters, &mut KernelLog) -> Option<usize>,
) {
    let mut next = Instant::now() + interval;
    // The first frame brings all names, which says nothing of those to come.
    let mut is_first = true;
    loop {
        let wait = next.saturating_duration_since(Instant::now());
        let over = is_over.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
        let Some(length) = send(&mut counters, &mut log).filter(|_| !over) else { return };
        next += interval * (if is_first { 1 } else { intervals_of(length) } - 1);
        is_first = false;
        // A host too busy to keep up gets fewer, longer intervals.
        while next <= Instant::now() {
            next += interval;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::counters::{Entry, Layer};
    use model::rng::Rng;

    #[test]
    fn what_does_not_fit_into_an_interval_comes_less_often_but_it_comes() {
        assert_eq!([0, 1, BUDGET].map(intervals_of), [1; 3]);
        assert_eq!(
            [BUDGET + 1, 2 * BUDGET, 2 * BUDGET + 1, usize::MAX].map(intervals_of),
            [2, 2, 3, 10]
        );
    }

    /// What a second of 100 disks sends that all vary by a tenth, each by itself, with requests of
    /// two sizes.
    fn busy_disks(rng: &mut Rng, number: u32) -> CounterSample {
        let disk = |disk: u64, rng: &mut Rng| {
            let mut about = |most: u64| most - rng.below(most / 10 + 1);
            let (reads, writes) = (about(40_000), about(20_000));
            let (read_ns, write_ns) = (about(4_000) * 1_000_000, about(4_000) * 1_000_000);
            let values = vec![
                (Metric::Reads, reads),
                (Metric::ReadsMerged, 0),
                (Metric::ReadBytes, reads * 4_096 + about(1_000) * 65_536),
                (Metric::ReadNs, read_ns),
                (Metric::Writes, writes),
                (Metric::WritesMerged, 0),
                (Metric::WriteBytes, writes * 4_096 + about(1_000) * 65_536),
                (Metric::WriteNs, write_ns),
                (Metric::InFlight, about(40)),
                (Metric::BusyNs, 1_000_000_000),
                (Metric::QueueNs, read_ns + write_ns + about(30) / 10 * 1_000_000),
                (Metric::Flushes, about(1_000)),
                (Metric::FlushNs, 0),
            ];
            Entry { layer: Layer::Block, name: format!("nvme{disk}n1"), values }
        };
        let entries = (0..100).map(|number| disk(number, rng)).collect();
        let length_ns = 1_000_000_000 + rng.below(200_000);
        CounterSample { number, length_ns, entries, ..CounterSample::default() }
    }

    #[test]
    fn a_hundred_busy_disks_keep_to_the_budget() {
        let (mut rng, mut packer) = (Rng::new(1), Packer::new(0));
        let (mut bytes, mut seconds) = (0, 0);
        for number in 0..60 {
            let length = packer.pack(&busy_disks(&mut rng, number)).expect("small").length();
            if number > 0 {
                bytes += length;
                seconds += intervals_of(length) as usize;
            }
        }
        assert!(bytes / 59 < 2_900, "{} bytes a second", bytes / 59);
        assert_eq!(seconds, 59, "each interval has its counters");
        assert!(bytes / seconds <= BUDGET, "{} bytes an interval", bytes / seconds);
    }

    #[test]
    fn only_clocks_are_rounded() {
        let of = |hertz| {
            let values = vec![(Metric::FrequencyHz, hertz), (Metric::CoreThrottles, 1_499_999)];
            let entries = vec![Entry { layer: Layer::Clock, name: "0".into(), values }];
            CounterSample { entries, ..CounterSample::default() }
        };
        assert_eq!(rounded(of(2_893_546_000)), of(2_894_000_000));
        assert_eq!(rounded(of(499_999)), of(0));
        assert_eq!(rounded(of(u64::MAX)).entries[0].values[0].1 % 1_000_000, 0);
    }
}
