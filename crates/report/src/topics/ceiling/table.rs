//! Ceilings as tables for the terminal.

use super::{Ceilings, figure, layer, limit};
use crate::ground::markup::{Markup, plain};
use crate::ground::words;
use crate::pens::{Cell, Table, dash};
use analysis::ceiling::{Ceiling, Layer};
use catalogue::cluster::Figures;
use catalogue::devices::Device;

/// Layers × workloads with the binding one marked, what-ifs side by side, and the remarks.
pub fn results(ceilings: &Ceilings<'_>) -> String {
    let mut text = format!("{}\n\n", ceilings.cluster.top.name.value);
    text.push_str(&layers(ceilings).text());
    text.push_str("\nThe most that each layer allows; ◄ is the one that binds.\n");
    if !ceilings.what_ifs.is_empty() {
        text.push_str(&format!("\n{}", what_ifs(ceilings).text()));
    }
    text.push('\n');
    for remark in ceilings.remarks() {
        text.push_str(&format!("{remark}\n"));
    }
    text
}

pub(super) fn layers(ceilings: &Ceilings<'_>) -> Table<Layer> {
    let mut table = Table::of(ceilings.layers()).name("layer", layer).titled("Layer");
    for ceiling in &ceilings.base {
        let cell = |here: Layer| {
            let Some(found) = ceiling.limit(here) else {
                return Cell::from("–  ").shown(Markup::from(dash()));
            };
            let told = limit(ceiling, found);
            match ceiling.binding().is_some_and(|binding| binding.layer == here) {
                // Marked in words, too: weight alone is not to be heard.
                true => Cell::from(format!("{told} ◄"))
                    .shown(plain("strong", format!("{told} ◄ binds"))),
                false => Cell::from(format!("{told}  ")).shown(Markup::from(told)),
            }
        };
        table = table.figure(&ceiling.workload.name, cell);
    }
    table
}

pub(super) fn what_ifs<'a>(ceilings: &'a Ceilings<'_>) -> Table<(usize, &'a Ceiling)> {
    let alone = |base: &Ceiling| base.binding().map_or_else(dash, |found| limit(base, found));
    let mut table = Table::of(ceilings.base.iter().enumerate())
        .name("workload", |(_, base)| &base.workload.name)
        .titled("Workload")
        .figure("as it is", |(_, base)| Cell::from(bound(base)).shown(alone(base).into()))
        .titled("As it is");
    for (name, others) in &ceilings.what_ifs {
        let cell = |(index, base): (usize, &Ceiling)| {
            others.get(index).map_or_else(String::new, |other| changed(base, other))
        };
        table = table.figure(name, cell);
    }
    table
}

fn bound(ceiling: &Ceiling) -> String {
    ceiling.binding().map_or_else(
        || "–".to_owned(),
        |binding| format!("{} ({})", figure(&ceiling.workload, binding.iops), layer(binding.layer)),
    )
}

/// The same with the difference to what is.
fn changed(base: &Ceiling, other: &Ceiling) -> String {
    match (base.binding(), other.binding()) {
        (Some(one), Some(two)) => {
            format!("{} {:+.0} %", bound(other), (two.iops / one.iops - 1.0) * 100.0)
        }
        _ => bound(other),
    }
}

/// The catalogue of drives.
pub fn catalogue(devices: &[Device]) -> String {
    let bandwidth = |of: fn(&Figures) -> Option<f64>| {
        move |device: &Device| of(&device.figures()).map(words::gb_per_s)
    };
    let rate = |of: fn(&Figures) -> Option<f64>| {
        move |device: &Device| of(&device.figures()).map(words::iops)
    };
    let mut text = Table::of(devices)
        .name("model", |device| &device.id)
        .words("name", |device| &device.spec.name.value)
        .words("media", |device| device.spec.media.value.to_string())
        .figure("read", bandwidth(|figures| figures.read_bytes_per_s))
        .figure("write", bandwidth(|figures| figures.write_bytes_per_s))
        .figure("read IOPS", rate(|figures| figures.read_iops))
        .figure("write IOPS", rate(|figures| figures.write_iops))
        .words("footing", |device| device.spec.footing.value.to_string())
        .text();
    text.push_str(
        "\nfooting: document = read there; recalled = the maker's, not looked up again; class = \
         typical, no product.\n",
    );
    text
}
