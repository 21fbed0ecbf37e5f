//! Takes agents over that hold out without their coordinator: hears what they kept and what the
//! stage that they have still gives, until it is over. Then they are let go, as if their
//! coordinator were gone: what they made stays for whoever resumes.

use crate::launch::{LaunchError, Wanted, take_over};
use crate::link::{Inlet, LinkError};
use crate::session::LEAVES;
use crate::wire::{FromAgent, ToAgent};
use model::event::{HostEnd, HostStart};
use model::takeover::Kept;
use model::{IntervalSample, Nanos, Note};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Between two signs of life.
const BEAT: Duration = Duration::from_secs(1);
/// Hosts that are taken over at the same time.
const AT_ONCE: usize = 64;
/// Words that wait to be looked at.
const MOST_WORDS: usize = 1_024;

/// What agents are taken over for.
#[derive(Clone, Copy, Debug)]
pub struct Takeover {
    /// The stage that was under way; `None` where none was.
    pub stage: Option<u32>,
    /// How long its end is waited for.
    pub within: Nanos,
}

impl Takeover {
    /// Hears every host, in their order.
    pub fn hear(self, wanted: &Wanted) -> Vec<Result<Kept, LaunchError>> {
        let hosts = &wanted.hosts;
        let next = Mutex::new(0..hosts.len());
        let heard = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..hosts.len().min(AT_ONCE) {
                scope.spawn(|| {
                    while let Some(host) = {
                        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                        next.next()
                    } {
                        let kept = self.hear_one(wanted, host);
                        heard.lock().unwrap_or_else(PoisonError::into_inner).push((host, kept));
                    }
                });
            }
        });
        let mut heard = heard.into_inner().unwrap_or_else(PoisonError::into_inner);
        heard.sort_by_key(|(host, _)| *host);
        heard.into_iter().map(|(_, kept)| kept).collect()
    }

    fn hear_one(self, wanted: &Wanted, host: usize) -> Result<Kept, LaunchError> {
        let (out, inlet) = take_over(wanted, &wanted.hosts[host])?;
        let words = words_of(inlet);
        let by = Instant::now() + Duration::from_nanos(self.within.0);
        let (mut kept, mut beaten) = (Kept::default(), None);
        while let Some(stage) = self.stage.filter(|_| kept.end.is_none() && Instant::now() < by) {
            if beaten.is_none_or(|beaten: Instant| beaten.elapsed() >= BEAT) {
                beaten = Some(Instant::now());
                // If it is gone, the end of its words says so.
                let _ = out.send(&ToAgent::Ping { sent_ns: 0 });
            }
            match next(&words) {
                Some(Ok(word)) => take(&mut kept, host as u32, stage, word),
                Some(Err(_)) => break,
                None => {}
            }
        }
        // It ends, and lets go of its targets: whoever goes on finds them free.
        drop(out);
        let left = Instant::now();
        while left.elapsed() < LEAVES && !matches!(next(&words), Some(Err(_))) {}
        Ok(kept)
    }
}

/// Reading blocks, so a thread of its own does it.
fn words_of(mut inlet: Inlet) -> Receiver<Result<FromAgent, LinkError>> {
    let (said, words) = sync_channel(MOST_WORDS);
    thread::spawn(move || {
        loop {
            let word = inlet.receive::<FromAgent>();
            let is_last = word.is_err();
            if said.send(word).is_err() || is_last {
                return;
            }
        }
    });
    words
}

/// What is said next; `None` where nothing is for a moment.
fn next(words: &Receiver<Result<FromAgent, LinkError>>) -> Option<Result<FromAgent, LinkError>> {
    match words.recv_timeout(BEAT) {
        Ok(word) => Some(word),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(Err(LinkError::Closed)),
    }
}

/// Takes in what belongs to the stage.
pub(crate) fn take(kept: &mut Kept, host: u32, of: u32, word: FromAgent) {
    match word {
        FromAgent::Sample(sample) if sample.stage == of => {
            let next = kept.samples.last().map_or(0, |last| last.interval.saturating_add(1));
            if sample.interval >= next {
                kept.samples.push(IntervalSample { host, ..*sample });
            }
        }
        FromAgent::LeftOver(end) if end.stage == of && end.is_bounded() => {
            kept.left = Some(HostEnd { host, ..*end });
        }
        FromAgent::StageEnded { stage, end, notes, late_ns } if stage == of => {
            kept.end = Some(end);
            // By how much its clock was judged wrong, only the other coordinator knew.
            kept.start = late_ns.map(|late_ns| HostStart { stage, host, late_ns, error_ns: 0 });
            kept.notes = notes.into_iter().map(|note| Note { host, ..note }).collect();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Phase, StageEnd};

    fn sample(stage: u32, interval: u32) -> FromAgent {
        FromAgent::Sample(Box::new(IntervalSample {
            stage,
            host: 9,
            interval,
            start_ns: u64::from(interval) * 1_000,
            length_ns: 1_000,
            phase: Phase::Load,
            ops: Vec::new(),
            workers: Vec::new(),
        }))
    }

    #[test]
    fn each_interval_of_the_stage_is_taken_once_whatever_is_told_again() {
        let mut kept = Kept::default();
        for word in [sample(1, 7), sample(2, 0), sample(2, 1), sample(2, 1), sample(2, 0)] {
            take(&mut kept, 3, 2, word);
        }
        let told: Vec<(u32, u32)> =
            kept.samples.iter().map(|sample| (sample.host, sample.interval)).collect();
        assert_eq!(told, [(3, 0), (3, 1)]);
        let ended = |stage| FromAgent::StageEnded {
            stage,
            end: StageEnd::Complete,
            notes: Vec::new(),
            late_ns: Some(5),
        };
        take(&mut kept, 3, 2, ended(1));
        assert_eq!(kept.end, None);
        take(&mut kept, 3, 2, ended(2));
        assert_eq!(kept.end, Some(StageEnd::Complete));
        assert_eq!(kept.start.map(|start| (start.host, start.late_ns)), Some((3, 5)));
    }
}
