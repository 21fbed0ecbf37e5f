//! What qemu's own monitor says of a machine, and does to it (QMP: one JSON object a line).

use crate::inside::AGENT;
use model::Bytes;
use model::machines::BootReads;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Take, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A monitor answers at once, or not at all.
const PATIENCE: Duration = Duration::from_secs(2);
/// An answer is not longer.
const LONGEST: u64 = 1 << 20;
/// Events that may come before an answer.
const MOST_EVENTS: usize = 100;

pub(super) struct Monitor {
    stream: UnixStream,
    lines: BufReader<Take<UnixStream>>,
}

impl Monitor {
    /// The monitor behind a socket; `None` where it does not answer.
    pub(super) fn open(socket: &Path) -> Option<Monitor> {
        let stream = UnixStream::connect(socket).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.set_write_timeout(Some(PATIENCE)).ok()?;
        let lines = BufReader::new(stream.try_clone().ok()?.take(LONGEST));
        let mut monitor = Monitor { stream, lines };
        monitor.ask("qmp_capabilities", &json!({})).ok()?;
        Some(monitor)
    }

    /// What it returns.
    pub(super) fn ask(&mut self, command: &str, arguments: &Value) -> Result<Value, String> {
        let silent = |_| format!("qemu does not answer to {command}");
        let request = json!({ "execute": command, "arguments": arguments });
        writeln!(&self.stream, "{request}").map_err(silent)?;
        // Each answer may be as long as the first.
        self.lines.get_mut().set_limit(LONGEST);
        for _ in 0..MOST_EVENTS {
            let mut line = String::new();
            if self.lines.read_line(&mut line).map_err(silent)? == 0 {
                return Err(format!("qemu ended before it answered to {command}"));
            }
            let mut told: Value = serde_json::from_str(&line)
                .map_err(|error| format!("qemu's answer to {command} is no JSON: {error}"))?;
            if let Some(answer) = told.get_mut("return") {
                return Ok(answer.take());
            }
            if let Some(error) = told.get("error") {
                let said = error["desc"].as_str().unwrap_or("no reason given");
                return Err(format!("{command}: {said}"));
            }
        }
        Err(format!("qemu tells of events, and does not answer to {command}"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// A program of the guest has opened the agent's line.
    pub(super) is_open: bool,
    pub(super) is_paused: bool,
}

/// What a machine's monitor says; `None` where it does not answer.
pub(super) fn look(socket: &Path) -> Option<Told> {
    let mut monitor = Monitor::open(socket)?;
    let status = monitor.ask("query-status", &json!({})).ok()?;
    let is_open = agent_in(&monitor.ask("query-chardev", &json!({})).ok()?)?;
    Some(Told { is_open, is_paused: status["status"] == "paused" })
}

/// What a machine read of all its disks until now; `None` where its monitor does not say.
pub(super) fn reads(socket: &Path) -> Option<BootReads> {
    let mut monitor = Monitor::open(socket)?;
    reads_in(&monitor.ask("query-blockstats", &json!({})).ok()?)
}

fn reads_in(disks: &Value) -> Option<BootReads> {
    let disks = disks.as_array().filter(|disks| !disks.is_empty())?;
    disks.iter().try_fold(BootReads::default(), |sum, disk| {
        let of = |key: &str| disk["stats"][key].as_u64();
        let requests = sum.requests.saturating_add(of("rd_operations")?);
        let bytes = Bytes(sum.bytes.0.saturating_add(of("rd_bytes")?));
        Some(BootReads { requests, bytes })
    })
}

fn agent_in(devices: &Value) -> Option<bool> {
    let agent = devices.as_array()?.iter().find(|device| device["label"] == AGENT)?;
    agent["frontend-open"].as_bool()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn the_agents_line_is_found_among_the_devices() {
        let of = |text: &str| agent_in(&serde_json::from_str(text).expect("JSON"));
        let devices = r#"[{"frontend-open": true, "filename": "file", "label": "console"},
            {"frontend-open": false, "filename": "unix:", "label": "agent"}]"#;
        assert_eq!(of(devices), Some(false));
        assert_eq!(of(r#"[{"label": "agent", "frontend-open": true}]"#), Some(true));
        assert_eq!((of("[]"), of("{}"), of(r#"[{"label": "agent"}]"#)), (None, None, None));
    }

    #[test]
    fn reads_are_those_of_all_disks() {
        let of = |text: &str| reads_in(&serde_json::from_str(text).expect("JSON"));
        let disks = r#"[{"device": "disk0", "stats": {"rd_operations": 3, "rd_bytes": 12288}},
            {"device": "root", "stats": {"rd_operations": 1, "rd_bytes": 512}}]"#;
        assert_eq!(of(disks), Some(BootReads { requests: 4, bytes: Bytes(12_800) }));
        for none in ["[]", "{}", "[{}]", r#"[{"stats": {"rd_operations": -1, "rd_bytes": 1}}]"#] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    /// A monitor that says these lines, whatever it is asked.
    fn saying(lines: &'static str) -> Result<Value, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("m");
        let listener = UnixListener::bind(&path).expect("bound");
        let says = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody");
            stream.write_all(lines.as_bytes()).expect("written");
            // It stays until the other end is gone.
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let mut monitor = Monitor::open(&path).ok_or("no monitor")?;
        let answer = monitor.ask("x", &json!({}));
        drop(monitor);
        says.join().expect("it ends");
        answer
    }

    #[test]
    fn answers_are_told_from_events_and_from_refusals() {
        let (greeting, ready) = (r#"{"QMP": {}}"#, r#"{"return": {}}"#);
        let text = format!("{greeting}\n{ready}\n{{\"event\": \"STOP\"}}\n{{\"return\": 7}}\n");
        assert_eq!(saying(text.leak()), Ok(json!(7)));
        let text = format!("{ready}\n{{\"error\": {{\"desc\": \"no such disk\"}}}}\n");
        assert_eq!(saying(text.leak()), Err("x: no such disk".to_owned()));
        assert!(saying("{\"return\": {}}\nnonsense\n").is_err());
        let endless = format!("{ready}\n{}\n", "{\"event\": \"X\"}\n".repeat(MOST_EVENTS + 1));
        assert!(saying(endless.leak()).expect_err("only events").contains("tells of events"));
    }
}
