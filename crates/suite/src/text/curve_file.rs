//! Rates from CSV files: `rate = {csv = "day.csv"}` becomes the steps that the file has.
//!
//! Each line is an instant and a rate, `0,500` or `5m,2k`; between two lines the rate goes straight
//! from one to the other. Whoever reads the files is told their names.

mod instant;

use form::{Entry, MAX_TEXT, Node, Problem, Problems, Sources, Span, Table, Value};
use instant::instant;
use model::curve::MOST_LINES;
use model::offered::Level;

/// Gives the text of a file that a suite names, or says in words why not.
pub type Files<'a> = &'a dyn Fn(&str) -> Result<String, String>;

const REMEDY: &str = "write an instant and a rate on each line, such as `0,500` and `5m,2k`";

/// Puts the steps of all files that rates below `table` name in the place of their names.
pub(crate) fn put_in(
    table: &mut Table,
    files: Files<'_>,
    sources: &mut Sources,
    problems: &mut Problems,
) {
    for entry in &mut table.entries {
        if entry.key == "rate" || entry.key.ends_with(".rate") {
            rate(&mut entry.node, files, sources, problems);
            continue;
        }
        match &mut entry.node.value {
            Value::Table(inner) => put_in(inner, files, sources, problems),
            Value::Array(nodes) => {
                for node in nodes {
                    if let Value::Table(inner) = &mut node.value {
                        put_in(inner, files, sources, problems);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The same for one rate, or for those of a list of them.
pub(crate) fn rate(
    node: &mut Node,
    files: Files<'_>,
    sources: &mut Sources,
    problems: &mut Problems,
) {
    if let Some(name) = csv(node) {
        match steps(&name, files, sources) {
            Ok(steps) => node.value = Value::Array(steps),
            Err(wrong) => {
                problems.push(wrong.at(&node.span));
                // Said once, and not again as a step that nobody knows.
                node.value = Value::Array(any(&node.span));
            }
        }
        return;
    }
    let Value::Array(items) = &mut node.value else { return };
    let mut all = Vec::with_capacity(items.len());
    for mut item in items.drain(..) {
        match csv(&item) {
            // The values of a sweep are rates themselves.
            None => {
                if matches!(item.value, Value::Array(_)) {
                    rate(&mut item, files, sources, problems);
                }
                all.push(item);
            }
            Some(name) => match steps(&name, files, sources) {
                Ok(steps) => all.extend(steps),
                Err(wrong) => {
                    problems.push(wrong.at(&item.span));
                    all.extend(any(&item.span));
                }
            },
        }
    }
    *items = all;
}

/// Steps that nobody complains of.
fn any(span: &Span) -> Vec<Node> {
    vec![step(span, "1", None), step(span, "1", Some(1))]
}

/// The name of the file, where a node names one and nothing else.
fn csv(node: &Node) -> Option<String> {
    let Value::Table(table) = &node.value else { return None };
    match table.entries.as_slice() {
        [Entry { key, node: Node { value: Value::Text(name), .. }, .. }] if key == "csv" => {
            Some(name.clone())
        }
        _ => None,
    }
}

/// What is wrong with a file, and where in it; `None`: with its name.
struct Wrong {
    span: Option<Span>,
    message: String,
    remedy: String,
}

impl Wrong {
    fn at(self, name: &Span) -> Problem {
        Problem::new(self.span.unwrap_or_else(|| name.clone()), self.message, self.remedy)
    }
}

/// The steps of a file.
fn steps(name: &str, files: Files<'_>, sources: &mut Sources) -> Result<Vec<Node>, Wrong> {
    let of_file = |message: String| Wrong { span: None, message, remedy: REMEDY.to_owned() };
    let text = files(name).map_err(|why| Wrong {
        remedy: "name a CSV file, from the folder of the suite".to_owned(),
        ..of_file(format!("`{name}` cannot be read: {why}"))
    })?;
    if text.len() > MAX_TEXT {
        return Err(of_file(format!("`{name}` is larger than 1 MiB")));
    }
    let mut offset = sources.add(name, text.clone());
    let mut steps: Vec<Node> = Vec::new();
    let mut last_ns = None;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let span = offset..offset + line.trim_end().len();
        offset += line.len();
        // A spreadsheet puts a mark before the first line.
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |message: String| Wrong { span: Some(span.clone()), ..of_file(message) };
        let cells: Vec<&str> =
            line.split([',', ';']).map(|cell| cell.trim().trim_matches('"')).collect();
        let [time, rate] = cells[..] else {
            let many = cells.len();
            let plural = if many == 1 { "" } else { "s" };
            return Err(wrong(format!("{many} column{plural} instead of two")));
        };
        let Some(at_ns) = instant(time) else {
            // Its first line may name the columns.
            if number == 0 && rate.parse::<Level>().is_err() {
                continue;
            }
            return Err(wrong(format!("`{time}` is no instant")));
        };
        rate.parse::<Level>().map_err(|error| wrong(error.message))?;
        let length_ns = match last_ns {
            None => None,
            Some(before) if at_ns >= before => Some(at_ns - before),
            Some(_) => return Err(wrong(format!("`{time}` is before the line above it"))),
        };
        last_ns = Some(at_ns);
        if steps.len() > MOST_LINES {
            return Err(wrong(format!("more than {MOST_LINES} lines")));
        }
        steps.push(step(&span, rate, length_ns));
    }
    if steps.len() < 2 {
        return Err(of_file(format!("`{name}` has fewer than two instants")));
    }
    Ok(steps)
}

/// `{to = RATE, in = "NUMBERns"}`, at a place.
fn step(span: &Span, rate: &str, length_ns: Option<u64>) -> Node {
    let entry = |key: &str, text: String| Entry {
        key: key.to_owned(),
        key_span: span.clone(),
        node: Node { span: span.clone(), value: Value::Text(text) },
    };
    let mut entries = vec![entry("to", rate.to_owned())];
    entries.extend(length_ns.map(|ns| entry("in", format!("{ns}ns"))));
    Node { span: span.clone(), value: Value::Table(Table { entries }) }
}

#[cfg(test)]
mod tests {
    use crate::Spec;
    use form::{Auto, SpecErrors};
    use model::offered::Offered;

    fn parse(rate: &str, csv: &str) -> Result<Spec, SpecErrors> {
        let text = format!("name = \"t\"\n[[workload]]\nname = \"w\"\nrate = {rate}\n");
        let files = |name: &str| match name {
            "day.csv" => Ok(csv.to_owned()),
            _ => Err("no such file".to_owned()),
        };
        Spec::parse_with("t", &text, &[], &files)
    }

    fn words(rate: &str, csv: &str) -> String {
        let spec = parse(rate, csv).expect("a good suite");
        match &spec.first_scenario().points[0].workloads[0].rate.value {
            Auto::Fixed(Offered::Changing(curve)) => curve.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_is_a_curve() {
        let file = "{csv = \"day.csv\"}";
        let found = words(file, "0,500\n5m,2k\n");
        assert_eq!(found, "500 IOPS to 2000 IOPS in 5m 00s, then 2000 IOPS");
        let epoch =
            "\"Time\",\"Value\"\n\n1700000000.5;0\n1700000001;10MB/s\r\n# end\n1700000002,0";
        let found = words(file, epoch);
        assert_eq!(found, "0 to 10 MB/s in 500 ms, 10 MB/s to 0 in 1 s, then 0");
        let again = words("[{csv = \"day.csv\"}, {repeat = true}]", "0,1\n1,3\n");
        assert_eq!(again, "1 IOPS to 3 IOPS in 1 s, again and again");
    }

    #[test]
    fn what_is_wrong_in_a_file_is_said_with_its_line() {
        for (csv, line, said) in [
            ("0,5\n1,-5\n", 2, "`-5` is not a rate"),
            ("0,5\nnoon,5\n", 2, "`noon` is no instant"),
            ("5,5\n4,5\n", 2, "before the line above"),
            ("0,5,7\n", 1, "3 columns"),
            ("0,5\n1.2.3,5\n", 2, "no instant"),
        ] {
            let errors = parse("{csv = \"day.csv\"}", csv).expect_err(csv);
            let problem = &errors.problems[0];
            let place = errors.sources.place(&problem.span);
            assert_eq!(errors.problems.len(), 1, "{:?}", errors.problems);
            assert!(problem.message.contains(said), "{csv}: {problem:?}");
            assert_eq!((place.name, place.line_and_column().0), ("day.csv", line), "{csv}");
        }
        for (rate, csv, said) in [
            ("{csv = \"other.csv\"}", "", "`other.csv` cannot be read: no such file"),
            ("[{csv = \"day.csv\"}]", "0,5\n", "fewer than two instants"),
            ("{csv = \"day.csv\"}", "0,0\n5,0\n", "never leaves 0"),
            ("{csv = \"day.csv\", unit = \"s\"}", "", "found a table"),
        ] {
            let problems = parse(rate, csv).expect_err(rate).problems;
            assert!(problems.len() == 1 && problems[0].message.contains(said), "{problems:?}");
        }
    }
}
