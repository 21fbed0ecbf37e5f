//! The arguments that say which hosts load, and the way to them.

use crate::failure::Failure;
use clap::{Args, Parser};
use std::path::PathBuf;

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Hosts: this machine alone, unless given")]
pub(crate) struct HostArgs {
    /// Hosts over ssh: node[01-16],10.0.0.5 or @FILE.
    ///
    /// local:N starts N agents here; slurm takes the nodes of the Slurm job around it; vms:NAME
    /// takes the machines of `plimsoll vms up`, and lab the nodes of `plimsoll lab up`.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["slurm", "kubernetes"])]
    pub(crate) hosts: Option<String>,

    /// Get a Slurm job, such as "-N16 -p nvme", and load from it.
    ///
    /// The options are those of salloc.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, conflicts_with = "kubernetes")]
    pub(crate) slurm: Option<String>,

    /// Load from the running pods with these labels.
    ///
    /// For example app=plimsoll, as in deploy/kubernetes.yaml.
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) kubernetes: Option<String>,

    /// Options for kubectl, such as "--namespace storage -c agent".
    #[arg(
        long,
        hide_short_help = true,
        value_name = "OPTIONS",
        allow_hyphen_values = true,
        requires = "kubernetes"
    )]
    pub(crate) kubectl: Option<String>,

    /// Reach hosts with this command instead of ssh.
    ///
    /// For example "docker exec -i {host}".
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    pub(crate) launcher: Option<String>,

    /// Load a simulated cluster in virtual time.
    ///
    /// A testbed of `plimsoll ceiling` or a testbed file, with parameters such as ,remote=100%
    /// (docs/method). Alone, the testbed with the suite's name.
    #[arg(long, value_name = "TESTBED", num_args = 0..=1, default_missing_value = "",
        conflicts_with_all = ["hosts", "slurm", "kubernetes"])]
    pub(crate) simulate: Option<String>,

    /// Number of simulated hosts [default: the testbed's].
    ///
    /// A testbed without clients loads from its nodes.
    #[arg(long, hide_short_help = true, value_name = "N", requires = "simulate",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) sim_hosts: Option<u32>,

    /// Path of plimsoll on the hosts [default: copied there].
    #[arg(long, hide_short_help = true, value_name = "PATH")]
    pub(crate) agent: Option<PathBuf>,

    /// Agents started from here, and by each of them in turn.
    ///
    /// Past that number, hosts start one another. By default, up to 64 hosts are started from
    /// here, and all where hosts cannot reach one another.
    #[arg(long, hide_short_help = true, value_name = "N", conflicts_with = "simulate",
        value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) fanout: Option<u32>,

    /// Hosts reached at the same time [default: 64].
    ///
    /// A jump host or a server that refuses many connections at once asks for less. Hosts that
    /// start others reach as many, each.
    #[arg(long, hide_short_help = true, value_name = "N", conflicts_with = "simulate",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) connections: Option<u32>,
}

impl HostArgs {
    pub(crate) fn are_named(&self) -> bool {
        self.hosts.is_some() || self.slurm.is_some() || self.kubernetes.is_some()
    }

    pub(crate) fn are_here(&self) -> bool {
        let is_here = |list: &String| list.split(',').all(|one| one.starts_with("local:"));
        self.slurm.is_none() && self.kubernetes.is_none() && self.hosts.iter().all(is_here)
    }

    /// The options that say the same, for a run file.
    pub(crate) fn options(&self) -> Vec<String> {
        let agent = self.agent.as_ref().map(|path| path.to_string_lossy().into_owned());
        let sim_hosts = self.sim_hosts.map(|count| count.to_string());
        let fanout = self.fanout.map(|count| count.to_string());
        let connections = self.connections.map(|count| count.to_string());
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
            ("--connections", &connections),
        ];
        let given =
            all.into_iter().filter_map(|(name, value)| value.as_ref().map(|value| (name, value)));
        given.map(|(name, value)| format!("{name}={value}")).collect()
    }

    /// What these options say.
    pub(crate) fn of(options: &[String]) -> Result<HostArgs, Failure> {
        #[derive(Parser)]
        struct OnlyHosts {
            #[command(flatten)]
            hosts: HostArgs,
        }
        let line = std::iter::once("plimsoll").chain(options.iter().map(String::as_str));
        // A run file may come from anybody.
        let read = OnlyHosts::try_parse_from(line).map(|only| only.hosts);
        read.map_err(|_| {
            Failure::run_file(
                "the run file does not say how its hosts are reached; name them with \
                 --hosts",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_hosts_say_the_same_again() {
        let args = HostArgs {
            slurm: Some("-N4 -p x".into()),
            agent: Some("/x y".into()),
            ..HostArgs::default()
        };
        let again = HostArgs::of(&args.options()).expect("good");
        assert_eq!((again.slurm, again.agent), (args.slurm, args.agent));
        assert!(HostArgs::default().options().is_empty());
        assert!(HostArgs::of(&["--destroy-data=/dev/sda".to_owned()]).is_err());
    }
}
