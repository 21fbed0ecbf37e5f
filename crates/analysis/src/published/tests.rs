use super::place::median;
use super::*;
use crate::testing::Recorded;
use model::counters::{Entry, Layer, Metric};
use model::{Fraction, Op, Scale, StageKind};
use std::collections::BTreeMap;

const SECOND: u64 = 1_000_000_000;

const FIGURES: &str = "\
name = \"t\"
source = \"s\"
[[figure]]
workload = \"Theirs\"
scenario = \"small\"
quantity = \"rate\"
value = 100
unit = \"IOPS\"
[[figure]]
workload = \"Theirs\"
scenario = \"small\"
quantity = \"CPU\"
value = 80
unit = \"%\"
[[figure]]
workload = \"Theirs\"
scenario = \"small\"
quantity = \"mean latency\"
value = 2
unit = \"ms\"
";
const COUNTERPART: &str =
    "[[counterpart]]\nworkload = \"Theirs\"\nblock_size = \"4KiB\"\nfootprint = \"1GiB\"\n";

fn cluster(nodes: u32, iops: u32) -> Cluster {
    let text = format!(
        "name = \"c\"\n[[nodes]]\ncount = {nodes}\n[[nodes.drives]]\ncount = 4\nread_iops = \
         {iops}\nwrite_iops = {iops}\nread = \"10GB/s\"\nwrite = \"10GB/s\"\n"
    );
    Cluster::parse("c", &text, &[]).expect("a good testbed")
}

fn record(workload: &str) -> Record {
    let mut recorded =
        Recorded::new(&format!("[[workload]]\nname = \"{workload}\"\nread = \"50%\"\n"));
    recorded.second(0, &[(Op::Read, &[1_000; 50]), (Op::Write, &[3_000; 50])]);
    recorded.end()
}

fn held(
    figures: &str,
    workload: &str,
    suite: &str,
    ours: Option<&Cluster>,
) -> Result<Comparison, OtherSuite> {
    let published = Published::parse("t", figures).expect("good figures");
    let mut record = record(workload);
    record.plan.suite = suite.to_owned();
    let rows = crate::results(&record);
    against(&published, Some(&cluster(4, 100)), &record, &rows, ours)
}

#[test]
fn both_sides_stand_beside_each_other_with_their_own_nodes_drives_and_ceilings() {
    let ours = cluster(2, 50);
    let held =
        held(&format!("{FIGURES}{COUNTERPART}"), "mix", "t-part", Some(&ours)).expect("fits");
    assert_eq!(held.figures.len(), 3);
    let rate = &held.figures[0];
    let run = rate.run.clone().expect("measured");
    assert!((run.value - 100.0).abs() < 1e-9, "reads and writes together: {run:?}");
    assert_eq!((rate.published.nodes, rate.published.drives), (Some(4), Some(16)));
    assert_eq!((run.nodes, run.drives), (Some(2), Some(8)));
    let (theirs, mine) = (rate.published.share.expect("known"), run.share.expect("known"));
    // Half the nodes with drives half as fast carry a quarter.
    assert!((mine / theirs - 4.0).abs() < 1e-9, "{theirs} {mine}");
    let latency = &held.figures[2];
    let mean = latency.run.clone().expect("measured").value;
    assert!((mean - 2_000.0).abs() < 100.0, "weighted by requests: {mean}");
    assert_eq!(
        (latency.published.value, latency.published.nodes, latency.published.share),
        (2e6, None, None)
    );
}

#[test]
fn only_another_suite_is_refused_and_all_else_stands_with_its_reason() {
    let with = format!("{FIGURES}{COUNTERPART}");
    assert_eq!(held(&with, "mix", "tea", None), Err(OtherSuite));
    let missing = |figures: &str, workload: &str| -> Vec<Option<Missing>> {
        let held = held(figures, workload, "t", None).expect("fits");
        held.figures.into_iter().map(|figure| figure.run.err()).collect()
    };
    let none = Some(Missing::NotOfARun(String::new()));
    assert_eq!(missing(FIGURES, "mix"), [none.clone(), none.clone(), none]);
    assert_eq!(missing(&with, "mix"), [None, Some(Missing::NotCounted), None]);
    assert_eq!(
        missing(&with, "other"),
        [None, Some(Missing::NotCounted), None],
        "a name is no load"
    );
    let larger = with.replace("4KiB", "8KiB");
    assert_eq!(
        missing(&larger, "mix"),
        [const { Some(Missing::NotMeasured) }; 3],
        "another block size is another load"
    );
    for other in ["read = \"70%\"", "random = \"0%\"", "one_file = true"] {
        let other = with.replace("footprint", &format!("{other}\nfootprint"));
        assert_eq!(missing(&other, "mix")[0], Some(Missing::NotMeasured), "{other}");
    }
    let narrower = with.replace("footprint", "run_sweep = \"size=10GB\"\nfootprint");
    assert_eq!(missing(&narrower, "mix")[0], Some(Missing::NotMeasured));
    let told = with.replacen("unit = \"IOPS\"", "unit = \"IOPS\"\nnot_of_a_run = \"a size\"", 1);
    assert_eq!(missing(&told, "mix")[0], Some(Missing::NotOfARun("a size".to_owned())));
    let other_unit = with.replace("\"IOPS\"", "\"TB\"");
    assert_eq!(held(&other_unit, "mix", "t", None).expect("fits").figures[0].printed, "100 TB");
}

#[test]
fn what_kernels_counted_stands_beside_published_traffic_and_load() {
    let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"mix\"\nread = \"100%\"\n", 2);
    let stage = recorded.stage(StageKind::Measure);
    for (second, host) in (0..10).flat_map(|second| [(second, 0), (second, 1)]) {
        recorded.host_interval(stage, host, second, &[(Op::Read, &[1_000; 50])]);
    }
    recorded.end();
    recorded.record_mut().plan.suite = "t".to_owned();
    for (number, host) in (0..10u32).flat_map(|number| [(number, 0u32), (number, 1)]) {
        let busy = u64::from(host + 1) * SECOND / 4;
        let entries = vec![
            Entry::new(Layer::Cpu, "0", &[(Metric::UserNs, busy), (Metric::IdleNs, SECOND - busy)]),
            Entry::new(
                Layer::Nic,
                "eth0",
                &[(Metric::SentBytes, 100_000), (Metric::ReceivedBytes, 25_000)],
            ),
        ];
        recorded.counters(stage, host, number, entries);
    }
    let figure = |scenario: &str, quantity: &str, unit: &str| {
        format!(
            "[[figure]]\nworkload = \"Theirs\"\nscenario = \"{scenario}\"\nquantity = \
             \"{quantity}\"\nvalue = 4\nunit = \"{unit}\"\n"
        )
    };
    let text = [
        "name = \"t\"\nsource = \"s\"\n".to_owned(),
        figure("all hosts", "port traffic", "Gbit/s"),
        figure("per server", "port traffic", "Gbit/s"),
        figure("most of hosts", "CPU", "%"),
        COUNTERPART.to_owned(),
    ];
    let published = Published::parse("t", &text.concat()).expect("good figures");
    let theirs = Cluster::parse(
        "c",
        "name = \"c\"\n[[nodes]]\ncount = 2\nports = 2\nport_speed = \"10Gbit/s\"\n",
        &[],
    );
    let record = recorded.record();
    let held = against(&published, theirs.ok().as_ref(), &record, &crate::results(&record), None)
        .expect("fits");
    let run = |number: usize| held.figures[number].run.clone().expect("counted");
    assert!(
        (run(0).value - 1.6e6).abs() < 1.0,
        "two hosts that send 100 kB a second: {:?}",
        run(0)
    );
    assert_eq!((run(0).nodes, run(0).drives, run(0).share), (Some(2), None, None));
    assert!((run(1).value - 8e5).abs() < 1.0 && run(1).nodes.is_none(), "{:?}", run(1));
    assert!((run(2).value - 0.5).abs() < 1e-9, "the busier host: {:?}", run(2));
    let traffic = held.figures[0].published;
    assert_eq!((traffic.value, traffic.nodes, traffic.drives), (4e9, Some(2), None));
    assert!((traffic.share.expect("ports are known") - 0.1).abs() < 1e-12, "4 of 40 Gbit/s");
    assert_eq!(held.figures[1].published.share, None, "one server's part is no share of all ports");
}

/// Creates and look-ups at each number of threads, as many of each in its second as `rates` says.
fn metadata(rates: &[(u32, usize)]) -> Comparison {
    let axis: Vec<String> = rates.iter().map(|(threads, _)| threads.to_string()).collect();
    let suite = format!(
        "[layout]\nkind = \"tree\"\n[tree]\nfiles = 64\n[[workload]]\nname = \"names\"\nkind = \
         \"metadata\"\noperations = [\"create\", \"stat\", \"remove\"]\n[sweep]\nworkers = [{}]\n",
        axis.join(", ")
    );
    let mut recorded = Recorded::new(&suite);
    let record = recorded.record();
    let mut rates_left: BTreeMap<Op, Vec<usize>> = BTreeMap::new();
    for (stage, planned) in
        (0..).zip(&record.plan.stages).filter(|(_, planned)| planned.kind == StageKind::Measure)
    {
        let op = planned.works[0].metadata.expect("of names").op;
        let left = rates_left
            .entry(op)
            .or_insert_with(|| rates.iter().rev().map(|(_, rate)| *rate).collect());
        let values = vec![1_000; left.pop().expect("as many points as rates")];
        recorded.interval(stage, 0, &[(op, &values)]);
    }
    let mut record = recorded.end();
    record.plan.suite = "t".to_owned();
    let figure = |workload: &str, scenario: &str| {
        format!(
            "[[figure]]\nworkload = \"{workload}\"\nscenario = \"{scenario}\"\nquantity = \
             \"rate\"\nvalue = 113\nunit = \"K ops/s\"\n"
        )
    };
    let counterpart = |workload: &str, operation: &str| {
        format!(
            "[[counterpart]]\nworkload = \"{workload}\"\nrun_workload = \"names\"\nrun_operation \
             = \"{operation}\"\nrun_axis = \"workers\"\n"
        )
    };
    let text = [
        "name = \"t\"\nsource = \"s\"\n".to_owned(),
        figure("Made", "peak"),
        figure("Made", "sustained"),
        figure("Seen", "peak"),
        counterpart("Made", "create"),
        counterpart("Seen", "stat"),
    ];
    let published = Published::parse("t", &text.concat()).expect("good figures");
    against(&published, Some(&cluster(4, 100)), &record, &crate::results(&record), None)
        .expect("fits")
}

#[test]
fn three_numbers_of_threads_have_a_peak_but_no_plateau() {
    let run =
        |held: &Comparison, number: usize| held.figures[number].run.clone().map(|side| side.value);
    let few = metadata(&[(1, 20), (2, 50), (4, 40)]);
    assert_eq!(
        [run(&few, 0), run(&few, 1), run(&few, 2)],
        [Ok(50.0), Err(Missing::FewPoints), Ok(50.0)]
    );
    let enough = metadata(&[(1, 20), (2, 50), (4, 50), (8, 50), (16, 50)]);
    assert_eq!([run(&enough, 0), run(&enough, 1)], [Ok(50.0), Ok(50.0)]);
    let published = enough.figures[0].published;
    assert_eq!(
        (published.value, published.nodes, published.drives, published.share),
        (113e3, Some(4), None, None)
    );
}

#[test]
fn the_middle_of_repetitions_counts() {
    assert_eq!(
        (median(Vec::new()), median(vec![9.0, 1.0, 2.0]), median(vec![1.0, 2.0])),
        (None, Some(2.0), Some(1.5))
    );
}

/// What stands beside a figure of 1 GiB, 4 KiB and half reads in a run of so many hosts whose file
/// each has `size`.
fn beside(hosts: usize, size: &str, conditions: &str) -> Beside {
    let suite = format!(
        "[layout]\nfiles = 1\nsize = \"{size}\"\n[[workload]]\nname = \"mix\"\nread = \
         \"50%\"\nworkers = 1\n"
    );
    let mut recorded = Recorded::with_hosts(&suite, hosts);
    for host in 0..hosts as u32 {
        recorded.host_second(host, 0, &[(Op::Read, &[1_000; 50]), (Op::Write, &[3_000; 50])]);
    }
    let mut record = recorded.end();
    record.plan.suite = "t".to_owned();
    let published = Published::parse("t", &format!("{FIGURES}{COUNTERPART}{conditions}"))
        .expect("good figures");
    let held = against(&published, None, &record, &crate::results(&record), None).expect("fits");
    held.figures.into_iter().next().expect("a figure")
}

#[test]
fn another_load_is_never_silent() {
    let same = beside(2, "512MiB", "hosts = 2\noutstanding = 64\nthreads = 2\ndepth = 32\n");
    assert_eq!((same.run.is_ok(), same.apart), (true, Vec::new()));
    let other = beside(1, "256MiB", "hosts = 4\noutstanding = 320\n");
    let count = |what, published, run| LoadDifference::Count { what, published, run };
    assert!(other.run.is_ok());
    assert_eq!(
        other.apart,
        [
            LoadDifference::Footprint { published: Bytes::gib(1), run: Bytes::mib(256) },
            count(Counted::Hosts, 4, 1),
            count(Counted::Outstanding, 320, 32),
        ]
    );
}

#[test]
fn figures_that_a_footprint_tells_apart_have_no_point_of_another_one() {
    let large = "[[counterpart]]\nworkload = \"Theirs\"\nscenario = \"large\"\nblock_size = \
                 \"4KiB\"\nfootprint = \"4GiB\"\n";
    assert!(beside(2, "512MiB", large).run.is_ok());
    let other = beside(2, "256MiB", large);
    assert_eq!(other.run, Err(Missing::OtherFootprint { run: vec![Bytes::mib(512)] }));
}

#[test]
fn of_points_that_could_stand_there_the_nearest_does() {
    let suite = "[layout]\nsize = \"1GiB\"\nfiles = 1\n[[workload]]\nname = \"a\"\nread = \
                 \"50%\"\n[sweep]\ndepth = [1, 8, 64]\n";
    let mut recorded = Recorded::new(suite);
    let first = recorded.stage(StageKind::Measure);
    for (number, ios) in [(0, 10), (1, 20), (2, 30)] {
        recorded.interval(first + number, 0, &[(Op::Read, &vec![1_000; ios])]);
    }
    let mut record = recorded.end();
    record.plan.suite = "t".to_owned();
    let value = |depth: u32| {
        let published = Published::parse("t", &format!("{FIGURES}{COUNTERPART}depth = {depth}\n"))
            .expect("good");
        let held =
            against(&published, None, &record, &crate::results(&record), None).expect("fits");
        (held.figures[0].run.clone().expect("measured").value, held.figures[0].apart.len())
    };
    assert_eq!([value(1), value(8), value(64)], [(10.0, 0), (20.0, 0), (30.0, 0)]);
    assert_eq!(value(10), (20.0, 1), "not the median of different loads");
}

#[test]
fn a_figure_with_an_events_own_requests_is_another_thing() {
    let with = FIGURES.replacen("unit = \"IOPS\"", "unit = \"IOPS\"\nwith_event = true", 1);
    let held = held(&format!("{with}{COUNTERPART}"), "mix", "t", None).expect("fits");
    assert!(
        held.figures[0].apart.contains(&LoadDifference::EventsRequests),
        "{:?}",
        held.figures[0]
    );
    let spike = FIGURES.replacen("unit = \"IOPS\"", "unit = \"IOPS\"\nduring = \"event\"", 1);
    let held = self::held(&format!("{spike}{COUNTERPART}"), "mix", "t", None).expect("fits");
    assert_eq!(held.figures[0].run, Err(Missing::NoDip), "the mean of a stage is no spike");
}

#[test]
fn a_climb_without_an_end_has_no_plateau() {
    let run =
        |held: &Comparison, number: usize| held.figures[number].run.clone().map(|side| side.value);
    let rising = metadata(&[(1, 20), (2, 40), (4, 80), (8, 160)]);
    assert_eq!([run(&rising, 0), run(&rising, 1)], [Ok(160.0), Err(Missing::StillRising)]);
}

#[test]
fn a_figure_per_terabyte_of_a_shrunk_run_is_of_the_bytes_that_its_suite_asks_for() {
    let figures = "name = \"t\"\nsource = \"s\"\n[[figure]]\nworkload = \"Theirs\"\nscenario = \
                   \"small\"\nquantity = \"rate per TB\"\nvalue = 100\nunit = \"IOPS/TB\"\n\
                   [[counterpart]]\nworkload = \"Theirs\"\nblock_size = \"4KiB\"\n";
    let published = Published::parse("t", figures).expect("good figures");
    let at = |scale: Scale| {
        let mut record = record("mix");
        (record.plan.suite, record.plan.scale) = ("t-part".to_owned(), scale);
        let rows = crate::results(&record);
        let held = against(&published, Some(&cluster(4, 100)), &record, &rows, None);
        held.expect("fits").figures[0].run.clone().expect("measured").value
    };
    // As many requests per second, of a thousandth of the bytes.
    let (full, shrunk) = (at(Scale::FULL), at(Scale::both(Fraction::one_in(1_000))));
    assert!((full / shrunk - 1_000.0).abs() < 1e-6, "{full} {shrunk}");
}
