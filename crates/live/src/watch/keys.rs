//! Keys, and what they ask of whoever drives the view.

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// ↑
    Up,
    /// ↓
    Down,
    /// ←
    Left,
    /// →
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first row.
    Home,
    /// To the last row.
    End,
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// Ctrl-C: a terminal in raw mode sends it as a key.
    Interrupt,
}

impl Key {
    /// The keys in what a terminal sent, and how many of its bytes they took: the rest begins a key
    /// that has not all come yet.
    pub fn read(bytes: &[u8]) -> (Vec<Key>, usize) {
        let (mut keys, mut read) = (Vec::new(), 0);
        while let Some((key, length)) = first(&bytes[read..]) {
            keys.extend(key);
            read += length;
        }
        (keys, read)
    }
}

/// The first key, if it is one that the view knows, and its bytes.
fn first(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let key = match bytes {
        [] => return None,
        [ESC] => Key::Escape,
        // Function keys of the Linux console.
        [ESC, b'[', b'[', rest @ ..] => return rest.first().map(|_| (None, 4)),
        [ESC, b'O', rest @ ..] => return rest.first().map(|last| (named(b"", *last), 3)),
        [ESC, b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| !(0x20..0x40).contains(byte))?;
            return Some(match rest[end] {
                last @ 0x40..0x7f => (named(&rest[..end], last), end + 3),
                // It was broken off, and another key begins.
                _ => (None, end + 2),
            });
        }
        // With Alt: the key that follows.
        [ESC, ..] => return Some((None, 1)),
        [3, ..] => Key::Interrupt,
        [b'\r' | b'\n', ..] => Key::Enter,
        [b'\t', ..] => Key::Tab,
        [8 | 0x7f, ..] => Key::Backspace,
        _ => return character(bytes),
    };
    Some((Some(key), 1))
}

const ESC: u8 = 0x1b;

/// The key of a sequence, whatever was held down with it.
fn named(parameters: &[u8], last: u8) -> Option<Key> {
    let number = parameters.split(|byte| *byte == b';').next().unwrap_or_default();
    Some(match (number, last) {
        (_, b'A') => Key::Up,
        (_, b'B') => Key::Down,
        (_, b'C') => Key::Right,
        (_, b'D') => Key::Left,
        (_, b'H') | (b"1" | b"7", b'~') => Key::Home,
        (_, b'F') | (b"4" | b"8", b'~') => Key::End,
        (b"5", b'~') => Key::PageUp,
        (b"6", b'~') => Key::PageDown,
        _ => return None,
    })
}

/// A character of which all bytes are there; what is none is left out.
fn character(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let length = bytes[0].leading_ones().clamp(1, 4) as usize;
    let whole = std::str::from_utf8(bytes.get(..length)?).ok();
    let Some(c) = whole.and_then(|text| text.chars().next()) else { return Some((None, 1)) };
    Some(((!c.is_control()).then_some(Key::Char(c)), length))
}

/// What a key asks of whoever drives the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Nothing; the view saw to it.
    Nothing,
    /// Leave the view.
    Quit,
    /// Leave it and stop what is watched.
    Stop,
    /// Twice the speed.
    Faster,
    /// Half the speed.
    Slower,
    /// Go so many seconds on, or back.
    Step(i64),
}

/// What help says: keys and what they do. The last ones are for replays alone.
pub const HELP: &[(&str, &str)] = &[
    ("↑ ↓ j k", "move; PgUp, PgDn, Home, End"),
    ("Enter", "look into a node; there, into a device, port, core"),
    ("Tab", "devices → ports → cores → other counters"),
    ("Esc", "back; on the first table: quit"),
    ("< >", "sort by the column to the left or right"),
    ("0 … 9", "sort by the name, or by this column"),
    ("r", "turn the order around"),
    ("/", "show only names with this in them"),
    ("Space", "pause, and go on"),
    ("q", "quit; a run goes on without the view"),
    ("Ctrl-C", "quit, and stop a run"),
];

/// The keys of replays.
pub const REPLAY_HELP: &[(&str, &str)] = &[("+ -", "faster, slower"), ("← →", "10 s back, on")];

#[cfg(test)]
mod tests {
    use super::Key::{self, *};

    #[test]
    fn keys_are_read_from_what_a_terminal_sends() {
        let table: [(&[u8], &[Key]); 20] = [
            (b"\x1b[A\x1b[B\x1b[C\x1b[D", &[Up, Down, Right, Left]),
            (b"\x1bOA\x1bOB\x1bOC\x1bOD", &[Up, Down, Right, Left]),
            (b"\x1b[5~\x1b[6~", &[PageUp, PageDown]),
            (b"\x1b[H\x1bOH\x1b[1~\x1b[7~", &[Home; 4]),
            (b"\x1b[F\x1bOF\x1b[4~\x1b[8~", &[End; 4]),
            (b"\x1b[1;5A\x1b[6;2~", &[Up, PageDown]),
            (b"\r\n\t\x7f\x08", &[Enter, Enter, Tab, Backspace, Backspace]),
            (b"\x1b", &[Escape]),
            (b"q\x1b", &[Char('q'), Escape]),
            (b"\x1b\x1b", &[Escape]),
            (b"\x1bq\x1b\x1b[A", &[Char('q'), Up]),
            (b"\x03c", &[Interrupt, Char('c')]),
            // Ctrl with another letter, and a control character of two bytes.
            (b"\x00\x01\x1a\xc2\x9bx", &[Char('x')]),
            ("aé日😀".as_bytes(), &[Char('a'), Char('é'), Char('日'), Char('😀')]),
            (b"a\xffb\xe6\x97c", &[Char('a'), Char('b'), Char('c')]),
            // F1, F5, Insert, Delete, Shift-Tab and what nobody knows.
            (b"\x1bOP\x1b[15~\x1b[2~\x1b[3~\x1b[Z\x1b[[Ax", &[Char('x')]),
            (b"\x1b[?1;2c\x1b[<0;1;2M\x1b[200~\x1b[ qx", &[Char('x')]),
            (b"\x1b[1;\x1b[A\x1b[\x03", &[Up, Interrupt]),
            (b"", &[]),
            (b"\x1bO~x", &[Char('x')]),
        ];
        for (bytes, keys) in table {
            assert_eq!(Key::read(bytes), (keys.to_vec(), bytes.len()), "{bytes:?}");
        }
    }

    #[test]
    fn what_has_not_all_come_waits() {
        for (whole, key) in [("日", Char('日')), ("😀", Char('😀')), ("\x1b[5;2~", PageUp)] {
            for cut in 2..whole.len() {
                let begun = Key::read(&[b"a", &whole.as_bytes()[..cut]].concat());
                assert_eq!(begun, (vec![Char('a')], 1), "{whole:?} to {cut}");
            }
            assert_eq!(Key::read(whole.as_bytes()), (vec![key], whole.len()));
        }
        assert_eq!(
            (Key::read(b"\x1bO").1, Key::read(b"\x1b[[").1, Key::read(b"\xe6").1),
            (0, 0, 0)
        );
    }
}
