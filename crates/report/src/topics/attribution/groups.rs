//! Points of which the same is to be said but for the numbers, told once: of twenty points of a
//! sweep, twenty times the same sentence hides the one that differs.

use super::{MOST_POINTS, Names, PARALLEL, body, may_be_parallel, more_points, sentence, title};
use crate::ground::sentence::Sentence;
use crate::ground::words;
use analysis::attribution::Attribution;
use model::Record;

/// So many points of a group are called by their names.
const MOST_TITLES: usize = 2;

struct Group {
    titles: Vec<String>,
    /// All that is to be said of the first, for a group of one.
    first: String,
    alike: Sentence,
}

/// What is to be said of `all`, in the order of the points that come first.
pub(super) fn sentences(record: &Record, all: &[Attribution]) -> Vec<String> {
    let mut groups: Vec<Group> = Vec::new();
    for one in all {
        // Which core it was is chance, and no number of which there is a range.
        let alike = body(record, one, Names::AnyCore);
        match groups.iter_mut().find(|group| group.alike.words() == alike.words()) {
            Some(group) => {
                group.alike.merge(&alike);
                group.titles.push(title(one));
            }
            None => {
                groups.push(Group {
                    titles: vec![title(one)],
                    first: sentence(record, one),
                    alike,
                });
            }
        }
    }
    let points = record.plan.points.len();
    let mut told: Vec<String> =
        groups.iter().take(MOST_POINTS).map(|group| group.text(all.len(), points)).collect();
    let left: usize = groups.iter().skip(MOST_POINTS).map(|group| group.titles.len()).sum();
    told.extend((left > 0).then(|| more_points(left as u64)));
    told.extend(may_be_parallel(all).then(|| PARALLEL.to_owned()));
    told
}

impl Group {
    /// In a sentence, where so many points in all are known, of so many.
    fn text(&self, known: usize, points: usize) -> String {
        let number = self.titles.len();
        if number == 1 {
            return self.first.clone();
        }
        let named =
            self.titles.iter().take(MOST_TITLES).map(String::as_str).collect::<Vec<_>>().join(", ");
        let who = match number.saturating_sub(MOST_TITLES) {
            _ if number == known && known < points => format!("{known} of {points} points"),
            _ if number == known => format!("all {known} points"),
            0 => named,
            more => format!("{named} and {} like them", words::counted(more as u64, "point")),
        };
        format!("{who}: {}", self.alike.text())
    }
}
