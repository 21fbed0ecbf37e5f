use super::*;

const TERMS: Terms = Terms { detect_percent: 3.0, power: 0.9, alpha: 0.05 };
const MINUTE: Nanos = Nanos(60_000_000_000);

fn judged(answer: Answer, percent: f64, ends: [f64; 2]) -> Judged {
    Judged {
        answer,
        percent: Some(percent),
        interval: Interval { low: ends[0], high: ends[1] },
        confidence: 0.95,
        visible_percent: Some(8.04),
        needed: Some(240),
    }
}

fn told(judged: &[Judged], runs: Runs) -> Told<'_> {
    Told {
        sides: ["./a <`b`> | c", "./b"],
        terms: TERMS,
        subjects: &[Subject::CommandTime],
        judged,
        answer: judged[0].answer,
        runs,
        took: Nanos(20 * MINUTE.0),
        budget: Nanos(20 * MINUTE.0),
    }
}

const PAIRS: Runs = Runs::Pairs { pairs: 40, seed: 7, each: Nanos(MINUTE.0 / 2) };

#[test]
fn each_answer_is_said_in_a_line() {
    let worse = [judged(Answer::Regression, 5.2, [3.1, 7.4])];
    assert_eq!(
        headline(&told(&worse, PAIRS)),
        "regression: command time +5.2 % (95 %: +3.1 to +7.4 %)"
    );
    let unknown = [judged(Answer::CannotTell, 1.0, [-5.0, f64::INFINITY])];
    assert_eq!(
        headline(&told(&unknown, PAIRS)),
        "cannot tell: this machine sees 8.0 % in 20m 00s; 3 % would take 2h 00m"
    );
    let same = [judged(Answer::NoChange, 0.1, [-1.0, 1.0])];
    assert_eq!(headline(&told(&same, PAIRS)), "no change as large as 3 %");
}

#[test]
fn where_nothing_is_known_the_way_out_is_named() {
    let nothing = [Judged {
        visible_percent: None,
        needed: None,
        ..judged(Answer::CannotTell, 1.0, [-100.0, f64::INFINITY])
    }];
    let recorded = Runs::Recorded { base: 1, head: 1, each: None };
    let words = headline(&told(&nothing, recorded));
    assert!(words.contains("more runs of the base"), "{words}");
    assert!(text(&told(&nothing, recorded)).contains("no bound yet"));
    let one = Runs::Pairs { pairs: 1, seed: 7, each: MINUTE };
    let words = headline(&told(&nothing, one));
    assert!(words.ends_with("1 pair is too few; raise --budget"), "{words}");
    let near = [Judged { needed: Some(9), ..judged(Answer::CannotTell, 1.0, [-0.1, 3.0]) }];
    let words = headline(&told(&near, PAIRS));
    assert!(words.contains("half way"), "{words}");
}

#[test]
fn a_regression_is_a_failure_of_junit_and_what_cannot_be_told_an_error() {
    let of = |answer| junit(&told(&[judged(answer, 5.0, [3.0, 7.0])], PAIRS));
    for (answer, counts, element) in [
        (Answer::Regression, "failures=\"1\" errors=\"0\"", "<failure type=\"regression\""),
        (Answer::CannotTell, "failures=\"0\" errors=\"1\"", "<error type=\"cannot-tell\""),
        (Answer::NoChange, "failures=\"0\" errors=\"0\"", "<system-out>no change"),
        (Answer::Improvement, "failures=\"0\" errors=\"0\"", "<system-out>improvement"),
    ] {
        let xml = of(answer);
        assert!(
            xml.starts_with(JUNIT_MARK) && xml.contains(counts) && xml.contains(element),
            "{xml}"
        );
    }
}

#[test]
fn a_command_steers_no_summary_and_no_annotation() {
    let worse = [judged(Answer::Regression, 5.0, [3.0, 7.0])];
    let told = told(&worse, PAIRS);
    let summary = markdown(&told);
    assert!(summary.contains("``` ./a <`b`> | c ```"), "{summary}");
    let line = annotation(&told);
    assert!(line.starts_with("::error title=plimsoll gate::regression"), "{line}");
    assert!(!line.contains("% ") && line.contains("%25"), "{line}");
}

#[test]
fn machines_get_ends_that_are_not_known_as_null() {
    let unknown = [judged(Answer::CannotTell, 1.0, [-5.0, f64::INFINITY])];
    let object = json(&told(&unknown, PAIRS));
    assert_eq!(object["answer"], "cannot-tell");
    assert_eq!(object["figures"][0]["ci"][1], serde_json::Value::Null);
    assert_eq!(object["runs"]["seed"], 7);
}
