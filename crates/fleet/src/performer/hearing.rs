//! Makes inputs for the coordinator of what agents say, and of their ends: a thread for each branch
//! of the tree.

use super::SteadyClock;
use crate::comeback::Epochs;
use crate::coordinator::Input;
use crate::launch::LastWords;
use crate::link::{Inlet, LinkError};
use crate::packed::Unpacker;
use crate::relay;
use crate::tree::Tree;
use crate::wire::{FromAgent, Word};
use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::thread;

/// Where something comes from that is heard.
pub(super) struct Way {
    pub(super) tree: Tree,
    pub(super) branch: usize,
    /// The number of the tree's first host in the run.
    pub(super) first: usize,
    pub(super) epochs: Epochs,
    /// Of the agents of this way.
    pub(super) epoch: u32,
    /// The name of the branch's first host.
    pub(super) relay: String,
    pub(super) clock: SteadyClock,
}

/// Makes inputs of words.
#[derive(Default)]
struct Reader {
    /// What each host's counters are a difference to.
    counted: BTreeMap<usize, Unpacker>,
}

impl Reader {
    /// `None` where nothing follows from the word.
    fn input(&mut self, host: usize, word: Word, at_ns: u64) -> Result<Option<Input>, LinkError> {
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
pub(super) fn forward(way: Way, mut inlet: Inlet, last: Option<LastWords>, inputs: Sender<Input>) {
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
    /// Hands on what a host says whose agent still counts. False where nobody listens any more.
    fn tell(&self, host: usize, input: Input, inputs: &Sender<Input>) -> bool {
        self.epochs.while_it_counts(host, self.epoch, || inputs.send(input).is_ok()).unwrap_or(true)
    }
}
