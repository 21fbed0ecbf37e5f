//! What hosts do with the layouts of scenarios, in the order in which they do it, and what must
//! hold of that.

use model::plan::Part;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// It takes up a stage, and opens its layout if it has not.
    Begins { stage: u32 },
    /// It is through with that stage.
    Ends,
    /// It gives a layout back: what it made of it is gone.
    GivesBack { part: usize },
    /// It lets go of all that it has.
    LetsGo,
    /// Its agent is gone, or nobody waits for it any more.
    Gone,
}

/// The deeds of all hosts: who, what.
pub(super) type Deeds = Vec<(usize, Deed)>;

/// What a host has at an instant.
#[derive(Clone, Debug, Default)]
struct Has {
    stage: Option<u32>,
    open: BTreeSet<usize>,
}

fn part_of(parts: &[Part], stage: u32) -> Option<usize> {
    parts.iter().position(|part| part.stages.contains(&stage))
}

/// No layout is given back while a host still has a stage of it, none is opened while a host still
/// has one that is over, and nobody lets go while a host still has a stage.
pub(super) fn check(parts: &[Part], hosts: usize, deeds: &Deeds) -> Result<(), String> {
    let mut has = vec![Has::default(); hosts];
    for (number, (host, deed)) in deeds.iter().enumerate() {
        let at = |other: usize, what: &str| {
            Err(format!("deed {number}: host {host}: {deed:?}, but host {other} {what}"))
        };
        let find = |is: &dyn Fn(&Has) -> bool| has.iter().position(is);
        match *deed {
            Deed::Begins { stage } => {
                let is_over = |part: &usize| parts[*part].is_over_at(stage);
                if let Some(other) = find(&|has| has.open.iter().any(is_over)) {
                    return at(other, "still has one open that is over");
                }
                has[*host].stage = Some(stage);
                has[*host].open.extend(part_of(parts, stage));
            }
            Deed::Ends => has[*host].stage = None,
            Deed::GivesBack { part } => {
                if let Some(other) =
                    find(&|has| has.stage.is_some_and(|stage| part_of(parts, stage) == Some(part)))
                {
                    return at(other, "still has a stage of it");
                }
                has[*host].open.remove(&part);
            }
            Deed::LetsGo => {
                if let Some(other) = find(&|has| has.stage.is_some()) {
                    return at(other, "still has a stage");
                }
                has[*host] = Has::default();
            }
            Deed::Gone => has[*host] = Has::default(),
        }
    }
    Ok(())
}
