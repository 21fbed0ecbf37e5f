//! `--events`: every event as a line of JSON, where a script reads it.

use crate::failure::Failure;
use crate::files::plain_file;
use crate::terminal::run_overview::RunOverview;
use model::{Event, Plan, printable};
use report::topics;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Writes lines until nobody takes them any more; a reader that is gone is no reason to end a run.
pub(crate) struct EventLines {
    out: Option<Box<dyn Write>>,
    place: String,
}

impl EventLines {
    /// Opens `path`, or standard output for `-`, and says which run it is.
    pub(crate) fn open(path: &Path, whole: &RunOverview<'_>) -> Result<EventLines, Failure> {
        let place = path.display().to_string();
        let out: Box<dyn Write> = if is_stdout(path) {
            Box::new(std::io::stdout())
        } else {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true);
            let file = plain_file::open_output(&mut options, path).map_err(|error| {
                Failure::usage(format!(
                    "--events {place}: {error}; name another place, or - for standard \
                     output"
                ))
            })?;
            Box::new(file)
        };
        let mut lines = EventLines { out: Some(out), place };
        lines.put(&topics::events::head(whole.plan, whole.hosts, whole.version, whole.began_ns));
        Ok(lines)
    }

    pub(crate) fn event(&mut self, plan: &Plan, event: &Event) {
        if self.out.is_some() {
            self.put(&topics::events::line(event, plan));
        }
    }

    fn put(&mut self, line: &serde_json::Value) {
        let Some(out) = &mut self.out else { return };
        // One write a line, so that a reader never sees half of one.
        let text = printable::json(&format!("{line}\n")).into_owned();
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            self.out = None;
            if error.kind() != ErrorKind::BrokenPipe {
                eprintln!(
                    "warning: --events {}: {error}; no further event is written there, the run \
                     goes on",
                    self.place
                );
            }
        }
    }
}

pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}
