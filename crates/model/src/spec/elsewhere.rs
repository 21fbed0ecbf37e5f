//! What a key that is not known here is called, or where it belongs: for those who come from fio, IOR, vdbench or elbencho, or from another table.

use super::fields::WorkloadSpec;
use super::overrides::SECTIONS;

/// Words of other tools and of plain speech, and what says the same here: field and section.
const WORDS: [(&[&str], &str, &str); 13] = [
    (&["bs", "blocksize", "block", "xfersize", "transfer_size", "transfersize"], "`block_size`", "workload"),
    (&["rw", "readwrite", "op", "operation"], "`access` (and `read`, the share of reads)", "workload"),
    (&["pattern", "seekpct"], "`access`", "workload"),
    (&["rwmixread", "rdpct", "mix", "reads"], "`read`", "workload"),
    (&["iodepth", "qd", "queue_depth", "queuedepth", "outstanding"], "`depth`", "workload"),
    (&["numjobs", "jobs", "threads", "tasks"], "`workers`", "workload"),
    (&["rate_iops", "iorate", "iops"], "`rate`", "workload"),
    (&["runtime", "time", "duration", "elapsed", "measure_time"], "`measure`", "stages"),
    (&["ramp_time", "ramp", "warmup", "warm_up"], "`precondition`", "stages"),
    (&["ioengine", "iodriver"], "`backend`", "engine"),
    (&["nrfiles", "count", "file_count"], "`files`", "layout"),
    (&["filesize", "file_size", "segment_size"], "`size`", "layout"),
    (&["verify_data", "data_verify"], "`verify`", "contents"),
];

/// Where a target is said, which no field does.
const TARGETS: [&str; 6] = ["filename", "directory", "path", "target", "device", "lun"];

/// Where to write what somebody called `key`, if it is known by that name elsewhere.
pub(super) fn remedy(key: &str) -> Option<String> {
    if TARGETS.iter().any(|word| word.eq_ignore_ascii_case(key)) {
        return Some("targets stand on the command line (`--target PATH`) or, by host, in [targets]".to_owned());
    }
    let sections = || SECTIONS.into_iter().chain([("workload", WorkloadSpec::KEYS)]);
    let at_home: Vec<String> =
        sections().filter(|(_, keys)| keys.contains(&key)).map(|(section, _)| table(section)).collect();
    word(key).or_else(|| (!at_home.is_empty()).then(|| format!("it belongs in {}", at_home.join(" or "))))
}

/// What is called `key` by other tools, and here otherwise.
fn word(key: &str) -> Option<String> {
    let (field, section) = find(key)?;
    Some(format!("here it is {field}, in {}", table(section)))
}

/// The same where somebody makes it an axis of a sweep: axes have the names of fields.
pub(super) fn axis(key: &str) -> Option<String> {
    let (field, _) = find(key).filter(|(_, section)| ["workload", "layout"].contains(section))?;
    Some(format!("here it is {field}"))
}

fn find(key: &str) -> Option<(&'static str, &'static str)> {
    let is_it = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(key));
    WORDS.iter().find(|(words, ..)| is_it(words)).map(|(_, field, section)| (*field, *section))
}

fn table(section: &str) -> String {
    if section == "workload" { "[[workload]]".to_owned() } else { format!("[{section}]") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_tools_lead_to_ours() {
        let said = |key: &str| remedy(key).unwrap_or_default();
        assert_eq!(said("bs"), "here it is `block_size`, in [[workload]]");
        assert_eq!(said("IODepth"), "here it is `depth`, in [[workload]]");
        assert_eq!(said("rw"), "here it is `access` (and `read`, the share of reads), in [[workload]]");
        assert_eq!(said("runtime"), "here it is `measure`, in [stages]");
        assert!(said("filename").contains("--target"));
        assert_eq!(said("measure"), "it belongs in [stages]");
        assert_eq!(said("size"), "it belongs in [layout] or [tree]");
        assert_eq!(remedy("sise"), None);
        assert_eq!(axis("numjobs"), Some("here it is `workers`".to_owned()));
        assert_eq!(axis("runtime"), None, "a time is no axis");
    }

    #[test]
    fn what_they_lead_to_is_there() {
        for (words, field, section) in WORDS {
            let field = field.split('`').nth(1).unwrap_or_default();
            let sections = || SECTIONS.into_iter().chain([("workload", WorkloadSpec::KEYS)]);
            let keys = sections().find(|(name, _)| *name == section).map(|(_, keys)| keys).expect("a section");
            assert!(keys.contains(&field), "{section}.{field}");
            for word in words {
                assert!(!keys.contains(word), "`{word}` is a field of {section} itself");
            }
        }
    }
}
