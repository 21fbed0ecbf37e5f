//! Where a run stands: pure, fed with its events.

use analysis::loadline::map::budget;
use analysis::loadline::search::MOST_POINTS;
use model::event::{LEAST_WAIT_NS, Waiting};
use model::plan::{HostStage, Stage, Stop};
use model::search::SearchAxis;
use model::{Event, Histogram, IntervalSample, Nanos, NoteKind, Op, Plan, StageEnd};
use report::ground::stage::{name, name_at};
use report::ground::words;
use report::topics::note;
use std::collections::BTreeMap;

/// What a rate of requests for blocks counts.
const IOPS: &str = "IOPS";
const P99: (&str, f64) = ("p99", 0.99);

/// Where a run stands.
#[derive(Clone, Debug)]
pub struct Progress {
    stages: Vec<StageLine>,
    /// Points that are planned, those that a search added included.
    points: usize,
    /// How many they may become; as text.
    most_points: String,
    /// Whether stages are added, so that nobody knows how many there will be.
    grows: bool,
    current: Option<Current>,
    ended: Option<StageEnd>,
    /// Notes of other runs on the same hosts.
    other_runs: u32,
}

#[derive(Clone, Debug)]
struct StageLine {
    name: String,
    is_metadata: bool,
    /// Whether a kernel counted its requests, which says no latencies.
    is_commanded: bool,
    goal: Goal,
}

/// What a stage has to reach.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// Time, in ns.
    Time(u64),
    /// Bytes on all hosts together.
    Bytes(u64),
    /// Operations, failed ones included.
    Operations(u64),
}

impl Goal {
    /// That of a stage of the plan.
    pub fn of(plan: &Plan, number: u32, stage: &Stage) -> Goal {
        match stage.stop() {
            Stop::After(time) => Goal::Time(time.0),
            Stop::Steady(steady) => Goal::Time(steady.most.0),
            Stop::Amount | Stop::Once(_) if stage.is_metadata() => {
                let stages = plan.hosts.iter().filter_map(|host| host.stages.get(number as usize));
                Goal::Operations(stages.map(HostStage::operations).fold(0, u64::saturating_add))
            }
            Stop::Amount => Goal::Bytes(plan.stage_bytes(number).0),
            Stop::Once(_) => Goal::Bytes(plan.amount(number).0),
        }
    }

    /// The share of it that is done, 0 to 1, by the time in ns, the bytes and the operations that
    /// it took so far.
    pub fn share(self, elapsed_ns: u64, bytes: u64, operations: u64) -> f64 {
        let (done, goal) = match self {
            Goal::Time(ns) => (elapsed_ns, ns),
            Goal::Bytes(goal) => (bytes, goal),
            Goal::Operations(goal) => (operations, goal),
        };
        if goal == 0 { 1.0 } else { (done as f64 / goal as f64).min(1.0) }
    }
}

#[derive(Clone, Debug)]
struct Current {
    stage: usize,
    elapsed_ns: u64,
    total: Figures,
    /// By interval: the last one that every host reported is the one to show.
    last: (u32, Figures),
    /// What has no answer, by host: how many requests, and the age of the oldest in ns.
    waiting: BTreeMap<u32, (u64, u64)>,
}

#[derive(Clone, Debug, Default)]
struct Figures {
    ios: u64,
    errors: u64,
    bytes: u64,
    length_ns: BTreeMap<u32, u64>,
    latency: Histogram,
}

impl Figures {
    fn add(&mut self, sample: &IntervalSample) {
        if sample.phase.counts() {
            *self.length_ns.entry(sample.host).or_insert(0) += sample.length_ns;
        }
        for op in &sample.ops {
            self.errors += op.error_count();
            // As in results, an fsync is no I/O of the whole.
            if sample.phase.counts() && op.op != Op::Fsync {
                self.ios += op.ios;
                self.bytes += op.bytes;
                // An agent's own samples; one that is no histogram is refused where it is recorded.
                let _ = op.latency.merge_into(&mut self.latency);
            }
        }
    }

    /// `182,000 IOPS  711 MiB/s  p99 1.2 ms`
    fn words(&self, unit: &str, quantiles: &[(&str, f64)]) -> String {
        let seconds = self.length_ns.values().max().map_or(0.0, |ns| *ns as f64 / 1e9);
        if seconds <= 0.0 {
            return "nothing yet".to_owned();
        }
        // Operations on files have no bandwidth, unless they move bytes.
        let bandwidth = if self.bytes == 0 && unit != IOPS {
            "–".to_owned()
        } else {
            words::bandwidth(self.bytes as f64 / seconds)
        };
        let mut text =
            format!("{:>9} {unit}  {bandwidth:>12}", words::iops(self.ios as f64 / seconds),);
        for (name, share) in quantiles {
            text.push_str(&format!(
                "  {name} {}",
                words::latency(self.latency.quantile_ns(*share))
            ));
        }
        if self.errors > 0 {
            text.push_str(&format!("  {}", words::counted(self.errors, "error")));
        }
        text
    }
}

impl Progress {
    /// A run of `plan` that has not begun.
    pub fn new(plan: &Plan) -> Progress {
        let widest =
            plan.stages.iter().map(|stage| name(plan, stage).chars().count()).max().unwrap_or(0);
        let line = |(number, stage): (u32, &Stage)| StageLine {
            name: format!("{:widest$}", name(plan, stage)),
            is_metadata: stage.is_metadata(),
            is_commanded: stage.works.iter().any(|work| work.command.is_some()),
            goal: Goal::of(plan, number, stage),
        };
        Progress {
            stages: (0..).zip(&plan.stages).map(line).collect(),
            points: plan.points.len(),
            most_points: most_points(plan),
            grows: grows(plan),
            current: None,
            ended: None,
            other_runs: 0,
        }
    }

    /// What a log has of an event that this took in already, if it is a note. A run beside others
    /// would be told of them at every stage: the first one is told, and how many there were.
    pub(crate) fn note(&self, event: &Event) -> Option<String> {
        let more = self.other_runs.saturating_sub(1);
        match event {
            Event::Note(note) if note.fact.is_bookkeeping() => None,
            Event::Note(note) if note.kind() == NoteKind::OtherRun && more > 0 => None,
            Event::Note(note) => Some(format!("note: {}", note::line(&note.fact))),
            Event::RunEnded { .. } if more > 0 => Some(format!(
                "note: another run: {}; the doubts name the runs",
                words::counted(u64::from(more), "more such note")
            )),
            _ => None,
        }
    }

    /// Takes in what happened.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::StageStarted { stage, .. } => {
                self.ended = None;
                let last = (0, Figures::default());
                let current = Current {
                    stage: *stage as usize,
                    elapsed_ns: 0,
                    total: Figures::default(),
                    last,
                    waiting: BTreeMap::new(),
                };
                self.current = Some(current).filter(|current| current.stage < self.stages.len());
            }
            Event::Sample(sample) => {
                if let Some(current) =
                    self.current.as_mut().filter(|current| current.stage == sample.stage as usize)
                {
                    current.add(sample);
                }
            }
            Event::Waiting(waiting) => {
                if let Some(current) =
                    self.current.as_mut().filter(|current| current.stage == waiting.stage as usize)
                {
                    current.wait(waiting);
                }
            }
            Event::PointAdded(addition) => {
                let repeats = addition.point.repetition > 1;
                self.points += 1;
                let count = format!("point {} of {}: ", self.points, self.most_points);
                // What a search adds ends after a time.
                let line = |stage: &Stage| StageLine {
                    name: format!("{count}{}", name_at(&addition.point, stage, repeats)),
                    is_metadata: stage.is_metadata(),
                    is_commanded: stage.works.iter().any(|work| work.command.is_some()),
                    goal: match stage.stop() {
                        Stop::After(time) => Goal::Time(time.0),
                        Stop::Steady(steady) => Goal::Time(steady.most.0),
                        Stop::Amount | Stop::Once(_) => Goal::Bytes(0),
                    },
                };
                let lines = addition.stages.iter().map(line);
                self.stages.extend(lines);
            }
            Event::StageEnded { end, .. } => self.ended = Some(end.clone()),
            Event::Note(note) => {
                self.other_runs += u32::from(note.kind() == NoteKind::OtherRun);
            }
            Event::Counters(_)
            | Event::Happened(_)
            | Event::HostStarted(_)
            | Event::HostEnded(_)
            | Event::RunEnded { .. } => {}
        }
    }

    /// The share of the stage that is done, 0 to 1.
    pub fn share(&self) -> f64 {
        let Some((line, current)) = self.line() else { return 0.0 };
        let total = &current.total;
        line.goal.share(current.elapsed_ns, total.bytes, total.ios + total.errors)
    }

    /// Whether the stage did all that it was to do.
    pub fn is_done(&self) -> bool {
        self.share() >= 1.0
    }

    /// Time since the stage's start, in ns, as its samples tell.
    pub fn elapsed_ns(&self) -> u64 {
        self.current.as_ref().map_or(0, |current| current.elapsed_ns)
    }

    /// `[ 3/15] 4k-random-read · measure`, or `[3] …` where stages are added while it runs.
    pub fn head(&self) -> String {
        let Some((line, current)) = self.line() else { return String::new() };
        let digits = self.stages.len().to_string().len();
        let all = if self.grows { String::new() } else { format!("/{}", self.stages.len()) };
        format!("[{:>digits$}{all}] {}", current.stage + 1, line.name)
    }

    /// The figures of the last interval, and what waits.
    pub fn now(&self) -> String {
        self.now_with(&[P99])
    }

    /// The same with the median.
    pub fn now_with_median(&self) -> String {
        self.now_with(&[("p50", 0.5), P99])
    }

    fn now_with(&self, quantiles: &[(&str, f64)]) -> String {
        let Some(current) = &self.current else { return String::new() };
        let figures = self.words(&current.last.1, quantiles);
        let (requests, oldest_ns) = current
            .waiting
            .values()
            .fold((0u64, 0), |all, one| (all.0.saturating_add(one.0), all.1.max(one.1)));
        match requests {
            0 => figures,
            _ => format!("{figures}  {}", words::unanswered(requests, oldest_ns)),
        }
    }

    /// How long the stage still takes, in words; empty until there is something to go by.
    pub fn eta(&self) -> String {
        let share = self.share();
        if share <= 0.0 {
            return String::new();
        }
        let left = self.elapsed_ns() as f64 * (1.0 - share) / share;
        match (left / 1e9).ceil() as u64 {
            0 => String::new(),
            seconds => format!("ETA {}", Nanos(seconds.saturating_mul(1_000_000_000))),
        }
    }

    /// The whole stage in a line.
    pub fn summary(&self) -> String {
        let Some((_, current)) = self.line() else { return String::new() };
        let how = match &self.ended {
            Some(StageEnd::Interrupted) => "  (interrupted)",
            Some(StageEnd::Failed(_) | StageEnd::Panicked(_)) => "  (failed)",
            _ => "",
        };
        let time = Nanos(current.elapsed_ns);
        format!(
            "{}  {:>6}  {}{how}",
            self.head(),
            time.to_string(),
            self.words(&current.total, &[P99])
        )
    }

    fn words(&self, figures: &Figures, quantiles: &[(&str, f64)]) -> String {
        let line = self.line().map(|(line, _)| line);
        let unit = if line.is_some_and(|line| line.is_metadata) { "op/s" } else { IOPS };
        let is_commanded = line.is_some_and(|line| line.is_commanded);
        figures.words(unit, if is_commanded { &[] } else { quantiles })
    }

    fn line(&self) -> Option<(&StageLine, &Current)> {
        let current = self.current.as_ref()?;
        Some((self.stages.get(current.stage)?, current))
    }
}

impl Current {
    /// A target that answers nothing may hold up every sample: time goes on without them.
    fn wait(&mut self, waiting: &Waiting) {
        let behind_ns = waiting.at_ns.saturating_sub(self.elapsed_ns);
        self.elapsed_ns = self.elapsed_ns.max(waiting.at_ns);
        self.waiting.remove(&waiting.host);
        if waiting.requests() > 0 {
            self.waiting.insert(waiting.host, (waiting.requests(), waiting.oldest_ns()));
            if behind_ns >= LEAST_WAIT_NS {
                let length_ns = BTreeMap::from([(waiting.host, behind_ns)]);
                self.last.1 = Figures { length_ns, ..Figures::default() };
            }
        }
    }

    fn add(&mut self, sample: &IntervalSample) {
        self.total.add(sample);
        if sample.phase.counts() {
            self.elapsed_ns = self.elapsed_ns.max(sample.start_ns + sample.length_ns);
            if sample.interval > self.last.0 {
                self.last = (sample.interval, Figures::default());
            }
            if sample.interval == self.last.0 {
                self.last.1.add(sample);
            }
        }
    }
}

/// Whether the stages of a plan are not all of it: others follow from what is measured.
pub(crate) fn grows(plan: &Plan) -> bool {
    plan.search.is_some() || plan.rounds.most > 0 || !plan.rate_shares.shares.is_empty()
}

fn most_points(plan: &Plan) -> String {
    match &plan.search {
        None if plan.rounds.most > 0 => {
            format!("≤ {}", u64::from(plan.rounds.most) * u64::from(plan.rounds.points))
        }
        None => (plan.points.len() + plan.rate_shares.shares.len()).to_string(),
        Some(search) if search.along == SearchAxis::Map => {
            format!("≤ {}", budget(search.grid.len()))
        }
        Some(_) => format!("≤ {MOST_POINTS}"),
    }
}
