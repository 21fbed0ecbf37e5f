//! What `plimsoll verify` has found, in words and as JSON.

use crate::ground::words;
use crate::pens::json::{Value, each, object};
use model::audit::{
    Audit, DamageKind, FileAudit, FileDamage, FileFinding, Finding, PopulationAudit,
};

/// The result as text: counts, the first damaged blocks, and what a reader has to know.
pub fn table(audit: &Audit) -> String {
    let mut text = String::new();
    for population in &audit.populations {
        text.push_str(&of_population(population, audit));
    }
    if !audit.files.is_empty() || audit.populations.is_empty() {
        text.push_str(&of_blocks(audit));
    }
    for note in &audit.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text.push_str(match audit.is_clean() {
        true => "Nothing is missing or damaged.\n",
        false => "Data are missing or damaged.\n",
    });
    text
}

fn row(name: &str, count: &str, meaning: &str) -> String {
    let row = format!("  {name:<14}{count:>14}  {meaning}");
    row.trim_end().to_owned() + "\n"
}

fn of_population(population: &PopulationAudit, audit: &Audit) -> String {
    let mut text = format!(
        "{} acknowledged ({}), on {} in {}\n\n",
        words::counted(population.operations, "operation"),
        audit.basis,
        words::counted(population.names, "name"),
        harmless(&population.path)
    );
    let mut line = |name: &str, count: u64, meaning: &str| {
        text.push_str(&row(name, &words::count(count), meaning));
    };
    line("expected", population.expected, "files that must be there");
    line("good", population.good, "");
    if population.beyond > 0 {
        line("beyond", population.beyond, "operations done that are not on record");
    }
    if population.unsure > 0 {
        line("not looked at", population.unsure, "names of which the record does not say enough");
    }
    for (kind, count) in FileDamage::ALL.iter().zip(population.damaged) {
        if count > 0 {
            line(kind.word(), count, meaning_of_file(*kind));
        }
    }
    if population.compared.0 > 0 {
        text.push_str(&row("compared", &population.compared.to_string(), "of their bytes"));
    }
    text.push('\n');
    let is_here = |finding: &&FileFinding| finding.path.starts_with(&population.path);
    for finding in audit.file_findings.iter().filter(is_here) {
        text.push_str(&format!(
            "{}: {}: expected {}, found {}\n",
            finding.kind,
            harmless(&finding.path),
            finding.expected,
            finding.found
        ));
    }
    let told = audit.file_findings.iter().filter(is_here).count() as u64;
    if population.damaged_files() > told {
        let more = words::counted(population.damaged_files() - told, "damaged file");
        text.push_str(&format!("and {more} more\n"));
    }
    text
}

fn meaning_of_file(kind: FileDamage) -> &'static str {
    match kind {
        FileDamage::Missing => "a file that must be there is not",
        FileDamage::Stray => "something is there that must not be",
        FileDamage::Name => "a file has the other of its two names",
        FileDamage::Length => "a file has another length",
        FileDamage::Content => "a file holds other bytes than were written last",
        FileDamage::Unreadable => "the file system does not deliver it",
    }
}

fn of_blocks(audit: &Audit) -> String {
    let sum = |count: fn(&FileAudit) -> u64| audit.files.iter().map(count).sum::<u64>();
    let mut text = format!(
        "{} acknowledged ({}), in {}\n\n",
        words::counted(audit.acknowledged_writes, "write"),
        audit.basis,
        words::counted(audit.files.len() as u64, "file")
    );
    let mut line = |name: &str, count: u64, meaning: &str| {
        text.push_str(&row(name, &words::count(count), meaning));
    };
    line("checked", sum(|file| file.blocks), &format!("blocks of {}", audit.block));
    line("good", sum(|file| file.good), "");
    line("never written", sum(|file| file.never_written), "by an acknowledged write");
    for (kind, count) in DamageKind::ALL.iter().zip(audit.damaged()) {
        if count > 0 {
            line(kind.word(), count, meaning(*kind));
        }
    }
    text.push('\n');
    for finding in &audit.findings {
        let by = finding
            .acknowledged
            .as_ref()
            .map_or_else(String::new, |by| format!("; acknowledged {by}"));
        text.push_str(&format!(
            "{}: {} at offset {}: expected {}, found {}{by}\n",
            finding.kind,
            harmless(&finding.path),
            finding.offset,
            finding.expected,
            finding.found
        ));
    }
    let told = audit.findings.len() as u64;
    let all: u64 = audit.damaged().iter().sum();
    if all > told {
        text.push_str(&format!("and {} more\n", words::counted(all - told, "damaged block")));
    }
    text
}

fn meaning(kind: DamageKind) -> &'static str {
    match kind {
        DamageKind::Lost => "an acknowledged write is missing",
        DamageKind::Torn => "a part of an acknowledged write is missing",
        DamageKind::Corrupt => "bytes that do not fit their checksum, or no header",
        DamageKind::Misdirected => "a whole block that belongs elsewhere",
        DamageKind::Unreadable => "the target does not deliver them",
    }
}

/// A path from a run file, for a terminal: control characters would be orders to it.
fn harmless(path: &str) -> String {
    path.chars().map(|c| if model::printable::acts(c) { '?' } else { c }).collect()
}

/// The result as one JSON object; `docs/reference/json.md` explains it. `version` is that of the
/// program, `run_id` that of the run.
pub fn json(audit: &Audit, version: &str, run_id: &str) -> Value {
    let file = |file: &FileAudit| {
        let mut fields = object! { ..file { path, blocks, good, never_written } };
        for (kind, count) in DamageKind::ALL.iter().zip(file.damaged) {
            fields[kind.word()] = count.into();
        }
        fields
    };
    let population = |population: &PopulationAudit| {
        let mut fields = object! {
            compared_bytes: population.compared.0,
            ..population { path, operations, beyond, names, unsure, expected, good },
        };
        for (kind, count) in FileDamage::ALL.iter().zip(population.damaged) {
            fields[kind.word()] = count.into();
        }
        fields
    };
    let file_finding = |finding: &FileFinding| {
        object! { kind: finding.kind.word(), ..finding { path, expected, found } }
    };
    let finding = |finding: &Finding| {
        object! {
            kind: finding.kind.word(),
            ..finding { path, offset, generation, expected, found, acknowledged },
        }
    };
    object! {
        format: crate::pens::json::FORMAT, plimsoll: version, run_id,
        clean: audit.is_clean(), acknowledged: audit.basis.word(), block_bytes: audit.block.0,
        files: each(&audit.files, file), findings: each(&audit.findings, finding),
        populations: each(&audit.populations, population),
        file_findings: each(&audit.file_findings, file_finding),
        ..audit { acknowledged_writes, notes },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;
    use model::audit::Basis;

    fn audit(lost: u64) -> Audit {
        let finding = Finding {
            kind: DamageKind::Lost,
            path: "/mnt/x/data-00000.bin".into(),
            offset: 8192,
            generation: 12,
            expected: "generation 12 or newer".into(),
            found: "zeros".into(),
            acknowledged: Some("by worker 0 in stage 1 (measure), within its first 3.0 s".into()),
        };
        Audit {
            basis: Basis::Completed,
            block: Bytes(4096),
            acknowledged_writes: 123_456,
            files: vec![FileAudit {
                path: "/mnt/x/data-00000.bin".into(),
                blocks: 1_000,
                good: 990 - lost,
                never_written: 10,
                damaged: [lost, 0, 0, 0, 0],
            }],
            findings: if lost > 0 { vec![finding] } else { Vec::new() },
            populations: Vec::new(),
            file_findings: Vec::new(),
            notes: vec!["the run was killed".into()],
        }
    }

    #[test]
    fn every_count_and_the_first_places_are_told() {
        insta::assert_snapshot!(table(&audit(3)));
        let clean = table(&audit(0));
        assert!(
            clean.ends_with("Nothing is missing or damaged.\n") && !clean.contains("lost"),
            "{clean}"
        );
    }

    #[test]
    fn the_object_has_the_same_counts() {
        insta::assert_snapshot!(format!("{:#}", json(&audit(3), "0.0.0", "r")));
    }
}
