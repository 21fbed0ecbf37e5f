//! `plimsoll suites`

use super::print;
use crate::args::{JobTool, SuitesArgs};
use crate::asked::suite_and_targets::BUILT_IN;
use crate::failure::{Failure, LOST, suite_failure};
use crate::files::text_file;
use crate::fio_job::{FioJob, Severity};
use form::nearest;
use std::path::Path;
use std::process::ExitCode;
use suite::{Spec, reference};

pub(crate) fn suites(args: &SuitesArgs) -> Result<ExitCode, Failure> {
    if args.reference {
        print(&reference())?;
        return Ok(ExitCode::SUCCESS);
    }
    match &args.name {
        Some(name) if args.tool == Some(JobTool::Fio) => return as_fio(name),
        Some(name) => print(text_of(name)?)?,
        None => print(&list()?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A suite, built in or in a file, as a job of fio; what fio cannot say goes to standard error.
fn as_fio(name: &str) -> Result<ExitCode, Failure> {
    let path = Path::new(name);
    let text = match path.is_file() {
        true => text_file::read(path, "suite")?,
        false => text_of(name)?.to_owned(),
    };
    let spec = Spec::parse(name, &text, &[]).map_err(|errors| suite_failure(&errors))?;
    let job = FioJob::of(&spec);
    for lost in &job.lost {
        eprintln!("{:12}  {:20}  {}", lost.severity.word(), lost.field, lost.why);
    }
    print(&job.text)?;
    let is_lost = job.lost.iter().any(|lost| lost.severity == Severity::Refused);
    Ok(if is_lost { ExitCode::from(LOST) } else { ExitCode::SUCCESS })
}

fn text_of(wanted: &str) -> Result<&'static str, Failure> {
    let found = BUILT_IN.iter().find(|(name, _)| *name == wanted).map(|(_, text)| *text);
    found.ok_or_else(|| {
        let remedy = match nearest(wanted, BUILT_IN.iter().map(|(name, _)| *name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`plimsoll suites` lists them".to_owned(),
        };
        Failure::usage(format!("no suite is called `{wanted}`; {remedy}"))
    })
}

fn list() -> Result<String, Failure> {
    let mut lines = String::new();
    let width = BUILT_IN.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, text) in BUILT_IN {
        let spec = Spec::parse(name, text, &[]).map_err(|errors| suite_failure(&errors))?;
        lines.push_str(&format!("{name:width$}  {}\n", spec.suite.description.value));
    }
    lines.push_str(
        "\n`plimsoll suites NAME > my.toml` prints one to start your own from; `plimsoll run \
         my.toml` runs it.\n",
    );
    Ok(lines)
}
