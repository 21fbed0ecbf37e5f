//! A stage that a command of the user's carries out: it begins at the agreed instant, what the
//! kernel counts at its targets becomes the stage's samples, and it ends with all its processes.

mod child;
mod output;
mod traced;

use child::Child;
use engine::{Clock, Control, StageOutcome, When};
use model::counters::{Entry, Layer, Metric};
use model::inventory::LinkKind;
use model::note::{EndedBy, Told};
use model::plan::{CommandWork, HostPlan, HostStage};
use model::sample::{OpSample, Phase};
use model::testbed::TargetFacts;
use model::units::Bytes;
use model::{CounterSample, Fact, Histogram, IntervalSample, Nanos, Note, Op};
use output::{Folder, read_out};
use probe::{Counters, Tree};
use std::thread;
use std::time::Duration;
use traced::{Reading, Traces};

/// How often it is looked whether the run is to stop, less than a second.
const LOOK: Duration = Duration::from_millis(50);
/// A tool that was given the same time as the stage began a little after it: so long it may take to
/// end by itself, before it is asked to. What it sends then is in no rate.
const GRACE: Nanos = Nanos::seconds(2);
/// So long it may take to end once it was asked.
const PATIENCE: Nanos = Nanos::seconds(2);
/// A tool reads its job and starts its threads before it loads: the stage is that much longer, at
/// most, and what is idle before the first request is in no rate.
const MOST_LEAD: Nanos = Nanos::seconds(10);

/// What is started, and where it is watched.
pub(super) struct Order<'a> {
    pub(super) plan: &'a HostPlan,
    pub(super) stage: &'a HostStage,
    pub(super) command: &'a CommandWork,
    /// What the stage's targets are to this host.
    pub(super) targets: &'a [TargetFacts],
}

impl Order<'_> {
    /// Runs the stage, and tells `sink` each interval. `when` says when the command begins.
    pub(super) fn run(
        &self,
        control: &Control,
        when: When<'_>,
        sink: &mut dyn FnMut(IntervalSample),
    ) -> StageOutcome {
        let mut outcome = StageOutcome::called_off();
        let folder = Folder::make(&self.plan.run_id);
        let words = self.words(&folder);
        let mut meter = Meter::new(self);
        let traces = self.command.trace.then(|| Traces::start(self.targets)).transpose();
        let Some(start_ns) = when() else { return outcome };
        let traces = match traces {
            Ok(traces) => traces,
            Err(why) => return self.not_started(outcome, words, why),
        };
        let length = self.stage.stop().time().unwrap_or_default();
        control.begin_stage(self.stage.stage, start_ns, start_ns.saturating_add(length.0));
        thread::sleep(Duration::from_nanos(start_ns.saturating_sub(control.clock().now_ns())));
        meter.begin(start_ns);
        let began_ns = control.clock().now_ns();
        outcome.late_ns = began_ns.saturating_sub(start_ns);
        let traces = traces.map(Traces::begin);
        let mut child = match Child::start(&words) {
            Ok(child) => child,
            Err(_) if control.is_stopped() => return outcome,
            Err(why) => return self.not_started(outcome, words, why),
        };
        self.load(control, &mut child, &mut meter, sink);
        let by = end(control, &mut child);
        meter.take(control.clock().now_ns(), Phase::Drain, sink);
        meter.idle.clear();
        let took = Nanos(control.clock().now_ns().saturating_sub(began_ns));
        let ended = child.finish();
        let traced = traces.map(Reading::finish);
        let is_named = self.command.words.iter().any(|word| word.contains("{out}"));
        let written = if is_named { read_out(&folder) } else { None };
        let (output, bytes) = written.unwrap_or(ended.output);
        let told = Told {
            command: words,
            by,
            code: ended.code,
            signal: ended.signal,
            took,
            output,
            bytes: Bytes(bytes),
            errors: ended.errors,
            left: ended.left,
            traced,
            ..Told::default()
        };
        outcome.interrupted = control.is_stopped();
        outcome.failed = told.is_failed() && !outcome.interrupted;
        outcome.findings.push(self.note(told));
        outcome
    }

    /// The words of the command on this host.
    fn words(&self, folder: &Folder) -> Vec<String> {
        let seed = self.stage.workers.first().map_or(0, |worker| worker.seed).to_string();
        let paths: Vec<&str> = self.targets.iter().map(|target| target.path.as_str()).collect();
        let (target, out) = (paths.join(":"), folder.out().display().to_string());
        let host = self.plan.hostname.as_str();
        let values = [("host", host), ("target", &target), ("out", &out), ("seed", &seed)];
        self.command.filled(&values)
    }

    fn not_started(&self, outcome: StageOutcome, words: Vec<String>, why: String) -> StageOutcome {
        let told = Told { command: words, by: EndedBy::NotStarted, errors: why, ..Told::default() };
        let findings = vec![self.note(told)];
        StageOutcome { interrupted: false, failed: true, findings, ..outcome }
    }

    fn note(&self, told: Told) -> Note {
        let (stage, host) = (Some(self.stage.stage), self.plan.host);
        Note { stage, host, fact: Fact::Told(Box::new(told)) }
    }

    /// Takes the kernel's counts, interval after interval, until the command or the stage ends.
    fn load(
        &self,
        control: &Control,
        child: &mut Child,
        meter: &mut Meter,
        sink: &mut dyn FnMut(IntervalSample),
    ) {
        let interval_ns = self.plan.interval.0.max(1);
        let length = self.stage.stop().time().unwrap_or_default().0;
        loop {
            let due_ns = meter.last_ns.saturating_add(interval_ns);
            let until_ns = due_ns.min(control.stop_at_ns());
            let has_ended = wait(control, child, until_ns);
            let now_ns = control.clock().now_ns();
            meter.take(now_ns, Phase::Load, sink);
            let lead_ns = now_ns.saturating_sub(meter.start_ns);
            if meter.next == 0 && lead_ns <= MOST_LEAD.0 && !control.is_stopped() {
                control.begin_stage(
                    self.stage.stage,
                    meter.start_ns,
                    now_ns.saturating_add(length),
                );
            }
            if has_ended || now_ns >= control.stop_at_ns() {
                return;
            }
        }
    }
}

/// Waits until the command has ended, or for an instant, which a stop may bring nearer. Whether it
/// has ended.
fn wait(control: &Control, child: &mut Child, until_ns: u64) -> bool {
    loop {
        if child.has_ended() {
            return true;
        }
        let left = until_ns.min(control.stop_at_ns().max(control.clock().now_ns()));
        let left_ns = left.saturating_sub(control.clock().now_ns());
        if left_ns == 0 {
            return false;
        }
        child.rest(LOOK.min(Duration::from_nanos(left_ns)));
    }
}

/// Sees to it that the command ends, and says what ended it.
fn end(control: &Control, child: &mut Child) -> EndedBy {
    let ends_within = |child: &mut Child, time: Nanos, is_over: &dyn Fn() -> bool| {
        let until_ns = control.clock().now_ns().saturating_add(time.0);
        while !child.has_ended() && control.clock().now_ns() < until_ns && !is_over() {
            child.rest(LOOK);
        }
        child.has_ended()
    };
    if ends_within(child, GRACE, &|| control.is_stopped()) {
        return EndedBy::Itself;
    }
    child.ask();
    match ends_within(child, PATIENCE, &|| false) {
        true => EndedBy::Asked,
        false => {
            child.kill();
            EndedBy::Killed
        }
    }
}

/// The kernel's counts of the devices below the targets, as samples of a stage.
struct Meter {
    counters: Counters,
    /// Layer and name of what is counted.
    watched: Vec<(Layer, String)>,
    stage: u32,
    host: u32,
    start_ns: u64,
    last_ns: u64,
    next: u32,
    /// Intervals without a request behind one that had some: they count once another has.
    idle: Vec<IntervalSample>,
}

impl Meter {
    fn new(of: &Order<'_>) -> Meter {
        let watched = of.targets.iter().filter_map(device).collect();
        Meter {
            counters: Counters::open(&Tree::real()),
            watched,
            stage: of.stage.stage,
            host: of.plan.host,
            start_ns: 0,
            last_ns: 0,
            next: 0,
            idle: Vec::new(),
        }
    }

    /// What was counted until now is not the command's.
    fn begin(&mut self, start_ns: u64) {
        self.counters.read();
        (self.start_ns, self.last_ns) = (start_ns, start_ns);
    }

    /// Tells what was counted since the last time. Idle time before the first request and behind
    /// the last one is the tool's own, and told as nothing.
    fn take(&mut self, now_ns: u64, phase: Phase, sink: &mut dyn FnMut(IntervalSample)) {
        let counted = self.counters.read();
        let sample = IntervalSample {
            stage: self.stage,
            host: self.host,
            interval: self.next,
            start_ns: self.last_ns.saturating_sub(self.start_ns),
            length_ns: now_ns.saturating_sub(self.last_ns),
            phase,
            ops: ops(&counted, &self.watched),
            workers: Vec::new(),
        };
        self.last_ns = now_ns;
        if phase == Phase::Load && sample.ops.is_empty() {
            if self.next > 0 {
                self.idle.push(sample);
                self.next = self.next.saturating_add(1);
            }
            return;
        }
        self.next = self.next.saturating_add(1);
        if phase == Phase::Load {
            self.idle.drain(..).for_each(&mut *sink);
        }
        sink(sample);
    }
}

/// Where the requests to a target are counted: at the uppermost whole device below it, or at its
/// mount, where a server has the devices.
fn device(target: &TargetFacts) -> Option<(Layer, String)> {
    let is_whole = |kind: LinkKind| !matches!(kind, LinkKind::Partition);
    let links = target.chain.iter().filter(|link| is_whole(link.kind));
    let of_chain = links.filter_map(|link| link.device.as_ref()).next();
    let found = of_chain.or(target.device.as_ref());
    found.map(|device| (Layer::Block, device.name.clone())).or_else(|| {
        let is_network = target.chain.first().is_some_and(|link| link.kind == LinkKind::Network);
        let path = std::path::absolute(&target.path).ok().filter(|_| is_network)?;
        Some((Layer::Nfs, path.to_string_lossy().into_owned()))
    })
}

/// Whether an entry is of something that is watched: a device by its name, a mount by the paths
/// below it.
fn is_of(entry: &Entry, watched: &[(Layer, String)]) -> bool {
    watched.iter().any(|(layer, name)| match layer {
        Layer::Nfs => {
            entry.layer == Layer::Nfs && std::path::Path::new(name).starts_with(&*entry.name)
        }
        layer => entry.layer == *layer && *name == *entry.name,
    })
}

/// What the devices did, by direction. A kernel counts how long requests took all together: each
/// counts here as their mean, which is no latency of a request and is shown as none.
fn ops(counted: &CounterSample, watched: &[(Layer, String)]) -> Vec<OpSample> {
    const OPS: [(Op, [Metric; 3]); 3] = [
        (Op::Read, [Metric::Reads, Metric::ReadBytes, Metric::ReadNs]),
        (Op::Write, [Metric::Writes, Metric::WriteBytes, Metric::WriteNs]),
        (Op::Trim, [Metric::Discards, Metric::DiscardBytes, Metric::DiscardNs]),
    ];
    let sum = |wanted: Metric| {
        let entries = counted.entries.iter().filter(|entry| is_of(entry, watched));
        let values = entries.flat_map(|entry| &entry.values);
        let values = values.filter(|(metric, _)| *metric == wanted).map(|(_, value)| *value);
        values.fold(0, u64::saturating_add)
    };
    let of = |(op, metrics): (Op, [Metric; 3])| {
        let [ios, bytes, all_ns] = metrics.map(sum);
        let mut latency = Histogram::new();
        latency.record_many(all_ns.checked_div(ios)?, ios);
        let latency = latency.encode();
        let (errors, raw_latencies) = (Vec::new(), Vec::new());
        Some(OpSample { work: 0, op, ios, bytes, errors, latency, raw_latencies })
    };
    OPS.into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_watched_devices_did_is_told_by_direction_and_others_are_left_out() {
        let entry = |name: &str, layer, values: &[(Metric, u64)]| Entry {
            layer,
            name: name.to_owned(),
            values: values.to_vec(),
        };
        let read = [(Metric::Reads, 4), (Metric::ReadBytes, 16_384), (Metric::ReadNs, 4_000)];
        let counted = CounterSample {
            entries: vec![
                entry("loop0", Layer::Block, &read),
                entry("sda", Layer::Block, &[(Metric::Writes, 9), (Metric::WriteBytes, 9)]),
                entry("/mnt/n", Layer::Nfs, &[(Metric::Writes, 2), (Metric::WriteBytes, 8_192)]),
            ],
            ..CounterSample::default()
        };
        let of = |layer, name: &str| ops(&counted, &[(layer, name.to_owned())]);
        let found = of(Layer::Block, "loop0");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].op, found[0].ios, found[0].bytes), (Op::Read, 4, 16_384));
        let latency = found[0].latency.decode().expect("a histogram");
        assert_eq!((latency.count(), latency.mean_ns()), (4, Some(1_000.0)));
        assert_eq!(of(Layer::Nfs, "/mnt/n/x").len(), 1);
        assert!(of(Layer::Nfs, "/mnt/nn").is_empty() && of(Layer::Block, "sdb").is_empty());
    }
}
