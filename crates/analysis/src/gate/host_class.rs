//! Which machines are alike enough for a recorded run to stand for today's.

use crate::compare::Unlike;
use model::Record;
use model::testbed::HostFacts;

/// A fact of hosts by which their class is known: its name, and how it reads.
type Fact = (&'static str, fn(&HostFacts) -> String);

const FACTS: [Fact; 6] = [
    ("processor", |host| host.cpu_model.trim().to_owned()),
    ("logical CPUs", |host| host.logical_cpus.to_string()),
    ("kernel", |host| host.kernel.clone()),
    ("memory", |host| format!("{} GiB", host.memory.0.saturating_add(1 << 29) >> 30)),
    ("disk", disks),
    ("file system", file_systems),
];

/// In what the hosts of two runs differ, so that the one is no baseline for the other. Empty where
/// they are of one class. Names and addresses may differ.
pub fn unlike_hosts(base: &Record, head: &Record) -> Vec<Unlike> {
    let mut found = Vec::new();
    for (what, text) in FACTS {
        let of = |record: &Record| counted(record.loaders().iter().map(text).collect());
        let (base, other) = (of(base), of(head));
        if base != other {
            found.push(Unlike { what, base, other, refused: true });
        }
    }
    found
}

fn disks(host: &HostFacts) -> String {
    let models = host.targets.iter().filter_map(|target| target.device.as_ref());
    counted(models.map(|device| device.model.trim().to_owned()).collect())
}

fn file_systems(host: &HostFacts) -> String {
    counted(host.targets.iter().filter_map(|target| target.file_system.clone()).collect())
}

/// Each text once, with its number where there are several of it.
fn counted(mut texts: Vec<String>) -> String {
    texts.retain(|text| !text.is_empty());
    texts.sort_unstable();
    let of = |same: &[String]| match same {
        [one] => one.clone(),
        several => format!("{} × {}", several.len(), several[0]),
    };
    let parts: Vec<String> = texts.chunk_by(|one, two| one == two).map(of).collect();
    if parts.is_empty() { "unknown".to_owned() } else { parts.join(", ") }
}
