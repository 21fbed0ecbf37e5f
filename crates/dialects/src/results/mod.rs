//! Results that other tools printed: what they hold, and what in them does not go together.

mod fio;
mod io500;

use crate::import::ImportError;
use serde::Serialize;

/// No text of results is larger.
pub const MOST_BYTES: usize = 64 << 20;

/// No text of results holds more.
const MOST_ROWS: usize = 100_000;

/// What is measured, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Bytes in a second.
    BandwidthBytesPerS,
    /// Requests, or operations on files, in a second.
    RatePerS,
    /// All requests.
    Requests,
    /// All bytes.
    Bytes,
    /// How long it was measured, in ns.
    TimeNs,
    /// The mean latency, in ns.
    LatencyMeanNs,
    /// The least latency, in ns.
    LatencyMinNs,
    /// The greatest latency, in ns.
    LatencyMaxNs,
    /// The latency that this share of the requests, in millionths, did not exceed, in ns.
    LatencyQuantileNs(u32),
    /// IO500's score: the root of GiB/s times thousands of operations in a second.
    Score,
}

/// A number with what it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// What is measured.
    pub quantity: Quantity,
    /// How much of it, in the unit of the quantity.
    pub value: f64,
}

/// What was measured of one thing: a job, a phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Line or path in the source.
    pub place: String,
    /// What is said of it.
    pub measures: Vec<Measure>,
}

impl Row {
    /// The value of a quantity.
    pub fn get(&self, quantity: Quantity) -> Option<f64> {
        self.measures
            .iter()
            .find(|measure| measure.quantity == quantity)
            .map(|measure| measure.value)
    }
}

/// What does not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DoubtKind {
    /// The score is not the one that follows from the phases.
    ScoreDiffers,
    /// A phase that counts in the score is not there.
    PhaseMissing,
    /// The tool itself marked the result as invalid.
    MarkedInvalid,
    /// The rate times the size of the requests is not the bandwidth.
    RateTimesSize,
    /// More requests in flight, by rate and latency, than the job could have (Little 1961).
    LittlesLaw,
    /// A quantile is below a lower one, or past the maximum.
    QuantilesOutOfOrder,
    /// The mean latency is below that of a system call.
    FasterThanACall,
    /// The bins of the histogram do not count the requests.
    BinsDoNotAddUp,
    /// The tool counted errors.
    Errors,
    /// Text that is no JSON stood around it, and was left out.
    TextAroundJson,
    /// Jobs of one group differ by more than a factor of two.
    UnequalJobs,
}

/// A doubt of a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Doubt {
    /// What does not go together.
    pub kind: DoubtKind,
    /// Of what.
    pub name: String,
    /// What the source says, where it is a number.
    pub said: Option<f64>,
    /// What follows from the rest.
    pub computed: Option<f64>,
}

/// What a text of results holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Results {
    /// The tool, and its version where it says so.
    pub tool: String,
    /// What was measured.
    pub rows: Vec<Row>,
    /// What does not go together.
    pub doubts: Vec<Doubt>,
}

/// A kind of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// fio's JSON and JSON+.
    FioJson,
    /// IO500's `result_summary.txt`.
    Io500Summary,
}

/// The kind of results that a text holds, where it holds any.
pub fn detect(text: &str) -> Option<Kind> {
    let head: String = text.chars().take(1 << 16).collect();
    if head.contains("\"fio version\"") {
        return Some(Kind::FioJson);
    }
    let is_summary = text.lines().any(|line| line.starts_with("[RESULT"));
    is_summary.then_some(Kind::Io500Summary)
}

/// Reads results.
///
/// # Errors
/// The text is too large, or not what it seemed to be.
pub fn read(name: &str, text: &str, kind: Kind) -> Result<Results, ImportError> {
    if text.len() > MOST_BYTES {
        let what = format!("it is larger than {MOST_BYTES} bytes");
        return Err(ImportError::new(name, what, "name the results of one run"));
    }
    match kind {
        Kind::FioJson => fio::read(name, text),
        Kind::Io500Summary => io500::read(name, text),
    }
}

/// A range that a number written with so many decimals stands for.
fn as_written(text: &str) -> Option<(f64, f64)> {
    let value: f64 = text.parse().ok()?;
    // `1.5e3` says nothing of its last digit; these tools do not write it.
    let decimals = text.split_once('.').map_or(0, |(_, behind)| behind.len()).min(15);
    let half = 0.5 * 10_f64.powi(-(decimals as i32));
    value.is_finite().then_some((value - half, value + half))
}
