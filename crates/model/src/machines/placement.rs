//! Which machine is made on which node.

use crate::hostlist;
use crate::units::UnitError;

/// The machines of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedOn {
    /// The node's name.
    pub node: String,
    /// The numbers of the machines there, at least one, in order.
    pub numbers: Vec<u32>,
}

/// Spreads so many machines over nodes, one after the other, or follows a map of entries such as
/// `esx1:1,9`. Each machine is on one node; nodes without machines are left out.
///
/// # Errors
/// A map that names no machine, one twice, one that is not there, or leaves one out.
pub fn placed(count: u32, nodes: &[String], map: &[String]) -> Result<Vec<PlacedOn>, UnitError> {
    if !map.is_empty() {
        return mapped(count, nodes, map);
    }
    let mut found: Vec<PlacedOn> =
        nodes.iter().map(|node| PlacedOn { node: node.clone(), numbers: Vec::new() }).collect();
    if !found.is_empty() {
        let many = found.len();
        for number in 1..=count {
            found[(number as usize - 1) % many].numbers.push(number);
        }
    }
    found.retain(|placed| !placed.numbers.is_empty());
    Ok(found)
}

fn mapped(count: u32, nodes: &[String], map: &[String]) -> Result<Vec<PlacedOn>, UnitError> {
    let mut found: Vec<PlacedOn> = Vec::new();
    let mut taken = vec![false; count as usize];
    for entry in map {
        let PlacedOn { node, numbers } = of_entry(entry)?;
        if !nodes.is_empty() && !nodes.contains(&node) {
            let message = format!("`{entry}`: no node is called {node}");
            return Err(wrong(message, "name a node of vms.nodes, or leave vms.nodes out"));
        }
        for number in &numbers {
            let place = number.checked_sub(1).and_then(|at| taken.get_mut(at as usize));
            match place {
                None => {
                    let message = format!("`{entry}`: there is no machine {number}");
                    return Err(wrong(message, "write numbers from 1 to vms.count"));
                }
                Some(true) => {
                    let message = format!("`{entry}`: machine {number} is placed twice");
                    return Err(wrong(message, "name each machine once"));
                }
                Some(free) => *free = true,
            }
        }
        match found.iter_mut().find(|placed| placed.node == node) {
            Some(placed) => placed.numbers.extend(numbers),
            None => found.push(PlacedOn { node, numbers }),
        }
    }
    match taken.iter().position(|taken| !taken) {
        Some(at) => {
            let message = format!("machine {} has no node", at + 1);
            Err(wrong(message, "name each machine from 1 to vms.count"))
        }
        None => Ok(found),
    }
}

/// The node and the machines in `NODE:NUMBERS`.
fn of_entry(entry: &str) -> Result<PlacedOn, UnitError> {
    let remedy = "write entries such as `\"esx1:1,9\"` or `\"esx2:2-4\"`";
    let refused = || wrong(format!("`{entry}` places no machines"), remedy);
    let (node, numbers) = entry.rsplit_once(':').ok_or_else(refused)?;
    if !hostlist::is_name(node) || numbers.contains(['[', ']']) {
        return Err(refused());
    }
    let numbers = hostlist::expand(&format!("n[{numbers}]")).map_err(|_| refused())?;
    let number = |name: String| name.strip_prefix('n')?.parse::<u32>().ok();
    let numbers: Option<Vec<u32>> = numbers.into_iter().map(number).collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty()).ok_or_else(refused)?;
    Ok(PlacedOn { node: node.to_owned(), numbers })
}

fn wrong(message: String, remedy: &str) -> UnitError {
    UnitError { message, remedy: remedy.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    fn told(count: u32, nodes: &[&str], map: &[&str]) -> Result<Vec<String>, String> {
        let found = placed(count, &names(nodes), &names(map)).map_err(|error| error.message)?;
        Ok(found.iter().map(|on| format!("{}{:?}", on.node, on.numbers)).collect())
    }

    #[test]
    fn machines_are_spread_one_after_the_other() {
        assert_eq!(told(5, &["a", "b"], &[]), Ok(names(&["a[1, 3, 5]", "b[2, 4]"])));
        assert_eq!(told(1, &["a", "b"], &[]), Ok(names(&["a[1]"])));
        assert_eq!(told(3, &[], &[]), Ok(Vec::new()));
    }

    #[test]
    fn a_map_places_each_machine_once() {
        let map = ["a:1,4", "b:2-3", "a:5"];
        assert_eq!(told(5, &[], &map), Ok(names(&["a[1, 4, 5]", "b[2, 3]"])));
        for (map, what) in [
            (vec!["a:1"], "machine 2 has no node"),
            (vec!["a:1-2", "b:2"], "machine 2 is placed twice"),
            (vec!["a:1-3"], "there is no machine 3"),
            (vec!["a:0-2"], "there is no machine 0"),
            (vec!["a"], "`a` places no machines"),
            (vec!["a:"], "places no machines"),
            (vec!["a:1-999999999999"], "places no machines"),
            (vec!["a b:1,2"], "places no machines"),
        ] {
            let error = told(2, &[], &map).expect_err(what);
            assert!(error.contains(what), "{what}: {error}");
        }
        let unknown = told(1, &["a"], &["b:1"]).expect_err("unknown");
        assert!(unknown.contains("no node is called b"), "{unknown}");
    }
}
