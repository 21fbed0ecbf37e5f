//! HCIBench's `…-res.txt`: what all machines of a test did together, by vdbench or by fio, as its
//! `parseVdbResult.rb` and `parseFioResult.rb` write it.
//!
//! Its latencies are means over machines, whatever each of them did. Its 95th percentile is no
//! quantile: of vdbench it is mean + 1.645 standard deviations, of fio the mean of those of the
//! machines. It is not taken over.

use super::{Results, doubt, numbers};
use crate::import::ImportError;
use model::Op;
use model::foreign::{
    DoubtKind, Form, GivenOption, GivenRow, Measured, Quantity, Span, Statistic, short,
};

/// HCIBench adds up what vdbench calls MB/s and fio KiB/s ÷ 1024: both count 2^20 bytes.
const MIB: f64 = (1_u64 << 20) as f64;
const NS_PER_MS: f64 = 1e6;

/// Whether a text is such a summary.
pub fn is_summary(text: &str) -> bool {
    let has = |name: &str| text.lines().any(|line| field(line).is_some_and(|(key, _)| key == name));
    has("VMs") && has("IOPS") && has("THROUGHPUT") && text.contains("IO/S")
}

/// `IOPS = 12.5 IO/S` as its name and its words.
fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    let is_key = !key.is_empty() && key.len() <= 20 && !key.contains(char::is_whitespace);
    is_key.then(|| (key, value.trim()))
}

/// The first number of some words.
fn first(words: &str) -> Option<f64> {
    numbers::number(words.split_whitespace().next()?)
}

/// A test that is being read.
#[derive(Default)]
struct Test {
    name: String,
    rows: Option<GivenRow>,
    latency: [Option<f64>; 2],
    rate: Option<f64>,
    bytes: Option<f64>,
}

/// The summary of a test.
///
/// # Errors
/// No machine has a result.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut results = Results::new(Form::HciBench);
    let (mut datastore, mut test) = (String::new(), Test::default());
    let (mut group, mut is_averaged) = (0, false);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if let Some(version) = line.strip_prefix("Version:") {
            results.tool_version = short(version.trim());
        } else if let Some(run) = line.strip_prefix("Run Def:") {
            test.name = short(run.trim());
        } else if line.starts_with("===") {
            finish(name, &mut test, &mut group, &mut results)?;
        } else if let Some((finished, all)) = finished(line) {
            doubt(&mut results, DoubtKind::MachinesMissing, &datastore, Some((all, finished)));
        } else if let Some((key, words)) = field(line) {
            match key {
                "Datastore" => datastore = short(words),
                "JOB_NAME" => test.name = short(words),
                "VMs" => test.begin(&datastore, words, format!("{name}:{number}")),
                "IOPS" => test.rate = first(words),
                "THROUGHPUT" => test.bytes = first(words).map(|value| value * MIB),
                "LATENCY" => test.mean(words),
                "R_LATENCY" => test.latency[0] = first(words),
                "W_LATENCY" => test.latency[1] = first(words),
                key if key.starts_with("95%tile") => is_averaged = true,
                _ => {}
            }
        }
    }
    finish(name, &mut test, &mut group, &mut results)?;
    if results.rows.is_empty() {
        let remedy = "name the …-res.txt of a test whose machines finished";
        return Err(ImportError::new(name, "no machine has a result", remedy));
    }
    if is_averaged {
        doubt(&mut results, DoubtKind::QuantilesAveraged, "95%tile", None);
    }
    Ok(results)
}

/// `There are 2 VMs finished testing early, …` as nothing of two, `Testing is done, 3 out of 4 VMs
/// finished …` as three of four: how many finished, of how many.
fn finished(line: &str) -> Option<(f64, f64)> {
    if let Some(rest) = line.strip_prefix("Testing is done, ") {
        let (finished, rest) = rest.split_once(" out of ")?;
        return Some((numbers::number(finished)?, first(rest)?));
    }
    let early = first(line.strip_prefix("There are ")?)?;
    (line.contains("finished testing early") && early > 0.0).then_some((0.0, early))
}

impl Test {
    fn begin(&mut self, datastore: &str, words: &str, place: String) {
        let name = match (datastore, self.name.as_str()) {
            ("", name) => name.to_owned(),
            (store, "") => store.to_owned(),
            (store, name) => format!("{store} {name}"),
        };
        let mut row = GivenRow::new(&name, None, place);
        row.options.push(GivenOption { name: "VMs".to_owned(), value: short(words) });
        self.rows = Some(row);
    }

    fn mean(&mut self, words: &str) {
        let quantity = Quantity::latency(Span::Total, Statistic::Mean);
        if let Some(row) = &mut self.rows {
            row.add(quantity, first(words).map(|ms| ms * NS_PER_MS));
        }
    }
}

/// Adds what was read of a test: all of it, and the latencies of each direction.
fn finish(
    name: &str,
    test: &mut Test,
    group: &mut u32,
    results: &mut Results,
) -> Result<(), ImportError> {
    let Test { rows, latency, rate, bytes, .. } = std::mem::take(test);
    let Some(mut row) = rows else { return Ok(()) };
    row.group = *group;
    row.add(Quantity::whole(Measured::Rate), rate);
    row.add(Quantity::whole(Measured::Bandwidth), bytes);
    let directions = [Op::Read, Op::Write].into_iter().zip(latency);
    let parts: Vec<GivenRow> = directions
        .filter_map(|(op, ms)| {
            let ms = ms.filter(|ms| *ms > 0.0)?;
            let mut part = GivenRow { op: Some(op), measures: Vec::new(), ..row.clone() };
            let quantity = Quantity::latency(Span::Total, Statistic::Mean);
            part.add(quantity, Some(ms * NS_PER_MS));
            Some(part)
        })
        .collect();
    *group = group.saturating_add(1);
    results.push(name, row)?;
    parts.into_iter().try_for_each(|part| results.push(name, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made up, in the form that `parseVdbResult.rb` writes.
    const VDBENCH: &str = "Datastore     = vsan\n=============================\n\
        Version:\tvdbench50407\nRun Def:\tRD=run1; I/O rate: Uncontrolled MAX\n\
        VMs\t\t= 3\nIOPS\t\t= 1000.5 IO/S\nTHROUGHPUT\t= 4.0 MB/s\nLATENCY\t\t= 2.5 ms\n\
        R_LATENCY\t= 2.0 ms\nW_LATENCY\t= 0.0 ms\n95%tile_LAT\t= 4.1 ms\n\
        =============================\n\
        Testing is done, 3 out of 4 VMs finished test successfully. Please check\n\
        =============================\nResource Usage:\nCPU USAGE  = 24.47%\n";

    #[test]
    fn all_machines_together_are_read_and_no_averaged_quantile_is() {
        assert!(is_summary(VDBENCH) && super::super::detect(VDBENCH) == Some(Form::HciBench));
        let results = read("x-res.txt", VDBENCH).expect("results");
        assert_eq!(results.tool_version, "vdbench50407");
        let told: Vec<(&str, &str)> =
            results.rows.iter().map(|row| (row.workload.as_str(), row.op_name())).collect();
        let name = "vsan RD=run1; I/O rate: Uncontrolled MAX";
        assert_eq!(told, [(name, "all"), (name, "read")], "nothing was written");
        let row = &results.rows[0];
        assert_eq!(row.overall(Measured::Rate), Some(1000.5));
        assert_eq!(row.overall(Measured::Bandwidth), Some(4.0 * MIB));
        assert_eq!(row.latency_ns(Statistic::Mean).map(|mean| mean.value_ns), Some(2.5e6));
        assert!(row.quantiles(Span::Total).is_empty());
        assert_eq!(row.option("VMs"), Some("3"));
        let kinds: Vec<DoubtKind> = results.doubts.iter().map(|doubt| doubt.kind).collect();
        assert_eq!(kinds, [DoubtKind::MachinesMissing, DoubtKind::QuantilesAveraged]);
        assert_eq!(results.doubts[0].said, Some(4.0));
    }

    #[test]
    fn that_of_fio_has_a_row_for_each_job() {
        let job = |name: &str, rate: u32| {
            format!(
                "=============================\nJOB_NAME\t= {name}\nVMs\t\t= 2\n\
                 IOPS\t\t= {rate}.00 IO/S\nTHROUGHPUT\t= 1.00 MB/s\nR_LATENCY\t= 1.5000 ms\n\
                 W_LATENCY\t= 3.0000 ms\n95%tile_R_LAT\t= 2.0000 ms\n95%tile_W_LAT\t= 4.0000 ms\n\
                 =============================\n"
            )
        };
        let text = format!("Datastore     = d1\n{}{}", job("job0", 10), job("job1", 20));
        let results = read("r", &text).expect("results");
        let rates: Vec<Option<f64>> =
            results.rows.iter().map(|row| row.overall(Measured::Rate)).collect();
        assert_eq!(rates, [Some(10.0), None, None, Some(20.0), None, None]);
        assert!(read("r", "Datastore = d1\nAll the VMs finished testing early\n").is_err());
    }
}
