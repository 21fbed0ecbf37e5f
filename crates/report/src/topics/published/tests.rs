use super::*;
use crate::ground::testing::{has, lacks};
use model::{Bytes, Fraction};

/// A published rate, and what a run has in its place.
pub(super) fn beside(quantity: Quantity, published: Side, run: Result<Side, Missing>) -> Beside {
    Beside {
        workload: "w <b>".to_owned(),
        scenario: "c".to_owned(),
        name: "rate".to_owned(),
        quantity: Some(quantity),
        printed: "8000 IOPS".to_owned(),
        published,
        up_to: None,
        run,
        is_computed: false,
        apart: Vec::new(),
        caveat: "About.".to_owned(),
        mark: None,
    }
}

fn comparison(share: f64, run: Result<Side, Missing>) -> (Published, Comparison) {
    let text = "name = \"r\"\nsource = \"s\"\ncaveat = \"All about.\"\n[[figure]]\nworkload = \
                \"w\"\nscenario = \"c\"\nquantity = \"rate\"\nvalue = 1\nunit = \"IOPS\"\n";
    let published = Published::parse("r", text).expect("good");
    let side = Side { value: 8_000.0, nodes: Some(4), drives: Some(16), share: Some(share) };
    let figures = vec![beside(Quantity::Iops, side, run)];
    (published, Comparison { figures, unfitted: None })
}

#[test]
fn figures_stand_per_node_and_drive_with_what_to_know_of_them() {
    let run = Side { value: 900.0, nodes: Some(3), drives: None, share: Some(0.25) };
    let (published, held) = comparison(0.5, Ok(run));
    let text = table(&published, &held, Scale::both(Fraction::one_in(100)));
    has(&text, &["8,000", "900", "2,000", "300", "500", "50 % / 25 %", "shrunk", "About."]);
    lacks(&text, &["above the ceiling", "--testbed", "(a)"]);
    let page = section(&published, &held, Scale::FULL).into_string();
    assert!(page.contains("w &lt;b&gt;") && !page.contains("shrunk"), "{page}");
    let unknown = Side { value: 900.0, ..Side::default() };
    let (published, held) = comparison(0.5, Ok(unknown));
    assert!(table(&published, &held, Scale::FULL).contains("--testbed"));
}

#[test]
fn a_reference_above_its_own_ceiling_and_what_was_not_measured_are_told() {
    let (published, held) = comparison(1.2, Err(Missing::NotMeasured));
    let text = table(&published, &held, Scale::FULL);
    has(&text, &["above the ceiling of its own testbed", "completed no point"]);
    assert!(!text.contains("--testbed"), "it would not help: {text}");
}

#[test]
fn figures_of_no_run_stand_as_printed_and_each_reason_once() {
    let (published, mut held) =
        comparison(0.5, Err(Missing::NotOfARun("It is a size.".to_owned())));
    let mut first = held.figures[0].clone();
    (first.quantity, first.printed, first.published) = (None, "96 %".to_owned(), Side::default());
    let other = Beside { run: Err(Missing::Simulated), ..held.figures[0].clone() };
    held.figures = vec![first.clone(), other, first];
    let text = table(&published, &held, Scale::FULL);
    assert_eq!(text.matches("96 %").count(), 2, "{text}");
    assert_eq!((text.matches("– (a)").count(), text.matches("– (b)").count()), (2, 1), "{text}");
    has(&text, &["- (a) It is a size.", "- (b) ports and CPUs"]);
    assert!(section(&published, &held, Scale::FULL).into_string().contains("– (b)"));
}

#[test]
fn another_load_is_told_beside_the_figure() {
    let (published, mut held) = comparison(0.5, Ok(Side { value: 900.0, ..Side::default() }));
    held.figures[0].apart = vec![
        LoadDifference::Count { what: Counted::Hosts, published: 16, run: 4 },
        LoadDifference::Count { what: Counted::Outstanding, published: 320, run: 80 },
        LoadDifference::Footprint {
            published: Bytes(16_000_000_000_000),
            run: Bytes(4_000_000_000_000),
        },
    ];
    let same = Beside { apart: Vec::new(), ..held.figures[0].clone() };
    held.figures.push(same);
    let text = table(&published, &held, Scale::FULL);
    assert_eq!(text.matches("900 (a)").count(), 1, "{text}");
    let told = "- (a) not the same load: 4 hosts, not 16; 80 requests outstanding in all, not \
                320; a footprint of 4 TB, not 16 TB.";
    assert!(text.contains(told), "{text}");
    held.figures[0].apart = vec![LoadDifference::EventsRequests];
    assert!(
        section(&published, &held, Scale::FULL)
            .into_string()
            .contains("the published figure counts the event")
    );
}

#[test]
fn letters_do_not_run_out_and_sizes_are_those_of_reports() {
    assert_eq!([0, 25, 26, 27, 52].map(letters), ["a", "z", "aa", "ab", "ba"]);
    let said = [0, 999, 36_000_000_000, 1_600_000_000_000, u64::MAX]
        .map(|bytes| words::decimal(Bytes(bytes)));
    assert_eq!(said, ["0 B", "999 B", "36 GB", "1.6 TB", "18.45 EB"]);
}

#[test]
fn every_kind_of_figure_has_its_unit() {
    use Quantity::{CpuShare, IopsDifference, LatencyDifference, PortBits};
    let said = [
        (PortBits, 234e9),
        (PortBits, 1.6e6),
        (PortBits, 300.0),
        (CpuShare, 0.8),
        (IopsDifference, -0.25),
        (LatencyDifference, 0.33),
    ];
    let said = said.map(|(quantity, value)| figure(quantity, value));
    assert_eq!(said, ["234.0 Gbit/s", "1.6 Mbit/s", "0.3 kbit/s", "80 %", "-25.0 %", "+33.0 %"]);
}

#[test]
fn every_reason_is_a_sentence_and_a_refusal_names_a_remedy() {
    let all = [
        Missing::NotOfARun(String::new()),
        Missing::NotMeasured,
        Missing::FewPoints,
        Missing::Simulated,
        Missing::NotCounted,
        Missing::StillRising,
        Missing::OtherFootprint { run: vec![Bytes(400_000_000_000), Bytes(2_000_000_000_000)] },
        Missing::NoDip,
    ];
    assert!(all.iter().map(why).all(|said| said.ends_with('.')));
    let (published, _) = comparison(0.5, Err(Missing::NotCounted));
    assert!(unfit(&published, "quick").contains("; run the suite r"));
}

#[test]
fn a_ratio_and_an_error_stand_beside_each_figure() {
    let (published, mut held) = comparison(0.5, Ok(Side { value: 6_000.0, ..Side::default() }));
    let said = |held: &Comparison| table(&published, held, Scale::FULL);
    let text = said(&held);
    assert!(text.contains("ratio") && text.contains("0.75") && text.contains("-25.0 %"), "{text}");
    assert!(text.contains("2,000"), "8,000 of 4 nodes: {text}");
    held.figures[0].up_to = Some(9_000.0);
    held.figures[0].run = Ok(Side { value: 8_500.0, ..Side::default() });
    assert!(said(&held).contains("within"), "{}", said(&held));
    held.figures[0].run = Ok(Side { value: 9_900.0, ..Side::default() });
    assert!(said(&held).contains("+10.0 %"), "from the nearer end: {}", said(&held));
    let points = Beside {
        quantity: Some(Quantity::IopsDifference),
        published: Side { value: -0.25, ..Side::default() },
        run: Ok(Side { value: -0.51, ..Side::default() }),
        up_to: None,
        ..held.figures[0].clone()
    };
    held.figures = vec![points];
    assert!(said(&held).contains("-26.0 points"), "{}", said(&held));
    assert_eq!(
        [0.005, 3.0, 31.94, 1_234.0].map(words::three_digits),
        ["0.01", "3.00", "31.9", "1,234"]
    );
}

#[test]
fn a_simulated_figure_has_its_mark_and_an_unfitted_testbed_its_remedy() {
    let (published, mut held) = comparison(0.5, Ok(Side { value: 6_000.0, ..Side::default() }));
    held.figures[0].mark = Some(Mark::HeldOut);
    has(&table(&published, &held, Scale::FULL), &["held out", "no fitted row speaks"]);
    let object = object(&published, &held, Scale::FULL);
    assert_eq!(object["figures"][0]["mark"], "held-out", "{object}");
    assert_eq!(object["figures"][0]["ratio"], 0.75, "{object}");
    held.unfitted = Some("lab".to_owned());
    has(&table(&published, &held, Scale::FULL), &["plimsoll calibrate lab RUN"]);
}
