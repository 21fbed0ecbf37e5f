//! What is done to a machine of plain qemu while it runs, waited for to its end.

use super::monitor::Monitor;
use crate::guest::ImageFormat;
use crate::provider::{Acted, Machine};
use crate::{Outcome, Problem};
use model::Bytes;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Between two looks at disks that move.
const PAUSE: Duration = Duration::from_millis(50);
/// Disks that are not copied any further for so long do not move.
const STANDSTILL: Duration = Duration::from_secs(120);

/// A machine whose monitor answers.
pub(super) struct Running<'a> {
    machine: &'a Machine,
    monitor: Monitor,
}

impl<'a> Running<'a> {
    pub(super) fn open(machine: &'a Machine, socket: &Path) -> Outcome<Running<'a>> {
        let monitor = Monitor::open(socket).ok_or_else(|| {
            Problem::not_done(&machine.name, "it does not run, or its monitor does not answer")
        })?;
        Ok(Running { machine, monitor })
    }

    fn ask(&mut self, command: &str, arguments: &Value) -> Outcome<Value> {
        let asked = self.monitor.ask(command, arguments);
        asked.map_err(|said| self.not_done(said))
    }

    fn not_done(&self, said: String) -> Problem {
        Problem::NotDone { machine: self.machine.name.clone(), said }
    }

    /// Lets the guest stand still, or go on.
    pub(super) fn pause(&mut self, is_to_stop: bool) -> Outcome<Acted> {
        self.ask(if is_to_stop { "stop" } else { "cont" }, &json!({}))?;
        Ok(Acted::default())
    }

    /// Keeps what the disks hold: all at one instant.
    pub(super) fn snapshot(&mut self) -> Outcome<Acted> {
        let mut actions = Vec::new();
        for (number, disk) in self.machine.disks.iter().enumerate() {
            let overlay = overlay(disk);
            if overlay.symlink_metadata().is_ok() {
                let said = "its disks have a snapshot already, and each has at most one";
                return Err(self.not_done(said.to_owned()));
            }
            actions.push(json!({ "type": "blockdev-snapshot-sync", "data": {
                "device": device(number), "snapshot-file": overlay, "format": "qcow2" } }));
        }
        self.ask("transaction", &json!({ "actions": actions }))?;
        Ok(Acted { disks: self.machine.disks.len() as u32, ..Acted::default() })
    }

    /// Moves all disks into a folder, and waits until the guest uses them there alone.
    pub(super) fn move_disks(&mut self, folder: &Path, format: ImageFormat) -> Outcome<Acted> {
        let mut acted = Acted::default();
        for (number, disk) in self.machine.disks.iter().enumerate() {
            let Some(name) = disk.file_name() else { continue };
            let copied = self.move_one(&device(number), &folder.join(name), format)?;
            acted.disks += 1;
            acted.copied = Bytes(acted.copied.0.saturating_add(copied.0));
        }
        Ok(acted)
    }

    fn move_one(&mut self, device: &str, to: &Path, format: ImageFormat) -> Outcome<Bytes> {
        if to.symlink_metadata().is_ok() {
            return Err(self.not_done(format!("{} is there already", to.display())));
        }
        // All of it: a clone needs its image no more.
        let copy = json!({ "job-id": device, "device": device, "target": to, "sync": "full",
            "format": format.word(), "mode": "absolute-paths" });
        self.ask("drive-mirror", &copy)?;
        let (mut copied, mut last) = (0, Instant::now());
        let mut is_ended = false;
        loop {
            let jobs = self.ask("query-block-jobs", &json!({}))?;
            let job = jobs.as_array().and_then(|jobs| jobs.iter().find(|j| j["device"] == device));
            let Some(job) = job else { break };
            let offset = job["offset"].as_u64().unwrap_or_default();
            if offset != copied {
                (copied, last) = (offset, Instant::now());
            }
            if job["ready"] == true && !is_ended {
                self.ask("block-job-complete", &json!({ "device": device }))?;
                is_ended = true;
            }
            if last.elapsed() > STANDSTILL {
                let _ = self.ask("block-job-cancel", &json!({ "device": device, "force": true }));
                return Err(self.not_done("its disk does not move any further".to_owned()));
            }
            sleep(PAUSE);
        }
        // A job that failed is gone, too: what the guest uses now is what counts.
        match self.file_of(device)? {
            Some(file) if Path::new(&file) == to => Ok(Bytes(copied)),
            _ => Err(self.not_done(format!("its disk did not move to {}", to.display()))),
        }
    }

    /// The file that a disk of the guest is in.
    fn file_of(&mut self, device: &str) -> Outcome<Option<String>> {
        let disks = self.ask("query-block", &json!({}))?;
        let disk = disks.as_array().and_then(|all| all.iter().find(|d| d["device"] == device));
        let file = disk.and_then(|disk| disk["inserted"]["file"].as_str());
        Ok(file.map(str::to_owned))
    }
}

/// What takes the writes of a disk behind its snapshot.
pub(super) fn overlay(disk: &Path) -> PathBuf {
    disk.with_extension("snapshot.qcow2")
}

fn device(number: usize) -> String {
    format!("disk{number}")
}
