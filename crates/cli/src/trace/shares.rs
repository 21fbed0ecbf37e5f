//! Which host replays what: a trace for each of them, or a share of one.

use super::scan::Scanned;
use super::spool::{Spool, Spooled};
use crate::args::Split;
use crate::failure::Failure;
use crate::plain_file;
use model::trace::{Header, InFlight, Reader, Request, SequenceDigest, TraceClock};
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;

/// More sources than this are dealt out by their numbers, not in the order in which they come.
const MOST_SOURCES: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) path: String,
    pub(crate) digest: SequenceDigest,
    pub(crate) requests: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    pub(crate) flushes: bool,
    /// The byte behind the last that it touches.
    pub(crate) end: u64,
    /// The instant of the last request, in ns.
    pub(crate) last_ns: u64,
    /// How many requests the recorded device had at once; `None` where the share is a part of them.
    pub(crate) in_flight: Option<InFlight>,
    /// Whose requests of the file it sends, in turn with others: which, and of how many.
    pub(crate) turn: (u32, u32),
}

impl Share {
    pub(crate) fn whole(scanned: &Scanned) -> Share {
        Share {
            path: scanned.path.clone(),
            digest: scanned.digest,
            requests: scanned.requests,
            bytes: scanned.bytes,
            flushes: scanned.flushes > 0,
            end: scanned.end,
            last_ns: scanned.last_ns,
            in_flight: scanned.in_flight,
            turn: (0, 1),
        }
    }

    fn none() -> Share {
        Share {
            path: String::new(),
            digest: SequenceDigest::default(),
            requests: 0,
            bytes: 0,
            flushes: false,
            end: 0,
            last_ns: 0,
            in_flight: None,
            turn: (0, 1),
        }
    }

    fn add(&mut self, request: &Request) {
        self.digest.add(request.op, request.offset, request.length);
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(request.length.into());
        self.last_ns = request.at_ns;
        match request.op {
            model::Op::Fsync => self.flushes = true,
            _ => self.end = self.end.max(request.end()),
        }
    }
}

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
            if only.requests < u64::from(of) {
                let text = format!(
                    "error: the trace has {} requests, fewer than there are hosts; name fewer \
                     hosts",
                    only.requests
                );
                return Err(Failure::Usage(text));
            }
            let all = (0..of).map(|turn| Share {
                turn: (turn, of),
                in_flight: None,
                ..Share::whole(only)
            });
            Ok(Shares { all: all.collect(), _held: held })
        }
        (several, _) if several.len() == hosts => {
            Ok(Shares { all: several.iter().map(Share::whole).collect(), _held: held })
        }
        ([_], None) => Err(Failure::Usage(format!(
            "error: one trace and {hosts} hosts: deal it out with --split source (each source to \
             one host) or --split turn (its requests in turn), or name a trace for each host"
        ))),
        (several, _) => Err(Failure::Usage(format!(
            "error: {} traces and {hosts} {}; name a trace for each host, in the hosts' order",
            several.len(),
            if hosts == 1 { "host" } else { "hosts" }
        ))),
    }
}

fn by_source(trace: &Scanned, hosts: usize, folder: &Path) -> Result<Shares, Failure> {
    let unreadable =
        |what: String| Failure::Run(format!("error: the trace cannot be read again: {what}"));
    let file =
        plain_file::open(Path::new(&trace.path)).map_err(|error| unreadable(error.to_string()))?;
    let mut reader = Reader::new(BufReader::with_capacity(256 << 10, file))
        .map_err(|error| unreadable(error.to_string()))?;
    let header = Header {
        device: String::new(),
        size_bytes: 0,
        sector_bytes: 0,
        clock: TraceClock::Foreign,
        taken_from: "replay".to_owned(),
        began_unix_ns: 0,
    };
    let mut spools = Vec::new();
    for _ in 0..hosts {
        spools.push((Spool::create(folder, &header)?, Share::none()));
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
        return Err(Failure::Usage(format!(
            "error: the trace has {} {}, fewer than the {hosts} hosts; name fewer hosts, or deal \
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
