//! Command lines of DiskSpd with the suites and reports of losses that they become.

use super::common::{losses_and_suites, planned, planned_or_refused};
use crate::{Class, Import, World, import_command};
use proptest::prelude::*;

fn imported(line: &str) -> Import {
    import_command(line, None, &World::NOTHING).expect("a command")
}

fn becomes_a_suite(name: &str, line: &str) {
    let import = imported(line);
    assert_eq!(import.refused().count(), 0, "{line}: {}", losses_and_suites(&import));
    planned(&import.suites[0].text).unwrap_or_else(|why| panic!("{line}: {why}"));
    insta::assert_snapshot!(name, losses_and_suites(&import));
}

#[test]
fn lines_of_diskspd_become_suites() {
    becomes_a_suite(
        "diskspd_general",
        "diskspd.exe -b4K -d60 -W15 -o32 -t4 -r -w30 -Sh -L -c10G -D -Z1M C:/run/a.dat",
    );
    becomes_a_suite(
        "diskspd_database",
        "diskspd -b8k -t2 -o8 -w20 -r -rdpct95/5:4/10 -Su -g500i -z7 -n /x/a.dat",
    );
    becomes_a_suite("diskspd_sequential", "diskspd -b1M -c4G -T1G -t4 -o4 -si -f2G /x/a.dat");
    becomes_a_suite("diskspd_window", "diskspd -B5m:1m -r -I1 -Sm -Nv -l /x/a.dat");
    becomes_a_suite("diskspd_defaults", "diskspd /x/a.dat");
    becomes_a_suite("diskspd_targets", "diskspd -b4K -t2 -o8 -c1G -r /dev/sdx /x/a.dat /x/b.dat");
}

#[test]
fn a_line_that_was_typed_on_windows_is_taken_as_it_is() {
    let import = imported(r#"C:\Tools\diskspd.exe -b8K -d60 -c20G "D:\a b\io.dat" 2>&1 > out.txt"#);
    assert_eq!(import.refused().count(), 0, "{}", losses_and_suites(&import));
    let named = |name: &str| import.options.iter().find(|told| told.name == name);
    assert_eq!(named("target").expect("one").value, r"D:\a b\io.dat");
    assert_eq!(named("2>&1 > out.txt").expect("told").class, Class::Harmless);
    assert_eq!(import.options.iter().filter(|told| told.name == "target").count(), 1);
    let drive = imported("diskspd -b4K -d1 #1");
    assert!(drive.options.iter().any(|told| told.value == "#1"), "{}", losses_and_suites(&drive));
    let two = imported("diskspd -b4K -c1G a.dat; diskspd -b8K -c1G a.dat");
    assert_eq!(two.refused().count(), 1, "{}", losses_and_suites(&two));
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let class = |line: &str, name: &str| {
        let import = imported(line);
        let told = import.options.into_iter().find(|told| told.name == name);
        told.unwrap_or_else(|| panic!("{name} of {line}")).class
    };
    assert_eq!(class("diskspd -Xprofile.xml", "-X"), Class::Refused);
    assert_eq!(class("diskspd -b4k -qx a.dat", "-qx"), Class::Refused);
    assert_eq!(class("diskspd -Shx a.dat", "-Shx"), Class::Refused);
    assert_eq!(class("diskspd -B2G -f1G a.dat", "-B"), Class::Refused, "nothing is left");
    assert_eq!(class("diskspd -B1G -c1G a.dat", "-B"), Class::Refused, "nothing is left");
    assert_eq!(class("numactl diskspd a.dat", "numactl"), Class::Refused);
}

const WORDS: [&str; 28] = [
    "-b4K", "-b64b", "-b512", "-c1G", "-c10M", "-d5", "-W0", "-o8", "-t3", "-F4", "-r", "-r8K",
    "-rs30", "-rdpct90/10:5/5", "-s64K", "-s2b", "-si", "-T1M", "-w", "-w100", "-f512M", "-B1M",
    "-g100", "-Sh", "-Z", "-n", "/x/b.dat", "/dev/sdb",
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
    ) {
        let words: Vec<&str> = numbers.iter().map(|number| WORDS[*number]).collect();
        let line = format!("diskspd {}", words.join(" "));
        let import = imported(&line);
        planned_or_refused(&line, &import)?;
    }
}
