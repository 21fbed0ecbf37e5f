use super::calibration::{Calibration, Refusal, calibrate};
use super::drawn::{Drawn, Noise, modelled};
use super::fit::Fit;
use super::forecast::forecast;
use super::load::{LeftOut, Load, Measured, Planned, published};
use super::network::{Network, Owner};
use super::outlook::Asked;
use super::parameter::{Parameter, Values};
use crate::ceiling::{Layer, Workload};
use catalogue::Cluster;
use catalogue::cluster::{FittedRow, with_fitted};
use catalogue::published::Published;
use model::{Bytes, Object, Percent};

const C: &str = include_str!("../../../../reference/testbeds/vsan-four-corners.toml");

fn cluster(text: &str) -> Cluster {
    Cluster::parse("t", text, &[]).unwrap_or_else(|errors| panic!("{:?}", errors.problems))
}

fn rows_of_c() -> Vec<super::load::Choosable> {
    let text = include_str!("../../../../reference/results/vsan-four-corners.toml");
    published(&Published::parse("c", text).expect("good figures")).rates.rows
}

fn calibrated_c() -> Calibration {
    let rows = rows_of_c();
    let of = |calibrates: bool| -> Vec<Measured> {
        let chosen = rows.iter().filter(|row| row.calibrates == calibrates);
        chosen.map(|row| row.row.clone()).collect()
    };
    calibrate(&cluster(C), &of(true), &of(false)).expect("fits")
}

#[test]
fn repetitions_that_agree_make_no_prediction_surer() {
    let rows = rows_of_c();
    let of = |calibrates: bool, times: usize| -> Vec<Measured> {
        let chosen = rows.iter().filter(|row| row.calibrates == calibrates);
        let all = chosen.flat_map(|row| (0..times).map(|_| row.row.clone()));
        (1..).zip(all).map(|(number, row)| Measured { number, ..row }).collect()
    };
    let held_out = |times| calibrate(&cluster(C), &of(true, times), &of(false, 1)).expect("fits");
    assert!(held_out(1).fit.alike.abs() < 1e-12 && held_out(3).fit.alike > 0.9);
    for (once, often) in held_out(1).held_out.iter().zip(held_out(3).held_out) {
        let wider = often.predicted.reaches() / once.predicted.reaches();
        assert!((0.9..1.1).contains(&wider), "{}: {wider}", once.row.name);
    }
}

fn row(number: usize, kib: u64, read: u32, outstanding: u64, rate: f64) -> Measured {
    let workload = Workload::new("w", Bytes::kib(kib), Percent::of(read), true, None);
    let load = Load {
        workload,
        hosts: 4,
        outstanding,
        depth: 1,
        remote: Percent::ZERO,
        object: Object::Blocks,
        route: model::Route::Testbed,
    };
    Measured { number, name: format!("{kib}K {read} {outstanding}"), load, rate }
}

#[test]
fn seven_rows_of_report_c_predict_the_other_eight() {
    let c = calibrated_c();
    assert_eq!((c.fitted.len(), c.held_out.len()), (7, 8));
    let within = |share: f64| c.held_out.iter().filter(|row| row.error().abs() <= share).count();
    assert!(within(0.2) >= 6 && within(0.3) == 8, "{:?}", c.held_out);
    assert!(c.held_out.iter().all(|row| row.is_covered() && !row.is_extrapolated()));
    assert!(c.fitted.iter().all(|row| !row.is_extrapolated()), "a fitted row speaks for itself");
    let found = |wanted: Parameter| {
        c.parameters.iter().find(|found| found.parameter == wanted).expect("a row depends on it")
    };
    assert!(found(Parameter::ReadPath).identified_by.is_empty(), "320 outstanding tell no delay");
    assert_eq!(found(Parameter::DriveWrite).identified_by.len(), 1);
    assert!(
        c.proposed.iter().any(|load| load.outstanding == 16),
        "one request outstanding on each host tells delay and queue apart: {:?}",
        c.proposed
    );
}

#[test]
fn a_fitted_testbed_reads_back_and_predicts_the_same() {
    let c = calibrated_c();
    let rows: Vec<FittedRow> = c.fitted.iter().map(|row| FittedRow::from(&row.row)).collect();
    let fitted = cluster(&with_fitted(C, &c.written(), &rows));
    assert_eq!(fitted.fitted_rows, rows);
    let loads: Vec<Planned> = c
        .held_out
        .iter()
        .map(|row| Planned { name: row.row.name.clone(), load: row.row.load.clone() })
        .collect();
    let more = Cluster::parse(
        "t",
        &with_fitted(C, &c.written(), &rows),
        &["nodes+4".parse().expect("a change")],
    )
    .expect("good");
    for (forecast, judged) in forecast(&fitted, &loads, &[more]).iter().zip(&c.held_out) {
        for (found, before) in [
            (forecast.rate.value, judged.predicted.value),
            (forecast.rate.low, judged.predicted.low),
            (forecast.rate.high, judged.predicted.high),
        ] {
            assert!((found / before - 1.0).abs() < 0.01, "{forecast:?} {judged:?}");
        }
        assert!(forecast.what_ifs[0].rate.value > forecast.rate.value);
        let latency = forecast.latency_s();
        assert!((latency.value * forecast.rate.value - 320.0).abs() < 1e-6);
        assert!(latency.low < latency.value && latency.value < latency.high);
    }
}

#[test]
fn slopes_are_the_differences_of_rates() {
    for seed in 0..30 {
        let mut drawn = Drawn::new(seed, Noise::Of(0.0)).expect("no contradictions");
        let values = Values::of(&drawn.cluster);
        for row in drawn.long(5, &modelled) {
            let network = Network::new(&drawn.cluster, &row.load);
            let slopes = network.slopes(&values);
            for (index, slope) in slopes.into_iter().enumerate() {
                let moved = |by: f64| {
                    let mut moved = values;
                    moved.0[index] += by;
                    network.ln_rate(&moved)
                };
                let found = (moved(1e-4) - moved(-1e-4)) / 2e-4;
                assert!((found - slope).abs() < 1e-4, "{seed} {index}: {found} {slope}");
            }
        }
    }
}

#[test]
fn one_queue_and_a_path_are_found_from_two_depths_and_not_from_one() {
    let truth = cluster(
        "name = \"t\"\n[[nodes]]\ncount = 4\n[software]\nread = \"50us\"\nread_path = \
         \"900us\"\nread_per_mib = \"1us\"\n",
    );
    let known = cluster("name = \"t\"\n[[nodes]]\ncount = 4\n[software]\nread_per_mib = \"1us\"\n");
    let measured = |outstanding: u64| {
        let mut row = row(1, 4, 100, outstanding, 1.0);
        row.rate = Network::new(&truth, &row.load).carries(&Values::of(&truth)).rate;
        row
    };
    let deep = Fit::to(&known, &[measured(512), measured(1024)]);
    assert!(deep.open(Parameter::Read) < 0.3 && deep.open(Parameter::ReadPath) > 0.9);
    let both = Fit::to(&known, &[measured(4), measured(512), measured(1024)]);
    assert!(both.open(Parameter::ReadPath) < 0.5);
    let read = both.parameter(Parameter::Read).value;
    let path = both.parameter(Parameter::ReadPath).value;
    assert!(
        (read / 50e-6 - 1.0).abs() < 0.05 && (path / 900e-6 - 1.0).abs() < 0.1,
        "{read} {path}"
    );
    assert_eq!(both.open(Parameter::ReadPerMib), 0.0, "what is given is known");
}

#[test]
fn what_no_fitted_row_is_bound_by_is_an_extrapolation() {
    let known = cluster(
        "name = \"t\"\n[[nodes]]\ncount = 4\nports = 1\nport_speed = \
         \"10Gbit/s\"\n[[nodes.drives]]\nmodel = \"kpm5xrug3t84\"\n",
    );
    let fit = [row(1, 4, 100, 1024, 300_000.0), row(2, 4, 100, 4096, 310_000.0)];
    let hold = [row(3, 4, 100, 2048, 290_000.0), row(4, 1024, 0, 256, 1_000.0)];
    let c = calibrate(&known, &fit, &hold).expect("fits");
    assert!(!c.held_out[0].is_extrapolated(), "{:?}", c.held_out[0]);
    assert!(c.held_out[1].is_extrapolated(), "{:?}", c.held_out[1]);
    assert!(c.held_out[1].unseen.iter().all(|owner| *owner != Owner::Parameter(Parameter::Read)));
}

#[test]
fn rows_that_nothing_should_be_fitted_to_are_refused_with_the_reason() {
    let known = cluster(
        "name = \"t\"\n[[nodes]]\ncount = 4\nports = 1\nport_speed = \"10Gbit/s\"\n[access]\n\
         copies_used = \"any\"\n",
    );
    let refused = |rows: &[Measured]| calibrate(&known, rows, &[]).expect_err("refused");
    assert_eq!(refused(&[row(1, 4, 100, 64, 1e5)]), Refusal::TooFewRows { rows: 1 });
    let apart = [row(1, 4, 100, 64, 1e5), row(2, 4, 100, 64, 2e5)];
    assert!(matches!(refused(&apart), Refusal::Contradiction { .. }));
    // 5 GB/s, three quarters of them across.
    let above = [row(1, 4, 100, 64, 1e5), row(2, 1024, 100, 64, 9e3)];
    assert!(matches!(refused(&above), Refusal::AboveCeiling { layer: Layer::Ports, .. }));
    // Twice as many outstanding cannot halve the rate, and then raise it again.
    let wild: Vec<Measured> = [(8, 9e4), (16, 4e3), (32, 9e4), (64, 4e3), (128, 9e4), (256, 4e3)]
        .into_iter()
        .map(|(outstanding, rate)| row(1, 4, 100, outstanding, rate))
        .collect();
    assert!(matches!(refused(&wild), Refusal::DoesNotFit { .. }));
}

#[test]
fn rows_of_one_load_contradict_each_other_unless_repetitions_of_others_stray_as_much() {
    let known = cluster("name = \"t\"\n[[nodes]]\ncount = 4\n");
    let refused = |rows: &[Measured]| {
        matches!(calibrate(&known, rows, &[]), Err(Refusal::Contradiction { .. }))
    };
    // 1.6 times apart, where 1.5 is the limit.
    let apart = [row(1, 4, 100, 64, 1e5), row(2, 4, 100, 64, 1.6e5)];
    let others = |factor: f64, loads: u64| -> Vec<Measured> {
        let of_load = |load: u64| {
            let rate = 1e4 * load as f64;
            [row(3, 4, 100, load, rate), row(4, 4, 100, load, rate * factor)]
        };
        apart.iter().cloned().chain((1..=loads).flat_map(of_load)).collect()
    };
    assert!(refused(&apart), "nothing says how far repetitions stray");
    assert!(refused(&others(1.01, 4)), "the others repeat within 1 %");
    assert!(refused(&others(1.3, 2)), "two repetitions say too little of it");
    assert!(!refused(&others(1.3, 4)), "the others stray by 13 %, and 5.7 times that is 111 %");
}

#[test]
fn more_rows_than_a_fit_takes_are_refused() {
    let known = cluster("name = \"t\"\n[[nodes]]\ncount = 4\n");
    let rows = vec![row(1, 4, 100, 64, 1e5); 257];
    let most = catalogue::cluster::MOST_FITTED_ROWS;
    assert_eq!(
        calibrate(&known, &rows, &[]).expect_err("refused"),
        Refusal::TooManyRows { rows: 257, most }
    );
}

#[test]
fn who_holds_rows_is_told_for_each_draw_and_who_holds_none_of_them() {
    let known = cluster(
        "name = \"t\"\n[[nodes]]\ncount = 4\nports = 1\nport_speed = \
         \"10Gbit/s\"\n[software]\nread = \"50us\"\nread_per_mib = \"1us\"\nport_share = \
         \"90%\"\nread_path = \"200us\"\n",
    );
    let network = |kib, outstanding| Network::new(&known, &row(1, kib, 100, outstanding, 1.0).load);
    let (small, large) = (network(4, 4096), network(1024, 4096));
    let fit = Fit::unfitted(&known);
    let holders = fit.holders(std::slice::from_ref(&small), 0.2);
    assert!(!holders.is_empty());
    let software = Owner::Parameter(Parameter::Read);
    let ports = Owner::Parameter(Parameter::PortShare);
    // All that these rows depend on is known, so that every draw says the same.
    assert!(holders.iter().all(|seen| seen.contains(&software) && !seen.contains(&ports)));
    let otherwise = |network: &Network, holders: &[std::collections::BTreeSet<Owner>]| {
        fit.outlook(network, Asked { binds: 0.2, holders }).otherwise_bound
    };
    assert!(otherwise(&small, &holders) < 1e-9);
    let others = otherwise(&large, &holders);
    assert!((others - 1.0).abs() < 1e-6, "ports hold it in every draw: {others}");
    let both = fit.holders(&[small, large.clone()], 0.2);
    assert!(both.iter().all(|seen| seen.contains(&software) && seen.contains(&ports)));
    assert!(otherwise(&large, &both) < 1e-9);
}

#[test]
fn figures_that_are_no_rates_of_one_load_are_left_out_with_their_reason() {
    let reasons = |text: &str| -> Vec<LeftOut> {
        let found = published(&Published::parse("t", text).expect("good figures")).rates;
        assert!(found.rows.is_empty(), "{:?}", found.rows);
        found.left_out.into_iter().map(|(_, why)| why).collect()
    };
    let e = published(
        &Published::parse("e", include_str!("../../../../reference/results/pixstor-nvme.toml"))
            .expect("good figures"),
    );
    let (e, derived) = (e.rates, e.derived);
    assert_eq!(derived.len(), 10, "{derived:?}");
    let meant = e.rows.iter().filter(|row| row.calibrates).count();
    assert_eq!((e.rows.len(), meant), (22, 3), "one port efficiency and one thread each way");
    let objects = |object: Object| e.rows.iter().filter(move |row| row.row.load.object == object);
    assert_eq!(objects(Object::SharedFile).count(), 4);
    assert_eq!(objects(Object::Files(model::Op::Stat)).count(), 2);
    let e: Vec<LeftOut> = e.left_out.into_iter().map(|(_, why)| why).collect();
    assert!(e.iter().all(|why| *why == LeftOut::NoRate), "{e:?}");
    let a = reasons(include_str!("../../../../reference/results/azure-stack-hci.toml"));
    assert!(a.iter().all(|why| *why == LeftOut::NoRate), "{a:?}");
}

#[test]
#[ignore = "a proof"]
fn stated_intervals_hold_on_clusters_with_hidden_parameters() {
    let (mut inside, mut covered, mut all) = (0, 0, 0);
    let (mut far, mut flagged) = (0, 0);
    for seed in 1_000..1_020 {
        let mut drawn = Drawn::new(seed, Noise::Likely).expect("no contradictions");
        let Ok(outcome) = drawn.outcome(1, 10, &modelled) else { continue };
        for row in &outcome.held_out {
            all += 1;
            covered += u32::from(row.is_covered());
            inside += u32::from(!row.is_extrapolated());
            far += u32::from(row.error().abs() > 1.0);
            flagged += u32::from(row.error().abs() > 1.0 && row.is_extrapolated());
        }
    }
    // Of 90 %, with a few hundred rows that depend on each other within a cluster.
    let share = f64::from(covered) / f64::from(all);
    assert!(
        all > 120 && inside * 2 > all && (0.82..0.98).contains(&share),
        "{all} {inside} {share}"
    );
    assert!(flagged * 2 >= far, "{flagged} of {far}");
}

#[test]
fn a_skewed_load_keeps_its_law_and_is_another_load_than_a_uniform_one() {
    let of = |access: &str| {
        let suite = format!("[[workload]]\nname = \"w\"\naccess = {access}\nworkers = 4\n");
        let plan = crate::testing::Recorded::new(&suite).record().plan;
        super::load::planned(&plan).0.rows.remove(0).load
    };
    let (uniform, zipf) = (of("\"random\""), of("\"zipf\"\nskew = 1.1"));
    let law = zipf.workload.popularity.clone().expect("a law");
    assert_eq!(law.part.0 * 4, zipf.workload.footprint.expect("known").0);
    assert_eq!(uniform.workload.popularity, None);
    assert!(!uniform.is_like(&zipf) && zipf.is_like(&zipf));
    assert!(!zipf.is_like(&of("\"zipf\"\nskew = 1.2")) && !zipf.is_like(&of("\"hot-spot\"")));
    let row = Measured { number: 0, name: "w".to_owned(), load: zipf, rate: 1_000.0 };
    let kept = Measured::from(&FittedRow::from(&row));
    assert_eq!(kept.load.workload.popularity, row.load.workload.popularity);
}

#[test]
fn hot_blocks_that_fit_the_cache_are_predicted_and_bounded_as_if_all_did() {
    let text = "name = \"t\"\n[[nodes]]\ncount = 3\n[[nodes.drives]]\ncount = 4\nmodel = \
                \"hdd-10k-1.2tb\"\n[[nodes.drives]]\nrole = \"cache\"\nmodel = \
                \"sas-ssd-800gb-2015\"\n[protection]\ncopies = 1\n";
    let cluster = cluster(text);
    let with = |spots: Option<&str>, terabytes: u64| {
        let size = model::load::SizeMix::single(Bytes::kib(4));
        let footprint = Bytes(terabytes * 1_000_000_000_000);
        let mut load = row(1, 4, 100, 64, 1.0).load;
        load.workload.footprint = Some(footprint);
        load.workload.popularity = spots.map(|spots| model::popularity::Popularity {
            law: model::popularity::Law::HotSpot(spots.parse().expect("spots")),
            part: footprint,
            sharers: 1,
            reads: size.clone(),
            writes: size,
            align: Bytes(0),
        });
        let rate = Network::new(&cluster, &load).carries(&Values::of(&cluster)).rate;
        (rate, crate::ceiling::ceiling(&cluster, &load.workload).hits.expect("a cache").0)
    };
    let (small, large, hot) = (with(None, 1), with(None, 10), with(Some("100%:10%"), 10));
    assert!((hot.0 / small.0 - 1.0).abs() < 0.01, "{hot:?}, {small:?}");
    assert!(hot.0 > 3.0 * large.0, "{hot:?}, {large:?}");
    assert!(hot.1 > 0.999 && (large.1 - 0.24).abs() < 1e-9, "{hot:?}, {large:?}");
}
