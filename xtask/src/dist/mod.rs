//! `cargo xtask dist`: one static binary that runs anywhere with the same processor, packages of
//! it, and what they are made of. Two builds of one commit are the same to the last bit.

mod binary;
mod contents;
mod package;
mod prove;
mod sbom;
mod target;
mod versions;

use crate::shell::{self, Outcome};
use package::Package;
use std::process::Command;
use target::Target;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is made, and for whom.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// A package for Debian and Ubuntu.
    #[arg(long)]
    deb: bool,
    /// A package for Fedora, RHEL and SUSE.
    #[arg(long)]
    rpm: bool,
    /// An archive to unpack at `/`, which deploy/Containerfile takes, too.
    #[arg(long)]
    tar: bool,
    /// Install the .deb into an empty root, and run the program there.
    #[arg(long, requires = "deb")]
    prove: bool,
    /// Build and pack again, and compare.
    #[arg(long)]
    twice: bool,
    /// Another processor's, tried with qemu-user-static: aarch64-unknown-linux-gnu.
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
}

/// Builds the program, proves that it needs nothing else, and writes it below `target/dist`, with
/// the packages that were asked for.
///
/// # Errors
/// A program that packs is missing, it does not compile, needs a loader, or a file cannot be
/// written.
pub fn run(options: &Options) -> Outcome<()> {
    versions::agree(VERSION)?;
    let forms =
        [(options.deb, Package::Deb), (options.rpm, Package::Rpm), (options.tar, Package::Tar)];
    let packages: Vec<Package> =
        forms.into_iter().filter(|(asked, _)| *asked).map(|(_, form)| form).collect();
    packages.iter().try_for_each(Package::can_be_made)?;
    let target = Target::new(options.target.as_deref())?;
    let epoch = epoch()?;
    let place = shell::folder(shell::target_dir()?.join("dist"))?;
    let built = binary::build(&target, &epoch, None)?;
    binary::check(&built, &target)?;
    if options.twice {
        binary::same_elsewhere(&built, &target, &epoch)?;
    }
    let staged = contents::stage(&built, &target, &epoch)?;
    // Other processors link other packages, and have their own sums: a second one leaves the first
    // one's files as they were.
    let parts = format!("plimsoll-{VERSION}-{}.cdx.json", target.processor);
    let mut names = vec![format!("plimsoll-{VERSION}-{}", target.triple), parts];
    std::fs::copy(&built, place.join(&names[0])).map_err(shell::at(&place))?;
    let list = sbom::sbom(&target.triple, &moment(&epoch)?)?;
    std::fs::write(place.join(&names[1]), list).map_err(shell::at(&place))?;
    for package in packages {
        let name = package.name(&target);
        package.write(&staged, &place.join(&name), &target, &epoch)?;
        if options.twice {
            package.same_again(&staged, &place.join(&name), &target, &epoch)?;
        }
        names.push(name);
    }
    names.sort();
    let sums = shell::capture(Command::new("sha256sum").args(&names).current_dir(&place))?;
    print!("{sums}");
    std::fs::write(place.join(format!("SHA256SUMS-{}", target.processor)), sums)
        .map_err(shell::at(&place))?;
    if options.prove {
        prove::installed(&place.join(Package::Deb.name(&target)), &target)?;
    }
    Ok(())
}

/// The time that everything is said to be from, in seconds since 1970: `SOURCE_DATE_EPOCH`
/// (<https://reproducible-builds.org/specs/source-date-epoch>), or that of the last commit.
fn epoch() -> Outcome<String> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => shell::capture(
            Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(shell::root()),
        )?,
    };
    let seconds = text.trim().parse::<u64>().ok().filter(|seconds| *seconds < 1 << 33);
    let seconds = seconds.map(|seconds| seconds.to_string());
    seconds.ok_or(format!("SOURCE_DATE_EPOCH is no number of seconds: {}", text.trim()))
}

/// Seconds since 1970 as `2026-11-22T20:30:00Z`.
fn moment(epoch: &str) -> Outcome<String> {
    let words = ["--utc", "+%Y-%m-%dT%H:%M:%SZ", "--date"];
    let text = shell::capture(Command::new("date").args(words).arg(format!("@{epoch}")))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_that_of_the_calendar() {
        assert_eq!(moment("951827696").as_deref(), Ok("2000-02-29T12:34:56Z"));
    }
}
