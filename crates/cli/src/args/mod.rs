//! Every argument, declared once: parser, help, completions and man page come from here.

mod afterwards;
mod attach;
mod beside;
mod canary;
mod command_line;
mod daily;
pub(crate) mod examples;
mod fio_words;
pub(crate) mod gate;
mod hosts;
mod import;
mod lab;
mod machines;
mod places;
mod prediction;
mod tls;
mod trace;
mod work;

pub(crate) use afterwards::{CeilingArgs, CompareArgs, ShowArgs, TrendArgs, VerifyArgs};
pub(crate) use attach::AttachArgs;
pub(crate) use beside::BesideArgs;
pub(crate) use canary::{CanaryArgs, CanaryCommand, CanaryOutput, OnHarm};
pub(crate) use command_line::parse;
pub(crate) use daily::daily;
pub(crate) use gate::{GateArgs, GateOutput};
pub(crate) use hosts::HostArgs;
pub(crate) use import::ImportArgs;
pub(crate) use lab::{LabArgs, LabCommand};
pub(crate) use machines::{MachineArgs, VmsActArgs, VmsArgs, VmsCommand, VmsImageArgs, VmsUpArgs};
pub(crate) use places::{GivenUpArg, TargetArg};
pub(crate) use prediction::{CalibrateArgs, PredictArgs};
pub(crate) use tls::{PageArgs, TlsArgs};
pub(crate) use trace::{DistilArgs, Only, RecordArgs, ReplayArgs, ScaleSpace, Split, TraceArgs};
pub(crate) use work::{Pattern, QuickArgs, WorkArgs};

use crate::web::{Token, listen_address};
use analysis::verdict::Gate;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use live::watch::Speed;
use model::network::{MOST_STREAMS, Subnet};
use model::search::SearchAxis;
use model::{Bytes, Nanos, Objective};
use report::surfaces::table::Notes;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The version, with the commit and the machine that it was built for.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("PLIMSOLL_BUILD"), ")");

/// Finds the load line of a storage cluster, and says whether the figure can be trusted.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version = VERSION, about, max_term_width = 100,
    after_help = examples::of("exit codes"), disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load a target and report what it carries.
    Run(Box<RunArgs>),
    /// Find the highest rate that meets an objective, such as p99 < 2 ms.
    Loadline(Box<LoadlineArgs>),
    /// Run a tool of yours, and measure what it does by the kernel's counters.
    ///
    /// Its own figures stand beside those of the devices.
    Beside(Box<BesideArgs>),
    /// Show what a run would do; touches nothing.
    ///
    /// Stages, time, and bytes to write. Hosts that the command line names are asked what they are;
    /// with --provider, also the hypervisors that --set vms.… names. Nothing that the suite alone
    /// names is started or asked.
    Plan(Box<PlanArgs>),
    /// Watch the kernel counters of hosts, or replay a recorded run.
    Watch(Box<WatchArgs>),
    /// Show this host's hardware, and the layers below a target; touches nothing.
    Inventory(InventoryArgs),
    /// Measure what TCP carries between hosts, without any storage.
    ///
    /// It loads the network for a while: each pair there, back, and both ways at once.
    Network(NetworkArgs),
    /// List the built-in suites, or print one as a start for yours.
    Suites(SuitesArgs),
    /// Turn jobs of other tools into suites, and show their results.
    ///
    /// It reports what became of each option, and what was lost.
    Import(ImportArgs),
    /// Record the requests that a block device is sent, as a trace.
    ///
    /// It reads the kernel's tracepoints, and needs root.
    Record(RecordArgs),
    /// Send the requests of a recorded trace at their own instants, and report how true that was.
    ///
    /// It reads the traces of other tools, too.
    Replay(Box<ReplayArgs>),
    /// Turn a trace into a suite, and state its distance from the trace.
    Distil(DistilArgs),
    /// Annotate a running run.
    ///
    /// Every chart shows the mark, and the report shows what changed after it.
    Mark(crate::commands::MarkArgs),
    /// Attach counters of hosts where no agent runs, from a file, to a run.
    ///
    /// Limits, tables and the page of the new run file show them.
    Attach(AttachArgs),
    /// Write the report of runs: a page, or Markdown with charts.
    Report(crate::commands::ReportArgs),
    /// Export a run as tables: CSV or JSON.
    Export(crate::commands::ExportArgs),
    /// Serve the reports of runs as web pages, until Ctrl-C.
    Serve(ServeArgs),
    /// Compare runs: what differs, by how much, and how sure that is.
    Compare(CompareArgs),
    /// Judge a change in a pipeline: no change, regression, improvement, or cannot tell.
    ///
    /// It runs base and head in turns, and stops as soon as it knows.
    Gate(Box<GateArgs>),
    /// Load a target a little for weeks, and alert when an objective is at risk.
    ///
    /// It has an error budget, and takes its load away where others may suffer.
    Canary(Box<CanaryArgs>),
    /// Follow figures over many runs, and find where a level changed.
    Trend(TrendArgs),
    /// Show a run's results as a table or JSON.
    Show(ShowArgs),
    /// Compute the most that a described cluster can carry, and which layer limits it.
    Ceiling(Box<CeilingArgs>),
    /// Fit a described cluster to measured rows, and predict the rows that are held out.
    Calibrate(Box<CalibrateArgs>),
    /// Predict what a described cluster carries of a suite, with intervals.
    Predict(Box<PredictArgs>),
    /// Check the data that a run left, after --keep-data or a crash.
    ///
    /// It finds damage, and acknowledged writes that are missing.
    Verify(VerifyArgs),
    /// Resume a run that was cut short.
    ///
    /// It measures every point that is not complete, on the same hosts and layout.
    Resume(Box<ResumeArgs>),
    /// Take over a run whose coordinator is gone, and go on with it.
    ///
    /// Its agents hold out for `fleet.hold`, and tell what they kept.
    #[command(after_help = examples::of("take"))]
    Take(Box<ResumeArgs>),
    /// Remove the files that runs left, and nothing else.
    Clean(CleanArgs),
    /// Make, list and remove virtual machines that carry load.
    Vms(VmsArgs),
    /// Make, break, heal and remove a replicated cluster that this machine plays.
    Lab(LabArgs),
    /// Serve a coordinator on standard input and output; started by it.
    Agent(AgentArgs),
    /// Print a completion script for a shell.
    #[command(after_help = examples::of("completions"))]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the help of a command, or a page of the guide; `all` lists both.
    #[command(after_help = examples::of("help"))]
    Help {
        /// A command, a topic, or `all`.
        #[arg(value_name = "COMMAND|TOPIC")]
        words: Vec<String>,
    },
    /// Print the man page, or write one page for each command.
    #[command(after_help = examples::of("man"))]
    Man {
        /// Where to write the pages of all commands; without it, the main page goes to standard
        /// output.
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("run short"), after_long_help = examples::of("run"))]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) work: WorkArgs,

    /// Run file [default: plimsoll-SUITE-TIME.plimsoll].
    ///
    /// The report appears beside it, as .html.
    #[arg(short, long, value_name = "FILE.plimsoll", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    /// Exit with code 6 if the verdict is below this level.
    ///
    /// Such as "verdict < quotable"; the levels are not-a-measurement, indicative and quotable.
    #[arg(long, value_name = "CONDITION", help_heading = "Output")]
    pub(crate) fail_if: Vec<Gate>,

    // A table of suites is named as it is written.
    #[allow(rustdoc::broken_intra_doc_links)]
    /// Make each condition of the suite's [objective] fail once, after the run.
    ///
    /// The figures are made worse until it does. A condition that never fails is an error.
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    pub(crate) prove: bool,

    /// At the end, attach the counters in this file.
    ///
    /// They are of hosts where no agent runs (`plimsoll help attach`).
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "Output")]
    pub(crate) counters_from: Option<PathBuf>,

    /// Keep the machines of --provider after the run.
    ///
    /// `plimsoll vms down` removes them.
    #[arg(long, hide_short_help = true, requires = "provider", help_heading = "Output")]
    pub(crate) keep_vms: bool,

    #[command(flatten)]
    pub(crate) how: How,

    #[command(flatten)]
    pub(crate) share: ShareArgs,
}

impl RunArgs {
    pub(crate) fn of_replay(args: &ReplayArgs) -> RunArgs {
        let work = WorkArgs {
            sets: args.sets.clone(),
            buffered: args.buffered,
            existing: args.existing,
            hosts: args.hosts.clone(),
            words: args.words.clone(),
            ..WorkArgs::default()
        };
        let (out, how, share) = (args.out.clone(), args.how, args.share.clone());
        let (fail_if, counters_from) = (Vec::new(), None);
        RunArgs { work, out, fail_if, prove: false, counters_from, how, share, keep_vms: false }
    }
}

#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct How {
    /// Keep the run's files on the target.
    #[arg(long)]
    pub(crate) keep_data: bool,

    /// Print one JSON object (docs/reference/json.md).
    ///
    /// It ends standard output; everything else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,

    /// Show the run full screen; `?` lists the keys.
    ///
    /// Beside the load, it shows what every host's kernel counts.
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) watch: bool,

    /// Print only the results.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Print all notes and the legend.
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,
}

impl How {
    pub(crate) fn notes(self) -> Notes {
        if self.explain || self.json { Notes::All } else { Notes::Few }
    }
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Sharing")]
pub(crate) struct ShareArgs {
    #[command(flatten)]
    pub(crate) page: PageArgs,

    /// Serve the page until Ctrl-C, also after the run.
    #[arg(long, hide_short_help = true, requires = "serve")]
    pub(crate) keep_serving: bool,

    /// Write each event of the run as a line of JSON.
    ///
    /// "-" is standard output; the table goes to standard error then (docs/reference/json.md).
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
}

pub(crate) const DEFAULT_SERVE: &str = "127.0.0.1:9750";

#[derive(Debug, Args)]
#[command(after_help = examples::of("serve"))]
pub(crate) struct ServeArgs {
    /// The run files.
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,

    /// Where to serve. Port 0 is any free one.
    #[arg(long, value_name = "IP:PORT", default_value = DEFAULT_SERVE,
        value_parser = listen_address)]
    pub(crate) address: SocketAddr,

    /// Show them only to those who have this token; required where other machines could see them.
    /// $PLIMSOLL_TOKEN does the same and is not seen in the list of processes.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<Token>,

    /// Serve by TLS (https) with this certificate: a PEM file, the page's own first, then those
    /// that signed it. It is read again when it changes.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// The private key of --tls-cert, as PEM without a passphrase.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("loadline"))]
pub(crate) struct LoadlineArgs {
    /// What has to hold, with commas between: [read|write|trim|all] FIGURE < LIMIT. Figures: mean,
    /// max, p50 to p99.99 (at most, with a unit), errors (a count or a share), iops and bandwidth
    /// (at least).
    #[arg(long, value_name = "OBJECTIVE")]
    pub(crate) objective: Objective,

    /// Along what to search: rate (the load line), depth (of each worker, from 1 up to the
    /// suite's), size (bytes of the layout that are loaded, up to all of it: where a cache ends)
    /// or workers (of all hosts together, up to the suite's); or map: where on the grid of a
    /// sweep of two rates the objective holds, from a tenth of its points. Along rate, each worker
    /// may have 256 requests outstanding even where --iodepth is less, so that the target is the
    /// limit and not the depth.
    #[arg(long, value_name = "AXIS", default_value = "rate", value_parser = along)]
    pub(crate) along: SearchAxis,

    /// The workload of a suite that has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}

fn along(text: &str) -> Result<SearchAxis, String> {
    let found = SearchAxis::ALL.iter().copied().find(|along| along.word() == text);
    found.ok_or_else(|| "there is no such axis; write rate, depth, size, workers or map".to_owned())
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("plan"))]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) work: WorkArgs,

    /// Print the whole plan as JSON, down to each worker's byte ranges.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("watch"))]
pub(crate) struct WatchArgs {
    /// A run file to play again, instead of hosts as they are now.
    #[arg(value_name = "RUN", conflicts_with_all = ["hosts", "slurm", "kubernetes", "interval"])]
    pub(crate) run: Option<PathBuf>,

    /// How often each host tells, 100ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) interval: Nanos,

    /// How many times faster than it was to play a run, 0.1 to 10000.
    #[arg(long, value_name = "TIMES", default_value = "1", requires = "run")]
    pub(crate) speed: Speed,

    /// Print so many intervals of each host as lines, and end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,

    /// Print one JSON object a line for each host and interval (docs/reference/json.md) instead of
    /// a screen.
    #[arg(long)]
    pub(crate) json: bool,

    /// With --json: each logical CPU of each host, too.
    #[arg(long, requires = "json")]
    pub(crate) cores: bool,

    #[command(flatten)]
    pub(crate) share: PageArgs,

    #[command(flatten)]
    pub(crate) hosts: HostArgs,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("inventory"))]
pub(crate) struct InventoryArgs {
    /// Paths whose layers are to be shown, down to the disks.
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,

    /// Print everything that is known as JSON, one entry for each host (docs/reference/json.md).
    #[arg(long)]
    pub(crate) json: bool,

    /// Write a first draft of a testbed file for `plimsoll ceiling`: these hosts as its storage
    /// nodes, and what no kernel knows as questions in comments.
    /// The drive below a TARGET is one for data.
    #[arg(long, conflicts_with = "json")]
    pub(crate) draft: bool,

    /// Where to write the draft [default: standard output]. A file that exists is never
    /// overwritten.
    #[arg(short, long, value_name = "FILE.toml", requires = "draft")]
    pub(crate) out: Option<PathBuf>,

    /// How long a target may leave a call unanswered before it is given up, 100ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub(crate) patience: Nanos,

    #[command(flatten)]
    pub(crate) hosts: HostArgs,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("network"))]
pub(crate) struct NetworkArgs {
    /// Use each host's address in this range, such as 10.1.0.0/16 [default: the only network that
    /// all hosts are in].
    #[arg(long, value_name = "RANGE")]
    pub(crate) subnet: Option<Subnet>,

    /// How long each flow is measured, 100ms to 10m.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub(crate) time: Nanos,

    /// TCP connections of each direction.
    #[arg(long, value_name = "N", default_value_t = 4,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_STREAMS)))]
    pub(crate) streams: u32,

    /// Bytes that a flow sends in each direction at most.
    #[arg(long, value_name = "SIZE", default_value = "1TiB")]
    pub(crate) most: Bytes,

    /// Rounds, in each of which every host has another partner [default: all up to 8 hosts, else
    /// 4].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: Option<u32>,

    /// The TCP port to listen at, where a firewall is open for one; 0 is any free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,

    /// Print everything as JSON (docs/reference/json.md).
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the JSON to a file, for `plimsoll ceiling --network`. A file that exists is never
    /// overwritten.
    #[arg(short, long, value_name = "FILE.json")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) hosts: HostArgs,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("suites"))]
pub(crate) struct SuitesArgs {
    /// Print this suite's file.
    pub(crate) name: Option<String>,

    /// Print it as a job of another tool, with what that cannot say; NAME may be a file.
    #[arg(long = "as", value_name = "TOOL", requires = "name")]
    pub(crate) tool: Option<JobTool>,

    /// Print every field that a suite can have.
    #[arg(long, conflicts_with = "name")]
    pub(crate) reference: bool,
}

/// A tool whose jobs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum JobTool {
    /// A job file of fio.
    Fio,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("clean"))]
pub(crate) struct CleanArgs {
    /// The directories that runs wrote to [default: ./plimsoll-data; with --hosts none, and only
    /// the copies of plimsoll are removed].
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,

    /// How long a target may leave a call unanswered before it is given up, 100ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub(crate) patience: Nanos,

    #[command(flatten)]
    pub(crate) hosts: HostArgs,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("resume"))]
pub(crate) struct ResumeArgs {
    /// The run file of the run that was cut short. It stays as it is.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// Where to record the whole run [default: beside it, as RUN-resumed.plimsoll].
    #[arg(short, long, value_name = "FILE.plimsoll")]
    pub(crate) out: Option<PathBuf>,

    /// Write to this target again, where nothing of the run is left: a run file may come from
    /// anybody. Where its marker is, the run goes on unasked.
    #[arg(short, long = "target", value_name = "[HOSTS:]PATH")]
    pub(crate) targets: Vec<TargetArg>,

    /// Overwrite this block device again, which the run overwrote.
    #[arg(long, value_name = "[HOST:]DEVICE")]
    pub(crate) destroy_data: Vec<GivenUpArg>,

    #[command(flatten)]
    pub(crate) hosts: HostArgs,

    #[command(flatten)]
    pub(crate) how: How,

    #[command(flatten)]
    pub(crate) share: ShareArgs,

    /// The command of a run of `beside`, as it was typed: none is taken from a run file unseen.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// A path that may be loaded, with everything below it. What /etc/plimsoll/allow of this host
    /// does not list stays forbidden.
    #[arg(long, value_name = "PATH")]
    pub(crate) allow: Vec<PathBuf>,

    /// Start agents on other hosts, too, where the coordinator asks for it: with the command that
    /// it names.
    #[arg(long)]
    pub(crate) relay: bool,

    /// Go on for so long where the connection breaks, and keep what is to be told (fleet.hold).
    #[arg(long, value_name = "TIME", requires = "held_as")]
    pub(crate) hold: Option<Nanos>,

    /// The name under which it is found again.
    #[arg(long, value_name = "NAME", requires = "hold")]
    pub(crate) held_as: Option<String>,

    /// Find the agent that holds out under this name, and pass on what it says and hears.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["allow", "relay", "hold"])]
    pub(crate) attach: Option<String>,
}

pub(crate) const DEFAULT_TARGET: &str = "./plimsoll-data";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
