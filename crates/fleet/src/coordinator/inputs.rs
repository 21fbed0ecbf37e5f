//! What the coordinator is told, and what it wants done.

use crate::wire::{FromAgent, ToAgent};
use model::search::Addition;
use model::{Event, Occurrence, RunEnd};

/// Something that the coordinator is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The run shall begin.
    Begin,
    /// An agent said something.
    Heard {
        /// Which one, by its place in the plan.
        host: usize,
        /// What.
        message: FromAgent,
        /// When it came, on the coordinator's steady clock.
        at_ns: u64,
    },
    /// An agent is gone.
    Lost {
        /// Which one.
        host: usize,
        /// What is known of the reason, in words.
        why: String,
    },
    /// The answer to [`Action::Launch`].
    Launched {
        /// Which one.
        host: usize,
        /// Which start of its agent.
        start: u32,
        /// That it listens, or why there is none, in words.
        outcome: Result<(), String>,
    },
    /// Time passes. Comes several times a second.
    Tick,
    /// The answer to [`Action::Ask`]: the next point, or that there is none.
    Added(Option<Box<Addition>>),
    /// The answer to [`Action::Judge`].
    Judged {
        /// The stage.
        stage: u32,
        /// Whether its last rounds are steady.
        is_steady: bool,
    },
    /// Somebody says that something happened.
    Marked {
        /// What, in a few words.
        label: String,
        /// When, on the coordinator's steady clock, in ns.
        at_ns: u64,
        /// Who waits for [`Action::Placed`], if anybody does.
        ticket: Option<u32>,
    },
    /// A command of [`Action::Command`] ended.
    CommandEnded {
        /// Which one.
        number: u32,
        /// Its exit status; `None` where it did not begin, or a signal ended it.
        status: Option<i32>,
        /// What it wrote at last, or why it did not begin.
        output: String,
    },
    /// Somebody wants the run to end.
    Interrupt,
    /// The run cannot be recorded any more; the reason in words.
    Unrecordable(String),
}

/// The time of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// The coordinator's steady clock, in ns since some start.
    pub steady_ns: u64,
    /// The wall clock, in ns since 1970: for people.
    pub unix_ns: u64,
}

/// What the coordinator wants done, in order.
pub type Actions = Vec<Action>;

/// Something that the coordinator wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Tell an agent.
    Send {
        /// Which one.
        host: usize,
        /// What.
        message: ToAgent,
    },
    /// Send an agent a [`ToAgent::Ping`] with the steady clock of the moment in which it leaves.
    Ping {
        /// Which one.
        host: usize,
    },
    /// Have nothing to do with an agent any more: close its link and end its process.
    Drop {
        /// Which one.
        host: usize,
    },
    /// Start the agent of a host again that was dropped; the answer is [`Input::Launched`].
    /// Dropping the host calls it off.
    Launch {
        /// Which one.
        host: usize,
        /// Tells this start from others of the host.
        start: u32,
    },
    /// Record and show.
    Emit(Event),
    /// Tell whoever set a mark where it stands, now that it is recorded.
    Placed {
        /// Who waits for it.
        ticket: u32,
        /// What came of it.
        marked: Marked,
    },
    /// Have a shell of the coordinator's do something; how it ended is [`Input::CommandEnded`].
    Command {
        /// Tells it from others.
        number: u32,
        /// The event that it belongs to, or `prerun`.
        name: String,
        /// What the shell is to do.
        command: String,
    },
    /// Kill a command of [`Action::Command`] with all its children. It may be over by then, and its
    /// end is heard of as that of any other.
    EndCommand {
        /// Which one.
        number: u32,
    },
    /// Say which point follows those that were measured; the answer is [`Input::Added`].
    Ask,
    /// Say whether the last rounds of a stage are steady; the answer is [`Input::Judged`].
    Judge {
        /// The stage that runs.
        stage: u32,
        /// What all hosts together did in each: requests per second, or at a fixed rate the mean
        /// latency in ns.
        rounds: Vec<f64>,
    },
    /// The run is over.
    Finish {
        /// How.
        end: RunEnd,
        /// What stayed on the targets that should not have, in words.
        left: Vec<String>,
    },
}

/// How the hosts are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// One agent in this process: it needs no common instant, and cannot fall silent.
    OwnProcess,
    /// Agents of their own processes.
    Remote,
}

/// What came of a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marked {
    /// It stands in the record, like this.
    Recorded(Box<Occurrence>),
    /// The run takes no more: it has as many as a run can have.
    Full,
    /// It was taken, and not recorded yet when patience was over.
    Taken,
    /// The run is over.
    Over,
}
