//! What the hosts' CPUs did on both sides of a comparison.

use super::{percent, sides};
use crate::ground::words;
use crate::topics::host_cpu::{time, title};
use analysis::ResultRow;
use analysis::compare::{Against, Comparison};
use analysis::host_cpu::{HostCpu, host_cpu};
use model::Record;

/// More points than this are no list any more.
const MOST_POINTS: usize = 24;

/// What the hosts' CPUs did on both sides of each comparison, for the terminal; empty where nobody
/// counted. `results` are those of `records`.
pub fn table(
    comparison: &Comparison,
    records: &[&Record],
    results: &[Vec<ResultRow>],
    names: &[String],
) -> String {
    let lines =
        comparison.others.iter().flat_map(|other| differences(other, records, results, names));
    let lines = words::items(lines);
    if lines.is_empty() { lines } else { format!("CPU of the hosts\n{lines}") }
}

/// What the hosts' CPUs did on both sides of a comparison, a sentence for each point that both
/// have; empty where one of them counted nothing.
pub(super) fn differences(
    against: &Against,
    records: &[&Record],
    results: &[Vec<ResultRow>],
    names: &[String],
) -> Vec<String> {
    let of = |run: usize, scenario: Option<&String>| -> Vec<HostCpu> {
        let Some((record, rows)) = records.get(run).zip(results.get(run)) else {
            return Vec::new();
        };
        let mut all = host_cpu(record, rows);
        all.retain(|one| scenario.is_none_or(|wanted| one.scenario == *wanted));
        all
    };
    let (base, other) = match &against.scenarios {
        Some((base, other)) => (of(0, Some(base)), of(0, Some(other))),
        None => (of(0, None), of(against.run, None)),
    };
    let is_within = against.scenarios.is_some();
    let is_one = |one: &HostCpu, other: &HostCpu| {
        let others = |cpu: &'_ HostCpu| -> Vec<model::Setting> {
            let is_kept = |setting: &&model::Setting| {
                !is_within || setting.axis() != model::plan::names::SCENARIO_AXIS
            };
            cpu.sweep.iter().filter(is_kept).cloned().collect()
        };
        one.workloads == other.workloads
            && others(one) == others(other)
            && one.repetition == other.repetition
            && (is_within || one.scenario == other.scenario)
    };
    let (a, b) = sides(against, names);
    let line = |one: &HostCpu, other: &HostCpu| {
        let change = percent((other.per_request_ns() / one.per_request_ns() - 1.0) * 100.0);
        format!(
            "{}: CPUs of the hosts busy by {} ({a}) and {} ({b}); {} and {} for each request \
             ({change}, without an interval){}.",
            title(other),
            words::share(one.share()),
            words::share(other.share()),
            time(one.per_request_ns()),
            time(other.per_request_ns()),
            apart(one, other),
        )
    };
    let paired = base.iter().filter_map(|one| {
        let other = other.iter().find(|other| is_one(one, other))?;
        (one.per_request_ns() > 0.0).then(|| line(one, other))
    });
    paired.take(MOST_POINTS).collect()
}

/// `: client 4 µs and 5 µs, servers …`; nothing where one side did not count programs.
fn apart(one: &HostCpu, other: &HostCpu) -> String {
    let pair = |of: fn(&HostCpu) -> Option<f64>| of(one).zip(of(other));
    let (Some(servers), Some(threads)) =
        (pair(HostCpu::servers_ns), pair(HostCpu::kernel_threads_ns))
    else {
        return String::new();
    };
    let parts = [
        ("client", (one.client_ns(), other.client_ns())),
        ("servers", servers),
        ("kernel threads", threads),
        ("all else", (one.rest_ns(), other.rest_ns())),
    ];
    let parts = parts.map(|(name, (a, b))| format!("{name} {} and {}", time(a), time(b)));
    format!(": {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::has;
    use crate::topics::host_cpu::tests::counted;
    use analysis::compare::compare;

    #[test]
    fn two_runs_have_the_difference_of_their_hosts_cpus() {
        let records = [counted(200), counted(300)];
        let results: Vec<Vec<ResultRow>> = records.iter().map(analysis::results).collect();
        let records: Vec<&Record> = records.iter().collect();
        let compared = compare(&records);
        let said = table(&compared, &records, &results, &[]);
        assert!(said.starts_with("CPU of the hosts\n- w: "), "{said}");
        has(&said, &["20 % (Run 1) and 30 % (Run 2)", "+50.0 %, without an interval"]);
    }
}
