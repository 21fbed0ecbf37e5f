//! What became of the start of each host's agent.

use super::trouble::Trouble;
use super::wanted::Wanted;
use model::note::HostStart;
use model::{Nanos, hostlist};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How the start of one host's agent went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The host's name.
    pub host: String,
    /// The host that started it; `None` is this one.
    pub by: Option<String>,
    /// How often it was tried.
    pub tries: u32,
    /// From the first try to the end of the last.
    pub took: Nanos,
    /// Why it has no agent; `None` where it has one.
    pub missing: Option<Missing>,
}

/// Why a host has no agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What is wrong, in words.
    pub what: String,
    /// What to do, where it is another thing for each host.
    pub remedy: Option<String>,
    /// Whether it is the host itself that refuses: whoever tries, it does.
    pub(super) is_final: bool,
    /// Whether another try may help; not passed on, for whoever asks has tried.
    #[serde(skip)]
    pub(super) trouble: Option<Trouble>,
}

impl From<String> for Missing {
    /// What a host says itself, or we of it: that it cannot be.
    fn from(what: String) -> Missing {
        Missing { what, remedy: None, is_final: true, trouble: Some(Trouble::Refused) }
    }
}

impl Missing {
    /// What kept us from reaching it.
    pub(super) fn on_the_way(what: String, remedy: Option<String>, said: &str) -> Missing {
        Missing { what, remedy, is_final: false, trouble: Some(Trouble::of(said)) }
    }

    /// What is wrong, and what to do.
    pub(crate) fn words(&self) -> String {
        match &self.remedy {
            Some(remedy) => format!("{}; {remedy}", self.what),
            None => self.what.clone(),
        }
    }
}

impl Start {
    /// What a host answers that is asked to start agents, and was not told that it may.
    pub(crate) fn not_by_relay(wanted: &Wanted) -> Vec<Start> {
        let what = "the host that was to start its agent was not told --relay, and starts none";
        let one = |host: &String| Start {
            host: host.clone(),
            by: wanted.by.clone(),
            tries: 0,
            took: Nanos(0),
            missing: Some(Missing::on_the_way(what.to_owned(), None, "")),
        };
        wanted.hosts.iter().map(one).collect()
    }

    /// What keeps all of these hosts.
    pub(crate) fn in_vain(wanted: &Wanted, errors: &[LaunchError]) -> Vec<Start> {
        let what: Vec<&str> = errors.iter().map(|error| error.what.as_str()).collect();
        let one = |host: &String| Start {
            host: host.clone(),
            by: wanted.by.clone(),
            tries: 1,
            took: Nanos(0),
            missing: Some(Missing::on_the_way(what.join("; "), None, "")),
        };
        wanted.hosts.iter().map(one).collect()
    }

    /// A host whose agent was there, and ended before anything began.
    pub fn lost(host: &str, why: String) -> Start {
        let missing = Missing::on_the_way(why, None, "");
        Start { host: host.to_owned(), by: None, tries: 1, took: Nanos(0), missing: Some(missing) }
    }

    /// Whether it has no agent because the way to it had no room.
    pub fn is_busy(&self) -> bool {
        self.missing.as_ref().is_some_and(|missing| missing.trouble == Some(Trouble::Busy))
    }

    /// The same for the record.
    pub fn fact(&self) -> HostStart {
        HostStart {
            name: self.host.clone(),
            by: self.by.clone(),
            tries: self.tries,
            took: self.took,
            missing: self.missing.as_ref().map(|missing| missing.what.clone()),
        }
    }

    /// What is wrong with the host, if anything is.
    pub fn error(&self) -> Option<LaunchError> {
        let Missing { what, remedy, .. } = self.missing.clone()?;
        Some(LaunchError { hosts: vec![self.host.clone()], what, remedy })
    }
}

/// Hosts without an agent, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchError {
    /// The hosts; several where one cause keeps all of them.
    pub hosts: Vec<String>,
    /// What is wrong, in words.
    pub what: String,
    /// What to do, where it is another thing for each host.
    pub remedy: Option<String>,
}

impl LaunchError {
    /// The same with several hosts in one error where one cause keeps all of them. The remedy is
    /// that of the first.
    pub fn by_cause(errors: &[LaunchError]) -> Vec<LaunchError> {
        let mut causes: Vec<LaunchError> = Vec::new();
        for error in errors {
            match causes.iter_mut().find(|cause| cause.what == error.what) {
                Some(cause) => cause.hosts.extend_from_slice(&error.hosts),
                None => causes.push(error.clone()),
            }
        }
        causes
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = hostlist::compress(&self.hosts);
        match self.hosts.len() {
            0 | 1 => write!(f, "host {named}: {}", self.what)?,
            several => write!(f, "{several} hosts ({named}): {}", self.what)?,
        }
        self.remedy.iter().try_for_each(|remedy| write!(f, "; {remedy}"))
    }
}

impl std::error::Error for LaunchError {}
