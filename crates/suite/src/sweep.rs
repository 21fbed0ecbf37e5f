//! `[sweep]`: its axes, the order and the repetitions of what they make, and the rule that leaves
//! points out.

use crate::fields::{SweepSpec, WorkloadSpec};
use crate::{Order, PointSpec, ranges};
use form::arithmetic::{self, Arithmetic, Name, Unit};
use form::{Node, Problem, Reader, Span, Table, Value, nearest};
use model::rng::{Rng, derive};
use model::setting::Setting;

/// More points than anyone waits for; a product of axes that got out of hand.
pub(crate) const MAX_POINTS: usize = 10_000;
/// Apart from the seeds of stages and workers.
const ORDER_SEED: u64 = u64::from_be_bytes(*b"sw-order");

/// The fields of the layout that can be axes: each point then loads its part of the one layout.
pub(crate) const LAYOUT_AXES: [&str; 2] = ["files", "size"];

/// One axis: a field of the workload, or a size of the layout, and the values it takes.
pub(crate) struct Axis {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) values: Vec<Node>,
}

/// `[sweep]` as it was written.
pub(crate) struct Sweep {
    pub(crate) axes: Vec<Axis>,
    spec: SweepSpec,
    /// True for the points that are to be left out.
    pub(crate) skip: Option<(Arithmetic, Span)>,
}

impl Sweep {
    /// Reads the table, which may be missing.
    pub(crate) fn read(root: &Table, problems: &mut Vec<Problem>) -> Sweep {
        let empty = Table::default();
        let (table, span) = match root.get("sweep") {
            None => (&empty, 0..0),
            Some(Node { value: Value::Table(table), span }) => (table, span.clone()),
            Some(node) => {
                problems.push(Problem::new(
                    node.span.clone(),
                    "the sweep is not a table",
                    "write `[sweep]` with one line for each axis, such as `depth = [1, 8, 32]`",
                ));
                (&empty, node.span.clone())
            }
        };
        // Keys that are none of these are axes, or mistakes that are told as such.
        let spec = SweepSpec::read(&mut Reader::new(table, span, problems));
        let skip = skip(&spec, problems);
        Sweep { axes: axes(table, problems), spec, skip }
    }

    /// Where a complaint about the number of points belongs.
    pub(crate) fn place(&self) -> Span {
        let axis = self.axes.first().map(|axis| axis.key_span.clone());
        axis.or_else(|| self.spec.repetitions.span.clone()).unwrap_or(0..0)
    }

    /// How many combinations of values the axes have.
    pub(crate) fn combinations(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).fold(1, usize::saturating_mul)
    }

    /// How often each combination runs.
    pub(crate) fn repetitions(&self) -> u32 {
        self.spec.repetitions.value.0
    }

    /// In what order points run.
    pub(crate) fn order(&self) -> Order {
        self.spec.order.value
    }

    /// For each axis, its value in the `combination`-th element of the product of all axes, the
    /// last axis fastest.
    fn values(&self, mut combination: usize) -> Vec<(&Axis, &Node)> {
        let mut values = Vec::new();
        for axis in self.axes.iter().rev() {
            values.push((axis, &axis.values[combination % axis.values.len()]));
            combination /= axis.values.len();
        }
        values.reverse();
        values
    }

    /// The same, of the axes of the layout if `of_layout`, else of the workload.
    pub(crate) fn values_of(&self, combination: usize, of_layout: bool) -> Vec<(&Axis, &Node)> {
        let mut values = self.values(combination);
        values.retain(|(axis, _)| LAYOUT_AXES.contains(&axis.key.as_str()) == of_layout);
        values
    }

    /// Axis and value as the report names them.
    pub(crate) fn labels(&self, combination: usize) -> Vec<Setting> {
        self.values(combination)
            .into_iter()
            .map(|(axis, value)| Setting::new(&axis.key, value.label()))
            .collect()
    }

    /// `points`, each as often and in the order that the sweep asks for.
    pub(crate) fn arrange(&self, points: &[PointSpec], seed: u64) -> Vec<PointSpec> {
        let repetitions = 1..=self.repetitions();
        let again = |point: &PointSpec, repetition| PointSpec { repetition, ..point.clone() };
        match self.spec.order.value {
            Order::Interleaved => repetitions
                .flat_map(|repetition| points.iter().map(move |point| again(point, repetition)))
                .collect(),
            order => {
                let each = |point: &PointSpec| {
                    repetitions.clone().map(|n| again(point, n)).collect::<Vec<_>>()
                };
                let mut all: Vec<PointSpec> = points.iter().flat_map(each).collect();
                if order == Order::Random {
                    shuffle(&mut all, &mut Rng::new(derive(seed, &[ORDER_SEED])));
                }
                all
            }
        }
    }
}

/// Fisher and Yates's shuffle (Knuth, The Art of Computer Programming, volume 2, 3.4.2, algorithm
/// P): every order is equally likely.
fn shuffle<T>(list: &mut [T], rng: &mut Rng) {
    for last in (1..list.len()).rev() {
        list.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

fn skip(spec: &SweepSpec, problems: &mut Vec<Problem>) -> Option<(Arithmetic, Span)> {
    let span = spec.skip.span.clone().filter(|_| !spec.skip.value.is_empty())?;
    // Everything but the number of files, which only points that are kept have.
    let known = Name::first(Name::ALL.len() - 1);
    let problem = match arithmetic::parse(&spec.skip.value, Unit::Size, known) {
        Ok(rule) if rule.is_condition() => return Some((rule, span)),
        Ok(_) => Problem::new(
            span,
            "skip: a number says neither yes nor no",
            "compare it with something: \"workers * depth > 256\"",
        ),
        Err(error) => Problem::new(span, format!("skip: {}", error.message), error.remedy),
    };
    problems.push(problem);
    None
}

fn axes(table: &Table, problems: &mut Vec<Problem>) -> Vec<Axis> {
    let workload =
        || WorkloadSpec::KEYS.iter().copied().filter(|key| !["name", "group"].contains(key));
    let fields = || workload().chain(LAYOUT_AXES);
    let mut read = Vec::new();
    for entry in table.entries.iter().filter(|entry| !SweepSpec::KEYS.contains(&entry.key.as_str()))
    {
        if !fields().any(|field| field == entry.key) {
            let near = || nearest(&entry.key, fields().chain(SweepSpec::KEYS.iter().copied()));
            let near = || near().map(|near| format!("did you mean `{near}`?"));
            let remedy = form::other_names::axis(&entry.key).or_else(near).unwrap_or_else(|| {
                let all = fields().collect::<Vec<_>>().join(", ");
                format!("an axis is a field of a workload, or files or size: {all}")
            });
            let message = format!("`{}` is not an axis", entry.key);
            problems.push(Problem::new(entry.key_span.clone(), message, remedy));
            continue;
        }
        match axis_values(&entry.node) {
            Ok(values) => {
                read.push(Axis {
                    key: entry.key.clone(),
                    key_span: entry.key_span.clone(),
                    values,
                });
            }
            Err(wrong) => problems.extend(wrong.unwrap_or_else(|| {
                vec![Problem::new(
                    entry.node.span.clone(),
                    format!("the axis `{}` has no values", entry.key),
                    "write a list such as [1, 8, 32], or a range such as \"1..1024 x2\"",
                )]
            })),
        }
    }
    read
}

/// The values of one axis, ranges written out; else what is wrong with them, or nothing where there
/// are none at all.
fn axis_values(node: &Node) -> Result<Vec<Node>, Option<Vec<Problem>>> {
    let written: &[Node] = match &node.value {
        Value::Array(values) if !values.is_empty() => values,
        Value::Text(text) if text.contains("..") => std::slice::from_ref(node),
        _ => return Err(None),
    };
    let (mut values, mut wrong) = (Vec::new(), Vec::new());
    for value in written {
        let range = match &value.value {
            Value::Text(text) => ranges::range(text),
            _ => None,
        };
        match range {
            None => values.push(value.clone()),
            Some(Ok(range)) => {
                values.extend(
                    range.into_iter().map(|item| Node { span: value.span.clone(), value: item }),
                );
            }
            Some(Err(error)) => {
                wrong.push(Problem::new(value.span.clone(), error.message, error.remedy));
            }
        }
        if values.len() > MAX_POINTS {
            return Err(Some(vec![Problem::new(node.span.clone(), TOO_MANY.0, TOO_MANY.1)]));
        }
    }
    if wrong.is_empty() { Ok(values) } else { Err(Some(wrong)) }
}

/// What is said of a sweep that nobody would wait for.
pub(crate) const TOO_MANY: (&str, &str) =
    ("the sweep makes more than 10000 points", "leave out values, axes or repetitions");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_everything_and_the_seed_decides() {
        let shuffled = |seed| {
            let mut list: Vec<u32> = (0..100).collect();
            shuffle(&mut list, &mut Rng::new(seed));
            list
        };
        let mut sorted = shuffled(1);
        assert_ne!(sorted, shuffled(2));
        assert_eq!(sorted, shuffled(1));
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }
    #[test]
    fn every_axis_that_a_suite_may_have_is_read_as_its_quantity() {
        let known: Vec<&str> = Setting::known_axes().collect();
        let keys = WorkloadSpec::KEYS.iter().filter(|key| !["name", "group"].contains(key));
        for key in keys {
            assert!(known.contains(key), "{key} is missing: say how its text is read");
        }
        assert_eq!(WorkloadSpec::KEYS.len(), known.len() + 2);
    }
}
