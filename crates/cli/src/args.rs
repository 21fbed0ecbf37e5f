//! Every argument, declared once: parser, help, completions and man page come from here.

mod afterwards;
pub mod examples;
mod places;

pub use afterwards::{CeilingArgs, CompareArgs, ShowArgs, TrendArgs, VerifyArgs};
pub use places::{GivenUpArg, TargetArg};

use crate::failure::Failure;
use crate::web::Token;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use model::along::Along;
use model::spec::Override;
use model::{Bytes, Nanos, Objective, Percent, ScaleArg};
use report::watch::Speed;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Finds the load line of a storage cluster: what it carries, and whether the figure can be trusted.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, about, max_term_width = 100, after_help = examples::EXIT_CODES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Load a target and report what it carries.
    Run(Box<RunArgs>),
    /// Find the highest rate at which an objective holds, with the curve of latency against load.
    Loadline(Box<LoadlineArgs>),
    /// Show what a run would do, how long it takes and what it writes; touches nothing.
    Plan(Box<PlanArgs>),
    /// Watch what the kernels of hosts count, without any load; or play a recorded run again.
    Watch(Box<WatchArgs>),
    /// Show what this host is made of and which layers lie below a target; touches nothing.
    Inventory(InventoryArgs),
    /// List the built-in suites, or print one to start your own from.
    Suites(SuitesArgs),
    /// Mark an instant of a run that goes on: it stands on the time axis of every view, and what came after it is told.
    Mark(crate::commands::MarkArgs),
    /// Write the report of one or more runs: a page, or Markdown with its charts.
    Report(crate::commands::ReportArgs),
    /// Write a run as tables for other programs: CSV, JSON or Parquet.
    Export(crate::commands::ExportArgs),
    /// Serve the reports of runs as web pages, one by one and side by side, until Ctrl-C.
    Serve(ServeArgs),
    /// Say what differs between runs, by how much, and whether it can be told from chance.
    Compare(CompareArgs),
    /// Follow the figures of one workload over many runs: where a level changed, and whether the latest run holds it.
    Trend(TrendArgs),
    /// Show a run's results in the terminal, or as JSON.
    Show(ShowArgs),
    /// Say what a described cluster can carry at most, which layer binds, and what would be if it had more.
    Ceiling(Box<CeilingArgs>),
    /// Check the data that a run left (--keep-data, or a crash): finds damage, and acknowledged writes that are missing.
    Verify(VerifyArgs),
    /// Go on with a run that was cut short: every point that is not complete, on the same hosts and layout.
    Resume(Box<ResumeArgs>),
    /// Remove what runs left in directories, here or on hosts: exactly our own files.
    Clean(CleanArgs),
    /// Serve a coordinator on standard input and output. It starts this on its hosts itself.
    Agent(AgentArgs),
    /// Print a completion script for a shell.
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the man page, or write one page for each command.
    #[command(after_help = examples::MAN)]
    Man {
        /// Where to write the pages of all commands; without it, the main page goes to standard output.
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

/// What to load, with what, and how much.
#[derive(Debug, Args)]
pub struct WorkArgs {
    /// A built-in suite, a suite file, or with --rw the paths to load [default: four-corners].
    #[arg(value_name = "SUITE|FILE.toml|PATH")]
    pub what: Vec<String>,

    /// A directory to make files in, or with --existing a file or device to read [default: ./plimsoll-data]. With several hosts, it can be that of some of them: node[01-04]:/mnt/a, or a label in place of the names.
    #[arg(short, long = "target", value_name = "[HOSTS:]PATH")]
    pub targets: Vec<TargetArg>,

    /// Give any field of the suite another value, such as measure=30s, layout.size=10GiB or workload.NAME.depth=8.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<Override>,

    /// Take only this scenario of the suite; may be given several times.
    #[arg(long = "scenario", value_name = "NAME")]
    pub scenarios: Vec<String>,

    /// Shrink sizes and times together, such as 1/100, or each by its own: size=1/10,time=1/100. The report says so. Without it, nothing shrinks but the
    /// times of --simulate, if these are long.
    #[arg(long, value_name = "FRACTION")]
    pub scale: Option<ScaleArg>,

    /// Go through the page cache instead of around it.
    #[arg(long)]
    pub buffered: bool,

    /// Load a file or a device as it is: read only, nothing is written, workloads that write are left out.
    #[arg(long, conflicts_with = "destroy_data")]
    pub existing: bool,

    /// Overwrite this block device: all that is on it is lost. The only way to write to a device. With several hosts, name it on each: node[01-04]:/dev/sdb.
    #[arg(long, value_name = "[HOST:]DEVICE")]
    pub destroy_data: Vec<GivenUpArg>,

    /// The hosts that load.
    #[command(flatten)]
    pub hosts: HostArgs,

    /// One workload without a suite file, in fio's words.
    #[command(flatten)]
    pub quick: QuickArgs,
}

/// The hosts that load, and the way to them.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Hosts (without these, this machine alone)")]
pub struct HostArgs {
    /// The hosts: node[01-16],10.0.0.5 or @FILE over ssh; local:N for N agents here; slurm inside a Slurm job.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["slurm", "kubernetes"])]
    pub hosts: Option<String>,

    /// Get a Slurm job with these options of salloc, such as "-N16 -p nvme", and load from its nodes.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, conflicts_with = "kubernetes")]
    pub slurm: Option<String>,

    /// Load from the running pods with these labels, such as app=plimsoll (deploy/kubernetes.yaml).
    #[arg(long, value_name = "SELECTOR")]
    pub kubernetes: Option<String>,

    /// Options for kubectl, such as "--namespace storage".
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, requires = "kubernetes")]
    pub kubectl: Option<String>,

    /// Reach the hosts with this command instead of ssh, such as "docker exec -i {host}".
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    pub launcher: Option<String>,

    /// Load no host and no target, but a simulated cluster in virtual time: a testbed of `plimsoll ceiling`, or a testbed file, with parameters such as
    /// ,remote=100% (docs/METHOD.md); alone, the testbed that is called like the suite.
    #[arg(long, value_name = "TESTBED", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["hosts", "slurm", "kubernetes"])]
    pub simulate: Option<String>,

    /// How many simulated hosts load it [default: as many as the testbed has clients, or else nodes].
    #[arg(long, value_name = "N", requires = "simulate", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub sim_hosts: Option<u32>,

    /// Where plimsoll is on the hosts. Without it, it is copied to hosts that lack it.
    #[arg(long, value_name = "PATH")]
    pub agent: Option<PathBuf>,

    /// How many agents are started from here, and by each of these in turn; past that, hosts start one another in the same way [default: all from here
    /// up to 64 hosts, or where the hosts cannot reach one another].
    #[arg(long, value_name = "N", conflicts_with = "simulate", value_parser = clap::value_parser!(u32).range(2..))]
    pub fanout: Option<u32>,
}

/// One workload in fio's words.
#[derive(Debug, Args)]
#[command(next_help_heading = "Quick form (with --rw, one workload without a suite file)")]
pub struct QuickArgs {
    /// The pattern.
    #[arg(long, value_name = "PATTERN")]
    pub rw: Option<Pattern>,

    /// The size of each request [default: 4k].
    #[arg(long, value_name = "SIZE", requires = "rw")]
    pub bs: Option<Bytes>,

    /// Requests that each worker keeps outstanding [default: 1].
    #[arg(long, value_name = "N", requires = "rw")]
    pub iodepth: Option<u32>,

    /// Workers, each with a file of its own [default: 1].
    #[arg(long, value_name = "N", requires = "rw")]
    pub numjobs: Option<u32>,

    /// The size of each worker's file, or of the part of a device that is loaded [default: by the machine].
    #[arg(long, value_name = "SIZE", requires = "rw")]
    pub size: Option<Bytes>,

    /// How long to measure; a bare number counts seconds [default: 60s].
    #[arg(long, value_name = "TIME", requires = "rw")]
    pub runtime: Option<Nanos>,

    /// The share of reads in rw and randrw [default: 50].
    #[arg(long, value_name = "PERCENT", requires = "rw")]
    pub rwmixread: Option<Percent>,
}

/// fio's names of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pattern {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    Randread,
    /// Random writes.
    Randwrite,
    /// Sequential reads and writes, mixed.
    #[value(alias = "readwrite")]
    Rw,
    /// Random reads and writes, mixed.
    Randrw,
}

/// `plimsoll run`.
#[derive(Debug, Args)]
#[command(after_help = examples::RUN)]
pub struct RunArgs {
    /// What to load, with what, and how much.
    #[command(flatten)]
    pub work: WorkArgs,

    /// Where to record the run [default: plimsoll-SUITE-TIME.plimsoll in this directory]. The report stands beside it, as .html.
    #[arg(short, long, value_name = "FILE.plimsoll")]
    pub out: Option<PathBuf>,

    /// What the run is to leave, and to say.
    #[command(flatten)]
    pub how: How,

    /// Who else is told of the run.
    #[command(flatten)]
    pub share: ShareArgs,
}

/// What a run is to leave, and to say.
#[derive(Clone, Copy, Debug, Args)]
pub struct How {
    /// Leave the files of the run on the target, for the next run or for a look.
    #[arg(long)]
    pub keep_data: bool,

    /// End standard output with one JSON object (docs/json.md); everything else goes to standard error.
    #[arg(long)]
    pub json: bool,

    /// Show the run and what every host's kernel counts on the whole terminal; `?` tells the keys.
    #[arg(long, conflicts_with = "quiet")]
    pub watch: bool,

    /// No progress and no plan, only the results.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Who else is told of a run while it goes on: browsers, Prometheus, scripts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Showing it to others")]
pub struct ShareArgs {
    /// Serve a live page, and /metrics for Prometheus [default with --serve alone: 127.0.0.1:9750]. Port 0 is any free one.
    #[arg(long, value_name = "IP:PORT", num_args = 0..=1, require_equals = true, default_missing_value = DEFAULT_SERVE)]
    pub serve: Option<SocketAddr>,

    /// Show it only to those who have this token; required where other machines could see it. $PLIMSOLL_TOKEN does the same and is not seen in the list of processes.
    #[arg(long, value_name = "TOKEN", requires = "serve")]
    pub token: Option<Token>,

    /// Go on serving the page when the run is over, until Ctrl-C.
    #[arg(long, requires = "serve")]
    pub keep_serving: bool,

    /// Write every event of the run as a line of JSON while it goes on (docs/json.md); "-" is standard output, and the table goes to standard error then.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
}

/// Where pages are served unless told otherwise.
pub const DEFAULT_SERVE: &str = "127.0.0.1:9750";

/// `plimsoll serve`.
#[derive(Debug, Args)]
#[command(after_help = examples::SERVE)]
pub struct ServeArgs {
    /// The run files.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,

    /// Where to serve. Port 0 is any free one.
    #[arg(long, value_name = "IP:PORT", default_value = DEFAULT_SERVE)]
    pub address: SocketAddr,

    /// Show them only to those who have this token; required where other machines could see them. $PLIMSOLL_TOKEN does the same and is not seen in the list of processes.
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<Token>,
}

/// `plimsoll loadline`.
#[derive(Debug, Args)]
#[command(after_help = examples::LOADLINE)]
pub struct LoadlineArgs {
    /// What has to hold, with commas between: [read|write|trim|all] FIGURE < LIMIT. Figures: mean, max, p50 to p99.99 (at most, with a unit),
    /// errors (a count or a share), iops and bandwidth (at least).
    #[arg(long, value_name = "OBJECTIVE")]
    pub objective: Objective,

    /// Along what to search: rate (the load line), depth (of each worker, from 1 up to the suite's), size (bytes of the layout that are
    /// loaded, up to all of it: where a cache ends) or workers (of all hosts together, up to the suite's).
    #[arg(long, value_name = "AXIS", default_value = "rate", value_parser = along)]
    pub along: Along,

    /// The workload of a suite that has several.
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// What to load, with what and where to record it. `measure` is the time of each point, of which there are 12 at most.
    #[command(flatten)]
    pub run: RunArgs,
}

fn along(text: &str) -> Result<Along, String> {
    let found = Along::ALL.iter().copied().find(|along| along.word() == text);
    found.ok_or_else(|| "there is no such axis; write rate, depth, size or workers".to_owned())
}

/// `plimsoll plan`.
#[derive(Debug, Args)]
#[command(after_help = examples::PLAN)]
pub struct PlanArgs {
    /// What to load, with what, and how much.
    #[command(flatten)]
    pub work: WorkArgs,

    /// Print the whole plan as JSON, down to each worker's byte ranges.
    #[arg(long)]
    pub json: bool,
}

/// `plimsoll watch`.
#[derive(Debug, Args)]
#[command(after_help = examples::WATCH)]
pub struct WatchArgs {
    /// A run file to play again, instead of hosts as they are now.
    #[arg(value_name = "RUN", conflicts_with_all = ["hosts", "slurm", "kubernetes", "interval"])]
    pub run: Option<PathBuf>,

    /// How often each host tells, 100ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub interval: Nanos,

    /// How many times faster than it was to play a run, 0.1 to 10000.
    #[arg(long, value_name = "TIMES", default_value = "1", requires = "run")]
    pub speed: Speed,

    /// Print so many intervals of each host as lines, and end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,

    /// Print one JSON object a line for each host and interval (docs/json.md) instead of a screen.
    #[arg(long)]
    pub json: bool,

    /// Who else may see them.
    #[command(flatten)]
    pub share: WatchShareArgs,

    /// The hosts to watch.
    #[command(flatten)]
    pub hosts: HostArgs,
}

/// Who else may see hosts while they are watched: browsers, Prometheus.
#[derive(Debug, Args)]
#[command(next_help_heading = "Showing them to others")]
pub struct WatchShareArgs {
    /// Serve a live page, and /metrics for Prometheus [default with --serve alone: 127.0.0.1:9750]. Port 0 is any free one.
    #[arg(long, value_name = "IP:PORT", num_args = 0..=1, require_equals = true, default_missing_value = DEFAULT_SERVE, conflicts_with = "run")]
    pub serve: Option<SocketAddr>,

    /// Show them only to those who have this token; required where other machines could see them. $PLIMSOLL_TOKEN does the same and is not seen in the list of processes.
    #[arg(long, value_name = "TOKEN", requires = "serve")]
    pub token: Option<Token>,
}

/// `plimsoll inventory`.
#[derive(Debug, Args)]
#[command(after_help = examples::INVENTORY)]
pub struct InventoryArgs {
    /// Paths whose layers are to be shown, down to the disks.
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,

    /// Print everything that is known as JSON, one entry for each host (docs/json.md).
    #[arg(long)]
    pub json: bool,

    /// Write a first draft of a testbed file for `plimsoll ceiling`: these hosts as its storage nodes, and what no kernel knows as questions in
    /// comments.
    #[arg(long, conflicts_with_all = ["json", "targets"])]
    pub draft: bool,

    /// Where to write the draft [default: standard output]. A file that exists is never overwritten.
    #[arg(short, long, value_name = "FILE.toml", requires = "draft")]
    pub out: Option<PathBuf>,

    /// How long a target may leave a call unanswered before it is given up, 100ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub patience: Nanos,

    /// The hosts to ask.
    #[command(flatten)]
    pub hosts: HostArgs,
}

/// `plimsoll suites`.
#[derive(Debug, Args)]
#[command(after_help = examples::SUITES)]
pub struct SuitesArgs {
    /// Print this suite's file.
    pub name: Option<String>,

    /// Print every field that a suite can have.
    #[arg(long, conflicts_with = "name")]
    pub reference: bool,
}

/// `plimsoll clean`.
#[derive(Debug, Args)]
#[command(after_help = examples::CLEAN)]
pub struct CleanArgs {
    /// The directories that runs wrote to [default: ./plimsoll-data; with --hosts none, and only the copies of plimsoll are removed].
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,

    /// How long a target may leave a call unanswered before it is given up, 100ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub patience: Nanos,

    /// Where to: what runs left in these directories is removed on every host, then the copies of plimsoll that are there.
    #[command(flatten)]
    pub hosts: HostArgs,
}

/// `plimsoll resume`.
#[derive(Debug, Args)]
#[command(after_help = examples::RESUME)]
pub struct ResumeArgs {
    /// The run file of the run that was cut short. It stays as it is.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,

    /// Where to record the whole run [default: beside it, as RUN-resumed.plimsoll].
    #[arg(short, long, value_name = "FILE.plimsoll")]
    pub out: Option<PathBuf>,

    /// Overwrite this block device again, which the run overwrote.
    #[arg(long, value_name = "[HOST:]DEVICE")]
    pub destroy_data: Vec<GivenUpArg>,

    /// The hosts, if they are reached in another way than before.
    #[command(flatten)]
    pub hosts: HostArgs,

    /// What the run is to leave, and to say.
    #[command(flatten)]
    pub how: How,

    /// Who else is told of the run; the page and the lines begin with what was kept.
    #[command(flatten)]
    pub share: ShareArgs,
}

impl HostArgs {
    /// Whether any hosts are asked for, rather than this machine alone.
    pub fn are_named(&self) -> bool {
        self.hosts.is_some() || self.slurm.is_some() || self.kubernetes.is_some()
    }

    /// The options that say the same, for a run file.
    pub fn options(&self) -> Vec<String> {
        let agent = self.agent.as_ref().map(|path| path.to_string_lossy().into_owned());
        let sim_hosts = self.sim_hosts.map(|count| count.to_string());
        let fanout = self.fanout.map(|count| count.to_string());
        let all = [
            ("--simulate", &self.simulate),
            ("--sim-hosts", &sim_hosts),
            ("--hosts", &self.hosts),
            ("--slurm", &self.slurm),
            ("--kubernetes", &self.kubernetes),
            ("--kubectl", &self.kubectl),
            ("--launcher", &self.launcher),
            ("--agent", &agent),
            ("--fanout", &fanout),
        ];
        let given = all.into_iter().filter_map(|(name, value)| value.as_ref().map(|value| (name, value)));
        given.map(|(name, value)| format!("{name}={value}")).collect()
    }

    /// What these options say.
    pub fn of(options: &[String]) -> Result<HostArgs, Failure> {
        #[derive(Parser)]
        struct OnlyHosts {
            #[command(flatten)]
            hosts: HostArgs,
        }
        let line = std::iter::once("plimsoll").chain(options.iter().map(String::as_str));
        // A run file may come from anybody.
        let read = OnlyHosts::try_parse_from(line).map(|only| only.hosts);
        read.map_err(|_| {
            Failure::RunFile(
                "error: the run file does not say how its hosts are reached; name them with --hosts".to_owned(),
            )
        })
    }
}

/// `plimsoll agent`.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// A path that may be loaded, with everything below it. What /etc/plimsoll/allow of this host does not list stays forbidden.
    #[arg(long, value_name = "PATH")]
    pub allow: Vec<PathBuf>,

    /// Start agents on other hosts, too, where the coordinator asks for it: with the command that it names.
    #[arg(long)]
    pub relay: bool,
}

/// Where files go when no target is named.
pub const DEFAULT_TARGET: &str = "./plimsoll-data";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn options_of_hosts_say_the_same_again() {
        let args = HostArgs { slurm: Some("-N4 -p x".into()), agent: Some("/x y".into()), ..HostArgs::default() };
        let again = HostArgs::of(&args.options()).expect("good");
        assert_eq!((again.slurm, again.agent), (args.slurm, args.agent));
        assert!(HostArgs::default().options().is_empty());
        assert!(HostArgs::of(&["--destroy-data=/dev/sda".to_owned()]).is_err());
    }

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
