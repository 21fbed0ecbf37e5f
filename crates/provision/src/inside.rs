//! What host and guest agree on: where things are in a guest, and what its line is called.

use model::machines::{Accelerator, DiskBus};

/// Where this program is in a guest.
pub(crate) const PROGRAM: &str = "/bin/plimsoll";
/// Where its libraries are.
pub(crate) const LIBRARIES: &str = "/lib";
/// The modules, in the order of their names.
pub(crate) const MODULES: &str = "/modules";
/// The label of the disk that has this program, for guests with an image of their own.
pub(crate) const PROGRAM_DISK: &str = "plimsoll";
/// The label by which cloud-init knows its seed disk.
pub(crate) const SEED_DISK: &str = "cidata";
/// The name of the line between a guest and its host, as the guest sees it.
pub(crate) const AGENT_PORT: &str = "org.plimsoll.agent";
/// The name of the device at the host's end of that line.
pub(crate) const AGENT: &str = "agent";
/// What a guest's first process says on its console when the first read of each of its disks is
/// done, before the nanoseconds since the start of its kernel.
pub(crate) const FIRST_READ: &str = "plimsoll-first-read-ns=";

/// What the guest is told: its own name, its disks, and where its libraries are. What stands behind
/// `--` are the arguments of its first process.
pub(crate) fn kernel_line(
    name: &str,
    bus: DiskBus,
    disks: usize,
    accelerator: Accelerator,
) -> String {
    let disks = bus.devices(disks as u32);
    let disks: Vec<String> = disks.iter().map(|disk| format!("--disk={disk}")).collect();
    // An emulated timer may be late on a busy machine; the kernel would take it for a broken one.
    // And it would measure its processor's counter against that timer: guests were seen whose
    // clocks ran four times too fast for ten seconds. The emulated HPET goes as fast as the host's
    // clock, whatever else the host does.
    let clock = match accelerator {
        Accelerator::Tcg => " tsc=unstable",
        Accelerator::Kvm | Accelerator::Native => "",
    };
    // A root in tmpfs could hold half of the memory only.
    format!(
        "console=ttyS0 panic=1 no_timer_check{clock} rootfstype=ramfs rdinit={PROGRAM} \
         LD_LIBRARY_PATH=/lib -- vms guest --name={name} {}",
        disks.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emulated_guest_does_not_trust_a_counter_that_it_measured_itself() {
        let line = |accelerator| kernel_line("a", DiskBus::VirtioBlk, 1, accelerator);
        assert!(line(Accelerator::Tcg).contains(" tsc=unstable "));
        assert!(!line(Accelerator::Kvm).contains("tsc"));
        assert!(line(Accelerator::Kvm).ends_with(" -- vms guest --name=a --disk=/dev/vda"));
    }
}
