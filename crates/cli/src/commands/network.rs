//! `plimsoll network`

use super::{answer, create, not_made, within};
use crate::args::NetworkArgs;
use crate::failure::Failure;
use crate::files::text_file;
use crate::hosts::{self, Absence, Asked, Hosts, Terms};
use crate::signals::Work;
use analysis::network::{Meeting, choose, figures, rounds, rounds_of_all};
use catalogue::cluster::Change;
use fleet::{FleetError, FlowOrder};
use model::network::{
    Baseline, BaselineHost, FlowCounts, FlowFailure, FlowResult, FlowSpec, HostAddress, Way,
};
use model::testbed::HostFacts;
use model::{Bytes, Kernels, Nanos};
use report::ground::words;
use report::topics;
use std::path::Path;
use std::process::ExitCode;

/// A host that is only asked has this long to answer.
const LOST_AFTER: Nanos = Nanos::seconds(30);
/// What is sent so long at first does not count: TCP starts slowly.
const SETTLE: Nanos = Nanos::seconds(1);
/// So long may the connections of a flow take.
const SETUP: Nanos = Nanos::seconds(5);
/// What a flow takes besides, as a guess: the end of what is on its way.
const BESIDES_S: f64 = 0.7;
/// Up to so many hosts, each meets each other unless asked otherwise.
const ALL_MEET: usize = 8;
const USUAL_ROUNDS: usize = 4;

pub(crate) fn network(args: &NetworkArgs) -> Result<ExitCode, Failure> {
    if args.hosts.simulate.is_some() || !args.hosts.are_named() {
        return Err(Failure::usage(
            "a network is between real hosts; name two or more with --hosts",
        ));
    }
    within("--time", args.time, Nanos::millis(100), Nanos::seconds(600))?;
    if args.most == Bytes(0) {
        return Err(Failure::usage(
            "--most 0 sends nothing; give a size such as 64GiB, or leave it out",
        ));
    }
    if let Some(out) = args.out.as_ref().filter(|out| out.symlink_metadata().is_ok()) {
        return Err(not_made(out, &std::io::ErrorKind::AlreadyExists.into()));
    }
    let terms = Terms::look(LOST_AFTER, Absence::Refused);
    let no_targets = |names: &[String]| Ok(vec![Vec::new(); names.len()]);
    let asked = Asked { terms, patience: LOST_AFTER };
    let started = hosts::start(Work::Look, &args.hosts, &no_targets, asked)?;
    let facts = hosts::facts_of(&started, hosts::may_be_one(&args.hosts))?;
    let baseline = measure(args, &started, &facts)?;
    let found = figures(&baseline);
    let object = topics::network::json(&baseline, &found);
    if let Some(out) = &args.out {
        create(out, &format!("{object:#}\n"))?;
        eprintln!(
            "network   {}: for `plimsoll ceiling TESTBED --network {}`",
            out.display(),
            out.display()
        );
    }
    answer(args.json, || &object, || topics::network::render(&baseline, &found))?;
    let failed = found.pairs.iter().any(|pair| pair.failed.is_some());
    Ok(if failed { ExitCode::from(4) } else { ExitCode::SUCCESS })
}

fn measure(args: &NetworkArgs, started: &Hosts, facts: &[HostFacts]) -> Result<Baseline, Failure> {
    let broken = |error: FleetError| match error {
        FleetError::Interrupted => Failure::Interrupted("stopped".to_owned()),
        lost @ FleetError::Lost { .. } => Failure::run(lost),
    };
    let names: Vec<String> = facts.iter().map(|host| host.hostname.clone()).collect();
    let known: Vec<(String, Vec<HostAddress>)> =
        names.into_iter().zip(started.fleet.addresses().map_err(broken)?).collect();
    let chosen = choose(&known, args.subnet)
        .map_err(|error| Failure::usage(topics::network::address_error(&error).to_string()))?;
    let of_all = rounds_of_all(chosen.len());
    let usual = if chosen.len() <= ALL_MEET { of_all } else { USUAL_ROUNDS };
    let rounds = rounds(chosen.len(), args.rounds.map_or(usual, |rounds| rounds as usize));
    say_how_long(args, &rounds, of_all);
    let kernels = Kernels::of(facts);
    let mut baseline = Baseline {
        unix_ns: fleet::unix_ns(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        hosts: known
            .into_iter()
            .zip(&chosen)
            .enumerate()
            .map(|(place, ((name, _), address))| BaselineHost {
                name,
                address: address.clone(),
                kernel: kernels.first_on_kernel(place) as u32,
            })
            .collect(),
        streams: args.streams,
        settle_ns: SETTLE.0,
        window_ns: args.time.0,
        rounds_of_all: of_all as u32,
        flows: Vec::new(),
    };
    for (number, pairs) in rounds.iter().enumerate() {
        // A pair that failed is not tried the other ways: each try takes its whole time.
        let mut failed: Vec<Option<FlowFailure>> = vec![None; pairs.len()];
        for way in Way::ALL {
            let goes_on = |place: &usize| failed[*place].is_none();
            let places: Vec<usize> = (0..pairs.len()).filter(goes_on).collect();
            let orders: Vec<FlowOrder> =
                places.iter().map(|place| order(args, &chosen, pairs[*place], way)).collect();
            let mut ends = started.fleet.flows(&orders).map_err(broken)?.into_iter();
            for (pair, failed) in pairs.iter().zip(&mut failed) {
                let [at_first, at_second] = match failed {
                    Some(why) => [Err(why.clone()), Err(why.clone())],
                    None => ends.next().unwrap_or([const { Err(FlowFailure::Stopped) }; 2]),
                };
                let found = result(number as u32, *pair, way, at_first, at_second);
                *failed = found.failed.clone();
                baseline.flows.push(found);
            }
        }
    }
    Ok(baseline)
}

/// What is about to happen: it loads the network for a while.
fn say_how_long(args: &NetworkArgs, rounds: &[Vec<Meeting>], of_all: usize) {
    let pairs: usize = rounds.iter().map(Vec::len).sum();
    let each = (SETTLE.0 + args.time.0) as f64 / 1e9 + BESIDES_S;
    let seconds = each * (rounds.len() * Way::ALL.len()) as f64;
    let rounds = match rounds.len() {
        all if all == of_all => words::counted(all as u64, "round"),
        some => format!("{some} of {of_all} rounds"),
    };
    eprintln!(
        "network   {} in {rounds}, there, back and both ways: about {}; it loads the network",
        words::counted(pairs as u64, "pair"),
        Nanos((seconds * 1e9) as u64)
    );
}

fn order(args: &NetworkArgs, chosen: &[HostAddress], pair: Meeting, way: Way) -> FlowOrder {
    FlowOrder {
        first: (pair.first, chosen[pair.first].address),
        second: (pair.second, chosen[pair.second].address),
        spec: FlowSpec {
            token: 0,
            streams: args.streams,
            forward: way != Way::Backward,
            backward: way != Way::Forward,
            setup_ns: SETUP.0,
            settle_ns: SETTLE.0,
            window_ns: args.time.0,
            most_bytes: args.most.0,
        },
        port: args.port,
    }
}

type End = Result<FlowCounts, FlowFailure>;

/// Joins what both ends say. Where both failed, the one that connects knows more: to the other,
/// only connections are missing.
fn result(round: u32, pair: Meeting, way: Way, at_first: End, at_second: End) -> FlowResult {
    let failed = match (&at_first, &at_second) {
        (Err(FlowFailure::Declined), Err(why)) => Some(why.clone()),
        (Err(why), _) | (_, Err(why)) => Some(why.clone()),
        _ => None,
    };
    let (at_first, at_second) = (at_first.ok(), at_second.ok());
    let [first, second] = [pair.first, pair.second].map(|place| place as u32);
    FlowResult { round, first, second, way, at_first, at_second, failed }
}

/// What a file of `plimsoll network --out` changes in a testbed.
pub(crate) fn changes_of(path: &Path) -> Result<Vec<Change>, Failure> {
    let wrong = |what: &str| {
        Failure::usage(format!(
            "--network {}: {what}; name a file that `plimsoll network --out` wrote",
            path.display()
        ))
    };
    let text = text_file::read(path, "network")?;
    let object: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| wrong(&format!("it is no JSON: {error}")))?;
    let baseline: Baseline = serde_json::from_value(object["baseline"].clone())
        .map_err(|error| wrong(&format!("it holds no baseline: {error}")))?;
    let fields = topics::network::testbed_fields(&baseline, &figures(&baseline));
    if fields.is_empty() {
        return Err(wrong("no figure in it stands for all hosts"));
    }
    let change = |(key, value): (&str, String)| {
        format!("nodes.{key}={value}").parse::<Change>().map_err(|error| wrong(&error.to_string()))
    };
    fields.into_iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIR: Meeting = Meeting { first: 0, second: 1 };

    #[test]
    fn the_end_that_knows_the_cause_is_believed() {
        let failed = |first: FlowFailure, second: FlowFailure| {
            result(0, PAIR, Way::Both, Err(first), Err(second)).failed
        };
        let refused = FlowFailure::Refused;
        assert_eq!(failed(refused.clone(), FlowFailure::TooFew(0)), Some(refused));
        let taken = FlowFailure::NoListener("in use".to_owned());
        assert_eq!(failed(FlowFailure::Declined, taken.clone()), Some(taken));
        let half = result(0, PAIR, Way::Both, Ok(FlowCounts::default()), Err(FlowFailure::Refused));
        assert!(half.failed.is_some() && half.at_first.is_some());
    }
}
