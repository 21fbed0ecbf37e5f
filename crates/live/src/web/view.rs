//! What a reader of the live page looks at.

/// What one reader looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct View {
    /// The host whose charts are shown; all together without one.
    pub host: Option<u32>,
    /// The first host of the table, counted from 0 among those that are looked for.
    pub from: usize,
    /// What the names of the hosts in the table have in common; at most [`View::MOST_FIND`] bytes.
    pub find: String,
}

impl View {
    /// The longest text that hosts are looked for by, in bytes.
    pub const MOST_FIND: usize = 64;
}
