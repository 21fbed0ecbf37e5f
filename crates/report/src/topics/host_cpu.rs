//! CPU time of the hosts for each request, of clients, servers and the kernel's threads apart.

use crate::ground::markup::{Markup, not_shown, under};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::Value;
use analysis::ResultRow;
use analysis::host_cpu::{HostCpu, host_cpu};
use model::Record;
use model::plan::names::SCENARIO_AXIS;

/// More points than this are folded away: the table of layers has them.
const MOST_POINTS: usize = 24;

fn table<'a>(all: impl IntoIterator<Item = &'a HostCpu>) -> Table<&'a HostCpu> {
    let busy = |one: &HostCpu| {
        format!("{:.1} of {:.0} ({})", one.busy, one.cpus, words::share(one.share()))
    };
    Table::of(all)
        .name("Point", title)
        .class("wraps")
        .figure("CPUs busy", busy)
        .field("cpus", |one| one.cpus)
        .field("busy", |one| one.busy)
        .known("per_request_ns", "For each request", HostCpu::per_request_ns, time)
        .known("client_ns", "Client", HostCpu::client_ns, time)
        .known("servers_ns", "Servers", HostCpu::servers_ns, time)
        .known("kernel_threads_ns", "Kernel threads", HostCpu::kernel_threads_ns, time)
        .known("rest_ns", "All else", HostCpu::rest_ns, time)
        .caption(
            "CPU time of all hosts that load ÷ requests. Client: the load generator, and file \
             systems in user space. Servers are those of storage on these hosts, by their names. \
             All else: interrupts and other programs, and what nobody counted apart. Servers \
             elsewhere are not in it.",
        )
}

pub(crate) fn section(record: &Record, rows: &[ResultRow]) -> Markup {
    let all = host_cpu(record, rows);
    if all.is_empty() {
        return Markup::new();
    }
    let table = table(all.iter().take(MOST_POINTS)).scroll();
    under("CPU for each request", [table, not_shown(all.len(), MOST_POINTS, "points")])
}

/// The part of a terminal's table, of runs with scenarios: these are there to be compared. Nothing
/// where no kernel counted.
pub(crate) fn text(record: &Record, rows: &[ResultRow]) -> String {
    let is_of_scenario =
        |one: &HostCpu| one.sweep.iter().any(|setting| setting.axis() == SCENARIO_AXIS);
    let all: Vec<HostCpu> = host_cpu(record, rows).into_iter().filter(is_of_scenario).collect();
    let line = |one: &HostCpu| format!("{}: {}", title(one), parts(one));
    words::titled("CPU for each request", all.iter().take(MOST_POINTS).map(line))
}

/// `12 µs for each request: client 4 µs, servers 1 µs, kernel threads 2 µs, all else 5 µs`.
pub(super) fn parts(one: &HostCpu) -> String {
    let apart = [("servers", one.servers_ns()), ("kernel threads", one.kernel_threads_ns())];
    let apart: String = apart
        .into_iter()
        .filter_map(|(name, ns)| Some(format!(", {name} {}", time(ns?))))
        .collect();
    format!(
        "{} for each request: client {}{apart}, all else {}",
        time(one.per_request_ns()),
        time(one.client_ns()),
        time(one.rest_ns())
    )
}

/// The same of the point of each row, for machines; `None` where no kernel counted.
pub(crate) fn object(all: &[HostCpu], row: &ResultRow) -> Option<Value> {
    let one = all.iter().find(|one| one.point == row.point)?;
    Some(table([one]).object())
}

pub(super) fn title(one: &HostCpu) -> String {
    words::with_sweep(&one.workloads.join(" + "), &one.sweep, one.repetition)
}

pub(super) fn time(ns: f64) -> String {
    words::latency(Some(ns.round().max(0.0) as u64))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W, has};
    use analysis::host_cpu::Programs;
    use model::counters::{Entry, Layer, Metric};
    use model::{Op, StageKind};

    /// Four seconds of 50 reads, while the CPU was busy for so many ms of each.
    pub(in crate::topics) fn counted(busy_ms: u64) -> Record {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\nread = \"100%\"\n");
        let stage = recorded.stage(StageKind::Measure);
        recorded.load(0..4, &[(Op::Read, &[1_000; 50])]);
        recorded.end();
        for number in 0..4 {
            let busy = busy_ms * 1_000_000;
            let values = vec![(Metric::UserNs, busy), (Metric::IdleNs, 1_000_000_000 - busy)];
            let entry = Entry { layer: Layer::Cpu, name: "0".into(), values };
            recorded.counters(stage, 0, number, vec![entry]);
        }
        recorded.record()
    }

    #[test]
    fn the_page_has_the_time_of_a_request() {
        let record = counted(200);
        let page = section(&record, &analysis::results(&record)).into_string();
        has(&page, &["CPU for each request", "20 %", "Kernel threads", "Servers"]);
        let rows = analysis::results(&record);
        let all = host_cpu(&record, &rows);
        let value = object(&all, &rows[0]).expect("counted");
        assert_eq!(value["servers_ns"], Value::Null, "nobody counted programs");
        assert!(value["per_request_ns"].as_f64().expect("a number") > 0.0);
        assert_eq!(text(&record, &rows), "", "no scenarios");
        let programs = Some(Programs { clients: 0.0, servers: 0.004, kernel_threads: 0.002 });
        let counted = HostCpu { programs, ..all[0].clone() };
        let said = parts(&counted);
        assert!(said.contains(", servers 80 µs, kernel threads 40 µs, all else"), "{said}");
    }

    #[test]
    fn nothing_is_said_where_no_kernel_counted() {
        let mut recorded = Recorded::new(W);
        let record = recorded.end();
        assert_eq!(section(&record, &analysis::results(&record)), Markup::new());
    }
}
