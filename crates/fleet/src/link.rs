//! Carries messages in order: over a pair of channels in one process, or over the standard streams
//! of an agent's process.
//!
//! On a stream, a frame is its length (4 bytes, little endian) and so many bytes. Each is written
//! in one piece: a relay such as `srun` makes two writes wait for each other.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The longest frame. The plan of one host with thousands of workers and hundreds of stages is a
/// tenth of it.
pub const LONGEST_FRAME: usize = 64 << 20;

/// So many frames wait for a partner at most: more than an hour of one that tells something every
/// second.
const MOST_FRAMES: usize = 4_096;
/// The bytes of those that wait, beside which no further one is taken.
const MOST_BYTES: usize = 256 << 20;
/// What one host is told before it answers is far less than so many frames.
const FRAMES_OF_HOST: usize = 256;
/// How long a sender waits for room. A worker has room for dozens of intervals, so that its loop
/// notices nothing of that.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks whether there is room.
const LOOK: Duration = Duration::from_millis(5);

/// A message that cannot be read, or a partner that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// The other end is closed.
    Closed,
    /// The bytes are no message of this version.
    Garbled,
    /// The other end does not read what it is sent: as much as may waits for it.
    Full,
}

/// A message as bytes, for somebody who passes it on and need not look into it. So no message holds
/// another, however often it is passed on, and reading one takes no more stack than any other.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame(Vec<u8>);

impl Frame {
    /// Writes a message.
    ///
    /// # Errors
    /// It is longer than [`LONGEST_FRAME`].
    pub fn of<T: Serialize>(message: &T) -> Result<Frame, LinkError> {
        let bytes = postcard::to_stdvec(message).map_err(|_| LinkError::Garbled)?;
        if bytes.len() > LONGEST_FRAME { Err(LinkError::Garbled) } else { Ok(Frame(bytes)) }
    }

    /// Reads the message.
    ///
    /// # Errors
    /// It is no message of this version.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, LinkError> {
        postcard::from_bytes(&self.0).map_err(|_| LinkError::Garbled)
    }

    /// A message that is written otherwise than by [`of`](Self::of).
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Result<Frame, LinkError> {
        if bytes.len() > LONGEST_FRAME { Err(LinkError::Garbled) } else { Ok(Frame(bytes)) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// How long it is, in bytes.
    pub fn length(&self) -> usize {
        self.0.len()
    }
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Frame({} bytes)", self.0.len())
    }
}

impl Serialize for Frame {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Frame {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Frame, D::Error> {
        struct Bytes;

        impl serde::de::Visitor<'_> for Bytes {
            type Value = Frame;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the bytes of a message")
            }

            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Frame, E> {
                Ok(Frame(bytes.to_vec()))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

/// One end of a connection. Closing one end ends the other's wait.
#[derive(Debug)]
pub struct Link {
    out: Outlet,
    inbox: Inlet,
}

/// The sending half of a [`Link`]. What waits for a partner that does not read has a bound, in
/// frames
/// and in bytes: what happens there is the sender's choice.
#[derive(Clone, Debug)]
pub struct Outlet {
    /// Bounded by `room`, which goes by bytes, too.
    out: Sender<Vec<u8>>,
    unread: Arc<Unread>,
    room: Room,
}

/// How much may wait for a partner.
#[derive(Clone, Copy, Debug)]
struct Room {
    frames: usize,
    bytes: usize,
}

/// What waits for a partner.
#[derive(Debug, Default)]
struct Unread {
    frames: AtomicUsize,
    bytes: AtomicUsize,
    /// Somebody waited in vain for room: nobody does that again.
    is_given_up: AtomicBool,
    /// Nobody reads any more.
    is_closed: AtomicBool,
}

/// Whoever reads, while it does.
pub(crate) struct Reading(Arc<Unread>);

impl Reading {
    pub(crate) fn took(&self, bytes: usize) {
        self.0.remove(bytes);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.is_closed.store(true, Ordering::Relaxed);
    }
}

impl Unread {
    fn add(&self, bytes: usize) {
        self.frames.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn remove(&self, bytes: usize) {
        let frames = self.frames.fetch_sub(1, Ordering::Relaxed);
        let before = self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        assert!(frames > 0 && before >= bytes, "more was read than was sent");
    }

    fn fits(&self, room: Room) -> Result<(), LinkError> {
        match self.frames.load(Ordering::Relaxed) < room.frames
            && self.bytes.load(Ordering::Relaxed) < room.bytes
        {
            true => Ok(()),
            false if self.is_closed.load(Ordering::Relaxed) => Err(LinkError::Closed),
            false => Err(LinkError::Full),
        }
    }
}

/// The receiving half of a [`Link`].
pub struct Inlet {
    source: Source,
}

enum Source {
    Memory(Receiver<Vec<u8>>, Reading),
    Stream(Box<dyn Read + Send>),
    Frames(Box<dyn Frames>),
}

/// Where the frames of an [`Inlet`] come from that outlives its streams.
pub(crate) trait Frames: Send {
    fn next(&mut self) -> Result<Vec<u8>, LinkError>;
}

/// Two ends in one process.
pub fn pair() -> (Link, Link) {
    let (to_left, left_inbox) = channel();
    let (to_right, right_inbox) = channel();
    let (to_left, to_right) = (Outlet::new(to_left), Outlet::new(to_right));
    let inlet = |inbox, outlet: &Outlet| Inlet {
        source: Source::Memory(inbox, Reading(Arc::clone(&outlet.unread))),
    };
    let (left, right) = (inlet(left_inbox, &to_left), inlet(right_inbox, &to_right));
    (Link { out: to_right, inbox: left }, Link { out: to_left, inbox: right })
}

/// A link over two streams, and the thread that writes: it ends when every outlet is gone, once all
/// that they sent is written.
pub fn over(
    reader: impl Read + Send + 'static,
    mut writer: impl Write + Send + 'static,
) -> (Link, JoinHandle<()>) {
    let (out, frames, reading) = Outlet::with_frames();
    // A thread of its own: a partner that does not read must not hold up those who send to others.
    let thread = thread::spawn(move || {
        for frame in frames {
            let mut bytes = Vec::with_capacity(frame.len() + 4);
            bytes.extend_from_slice(&(frame.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&frame);
            if writer.write_all(&bytes).and_then(|()| writer.flush()).is_err() {
                return;
            }
            reading.took(frame.len());
        }
    });
    (Link { out, inbox: Inlet { source: Source::Stream(Box::new(reader)) } }, thread)
}

impl Link {
    /// Put together again.
    pub(crate) fn of(out: Outlet, inbox: Inlet) -> Link {
        Link { out, inbox }
    }

    /// Both halves, for two threads.
    pub fn split(self) -> (Outlet, Inlet) {
        (self.out, self.inbox)
    }
}

impl Outlet {
    fn new(out: Sender<Vec<u8>>) -> Outlet {
        let room = Room { frames: MOST_FRAMES, bytes: MOST_BYTES };
        Outlet { out, unread: Arc::default(), room }
    }

    /// One, and where its frames come out.
    pub(crate) fn with_frames() -> (Outlet, Receiver<Vec<u8>>, Reading) {
        let (out, frames) = channel();
        let out = Outlet::new(out);
        let reading = Reading(Arc::clone(&out.unread));
        (out, frames, reading)
    }

    /// The same, to so many hosts: each may be told of its share at the same time.
    pub(crate) fn for_hosts(self, hosts: usize) -> Outlet {
        let room = Room {
            frames: self.room.frames.max(hosts.saturating_mul(FRAMES_OF_HOST)),
            bytes: self.room.bytes.max(hosts.saturating_mul(LONGEST_FRAME)),
        };
        Outlet { room, ..self }
    }

    /// The same with room for so many frames.
    #[cfg(test)]
    pub(crate) fn with_room(self, frames: usize) -> Outlet {
        Outlet { room: Room { frames, bytes: self.room.bytes }, ..self }
    }

    /// How many frames wait for the partner.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.unread.frames.load(Ordering::Relaxed)
    }

    /// Sends one message, and waits a moment for room. Whoever waited in vain once gets no more
    /// out: a partner that does not read is given up.
    ///
    /// # Errors
    /// When the other end is closed or does not read, or the message is longer than
    /// [`LONGEST_FRAME`].
    pub fn send<T: Serialize>(&self, message: &T) -> Result<(), LinkError> {
        let by = Instant::now() + PATIENCE;
        let may_wait = || !self.unread.is_given_up.load(Ordering::Relaxed) && Instant::now() < by;
        let sent = self.send_while(message, may_wait);
        if sent == Err(LinkError::Full) {
            self.unread.is_given_up.store(true, Ordering::Relaxed);
        }
        sent
    }

    /// Sends one message, and waits for room as long as `may_wait` says so: for a thread for which
    /// nobody waits.
    pub(crate) fn send_while<T: Serialize>(
        &self,
        message: &T,
        may_wait: impl Fn() -> bool,
    ) -> Result<(), LinkError> {
        let frame = Frame::of(message)?;
        while let Err(error) = self.unread.fits(self.room) {
            if error == LinkError::Closed || !may_wait() {
                return Err(error);
            }
            thread::sleep(LOOK);
        }
        self.push(frame)
    }

    /// Sends what is said once for each order, for which there always is room: there is no more of
    /// it than orders, which have a bound of their own. It never waits.
    pub(crate) fn answer<T: Serialize>(&self, message: &T) -> Result<(), LinkError> {
        self.push(Frame::of(message)?)
    }

    /// Sends a message that is written already, and waits for nothing: for a thread that speaks to
    /// many.
    ///
    /// # Errors
    /// When the other end is closed, or does not read.
    pub fn pass(&self, frame: Frame) -> Result<(), LinkError> {
        self.unread.fits(self.room)?;
        self.push(frame)
    }

    fn push(&self, frame: Frame) -> Result<(), LinkError> {
        let length = frame.length();
        self.unread.add(length);
        self.out.send(frame.0).map_err(|_| {
            self.unread.remove(length);
            LinkError::Closed
        })
    }
}

impl Inlet {
    /// Of frames that come from elsewhere.
    pub(crate) fn of(frames: impl Frames + 'static) -> Inlet {
        Inlet { source: Source::Frames(Box::new(frames)) }
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// When the other end is closed, or what it sent is no message.
    pub fn receive<T: DeserializeOwned>(&mut self) -> Result<T, LinkError> {
        self.frame()?.read()
    }

    /// Waits for the next message and leaves it unread.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn frame(&mut self) -> Result<Frame, LinkError> {
        let bytes = match &mut self.source {
            Source::Memory(inbox, reading) => {
                let bytes = inbox.recv().map_err(|_| LinkError::Closed)?;
                reading.0.remove(bytes.len());
                bytes
            }
            Source::Stream(reader) => read_frame(reader)?,
            Source::Frames(frames) => frames.next()?,
        };
        Ok(Frame(bytes))
    }
}

fn read_frame(reader: &mut dyn Read) -> Result<Vec<u8>, LinkError> {
    let mut length = [0; 4];
    reader.read_exact(&mut length).map_err(|_| LinkError::Closed)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST_FRAME {
        return Err(LinkError::Garbled);
    }
    // Grows with what really comes: a length alone takes no memory.
    let mut frame = Vec::new();
    let read = reader.take(length as u64).read_to_end(&mut frame).map_err(|_| LinkError::Closed)?;
    if read < length { Err(LinkError::Closed) } else { Ok(frame) }
}

impl std::fmt::Debug for Inlet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inlet").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Wire(Arc<Mutex<Vec<u8>>>);

    impl Write for Wire {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("not poisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn written(messages: &[String]) -> Vec<u8> {
        let wire = Wire::default();
        let (link, thread) = over(std::io::empty(), wire.clone());
        let (out, _) = link.split();
        messages.iter().for_each(|message| out.send(message).expect("open"));
        drop(out);
        thread.join().expect("no panic");
        wire.0.lock().expect("not poisoned").clone()
    }

    fn read(bytes: Vec<u8>) -> (Vec<String>, LinkError) {
        let (_, mut inlet) = over(Cursor::new(bytes), std::io::sink()).0.split();
        let mut messages = Vec::new();
        loop {
            match inlet.receive() {
                Ok(message) => messages.push(message),
                Err(error) => return (messages, error),
            }
        }
    }

    #[test]
    fn messages_arrive_as_they_were_sent_and_a_closed_end_is_seen() {
        let (left, right) = pair();
        let ((out, _), (_, mut inlet)) = (left.split(), right.split());
        out.send(&"hello".to_owned()).expect("open");
        assert_eq!(inlet.receive::<String>(), Ok("hello".to_owned()));
        drop(out);
        assert_eq!(inlet.receive::<String>(), Err(LinkError::Closed));
    }

    proptest! {
        #[test]
        fn a_stream_gives_back_what_was_sent_and_a_cut_one_loses_only_what_was_cut(
            messages in prop::collection::vec(".{0,300}", 0..8), cut: prop::sample::Index,
        ) {
            let bytes = written(&messages);
            let (read_back, end) = read(bytes.clone());
            prop_assert_eq!(&read_back, &messages);
            prop_assert_eq!(end, LinkError::Closed);
            let cut = cut.index(bytes.len() + 1);
            let (part, end) = read(bytes[..cut].to_vec());
            prop_assert_eq!(&messages[..part.len()], &part[..]);
            prop_assert_eq!(end, LinkError::Closed);
        }

        #[test]
        fn any_bytes_are_taken_without_a_panic(bytes in prop::collection::vec(any::<u8>(),
            0..200)) {
            read(bytes);
        }
    }

    #[test]
    fn a_partner_that_does_not_read_is_given_up_at_the_bound_and_one_that_reads_is_not() {
        let (left, right) = pair();
        let (out, mut inlet) = (left.split().0.with_room(2), right.split().1);
        let frame = || Frame::of(&7u32).expect("short");
        assert_eq!([(); 3].map(|()| out.pass(frame())), [Ok(()), Ok(()), Err(LinkError::Full)]);
        assert_eq!(out.send_while(&7u32, || false), Err(LinkError::Full));
        assert_eq!(out.answer(&8u32), Ok(()), "an answer always has room");
        assert_eq!([(); 3].map(|()| inlet.receive::<u32>()), [Ok(7), Ok(7), Ok(8)]);
        assert_eq!(out.pass(frame()), Ok(()), "it reads again, and nothing is lost");
        assert_eq!(inlet.receive::<u32>(), Ok(7));
    }

    #[test]
    fn who_waits_for_room_goes_on_when_there_is_some_and_gives_up_once() {
        let (left, right) = pair();
        let (out, mut inlet) = (left.split().0.with_room(1), right.split().1);
        out.send(&1u32).expect("room");
        thread::scope(|scope| {
            let waits = scope.spawn(|| out.send_while(&2u32, || true));
            assert_eq!([(); 2].map(|()| inlet.receive::<u32>()), [Ok(1), Ok(2)]);
            assert_eq!(waits.join().expect("no panic"), Ok(()));
        });
        out.send(&3u32).expect("room");
        assert_eq!(out.send(&4u32), Err(LinkError::Full), "after a while");
        let began = Instant::now();
        assert_eq!(out.send(&5u32), Err(LinkError::Full));
        assert!(began.elapsed() < PATIENCE, "nobody waits twice");
    }

    #[test]
    fn a_long_frame_counts_by_its_bytes_and_each_host_has_room_for_its_share() {
        let (left, _right) = pair();
        let mut out = left.split().0;
        out.room.bytes = 10;
        let frame = || Frame::of(&"x".repeat(9)).expect("short");
        assert_eq!([(); 2].map(|()| out.pass(frame())), [Ok(()), Err(LinkError::Full)]);
        let room = out.for_hosts(1_000).room;
        assert_eq!((room.frames, room.bytes), (256_000, 1_000 * LONGEST_FRAME));
    }

    #[test]
    fn a_message_is_passed_on_unread() {
        let (left, right) = pair();
        let ((out, _), (_, mut inlet)) = (left.split(), right.split());
        out.send(&(7u32, Frame::of(&"hello".to_owned()).expect("short"))).expect("open");
        let (number, frame): (u32, Frame) = inlet.frame().expect("open").read().expect("a pair");
        assert_eq!(
            (number, frame.length(), frame.read::<String>()),
            (7, 6, Ok("hello".to_owned()))
        );
        assert_eq!(frame.read::<(u64, String)>(), Err(LinkError::Garbled));
    }

    #[test]
    fn a_length_that_nobody_sends_is_refused() {
        let (messages, end) = read(vec![255, 255, 255, 255, 0]);
        assert_eq!((messages, end), (vec![], LinkError::Garbled));
    }
}
