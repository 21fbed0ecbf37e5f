//! Options of fio that are typed behind the quick form: what they change in its suite.

use super::convert::apply;
use super::group::group;
use super::job::Job;
use super::options::find;
use super::sections::Entry;
use crate::draft::{Group, Taken};
use crate::import::World;
use crate::loss::{Class, Losses, ReportedOption};
use crate::rows::Row;

/// A field of the suite and the value that it has with the options, as `--set` takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The field, with its table but for fields of the workload.
    pub field: String,
    /// Its value, without quotes.
    pub value: String,
}

/// Whether the quick form understands fio's option of this name by the table.
pub fn quick_knows(name: &str) -> bool {
    // Zones belong to a device that the quick form has not.
    let is_known = |row: &Row| row.doc().0 != Class::Refused.word();
    name != "zonemode" && find(name).is_some_and(is_known)
}

/// Whether the word behind an option is its value.
pub fn takes_a_value(name: &str) -> bool {
    find(name).is_some_and(|row| row.takes.a_value())
}

/// What `more` changes in a job of the options `base`, and what became of each of them.
pub fn quick_changes(
    base: &[(String, String)],
    more: &[(String, String)],
) -> (Vec<Changed>, Vec<ReportedOption>) {
    let (before, _) = read(base);
    let all: Vec<(String, String)> = base.iter().chain(more).cloned().collect();
    let (after, losses) = read(&all);
    let told = losses.into_all().into_iter().skip(base.len()).take(more.len()).collect();
    (changes(&before, &after), told)
}

fn read(options: &[(String, String)]) -> (Group, Losses) {
    let mut losses = Losses::default();
    let mut job = Job { name: "quick".to_owned(), ..Job::default() };
    for (name, value) in options {
        let place = format!("--{name}");
        let (name, value) = (name.clone(), value.clone());
        let entry = Entry { name, value, place, is_included: false };
        apply(&mut job, &entry, &World::NOTHING, &mut losses);
    }
    let group = group(&[job], &mut losses, &mut Taken::default());
    (group, losses)
}

fn changes(before: &Group, after: &Group) -> Vec<Changed> {
    let mut all = Vec::new();
    let plain = |value: &str| value.trim_matches('"').to_owned();
    for ((table, old), (_, new)) in before.tables().iter().zip(after.tables()) {
        for line in new.0.iter().filter(|line| old.get(line.key) != Some(line.value.as_str())) {
            let field = format!("{table}.{}", line.key);
            all.push(Changed { field, value: plain(&line.value) });
        }
    }
    if let (Some(old), Some(new)) = (before.works.first(), after.works.first()) {
        let lines = new.fields.0.iter();
        for line in lines.filter(|line| old.fields.get(line.key) != Some(line.value.as_str())) {
            all.push(Changed { field: line.key.to_owned(), value: plain(&line.value) });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Vec<(String, String)> {
        let pairs = text.split_whitespace().map(|word| word.split_once('=').unwrap_or((word, "")));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn options_change_only_what_they_say() {
        let base = options(
            "rw=randrw bs=4k iodepth=8 direct=1 ioengine=io_uring time_based \
                            runtime=60 norandommap size=1g",
        );
        let changed = |more: &str| {
            let (changes, told) = quick_changes(&base, &options(more));
            assert_eq!(told.len(), options(more).len());
            let all = changes.iter().map(|one| format!("{}={}", one.field, one.value));
            all.collect::<Vec<String>>()
        };
        assert_eq!(changed(""), [""; 0]);
        assert_eq!(changed("rwmixwrite=30"), ["read=70%"]);
        // fio holds each direction to it.
        assert_eq!(changed("rate_iops=100 group_reporting"), ["rate=200", "rate_of=worker"]);
        assert_eq!(
            changed("rwmixread=70 rate_iops=3000,1000"),
            ["read=75%", "rate=4000", "rate_of=worker"],
            "the rates are the share"
        );
        assert_eq!(changed("bssplit=4k/60:64k/40"), ["block_size=4KiB:60, 64KiB:40"]);
        assert!(quick_knows("thinktime") && !quick_knows("zonemode") && !quick_knows("x"));
        assert!(takes_a_value("thinktime") && !takes_a_value("group_reporting"));
    }
}
