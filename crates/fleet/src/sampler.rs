//! Reads the host's counters, while a stage runs or for somebody who watches.

use crate::link::Outlet;
use crate::packed::Packer;
use crate::wire::FromAgent;
use model::plan::HostPlan;
use probe::{Counters, KernelLog, Tree};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The least time between two readings: the kernel counts CPU time in steps of 10 ms, and a reading must stay cheap.
const LEAST: Duration = Duration::from_millis(100);
/// How long the stage waits for the first and for the last reading. A driver that hangs while it is asked must hold up no run.
const PATIENCE: Duration = Duration::from_secs(2);

/// The number of the next stream of counters. One that was given up may still say something when the next one has begun.
static STREAMS: AtomicU64 = AtomicU64::new(0);

/// A thread beside the stage that sends the host's counters; without one where time is simulated and not ours.
pub(crate) struct Sampler {
    running: Option<Running>,
}

struct Running {
    /// Closed to end the thread.
    end: Sender<()>,
    /// Closed by the thread when it has ended.
    ended: Receiver<()>,
    /// Told once, when the first reading is over; gone when that was heard.
    is_ready: Option<Receiver<()>>,
}

impl Sampler {
    /// Begins to read the counters, and goes on at the plan's interval. What the stage does once this is [ready](Sampler::ready) is counted.
    pub(crate) fn start(out: Outlet, plan: &HostPlan, stage: u32) -> Sampler {
        if plan.virtual_time {
            return Sampler { running: None };
        }
        Sampler::begin(out, Duration::from_nanos(plan.interval.0), stage, plan.host)
    }

    /// Reads them at an interval in ns until the end, without any stage. The host's number is the coordinator's to give.
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
                    return false;
                }
            }
            let mut sample = counters.read();
            (sample.stage, sample.host) = (stage, host);
            let message = match packer.pack(&sample) {
                Some(frame) => FromAgent::Counted(frame),
                None => FromAgent::Counters(Box::new(sample)),
            };
            out.send(&message).is_ok()
        };
        let (ready, is_ready) = channel();
        let (end, is_over) = channel();
        let (over, ended) = channel();
        let run = move || {
            // Closed when this ends, however it does.
            let _over: Sender<()> = over;
            let reads = (Counters::open(&Tree::real()), KernelLog::open());
            if ready.send(()).is_ok() {
                sample(reads, interval, &is_over, send);
            }
        };
        // Without a thread the run goes on; the stage has no counters then.
        let thread = thread::Builder::new().name("counters".to_owned()).spawn(run);
        Sampler { running: thread.is_ok().then_some(Running { end, ended, is_ready: Some(is_ready) }) }
    }

    /// Waits until the first reading is over, which may go on beside the stage's setting up. One that is not over in time is given up: the
    /// stage has no counters then.
    pub(crate) fn ready(&mut self) {
        let Some(is_ready) = self.running.as_mut().and_then(|running| running.is_ready.take()) else { return };
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

fn sample(
    (mut counters, mut log): (Counters, KernelLog),
    interval: Duration,
    is_over: &Receiver<()>,
    mut send: impl FnMut(&mut Counters, &mut KernelLog) -> bool,
) {
    let mut next = Instant::now() + interval;
    loop {
        let wait = next.saturating_duration_since(Instant::now());
        let over = is_over.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
        if !send(&mut counters, &mut log) || over {
            return;
        }
        // A host too busy to keep up gets fewer, longer intervals.
        while next <= Instant::now() {
            next += interval;
        }
    }
}
