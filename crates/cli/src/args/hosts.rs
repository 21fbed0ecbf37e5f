//! The arguments that say which hosts load, and the way to them.

use crate::failure::Failure;
use clap::{Args, Parser};
use std::path::PathBuf;

/// The hosts that load, and the way to them.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Hosts (without these, this machine alone)")]
pub struct HostArgs {
    /// The hosts: node[01-16],10.0.0.5 or @FILE over ssh; local:N for N agents here; slurm inside
    /// a Slurm job.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["slurm", "kubernetes"])]
    pub hosts: Option<String>,

    /// Get a Slurm job with these options of salloc, such as "-N16 -p nvme", and load from its
    /// nodes.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, conflicts_with = "kubernetes")]
    pub slurm: Option<String>,

    /// Load from the running pods with these labels, such as app=plimsoll
    /// (deploy/kubernetes.yaml).
    #[arg(long, value_name = "SELECTOR")]
    pub kubernetes: Option<String>,

    /// Options for kubectl, such as "--namespace storage".
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, requires = "kubernetes")]
    pub kubectl: Option<String>,

    /// Reach the hosts with this command instead of ssh, such as "docker exec -i {host}".
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    pub launcher: Option<String>,

    /// Load no host and no target, but a simulated cluster in virtual time: a testbed of `plimsoll
    /// ceiling`, or a testbed file, with parameters such as ,remote=100% (docs/METHOD.md); alone,
    /// the testbed that is called like the suite.
    #[arg(long, value_name = "TESTBED", num_args = 0..=1, default_missing_value = "",
        conflicts_with_all = ["hosts", "slurm", "kubernetes"])]
    pub simulate: Option<String>,

    /// How many simulated hosts load it [default: as many as the testbed has clients, or else
    /// nodes].
    #[arg(long, value_name = "N", requires = "simulate",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub sim_hosts: Option<u32>,

    /// Where plimsoll is on the hosts. Without it, it is copied to hosts that lack it.
    #[arg(long, value_name = "PATH")]
    pub agent: Option<PathBuf>,

    /// How many agents are started from here, and by each of these in turn; past that, hosts start
    /// one another in the same way [default: all from here up to 64 hosts, or where the hosts
    /// cannot reach one another].
    #[arg(long, value_name = "N", conflicts_with = "simulate",
        value_parser = clap::value_parser!(u32).range(2..))]
    pub fanout: Option<u32>,
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
        let given =
            all.into_iter().filter_map(|(name, value)| value.as_ref().map(|value| (name, value)));
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
                "error: the run file does not say how its hosts are reached; name them with \
                 --hosts"
                    .to_owned(),
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
