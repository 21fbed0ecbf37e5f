//! What a run had to keep to, in words: each condition at each point, and what it takes to fail.

use crate::ground::chart::{Line, Point};
use crate::ground::moment::latency_words;
use crate::ground::words;
use analysis::kept::{Kept, MOST_TIMES, Proof};
use model::objective::Limit;
use model::{Objective, Plan};

/// Each latency that an objective allows, in ns, as a line between two places of a chart.
pub(crate) fn limits(objective: &Objective, along: [f64; 2]) -> impl Iterator<Item = Line> {
    objective.conditions.iter().filter_map(move |condition| {
        let (Limit::Mean(at_most) | Limit::Max(at_most) | Limit::Quantile { at_most, .. }) =
            condition.limit
        else {
            return None;
        };
        let ns = at_most.0 as f64;
        let name = format!("limit: {} {}", condition.figure(), latency_words(ns));
        Some(Line::new(name, "line limit", along.map(|place| Point::at(place, ns))))
    })
}

fn point(plan: &Plan, number: u32) -> String {
    let sweep = plan.points.get(number as usize).map(|point| words::sweep(&point.sweep, None));
    match sweep.filter(|sweep| !sweep.is_empty()) {
        Some(sweep) => format!("point {} ({sweep})", number + 1),
        None => format!("point {}", number + 1),
    }
}

/// A condition at a point, in one line.
pub fn line(plan: &Plan, kept: &Kept) -> String {
    let how = if kept.is_kept() { "kept" } else { "broken" };
    let share = match kept.of_limit {
        times if times.is_infinite() => "nothing to judge, or beyond any limit".to_owned(),
        times => format!("at {} % of its limit", words::plain_number((times * 100.0).round())),
    };
    format!("objective {}, {}: {how}, {share}", kept.condition, point(plan, kept.point))
}

/// A point that did not do what was to be judged, in one line.
pub fn behind_line(plan: &Plan, number: u32) -> String {
    format!("objective {}: broken, it fell behind its rate", point(plan, number))
}

/// What a condition takes to fail, in one line.
pub fn proof_line(proof: &Proof) -> String {
    match proof.times {
        Some(1) => format!("proof     {}: fails with the run as it is", proof.condition),
        Some(times) => format!(
            "proof     {}: fails where the figures are {} times worse",
            proof.condition,
            words::count(times)
        ),
        None => format!(
            "proof     {}: never fails, not even where the figures are {} times worse",
            proof.condition,
            words::count(MOST_TIMES)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::objective::Condition;

    fn condition(text: &str) -> Condition {
        let objective: Objective = text.parse().expect("an objective");
        objective.conditions[0].clone()
    }

    #[test]
    fn a_proof_says_what_it_takes() {
        let told = |times| proof_line(&Proof { condition: condition("p99 < 5ms"), times });
        assert!(told(Some(1)).ends_with("fails with the run as it is"), "{}", told(Some(1)));
        assert!(told(Some(8)).ends_with("fails where the figures are 8 times worse"));
        assert!(told(None).contains("never fails"), "{}", told(None));
    }
}
