//! Agents that are started again for hosts that were lost, each over a link of its own: whoever
//! stood between a host and us may be gone with it.

use crate::coordinator::Input;
use crate::launch::{Agents, LastWords, Process, Wanted, launch};
use crate::link::{Inlet, Outlet};
use model::Nanos;
use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;

/// Which agent of each host is the one that counts: a number that grows whenever a host is dropped.
/// What an earlier one still says is not passed on.
#[derive(Clone, Debug)]
pub(crate) struct Epochs(Arc<RwLock<Vec<u32>>>);

impl Epochs {
    pub(crate) fn new(hosts: usize) -> Epochs {
        Epochs(Arc::new(RwLock::new(vec![0; hosts])))
    }

    /// The number of a host's agent; 0 for the one that the run began with.
    pub(crate) fn of(&self, host: usize) -> u32 {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(host).copied().unwrap_or_default()
    }

    /// From now on, a host's agent does not count any more.
    fn end(&self, host: usize) {
        if let Some(epoch) = self.0.write().unwrap_or_else(PoisonError::into_inner).get_mut(host) {
            *epoch += 1;
        }
    }

    /// Does something unless the agent that it comes from does not count any more. Nothing of it is
    /// under way behind [`end`](Self::end).
    pub(crate) fn while_it_counts<T>(
        &self,
        host: usize,
        epoch: u32,
        what: impl FnOnce() -> T,
    ) -> Option<T> {
        let epochs = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (epochs.get(host) == Some(&epoch)).then(what)
    }
}

/// Agents that were started and that nobody has taken yet, by host and start.
type Arrived = Arc<Mutex<BTreeMap<(usize, u32), Agents>>>;

/// Who is reached how, and whose words count. Pure: `E` is what is held of an agent that came back.
#[derive(Debug)]
pub(crate) struct Ways<E> {
    pub(crate) epochs: Epochs,
    /// The start of each host that counts.
    starts: BTreeMap<usize, u32>,
    ends: BTreeMap<usize, E>,
}

/// How something reaches a host.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum To<'a, E> {
    /// As the run began.
    Tree,
    /// It came back, and has an end of its own.
    Own(&'a E),
    /// Nobody has to do with it: what is not this host's any more is not sent to another of its
    /// name.
    Nobody,
}

impl<E> Ways<E> {
    pub(crate) fn new(hosts: usize) -> Ways<E> {
        Ways { epochs: Epochs::new(hosts), starts: BTreeMap::new(), ends: BTreeMap::new() }
    }

    pub(crate) fn begin(&mut self, host: usize, start: u32) {
        self.starts.insert(host, start);
    }

    /// Takes an agent that was started. Comes back with it where it was called off meanwhile.
    pub(crate) fn take(&mut self, host: usize, start: u32, end: E) -> Result<(), E> {
        if self.starts.get(&host) != Some(&start) {
            return Err(end);
        }
        self.ends.insert(host, end);
        Ok(())
    }

    /// How a host is reached.
    pub(crate) fn to(&self, host: usize) -> To<'_, E> {
        match self.ends.get(&host) {
            Some(end) => To::Own(end),
            None if self.epochs.of(host) > 0 => To::Nobody,
            None => To::Tree,
        }
    }

    /// Has nothing to do with a host's agent any more, nor with one that is being started. Whether
    /// it was the one that the run began with, and what was held of another one.
    pub(crate) fn part(&mut self, host: usize) -> (bool, Option<E>) {
        let was_first = self.epochs.of(host) == 0;
        self.epochs.end(host);
        self.starts.remove(&host);
        (was_first, self.ends.remove(&host))
    }

    /// Those of hosts that are cut off to whom that is news: whoever came back is reached without a
    /// relay.
    pub(crate) fn cut_off<W>(&self, hosts: Vec<(usize, W)>) -> Vec<(usize, W)> {
        hosts.into_iter().filter(|(host, _)| self.epochs.of(*host) == 0).collect()
    }
}

/// The hosts that came back.
#[derive(Debug)]
pub(crate) struct Comebacks {
    /// How the fleet was launched; `None` where it was not.
    wanted: Option<Arc<Wanted>>,
    pub(crate) ways: Ways<(Outlet, Process)>,
    arrived: Arrived,
}

impl Comebacks {
    pub(crate) fn new(hosts: usize, wanted: Option<Wanted>) -> Comebacks {
        Comebacks { wanted: wanted.map(Arc::new), ways: Ways::new(hosts), arrived: Arc::default() }
    }

    /// Starts the agent of a host; [`Input::Launched`] says how that went.
    pub(crate) fn launch(&mut self, host: usize, start: u32, inputs: SyncSender<Input>) {
        self.ways.begin(host, start);
        let (wanted, arrived) = (self.wanted.clone(), self.arrived.clone());
        // Whoever is not reached takes long to say so.
        thread::spawn(move || {
            let launched =
                wanted.and_then(|wanted| one_of(&wanted, host)).map(|wanted| launch(&wanted));
            let outcome = match launched {
                Some(Ok(agents)) => {
                    arrived
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert((host, start), agents);
                    Ok(())
                }
                Some(Err(errors)) => {
                    Err(errors.into_iter().map(|error| error.what).collect::<Vec<_>>().join("; "))
                }
                None => Err("nothing is known of the way to it".to_owned()),
            };
            if inputs.send(Input::Launched { host, start, outcome }).is_err() {
                // The run is over, and nobody takes it.
                arrived.lock().unwrap_or_else(PoisonError::into_inner).remove(&(host, start));
            }
        });
    }

    /// Takes an agent that was started. `None` where it was called off meanwhile, and has ended.
    pub(crate) fn take(&mut self, host: usize, start: u32) -> Option<(Inlet, LastWords)> {
        let agents =
            self.arrived.lock().unwrap_or_else(PoisonError::into_inner).remove(&(host, start))?;
        let (link, process) = agents.links.into_iter().next()?;
        let (outlet, inlet) = link.split();
        let words = process.words();
        if let Err((outlet, process)) = self.ways.take(host, start, (outlet, process)) {
            drop(outlet);
            end(process);
            return None;
        }
        Some((inlet, words))
    }

    /// Has nothing to do with a host's agent any more, nor with one that is being started. Whether
    /// it was the one that the run began with.
    pub(crate) fn part(&mut self, host: usize) -> bool {
        let (was_first, own) = self.ways.part(host);
        if let Some((outlet, process)) = own {
            drop(outlet);
            end(process);
        }
        was_first
    }
}

impl Drop for Comebacks {
    fn drop(&mut self) {
        // All at once; then each process is waited for, and they have ended meanwhile.
        let processes: Vec<Process> =
            std::mem::take(&mut self.ways.ends).into_values().map(|(_, process)| process).collect();
        drop(processes);
    }
}

/// Ends a process, for which the others do not wait.
fn end(process: Process) {
    thread::spawn(move || drop(process));
}

/// The same for one host alone, from here.
fn one_of(wanted: &Wanted, host: usize) -> Option<Wanted> {
    let name = wanted.hosts.get(host)?.clone();
    let allow = wanted.allow.get(host).cloned().into_iter().collect();
    Some(Wanted {
        hosts: vec![name],
        allow,
        fanout: Some(1),
        // Whoever asks for it tries again by himself.
        start_within: Nanos(0),
        by: None,
        ..wanted.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn what_an_agent_says_that_was_dropped_is_not_passed_on() {
        let epochs = Epochs::new(2);
        assert_eq!(epochs.while_it_counts(1, 0, || 7), Some(7));
        epochs.end(1);
        assert_eq!(epochs.while_it_counts(1, 0, || 7), None);
        assert_eq!(epochs.while_it_counts(1, 1, || 7), Some(7));
        assert_eq!((epochs.of(0), epochs.of(1), epochs.of(2)), (0, 1, 0));
        epochs.end(9);
        assert_eq!(epochs.while_it_counts(9, 0, || 7), None, "there is no such host");
    }

    #[test]
    fn a_fleet_that_nobody_launched_is_not_launched_again() {
        let mut comebacks = Comebacks::new(1, None);
        let (inputs, heard) = sync_channel(1);
        comebacks.launch(0, 1, inputs);
        let Ok(Input::Launched { host: 0, start: 1, outcome: Err(why) }) = heard.recv() else {
            panic!("no answer")
        };
        assert!(why.contains("nothing is known"), "{why}");
        assert!(comebacks.take(0, 1).is_none());
        assert!(comebacks.part(0) && !comebacks.part(0), "the first agent is dropped once");
    }

    #[test]
    fn a_start_that_was_called_off_is_not_taken_and_nobody_is_told_in_place_of_another() {
        let mut ways: Ways<&str> = Ways::new(2);
        assert_eq!(ways.to(1), To::Tree);
        assert_eq!(ways.part(1), (true, None));
        assert_eq!(ways.to(1), To::Nobody, "it is not the one that was meant");
        ways.begin(1, 4);
        assert_eq!(ways.take(1, 3, "early"), Err("early"));
        assert_eq!(ways.take(1, 4, "own"), Ok(()));
        assert_eq!((ways.to(0), ways.to(1)), (To::Tree, To::Own(&"own")));
        assert_eq!(ways.cut_off(vec![(0, ()), (1, ())]), [(0, ())]);
        assert_eq!(ways.part(1), (false, Some("own")));
        assert_eq!(ways.take(1, 4, "late"), Err("late"));
    }

    #[test]
    fn one_host_is_launched_from_here_with_what_it_may_touch() {
        let wanted = Wanted {
            via: crate::launch::Via::Local,
            hosts: vec!["a".into(), "b".into()],
            allow: vec![vec!["/x".into()], vec!["/y".into()]],
            version: "1".into(),
            fanout: Some(2),
            start_within: Nanos(9),
            by: Some("r".into()),
            ..Wanted::default()
        };
        let one = one_of(&wanted, 1).expect("a host");
        assert_eq!((one.hosts, one.allow), (vec!["b".to_owned()], vec![vec!["/y".to_owned()]]));
        assert_eq!((one.fanout, one.by), (Some(1), None));
        assert!(one_of(&wanted, 2).is_none());
    }
}
