//! What a cluster is made of, all hosts together: its drives by kind and its ports, each in one
//! table.

use super::testbed_draft::{drives, ports};
use crate::ground::columns::{self, Column};
use crate::ground::markup::{Markup, classed, element, plain};
use crate::ground::words;
use model::testbed::HostFacts;

/// Drives that are alike, on all hosts.
#[derive(Clone, Debug, PartialEq)]
struct Drives {
    kind: drives::Kind,
    /// How many each host has that has any.
    of_hosts: Vec<u64>,
}

const DRIVES: [&str; 8] = ["medium", "bus", "role", "model", "size", "hosts", "per host", "in all"];
const PORTS: [&str; 4] = ["host", "ports", "speed of each", "together"];

/// Both tables for the terminal; nothing of hosts without drives and ports.
pub(crate) fn render(hosts: &[HostFacts]) -> String {
    let mut text = String::new();
    for (title, head, rows) in
        [("Drives", DRIVES.as_slice(), drive_rows(hosts)), ("Ports", &PORTS, port_rows(hosts))]
    {
        if rows.is_empty() {
            continue;
        }
        let mut table: Vec<Column> = head
            .iter()
            .map(|word| if is_number(word) { Column::figures(word) } else { Column::names(word) })
            .collect();
        rows.iter().for_each(|row| columns::row(&mut table, row));
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!("{gap}{title}\n{}", columns::render(&table)));
    }
    text
}

/// Both tables for the page.
pub(crate) fn tables(hosts: &[HostFacts]) -> Markup {
    let of = |title: &'static str, head: &[&'static str], rows: Vec<Vec<String>>| {
        if rows.is_empty() {
            return Markup::new();
        }
        let class = |word: &str| if is_number(word) { "number" } else { "" };
        let heads: Markup = head
            .iter()
            .map(|word| element("th", &[("scope", "col"), ("class", class(word))], *word))
            .collect();
        let row = |cells: Vec<String>| {
            let cell = |(word, text): (&&str, String)| classed("td", class(word), text);
            plain("tr", head.iter().zip(cells).map(cell).collect::<Markup>())
        };
        let body: Markup = rows.into_iter().map(row).collect();
        let caption = plain("caption", title);
        let table = [caption, plain("thead", plain("tr", heads)), plain("tbody", body)];
        classed("div", "scroll", element("table", &[("class", "narrow")], table))
    };
    [
        of("Drives of all hosts", &DRIVES, drive_rows(hosts)),
        of("Ports with a link", &PORTS, port_rows(hosts)),
    ]
    .into()
}

fn is_number(head: &str) -> bool {
    ["size", "hosts", "per host", "in all", "ports", "speed of each", "together"].contains(&head)
}

fn drive_rows(hosts: &[HostFacts]) -> Vec<Vec<String>> {
    let mut all: Vec<Drives> = Vec::new();
    for kind in hosts.iter().flat_map(drives::kinds) {
        let count = kind.count;
        let kind = drives::Kind { count: 1, ..kind };
        match all.iter_mut().find(|known| known.kind == kind) {
            Some(known) => known.of_hosts.push(count),
            None => all.push(Drives { kind, of_hosts: vec![count] }),
        }
    }
    all.iter().map(drive_row).collect()
}

fn drive_row(drives: &Drives) -> Vec<String> {
    let known = |text: &str| if text.is_empty() { "–".to_owned() } else { text.to_owned() };
    let counts = || drives.of_hosts.iter().copied();
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let all = counts().fold(0u64, u64::saturating_add);
    let bytes = model::Bytes(drives.kind.size.saturating_mul(all));
    vec![
        known(drives.kind.media.words()),
        known(&drives.kind.transport),
        if drives.kind.is_boot { "boot" } else { "data" }.to_owned(),
        known(&drives.kind.model),
        words::decimal(model::Bytes(drives.kind.size)),
        words::count(drives.of_hosts.len() as u64),
        if least == most { words::count(most) } else { format!("{least} to {most}") },
        format!("{} ({})", words::count(all), words::decimal(bytes)),
    ]
}

/// Ports of one speed of each host, and all of them.
fn port_rows(hosts: &[HostFacts]) -> Vec<Vec<String>> {
    let (mut rows, mut count, mut sum) = (Vec::new(), 0u64, Some(0u64));
    for host in hosts {
        let mut speeds: Vec<Option<u32>> =
            ports::summary(host).into_iter().map(|(speed, _)| speed).collect();
        speeds.sort_unstable();
        for same in speeds.chunk_by(|a, b| a == b) {
            let number = same.len() as u64;
            let speed = same.first().copied().flatten().map(u64::from);
            let gbit = |mbit: u64| words::gbit_per_s(mbit as f64 * 1e6);
            let together = speed.map(|mbit| mbit.saturating_mul(number));
            count += number;
            // Of ports whose speed nobody tells there is no sum.
            sum = sum.zip(together).map(|(sum, one)| sum.saturating_add(one));
            rows.push(vec![
                host.hostname.clone(),
                words::count(number),
                speed.map_or_else(|| "not told".to_owned(), gbit),
                together.map_or_else(|| "–".to_owned(), gbit),
            ]);
        }
    }
    if rows.len() > 1 {
        let all = sum.map_or_else(|| "–".to_owned(), |mbit| words::gbit_per_s(mbit as f64 * 1e6));
        rows.push(vec!["all hosts".to_owned(), words::count(count), "–".to_owned(), all]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
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
        for word in ["NVMe", "pcie", "data", "3.84 TB", "3", "4 to 6", "16 (61.44 TB)"] {
            assert!(line.contains(word), "{word}: {line}");
        }
        let all = text.lines().find(|line| line.starts_with("all hosts")).expect("a sum");
        assert!(all.contains('6') && all.contains("150.0 Gbit/s"), "{all}");
        let page = tables(&[node(0, 6)]).into_string();
        assert!(page.contains("EXAMPLE &lt;SSD&gt;") && page.contains("50.0 Gbit/s"), "{page}");
        assert_eq!(render(&[testing::host(0)]), "");
    }
}
