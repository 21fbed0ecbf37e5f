//! `plimsoll inventory`

use super::{answer, create, print};
use crate::args::InventoryArgs;
use crate::failure::Failure;
use crate::hosts::{self, Absence, Asked, Terms};
use crate::signals::Work;
use model::Nanos;
use model::testbed::HostFacts;
use report::ground::words;
use report::topics;
use std::path::Path;

/// A host that is only asked has this long to answer.
const LOST_AFTER: Nanos = Nanos::seconds(30);

/// Shows what the hosts are made of, and what lies below the targets.
pub(crate) fn inventory(args: &InventoryArgs) -> Result<(), Failure> {
    let patience = super::patience(args.patience)?;
    let terms = Terms::look(LOST_AFTER, Absence::Refused);
    let targets_of = |names: &[String]| Ok(vec![args.targets.clone(); names.len()]);
    let started = hosts::start(Work::Look, &args.hosts, &targets_of, Asked { terms, patience })?;
    let hosts = hosts::facts_of(&started, hosts::may_be_one(&args.hosts))?;
    if args.draft {
        return draft(args.out.as_deref(), &hosts);
    }
    answer(args.json, || &hosts, || topics::inventory::render(&hosts))
}

fn draft(out: Option<&Path>, hosts: &[HostFacts]) -> Result<(), Failure> {
    let stem = out.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    let draft = topics::testbed_draft::testbed(
        stem.as_deref().unwrap_or("my-testbed"),
        hosts,
        fleet::unix_ns(),
    );
    let Some(out) = out else { return print(&draft.text) };
    create(out, &draft.text)?;
    let open = words::counted(draft.questions as u64, "open question");
    eprintln!(
        "testbed   {}: {open} in it; answer what you know, then try `plimsoll ceiling {}`",
        out.display(),
        out.display()
    );
    Ok(())
}
