//! What qemu's own monitor says of a machine (QMP: one JSON object a line).

use crate::inside::AGENT;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A monitor answers at once, or not at all.
const PATIENCE: Duration = Duration::from_secs(2);
/// An answer is not longer.
const LONGEST: u64 = 1 << 20;
/// Events that may come before an answer.
const MOST_EVENTS: usize = 100;

/// Whether a program of the guest has opened the agent's line. `None` where the monitor does not
/// answer.
pub(super) fn is_open(socket: &Path) -> Option<bool> {
    let stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let mut lines = BufReader::new(stream.try_clone().ok()?.take(LONGEST));
    let mut ask = |command: &str| -> Option<Value> {
        writeln!(&stream, "{{\"execute\":\"{command}\"}}").ok()?;
        for _ in 0..MOST_EVENTS {
            let mut line = String::new();
            if lines.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let mut told: Value = serde_json::from_str(&line).ok()?;
            if let Some(answer) = told.get_mut("return") {
                return Some(answer.take());
            }
        }
        None
    };
    ask("qmp_capabilities")?;
    agent_in(&ask("query-chardev")?)
}

fn agent_in(devices: &Value) -> Option<bool> {
    let agent = devices.as_array()?.iter().find(|device| device["label"] == AGENT)?;
    agent["frontend-open"].as_bool()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_line_is_found_among_the_devices() {
        let of = |text: &str| agent_in(&serde_json::from_str(text).expect("JSON"));
        let devices = r#"[{"frontend-open": true, "filename": "file", "label": "console"},
            {"frontend-open": false, "filename": "unix:", "label": "agent"}]"#;
        assert_eq!(of(devices), Some(false));
        assert_eq!(of(r#"[{"label": "agent", "frontend-open": true}]"#), Some(true));
        assert_eq!((of("[]"), of("{}"), of(r#"[{"label": "agent"}]"#)), (None, None, None));
    }
}
