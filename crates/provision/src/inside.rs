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

/// Whether this machine's processor is one of AMD.
pub(crate) fn is_amd_here() -> bool {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("vendor_id")?.split_once(':'))
        .is_some_and(|(_, vendor)| vendor.trim() == "AuthenticAMD")
}

/// The longest line by which a host asks for an agent.
pub(crate) const LONGEST_ASK: usize = 256;

/// What a host asks of a guest: the first line on its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// An agent that ends with its line.
    Agent,
    /// An agent that goes on for a while where its line breaks, and is found again by its name.
    Held {
        /// For how long, as the agent takes it.
        within: String,
        /// Its name.
        name: String,
    },
    /// The line to one that goes on.
    Attach {
        /// Its name.
        name: String,
    },
}

impl Ask {
    /// What the arguments of an agent ask for; what else they say, such as the paths that it may
    /// touch, a guest decides itself. `None` where they are none of ours.
    pub fn of_arguments(words: &[String]) -> Option<Ask> {
        let of = |option: &str| {
            let at = words.iter().position(|word| word == option)?;
            words.get(at + 1).cloned()
        };
        let ask = match (of("--attach"), of("--hold"), of("--held-as")) {
            (Some(name), ..) => Ask::Attach { name },
            (None, Some(within), Some(name)) => Ask::Held { within, name },
            _ => Ask::Agent,
        };
        ask.is_sound().then_some(ask)
    }

    /// The line that asks for it, without its end.
    pub fn line(&self) -> String {
        match self {
            Ask::Agent => "agent".to_owned(),
            Ask::Held { within, name } => format!("held {within} {name}"),
            Ask::Attach { name } => format!("attach {name}"),
        }
    }

    /// What a line asks for; `None` where it asks for nothing of ours.
    pub(crate) fn of_line(line: &str) -> Option<Ask> {
        let words: Vec<&str> = line.split(' ').collect();
        let ask = match words.as_slice() {
            ["agent"] => Ask::Agent,
            ["held", within, name] => {
                Ask::Held { within: (*within).to_owned(), name: (*name).to_owned() }
            }
            ["attach", name] => Ask::Attach { name: (*name).to_owned() },
            _ => return None,
        };
        ask.is_sound().then_some(ask)
    }

    /// Whether each part is one word that no program takes for an option, nor a shell for more.
    fn is_sound(&self) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
        let is_word = |text: &String| {
            (1..=100).contains(&text.len()) && !text.starts_with('-') && text.chars().all(is_plain)
        };
        match self {
            Ask::Agent => true,
            Ask::Held { within, name } => is_word(within) && is_word(name),
            Ask::Attach { name } => is_word(name),
        }
    }
}

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
    fn what_a_host_asks_for_comes_through_one_line_and_nothing_else_does() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (arguments, line) in [
            ("agent --allow /dev/vda", "agent"),
            ("agent --hold 5ns --held-as 0a-b", "held 5ns 0a-b"),
            ("agent --attach 0a-b", "attach 0a-b"),
        ] {
            let ask = Ask::of_arguments(&words(arguments)).expect("ours");
            assert_eq!(ask.line(), line);
            assert_eq!(Ask::of_line(line), Some(ask));
        }
        let none = ["", "sh", "agent x", "held 5ns", "attach --allow", "attach a'b", "attach "];
        assert!(none.iter().all(|line| Ask::of_line(line).is_none()));
        assert_eq!(Ask::of_arguments(&words("agent --attach a;b")), None);
    }

    #[test]
    fn an_emulated_guest_does_not_trust_a_counter_that_it_measured_itself() {
        let line = |accelerator| kernel_line("a", DiskBus::VirtioBlk, 1, accelerator);
        assert!(line(Accelerator::Tcg).contains(" tsc=unstable "));
        assert!(!line(Accelerator::Kvm).contains("tsc"));
        assert!(line(Accelerator::Kvm).ends_with(" -- vms guest --name=a --disk=/dev/vda"));
    }
}
