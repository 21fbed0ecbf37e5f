//! What a seed says: hosts, links, clocks, and what goes wrong.

mod fate;
mod plans;

use super::agent::Behaviour;
use super::clock::HostTime;
use super::load::{self, Load};
use super::stream::Line;
use super::{MILLI, SECOND};
use model::HostPlan;
use model::choices::{Access, Backend, OnLostHost};
use model::plan::{
    EngineSettings, Extent, FleetPolicy, HostStage, Plan, PlannedTarget, Stage, StageKind, Stop,
    Target, TargetFile, Work, Worker,
};
use model::rng::{Rng, derive};
use model::units::{Bytes, Nanos, Percent};

/// A whole fleet and its fate.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) seed: u64,
    pub(super) plan: Plan,
    /// Those of the plan that are to run.
    pub(super) stages: Vec<u32>,
    pub(super) hosts: Vec<HostScript>,
    /// How many hosts each reaches by himself; the others over these.
    pub(super) fanout: usize,
    pub(super) coordinator: CoordinatorScript,
    /// How many points a search adds, if the plan searches.
    pub(super) further_points: Option<u32>,
    /// The files of the run stay.
    pub(super) keep_data: bool,
    /// When somebody sets a mark, in ns of true time.
    pub(super) marks_ns: Vec<u64>,
    /// Nothing happens after this; a run that is not over then never is, in ns of true time.
    pub(super) gives_up_ns: u64,
}

/// One host and how it is reached.
#[derive(Clone, Debug)]
pub(super) struct HostScript {
    pub(super) time: HostTime,
    pub(super) behaviour: Behaviour,
    pub(super) load: Load,
    pub(super) down: Line,
    pub(super) up: Line,
    pub(super) mishap: Option<Mishap>,
    /// It has no agent when the run begins.
    pub(super) is_absent: bool,
    /// Its stream breaks, and another one takes its place.
    pub(super) taken_up_again: bool,
}

/// What befalls a host or its stream, in ns of true time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mishap {
    /// It ends. Its system closes the stream so much later, because it goes on, or starts again;
    /// `None` is never.
    Dies { at_ns: u64, closed_after_ns: Option<u64> },
    /// The stream breaks in the middle of what is under way.
    Breaks { at_ns: u64 },
    /// It stands still.
    Stalls { from_ns: u64, until_ns: u64 },
}

/// What befalls the coordinator, in ns of true time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CoordinatorScript {
    pub(super) stalls: Option<(u64, u64)>,
    /// Its steady clock stands still meanwhile: a virtual machine that is not scheduled.
    pub(super) clock_stalls: bool,
    /// Somebody ends the run.
    pub(super) interrupted_at_ns: Option<u64>,
    /// So many events can be recorded.
    pub(super) records: Option<u64>,
    /// Its process ends, and the streams with it.
    pub(super) dies_at_ns: Option<u64>,
    /// Somebody takes its agents over then.
    pub(super) taken_over_at_ns: Option<u64>,
    /// Its wall clock steps by so much at that time.
    pub(super) wall_step_ns: Option<(u64, i64)>,
}

/// Which stages a made-up fleet has.
#[derive(Clone, Debug)]
pub(super) struct Size {
    pub(super) hosts: u32,
    /// The length of each stage, in ns.
    pub(super) stages_ns: Vec<u64>,
    pub(super) interval_ns: u64,
}

/// How much goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weather {
    /// Links differ and clocks are off; nothing fails.
    Calm,
    /// Some hosts or links fail, or the coordinator.
    Foul,
}

fn size_and_policy(shape: &mut Rng, hosts: u32, stages: u64) -> (Size, FleetPolicy) {
    let size = Size {
        hosts,
        stages_ns: (0..stages).map(|_| 100 * MILLI + shape.below(8 * SECOND)).collect(),
        interval_ns: [200 * MILLI, SECOND][shape.below(2) as usize],
    };
    let policy = FleetPolicy {
        on_lost_host: [OnLostHost::Abort, OnLostHost::Continue][shape.below(2) as usize],
        quorum: 1 + shape.below(u64::from(hosts)) as u32,
        lost_after: Nanos(2 * SECOND + shape.below(10 * SECOND)),
        hold: Nanos(0),
    };
    (size, policy)
}

impl Scenario {
    /// The fleet of `seed`. With another `attempt`, the same plan meets another fate; only these of
    /// its stages run, or all.
    pub(super) fn of_seed(
        seed: u64,
        attempt: u32,
        stages_left: Option<&[u32]>,
        weather: Weather,
    ) -> Scenario {
        let mut shape = Rng::new(derive(seed, &[1]));
        let hosts =
            if shape.below(50) == 0 { 20 + shape.below(50) } else { 1 + shape.below(7) } as u32;
        let further_points = plans::searched(seed);
        let stages = further_points.map_or_else(|| 1 + shape.below(4), |more| 1 + u64::from(more));
        let (size, policy) = size_and_policy(&mut shape, hosts, stages);
        let mut scenario = Scenario::calm(seed, &size, policy);
        if derive(seed, &[13]).is_multiple_of(3) {
            let within = 5 * SECOND + derive(seed, &[14]) % (40 * SECOND);
            scenario.plan.fleet.hold = Nanos(within);
        }
        scenario.further_points = further_points;
        let searches = further_points.is_some();
        if stages > 1 && !searches && derive(seed, &[8]).is_multiple_of(2) {
            (scenario.plan.stages[0].kind, scenario.plan.stages[0].point) =
                (StageKind::Prepare, None);
        }
        let mut tree = Rng::new(derive(seed, &[7]));
        if tree.below(2) == 0 {
            // The slowest links over more levels than three or four would be a silence that is too
            // long.
            scenario.fanout = if hosts > 8 { 4 } else { 2 } + tree.below(4) as usize;
        }
        scenario.draw_plan(&size);
        if !searches {
            scenario.cut_into_layouts(&size);
        }
        if let Some(stages) = stages_left {
            scenario.stages = stages.to_vec();
        }
        let mut fate = Rng::new(derive(seed, &[2, u64::from(attempt)]));
        // About as long as the run takes, so that mishaps strike everywhere.
        let span_ns =
            scenario.stages.iter().map(|stage| size.stages_ns[*stage as usize]).sum::<u64>()
                + u64::from(further_points.unwrap_or(0)) * size.stages_ns[0] * 2
                + (stages + 1) * 700 * MILLI;
        let swarm = Scenario::swarm(seed, attempt);
        for host in &mut scenario.hosts {
            host.vary(&mut fate);
            if weather == Weather::Foul {
                host.strike(&swarm, &mut fate, span_ns, stages);
            }
        }
        scenario.hold_out(&mut Rng::new(derive(seed, &[15, u64::from(attempt)])));
        scenario.hang_only_where_time_ends_it();
        if weather == Weather::Foul {
            scenario.leave_out(&mut Rng::new(derive(seed, &[12, u64::from(attempt)])));
        }
        let hold = scenario.plan.fleet.hold;
        let coordinator = &mut scenario.coordinator;
        let step_ns = fate.below(7_200 * SECOND) as i64 - 3_600 * SECOND as i64;
        coordinator.wall_step_ns = Some((fate.below(span_ns + 1), step_ns));
        if weather == Weather::Foul {
            coordinator.strike(&mut fate, span_ns, hold);
        }
        // Each agent of a tree is taken over by itself; here, those of flat fleets are.
        if scenario.fanout < scenario.hosts.len() {
            scenario.coordinator.taken_over_at_ns = None;
        }
        scenario
    }

    /// The same links for all hosts, clocks that agree, nothing that fails.
    pub(super) fn calm(seed: u64, size: &Size, policy: FleetPolicy) -> Scenario {
        let plan = plan(size, policy);
        let latencies = load::latencies(seed);
        let host = |number: u32| HostScript {
            time: HostTime { offset_ns: 0, drift_ppb: 0, stands_still: None },
            behaviour: Behaviour { pause_ns: 200 * MILLI, ..Behaviour::default() },
            load: Load::MadeUp {
                seed,
                host: number,
                interval_ns: size.interval_ns,
                durations_ns: size.stages_ns.clone(),
                latencies: latencies.clone(),
            },
            down: Line::new(MILLI, MILLI, derive(seed, &[3, u64::from(number)])),
            up: Line::new(MILLI, MILLI, derive(seed, &[4, u64::from(number)])),
            mishap: None,
            is_absent: false,
            taken_up_again: false,
        };
        let hosts = (0..size.hosts).map(host).collect();
        Scenario {
            seed,
            stages: (0..size.stages_ns.len() as u32).collect(),
            plan,
            fanout: size.hosts as usize,
            hosts,
            coordinator: CoordinatorScript::default(),
            further_points: None,
            keep_data: false,
            marks_ns: Vec::new(),
            gives_up_ns: 10 * 3_600 * SECOND,
        }
    }

    /// How many stages there are at most, with those of points that a search adds.
    pub(super) fn all_stages(&self) -> usize {
        self.plan.stages.len() + self.further_points.unwrap_or(0) as usize
    }

    /// Whether nothing is to go wrong.
    pub(super) fn is_calm(&self) -> bool {
        let script = &self.coordinator;
        let strikes = [script.interrupted_at_ns, script.dies_at_ns, script.records] != [None; 3];
        script.stalls.is_none() && !strikes && self.hosts.iter().all(HostScript::is_healthy)
    }
}

impl HostScript {
    /// Whether nothing befalls the host, nor its links: whoever gives it up errs.
    pub(super) fn is_healthy(&self) -> bool {
        let behaviour = &self.behaviour;
        let fails = behaviour.refuses
            || [behaviour.fails, behaviour.fails_to_arm, behaviour.hangs] != [None; 3];
        let is_clear = |line: &Line| line.cut.is_none() && line.late_ppm == 0;
        let is_there = self.mishap.is_none() && !self.is_absent && behaviour.locked_until_ns == 0;
        is_there && !fails && is_clear(&self.down) && is_clear(&self.up)
    }

    /// Gives it a clock and links of its own.
    fn vary(&mut self, rng: &mut Rng) {
        self.time = HostTime::drawn(rng);
        self.behaviour.wakes_late_ns = rng.below(2 * MILLI);
        for line in [&mut self.down, &mut self.up] {
            let most_ns = [MILLI, 150 * MILLI][rng.below(2) as usize];
            line.least_ns = 10_000 + rng.below(most_ns);
            line.jitter_ns = rng.below(20 * MILLI);
        }
    }
}

/// What becomes of lost hosts; one that is left is enough.
pub(super) fn policy(on_lost_host: OnLostHost, lost_after: Nanos, hold: Nanos) -> FleetPolicy {
    FleetPolicy { on_lost_host, quorum: 1, lost_after, hold }
}

/// A plan whose shares are made up.
fn plan(size: &Size, fleet: FleetPolicy) -> Plan {
    let interval = Nanos(size.interval_ns);
    let host = |number: u32| HostPlan {
        host: number,
        hostname: format!("h{number}"),
        ..HostPlan::empty("r", interval, EngineSettings::simple(Backend::Sync))
    };
    let stages = (0..).zip(&size.stages_ns).map(|(point, ns)| Stage {
        kind: StageKind::Measure,
        point: Some(point),
        works: vec![work(Stop::After(Nanos(*ns)))],
    });
    Plan {
        interval,
        backend: Backend::Sync,
        fleet,
        points: size.stages_ns.iter().map(|_| plans::point()).collect(),
        stages: stages.collect(),
        hosts: (0..size.hosts).map(host).collect(),
        ..crate::coordinator::tests::plan(0, 0)
    }
}

fn work(stop: Stop) -> Work {
    Work::simple(Bytes(4096), Percent::ALL, Access::Random, 4, stop)
}

/// Gives every host two workers on a simulated device, and the engine's samples of them.
pub(super) fn with_engines(scenario: &mut Scenario) {
    for (number, (host, script)) in
        scenario.plan.hosts.iter_mut().zip(&mut scenario.hosts).enumerate()
    {
        let size = Bytes(64 << 20);
        let path = "sim:constant,service=2ms,servers=4,capacity=64MiB".to_owned();
        host.targets = vec![Target {
            path: path.clone(),
            kind: PlannedTarget::Simulated,
            files: vec![TargetFile { path, size }],
        }];
        let share = |worker: u64, stage: usize| Worker {
            work: 0,
            seed: derive(scenario.seed, &[number as u64, worker, stage as u64]),
            turn: (0, 1),
            files: None,
            extents: vec![Extent { file: 0, offset: worker * (size.0 / 2), length: size.0 / 2 }],
        };
        host.stages = (scenario.plan.stages.iter().enumerate())
            .map(|(stage, planned)| HostStage {
                stage: stage as u32,
                kind: planned.kind,
                works: planned.works.clone(),
                workers: (0..2).map(|worker| share(worker, stage)).collect(),
            })
            .collect();
        let mut in_virtual_time = host.clone();
        in_virtual_time.engine.virtual_time = true;
        script.load = Load::by_engine(&in_virtual_time);
    }
}
