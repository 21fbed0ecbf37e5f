use super::noise::{Machine, Noise};
use super::*;

const TERMS: Terms = Terms { detect_percent: 3.0, power: 0.9, alpha: 0.05 };

fn gate() -> Gate {
    Gate::new(TERMS, vec![Subject::CommandTime])
}

/// The answer on a simulated machine, and after how many pairs.
fn simulated(noise: Noise, seed: u64, percent: f64) -> (Answer, usize) {
    let (mut gate, mut machine) = (gate(), Machine::new(noise, seed));
    while gate.answer() == Answer::CannotTell && gate.pairs() < 600 {
        gate.add(&[machine.pair((percent / 100.0).ln_1p())]);
    }
    (gate.answer(), gate.pairs())
}

fn counted(noise: Noise, percent: f64, wanted: &[Answer]) -> usize {
    (0..100).filter(|seed| wanted.contains(&simulated(noise, *seed, percent).0)).count()
}

#[test]
fn equals_are_called_different_no_more_often_than_stated_whatever_the_noise_is() {
    for noise in Noise::ALL.iter().copied() {
        let alarms = counted(noise, 0.0, &[Answer::Regression, Answer::Improvement]);
        // 5 of 100 are stated; 12 or more happen by chance in one of 250.
        assert!(alarms < 12, "{noise:?}: {alarms} of 100");
    }
}

#[test]
fn a_change_is_found_on_its_side_and_hardly_ever_waved_through() {
    for noise in [Noise::White, Noise::Drift, Noise::HeavyTails] {
        // 90 of 100 are stated, and 10; 81 or 19 happen by chance in one of 200.
        for percent in [3.1, -3.1, 10.0] {
            let wanted = if percent > 0.0 { Answer::Regression } else { Answer::Improvement };
            let found = counted(noise, percent, &[wanted]);
            let waved = counted(noise, percent, &[Answer::NoChange]);
            assert!(found >= 82 && waved < 18, "{noise:?} {percent}: {found} {waved}");
        }
    }
}

#[test]
fn ten_percent_take_fewer_pairs_than_three() {
    let pairs = |percent| (0..20).map(|seed| simulated(Noise::White, seed, percent).1).sum();
    let (three, ten): (usize, usize) = (pairs(3.0), pairs(10.0));
    assert!(ten * 3 < three, "{ten} {three}");
}

#[test]
fn what_is_found_has_an_interval_that_says_the_same() {
    for (seed, percent) in [(1, 0.0), (2, 5.0), (3, -5.0)] {
        let (mut gate, mut machine) = (gate(), Machine::new(Noise::White, seed));
        while gate.answer() == Answer::CannotTell {
            gate.add(&[machine.pair((percent / 100.0_f64).ln_1p())]);
        }
        let judged = gate.judged()[0];
        let Interval { low, high } = judged.interval;
        match judged.answer {
            Answer::NoChange => assert!(low > -3.0 && high < 3.0, "{judged:?}"),
            Answer::Regression => assert!(low > 0.0, "{judged:?}"),
            Answer::Improvement => assert!(high < 0.0, "{judged:?}"),
            Answer::CannotTell => unreachable!("it was decided"),
        }
    }
}

/// Takes in pairs until the answer is known.
fn watched(terms: Terms, pairs: impl IntoIterator<Item = f64>) -> Gate {
    let mut gate = Gate::new(terms, vec![Subject::CommandTime]);
    let mut pairs = pairs.into_iter();
    while gate.answer() == Answer::CannotTell {
        let Some(pair) = pairs.next() else { break };
        gate.add(&[pair]);
    }
    gate
}

#[test]
fn no_change_is_said_only_where_every_larger_shift_is_refuted() {
    let pairs = [
        0.321, 0.346, -0.355, 0.081, 0.102, -0.155, 0.010, 0.468, 0.184, -0.038, -0.188, -0.480,
        -0.080, -0.168, -0.182, -0.202,
    ];
    let terms = Terms { detect_percent: 20.0, ..TERMS };
    let judged = watched(terms, pairs).judged()[0];
    assert_eq!(judged.answer, Answer::CannotTell, "{judged:?}");
    assert!(judged.interval.high > 20.0, "{judged:?}");
}

#[test]
fn whatever_the_pairs_are_an_answer_refutes_every_shift_that_it_excludes() {
    let mut draws = model::rng::Rng::new(7);
    let mut known = 0;
    for seed in 0..240 {
        let noise = Noise::ALL[seed as usize % Noise::ALL.len()];
        let terms = Terms { detect_percent: 1.0 + 30.0 * draws.unit(), ..TERMS };
        let (shift, wider) = (0.3 * (draws.unit() - 0.5), 4.0 * draws.unit());
        let mut machine = Machine::new(noise, seed);
        let gate = watched(terms, (0..40).map(|_| shift + wider * machine.pair(0.0)));
        let judged = gate.judged()[0];
        let (pairs, design) = (&gate.watched[0].pairs, terms.design());
        let Interval { low, high } = judged.interval.map(|percent| (percent / 100.0).ln_1p());
        // The least shift that the answer excludes, and the side on which the truth is.
        let excluded = match judged.answer {
            Answer::NoChange => vec![(-design, Side::Above), (design, Side::Below)],
            Answer::Regression => vec![(0.0, Side::Above)],
            Answer::Improvement => vec![(0.0, Side::Below)],
            Answer::CannotTell => continue,
        };
        known += 1;
        let (per_side, _) = shown(terms, terms.errors(1), judged.answer);
        for (least, side) in excluded {
            match side {
                Side::Above => assert!(low >= least - 1e-9, "{seed}: {judged:?}"),
                Side::Below => assert!(high <= least + 1e-9, "{seed}: {judged:?}"),
            }
            for _ in 0..20 {
                let beyond = 2.0 * draws.unit().powi(3);
                let shift = if side == Side::Above { least - beyond } else { least + beyond };
                let error = 1.001 * per_side;
                let left = evidence::unless_refuted(pairs, shift, side, design, error);
                assert!(left.is_none(), "{seed}: {shift} {judged:?}");
            }
        }
    }
    assert!(known > 60, "{known}");
}

#[test]
fn noise_that_hides_the_change_is_named_with_what_it_would_take() {
    let (mut gate, mut machine) = (gate(), Machine::new(Noise::White, 5));
    for _ in 0..10 {
        // Ten times the noise.
        gate.add(&[10.0 * machine.pair(0.0)]);
    }
    let judged = gate.judged()[0];
    assert_eq!(judged.answer, Answer::CannotTell);
    let visible = judged.visible_percent.expect("some");
    assert!(visible > 60.0 && judged.needed.is_some_and(|pairs| pairs > 500), "{judged:?}");
    assert_eq!(self::gate().judged()[0].needed, None, "nothing is known of no pairs");
}

#[test]
fn one_figure_that_is_worse_decides_and_all_have_to_be_unchanged() {
    use Answer::{CannotTell, Improvement, NoChange, Regression};
    for (answers, all) in [
        (vec![NoChange, NoChange], NoChange),
        (vec![NoChange, Improvement], Improvement),
        (vec![CannotTell, Improvement], CannotTell),
        (vec![CannotTell, Regression, Improvement], Regression),
        (vec![], CannotTell),
    ] {
        assert_eq!(together(answers.clone()), all, "{answers:?}");
    }
}

#[test]
fn recorded_runs_that_stray_little_are_told_apart_and_those_that_stray_much_are_not() {
    let runs = |shift: f64, stray: f64| {
        let of = |n: u32| shift + stray * (f64::from(n % 3) - 1.0);
        Measured::Runs((0..9).map(of).collect())
    };
    let of = |shift: f64, stray: f64| {
        let (base, head) = (runs(0.0, stray), runs(shift, stray));
        recorded(TERMS, 1, &Subject::CommandTime, &Sides { base: &base, head: &head })
    };
    assert_eq!(of(0.0, 0.005).answer, Answer::NoChange);
    assert_eq!(of(0.05, 0.005).answer, Answer::Regression);
    assert_eq!(of(-0.05, 0.005).answer, Answer::Improvement);
    let unknown = of(0.0, 0.2);
    assert_eq!(unknown.answer, Answer::CannotTell);
    assert!(unknown.visible_percent.is_some_and(|visible| visible > 20.0), "{unknown:?}");
    let one = Measured::OneRun { value: 0.0, estimate: None };
    let sides = Sides { base: &one, head: &one };
    assert_eq!(recorded(TERMS, 1, &Subject::CommandTime, &sides).answer, Answer::CannotTell);
}

#[test]
fn a_baseline_says_how_many_runs_the_head_needs_or_that_none_would_do() {
    let base = |stray: f64, runs: u32| -> Vec<f64> {
        (0..runs).map(|n| stray * (f64::from(n % 3) - 1.0)).collect()
    };
    let few = planned_runs(TERMS, 1, &base(0.01, 12)).expect("enough");
    assert!((2..40).contains(&few), "{few}");
    assert!(planned_runs(TERMS, 1, &base(0.02, 12)).is_none_or(|more| more >= few));
    assert_eq!(planned_runs(TERMS, 1, &base(0.5, 12)), None);
    assert_eq!(planned_runs(TERMS, 1, &base(0.5, 1)), None);
}

#[test]
fn figures_are_chosen_by_their_words() {
    assert_eq!("p99".parse::<Choice>().map(|choice| choice.of), Ok(None));
    assert!("read p99".parse::<Choice>().is_ok_and(|choice| choice.of.is_some()));
    for bad in ["", "speed", "erase p99", "read p99 now"] {
        let told = bad.parse::<Choice>().expect_err(bad).to_string();
        assert!(told.contains("iops"), "{told}");
    }
}

#[test]
fn hosts_of_another_kernel_or_memory_are_of_another_class_and_other_names_are_not() {
    let mut recorded = crate::testing::Recorded::new("[[workload]]\nname = \"w\"\n");
    let base = recorded.end();
    assert!(!base.testbed.is_empty(), "hosts are recorded");
    let changed = |change: fn(&mut model::testbed::HostFacts)| {
        let mut other = base.clone();
        other.testbed.iter_mut().for_each(change);
        let unlike = unlike_hosts(&base, &other);
        unlike.iter().map(|unlike| unlike.what).collect::<Vec<_>>()
    };
    assert_eq!(changed(|host| host.hostname.push('x')), Vec::<&str>::new());
    assert_eq!(changed(|host| host.kernel.push('x')), ["kernel"]);
    assert_eq!(changed(|host| host.memory.0 += 8 << 30), ["memory"]);
    assert_eq!(changed(|host| host.logical_cpus += 1), ["logical CPUs"]);
}
