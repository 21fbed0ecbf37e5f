//! Results in the forms of other tools, for programs that read these: ours, and those that came
//! from another tool. What is not known is left out, and never made up.

mod diskspd;
mod fio;
mod io500;
mod vdbench;

use model::foreign::{GivenRow, Source};

/// What is written.
#[derive(Clone, Copy, Debug)]
pub struct Exported<'a> {
    /// The rows.
    pub rows: &'a [GivenRow],
    /// Where they come from; none for a run of our own.
    pub sources: &'a [Source],
    /// When it was measured, in ns since 1970, where that is known.
    pub measured_unix_ns: Option<u64>,
    /// The version of Plimsoll that made or imported the run.
    pub version: &'a str,
}

/// A form of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// fio's JSON.
    FioJson,
    /// vdbench's `flatfile.html`.
    VdbenchFlatfile,
    /// DiskSpd's XML.
    DiskSpdXml,
    /// IO500's `result_summary.txt`.
    Io500Summary,
}

/// The rows in a form.
///
/// # Errors
/// The form has no place for any of them: why.
pub fn text(form: Form, exported: Exported<'_>) -> Result<String, &'static str> {
    match form {
        Form::FioJson => fio::text(exported),
        Form::VdbenchFlatfile => vdbench::text(exported),
        Form::DiskSpdXml => diskspd::text(exported),
        Form::Io500Summary => io500::text(exported),
    }
}

/// The rows of each job, in the order of the first of each.
fn groups(rows: &[GivenRow]) -> Vec<Vec<&GivenRow>> {
    let mut all: Vec<Vec<&GivenRow>> = Vec::new();
    for row in rows {
        let is_of = |group: &&mut Vec<&GivenRow>| {
            group.first().is_some_and(|first| {
                first.source == row.source
                    && first.group == row.group
                    && first.workload == row.workload
            })
        };
        match all.iter_mut().find(is_of) {
            Some(group) => group.push(row),
            None => all.push(vec![row]),
        }
    }
    all
}

#[cfg(test)]
mod tests;
