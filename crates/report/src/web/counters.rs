//! What the kernel of one host counts beside what charts show: a table of its last interval.

use crate::html::markup::{Markup, classed, element, plain};
use crate::watch::counted;
use model::CounterSample;

/// The table of a host's [`counted::summary`]; nothing where nothing was told of it.
pub(super) fn table(summary: Option<&CounterSample>) -> Markup {
    let told = summary.map(counted::of_host).unwrap_or_default();
    if told.is_empty() {
        return Markup::new();
    }
    let row = |one: &counted::Counted| {
        let name = element("th", &[("scope", "row")], &one.name);
        plain("tr", [name, classed("td", "number", one.unit.text(one.value))])
    };
    let head = [("", "Counter"), ("number", "Last interval")];
    let head: Markup =
        head.iter().map(|(class, word)| element("th", &[("scope", "col"), ("class", class)], *word)).collect();
    let rows: Markup = told.iter().map(row).collect();
    let table = plain("table", [plain("thead", plain("tr", head)), plain("tbody", rows)]);
    let attributes = [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", "Table of counters")];
    let remark = "Times are shares of the interval, those of the CPU of all cores together; thread: a worker, by its number in the system.";
    [plain("h3", "What its kernel counts"), classed("p", "remark", remark), element("div", &attributes, table)].into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::testing::busy;

    #[test]
    fn a_table_has_a_row_for_each_counter_and_is_none_without_any() {
        let summary = counted::summary(&busy(0, 1));
        let table = table(Some(&summary)).into_string();
        assert_eq!(table.matches("<tr>").count(), 1 + counted::of_host(&summary).len(), "{table}");
        assert!(table.contains("CPU: steal") && table.contains("clock slowest core: clock, MHz"), "{table}");
        assert!(super::table(None).into_string().is_empty());
        assert!(super::table(Some(&CounterSample::default())).into_string().is_empty());
    }
}
