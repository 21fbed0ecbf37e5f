//! Job files of fio with the suites and reports of losses that they become: add a file to
//! `fixtures/dialects/fio`, run `INSTA_UPDATE=always cargo test -p dialects`, and read what it
//! wrote.

use crate::{Dialect, Import, World, import, import_command};
use std::fmt::Write;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/dialects/fio")
}

fn variable(name: &str) -> Option<String> {
    (name == "DEPTH").then(|| "8".to_owned())
}

fn included(name: &str) -> Result<String, String> {
    std::fs::read_to_string(folder().join(name)).map_err(|error| error.to_string())
}

const WORLD: World<'static> = World { file: &included, variable: &variable };

/// The report of losses and the suites, as people read them.
fn shown(import: &Import) -> String {
    let mut text = String::new();
    for told in &import.options {
        let class = told.class.word();
        let _ = writeln!(
            text,
            "{:20} {:40} {class:12} {}",
            told.place,
            format!("{}={}", told.name, told.value),
            told.why
        );
    }
    for suite in &import.suites {
        let _ = write!(text, "\n--- {}\n{}", suite.name, suite.text);
    }
    text
}

#[test]
fn job_files_become_suites() {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("the folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".fio"))
        .collect();
    names.sort();
    for name in names {
        let text = std::fs::read_to_string(folder().join(&name)).expect("a text");
        let import = import(&name, &text, None, &WORLD).expect("a job file");
        assert_eq!(import.dialect, Dialect::Fio.word(), "{name}");
        if import.refused().next().is_none() {
            for suite in &import.suites {
                super::common::planned(&suite.text).unwrap_or_else(|why| panic!("{name}: {why}"));
            }
        }
        insta::assert_snapshot!(format!("fio_{}", name.trim_end_matches(".fio")), shown(&import));
    }
}

#[test]
fn command_lines_become_suites() {
    let line = "fio --name=t --filename=/dev/sdx --rw=randread --bs=4k --iodepth 32 --direct=1 \
                --runtime=30 --time_based --output-format=json --numjobs=4 --ioengine=io_uring";
    let import = import_command(line, None, &WORLD).expect("a command");
    assert_eq!(import.refused().count(), 0);
    super::common::planned(&import.suites[0].text).expect("a plan");
    insta::assert_snapshot!("fio_command", shown(&import));
    let pinned = import_command("numactl -N 0 fio --name=a --size=1g", None, &WORLD);
    assert_eq!(pinned.expect("a command").refused().count(), 3, "what stands before fio");
    let file = import_command("fio --bs=8k device.fio --section=half", None, &WORLD);
    let import = file.expect("a job file");
    assert!(import.suites[0].text.contains("[[workload]]\nname = \"half\""));
    assert!(!import.suites[0].text.contains("name = \"fill\""));
}

#[test]
fn one_dash_is_as_good_as_two_and_sudo_changes_no_request() {
    let options = |dash: &str| {
        let words = "filename=/dev/sdx direct=1 thread ioengine=libaio rw=randrw bs=8k".split(" ");
        let words = words.chain(["iodepth 16"]).map(|word| format!("{dash}{word}"));
        let words = words.collect::<Vec<_>>();
        format!("fio {} {dash}numjobs=4 {dash}runtime=600 {dash}name=t", words.join(" "))
    };
    let two = import_command(&options("--"), None, &WORLD).expect("a command");
    let one = import_command(&format!("sudo {}", options("-")), None, &WORLD).expect("a command");
    assert_eq!((one.refused().count(), one.suites.len()), (0, 1));
    assert!(one.suites[0].text.contains("depth = 16"), "{}", one.suites[0].text);
    let fields = |text: &str| {
        let lines = text.lines().map(|line| line.split(" #").next().unwrap_or(line).to_owned());
        lines.filter(|line| !line.starts_with('#')).collect::<Vec<_>>()
    };
    assert_eq!(fields(&one.suites[0].text), fields(&two.suites[0].text));
}

#[test]
fn an_unknown_option_is_refused_with_the_nearest_one() {
    let text = "[job]\nrw=read\niodeth=4\n";
    let import = import("a.fio", text, Some(Dialect::Fio), &WORLD).expect("a job");
    let told = import.refused().next().expect("refused");
    assert_eq!((told.name.as_str(), told.place.as_str()), ("iodeth", "a.fio:3"));
    assert!(told.why.contains("the nearest is `iodepth`"), "{}", told.why);
}

#[test]
fn a_value_of_which_fio_reads_a_part_is_refused() {
    let refused = |option: &str| {
        let import = import("a.fio", &format!("[a]\n{option}\n"), Some(Dialect::Fio), &WORLD);
        import.expect("a job").refused().map(|told| told.why.clone()).collect::<Vec<_>>()
    };
    for odd in ["runtime=1m15s", "runtime=1:30", "runtime=2sec", "size=1.5m", "bs=4 k", "bs=4k*2"] {
        let why = refused(odd).pop().unwrap_or_default();
        assert!(why.contains("of which fio reads no more"), "{odd}: {why}");
    }
    for good in ["runtime=2S", "startdelay=1-2", "bs=$pagesize*2", "size=12%", "filesize=1m-2m"] {
        assert_eq!(refused(good), Vec::<String>::new(), "{good}");
    }
}

#[test]
fn a_file_behind_another_begins_when_its_jobs_are_over() {
    let file = |name: &str| Ok(format!("[{name}]\nrw=read\nsize=1m\n"));
    let world = World { file: &file, variable: &|_| None };
    let both = import_command("fio GLOBAL b", None, &world).expect("jobs");
    let text = &both.suites[0].text;
    assert!(text.contains("name = \"GLOBAL\"") && !text.contains("group ="), "{text}");
    let text = "[a]\nrw=write\n[b]\nwait_for=a\nrw=read\n[c]\nrw=read\n";
    let import = import("a.fio", text, None, &WORLD).expect("jobs");
    let told = import.options.iter().find(|told| told.name == "wait_for").expect("told");
    assert!(told.why.contains("those behind it wait, too"), "{}", told.why);
}

#[test]
fn what_one_job_cannot_have_is_refused_whatever_the_next_one_does_with_it() {
    let text = "[global]\nfilename=/dev/sdx\nzonemode=zbd\nzonesize=1m\ndirect=1\nsize=8z\n\
                verify=crc32c\n[a]\nrw=randwrite\n[b]\nstonewall\nrw=randread\nverify=0\n";
    let import = import("a.fio", text, Some(Dialect::Fio), &WORLD).expect("jobs");
    let refused: Vec<&str> = import.refused().map(|told| told.name.as_str()).collect();
    assert_eq!(refused, ["zonemode"]);
}

#[test]
fn what_zones_do_not_have_is_refused() {
    let zoned = "[a]\nfilename=/dev/sdx\nzonemode=zbd\nzonesize=1m\ndirect=1\nsize=8z\n\
                 ioengine=libaio\n";
    let refused = |options: &str| -> Vec<String> {
        let text = format!("{zoned}{options}\n");
        let import = import("a.fio", &text, Some(Dialect::Fio), &WORLD).expect("a job");
        import.refused().map(|told| format!("{}: {}", told.name, told.why)).collect()
    };
    for good in ["rw=randwrite", "rw=write", "rw=read\niodepth=8", "rw=randrw\niodepth=4"] {
        assert_eq!(refused(good), Vec::<String>::new(), "{good}");
    }
    for (odd, expected) in [
        ("rw=write\niodepth=8", "several writes under way in one zone"),
        ("rw=write\ndirect=0", "through the page cache"),
        ("rw=randwrite\nverify=crc32c", "checks of what is written by zones"),
        ("rw=randtrim\nbs=4k", "resets of whole zones"),
        ("rw=trimwrite\nbs=1m", "resets of zones in one job with other requests"),
        ("rw=write:64k", "gone through in another order"),
        ("rw=read\nzoneskip=1z", "passed over"),
        ("rw=randwrite\nio_size=2m", "an amount that is not all"),
        ("rw=randwrite\nzonecapacity=512k", "of which a part cannot be written"),
        ("rw=randwrite\nwrite_zone_remainder=1", "fill what is left of a zone"),
    ] {
        let told = refused(odd);
        assert!(told.iter().any(|one| one.contains(expected)), "{odd}: {told:?}");
    }
}

/// The lines of the suite of a job that has these options, without where they came from.
fn fields(options: &str) -> Vec<String> {
    let text = format!("[global]\n{options}\n");
    let import = import("a.fio", &text, Some(Dialect::Fio), &WORLD).expect("a job");
    let lines = import.suites[0].text.lines().map(|line| line.split(" #").next().unwrap_or(line));
    lines.map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn weights_beat_a_range_and_a_range_one_size_wherever_they_stand() {
    for (options, expected) in [
        ("bssplit=4k/50:64k/50\n[a]\nbs=16k", r#"block_size = "4KiB:50, 64KiB:50""#),
        ("bsrange=4k-8k\n[a]\nbs=16k", r#"block_size = "4KiB:1, 8KiB:1""#),
        ("bsrange=4k-8k\n[a]\nbssplit=16k", r#"block_size = "16KiB""#),
        ("[a]\nrw=randrw\nbssplit=,64k/100\nbs=8k", r#"write_block_size = "64KiB""#),
        ("bs=16k\n[a]\nrw=randrw\nbs=,4k", r#"write_block_size = "4KiB""#),
        ("bs=16k\n[a]\nrw=randrw\nbs=,4k", r#"block_size = "16KiB""#),
        ("bsrange=4k-8k\n[a]\nrw=rw\nbsrange=,64k", r#"block_size = "4KiB:1, 8KiB:1""#),
        ("bssplit=8k/100\n[a]\nrw=rw\nbssplit=,64k/100", r#"block_size = "8KiB""#),
        ("[a]\nrw=randread\nbssplit=8k/30:4k/20", r#"block_size = "8KiB:80, 4KiB:20""#),
        ("bs=4k\n[global2]\nbs=64Ki\n[a]\nrw=read", r#"block_size = "64KiB""#),
        ("[a]\nrw=randrw\nbssplit=,64k/100\nbs=8k", r#"block_size = "8KiB""#),
        ("[a]\nrw=randrw\nbsrange=8k-16k,\nbs=1k", r#"write_block_size = "1KiB""#),
        ("[a]\nrw=randtrim\nbssplit=4k,8k,16k/100", r#"block_size = "16KiB""#),
    ] {
        let lines = fields(options);
        assert!(lines.iter().any(|line| line == expected), "{options}: {lines:?}");
    }
}

#[test]
fn of_two_options_that_go_together_the_one_counts_that_counts_in_fio() {
    for (options, expected) in [
        ("rw=write\nbs=4k\nsize=1m\nfsync=4\nfdatasync=8", "fsync_every = 4"),
        ("rw=write\nbs=4k\nsize=1m\nfdatasync=8\nfsync=0", "fsync_every = 8"),
        (
            "rw=write\nsize=1m\nbuffer_compress_percentage=50\nzero_buffers",
            "compressible = \"50%\"",
        ),
        ("rw=read\nsize=4m\nbs=4k\nnumber_ios=1000\nio_size=64k", "amount = \"64KiB\""),
        ("rw=read\nsize=4m\nbs=4k\nnumber_ios=10\nio_size=64k", "amount = \"40KiB\""),
        ("rw=read\nioengine=io_uring\nhipri\nsqthread_poll=0", "poll = \"completions\""),
    ] {
        let lines = fields(&format!("[a]\n{options}"));
        assert!(lines.iter().any(|line| line == expected), "{options}: {lines:?}");
    }
    let both = fields("[a]\nrw=write\nsize=1m\ndedupe_percentage=30\nbuffer_pattern=0xff");
    assert!(!both.iter().any(|line| line.starts_with("compressible")), "{both:?}");
}

#[test]
fn what_fio_does_without_or_does_otherwise_is_not_the_same() {
    let class = |options: &str, name: &str| {
        let text = format!("[a]\nfilename=/dev/sdx\nsize=1m\ndirect=1\n{options}\n");
        let import = import("a.fio", &text, Some(Dialect::Fio), &WORLD).expect("a job");
        let told = import.options.iter().rfind(|told| told.name == name);
        told.map(|told| told.class.word()).expect("the option")
    };
    for (options, name, expected) in [
        ("rw=read\nrate=1m\nrate_iops=100", "rate", "refused"),
        ("rw=randrw\nrate_iops=100,", "rate_iops", "refused"),
        ("rw=randrw\nrate=1m,0", "rate", "refused"),
        ("rw=randrw\nrate_iops=100,50", "rate_iops", "approximated"),
        ("rw=read\nrate_iops=,50", "rate_iops", "harmless"),
        ("rw=read\ntime_based", "time_based", "harmless"),
        ("rw=read\ntime_based\nruntime=5", "time_based", "same"),
        ("rw=write\nverify=crc32c", "verify", "approximated"),
        ("rw=write\nverify=crc32c\ndo_verify=0", "verify", "same"),
        ("rw=read\nfadvise_hint=1\ndirect=0", "rw", "approximated"),
        ("rw=randread\niodepth=4\nioengine=libaio\nthinktime=1ms", "thinktime", "approximated"),
        ("rw=randread\nthinktime=1ms", "thinktime", "same"),
        ("rw=write\nfdatasync=4", "fdatasync", "same"),
        ("rw=randrw\nfdatasync=4", "fdatasync", "approximated"),
        ("rw=write\nbs=12k", "size", "approximated"),
        ("rw=randwrite\nbs=12k", "size", "same"),
        ("rw=trimwrite", "direct", "approximated"),
        ("bs=128k\noffset=12k", "offset", "approximated"),
        ("size=50%\nsize=2m", "size", "approximated"),
        ("bs=4k\noffset=12k", "offset", "same"),
        ("rw=trim", "direct", "same"),
        ("rw=trimwrite\nsync=1", "sync", "harmless"),
        ("rw=trimwrite\nfdatasync=1", "fdatasync", "harmless"),
    ] {
        assert_eq!(class(options, name), expected, "{options}");
    }
    for (options, field) in [
        ("prioclass=0\nprio=3", "priority = \"best-effort/3\""),
        ("prioclass=0", "priority = \"best-effort/0\""),
        ("prioclass=1\nprio=3", "priority = \"realtime/3\""),
        ("rw=trimwrite\nrate_iops=300,100,50", "rate = 200"),
        ("rw=trim\nrate_iops=300,100,50", "rate = 50"),
    ] {
        let lines = fields(&format!("[a]\nrw=read\nsize=1m\n{options}"));
        assert!(lines.iter().any(|line| line == field), "{options}: {lines:?}");
    }
}

#[test]
fn jobs_that_run_together_are_told_where_they_have_one_value() {
    let classes = |options: &str| -> Vec<&str> {
        let text = format!("[global]\nrw=randwrite\nsize=1m\n[a]\n{options}\n");
        let import = import("a.fio", &text, Some(Dialect::Fio), &WORLD).expect("jobs");
        let names = ["invalidate", "buffer_compress_percentage", "loops"];
        let told = import.options.iter().filter(|told| names.contains(&told.name.as_str()));
        told.map(|told| told.class.word()).collect()
    };
    let part = "buffer_compress_percentage=50";
    assert_eq!(classes(&format!("{part}\n[b]\n{part}")), ["same", "same"]);
    assert_eq!(classes(&format!("{part}\n[b]\nbs=8k")), ["approximated"]);
    assert_eq!(classes(&format!("{part}\n[b]\nrw=randread")), ["same"]);
    assert_eq!(classes("invalidate=0\n[b]\ninvalidate=1"), ["same", "approximated"]);
    assert_eq!(classes("invalidate=1\n[b]\nbs=8k"), ["same"]);
    assert_eq!(classes("loops=3\nruntime=5\ntime_based"), ["harmless"], "the time ends it");
    assert_eq!(classes("loops=3"), ["approximated"]);
}

#[test]
fn a_job_takes_back_what_global_says() {
    let zoned = "filename=/dev/sdx\ndirect=1\nsize=8m\nzonesize=1m\nrw=randwrite\nzonemode=zbd";
    for (global, off, field) in [
        (zoned, "zonemode=none", "zones ="),
        ("rw=write\nsize=1m\nwritefua=1", "writefua=0", "dsync ="),
        ("rw=randwrite\nsize=1m\nsprandom=1", "sprandom=0", "until ="),
    ] {
        let has = |own: &str| {
            let lines = fields(&format!("{global}\n[a]\n{own}"));
            lines.iter().any(|line| line.starts_with(field))
        };
        assert!(has("bs=4k") && !has(off), "{off}");
    }
}

#[test]
fn odd_sizes_past_the_page_cache_are_refused_in_mixes_as_well() {
    for sizes in ["bs=520", "bssplit=520/50:1k/50", "bsrange=520-5200", "bs=4k\nbssplit=520"] {
        let text = format!("[a]\nrw=randread\nsize=1m\ndirect=1\n{sizes}\n");
        let import = import("a.fio", &text, Some(Dialect::Fio), &WORLD).expect("a job");
        assert_eq!(import.refused().count(), 1, "{sizes}");
        let buffered = text.replace("direct=1", "direct=0");
        let import = crate::import("a.fio", &buffered, Some(Dialect::Fio), &WORLD);
        assert_eq!(import.expect("a job").refused().count(), 0, "{sizes}");
    }
}

#[test]
fn files_are_as_many_and_as_large_as_fio_has_them() {
    for (options, expected) in [
        (
            "rw=read\nsize=10m\noffset=8m\nfilesize=10m",
            ["size = \"10MiB\"", "range = \"80%-100%\""],
        ),
        ("rw=read\nsize=1m\noffset=1m\nfilesize=4m", ["size = \"4MiB\"", "range = \"25%-50%\""]),
        (
            "rw=read\nsize=4m\noffset=512k\nfilename=/x/y:/x/z",
            ["size = \"2560KiB\"", "range = \"20%-100%\""],
        ),
        ("rw=read\nsize=4m\nnrfiles=4\nfilename=/x/y", ["files = 1", "size = \"4MiB\""]),
    ] {
        let lines = fields(&format!("[a]\n{options}"));
        assert!(expected.iter().all(|one| lines.iter().any(|line| line == one)), "{lines:?}");
    }
}

#[test]
fn bytes_and_shares_of_a_device_go_together() {
    for (options, expected) in [
        ("size=25%\noffset=64m", ["size = \"free\"", "range = \"64MiB+25%\""]),
        ("size=8m\noffset=25%", ["size = \"free\"", "range = \"25%+8MiB\""]),
        ("size=25%\n[b]\nrw=read\nsize=8m", ["size = \"free\"", "range = \"0%+8MiB\""]),
        ("size=25%\noffset=10%", ["size = \"free\"", "range = \"10%-35%\""]),
        ("offset=12k", ["size = \"free\"", "range = \"12KiB-100%\""]),
        ("rw=read:-8k\nsize=1m", ["size = \"1MiB\"", "backward = true"]),
        ("rw=read:-16k\nsize=1m", ["size = \"1MiB\"", "range = \"0%-98.8282%\""]),
        ("size=8m\noffset=4m", ["size = \"12MiB\"", "range = \"33.3333%-100%\""]),
    ] {
        let lines = fields(&format!("filename=/dev/sdx\nrw=read\n[a]\n{options}"));
        let has = |one: &&str| lines.iter().any(|line| line == one);
        assert!(expected.iter().all(has), "{options}: {lines:?}");
    }
}

#[test]
fn a_share_stays_where_bytes_are_given_behind_it() {
    let lines = fields("filename=/dev/sdx\nrw=read\nsize=50%\n[a]\nsize=2m");
    assert!(lines.iter().any(|line| line == "size = \"1MiB\""), "{lines:?}");
}

#[test]
fn what_k_counts_holds_for_the_whole_section() {
    for options in ["[a]\nbs=4k\nkb_base=1000", "bs=4k\nkb_base=1000\n[a]\nrw=read"] {
        let lines = fields(options);
        assert!(lines.iter().any(|line| line == "block_size = 4000"), "{options}: {lines:?}");
    }
}

#[test]
fn a_suite_is_not_taken_for_a_job_file() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    for entry in std::fs::read_dir(folder).expect("the suites") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        assert_eq!(crate::detect(&text), None, "{}", path.display());
    }
}

#[test]
fn of_an_included_file_nothing_but_names_of_options_is_shown() {
    let world = World {
        file: &|_| Ok("[b]\nsecret: hunter2\npassword=hunter2\nbs=hunter2\niodepth=4\n".to_owned()),
        variable: &|_| None,
    };
    let text = "[a]\nrw=read\nsize=1m\ninclude x.inc\n";
    let import = import("a.fio", text, Some(Dialect::Fio), &world).expect("a job");
    let shown = shown(&import);
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("x.inc:4") && shown.contains("iodepth="), "{shown}");
    let first = World { file: &|_| Ok("hunter2\n".to_owned()), variable: &|_| None };
    let error = crate::import("a.fio", "include x\n[a]\nrw=read\n", Some(Dialect::Fio), &first);
    let error = error.expect_err("no section").to_string();
    assert!(error.contains("x:1") && !error.contains("hunter2"), "{error}");
}

#[test]
fn a_variable_that_holds_a_text_is_refused_by_its_name() {
    let variable = |name: &str| {
        let value = if name == "SIZE" { "8k" } else { "hunter2" };
        Some(value.to_owned())
    };
    let world = World { variable: &variable, ..World::NOTHING };
    let text = "[${SECRET}]\nrw=read\nsize=1m\nbs=${SIZE}\nfilename=/tmp/${SECRET}\n";
    for (dialect, text) in [
        (Dialect::Fio, text),
        (Dialect::Vdbench, "sd=$x,lun=$x,size=$SIZE\nwd=w,sd=$x\nrd=r,wd=w,elapsed=5\n"),
    ] {
        let import = import("a", text, Some(dialect), &world).expect("a job");
        let shown = shown(&import);
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(import.refused().count() > 0 && shown.contains("8"), "{shown}");
    }
}
