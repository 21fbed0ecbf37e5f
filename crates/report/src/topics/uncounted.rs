//! What the hosts' kernels could not count, or counted anew: whoever misses a figure is to find the
//! reason.

use crate::ground::words;
use model::Record;
use model::record::StageRecord;
use std::collections::{BTreeMap, BTreeSet};

/// So many are told; what is beyond it is counted.
const MOST: usize = 20;

/// Each remark of the counters once, with the hosts that made it: `n1, n2: /proc/pressure cannot be
/// read here`.
pub fn remarks(record: &Record) -> Vec<String> {
    let mut hosts: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for sample in record.stages.iter().flat_map(StageRecord::remarks) {
        for note in &sample.notes {
            hosts.entry(note).or_default().insert(sample.host);
        }
    }
    let all = record.loaders().len();
    let name =
        |host: &u32| record.testbed.get(*host as usize).map_or("", |facts| facts.hostname.as_str());
    let who = |hosts: &BTreeSet<u32>| match hosts.len() {
        many if many == all && all > 1 => "every host".to_owned(),
        1..=3 => hosts.iter().map(name).collect::<Vec<_>>().join(", "),
        many => words::counted(many as u64, "host"),
    };
    let told = hosts.iter().map(|(note, hosts)| format!("{}: {note}", who(hosts))).collect();
    words::at_most(told, MOST, |more| format!("and {more} more"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W};
    use model::CounterSample;

    #[test]
    fn a_remark_is_told_once_however_many_stages_and_hosts_made_it() {
        let mut recorded = Recorded::with_hosts(W, 2);
        recorded.prepare();
        let record = recorded.record_mut();
        let sample = |host, note: &str| CounterSample {
            host,
            notes: vec![note.to_owned()],
            ..CounterSample::default()
        };
        let stage = record.stages.last_mut().expect("a stage");
        *stage.counters_mut() =
            vec![sample(0, "no pressure"), sample(1, "no pressure"), sample(0, "no pressure")];
        stage.counters_mut().push(sample(1, "block sda: gone"));
        let last = format!("{}: block sda: gone", record.testbed[1].hostname);
        assert_eq!(remarks(record), [last, "every host: no pressure".to_owned()]);
        let stage = record.stages.last_mut().expect("a stage");
        *stage.counters_mut() = (0..30).map(|n| sample(7, &format!("remark {n:02}"))).collect();
        assert_eq!(remarks(record).len(), MOST + 1);
        assert_eq!(remarks(record).pop().as_deref(), Some("and 10 more"));
    }
}
