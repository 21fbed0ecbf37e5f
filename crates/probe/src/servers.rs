//! Which mounts are of other machines, and of which. Pure.

/// What holds no data of anybody's.
const PSEUDO: [&str; 24] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fuse.lxcfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "ramfs",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "sysfs",
    "tracefs",
    "nfsd",
];

/// Whether a file system of this type holds data.
pub fn holds_data(file_system: &str) -> bool {
    !PSEUDO.contains(&file_system)
}

/// The machines behind a mount, as far as it names them; `None` for a file system of this host.
pub fn servers(file_system: &str, source: &str, options: &[String]) -> Option<Vec<String>> {
    let option = |name: &str| options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='));
    let list = |text: &str, mark: char| -> Vec<String> {
        text.split(mark).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    Some(match file_system {
        "nfs" | "nfs4" | "fuse.glusterfs" | "glusterfs" => before_path(source),
        "cifs" | "smb3" | "smbfs" => list(source.trim_start_matches('/').split('/').next().unwrap_or_default(), ','),
        // Two ways to mount it: the monitors before the path, or `user@cluster.name=/path` with the monitors as an option.
        "ceph" => match option("mon_addr") {
            Some(monitors) => list(monitors, '/'),
            None => before_path(source).iter().flat_map(|monitors| list(monitors, ',')).collect(),
        },
        // `mgs1@o2ib,mgs1@tcp:mgs2@o2ib:/name`: colons between machines, commas between the networks of one.
        "lustre" => before_path(source).iter().flat_map(|nodes| list(nodes, ':')).collect(),
        "fuse.sshfs" => {
            before_path(source).iter().filter_map(|host| host.rsplit('@').next()).map(str::to_owned).collect()
        }
        "pvfs2" | "orangefs" => {
            let host = source.split_once("://").map_or(source, |(_, rest)| rest);
            list(host.split('/').next().unwrap_or_default(), ',')
        }
        // These take their servers from files of configuration.
        "beegfs" | "gpfs" | "afs" | "wekafs" | "fuse.ceph" | "fuse.ceph-fuse" | "fuse.rclone" | "fuse.s3fs"
        | "fuse.juicefs" | "fuse.moosefs" => Vec::new(),
        _ => return None,
    })
}

/// `server:/path`, where the server may have colons of its own.
fn before_path(source: &str) -> Vec<String> {
    let server =
        source.split_once(":/").map(|(server, _)| server).or_else(|| source.rsplit_once(':').map(|(server, _)| server));
    let server = server.map(|server| server.trim_start_matches('[').trim_end_matches(']'));
    server.filter(|server| !server.is_empty()).map(str::to_owned).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_network_file_system_names_its_servers_in_its_own_way() {
        let told = |kind: &str, source: &str, options: &[&str]| {
            servers(kind, source, &options.iter().map(|option| (*option).to_owned()).collect::<Vec<_>>())
        };
        let some = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(told("nfs4", "filer:/export/a:b", &[]), some(&["filer"]));
        assert_eq!(told("nfs", "[fe80::1]:/x", &[]), some(&["fe80::1"]));
        assert_eq!(told("cifs", "//filer/share/deep", &[]), some(&["filer"]));
        assert_eq!(told("ceph", "m1:6789,m2:6789:/", &[]), some(&["m1:6789", "m2:6789"]));
        assert_eq!(
            told("ceph", "u@f-1.fs=/", &["rw", "mon_addr=1.2.3.4:3300/1.2.3.5:3300"]),
            some(&["1.2.3.4:3300", "1.2.3.5:3300"])
        );
        assert_eq!(told("lustre", "a@o2ib:b@o2ib:/scratch", &[]), some(&["a@o2ib", "b@o2ib"]));
        assert_eq!(told("fuse.glusterfs", "g1:/vol", &[]), some(&["g1"]));
        assert_eq!(told("fuse.sshfs", "me@far:/home", &[]), some(&["far"]));
        assert_eq!(told("beegfs", "beegfs_nodev", &["cfgFile=/etc/beegfs/beegfs-client.conf"]), some(&[]));
        assert_eq!(told("ext4", "/dev/sda1", &[]), None);
        for odd in ["", ":", ":/", "/", "//", "[", "a"] {
            for kind in ["nfs", "cifs", "ceph", "lustre", "orangefs"] {
                assert!(told(kind, odd, &[]).is_some(), "{kind} {odd}");
            }
        }
    }

    #[test]
    fn what_only_looks_like_files_holds_no_data() {
        assert!(holds_data("ext4") && holds_data("tmpfs") && holds_data("fuse.sshfs"));
        assert!(!holds_data("proc") && !holds_data("cgroup2"));
    }
}
