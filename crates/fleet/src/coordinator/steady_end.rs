//! A stage that ends when it is steady: gathers the rounds of all hosts, and says by when the hosts
//! can be told of an end. Whether the rounds are steady is somebody else's to say.

use model::plan::{HostStage, Stage, Steady};
use model::{Histogram, IntervalSample, Op};

#[derive(Debug)]
pub(super) struct Settling {
    steady: Steady,
    interval_ns: u64,
    /// At a fixed rate the rate is given, and what settles is the mean latency.
    by_latency: bool,
    /// How many intervals each host has told; `None` for one that has nothing to do or is gone.
    told: Vec<Option<u32>>,
    /// Those that have something to do.
    hosts: usize,
    /// Rounds that are not over on all hosts, the earliest first.
    open: Vec<Round>,
    /// The last rounds that are over, at most a window of them.
    window: Vec<f64>,
    /// How many rounds are over.
    over: u64,
    /// When the stage began, on the coordinator's steady clock.
    start_ns: u64,
    /// Its end, in ns after its start, once it was found steady; and after how much of it that
    /// was.
    end: Option<End>,
}

/// See [`Settling::end`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The rounds that were found steady ended then, in ns after the start.
    pub(super) to_ns: u64,
    /// The stage ends then, in ns after the start.
    pub(super) after_ns: u64,
}

/// What all hosts together did in a round.
#[derive(Debug, Default)]
struct Round {
    ios: u64,
    latency: Option<Histogram>,
    /// Hosts that have told all of it.
    done: usize,
}

impl Settling {
    /// For a stage with these shares of the hosts; `None` where it does not end when it is steady.
    pub(super) fn new<'a>(
        stage: &Stage,
        interval_ns: u64,
        shares: impl Iterator<Item = Option<&'a HostStage>>,
    ) -> Option<Settling> {
        let steady = stage.stop().steady()?;
        let told: Vec<Option<u32>> = shares
            .map(|share| share.filter(|share| !share.workers.is_empty()).map(|_| 0))
            .collect();
        Some(Settling {
            steady,
            interval_ns: interval_ns.max(1),
            by_latency: stage.works.iter().all(|work| work.pace.is_open()),
            hosts: told.iter().flatten().count(),
            told,
            open: Vec::new(),
            window: Vec::new(),
            over: 0,
            start_ns: 0,
            end: None,
        })
    }

    /// The stage begins at `start_ns` of the coordinator's steady clock; `is_there` says of each
    /// host whether it takes part.
    pub(super) fn begin(&mut self, start_ns: u64, is_there: impl Fn(usize) -> bool) {
        self.start_ns = start_ns;
        (0..self.told.len()).filter(|host| !is_there(*host)).for_each(|host| self.leave(host));
    }

    /// The place among the open rounds of the one that holds this interval; `None` for one that is
    /// over.
    fn place(&self, interval: u64) -> Option<usize> {
        let in_round = (self.steady.round.0 / self.interval_ns).max(1);
        usize::try_from((interval / in_round).checked_sub(self.over)?).ok()
    }

    /// Takes in a sample; each comes once, and those of one host in the order of time.
    pub(super) fn take(&mut self, host: usize, sample: &IntervalSample) {
        let Some(Some(told)) = self.told.get(host).copied() else { return };
        let interval = u64::from(sample.interval);
        // No sample is of a time that the stage does not have.
        if interval.saturating_mul(self.interval_ns) >= self.steady.most.0 {
            return;
        }
        let Some(place) = self.place(interval).filter(|_| sample.phase.counts()) else { return };
        self.told[host] = Some(sample.interval.saturating_add(1));
        // A host that left intervals out has told all that there is of them.
        let after = self.place(interval + 1).unwrap_or(0);
        while self.open.len() <= place {
            self.open.push(Round::default());
        }
        let by_latency = self.by_latency;
        let round = &mut self.open[place];
        for op in sample.ops.iter().filter(|op| op.op != Op::Fsync) {
            round.ios = round.ios.saturating_add(op.ios);
            if by_latency {
                // What is no histogram is found when the run is read back.
                let _ = op.latency.merge_into(round.latency.get_or_insert_with(Histogram::new));
            }
        }
        let before = self.place(u64::from(told)).unwrap_or(0);
        self.open.iter_mut().take(after).skip(before).for_each(|round| round.done += 1);
    }

    /// A host is gone, or has ended its stage: nobody waits for it. What it did stays.
    pub(super) fn leave(&mut self, host: usize) {
        let Some(told) = self.told.get_mut(host).and_then(Option::take) else { return };
        self.hosts -= 1;
        let done = self.place(u64::from(told)).unwrap_or(0);
        self.open.iter_mut().take(done).for_each(|round| round.done -= 1);
    }

    /// The last window of rounds, if a round has come to its end on all hosts since the last time
    /// and the stage has no end yet.
    pub(super) fn due(&mut self) -> Option<Vec<f64>> {
        let over =
            self.open.iter().take_while(|round| self.hosts > 0 && round.done >= self.hosts).count();
        let is_sound = |round: &Round| round.done <= self.hosts;
        assert!(self.open.first().is_none_or(is_sound), "a round is over on more hosts than load");
        let seconds = self.steady.round.0 as f64 / 1e9;
        for round in self.open.drain(..over) {
            self.over += 1;
            self.window.push(match self.by_latency {
                true => round.latency.and_then(|latency| latency.mean_ns()).unwrap_or(0.0),
                false => round.ios as f64 / seconds,
            });
        }
        let window = Steady::ROUNDS as usize;
        self.window.drain(..self.window.len().saturating_sub(window));
        (over > 0 && self.window.len() == window && self.end.is_none()).then(|| self.window.clone())
    }

    /// How much of the stage was looked at, in ns after its start.
    pub(super) fn judged_ns(&self) -> u64 {
        self.over * self.steady.round.0
    }

    /// The rounds are steady: the stage ends behind the first whole interval that no host has left
    /// when it hears of it. `now_ns` is the coordinator's steady clock, and every host has heard
    /// after `ahead_ns`; `None` where no host's time is that of the wall.
    pub(super) fn settle(&mut self, now: Option<(u64, u64)>) -> End {
        let to_ns = self.judged_ns();
        let heard_ns = now.map_or(0, |(now_ns, ahead_ns)| {
            now_ns.saturating_sub(self.start_ns).saturating_add(ahead_ns)
        });
        let intervals = (heard_ns.max(to_ns) / self.interval_ns).saturating_add(1);
        let after_ns = intervals.saturating_mul(self.interval_ns).min(self.steady.most.0);
        *self.end.insert(End { to_ns, after_ns })
    }

    /// When the stage began, on the coordinator's steady clock.
    pub(super) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    pub(super) fn outcome(&self) -> (Option<End>, Steady) {
        (self.end, self.steady)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::choices::Access;
    use model::plan::{Stop, Work, Worker};
    use model::sample::OpSample;
    use model::{Bytes, Nanos, Percent, Phase, StageKind};

    const SECOND: u64 = 1_000_000_000;

    /// Of stages of 20 to 100 s, with rounds of 4 s.
    fn settling(hosts: usize, idle: &[usize]) -> Settling {
        let steady = Steady::new(Nanos::seconds(20), Nanos::seconds(100), Nanos::seconds(1));
        let work = Work::simple(Bytes(4096), Percent::ALL, Access::Random, 1, Stop::Steady(steady));
        let stage = Stage { kind: StageKind::Measure, point: Some(0), works: vec![work.clone()] };
        let worker = Worker { work: 0, seed: 0, turn: (0, 1), extents: Vec::new(), files: None };
        let share = |host: usize| HostStage {
            stage: 0,
            kind: StageKind::Measure,
            works: vec![work.clone()],
            workers: if idle.contains(&host) { Vec::new() } else { vec![worker.clone()] },
        };
        let shares: Vec<HostStage> = (0..hosts).map(share).collect();
        let mut settling = Settling::new(&stage, SECOND, shares.iter().map(Some))
            .expect("it ends when it is steady");
        settling.begin(0, |_| true);
        settling
    }

    fn sample(interval: u32, ios: u64) -> IntervalSample {
        let op = OpSample { ios, ..OpSample::of(Op::Read) };
        let start_ns = u64::from(interval) * SECOND;
        let (phase, ops) = (Phase::Load, vec![op]);
        IntervalSample {
            stage: 0,
            host: 0,
            interval,
            start_ns,
            length_ns: SECOND,
            phase,
            ops,
            workers: Vec::new(),
        }
    }

    #[test]
    fn a_window_is_due_when_its_last_round_is_over_on_all_hosts_that_have_work() {
        let mut settling = settling(3, &[1]);
        for interval in 0..20 {
            settling.take(0, &sample(interval, 100));
            assert_eq!(settling.due(), None, "host 2 is behind");
        }
        for interval in 0..19 {
            settling.take(2, &sample(interval, u64::from(interval / 4)));
            assert_eq!(settling.due(), None);
        }
        settling.take(2, &sample(19, 4));
        assert_eq!(
            settling.due(),
            Some(vec![100.0, 101.0, 102.0, 103.0, 104.0]),
            "per second, of all hosts"
        );
        assert_eq!(settling.due(), None, "each once");
        assert_eq!(settling.judged_ns(), 20 * SECOND);
    }

    #[test]
    fn nobody_waits_for_a_host_that_is_gone_and_intervals_that_were_left_out_are_over() {
        let mut settling = settling(2, &[]);
        for interval in [0, 1, 2, 7, 11, 15, 20] {
            settling.take(0, &sample(interval, 4));
        }
        settling.take(1, &sample(0, 4));
        assert_eq!(settling.due(), None);
        settling.leave(1);
        assert_eq!(settling.due(), Some(vec![4.0, 1.0, 1.0, 1.0, 0.0]));
        settling.leave(0);
        assert_eq!(settling.due(), None);
    }

    #[test]
    fn it_ends_behind_a_whole_interval_that_nobody_has_left_and_at_its_greatest_time_at_the_latest()
    {
        let over = |interval: u32| {
            let mut settling = settling(1, &[]);
            (0..=interval).for_each(|interval| settling.take(0, &sample(interval, 1)));
            assert!(settling.due().is_some());
            settling
        };
        let end = |to: u64, after: u64| End { to_ns: to * SECOND, after_ns: after * SECOND };
        assert_eq!(over(19).settle(None), end(20, 21));
        assert_eq!(over(19).settle(Some((20 * SECOND + 5, SECOND / 10))), end(20, 21));
        assert_eq!(
            over(19).settle(Some((20 * SECOND + 5, SECOND))),
            end(20, 22),
            "it takes a second to hear of it"
        );
        assert_eq!(over(99).settle(None), end(100, 100));
        assert_eq!(over(19).settle(Some((u64::MAX, u64::MAX))), end(20, 100));
    }

    #[test]
    fn samples_of_no_time_of_the_stage_change_nothing() {
        let mut settling = settling(1, &[]);
        settling.take(0, &sample(u32::MAX, 1));
        settling.take(9, &sample(0, 1));
        assert_eq!((settling.open.len(), settling.due()), (0, None));
    }
}
