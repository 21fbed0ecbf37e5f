//! Plans of real runs with damaged numbers: each is refused when its file is read, or runs without
//! a panic and comes to an end.

use crate::common::{plimsoll, scratch};
use engine::Control;
use model::plan::HostPlan;
use model::rng::Rng;
use model::{Plan, Record};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Damaged plans of each run.
const CASES: u64 = 150;
/// A damaged plan may ask for a year. What goes on is stopped after so long.
const STOPPED_AFTER: Duration = Duration::from_millis(30);
/// A run that was stopped has ended by then, or it hangs.
const HANGS_AFTER: Duration = Duration::from_secs(60);

const TREE: &str = "name = \"t\"\n[layout]\nkind = \"tree\"\n[tree]\nfiles = 60\nper_directory = \
                    8\ndepth = 2\n[[workload]]\nname = \"w\"\nkind = \"metadata\"\nworkers = \
                    2\noperations = [\"create\", \"stat\", \"readdir\", \"remove\"]\n";

const SCENARIOS: &str = "name = \"s\"\n[layout]\nsize = \"256KiB\"\n[stages]\nmeasure = \
                         \"100ms\"\ninterval = \"50ms\"\n[[workload]]\nname = \"w\"\nworkers = \
                         2\ndepth = 2\nread = \"70%\"\n[[scenario]]\nname = \
                         \"a\"\n[[scenario]]\nname = \"b\"\nlayout.size = \"512KiB\"\n";

const MIX: &str = "name = \"m\"\n[layout]\nsize = \"512KiB\"\nfiles = 2\n[stages]\nmeasure = \
                   \"100ms\"\ninterval = \"50ms\"\n[[workload]]\nname = \"w\"\nworkers = 2\ndepth \
                   = 4\nread = \"50%\"\nblock_size = \"4KiB:70, 16KiB:30\"\naccess = \
                   \"zipf\"\nrate = 2000\n[sweep]\nworkers = [1, 2]\n";

fn recorded(folder: &Path, suite: &str) -> Record {
    fs::write(folder.join("s.toml"), suite).expect("a suite");
    let data = folder.join("data");
    let args = ("run s.toml -t", [&data], "--quiet --out run.plimsoll --set backend=sync");
    plimsoll(folder, args).with_code(0);
    crate::common::recorded(folder)
}

/// Every place of a number or a list in it, as JSON pointers.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    match value {
        Value::Number(_) => all.push(at.to_owned()),
        Value::Array(list) => {
            all.push(at.to_owned());
            list.iter()
                .enumerate()
                .for_each(|(index, value)| places(value, &format!("{at}/{index}"), all));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| places(value, &format!("{at}/{name}"), all));
        }
        _ => {}
    }
}

/// Damages one number or one list.
fn damage(value: &mut Value, rng: &mut Rng) {
    match value {
        Value::Number(number) => {
            let was = number.as_u64().unwrap_or(0);
            let others = [0, 1, was.wrapping_sub(1), was.wrapping_add(1), was.wrapping_mul(2), 7];
            let large = [u64::from(u32::MAX), 1 << 32, 1 << 53, u64::MAX >> 1, u64::MAX];
            let choices: Vec<u64> = others.into_iter().chain(large).collect();
            *value = choices[rng.below(choices.len() as u64) as usize].into();
        }
        Value::Array(list) if rng.below(2) == 0 || list.is_empty() => list.clear(),
        Value::Array(list) => {
            let last = list[list.len() - 1].clone();
            if rng.below(2) == 0 { list.push(last) } else { list.truncate(list.len() - 1) }
        }
        _ => {}
    }
}

/// Opens a host's targets and runs its stages, each until it is stopped.
fn load(host: &HostPlan, control: &Control) {
    for number in 0..host.part_count() {
        let Some(plan) = host.alone(number) else { return };
        let Ok(targets) = engine::open(plan) else { return };
        for stage in targets.plan().stages.clone() {
            if control.is_stopped() {
                break;
            }
            let _ = engine::run_stage(&targets, &stage, control, &mut || Some(0), &mut |_| {});
        }
        let _ = targets.remove();
    }
}

/// Whether a plan that was read can be carried out without a panic, in bounded time.
fn survives(host: HostPlan, what: &str) {
    let (done, is_done) = channel();
    let control = Control::new();
    let theirs = control.clone();
    let thread = std::thread::spawn(move || {
        load(&host, &theirs);
        let _ = done.send(());
    });
    let mut ended = is_done.recv_timeout(STOPPED_AFTER);
    if ended == Err(RecvTimeoutError::Timeout) {
        control.stop();
        ended = is_done.recv_timeout(HANGS_AFTER);
    }
    assert_ne!(ended, Err(RecvTimeoutError::Timeout), "it hangs: {what}");
    assert!(thread.join().is_ok(), "it panics: {what}");
}

#[test]
fn a_damaged_plan_is_refused_or_runs_to_its_end() {
    for (suite, name) in [(MIX, "mix"), (SCENARIOS, "scenarios"), (TREE, "tree")] {
        let folder = scratch();
        let record = recorded(&folder, suite);
        let whole = serde_json::to_value(&record.plan).expect("JSON");
        assert_eq!(serde_json::from_value::<Plan>(whole.clone()).ok().as_ref(), Some(&record.plan));
        let mut all = Vec::new();
        places(&whole, "", &mut all);
        let (mut refused, mut run) = (0, 0);
        for seed in 0..CASES {
            let mut rng = Rng::new(seed);
            let mut damaged = whole.clone();
            let mut what = format!("{name}, seed {seed}:");
            for _ in 0..=rng.below(2) {
                let place = &all[rng.below(all.len() as u64) as usize];
                // An earlier damage may have taken it away.
                if let Some(value) = damaged.pointer_mut(place) {
                    damage(value, &mut rng);
                    what += &format!(" {place} = {value}");
                }
            }
            let Ok(plan) = serde_json::from_value::<Plan>(damaged) else { continue };
            let out = folder.join("damaged.plimsoll");
            let _ = fs::remove_file(&out);
            let writer = store::Writer::create(&out, &plan, &record.testbed, "0", 1);
            if writer.and_then(store::Writer::finish).is_err() {
                continue;
            }
            match store::read(&out) {
                Err(_) => refused += 1,
                Ok(read) => {
                    run += 1;
                    read.plan.hosts.into_iter().for_each(|host| survives(host, &what));
                }
            }
        }
        assert!(refused > CASES / 10 && run > CASES / 10, "{name}: {refused} refused, {run} run");
    }
}

/// What each number becomes in turn.
const EXTREMES: [u64; 4] = [0, 1, u64::MAX - 1, u64::MAX];

/// Every number of what holds for all hosts at its least and its greatest: the file is refused, or
/// shown, judged and gone on with as far as its plan goes, without a panic.
#[test]
fn a_plan_with_an_extreme_number_is_refused_or_told() {
    let folder = scratch();
    let record = recorded(&folder, MIX);
    let whole = serde_json::to_value(&record.plan).expect("JSON");
    let mut all = Vec::new();
    places(&whole, "", &mut all);
    all.retain(|place| whole.pointer(place).is_some_and(Value::is_number));
    all.retain(|place| !place.starts_with("/hosts/"));
    assert!(all.iter().any(|place| place.contains("/pace/")), "{all:?}");
    let (mut refused, mut told) = (0, 0);
    for place in &all {
        for extreme in EXTREMES {
            let mut damaged = whole.clone();
            *damaged.pointer_mut(place).expect("it is there") = extreme.into();
            let Ok(plan) = serde_json::from_value::<Plan>(damaged) else { continue };
            let out = folder.join("extreme.plimsoll");
            let _ = fs::remove_file(&out);
            let writer = store::Writer::create(&out, &plan, &record.testbed, "0", 1);
            if writer.and_then(store::Writer::finish).is_err() {
                continue;
            }
            match store::read_to_resume(&out) {
                Err(_) => refused += 1,
                Ok(read) => {
                    told += 1;
                    is_told(&read, &format!("{place} = {extreme}"));
                }
            }
        }
    }
    assert!(refused > 10 && told > 10, "{refused} refused, {told} told");
}

fn is_told(record: &Record, what: &str) {
    let telling = std::panic::catch_unwind(|| {
        report::topics::plan::render(&record.plan, &record.testbed);
        report::surfaces::html::render(&[record]);
        model::resume::left_over(record);
        record.plan.fixed_time();
        record.plan.steady_room();
    });
    assert!(telling.is_ok(), "it panics: {what}");
}
