//! What hosts may leave behind that were lost for good, and the command that removes it: in words,
//! as JSON, and as a section of the page.

use crate::ground::markup::{Markup, plain};
use crate::ground::words;
use crate::pens::json::{Value, object};
use crate::topics::command_line::quoted;
use analysis::{LeftBehind, left_behind};
use model::{Plan, Record};

/// The command that removes it, once the host can be reached.
fn command(left: &LeftBehind, plan: &Plan) -> String {
    let way = plan.hosts_from.iter().filter_map(|option| match option.split_once('=') {
        // An agent of this machine is no host to go to.
        Some(("--hosts", of)) if of.starts_with("local:") => None,
        Some(("--hosts", _)) => Some(format!("--hosts={}", left.hostname)),
        Some(("--fanout", _)) => None,
        _ => Some(option.clone()),
    });
    let words = ["plimsoll".to_owned(), "clean".to_owned()]
        .into_iter()
        .chain(way)
        .chain(left.folders.iter().cloned());
    words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

fn sentence(left: &LeftBehind) -> String {
    let verb = if left.folders.len() == 1 { "holds" } else { "hold" };
    format!(
        "Host {} was lost for good. Perhaps {} still {verb} files of the run.",
        left.hostname,
        left.folders.join(" and ")
    )
}

pub fn text(record: &Record) -> String {
    let all = left_behind(record);
    let line = |left: &LeftBehind| {
        format!("{} Remove them with: {}", sentence(left), command(left, &record.plan))
    };
    words::titled("Left behind", all.iter().map(line))
}

pub fn objects(record: &Record) -> Vec<Value> {
    let object = |left: &LeftBehind| {
        object! {
            host: left.hostname, folders: left.folders, command: command(left, &record.plan),
        }
    };
    left_behind(record).iter().map(object).collect()
}

pub fn section(record: &Record) -> Markup {
    let all = left_behind(record);
    if all.is_empty() {
        return Markup::new();
    }
    let one = |left: &LeftBehind| {
        let said = format!("{} Remove them with ", sentence(left));
        plain("p", [Markup::from(said), plain("code", command(left, &record.plan))])
    };
    let lines = all.iter().map(one);
    plain("section", std::iter::once(plain("h2", "Left behind")).chain(lines).collect::<Markup>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W, has};
    use model::plan::{PlannedTarget, Target};
    use model::{Fact, Note};

    fn lost(hosts_from: &[&str]) -> Record {
        let mut recorded = Recorded::with_hosts(W, 2);
        let record = recorded.record_mut();
        record.plan.hosts_from = hosts_from.iter().map(|option| (*option).to_owned()).collect();
        let host = &mut record.plan.hosts[1];
        host.hostname = "h2".to_owned();
        let kind = PlannedTarget::Directory { root: "/my data-h0001".into() };
        host.targets = vec![Target { path: "/my data".into(), kind, files: Vec::new() }];
        let lost = Fact::HostLost { name: "h2".into(), why: "gone".into() };
        record.notes = vec![Note { stage: Some(0), host: 1, fact: lost }];
        recorded.record()
    }

    #[test]
    fn the_command_reaches_the_host_alone_as_the_run_did() {
        let said = |options: &[&str]| {
            objects(&lost(options))[0]["command"].as_str().expect("a text").to_owned()
        };
        let wanted = "plimsoll clean --hosts=h2 '--launcher=ssh -p 7 {host}' '/my data-h0001'";
        assert_eq!(said(&["--hosts=h[1-4]", "--launcher=ssh -p 7 {host}", "--fanout=2"]), wanted);
        assert_eq!(said(&["--hosts=local:2"]), "plimsoll clean '/my data-h0001'");
        assert_eq!(
            said(&["--kubernetes=app=x"]),
            "plimsoll clean --kubernetes=app=x '/my data-h0001'"
        );
        let text = text(&lost(&["--hosts=h[1-2]"]));
        assert_eq!(
            text,
            "\nLeft behind\n- Host h2 was lost for good. Perhaps /my data-h0001 still holds files \
             of the run. Remove them with: plimsoll clean --hosts=h2 '/my data-h0001'\n"
        );
        let page = section(&lost(&["--hosts=h[1-2]"])).into_string();
        has(&page, &["Left behind", "plimsoll clean --hosts=h2"]);
    }
}
