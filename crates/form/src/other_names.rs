//! What a key that is not known here is called, or where it belongs: for those who come from fio,
//! IOR, vdbench or elbencho, or from another table.

use crate::Tables;

/// Words of other tools and of plain speech, and what says the same here: field and section.
pub const WORDS: [(&[&str], &str, &str); 24] = [
    (
        &["bs", "blocksize", "block", "xfersize", "transfer_size", "transfersize"],
        "`block_size`",
        "workload",
    ),
    (
        &["rw", "readwrite", "op", "operation"],
        "`access` (and `read`, the share of reads)",
        "workload",
    ),
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
    (&["rwmixwrite"], "`read` (the share of reads, not of writes)", "workload"),
    (&["thinktime", "think_time"], "`think`", "workload"),
    (&["thinktime_blocks"], "`burst`", "workload"),
    (&["fdatasync"], "`fsync_every`", "workload"),
    (&["random_distribution", "distribution"], "`access`", "workload"),
    (&["percentage_random", "perc_rand"], "`random`", "workload"),
    (&["sync_writes", "o_dsync"], "`dsync`", "workload"),
    (&["randseed", "random_seed", "rand_seed"], "`seed`", ""),
    (&["buffer_compress_percentage", "compratio"], "`compressible`", "contents"),
    (&["dedupe_percentage", "dedupratio"], "`duplicate`", "contents"),
    (&["cpus_allowed", "cpus_allowed_policy"], "`pin`", "engine"),
];

const FLAGS: [(&[&str], &str); 11] = [
    (&["direct"], "direct I/O is the default; `--buffered` goes through the page cache"),
    (&["time_based"], "a run always lasts its whole time (`--runtime`)"),
    (&["group_reporting"], "the workers of a workload are always added up"),
    (
        &["name", "job", "jobfile"],
        "write a suite file; `plimsoll suites smoke` prints one to start from",
    ),
    (&["output", "output_file", "resfile"], "the run file is named with `--out`"),
    (&["output_format", "jsonfile", "json_output"], "results as JSON: `--json`"),
    (&["csvfile", "csv", "livecsv"], "tables as CSV: `plimsoll export RUN`"),
    (&["nolive", "silent", "no_progress"], "without progress: `--quiet`"),
    (&["hostfile", "hostsfile", "client"], "hosts of a file: `--hosts @FILE`"),
    (&["rand", "random"], "random requests: `--rw randread` or `--rw randwrite`"),
    (
        &["status_interval", "eta", "livint"],
        "a run shows its progress by itself; `--set interval=1s` sets how often it records",
    ),
];

/// Values of other tools that mean one of ours: their words, a word of ours by which the field is
/// known, and what to write there.
const VALUES: [(&[&str], &str, &str); 4] = [
    (
        &[
            "crc32c", "crc32c-intel", "crc32", "crc64", "crc16", "crc7", "md5", "sha1", "sha256",
            "sha512", "xxhash", "meta", "pattern",
        ],
        "after",
        "write true: every block has a checksum of its own, and each read is checked",
    ),
    (
        &["randread", "randwrite", "randrw", "rand"],
        "permutation",
        "write \"random\", and the share of reads as `read`",
    ),
    (
        &["read", "write", "rw", "readwrite", "seq"],
        "permutation",
        "write \"sequential\", and the share of reads as `read`",
    ),
    (
        &["psync", "pvsync", "pvsync2", "posixaio", "vsync", "aio"],
        "io_uring",
        "write \"sync\", or \"libaio\" for requests that overlap",
    ),
];

const TARGETS: [&str; 6] = ["filename", "directory", "path", "target", "device", "lun"];

/// Where to write what somebody called `key`, if it is known by that name elsewhere.
pub fn remedy(key: &str, tables: Tables) -> Option<String> {
    if TARGETS.iter().any(|word| word.eq_ignore_ascii_case(key)) {
        return Some(
            "targets stand on the command line (`--target PATH`) or, by host, in [targets]"
                .to_owned(),
        );
    }
    let at_home: Vec<String> = tables
        .iter()
        .filter(|(_, keys)| keys.contains(&key))
        .map(|(section, _)| table(section))
        .collect();
    word(key).or_else(|| {
        (!at_home.is_empty()).then(|| format!("it belongs in {}", at_home.join(" or ")))
    })
}

/// What is called `key` by other tools, and here otherwise.
fn word(key: &str) -> Option<String> {
    let (field, section) = find(key)?;
    Some(format!("here it is {field}, in {}", table(section)))
}

/// The same where somebody makes it an axis of a sweep: axes have the names of fields.
pub fn axis(key: &str) -> Option<String> {
    let (field, _) = find(key).filter(|(_, section)| ["workload", "layout"].contains(section))?;
    Some(format!("here it is {field}"))
}

fn find(key: &str) -> Option<(&'static str, &'static str)> {
    let is_it = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(key));
    WORDS.iter().find(|(words, ..)| is_it(words)).map(|(_, field, section)| (*field, *section))
}

fn table(section: &str) -> String {
    match section {
        "" => "the first lines of a suite".to_owned(),
        "workload" => "[[workload]]".to_owned(),
        section => format!("[{section}]"),
    }
}

/// What to give in place of a flag that only another tool has, or that is a field of suites and no
/// flag; `None` where nobody has it.
pub fn flag(flag: &str, tables: Tables) -> Option<String> {
    let name = flag.trim_start_matches('-').replace('-', "_");
    let is_it = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(&name));
    if let Some((_, said)) = FLAGS.iter().find(|(words, _)| is_it(words)) {
        return Some((*said).to_owned());
    }
    if TARGETS.iter().any(|word| word.eq_ignore_ascii_case(&name)) {
        return Some("paths to load are named by themselves, or with `--target PATH`".to_owned());
    }
    // Its value is behind it, or not; what to write there is known from the field.
    let set = |section: &str, field: &str| match section {
        "" | "workload" => format!("it is a field of suites: `--set {field}=VALUE`"),
        section => format!("it is a field of suites: `--set {section}.{field}=VALUE`"),
    };
    let own = tables
        .iter()
        .find(|(_, keys)| keys.contains(&name.as_str()))
        .map(|(section, _)| set(section, &name));
    let other = || {
        find(&name)
            .map(|(field, section)| set(section, field.split('`').nth(1).unwrap_or_default()))
    };
    own.or_else(other)
}

/// What to write in place of a value that is another tool's, in a field that takes one of `words`.
pub fn value(text: &str, words: &[&str]) -> Option<&'static str> {
    let is_it = |theirs: &[&str]| theirs.iter().any(|word| word.eq_ignore_ascii_case(text));
    VALUES
        .iter()
        .find(|(theirs, ours, _)| words.contains(ours) && is_it(theirs))
        .map(|(_, _, said)| *said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_other_tools_lead_to_ours() {
        let verify = ["false", "true", "after"];
        assert!(value("crc32c", &verify).is_some_and(|said| said.contains("write true")));
        assert!(
            value("randread", &["sequential", "random", "permutation"])
                .is_some_and(|said| said.contains("random"))
        );
        assert_eq!(value("randread", &verify), None);
    }
}
