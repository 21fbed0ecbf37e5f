//! Files whose samples are on their way from rows into columns when the writer is killed.

use super::*;

/// A run file as a `kill -9` leaves it at this moment.
fn killed(path: &Path, name: &str) -> PathBuf {
    let copy = path.with_file_name(name);
    let journal = |path: &Path| crate::file::place::beside(path, "-wal");
    for (from, to) in [(path.to_owned(), copy.clone()), (journal(path), journal(&copy))] {
        let _ = std::fs::remove_file(&to);
        if from.exists() {
            std::fs::copy(&from, &to).expect("room");
        }
    }
    copy
}

/// What a step leaves: pieces of no block, rows that are in columns, too, and neither.
fn seen(path: &Path) -> [bool; 3] {
    let pieces = count(
        path,
        "SELECT (SELECT count(*) FROM sample_columns) - (SELECT coalesce(sum(pieces), 0) FROM \
         sample_blocks)",
    );
    let rows = count(
        path,
        "SELECT count(*) FROM samples LEFT JOIN intervals USING (stage, host, interval) WHERE \
         phase IS NULL",
    );
    [pieces > 0, rows > 0, pieces == 0 && rows == 0]
}

#[test]
#[ignore = "a proof"]
fn a_kill_between_any_two_steps_loses_nothing_and_doubles_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let course = Course { least: 90, ..plain() };
    let record = Recorded::with_hosts(SUITES[0], HOSTS as usize).record();
    let writer = |name: &str| {
        let path = folder.path().join(name);
        let made = Writer::create(&path, &record.plan, &record.testbed, "test", 0).expect("room");
        (made.with_blocks_of(course.least), path)
    };
    let ((mut plain, rows), (mut moving, blocks)) = (writer("rows"), writer("blocks"));
    moving = moving.with_sample_rows(0);
    let mut all = [0; 3];
    for (number, event) in events(&course, &record).iter().enumerate() {
        plain.append(event).expect("room");
        moving.append(event).expect("room");
        let copy = killed(&blocks, "killed-blocks");
        let state = seen(&copy);
        all.iter_mut().zip(state).for_each(|(all, is_seen)| *all += usize::from(is_seen));
        // Between blocks, nothing is new.
        if !state[2] || number % 16 == 0 {
            let copy = killed(&blocks, "killed-blocks");
            let expected = in_blocks::sorted(&killed(&rows, "killed-rows"));
            assert_eq!(in_blocks::sorted(&copy), expected, "event {number}");
            in_blocks::assert_handed_out(&copy);
        }
    }
    assert!(all.iter().all(|times| *times > 3), "{all:?}: every kind of step was seen");
    plain.finish().expect("room");
    moving.finish().expect("room");
    assert_eq!(seen(&blocks), [false, false, true], "at the end, nothing is left to do");
    assert_eq!(in_blocks::sorted(&blocks), in_blocks::sorted(&rows));
    assert_eq!(moments(&blocks), moments(&rows));
}

/// What all hosts did in each interval, of rows and of moments.
fn moments(path: &Path) -> Vec<(Vec<String>, Vec<Option<i64>>)> {
    let file = open(path);
    let query = "SELECT stage, interval, phase, work, op, sum(hosts), min(start_ns), \
                 max(length_ns), sum(ios), sum(bytes), sum(errors), max(p99_ns), max(max_ns), \
                 CAST(total(times_ns) / 1000 AS INTEGER)
        FROM (SELECT stage, interval, phase, work, op, 1 AS hosts, start_ns, length_ns, ios, \
                 bytes, errors, p99_ns, max_ns, mean_ns * ios AS times_ns
              FROM samples JOIN intervals USING (stage, host, interval)
              UNION ALL
              SELECT stage, interval, phase, work, op, hosts, start_ns, length_ns, ios, bytes, \
                 errors, worst_p99_ns, max_ns, mean_ns * ios FROM moments)
        GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5";
    let mut statement = file.prepare(query).expect("a query");
    let of = |row: &Row<'_>| {
        let names = (0..5).map(|at| Ok(format!("{:?}", row.get_ref(at)?)));
        let numbers = (5..14).map(|at| row.get(at));
        Ok((names.collect::<rusqlite::Result<_>>()?, numbers.collect::<rusqlite::Result<_>>()?))
    };
    statement.query_map([], of).expect("rows").map(|row| row.expect("a row")).collect()
}

#[test]
fn what_could_not_come_back_stays_in_rows_without_a_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let course = Course { least: 20, ..plain() };
    let record = Recorded::with_hosts(SUITES[0], HOSTS as usize).record();
    let path = folder.path().join("refused");
    let writer = Writer::create(&path, &record.plan, &record.testbed, "test", 0).expect("room");
    let mut writer = writer.with_blocks_of(course.least).with_sample_rows(0);
    for (number, event) in events(&course, &record).iter().enumerate() {
        writer.append(event).expect("room");
        if number == 3 {
            // A row of the first block changes behind the writer's back.
            let other = open(&path);
            other.busy_timeout(std::time::Duration::from_secs(5)).expect("a time");
            other
                .execute("UPDATE samples SET bytes = bytes + 1 WHERE rowid = 1", [])
                .expect("room");
        }
    }
    writer.finish().expect("room");
    let pieces = "SELECT (SELECT count(*) FROM sample_columns) = (SELECT sum(pieces) FROM \
                  sample_blocks)";
    assert_eq!(count(&path, pieces), 1);
    assert_eq!(count(&path, "SELECT count(*) FROM samples WHERE rowid = 1"), 1, "it is there");
    assert_eq!(count(&path, "SELECT count(*) FROM sample_blocks WHERE block = 1"), 0);
    assert!(count(&path, "SELECT count(*) FROM sample_blocks") > 2, "others go");
    assert!(read(&path).is_err(), "and whoever reads it is told");
}
