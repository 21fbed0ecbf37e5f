//! Rows of several runs beside each other, by workload and operation.

use super::{Figure, shown_figures};
use model::Op;
use model::foreign::{GivenRow, Span};

/// What tells rows of one run apart that are compared with those of others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    workload: String,
    op: Option<Op>,
    /// The how-manieth of these: jobs may have the same name.
    nth: usize,
}

/// The same figure of all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct BesideFigure {
    /// Which.
    pub figure: Figure,
    /// A value for each run, where it has one.
    pub values: Vec<Option<f64>>,
    /// Of a latency, the runs whose value is of the completion alone, beside others of whole
    /// requests: such values are not compared.
    pub of_completion: Vec<bool>,
}

impl BesideFigure {
    /// By how much a run differs from the first, in percent; `None` where one has no value.
    pub fn percent(&self, run: usize) -> Option<f64> {
        let first = self.values.first().copied().flatten().filter(|first| *first > 0.0)?;
        let other = self.values.get(run).copied().flatten()?;
        let is_alike = self.of_completion.first() == self.of_completion.get(run);
        is_alike.then_some((other / first - 1.0) * 100.0)
    }
}

/// The rows of all runs that have the same workload and operation.
#[derive(Clone, Debug, PartialEq)]
pub struct BesideRow {
    /// The workload.
    pub workload: String,
    /// The operation; `None` for several.
    pub op: Option<Op>,
    /// Which of several rows of this name, from 0.
    pub nth: usize,
    /// Their figures, of which at least one run has each.
    pub figures: Vec<BesideFigure>,
}

/// Runs beside each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beside {
    /// What at least two runs have.
    pub rows: Vec<BesideRow>,
    /// What one run alone has: the number of the run and the name of the row.
    pub alone: Vec<(usize, String)>,
}

/// The rows of several runs beside each other, in the order of the first run that has them.
///
/// Latencies are compared where they are of the same span alone. Runs of one row each are compared
/// whatever the rows are called, if they do the same.
pub fn beside(runs: &[&[GivenRow]]) -> Beside {
    let runs: Vec<Vec<(Key, &GivenRow)>> = runs.iter().map(|rows| keyed(rows)).collect();
    let is_single = runs.iter().all(|rows| rows.len() == 1)
        && runs.windows(2).all(|pair| pair[0][0].0.op == pair[1][0].0.op);
    let mut keys: Vec<&Key> = Vec::new();
    for (key, _) in runs.iter().flatten() {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    if is_single {
        keys.truncate(1);
    }
    let mut found = Beside::default();
    for key in keys {
        let of = |rows: &Vec<(Key, &'_ GivenRow)>| {
            rows.iter().position(|(own, _)| own == key || is_single)
        };
        let rows: Vec<Option<&GivenRow>> =
            runs.iter().map(|rows| of(rows).map(|at| rows[at].1)).collect();
        let present: Vec<usize> = (0..rows.len()).filter(|run| rows[*run].is_some()).collect();
        match present.as_slice() {
            [run] => found.alone.push((*run, name(key))),
            _ => found.rows.push(BesideRow {
                workload: key.workload.clone(),
                op: key.op,
                nth: key.nth,
                figures: figures(&rows),
            }),
        }
    }
    found
}

fn name(key: &Key) -> String {
    format!("{} {}", key.workload, key.op.map_or("all", Op::name))
}

fn keyed(rows: &[GivenRow]) -> Vec<(Key, &GivenRow)> {
    let mut all: Vec<(Key, &GivenRow)> = Vec::new();
    for row in rows {
        let is_same =
            |(key, _): &&(Key, &GivenRow)| key.workload == row.workload && key.op == row.op;
        let nth = all.iter().filter(is_same).count();
        all.push((Key { workload: row.workload.clone(), op: row.op, nth }, row));
    }
    all
}

fn figures(rows: &[Option<&GivenRow>]) -> Vec<BesideFigure> {
    let of = |figure: Figure| {
        let values: Vec<Option<f64>> =
            rows.iter().map(|row| row.and_then(|row| figure.value(row))).collect();
        let is_there = values.iter().any(Option::is_some);
        let of_completion = vec![false; values.len()];
        is_there.then_some(BesideFigure { figure, values, of_completion })
    };
    let present: Vec<&GivenRow> = rows.iter().flatten().copied().collect();
    joined(shown_figures(&present).into_iter().filter_map(of).collect())
}

/// The same statistic of whole requests in some runs, and of their completion in all others, is one
/// figure: half of either would be empty.
fn joined(figures: Vec<BesideFigure>) -> Vec<BesideFigure> {
    let mut all: Vec<BesideFigure> = Vec::new();
    for found in figures {
        let total = match found.figure {
            Figure::Latency(Span::Completion, of) => Some(Figure::Latency(Span::Total, of)),
            _ => None,
        };
        let has_both = |known: &BesideFigure| {
            known.values.iter().zip(&found.values).any(|(one, two)| one.is_some() && two.is_some())
        };
        let mut whole = all.iter_mut().filter(|known| Some(known.figure) == total);
        match whole.find(|known| !has_both(known)) {
            Some(known) => {
                for (run, value) in found.values.iter().enumerate().filter(|(_, one)| one.is_some())
                {
                    known.values[run] = *value;
                    known.of_completion[run] = true;
                }
            }
            None => all.push(found),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::foreign::{Measured, Quantity, Statistic};

    fn row(name: &str, op: Op, rate: f64) -> GivenRow {
        let mut row = GivenRow::new(name, Some(op), "1".to_owned());
        row.add(Quantity::whole(Measured::Rate), Some(rate));
        row
    }

    #[test]
    fn rows_of_one_name_and_operation_stand_beside_each_other() {
        let first = [row("a", Op::Read, 100.0), row("a", Op::Read, 50.0), row("b", Op::Write, 1.0)];
        let second = [row("a", Op::Read, 110.0), row("a", Op::Write, 7.0)];
        let found = beside(&[&first, &second]);
        assert_eq!(found.rows.len(), 1);
        assert!((found.rows[0].figures[0].percent(1).expect("both") - 10.0).abs() < 1e-9);
        assert_eq!(found.rows[0].figures[0].percent(2), None);
        let alone: Vec<(usize, &str)> =
            found.alone.iter().map(|(run, name)| (*run, name.as_str())).collect();
        assert_eq!(alone, [(0, "a read"), (0, "b write"), (1, "a write")]);
    }

    #[test]
    fn single_rows_that_do_the_same_are_compared_whatever_they_are_called() {
        let (a, b) = ([row("a", Op::Read, 1.0)], [row("b", Op::Read, 2.0)]);
        assert_eq!(beside(&[&a, &b]).rows.len(), 1);
        let c = [row("c", Op::Write, 2.0)];
        assert_eq!(beside(&[&a, &c]).rows.len(), 0);
    }

    #[test]
    fn latencies_of_other_spans_are_not_compared() {
        let of = |span| {
            let mut row = row("a", Op::Read, 1.0);
            row.add(Quantity::latency(span, Statistic::Mean), Some(5.0));
            [row]
        };
        let found = beside(&[&of(Span::Total), &of(Span::Completion)]);
        let latencies: Vec<&BesideFigure> =
            found.rows[0].figures.iter().filter(|figure| figure.figure != Figure::Rate).collect();
        assert_eq!(latencies.len(), 1, "one row, and not two that are half empty");
        assert_eq!(latencies[0].values, [Some(5.0), Some(5.0)]);
        assert_eq!(latencies[0].of_completion, [false, true]);
        assert!(latencies.iter().all(|figure| figure.percent(1).is_none()));
    }
}
