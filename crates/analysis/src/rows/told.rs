//! What a command told of itself beside what the kernel counted meanwhile.

use crate::doubts::Warning;
use crate::rows::row::{Flow, Ops, ResultRow};
use crate::rows::tally::{Slot, tally};
use model::digest::Digest;
use model::note::{Told, ToldFigure, Traced};
use model::record::StageRecord;
use model::{Fact, Histogram, Op, Record};
use std::collections::BTreeMap;

/// Of what a tool counted, the device saw so much at least, or something else answered or the tool
/// errs: the edges of a load and rounded figures make no more.
const LEAST: f64 = 0.95;
/// The same of a rate without an amount, which is held against the time that the device was busy.
const LEAST_RATE: f64 = 0.9;
/// A device may see more: files that are laid out, a file system's journal, what is left out as a
/// ramp. So many times as much is another load.
const MOST: f64 = 1.25;

/// One operation of a stage by the tool's word and by the kernel's.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The stage.
    pub stage: u32,
    /// The tool with its version, or the program.
    pub tool: String,
    /// The operation; `None` where the tool does not say which.
    pub op: Option<Op>,
    /// What the commands of all hosts told together.
    pub told: Flow,
    /// What the devices saw, over the time that the tool says, else while they were busy; `None`
    /// where no device carries the operation by itself, as a `stat` or a transaction.
    pub seen: Option<Flow>,
    /// Seen ÷ told; `None` where nothing can be held against each other.
    pub share: Option<f64>,
    /// Whether the two differ by more than both allow.
    pub differs: bool,
}

/// What the commands of a stage told, by host.
pub fn told(record: &Record, stage: u32) -> Vec<(u32, &Told)> {
    let of_stage = record.notes.iter().filter(|note| note.stage == Some(stage));
    let told = of_stage.filter_map(|note| match &note.fact {
        Fact::Told(told) => Some((note.host, &**told)),
        _ => None,
    });
    let mut told: Vec<(u32, &Told)> = told.collect();
    told.sort_by_key(|(host, _)| *host);
    told
}

/// What the block layers of all hosts saw of a stage's requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtDevice {
    /// How long requests took from issue to completion.
    pub latencies: BTreeMap<Op, Histogram>,
    /// Why that is not known, in words, of the first host of which it is not: a part of the hosts
    /// does not stand for all.
    pub unknown: Option<String>,
}

/// What block layers saw of a stage; `None` where nobody asked for it.
pub fn at_device(record: &Record, stage: u32) -> Option<AtDevice> {
    let all = told(record, stage);
    all.iter().find(|(_, told)| told.traced.is_some())?;
    let mut found = AtDevice::default();
    let missing = Traced { unknown: "a host recorded nothing".to_owned(), ..Traced::default() };
    for (_, told) in &all {
        let traced = told.traced.as_ref().unwrap_or(&missing);
        let is_known = traced.unknown.is_empty();
        found.unknown = found.unknown.or_else(|| (!is_known).then(|| traced.unknown.clone()));
        for (op, latency) in &traced.latencies {
            if latency.merge_into(found.latencies.entry(*op).or_default()).is_err() {
                found.unknown = Some("its histogram is damaged".to_owned());
            }
        }
    }
    if found.unknown.is_some() {
        found.latencies.clear();
    }
    Some(found)
}

/// Each operation that commands told, in all stages that these rows are of.
pub fn beside(record: &Record, rows: &[ResultRow]) -> Vec<Beside> {
    let mut stages: Vec<u32> = rows.iter().map(|row| row.stage).collect();
    stages.dedup();
    let of_stage = |number: u32| {
        let stage = record.stage(number)?;
        let is_told = !told(record, number).is_empty();
        is_told.then(|| of_stage(record, stage, &stage.digest(record), rows))
    };
    stages.into_iter().filter_map(of_stage).flatten().collect()
}

/// Puts what was told of a stage into its rows, and their doubts first where told and seen differ.
pub(crate) fn judge(record: &Record, stage: &StageRecord, digest: &Digest, rows: &mut [ResultRow]) {
    let all = of_stage(record, stage, digest, rows);
    for row in rows.iter_mut() {
        let own = all.iter().find(|one| is_of(row, one.op)).map(|one| one.told);
        let whole = || row.is_of_point().then(|| total(&all));
        row.told = own.or_else(whole).unwrap_or_default();
    }
    for found in all.into_iter().filter(|one| one.differs) {
        let both = |of: fn(&Flow) -> Option<f64>| of(&found.told).zip(of(&found.seen?));
        let in_bytes = both(|flow| flow.bytes_per_s);
        // As their share was taken.
        let Some((told, seen)) = in_bytes.or(both(|flow| flow.iops)) else { continue };
        let is_rate = in_bytes.is_none();
        let doubt = Warning::ToldOtherwise { tool: found.tool, told, seen, is_rate };
        let place = rows.iter().position(|row| is_of(row, found.op));
        let place = place.or_else(|| rows.iter().position(ResultRow::is_of_point));
        if let Some(row) = place.and_then(|place| rows.get_mut(place)) {
            row.warnings.push(doubt);
        }
    }
}

fn is_of(row: &ResultRow, op: Option<Op>) -> bool {
    match op {
        Some(op) => row.ops == Ops::One(op),
        None => row.is_of_point(),
    }
}

/// All operations of a point together, those on whole files among them.
fn total(all: &[Beside]) -> Flow {
    match all {
        [one] => one.told,
        _ => {
            let iops = all.iter().map(|one| one.told.iops).sum();
            let bytes_per_s = all.iter().map(|one| one.told.bytes_per_s).sum();
            Flow { iops, bytes_per_s, ..Flow::default() }
        }
    }
}

fn of_stage(
    record: &Record,
    stage: &StageRecord,
    digest: &Digest,
    rows: &[ResultRow],
) -> Vec<Beside> {
    let all = told(record, stage.stage);
    let mut by_op: BTreeMap<Option<Op>, Vec<&ToldFigure>> = BTreeMap::new();
    for figure in all.iter().flat_map(|(_, told)| &told.figures) {
        by_op.entry(figure.op).or_default().push(figure);
    }
    let Some((_, first)) = all.first() else { return Vec::new() };
    let program = first.command.first().map_or("", String::as_str);
    let program = program.rsplit('/').next().unwrap_or(program);
    let tool = if first.tool.is_empty() { program } else { &first.tool };
    let mut rows: Vec<ResultRow> =
        rows.iter().filter(|row| row.stage == stage.stage).cloned().collect();
    rows.retain(ResultRow::is_commanded);
    let one = |(op, figures): (Option<Op>, Vec<&ToldFigure>)| Beside {
        stage: stage.stage,
        tool: tool.to_owned(),
        op,
        ..held(op, &figures, digest, &rows)
    };
    by_op.into_iter().map(one).collect()
}

/// What figures of one operation come to, and what was seen of it.
fn held(op: Option<Op>, figures: &[&ToldFigure], digest: &Digest, rows: &[ResultRow]) -> Beside {
    let sum = |of: fn(&ToldFigure) -> Option<u64>| {
        let all: Option<Vec<u64>> = figures.iter().map(|figure| of(figure)).collect();
        all.map(|all| all.into_iter().map(|one| one as f64).sum::<f64>())
    };
    // Jobs of one operation run at the same time; where they did not, the same time is that of both
    // sides.
    let time = figures.iter().map(|figure| figure.time).collect::<Option<Vec<_>>>();
    let seconds = time.and_then(|all| all.into_iter().max()).map(|time| time.0 as f64 / 1e9);
    let seconds = seconds.filter(|seconds| *seconds > 0.0);
    let (requests, bytes) = (sum(|one| one.requests), sum(|one| one.bytes));
    let over = |amount: Option<f64>| amount.zip(seconds).map(|(amount, time)| amount / time);
    let only = figures.first().filter(|_| figures.len() == 1);
    let told = Flow {
        iops: over(requests).or(sum(|one| one.rate_milli).map(|milli| milli / 1e3)),
        bytes_per_s: over(bytes).or(sum(|one| one.bytes_per_s)),
        mean_ns: only.and_then(|one| one.mean).map(|time| time.0 as f64),
        p99_ns: only.and_then(|one| one.p99).map(|time| time.0 as f64),
    };
    let none =
        Beside { stage: 0, tool: String::new(), op, told, seen: None, share: None, differs: false };
    let is_own = figures.iter().any(|figure| figure.is_own);
    if is_own || op.is_some_and(Op::is_metadata) || rows.is_empty() {
        return none;
    }
    let is_counted = seconds.is_some() && (requests.is_some() || bytes.is_some());
    let seen = match seconds.filter(|_| is_counted) {
        Some(seconds) => in_all(op, digest, seconds),
        None => while_busy(op, digest, rows),
    };
    // Larger requests are split on their way and adjoining ones merged; bytes stay.
    let share = told.bytes_per_s.zip(seen.bytes_per_s).or(told.iops.zip(seen.iops));
    let share = share.filter(|(told, _)| *told > 0.0).map(|(told, seen)| seen / told);
    let least = if is_counted { LEAST } else { LEAST_RATE };
    let differs = share.is_some_and(|share| !(least..=MOST).contains(&share));
    Beside { seen: Some(seen), share, differs, ..none }
}

/// All that was counted, what came behind the load's end included, over the time of the tool.
fn in_all(op: Option<Op>, digest: &Digest, seconds: f64) -> Flow {
    let parts = digest.sums.parts.iter().filter(|((_, of), _)| op.is_none_or(|op| op == *of));
    let (mut ios, mut bytes) = (0u64, 0u64);
    for (_, part) in parts {
        let counts = part.under_load();
        ios = ios.saturating_add(counts.ios);
        bytes = bytes.saturating_add(counts.bytes);
    }
    let over = |amount: u64| Some(amount as f64 / seconds);
    Flow { iops: over(ios), bytes_per_s: over(bytes), ..Flow::default() }
}

/// What was counted from the first interval to the last in which the device did anything, without
/// these two where there are enough: they are begun or ended in their midst.
fn while_busy(op: Option<Op>, digest: &Digest, rows: &[ResultRow]) -> Flow {
    let Some(row) = rows.iter().find(|row| is_of(row, op)) else {
        return Flow { iops: Some(0.0), bytes_per_s: Some(0.0), ..Flow::default() };
    };
    let slots = tally(digest, row).total;
    let is_busy = |slot: &Slot| slot.ios > 0.0;
    let first = slots.iter().position(is_busy).unwrap_or(0);
    let last = slots.iter().rposition(is_busy).map_or(0, |last| last + 1);
    let busy = slots.get(first..last).unwrap_or_default();
    let inner = busy.get(1..busy.len().saturating_sub(1)).unwrap_or_default();
    let counted = if inner.len() >= 3 { inner } else { busy };
    let sum = |of: fn(&Slot) -> f64| counted.iter().map(of).sum::<f64>();
    let seconds = sum(|slot| slot.length_s);
    let over = |amount: f64| Some(if seconds > 0.0 { amount / seconds } else { 0.0 });
    let (iops, bytes_per_s) = (over(sum(|slot| slot.ios)), over(sum(|slot| slot.bytes)));
    Flow { iops, bytes_per_s, ..Flow::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;
    use model::{Nanos, Note, StageKind};

    const SUITE: &str =
        "[[workload]]\nname = \"w\"\nkind = \"command\"\ncommand = [\"/usr/bin/fio\"]\n";

    fn figure(op: Option<Op>, rate: f64, amounts: Option<(u64, u64)>) -> ToldFigure {
        ToldFigure {
            name: "a".to_owned(),
            op,
            rate_milli: Some((rate * 1e3) as u64),
            requests: amounts.map(|(requests, _)| requests),
            time: amounts.map(|(_, seconds)| Nanos::seconds(seconds)),
            ..ToldFigure::default()
        }
    }

    /// A device that reads 100 requests in each of eight seconds, all but the first.
    fn found(figures: Vec<ToldFigure>) -> (Vec<Beside>, Vec<&'static str>) {
        let mut recorded = Recorded::new(SUITE);
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[]);
        (1..8).for_each(|at| recorded.interval(stage, at, &[(Op::Read, &[1_000; 100])]));
        recorded.drain(stage, 8, &[(Op::Read, &[1_000; 20])]);
        let told = Told {
            command: vec!["/usr/bin/fio".to_owned()],
            code: Some(0),
            figures,
            ..Told::default()
        };
        recorded.note(Note { stage: Some(stage), host: 0, fact: Fact::Told(Box::new(told)) });
        recorded.end();
        let record = recorded.record();
        let rows = results(&record);
        let codes = rows.iter().flat_map(|row| &row.warnings).map(Warning::code).collect();
        (beside(&record, &rows), codes)
    }

    #[test]
    fn amounts_are_held_against_all_that_was_counted_over_the_time_of_the_tool() {
        let (all, codes) = found(vec![figure(Some(Op::Read), 90.0, Some((720, 8)))]);
        assert_eq!((all.len(), all[0].tool.as_str(), all[0].differs), (1, "fio", false));
        assert_eq!(all[0].told.iops, Some(90.0));
        assert_eq!(
            all[0].seen.and_then(|seen| seen.iops),
            Some(90.0),
            "720 with the drain, in 8 s"
        );
        assert!(!codes.contains(&"told-otherwise"), "{codes:?}");
        // Two jobs at the same time.
        let half = || figure(Some(Op::Read), 45.0, Some((360, 8)));
        assert_eq!(found(vec![half(), half()]).0[0].told.iops, Some(90.0));
    }

    #[test]
    fn a_rate_alone_is_held_against_the_time_in_which_the_device_was_busy() {
        let (all, _) = found(vec![figure(None, 101.0, None)]);
        assert_eq!(all[0].seen.and_then(|seen| seen.iops), Some(100.0));
        assert!(!all[0].differs);
    }

    #[test]
    fn a_tool_that_says_ten_times_as_much_is_the_first_doubt() {
        let (all, codes) = found(vec![figure(None, 1_000.0, None)]);
        assert!(all[0].differs && all[0].share.is_some_and(|share| (share - 0.1).abs() < 1e-9));
        assert_eq!(codes.first(), Some(&"told-otherwise"));
        let (_, codes) = found(vec![figure(Some(Op::Write), 50.0, None)]);
        assert_eq!(codes.first(), Some(&"told-otherwise"), "writes that no device saw");
        let (all, codes) = found(vec![figure(Some(Op::Stat), 50.0, None)]);
        assert!(all[0].seen.is_none() && !codes.contains(&"told-otherwise"), "no device stats");
    }

    #[test]
    fn a_command_has_no_latencies_of_ours() {
        let mut recorded = Recorded::new(SUITE);
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[1_000; 100])]);
        let rows = results(&recorded.record());
        let all = |row: &ResultRow| (row.ops, row.ios, row.latency.count());
        let found: Vec<_> = rows.iter().map(all).collect();
        assert_eq!(found, [(Ops::One(Op::Read), 100, 0), (Ops::Mix, 100, 0)]);
        let mut recorded = Recorded::new(SUITE);
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[]);
        let rows = results(&recorded.record());
        assert!(rows[0].warnings.contains(&Warning::NothingCompleted), "{:?}", rows[0].warnings);
    }
}
