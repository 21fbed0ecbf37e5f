//! `plimsoll clean`

use super::print;
use crate::args::{CleanArgs, DEFAULT_TARGET};
use crate::failure::Failure;
use crate::hosts::{self, Absence, Least, Terms};
use fleet::{Cleaned, FleetError, Outcome};
use model::{Bytes, Nanos};

/// A host that is only told to remove files has this long between two signs of life.
const LOST_AFTER: Nanos = Nanos::seconds(30);

/// Removes what is ours from each directory of each host, and then our copies from the hosts.
pub(crate) fn clean(args: &CleanArgs) -> Result<(), Failure> {
    let patience = super::patience(args.patience)?;
    probe::block_trace::remove_left();
    let is_remote = args.hosts.are_named();
    let default = [DEFAULT_TARGET.to_owned()];
    let targets = match (args.targets.as_slice(), is_remote) {
        // Where that is on another host is its login directory, which nobody meant.
        ([], true) => &[],
        ([], false) => &default[..],
        (targets, _) => targets,
    };
    if !targets.is_empty() {
        let terms = Terms::look(LOST_AFTER, Absence::LeftOut(Least::ONE));
        let started = hosts::reach(&args.hosts, targets, terms)?;
        let cleaned = started.fleet.clean(targets, patience).map_err(failure)?;
        let mut told = lines(&cleaned);
        // Who is not there keeps nobody from cleaning the others.
        told.errors.extend(started.absent.iter().map(|why| format!("error: {why}")));
        print(&told.done)?;
        if !told.errors.is_empty() {
            return Err(Failure::Target(told.errors.join("\n")));
        }
    }
    if is_remote && hosts::forget(&args.hosts)? {
        print("the copies of plimsoll are gone from the hosts\n")?;
    }
    Ok(())
}

fn failure(error: FleetError) -> Failure {
    match error {
        FleetError::Interrupted => {
            Failure::Interrupted("stopped; what was removed until then is gone".to_owned())
        }
        error => Failure::run(error),
    }
}

struct Lines {
    done: String,
    errors: Vec<String>,
}

fn lines(hosts: &[(String, Vec<Cleaned>)]) -> Lines {
    let at = |host: &str| if host.is_empty() { String::new() } else { format!("host {host}: ") };
    // Hosts may see the same folders; the first one that is asked removes them.
    let is_gone = |target: &str| {
        let all = hosts.iter().flat_map(|(_, cleaned)| cleaned);
        all.filter(|other| other.target == target)
            .any(|other| matches!(other.outcome, Outcome::Removed { .. }))
    };
    let has_bytes = |target: &str| {
        let all = hosts.iter().flat_map(|(_, cleaned)| cleaned);
        all.filter(|other| other.target == target)
            .any(|other| matches!(other.outcome, Outcome::Removed { bytes: 1.., .. }))
    };
    let mut told = Lines { done: String::new(), errors: Vec::new() };
    for (host, cleaned) in
        hosts.iter().flat_map(|(host, cleaned)| cleaned.iter().map(move |one| (host, one)))
    {
        match &cleaned.outcome {
            Outcome::Removed { bytes: 0, left: None } if has_bytes(&cleaned.target) => {}
            // A wrong name must not look like work done.
            Outcome::Removed { bytes: 0, left: None } => {
                let line = format!("{}{}: nothing of ours is there\n", at(host), cleaned.root);
                told.done.push_str(&line);
            }
            Outcome::Removed { bytes, left } => {
                let line = format!(
                    "{}{}: removed {} of ours, and nothing else{}\n",
                    at(host),
                    cleaned.root,
                    Bytes(*bytes),
                    staying(left)
                );
                told.done.push_str(&line);
            }
            Outcome::Nothing(_) if is_gone(&cleaned.target) => {}
            Outcome::Nothing(why) | Outcome::Failed(why) | Outcome::Unanswered(why) => {
                told.errors.push(format!("error: {}{why}", at(host)));
            }
        }
    }
    told
}

fn staying(left: &Option<String>) -> String {
    left.as_ref().map_or_else(String::new, |tree| {
        format!(
            "; {tree} stays, because something in it is not ours: move that away, and clean again"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_host_removed_is_not_missed_by_the_next_and_what_failed_is_told() {
        let one = |target: &str, outcome| {
            vec![Cleaned { target: target.into(), root: format!("{target}-r"), outcome }]
        };
        let nothing = || Outcome::Nothing("nothing is ours; name another".into());
        let hosts = [
            (
                "n1".to_owned(),
                one("/a", Outcome::Removed { bytes: 4096, left: Some("/a-r/tree-00003".into()) }),
            ),
            ("n2".to_owned(), one("/a", nothing())),
            ("n2".to_owned(), one("/b", nothing())),
            ("n3".to_owned(), one("/a", Outcome::Failed("in use; wait".into()))),
        ];
        let told = lines(&hosts);
        let staying = "/a-r/tree-00003 stays, because something in it is not ours: move that \
                       away, and clean again";
        assert_eq!(
            told.done,
            format!("host n1: /a-r: removed 4 KiB of ours, and nothing else; {staying}\n")
        );
        assert_eq!(
            told.errors,
            ["error: host n2: nothing is ours; name another", "error: host n3: in use; wait"]
        );
    }
}
