//! A calibration: which rows are fitted, what was found, how well the rows that were held out are
//! predicted.

use super::fit::{Fit, Range};
use super::load::{Load, Measured};
use super::network::{Network, Owner};
use super::outlook::{Asked, Outlook};
use super::parameter::{DEPENDS, Parameter};
pub use super::refusal::{Refusal, check_fitted};
use super::refusal::{check_fit, check_rows};
use catalogue::Cluster;
use catalogue::cluster::FittedValue;
use model::{Bytes, Object, Percent};
use std::collections::BTreeSet;

/// Who holds this share of the requests outstanding binds a row.
const BINDS: f64 = 0.2;
/// A parameter is identified where rows leave at most this share of what was open of it.
const IDENTIFIED: f64 = 0.5;
/// The share of what is likely in which a prediction may be off by more than 30 % before it is
/// wide.
pub const WIDE: f64 = 0.01;
/// The share of what is likely in which somebody may bind a row who binds no fitted one.
pub const OTHERWISE: f64 = 0.1;
/// What a row may stray by before it is marked, in spreads.
const OUTLIES: f64 = 2.5;

/// A row beside what is predicted of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The row.
    pub row: Measured,
    /// What is predicted of it, in requests per second.
    pub predicted: Range,
    /// Who binds it, the one that holds most first.
    pub binding: Vec<Owner>,
    /// What binds it and no fitted row, and what it depends on and no row identified; or else,
    /// where it is less sure than fitted rows should leave it, what leaves it open. With any, the
    /// prediction is an extrapolation.
    pub unseen: Vec<Owner>,
    /// How far what the rows leave open of the parameters may put it off: a logarithm that lies
    /// within it with a probability of 90 %.
    pub left_open: f64,
    /// The share of what is likely in which somebody binds it who binds no fitted row.
    pub otherwise_bound: f64,
    /// The share of what is likely in which the prediction is off by more than 30 %.
    pub far_off: f64,
    /// Whether it is an extrapolation only because it is less sure than fitted rows should leave
    /// it.
    pub is_unsure: bool,
    /// Whether it strays further from the fit than chance does.
    pub outlies: bool,
}

impl Judged {
    /// Predicted ÷ measured − 1.
    pub fn error(&self) -> f64 {
        self.predicted.value / self.row.rate - 1.0
    }

    /// Whether the fitted rows leave it so open that it may be off by more than 30 %.
    pub fn is_wide(&self) -> bool {
        self.far_off > WIDE
    }

    /// Whether nothing that was fitted speaks for it.
    pub fn is_extrapolated(&self) -> bool {
        !self.unseen.is_empty()
    }

    /// Whether the measured rate lies in the interval.
    pub fn is_covered(&self) -> bool {
        (self.predicted.low..=self.predicted.high).contains(&self.row.rate)
    }
}

/// What was found of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Which.
    pub parameter: Parameter,
    /// Seconds, or a share.
    pub range: Range,
    /// The class estimate, or what the testbed gives.
    pub before: f64,
    /// Whether the testbed gives it, so that it was not fitted.
    pub is_known: bool,
    /// The numbers of the fitted rows that identified it, the one that depends on it most first;
    /// none where rows leave more than half of what was open.
    pub identified_by: Vec<usize>,
}

/// What a calibration came to.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The parameters.
    pub fit: Fit,
    /// The fitted rows.
    pub fitted: Vec<Judged>,
    /// The rows that were held out.
    pub held_out: Vec<Judged>,
    /// Those that any of these rows depends on.
    pub parameters: Vec<Found>,
    /// Loads that would tell most of what is still open, the first one first.
    pub proposed: Vec<Load>,
}

impl Calibration {
    /// What a fitted testbed holds.
    pub fn written(&self) -> Vec<(&'static str, FittedValue)> {
        let open = Parameter::EACH.into_iter().filter(|parameter| {
            !self.parameters.iter().any(|found| found.parameter == *parameter && found.is_known)
        });
        open.map(|parameter| {
            (parameter.key(), parameter.written(self.fit.parameter(parameter).value))
        })
        .collect()
    }
}

/// Fits the parameters of a cluster to `fit` and predicts `held_out`.
///
/// # Errors
/// Why nothing is fitted to these rows.
pub fn calibrate(
    cluster: &Cluster,
    fit: &[Measured],
    held_out: &[Measured],
) -> Result<Calibration, Refusal> {
    check_rows(cluster, fit)?;
    let found = Fit::to(cluster, fit);
    let networks: Vec<Network> = fit.iter().map(|row| Network::new(cluster, &row.load)).collect();
    check_fit(cluster, &found.values, fit, &networks)?;
    let seen = seen(&found, &networks);
    let judge = |row: &Measured| judged(cluster, &found, &seen, row);
    let (fitted, held_out): (Vec<Judged>, Vec<Judged>) =
        (fit.iter().map(judge).collect(), held_out.iter().map(judge).collect());
    let all: Vec<&Load> = fitted.iter().chain(&held_out).map(|judged| &judged.row.load).collect();
    let parameters = parameters(cluster, &found, &networks, &all);
    let proposed = proposed(cluster, &found, &parameters, &all);
    Ok(Calibration { fit: found, fitted, held_out, parameters, proposed })
}

/// Who binds fitted rows.
pub(super) struct Seen {
    /// By the most likely parameters.
    most_likely: BTreeSet<Owner>,
    /// By each of those that are likely.
    likely: Vec<BTreeSet<Owner>>,
}

/// Who binds any of these rows.
pub(super) fn seen(fit: &Fit, networks: &[Network]) -> Seen {
    let binds = |network: &Network| network.carries(&fit.values).bound_by(BINDS);
    Seen {
        most_likely: networks.iter().flat_map(binds).collect(),
        likely: fit.holders(networks, BINDS),
    }
}

/// Who binds a load; and of what it depends on, what binds no fitted row or was not identified.
pub(super) fn binding(found: &Fit, network: &Network, seen: &Seen) -> Binding {
    let asked = Asked { binds: BINDS, holders: &seen.likely };
    let outlook = found.outlook(network, asked);
    let predicted = outlook.range;
    let binding = network.carries(&found.values).bound_by(BINDS);
    let mut unseen: Vec<Owner> =
        binding.iter().filter(|owner| !seen.most_likely.contains(owner)).copied().collect();
    let slopes = network.slopes(&found.values);
    for parameter in Parameter::EACH {
        let owner = Owner::Parameter(parameter);
        let depends = slopes[parameter.index()].abs() >= DEPENDS;
        if depends && found.open(parameter) > IDENTIFIED && !unseen.contains(&owner) {
            unseen.push(owner);
        }
    }
    unseen.extend(network.beyond().iter().copied().map(Owner::Beyond));
    let Outlook { left_open, otherwise_bound, far_off, .. } = outlook;
    let is_unsure = unseen.is_empty() && otherwise_bound > OTHERWISE;
    if is_unsure {
        unseen.extend(found.opens(network).into_iter().map(Owner::Parameter));
    }
    Binding { predicted, binding, unseen, left_open, otherwise_bound, far_off, is_unsure }
}

/// Who binds a load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Binding {
    pub(super) predicted: Range,
    pub(super) binding: Vec<Owner>,
    pub(super) unseen: Vec<Owner>,
    pub(super) left_open: f64,
    pub(super) otherwise_bound: f64,
    pub(super) far_off: f64,
    pub(super) is_unsure: bool,
}

fn judged(cluster: &Cluster, fit: &Fit, seen: &Seen, row: &Measured) -> Judged {
    let network = Network::new(cluster, &row.load);
    let Binding { predicted, binding, unseen, left_open, otherwise_bound, far_off, is_unsure } =
        binding(fit, &network, seen);
    let outlies = (predicted.value / row.rate).ln().abs() > OUTLIES * fit.spread;
    Judged {
        row: row.clone(),
        predicted,
        binding,
        unseen,
        left_open,
        otherwise_bound,
        far_off,
        is_unsure,
        outlies,
    }
}

/// What was found of every parameter that a row depends on at all.
fn parameters(cluster: &Cluster, fit: &Fit, networks: &[Network], loads: &[&Load]) -> Vec<Found> {
    let slopes: Vec<_> = networks.iter().map(|network| network.slopes(&fit.values)).collect();
    let everywhere: Vec<_> =
        loads.iter().map(|load| Network::new(cluster, load).slopes(&fit.values)).collect();
    let mut all = Vec::new();
    for parameter in Parameter::EACH {
        let index = parameter.index();
        if !everywhere.iter().any(|slope| slope[index].abs() > 1e-3) {
            continue;
        }
        let mut by: Vec<usize> =
            (0..slopes.len()).filter(|row| slopes[*row][index].abs() >= DEPENDS).collect();
        by.sort_by(|a, b| slopes[*b][index].abs().total_cmp(&slopes[*a][index].abs()));
        let known = parameter.known(cluster);
        if known.is_some() || fit.open(parameter) > IDENTIFIED {
            by.clear();
        }
        all.push(Found {
            parameter,
            range: fit.parameter(parameter),
            before: known.unwrap_or_else(|| parameter.prior(cluster).median),
            is_known: known.is_some(),
            identified_by: by,
        });
    }
    all
}

/// Up to three loads that would tell most, where something that rows depend on is open: each next
/// to what the ones before it would have told.
fn proposed(cluster: &Cluster, fit: &Fit, found: &[Found], loads: &[&Load]) -> Vec<Load> {
    let is_open = |found: &Found| !found.is_known && found.identified_by.is_empty();
    let Some(first) = loads.first().filter(|_| found.iter().any(is_open)) else {
        return Vec::new();
    };
    let hosts = loads.iter().map(|load| load.hosts).max().unwrap_or(first.hosts);
    let least = loads.iter().filter_map(|load| load.workload.footprint).min();
    let most = loads.iter().filter_map(|load| load.workload.footprint).max();
    let mut footprints: Vec<Option<Bytes>> = vec![least, most];
    footprints.dedup();
    let mut candidates = Vec::new();
    for footprint in footprints {
        for (kib, is_random) in [(4, true), (256, false)] {
            for read in [Percent::ALL, Percent::ZERO] {
                for each in [1, 4, 32] {
                    let order = if is_random { "random" } else { "sequential" };
                    let way = if read == Percent::ALL { "read" } else { "write" };
                    let block = Bytes::kib(kib);
                    let name = format!("{kib}K {order} {way}");
                    candidates.push(Load {
                        workload: crate::ceiling::Workload::new(
                            &name, block, read, is_random, footprint,
                        ),
                        hosts,
                        outstanding: u64::from(hosts) * each,
                        depth: 1,
                        remote: first.remote,
                        object: Object::Blocks,
                        route: first.route,
                    });
                }
            }
        }
    }
    for asked in loads.iter().filter(|load| load.object != Object::Blocks) {
        for each in [1, 4, 32] {
            let outstanding = u64::from(hosts) * each;
            let candidate = Load { hosts, outstanding, depth: 1, ..(*asked).clone() };
            if !candidates.iter().any(|known| known.is_like(&candidate)) {
                candidates.push(candidate);
            }
        }
    }
    let mut known = fit.clone();
    let mut chosen: Vec<Load> = Vec::new();
    while chosen.len() < 3 {
        let tells = |load: &Load| known.would_tell(&Network::new(cluster, load));
        let best = candidates.iter().max_by(|a, b| tells(a).total_cmp(&tells(b)));
        // What tells less than a twentieth of the spread more is not worth its time.
        let Some(best) = best.filter(|load| tells(load) > 0.5) else { break };
        let best = best.clone();
        known = known.having_seen(&Network::new(cluster, &best));
        chosen.push(best);
    }
    chosen
}
