//! Suites, from their text to what they say.

use super::*;
use form::{Auto, Depth, Override, SpecErrors};
use model::choices::Access;
use model::units::{Bytes, Nanos};

const SMALL: &str = r#"
name = "small"
[layout]
size = "1GiB"
[[workload]]
name = "a"
depth = 4
[[workload]]
name = "b"
read = "70%"
access = "sequential"
"#;

fn parse(text: &str, sets: &[&str]) -> Result<Spec, SpecErrors> {
    let overrides: Vec<Override> = sets.iter().map(|set| set.parse().expect("has an =")).collect();
    Spec::parse("test.toml", text, &overrides)
}

fn messages(text: &str, sets: &[&str]) -> Vec<String> {
    match parse(text, sets) {
        Ok(_) => Vec::new(),
        Err(errors) => errors
            .problems
            .iter()
            .map(|problem| {
                let place = errors.sources.place(&problem.span);
                let (line, column) = place.line_and_column();
                format!("{}:{line}:{column} {} | {}", place.name, problem.message, problem.remedy)
            })
            .collect(),
    }
}

/// What is wrong with a suite.
pub(crate) fn complaints(text: &str) -> Vec<String> {
    let errors = Spec::parse("t", text, &[]).err();
    errors.map_or_else(Vec::new, |errors| {
        errors.problems.into_iter().map(|problem| problem.message).collect()
    })
}

#[test]
fn steadiness_wants_rounds_and_a_greatest_time_that_is_one() {
    let complaints = |stages: &str| {
        complaints(&format!("name = \"t\"\n[stages]\n{stages}\n[[workload]]\nname = \"w\"\n"))
    };
    let steady = "until = \"steady\"";
    for good in [
        "measure = \"20s\"",
        "measure = \"20s\"\nmeasure_max = \"20s\"",
        "interval = \"10ms\"\nmeasure = \"200ms\"",
    ] {
        assert_eq!(complaints(&format!("{steady}\n{good}")), [""; 0], "{good}");
    }
    for (stages, word) in [
        ("measure_max = \"1h\"", "means nothing"),
        ("until = \"steady\"\nmeasure = \"19s\"", "no five rounds"),
        ("until = \"steady\"\nmeasure_max = \"30s\"", "less than the least"),
        ("until = \"steady\"\namount = \"all\"", "steady or not"),
    ] {
        let told = complaints(stages);
        assert!(told.len() == 1 && told[0].contains(word), "{stages}: {told:?}");
    }
}

#[test]
fn defaults_stand_where_nothing_is_given() {
    let spec = parse(SMALL, &[]).expect("a good suite");
    assert_eq!(spec.suite.seed.value, 1);
    assert_eq!(spec.first_scenario().layout.files.value, Auto::Auto);
    assert_eq!(spec.first_scenario().layout.size.value, Auto::Fixed(Bytes::gib(1)));
    assert_eq!(spec.first_scenario().points.len(), 2);
    assert_eq!(spec.first_scenario().points[0].workloads[0].depth.value, Depth(4));
    assert_eq!(spec.first_scenario().points[1].workloads[0].depth.value, Depth(32));
    assert_eq!(spec.first_scenario().points[1].workloads[0].access.value, Access::Sequential);
}

#[test]
fn set_reaches_every_field_by_its_short_or_long_name() {
    let sets = [
        "measure=5s", "layout.size=2GiB", "workload.b.depth=7", "block_size=8k", "seed=9",
        "sweep.workers=[1,2]",
    ];
    let spec = parse(SMALL, &sets).expect("good overrides");
    assert_eq!(spec.first_scenario().stages.measure.value, Nanos::seconds(5));
    assert_eq!(spec.first_scenario().layout.size.value, Auto::Fixed(Bytes::gib(2)));
    assert_eq!(spec.suite.seed.value, 9);
    let depths: Vec<u32> =
        spec.first_scenario().points.iter().map(|point| point.workloads[0].depth.value.0).collect();
    assert_eq!(depths, [4, 4, 7, 7]);
    assert!(!spec.first_scenario().points.is_empty());
    assert!(
        spec.first_scenario().points.iter().all(|point| point.workloads[0].block_size.value
            == model::load::SizeMix::single(Bytes::kib(8)))
    );
}

#[test]
fn a_wrong_set_is_pointed_at_like_a_line_of_the_file() {
    assert_eq!(
        messages(SMALL, &["dept=4", "depth=none"]),
        [
            "--set:1:1 `dept` names no field of this suite | did you mean `depth`?",
            "--set:1:7 depth: expected a whole number, found a text | write a whole number of at \
             least 1, without quotes",
        ]
    );
}

#[test]
fn a_set_that_the_sweep_would_overrule_is_refused() {
    let text = format!("{SMALL}\n[sweep]\ndepth = [1, 2]\n");
    let told = |set: &str| messages(&text, &[set]);
    let expected = "`depth` is an axis of the sweep, which has values of its own for each point | \
                    write `--set sweep.depth=[8]` for this one value";
    assert_eq!(told("depth=8"), [format!("--set:1:1 {expected}")]);
    assert_eq!(told("workload.b.depth=8"), [format!("--set:1:1 {expected}")]);
    assert!(parse(&text, &["sweep.depth=[8]", "block_size=8k", "layout.size=2GiB"]).is_ok());
    assert!(parse(&text, &["sweep.repetitions=2"]).is_ok());
}

#[test]
fn sweeps_multiply_and_the_last_axis_is_fastest() {
    let text =
        format!("{SMALL}\n[sweep]\ndepth = [1, 2]\nblock_size = [\"4k\", \"8k\", \"16k\"]\n");
    let spec = parse(&text, &[]).expect("a good sweep");
    assert_eq!(spec.first_scenario().points.len(), 12);
    let labels: Vec<String> = spec.first_scenario().points[..4]
        .iter()
        .map(|point| format!("{}/{}", point.sweep[0].label(), point.sweep[1].label()))
        .collect();
    assert_eq!(labels, ["1/4k", "1/8k", "1/16k", "2/4k"]);
}

#[test]
fn mistakes_come_all_at_once_with_place_and_remedy() {
    let text = "name = \"x\"\n[layout]\nsise = \"1GiB\"\n[stages]\nmeasure = \"5 \
                parsecs\"\n[[workload]]\ndepth = 0\naccess = \"randm\"\n[sweep]\nbogus = [1]\n";
    assert_eq!(
        messages(text, &[]),
        [
            "test.toml:3:1 `sise` is not a known field | did you mean `size`?",
            "test.toml:5:11 measure: `parsecs` is not a unit of time | write a duration such as \
             500ms, 60s, 30m or 1h",
            "test.toml:6:1 `name` is missing | add `name = …` (text)",
            "test.toml:7:9 depth: 0 is out of range | write a depth from 1 to 4096",
            "test.toml:8:10 access: `randm` is not one of sequential, random, permutation, zipf, \
             pareto, hot-spot | did you mean \"random\"?",
            "test.toml:10:1 `bogus` is not an axis | an axis is a field of a workload, or files \
             or size: share, kind, operations, fill, append, file_order, other, fsync, close, \
             block_size, write_block_size, trim, trim_as, read, access, random, skew, \
             hot_spots, align, stride, run, backward, sharing, segments, streams, range, depth, \
             workers, spread, hosts, targets, rotate, rate, rate_of, arrivals, think, burst, \
             fsync_every, dsync, priority, sequence, sequence_advances, zones, zone_size, \
             open_zones, worker_open_zones, zone_reset_threshold, zone_reset_frequency, \
             unwritten_reads, \
             files, size",
        ]
    );
}

#[test]
fn twins_and_empty_suites_are_refused() {
    let twins = SMALL.replace("name = \"b\"", "name = \"a\"");
    assert_eq!(
        messages(&twins, &[]),
        ["test.toml:9:8 a second workload is called `a` | give each workload a name of its own"]
    );
    assert_eq!(
        messages("name = \"x\"\n", &[]),
        ["test.toml:1:1 the suite has no workload | add a `[[workload]]` with a name"]
    );
}

#[test]
fn an_exploding_sweep_is_refused_before_it_is_built() {
    let axis = format!("[{}]", (1..=200).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let text = format!("{SMALL}\n[sweep]\ndepth = {axis}\nworkers = {axis}\n");
    assert!(messages(&text, &[])[0].contains("more than 10000 points"));
}

proptest::proptest! {
    #[test]
    fn hostile_text_never_panics(text in "\\PC*", set in "[a-z.]{1,12}=\\PC{0,12}") {
        let set: Vec<Override> = set.parse().into_iter().collect();
        let _ = Spec::parse("fuzz", &text, &set);
    }

    #[test]
    fn near_suites_never_panic(
        key in "(name|layout|stages|workload|sweep|engine|depth|size)",
        value in "(\\[\\]|\
            \\[\\[\\]\\]|\\{\\}|1|-1|1e999|\"\"|\"auto\"|true|99999999999999999999|1979-05-27)",
    ) {
        let _ = Spec::parse("fuzz", &format!("{key} = {value}\n{SMALL}"), &[]);
        let _ = Spec::parse("fuzz", &format!("{SMALL}\n{key} = {value}\n"), &[]);
    }
}

#[test]
fn every_field_of_every_section_can_be_set() {
    for (section, keys) in sections::SECTIONS {
        for key in keys {
            // The value may be wrong for the field; that the field is found is what counts.
            let told = messages(SMALL, &[&format!("{section}.{key}=\"?\"")]);
            assert!(
                told.iter().all(|line| !line.contains("names no field")),
                "{section}.{key}: {told:?}"
            );
        }
    }
}

#[test]
fn axes_are_lists_ranges_or_both() {
    let text = format!(
        "{SMALL}\n[sweep]\nblock_size = [\"512\", \"4KiB..16KiB x2\"]\ndepth = \"1..7 +3\"\n"
    );
    let spec = parse(&text, &[]).expect("a good sweep");
    let labels: Vec<String> = spec.first_scenario().points[..12]
        .iter()
        .map(|point| format!("{}/{}", point.sweep[0].label(), point.sweep[1].label()))
        .collect();
    assert_eq!(labels[..4], ["512/1", "512/4", "512/7", "4KiB/1"]);
    assert_eq!((labels[11].as_str(), spec.first_scenario().points.len()), ("16KiB/7", 24));
    assert_eq!(spec.first_scenario().points[11].workloads[0].depth.value, Depth(7));
    assert!(messages(&text, &["sweep.repetitions=500"])[0].contains("more than 10000 points"));
    assert_eq!(
        messages(&text, &["sweep.depth=1..9", "sweep.repetition=2"]),
        [
            "--set:1:13 `1..9` is no range | write a range such as \"1..1024 x2\" (each twice the \
             one before) or \"1..10 +3\" (each 3 more)",
            "--set:1:1 `repetition` is not an axis | did you mean `repetitions`?",
        ]
    );
}

#[test]
fn arithmetic_without_names_is_a_literal() {
    let spec =
        parse(SMALL, &["size=2 * 1GiB + 512", "prepare_block=2 * 64KiB", "depth=2 * workers"])
            .expect("good");
    assert_eq!(spec.first_scenario().layout.size.value, Auto::Fixed(Bytes((2 << 30) + 512)));
    assert_eq!(
        (
            spec.first_scenario().stages.prepare_block.value,
            &spec.first_scenario().layout.size.formula
        ),
        (Auto::Fixed(Bytes::kib(128)), &None)
    );
    assert!(spec.first_scenario().points[0].workloads[0].depth.formula.is_some());
}

#[test]
fn a_backend_without_trims_is_refused_with_them_and_taken_without() {
    let told = messages(SMALL, &["trim=5%", "backend=libaio"]);
    assert!(told[0].contains("trims, and libaio has no request for that"), "{told:?}");
    assert_eq!(messages(SMALL, &["trim=0%", "backend=libaio"]), [""; 0]);
    assert_eq!(messages(SMALL, &["trim=5%", "backend=sync", "priority=idle"]), [""; 0]);
}

#[test]
fn only_a_ring_is_polled() {
    let told = messages(SMALL, &["poll=completions", "backend=sync"]);
    assert!(
        told[0].contains("poll = \"completions\" belongs to io_uring, and the backend is sync"),
        "{told:?}"
    );
    for backend in ["io_uring", "auto"] {
        assert_eq!(messages(SMALL, &["poll=submissions", &format!("backend={backend}")]), [""; 0]);
    }
}

#[test]
fn a_rate_of_each_worker_wants_a_rate() {
    let with = |sets: &[&str]| messages("name = \"s\"\n[[workload]]\nname = \"w\"\n", sets);
    assert!(with(&["rate_of=worker"])[0].contains("no rate that each worker could have"));
    assert_eq!(with(&["rate_of=worker", "rate=100"]), Vec::<String>::new());
    assert!(with(&["rate_of=host", "rate=100"])[0].contains("not one of all, worker"));
}

#[test]
fn machines_that_no_provider_makes_are_refused_with_their_place() {
    let said = messages(SMALL, &["vms.count=65", "vms.disks=17", "vms.memory=100MiB"]);
    assert_eq!(said.len(), 3, "{said:?}");
    for (set, words) in [
        ("vms.name=Web-1", "cannot be the name of machines"),
        ("vms.name=a-", "cannot be the name of machines"),
        ("vms.disk_size=100KiB", "write whole MiB, at least 16MiB"),
        ("vms.memory=300000001", "write whole MiB, at least 128MiB"),
        ("vms.boot=2h", "write 1s to 1h"),
        ("vms.pool=-x", "write a path that begins with `/`"),
        ("vms.connect=here", "no address of a provider"),
        ("vms.nodes=a[", "a["),
        ("vms.place=a", "`a` places no machines"),
        ("vms.launcher=x {host}", "or there are no nodes"),
        ("vms.bus=ide", "virtio-blk"),
    ] {
        let said = messages(SMALL, &[set]);
        assert!(said.len() == 1 && said[0].contains(words), "{set}: {said:?}");
    }
    let spec = parse(SMALL, &["vms.count=2", "vms.bus=nvme"]).expect("good");
    assert_eq!((spec.vms.count.value.0, spec.vms.disks.value.0), (2, 1));
}

#[test]
fn given_places_are_those_of_random_requests_of_one_size() {
    let told = |workload: &str| {
        let text = format!("name = \"t\"\n[[workload]]\nname = \"w\"\n{workload}\n");
        messages(&text, &[])
    };
    assert_eq!(told("sequence = \"2,0,1\"\nsequence_advances = true"), Vec::<String>::new());
    for (workload, expected) in [
        ("sequence = \"2,0,1\"\naccess = \"sequential\"", "random requests of one size"),
        ("sequence = \"2,0,1\"\nblock_size = \"4KiB:1, 8KiB:1\"", "random requests of one size"),
        ("sequence = \"2,-1\"", "is no sequence"),
        ("sequence = \"\"", "is no sequence"),
        ("sequence_advances = true", "there is no sequence"),
    ] {
        let told = told(workload);
        assert!(told.len() == 1 && told[0].contains(expected), "{workload}: {told:?}");
    }
}
