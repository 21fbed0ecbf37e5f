//! What a seed's plan has beside stages that end after a time: layouts, amounts, rounds, a search,
//! commands, events, marks. Each seed has some of it.

use super::super::{MILLI, SECOND};
use super::{HostScript, Scenario, Size};
use model::choices::Backend;
use model::plan::{EngineSettings, HostStage, Once, Part, Point, Prerun, Steady, Stop, Worker};
use model::planned_event::{EventTime, PlannedEvent};
use model::rng::{Rng, derive};
use model::search::{Search, SearchAxis};
use model::units::{Nanos, Percent};

/// How many points a search of this seed adds, if it searches.
pub(super) fn searched(seed: u64) -> Option<u32> {
    let number = derive(seed, &[21]);
    number.is_multiple_of(10).then_some((number / 10 % 5) as u32)
}

/// A point of a plan that is made up.
pub(super) fn point() -> Point {
    Point {
        scenario: "default".into(),
        workloads: vec!["w".into()],
        repetition: 1,
        ..Point::default()
    }
}

impl Scenario {
    /// Adds what this seed has beside its stages.
    pub(super) fn draw_plan(&mut self, size: &Size) {
        let mut rng = Rng::new(derive(self.seed, &[20]));
        let mut has = |one_of: u64| rng.below(one_of) == 0;
        let [verifies, keeps, counts] = [has(8), has(3), has(3)];
        let [preruns, events, marks, steady, once] = [has(4), has(4), has(4), has(5), has(6)];
        for host in &mut self.plan.hosts {
            host.engine.contents.verify = verifies;
        }
        self.keep_data = keeps;
        self.hosts.iter_mut().for_each(|host| host.behaviour.counts = counts);
        if self.further_points.is_some() {
            self.search(size);
        } else if steady {
            self.settle(&mut rng, size);
        } else if once {
            self.do_amounts(&mut rng, size);
        }
        if preruns {
            for point in self.plan.points.iter_mut().filter(|_| rng.below(2) == 0) {
                point.prerun = Prerun::of("drop");
            }
        }
        if events {
            self.plan.events =
                (0..1 + rng.below(3)).map(|number| event(number, &mut rng)).collect();
            let is_one = rng.below(2) == 0;
            for (number, point) in self.plan.points.iter_mut().enumerate() {
                point.scenario = if is_one { "default".into() } else { format!("s{}", number / 2) };
            }
        }
        if marks {
            let span_ns = size.stages_ns.iter().sum::<u64>() + 3 * SECOND;
            self.marks_ns = (0..1 + rng.below(3)).map(|_| rng.below(span_ns)).collect();
        }
    }

    /// Gives every host its share of every stage, with a worker.
    pub(in super::super) fn share(&mut self) {
        let worker = Worker { work: 0, seed: 0, turn: (0, 1), extents: Vec::new(), files: None };
        for host in &mut self.plan.hosts {
            host.stages = (0..)
                .zip(&self.plan.stages)
                .map(|(stage, planned)| HostStage {
                    stage,
                    kind: planned.kind,
                    works: planned.works.clone(),
                    workers: vec![worker.clone()],
                })
                .collect();
        }
    }

    /// Makes a search of the plan: the first stage is planned, the others follow.
    fn search(&mut self, size: &Size) {
        self.plan.stages.truncate(1);
        self.plan.points.truncate(1);
        self.stages = vec![0];
        self.share();
        let search = Search {
            objective: "p99 < 1ms".parse().expect("an objective"),
            poisson: false,
            measure: Nanos(size.stages_ns[0] * 2),
            along: SearchAxis::Rate,
            grid: Vec::new(),
        };
        self.plan.begin_search(search).expect("one point of one workload");
        let mut durations_ns = vec![size.stages_ns[0] * 2; size.stages_ns.len()];
        durations_ns[0] = size.stages_ns[0];
        for host in &mut self.hosts {
            host.load = host.load.clone().lasting(durations_ns.clone());
        }
    }

    /// Lets one stage end when it is steady.
    fn settle(&mut self, rng: &mut Rng, size: &Size) {
        let interval = Nanos(size.interval_ns);
        let most = Nanos(20 * size.interval_ns + rng.below(20 * SECOND));
        let steady = Steady::new(Nanos(size.interval_ns), most, interval);
        let one = rng.below(self.plan.stages.len() as u64) as usize;
        for work in &mut self.plan.stages[one].works {
            work.stop = Stop::Steady(steady);
        }
        self.share();
        let mut durations_ns = size.stages_ns.clone();
        durations_ns[one] = steady.most.0;
        for host in &mut self.hosts {
            host.load = host.load.clone().lasting(durations_ns.clone());
        }
    }

    /// Lets stages end when an amount is done, measured or not.
    fn do_amounts(&mut self, rng: &mut Rng, size: &Size) {
        for stage in &mut self.plan.stages {
            let stop = match rng.below(3) {
                0 => Stop::Amount,
                1 => Stop::Once(Once { stonewall: true, fsync: false, close: false }),
                _ => Stop::Once(Once { stonewall: false, fsync: false, close: false }),
            };
            stage.works.iter_mut().for_each(|work| work.stop = stop);
        }
        self.hosts.iter_mut().for_each(|host| host.take_its_time(rng, size));
    }

    /// Gives some seeds scenarios with layouts, one after the other or in turns, whose stages do
    /// amounts: each host takes its own time for each.
    pub(super) fn cut_into_layouts(&mut self, size: &Size) {
        let mut rng = Rng::new(derive(self.seed, &[11]));
        let stages = self.plan.stages.len() as u32;
        if stages < 2 || rng.below(2) == 0 {
            return;
        }
        self.lay_out(2 + rng.below(u64::from(stages) - 1) as u32, rng.below(2) == 0);
        for stage in &mut self.plan.stages {
            stage.works.iter_mut().for_each(|work| work.stop = Stop::Amount);
        }
        self.hosts.iter_mut().for_each(|host| host.take_its_time(&mut rng, size));
    }

    /// Has the stages work on so many layouts: each on a row of stages, or `in_turns`.
    pub(in super::super) fn lay_out(&mut self, layouts: u32, in_turns: bool) {
        let stages = self.plan.stages.len() as u32;
        let layouts = layouts.clamp(1, stages);
        let layout_of =
            |stage: u32| if in_turns { stage % layouts } else { stage * layouts / stages };
        let part = |number: u32| Part {
            stages: (0..stages).filter(|stage| layout_of(*stage) == number).collect(),
            targets: 0..0,
            trees: 0..0,
            engine: EngineSettings::simple(Backend::Sync),
        };
        let parts: Vec<Part> = (0..layouts).map(part).collect();
        self.plan.hosts.iter_mut().for_each(|host| host.parts = parts.clone());
    }
}

impl HostScript {
    /// Most are about as fast as all others; some take many times as long, each in other stages.
    fn take_its_time(&mut self, rng: &mut Rng, size: &Size) {
        let mut own_ns = |ns: &u64| ns * if rng.below(3) == 0 { 1 + rng.below(12) } else { 1 };
        let durations_ns = size.stages_ns.iter().map(&mut own_ns).collect();
        self.load = self.load.clone().lasting(durations_ns);
    }
}

fn event(number: u64, rng: &mut Rng) -> PlannedEvent {
    let at = match rng.below(2) {
        0 => EventTime::Share(Percent::of(rng.below(101) as u32)),
        _ => EventTime::After(Nanos(rng.below(6_000) * MILLI)),
    };
    PlannedEvent {
        name: format!("e{number}"),
        at,
        workloads: Vec::new(),
        scenarios: Vec::new(),
        command: (rng.below(2) == 0).then(|| "move".to_owned()),
        wait: Nanos(rng.below(20) * SECOND),
    }
}
