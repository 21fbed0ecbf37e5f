//! The parts of a host for machines: its devices, ports and cores in one interval, with the figures
//! that the tables of the terminal have.

use super::figures::{is_counted, is_stacked};
use super::table::{Panel, part_cells};
use model::CounterSample;
use model::counters::Entry;
use model::testbed::HostFacts;
use report::object;
use report::pens::json::Value;

/// The devices and network mounts of a host in the interval of `sample`, in the kernel's order
/// (`docs/reference/json.md`).
pub fn devices(sample: &CounterSample, facts: &HostFacts) -> Vec<Value> {
    each(sample, Panel::Devices, |entry, cells| {
        let [iops, bytes, time, write_iops, write_bytes, write_time, busy, queue] = cells else {
            return Value::Null;
        };
        object! {
            name: entry.name, layer: entry.layer.word(), stacked: is_stacked(&entry.name),
            counted: is_counted(entry, sample, facts),
            read: object! { iops, bytes_per_s: bytes, latency_ns: time },
            write: object! {
                iops: write_iops, bytes_per_s: write_bytes, latency_ns: write_time,
            },
            busy, queue,
        }
    })
}

pub fn ports(sample: &CounterSample, facts: &HostFacts) -> Vec<Value> {
    each(sample, Panel::Nics, |entry, cells| {
        let [bytes, packets, lost, sent_bytes, sent_packets, sent_lost] = cells else {
            return Value::Null;
        };
        object! {
            name: entry.name, layer: entry.layer.word(), counted: is_counted(entry, sample, facts),
            received: object! { bytes_per_s: bytes, packets_per_s: packets, lost },
            sent: object! {
                bytes_per_s: sent_bytes, packets_per_s: sent_packets, lost: sent_lost,
            },
        }
    })
}

pub fn cores(sample: &CounterSample) -> Vec<Value> {
    each(sample, Panel::Cores, |entry, cells| {
        let [busy, user, system, irq, iowait, steal, frequency] = cells else { return Value::Null };
        object! {
            name: entry.name, busy, user, system, irq, iowait,
            steal, frequency_hz: frequency,
        }
    })
}

/// What `told` makes of each part of a panel and its cells.
fn each(
    sample: &CounterSample,
    panel: Panel,
    told: impl Fn(&Entry, &[Option<f64>]) -> Value,
) -> Vec<Value> {
    let shown = sample.entries.iter().filter(|entry| panel.shows(entry.layer));
    shown.map(|entry| told(entry, &part_cells(panel, entry, sample))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::testing::{busy, entry, facts, sample};
    use model::counters::{Layer, Metric};

    #[test]
    fn parts_have_the_figures_of_the_terminal() {
        let sample = busy(0, 10);
        let devices = devices(&sample, &facts("n1"));
        assert!(devices.len() == 2 && devices[0]["name"] == "nvme0n1");
        assert_eq!(
            devices[0]["read"],
            object! { iops: 14_000.0, bytes_per_s: 14_000.0 * 4096.0, latency_ns: 250_000.0 }
        );
        assert!(devices[0]["busy"] == 0.5 && devices[0]["queue"] == 10.0);
        let ports = ports(&sample, &facts("n1"));
        assert_eq!(
            ports[0]["received"],
            object! { bytes_per_s: 10_485_760.0, packets_per_s: 8_000.0, lost: 10.0 }
        );
        assert_eq!(
            ports[0]["sent"]["lost"],
            Value::Null,
            "what the kernel does not tell is unknown"
        );
        let cores = cores(&sample);
        assert!(cores.len() == 2 && cores[0]["frequency_hz"] == 2.8e9);
        assert!(cores[1]["frequency_hz"].is_null());
        assert_eq!(cores[0]["steal"], 0.0);
    }

    #[test]
    fn those_that_are_counted_add_up_to_the_host() {
        let reads = |name| entry(Layer::Block, name, &[(Metric::Reads, 100)]);
        let sample = sample(0, 1_000_000_000, vec![reads("sda"), reads("dm-0"), reads("md0")]);
        let told = devices(&sample, &facts("n1"));
        let iops = |one: &Value| one["read"]["iops"].as_f64();
        let counted: f64 = told.iter().filter(|one| one["counted"] == true).filter_map(iops).sum();
        assert_eq!(Some(counted), crate::watch::figures::figures(&sample, &facts("n1")).read.iops);
        assert_eq!(
            told.iter().map(|one| one["stacked"] == true).collect::<Vec<_>>(),
            [false, true, true]
        );
    }
}
