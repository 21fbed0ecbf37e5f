//! IOR's JSON (`-O summaryFormat=JSON`; its `ior-output.c`): repetitions in `tests`, and a
//! `summary` over them.

use super::Results;
use crate::import::ImportError;
use model::Op;
use model::foreign::{
    Form, GivenOption, GivenRow, MOST_ROWS, Measured, Quantity, Span, Statistic, short,
};
use serde_json::{Map, Value};

const MIB: f64 = (1_u64 << 20) as f64;
/// No test has more options.
const MOST_OPTIONS: usize = 200;

type Object = Map<String, Value>;

/// IOR's JSON.
///
/// # Errors
/// It is no JSON, or no operation in it has a result.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = match values.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) => {
            let place = format!("{name}:{}", error.line());
            let what = "it is no JSON from here on";
            return Err(ImportError::new(place, what, "name a file that is whole"));
        }
        None => Value::Null,
    };
    let mut results = Results::new(Form::Ior);
    let version = value.get("Version").and_then(Value::as_str).unwrap_or_default();
    results.tool_version = short(version.trim_start_matches("IOR-"));
    let tests = value.get("tests").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    // A summary says the same of one repetition and more of several; without it, IOR did not end.
    let summary = value.get("summary").and_then(Value::as_array).filter(|all| !all.is_empty());
    match summary {
        Some(all) => {
            for (number, one) in all.iter().enumerate().take(MOST_ROWS) {
                let Some(object) = one.as_object() else { continue };
                let test = tests.iter().find(|test| test.get("TestID") == object.get("TestID"));
                let row = summed(object, &format!("summary[{number}]"), &options(test));
                row.map_or(Ok(()), |row| results.push(name, row))?;
            }
        }
        None => {
            for (number, test) in tests.iter().enumerate() {
                let mut found = Vec::new();
                repetitions(test.get("Results"), 0, &mut found);
                for object in found {
                    let row = single(object, &format!("tests[{number}]"), &options(Some(test)));
                    row.map_or(Ok(()), |row| results.push(name, row))?;
                }
            }
        }
    }
    if results.rows.is_empty() {
        let remedy = "name what `ior -O summaryFormat=JSON` wrote, to its summary";
        return Err(ImportError::new(name, "no operation in it has a result", remedy));
    }
    Ok(results)
}

fn op(object: &Object, key: &str) -> Option<Op> {
    match object.get(key)?.as_str()? {
        "write" => Some(Op::Write),
        "read" => Some(Op::Read),
        _ => None,
    }
}

/// IOR writes most numbers as such, and some as texts.
fn number(object: &Object, key: &str) -> Option<f64> {
    let value = object.get(key)?;
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn options(test: Option<&Value>) -> Vec<GivenOption> {
    let all = test.and_then(|test| test.get("Options")).and_then(Value::as_object);
    let of = |(name, value): (&String, &Value)| GivenOption {
        name: short(name),
        value: short(&value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
    };
    all.into_iter().flatten().take(MOST_OPTIONS).map(of).collect()
}

/// Results lie in lists of lists.
fn repetitions<'a>(value: Option<&'a Value>, depth: usize, found: &mut Vec<&'a Object>) {
    match value {
        Some(Value::Array(all)) if depth < 4 => {
            all.iter().for_each(|one| repetitions(Some(one), depth + 1, found));
        }
        Some(Value::Object(object)) => found.push(object),
        _ => {}
    }
}

fn single(object: &Object, place: &str, options: &[GivenOption]) -> Option<GivenRow> {
    let mut row = GivenRow::new("ior", Some(op(object, "access")?), place);
    row.options = options.to_vec();
    row.add(Quantity::whole(Measured::Bandwidth), Some(number(object, "bwMiB")? * MIB));
    row.add(Quantity::whole(Measured::Rate), number(object, "iops"));
    let latency = number(object, "latency").map(|seconds| seconds * 1e9);
    row.add(Quantity::latency(Span::Total, Statistic::Mean), latency);
    row.add(Quantity::whole(Measured::Time), number(object, "totalTime").map(|s| s * 1e9));
    Some(row)
}

fn summed(object: &Object, place: &str, options: &[GivenOption]) -> Option<GivenRow> {
    let mut row = GivenRow::new("ior", Some(op(object, "operation")?), place);
    row.group = number(object, "TestID").unwrap_or(0.0) as u32;
    row.options = options.to_vec();
    for (statistic, of_bandwidth, of_rate) in [
        (Statistic::Mean, "bwMeanMIB", "OPsMean"),
        (Statistic::Least, "bwMinMIB", "OPsMin"),
        (Statistic::Most, "bwMaxMIB", "OPsMax"),
        (Statistic::StdDev, "bwStdMIB", "OPsSD"),
    ] {
        let bandwidth = number(object, of_bandwidth).map(|mib| mib * MIB);
        row.add(Quantity::of(Measured::Bandwidth, statistic), bandwidth);
        row.add(Quantity::of(Measured::Rate, statistic), number(object, of_rate));
    }
    let repetitions = number(object, "repetitions");
    row.add(Quantity::of(Measured::Bandwidth, Statistic::Count), repetitions);
    let time = number(object, "MeanTime").map(|seconds| seconds * 1e9);
    row.add(Quantity::of(Measured::Time, Statistic::Mean), time);
    row.overall(Measured::Bandwidth)?;
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::super::{detect, read};
    use super::*;

    /// Made up, with some of the fields of IOR 4.
    const JSON: &str = r#"{ "Version": "4.0.0", "tests": [ { "TestID": 0, "Options": {
"api": "POSIX", "xfersize": "1 MiB", "tasks": 4 }, "Results": [ [ { "access": "write",
"bwMiB": 100.0000, "iops": 101.0000, "latency": 0.0100, "totalTime": 10.2000 } ] ] } ]SUMMARY }"#;

    #[test]
    fn a_summary_counts_and_without_it_each_repetition() {
        let whole = JSON.replace(
            "SUMMARY",
            r#", "summary": [ { "operation": "write", "TestID": 0, "repetitions": 2,
"bwMaxMIB": 200.0, "bwMinMIB": 100.0, "bwMeanMIB": 150.0, "bwStdMIB": 50.0, "OPsMean": 151.5,
"MeanTime": 7.5 } ]"#,
        );
        assert_eq!(detect(&whole), Some(Form::Ior));
        let results = read("i.json", &whole, Form::Ior).expect("results");
        let row = &results.rows[0];
        assert_eq!(
            (row.op, row.overall(Measured::Bandwidth)),
            (Some(Op::Write), Some(150.0 * MIB))
        );
        assert_eq!(row.get(Quantity::of(Measured::Bandwidth, Statistic::Count)), Some(2.0));
        assert_eq!(row.option("tasks"), Some("4"));
        assert_eq!(results.tool(), "IOR 4.0.0");
        let cut = JSON.replace("SUMMARY", "");
        let results = read("i.json", &cut, Form::Ior).expect("results");
        assert_eq!(results.rows[0].overall(Measured::Rate), Some(101.0));
        assert!(read("i.json", &cut[..120], Form::Ior).is_err());
    }
}
