//! Results that another tool measured. They are given, not measured by us: what the tool does not
//! say is not there, and nothing of it is computed or guessed.

use crate::histogram::Histogram;
use crate::op::Op;
use crate::words;
use serde::Serialize;

/// No run holds more rows.
pub const MOST_ROWS: usize = 100_000;
/// No row holds more points in time.
pub const MOST_POINTS: usize = 20_000;
/// No value is larger, whatever its unit: past it, sums and products of values have no meaning.
pub const MOST_VALUE: f64 = 1e24;
/// No point is later, in ms: some 35,000 years.
pub const MOST_AT_MS: u64 = 1 << 50;
/// No name, value or place is longer, in characters.
pub const MOST_TEXT: usize = 300;

words! {
    /// In which form a tool wrote its results.
    pub enum Form {
        /// fio's JSON or JSON+.
        FioJson = "fio-json",
        /// A log of fio: bandwidth, rate or latencies over time.
        FioLog = "fio-log",
        /// What fio prints without `--output-format`.
        FioText = "fio-text",
        /// fio's terse output.
        FioTerse = "fio-terse",
        /// What DiskSpd prints.
        DiskSpdText = "diskspd-text",
        /// What DiskSpd prints with `-Rxml`.
        DiskSpdXml = "diskspd-xml",
        /// vdbench's `flatfile.html`.
        VdbenchFlatfile = "vdbench-flatfile",
        /// vdbench's `summary.html` or `totals.html`.
        VdbenchSummary = "vdbench-summary",
        /// What IOR prints.
        Ior = "ior",
        /// What mdtest prints.
        Mdtest = "mdtest",
        /// What IOzone prints.
        Iozone = "iozone",
        /// IO500's `result_summary.txt`.
        Io500Summary = "io500-summary",
        /// elbencho's CSV.
        ElbenchoCsv = "elbencho-csv",
        /// elbencho's JSON.
        ElbenchoJson = "elbencho-json",
        /// Iometer's `results.csv`.
        IometerCsv = "iometer-csv",
        /// HCIBench's `…-res.txt`.
        HciBench = "hcibench-summary",
    }
}

impl Form {
    /// The tool that writes it.
    pub fn tool(self) -> &'static str {
        match self {
            Form::FioJson | Form::FioLog | Form::FioText | Form::FioTerse => "fio",
            Form::DiskSpdText | Form::DiskSpdXml => "DiskSpd",
            Form::VdbenchFlatfile | Form::VdbenchSummary => "vdbench",
            Form::Ior => "IOR",
            Form::Mdtest => "mdtest",
            Form::Iozone => "IOzone",
            Form::Io500Summary => "IO500",
            Form::ElbenchoCsv | Form::ElbenchoJson => "elbencho",
            Form::IometerCsv => "Iometer",
            Form::HciBench => "HCIBench",
        }
    }
}

words! {
    /// From when to when a latency was taken.
    pub enum Span {
        /// From before the submission to the completion.
        Total = "total",
        /// The submission alone.
        Submission = "submission",
        /// From the end of the submission to the completion.
        Completion = "completion",
        /// A whole file or directory: opened, read or written, closed.
        Entry = "entry",
    }
}

words! {
    /// What a number says of many.
    pub enum StatisticKind {
        /// The amount ÷ the time.
        Whole = "whole",
        /// The mean of samples or repetitions.
        Mean = "mean",
        /// Their standard deviation.
        StdDev = "stddev",
        /// The least.
        Least = "min",
        /// The greatest.
        Most = "max",
        /// How many there are.
        Count = "count",
        /// What a share of all did not exceed.
        Quantile = "quantile",
    }
}

/// What a number says of many, with the share of a quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The amount ÷ the time.
    Whole,
    /// The mean of samples or repetitions.
    Mean,
    /// Their standard deviation.
    StdDev,
    /// The least.
    Least,
    /// The greatest.
    Most,
    /// How many there are.
    Count,
    /// What this share, in billionths, did not exceed.
    Quantile(u32),
}

impl Statistic {
    /// A quantile by its share in percent; `None` where that is no share.
    pub fn percentile(percent: f64) -> Option<Statistic> {
        let share = (percent * 1e7).round();
        ((1.0..=1e9).contains(&share)).then_some(Statistic::Quantile(share as u32))
    }

    /// Its kind.
    pub fn kind(self) -> StatisticKind {
        match self {
            Statistic::Whole => StatisticKind::Whole,
            Statistic::Mean => StatisticKind::Mean,
            Statistic::StdDev => StatisticKind::StdDev,
            Statistic::Least => StatisticKind::Least,
            Statistic::Most => StatisticKind::Most,
            Statistic::Count => StatisticKind::Count,
            Statistic::Quantile(_) => StatisticKind::Quantile,
        }
    }

    /// The share of a quantile, in billionths.
    pub fn share(self) -> Option<u32> {
        match self {
            Statistic::Quantile(share) => Some(share),
            _ => None,
        }
    }

    /// From its kind and the share of a quantile.
    pub fn new(kind: StatisticKind, share: Option<u32>) -> Option<Statistic> {
        Some(match kind {
            StatisticKind::Whole => Statistic::Whole,
            StatisticKind::Mean => Statistic::Mean,
            StatisticKind::StdDev => Statistic::StdDev,
            StatisticKind::Least => Statistic::Least,
            StatisticKind::Most => Statistic::Most,
            StatisticKind::Count => Statistic::Count,
            StatisticKind::Quantile => {
                Statistic::Quantile(share.filter(|share| (1..=1_000_000_000).contains(share))?)
            }
        })
    }
}

words! {
    /// What is measured.
    pub enum Measured {
        /// Requests, or operations on files, in a second.
        Rate = "rate_per_s",
        /// Bytes in a second.
        Bandwidth = "bytes_per_s",
        /// How long requests took, in ns.
        Latency = "latency_ns",
        /// All requests.
        Requests = "requests",
        /// Requests that moved less than they should.
        Short = "short_requests",
        /// Requests that were dropped.
        Dropped = "dropped_requests",
        /// All bytes.
        Bytes = "bytes",
        /// How long it was measured, in ns.
        Time = "time_ns",
        /// The size of one request, in bytes.
        RequestSize = "request_bytes",
        /// How many requests its options allow at the same time.
        Allowed = "allowed_in_flight",
        /// How many were at the target at the same time, on average.
        InFlight = "in_flight",
        /// The rate that was asked for, in requests in a second.
        AskedRate = "asked_rate_per_s",
        /// CPU time in user mode, in percent as the tool counts it.
        CpuUser = "cpu_user_percent",
        /// CPU time in the kernel, in percent as the tool counts it.
        CpuSystem = "cpu_system_percent",
        /// The error that the tool ended with.
        Errno = "errno",
        /// IO500's score: the root of GiB/s times thousands of operations in a second.
        Score = "score",
    }
}

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quantity {
    /// What is measured.
    pub measured: Measured,
    /// Of a latency: from when to when.
    pub span: Option<Span>,
    /// What it says of many.
    pub statistic: Statistic,
}

impl Quantity {
    /// The whole of something.
    pub const fn whole(measured: Measured) -> Quantity {
        Quantity { measured, span: None, statistic: Statistic::Whole }
    }

    /// A statistic of something.
    pub const fn of(measured: Measured, statistic: Statistic) -> Quantity {
        Quantity { measured, span: None, statistic }
    }

    /// A statistic of latencies.
    pub const fn latency(span: Span, statistic: Statistic) -> Quantity {
        Quantity { measured: Measured::Latency, span: Some(span), statistic }
    }
}

/// A number with what it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// What it is.
    #[serde(flatten)]
    pub quantity: Quantity,
    /// How much of it, in the unit of what is measured.
    pub value: f64,
}

/// An option as the source has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GivenOption {
    /// Its name in the tool.
    pub name: String,
    /// Its value as it is written.
    pub value: String,
}

/// A histogram of latencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenLatencies {
    /// From when to when they were taken.
    pub span: Span,
    /// The latencies: each counts at the value that its source gave for it.
    pub latency: Histogram,
    /// How far a value may be from the true one for the bins of the source, in thousandths of it;
    /// 0 where the source has each single latency.
    pub error_permille: u32,
}

/// A value at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// When, in ms from the beginning.
    pub at_ms: u64,
    /// How much, in the unit of what is measured.
    pub value: f64,
}

/// How something went on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GivenSeries {
    /// What.
    pub quantity: Quantity,
    /// By time.
    pub points: Vec<Point>,
}

/// What was measured of one thing: of an operation of a job, of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenRow {
    /// The number of its source.
    pub source: u32,
    /// Rows of one job have one number.
    pub group: u32,
    /// The name of the job or of the phase.
    pub workload: String,
    /// Its operation; `None` for several, or where nobody says.
    pub op: Option<Op>,
    /// Line or path in the source.
    pub place: String,
    /// Options as the source has them.
    pub options: Vec<GivenOption>,
    /// What is said of it.
    pub measures: Vec<Measure>,
    /// Its latencies, where the source has them.
    pub latencies: Option<GivenLatencies>,
    /// How it went on, where the source says.
    pub series: Vec<GivenSeries>,
}

impl GivenRow {
    /// One of which nothing is said yet.
    pub fn new(workload: &str, op: Option<Op>, place: impl Into<String>) -> GivenRow {
        GivenRow {
            workload: short(workload),
            op,
            place: short(&place.into()),
            ..GivenRow::default()
        }
    }

    /// Says something of it. What is no number of anything is left out.
    pub fn add(&mut self, quantity: Quantity, value: Option<f64>) {
        let value = value.filter(|value| is_value(*value));
        self.measures.extend(value.map(|value| Measure { quantity, value }));
    }

    /// The value of a quantity.
    pub fn get(&self, quantity: Quantity) -> Option<f64> {
        let found = self.measures.iter().find(|measure| measure.quantity == quantity);
        found.map(|measure| measure.value)
    }

    /// The whole of something, else the mean over repetitions.
    pub fn overall(&self, measured: Measured) -> Option<f64> {
        self.get(Quantity::whole(measured))
            .or_else(|| self.get(Quantity::of(measured, Statistic::Mean)))
    }

    /// A statistic of latencies: of the whole time of requests where the source has it, else of
    /// what it has.
    pub fn latency_ns(&self, statistic: Statistic) -> Option<Latency> {
        let of = |span: &Span| {
            let value_ns = self.get(Quantity::latency(*span, statistic))?;
            Some(Latency { span: *span, value_ns })
        };
        [Span::Total, Span::Completion, Span::Entry].iter().find_map(of)
    }

    /// The quantiles of one span, in the order of their shares.
    pub fn quantiles(&self, span: Span) -> Vec<GivenQuantile> {
        let of = |measure: &Measure| {
            let share = measure.quantity.statistic.share()?;
            let is_of = measure.quantity == Quantity::latency(span, Statistic::Quantile(share));
            is_of.then_some(GivenQuantile { share, value_ns: measure.value })
        };
        let mut all: Vec<GivenQuantile> = self.measures.iter().filter_map(of).collect();
        all.sort_by_key(|quantile| quantile.share);
        all
    }

    /// The value of an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        let found = self.options.iter().find(|option| option.name == name);
        found.map(|option| option.value.as_str())
    }

    /// The name of its operation, `all` for several.
    pub fn op_name(&self) -> &'static str {
        self.op.map_or("all", Op::name)
    }
}

/// Whether anything can be so much: 0 to [`MOST_VALUE`].
pub fn is_value(value: f64) -> bool {
    (0.0..=MOST_VALUE).contains(&value)
}

/// A latency with what it covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// From when to when.
    pub span: Span,
    /// How long, in ns.
    pub value_ns: f64,
}

/// A quantile as it was given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenQuantile {
    /// The share, in billionths.
    pub share: u32,
    /// What that share did not exceed, in ns.
    pub value_ns: f64,
}

words! {
    /// What does not go together in results.
    pub enum DoubtKind {
        /// The score is not the one that follows from the phases.
        ScoreDiffers = "score-differs",
        /// A phase that counts in the score is not there.
        PhaseMissing = "phase-missing",
        /// The tool itself marked the result as invalid.
        MarkedInvalid = "marked-invalid",
        /// The rate times the size of the requests is not the bandwidth.
        RateTimesSize = "rate-times-size",
        /// The amount ÷ the time is not the rate.
        AmountOverTime = "amount-over-time",
        /// More requests in flight, by rate and latency, than the job could have (Little 1961).
        LittlesLaw = "littles-law",
        /// A quantile is below a lower one, or past the maximum.
        QuantilesOutOfOrder = "quantiles-out-of-order",
        /// The mean latency is below that of a system call.
        FasterThanACall = "faster-than-a-call",
        /// The bins of the histogram do not count the requests.
        BinsDoNotAddUp = "bins-do-not-add-up",
        /// The tool counted errors.
        Errors = "errors",
        /// Text that is no JSON stood around it, and was left out.
        TextAroundJson = "text-around-json",
        /// The JSON was cut off or broken, and was mended; the number of changes is said.
        JsonMended = "json-mended",
        /// A key comes again in its object of JSON, and the last one counts.
        DuplicateKey = "duplicate-key",
        /// A run printed what it had so far again and again; the last of each run was read.
        EarlierStates = "earlier-states",
        /// Jobs of one group differ by more than a factor of two.
        UnequalJobs = "unequal-jobs",
        /// The log holds means over time: no quantile follows from them.
        MeansOverTime = "means-over-time",
        /// Lines that are no lines of the form were left out.
        LinesLeftOut = "lines-left-out",
        /// It was not measured for a second: caches and timers decide.
        TooShort = "too-short",
        /// A percentile is a mean of several ones, or computed from a mean and a deviation.
        QuantilesAveraged = "quantiles-averaged",
        /// Some machines have no result in it.
        MachinesMissing = "machines-missing",
        /// More than any layer of the described testbed lets through.
        FasterThanTheTestbed = "faster-than-the-testbed",
    }
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

/// A file that another tool wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// In which form.
    pub form: Form,
    /// The version that the tool says; empty where it says none.
    pub tool_version: String,
    /// The name of the file, without its folders.
    pub file: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// Results of other tools that are kept as a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForeignRun {
    /// Tells it from all others: follows from its sources.
    pub run_id: String,
    /// What it is called.
    pub name: String,
    /// The version of Plimsoll that imported it.
    pub version: String,
    /// When it was imported, in ns since 1970.
    pub imported_unix_ns: u64,
    /// When it was measured, in ns since 1970, where a source says.
    pub measured_unix_ns: Option<u64>,
    /// Where it comes from.
    pub sources: Vec<Source>,
    /// What was measured.
    pub rows: Vec<GivenRow>,
    /// What does not go together.
    pub doubts: Vec<Doubt>,
}

/// A text from outside, no longer than we keep.
pub fn short(text: &str) -> String {
    text.chars().take(MOST_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_share_of_all() {
        assert_eq!(Statistic::percentile(99.95), Some(Statistic::Quantile(999_500_000)));
        assert_eq!(Statistic::percentile(99.9999999), Some(Statistic::Quantile(999_999_999)));
        assert_eq!(Statistic::percentile(0.0), None);
        assert_eq!(Statistic::percentile(100.1), None);
        assert_eq!(Statistic::percentile(f64::NAN), None);
    }

    #[test]
    fn statistics_survive_their_parts() {
        for statistic in [Statistic::Whole, Statistic::Most, Statistic::Quantile(5)] {
            assert_eq!(Statistic::new(statistic.kind(), statistic.share()), Some(statistic));
        }
        assert_eq!(Statistic::new(StatisticKind::Quantile, None), None);
        assert_eq!(Statistic::new(StatisticKind::Quantile, Some(0)), None);
    }

    #[test]
    fn latencies_are_of_the_whole_time_where_there_is_one() {
        let mut row = GivenRow::new("a", Some(Op::Read), "1".to_owned());
        row.add(Quantity::latency(Span::Completion, Statistic::Mean), Some(5.0));
        assert_eq!(row.latency_ns(Statistic::Mean).map(|mean| mean.span), Some(Span::Completion));
        row.add(Quantity::latency(Span::Total, Statistic::Mean), Some(7.0));
        assert_eq!(row.latency_ns(Statistic::Mean).map(|mean| mean.value_ns), Some(7.0));
        row.add(Quantity::whole(Measured::Rate), Some(f64::NAN));
        assert_eq!(row.overall(Measured::Rate), None);
    }
}
