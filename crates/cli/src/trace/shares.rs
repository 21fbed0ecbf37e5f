//! Which host replays what: a trace for each of them, or a share of one.

use super::scan::Scanned;
use super::share::Share;
use super::spool::{Spool, Spooled, made_here};
use crate::args::Split;
use crate::failure::Failure;
use crate::files::plain_file;
use model::trace::Reader;
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;

/// More sources than this are dealt out by their numbers, not in the order in which they come.
const MOST_SOURCES: usize = 1 << 20;

/// The shares of so many hosts, and the copies that hold them: gone when these are dropped.
pub(crate) struct Shares {
    pub(crate) all: Vec<Share>,
    _held: Vec<Spooled>,
}

/// What each of `hosts` hosts replays of `traces`: one each, or all the same, or as `split` says.
/// Copies go into `folder`.
pub(crate) fn shares(
    traces: &[Scanned],
    split: Option<Split>,
    hosts: usize,
    folder: &Path,
) -> Result<Shares, Failure> {
    let held = Vec::new();
    match (traces, split) {
        ([only], Some(Split::Source)) => by_source(only, hosts, folder),
        ([only], Some(Split::Turn)) => {
            let of = u32::try_from(hosts).unwrap_or(u32::MAX);
            if only.whole.requests < u64::from(of) {
                let text = format!(
                    "error: the trace has {} requests, fewer than there are hosts; name fewer \
                     hosts",
                    only.whole.requests
                );
                return Err(Failure::Usage(text));
            }
            let all = (0..of).map(|turn| Share {
                turn: (turn, of),
                in_flight: None,
                ..only.whole.clone()
            });
            Ok(Shares { all: all.collect(), _held: held })
        }
        (several, _) if several.len() == hosts => {
            Ok(Shares { all: several.iter().map(|one| one.whole.clone()).collect(), _held: held })
        }
        ([_], None) => Err(Failure::usage(format!(
            "one trace and {hosts} hosts: deal it out with --split source (each source to \
             one host) or --split turn (its requests in turn), or name a trace for each host"
        ))),
        (several, _) => Err(Failure::usage(format!(
            "{} traces and {hosts} {}; name a trace for each host, in the hosts' order",
            several.len(),
            if hosts == 1 { "host" } else { "hosts" }
        ))),
    }
}

fn by_source(trace: &Scanned, hosts: usize, folder: &Path) -> Result<Shares, Failure> {
    let unreadable = |what: String| Failure::run(format!("the trace cannot be read again: {what}"));
    let file = plain_file::open(Path::new(&trace.whole.path))
        .map_err(|error| unreadable(error.to_string()))?;
    let mut reader = Reader::new(BufReader::with_capacity(256 << 10, file))
        .map_err(|error| unreadable(error.to_string()))?;
    let header = made_here(String::new(), "replay");
    let mut spools = Vec::new();
    for _ in 0..hosts {
        spools.push((Spool::create(folder, &header)?, Share::NONE));
    }
    let (mut owners, mut block) = (BTreeMap::new(), Vec::new());
    while reader.next_block(&mut block).map_err(|error| unreadable(error.to_string()))? {
        for request in &block {
            let owner = owner(&mut owners, request.source, hosts);
            let (spool, share) = &mut spools[owner];
            share.add(request);
            spool.add(request)?;
        }
    }
    if owners.len() < hosts {
        return Err(Failure::usage(format!(
            "the trace has {} {}, fewer than the {hosts} hosts; name fewer hosts, or deal \
             it out with --split turn",
            owners.len(),
            if owners.len() == 1 { "source" } else { "sources" }
        )));
    }
    let (mut all, mut held) = (Vec::new(), Vec::new());
    for (spool, share) in spools {
        let spooled = spool.finish()?;
        all.push(Share { path: spooled.path(), ..share });
        held.push(spooled);
    }
    Ok(Shares { all, _held: held })
}

fn owner(owners: &mut BTreeMap<u32, usize>, source: u32, hosts: usize) -> usize {
    let next = owners.len();
    match owners.get(&source) {
        Some(owner) => *owner,
        None if next < MOST_SOURCES => *owners.entry(source).or_insert(next % hosts),
        None => source as usize % hosts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_dealt_out_as_they_come() {
        let mut owners = BTreeMap::new();
        let dealt = [7, 9, 7, 1, 9, 1, 4].map(|source| owner(&mut owners, source, 2));
        assert_eq!(dealt, [0, 1, 0, 0, 1, 0, 1]);
    }
}
