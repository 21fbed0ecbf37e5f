//! The contents of a page: a name for each of its sections, and a list of links to them.

use crate::ground::markup::{Element, Markup, Node, classed, element, plain};

/// Names the sections of `body` and gives the list of links; nothing for fewer than three.
/// `named` has the names that are in use on the page already.
pub fn of(body: &mut Markup, named: &mut Vec<String>) -> Markup {
    let mut links = Vec::new();
    for section in body.elements_mut().filter(|element| element.name == "section") {
        let Some(title) = title(section) else { continue };
        let name = unused(&slug(&title), named);
        section.attributes.push(("id", name.clone()));
        let link = element("a", &[("href", &format!("#{name}"))], title.as_str());
        links.push(plain("li", link));
        named.push(name);
    }
    if links.len() < 3 {
        return Markup::new();
    }
    let list = plain("ul", links.into_iter().collect::<Markup>());
    element("nav", &[("class", "contents"), ("aria-label", "Contents")], list)
}

/// A part of the page that is folded until somebody opens it; in print it is open.
pub fn folded(summary: impl Into<Markup>, content: Markup) -> Markup {
    classed("details", "fold", [plain("summary", summary), content])
}

/// Longer tables and texts are folded.
const MOST_OPEN: usize = 16;

/// Folds what is long in the sections of `body`: tables of many rows, texts of many lines.
pub fn fold_long(body: &mut Markup) {
    // The charts of a workload are what its section is for.
    let may_fold = |one: &&mut Element| one.name == "section" && !one.has_class("workload");
    for section in body.elements_mut().filter(may_fold) {
        section.children = section.children.drain(..).flat_map(fold_if_long).collect();
    }
}

fn fold_if_long(node: Node) -> Vec<Node> {
    let Node::Element(element) = &node else { return vec![node] };
    let is_box = element.has_class("scroll");
    let (rows, mut texts) = (super::rows(element), Vec::new());
    element.find(&|one| one.name == "pre", &mut texts);
    let lines = texts.iter().map(|text| text.words().lines().count()).sum::<usize>();
    let summary = match (rows.len().saturating_sub(1), lines) {
        (rows, _) if is_box && rows > MOST_OPEN => format!("Table of {rows} rows"),
        (_, lines) if is_box && lines > MOST_OPEN => format!("{lines} lines"),
        _ if element.has_class("charts") && height(element) > MOST_HEIGHT => {
            let mut figures = Vec::new();
            element.find(&|one| one.name == "figure", &mut figures);
            format!("{} charts", figures.len())
        }
        _ => return vec![node],
    };
    folded(summary, Markup::from(node)).into_nodes()
}

/// Charts side by side that are higher together, in units of the drawing, are folded.
const MOST_HEIGHT: f64 = 1_500.0;

fn height(charts: &Element) -> f64 {
    let mut drawn = Vec::new();
    charts.find(&|one| one.name == "svg" && one.has_class("chart"), &mut drawn);
    let height = |svg: &&Element| {
        svg.get("viewBox").and_then(|view| view.split(' ').nth(3)?.parse::<f64>().ok())
    };
    drawn.iter().filter_map(height).sum()
}

fn title(section: &Element) -> Option<String> {
    section.elements().find(|element| element.name == "h2").map(Element::words)
}

/// As GitHub names a heading, so that links hold in Markdown, too.
fn slug(title: &str) -> String {
    let kept = |c: char| match c {
        ' ' | '-' => Some('-'),
        c if c.is_ascii_alphanumeric() || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    title.chars().filter_map(kept).collect()
}

fn unused(name: &str, named: &[String]) -> String {
    let is_free = |one: &String| !named.contains(one);
    let later = (1..).map(|n: usize| format!("{name}-{n}"));
    std::iter::once(name.to_owned()).chain(later).find(is_free).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tables_are_folded_and_short_ones_stay() {
        let table = |rows: usize| -> Markup {
            let rows: Markup = (0..=rows).map(|_| plain("tr", plain("td", "1"))).collect();
            plain("section", classed("div", "scroll", plain("table", rows)))
        };
        let shown = |rows: usize| {
            let mut body = table(rows);
            fold_long(&mut body);
            body.into_string()
        };
        assert!(!shown(MOST_OPEN).contains("details"));
        assert!(shown(17).contains("<details class=\"fold\"><summary>Table of 17 rows</summary>"));
    }

    #[test]
    fn every_section_has_a_name_of_its_own_and_a_link() {
        let section = |title: &str| plain("section", plain("h2", title));
        let mut body: Markup =
            [section("Results"), section("What was sent, & why"), section("Results")].into();
        let mut named = Vec::new();
        let list = of(&mut body, &mut named).into_string();
        assert_eq!(named, ["results", "what-was-sent--why", "results-1"]);
        assert!(list.contains("<a href=\"#results-1\">Results</a>"), "{list}");
        assert!(body.into_string().contains("<section id=\"what-was-sent--why\">"));
        assert_eq!(of(&mut section("Results"), &mut named), Markup::new(), "nothing to find");
    }
}
