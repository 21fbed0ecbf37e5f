//! What an event itself read and wrote, beside the hosts' requests and together with them: lines
//! behind the events of a terminal, and a table of the page.

use crate::ground::markup::{Markup, classed, plain};
use crate::ground::words;
use crate::pens::json::{Value, object};
use crate::pens::{Table, dash};
use analysis::event_io::{EventTraffic, event_traffic};
use model::note::{CountedBy, EventIo};
use model::{Bytes, Nanos, Record};

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

fn table<'a>(all: &'a [EventTraffic<'a>]) -> Table<&'a EventTraffic<'a>> {
    let bytes = |bytes: u64| Bytes(bytes).to_string();
    let counted = |one: &EventTraffic<'_>| match one.io.by {
        CountedBy::Simulation => ("simulation", Value::Null),
        CountedBy::Nodes { guest_requests, guest_read, guest_written } => {
            let (read_bytes, written_bytes) = (guest_read.0, guest_written.0);
            let guests = object! {
                requests: guest_requests, read_bytes, written_bytes,
            };
            ("nodes", guests)
        }
    };
    Table::of(all)
        .name("Event", |one| &one.io.event)
        .key("event")
        .field("stage", |one| one.stage)
        .field("at_ns", |one| one.io.at.0)
        .field("by", |one| counted(one).0)
        .field("guests", |one| counted(one).1)
        .field("reads", |one| one.io.reads)
        .field("writes", |one| one.io.writes)
        .known("length_ns", "Counted for", |one| one.io.length.0, |ns| rough(Nanos(ns)).to_string())
        .known("read_bytes", "Read", |one| one.io.read.0, bytes)
        .known("written_bytes", "Written", |one| one.io.written.0, bytes)
        .known("iops", "Its own IOPS", |one| one.own_per_s, words::iops)
        .known("hosts_iops", "IOPS of the hosts", |one| one.hosts_per_s, words::iops)
        .known("together_iops", "Together", EventTraffic::sum_per_s, words::iops)
}

/// A line for each event: its own requests, those of the hosts, and both.
pub(super) fn lines(record: &Record) -> Vec<String> {
    let rate = |value: Option<f64>| value.map_or_else(dash, words::iops);
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

pub(crate) fn objects(record: &Record) -> Vec<Value> {
    table(&event_traffic(record)).json()
}

/// The page's table; nothing where nobody counted an event's I/O.
pub(super) fn section(record: &Record) -> Markup {
    let found = event_traffic(record);
    if found.is_empty() {
        return Markup::new();
    }
    let is_simulated = found.iter().all(|one| one.io.by == CountedBy::Simulation);
    let remark = if is_simulated {
        "The event's own I/O is the simulated mover's, in requests of 64 KiB (assumed). No host \
         counts it."
    } else {
        "Nodes count at their disks what guests, the event and all else asked for. Disks merge and \
         split requests: the event's own IOPS are the nodes' less the guests', and only a bound."
    };
    let mut content = plain("h3", "I/O of the event itself");
    content.push(table(&found).scroll());
    content.push(classed("p", "remark", remark));
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{W, has, lasting};
    use model::{Bytes, Fact, Note, Op};

    fn record(by: CountedBy) -> Record {
        let reads = format!("{W}read = \"100%\"\n");
        let mut record = lasting(&reads, 10, &[(Op::Read, &[1_000; 40])]);
        let stage = analysis::results(&record)[0].stage;
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
        has(&page, &["move &lt;all&gt;", "190", "64 KiB (assumed)"]);
        let expected = [object! {
            event: "move <all>", stage: 1, at_ns: 4_000_000_000_u64,
            length_ns: 3_000_000_000_u64, by: "simulation", reads: 300, writes: 150,
            read_bytes: 300 << 16, written_bytes: 150 << 16, guests: Value::Null,
            iops: 150.0, hosts_iops: 40.0, together_iops: 190.0,
        }];
        assert_eq!(objects(&record), expected);
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
        assert!(machines[0]["by"] == "nodes" && machines[0]["iops"] == 110.0);
        assert_eq!(machines[0]["guests"]["written_bytes"], 2 << 20);
        let none = Record { notes: Vec::new(), ..record };
        assert!(lines(&none).is_empty() && section(&none) == Markup::new());
        assert!(objects(&none).is_empty());
    }
}
