//! What a canary tells beside its load.

use super::family::{Family, Series};
use super::kind::Kind;
use super::out::Out;
use super::value::Value;
use report::topics::canary::{Metric, MetricKind};

/// Writes the families behind `out`.
pub fn render(metrics: &[Metric], series: Series<'_>, out: &mut Out) {
    for metric in metrics {
        let kind = match metric.kind {
            MetricKind::Counter => Kind::Counter,
            MetricKind::Gauge => Kind::Gauge,
        };
        let mut family = Family::new(series, kind, metric.name, metric.help).older();
        for (label, value) in &metric.samples {
            let label = label.as_ref().map(|[key, text]| (key.as_str(), text.as_str()));
            family.add(label.as_slice(), Value::Ratio(*value));
        }
        out.put(family);
    }
}
