//! elbencho's results as CSV (`--csvfile`) and JSON (`--jsonfile`), whose columns have the same
//! names (its documentation, *CSV Results File*). `[last]` is when the slowest thread was done,
//! and `[first]` when the fastest was.

use super::{Results, numbers};
use crate::import::ImportError;
use model::Op;
use model::foreign::{
    Form, GivenOption, GivenRow, MOST_ROWS, Measured, Quantity, Span, Statistic, short,
};
use serde_json::Value;

const MIB: f64 = (1_u64 << 20) as f64;
/// No line has more columns.
const MOST_COLUMNS: usize = 300;

/// Whether a text begins with the columns of a CSV file.
pub fn is_csv(text: &str) -> bool {
    text.lines().any(is_head)
}

fn is_head(line: &str) -> bool {
    line.contains("operation,") && line.contains("MiB/s [last]") && !line.trim().starts_with('{')
}

/// The cells of a line (RFC 4180), without line breaks inside of quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut all, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if is_quoted && rest.peek() == Some(&'"') => {
                cell.push('"');
                rest.next();
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => all.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
        if all.len() > MOST_COLUMNS {
            return all;
        }
    }
    all.push(cell);
    all
}

/// A phase: column and value.
type Phase = Vec<GivenOption>;

/// elbencho's CSV.
///
/// # Errors
/// No phase in it has a result.
pub fn read_csv(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut results = Results::new(Form::ElbenchoCsv);
    let mut columns: Vec<String> = Vec::new();
    let mut group = 0;
    for (number, line) in (1..).zip(text.lines()) {
        if is_head(line) {
            columns = cells(line).iter().map(|column| column.trim().to_owned()).collect();
            continue;
        }
        let values = cells(line);
        if columns.is_empty() || values.len() != columns.len() {
            continue;
        }
        let phase: Phase = columns
            .iter()
            .zip(values)
            .map(|(name, value)| GivenOption { name: short(name), value: short(value.trim()) })
            .collect();
        push(name, &format!("{name}:{number}"), &phase, group, &mut results)?;
        group += 1;
    }
    whole(name, results)
}

/// elbencho's JSON: a list of phases, or one after the other.
///
/// # Errors
/// It is no JSON, or no phase in it has a result.
pub fn read_json(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut results = Results::new(Form::ElbenchoJson);
    let mut group = 0;
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let value = value.map_err(|error| {
            let place = format!("{name}:{}", error.line());
            ImportError::new(&place, "it is no JSON from here on", "name a file that is whole")
        })?;
        let phases = match value {
            Value::Array(all) => all,
            one => vec![one],
        };
        for phase in phases.iter().take(MOST_ROWS) {
            let Some(object) = phase.as_object() else { continue };
            let option = |(name, value): (&String, &Value)| GivenOption {
                name: short(name),
                value: match value {
                    Value::String(text) => short(text),
                    other => short(&other.to_string()),
                },
            };
            let phase: Phase = object.iter().take(MOST_COLUMNS).map(option).collect();
            push(name, &format!("[{group}]"), &phase, group, &mut results)?;
            group += 1;
        }
    }
    whole(name, results)
}

fn whole(name: &str, results: Results) -> Result<Results, ImportError> {
    if results.rows.is_empty() {
        let remedy = "name what `elbencho --csvfile` or `--jsonfile` wrote";
        return Err(ImportError::new(name, "no phase in it has a result", remedy));
    }
    Ok(results)
}

fn push(
    name: &str,
    place: &str,
    phase: &Phase,
    group: u32,
    results: &mut Results,
) -> Result<(), ImportError> {
    let text = |wanted: &str| {
        let found = phase.iter().find(|cell| cell.name == wanted)?;
        (!found.value.is_empty()).then_some(found.value.as_str())
    };
    let get = |wanted: &str| text(wanted).and_then(numbers::number);
    let Some(operation) = text("operation") else { return Ok(()) };
    if results.tool_version.is_empty() {
        results.tool_version = short(text("version").unwrap_or_default());
    }
    let label = text("label").unwrap_or("elbencho");
    let options: Vec<GivenOption> = phase
        .iter()
        .filter(|cell| !cell.value.is_empty() && !is_measure(&cell.name))
        .cloned()
        .collect();
    let time = get("time ms [last]").map(|ms| ms * 1e6);
    let mut requests = GivenRow::new(label, op_of_requests(operation), place.to_owned());
    requests.add(Quantity::whole(Measured::Rate), get("IOPS [last]"));
    let bandwidth = get("MiB/s [last]").map(|mib| mib * MIB);
    requests.add(Quantity::whole(Measured::Bandwidth), bandwidth);
    requests.add(Quantity::whole(Measured::Bytes), get("MiB [last]").map(|mib| mib * MIB));
    for (statistic, column) in [
        (Statistic::Least, "IO lat us [min]"),
        (Statistic::Mean, "IO lat us [avg]"),
        (Statistic::Most, "IO lat us [max]"),
    ] {
        let value = get(column).map(|us| us * 1e3);
        requests.add(Quantity::latency(Span::Total, statistic), value);
    }
    let is_io = requests.overall(Measured::Rate).is_some() || bandwidth.is_some();
    let allowed = get("threads").map(|threads| {
        threads * get("IO depth").unwrap_or(1.0).max(1.0) * get("hosts").unwrap_or(1.0).max(1.0)
    });
    requests.add(Quantity::whole(Measured::Allowed), allowed);
    requests.add(Quantity::whole(Measured::RequestSize), get("block size"));
    let op = op_of_entries(operation);
    let mut entries = GivenRow::new(&format!("{label} entries"), op, place.to_owned());
    entries.add(Quantity::whole(Measured::Rate), get("entries/s [last]"));
    entries.add(Quantity::whole(Measured::Requests), get("entries [last]"));
    for (statistic, column) in [
        (Statistic::Least, "Ent lat us [min]"),
        (Statistic::Mean, "Ent lat us [avg]"),
        (Statistic::Most, "Ent lat us [max]"),
    ] {
        let value = get(column).map(|us| us * 1e3);
        entries.add(Quantity::latency(Span::Entry, statistic), value);
    }
    let has_entries = entries.overall(Measured::Rate).is_some();
    for (mut row, is_there) in [(requests, is_io), (entries, has_entries)] {
        if is_there {
            row.add(Quantity::whole(Measured::Time), time);
            (row.group, row.options) = (group, options.clone());
            results.push(name, row)?;
        }
    }
    Ok(())
}

/// Whether a column is read as a number, and not kept as an option.
fn is_measure(column: &str) -> bool {
    column.ends_with("[last]")
        || ["IO lat us [", "Ent lat us ["].iter().any(|begin| column.starts_with(begin))
}

fn op_of_requests(operation: &str) -> Option<Op> {
    match operation {
        "WRITE" => Some(Op::Write),
        "READ" => Some(Op::Read),
        _ => None,
    }
}

fn op_of_entries(operation: &str) -> Option<Op> {
    match operation {
        "WRITE" => Some(Op::Create),
        "READ" => Some(Op::ReadFile),
        "MKDIRS" => Some(Op::Mkdir),
        "RMDIRS" => Some(Op::Rmdir),
        "STAT" | "STATFILES" => Some(Op::Stat),
        "RMFILES" => Some(Op::Remove),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{detect, read};
    use super::*;

    /// Made up, with some of the columns of version 3.
    const CSV: &str = "ISO date,label,path type,hosts,threads,block size,IO depth,operation,\
time ms [first],time ms [last],entries/s [last],IOPS [first],IOPS [last],MiB/s [last],MiB [last],\
IO lat us [min],IO lat us [avg],IO lat us [max],version,command
2026-11-23,day one,file,1,8,1048576,1,WRITE,1900,2000,,1100,1000,1000,2000,100,7000,20000,3.0-1,\
\"elbencho -w, \"\"x\"\"\"
2026-11-23,day one,dir,1,8,1048576,1,MKDIRS,1,2000,4000,,,,,,,,3.0-1,e
";

    #[test]
    fn phases_of_requests_and_of_entries_are_read() {
        assert_eq!(detect(CSV), Some(Form::ElbenchoCsv));
        let results = read("e.csv", CSV, Form::ElbenchoCsv).expect("results");
        let rows: Vec<(&str, Option<Op>)> =
            results.rows.iter().map(|row| (row.workload.as_str(), row.op)).collect();
        assert_eq!(rows, [("day one", Some(Op::Write)), ("day one entries", Some(Op::Mkdir))]);
        let write = &results.rows[0];
        assert_eq!(write.overall(Measured::Rate), Some(1000.0));
        assert_eq!(write.get(Quantity::whole(Measured::Allowed)), Some(8.0));
        assert_eq!(write.option("IOPS [first]"), Some("1100"));
        assert_eq!(write.option("command"), Some("elbencho -w, \"x\""));
        assert_eq!(results.tool(), "elbencho 3.0-1");
        assert_eq!(results.doubts, []);
    }

    #[test]
    fn json_has_the_same_columns() {
        let json = r#"[{"label": "a", "operation": "READ", "threads": "2", "IOPS [last]": "50",
            "MiB/s [last]": "50", "block size": 1048576, "IO lat us [avg]": 90000}]"#;
        assert_eq!(detect(json), Some(Form::ElbenchoJson));
        let results = read("e.json", json, Form::ElbenchoJson).expect("results");
        assert_eq!(results.rows[0].overall(Measured::Rate), Some(50.0));
        // 50 × 90 ms are 4.5 requests in flight, and 2 threads have 2.
        let kinds: Vec<_> = results.doubts.iter().map(|doubt| doubt.kind).collect();
        assert_eq!(kinds, [model::foreign::DoubtKind::LittlesLaw]);
        let error = read("e.json", &json[..60], Form::ElbenchoJson).expect_err("half");
        assert!(error.to_string().contains("e.json:"), "{error}");
    }
}
