//! What a cluster is made of, all hosts together: its drives by kind and its ports, each in one
//! table.

use super::testbed_draft::{drives, ports};
use crate::ground::gather::grouped;
use crate::ground::markup::Markup;
use crate::ground::words;
use crate::pens::{Table, dash};
use model::Kernels;
use model::counters::Layer;
use model::testbed::HostFacts;

#[derive(Clone, Debug, PartialEq)]
struct Drives {
    kind: drives::Kind,
    /// How many each host has that has any.
    of_hosts: Vec<u64>,
}

pub(crate) fn render(hosts: &[HostFacts]) -> String {
    let (kinds, ports) = (drive_kinds(hosts), ports_of(hosts));
    let (drives, ports) = (drives_table(&kinds), ports_table(&ports));
    let told =
        |title: &str, is_empty: bool, text: String| (!is_empty).then(|| format!("{title}\n{text}"));
    let all = [
        told("Drives", drives.is_empty(), drives.text()),
        told("Ports", ports.is_empty(), ports.text()),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

pub(crate) fn tables(hosts: &[HostFacts]) -> Markup {
    let (kinds, ports) = (drive_kinds(hosts), ports_of(hosts));
    let (drives, ports) = (drives_table(&kinds), ports_table(&ports));
    let drives = (!drives.is_empty()).then(|| drives.scroll());
    let ports = (!ports.is_empty()).then(|| ports.scroll());
    drives.into_iter().chain(ports).collect()
}

/// The hosts whose things of this layer no other has told: agents on one machine have the same.
fn telling(hosts: &[HostFacts], layer: Layer) -> impl Iterator<Item = &HostFacts> {
    let kernels = Kernels::of(hosts);
    let tells = move |number: usize| kernels.voice(number, |_| true).tells(layer);
    hosts.iter().enumerate().filter(move |(number, _)| tells(*number)).map(|(_, host)| host)
}

fn drive_kinds(hosts: &[HostFacts]) -> Vec<Drives> {
    let one = |kind: drives::Kind| (drives::Kind { count: 1, ..kind.clone() }, kind.count);
    let all = grouped(telling(hosts, Layer::Block).flat_map(drives::kinds).map(one));
    all.into_iter().map(|(kind, of_hosts)| Drives { kind, of_hosts }).collect()
}

fn drives_table(all: &[Drives]) -> Table<&Drives> {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let role = |drives: &Drives| if drives.kind.is_boot { "boot" } else { "data" };
    let size = |bytes: u64| words::decimal(model::Bytes(bytes));
    let each = |drives: &Drives| {
        let counts = || drives.of_hosts.iter().copied();
        let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        if least == most { words::count(most) } else { format!("{least} to {most}") }
    };
    let in_all = |drives: &Drives| {
        let all = drives.of_hosts.iter().copied().fold(0u64, u64::saturating_add);
        format!("{} ({})", words::count(all), size(drives.kind.size.saturating_mul(all)))
    };
    Table::of(all)
        .words("medium", |drives| known(drives.kind.media.words()))
        .class("")
        .words("bus", |drives| known(&drives.kind.transport))
        .class("")
        .words("role", role)
        .class("")
        .words("model", |drives| known(&drives.kind.model))
        .class("")
        .figure("size", |drives| size(drives.kind.size))
        .figure("hosts", |drives| words::count(drives.of_hosts.len() as u64))
        .figure("per host", each)
        .figure("in all", in_all)
        .of_class("narrow")
        .caption("Drives of all hosts")
}

/// Ports of one speed of a host, or of all: whose, how many, the speed of each in Mbit/s in words,
/// and of all together.
struct Ports<'a>(&'a str, u64, String, Option<u64>);

fn ports_of(hosts: &[HostFacts]) -> Vec<Ports<'_>> {
    let (mut rows, mut count, mut sum) = (Vec::new(), 0u64, Some(0u64));
    for host in telling(hosts, Layer::Nic) {
        let mut speeds: Vec<Option<u32>> =
            ports::summary(host).into_iter().map(|(speed, _)| speed).collect();
        speeds.sort_unstable();
        for same in speeds.chunk_by(|a, b| a == b) {
            let number = same.len() as u64;
            let speed = same.first().copied().flatten().map(u64::from);
            let together = speed.map(|mbit| mbit.saturating_mul(number));
            count += number;
            // Of ports whose speed nobody tells there is no sum.
            sum = sum.zip(together).map(|(sum, one)| sum.saturating_add(one));
            let each = speed.map_or_else(|| "not told".to_owned(), gbit);
            rows.push(Ports(&host.hostname, number, each, together));
        }
    }
    if rows.len() > 1 {
        rows.push(Ports("all hosts", count, dash(), sum));
    }
    rows
}

fn gbit(mbit: u64) -> String {
    words::gbit_per_s(mbit as f64 * 1e6)
}

fn ports_table<'a>(all: &'a [Ports<'a>]) -> Table<&'a Ports<'a>> {
    Table::of(all)
        .words("host", |ports| ports.0)
        .class("")
        .figure("ports", |ports| words::count(ports.1))
        .figure("speed of each", |ports| &ports.2)
        .figure("together", |ports| ports.3.map(gbit))
        .of_class("narrow")
        .caption("Ports with a link")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::has;
    use analysis::testing;
    use model::Bytes;
    use model::inventory::{Media, NicFacts};
    use model::testbed::DeviceFacts;

    fn node(number: usize, drives: u64) -> HostFacts {
        let mut facts = testing::host(number);
        let drive = |_| DeviceFacts {
            name: "nvme0n1".to_owned(),
            model: "EXAMPLE <SSD>".to_owned(),
            size: Bytes(3_840_000_000_000),
            media: Media::Nvme,
            transport: "pcie".to_owned(),
            ..DeviceFacts::default()
        };
        facts.inventory.disks = (0..drives).map(drive).collect();
        let port = |name: &str| NicFacts {
            name: name.to_owned(),
            driver: "ice".to_owned(),
            speed_mbit: Some(25_000),
            up: true,
            ..NicFacts::default()
        };
        facts.inventory.nics = vec![port("eth0"), port("eth1")];
        facts
    }

    #[test]
    fn drives_and_ports_of_all_hosts_stand_together() {
        let text = render(&[node(0, 6), node(1, 6), node(2, 4)]);
        let line = text.lines().find(|line| line.contains("EXAMPLE")).expect("a row");
        has(line, &["NVMe", "pcie", "data", "3.84 TB", "3", "4 to 6", "16 (61.44 TB)"]);
        let all = text.lines().find(|line| line.starts_with("all hosts")).expect("a sum");
        assert!(all.contains('6') && all.contains("150.0 Gbit/s"), "{all}");
        let agent =
            |number| HostFacts { identity: "boot net:[1] mnt:[2]".into(), ..node(number, 6) };
        let text = render(&[agent(0), agent(1)]);
        assert!(
            text.contains("6 (23.04 TB)") && !text.contains("all hosts"),
            "one machine: {text}"
        );
        let page = tables(&[node(0, 6)]).into_string();
        assert!(page.contains("EXAMPLE &lt;SSD&gt;") && page.contains("50.0 Gbit/s"), "{page}");
        assert_eq!(render(&[testing::host(0)]), "");
    }
}
