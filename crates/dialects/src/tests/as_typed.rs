//! Lines as people type, paste and mail them, each with what its tool makes of it.

use super::common::{losses_and_suites, planned};
use crate::{World, import, import_command};

fn told(line: &str) -> String {
    let import = import_command(line, None, &World::NOTHING).expect(line);
    assert_eq!(import.refused().count(), 0, "{line}: {}", losses_and_suites(&import));
    planned(&import.suites[0].text).unwrap_or_else(|why| panic!("{line}: {why}"));
    losses_and_suites(&import)
}

#[test]
fn what_a_line_says_stands_in_its_suite() {
    for (line, expected) in [
        ("fio --name=a --rw=randread --size=1m --direct 1", &["direct = true"][..]),
        ("fio --name=a --rw=randread --size=1m --direct 0", &["direct = false"]),
        ("diskspd -c100b t.dat", &["size = \"6400KiB\""]),
        ("diskspd -c100b -b4K t.dat", &["size = \"400KiB\""]),
        ("diskspd -b4K -c100b t.dat", &["size = \"400KiB\""]),
        ("diskspd -c1G -b8K -B16b t.dat", &["block_size = \"8KiB\"", "range = "]),
        ("mdtest -I 10 -z 5 -b 2 -L -F -u -d /x", &["files = 320 ", "unique = true"]),
        ("mdtest -I 10 -z 1 -b 2 -L -F -d /x", &["files = 20 "]),
        ("mdtest -I 10 -z 1 -b 2 -F -d /x", &["files = 30 "]),
        (
            "mdtest -v -d D -i 1 -b 128 -z 1 -L -I 1024 -y -u -t -F -w 4K -e 4K",
            &["files = 131072 ", "-t", "approximated"],
        ),
        ("elbencho -s 1G -w /x/file[1-10]", &["files = 10"]),
        ("elbencho -s 1G -w /dev/nvme[0-1,3]n1", &["/dev/nvme0n1", "/dev/nvme3n1"]),
        (
            r#".\Start-Workload.ps1 -DiskSpdpath "C:\a b\diskspd.exe" -B 128K -o 32 -w 100"#,
            &["block_size = \"128KiB\"", "depth = 32", "measure = \"60s\"", "workers = \"cpus\""],
        ),
        (r".\Start-Workload.ps1 -b 4K -t 4 -r", &["workers = 4", "depth = 2", "\"random\""]),
    ] {
        let text = told(line);
        for part in expected {
            assert!(text.contains(part), "{line}: no `{part}` in\n{text}");
        }
    }
}

#[test]
fn a_dash_of_a_word_processor_is_named_in_every_dialect() {
    for line in [
        "diskspd –b8K –d30 t.dat",
        "fio —name=a —rw=read",
        "fio --name=a -–rw=read",
        "mdtest −n 10",
        "ior ‐w",
        "elbencho –w /x",
        "iozone ‑a",
    ] {
        let problem = import_command(line, None, &World::NOTHING).expect_err(line).to_string();
        assert!(problem.contains("U+2") && problem.contains("write `-"), "{problem}");
    }
}

#[test]
fn ranges_that_are_none_are_refused() {
    let deep = format!("/x/a{}", "[1]".repeat(100_000));
    let none = ["/x/a[1-", "/x/a[3-1]", "/x/a[x-y]", "/x/a[0-99999]", "/x/a[0-99]b[0-99]", &deep];
    for path in none {
        let line = format!("elbencho -s 1G -w {path}");
        let import = import_command(&line, None, &World::NOTHING);
        assert!(import.is_err() || import.is_ok_and(|told| told.refused().count() > 0), "{line}");
    }
}

#[test]
fn the_slower_of_rate_and_rests_says_when_requests_are_due() {
    for (options, has, has_not) in [
        ("rate_iops=60\nthinktime=2s\nthinktime_blocks=30", "burst = 30", "rate = "),
        ("rate_iops=10\nthinktime=2s\nthinktime_blocks=30", "rate = 10", "burst = "),
        ("rate_iops=300\nbssplit=4k/60:16k/40", "rate = \"1228800B/s\"", "think = "),
        ("rate=4m\nthinktime=500ms\nthinktime_blocks=8", "think = \"500ms\"", "rate = "),
    ] {
        let text =
            format!("[a]\ndirectory=/x\nrw=randread\nbs=64k\nsize=128m\nruntime=8\n{options}\n");
        let import = import("a.fio", &text, None, &World::NOTHING).expect("a job");
        let suite = &import.suites[0].text;
        assert!(suite.contains(has) && !suite.contains(has_not), "{options}: {suite}");
    }
}

#[test]
fn a_share_of_an_offset_stays_where_bytes_come_behind_it() {
    let of = |global: &str, own: &str| {
        let text = format!("[global]\nfilename=/dev/x\nsize=4m\n{global}\n[a]\nrw=read\n{own}\n");
        import("a.fio", &text, None, &World::NOTHING).expect("a job")
    };
    let (kept, other) = (of("offset=10%", "offset=16m"), of("offset=16m", "offset=10%"));
    for one in [&kept, &other] {
        let text = &one.suites[0].text;
        assert!(text.contains("range = \"10%+4MiB\""), "{text}");
    }
    assert!(kept.options.iter().any(|one| one.why.contains("keeps the share")));
    assert!(!other.options.iter().any(|one| one.why.contains("keeps the share")));
}

#[test]
fn places_of_fio_that_have_no_room_are_said() {
    // As fio 3.33 ends after a few requests, or does not.
    for (options, ends) in [
        ("rw=randrw\nbs=4k,16k", true),
        ("rw=randread\nbs=16k,4k", true),
        ("rw=randread\nbs=4k\nblockalign=16k", true),
        ("rw=randread\nbs=16k", false),
        ("rw=randread\nbsrange=8k-16k", false),
        ("rw=randwrite\nbssplit=8k/50:16k/50", false),
        ("rw=randwrite\nbssplit=,8k/50:16k/50", true),
        ("rw=randrw\nbssplit=4k/50:16k/50,4k/50:8k/50", false),
    ] {
        let law = "random_distribution=zipf:1.1";
        let text = format!("[a]\ndirectory=/x\nsize=16m\n{law}\n{options}\n");
        let import = import("a.fio", &text, None, &World::NOTHING).expect("a job");
        let said = import.options.iter().any(|one| one.why.contains("beyond the end"));
        assert_eq!(said, ends, "{options}: {:?}", import.options);
    }
}

#[test]
fn what_an_engine_maps_goes_through_the_page_cache_and_all_losses_are_said() {
    let text = "[a]\ndirectory=/x\nsize=16m\ndirect=1\nrw=randrw\nfsync=1\n";
    let of = |engine: &str| {
        let text = format!("{text}ioengine={engine}\n");
        import("a.fio", &text, None, &World::NOTHING).expect("a job")
    };
    for (engine, direct) in [("mmap", false), ("psync", true), ("sg", true)] {
        let suite = &of(engine).suites[0].text;
        assert!(suite.contains(&format!("direct = {direct} ")), "{engine}: {suite}");
    }
    let said = of("psync").options.into_iter().find(|one| one.name == "fsync").expect("fsync");
    assert!(said.why.contains("`fdatasync`") && said.why.contains("again after"), "{}", said.why);
}

#[test]
fn bytes_that_are_no_whole_blocks_are_said_and_files_with_strides_take_turns() {
    let of = |options: &str| {
        let text = format!("[a]\ndirectory=/x\nnrfiles=4\nbs=32k\n{options}\n");
        import("a.fio", &text, None, &World::NOTHING).expect("a job")
    };
    for (options, said) in [
        ("rw=randread\nsize=3000k\nnorandommap", true),
        ("rw=randread\nsize=3000k", false),
        ("rw=randread\nsize=3200k\nnorandommap", false),
        ("rw=randread\nsize=3000k\nnorandommap\ntime_based\nruntime=1", false),
    ] {
        let more = of(options).options.iter().any(|one| one.why.contains("one request more"));
        assert_eq!(more, said, "{options}");
    }
    let suite = &of("rw=write:32k\nsize=4m").suites[0].text;
    assert!(suite.contains("streams = 4") && suite.contains("stride = \"64KiB\""), "{suite}");
}

#[test]
fn a_curve_of_vdbench_is_a_sweep_of_shares() {
    let run = "sd=sd1,lun=/dev/sdx\nwd=w1,sd=sd1,xfersize=4k,rdpct=100\n";
    let of = |text: &str| import("a.parm", text, None, &World::NOTHING).expect("a job");
    let one = of(&format!("{run}rd=r,wd=w1,iorate=curve,elapsed=10,interval=1\n"));
    let suite = &one.suites[0].text;
    assert!(suite.contains(r#"rate = ["10%", "50%", "70%", "80%", "90%", "100%"]"#), "{suite}");
    planned(suite).expect("a plan");
    let more = "sd=sd1,xfersize=8k,rdpct=0\nrd=r,wd=w*,iorate=curve,elapsed=10,interval=1\n";
    // Of two workloads, each has the share of what it carried; a ratio stays one.
    let skewed = format!("{run}wd=w3,skew=30,{more}").replace("rdpct=100", "rdpct=100,skew=70");
    for text in [format!("{run}wd=w2,{more}"), skewed] {
        let both = of(&text);
        let suite = &both.suites[0].text;
        let bound = text.contains("skew");
        assert!(suite.contains(r#"rate = ["10%", "50%""#), "{suite}");
        assert_eq!((suite.matches("share = ").count() == 2, both.suites.len()), (bound, 1));
        assert_eq!(planned(suite).expect("a plan").rate_shares.shares.len(), 6);
    }
    let own = format!("wd=w2,iorate=50,{more}");
    let end = "seekpct=eof\nrd=r,wd=w1,iorate=curve,elapsed=10,interval=1\n";
    let runs = "rd=r,wd=w1,iorate=max,elapsed=5\nrd=q,wd=w1,iorate=curve,forthreads=(1-64,d)\n";
    for rest in [own.as_str(), runs, end] {
        let both = of(&format!("{run}{rest}").replace("100\nseek", "100,seek"));
        let said = both.options.iter().find(|one| one.why.contains("the maximum alone"));
        assert!(said.is_some(), "{:?}", both.options);
        assert!(!both.suites[0].text.contains("10%"), "{}", both.suites[0].text);
        planned(&both.suites[0].text).expect("a plan");
        assert_eq!(both.suites.len(), 1);
    }
}
