//! Pushes metrics, apart from the run in a thread of its own: whoever has something to push leaves
//! it in a queue and goes on.

mod client;
mod destination;
mod queue;
mod trust;

pub(crate) use destination::Destination;
use queue::Queue;

use crate::failure::Failure;
use client::{Sent, Trouble};
use hyper::header::HeaderValue;
use live::push::{RemoteWrite, Snapshot};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use trust::Trust;

/// What proves who pushes: the value of the header `Authorization`.
const AUTHORIZATION: &str = "PLIMSOLL_PUSH_AUTHORIZATION";
/// How long what waits at the end may take.
const GRACE: Duration = Duration::from_secs(5);
/// Pauses before a push is tried again; the last one stays.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
];

#[derive(Debug)]
pub(crate) struct Pusher {
    to: Destination,
    queue: Arc<Queue>,
    thread: JoinHandle<Told>,
}

#[derive(Clone, Debug, Default)]
struct Told {
    arrived: u64,
    is_last_there: bool,
    why: Option<String>,
}

impl Pusher {
    /// Begins to push, if that was asked for.
    pub(crate) fn start(to: Option<&Destination>) -> Result<Option<Pusher>, Failure> {
        let Some(to) = to.cloned() else { return Ok(None) };
        let authorization = authorization()?;
        let trust = to.is_secure.then(Trust::of_machine).transpose();
        let trust = trust.map_err(|why| Failure::usage(format!("--push {to}: {why}")))?;
        let no_thread = |error: std::io::Error| {
            Failure::run(format!("--push {to}: no thread for it can be had: {error}"))
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(no_thread)?;
        let queue = Arc::new(Queue::default());
        let sender = Sender {
            writer: RemoteWrite::of(&probe::hostname()),
            to: to.clone(),
            queue: queue.clone(),
            authorization,
            trust,
            runtime,
            told: Told::default(),
            refused: 0,
        };
        let thread = std::thread::Builder::new()
            .name("push".to_owned())
            .spawn(move || sender.run())
            .map_err(no_thread)?;
        Ok(Some(Pusher { to, queue, thread }))
    }

    pub(crate) fn put(&self, snapshot: Snapshot) {
        self.queue.put(snapshot);
    }

    /// Pushes what waits, for as long as it may take, and tells what was lost.
    pub(crate) fn finish(self) {
        self.queue.close(Instant::now() + GRACE);
        let taken = self.queue.taken();
        // A bug in it is reported where it panicked.
        let Ok(told) = self.thread.join() else { return };
        if let Some(words) = lost(&self.to, taken, &told) {
            eprintln!("{words}");
        }
    }
}

fn authorization() -> Result<Option<HeaderValue>, Failure> {
    let Some(value) = std::env::var_os(AUTHORIZATION) else { return Ok(None) };
    let value = value.to_str().and_then(|text| HeaderValue::from_str(text).ok());
    value.map(Some).ok_or_else(|| {
        Failure::usage(format!(
            "${AUTHORIZATION}: no header has this value; write it as in \"Bearer TOKEN\""
        ))
    })
}

/// What is told at the end; nothing where all pushes arrived.
fn lost(to: &Destination, taken: u64, told: &Told) -> Option<String> {
    let lost = taken.saturating_sub(told.arrived);
    if lost == 0 {
        return None;
    }
    let why = told.why.as_deref().unwrap_or("the receiver was too slow");
    let then = match told.is_last_there {
        true => "the last one arrived, so its totals are whole",
        false => "the receiver lacks the end",
    };
    Some(format!("warning: --push {to}: {lost} of {taken} pushes were lost: {why}; {then}"))
}

struct Sender {
    to: Destination,
    writer: RemoteWrite,
    queue: Arc<Queue>,
    authorization: Option<HeaderValue>,
    trust: Option<Trust>,
    runtime: tokio::runtime::Runtime,
    told: Told,
    refused: u64,
}

impl Sender {
    fn run(mut self) -> Told {
        while let Some(snapshot) = self.queue.next() {
            self.told.is_last_there = self.push(&snapshot);
            if self.told.is_last_there {
                self.told.arrived += 1;
                self.writer.arrived();
            } else {
                self.refused += 1;
            }
        }
        self.told
    }

    /// Sends one until it arrives, is refused, or its time is over. Whether it arrived.
    fn push(&mut self, snapshot: &Snapshot) -> bool {
        let mut pauses = PAUSES.into_iter();
        loop {
            let body = self.writer.body(snapshot, self.refused + self.queue.left_out());
            let (authorization, trust) = (self.authorization.as_ref(), self.trust.as_ref());
            let sent = snappy(&body).map(|bytes| Sent { bytes, authorization, trust });
            let trouble = match sent {
                Ok(sent) => match self.runtime.block_on(client::send(&self.to, sent)) {
                    Ok(()) => return true,
                    Err(trouble) => trouble,
                },
                Err(why) => Trouble::Refused(why),
            };
            let (Trouble::Refused(why) | Trouble::Failed(why)) = &trouble;
            if self.told.why.is_none() {
                eprintln!("warning: --push {}: {why}; the load goes on", self.to);
                self.told.why = Some(why.clone());
            }
            let is_over = self.queue.ends_at().is_some();
            if is_over && !self.queue.is_empty() {
                // Little time is left, and the newest has the totals of all.
                self.queue.skip_to_newest();
                return false;
            }
            if matches!(trouble, Trouble::Refused(_))
                || self.queue.ends_at().is_some_and(|end| Instant::now() >= end)
            {
                return false;
            }
            let pause = pauses.next().unwrap_or(PAUSES[PAUSES.len() - 1]);
            if is_over {
                std::thread::sleep(PAUSES[0]);
            } else {
                self.queue.rest(Instant::now() + pause);
            }
        }
    }
}

/// The block format of Snappy around `bytes`.
fn snappy(bytes: &[u8]) -> Result<Vec<u8>, String> {
    snap::raw::Encoder::new()
        .compress_vec(bytes)
        .map_err(|error| format!("{} bytes are too many for one push: {error}", bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_is_counted_and_named() {
        let to: Destination = "http://h/api/v1/write".parse().expect("a destination");
        let told = |arrived, is_last_there, why: Option<&str>| Told {
            arrived,
            is_last_there,
            why: why.map(str::to_owned),
        };
        assert_eq!(lost(&to, 5, &told(5, true, None)), None);
        let words = lost(&to, 5, &told(3, true, Some("connection refused"))).expect("words");
        assert_eq!(
            words,
            "warning: --push http://h:80/api/v1/write: 2 of 5 pushes were lost: connection \
             refused; the last one arrived, so its totals are whole"
        );
        let words = lost(&to, 5, &told(0, false, None)).expect("words");
        assert!(words.ends_with(
            "5 of 5 pushes were lost: the receiver was too slow; the receiver \
                                 lacks the end"
        ));
    }
}
