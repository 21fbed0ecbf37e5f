//! The differences between runs: every figure with its interval, and what can be told of it.

use crate::ground::markup::{Markup, classed, element, plain};
use crate::topics::compare as words;
use analysis::compare::{Against, ComparedPoint, Comparison};
use model::Record;

/// The section of a comparison; nothing where there is nothing to compare.
pub fn section(comparison: &Comparison, records: &[&Record]) -> Markup {
    if comparison.others.is_empty() {
        return Markup::new();
    }
    // Scenarios with nothing in common are parts of one run, and nobody asked to hold them against
    // each other.
    if records.len() == 1 && comparison.others.iter().all(|other| other.points.is_empty()) {
        return Markup::new();
    }
    let mut content = plain("h2", "Differences");
    if words::has_differences(comparison) {
        content.push(plain("p", words::LEGEND));
    }
    comparison.others.iter().for_each(|other| content.push(against(other, records)));
    plain("section", content)
}

fn against(other: &Against, records: &[&Record]) -> Markup {
    let mut content = plain("h3", words::title(other, records));
    let whole = other.unlike.iter().map(|unlike| words::said(unlike, "the run"));
    let missing = [
        words::only(&other.only_base, "the base has"),
        words::only(&other.only_other, "this one has"),
    ];
    let items: Markup =
        whole.chain(missing.into_iter().flatten()).map(|sentence| plain("li", sentence)).collect();
    if items != Markup::new() {
        content.push(plain("ul", items));
    }
    if other.points.is_empty() {
        content.push(plain("p", "No point of the two can be compared."));
    }
    other.points.iter().for_each(|point| content.push(block(point)));
    content
}

fn block(point: &ComparedPoint) -> Markup {
    let mut content = plain("h4", format!("{} {}", words::point(&point.key), point.key.ops.name()));
    if !point.differences.is_empty() {
        content.push(classed("div", "scroll", table(point)));
    }
    let remarks: Markup =
        words::remarks(point).iter().map(|sentence| plain("li", sentence)).collect();
    if remarks != Markup::new() {
        content.push(plain("ul", remarks));
    }
    content
}

/// What can be told stands first: a narrow window cuts off what it rests on, not the finding.
fn table(point: &ComparedPoint) -> Markup {
    let head = [
        ("Figure", ""),
        ("Verdict", ""),
        ("Difference", "number"),
        ("95 % interval", "number"),
        ("Base", "number"),
        ("Other", "number"),
    ];
    let head: Markup = head
        .iter()
        .map(|(word, class)| element("th", &[("scope", "col"), ("class", class)], *word))
        .collect();
    let row = |found: &analysis::compare::Difference| {
        let number = |text: String| classed("td", "number", text);
        let cells = [
            element(
                "th",
                &[("scope", "row"), ("class", "wraps")],
                words::metric_of(point, found.metric),
            ),
            classed("td", "wraps", words::verdict(found)),
            number(words::percent(found.percent)),
            number(words::interval(found.interval)),
            number(words::value(found.metric, found.base)),
            number(words::value(found.metric, found.other)),
        ];
        plain("tr", cells)
    };
    let body: Markup = point.differences.iter().map(row).collect();
    element("table", &[], [plain("thead", plain("tr", head)), plain("tbody", body)])
}
