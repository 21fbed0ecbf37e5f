//! What became of the requests that were due: of every workload at a rate, how many came back while
//! the load was on, how many later, and how many never. In words, and as a section of the page.

use crate::ground::markup::{Markup, list_under};
use crate::ground::words;
use analysis::{Offer, ResultRow};

const MOST_TOLD: usize = 20;

/// Rows of open loops; what a trace asked for is told by its fidelity.
fn paced(rows: &[ResultRow]) -> impl Iterator<Item = &ResultRow> {
    rows.iter().filter(|row| {
        row.is_of_workload()
            && row
                .work()
                .is_some_and(|work| work.trace.is_none() && Offer::of(&work.pace).is_some())
    })
}

fn sentence(row: &ResultRow) -> Option<String> {
    let (late, never) = (row.left.late.count(), row.left.never.count());
    let due = row.ios.saturating_add(late).saturating_add(never);
    let share = |count: u64| {
        let share = words::share(count as f64 / due.max(1) as f64);
        format!("{} ({share})", words::count(count))
    };
    let axis =
        |setting: &model::setting::Setting| format!(" {}={}", setting.axis(), setting.label());
    let axes: String = row.sweep.iter().map(axis).collect();
    (late + never > 0).then(|| {
        format!(
            "{}{axes}: {} due, {} came back after the end of the load, {} never sent or never \
             answered",
            row.workload,
            words::counted(due, "request"),
            share(late),
            share(never)
        )
    })
}

fn sentences(rows: &[ResultRow]) -> Vec<String> {
    let mut said: Vec<String> = paced(rows).filter_map(sentence).collect();
    if said.is_empty() && paced(rows).next().is_some() {
        said.push("every request was sent, and came back before the end of the load".to_owned());
    }
    let more = |rows| format!("{} more, in the JSON (left_over)", words::counted(rows, "row"));
    words::at_most(said, MOST_TOLD, more)
}

pub fn text(rows: &[ResultRow]) -> String {
    match sentences(rows).as_slice() {
        [one] => format!("\nDue  {one}\n"),
        all => words::titled("Due", all),
    }
}

pub fn section(rows: &[ResultRow]) -> Markup {
    list_under("Requests that were due", sentences(rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{has, measured};
    use model::Op;

    fn told(rate: &str, late: &[u64]) -> String {
        let record =
            measured(&format!("[[workload]]\nname = \"w\"\n{rate}"), &[(Op::Read, &[1_000; 95])]);
        let mut rows = analysis::results(&record);
        for row in &mut rows {
            late.iter().for_each(|latency_ns| row.left.late.record(*latency_ns));
        }
        text(&rows)
    }

    #[test]
    fn a_rate_says_what_became_of_all_that_was_due() {
        assert_eq!(told("", &[7; 5]), "", "a closed loop owes nothing");
        let late = told("rate = 100\n", &[7; 5]);
        has(&late, &["w: 100 requests due, 5 (5.0 %) came back after", "0 (0.0 %) never sent"]);
        let none = told("rate = 100\n", &[]);
        assert!(none.contains("every request was sent, and came back"), "{none}");
    }
}
