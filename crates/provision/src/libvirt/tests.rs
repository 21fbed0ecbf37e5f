//! What is said to libvirt, without one. `tests/vms.rs` drives a real one.

use super::*;
use crate::deployment::tests::wanted;
use model::machines::{Accelerator, DiskBus, DiskCache};

#[test]
fn a_domain_has_our_mark_and_its_own_disks() {
    let token = "0123456789abcdef0123456789abcdef";
    let pools = vec!["p".to_owned()];
    let ground = Ground::Pools { connect: "qemu:///system".into(), pools };
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
    };
    let sources = Sources {
        kernel: "/p/k&r".into(),
        image: "/p/i".into(),
        console: "/p/c".into(),
        disks: vec!["/p/0".into(), "/p/it's".into()],
    };
    let text = described(&made, &made.machines[0], &boot, &sources);
    assert!(domain::is_ours(&text, token) && !domain::is_ours(&text, "another"));
    assert_eq!(domain::devices(&text), ["vda", "vdb"]);
    for part in [
        "<domain type='qemu'><name>a-1</name>",
        "<kernel>/p/k&amp;r</kernel>",
        "<source file='/p/it&apos;s'/>",
        "cache='none'",
        "<memory unit='b'>268435456</memory><vcpu>2</vcpu>",
        "--name=a-1 --disk=/dev/vda --disk=/dev/vdb</cmdline>",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
