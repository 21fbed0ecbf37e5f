//! Targets of their own for what one workload loads and another does not.

use crate::draft::quoted;

/// The target that stands for a directory: one of Plimsoll's own in it.
pub fn inside(directory: &str) -> String {
    match directory.trim_end_matches('/') {
        "" => "/plimsoll-data".to_owned(),
        directory => format!("{directory}/plimsoll-data"),
    }
}

/// The one that stands for a file: a directory of Plimsoll's own beside it.
pub fn beside(file: &str) -> String {
    inside(file.rsplit_once('/').map_or(".", |(directory, _)| directory))
}

/// Targets, and which of them stands for each path.
pub struct Apart {
    /// The targets, each once.
    pub targets: Vec<String>,
    /// For each path, in their order: the place of its target.
    pub of: Vec<usize>,
}

/// A target for each of these paths; the same path has the same one.
///
/// A device is its own target. Files have a folder of Plimsoll's own beside them, with a number
/// where several are in one directory. What has no path here (`None`, names of Windows) has a
/// folder where the suite runs, which `--target` replaces.
pub fn apart(paths: &[Option<&str>], names: &[&str]) -> Apart {
    let mut known: Vec<(&str, usize)> = Vec::new();
    let mut targets: Vec<String> = Vec::new();
    let directory = |path: &str| match path.rsplit_once('/') {
        Some((directory, _)) => directory.to_owned(),
        None => ".".to_owned(),
    };
    let is_one_of_several = |path: &str| {
        let all = paths.iter().flatten().filter(|other| is_file(other));
        let mut files: Vec<&str> =
            all.copied().filter(|other| directory(other) == directory(path)).collect();
        files.sort_unstable();
        files.dedup();
        files.len() > 1
    };
    let mut of = Vec::new();
    for (path, name) in paths.iter().zip(names) {
        let key = path.unwrap_or(name);
        if let Some((_, place)) = known.iter().find(|(other, _)| *other == key) {
            of.push(*place);
            continue;
        }
        let free = |stem: String, targets: &[String]| {
            let mut numbered = (1..).map(|number| format!("{stem}-{number}"));
            numbered.find(|one| !targets.contains(one)).unwrap_or_default()
        };
        let target = match path {
            Some(path) if !is_file(path) => (*path).to_owned(),
            Some(path) if is_one_of_several(path) => free(beside(path), &targets),
            Some(path) => beside(path),
            None => free("plimsoll-data".to_owned(), &targets),
        };
        let place = targets.iter().position(|one| *one == target).unwrap_or_else(|| {
            targets.push(target);
            targets.len() - 1
        });
        known.push((key, place));
        of.push(place);
    }
    Apart { targets, of }
}

fn is_file(path: &str) -> bool {
    !path.starts_with("/dev/")
}

/// A workload's `targets`, as TOML, from places among `count` targets; `None` for all of them.
pub fn selected(places: &[usize], count: usize) -> Option<String> {
    let mut places = places.to_vec();
    places.sort_unstable();
    places.dedup();
    if places.is_empty() || places.len() >= count {
        return None;
    }
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for place in places {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == place => *last = place,
            _ => ranges.push((place, place)),
        }
    }
    let word = |(first, last): &(usize, usize)| match first == last {
        true => (first + 1).to_string(),
        false => format!("{}-{}", first + 1, last + 1),
    };
    let words: Vec<String> = ranges.iter().map(word).collect();
    Some(quoted(&words.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_a_target_of_its_own() {
        let paths =
            [Some("/dev/sdb"), Some("/m/a"), Some("/m/b"), Some("/n/a"), Some("/m/a"), None];
        let names = ["x", "x", "x", "x", "x", "C:\\a"];
        let found = apart(&paths, &names);
        assert_eq!(
            found.targets,
            [
                "/dev/sdb", "/m/plimsoll-data-1", "/m/plimsoll-data-2", "/n/plimsoll-data",
                "plimsoll-data-1"
            ]
        );
        assert_eq!(found.of, [0, 1, 2, 3, 1, 4]);
    }

    #[test]
    fn targets_are_named_by_number() {
        assert_eq!(selected(&[2, 0], 4).as_deref(), Some("\"1,3\""));
        assert_eq!(selected(&[1, 2, 2], 4).as_deref(), Some("\"2-3\""));
        assert_eq!(selected(&[0, 1], 2), None);
        assert_eq!(selected(&[], 2), None);
    }
}
