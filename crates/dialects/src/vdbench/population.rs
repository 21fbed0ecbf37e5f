//! How many files a run of vdbench has: those of all directories, or as many of them as make a
//! number of bytes.

use super::definition::Definition;
use super::values::{Sizes, sizes};
use crate::loss::{Losses, Verdict};
use crate::rows::Values;
use crate::words::values::percent;

/// No directories lie any deeper.
const MOST_DEPTH: u64 = 64;

/// The files of a run on file systems, which are those of the first one in each of them.
pub struct Population {
    /// What says how they are: the run, or else the first file system.
    pub values: Values,
    /// Their sizes.
    pub sizes: Option<Sizes>,
    /// The files of all directories.
    pub files: u64,
    /// What said how many, as comments name it.
    pub source: String,
}

/// The slots of files that a run has in common with file systems.
pub const COMMON: [&str; 6] = ["depth", "width", "files", "sizes", "total", "working_set"];

/// The files of a run on these file systems.
pub fn of(run: &Values, first: Option<&Definition>, losses: &mut Losses) -> Population {
    let first = first.map(|first| &first.values);
    let mut values = run.clone();
    if let Some(first) = first {
        COMMON.iter().for_each(|slot| values.take(slot, first));
    }
    let sizes = values.text("sizes").and_then(|text| sizes(text, true).ok());
    let is_everywhere = first.is_some_and(|first| first.is("everywhere"));
    let mut files = of_directories(&values, is_everywhere);
    let mut source = values.source("files", losses);
    for (slot, what) in [("total", TOTAL), ("working_set", WORKING_SET)] {
        let Some(id) = values.id(slot) else { continue };
        // vdbench's own size of a file is 4 KiB.
        let mean = sizes.as_ref().map_or(4_096, |sizes| sizes.mean).max(1);
        match subset(files, mean, values.number(slot), values.text(slot)) {
            Ok(some) => {
                (files, source) = (some, losses.source(id));
                if sizes.as_ref().is_some_and(|sizes| sizes.text.contains(':')) {
                    let why = format!("{what}, by the mean of their sizes");
                    losses.worsen(id, Verdict::near(why));
                }
            }
            Err(needs) => losses.worsen(id, Verdict::refused(needs)),
        }
    }
    Population { values, sizes, files, source }
}

/// What becomes of `totalsize`.
const TOTAL: &str = "`files`: as many as make these bytes";
/// What becomes of `workingsetsize`.
const WORKING_SET: &str = "`files`: as many as make these bytes; those that no request would go to \
are not made";

/// As many files as vdbench takes: it adds one after the other until they have these bytes, or this
/// share of all bytes.
fn subset(files: u64, mean: u64, bytes: Option<u64>, share: Option<&str>) -> Result<u64, String> {
    let all = files.saturating_mul(mean);
    let part = share.map_or(Ok(1_000_000), percent)?;
    let of_all = (u128::from(all) * u128::from(part) / 1_000_000) as u64;
    match bytes.unwrap_or(of_all) {
        wanted if wanted <= all => Ok(wanted.div_ceil(mean).max(1)),
        wanted => {
            Err(format!("files of {wanted} bytes where there are {all}; vdbench refuses that, too"))
        }
    }
}

/// `width` directories in each, `depth` levels of them.
fn of_directories(values: &Values, is_everywhere: bool) -> u64 {
    let [depth, width, files] =
        ["depth", "width", "files"].map(|slot| values.number(slot).unwrap_or(1).max(1));
    let (mut lowest, mut all) = (1_u64, 0_u64);
    for _ in 0..depth.min(MOST_DEPTH) {
        lowest = lowest.saturating_mul(width);
        all = all.saturating_add(lowest);
    }
    let directories = if is_everywhere { all } else { lowest };
    directories.saturating_mul(files)
}

#[cfg(test)]
mod tests {
    use super::super::values::extent;
    use super::*;
    use crate::rows::Value;

    #[test]
    fn as_many_files_are_taken_as_make_the_bytes() {
        assert_eq!(subset(100, 65_536, Some(1 << 20), None), Ok(16));
        assert_eq!(subset(100, 65_536, Some(65 << 10), None), Ok(2), "one more than fits");
        assert_eq!(subset(100, 65_536, None, Some("25%")), Ok(25));
        assert!(subset(100, 65_536, Some(7 << 20), None).is_err(), "more than there is");
        assert_eq!(extent("(4m,4)", false), Ok(Value::Number(1 << 20)));
        assert!(extent("0", false).is_err() && extent("-1", false).is_err());
        assert!(extent("(1g,2g)", true).is_err() && extent("25%", false).is_err());
    }
}
