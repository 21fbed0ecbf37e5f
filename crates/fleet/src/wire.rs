//! What coordinator and agents say to each other.

use model::plan::HostPlan;
use model::testbed::HostFacts;
use model::{CounterSample, IntervalSample, Note, StageEnd};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::mpsc::{Receiver, Sender, channel};

/// What the coordinator says to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToAgent {
    /// Tell what you are, and what these targets are to you. Nothing is touched.
    Inspect {
        /// The paths as the user named them.
        targets: Vec<String>,
    },
    /// Claim and open your share.
    Assign(Box<HostPlan>),
    /// Run this stage.
    Start {
        /// Its number.
        stage: u32,
    },
    /// End the stage that runs, and begin no other.
    Stop,
    /// Let go of the targets.
    Release {
        /// Whether to remove the files that the run made.
        remove: bool,
    },
}

/// What an agent says to the coordinator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromAgent {
    /// The answer to [`ToAgent::Inspect`].
    Facts(Box<HostFacts>),
    /// The targets are claimed and open.
    Ready {
        /// What had to be done otherwise than planned.
        notes: Vec<Note>,
    },
    /// The targets could not be claimed, opened or laid out; the reason and remedy in words.
    Refused(String),
    /// An interval is over.
    Sample(Box<IntervalSample>),
    /// What the kernel counted since the last ones.
    Counters(Box<CounterSample>),
    /// A stage is over on this host.
    StageEnded {
        /// Its number.
        stage: u32,
        /// How it ended.
        end: StageEnd,
        /// What came up in it.
        notes: Vec<Note>,
    },
    /// The targets are let go.
    Released {
        /// What could not be removed, in words.
        left: Option<String>,
    },
}

/// A message that cannot be read, or a partner that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// The other end is closed.
    Closed,
    /// The bytes are no message of this version.
    Garbled,
}

/// One end of a connection that carries whole frames in order. Closing one end ends the other's wait.
#[derive(Debug)]
pub struct Link {
    out: Sender<Vec<u8>>,
    inbox: Receiver<Vec<u8>>,
}

/// Two ends in one process.
pub fn pair() -> (Link, Link) {
    let (to_left, left_inbox) = channel();
    let (to_right, right_inbox) = channel();
    (Link { out: to_right, inbox: left_inbox }, Link { out: to_left, inbox: right_inbox })
}

/// The sending half of a [`Link`].
#[derive(Clone, Debug)]
pub struct Outlet {
    out: Sender<Vec<u8>>,
}

/// The receiving half of a [`Link`].
#[derive(Debug)]
pub struct Inlet {
    inbox: Receiver<Vec<u8>>,
}

impl Link {
    /// Both halves, for two threads.
    pub fn split(self) -> (Outlet, Inlet) {
        (Outlet { out: self.out }, Inlet { inbox: self.inbox })
    }
}

impl Outlet {
    /// Sends one message.
    ///
    /// # Errors
    /// When the other end is closed.
    pub fn send<T: Serialize>(&self, message: &T) -> Result<(), LinkError> {
        let frame = postcard::to_stdvec(message).map_err(|_| LinkError::Garbled)?;
        self.out.send(frame).map_err(|_| LinkError::Closed)
    }
}

impl Inlet {
    /// Waits for the next message.
    ///
    /// # Errors
    /// When the other end is closed, or what it sent is no message.
    pub fn receive<T: DeserializeOwned>(&self) -> Result<T, LinkError> {
        let frame = self.inbox.recv().map_err(|_| LinkError::Closed)?;
        postcard::from_bytes(&frame).map_err(|_| LinkError::Garbled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent_and_a_closed_end_is_seen() {
        let (left, right) = pair();
        let ((out, _), (_, inlet)) = (left.split(), right.split());
        let message = ToAgent::Inspect { targets: vec!["/tmp/x".into()] };
        out.send(&message).expect("open");
        assert_eq!(inlet.receive::<ToAgent>(), Ok(message));
        drop(out);
        assert_eq!(inlet.receive::<ToAgent>(), Err(LinkError::Closed));
    }

    #[test]
    fn garbled_frames_are_refused() {
        let (left, right) = pair();
        left.split().0.out.send(vec![250, 1, 2]).expect("open");
        assert_eq!(right.split().1.receive::<ToAgent>(), Err(LinkError::Garbled));
    }
}
