//! Which files of populations a run left, by the ledgers of its hosts: in words, as an object, and
//! as a section of the page.

use crate::ground::markup::{Markup, plain, under};
use crate::ground::words;
use crate::pens::json::{Value, object};
use model::ledger::LedgerSum;
use model::units::Bytes;
use model::{Fact, Record};
use std::collections::BTreeMap;

/// What each host's ledgers said at the end of its last stage with a population.
fn of_hosts(record: &Record) -> BTreeMap<u32, LedgerSum> {
    let ledgers = record.notes.iter().filter_map(|note| match &note.fact {
        Fact::Ledger(ledger) => Some((note.host, (note.stage, *ledger))),
        _ => None,
    });
    let mut last: BTreeMap<u32, (Option<u32>, LedgerSum)> = BTreeMap::new();
    for (host, one) in ledgers {
        let kept = last.entry(host).or_insert(one);
        if one.0 >= kept.0 {
            *kept = one;
        }
    }
    last.into_iter().map(|(host, (_, ledger))| (host, ledger)).collect()
}

fn total(hosts: &BTreeMap<u32, LedgerSum>) -> LedgerSum {
    let mut all = LedgerSum::default();
    hosts.values().for_each(|one| all.add_all(*one));
    all
}

pub fn of_host(ledger: &LedgerSum) -> String {
    let LedgerSum { sum, guessed } = ledger;
    let guesses = match guessed {
        0 => String::new(),
        some => {
            format!("; {} times the file system did not say what it has", words::count(*some))
        }
    };
    let (files, bytes) = (words::counted(sum.files, "file"), Bytes(sum.bytes));
    format!("{files} of {bytes} together at the end, by the ledger{guesses}")
}

fn sentence(record: &Record) -> Option<String> {
    let hosts = of_hosts(record);
    let all = of_host(&total(&hosts));
    match hosts.len() {
        0 => None,
        1 => Some(all),
        some => Some(format!("{all}, on {some} hosts")),
    }
}

pub fn text(record: &Record) -> String {
    sentence(record).map_or_else(String::new, |one| format!("\nFiles  {one}\n"))
}

pub fn section(record: &Record) -> Markup {
    let said = |one| under("Files at the end", [plain("p", one)]);
    sentence(record).map(said).unwrap_or_default()
}

pub fn object(record: &Record) -> Value {
    let hosts = of_hosts(record);
    if hosts.is_empty() {
        return Value::Null;
    }
    let figures = |one: &LedgerSum| {
        let LedgerSum { sum, guessed } = one;
        object! { guessed, ..sum { files, bytes } }
    };
    let mut fields = figures(&total(&hosts));
    let each = hosts.iter().map(|(number, one)| {
        let host = record.plan.hosts.iter().find(|host| host.host == *number);
        let mut fields = figures(one);
        fields["host"] = host.map_or("", |host| host.hostname.as_str()).into();
        fields
    });
    fields["hosts"] = each.collect();
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W};
    use model::Note;
    use model::ledger::FilesSum;

    #[test]
    fn the_last_stage_of_each_host_counts_and_hosts_add_up() {
        let mut recorded = Recorded::with_hosts(W, 2);
        assert_eq!(text(recorded.record_mut()), "");
        assert_eq!(object(recorded.record_mut()), Value::Null);
        let note = |host, stage, files, guessed| {
            let sum = FilesSum { files, bytes: files * 1024, digest: files };
            let fact = Fact::Ledger(LedgerSum { sum, guessed });
            Note { stage: Some(stage), host, fact }
        };
        recorded.record_mut().notes =
            vec![note(1, 3, 20, 0), note(0, 1, 900, 9), note(0, 3, 1_000, 0)];
        let object = object(recorded.record_mut());
        let hosts = [0, 1].map(|host: usize| object["hosts"][host]["files"].as_u64());
        assert_eq!((object["files"].as_u64(), hosts), (Some(1_020), [Some(1_000), Some(20)]));
        assert_eq!((&object["bytes"], &object["guessed"]), (&1_044_480.into(), &0.into()));
        let told = text(recorded.record_mut());
        assert!(told.contains("1,020 files of 1020 KiB together at the end"), "{told}");
        assert!(told.contains("on 2 hosts") && !told.contains("did not say"), "{told}");
        recorded.record_mut().notes.push(note(0, 5, 1, 2));
        assert!(text(recorded.record_mut()).contains("2 times the file system did not say"));
    }
}
