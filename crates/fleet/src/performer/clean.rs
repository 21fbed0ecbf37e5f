//! Has the agents remove what runs left.

use super::{Fleet, FleetError};
use crate::coordinator::Input;
use crate::wire::{Cleaned, FromAgent, ToAgent};
use model::Nanos;

impl Fleet {
    /// Has every host remove what runs left at `targets`: exactly our own files. Comes back with each host's name (empty for this process)
    /// and what became of each of its folders.
    ///
    /// One host after the other: several may see the same folders, and what the first one removed is then not there for the next.
    ///
    /// A folder that leaves a call unanswered for longer than `patience` is given up, and said to have failed.
    ///
    /// # Errors
    /// When an agent is gone, or somebody stopped it; what was removed until then is gone.
    pub fn clean(&self, targets: &[String], patience: Nanos) -> Result<Vec<(String, Vec<Cleaned>)>, FleetError> {
        let order = ToAgent::Clean { targets: targets.to_vec(), patience_ns: patience.0 };
        (0..self.names.len()).map(|host| Ok((self.names[host].clone(), self.clean_one(host, &order)?))).collect()
    }

    fn clean_one(&self, asked: usize, order: &ToAgent) -> Result<Vec<Cleaned>, FleetError> {
        // One that is gone is heard of below, with the reason.
        let _ = self.send(asked, order);
        let mut beaten = std::time::Instant::now();
        loop {
            // Agents that wait for their turn have to hear of us, or they give us up.
            self.beat(&mut beaten);
            match self.inputs.recv_timeout(super::TICK) {
                Ok(Input::Heard { host, message: FromAgent::Cleaned(cleaned), .. }) if host == asked => {
                    return Ok(cleaned);
                }
                Ok(Input::Lost { host, why }) => return Err(FleetError::Lost { host: self.name(host), why }),
                Ok(Input::Interrupt) | Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(FleetError::Interrupted);
                }
                Ok(_) | Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
