//! What is counted of one host beside what charts show: a list of its last interval.

use crate::watch::counter_lists::{self, Counted};
use model::CounterSample;
use report::ground::markup::{Markup, classed, plain};

/// The list of a host's [`counter_lists::summary`] and of its workers; nothing where nothing was
/// told of it.
pub(super) fn list(summary: Option<&CounterSample>, workers: &[Counted]) -> Markup {
    let told = summary.map(counter_lists::of_host).unwrap_or_default();
    if told.is_empty() && workers.is_empty() {
        return Markup::new();
    }
    let line = |one: &Counted| {
        plain("div", [plain("dt", &one.name), plain("dd", one.unit.text(one.value))])
    };
    let lines: Markup = told.iter().chain(workers).map(line).collect();
    let remark = "Over the last interval. Times are shares of it: of a CPU state those of all \
                  cores together, of a worker those of one core.";
    [
        plain("h3", "What its kernel counts"),
        classed("p", "remark", remark),
        classed("dl", "counters", lines),
    ]
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::format::Unit;
    use crate::watch::testing::busy;

    #[test]
    fn a_list_has_a_line_for_each_counter_and_worker_and_is_none_without_any() {
        let summary = counter_lists::summary(&busy(0, 1));
        let worker =
            Counted { name: "worker <0>: CPU".to_owned(), unit: Unit::Share, value: Some(0.62) };
        let list = list(Some(&summary), &[worker]).into_string();
        assert_eq!(
            list.matches("<dt>").count(),
            1 + counter_lists::of_host(&summary).len(),
            "{list}"
        );
        assert!(
            list.contains("CPU: steal") && list.contains("slowest core: frequency, MHz"),
            "{list}"
        );
        assert!(list.contains("<dt>worker &lt;0&gt;: CPU</dt><dd>62%</dd>"), "{list}");
        assert!(super::list(None, &[]).into_string().is_empty());
        assert!(super::list(Some(&CounterSample::default()), &[]).into_string().is_empty());
    }
}
