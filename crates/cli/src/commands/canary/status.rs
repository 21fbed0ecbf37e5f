//! `plimsoll canary status`: what the ledger says.

use super::ledger;
use crate::commands::{print, print_json};
use crate::failure::Failure;
use report::topics::canary::{self, Told};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// Shows it as of now; a running segment counts when it ends.
pub fn status(dir: &Path, json: bool) -> Result<ExitCode, Failure> {
    let state = ledger::look(dir)?;
    // A simulated canary is ahead of the clock.
    let unix_ns = fleet::unix_ns().max(state.last_end_unix_ns);
    let told = Told { state: &state, running: &BTreeMap::new(), unix_ns };
    if json {
        print_json(&canary::status_object(&told))?;
    } else {
        print(&canary::status(&told))?;
    }
    Ok(ExitCode::SUCCESS)
}
