//! Whatever stands in a text: results or an error, never a panic, and bounded.

use super::{detect, kind_of_log, read};
use model::foreign::{DoubtKind, Form, MOST_TEXT};
use proptest::prelude::*;

/// Pieces that the readers look for, so that random texts reach into them.
const PIECES: [&str; 58] = [
    "{\"fio version\": \"3\", \"jobs\": [",
    "{\"jobname\": \"a\", \"read\": {",
    "\"total_ios\": 5,",
    "\"clat_ns\": {\"N\": 1, \"bins\": {\"1e99\": 3}",
    "}",
    "]",
    "nan",
    "\"",
    "\\",
    "1e308",
    "-1",
    "18446744073709551616",
    "0",
    " ",
    "\n",
    ",",
    "|",
    ":",
    "<",
    ">",
    "<Results>",
    "</Results>",
    "<TimeSpan><TestTimeSeconds>1",
    "Total IO\n",
    "thread | bytes | I/Os |",
    "total:",
    "%-ile\n",
    "99th | 1 | 2 | 3\n",
    "99999999-nines | 1\n",
    "Results for timespan 4294967299:",
    "tod Run Interval rate\n",
    "avg_1-2 ",
    "Starting RD=x; ",
    "12:00:00 ",
    "[RESULT] find 1 kiops",
    "[SCORE ] TOTAL 1",
    "IOR-3: x\n",
    "Operation Max(MiB) Mean(MiB) Test#\n",
    "write 1 2 1e30\n",
    "SUMMARY rate: (of 1",
    "File creation : 1 2 3 4\n",
    "kB reclen write\n",
    "3;fio-3.33;a;0;0;",
    "2;a;0;0;5;5;5;5;1.0%=9;",
    "a: (groupid=0, jobs=1): err= 0: x\n",
    "  read: IOPS=1k, BW=1MiB/s (1MB/s)(1MiB/1msec)\n",
    "clat percentiles (usec):\n | 1.00th=[ 5],",
    "issued rwts: total=1,2 short=",
    "[ior-easy-write]\nscore = 1\nt_delta = 1e99\n",
    "[SCORE]\nSCORE = ",
    "access,bw(MiB/s),IOPS\n",
    "write,1,2\n",
    "{\"jobs\": [{\"jobname\": \"a\", \"elapsed\": 1}], \"timestamp\": 5}\n",
    "{\"tests\": [{\"Results\": [[{\"access\": \"read\", \"bwMiB\": 1}]]}], \"summary\": [",
    "ä",
    "\u{0}",
    "operation,MiB/s [last]\n",
    "\"operation\": \"READ\", \"IOPS [last]\": 3",
];

fn is_bounded(name: &str, text: &str, form: Form) {
    match read(name, text, form) {
        Ok(results) => {
            for row in &results.rows {
                assert!(row.workload.chars().count() <= MOST_TEXT + 20, "{row:?}");
                assert!(row.measures.iter().all(|measure| measure.value.is_finite()), "{row:?}");
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #[test]
    fn no_text_brings_a_reader_down(
        pieces in prop::collection::vec((0..PIECES.len(), "[ -~\n]{0,6}"), 0..60),
    ) {
        let text: String =
            pieces.iter().map(|(piece, noise)| format!("{}{noise}", PIECES[*piece])).collect();
        for form in Form::ALL {
            is_bounded("a_lat.1.log", &text, *form);
        }
        let _ = detect(&text);
    }

    #[test]
    fn no_bytes_bring_a_reader_down(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        for form in Form::ALL {
            is_bounded(&text, &text, *form);
        }
        let _ = (detect(&text), kind_of_log(&text));
    }
}

#[test]
fn what_is_deep_or_large_is_refused() {
    let deep = format!("{{\"fio version\": {}", "[".repeat(100_000));
    is_bounded("a", &deep, Form::FioJson);
    is_bounded("a", &deep, Form::ElbenchoJson);
    is_bounded("a", &"<Results>".repeat(100_000), Form::DiskSpdXml);
    let large = " ".repeat(super::MOST_BYTES + 1);
    assert!(read("a", &large, Form::Ior).is_err());
}

/// The doubts of a text, and its rows.
fn doubts(text: &str, form: Form) -> (Vec<DoubtKind>, usize) {
    let results = read("a", text, form).expect("results");
    (results.doubts.iter().map(|doubt| doubt.kind).collect(), results.rows.len())
}

#[test]
fn what_is_cut_off_or_impossible_is_said() {
    let job = "a: (groupid=0, jobs=1): err= 0: pid=1: x\n  read: IOPS=2708, BW=10.6MiB/s \
               (11.1MB/s)(21.2MiB/2001msec)\n    clat (usec): min=3, max=67677, avg=547.08, \
               stdev=2454.88\n    clat percentiles (usec):\n     | 50.00th=[  139], 99.00th=[ \
               6718]\n";
    let whole = format!("{job}\nRun status group 0 (all jobs):\n");
    let lines = vec![DoubtKind::LinesLeftOut];
    assert_eq!(doubts(&whole, Form::FioText).0, []);
    assert_eq!(doubts(&job[..job.len() - 4], Form::FioText), (lines.clone(), 1));
    for (figure, other) in [("2708", "-2708"), ("2708", "9e99"), ("547.08", "nan")] {
        assert_eq!(doubts(&whole.replace(figure, other), Form::FioText), (lines.clone(), 1));
    }
    let terse = |kib: &str| {
        let zeros = |count: usize| vec!["0"; count].join(";");
        format!("3;fio-3.33;a;0;0;{kib};10;3;1000;{};{}\n", zeros(37), zeros(60))
    };
    assert_eq!(doubts(&terse("100"), Form::FioTerse).0, []);
    let two = format!("{}{}", terse("100"), &terse("100")[..40]);
    assert_eq!(doubts(&two, Form::FioTerse), (lines.clone(), 1));
    let two = format!("{}{}", terse("100"), terse("-100"));
    assert_eq!(doubts(&two, Form::FioTerse), (lines.clone(), 1));
    let csv = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB)\nwrite,-5,5,0.1,1,1\nread,5,5,\
               0.1,1,1\n";
    assert!(doubts(csv, Form::Ior).0.contains(&DoubtKind::LinesLeftOut));
    let json = "{\"fio version\": \"fio-3.33\", \"jobs\": [{\"jobname\": \"a\", \"read\": \
                {\"total_ios\": 5000, \"runtime\": 2000, \"iops\": 1e308}}]}";
    let results = read("a", json, Form::FioJson).expect("results");
    let doubt = results.doubts.iter().find(|one| one.kind == DoubtKind::AmountOverTime);
    assert_eq!(doubt.map(|one| (one.said, one.computed)), Some((Some(1e308), Some(2500.0))));
}
