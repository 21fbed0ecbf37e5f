//! The report in Markdown as a whole.

use super::Report;
use crate::ground::markup::Node;
use crate::ground::palette;
use crate::ground::testing::{Recorded, W, mixed};
use crate::pens::markdown as text;
use crate::surfaces::html::{Against, content};
use model::{Fact, Note, Record};

fn render(records: &[&Record]) -> Report {
    super::render(records, Against::default(), "r-charts")
}

#[test]
fn nothing_that_the_page_says_is_missing() {
    let record = mixed("mix").record();
    let report = render(&[&record]);
    let mut said = Vec::new();
    texts(content(&[&record], Against::default()).1.nodes(), &mut said);
    assert!(said.len() > 100);
    for line in said.iter().flat_map(|text| text.lines()).map(str::trim) {
        // Code is no place for escapes.
        let told = report.text.contains(text::escaped(line).trim()) || report.text.contains(line);
        assert!(told, "{line:?} is missing");
    }
}

/// All words outside pictures and their captions, piece by piece.
fn texts(nodes: &[Node], said: &mut Vec<String>) {
    for node in nodes {
        match node {
            Node::Text(text) => said.push(text.clone()),
            Node::Element(element) if element.name == "figcaption" || element.name == "svg" => {}
            Node::Element(element) => texts(&element.children, said),
            Node::Ours(ours) => panic!("{ours:?} has no words"),
        }
    }
}

#[test]
fn every_chart_of_the_page_is_a_file_that_needs_nothing_else() {
    let record = mixed("mix").record();
    let report = render(&[&record]);
    let page = crate::surfaces::html::render(&[&record]);
    assert_eq!(report.charts.len(), page.matches("<svg class=\"chart\"").count());
    assert!(report.charts.len() >= 6);
    let mut names: Vec<&str> = report.charts.iter().map(|chart| chart.name.as_str()).collect();
    for chart in &report.charts {
        assert_eq!(
            report.text.matches(&format!("](<r-charts/{}.svg>)", chart.name)).count(),
            1,
            "{}",
            chart.name
        );
        assert!(
            chart
                .svg
                .starts_with("<!-- Plimsoll chart -->\n<svg xmlns=\"http://www.w3.org/2000/svg\""),
            "{}",
            chart.svg
        );
        for outside in ["var(", "href", "url(", "@import", "class=\"hit\"", "NaN"] {
            assert!(!chart.svg.contains(outside), "{outside} in {}", chart.name);
        }
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), report.charts.len());
    let latency = report
        .charts
        .iter()
        .find(|chart| chart.name.contains("latency-over-time"))
        .expect("a chart");
    for word in [">p50<", ">p99.9<", ">max<", ">Latency over time, read<"] {
        assert!(latency.svg.contains(word), "{word}: the legend stands in the picture");
    }
}

#[test]
fn every_class_of_a_chart_that_has_a_style_has_it_in_the_file() {
    assert!(!palette::RULES.contains("var("), "{}", *palette::RULES);
    for rule in [
        ".line.write{stroke: #c2510a; stroke-dasharray: 7 4;}",
        ".end{text-anchor: end;}",
        ".bar.read{",
    ] {
        assert!(palette::RULES.contains(rule), "{rule} is not in {}", *palette::RULES);
    }
    assert_eq!((palette::colour("read"), palette::colour("none")), (Some("#0a66b0"), None));
}

#[test]
fn names_cannot_break_out() {
    let hostile = "</summary><script>x</script> | [a](javascript:b) `c` </details>\n# d";
    let mut recorded = mixed(hostile);
    recorded.note(Note { stage: None, host: 0, fact: Fact::NoFallocate { path: hostile.into() } });
    recorded.record_mut().plan.suite = hostile.to_owned();
    let report = render(&[&recorded.record(), &recorded.record()]);
    // What stands in fences and code is text to every reader of Markdown.
    let mut is_fenced = false;
    for line in report.text.lines() {
        is_fenced ^= line.starts_with("```");
        if !is_fenced && !line.contains("**Run again**") {
            assert!(
                !line.contains("<script")
                    && !line.replace("\\](", "").contains("](javascript")
                    && line != "# d",
                "{line}"
            );
        }
    }
    for chart in &report.charts {
        assert!(!chart.svg.contains("<script"), "{}", chart.name);
    }
}

#[test]
fn tables_have_as_many_cells_in_every_line() {
    let report = render(&[&mixed("a | b").record()]);
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let mut tables = 0;
    for (line, next) in report.text.lines().zip(report.text.lines().skip(1)) {
        if line.starts_with('|') && next.starts_with('|') {
            assert_eq!(cells(line), cells(next), "{line}\n{next}");
            tables += usize::from(next.starts_with("| ---"));
        }
    }
    assert!(tables >= 4, "{tables}");
}

#[test]
fn the_same_record_gives_the_same_report_and_nothing_measured_is_one_too() {
    assert_eq!(render(&[&mixed("mix").record()]), render(&[&mixed("mix").record()]));
    let empty = render(&[&Recorded::new(W).record()]);
    assert!(empty.text.starts_with(super::MARK) && empty.text.contains("Nothing was measured."));
}
