//! One line below all that standard error says, where that is a terminal.

use crate::watch::canvas::{Canvas, Style};
use rustix::termios::tcgetwinsize;
use std::io::{Write, stderr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// It moves between two samples, too: a spinner that stands still means that we do.
const TICK: Duration = Duration::from_millis(100);
const SPINNER: &str = "⠁⠁⠉⠙⠚⠒⠂⠂⠒⠲⠴⠤⠄⠄⠤⠠⠠⠤⠦⠖⠒⠐⠐⠒⠓⠋⠉⠈⠈";
/// Columns of the bar.
const STEPS: usize = 10;
/// Columns of a terminal that does not tell its own.
const COLUMNS: u16 = 79;

/// What is shown from the next tick on: samples of many hosts come faster than anybody looks.
#[derive(Default)]
pub struct Line {
    pub is_shown: bool,
    pub head: String,
    pub share: f64,
    pub message: String,
    pub tick: usize,
}

/// Nobody panics while holding it.
pub fn held(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    /// A line that is not shown yet, and moves until nobody else has it.
    pub fn ticking() -> Arc<Mutex<Line>> {
        let line = Arc::new(Mutex::new(Line::default()));
        let watched = Arc::downgrade(&line);
        let tick = move || {
            while let Some(line) = watched.upgrade() {
                held(&line).step();
                drop(line);
                std::thread::sleep(TICK);
            }
        };
        // Without the thread, it is only shown with what is said above it.
        drop(std::thread::Builder::new().name("spinner".to_owned()).spawn(tick));
        line
    }

    fn step(&mut self) {
        self.tick += 1;
        if self.is_shown {
            self.say("");
        }
    }

    fn text(&self, columns: u16) -> String {
        let full = self.share.clamp(0.0, 1.0) * STEPS as f64;
        let bar = (0..STEPS).map(|step| match (full as usize).cmp(&step) {
            std::cmp::Ordering::Greater => '━',
            std::cmp::Ordering::Equal if full > 0.0 => '╸',
            _ => '─',
        });
        let spinner = SPINNER.chars().nth(self.tick % SPINNER.chars().count()).unwrap_or(' ');
        let bar: String = bar.collect();
        let text = format!("{spinner} {} {bar} {}", self.head, self.message);
        let mut canvas = Canvas::new(columns, 1);
        canvas.text(0, 0, &text, columns.into(), Style::PLAIN);
        canvas.lines().collect::<String>().trim_end().to_owned()
    }

    /// Writes lines above it, and it anew. A terminal that is gone is no reason to end a run.
    pub fn say(&self, above: &str) {
        let mut all = above.to_owned();
        if self.is_shown {
            let columns = tcgetwinsize(stderr()).map_or(0, |size| size.ws_col);
            let text = self.text(if columns == 0 { COLUMNS } else { columns });
            all = format!("\r\x1b[2K{above}{text}");
        }
        let _ = stderr().write_all(all.as_bytes());
    }

    /// Takes it away.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = stderr().write_all(b"\r\x1b[2K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_moves_and_stays_within_the_terminal() {
        let text = |share, tick, columns| {
            let (head, message) = ("measure w".to_owned(), "1 s  日本\u{7}".to_owned());
            Line { is_shown: true, head, share, message, tick }.text(columns)
        };
        assert_eq!(text(0.0, 0, 80), "⠁ measure w ────────── 1 s  日本");
        assert_eq!(text(0.001, 3, 80), "⠙ measure w ╸───────── 1 s  日本");
        assert_eq!(text(0.57, 28, 80), "⠈ measure w ━━━━━╸──── 1 s  日本");
        assert_eq!(text(1.5, 29, 31), "⠁ measure w ━━━━━━━━━━ 1 s  日");
        assert_eq!(text(f64::NAN, usize::MAX, 4).chars().count(), 4);
    }
}
