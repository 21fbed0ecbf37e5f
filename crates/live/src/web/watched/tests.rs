use super::*;
use crate::watch::testing::{busy, entry, facts};
use crate::web::Guard;
use crate::web::bounded_series::MOST;
use crate::web::metrics::Form;
use model::counters::{Layer, Metric};

fn hosts(count: u32) -> Watching {
    let facts = (0..count).map(|host| facts(&format!("n{host}"))).collect();
    Watching::new(facts, "1.2.3", 0, Nanos::seconds(1))
}

/// A second of a host, the `second`th, a few ms late as they are.
fn second(host: u32, second: u64, load: u64) -> CounterSample {
    let mut sample = busy(host, load);
    sample.number = second as u32;
    sample.start_ns = second * 1_000_000_000 + 3_000_000 * second.min(1);
    sample
}

fn part(watching: &Watching, view: &View, id: &str) -> String {
    let found = watching.fragments(view).into_iter().find(|(name, _)| *name == id);
    found.map(|(_, html)| html).unwrap_or_default()
}

#[test]
fn hosts_add_up_and_one_that_is_still_to_tell_makes_no_slump() {
    let mut watching = hosts(2);
    for now in 0..3 {
        watching.counters(&second(0, now, 1));
        watching.counters(&second(1, now, 2));
    }
    watching.counters(&second(0, 3, 1));
    let slots = watching.whole_slots();
    assert_eq!(slots.len(), 3, "the fourth is not whole");
    // Two disks of 700 and 1,400 reads a second, and a host that does twice as much.
    assert!(
        slots.iter().all(|slot| slot.part.read.ios == 2_100 * 3 && slot.part.samples == 2),
        "{slots:?}"
    );
    watching.lost(1, "its link is gone");
    assert_eq!(watching.whole_slots().len(), 4, "nobody waits for one that is lost");
    assert!(part(&watching, &View::default(), "hosts").contains("1 host lost: n1"));
}

#[test]
fn agents_of_one_machine_count_once_in_the_total_whoever_of_them_is_left() {
    let mut facts: Vec<HostFacts> = (0..3).map(|host| facts(&format!("n{host}"))).collect();
    facts[..2].iter_mut().for_each(|facts| facts.identity = "one machine".to_owned());
    let mut watching = Watching::new(facts, "1", 0, Nanos::seconds(1));
    (0..3).for_each(|host| watching.counters(&second(host, 0, 1)));
    assert_eq!(watching.whole_slots()[0].part.read.ios, 2_100 * 2, "two machines");
    assert!(
        watching.hosts.iter().all(|host| host.last.is_some_and(|(node, _)| node.read.ios == 2_100))
    );
    watching.lost(0, "gone");
    (1..3).for_each(|host| watching.counters(&second(host, 1, 1)));
    assert_eq!(
        (watching.whole_slots().len(), watching.whole_slots()[1].part.read.ios),
        (2, 2_100 * 2)
    );
}

#[test]
fn what_is_found_stands_in_the_list_and_at_its_instant_in_the_charts() {
    let mut watching = hosts(2);
    (0..3).for_each(|now| (0..2).for_each(|host| watching.counters(&second(host, now, 1))));
    let before = watching.revision();
    let found = Occurrence {
        host: Some(1),
        at_ns: 1_500_000_000,
        ..Occurrence::new(model::OccurrenceKind::KernelLog, "nvme0: I/O error <b>")
    };
    watching.found(&found);
    assert!(watching.revision() > before);
    let list = part(&watching, &View::default(), "happened");
    assert!(list.contains("kernel log: n1: nvme0: I/O error &lt;b&gt;"), "{list}");
    assert!(part(&watching, &View::default(), "charts").contains("class=\"instant\""));
    (0..2_000).for_each(|_| watching.found(&found));
    assert_eq!(
        (watching.happened.len(), watching.instants.len()),
        (MOST_HAPPENED, MOST_INSTANTS),
        "bounded"
    );
}

#[test]
fn what_hosts_tell_stands_in_the_table_and_in_the_metrics() {
    let mut watching = hosts(2);
    let before = watching.revision();
    let mut sample = second(0, 0, 10);
    sample.notes = vec!["/proc/pressure cannot be read here".to_owned()];
    watching.counters(&sample);
    assert!(watching.revision() > before);
    let table = part(&watching, &View::default(), "hosts");
    assert!(table.contains("21,000") && table.contains("to tell"), "{table}");
    assert!(
        part(&watching, &View::default(), "happened")
            .contains("n0: /proc/pressure cannot be read here")
    );
    let metrics =
        String::from_utf8(watching.metrics(Detail::Auto).render(Form::Text)).expect("text");
    for line in [
        ",state=\"up\"} 2\n",
        ",version=\"1.2.3\"} 1\n",
        ",host=\"n0\",device=\"nvme0n1\"} 14000\n",
    ] {
        assert!(metrics.contains(line), "{line}{metrics}");
    }
    assert!(!metrics.contains("plimsoll_run"), "there is no run");
    let charts = |host| part(&watching, &View { host, ..View::default() }, "charts");
    assert!(charts(Some(0)).contains("<dt>CPU: steal</dt>") && !charts(Some(1)).contains("<dt>"));
    assert!(!charts(None).contains("<dt>"), "of all together there are charts alone");
}

#[test]
fn what_comes_from_hosts_is_text_and_no_markup() {
    let facts = vec![facts("<b>n</b>")];
    let mut watching = Watching::new(facts, "1", 0, Nanos::seconds(1));
    watching.lost(0, "<script>");
    watching.lost(7, "nobody");
    let mut stranger = second(9, 0, 1);
    stranger.entries.push(entry(Layer::Nic, "<i>", &[(Metric::SentBytes, 1)]));
    watching.counters(&stranger);
    let page = watching.page(&View { host: Some(3), ..View::default() }, "b", Guard::Loopback);
    assert!(page.contains("There is no such host.") && page.contains("&lt;b&gt;n"), "{page}");
    assert!(
        !page.contains("<b>n") && !page.contains("<script>\"") && !page.contains("nobody"),
        "{page}"
    );
}

#[test]
fn a_week_of_watching_a_thousand_hosts_stays_bounded() {
    let mut watching = hosts(1_000);
    for now in 0..1_000 {
        watching.counters(&second(now as u32, now, 1));
        watching.counters(&second(0, now * 604, 1));
    }
    assert!(watching.total.slots().len() <= MOST);
    assert!(part(&watching, &View::default(), "hosts").matches("<tr>").count() <= 52);
    (0..2_000).for_each(|_| watching.lost(1, "again"));
    assert_eq!(watching.happened.len(), MOST_HAPPENED);
}
