//! What hosts may leave behind that were lost for good: nobody told them to remove what they had
//! made.

use model::plan::PlannedTarget;
use model::{NoteKind, Record};

/// What may stay on one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftBehind {
    /// The host's number in the plan.
    pub host: u32,
    /// Its name.
    pub hostname: String,
    /// The folders that it made files in, each once.
    pub folders: Vec<String>,
}

/// The hosts that were lost and did not come back, in the order of the plan, each with the folders
/// that may still hold files of the run.
pub fn left_behind(record: &Record) -> Vec<LeftBehind> {
    let is_said = |kind: NoteKind| matches!(kind, NoteKind::HostLost | NoteKind::HostReturned);
    let is_lost = |host: u32| {
        let last = record.notes.iter().rfind(|note| note.host == host && is_said(note.kind()));
        last.is_some_and(|note| note.kind() == NoteKind::HostLost)
    };
    let hosts = (0..).zip(&record.plan.hosts).filter(|(number, _)| is_lost(*number));
    let left = hosts.map(|(number, host)| {
        let mut folders: Vec<String> = Vec::new();
        for target in &host.targets {
            match &target.kind {
                PlannedTarget::Directory { root } if !folders.contains(root) => {
                    folders.push(root.clone());
                }
                _ => {}
            }
        }
        LeftBehind { host: number, hostname: host.hostname.clone(), folders }
    });
    left.filter(|left| !left.folders.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::Note;
    use model::note::{Fact, TakesPart};
    use model::plan::Target;

    #[test]
    fn folders_of_hosts_that_did_not_come_back_are_named_once() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 3);
        let record = recorded.record_mut();
        for (number, host) in record.plan.hosts.iter_mut().enumerate() {
            let target = |kind| Target { path: "/d".into(), kind, files: Vec::new() };
            let own = || target(PlannedTarget::Directory { root: format!("/d-h{number}") });
            // Layouts of scenarios have one folder each time, and what another host makes is not
            // this one's.
            host.targets =
                vec![own(), own(), target(PlannedTarget::Joined), target(PlannedTarget::Device)];
        }
        let note = |host, stage, fact| Note { stage, host, fact };
        let lost = || Fact::HostLost { name: String::new(), why: String::new() };
        let returned = Fact::HostReturned { name: String::new(), from: TakesPart::NextStage };
        assert_eq!(left_behind(record), []);
        record.notes = vec![
            note(1, Some(0), lost()),
            note(2, Some(0), lost()),
            note(1, Some(1), returned),
            note(1, None, Fact::NoChecksums),
        ];
        let left = |host: u32| LeftBehind {
            host,
            hostname: record.plan.hosts[host as usize].hostname.clone(),
            folders: vec![format!("/d-h{host}")],
        };
        assert_eq!(left_behind(record), [left(2)]);
        let again = [left(1), left(2)];
        // A host can be lost when the run is over, before it let go.
        record.notes.push(note(1, None, lost()));
        assert_eq!(left_behind(record), again);
    }
}
