//! The ways to a host. Each is the site's own: its authentication and its encryption are the only
//! ones.

use super::script::quote;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How agents are started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Via {
    /// As processes of this machine.
    #[default]
    Local,
    /// `ssh`, with the user's own configuration.
    Ssh,
    /// `srun`, inside this job.
    Slurm {
        /// The job's number.
        job: String,
    },
    /// `kubectl exec`, into pods.
    Kubernetes {
        /// Options for `kubectl`, such as `--namespace x`.
        options: Vec<String>,
    },
    /// Any command that runs its arguments on a host, with `{host}` in it.
    Template(Vec<String>),
    /// A Unix socket for each host, `HOST.agent` in this folder, behind which an agent listens
    /// already: the line of a virtual machine.
    Sockets(PathBuf),
}

impl Via {
    /// A template, as its user wrote it.
    ///
    /// # Errors
    /// It has no `{host}`, or no program.
    pub fn template(text: &str) -> Result<Via, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        match words.first() {
            None => {
                Err("the launcher is empty; write one such as `docker exec -i {host}`".to_owned())
            }
            Some(_) if !words[1..].iter().any(|word| word.contains("{host}")) => Err(format!(
                "the launcher `{text}` has no {{host}}; write one such as `docker exec -i \
                 {{host}}`"
            )),
            Some(_) => Ok(Via::Template(words)),
        }
    }

    /// Its name, for people.
    pub fn name(&self) -> &str {
        match self {
            Via::Local => "a process",
            Via::Ssh => "ssh",
            Via::Slurm { .. } => "srun",
            Via::Kubernetes { .. } => "kubectl",
            Via::Template(words) => words.first().map_or("", String::as_str),
            Via::Sockets(_) => "the line of a machine",
        }
    }

    /// What a user may mend who cannot reach a host.
    pub(super) fn remedy(&self, host: &str) -> String {
        match self {
            Via::Local => "try again".to_owned(),
            Via::Ssh => format!("check that `ssh {host} true` works without a password"),
            Via::Slurm { job } => {
                format!("check that `srun --jobid={job} --overlap -N1 -n1 -w {host} true` works")
            }
            Via::Kubernetes { options } => {
                let KubectlOptions { all, exec } = KubectlOptions::of(options);
                let before: String = all.iter().map(|word| format!("{word} ")).collect();
                let of_exec: String = exec.iter().map(|word| format!("{word} ")).collect();
                format!("check that `kubectl {before}exec -i {of_exec}{host} -- true` works")
            }
            Via::Template(words) => {
                format!("check that `{} true` works", filled(words, host).join(" "))
            }
            Via::Sockets(_) => {
                format!("see with `plimsoll vms list` whether the machine {host} still runs")
            }
        }
    }

    /// A command that runs `script` in a POSIX shell on `host`.
    pub(super) fn command(&self, host: &str, script: &str) -> Command {
        match self {
            Via::Local => of(&["sh".to_owned(), "-c".to_owned(), script.to_owned()]),
            Via::Ssh => {
                // The login shell may be any; what follows is for one that we know.
                let remote = format!("exec sh -c {}", quote(script));
                let mut command = Command::new("ssh");
                command.args([
                    "-T",
                    "-oBatchMode=yes",
                    "-oConnectTimeout=15",
                    "-oServerAliveInterval=5",
                ]);
                command.args(["--", host, &remote]);
                command
            }
            Via::Slurm { job } => {
                let mut command = Command::new("srun");
                // Unbuffered, or binary output stalls; overlapping, or it waits for the other
                // hosts' steps to end.
                command.args([
                    &format!("--jobid={job}"),
                    "--overlap",
                    "--unbuffered",
                    "-N1",
                    "-n1",
                    "-w",
                    host,
                ]);
                command.args(["sh", "-c", script]);
                command
            }
            Via::Kubernetes { options } => {
                let KubectlOptions { all, exec } = KubectlOptions::of(options);
                let mut command = Command::new("kubectl");
                command.args(all).args(["exec", "-i"]).args(exec);
                command.args([host, "--", "sh", "-c", script]);
                command
            }
            Via::Template(words) => {
                let mut command = of(&filled(words, host));
                command.args(["sh", "-c", script]);
                command
            }
            // Nobody is there who could run a script: what listens there starts an agent.
            Via::Sockets(folder) => bridge(folder, host, &["agent".to_owned()]),
        }
    }

    /// Whether the hosts got their program in another way, which saw to it that it is ours.
    pub(super) fn has_program(&self) -> bool {
        matches!(self, Via::Sockets(_))
    }

    /// A command that runs the agent of this very program, where that needs no shell.
    pub(super) fn direct(&self, host: &str, arguments: &[String]) -> Option<Command> {
        match self {
            Via::Local => {
                let mut command = Command::new(PathBuf::from("/proc/self/exe"));
                command.args(arguments);
                Some(command)
            }
            Via::Sockets(folder) => Some(bridge(folder, host, arguments)),
            _ => None,
        }
    }
}

/// The line to a machine, with what is to be started at its end.
fn bridge(folder: &Path, host: &str, arguments: &[String]) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(["vms", "bridge"]).arg(folder.join(format!("{host}.agent")));
    command.arg("--").args(arguments);
    command
}

/// Options for `kubectl`: which container of a pod is meant is a question to `exec` alone.
pub(super) struct KubectlOptions {
    /// For every command.
    pub(super) all: Vec<String>,
    /// For `exec`.
    exec: Vec<String>,
}

impl KubectlOptions {
    pub(super) fn of(options: &[String]) -> KubectlOptions {
        let mut sorted = KubectlOptions { all: Vec::new(), exec: Vec::new() };
        let mut options = options.iter().cloned();
        while let Some(option) = options.next() {
            match option.as_str() {
                "-c" | "--container" => {
                    sorted.exec.push(option);
                    sorted.exec.extend(options.next());
                }
                word if word.starts_with("-c=") || word.starts_with("--container=") => {
                    sorted.exec.push(option);
                }
                _ => sorted.all.push(option),
            }
        }
        sorted
    }
}

fn filled(words: &[String], host: &str) -> Vec<String> {
    words.iter().map(|word| word.replace("{host}", host)).collect()
}

/// A command of these words; none runs `false`.
fn of(words: &[String]) -> Command {
    let mut command = Command::new(words.first().map_or("false", String::as_str));
    command.args(words.get(1..).unwrap_or_default());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<String> {
        std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|w| w.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_template_is_filled_and_gets_the_script_as_one_word() {
        let via = Via::template("docker exec -i {host}").expect("a template");
        assert_eq!(
            words(&via.command("c1", "echo a; b")),
            ["docker", "exec", "-i", "c1", "sh", "-c", "echo a; b"]
        );
        let via = Via::Kubernetes { options: vec!["--namespace=x".into()] };
        let command = via.command("pod-0", "true");
        assert_eq!(
            words(&command),
            ["kubectl", "--namespace=x", "exec", "-i", "pod-0", "--", "sh", "-c", "true"]
        );
        for container in [&["-c", "agent"][..], &["--container=agent"]] {
            let mut options = vec!["--namespace=x".to_owned()];
            options.extend(container.iter().map(|word| (*word).to_owned()));
            let command =
                words(&Via::Kubernetes { options: options.clone() }.command("pod-0", "true"));
            let exec = [&["kubectl", "--namespace=x", "exec", "-i"][..], container].concat();
            assert_eq!(command[..exec.len()], exec[..]);
            // Without its options, the command would ask for another pod.
            let remedy = Via::Kubernetes { options: options.clone() }.remedy("pod-0");
            let asked = [&exec[..], &["pod-0", "--", "true"]].concat().join(" ");
            assert_eq!(remedy, format!("check that `{asked}` works"));
            assert_eq!(KubectlOptions::of(&options).all, ["--namespace=x"]);
        }
        assert!(
            Via::template("docker exec c1").is_err()
                && Via::template(" ").is_err()
                && Via::template("{host}").is_err()
        );
    }

    #[test]
    fn ssh_gets_the_script_in_one_word_that_any_shell_can_read() {
        let command = words(&Via::Ssh.command("n1", "echo 'x'"));
        assert_eq!(
            command[command.len() - 2..],
            ["n1".to_owned(), r"exec sh -c 'echo '\''x'\'''".to_owned()]
        );
    }
}
