//! IO500's `result_summary.txt`, of runs whose workloads are its phases. The score is there where
//! all phases that count are (io500.org, *Rules*).

use super::Exported;
use model::foreign::{GivenRow, Measured};

const GIB: f64 = (1_u64 << 30) as f64;

/// The phases in the order in which IO500 runs them, and whether each counts as a bandwidth.
const PHASES: [(&str, bool); 12] = [
    ("ior-easy-write", true),
    ("mdtest-easy-write", false),
    ("ior-hard-write", true),
    ("mdtest-hard-write", false),
    ("find", false),
    ("ior-easy-read", true),
    ("mdtest-easy-stat", false),
    ("ior-hard-read", true),
    ("mdtest-hard-stat", false),
    ("mdtest-easy-delete", false),
    ("mdtest-hard-read", false),
    ("mdtest-hard-delete", false),
];

/// The rows as a summary.
pub fn text(exported: Exported<'_>) -> Result<String, &'static str> {
    let mut text = format!("IO500 version plimsoll-{} (no submission)\n", exported.version);
    let (mut bandwidths, mut rates): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for (name, is_bandwidth) in PHASES {
        let Some(row) = exported.rows.iter().find(|row| is_phase(row, name)) else { continue };
        let value = match is_bandwidth {
            true => row.overall(Measured::Bandwidth).map(|value| value / GIB),
            false => row.overall(Measured::Rate).map(|value| value / 1e3),
        };
        let Some(value) = value else { continue };
        let unit = if is_bandwidth { "GiB/s" } else { "kIOPS" };
        let time = row.overall(Measured::Time).map(|ns| ns / 1e9);
        let time = time.map_or_else(String::new, |time| format!(" : time {time:.3} seconds"));
        text.push_str(&format!("[RESULT] {name:>20} {value:>15.6} {unit}{time}\n"));
        if is_bandwidth { bandwidths.push(value) } else { rates.push(value) }
    }
    if bandwidths.is_empty() && rates.is_empty() {
        return Err("no workload of it is called as a phase of IO500, such as ior-easy-write");
    }
    if bandwidths.len() + rates.len() == PHASES.len() {
        let (bandwidth, rate) = (mean(&bandwidths), mean(&rates));
        let total = (bandwidth * rate).sqrt();
        text.push_str(&format!(
            "[SCORE ] Bandwidth {bandwidth:.6} GiB/s : IOPS {rate:.6} kiops : TOTAL {total:.6}\n"
        ));
    }
    Ok(text)
}

/// Whether a row is of a phase: by its name, also behind the label of a scenario.
fn is_phase(row: &GivenRow, name: &str) -> bool {
    let workload = row.workload.rsplit(": ").next().unwrap_or_default();
    workload == name || workload.strip_prefix(name).is_some_and(|rest| rest.starts_with(" #1"))
}

/// The geometric mean.
fn mean(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().map(|value| value.max(f64::MIN_POSITIVE).ln()).sum();
    (sum / values.len() as f64).exp()
}
