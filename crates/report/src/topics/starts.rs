//! How the start of each host's agent went.

use model::note::{AboutHosts, HostStart};
use model::{Fact, Record};
use serde_json::{Value, json};

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
    json!({
        "host": start.name,
        "by": start.by,
        "tries": start.tries,
        "seconds": start.took.0 as f64 / 1e9,
        "missing": start.missing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let mut record = analysis::testing::Recorded::new("[[workload]]\nname = \"w\"\n").record();
        assert!(objects(&record).is_empty());
        let starts = vec![start("n1", None), start("n2", Some("no route"))];
        record.plan.notes.push(PlanNote { fact: Fact::Hosts(AboutHosts::Started(starts)) });
        assert_eq!(
            json!(objects(&record)),
            json!([
                { "host": "n1", "by": null, "tries": 2, "seconds": 1.5, "missing": null },
                { "host": "n2", "by": "n1", "tries": 2, "seconds": 1.5, "missing": "no route" },
            ])
        );
    }
}
