//! Options that a suite does not meet, or not as they stand: none of them is `same`.

use super::common::planned;
use super::diskspd_profiles::profile;
use crate::Class::{self, Approximated as Near, Harmless, Refused, Same};
use crate::{Import, World, import, import_command};

/// A job, an option of it, its class, and what the suite holds (behind `!`: does not hold).
type Case = (&'static str, &'static str, Class, &'static str);

const OF_LIMITS: [Case; 16] = [
    ("ior -t 256", "-t", Near, "block_size = 512"),
    ("ior -s 100000", "-s", Near, "segments = 65536"),
    ("ior -i 5000", "-i", Near, "repetitions = 1000"),
    ("mpirun -np 70000 ior", "-np", Near, "workers = 65536"),
    ("mdtest -n 4 -i 5000", "-i", Near, "repetitions = 1000"),
    ("mdtest -n 42 -z 20", "-z", Near, "depth = 16"),
    ("elbencho -w -b 100 -s 1g /x/f", "-b", Near, "block_size = 512"),
    ("elbencho -w --iodepth 10000 -s 1g /x/f", "--iodepth", Near, "depth = 4096"),
    ("elbencho -w --rand -N 100000 -s 1g /x/", "-N", Near, "files = 65536"),
    ("elbencho -w --rand -n 300 -N 300 -s 1g /x/", "-N", Near, "files = 65536"),
    ("iozone -t 100000 -i 0", "-t", Near, "workers = 65536"),
    ("iozone -a -s 64k", "-s", Near, "size = \"1MiB\""),
    ("diskspd -o10000 a", "-o", Near, "depth = 4096"),
    ("diskspd -d0 a", "-d", Near, "measure = \"1s\""),
    ("diskspd -g2000000000i a", "-g", Refused, "!rate ="),
    ("diskspd -r4G a", "-r", Near, "align = \"1GiB\""),
];

const OF_LINES: [Case; 36] = [
    ("mpirun -np 16 ior -N 4", "-N", Same, "workers = 4"),
    ("mpirun -np 16 ior -N 4", "-np", Harmless, "workers = 4"),
    ("mpirun -np 4 ior -N 16", "-N", Harmless, "workers = 4"),
    ("ior -w -G 7", "-G", Near, "!seed"),
    ("ior -X -5", "-X", Near, "!seed"),
    ("ior -X 4 -X 5", "-X", Near, "seed = 5"),
    ("ior -t 1m -b 1500k", "-b", Refused, ""),
    ("ior -t 47008", "-t", Refused, ""),
    ("ior -b 0", "-b", Refused, ""),
    ("ior -t 1m -b 16m", "-b", Same, "size = \"16MiB\""),
    ("mdtest -n 1 -D -T", "-T", Refused, "[\"mkdir\"]"),
    ("mdtest -n 1 -D -E", "-E", Refused, ""),
    ("mdtest -n 1 -D", "-D", Near, "[\"mkdir\", \"rmdir\"]"),
    ("mdtest -n 1 -T", "-T", Near, ""),
    ("mdtest -n 1", "-n", Near, ""),
    ("mdtest -n 1 -F -T", "-T", Near, "[\"create\", \"stat\"]"),
    ("mdtest -n 4 -I 2", "-n", Refused, ""),
    ("mdtest -n 1 -F --random-seed=5", "--random-seed", Near, "seed = 5"),
    ("elbencho -w --infloop -s 1g /x/f", "--infloop", Refused, ""),
    ("elbencho -w --infloop --timelimit 0 -s 1g /x/f", "--infloop", Refused, "!measure ="),
    ("elbencho -w --infloop --timelimit 9 -s 1g /x/f", "--infloop", Same, "measure = \"9s\""),
    ("elbencho -r --rwmixpct 30 -s 1g /x/f", "--rwmixpct", Harmless, "!--rwmixpct"),
    ("elbencho -w --rwmixpct 30 -s 1g /x/f", "--rwmixpct", Same, "read = \"30%\""),
    ("elbencho -w --direct --dirsharing -s 4k /x/", "--dirsharing", Near, "!unique"),
    ("elbencho -w --stat --dirsharing -s 4k /x/", "--dirsharing", Same, "unique = false"),
    ("iozone -+r -i 1", "-+r", Near, ""),
    ("iozone -r 64k -s 4k", "-r", Refused, ""),
    ("iozone -i 0 -s 2k", "-s", Refused, ""),
    ("diskspd -Sh -Sb a", "-Sb", Refused, ""),
    ("diskspd -Sw -Sb a", "-Sb", Same, "direct = false"),
    ("diskspd -t2 -O4 a", "-O", Refused, "depth = 2"),
    ("diskspd -F2 -O4 a", "-O", Same, "depth = 4"),
    ("diskspd -F2 -o8 -O4 a", "-o", Harmless, "depth = 4"),
    ("diskspd -F2 -t4 a", "-t", Refused, ""),
    ("diskspd -rdpct90/10 a", "-rd", Refused, ""),
    ("diskspd -r -rdpct90/10 a", "-rd", Same, "hot_spots"),
];

fn holds(import: &Import, job: &str, name: &str, class: Class, held: &str) {
    let told = import.options.iter().find(|told| told.name == name);
    let told = told.unwrap_or_else(|| panic!("{name} of {job}"));
    assert_eq!(told.class, class, "{job}: {told:?}");
    let suite = &import.suites[0].text;
    let is_met = match held.strip_prefix('!') {
        Some(held) => !suite.contains(held),
        None => suite.contains(held),
    };
    assert!(is_met, "{job}: {held}\n{suite}");
}

#[test]
fn what_a_suite_does_not_mean_is_never_the_same() {
    for case in OF_LIMITS.into_iter().chain(OF_LINES) {
        let import = import_command(case.0, None, &World::NOTHING).expect(case.0);
        holds(&import, case.0, case.1, case.2, case.3);
        // A plan of 65,536 workers takes its time.
        if import.refused().next().is_none() && !case.3.contains("65536") {
            planned(&import.suites[0].text).unwrap_or_else(|why| panic!("{}: {why}", case.0));
        }
    }
}

#[test]
fn what_one_target_of_a_profile_says_alone_is_near() {
    let zero = "<WriteBufferContent><Pattern>zero</Pattern></WriteBufferContent>";
    let requests = "<RequestCount>8</RequestCount><ThreadCount>1</ThreadCount>";
    for (span, first, both, case) in [
        ("", "<DisableOSCache>true</DisableOSCache>", "", ("DisableOSCache", Near, "= true")),
        ("", "", "<DisableOSCache>true</DisableOSCache>", ("DisableOSCache", Same, "= true")),
        ("", zero, "", ("WriteBufferContent", Near, "compressible")),
        (requests, "", "", ("RequestCount", Near, "depth = 4")),
        (requests, "", "<ThreadsPerFile>3</ThreadsPerFile>", ("ThreadsPerFile", Harmless, "= 4")),
        ("<RequestCount>0</RequestCount>", "", "", ("RequestCount", Same, "depth = 2")),
        ("<RequestCount>8</RequestCount>", "", "", ("RequestCount", Refused, "depth = 2")),
    ] {
        let own = |path: &str, more: &str| format!("<Path>/x/{path}</Path>{both}{more}");
        let text = profile(span, &[&own("a", first), &own("b", "")]);
        let import = import("a.xml", &text, None, &World::NOTHING).expect("a profile");
        holds(&import, "a profile", case.0, case.1, case.2);
    }
}
