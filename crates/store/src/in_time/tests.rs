use super::*;
use crate::read;
use model::record::StageRecord;
use model::{CounterSample, IntervalSample};

/// All of a stage in the order in which it ended, as a record has it.
fn sorted(stage: &StageRecord) -> Vec<(u64, Event)> {
    let end = |start_ns: u64, length_ns: u64| start_ns.saturating_add(length_ns);
    let sample = |sample: &IntervalSample| {
        (end(sample.start_ns, sample.length_ns), Event::Sample(bare(sample.clone())))
    };
    let counters = |sample: &CounterSample| {
        (end(sample.start_ns, sample.length_ns), Event::Counters(Box::new(sample.clone())))
    };
    let mut all: Vec<(u64, Event)> = stage.samples().iter().map(sample).collect();
    all.extend(stage.counters().iter().map(counters));
    all.sort_by_key(|(end_ns, _)| *end_ns);
    all
}

/// Without what nobody plays.
fn bare(mut sample: IntervalSample) -> IntervalSample {
    sample.ops.iter_mut().for_each(|op| op.raw_latencies.clear());
    sample.workers.iter_mut().for_each(|worker| worker.mark = None);
    sample
}

fn all(file: &mut InTime) -> Vec<(u64, Event)> {
    std::iter::from_fn(|| file.next_sample().expect("a file"))
        .map(|(end_ns, event)| match event {
            Event::Sample(sample) => (end_ns, Event::Sample(bare(sample))),
            event => (end_ns, event),
        })
        .collect()
}

/// A file in the order of time, beside what a record of it holds; from several instants on.
pub(crate) fn assert_in_time(path: &Path) {
    let whole = read(path).expect("a file");
    let mut file = InTime::of(path).expect("a file");
    for stage in &whole.stages {
        let expected = sorted(stage);
        file.seek(stage.stage, 0, Wanted::All).expect("a file");
        assert_eq!(all(&mut file), expected);
        file.seek(stage.stage, 0, Wanted::Counters).expect("a file");
        let is_counted = |(_, event): &&(u64, Event)| matches!(event, Event::Counters(_));
        assert_eq!(all(&mut file), expected.iter().filter(is_counted).cloned().collect::<Vec<_>>());
        for part in 1..8 {
            let Some((from_ns, _)) = expected.get(expected.len() * part / 8) else { continue };
            let behind = |(end_ns, _): &&(u64, Event)| end_ns > from_ns;
            file.seek(stage.stage, *from_ns, Wanted::All).expect("a file");
            assert_eq!(all(&mut file), expected.iter().filter(behind).cloned().collect::<Vec<_>>());
        }
        let mut heard = BTreeMap::new();
        for sample in stage.samples() {
            let end_ns = sample.start_ns.saturating_add(sample.length_ns);
            let known = heard.entry(sample.host).or_insert(end_ns);
            *known = end_ns.max(*known);
        }
        assert_eq!(file.heard_ns(stage.stage), heard);
        let counted = stage.counters().iter().map(|own| own.start_ns.saturating_add(own.length_ns));
        assert_eq!(file.counted_ns(stage.stage), counted.max());
    }
}
