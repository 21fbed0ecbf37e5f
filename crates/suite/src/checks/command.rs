//! What a workload that is a command consists of, and whether it goes together.

use crate::{ContentsSpec, LayoutSpec, PointSpec, StagesSpec, Verify, WorkloadKind};
use form::{Amount, Problem, Problems};
use model::units::Nanos;

/// Complains about commands that say nothing or too much: one has its scenario to itself, because
/// what the kernel counts at its targets cannot be told from what others send there.
pub(crate) fn check(
    layout: &LayoutSpec,
    contents: &ContentsSpec,
    stages: &StagesSpec,
    points: &[PointSpec],
    problems: &mut Problems,
) {
    let workloads = || points.iter().flat_map(|point| &point.workloads);
    for workload in workloads() {
        let is_command = workload.kind.value == WorkloadKind::Command;
        let program = workload.command.value.0.first().is_some_and(|word| !word.is_empty());
        if is_command && !program {
            let message = "a workload of kind \"command\" has no command";
            let remedy = "write command = [\"fio\", \"job.fio\"], word by word";
            problems.push(workload.kind.wrong(message, remedy));
        }
        if !is_command {
            for (name, span) in workload.given_of("command result trace") {
                let message = format!("`{name}` means nothing to a workload of our own requests");
                let remedy = "leave it out, or write kind = \"command\"";
                problems.push(Problem::new(span, message, remedy));
            }
        }
    }
    let is_command = |point: &&PointSpec| is_command(point);
    let Some(first) = points.iter().find(is_command).map(|point| &point.workloads[0]) else {
        return;
    };
    let is_alone = |point: &PointSpec| is_command(&point) && point.workloads.len() == 1;
    if !points.iter().all(is_alone) {
        let message = "a command runs beside no other workload, and has its scenario to itself";
        let remedy = "leave out group, and put other workloads into a `[[scenario]]` of their own";
        problems.push(first.kind.wrong(message, remedy));
    }
    let mut refuse = |is_there: bool, problem: Problem| {
        problems.extend(is_there.then_some(problem));
    };
    let none = "a command lays out, checks and warms up by itself, or not at all";
    let remedy = "leave it out; `prerun` can do what is to be done before";
    let verifies = contents.verify.value != Verify::No;
    refuse(stages.amount.value != Amount::None, stages.amount.wrong(none, remedy));
    refuse(stages.precondition.value > Nanos(0), stages.precondition.wrong(none, remedy));
    refuse(verifies, contents.verify.wrong(none, remedy));
    refuse(layout.kind.span.is_some(), layout.kind.wrong(none, remedy));
}

/// Whether a point is a command.
pub(crate) fn is_command(point: &PointSpec) -> bool {
    point.workloads.iter().any(|workload| workload.kind.value == WorkloadKind::Command)
}

#[cfg(test)]
mod tests {
    const COMMAND: &str = "[[workload]]\nname = \"w\"\nkind = \"command\"\ncommand = [\"dd\"]\n";

    fn complaints(text: &str) -> Vec<String> {
        crate::tests::complaints(&format!("name = \"t\"\n{text}"))
    }

    #[test]
    fn a_command_is_alone_and_says_what_is_started() {
        assert_eq!(complaints(COMMAND), Vec::<String>::new());
        assert_eq!(complaints(&format!("{COMMAND}[sweep]\ndepth = [1, 8]\n")).len(), 0);
        for (text, said) in [
            ("[[workload]]\nname = \"w\"\nkind = \"command\"\n".to_owned(), "has no command"),
            ("[[workload]]\nname = \"w\"\ncommand = \"dd\"\n".to_owned(), "of our own requests"),
            (format!("{COMMAND}[[workload]]\nname = \"v\"\n"), "to itself"),
            (format!("[stages]\nprecondition = \"5s\"\n{COMMAND}"), "warms up by itself"),
            (format!("[layout]\nkind = \"tree\"\n{COMMAND}"), "lays out"),
        ] {
            let found = complaints(&text);
            assert!(found.iter().any(|found| found.contains(said)), "{text}: {found:?}");
        }
    }
}
