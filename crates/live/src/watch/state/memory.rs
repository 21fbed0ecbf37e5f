//! What a view knew at an instant of a run: a replay goes back to it.

use super::{Counted, Reading, State};
use crate::progress::Progress;
use std::collections::{BTreeSet, VecDeque};

/// What happened until an instant, and nothing of what the user chose.
#[derive(Debug)]
pub(in crate::watch) struct Memory {
    hosts: Vec<OfHost>,
    progress: Option<Progress>,
    messages: VecDeque<String>,
}

#[derive(Debug)]
struct OfHost {
    shown: Option<Reading>,
    lost: Option<String>,
    workers: Vec<Counted>,
    seen: BTreeSet<(&'static str, String)>,
}

impl State {
    pub(in crate::watch) fn memory(&self) -> Memory {
        let of = |host: &super::Host| OfHost {
            shown: host.shown.clone(),
            lost: host.lost.clone(),
            workers: host.workers.clone(),
            seen: host.seen.clone(),
        };
        Memory {
            hosts: self.hosts.iter().map(of).collect(),
            progress: self.progress.clone(),
            messages: self.messages.clone(),
        }
    }

    pub(in crate::watch) fn recall(&mut self, memory: &Memory) {
        for (host, of) in self.hosts.iter_mut().zip(&memory.hosts) {
            (host.shown, host.waiting, host.lost) = (of.shown.clone(), None, of.lost.clone());
            (host.workers, host.seen) = (of.workers.clone(), of.seen.clone());
        }
        self.progress.clone_from(&memory.progress);
        self.messages.clone_from(&memory.messages);
    }
}
