//! Doubts by their sorts: those that spoil a figure stand beside it by a number, the gravest first;
//! those of the run and those of the target are a line each. Doubts with the same code are one,
//! with all hosts inside.

use crate::ground::words;
use crate::topics::warning::{self, Told};
use analysis::doubts::{Gravity, Sort};
use analysis::{ResultRow, Warning};

pub fn is_shown(row: &ResultRow) -> bool {
    row.warnings.iter().any(|doubt| doubt.row().sort == Sort::Figure)
}

/// What a row is called, with its operation.
fn result(row: &ResultRow) -> String {
    let workload = words::with_sweep(&row.workload, &row.sweep, row.repetition);
    format!("{workload} {}", row.ops.name())
}

/// All doubts of some rows, each once.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    doubts: Vec<Marked>,
    /// So many have a number.
    most: usize,
}

#[derive(Clone, Debug)]
struct Marked {
    rank: usize,
    sort: Sort,
    told: Told,
    /// How many more there are that say the same in other words.
    others: usize,
}

impl Marks {
    /// Those of `rows`; at most so many of those that stand beside figures get a number.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a ResultRow>, most: usize) -> Marks {
        let mut doubts: Vec<Marked> = Vec::new();
        // No table has the figure of a harmless one; JSON has both.
        let shown = |doubt: &Warning| doubt.row().gravity != Gravity::Harmless;
        let rows: Vec<&ResultRow> = rows.into_iter().collect();
        let all = rows.iter().flat_map(|row| row.warnings.iter().map(move |doubt| (*row, doubt)));
        for (row, doubt) in all.filter(|(_, doubt)| shown(doubt)) {
            let has = |row: &&ResultRow| row.warnings.iter().any(|one| one.code() == doubt.code());
            let result = (!rows.iter().all(has)).then(|| result(row));
            let told = warning::told(doubt, result.as_deref());
            let Some(known) = doubts.iter_mut().find(|known| known.told.name == told.name) else {
                let (rank, sort) = (doubt.rank(), doubt.row().sort);
                doubts.push(Marked { rank, sort, told, others: 0 });
                continue;
            };
            let is_same = known.told.sentence.merge(&told.sentence);
            known.told.brief.merge(&told.brief);
            known.others += usize::from(!is_same);
        }
        doubts.sort_by_key(|one| (one.sort, one.rank));
        Marks { doubts, most }
    }

    /// The numbers beside the figures of `row`, from 1.
    pub fn beside(&self, row: &ResultRow) -> Vec<usize> {
        let here: Vec<String> = row.warnings.iter().map(warning::name).collect();
        let numbered = (1..).zip(self.sorted(Sort::Figure)).take(self.most);
        numbered.filter(|(_, one)| here.contains(&one.told.name)).map(|(n, _)| n).collect()
    }

    pub fn numbered(&self) -> Vec<String> {
        self.sorted(Sort::Figure).take(self.most).map(Marked::text).collect()
    }

    /// How many stand beside figures without a number.
    pub fn unnumbered(&self) -> u64 {
        self.sorted(Sort::Figure).skip(self.most).count() as u64
    }

    pub fn sentences(&self, sort: Sort) -> Vec<String> {
        self.sorted(sort).map(Marked::text).collect()
    }

    pub fn phrases(&self, sort: Sort) -> Vec<String> {
        self.sorted(sort).map(|one| one.told.brief.text()).collect()
    }

    fn sorted(&self, sort: Sort) -> impl Iterator<Item = &Marked> {
        self.doubts.iter().filter(move |one| one.sort == sort)
    }
}

impl Marked {
    fn text(&self) -> String {
        let said = self.told.sentence.text();
        if self.others == 0 { said } else { format!("{said} ({} more such)", self.others) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{W, measured};
    use model::Op;

    #[test]
    fn a_hundred_doubts_of_a_hundred_hosts_are_one_with_the_hosts_inside() {
        let record = measured(W, &[(Op::Read, &[1_000; 90])]);
        let mut rows = analysis::results(&record);
        let steal =
            |n: u32| Warning::Stolen { host: format!("node{n}"), share: f64::from(n) / 1e3 };
        let slow =
            |n: u32| Warning::ClockSource { host: format!("node{n}"), source: "hpet".into() };
        rows[0].warnings = (50..150).flat_map(|n| [slow(n), steal(n)]).collect();
        let marks = Marks::of(&rows, 3);
        let stolen = "The hypervisor gave 5.0 to 15 % of the CPU time of node50, node51, node52 \
                      and 97 more hosts to others. Rates are too low, latencies too high.";
        assert_eq!((marks.numbered(), marks.unnumbered()), (vec![stolen.to_owned()], 0));
        assert_eq!(marks.beside(&rows[0]), [1]);
        assert_eq!(marks.phrases(Sort::Target), ["slow clock source hpet"]);
    }

    #[test]
    fn a_doubt_of_some_results_says_of_which() {
        let record = measured(W, &[(Op::Read, &[1_000; 90]), (Op::Write, &[1_000; 2_000])]);
        let mut rows = analysis::results(&record);
        rows.retain(|row| row.ops.one().is_some());
        let few = |samples| vec![Warning::FewSamples { samples }];
        rows[0].warnings = few(90);
        rows[1].warnings = Vec::new();
        let said = |rows: &[ResultRow]| Marks::of(rows, 3).phrases(Sort::Run);
        assert_eq!(said(&rows), ["only 90 requests of w read"]);
        rows[1].warnings = few(650);
        assert_eq!(said(&rows), ["only 90 to 650 requests"]);
    }
}
