//! `plimsoll canary status`: what the ledger says.

use super::ledger;
use crate::commands::answer;
use crate::failure::Failure;
use model::canary::SLOT_NS;
use report::topics::canary::{self, Told};
use std::path::Path;
use std::process::ExitCode;

/// Shows it as of now; a running segment counts up to its last whole minute.
pub(crate) fn status(dir: &Path, json: bool) -> Result<ExitCode, Failure> {
    let state = ledger::look(dir)?;
    // A simulated canary is ahead of the clock.
    let last = state.running_slots.last_key_value();
    let last_ns = last.map_or(0, |(slot, _)| (slot + 1).saturating_mul(SLOT_NS));
    let unix_ns = fleet::unix_ns().max(state.last_end_unix_ns).max(last_ns);
    let (running, unanswered) = (&state.running_slots, state.unanswered);
    let told = Told { state: &state, running, unanswered, unix_ns };
    answer(json, || canary::status_object(&told), || canary::status(&told))?;
    Ok(ExitCode::SUCCESS)
}
