//! Finds the published figures that a run is to be held against, and the testbed that they were
//! measured on.

use crate::asked::testbed;
use crate::failure::{Failure, file_failure};
use crate::files::text_file;
use catalogue::Cluster;
use catalogue::published::Published;
use form::nearest;
use std::path::Path;

/// The figures of the five field reports: name and text.
const BUILT_IN: [(&str, &str); 5] = embedded!(
    "../../../../reference/results/",
    ".toml",
    [
        "azure-stack-hci", "s2d-disaggregated", "vsan-four-corners", "hyperflex-stretched",
        "pixstor-nvme"
    ]
);

/// The figures called `wanted`, and the reference testbed of the same name, if there is one.
pub(crate) fn read(wanted: &str) -> Result<(Published, Option<Cluster>), Failure> {
    let text = match BUILT_IN.iter().find(|(name, _)| *name == wanted) {
        Some((_, text)) => (*text).to_owned(),
        None if wanted.ends_with(".toml")
            || wanted.contains('/')
            || Path::new(wanted).is_file() =>
        {
            text_file::read(Path::new(wanted), "figures")?
        }
        None => return Err(unknown(wanted)),
    };
    let published =
        Published::parse(wanted, &text).map_err(|errors| file_failure(&errors, "the figures"))?;
    let name = published.report.name.value.as_str();
    let theirs = testbed::built_in(name).map(|_| testbed::read(name, &[])).transpose()?;
    Ok((published, theirs))
}

fn unknown(wanted: &str) -> Failure {
    let names = BUILT_IN.iter().map(|(name, _)| *name);
    let remedy = match nearest(wanted, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "there are {}; a file of figures ends in .toml",
            names.collect::<Vec<_>>().join(", ")
        ),
    };
    Failure::usage(format!("no published figures are called `{wanted}`; {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_report_has_figures_and_the_testbed_of_its_name() {
        for (name, _) in BUILT_IN {
            let (published, theirs) = read(name).expect("good figures");
            assert_eq!(published.report.name.value, name);
            assert_eq!(theirs.expect("a testbed").top.name.value, name);
        }
        let Failure::Usage(text) = unknown("vsan-four-corner") else { panic!("a matter of usage") };
        assert!(text.contains("did you mean `vsan-four-corners`?"));
    }
}
