//! Counters in blocks: what they take, and that they are what was counted.

use crate::scaffold::{change, change_as_it_is, count, fresh, open};
use crate::{Writer, each_counter, read, read_judged};
use analysis::testing::Recorded;
use analysis::testing::busy_host::BusyHost;
use model::event::{Event, RunEnd, StageEnd};
use model::rng::Rng;
use model::rows::CounterRow;
use model::{CounterSample, Nanos, Record, StageKind};
use std::collections::BTreeMap;
use std::path::Path;

const HOSTS: u32 = 3;

/// A run of such hosts, and what they count in so many seconds.
fn run(busy: BusyHost, seconds: u32) -> (Record, Vec<Event>) {
    let recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", HOSTS as usize);
    let stage = recorded.stage(StageKind::Measure);
    let mut rng = Rng::new(11);
    let mut events = vec![Event::StageStarted { stage, unix_ns: 0 }];
    for second in 0..seconds {
        let counted = (0..HOSTS).map(|host| busy.second(&mut rng, stage, host, second));
        events.extend(counted.map(|sample| Event::Counters(Box::new(sample))));
    }
    events.push(Event::StageEnded { stage, end: StageEnd::Complete });
    events.push(Event::RunEnded { unix_ns: 1, end: RunEnd::Complete });
    (recorded.record(), events)
}

fn writer(path: &Path, record: &Record) -> Writer {
    Writer::create(path, &record.plan, &record.testbed, "test", 0).expect("room").with_plain(0)
}

fn counted(events: &[Event]) -> Vec<CounterSample> {
    let counted = events.iter().filter_map(|event| match event {
        Event::Counters(sample) => Some(CounterSample::clone(sample)),
        _ => None,
    });
    counted.collect()
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).expect("a file").len()
}

/// The budget: so many bytes for each host and second, whatever it counts.
#[test]
fn counters_of_a_host_take_what_they_may_and_come_back_to_the_bit() {
    for (busy, budget) in [(BusyHost::SMALL, 200), (BusyHost::LARGE, 1_400)] {
        let (_folder, path) = fresh();
        let (record, events) = run(busy, 256);
        let mut writer = writer(&path, &record);
        let empty = length(&path);
        events.chunks(HOSTS as usize).for_each(|some| writer.append_all(some).expect("room"));
        writer.finish().expect("room");
        let samples = u64::from(256 * HOSTS);
        // Rows of the tail leave pages behind that the next ones take; a long run has as few of
        // them as this one.
        let free = count(&path, "PRAGMA freelist_count");
        let each = (length(&path) - empty - free as u64 * 4_096) / samples;
        assert!(each <= budget, "{each} bytes for a host and second");
        assert_eq!(read(&path).expect("a file").stages[0].counters(), counted(&events));
    }
}

#[test]
fn a_killed_run_has_every_sample_that_was_appended() {
    let (_folder, path) = fresh();
    let (record, events) = run(BusyHost::SMALL, 200);
    let mut writer = writer(&path, &record);
    let mut begun = 0;
    for end in [1, 7, 300, 450, 520] {
        writer.append_all(&events[begun..end]).expect("room");
        begun = end;
        let found = read(&path).expect("a file");
        assert_eq!(found.stages[0].counters(), counted(&events[..end]));
    }
}

#[test]
fn a_transaction_that_fails_takes_no_counters_with_it() {
    let (_folder, path) = fresh();
    let (record, events) = run(BusyHost::SMALL, 300);
    let mut writer = writer(&path, &record);
    let ended = &events[events.len() - 2..];
    writer.append_all(&events[..500]).expect("room");
    // A stage that begins twice is refused, and with it all that came together.
    let refused: Vec<Event> = events[500..600].iter().chain(&events[..1]).cloned().collect();
    assert!(writer.append_all(&refused).is_err());
    writer.append_all(&events[500..events.len() - 2]).expect("room");
    writer.append_all(ended).expect("room");
    writer.finish().expect("room");
    assert_eq!(read(&path).expect("a file").stages[0].counters(), counted(&events));
}

/// The sums of all values of what is no state, by layer, name and metric.
fn sums(path: &Path) -> BTreeMap<(String, String, String), u64> {
    let mut sums = BTreeMap::new();
    let taken = each_counter(path, |row: CounterRow| {
        if !row.metric.is_gauge() {
            let of = (row.layer.word().to_owned(), row.name, row.metric.word().to_owned());
            *sums.entry(of).or_default() += row.value;
        }
        Ok::<(), ()>(())
    });
    taken.expect("a file");
    sums.retain(|_, sum| *sum > 0);
    sums
}

#[test]
fn sums_stay_exact_where_single_samples_go_and_sql_finds_them() {
    let (folder, whole) = fresh();
    let thinned = folder.path().join("thinned.plimsoll");
    let (mut record, events) = run(BusyHost::SMALL, 400);
    for (path, full) in [(&whole, None), (&thinned, Some(Nanos::seconds(60)))] {
        record.plan.keep.full = full;
        let mut writer = writer(path, &record);
        events.chunks(50).for_each(|some| writer.append_all(some).expect("room"));
        writer.finish().expect("room");
    }
    let samples = |path: &Path| {
        let mut samples = std::collections::BTreeSet::new();
        let taken = each_counter(path, |row| {
            samples.insert((row.host, row.number));
            Ok::<(), ()>(())
        });
        taken.expect("a file");
        samples.len()
    };
    assert_eq!(samples(&whole), 1_200);
    assert!(samples(&thinned) < 700, "{}", samples(&thinned));
    let expected = sums(&whole);
    assert!(expected.len() > 130);
    assert_eq!(sums(&thinned), expected);
    let file = open(&thinned);
    let query = "SELECT sum(value) FROM layers WHERE layer = ? AND name = ? AND metric = ?";
    for ((layer, name, metric), sum) in expected.iter().step_by(17) {
        let found: i64 =
            file.query_row(query, [layer, name, metric], |row| row.get(0)).expect("a sum");
        assert_eq!(found as u64, *sum);
    }
    read_judged(&thinned).expect("a file");
}

#[test]
fn damage_is_found_wherever_it_is() {
    let (folder, path) = fresh();
    let (record, events) = run(BusyHost::SMALL, 150);
    let mut writer = writer(&path, &record);
    // Without its end: some is in the tail.
    writer.append_all(&events[..events.len() - 2]).expect("room");
    drop(writer);
    read(&path).expect("a good file");
    for sql in [
        "UPDATE counter_blocks SET host = host + 1",
        "UPDATE counter_sums SET value = value + 1",
        "DELETE FROM counter_columns",
        "UPDATE counter_columns SET columns = zeroblob(9)",
        "DELETE FROM counter_tail",
        "UPDATE counter_tail SET number = number + 1",
        "UPDATE counter_shapes SET series = x'02'",
    ] {
        let copy = folder.path().join("copy.plimsoll");
        std::fs::copy(&path, &copy).expect("room");
        change_as_it_is(&copy, sql);
        assert!(read(&copy).is_err(), "{sql}");
        change(&copy, "");
        // By hand, and said so: it is refused or read, and nothing breaks.
        let _ = (read(&copy).is_ok(), read_judged(&copy).is_ok());
    }
}

/// Somebody who makes a file has its checksums right, or leaves them out.
#[test]
fn crafted_blocks_are_refused_with_their_place_and_take_no_memory() {
    let (folder, path) = fresh();
    let (record, events) = run(BusyHost::SMALL, 150);
    let mut writer = writer(&path, &record);
    writer.append_all(&events).expect("room");
    writer.finish().expect("room");
    let length = count(&path, "SELECT length(columns) FROM counter_columns WHERE block = 1");
    // A byte for each value of a shape that repeats its first series.
    let shape = |values: usize| {
        let bytes = [vec![2], vec![0; values - 1]].concat();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("UPDATE counter_shapes SET series = x'{hex}'")
    };
    let cut = |end: i64| {
        format!("UPDATE counter_columns SET columns = substr(columns, 1, {end}) WHERE block = 1")
    };
    let crafted = [
        (shape(crate::coded::MOST_SERIES + 1), "more values than any host"),
        (shape(crate::coded::MOST_SERIES), "block 1 of counters has more of them"),
        ("UPDATE counter_blocks SET samples = 4294967295".to_owned(), "block 1 of counters has"),
        ("UPDATE counter_blocks SET shape = 77".to_owned(), "shape 77, which is not there"),
        (cut(1), "block of counters is cut off"),
        (cut(length / 2), "block of counters is cut off"),
        (cut(length - 1), "block of counters is cut off"),
    ];
    for (sql, words) in crafted {
        let copy = folder.path().join("copy.plimsoll");
        std::fs::copy(&path, &copy).expect("room");
        change(&copy, &sql);
        let told = read(&copy).expect_err(words).to_string();
        assert!(told.contains(words), "{told}");
    }
}
