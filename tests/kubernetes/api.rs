//! The manifests and `--kubernetes` before a real API server, which `cargo xtask kubernetes`
//! builds. No node is behind it: no pod runs.

use super::root;
use crate::common::{self, Folder, Words, has, wait_until};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Somebody who may do all, and somebody who has to be given a role.
const USERS: &str = "admin-token,admin,1,system:masters\nme-token,me,2\n";

/// An API server of its own, with the store that it needs.
struct Server {
    processes: Vec<Child>,
    folder: Folder,
}

/// What `kubectl` said, and whether it is content.
struct Said {
    is_well: bool,
    text: String,
}

/// A port that nobody listens at, which the kernel gives to nobody else for a while.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

impl Server {
    fn start() -> Server {
        let folder = common::scratch();
        let at = |name: &str| folder.join(name).display().to_string();
        let [store, peers, port] = [(); 3].map(|()| free_port());
        fs::write(at("tokens.csv"), USERS).expect("room");
        common::run("openssl", ["genrsa", "-out", &at("key"), "2048"]);
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let mut etcd = Command::new("etcd");
        etcd.args(["--data-dir", &at("etcd")]);
        for (option, port) in [("client", store), ("peer", peers)] {
            etcd.arg(format!("--listen-{option}-urls={}", url(port)));
        }
        etcd.arg(format!("--advertise-client-urls={}", url(store)));
        etcd.arg(format!("--initial-advertise-peer-urls={}", url(peers)));
        etcd.arg(format!("--initial-cluster=default={}", url(peers)));
        let mut api = Command::new(program());
        api.arg(format!("--etcd-servers={}", url(store)));
        api.arg(format!("--secure-port={port}"));
        api.args(["--bind-address=127.0.0.1", "--authorization-mode=RBAC"]);
        api.args(["--service-account-issuer=https://plimsoll.test"]);
        api.args(["--service-cluster-ip-range=10.96.0.0/24", "--endpoint-reconciler-type=none"]);
        for (option, file) in [
            ("service-account-key-file", "key"),
            ("service-account-signing-key-file", "key"),
            ("token-auth-file", "tokens.csv"),
            ("cert-dir", "certificates"),
        ] {
            api.arg(format!("--{option}={}", at(file)));
        }
        for user in ["admin", "me"] {
            fs::write(at(user), settings(port, user)).expect("room");
        }
        let started = |mut command: Command, log: &str| {
            let log = fs::File::create(at(log)).expect("room");
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
            command.spawn().expect("it starts")
        };
        let processes = vec![started(etcd, "etcd.log"), started(api, "api.log")];
        let server = Server { processes, folder };
        wait_until("the API server is ready", || {
            server.kubectl("admin", "get --raw /readyz").text.starts_with("ok")
        });
        server
    }

    /// The settings of a user.
    fn settings(&self, user: &str) -> PathBuf {
        self.folder.join(user)
    }

    fn kubectl(&self, user: &str, words: impl Words) -> Said {
        let mut command = Command::new("kubectl");
        command.env("KUBECONFIG", self.settings(user)).args(words.words());
        let output = command.stdin(Stdio::null()).output().expect("kubectl");
        let text = [output.stdout, output.stderr].concat();
        Said { is_well: output.status.success(), text: String::from_utf8_lossy(&text).into_owned() }
    }

    /// What it says of a file that is applied strictly, and with `dry` not kept.
    fn apply(&self, file: &Path, dry: bool) -> Said {
        let file = file.display().to_string();
        let mut words = vec!["--namespace", "plimsoll", "apply", "--validate=strict"];
        words.extend(dry.then_some("--dry-run=server"));
        words.extend(["--filename", &file]);
        self.kubectl("admin", &words)
    }

    fn plimsoll(&self, words: impl Words) -> common::Ended {
        let mut command = common::command(&self.folder, words);
        command.env("KUBECONFIG", self.settings("me")).output().expect("the program starts").into()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Where `cargo xtask kubernetes` puts it.
fn program() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder");
    target.join("kubernetes/kube-apiserver")
}

fn settings(port: u16, user: &str) -> String {
    [
        "apiVersion: v1",
        "kind: Config",
        "current-context: x",
        "clusters:",
        "- name: c",
        "  cluster:",
        &format!("    server: https://127.0.0.1:{port}"),
        "    insecure-skip-tls-verify: true",
        "users:",
        "- name: u",
        "  user:",
        &format!("    token: {user}-token"),
        "contexts:",
        "- name: x",
        "  context:",
        "    cluster: c",
        "    user: u",
        "",
    ]
    .join("\n")
}

/// A pod that says of itself that it runs.
const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"plimsoll-0","namespace":
"plimsoll","labels":{"app":"plimsoll"}},"spec":{"nodeName":"nowhere","serviceAccountName":
"plimsoll","containers":[{"name":"agent","image":"busybox:1.37"}]}}"#;

#[test]
fn a_real_api_server_takes_every_manifest_and_gives_no_right_that_is_not_needed() {
    let true = has("manifests before a real API server", "kubernetes openssl") else { return };
    let server = Server::start();
    let deploy = root().join("deploy");
    let access = server.apply(&deploy.join("kubernetes/access.yaml"), false);
    assert!(access.is_well, "{}", access.text);
    for file in ["kubernetes/claims.yaml", "kubernetes/devices.yaml", "kubernetes/nodes.yaml"]
        .into_iter()
        .chain(["kubernetes.yaml", "kubernetes-canary.yaml"])
    {
        let said = server.apply(&deploy.join(file), true);
        assert!(said.is_well, "{file}: {}", said.text);
        // The level that the guide promises of it.
        let is_warned = said.text.contains("would violate PodSecurity");
        assert_eq!(is_warned, file != "kubernetes/claims.yaml", "{file}: {}", said.text);
    }
    let wrong = server.folder.join("wrong.yaml");
    let text = fs::read_to_string(deploy.join("kubernetes/claims.yaml")).expect("a manifest");
    fs::write(&wrong, text.replace("podManagementPolicy", "podManagementPolice")).expect("room");
    let said = server.apply(&wrong, true);
    assert!(!said.is_well && said.text.contains("podManagementPolice"), "{}", said.text);

    let ask = "plan quick --kubernetes app=plimsoll --kubectl";
    let ask = (&ask, ["--namespace plimsoll", "--target", "/data/x"]);
    let refused = server.plimsoll(ask).with_code(3);
    assert!(refused.err.contains("Forbidden") && refused.err.contains("list"), "{}", refused.err);
    // The command of access.yaml.
    let bind = "--namespace plimsoll create rolebinding me --role";
    let bind = (&bind, "plimsoll-coordinator --user me");
    assert!(server.kubectl("admin", bind).is_well);
    let may = |words: &str| {
        let all = ("--namespace plimsoll auth can-i", words);
        server.kubectl("me", all).is_well
    };
    for verb in ["get", "create"] {
        assert!(may(&format!("{verb} pods --subresource=exec")), "{verb}");
    }
    assert!(may("list pods"));
    for no in ["create pods", "delete pods", "get secrets", "get configmaps"] {
        assert!(!may(no), "{no}");
    }
    let none = server.plimsoll(ask).with_code(3);
    assert!(none.err.contains("no running pod has the labels"), "{}", none.err);

    let pod = server.folder.join("pod.json");
    fs::write(&pod, POD).expect("room");
    let made = server.apply(&pod, false);
    assert!(made.is_well, "{}", made.text);
    let runs = "--namespace=plimsoll patch pod plimsoll-0 --subresource=status";
    let runs = (&runs, ["--patch", r#"{"status":{"phase":"Running"}}"#]);
    assert!(server.kubectl("admin", runs).is_well);
    // It is found; nobody is there who could run a program in it.
    let gone = server.plimsoll(ask).with_code(3);
    assert!(gone.err.contains("host plimsoll-0: no agent could be started"), "{}", gone.err);
    let remedy = "`kubectl --namespace plimsoll exec -i plimsoll-0 -- true`";
    assert!(gone.err.contains(remedy), "{}", gone.err);
}
