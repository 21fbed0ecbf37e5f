//! `cargo xtask kubernetes`: the real API server of Kubernetes, for `tests/kubernetes/api.rs`. Go
//! builds it in ten minutes and more, so that no test does it by itself.

use crate::shell::{self, Outcome};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The version that `fixtures/kubernetes/fields.json` is of, as Kubernetes counts and as its
/// libraries do.
const VERSION: (&str, &str) = ("v1.34.1", "v0.34.1");
/// The program.
const PROGRAM: &str = "kube-apiserver";
/// What it needs beside it, and what drives it.
const BESIDE: [&str; 2] = ["etcd", "kubectl"];
/// Its libraries, which its module names by a version that is none.
const LIBRARIES: &str = "api apiextensions-apiserver apimachinery apiserver cli-runtime client-go \
    cloud-provider cluster-bootstrap code-generator component-base component-helpers \
    controller-manager cri-api cri-client csi-translation-lib \
    dynamic-resource-allocation endpointslice externaljwt kms kube-aggregator \
    kube-controller-manager kube-proxy kube-scheduler kubectl kubelet metrics \
    mount-utils pod-security-admission sample-apiserver sample-cli-plugin \
    sample-controller";

/// Where the program is kept; the test looks for it there.
fn folder() -> Outcome<PathBuf> {
    Ok(shell::target_dir()?.join("kubernetes"))
}

/// Whether all of it is there.
pub fn is_here() -> bool {
    folder().is_ok_and(|folder| folder.join(PROGRAM).is_file())
        && BESIDE.iter().all(|name| shell::which(name).is_some())
}

/// Builds it.
pub fn run() -> Outcome<()> {
    for (program, package) in
        [("go", "golang"), (BESIDE[0], "etcd-server"), (BESIDE[1], "kubernetes-client")]
    {
        if shell::which(program).is_none() {
            return Err(format!(
                "{program} is not installed; install it (the package {package} of Debian), and \
                 try again"
            ));
        }
    }
    let folder = folder()?;
    let source = shell::folder(folder.join("source"))?;
    fs::write(source.join("go.mod"), module()).map_err(|error| error.to_string())?;
    // The server's answer to what version it is, and what it takes for its own age.
    let (version, _) = VERSION;
    let (major, minor) = ("1", version.split('.').nth(1).unwrap_or_default());
    let word = |name: &str, value: &str| format!("-X k8s.io/component-base/version.{name}={value}");
    let flags = [word("gitVersion", version), word("gitMajor", major), word("gitMinor", minor)];
    let mut go = Command::new("go");
    go.args(["build", "-mod=mod", "-ldflags", &format!("-s -w {}", flags.join(" ")), "-o"]);
    go.arg(folder.join(PROGRAM)).arg(format!("k8s.io/kubernetes/cmd/{PROGRAM}"));
    shell::show(go.env("CGO_ENABLED", "0").current_dir(source))
}

fn module() -> String {
    let (version, libraries) = VERSION;
    let mut text = format!(
        "module plimsoll.test/kubernetes\n\ngo 1.24\n\nrequire k8s.io/kubernetes {version}\n"
    );
    for name in LIBRARIES.split(' ') {
        text.push_str(&format!("replace k8s.io/{name} => k8s.io/{name} {libraries}\n"));
    }
    text
}
