//! Whatever a source holds, it becomes an import or an error, without a panic; and a suite that is
//! made of it is TOML that says what it means.

use crate::rows::Row;
use crate::{Dialect, World, diskspd, elbencho, import, import_command, iozone, mpi};
use proptest::prelude::*;

const NAMES: [&str; 24] = [
    "rw", "bs", "bsrange", "bssplit", "size", "io_size", "offset", "offset_increment", "numjobs",
    "nrfiles", "filename", "directory", "rate", "rate_iops", "thinktime", "runtime", "loops",
    "random_distribution", "percentage_random", "verify", "iodepth", "filesize", "number_ios",
    "startdelay",
];

const VALUES: [&str; 26] = [
    "randrw", "write:8k", "read:-8k", "randtrim", "trimwrite", "4k", "4k,8k,16k", ",", "512-64k",
    "1-1", "4k/50:64k/", "0", "18446744073709551615", "1e30", "20%", "100%", "(1k^9)^9", "-1",
    "/dev/sda:/dev/sdb", "a\\:b", "zipf:0.5", "zoned:50/5:30/15:20/", "zoned:100/100", "1h30m",
    "1:00:00", "\u{202e}\u{7}\"\\",
];

/// Options with values that suit them: these make suites that are whole.
const GOOD: [&str; 36] = [
    "rw=randrw",
    "rw=write:8k",
    "rw=randtrim",
    "rw=trimwrite",
    "rw=randread:8",
    "rw=write",
    "bs=4k,8k",
    "bs=512",
    "bs=1m",
    "bsrange=512-64k",
    "bssplit=4k/50:64k/50,8k/",
    "size=1g",
    "size=10m",
    "size=20%",
    "io_size=64m",
    "io_size=4g",
    "offset=1m",
    "offset=30%",
    "numjobs=3",
    "nrfiles=4",
    "filename=/dev/sda:/dev/sdb",
    "filename=/dev/sda",
    "filename=/x/y",
    "directory=/d",
    "rate_iops=100",
    "rate=1m",
    "thinktime=5ms",
    "runtime=10",
    "loops=3",
    "iodepth=8",
    "random_distribution=zipf:0.5",
    "random_distribution=zoned:50/5:30/15:20/",
    "verify=crc32c",
    "ioengine=io_uring",
    "percentage_random=30",
    "offset_increment=1g",
];

fn lines() -> impl Strategy<Value = String> {
    let option = (0..NAMES.len(), 0..VALUES.len())
        .prop_map(|(name, value)| format!("{}={}", NAMES[name], VALUES[value]));
    let line = prop_oneof![
        1 => option,
        1 => Just("[job]".to_owned()),
        1 => Just("stonewall".to_owned()),
        1 => ".{0,20}",
    ];
    let good = prop_oneof![
        12 => (0..GOOD.len()).prop_map(|number| GOOD[number].to_owned()),
        1 => Just("[job]".to_owned()),
        1 => Just("stonewall".to_owned()),
    ];
    let any = prop::collection::vec(line, 0..12);
    let good = prop::collection::vec(good, 0..24);
    prop_oneof![1 => any, 3 => good]
        .prop_map(|lines| format!("[global]\n[first]\n{}", lines.join("\n")))
}

/// The suite can be planned, unless the sizes of the job itself leave no room.
fn is_a_suite(text: &str) -> Result<(), String> {
    match super::common::planned(text) {
        Err(why) if !why.contains("one block") && !why.contains("smaller than") => {
            Err(format!("{why}\n{text}"))
        }
        _ => Ok(()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn job_files_of_any_options_do_no_harm(text in lines()) {
        let Ok(import) = import("a.fio", &text, Some(Dialect::Fio), &World::NOTHING) else {
            return Ok(());
        };
        for told in &import.options {
            prop_assert!(!told.why.is_empty() && !told.place.is_empty(), "{told:?}");
        }
        if import.refused().next().is_none() {
            for suite in &import.suites {
                if let Err(why) = is_a_suite(&suite.text) {
                    prop_assert!(false, "{text}\n{why}");
                }
            }
        }
    }

    #[test]
    fn any_text_does_no_harm(text in "\\PC{0,200}", line in "(fio )?[ -~]{0,100}") {
        for dialect in Dialect::ALL.iter().copied() {
            let _ = import("a", &text, Some(dialect), &World::NOTHING);
            let _ = import_command(&line, Some(dialect), &World::NOTHING);
        }
        let _ = import("a", &text, None, &World::NOTHING);
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let large = format!("[a]\n{}", "rw=read\n".repeat(200_000));
    assert!(import("a.fio", &large, Some(Dialect::Fio), &World::NOTHING).is_err());
    let many = "[a]\nrw=read\n".repeat(5_000);
    let error = import("a.fio", &many, Some(Dialect::Fio), &World::NOTHING).expect_err("many");
    assert!(error.what.contains("jobs"), "{error}");
}

#[test]
fn a_script_is_refused_in_words_that_say_what_to_paste() {
    let line = "fio --name=a --rw=read --filename=/dev/x";
    let job = "[a]\nrw=read\nfilename=/dev/x\n";
    let with_a_job = format!("#!/bin/sh\ncat <<E > j.fio\n{job}E\nfio j.fio\n");
    let texts = [
        ("run", with_a_job.as_str()),
        ("run.sh", job),
        ("run.PS1", "& diskspd -b4K x"),
        ("C:\\run.bat", "rem"),
        ("lines", line),
    ];
    for (name, text) in texts {
        let error = import(name, text, None, &World::NOTHING).expect_err(name);
        assert!(error.remedy.contains("`plimsoll import --command"), "{error}");
        assert_eq!(crate::is_job(name, text), name != "lines", "{name}");
    }
    assert!(import_command(line, None, &World::NOTHING).is_ok());
    let by_itself = format!("#!/usr/bin/fio\n{job}");
    let import = import("run", &by_itself, None, &World::NOTHING).expect("a job of fio");
    assert_eq!(import.dialect, "fio");
}

#[test]
fn every_option_of_a_table_is_read_with_any_value() {
    let tools = [
        ("mpirun -np 2 ior -w -r", " ", &mpi::IOR),
        ("mpirun -np 2 mdtest -n 4", " ", &mpi::MDTEST),
        ("elbencho -w --stat -F /x/", " ", &elbencho::OPTIONS),
        ("elbencho -w -r --rand --infloop /x/f", " ", &elbencho::OPTIONS),
        ("iozone -a", " ", &iozone::OPTIONS),
        ("diskspd -b4k -c1G -t2 /x/a /x/b", "", &diskspd::OPTIONS),
    ];
    for (line, between, table) in tools {
        for name in table.chapter("Options").rows.iter().flat_map(Row::names) {
            for value in ["", "0", "1", "3", "4k", "1m:1m", "POSIX", "/x/y", "?"] {
                let line = format!("{line} {name}{between}{value}");
                let Ok(import) = import_command(&line, None, &World::NOTHING) else { continue };
                let told = import.options.iter().find(|told| told.name == name);
                let is_known = |why: &str| !why.contains("no such option");
                // Of DiskSpd, a value that is attached may make another name.
                let is_read = told.map_or(between.is_empty(), |told| is_known(&told.why));
                assert!(is_read, "{line}: {told:?}");
            }
        }
    }
}
