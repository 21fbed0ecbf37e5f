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
