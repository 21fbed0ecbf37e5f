//! A bar for each stage, for eyes; a finished stage leaves its summary.

use super::line::{Line, held};
use crate::progress::Progress;
use model::{Event, printable};
use report::ground::folding::hung;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex};

/// The bar on the terminal.
pub struct Bar {
    line: Arc<Mutex<Line>>,
    room: usize,
}

/// What a bar, its spinner and the figures behind it take at least, in columns.
const FIGURES: usize = 36;
/// Lines above the bar are set in by so many columns.
const INDENT: &str = "  ";

fn prefix(head: &str, room: usize) -> String {
    let head = printable::line(head);
    let most = room.saturating_sub(FIGURES).max(8);
    if head.chars().count() <= most {
        return head.into_owned();
    }
    head.chars().take(most - 1).chain(['…']).collect()
}

fn above(text: &str, room: usize) -> String {
    hung(INDENT, &printable::line(text), 2 * INDENT.len(), room)
}

impl Bar {
    /// A bar that shows nothing yet.
    pub fn new(room: Option<usize>) -> Bar {
        Bar { line: Line::ticking(), room: room.unwrap_or(usize::MAX) }
    }

    /// Shows an event that `progress` took in already.
    pub fn show(&mut self, event: &Event, progress: &Progress) {
        match event {
            Event::StageStarted { .. } => {
                let head = prefix(&progress.head(), self.room);
                let is_shown = std::io::stderr().is_terminal();
                *held(&self.line) = Line { is_shown, head, ..Line::default() };
            }
            Event::Sample(_) | Event::Waiting(_) => {
                let now = format!("{}  {}", progress.now(), progress.eta());
                let mut line = held(&self.line);
                line.message = printable::line(&now).into_owned();
                line.share = progress.share();
            }
            Event::Counters(_) => {}
            Event::StageEnded { .. } => {
                held(&self.line).clear();
                self.say(&progress.summary());
            }
            Event::Note(_) => {
                if let Some(note) = progress.note(event) {
                    self.say(&note);
                }
            }
            Event::HostStarted(_)
            | Event::HostEnded(_)
            | Event::PointAdded(_)
            | Event::Happened(_) => {}
            Event::RunEnded { .. } => {
                held(&self.line).clear();
                if let Some(note) = progress.note(event) {
                    self.say(&note);
                }
            }
        }
    }

    /// Puts a line above the bar.
    pub fn say(&self, text: &str) {
        held(&self.line).say(&(above(text, self.room) + "\n"));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        held(&self.line).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_stays_within_the_terminal() {
        let long = "measure a-workload-with-a-very-long-name (depth=32, block_size=64KiB)";
        assert_eq!(prefix("measure w", 80), "measure w");
        assert_eq!(prefix(long, usize::MAX), long);
        let short = prefix(long, 60);
        assert_eq!((short.chars().count(), short.ends_with('…')), (24, true), "{short}");
        assert!(prefix("a\u{1b}[2J", 80).chars().all(|c| !printable::acts(c)));
        let text =
            above(&format!("{long}  12 s  1,234 IOPS, and so on to the end of the line\u{7}"), 40);
        assert!(
            text.lines().all(|line| line.chars().count() <= 40 || !line.trim().contains(' ')),
            "{text}"
        );
        assert!(text.starts_with("  measure") && !text.contains('\u{7}'), "{text}");
    }
}
