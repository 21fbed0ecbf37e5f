//! Published reports: rows that are fitted, and rows that are predicted from these.

use analysis::prediction::calibration::{Judged, calibrate};
use analysis::prediction::load::{Measured, published};
use catalogue::Cluster;
use catalogue::published::Published;

/// The reports whose rates are fitted, with their testbeds.
const REPORTS: [(&str, &str, &str); 3] = [
    (
        "vsan-four-corners",
        include_str!("../../../../reference/testbeds/vsan-four-corners.toml"),
        include_str!("../../../../reference/results/vsan-four-corners.toml"),
    ),
    (
        "hyperflex-stretched",
        include_str!("../../../../reference/testbeds/hyperflex-stretched.toml"),
        include_str!("../../../../reference/results/hyperflex-stretched.toml"),
    ),
    (
        "pixstor-nvme",
        include_str!("../../../../reference/testbeds/pixstor-nvme.toml"),
        include_str!("../../../../reference/results/pixstor-nvme.toml"),
    ),
];

/// Prints a table for each report.
pub fn told() {
    for (name, testbed, figures) in REPORTS {
        let cluster = Cluster::parse(name, testbed, &[]).expect("a good testbed");
        let found = published(&Published::parse(name, figures).expect("good figures")).rates.rows;
        let of = |calibrates: bool| -> Vec<Measured> {
            let chosen = found.iter().filter(|row| row.calibrates == calibrates);
            chosen.map(|row| row.row.clone()).collect()
        };
        println!("\n{name}\n");
        println!("| row | | published | predicted | 90 % interval | error | in interval | mark |");
        println!("|---|---|---|---|---|---|---|---|");
        let calibration = calibrate(&cluster, &of(true), &of(false)).expect("it fits");
        calibration.fitted.iter().for_each(|row| one(row, "fitted"));
        calibration.held_out.iter().for_each(|row| one(row, "held out"));
        println!("\n| parameter | found | from | to | before |");
        println!("|---|---|---|---|---|");
        for found in &calibration.parameters {
            let (key, range) = (found.parameter.key(), found.range);
            println!(
                "| {key} | {:.3e} | {:.3e} | {:.3e} | {:.3e} |",
                range.value, range.low, range.high, found.before
            );
        }
    }
}

fn one(row: &Judged, what: &str) {
    let mark = match (row.is_extrapolated(), row.is_wide()) {
        (true, _) => "extrapolated",
        (false, true) => "wide",
        (false, false) => "",
    };
    println!(
        "| {} | {what} | {:.0} | {:.0} | {:.0} to {:.0} | {:+.1} % | {} | {mark} |",
        row.row.name,
        row.row.rate,
        row.predicted.value,
        row.predicted.low,
        row.predicted.high,
        100.0 * row.error(),
        if row.is_covered() { "yes" } else { "no" },
    );
}
