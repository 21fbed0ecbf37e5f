//! What the view shows: pure. It takes samples, events and keys, and gives rows and lines.

mod memory;

pub(super) use memory::Memory;

use super::counter_lists::{self, Counted};
use super::figures::{Figures, figures, total};
use super::format::harmless;
use super::keys::{Ask, Key};
use super::table::{Order, Panel, Presence, Row, RowId, arrange, node_cells, part_cells};
use crate::progress::Progress;
use model::counters::Layer;
use model::testbed::HostFacts;
use model::{CounterSample, Event, Kernels, Note, NoteKind, Occurrence, OccurrenceKind, Plan};
use report::ground::moment::time_words;
use report::ground::words;
use report::topics;
use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

/// Messages that are kept; a screen shows the last few.
const MOST_MESSAGES: usize = 100;
/// Devices, ports and cores of one host that are remembered once they are gone: more than any host
/// has.
const MOST_PARTS: usize = 8192;
const LONGEST_FILTER: usize = 60;
/// A step in a replay, in seconds.
const STEP_S: i64 = 10;
/// Kinds of tables.
const PANELS: usize = 6;
/// Before any frame told how much fits.
const SOME_PAGE: usize = 10;

/// What is watched, which decides what keys mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Hosts as they are now.
    Hosts,
    /// A run that goes on.
    Run,
    /// A run that is over, played again.
    Replay,
}

#[derive(Debug)]
struct Host {
    facts: HostFacts,
    shown: Option<Reading>,
    /// What came while the view stood still.
    waiting: Option<Box<CounterSample>>,
    lost: Option<String>,
    workers: Vec<Counted>,
    /// Every part that was ever seen: what is gone is shown as gone.
    seen: BTreeSet<(&'static str, String)>,
}

#[derive(Clone, Debug)]
struct Reading {
    sample: Box<CounterSample>,
    figures: Figures,
}

/// Where the cursor is: on a row, or where that row was.
#[derive(Clone, Debug, Default)]
struct Cursor {
    id: Option<RowId>,
    index: usize,
}

impl Cursor {
    fn of(&self, rows: &[Row]) -> usize {
        let found = self.id.as_ref().and_then(|id| rows.iter().position(|row| row.id == *id));
        found.unwrap_or(self.index).min(rows.len().saturating_sub(1))
    }

    fn go(&mut self, rows: &[Row], to: usize) {
        self.index = to.min(rows.len().saturating_sub(1));
        self.id = rows.get(self.index).map(|row| row.id.clone());
    }
}

/// The state of the view.
#[derive(Debug)]
pub struct State {
    subject: Subject,
    hosts: Vec<Host>,
    kernels: Kernels,
    progress: Option<Progress>,
    messages: VecDeque<String>,
    panel: Panel,
    node: usize,
    /// The device, port or core that is looked into, and where it was chosen.
    part: (Option<(Layer, String)>, Panel),
    cursors: [Cursor; PANELS],
    orders: [Order; PANELS],
    filter: String,
    is_typing: bool,
    is_paused: bool,
    is_helping: bool,
    page: usize,
}

impl State {
    /// A view of these hosts, of which nothing is known yet. `plan` is that of the run, where there
    /// is one.
    pub fn new(subject: Subject, hosts: &[HostFacts], plan: Option<&Plan>) -> State {
        let host = |facts: &HostFacts| Host {
            facts: facts.clone(),
            shown: None,
            waiting: None,
            lost: None,
            workers: Vec::new(),
            seen: BTreeSet::new(),
        };
        let by_name = Order { column: 0, descending: false };
        let kernels = Kernels::of(hosts);
        let shared = (kernels.count() < hosts.len()).then(|| {
            format!(
                "{} nodes on {}: each counts once in \"all\"",
                hosts.len(),
                words::counted(kernels.count() as u64, "kernel")
            )
        });
        State {
            subject,
            hosts: hosts.iter().map(host).collect(),
            kernels,
            progress: plan.map(Progress::new),
            messages: shared.into_iter().collect(),
            panel: Panel::Nodes,
            node: 0,
            part: (None, Panel::Devices),
            cursors: Default::default(),
            orders: [by_name; PANELS],
            filter: String::new(),
            is_typing: false,
            is_paused: false,
            is_helping: false,
            page: SOME_PAGE,
        }
    }

    /// Forgets all that happened, and nothing of what the user chose: for a replay that goes back.
    pub fn rewind(&mut self, plan: &Plan) {
        for host in &mut self.hosts {
            (host.shown, host.waiting, host.lost) = (None, None, None);
            host.workers.clear();
            host.seen.clear();
        }
        self.progress = Some(Progress::new(plan));
        self.messages.clear();
    }

    /// Takes in what a host's kernel counted. A host that is none is left out.
    pub fn counters(&mut self, sample: Box<CounterSample>) {
        let Some(host) = self.hosts.get_mut(sample.host as usize) else { return };
        let name = host.facts.hostname.clone();
        let notes: Vec<String> =
            sample.notes.iter().map(|note| format!("{name}: {note}")).collect();
        // A replay stands still by itself: what comes then was asked for by a step in time.
        if self.is_paused && self.subject != Subject::Replay {
            host.waiting = Some(sample);
        } else {
            host.show(sample);
        }
        notes.iter().for_each(|note| self.say(note));
    }

    /// Takes in that a host is gone.
    pub fn lost(&mut self, number: u32, why: &str) {
        let Some(host) = self.hosts.get_mut(number as usize) else { return };
        host.lost = Some(harmless(why));
        let text = format!("{} is lost: {why}", host.facts.hostname);
        self.say(&text);
    }

    /// Takes in that a host tells again, and what it is.
    pub fn returned(&mut self, number: u32, facts: &HostFacts) {
        let Some(host) = self.hosts.get_mut(number as usize) else { return };
        (host.lost, host.facts) = (None, facts.clone());
        let text = format!("{} is back", host.facts.hostname);
        self.say(&text);
    }

    /// Takes in what happened in a run.
    pub fn event(&mut self, event: &Event) {
        if let Some(progress) = &mut self.progress {
            progress.event(event);
        }
        match event {
            Event::Counters(sample) => self.counters(sample.clone()),
            Event::Note(note) if note.fact.is_bookkeeping() => {}
            Event::Note(note) => self.note(note),
            // A note tells of the loss of a host and of its return, too.
            Event::Happened(one)
                if matches!(one.kind, OccurrenceKind::HostLost | OccurrenceKind::HostReturned) => {}
            Event::Happened(one) => self.found(one),
            Event::StageEnded { .. } => {
                let summary = self.progress.as_ref().map(Progress::summary).unwrap_or_default();
                self.say(&summary);
            }
            Event::Sample(sample) => {
                let host = self.hosts.get_mut(sample.host as usize);
                if let Some(host) =
                    host.filter(|_| !self.is_paused || self.subject == Subject::Replay)
                {
                    host.workers = counter_lists::of_workers(sample);
                }
            }
            Event::StageStarted { .. }
            | Event::PointAdded(_)
            | Event::HostStarted(_)
            | Event::HostEnded(_)
            | Event::Waiting(_)
            | Event::RunEnded { .. } => {}
        }
    }

    /// Takes in what happened at an instant, on a host or anywhere.
    pub fn found(&mut self, one: &Occurrence) {
        let host = one.host.and_then(|host| self.hosts.get(host as usize));
        let host =
            host.filter(|_| self.hosts.len() > 1).map(|host| format!("{}: ", host.facts.hostname));
        let text = topics::occurrences::line_of(one, host.as_deref().unwrap_or_default());
        let at = time_words((one.at_s() * 10.0).round() / 10.0);
        // Between stages there is no axis to tell it on.
        let is_on_axis = self.subject == Subject::Hosts || one.stage.is_some();
        self.say(&if is_on_axis { format!("{at}  {text}") } else { text });
    }

    fn note(&mut self, note: &Note) {
        let text = topics::note::line(&note.fact);
        if let Some(host) = self.hosts.get_mut(note.host as usize) {
            match note.kind() {
                NoteKind::HostLost => {
                    host.lost = Some(harmless(&topics::note::sentence(&note.fact)));
                }
                NoteKind::HostReturned => host.lost = None,
                _ => {}
            }
        }
        self.say(&text);
    }

    /// Adds a message.
    pub fn say(&mut self, text: &str) {
        if self.messages.len() >= MOST_MESSAGES {
            self.messages.pop_front();
        }
        self.messages.push_back(harmless(text));
    }

    /// The last `most` messages, the newest last.
    pub fn messages(&self, most: usize) -> impl Iterator<Item = &str> {
        self.messages.iter().skip(self.messages.len().saturating_sub(most)).map(String::as_str)
    }

    /// What is watched.
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Where the run stands, if it is one.
    pub fn progress(&self) -> Option<&Progress> {
        self.progress.as_ref()
    }

    /// Which table is looked at.
    pub fn panel(&self) -> Panel {
        self.panel
    }

    /// By what it is sorted.
    pub fn order(&self) -> Order {
        self.orders[self.panel as usize]
    }

    /// The name of the node that is looked into, and of its part.
    pub fn node_name(&self) -> Option<String> {
        let node = self.hosts.get(self.node).filter(|_| self.panel != Panel::Nodes)?;
        let part = self.part.0.as_ref().filter(|_| self.panel == Panel::Part);
        let part =
            part.map_or_else(String::new, |(layer, name)| format!(" · {} {name}", layer.word()));
        Some(harmless(&format!("{}{part}", node.facts.hostname)))
    }

    /// What names have to have in them, and whether it is being typed.
    pub fn filter(&self) -> (&str, bool) {
        (&self.filter, self.is_typing)
    }

    /// Whether the view, or the replay, stands still.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Stops or starts a replay at its end or on a step.
    pub fn set_paused(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
        if !is_paused {
            self.catch_up();
        }
    }

    /// Whether help is shown.
    pub fn is_helping(&self) -> bool {
        self.is_helping
    }

    /// How many hosts there are, and how many of them are lost.
    pub fn host_counts(&self) -> (usize, usize) {
        (self.hosts.len(), self.hosts.iter().filter(|host| host.lost.is_some()).count())
    }

    /// Tells how many rows a page has, as the last frame was drawn.
    pub fn set_page(&mut self, rows: usize) {
        self.page = rows.max(1);
    }

    /// The rows of the panel, filtered and sorted, and the place of the cursor among them.
    pub fn rows(&self) -> (Vec<Row>, usize) {
        let rows = match self.panel {
            Panel::Nodes => {
                self.hosts.iter().enumerate().map(|(number, host)| host.row(number)).collect()
            }
            Panel::Host => self.hosts.get(self.node).map(Host::counters).unwrap_or_default(),
            Panel::Part => {
                let part = self.part.0.as_ref();
                let host = self.hosts.get(self.node).zip(part);
                host.map(|(host, (layer, name))| host.part(*layer, name)).unwrap_or_default()
            }
            panel => self.hosts.get(self.node).map(|host| host.parts(panel)).unwrap_or_default(),
        };
        let rows = arrange(rows, &self.filter, self.order());
        let cursor = self.cursors[self.panel as usize].of(&rows);
        (rows, cursor)
    }

    /// All nodes together, or in a panel of one node that node. A kernel that several agents tell
    /// of counts once.
    pub fn total(&self) -> Figures {
        if self.panel != Panel::Nodes {
            let node = self.hosts.get(self.node).filter(|host| host.lost.is_none());
            let told =
                node.and_then(|host| Some((host.shown.as_ref()?.figures, host.facts.logical_cpus)));
            return total(told.iter().map(|(figures, cpus)| (figures, *cpus)));
        }
        let tells = |number: usize| {
            self.hosts.get(number).is_some_and(|host| host.lost.is_none() && host.shown.is_some())
        };
        let part = |(number, host): (usize, &Host)| {
            let (voice, shown) = (self.kernels.voice(number, tells), host.shown.as_ref()?);
            let told = match voice.is_any().then(|| voice.of(&shown.sample))? {
                Cow::Borrowed(_) => shown.figures,
                Cow::Owned(part) => figures(&part, &host.facts),
            };
            Some((told, host.facts.logical_cpus))
        };
        let all: Vec<(Figures, u32)> = self.hosts.iter().enumerate().filter_map(part).collect();
        total(all.iter().map(|(figures, cpus)| (figures, *cpus)))
    }

    /// Takes in a key, and says what others have to do about it.
    pub fn key(&mut self, key: Key) -> Ask {
        if key == Key::Interrupt {
            return Ask::Stop;
        }
        if self.is_typing {
            self.type_filter(key);
            return Ask::Nothing;
        }
        if self.is_helping {
            // Any key leaves the help; the one that ends all does that, too.
            self.is_helping = false;
            return if key == Key::Char('q') { Ask::Quit } else { Ask::Nothing };
        }
        let is_replay = self.subject == Subject::Replay;
        match key {
            Key::Char('q') => return Ask::Quit,
            Key::Escape if !self.filter.is_empty() => self.filter.clear(),
            Key::Escape | Key::Backspace if self.panel != Panel::Nodes => self.back(),
            Key::Escape => return Ask::Quit,
            Key::Char('?') => self.is_helping = true,
            Key::Char('/') => self.is_typing = true,
            Key::Char(' ') => self.set_paused(!self.is_paused),
            Key::Char('+' | '=') if is_replay => return Ask::Faster,
            Key::Char('-') if is_replay => return Ask::Slower,
            Key::Right if is_replay => return Ask::Step(STEP_S),
            Key::Left if is_replay => return Ask::Step(-STEP_S),
            Key::Enter | Key::Right => self.zoom(),
            Key::Left => self.back(),
            Key::Tab if self.panel == Panel::Nodes => self.zoom(),
            Key::Tab => self.panel = self.panel.next(),
            key => self.choose(key),
        }
        Ask::Nothing
    }

    fn choose(&mut self, key: Key) {
        let columns = self.panel.columns().len();
        let order = &mut self.orders[self.panel as usize];
        match key {
            Key::Char('r') => order.descending = !order.descending,
            Key::Char('<' | ',') => order.sort_by(order.column.checked_sub(1).unwrap_or(columns)),
            Key::Char('>' | '.') => order.sort_by((order.column + 1) % (columns + 1)),
            Key::Char(digit @ '0'..='9') => {
                let column = digit as usize - '0' as usize;
                if column <= columns {
                    order.sort_by(column);
                }
            }
            key => self.move_cursor(key),
        }
    }

    fn move_cursor(&mut self, key: Key) {
        let (rows, at) = self.rows();
        let to = match key {
            Key::Up | Key::Char('k') => at.saturating_sub(1),
            Key::Down | Key::Char('j') => at.saturating_add(1),
            Key::PageUp => at.saturating_sub(self.page),
            Key::PageDown => at.saturating_add(self.page),
            Key::Home => 0,
            Key::End => usize::MAX,
            _ => return,
        };
        self.cursors[self.panel as usize].go(&rows, to);
    }

    fn type_filter(&mut self, key: Key) {
        match key {
            Key::Enter => self.is_typing = false,
            Key::Escape => {
                self.is_typing = false;
                self.filter.clear();
            }
            Key::Backspace => drop(self.filter.pop()),
            Key::Char(c) if !c.is_control() && self.filter.len() < LONGEST_FILTER => {
                self.filter.push(c);
            }
            _ => {}
        }
    }

    fn back(&mut self) {
        self.panel = if self.panel == Panel::Part { self.part.1 } else { Panel::Nodes };
    }

    /// Looks into what is under the cursor: a node, or a part of one.
    fn zoom(&mut self) {
        let (rows, at) = self.rows();
        match self.panel {
            Panel::Nodes => {}
            Panel::Host | Panel::Part => return,
            panel => {
                let Some(RowId::Part(layer, name)) = rows.get(at).map(|row| row.id.clone()) else {
                    return;
                };
                self.cursors[panel as usize].go(&rows, at);
                let part = Some((layer, name));
                if self.part.0 != part {
                    self.cursors[Panel::Part as usize] = Cursor::default();
                }
                self.filter.clear();
                (self.part, self.panel) = ((part, panel), Panel::Part);
                return;
            }
        }
        let Some(RowId::Host(number)) = rows.get(at).map(|row| row.id.clone()) else { return };
        self.cursors[Panel::Nodes as usize].go(&rows, at);
        if number != self.node {
            self.cursors[1..].iter_mut().for_each(|cursor| *cursor = Cursor::default());
        }
        // A filter is for nodes or for parts; what narrowed the one would hide all of the other.
        self.filter.clear();
        (self.node, self.panel) = (number, Panel::Devices);
    }

    fn catch_up(&mut self) {
        for host in &mut self.hosts {
            if let Some(sample) = host.waiting.take() {
                host.show(sample);
            }
        }
    }
}

impl Row {
    fn of(counted: Counted) -> Row {
        Row {
            name: harmless(&counted.name),
            id: RowId::Named(counted.name),
            cells: vec![counted.value],
            unit: Some(counted.unit),
            presence: Presence::Here,
        }
    }
}

impl Order {
    /// Numbers begin with the largest, names with the first.
    fn sort_by(&mut self, column: usize) {
        *self = Order { column, descending: column > 0 };
    }
}

impl Host {
    fn show(&mut self, sample: Box<CounterSample>) {
        let parts = [Panel::Devices, Panel::Nics, Panel::Cores];
        for entry in
            sample.entries.iter().filter(|entry| parts.iter().any(|panel| panel.shows(entry.layer)))
        {
            if self.seen.len() >= MOST_PARTS {
                break;
            }
            self.seen.insert((entry.layer.word(), entry.name.clone()));
        }
        self.shown = Some(Reading { figures: figures(&sample, &self.facts), sample });
    }

    fn row(&self, number: usize) -> Row {
        let presence = match (&self.lost, &self.shown) {
            (Some(_), _) => Presence::Gone,
            (None, None) => Presence::Awaited,
            (None, Some(_)) => Presence::Here,
        };
        let figures =
            self.shown.as_ref().filter(|_| presence == Presence::Here).map(|shown| shown.figures);
        Row {
            id: RowId::Host(number),
            name: harmless(&self.facts.hostname),
            cells: node_cells(&figures.unwrap_or_default()),
            unit: None,
            presence,
        }
    }

    fn counters(&self) -> Vec<Row> {
        let shown = self.shown.as_ref().filter(|_| self.lost.is_none());
        let told =
            shown.map(|shown| counter_lists::of_host(&counter_lists::summary(&shown.sample)));
        let workers = shown.map(|_| self.workers.clone()).unwrap_or_default();
        told.unwrap_or_default().into_iter().chain(workers).map(Row::of).collect()
    }

    fn part(&self, layer: Layer, name: &str) -> Vec<Row> {
        let shown = self.shown.as_ref().filter(|_| self.lost.is_none());
        let found = shown.map(|shown| counter_lists::of_part(&shown.sample, layer, name));
        found.unwrap_or_default().into_iter().map(Row::of).collect()
    }

    fn parts(&self, panel: Panel) -> Vec<Row> {
        let layers = Layer::ALL.iter().filter(|layer| panel.shows(**layer));
        let shown = self.shown.as_ref().filter(|_| self.lost.is_none());
        let row = |layer: Layer, name: &str| {
            let entry =
                shown.and_then(|shown| Some((shown.sample.entry(layer, name)?, &shown.sample)));
            Row {
                id: RowId::Part(layer, name.to_owned()),
                name: harmless(name),
                cells: match entry {
                    Some((entry, sample)) => part_cells(panel, entry, sample),
                    None => vec![None; panel.columns().len()],
                },
                unit: None,
                presence: if entry.is_some() { Presence::Here } else { Presence::Gone },
            }
        };
        layers
            .flat_map(|layer| {
                let names = self.seen.iter().filter(|(word, _)| *word == layer.word());
                names.map(|(_, name)| row(*layer, name)).collect::<Vec<Row>>()
            })
            .collect()
    }
}
