//! Command lines of elbencho and IOzone with the suites and reports of losses that they become.

use super::common::{losses_and_suites, planned, planned_or_refused};
use crate::{Class, Dialect, Import, World, detect, import, import_command};
use proptest::prelude::*;

fn imported(line: &str) -> Import {
    import_command(line, None, &World::NOTHING).expect("a command")
}

fn whole(name: &str, line: &str) {
    let import = imported(line);
    assert_eq!(import.refused().count(), 0, "{line}: {}", losses_and_suites(&import));
    planned(&import.suites[0].text)
        .unwrap_or_else(|why| panic!("{line}: {why}\n{}", losses_and_suites(&import)));
    insta::assert_snapshot!(name, losses_and_suites(&import));
}

#[test]
fn lines_of_elbencho_become_suites() {
    whole(
        "elbencho_large_file",
        "elbencho -w -r -t 16 -b 1M -s 40g --direct --iodepth=4 --lat /data/file1",
    );
    whole(
        "elbencho_device",
        "elbencho -r -t 8 -b 4k --direct --rand --infloop --timelimit 60 \
                              --iodepth 16 /dev/nvme0n1 /dev/nvme1n1",
    );
    whole("elbencho_small_files", "elbencho -w --stat -r -F -D -d -t 4 -n 3 -N 1000 -s 4k /data");
}

#[test]
fn a_configuration_of_elbencho_becomes_a_suite() {
    let text = "# a comment\nwrite=true\nread=1\nstat=0\nthreads=4\nblock=128k\nsize=1g\n\
                path=/data/f\n";
    assert_eq!(detect(text), Some(Dialect::Elbencho));
    let import = import("e.conf", text, None, &World::NOTHING).expect("a configuration");
    assert_eq!(import.refused().count(), 0, "{}", losses_and_suites(&import));
    planned(&import.suites[0].text).expect("a plan");
    assert!(
        import.suites[0].text.contains("# e.conf:6 block=128k"),
        "{}",
        losses_and_suites(&import)
    );
}

#[test]
fn lines_of_iozone_become_suites() {
    whole("iozone_threads", "iozone -i0 -i 1 -i 2 -r 1m -s 4g -t 8 -I -e -c -+n -w -F /d/a /d/b");
    whole("iozone_automatic", "iozone -a -g 1g -f /d/file -Rb out.xls");
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let told = |line: &str, name: &str| {
        let import = imported(line);
        let told = import.options.into_iter().find(|told| told.name == name);
        told.unwrap_or_else(|| panic!("{name} of {line}"))
    };
    assert!(told("elbencho -w --s3endpoints http://x b", "--s3endpoints").why.contains("S3"));
    assert!(told("elbencho -w --iodepht 4 /x", "--iodepht").why.contains("--iodepth"));
    assert_eq!(told("iozone -i 5 -r 4k", "-i").class, Class::Refused);
    assert_eq!(told("iozone -i 0 -+z", "-+z").class, Class::Refused);
    assert!(import_command("elbencho /x", None, &World::NOTHING).is_err(), "no phase");
}

const WORDS: [&str; 44] = [
    "-w", "-r", "--stat", "-F", "-D", "-d", "-t 4", "-t 0", "-b 4k", "-b 1", "-s 1g", "-s 0",
    "-s 3k", "-n 2", "-N 5", "-n 0", "--direct", "--rand", "--randamount 1g", "--strided",
    "--timelimit 5", "--infloop", "--rwmixpct 30", "-i 3", "--verify 1", "--limitread 1m", "/x",
    "/x/", "/dev/sda", "--iodepth 9", "-wr", "-i 0", "-i 1", "-i 2", "-i 8", "-r 4k", "-s 4m",
    "-a", "-g 1m", "-I", "-e", "-o", "-+n", "-f /x/y",
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
        tool in prop_oneof![Just("elbencho"), Just("iozone")],
    ) {
        let words: Vec<&str> = numbers.iter().map(|number| WORDS[*number]).collect();
        let line = format!("{tool} {}", words.join(" "));
        let Ok(import) = import_command(&line, None, &World::NOTHING) else { return Ok(()) };
        planned_or_refused(&line, &import)?;
    }
}
