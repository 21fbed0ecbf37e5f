//! Whether an amount goes together with what is measured.

use crate::{PointSpec, StagesSpec};
use form::{Amount, Auto, Problems};
use model::units::Bytes;

/// Complains about an amount that cannot be, and of fields that mean nothing without one.
pub(crate) fn check(stages: &StagesSpec, points: &[PointSpec], problems: &mut Problems) {
    if stages.amount.value == Amount::None {
        if stages.stonewall.value {
            let message =
                "a stonewall means nothing where time ends a stage: all workers stop together";
            problems.push(stages.stonewall.wrong(message, "add amount = \"all\", or leave it out"));
        }
        return;
    }
    for workload in points.iter().flat_map(|point| &point.workloads) {
        let largest = workload.sizes().max();
        let steps = workload.stride.value != Auto::Auto || workload.run.value != Auto::Auto;
        if steps && workload.sizes().any(|size| Some(size) != largest) {
            let message = "an amount of blocks of several sizes goes without stride and run";
            problems.push(workload.block_size.wrong(message, "write one block_size, or no amount"));
        }
        if let (Amount::Bytes(amount), Some(block)) = (stages.amount.value, largest)
            && amount < block
        {
            let message = format!("an amount of {amount} is less than one block of {block}");
            problems.push(stages.amount.wrong(message, "write a larger amount"));
        }
        if let (Amount::Bytes(_), Auto::Fixed(_)) = (stages.amount.value, workload.run.value) {
            problems.push(workload.run.wrong(
                "an amount of bytes is not counted in runs",
                "write amount = \"all\", or leave out run",
            ));
        }
        if let (Auto::Fixed(Bytes(stride)), Some(block)) = (workload.stride.value, largest)
            && stride < block.0
        {
            let message = "with an amount no byte is touched twice, and with this stride some are";
            problems
                .push(workload.stride.wrong(message, "write a stride of at least the block_size"));
        }
    }
}

#[cfg(test)]
mod tests {
    fn complaints(stages: &str, workload: &str) -> Vec<String> {
        let text =
            format!("name = \"t\"\n[stages]\n{stages}\n[[workload]]\nname = \"w\"\n{workload}\n");
        crate::tests::complaints(&text)
    }

    #[test]
    fn an_amount_is_all_or_a_size_and_nothing_contradicts_it() {
        for good in [
            "amount = \"none\"",
            "amount = \"all\"\nstonewall = true",
            "amount = \"8MiB\"\ncount_close = false",
        ] {
            assert!(complaints(good, "").is_empty(), "{good}");
        }
        let one = |stages: &str, workload: &str, word: &str| {
            let told = complaints(stages, workload);
            assert!(told.len() == 1 && told[0].contains(word), "{stages} {workload}: {told:?}");
        };
        one("stonewall = true", "", "stonewall");
        one("amount = \"some\"", "", "amount");
        one("amount = \"1KiB\"", "", "less than one block");
        let mixed = "block_size = \"4KiB:1, 8KiB:1\"";
        assert!(complaints("amount = \"all\"", mixed).is_empty());
        let strided = format!("access = \"sequential\"\nstride = \"64KiB\"\n{mixed}");
        one("amount = \"all\"", &strided, "several sizes");
        one("amount = \"all\"", "access = \"sequential\"\nstride = \"1KiB\"", "touched twice");
        let runs = |run| format!("access = \"sequential\"\nstride = \"1MiB\"\nrun = \"{run}\"");
        assert!(complaints("amount = \"all\"", &runs("64KiB")).is_empty());
        one("amount = \"8MiB\"", &runs("64KiB"), "not counted in runs");
        one("measure = \"1s\"", &runs("5KiB"), "whole number of blocks");
        one("measure = \"1s\"", &runs("2MiB"), "at least as long");
        one("measure = \"1s\"", &runs("64KiB").replace("sequential", "random"), "one sequential");
    }
}
