use super::*;
use crate::ground::testing::has;
use model::Histogram;
use model::canary::{Alert, Ended, Entry, Terms, Totals};

fn state() -> State {
    let terms = Terms {
        suite: "probe".to_owned(),
        rate_milli: 10_000,
        targets: vec![("n1".to_owned(), "/mnt/x".to_owned())],
        objective: "p99.9 < 5ms".parse().expect("an objective"),
        target_ppm: 999_000,
        window: Nanos::seconds(30 * 24 * 3600),
    };
    let mut state = State::new("probe-1".to_owned(), terms);
    let mut latency = Histogram::new();
    latency.record_many(1_000_000, 599);
    let counts = Counts { good: 599, bad: 1 };
    state.apply(&Entry::Ended(Box::new(Ended {
        number: 1,
        began_unix_ns: 10 * SLOT_NS,
        ended_unix_ns: 11 * SLOT_NS,
        file_bytes: 4096,
        totals: Totals {
            requests: 599,
            bytes: 599 * 4096,
            errors: 1,
            missed: 0,
            counts,
            latency: latency.encode(),
        },
        slots: BTreeMap::from([(10, counts)]),
        ..Ended::default()
    })));
    let on = AlertChange { alert: Alert::Fast, is_on: true, unix_ns: 11 * SLOT_NS };
    state.apply(&Entry::Alert(on));
    state
}

#[test]
fn words_objects_and_metrics_have_the_same_figures() {
    let (state, running) = (state(), BTreeMap::new());
    let told = Told { state: &state, running: &running, unanswered: None, unix_ns: 11 * SLOT_NS };
    let text = status(&told);
    assert!(text.contains("99.9% of requests keep: p99.9 < 5ms"), "{text}");
    has(&text, &["alerts     fast", "1 of 600 requests missed the objective"]);
    let line = segment(&state.recent[0], &told);
    assert!(
        line.starts_with("segment 1 of 1970-01-01 00:10:00 UTC, 1m 00s: 1 of 600 requests"),
        "{line}"
    );
    let object = status_object(&told);
    assert_eq!(object["alerts_on"][0], "fast");
    assert_eq!(object["totals"]["requests"], 600);
    let found = metrics_text(&metrics(&told, 5_000_000_000));
    for line in [
        "plimsoll_canary_requests_total{result=\"bad\"} 1\n",
        "plimsoll_canary_alert{alert=\"fast\"} 1\n",
        "plimsoll_canary_alert{alert=\"slow\"} 0\n",
        "plimsoll_canary_burn_rate{window=\"3d\"} ",
        "plimsoll_canary_updated_seconds 5\n",
        "plimsoll_canary_latency_seconds{figure=\"p99\"} 0.001\n",
    ] {
        assert!(found.contains(line), "{line} in {found}");
    }
}

#[test]
fn alerts_and_harm_are_sentences() {
    let (state, running) = (state(), BTreeMap::new());
    let told = Told { state: &state, running: &running, unanswered: None, unix_ns: 11 * SLOT_NS };
    let on = alert(state.alerts[0], &told);
    assert!(
        on.starts_with("alert fast at 1970-01-01 00:11:00 UTC: 1 of 600 requests missed"),
        "{on}"
    );
    let unanswered = Some(Unanswered { requests: 7, oldest_ns: 63_500_000_000 });
    let waits = alert(state.alerts[0], &Told { unanswered, ..told });
    assert!(
        waits.ends_with("; 7 requests have had no answer for 1 s or more, the oldest for 1m 03s"),
        "{waits}"
    );
    let off = alert(AlertChange { is_on: false, ..state.alerts[0] }, &told);
    assert!(off.starts_with("alert fast ended at"), "{off}");
    let slow = harm(Harm::Slow { p99_ns: 9_000_000, usual_ns: 1_000_000 });
    assert_eq!(slow, "p99 is 9 ms, and 1 ms is usual");
}

#[test]
fn burn_rates_are_of_whole_minutes_and_of_what_is_known_of_the_one_that_has_begun() {
    let (mut state, mut running) = (state(), BTreeMap::new());
    state.terms.window = Nanos::seconds(3_600);
    let rates = |running: &BTreeMap<u64, Counts>, unix_ns| {
        let text = status(&Told { state: &state, running, unanswered: None, unix_ns });
        text.lines().find(|line| line.starts_with("burn rate")).unwrap_or_default().to_owned()
    };
    let second = 11 * SLOT_NS + SLOT_NS / 60;
    assert!(rates(&running, second).starts_with("burn rate  1m 00s 1.67, 2m 00s 1.67"));
    running.insert(11, Counts { good: 0, bad: 10 });
    assert!(rates(&running, second).starts_with("burn rate  1m 00s 18.03, "));
    let later = rates(&running, 14 * SLOT_NS);
    assert!(later.starts_with("burn rate  1m 00s –, 2m 00s –, 6m 00s 18.03"), "{later}");
}
