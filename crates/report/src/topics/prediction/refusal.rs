//! Why nothing is fitted: what, where, and the remedy.

use super::{left_out_lines, parameter};
use crate::ground::words;
use crate::topics::ceiling;
use analysis::prediction::calibration::Refusal;
use analysis::prediction::choice::{NotParted, OtherCluster};
use analysis::prediction::load::{LeftOut, Measured};

/// Why no parameters are fitted to these rows.
pub fn refusal(why: &Refusal) -> String {
    let told = |row: &Measured| {
        format!("row {} ({}) at {} IOPS", row.number, row.name, words::iops(row.rate))
    };
    match why {
        Refusal::TooFewRows { rows } => format!(
            "{} to fit: a fit takes two rows at least; name more with --fit, or add a run",
            words::counted(*rows as u64, "row")
        ),
        Refusal::TooManyRows { rows, most } => format!(
            "{} to fit: a fit takes {most} at most, because its time grows with them; name fewer \
             with --fit",
            words::counted(*rows as u64, "row")
        ),
        Refusal::TooManyUnknowns { rows, unknowns } => {
            let names: Vec<&str> = unknowns.iter().map(|one| parameter(*one)).collect();
            format!(
                "{} cannot separate {} unknowns: {}; fit more rows, or give what is known in \
                 [software]",
                words::counted(*rows as u64, "row"),
                unknowns.len(),
                names.join(", ")
            )
        }
        Refusal::Contradiction { one, other } => format!(
            "{} and {} contradict each other: the load is the same; hold one of them out with \
             --hold",
            told(one),
            told(other)
        ),
        Refusal::AboveCeiling { row, layer, ceiling } => format!(
            "{} is above what the testbed's {} can carry, {} IOPS; the row is of another cluster, \
             or a fact of the testbed is wrong (`plimsoll ceiling`)",
            told(row),
            ceiling::layer(*layer),
            words::iops(*ceiling)
        ),
        Refusal::DoesNotFit { spread, row, predicted } => format!(
            "no parameters bring the rows together: they stray by {} on average, {} most, which \
             would be {} IOPS; hold rows out with --hold, or check the testbed",
            words::share(spread.exp_m1()),
            told(row),
            words::iops(*predicted)
        ),
    }
}

/// Nothing of a report or of runs is a row.
pub fn no_rows(source: &str, left_out: &[(String, LeftOut)]) -> String {
    let lines: Vec<String> =
        left_out_lines(left_out).iter().map(|line| format!("\n  {line}")).collect();
    format!(
        "{source} has no row to fit: a row is a measured rate of one load in a closed loop{}",
        lines.concat()
    )
}

/// Why the rows cannot be parted; `given` are the choices as they were typed.
pub fn not_parted(why: &NotParted, given: &[String], rows: &[Measured]) -> String {
    match why {
        NotParted::NoSuchRow(index) => {
            let given = given.get(*index).map_or("", String::as_str);
            let known: Vec<String> =
                rows.iter().map(|row| format!("\n  {} {}", row.number, row.name)).collect();
            format!(
                "no row is `{given}`; name rows by number or by a part of their name:{}",
                known.concat()
            )
        }
        NotParted::Both(name) => {
            format!("{name} is in --fit and in --hold; leave it out of one of them")
        }
    }
}

/// Why the runs are not of the testbed; `runs` are their files.
pub fn other_cluster(why: &OtherCluster, testbed: &str, runs: &[String]) -> String {
    let file = |run: &usize| runs.get(*run).map_or("", String::as_str);
    match why {
        OtherCluster::Simulated { run, cluster } => {
            format!("{} simulated {cluster}, not {testbed}; calibrate {cluster} with it", file(run))
        }
        OtherCluster::OtherHosts { run, first, hosts } => format!(
            "{} was loaded from {}, and {} from {}: no host is in both; give runs of one cluster",
            file(run),
            hosts.join(", "),
            file(&0),
            first.join(", ")
        ),
    }
}
