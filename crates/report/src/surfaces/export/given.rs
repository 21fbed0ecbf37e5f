//! Results of other tools as one tidy table: a line for each number that was given.

use model::foreign::{ForeignRun, Span};
use std::fmt::Write;

/// The columns; values have the unit of `measured`.
const HEAD: &str = "source,job,workload,op,place,measured,span,statistic,share,value";

/// The numbers as CSV (RFC 4180).
pub fn csv(run: &ForeignRun) -> String {
    let mut text = format!("{HEAD}\r\n");
    for row in &run.rows {
        for measure in &row.measures {
            let of = measure.quantity;
            let share = of.statistic.share();
            let share = share.map_or_else(String::new, |s| (f64::from(s) / 1e9).to_string());
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "{},{},{},{},{},{},{},{},{share},{}\r\n",
                row.source,
                row.group,
                cell(&row.workload),
                row.op_name(),
                cell(&row.place),
                of.measured,
                of.span.map_or("", Span::word),
                of.statistic.kind(),
                measure.value
            );
        }
    }
    text
}

/// A text as a cell: in quotes where it has a sign of the form, and never a formula.
fn cell(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text };
    match text.contains(['"', ',']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_others_stay_cells() {
        assert_eq!(cell("a,\"b"), "\"a,\"\"b\"");
        assert_eq!(cell("=1+1"), "'=1+1");
        assert_eq!(cell("a\nb"), "a b");
    }
}
