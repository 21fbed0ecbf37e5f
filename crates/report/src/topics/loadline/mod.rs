//! What a search for the load line found: in words for tables and pages, and as an object for
//! machines.

pub(crate) mod grid;
pub mod map;
pub mod other_axis;
mod page;

use crate::ground::words;
use crate::pens::json::{Value, object};
use analysis::loadline::search::Contradiction;
use analysis::loadline::{LoadLine, LoadPoint};
use model::objective::Condition;

pub use page::{curve, section};

/// Others that take less of a host's CPUs are no cause that is worth a sentence.
const LEAST_OTHERS: f64 = 0.2;

/// The load line in sentences, each with the figures that it rests on.
pub fn sentences(line: &LoadLine) -> Vec<String> {
    let mut told = vec![headline(line)];
    told.extend(line.fell_behind.map(|fell| {
        // A rate that failed the objective is named above: that it was kept, within what chance
        // allows, would read as its contrary.
        let kept = line.kept_up.filter(|kept| line.answer.fails_at.is_none_or(|at| *kept < at));
        let from = format!("rom {} on, requests pile up", per_second(fell));
        let most = format!("(at most {} came back)", per_second(line.most));
        match kept {
            Some(kept) => format!("It kept up with {}; f{from} {most}.", per_second(kept)),
            None => format!("F{from} {most}."),
        }
    }));
    if line.fell_behind.is_none() {
        let most = per_second(line.most);
        told.push(format!("It kept up with every rate that was tried; at most {most} came back."));
    }
    told.extend(line.knee.map(|knee| {
        format!(
            "Knee (most requests per second for their mean response time): {}.",
            per_second(knee)
        )
    }));
    told.extend(others(line));
    if !line.finished {
        told.push("The search was cut short: the load line may lie higher.".to_owned());
    }
    told
}

/// Why there is no answer: two points that cannot both be those of one target.
fn refusal(line: &LoadLine, found: Contradiction) -> String {
    let times = line.points.iter().filter(|point| point.tried.rate == Some(found.fails_at)).count();
    let why = point_at(line, found.fails_at)
        .map_or(String::new(), |point| format!(" ({})", verdict(point)));
    let loop_words = if found.in_closed_loop { " in a closed loop" } else { "" };
    let remedy = "Find what disturbs the target or the load hosts, then search again.";
    format!(
        "Load line: none, because points contradict each other. `{}` failed at {}{why}, measured \
         {}, and held at {}{loop_words}. {remedy}",
        line.objective,
        per_second(found.fails_at),
        if times == 1 { "once".to_owned() } else { format!("{times} times") },
        per_second(found.holds_at),
    )
}

/// What others took of the load hosts' CPUs, if it is enough to be a cause.
fn others(line: &LoadLine) -> Option<String> {
    let known = line.points.iter().filter_map(|point| Some((point, point.others.as_ref()?)));
    let (point, most) = known.max_by(|a, b| a.1.share.total_cmp(&b.1.share))?;
    let at = point
        .tried
        .rate
        .map_or_else(|| "in the closed loop".to_owned(), |rate| format!("at {}", per_second(rate)));
    (most.share >= LEAST_OTHERS).then(|| {
        format!(
            "Others than the workers used up to {} of the CPUs of {} ({at}): they can delay \
             requests. Stop them, then search again.",
            words::share(most.share),
            most.host
        )
    })
}

fn headline(line: &LoadLine) -> String {
    if let Some(found) = line.answer.contradiction {
        return refusal(line, found);
    }
    if line.answer.rate.is_none()
        && let Some(point) =
            line.points.iter().rfind(|point| point.tried.is_too_low && point.keeps_up)
    {
        return format!(
            "Load line: none. `{}` held at no rate: its {} is above what the target carries.",
            line.objective,
            point.worst.as_ref().map_or_else(|| "rate".to_owned(), Condition::figure)
        );
    }
    let Some(rate) = line.answer.rate else {
        return match line.answer.fails_at {
            Some(lowest) => nowhere(line, lowest),
            None => format!(
                "Load line: none. Nothing was measured at a fixed rate for `{}`.",
                line.objective
            ),
        };
    };
    let times = line.points.iter().filter(|point| point.tried.rate == Some(rate)).count();
    let sure = match (line.answer.confirmed, times) {
        (true, 2) => ", measured twice".to_owned(),
        (true, times) => format!(", measured {times} times"),
        (false, _) => ", measured once only: not confirmed".to_owned(),
    };
    let fails = match line.answer.fails_at {
        Some(fails) => {
            let why = point_at(line, fails)
                .map_or(String::new(), |point| format!(" ({})", verdict(point)));
            format!(" At {} it did not{why}.", per_second(fails))
        }
        None => String::new(),
    };
    format!(
        "Load line: {}, the highest rate at which `{}` held{sure}.{fails}",
        per_second(known(rate, line.answer.fails_at)),
        line.objective
    )
}

/// It held at no rate, or nobody knows.
fn nowhere(line: &LoadLine, lowest: f64) -> String {
    let at = || line.points.iter().filter(|point| point.tried.rate == Some(lowest));
    let times = match at().count() {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    let why = at().find(|point| !point.holds).map(verdict).unwrap_or_default();
    let (of, rate) = (&line.objective, per_second(lowest));
    if line.is_by_chance() {
        let requests = words::count(at().map(|point| point.latency.count()).sum());
        return format!(
            "Load line: not known. The lowest rate is {rate}, and `{of}` did not hold there \
             ({why}, measured {times}); {requests} requests are too few to tell. Measure longer: \
             --runtime."
        );
    }
    format!("Load line: none. `{of}` held at no rate, down to {rate} ({why}, measured {times}).")
}

fn point_at(line: &LoadLine, rate: f64) -> Option<&LoadPoint> {
    line.points.iter().find(|point| point.tried.rate == Some(rate) && !point.holds)
}

/// The load line as far as it is known: rounded down to the places that the gap to the lowest rate
/// at which it failed leaves. What held at a rate holds at a lower one.
pub fn known(rate: f64, fails_at: Option<f64>) -> f64 {
    let Some(gap) = fails_at.map(|fails| fails - rate).filter(|gap| *gap > 0.0) else {
        return rate;
    };
    let step = 10f64.powf((gap / 2.0).log10().floor());
    // What is a whole number of steps stays one, whatever floats make of it.
    let rounded = (rate / step + 1e-6).floor() * step;
    if rounded > 0.0 { rounded } else { rate }
}

fn per_second(rate: f64) -> String {
    format!("{} IOPS", words::iops(rate))
}

/// `read p99 104 % of its limit`.
fn verdict(point: &LoadPoint) -> String {
    let excess = point.of_limit;
    match &point.worst {
        None => format!("fell behind: {} came back", per_second(point.tried.carried)),
        Some(worst) if !excess.is_finite() => format!("{} broke its limit", worst.figure()),
        Some(worst) => format!("{} {}", worst.figure(), words::of_limit(worst.limit, excess)),
    }
}

/// Whether a point holds, and why: `holds: read p99 92 % of its limit`.
fn judged(point: &LoadPoint) -> String {
    let word = if point.holds { "holds" } else { "does not hold" };
    format!("{word}: {}", verdict(point))
}

/// The search as one object: the field `load_line` of the results.
pub fn object(line: &LoadLine) -> Value {
    let answer = &line.answer;
    object! {
        objective: line.objective.to_string(),
        contradiction: answer.contradiction
            .map(|found| object! { ..found { fails_at, holds_at, in_closed_loop } }),
        points: page::table(line).json(),
        ..answer { rate, confirmed, fails_at },
        ..line { finished, knee, kept_up, fell_behind, most },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_has_the_digits_that_are_known() {
        assert_eq!(known(8_123.0, Some(8_311.0)), 8_120.0);
        assert_eq!(known(8_123.0, Some(8_124.0)), 8_123.0);
        assert_eq!(known(8_123.0, None), 8_123.0);
        assert_eq!(known(12.0, Some(900.0)), 12.0, "never nothing");
    }
}
