use super::*;
use analysis::ceiling::{Workload, ceiling};
use catalogue::Cluster;
use model::inventory::{Media, MountFacts, NicFacts, NumaNode, RdmaFacts};
use model::testbed::DeviceFacts;

/// A storage server: two sockets, eight drives that the catalogue knows, two that it does not, one
/// to boot, two fast ports and a slow one.
fn server(name: &str) -> HostFacts {
    let mut host = analysis::testing::host(0);
    host.hostname = name.to_owned();
    host.memory = Bytes::gib(256);
    let disk = |name: String, model: &str, size: u64, numa_node| DeviceFacts {
        name,
        model: model.to_owned(),
        size: Bytes(size),
        media: Media::Nvme,
        numa_node: Some(numa_node),
        ..DeviceFacts::default()
    };
    let nic = |name: &str, driver: &str, speed_mbit, numa_node| NicFacts {
        name: name.to_owned(),
        driver: driver.to_owned(),
        speed_mbit: Some(speed_mbit),
        up: true,
        numa_node: Some(numa_node),
        ..NicFacts::default()
    };
    let inventory = &mut host.inventory;
    (inventory.sockets, inventory.cores, inventory.threads) = (2, 40, 80);
    inventory.numa = (0..2).map(|node| NumaNode { node, ..NumaNode::default() }).collect();
    inventory.disks = (0..8)
        .map(|n| disk(format!("nvme{n}n1"), "INTEL SSDPE2KE016T8", 1_600_321_314_816, 0))
        .collect();
    inventory.disks.push(disk("nvme8n1".to_owned(), "ACME \"Z\"\n[x]", 3_840_755_982_336, 0));
    inventory.disks.push(disk("sda".to_owned(), "BOOT", 480_103_981_056, 0));
    inventory
        .disks
        .push(DeviceFacts { media: Media::Memory, ..disk("zram0".to_owned(), "", 1 << 30, 0) });
    inventory.disks.push(disk("md0".to_owned(), "", 1 << 40, 0));
    inventory.mounts = vec![MountFacts {
        mount_point: "/".to_owned(),
        source: "/dev/sda2".to_owned(),
        ..MountFacts::default()
    }];
    inventory.nics = vec![
        nic("eth0", "ice", 25_000, 0),
        nic("eth1", "ice", 25_000, 1),
        nic("eno1", "igb", 1_000, 0),
        nic("bond0", "", 50_000, 0),
    ];
    host
}

fn read(draft: &TestbedDraft) -> Cluster {
    Cluster::parse("draft.toml", &draft.text, &[])
        .unwrap_or_else(|errors| panic!("{errors:?}\n{}", draft.text))
}

#[test]
fn a_cluster_is_drafted_with_its_questions() {
    let hosts = [server("n1"), server("n2"), server("n3")];
    let draft = testbed("lab", &hosts, 1_700_000_000_000_000_000);
    insta::assert_snapshot!(draft.text);
    let asked =
        draft.text.lines().filter(|line| line.starts_with('#') && line.contains('?')).count();
    // The line that explains what a `?` is asks nothing itself.
    assert_eq!(draft.questions, asked - 1);
}

#[test]
fn ceiling_takes_the_draft_as_it_is_and_every_answer_too() {
    let mut hosts = vec![server("n1"), server("n2"), server("odd"), server("n3")];
    hosts[2].inventory.disks.truncate(4);
    let draft = testbed("lab", &hosts, 0);
    let cluster = read(&draft);
    assert_eq!((cluster.nodes.len(), cluster.node_count()), (2, 4));
    let work = Workload::usual(None);
    let before = work.iter().map(|work| ceiling(&cluster, work)).collect::<Vec<_>>();
    assert_eq!(before.len(), work.len());

    // Every proposed answer, but for parity beside copies and for the kind of drive that the
    // unknown one is not.
    let is_answer = |line: &str| {
        line.strip_prefix("# ").is_some_and(|line| {
            line.split_once(" = ")
                .is_some_and(|(key, _)| key.bytes().all(|c| c.is_ascii_lowercase() || c == b'_'))
        })
    };
    let left_out = ["# data =", "# parity =", "# role ="];
    let filled: Vec<&str> = draft
        .text
        .lines()
        .map(|line| {
            if is_answer(line) && !left_out.iter().any(|key| line.starts_with(key)) {
                &line[2..]
            } else {
                line
            }
        })
        .collect();
    let filled = TestbedDraft { text: filled.join("\n"), questions: 0 };
    let cluster = read(&filled);
    assert!(cluster.has_clients());
}

#[test]
fn hosts_that_tell_nothing_give_a_draft_of_questions() {
    let mut bare = analysis::testing::host(0);
    bare.inventory = model::inventory::Inventory::default();
    bare.hostname = "n\u{1b}1\nname = \"x\"".to_owned();
    bare.cpu_model = "a\n[cpu]".to_owned();
    bare.hypervisor = Some("KVM\n".to_owned());
    bare.inventory.mounts = vec![MountFacts {
        network: true,
        source: "filer:/x\n[y]".to_owned(),
        ..MountFacts::default()
    }];
    let draft = testbed("a \"name\"", &[bare], 0);
    assert!(
        !draft.text.contains('\u{1b}') && draft.text.contains("clients of the storage"),
        "{}",
        draft.text
    );
    let cluster = read(&draft);
    assert_eq!((cluster.top.name.value.as_str(), cluster.nodes.len()), ("a \"name\"", 1));
}

#[test]
fn an_infiniband_port_counts_once_and_what_is_far_is_only_said_where_it_is_known() {
    let mut host = server("n1");
    assert!(testbed("x", &[host.clone()], 0).text.contains("far_ports = 1\n"));
    host.inventory.disks[0].numa_node = Some(1);
    assert!(
        testbed("x", &[host.clone()], 0).text.contains("# far_ports = 1\n"),
        "drives on both sockets"
    );
    let nic = NicFacts {
        name: "ib0".to_owned(),
        driver: "mlx5_core".to_owned(),
        speed_mbit: Some(100_000),
        up: true,
        ..NicFacts::default()
    };
    let port = |port, state: &str| RdmaFacts {
        device: "mlx5_0".to_owned(),
        port,
        rate_mbit: Some(100_000),
        link: "InfiniBand".to_owned(),
        state: state.to_owned(),
        numa_node: None,
    };
    host.inventory.nics.push(nic);
    host.inventory.rdma = vec![port(1, "ACTIVE"), port(2, "DOWN")];
    let text = testbed("x", &[host], 0).text;
    assert!(text.contains("\nports = 1\nport_speed = \"100Gbit/s\"\n"), "{text}");
}

#[test]
fn the_only_drive_there_is_and_one_below_a_target_are_for_data_whatever_starts_from_them() {
    let mut host = server("n1");
    host.inventory.disks.retain(|disk| disk.name == "sda");
    let text = testbed("lab", &[host], 0).text;
    assert!(text.contains("# role = \"boot\"") && !text.contains("\nrole ="), "{text}");
    assert!(text.contains("# read_iops = 600_000"), "{text}");
    let mut host = server("n1");
    let boot = host.inventory.disks.iter().find(|disk| disk.name == "sda").cloned();
    host.targets[0].device = None;
    assert!(testbed("lab", &[host.clone()], 0).text.contains("\nrole = \"boot\""));
    host.targets[0].device = boot;
    let text = testbed("lab", &[host], 0).text;
    assert!(text.contains("A target lies on it, too") && !text.contains("\nrole ="), "{text}");
    assert!(text.contains("# read_iops = 600_000"), "{text}");
}
