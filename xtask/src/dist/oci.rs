//! An image for containers, as a tar of an OCI image layout (OCI Image Format 1.0.2): the program
//! alone, built without a daemon. `podman load -i FILE`, `skopeo copy oci-archive:FILE …` and
//! `docker load -i FILE` (25 or later) take it.

use super::contents::Package;
use super::deb::architecture;
use super::sums::sha256;
use super::tar::{Entry, gzip, tar, with_folders};
use crate::shell::Outcome;
use serde_json::{Value, json};

const IMAGE: &str = "application/vnd.oci.image";

/// The whole file.
///
/// # Errors
/// As those of [`tar`].
pub fn oci(package: &Package, created: &str) -> Outcome<Vec<u8>> {
    let mut files: Vec<Entry> = package.entries.clone();
    files.retain(|entry| entry.path.starts_with("usr/bin/") || entry.path.contains("LICENSE"));
    // Where a run writes unless told otherwise, and what a program may expect of every root.
    files.extend([Entry::folder("data", 0o1777), Entry::folder("tmp", 0o1777)]);
    let layer = tar(&with_folders(files), "", package.epoch_s)?;
    let packed = gzip(&layer)?;
    let config = bytes(&json!({
        "created": created,
        "architecture": architecture(package.processor)?,
        "os": "linux",
        "config": {
            "Entrypoint": ["/usr/bin/plimsoll"],
            "WorkingDir": "/data",
            "Env": ["PATH=/usr/bin"],
            "Labels": {
                "org.opencontainers.image.title": package.name,
                "org.opencontainers.image.version": package.version,
                "org.opencontainers.image.licenses": package.licence,
                "org.opencontainers.image.description": package.summary,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [digest(&layer)]},
        "history": [{"created": created, "created_by": "cargo xtask dist --oci"}],
    }));
    let manifest = bytes(&json!({
        "schemaVersion": 2,
        "mediaType": format!("{IMAGE}.manifest.v1+json"),
        "config": described(&format!("{IMAGE}.config.v1+json"), &config),
        "layers": [described(&format!("{IMAGE}.layer.v1.tar+gzip"), &packed)],
    }));
    let mut named = described(&format!("{IMAGE}.manifest.v1+json"), &manifest);
    let name = format!("{}:{}", package.name, package.version);
    named["annotations"] = json!({
        "org.opencontainers.image.ref.name": package.version,
        "io.containerd.image.name": format!("docker.io/library/{name}"),
    });
    let index = bytes(&json!({
        "schemaVersion": 2,
        "mediaType": format!("{IMAGE}.index.v1+json"),
        "manifests": [named],
    }));
    let blob = |content: Vec<u8>| {
        Entry::file(&format!("blobs/sha256/{}", sha256(&content)), 0o644, content)
    };
    let layout = bytes(&json!({"imageLayoutVersion": "1.0.0"}));
    let entries = vec![
        blob(config),
        blob(manifest),
        blob(packed),
        Entry::file("index.json", 0o644, index),
        Entry::file("oci-layout", 0o644, layout),
    ];
    tar(&with_folders(entries), "", package.epoch_s)
}

fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn digest(content: &[u8]) -> String {
    format!("sha256:{}", sha256(content))
}

fn described(kind: &str, content: &[u8]) -> Value {
    json!({"mediaType": kind, "digest": digest(content), "size": content.len()})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::contents::tests::package;

    #[test]
    fn every_blob_is_named_by_its_checksum_and_the_image_is_the_same_every_time() {
        let image = oci(&package(), "1970-01-02T00:00:00Z").expect("an image");
        assert_eq!(image, oci(&package(), "1970-01-02T00:00:00Z").expect("again"));
        let text = String::from_utf8_lossy(&image);
        let mut blobs = 0;
        for (place, _) in text.match_indices("blobs/sha256/") {
            let name: String =
                text[place + 13..].chars().take_while(char::is_ascii_hexdigit).collect();
            if name.len() == 64 {
                blobs += 1;
                assert!(text.contains(&format!("sha256:{name}")), "nobody names {name}");
            }
        }
        assert_eq!(blobs, 3);
        assert!(text.contains("\"imageLayoutVersion\":\"1.0.0\""));
    }
}
