//! What stands behind `sim:cluster=` in a target: a testbed and how it is used.

use super::migration::Migration;
use crate::check::{LONGEST_RUN_NS, LONGEST_SERVICE_NS, MOST_BYTES};
use crate::quantity::{clip, parse_bytes, parse_ns};
use catalogue::Cluster;
use catalogue::cluster::reference_text;
use model::{Bytes, EventTime, Nanos, Percent, Route};

/// What a text of a cluster begins with.
pub const CLUSTER: &str = "cluster=";
/// Longer than any path that Linux takes, with all parameters.
const MOST_TEXT: usize = 8_192;
/// More than any testbed that is simulated has.
const MOST_NODES: u32 = 4_096;
const KEYS: &str = "path, nodes, remote, migrate, volume, file, stack, latency and site-latency";

/// A simulated cluster: a testbed, and what the testbed does not say.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterSpec {
    /// The name of a testbed, or a file that ends in `.toml`.
    pub testbed: String,
    /// Whether times that were fitted to measured rows are used: `fitted` takes those that are
    /// shipped with a reference testbed, `unfitted` leaves those of a file out; `None`: as the text
    /// has it.
    pub is_fitted: Option<bool>,
    /// How hosts reach the data.
    pub route: Route,
    /// The share of data that is mastered in the other site than its host; `None`: as the testbed
    /// says.
    pub remote: Option<Percent>,
    /// When all volumes migrate, and for how long; `None` for never.
    pub migration: Option<Migration>,
    /// The node of each host in turn, from 1, and from the front again; none: each node in turn.
    pub nodes: Vec<u32>,
    /// The size of each host's volume; `None`: what the cluster holds, shared among its nodes.
    pub volume: Option<Bytes>,
    /// Whether the files of all hosts are the same ones.
    pub is_shared: bool,
    /// What the storage software adds to each request, in ns, whatever the load.
    pub stack_ns: u64,
    /// The way through the fabric, one way, in ns.
    pub latency_ns: u64,
    /// The way to the other site, one way, in ns.
    pub site_latency_ns: u64,
}

impl ClusterSpec {
    /// A testbed as it stands.
    pub fn new(testbed: &str) -> ClusterSpec {
        ClusterSpec {
            testbed: testbed.to_owned(),
            is_fitted: None,
            route: Route::Testbed,
            remote: None,
            migration: None,
            nodes: Vec::new(),
            volume: None,
            is_shared: false,
            stack_ns: 300_000,
            latency_ns: 20_000,
            site_latency_ns: 500_000,
        }
    }

    /// Reads `cluster=TESTBED`, then parameters as `key=value`, separated by commas.
    ///
    /// # Errors
    /// A sentence that says what is wrong, where, and what to write instead.
    pub fn parse(text: &str) -> Result<ClusterSpec, String> {
        if text.len() > MOST_TEXT {
            return Err(format!(
                "a cluster of {} characters is too long; write up to {MOST_TEXT}",
                text.len()
            ));
        }
        let text = text.strip_prefix(CLUSTER).unwrap_or(text);
        let (testbed, parameters) = text.split_once(',').unwrap_or((text, ""));
        if testbed.trim().is_empty() {
            return Err(
                "a cluster has no testbed; write cluster=NAME or cluster=FILE.toml".to_owned()
            );
        }
        let mut spec = ClusterSpec::new(testbed.trim());
        let mut seen: Vec<&str> = Vec::new();
        for parameter in
            parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty())
        {
            let (key, value) = match (parameter, parameter.split_once('=')) {
                ("fitted" | "unfitted", _) => ("fitted or unfitted", parameter),
                (_, Some((key, value))) => (key.trim(), value.trim()),
                _ => {
                    return Err(format!(
                        "`{}` is not a parameter; write fitted, unfitted or key=value, with one of \
                         {KEYS}",
                        clip(parameter)
                    ));
                }
            };
            spec.set(key, value).map_err(|message| format!("{}: {message}", clip(parameter)))?;
            if seen.contains(&key) {
                return Err(format!("`{}` is given twice; write it once", clip(key)));
            }
            seen.push(key);
        }
        Ok(spec)
    }

    /// The text of its testbed, where that is a reference testbed.
    ///
    /// # Errors
    /// Nothing was fitted to it; with the remedy.
    pub fn reference(&self) -> Result<Option<String>, String> {
        let (name, is_fitted) = (self.testbed.as_str(), self.is_fitted == Some(true));
        match (reference_text(name, is_fitted), reference_text(name, false)) {
            (None, Some(_)) => Err(format!("nothing is fitted to {name}; leave `fitted` out")),
            (found, _) => Ok(found),
        }
    }

    /// Its testbed as it is used, of one that was read.
    pub fn used(&self, testbed: Cluster) -> Cluster {
        if self.is_fitted == Some(false) { testbed.unfitted() } else { testbed }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "fitted or unfitted" => self.is_fitted = Some(value == "fitted"),
            "path" => {
                let known = Route::ALL.iter().copied().find(|route| route.word() == value);
                let wrong =
                    || format!("`{}` is no path; write local, smb-direct or smb", clip(value));
                // Whoever names none takes the testbed's.
                self.route = known.filter(|route| *route != Route::Testbed).ok_or_else(wrong)?;
            }
            "remote" => {
                let wrong = |_| format!("`{}` is no share; write 0% to 100%", clip(value));
                self.remote = Some(value.parse().map_err(wrong)?);
            }
            "migrate" => self.migration = Some(migration(value)?),
            "nodes" => self.nodes = nodes(value)?,
            "volume" => {
                let size = parse_bytes(value)?;
                if !(512..=MOST_BYTES).contains(&size.0) || !size.0.is_multiple_of(512) {
                    return Err(format!(
                        "{size} is no volume; write whole sectors of 512 bytes, up to 1 PiB"
                    ));
                }
                self.volume = Some(size);
            }
            "file" => {
                self.is_shared = match value {
                    "own" => false,
                    "shared" => true,
                    _ => {
                        return Err(format!(
                            "`{}` says not whose file it is; write own or shared",
                            clip(value)
                        ));
                    }
                };
            }
            "stack" => self.stack_ns = latency(value)?,
            "latency" => self.latency_ns = latency(value)?,
            "site-latency" => self.site_latency_ns = latency(value)?,
            _ => return Err(format!("there is no such parameter; there are {KEYS}")),
        }
        Ok(())
    }
}

fn migration(value: &str) -> Result<Migration, String> {
    let wrong =
        "a migration has a beginning and a length; write migrate=50%+10% or migrate=30s+60s";
    let (at, length) = value.split_once('+').ok_or(wrong)?;
    let (at, length) = (moment(at.trim())?, moment(length.trim())?);
    let is_nothing = matches!(length, EventTime::After(Nanos(0)) | EventTime::Share(Percent::ZERO));
    if is_nothing || at == EventTime::Share(Percent::ALL) {
        return Err(format!("nothing migrates in that time; {wrong}"));
    }
    Ok(Migration { at, length })
}

/// A share of a measurement, or a time up to a week.
fn moment(text: &str) -> Result<EventTime, String> {
    if text.ends_with('%') {
        let wrong = |_| format!("`{}` is no share; write 0% to 100%", clip(text));
        return text.parse().map(EventTime::Share).map_err(wrong);
    }
    match parse_ns(text)? {
        ns if ns > LONGEST_RUN_NS => {
            Err("a migration lasts from 1ns to a week; write migrate=30s+60s".to_owned())
        }
        ns => Ok(EventTime::After(Nanos(ns))),
    }
}

/// Numbers of nodes, from 1, and ranges of them, with plus signs between: commas separate
/// parameters.
fn nodes(value: &str) -> Result<Vec<u32>, String> {
    let wrong = || {
        format!("`{}` are no nodes; write their numbers from 1, such as nodes=1-8+1+5", clip(value))
    };
    let number =
        |text: &str| text.trim().parse::<u32>().ok().filter(|node| (1..=MOST_NODES).contains(node));
    let mut nodes = Vec::new();
    for part in value.split('+') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = number(first)
            .zip(number(last))
            .filter(|(first, last)| first <= last)
            .ok_or_else(wrong)?;
        nodes.extend(first..=last);
        if nodes.len() > MOST_NODES as usize {
            return Err(format!("more than {MOST_NODES} hosts have no place; write fewer nodes"));
        }
    }
    Ok(nodes)
}

fn latency(value: &str) -> Result<u64, String> {
    let ns = parse_ns(value)?;
    if ns > LONGEST_SERVICE_NS {
        Err("nothing takes that long; write 0ns to 1h".to_owned())
    } else {
        Ok(ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_a_testbed_with_parameters() {
        let text = "cluster=b.toml,path=smb,nodes=1-3+2,remote=50%,migrate=50%+2s,volume=1GiB,\
                    stack=0ns,latency=5us,site-latency=1ms";
        let spec = ClusterSpec::parse(text).expect(text);
        assert_eq!(
            (spec.testbed.as_str(), spec.route, spec.remote),
            ("b.toml", Route::Smb, Some(Percent::of(50)))
        );
        let (at, length) = (EventTime::Share(Percent::of(50)), EventTime::After(Nanos::seconds(2)));
        assert_eq!(
            (spec.migration, spec.nodes),
            (Some(Migration { at, length }), vec![1, 2, 3, 2])
        );
        assert_eq!((spec.volume, spec.stack_ns, spec.latency_ns), (Some(Bytes::gib(1)), 0, 5_000));
        assert_eq!(spec.site_latency_ns, 1_000_000);
        assert_eq!(ClusterSpec::parse("cluster=x"), Ok(ClusterSpec::new("x")));
        let fit =
            |word: &str| ClusterSpec::parse(&format!("cluster=x,{word}")).map(|one| one.is_fitted);
        assert_eq!([fit("fitted"), fit("unfitted")], [Ok(Some(true)), Ok(Some(false))]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_remedy() {
        for (text, words) in [
            ("cluster=", "no testbed"),
            ("cluster=x,path", "is not a parameter"),
            ("cluster=x,fitted,unfitted", "given twice"),
            ("cluster=x,path=nfs", "smb-direct"),
            ("cluster=x,remote=101%", "0% to 100%"),
            ("cluster=x,migrate=5s", "migrate=30s+60s"),
            ("cluster=x,migrate=5s+0s", "nothing migrates"),
            ("cluster=x,migrate=100%+1s", "nothing migrates"),
            ("cluster=x,migrate=50%+101%", "0% to 100%"),
            ("cluster=x,nodes=0", "from 1"),
            ("cluster=x,nodes=3-1", "from 1"),
            ("cluster=x,nodes=1++2", "from 1"),
            ("cluster=x,nodes=1-4000+1-4000", "no place"),
            ("cluster=x,migrate=5s+999h", "1ns to a week"),
            ("cluster=x,volume=100B", "whole sectors"),
            ("cluster=x,stack=2h", "1h"),
            ("cluster=x,stack=1", "no unit of time"),
            ("cluster=x,path=smb,path=smb", "given twice"),
            ("cluster=x,file=theirs", "own or shared"),
            ("cluster=x,servers=3", "no such parameter"),
        ] {
            let said = ClusterSpec::parse(text).expect_err(text);
            assert!(said.contains(words), "{text}: {said}");
        }
        assert!(ClusterSpec::parse(&format!("cluster={}", "x".repeat(MOST_TEXT))).is_err());
    }
}
