//! What providers behind an interface of somebody else's have in common: their programs, their
//! answers, and guests that ssh reaches.

mod answer;
#[cfg(test)]
pub(crate) mod contract;
mod encoded;
mod guests;
mod program;

pub(crate) use answer::{array, object, own_line, read, text};
pub(crate) use encoded::base64;
pub(crate) use guests::Guests;
pub(crate) use program::{Program, Runs, Takes, ask};

use crate::record::{Deployment, Ground, Remote};
use crate::{Outcome, Problem};
use model::machines::{DiskCache, DiskContent, MachinesWanted};

/// What is on record of such a provider.
pub(crate) fn record(deployment: &Deployment) -> Option<&Remote> {
    match &deployment.ground {
        Ground::Remote(remote) => Some(remote),
        Ground::Folders(_) | Ground::Pools { .. } | Ground::Nodes(_) => None,
    }
}

/// The pool in which disks were made.
pub(crate) fn first_pool(deployment: &Deployment) -> &str {
    record(deployment).and_then(|at| at.pools.first()).map_or("", String::as_str)
}

/// All pools that may have a disk of ours.
pub(crate) fn pools(deployment: &Deployment) -> &[String] {
    record(deployment).map_or(&[], |at| &at.pools)
}

/// Refuses to look for machines in another installation than the one that has them: nothing would
/// be found there, and the record would be thrown away.
pub(crate) fn same_site(deployment: &Deployment, site: &str) -> Outcome {
    let recorded = record(deployment).map_or("", |at| &at.site);
    match recorded == site {
        true => Ok(()),
        false => Err(Problem::unfit(
            format!(
                "the machines {} were made at {recorded}, and this is {}",
                deployment.name,
                own_line(site)
            ),
            "set the way to it as it was when they were made",
        )),
    }
}

/// What a provider that copies an image of the user's refuses in all cases.
pub(crate) fn fits_a_template(who: &str, template: &str, wanted: &MachinesWanted) -> Outcome {
    let unfit =
        |what: String, remedy: &str| Err(Problem::Unfit { what, remedy: remedy.to_owned() });
    if template.is_empty() {
        let remedy = "name an image that ssh can log in to with vms.template";
        return unfit(format!("machines of {who} are copies of an image of yours"), remedy);
    }
    if wanted.content == DiskContent::Random {
        let remedy = "write vms.content = \"zero\"; a run's `prepare` writes every byte of the \
                      disks before it measures";
        return unfit(format!("{who} takes no bytes for its disks from here"), remedy);
    }
    if wanted.accelerator != model::machines::Accelerator::Native {
        let what = format!("{who} runs guests in its own way, not with `{}`", wanted.accelerator);
        return unfit(what, "write vms.accelerator = \"native\"");
    }
    if wanted.cache != DiskCache::None {
        let what = format!("{who} has no disk cache `{}` that could be asked for", wanted.cache);
        return unfit(what, "write vms.cache = \"none\"");
    }
    Ok(())
}
