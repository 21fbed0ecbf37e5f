//! The command that makes a run like a recorded one, safe to paste into a shell whatever the run's
//! names are.

use super::command_line::{self, quoted, targets};
use model::Plan;
use model::plan::PlannedTarget;

/// The command: as it was typed, or where the record does not have that, as far as the plan tells
/// it. Empty for replays of versions that kept no words: the plan does not name the trace.
///
/// `--destroy-data` is never in it: a report must not be the reason that a device is overwritten. A
/// device is named as a target, which `plimsoll run` refuses until somebody adds that word.
pub fn command(plan: &Plan) -> String {
    if let Some(line) = plan.origin.line() {
        return command_line::words(plan, &line).join(" ");
    }
    if is_replay(plan) {
        return String::new();
    }
    let mut words = vec!["plimsoll".to_owned(), "run".to_owned()];
    match simulated(plan) {
        Some(testbed) => {
            words.push(quoted(&format!("--simulate={testbed}")));
            words.push(format!("--sim-hosts={}", plan.hosts.len()));
        }
        None => {
            words.extend(targets(plan).into_iter().map(|path| quoted(&format!("--target={path}"))));
        }
    }
    if !plan.scale.is_full() {
        words.push(format!("--scale={}", plan.scale));
    }
    if plan.existing {
        words.push("--existing".to_owned());
    }
    // It goes into every scenario, also into those that bypass the page cache: where there is one
    // of these, it was not given.
    if is_buffered(plan) {
        words.push("--buffered".to_owned());
    }
    words.push(format!("--set=seed={}", plan.seed));
    if plan.suite.starts_with('-') && !is_kept(plan) {
        words.push("--".to_owned());
    }
    words.push(if is_kept(plan) { KEPT.to_owned() } else { quoted(&plan.suite) });
    words.join(" ")
}

/// Stands for the suite where its text is kept and it may have no name: words of the quick form.
const KEPT: &str = "SUITE.toml";

fn is_kept(plan: &Plan) -> bool {
    !plan.origin.is_file && !plan.origin.suite.is_empty()
}

fn is_replay(plan: &Plan) -> bool {
    plan.stages.iter().flat_map(|stage| &stage.works).any(|work| work.trace.is_some())
}

/// Whether nothing was set to bypass the page cache, in any part of any host; [`Plan::direct`] is
/// of the first scenario alone.
fn is_buffered(plan: &Plan) -> bool {
    let own = plan.hosts.iter().filter(|host| host.parts.is_empty()).map(|host| host.engine.direct);
    let parts = plan.hosts.iter().flat_map(|host| &host.parts).map(|part| part.engine.direct);
    let mut all = own.chain(parts).peekable();
    match all.peek() {
        Some(_) => !all.any(|direct| direct),
        None => !plan.direct,
    }
}

/// What has to be known beside the command.
pub fn remark(plan: &Plan) -> String {
    let mut text = match plan.origin.line() {
        Some(line) => command_line::remark(plan, &line),
        None if is_replay(plan) => String::new(),
        None if is_kept(plan) => format!(
            "{KEPT} is what plimsoll show --suite RUN.plimsoll prints. What --set changed has to \
             be given again; the plan above has the values."
        ),
        None => "A suite of your own is named by its file. What --set or --rw changed has to be \
                 given again; the plan above has the values."
            .to_owned(),
    };
    if devices(plan) {
        text.push_str(
            " This run overwrote a device. The command as it stands is refused; add \
             --destroy-data with the device's path if all that is on it may be lost.",
        );
    }
    text
}

fn devices(plan: &Plan) -> bool {
    plan.hosts
        .iter()
        .flat_map(|host| &host.targets)
        .any(|target| target.kind == PlannedTarget::Device)
}

/// What `--simulate` was given, where the hosts were simulated, too: they have names of its own.
/// Where scenarios are on the same testbed in several ways, their parameters are the suite's.
fn simulated(plan: &Plan) -> Option<&str> {
    if plan.hosts.iter().any(|host| !host.hostname.starts_with("sim-")) {
        return None;
    }
    let testbeds: Option<Vec<&str>> =
        targets(plan).iter().map(|path| path.strip_prefix("sim:cluster=")).collect();
    let testbeds = testbeds?;
    if let [one] = testbeds[..] {
        return Some(one);
    }
    let name = |testbed: &'_ str| testbed.find(',').unwrap_or(testbed.len());
    let first = *testbeds.first()?;
    let common = first.get(..name(first))?;
    testbeds.iter().all(|other| other.get(..name(other)) == Some(common)).then_some(common)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W};
    use model::plan::{EngineSettings, Part, TraceWork};
    use model::trace::{Mapping, SequenceDigest, Space};
    use model::{Fraction, Nanos, Scale};

    fn plan() -> Plan {
        Recorded::new(W).record().plan
    }

    fn set_direct(plan: &mut Plan, direct: bool) {
        plan.direct = direct;
        plan.hosts.iter_mut().for_each(|host| host.engine.direct = direct);
    }

    #[test]
    fn what_one_scenario_does_is_not_made_that_of_all() {
        let mut plan = plan();
        set_direct(&mut plan, false);
        let buffered = Part {
            engine: plan.hosts[0].engine.clone(),
            targets: 0..1,
            trees: 0..0,
            stages: vec![0],
        };
        let direct = Part {
            engine: EngineSettings { direct: true, ..buffered.engine.clone() },
            ..buffered.clone()
        };
        plan.hosts[0].parts = vec![buffered.clone(), direct];
        assert!(!is_buffered(&plan));
        assert_eq!(command(&plan), "plimsoll run --target=/mnt/data --set=seed=1 test");
        plan.hosts[0].parts = vec![buffered.clone(), buffered];
        assert!(is_buffered(&plan) && command(&plan).contains(" --buffered "));
    }

    #[test]
    fn everything_that_the_record_knows_is_in_the_command() {
        let mut plan = plan();
        assert_eq!(command(&plan), "plimsoll run --target=/mnt/data --set=seed=1 test");
        plan.scale = Scale::both(Fraction::one_in(100));
        (plan.existing, plan.seed) = (true, 9);
        set_direct(&mut plan, false);
        assert_eq!(
            command(&plan),
            "plimsoll run --target=/mnt/data --scale=1/100 --existing --buffered --set=seed=9 test"
        );
    }

    #[test]
    fn a_quick_form_without_its_words_is_run_from_its_text_and_a_replay_not_at_all() {
        let mut plan = plan();
        plan.origin.suite = W.to_owned();
        plan.suite = "randwrite 64k QD8×1".to_owned();
        assert_eq!(command(&plan), "plimsoll run --target=/mnt/data --set=seed=1 SUITE.toml");
        assert!(remark(&plan).starts_with("SUITE.toml is what plimsoll show --suite RUN"));
        let work = plan.stages.iter_mut().flat_map(|stage| &mut stage.works).next();
        work.expect("one").trace = Some(TraceWork {
            path: "/x".into(),
            digest: SequenceDigest(3),
            requests: 3,
            bytes: 1536,
            flushes: false,
            length: Nanos(9),
            in_flight: None,
            mapping: Mapping { speed: "1x".parse().expect("a speed"), space: Space::Same },
        });
        assert_eq!((command(&plan), remark(&plan)), Default::default());
    }

    #[test]
    fn names_stay_names_in_a_shell() {
        let mut plan = plan();
        plan.suite = "-x; $(reboot) 'y".to_owned();
        plan.hosts[0].targets[0].path = "/mnt/my data".to_owned();
        let told = command(&plan);
        assert_eq!(
            told,
            r"plimsoll run '--target=/mnt/my data' --set=seed=1 -- '-x; $(reboot) '\''y'"
        );
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn no_report_tells_to_destroy_a_device() {
        let mut plan = plan();
        assert!(!remark(&plan).contains("--destroy-data"));
        plan.hosts[0].targets[0].kind = PlannedTarget::Device;
        assert_eq!(command(&plan), "plimsoll run --target=/mnt/data --set=seed=1 test");
        assert!(remark(&plan).contains("--destroy-data"));
    }

    #[test]
    fn what_was_simulated_is_simulated_again_on_as_many_hosts() {
        let mut plan = plan();
        plan.hosts[0].targets[0].path = "sim:cluster=x,remote=5%".to_owned();
        assert_eq!(
            command(&plan),
            "plimsoll run --target=sim:cluster=x,remote=5% --set=seed=1 test"
        );
        plan.hosts[0].hostname = "sim-01".to_owned();
        assert_eq!(
            command(&plan),
            "plimsoll run --simulate=x,remote=5% --sim-hosts=1 --set=seed=1 test"
        );
        let mut second = plan.hosts[0].clone();
        (second.hostname, second.targets[0].path) =
            ("sim-02".to_owned(), "sim:cluster=x,path=smb".to_owned());
        plan.hosts.push(second);
        assert_eq!(command(&plan), "plimsoll run --simulate=x --sim-hosts=2 --set=seed=1 test");
        plan.hosts[1].targets[0].path = "sim:cluster=y".to_owned();
        assert!(command(&plan).contains("--target=sim:cluster=y"), "{}", command(&plan));
    }
}
