//! The arguments of `plimsoll beside`.

use super::{Gate, HostArgs, How, RunArgs, ShareArgs, TargetArg, WorkArgs, examples};
use clap::Args;
use form::Override;
use model::Nanos;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = examples::of("beside"))]
pub(crate) struct BesideArgs {
    /// What the command loads: a directory, a file or a device.
    ///
    /// It is watched, and never opened or changed by Plimsoll. Hosts may have targets of their own:
    /// node[01-04]:/mnt/a.
    #[arg(short, long = "target", value_name = "[HOSTS:]PATH", required = true)]
    pub(crate) targets: Vec<TargetArg>,

    /// Time to measure; the command is ended after it [default: until it ends, at most 1h].
    ///
    /// A command that was given the same time has 2 s more to end by itself.
    #[arg(long, value_name = "TIME")]
    pub(crate) runtime: Option<Nanos>,

    /// Where its figure is in a line that it prints, such as "tps = {tps}".
    ///
    /// A regular expression, in which {UNIT} is the number, or {read UNIT} that of an operation. A
    /// first group, or {}, is a number with its unit behind it. The last such line counts. Units:
    /// IOPS, kIOPS, MIOPS; B/s, bytes/s, kB/s, KB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s; ns, us, ms, s
    /// of a latency; and tps, ops/s, op/s, /s of operations of its own, which no device counts. Not
    /// needed for fio, vdbench, DiskSpd, IOR, mdtest, IOzone, elbencho, IO500 and HCIBench.
    #[arg(long, value_name = "REGEX", default_value = "", hide_default_value = true)]
    pub(crate) result: String,

    /// Record the block layer's own latencies, from issue to completion. Needs root.
    ///
    /// They are of all requests at the device below each target, whoever sends them. Two events are
    /// recorded for each request, which costs the generator processor time.
    #[arg(long)]
    pub(crate) trace: bool,

    /// Name of the run [default: "beside" and the program].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Change a field of the run, such as sweep.repetitions=5.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<Override>,

    #[command(flatten)]
    pub(crate) hosts: HostArgs,

    /// Run file [default: plimsoll-NAME-TIME.plimsoll].
    ///
    /// The report appears beside it, as .html.
    #[arg(short, long, value_name = "FILE.plimsoll", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    /// Exit with code 6 if the verdict is below this level.
    #[arg(long, value_name = "CONDITION", help_heading = "Output")]
    pub(crate) fail_if: Vec<Gate>,

    #[command(flatten)]
    pub(crate) how: How,

    #[command(flatten)]
    pub(crate) share: ShareArgs,

    /// The command and its arguments. {host}, {target}, {out} and {seed} are filled in.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

impl BesideArgs {
    pub(crate) fn as_run(&self) -> RunArgs {
        let work = WorkArgs {
            targets: self.targets.clone(),
            sets: self.sets.clone(),
            hosts: self.hosts.clone(),
            ..WorkArgs::default()
        };
        let (out, how, share) = (self.out.clone(), self.how, self.share.clone());
        let fail_if = self.fail_if.clone();
        RunArgs {
            work,
            out,
            fail_if,
            prove: false,
            counters_from: None,
            how,
            share,
            keep_vms: false,
        }
    }
}
