//! A line in the host's own journal about who loads it: whoever looks after a machine finds there
//! what it was loaded with, by whom and from where, without a run file.
//!
//! The line goes to the socket of the system's log, which journald and all syslog daemons serve
//! (RFC 3164, section 4.1). Where there is none, or it is full, nothing is said, and nothing waits.

use model::plan::{HostPlan, PlannedTarget};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

/// Where the system's log listens.
const SOCKET: &str = "/dev/log";
/// Facility *user*, severity *notice*.
const PRIORITY: u32 = 8 + 5;
/// Of what came from elsewhere, no more than this is written, in bytes.
const LONGEST: usize = 700;

/// Who started this agent, as far as its own environment says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Starter {
    pub(super) user: String,
    /// The address that an ssh connection came from.
    pub(super) from: Option<String>,
    /// Who became that user by sudo.
    pub(super) behind: Option<String>,
}

impl Starter {
    /// Who started this process.
    pub(super) fn here() -> Starter {
        Starter::of(|name| std::env::var(name).ok(), by_number)
    }

    /// As variables say; without them, as cron, systemd and containers start programs, by `number`.
    fn of(
        variable: impl Fn(&str) -> Option<String>,
        number: impl FnOnce() -> Option<String>,
    ) -> Starter {
        let address = |value: String| value.split(' ').next().map(str::to_owned);
        let named = |name: &str| variable(name).filter(|user| !user.is_empty());
        let user = named("USER").or_else(|| named("LOGNAME")).or_else(number);
        Starter {
            user: user.unwrap_or_else(|| "?".to_owned()),
            from: variable("SSH_CONNECTION").and_then(address),
            behind: variable("SUDO_USER"),
        }
    }
}

/// Who this process is, by the number of its user.
fn by_number() -> Option<String> {
    let number = std::fs::metadata("/proc/self").ok()?.uid();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    Some(account(&accounts, number))
}

/// The account with this number among `accounts`, or the number itself.
fn account(accounts: &str, number: u32) -> String {
    let has_number = |line: &&str| line.split(':').nth(2) == Some(number.to_string().as_str());
    let name = accounts.lines().find(has_number).and_then(|line| line.split(':').next());
    name.filter(|name| !name.is_empty()).map_or_else(|| format!("uid:{number}"), str::to_owned)
}

/// Says that this host's share of a run begins, if it touches anything but memory.
pub(super) fn begins(plan: &HostPlan) {
    let is_real = |kind: &PlannedTarget| *kind != PlannedTarget::Simulated;
    let targets: Vec<&str> = plan
        .targets
        .iter()
        .filter(|target| is_real(&target.kind))
        .map(|target| target.path.as_str())
        .collect();
    if targets.is_empty() {
        return;
    }
    let starter = Starter::here();
    let id = format!("run {}", plan.run_id);
    send(Path::new(SOCKET), &line(&starter, &format!("{id} loads {}", targets.join(", "))));
}

fn line(starter: &Starter, what: &str) -> String {
    let Starter { user, from, behind } = starter;
    let from = from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
    let behind = behind.as_ref().map(|user| format!(" (sudo by {user})")).unwrap_or_default();
    let text = format!("{what}, for {user}{behind}{from}");
    // Paths may come from anybody: a line stays one line.
    let mut text: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    format!("<{PRIORITY}>plimsoll[{}]: {text}", std::process::id())
}

fn send(socket: &Path, line: &str) {
    let sent = UnixDatagram::unbound().and_then(|own| {
        own.set_nonblocking(true)?;
        own.send_to(line.as_bytes(), socket)
    });
    // A host without a log is loaded all the same.
    let _ = sent;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starter() -> Starter {
        let variable = |name: &str| {
            let value = match name {
                "USER" => "bench",
                "SSH_CONNECTION" => "192.0.2.7 50000 192.0.2.9 22",
                _ => return None,
            };
            Some(value.to_owned())
        };
        Starter::of(variable, || None)
    }

    #[test]
    fn without_variables_it_is_the_account_with_the_number() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\n:x:7::\nrmail:x:1001:8::/:/bin/false\n";
        let of = |number| {
            let empty = |name: &str| (name == "USER").then(String::new);
            Starter::of(empty, || Some(account(accounts, number))).user
        };
        assert_eq!([0, 1001, 7, 100].map(of), ["root", "rmail", "uid:7", "uid:100"]);
    }

    #[test]
    fn the_line_says_who_what_and_from_where() {
        let line = line(&starter(), "run 7f loads /dev/nvme1n1");
        assert!(line.starts_with("<13>plimsoll["), "{line}");
        assert!(line.ends_with("]: run 7f loads /dev/nvme1n1, for bench from 192.0.2.7"), "{line}");
    }

    #[test]
    fn what_comes_from_elsewhere_stays_one_bounded_line() {
        let line = line(&starter(), &format!("run x loads /a\n<0>kernel: {}", "ü".repeat(999)));
        assert!(!line.contains('\n') && line.len() < LONGEST + 60, "{line}");
    }

    #[test]
    fn a_log_that_listens_hears_it_and_one_that_does_not_holds_nobody_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        send(&path, "nobody is there");
        let log = UnixDatagram::bind(&path).expect("a socket");
        send(&path, "heard");
        let mut heard = [0; 64];
        let length = log.recv(&mut heard).expect("a line");
        assert_eq!(&heard[..length], b"heard");
        // Nobody reads it any more: it fills, and nothing waits.
        (0..10_000).for_each(|_| send(&path, "more"));
    }
}
