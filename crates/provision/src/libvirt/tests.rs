//! What is said to libvirt, without one. `tests/vms.rs` drives a real one.

use super::*;
use crate::deployment::tests::wanted;
use model::machines::{Accelerator, DiskBus, DiskCache};

#[test]
fn a_domain_has_our_mark_and_its_own_disks() {
    let token = "0123456789abcdef0123456789abcdef";
    let pools = vec!["p".to_owned()];
    let ground = Ground::Pools { connect: "qemu:///system".into(), pools, others: Vec::new() };
    let made = Deployment::new(&wanted("a"), token.into(), ground).placed(Path::new("/s/a"));
    let boot = Boot {
        kernel: Path::new("/k"),
        image: Path::new("/i"),
        own: None,
        accelerator: Accelerator::Tcg,
        vcpus: 2,
        memory: Bytes::mib(256),
        bus: DiskBus::VirtioBlk,
        cache: DiskCache::None,
        disks: ImageFormat::Raw,
    };
    let sources = Sources {
        starts: Starts::Kernel { kernel: "/p/k&r".into(), image: "/p/i".into() },
        console: "/p/c".into(),
        disks: vec!["/p/0".into(), "/p/it's".into()],
    };
    let text = described(&made, &made.machines[0], &boot, &sources, false);
    assert!(domain::is_ours(&text, token) && !domain::is_ours(&text, "another"));
    assert_eq!(domain::devices(&text), ["vda", "vdb"]);
    for part in [
        "<domain type='qemu'><name>a-1</name>",
        "<kernel>/p/k&amp;r</kernel>",
        "<source file='/p/it&apos;s'/>",
        "cache='none' io='threads' error_policy='report' rerror_policy='report'/>",
        "<memory unit='b'>268435456</memory><vcpu>2</vcpu>",
        "--name=a-1 --disk=/dev/vda --disk=/dev/vdb</cmdline>",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(domain::marked(&text).as_deref(), Some("a-1"));
    let starts =
        Starts::Root { root: "/p/r<".into(), seed: "/p/s".into(), program: "/p/program".into() };
    let booted = Sources { starts, console: "/p/c".into(), disks: sources.disks.clone() };
    let own = described(&made, &made.machines[0], &boot, &booted, false);
    assert!(!own.contains("<kernel>") && own.contains("<source file='/p/r&lt;'/>"), "{own}");
    assert!(own.contains("<target dev='sda' bus='scsi'/><boot order='1'/>"), "{own}");
    assert_eq!(domain::devices(&own), ["vda", "vdb"], "the image's own are not loaded");
    assert_eq!(domain::marked("<domain><name>a-1</name></domain>"), None);
    let kvm = Boot { accelerator: Accelerator::Kvm, ..boot };
    let on = |is_amd| described(&made, &made.machines[0], &kvm, &sources, is_amd);
    assert!(on(true).contains("<domain type='kvm'>") && on(true).contains("arch-capabilities"));
    assert!(!on(false).contains("arch-capabilities"));
}

#[test]
fn of_a_pool_that_nodes_share_only_our_machines_volumes_go() {
    let token = "0123456789abcdef0123456789abcdef";
    let ground = Ground::Pools { connect: "c".into(), pools: Vec::new(), others: Vec::new() };
    let made = Deployment::new(&wanted("a"), token.into(), ground);
    let is_ours = |name: &str| is_volume_of(&made, &format!("plimsoll-{token}-{name}"));
    for name in ["a-1-disk0.raw", "a-2.console", "a-1.kernel", "image", "a-1-disk0.snapshot"] {
        assert!(is_ours(name), "{name}");
    }
    for name in ["a-3-disk0.raw", "a-10-disk0.raw", "a-1x", "a-3.kernel", ""] {
        assert!(!is_ours(name), "{name}");
    }
    assert!(!is_volume_of(&made, "plimsoll-ffff-a-1-disk0.raw"));
}
