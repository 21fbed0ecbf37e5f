//! The terminal as a screen: taken over at the start of a view and given back however the program
//! ends.

use live::watch::{Key, State, draw};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use std::io::{self, IsTerminal, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether the terminal is ours just now.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether the screen is drawn to standard error, where standard output is for results.
static ON_STDERR: AtomicBool = AtomicBool::new(false);

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

/// Whether words on standard output may have colours: it is a terminal, and nobody forbids them
/// (<https://no-color.org>).
pub(crate) fn in_colour() -> bool {
    let is_forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdout().is_terminal() && !is_forbidden && !is_dumb
}

/// The columns of either stream, as [`room`].
pub(crate) fn room_of(stream: Stream) -> Option<usize> {
    let is_terminal = match stream {
        Stream::Out => io::stdout().is_terminal(),
        Stream::Error => io::stderr().is_terminal(),
    };
    if !is_terminal {
        return None;
    }
    let (columns, _) = ratatui::crossterm::terminal::size().ok()?;
    (columns > 0).then_some(usize::from(columns))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TerminalEvent {
    Key(Key),
    Resized,
}

/// A screen; the terminal is given back when it is dropped.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Box<dyn Write + Send>>>,
}

impl Screen {
    pub(crate) fn open(stream: Stream) -> io::Result<Screen> {
        restore_on_panic();
        ON_STDERR.store(stream == Stream::Error, Ordering::SeqCst);
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let open = || {
            execute!(out(), EnterAlternateScreen, Hide)?;
            Terminal::new(CrosstermBackend::new(out()))
        };
        open().map(|terminal| Screen { terminal }).inspect_err(|_| restore())
    }

    pub(crate) fn draw(&mut self, state: &mut State, title: &str, status: &str) -> io::Result<()> {
        if !is_taken() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        self.terminal.draw(|frame| draw::draw(frame, state, title, status)).map(drop)
    }

    /// What the terminal tells within `patience`.
    pub(crate) fn next_event(&self, patience: Duration) -> io::Result<Option<TerminalEvent>> {
        if !event::poll(patience)? {
            return Ok(None);
        }
        Ok(match event::read()? {
            event::Event::Key(pressed) if pressed.kind != KeyEventKind::Release => {
                key(pressed).map(TerminalEvent::Key)
            }
            event::Event::Resize(..) => Some(TerminalEvent::Resized),
            _ => None,
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Whether the terminal is ours just now: what is printed then would stand in the middle of a
/// picture.
pub(crate) fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Gives the terminal back, if it is ours. Before the process ends in any other way than by
/// dropping the screen, somebody has to call this.
pub(crate) fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // A terminal that is gone needs nothing back.
        let _ = execute!(out(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
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

fn out() -> Box<dyn Write + Send> {
    if ON_STDERR.load(Ordering::SeqCst) { Box::new(io::stderr()) } else { Box::new(io::stdout()) }
}

fn key(pressed: event::KeyEvent) -> Option<Key> {
    let is_control = pressed.modifiers.contains(KeyModifiers::CONTROL);
    Some(match pressed.code {
        KeyCode::Char('c') if is_control => Key::Interrupt,
        KeyCode::Char(_) if is_control => return None,
        KeyCode::Char(character) => Key::Char(character),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab => Key::Tab,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::crossterm::event::KeyEvent;

    #[test]
    fn a_panic_gives_the_terminal_back_once() {
        restore_on_panic();
        TAKEN.store(true, Ordering::SeqCst);
        let panicked = std::panic::catch_unwind(|| assert!(!is_taken(), "on purpose"));
        assert!(panicked.is_err() && !is_taken());
        restore();
        assert!(!is_taken());
    }

    #[test]
    fn ctrl_c_is_no_letter() {
        let read = |code, modifiers| key(KeyEvent::new(code, modifiers));
        assert_eq!(read(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Interrupt));
        assert_eq!(read(KeyCode::Char('c'), KeyModifiers::NONE), Some(Key::Char('c')));
        assert_eq!(read(KeyCode::Char('a'), KeyModifiers::CONTROL), None);
        assert_eq!(read(KeyCode::F(1), KeyModifiers::NONE), None);
    }
}
