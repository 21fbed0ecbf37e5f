//! The ways in which a storage figure deceives: how each works, who described it, which doubt names
//! it, from which evidence, and how sure that is. `docs/method/doubts.md` is made from this.

mod device;
mod host;
mod layers;

use std::fmt::Write;

/// Whether a way is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A doubt names it whenever the evidence is on the host that loads.
    Yes,
    /// It is found in some of its forms, or by its effect.
    Partly,
    /// Nothing on the host that loads tells of it; the verdict leaves it open.
    No,
}

impl Found {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Found::Yes => "yes",
            Found::Partly => "partly",
            Found::No => "no",
        }
    }
}

/// One way in which a figure deceives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// A stable word.
    pub id: &'static str,
    /// What happens.
    pub mechanism: &'static str,
    /// Who described it.
    pub source: &'static str,
    /// The codes of the doubts that name it; empty where none does.
    pub doubts: &'static [&'static str],
    /// What they rest on.
    pub evidence: &'static str,
    /// Whether it is found.
    pub found: Found,
    /// What to do.
    pub remedy: &'static str,
}

/// All ways: those of devices, of the layers above them, and of hosts, clocks and figures.
pub fn ways() -> impl Iterator<Item = &'static Way> {
    device::WAYS.iter().chain(layers::WAYS).chain(host::WAYS)
}

/// The sources that ways name, by their short words.
const SOURCES: [(&str, &str); 12] = [
    (
        "Traeger",
        "Traeger, Zadok, Joukov, Wright: A Nine Year Study of File System and Storage \
                 Benchmarking. ACM Transactions on Storage 4(2), 2008",
    ),
    (
        "Heiser",
        "Heiser: Systems Benchmarking Crimes, <https://gernot-heiser.org/benchmarking-crimes.html>",
    ),
    ("SNIA", "SNIA: Solid State Storage Performance Test Specification 2.0.2, 2020"),
    ("Tene", "Tene: How NOT to Measure Latency, 2013 (coordinated omission)"),
    ("Gregg", "Gregg: Systems Performance, 2nd edition, 2020 (active benchmarking, USE method)"),
    ("Rebello", "Rebello et al.: Can Applications Recover from fsync Failures? USENIX ATC 2020"),
    ("Little", "Little: A Proof for the Queuing Formula L = λW. Operations Research 9(3), 1961"),
    ("Schroeder", "Schroeder, Wierman, Harchol-Balter: Open Versus Closed. NSDI 2006"),
    (
        "Kernel",
        "Linux kernel documentation: `Documentation/block`, `Documentation/ABI`, \
                `Documentation/admin-guide/cgroup-v2.rst`",
    ),
    (
        "Cloud",
        "Documentation of Amazon EBS, Azure managed disks and Google Persistent Disk: \
               credits and limits of volumes",
    ),
    ("Yan", "Yan et al.: Tiny-Tail Flash. FAST 2017 (garbage collection)"),
    ("NFS", "RFC 8881 and nfs(5): delegations, attribute caches, async"),
];

/// The page of the method: what doubts are, and every way with what finds it.
pub fn page() -> String {
    let mut text = include_str!("head.txt").trim_end().to_owned();
    let all: Vec<&Way> = ways().collect();
    let count = |found: Found| all.iter().filter(|way| way.found == found).count();
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "\n\n## The ways in which a figure deceives\n\nThis list has {} ways. A doubt names {} of \
         them, {} more partly, and {} cannot be\nseen from the host that loads.\n\n| way | what \
         happens | found by | evidence | found | remedy | described by |\n\
         |---|---|---|---|---|---|---|\n",
        all.len(),
        count(Found::Yes),
        count(Found::Partly),
        count(Found::No),
    );
    for way in &all {
        let codes: Vec<String> = way.doubts.iter().map(|code| format!("`{code}`")).collect();
        let codes = if codes.is_empty() { "–".to_owned() } else { codes.join(", ") };
        let _ = writeln!(
            text,
            "| `{}` | {} | {codes} | {} | {} | {} | {} |",
            way.id,
            way.mechanism,
            way.evidence,
            way.found.word(),
            way.remedy,
            way.source
        );
    }
    text.push_str(include_str!("liar.txt"));
    text.push_str(include_str!("measured.txt"));
    text.push_str("\n| described by | |\n|---|---|\n");
    for (name, source) in SOURCES {
        let _ = writeln!(text, "| {name} | {source} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_way_has_a_name_of_its_own_a_known_source_and_a_doubt_where_it_is_found() {
        let ids: BTreeSet<&str> = ways().map(|way| way.id).collect();
        assert_eq!(ids.len(), ways().count());
        for way in ways() {
            assert_eq!(way.doubts.is_empty(), way.found == Found::No, "{}", way.id);
            let known = |name: &str| SOURCES.iter().any(|(source, _)| *source == name);
            assert!(way.source.split(", ").all(known), "{}: {}", way.id, way.source);
        }
        assert!(ids.len() >= 50, "{} ways", ids.len());
    }
}
