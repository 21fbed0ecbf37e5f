//! What an event itself read and wrote, beside the hosts' requests and together with them: lines
//! behind the events of a terminal, and a table of the page.

use crate::ground::markup::{Markup, classed, element, plain};
use crate::ground::words;
use analysis::event_io::{EventTraffic, event_traffic};
use model::note::{CountedBy, EventIo};
use model::{Nanos, Record};
use serde_json::{Value, json};

/// Who counted, for people.
fn by(io: &EventIo) -> &'static str {
    match io.by {
        CountedBy::Simulation => "counted by the simulation",
        CountedBy::Nodes { .. } => "counted at the nodes' disks",
    }
}

/// To a millisecond.
fn rough(time: Nanos) -> Nanos {
    Nanos(time.0 / 1_000_000 * 1_000_000)
}

/// What the note of an event's I/O says.
pub(super) fn sentence(io: &EventIo) -> String {
    let requests = match io.reads.zip(io.writes) {
        Some((reads, writes)) => {
            format!(", {} and {}", words::counted(reads, "read"), words::counted(writes, "write"))
        }
        None => String::new(),
    };
    let guests = match io.by {
        CountedBy::Simulation => String::new(),
        CountedBy::Nodes { guest_requests, guest_read, guest_written } => format!(
            "; of it, guests asked for {guest_read} of reads and {guest_written} of writes, {}",
            words::counted(guest_requests, "request")
        ),
    };
    format!(
        "I/O in {} of the event {}, {}: {} read and {} written{requests}{guests}",
        rough(io.length),
        io.event,
        by(io),
        io.read,
        io.written
    )
}

fn rate(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), words::iops)
}

/// A line for each event: its own requests, those of the hosts, and both.
pub(super) fn lines(record: &Record) -> Vec<String> {
    let line = |one: &EventTraffic<'_>| {
        format!(
            "{} itself, {}: {} IOPS; hosts in that time {}; together {} ({} read, {} written in \
             {})",
            one.io.event,
            by(one.io),
            rate(one.own_per_s),
            rate(one.hosts_per_s),
            rate(one.sum_per_s()),
            one.io.read,
            one.io.written,
            rough(one.io.length)
        )
    };
    event_traffic(record).iter().map(line).collect()
}

/// The same for machines, one object for each event.
pub(crate) fn objects(record: &Record) -> Vec<Value> {
    let object = |one: &EventTraffic<'_>| {
        let EventIo { event, at, length, reads, writes, read, written, by } = one.io;
        let (by, guests) = match by {
            CountedBy::Simulation => ("simulation", Value::Null),
            CountedBy::Nodes { guest_requests, guest_read, guest_written } => {
                let guests = json!({
                    "requests": guest_requests,
                    "read_bytes": guest_read.0,
                    "written_bytes": guest_written.0,
                });
                ("nodes", guests)
            }
        };
        json!({
            "event": event,
            "stage": one.stage,
            "at_ns": at.0,
            "length_ns": length.0,
            "by": by,
            "reads": reads,
            "writes": writes,
            "read_bytes": read.0,
            "written_bytes": written.0,
            "guests": guests,
            "iops": one.own_per_s,
            "hosts_iops": one.hosts_per_s,
            "together_iops": one.sum_per_s(),
        })
    };
    event_traffic(record).iter().map(object).collect()
}

/// The page's table; nothing where nobody counted an event's I/O.
pub(super) fn section(record: &Record) -> Markup {
    let found = event_traffic(record);
    if found.is_empty() {
        return Markup::new();
    }
    let head = [
        ("Event", ""),
        ("Counted for", "number"),
        ("Read", "number"),
        ("Written", "number"),
        ("Its own IOPS", "number"),
        ("IOPS of the hosts", "number"),
        ("Together", "number"),
    ];
    let head: Markup = head
        .iter()
        .map(|(word, class)| element("th", &[("scope", "col"), ("class", class)], *word))
        .collect();
    let number = |text: String| classed("td", "number", text);
    let row = |one: &EventTraffic<'_>| {
        let cells = [
            element("th", &[("scope", "row")], one.io.event.as_str()),
            number(rough(one.io.length).to_string()),
            number(one.io.read.to_string()),
            number(one.io.written.to_string()),
            number(rate(one.own_per_s)),
            number(rate(one.hosts_per_s)),
            number(rate(one.sum_per_s())),
        ];
        plain("tr", cells)
    };
    let body: Markup = found.iter().map(row).collect();
    let is_simulated = found.iter().all(|one| one.io.by == CountedBy::Simulation);
    let remark = if is_simulated {
        "The event's own I/O is the simulated mover's, in requests of 64 KiB (assumed). No host \
         counts it."
    } else {
        "Nodes count at their disks what guests, the event and all else asked for. Disks merge and \
         split requests: the event's own IOPS are the nodes' less the guests', and only a bound."
    };
    let table = element("table", &[], [plain("thead", plain("tr", head)), plain("tbody", body)]);
    let mut content = plain("h3", "I/O of the event itself");
    content.push(classed("div", "scroll", table));
    content.push(classed("p", "remark", remark));
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;
    use model::{Bytes, Fact, Note, Op, StageKind};

    fn record(by: CountedBy) -> Record {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\nread = \"100%\"\n");
        let stage = recorded.stage(StageKind::Measure);
        for second in 0..10 {
            recorded.interval(stage, second, &[(Op::Read, &[1_000; 40])]);
        }
        recorded.end();
        let mut record = recorded.record();
        let io = EventIo {
            event: "move <all>".to_owned(),
            at: Nanos::seconds(4),
            length: Nanos::seconds(3),
            reads: Some(300),
            writes: Some(150),
            read: Bytes(300 << 16),
            written: Bytes(150 << 16),
            by,
        };
        record.notes.push(Note { stage: Some(stage), host: 0, fact: Fact::EventIo(io) });
        record
    }

    #[test]
    fn an_events_own_requests_are_apart_and_in_sum() {
        let record = record(CountedBy::Simulation);
        let lines = lines(&record);
        assert_eq!(lines.len(), 1, "{lines:?}");
        for word in ["counted by the simulation: 150 IOPS", "in that time 40", "together 190"] {
            assert!(lines[0].contains(word), "{word}: {lines:?}");
        }
        let page = section(&record).into_string();
        assert!(page.contains("move &lt;all&gt;") && page.contains("190"), "{page}");
        assert!(page.contains("64 KiB (assumed)"), "{page}");
        let expected = json!([{
            "event": "move <all>", "stage": 1, "at_ns": 4_000_000_000_u64,
            "length_ns": 3_000_000_000_u64, "by": "simulation", "reads": 300, "writes": 150,
            "read_bytes": 300 << 16, "written_bytes": 150 << 16, "guests": null,
            "iops": 150.0, "hosts_iops": 40.0, "together_iops": 190.0,
        }]);
        assert_eq!(Value::from(objects(&record)), expected);
    }

    #[test]
    fn what_nodes_count_says_what_guests_asked_for() {
        let by = CountedBy::Nodes {
            guest_requests: 120,
            guest_read: Bytes(1 << 20),
            guest_written: Bytes(2 << 20),
        };
        let record = record(by);
        let Fact::EventIo(io) = &record.notes[0].fact else { panic!("{:?}", record.notes) };
        let said = sentence(io);
        assert!(said.contains("guests asked for 1 MiB of reads and 2 MiB of writes"), "{said}");
        assert!(section(&record).into_string().contains("only a bound"));
        let machines = objects(&record);
        assert_eq!((&machines[0]["by"], &machines[0]["iops"]), (&json!("nodes"), &json!(110.0)));
        assert_eq!(machines[0]["guests"]["written_bytes"], json!(2 << 20));
        let none = Record { notes: Vec::new(), ..record };
        assert!(lines(&none).is_empty() && section(&none) == Markup::new());
        assert!(objects(&none).is_empty());
    }
}
