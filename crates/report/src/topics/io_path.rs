//! How requests were sent and timed, in words and as JSON.

use crate::ground::gather::{each_once, grouped};
use crate::ground::words;
use crate::pens::json::{Value, object};
use crate::topics::note;
use analysis::ResultRow;
use analysis::io_path::{Because, Means, Timing, Way, means};
use model::Record;

/// One sentence for all results that were measured alike; where they were not, each begins with the
/// names of the workloads that it is about.
pub fn sentences(record: &Record, rows: &[ResultRow]) -> Vec<String> {
    let of_row = |row| (sentence(&means(record, row)), row.workload.as_str());
    let alike = grouped(rows.iter().map(of_row));
    let is_one = alike.len() == 1;
    let told = alike.into_iter().filter(|(said, _)| !said.is_empty());
    let line = |(said, names)| match is_one {
        true => said,
        false => format!("{}: {said}", each_once::<&str>(names).join(", ")),
    };
    told.map(line).collect()
}

fn sentence(means: &[Means]) -> String {
    let each: Vec<String> = means.iter().map(|one| part(one, means.len() > 1)).collect();
    if each.is_empty() { String::new() } else { format!("{}.", each.join("; ")) }
}

fn part(means: &Means, with_hosts: bool) -> String {
    let because = match &means.because {
        Because::Planned => "as planned",
        Because::Refused(_) => "because the kernel refused the planned backend",
        Because::Tried(_) => "the better of two that were tried",
    };
    let on = if with_hosts {
        format!(" on {}", words::counted(means.hosts as u64, "host"))
    } else {
        String::new()
    };
    let how = match means.way {
        Way::Backend(backend) => format!("Sent by {backend}{on}, {because}"),
        Way::Simulated => format!("Simulated{on}"),
        Way::Calls => format!("Made by plain system calls{on}"),
    };
    let timed = match means.timing {
        Timing::PerBatch => "timed by CLOCK_MONOTONIC, once per batch sent or seen",
        Timing::PerRequest => "timed by CLOCK_MONOTONIC, once per request",
        Timing::Virtual => "timed in virtual time, exact to the ns",
    };
    format!("{how}; {timed}")
}

pub fn json(record: &Record, row: &ResultRow) -> Value {
    let one = |means: Means| {
        let (clock, read) = match means.timing {
            Timing::PerBatch => ("CLOCK_MONOTONIC", "batch"),
            Timing::PerRequest => ("CLOCK_MONOTONIC", "request"),
            Timing::Virtual => ("virtual", "request"),
        };
        let backend = match means.way {
            Way::Backend(backend) => backend.to_string(),
            Way::Simulated => "simulated".to_owned(),
            Way::Calls => "system-calls".to_owned(),
        };
        let (because, detail) = match means.because {
            Because::Planned => ("planned", None),
            Because::Refused(why) => ("refused", Some(note::sentence(&why))),
            Because::Tried(why) => ("tried", Some(note::sentence(&why))),
        };
        object! {
            backend, because, detail, clock, read_per: read,
            hosts: means.hosts,
        }
    };
    means(record, row).into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::has;
    use model::choices::Backend;
    use model::note::{Fact, Fallback};

    #[test]
    fn a_sentence_says_what_why_and_by_which_clock() {
        let planned = Means {
            way: Way::Backend(Backend::IoUring),
            because: Because::Planned,
            timing: Timing::PerBatch,
            hosts: 2,
        };
        let refused = Means {
            way: Way::Backend(Backend::Sync),
            because: Because::Refused(Fact::BackendFallback(Fallback {
                refused: Vec::new(),
                taken: Backend::Sync,
                one_after_the_other: false,
            })),
            timing: Timing::PerRequest,
            hosts: 1,
        };
        let alone = sentence(std::slice::from_ref(&planned));
        assert!(
            alone.starts_with("Sent by io_uring, as planned; timed by CLOCK_MONOTONIC, once"),
            "{alone}"
        );
        let both = sentence(&[planned, refused]);
        has(&both, &["io_uring on 2 hosts, as planned", "sync on 1 host, because"]);
        let way = Way::Simulated;
        let virtual_time =
            Means { way, because: Because::Planned, timing: Timing::Virtual, hosts: 1 };
        assert_eq!(sentence(&[virtual_time]), "Simulated; timed in virtual time, exact to the ns.");
        assert_eq!(sentence(&[]), "");
    }
}
