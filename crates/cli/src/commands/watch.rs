//! `plimsoll watch`: the hosts as they are, without any load; or a recorded run, played again.

use crate::args::WatchArgs;
use crate::failure::Failure;
use crate::hosts::{self, Absence, Asked, Least, Terms};
use crate::signals::{self, Work};
use crate::terminal::screen::Stream;
use crate::terminal::view::{self, Film, Labels, News, Unplayed, View};
use crate::web::{Tls, WatchedPage, listen_address};
use fleet::Watched;
use live::watch::{Replay, State, Subject, figures, lines};
use model::testbed::HostFacts;
use model::{CounterSample, Nanos, printable};
use report::ground::words;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;
use store::InTime;

/// A host that is only watched has this long to give a sign of life.
const LOST_AFTER: Nanos = Nanos::seconds(10);
/// The kernel counts CPU time in steps of 10 ms: over less than this, shares are noise.
const LEAST: Nanos = Nanos::millis(100);
const MOST: Nanos = Nanos::seconds(3600);

pub(crate) fn watch(args: &WatchArgs) -> Result<(), Failure> {
    match &args.run {
        Some(run) if args.share.serve.is_some() => Err(Failure::Usage(both(run))),
        Some(_) if args.share.push.is_some() => {
            Err(Failure::usage("--push sends what goes on now; leave it out, or RUN"))
        }
        Some(run) => replay(args, run),
        None => live(args),
    }
}

/// What to do instead of serving a run that is played again: its name may be an address that stands
/// where none is looked for.
fn both(run: &Path) -> String {
    let text = run.display();
    match listen_address(&run.to_string_lossy()) {
        Ok(address) => {
            format!("error: the address of --serve stands behind `=`; write --serve={address}")
        }
        Err(_) if !run.exists() => format!(
            "error: --serve and {text} together: a run file is not served while it is played, and \
             an address of --serve stands behind `=`, such as --serve=127.0.0.1:9750"
        ),
        Err(_) => format!(
            "error: --serve shows hosts as they are, not {text}; show that with `plimsoll serve \
             {text}`"
        ),
    }
}

/// Whether there is a screen: a reader of JSON or of a pipe gets lines.
fn has_screen(args: &WatchArgs) -> bool {
    !args.json && args.count.is_none() && std::io::stdout().is_terminal()
}

fn no_screen(error: &std::io::Error) -> Failure {
    let remedy = "leave the terminal out with `plimsoll watch --json`, or pipe the output";
    Failure::run(format!("the terminal cannot be used as a screen: {error}; {remedy}"))
}

fn live(args: &WatchArgs) -> Result<(), Failure> {
    super::within("--interval", args.interval, LEAST, MOST)?;
    Tls::check(&args.share.tls)?;
    let terms = Terms::look(LOST_AFTER, Absence::Kept(Least::ONE));
    let no_targets = |names: &[String]| Ok(vec![Vec::new(); names.len()]);
    let asked = Asked { terms, patience: LOST_AFTER };
    let started = hosts::start(Work::Look, &args.hosts, &no_targets, asked)?;
    let facts = hosts::facts_of(&started, hosts::may_be_one(&args.hosts))?;
    let page = WatchedPage::start(&args.share, &facts, args.interval)?;
    let mut known = Known { facts, lost: BTreeMap::new(), page };
    let (was_left, lines_end) = if has_screen(args) {
        let state = State::new(Subject::Hosts, &known.facts, None);
        let labels = Labels {
            title: "plimsoll watch".to_owned(),
            status: format!("every {}", args.interval),
        };
        let interrupter = started.fleet.interrupter();
        let mut view = View::open(Stream::Out, state, labels, interrupter)
            .map_err(|error| no_screen(&error))?;
        started.fleet.watch(args.interval, LOST_AFTER, &mut |watched| {
            known.watched(&watched);
            view.show(News::Watched(watched))
        });
        view.close();
        (view.was_left(), false)
    } else {
        let mut log = Log::new(args, known.facts.len());
        started.fleet.watch(args.interval, LOST_AFTER, &mut |watched| {
            known.watched(&watched);
            log.watched(&known.facts, &watched)
        });
        (false, log.is_done)
    };
    let Known { facts, lost, page } = known;
    if let Some(page) = page {
        page.finish();
    }
    match () {
        () if was_left || lines_end => Ok(()),
        () if lost.len() == facts.len() => Err(Failure::run(format!(
            "every host is lost:\n{}\nlook at them and start again",
            lost.into_values().collect::<Vec<_>>().join("\n")
        ))),
        () => Err(Failure::Interrupted("stopped".to_owned())),
    }
}

struct Known {
    facts: Vec<HostFacts>,
    /// Those that are away, each in a line: a screen takes its messages with it.
    lost: BTreeMap<u32, String>,
    page: Option<WatchedPage>,
}

impl Known {
    fn watched(&mut self, watched: &Watched) {
        match watched {
            Watched::Lost { host, why } => {
                self.lost.insert(*host, lines::lost_line(name(&self.facts, *host), why));
            }
            Watched::Returned { host, facts } => {
                self.lost.remove(host);
                if let Some(known) = self.facts.get_mut(*host as usize) {
                    known.clone_from(facts);
                }
            }
            Watched::Counters(_) | Watched::Found(_) => {}
        }
        self.page.iter_mut().for_each(|page| page.watched(watched));
    }
}

fn name(facts: &[HostFacts], host: u32) -> &str {
    facts.get(host as usize).map_or("", |facts| &facts.hostname)
}

struct Log {
    is_json: bool,
    with_cores: bool,
    left: Vec<u64>,
    is_there: Vec<bool>,
    ends: bool,
    is_done: bool,
}

impl Log {
    fn new(args: &WatchArgs, hosts: usize) -> Log {
        Log {
            is_json: args.json,
            with_cores: args.cores,
            left: vec![args.count.unwrap_or(u64::MAX); hosts],
            is_there: vec![true; hosts],
            ends: args.count.is_some(),
            is_done: false,
        }
    }

    /// Writes what a host told. False when that was the last.
    fn watched(&mut self, facts: &[HostFacts], watched: &Watched) -> bool {
        let now = fleet::unix_ns();
        let goes_on = match watched {
            Watched::Counters(sample) => self.counters(facts, now, sample),
            Watched::Found(found) => {
                let name = found.host.map_or("", |host| name(facts, host));
                self.write(
                    found.unix_ns,
                    &lines::found_line(name, found),
                    &lines::found_object(name, found),
                )
            }
            Watched::Lost { host, why } => {
                self.note(*host, false);
                let name = name(facts, *host);
                self.write(now, &lines::lost_line(name, why), &lines::lost_object(name, now, why))
            }
            Watched::Returned { host, .. } => {
                self.note(*host, true);
                let name = name(facts, *host);
                self.write(now, &lines::returned_line(name), &lines::returned_object(name, now))
            }
        };
        // Who is away when the others are through is not waited for.
        let mut there = self.left.iter().zip(&self.is_there).filter(|(_, is_there)| **is_there);
        let (is_any_there, is_told) =
            (self.is_there.contains(&true), there.all(|(left, _)| *left == 0));
        self.is_done = !goes_on || (self.ends && is_any_there && is_told);
        !self.is_done && (is_any_there || !self.ends)
    }

    fn note(&mut self, host: u32, is_there: bool) {
        if let Some(slot) = self.is_there.get_mut(host as usize) {
            *slot = is_there;
        }
    }

    /// Writes a sample; false when nobody reads it.
    fn counters(&mut self, facts: &[HostFacts], unix_ns: u64, sample: &CounterSample) -> bool {
        let Some(host) = facts.get(sample.host as usize) else { return true };
        match self.left.get_mut(sample.host as usize) {
            // It told all that was asked for, and others did not yet.
            None | Some(0) => return true,
            Some(left) => *left -= 1,
        }
        for note in &sample.notes {
            eprintln!("note: {}: {note}", host.hostname);
        }
        let told = figures::figures(sample, host);
        let object = match self.is_json {
            true => lines::object(host, unix_ns, sample, self.with_cores),
            false => serde_json::Value::Null,
        };
        self.write(unix_ns, &lines::line(&host.hostname, &told), &object)
    }

    fn write(&self, unix_ns: u64, line: &str, object: &serde_json::Value) -> bool {
        let mut out = std::io::stdout().lock();
        let written = match self.is_json {
            true => writeln!(out, "{}", printable::json(&object.to_string())),
            false => writeln!(out, "{}  {line}", words::utc(unix_ns)),
        };
        written.and_then(|()| out.flush()).is_ok()
    }
}

fn replay(args: &WatchArgs, run: &Path) -> Result<(), Failure> {
    let file = InTime::of(run).map_err(Failure::run_file)?;
    let record = file.record();
    let facts = record.testbed.clone();
    let state = State::new(Subject::Replay, &facts, Some(&record.plan));
    let mut replay = Replay::new(&record.clone(), Film(file), args.speed);
    if !has_screen(args) {
        let mut log = Log::new(args, facts.len());
        // As fast as it is read: nobody waits for a clock in a pipe.
        let told = replay.each_counter(|unix_ns, sample| {
            log.counters(&facts, unix_ns, sample) && log.left.iter().any(|left| *left > 0)
        });
        return told.map_err(Failure::run_file);
    }
    let title = run
        .file_name()
        .map_or_else(|| "a run".to_owned(), |name| name.to_string_lossy().into_owned());
    let is_stopped = signals::flag();
    view::play(state, &title, replay, is_stopped.clone()).map_err(|why| match why {
        Unplayed::Screen(error) => no_screen(&error),
        Unplayed::File(error) => Failure::run_file(error),
    })?;
    match is_stopped.load(std::sync::atomic::Ordering::SeqCst) {
        true => Err(Failure::Interrupted("stopped".to_owned())),
        false => Ok(()),
    }
}
