//! `plimsoll clean`

use super::print;
use crate::args::{CleanArgs, DEFAULT_TARGET};
use crate::failure::Failure;
use model::Bytes;
use model::testbed::{DATA_DIR, MARKER};
use std::path::Path;
use std::process::ExitCode;

/// Removes what is ours from each directory.
pub fn clean(args: &CleanArgs) -> Result<ExitCode, Failure> {
    let default = [DEFAULT_TARGET.to_owned()];
    let targets = if args.targets.is_empty() { &default[..] } else { &args.targets[..] };
    for target in targets {
        let root = root_of(target);
        let freed = engine::clean(&root).map_err(|error| Failure::Target(format!("error: {error}")))?;
        print(&format!("{root}: removed {} of ours\n", Bytes(freed)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a run with this target keeps its files: there, or in our subfolder among somebody's own.
fn root_of(target: &str) -> String {
    let inner = Path::new(target).join(DATA_DIR);
    if !Path::new(target).join(MARKER).is_file() && inner.join(MARKER).is_file() {
        return inner.to_string_lossy().into_owned();
    }
    target.to_owned()
}
