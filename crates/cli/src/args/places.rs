//! Paths and devices, with the hosts that they are on.

use std::str::FromStr;
use suite::planner::GivenUp;

/// `--target`: a path, with the hosts that load it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TargetArg {
    /// Their names or labels; `None` for all of them.
    pub(crate) hosts: Option<String>,
    pub(crate) path: String,
}

impl FromStr for TargetArg {
    type Err = String;

    fn from_str(text: &str) -> Result<TargetArg, String> {
        let all = || TargetArg { hosts: None, path: text.to_owned() };
        // A path may have colons of its own: behind its first slash or dot, or in the words of a
        // simulated device.
        if text.starts_with(['/', '.']) || text.starts_with("sim:") {
            return Ok(all());
        }
        let behind = [":/", ":./", ":sim:"].iter().filter_map(|mark| text.find(mark)).min();
        let Some(colon) = behind else { return Ok(all()) };
        let hosts = &text[..colon];
        expand(hosts)?;
        Ok(TargetArg { hosts: Some(hosts.to_owned()), path: text[colon + 1..].to_owned() })
    }
}

fn expand(hosts: &str) -> Result<Vec<String>, String> {
    model::hostlist::expand(hosts).map_err(|error| error.to_string())
}

/// `--destroy-data`: a device, with the hosts on which it may be overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenUpArg(pub Vec<GivenUp>);

impl FromStr for GivenUpArg {
    type Err = String;

    fn from_str(text: &str) -> Result<GivenUpArg, String> {
        // A path begins with a slash or a dot; a colon further on (/dev/disk/by-path/pci-0000:00)
        // is its own.
        match text.split_once(":/") {
            Some((hosts, path)) if !text.starts_with(['/', '.']) => {
                let device = format!("/{path}");
                let one = |host| GivenUp { host: Some(host), device: device.clone() };
                Ok(GivenUpArg(expand(hosts)?.into_iter().map(one).collect()))
            }
            _ => Ok(GivenUpArg(vec![GivenUp { host: None, device: text.to_owned() }])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_may_be_that_of_some_hosts() {
        let read = |text: &str| text.parse::<TargetArg>().map(|target| (target.hosts, target.path));
        let of = |hosts: Option<&str>, path: &str| Ok((hosts.map(str::to_owned), path.to_owned()));
        assert_eq!(read("/mnt/a"), of(None, "/mnt/a"));
        assert_eq!(read("data"), of(None, "data"));
        assert_eq!(read("/dev/disk/by-path/pci-0:/x"), of(None, "/dev/disk/by-path/pci-0:/x"));
        assert_eq!(read("sim:constant"), of(None, "sim:constant"));
        assert_eq!(read("vm[1-4],x:/mnt/a:/b"), of(Some("vm[1-4],x"), "/mnt/a:/b"));
        assert_eq!(read("site1:./data"), of(Some("site1"), "./data"));
        assert_eq!(read("vm1:sim:constant"), of(Some("vm1"), "sim:constant"));
        assert!(read("vm[1-:/x").is_err());
    }

    #[test]
    fn a_device_is_given_up_with_its_hosts() {
        let read = |text: &str| text.parse::<GivenUpArg>().expect("good").0;
        let on = |host: Option<&str>, device: &str| GivenUp {
            host: host.map(str::to_owned),
            device: device.to_owned(),
        };
        assert_eq!(read("/dev/sdb"), [on(None, "/dev/sdb")]);
        assert_eq!(
            read("n[1-2]:/dev/sdb"),
            [on(Some("n1"), "/dev/sdb"), on(Some("n2"), "/dev/sdb")]
        );
        assert_eq!(
            read("/dev/disk/by-path/pci-0000:/x"),
            [on(None, "/dev/disk/by-path/pci-0000:/x")]
        );
        assert!("n[1:/dev/sdb".parse::<GivenUpArg>().is_err());
    }
}
