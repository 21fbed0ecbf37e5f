//! Ceilings as a page: the table, the what-ifs, rooflines, and what it all rests on.

use super::table::{layers, what_ifs};
use super::{Ceilings, roofline};
use crate::ground::gather::each_once;
use crate::ground::markup::{Markup, classed, list, plain, under};
use crate::ground::page::document;
use crate::ground::words;
use crate::pens::{Cell, Table};
use catalogue::Cluster;
use catalogue::cluster::{Drives, Figures, NodeGroup};
use catalogue::devices::{Device, catalogue};

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
    body.push(under(
        "The most that each layer allows",
        [layers(ceilings).scroll(), list(ceilings.remarks())],
    ));
    if !ceilings.what_ifs.is_empty() {
        body.push(plain("section", [plain("h2", "What if"), what_ifs(ceilings).scroll()]));
    }
    body.push(plain("section", [plain("h2", "Rooflines"), charts(ceilings)]));
    body.push(under("What this rests on", [drives(ceilings.cluster), source(ceilings.cluster)]));
    document(format!("{}: Plimsoll ceiling", top.name.value), body)
}

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
    let all = cluster
        .nodes
        .iter()
        .flat_map(|group| group.drives.iter().map(move |drives| (group, drives, listed(drives))));
    let name = |(group, _, listed): Row<'_>| {
        let drive = listed.map_or("figures of the testbed", |one| one.spec.name.value.as_str());
        let because = listed.map_or("", |device| device.spec.source.value.as_str());
        Cell::from(format!("{}: {drive}", group.spec.name.value)).titled(because)
    };
    let count = |(group, drives, _): Row<'_>| {
        words::count(group.count().saturating_mul(u64::from(drives.spec.count.value.0)))
    };
    let bandwidth = |of: fn(&Figures) -> Option<f64>| {
        move |(_, drives, _): Row<'_>| of(&drives.figures).map(words::gb_per_s)
    };
    let rate = |of: fn(&Figures) -> Option<f64>| {
        move |(_, drives, _): Row<'_>| of(&drives.figures).map(words::iops)
    };
    Table::of(all)
        .name("Drives", name)
        .figure("Role", |(_, drives, _)| drives.spec.role.value.to_string())
        .figure("In all", count)
        .figure("Read", bandwidth(|figures| figures.read_bytes_per_s))
        .figure("Write", bandwidth(|figures| figures.write_bytes_per_s))
        .figure("Read IOPS", rate(|figures| figures.read_iops))
        .figure("Write IOPS", rate(|figures| figures.write_iops))
        .scroll()
}

/// Drives of a group of nodes, and what the catalogue has of them.
type Row<'a> = (&'a NodeGroup, &'a Drives, Option<&'static Device>);

fn listed(drives: &Drives) -> Option<&'static Device> {
    catalogue().iter().find(|device| device.id == drives.spec.model.value)
}

fn source(cluster: &Cluster) -> Markup {
    let drives = cluster.nodes.iter().flat_map(|group| &group.drives);
    let used = each_once(drives.filter_map(listed).map(|one| one.spec.source.value.as_str()));
    let testbed = &cluster.top.source.value;
    let testbed = (!testbed.is_empty()).then(|| format!("Testbed: {testbed}"));
    let items = used.into_iter().map(str::to_owned).chain(testbed);
    [
        list(items),
        classed(
            "p",
            "remark",
            "A ceiling is what no layer can exceed; latency, software and uneven load keep \
             results below it.",
        ),
    ]
    .into()
}
