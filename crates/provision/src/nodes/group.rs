//! One deployment over several nodes, as the coordinator drives it: all of it or nothing.

use super::{Answer, NodeNeeds, NodeOrder, OfNode, Request};
use crate::deployment::{self, Done, Held, Order};
use crate::record::{Deployment, Ground, OnNodes};
use crate::{Outcome, Problem};
use model::machines::{BootTime, MachineAct};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The way to nodes.
pub trait Reach: Sync {
    /// Asks a node, and waits for its answer. Where `stop` is set, the node is left; it takes down
    /// then what it was making.
    fn ask(&self, node: &str, request: &Request, stop: &AtomicBool) -> Outcome<Answer>;
}

struct Asked {
    node: String,
    request: Request,
}

/// Asks all nodes at the same time; the answers come in their order.
fn ask_all(reach: &dyn Reach, asked: &[Asked], stop: &AtomicBool) -> Vec<Outcome<Answer>> {
    let answers: Vec<Mutex<Option<Outcome<Answer>>>> =
        asked.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for (one, place) in asked.iter().zip(&answers) {
            scope.spawn(move || {
                let answer = reach.ask(&one.node, &one.request, stop).and_then(not_refused(one));
                if let Ok(mut place) = place.lock() {
                    *place = Some(answer);
                }
            });
        }
    });
    let unheard = |node: &str| Problem::AtNode {
        node: node.to_owned(),
        said: "it gave no answer; try again".to_owned(),
    };
    let nodes = asked.iter().map(|one| one.node.as_str());
    let taken = answers.into_iter().zip(nodes);
    taken
        .map(|(place, node)| {
            place.into_inner().ok().flatten().unwrap_or_else(|| Err(unheard(node)))
        })
        .collect()
}

fn not_refused(asked: &Asked) -> impl FnOnce(Answer) -> Outcome<Answer> {
    |answer| match answer {
        Answer::Refused { said } => Err(Problem::AtNode { node: asked.node.clone(), said }),
        answer => Ok(answer),
    }
}

fn wrong(node: &str) -> Problem {
    let said = "it answered to something else; put the same version of plimsoll there".to_owned();
    Problem::AtNode { node: node.to_owned(), said }
}

/// What machines would take of each node, in the order of the nodes.
///
/// # Errors
/// The first node that cannot make its machines, with the reason.
pub fn needs(
    reach: &dyn Reach,
    nodes: &OnNodes,
    order_of: &dyn Fn(&str) -> NodeOrder,
) -> Outcome<Vec<NodeNeeds>> {
    let one = |node: &String| Asked { node: node.clone(), request: Request::Needs(order_of(node)) };
    let asked: Vec<Asked> = nodes.parts.iter().map(|part| one(&part.node)).collect();
    let answers = ask_all(reach, &asked, &AtomicBool::new(false));
    let needs = answers.into_iter().zip(&asked).map(|(answer, asked)| match answer? {
        Answer::Needs(needs) => Ok(needs),
        _ => Err(wrong(&asked.node)),
    });
    needs.collect()
}

/// Has each node make its machines. Where one cannot, all are taken down. What each node is to make
/// is asked for with the token of all.
///
/// # Errors
/// The first node's reason.
pub fn up(
    reach: &dyn Reach,
    order: &Order<'_>,
    nodes: OnNodes,
    order_of: &dyn Fn(&str, &str) -> NodeOrder,
    stop: &AtomicBool,
) -> Outcome<Held> {
    let mut held = deployment::begin_on_nodes(order, nodes)?;
    match make(reach, &held.deployment, order_of, stop) {
        Ok(boots) => {
            held.deployment.boots = boots;
            held.deployment.write()?;
            Ok(held)
        }
        Err(first) => match down(reach, held) {
            Ok(()) if stop.load(Ordering::SeqCst) => Err(Problem::Stopped),
            Ok(()) => Err(first),
            Err(then) => Err(Problem::Leftover { first: Box::new(first), then: Box::new(then) }),
        },
    }
}

fn make(
    reach: &dyn Reach,
    deployment: &Deployment,
    order_of: &dyn Fn(&str, &str) -> NodeOrder,
    stop: &AtomicBool,
) -> Outcome<Vec<BootTime>> {
    let up = |node: &str| Request::Up(order_of(node, &deployment.token));
    let asked = asked(deployment, &up);
    let mut boots = Vec::new();
    for (answer, asked) in ask_all(reach, &asked, stop).into_iter().zip(&asked) {
        match answer? {
            Answer::Up { boots: some } => boots.extend(some),
            _ => return Err(wrong(&asked.node)),
        }
    }
    let at = |boot: &BootTime| deployment.machines.iter().position(|m| m.name == boot.machine);
    boots.retain(|boot| at(boot).is_some());
    boots.sort_by_key(at);
    Ok(boots)
}

fn asked(deployment: &Deployment, request: &dyn Fn(&str) -> Request) -> Vec<Asked> {
    let Ground::Nodes(nodes) = &deployment.ground else { return Vec::new() };
    let one = |node: &String| Asked { node: node.clone(), request: request(node) };
    nodes.parts.iter().map(|part| one(&part.node)).collect()
}

/// Has each node remove its machines. The record goes when all of them are gone.
///
/// # Errors
/// The first node that still has some, or cannot be reached.
pub fn down(reach: &dyn Reach, held: Held) -> Outcome {
    let deployment = &held.deployment;
    let gone =
        |_: &str| Request::Down { name: deployment.name.clone(), token: deployment.token.clone() };
    let asked = asked(deployment, &gone);
    let answers = ask_all(reach, &asked, &AtomicBool::new(false));
    for (answer, asked) in answers.into_iter().zip(&asked) {
        match answer? {
            Answer::Gone => {}
            _ => return Err(wrong(&asked.node)),
        }
    }
    held.forget()
}

/// What the machines of each node do, in the order of the nodes; the error of one is its alone.
pub fn list(reach: &dyn Reach, deployment: &Deployment) -> Vec<Outcome<OfNode>> {
    let list =
        |_: &str| Request::List { name: deployment.name.clone(), token: deployment.token.clone() };
    let asked = asked(deployment, &list);
    let answers = ask_all(reach, &asked, &AtomicBool::new(false));
    let listed = answers.into_iter().zip(&asked).map(|(answer, asked)| match answer? {
        Answer::Listed { machines, counts } => Ok(OfNode { machines, counts }),
        _ => Err(wrong(&asked.node)),
    });
    listed.collect()
}

/// Does something to machines on their nodes; the nodes at the same time, the machines of each one
/// after the other.
///
/// # Errors
/// A machine that is not there, or the first node's reason.
pub fn on_machines(
    reach: &dyn Reach,
    deployment: &Deployment,
    machines: &[String],
    act: MachineAct,
    to: Option<&str>,
) -> Outcome<Vec<Done>> {
    let Ground::Nodes(nodes) = &deployment.ground else { return Ok(Vec::new()) };
    if let Some(none) = machines.iter().find(|name| nodes.node_of(name).is_none()) {
        let name = deployment.name.clone();
        return Err(Problem::NoMachine { machine: none.clone(), name });
    }
    let mut asked = Vec::new();
    for part in &nodes.parts {
        let is_chosen = |name: &&String| machines.is_empty() || machines.contains(name);
        let chosen: Vec<String> = part.machines.iter().filter(is_chosen).cloned().collect();
        if !chosen.is_empty() {
            let request = Request::Act {
                name: deployment.name.clone(),
                token: deployment.token.clone(),
                machines: chosen,
                act,
                to: to.map(str::to_owned),
            };
            asked.push(Asked { node: part.node.clone(), request });
        }
    }
    let mut all = Vec::new();
    let answers = ask_all(reach, &asked, &AtomicBool::new(false));
    for (answer, asked) in answers.into_iter().zip(&asked) {
        match answer? {
            Answer::Acted { done } => all.extend(done),
            _ => return Err(wrong(&asked.node)),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Places;
    use crate::deployment::tests::wanted;
    use model::machines::{OnNode, ProviderKind};

    /// Nodes that note what they were asked; `b` cannot make machines.
    #[derive(Default)]
    struct Noted {
        asked: Mutex<Vec<String>>,
        is_b_full: bool,
        is_b_gone: bool,
    }

    impl Reach for Noted {
        fn ask(&self, node: &str, request: &Request, _: &AtomicBool) -> Outcome<Answer> {
            let at_b = |is: bool| is && node == "b";
            let said = "no memory".to_owned();
            let (word, answer) = match request {
                Request::Up(_) if at_b(self.is_b_full) => ("up", Answer::Refused { said }),
                Request::Up(order) => ("up", Answer::Up { boots: boots(&order.wanted.names()) }),
                Request::Down { .. } if at_b(self.is_b_gone) => {
                    return Err(Problem::AtNode { node: node.to_owned(), said });
                }
                Request::Act { .. } => ("act", Answer::Acted { done: Vec::new() }),
                _ => ("down", Answer::Gone),
            };
            self.asked.lock().expect("ours").push(format!("{node} {word}"));
            Ok(answer)
        }
    }

    fn boots(names: &[String]) -> Vec<BootTime> {
        let boot = |name: &String| BootTime {
            machine: name.clone(),
            agent: model::Nanos::seconds(1),
            first_read: None,
            reads: None,
        };
        names.iter().map(boot).collect()
    }

    fn nodes() -> OnNodes {
        let part = |node: &str, machine: &str| OnNode {
            node: node.to_owned(),
            machines: vec![machine.to_owned()],
        };
        OnNodes {
            launcher: Vec::new(),
            provider: ProviderKind::Qemu,
            parts: vec![part("b", "x-2"), part("a", "x-1")],
        }
    }

    fn made(reach: &Noted, places: &Places) -> Outcome<Held> {
        let wanted = wanted("x");
        let order = Order {
            wanted: &wanted,
            pool: None,
            program: "p",
            kernel: None,
            image: None,
            places,
            token: None,
            asks_for_kvm: false,
        };
        let order_of = |node: &str, token: &str| {
            let mut wanted = wanted.clone();
            wanted.numbers = vec![if node == "a" { 1 } else { 2 }];
            NodeOrder {
                wanted,
                provider: ProviderKind::Qemu,
                connect: String::new(),
                pool: None,
                kernel: None,
                image: None,
                token: token.to_owned(),
                program: "p".into(),
                asks_for_kvm: false,
            }
        };
        up(reach, &order, nodes(), &order_of, &AtomicBool::new(false))
    }

    fn places(root: &tempfile::TempDir) -> Places {
        Places { state: root.path().join("state"), kernels: root.path().join("kernels") }
    }

    #[test]
    fn machines_of_all_nodes_come_up_are_reached_and_go() {
        let root = tempfile::tempdir().expect("a folder");
        let (places, reach) = (places(&root), Noted::default());
        let held = made(&reach, &places).expect("made");
        let names: Vec<_> = held.deployment.boots.iter().map(|boot| &*boot.machine).collect();
        assert_eq!(names, ["x-1", "x-2"], "in the order of the machines");
        let act = |names: &[String]| {
            on_machines(&reach, &held.deployment, names, MachineAct::Pause, None)
        };
        act(&["x-2".to_owned()]).expect("done");
        assert_eq!(reach.asked.lock().expect("ours").pop().as_deref(), Some("b act"));
        assert!(matches!(act(&["x-3".to_owned()]), Err(Problem::NoMachine { .. })));
        down(&reach, held).expect("gone");
        assert!(!places.state.join("x").exists());
    }

    #[test]
    fn where_one_node_fails_all_are_taken_down() {
        let root = tempfile::tempdir().expect("a folder");
        let (places, reach) = (places(&root), Noted { is_b_full: true, ..Noted::default() });
        let told = made(&reach, &places).expect_err("b is full").to_string();
        assert_eq!(told, "node b: no memory");
        let asked = reach.asked.into_inner().expect("ours");
        assert!(["a down", "b down"].iter().all(|wanted| asked.iter().any(|word| word == wanted)));
        assert!(!places.state.join("x").exists());
    }

    #[test]
    fn a_node_that_cannot_be_reached_keeps_the_record() {
        let root = tempfile::tempdir().expect("a folder");
        let places = places(&root);
        let held = made(&Noted::default(), &places).expect("made");
        let lost = Noted { is_b_gone: true, ..Noted::default() };
        assert!(matches!(down(&lost, held), Err(Problem::AtNode { .. })));
        assert!(places.state.join("x").is_dir(), "a second try finds it");
    }
}
