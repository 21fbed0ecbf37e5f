//! What the storage says of its own servers. It is asked by its own command, where that answers at
//! once on this host; a host that is no member of the cluster mostly cannot ask.

use crate::{Looker, mounts};
use model::note::{PartsState, StorageState};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// How long a command may take, in s: a stage waits for it.
const WITHIN: &str = "1";
/// Its answer is not longer, in bytes.
const LONGEST: usize = 1 << 20;
/// More parts than any volume has.
const MOST: usize = 65_536;

/// What has GlusterFS say which copies of a volume are not alike, with its name in between.
const HEAL: [&str; 4] = ["gluster", "--mode=script", "volume", "heal"];
const SUMMARY: [&str; 2] = ["info", "summary"];

/// A storage on other machines that a host loads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Storage {
    file_system: String,
    source: String,
}

impl Looker {
    /// The storages on other machines behind these paths.
    pub fn storages<'a>(&self, paths: impl Iterator<Item = &'a str>) -> BTreeSet<Storage> {
        let of = |path: &str| {
            let real = Path::new(path).canonicalize().ok()?;
            let mount = mounts::facts(mounts::holding(&self.mounts, &real)?);
            let (file_system, source) = (mount.file_system, mount.source);
            mount.network.then_some(Storage { file_system, source })
        };
        paths.filter_map(of).collect()
    }
}

impl Storage {
    /// What it says now, within a second.
    pub fn ask(&self, is_after: bool) -> StorageState {
        let volume = self.volume();
        let parts = volume.and_then(|volume| {
            let out = Command::new("timeout")
                .args(["-s", "KILL", WITHIN])
                .args(HEAL)
                .arg(volume)
                .args(SUMMARY)
                .env("LC_ALL", "C")
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .output()
                .ok()?;
            let is_whole = out.status.success() && out.stdout.len() <= LONGEST;
            heal_summary(&String::from_utf8_lossy(if is_whole { &out.stdout } else { b"" }))
        });
        let storage = match volume {
            Some(volume) => format!("GlusterFS volume {volume}"),
            None => format!("{} ({})", self.source, self.file_system),
        };
        StorageState { storage, is_after, parts }
    }

    /// The volume of GlusterFS: `n1:/VOLUME/deeper`.
    fn volume(&self) -> Option<&str> {
        let path = match self.file_system.as_str() {
            "fuse.glusterfs" | "glusterfs" => self.source.rsplit_once(':')?.1,
            _ => return None,
        };
        let name = path.trim_start_matches('/').split('/').next()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_name = !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain);
        is_name.then_some(name)
    }
}

/// What `gluster volume heal VOLUME info summary` says; `None` of anything else.
pub fn heal_summary(text: &str) -> Option<PartsState> {
    let mut state = PartsState { of: 0, down: Vec::new(), to_heal: 0 };
    let mut part = "";
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("Brick ") {
            (part, state.of) = (name, state.of + 1);
            if state.of as usize > MOST {
                return None;
            }
        }
        let Some((key, value)) = line.split_once(": ") else { continue };
        match key {
            "Status" if value != "Connected" => state.down.push(part.to_owned()),
            // Those that are healed just now are among them; a part that is down has a dash.
            "Total Number of entries" => {
                state.to_heal = state.to_heal.saturating_add(value.parse().unwrap_or(0));
            }
            _ => {}
        }
    }
    (state.of > 0).then_some(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(file_system: &str, source: &str) -> Storage {
        Storage { file_system: file_system.to_owned(), source: source.to_owned() }
    }

    #[test]
    fn a_summary_names_the_parts_that_are_down_and_counts_what_is_to_heal() {
        let text = "Brick 10.88.0.1:/b/n1\nStatus: Connected\nTotal Number of entries: 3\nNumber \
                    of entries in heal pending: 3\n\nBrick 10.88.0.3:/b/n3\nStatus: Transport \
                    endpoint is not connected\nTotal Number of entries: -\n";
        let found = heal_summary(text).expect("a summary");
        assert_eq!((found.of, found.to_heal), (2, 3));
        assert_eq!(found.down, ["10.88.0.3:/b/n3"]);
        for other in ["", "Volume lab is not of type replicate/disperse\n", "Status: Connected\n"] {
            assert_eq!(heal_summary(other), None, "{other}");
        }
    }

    #[test]
    fn a_volume_is_asked_by_its_name_and_nothing_else_is() {
        assert_eq!(of("fuse.glusterfs", "10.88.0.1:/lab").volume(), Some("lab"));
        assert_eq!(of("fuse.glusterfs", "n1:lab/deep").volume(), Some("lab"));
        for (kind, source) in [
            ("nfs4", "n1:/lab"),
            ("fuse.glusterfs", "n1:/--help"),
            ("fuse.glusterfs", "n1:/a b"),
            ("fuse.glusterfs", "n1"),
        ] {
            assert_eq!(of(kind, source).volume(), None, "{source}");
        }
        let state = of("nfs4", "n1:/x").ask(true);
        assert_eq!((state.storage.as_str(), state.parts), ("n1:/x (nfs4)", None));
    }
}
