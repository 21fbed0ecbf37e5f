//! A bar for each stage, for eyes; a finished stage leaves its summary.

use super::progress::Progress;
use crate::words;
use indicatif::{ProgressBar, ProgressStyle};
use model::Event;
use std::time::Duration;

/// Steps of the bar: finer than any terminal is wide.
const STEPS: u64 = 1_000;

/// The bar on the terminal.
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar that shows nothing yet.
    pub fn new() -> Bar {
        Bar { bar: ProgressBar::hidden() }
    }

    /// Shows an event that `progress` took in already.
    pub fn show(&mut self, event: &Event, progress: &Progress) {
        match event {
            Event::StageStarted { .. } => {
                self.bar = ProgressBar::new(STEPS);
                let style = ProgressStyle::with_template("{spinner} {prefix} {bar:10} {wide_msg}");
                self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
                self.bar.set_prefix(progress.head());
                // It moves between two samples, too: a spinner that stands still means that we do.
                self.bar.enable_steady_tick(Duration::from_millis(100));
            }
            Event::Sample(_) => {
                self.bar.set_position((progress.share() * STEPS as f64) as u64);
                self.bar.set_message(format!("{}  {}", progress.now(), progress.eta()));
            }
            Event::Counters(_) => {}
            Event::StageEnded { .. } => {
                self.bar.finish_and_clear();
                self.say(&progress.summary());
            }
            Event::Note(note) => self.say(&format!("note: {}: {}", words::note(note.kind), note.detail)),
            Event::HostStarted(_) | Event::PointAdded(_) | Event::Happened(_) => {}
            Event::RunEnded { .. } => self.bar.finish_and_clear(),
        }
    }

    /// Puts a line above the bar.
    pub fn say(&self, text: &str) {
        use std::io::Write;
        // A terminal that is gone is no reason to end a run.
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stderr(), "  {text}");
        });
    }
}
