//! A run beside published figures, in words: for the terminal and for the page.

mod charts;

use crate::ground::gather::each_once;
use crate::ground::markup::{Markup, classed, list, under};
use crate::ground::words;
use crate::pens::json::{Value, object};
use crate::pens::{Table, dash, terminal};
use analysis::published::{
    Beside, Comparison, Counted, Error, LoadDifference, Mark, Missing, Quantity, Side,
};
use catalogue::published::Published;
use model::{Nanos, Scale};

/// The table for the terminal; columns of dashes alone are left out.
pub fn table(published: &Published, comparison: &Comparison, scale: Scale) -> String {
    let mut text =
        format!("Beside {} ({})\n", published.report.name.value, published.report.source.value);
    let mut columns = beside(comparison).columns();
    columns.retain(|column| !column.is_empty());
    text.push_str(&terminal::render(&columns));
    text + &words::items(notes(published, comparison, scale))
}

/// The section of the page.
pub fn section(published: &Published, comparison: &Comparison, scale: Scale) -> Markup {
    let title = format!("Beside {}", published.report.name.value);
    let source = format!("Published in: {}.", published.report.source.value);
    under(
        title,
        [
            classed("p", "lead", source),
            charts::charts(comparison),
            beside(comparison).scroll(),
            list(notes(published, comparison, scale)),
        ],
    )
}

/// Why the figures are not put beside this run: it is of another suite.
pub fn unfit(published: &Published, suite: &str) -> String {
    let name = &published.report.name.value;
    format!("the run is of the suite {suite} and the figures are of {name}; run the suite {name}")
}

/// Each figure beside the run's. A key names the reason why the run has none there, or in what it
/// is another load.
fn beside(comparison: &Comparison) -> Table<&Beside> {
    let remarks = remarks(comparison);
    let run = |beside: &Beside| beside.run.as_ref().ok().copied();
    let say = |beside: &Beside, value: f64| {
        beside.quantity.map_or_else(|| beside.printed.clone(), |quantity| figure(quantity, value))
    };
    let published = |beside: &Beside| {
        let upper = beside.up_to.map(|to| format!(" to {}", say(beside, to))).unwrap_or_default();
        format!("{}{upper}", say(beside, beside.published.value))
    };
    let measured = |beside: &Beside| {
        let text = run(beside).map_or_else(dash, |run| say(beside, run.value));
        key(&remarks, beside).map_or_else(|| text.clone(), |key| format!("{text} ({key})"))
    };
    let part = |beside: &Beside, side: Option<Side>, of: fn(&Side) -> Option<u64>| {
        let side = side?;
        of(&side).map(|count| say(beside, side.value / count.max(1) as f64))
    };
    let of_ceiling = |beside: &Beside| {
        let share = |side: Option<Side>| side.and_then(|side| side.share).map(words::share);
        let both = [share(Some(beside.published)), share(run(beside))];
        let is_known = both.iter().any(Option::is_some);
        is_known.then(|| both.map(|share| share.unwrap_or_else(dash)).join(" / "))
    };
    let nodes: fn(&Side) -> Option<u64> = |side| side.nodes;
    let drives: fn(&Side) -> Option<u64> = |side| side.drives;
    Table::of(&comparison.figures)
        .name("workload", |one| &one.workload)
        .key("workload")
        .words("scenario", |one| &one.scenario)
        .key("scenario")
        .words("figure", |one| &one.name)
        .key("figure")
        .field("quantity", |one| one.quantity.map(Quantity::word))
        .figure("published", published)
        .field("published", |one| one.published.value)
        .field("up_to", |one| one.up_to)
        .figure("run", measured)
        .field("run", |one| run(one).map(|side| side.value))
        .field("why_not", |one| one.run.as_ref().err().map(why))
        .field("not_the_same", |one| (!one.apart.is_empty()).then(|| not_the_same(&one.apart)))
        .words("mark", |one| one.mark.map(mark))
        .field("mark", |one| one.mark.map(Mark::word))
        .known("ratio", "ratio", Beside::ratio, words::three_digits)
        .field("error", |one| one.error().map(error_value))
        .figure("error", |one| one.error().map(error))
        .figure("per node: published", |one| part(one, Some(one.published), nodes))
        .figure("run", |one| part(one, run(one), nodes))
        .figure("per drive: published", |one| part(one, Some(one.published), drives))
        .figure("run", |one| part(one, run(one), drives))
        .figure("of the ceiling: published / run", of_ceiling)
}

/// What a simulated figure proves, for people.
fn mark(mark: Mark) -> &'static str {
    match mark {
        Mark::Fitted => "fitted",
        Mark::HeldOut => "held out",
        Mark::Extrapolated => "extrapolated",
    }
}

/// One object for machines.
pub fn object(published: &Published, comparison: &Comparison, scale: Scale) -> Value {
    object! {
        report: published.report.name.value, source: published.report.source.value,
        unfitted_testbed: comparison.unfitted, figures: beside(comparison).json(),
        notes: notes(published, comparison, scale),
    }
}

/// A ratio less 1, or a difference of shares; 0 within a published range.
fn error_value(error: Error) -> f64 {
    match error {
        Error::WithinRange => 0.0,
        Error::Share(value) | Error::Points(value) => value,
    }
}

/// `-48.1 %`, `+5.0 points` or `within`.
fn error(error: Error) -> String {
    match error {
        Error::WithinRange => "within".to_owned(),
        Error::Share(share) => format!("{:+.1} %", share * 100.0),
        Error::Points(points) => format!("{:+.1} points", points * 100.0),
    }
}

pub(crate) fn figure(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Iops => words::iops(value),
        Quantity::IopsPerTerabyte => format!("{}/TB", words::iops(value)),
        Quantity::Threads => words::count(value.round().max(0.0) as u64),
        Quantity::BytesPerSecond => words::gb_per_s(value),
        Quantity::MeanLatency => Nanos(value.round().max(0.0) as u64).to_string(),
        Quantity::PortBits => words::gbit_per_s(value),
        Quantity::CpuShare => words::share(value),
        Quantity::IopsDifference | Quantity::LatencyDifference | Quantity::FromPeak => {
            format!("{:+.1} %", value * 100.0)
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Remark<'a> {
    /// Why there is none.
    Missing(&'a Missing),
    /// In what its load is another one; often nothing of a figure that was computed.
    LoadDifference(&'a [LoadDifference]),
    /// The same of a figure that was computed.
    Computed(&'a [LoadDifference]),
}

impl<'a> Remark<'a> {
    fn of(beside: &'a Beside) -> Option<Remark<'a>> {
        match &beside.run {
            Err(missing) => Some(Remark::Missing(missing)),
            Ok(_) if beside.is_computed => Some(Remark::Computed(&beside.apart)),
            Ok(_) if beside.apart.is_empty() => None,
            Ok(_) => Some(Remark::LoadDifference(&beside.apart)),
        }
    }

    fn text(self) -> String {
        match self {
            Remark::Missing(missing) => why(missing),
            Remark::LoadDifference(apart) => not_the_same(apart),
            Remark::Computed(apart) => {
                let computed = "computed: rate × demand of a request on the testbed (utilisation \
                                law); no kernel saw the load of a simulation.";
                match apart {
                    [] => computed.to_owned(),
                    apart => format!("{computed} And {}", not_the_same(apart)),
                }
            }
        }
    }
}

/// Each remark on some figure's place, once, in the order of the table, with its letters.
fn remarks(comparison: &Comparison) -> Vec<(Remark<'_>, String)> {
    let found = each_once(comparison.figures.iter().filter_map(Remark::of));
    found.into_iter().zip(0..).map(|(remark, number)| (remark, letters(number))).collect()
}

/// `a` to `z`, then `aa`, `ab` and so on.
fn letters(number: u32) -> String {
    let last = char::from(b'a' + (number % 26) as u8);
    if number < 26 { last.to_string() } else { format!("{}{last}", letters(number / 26 - 1)) }
}

/// The letters of what is to be said of this row; `None` where there is nothing.
fn key<'a>(remarks: &'a [(Remark<'_>, String)], beside: &Beside) -> Option<&'a str> {
    let own = Remark::of(beside)?;
    remarks.iter().find(|(known, _)| *known == own).map(|(_, key)| key.as_str())
}

fn not_the_same(apart: &[LoadDifference]) -> String {
    let parts: Vec<String> = apart.iter().map(difference).collect();
    format!("not the same load: {}.", parts.join("; "))
}

fn difference(apart: &LoadDifference) -> String {
    match apart {
        LoadDifference::Footprint { published, run } => {
            format!("a footprint of {}, not {}", words::decimal(*run), words::decimal(*published))
        }
        LoadDifference::FileSize { published, run } => format!("files of {run}, not {published}"),
        LoadDifference::Count { what, published, run } => {
            let what = match what {
                Counted::Hosts => "hosts",
                Counted::Threads => "threads",
                Counted::Depth => "requests outstanding of each thread",
                Counted::Outstanding => "requests outstanding in all",
                Counted::Files => "files",
            };
            format!("{} {what}, not {}", words::count(*run), words::count(*published))
        }
        LoadDifference::Access(access) => {
            format!("access `{access}`, not each block equally often")
        }
        LoadDifference::FixedRate => "a fixed rate, not a closed loop".to_owned(),
        LoadDifference::EventCounted { hosts, event, is_simulated } => format!(
            "counted in the time of the event: {} IOPS of the hosts and {} of the event itself{}",
            words::iops(*hosts),
            words::iops(*event),
            if *is_simulated {
                ", simulated"
            } else {
                ", by the nodes' disks, which merge requests"
            }
        ),
        LoadDifference::EventsRequests => {
            "the published figure counts the event's own requests, the run \
                                  those of its hosts alone"
                .to_owned()
        }
    }
}

fn why(missing: &Missing) -> String {
    match missing {
        Missing::NotOfARun(said) if said.is_empty() => {
            "no run has it: the reference names no counterpart.".to_owned()
        }
        Missing::NotOfARun(said) => said.clone(),
        Missing::NotMeasured => "the run has completed no point of that load: block size, mix, \
                                 order and operation; run the suite with its own workloads and \
                                 sweep."
            .to_owned(),
        Missing::StillRising => "the curve rises up to its last value, so it has no plateau; \
                                 sweep more numbers of workers."
            .to_owned(),
        Missing::OtherFootprint { run } => {
            let run: Vec<String> = run.iter().map(|bytes| words::decimal(*bytes)).collect();
            format!(
                "the run's footprints are {}; a footprint is hosts × files × size.",
                run.join(", ")
            )
        }
        Missing::NoDip => "no event of the run left a dip in such a point.".to_owned(),
        Missing::FewPoints => format!(
            "a plateau is told from {} points of a sweep on, and the run has fewer; sweep more \
             numbers of workers.",
            analysis::LEAST_POINTS
        ),
        Missing::Simulated => "ports and CPUs are counted by kernels, and no kernel saw the load \
                               of a simulation; --testbed NAME computes them."
            .to_owned(),
        Missing::NotCounted => "the hosts' kernels counted none while the point was measured; \
                                `plimsoll inventory` says what each host has."
            .to_owned(),
    }
}

/// What a simulated figure rests on.
fn of_fit(comparison: &Comparison) -> Option<String> {
    if let Some(testbed) = &comparison.unfitted {
        return Some(format!(
            "No rate was fitted to the simulated testbed {testbed}: its times are class estimates, \
             off by a factor of ten and more; `plimsoll calibrate {testbed} RUN -o FITTED.toml` \
             and `--simulate ./FITTED.toml` use measured rows."
        ));
    }
    comparison.figures.iter().any(|figure| figure.mark.is_some()).then(|| {
        "Mark: of a fitted figure the testbed was fitted to its load, and its error proves \
         nothing; one held out is predicted; of an extrapolated one no fitted row speaks."
            .to_owned()
    })
}

fn notes(published: &Published, comparison: &Comparison, scale: Scale) -> Vec<String> {
    let mut notes: Vec<String> = remarks(comparison)
        .iter()
        .map(|(remark, key)| format!("({key}) {}", remark.text()))
        .collect();
    if comparison.figures.iter().any(|figure| figure.error().is_some()) {
        notes.push(
            "Ratio: the run's figure ÷ the published one; error: the same less 1, and of shares \
             and differences in points. Another load or other hardware is no error of the run's."
                .to_owned(),
        );
    }
    notes.extend(of_fit(comparison));
    let shrunk = words::shrunk(scale, "were");
    if !shrunk.is_empty() {
        let caches = if scale.size.is_one() { "" } else { ", and caches answer more" };
        notes.push(format!("{shrunk}: they are not those of the report{caches}."));
    }
    let runs = || comparison.figures.iter().filter_map(|figure| figure.run.as_ref().ok());
    // Of differences and of single machines there is none in any case.
    let is_shared = comparison
        .figures
        .iter()
        .any(|figure| figure.published.share.is_some() && figure.run.is_ok());
    if is_shared && runs().all(|run| run.share.is_none()) {
        notes.push(
            "What the run had beneath it is not known; --testbed says it, for its figures per \
             node, per drive and of the ceiling."
                .to_owned(),
        );
    }
    if comparison.figures.iter().any(|figure| figure.quantity == Some(Quantity::PortBits)) {
        notes.push(
            "Port traffic of the run: of each port the busier direction, on the hosts that load; \
             its ceiling is the speed of all ports of the nodes."
                .to_owned(),
        );
    }
    let above = comparison
        .figures
        .iter()
        .filter(|figure| figure.published.share.is_some_and(|share| share > 1.02));
    for figure in above {
        notes.push(format!(
            "The published {} of {} ({}) is above the ceiling of its own testbed: it did not come \
             from where the report says.",
            figure.name, figure.workload, figure.scenario
        ));
    }
    if !published.report.caveat.value.is_empty() {
        notes.push(format!("The reference: {}", published.report.caveat.value));
    }
    let mut caveats: Vec<&str> =
        comparison.figures.iter().map(|figure| figure.caveat.as_str()).collect();
    caveats.sort_unstable();
    caveats.dedup();
    notes.extend(
        caveats
            .iter()
            .filter(|caveat| !caveat.is_empty())
            .map(|caveat| format!("Of some figures: {caveat}")),
    );
    notes
}

#[cfg(test)]
mod tests;
