//! What people see of the view, on screens of several sizes.

use super::canvas::Canvas;
use super::draw::draw;
use super::testing::{busy, facts};
use super::{Ask, Key, Panel, State, Subject};
use analysis::testing::Recorded;
use model::counters::Layer;
use model::event::{Event, Note};
use model::note::{Fact, TakesPart};
use model::testbed::HostFacts;
use model::{Occurrence, OccurrenceKind, Op, StageKind};

fn hosts(count: u32) -> Vec<HostFacts> {
    (1..=count).map(|number| facts(&format!("node{number:03}"))).collect()
}

fn watching(count: u32) -> State {
    let mut state = State::new(Subject::Hosts, &hosts(count), None);
    (0..count).for_each(|host| state.counters(Box::new(busy(host, u64::from(host) + 1))));
    state
}

fn screen(state: &mut State, width: u16, height: u16) -> String {
    let mut canvas = Canvas::new(width, height);
    draw(&mut canvas, state, "plimsoll watch", "every 1s");
    canvas.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<String>>().join("\n")
}

fn press(state: &mut State, keys: &[Key]) {
    for key in keys {
        assert_eq!(state.key(*key), Ask::Nothing, "{key:?}");
    }
}

fn names(state: &State) -> Vec<String> {
    state.rows().0.into_iter().map(|row| row.name).collect()
}

#[test]
fn four_nodes_on_a_small_screen() {
    insta::assert_snapshot!(screen(&mut watching(4), 80, 24));
}

#[test]
fn four_hundred_nodes_on_a_large_screen() {
    let mut state = watching(400);
    press(&mut state, &[Key::Char('>'), Key::End]);
    let shown = screen(&mut state, 200, 60);
    press(&mut state, &[Key::Home]);
    assert!(screen(&mut state, 200, 60).contains("node400") && shown.contains("node001"));
    insta::assert_snapshot!(shown);
}

#[test]
fn four_hundred_nodes_on_a_small_screen_and_four_on_a_large_one() {
    let mut many = watching(400);
    let first = screen(&mut many, 80, 24);
    press(&mut many, &[Key::PageDown, Key::PageDown]);
    let third = screen(&mut many, 80, 24);
    let range = |shown: &str| {
        shown
            .lines()
            .last()
            .map(|foot| foot.split("  ").last().unwrap_or_default().trim().to_owned())
    };
    assert_eq!(
        (range(&first).as_deref(), range(&third).as_deref()),
        (Some("1–18 of 400"), Some("37–54 of 400"))
    );
    press(&mut many, &[Key::Char('/'), Key::Char('3'), Key::Char('9'), Key::Char('9'), Key::Enter]);
    assert!(screen(&mut many, 80, 24).contains("node399"), "the filter finds one in many");
    insta::assert_snapshot!([third, screen(&mut watching(4), 200, 60)].join("\n=====\n"));
}

#[test]
fn help_names_every_key_that_the_foot_does_and_fits_the_smallest_screen_with_a_table() {
    let mut state = watching(4);
    press(&mut state, &[Key::Char('?')]);
    let shown = screen(&mut state, 80, 24);
    for key in ["?", "q", "Enter", "<", "/", "Space", "Tab", "Esc", "r ", "0"] {
        assert!(shown.contains(key), "{key}: {shown}");
    }
    insta::assert_snapshot!([shown, screen(&mut state, 40, 8)].join("\n=====\n"));
}

#[test]
fn what_is_found_on_a_host_stands_among_the_messages() {
    let mut state = watching(2);
    let found = |host| Occurrence {
        host: Some(host),
        at_ns: 12_340_000_000,
        ..Occurrence::new(OccurrenceKind::KernelLog, "nvme1: I/O 5 QID 3 timeout, aborting")
    };
    state.found(&found(1));
    state.found(&found(9));
    let told: Vec<&str> = state.messages(2).collect();
    let line = "12.3 s  kernel log: node002: nvme1: I/O 5 QID 3 timeout, aborting";
    assert_eq!(told, [line, "12.3 s  kernel log: nvme1: I/O 5 QID 3 timeout, aborting"]);
    assert!(screen(&mut state, 80, 24).contains("nvme1: I/O 5"));
}

#[test]
fn containers_on_one_kernel_share_its_devices_and_have_networks_of_their_own() {
    let mut hosts = hosts(2);
    hosts[0].identity = "b00t net:[1] uts:[1] mnt:[1]".to_owned();
    hosts[1].identity = "b00t net:[2] uts:[2] mnt:[2]".to_owned();
    let mut state = State::new(Subject::Hosts, &hosts, None);
    assert_eq!(
        state.messages(9).collect::<Vec<_>>(),
        ["2 nodes on 1 kernel: each counts once in \"all\""]
    );
    state.counters(Box::new(busy(1, 1)));
    assert_eq!(state.total().read.iops, Some(2_100.0), "the first has not told yet");
    state.counters(Box::new(busy(0, 1)));
    assert_eq!(state.total().read.iops, Some(2_100.0));
    assert_eq!(state.total().received_bytes_per_s, Some(2.0 * f64::from(1 << 20)));
    assert!(
        state.rows().0.iter().all(|row| row.cells[0] == Some(2_100.0)),
        "each node's own line has all that it sees"
    );
}

#[test]
fn narrow_screens_drop_columns_and_then_say_what_they_lack() {
    let mut state = watching(4);
    insta::assert_snapshot!(
        [screen(&mut state, 60, 12), screen(&mut state, 40, 8), screen(&mut state, 20, 24)]
            .join("\n=====\n")
    );
}

#[test]
fn no_size_and_no_panel_does_harm() {
    let mut state = watching(7);
    state.say("a message that is longer than some of the screens on which it has to find a place");
    for _ in 0..4 {
        for (width, height) in (0..90)
            .step_by(7)
            .flat_map(|width| (0..40).step_by(3).map(move |height| (width, height)))
        {
            screen(&mut state, width, height);
        }
        press(&mut state, &[Key::Char('?')]);
        screen(&mut state, 41, 9);
        press(&mut state, &[Key::Char('x'), Key::Tab]);
    }
}

#[test]
fn a_lost_host_has_no_figures_and_is_in_no_total() {
    let mut state = watching(4);
    let before = state.total().read.iops;
    state.lost(3, "its connection\nended");
    assert_eq!((before, state.total().read.iops), (Some(21_000.0), Some(12_600.0)));
    insta::assert_snapshot!(screen(&mut state, 80, 14));
}

#[test]
fn two_agents_on_one_machine_count_its_kernel_once() {
    let mut hosts = hosts(3);
    hosts[..2].iter_mut().for_each(|facts| facts.identity = "one machine".to_owned());
    let mut state = State::new(Subject::Hosts, &hosts, None);
    (0..3).for_each(|host| state.counters(Box::new(busy(host, 1))));
    assert_eq!(state.total().read.iops, Some(2.0 * 2_100.0));
    state.lost(0, "gone");
    assert_eq!(
        state.total().read.iops,
        Some(2.0 * 2_100.0),
        "the other one tells of the same kernel"
    );
}

#[test]
fn a_device_that_disappears_stays_as_gone() {
    let mut state = watching(2);
    press(&mut state, &[Key::Enter]);
    let mut next = busy(0, 3);
    next.entries.retain(|entry| entry.name != "nvme1n1");
    // A kernel that counts requests and not their time.
    next.entries.iter_mut().filter(|entry| entry.layer == Layer::Block).for_each(|entry| {
        entry.values.retain(|(metric, _)| metric.word() != "read_ns");
    });
    state.counters(Box::new(next));
    assert_eq!(names(&state), ["nvme0n1", "nvme1n1"]);
    insta::assert_snapshot!(screen(&mut state, 80, 12));
}

#[test]
fn a_node_has_devices_ports_and_cores() {
    let mut state = watching(2);
    press(&mut state, &[Key::Down, Key::Enter, Key::Tab]);
    let ports = screen(&mut state, 80, 10);
    press(&mut state, &[Key::Tab]);
    insta::assert_snapshot!([ports, screen(&mut state, 80, 10)].join("\n=====\n"));
    press(&mut state, &[Key::Tab]);
    assert_eq!(state.panel(), Panel::Host);
    press(&mut state, &[Key::Enter, Key::Tab]);
    assert_eq!(state.panel(), Panel::Devices);
    press(&mut state, &[Key::Escape]);
    assert_eq!((state.panel(), state.key(Key::Escape)), (Panel::Nodes, Ask::Quit));
}

#[test]
fn a_device_a_port_a_core_and_all_else_can_be_looked_into() {
    let mut state = watching(2);
    press(&mut state, &[Key::Enter, Key::Down, Key::Enter]);
    assert_eq!(
        (state.panel(), state.node_name().as_deref()),
        (Panel::Part, Some("node001 · block nvme1n1"))
    );
    let disk = screen(&mut state, 80, 18);
    press(&mut state, &[Key::Escape, Key::Tab, Key::Tab, Key::Enter]);
    let core = screen(&mut state, 80, 14);
    press(&mut state, &[Key::Left]);
    assert_eq!(state.panel(), Panel::Cores, "back to where it was chosen");
    press(&mut state, &[Key::Tab]);
    insta::assert_snapshot!([disk, core, screen(&mut state, 80, 14)].join("\n=====\n"));

    // A device that goes while it is looked at, and a host that does.
    press(&mut state, &[Key::Tab, Key::Enter]);
    let mut next = busy(0, 3);
    next.entries.retain(|entry| entry.name != "nvme1n1");
    state.counters(Box::new(next));
    assert_eq!((names(&state).len(), state.panel()), (0, Panel::Part));
    press(&mut state, &[Key::Down, Key::Escape, Key::Tab, Key::Tab, Key::Tab]);
    assert_eq!(state.panel(), Panel::Host);
    assert!(names(&state).iter().any(|name| name == "CPU: steal"), "{:?}", names(&state));
    state.lost(0, "gone");
    assert_eq!(names(&state).len(), 0);
}

#[test]
fn the_run_stands_above_its_nodes() {
    let mut recorded = Recorded::with_hosts(
        "[stages]\nmeasure = \"25s\"\n[[workload]]\nname = \"mix\"\nread = \"70%\"\n",
        2,
    );
    recorded.prepare();
    let stage = recorded.stage(StageKind::Measure);
    for second in 0..10 {
        for host in 0..2 {
            recorded.host_interval(
                stage,
                host,
                second,
                &[(Op::Read, &[250_000; 7_000]), (Op::Write, &[900_000; 3_000])],
            );
        }
    }
    let record = recorded.record();
    let mut state = State::new(Subject::Run, &record.testbed, Some(&record.plan));
    screen(&mut state, 80, 14);
    state.event(&Event::StageStarted { stage, unix_ns: 0 });
    let samples = record
        .stages
        .iter()
        .filter(|record| record.stage == stage)
        .flat_map(model::record::StageRecord::samples);
    samples.for_each(|sample| state.event(&Event::Sample(sample.clone())));
    state.event(&Event::Counters(Box::new(busy(0, 10))));
    let note = Note {
        stage: Some(stage),
        host: 1,
        fact: Fact::HostLost {
            name: record.testbed[1].hostname.clone(),
            why: "silent for 10 s".into(),
        },
    };
    state.event(&Event::Note(note));
    insta::assert_snapshot!(screen(&mut state, 80, 14));
    press(&mut state, &[Key::Enter, Key::Tab, Key::Tab, Key::Tab]);
    assert!(names(&state).iter().any(|name| name == "worker 0: CPU"), "{:?}", names(&state));
    press(&mut state, &[Key::Escape]);
    state.event(&Event::Note(Note {
        stage: Some(stage),
        host: 1,
        fact: Fact::HostReturned {
            name: record.testbed[1].hostname.clone(),
            from: TakesPart::NextStage,
        },
    }));
    let shown = screen(&mut state, 80, 14);
    assert!(!shown.contains("silent for 10 s") || shown.contains("it came back"), "{shown}");
    assert!(shown.contains("a host came back"), "{shown}");
}

#[test]
fn the_cursor_stays_on_its_node_when_the_order_changes() {
    let mut state = watching(20);
    press(&mut state, &[Key::Down, Key::Down, Key::Char('1')]);
    assert_eq!(state.rows().1, 17, "node003 has the third least reads");
    press(&mut state, &[Key::Enter]);
    assert_eq!(state.node_name().as_deref(), Some("node003"));
    press(&mut state, &[Key::Left, Key::Char('0'), Key::Char('r')]);
    assert_eq!(names(&state)[0], "node020");
    press(&mut state, &[Key::Char('<')]);
    assert_eq!(state.order().column, 9, "around to the last column");
    press(&mut state, &[Key::Char('>'), Key::PageDown, Key::PageUp, Key::Up]);
    assert_eq!(state.order().column, 0);
}

#[test]
fn a_filter_is_typed_kept_and_cleared() {
    let mut state = watching(20);
    press(
        &mut state,
        &[Key::Char('/'), Key::Char('1'), Key::Char('q'), Key::Backspace, Key::Char('9')],
    );
    assert_eq!(state.filter(), ("19", true));
    press(&mut state, &[Key::Enter]);
    assert_eq!(names(&state), ["node019"]);
    assert_eq!(
        state.total().read.iops,
        watching(20).total().read.iops,
        "a filter hides and does not subtract"
    );
    press(&mut state, &[Key::Escape]);
    assert_eq!(names(&state).len(), 20);
    press(&mut state, &[Key::Char('/'), Key::Char('x'), Key::Enter, Key::Enter, Key::Down]);
    assert_eq!(
        (names(&state).len(), state.panel()),
        (0, Panel::Nodes),
        "there is none to look into"
    );
}

#[test]
fn a_pause_keeps_the_figures_and_misses_none() {
    let mut state = watching(1);
    press(&mut state, &[Key::Char(' ')]);
    state.counters(Box::new(busy(0, 5)));
    assert_eq!(state.total().read.iops, Some(2_100.0));
    press(&mut state, &[Key::Char(' ')]);
    assert_eq!(state.total().read.iops, Some(5.0 * 2_100.0));
}

#[test]
fn keys_ask_for_what_the_view_cannot_do() {
    let asked = |subject, key| State::new(subject, &hosts(1), None).key(key);
    assert_eq!(asked(Subject::Hosts, Key::Interrupt), Ask::Stop);
    assert_eq!(asked(Subject::Run, Key::Char('q')), Ask::Quit);
    assert_eq!(asked(Subject::Hosts, Key::Char('+')), Ask::Nothing);
    assert_eq!(asked(Subject::Replay, Key::Char('+')), Ask::Faster);
    assert_eq!(asked(Subject::Replay, Key::Left), Ask::Step(-10));
    let mut typing = State::new(Subject::Hosts, &hosts(1), None);
    press(&mut typing, &[Key::Char('/'), Key::Char('q')]);
    assert_eq!(typing.key(Key::Interrupt), Ask::Stop, "also while a filter is typed");
}

#[test]
fn numbers_of_hosts_that_are_none_do_no_harm() {
    let mut state = watching(1);
    state.counters(Box::new(busy(9, 5)));
    state.lost(9, "gone");
    assert_eq!(state.host_counts(), (1, 0));
    (0..300).for_each(|number| state.say(&number.to_string()));
    assert_eq!(state.messages(2).collect::<Vec<&str>>(), ["298", "299"]);
}
