//! `[sweep]`: its axes, the order and the repetitions of what they make, and the rule that leaves
//! points out.

use crate::fields::{SweepSpec, WorkloadSpec};
use crate::{Order, PointSpec, ranges};
use form::arithmetic::{self, Arithmetic, Name, Unit};
use form::{Entry, Node, Problem, Problems, Reader, Span, Table, Value, nearest};
use model::rng::{Rng, derive};
use model::setting::Setting;

/// More points than anyone waits for; a product of axes that got out of hand.
pub(crate) const MAX_POINTS: usize = 10_000;
/// Apart from the seeds of stages and workers.
const ORDER_SEED: u64 = u64::from_be_bytes(*b"sw-order");

/// The fields of the layout that can be axes: each point then loads its part of the one layout.
pub(crate) const LAYOUT_AXES: [&str; 2] = ["files", "size"];

/// Fields of a workload that are none.
const NO_AXES: [&str; 5] = ["name", "group", "command", "result", "trace"];

/// One axis: a field of the workloads, of one of them (`reads.rate`), or a size of the layout; and
/// the values it takes.
pub(crate) struct Axis {
    pub(crate) key: String,
    /// The workload that it is of; `None` for all.
    workload: Option<String>,
    pub(crate) field: String,
    pub(crate) key_span: Span,
    pub(crate) values: Vec<Node>,
}

impl Axis {
    fn is_of_layout(&self) -> bool {
        self.workload.is_none() && LAYOUT_AXES.contains(&self.field.as_str())
    }

    /// Whether it is of one of these workloads.
    fn is_of(&self, names: &[&str]) -> bool {
        self.workload.as_ref().is_none_or(|own| names.contains(&own.as_str()))
    }
}

fn names(root: &Table) -> Vec<String> {
    let Some(Node { value: Value::Array(workloads), .. }) = root.get("workload") else {
        return Vec::new();
    };
    let name = |node: &Node| match &node.value {
        Value::Table(table) => table.get("name").map(Node::label),
        _ => None,
    };
    workloads.iter().filter_map(name).collect()
}

/// `[sweep]` as it was written.
pub(crate) struct Sweep {
    pub(crate) axes: Vec<Axis>,
    pub(crate) spec: SweepSpec,
    /// True for the points that are to be left out.
    pub(crate) skip: Option<(Arithmetic, Span)>,
}

impl Sweep {
    /// Reads the table, which may be missing.
    pub(crate) fn read(root: &Table, problems: &mut Problems) -> Sweep {
        let empty = Table::default();
        let (table, span) = match root.get("sweep") {
            None => (&empty, 0..0),
            Some(Node { value: Value::Table(table), span }) => (table, span.clone()),
            Some(node) => {
                problems.push(node.wrong(
                    "the sweep is not a table",
                    "write `[sweep]` with one line for each axis, such as `depth = [1, 8, 32]`",
                ));
                (&empty, node.span.clone())
            }
        };
        // Keys that are none of these are axes, or mistakes that are told as such.
        let spec = SweepSpec::read(&mut Reader::new(table, span, problems));
        let skip = skip(&spec, problems);
        Sweep { axes: axes(table, &names(root), problems), spec, skip }
    }

    /// Where a complaint about the number of points belongs.
    pub(crate) fn place(&self) -> Span {
        let axis = self.axes.first().map(|axis| axis.key_span.clone());
        axis.or_else(|| self.spec.repetitions.span.clone()).unwrap_or(0..0)
    }

    pub(crate) fn combinations(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).fold(1, usize::saturating_mul)
    }

    pub(crate) fn repetitions(&self) -> u32 {
        self.spec.repetitions.value.0
    }

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

    /// The same, of the axes of the layout.
    pub(crate) fn values_of_layout(&self, combination: usize) -> Vec<(&Axis, &Node)> {
        let mut values = self.values(combination);
        values.retain(|(axis, _)| axis.is_of_layout());
        values
    }

    /// The same, of those of the workload of this name.
    pub(crate) fn values_of(&self, combination: usize, name: &str) -> Vec<(&Axis, &Node)> {
        let mut values = self.values(combination);
        values.retain(|(axis, _)| !axis.is_of_layout() && axis.is_of(&[name]));
        values
    }

    /// Whether this combination is one for a group of these workloads: along axes of others, they
    /// have one point alone.
    pub(crate) fn is_for(&self, combination: usize, names: &[&str]) -> bool {
        let is_first = |axis: &Axis, value: &Node| std::ptr::eq(&axis.values[0], value);
        let all = self.values(combination);
        all.into_iter().all(|(axis, value)| axis.is_of(names) || is_first(axis, value))
    }

    /// Axis and value as the report names them, of the axes of these workloads.
    pub(crate) fn labels(&self, combination: usize, names: &[&str]) -> Vec<Setting> {
        self.values(combination)
            .into_iter()
            .filter(|(axis, _)| axis.is_of(names))
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

fn skip(spec: &SweepSpec, problems: &mut Problems) -> Option<(Arithmetic, Span)> {
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

fn axes(table: &Table, names: &[String], problems: &mut Problems) -> Vec<Axis> {
    let mut read = Vec::new();
    for entry in table.entries.iter().filter(|entry| !SweepSpec::KEYS.contains(&entry.key.as_str()))
    {
        // `reads.rate = […]` is a table in a table; `"reads.rate" = […]` is a key with a dot.
        if let Value::Table(fields) = &entry.node.value {
            for field in &fields.entries {
                let key = format!("{}.{}", entry.key, field.key);
                read.extend(axis(&key, field, names, problems));
            }
        } else {
            read.extend(axis(&entry.key, entry, names, problems));
        }
    }
    read
}

/// One axis, of a field of all workloads, of one of them, or of the layout.
fn axis(key: &str, entry: &Entry, names: &[String], problems: &mut Problems) -> Option<Axis> {
    let workload = || WorkloadSpec::KEYS.iter().copied().filter(|key| !NO_AXES.contains(key));
    let fields = || workload().chain(LAYOUT_AXES);
    let (name, field) = match key.rsplit_once('.') {
        Some((name, field)) => (Some(name), field),
        None => (None, key),
    };
    let mut say = |message: String, remedy: String| {
        problems.push(Problem::new(entry.key_span.clone(), message, remedy));
    };
    if let Some(name) = name.filter(|name| !names.iter().any(|known| known == name)) {
        let near = nearest(name, names.iter().map(String::as_str));
        let near = near.map(|near| format!("did you mean `{near}.{field}`?"));
        let remedy = near.unwrap_or_else(|| format!("known here: {}", names.join(", ")));
        say(format!("`{key}` is not an axis: no workload is called `{name}`"), remedy);
        return None;
    }
    let is_known = match name {
        Some(_) => workload().any(|known| known == field),
        None => fields().any(|known| known == field),
    };
    if !is_known {
        let near = || nearest(field, fields().chain(SweepSpec::KEYS.iter().copied()));
        let near = || near().map(|near| format!("did you mean `{near}`?"));
        let remedy = form::other_names::axis(field).or_else(near).unwrap_or_else(|| {
            let all = fields().collect::<Vec<_>>().join(", ");
            format!("an axis is a field of a workload, or files or size: {all}")
        });
        say(format!("`{key}` is not an axis"), remedy);
        return None;
    }
    match axis_values(&entry.node) {
        Ok(values) => Some(Axis {
            key: key.to_owned(),
            workload: name.map(str::to_owned),
            field: field.to_owned(),
            key_span: entry.key_span.clone(),
            values,
        }),
        Err(wrong) => {
            problems.extend(wrong.unwrap_or_else(|| {
                vec![entry.node.wrong(
                    format!("the axis `{key}` has no values"),
                    "write a list such as [1, 8, 32], or a range such as \"1..1024 x2\"",
                )]
            }));
            None
        }
    }
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
                wrong.push(value.wrong(error.message, error.remedy));
            }
        }
        if values.len() > MAX_POINTS {
            return Err(Some(vec![node.wrong(TOO_MANY.0, TOO_MANY.1)]));
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

    const GRID: &str = "name = \"t\"\n[[workload]]\nname = \"r\"\ngroup = \"g\"\n[[workload]]\n\
                        name = \"w\"\ngroup = \"g\"\n[[workload]]\nname = \"alone\"\n[sweep]\n";

    #[test]
    fn axes_of_two_workloads_of_a_group_make_a_grid_and_leave_others_alone() {
        let text =
            format!("{GRID}r.rate = [100, 200]\n\"w.rate\" = [10, 20, 30]\ndepth = [1, 2]\n");
        let spec = crate::Spec::parse("t", &text, &[]).expect("a good suite");
        let points = &spec.first_scenario().points;
        let words = |point: &PointSpec| {
            let axes: Vec<String> = point.sweep.iter().map(Setting::to_string).collect();
            let rates: Vec<String> =
                point.workloads.iter().map(|one| form::Field::write(&one.rate.value)).collect();
            format!("{}: {}", axes.join(" "), rates.join(" "))
        };
        let all: Vec<String> = points.iter().map(words).collect();
        assert_eq!(all.len(), 2 * 3 * 2 + 2, "{all:?}");
        let first = "r.rate=100 w.rate=10 depth=1: \"100 IOPS\" \"10 IOPS\"";
        let last = "r.rate=200 w.rate=30 depth=2: \"200 IOPS\" \"30 IOPS\"";
        assert_eq!((all[0].as_str(), all[11].as_str()), (first, last));
        assert_eq!(all[12..], ["depth=1: \"auto\"", "depth=2: \"auto\""]);
    }

    #[test]
    fn an_axis_of_no_workload_is_refused() {
        for (axis, said) in [
            ("x.rate = [1]", "no workload is called `x`"),
            ("r.size = [1]", "`r.size` is not an axis"),
            ("r.rate = []", "`r.rate` has no values"),
        ] {
            let problems =
                crate::Spec::parse("t", &format!("{GRID}{axis}\n"), &[]).expect_err(axis).problems;
            assert!(problems[0].message.contains(said), "{axis}: {problems:?}");
        }
    }

    #[test]
    fn every_axis_that_a_suite_may_have_is_read_as_its_quantity() {
        let known: Vec<&str> = Setting::known_axes().collect();
        let keys = WorkloadSpec::KEYS.iter().filter(|key| !NO_AXES.contains(key));
        for key in keys {
            assert!(known.contains(key), "{key} is missing: say how its text is read");
        }
        assert_eq!(WorkloadSpec::KEYS.len(), known.len() + NO_AXES.len());
    }
}
