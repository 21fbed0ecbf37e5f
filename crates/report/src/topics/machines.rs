//! The virtual machines that carried a run.

use model::hostlist;
use model::machines::{Accelerator, BootTime, MachinesMade};

/// Who made them, where, behind which cache, and how long they took to come up.
pub fn sentence(made: &MachinesMade) -> String {
    let nodes =
        made.nodes.iter().map(|on| format!("{} on {}", hostlist::compress(&on.machines), on.node));
    let nodes: Vec<String> = nodes.collect();
    let mut text = format!(
        "{} made {}; disk cache {}, {}",
        made.provider,
        nodes.join(", "),
        made.cache,
        made.accelerator
    );
    if made.accelerator == Accelerator::Tcg {
        text.push_str(" (emulated processors: figures describe no cluster)");
    }
    if let Some(boots) = boots(&made.boots) {
        text.push_str("; ");
        text.push_str(&boots);
    }
    text
}

/// `agents after 4.1 s to 5.2 s, slowest vm-2; first reads after 2.9 s to 3.4 s of the guests'
/// clocks`
fn boots(boots: &[BootTime]) -> Option<String> {
    let first = boots.iter().map(|boot| boot.agent).min()?;
    let last = boots.iter().max_by_key(|boot| boot.agent)?;
    let mut text = format!("agents after {first} to {}, slowest {}", last.agent, last.machine);
    let reads = || boots.iter().filter_map(|boot| boot.first_read);
    if let (Some(first), Some(last)) = (reads().min(), reads().max()) {
        text.push_str(&format!("; first reads after {first} to {last} of the guests' clocks"));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Nanos;
    use model::machines::{DiskCache, OnNode, ProviderKind};

    #[test]
    fn machines_are_told_with_their_nodes_and_the_times_of_their_boots() {
        let boot = |machine: &str, agent: u64, read: u64| BootTime {
            machine: machine.into(),
            agent: Nanos::millis(agent),
            first_read: Some(Nanos::millis(read)),
            reads: None,
        };
        let made = MachinesMade {
            name: "a".into(),
            provider: ProviderKind::Qemu,
            nodes: vec![OnNode { node: "n1".into(), machines: vec!["a-1".into(), "a-2".into()] }],
            accelerator: Accelerator::Kvm,
            cache: DiskCache::None,
            boots: vec![boot("a-1", 4000, 3000), boot("a-2", 5000, 2000)],
            go_with_run: true,
        };
        assert_eq!(
            sentence(&made),
            "qemu made a-[1-2] on n1; disk cache none, kvm; agents after 4 s to 5 s, slowest a-2; \
             first reads after 2 s to 3 s of the guests' clocks"
        );
    }
}
