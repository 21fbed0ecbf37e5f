//! One layout for workloads that load targets of their own: as many bytes of each as its jobs have.

use crate::draft::{Fields, Group, Work, quoted, size};
use model::units::Bytes;

/// Workloads that load the same targets.
pub struct Class {
    /// Their numbers among all.
    pub numbers: Vec<usize>,
    /// The workloads.
    pub works: Vec<Work>,
    /// The layout that they want.
    pub layout: Fields,
    /// Whether their targets are devices.
    pub is_device: bool,
}

/// What is said where a class cannot have its size.
pub const NOT_ALL: &str = "the part of it that `layout.size` says, as of the other targets";

impl Class {
    fn files(&self) -> u64 {
        self.layout.get("files").and_then(|text| text.parse().ok()).unwrap_or(1).max(1)
    }

    /// The bytes of each of `files` files that it wants, if they are known.
    fn each(&self, files: u64) -> Option<u64> {
        let text = self.layout.get("size")?.trim_matches('"');
        let own = text.parse::<Bytes>().ok()?.0;
        if self.is_device || self.files() == files {
            return Some(own);
        }
        let all = own.checked_mul(self.files())?;
        Some(all.div_ceil(files).next_multiple_of(4_096))
    }

    /// Has its workloads load the first `each` bytes of every file.
    fn limit(&mut self, each: u64) -> bool {
        let limited = |text: &str| {
            let (from, to) = text.trim_matches('"').split_once('-')?;
            let share = |text: &str| text.strip_suffix('%')?.parse::<f64>().ok();
            let (from, to) = (share(from)? / 100.0, share(to)? / 100.0);
            let (from, to) = ((from * each as f64).floor(), (to * each as f64).ceil());
            Some(quoted(&format!("{}B-{}B", from as u64, to as u64)))
        };
        let mut all = true;
        for work in &mut self.works {
            let (value, from) = match work.fields.0.iter().find(|line| line.key == "range") {
                Some(line) => (limited(&line.value), line.from.clone()),
                None => {
                    let source = self.layout.0.iter().find(|line| line.key == "size");
                    let source = source.map(|line| line.from.clone()).unwrap_or_default();
                    (Some(quoted(&format!("0B-{each}B"))), source)
                }
            };
            match value {
                Some(value) => work.fields.set("range", value, from),
                None => all = false,
            }
        }
        all
    }
}

/// Gives the group the layout of its largest class, and each other class a part of it. Returns the
/// numbers of the workloads that load more or less than their jobs.
pub fn one_layout(classes: &mut [Class], group: &mut Group) -> Vec<usize> {
    let files = classes.iter().filter(|class| !class.is_device).map(Class::files).max();
    let count = files.unwrap_or(1);
    let has_files = files.is_some();
    // A file needs a size; a device that has none is loaded as far as the files are large.
    let decide: Vec<&Class> =
        classes.iter().filter(|class| !has_files || !class.is_device).collect();
    let sizes: Vec<Option<u64>> = classes.iter().map(|class| class.each(count)).collect();
    let known: Option<u64> =
        decide.iter().map(|class| class.each(count)).collect::<Option<Vec<u64>>>().and_then(
            |all| {
                let of_devices = sizes.iter().flatten().copied().max();
                all.into_iter().chain(of_devices).max()
            },
        );
    let Some(layout) = decide
        .iter()
        .max_by_key(|class| class.each(count).unwrap_or(u64::MAX))
        .map(|class| class.layout.clone())
    else {
        return Vec::new();
    };
    group.layout = layout;
    if has_files {
        let source = group.layout.0.iter().find(|line| line.key == "files");
        let source = source.map(|line| line.from.clone()).unwrap_or_default();
        group.layout.set("files", count.to_string(), source);
    }
    if let Some(known) = known {
        let source = group.layout.0.iter().find(|line| line.key == "size");
        let source = source.map(|line| line.from.clone()).unwrap_or_default();
        group.layout.set("size", size(known), source);
    }
    let is_whole = group.layout.get("size") == Some("\"free\"");
    let mut others = Vec::new();
    for (class, each) in classes.iter_mut().zip(sizes) {
        let is_held = match (each, known) {
            (Some(each), Some(known)) if each == known => true,
            (Some(each), _) if known.is_some() || is_whole => class.limit(each),
            (None, None) => group.layout.agrees(&class.layout),
            _ => false,
        };
        if !is_held {
            others.extend(class.numbers.clone());
        }
    }
    others
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(number: usize, files: Option<u64>, size: Option<&str>) -> Class {
        let mut layout = Fields::default();
        if let Some(files) = files {
            layout.set("files", files.to_string(), "");
        }
        if let Some(size) = size {
            layout.text("size", size, "");
        }
        let works = vec![Work::default()];
        Class { numbers: vec![number], works, layout, is_device: files.is_none() }
    }

    fn joined(classes: &mut [Class]) -> (String, Vec<String>, Vec<usize>) {
        let mut group = Group::default();
        let others = one_layout(classes, &mut group);
        let value = |fields: &Fields, key: &str| fields.get(key).unwrap_or("-").to_owned();
        let ranges = classes.iter().map(|class| value(&class.works[0].fields, "range")).collect();
        let layout = format!("{} {}", value(&group.layout, "files"), value(&group.layout, "size"));
        (layout, ranges, others)
    }

    #[test]
    fn each_class_loads_as_many_bytes_as_its_jobs_have() {
        let mut all = [class(0, Some(2), Some("1GiB")), class(1, Some(1), Some("512MiB"))];
        let (layout, ranges, others) = joined(&mut all);
        assert_eq!((layout.as_str(), others.len()), ("2 \"1GiB\"", 0));
        assert_eq!(ranges, ["-", "\"0B-268435456B\""]);
        let mut all = [class(0, None, Some("free")), class(1, None, Some("1GiB"))];
        let (layout, ranges, others) = joined(&mut all);
        assert_eq!((layout.as_str(), others.len()), ("- \"free\"", 0));
        assert_eq!(ranges, ["-", "\"0B-1073741824B\""]);
        let mut all = [class(0, None, Some("4GiB")), class(1, Some(1), Some("1GiB"))];
        let (layout, ranges, others) = joined(&mut all);
        assert_eq!((layout.as_str(), others.len()), ("1 \"4GiB\"", 0));
        assert_eq!(ranges, ["-", "\"0B-1073741824B\""]);
    }

    #[test]
    fn a_device_without_a_size_beside_files_is_reported() {
        let mut all = [class(0, None, Some("free")), class(1, Some(1), Some("1GiB"))];
        let (layout, _, others) = joined(&mut all);
        assert_eq!((layout.as_str(), others), ("1 \"1GiB\"", vec![0]));
    }
}
