//! The page as a whole.

use super::render;
use crate::ground::testing::{Recorded, W, has, measuring, mixed};
use model::counters::{Entry, Layer, Metric};
use model::{Fact, Note, Op, StageKind};

/// Every tag that is opened is closed, in order, and nothing else is.
fn assert_balanced(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!doctype html>").expect("a document type");
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, behind) = after.split_once('>').expect("a whole tag");
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "before {behind:.80}");
            continue;
        }
        let name = tag.split([' ', '\n']).next().expect("a name");
        // What stands in these two is no markup, and `meta` has no end.
        if ["style", "script"].contains(&name) {
            let end = format!("</{name}>");
            rest = rest.split_once(&*end).expect("an end").1;
        } else if name != "meta" {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
    assert_eq!(page.matches("</html>").count(), 1);
}

#[test]
fn the_page_is_whole_and_needs_nothing_else() {
    let page = render(&[&mixed("mix").record()]);
    assert_balanced(&page);
    for outside in ["src=", "url(", "@import", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let links = page.split("href=\"").skip(1);
    assert!(links.clone().count() > 3 && links.clone().all(|to| to.starts_with('#')), "within it");
    // The one address in it is a name: that of the language of pictures.
    assert_eq!(page.matches("http").count(), 1);
    for word in [
        "IOPS over time",
        "Latency over time, read",
        "Latency over time, write",
        "Latency distribution",
        "Testbed",
        "Plan",
        "Sent",
        "MiB/s)",
        "plimsoll run --target=",
    ] {
        assert!(page.contains(word), "{word} is missing");
    }
}

#[test]
fn names_cannot_break_out() {
    let hostile = "</title><script>alert(1)</script>";
    let mut recorded = mixed(hostile);
    recorded.note(Note { stage: None, host: 0, fact: Fact::NoFallocate { path: hostile.into() } });
    let record = recorded.record_mut();
    record.plan.suite = hostile.to_owned();
    record.testbed[0].hostname = hostile.to_owned();
    record.plan.hosts[0].targets[0].path = hostile.to_owned();
    let record = recorded.record();
    for page in [render(&[&record]), render(&[&record, &record])] {
        assert!(!page.contains("<script>alert"));
        assert_balanced(&page);
    }
}

#[test]
fn the_same_record_gives_the_same_page() {
    assert_eq!(render(&[&mixed("mix").record()]), render(&[&mixed("mix").record()]));
}

#[test]
fn several_runs_stand_side_by_side() {
    let (one, other) = (mixed("mix").record(), mixed("mix").record());
    let page = render(&[&one, &other]);
    assert!(page.contains("2 runs side by side") && page.contains("Run 2 p99"));
    assert_balanced(&page);
}

#[test]
fn a_run_of_which_nothing_is_there_has_a_page() {
    let page = render(&[&Recorded::new(W).record()]);
    assert!(page.contains("Nothing was measured"));
    assert_balanced(&page);
}

#[test]
fn hours_make_no_huge_page() {
    let mut recorded = Recorded::new("[stages]\nmeasure = \"2h\"\n[[workload]]\nname = \"w\"\n");
    recorded.load(0..7_200, &[(Op::Read, &[100_000, 200_000])]);
    let page = render(&[&recorded.end()]);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    assert!(page.contains("7200 intervals, neighbours merged to"));
    assert!(page.contains("up to 30 neighbouring intervals (7,200 in all)"));
}

/// The most that a page may weigh, in bytes: 2 MB.
const MOST_BYTES: usize = 2_000_000;

#[test]
fn fifty_points_on_sixteen_hosts_make_a_page_that_opens_at_once() {
    let depths: Vec<String> = (1..=50).map(|depth| depth.to_string()).collect();
    let suite = format!(
        "[stages]\nmeasure = \"10m\"\n[[workload]]\nname = \"mix\"\nread = \
         \"70%\"\n[sweep]\ndepth = [{}]\n",
        depths.join(", ")
    );
    let mut recorded = Recorded::with_hosts(&suite, 16);
    let stages = measuring(&recorded);
    assert_eq!(stages.len(), 50);
    for stage in stages {
        for second in 0..600 {
            // All hosts now and then, one always: a chart has the same places then.
            let hosts = if second % 60 == 0 { 16 } else { 1 };
            for host in 0..hosts {
                let values: Vec<u64> = (1..200)
                    .map(|n| u64::from(80_000 + host + second * stage) + n * n * 97)
                    .collect();
                recorded.host_interval(
                    stage,
                    host,
                    second,
                    &[(Op::Read, &values), (Op::Write, &values[..60])],
                );
            }
        }
    }
    let page = render(&[&recorded.end()]);
    assert_balanced(&page);
    assert_eq!(page.matches("<section class=\"workload\"").count(), 50);
    assert!(page.len() < MOST_BYTES, "{} bytes", page.len());
}

const SIZES: &str = "size = [\"1MiB\", \"2MiB\", \"4MiB\"]";

/// A run of two workloads of 4 KiB over an axis; its one host's target is this.
fn on_target(path: &str, axis: &str) -> model::Record {
    let suite = format!(
        "[[workload]]\nname = \"mix\"\nread = \"70%\"\n[[workload]]\nname = \
         \"w\"\n[sweep]\n{axis}\n"
    );
    let mut recorded = Recorded::new(&suite);
    let points = recorded.record().plan.points;
    for (stage, point) in measuring(&recorded).into_iter().zip(points) {
        for second in 0..4 {
            let reads = (Op::Read, &*vec![400_000; 20_000]);
            let writes = (Op::Write, &*vec![900_000; 9_000]);
            let is_mix = point.workloads == ["mix"];
            recorded.interval(stage, second, &[reads, writes][..if is_mix { 2 } else { 1 }]);
        }
    }
    let mut record = recorded.end();
    record.plan.hosts[0].targets[0].path = path.to_owned();
    record
}

#[test]
fn every_chart_of_rates_has_the_ceiling_where_it_is_known_and_every_course_its_map() {
    let page = render(&[&on_target("sim:cluster=vsan-four-corners", SIZES)]);
    assert_balanced(&page);
    assert!(page.contains("Share of the ceiling of vsan-four-corners"), "{page}");
    // Two charts in groups with a key, six courses with a line, and none of it in charts of
    // latency.
    assert_eq!(page.matches("ceiling, and the share of it").count(), 2);
    assert_eq!(
        (
            page.matches(">ceiling 1,627,604 (node ports").count(),
            page.matches(", all together").count()
        ),
        (3, 3),
        "{page}"
    );
    assert_eq!(page.matches("<figcaption>Latency, how often, read").count(), 3);
    assert_eq!(page.matches("<figcaption>Latency, how often<").count(), 3);
    assert_eq!(page.matches("<figcaption>Latency, how often, write").count(), 3);
}

#[test]
fn no_ceiling_is_taken_for_granted() {
    // A folder says nothing of what is beneath it.
    for path in
        ["sim:cluster=unheard-of,path=smb", "sim:cluster=unheard-of", "sim:latency=1ms", "/data"]
    {
        let page = render(&[&on_target(path, SIZES)]);
        assert!(
            !page.contains("<line class=\"ceiling\"") && !page.contains("Share of the ceiling"),
            "{path}"
        );
    }
}

#[test]
fn a_way_to_a_known_testbed_leaves_its_ceiling_in_place() {
    let page = render(&[&on_target("sim:cluster=vsan-four-corners,path=smb", SIZES)]);
    has(&page, &["Share of the ceiling of vsan-four-corners", "<line class=\"ceiling\""]);
}

#[test]
fn each_curve_of_a_sweep_has_a_ceiling_that_looks_like_it() {
    let page = render(&[&on_target("sim:cluster=vsan-four-corners", "depth = \"1..8 x2\"")]);
    assert!(page.contains("Requests per second over depth"), "{page}");
    // The ceiling of a mix is that of all its I/O, and so is its curve; what only reads has
    // another.
    let (_, chart) = page.split_once("Requests per second over depth").expect("a chart");
    let (chart, _) = chart.split_once("</figure>").expect("a chart");
    has(chart, &[">ceiling of mix all (", "class=\"line roof read\""]);
    has(chart, &[">ceiling of w read (", "class=\"line roof write\""]);
    assert!(
        !chart.contains("mix read") && !chart.contains("mix write"),
        "parts are no curves of the whole: {chart}"
    );
}

/// A run of forty seconds on two hosts, of which nothing is to be doubted; its CPUs are this busy,
/// in percent.
fn sound(busy: u64) -> (Recorded, u32) {
    const SECOND: u64 = 1_000_000_000;
    let suite = "[stages]\nprecondition = \"1s\"\nmeasure = \"40s\"\n[[workload]]\nname = \"w\"\n";
    let mut recorded = Recorded::with_hosts(suite, 2);
    let stage = recorded.stage(StageKind::Measure);
    for (second, host) in (0..40).flat_map(|second| [(second, 0), (second, 1)]) {
        // A rate that is constant to the digit is a limiter's.
        let ios = vec![100_000; 1_000 + second as usize * 7 % 23];
        recorded.host_interval(stage, host, second, &[(Op::Read, &ios)]);
        let values = vec![
            (Metric::UserNs, SECOND * busy / 100),
            (Metric::IdleNs, SECOND * (100 - busy) / 100),
        ];
        let cpu = Entry { layer: Layer::Cpu, name: "0".into(), values };
        recorded.counters(stage, host, second, vec![cpu]);
    }
    recorded.seen_at_disks(stage, "write through");
    (recorded, stage)
}

fn page_of(mut recorded: Recorded) -> String {
    render(&[&recorded.end()])
}

/// The verdict, the line below the results and the badge.
fn is_green(page: &str) -> [bool; 3] {
    [
        page.contains("No reason to doubt its figures was found"),
        page.contains("class=\"sound\""),
        page.contains("badge good"),
    ]
}

#[test]
fn nothing_on_a_page_is_green_beside_what_speaks_against_its_figures() {
    assert_eq!(is_green(&page_of(sound(50).0)), [true; 3]);
    let saturated = page_of(sound(100).0);
    assert!(saturated.contains("The CPUs of node0, node1 were busy"), "{saturated}");
    let (mut failed, stage) = sound(50);
    failed.fail(stage, 3, Op::Read, 5, 3_784);
    let failed = page_of(failed);
    has(&failed, &["badge bad", "complete, 3,784 requests failed"]);
    let (mut lost, stage) = sound(50);
    lost.note(Note {
        stage: Some(stage),
        host: 1,
        fact: Fact::HostLost { name: "node2".into(), why: "gone".into() },
    });
    let (mut busy, _) = sound(50);
    busy.busy(0.97);
    let mut short = Recorded::new("[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n");
    short.second(0, &[(Op::Read, &[100_000; 100_000])]);
    let short = page_of(short);
    assert!(short.contains("The ± of the rate is unknown in the result"), "{short}");
    for page in [saturated, failed, page_of(lost), page_of(busy), short] {
        assert_eq!(is_green(&page), [false; 3], "{page}");
    }
}
