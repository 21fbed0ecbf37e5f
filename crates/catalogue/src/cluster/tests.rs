use super::*;
use form::Count;
use model::load::{HotSpots, Skew};
use model::popularity::{Law, Popularity};
use model::{Bytes, Nanos, Percent};

const GOOD: &str = "name = \"t\"\n[protection]\ncopies = 3\n[[nodes]]\ncount = 6\nports = \
                    4\nport_speed = \"25Gbit/s\"\n[[nodes.drives]]\nrole = \"cache\"\nmodel = \
                    \"p4610-1.6tb\"\ncount = 2\n[[nodes.drives]]\nrole = \"boot\"\ncount = 2\n";

const ROW: &str = "[[fitted_row]]\nname = \"r\"\nread_bytes = \"4KiB\"\nwrite_bytes = \
                   \"4KiB\"\nread = \"100%\"\nrandom = \"100%\"\n";

fn changes(texts: &[&str]) -> Vec<Change> {
    texts.iter().map(|text| text.parse().expect("a change")).collect()
}

fn messages(text: &str, sets: &[&str]) -> Vec<String> {
    match Cluster::parse("t.toml", text, &changes(sets)) {
        Ok(_) => Vec::new(),
        Err(errors) => {
            let said = |problem: &Problem| {
                let place = errors.sources.place(&problem.span);
                let (line, column) = place.line_and_column();
                format!("{}:{line}:{column} {}; {}", place.name, problem.message, problem.remedy)
            };
            errors.problems.iter().map(said).collect()
        }
    }
}

#[test]
fn a_testbed_is_read_and_the_catalogue_fills_in_what_it_leaves_open() {
    let cluster = Cluster::parse("t.toml", GOOD, &[]).expect("a good testbed");
    assert_eq!((cluster.node_count(), cluster.cache_kind()), (6, CacheKind::ReadWrite));
    let (count, figures) = cluster.drives(Role::Cache).next().expect("a cache");
    assert_eq!(
        (count, figures.read_bytes_per_s, figures.capacity_bytes),
        (12, Some(3.2e9), Some(1.6e12))
    );
    assert_eq!(cluster.drives(Role::Capacity).count(), 0);
}

#[test]
fn a_name_and_nodes_are_enough_and_a_figure_of_the_file_beats_the_catalogue() {
    let cluster = Cluster::parse("t", "name = \"x\"\n[[nodes]]\n", &[]).expect("good");
    assert_eq!(
        (cluster.node_count(), cluster.cache_kind(), cluster.has_clients()),
        (1, CacheKind::None, false)
    );
    let text = GOOD
        .replace("count = 2\n[[nodes.drives]]", "count = 2\nread = \"1GB/s\"\n[[nodes.drives]]");
    let cluster = Cluster::parse("t", &text, &[]).expect("good");
    let figures = cluster.drives(Role::Cache).next().expect("a cache").1;
    assert_eq!((figures.read_bytes_per_s, figures.write_bytes_per_s), (Some(1e9), Some(2.08e9)));
}

#[test]
fn changes_set_add_and_take_away_and_reach_all_drives_that_carry_load() {
    let what_if: WhatIf = "nodes+2, ports-1, copies=2, drives+1".parse().expect("a what-if");
    let cluster = Cluster::parse("t", GOOD, &what_if.changes).expect("good");
    assert_eq!(cluster.node_count(), 8);
    assert_eq!(cluster.nodes[0].spec.ports.value, Auto::Fixed(Count(3)));
    assert_eq!(cluster.protection.copies.value, Auto::Fixed(Count(2)));
    let counts: Vec<u32> =
        cluster.nodes[0].drives.iter().map(|drives| drives.spec.count.value.0).collect();
    assert_eq!(counts, [3, 2]);
    let set: form::Override = "nodes.node.count=9".parse().expect("a set");
    assert_eq!(Cluster::parse("t", GOOD, &[Change::from(&set)]).expect("good").node_count(), 9);
}

#[test]
fn a_change_that_cannot_be_made_says_why() {
    for (set, words) in [
        ("noodles+2", "did you mean `nodes`"),
        ("nodes.other.count=3", "names no fact"),
        ("nodes.cores+2", "nothing can be added to `cores`"),
        ("nodes-6", "0 is out of range"),
        ("copies=7", "7 copies cannot live on different nodes: there are 6"),
        ("nodes.port_speed=25", "expected a bandwidth"),
        ("nodes+99999999999999999999", "nothing can be added"),
    ] {
        let said = messages(GOOD, &[set]);
        assert!(said.len() == 1 && said[0].contains(words), "{set}: {said:?}");
    }
    for none in ["nodes", "=3", "nodes=", "nodes+2,"] {
        assert!(none.parse::<WhatIf>().is_err(), "{none}");
    }
}

#[test]
fn contradictions_are_refused_with_their_reason() {
    let nodes = "name = \"t\"\n[[nodes]]\ncount = 2\n";
    let of_law = |law: &str| format!("{nodes}{ROW}rate = 5\noutstanding = 4\n{law}");
    for (text, words) in [
        (format!("{nodes}[protection]\ncopies = 2\nparity = 1\n"), "by copies or by parity"),
        (format!("{nodes}[protection]\ndata = 2\n"), "data without parity"),
        (
            format!("{nodes}[protection]\ndata = 2\nparity = 1\n"),
            "3 data and parity blocks cannot live",
        ),
        (
            format!("{nodes}[protection]\ncopies = 2\nplacement = \"site\"\n"),
            "all nodes stand at one",
        ),
        (format!("{nodes}[cache]\nkind = \"read\"\n"), "no drive has the role cache"),
        (format!("{nodes}[cache]\nread_share = 50\n"), "a share of the cache"),
        (format!("{nodes}far_ports = 1\n"), "far ports, but no ports"),
        (format!("{nodes}ports = 1\nfar_ports = 2\nsockets = 2\n"), "2 of 1 ports cannot hang"),
        (format!("{nodes}sockets = 1\nsocket_link = \"20GB/s\"\n"), "one socket has no link"),
        (format!("{nodes}sockets = 2\ncores = 1\n"), "fewer cores than sockets"),
        (format!("{nodes}port_speed = \"10Gbit/s\"\n"), "a speed of ports, but no ports"),
        (format!("{nodes}site = 3\n"), "3 is no site"),
        (format!("{nodes}[[nodes]]\n[[nodes]]\n"), "a second group of nodes is called `node`"),
        (format!("{nodes}[[nodes.drives]]\nmodel = \"p4610\"\n"), "did you mean \"p4610-"),
        (format!("{nodes}[clients]\nports = 2\n"), "clients without a count"),
        (
            format!("{nodes}[clients]\ncount = 2\n[access]\nlocal_reads = 50\n"),
            "no request is local",
        ),
        (
            GOOD.to_owned() + "[cache]\nread_share = 70\nwrite_share = 40\n",
            "70% for reads and 40% for writes are more",
        ),
        (GOOD.to_owned() + "[cache]\nkind = \"none\"\n", "cache drives, but no cache"),
        (format!("{nodes}[software]\nread = \"0s\"\n"), "less than 1 ns is no time"),
        (
            format!("{nodes}[fitted]\nport_share = \"0%\"\n"),
            "a share below 0.0001% lets nothing through",
        ),
        (format!("{nodes}{ROW}rate = 0\noutstanding = 4\n"), "a row without requests says"),
        (format!("{nodes}{ROW}rate = 5\n"), "without requests outstanding"),
        (of_law("access = \"sequential\"\n"), "a row has no such order"),
        (of_law("access = \"zipf\"\npart = \"1GiB\"\nskew = 11\n"), "makes no sense"),
        (of_law("access = \"pareto\"\npart = \"1GiB\"\nskew = 0.5\n"), "makes no sense"),
        (of_law("access = \"hot-spot\"\npart = \"1GiB\"\n"), "hot spots without a table"),
        (of_law("access = \"zipf\"\n"), "no room for a request"),
        (of_law("access = \"zipf\"\npart = \"1KiB\"\n"), "no room for a request"),
    ] {
        let said = messages(&text, &[]);
        assert!(said.len() == 1 && said[0].contains(words), "{words}: {said:?}");
    }
}

#[test]
fn a_fitted_testbed_reads_back_whatever_a_row_is_called() {
    let row = FittedRow {
        name: "4K \"random\" \\ read\u{1b}[2J\n[nodes]".to_owned(),
        read_bytes: Bytes(4096),
        write_bytes: Bytes(8192),
        read: Percent::of(70),
        random: Percent::ALL,
        footprint: Some(Bytes(16_000_000_000_000)),
        popularity: Some(Popularity {
            law: Law::Zipf(Skew { milli: 1_050 }),
            part: Bytes(1_000_000_000_000),
            sharers: 2,
            reads: "4KiB:70, 64KiB:30".parse().expect("a mix"),
            writes: "8KiB".parse().expect("a size"),
            align: Bytes(4096),
        }),
        hosts: 16,
        outstanding: 320,
        depth: 2,
        remote: Percent::ZERO,
        object: model::Object::Files(model::Op::Create),
        route: model::Route::Smb,
        rate: 6747.3,
    };
    let fitted = [
        ("read", FittedValue::Time(Nanos(13_382))),
        ("cache_usable", FittedValue::Share(Percent { ppm: 771_761 })),
    ];
    let text = with_fitted(GOOD, &fitted, std::slice::from_ref(&row));
    let cluster = Cluster::parse("t", &text, &[]).expect("good");
    assert_eq!(fixed(cluster.fitted.read.value), Some(Nanos(13_382)));
    assert_eq!(fixed(cluster.fitted.cache_usable.value), Some(Percent { ppm: 771_761 }));
    let name = "4K \"random\" \\ read_[2J_[nodes]".to_owned();
    assert_eq!(cluster.fitted_rows, [FittedRow { name, ..row.clone() }]);
    let popularity = row.popularity.expect("given");
    let spots: HotSpots = "95%:5%, 4%:10%".parse().expect("spots");
    for law in [Law::Pareto(Skew { milli: 200 }), Law::HotSpot(spots)] {
        let popularity = Some(Popularity { law, align: Bytes(0), ..popularity.clone() });
        let row = FittedRow { name: "r".to_owned(), popularity, ..cluster.fitted_rows[0].clone() };
        let text = with_fitted(GOOD, &fitted, std::slice::from_ref(&row));
        assert_eq!(Cluster::parse("t", &text, &[]).expect("good").fitted_rows, [row]);
    }
}

#[test]
fn mistakes_point_at_their_place() {
    assert_eq!(
        messages("name = \"t\"\n[[nodes]]\ncuont = 2\n", &[]),
        ["t.toml:3:1 `cuont` is not a known field; did you mean `count`?"]
    );
    assert!(messages("name = \"t\"\n", &[])[0].contains("the testbed has no nodes"));
    assert!(
        messages("name = \"t\"\nnodes = 3\n", &[])[0]
            .starts_with("t.toml:2:9 `nodes` is a whole number")
    );
    assert!(messages("name = \"t\"\nnodes = [3]\n", &[])[0].contains("expected a table"));
    assert!(!messages("[[nodes]\n", &[]).is_empty());
    assert!(messages(&"x".repeat(2 << 20), &[])[0].contains("larger than 1 MiB"));
}

#[test]
fn a_drive_without_data_and_more_rows_than_a_fit_takes_are_refused() {
    let problems = |text: &str| -> Vec<String> {
        let refused = Cluster::parse("t", text, &[]).expect_err("refused");
        refused.problems.into_iter().map(|problem| problem.message).collect()
    };
    let drive = "name = \"t\"\n[[nodes]]\n[[nodes.drives]]\nmodel = \"p4610-3.2tb\"\n";
    let found = problems(&format!("{drive}filled = \"0%\"\n"));
    assert_eq!(found, ["a drive without data is written nothing to"]);
    let row = "[[fitted_row]]\nname = \"r\"\nread_bytes = \"4KiB\"\nwrite_bytes = \"4KiB\"\n\
               read = \"100%\"\nrandom = \"100%\"\noutstanding = 1\nrate = 1000\n";
    let rows = |count: usize| format!("{drive}{}", row.repeat(count));
    assert!(Cluster::parse("t", &rows(MOST_FITTED_ROWS), &[]).is_ok());
    assert!(problems(&rows(MOST_FITTED_ROWS + 1))[0].contains("at most"));
}

#[test]
fn a_worker_with_none_or_more_than_all_requests_outstanding_is_refused() {
    let refused = |depth: u64| {
        let row = format!(
            "{GOOD}\n[[fitted_row]]\nname = \"w\"\nread_bytes = \"4KiB\"\nwrite_bytes = \
             \"4KiB\"\nread = \"100%\"\nrandom = \"0%\"\noutstanding = 8\ndepth = \
             {depth}\nrate = 10\n"
        );
        Cluster::parse("t", &row, &[]).err().map(|errors| format!("{:?}", errors.problems))
    };
    assert_eq!((refused(1), refused(8)), (None, None));
    for depth in [0, 9] {
        let said = refused(depth).expect("refused");
        assert!(said.contains("or more than all") && said.contains("of one worker"), "{said}");
    }
}

#[test]
fn values_that_no_measurement_gives_are_refused_with_their_range() {
    let row = |field: &str, value: &str| {
        let mut row = String::from("\n[[fitted_row]]\nname = \"w\"\n");
        for (key, usual) in [
            ("read_bytes", "\"4KiB\""),
            ("write_bytes", "\"4KiB\""),
            ("read", "\"100%\""),
            ("random", "\"100%\""),
            ("footprint", "\"1TB\""),
            ("hosts", "5"),
            ("outstanding", "5"),
            ("rate", "1000"),
        ] {
            row.push_str(&format!("{key} = {}\n", if key == field { value } else { usual }));
        }
        format!("{GOOD}{row}")
    };
    let table = |name: &str, line: &str| format!("{GOOD}\n[{name}]\n{line}\n");
    for text in [
        row("name", ""),
        row("rate", "0.001"),
        row("hosts", "1"),
        table("software", "read = \"100s\""),
        table("fitted", "stream_share = \"0.0001%\""),
    ] {
        assert_eq!(messages(&text, &[]), Vec::<String>::new(), "{text}");
    }
    for (text, words) in [
        (row("rate", "1e300"), "1e300 requests per second are no rate"),
        (row("rate", "1e-7"), "from 0.001 to 1e12"),
        (row("rate", "nan"), "expected a finite number, found nan"),
        (
            row("read_bytes", "\"1PiB\""),
            "1 PiB is no size of a request; write its mean size, up to 1 TiB",
        ),
        (row("hosts", "65536"), "65536 hosts, and 5 requests outstanding"),
        (row("outstanding", "9000000000000000000"), "more than any cluster has"),
        (row("footprint", "\"0B\""), "a load that touches 0 bytes"),
        (row("footprint", "\"8192PiB\""), "is more than 1 EiB"),
        (table("software", "read = \"1000h\""), "from 1 ns to 1m 40s"),
        (table("fitted", "read = \"1000h\""), "is no time of a request"),
        (table("fitted", "read_path = \"0ns\""), "less than 1 ns"),
        (table("fitted", "stream_share = \"0.0000001%\""), "a share below 0.0001%"),
    ] {
        let said = messages(&text, &[]);
        assert!(said.len() == 1 && said[0].contains(words), "{words}: {said:?}");
    }
}
