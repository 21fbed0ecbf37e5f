//! How the start of each host's agent went.

use crate::pens::json::{Value, object};
use model::note::{AboutHosts, HostStart};
use model::{Fact, Record};

/// One for each host that was asked for; none where all started at once, or where nobody started
/// any.
pub(crate) fn objects(record: &Record) -> Vec<Value> {
    let starts = record.plan.notes.iter().filter_map(|note| match &note.fact {
        Fact::Hosts(AboutHosts::Started(starts)) => Some(starts),
        _ => None,
    });
    starts.flatten().map(object).collect()
}

fn object(start: &HostStart) -> Value {
    object! {
        host: start.name, seconds: start.took.0 as f64 / 1e9, ..start { by, tries, missing },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::W;
    use model::Nanos;
    use model::plan::PlanNote;

    #[test]
    fn each_host_says_how_its_start_went() {
        let start = |name: &str, missing: Option<&str>| HostStart {
            name: name.to_owned(),
            by: missing.map(|_| "n1".to_owned()),
            tries: 2,
            took: Nanos(1_500_000_000),
            missing: missing.map(str::to_owned),
        };
        let mut record = analysis::testing::Recorded::new(W).record();
        assert!(objects(&record).is_empty());
        let starts = vec![start("n1", None), start("n2", Some("no route"))];
        record.plan.notes.push(PlanNote { fact: Fact::Hosts(AboutHosts::Started(starts)) });
        let second = object! {
            host: "n2", by: "n1", tries: 2, seconds: 1.5, missing: "no route",
        };
        let first = object! { host: "n1", by: (), tries: 2, seconds: 1.5, missing: () };
        assert_eq!(objects(&record), [first, second]);
    }
}
