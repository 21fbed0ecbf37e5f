//! A link that outlives its streams: frames are numbered by their order and kept until the other
//! end has taken them, so that a stream that breaks can be followed by another one, and nothing is
//! lost, doubled or reordered.
//!
//! One end holds the session, and the other one dials. Each begins a stream with a greeting: a
//! number that tells whoever dials from others, how many frames it has taken, and the number of the
//! first one that it keeps. Then come records: a length (4 bytes, little endian), how many frames
//! were taken (8 bytes), and so many bytes. A length of 0 is a sign of what was taken alone;
//! [`FAREWELL`] says that nothing more comes, ever.

pub(crate) mod kept;
mod streams;

pub use streams::{AttachError, attach};
pub(crate) use streams::{Gone, keep_up, listen};

use crate::link::{Frames, Inlet, LONGEST_FRAME, Link, LinkError, Outlet, Reading};
use kept::Kept;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// In place of a length: nothing more comes.
const FAREWELL: u32 = u32::MAX;
/// In place of how many frames were taken: somebody else takes over, who has taken none. Of the
/// end that holds: somebody else has taken over.
const TAKES_OVER: u64 = u64::MAX;
/// Frames that nobody has read yet, at most: whoever reads a stream waits for room.
const MOST_UNREAD: usize = 256;
/// After so many frames that were taken, the other end is told without being asked.
const TOLD_AFTER: u64 = 64;
/// Whoever has nothing to say shows that he is there so often.
const SIGN_EVERY: Duration = Duration::from_secs(1);
/// A stream on which nothing came for so long is not waited for alone.
const STALE: Duration = Duration::from_secs(5);
/// Whoever has said all waits so long for the other end to close the stream.
pub(crate) const LEAVES: Duration = Duration::from_secs(10);
/// How often a session looks at the time.
const LOOK: Duration = Duration::from_millis(100);

/// A stream in both directions.
pub(crate) struct Stream {
    pub(crate) reader: Box<dyn Read + Send>,
    pub(crate) writer: Box<dyn Write + Send>,
    /// What ends with the stream, such as the process that carries it.
    pub(crate) carrier: Box<dyn Send>,
}

/// What an end does, and how it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    /// It holds the session, for whoever dials.
    Held,
    /// It dials, and takes frames from the first one on.
    New,
    /// It dials. Another one took frames before it, and it takes what is kept.
    InPlaceOfAnother,
}

/// One end of a session.
#[derive(Clone)]
pub(crate) struct Session(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// How long it holds out without a stream.
    hold: Duration,
}

struct State {
    /// Tells streams apart: what an old one still says is not heard.
    stream: u64,
    carrier: Option<Box<dyn Send>>,
    /// The stream that is there was greeted by the other end.
    is_greeted: bool,
    kept: Kept,
    /// Nothing is added to what is kept.
    is_all: bool,
    /// Frames that came and were put into `unread`.
    taken: u64,
    /// As of which the other end knows that.
    told: u64,
    begins: Begins,
    /// Of the end that dials: who it is. Of the one that holds: whom it takes orders of, once it
    /// was greeted.
    owner: Option<u64>,
    unread: VecDeque<Vec<u8>>,
    /// Nothing more comes.
    is_over: bool,
    /// Since when there is no stream.
    since: Option<Instant>,
    /// When something was last read.
    heard: Instant,
    /// When the last was said.
    left: Option<Instant>,
}

impl Session {
    fn new(hold: Duration, begins: Begins) -> Session {
        let state = State {
            stream: 0,
            carrier: None,
            is_greeted: false,
            kept: Kept::default(),
            is_all: false,
            taken: 0,
            told: 0,
            begins,
            owner: (begins != Begins::Held).then(by_chance),
            unread: VecDeque::new(),
            is_over: false,
            since: Some(Instant::now()),
            heard: Instant::now(),
            left: None,
        };
        Session(Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), hold }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.0.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Goes on over another stream; the old one is left.
    pub(crate) fn go_on_over(&self, stream: Stream) {
        let Stream { reader, writer, carrier } = stream;
        let mut state = self.lock();
        state.stream += 1;
        (state.is_greeted, state.since, state.heard) = (false, None, Instant::now());
        let old = state.carrier.replace(carrier);
        let (number, greeting) = (state.stream, state.greeting());
        drop(state);
        self.0.changed.notify_all();
        // It may take a while to end.
        thread::spawn(move || drop(old));
        // Threads of their own for each stream: one that blocks for ever holds up nobody.
        let session = self.clone();
        thread::spawn(move || session.write(number, writer, &greeting));
        let session = self.clone();
        thread::spawn(move || session.read(number, reader));
    }

    pub(crate) fn end(&self) {
        self.lock().is_over = true;
        self.0.changed.notify_all();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Whether another stream is wanted: there is none, or the one that is there is silent.
    pub(crate) fn wants_stream(&self) -> bool {
        let state = self.lock();
        state.left.is_none() && (state.since.is_some() || state.heard.elapsed() > STALE)
    }

    /// Writes what is to be said to a stream, until there is nothing more to say, or another one
    /// takes its place.
    fn write(&self, number: u64, mut writer: Box<dyn Write + Send>, greeting: &[u8]) {
        let mut bytes = greeting.to_vec();
        let mut is_last = false;
        loop {
            let written = writer.write_all(&bytes).and_then(|()| writer.flush());
            let mut state = self.lock();
            if state.stream != number || state.since.is_some() || state.is_over {
                return;
            }
            if written.is_err() {
                state.lose_stream();
                self.0.changed.notify_all();
                return;
            }
            if is_last {
                // The other end closes the stream, once it has let go of all.
                state.left = Some(Instant::now());
                return;
            }
            let wrote = Instant::now();
            Record { bytes, is_last } = loop {
                let record = state.is_greeted.then(|| state.next_record(wrote.elapsed())).flatten();
                if let Some(record) = record {
                    break record;
                }
                state = self.wait(state);
                if state.stream != number || state.since.is_some() || state.is_over {
                    return;
                }
            };
        }
    }

    /// Takes in what a stream says, until it ends or another one takes its place.
    fn read(&self, number: u64, mut reader: Box<dyn Read + Send>) {
        let outcome = self.read_all(number, &mut *reader);
        let mut state = self.lock();
        if state.stream == number {
            match outcome {
                // A partner that cannot be understood is no partner.
                Err(LinkError::Garbled) => state.is_over = true,
                _ => state.lose_stream(),
            }
            self.0.changed.notify_all();
        }
    }

    fn read_all(&self, number: u64, reader: &mut dyn Read) -> Result<(), LinkError> {
        let greeting = Greeting::read(reader)?;
        self.greeted(number, greeting)?;
        loop {
            let mut length = [0; 4];
            reader.read_exact(&mut length).map_err(|_| LinkError::Closed)?;
            let length = u32::from_le_bytes(length);
            let taken = number_of(reader)?;
            let frame = match length {
                0 | FAREWELL => None,
                length => Some(bytes_of(reader, length)?),
            };
            let mut state = self.lock();
            if state.stream != number {
                return Err(LinkError::Closed);
            }
            state.heard = Instant::now();
            state.kept.taken(taken).ok_or(LinkError::Garbled)?;
            if length == FAREWELL {
                state.is_over = true;
                self.0.changed.notify_all();
                return Ok(());
            }
            if let Some(frame) = frame {
                while state.unread.len() >= MOST_UNREAD && state.stream == number && !state.is_over
                {
                    state = self.wait(state);
                }
                if state.stream != number || state.is_over {
                    return Err(LinkError::Closed);
                }
                state.unread.push_back(frame);
                state.taken += 1;
            }
            self.0.changed.notify_all();
        }
    }

    /// Whether whoever greets so is taken up: who took part all the time, or takes over.
    fn accepts(&self, greeting: Greeting) -> bool {
        let owner = self.lock().owner;
        greeting.taken == TAKES_OVER || owner.is_none_or(|owner| owner == greeting.owner)
    }

    /// The other end says how far it is.
    fn greeted(&self, number: u64, greeting: Greeting) -> Result<(), LinkError> {
        let Greeting { owner, taken, first } = greeting;
        let mut state = self.lock();
        if state.stream != number {
            return Err(LinkError::Closed);
        }
        if state.begins == Begins::Held {
            state.owner = Some(owner);
        } else if taken == TAKES_OVER {
            // Another coordinator has the agent by now.
            return Err(LinkError::Garbled);
        }
        if taken == TAKES_OVER {
            // Whoever takes over counts what it says from 0, and hears all that is kept.
            state.kept.rewind();
            (state.taken, state.told) = (0, 0);
        } else if state.begins == Begins::InPlaceOfAnother {
            // What it has taken was said by another.
            (state.begins, state.taken) = (Begins::New, first);
        } else {
            state.kept.go_on_from(taken).ok_or(LinkError::Garbled)?;
        }
        state.is_greeted = true;
        state.heard = Instant::now();
        self.0.changed.notify_all();
        Ok(())
    }

    /// Waits for its end: somebody says so, or nobody came back for too long.
    fn watch(&self) {
        let mut state = self.lock();
        while !state.is_over {
            state.is_over = state.since.is_some_and(|since| since.elapsed() > self.0.hold)
                || state.left.is_some_and(|left| left.elapsed() > LEAVES);
            state = self.wait(state);
        }
        let carrier = state.carrier.take();
        drop(state);
        self.0.changed.notify_all();
        drop(carrier);
    }

    /// Keeps what is sent, and waits where it is too much.
    fn keep(&self, frame: Vec<u8>) -> Result<(), LinkError> {
        let mut state = self.lock();
        while !state.kept.has_room() && !state.is_over {
            state = self.wait(state);
        }
        if state.is_over {
            return Err(LinkError::Closed);
        }
        state.kept.push(frame);
        self.0.changed.notify_all();
        Ok(())
    }

    fn that_is_all(&self) {
        self.lock().is_all = true;
        self.0.changed.notify_all();
    }

    fn next_frame(&self) -> Result<Vec<u8>, LinkError> {
        let mut state = self.lock();
        loop {
            if let Some(frame) = state.unread.pop_front() {
                self.0.changed.notify_all();
                return Ok(frame);
            }
            if state.is_over {
                return Err(LinkError::Closed);
            }
            state = self.wait(state);
        }
    }
}

impl Frames for Session {
    fn next(&mut self) -> Result<Vec<u8>, LinkError> {
        self.next_frame()
    }
}

/// What an end says at the beginning of a stream.
#[derive(Clone, Copy, Debug)]
struct Greeting {
    owner: u64,
    taken: u64,
    first: u64,
}

impl Greeting {
    const LENGTH: usize = 24;

    /// To one that is not taken up any more.
    const TO_ANOTHER: Greeting = Greeting { owner: 0, taken: TAKES_OVER, first: 0 };

    fn bytes(self) -> Vec<u8> {
        [self.owner, self.taken, self.first].map(u64::to_le_bytes).concat()
    }

    fn read(reader: &mut dyn Read) -> Result<Greeting, LinkError> {
        let (owner, taken) = (number_of(reader)?, number_of(reader)?);
        Ok(Greeting { owner, taken, first: number_of(reader)? })
    }
}

struct Record {
    bytes: Vec<u8>,
    is_last: bool,
}

impl State {
    fn greeting(&self) -> Vec<u8> {
        let taken = match self.begins {
            Begins::Held | Begins::New => self.taken,
            Begins::InPlaceOfAnother => TAKES_OVER,
        };
        let owner = self.owner.unwrap_or_default();
        Greeting { owner, taken, first: self.kept.first() }.bytes()
    }

    /// What is written next, so long after the last time.
    fn next_record(&mut self, idle: Duration) -> Option<Record> {
        let taken = self.taken.to_le_bytes();
        if let Some(frame) = self.kept.next() {
            self.told = self.taken;
            let length = (frame.len() as u32).to_le_bytes();
            return Some(Record { bytes: [&length[..], &taken, frame].concat(), is_last: false });
        }
        let sign = |length: u32, is_last| {
            Some(Record { bytes: [&length.to_le_bytes()[..], &taken].concat(), is_last })
        };
        if self.is_all {
            return sign(FAREWELL, true);
        }
        if self.taken - self.told >= TOLD_AFTER || idle > SIGN_EVERY {
            self.told = self.taken;
            return sign(0, false);
        }
        None
    }

    fn lose_stream(&mut self) {
        self.is_greeted = false;
        self.is_over |= self.left.is_some();
        self.since.get_or_insert_with(Instant::now);
    }
}

/// A number that no other end has.
fn by_chance() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn number_of(reader: &mut dyn Read) -> Result<u64, LinkError> {
    let mut bytes = [0; 8];
    reader.read_exact(&mut bytes).map_err(|_| LinkError::Closed)?;
    Ok(u64::from_le_bytes(bytes))
}

fn bytes_of(reader: &mut dyn Read, length: u32) -> Result<Vec<u8>, LinkError> {
    if length as usize > LONGEST_FRAME {
        return Err(LinkError::Garbled);
    }
    // Grows with what really comes: a length alone takes no memory.
    let mut frame = Vec::new();
    let read =
        reader.take(u64::from(length)).read_to_end(&mut frame).map_err(|_| LinkError::Closed)?;
    if read < length as usize { Err(LinkError::Closed) } else { Ok(frame) }
}

/// A link over a session that begins with this stream, the session, and the thread that writes: it
/// ends when the session does.
pub(crate) fn over(
    stream: Stream,
    hold: Duration,
    begins: Begins,
) -> (Link, Session, JoinHandle<()>) {
    let session = Session::new(hold, begins);
    let (outlet, frames, reading) = Outlet::with_frames();
    let feeder = session.clone();
    thread::spawn(move || feed(&feeder, &frames, &reading));
    session.go_on_over(stream);
    let watched = session.clone();
    let thread = thread::spawn(move || watched.watch());
    (Link::of(outlet, Inlet::of(session.clone())), session, thread)
}

/// Keeps what outlets send, until they are gone.
fn feed(session: &Session, frames: &Receiver<Vec<u8>>, reading: &Reading) {
    for frame in frames {
        let length = frame.len();
        if session.keep(frame).is_err() {
            return;
        }
        reading.took(length);
    }
    session.that_is_all();
}

#[cfg(test)]
mod tests;
