//! Makes inputs for the coordinator of what agents say, and of their ends: a thread for each branch
//! of the tree.

use super::SteadyClock;
use crate::coordinator::Input;
use crate::launch::LastWords;
use crate::link::{Inlet, LinkError};
use crate::packed::Unpacker;
use crate::relaunch::Epochs;
use crate::relay;
use crate::tree::Tree;
use crate::wire::{FromAgent, Word};
use std::collections::BTreeMap;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

/// Between two looks whether the coordinator has room for what a branch says.
const LOOK: Duration = Duration::from_millis(1);

/// Where something comes from that is heard.
pub(super) struct Way {
    pub(super) tree: Tree,
    pub(super) branch: usize,
    /// The number of the tree's first host in the run.
    pub(super) first: usize,
    pub(super) epochs: Epochs,
    pub(super) epoch: u32,
    /// The name of the branch's first host.
    pub(super) relay: String,
    pub(super) clock: SteadyClock,
}

/// Makes inputs of words.
#[derive(Default)]
pub(crate) struct Reader {
    /// What each host's counters are a difference to.
    counted: BTreeMap<usize, Unpacker>,
}

impl Reader {
    /// `None` where nothing follows from the word.
    pub(crate) fn input(
        &mut self,
        host: usize,
        word: Word,
        at_ns: u64,
    ) -> Result<Option<Input>, LinkError> {
        let frame = match word {
            Word::Gone(why) => return Ok(Some(Input::Lost { host, why })),
            Word::Said(frame) => frame,
        };
        let message = match frame.read()? {
            FromAgent::Counted(frame) => {
                match self.counted.entry(host).or_default().unpack(&frame)? {
                    Some(sample) => FromAgent::Counters(Box::new(sample)),
                    None => return Ok(None),
                }
            }
            message => message,
        };
        Ok(Some(Input::Heard { host, message, at_ns }))
    }
}

/// Passes on what the agents of a branch say, and that they are gone.
pub(super) fn forward(
    way: Way,
    mut inlet: Inlet,
    last: Option<LastWords>,
    inputs: SyncSender<Input>,
) {
    assert!(!way.tree.branch(way.branch).is_empty(), "a way from no host");
    thread::spawn(move || {
        let mut reader = Reader::default();
        let error = 'heard: loop {
            let words = inlet.frame().and_then(|frame| relay::heard(&way.tree, way.branch, frame));
            let at_ns = way.clock.now_ns();
            for (host, word) in match words {
                Ok(words) => words,
                Err(error) => break 'heard error,
            } {
                let host = way.first + host;
                match reader.input(host, word, at_ns) {
                    Ok(None) => {}
                    Ok(Some(input)) => {
                        if !way.tell(host, input, &inputs) {
                            return;
                        }
                    }
                    Err(error) => break 'heard error,
                }
            }
        };
        for (host, word) in relay::gone(&way.tree, way.branch, &way.relay, &relay::why(error, last))
        {
            let host = way.first + host;
            // A word of a host that is gone can be read.
            let Ok(Some(input)) = reader.input(host, word, 0) else { return };
            if !way.tell(host, input, &inputs) {
                return;
            }
        }
    });
}

impl Way {
    /// Hands on what a host says whose agent still counts, and waits for room: then its branch is
    /// not read, and waits, too. False where nobody listens any more.
    fn tell(&self, host: usize, mut input: Input, inputs: &SyncSender<Input>) -> bool {
        loop {
            // Nobody waits while holding what the coordinator needs to drop a host.
            let counts = self.epochs.while_it_counts(host, self.epoch, || inputs.try_send(input));
            match counts {
                None | Some(Ok(())) => return true,
                Some(Err(TrySendError::Disconnected(_))) => return false,
                Some(Err(TrySendError::Full(again))) => input = again,
            }
            thread::sleep(LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn a_branch_waits_for_room_and_a_host_can_be_dropped_meanwhile() {
        let mut comebacks = crate::relaunch::Comebacks::new(2, None);
        let epochs = comebacks.ways.epochs.clone();
        let way = |epochs| Way {
            tree: Tree::new(2, 2),
            branch: 0,
            first: 0,
            epochs,
            epoch: 0,
            relay: String::new(),
            clock: SteadyClock::begin(),
        };
        let (inputs, heard) = sync_channel(1);
        inputs.send(Input::Tick).expect("room");
        let tell = |host: usize| {
            let (way, inputs) = (way(epochs.clone()), inputs.clone());
            let lost = Input::Lost { host, why: String::new() };
            thread::spawn(move || way.tell(host, lost, &inputs))
        };
        let (dropped, stays) = (tell(0), tell(1));
        // Would wait for ever if one of them waited while it counts.
        assert!(comebacks.part(0));
        assert!(dropped.join().expect("no panic"), "of one that does not count nothing is said");
        assert_eq!(heard.recv(), Ok(Input::Tick));
        assert_eq!(heard.recv(), Ok(Input::Lost { host: 1, why: String::new() }));
        assert!(stays.join().expect("no panic"));
        drop(heard);
        assert!(!tell(1).join().expect("no panic"), "the run is over");
    }
}
