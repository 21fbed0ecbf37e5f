//! Who stands between the coordinator and a host, and how messages find their way over them.

use super::super::scenario::Mishap;
use super::{What, World};
use crate::coordinator::Input;
use crate::link::Frame;
use crate::relay;
use crate::tree::Tree;
use crate::wire::{FromAgent, ToAgent, Word};

#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// Its relay; `None` for the coordinator.
    parent: Option<usize>,
    /// Its number among the branches of its relay.
    branch: usize,
    /// The hosts behind this one in the fleet's order that it is the relay of.
    tree: Tree,
}

/// Gives every host its place in a tree of this fanout.
pub(super) fn places(hosts: usize, fanout: usize) -> Vec<Place> {
    let mut places = vec![Place::default(); hosts];
    let mut open = vec![(None, 0, Tree::new(hosts, fanout))];
    while let Some((parent, first, tree)) = open.pop() {
        for (branch, hosts) in tree.branches().enumerate() {
            let head = first + hosts[0];
            let below = Tree::new(hosts.len() - 1, fanout);
            places[head] = Place { parent, branch, tree: below.clone() };
            open.push((Some(head), head + 1, below));
        }
    }
    places
}

impl World<'_> {
    /// Sends an order on its way, from the coordinator.
    pub(super) fn send_down(&mut self, host: usize, order: &ToAgent) {
        let frame = Frame::of(order).expect("short");
        let (branch, frame) = relay::order(&self.root, host, frame).expect("a host of the tree");
        let head = self.root.branch(branch)[0];
        self.put_down(head, frame);
    }

    /// Puts an order on the line of a host that its sender reaches by himself.
    pub(super) fn hand_down(&mut self, host: usize, order: &ToAgent) {
        self.put_down(host, Frame::of(order).expect("short"));
    }

    fn put_down(&mut self, host: usize, frame: Frame) {
        let (now_ns, life) = (self.queue.now_ns(), self.sides[host].life);
        if let Some(at_ns) = self.sides[host].down.arrival(now_ns) {
            self.queue.plan(at_ns, What::Order((host, life), frame));
        }
    }

    /// A relay passes an order on.
    pub(super) fn pass(&mut self, relay: usize, below: u32, frame: Frame) {
        let tree = &self.places[relay].tree;
        let (branch, frame) = relay::order(tree, below as usize, frame).expect("a host below");
        let child = relay + 1 + tree.branch(branch)[0];
        if !self.sides[child].is_parted && self.sides[child].life == 0 {
            self.put_down(child, frame);
        }
    }

    /// The coordinator, or a relay, has nothing to do with a host any more.
    pub(super) fn part(&mut self, relay: Option<usize>, host: usize) {
        let (tree, first) = match relay {
            Some(relay) => (&self.places[relay].tree, relay + 1),
            None => (&self.root, 0),
        };
        let (branch, below) = tree.way(host).expect("a host below");
        let hosts = tree.branch(branch).to_vec();
        let head = first + hosts[0];
        match below {
            Some(below) if !self.sides[head].is_parted && self.sides[head].life == 0 => {
                self.hand_down(head, &ToAgent::Part { below });
            }
            Some(_) => {}
            None => {
                self.sides[head].is_parted = true;
                if self.sides[head].life == 0 {
                    self.close_down(head);
                }
                let cut_off: Vec<(u32, Word)> = hosts
                    .iter()
                    .skip(1)
                    .map(|host| (*host as u32, Word::Gone(relay::without(&format!("h{head}")))))
                    .collect();
                self.send_up(relay, cut_off);
            }
        }
    }

    /// What a relay has to say goes to its own; what the coordinator finds out by itself it knows.
    fn send_up(&mut self, relay: Option<usize>, words: Vec<(u32, Word)>) {
        let now_ns = self.queue.now_ns();
        match relay {
            Some(_) if words.is_empty() => {}
            Some(relay) => {
                if let Some(at_ns) = self.sides[relay].up.arrival(now_ns) {
                    let frame = Frame::of(&FromAgent::Passed(words)).expect("short");
                    let life = self.sides[relay].life;
                    self.queue.plan(at_ns, What::Word((relay, life), frame, None));
                }
            }
            None => {
                let gone = |(host, word)| match word {
                    Word::Gone(why) => Some((host as usize, why)),
                    Word::Said(_) => None,
                };
                let gone = words.into_iter().filter_map(gone).collect();
                for (host, why) in self.ways.cut_off(gone) {
                    self.queue.plan(now_ns, What::Input(Input::Lost { host, why }));
                }
            }
        }
    }

    /// The streams of those below a host end, so much later.
    pub(super) fn close_below(&mut self, host: usize, at_ns: u64) {
        let heads: Vec<usize> =
            self.places[host].tree.branches().map(|hosts| host + 1 + hosts[0]).collect();
        // Whoever came back is nobody's relay, and below nobody.
        let is_relay = self.sides[host].life == 0;
        for head in heads.into_iter().filter(|_| is_relay) {
            if self.sides[head].life == 0
                && let Some(at_ns) = self.sides[head].down.arrival(at_ns)
            {
                self.queue.plan(at_ns, What::Closed((head, 0)));
            }
        }
    }

    /// A word, or the end, of a host comes to its relay. What is for the coordinator comes back.
    pub(super) fn pass_up(&mut self, what: What) -> Option<What> {
        let now_ns = self.queue.now_ns();
        let host = match &what {
            What::Word((host, _), ..) | What::Lost((host, _)) => *host,
            _ => return Some(what),
        };
        let relay = self.places[host].parent.filter(|_| self.sides[host].life == 0);
        let Some(relay) = relay else { return Some(what) };
        if self.sides[relay].is_dead || self.sides[relay].life > 0 {
            return None;
        }
        if let Some(Mishap::Stalls { from_ns, until_ns }) = self.sides[relay].mishap
            && (from_ns..until_ns).contains(&now_ns)
        {
            self.queue.plan(until_ns, what);
            return None;
        }
        let (tree, branch) = (&self.places[relay].tree, self.places[host].branch);
        let words = match what {
            What::Word(..) if self.sides[host].is_broken || self.sides[host].is_parted => {
                return None;
            }
            What::Word(_, frame, _) => relay::heard(tree, branch, frame).expect("of hosts below"),
            _ => relay::gone(tree, branch, &format!("h{host}"), "its connection ended"),
        };
        self.send_up(
            Some(relay),
            words.into_iter().map(|(host, word)| (host as u32, word)).collect(),
        );
        None
    }

    /// What comes to the coordinator from a branch, taken apart as the performer does it: what an
    /// agent says that does not count any more is not passed on.
    pub(super) fn taken_apart(&mut self, head: usize, frame: Frame, at_ns: u64) -> Vec<Input> {
        let (life, epoch) = (self.sides[head].life, self.sides[head].epoch);
        let (words, reader) = if life > 0 {
            (vec![(head, Word::Said(frame))], &mut self.sides[head].reader)
        } else {
            let branch = self.places[head].branch;
            let words = relay::heard(&self.root, branch, frame).expect("of hosts below");
            (words, &mut self.readers[branch])
        };
        let mut inputs = Vec::new();
        for (host, word) in words {
            let Some(input) = reader.input(host, word, at_ns).expect("a message") else { continue };
            match self.ways.epochs.while_it_counts(host, epoch, || input) {
                Some(input) => inputs.push(input),
                None => self.outcome.see("an agent that was dropped still says something"),
            }
        }
        inputs
    }

    /// The same of a branch that is gone.
    pub(super) fn all_lost(&self, head: usize) -> Vec<Input> {
        let why = "its connection ended";
        let words = if self.sides[head].life > 0 {
            vec![(head, Word::Gone(why.to_owned()))]
        } else {
            relay::gone(&self.root, self.places[head].branch, &format!("h{head}"), why)
        };
        let input = |(host, word)| match word {
            Word::Gone(why) => {
                let epoch = self.sides[head].epoch;
                self.ways.epochs.while_it_counts(host, epoch, || Input::Lost { host, why })
            }
            Word::Said(_) => None,
        };
        words.into_iter().filter_map(input).collect()
    }
}

/// The hosts between one and the coordinator.
pub(super) fn above(places: &[Place], host: usize) -> Vec<usize> {
    std::iter::successors(places[host].parent, |relay| places[*relay].parent).collect()
}
