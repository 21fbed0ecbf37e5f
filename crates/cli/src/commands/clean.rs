//! `plimsoll clean`

use super::print;
use crate::args::{CleanArgs, DEFAULT_TARGET};
use crate::failure::Failure;
use crate::hosts;
use model::Bytes;
use model::testbed::{DATA_DIR, MARKER, host_suffix};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Removes what is ours from each directory.
pub fn clean(args: &CleanArgs) -> Result<ExitCode, Failure> {
    if hosts::forget(&args.hosts)? {
        print("the copies of plimsoll are gone from the hosts\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let default = [DEFAULT_TARGET.to_owned()];
    let targets = if args.targets.is_empty() { &default[..] } else { &args.targets[..] };
    for target in targets {
        for root in roots_of(target) {
            let freed = engine::clean(&root).map_err(|error| Failure::Target(format!("error: {error}")))?;
            print(&format!("{root}: removed {} of ours\n", Bytes(freed)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Where runs with this target keep their files: there, or in our subfolder among somebody's own, or in one folder for each of several hosts.
fn roots_of(target: &str) -> Vec<String> {
    let place = Path::new(target);
    let inner = place.join(DATA_DIR);
    let beside = place.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    let of_hosts = |folder: &Path, stem: Option<&OsStr>| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let is_ours = |name: &OsStr| stem.is_some_and(|stem| is_host_folder(stem, name));
        entries.filter(|entry| is_ours(&entry.file_name())).map(|entry| entry.path()).collect()
    };
    let mut roots = vec![place.to_owned(), inner];
    roots.extend(of_hosts(place, Some(OsStr::new(DATA_DIR))));
    roots.extend(beside.map(|parent| of_hosts(parent, place.file_name())).unwrap_or_default());
    roots.retain(|root| root.join(MARKER).is_file());
    roots.sort();
    if roots.is_empty() {
        // It says that nothing there is ours.
        roots.push(place.to_owned());
    }
    roots.into_iter().map(|root| root.to_string_lossy().into_owned()).collect()
}

/// Whether `name` is that of a host's own folder beside `stem`.
fn is_host_folder(stem: &OsStr, name: &OsStr) -> bool {
    let (Some(stem), Some(name)) = (stem.to_str(), name.to_str()) else { return false };
    let number =
        name.strip_prefix(stem).and_then(|rest| rest.strip_prefix("-h")).and_then(|digits| digits.parse().ok());
    number.is_some_and(|number| name == format!("{stem}{}", host_suffix(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_with_a_hosts_number_are_taken() {
        let is = |name: &str| is_host_folder(OsStr::new("x"), OsStr::new(name));
        assert!(is("x-h0003") && is("x-h12345"));
        assert!(!is("x-h3") && !is("x") && !is("y-h0003") && !is("x-h00o3") && !is("x-h0003.bak"));
    }
}
