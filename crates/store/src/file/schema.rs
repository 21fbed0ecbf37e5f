//! The tables of a run file. `docs/reference/run-file.md` explains them; a test runs its queries.

/// The version of the tables and of the plan in them. A file of another one is refused.
pub const FORMAT: u32 = 1;

/// The number that the same tables had before the first release.
pub const BEFORE_RELEASE: u32 = 10;

/// The version of files that hold results of other tools: older versions of Plimsoll refuse them.
pub const FOREIGN_FORMAT: u32 = 6;

/// Tells a run file from other SQLite files: `PLIM` in ASCII.
pub const APPLICATION_ID: u32 = 0x504C_494D;

/// All tables of a run file.
pub const ALL_TABLES: [&str; 10] = [
    TABLES, COUNTER_TABLES, CODED_TABLES, THINNED_TABLES, SAMPLE_BLOCK_TABLES, OCCURRENCE_TABLES,
    END_TABLES, FLUSH_TABLES, SUM_TABLES, CHECKSUM_TABLES,
];

/// What a run is, and what its hosts did.
const TABLES: &str = "
CREATE TABLE run (
    run_id TEXT NOT NULL, suite TEXT NOT NULL, scale TEXT NOT NULL, version TEXT NOT NULL,
    started_unix_ns INTEGER NOT NULL, ended_unix_ns INTEGER, state TEXT, reason TEXT, plan TEXT \
                          NOT NULL
);
CREATE TABLE hosts (host INTEGER PRIMARY KEY, hostname TEXT NOT NULL, facts TEXT NOT NULL);
CREATE TABLE points (point INTEGER PRIMARY KEY, scenario TEXT NOT NULL, sweep TEXT NOT NULL, \
                          repetition INTEGER NOT NULL);
CREATE TABLE workloads (point INTEGER NOT NULL, work INTEGER NOT NULL, workload TEXT NOT NULL, \
                          PRIMARY KEY (point, work)) WITHOUT ROWID;
CREATE TABLE stages (
    stage INTEGER PRIMARY KEY, kind TEXT NOT NULL, point INTEGER, started_unix_ns INTEGER NOT \
                          NULL, state TEXT, reason TEXT
);
CREATE TABLE starts (
    stage INTEGER NOT NULL, host INTEGER NOT NULL, late_ns INTEGER NOT NULL, error_ns INTEGER NOT \
                          NULL, PRIMARY KEY (stage, host)
) WITHOUT ROWID;
CREATE TABLE intervals (
    stage INTEGER NOT NULL, host INTEGER NOT NULL, interval INTEGER NOT NULL, phase TEXT NOT NULL,
    start_ns INTEGER NOT NULL, length_ns INTEGER NOT NULL,
    PRIMARY KEY (stage, host, interval)
) WITHOUT ROWID;
CREATE TABLE samples (
    stage INTEGER NOT NULL, host INTEGER NOT NULL, interval INTEGER NOT NULL, work INTEGER NOT \
                          NULL, op TEXT NOT NULL,
    ios INTEGER NOT NULL, bytes INTEGER NOT NULL, errors INTEGER NOT NULL,
    mean_ns REAL, p50_ns INTEGER, p99_ns INTEGER, max_ns INTEGER, latency BLOB NOT NULL
);
CREATE TABLE errors (
    stage INTEGER NOT NULL, host INTEGER NOT NULL, interval INTEGER NOT NULL, work INTEGER NOT \
                          NULL, op TEXT NOT NULL,
    errno INTEGER NOT NULL, count INTEGER NOT NULL
);
CREATE TABLE workers (
    stage INTEGER NOT NULL, host INTEGER NOT NULL, interval INTEGER NOT NULL, worker INTEGER NOT \
                          NULL,
    cpu_user_ns INTEGER NOT NULL, cpu_system_ns INTEGER NOT NULL
);
CREATE TABLE worker_samples (
    stage INTEGER NOT NULL, host INTEGER NOT NULL, interval INTEGER NOT NULL, worker INTEGER NOT \
                          NULL, op TEXT NOT NULL,
    ios INTEGER NOT NULL, bytes INTEGER NOT NULL, errors INTEGER NOT NULL
);
CREATE TABLE write_marks (
    stage INTEGER NOT NULL, host INTEGER NOT NULL, interval INTEGER NOT NULL, worker INTEGER NOT \
                          NULL,
    base INTEGER NOT NULL, sent INTEGER NOT NULL, completed INTEGER NOT NULL, durable INTEGER NOT \
                          NULL, overtaken INTEGER NOT NULL,
    failed BLOB NOT NULL, more_failed INTEGER NOT NULL
);
CREATE TABLE raw_latencies (
    stage INTEGER NOT NULL, host INTEGER NOT NULL, interval INTEGER NOT NULL, work INTEGER NOT \
                          NULL, op TEXT NOT NULL, latencies BLOB NOT NULL
);
CREATE TABLE notes (note INTEGER PRIMARY KEY, stage INTEGER, host INTEGER NOT NULL, kind TEXT NOT \
                          NULL, detail TEXT NOT NULL);
";

/// The table of what happened at an instant. A fresh run file has it; those of versions without it
/// do not, and are read all the same.
const OCCURRENCE_TABLES: &str = "
CREATE TABLE occurrences (
    occurrence INTEGER PRIMARY KEY, kind TEXT NOT NULL, stage INTEGER, at_ns INTEGER NOT NULL, \
                                     unix_ns INTEGER NOT NULL, host INTEGER,
    label TEXT NOT NULL, detail TEXT NOT NULL, status INTEGER, duration_ns INTEGER
);
";

/// The tables of what hosts had left over at the end of a stage. A fresh run file has them; those
/// of versions without them do not, and are read all the same.
const END_TABLES: &str = "
CREATE TABLE left_over (
    stage INTEGER NOT NULL, host INTEGER NOT NULL, work INTEGER NOT NULL, op TEXT NOT NULL, late \
                              BLOB NOT NULL, never BLOB NOT NULL
);
CREATE TABLE pauses (stage INTEGER NOT NULL, host INTEGER NOT NULL, at_ns INTEGER NOT NULL, \
                              length_ns INTEGER NOT NULL);
";

/// The table of how long targets took to make durable what was written. A fresh run file has it;
/// those of versions without it do not, and are read all the same.
const FLUSH_TABLES: &str = "
CREATE TABLE flushes (
    stage INTEGER NOT NULL, host INTEGER NOT NULL, target TEXT NOT NULL, at_ns INTEGER NOT NULL, \
                                took_ns INTEGER NOT NULL, ended INTEGER NOT NULL, errno INTEGER \
                                NOT NULL
);
";

/// The checksums of all other tables.
pub const CHECKSUM_TABLES: &str = "
CREATE TABLE checksums (
    part TEXT NOT NULL, row INTEGER NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (part, row)
) WITHOUT ROWID;
";

/// The tables of what the samples come to. A fresh run file has them, and nothing in them as long
/// as it has few samples; files of versions without them are read all the same.
const SUM_TABLES: &str = "
CREATE TABLE sums (
    block INTEGER PRIMARY KEY, stages INTEGER NOT NULL, samples INTEGER NOT NULL, errors INTEGER \
                              NOT NULL, workers INTEGER NOT NULL,
    worker_samples INTEGER NOT NULL
);
CREATE TABLE stage_sums (block INTEGER NOT NULL, stage INTEGER NOT NULL, spans BLOB NOT NULL, sums \
                              BLOB NOT NULL, times BLOB NOT NULL);
";

/// The tables of the kernel's counters. A fresh run file has them; those of versions without
/// counters do not, and are read all the same.
pub const COUNTER_TABLES: &str = "
CREATE TABLE counter_samples (
    sample INTEGER PRIMARY KEY, stage INTEGER NOT NULL, host INTEGER NOT NULL, number INTEGER NOT \
                                  NULL,
    start_ns INTEGER NOT NULL, length_ns INTEGER NOT NULL, notes TEXT NOT NULL
);
CREATE INDEX remarks ON counter_samples (host, notes) WHERE notes != '[]';
CREATE TABLE counter_series (series INTEGER PRIMARY KEY, layer TEXT NOT NULL, name TEXT NOT NULL, \
                                  metric TEXT NOT NULL);
CREATE TABLE counters (sample INTEGER NOT NULL, series INTEGER NOT NULL, value INTEGER NOT NULL);
";

/// The tables of the counters of a long run, in blocks of one host each. What a
/// block comes to stands in `counter_sums`; a metric that is a state has there what it was at the
/// end, and what is 0 has no row. `layers` has both, rows of single samples and of blocks.
const CODED_TABLES: &str = "
CREATE TABLE counter_shapes (shape INTEGER PRIMARY KEY, series BLOB NOT NULL);
CREATE TABLE counter_blocks (
    block INTEGER PRIMARY KEY, stage INTEGER NOT NULL, host INTEGER NOT NULL, shape INTEGER NOT \
                                NULL, number INTEGER NOT NULL, samples INTEGER NOT NULL,
    start_ns INTEGER NOT NULL, length_ns INTEGER NOT NULL
);
CREATE TABLE counter_sums (block INTEGER NOT NULL, series INTEGER NOT NULL, value INTEGER NOT \
                                NULL, PRIMARY KEY (block, series)) WITHOUT ROWID;
CREATE TABLE counter_columns (block INTEGER PRIMARY KEY, columns BLOB NOT NULL);
CREATE TABLE counter_tail (
    tail INTEGER PRIMARY KEY, stage INTEGER NOT NULL, host INTEGER NOT NULL, shape INTEGER NOT \
                                NULL, number INTEGER NOT NULL,
    start_ns INTEGER NOT NULL, length_ns INTEGER NOT NULL, notes TEXT NOT NULL, vals BLOB NOT NULL
);
CREATE TABLE counter_remarks (
    stage INTEGER NOT NULL, host INTEGER NOT NULL, number INTEGER NOT NULL, start_ns INTEGER NOT \
                                NULL, length_ns INTEGER NOT NULL, notes TEXT NOT NULL
);
CREATE VIEW layers AS
    SELECT readings.stage, stages.kind, readings.host, readings.number,
           readings.start_ns / 1e9 AS start_s, readings.length_ns / 1e9 AS length_s,
           counter_series.layer, counter_series.name, counter_series.metric, readings.value,
           readings.value / (readings.length_ns / 1e9) AS per_s
    FROM (
        SELECT stage, host, number, start_ns, length_ns, series, value FROM counters JOIN \
                                counter_samples USING (sample)
        UNION ALL
        SELECT stage, host, number, start_ns, length_ns, series, value FROM counter_sums JOIN \
                                counter_blocks USING (block)
    ) AS readings JOIN counter_series USING (series) LEFT JOIN stages ON stages.stage = \
                                readings.stage;
";

/// The tables of what a long run no longer keeps one by one. `moments` has what
/// all hosts together did in such an interval, and `timeline` has both. `host` is null there, and
/// of all hosts' quantiles it has the worst.
const THINNED_TABLES: &str = "
CREATE TABLE thinned (block INTEGER PRIMARY KEY);
CREATE TABLE moments (
    stage INTEGER NOT NULL, interval INTEGER NOT NULL, phase TEXT NOT NULL, work INTEGER NOT \
                                  NULL, op TEXT NOT NULL, hosts INTEGER NOT NULL,
    start_ns INTEGER NOT NULL, length_ns INTEGER NOT NULL, ios INTEGER NOT NULL, bytes INTEGER \
                                  NOT NULL, errors INTEGER NOT NULL,
    mean_ns REAL, worst_p99_ns INTEGER, max_ns INTEGER
);
CREATE VIEW timeline AS
    SELECT workloads.workload, points.sweep, points.repetition, stages.kind, parts.op, \
                                  parts.host, parts.phase,
           parts.start_ns / 1e9 AS start_s,
           parts.ios / (parts.length_ns / 1e9) AS iops,
           parts.bytes / (parts.length_ns / 1e9) / 1048576 AS mib_per_s,
           parts.mean_ns, parts.p50_ns, parts.p99_ns, parts.max_ns, parts.ios, parts.bytes, \
                                  parts.errors
    FROM (
        SELECT stage, host, work, op, phase, start_ns, length_ns, ios, bytes, errors, mean_ns, \
                                  p50_ns, p99_ns, max_ns
        FROM samples JOIN intervals USING (stage, host, interval)
        UNION ALL
        SELECT stage, NULL, work, op, phase, start_ns, length_ns, ios, bytes, errors, mean_ns, \
                                  NULL, worst_p99_ns, max_ns
        FROM moments
    ) AS parts JOIN stages USING (stage) LEFT JOIN points USING (point)
        LEFT JOIN workloads ON workloads.point = stages.point AND workloads.work = parts.work;
";

/// The tables of the samples of a long run, in blocks of one host each. What a
/// block of sums is of then stands here, and no longer in rows. `moments` has what all hosts
/// together did in its intervals.
const SAMPLE_BLOCK_TABLES: &str = "
CREATE TABLE sample_blocks (block INTEGER PRIMARY KEY, first INTEGER NOT NULL, pieces INTEGER NOT \
                                       NULL);
CREATE TABLE sample_columns (
    piece INTEGER PRIMARY KEY, stage INTEGER NOT NULL, host INTEGER NOT NULL, columns BLOB NOT NULL
);
";

/// All tables of a file with results of other tools, besides the checksums.
pub const FOREIGN_TABLES: &str = "
CREATE TABLE foreign_run (
    run_id TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, imported_unix_ns INTEGER NOT \
                                  NULL, measured_unix_ns INTEGER
);
CREATE TABLE foreign_sources (
    source INTEGER PRIMARY KEY, form TEXT NOT NULL, tool TEXT NOT NULL, tool_version TEXT NOT \
                                  NULL, file TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT \
                                  NOT NULL
);
CREATE TABLE foreign_rows (
    row INTEGER PRIMARY KEY, source INTEGER NOT NULL, job INTEGER NOT NULL, workload TEXT NOT \
                                  NULL, op TEXT, place TEXT NOT NULL, options TEXT NOT NULL
);
CREATE TABLE foreign_measures (
    row INTEGER NOT NULL, measured TEXT NOT NULL, span TEXT, statistic TEXT NOT NULL, \
                                  share_billionths INTEGER, value REAL NOT NULL
);
CREATE TABLE foreign_latencies (
    row INTEGER PRIMARY KEY, span TEXT NOT NULL, error_permille INTEGER NOT NULL, latency BLOB \
                                  NOT NULL
);
CREATE TABLE foreign_points (
    row INTEGER NOT NULL, series INTEGER NOT NULL, measured TEXT NOT NULL, span TEXT, statistic \
                                  TEXT NOT NULL, at_ms INTEGER NOT NULL, value REAL NOT NULL
);
CREATE TABLE foreign_doubts (kind TEXT NOT NULL, name TEXT NOT NULL, said REAL, computed REAL);
";
