//! Guests of the user's own image, which ssh reaches with the user's own configuration.

use super::program::{Program, Runs, ask};
use crate::provider::{Line, Machine, State};
use crate::record::Deployment;
use crate::{Outcome, Problem};
use std::time::Duration;

/// How long a guest may take to say that it is there.
const WITHIN: Duration = Duration::from_secs(20);

pub(crate) struct Guests {
    ssh: Box<dyn Runs>,
}

impl Guests {
    pub(crate) fn new() -> Guests {
        let ssh = Program::new("ssh", "openssh-client");
        Guests::through(Box::new(Program { short: WITHIN, ..ssh }))
    }

    /// Guests behind a program that stands for ssh.
    pub(crate) fn through(ssh: Box<dyn Runs>) -> Guests {
        Guests { ssh }
    }

    fn is_there(&self, address: &str) -> bool {
        let words = ["-T", "-oBatchMode=yes", "-oConnectTimeout=5", "--", address, "true"];
        is_address(address) && ask(&*self.ssh, &words).is_ok()
    }

    /// What a machine does that its provider calls running.
    pub(crate) fn state(&self, address: Option<&str>) -> State {
        match address.is_some_and(|address| self.is_there(address)) {
            true => State::Listening,
            false => State::Starting,
        }
    }

    /// The way to an agent in a guest.
    pub(crate) fn line(
        deployment: &Deployment,
        machine: &Machine,
        address: Option<String>,
    ) -> Outcome<Line> {
        let not_there = |said: &str| Problem::not_done(&machine.name, said);
        let address = address.filter(|address| is_address(address));
        let address = address.ok_or_else(|| not_there("it has no address that ssh could take"))?;
        let disks = deployment.devices_of(machine).to_vec();
        match disks.len() == deployment.disks_each as usize {
            true => Ok(Line::Guest { address, disks }),
            false => Err(not_there("its disks are not known; it was not made to its end")),
        }
    }
}

/// Whether a text from outside is an address, and no option or command.
pub(crate) fn is_address(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_:%/@".contains(c);
    !text.is_empty() && text.len() <= 255 && !text.starts_with('-') && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_guest_says_of_its_address_is_no_option_and_no_command() {
        for good in ["10.0.0.7", "fe80::1%eth0", "a-1.ns", "root@a"] {
            assert!(is_address(good), "{good}");
        }
        for bad in ["", "-oProxyCommand=x", "a b", "$(x)", "a;b", "a\nb", &"a".repeat(256)] {
            assert!(!is_address(bad), "{bad}");
        }
        assert!(!Guests::new().is_there("-oProxyCommand=touch /x"));
    }
}
