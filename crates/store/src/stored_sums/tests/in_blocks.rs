//! Files whose samples are in blocks, beside those that have them in rows.

use super::*;

/// Writes a course with its samples in blocks as soon as can be; with how many blocks it has.
fn write_in_blocks(course: &Course, record: &Record, path: &Path) -> i64 {
    let writer = Writer::create(path, &record.plan, &record.testbed, "test", 0).expect("room");
    let writer = writer.with_blocks_of(course.least).with_sample_rows(0);
    append_to(writer, course, record);
    count(path, "SELECT count(*) FROM sample_blocks")
}

/// Both files of a course, and how many blocks the second has.
fn both(course: &Course, folder: &Path) -> (PathBuf, PathBuf, i64) {
    let (rows, _) = write(course, folder);
    let record = Recorded::with_hosts(SUITES[course.suite], HOSTS as usize).record();
    let path = folder.join("blocks.plimsoll");
    let blocks = write_in_blocks(course, &record, &path);
    (rows, path, blocks)
}

/// All figures of a file; single rows by their places, because blocks hand them out host by host.
pub(super) fn sorted(path: &Path) -> Vec<Figures> {
    let mut all: Vec<Figures> = figures(path).into_iter().map(|one| one.expect("a file")).collect();
    for figures in &mut all {
        if let Figures::Samples(rows) = figures {
            rows.sort_by_key(|row| (row.stage, row.interval, row.host, row.work, row.op));
        }
    }
    all
}

#[test]
fn samples_in_blocks_are_those_in_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let (rows, path, blocks) = both(&plain(), folder.path());
    assert!(blocks > 2, "{blocks} blocks");
    assert_eq!(sorted(&path), sorted(&rows));
    let held = |path: &Path| read(path).expect("a file").samples().cloned().collect::<Vec<_>>();
    assert_eq!(held(&path), held(&rows));
    let left = |path: &Path| count(path, "SELECT count(*) FROM samples");
    assert!(left(&path) * 2 < left(&rows), "most are no rows");
}

/// Figures that rest on a part of a block are added up from its samples.
#[test]
fn a_part_of_a_block_is_read_from_its_columns() {
    let folder = tempfile::tempdir().expect("a folder");
    let course = Course { lost: Some((1, 13)), least: 60, ..plain() };
    let (rows, path, blocks) = both(&course, folder.path());
    assert!(blocks > 1, "{blocks} blocks");
    assert_eq!(sorted(&path), sorted(&rows));
}

#[test]
fn a_thinned_run_takes_blocks_away_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let course = Course { least: 20, ..plain() };
    let (rows, _) = write(&course, folder.path());
    let mut record = Recorded::with_hosts(SUITES[0], HOSTS as usize).record();
    record.plan.keep.full = Some(Nanos::seconds(9));
    let path = folder.path().join("thinned.plimsoll");
    let blocks = write_in_blocks(&course, &record, &path);
    let file = open(&path);
    let thinned: i64 =
        file.query_row("SELECT count(*) FROM thinned", [], |row| row.get(0)).expect("a count");
    let (planned, there): (i64, i64) = file
        .query_row(
            "SELECT sum(pieces), (SELECT count(*) FROM sample_columns) FROM sample_blocks",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .expect("counts");
    assert!(thinned > 2 && blocks > 0, "{thinned} are gone, {blocks} are left");
    assert_eq!(planned, there);
    assert_eq!(differs(&rows, &path), None);
}

/// What a file hands out stage by stage, beside what a record of it holds.
pub(super) fn assert_handed_out(path: &Path) {
    let whole = read(path).expect("a file");
    let record = crate::read_to_resume(path).expect("a file");
    assert!(record.stages.iter().all(|stage| stage.samples().is_empty()), "nothing is held");
    let mut stages = crate::Stages::of(path).expect("a file");
    for stage in &whole.stages {
        let (mut samples, mut counters) = (Vec::new(), Vec::new());
        let mut last = std::collections::BTreeMap::new();
        let taken = stages.each(&record, stage.stage, |event| {
            match event {
                Event::Sample(sample) => {
                    let before = last.insert(sample.host, sample.interval);
                    assert!(before < Some(sample.interval), "each host's in order");
                    samples.push(sample);
                }
                Event::Counters(sample) => counters.push(*sample),
                other => panic!("{other:?}"),
            }
            Ok::<(), ()>(())
        });
        taken.expect("a file");
        samples.sort_by_key(|sample| (sample.interval, sample.host));
        counters.sort_by_key(|sample| (sample.number, sample.host));
        assert_eq!(samples, stage.samples());
        assert_eq!(counters, stage.counters());
    }
    crate::in_time::tests::assert_in_time(path);
}

#[test]
fn what_is_gone_on_with_is_handed_out_stage_by_stage() {
    for course in
        [plain(), Course { killed: Some(120), ..plain() }, Course { least: 9_999, ..plain() }]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let (rows, path, _) = both(&course, folder.path());
        assert_handed_out(&path);
        assert_handed_out(&rows);
        change(&rows, "DELETE FROM sums");
        assert_handed_out(&rows);
    }
}

#[test]
fn damage_is_found_by_whoever_goes_on_with_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let (rows, path, _) = both(&plain(), folder.path());
    let record = crate::read_to_resume(&path).expect("a file");
    for (path, sql) in [
        (&path, "DELETE FROM sample_columns WHERE piece = 2"),
        (&path, "UPDATE sample_columns SET columns = zeroblob(40) WHERE piece = 3"),
        (&path, "UPDATE samples SET bytes = bytes + 1"),
        (&rows, "UPDATE samples SET bytes = bytes + 1 WHERE rowid = 9"),
        (&rows, "UPDATE workers SET cpu_user_ns = 1 WHERE rowid = 9"),
    ] {
        let copy = folder.path().join("copy.plimsoll");
        std::fs::copy(path, &copy).expect("room");
        change_as_it_is(&copy, sql);
        let mut stages = crate::Stages::of(&copy).expect("a file");
        let all = record
            .stages
            .iter()
            .try_for_each(|stage| stages.each(&record, stage.stage, |_| Ok::<(), ()>(())));
        assert!(all.is_err(), "{sql}");
    }
}

#[test]
fn damage_of_a_block_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, path, _) = both(&plain(), folder.path());
    for sql in [
        "DELETE FROM sample_columns WHERE piece = 2",
        "UPDATE sample_columns SET host = host + 1 WHERE piece = 1",
        "UPDATE sample_columns SET columns = zeroblob(40) WHERE piece = 3",
        "DELETE FROM sample_blocks",
        "UPDATE sample_blocks SET pieces = pieces - 1",
        "DELETE FROM sums; DELETE FROM stage_sums",
    ] {
        let copy = folder.path().join("copy.plimsoll");
        std::fs::copy(&path, &copy).expect("room");
        change_as_it_is(&copy, sql);
        assert!(read(&copy).is_err(), "{sql}");
        assert!(crate::each_sample(&copy, |_| Ok::<(), ()>(())).is_err(), "{sql}");
        // By hand, and said so: it is refused or read, and nothing breaks.
        change(&copy, "");
        let _ = figures(&copy);
    }
}

/// Somebody who makes a file has its checksums right.
#[test]
fn two_blocks_with_one_piece_in_common_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, path, blocks) = both(&plain(), folder.path());
    assert!(blocks > 1, "{blocks} blocks");
    let sql = "UPDATE sample_blocks SET first = (SELECT min(first) FROM sample_blocks), pieces = \
               (SELECT pieces FROM sample_blocks ORDER BY block LIMIT 1)";
    change(&path, sql);
    let told = read(&path).expect_err("samples would count twice").to_string();
    assert!(told.contains("of samples have a piece in common"), "{told}");
    for sql in ["UPDATE sample_blocks SET pieces = -1", "UPDATE sample_blocks SET first = -9"] {
        change(&path, sql);
        let told = read(&path).expect_err("no piece").to_string();
        assert!(told.contains("has no pieces that can be"), "{told}");
    }
}

/// A piece that ends early, at every length, with its checksum right.
#[test]
fn a_piece_that_is_cut_off_is_refused_at_every_length() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, path, _) = both(&plain(), folder.path());
    let length = count(&path, "SELECT length(columns) FROM sample_columns WHERE piece = 1");
    for end in (0..length).step_by(usize::try_from(length / 23).unwrap_or(1).max(1)) {
        let copy = folder.path().join("copy.plimsoll");
        std::fs::copy(&path, &copy).expect("room");
        let cut = format!(
            "UPDATE sample_columns SET columns = substr(columns, 1, {end}) WHERE piece = 1"
        );
        change(&copy, &cut);
        assert!(read(&copy).is_err(), "{end} of {length} bytes");
    }
}

#[test]
#[ignore = "a proof"]
fn no_flipped_bit_of_a_block_changes_a_figure_in_silence() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, path, _) = both(&plain(), folder.path());
    let (good, bytes) = (figures(&path), std::fs::read(&path).expect("a file"));
    let copy = folder.path().join("copy.plimsoll");
    let mut rng = model::rng::Rng::new(11);
    for _ in 0..150 {
        let (place, bit) = (rng.below(bytes.len() as u64) as usize, rng.below(8));
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << bit;
        std::fs::write(&copy, &flipped).expect("room");
        for (told, good) in figures(&copy).iter().zip(&good) {
            assert!(told.is_err() || told == good, "byte {place}, bit {bit}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    #[ignore = "a proof"]
    fn no_course_makes_a_file_in_blocks_say_something_else(course in any_course()) {
        let folder = tempfile::tempdir().expect("a folder");
        let (rows, path, _) = both(&course, folder.path());
        prop_assert_eq!(sorted(&path), sorted(&rows));
        assert_handed_out(&path);
    }
}

/// Marks and single latencies stand in tables that blocks of sums do not count.
#[test]
fn marks_and_single_latencies_of_every_block_are_handed_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let course = Course { least: 20, ..plain() };
    let mut record = Recorded::with_hosts(SUITES[0], HOSTS as usize).record();
    record.plan.hosts.iter_mut().for_each(|host| host.engine.contents.verify = true);
    let mut marked = events(&course, &record);
    for event in &mut marked {
        let Event::Sample(sample) = event else { continue };
        let at = sample.interval * HOSTS + sample.host;
        // Not in every interval: where none is written, nothing says where a block ends.
        if sample.interval % 4 == sample.host {
            continue;
        }
        for worker in &mut sample.workers {
            worker.mark = Some(model::WriteMark { sent: at, ..model::WriteMark::default() });
        }
        if let Some(op) = sample.ops.first_mut() {
            op.raw_latencies = vec![u64::from(at)];
        }
    }
    let path = folder.path().join("marked.plimsoll");
    let writer = Writer::create(&path, &record.plan, &record.testbed, "test", 0).expect("room");
    let mut writer = writer.with_blocks_of(course.least);
    for together in marked.chunks(course.together) {
        writer.append_all(together).expect("room");
    }
    writer.finish().expect("room");
    let count = |sql: &str| -> i64 {
        let file = open(&path);
        file.query_row(sql, [], |row| row.get(0)).expect("a count")
    };
    assert!(count("SELECT count(*) FROM sums") > 2);
    assert!(count("SELECT count(*) FROM write_marks") > 20);
    assert_handed_out(&path);
    let whole = read(&path).expect("a file");
    for host in 0..HOSTS {
        let own = crate::read_of_host(&path, host).expect("a file");
        let sent = |record: &Record| -> Vec<(u32, u32)> {
            let of_host = record.samples().filter(|sample| sample.host == host);
            let marks = of_host.flat_map(|sample| {
                sample
                    .workers
                    .iter()
                    .filter_map(|own| Some((sample.stage, own.mark.as_ref()?.sent)))
            });
            marks.collect()
        };
        assert!(!sent(&whole).is_empty());
        assert_eq!(sent(&own), sent(&whole));
    }
    change_as_it_is(&path, "UPDATE write_marks SET sent = sent + 1 WHERE rowid = 5");
    assert!(crate::Stages::of(&path).is_err(), "a mark that changed is found");
}
