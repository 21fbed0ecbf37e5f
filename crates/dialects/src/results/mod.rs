//! Results that other tools printed: what they hold, and what in them does not go together.

mod checks;
mod diskspd_text;
mod diskspd_xml;
mod duplicates;
mod elbencho;
mod fio;
mod fio_json;
mod fio_log;
mod fio_terse;
mod fio_text;
mod hcibench;
mod io500;
mod iometer;
mod ior;
mod ior_json;
mod iozone;
mod mdtest;
mod numbers;
mod vdbench;

#[cfg(test)]
mod hostile_tests;

pub use fio_log::{LogReader, kind_of_log};

use crate::import::ImportError;
use model::foreign::{Doubt, DoubtKind, Form, GivenRow, MOST_ROWS, short};

/// No text of results is larger.
pub const MOST_BYTES: usize = 64 << 20;
/// No results hold more doubts: what is wrong a thousand times is wrong.
const MOST_DOUBTS: usize = 1_000;

/// What a text of results holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// In which form it is.
    pub form: Form,
    /// The version of the tool, where it says so.
    pub tool_version: String,
    /// When it was measured, in ns since 1970, where it says so.
    pub measured_unix_ns: Option<u64>,
    /// What was measured.
    pub rows: Vec<GivenRow>,
    /// What does not go together.
    pub doubts: Vec<Doubt>,
}

impl Results {
    fn new(form: Form) -> Results {
        let (rows, doubts) = (Vec::new(), Vec::new());
        Results { form, tool_version: String::new(), measured_unix_ns: None, rows, doubts }
    }

    /// The tool with its version.
    pub fn tool(&self) -> String {
        let tool = self.form.tool();
        match self.tool_version.as_str() {
            "" => tool.to_owned(),
            version if version.starts_with(tool) => version.to_owned(),
            version => format!("{tool} {version}"),
        }
    }

    /// Adds a row, if there is room.
    fn push(&mut self, name: &str, row: GivenRow) -> Result<(), ImportError> {
        if self.rows.len() >= MOST_ROWS {
            let what = format!("it has more than {MOST_ROWS} results");
            return Err(ImportError::new(name, what, "name the results of one run"));
        }
        self.rows.push(row);
        Ok(())
    }
}

/// Adds a doubt: what the source says, and what follows from the rest.
fn doubt(results: &mut Results, kind: DoubtKind, name: &str, numbers: Option<(f64, f64)>) {
    if results.doubts.len() < MOST_DOUBTS {
        let (said, computed) = numbers.unzip();
        results.doubts.push(Doubt { kind, name: short(name), said, computed });
    }
}

/// Says that so many of all lines were left out, where there are any.
fn left_out(results: &mut Results, name: &str, lines: usize, left: usize) {
    if left > 0 {
        let numbers = Some((lines as f64, left as f64));
        doubt(results, DoubtKind::LinesLeftOut, name, numbers);
    }
}

/// The form of the results that a text holds, where it holds any. Logs of fio are told by their
/// names alone ([`kind_of_log`]).
pub fn detect(text: &str) -> Option<Form> {
    let head: String = text.chars().take(1 << 16).collect();
    // A program, perhaps that of the tool itself.
    if head.contains('\0') {
        return None;
    }
    let begin = head.trim_start();
    if head.contains("\"fio version\"") {
        return Some(Form::FioJson);
    }
    if begin.starts_with('<') && head.contains("<Results") {
        return Some(Form::DiskSpdXml);
    }
    let has_line = |wanted: &[&str]| {
        head.lines().any(|line| wanted.iter().any(|wanted| line.trim_start().starts_with(wanted)))
    };
    if head.contains("I/O per s") && has_line(&["Total IO", "Read IO", "Results for timespan"]) {
        return Some(Form::DiskSpdText);
    }
    if iometer::is_results(&head) {
        return Some(Form::IometerCsv);
    }
    if vdbench::is_flatfile(&head) {
        return Some(Form::VdbenchFlatfile);
    }
    if hcibench::is_summary(&head) {
        return Some(Form::HciBench);
    }
    if has_line(&["[RESULT"]) || io500::is_sections(&head) {
        return Some(Form::Io500Summary);
    }
    if elbencho::is_csv(&head) {
        return Some(Form::ElbenchoCsv);
    }
    if begin.starts_with(['[', '{'])
        && head.contains("\"operation\"")
        && (head.contains("\"MiB/s [last]\"") || head.contains("\"IOPS [last]\""))
    {
        return Some(Form::ElbenchoJson);
    }
    if vdbench::is_summary(&head) {
        return Some(Form::VdbenchSummary);
    }
    if has_line(&["mdtest-", "-- started at"]) && head.contains("SUMMARY") {
        return Some(Form::Mdtest);
    }
    if begin.starts_with('{') && ior::is_json(text) {
        return Some(Form::Ior);
    }
    if has_line(&["access,bw(MiB/s)"])
        || has_line(&["IOR-"])
        || (has_line(&["access "]) && head.contains("bw(MiB/s)"))
    {
        return Some(Form::Ior);
    }
    if fio_terse::is_output(&head) {
        return Some(Form::FioTerse);
    }
    if fio_text::is_output(&head) {
        return Some(Form::FioText);
    }
    iozone::is_output(&head).then_some(Form::Iozone)
}

/// Reads results.
///
/// # Errors
/// The text is too large, or not what it seemed to be.
pub fn read(name: &str, text: &str, form: Form) -> Result<Results, ImportError> {
    if text.len() > MOST_BYTES {
        let what = format!("it is larger than {MOST_BYTES} bytes");
        return Err(ImportError::new(name, what, "name the results of one run"));
    }
    let mut results = match form {
        Form::FioJson => fio::read(name, text),
        Form::FioLog => fio_log::read(name, text),
        Form::FioText => fio_text::read(name, text),
        Form::FioTerse => fio_terse::read(name, text),
        Form::DiskSpdText => diskspd_text::read(name, text),
        Form::DiskSpdXml => diskspd_xml::read(name, text),
        Form::VdbenchFlatfile => vdbench::read_flatfile(name, text),
        Form::VdbenchSummary => vdbench::read_summary(name, text),
        Form::IometerCsv => iometer::read(name, text),
        Form::Ior => ior::read(name, text),
        Form::Mdtest => mdtest::read(name, text),
        Form::Iozone => iozone::read(name, text),
        Form::Io500Summary => io500::read(name, text),
        Form::HciBench => hcibench::read(name, text),
        Form::ElbenchoCsv => elbencho::read_csv(name, text),
        Form::ElbenchoJson => elbencho::read_json(name, text),
    }?;
    // fio's JSON is found among other text, and compared where it is found.
    if matches!(form, Form::ElbenchoJson | Form::Ior) && text.trim_start().starts_with(['{', '[']) {
        duplicates::find(text).say(name, &mut results);
    }
    checks::all(&mut results);
    Ok(results)
}
