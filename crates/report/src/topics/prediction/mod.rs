//! Calibrations and predictions for people and machines.

mod at_rate;
mod forecast;
mod json;
mod refusal;
mod table;

pub use forecast::table as forecasts_table;
pub use json::{calibration as calibration_json, forecasts as forecasts_json};
pub use refusal::{no_rows, not_parted, other_cluster, refusal};
pub use table::calibration as calibration_table;

use crate::ground::gather::grouped;
use crate::ground::words;
use analysis::prediction::basis::Basis;
use analysis::prediction::calibration::Calibration;
use analysis::prediction::fit::Range;
use analysis::prediction::follow::Followed;
use analysis::prediction::forecast::Forecast;
use analysis::prediction::given_rate::AtRate;
use analysis::prediction::load::LeftOut;
use analysis::prediction::load_line::LoadLine;
use analysis::prediction::network::{Beyond, Owner};
use analysis::prediction::parameter::Parameter;
use model::Nanos;
use model::layer::Layer;

/// A calibration with what it is of.
#[derive(Clone, Debug)]
pub struct Calibrated<'a> {
    /// The testbed's name.
    pub testbed: &'a str,
    /// Where the rows come from: a report, or run files.
    pub source: String,
    /// What came of it.
    pub calibration: &'a Calibration,
    /// What else was published and follows from rates.
    pub followed: &'a [Followed],
    /// Rows that are neither fitted nor predicted, each with the reason.
    pub left_out: &'a [(String, LeftOut)],
}

/// What a simulation says of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// Requests per second.
    pub rate: f64,
    /// The share of the time in which each layer worked, 0 to 1.
    pub busy: Vec<(Layer, f64)>,
}

/// Predictions with what they are of.
#[derive(Clone, Debug)]
pub struct Forecasts<'a> {
    /// The testbed's name.
    pub testbed: &'a str,
    /// The suite's name.
    pub suite: &'a str,
    /// How many rows the testbed was fitted to.
    pub fitted_rows: usize,
    /// Where the parameters are from that the points depend on.
    pub basis: Basis,
    /// What somebody types to fit the testbed.
    pub calibrate: String,
    /// One for each point of the suite.
    pub forecasts: &'a [Forecast],
    /// One for each point whose rate is given.
    pub at_rates: &'a [AtRate],
    /// The names of what would be otherwise.
    pub what_ifs: Vec<String>,
    /// The objective of the load lines, as it was asked for.
    pub objective: Option<String>,
    /// The load line of each point.
    pub lines: Option<&'a [LoadLine]>,
    /// What a simulation says of each point, or why it says nothing.
    pub simulated: Option<&'a [Result<Simulation, String>]>,
    /// Points that are not predicted, each with the reason.
    pub left_out: &'a [(String, LeftOut)],
}

/// What is not sure of a prediction.
pub(super) fn mark(is_extrapolated: bool, is_wide: bool) -> &'static str {
    match (is_extrapolated, is_wide) {
        (true, _) => " (extrapolated)",
        (false, true) => " (wide)",
        (false, false) => "",
    }
}

/// The remark on rows that the fitted ones leave too open.
pub(super) fn wide(rows: usize, all: usize) -> Option<String> {
    (rows > 0).then(|| {
        format!(
            "Wide: {rows} of {all} rows; each may be off by more than 30 %, with a probability of \
             1 % or more. More fitted rows, or repetitions of them, narrow it."
        )
    })
}

pub(super) fn parameter(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::Read => "software per read",
        Parameter::Write => "software per write",
        Parameter::ReadPerMib => "software per MiB read",
        Parameter::WritePerMib => "software per MiB written",
        Parameter::ReadPath => "path of a read",
        Parameter::WritePath => "path of a write",
        Parameter::SiteRoundTrip => "round trip between sites",
        Parameter::PortShare => "usable share of ports",
        Parameter::CacheUsable => "usable share of the cache",
        Parameter::DriveRead => "drive time of a random read",
        Parameter::DriveWrite => "drive time of a random write",
        Parameter::StreamShare => "sequential share of drives",
        Parameter::Lookup => "core time of a look-up",
        Parameter::Change => "core time of a change",
        Parameter::Create => "core time of a create",
        Parameter::AttributesKept => "stat answered by clients",
        Parameter::SharedFile => "bandwidth of a shared file",
        Parameter::RdmaPath => "path of a share over RDMA",
        Parameter::TcpPath => "path of a share over TCP",
        Parameter::RdmaMessage => "core time of a message over RDMA",
        Parameter::TcpMessage => "core time of a message over TCP",
    }
}

/// What holds requests: its stable word, and what people read.
fn owner(owner: Owner) -> [&'static str; 2] {
    match owner {
        Owner::Parameter(one) => [one.key(), parameter(one)],
        Owner::Layer(layer) => [layer.code(), super::ceiling::layer(layer)],
        Owner::Beyond(Beyond::Sizes) => ["sizes", "sizes that differ"],
        Owner::Beyond(Beyond::FewPlaces) => ["few-places", "few places in use"],
        Owner::Beyond(Beyond::UnequalNodes) => ["unequal-nodes", "unequal nodes"],
        Owner::Beyond(Beyond::HotPlaces) => ["hot-places", "hot places"],
        Owner::Beyond(Beyond::FewStreams) => ["few-streams", "few streams"],
        Owner::Beyond(Beyond::Stripes) => ["stripes", "stripes with parity"],
        Owner::Beyond(Beyond::Sites) => ["sites", "copies in either site"],
    }
}

pub(super) fn owners(all: &[Owner]) -> String {
    all.iter().map(|one| owner(*one)[1]).collect::<Vec<_>>().join(", ")
}

/// What leaves rows open: what fitted rows say too little of, and what no row could say.
pub(super) fn left_open(all: &[Owner]) -> String {
    let (beyond, open): (Vec<Owner>, Vec<Owner>) =
        all.iter().copied().partition(|one| matches!(one, Owner::Beyond(_)));
    let told = [(open, "fitted rows leave ", " open"), (beyond, "not predicted: ", "")];
    let told = told.into_iter().filter(|(of, ..)| !of.is_empty());
    told.map(|(of, before, after)| format!("{before}{}{after}", owners(&of)))
        .collect::<Vec<_>>()
        .join("; ")
}

pub(super) fn owner_code(one: Owner) -> &'static str {
    owner(one)[0]
}

pub(super) fn value(parameter: Parameter, value: f64) -> String {
    if parameter.is_share() { words::share(value) } else { seconds(value) }
}

pub(super) fn seconds(seconds: f64) -> String {
    Nanos((seconds * 1e9).round().clamp(0.0, 1e18) as u64).to_string()
}

/// `169,838 to 303,981`.
pub(super) fn interval(range: Range) -> String {
    format!("{} to {}", words::iops(range.low), words::iops(range.high))
}

/// Why a row is left out: a stable word, and what people read.
fn why_left_out(why: LeftOut) -> [&'static str; 2] {
    match why {
        LeftOut::Metadata => ["metadata", "mixed operations on whole files are not predicted"],
        LeftOut::FixedRate => ["fixed-rate", "its rate was given"],
        LeftOut::Thinks => ["thinks", "its workers rest between requests"],
        LeftOut::SeveralAtOnce => ["several-at-once", "several workloads run at the same time"],
        LeftOut::Trims => ["trims", "trims are not predicted"],
        LeftOut::NotMeasured => ["not-measured", "it was not measured to its end"],
        LeftOut::NoRate => ["no-rate", "it is no rate of requests"],
        LeftOut::LoadUntold => ["load-untold", "its load is incomplete"],
        LeftOut::OthersFiles => ["others-files", "it looks at files that another host made"],
        LeftOut::SharedFile => ["shared-file", "hosts write one file in turn"],
        LeftOut::Order => {
            ["order", "its streams, strides, backward or listed places are not predicted"]
        }
        LeftOut::OfACurve => ["of-a-curve", "it is a curve's peak or plateau"],
        LeftOut::OfAnEvent => ["of-an-event", "it is of an event"],
        LeftOut::OtherWay => ["other-way", "its simulated migration is not predicted"],
    }
}

pub(super) fn left_out_code(why: LeftOut) -> &'static str {
    why_left_out(why)[0]
}

/// The rows that were left out, those of one reason in one line.
pub(super) fn left_out_lines(all: &[(String, LeftOut)]) -> Vec<String> {
    let reasons = grouped(all.iter().map(|(name, why)| (*why, name.clone())));
    let line = |(why, names): (LeftOut, Vec<String>)| {
        format!("Left out, {}: {}.", why_left_out(why)[1], words::first_of(&names, 3, "; "))
    };
    reasons.into_iter().map(line).collect()
}
