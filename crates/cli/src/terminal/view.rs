//! Drives the view: what happens goes in, keys go in, frames come out.

use crate::signals::LAST_LOOK;
use crate::terminal::screen::{self, Screen, Stream, TerminalEvent};
use fleet::{Interrupter, Watched};
use live::watch::{Ask, Replay, State, Subject, clock};
use model::Event;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use store::{InTime, StoreError, Wanted};

/// How long to wait for a key before looking for news.
const LOOK: Duration = Duration::from_millis(50);

/// News that wait for a terminal which takes nothing, as behind a link that hangs: a second of a
/// thousand hosts. What comes then is left out of the view; what is recorded never waits for it.
const MOST_WAITING: usize = 4096;

/// What is shown as it happens.
pub(crate) enum News {
    Event(Box<Event>),
    /// Of hosts without a run.
    Watched(Watched),
}

pub(crate) struct View {
    news: Option<SyncSender<News>>,
    thread: Option<JoinHandle<()>>,
    left: Arc<AtomicBool>,
}

impl View {
    /// Opens a view of what happens now. Its keys reach what is watched through `interrupter`.
    pub(crate) fn open(
        stream: Stream,
        state: State,
        labels: Labels,
        interrupter: Interrupter,
    ) -> io::Result<View> {
        let screen = Screen::open(stream)?;
        let (news, receiver) = sync_channel(MOST_WAITING);
        let left = Arc::new(AtomicBool::new(false));
        let mut source = Live {
            news: receiver,
            is_over: false,
            interrupter,
            asked: false,
            left: left.clone(),
            status: labels.status,
        };
        let thread = thread::Builder::new()
            .name("view".to_owned())
            .spawn(move || drive(screen, state, &labels.title, &mut source))?;
        Ok(View { news: Some(news), thread: Some(thread), left })
    }

    /// Shows what happened. False once the view was left.
    pub(crate) fn show(&self, news: News) -> bool {
        let sent = self.news.as_ref().map(|sender| sender.try_send(news));
        matches!(sent, Some(Ok(()) | Err(TrySendError::Full(_))))
    }

    pub(crate) fn was_left(&self) -> bool {
        self.left.load(Ordering::SeqCst)
    }

    /// Closes the view; the terminal is as it was when this returns.
    pub(crate) fn close(&mut self) {
        self.news = None;
        if let Some(thread) = self.thread.take() {
            let began = Instant::now();
            while !thread.is_finished() {
                // A view whose terminal is gone may never come back from asking it for keys; nobody
                // waits for it then.
                if began.elapsed() >= LAST_LOOK {
                    return screen::restore();
                }
                thread::sleep(LOOK / 10);
            }
            // If it panicked, the terminal was given back by the hook.
            let _ = thread.join();
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.close();
    }
}

pub(crate) struct Labels {
    pub(crate) title: String,
    pub(crate) status: String,
}

trait Source {
    /// Puts what happened since the last time into the state. `None` when the view is over, else
    /// whether anything happened.
    fn feed(&mut self, state: &mut State) -> Option<bool>;
    /// Does what a key asks for. False ends the view.
    fn ask(&mut self, ask: Ask, state: &mut State) -> bool;
    fn status(&self) -> String;
}

/// Shows frames until the source or the user ends it, or the terminal is gone.
fn drive(mut screen: Screen, mut state: State, title: &str, source: &mut impl Source) {
    let mut is_old = true;
    while let Some(changed) = source.feed(&mut state) {
        if (is_old || changed) && screen.draw(&mut state, title, &source.status()).is_err() {
            source.ask(Ask::Quit, &mut state);
            return;
        }
        let event = match screen.next_event(LOOK) {
            Ok(event) => event,
            // Without a keyboard it is only looked at.
            Err(_) => {
                thread::sleep(LOOK);
                None
            }
        };
        is_old = event.is_some();
        if let Some(TerminalEvent::Key(key)) = event {
            let ask = state.key(key);
            if !source.ask(ask, &mut state) {
                return;
            }
        }
    }
}

struct Live {
    news: Receiver<News>,
    is_over: bool,
    interrupter: Interrupter,
    /// A stop was asked for once.
    asked: bool,
    left: Arc<AtomicBool>,
    status: String,
}

impl Source for Live {
    fn feed(&mut self, state: &mut State) -> Option<bool> {
        let mut changed = false;
        while !self.is_over {
            match self.news.try_recv() {
                Ok(News::Event(event)) => state.event(&event),
                Ok(News::Watched(Watched::Counters(sample))) => state.counters(sample),
                Ok(News::Watched(Watched::Lost { host, why })) => state.lost(host, &why),
                Ok(News::Watched(Watched::Returned { host, facts })) => {
                    state.returned(host, &facts);
                }
                Ok(News::Watched(Watched::Found(found))) => state.found(&found),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.is_over = true,
            }
            changed = true;
        }
        (!self.is_over).then_some(changed)
    }

    fn ask(&mut self, ask: Ask, state: &mut State) -> bool {
        let is_run = state.subject() == Subject::Run;
        match ask {
            Ask::Stop if is_run && self.asked => {
                screen::restore();
                eprintln!(
                    "stopped at once; what was recorded can be seen with `plimsoll show RUN`"
                );
                std::process::exit(130);
            }
            Ask::Stop if is_run => {
                self.asked = true;
                state
                    .say("stopping: what was measured is kept (Ctrl-C once more to leave at once)");
                self.interrupter.interrupt();
            }
            Ask::Stop | Ask::Quit => {
                self.left.store(true, Ordering::SeqCst);
                if !is_run {
                    self.interrupter.interrupt();
                }
                return false;
            }
            Ask::Nothing | Ask::Faster | Ask::Slower | Ask::Step(_) => {}
        }
        true
    }

    fn status(&self) -> String {
        self.status.clone()
    }
}

pub(crate) enum Unplayed {
    Screen(io::Error),
    File(StoreError),
}

/// Plays a run until the user leaves or `is_stopped`, which a signal sets. At its end it stands
/// still.
pub(crate) fn play(
    state: State,
    title: &str,
    replay: Replay<Film>,
    is_stopped: Arc<AtomicBool>,
) -> Result<(), Unplayed> {
    let screen = Screen::open(Stream::Out).map_err(Unplayed::Screen)?;
    let last = Instant::now();
    let mut played = Played { replay, last, second: u64::MAX, is_stopped, unread: None };
    drive(screen, state, title, &mut played);
    played.unread.map_or(Ok(()), |error| Err(Unplayed::File(error)))
}

pub(crate) struct Film(pub InTime);

impl live::watch::Film for Film {
    type Error = StoreError;

    fn heard_ns(&self, stage: u32) -> BTreeMap<u32, u64> {
        self.0.heard_ns(stage)
    }

    fn counted_ns(&self, stage: u32) -> Option<u64> {
        self.0.counted_ns(stage)
    }

    fn seek(&mut self, stage: u32, from_ns: u64, counters_alone: bool) -> Result<(), StoreError> {
        let wanted = if counters_alone { Wanted::Counters } else { Wanted::All };
        self.0.seek(stage, from_ns, wanted)
    }

    fn next_sample(&mut self) -> Result<Option<(u64, Event)>, StoreError> {
        self.0.next_sample()
    }
}

struct Played {
    replay: Replay<Film>,
    last: Instant,
    second: u64,
    is_stopped: Arc<AtomicBool>,
    unread: Option<StoreError>,
}

impl Source for Played {
    fn feed(&mut self, state: &mut State) -> Option<bool> {
        let passed = u64::try_from(self.last.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.last = Instant::now();
        let changed = match state.is_paused() {
            true => false,
            false => match self.replay.pass(passed, state) {
                Ok(changed) => changed,
                Err(error) => {
                    self.unread = Some(error);
                    return None;
                }
            },
        };
        if self.replay.is_over() {
            state.set_paused(true);
        }
        let second = self.replay.now_ns() / 1_000_000_000;
        let ticked = std::mem::replace(&mut self.second, second) != second;
        (!self.is_stopped.load(Ordering::SeqCst)).then_some(changed || ticked)
    }

    fn ask(&mut self, ask: Ask, state: &mut State) -> bool {
        match ask {
            Ask::Quit | Ask::Stop => return false,
            Ask::Faster => self.replay.set_speed(self.replay.speed().faster()),
            Ask::Slower => self.replay.set_speed(self.replay.speed().slower()),
            Ask::Step(seconds) => {
                self.unread = self.replay.step(seconds, state).err();
                // What was read meanwhile is no time that passed for who looks.
                self.last = Instant::now();
                return self.unread.is_none();
            }
            Ask::Nothing => {}
        }
        true
    }

    fn status(&self) -> String {
        format!(
            "{} / {} · {}",
            clock(self.replay.now_ns()),
            clock(self.replay.length_ns()),
            self.replay.speed()
        )
    }
}
