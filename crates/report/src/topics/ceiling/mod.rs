//! Ceilings for people and machines: the table of a terminal, JSON, and a page with rooflines.

mod json;
mod page;
mod reached;
mod roofline;
mod table;

pub(crate) use json::reached as reached_json;
pub use json::results as json;
pub use page::render as html;
pub(crate) use reached::{lines as reached_lines, section as reached};
pub use table::{catalogue, results as table};

use crate::ground::gather::each_once;
use crate::ground::words;
use analysis::ceiling::{Assumption, Ceiling, Layer, Limit, Workload};
use catalogue::Cluster;
use catalogue::cluster::MeasuredPort;
use model::load::Rate;

/// What was computed of one testbed.
#[derive(Clone, Debug)]
pub struct Ceilings<'a> {
    /// The testbed as it is.
    pub cluster: &'a Cluster,
    /// One for each workload.
    pub base: Vec<Ceiling>,
    /// What would be otherwise: its name, and one ceiling for each workload in the same order.
    pub what_ifs: Vec<(String, Vec<Ceiling>)>,
    /// What was measured of the first workload, to be put beside its ceiling.
    pub measured: Option<Rate>,
}

impl Ceilings<'_> {
    fn layers(&self) -> impl Iterator<Item = Layer> + '_ {
        Layer::of_ceilings()
            .filter(|layer| self.base.iter().any(|ceiling| ceiling.limit(*layer).is_some()))
    }

    /// Requests per second that were measured, with their ceiling.
    fn measured_iops(&self) -> Option<(f64, &Ceiling)> {
        let ceiling = self.base.first()?;
        let iops = match self.measured? {
            Rate::Iops { milli } => milli as f64 / 1e3,
            Rate::Bytes { per_second } => per_second as f64 / ceiling.workload.bytes(),
        };
        Some((iops, ceiling))
    }

    /// Every remark in words, in the order of reading: what binds and what comes next, what was
    /// measured, what was taken for granted.
    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self.base.iter().map(verdict).collect();
        remarks.extend(self.measured_iops().map(|(iops, ceiling)| measured(iops, ceiling)));
        remarks.extend(measured_ports(self.cluster));
        remarks.extend(each_once(self.base.iter().flat_map(|ceiling| {
            let assumed = ceiling.assumptions.iter().map(|one| assumption(*one));
            protection(ceiling).into_iter().chain(assumed)
        })));
        remarks
    }
}

/// Of each group of ports that somebody measured: the figure and its source.
fn measured_ports(cluster: &Cluster) -> Vec<String> {
    let group = |name: &str, port: Option<MeasuredPort>| {
        port.map(|port| {
            let from = if port.source.is_empty() { "no source given" } else { &port.source };
            let each = words::gbit_per_s(port.one_way * 8.0);
            format!("Ports of {name}: {each} each, one way, as measured ({from}).")
        })
    };
    let nodes =
        cluster.nodes.iter().map(|nodes| group(&nodes.spec.name.value, nodes.spec.measured_port()));
    let clients = group("clients", cluster.clients.measured_port());
    nodes.chain([clients]).flatten().collect()
}

/// What a layer is called.
pub fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Drives => "capacity drives",
        Layer::Cache => "cache drives",
        Layer::Ports => "node ports",
        Layer::ClientPorts => "client ports",
        Layer::Fabric => "fabric",
        Layer::SiteLink => "site link",
        Layer::SocketLink => "socket link",
        Layer::Cpu => "CPU",
        Layer::Software => "software",
        Layer::Mover => "mover",
    }
}

/// `4,760,000 IOPS` for small random requests, `38.40 GB/s` for the rest.
pub fn figure(workload: &Workload, iops: f64) -> String {
    if workload.random >= 0.5 && workload.bytes() < 65_536.0 {
        format!("{} IOPS", words::iops(iops))
    } else {
        words::gb_per_s(iops * workload.bytes())
    }
}

fn limit(ceiling: &Ceiling, limit: Limit) -> String {
    figure(&ceiling.workload, limit.iops)
}

fn verdict(ceiling: &Ceiling) -> String {
    let name = &ceiling.workload.name;
    let Some(binding) = ceiling.binding() else {
        return format!(
            "{name}: no layer of the testbed has a figure for it; give nodes.drives.model (or \
             read, write, read_iops, write_iops) or nodes.ports."
        );
    };
    // Some layers are one thing, others have names of many.
    let (binds, it) = match binding.layer {
        Layer::Cpu
        | Layer::Fabric
        | Layer::SiteLink
        | Layer::SocketLink
        | Layer::Software
        | Layer::Mover => ("binds", "it"),
        Layer::Drives | Layer::Cache | Layer::Ports | Layer::ClientPorts => ("bind", "they"),
    };
    let first = format!("{name}: {} {binds} at {}", layer(binding.layer), limit(ceiling, binding));
    match ceiling.next() {
        None => {
            let other =
                if binding.layer == Layer::Ports { "nodes.drives.model" } else { "nodes.ports" };
            format!("{first}. No other layer has a figure: give {other} to see the next limit.")
        }
        Some(next) => format!(
            "{first}. If {it} did not, {} would at {} ({:.2} times as much).",
            layer(next.layer),
            limit(ceiling, next),
            next.iops / binding.iops
        ),
    }
}

fn measured(iops: f64, ceiling: &Ceiling) -> String {
    let share =
        |limit: &Limit| format!("{} of {}", words::share(iops / limit.iops), layer(limit.layer));
    let shares: Vec<String> = ceiling.limits.iter().map(share).collect();
    let above = match ceiling.share(iops) {
        Some(share) if share > 1.0 => {
            " It is above the ceiling: a cache served some of it, or a fact of the testbed is \
             wrong."
        }
        _ => "",
    };
    format!("Measured, {}: {}.{above}", figure(&ceiling.workload, iops), shares.join(", "))
}

/// What protection makes of writes; `None` for reads and for one copy.
fn protection(ceiling: &Ceiling) -> Option<String> {
    let cost = ceiling.amplification;
    if ceiling.workload.write_share() == 0.0 || (cost.drive_writes - 1.0).abs() < 1e-9 {
        return None;
    }
    let reads = if cost.drive_reads > 0.0 {
        format!(" and {:.2} reads", cost.drive_reads)
    } else {
        String::new()
    };
    let kind = if cost.drive_reads > 0.0 { "small write" } else { "write" };
    Some(format!("Protection: each {kind} is {:.2} writes{reads} on drives.", cost.drive_writes))
}

/// Something taken for granted, as a sentence.
fn assumption(assumption: Assumption) -> String {
    match assumption {
        Assumption::InCache => "Assumed: everything that is touched lies in the cache tier (give \
                                --footprint, and the cache its sizes)."
            .to_owned(),
        Assumption::LocalReads(share) => {
            format!(
                "Assumed: {} of reads find a copy on their own node (access.copies_used).",
                words::share(share)
            )
        }
        Assumption::LocalWrites => {
            "Assumed: one copy of each write stays on its own node (access.copies_used); a \
             simulation spreads all of them."
                .to_owned()
        }
        Assumption::OneCopy => "Assumed: one copy, since [protection] says nothing.".to_owned(),
        Assumption::Fits(bytes) => format!(
            "Assumed: the footprint fits, although the drives hold {:.2} TB of data after \
             protection: check --footprint and the drives.",
            bytes / 1e12
        ),
        Assumption::PartlyFilled(share) => format!(
            "Assumed: drives that are {} full write faster at random than their datasheet says \
             (nodes.drives.filled).",
            words::share(share)
        ),
        Assumption::CacheSize(bytes) => format!(
            "Assumed: the cache tier keeps {:.2} TB of data, all that its drives hold after \
             protection (cache.read_share, cache.write_share).",
            bytes / 1e12
        ),
    }
}
