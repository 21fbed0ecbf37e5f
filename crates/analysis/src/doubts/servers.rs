//! What the storage said of its own servers, and whether it has more than one machine.

use crate::doubts::Warning;
use model::note::{AboutHosts, StorageState};
use model::{Fact, Plan, Record};

/// How many nodes one machine plays, where it plays the whole cluster.
pub(crate) fn one_machine(plan: &Plan) -> Option<u32> {
    plan.notes.iter().find_map(|note| match &note.fact {
        Fact::Hosts(AboutHosts::OneMachine { nodes, .. }) => Some(*nodes),
        _ => None,
    })
}

/// What the storage says of its servers, in the order in which it was asked.
pub(crate) fn states(record: &Record) -> impl Iterator<Item = (Option<u32>, &StorageState)> {
    record.notes.iter().filter_map(|note| match &note.fact {
        Fact::StorageState(state) => Some((note.stage, state)),
        _ => None,
    })
}

/// What was not whole before a stage or after it. Where a part is down, copies have to lag behind.
pub(crate) fn doubt(record: &Record, stage: u32) -> Option<Warning> {
    let of_stage = states(record).filter(|(of, _)| *of == Some(stage));
    let states: Vec<_> =
        of_stage.filter_map(|(_, state)| Some((&state.storage, state.parts.as_ref()?))).collect();
    if let Some((storage, parts)) = states.iter().find(|(_, parts)| !parts.down.is_empty()) {
        let of_same = states.iter().filter(|(other, _)| other == storage);
        let mut down: Vec<String> = of_same.flat_map(|(_, parts)| parts.down.clone()).collect();
        down.sort_unstable();
        down.dedup();
        let of = parts.of;
        return Some(Warning::ClusterDegraded { storage: (*storage).clone(), down, of });
    }
    let (storage, parts) = states.iter().max_by_key(|(_, parts)| parts.to_heal)?;
    let (storage, entries) = ((*storage).clone(), parts.to_heal);
    (entries > 0).then_some(Warning::ClusterHealing { storage, entries })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::Note;
    use model::note::PartsState;

    /// Parts that are down, and how many entries are to heal.
    type Said<'a> = Option<(&'a [&'a str], u64)>;

    fn found(states: &[(bool, Said<'_>)]) -> Option<Warning> {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\n");
        for (is_after, parts) in states {
            let parts = parts.map(|(down, to_heal)| PartsState {
                of: 4,
                down: down.iter().map(|name| (*name).to_owned()).collect(),
                to_heal,
            });
            let state = StorageState { storage: "v".to_owned(), is_after: *is_after, parts };
            let fact = Fact::StorageState(state);
            recorded.record_mut().notes.push(Note { stage: Some(1), host: 0, fact });
        }
        assert_eq!(doubt(&recorded.record(), 2), None, "another stage");
        doubt(&recorded.record(), 1)
    }

    #[test]
    fn parts_that_are_down_come_before_copies_that_lag_and_unknown_is_neither() {
        let whole = Some((&[][..], 0));
        assert_eq!(found(&[(false, whole), (true, whole)]), None);
        assert_eq!(found(&[(false, None), (true, None)]), None);
        let storage = || "v".to_owned();
        let lags = Some((&[][..], 7));
        let healing = Warning::ClusterHealing { storage: storage(), entries: 7 };
        assert_eq!(found(&[(false, lags), (true, whole)]), Some(healing));
        let (one, two) = (Some((&["a"][..], 7)), Some((&["b", "a"][..], 0)));
        let down = vec!["a".to_owned(), "b".to_owned()];
        let degraded = Warning::ClusterDegraded { storage: storage(), down, of: 4 };
        assert_eq!(found(&[(false, one), (true, two)]), Some(degraded));
    }
}
