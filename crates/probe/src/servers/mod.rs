//! Which mounts are of other machines, and of which. Pure.

pub mod storage_state;

/// What holds no data of anybody's.
const PSEUDO: &str = "autofs binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts devtmpfs \
    efivarfs fuse.lxcfs fusectl hugetlbfs mqueue nsfs proc pstore ramfs rpc_pipefs securityfs \
    selinuxfs sysfs tracefs nfsd";

/// Whether a file system of this type holds data.
pub(crate) fn holds_data(file_system: &str) -> bool {
    !PSEUDO.split(' ').any(|pseudo| pseudo == file_system)
}

/// The machines behind a mount, as far as it names them; `None` for a file system of this host.
pub(crate) fn servers(file_system: &str, source: &str, options: &[String]) -> Option<Vec<String>> {
    let option =
        |name: &str| options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='));
    let list = |text: &str, mark: char| -> Vec<String> {
        text.split(mark).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    Some(match file_system {
        "nfs" | "nfs4" | "fuse.glusterfs" | "glusterfs" => before_path(source),
        "cifs" | "smb3" | "smbfs" => {
            list(source.trim_start_matches('/').split('/').next().unwrap_or_default(), ',')
        }
        // Two ways to mount it: the monitors before the path, or `user@cluster.name=/path` with the
        // monitors as an option.
        "ceph" => match option("mon_addr") {
            Some(monitors) => list(monitors, '/'),
            None => before_path(source).iter().flat_map(|monitors| list(monitors, ',')).collect(),
        },
        // `mgs1@o2ib,mgs1@tcp:mgs2@o2ib:/name`: colons between machines, commas between the
        // networks of one.
        "lustre" => before_path(source).iter().flat_map(|nodes| list(nodes, ':')).collect(),
        "fuse.sshfs" => before_path(source)
            .iter()
            .filter_map(|host| host.rsplit('@').next())
            .map(str::to_owned)
            .collect(),
        // `master:9421` by its subtype, and `mfs#master:9421` by those that know none.
        "fuse.mfs" | "fuse.mfsmeta" | "fuse.lizardfs" => before_port(source),
        "fuse" if source.starts_with("mfs") && source.contains('#') => {
            before_port(source.split_once('#').map_or(source, |(_, master)| master))
        }
        // What the configuration calls the remote; a service or a machine.
        "fuse.rclone" => list(source.split(':').next().unwrap_or_default(), ','),
        // Given with the mount by those who do, `-o url=https://…`; else a file of configuration
        // has it.
        "fuse.s3fs" => option("url").into_iter().flat_map(host_of_url).collect(),
        "fuse.ceph" | "fuse.ceph-fuse" => match option("mon_host").or(option("mon_addr")) {
            Some(monitors) => list(monitors, '/').iter().flat_map(|part| list(part, ',')).collect(),
            None => before_path(source).iter().flat_map(|monitors| list(monitors, ',')).collect(),
        },
        "pvfs2" | "orangefs" => {
            let host = source.split_once("://").map_or(source, |(_, rest)| rest);
            list(host.split('/').next().unwrap_or_default(), ',')
        }
        // These take their servers from files of configuration.
        "beegfs" | "gpfs" | "afs" | "wekafs" | "fuse.juicefs" | "fuse.moosefs" | "fuse.goofys"
        | "fuse.gcsfuse" | "fuse.blobfuse2" | "fuse.mount-s3" | "fuse.seaweedfs" => Vec::new(),
        _ => return None,
    })
}

/// `server:9421`, without its port.
fn before_port(source: &str) -> Vec<String> {
    let host = source.rsplit_once(':').map_or(source, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() { Vec::new() } else { vec![host.to_owned()] }
}

/// The machine of `https://host:port/path`.
fn host_of_url(url: &str) -> Vec<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().filter(|host| !host.is_empty()).map(str::to_owned).into_iter().collect()
}

/// `server:/path`, where the server may have colons of its own.
fn before_path(source: &str) -> Vec<String> {
    let server = source
        .split_once(":/")
        .map(|(server, _)| server)
        .or_else(|| source.rsplit_once(':').map(|(server, _)| server));
    let server = server.map(|server| server.trim_start_matches('[').trim_end_matches(']'));
    server.filter(|server| !server.is_empty()).map(str::to_owned).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_network_file_system_names_its_servers_in_its_own_way() {
        let told = |kind: &str, source: &str, options: &[&str]| {
            servers(
                kind,
                source,
                &options.iter().map(|option| (*option).to_owned()).collect::<Vec<_>>(),
            )
        };
        let some =
            |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
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
        assert_eq!(
            told("beegfs", "beegfs_nodev", &["cfgFile=/etc/beegfs/beegfs-client.conf"]),
            some(&[])
        );
        assert_eq!(told("fuse.mfs", "master:9421", &[]), some(&["master"]));
        assert_eq!(told("fuse", "mfs#master:9421", &[]), some(&["master"]));
        assert_eq!(told("fuse", "/dev/sda1", &[]), None, "any other program may be behind it");
        assert_eq!(told("fuse.rclone", "far:bucket/deep", &[]), some(&["far"]));
        assert_eq!(
            told("fuse.s3fs", "s3fs", &["url=https://s3.example:9000/x"]),
            some(&["s3.example:9000"])
        );
        assert_eq!(told("fuse.s3fs", "s3fs", &[]), some(&[]));
        assert_eq!(told("fuse.ceph-fuse", "ceph-fuse", &[]), some(&[]));
        assert_eq!(told("fuse.ceph-fuse", "m1:6789,m2:6789:/", &[]), some(&["m1:6789", "m2:6789"]));
        assert_eq!(told("ext4", "/dev/sda1", &[]), None);
        for odd in ["", ":", ":/", "/", "//", "[", "a"] {
            for kind in [
                "nfs", "cifs", "ceph", "lustre", "orangefs", "fuse.mfs", "fuse.rclone", "fuse.s3fs",
            ] {
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
