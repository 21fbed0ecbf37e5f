//! What the hosts' kernels counted while stages ran, or while they were watched, under names like
//! those of node_exporter.

use super::family::{Family, Series};
use super::kind::Kind;
use super::out::Out;
use super::totals::Totals;
use super::value::Value;
use model::CounterSample;
use model::counters::{Layer, Metric};
use std::sync::LazyLock;

struct KernelMetric {
    family: &'static str,
    layer: Layer,
    metric: Metric,
    /// A label that tells apart what stands in one family: key and value.
    fixed: Option<(&'static str, &'static str)>,
    help: &'static str,
}

/// What is told, families together: `kernel.txt` has a row of each, of the family, the words of
/// layer and counter, a fixed label or none, and the help.
static SHOWN: LazyLock<Vec<KernelMetric>> =
    LazyLock::new(|| include_str!("kernel.txt").lines().filter_map(KernelMetric::of).collect());

impl KernelMetric {
    fn of(row: &'static str) -> Option<KernelMetric> {
        let (family, rest) = row.split_once(' ')?;
        let (layer, rest) = rest.split_once(' ')?;
        let (metric, rest) = rest.split_once(' ')?;
        let fixed =
            rest.split_once(' ').and_then(|(label, help)| Some((label.split_once('=')?, help)));
        let (fixed, help) = fixed.map_or((None, rest), |(label, help)| (Some(label), help));
        let layer = *Layer::ALL.iter().find(|known| known.word() == layer)?;
        let metric = *Metric::ALL.iter().find(|known| known.word() == metric)?;
        Some(KernelMetric { family, layer, metric, fixed, help })
    }
}

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
        assert_eq!(SHOWN.len(), include_str!("kernel.txt").lines().count());
        for shown in SHOWN.iter() {
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
