//! Configurations of IO500 with the suites and reports of losses that they become.

use super::common::{losses_and_suites, planned};
use crate::{Class, Dialect, Import, World, detect, import};
use proptest::prelude::*;

const CONFIG: &str = "\
# a comment
[global]
datadir = /scratch/io500
timestamp-datadir = TRUE
api = POSIX
drop-caches = TRUE
drop-caches-cmd = sudo -n bash -c \"echo 3 > /proc/sys/vm/drop_caches\"
verbosity = 1
dataPacketType = timestamp

[debug]
stonewall-time = 60 # for testing
pause-dir =

[ior-easy]
API = POSIX --posix.odirect
transferSize = 1m
blockSize = 64g
filePerProc = TRUE

[mdtest-easy]
n = 20000

[mdtest-easy-delete]
run = FALSE

[ior-hard]
segmentCount = 10000000

[mdtest-hard]
n = 5000

[find]
nproc = 4

[ior-rnd4K]
blockSize = 1073741824
";

fn imported(text: &str) -> Import {
    import("io500.ini", text, None, &World::NOTHING).expect("a configuration")
}

#[test]
fn a_configuration_becomes_a_suite() {
    let import = imported(CONFIG);
    assert_eq!(import.refused().count(), 0, "{}", losses_and_suites(&import));
    planned(&import.suites[0].text).expect("a plan");
    insta::assert_snapshot!("io500_config", losses_and_suites(&import));
}

#[test]
fn io500_is_known_by_its_sections_and_fio_by_its_own() {
    assert_eq!(detect(CONFIG), Some(Dialect::Io500));
    assert_eq!(detect("[global]\ndatadir = /x\n"), Some(Dialect::Io500));
    assert_eq!(detect("[global]\nrw=read\n[a]\nbs=4k\n"), Some(Dialect::Fio));
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let told = |text: &str, name: &str| {
        let import = imported(text);
        let told = import.options.into_iter().find(|told| told.name == name);
        told.unwrap_or_else(|| panic!("{name} of {text}"))
    };
    assert!(told("[ior-easy]\nAPI = DFS --dfs.pool=x\n", "API").why.contains("DFS"));
    let library = told("[ior-easy]\nAPI = DFS --dfs.pool=x\n", "API");
    assert_eq!(library.class, Class::Approximated);
    assert_eq!(told("[ior-easy]\nAPI = S3\n", "API").class, Class::Refused);
    assert_eq!(told("[ior-hard]\ncollective = TRUE\n", "collective").class, Class::Approximated);
    assert_eq!(told("[ior-hard]\ncollective = FALSE\n", "collective").class, Class::Harmless);
    assert!(told("[ior-easy]\ntransferSiez = 1m\n", "transferSiez").why.contains("transferSize"));
    assert!(told("[ior-easy]\n[surprise]\nx = 1\n", "x").why.contains("surprise"));
    assert!(import("a.ini", "[ior-easy]\nrun\n", None, &World::NOTHING).is_err(), "no value");
}

#[test]
fn an_option_holds_where_it_is_or_the_report_says_so() {
    // A file; its option; what becomes of it; and whether the first group is direct.
    let (near, refused) = (Class::Approximated, Class::Refused);
    let odirect = "API = POSIX --posix.odirect";
    let all = [
        ("[ior-easy-write]\ntransferSize = 1m", "transferSize", refused, false),
        ("[ior-easy-write]\nfilePerProc = FALSE", "filePerProc", refused, false),
        (&format!("[ior-hard]\n{odirect}"), "API", near, false),
        ("[ior-hard]\ntransferSize = 1m", "transferSize", refused, false),
        ("[ior-hard]\nfilePerProc = TRUE", "filePerProc", refused, false),
        ("[ior-easy-read]\nodirect = TRUE\n[ior-easy-write]\nrun = TRUE", "odirect", near, true),
        (&format!("[find]\nnproc = 1\n[global]\n{odirect}"), "API", near, true),
        (&format!("[ior-easy]\nAPI = POSIX\n[global]\n{odirect}"), "API", Class::Same, false),
        ("[mdtest-easy-write]\nfiles-per-dir = 7", "files-per-dir", refused, false),
    ];
    for (text, name, class, is_direct) in all {
        let import = imported(text);
        let shown = losses_and_suites(&import);
        let told = import.options.iter().find(|told| told.name == name).expect("an option");
        assert_eq!(told.class, class, "{shown}");
        let suite = &import.suites[0].text;
        assert_eq!(suite.contains("direct = true "), is_direct, "{shown}");
        assert!(!suite.contains(" transferSize=") && !suite.contains(" filePerProc="), "{shown}");
    }
}

const LINES: [&str; 20] = [
    "[global]",
    "[ior-easy]",
    "[ior-hard]",
    "[mdtest-easy]",
    "[mdtest-hard]",
    "[find]",
    "[ior-easy-read]",
    "run = FALSE",
    "run = TRUE",
    "API = POSIX --posix.odirect",
    "n = 0",
    "n = 99999999999",
    "transferSize = 47008",
    "transferSize = 0",
    "blockSize = 1",
    "blockSize = 99000000m",
    "segmentCount = 0",
    "filePerProc = FALSE",
    "files-per-dir = 7",
    "datadir = /x",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn configurations_of_any_lines_are_planned_or_refused(
        numbers in prop::collection::vec(0..LINES.len(), 0..16),
    ) {
        let lines: Vec<&str> = numbers.iter().map(|number| LINES[*number]).collect();
        let text = format!("[ior-easy]\nverbosity = 1\n{}", lines.join("\n"));
        let import = import("a.ini", &text, Some(Dialect::Io500), &World::NOTHING);
        let Ok(import) = import else { return Ok(()) };
        if import.refused().next().is_none()
            && let Err(why) = planned(&import.suites[0].text)
        {
            // IOR itself fails there, too.
            prop_assert!(
                why.contains("one block") || why.contains("direct I/O needs"),
                "{text}: {why}\n{}",
                import.suites[0].text
            );
        }
    }
}
