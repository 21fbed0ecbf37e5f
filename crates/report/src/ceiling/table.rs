//! Ceilings as tables for the terminal.

use super::{Ceilings, figure, layer, limit};
use analysis::ceiling::Ceiling;
use comfy_table::{CellAlignment, Table, presets};
use model::devices::Device;

/// Layers × workloads with the binding one marked, what-ifs side by side, and the remarks.
pub fn results(ceilings: &Ceilings<'_>) -> String {
    let mut text = format!("{}\n\n", ceilings.cluster.top.name.value);
    text.push_str(&lines(layers(ceilings)));
    text.push_str("\nThe most that each layer allows; ◄ is the one that binds.\n");
    if !ceilings.what_ifs.is_empty() {
        text.push_str(&format!("\n{}", lines(what_ifs(ceilings))));
    }
    text.push('\n');
    for remark in ceilings.remarks() {
        text.push_str(&format!("{remark}\n"));
    }
    text
}

fn layers(ceilings: &Ceilings<'_>) -> Table {
    let mut table = table();
    let mut head = vec!["layer".to_owned()];
    head.extend(ceilings.base.iter().map(|ceiling| ceiling.workload.name.clone()));
    table.set_header(head);
    for row in ceilings.layers() {
        let mut cells = vec![layer(row).to_owned()];
        cells.extend(ceilings.base.iter().map(|ceiling| match ceiling.limit(row) {
            None => "–  ".to_owned(),
            Some(here) => {
                let mark = if ceiling.binding().is_some_and(|binding| binding.layer == row) { "◄" } else { " " };
                format!("{} {mark}", limit(ceiling, here))
            }
        }));
        table.add_row(cells);
    }
    table
}

fn what_ifs(ceilings: &Ceilings<'_>) -> Table {
    let mut table = table();
    let mut head = vec!["workload".to_owned(), "as it is".to_owned()];
    head.extend(ceilings.what_ifs.iter().map(|(name, _)| name.clone()));
    table.set_header(head);
    for (index, base) in ceilings.base.iter().enumerate() {
        let mut cells = vec![base.workload.name.clone(), bound(base)];
        cells.extend(
            ceilings
                .what_ifs
                .iter()
                .map(|(_, others)| others.get(index).map_or_else(String::new, |other| changed(base, other))),
        );
        table.add_row(cells);
    }
    table
}

/// `4.76 M IOPS (CPU)`.
fn bound(ceiling: &Ceiling) -> String {
    ceiling.binding().map_or_else(
        || "–".to_owned(),
        |binding| format!("{} ({})", figure(&ceiling.workload, binding.iops), layer(binding.layer)),
    )
}

/// The same with the difference to what is.
pub(super) fn changed(base: &Ceiling, other: &Ceiling) -> String {
    match (base.binding(), other.binding()) {
        (Some(one), Some(two)) => format!("{} {:+.0} %", bound(other), (two.iops / one.iops - 1.0) * 100.0),
        _ => bound(other),
    }
}

fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

fn lines(mut table: Table) -> String {
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        column.set_cell_alignment(if index == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The catalogue of drives.
pub fn catalogue(devices: &[Device]) -> String {
    let mut table = table();
    table.set_header(["model", "name", "media", "read", "write", "read IOPS", "write IOPS", "footing"]);
    for device in devices {
        let figures = device.figures();
        let bandwidth = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), crate::words::gb_per_s);
        let rate = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), crate::words::iops);
        table.add_row([
            device.id.clone(),
            device.spec.name.value.clone(),
            device.spec.media.value.to_string(),
            bandwidth(figures.read_bytes_per_s),
            bandwidth(figures.write_bytes_per_s),
            rate(figures.read_iops),
            rate(figures.write_iops),
            device.spec.footing.value.to_string(),
        ]);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        column.set_cell_alignment(if (3..7).contains(&index) { CellAlignment::Right } else { CellAlignment::Left });
    }
    let mut text: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    text.push_str(
        "\nfooting: document = read there; recalled = the maker's, not looked up again; class = typical, no product.\n",
    );
    text
}
