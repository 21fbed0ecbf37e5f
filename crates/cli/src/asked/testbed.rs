//! Finds the testbed that was asked for.

use crate::failure::{Failure, file_failure};
use crate::files::text_file;
use analysis::prediction::choice::simulated;
use catalogue::Cluster;
use catalogue::cluster::{Change, reference_text};
use form::nearest;
use model::Record;
use std::collections::BTreeSet;
use std::path::Path;

/// The reference testbeds, those of the five field reports: name and text.
pub(crate) const BUILT_IN: [(&str, &str); 5] = catalogue::cluster::REFERENCE;

/// The testbed called `wanted`, with `changes` put in.
pub(crate) fn read(wanted: &str, changes: &[Change]) -> Result<Cluster, Failure> {
    parsed(wanted, &text(wanted)?, changes)
}

/// The testbed called `wanted` that has this text.
pub(crate) fn parsed(wanted: &str, text: &str, changes: &[Change]) -> Result<Cluster, Failure> {
    Cluster::parse(wanted, text, changes).map_err(|errors| file_failure(&errors, "the testbed"))
}

/// The testbed called `wanted`, with the files that these runs may have simulated it by.
pub(crate) fn read_for(wanted: &str, runs: &[Record]) -> Result<Cluster, Failure> {
    let mut cluster = read(wanted, &[])?;
    find_files(&mut cluster, wanted, runs);
    Ok(cluster)
}

/// Notes the files that these runs may have simulated the testbed by: `wanted` itself, and others
/// that are there and have its name.
pub(crate) fn find_files(cluster: &mut Cluster, wanted: &str, runs: &[Record]) {
    let name = &cluster.top.name.value;
    let mut others: BTreeSet<&str> = runs.iter().flat_map(simulated).collect();
    // A run file may name anything: a pipe would never end.
    others.retain(|other| Path::new(other).is_file());
    others.retain(|other| read(other, &[]).is_ok_and(|other| &other.top.name.value == name));
    cluster.files = others.into_iter().chain([wanted]).map(str::to_owned).collect();
}

/// The text of the testbed called `wanted`: a file's, or a reference testbed's, to which `,fitted`
/// adds what was fitted to its report.
pub(crate) fn text(wanted: &str) -> Result<String, Failure> {
    let shipped = match wanted.strip_suffix(",fitted") {
        Some(name) => reference_text(name, true),
        None => reference_text(wanted, false),
    };
    match shipped {
        Some(text) => Ok(text),
        None if wanted.ends_with(".toml")
            || wanted.contains('/')
            || Path::new(wanted).is_file() =>
        {
            text_file::read(Path::new(wanted), "testbed")
        }
        None => Err(unknown(wanted)),
    }
}

pub(crate) fn built_in(wanted: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(name, _)| *name == wanted).map(|(_, text)| *text)
}

pub(crate) fn unknown(wanted: &str) -> Failure {
    let names = BUILT_IN.iter().map(|(name, _)| *name);
    let remedy = match nearest(wanted, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!(
                "the reference ones are {}; a testbed file ends in .toml",
                names.collect::<Vec<_>>().join(", ")
            )
        }
    };
    Failure::usage(format!("no testbed is called `{wanted}`; {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ships_fitted_is_read_by_its_name_and_the_word() {
        let rows = |wanted: &str| read(wanted, &[]).map(|cluster| cluster.fitted_rows.len());
        assert_eq!(rows("vsan-four-corners").ok(), Some(0));
        assert!(rows("vsan-four-corners,fitted").is_ok_and(|rows| rows > 0));
        assert!(
            rows("azure-stack-hci,fitted").is_err_and(|why| why.to_string().contains("no testbed"))
        );
    }

    #[test]
    fn every_reference_testbed_is_good_and_named_like_its_file() {
        for (name, text) in BUILT_IN {
            let cluster = Cluster::parse(name, text, &[]).expect("a good testbed");
            assert_eq!(cluster.top.name.value, name);
            assert!(
                !cluster.top.description.value.is_empty() && !cluster.top.source.value.is_empty()
            );
        }
    }
}
