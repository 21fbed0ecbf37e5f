//! What the block layer sees of a command's requests, each from its issue to its completion.

use model::note::Traced;
use model::testbed::TargetFacts;
use model::{Histogram, Op};
use probe::block_trace::{BlockTrace, BlockTraceError};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often the kernel's buffers are emptied: they hold the events of some seconds.
const ROUND: Duration = Duration::from_millis(50);

/// Recordings of the devices below some targets.
pub(super) struct Traces(Vec<BlockTrace>);

/// Recordings that are read by a thread of their own until this is finished or dropped.
pub(super) struct Reading {
    until: Sender<()>,
    reader: JoinHandle<Result<Traced, String>>,
}

impl Traces {
    /// One for each device, so that no request counts twice.
    ///
    /// # Errors
    /// In words: a target whose device cannot be recorded.
    pub(super) fn start(targets: &[TargetFacts]) -> Result<Traces, String> {
        let mut traces: Vec<BlockTrace> = Vec::new();
        for target in targets {
            let path = Path::new(&target.path);
            let trace = BlockTrace::start(path).map_err(|error| error.words(path))?;
            if traces.iter().all(|other| other.device().name != trace.device().name) {
                traces.push(trace);
            }
        }
        Ok(Traces(traces))
    }

    /// From now on it counts.
    pub(super) fn begin(self) -> Reading {
        let (until, over) = channel();
        let reader = thread::spawn(move || read(self.0, &over));
        Reading { until, reader }
    }
}

impl Reading {
    /// What was seen, or why nothing is known.
    pub(super) fn finish(self) -> Traced {
        drop(self.until);
        let of_reader = self.reader.join().unwrap_or_else(|_| Err("its reader died".to_owned()));
        of_reader.unwrap_or_else(|unknown| Traced { latencies: Vec::new(), unknown })
    }
}

fn read(mut traces: Vec<BlockTrace>, over: &Receiver<()>) -> Result<Traced, String> {
    let failed = |error: BlockTraceError| error.words(Path::new("a device"));
    traces.iter_mut().try_for_each(BlockTrace::begin).map_err(failed)?;
    while over.recv_timeout(ROUND) == Err(RecvTimeoutError::Timeout) {
        for trace in &mut traces {
            trace.read(&mut |_| Ok(())).map_err(failed)?;
        }
    }
    let mut all = BTreeMap::<Op, Histogram>::new();
    for trace in traces {
        let end = trace.finish(&mut |_| Ok(())).map_err(failed)?;
        let lost = format!("the kernel had no room for {} of its events", end.lost);
        let none = "this kernel tells no completions, or more was under way than is held";
        let why = if end.lost > 0 { lost } else { none.to_owned() };
        for (op, latency) in &end.latencies.ok_or(why)? {
            all.entry(*op).or_default().merge(latency);
        }
    }
    let latencies = all.iter().map(|(op, latency)| (*op, latency.encode())).collect();
    Ok(Traced { latencies, unknown: String::new() })
}
