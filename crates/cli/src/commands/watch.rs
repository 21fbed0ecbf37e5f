//! `plimsoll watch`: the hosts as they are, without any load; or a recorded run, played again.

use crate::args::WatchArgs;
use crate::failure::Failure;
use crate::screen::Stream;
use crate::view::{self, Labels, News, View};
use crate::web::{WatchedPage, listen_address};
use crate::hosts::{self, Absence, Asked, Least, Terms};
use crate::signals::{self, Work};
use fleet::Watched;
use live::watch::{Replay, State, Subject, figures, lines};
use model::testbed::HostFacts;
use model::{CounterSample, Nanos, printable};
use report::ground::words;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// A host that is only watched has this long to give a sign of life.
const LOST_AFTER: Nanos = Nanos::seconds(10);
/// The kernel counts CPU time in steps of 10 ms: over less than this, shares are noise.
const LEAST: Nanos = Nanos::millis(100);
/// More is no watching.
const MOST: Nanos = Nanos::seconds(3600);

/// Shows what the kernels count.
pub fn watch(args: &WatchArgs) -> Result<ExitCode, Failure> {
    match &args.run {
        Some(run) if args.share.serve.is_some() => Err(Failure::Usage(both(run))),
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
    Failure::Run(format!("error: the terminal cannot be used as a screen: {error}; {remedy}"))
}

fn live(args: &WatchArgs) -> Result<ExitCode, Failure> {
    if !(LEAST..=MOST).contains(&args.interval) {
        let what =
            format!("error: --interval {} is out of range; write {LEAST} to {MOST}", args.interval);
        return Err(Failure::Usage(what));
    }
    let terms = Terms::look(LOST_AFTER, Absence::Kept(Least::ONE));
    let no_targets = |names: &[String]| Ok(vec![Vec::new(); names.len()]);
    let asked = Asked { terms, patience: LOST_AFTER };
    let started = hosts::start(Work::Look, &args.hosts, &no_targets, asked)?;
    let mut facts = hosts::facts_of(&started, hosts::may_be_one(&args.hosts))?;
    let page = WatchedPage::start(&args.share, &facts, args.interval)?;
    let mut lost = Vec::new();
    let mut note = |watched: &Watched| {
        note_loss(&mut lost, &facts, watched);
        page.iter().for_each(|page| page.watched(watched));
    };
    let (was_left, lines_end) = if has_screen(args) {
        let state = State::new(Subject::Hosts, &facts, None);
        let labels = Labels {
            title: "plimsoll watch".to_owned(),
            status: format!("every {}", args.interval),
        };
        let interrupter = started.fleet.interrupter();
        let mut view = View::open(Stream::Out, state, labels, interrupter)
            .map_err(|error| no_screen(&error))?;
        started.fleet.watch(args.interval, LOST_AFTER, &mut |watched| {
            note(&watched);
            view.show(News::Watched(watched))
        });
        view.close();
        (view.was_left(), false)
    } else {
        let mut log = Log::new(args, facts.len());
        started.fleet.watch(args.interval, LOST_AFTER, &mut |watched| {
            note(&watched);
            log.watched(&facts, &watched)
        });
        (false, log.is_done)
    };
    if let Some(page) = page {
        page.finish();
    }
    match () {
        () if was_left || lines_end => Ok(ExitCode::SUCCESS),
        () if lost.len() == facts.len() => Err(Failure::Run(format!(
            "error: every host is lost:\n{}\nlook at them and start again",
            lost.join("\n")
        ))),
        () => Err(Failure::Interrupted("stopped".to_owned())),
    }
}

/// Kept for the end: a screen takes its messages with it.
fn note_loss(lost: &mut Vec<String>, facts: &[HostFacts], watched: &Watched) {
    if let Watched::Lost { host, why } = watched {
        lost.push(lines::lost_line(name(facts, *host), why));
    }
}

fn name(facts: &[HostFacts], host: u32) -> &str {
    facts.get(host as usize).map_or("", |facts| &facts.hostname)
}

/// Lines for a log or a script.
struct Log {
    is_json: bool,
    /// JSON has every logical CPU, too.
    with_cores: bool,
    /// Intervals that each host still has to tell; `None` for a host that is lost.
    left: Vec<Option<u64>>,
    /// All that was asked for was written, or nobody reads it any more.
    is_done: bool,
}

impl Log {
    fn new(args: &WatchArgs, hosts: usize) -> Log {
        let left = vec![Some(args.count.unwrap_or(u64::MAX)); hosts];
        Log { is_json: args.json, with_cores: args.cores, left, is_done: false }
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
                if let Some(left) = self.left.get_mut(*host as usize) {
                    *left = None;
                }
                let name = name(facts, *host);
                self.write(now, &lines::lost_line(name, why), &lines::lost_object(name, now, why))
            }
        };
        let all_told = self.left.iter().any(Option::is_some)
            && self.left.iter().flatten().all(|left| *left == 0);
        self.is_done = !goes_on || all_told;
        !self.is_done
    }

    /// Writes a sample; false when nobody reads it.
    fn counters(&mut self, facts: &[HostFacts], unix_ns: u64, sample: &CounterSample) -> bool {
        let Some(host) = facts.get(sample.host as usize) else { return true };
        match self.left.get_mut(sample.host as usize) {
            // It told all that was asked for, and others did not yet.
            None | Some(None | Some(0)) => return true,
            Some(Some(left)) => *left -= 1,
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

fn replay(args: &WatchArgs, run: &Path) -> Result<ExitCode, Failure> {
    let record = super::saved::read(run)?;
    let facts = record.testbed.clone();
    if !has_screen(args) {
        let replay = Replay::new(record, args.speed);
        let mut log = Log::new(args, facts.len());
        // As fast as it is read: nobody waits for a clock in a pipe.
        let _ = replay.samples().all(|(unix_ns, sample)| log.counters(&facts, unix_ns, sample));
        return Ok(ExitCode::SUCCESS);
    }
    let state = State::new(Subject::Replay, &facts, Some(&record.plan));
    let title = run
        .file_name()
        .map_or_else(|| "a run".to_owned(), |name| name.to_string_lossy().into_owned());
    let is_stopped = signals::flag();
    view::play(state, &title, Replay::new(record, args.speed), is_stopped.clone())
        .map_err(|error| no_screen(&error))?;
    match is_stopped.load(std::sync::atomic::Ordering::SeqCst) {
        true => Err(Failure::Interrupted("stopped".to_owned())),
        false => Ok(ExitCode::SUCCESS),
    }
}
