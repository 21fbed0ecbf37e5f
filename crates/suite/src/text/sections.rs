//! The tables of a suite and their keys, and where a key belongs that stands where no such field
//! is: in another table, or under another name than other tools have for it.

use crate::fields::{
    ClientsSpec, ContentsSpec, EngineSpec, FleetSpec, KeepSpec, LayoutSpec, ObjectiveSpec,
    StagesSpec, TreeSpec, VmsSpec, WorkloadSpec,
};
use form::{Problems, Reader, Span, Table, other_names};

/// The tables of which a suite has one each, and their keys.
pub(crate) const SECTIONS: [(&str, &[&str]); 10] = [
    ("layout", LayoutSpec::KEYS),
    ("tree", TreeSpec::KEYS),
    ("contents", ContentsSpec::KEYS),
    ("stages", StagesSpec::KEYS),
    ("engine", EngineSpec::KEYS),
    ("fleet", FleetSpec::KEYS),
    ("keep", KeepSpec::KEYS),
    ("clients", ClientsSpec::KEYS),
    ("objective", ObjectiveSpec::KEYS),
    ("vms", VmsSpec::KEYS),
];

/// The tables whose fields may be looked for elsewhere, and their keys.
pub(crate) const TABLES: [(&str, &[&str]); SECTIONS.len() + 1] = {
    let mut tables = [("workload", WorkloadSpec::KEYS); SECTIONS.len() + 1];
    let mut number = 0;
    while number < SECTIONS.len() {
        tables[number] = SECTIONS[number];
        number += 1;
    }
    tables
};

/// A reader of a table of a suite, which knows the others.
pub(crate) fn reader<'a>(table: &'a Table, span: Span, problems: &'a mut Problems) -> Reader<'a> {
    Reader::new(table, span, problems).with_tables(&TABLES)
}

/// Where to write what somebody called `key`, if it is known by that name elsewhere.
pub(crate) fn remedy(key: &str) -> Option<String> {
    other_names::remedy(key, &TABLES)
}

/// What to give in place of a flag that only another tool has, or that is a field of suites and no
/// flag; `None` where nobody has it.
pub fn flag(flag: &str) -> Option<String> {
    other_names::flag(flag, &TABLES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SuiteSpec;
    use form::other_names::{WORDS, axis};

    #[test]
    fn words_of_other_tools_lead_to_ours() {
        let said = |key: &str| remedy(key).unwrap_or_default();
        assert_eq!(said("bs"), "here it is `block_size`, in [[workload]]");
        assert_eq!(said("IODepth"), "here it is `depth`, in [[workload]]");
        assert_eq!(
            said("rw"),
            "here it is `access` (and `read`, the share of reads), in [[workload]]"
        );
        assert_eq!(said("runtime"), "here it is `measure`, in [stages]");
        assert!(said("filename").contains("--target"));
        assert_eq!(said("measure"), "it belongs in [stages]");
        assert_eq!(said("size"), "it belongs in [layout] or [tree]");
        assert_eq!(remedy("sise"), None);
        assert_eq!(axis("numjobs"), Some("here it is `workers`".to_owned()));
        assert_eq!(axis("runtime"), None, "a time is no axis");
    }

    #[test]
    fn flags_of_other_tools_lead_to_ours() {
        let said = |name: &str| flag(name).unwrap_or_default();
        assert_eq!(said("--rate"), "it is a field of suites: `--set rate=VALUE`");
        assert_eq!(said("--rate-iops"), "it is a field of suites: `--set rate=VALUE`");
        assert_eq!(
            said("--ramp_time"),
            "it is a field of suites: `--set stages.precondition=VALUE`"
        );
        assert_eq!(said("--verify"), "it is a field of suites: `--set contents.verify=VALUE`");
        assert_eq!(said("--ioengine"), "it is a field of suites: `--set engine.backend=VALUE`");
        assert_eq!(said("--randseed"), "it is a field of suites: `--set seed=VALUE`");
        assert!(
            said("--direct").contains("`--buffered`") && said("--filename").contains("--target")
        );
        assert!(said("--group_reporting").contains("added up"));
        assert_eq!(flag("--frobnicate"), None);
    }

    #[test]
    fn what_they_lead_to_is_there() {
        for (words, field, section) in WORDS {
            if section.is_empty() {
                assert!(SuiteSpec::KEYS.iter().any(|key| field == format!("`{key}`")), "{field}");
                continue;
            }
            let field = field.split('`').nth(1).unwrap_or_default();
            let keys = TABLES
                .iter()
                .find(|(name, _)| *name == section)
                .map(|(_, keys)| keys)
                .expect("a section");
            assert!(keys.contains(&field), "{section}.{field}");
            for word in words {
                assert!(!keys.contains(word), "`{word}` is a field of {section} itself");
            }
        }
    }
}
