//! Reports D and E against what `docs/method/prediction.md` chose before they were predicted.

use super::calibration::{Calibration, Judged, calibrate};
use super::load::{Load, Measured, published};
use crate::ceiling::Workload;
use catalogue::Cluster;
use catalogue::published::Published;
use model::{Bytes, Object, Percent};

fn cluster(text: &str) -> Cluster {
    Cluster::parse("t", text, &[]).unwrap_or_else(|errors| panic!("{:?}", errors.problems))
}

/// A line of the method's tables.
fn told(row: &Judged) -> String {
    let Judged { row: Measured { name, rate, .. }, predicted, unseen, .. } = row;
    format!(
        "| {name} | {rate:.0} | {:.0} | {:.0} to {:.0} | {:+.1} % | {unseen:?} |",
        predicted.value,
        predicted.low,
        predicted.high,
        100.0 * row.error()
    )
}

fn told_all(calibration: &Calibration) -> String {
    let all = calibration.fitted.iter().chain(&calibration.held_out);
    all.map(told).collect::<Vec<_>>().join("\n")
}

#[test]
fn report_d_both_totals_are_fitted() {
    let text = include_str!("../../../../reference/results/hyperflex-stretched.toml");
    let rows: Vec<Measured> = published(&Published::parse("d", text).expect("good figures"))
        .rates
        .rows
        .into_iter()
        .map(|row| row.row)
        .collect();
    let testbed = include_str!("../../../../reference/testbeds/hyperflex-stretched.toml");
    let d = calibrate(&cluster(testbed), &rows, &[]).expect("fits");
    assert_eq!(d.fitted.len(), 2);
    assert!(d.fitted.iter().all(|row| row.error().abs() < 0.1), "{}", told_all(&d));
    assert!(!d.proposed.is_empty(), "two rows leave much open");
}

/// A row of report E: 16 clients, 4 TiB, one request outstanding for each thread.
fn row_of_e(name: &str, kib: u64, is_read: bool, threads: u64, rate: f64) -> Measured {
    let read = if is_read { Percent::ALL } else { Percent::ZERO };
    let footprint = Some(Bytes(4 << 40));
    let workload = Workload::new(name, Bytes::kib(kib), read, kib == 4, footprint);
    let hosts = threads.min(16) as u32;
    let (outstanding, remote, object) = (threads, Percent::ZERO, Object::Blocks);
    let route = model::Route::Testbed;
    let load = Load { workload, hosts, outstanding, depth: 1, remote, object, route };
    Measured { number: 1, name: name.to_owned(), load, rate }
}

#[test]
fn every_rate_of_report_e_has_its_error_and_what_is_far_off_was_marked() {
    let text = include_str!("../../../../reference/results/pixstor-nvme.toml");
    let rows = published(&Published::parse("e", text).expect("good figures")).rates.rows;
    let of = |calibrates: bool| -> Vec<Measured> {
        let chosen = rows.iter().filter(|row| row.calibrates == calibrates);
        chosen.map(|row| row.row.clone()).collect()
    };
    let testbed = include_str!("../../../../reference/testbeds/pixstor-nvme.toml");
    let e = calibrate(&cluster(testbed), &of(true), &of(false)).expect("fits");
    assert_eq!((e.fitted.len(), e.held_out.len()), (3, 19));
    let is_marked = |row: &Judged| row.is_extrapolated() || row.is_wide();
    assert!(e.held_out.iter().all(|row| row.error().abs() <= 0.3 || is_marked(row)));
    // Nothing fitted shares a file or looks up a name.
    let mut others = e.held_out.iter().filter(|row| row.row.load.object != Object::Blocks);
    assert!(others.all(Judged::is_extrapolated), "{}", told_all(&e));
    let outside: Vec<&Judged> = e.held_out.iter().filter(|row| !row.is_covered()).collect();
    // Client caches write behind, creates wait for more than a journal.
    assert!(outside.len() <= 4, "{}", told_all(&e));
}

#[test]
fn report_e_is_told_apart_from_what_was_fitted() {
    let of_8_mib = |gigabytes: f64| gigabytes * 1e9 / f64::from(8 << 20);
    // The two rates at one thread are rounded and recalled; `reference/results/` has none.
    let fit = [
        row_of_e("N-N sequential read, peak", 8192, true, 128, of_8_mib(84.5)),
        row_of_e("random read, one thread", 4, true, 1, 5_000.0),
        row_of_e("random write, one thread", 4, false, 1, 6_000.0),
    ];
    let hold = [
        row_of_e("N-N sequential write, peak", 8192, false, 64, of_8_mib(40.9)),
        row_of_e("N-N sequential write, sustained", 8192, false, 512, of_8_mib(40.0)),
        row_of_e("N-N sequential read, sustained", 8192, true, 512, of_8_mib(81.0)),
        row_of_e("random read, peak", 4, true, 1024, 7.31e6),
        row_of_e("random read, sustained", 4, true, 1024, 7.3e6),
        row_of_e("random write, peak", 4, false, 1024, 5.06e6),
        row_of_e("random write, sustained", 4, false, 1024, 5.0e6),
    ];
    let testbed = include_str!("../../../../reference/testbeds/pixstor-nvme.toml");
    let e = calibrate(&cluster(testbed), &fit, &hold).expect("fits");
    // What is far off was marked beforehand: as an extrapolation, or as wide.
    let mut far = e.held_out.iter().filter(|row| row.error().abs() > 0.3);
    assert!(far.all(|row| row.is_extrapolated() || row.is_wide()), "{}", told_all(&e));
    // Random writes of drives a twelfth full, and the plateaus of streams.
    let near = e.held_out.iter().filter(|row| row.error().abs() <= 0.2).count();
    assert!(near >= 5, "{}", told_all(&e));
}
