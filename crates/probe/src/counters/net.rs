//! Networks: interfaces (man 5 proc_pid_net) and RDMA ports (the kernel's
//! `ABI/stable/sysfs-class-infiniband`).

use super::Source;
use super::file::{KernelFile, Opener};
use super::parse::{numbers, split_once, words};
use super::table::{Column, Table};
use model::CounterSample;
use model::counters::{Layer, Metric};

fn columns(scale: u64) -> Vec<Column> {
    use Metric::{
        ReceiveDrops, ReceiveErrors, ReceivedBytes, ReceivedPackets, SendDrops, SendErrors,
        SentBytes, SentPackets,
    };
    let bytes = |metric| Column::scaled(metric, scale);
    let rest = [ReceivedPackets, ReceiveErrors, ReceiveDrops].map(Column::plain);
    let sent = [SentPackets, SendErrors, SendDrops].map(Column::plain);
    [&[bytes(ReceivedBytes)], &rest[..], &[bytes(SentBytes)], &sent[..]].concat()
}

/// Where in these columns the dropped packets stand.
const RECEIVE_DROPS: usize = 3;

/// The interfaces of this process's network namespace.
pub struct Nics {
    file: KernelFile,
    table: Table,
}

impl Nics {
    pub fn new(opener: &mut Opener) -> Nics {
        Nics { file: opener.file("proc/net/dev"), table: Table::new(Layer::Nic, columns(1)) }
    }
}

impl Source for Nics {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        let whole = self.file.lines(opener, |line| {
            // The two lines of the head have no colon.
            let Some((name, counts)) = split_once(line, b':') else { return };
            // Received: bytes, packets, errors, drops, fifo, frame, compressed, multicast; then
            // sent: bytes, packets, errors, drops.
            let all = numbers::<12>(words(counts));
            let mut now = [None; 8];
            now[..4].copy_from_slice(&all[..4]);
            now[4..].copy_from_slice(&all[8..]);
            self.table.put(name.trim_ascii(), &now, sample);
        });
        self.table.end(sample);
        (!whole).then_some("/proc/net/dev")
    }
}

/// The counters of an RDMA port, in the order of the columns.
const PORT: [&str; 7] = [
    "port_rcv_data",
    "port_rcv_packets",
    "port_rcv_errors",
    "port_xmit_data",
    "port_xmit_packets",
    "port_xmit_constraint_errors",
    "port_xmit_discards",
];

/// More ports than any host has.
const MOST_PORTS: usize = 256;

/// The ports of all RDMA devices that are there when we begin.
pub struct Rdma {
    table: Table,
    ports: Vec<(String, [Option<KernelFile>; 7])>,
}

impl Rdma {
    pub fn new(opener: &mut Opener) -> Rdma {
        let folder = "sys/class/infiniband";
        let mut names = Vec::new();
        for device in opener.tree().names(folder) {
            let ports = opener.tree().names(&format!("{folder}/{device}/ports"));
            names.extend(ports.into_iter().map(|port| (device.clone(), port)));
        }
        names.truncate(MOST_PORTS);
        let mut files = |device: &str, port: &str| {
            PORT.map(|name| {
                opener.file_of_now(&format!("{folder}/{device}/ports/{port}/counters/{name}"))
            })
        };
        let ports = names
            .iter()
            .map(|(device, port)| (format!("{device}/{port}"), files(device, port)))
            .collect();
        // Data is counted in lanes of four bytes; what was dropped on receiving is not.
        let mut columns = columns(4);
        columns.remove(RECEIVE_DROPS);
        Rdma { table: Table::new(Layer::Rdma, columns), ports }
    }
}

impl Source for Rdma {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        let mut any = self.ports.is_empty();
        for (name, files) in &mut self.ports {
            let now = files.each_mut().map(|file| file.as_mut()?.number(opener));
            if now.iter().any(Option::is_some) {
                any = true;
                self.table.put(name.as_bytes(), &now, sample);
            }
        }
        self.table.end(sample);
        // Containers often see the ports of their host and not what these count.
        (!any).then_some("/sys/class/infiniband/*/ports/*/counters")
    }
}
