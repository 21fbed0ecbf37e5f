//! Families of metrics, written in either form, or kept as values.

use super::form::Form;
use super::kind::Kind;
use super::told::{Amount, Finished, Point, Told, owned};
use super::value::{Durations, Value};
use super::{protobuf, text};

#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    /// In which form they are written; `None` where they are kept as values.
    pub form: Option<Form>,
    /// The run that every metric is of, as its label `run`: two coordinators may count the same
    /// hosts, and nobody is to add them up.
    pub run: &'a str,
}

/// One family: its help, its type, its metrics. A family without a metric is left out.
#[derive(Debug)]
pub struct Family<'a> {
    series: Series<'a>,
    name: &'static str,
    help: &'static str,
    kind: Kind,
    is_new: bool,
    metrics: Vec<u8>,
    points: Vec<Point>,
}

impl<'a> Family<'a> {
    pub fn new(
        series: Series<'a>,
        kind: Kind,
        name: &'static str,
        help: &'static str,
    ) -> Family<'a> {
        let (metrics, points) = (Vec::new(), Vec::new());
        Family { series, name, help, kind, is_new: true, metrics, points }
    }

    pub fn older(self) -> Family<'a> {
        Family { is_new: false, ..self }
    }

    pub fn add(&mut self, labels: &[(&str, &str)], value: Value) {
        let labels = self.labels(labels);
        match self.series.form {
            None => self.keep(&labels, Amount::Value(value)),
            Some(Form::Text) => self.line("", &labels, &value.text()),
            Some(Form::Protobuf) => {
                self.metrics.extend(protobuf::number(&labels, self.kind, value.number()));
            }
        }
    }

    pub fn add_durations(&mut self, labels: &[(&str, &str)], durations: &Durations<'_>) {
        let Durations { at_most, count, sum_ns, native } = *durations;
        let labels: &[(&str, &str)] = &self.labels(labels);
        match self.series.form {
            None => self.keep(labels, Amount::Durations { sum_ns, native: native.clone() }),
            Some(Form::Text) => {
                for (edge_ns, count) in at_most {
                    let edge = text::seconds(u128::from(*edge_ns));
                    self.line("_bucket", &[labels, &[("le", &edge)]].concat(), &count.to_string());
                }
                self.line("_bucket", &[labels, &[("le", "+Inf")]].concat(), &count.to_string());
                self.line("_sum", labels, &text::seconds(sum_ns));
                self.line("_count", labels, &count.to_string());
            }
            Some(Form::Protobuf) => {
                let at_most: Vec<(f64, u64)> = at_most
                    .iter()
                    .map(|(edge_ns, count)| (*edge_ns as f64 / 1e9, *count))
                    .collect();
                let sum_s = Value::Time(sum_ns).number();
                let histogram =
                    protobuf::Histogram { count: native.count(), sum_s, at_most: &at_most, native };
                self.metrics.extend(protobuf::histogram(labels, &histogram));
            }
        }
    }

    fn labels<'l>(&self, labels: &[(&'l str, &'l str)]) -> Vec<(&'l str, &'l str)>
    where
        'a: 'l,
    {
        std::iter::once(("run", self.series.run)).chain(labels.iter().copied()).collect()
    }

    fn keep(&mut self, labels: &[(&str, &str)], amount: Amount) {
        self.points.push(Point { labels: owned(labels), amount });
    }

    fn line(&mut self, suffix: &str, labels: &[(&str, &str)], value: &str) {
        self.metrics.extend_from_slice(text::line(self.name, suffix, labels, value).as_bytes());
    }

    pub fn finish(self) -> Finished {
        let Family { series, name, help, kind, is_new, metrics, points } = self;
        let Some(form) = series.form else {
            return Finished::Told(Told { name, help, kind, is_new, points });
        };
        Finished::Bytes(match form {
            _ if metrics.is_empty() => Vec::new(),
            Form::Text => [text::head(name, help, kind.word()).as_bytes(), &metrics].concat(),
            Form::Protobuf => protobuf::family(name, help, kind, &metrics),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::metrics::out::Out;

    #[test]
    fn a_family_without_a_metric_is_nothing() {
        for form in [Form::Text, Form::Protobuf] {
            assert_eq!(
                Family::new(Series { form: Some(form), run: "r" }, Kind::Counter, "a_total", "b")
                    .finish(),
                Finished::Bytes(Vec::new()),
                "{form:?}"
            );
        }
    }

    #[test]
    fn times_are_told_in_seconds_in_both_forms() {
        let told = |form| {
            let series = Series { form: Some(form), run: "r" };
            let mut out = Out::default();
            let mut family = Family::new(series, Kind::Gauge, "a_seconds", "b");
            family.add(&[], Value::Time(1_500_000_000));
            out.put(family);
            out.bytes
        };
        assert_eq!(
            told(Form::Text),
            b"# HELP a_seconds b\n# TYPE a_seconds gauge\na_seconds{run=\"r\"} 1.5\n"
        );
        assert!(told(Form::Protobuf).ends_with(&1.5_f64.to_le_bytes()));
    }
}
