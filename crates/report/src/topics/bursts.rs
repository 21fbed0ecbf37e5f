//! What follows the bursts of a rate that changes: in words, as a section of the page, and as
//! objects.

use crate::ground::markup::{Markup, list, plain};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::{Value, each, object};
use analysis::bursts::{Burst, Credits, RateStep, bursts, credits, rate_steps};
use analysis::{Offer, ResultRow, SeriesPoint, series};
use model::{Nanos, Record};

/// Intervals that are looked at: more are taken together.
const MOST_INTERVALS: usize = 20_000;
/// Bursts that are told one by one.
const MOST_TOLD: usize = 5;
/// Steps that are told one by one: those of a day that was drawn minute by minute are a chart.
const MOST_STEPS: usize = 20;

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
                format!("all was back within {} of its end", time(after_s))
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

    fn steps<'a>(&self, steps: &'a [RateStep]) -> Table<&'a RateStep> {
        let seconds = |s: f64| time(s).to_string();
        let rate = |per_s: f64| self.rate(per_s);
        let asked = |step: &RateStep| match step.asked.is_level() {
            true => rate(step.asked.from),
            false => format!("{} to {}", rate(step.asked.from), rate(step.asked.to)),
        };
        let latency = |ns: u64| words::latency(Some(ns));
        Table::of(steps)
            .known("from_s", "From", |step| step.asked.from_s, seconds)
            .figure("For", |step| seconds(step.asked.to_s - step.asked.from_s))
            .field("to_s", |step| step.asked.to_s)
            .figure("Asked", asked)
            .field("asked", |step| step.asked.from)
            .field("asked_to", |step| step.asked.to)
            .known("done", "Got", |step| step.done, rate)
            .known("p50_ns", "p50", |step| step.latency.quantile_ns(0.5), latency)
            .known("p99_ns", "p99", |step| step.latency.quantile_ns(0.99), latency)
            .known("errors", "Errors", |step| step.errors, words::count)
    }

    /// The first steps; nothing of a rate that has but one.
    fn first_steps(&self) -> Vec<RateStep> {
        let mut all = rate_steps(self.offer, &self.points);
        all.truncate(if all.len() > 1 { MOST_STEPS } else { 0 });
        all
    }

    fn sentences(&self) -> Vec<String> {
        let all = bursts(self.offer, &self.points);
        let mut said: Vec<String> =
            credits(self.offer, &self.points).iter().map(|found| self.credits(found)).collect();
        let bursts = all.iter().map(|burst| self.burst(burst)).collect();
        let more = |bursts| format!("{} more, in the JSON.", words::counted(bursts, "burst"));
        said.extend(words::at_most(bursts, MOST_TOLD, more));
        said
    }
}

pub fn text(record: &Record, rows: &[ResultRow]) -> String {
    let of_row = |row: &ResultRow| {
        let told = told(record, row)?;
        let (said, steps) = (told.sentences(), told.first_steps());
        let mut text = String::new();
        if !steps.is_empty() {
            text = format!("\nSteps of {}\n{}", row.workload, told.steps(&steps).text());
        }
        Some(text + &words::titled(&format!("Bursts of {}", row.workload), said))
    };
    rows.iter().filter_map(of_row).collect()
}

pub fn section(record: &Record, rows: &[ResultRow]) -> Markup {
    let of_row = |row: &ResultRow| {
        let told = told(record, row)?;
        let (said, steps) = (told.sentences(), told.first_steps());
        let mut content = Vec::new();
        if !steps.is_empty() {
            content.push(plain("h2", format!("Steps of {}", row.workload)));
            content.push(told.steps(&steps).scroll());
        }
        if !said.is_empty() {
            content.push(plain("h2", format!("Bursts of {}", row.workload)));
            content.push(list(said));
        }
        (!content.is_empty()).then(|| plain("section", Markup::from_iter(content)))
    };
    rows.iter().filter_map(of_row).collect()
}

pub fn object(record: &Record, row: &ResultRow) -> Option<Value> {
    let told = told(record, row)?;
    let burst = |burst: &Burst| {
        object! { ..burst { from_s, to_s, asked, before, most_behind, back_after_s } }
    };
    let credits = credits(told.offer, &told.points)
        .map(|found| object! { ..found { size, per_s, size_error, per_s_error } });
    Some(object! {
        bursts: each(&bursts(told.offer, &told.points), burst),
        credits,
        steps: told.steps(&rate_steps(told.offer, &told.points)).json(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{W, has, lacks, lasting};
    use model::Op;

    /// What is said of a rate at which two requests came back in each of so many seconds.
    fn said(rate: &str, seconds: u32) -> String {
        let latencies = [1_000_000, 3_000_000];
        let record = lasting(&format!("{W}rate = {rate}\n"), seconds, &[(Op::Read, &latencies)]);
        text(&record, &analysis::results(&record))
    }

    #[test]
    fn steps_are_a_table_of_what_was_asked_and_got_and_a_ramp_is_no_burst() {
        let stairs = "[{to=2}, {hold=\"4s\"}, {to=4}, {hold=\"4s\"}]";
        let table = said(stairs, 8);
        has(&table, &["Steps of w", "From", "Asked", "Got", "p50", "p99", "Errors"]);
        has(&table, &[" 4 s  4 s  4.00 IOPS  2.00 IOPS  1 ms  3 ms       0"]);
        lacks(&table, &["Burst"]);
        lacks(&said("[{to=4, in=\"8s\"}]", 8), &["Burst"]);
    }
}
