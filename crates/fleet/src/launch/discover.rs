//! What a site's own engine tells: the nodes of a Slurm job, the pods of a selector.

use super::process::{self, Failed};
use super::via::KubectlOptions;
use model::hostlist;
use std::process::Command;
use std::time::Duration;

/// How long a site's engine may take to answer: a busy one takes some seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The nodes of a Slurm job.
pub(super) fn nodes(job: &str) -> Result<Vec<String>, String> {
    let list = output(
        "squeue",
        &["--noheader", "--format=%N", "--jobs", job],
        "check that `squeue` works",
    )?;
    hostlist::expand(list.trim()).map_err(|error| error.to_string())
}

/// How long a Slurm job still has, in seconds; `None` where it has no limit, or Slurm does not say.
pub(super) fn time_left_s(job: &str) -> Option<u64> {
    let left = output(
        "squeue",
        &["--noheader", "--format=%L", "--jobs", job],
        "check that `squeue` works",
    )
    .ok()?;
    seconds(left.trim())
}

/// `1-02:03:04`, `2:03:04` or `3:04` (squeue(1), `%L`); `None` for words such as `UNLIMITED`.
fn seconds(text: &str) -> Option<u64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (days.parse::<u64>().ok()?, rest),
        None => (0, text),
    };
    let parts = rest.split(':').map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
    if !(2..=3).contains(&parts.len()) {
        return None;
    }
    let of_day =
        parts.into_iter().try_fold(0u64, |sum, part| sum.checked_mul(60)?.checked_add(part))?;
    days.checked_mul(86_400)?.checked_add(of_day)
}

/// The running pods that a selector names.
///
/// # Errors
/// `kubectl` fails, or there are none.
pub fn pods(selector: &str, options: &[String]) -> Result<Vec<String>, String> {
    let options = KubectlOptions::of(options).all;
    let mut arguments: Vec<&str> = options.iter().map(String::as_str).collect();
    arguments.extend([
        "get",
        "pods",
        "--field-selector=status.phase=Running",
        "--output=name",
        "--selector",
        selector,
    ]);
    let list = output(
        "kubectl",
        &arguments,
        "check that `kubectl get pods` works with these options (--kubectl)",
    )?;
    let names: Vec<String> =
        list.lines().map(|line| line.trim().trim_start_matches("pod/").to_owned()).collect();
    if names.is_empty() {
        return Err(format!(
            "no running pod has the labels `{selector}`; deploy the agents first \
             (deploy/kubernetes.yaml)"
        ));
    }
    names
        .iter()
        .map(|name| hostlist::expand(name).map_err(|error| error.to_string()))
        .collect::<Result<Vec<_>, _>>()
        .map(|names| names.concat())
}

/// What a program of the site says.
fn output(program: &str, arguments: &[&str], remedy: &str) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(arguments);
    process::output(command, PATIENCE).map_err(|failed| match failed {
        Failed::NotStarted(error) => {
            format!("{program} cannot be started ({error}); is it installed here?")
        }
        Failed::Silent => {
            format!("{program} gives no answer within {} s; {remedy}", PATIENCE.as_secs())
        }
        Failed::Said(said) => format!("{program} fails: {}; {remedy}", in_one_line(&said)),
    })
}

/// What a program said on its way out, without what its libraries logged before: their lines begin
/// with a level, a date and a time, as in `E1121 17:49:02.056546`. All of it where nothing else is
/// there.
fn in_one_line(said: &str) -> String {
    let is_logged = |line: &&str| {
        let mut words = line.split_whitespace();
        let level = words.next().and_then(|word| word.split_at_checked(1));
        let is_level = level
            .is_some_and(|(level, date)| "IWEF".contains(level) && date.parse::<u16>().is_ok());
        is_level && words.next().is_some_and(|time| time.contains(':'))
    };
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let own: Vec<&str> = lines().filter(|line| !is_logged(line)).collect();
    let told = if own.is_empty() { lines().collect() } else { own };
    told.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_a_job_has_is_read() {
        assert_eq!(
            ["1-02:03:04", "2:03:04", "3:04", "0:00"].map(seconds),
            [Some(93_784), Some(7_384), Some(184), Some(0)]
        );
        for none in [
            "UNLIMITED",
            "NOT_SET",
            "INVALID",
            "",
            "5",
            "a:b",
            "1-",
            "1:2:3:4",
            "99999999999999999999-0:0",
        ] {
            assert_eq!(seconds(none), None, "{none}");
        }
    }

    #[test]
    fn what_a_library_logs_is_left_out_where_a_program_says_more() {
        let logged = "E1121 17:49:02.056546   25926 memcache.go:265] \"Unhandled Error\"";
        let said = format!("{logged}\n{logged}\nThe connection was refused\nError: two\n");
        assert_eq!(in_one_line(&said), "The connection was refused; Error: two");
        assert_eq!(in_one_line(logged), logged);
        assert_eq!(in_one_line("E1121\nIn 12:00\n"), "E1121; In 12:00");
    }
}
