//! Where there is no screen: a line, or a JSON object, for each host and interval.

use super::figures::{Figures, Side, figures};
use super::format::{Unit, harmless};
use super::parts;
use model::testbed::HostFacts;
use model::{CounterSample, Occurrence};
use report::pens::json::Value;
use report::{object, topics};

/// A host in an interval, for a log.
pub fn line(host: &str, figures: &Figures) -> String {
    let side = |name: &str, side: &Side| {
        format!(
            "{name} {:>5} IOPS {:>6} MiB/s {:>6}",
            Unit::Rate.text(side.iops),
            Unit::Bandwidth.text(side.bytes_per_s),
            Unit::Time.text(side.latency_ns)
        )
    };
    format!(
        "{:16}  {}  {}  CPU {:>4}  net in {:>6} MiB/s  out {:>6} MiB/s",
        harmless(host),
        side("read", &figures.read),
        side("write", &figures.write),
        Unit::Share.text(figures.cpu_share),
        Unit::Bandwidth.text(figures.received_bytes_per_s),
        Unit::Bandwidth.text(figures.sent_bytes_per_s)
    )
}

/// The same for machines (`docs/reference/json.md`), with every device and port, and every core if
/// `with_cores`. `unix_ns` is the wall clock at the interval's end.
pub fn object(host: &HostFacts, unix_ns: u64, sample: &CounterSample, with_cores: bool) -> Value {
    let mut object = summary(&host.hostname, unix_ns, sample.length_ns, &figures(sample, host));
    object["devices"] = Value::Array(parts::devices(sample, host));
    object["ports"] = Value::Array(parts::ports(sample, host));
    if with_cores {
        object["cores"] = Value::Array(parts::cores(sample));
    }
    object
}

fn summary(host: &str, unix_ns: u64, length_ns: u64, figures: &Figures) -> Value {
    let side = |side: &Side| {
        object! { ..side { iops, bytes_per_s, latency_ns } }
    };
    object! {
        host, unix_ns, interval_ns: length_ns, read: side(&figures.read),
        write: side(&figures.write), cpu: figures.cpu_share,
        network: object! { ..figures { received_bytes_per_s, sent_bytes_per_s } },
    }
}

/// That a host is gone.
pub fn lost_line(host: &str, why: &str) -> String {
    format!("{:16}  lost: {}", harmless(host), harmless(why))
}

/// The same for machines.
pub fn lost_object(host: &str, unix_ns: u64, why: &str) -> Value {
    object! { host, unix_ns, lost: why }
}

/// That a host tells again.
pub fn returned_line(host: &str) -> String {
    format!("{:16}  back", harmless(host))
}

/// The same for machines.
pub fn returned_object(host: &str, unix_ns: u64) -> Value {
    object! { host, unix_ns, returned: true }
}

/// What was found on a host.
pub fn found_line(host: &str, found: &Occurrence) -> String {
    format!("{:16}  {}", harmless(host), harmless(&topics::occurrences::line_of(found, "")))
}

/// The same for machines.
pub fn found_object(host: &str, found: &Occurrence) -> Value {
    object! { host, found: found.kind.word(), ..found { unix_ns, label } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::testing::{busy, facts};

    #[test]
    fn a_line_says_what_is_known() {
        let known = figures(&busy(0, 10), &facts("n1"));
        let lines = [
            line("n1", &known),
            line("n\u{1b}2", &Figures::default()),
            lost_line("n3", "its\nend"),
        ];
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn json_has_null_where_nothing_is_known() {
        let known = object(&facts("n1"), 5, &busy(0, 10), false);
        assert_eq!(known["read"]["iops"], 21_000.0);
        assert_eq!(known["write"]["latency_ns"], 1_250_000.0);
        let lengths = |object: &Value| {
            ["devices", "ports", "cores"].map(|key| object[key].as_array().map(Vec::len))
        };
        assert_eq!(lengths(&known), [Some(2), Some(1), None]);
        assert_eq!(
            lengths(&object(&facts("n1"), 5, &busy(0, 10), true)),
            [Some(2), Some(1), Some(2)]
        );
        let unknown = object(
            &facts("n\u{1b}2"),
            5,
            &CounterSample { length_ns: 7, ..CounterSample::default() },
            false,
        );
        assert!(unknown["cpu"].is_null() && unknown["read"]["iops"].is_null());
        assert!(!unknown.to_string().contains('\u{1b}'));
        assert_eq!(
            lost_object("n1", 5, "gone").to_string(),
            r#"{"host":"n1","lost":"gone","unix_ns":5}"#
        );
    }

    #[test]
    fn what_was_found_is_told_with_its_kind() {
        let label = "nvme0: I/O 5 timeout";
        let found =
            Occurrence { unix_ns: 7, ..Occurrence::new(model::OccurrenceKind::KernelLog, label) };
        assert_eq!(found_line("n1", &found), "n1                kernel log: nvme0: I/O 5 timeout");
        let object = found_object("n1", &found).to_string();
        assert_eq!(
            object,
            r#"{"found":"kernel-log","host":"n1","label":"nvme0: I/O 5 timeout","unix_ns":7}"#
        );
    }
}
