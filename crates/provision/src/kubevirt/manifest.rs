//! What KubeVirt is given: claims of disks and machines, as JSON.

use crate::provider::{Boot, Machine, Volume};
use crate::record::Deployment;
use model::Bytes;
use model::machines::DiskBus;
use serde_json::{Value, json};
use std::path::Path;

/// The labels that say whose an object is.
pub(super) const TOKEN: &str = "plimsoll.dev/token";
pub(super) const MACHINE: &str = "plimsoll.dev/machine";
/// What a template begins with that is an image of a registry.
const IMAGE: &str = "docker://";

/// Where objects are, and what disks come from.
pub(super) struct Site<'a> {
    pub(super) namespace: &'a str,
    pub(super) class: &'a str,
    pub(super) template: &'a str,
}

/// The name of a disk's claim.
pub(super) fn claim_of(disk: &Path) -> String {
    disk.with_extension("").to_string_lossy().into_owned()
}

/// A disk of a machine.
pub(super) fn claim(deployment: &Deployment, volume: &Volume, site: &Site<'_>) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": claim_of(&volume.path),
            "namespace": site.namespace,
            "labels": { TOKEN: deployment.token },
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "volumeMode": "Block",
            "storageClassName": site.class,
            "resources": { "requests": { "storage": volume.size.0.to_string() } },
        },
    })
}

/// What the guest calls a disk: its serial number is ours to choose.
pub(super) fn device(bus: DiskBus, number: usize) -> String {
    let serial = serial(number);
    match bus {
        DiskBus::VirtioScsi => format!("/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_{serial}"),
        DiskBus::VirtioBlk | DiskBus::Nvme => format!("/dev/disk/by-id/virtio-{serial}"),
    }
}

/// The kernel keeps 20 letters of it.
fn serial(number: usize) -> String {
    format!("plimsoll-disk{number}")
}

/// A machine.
pub(super) fn machine(
    deployment: &Deployment,
    machine: &Machine,
    boot: &Boot<'_>,
    site: &Site<'_>,
) -> Value {
    let bus = match boot.bus {
        DiskBus::VirtioScsi => "scsi",
        DiskBus::VirtioBlk | DiskBus::Nvme => "virtio",
    };
    let labels = json!({ TOKEN: deployment.token, MACHINE: machine.name });
    let root = format!("{}{}-root", deployment.mark(), machine.name);
    let (root_volume, templates) = match site.template.strip_prefix(IMAGE) {
        Some(image) => (json!({ "containerDisk": { "image": image } }), json!([])),
        None => {
            let (namespace, name) =
                site.template.split_once('/').unwrap_or((site.namespace, site.template));
            let template = json!({
                "metadata": { "name": root, "labels": labels },
                "spec": {
                    "source": { "pvc": { "namespace": namespace, "name": name } },
                    "storage": { "storageClassName": site.class },
                },
            });
            (json!({ "dataVolume": { "name": root } }), json!([template]))
        }
    };
    let mut disks = vec![json!({ "name": "root", "bootOrder": 1, "disk": { "bus": "virtio" } })];
    let mut volumes = vec![root_volume];
    for (number, disk) in machine.disks.iter().enumerate() {
        disks.push(json!({
            "name": format!("disk{number}"),
            "disk": { "bus": bus },
            "serial": serial(number),
            "cache": "none",
        }));
        volumes.push(json!({ "persistentVolumeClaim": { "claimName": claim_of(disk) } }));
    }
    let seed = format!("#cloud-config\nhostname: {}\n", machine.name);
    disks.push(json!({ "name": "seed", "disk": { "bus": "virtio" } }));
    volumes.push(json!({ "cloudInitNoCloud": { "userData": seed } }));
    for (volume, disk) in volumes.iter_mut().zip(&disks) {
        volume["name"] = disk["name"].clone();
    }
    json!({
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": { "name": machine.name, "namespace": site.namespace, "labels": labels },
        "spec": {
            "runStrategy": "RerunOnFailure",
            "dataVolumeTemplates": templates,
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "hostname": machine.name,
                    "terminationGracePeriodSeconds": 0,
                    "domain": {
                        "firmware": { "uuid": machine.uuid },
                        "cpu": { "cores": boot.vcpus },
                        "memory": { "guest": boot.memory.0.to_string() },
                        "devices": {
                            "disks": disks,
                            "interfaces": [{ "name": "default", "masquerade": {} }],
                        },
                    },
                    "networks": [{ "name": "default", "pod": {} }],
                    "volumes": volumes,
                },
            },
        },
    })
}

/// A quantity of Kubernetes as bytes: `16Gi`, `128974848`, `129M`, `1e9`, `128974848000m`.
pub(super) fn quantity(text: &str) -> Option<Bytes> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(at);
    let scale: f64 = match suffix {
        "" => 1.0,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        "Pi" => 1_125_899_906_842_624.0,
        other => 10f64.powi(other.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?),
    };
    let bytes = number.parse::<f64>().ok()? * scale;
    (0.0..9.2e18).contains(&bytes).then_some(Bytes(bytes as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_those_of_kubernetes() {
        let of = |text: &str| quantity(text).map(|bytes| bytes.0);
        assert_eq!(of("16Gi"), Some(16 << 30));
        assert_eq!(of("128974848"), Some(128_974_848));
        assert_eq!((of("129M"), of("1e3"), of("1500m")), (Some(129_000_000), Some(1000), Some(1)));
        assert_eq!(of("0.5Gi"), Some(1 << 29));
        for bad in ["", "Gi", "-1", "1X", "1e999", "9999999999Pi", "1.2.3", "<none>"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
