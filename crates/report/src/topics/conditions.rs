//! What stood behind the figures: plan, testbed, what was sent, what came up, how to do it again.

use super::reproduce;
use crate::ground::markup::{Markup, classed, list_under, plain, under, with_code};
use crate::ground::words;
use crate::pens::Table;
use crate::topics::{cluster_parts, imported, note, plan};
use model::{NoteKind, Record};

pub fn sections(record: &Record) -> Markup {
    [
        testbed(record),
        planned(record),
        imported::section(record),
        issued(record),
        notes(record),
        method(record),
    ]
    .into_iter()
    .collect()
}

fn list(entries: Vec<(String, Markup)>) -> Markup {
    let entry = |(term, words): (String, Markup)| [plain("dt", term), plain("dd", words)].into();
    classed("dl", "facts", entries.into_iter().map(entry).collect::<Markup>())
}

fn testbed(record: &Record) -> Markup {
    let mut content = plain("h2", "Testbed");
    for (host, facts) in record.plan.hosts.iter().zip(&record.testbed) {
        let mut entries = vec![
            ("Host".to_owned(), Markup::from(&facts.hostname)),
            ("Processor".to_owned(), processor(facts)),
            (
                "Memory".to_owned(),
                Markup::from(format!(
                    "{}, {} available before the run",
                    facts.memory, facts.memory_available
                )),
            ),
            ("System".to_owned(), system(facts)),
        ];
        for target in &host.targets {
            let size: u64 = target.files.iter().map(|file| file.size.0).sum();
            let medium = facts
                .targets
                .iter()
                .find(|facts| facts.path == target.path)
                .map(|facts| plan::medium(&record.plan, facts))
                .unwrap_or_default();
            let files = words::counted(target.files.len() as u64, "file");
            let medium = if medium.is_empty() { medium } else { format!("; {medium}") };
            let text = format!("{}: {files}, {} in all{medium}", target.path, model::Bytes(size));
            entries.push(("Target".to_owned(), Markup::from(text)));
        }
        content.push(list(entries));
    }
    content.push(cluster_parts::tables(record.loaders()));
    plain("section", content)
}

fn processor(facts: &model::testbed::HostFacts) -> Markup {
    let cpus = words::counted(u64::from(facts.logical_cpus), "logical CPU");
    if facts.cpu_model.is_empty() {
        Markup::from(cpus)
    } else {
        Markup::from(format!("{}, {cpus}", facts.cpu_model))
    }
}

fn system(facts: &model::testbed::HostFacts) -> Markup {
    match &facts.hypervisor {
        Some(hypervisor) => Markup::from(format!("{}, under {hypervisor}", facts.kernel)),
        None => Markup::from(&facts.kernel),
    }
}

fn planned(record: &Record) -> Markup {
    let text = plan::render(&record.plan, record.loaders());
    let content = [plain("h2", "Plan"), classed("div", "scroll", plain("pre", text))];
    plain("section", content)
}

fn issued(record: &Record) -> Markup {
    let issued = analysis::issued(record);
    let table = Table::of(&issued)
        .name("Stage", |total| total.stage.word())
        .words("Op", |total| total.op.name())
        .figure("Requests", |total| words::count(total.ios))
        .figure("Bytes", |total| words::count(total.bytes))
        .figure("Failed", |total| words::count(total.errors))
        .of_class("narrow")
        .caption(
            "Everything that was sent to the targets, with what came back after a stage's time \
             was over. The kernel's own counters must agree.",
        );
    under("Sent", [table.scroll()])
}

fn notes(record: &Record) -> Markup {
    let plan = record.plan.notes.iter().map(|note| &note.fact);
    let run = record.notes.iter().map(|note| &note.fact).filter(|fact| !fact.is_bookkeeping());
    let mut items: Vec<Markup> = plan.chain(run).map(|fact| with_code(&note::line(fact))).collect();
    let uncounted = crate::topics::uncounted::remarks(record).into_iter();
    items.extend(uncounted.map(|remark| format!("counters of the kernel: {remark}").into()));
    list_under("Notes", items)
}

/// How the measured load met the page cache.
fn page_cache(record: &Record) -> &'static str {
    let is_refused = |stage| {
        let mut notes = record.notes.iter().filter(|note| note.stage.is_none_or(|of| of == stage));
        notes.any(|note| note.kind() == NoteKind::DirectRefused)
    };
    match plan::past_and_through(&record.plan, is_refused) {
        [true, false] => "The page cache was bypassed (direct I/O).",
        [true, true] => {
            "Some of the load bypassed the page cache (direct I/O), the rest went through it."
        }
        [false, true] => "Requests went through the page cache.",
        [false, false] if record.plan.is_simulated() => {
            "The target was simulated: no page cache took part."
        }
        [false, false] => "Plimsoll itself sent nothing, so it took no part in any page cache.",
    }
}

fn method(record: &Record) -> Markup {
    let plan = &record.plan;
    let how = format!(
        "Every latency was recorded, in histograms that are at most 0.4 % from the truth and \
         merge exactly; no quantile was averaged. Rates and latencies are those of requests that \
         completed while the load was on, in intervals of {}. {} docs/method has every \
         definition.",
        plan.interval,
        page_cache(record),
    );
    let command = reproduce::command(plan);
    let again = (!command.is_empty()).then(|| ("Run again".to_owned(), plain("code", command)));
    let mut facts = vec![
        (
            "Suite".to_owned(),
            Markup::from(format!("{}, seed {}, scale {}", plan.suite, plan.seed, plan.scale)),
        ),
        ("Run".to_owned(), Markup::from(&plan.run_id)),
        ("Made by".to_owned(), Markup::from(format!("Plimsoll {}", record.version))),
    ];
    facts.extend(again);
    facts.push(("Page again".to_owned(), plain("code", "plimsoll report RUN.plimsoll")));
    let remark = classed("p", "remark", reproduce::remark(plan));
    plain("section", [plain("h2", "How this was measured"), plain("p", how), list(facts), remark])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W};
    use model::plan::PlannedTarget;

    #[test]
    fn only_what_bypassed_the_page_cache_is_said_to_have() {
        let files = "[layout]\nkind = \"tree\"\n[[workload]]\nname = \"m\"\nkind = \"metadata\"\n\
                     operations = [\"create\"]\n";
        let run = |suite: &str| Recorded::new(suite).record();
        let buffered = run(&format!("[engine]\ndirect = false\n{W}"));
        let mut simulated = run(W);
        simulated.plan.hosts[0].targets[0].kind = PlannedTarget::Simulated;
        for (record, said, is_direct) in [
            (run(W), "The page cache was bypassed (direct I/O).", true),
            (run(files), "Requests went through the page cache.", false),
            (buffered, "Requests went through the page cache.", false),
            (simulated, "The target was simulated: no page cache took part.", false),
            (run(&format!("[engine]\nbackend = \"null\"\n{W}")), "Plimsoll itself sent", false),
        ] {
            let plan = plan::render(&record.plan, &record.testbed);
            assert!(page_cache(&record).starts_with(said), "{}", page_cache(&record));
            assert_eq!(plan.contains("direct I/O in multiples"), is_direct, "{plan}");
        }
    }
}
