//! Facts of a testbed that cannot all be true.

use super::fields::{CacheKind, Placement, Role};
use super::port::PortFields;
use super::software::MOST_FITTED_ROWS;
use super::{Cluster, NodeGroup, fixed, ranges};
use form::{Auto, Given, Problem, Problems, place};

/// Adds every contradiction of `cluster` to `problems`.
pub(super) fn check(cluster: &Cluster, problems: &mut Problems) {
    protection(cluster, problems);
    placement(cluster, problems);
    cache(cluster, problems);
    access(cluster, problems);
    ranges::software(cluster, problems);
    if cluster.fitted_rows.len() > MOST_FITTED_ROWS {
        let message = format!(
            "{} rows were fitted; predictions take {MOST_FITTED_ROWS} at most",
            cluster.fitted_rows.len()
        );
        let remedy = "calibrate again, with fewer rows in --fit";
        problems.push(cluster.top.name.wrong(message, remedy));
    }
    for (index, group) in cluster.nodes.iter().enumerate() {
        node_group(group, problems);
        let name = &group.spec.name;
        if cluster.nodes[..index].iter().any(|other| other.spec.name.value == name.value) {
            let message = format!("a second group of nodes is called `{}`", name.value);
            problems.push(name.wrong(message, "give each group a name of its own"));
        }
        for empty in group.drives.iter().map(|drives| &drives.spec.filled) {
            if fixed(empty.value).is_some_and(|share| share.ppm == 0) {
                let message = "a drive without data is written nothing to";
                let remedy = "write the share that holds data while the load runs, or leave it out";
                problems.push(empty.wrong(message, remedy));
            }
        }
        for zero in
            group.drives.iter().flat_map(|drives| [&drives.spec.read_iops, &drives.spec.write_iops])
        {
            if matches!(zero.value, Auto::Fixed(0)) {
                let message = "a drive that does 0 requests per second carries nothing";
                problems.push(zero.wrong(message, "write its rate, or leave it out"));
            }
        }
    }
}

fn protection(cluster: &Cluster, problems: &mut Problems) {
    let protection = &cluster.protection;
    match (
        fixed(protection.copies.value),
        fixed(protection.data.value),
        fixed(protection.parity.value),
    ) {
        (Some(_), Some(_), _) | (Some(_), _, Some(_)) => problems.push(protection.copies.wrong(
            "data is protected by copies or by parity, not by both",
            "leave out copies, or data and parity",
        )),
        (None, Some(_), None) => {
            problems.push(protection.data.wrong("data without parity", "add parity = 1 or 2"));
        }
        (None, None, Some(_)) => {
            problems.push(protection.parity.wrong("parity without data", "add data = 4, say"));
        }
        _ => {}
    }
}

fn placement(cluster: &Cluster, problems: &mut Problems) {
    let protection = &cluster.protection;
    let parts = match (
        fixed(protection.copies.value),
        fixed(protection.data.value),
        fixed(protection.parity.value),
    ) {
        (Some(copies), ..) => Some((u64::from(copies.0), place(&protection.copies), "copies")),
        (_, Some(data), Some(parity)) => Some((
            u64::from(data.0) + u64::from(parity.0),
            place(&protection.data),
            "data and parity blocks",
        )),
        _ => None,
    };
    let Some((parts, span, what)) = parts else { return };
    let nodes = cluster.node_count();
    match protection.placement.value {
        Placement::Node | Placement::Site if parts > nodes => {
            let message =
                format!("{parts} {what} cannot live on different nodes: there are {nodes}");
            problems.push(Problem::new(
                span,
                message,
                "write fewer, more nodes, or placement = \"drive\"",
            ));
        }
        Placement::Site if sites(cluster) < 2 => {
            let message = "copies cannot live at another site: all nodes stand at one";
            let remedy =
                "give the groups of nodes site = 1 and site = 2, or write placement = \"node\"";
            problems.push(protection.placement.wrong(message, remedy));
        }
        Placement::Site if parts < 2 => {
            let message = "one copy cannot be at both sites";
            problems.push(Problem::new(
                span,
                message,
                "write copies = 2 or more, or placement = \"node\"",
            ));
        }
        _ => {}
    }
}

fn sites(cluster: &Cluster) -> usize {
    let mut sites: Vec<u32> = cluster.nodes.iter().map(|group| group.spec.site.value.0).collect();
    sites.sort_unstable();
    sites.dedup();
    sites.len()
}

fn cache(cluster: &Cluster, problems: &mut Problems) {
    let has_drives = cluster.drives(Role::Cache).next().is_some();
    let kind = &cluster.cache.kind;
    match fixed(kind.value) {
        Some(CacheKind::None) if has_drives => problems.push(kind.wrong(
            "there are cache drives, but no cache",
            "write kind = \"read-write\", \"read\" or \"write\", or give the drives role = \
             \"capacity\"",
        )),
        Some(CacheKind::Read | CacheKind::Write | CacheKind::ReadWrite) if !has_drives => {
            let remedy = "give some [[nodes.drives]] role = \"cache\", or leave kind out";
            problems.push(kind.wrong("there is a cache, but no drive has the role cache", remedy));
        }
        _ => {}
    }
    let shares = [&cluster.cache.read_share, &cluster.cache.write_share];
    for share in shares {
        if fixed(share.value).is_some() && !has_drives {
            let message = "a share of the cache, but no drive has the role cache";
            problems.push(share.wrong(message, "give some [[nodes.drives]] role = \"cache\""));
        }
    }
    if let [Some(read), Some(write)] = shares.map(|share| fixed(share.value))
        && read.ppm + write.ppm > 1_000_000
        && (read.ppm, write.ppm) != (1_000_000, 1_000_000)
    {
        let message = format!("{read} for reads and {write} for writes are more than the cache");
        let remedy = "write shares that add up to at most 100%, or 100% for both where one space \
                      serves both";
        problems.push(cluster.cache.write_share.wrong(message, remedy));
    }
}

fn access(cluster: &Cluster, problems: &mut Problems) {
    let clients = &cluster.clients;
    if !cluster.has_clients() {
        let stray = [
            clients.memory.span.clone(),
            clients.ports.span.clone(),
            clients.port_speed.span.clone(),
            clients.port_one_way.span.clone(),
            clients.port_both_ways.span.clone(),
        ];
        if let Some(span) = stray.into_iter().flatten().next() {
            problems.push(Problem::new(
                span,
                "clients without a count",
                "add count = … to [clients]",
            ));
        }
        return;
    }
    PortFields::of_clients(clients).check(problems);
    for share in [&cluster.access.local_reads, &cluster.access.local_writes] {
        if fixed(share.value).is_some_and(|share| share.ppm > 0) {
            let message = "with clients of their own no request is local to a node";
            problems.push(share.wrong(message, "leave it out, or leave out [clients]"));
        }
    }
}

fn node_group(group: &NodeGroup, problems: &mut Problems) {
    let spec = &group.spec;
    let both = |one: &Given<Auto<form::Count>>, two| fixed(one.value).is_some() && two;
    for speed in [&spec.port_speed, &spec.port_one_way, &spec.port_both_ways] {
        if fixed(speed.value).is_some() && fixed(spec.ports.value).is_none() {
            let message = "a speed of ports, but no ports";
            problems.push(speed.wrong(message, "add ports = …"));
        }
    }
    PortFields::of_nodes(spec).check(problems);
    if let Some(ports) = fixed(spec.ports.value)
        && spec.far_ports.value > u64::from(ports.0)
    {
        let message =
            format!("{} of {ports} ports cannot hang off another socket", spec.far_ports.value);
        problems.push(spec.far_ports.wrong(message, format!("write at most {ports}")));
    }
    if spec.far_ports.value > 0 && fixed(spec.ports.value).is_none() {
        problems.push(spec.far_ports.wrong("far ports, but no ports", "add ports = …"));
    }
    if fixed(spec.sockets.value).is_some_and(|sockets| sockets.0 == 1) {
        if fixed(spec.socket_link.value).is_some() {
            let message = "one socket has no link to another";
            problems
                .push(spec.socket_link.wrong(message, "write sockets = 2, or leave the link out"));
        }
        if spec.far_ports.value > 0 {
            let message = "one socket: no port can hang off another";
            problems.push(spec.far_ports.wrong(message, "write sockets = 2, or far_ports = 0"));
        }
    }
    if both(
        &spec.sockets,
        fixed(spec.cores.value)
            .is_some_and(|cores| fixed(spec.sockets.value).is_some_and(|s| cores.0 < s.0)),
    ) {
        let message = "fewer cores than sockets";
        problems.push(spec.cores.wrong(message, "write the cores of all sockets together"));
    }
    if !(1..=2).contains(&spec.site.value.0) {
        let message = format!("{} is no site", spec.site.value);
        problems.push(spec.site.wrong(message, "write site = 1 or site = 2"));
    }
    if spec.port_efficiency.value.ppm == 0 {
        let message = "ports of which payload can have nothing carry nothing";
        problems
            .push(spec.port_efficiency.wrong(message, "write a share above 0, such as \"96%\""));
    }
}
