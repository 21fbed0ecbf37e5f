//! Ceilings as a page: the table, the what-ifs, rooflines, and what it all rests on.

use super::table::changed;
use super::{Ceilings, figure, layer, roofline};
use crate::ground::markup::{Markup, classed, element, plain};
use crate::ground::page::document;
use crate::ground::words;
use catalogue::Cluster;
use catalogue::cluster::Drives;
use catalogue::devices::catalogue;

/// More pictures than this show nothing any more.
const MOST_CHARTS: usize = 8;

/// The page.
pub fn render(ceilings: &Ceilings<'_>) -> String {
    let top = &ceilings.cluster.top;
    let mut head = plain("h1", format!("What {} can carry", top.name.value));
    if !top.description.value.is_empty() {
        head.push(classed("p", "lead", &top.description.value));
    }
    let mut body = plain("header", head);
    body.push(plain(
        "section",
        [plain("h2", "The most that each layer allows"), layers(ceilings), remarks(ceilings)],
    ));
    if !ceilings.what_ifs.is_empty() {
        body.push(plain("section", [plain("h2", "What if"), what_ifs(ceilings)]));
    }
    body.push(plain("section", [plain("h2", "Rooflines"), charts(ceilings)]));
    body.push(plain(
        "section",
        [plain("h2", "What this rests on"), drives(ceilings.cluster), source(ceilings.cluster)],
    ));
    document(format!("{}: Plimsoll ceiling", top.name.value), body)
}

fn table(head: impl Iterator<Item = String>, rows: Markup) -> Markup {
    let cell = |(index, word): (usize, String)| {
        let class = if index == 0 { "" } else { "number" };
        element("th", &[("scope", "col"), ("class", class)], word)
    };
    let head: Markup = head.enumerate().map(cell).collect();
    classed(
        "div",
        "scroll",
        element("table", &[], [plain("thead", plain("tr", head)), plain("tbody", rows)]),
    )
}

fn layers(ceilings: &Ceilings<'_>) -> Markup {
    let row = |here| {
        let mut cells = element("th", &[("scope", "row")], layer(here));
        for ceiling in &ceilings.base {
            let binds = ceiling.binding().is_some_and(|binding| binding.layer == here);
            let text = ceiling
                .limit(here)
                .map_or_else(|| "–".to_owned(), |limit| figure(&ceiling.workload, limit.iops));
            // Marked in words, too: weight alone is not to be heard.
            let text = if binds {
                plain("strong", format!("{text} ◄ binds"))
            } else {
                Markup::from(text)
            };
            cells.push(classed("td", "number", text));
        }
        plain("tr", cells)
    };
    let names = ceilings.base.iter().map(|ceiling| ceiling.workload.name.clone());
    table(std::iter::once("Layer".to_owned()).chain(names), ceilings.layers().map(row).collect())
}

fn remarks(ceilings: &Ceilings<'_>) -> Markup {
    plain("ul", ceilings.remarks().iter().map(|remark| plain("li", remark)).collect::<Markup>())
}

fn what_ifs(ceilings: &Ceilings<'_>) -> Markup {
    let row = |(index, base): (usize, &analysis::ceiling::Ceiling)| {
        let mut cells = element("th", &[("scope", "row")], &base.workload.name);
        let now = base
            .binding()
            .map_or_else(|| "–".to_owned(), |limit| figure(&base.workload, limit.iops));
        cells.push(classed("td", "number", now));
        for (_, others) in &ceilings.what_ifs {
            let text = others.get(index).map_or_else(String::new, |other| changed(base, other));
            cells.push(classed("td", "number", text));
        }
        plain("tr", cells)
    };
    let names = ceilings.what_ifs.iter().map(|(name, _)| name.clone());
    let head = ["Workload".to_owned(), "As it is".to_owned()].into_iter().chain(names);
    table(head, ceilings.base.iter().enumerate().map(row).collect())
}

/// A chart for each mix and order; sizes are the axis.
fn charts(ceilings: &Ceilings<'_>) -> Markup {
    let mut seen: Vec<String> = Vec::new();
    let mut charts = Markup::new();
    for ceiling in ceilings.base.iter().filter(|ceiling| ceiling.binding().is_some()) {
        let mix = roofline::mix(&ceiling.workload);
        if !seen.contains(&mix) && seen.len() < MOST_CHARTS {
            charts.push(roofline::chart(ceilings.cluster, &ceiling.workload));
            seen.push(mix);
        }
    }
    classed("div", "charts", charts)
}

fn drives(cluster: &Cluster) -> Markup {
    let mut rows = Markup::new();
    for group in &cluster.nodes {
        for drives in &group.drives {
            rows.push(drive(&group.spec.name.value, group.count(), drives));
        }
    }
    let head =
        ["Drives", "Role", "In all", "Read", "Write", "Read IOPS", "Write IOPS"].map(str::to_owned);
    table(head.into_iter(), rows)
}

fn drive(group: &str, nodes: u64, drives: &Drives) -> Markup {
    let (spec, figures) = (&drives.spec, &drives.figures);
    let listed = catalogue().iter().find(|device| device.id == spec.model.value);
    let name = listed.map_or("figures of the testbed", |device| device.spec.name.value.as_str());
    let because = listed.map_or("", |device| device.spec.source.value.as_str());
    let bandwidth = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), words::gb_per_s);
    let rate = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), words::iops);
    let number = |text: String| classed("td", "number", text);
    let cells = [
        element("th", &[("scope", "row"), ("title", because)], format!("{group}: {name}")),
        number(spec.role.value.to_string()),
        number(words::count(nodes.saturating_mul(u64::from(spec.count.value.0)))),
        number(bandwidth(figures.read_bytes_per_s)),
        number(bandwidth(figures.write_bytes_per_s)),
        number(rate(figures.read_iops)),
        number(rate(figures.write_iops)),
    ];
    plain("tr", cells)
}

fn source(cluster: &Cluster) -> Markup {
    let mut used: Vec<&str> = Vec::new();
    for drives in cluster.nodes.iter().flat_map(|group| &group.drives) {
        let listed = catalogue().iter().find(|device| device.id == drives.spec.model.value);
        if let Some(source) = listed.map(|device| device.spec.source.value.as_str())
            && !used.contains(&source)
        {
            used.push(source);
        }
    }
    let mut items: Markup = used.into_iter().map(|source| plain("li", source)).collect();
    if !cluster.top.source.value.is_empty() {
        items.push(plain("li", format!("Testbed: {}", cluster.top.source.value)));
    }
    [
        plain("ul", items),
        classed(
            "p",
            "remark",
            "A ceiling is what no layer can exceed; latency, software and uneven load keep \
             results below it.",
        ),
    ]
    .into()
}
