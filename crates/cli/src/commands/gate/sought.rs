//! What a gate is to find: from its arguments, and where these say nothing from a suite.

use crate::args::{GateArgs, gate as numbers};
use crate::asked::suite_and_targets;
use crate::failure::{Failure, suite_failure};
use analysis::gate::Terms;
use form::Auto;
use model::{Nanos, Percent};
use suite::{ObjectiveSpec, Spec};

pub(crate) struct Sought<'a> {
    pub(crate) args: &'a GateArgs,
    pub(crate) terms: Terms,
    pub(crate) budget: Nanos,
}

const POWER: f64 = 0.9;
const ALPHA: f64 = 0.05;
const BUDGET: Nanos = Nanos::seconds(20 * 60);
/// Gates of less are none, and of more nobody waits for.
const BUDGETS: [Nanos; 2] = [Nanos::seconds(1), Nanos::seconds(7 * 24 * 3600)];

pub(crate) fn sought(args: &GateArgs) -> Result<Sought<'_>, Failure> {
    let suite = args.suite.as_deref().map(objective).transpose()?;
    let share = |key: &str, pick: fn(&ObjectiveSpec) -> Auto<Percent>, read: Reading| {
        let Some(Auto::Fixed(percent)) = suite.as_ref().map(pick) else { return Ok(None) };
        let read = read(&percent.to_string()).map(Some);
        read.map_err(|remedy| Failure::usage(format!("[objective] {key} is {percent}; {remedy}")))
    };
    let detect = share("detect", |suite| suite.detect.value, numbers::percent)?;
    let power = share("power", |suite| suite.power.value, numbers::power)?;
    let alpha = share("alpha", |suite| suite.alpha.value, numbers::alpha)?;
    let budget = match suite.as_ref().map(|suite| suite.budget.value) {
        Some(Auto::Fixed(budget)) => Some(budget),
        _ => None,
    };
    let Some(detect_percent) = args.detect.or(detect) else {
        return Err(Failure::usage(
            "the suite has no [objective] detect; write one, or --detect 3%".to_owned(),
        ));
    };
    let budget = args.budget.or(budget).unwrap_or(BUDGET);
    let [least, most] = BUDGETS;
    if !(least..=most).contains(&budget) {
        return Err(Failure::usage(format!("--budget {budget} is out of range; write 1s to 168h")));
    }
    let power = args.power.or(power).unwrap_or(POWER);
    let alpha = args.alpha.or(alpha).unwrap_or(ALPHA);
    Ok(Sought { args, terms: Terms { detect_percent, power, alpha }, budget })
}

type Reading = fn(&str) -> Result<f64, String>;

fn objective(name: &str) -> Result<ObjectiveSpec, Failure> {
    let (name, text) = suite_and_targets::find(&[name.to_owned()])?;
    let spec = Spec::parse(&name, &text, &[]).map_err(|errors| suite_failure(&errors))?;
    Ok(spec.objective)
}
