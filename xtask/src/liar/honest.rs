//! Honest simulated runs: devices of random times, and loads that hold what they promise.

use super::rates::Honest;
use super::runner::Runner;
use crate::shell::Outcome;
use model::rng::Rng;
use std::collections::BTreeMap;

/// What is said of every simulated run, and what is true of the counted requests: how many lie
/// beyond a quantile.
const TRUE_OF_ALL: [&str; 3] = ["simulated", "thin-tail", "few-samples"];

/// Runs so many, and counts those with a doubt.
///
/// # Errors
/// A run has no results.
pub fn alarms(runner: &Runner, runs: u64) -> Outcome<Honest> {
    let mut doubts: BTreeMap<String, u64> = BTreeMap::new();
    let mut alarms = 0;
    for seed in 1..=runs {
        let (target, load) = of(seed);
        let found = runner.run(&runner.stage(&target)?, &load)?;
        let is_wrong = |code: &String| !TRUE_OF_ALL.contains(&code.as_str()) && !code.contains(':');
        let wrong: Vec<String> = found.into_iter().filter(is_wrong).collect();
        alarms += u64::from(!wrong.is_empty());
        wrong.into_iter().for_each(|code| *doubts.entry(code).or_default() += 1);
    }
    let mut doubts: Vec<(String, u64)> = doubts.into_iter().collect();
    doubts.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    Ok(Honest { runs, alarms, doubts })
}

/// An honest device, and an honest load of it.
fn of(seed: u64) -> (String, String) {
    let mut numbers = Rng::new(seed);
    let us = 110 + numbers.below(900);
    let service = |numbers: &mut Rng, us: u64| match numbers.below(2) {
        0 => format!("exponential:{us}us"),
        _ => format!("lognormal:{us}us:0.{}", 3 + numbers.below(5)),
    };
    let (read, write) = (service(&mut numbers, us), service(&mut numbers, us + 37));
    let servers = 1 + numbers.below(8);
    let target = format!(
        "sim:constant,read={read},write={write},fsync=90us,servers={servers},capacity=8GiB"
    );
    let pattern = ["randread", "randwrite", "randrw", "read", "write"][numbers.below(5) as usize];
    let block = ["4k", "8k", "16k"][numbers.below(3) as usize];
    let depth = 1 + numbers.below(16);
    let load = format!(
        "--rw {pattern} --bs {block} --iodepth {depth} --runtime 30 --set precondition=3s --set \
         seed={seed}"
    );
    (target, load)
}
