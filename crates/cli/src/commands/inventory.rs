//! `plimsoll inventory`

use super::{print, print_json};
use crate::args::InventoryArgs;
use crate::failure::Failure;
use crate::hosts::{self, Absence, Asked, Terms};
use crate::signals::Work;
use model::Nanos;
use model::testbed::HostFacts;
use report::ground::words;
use report::topics;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// A host that is only asked has this long to answer.
const LOST_AFTER: Nanos = Nanos::seconds(30);

/// Shows what the hosts are made of, and what lies below the targets.
pub(crate) fn inventory(args: &InventoryArgs) -> Result<ExitCode, Failure> {
    let patience = super::patience(args.patience)?;
    let terms = Terms::look(LOST_AFTER, Absence::Refused);
    let targets_of = |names: &[String]| Ok(vec![args.targets.clone(); names.len()]);
    let started = hosts::start(Work::Look, &args.hosts, &targets_of, Asked { terms, patience })?;
    let hosts = hosts::facts_of(&started, hosts::may_be_one(&args.hosts))?;
    if args.draft {
        draft(args.out.as_deref(), &hosts)?;
    } else if args.json {
        print_json(&hosts)?;
    } else {
        print(&topics::inventory::render(&hosts))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn draft(out: Option<&Path>, hosts: &[HostFacts]) -> Result<(), Failure> {
    let stem = out.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    let draft = topics::testbed_draft::testbed(
        stem.as_deref().unwrap_or("my-testbed"),
        hosts,
        fleet::unix_ns(),
    );
    let Some(out) = out else { return print(&draft.text) };
    // Made by this call or not at all: between a look and a write somebody else could make it.
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(out);
    file.and_then(|mut file| file.write_all(draft.text.as_bytes())).map_err(|error| {
        let what = match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                "it is there already, and no file is overwritten".to_owned()
            }
            _ => error.to_string(),
        };
        Failure::Usage(format!("error: {}: {what}; name another file with --out", out.display()))
    })?;
    let open = words::counted(draft.questions as u64, "open question");
    eprintln!(
        "testbed   {}: {open} in it; answer what you know, then try `plimsoll ceiling {}`",
        out.display(),
        out.display()
    );
    Ok(())
}
