//! How many files a run of vdbench has: those of all directories, or as many of them as make a
//! number of bytes.

use super::files::FileSystem;
use super::run::Run;
use super::values::{Extent, Sizes, TOTAL, WORKING_SET};
use crate::loss::{Losses, Verdict};
use crate::mpi::job::Got;

/// No directories lie any deeper.
const MOST_DEPTH: u64 = 64;

/// How many files, and what said so.
pub struct Count {
    /// The files of all directories.
    pub files: u64,
    /// The option, as comments name it.
    pub source: String,
}

/// The sizes of the files of a run.
pub fn sizes_of<'a>(run: &'a Run, of: &[&'a FileSystem]) -> Option<&'a Got<Sizes>> {
    run.file_sizes.as_ref().or(of.first().and_then(|system| system.sizes.as_ref()))
}

/// The files of a run on these file systems, which are those of the first one in each of them.
pub fn count(run: &Run, of: &[&FileSystem], losses: &mut Losses) -> Count {
    let first = of.first().copied();
    let (each, times) = (of_directories(run, first), copies(first));
    let source = first.map(|system| Got::source(&system.files, losses)).unwrap_or_default();
    let mut count = Count { files: each, source };
    let total = run.total.as_ref().or(first.and_then(|system| system.total.as_ref()));
    let set = run.working_set.as_ref().or(first.and_then(|system| system.working_set.as_ref()));
    let sizes = sizes_of(run, of).map(|got| &got.value);
    for (got, what) in [(total, TOTAL), (set, WORKING_SET)] {
        let Some(got) = got else { continue };
        match subset(count.files, got.value, sizes) {
            Ok(files) => {
                count = Count { files, source: losses.source(got.id) };
                if sizes.is_some_and(|sizes| sizes.text.contains(':')) {
                    let why = format!("{what}, by the mean of their sizes");
                    losses.worsen(got.id, Verdict::near(why));
                }
            }
            Err(needs) => losses.worsen(got.id, Verdict::refused(needs)),
        }
    }
    Count { files: count.files.saturating_mul(times), ..count }
}

/// As many files as vdbench takes: it adds one after the other until they have these bytes.
fn subset(files: u64, extent: Extent, sizes: Option<&Sizes>) -> Result<u64, String> {
    // vdbench's own size of a file.
    let mean = sizes.map_or(4_096, |sizes| sizes.mean).max(1);
    let all = files.saturating_mul(mean);
    let wanted = extent.of(all);
    match wanted <= all {
        true => Ok(wanted.div_ceil(mean).max(1)),
        false => {
            Err(format!("files of {wanted} bytes where there are {all}; vdbench refuses that, too"))
        }
    }
}

/// `width` directories in each, `depth` levels of them.
fn of_directories(run: &Run, system: Option<&FileSystem>) -> u64 {
    let value = |own: fn(&FileSystem) -> &Option<Got<u64>>, over: &Option<Got<u64>>| {
        let found = over.as_ref().or(system.and_then(|system| own(system).as_ref()));
        found.map_or(1, |got| got.value.max(1))
    };
    let (depth, width) = (value(|s| &s.depth, &run.depth), value(|s| &s.width, &run.width));
    let files = value(|system| &system.files, &run.files);
    let everywhere =
        system.is_some_and(|system| system.everywhere.as_ref().is_some_and(|got| got.value));
    let (mut lowest, mut all) = (1_u64, 0_u64);
    for _ in 0..depth.min(MOST_DEPTH) {
        lowest = lowest.saturating_mul(width);
        all = all.saturating_add(lowest);
    }
    let directories = if everywhere { all } else { lowest };
    directories.saturating_mul(files)
}

/// How many file systems one definition stands for.
fn copies(system: Option<&FileSystem>) -> u64 {
    system.and_then(|system| system.count.as_ref()).map_or(1, |got| got.value.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_files_are_taken_as_make_the_bytes() {
        let one = super::super::values::sizes("64k").expect("a size");
        let mix = super::super::values::sizes("(4k,50,12k,50)").expect("a mix");
        let bytes = |text| Extent::of_files(text).expect("a size");
        assert_eq!(subset(100, bytes("1m"), Some(&one)), Ok(16));
        assert_eq!(subset(100, bytes("(4m,4)"), Some(&one)), Ok(16));
        assert_eq!(subset(100, bytes("65k"), Some(&one)), Ok(2), "one more than fits");
        assert_eq!(subset(100, bytes("80k"), Some(&mix)), Ok(10));
        assert_eq!(subset(100, Extent::of_run("25%").expect("a share"), Some(&one)), Ok(25));
        assert!(subset(100, bytes("7m"), Some(&one)).is_err(), "more than there is");
        assert!(Extent::of_files("0").is_err() && Extent::of_files("-1").is_err());
        assert!(Extent::of_run("(1g,2g)").is_err());
    }
}
