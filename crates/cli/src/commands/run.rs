//! `plimsoll run`: plan, record, show, report.

use super::events_of_run::{is_worth_a_record, show_live};
use super::growing::Growing;
use super::verdict_gate::{self, gate};
use super::views::Views;
use super::{attach, plan, print_exactly, print_json};
use crate::args::{How, RunArgs};
use crate::asked::suite_and_targets::{self, Asked};
use crate::failure::{Failure, REQUESTS_FAILED};
use crate::files::outputs::{self, Kind};
use crate::files::run_file_disk;
use crate::hosts::Hosts;
use crate::machines::{self, Guard};
use crate::marks::{Listener, stage_names};
use crate::terminal::run_overview::RunOverview;
use crate::terminal::screen::{self, Stream};
use crate::terminal::view::{Labels, View};
use crate::told;
use crate::web::Tls;
use analysis::warm::Warmth;
use fleet::Ending;
use live::terminal::{Live, Mode};
use live::watch::{State, Subject};
use model::plan::PlannedTarget;
use model::testbed::HostFacts;
use model::{Bytes, NoteKind, Objective, Plan, Record, RunEnd};
use report::surfaces::table::TableStyle;
use report::{surfaces, topics};
use std::cell::RefCell;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// So much may be written to a layout of our own choice without a word.
const UNTOLD: Bytes = Bytes::gib(4);

pub(crate) fn run(args: &mut RunArgs) -> Result<ExitCode, Failure> {
    let (asked, _machines) = asked_and_made(args)?;
    let args: &RunArgs = args;
    let objective = asked.spec.objective.objective();
    if args.prove && objective.is_none() {
        return Err(Failure::usage(
            "--prove: the suite has no [objective]; write one, such as --set \
             objective.keep=\"p99 < 5ms, errors = 0\"",
        ));
    }
    let started = plan::start_with_late(&args.work, &asked)?;
    let (plan, hosts) = plan::decide_to_run(&args.work, &asked, &started)?;
    refuse_imagined(&plan)?;
    refuse_taken(args)?;
    plan::tell_of_earlier(&hosts);
    carry_out(args, started, plan, &hosts, objective.as_ref())
}

pub(super) fn carry_out(
    args: &RunArgs,
    started: Hosts,
    mut plan: Plan,
    hosts: &[HostFacts],
    objective: Option<&Objective>,
) -> Result<ExitCode, Failure> {
    probe::block_trace::remove_left();
    let out = out_file(args, &plan);
    plan.notes.extend(run_file_disk::note(&plan, hosts, &out));
    plan.notes.extend(machines::note(&args.work.hosts));
    if !args.how.quiet {
        eprintln!("{}", topics::plan::render_within(&plan, hosts, screen::room_of(Stream::Error)));
    } else if args.work.quotable && plan.prepare_bytes() > UNTOLD {
        // Nobody chose so much in so many words.
        eprintln!("--quotable: prepare writes {}", plan.prepare_bytes());
    }
    let (record, end) = carried(args, started, &plan, hosts, &out)?;
    let code = exit(&record, end, &out)?;
    if args.fail_if.is_empty() && objective.is_none() {
        return Ok(code);
    }
    let asked = objective.map(|objective| verdict_gate::Asked { objective, proves: args.prove });
    let broken = asked.map(|asked| verdict_gate::objective(asked, &record)).transpose()?.flatten();
    Ok(gate(&args.fail_if, &record).or(broken).unwrap_or(code))
}

/// What was asked for, with the machines that are to carry it, where they are to be made. They are
/// removed with their guard.
pub(super) fn asked_and_made(args: &mut RunArgs) -> Result<(Asked, Option<Guard>), Failure> {
    Tls::check(&args.share.page.tls)?;
    let asked = suite_and_targets::asked(&args.work)?;
    // Before machines are made for nothing; of other runs, hosts and targets are looked at first.
    if args.work.machines.provider.is_some() {
        refuse_taken(args)?;
    }
    let made = machines::for_run(&mut args.work, &asked.spec, args.how.quiet, args.keep_vms)?;
    // Their disks are the targets.
    let mut asked = if args.work.machines.provider.is_some() {
        suite_and_targets::asked(&args.work)?
    } else {
        asked
    };
    if let Some(out) = &args.out {
        asked.run_file_in = run_file_disk::folder_of(out).to_owned();
    }
    Ok((asked, made))
}

pub(crate) struct ToRun<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) hosts: &'a [HostFacts],
    pub(crate) stages: &'a [u32],
    pub(crate) out: &'a Path,
    /// Counters of hosts where no agent runs, to be attached at the end.
    pub(crate) counters_from: Option<&'a Path>,
}

pub(crate) struct Display {
    pub(crate) how: How,
    pub(crate) views: Views,
}

pub(super) fn carried(
    args: &RunArgs,
    started: Hosts,
    plan: &Plan,
    hosts: &[HostFacts],
    out: &Path,
) -> Result<(Record, RunEnd), Failure> {
    let stages: Vec<u32> = (0..plan.stages.len() as u32).collect();
    let (version, began_ns) = (env!("CARGO_PKG_VERSION"), fleet::unix_ns());
    let marker = &started.fleet.marker();
    let whole = RunOverview { plan, hosts, version, began_ns, marker };
    let views = Views::start(&args.share, &whole)?;
    let writer =
        store::Writer::create(out, plan, hosts, version, began_ns).map_err(Failure::run)?;
    let counters_from = args.counters_from.as_deref();
    let to_run = ToRun { plan, hosts, stages: &stages, out, counters_from };
    perform(started, &to_run, writer, Display { how: args.how, views })
}

/// Runs these stages of the plan into the run file, and reports.
pub(super) fn perform(
    started: Hosts,
    to_run: &ToRun<'_>,
    writer: store::Writer,
    mut display: Display,
) -> Result<(Record, RunEnd), Failure> {
    let marks = Listener::start(to_run.out, started.fleet.marker(), stage_names(to_run.plan));
    let (ending, began) = record(started, to_run, writer, &mut display)?;
    drop(marks);
    let file = to_run.counters_from.filter(|_| began);
    let attached = file.map(|file| attach::into(to_run.out, file)).transpose();
    // Without them the run is whole, and reported.
    let record = finished(display, to_run.out, &ending, began)?;
    attached.inspect_err(|_| {
        let out = to_run.out.display();
        eprintln!("note: {out} is whole, without them; `plimsoll attach {out} FILE` adds them");
    })?;
    Ok((record, ending.end))
}

fn finished(display: Display, out: &Path, ending: &Ending, began: bool) -> Result<Record, Failure> {
    let Display { how, views } = display;
    for left in &ending.left {
        eprintln!("warning: {left}");
    }
    if !began {
        return Err(nothing_began(out, &ending.end));
    }
    let record = store::read_judged(out).map_err(Failure::run)?;
    show(how, views.takes_stdout(), &record, out)?;
    views.finish(&record);
    Ok(record)
}

/// Refuses a run file that is there already before a plan is shown; [`store::Writer::create`] is
/// what makes sure of it later.
pub(super) fn refuse_taken(args: &RunArgs) -> Result<(), Failure> {
    match &args.out {
        Some(out) if out.symlink_metadata().is_ok() => {
            Err(Failure::usage(format!("{}", store::StoreError::Exists(out.clone()))))
        }
        _ => Ok(()),
    }
}

pub(super) fn out_file(args: &RunArgs, plan: &Plan) -> PathBuf {
    args.out.clone().unwrap_or_else(|| PathBuf::from(format!("plimsoll-{}.plimsoll", plan.run_id)))
}

/// A plan for clients that are not at hand would load this host with another's share.
pub(super) fn refuse_imagined(plan: &Plan) -> Result<(), Failure> {
    if plan.notes.iter().all(|note| note.kind() != NoteKind::ClientsImagined) {
        return Ok(());
    }
    Err(Failure::usage(
        "[clients] (clients.count, clients.memory) is for hosts that are not at \
                hand, which cannot be loaded; leave it out, or look at the plan with `plimsoll \
                plan`",
    ))
}

/// Runs the plan into the run file. The flag says whether any stage began.
fn record(
    started: Hosts,
    to_run: &ToRun<'_>,
    mut writer: store::Writer,
    display: &mut Display,
) -> Result<(Ending, bool), Failure> {
    let ToRun { plan, hosts, stages, .. } = *to_run;
    let Display { how, views } = display;
    let how = *how;
    let mut view = view(&started, plan, hosts, how)?;
    let mut live = Live::new(if view.is_some() { Mode::Quiet } else { mode(how) }, plan);
    if plan.grows() {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let record = Record::new(plan.clone(), hosts.to_vec(), version, fleet::unix_ns());
        let mut growing =
            Growing { writer, view, views, live, record, warmth: Warmth::default(), began: false };
        let ending = started.fleet.direct(plan, stages, how.keep_data, &mut growing);
        let began = growing.finish()?;
        return Ok((ending, began));
    }
    let mut began = false;
    let mut below = machines::Below::begin(plan);
    let warmth = RefCell::new(Warmth::default());
    let ending = started.fleet.run(
        plan,
        stages,
        how.keep_data,
        &|rounds| warmth.borrow().is_settled(rounds),
        &mut |events| {
            events.iter().for_each(|event| warmth.borrow_mut().take(plan, event));
            let noted = below.as_mut().and_then(|below| below.with_note(events));
            let events = noted.as_deref().unwrap_or(events);
            let told = told::with_figures(plan, events);
            let events = told.as_deref().unwrap_or(events);
            began |= events.iter().any(is_worth_a_record);
            events.iter().for_each(|event| show_live(&mut view, &mut live, event));
            writer.append_all(events).map_err(|error| error.to_string())?;
            events.iter().for_each(|event| views.event(plan, event));
            Ok(())
        },
    );
    // What comes now is for the terminal as it was.
    drop(view);
    writer.finish().map_err(Failure::run)?;
    Ok((ending, began))
}

/// The view that was asked for. Where standard error is no terminal there is none, as there is no
/// bar, and that is said.
fn view(
    started: &Hosts,
    plan: &Plan,
    hosts: &[HostFacts],
    how: How,
) -> Result<Option<View>, Failure> {
    if !how.watch {
        return Ok(None);
    }
    if !std::io::stderr().is_terminal() {
        eprintln!(
            "note: --watch needs a terminal on standard error; here, progress is printed as lines"
        );
        return Ok(None);
    }
    let state = State::new(Subject::Run, hosts, Some(plan));
    let labels = Labels {
        title: format!("plimsoll run {}", plan.suite),
        status: format!("every {}", plan.interval),
    };
    View::open(Stream::Error, state, labels, started.fleet.interrupter()).map(Some).map_err(
        |error| {
            Failure::run(format!(
                "the terminal cannot be used as a screen: {error}; run it without --watch"
            ))
        },
    )
}

fn mode(how: How) -> Mode {
    match (how.quiet, std::io::stderr().is_terminal()) {
        (true, _) => Mode::Quiet,
        (false, true) => Mode::Terminal(screen::room_of(Stream::Error)),
        (false, false) => Mode::Lines,
    }
}

/// A run that was refused at the last moment leaves no run file behind: there is nothing in it.
fn nothing_began(out: &Path, end: &RunEnd) -> Failure {
    // If it cannot be removed, it is a small file that says the same.
    let _ = std::fs::remove_file(out);
    match end {
        RunEnd::Failed(why) => Failure::target(why),
        RunEnd::Panicked(why) => bug(why),
        _ => Failure::Interrupted("stopped before anything was loaded".to_owned()),
    }
}

/// Table or JSON, and the HTML page beside the run file.
pub(super) fn show(
    how: How,
    stdout_is_taken: bool,
    record: &Record,
    out: &Path,
) -> Result<(), Failure> {
    let page = out.with_extension("html");
    let written =
        outputs::write(&page, Kind::Page, false, surfaces::html::render(&[record]).as_bytes());
    let is_shown = !how.json && !stdout_is_taken;
    let shown = TableStyle {
        notes: how.notes(),
        room: if is_shown { screen::room() } else { None },
        in_colour: is_shown && screen::in_colour(),
    };
    let table = surfaces::table::results_within(record, None, shown);
    if how.json {
        eprintln!("{table}");
        print_json(&surfaces::json::results(record, None))?;
    } else if stdout_is_taken {
        eprintln!("{table}");
    } else {
        print_exactly(&format!("{table}\n"))?;
    }
    match written {
        Ok(()) => eprintln!("report    {}\nrun file  {}", page.display(), out.display()),
        Err(error) => {
            // Its remedies are those of `plimsoll report`.
            let why = error.what();
            let run = out.display();
            eprintln!(
                "warning: {why}; the run is kept in {run}: try `plimsoll report {run} --out \
                 ELSEWHERE.html`"
            );
        }
    }
    Ok(())
}

fn bug(why: &str) -> Failure {
    let text = "a bug in Plimsoll ended the run; what was recorded until then is kept";
    Failure::Bug(format!("error: {text}: {why}; please report it with the run file"))
}

/// How an interrupted run goes on. Its files are gone: where they are written again is said anew.
fn way_on(record: &Record, out: &Path) -> String {
    if machines::are_to_go() {
        return "; its machines go with it: run it again, with --keep-vms to be able to go on"
            .to_owned();
    }
    let mut paths: Vec<&str> = Vec::new();
    for target in record.plan.hosts.iter().flat_map(|host| &host.targets) {
        if matches!(target.kind, PlannedTarget::Directory { .. })
            && !paths.contains(&target.path.as_str())
        {
            paths.push(&target.path);
        }
    }
    let targets: String = paths.iter().map(|path| format!(" --target {path}")).collect();
    format!("; `plimsoll resume {}{targets}` goes on with it", out.display())
}

pub(super) fn exit(record: &Record, end: RunEnd, out: &Path) -> Result<ExitCode, Failure> {
    match end {
        RunEnd::Failed(why) => Err(Failure::run(why)),
        RunEnd::Panicked(why) => Err(bug(&why)),
        RunEnd::Interrupted => {
            let text = "interrupted: the figures above are a part of the run";
            // A search chooses its next point by those before it, and cannot be taken up in the
            // middle.
            let way_on = if record.plan.grows() { String::new() } else { way_on(record, out) };
            Err(Failure::Interrupted(format!("{text}{way_on}")))
        }
        RunEnd::Complete => {
            let failed = analysis::issued(record).iter().any(|issued| issued.errors > 0);
            Ok(if failed { ExitCode::from(REQUESTS_FAILED) } else { ExitCode::SUCCESS })
        }
    }
}
