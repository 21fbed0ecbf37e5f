//! Starts the agents of many hosts, so many at a time: the first one of each branch from here, and
//! the others by it. Who cannot be reached costs nobody but himself: his branch gets another relay,
//! and whom a relay does not reach is tried from here.

use super::one::{arguments, launch_one};
use super::outcome::{Missing, Start};
use super::silence::{self, Answers};
use super::trouble::{Trouble, longest_busy};
use super::{ALL_FROM_HERE, ANSWER, AT_ONCE, Binary, COPY, Process, Wanted};
use crate::link::{Link, LinkError};
use crate::tree;
use crate::wire::{FromAgent, ToAgent};
use model::Nanos;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

/// After so many relays of a branch that could not be started, the rest of it is started from here:
/// a whole rack may be off.
const MOST_RELAYS: u32 = 2;

/// Is told when a host could not be started, and whether it is tried again.
pub type Told<'a> = dyn Fn(&Start, bool) + Sync + 'a;

pub(super) struct Branch {
    /// Its hosts, its relay first.
    pub(super) hosts: Vec<usize>,
    pub(super) link: Link,
    pub(super) process: Process,
}

/// What came of it: the branches, and how the start of each host went.
pub(super) struct Spread {
    pub(super) branches: Vec<Branch>,
    pub(super) starts: Vec<Start>,
}

/// Hosts that are to become a branch.
#[derive(Debug)]
struct Unit {
    /// The first one becomes the relay of the rest.
    hosts: Vec<usize>,
    /// Before this, nothing is tried.
    due: Instant,
    /// Relays of this branch that could not be started.
    relays: u32,
}

impl Unit {
    fn now(hosts: Vec<usize>, relays: u32) -> Unit {
        Unit { hosts, due: Instant::now(), relays }
    }

    /// The hosts that are left of a branch whose relay is not there.
    fn rest(hosts: &[usize], relays: u32) -> Vec<Unit> {
        match hosts {
            [] => Vec::new(),
            _ if relays >= MOST_RELAYS => {
                hosts.iter().map(|host| Unit::now(vec![*host], 0)).collect()
            }
            _ => vec![Unit::now(hosts.to_vec(), relays)],
        }
    }
}

/// What is to be done, and what was.
struct State {
    waiting: Vec<Unit>,
    /// Units that are not over: those that wait, and those that somebody works at.
    open: usize,
    branches: Vec<Branch>,
    /// What is known of the start of each host so far; its time is that of its first try.
    starts: Vec<Start>,
    begun: Vec<Option<Instant>>,
    /// When each try began that is under way.
    under_way: BTreeMap<usize, Instant>,
    answers: Answers,
}

/// Which agents are to be started, and how.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) wanted: &'a Wanted,
    pub(super) binary: &'a Binary,
    /// Branches at most.
    pub(super) fanout: usize,
    pub(super) told: &'a Told<'a>,
}

struct Work<'a> {
    task: Task<'a>,
    began: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

/// Starts all that can be started, but those of `gone`.
pub(super) fn spread(task: &Task<'_>, gone: &[Start]) -> Spread {
    let wanted = task.wanted;
    let count = wanted.hosts.len();
    let start = |host: &String| Start {
        host: host.clone(),
        by: wanted.by.clone(),
        tries: 0,
        took: Nanos(0),
        missing: None,
    };
    let is_gone = |host: &String| gone.iter().find(|start| start.host == *host);
    let there: Vec<usize> =
        (0..count).filter(|host| is_gone(&wanted.hosts[*host]).is_none()).collect();
    let waiting: Vec<Unit> = tree::runs(there.len(), task.fanout)
        .map(|places| Unit::now(there[places].to_vec(), 0))
        .collect();
    let state = State {
        open: waiting.len(),
        waiting,
        branches: Vec::new(),
        starts: wanted
            .hosts
            .iter()
            .map(|host| is_gone(host).cloned().unwrap_or_else(|| start(host)))
            .collect(),
        begun: vec![None; count],
        under_way: BTreeMap::new(),
        answers: Answers::default(),
    };
    let work = Work {
        task: *task,
        began: Instant::now(),
        state: Mutex::new(state),
        changed: Condvar::new(),
    };
    let at_once = wanted.connections.map_or(AT_ONCE, |connections| connections.max(1) as usize);
    thread::scope(|scope| {
        for _ in 0..count.min(at_once) {
            scope.spawn(|| work.go_on(scope));
        }
    });
    let State { mut branches, starts, .. } =
        work.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    branches.sort_by_key(|branch| branch.hosts.first().copied());
    Spread { branches, starts }
}

impl<'a> Work<'a> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does one unit after the other until none is left.
    fn go_on<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        while let Some(unit) = self.next() {
            self.start(unit, scope);
        }
    }

    /// The next unit that is due; `None` when all are over.
    fn next(&self) -> Option<Unit> {
        let mut state = self.state();
        loop {
            if state.open == 0 {
                return None;
            }
            let now = Instant::now();
            let due = state.waiting.iter().position(|unit| unit.due <= now);
            if let Some(at) = due {
                return Some(state.waiting.remove(at));
            }
            let pause = state.waiting.iter().map(|unit| unit.due.duration_since(now)).min();
            let pause = pause.unwrap_or(Duration::from_secs(1));
            state =
                self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A unit is over, and these follow from it.
    fn over(&self, follow: Vec<Unit>) {
        let mut state = self.state();
        state.open += follow.len();
        state.open -= 1;
        state.waiting.extend(follow);
        self.changed.notify_all();
    }

    /// Starts the relay of a unit, and has it start the rest.
    fn start<'scope>(&'scope self, unit: Unit, scope: &'scope Scope<'scope, '_>) {
        let Some((head, rest)) = unit.hosts.split_first() else { return self.over(Vec::new()) };
        let (head, name) = (*head, &self.task.wanted.hosts[*head]);
        let begun = Instant::now();
        let tries = {
            let mut state = self.state();
            state.begun[head].get_or_insert(begun);
            state.under_way.insert(head, begun);
            state.starts[head].tries = state.starts[head].tries.saturating_add(1);
            state.starts[head].tries
        };
        let arguments = arguments(self.task.wanted, head, !rest.is_empty());
        let was_given_up = Cell::new(false);
        let is_given_up = || {
            was_given_up.set(self.is_given_up(begun, !rest.is_empty()));
            was_given_up.get()
        };
        let (wanted, binary) = (self.task.wanted, self.task.binary);
        let launched = launch_one(wanted, binary, name, &arguments, &is_given_up);
        self.answered(head, launched.is_ok().then(|| begun.elapsed()));
        let missing = launched.as_ref().err().cloned();
        self.note(head, None, missing);
        match launched {
            // Its branch does not wait for it. It gets a try alone, beside the others.
            Err(_) if was_given_up.get() && !rest.is_empty() => {
                let mut follow = Unit::rest(rest, unit.relays + 1);
                follow.push(Unit::now(vec![head], 0));
                self.over(follow);
            }
            Err(missing) => {
                let follow = self.after_failure(&unit, tries, &missing);
                self.over(follow);
            }
            Ok((link, process)) if rest.is_empty() => {
                self.state().branches.push(Branch { hosts: unit.hosts, link, process });
                self.over(Vec::new());
            }
            // Another thread waits for what the relay says: this one starts others meanwhile.
            Ok((link, process)) => {
                scope.spawn(move || {
                    let follow = self.have_adopted(&unit, link, process);
                    self.over(follow);
                });
            }
        }
    }

    /// A try is over; of one that was answered, how long that took.
    fn answered(&self, host: usize, took: Option<Duration>) {
        let mut state = self.state();
        state.under_way.remove(&host);
        if let Some(took) = took {
            state.answers.came(took);
        }
    }

    /// Whether a try that began then is not waited for any longer: it takes far longer than that of
    /// any other host, and others wait for it. These are its branch, or all, where nothing else is
    /// under way and they may do without.
    fn is_given_up(&self, begun: Instant, has_branch: bool) -> bool {
        let within = Duration::from_nanos(self.task.wanted.start_within.0);
        let state = self.state();
        let Some(limit) = silence::limit(state.answers.longest, within) else { return false };
        let is_late = |begun: &Instant| begun.elapsed() > limit;
        let is_all = || {
            let tries = &state.under_way;
            self.task.wanted.may_lack && state.open == tries.len() && tries.values().all(is_late)
        };
        is_late(&begun) && (has_branch || is_all())
    }

    /// What is tried behind a relay that could not be started: it again, if that may help, and its
    /// branch with another one.
    fn after_failure(&self, unit: &Unit, tries: u32, missing: &Missing) -> Vec<Unit> {
        let [head, rest @ ..] = unit.hosts.as_slice() else { return Vec::new() };
        let trouble = missing.trouble.unwrap_or(Trouble::Refused);
        let within = Duration::from_nanos(self.task.wanted.start_within.0);
        let pause = trouble.pause(tries, self.began.elapsed(), within, by_chance());
        let start = self.state().starts[*head].clone();
        (self.task.told)(&start, pause.is_some());
        let again = |hosts: Vec<usize>, pause| Unit {
            due: Instant::now() + pause,
            ..Unit::now(hosts, unit.relays)
        };
        match (pause, trouble) {
            // In a moment there is room for it: it is no worse a relay than another.
            (Some(pause), Trouble::Busy) => vec![again(unit.hosts.clone(), pause)],
            (pause, _) => {
                let mut follow = Unit::rest(rest, unit.relays + 1);
                follow.extend(pause.map(|pause| again(vec![*head], pause)));
                follow
            }
        }
    }

    /// Has a relay start the rest of its unit. Comes back with what it could not start.
    fn have_adopted(&self, unit: &Unit, link: Link, process: Process) -> Vec<Unit> {
        let [head, rest @ ..] = unit.hosts.as_slice() else { return Vec::new() };
        let relay = &self.task.wanted.hosts[*head];
        let adopted = adopt(link, self.share(relay, rest));
        let (link, starts) = match adopted {
            Ok(adopted) => adopted,
            Err(what) => {
                drop(process);
                let what = format!("it was to start others, and {what}");
                let missing = Missing::on_the_way(what, Some(ALL_FROM_HERE.to_owned()), "");
                // It gets one more chance, alone.
                let mut follow = Unit::rest(rest, unit.relays + 1);
                let tries = self.state().starts[*head].tries;
                self.note(*head, None, Some(missing));
                follow.extend((tries < 2).then(|| Unit::now(vec![*head], 0)));
                return follow;
            }
        };
        let mut hosts = vec![*head];
        let mut follow = Vec::new();
        for (host, start) in rest.iter().zip(starts) {
            match &start.missing {
                None => hosts.push(*host),
                // A host that refuses does so whoever asks.
                Some(missing) if missing.is_final => (self.task.told)(&start, false),
                // Whoever asked us tries it himself: once, and not at each level of the tree.
                Some(_) if self.task.wanted.by.is_some() => {}
                Some(_) => follow.push(Unit::now(vec![*host], 0)),
            }
            self.note(*host, Some(relay), start.missing.clone());
            let mut state = self.state();
            let known = &mut state.starts[*host];
            (known.tries, known.took) = (known.tries.saturating_add(start.tries), start.took);
            known.by = start.by;
        }
        self.state().branches.push(Branch { hosts, link, process });
        follow
    }

    /// What a relay is asked for.
    fn share(&self, relay: &str, rest: &[usize]) -> Wanted {
        let wanted = self.task.wanted;
        let left = Duration::from_nanos(wanted.start_within.0).saturating_sub(self.began.elapsed());
        let allow = |host: &usize| wanted.allow.get(*host).cloned().unwrap_or_default();
        Wanted {
            hosts: rest.iter().map(|host| wanted.hosts[*host].clone()).collect(),
            allow: rest.iter().map(allow).collect(),
            fanout: Some(u32::try_from(self.task.fanout).unwrap_or(u32::MAX)),
            start_within: Nanos(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX)),
            by: Some(relay.to_owned()),
            ..wanted.clone()
        }
    }

    /// What became of the last try of a host.
    fn note(&self, host: usize, by: Option<&str>, missing: Option<Missing>) {
        let mut state = self.state();
        let spent = state.begun[host].map_or(Duration::ZERO, |begun| begun.elapsed());
        let by = by.map(str::to_owned).or_else(|| self.task.wanted.by.clone());
        let start = &mut state.starts[host];
        (start.by, start.missing) = (by, missing);
        start.took = Nanos(u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX));
    }
}

/// Has an agent start others. Comes back with how the start of each went.
fn adopt(link: Link, share: Wanted) -> Result<(Link, Vec<Start>), &'static str> {
    let levels = tree::levels(share.hosts.len(), share.fanout.unwrap_or(1) as usize);
    // Each level may have to copy the program, a few times one after the other where it is wide.
    let at_once = share.connections.map_or(AT_ONCE, |connections| connections.max(1) as usize);
    let rounds = share.hosts.len().div_ceil(at_once).max(levels);
    let once = ANSWER * 2 + COPY + longest_busy();
    let within = once
        .saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX))
        .saturating_add(Duration::from_nanos(share.start_within.0));
    let hosts = share.hosts.clone();
    let (outlet, mut inlet) = link.split();
    outlet.send(&ToAgent::Adopt(Box::new(share))).map_err(|_| "does not listen")?;
    let (found, result) = sync_channel(1);
    // Reading blocks, so another thread does it; if it is too late, the process is ended, and the
    // thread with it.
    thread::spawn(move || {
        let answer = inlet.receive::<FromAgent>();
        let _ = found.send((inlet, answer));
    });
    match result.recv_timeout(within) {
        Ok((inlet, Ok(FromAgent::Adopted(starts)))) => match are_of(&starts, &hosts) {
            true => Ok((Link::of(outlet, inlet), starts)),
            false => Err("tells of starts that nobody asked for"),
        },
        Ok((_, Err(LinkError::Closed))) => Err("ended"),
        Ok(_) => Err("does not answer as it should"),
        Err(_) => Err("does not answer"),
    }
}

/// Whether these are the starts of these hosts, each once and in their order, and each was tried.
fn are_of(starts: &[Start], hosts: &[String]) -> bool {
    let is_one = |(start, host): (&Start, &String)| {
        let is_known = start.tries > 0 || start.missing.is_some();
        start.host == *host && start.by.is_some() && is_known
    };
    starts.len() == hosts.len() && starts.iter().zip(hosts).all(is_one)
}

/// From 0 to 1.
fn by_chance() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}
