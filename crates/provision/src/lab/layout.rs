//! What a lab consists of: its nodes, their sites and addresses, and where each copy lies. Pure.

use crate::{Outcome, Problem};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The most nodes that one machine plays.
const MOST: u32 = 16;
/// The volume.
pub(super) const VOLUME: &str = "lab";
/// What holds the bridges of the sites.
pub(super) const SWITCH: &str = "switch";

/// What a lab is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Nodes, 2 to 16.
    pub nodes: u32,
    /// Sites, 1 to as many as there are nodes.
    pub sites: u32,
    /// Copies of each file, 1 to as many as there are nodes.
    pub replicas: u32,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// `n1` and so on: the host's name for a run.
    pub name: String,
    /// `site1` and so on: the host's label.
    pub site: String,
    /// In the lab's own network, which nothing outside it sees.
    pub address: String,
}

impl Wanted {
    /// Refuses what no lab can be.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(self) -> Outcome {
        let Wanted { nodes, sites, replicas } = self;
        let most = |what: &str, count: u32| {
            let words = format!("{nodes} nodes cannot have {count} {what}");
            Err(Problem::unfit(words, format!("write --{what} 1 to {nodes}")))
        };
        match () {
            () if !(2..=MOST).contains(&nodes) => Err(Problem::unfit(
                format!("a lab of {nodes} nodes is none"),
                format!("write --nodes 2 to {MOST}"),
            )),
            () if !(1..=nodes).contains(&sites) => most("sites", sites),
            () if !(1..=nodes).contains(&replicas) => most("replicas", replicas),
            () => Ok(()),
        }
    }

    fn site(self, node: u32) -> u32 {
        node * self.sites / self.nodes
    }

    /// The nodes, those of a site beside each other.
    pub fn nodes(self) -> Vec<Node> {
        let node = |number: u32| Node {
            name: format!("n{}", number + 1),
            site: format!("site{}", self.site(number) + 1),
            address: format!("10.88.0.{}", number + 1),
        };
        (0..self.nodes).map(node).collect()
    }

    /// For each set of copies its nodes, by their numbers: at different sites as far as there are
    /// any. Where the nodes cannot be divided into sets, each node is in as many sets as a file has
    /// copies, and the sets overlap like the links of a chain.
    pub fn sets(self) -> Vec<Vec<u32>> {
        // By turns from each site, so that neighbours are at different ones.
        let mut order: Vec<u32> = (0..self.nodes).collect();
        let place = |node: u32| (0..node).filter(|one| self.site(*one) == self.site(node)).count();
        order.sort_by_key(|node| (place(*node), *node));
        let whole = self.nodes.is_multiple_of(self.replicas);
        let step = if whole { self.replicas as usize } else { 1 };
        let set = |at: usize| order.iter().cycle().skip(at).take(self.replicas as usize).copied();
        (0..order.len()).step_by(step).map(|at| set(at).collect()).collect()
    }

    /// The sets whose copies all lie at one site, though there are more: the loss of that site
    /// takes their files.
    pub fn sets_at_one_site(self) -> usize {
        let is_at_one =
            |set: &&Vec<u32>| set.iter().all(|node| self.site(*node) == self.site(set[0]));
        if self.sites == 1 { 0 } else { self.sets().iter().filter(is_at_one).count() }
    }

    /// The words that make the volume.
    pub(super) fn create(self, folder: &Path) -> Vec<String> {
        let mut words: Vec<String> = ["volume", "create", VOLUME].map(str::to_owned).into();
        if self.replicas > 1 {
            words.extend(["replica".to_owned(), self.replicas.to_string()]);
        }
        let nodes = self.nodes();
        for (number, set) in (1..).zip(self.sets()) {
            words.extend(set.iter().filter_map(|node| {
                let node = nodes.get(*node as usize)?;
                let path = folder.join(&node.name).join(format!("brick{number}"));
                Some(format!("{}:{}", node.address, path.display()))
            }));
        }
        words.push("force".to_owned());
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_lie_at_different_sites_and_every_node_has_as_many() {
        let lab = |nodes, sites, replicas| Wanted { nodes, sites, replicas };
        assert_eq!(lab(4, 2, 2).sets(), [[0, 2], [1, 3]]);
        assert_eq!(lab(3, 2, 2).sets(), [[0, 2], [2, 1], [1, 0]]);
        assert_eq!((lab(4, 2, 2).sets_at_one_site(), lab(3, 2, 2).sets_at_one_site()), (0, 1));
        for nodes in 2..=MOST {
            for (sites, replicas) in (1..=nodes).flat_map(|s| (1..=nodes).map(move |r| (s, r))) {
                let lab = lab(nodes, sites, replicas);
                lab.check().expect("good");
                let mut held = vec![0; nodes as usize];
                for mut set in lab.sets() {
                    set.iter().for_each(|node| held[*node as usize] += 1);
                    set.sort_unstable();
                    set.dedup();
                    assert_eq!(set.len(), replicas as usize, "{lab:?}: a copy beside its own");
                }
                assert!(held.iter().all(|count| *count == held[0] && *count > 0), "{lab:?}");
            }
        }
    }

    #[test]
    fn the_volume_is_made_of_a_folder_of_each_node() {
        let lab = Wanted { nodes: 4, sites: 2, replicas: 2 };
        let words = lab.create(Path::new("/x")).join(" ");
        let wanted = "volume create lab replica 2 10.88.0.1:/x/n1/brick1 10.88.0.3:/x/n3/brick1 \
                      10.88.0.2:/x/n2/brick2 10.88.0.4:/x/n4/brick2 force";
        assert_eq!(words, wanted);
        let sites: Vec<String> = lab.nodes().into_iter().map(|node| node.site).collect();
        assert_eq!(sites, ["site1", "site1", "site2", "site2"]);
    }

    #[test]
    fn what_no_lab_can_be_is_refused_with_what_can() {
        let said = |nodes, sites, replicas| {
            Wanted { nodes, sites, replicas }.check().expect_err("refused").to_string()
        };
        assert!(said(1, 1, 1).contains("--nodes 2 to 16"));
        assert!(said(4, 5, 2).contains("--sites 1 to 4"));
        assert!(said(3, 2, 0).contains("--replicas 1 to 3"));
    }
}
