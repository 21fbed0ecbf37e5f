//! `cargo xtask dist`: one static binary that runs anywhere with the same processor, packages of
//! it, and what they are made of. Two builds of one commit are the same to the last bit.

mod binary;
mod contents;
mod deb;
mod header;
mod oci;
mod prove;
mod rpm;
mod sbom;
mod sums;
mod tar;
mod target;
mod versions;

use crate::shell::{self, Outcome};
use contents::Package;
use std::path::{Path, PathBuf};
use std::process::Command;
use target::Target;

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Asked {
    deb: bool,
    rpm: bool,
    oci: bool,
    prove: bool,
    twice: bool,
    target: Option<String>,
}

/// Builds the program, proves that it needs nothing else, and writes it below `target/dist`, with
/// the packages that were asked for.
///
/// # Errors
/// It does not compile, needs a loader, or a file cannot be written.
pub fn run(arguments: &[String]) -> Outcome<()> {
    let asked = asked(arguments)?;
    versions::agree(env!("CARGO_PKG_VERSION"))?;
    let target = Target::new(asked.target.as_deref())?;
    let epoch_s = epoch_s()?;
    let place = shell::target_dir()?.join("dist");
    std::fs::create_dir_all(&place)
        .map_err(|error| format!("{} cannot be made: {error}", place.display()))?;
    let built = binary::build(&target, epoch_s, None)?;
    binary::check(&built, &target)?;
    if asked.twice {
        binary::same_elsewhere(&built, &target, epoch_s)?;
    }
    let files = files(&asked, &built, &target, epoch_s)?;
    let write = |name: &str, content: &[u8]| {
        let path = place.join(name);
        std::fs::write(&path, content)
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        println!("{}  {:>9}  {}", sums::sha256(content), content.len(), path.display());
        Ok::<PathBuf, String>(path)
    };
    let mut paths = Vec::new();
    for (name, content) in &files {
        paths.push(write(name, content)?);
    }
    executable(&paths[0])?;
    write(&sums_name(&target), sums::list(&files).as_bytes())?;
    if asked.prove {
        let deb = paths.iter().find(|path| path.extension().is_some_and(|end| end == "deb"));
        prove::installed(deb.ok_or("--prove installs the .deb; add --deb")?, &target)?;
    }
    Ok(())
}

fn asked(arguments: &[String]) -> Outcome<Asked> {
    let mut asked = Asked::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--deb" => asked.deb = true,
            "--rpm" => asked.rpm = true,
            "--oci" => asked.oci = true,
            "--prove" => asked.prove = true,
            "--twice" => asked.twice = true,
            "--target" => {
                let triple = words.next().ok_or("--target needs a triple of Rust")?;
                asked.target = Some(triple.clone());
            }
            other => return Err(format!("{other} is unknown; see `cargo xtask help`")),
        }
    }
    if asked.prove && !asked.deb {
        return Err("--prove installs the .deb; add --deb".to_owned());
    }
    Ok(asked)
}

/// The files with their names, the program first.
fn files(
    asked: &Asked,
    built: &Path,
    target: &Target,
    epoch_s: u64,
) -> Outcome<Vec<(String, Vec<u8>)>> {
    let scratch = shell::target_dir()?.join(format!("dist-manual-{}", std::process::id()));
    let entries = contents::entries(built, target, &scratch);
    // Ours, and made a moment ago.
    let _ = std::fs::remove_dir_all(&scratch);
    let package = Package::new(target.processor, epoch_s, entries?);
    let (version, created) = (package.version, moment(epoch_s));
    let program = std::fs::read(built)
        .map_err(|error| format!("{} cannot be read: {error}", built.display()))?;
    let mut files = vec![
        (format!("plimsoll-{version}-{}", target.triple), program),
        (parts_list(version, target), sbom::sbom(&target.triple, &created)?.into_bytes()),
    ];
    if asked.deb {
        let architecture = deb::architecture(package.processor)?;
        files.push((format!("plimsoll_{version}_{architecture}.deb"), deb::deb(&package)?));
    }
    if asked.rpm {
        let name = format!("plimsoll-{version}-1.{}.rpm", package.processor);
        files.push((name, rpm::rpm(&package)?));
    }
    if asked.oci {
        let name = format!("plimsoll-{version}-{}-oci.tar", package.processor);
        files.push((name, oci::oci(&package, &created)?));
    }
    Ok(files)
}

/// Other processors link other packages.
fn parts_list(version: &str, target: &Target) -> String {
    format!("plimsoll-{version}-{}.cdx.json", target.processor)
}

/// Each processor has its own, so that a second one leaves the first one's files as they were.
fn sums_name(target: &Target) -> String {
    format!("SHA256SUMS-{}", target.processor)
}

fn executable(path: &Path) -> Outcome<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// The time that everything is said to be from: `SOURCE_DATE_EPOCH`
/// (<https://reproducible-builds.org/specs/source-date-epoch>), or that of the last commit.
fn epoch_s() -> Outcome<u64> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => shell::capture(
            Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(shell::root()),
        )?,
    };
    let seconds = text.trim().parse::<u64>().ok().filter(|seconds| *seconds < 1 << 33);
    seconds.ok_or(format!("SOURCE_DATE_EPOCH is no number of seconds: {}", text.trim()))
}

/// Seconds since 1970 as `2026-11-22T20:30:00Z` (days to a date: Hinnant, *chrono-Compatible
/// Low-Level Date Algorithms*, 2013).
fn moment(epoch_s: u64) -> String {
    let (days, second) = (epoch_s / 86_400 + 719_468, epoch_s % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_that_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_827_696, "2000-02-29T12:34:56Z"),
            (1_795_379_400, "2026-11-22T20:30:00Z"),
        ] {
            assert_eq!(moment(seconds), text);
        }
    }

    #[test]
    fn arguments_that_are_unknown_or_make_no_sense_are_refused() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let all = asked(&words("--deb --rpm --oci --prove --twice --target x")).expect("all");
        assert!(all.deb && all.rpm && all.oci && all.prove && all.twice);
        assert_eq!(all.target.as_deref(), Some("x"));
        for wrong in ["--snap", "--prove", "--target"] {
            assert!(asked(&words(wrong)).is_err(), "{wrong}");
        }
    }
}
