//! Other runs that loaded the same hosts meanwhile.

use crate::doubts::Warning;
use model::note::OtherRun;
use model::{Fact, Record};

/// The other runs that loaded hosts of this one in a stage.
pub(crate) fn doubt(record: &Record, stage: u32) -> Option<Warning> {
    let (mut hosts, mut runs): (Vec<String>, Vec<OtherRun>) = Default::default();
    for note in record.notes.iter().filter(|note| note.stage == Some(stage)) {
        let Fact::OtherRun(other) = &note.fact else { continue };
        let host = record.plan.hosts.get(note.host as usize);
        let host = host.map_or_else(String::new, |host| host.hostname.clone());
        if !hosts.contains(&host) {
            hosts.push(host);
        }
        match runs.iter_mut().find(|known| known.run == other.run) {
            Some(known) => known.same_place |= other.same_place,
            None => runs.push(other.clone()),
        }
    }
    (!runs.is_empty()).then_some(Warning::OtherRuns { hosts, runs })
}
