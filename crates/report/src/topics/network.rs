//! What TCP carries between hosts: tables of hosts and pairs, the lines of a testbed, and an
//! object for machines.

use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::{FORMAT, Map, Value, each, object};
use analysis::network::{AddressError, NetworkDoubt, NetworkFigures, PairFigures};
use model::network::{Baseline, FlowFailure, HostAddress};

/// More pairs than this are not listed unless they are slow or failed; JSON has all.
const MOST_PAIRS: usize = 64;
/// Addresses of a host that an error names.
const MOST_NAMED: usize = 8;

fn name(baseline: &Baseline, host: u32) -> &str {
    baseline.hosts.get(host as usize).map_or("?", |host| host.name.as_str())
}

/// Everything for the terminal.
pub fn render(baseline: &Baseline, figures: &NetworkFigures) -> String {
    let hosts = hosts(baseline, figures).text();
    let mut text = format!("Hosts, each with its best partner\n{hosts}\n");
    text.push_str(&pair_table(baseline, figures));
    for line in remarks(baseline, figures) {
        text.push_str(&format!("\n{line}"));
    }
    text.push('\n');
    text.push_str(&testbed_lines(baseline, figures));
    text
}

fn hosts(baseline: &Baseline, figures: &NetworkFigures) -> Table<usize> {
    let host = |at: usize| &baseline.hosts[at];
    let found = |at: usize| figures.hosts[at];
    let link = |at: usize| host(at).address.speed_mbit;
    Table::of(0..baseline.hosts.len().min(figures.hosts.len()))
        .words("host", |at| host(at).name.clone())
        .key("host")
        .words("address", |at| host(at).address.address.to_string())
        .key("address")
        .words("interface", |at| host(at).address.interface.clone())
        .key("interface")
        .known("link_mbit", "link", link, |mbit: u32| words::gbit_per_s(f64::from(mbit) * 1e6))
        .known("sent_bits_per_s", "out", |at| found(at).sent, words::gbit_per_s)
        .known("received_bits_per_s", "in", |at| found(at).received, words::gbit_per_s)
        .known("both_bits_per_s", "out and in", |at| found(at).both, words::gbit_per_s)
        .known("cpu_busy", "CPUs busy", |at| found(at).cpu_busy, words::share)
        .known("retransmitted", "sent again", |at| found(at).retransmitted, words::count)
}

fn pairs<'a>(baseline: &'a Baseline, pairs: &[&'a PairFigures]) -> Table<&'a PairFigures> {
    let name = |host: u32| name(baseline, host);
    let remark = |pair: &PairFigures| match (&pair.failed, pair.is_slow) {
        (Some(why), _) => failure(why),
        (None, true) => "slow: below 80 % of what both reach with others".to_owned(),
        (None, false) => String::new(),
    };
    let both = |pair: &PairFigures| pair.both.unzip();
    Table::of(pairs.iter().copied())
        .name("pair", |pair| format!("{} → {}", name(pair.first), name(pair.second)))
        .field("first", |pair| name(pair.first))
        .field("second", |pair| name(pair.second))
        .known("forward_bits_per_s", "there", |pair| pair.forward, words::gbit_per_s)
        .known("backward_bits_per_s", "back", |pair| pair.backward, words::gbit_per_s)
        .known("both_forward_bits_per_s", "both: there", |pair| both(pair).0, words::gbit_per_s)
        .known("both_backward_bits_per_s", "both: back", |pair| both(pair).1, words::gbit_per_s)
        .words("remark", remark)
        .field("slow", |pair| pair.is_slow)
        .field("failed", |pair| pair.failed.as_ref().map(failure))
}

fn pair_table(baseline: &Baseline, figures: &NetworkFigures) -> String {
    let is_odd = |pair: &&PairFigures| pair.is_slow || pair.failed.is_some();
    let all = figures.pairs.len();
    let shown: Vec<&PairFigures> = match all {
        0..=MOST_PAIRS => figures.pairs.iter().collect(),
        _ => figures.pairs.iter().filter(is_odd).take(MOST_PAIRS).collect(),
    };
    let more = match all - shown.len() {
        0 => String::new(),
        more => format!("{} more are in the JSON.\n", words::counted(more as u64, "pair")),
    };
    format!("Pairs\n{}{more}", pairs(baseline, &shown).text())
}

fn remarks(baseline: &Baseline, figures: &NetworkFigures) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(together) = figures.together {
        remarks.push(format!(
            "All hosts at once, both ways, in the slowest round: {} received.",
            words::gbit_per_s(together)
        ));
    }
    let rounds = baseline.flows.iter().map(|flow| flow.round + 1).max().unwrap_or(0);
    if rounds < baseline.rounds_of_all {
        remarks.push(format!(
            "Measured: {rounds} of {} rounds. Not each host met each other.",
            baseline.rounds_of_all
        ));
    }
    remarks.extend(figures.doubts.iter().map(|doubt| self::doubt(baseline, doubt)));
    remarks
        .push("Payload of TCP, without headers. RDMA may carry more, at less CPU time.".to_owned());
    remarks
}

fn doubt(baseline: &Baseline, doubt: &NetworkDoubt) -> String {
    match *doubt {
        NetworkDoubt::OtherTraffic { host, share } => format!(
            "Doubt: {} of what {}'s interface received was other traffic. Repeat it on an idle \
             network.",
            words::share(share),
            name(baseline, host)
        ),
        NetworkDoubt::CpuFull { host, share } => format!(
            "Doubt: {} of {}'s CPUs were busy. They may be the limit, not the network.",
            words::share(share),
            name(baseline, host)
        ),
        NetworkDoubt::OneKernel { hosts: [first, second] } => format!(
            "Doubt: {} and {} are on one kernel. Their traffic need not leave the machine.",
            name(baseline, first),
            name(baseline, second)
        ),
        NetworkDoubt::AboveSpeed { host, bits, speed } => format!(
            "Doubt: {} carried {} over a link of {}. Check where its traffic goes.",
            name(baseline, host),
            words::gbit_per_s(bits),
            words::gbit_per_s(speed)
        ),
    }
}

/// A bandwidth as a testbed takes it.
fn quoted(bits: f64) -> String {
    format!("\"{:.3}Gbit/s\"", bits / 1e9)
}

fn source(baseline: &Baseline) -> String {
    format!(
        "plimsoll network {}: {}, TCP, {}, {}",
        baseline.version,
        words::counted(baseline.hosts.len() as u64, "host"),
        words::counted(u64::from(baseline.streams), "stream"),
        words::utc(baseline.unix_ns)
    )
}

/// The fields of a testbed with their values, as `plimsoll ceiling --network` sets them; none where
/// no figure stands for all hosts.
pub fn testbed_fields(
    baseline: &Baseline,
    figures: &NetworkFigures,
) -> Vec<(&'static str, String)> {
    let Some(found) = figures.testbed else { return Vec::new() };
    let mut fields = vec![("port_one_way", quoted(found.one_way))];
    fields.extend(found.both_ways.map(|both| ("port_both_ways", quoted(both))));
    fields.push(("port_source", format!("\"{}\"", source(baseline))));
    fields
}

fn testbed_lines(baseline: &Baseline, figures: &NetworkFigures) -> String {
    let fields = testbed_fields(baseline, figures);
    if fields.is_empty() {
        return "No figure stands for all hosts: a flow failed, or their links differ.\n"
            .to_owned();
    }
    let lines: String = fields.iter().map(|(key, value)| format!("  {key} = {value}\n")).collect();
    format!("For a testbed, below [[nodes]]; each port counts alike:\n{lines}")
}

fn failure(failure: &FlowFailure) -> String {
    match failure {
        FlowFailure::NoListener(why) => {
            format!("cannot listen: {why}; choose another port with --port")
        }
        FlowFailure::Refused => {
            "refused: a firewall rejects it; open a port and name it with --port".to_owned()
        }
        FlowFailure::NoAnswer => {
            "no answer in time: a firewall drops it, or there is no way; open \
                                  a port and name it with --port, or name another --subnet"
                .to_owned()
        }
        FlowFailure::NoWay(why) => format!("no way: {why}; check the routes, or name --subnet"),
        FlowFailure::TooFew(there) => format!(
            "only {} came in time; open a port and name it with --port",
            words::counted(u64::from(*there), "connection")
        ),
        FlowFailure::OtherAddress(from) => format!(
            "it would go out by {from}, another address of the host; check its routes, or name \
             --subnet"
        ),
        FlowFailure::Stranger => {
            "another program answers at that port; name another with --port".to_owned()
        }
        FlowFailure::Broken(why) => format!("it broke: {why}; check the link, and try again"),
        FlowFailure::Declined => {
            "declined: the host carries another flow, or has no such address now; try again"
                .to_owned()
        }
        FlowFailure::Stopped => "stopped".to_owned(),
    }
}

fn addresses(all: &[HostAddress]) -> String {
    let one = |address: &HostAddress| match address.speed_mbit {
        Some(mbit) => format!(
            "{} ({}, {})",
            address.address,
            address.interface,
            words::gbit_per_s(f64::from(mbit) * 1e6)
        ),
        None => format!("{} ({})", address.address, address.interface),
    };
    match all.len() {
        0 => "none".to_owned(),
        many => {
            let more = if many > MOST_NAMED { " and others" } else { "" };
            let named: Vec<String> = all.iter().take(MOST_NAMED).map(one).collect();
            format!("{}{more}", named.join(", "))
        }
    }
}

/// Why no addresses could be chosen, with the remedy.
pub fn address_error(error: &AddressError) -> String {
    match error {
        AddressError::TooFew => "a network is between hosts; name two or more with --hosts".into(),
        AddressError::NoneInRange { host, has } => format!(
            "host {host} has no address in that range; it has: {}; name a range with one address \
             of each host",
            addresses(has)
        ),
        AddressError::SeveralInRange { host, has } => format!(
            "host {host} has several addresses in that range: {}; name a range with one of each \
             host",
            addresses(has)
        ),
        AddressError::NoCommon => "the hosts are in no common network; name a range that has one \
                                   address of each, such as --subnet 10.0.0.0/8"
            .into(),
        AddressError::SeveralCommon(several) => {
            let one = |(subnet, first): &(model::network::Subnet, HostAddress)| {
                format!("{subnet} ({})", addresses(std::slice::from_ref(first)))
            };
            let named: Vec<String> = several.iter().take(MOST_NAMED).map(one).collect();
            format!(
                "the hosts share several networks: {}; choose one with --subnet",
                named.join(", ")
            )
        }
        AddressError::Same { hosts: [first, second], address } => format!(
            "hosts {first} and {second} both have the address {}, so nothing would leave them; \
             name different machines, or another --subnet",
            address.address
        ),
    }
}

/// Everything for machines: what was measured, and what follows from it.
pub fn json(baseline: &Baseline, figures: &NetworkFigures) -> Value {
    let field =
        |(key, value): (&str, String)| (key.to_owned(), Value::from(value.trim_matches('"')));
    let fields = testbed_fields(baseline, figures).into_iter().map(field);
    object! {
        format: FORMAT,
        hosts: hosts(baseline, figures).json(),
        pairs: pairs(baseline, &figures.pairs.iter().collect::<Vec<_>>()).json(),
        together_bits_per_s: figures.together,
        doubts: each(&figures.doubts, |doubt| self::doubt(baseline, doubt)),
        testbed: fields.collect::<Map<_, _>>(),
        baseline,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::has;
    use analysis::network::figures;
    use model::network::{BaselineHost, FlowCounts, FlowResult, Way};

    fn baseline() -> Baseline {
        let host = |number: u8| BaselineHost {
            name: format!("n{number}"),
            address: HostAddress {
                address: format!("10.0.0.{number}").parse().expect("an address"),
                prefix: 24,
                interface: "eth0".to_owned(),
                speed_mbit: Some(25_000),
            },
            kernel: u32::from(number - 1),
        };
        let counts = |mb: u64| {
            Some(FlowCounts {
                received_bytes: mb * 1_000_000,
                window_ns: 1_000_000_000 * u64::from(mb > 0),
                interface_received: Some(mb * 1_040_000),
                cpu_busy: Some(0.3),
                retransmitted: Some(7),
                ..FlowCounts::default()
            })
        };
        let flow = |way, there: u64, back: u64| FlowResult {
            round: 0,
            first: 0,
            second: 1,
            way,
            at_first: counts(back),
            at_second: counts(there),
            failed: None,
        };
        Baseline {
            unix_ns: 1_780_000_000_000_000_000,
            version: "0.1.0".to_owned(),
            hosts: vec![host(1), host(2)],
            streams: 4,
            settle_ns: 1_000_000_000,
            window_ns: 5_000_000_000,
            rounds_of_all: 1,
            flows: vec![
                flow(Way::Forward, 2_930, 0),
                flow(Way::Backward, 0, 2_925),
                flow(Way::Both, 2_800, 2_850),
            ],
        }
    }

    #[test]
    fn a_baseline_is_shown_with_its_testbed_lines() {
        let baseline = baseline();
        let text = render(&baseline, &figures(&baseline));
        let line = |start: &str| {
            let found = text.lines().find(|line| line.trim_start().starts_with(start));
            found.unwrap_or_else(|| panic!("{start}: {text}")).to_owned()
        };
        for words in ["10.0.0.1", "eth0", "25.0 Gbit/s", "23.4 Gbit/s", "45.2 Gbit/s", "30 %"] {
            assert!(line("n1  ").contains(words), "{words}: {text}");
        }
        for words in ["23.4 Gbit/s", "22.4 Gbit/s", "22.8 Gbit/s"] {
            assert!(line("n1 → n2").contains(words), "{words}: {text}");
        }
        assert!(line("All hosts at once").contains("45.2 Gbit/s received"), "{text}");
        assert_eq!(line("port_one_way"), "  port_one_way = \"23.420Gbit/s\"");
        assert_eq!(line("port_both_ways"), "  port_both_ways = \"45.200Gbit/s\"");
        assert!(line("port_source").contains("plimsoll network 0.1.0: 2 hosts, TCP"), "{text}");
    }

    #[test]
    fn a_failed_flow_says_why_and_feeds_no_testbed() {
        let mut failed = baseline();
        for flow in &mut failed.flows {
            flow.failed = Some(FlowFailure::NoAnswer);
        }
        let found = figures(&failed);
        let text = render(&failed, &found);
        has(&text, &["a firewall drops it", "No figure stands"]);
        let object = json(&failed, &found);
        assert!(object["testbed"].as_object().is_some_and(Map::is_empty), "{object}");
        let read: Baseline = serde_json::from_value(object["baseline"].clone()).expect("itself");
        assert_eq!(read, failed);
    }
}
