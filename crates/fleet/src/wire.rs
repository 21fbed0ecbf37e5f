//! What coordinator and agents say to each other.

use crate::coordinator::{LayoutsOver, RunOver};
use crate::launch::Start;
use crate::launch::wanted::Wanted;
use crate::link::Frame;
use model::event::{HostEnd, Waiting};
use model::network::{FlowCounts, FlowFailure, FlowSpec, HostAddress};
use model::plan::{HostPlan, HostStage};
use model::testbed::HostFacts;
use model::{CounterSample, IntervalSample, Note, StageEnd};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// Targets that a message names at most. A frame has room for a thousand times as many empty names,
/// each of which takes 24 bytes of memory.
pub const MOST_TARGETS: usize = 65_536;

/// Reads a list of at most [`MOST_TARGETS`] names, and no more memory is taken for a longer one.
fn few<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Few;

    impl<'de> serde::de::Visitor<'de> for Few {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "at most {MOST_TARGETS} names")
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(
            self,
            mut names: A,
        ) -> Result<Vec<String>, A::Error> {
            let mut few = Vec::new();
            while let Some(name) = names.next_element()? {
                if few.len() == MOST_TARGETS {
                    return Err(serde::de::Error::custom("too many names"));
                }
                few.push(name);
            }
            Ok(few)
        }
    }

    deserializer.deserialize_seq(Few)
}

/// What the coordinator says to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToAgent {
    /// Give the coordinator up after so long a silence, in ns; 0 is never. The first message.
    Welcome {
        /// See above.
        lost_after_ns: u64,
    },
    /// Tell what you are, and what these targets are to you. Nothing is touched.
    Inspect {
        /// The paths as the user named them; at most [`MOST_TARGETS`].
        #[serde(deserialize_with = "few")]
        targets: Vec<String>,
        /// The host's number where there are several, which may see the same places.
        host: Option<u32>,
        /// How long a target may leave a call unanswered, in ns.
        patience_ns: u64,
    },
    /// Claim and open your share.
    Assign(#[serde(with = "plan_json::host_plan")] Box<HostPlan>),
    /// Take in stages that the plan gets while it runs. Only between two stages.
    Extend(#[serde(with = "plan_json::stages")] Vec<HostStage>),
    /// Set up the workers of this stage and wait.
    Arm {
        /// Its number.
        stage: u32,
    },
    /// Let the workers go.
    Go {
        /// When, on the agent's clock; `None` for at once.
        start_ns: Option<u64>,
    },
    /// What came of a look at the stage that runs. Only of a stage that ends when it is steady.
    Judged {
        /// How much of it was looked at, in ns after its start.
        to_ns: u64,
        /// Its end in ns after its start, behind a whole interval, if it is to have one before its
        /// greatest time.
        end_after_ns: Option<u64>,
    },
    /// Tell what your clock shows. Also a sign of life.
    Ping {
        /// What the coordinator's clock shows.
        sent_ns: u64,
    },
    /// End the stage that runs, and begin no other.
    Stop,
    /// Remove what runs left at these targets. Not while you have a share of a run.
    Clean {
        /// The paths as the user named them; at most [`MOST_TARGETS`].
        #[serde(deserialize_with = "few")]
        targets: Vec<String>,
        /// How long a target may leave a call unanswered, in ns.
        patience_ns: u64,
    },
    /// Give these layouts back: all hosts are through with them, and the next ones wait for that.
    GiveBack(LayoutsOver),
    /// Let go of the targets.
    Release(RunOver),
    /// Tell what the kernel counts, without any load, until [`ToAgent::Stop`] or the end of the
    /// link.
    Watch {
        /// How often, in ns; the agent has a least time of its own.
        interval_ns: u64,
    },
    /// Start the agents of these hosts, and be their relay from then on. Only an agent whose start
    /// command says so does it.
    Adopt(Box<Wanted>),
    /// Pass a message on to a host below you.
    Pass {
        /// Its number among those of [`ToAgent::Adopt`].
        below: u32,
        /// The message.
        frame: Frame,
    },
    /// Have nothing to do with a host below you any more, nor with those below it.
    Part {
        /// As of [`ToAgent::Pass`].
        below: u32,
    },
    /// A worker of another host was the first of all to do its amount: cut the books of this stage.
    FirstDone {
        /// Its number.
        stage: u32,
        /// Whether the stage ends there (a stonewall).
        stops: bool,
    },
    /// Tell by which addresses others may reach you.
    Addresses,
    /// Wait for a partner at an address of yours, and carry a flow with it.
    Listen {
        /// Where; port 0 is any that is free.
        at: SocketAddr,
        /// What is carried.
        spec: FlowSpec,
    },
    /// Carry a flow with a partner that waits.
    Connect {
        /// The address of yours that it is to go out by.
        own: IpAddr,
        /// Where the partner waits.
        to: SocketAddr,
        /// What is carried.
        spec: FlowSpec,
    },
}

/// What an agent says to the coordinator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromAgent {
    /// The answer to [`ToAgent::Inspect`].
    Facts {
        /// What the host is.
        facts: Box<HostFacts>,
        /// Its wall clock, in ns since 1970. For people: nothing is measured by it.
        unix_ns: u64,
    },
    /// The targets are claimed and open.
    Ready {
        /// What had to be done otherwise than planned.
        notes: Vec<Note>,
    },
    /// The targets could not be claimed, opened or laid out; the reason and remedy in words.
    Refused(String),
    /// All workers of the stage are set up.
    Armed {
        /// Its number.
        stage: u32,
    },
    /// The answer to [`ToAgent::Ping`].
    Pong {
        /// What the coordinator sent.
        sent_ns: u64,
        /// What the agent's clock showed then.
        agent_ns: u64,
    },
    /// An interval is over.
    Sample(Box<IntervalSample>),
    /// What the kernel counted since the last ones. On the way, this is [`FromAgent::Counted`],
    /// unless it is larger than any host's.
    Counters(Box<CounterSample>),
    /// The same, made small by a [`Packer`](crate::Packer): who hears all of a host's makes the
    /// former of it again.
    Counted(Frame),
    /// The kernel logged an error of a device while a stage ran.
    Logged {
        /// The stage's number.
        stage: u32,
        /// How long ago, in ns.
        ago_ns: u64,
        /// What it says.
        line: String,
    },
    /// What this host had left over at the end of a stage; before [`FromAgent::StageEnded`], and
    /// only where there is something.
    LeftOver(Box<HostEnd>),
    /// A stage is over on this host.
    StageEnded {
        /// Its number.
        stage: u32,
        /// How it ended.
        end: StageEnd,
        /// What came up in it.
        notes: Vec<Note>,
        /// How much later than it was told the last worker began, in ns; `None` where none began.
        late_ns: Option<u64>,
    },
    /// The answer to [`ToAgent::Clean`]: what became of each folder.
    Cleaned(Vec<Cleaned>),
    /// The answer to [`ToAgent::GiveBack`].
    GaveBack {
        /// What could not be removed, in words.
        failed: Option<String>,
    },
    /// The targets are let go.
    Released {
        /// What could not be removed, in words.
        left: Option<String>,
    },
    /// The answer to [`ToAgent::Adopt`]: how the start of each host's agent went, in their order.
    /// Those that have none are left out of the numbers of [`ToAgent::Pass`].
    Adopted(Vec<Start>),
    /// What came from hosts below since the last frame, in the order in which it came.
    Passed(Vec<(u32, Word)>),
    /// The first worker of this host has done its amount.
    FirstDone {
        /// In which stage.
        stage: u32,
    },
    /// The answer to [`ToAgent::Addresses`].
    Addresses(Vec<HostAddress>),
    /// The first answer to [`ToAgent::Listen`], where that can be done.
    Listening {
        /// The port.
        port: u16,
    },
    /// The last answer to [`ToAgent::Listen`] and [`ToAgent::Connect`].
    Flowed(Result<FlowCounts, FlowFailure>),
    /// What the target leaves unanswered while a stage runs.
    Waiting(Box<Waiting>),
}

/// What a relay has to tell of a host below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Word {
    /// It said this.
    Said(Frame),
    /// It is gone; what is known of the reason, in words.
    Gone(String),
}

/// What became of a folder that was to be cleaned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleaned {
    /// The target as the user named it.
    pub target: String,
    /// The folder there; the target itself where none of ours was found.
    pub root: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// How cleaning a folder went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Our files are gone.
    Removed {
        /// What they had taken.
        bytes: u64,
        /// A tree that stays, because something in it is not ours.
        left: Option<String>,
    },
    /// Nothing of ours was there, in words.
    Nothing(String),
    /// It stays; the reason and remedy in words.
    Failed(String),
    /// It left a call unanswered for too long, and what became of it is not known; the same.
    Unanswered(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{LinkError, over};
    use model::sample::{OpSample, WorkerOp, WorkerSample};
    use model::{Histogram, Op, Phase, WriteMark};
    use proptest::prelude::*;
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use std::io::Cursor;

    /// What comes of bytes that arrive as one frame.
    fn arrives<T: DeserializeOwned>(frame: &[u8]) -> Result<T, LinkError> {
        let bytes = [&(frame.len() as u32).to_le_bytes()[..], frame].concat();
        over(Cursor::new(bytes), std::io::sink()).0.split().1.receive()
    }

    fn bytes<T: Serialize>(message: &T) -> Vec<u8> {
        postcard::to_allocvec(message).expect("a message of ours")
    }

    fn orders() -> Vec<ToAgent> {
        let frame = Frame::of(&ToAgent::Stop).expect("short");
        vec![
            ToAgent::Welcome { lost_after_ns: u64::MAX },
            ToAgent::Inspect {
                targets: vec!["/mnt/ü".into(), String::new()],
                host: Some(7),
                patience_ns: 1,
            },
            ToAgent::Judged { to_ns: 1, end_after_ns: Some(u64::MAX) },
            ToAgent::Clean { targets: vec!["/data".into(); 3], patience_ns: u64::MAX },
            ToAgent::Pass { below: 3, frame },
        ]
    }

    fn interval() -> IntervalSample {
        let mut latency = Histogram::new();
        [60_000, 61_000, u64::MAX].into_iter().for_each(|ns| latency.record(ns));
        let op = OpSample {
            work: 0,
            op: Op::Read,
            ios: 3,
            bytes: u64::MAX,
            errors: vec![(-5, 1)],
            latency: latency.encode(),
            raw_latencies: vec![7],
        };
        let own = WorkerOp { op: Op::Read, ios: 3, bytes: u64::MAX, errors: 1 };
        let mark = Some(WriteMark { sent: 2, base: 1, failed: vec![1], ..WriteMark::default() });
        let worker =
            WorkerSample { worker: 1, cpu_user_ns: 2, cpu_system_ns: 3, ops: vec![own], mark };
        IntervalSample {
            stage: 1,
            host: 2,
            interval: 3,
            start_ns: 4,
            length_ns: 5,
            phase: Phase::Tail,
            ops: vec![op],
            workers: vec![worker; 2],
        }
    }

    fn answers() -> Vec<FromAgent> {
        let (targets, waited) = (vec!["/t".to_owned()], model::Nanos::seconds(3));
        let stuck = model::Fact::Stuck { requests: 7, targets, waited };
        let note = Note { stage: Some(1), host: 2, fact: stuck };
        let frame = Frame::of(&FromAgent::Armed { stage: 1 }).expect("short");
        vec![
            FromAgent::Ready { notes: vec![note.clone(); 2] },
            FromAgent::Sample(Box::new(interval())),
            FromAgent::Counters(Box::default()),
            FromAgent::Counted(
                crate::Packer::new(0).pack(&CounterSample::default()).expect("small"),
            ),
            FromAgent::Logged { stage: 0, ago_ns: 5, line: "nvme0: I/O timeout".into() },
            FromAgent::LeftOver(Box::new(HostEnd {
                stage: 1,
                host: 2,
                left: vec![],
                pauses: vec![],
                flushes: vec![],
            })),
            FromAgent::StageEnded {
                stage: 1,
                end: StageEnd::Failed("no".into()),
                notes: vec![note],
                late_ns: Some(9),
            },
            FromAgent::Passed(vec![(1, Word::Said(frame)), (2, Word::Gone("lost".into()))]),
        ]
    }

    #[test]
    fn every_message_arrives_as_it_was_sent() {
        for order in orders() {
            assert_eq!(arrives(&bytes(&order)), Ok(order));
        }
        for answer in answers() {
            assert_eq!(arrives(&bytes(&answer)), Ok(answer));
        }
    }

    #[test]
    fn a_list_that_claims_to_be_endless_is_refused_without_its_memory() {
        // `Cleaned`, or whatever list has the number, with 2^63 entries and none of them there.
        for kind in 0..20 {
            let claim = [&[kind][..], &[0xff; 9], &[0x01]].concat();
            assert!(arrives::<FromAgent>(&claim).is_err(), "{kind}");
        }
    }

    #[test]
    fn a_list_of_more_targets_than_a_run_has_is_refused_before_it_takes_memory() {
        let inspect = |count: usize| ToAgent::Inspect {
            targets: vec![String::new(); count],
            host: None,
            patience_ns: 1,
        };
        let clean =
            |count: usize| ToAgent::Clean { targets: vec![String::new(); count], patience_ns: 1 };
        for order in [inspect(MOST_TARGETS), clean(MOST_TARGETS)] {
            assert_eq!(arrives(&bytes(&order)), Ok(order));
        }
        for order in [inspect(MOST_TARGETS + 1), clean(MOST_TARGETS + 1)] {
            assert_eq!(arrives::<ToAgent>(&bytes(&order)), Err(LinkError::Garbled));
        }
    }

    proptest! {
        #[test]
        fn a_message_that_somebody_damaged_is_read_or_refused(
            which: prop::sample::Index, cut: prop::sample::Index,
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        ) {
            let all: Vec<Vec<u8>> =
                orders().iter().map(bytes).chain(answers().iter().map(bytes)).collect();
            let mut frame = which.get(&all).clone();
            for (place, byte) in flips {
                let place = place.index(frame.len());
                frame[place] = byte;
            }
            frame.truncate(cut.index(frame.len() + 1));
            // Both ends read it: an agent may be told anything, and so may a coordinator.
            for outcome in [arrives::<ToAgent>(&frame).err(), arrives::<FromAgent>(&frame).err()] {
                prop_assert!(outcome.is_none_or(|error| error == LinkError::Garbled));
            }
        }
    }
}
