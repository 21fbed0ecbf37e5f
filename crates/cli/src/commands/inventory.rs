//! `plimsoll inventory`

use super::{print, print_json};
use crate::args::InventoryArgs;
use crate::failure::Failure;
use crate::hosts;
use model::Nanos;
use std::process::ExitCode;

/// A host that is only asked has this long to answer.
const LOST_AFTER: Nanos = Nanos::seconds(30);

/// Shows what the hosts are made of, and what lies below the targets.
pub fn inventory(args: &InventoryArgs) -> Result<ExitCode, Failure> {
    let started = hosts::start(&args.hosts, &|names| Ok(vec![args.targets.clone(); names.len()]), LOST_AFTER)?;
    let told = started.fleet.inspect(&started.targets).map_err(|error| Failure::Run(format!("error: {error}")))?;
    let hosts = hosts::told(told, hosts::may_be_one(&args.hosts))?;
    if args.json {
        print_json(&hosts)?;
    } else {
        print(&report::inventory::render(&hosts))?;
    }
    Ok(ExitCode::SUCCESS)
}
