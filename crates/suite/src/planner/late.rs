//! Hosts that are not there when a run is planned, and may join it between its points: whether
//! they may, and what is presumed of them. Whoever joins is held to what was presumed.

use crate::{LayoutKind, OtherFiles, Scenario, Spec, Verify, WorkloadSpec};
use model::choices::OnLostHost;
use model::testbed::{DirectoryState, HostFacts, Place, TargetFacts, TargetKind, host_suffix};

/// Whether hosts may join a run of this suite between two of its points: there are two, and no host
/// needs what another one has made. A run of one point has no later one to join at.
pub fn may_join(spec: &Spec) -> bool {
    let points: usize = spec.scenarios().iter().map(|scenario| scenario.points.len()).sum();
    spec.fleet.on_lost_host.value == OnLostHost::Continue
        && points > 1
        && spec.scenarios().iter().all(is_by_itself)
}

/// Whether each host loads what it made itself, and nobody has to remember what was written.
fn is_by_itself(scenario: &Scenario) -> bool {
    let is_own = |workload: &WorkloadSpec| {
        workload.rotate.value == 0 && workload.other.value != OtherFiles::Host
    };
    scenario.layout.kind.value != LayoutKind::SharedFile
        && scenario.contents.verify.value == Verify::No
        && scenario.points.iter().flat_map(|point| &point.workloads).all(is_own)
}

/// What is presumed of the host of this number and name that is to load `targets`: that it is like
/// the first host that is there and loads as many, best the same. `None` where no such host is
/// there, or one of its targets is neither a directory nor simulated: of a device nobody knows
/// whose it is before it is seen.
pub fn presumed(
    number: u32,
    name: &str,
    targets: &[String],
    there: &[(u32, &HostFacts)],
) -> Option<HostFacts> {
    let has_same = |facts: &HostFacts| facts.targets.iter().map(|one| &one.path).eq(targets);
    let like = there
        .iter()
        .find(|(_, facts)| has_same(facts))
        .or_else(|| there.iter().find(|(_, facts)| facts.targets.len() == targets.len()))?;
    let (of, facts) = *like;
    let targets = facts.targets.iter().zip(targets);
    Some(HostFacts {
        hostname: name.to_owned(),
        place: Place::default(),
        identity: String::new(),
        targets: targets
            .map(|(one, path)| like_it(one, path, of, number))
            .collect::<Option<_>>()?,
        ..facts.clone()
    })
}

/// A target at `path` like this one of the host `of`.
fn like_it(one: &TargetFacts, path: &str, of: u32, number: u32) -> Option<TargetFacts> {
    let kind = match &one.kind {
        TargetKind::Directory { root, .. } => {
            let between = root.strip_prefix(&one.path)?.strip_suffix(&host_suffix(of))?;
            let root = format!("{path}{between}{}", host_suffix(number));
            TargetKind::Directory { root, state: DirectoryState::Missing }
        }
        kind @ TargetKind::Simulated { .. } if one.path == path => kind.clone(),
        _ => return None,
    };
    Some(TargetFacts { path: path.to_owned(), kind, chain: Vec::new(), ..one.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::tests::{host, target};

    fn spec(sets: &str) -> Spec {
        let text = format!(
            "name = \"s\"\n[fleet]\non_lost_host = \"continue\"\n[sweep]\ndepth = [1, 2]\n{sets}\n\
             [[workload]]\nname = \"w\"\n"
        );
        Spec::parse("test", &text, &[]).expect("a good suite")
    }

    #[test]
    fn who_needs_what_others_made_is_not_waited_for() {
        assert!(may_join(&spec("")));
        assert!(!may_join(&spec("[layout]\nkind = \"shared-file\"\nsize = \"1GiB\"")));
        assert!(!may_join(&spec("[contents]\nverify = \"true\"")));
        let all = "name = \"s\"\n[sweep]\ndepth = [1, 2]\n[[workload]]\nname = \"w\"\n";
        assert!(!may_join(&Spec::parse("test", all, &[]).expect("good")), "all or nothing");
        let one = "name = \"s\"\n[fleet]\non_lost_host = \"continue\"\n[[workload]]\nname = \"w\"";
        assert!(!may_join(&Spec::parse("test", one, &[]).expect("good")), "there is one point");
    }

    #[test]
    fn a_host_is_presumed_to_be_like_one_that_loads_the_same() {
        let at = |path: &str, number: u32, cpus: u32| {
            let root = format!("{path}/plimsoll-data{}", host_suffix(number));
            let kind = TargetKind::Directory { root, state: DirectoryState::Empty };
            let identity = "a b".to_owned();
            HostFacts { logical_cpus: cpus, identity, ..host(vec![target(path, kind)]) }
        };
        let (first, second) = (at("/a", 0, 4), at("/b", 2, 8));
        let there = [(0, &first), (2, &second)];
        let like = presumed(1, "h1", &["/b".into()], &there).expect("a host like it");
        let told = (like.hostname.as_str(), like.logical_cpus, like.identity.as_str());
        assert_eq!(told, ("h1", 8, ""));
        let root = "/b/plimsoll-data-h0001".to_owned();
        let kind = TargetKind::Directory { root, state: DirectoryState::Missing };
        assert_eq!((like.targets[0].path.as_str(), &like.targets[0].kind), ("/b", &kind));
        let other = presumed(1, "h1", &["/c".into()], &there).expect("a host like it");
        assert_eq!(other.logical_cpus, 4, "the first that loads as many");
        assert!(presumed(1, "h1", &["/b".into(), "/c".into()], &there).is_none());
        let mut device = at("/dev/x", 0, 4);
        device.targets[0].kind = TargetKind::Device { size: model::Bytes(1), in_use: None };
        assert!(presumed(1, "h1", &["/dev/x".into()], &[(0, &device)]).is_none());
    }
}
