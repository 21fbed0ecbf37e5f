//! The calls of `kubectl`, and what is read out of its answers.

use super::manifest::quantity;
use crate::Problem;
use crate::remote::{Runs, Takes, array, ask, fed_text, own_line, read, text};
use model::Bytes;
use serde_json::Value;
use std::collections::BTreeMap;

/// The resources, in full: other systems have some of the short names, too.
pub(super) const MACHINES: &str = "virtualmachines.kubevirt.io";
pub(super) const CLAIMS: &str = "persistentvolumeclaims";

/// `kubectl` with its cluster and its namespace.
pub(super) struct Kubectl {
    pub(super) program: Box<dyn Runs>,
    /// `kube://CONTEXT/NAMESPACE`; anything else is the user's current ones.
    pub(super) connect: String,
}

/// A node that could take machines.
pub(super) struct NodeRoom {
    pub(super) name: String,
    pub(super) free: Bytes,
}

impl Kubectl {
    /// The context and the namespace that were named.
    fn named(&self) -> (Option<&str>, Option<&str>) {
        let Some(path) = self.connect.strip_prefix("kube://") else { return (None, None) };
        let (context, namespace) = path.split_once('/').unwrap_or((path, ""));
        (Some(context).filter(|it| !it.is_empty()), Some(namespace).filter(|it| !it.is_empty()))
    }

    /// The context and the namespace of all calls.
    pub(super) fn context(&self) -> Result<Context, Problem> {
        let (context, namespace) = self.named();
        if let (Some(context), Some(namespace)) = (context, namespace) {
            return Context::of(context, namespace);
        }
        let mut words = vec!["config", "view", "--minify", "-o", "json"];
        words.extend(context.iter().flat_map(|context| ["--context", context]));
        let told = read("kubectl config view", &ask(&*self.program, &words)?)?;
        let call = "kubectl config view";
        let contexts = array(call, &told, "contexts")?;
        let one = contexts.first().ok_or_else(|| strange(call, "context"))?;
        let name = text(one, "name").ok_or_else(|| strange(call, "name"))?;
        let own = text(one, "context.namespace").filter(|name| !name.is_empty());
        Context::of(name, namespace.or(own).unwrap_or("default"))
    }

    pub(super) fn run(&self, words: &[&str], manifest: &str) -> Result<String, Problem> {
        let context = self.context()?;
        self.run_in(&context, words, Takes::Short, manifest)
    }

    fn run_in(
        &self,
        context: &Context,
        words: &[&str],
        takes: Takes,
        manifest: &str,
    ) -> Result<String, Problem> {
        let first = ["--context", &context.name, "--namespace", &context.namespace];
        let words = [&first[..], words].concat();
        self.program.run(&words, takes, &mut fed_text(manifest))
    }

    /// What waits for the end of others' work.
    pub(super) fn wait(&self, words: &[&str]) -> Result<String, Problem> {
        self.run_in(&self.context()?, words, Takes::Long, "")
    }

    pub(super) fn json(&self, words: &[&str]) -> Result<Value, Problem> {
        let answer = self.run(&[words, &["-o", "json"]].concat(), "")?;
        read(&format!("kubectl {}", words.join(" ")), &answer)
    }

    /// An object, if it is there.
    pub(super) fn object(&self, kind: &str, name: &str) -> Result<Option<Value>, Problem> {
        let words = ["get", kind, name, "--ignore-not-found", "-o", "json"];
        let answer = self.run(&words, "")?;
        match answer.trim() {
            "" => Ok(None),
            text => read(&format!("kubectl get {kind} {name}"), text).map(Some),
        }
    }

    /// What tells this namespace of this cluster from all others.
    pub(super) fn site(&self) -> Result<String, Problem> {
        let context = self.context()?;
        let call = "kubectl get namespace";
        let told = self.json(&["get", "namespace", &context.namespace])?;
        let uid = text(&told, "metadata.uid").ok_or_else(|| strange(call, "metadata.uid"))?;
        Ok(format!("the namespace {} ({})", context.namespace, own_line(uid)))
    }

    /// The nodes that KubeVirt may use, with what pods have left of their memory.
    pub(super) fn nodes(&self) -> Result<Vec<NodeRoom>, Problem> {
        let columns = "custom-columns=NAME:.metadata.name,MEMORY:.status.allocatable.memory";
        let schedulable = ["get", "nodes", "-l", "kubevirt.io/schedulable=true"];
        let told = self.run(&[&schedulable[..], &["--no-headers", "-o", columns]].concat(), "")?;
        let mut all = BTreeMap::new();
        for line in told.lines() {
            let mut words = line.split_whitespace();
            if let (Some(name), Some(memory)) = (words.next(), words.next().and_then(quantity)) {
                all.insert(name.to_owned(), memory.0);
            }
        }
        let columns = "custom-columns=NODE:.spec.nodeName,\
                       MEMORY:.spec.containers[*].resources.requests.memory";
        let active = "status.phase!=Succeeded,status.phase!=Failed";
        let words = ["get", "pods", "--all-namespaces", "--field-selector", active];
        let told = self.run(&[&words[..], &["--no-headers", "-o", columns]].concat(), "")?;
        for line in told.lines() {
            let mut words = line.split_whitespace();
            let Some(free) = words.next().and_then(|node| all.get_mut(node)) else { continue };
            let asked = words.next().unwrap_or_default().split(',').filter_map(quantity);
            let asked = asked.fold(0u64, |sum, one| sum.saturating_add(one.0));
            *free = free.saturating_sub(asked);
        }
        let nodes = all.into_iter().map(|(name, free)| NodeRoom { name, free: Bytes(free) });
        Ok(nodes.collect())
    }

    /// The storage classes, and which is the cluster's default.
    pub(super) fn classes(&self) -> Result<Vec<Class>, Problem> {
        let call = "kubectl get storageclasses";
        let told = self.json(&["get", "storageclasses.storage.k8s.io"])?;
        let classes = array(call, &told, "items")?.iter().map(|one| {
            let name = text(one, "metadata.name").ok_or_else(|| strange(call, "metadata.name"))?;
            let notes = one.get("metadata").and_then(|it| it.get("annotations"));
            let mark = "storageclass.kubernetes.io/is-default-class";
            let is_default =
                notes.and_then(|it| it.get(mark)).and_then(Value::as_str) == Some("true");
            Ok(Class { name: name.to_owned(), is_default })
        });
        classes.collect()
    }

    /// The names of objects of a kind that have a label of this value.
    pub(super) fn labelled(&self, kind: &str, label: &str) -> Result<Vec<String>, Problem> {
        let told = self.json(&["get", kind, "-l", label])?;
        let call = format!("kubectl get {kind}");
        let names = array(&call, &told, "items")?.iter().map(|one| {
            let name = text(one, "metadata.name").filter(|name| is_name(name));
            name.map(str::to_owned).ok_or_else(|| strange(&call, "metadata.name"))
        });
        names.collect()
    }
}

/// A storage class.
pub(super) struct Class {
    pub(super) name: String,
    pub(super) is_default: bool,
}

/// The cluster and the namespace of calls.
pub(super) struct Context {
    pub(super) name: String,
    pub(super) namespace: String,
}

impl Context {
    fn of(name: &str, namespace: &str) -> Result<Context, Problem> {
        match !name.starts_with('-') && is_name(namespace) {
            true => Ok(Context { name: name.to_owned(), namespace: namespace.to_owned() }),
            false => Err(Problem::Unfit {
                what: format!("`{}` is no namespace of Kubernetes", own_line(namespace)),
                remedy: "write vms.connect = \"kube://CONTEXT/NAMESPACE\"".to_owned(),
            }),
        }
    }
}

/// Whether a text can be an object's name, and is no option.
pub(super) fn is_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    !text.is_empty() && text.len() <= 253 && !text.starts_with('-') && text.chars().all(is_letter)
}

pub(super) fn strange(call: &str, what: &str) -> Problem {
    Problem::Tool { call: call.to_owned(), said: format!("its answer has no {what}") }
}
