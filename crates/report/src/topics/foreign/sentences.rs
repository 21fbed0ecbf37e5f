//! What is doubtful in results of other tools, and what they lack, in sentences.

use super::latency;
use analysis::foreign::{Lack, Missing};
use model::foreign::{Doubt, DoubtKind};

/// Why no figure of another tool can be quoted by our evidence.
pub const NOT_QUOTABLE: &str = "not quotable: Plimsoll did not measure it, and holds no testbed, \
                                samples or kernel counters of it";

/// A doubt as a sentence, with what to make of it.
pub fn doubt(doubt: &Doubt) -> String {
    let name = &doubt.name;
    let (said, computed) = (doubt.said.unwrap_or(0.0), doubt.computed.unwrap_or(0.0));
    match doubt.kind {
        DoubtKind::ScoreDiffers => {
            format!("{name}: {said} is printed, {computed:.6} follows from the phases")
        }
        DoubtKind::PhaseMissing => format!("{name}: no result; the score counts it as none"),
        DoubtKind::MarkedInvalid => format!("{name}: the tool itself marked it as invalid"),
        DoubtKind::RateTimesSize => format!(
            "{name}: {said:.0} bytes/s are reported; rate times size of the requests is \
             {computed:.0}"
        ),
        DoubtKind::AmountOverTime => format!(
            "{name}: {}/s are reported; requests divided by the time are {computed:.1}/s",
            plain(said)
        ),
        DoubtKind::LittlesLaw => format!(
            "{name}: rate times latency is {computed:.1} requests in flight; the job allows {said}"
        ),
        DoubtKind::QuantilesOutOfOrder => {
            format!("{name}: a quantile of {said:.0} ns lies beyond {computed:.0} ns")
        }
        DoubtKind::FasterThanACall => format!(
            "{name}: a mean of {said:.0} ns is less than a system call takes; no device was asked"
        ),
        DoubtKind::BinsDoNotAddUp => {
            format!("{name}: the histogram counts {computed}, the requests are {said}")
        }
        DoubtKind::Errors => format!("{name}: it ended with error {said}"),
        DoubtKind::TextAroundJson => {
            format!("{name}: text that is no JSON stood around it and was left out")
        }
        DoubtKind::JsonMended => {
            format!("{name}: {computed} values such as nan are no JSON; they count as not given")
        }
        DoubtKind::DuplicateKey if doubt.computed.is_some() => {
            format!("{name}: {computed:.0} keys come again in their object; {said:.0} are named")
        }
        DoubtKind::DuplicateKey => {
            format!("{name} comes again in its object; the last value counts")
        }
        DoubtKind::EarlierStates => format!(
            "{name}: {computed:.0} of {said:.0} outputs are earlier states of the same run; the \
             last state counts"
        ),
        DoubtKind::UnequalJobs => format!(
            "{name}: its jobs reach {said:.1}/s to {computed:.1}/s; a mean hides the slowest"
        ),
        DoubtKind::MeansOverTime => format!(
            "{name}: the log holds means over time; no quantile and no overall mean follow from \
             them"
        ),
        DoubtKind::LinesLeftOut => {
            format!("{name}: {computed} of {said} lines have another form and were left out")
        }
        DoubtKind::QuantilesAveraged => format!(
            "{name}: the tool averages percentiles of machines, or computes them from mean and \
             deviation; they are no quantiles and were left out"
        ),
        DoubtKind::MachinesMissing => format!(
            "{name}: of {said:.0} machines, {computed:.0} are in the results; the others are not"
        ),
        DoubtKind::FasterThanTheTestbed => format!(
            "{name}: {said:.0}/s are reported, and the described testbed lets at most \
             {computed:.0}/s through, read or written in order"
        ),
        DoubtKind::TooShort => format!(
            "{name}: it was measured for {}; caches and timers decide such a result",
            latency(said)
        ),
    }
}

/// What is missing as a sentence, of a run of so many rows.
pub fn lack(lack: &Lack, rows: usize) -> String {
    let of = if lack.rows == rows {
        String::new()
    } else {
        format!(" ({} of {rows} results)", lack.rows)
    };
    let what = match lack.missing {
        Missing::Latencies => "no latency",
        Missing::Quantiles => "no quantile of latencies: a mean hides the slow requests",
        Missing::TotalQuantiles => {
            "quantiles of the time behind the submission alone: whole requests took longer; \
             fio has those with `lat_percentiles=1`"
        }
        Missing::Histogram => {
            "no histogram: quantiles are those that the tool printed, and cannot be merged"
        }
        Missing::Spread => "no spread of the rate: no difference can be told from chance",
        Missing::Requests => "no count of requests",
        Missing::Time => "no time for which it was measured",
    };
    format!("{what}{of}")
}

/// A figure that may be one that no tool prints.
fn plain(value: f64) -> String {
    if value.abs() < 1e15 { format!("{value:.1}") } else { format!("{value:.1e}") }
}
