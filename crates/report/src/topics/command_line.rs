//! The command that a run was begun with, as the run file keeps it.

use crate::ground::gather::each_once;
use model::Plan;
use model::plan::origin::Line;

/// The words of a run that was begun with this line, without any that gives a device up.
pub fn words(plan: &Plan, line: &Line<'_>) -> Vec<String> {
    let instead = instead_of_given_up(plan, line);
    let is_left_out = |name: &str| name == "destroy-data" || name == "target" && instead.is_some();
    let mut words = vec!["plimsoll".to_owned(), line.command.to_owned()];
    for (name, value) in line.options.iter().filter(|(name, _)| !is_left_out(name)) {
        words.push(match value {
            Some(value) => quoted(&format!("--{name}={value}")),
            None => format!("--{name}"),
        });
    }
    let names = if instead.is_some() && is_quick(line) { &[] } else { line.names };
    words.extend(instead.into_iter().flatten());
    if names.iter().any(|name| name.starts_with('-')) {
        words.push("--".to_owned());
    }
    words.extend(names.iter().map(|name| quoted(name)));
    words
}

/// All targets as the plan has them, where one of them was named by `--destroy-data` alone: without
/// that word the run would load something else.
fn instead_of_given_up(plan: &Plan, line: &Line<'_>) -> Option<Vec<String>> {
    let paths = if is_quick(line) { line.names } else { &[] };
    let named: Vec<&str> =
        line.values("target").chain(paths.iter().map(String::as_str)).map(path).collect();
    let is_missing = line.values("destroy-data").map(path).any(|device| !named.contains(&device));
    is_missing.then(|| {
        let of = |host: &model::plan::HostPlan| {
            host.targets.iter().map(|target| target.path.clone()).collect()
        };
        let all: Vec<Vec<String>> = plan.hosts.iter().map(of).collect();
        let option = |target: &str| quoted(&format!("--target={target}"));
        if all.windows(2).all(|two| two[0] == two[1]) {
            return targets(plan).into_iter().map(option).collect();
        }
        let by_host = plan.hosts.iter().zip(&all);
        let each = by_host.flat_map(|(host, paths)| paths.iter().map(move |path| (host, path)));
        each.map(|(host, path)| option(&format!("{}:{path}", host.hostname))).collect()
    })
}

/// Whether the names are paths to load, rather than a suite.
fn is_quick(line: &Line<'_>) -> bool {
    line.values("rw").next().is_some()
}

/// The path of `[HOSTS:]PATH`.
fn path(target: &str) -> &str {
    match target.find(":/") {
        Some(colon) => target.get(colon + 1..).unwrap_or(target),
        None => target,
    }
}

/// What has to be known beside the words.
pub fn remark(plan: &Plan, line: &Line<'_>) -> String {
    let mut text = "As it was typed, but for where the run was recorded and shown. Relative paths \
                    are from the directory in which it was begun."
        .to_owned();
    let has_text = !plan.origin.suite.is_empty();
    match line.names {
        _ if line.is_replay() => {}
        [file] if plan.origin.is_file => {
            text.push_str(&format!(" The suite was the file {file}"));
            text.push_str(match has_text {
                true => {
                    ", whose text the run file has: plimsoll show --suite RUN.plimsoll prints it."
                }
                false => ", which the run file does not have.",
            });
        }
        _ if has_text && !is_quick(line) => text.push_str(
            " Where another version of Plimsoll has another suite of this name, plimsoll show \
             --suite RUN.plimsoll prints the one that ran.",
        ),
        _ => {}
    }
    let files = files(line);
    if !files.is_empty() {
        text.push_str(&format!(" The run file does not have what stood in {}.", files.join(", ")));
    }
    let programs = programs(line);
    if !programs.is_empty() {
        let all = programs.join(", ");
        text.push_str(&format!(
            " It has words that choose what is run ({all}): look at them if they are not yours."
        ));
    }
    text
}

fn files<'a>(line: &'a Line<'_>) -> Vec<&'a str> {
    let hosts = line
        .values("hosts")
        .flat_map(|list| list.split(','))
        .filter_map(|host| host.trim().strip_prefix('@'));
    let testbed = |wanted: &'a str| wanted.split(',').next().filter(|name| name.ends_with(".toml"));
    let traces = line.names.iter().filter(|_| line.is_replay()).map(String::as_str);
    hosts.chain(line.values("simulate").filter_map(testbed)).chain(traces).collect()
}

fn programs(line: &Line<'_>) -> Vec<String> {
    let is_of_command = |value: &str| ["command", "prerun"].iter().any(|word| value.contains(word));
    let chooses = line.options.iter().filter(|(name, value)| match *name {
        "launcher" | "kubectl" | "slurm" | "agent" => true,
        "set" => value.is_some_and(is_of_command),
        _ => false,
    });
    each_once(chooses.map(|(name, _)| format!("--{name}")))
}

/// The targets of all hosts, each once.
pub fn targets(plan: &Plan) -> Vec<&str> {
    let targets = plan.hosts.iter().flat_map(|host| &host.targets);
    each_once(targets.map(|target| target.path.as_str()))
}

/// A word that a POSIX shell takes as it is: bare if nothing in it is special, else in single
/// quotes.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::super::reproduce::{command, remark};
    use crate::ground::testing::{Recorded, W, has};
    use model::Plan;
    use model::plan::{Origin, PlannedTarget};

    fn typed(words: &[&str]) -> Plan {
        let mut plan = Recorded::new(W).record().plan;
        plan.origin = Origin {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            suite: "[[workload]]\n".to_owned(),
            is_file: true,
        };
        plan
    }

    #[test]
    fn what_was_typed_is_told_as_a_shell_takes_it() {
        let plan = typed(&[
            "run", "--set=a=it's", "--buffered", "--hosts=node[1-3]", "--scenario=b c",
            "my suite.toml",
        ]);
        let wanted =
            r"plimsoll run '--set=a=it'\''s' --buffered '--hosts=node[1-3]' '--scenario=b c' "
                .to_owned()
                + "'my suite.toml'";
        assert_eq!(command(&plan), wanted);
        let told = remark(&plan);
        has(&told, &["the file my suite.toml, whose text the run file has: plimsoll show --suite"]);
        assert!(!told.contains("has to be given again"), "{told}");
        assert_eq!(command(&typed(&["run", "--", "-a.toml"])), "plimsoll run -- -a.toml");
    }

    #[test]
    fn what_is_no_line_of_ours_is_made_up_from_the_plan_as_before() {
        let plan = typed(&["run", "--destroy-data", "/dev/sda"]);
        assert_eq!(command(&plan), "plimsoll run --target=/mnt/data --set=seed=1 test");
        assert!(remark(&plan).contains("has to be given again"));
    }

    #[test]
    fn a_device_that_was_given_up_is_named_and_not_given_up() {
        let mut plan = typed(&["run", "--destroy-data=/dev/sdb", "--set=measure=1s", "quick"]);
        plan.hosts[0].targets[0].path = "/dev/sdb".to_owned();
        plan.hosts[0].targets[0].kind = PlannedTarget::Device;
        assert_eq!(command(&plan), "plimsoll run --set=measure=1s --target=/dev/sdb quick");
        assert!(remark(&plan).contains("add --destroy-data"));
        let words = |words: &[&str]| typed(words).origin.words;
        plan.origin.words =
            words(&["run", "--target=n[1-2]:/dev/sdb", "--destroy-data=n1:/dev/sdb", "quick"]);
        assert_eq!(command(&plan), "plimsoll run '--target=n[1-2]:/dev/sdb' quick");
        plan.origin.words =
            words(&["run", "--destroy-data=/dev/sdb", "--rw=randwrite", "/dev/sdb"]);
        assert_eq!(command(&plan), "plimsoll run --rw=randwrite /dev/sdb");
        let mut second = plan.hosts[0].clone();
        (second.hostname, second.targets[0].path) = ("b".to_owned(), "/dev/sdc".to_owned());
        plan.hosts[0].hostname = "a".to_owned();
        plan.hosts.push(second);
        plan.origin.words =
            words(&["run", "--destroy-data=a:/dev/sdb", "--destroy-data=b:/dev/sdc"]);
        assert_eq!(command(&plan), "plimsoll run --target=a:/dev/sdb --target=b:/dev/sdc");
    }

    #[test]
    fn a_replay_is_told_with_its_options_and_its_trace_is_not_in_the_run_file() {
        let plan = typed(&["replay", "--target=/x", "--speed=2x", "a b.trace"]);
        assert_eq!(command(&plan), "plimsoll replay --target=/x --speed=2x 'a b.trace'");
        has(&remark(&plan), &["begun. The run file does not have what stood in a b.trace."]);
    }

    #[test]
    fn files_that_are_not_there_and_words_that_choose_programs_are_named() {
        let options = [
            "run", "--hosts=a,@nodes", "--launcher=sh {host}", "--set=stages.prerun=x",
            "--launcher=y",
        ];
        let told = remark(&typed(&options));
        has(&told, &["does not have what stood in nodes.", "(--launcher, --set): look at them"]);
        assert!(
            remark(&typed(&["run", "--simulate=mine.toml,path=smb"]))
                .contains("stood in mine.toml.")
        );
        let plain = remark(&typed(&["run", "--set=measure=1s", "--simulate=vsan"]));
        assert!(!plain.contains("stood in") && !plain.contains("look at them"), "{plain}");
    }
}
