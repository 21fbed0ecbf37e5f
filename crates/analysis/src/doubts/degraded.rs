//! Intervals that were measured without a host that was lost. They are never mixed with others: a
//! total over fewer hosts is another figure, not a worse one. Which of them a figure rests on,
//! [`model::digest::Frame`] says.

use crate::doubts::Warning;
use crate::over_time::offer::Offer;
use crate::rows::row::ResultRow;
use model::digest::Frame;
use model::{Nanos, Record};

/// What is to be said of the hosts that a stage lost: of those that the figures are without, and of
/// those whose loss ends them.
pub(crate) fn degraded(record: &Record, frame: &Frame) -> Vec<Warning> {
    let name = |host: &u32| {
        record.plan.hosts.get(*host as usize).map_or_else(String::new, |host| host.hostname.clone())
    };
    let (without, later): (Vec<u32>, Vec<u32>) =
        frame.lost.iter().partition(|host| frame.without.contains(host));
    let said = |hosts: Vec<u32>, wholly| {
        let behind = frame.behind_ns().map(Nanos).filter(|_| wholly);
        let hosts: Vec<String> = hosts.iter().map(name).collect();
        (!hosts.is_empty()).then_some(Warning::HostLost { hosts, wholly, behind })
    };
    said(without, true).into_iter().chain(said(later, false)).collect()
}

/// What of a workload's rate was asked of the hosts that the figures of `row` are of. Workers take
/// turns, so that each has an equal share of it.
pub(crate) fn asked_of_those_left<'a>(
    record: &Record,
    frame: &Frame,
    row: &ResultRow,
    offer: Offer<'a>,
) -> Offer<'a> {
    let workers = |is_meant: &dyn Fn(u32) -> bool| {
        let hosts = (0..).zip(&record.plan.hosts).filter(|(number, _)| is_meant(*number));
        let shares = hosts.filter_map(|(_, host)| host.stages.get(row.stage as usize));
        shares.flat_map(|share| &share.workers).filter(|worker| row.has_work(worker.work)).count()
            as u64
    };
    let (all, left) = (workers(&|_| true), workers(&|host| !frame.without.contains(&host)));
    // Else the figures are of the time in which all were there.
    if frame.without.is_empty() || all == 0 {
        return offer;
    }
    offer.shared(left, all)
}

#[cfg(test)]
mod tests {
    use crate::testing::Recorded;
    use crate::{Warning, results};
    use model::note::TakesPart;
    use model::{Event, Fact, Nanos, Note, NoteKind, Op, StageKind};

    fn lose(recorded: &mut Recorded, stage: u32, host: u32) {
        let note = Note {
            stage: Some(stage),
            host,
            fact: Fact::HostLost { name: "h1".into(), why: "gone".into() },
        };
        recorded.record_mut().notes.push(note);
    }

    #[test]
    fn what_was_measured_without_a_lost_host_is_in_no_figure() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 2);
        let stage = recorded.stage(StageKind::Measure);
        for interval in 0..4 {
            recorded.host_interval(stage, 0, interval, &[(Op::Read, &[100; 10])]);
            if interval < 2 {
                recorded.host_interval(stage, 1, interval, &[(Op::Read, &[100; 30])]);
            }
        }
        assert_eq!(results(&recorded.record())[0].ios, 100, "nobody said that a host was lost");
        lose(&mut recorded, stage, 1);
        let rows = results(&recorded.record());
        assert_eq!((rows[0].ios, rows[0].seconds, rows[0].iops()), (80, 2.0, 40.0));
        let warned = Warning::HostLost { hosts: vec!["node1".into()], wholly: false, behind: None };
        assert!(rows[0].warnings.contains(&warned), "{:?}", rows[0].warnings);
    }

    #[test]
    fn what_was_measured_after_it_came_back_is_not_in_doubt_until_it_is_lost_again() {
        let mut recorded =
            Recorded::with_hosts("[sweep]\ndepth = [1, 2, 3, 4]\n[[workload]]\nname = \"w\"\n", 2);
        let measured: Vec<u32> = (0..)
            .zip(&recorded.record().plan.stages)
            .filter(|(_, stage)| stage.kind == StageKind::Measure)
            .map(|(number, _)| number)
            .collect();
        let [first, second, third, fourth] = measured[..] else { panic!("{measured:?}") };
        for stage in [first, second, third, fourth] {
            for host in 0..2 {
                recorded.host_interval(stage, host, 0, &[(Op::Read, &[100; 10])]);
            }
        }
        lose(&mut recorded, first, 1);
        let back = |stage| Note {
            stage: Some(stage),
            host: 1,
            fact: Fact::HostReturned { name: "h1".into(), from: TakesPart::NextStage },
        };
        recorded.record_mut().notes.push(back(third));
        let in_doubt = |recorded: &Recorded| -> Vec<bool> {
            let is_lost = |warning: &Warning| matches!(warning, Warning::HostLost { .. });
            results(&recorded.record()).iter().map(|row| row.warnings.iter().any(is_lost)).collect()
        };
        assert_eq!(in_doubt(&recorded), [true, true, false, false]);
        // In the same stage in which it came back.
        lose(&mut recorded, third, 1);
        assert_eq!(in_doubt(&recorded), [true, true, true, true]);
        recorded.record_mut().notes.push(back(fourth));
        assert_eq!(in_doubt(&recorded), [true, true, true, false]);
    }

    #[test]
    fn a_run_that_is_resumed_has_all_hosts_again() {
        let mut recorded =
            Recorded::with_hosts("[sweep]\ndepth = [1, 2, 3]\n[[workload]]\nname = \"w\"\n", 2);
        let first = recorded.stage(StageKind::Measure);
        lose(&mut recorded, first, 1);
        let told = |left: &[u32]| -> Vec<(Option<u32>, u32)> {
            let is_back = |event: Event| match event {
                Event::Note(note) if note.kind() == NoteKind::HostReturned => {
                    Some((note.stage, note.host))
                }
                _ => None,
            };
            model::resume::kept(&recorded.record(), left).into_iter().filter_map(is_back).collect()
        };
        assert_eq!(told(&[0, first + 1, first + 2]), [(Some(first + 1), 1)]);
        assert_eq!(
            told(&[first, first + 1]),
            [],
            "what is done again says nothing of the first time"
        );
        assert_eq!(told(&[0]), [], "nothing is left behind that");
    }

    #[test]
    fn a_stage_without_it_from_the_start_has_the_figures_of_the_others() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 2);
        recorded.host_second(0, 0, &[(Op::Read, &[100; 10])]);
        lose(&mut recorded, 0, 1);
        let rows = results(&recorded.record());
        assert_eq!(rows[0].ios, 10);
        let warned = Warning::HostLost { hosts: vec!["node1".into()], wholly: true, behind: None };
        assert!(rows[0].warnings.contains(&warned));
    }

    #[test]
    fn behind_an_early_loss_a_row_goes_on_with_the_others_and_mixes_nothing() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 3);
        let stage = recorded.stage(StageKind::Measure);
        for interval in 0..10 {
            recorded.host_interval(stage, 0, interval, &[(Op::Read, &[100; 10])]);
            if interval < 2 {
                recorded.host_interval(stage, 1, interval, &[(Op::Read, &[100; 30])]);
            }
            if interval < 9 {
                recorded.host_interval(stage, 2, interval, &[(Op::Read, &[100; 20])]);
            }
        }
        lose(&mut recorded, stage, 1);
        lose(&mut recorded, stage, 2);
        let rows = results(&recorded.record());
        // From 2 to 9: seven intervals of two hosts, and none of the third's.
        assert_eq!((rows[0].ios, rows[0].seconds, rows[0].iops()), (210, 7.0, 30.0));
        let lost: Vec<&Warning> = rows[0]
            .warnings
            .iter()
            .filter(|warning| matches!(warning, Warning::HostLost { .. }))
            .collect();
        let behind = Some(Nanos::seconds(2));
        let first = Warning::HostLost { hosts: vec!["node1".into()], wholly: true, behind };
        let hosts = vec!["node2".into()];
        let second = Warning::HostLost { hosts, wholly: false, behind: None };
        assert_eq!(lost, [&first, &second]);
    }
}
