//! A run's results as shares of the testbed's ceiling: a section of the report.

use super::{figure, layer};
use crate::ground::markup::{Markup, plain, under};
use crate::ground::words;
use crate::pens::Table;
use analysis::ceiling::{Limit, Reached};
use model::Bytes;

/// The section; nothing where nothing was measured.
pub fn section(name_of: &str, reached: &[Reached]) -> Markup {
    if reached.is_empty() {
        return Markup::new();
    }
    let limit = |one: &Reached, limit: Option<Limit>| {
        limit.map(|limit| figure(&one.ceiling.workload, limit.iops))
    };
    let next = |one: &Reached| {
        let next = one.ceiling.next()?;
        Some(format!("{} at {}", layer(next.layer), limit(one, Some(next))?))
    };
    let table = Table::of(reached)
        .name("Workload", name)
        .words("Reached", |one| figure(&one.ceiling.workload, one.iops))
        .words("Ceiling", |one| limit(one, one.ceiling.binding()))
        .words("Share", |one| one.share().map(words::share))
        .words("What binds", |one| one.ceiling.binding().map(|limit| layer(limit.layer)))
        .words("What would be next", next)
        .words("Used of each layer", uses)
        .bare()
        .caption(
            "Reads and writes of a workload together. Workloads that ran at the same time are \
             each judged as if alone. Used: rate × demand of a request, by the testbed's figures.",
        );
    under(
        format!("Share of the ceiling of {name_of}"),
        [table.scroll(), within_cache(reached).map_or_else(Markup::new, |said| plain("p", said))],
    )
}

/// What was reached of each ceiling, the layer that binds and the one that would be next, a line
/// for each workload of a terminal.
pub fn lines(reached: &[Reached]) -> Vec<String> {
    reached.iter().map(line).chain(within_cache(reached)).collect()
}

/// That workloads never left the cache tier: their figures say nothing of the drives behind it.
fn within_cache(reached: &[Reached]) -> Option<String> {
    let mut named: Vec<String> = Vec::new();
    let (mut footprint, mut cache) = (0, 0);
    for one in reached {
        let Some((bytes, tier)) = one.ceiling.workload.footprint.zip(one.within_cache) else {
            continue;
        };
        (footprint, cache) = (bytes.0.max(footprint), tier.0.max(cache));
        let name = name(one);
        if !named.contains(&name) {
            named.push(name);
        }
    }
    let names = match named.len() {
        0 => return None,
        1..=3 => named.join(", "),
        count if count == reached.len() => "every workload".to_owned(),
        count => words::counted(count as u64, "workload"),
    };
    Some(format!(
        "Within the cache: {} at most never leave a cache tier of {}. The figures of {names} are \
         those of the cache; for the drives behind it, load more (layout.size).",
        words::decimal(Bytes(footprint)),
        words::decimal(Bytes(cache)),
    ))
}

fn line(reached: &Reached) -> String {
    let (workload, name) = (&reached.ceiling.workload, name(reached));
    let (Some(binding), Some(share)) = (reached.ceiling.binding(), reached.share()) else {
        return format!(
            "{name}: no layer of the testbed has a figure for it; give nodes.drives.model (or \
             read, write, read_iops, write_iops) or nodes.ports."
        );
    };
    let next = reached.ceiling.next().map_or_else(
        || "no other layer is known.".to_owned(),
        |next| format!("next would be {} at {}.", layer(next.layer), figure(workload, next.iops)),
    );
    let above = if reached.is_above() {
        " (above it: not all came from where the testbed says)"
    } else {
        ""
    };
    format!(
        "{name}: {}, {} of the ceiling {}{above}. What binds: {}; {next}",
        figure(workload, reached.iops),
        words::share(share),
        figure(workload, binding.iops),
        layer(binding.layer),
    )
}

fn name(reached: &Reached) -> String {
    words::with_sweep(&reached.ceiling.workload.name, &reached.sweep, reached.repetition)
}

/// `CPU 62 %, ports 31 %`.
fn uses(reached: &Reached) -> Option<String> {
    let uses = reached.uses();
    let said: Vec<String> = uses
        .iter()
        .map(|(one, share)| format!("{} {}", layer(*one), words::share(*share)))
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}
