//! `plimsoll inventory`

use super::{print, print_json};
use crate::args::InventoryArgs;
use crate::failure::Failure;
use fleet::Fleet;
use std::process::ExitCode;

/// Shows what the hosts are made of, and what lies below the targets.
pub fn inventory(args: &InventoryArgs) -> Result<ExitCode, Failure> {
    let fleet = Fleet::local(env!("CARGO_PKG_VERSION"));
    let hosts = fleet.inspect(&args.targets).map_err(|error| Failure::Run(format!("error: {error}")))?;
    if args.json {
        print_json(&hosts)?;
    } else {
        print(&report::inventory::render(&hosts))?;
    }
    Ok(ExitCode::SUCCESS)
}
