//! Command lines of IOR and mdtest with the suites and reports of losses that they become.

use super::common::{losses_and_suites, planned, planned_or_refused};
use crate::{Class, Import, World, import_command};
use proptest::prelude::*;

fn imported(line: &str) -> Import {
    import_command(line, None, &World::NOTHING).expect("a command")
}

fn becomes_a_suite(name: &str, line: &str) {
    let import = imported(line);
    assert_eq!(import.refused().count(), 0, "{line}");
    planned(&import.suites[0].text).unwrap_or_else(|why| panic!("{line}: {why}"));
    insta::assert_snapshot!(name, losses_and_suites(&import));
}

#[test]
fn lines_of_ior_become_suites() {
    becomes_a_suite(
        "ior_easy",
        "mpirun -np 16 --map-by node ior -w -r -F -b 4g -t 2m -i3 -e -C -k -o /gpfs/a/f",
    );
    becomes_a_suite("ior_hard", "srun -n 32 ior -w -r -s 1000 -b 47008 -t 47008 -o /gpfs/hard");
    becomes_a_suite(
        "ior_stonewall",
        "ior -w -D 60 -t 1m -b 16m -z --posix.odirect -O stoneWallingWearOut=1",
    );
}

#[test]
fn lines_of_mdtest_become_suites() {
    becomes_a_suite("mdtest_easy", "mpirun -np 8 mdtest -n 10000 -F -u -d /gpfs/md -N 1 -i 2");
    becomes_a_suite("mdtest_hard", "mdtest -I 1000 -z 1 -b 10 -w 3901 -e 3901 -F -C -T -E -r -y");
}

/// The suite of a line; and with it, why each option became what it did.
fn suite_and_reasons(line: &str) -> (String, String) {
    let import = imported(line);
    let text = import.suites[0].text.clone();
    let whys: Vec<&str> = import.options.iter().map(|told| told.why.as_str()).collect();
    let all = format!("{text}{}", whys.join("\n"));
    (text, all)
}

#[test]
fn suites_do_as_much_as_ior_and_mdtest_were_seen_to_do() {
    let told = |line: &str, words: &[&str], not: &str| {
        let (text, all) = suite_and_reasons(line);
        words.iter().for_each(|word| assert!(all.contains(word), "{line}: {word}\n{all}"));
        assert!(!text.contains(not), "{line}: {not}\n{text}");
    };
    // Tried against IOR: it wrote once, and did not go on for a second.
    told("ior -w -D 1 -b 64k -t 64k", &["amount = \"all\"", "makes 1 requests"], "measure");
    told("ior -w -D 60 -b 16g -t 1m", &["measure = \"60s\"", "after 16384 requests"], "amount");
    told("ior -w -F -W", &["read = \"100%\"", "verify = \"true\""], "prepare = true");
    // mdtest made 3 files a rank in 3 directories, 4 in the 2 lowest, and synced nothing.
    told("mdtest -n 5 -z 1 -b 2 -F", &["files = 3 "], "fsync");
    told("mdtest -n 5 -z 1 -b 2 -F -L -y", &["files = 4 ", "syncs nothing"], "fsync");
    told("mdtest -n 5 -F -C -E -w 1k", &["opens and closes a file"], "fsync");
    told("mdtest -n 5 -F -C -E -w 1k -e 1k", &["in one piece"], "opens and closes");
    told("mdtest -n 5 -F -w 1024 -y", &["files = 5 ", "fsync = \"timed\""], "files = 4");
    told("mdtest -n 5 -F -C -E -w 1k", &["[\"create\", \"open\"]"], "\"read\"");
    told("ior -R", &["read = \"100%\"", "prepare = true"], "read = \"0%\"");
}

#[test]
fn what_random_lines_found_is_kept_or_said() {
    let told = |line: &str, words: &[&str], not: &str| {
        let (text, all) = suite_and_reasons(line);
        words.iter().for_each(|word| assert!(all.contains(word), "{line}: {word}\n{all}"));
        assert!(not.is_empty() || !all.contains(not), "{line}: {not}\n{all}");
        planned(&text).unwrap_or_else(|why| panic!("{line}: {why}"));
    };
    // All ranks of mdtest made their files in one directory, with -u each in its own, and in a
    // tree as many in each directory.
    let shared = "per_directory = \"5 * 4 / hosts\"";
    told("mpirun -np 4 mdtest -n 5 -F", &[shared, "depth = 0"], "");
    told("mpirun -np 4 mdtest -n 5 -F -u", &["per_directory = 5 ", "depth = 0"], shared);
    told("mdtest -n 20 -z 1 -b 2 -F", &["files = 18 ", "per_directory = 6 ", "depth = 1"], "");
    told("mdtest -n 20 -z 1 -b 2 -F -L", &["files = 20 ", "per_directory = 10 "], "");
    // It made directories first, and renamed them where no phase was named.
    let first = "[\"mkdir\", \"rmdir\", \"create\", \"stat\", \"read\", \"remove\"]";
    told("mdtest -n 5", &[first, "neither looked up nor renamed"], "");
    told("mdtest -n 5 -C -T", &["[\"mkdir\", \"create\", \"stat\"]", "not looked up"], "renamed");
    // Of a phase alone, it made nothing; what -C left it did not remove.
    let once = "`-F` has none; what this phase finds is made before it, by an operation that is \
                measured, too\n";
    told("mdtest -n 5 -T -d x", &[once, "not looked up"], "removed before");
    told("mdtest -n 5 -F -T", &["what this phase finds is made before it"], "removed before");
    told("mdtest -n 5 -F -C -i 2", &["removed before it is made again"], "made before it");
    told("mdtest -n 5 -F -R", &["in which files are made and removed, too"], "");
    // IOR went through a segment at random, then through the next one; of a shared file, each rank
    // had blocks by chance.
    let by_segment = "IOR goes from one segment to the next";
    told("ior -F -z -b 1m -t 64k -s 4", &[by_segment], "deals them");
    told("mpirun -np 2 ior -z -b 1m -t 64k", &["IOR deals them to all ranks"], by_segment);
    told("mpirun -np 2 ior -z -s 2 -b 1m -t 64k", &["IOR deals them to all", by_segment], "");
    // It wrote three whole blocks, and after each write it read; then it began with no file.
    told("ior -w -F -b 47008 -t 47008 -s 3", &["size = \"138KiB\"", "288 bytes longer"], "");
    told("ior -i 2", &["order = \"interleaved\"", "IOR removes them first"], "");
    told("ior -w -i 2", &["IOR removes them first"], "interleaved");
    told("ior -r -i 2", &["repetitions = 2"], "removes them");
    told("ior -w -Y", &["IOR calls `fsync` once or twice"], "");
    // It had one task where nothing started more.
    told("ior -w -N 2", &["workers = 1 ", "without a launcher one"], "");
    told("$MPIRUN ior -w -N 2", &["workers = 2 "], "");
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let told = |line: &str, name: &str| {
        let import = imported(line);
        let told = import.options.into_iter().find(|told| told.name == name);
        told.unwrap_or_else(|| panic!("{name} of {line}"))
    };
    assert_eq!(told("ior -c -a MPIIO", "-c").class, Class::Refused);
    assert!(told("ior -a HDF5", "-a").why.contains("HDF5"));
    assert_eq!(told("ior -wq?", "-wq?").class, Class::Refused, "a letter is unknown");
    assert!(told("ior --blockSiez=1m", "--blockSiez").why.contains("--blockSize"));
    assert!(import_command("mdtest -F", None, &World::NOTHING).is_err(), "how many files?");
}

const WORDS: [&str; 30] = [
    "-w", "-r", "-F", "-b 1m", "-b 47008", "-t 4k", "-t 1m", "-t 47008", "-s 3", "-e", "-C", "-z",
    "-D 5", "-i 2", "-Y", "-B", "-R", "-G 7", "-N 3", "-k", "-n 100", "-I 10", "-z 2", "-b 3",
    "-u", "-y", "-T", "-w 100", "-D", "-L",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn lines_of_any_options_are_planned_or_refused(
        numbers in prop::collection::vec(0..WORDS.len(), 0..10),
        tool in prop_oneof![Just("ior"), Just("mpirun -np 4 ior"), Just("mpirun -n 3 mdtest")],
    ) {
        let words: Vec<&str> = numbers.iter().map(|number| WORDS[*number]).collect();
        let line = format!("{tool} {}", words.join(" "));
        let Ok(import) = import_command(&line, None, &World::NOTHING) else { return Ok(()) };
        planned_or_refused(&line, &import)?;
    }
}
