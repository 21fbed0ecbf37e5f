//! What follows the bursts of a rate that changes: in words, as a section of the page, and as
//! objects.

use crate::ground::markup::{Markup, plain};
use crate::ground::words;
use analysis::bursts::{Burst, Credits, bursts, credits};
use analysis::{Offer, ResultRow, SeriesPoint, series};
use model::{Nanos, Record};
use serde_json::{Value, json};

/// Intervals that are looked at: more are taken together.
const MOST_INTERVALS: usize = 20_000;
/// Bursts that are told one by one.
const MOST_TOLD: usize = 5;

fn time(seconds: f64) -> Nanos {
    Nanos((seconds.max(0.0) * 1e9).round() as u64)
}

/// What a workload's rate asked for, and what became of it.
struct Told<'a> {
    offer: Offer<'a>,
    points: Vec<SeriesPoint>,
}

fn told<'a>(record: &Record, row: &'a ResultRow) -> Option<Told<'a>> {
    let offer = Offer::of_changing(row)?;
    Some(Told { offer, points: series(record, row, MOST_INTERVALS).points })
}

impl Told<'_> {
    fn rate(&self, per_second: f64) -> String {
        match self.offer.counts_bytes() {
            true => words::bandwidth(per_second),
            false => format!("{} IOPS", words::iops(per_second)),
        }
    }

    fn amount(&self, amount: f64) -> String {
        let amount = amount.max(0.0).round() as u64;
        match self.offer.counts_bytes() {
            true => model::Bytes(amount).to_string(),
            false => words::counted(amount, "request"),
        }
    }

    fn credits(&self, found: &Credits) -> String {
        format!(
            "Above {} it lived on credits: {} (±{}), which come back at that rate (±{}).",
            self.rate(found.per_s),
            self.amount(found.size),
            words::share(found.size_error),
            words::share(found.per_s_error)
        )
    }

    fn burst(&self, burst: &Burst) -> String {
        let back = match burst.back_after_s {
            Some(after_s) if after_s > 0.0 => {
                format!("all was back {} after its end", time(after_s))
            }
            Some(_) => "all was back by its end".to_owned(),
            None => "what piled up was not back when the next one or the end came".to_owned(),
        };
        format!(
            "Burst at {} of {} for {}, from {} before: {} piled up at most; {back}.",
            time(burst.from_s),
            self.rate(burst.asked),
            time(burst.to_s - burst.from_s),
            self.rate(burst.before),
            self.amount(burst.most_behind)
        )
    }

    fn sentences(&self) -> Vec<String> {
        let all = bursts(self.offer, &self.points);
        let mut said: Vec<String> =
            credits(self.offer, &self.points).iter().map(|found| self.credits(found)).collect();
        said.extend(all.iter().take(MOST_TOLD).map(|burst| self.burst(burst)));
        if let Some(more @ 1..) = all.len().checked_sub(MOST_TOLD) {
            said.push(format!("{} more, in the JSON.", words::counted(more as u64, "burst")));
        }
        said
    }
}

/// For a terminal; empty without bursts.
pub fn text(record: &Record, rows: &[ResultRow]) -> String {
    let of_row = |row: &ResultRow| {
        let said = told(record, row)?.sentences();
        let lines: String = said.iter().map(|one| format!("- {one}\n")).collect();
        (!said.is_empty()).then(|| format!("\nBursts of {}\n{lines}", row.workload))
    };
    rows.iter().filter_map(of_row).collect()
}

/// A section of the page; nothing without bursts.
pub fn section(record: &Record, rows: &[ResultRow]) -> Markup {
    let of_row = |row: &ResultRow| {
        let said = told(record, row)?.sentences();
        let is_told = !said.is_empty();
        let list: Markup = said.into_iter().map(|one| plain("li", one)).collect();
        let head = plain("h2", format!("Bursts of {}", row.workload));
        is_told.then(|| plain("section", [head, plain("ul", list)]))
    };
    rows.iter().filter_map(of_row).collect()
}

/// The fields `bursts` and `credits` of what a row was asked for.
pub fn object(record: &Record, row: &ResultRow) -> Option<Value> {
    let told = told(record, row)?;
    let burst = |burst: &Burst| {
        json!({
            "from_s": burst.from_s,
            "to_s": burst.to_s,
            "asked": burst.asked,
            "before": burst.before,
            "most_behind": burst.most_behind,
            "back_after_s": burst.back_after_s,
        })
    };
    let credits = credits(told.offer, &told.points).map(|found| {
        json!({
            "size": found.size,
            "per_s": found.per_s,
            "size_error": found.size_error,
            "per_s_error": found.per_s_error,
        })
    });
    let all = bursts(told.offer, &told.points);
    Some(json!({ "bursts": all.iter().map(burst).collect::<Vec<_>>(), "credits": credits }))
}
