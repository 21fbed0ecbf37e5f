//! Ceilings as tables for the terminal.

use super::{Ceilings, figure, layer, limit};
use crate::ground::columns::{self, Column};
use analysis::ceiling::Ceiling;
use catalogue::devices::Device;

/// Layers × workloads with the binding one marked, what-ifs side by side, and the remarks.
pub fn results(ceilings: &Ceilings<'_>) -> String {
    let mut text = format!("{}\n\n", ceilings.cluster.top.name.value);
    text.push_str(&columns::render(&layers(ceilings)));
    text.push_str("\nThe most that each layer allows; ◄ is the one that binds.\n");
    if !ceilings.what_ifs.is_empty() {
        text.push_str(&format!("\n{}", columns::render(&what_ifs(ceilings))));
    }
    text.push('\n');
    for remark in ceilings.remarks() {
        text.push_str(&format!("{remark}\n"));
    }
    text
}

fn layers(ceilings: &Ceilings<'_>) -> Vec<Column> {
    let mut table = vec![Column::names("layer")];
    table.extend(ceilings.base.iter().map(|ceiling| Column::figures(&ceiling.workload.name)));
    for row in ceilings.layers() {
        let mut cells = vec![layer(row).to_owned()];
        cells.extend(ceilings.base.iter().map(|ceiling| match ceiling.limit(row) {
            None => "–  ".to_owned(),
            Some(here) => {
                let mark = if ceiling.binding().is_some_and(|binding| binding.layer == row) {
                    "◄"
                } else {
                    " "
                };
                format!("{} {mark}", limit(ceiling, here))
            }
        }));
        columns::row(&mut table, cells);
    }
    table
}

fn what_ifs(ceilings: &Ceilings<'_>) -> Vec<Column> {
    let mut table = vec![Column::names("workload"), Column::figures("as it is")];
    table.extend(ceilings.what_ifs.iter().map(|(name, _)| Column::figures(name)));
    for (index, base) in ceilings.base.iter().enumerate() {
        let mut cells = vec![base.workload.name.clone(), bound(base)];
        cells.extend(ceilings.what_ifs.iter().map(|(_, others)| {
            others.get(index).map_or_else(String::new, |other| changed(base, other))
        }));
        columns::row(&mut table, cells);
    }
    table
}

/// `4,760,000 IOPS (CPU)`.
fn bound(ceiling: &Ceiling) -> String {
    ceiling.binding().map_or_else(
        || "–".to_owned(),
        |binding| format!("{} ({})", figure(&ceiling.workload, binding.iops), layer(binding.layer)),
    )
}

/// The same with the difference to what is.
pub(super) fn changed(base: &Ceiling, other: &Ceiling) -> String {
    match (base.binding(), other.binding()) {
        (Some(one), Some(two)) => {
            format!("{} {:+.0} %", bound(other), (two.iops / one.iops - 1.0) * 100.0)
        }
        _ => bound(other),
    }
}

/// The catalogue of drives.
pub fn catalogue(devices: &[Device]) -> String {
    let mut table = ["model", "name", "media"].map(Column::names).to_vec();
    table.extend(["read", "write", "read IOPS", "write IOPS"].map(Column::figures));
    table.push(Column::names("footing"));
    for device in devices {
        let figures = device.figures();
        let bandwidth = |value: Option<f64>| {
            value.map_or_else(|| "–".to_owned(), crate::ground::words::gb_per_s)
        };
        let rate =
            |value: Option<f64>| value.map_or_else(|| "–".to_owned(), crate::ground::words::iops);
        let cells = [
            device.id.clone(),
            device.spec.name.value.clone(),
            device.spec.media.value.to_string(),
            bandwidth(figures.read_bytes_per_s),
            bandwidth(figures.write_bytes_per_s),
            rate(figures.read_iops),
            rate(figures.write_iops),
            device.spec.footing.value.to_string(),
        ];
        columns::row(&mut table, cells);
    }
    let mut text = columns::render(&table);
    text.push_str(
        "\nfooting: document = read there; recalled = the maker's, not looked up again; class = \
         typical, no product.\n",
    );
    text
}
