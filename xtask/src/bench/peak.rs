//! The most memory that a program ever had.

use crate::shell::{self, Outcome};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs `command`; comes back with the most memory that it held, in MiB.
///
/// # Errors
/// It cannot be started, or fails.
pub fn high_water_mib(command: &mut Command) -> Outcome<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child =
        command.spawn().map_err(|error| format!("plimsoll cannot be started: {error}"))?;
    let mut most_kib = 0;
    let status = loop {
        if let Some(status) =
            child.try_wait().map_err(|error| format!("plimsoll is lost: {error}"))?
        {
            break status;
        }
        let text =
            std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        most_kib = most_kib.max(high_water_kib(&text).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    };
    if status.success() && most_kib > 0 {
        Ok(most_kib as f64 / 1024.0)
    } else {
        Err(format!("`{}` ended with {status}", shell::line(command)))
    }
}

/// The peak resident size in `/proc/PID/status`, in KiB.
fn high_water_kib(status: &str) -> Option<u64> {
    let rest = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_the_status() {
        assert_eq!(high_water_kib("VmPeak:\t 9 kB\nVmHWM:\t   10240 kB\n"), Some(10240));
        assert_eq!(high_water_kib("VmPeak:\t 9 kB\n"), None);
    }
}
