//! Where the streams of a session come from: on the agent's host, a socket of the kernel's abstract
//! names, which no file is left of; at the other end, the launcher, again and again.

use super::{Greeting, LOOK, Session, Stream};
use rustix::net::sockopt::socket_peercred;
use std::io::{Cursor, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};
use std::{fmt, thread};

/// What an agent says to whoever asks for it, before anything else.
const HERE: u8 = b'+';
/// How long an agent waits for the greeting of whoever asked for it.
const PATIENCE: Duration = Duration::from_secs(20);
/// From one try to the next, at least.
const PAUSE: Duration = Duration::from_millis(500);
/// And at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

fn address(name: &str) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("plimsoll-held-{name}"))
}

/// Whether the other end is of this user: nobody else gives an agent orders, or answers for one.
fn is_ours(stream: &UnixStream) -> bool {
    socket_peercred(stream).is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

/// Takes up a session again for whoever asks for it by this name, as long as it lasts.
pub(crate) fn listen(name: &str, session: Session) -> std::io::Result<()> {
    let listener = UnixListener::bind_addr(&address(name)?)?;
    thread::spawn(move || {
        for stream in listener.incoming() {
            if session.is_over() {
                return;
            }
            let Ok(stream) = stream else {
                thread::sleep(LOOK);
                continue;
            };
            if is_ours(&stream) {
                let session = session.clone();
                thread::spawn(move || take_up(&session, stream));
            }
        }
    });
    Ok(())
}

/// Goes on over a stream whose other end greets us: one that is gone by now does not.
fn take_up(session: &Session, mut stream: UnixStream) -> Option<()> {
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(&[HERE]).ok()?;
    let mut greeting = [0; Greeting::LENGTH];
    stream.read_exact(&mut greeting).ok()?;
    if !session.accepts(Greeting::read(&mut &greeting[..]).ok()?) {
        return stream.write_all(&Greeting::TO_ANOTHER.bytes()).ok();
    }
    stream.set_read_timeout(None).ok()?;
    let reader = Box::new(Cursor::new(greeting).chain(stream.try_clone().ok()?));
    let carrier = Box::new(());
    session.go_on_over(Stream { reader, writer: Box::new(stream), carrier });
    Some(())
}

/// Why a session cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// No agent of this user holds it here.
    NotHeld,
    /// Its agent is there and does not answer.
    Silent(String),
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttachError::NotHeld => f.write_str("no agent of this user holds out here"),
            AttachError::Silent(why) => {
                write!(f, "the agent that holds out does not answer: {why}")
            }
        }
    }
}

impl std::error::Error for AttachError {}

/// The far end of a session that an agent of this host and user holds, once it answers.
///
/// # Errors
/// Nobody holds it, or nobody answers.
pub fn attach(name: &str) -> Result<UnixStream, AttachError> {
    let address = address(name).map_err(|_| AttachError::NotHeld)?;
    let mut stream = UnixStream::connect_addr(&address).map_err(|_| AttachError::NotHeld)?;
    if !is_ours(&stream) {
        return Err(AttachError::NotHeld);
    }
    let mut here = [0];
    match stream.read_exact(&mut here) {
        Ok(()) if here == [HERE] => Ok(stream),
        Ok(()) => Err(AttachError::NotHeld),
        Err(error) => Err(AttachError::Silent(error.to_string())),
    }
}

/// Why a stream could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    /// This time.
    ForNow,
    /// There is nobody any more who holds the session.
    ForGood,
}

/// Gives a session another stream whenever it wants one, until it is over.
pub(crate) fn keep_up(session: Session, dial: impl Fn() -> Result<Stream, Gone> + Send + 'static) {
    thread::spawn(move || {
        let (mut pause, mut next) = (PAUSE, Instant::now());
        while !session.is_over() {
            thread::sleep(LOOK);
            if !session.wants_stream() {
                (pause, next) = (PAUSE, Instant::now());
                continue;
            }
            if Instant::now() < next {
                continue;
            }
            match dial() {
                // The old one may have come to itself meanwhile.
                Ok(stream) if session.wants_stream() => session.go_on_over(stream),
                Ok(stream) => drop(stream),
                Err(Gone::ForGood) => session.end(),
                Err(Gone::ForNow) => {}
            }
            (next, pause) = (Instant::now() + pause, (pause * 2).min(LONGEST_PAUSE));
        }
    });
}
