//! Hosts that are watched without a run: what is known of them, bounded however long and however
//! many.

mod node;
mod page;
#[cfg(test)]
mod tests;

use super::View;
use super::board::Happened;
use super::bounded_series::{Key, Part as _, Slot, Track};
use super::dashboard::{Dashboard, Part};
use super::metrics::{Detail, Kernel, Scrape};
use crate::watch::counter_lists::summary;
use crate::watch::figures::sums;
use model::kernels::CountedLayers;
use model::testbed::HostFacts;
use model::{CounterSample, Kernels, Nanos, Occurrence};
pub(crate) use node::Node;
use std::collections::VecDeque;

/// Things that happened which are kept for the page.
const MOST_HAPPENED: usize = 500;
/// Instants in charts: more cannot be told apart.
const MOST_INSTANTS: usize = 100;

#[derive(Debug, Default)]
struct Host {
    lost: Option<String>,
    /// Its last interval, and its length in ns.
    last: Option<(Node, u64)>,
    counted: Option<CounterSample>,
    over_time: Track<Node>,
}

/// What a view of hosts without a run knows: fed with their counters.
#[derive(Debug)]
pub struct Watching {
    facts: Vec<HostFacts>,
    kernels: Kernels,
    version: String,
    started_unix_ns: u64,
    interval: Nanos,
    hosts: Vec<Host>,
    total: Track<Node>,
    happened: VecDeque<Happened>,
    /// Instants that stand in charts: seconds after the watch began, and words.
    instants: VecDeque<(f64, String)>,
    counters: Kernel,
    revision: u64,
    is_over: bool,
}

impl Watching {
    /// Hosts of which nothing was heard yet, each to tell every `interval`. `started_unix_ns` is
    /// the wall clock in ns since 1970.
    pub fn new(
        facts: Vec<HostFacts>,
        version: &str,
        started_unix_ns: u64,
        interval: Nanos,
    ) -> Watching {
        Watching {
            hosts: facts.iter().map(|_| Host::default()).collect(),
            kernels: Kernels::of(&facts),
            facts,
            version: version.to_owned(),
            started_unix_ns,
            interval,
            total: Track::default(),
            happened: VecDeque::new(),
            instants: VecDeque::new(),
            counters: Kernel::default(),
            revision: 0,
            is_over: false,
        }
    }

    /// Takes in what a host's kernel counted; of a host that nobody knows, nothing.
    pub fn counters(&mut self, sample: &CounterSample) {
        let number = sample.host as usize;
        let voice = self.voice(number);
        let (Some(host), Some(facts)) = (self.hosts.get_mut(number), self.facts.get(number)) else {
            return;
        };
        self.revision += 1;
        let counted_once = voice.of(sample);
        self.counters.add(&counted_once);
        let node = Node::of(sample, &sums(sample, facts));
        host.last = Some((node, sample.length_ns));
        host.counted = Some(summary(sample));
        let (start_s, length_s) = (sample.start_ns as f64 / 1e9, sample.length_ns as f64 / 1e9);
        // By time and not by its number: a host that was too busy to tell has fewer intervals, and
        // longer ones.
        let interval =
            (sample.start_ns.saturating_add(self.interval.0 / 4)) / self.interval.0.max(1);
        let interval = u32::try_from(interval).unwrap_or(u32::MAX);
        let key = Key { stage: 0, interval };
        host.over_time.at(key, start_s, length_s).merge(node);
        if voice.is_any() {
            let part = Node::of(&counted_once, &sums(&counted_once, facts));
            self.total.at(key, start_s, length_s).merge(part);
        }
        for note in sample.notes.iter().filter(|_| voice.is_any()) {
            let words = format!("{}: {note}", self.name(sample.host));
            self.tell("note", words);
        }
    }

    fn voice(&self, number: usize) -> CountedLayers {
        self.kernels
            .voice(number, |host| self.hosts.get(host).is_some_and(|host| host.lost.is_none()))
    }

    /// A host is gone.
    pub fn lost(&mut self, number: u32, why: &str) {
        let words = format!("{}: lost: {why}", self.name(number));
        let Some(host) = self.hosts.get_mut(number as usize) else { return };
        host.lost = Some(why.to_owned());
        self.counters.lost(number);
        self.revision += 1;
        self.tell("note", words);
    }

    /// A host tells again, and this is what it is.
    pub fn returned(&mut self, number: u32, facts: &HostFacts) {
        let Some(host) = self.hosts.get_mut(number as usize) else { return };
        host.lost = None;
        if let Some(known) = self.facts.get_mut(number as usize) {
            known.clone_from(facts);
        }
        self.kernels = Kernels::of(&self.facts);
        self.revision += 1;
        let words = format!("{}: back", self.name(number));
        self.tell("note", words);
    }

    /// Takes in what was found on a host: it stands at its instant in the charts and in the list.
    pub fn found(&mut self, found: &Occurrence) {
        let host = found
            .host
            .filter(|_| self.hosts.len() > 1)
            .map(|host| format!("{}: ", self.name(host)));
        let words =
            report::topics::occurrences::line_of(found, host.as_deref().unwrap_or_default());
        self.revision += 1;
        if self.instants.len() == MOST_INSTANTS {
            self.instants.pop_front();
        }
        self.instants.push_back((found.at_s(), words.clone()));
        self.tell_at(found.at_s(), "mark", words);
    }

    /// Nothing more comes.
    pub fn end(&mut self) {
        self.is_over = true;
        self.revision += 1;
    }

    fn name(&self, host: u32) -> String {
        let named = self.facts.get(host as usize).map(|facts| facts.hostname.clone());
        named.unwrap_or_else(|| format!("host {host}"))
    }

    /// The end of the axis of time, in seconds after the start.
    fn now_s(&self) -> f64 {
        self.total.slots().last().map_or(0.0, |slot| slot.end_s)
    }

    /// All hosts over time, without the last stretch while some are still to tell of it: a part of
    /// them would look like a slump.
    fn whole_slots(&self) -> &[Slot<Node>] {
        let slots = self.total.slots();
        let alive = (0..self.hosts.len()).filter(|host| self.voice(*host).is_any()).count() as u64;
        match slots.split_last() {
            Some((last, before))
                if last.part.samples < u64::from(last.intervals) * alive && !self.is_over =>
            {
                before
            }
            _ => slots,
        }
    }

    fn tell(&mut self, kind: &'static str, words: String) {
        self.tell_at(self.now_s(), kind, words);
    }

    fn tell_at(&mut self, at_s: f64, kind: &'static str, words: String) {
        if self.happened.len() == MOST_HAPPENED {
            self.happened.pop_front();
        }
        self.happened.push_back(Happened { at_s, kind, words });
    }
}

impl Dashboard for Watching {
    fn title(&self) -> &'static str {
        page::TITLE
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn parts(&self, view: &View) -> Vec<Part> {
        page::parts(self, view)
    }

    fn metrics(&self, detail: Detail) -> Scrape {
        Scrape {
            version: self.version.clone(),
            // Another watch of the same hosts began at another instant.
            label: format!("watch-{}", self.started_unix_ns / 1_000_000),
            names: (0..self.hosts.len() as u32).map(|host| self.name(host)).collect(),
            lost: self.hosts.iter().filter(|host| host.lost.is_some()).count(),
            run: None,
            kernel: self.counters.clone(),
            detail,
            more: Vec::new(),
            memory_bytes: None,
        }
    }

    fn farewell(&self) -> &'static str {
        "Nobody watches any more and the server ended; this page keeps what it shows."
    }
}
