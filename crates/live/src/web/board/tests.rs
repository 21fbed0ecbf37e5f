use super::*;
use crate::web::bounded_series::MOST;
use crate::web::metrics::Form;
use crate::web::{Dashboard, View};
use analysis::testing::Recorded;
use model::note::TakesPart;
use model::{Fact, Note, Op};

fn board_of(record: &Record) -> Board {
    let mut board = Board::new(
        record.plan.clone(),
        record.testbed.clone(),
        &record.version,
        record.started_unix_ns,
    );
    for note in &record.notes {
        board.event(&Event::Note(note.clone()));
    }
    for stage in &record.stages {
        board.event(&Event::StageStarted { stage: stage.stage, unix_ns: stage.started_unix_ns });
        for sample in stage.samples() {
            board.event(&Event::Sample(sample.clone()));
        }
        if let Some(end) = &stage.end
            && let Some(part) =
                board.event(&Event::StageEnded { stage: stage.stage, end: end.clone() })
        {
            board.add_results(judge(&part));
        }
    }
    if let Some((unix_ns, end)) = &record.end {
        board.event(&Event::RunEnded { unix_ns: *unix_ns, end: end.clone() });
    }
    board
}

fn part(board: &Board, view: &View, id: &str) -> String {
    board.fragments(view).into_iter().find(|(other, _)| *other == id).expect("a part").1
}

fn measured(hosts: usize, seconds: u32) -> Recorded {
    let mut recorded =
        Recorded::with_hosts("[stages]\nmeasure = \"1h\"\n[[workload]]\nname = \"w<b>\"\n", hosts);
    recorded.prepare();
    for second in 0..seconds {
        for host in 0..hosts as u32 {
            recorded.host_second(
                host,
                second,
                &[(Op::Read, &[100_000; 50]), (Op::Write, &[3_000_000; 5])],
            );
        }
    }
    recorded
}

#[test]
fn a_counter_that_a_kernel_lacks_is_told_once_and_not_with_each_stage() {
    let record = Recorded::new("[[workload]]\nname = \"w\"\n").record();
    let mut board = Board::new(record.plan.clone(), record.testbed.clone(), "1", 0);
    let sample = CounterSample {
        notes: vec!["/proc/pressure cannot be read here".to_owned()],
        ..CounterSample::default()
    };
    (0..3).for_each(|_| drop(board.event(&Event::Counters(Box::new(sample.clone())))));
    let told =
        board.happened.iter().filter(|happened| happened.words.contains("/proc/pressure")).count();
    assert_eq!(told, 1, "{:?}", board.happened);
}

#[test]
fn a_kernel_that_several_agents_tell_of_is_in_the_page_and_in_the_metrics_once() {
    let record = measured(3, 1).record();
    let mut facts = record.testbed.clone();
    facts.iter_mut().for_each(|facts| facts.identity = "b00t net:[1] uts:[1] mnt:[1]".to_owned());
    let mut board = Board::new(record.plan.clone(), facts, "1", 0);
    board.event(&Event::StageStarted { stage: 0, unix_ns: 0 });
    let second = |board: &mut Board, number: u32| {
        for host in 0..3 {
            let start_ns = u64::from(number) * 1_000_000_000;
            let sample = CounterSample { number, start_ns, ..crate::watch::testing::busy(host, 1) };
            board.event(&Event::Counters(Box::new(sample)));
        }
    };
    let charts = part(&board, &View::default(), "charts");
    assert!(
        charts.contains("3 hosts together, on 1 kernel: what a kernel counts is in the sums once."),
        "{charts}"
    );
    let sent = |board: &Board| board.kernel.slots().last().map(|slot| slot.part.sent_bytes);
    second(&mut board, 0);
    assert_eq!(sent(&board), Some(2 << 20));
    assert!(
        board
            .hosts
            .iter()
            .all(|host| host.system.is_some_and(|(system, _)| system.sent_bytes == 2 << 20))
    );
    let note = Note {
        stage: Some(0),
        host: 0,
        fact: Fact::HostLost { name: "node2".into(), why: "gone".into() },
    };
    board.event(&Event::Note(note));
    second(&mut board, 1);
    assert_eq!(sent(&board), Some(2 << 20), "the next one tells of it");
    let metrics = String::from_utf8(board.metrics(Detail::Auto).render(Form::Text)).expect("text");
    let of = |family: &str| metrics.lines().filter(|line| line.starts_with(family)).count();
    assert_eq!(
        of("plimsoll_host_network_transmit_bytes_total{"),
        2,
        "the first until it was lost, then the second: {metrics}"
    );
    assert_eq!(
        of("plimsoll_host_disk_io_now{"),
        2,
        "two devices of one host; a lost one has no states: {metrics}"
    );
}

#[test]
fn a_host_that_is_looked_at_shows_its_counters_and_workers_and_its_events_stand_in_every_chart() {
    let record = measured(2, 3).record();
    let mut board = board_of(&record);
    board.event(&Event::Counters(Box::new(crate::watch::testing::busy(1, 1))));
    let mark = Occurrence {
        stage: Some(1),
        at_ns: 1_500_000_000,
        ..Occurrence::new(OccurrenceKind::Mark, "cut over")
    };
    board.event(&Event::Happened(Box::new(mark)));
    let charts = |board: &Board, host| part(board, &View { host, ..View::default() }, "charts");
    let all = charts(&board, None);
    assert!(!all.contains("What its kernel counts"), "of all together there are charts alone");
    let drawn = all.matches("<figure").count();
    assert_eq!(
        (all.matches("class=\"instant\"").count(), drawn),
        (drawn, 8),
        "heat maps, too: {all}"
    );
    let one = charts(&board, Some(1));
    for told in
        ["<dt>CPU: steal</dt><dd>0%</dd>", "<dt>worker 0: CPU</dt>", "slowest core: frequency, MHz"]
    {
        assert!(one.contains(told), "{told}: {one}");
    }
    let quiet = charts(&board, Some(0));
    assert!(
        quiet.contains("worker 0: CPU") && !quiet.contains("CPU: steal"),
        "its kernel told nothing: {quiet}"
    );
    let note = Note {
        stage: Some(1),
        host: 1,
        fact: Fact::HostLost { name: "node2".into(), why: "gone".into() },
    };
    board.event(&Event::Note(note));
    assert!(!charts(&board, Some(1)).contains("CPU: steal"), "what it counted says nothing of now");

    let mut only = board_of(&measured(1, 3).record());
    only.event(&Event::Counters(Box::new(crate::watch::testing::busy(0, 1))));
    assert!(charts(&only, None).contains("CPU: steal"), "nobody has to choose where there is one");
}

#[test]
fn a_run_that_goes_on_says_where_it_stands() {
    let board = board_of(&measured(2, 900).record());
    let view = View::default();
    assert!(
        part(&board, &view, "head").contains("running: w&lt;b&gt;"),
        "{}",
        part(&board, &view, "head")
    );
    let plan = part(&board, &view, "plan");
    assert!(
        plan.contains("1 of 2 stages done")
            && plan.contains("25 %")
            && plan.contains("aria-current=\"step\""),
        "{plan}"
    );
    let mut grows = measured(2, 900).record();
    grows.plan.rounds.most = 9;
    let plan = part(&board_of(&grows), &view, "plan");
    assert!(plan.contains("<p>1 stage done."), "nobody knows how many follow: {plan}");
    let charts = part(&board, &view, "charts");
    for title in ["IOPS", "Bandwidth, MiB/s", "Latency, read", "Latency, how often, write"] {
        assert!(charts.contains(&format!("<title>{title}</title>")), "{title}");
    }
    assert!(part(&board, &view, "results").contains("when a stage that is measured is over"));
}

#[test]
fn the_rates_are_those_of_all_hosts_together_however_long_it_goes() {
    let board = board_of(&measured(3, 900).record());
    let slots = board.whole_slots();
    assert!(slots.len() <= MOST);
    for slot in slots.iter().skip(1) {
        let ios: u64 = slot.part.ops.values().map(|load| load.ios).sum();
        assert!((ios as f64 / slot.length_s - 165.0).abs() < 1e-6, "{slot:?}");
        assert_eq!(
            slot.part.ops[&Op::Read].latency.summary().bands.iter().map(|(_, n)| n).sum::<u64>()
                * 11,
            ios * 10
        );
    }
}

#[test]
fn a_moment_that_not_all_hosts_told_of_is_not_drawn_yet() {
    let mut recorded = measured(2, 3);
    let whole = board_of(&recorded.record()).whole_slots().len();
    recorded.host_second(0, 3, &[(Op::Read, &[100_000; 50])]);
    assert_eq!(board_of(&recorded.record()).whole_slots().len(), whole);
    recorded.host_second(1, 3, &[(Op::Read, &[100_000; 50])]);
    assert_eq!(board_of(&recorded.record()).whole_slots().len(), whole + 1);
}

#[test]
fn results_and_doubts_come_with_the_end_of_a_stage() {
    let mut recorded = measured(1, 30);
    recorded.end();
    recorded.busy(0.97);
    let mut board = board_of(&recorded.record());
    board.set_results(judge(&recorded.record()));
    let text = String::from_utf8(board.metrics(Detail::Auto).render(Form::Text)).expect("text");
    let verdict = "plimsoll_run_verdict{run=\"test-run\",verdict=\"indicative\"} 1\n";
    assert!(text.contains(verdict), "{text}");
    let results = part(&board, &View::default(), "results");
    assert!(
        results.contains("w&lt;b&gt;") && results.contains("A reason to doubt")
            || results.contains("Reasons to doubt"),
        "{results}"
    );
    // Green would contradict the doubts below it.
    let head = part(&board, &View::default(), "head");
    assert!(
        head.contains("complete")
            && head.contains("class=\"badge\"")
            && !head.contains("badge good"),
        "{head}"
    );
}

#[test]
fn a_thousand_hosts_are_a_window_and_each_can_be_looked_at() {
    let mut recorded = measured(1_000, 1);
    let lost = Note {
        stage: None,
        host: 777,
        fact: Fact::HostLost { name: "node2".into(), why: "its connection ended".into() },
    };
    recorded.note(lost);
    let board = board_of(&recorded.record());
    let table = part(&board, &View::default(), "hosts");
    assert_eq!(table.matches("<tr>").count(), 1 + 50);
    assert!(table.contains("1 host lost") && table.contains("/?from=50"), "{table}");
    let name = board.name(777);
    let view = View { host: Some(777), from: 0, find: name.clone() };
    assert!(part(&board, &view, "hosts").contains("lost: node2: its connection ended"));
    assert!(part(&board, &view, "charts").contains(&format!("{name} alone")));
    let page = board.page(
        &View { host: Some(u32::MAX), from: usize::MAX, find: "\"<x>".to_owned() },
        "b",
        crate::web::Guard::Token,
    );
    assert!(
        page.contains("There is no such host")
            && page.contains("No host has such a name")
            && !page.contains("<x>"),
        "{page}"
    );
    assert!(page.len() < 1 << 20, "{}", page.len());
    recorded.note(Note {
        stage: None,
        host: 777,
        fact: Fact::HostReturned { name: "node2".into(), from: TakesPart::NextStage },
    });
    let board = board_of(&recorded.record());
    let table = part(&board, &View { host: Some(777), from: 0, find: name }, "hosts");
    assert!(!table.contains("lost"), "{table}");
}

#[test]
fn metrics_say_what_the_record_says() {
    let mut recorded = measured(2, 3);
    recorded.end();
    let text =
        String::from_utf8(board_of(&recorded.record()).metrics(Detail::Auto).render(Form::Text))
            .expect("text");
    assert!(
        text.contains("plimsoll_hosts{run=\"test-run\",state=\"up\"} 2\n")
            && text.contains("plimsoll_run_over{run=\"test-run\"} 1\n"),
        "{text}"
    );
    let sum: u64 = text
        .lines()
        .filter(|line| {
            line.starts_with("plimsoll_requests_total") && line.contains("stage=\"measure\"")
        })
        .map(|line| {
            line.rsplit(' ').next().and_then(|value| value.parse::<u64>().ok()).expect("a number")
        })
        .sum();
    assert_eq!(sum, 2 * 3 * 55);
    let known = metrics::names();
    for line in text.lines().filter(|line| line.starts_with("# TYPE")) {
        assert!(known.contains(&line.split(' ').nth(2).expect("a name")), "{line}");
    }
}

/// The names of the families in protobuf, each a message behind its length, of which the name is
/// the first field.
fn names_in_protobuf(mut bytes: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    while !bytes.is_empty() {
        let end = bytes.iter().position(|byte| byte & 0x80 == 0).expect("a length that ends");
        let length =
            bytes[..=end].iter().rev().fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7f));
        let (family, rest) = bytes[end + 1..].split_at(length);
        assert_eq!(family[0], 0x0a, "field 1, of bytes");
        names
            .push(String::from_utf8(family[2..2 + usize::from(family[1])].to_vec()).expect("text"));
        bytes = rest;
    }
    names
}

#[test]
fn both_forms_of_the_metrics_have_the_same_families() {
    let mut recorded = measured(2, 3);
    let board = board_of(&recorded.end());
    let text = String::from_utf8(board.metrics(Detail::Auto).render(Form::Text)).expect("text");
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let types: Vec<&str> = types.filter_map(|line| line.split(' ').next()).collect();
    assert!(types.len() > 8, "{types:?}");
    assert_eq!(names_in_protobuf(&board.metrics(Detail::Auto).render(Form::Protobuf)), types);
}

#[test]
fn odd_events_do_no_harm() {
    let record = measured(1, 2).record();
    let mut board = board_of(&record);
    let mut stray = record.stages[1].samples()[0].clone();
    (stray.stage, stray.host, stray.start_ns, stray.length_ns) = (99, 99, u64::MAX, u64::MAX);
    board.event(&Event::Sample(stray.clone()));
    stray.stage = 1;
    board.event(&Event::Sample(stray));
    board.event(&Event::StageStarted { stage: 77, unix_ns: u64::MAX });
    board.event(&Event::StageEnded { stage: 77, end: StageEnd::Complete });
    assert!(!board.fragments(&View::default()).is_empty());
}
