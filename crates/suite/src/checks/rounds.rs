//! Rounds of all points: how many there are at most, and which points have to be steady.

use crate::fields::{StagesSpec, SweepSpec};
use crate::{Order, PointSpec, WorkloadKind};
use form::{Auto, Given, Problems};
use model::plan::Steady;
use model::setting::Setting;
use model::units::Nanos;

/// Rounds as the suite has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoundsSpec {
    /// How many there are at most; 0 where the repetitions are all there is.
    pub most: u32,
    /// What every point has that must be steady; all have it where it is empty.
    pub track: Vec<Setting>,
}

/// Reads what `[sweep]` says of rounds, over the points of one of them.
pub(crate) fn read(
    sweep: &SweepSpec,
    stages: &StagesSpec,
    points: &[PointSpec],
    problems: &mut Problems,
) -> RoundsSpec {
    let Auto::Fixed(most) = sweep.repetitions_max.value else {
        if !sweep.track.value.is_empty() {
            let message = "nothing waits for a tracked point to be steady";
            let remedy = "add repetitions_max, such as 25, or leave it out";
            problems.push(sweep.track.wrong(message, remedy));
        }
        return RoundsSpec::default();
    };
    check(sweep, most.0, stages, points, problems);
    RoundsSpec { most: most.0, track: tracked(&sweep.track, points, problems) }
}

/// Complains about rounds that could never be judged.
fn check(
    sweep: &SweepSpec,
    most: u32,
    stages: &StagesSpec,
    points: &[PointSpec],
    problems: &mut Problems,
) {
    let mut put = |message: String, remedy: &str| {
        problems.push(sweep.repetitions_max.wrong(message, remedy));
    };
    if sweep.order.value != Order::Interleaved {
        let message = "points make rounds where they take turns";
        put(message.to_owned(), "write order = \"interleaved\"");
    }
    if u64::from(most) < Steady::ROUNDS {
        let message = format!("{most} rounds are fewer than the {} of a window", Steady::ROUNDS);
        put(message, "write a repetitions_max of at least 5, such as 25");
    }
    if most < sweep.repetitions.value.0 {
        let first = sweep.repetitions.value.0;
        let message = format!("at most {most} rounds, and {first} repetitions at least");
        put(message, "write a repetitions_max that is no less than repetitions");
    }
    if stages.precondition.value > Nanos(0) {
        let message = "only measured points make rounds, without `precondition` before each";
        put(message.to_owned(), "leave out precondition: the first rounds are it");
    }
    let is_of_files = |point: &PointSpec| {
        point.workloads.iter().any(|workload| workload.kind.value == WorkloadKind::Metadata)
    };
    if points.iter().any(is_of_files) {
        let message = "rounds of operations on whole files end with their files";
        put(message.to_owned(), "write repetitions alone, or a workload of blocks");
    }
}

/// The settings of `track`, if some point has them all.
fn tracked(track: &Given<String>, points: &[PointSpec], problems: &mut Problems) -> Vec<Setting> {
    let mut settings = Vec::new();
    for part in track.value.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let Some((axis, value)) = part.split_once('=') else {
            let message = format!("`{part}` is no axis with a value");
            let remedy = "write axis=value, such as read=0%, with a comma between several";
            problems.push(track.wrong(message, remedy));
            continue;
        };
        settings.push(Setting::new(axis.trim(), value.trim()));
    }
    let has_all = |point: &PointSpec| settings.iter().all(|one| point.sweep.contains(one));
    if !settings.is_empty() && !points.is_empty() && !points.iter().any(has_all) {
        let message = format!("no point of the sweep has {}", track.value.trim());
        let remedy = "name axes of [sweep], each with one of its values";
        problems.push(track.wrong(message, remedy));
    }
    settings
}

#[cfg(test)]
mod tests {
    use crate::Spec;

    const HEAD: &str = "name = \"n\"\n[[workload]]\nname = \"w\"\n[sweep]\nread = [\"0%\", \
                        \"100%\"]\nblock_size = [\"4KiB\", \"8KiB\"]\n";

    fn rounds(more: &str) -> Result<super::RoundsSpec, String> {
        Spec::parse("n", &format!("{HEAD}{more}"), &[])
            .map(|spec| spec.first_scenario().rounds.clone())
            .map_err(|errors| format!("{errors:?}"))
    }

    #[test]
    fn a_tracked_point_is_named_by_its_values_however_they_are_written() {
        let said = "order = \"interleaved\"\nrepetitions = 5\nrepetitions_max = 25\n";
        let found = rounds(&format!("{said}track = \"read=0, block_size=4096\"\n")).expect("good");
        assert_eq!((found.most, found.track.len()), (25, 2));
        assert_eq!(rounds("").expect("good"), super::RoundsSpec::default());
        assert!(rounds(said).expect("good").track.is_empty());
    }

    #[test]
    fn rounds_that_cannot_be_judged_are_refused_with_a_remedy() {
        let good = "order = \"interleaved\"\nrepetitions_max = 25\n";
        for (more, word) in [
            ("repetitions_max = 25\n", "take turns"),
            ("order = \"interleaved\"\nrepetitions_max = 4\n", "fewer than the 5"),
            ("order = \"interleaved\"\nrepetitions_max = 5\nrepetitions = 6\n", "no less than"),
            ("track = \"read=0%\"\n", "nothing waits"),
            (&format!("{good}track = \"read=50%\"\n"), "no point of the sweep has"),
            (&format!("{good}track = \"depth=1\"\n"), "name axes of [sweep]"),
            (&format!("{good}track = \"read\"\n"), "is no axis with a value"),
            (&format!("{good}[stages]\nprecondition = \"1m\"\n"), "the first rounds are it"),
        ] {
            let said = rounds(more).expect_err(more);
            assert!(said.contains(word), "{more}: {said}");
        }
    }
}
