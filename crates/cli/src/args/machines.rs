//! The arguments of virtual machines.

// Their comments are the help that people read: `[vms]` is a table of a suite there, no link.
#![allow(rustdoc::broken_intra_doc_links)]

use super::examples;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use form::Override;
use model::Fraction;
use model::machines::ProviderKind;
use std::path::PathBuf;

/// Providers that were built in before programs of users were possible.
const GONE: [&str; 3] = ["kubevirt", "proxmox", "hyper-v"];

fn provider() -> impl TypedValueParser<Value = ProviderKind> {
    let words = ProviderKind::ALL.iter().map(|kind| PossibleValue::new(kind.word()));
    let gone = GONE.map(|word| PossibleValue::new(word).hide(true));
    PossibleValuesParser::new(words.chain(gone)).try_map(|word| {
        let known = ProviderKind::ALL.iter().find(|kind| kind.word() == word);
        known.copied().ok_or(
            "it is not built in; write a program as docs/reference/machines.md shows, and name \
             it: --provider=program --set vms.connect=./my-provider",
        )
    })
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Hosts: this machine alone, unless given")]
pub(crate) struct MachineArgs {
    /// Make the machines of [vms], and load from them: qemu, libvirt, vsphere or program.
    ///
    /// They are made before the run and removed after it. Each disk of theirs is a target
    /// (docs/reference/machines.md). program: one of yours makes them (vms.connect). vsphere is
    /// untried on real hardware.
    #[arg(long, hide_short_help = true, hide_possible_values = true, value_name = "PROVIDER",
        value_parser = provider(),
        conflicts_with_all = ["hosts", "slurm", "kubernetes", "simulate"])]
    pub(crate) provider: Option<ProviderKind>,

    /// Kernel of the machines: /boot/vmlinuz-VERSION, or a package [default: the newest in /boot].
    #[arg(long, hide_short_help = true, value_name = "FILE", requires = "provider")]
    pub(crate) guest_kernel: Option<PathBuf>,

    /// Boot them from this cloud image with cloud-init: qcow2 or raw, plain qemu alone.
    ///
    /// Nothing is written to it: each machine has a clone. It gets our program by a disk, and no
    /// network.
    #[arg(
        long,
        hide_short_help = true,
        value_name = "IMAGE",
        requires = "provider",
        conflicts_with = "guest_kernel"
    )]
    pub(crate) guest: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("vms"))]
pub(crate) struct VmsArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub(crate) what: VmsCommand,
}

/// What to do with virtual machines.
#[derive(Debug, Subcommand)]
pub(crate) enum VmsCommand {
    /// Make the machines of a suite's [vms], and leave them there for runs.
    #[command(after_help = examples::of("vms"))]
    Up(VmsUpArgs),
    /// List the machines that Plimsoll made, and what they do.
    #[command(after_help = examples::of("vms"))]
    List {
        /// List all of this provider that carry our mark, also those that are not on record here:
        /// qemu or libvirt.
        #[arg(long, hide_possible_values = true, value_name = "PROVIDER",
            value_parser = provider())]
        provider: Option<ProviderKind>,

        /// That libvirt, as `virsh -c` takes it.
        #[arg(long, value_name = "URI", requires = "provider", default_value = "qemu:///system")]
        connect: String,

        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Stop and remove machines that Plimsoll made, with their disks.
    #[command(after_help = examples::of("vms"))]
    Down {
        /// Their name (vms.name).
        #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
        names: Vec<String>,

        /// All that `plimsoll vms list` shows.
        #[arg(long)]
        all: bool,
    },
    /// Let machines stand still.
    #[command(after_help = examples::of("vms"))]
    Pause(VmsActArgs),
    /// Let paused machines go on.
    #[command(after_help = examples::of("vms"))]
    Resume(VmsActArgs),
    /// Fail the power of machines; they are not started again.
    #[command(after_help = examples::of("vms"))]
    Off(VmsActArgs),
    /// Keep what the disks hold now; writes go to a file on top of each.
    #[command(after_help = examples::of("vms"))]
    Snapshot(VmsActArgs),
    /// Move the disks to another pool while their machines run.
    #[command(after_help = examples::of("vms"))]
    Move(VmsActArgs),
    /// Move running machines to another node of libvirt; both must reach their disks.
    #[command(after_help = examples::of("vms"))]
    Migrate(VmsActArgs),
    /// Write the memory image of the guests, without machines.
    #[command(after_help = examples::of("vms"))]
    Image(VmsImageArgs),
    /// Carry standard input and output to a machine's agent; started by a run.
    #[command(hide = true)]
    Bridge {
        /// The machine: FOLDER/NAME.agent, or NAME/MACHINE.agent below the user's state folder.
        socket: PathBuf,

        /// Greet first, as one that is started on another host.
        #[arg(long)]
        greet: bool,

        /// What is to be started at its end: an agent with its arguments.
        #[arg(last = true)]
        agent: Vec<String>,
    },
    /// Answer a coordinator that makes machines on several nodes; started by it.
    #[command(hide = true)]
    Node,
    /// Be the first process of a machine; started by its kernel.
    #[command(hide = true)]
    Guest {
        /// The machine's name.
        #[arg(long)]
        name: String,

        /// A disk that may be loaded.
        #[arg(long = "disk")]
        disks: Vec<String>,

        /// A whole system started this, which is not the first process.
        #[arg(long)]
        in_image: bool,

        /// The processor is emulated.
        #[arg(long, requires = "in_image")]
        emulated: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct VmsUpArgs {
    /// A built-in suite or a suite file, for its [vms]; without it, one machine.
    #[arg(value_name = "SUITE|FILE.toml")]
    pub(crate) suite: Option<String>,

    /// Change a field of the suite, such as vms.count=4.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<Override>,

    /// Shrink their disks and memory, as the runs that load them are scaled.
    #[arg(long, value_name = "FRACTION", default_value = "1/1", hide_default_value = true)]
    pub(crate) scale: Fraction,

    /// Who makes them: qemu, libvirt, a program of yours; vsphere, untried on real hardware.
    #[arg(long, hide_possible_values = true, value_name = "PROVIDER", default_value = "qemu",
        value_parser = provider())]
    pub(crate) provider: ProviderKind,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,

    /// Kernel of the machines: /boot/vmlinuz-VERSION, or a package [default: the newest in /boot].
    #[arg(long, value_name = "FILE")]
    pub(crate) guest_kernel: Option<PathBuf>,

    /// Boot them from this cloud image with cloud-init: qcow2 or raw, plain qemu alone.
    #[arg(long, value_name = "IMAGE", conflicts_with = "guest_kernel")]
    pub(crate) guest: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct VmsActArgs {
    /// Their name (vms.name).
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Some of them, such as plimsoll-2 [default: all].
    #[arg(value_name = "MACHINE")]
    pub(crate) machines: Vec<String>,

    /// The pool to which disks move, as vms.pool takes it; or the libvirt to which machines
    /// migrate, such as qemu+ssh://host/system.
    #[arg(long, value_name = "POOL|URI")]
    pub(crate) to: Option<String>,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VmsImageArgs {
    /// The file to write.
    #[arg(value_name = "FILE")]
    pub(crate) to: PathBuf,

    /// Its kernel: /boot/vmlinuz-VERSION, or a package [default: the newest in /boot].
    #[arg(long, value_name = "FILE")]
    pub(crate) guest_kernel: Option<PathBuf>,
}
