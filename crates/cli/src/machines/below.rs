//! What nodes do below the guests of a run: read before its first stage and behind its last one,
//! at the begin and the end of each measurement, and of each event's command. Nobody waits for a
//! node while the run goes on.

use super::Nodes;
use model::machines::{BelowGuests, BelowNode, BelowStage, HostCpu, NodeCounts, OnNode};
use model::note::{CountedBy, EventIo};
use model::{
    Bytes, Event, Fact, IntervalSample, Nanos, Note, Occurrence, OccurrenceKind, Op, Plan,
    StageKind,
};
use provision::nodes::{self, OfNode};
use provision::provider::State;
use provision::{Deployment, Ground, Places, deployment, providers};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Measurements whose nodes are looked at, at most.
const MOST_STAGES: usize = 1_000;
/// Events whose nodes are looked at, at most: each look asks every node.
const MOST_EVENTS: usize = 64;

/// A look at the nodes, and what guests did since.
pub(crate) struct Below {
    found: Deployment,
    parts: Vec<OnNode>,
    before: Vec<Option<OfNode>>,
    is_measured: Vec<bool>,
    began: Instant,
    moved: Moved,
    /// What was under way when the measurement began that runs.
    running: Option<Begun<Measurement>>,
    ended: Vec<Ended<Measurement>>,
    events: Vec<Begun<EventCommand>>,
    events_ended: Vec<Ended<EventCommand>>,
}

/// What guests' requests moved until now: bytes, and how many requests did.
#[derive(Clone, Copy, Default)]
struct Moved {
    read: u64,
    written: u64,
    requests: u64,
}

impl Moved {
    fn since(self, before: Moved) -> (Bytes, Bytes) {
        let minus = |after: u64, before: u64| Bytes(after.saturating_sub(before));
        (minus(self.read, before.read), minus(self.written, before.written))
    }
}

type Looking = JoinHandle<(Vec<Option<OfNode>>, Instant)>;

/// What is looked at while it goes on: what it is, and what was under way when it began.
struct Begun<W> {
    what: W,
    moved: Moved,
    look: Looking,
}

type Measurement = u32;

/// An event of the suite whose command runs.
struct EventCommand {
    name: String,
    stage: u32,
    at_ns: u64,
}

struct Ended<W> {
    begun: Begun<W>,
    moved: Moved,
    look: Looking,
}

struct Seen<W> {
    what: W,
    length: Nanos,
    before: Vec<Option<OfNode>>,
    after: Vec<Option<OfNode>>,
    guest_read: Bytes,
    guest_written: Bytes,
    guest_requests: u64,
}

impl<W> Ended<W> {
    /// `None` where a look failed.
    fn seen(self) -> Option<Seen<W>> {
        let Begun { what, moved, look } = self.begun;
        let (before, began) = look.join().ok()?;
        let (after, ended) = self.look.join().ok()?;
        let (guest_read, guest_written) = self.moved.since(moved);
        let guest_requests = self.moved.requests.saturating_sub(moved.requests);
        let length = nanos(ended.saturating_duration_since(began));
        Some(Seen { what, length, before, after, guest_read, guest_written, guest_requests })
    }
}

impl Below {
    /// Looks at the nodes below the machines of this plan, if machines of ours carry it.
    pub(crate) fn begin(plan: &Plan) -> Option<Below> {
        let made = plan.notes.iter().find_map(|note| match &note.fact {
            Fact::Machines(made) => Some(made),
            _ => None,
        })?;
        let places = Places::of_user().ok()?;
        let found = deployment::find(&places, &made.name).ok().flatten()?;
        let before = look(&found);
        let parts = made.nodes.clone();
        let (began, moved) = (Instant::now(), Moved::default());
        let is_measured =
            plan.stages.iter().map(|stage| stage.kind == StageKind::Measure).collect();
        Some(Below {
            found,
            parts,
            before,
            is_measured,
            began,
            moved,
            running: None,
            ended: Vec::new(),
            events: Vec::new(),
            events_ended: Vec::new(),
        })
    }

    /// Takes in what is to be recorded. Before the run's end, what nodes did is put there.
    pub(crate) fn with_note(&mut self, events: &[Event]) -> Option<Vec<Event>> {
        events.iter().for_each(|event| self.count(event));
        let end = events.iter().position(|event| matches!(event, Event::RunEnded { .. }))?;
        let of_events = std::mem::take(&mut self.events_ended);
        let mut notes: Vec<Event> = of_events.into_iter().filter_map(of_event).collect();
        let fact = Fact::BelowGuests(self.since());
        notes.push(Event::Note(Note { stage: None, host: 0, fact }));
        let mut all = events.to_vec();
        all.splice(end..end, notes);
        Some(all)
    }

    fn count(&mut self, event: &Event) {
        match event {
            Event::StageStarted { stage, .. } if self.measures(*stage) => {
                self.running = Some(self.begun(*stage));
            }
            Event::StageEnded { stage, .. } => {
                let begun = self.running.take().filter(|begun| begun.what == *stage);
                let ended = begun.map(|begun| self.over(begun));
                self.ended.extend(ended);
            }
            Event::Sample(sample) => self.add(sample),
            Event::Happened(occurrence) => self.happened(occurrence),
            _ => {}
        }
    }

    /// An event's command began, or ended: the nodes are looked at.
    fn happened(&mut self, occurrence: &Occurrence) {
        match (occurrence.kind, occurrence.stage) {
            (OccurrenceKind::Planned, Some(stage))
                if self.events.len() + self.events_ended.len() < MOST_EVENTS =>
            {
                let (name, at_ns) = (occurrence.label.clone(), occurrence.at_ns);
                self.events.push(self.begun(EventCommand { name, stage, at_ns }));
            }
            (OccurrenceKind::CommandEnded, _) => {
                let is_it = |begun: &Begun<EventCommand>| begun.what.name == occurrence.label;
                if let Some(place) = self.events.iter().position(is_it) {
                    let begun = self.events.remove(place);
                    self.events_ended.push(self.over(begun));
                }
            }
            _ => {}
        }
    }

    fn measures(&self, stage: u32) -> bool {
        let is_measured = self.is_measured.get(stage as usize).copied().unwrap_or(false);
        // A run of days has no more of them than its page shows.
        is_measured && self.ended.len() < MOST_STAGES
    }

    fn begun<W>(&self, what: W) -> Begun<W> {
        Begun { what, moved: self.moved, look: self.look() }
    }

    fn over<W>(&self, begun: Begun<W>) -> Ended<W> {
        Ended { begun, moved: self.moved, look: self.look() }
    }

    /// Begins a look at the nodes.
    fn look(&self) -> Looking {
        let found = self.found.clone();
        thread::spawn(move || {
            let nodes = look(&found);
            (nodes, Instant::now())
        })
    }

    fn add(&mut self, sample: &IntervalSample) {
        for one in &sample.ops {
            let sum = match one.op {
                Op::Read => &mut self.moved.read,
                Op::Write => &mut self.moved.written,
                _ => continue,
            };
            *sum = sum.saturating_add(one.bytes);
            self.moved.requests = self.moved.requests.saturating_add(one.ios);
        }
    }

    fn since(&mut self) -> BelowGuests {
        let after = look(&self.found);
        let length = nanos(self.began.elapsed());
        let nodes = of_nodes(&self.parts, &self.before, &after);
        let (guest_read, guest_written) = self.moved.since(Moved::default());
        let ended = std::mem::take(&mut self.ended);
        let stages = ended.into_iter().filter_map(|one| of_stage(&self.parts, one)).collect();
        BelowGuests { length, guest_read, guest_written, nodes, stages }
    }
}

fn nanos(time: Duration) -> Nanos {
    Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// What stood below one measurement; `None` where a look failed.
fn of_stage(parts: &[OnNode], measured: Ended<Measurement>) -> Option<BelowStage> {
    let Seen { what: stage, length, before, after, guest_read, guest_written, .. } =
        measured.seen()?;
    let nodes = of_nodes(parts, &before, &after);
    Some(BelowStage { stage, length, guest_read, guest_written, nodes })
}

/// What the nodes' disks did while an event's command ran, as a note; `None` where a node did not
/// say.
fn of_event(measured: Ended<EventCommand>) -> Option<Event> {
    let Seen { what, length, before, after, guest_read, guest_written, guest_requests } =
        measured.seen()?;
    let between: Vec<NodeCounts> = before
        .iter()
        .zip(&after)
        .map(|(before, after)| {
            Some(counts_between(before.as_ref()?.counts, after.as_ref()?.counts))
        })
        .collect::<Option<_>>()?;
    let sum = |of: fn(&NodeCounts) -> Option<u64>| {
        between.iter().map(of).try_fold(0u64, |sum, one| Some(sum.saturating_add(one?)))
    };
    let fact = Fact::EventIo(EventIo {
        event: what.name,
        at: Nanos(what.at_ns),
        length,
        reads: sum(|counts| counts.reads),
        writes: sum(|counts| counts.writes),
        read: Bytes(sum(|counts| counts.read_bytes)?),
        written: Bytes(sum(|counts| counts.written_bytes)?),
        by: CountedBy::Nodes { guest_requests, guest_read, guest_written },
    });
    Some(Event::Note(Note { stage: Some(what.stage), host: 0, fact }))
}

fn of_nodes(
    parts: &[OnNode],
    before: &[Option<OfNode>],
    after: &[Option<OfNode>],
) -> Vec<BelowNode> {
    let looks = parts.iter().zip(before.iter().zip(after));
    looks.map(|(part, (before, after))| of_node(part, before, after)).collect()
}

/// The machines of each node, and its counts; `None` of one that does not answer.
fn look(found: &Deployment) -> Vec<Option<OfNode>> {
    if let Ground::Nodes(on) = &found.ground {
        return nodes::list(&Nodes::of(on), found).into_iter().map(Result::ok).collect();
    }
    let provider = providers::of(found);
    let machines = found.machines.iter().map(|machine| nodes::Listed {
        machine: machine.name.clone(),
        state: provider.as_ref().map_or(State::Absent, |by| by.state(found, machine)),
        cpu: provider.as_ref().and_then(|by| by.cpu(found, machine)),
    });
    vec![Some(OfNode { machines: machines.collect(), counts: nodes::counts_here() })]
}

/// What a node did between two looks. What one of them lacks is unknown.
fn of_node(part: &OnNode, before: &Option<OfNode>, after: &Option<OfNode>) -> BelowNode {
    let node = part.node.clone();
    let Some(after) = after else { return BelowNode { node, ..BelowNode::default() } };
    let is_there = |name: &String| {
        let one = after.machines.iter().find(|one| one.machine == *name);
        // A machine that an event paused is there.
        one.is_some_and(|one| one.state != State::Absent)
    };
    let astray = part.machines.iter().filter(|name| !is_there(name)).cloned().collect();
    let Some(before) = before else { return BelowNode { node, astray, ..BelowNode::default() } };
    let of = |node: &OfNode, name: &String| {
        node.machines.iter().find(|one| one.machine == *name).and_then(|one| one.cpu)
    };
    let spent = |name: &String| between(of(before, name)?, of(after, name)?);
    let guests = part.machines.iter().map(spent).collect::<Option<Vec<HostCpu>>>();
    BelowNode {
        node,
        astray,
        guests: guests.map(|all| all.into_iter().fold(none(), sum)),
        counts: counts_between(before.counts, after.counts),
    }
}

fn none() -> HostCpu {
    HostCpu { io: Some(Nanos(0)), waited: Some(Nanos(0)), ..HostCpu::default() }
}

fn sum(a: HostCpu, b: HostCpu) -> HostCpu {
    let plus = |a: Nanos, b: Nanos| Nanos(a.0.saturating_add(b.0));
    HostCpu {
        vcpu: plus(a.vcpu, b.vcpu),
        // What one machine does not report apart from the rest, all together do not.
        io: a.io.zip(b.io).map(|(a, b)| plus(a, b)),
        other: plus(a.other, b.other),
        waited: a.waited.zip(b.waited).map(|(a, b)| plus(a, b)),
    }
}

/// `None` where a machine began anew: its counts went back.
fn between(before: HostCpu, after: HostCpu) -> Option<HostCpu> {
    let minus = |after: Nanos, before: Nanos| after.0.checked_sub(before.0).map(Nanos);
    // Threads of I/O come and go, and take their time with them: what is left is no less than 0.
    let io = after.io.zip(before.io).map(|(a, b)| Nanos(a.0.saturating_sub(b.0)));
    let other = Nanos(after.other.0.saturating_sub(before.other.0));
    let waited = after.waited.zip(before.waited).and_then(|(a, b)| minus(a, b));
    Some(HostCpu { vcpu: minus(after.vcpu, before.vcpu)?, io, other, waited })
}

fn counts_between(before: NodeCounts, after: NodeCounts) -> NodeCounts {
    let time =
        |after: Option<Nanos>, before: Option<Nanos>| after?.0.checked_sub(before?.0).map(Nanos);
    let bytes = |after: Option<u64>, before: Option<u64>| after?.checked_sub(before?);
    NodeCounts {
        busy: time(after.busy, before.busy),
        cpus: time(after.cpus, before.cpus),
        read_bytes: bytes(after.read_bytes, before.read_bytes),
        written_bytes: bytes(after.written_bytes, before.written_bytes),
        reads: bytes(after.reads, before.reads),
        writes: bytes(after.writes, before.writes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(seconds: u64) -> Option<HostCpu> {
        let time = Nanos::seconds(seconds);
        Some(HostCpu { vcpu: time, io: Some(time), other: time, waited: Some(time) })
    }

    fn seen(machines: &[(&str, State, Option<HostCpu>)], bytes: u64) -> Option<OfNode> {
        let listed = |(name, state, cpu): &(&str, State, Option<HostCpu>)| nodes::Listed {
            machine: (*name).to_owned(),
            state: *state,
            cpu: *cpu,
        };
        let counts = NodeCounts { written_bytes: Some(bytes), ..NodeCounts::default() };
        Some(OfNode { machines: machines.iter().map(listed).collect(), counts })
    }

    #[test]
    fn what_disks_did_while_an_events_command_ran_has_the_guests_requests_beside_it() {
        let counts = |reads: u64| NodeCounts {
            read_bytes: Some(reads << 16),
            written_bytes: Some(reads << 15),
            reads: Some(reads),
            writes: Some(reads / 2),
            ..NodeCounts::default()
        };
        let node = |reads| Some(OfNode { machines: Vec::new(), counts: counts(reads) });
        let look = |nodes: Vec<Option<OfNode>>, at: Instant| thread::spawn(move || (nodes, at));
        let began = Instant::now();
        let measured = |after: Vec<Option<OfNode>>| Ended {
            begun: Begun {
                what: EventCommand { name: "migration".to_owned(), stage: 3, at_ns: 7 },
                moved: Moved { read: 1, written: 1, requests: 10 },
                look: look(vec![node(100), node(0)], began),
            },
            moved: Moved { read: 5, written: 2, requests: 40 },
            look: look(after, began + Duration::from_secs(2)),
        };
        let Some(Event::Note(note)) = of_event(measured(vec![node(150), node(50)])) else {
            panic!("both nodes answered")
        };
        let Fact::EventIo(io) = note.fact else { panic!("{note:?}") };
        assert_eq!((note.stage, io.at, io.length), (Some(3), Nanos(7), Nanos::seconds(2)));
        assert_eq!((io.reads, io.writes), (Some(100), Some(50)));
        assert_eq!((io.read, io.written), (Bytes(100 << 16), Bytes(100 << 15)));
        let by =
            CountedBy::Nodes { guest_requests: 30, guest_read: Bytes(4), guest_written: Bytes(1) };
        assert_eq!(io.by, by);
        assert!(of_event(measured(vec![node(150), None])).is_none(), "a part is no whole");
    }

    #[test]
    fn what_a_node_did_is_the_difference_and_a_machine_that_is_gone_is_named() {
        let part = OnNode { node: "n1".into(), machines: vec!["a-1".into(), "a-2".into()] };
        let before =
            seen(&[("a-1", State::Listening, cpu(1)), ("a-2", State::Listening, cpu(2))], 5);
        let after = seen(&[("a-1", State::Listening, cpu(4)), ("a-2", State::Paused, cpu(4))], 25);
        let found = of_node(&part, &before, &after);
        assert_eq!((found.guests, found.counts.written_bytes), (cpu(5), Some(20)));
        assert!(found.astray.is_empty(), "a paused one is there");
        let moved = seen(&[("a-1", State::Listening, cpu(4))], 1);
        let found = of_node(&part, &before, &moved);
        assert_eq!(found.astray, ["a-2"]);
        assert_eq!((found.guests, found.counts.written_bytes), (None, None), "it went back");
        assert_eq!(of_node(&part, &before, &None).node, "n1");
        assert_eq!(of_node(&part, &None, &after).guests, None);
    }
}
