//! The status of a canary, for people.

use super::{Told, changed, harm, left, missed, objective, segment, waiting};
use crate::ground::words;
use model::Bytes;
use std::fmt::Write;

/// Segments that are listed.
const LISTED: usize = 10;

/// What is on record, in words.
pub fn status(told: &Told<'_>) -> String {
    let state = told.state;
    let mut text = format!("canary     {}\n", state.terms.suite);
    // Writing to a String cannot fail.
    let rate = words::plain_number(state.terms.rate_milli as f64 / 1e3);
    let _ = writeln!(text, "rate       {rate} requests per second");
    for (host, path) in &state.terms.targets {
        let _ = writeln!(text, "target     {host}:{path}");
    }
    let _ = writeln!(text, "objective  {}", objective(state));
    let _ = writeln!(
        text,
        "budget     {} left; {}; load for {} of {}",
        left(told.budget_left()),
        missed(told.counted(state.terms.window)),
        told.loaded(),
        state.terms.window,
    );
    let waits = told.unanswered.map_or_else(|| "none".to_owned(), waiting);
    let _ = writeln!(text, "waiting    {waits}");
    let rate = |rate: Option<f64>| rate.map_or("–".to_owned(), |rate| format!("{rate:.2}"));
    let rates: Vec<String> = told
        .burn_rates()
        .into_iter()
        .map(|(window, of)| format!("{window} {}", rate(of)))
        .collect();
    let _ = writeln!(text, "burn rate  {}", rates.join(", "));
    let firing: Vec<&str> = state.firing.iter().map(|alert| alert.word()).collect();
    let firing = if firing.is_empty() { "none".to_owned() } else { firing.join(", ") };
    let _ = writeln!(text, "alerts     {firing}");
    let totals = &state.totals;
    let _ = writeln!(
        text,
        "total      {}, {} requests, {}, {} failed, {} never came back",
        words::counted(state.segments, "segment"),
        words::count(totals.counts.all()),
        Bytes(totals.bytes),
        words::count(totals.errors),
        words::count(totals.missed),
    );
    let kept = state.files.values().map(|file| file.bytes).fold(0, u64::saturating_add);
    let files = words::counted(state.files.len() as u64, "run file");
    let _ = writeln!(text, "kept       {files}, {}", Bytes(kept));
    if let Some(began) = state.running {
        let _ = writeln!(
            text,
            "running    segment {} since {}",
            began.number,
            words::utc(began.unix_ns)
        );
    }
    if state.paused_until_unix_ns > told.unix_ns {
        let why = state.harm.map_or_else(String::new, |why| format!(": {}", harm(why)));
        let _ = writeln!(text, "paused     until {}{why}", words::utc(state.paused_until_unix_ns));
    }
    for one in &state.changes {
        let _ = writeln!(text, "change     {}", changed(one));
    }
    let skipped = state.recent.len().saturating_sub(LISTED);
    for one in state.recent.iter().skip(skipped) {
        let line = segment(one, told);
        let _ = writeln!(text, "{}", line.split("; budget").next().unwrap_or_default());
    }
    text
}
