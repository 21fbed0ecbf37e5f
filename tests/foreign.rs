//! Results of other tools become run files: shown, compared, followed, reported and exported with
//! what they hold, and refused where a run of our own is needed.

use crate::common::{Ended, Words, names, plimsoll, scratch};
use model::foreign::{
    Doubt, DoubtKind, ForeignRun, Form, GivenLatencies, GivenOption, GivenRow, GivenSeries,
    Measure, Measured, Point, Quantity, Source, Span, Statistic,
};
use model::{Histogram, Op};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Made up, in the form of fio 3: reads and writes of 4 KiB for 10 s. `rate` is that of reads.
fn fio(job: &str, rate: u32) -> String {
    let requests = rate * 10;
    let (fast, slow) = (requests * 9 / 10, requests - requests * 9 / 10);
    let (bytes, bandwidth) = (u64::from(requests) * 4096, u64::from(rate) * 4096);
    format!(
        r#"fio: this is a warning
{{"fio version": "fio-3.33", "timestamp": 18{rate:08}, "timestamp_ms": 18{rate:08}000,
"global options": {{"ioengine": "libaio"}}, "jobs": [{{"jobname": "{job}", "groupid": 0, "error": 0,
"job options": {{"bs": "4k", "rw": "randrw", "iodepth": "8", "numjobs": "1"}},
"read": {{"io_bytes": {bytes}, "io_kbytes": {}, "bw_bytes": {bandwidth}, "bw": {}, "iops": {rate}.0,
"runtime": 10000, "total_ios": {requests}, "short_ios": 0, "drop_ios": 0,
"slat_ns": {{"min": 100, "max": 9000, "mean": 1000.5, "stddev": 10.0, "N": {requests}}},
"clat_ns": {{"min": 800000, "max": 1600000, "mean": 957000.25, "stddev": 180000.0, "N": {requests},
"percentile": {{"50.000000": 897024, "99.900000": 1499136}},
"bins": {{"897024": {fast}, "1499136": {slow}}}}},
"lat_ns": {{"min": 801000, "max": 1609000, "mean": 958000.75, "stddev": 181000.0, "N": {requests}}},
"bw_min": 3900, "bw_max": 4100, "bw_agg": 100.0, "bw_mean": 4000.5, "bw_dev": 12.25,
"bw_samples": 19, "iops_min": 990, "iops_max": 1010, "iops_mean": 1000.25, "iops_stddev": 3.5,
"iops_samples": 19}},
"write": {{"total_ios": 0}}, "trim": {{"total_ios": 0}},
"usr_cpu": 1.5, "sys_cpu": 3.25}}]}}
"#,
        bytes / 1024,
        bandwidth / 1024
    )
}

fn ok(folder: &Path, line: impl Words) -> Ended {
    plimsoll(folder, line).with_code(0)
}

fn json(folder: &Path, line: impl Words) -> Value {
    serde_json::from_str(&ok(folder, line).out).expect("JSON")
}

fn imported(folder: &Path, name: &str, text: &str) -> String {
    let run = format!("{}.plimsoll", name.split('.').next().unwrap_or(name));
    fs::write(folder.join(name), text).expect("written");
    ok(folder, ["import", name, "-o", &run]);
    run
}

#[test]
fn results_of_fio_go_into_a_run_file_and_come_back_as_they_were() {
    let folder = &scratch();
    let run = imported(folder, "a.json", &fio("job", 1000));
    let first = json(folder, ["show", &run, "--json"]);
    assert_eq!((&first["foreign"], &first["quotable"]), (&true.into(), &false.into()));
    assert_eq!(first["sources"][0]["file"], "a.json");
    assert_eq!(first["sources"][0]["form"], "fio-json");
    assert_eq!(first["sources"][0]["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(first["doubts"].as_array().map(Vec::len), Some(1), "the warning before the JSON");
    ok(folder, ["export", &run, "--format", "fio-json", "-o", "b.json"]);
    ok(folder, "import b.json -o b.plimsoll");
    let second = json(folder, "show b.plimsoll --json");
    assert_eq!(first["results"], second["results"], "nothing is lost on the way");
    assert_eq!(first["measured_unix_ns"], second["measured_unix_ns"]);
    // And once more: the text itself stays as it is.
    ok(folder, "export b.plimsoll --format fio-json -o c.json");
    let texts = ["b.json", "c.json"].map(|name| fs::read(folder.join(name)).expect("a text"));
    assert_eq!(texts[0], texts[1]);
    let read: Value = serde_json::from_slice(&texts[0]).expect("JSON");
    let read = &read["jobs"][0]["read"];
    assert_eq!(read["clat_ns"]["bins"]["897024"], 9000);
    assert_eq!((&read["bw"], &read["bw_dev"]), (&4000.into(), &12.25.into()));
}

/// All files below a folder, but no more than there are in any corpus.
fn files_below(folder: &Path, all: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && all.len() < 10_000 {
            files_below(&path, all);
        } else {
            all.push(path);
        }
    }
}

/// What a row says, but for where it stood in its file.
fn rows(shown: &Value) -> Vec<Value> {
    let results = shown["results"].as_array().cloned().unwrap_or_default();
    let plain = |mut row: Value| {
        row.as_object_mut().map(|row| row.remove("place"));
        row
    };
    results.into_iter().map(plain).collect()
}

#[test]
fn results_of_others_are_the_same_after_they_were_written_as_fios_json() {
    let folder = &scratch();
    fs::write(folder.join("own.json"), fio("job", 1000)).expect("written");
    // With `unified_rw_reporting=both`, fio prints the sum beside its parts.
    let text = fio("both", 500);
    let begin = text.find('{').expect("an object");
    let mut both: Value = serde_json::from_str(&text[begin..]).expect("JSON");
    both["jobs"][0]["mixed"] = both["jobs"][0]["read"].clone();
    fs::write(folder.join("both.json"), both.to_string()).expect("written");
    let mut paths = vec![folder.join("own.json"), folder.join("both.json")];
    // A folder with results of other people.
    if let Some(corpus) = std::env::var_os("PLIMSOLL_CORPUS") {
        files_below(Path::new(&corpus), &mut paths);
    }
    let (mut same, mut wrong) = (0, Vec::new());
    for path in &paths {
        let path = path.to_string_lossy();
        for old in ["1.plimsoll", "2.plimsoll", "2.json"] {
            let _ = fs::remove_file(folder.join(old));
        }
        if plimsoll(folder, ["import", &path, "-o", "1.plimsoll"]).code != 0 {
            continue;
        }
        let first = json(folder, "show 1.plimsoll --json");
        if first["sources"][0]["form"] != "fio-json" {
            continue;
        }
        ok(folder, "export 1.plimsoll --format fio-json -o 2.json");
        let back = plimsoll(folder, "import 2.json -o 2.plimsoll");
        if back.code != 0 {
            wrong.push(format!("{path}: {}", back.err));
            continue;
        }
        let second = json(folder, "show 2.plimsoll --json");
        let (first, second) = (rows(&first), rows(&second));
        let differs = first.iter().zip(&second).find(|(one, other)| one != other);
        match differs {
            None if first.len() == second.len() => same += 1,
            None => wrong.push(format!("{path}: {} and {} rows", first.len(), second.len())),
            Some((one, other)) => wrong.push(format!("{path}:\n{one}\n{other}")),
        }
    }
    eprintln!("{same} results of fio are the same after a round trip");
    assert!(same >= 2);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_shown_says_what_it_is_and_what_it_lacks() {
    let folder = &scratch();
    let run = imported(folder, "a.json", &fio("job", 1000));
    let shown = ok(folder, ["show", &run]).out;
    for words in ["results of fio-3.33", "not quotable", "a.json", "SHA-256", "as the tool gave it"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains('±'), "no interval is made up: {shown}");
    let markdown = ok(folder, ["report", &run, "-o", "a.md"]);
    assert!(markdown.err.contains("a.md"));
    let page = ok(folder, ["report", &run]);
    assert!(page.err.contains("a.html"), "{}", page.err);
    let text = fs::read_to_string(folder.join("a.html")).expect("a page");
    assert!(text.contains("measured by fio-3.33") && text.contains("ioengine=libaio"));
    let csv = ok(folder, ["export", &run, "--format", "csv", "-o", "-"]).out;
    assert!(csv.contains("latency_ns,completion,quantile,0.999,1499136\r\n"), "{csv}");
}

#[test]
fn what_needs_a_run_of_our_own_refuses_results_of_others() {
    let folder = &scratch();
    let run = imported(folder, "a.json", &fio("job", 1000));
    for line in [
        &["resume", run.as_str()][..],
        &["verify", &run],
        &["serve", &run],
        &["show", &run, "--suite"],
        &["show", &run, "--fail-if", "p99 > 1ms"],
        &["export", &run, "--table", "series"],
    ] {
        let ended = plimsoll(folder, line);
        assert_ne!(ended.code, 0, "{line:?}: {ended:#?}");
        assert!(!ended.err.contains("panicked") && ended.err.starts_with("error"), "{ended:#?}");
    }
    let again = plimsoll(folder, ["import", "a.json", "-o", &run]);
    assert_eq!(again.code, 2, "no file is overwritten: {again:#?}");
}

#[test]
fn runs_of_others_stand_beside_each_other_and_beside_ours() {
    let folder = &scratch();
    let first = imported(folder, "a.json", &fio("job", 1000));
    let second = imported(folder, "b.json", &fio("job", 1100));
    let compared = json(folder, ["compare", &first, &second, "--json"]);
    let rate = &compared["rows"][0]["figures"][0];
    assert_eq!((&rate["figure"], &rate["interval"]), (&"rate_per_s".into(), &Value::Null));
    assert!(rate["percent"][0].as_f64().is_some_and(|found| (found - 10.0).abs() < 1e-9));
    let gate = plimsoll(folder, ["compare", &first, &second, "--fail-if", "iops < -5%"]);
    assert_eq!(gate.code, 2, "{gate:#?}");
    let trend = ok(folder, ["trend", &second, &first]).out;
    let (a, b) = (trend.find("a (foreign)"), trend.find("b (foreign)"));
    assert!(a.is_some() && a < b, "in the order of time: {trend}");
    let line = "run --rw randread --bs 4k --runtime 1 --target";
    let own = (&line, "sim:constant --out own.plimsoll");
    let ran = plimsoll(folder, own);
    if ran.code != 0 {
        panic!("{ran:#?}");
    }
    let both = ok(folder, ["compare", &first, "own.plimsoll"]).out;
    assert!(both.contains("a (foreign)") && both.contains("own"), "{both}");
    ok(folder, ["report", &first, "own.plimsoll", "-o", "both.html"]);
    let page = fs::read_to_string(folder.join("both.html")).expect("a page");
    assert!(page.contains("Beside each other"));
}

#[test]
fn a_mix_of_fio_stands_beside_the_run_of_the_same_job() {
    let folder = &scratch();
    let earlier = imported(folder, "a.json", &fio("job", 1000));
    ok(
        folder,
        "run --name job --rw randrw --runtime 1 --target sim:constant --out own.plimsoll --quiet",
    );
    let compared = json(folder, ["compare", &earlier, "own.plimsoll", "--json"]);
    let of = |row: &Value| (row["workload"].clone(), row["op"].clone());
    let rows: Vec<_> = compared["rows"].as_array().expect("rows").iter().map(of).collect();
    assert_eq!(rows, [("job".into(), "read".into())], "{compared:#}");
}

#[test]
fn runs_of_ours_are_written_for_programs_made_for_fio() {
    let folder = &scratch();
    let suite = "name = \"s\"\n[[workload]]\nname = \"ior-easy-read\"\nread = \"50%\"\n\
                 [stages]\nmeasure = \"2s\"\n";
    fs::write(folder.join("s.toml"), suite).expect("a suite");
    ok(folder, "run s.toml --target sim:constant --out r.plimsoll");
    ok(folder, "export r.plimsoll --format fio-json -o r.json");
    ok(folder, "import r.json -o theirs.plimsoll");
    let own = json(folder, "show r.plimsoll --json");
    let theirs = json(folder, "show theirs.plimsoll --json");
    let of = |row: &Value| {
        let all = row["measures"].as_array()?;
        let is_of = |one: &&Value| one["measured"] == "bytes_per_s" && one["statistic"] == "whole";
        all.iter().find(is_of)?["value"].as_f64()
    };
    let rows = theirs["results"].as_array().cloned().unwrap_or_default();
    let found = rows.iter().filter_map(of).fold(0.0, f64::max);
    let whole = own["results"].as_array().cloned().unwrap_or_default();
    let rates = whole.iter().filter_map(|row| row["bytes_per_s"].as_f64());
    let most = rates.fold(0.0, f64::max);
    // fio's form has no sum of reads and writes, which do half each.
    assert!(most > 0.0 && found > most * 0.4 && found < most * 1.01, "{found} {most}");
}

#[test]
fn broken_results_are_refused_and_leave_nothing_behind() {
    let folder = &scratch();
    let whole = fio("job", 1000);
    fs::write(folder.join("half.json"), &whole[..whole.len() / 2]).expect("written");
    let ended = plimsoll(folder, "import half.json -o r.plimsoll");
    assert_eq!(ended.code, 2, "{ended:#?}");
    assert!(ended.err.contains("half.json") && ended.err.contains("line"), "{}", ended.err);
    assert_eq!(names(folder), ["half.json"]);
    let evil = fio("\\u001b]0;x\\u0007\\u202e", 1000);
    let run = imported(folder, "evil.json", &evil);
    let shown = ok(folder, ["show", &run]);
    assert!(!shown.out.contains('\u{1b}') && !shown.out.contains('\u{202e}'), "{}", shown.out);
}

#[test]
fn a_folder_of_machines_and_its_summary_become_one_run() {
    let folder = &scratch();
    let test = folder.join("vdb-4k-1700000000");
    fs::create_dir(&test).expect("a folder");
    for (machine, rate) in [("a", 1000), ("b", 1100)] {
        fs::write(test.join(format!("vm-{machine}-0.json")), fio("job", rate)).expect("written");
    }
    fs::write(test.join("notes.txt"), "nobody's results").expect("written");
    let summary = "Datastore     = vsan\n=============================\nJOB_NAME\t= job\n\
                   VMs\t\t= 2\nIOPS\t\t= 2100.00 IO/S\nTHROUGHPUT\t= 8.20 MB/s\n\
                   R_LATENCY\t= 0.9580 ms\nW_LATENCY\t= 0.0000 ms\n\
                   95%tile_R_LAT\t= 1.4990 ms\n95%tile_W_LAT\t= 0.0000 ms\n\
                   =============================\n";
    fs::write(folder.join("vdb-4k-1700000000-res.txt"), summary).expect("written");
    ok(folder, "import vdb-4k-1700000000 -o r.plimsoll");
    let shown = json(folder, "show r.plimsoll --json");
    assert_eq!(shown["sources"].as_array().map(Vec::len), Some(3));
    assert_eq!(shown["sources"][0]["form"], "hcibench-summary");
    let kinds: Vec<&Value> =
        shown["doubts"].as_array().into_iter().flatten().map(|doubt| &doubt["kind"]).collect();
    assert!(kinds.contains(&&"quantiles-averaged".into()), "{kinds:?}");
    let empty = folder.join("empty");
    fs::create_dir(&empty).expect("a folder");
    let ended = plimsoll(folder, "import empty");
    assert_eq!(ended.code, 2, "{ended:#?}");
    assert!(ended.err.contains("no file in it holds results"), "{}", ended.err);
}

#[test]
fn results_that_are_faster_than_a_described_testbed_are_doubted() {
    let folder = &scratch();
    let run = imported(folder, "a.json", &fio("job", 1000));
    let fast = imported(folder, "b.json", &fio("job", 40_000_000));
    let doubts = |run: &str| {
        let line = ["show", run, "--json", "--testbed", "vsan-four-corners"];
        let shown = json(folder, line);
        let all = shown["doubts"].as_array().cloned().unwrap_or_default();
        all.iter().filter(|doubt| doubt["kind"] == "faster-than-the-testbed").count()
    };
    assert_eq!((doubts(&run), doubts(&fast)), (0, 1));
    let shown = ok(folder, ["show", &fast, "--testbed", "vsan-four-corners"]).out;
    assert!(shown.contains("the described testbed"), "{shown}");
}

/// Values that no machine measures, and texts that nobody should print as they are.
fn hostile_run(seed: u64) -> ForeignRun {
    const VALUES: [f64; 14] = [
        0.0,
        -0.0,
        -1.0,
        1e-300,
        5e-324,
        1.0,
        1e9,
        1e18,
        1e24,
        1e25,
        1e300,
        f64::MAX,
        f64::NAN,
        f64::INFINITY,
    ];
    // Every other run holds what can be read, however strange it is.
    let values: &[f64] =
        if seed.is_multiple_of(2) { &VALUES } else { &[0.0, 5e-324, 1.0, 1e9, 1e18, 1e24] };
    let texts = [
        String::new(),
        "\u{1b}]0;x\u{7}\u{202e}\u{0}".to_owned(),
        "<script>alert(1)</script>".to_owned(),
        "ä".repeat(5_000),
        "a,b\"c\n[[workload]]\r\n".to_owned(),
        "job".to_owned(),
    ];
    let mut rng = model::rng::Rng::new(seed);
    let mut at = |most: usize| rng.below(most as u64) as usize;
    let rows = (0..1 + at(6)).map(|_| hostile_row(&mut at, &texts, values, seed)).collect();
    ForeignRun {
        run_id: texts[at(texts.len())].clone(),
        name: texts[at(texts.len())].clone(),
        version: texts[at(texts.len())].clone(),
        imported_unix_ns: [0, 1, i64::MAX as u64][at(3)],
        measured_unix_ns: [None, Some(0), Some(i64::MAX as u64)][at(3)],
        sources: vec![Source {
            form: Form::ALL[at(Form::ALL.len())],
            tool_version: texts[at(texts.len())].clone(),
            file: texts[at(texts.len())].clone(),
            bytes: i64::MAX as u64,
            sha256: texts[at(texts.len())].clone(),
        }],
        rows,
        doubts: (0..at(4))
            .map(|_| Doubt {
                kind: DoubtKind::ALL[at(DoubtKind::ALL.len())],
                name: texts[at(texts.len())].clone(),
                said: Some(values[at(values.len())]),
                computed: Some(values[at(values.len())]),
            })
            .collect(),
    }
}

fn hostile_row(
    at: &mut dyn FnMut(usize) -> usize,
    texts: &[String],
    values: &[f64],
    seed: u64,
) -> GivenRow {
    let ops = [None, Some(Op::Read), Some(Op::Write), Some(Op::Stat), Some(Op::Fsync)];
    let statistics = [
        Statistic::Whole,
        Statistic::Mean,
        Statistic::StdDev,
        Statistic::Most,
        Statistic::Count,
        Statistic::Quantile(1),
        Statistic::Quantile(1_000_000_000),
    ];
    let mut row = GivenRow::new("", ops[at(ops.len())], "1");
    row.workload.clone_from(&texts[at(texts.len())]);
    row.place.clone_from(&texts[at(texts.len())]);
    row.group = [0, 1, u32::MAX][at(3)];
    row.options = (0..at(4))
        .map(|_| GivenOption {
            name: texts[at(texts.len())].clone(),
            value: texts[at(texts.len())].clone(),
        })
        .collect();
    for _ in 0..at(8) {
        let measured = Measured::ALL[at(Measured::ALL.len())];
        let span = [None, Some(Span::Total), Some(Span::Completion)][at(3)];
        let statistic = statistics[at(statistics.len())];
        let quantity = Quantity { measured, span, statistic };
        // Past what the type itself would leave out.
        row.measures.push(Measure { quantity, value: values[at(values.len())] });
    }
    let quantity = Quantity::whole(Measured::Rate);
    let point = |at_ms: u64| Point { at_ms, value: values[at_ms as usize % values.len()] };
    let times: [u64; 7] = [0, 1, 7, 1 << 40, 1 << 50, 1 << 51, 1 << 62];
    let times: &[u64] = if seed.is_multiple_of(2) { &times } else { &times[..5] };
    let points = (0..at(times.len() + 1)).map(|_| point(times[at(times.len())])).collect();
    row.series = vec![GivenSeries { quantity, points }];
    if at(2) == 0 {
        let mut latency = Histogram::new();
        latency.record_many([0, 1, u64::MAX][at(3)], [0, 1, u64::MAX / 2][at(3)]);
        let error_permille = [0, 1_000, u32::MAX][at(3)];
        row.latencies = Some(GivenLatencies { span: Span::Total, latency, error_permille });
    }
    row
}

/// The writer gives each file its checksums, so that nothing but its values can be wrong.
#[test]
fn forged_run_files_are_shown_or_refused_with_the_reason() {
    let folder = &scratch();
    let good = imported(folder, "good.json", &fio("job", 1000));
    let (mut shown, mut refused) = (0, 0);
    for seed in 0..24 {
        let run = format!("{seed}.plimsoll");
        let written = store::write_foreign(&folder.join(&run), &hostile_run(seed));
        if written.is_err() {
            continue;
        }
        let page = format!("{seed}.html");
        let csv = format!("{seed}.csv");
        let fio = format!("{seed}.json");
        let lines: [&[&str]; 6] = [
            &["show", &run],
            &["show", &run, "--json"],
            &["compare", &good, &run],
            &["report", &run, "-o", &page],
            &["export", &run, "--format", "csv", "-o", &csv],
            &["export", &run, "--format", "fio-json", "-o", &fio],
        ];
        for line in lines {
            let ended = plimsoll(folder, line);
            let all = format!("{}{}", ended.out, ended.err);
            assert!(!all.contains("panicked"), "{seed} {line:?}: {all}");
            // What is for programs has all letters that JSON allows.
            let acts = all.contains(['\u{1b}', '\u{7}'])
                || (!line.contains(&"--json") && all.contains('\u{202e}'));
            assert!(!acts, "{seed} {line:?}: {all:?}");
            match ended.code {
                0 => shown += 1,
                _ => {
                    refused += 1;
                    assert!(ended.err.starts_with("error"), "{seed} {line:?}: {}", ended.err);
                    assert!(ended.err.len() < 2_000, "{seed} {line:?}");
                }
            }
        }
        if let Ok(page) = fs::read_to_string(folder.join(page)) {
            assert!(!page.contains("<script>alert"), "{seed}: a text acts in the page");
        }
    }
    assert!(shown > 0 && refused > 0, "{shown} shown, {refused} refused: both are tried");
}
