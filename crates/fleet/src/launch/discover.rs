//! Hosts that a site's own engine names: the nodes of a Slurm job, the pods of a selector.

use model::hostlist;
use std::process::Command;

/// A Slurm job, and whether it is ours to end.
#[derive(Debug)]
pub struct SlurmJob {
    /// Its number.
    pub job: String,
    /// Its nodes.
    pub nodes: Vec<String>,
    is_ours: bool,
}

impl Drop for SlurmJob {
    fn drop(&mut self) {
        if self.is_ours {
            // If it fails, the job ends with its time limit; nothing of ours runs in it.
            let _ = Command::new("scancel").arg(&self.job).output();
        }
    }
}

impl SlurmJob {
    /// The job that this process runs in.
    ///
    /// # Errors
    /// It runs in none, or Slurm does not answer; in words, with a remedy.
    pub fn current() -> Result<SlurmJob, String> {
        let job = std::env::var("SLURM_JOB_ID").map_err(|_| {
            "this is no Slurm job; start it in one (salloc, sbatch), or have one made with --slurm \"-N4\"".to_owned()
        })?;
        nodes(&job).map(|nodes| SlurmJob { job, nodes, is_ours: false })
    }

    /// A new job with these options for `salloc`. Waits until Slurm grants it.
    ///
    /// # Errors
    /// Slurm refuses; its own words.
    pub fn allocate(options: &str) -> Result<SlurmJob, String> {
        let out = Command::new("salloc").arg("--no-shell").args(options.split_whitespace()).output();
        let out = out.map_err(|error| format!("salloc cannot be started ({error}); is this a host of the cluster?"))?;
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        let job = granted(&said).ok_or_else(|| format!("Slurm grants no job: {}", said.trim().replace('\n', "; ")))?;
        let mut made = SlurmJob { job: job.clone(), nodes: Vec::new(), is_ours: true };
        made.nodes = nodes(&job)?;
        Ok(made)
    }
}

/// The number in `salloc: Granted job allocation 123`.
fn granted(said: &str) -> Option<String> {
    let number = said.split("Granted job allocation ").nth(1)?.split_whitespace().next()?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.to_owned())
}

fn nodes(job: &str) -> Result<Vec<String>, String> {
    let list = output("squeue", &["--noheader", "--format=%N", "--jobs", job])?;
    hostlist::expand(list.trim())
}

/// The running pods that a selector names.
///
/// # Errors
/// `kubectl` fails, or there are none.
pub fn pods(selector: &str, options: &[String]) -> Result<Vec<String>, String> {
    let mut arguments: Vec<&str> = options.iter().map(String::as_str).collect();
    arguments.extend(["get", "pods", "--field-selector=status.phase=Running", "--output=name", "--selector", selector]);
    let list = output("kubectl", &arguments)?;
    let names: Vec<String> = list.lines().map(|line| line.trim().trim_start_matches("pod/").to_owned()).collect();
    if names.is_empty() {
        return Err(format!(
            "no running pod has the labels `{selector}`; deploy the agents first (deploy/kubernetes.yaml)"
        ));
    }
    names.iter().map(|name| hostlist::expand(name)).collect::<Result<Vec<_>, _>>().map(|names| names.concat())
}

fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let out = Command::new(program).args(arguments).output();
    let out = out.map_err(|error| format!("{program} cannot be started ({error}); is it installed here?"))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    Err(format!("{program} fails: {}", String::from_utf8_lossy(&out.stderr).trim().replace('\n', "; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_granted_job_is_read() {
        assert_eq!(
            granted("salloc: Pending\nsalloc: Granted job allocation 42\nsalloc: Nodes n1"),
            Some("42".to_owned())
        );
        assert_eq!(granted("salloc: error: Unable to allocate"), None);
        assert_eq!(granted("Granted job allocation x"), None);
    }
}
