//! The terminal as a screen: taken over at the start of a view and given back however the program
//! ends.

use live::watch::{Canvas, Key, State, draw};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// What has to be given back, while the terminal is ours.
static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

struct Taken {
    keyboard: File,
    before: Termios,
    /// Standard error, where standard output is for results.
    stream: Stream,
}

/// The alternate screen, without a cursor; then the first one, with it.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?1049l\x1b[?25h";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Error,
}

/// The columns that standard output has for text; `None` where it is no terminal, or the terminal
/// does not say.
pub(crate) fn room() -> Option<usize> {
    room_of(Stream::Out)
}

/// Whether words on standard output may have colours: it is a terminal, and nobody forbids them.
pub(crate) fn in_colour() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdout().is_terminal() && !are_colours_forbidden() && !is_dumb
}

/// See <https://no-color.org>.
fn are_colours_forbidden() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// The columns of either stream, as [`room`].
pub(crate) fn room_of(stream: Stream) -> Option<usize> {
    let (columns, _) = size(stream).ok()?;
    (columns > 0).then_some(usize::from(columns))
}

/// The columns and lines of a terminal.
fn size(stream: Stream) -> io::Result<(u16, u16)> {
    let size = match stream {
        Stream::Out => tcgetwinsize(io::stdout()),
        Stream::Error => tcgetwinsize(io::stderr()),
    }?;
    Ok((size.ws_col, size.ws_row))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TerminalEvent {
    Key(Key),
    Resized,
}

/// A screen; the terminal is given back when it is dropped.
pub(crate) struct Screen {
    stream: Stream,
    keyboard: File,
    shown: Canvas,
    /// The beginning of a key.
    typed: Vec<u8>,
    keys: VecDeque<Key>,
}

impl Screen {
    pub(crate) fn open(stream: Stream) -> io::Result<Screen> {
        restore_on_panic();
        let screen = Screen::over(keyboard()?, stream)?;
        tell(stream, ENTER)?;
        Ok(screen)
    }

    /// From here on, keys come as they are pressed, and none is a signal.
    fn over(keyboard: File, stream: Stream) -> io::Result<Screen> {
        let before = tcgetattr(&keyboard)?;
        let mut raw = before.clone();
        raw.make_raw();
        *taken() = Some(Taken { keyboard: keyboard.try_clone()?, before, stream });
        let (shown, typed, keys) = (Canvas::new(0, 0), Vec::new(), VecDeque::new());
        let screen = Screen { stream, keyboard, shown, typed, keys };
        tcsetattr(&screen.keyboard, OptionalActions::Now, &raw)?;
        Ok(screen)
    }

    pub(crate) fn draw(&mut self, state: &mut State, title: &str, status: &str) -> io::Result<()> {
        let (columns, lines) = size(self.stream)?;
        let mut canvas = Canvas::new(columns, lines);
        draw::draw(&mut canvas, state, title, status);
        if !is_taken() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        tell(self.stream, &canvas.changes(&self.shown, !are_colours_forbidden()))?;
        self.shown = canvas;
        Ok(())
    }

    /// What the terminal tells within `patience`.
    pub(crate) fn next_event(&mut self, patience: Duration) -> io::Result<Option<TerminalEvent>> {
        if self.keys.is_empty() {
            self.listen(patience)?;
        }
        let key = self.keys.pop_front().map(TerminalEvent::Key);
        let resized = || size(self.stream).is_ok_and(|size| size != self.shown.size());
        Ok(key.or_else(|| resized().then_some(TerminalEvent::Resized)))
    }

    fn listen(&mut self, patience: Duration) -> io::Result<()> {
        let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.keyboard, PollFlags::IN)], Some(&patience)) {
            Ok(0) | Err(Errno::INTR) => return Ok(()),
            result => result?,
        };
        // As much as a terminal holds: a key is only cut where it was sent in parts.
        let mut bytes = [0; 4096];
        let count = self.keyboard.read(&mut bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.typed.extend(&bytes[..count]);
        let (keys, read) = Key::read(&self.typed);
        self.typed.drain(..read);
        self.keys.extend(keys);
        Ok(())
    }
}

/// Where keys come from, also where standard input is for something else.
fn keyboard() -> io::Result<File> {
    if io::stdin().is_terminal() {
        return Ok(io::stdin().as_fd().try_clone_to_owned()?.into());
    }
    File::options().read(true).write(true).open("/dev/tty")
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Whether the terminal is ours just now: what is printed then would stand in the middle of a
/// picture.
pub(crate) fn is_taken() -> bool {
    taken().is_some()
}

/// Held for a moment only: whoever ends the process asks for it, too.
fn taken() -> MutexGuard<'static, Option<Taken>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the terminal back, if it is ours. Before the process ends in any other way than by
/// dropping the screen, somebody has to call this.
pub(crate) fn restore() {
    let ours = taken().take();
    if let Some(Taken { keyboard, before, stream }) = ours {
        // A terminal that is gone needs nothing back.
        let _ = tell(stream, LEAVE);
        let _ = tcsetattr(keyboard, OptionalActions::Now, &before);
    }
}

fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
    });
}

fn tell(stream: Stream, orders: &str) -> io::Result<()> {
    let out: &mut dyn Write = match stream {
        Stream::Out => &mut io::stdout(),
        Stream::Error => &mut io::stderr(),
    };
    out.write_all(orders.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::LocalModes;

    #[test]
    fn keys_come_as_they_are_pressed_and_a_panic_gives_the_terminal_back_as_it_was() {
        let (mut person, keyboard) = terminal();
        let set = |keyboard: &File| tcgetattr(keyboard).expect("a terminal");
        let before = format!("{:?}", set(&keyboard));
        restore_on_panic();
        let mut screen = Screen::over(keyboard, Stream::Out).expect("a screen");
        let edited = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        assert!(is_taken() && !set(&screen.keyboard).local_modes.intersects(edited));
        let mut typed = |bytes: &[u8]| {
            person.write_all(bytes).expect("keys");
            screen.listen(Duration::from_secs(60)).expect("keys");
            screen.keys.drain(..).collect::<Vec<Key>>()
        };
        assert_eq!(typed(b"\x03\xe6\x97"), [Key::Interrupt]);
        assert_eq!(typed(b"\xa5"), [Key::Char('日')]);
        let panicked = std::panic::catch_unwind(|| assert!(!is_taken(), "on purpose"));
        assert!(panicked.is_err() && !is_taken());
        assert_eq!(format!("{:?}", set(&screen.keyboard)), before);
        restore();
        assert!(!is_taken());
        drop(person);
        assert!(screen.next_event(Duration::from_secs(60)).is_err(), "nobody is left to type");
    }

    /// A terminal: where somebody types, and where it is read.
    fn terminal() -> (File, File) {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&person).and_then(|()| unlockpt(&person)).expect("its other end");
        let name = ptsname(&person, Vec::new()).expect("its name").into_string().expect("text");
        let mut open = File::options();
        let keyboard = open.read(true).write(true).open(name).expect("its other end");
        (person.into(), keyboard)
    }
}
