//! What was done, added up by host, by interval and by worker.

use super::column::Column;
use super::frame::{Frame, Place};
use super::spans::Spans;
use crate::histogram::{EncodedHistogram, Head, Tight, take_apart};
use crate::sample::IntervalSample;
use crate::{Op, Phase};
use std::collections::{BTreeMap, VecDeque};

/// So many intervals are open at the same time: hosts that are slower to tell than others come this
/// much later at most, or it costs time.
const OPEN: usize = 16;

/// Why a sample does not fit the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Its histogram is none, or one of another number of requests.
    Histogram,
    /// It stands twice in one interval.
    Twice,
    /// It belongs to an operation, a worker or an interval that is not there.
    Stray,
    /// Its numbers are larger than a run file has room for.
    Huge,
    /// The bytes of its [block](super::Block) are none.
    Block,
}

/// Requests of one operation in an interval of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRow {
    /// The number of the work among those of the stage.
    pub work: u32,
    /// The operation.
    pub op: Op,
    /// Requests that succeeded.
    pub ios: u64,
    /// Bytes that moved.
    pub bytes: u64,
}

/// Requests and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that succeeded.
    pub ios: u64,
    /// Bytes that moved.
    pub bytes: u64,
}

impl Counts {
    /// Saturates on purpose, as all sums of a stage do: one that is larger than a run can have is
    /// still seen to be, and its file refused.
    pub(super) fn add(&mut self, ios: u64, bytes: u64) {
        self.ios = self.ios.saturating_add(ios);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// What all hosts did in an interval of load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    /// Requests that succeeded, and their bytes.
    pub counts: Counts,
    /// Their service times.
    pub latency: EncodedHistogram,
}

/// What one host did of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostPart {
    /// What counts.
    pub counts: Counts,
    /// The service times of it.
    pub latency: Tight,
    /// Requests that failed in intervals that count, by errno.
    pub errors: BTreeMap<i32, u64>,
    /// One more than the requests of each of the host's spans; 0 where there is no row. Empty, or
    /// as long as the spans.
    pub(super) ios: Column,
    /// The sum of their service times, in ns; empty where [that is not wanted](Frame::is_timed).
    pub(super) latency_ns: Column,
}

impl HostPart {
    /// Whether there is a row of the span at this place.
    pub fn has(&self, at: usize) -> bool {
        self.ios.get(at).is_some_and(|ios| ios > 0)
    }

    /// Whether it stands in an interval that counts.
    pub fn is_counted(&self, frame: &Frame, host: u32) -> bool {
        let spans = frame.spans.get(&host).into_iter().flat_map(Spans::iter).enumerate();
        spans
            .filter(|(_, span)| span.phase.counts() && frame.is_counted(span.interval))
            .any(|(at, _)| self.has(at))
    }

    /// The requests in the span at this place.
    pub fn ios(&self, at: usize) -> u64 {
        self.ios.get(at).map_or(0, |ios| ios.saturating_sub(1))
    }

    /// The sum of the service times in the span at this place, in ns; always 0 where [that is not
    /// wanted](Frame::is_timed).
    pub fn latency_ns(&self, at: usize) -> u64 {
        self.latency_ns.get(at).unwrap_or(0)
    }

    /// The requests in each span, as far as there are any.
    pub fn all_ios(&self) -> Vec<u64> {
        let mut ios = self.ios.values();
        ios.iter_mut().for_each(|ios| *ios = ios.saturating_sub(1));
        ios
    }

    /// The sum of the service times in each span, in ns; none where [that is not
    /// wanted](Frame::is_timed).
    pub fn all_latencies_ns(&self) -> Vec<u64> {
        self.latency_ns.values()
    }
}

/// What was done by one operation of one work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// By host.
    pub hosts: BTreeMap<u32, HostPart>,
    /// By interval of load, as the frame's moments; shorter where nothing stands in the last ones,
    /// `None` where nothing stands.
    pub totals: Vec<Option<Total>>,
    /// While the load was on and all hosts were there, apart from the tail; in the tail; and what
    /// came back later.
    pub phases: [Counts; 3],
    /// In all phases.
    pub all: Counts,
    /// Requests that failed in all phases, by errno.
    pub errors: BTreeMap<i32, u64>,
    /// Of these, those of intervals of load, by the place of the interval as in `totals`; only
    /// where any did.
    pub failed: BTreeMap<usize, u64>,
    open: VecDeque<(usize, Counts, Tight)>,
}

impl Part {
    /// What figures rest on, with what came back behind it: what kernels counted in that time is
    /// held against it. [`all`](Self::all) is more where a stage settled late or lost a host.
    pub fn under_load(&self) -> Counts {
        let mut sum = Counts::default();
        self.phases.iter().for_each(|phase| sum.add(phase.ios, phase.bytes));
        sum
    }

    /// What was done in phases that count, of one of them.
    pub fn phase(&self, phase: Phase) -> Counts {
        self.phases[phase as usize]
    }

    /// What all hosts did in the interval at this place of the frame's moments.
    pub fn total(&self, moment: usize) -> Option<&Total> {
        self.totals.get(moment)?.as_ref()
    }

    fn add_to_moment(
        &mut self,
        moment: usize,
        counts: Counts,
        add: impl FnOnce(&mut Tight) -> bool,
    ) -> bool {
        let at = match self.open.iter().rposition(|(open, ..)| *open == moment) {
            Some(at) => at,
            None => {
                if self.open.len() >= OPEN
                    && let Some((moment, counts, latency)) = self.open.pop_front()
                {
                    self.keep(moment, counts, &latency);
                }
                self.open.push_back((moment, Counts::default(), Tight::default()));
                self.open.len() - 1
            }
        };
        let (_, sum, latency) = &mut self.open[at];
        sum.add(counts.ios, counts.bytes);
        add(latency)
    }

    /// Puts away what an interval came to so far.
    fn keep(&mut self, moment: usize, counts: Counts, latency: &Tight) {
        if self.totals.len() <= moment {
            self.totals.resize(moment + 1, None);
        }
        match &mut self.totals[moment] {
            Some(total) => {
                let mut both = latency.clone();
                let mut buckets = Vec::new();
                // We encoded it, or took it apart when it came.
                let head = take_apart(&total.latency.0, &mut buckets).expect("a checked histogram");
                // More than can be counted: then the sum of all phases is too large as well, and
                // the file is refused for it. Counts never come without their latencies.
                if both.add(&head, &buckets).is_ok() {
                    total.counts.add(counts.ios, counts.bytes);
                    total.latency = both.encode();
                }
            }
            none => *none = Some(Total { counts, latency: latency.encode() }),
        }
    }

    /// Takes in what others came to in an interval.
    pub(super) fn add_total(&mut self, moment: usize, total: Total) -> Result<(), Unfit> {
        if self.total(moment).is_none() {
            if self.totals.len() <= moment {
                self.totals.resize(moment + 1, None);
            }
            self.totals[moment] = Some(total);
            return Ok(());
        }
        let mut latency = Tight::default();
        let mut buckets = Vec::new();
        let head = take_apart(&total.latency.0, &mut buckets).map_err(|_| Unfit::Histogram)?;
        latency.add(&head, &buckets).map_err(|_| Unfit::Histogram)?;
        self.keep(moment, total.counts, &latency);
        Ok(())
    }

    fn close(&mut self) {
        while let Some((moment, counts, latency)) = self.open.pop_front() {
            self.keep(moment, counts, &latency);
        }
        let apart = self.phases.iter().map(|phase| u128::from(phase.ios)).sum::<u128>();
        let is_huge = self.all.ios == u64::MAX;
        assert!(is_huge || apart <= self.all.ios.into(), "no phase has more than all have");
    }
}

/// What one worker did in intervals that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerTotal {
    /// CPU time in user mode, in ns.
    pub user_ns: u64,
    /// CPU time in the kernel, in ns.
    pub system_ns: u64,
    /// The time of the intervals, in ns.
    pub time_ns: u64,
    /// Requests that succeeded, by operation.
    pub ios: BTreeMap<Op, u64>,
}

impl WorkerTotal {
    pub(super) fn add(&mut self, other: WorkerTotal) {
        self.user_ns = self.user_ns.saturating_add(other.user_ns);
        self.system_ns = self.system_ns.saturating_add(other.system_ns);
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        add_all(&mut self.ios, other.ios);
    }
}

/// All sums of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// By work and operation.
    pub parts: BTreeMap<(u32, Op), Part>,
    /// By host and worker.
    pub workers: BTreeMap<(u32, u32), WorkerTotal>,
    /// CPU time of the workers of each work in each of the frame's moments, in ns; shorter where
    /// nothing stands in the last ones.
    pub cpu_ns: BTreeMap<u32, Vec<u64>>,
    /// CPU time of all workers in all phases, known to the plan or not, in user mode and in the
    /// kernel, in ns.
    pub all_cpu_ns: (u64, u64),
    buckets: Vec<(u16, u64)>,
}

impl Sums {
    /// Takes in all that a host did in an interval.
    ///
    /// # Errors
    /// Something of it does not fit; it counts as far as it can be told, and so does the rest.
    pub fn sample(
        &mut self,
        frame: &Frame,
        place: Place,
        sample: &IntervalSample,
    ) -> Result<(), Unfit> {
        let mut taken = Ok(());
        for op in &sample.ops {
            let row = OpRow { work: op.work, op: op.op, ios: op.ios, bytes: op.bytes };
            taken = taken.and(self.op(frame, place, row, &op.latency.0));
            for (errno, count) in &op.errors {
                taken = taken.and(self.errors(frame, place, op.work, op.op, *errno, *count));
            }
        }
        for worker in &sample.workers {
            self.worker(frame, place, worker.worker, worker.cpu_user_ns, worker.cpu_system_ns);
            for op in &worker.ops {
                self.worker_op(place, worker.worker, op.op, op.ios);
            }
        }
        taken
    }

    /// Takes in an operation of a host's interval, with its encoded histogram.
    ///
    /// # Errors
    /// It does not fit what was taken in before; it counts as far as it can be told.
    pub fn op(
        &mut self,
        frame: &Frame,
        place: Place,
        row: OpRow,
        latency: &[u8],
    ) -> Result<(), Unfit> {
        let mut buckets = std::mem::take(&mut self.buckets);
        let head = take_apart(latency, &mut buckets);
        let part = self.parts.entry((row.work, row.op)).or_default();
        let taken = match head {
            Ok(head) => part.take(frame, place, row, &head, &buckets),
            Err(_) => {
                let _ = part.take(frame, place, row, &Head::default(), &[]);
                Err(Unfit::Histogram)
            }
        };
        self.buckets = buckets;
        taken
    }

    /// Takes in requests that failed, of an operation of the host's interval that was taken in
    /// before.
    ///
    /// # Errors
    /// It was not; nothing counts then.
    pub fn errors(
        &mut self,
        frame: &Frame,
        place: Place,
        work: u32,
        op: Op,
        errno: i32,
        count: u64,
    ) -> Result<(), Unfit> {
        let is_there =
            |part: &&mut Part| part.hosts.get(&place.host).is_some_and(|host| host.has(place.at));
        let part = self.parts.get_mut(&(work, op)).filter(is_there).ok_or(Unfit::Stray)?;
        add_one(&mut part.errors, errno, count);
        let is_of_load = place.span.phase.counts();
        if let Some(moment) = frame.moment(place.span.interval).filter(|_| is_of_load) {
            add_one(&mut part.failed, moment, count);
        }
        if place.counts {
            add_one(&mut part.hosts.entry(place.host).or_default().errors, errno, count);
        }
        Ok(())
    }

    /// Takes in the CPU time of a worker, in user mode and in the kernel, in ns.
    pub fn worker(
        &mut self,
        frame: &Frame,
        place: Place,
        worker: u32,
        user_ns: u64,
        system_ns: u64,
    ) {
        self.all_cpu_ns.0 = self.all_cpu_ns.0.saturating_add(user_ns);
        self.all_cpu_ns.1 = self.all_cpu_ns.1.saturating_add(system_ns);
        if !place.counts {
            return;
        }
        let total = self.workers.entry((place.host, worker)).or_default();
        total.user_ns = total.user_ns.saturating_add(user_ns);
        total.system_ns = total.system_ns.saturating_add(system_ns);
        total.time_ns = total.time_ns.saturating_add(place.span.length_ns);
        if let (Some(work), Some(moment)) =
            (frame.work_of(place.host, worker), frame.moment(place.span.interval))
        {
            let column = self.cpu_ns.entry(work).or_default();
            if column.len() <= moment {
                column.resize(moment + 1, 0);
            }
            column[moment] = column[moment].saturating_add(user_ns.saturating_add(system_ns));
        }
    }

    /// Takes in the requests of one operation of a worker.
    pub fn worker_op(&mut self, place: Place, worker: u32, op: Op, ios: u64) {
        if place.counts {
            let sum =
                self.workers.entry((place.host, worker)).or_default().ios.entry(op).or_insert(0);
            *sum = sum.saturating_add(ios);
        }
    }

    /// Takes in the sums of others of the same frame. Which comes first makes no difference.
    ///
    /// # Errors
    /// Both have the same operation of the same interval of a host.
    pub fn merge(&mut self, mut other: Sums) -> Result<(), Unfit> {
        other.close();
        for (key, part) in other.parts {
            match self.parts.get_mut(&key) {
                Some(mine) => mine.merge(part)?,
                None => {
                    self.parts.insert(key, part);
                }
            }
        }
        for (key, worker) in other.workers {
            self.workers.entry(key).or_default().add(worker);
        }
        for (work, column) in other.cpu_ns {
            add_columns(self.cpu_ns.entry(work).or_default(), &column);
        }
        self.all_cpu_ns.0 = self.all_cpu_ns.0.saturating_add(other.all_cpu_ns.0);
        self.all_cpu_ns.1 = self.all_cpu_ns.1.saturating_add(other.all_cpu_ns.1);
        Ok(())
    }

    /// Puts everything away when all was taken in.
    pub fn close(&mut self) {
        self.parts.values_mut().for_each(Part::close);
        self.buckets = Vec::new();
        self.pack();
    }

    /// Holds no more than it must while nothing is taken in: of many stages, only those that are
    /// taken in are at their full size.
    pub fn pack(&mut self) {
        self.parts
            .values_mut()
            .flat_map(|part| part.hosts.values_mut())
            .for_each(|host| host.latency.pack());
    }
}

impl Part {
    fn take(
        &mut self,
        frame: &Frame,
        place: Place,
        row: OpRow,
        head: &Head,
        buckets: &[(u16, u64)],
    ) -> Result<(), Unfit> {
        self.all.add(row.ios, row.bytes);
        if place.counts || place.span.phase == Phase::Drain {
            self.phases[place.span.phase as usize].add(row.ios, row.bytes);
        }
        let mut fits = head.count == row.ios;
        if let Some(moment) =
            frame.moment(place.span.interval).filter(|_| place.span.phase.counts())
        {
            let counts = Counts { ios: row.ios, bytes: row.bytes };
            fits &=
                self.add_to_moment(moment, counts, |latency| latency.add(head, buckets).is_ok());
        }
        let host = self.hosts.entry(place.host).or_default();
        if place.counts {
            host.counts.add(row.ios, row.bytes);
            fits &= host.latency.add(head, buckets).is_ok();
        }
        host.ios.reach(place.of);
        let before = host.ios.get(place.at).unwrap_or_default();
        let is_twice = before > 0;
        host.ios.set(place.at, before.max(1).saturating_add(row.ios));
        if frame.is_timed(row.work) {
            host.latency_ns.reach(place.of);
            let sum_ns = u64::try_from(head.sum_ns).unwrap_or(u64::MAX);
            let before = host.latency_ns.get(place.at).unwrap_or_default();
            host.latency_ns.set(place.at, before.saturating_add(sum_ns));
        }
        match (fits, is_twice) {
            (false, _) => Err(Unfit::Histogram),
            (true, true) => Err(Unfit::Twice),
            (true, false) => Ok(()),
        }
    }

    fn merge(&mut self, other: Part) -> Result<(), Unfit> {
        self.close();
        for (moment, total) in other.totals.into_iter().enumerate() {
            if let Some(total) = total {
                self.add_total(moment, total)?;
            }
        }
        for (mine, theirs) in self.phases.iter_mut().zip(other.phases) {
            mine.add(theirs.ios, theirs.bytes);
        }
        self.all.add(other.all.ios, other.all.bytes);
        add_all(&mut self.errors, other.errors);
        add_all(&mut self.failed, other.failed);
        let mut is_twice = false;
        for (number, host) in other.hosts {
            let mine = self.hosts.entry(number).or_default();
            mine.counts.add(host.counts.ios, host.counts.bytes);
            mine.latency.merge(&host.latency).map_err(|_| Unfit::Histogram)?;
            add_all(&mut mine.errors, host.errors);
            is_twice |= mine.ios.merge(host.ios);
            mine.latency_ns.merge(host.latency_ns);
        }
        if is_twice { Err(Unfit::Twice) } else { Ok(()) }
    }
}

pub(super) fn add_all<K: Ord>(sums: &mut BTreeMap<K, u64>, others: BTreeMap<K, u64>) {
    for (key, count) in others {
        add_one(sums, key, count);
    }
}

pub(super) fn add_one<K: Ord>(sums: &mut BTreeMap<K, u64>, key: K, count: u64) {
    let sum = sums.entry(key).or_insert(0);
    *sum = sum.saturating_add(count);
}

fn add_columns(sums: &mut Vec<u64>, others: &[u64]) {
    if sums.len() < others.len() {
        sums.resize(others.len(), 0);
    }
    for (sum, other) in sums.iter_mut().zip(others).filter(|(_, other)| **other > 0) {
        *sum = sum.saturating_add(*other);
    }
}
