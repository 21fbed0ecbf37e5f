//! `plimsoll canary status`: what the ledger says.

use super::ledger;
use crate::commands::answer;
use crate::failure::Failure;
use model::canary::{SLOT_NS, State};
use report::topics::canary::{self, Told};
use std::path::Path;
use std::process::ExitCode;

/// Shows it as of now; a running segment counts up to its last whole minute.
pub(crate) fn status(dir: &Path, json: bool) -> Result<ExitCode, Failure> {
    let state = ledger::look(dir)?;
    let (running, unanswered) = (&state.running_slots, state.unanswered);
    let unix_ns = instant(&state, fleet::unix_ns());
    let told = Told { state: &state, running, unanswered, unix_ns };
    answer(json, || canary::status_object(&told), || canary::status(&told))?;
    Ok(ExitCode::SUCCESS)
}

/// The instant of which the ledger tells. A segment tells a minute a little after its end, and with
/// it the first of the next one: until then, the last whole minute is the one before. A simulated
/// canary is ahead of the clock.
fn instant(state: &State, now: u64) -> u64 {
    let now = now.max(state.last_end_unix_ns);
    let begun = state.running_slots.last_key_value().map(|(slot, _)| slot.saturating_mul(SLOT_NS));
    let told = begun.filter(|begun| now < begun.saturating_add(2 * SLOT_NS));
    told.map_or(now, |begun| begun.saturating_add(1).max(state.last_end_unix_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::canary::{Counts, Terms};

    #[test]
    fn the_minute_that_is_not_told_yet_is_not_the_last_whole_one() {
        let terms = Terms {
            suite: "s".to_owned(),
            rate_milli: 50_000,
            targets: Vec::new(),
            objective: "p99.9 < 5ms".parse().expect("an objective"),
            target_ppm: 999_000,
            window: model::Nanos::seconds(3_600),
        };
        let mut state = State::new("c".to_owned(), terms);
        let all = |bad| Counts { good: 0, bad };
        state.running_slots = [(10, all(3_000)), (11, all(100))].into();
        for (now_s, at) in [(11 * 60 + 5, 11), (12 * 60 + 1, 11), (11 * 60 - 9, 11), (7_200, 120)] {
            let unix_ns = instant(&state, now_s * 1_000_000_000);
            assert_eq!(unix_ns / SLOT_NS, at, "{now_s}");
            let told =
                Told { state: &state, running: &state.running_slots, unanswered: None, unix_ns };
            let rate = canary::status(&told).contains("burn rate  1m 00s 1000.00");
            assert_eq!(rate, at == 11, "{}", canary::status(&told));
        }
    }
}
