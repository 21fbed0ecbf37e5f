//! The arguments of a lab.

use super::examples;
use clap::{Args, Subcommand};
use std::ffi::OsString;

#[derive(Debug, Args)]
#[command(after_help = examples::of("lab"))]
pub(crate) struct LabArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub(crate) what: LabCommand,
}

/// What to do with a lab.
#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Make it: GlusterFS, each node in namespaces of its own, the volume mounted on each.
    #[command(after_help = examples::of("lab"))]
    Up {
        /// Nodes, 2 to 16; they are the hosts of --hosts lab.
        #[arg(long, value_name = "N", default_value = "4")]
        nodes: u32,

        /// Sites that the nodes are spread over; they are labels of the hosts.
        #[arg(long, value_name = "N", default_value = "2")]
        sites: u32,

        /// Copies of each file, at different sites as far as there are any.
        #[arg(long, value_name = "N", default_value = "2")]
        replicas: u32,
    },
    /// Show its nodes, bricks and mounts, and what is left to heal.
    #[command(after_help = examples::of("lab"))]
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Kill the bricks of a node, as a crash does; the volume goes on without them.
    #[command(after_help = examples::of("lab"))]
    Break {
        /// The node, such as n2.
        #[arg(value_name = "NODE")]
        node: String,
    },
    /// Start the bricks that do not run, and wait until all copies are alike.
    #[command(after_help = examples::of("lab"))]
    Heal,
    /// Remove it whole, or what is left of one.
    #[command(after_help = examples::of("lab"))]
    Down,
    /// Run a command on a node.
    #[command(after_help = examples::of("lab"))]
    Enter {
        /// The node, such as n2.
        #[arg(value_name = "NODE")]
        node: String,

        /// The command with its arguments.
        #[arg(
            value_name = "COMMAND",
            required = true,
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        command: Vec<OsString>,
    },
}
