//! What the hosts' kernels counted while stages ran, or while they were watched, under names like
//! those of node_exporter.

use super::family::{Family, Series};
use super::kind::Kind;
use super::out::Out;
use super::totals::Totals;
use super::value::Value;
use model::CounterSample;
use model::counters::{Layer, Metric};

struct KernelMetric {
    family: &'static str,
    layer: Layer,
    metric: Metric,
    /// A label that tells apart what stands in one family: key and value.
    fixed: Option<(&'static str, &'static str)>,
    help: &'static str,
}

const fn kernel_metric(
    family: &'static str,
    layer: Layer,
    metric: Metric,
    fixed: Option<(&'static str, &'static str)>,
    help: &'static str,
) -> KernelMetric {
    KernelMetric { family, layer, metric, fixed, help }
}

const CPU: &str = "plimsoll_host_cpu_seconds_total";
const CPU_HELP: &str =
    "CPU time of all logical CPUs together, while stages ran or the host was watched.";

const fn cpu(metric: Metric, mode: &'static str) -> KernelMetric {
    kernel_metric(CPU, Layer::Cpu, metric, Some(("mode", mode)), CPU_HELP)
}

/// What is told, families together.
const SHOWN: &[KernelMetric] = &[
    cpu(Metric::UserNs, "user"),
    cpu(Metric::NiceNs, "nice"),
    cpu(Metric::SystemNs, "system"),
    cpu(Metric::IdleNs, "idle"),
    cpu(Metric::IowaitNs, "iowait"),
    cpu(Metric::IrqNs, "irq"),
    cpu(Metric::SoftirqNs, "softirq"),
    cpu(Metric::StealNs, "steal"),
    kernel_metric(
        "plimsoll_host_context_switches_total",
        Layer::Host,
        Metric::ContextSwitches,
        None,
        "Switches between threads.",
    ),
    kernel_metric(
        "plimsoll_host_intr_total",
        Layer::Host,
        Metric::Interrupts,
        None,
        "Interrupts that were served.",
    ),
    kernel_metric(
        "plimsoll_host_procs_running",
        Layer::Host,
        Metric::Runnable,
        None,
        "Threads that run or could run.",
    ),
    kernel_metric(
        "plimsoll_host_procs_blocked",
        Layer::Host,
        Metric::Blocked,
        None,
        "Threads that wait for I/O and cannot be woken.",
    ),
    kernel_metric(
        "plimsoll_host_cpu_frequency_slowest_hertz",
        Layer::Clock,
        Metric::FrequencyHz,
        None,
        "The clock of the slowest logical CPU.",
    ),
    kernel_metric(
        "plimsoll_host_cpu_core_throttles_total",
        Layer::Clock,
        Metric::CoreThrottles,
        None,
        "How often heat slowed down cores, summed over logical CPUs.",
    ),
    kernel_metric(
        "plimsoll_host_cpu_package_throttles_total",
        Layer::Clock,
        Metric::PackageThrottles,
        None,
        "How often heat slowed down packages, summed over logical CPUs.",
    ),
    kernel_metric(
        "plimsoll_host_memory_free_bytes",
        Layer::Memory,
        Metric::FreeBytes,
        None,
        "Memory that nobody uses.",
    ),
    kernel_metric(
        "plimsoll_host_memory_available_bytes",
        Layer::Memory,
        Metric::AvailableBytes,
        None,
        "Memory that programs could still take.",
    ),
    kernel_metric(
        "plimsoll_host_memory_cached_bytes",
        Layer::Memory,
        Metric::CachedBytes,
        None,
        "The page cache.",
    ),
    kernel_metric(
        "plimsoll_host_memory_dirty_bytes",
        Layer::Memory,
        Metric::DirtyBytes,
        None,
        "Pages that wait to be written.",
    ),
    kernel_metric(
        "plimsoll_host_memory_writeback_bytes",
        Layer::Memory,
        Metric::WritebackBytes,
        None,
        "Pages on their way to a device.",
    ),
    kernel_metric(
        "plimsoll_host_pressure_waiting_seconds_total",
        Layer::Pressure,
        Metric::SomeNs,
        None,
        "Time in which some task waited for the resource.",
    ),
    kernel_metric(
        "plimsoll_host_pressure_stalled_seconds_total",
        Layer::Pressure,
        Metric::FullNs,
        None,
        "Time in which all tasks waited for the resource.",
    ),
    kernel_metric(
        "plimsoll_host_disk_reads_completed_total",
        Layer::Block,
        Metric::Reads,
        None,
        "Reads that completed.",
    ),
    kernel_metric(
        "plimsoll_host_disk_read_bytes_total",
        Layer::Block,
        Metric::ReadBytes,
        None,
        "Bytes that were read.",
    ),
    kernel_metric(
        "plimsoll_host_disk_read_time_seconds_total",
        Layer::Block,
        Metric::ReadNs,
        None,
        "The sum of the times that reads took.",
    ),
    kernel_metric(
        "plimsoll_host_disk_writes_completed_total",
        Layer::Block,
        Metric::Writes,
        None,
        "Writes that completed.",
    ),
    kernel_metric(
        "plimsoll_host_disk_written_bytes_total",
        Layer::Block,
        Metric::WriteBytes,
        None,
        "Bytes that were written.",
    ),
    kernel_metric(
        "plimsoll_host_disk_write_time_seconds_total",
        Layer::Block,
        Metric::WriteNs,
        None,
        "The sum of the times that writes took.",
    ),
    kernel_metric(
        "plimsoll_host_disk_io_now",
        Layer::Block,
        Metric::InFlight,
        None,
        "Requests that are outstanding.",
    ),
    kernel_metric(
        "plimsoll_host_disk_io_time_seconds_total",
        Layer::Block,
        Metric::BusyNs,
        None,
        "Time in which a request was outstanding.",
    ),
    kernel_metric(
        "plimsoll_host_disk_io_time_weighted_seconds_total",
        Layer::Block,
        Metric::QueueNs,
        None,
        "The sum of the times of all requests.",
    ),
    kernel_metric(
        "plimsoll_host_disk_discards_completed_total",
        Layer::Block,
        Metric::Discards,
        None,
        "Discards that completed.",
    ),
    kernel_metric(
        "plimsoll_host_disk_flush_requests_total",
        Layer::Block,
        Metric::Flushes,
        None,
        "Flushes that completed.",
    ),
    kernel_metric(
        "plimsoll_host_network_receive_bytes_total",
        Layer::Nic,
        Metric::ReceivedBytes,
        None,
        "Bytes that were received.",
    ),
    kernel_metric(
        "plimsoll_host_network_receive_packets_total",
        Layer::Nic,
        Metric::ReceivedPackets,
        None,
        "Packets that were received.",
    ),
    kernel_metric(
        "plimsoll_host_network_receive_errs_total",
        Layer::Nic,
        Metric::ReceiveErrors,
        None,
        "Packets that came with errors.",
    ),
    kernel_metric(
        "plimsoll_host_network_receive_drop_total",
        Layer::Nic,
        Metric::ReceiveDrops,
        None,
        "Packets that came and were dropped.",
    ),
    kernel_metric(
        "plimsoll_host_network_transmit_bytes_total",
        Layer::Nic,
        Metric::SentBytes,
        None,
        "Bytes that were sent.",
    ),
    kernel_metric(
        "plimsoll_host_network_transmit_packets_total",
        Layer::Nic,
        Metric::SentPackets,
        None,
        "Packets that were sent.",
    ),
    kernel_metric(
        "plimsoll_host_network_transmit_errs_total",
        Layer::Nic,
        Metric::SendErrors,
        None,
        "Packets that could not be sent.",
    ),
    kernel_metric(
        "plimsoll_host_network_transmit_drop_total",
        Layer::Nic,
        Metric::SendDrops,
        None,
        "Packets that were dropped instead of sent.",
    ),
    kernel_metric(
        "plimsoll_host_infiniband_port_data_received_bytes_total",
        Layer::Rdma,
        Metric::ReceivedBytes,
        None,
        "Bytes that a port received.",
    ),
    kernel_metric(
        "plimsoll_host_infiniband_port_data_transmitted_bytes_total",
        Layer::Rdma,
        Metric::SentBytes,
        None,
        "Bytes that a port sent.",
    ),
    kernel_metric(
        "plimsoll_host_rdma_receive_packets_total",
        Layer::Rdma,
        Metric::ReceivedPackets,
        None,
        "Packets that RDMA ports received.",
    ),
    kernel_metric(
        "plimsoll_host_rdma_transmit_packets_total",
        Layer::Rdma,
        Metric::SentPackets,
        None,
        "Packets that RDMA ports sent.",
    ),
    kernel_metric(
        "plimsoll_host_rdma_receive_errs_total",
        Layer::Rdma,
        Metric::ReceiveErrors,
        None,
        "Packets that came to RDMA ports with errors.",
    ),
    kernel_metric(
        "plimsoll_host_rdma_transmit_drop_total",
        Layer::Rdma,
        Metric::SendDrops,
        None,
        "Packets that RDMA ports dropped instead of sent.",
    ),
    kernel_metric(
        "plimsoll_host_nfs_requests_total",
        Layer::Nfs,
        Metric::Calls,
        None,
        "Requests to NFS servers.",
    ),
    kernel_metric(
        "plimsoll_host_nfs_retransmissions_total",
        Layer::Nfs,
        Metric::Retransmissions,
        None,
        "Requests to NFS servers that were sent once more.",
    ),
    kernel_metric(
        "plimsoll_host_nfs_timeouts_total",
        Layer::Nfs,
        Metric::Timeouts,
        None,
        "Requests that NFS servers did not answer in time.",
    ),
    kernel_metric(
        "plimsoll_host_nfs_read_requests_total",
        Layer::Nfs,
        Metric::Reads,
        None,
        "Reads that NFS servers answered.",
    ),
    kernel_metric(
        "plimsoll_host_nfs_read_bytes_total",
        Layer::Nfs,
        Metric::ReadBytes,
        None,
        "Bytes that came from NFS servers.",
    ),
    kernel_metric(
        "plimsoll_host_nfs_write_requests_total",
        Layer::Nfs,
        Metric::Writes,
        None,
        "Writes that NFS servers answered.",
    ),
    kernel_metric(
        "plimsoll_host_nfs_written_bytes_total",
        Layer::Nfs,
        Metric::WriteBytes,
        None,
        "Bytes that went to NFS servers.",
    ),
    kernel_metric(
        "plimsoll_host_nfs_read_time_seconds_total",
        Layer::Nfs,
        Metric::ReadNs,
        None,
        "The sum of the times that reads took, queues included.",
    ),
    kernel_metric(
        "plimsoll_host_nfs_write_time_seconds_total",
        Layer::Nfs,
        Metric::WriteNs,
        None,
        "The sum of the times that writes took, queues included.",
    ),
    kernel_metric(
        "plimsoll_host_smb_requests_total",
        Layer::Smb,
        Metric::Calls,
        None,
        "Requests to SMB servers.",
    ),
    kernel_metric(
        "plimsoll_host_smb_read_requests_total",
        Layer::Smb,
        Metric::Reads,
        None,
        "Reads that SMB servers answered.",
    ),
    kernel_metric(
        "plimsoll_host_smb_read_bytes_total",
        Layer::Smb,
        Metric::ReadBytes,
        None,
        "Bytes that came from SMB servers.",
    ),
    kernel_metric(
        "plimsoll_host_smb_write_requests_total",
        Layer::Smb,
        Metric::Writes,
        None,
        "Writes that SMB servers answered.",
    ),
    kernel_metric(
        "plimsoll_host_smb_written_bytes_total",
        Layer::Smb,
        Metric::WriteBytes,
        None,
        "Bytes that went to SMB servers.",
    ),
];

fn label(layer: Layer) -> Option<&'static str> {
    match layer {
        Layer::Block | Layer::Nic | Layer::Rdma => Some("device"),
        Layer::Pressure => Some("resource"),
        Layer::Nfs => Some("mountpoint"),
        Layer::Smb => Some("share"),
        _ => None,
    }
}

/// Whether a host has so many things of a layer that those of many hosts are told to who asks for
/// them only.
fn is_detail(layer: Layer) -> bool {
    matches!(layer, Layer::Block | Layer::Nic | Layer::Rdma | Layer::Nfs | Layer::Smb)
}

/// The families of this file.
pub fn names() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<&'static str> = SHOWN.iter().map(|shown| shown.family).collect();
    names.dedup();
    names.into_iter()
}

/// Totals since the run began, and states as they last were. A copy is cheap: it shares them until
/// one of the two changes them.
#[derive(Clone, Debug)]
pub struct Kernel {
    totals: Totals,
}

impl Default for Kernel {
    fn default() -> Kernel {
        let of = |layer: &Layer| {
            let shown = SHOWN.iter().filter(|shown| shown.layer == *layer);
            (*layer, shown.map(|shown| shown.metric).collect::<Vec<Metric>>())
        };
        let columns =
            Layer::ALL.iter().map(of).filter(|(_, metrics)| !metrics.is_empty()).collect();
        Kernel { totals: Totals::new(columns, |layer| label(layer).is_none()) }
    }
}

impl Kernel {
    /// Adds a sample.
    pub fn add(&mut self, sample: &CounterSample) {
        self.totals.add(sample);
    }

    /// A host is gone: its totals stay, and what its states were says nothing of now.
    pub fn lost(&mut self, host: u32) {
        self.totals.lost(host);
    }

    /// Writes the families behind `out`; those of each device, port, mount and share if it
    /// `is_whole`.
    pub fn render(&self, series: Series<'_>, out: &mut Out, names: &[String], is_whole: bool) {
        let mut family: Option<Family<'_>> = None;
        let mut last = "";
        for shown in SHOWN.iter().filter(|shown| is_whole || !is_detail(shown.layer)) {
            if shown.family != last {
                family.take().into_iter().for_each(|over| out.put(over));
                last = shown.family;
            }
            let kind = if shown.metric.is_gauge() { Kind::Gauge } else { Kind::Counter };
            let open =
                family.get_or_insert_with(|| Family::new(series, kind, shown.family, shown.help));
            for (host, name, value) in self.totals.of(shown.layer, shown.metric) {
                let host = names.get(host as usize).map_or("", String::as_str);
                let mut labels = vec![("host", host)];
                labels.extend(label(shown.layer).map(|key| (key, name)));
                labels.extend(shown.fixed);
                let is_time = shown.family.ends_with("_seconds_total");
                open.add(&labels, if is_time { Value::Time(value) } else { Value::Whole(value) });
            }
        }
        family.into_iter().for_each(|over| out.put(over));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::metrics::form::Form;
    use crate::web::metrics::totals::MOST_METRICS;
    use model::counters::Entry;

    #[test]
    fn names_follow_the_conventions_and_families_stand_together() {
        for shown in SHOWN {
            assert_eq!(
                shown.family.ends_with("_total"),
                !shown.metric.is_gauge(),
                "{}",
                shown.family
            );
            let unit = |end: &str| shown.family.contains(end);
            assert_eq!(shown.metric.word().ends_with("_ns"), unit("_seconds"), "{}", shown.family);
            assert_eq!(shown.metric.word().ends_with("_bytes"), unit("_bytes"), "{}", shown.family);
        }
        for layer in Layer::ALL {
            let metrics: Vec<&str> = SHOWN
                .iter()
                .filter(|shown| shown.layer == *layer)
                .map(|shown| shown.metric.word())
                .collect();
            let unique: std::collections::BTreeSet<&str> = metrics.iter().copied().collect();
            assert!(
                metrics.len() <= MOST_METRICS && unique.len() == metrics.len(),
                "{layer}: {metrics:?}"
            );
        }
        let all: Vec<&str> = names().collect();
        let unique: std::collections::BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!(
            unique.len(),
            all.len(),
            "a family in two places is one too many for who scrapes"
        );
    }

    #[test]
    fn sums_grow_over_samples_and_cpus_and_states_are_the_last() {
        let entry = |layer, name: &str, metric, value| Entry {
            layer,
            name: name.to_owned(),
            values: vec![(metric, value)],
        };
        let sample = |host, free| CounterSample {
            host,
            entries: vec![
                entry(Layer::Cpu, "0", Metric::UserNs, 1_500_000_000),
                entry(Layer::Cpu, "1", Metric::UserNs, 500_000_000),
                entry(Layer::Memory, "", Metric::FreeBytes, free),
                entry(Layer::Nic, "eth0", Metric::SentBytes, 10),
                entry(Layer::Thread, "77", Metric::RunNs, 1),
                entry(Layer::Clock, "0", Metric::FrequencyHz, 3_000_000_000),
                entry(Layer::Clock, "1", Metric::FrequencyHz, 800_000_000 + free),
                entry(Layer::Clock, "1", Metric::CoreThrottles, 2),
                entry(Layer::Smb, "\\\\server\\share", Metric::WriteBytes, 4096),
            ],
            ..CounterSample::default()
        };
        let mut kernel = Kernel::default();
        [sample(0, 5), sample(0, 3), sample(1, 9)].iter().for_each(|sample| kernel.add(sample));
        let mut out = Out::default();
        let series = Series { form: Some(Form::Text), run: "r" };
        kernel.render(series, &mut out, &["a".to_owned(), "b".to_owned()], true);
        let out = String::from_utf8(out.bytes).expect("text");
        for line in [
            "plimsoll_host_cpu_seconds_total{run=\"r\",host=\"a\",mode=\"user\"} 4\n",
            "plimsoll_host_cpu_seconds_total{run=\"r\",host=\"b\",mode=\"user\"} 2\n",
            "plimsoll_host_memory_free_bytes{run=\"r\",host=\"a\"} 3\n",
            "plimsoll_host_network_transmit_bytes_total{run=\"r\",host=\"a\",device=\"eth0\"} 20\n",
            "plimsoll_host_cpu_frequency_slowest_hertz{run=\"r\",host=\"a\"} 800000003\n",
            "plimsoll_host_cpu_core_throttles_total{run=\"r\",host=\"a\"} 4\n",
            "plimsoll_host_smb_written_bytes_total{run=\"r\",host=\"b\",share=\"\\\\\\\\server\\\\\
             share\"} 4096\n",
        ] {
            assert!(out.contains(line), "{line}{out}");
        }
        assert!(
            !out.contains("77")
                && out.matches("# TYPE plimsoll_host_cpu_seconds_total ").count() == 1,
            "{out}"
        );
    }
}
