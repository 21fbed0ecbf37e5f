//! Reads the host's counters while a stage runs.

use crate::wire::{FromAgent, Outlet};
use model::plan::HostPlan;
use probe::{Counters, Tree};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The least time between two readings: the kernel counts CPU time in steps of 10 ms, and a reading must stay cheap.
const LEAST: Duration = Duration::from_millis(100);

/// A thread beside the stage that sends the host's counters; without one where time is simulated and not ours.
pub(crate) struct Sampler {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Sampler {
    /// Reads the counters for the first time, and from then on at the plan's interval. What the stage does from now on is counted.
    pub(crate) fn start(out: Outlet, plan: &HostPlan, stage: u32) -> Sampler {
        if plan.virtual_time {
            return Sampler { running: None };
        }
        let (host, interval) = (plan.host, Duration::from_nanos(plan.interval.0).max(LEAST));
        let counters = Counters::open(&Tree::real());
        let (end, ended) = channel();
        let send = move |counters: &mut Counters| {
            let mut sample = counters.read();
            (sample.stage, sample.host) = (stage, host);
            out.send(&FromAgent::Counters(Box::new(sample))).is_ok()
        };
        // Without a thread the run goes on; it has no counters then.
        let thread =
            thread::Builder::new().name("counters".to_owned()).spawn(move || sample(counters, interval, &ended, send));
        Sampler { running: thread.ok().map(|thread| (end, thread)) }
    }

    /// Reads them for the last time, so that together the samples cover all of the stage.
    pub(crate) fn end(self) {
        if let Some((end, thread)) = self.running {
            drop(end);
            // A sampler that panicked has nothing left to say.
            let _ = thread.join();
        }
    }
}

fn sample(mut counters: Counters, interval: Duration, ended: &Receiver<()>, send: impl Fn(&mut Counters) -> bool) {
    let mut next = Instant::now() + interval;
    loop {
        let over = ended.recv_timeout(next.saturating_duration_since(Instant::now())) != Err(RecvTimeoutError::Timeout);
        if !send(&mut counters) || over {
            return;
        }
        // A host too busy to keep up gets fewer, longer intervals.
        while next <= Instant::now() {
            next += interval;
        }
    }
}
