//! What `--simulate` asks for: a cluster as the target, and how many hosts load it.

use crate::args::HostArgs;
use crate::failure::Failure;
use crate::testbed;
use model::cluster::fixed;
use model::testbed::TargetKind;

/// What a target's path begins with that is a simulated cluster.
const CLUSTER: &str = "sim:cluster=";

/// The target that takes the place of all others; `None` where nothing is to be simulated. What is no cluster is refused here, once for all hosts.
pub fn target(hosts: &HostArgs, suite: &str) -> Result<Option<String>, Failure> {
    let target = match hosts.simulate.as_deref() {
        None => return Ok(None),
        Some("") if testbed::built_in(suite).is_some() => format!("{CLUSTER}{suite}"),
        Some("") => {
            let names: Vec<&str> = testbed::BUILT_IN.iter().map(|(name, _)| *name).collect();
            return Err(Failure::Usage(format!(
                "error: --simulate: no testbed is called like the suite `{suite}`; name one behind it, such as {}",
                names.join(", ")
            )));
        }
        Some(cluster) => format!("{CLUSTER}{cluster}"),
    };
    match engine::simulated(&target).kind {
        TargetKind::Unreadable(why) => Err(Failure::Usage(format!("error: --simulate: {why}"))),
        _ => Ok(Some(target)),
    }
}

/// How many hosts are simulated: what was asked for, or the testbed's clients, or its nodes.
pub fn hosts(hosts: &HostArgs, targets: &[String]) -> Result<u32, Failure> {
    if let Some(count) = hosts.sim_hosts {
        return Ok(count);
    }
    let named = targets.first().and_then(|target| target.strip_prefix(CLUSTER));
    let Some(name) = named.map(|text| text.split_once(',').map_or(text, |(name, _)| name)) else { return Ok(1) };
    let cluster = testbed::read(name, &[])?;
    let clients = fixed(cluster.clients.count.value).map(|count| u64::from(count.0));
    Ok(clients.unwrap_or(cluster.node_count()).clamp(1, 1024) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulate(what: &str) -> HostArgs {
        HostArgs { simulate: Some(what.to_owned()), ..HostArgs::default() }
    }

    #[test]
    fn a_suite_that_is_called_like_a_testbed_needs_no_name() {
        let asked = |what: &str, suite: &str| target(&simulate(what), suite).map_err(|failure| failure.to_string());
        assert_eq!(asked("", "pixstor-nvme"), Ok(Some("sim:cluster=pixstor-nvme".to_owned())));
        assert_eq!(asked("pixstor-nvme,remote=5%", "x"), Ok(Some("sim:cluster=pixstor-nvme,remote=5%".to_owned())));
        assert!(asked("mine.toml", "x").expect_err("no file").contains("check the path"));
        assert!(asked("", "smoke").expect_err("no testbed").contains("vsan-four-corners"));
        assert_eq!(target(&HostArgs::default(), "x").map_err(|_| ()), Ok(None));
    }

    #[test]
    fn there_are_as_many_hosts_as_clients_or_nodes() {
        let count = |target: &str| hosts(&simulate(""), &[target.to_owned()]).map_err(|failure| failure.to_string());
        assert_eq!(count("sim:cluster=pixstor-nvme,remote=0%"), Ok(16));
        assert_eq!(count("sim:cluster=vsan-four-corners"), Ok(4));
        assert!(count("sim:cluster=nowhere").is_err());
        let asked = HostArgs { sim_hosts: Some(3), ..simulate("") };
        assert_eq!(hosts(&asked, &[]).map_err(|_| ()), Ok(3));
    }
}
